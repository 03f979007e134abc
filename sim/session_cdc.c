/* session_cdc.c - the procedures of change data capture, who may call them, and cdc.fn_cdc_get_all_changes_<ci> (sqlserver.md 2.15). */
#include "sim/catalog_internal.h"

/* --- access --- */
static bool can_read_columns(SimSession *session, SimDatabase *database, Str user,
                             const SimCaptureInstance *instance)
{
    SimTable *source = sim_database_find_table_by_id(database, instance->source_object_id);
    Str       names[1024];
    size_t    count = MIN(instance->column_count, COUNT_OF(names));

    (void)session;
    if (!source) return false;
    for (size_t i = 0; i < count; i++)
        names[i] = instance->columns[i].name;
    return sim_has_permission(database, user, SIM_PERM_SELECT, source, names, count, false);
}

static bool access_in(SimSession *session, SimDatabase *database,
                      const SimCaptureInstance *instance)
{
    Str user;

    if (session->login.is_sysadmin) return true;
    if (!session_user_in(session, database, &user)) return false;
    if (sim_is_owner(database, user)) return true;
    if (!can_read_columns(session, database, user, instance)) return false;
    return str_is_empty(instance->role_name) || sim_is_member(database, user, instance->role_name);
}

bool cdc_can_access(SimSession *session, const SimCaptureInstance *instance)
{
    return access_in(session, session->database, instance);
}

bool cdc_min_lsn(SimSession *session, SimDatabase *database, Str name, Arena *arena, SimValue *out)
{
    SimCaptureInstance instance = {.name = STR_EMPTY};

    *out = value_lsn(arena, LSN_ZERO);
    if (!sim_cdc_find_instance(database, name, arena, &instance) ||
        !access_in(session, database, &instance))
        return true;
    if (!instance.is_reached)
        *out = sim_null(sim_type_sized(SIM_BINARY, LSN_BYTES));
    else
        *out = value_lsn(arena, instance.start_lsn);
    return true;
}

bool cdc_need_enabled(ProcCall *call)
{
    SimDatabase *database = call->session->database;

    if (sim_cdc_is_enabled(database)) return true;
    return sim_error(call->error, 22901,
                     "The database '%.*s' is not enabled for Change Data Capture. Ensure that the "
                     "correct database context is set and retry the "
                     "operation. To report on the databases enabled for Change Data Capture, query "
                     "the is_cdc_enabled column in the sys.databases catalog view.",
                     STR_ARG(sim_database_name(database)));
}

bool cdc_need_owner(ProcCall *call)
{
    if (session_is_owner(call->session)) return true;
    return sim_error(
        call->error, 22904,
        "Caller is not authorized to initiate the requested action. DBO privileges are required.");
}

/* Runs one change of the model inside the session's transaction, or one of its own. */
typedef bool (*CdcChange)(ProcCall *call, SimTxn *txn);
static bool in_transaction(ProcCall *call, CdcChange change)
{
    SimSession *session = call->session;

    session_statement_begin(session);
    bool ok = change(call, session_txn(session, session->database));
    return session_statement_end(session, ok, call->error) && ok;
}

/* --- the database --- */
static bool change_enable_db(ProcCall *call, SimTxn *txn)
{
    return sim_cdc_enable_database(txn, call->error);
}
static bool change_disable_db(ProcCall *call, SimTxn *txn)
{
    return sim_cdc_disable_database(txn, call->error);
}

static bool need_sysadmin(ProcCall *call)
{
    if (call->session->login.is_sysadmin) return true;
    return sim_error(call->error, 22902,
                     "Caller is not authorized to initiate the requested action. Sysadmin "
                     "privileges are required.");
}

static bool sp_cdc_enable_db(ProcCall *call)
{
    return need_sysadmin(call) && in_transaction(call, change_enable_db);
}

static bool sp_cdc_disable_db(ProcCall *call)
{
    return need_sysadmin(call) && in_transaction(call, change_disable_db);
}

/* --- tables --- */
/* "a, [b], [c d]" */
static size_t split_columns(Arena *arena, Str text, Str **out)
{
    LIST(Str) names = {0};
    Str rest        = text, part;

    while (str_split_next(&rest, ',', &part)) {
        part = str_trim(part);
        if (part.len > 0) *LIST_PUSH(arena, &names) = name_split(arena, part).name;
    }
    *out = names.items;
    return names.count;
}

static bool change_enable_table(ProcCall *call, SimTxn *txn)
{
    SimEnableTable args = {0};
    Str            columns;
    Str           *names = NULL;
    int64_t        net   = 0;

    (void)proc_text(call, 0, &args.source_schema);
    (void)proc_text(call, 1, &args.source_name);
    (void)proc_text(call, 3, &args.capture_instance);
    args.net_changes_given = proc_arg(call, 4) && !proc_arg(call, 4)->is_null;
    if (!proc_i64(call, 4, &net)) return false;
    args.supports_net_changes = net != 0;
    const SimValue *role      = proc_arg(call, 2);
    if (proc_text(call, 2, &args.role_name) && args.role_name.len == 0 && role)
        return sim_error(call->error, 22907,
                         "Parameter @role_name cannot be empty. Specify a value for @role_name and "
                         "retry the operation. Supply null as the value if no role "
                         "is to be used to gate access to captured change data.");
    (void)proc_text(call, 5, &args.index_name);
    if (proc_text(call, 6, &columns)) {
        args.captured_column_count = split_columns(call->arena, columns, &names);
        args.captured_columns      = names;
    }
    return sim_cdc_enable_table(txn, &args, call->error);
}

static bool sp_cdc_enable_table(ProcCall *call)
{
    SimCaptureInstance *before = NULL;

    if (!cdc_need_enabled(call) || !cdc_need_owner(call)) return false;
    bool is_first = sim_cdc_instances(call->session->database, call->arena, &before) == 0;
    if (!in_transaction(call, change_enable_table)) return false;
    Str name = sim_database_name(call->session->database);
    if (is_first) {
        session_send_info(call->session, 14265, 0, 1, 1,
                          "Job 'cdc.%.*s_capture' started successfully.", STR_ARG(name));
        session_send_info(call->session, 14265, 0, 1, 1,
                          "Job 'cdc.%.*s_cleanup' started successfully.", STR_ARG(name));
    }
    return true;
}

static bool change_disable_table(ProcCall *call, SimTxn *txn)
{
    Str schema, name, instance;

    (void)proc_text(call, 0, &schema);
    (void)proc_text(call, 1, &name);
    (void)proc_text(call, 2, &instance);
    return sim_cdc_disable_table(txn, schema, name, instance, call->error);
}

static bool sp_cdc_disable_table(ProcCall *call)
{
    return cdc_need_enabled(call) && cdc_need_owner(call) &&
           in_transaction(call, change_disable_table);
}

/* --- help --- */
static const ResultSpec help_specs[] = {{"source_schema", "sysname"},
                                        {"source_table", "sysname"},
                                        {"capture_instance", "sysname"},
                                        {"object_id", "int"},
                                        {"source_object_id", "int"},
                                        {"start_lsn", "binary(10)"},
                                        {"end_lsn", "binary(10)"},
                                        {"supports_net_changes", "bit"},
                                        {"has_drop_pending", "bit"},
                                        {"role_name", "sysname"},
                                        {"index_name", "sysname"},
                                        {"filegroup_name", "sysname"},
                                        {"create_date", "datetime"},
                                        {"index_column_list", "nvarchar(max)"},
                                        {"captured_column_list", "nvarchar(max)"}};

static void append_name(Buf *buf, Str name)
{
    if (buf->len > 0) buf_append_c(buf, ", ");
    buf_append_char(buf, '[');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == ']') buf_append_char(buf, ']');
        buf_append_char(buf, name.ptr[i]);
    }
    buf_append_char(buf, ']');
}

static bool help_row(ProcCall *call, const SimCaptureInstance *instance)
{
    Arena    *arena = call->arena;
    Buf       keys = buf_new(arena, 0), columns = buf_new(arena, 0);
    SimTable *source = sim_database_find_table_by_id(call->session->database,
                                                     instance->source_object_id);
    Str       schema = source ? sim_table_info(source)->schema : instance->source_schema,
        table        = source ? sim_table_info(source)->name : instance->source_table;

    for (size_t i = 0; i < instance->index_column_count; i++)
        append_name(&keys, instance->index_columns[i]);
    for (size_t i = 0; i < instance->column_count; i++)
        append_name(&columns, instance->columns[i].name);
    SimValue row[] = {
        value_text(arena, schema),
        value_text(arena, table),
        value_text(arena, instance->name),
        value_int(instance->object_id),
        value_int(instance->source_object_id),
        value_lsn(arena, instance->start_lsn),
        value_null(),
        value_bit(instance->supports_net_changes),
        value_null(),
        str_is_empty(instance->role_name) ? value_null() : value_text(arena, instance->role_name),
        str_is_empty(instance->index_name) ? value_null() : value_text(arena, instance->index_name),
        value_null(),
        value_datetime(instance->create_us),
        keys.len ? value_text(arena, buf_str(&keys)) : value_null(),
        value_text(arena, buf_str(&columns))};
    return proc_row(call, row, COUNT_OF(row));
}

static bool sp_cdc_help(ProcCall *call)
{
    SimCaptureInstance *instances = NULL;
    SimDatabase        *database  = call->session->database;
    Str                 schema, name;
    int64_t             rows = 0;

    if (!cdc_need_enabled(call)) return false;
    bool has_schema = proc_text(call, 0, &schema), has_name = proc_text(call, 1, &name);
    if (has_schema != has_name)
        return sim_error(call->error, 22972,
                         "When calling stored procedure [sys].[sp_cdc_help_change_data_capture], "
                         "if either @source_schema or @source_name is non-null and "
                         "non-empty, the other parameter must also be non-null and non-empty.");
    SimTable *table = has_name ? sim_database_find_table(database, schema, name) : NULL;
    if (has_name && (!table || !session_can_see(call->session, database, table)))
        return sim_error(call->error, 22981, "Object does not exist or access is denied.");
    size_t count = sim_cdc_instances(database, call->arena, &instances);
    if (!proc_columns(call, help_specs, COUNT_OF(help_specs))) return false;
    for (size_t i = 0; i < count; i++) {
        if (has_name && instances[i].source_object_id != sim_table_info(table)->object_id) continue;
        if (!cdc_can_access(call->session, &instances[i])) continue;
        if (!help_row(call, &instances[i])) return false;
        rows++;
    }
    return proc_done(call, rows);
}

static bool find_instance(ProcCall *call, size_t arg, SimCaptureInstance *out)
{
    Str name;

    if (!cdc_need_enabled(call)) return false;
    if (proc_text(call, arg, &name) &&
        sim_cdc_find_instance(call->session->database, name, call->arena, out) &&
        cdc_can_access(call->session, out))
        return true;
    return sim_error(call->error, 22981, "Object does not exist or access is denied.");
}

static const ResultSpec column_specs[] = {{"source_schema", "sysname"},
                                          {"source_table", "sysname"},
                                          {"capture_instance", "sysname"},
                                          {"column_name", "sysname"},
                                          {"column_id", "int"},
                                          {"column_ordinal", "int"},
                                          {"data_type", "sysname"},
                                          {"character_maximum_length", "int"},
                                          {"numeric_precision", "tinyint"},
                                          {"numeric_precision_radix", "smallint"},
                                          {"numeric_scale", "int"},
                                          {"datetime_precision", "smallint"}};

static bool captured_row(ProcCall *call, const SimCaptureInstance *instance,
                         const SimCapturedColumn *column)
{
    const SimType *type   = &column->type;
    int            length = catalog_max_length(type);
    bool           sized  = type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY,
         approximate      = type->kind == SIM_REAL || type->kind == SIM_FLOAT;
    bool number           = sim_type_is_number(type->kind) && type->kind != SIM_BIT;
    Str  type_name        = type->kind == SIM_ROWVERSION ? STR("timestamp")
                                                         : str_from_c(sim_type_name(type->kind));

    if (sized && length > 0 && sim_type_is_unicode(type->kind)) length /= 2;
    SimValue row[] = {value_text(call->arena, instance->source_schema),
                      value_text(call->arena, instance->source_table),
                      value_text(call->arena, instance->name),
                      value_text(call->arena, column->name),
                      value_int(column->column_id),
                      value_int(column->ordinal),
                      value_text(call->arena, type_name),
                      sized ? value_int(length) : value_null(),
                      number ? value_int(catalog_precision(type)) : value_null(),
                      number ? value_int(approximate ? 2 : 10) : value_null(),
                      number && !approximate ? value_int(catalog_scale(type)) : value_null(),
                      sim_type_is_time(type->kind) ? value_int(catalog_scale(type)) : value_null()};
    return proc_row(call, row, COUNT_OF(row));
}

static bool sp_cdc_get_captured_columns(ProcCall *call)
{
    SimCaptureInstance instance = {.name = STR_EMPTY};

    if (!find_instance(call, 0, &instance) ||
        !proc_columns(call, column_specs, COUNT_OF(column_specs)))
        return false;
    for (size_t i = 0; i < instance.column_count; i++)
        if (!captured_row(call, &instance, &instance.columns[i])) return false;
    return proc_done(call, (int64_t)instance.column_count);
}

static bool sp_cdc_get_ddl_history(ProcCall *call)
{
    static const ResultSpec specs[] = {
        {"source_schema", "sysname"},     {"source_table", "sysname"},
        {"capture_instance", "sysname"},  {"required_column_update", "bit"},
        {"ddl_command", "nvarchar(max)"}, {"ddl_lsn", "binary(10)"},
        {"ddl_time", "datetime"}};
    SimCaptureInstance instance = {.name = STR_EMPTY};
    SimDdlEntry       *entries  = NULL;

    if (!find_instance(call, 0, &instance) || !proc_columns(call, specs, COUNT_OF(specs)))
        return false;
    size_t count = sim_cdc_ddl_history(call->session->database, instance.name, call->arena,
                                       &entries);
    for (size_t i = 0; i < count; i++) {
        SimValue row[] = {value_text(call->arena, instance.source_schema),
                          value_text(call->arena, instance.source_table),
                          value_text(call->arena, instance.name),
                          value_bit(entries[i].required_column_update),
                          value_text(call->arena, entries[i].command),
                          value_lsn(call->arena, entries[i].lsn),
                          value_datetime(entries[i].time_us)};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
    }
    return proc_done(call, (int64_t)count);
}

/* --- cleanup --- */
static bool sp_cdc_cleanup(ProcCall *call)
{
    Str      instance;
    Lsn      mark      = LSN_ZERO;
    int64_t  threshold = 5000;
    SimType  type      = sim_type_sized(SIM_BINARY, LSN_BYTES);
    SimValue lsn;

    if (!cdc_need_enabled(call) || !cdc_need_owner(call) || !proc_i64(call, 2, &threshold))
        return false;
    if (threshold <= 0)
        return sim_error(call->error, 22850,
                         "The threshold value specified for the Change Data Capture cleanup "
                         "process must be greater than 0.");
    (void)proc_text(call, 0, &instance);
    const SimValue    *given = proc_arg(call, 1);
    SimCaptureInstance found;
    if (!sim_cdc_find_instance(call->session->database, instance, call->arena, &found))
        return sim_error(call->error, 22920,
                         "The named capture instance %.*s does not exist for database %.*s.",
                         STR_ARG(instance), STR_ARG(sim_database_name(call->session->database)));
    if (given && !given->is_null) {
        if (!sim_convert(given, &type, 0, false, call->arena, &lsn, call->error) ||
            !lsn_from_bytes(lsn.bytes, &mark))
            return false;
    } else {
        mark = found.start_lsn;
    }
    return sim_cdc_cleanup(call->session->database, instance, mark, threshold, call->error);
}

const ProcEntry cdc_procs[] = {
    {"sp_cdc_enable_db", sp_cdc_enable_db, ""},
    {"sp_cdc_disable_db", sp_cdc_disable_db, ""},
    {"sp_cdc_enable_table", sp_cdc_enable_table,
     "source_schema,source_name,role_name,capture_instance,supports_net_changes,index_name,"
     "captured_column_list,filegroup_name,allow_partition_switch"},
    {"sp_cdc_disable_table", sp_cdc_disable_table, "source_schema,source_name,capture_instance"},
    {"sp_cdc_help_change_data_capture", sp_cdc_help, "source_schema,source_name"},
    {"sp_cdc_get_captured_columns", sp_cdc_get_captured_columns, "capture_instance"},
    {"sp_cdc_get_ddl_history", sp_cdc_get_ddl_history, "capture_instance"},
    {"sp_cdc_cleanup_change_table", sp_cdc_cleanup,
     "capture_instance,low_water_mark,threshold,fCleanupFailed"},
    {NULL, NULL, NULL},
};

/* --- cdc.fn_cdc_get_all_changes_<ci>(from, to, option) --- */
static const SimValue *lsn_value(Node *node, Exec *exec, SimValue *held)
{
    SimType         type  = sim_type_sized(SIM_BINARY, LSN_BYTES);
    const SimValue *value = node_eval(node, exec);

    if (!value || value->is_null) return value;
    return sim_convert(value, &type, 0, false, exec->scratch, held, exec->error) ? held : NULL;
}

/* A range outside of what the instance holds, or an unknown option, is 313. args: from, to, option, the function's min and max. */
static Truth test_change_range(Node *node, Exec *exec)
{
    SimValue        held[4];
    const SimValue *lsns[4];
    bool            bad = false;

    for (size_t i = 0; i < 4; i++) {
        lsns[i] = lsn_value(node->args[i == 0 ? 0 : i == 1 ? 1 : i + 1], exec, &held[i]);
        if (!lsns[i]) return TRUTH_ERROR;
        if (lsns[i] != &held[i]) held[i] = *lsns[i];
        bad |= lsns[i]->is_null;
    }
    const SimValue *option = node_eval(node->args[2], exec);
    if (!option) return TRUTH_ERROR;
    Str text = option->is_null ? STR_EMPTY : str_trim(sim_value_text(exec->scratch, option));
    bad |= !sim_name_equal(text, STR("all")) && !sim_name_equal(text, STR("all update old"));
    if (!bad)
        bad = sim_compare_same(&held[0], &held[2]) < 0 ||
              sim_compare_same(&held[1], &held[3]) > 0 || sim_compare_same(&held[0], &held[1]) > 0;
    if (!bad) return TRUTH_TRUE;
    sim_error(exec->error, 313,
              "An insufficient number of arguments were supplied for the procedure or function "
              "cdc.fn_cdc_get_all_changes_ ... .");
    exec->error->state = 3;
    return TRUTH_ERROR;
}

static bool bind_range_check(Binder *binder, QueryScope *scope, const Source *from, Str database,
                             Str instance, Node **out)
{
    Str text = str_printf(
        binder->arena,
        "SELECT [%.*s].sys.fn_cdc_get_min_lsn(@__instance), [%.*s].sys.fn_cdc_get_max_lsn()",
        STR_ARG(database), STR_ARG(database));
    StmtList stmts = {0};
    Node    *node  = node_new(binder->arena, NODE_PREDICATE, sim_type(SIM_BIT), from->line);
    SimValue name  = sim_nvarchar(binder->arena, instance);

    if (!sim_parse(text, true, binder->arena, &stmts, binder->error)) return false;
    *LIST_PUSH(binder->arena, &binder->substitutions) = (Substitution){
        STR("@__instance"), node_const(binder->arena, &name, from->line)};
    node->test      = test_change_range;
    node->args      = ARENA_ARRAY(binder->arena, Node *, 5);
    node->arg_count = 5;
    for (size_t i = 0; i < 3; i++)
        if (!bind_expr(binder, scope, from->args.items[i], &node->args[i])) return false;
    for (size_t i = 0; i < 2; i++)
        if (!bind_expr(binder, scope, stmts.items[0]->select->items.items[i].expr,
                       &node->args[3 + i]))
            return false;
    *out = node;
    return true;
}

static Str changes_text(Arena *arena, Str database, const SimCaptureInstance *instance)
{
    Buf names = buf_new(arena, 0);

    for (size_t i = 0; i < instance->column_count; i++)
        append_name(&names, instance->columns[i].name);
    return str_printf(arena,
                      "SELECT [__$start_lsn], [__$seqval], [__$operation], [__$update_mask], %.*s "
                      "FROM [%.*s].cdc.[%.*s_CT] WHERE [__$start_lsn] >= "
                      "CAST(@__from AS binary(10)) AND [__$start_lsn] <= CAST(@__to AS binary(10)) "
                      "AND ([__$operation] <> 3 OR RTRIM(@__option) = 'all update old')",
                      STR_ARG(buf_str(&names)), STR_ARG(database), STR_ARG(instance->name));
}

bool bind_cdc_function(Binder *binder, QueryScope *scope, const Source *from, SelectPlan **out,
                       bool *found)
{
    Str prefix                  = STR("fn_cdc_get_all_changes_"),
        lower                   = str_lower_ascii(binder->arena, from->name.name);
    SimDatabase       *database = binder->session->database;
    SimCaptureInstance instance = {.name = STR_EMPTY};
    StmtList           stmts    = {0};
    Node              *check    = NULL;
    Str                user;

    *found = false;
    if (!sim_name_equal(from->name.schema, STR("cdc"))) return true;
    if (str_starts_with(lower, STR("fn_cdc_get_net_changes_")))
        return binder_not_supported(binder, from->line, "cdc.fn_cdc_get_net_changes_<instance>");
    if (!str_starts_with(lower, prefix)) return true;
    if (!str_is_empty(from->name.database))
        database = sim_server_find_database(binder->session->server, from->name.database);
    Str name = str_slice(from->name.name, prefix.len, from->name.name.len);
    if (!database || !sim_cdc_find_instance(database, name, binder->arena, &instance))
        return binder_error(binder, from->line, 208, "Invalid object name 'cdc.%.*s'.",
                            STR_ARG(from->name.name));
    if (!session_user_in(binder->session, database, &user) ||
        !access_in(binder->session, database, &instance))
        return binder_error(
            binder, from->line, 229,
            "The SELECT permission was denied on the object '%.*s', database '%.*s', schema 'cdc'.",
            STR_ARG(from->name.name), STR_ARG(sim_database_name(database)));
    if (from->args.count != 3)
        return binder_error(binder, from->line, 313,
                            "An insufficient number of arguments were supplied for the procedure "
                            "or function cdc.%.*s.",
                            STR_ARG(from->name.name));
    *found = true;
    if (!bind_range_check(binder, scope, from, sim_database_name(database), instance.name, &check))
        return false;
    static const char *const names[] = {"@__from", "@__to", "@__option"};
    for (size_t i = 0; i < 3; i++)
        *LIST_PUSH(binder->arena, &binder->substitutions) = (Substitution){str_from_c(names[i]),
                                                                           check->args[i]};
    if (!sim_parse(changes_text(binder->arena, sim_database_name(database), &instance), true,
                   binder->arena, &stmts, binder->error))
        return false;
    bool trusted       = binder->is_trusted;
    binder->is_trusted = true;
    bool ok            = bind_select(binder, scope, stmts.items[0]->select, out);
    binder->is_trusted = trusted;
    binder->substitutions.count -= 4;
    if (!ok) return false;
    (*out)->op = op_filter(binder->arena, (*out)->op, check);
    return true;
}
