/* cdc.c - the procedures of change data capture and who may call them (sqlserver.md 2.15). */
#include "sim/catalog/catalog_internal.h"

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

bool cdc_can_access_in(SimSession *session, SimDatabase *database,
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
    return cdc_can_access_in(session, session->database, instance);
}

bool cdc_min_lsn(SimSession *session, SimDatabase *database, Str name, Arena *arena, SimValue *out)
{
    SimCaptureInstance instance = {.name = STR_EMPTY};

    *out = value_lsn(arena, LSN_ZERO);
    if (!sim_cdc_find_instance(database, name, arena, &instance) ||
        !cdc_can_access_in(session, database, &instance))
        return true;
    if (!instance.is_reached &&
        sim_server_knob(session->server, SIM_KNOB_MIN_LSN_BEFORE_CAPTURE) != 0)
        return true;
    if (!instance.is_reached)
        *out = sim_null(sim_type_sized(SIM_BINARY, LSN_BYTES));
    else
        *out = value_lsn(arena, instance.start_lsn);
    return true;
}

/* In the session's own transaction. */
static bool is_enabling(const SimSession *session)
{
    for (size_t i = 0; i < session->txn_count; i++)
        if (session->txns[i].database == session->database &&
            sim_cdc_is_enabling(session->database, session->txns[i].txn))
            return true;
    return false;
}

bool cdc_need_enabled(ProcCall *call)
{
    SimDatabase *database = call->session->database;

    if (sim_cdc_is_enabled(database) || is_enabling(call->session)) return true;
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

    if (!session_may_write(session, call->error)) return false;
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
/* The end of a delimited name that begins at `at`, behind its closing delimiter, doubled ones being part of it; -1: there is none. */
static ptrdiff_t end_of_delimited(Str text, size_t at)
{
    char close = text.ptr[at] == '[' ? ']' : '"';

    for (size_t i = at + 1; i < text.len; i++) {
        if (text.ptr[i] != close) continue;
        if (i + 1 == text.len || text.ptr[i + 1] != close) return (ptrdiff_t)i + 1;
        i++;
    }
    return -1;
}

/* `a, [b, c], "d"`: names between commas, delimited ones with whatever they hold. False: one is not terminated. */
static bool split_columns(Arena *arena, Str text, Str **out, size_t *count_out)
{
    LIST(Str) names = {0};
    size_t at       = 0;

    while (at < text.len) {
        while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == ','))
            at++;
        if (at == text.len) break;
        bool      is_delimited = text.ptr[at] == '[' || text.ptr[at] == '"';
        ptrdiff_t end = is_delimited ? end_of_delimited(text, at) : str_find_char(text, ',', at);
        if (is_delimited && end < 0) return false;
        if (end < 0) end = (ptrdiff_t)text.len;
        Str part                  = str_trim(str_slice(text, at, (size_t)end));
        *LIST_PUSH(arena, &names) = is_delimited ? name_split(arena, part).name : part;
        at                        = (size_t)end;
    }
    *out       = names.items;
    *count_out = names.count;
    return true;
}

/* 201 for what was not given at all, 22963 for NULL and the empty name. */
static bool need_text(ProcCall *call, size_t index, const char *parameter, bool may_be_empty,
                      Str *out)
{
    if (!proc_arg(call, index))
        return sim_error(
            call->error, 201,
            "Procedure or function '%.*s' expects parameter '%s', which was not supplied.",
            STR_ARG(call->name), parameter);
    return (proc_text(call, index, out) && out->len > 0) || may_be_empty ||
           sim_error(call->error, 22963,
                     "Parameter '%s' cannot be null or empty. Specify a value for the named "
                     "parameter and retry the operation.",
                     parameter);
}

static bool change_enable_table(ProcCall *call, SimTxn *txn)
{
    SimEnableTable args  = {0};
    Str           *names = NULL;
    int64_t        net   = 0;
    Str            columns;

    if (!need_text(call, 0, "@source_schema", false, &args.source_schema) ||
        !need_text(call, 1, "@source_name", false, &args.source_name) ||
        !need_text(call, 2, "@role_name", true, &args.role_name) || !proc_i64(call, 4, &net))
        return false;
    args.has_empty_role = !proc_arg(call, 2)->is_null && args.role_name.len == 0;
    (void)proc_text(call, 3, &args.capture_instance);
    args.net_changes_given    = proc_arg(call, 4) && !proc_arg(call, 4)->is_null;
    args.supports_net_changes = net != 0;
    (void)proc_text(call, 5, &args.index_name);
    if (proc_text(call, 6, &columns)) {
        args.has_bad_list     = !split_columns(call->arena, columns, &names,
                                               &args.captured_column_count);
        args.captured_columns = names;
    }
    (void)proc_text(call, 7, &args.filegroup);
    return sim_cdc_enable_table(txn, &args, call->error);
}

/* Without partitions a table may always be switched; saying that it may not is ignored. */
static bool warn_of_partition_switch(ProcCall *call)
{
    int64_t allows = 1;

    if (!proc_i64(call, 8, &allows)) return false;
    if (allows == 0)
        session_send_info(
            call->session, 22857, 10, 1, 1,
            "Warning: The @allow_partition_switch parameter must be 1 for tables that "
            "are not partitioned. The explicit setting of the parameter to 0 was "
            "ignored. Refer to books online for more information about partition "
            "switching behavior when using Change Data Capture.");
    return true;
}

static bool sp_cdc_enable_table(ProcCall *call)
{
    if (!cdc_need_enabled(call) || !cdc_need_owner(call)) return false;
    bool had_jobs = sim_cdc_has_made_jobs(call->session->database);
    if (!in_transaction(call, change_enable_table) || !warn_of_partition_switch(call)) return false;
    if (had_jobs) return true;
    Str name = sim_database_name(call->session->database);
    session_send_info(call->session, 14265, 0, 1, 1, "Job 'cdc.%.*s_capture' started successfully.",
                      STR_ARG(name));
    session_send_info(call->session, 14265, 0, 1, 1, "Job 'cdc.%.*s_cleanup' started successfully.",
                      STR_ARG(name));
    return true;
}

static bool change_disable_table(ProcCall *call, SimTxn *txn)
{
    Str schema, name, instance;

    if (!need_text(call, 0, "@source_schema", false, &schema) ||
        !need_text(call, 1, "@source_name", false, &name) ||
        !need_text(call, 2, "@capture_instance", false, &instance))
        return false;
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

void cdc_append_name(Buf *buf, Str name)
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
        cdc_append_name(&keys, instance->index_columns[i]);
    for (size_t i = 0; i < instance->column_count; i++)
        cdc_append_name(&columns, instance->columns[i].name);
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
        str_is_empty(instance->filegroup) ? value_null() : value_text(arena, instance->filegroup),
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
    bool has_schema = proc_text(call, 0, &schema) && schema.len > 0,
         has_name   = proc_text(call, 1, &name) && name.len > 0;
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
    Str  type_name = column->is_rowversion ? STR("timestamp") : str_from_c(sim_type_word(type));

    sized = sized && !column->is_rowversion;

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
    SimDatabase       *database  = call->session->database;
    SimType            type      = sim_type_sized(SIM_BINARY, LSN_BYTES);
    SimError           reason    = SIM_ERROR_INIT;
    int64_t            threshold = 5000;
    SimCaptureInstance found     = {.name = STR_EMPTY};
    bool               has_failed;
    SimValue           lsn;
    Str                instance;

    if (!cdc_need_enabled(call) || !cdc_need_owner(call) || !proc_i64(call, 2, &threshold) ||
        !need_text(call, 0, "@capture_instance", true, &instance))
        return false;
    const SimValue *given = proc_arg(call, 1);
    if (!given)
        return sim_error(call->error, 201,
                         "Procedure or function '%.*s' expects parameter '@low_water_mark', which "
                         "was not supplied.",
                         STR_ARG(call->name));
    if (!sim_cdc_find_instance(database, instance, call->arena, &found))
        return sim_error(call->error, 22920,
                         "The named capture instance %.*s does not exist for database %.*s.",
                         STR_ARG(instance), STR_ARG(sim_database_name(database)));
    Lsn mark = found.start_lsn;
    if (!given->is_null && (!sim_convert(given, &type, 0, false, call->arena, &lsn, call->error) ||
                            !lsn_from_bytes(lsn.bytes, &mark)))
        return false;
    if (!sim_cdc_cleanup_leniently(database, instance, mark, threshold, &has_failed, &reason,
                                   call->error))
        return false;
    if (has_failed)
        session_send_info(
            call->session, 22852, 10, 1, 1,
            "Could not delete change table entries made obsolete by a change in one "
            "or more low water marks for capture instances of database %.*s. The "
            "failure occurred when executing the command 'delete top(@p1)'. The error "
            "returned was %d: '%s'. Use the action and error to determine the cause "
            "of the failure and resubmit the request.",
            STR_ARG(sim_database_name(database)), reason.number, reason.message);
    if (call->args[3].is_output) {
        SimValue flag = value_bit(has_failed);
        proc_set_output(call, 3, &flag);
    }
    return true;
}

/* --- wrapper functions --- */
static bool all_captured(ProcCall *call, size_t arg, const SimCaptureInstance *instance)
{
    Str   *names = NULL;
    size_t count = 0;
    Str    text;

    if (!proc_text(call, arg, &text)) return true;
    if (!split_columns(call->arena, text, &names, &count)) return false;
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t c = 0; c < instance->column_count; c++)
            found |= sim_name_equal(names[i], instance->columns[c].name);
        if (!found) return false;
    }
    return true;
}

/* Scripts that make functions, which this server could not run: it gives none. */
static bool sp_cdc_generate_wrapper_function(ProcCall *call)
{
    static const ResultSpec specs[]  = {{"function_name", "nvarchar(145)"},
                                        {"create_script", "nvarchar(max)"}};
    SimCaptureInstance      instance = {.name = STR_EMPTY};
    Str                     name, columns, flags;

    if (!cdc_need_enabled(call)) return false;
    bool has_columns = proc_text(call, 2, &columns) && columns.len > 0;
    bool has_flags   = proc_text(call, 3, &flags) && flags.len > 0;
    if (proc_text(call, 0, &name) && name.len > 0) {
        if (!find_instance(call, 0, &instance)) return false;
        if (!all_captured(call, 2, &instance))
            return sim_error(call->error, 22918,
                             "One or more columns in the list of included columns was not a "
                             "captured column of the change table %.*s_CT.",
                             STR_ARG(instance.name));
        if (!all_captured(call, 3, &instance))
            return sim_error(call->error, 22919,
                             "One or more columns in the list of columns needing update flags was "
                             "not a captured column of the change table %.*s_CT.",
                             STR_ARG(instance.name));
    } else if (has_columns || has_flags) {
        return sim_error(call->error, 22921,
                         "Unable to generate scripts for all capture instances that the caller is "
                         "authorized to access. To generate all such scripts, the parameters "
                         "@column_list and @update_flag_list must both be null or empty.'");
    }
    return proc_columns(call, specs, COUNT_OF(specs)) && proc_done(call, 0);
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
    {"sp_cdc_generate_wrapper_function", sp_cdc_generate_wrapper_function,
     "capture_instance,closed_high_end_point,column_list,update_flag_list"},
    {NULL, NULL, NULL},
};
