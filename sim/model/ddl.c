/* ddl.c - DDL. A changed description gets a new body with the rows copied into it; a rollback
 * puts the old one back (sqlserver.md 2.8, 2.16). */
#include "sim/model/model_internal.h"

static bool lock_schema(SimTxn *txn, SimTable *table, SimError *error)
{
    if (!lock_take(txn, &table->lock, LOCK_SCH_M, error)) return false;
    if (!atomic_load(&table->is_dropped)) return true;
    const SimTableInfo *info = sim_table_info(table);
    return sim_error(error, 208, "Invalid object name '%.*s.%.*s'.", STR_ARG(info->schema),
                     STR_ARG(info->name));
}

/* For DDL that puts the rows elsewhere. */
static bool lock_change(SimTxn *txn, SimTable *table, SimError *error)
{
    return lock_schema(txn, table, error) && synthetic_refuse_change(table, error);
}

/* --- CREATE TABLE, DROP TABLE --- */

typedef struct TableEvent {
    TxnEvent  base;
    SimTable *table;
    bool      is_drop;
} TableEvent;

static void table_event_rollback(TxnEvent *event, SimTxn *txn)
{
    const TableEvent *change   = (const TableEvent *)event;
    SimDatabase      *database = txn->database;

    if (change->is_drop)
        (void)database_add_table(database, change->table);
    else
        database_remove_table(database, change->table);
}

/* Metadata has no versions: a SNAPSHOT transaction that began before must not use the table. */
static void table_event_commit(TxnEvent *event, SimTxn *txn, Lsn lsn)
{
    const TableEvent *change = (const TableEvent *)event;

    (void)lsn;
    atomic_store(&change->table->altered_state, atomic_load(&txn->state));
}

static void table_event_done(TxnEvent *event)
{
    TableEvent  *change   = (TableEvent *)event;
    SimTable    *table    = change->table;
    SimDatabase *database = table->database;
    bool         is_gone  = change->is_drop != event->is_rolled_back;

    if (is_gone && table->is_temporary) {
        database_forget_table(database, table);
        table_free(table);
    } else if (is_gone) {
        versions_forget(table, table_body(table));
        latch_exclusive(table);
        body_free_rows(table_body(table), database->server);
        latch_release(table);
        security_drop_object(database, table->object_id);
    }
    mem_free(change);
}

static void push_table_event(SimTxn *txn, SimTable *table, bool is_drop)
{
    TableEvent *event = mem_alloc(sizeof *event);

    *event = (TableEvent){.base    = {.commit   = table_event_commit,
                                      .rollback = table_event_rollback,
                                      .done     = table_event_done},
                          .table   = table,
                          .is_drop = is_drop};
    txn_push_event(txn, &event->base);
}

static bool name_taken(Str name, SimError *error)
{
    return sim_error(error, 2714, "There is already an object named '%.*s' in the database.",
                     STR_ARG(name));
}

static bool check_spec(const SimTableSpec *spec, SimError *error)
{
    for (size_t i = 0; i < spec->column_count; i++)
        for (size_t j = 0; j < i; j++)
            if (sim_name_equal(spec->columns[i].name, spec->columns[j].name))
                return sim_error(error, 2705,
                                 "Column names in each table must be unique. Column name '%.*s' in "
                                 "table '%.*s' is specified more than once.",
                                 STR_ARG(spec->columns[i].name), STR_ARG(spec->name));
    return true;
}

bool sim_create_table(SimTxn *txn, const SimTableSpec *spec, SimTable **out, SimError *error)
{
    SimDatabase *database = txn->database;

    *out = NULL;
    if (!sim_database_has_schema(database, spec->schema))
        return sim_error(error, 2760,
                         "The specified schema name \"%.*s\" either does not exist or you do not "
                         "have permission to use it.",
                         STR_ARG(spec->schema));
    if (!check_spec(spec, error)) return false;
    if (!spec->is_temporary) txn_note_write(txn);
    SimTable *table = table_new(database, spec, database_next_object_id(database));
    if (!lock_take(txn, &table->lock, LOCK_SCH_M, error) || !database_add_table(database, table)) {
        lock_give_back(txn, &table->lock, LOCK_SCH_M);
        table_free(table);
        return name_taken(spec->name, error);
    }
    push_table_event(txn, table, false);
    *out = table;
    return true;
}

bool sim_drop_table(SimTxn *txn, SimTable *table, SimError *error)
{
    if (!lock_schema(txn, table, error)) return false;
    if (!table->is_temporary) txn_note_write(txn);
    TableDelta *delta = txn_delta(txn, table);
    int64_t     rows  = sim_table_row_count(table) + (delta != NULL ? delta->rows : 0);
    txn_count_rows(txn, table, -rows, 0);
    database_remove_table(txn->database, table);
    push_table_event(txn, table, true);
    if (sim_table_is_captured(table))
        log_append(txn, (LogRecord){.kind  = LOG_TABLE_DROP,
                                    .lsn   = log_next(&txn->database->log),
                                    .table = table,
                                    .info  = sim_table_info(table)});
    return true;
}

/* --- a new body --- */

typedef bool (*MakeRow)(void *arg, const SimRow *row, Slab *slab, SimRow **out, SimError *error);

static bool copy_row(void *arg, const SimRow *row, Slab *slab, SimRow **out, SimError *error)
{
    RowBuild build = row_build_begin(slab, row->column_count, row_size(row));

    (void)arg, (void)error;
    for (size_t i = 0; i < row->column_count; i++)
        row_build_copy(&build, row_wire(row, i));
    *out = build.row;
    return true;
}

static bool duplicate_key(const SimTableInfo *info, const SimIndex *index, SimError *error)
{
    return sim_error(error, 1505,
                     "The CREATE UNIQUE INDEX statement terminated because a duplicate key was "
                     "found for the object name '%.*s.%.*s' and the index name '%.*s'.",
                     STR_ARG(info->schema), STR_ARG(info->name), STR_ARG(index->name));
}

static bool add_row(Body *body, SimRow *row, Buf *key, SimError *error)
{
    assert(row != NULL);
    if (!row_check_keys(body->info, row, error)) {
        row_release(row);
        return false;
    }
    buf_clear(key);
    body_place_key(body, row, key);
    Item *place = body_add_place(body, str_bytes(buf_str(key)));
    if (place == NULL) {
        row_release(row);
        return duplicate_key(body->info, body->clustered, error);
    }
    place->ref = row;
    row->place = place;
    if (body->tree_count > 1) body_add_entries(body, place, row, NULL, key);
    return true;
}

/* Two neighbours with the same columns: their keys differ only in what the place adds. */
static bool check_unique_tree(const Body *body, const SimIndex *index, SimError *error)
{
    const Item *last     = NULL;
    size_t      last_len = 0;

    for (TreeAt at = tree_first(body_tree(body, index)); tree_item(at) != NULL;
         at        = tree_next(at)) {
        uint8_t     scratch[TREE_KEY_MOST];
        const Item *entry = tree_item(at);
        size_t      len   = entry->key_len - tree_key(&body->trees[0], entry->ref, scratch).len;
        if (last != NULL && last_len == len && memcmp(last->key, entry->key, len) == 0)
            return duplicate_key(body->info, index, error);
        last     = entry;
        last_len = len;
    }
    return true;
}

static bool fill_body(Body *body, const Body *from, MakeRow make, void *arg, SimError *error)
{
    Arena *arena = arena_new();
    Buf    key   = buf_new(arena, 0);
    bool   ok    = true;

    for (TreeAt at = tree_first(&from->trees[0]); ok && tree_item(at) != NULL; at = tree_next(at)) {
        const SimRow *row = place_head(
            tree_item(at)); /* ours or committed: nobody else may have written */
        SimRow *copy = NULL;
        if (row->flags & ROW_TOMBSTONE) continue;
        ok = make(arg, row, body->slab, &copy, error) && add_row(body, copy, &key, error);
    }
    for (size_t i = 0; ok && i < body->info->index_count; i++) {
        const SimIndex *index = body->info->indexes[i];
        if (index->is_unique && index != body->clustered)
            ok = check_unique_tree(body, index, error);
    }
    arena_close(arena);
    return ok;
}

/* The table's rows under another description. Needs Sch-M. */
static bool change_body(SimTxn *txn, SimTable *table, const SimTableInfo *info, MakeRow make,
                        void *arg, SimError *error)
{
    Body *before = table_body(table);
    Body *after  = body_new(info, table_slab(table));
    bool  ok     = true;

    if (make != NULL) {
        latch_shared(table); /* the version store may take rows out meanwhile */
        ok = fill_body(after, before, make, arg, error);
        latch_release(table);
    }
    if (!ok) {
        body_free(after, txn->database->server);
        return false;
    }
    if (!table->is_temporary) txn_note_write(txn);
    txn_push_body(txn, table, before, after);
    table_set_body(table, after);
    return true;
}

static void note_ddl(SimTxn *txn, SimTable *table, DdlKind kind, int32_t column_id,
                     const SimType *type, Str text)
{
    if (!sim_table_is_captured(table)) return;
    DdlNote *note = mem_alloc(sizeof *note + text.len + 1);
    char    *copy = (char *)(note + 1);
    if (text.len) memcpy(copy, text.ptr, text.len);
    *note = (DdlNote){.kind      = kind,
                      .column_id = column_id,
                      .time_us   = sim_server_local_us(txn->database->server),
                      .text      = {copy, text.len}};
    if (type != NULL) note->type = *type;
    log_append(txn, (LogRecord){.kind  = LOG_DDL,
                                .lsn   = log_next(&txn->database->log),
                                .table = table,
                                .info  = sim_table_info(table),
                                .ddl   = note});
}

bool sim_truncate(SimTxn *txn, SimTable *table, SimError *error)
{
    if (!lock_change(txn, table, error)) return false;
    const SimTableInfo *info = sim_table_info(table);
    if (sim_table_is_captured(table))
        return sim_error(error, 4711,
                         "Cannot truncate table '%.*s' because it is published for replication or "
                         "enabled for Change Data Capture.",
                         STR_ARG(info->name));
    TableDelta *delta = txn_delta(txn, table);
    int64_t     rows  = sim_table_row_count(table) + (delta != NULL ? delta->rows : 0);
    int64_t     bytes = sim_table_size_bytes(table) + (delta != NULL ? delta->bytes : 0);
    if (!change_body(txn, table, info, NULL, NULL, error)) return false;
    txn_count_rows(txn, table, -rows, -bytes);
    atomic_store(&table->identity_is_used, false);
    return true;
}

/* --- indexes --- */

static bool check_new_index(const SimTableInfo *info, const SimIndex *spec, SimError *error)
{
    for (size_t i = 0; i < info->index_count; i++) {
        if (!str_is_empty(spec->name) && sim_name_equal(info->indexes[i]->name, spec->name))
            return sim_error(error, 1913,
                             "The operation failed because an index or statistics with name '%.*s' "
                             "already exists on table '%.*s.%.*s'.",
                             STR_ARG(spec->name), STR_ARG(info->schema), STR_ARG(info->name));
        if (spec->is_clustered && info->indexes[i]->is_clustered)
            return sim_error(error, 1902,
                             "Cannot create more than one clustered index on table '%.*s.%.*s'. "
                             "Drop the existing clustered index '%.*s' before creating another.",
                             STR_ARG(info->schema), STR_ARG(info->name),
                             STR_ARG(info->indexes[i]->name));
    }
    for (size_t i = 0; spec->is_primary_key && i < spec->column_count; i++)
        for (size_t at = 0; at < info->column_count; at++)
            if (info->columns[at].column_id == spec->columns[i].column_id &&
                info->columns[at].is_nullable)
                return sim_error(
                    error, 8111,
                    "Cannot define PRIMARY KEY constraint on nullable column in table '%.*s'.",
                    STR_ARG(info->name));
    return true;
}

bool sim_create_index(SimTxn *txn, SimTable *table, const SimIndex *spec, SimError *error)
{
    SimColumn *columns = NULL;
    SimIndex **indexes = NULL;

    if (!lock_change(txn, table, error)) return false;
    if (!check_new_index(sim_table_info(table), spec, error)) return false;
    SimTableInfo *info     = info_clone(table, sim_table_info(table), &columns, &indexes);
    SimIndex      numbered = *spec;
    size_t        at       = spec->is_clustered ? 0 : info->index_count;
    numbered.index_id      = spec->is_clustered ? 1 : 2;
    for (size_t i = 0; i < info->index_count; i++)
        if (!spec->is_clustered && indexes[i]->index_id >= numbered.index_id)
            numbered.index_id = indexes[i]->index_id + 1;
    SimIndex *index = index_copy(table, info->name, &numbered);
    memmove(&indexes[at + 1], &indexes[at], (info->index_count - at) * sizeof(SimIndex *));
    indexes[at] = index;
    info->index_count++;
    return change_body(txn, table, info, copy_row, NULL, error);
}

bool sim_drop_index(SimTxn *txn, SimTable *table, Str name, SimError *error)
{
    SimColumn *columns = NULL;
    SimIndex **indexes = NULL;

    if (!lock_change(txn, table, error)) return false;
    SimTableInfo *info = info_clone(table, sim_table_info(table), &columns, &indexes);
    size_t        at   = 0;
    while (at < info->index_count && !sim_name_equal(indexes[at]->name, name))
        at++;
    if (at == info->index_count)
        return sim_error(error, 3701,
                         "Cannot drop the index '%.*s.%.*s', because it does not exist or you do "
                         "not have permission.",
                         STR_ARG(info->name), STR_ARG(name));
    bool is_constraint = indexes[at]->is_primary_key || indexes[at]->is_unique_constraint;
    if (cdc_uses_index(table, indexes[at]->name) && is_constraint)
        return sim_error(
            error, 22979,
            "The unique index '%.*s' on table '[%.*s].[%.*s]' is used by Change Data Capture. The "
            "constraint using this index cannot be dropped or disabled.",
            STR_ARG(indexes[at]->name), STR_ARG(info->schema), STR_ARG(info->name));
    if (cdc_uses_index(table, indexes[at]->name))
        return sim_error(
            error, 22983,
            "The unique index '%.*s' on source table '[%.*s].[%.*s]' is used by Change Data "
            "Capture. To alter or drop the index, you must first disable Change Data Capture on "
            "the table.",
            STR_ARG(indexes[at]->name), STR_ARG(info->schema), STR_ARG(info->name));
    memmove(&indexes[at], &indexes[at + 1], (info->index_count - at - 1) * sizeof(SimIndex *));
    info->index_count--;
    return change_body(txn, table, info, copy_row, NULL, error);
}

/* --- ADD COLUMN --- */

typedef struct AddArg {
    SimTable        *table;
    const SimColumn *column;
    const SimValue  *fill;     /* NULL: NULL */
    int64_t          identity; /* the last one */
    bool             has_identity;
} AddArg;

static SimValue identity_value(const SimType *type, int64_t number)
{
    SimValue value = {.type = *type};

    if (type->kind == SIM_DECIMAL)
        value.dec = int128_from_i64(number);
    else
        value.i64 = number;
    return value;
}

static bool filled_value(AddArg *add, uint8_t bytes[8], SimValue *out, SimError *error)
{
    SimType type = add->column->type;

    if (add->column->is_identity) {
        int64_t last = add->identity;
        if (!identity_after(add->column, add->has_identity ? &last : NULL, &add->identity, error))
            return false;
        add->has_identity = true;
        *out              = identity_value(&type, add->identity);
    } else if (type.kind == SIM_ROWVERSION) {
        uint64_t number = sim_next_rowversion(add->table->database);
        for (size_t i = 0; i < 8; i++)
            bytes[i] = (uint8_t)(number >> (56 - 8 * i));
        *out = (SimValue){.type = type, .bytes = {bytes, 8}};
    } else {
        *out = add->fill != NULL ? *add->fill : sim_null(type);
    }
    return true;
}

static bool row_with_column(void *arg, const SimRow *row, Slab *slab, SimRow **out, SimError *error)
{
    AddArg  *add = arg;
    uint8_t  bytes[8];
    SimValue value;

    if (!filled_value(add, bytes, &value, error)) return false;
    size_t   len   = wire_size(&add->column->type, &value);
    RowBuild build = row_build_begin(slab, (size_t)row->column_count + 1, row_size(row) + len);
    for (size_t i = 0; i < row->column_count; i++)
        row_build_copy(&build, row_wire(row, i));
    wire_put(&add->column->type, &value, row_build_column(&build, len));
    *out = build.row;
    return true;
}

bool sim_add_column(SimTxn *txn, SimTable *table, const SimColumn *column, const SimValue *fill,
                    Str ddl_text, SimError *error)
{
    SimColumn *columns = NULL;

    if (!lock_change(txn, table, error)) return false;
    SimTableInfo *info = info_clone(table, sim_table_info(table), &columns, NULL);
    if (sim_table_find_column(table, column->name) >= 0)
        return sim_error(error, 2705,
                         "Column names in each table must be unique. Column name '%.*s' in table "
                         "'%.*s' is specified more than once.",
                         STR_ARG(column->name), STR_ARG(info->name));
    bool fills = column->is_identity || column->type.kind == SIM_ROWVERSION ||
                 (fill != NULL && !fill->is_null);
    const TableDelta *delta = txn_delta(txn, table);
    int64_t           rows  = sim_table_row_count(table) + (delta != NULL ? delta->rows : 0);
    if (!column->is_nullable && !fills && !column->is_computed && rows > 0)
        return sim_error(
            error, 4901,
            "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT "
            "definition specified, or the column being added is an identity or "
            "timestamp column, or alternatively if none of the previous conditions are satisfied "
            "the table must be empty to allow addition of this column. Column "
            "'%.*s' cannot be added to non-empty table '%.*s' because it does not satisfy these "
            "conditions.",
            STR_ARG(column->name), STR_ARG(info->name));
    SimColumn *added = &columns[info->column_count++];
    *added           = column_copy(table, info->name, column);
    added->column_id = table->next_column_id++;
    AddArg add       = {.table = table, .column = added, .fill = fill};
    if (!change_body(txn, table, info, row_with_column, &add, error)) return false;
    if (add.has_identity) sim_note_identity(table, add.identity);
    note_ddl(txn, table, DDL_ADD_COLUMN, added->column_id, NULL, ddl_text);
    return true;
}

/* --- DROP COLUMN --- */

static bool index_has(const SimIndex *index, int32_t column_id)
{
    for (size_t i = 0; i < index->column_count; i++)
        if (index->columns[i].column_id == column_id) return true;
    for (size_t i = 0; i < index->included_count; i++)
        if (index->included[i] == column_id) return true;
    return false;
}

static bool check_no_index(const SimTableInfo *info, const SimColumn *column, SimError *error)
{
    for (size_t i = 0; i < info->index_count; i++) {
        const SimIndex *index = info->indexes[i];
        if (!index_has(index, column->column_id)) continue;
        return sim_error(error, 5074, "The %s '%.*s' is dependent on column '%.*s'.",
                         index->is_primary_key || index->is_unique_constraint ? "object" : "index",
                         STR_ARG(index->name), STR_ARG(column->name));
    }
    return true;
}

static bool find_column(const SimTable *table, Str name, const char *action, size_t *ordinal_out,
                        SimError *error)
{
    ptrdiff_t ordinal = sim_table_find_column(table, name);

    *ordinal_out = ordinal < 0 ? 0 : (size_t)ordinal;
    return ordinal >= 0 ||
           sim_error(error, 4924,
                     "ALTER TABLE %s failed because column '%.*s' does not exist in table '%.*s'.",
                     action, STR_ARG(name), STR_ARG(sim_table_info(table)->name));
}

static bool row_without_column(void *arg, const SimRow *row, Slab *slab, SimRow **out,
                               SimError *error)
{
    size_t   ordinal = *(const size_t *)arg;
    RowBuild build   = row_build_begin(slab, (size_t)row->column_count - 1,
                                       row_size(row) - row_wire(row, ordinal).len);

    (void)error;
    for (size_t i = 0; i < row->column_count; i++)
        if (i != ordinal) row_build_copy(&build, row_wire(row, i));
    *out = build.row;
    return true;
}

bool sim_drop_column(SimTxn *txn, SimTable *table, Str column, Str ddl_text, SimError *error)
{
    SimColumn *columns = NULL;
    size_t     ordinal = 0;

    if (!lock_change(txn, table, error)) return false;
    if (!find_column(table, column, "DROP COLUMN", &ordinal, error)) return false;
    SimTableInfo *info      = info_clone(table, sim_table_info(table), &columns, NULL);
    int32_t       column_id = columns[ordinal].column_id;
    if (!check_no_index(info, &columns[ordinal], error)) return false;
    if (info->column_count == 1)
        return sim_error(error, 4923,
                         "ALTER TABLE DROP COLUMN failed because '%.*s' is the only data column in "
                         "table '%.*s'. A table must have at least one data column.",
                         STR_ARG(column), STR_ARG(info->name));
    memmove(&columns[ordinal], &columns[ordinal + 1],
            (info->column_count - ordinal - 1) * sizeof *columns);
    info->column_count--;
    if (!change_body(txn, table, info, row_without_column, &ordinal, error)) return false;
    note_ddl(txn, table, DDL_DROP_COLUMN, column_id, NULL, ddl_text);
    return true;
}

/* --- ALTER COLUMN --- */

typedef struct AlterArg {
    const SimTable     *table;
    const SimTableInfo *info; /* the new one */
    SimType             from;
    size_t              ordinal;
    Arena              *arena;
} AlterArg;

/* An assignment to the new type: what would lose text is refused. */
static bool convert_for_storage(const AlterArg *alter, const SimValue *value, SimValue *out,
                                SimError *error)
{
    const SimColumn *column = &alter->info->columns[alter->ordinal];

    if (!sim_convert(value, &column->type, 0, true, alter->arena, out, error)) return false;
    bool is_text = column->type.kind >= SIM_CHAR && column->type.kind <= SIM_VARBINARY &&
                   column->type.length >= 0;
    if (!is_text || value->is_null || value->type.kind < SIM_CHAR) return true;
    SimType  open = column->type;
    SimValue whole;
    open.length = -1;
    open.kind   = sim_type_is_unicode(open.kind) ? SIM_NVARCHAR
                  : sim_type_is_text(open.kind)  ? SIM_VARCHAR
                                                 : SIM_VARBINARY;
    if (!sim_convert(value, &open, 0, true, alter->arena, &whole, error)) return false;
    size_t keep = whole.bytes.len;
    size_t unit = open.kind == SIM_NVARCHAR ? 2 : 1;
    while (open.kind != SIM_VARBINARY && keep >= unit && whole.bytes.ptr[keep - unit] == ' ' &&
           (unit == 1 || whole.bytes.ptr[keep - 1] == 0))
        keep -= unit;
    if (keep <= (size_t)column->type.length) return true;
    return sim_error(error, 2628,
                     "String or binary data would be truncated in table '%.*s.%.*s.%.*s', column "
                     "'%.*s'. Truncated value: '%.*s'.",
                     STR_ARG(alter->table->database->name), STR_ARG(alter->info->schema),
                     STR_ARG(alter->info->name), STR_ARG(column->name),
                     STR_ARG(sim_value_text(alter->arena, out)));
}

static bool row_with_type(void *arg, const SimRow *row, Slab *slab, SimRow **out, SimError *error)
{
    const AlterArg  *alter  = arg;
    const SimColumn *column = &alter->info->columns[alter->ordinal];
    SimValue         value, converted;

    arena_reset(alter->arena);
    wire_get(&alter->from, row_wire(row, alter->ordinal), &value);
    if (value.is_null && !column->is_nullable)
        return sim_error(error, 515,
                         "Cannot insert the value NULL into column '%.*s', table '%.*s.%.*s.%.*s'; "
                         "column does not allow nulls. UPDATE fails.",
                         STR_ARG(column->name), STR_ARG(alter->table->database->name),
                         STR_ARG(alter->info->schema), STR_ARG(alter->info->name));
    if (!convert_for_storage(alter, &value, &converted, error)) return false;
    size_t   len   = wire_size(&column->type, &converted);
    RowBuild build = row_build_begin(slab, row->column_count,
                                     row_size(row) - row_wire(row, alter->ordinal).len + len);
    for (size_t i = 0; i < row->column_count; i++) {
        if (i != alter->ordinal)
            row_build_copy(&build, row_wire(row, i));
        else
            wire_put(&column->type, &converted, row_build_column(&build, len));
    }
    *out = build.row;
    return true;
}

bool ddl_alter_column(SimTxn *txn, SimTable *table, size_t ordinal, const SimType *type,
                      bool is_nullable, SimError *error)
{
    SimColumn *columns = NULL;

    if (!lock_change(txn, table, error)) return false;
    SimTableInfo *info           = info_clone(table, sim_table_info(table), &columns, NULL);
    AlterArg      alter          = {.table   = table,
                                    .info    = info,
                                    .from    = columns[ordinal].type,
                                    .ordinal = ordinal,
                                    .arena   = arena_new()};
    columns[ordinal].type        = *type;
    columns[ordinal].is_nullable = is_nullable;
    bool ok                      = change_body(txn, table, info, row_with_type, &alter, error);
    arena_close(alter.arena);
    return ok;
}

/* The one change of an indexed column that the server allows: more room, outside a primary key. */
static bool only_grows(const SimTableInfo *info, const SimColumn *column, const SimType *type)
{
    bool varies = type->kind == SIM_VARCHAR || type->kind == SIM_NVARCHAR ||
                  type->kind == SIM_VARBINARY;

    for (size_t i = 0; i < info->index_count; i++)
        if (info->indexes[i]->is_primary_key && index_has(info->indexes[i], column->column_id))
            return false;
    return varies && type->kind == column->type.kind && type->collation == column->type.collation &&
           type->length >= column->type.length;
}

bool sim_alter_column(SimTxn *txn, SimTable *table, Str column, const SimType *type,
                      bool is_nullable, Str ddl_text, SimError *error)
{
    size_t ordinal = 0;

    if (!lock_change(txn, table, error)) return false;
    if (!find_column(table, column, "ALTER COLUMN", &ordinal, error)) return false;
    const SimTableInfo *info   = sim_table_info(table);
    const SimColumn    *before = &info->columns[ordinal];
    bool same = sim_type_same(&before->type, type) && before->type.is_numeric == type->is_numeric;
    if (before->is_computed || before->type.kind == SIM_ROWVERSION)
        return sim_error(error, 4928, "Cannot alter column '%.*s' because it is '%s'.",
                         STR_ARG(before->name), before->is_computed ? "COMPUTED" : "timestamp");
    if (!only_grows(info, before, type) && !check_no_index(info, before, error)) return false;
    if (!ddl_alter_column(txn, table, ordinal, type, is_nullable, error)) return false;
    note_ddl(txn, table, same ? DDL_ALTER_NULLABILITY : DDL_ALTER_TYPE, before->column_id, type,
             ddl_text);
    return true;
}
