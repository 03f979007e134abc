/* rename.c - what changes names alone: sp_rename, CREATE SCHEMA, DROP SCHEMA. */
#include "sim/model/model_internal.h"

/* --- sp_rename: the same rows under another description --- */

typedef struct RenameEvent {
    TxnEvent  base;
    SimTable *table;
    Body     *before, *after;
    Str       key_before;
} RenameEvent;

static void rename_rollback(TxnEvent *event, SimTxn *txn)
{
    const RenameEvent *rename = (const RenameEvent *)event;
    Body              *after  = table_body(rename->table);

    rename->before->next_row_id = after->next_row_id;
    table_set_body(rename->table, rename->before);
    (void)database_rename_table(txn->database, rename->table, rename->key_before);
    mem_free(after);
}

static void rename_commit(TxnEvent *event, SimTxn *txn, Lsn lsn)
{
    (void)lsn;
    atomic_store(&((const RenameEvent *)event)->table->altered_state, atomic_load(&txn->state));
}

static void rename_done(TxnEvent *event)
{
    RenameEvent *rename = (RenameEvent *)event;

    if (!event->is_rolled_back) { /* its trees went on */
        versions_move(rename->table, rename->before, rename->after);
        mem_free(rename->before);
    }
    mem_free(rename);
}

/* Puts another description over the same rows; undone by a rollback. */
static void table_swap_info(SimTxn *txn, SimTable *table, const SimTableInfo *info, Str key_before)
{
    Body        *before = table_body(table);
    Body        *after  = mem_alloc(sizeof *after);
    RenameEvent *event  = mem_alloc(sizeof *event);

    *after      = *before;
    after->info = info;
    *event      = (RenameEvent){
             .base       = {.commit = rename_commit, .rollback = rename_rollback, .done = rename_done},
             .table      = table,
             .before     = before,
             .after      = after,
             .key_before = key_before};
    txn_note_write(txn);
    txn_push_event(txn, &event->base);
    table_set_body(table, after);
}

static bool in_use(Str name, const char *what, SimError *error)
{
    return sim_error(error, 15335,
                     "Error: The new name '%.*s' is already in use as a %s name and would cause a "
                     "duplicate that is not permitted.",
                     STR_ARG(name), what);
}

bool sim_rename_table(SimTxn *txn, SimTable *table, Str name, SimError *error)
{
    SimColumn *columns = NULL;

    if (!lock_take(txn, &table->lock, LOCK_SCH_M, error)) return false;
    SimTableInfo *info       = info_clone(table, sim_table_info(table), &columns, NULL);
    Str           key_before = table->name_key;
    info->name               = str_copy(table->arena, name);
    if (!database_rename_table(txn->database, table, name_key(table->arena, info->schema, name)))
        return in_use(name, "OBJECT", error);
    table_swap_info(txn, table, info, key_before);
    return true;
}

bool sim_rename_column(SimTxn *txn, SimTable *table, Str column, Str name, SimError *error)
{
    SimColumn *columns = NULL;

    if (!lock_take(txn, &table->lock, LOCK_SCH_M, error)) return false;
    ptrdiff_t ordinal = sim_table_find_column(table, column);
    ptrdiff_t other   = sim_table_find_column(table, name);
    if (ordinal < 0)
        return sim_error(error, 15248,
                         "Either the parameter @objname is ambiguous or the claimed @objtype "
                         "(COLUMN) is wrong.");
    if (other >= 0 && other != ordinal) return in_use(name, "COLUMN", error);
    SimTableInfo *info = info_clone(table, sim_table_info(table), &columns, NULL);
    if (cdc_captures_column(table, columns[ordinal].column_id))
        return sim_error(error, 4928, "Cannot alter column '%.*s' because it is 'REPLICATED'.",
                         STR_ARG(columns[ordinal].name));
    columns[ordinal].name = str_copy(table->arena, name);
    table_swap_info(txn, table, info, table->name_key);
    return true;
}

/* --- schemas --- */

typedef struct SchemaEvent {
    TxnEvent base;
    bool     is_drop;
    char     name[2 * 130];
    size_t   name_len;
} SchemaEvent;

static void schema_rollback(TxnEvent *event, SimTxn *txn)
{
    const SchemaEvent *change = (const SchemaEvent *)event;
    Str                name   = {change->name, change->name_len};

    if (change->is_drop)
        (void)database_add_schema(txn->database, name);
    else
        (void)database_drop_schema(txn->database, name);
}

static void schema_done(TxnEvent *event)
{
    mem_free(event);
}

static void push_schema_event(SimTxn *txn, Str name, bool is_drop)
{
    SchemaEvent *event = mem_alloc(sizeof *event);

    event->base     = (TxnEvent){.rollback = schema_rollback, .done = schema_done};
    event->is_drop  = is_drop;
    event->name_len = MIN(name.len, sizeof event->name);
    memcpy(event->name, name.ptr, event->name_len);
    txn_push_event(txn, &event->base);
}

bool sim_create_schema(SimTxn *txn, Str schema, SimError *error)
{
    if (!database_add_schema(txn->database, schema))
        return sim_error(error, 2714, "There is already an object named '%.*s' in the database.",
                         STR_ARG(schema));
    txn_note_write(txn);
    push_schema_event(txn, schema, false);
    return true;
}

bool sim_drop_schema(SimTxn *txn, Str schema, SimError *error)
{
    SimTable *table = NULL;

    for (size_t at = 0; sim_database_next_table(txn->database, &at, &table);)
        if (sim_name_equal(sim_table_info(table)->schema, schema))
            return sim_error(
                error, 3729,
                "Cannot drop schema '%.*s' because it is being referenced by object '%.*s'.",
                STR_ARG(schema), STR_ARG(sim_table_info(table)->name));
    if (!database_drop_schema(txn->database, schema))
        return sim_error(error, 15151,
                         "Cannot drop the schema '%.*s', because it does not exist or you do not "
                         "have permission.",
                         STR_ARG(schema));
    txn_note_write(txn);
    push_schema_event(txn, schema, true);
    return true;
}

bool sim_describe_table(SimTxn *txn, SimTable *table, const SimColumn *columns,
                        const SimConstraint *constraints, size_t constraint_count, SimError *error)
{
    SimColumn *own_columns = NULL;

    if (!lock_take(txn, &table->lock, LOCK_SCH_M, error)) return false;
    SimTableInfo  *info = info_clone(table, sim_table_info(table), &own_columns, NULL);
    SimConstraint *own  = ARENA_ARRAY(table->arena, SimConstraint, constraint_count + 1);
    for (size_t i = 0; columns != NULL && i < info->column_count; i++) {
        own_columns[i].default_value           = columns[i].default_value;
        own_columns[i].default_name            = str_copy(table->arena, columns[i].default_name);
        own_columns[i].default_is_system_named = columns[i].default_is_system_named;
        if (columns[i].default_value == NULL)
            own_columns[i].default_object_id = 0;
        else if (own_columns[i].default_object_id == 0)
            own_columns[i].default_object_id = database_next_object_id(txn->database);
    }
    for (size_t i = 0; i < constraint_count; i++) {
        const SimConstraint *from = &constraints[i];
        size_t               size = from->column_count * sizeof(int32_t);
        int32_t             *ids  = ARENA_ARRAY(table->arena, int32_t, from->column_count + 1);
        int32_t *referenced       = ARENA_ARRAY(table->arena, int32_t, from->column_count + 1);
        if (size > 0) memcpy(ids, from->column_ids, size);
        if (size > 0) memcpy(referenced, from->referenced_column_ids, size);
        own[i]                       = *from;
        own[i].name                  = str_copy(table->arena, from->name);
        own[i].definition            = str_copy(table->arena, from->definition);
        own[i].column_ids            = ids;
        own[i].referenced_column_ids = referenced;
        if (own[i].kind == SIM_CONSTRAINT_FOREIGN_KEY)
            atomic_store(&txn->database->has_foreign_keys, true);
        if (own[i].object_id == 0) own[i].object_id = database_next_object_id(txn->database);
    }
    info->constraints      = own;
    info->constraint_count = constraint_count;
    table_swap_info(txn, table, info, table->name_key);
    return true;
}
