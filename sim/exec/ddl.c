/* ddl.c - CREATE, ALTER, DROP and TRUNCATE, mapped onto the model. Expressions of defaults and computed columns are parsed again into an arena that the table keeps. */
#include "sim/exec/ddl_internal.h"

static bool need_owner(const Ddl *ddl, const char *what)
{
    if (session_is_owner(ddl->session)) return true;
    return sim_error(ddl->error, 262, "%s permission denied in database '%.*s'.", what,
                     STR_ARG(sim_database_name(ddl->session->database)));
}

static bool is_temp(Str name)
{
    return name.len > 0 && (name.ptr[0] == '#' || name.ptr[0] == '@');
}

/* A copy of the statement whose expressions live as long as the table. NULL without expressions. */
static bool keep_expressions(const Ddl *ddl, const ColumnDefList *columns,
                             const ConstraintDefList *constraints, Arena **arena_out,
                             const Stmt **copy_out)
{
    bool     any  = false;
    StmtList list = {0};

    *arena_out = NULL;
    *copy_out  = ddl->stmt;
    for (size_t i = 0; i < columns->count; i++)
        any |= columns->items[i].default_value || columns->items[i].computed;
    for (size_t i = 0; i < constraints->count; i++)
        any |= constraints->items[i].expr != NULL;
    if (!any) return true;
    *arena_out = arena_new();
    if (!sim_parse(str_copy(*arena_out, ddl->stmt->source), ddl->session->options.quoted_identifier,
                   *arena_out, &list, ddl->error)) {
        arena_close(*arena_out);
        *arena_out = NULL;
        return false;
    }
    *copy_out = list.items[0];
    return true;
}

/* --- columns --- */
static bool computed_type(const Ddl *ddl, const Expr *expr, const SimColumn *columns, size_t count,
                          SimColumn *out)
{
    Binder      *binder = binder_new(ddl->session, ddl->arena, ddl->error);
    QueryScope  *scope  = scope_new(binder, NULL);
    BoundSource *source = scope_add(binder, scope, BOUND_DERIVED, STR_EMPTY, 0);
    Node        *node   = NULL;

    source->columns      = ARENA_ARRAY(ddl->arena, BoundColumn, count + 1);
    source->column_count = count;
    for (size_t i = 0; i < count; i++)
        source->columns[i] = (BoundColumn){.name        = columns[i].name,
                                           .type        = columns[i].type,
                                           .is_nullable = columns[i].is_nullable,
                                           .slot        = -1,
                                           .ordinal     = i};
    if (!bind_expr(binder, scope, expr, &node)) return false;
    out->type        = node->type;
    out->is_nullable = true;
    return true;
}

/* A temporary table has tempdb's collation, unless it asks for the database's. */
static const SimCollation *column_collation(const Ddl *ddl, bool of_session)
{
    const SimDatabase *database = ddl->session->database;
    Str                name     = ddl->stmt->object.name;

    if (!of_session && name.len > 0 && name.ptr[0] == '#') return NULL;
    if (!of_session && !str_is_empty(ddl->stmt->object.database))
        database = sim_server_find_database(ddl->session->server, ddl->stmt->object.database);
    return database ? sim_database_collation(database) : NULL;
}

#define COLUMNS_MOST     1024 /* of a table */
#define KEY_COLUMNS_MOST 32   /* of an index */

static bool check_column_count(const Ddl *ddl, Str table, size_t count, Str column)
{
    if (count <= COLUMNS_MOST) return true;
    return sim_error(ddl->error, 1702,
                     "%s TABLE failed because column '%.*s' in table '%.*s' exceeds the maximum of "
                     "%d columns.",
                     ddl->stmt->kind == STMT_ALTER_TABLE ? "ALTER" : "CREATE", STR_ARG(column),
                     STR_ARG(table), COLUMNS_MOST);
}

static bool make_column(const Ddl *ddl, const ColumnDef *def, SimColumn *out)
{
    if (def->is_identity && def->identity_step == 0)
        return sim_error(ddl->error, 2753, "Identity column '%.*s' contains invalid INCREMENT.",
                         STR_ARG(def->name));
    *out = (SimColumn){
        .name                    = def->name,
        .type                    = def->type,
        .is_nullable             = def->nullability_given ? def->is_nullable : !def->is_identity,
        .is_identity             = def->is_identity,
        .identity_seed           = def->identity_seed,
        .identity_step           = def->identity_step,
        .is_computed             = def->computed != NULL,
        .is_persisted            = def->is_persisted,
        .default_value           = def->default_value,
        .computed                = def->computed,
        .default_name            = def->default_value && str_is_empty(def->default_name)
                                       ? ddl_made_up_name(ddl, "DF", ddl->stmt->object.name, def->name)
                                       : def->default_name,
        .default_is_system_named = str_is_empty(def->default_name)};
    bool is_default = sim_name_equal(def->collation, STR("DATABASE_DEFAULT"));
    if (str_is_empty(def->collation) || is_default) {
        if (sim_type_is_text(def->type.kind) || def->type.kind == SIM_TEXT ||
            def->type.kind == SIM_NTEXT)
            out->type.collation = column_collation(ddl, is_default);
    } else {
        out->type.collation = sim_collation_find(def->collation);
        if (!out->type.collation)
            return sim_error(ddl->error, 448, "Invalid collation '%.*s'.", STR_ARG(def->collation));
    }
    if (def->is_identity && !sim_type_is_integer(def->type.kind) &&
        !(def->type.kind == SIM_DECIMAL && def->type.scale == 0))
        return sim_error(ddl->error, 2749,
                         "Identity column '%.*s' must be of data type int, bigint, smallint, "
                         "tinyint, or decimal or numeric with a scale of 0, "
                         "unencrypted, and constrained to be nonnullable.",
                         STR_ARG(def->name));
    if (def->type.kind == SIM_ROWVERSION)
        out->is_nullable = def->nullability_given ? def->is_nullable : false;
    return true;
}

static ptrdiff_t find_column(const SimColumn *columns, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++)
        if (sim_name_equal(columns[i].name, name)) return (ptrdiff_t)i;
    return -1;
}

/* --- keys --- */
static bool make_index(const Ddl *ddl, const KeyColumnList *keys, const SimColumn *columns,
                       size_t count, SimIndex *out)
{
    if (keys->count > KEY_COLUMNS_MOST)
        return sim_error(ddl->error, 1904,
                         "The index '%.*s' on table '%.*s' has %zu columns in the key list. The "
                         "maximum limit for index key column list is %d.",
                         STR_ARG(out->name), STR_ARG(ddl->stmt->object.name), keys->count,
                         KEY_COLUMNS_MOST);
    out->columns      = ARENA_ARRAY(ddl->arena, SimIndexColumn, keys->count + 1);
    out->column_count = keys->count;
    for (size_t i = 0; i < keys->count; i++) {
        ptrdiff_t at = find_column(columns, count, keys->items[i].name);
        if (at < 0)
            return sim_error(ddl->error, 1911,
                             "Column name '%.*s' does not exist in the target table or view.",
                             STR_ARG(keys->items[i].name));
        if (sim_type_is_lob(columns[at].type.kind) || columns[at].type.length == -1)
            return sim_error(ddl->error, 1919,
                             "Column '%.*s' in table '%.*s' is of a type that is invalid for use "
                             "as a key column in an index.",
                             STR_ARG(columns[at].name), STR_ARG(ddl->stmt->object.name));
        out->columns[i] = (SimIndexColumn){columns[at].column_id ? columns[at].column_id
                                                                 : (int32_t)at + 1,
                                           keys->items[i].descending};
    }
    return true;
}

static Str generated_name(const Ddl *ddl, const char *prefix, Str table)
{
    return str_printf(ddl->arena, "%s__%.*s__%016llX", prefix, (int)MIN(table.len, 9), table.ptr,
                      (unsigned long long)rng_u64(sim_server_rng(ddl->session->server)));
}

/* A key makes a column NOT NULL that says nothing, but none that says NULL. */
static bool is_declared_null(const Stmt *stmt, Str column)
{
    for (size_t i = 0; i < stmt->column_defs.count; i++) {
        const ColumnDef *def = &stmt->column_defs.items[i];
        if (sim_name_equal(def->name, column)) return def->nullability_given && def->is_nullable;
    }
    return false;
}

static bool null_in_key(const Ddl *ddl, Str table)
{
    (void)sim_error(ddl->error, 8111,
                    "Cannot define PRIMARY KEY constraint on nullable column in table '%.*s'.",
                    STR_ARG(table));
    return ddl_not_created(ddl);
}

static bool make_key(const Ddl *ddl, const ConstraintDef *def, Str table, SimColumn *columns,
                     size_t count, bool clustered, SimIndex *out)
{
    bool is_primary = def->kind == CONSTRAINT_PRIMARY_KEY;

    *out = (SimIndex){.name                 = str_is_empty(def->name)
                                                  ? generated_name(ddl, is_primary ? "PK" : "UQ", table)
                                                  : def->name,
                      .is_unique            = true,
                      .is_clustered         = clustered,
                      .is_primary_key       = is_primary,
                      .is_unique_constraint = !is_primary,
                      .is_system_named      = str_is_empty(def->name)};
    if (!make_index(ddl, &def->columns, columns, count, out)) return false;
    for (size_t i = 0; is_primary && i < def->columns.count; i++) {
        ptrdiff_t at = find_column(columns, count, def->columns.items[i].name);
        if (is_declared_null(ddl->stmt, columns[at].name)) return null_in_key(ddl, table);
        columns[at].is_nullable = false;
    }
    return true;
}

static bool make_keys(const Ddl *ddl, const ConstraintDefList *defs, Str table, SimColumn *columns,
                      size_t count, SimIndex **out, size_t *count_out)
{
    SimIndex *indexes       = ARENA_ARRAY(ddl->arena, SimIndex, defs->count + 1);
    size_t    made          = 0;
    bool      has_clustered = false;

    for (size_t i = 0; i < defs->count; i++)
        has_clustered |= defs->items[i].clustering_given && defs->items[i].is_clustered;
    for (size_t i = 0; i < defs->count; i++) {
        const ConstraintDef *def = &defs->items[i];
        if (def->kind != CONSTRAINT_PRIMARY_KEY && def->kind != CONSTRAINT_UNIQUE) continue;
        bool clustered = def->clustering_given
                             ? def->is_clustered
                             : def->kind == CONSTRAINT_PRIMARY_KEY && !has_clustered;
        has_clustered |= clustered;
        if (!make_key(ddl, def, table, columns, count, clustered, &indexes[made])) return false;
        if (clustered && made > 0) { /* the clustered one first */
            SimIndex first = indexes[0];
            indexes[0]     = indexes[made];
            indexes[made]  = first;
        }
        made++;
    }
    *out       = indexes;
    *count_out = made;
    return true;
}

static bool check_constraints(const Ddl *ddl, const ConstraintDefList *defs, SimColumn *columns,
                              size_t count)
{
    for (size_t i = 0; i < defs->count; i++) {
        const ConstraintDef *def = &defs->items[i];
        if (def->kind != CONSTRAINT_DEFAULT) continue;
        ptrdiff_t at = find_column(columns, count, def->for_column);
        if (at < 0)
            return sim_error(
                ddl->error, 1752,
                "Column '%.*s' in table '%.*s' is invalid for creating a default constraint.",
                STR_ARG(def->for_column), STR_ARG(ddl->stmt->object.name));
        columns[at].default_value           = def->expr;
        columns[at].default_name            = str_is_empty(def->name)
                                                  ? ddl_made_up_name(ddl, "DF", ddl->stmt->object.name,
                                                                     def->for_column)
                                                  : def->name;
        columns[at].default_is_system_named = str_is_empty(def->name);
    }
    return true;
}

/* INDEX inside a table definition: as a CREATE INDEX right behind it. */
static bool create_inline_indexes(const Ddl *ddl, const ConstraintDefList *defs, SimTxn *txn,
                                  SimTable *table)
{
    for (size_t i = 0; i < defs->count; i++) {
        const ConstraintDef *def   = &defs->items[i];
        const SimTableInfo  *info  = sim_table_info(table);
        SimIndex             index = {
                        .name = def->name, .is_unique = def->is_unique, .is_clustered = def->is_clustered};
        if (def->kind != CONSTRAINT_INDEX) continue;
        if (!make_index(ddl, &def->columns, info->columns, info->column_count, &index) ||
            !sim_create_index(txn, table, &index, ddl->error))
            return false;
    }
    return true;
}

/* --- rows --- */
#define ROW_BYTES_MOST 8060

/* What a column takes of every row; 0: as much as its value. */
static size_t fixed_bytes(const SimColumn *column)
{
    switch (column->type.kind) {
    case SIM_CHAR:
    case SIM_NCHAR:
    case SIM_BINARY: return (size_t)column->type.length;
    case SIM_DECIMAL:
    case SIM_TIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: return (size_t)column->type.length;
    default: {
        int32_t length = sim_type(column->type.kind).length;
        bool    varies = sim_type_is_text(column->type.kind) ||
                      sim_type_is_binary(column->type.kind) || sim_type_is_lob(column->type.kind) ||
                      column->type.kind == SIM_XML || column->type.kind == SIM_VARIANT ||
                      column->type.kind == SIM_BIT;
        return varies || length < 0 ? 0 : (size_t)length;
    }
    }
}

/* `more` is a column that takes its place beside `columns`, or NULL. */
static bool check_row_bytes(const Ddl *ddl, Str table, const SimColumn *columns, size_t count,
                            const SimColumn *more)
{
    size_t total = count + (more != NULL ? 1 : 0), stored = 0, bits = 0, bytes = 0;

    for (size_t i = 0; i < total; i++) {
        const SimColumn *column = i < count ? &columns[i] : more;
        if (column->is_computed && !column->is_persisted) continue;
        stored++;
        bits += column->type.kind == SIM_BIT;
        bytes += fixed_bytes(column);
    }
    size_t overhead = 6 + (stored + 7) / 8; /* a header, the number of columns, which are NULL */
    bytes += (bits + 7) / 8 + overhead;
    return bytes <= ROW_BYTES_MOST ||
           sim_error(ddl->error, 1701,
                     "Creating or altering table '%.*s' failed because the minimum row size would "
                     "be %zu, including %zu bytes of internal overhead. This exceeds the maximum "
                     "allowable table row size of %d bytes.",
                     STR_ARG(table), bytes, overhead, ROW_BYTES_MOST);
}

/* A column of another size stands beside the old one, whose bytes stay. */
static bool check_altered_row(const Ddl *ddl, const SimTableInfo *info, const SimColumn *column)
{
    ptrdiff_t at = find_column(info->columns, info->column_count, column->name);

    if (at < 0 || fixed_bytes(&info->columns[at]) == fixed_bytes(column)) return true;
    return check_row_bytes(ddl, info->name, info->columns, info->column_count, column);
}

/* --- tables --- */
static bool make_table(const Ddl *ddl, const ColumnDefList *defs,
                       const ConstraintDefList *constraints, SimTxn *txn, Str schema, Str name,
                       bool temporary, SimTable **out)
{
    SimColumn   *columns      = ARENA_ARRAY(ddl->arena, SimColumn, defs->count + 1);
    SimIndex    *indexes      = NULL;
    SimTableSpec spec         = {.schema       = schema,
                                 .name         = name,
                                 .columns      = columns,
                                 .column_count = defs->count,
                                 .is_temporary = temporary};
    bool         has_identity = false;

    for (size_t i = 0; i < defs->count; i++) {
        if (!check_column_count(ddl, name, i + 1, defs->items[i].name) ||
            !make_column(ddl, &defs->items[i], &columns[i]))
            return false;
        if (find_column(columns, i, columns[i].name) >= 0)
            return sim_error(ddl->error, 2705,
                             "Column names in each table must be unique. Column name '%.*s' in "
                             "table '%.*s' is specified more than once.",
                             STR_ARG(columns[i].name), STR_ARG(name));
        if (has_identity && columns[i].is_identity)
            return sim_error(ddl->error, 2744,
                             "Multiple identity columns specified for table '%.*s'. Only one "
                             "identity column per table is allowed.",
                             STR_ARG(name));
        has_identity |= columns[i].is_identity;
    }
    for (size_t i = 0; i < defs->count; i++)
        if (columns[i].is_computed &&
            !computed_type(ddl, columns[i].computed, columns, defs->count, &columns[i]))
            return false;
    if (!check_row_bytes(ddl, name, columns, defs->count, NULL) ||
        !check_constraints(ddl, constraints, columns, defs->count))
        return false;
    if (!make_keys(ddl, constraints, name, columns, defs->count, &indexes, &spec.index_count))
        return false;
    spec.indexes = indexes;
    return sim_create_table(txn, &spec, out, ddl->error) &&
           create_inline_indexes(ddl, constraints, txn, *out) &&
           ddl_add_constraints(ddl, txn, *out, constraints, false);
}

static void remember_temp(SimSession *session, Str name, SimTable *table)
{
    Frame *frame = session->frame;

    while (frame && !frame->in_procedure && frame->outer)
        frame = frame->outer; /* a batch's tables are the session's */
    *LIST_PUSH(session->arena, &session->temp_tables) = (TempTable){str_copy(session->arena, name),
                                                                    table, frame, true};
}

static Str temp_name(const Ddl *ddl, Str name)
{
    return str_printf(ddl->arena, "%.*s____%08X%zu", STR_ARG(name), (unsigned)ddl->session->id,
                      ddl->session->temp_tables.count);
}

static bool create_table(const Ddl *ddl)
{
    SimSession  *session = ddl->session;
    const Stmt  *stmt = ddl->stmt, *copy = NULL;
    SimDatabase *database = session->database;
    Arena       *kept     = NULL;
    SimTable    *table    = NULL;
    bool         temp     = is_temp(stmt->object.name);
    Str          schema   = str_is_empty(stmt->object.schema) ? STR("dbo") : stmt->object.schema;

    if (temp) {
        database = sim_server_find_database(session->server, STR("tempdb"));
        schema   = STR("dbo");
        for (size_t i = session->temp_tables.count; i-- > 0;) {
            const TempTable *other = &session->temp_tables.items[i];
            if (sim_name_equal(other->name, stmt->object.name) &&
                !sim_table_is_dropped(other->table) &&
                (other->frame == session->frame || !session->frame->in_procedure))
                return sim_error(ddl->error, 2714,
                                 "There is already an object named '%.*s' in the database.",
                                 STR_ARG(stmt->object.name));
        }
    } else {
        if (!str_is_empty(stmt->object.database))
            database = sim_server_find_database(session->server, stmt->object.database);
        if (!database)
            return sim_error(
                ddl->error, 911,
                "Database '%.*s' does not exist. Make sure that the name is entered correctly.",
                STR_ARG(stmt->object.database));
        if (!need_owner(ddl, "CREATE TABLE")) return false;
        if (!sim_database_has_schema(database, schema))
            return sim_error(ddl->error, 2760,
                             "The specified schema name \"%.*s\" either does not exist or you do "
                             "not have permission to use it.",
                             STR_ARG(schema));
    }
    if (!keep_expressions(ddl, &stmt->column_defs, &stmt->constraints, &kept, &copy)) return false;
    Str  name = temp ? temp_name(ddl, stmt->object.name) : stmt->object.name;
    bool ok   = make_table(ddl, &copy->column_defs, &copy->constraints,
                           session_txn(session, database), schema, name, temp, &table);
    if (kept && table) sim_table_adopt(table, kept); /* a table that is undone still has it */
    if (!ok && !table) arena_close(kept);
    if (!ok) return false;
    if (temp) remember_temp(session, stmt->object.name, table);
    return true;
}

bool run_declare_table(SimSession *session, const VariableDef *def, Arena *arena, SimError *error)
{
    Ddl          ddl      = {session, session->stmt, arena, error};
    SimDatabase *database = sim_server_find_database(session->server, STR("tempdb"));
    SimTable    *table    = NULL;
    SimType      type     = sim_type(SIM_INT);
    if (frame_find(session->frame, def->name)) return true; /* again, in a loop */
    SimTxn *txn  = sim_txn_begin(database, &session->waiter, SIM_READ_COMMITTED);
    Str     name = str_printf(arena, "#%.*s____%08X%zu", STR_ARG(def->name), (unsigned)session->id,
                              session->temp_tables.count);

    if (!make_table(&ddl, &def->columns, &def->constraints, txn, STR("dbo"), name, true, &table)) {
        sim_txn_rollback(txn);
        return false;
    }
    if (!sim_txn_commit(txn, NULL, error)) return false;
    frame_declare(session->frame, def->name, &type)->table = table;
    *LIST_PUSH(session->arena, &session->temp_tables) = (TempTable){str_copy(session->arena, name),
                                                                    table, session->frame, false};
    return true;
}

/* The table a statement names, for its owner. */
static bool find_table(const Ddl *ddl, SimDatabase **database_out, SimTable **out)
{
    Binder           *binder = binder_new(ddl->session, ddl->arena, ddl->error);
    const ObjectName *name   = &ddl->stmt->object;
    Str               schema, written;

    if (!bind_table_name(binder, name, database_out, out, &schema)) {
        written = str_is_empty(name->schema) || ddl->stmt->kind == STMT_TRUNCATE
                      ? name->name
                      : str_printf(ddl->arena, "%.*s.%.*s", STR_ARG(name->schema),
                                   STR_ARG(name->name));
        if (ddl->error->number == 208)
            sim_error(ddl->error,
                      ddl->stmt->kind == STMT_DROP_TABLE ? 3701
                      : ddl->stmt->kind == STMT_TRUNCATE ? 4701
                                                         : 4902,
                      ddl->stmt->kind == STMT_DROP_TABLE
                          ? "Cannot drop the table '%.*s', because it does not exist or you do not "
                            "have permission."
                          : "Cannot find the object \"%.*s\" because it does not exist or you do "
                            "not have permissions.",
                      STR_ARG(written));
        return false;
    }
    if (is_temp(ddl->stmt->object.name) || session_is_owner(ddl->session)) return true;
    return sim_error(
        ddl->error, 1088,
        "Cannot find the object \"%.*s\" because it does not exist or you do not have permissions.",
        STR_ARG(ddl->stmt->object.name));
}

static bool drop_table(const Ddl *ddl)
{
    SimDatabase *database = NULL;
    SimTable    *table = NULL, *child = NULL;

    if (!find_table(ddl, &database, &table)) {
        if (!ddl->stmt->if_exists) return false;
        *ddl->error = SIM_ERROR_INIT;
        return true;
    }
    if (!sim_table_info(table)->is_temporary && constraint_on(table, &child))
        return sim_error(ddl->error, 3726,
                         "Could not drop object '%.*s%s%.*s' because it is referenced by a FOREIGN "
                         "KEY constraint.",
                         STR_ARG(ddl->stmt->object.schema), ddl->stmt->object.schema.len ? "." : "",
                         STR_ARG(ddl->stmt->object.name));
    return sim_drop_table(session_txn(ddl->session, database), table, ddl->error);
}

static bool add_columns(const Ddl *ddl, SimTxn *txn, SimTable *table)
{
    const Stmt *copy = NULL;
    Arena      *kept = NULL;

    if (!keep_expressions(ddl, &ddl->stmt->column_defs, &ddl->stmt->constraints, &kept, &copy))
        return false;
    if (kept) sim_table_adopt(table, kept);
    for (size_t i = 0; i < copy->column_defs.count; i++) {
        SimColumn           column;
        const SimTableInfo *info = sim_table_info(table);
        if (!check_column_count(ddl, info->name, info->column_count + 1,
                                copy->column_defs.items[i].name) ||
            !make_column(ddl, &copy->column_defs.items[i], &column))
            return false;
        if (column.is_computed &&
            !computed_type(ddl, column.computed, info->columns, info->column_count, &column))
            return false;
        if (!check_row_bytes(ddl, info->name, info->columns, info->column_count, &column))
            return false;
        SimValue fill = sim_null(column.type), value;
        if (column.default_value &&
            (!column.is_nullable || copy->column_defs.items[i].with_values)) {
            if (!run_expression(ddl->session, column.default_value, ddl->arena, &value, ddl->error))
                return false;
            if (!value.is_null &&
                !sim_convert(&value, &column.type, 0, true, ddl->arena, &fill, ddl->error))
                return false;
        }
        if (!sim_add_column(txn, table, &column, &fill, ddl->stmt->source, ddl->error))
            return false;
    }
    for (size_t i = 0; i < copy->constraints.count; i++) {
        const ConstraintDef *def  = &copy->constraints.items[i];
        const SimTableInfo  *info = sim_table_info(table);
        SimIndex             index;
        if (def->kind == CONSTRAINT_DEFAULT) {
            if (!ddl_add_default(ddl, txn, table, def)) return false;
            continue;
        }
        if (def->kind != CONSTRAINT_PRIMARY_KEY && def->kind != CONSTRAINT_UNIQUE) continue;
        bool       has_clustered = info->index_count > 0 && info->indexes[0]->is_clustered;
        bool       clustered     = def->clustering_given
                                       ? def->is_clustered
                                       : def->kind == CONSTRAINT_PRIMARY_KEY && !has_clustered;
        SimColumn *columns       = ARENA_ARRAY(ddl->arena, SimColumn, info->column_count + 1);
        for (size_t c = 0; c < info->column_count; c++)
            columns[c] = info->columns[c];
        for (size_t k = 0; def->kind == CONSTRAINT_PRIMARY_KEY && k < def->columns.count; k++) {
            ptrdiff_t at = find_column(columns, info->column_count, def->columns.items[k].name);
            if (at >= 0 && columns[at].is_nullable) return null_in_key(ddl, info->name);
        }
        if (!make_key(ddl, def, info->name, columns, info->column_count, clustered, &index))
            return false;
        if (!sim_create_index(txn, table, &index, ddl->error)) return false;
    }
    return ddl_add_constraints(ddl, txn, table, &copy->constraints, true);
}

/* A captured table is not switched; others are not supported. */
static bool refuse_switch(const Ddl *ddl, SimTable *source)
{
    Binder      *binder   = binder_new(ddl->session, ddl->arena, ddl->error);
    SimDatabase *database = NULL;
    SimTable    *target   = NULL;
    Str          schema;

    if (!bind_table_name(binder, &ddl->stmt->output_into, &database, &target, &schema)) {
        if (ddl->error->number == 208)
            sim_error(ddl->error, 4902,
                      "Cannot find the object \"%.*s\" because it does not exist or you do not "
                      "have permissions.",
                      STR_ARG(ddl->stmt->output_into.name));
        return false;
    }
    if (!sim_table_is_captured(source) && !sim_table_is_captured(target))
        return sim_not_supported(ddl->error, "ALTER TABLE SWITCH");
    bool is_source = sim_table_is_captured(source);
    return sim_error(
        ddl->error, is_source ? 22843 : 22842,
        "ALTER TABLE SWITCH statement failed because the partitioned %s table is "
        "enabled for Change Data Capture and does not have @allow_partition_switch set "
        "to 1.",
        is_source ? "source" : "destination");
}

/* What depends on a column is one error, that the column therefore stays another. Only the last of them can be caught. */
static bool say_what_depends(const Ddl *ddl, const char *action, Str column)
{
    if (ddl->error->number != 5074) return false;
    if (!session_is_in_try(ddl->session)) {
        SimError dependent = *ddl->error;
        dependent.line     = MAX(ddl->stmt->line, 1);
        session_send_message(ddl->session, &dependent);
    }
    return sim_error(ddl->error, 4922,
                     "ALTER TABLE %s %.*s failed because one or more objects access this column.",
                     action, STR_ARG(column));
}

static bool alter_table(const Ddl *ddl)
{
    const Stmt  *stmt     = ddl->stmt;
    SimDatabase *database = NULL;
    SimTable    *table    = NULL;
    SimColumn    column;

    if (!find_table(ddl, &database, &table)) return false;
    SimTxn *txn = session_txn(ddl->session, database);
    switch (stmt->alter) {
    case ALTER_ADD_COLUMN:
    case ALTER_ADD_CONSTRAINT: return add_columns(ddl, txn, table);
    case ALTER_DROP_COLUMN:
        for (size_t i = 0; i < stmt->columns.count; i++) {
            if (stmt->if_exists && sim_table_find_column(table, stmt->columns.items[i]) < 0)
                continue;
            if (!ddl_check_column_is_free(ddl, table, stmt->columns.items[i], "DROP COLUMN", true))
                return false;
            if (!sim_drop_column(txn, table, stmt->columns.items[i], stmt->source, ddl->error))
                return say_what_depends(ddl, "DROP COLUMN", stmt->columns.items[i]);
        }
        return true;
    case ALTER_ALTER_COLUMN:
        if (!make_column(ddl, &stmt->column_defs.items[0], &column)) return false;
        if (!ddl_check_column_is_free(ddl, table, column.name, "ALTER COLUMN", false)) return false;
        if (!check_altered_row(ddl, sim_table_info(table), &column)) return false;
        return sim_alter_column(txn, table, column.name, &column.type,
                                stmt->column_defs.items[0].nullability_given ? column.is_nullable
                                                                             : true,
                                stmt->source, ddl->error) ||
               say_what_depends(ddl, "ALTER COLUMN", column.name);
    case ALTER_DROP_CONSTRAINT:
        for (size_t i = 0; i < stmt->columns.count; i++)
            if (!ddl_drop_constraint(ddl, txn, table, stmt->columns.items[i])) return false;
        return true;
    case ALTER_ENABLE_CONSTRAINT: return ddl_enable_constraints(ddl, txn, table);
    case ALTER_SWITCH: return refuse_switch(ddl, table);
    }
    return true;
}

static bool is_in_index(const SimIndex *index, int32_t column_id)
{
    for (size_t i = 0; i < index->column_count; i++)
        if (index->columns[i].column_id == column_id) return true;
    for (size_t i = 0; i < index->included_count; i++)
        if (index->included[i] == column_id) return true;
    return false;
}

static bool make_included(const Ddl *ddl, const SimTableInfo *info, SimIndex *index)
{
    const NameList *names = &ddl->stmt->columns;

    if (names->count > 0 && index->is_clustered)
        return sim_error(ddl->error, 10601,
                         "Cannot specify included columns for a clustered index.");
    index->included = ARENA_ARRAY(ddl->arena, int32_t, names->count + 1);
    for (size_t i = 0; i < names->count; i++) {
        ptrdiff_t at = find_column(info->columns, info->column_count, names->items[i]);
        if (at < 0)
            return sim_error(ddl->error, 1911,
                             "Column name '%.*s' does not exist in the target table or view.",
                             STR_ARG(names->items[i]));
        const SimColumn *column = &info->columns[at];
        if (is_in_index(index, column->column_id))
            return sim_error(ddl->error, 1909,
                             "Cannot use duplicate column names in index. Column name '%.*s' "
                             "listed more than once.",
                             STR_ARG(column->name));
        if (column->type.kind == SIM_TEXT || column->type.kind == SIM_NTEXT ||
            column->type.kind == SIM_IMAGE)
            return sim_error(ddl->error, 1999,
                             "Column '%.*s' in table '%.*s' is of a type that is invalid for use "
                             "as included column in an index.",
                             STR_ARG(column->name), STR_ARG(info->name));
        index->included[index->included_count++] = column->column_id;
    }
    return true;
}

static bool create_index(const Ddl *ddl)
{
    const Stmt  *stmt     = ddl->stmt;
    SimDatabase *database = NULL;
    SimTable    *table    = NULL;
    SimIndex     index    = {
               .name = stmt->name, .is_unique = stmt->is_unique, .is_clustered = stmt->is_clustered};

    if (stmt->where) return sim_not_supported(ddl->error, "a filtered index");
    if (!find_table(ddl, &database, &table)) return false;
    const SimTableInfo *info = sim_table_info(table);
    if (!make_index(ddl, &stmt->keys, info->columns, info->column_count, &index) ||
        !make_included(ddl, info, &index))
        return false;
    return sim_create_index(session_txn(ddl->session, database), table, &index, ddl->error);
}

static bool drop_index(const Ddl *ddl)
{
    SimDatabase *database = NULL;
    SimTable    *table    = NULL;

    if (!find_table(ddl, &database, &table)) return false;
    if (sim_drop_index(session_txn(ddl->session, database), table, ddl->stmt->name, ddl->error))
        return true;
    if (!ddl->stmt->if_exists || ddl->error->number != 3701) return false;
    *ddl->error = SIM_ERROR_INIT;
    return true;
}

static bool truncate(const Ddl *ddl)
{
    SimDatabase *database = NULL;
    SimTable    *table = NULL, *child = NULL;

    if (!find_table(ddl, &database, &table)) return false;
    if (!sim_table_info(table)->is_temporary && constraint_on(table, &child))
        return sim_error(ddl->error, 4712,
                         "Cannot truncate table '%.*s' because it is being referenced by a FOREIGN "
                         "KEY constraint.",
                         STR_ARG(sim_table_info(table)->name));
    return sim_truncate(session_txn(ddl->session, database), table, ddl->error);
}

/* --- schemas and databases --- */
static bool create_database(const Ddl *ddl, Str name)
{
    Str                 wanted    = ddl->stmt->name;
    const SimCollation *collation = str_is_empty(wanted) ? NULL : sim_collation_find(wanted);

    if (!str_is_empty(wanted) && !collation)
        return sim_error(ddl->error, 448, "Invalid collation '%.*s'.", STR_ARG(wanted));
    if (!sim_create_database(ddl->session->server, name, ddl->error)) return false;
    SimDatabase *database = sim_server_find_database(ddl->session->server, name);
    if (database) sim_database_set_collation(database, collation);
    return true;
}

static bool schema_or_database(const Ddl *ddl)
{
    SimSession *session = ddl->session;
    const Stmt *stmt    = ddl->stmt;
    Str         name    = stmt->object.name;

    switch ((int)stmt->kind) { /* of the kinds run_ddl leaves over */
    case STMT_CREATE_SCHEMA:
        return need_owner(ddl, "CREATE SCHEMA") &&
               sim_create_schema(session_txn(session, session->database), name, ddl->error);
    case STMT_DROP_SCHEMA:
        return need_owner(ddl, "DROP SCHEMA") &&
               sim_drop_schema(session_txn(session, session->database), name, ddl->error);
    case STMT_CREATE_DATABASE:
        if (!session->login.is_sysadmin)
            return sim_error(ddl->error, 262,
                             "CREATE DATABASE permission denied in database 'master'.");
        if (session->tran_count > 0)
            return sim_error(
                ddl->error, 226,
                "CREATE DATABASE statement not allowed within multi-statement transaction.");
        return create_database(ddl, name);
    case STMT_DROP_DATABASE:
        if (!session->login.is_sysadmin || !sim_server_find_database(session->server, name)) {
            if (stmt->if_exists) return true;
            return sim_error(ddl->error, 3701,
                             "Cannot drop the database '%.*s', because it does not exist or you do "
                             "not have permission.",
                             STR_ARG(name));
        }
        if (sim_server_find_database(session->server, name) == session->database)
            return sim_error(ddl->error, 3702,
                             "Cannot drop database \"%.*s\" because it is currently in use.",
                             STR_ARG(name));
        return sim_drop_database(session->server, name, ddl->error);
    default: return run_alter_database(session, stmt, ddl->error);
    }
}

bool run_ddl(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
             SimError *error)
{
    Ddl ddl = {session, stmt, arena, error};

    (void)result;
    if (stmt->kind == STMT_CREATE_TABLE) return create_table(&ddl);
    if (stmt->kind == STMT_DROP_TABLE) return drop_table(&ddl);
    if (stmt->kind == STMT_ALTER_TABLE) return alter_table(&ddl);
    if (stmt->kind == STMT_CREATE_INDEX) return create_index(&ddl);
    if (stmt->kind == STMT_DROP_INDEX) return drop_index(&ddl);
    if (stmt->kind == STMT_TRUNCATE) return truncate(&ddl);
    return schema_or_database(&ddl);
}
