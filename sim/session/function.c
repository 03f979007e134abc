/* function.c - functions and @@globals that ask the session, the server or the catalogue (sqlserver.md 2.10, 2.15). */
#include "sim/session/session_function_internal.h"

#include <string.h>

/* --- arguments and results --- */
Str call_text(const Call *call, size_t i)
{
    return i < call->count && !call->args[i].is_null ? sim_value_text(call->arena, &call->args[i])
                                                     : STR_EMPTY;
}

bool call_i64(const Call *call, size_t i, int64_t *out)
{
    SimType  type = sim_type(SIM_BIGINT);
    SimValue number;

    if (i >= call->count || call->args[i].is_null) return true;
    if (!sim_convert(&call->args[i], &type, 0, true, call->arena, &number, call->exec->error))
        return false;
    *out = number.i64;
    return true;
}

bool give_text(const Call *call, Str text, SimValue *out)
{
    *out = value_text(call->arena, text);
    return true;
}

bool give_int(int64_t value, SimValue *out)
{
    *out = value_int(value);
    return true;
}

/* --- time --- */
static SimValue time_value(SimTypeKind kind, int64_t us, int scale, int offset_minutes)
{
    SimValue value = sim_null(sim_type_time(kind, scale));
    int64_t  days = us / 86400000000, rest = us % 86400000000;

    if (rest < 0) {
        rest += 86400000000;
        days--;
    }
    value.is_null             = false;
    value.time.days           = (int32_t)(days + 719162);
    value.time.ticks          = rest * 10;
    value.time.offset_minutes = (int16_t)offset_minutes;
    return value;
}

static bool fn_get_date(const Call *call, SimValue *out)
{
    *out = sim_datetime_from_us(session_local_us(call->session, call->exec->utc_us));
    return true;
}

static bool fn_get_utc_date(const Call *call, SimValue *out)
{
    *out = sim_datetime_from_us(call->exec->utc_us);
    return true;
}

static bool fn_sys_date_time(const Call *call, SimValue *out)
{
    *out = time_value(SIM_DATETIME2, session_local_us(call->session, call->exec->utc_us), 7, 0);
    return true;
}

static bool fn_sys_utc_date_time(const Call *call, SimValue *out)
{
    *out = time_value(SIM_DATETIME2, call->exec->utc_us, 7, 0);
    return true;
}

static bool fn_sys_date_time_offset(const Call *call, SimValue *out)
{
    *out = time_value(
        SIM_DATETIMEOFFSET, call->exec->utc_us, 7,
        sim_zone_offset_at_utc(sim_server_zone(call->session->server), call->exec->utc_us));
    return true;
}

static bool fn_time_zone(const Call *call, SimValue *out)
{
    return give_text(call, front_zone(call->session), out);
}

/* --- the session --- */
static bool fn_new_id(const Call *call, SimValue *out)
{
    uint8_t *bytes = arena_alloc(call->arena, 16);
    Rng     *rng   = sim_server_rng(call->session->server);

    for (int half = 0; half < 2; half++) {
        uint64_t bits = rng_u64(rng);
        memcpy(bytes + (half ? 8 : 0), &bits, 8);
    }
    bytes[7]     = (uint8_t)((bytes[7] & 0x0F) |
                         0x40); /* the third group is little-endian on the wire */
    bytes[8]     = (uint8_t)((bytes[8] & 0x3F) | 0x80);
    *out         = sim_null(sim_type(SIM_UNIQUEIDENTIFIER));
    out->is_null = false;
    out->bytes   = (Bytes){bytes, 16};
    return true;
}

static bool fn_scope_identity(const Call *call, SimValue *out)
{
    *out = call->session->scope_identity;
    return true;
}

static bool fn_xact_state(const Call *call, SimValue *out)
{
    *out = sim_int(call->session->tran_count == 0 ? 0
                   : call->session->doomed        ? -1
                                                  : 1,
                   SIM_SMALLINT);
    return true;
}

static bool fn_error_number(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.number, out) : true;
}
static bool fn_error_severity(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.severity, out) : true;
}
static bool fn_error_state(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.state, out) : true;
}
static bool fn_error_line(const Call *call, SimValue *out)
{
    return call->session->has_caught ? give_int(call->session->caught.line, out) : true;
}
static bool fn_error_message(const Call *call, SimValue *out)
{
    return call->session->has_caught
               ? give_text(call, str_from_c(call->session->caught.message), out)
               : true;
}
static bool fn_error_procedure(const Call *call, SimValue *out)
{
    return call->session->has_caught && call->session->caught.procedure[0]
               ? give_text(call, str_from_c(call->session->caught.procedure), out)
               : true;
}

static bool fn_app_name(const Call *call, SimValue *out)
{
    return give_text(call, call->session->app_name, out);
}

static bool fn_host_name(const Call *call, SimValue *out)
{
    return give_text(call, call->session->host_name, out);
}

/* --- properties --- */
static bool fn_database_property(const Call *call, SimValue *out)
{
    SimDatabase *database = sim_server_find_database(call->session->server, call_text(call, 0));
    Str          name     = call_text(call, 1);

    if (!database) return true;
    if (sim_name_equal(name, STR("Updateability")))
        return give_text(call,
                         session_reads_secondary(call->session, database) ? STR("READ_ONLY")
                                                                          : STR("READ_WRITE"),
                         out);
    if (sim_name_equal(name, STR("UserAccess")))
        return give_text(
            call, sim_database_single_user(database) != 0 ? STR("SINGLE_USER") : STR("MULTI_USER"),
            out);
    if (sim_name_equal(name, STR("Collation"))) {
        const SimCollation *collation = sim_database_collation(database);
        return give_text(call, sim_collation_name(collation ? collation : sim_collation_default()),
                         out);
    }
    return give_database_property(call, name, out);
}

/* --- change data capture --- */
static bool need_cdc(const Call *call)
{
    return sim_cdc_is_enabled(call->database) ||
           sim_error(call->exec->error, 208, "Invalid object name 'cdc.lsn_time_mapping'.");
}

/* On a secondary: the last entry that has reached it. */
static bool lagging_max_lsn(const Call *call, SimValue *out)
{
    SimTable            *mapping = sim_cdc_mapping_table(call->database);
    const SimRange       newest  = {.backwards = true};
    SimScanOptions       options = {.isolation = SIM_SNAPSHOT, .limit_hint = 1};
    SimScan             *scan    = NULL;
    const SimRow *const *rows    = NULL;
    size_t               count   = 0;
    SimError             error   = SIM_ERROR_INIT;
    SimTxn              *txn     = session_txn(call->session, call->database);

    if (!mapping) return true;
    bool ok = sim_scan_open(txn, mapping, &newest, &options, &scan, &error) &&
              sim_scan_next(scan, &rows, &count, &error);
    if (ok && count > 0) {
        SimValue value;
        sim_row_value(mapping, rows[0], 0, &value);
        *out = value_copy(call->arena, &value);
    }
    sim_scan_close(scan);
    if (!ok && error.number != 3961) *call->exec->error = error; /* 3961: CDC is younger */
    return ok || error.number == 3961;
}

static bool fn_cdc_max_lsn(const Call *call, SimValue *out)
{
    Lsn lsn;

    if (!need_cdc(call)) return false;
    if (session_reads_secondary(call->session, call->database)) return lagging_max_lsn(call, out);
    if (sim_cdc_max_lsn(call->database, &lsn)) *out = value_lsn(call->arena, lsn);
    return true;
}

static bool fn_cdc_min_lsn(const Call *call, SimValue *out)
{
    return need_cdc(call) &&
           cdc_min_lsn(call->session, call->database, call_text(call, 0), call->arena, out);
}

static bool lsn_arg(const Call *call, size_t i, Lsn *out)
{
    SimType  type = sim_type_sized(SIM_BINARY, LSN_BYTES);
    SimValue value;

    if (call->args[i].is_null ||
        !sim_convert(&call->args[i], &type, 0, false, call->arena, &value, call->exec->error))
        return false;
    return lsn_from_bytes(value.bytes, out);
}

static bool fn_cdc_increment(const Call *call, SimValue *out)
{
    Lsn lsn;

    if (call->args[0].is_null) return true;
    if (!lsn_arg(call, 0, &lsn)) return call->exec->error->number == 0;
    *out = value_lsn(call->arena, lsn_increment(lsn));
    return true;
}

static bool fn_cdc_decrement(const Call *call, SimValue *out)
{
    Lsn lsn;

    if (call->args[0].is_null) return true;
    if (!lsn_arg(call, 0, &lsn)) return call->exec->error->number == 0;
    *out = value_lsn(call->arena, lsn_decrement(lsn));
    return true;
}

static bool fn_cdc_lsn_to_time(const Call *call, SimValue *out)
{
    Lsn     lsn;
    int64_t local_us = 0;

    if (!need_cdc(call)) return false;
    if (call->args[0].is_null) return true;
    if (!lsn_arg(call, 0, &lsn)) return call->exec->error->number == 0;
    if (sim_cdc_map_lsn_to_time(call->database, lsn, &local_us)) *out = value_datetime(local_us);
    return true;
}

static bool fn_cdc_time_to_lsn(const Call *call, SimValue *out)
{
    static const char *const names[] = {"largest less than", "largest less than or equal",
                                        "smallest greater than", "smallest greater than or equal"};
    SimType                  type    = sim_type(SIM_DATETIME);
    SimValue                 time;
    Lsn                      lsn;
    Str                      name = str_trim(call_text(call, 0));

    if (!need_cdc(call)) return false;
    if (call->args[1].is_null) return true;
    if (!sim_convert(&call->args[1], &type, 0, true, call->arena, &time, call->exec->error))
        return false;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal_ignoring_case(name, str_from_c(names[i]))) {
            if (sim_cdc_map_time_to_lsn(call->database, (SimTimeToLsn)i, &time, &lsn))
                *out = value_lsn(call->arena, lsn);
            return true;
        }
    return true;
}

static bool fn_cdc_column_ordinal(const Call *call, SimValue *out)
{
    SimCaptureInstance instance;
    Str                column = call_text(call, 1);

    if (!sim_cdc_find_instance(call->database, call_text(call, 0), call->arena, &instance) ||
        !cdc_can_access(call->session, &instance))
        return true;
    for (size_t i = 0; i < instance.column_count; i++)
        if (sim_name_equal(instance.columns[i].name, column))
            return give_int(instance.columns[i].ordinal, out);
    return true;
}

static bool bit_set(Bytes mask, int64_t ordinal)
{
    int64_t bit = ordinal - 1;

    if (ordinal < 1 || (size_t)(bit / 8) >= mask.len) return false;
    return mask.ptr[mask.len - 1 - (size_t)(bit / 8)] >> (bit % 8) & 1;
}

static bool fn_cdc_is_bit_set(const Call *call, SimValue *out)
{
    int64_t ordinal = 0;

    if (call->args[0].is_null || call->args[1].is_null) return true;
    if (!call_i64(call, 0, &ordinal)) return false;
    *out = value_bit(bit_set(call->args[1].bytes, ordinal));
    return true;
}

static bool fn_cdc_has_changed(const Call *call, SimValue *out)
{
    SimCaptureInstance instance;
    Str                column = call_text(call, 1);

    if (call->args[2].is_null ||
        !sim_cdc_find_instance(call->database, call_text(call, 0), call->arena, &instance) ||
        !cdc_can_access(call->session, &instance))
        return true;
    for (size_t i = 0; i < instance.column_count; i++)
        if (sim_name_equal(instance.columns[i].name, column))
            *out = value_bit(bit_set(call->args[2].bytes, instance.columns[i].ordinal));
    return true;
}

static bool fn_hex(const Call *call, SimValue *out)
{
    if (call->args[0].is_null) return true;
    Str hex = hex_encode(call->arena, call->args[0].bytes, false);
    return give_text(call, str_printf(call->arena, "0x%.*s", STR_ARG(hex)), out);
}

static const SessionFunction functions[] = {
    {"GETDATE", 0, 0, "datetime", fn_get_date},
    {"CURRENT_TIMESTAMP", 0, 0, "datetime", fn_get_date},
    {"GETUTCDATE", 0, 0, "datetime", fn_get_utc_date},
    {"SYSDATETIME", 0, 0, "datetime2(7)", fn_sys_date_time},
    {"SYSUTCDATETIME", 0, 0, "datetime2(7)", fn_sys_utc_date_time},
    {"SYSDATETIMEOFFSET", 0, 0, "datetimeoffset(7)", fn_sys_date_time_offset},
    {"CURRENT_TIMEZONE", 0, 0, "nvarchar(128)", fn_time_zone},
    {"CURRENT_TIMEZONE_ID", 0, 0, "nvarchar(128)", fn_time_zone},
    {"NEWID", 0, 0, "uniqueidentifier", fn_new_id},
    {"SCOPE_IDENTITY", 0, 0, "numeric(38,0)", fn_scope_identity},
    {"XACT_STATE", 0, 0, "smallint", fn_xact_state},
    {"ERROR_NUMBER", 0, 0, "int", fn_error_number},
    {"ERROR_SEVERITY", 0, 0, "int", fn_error_severity},
    {"ERROR_STATE", 0, 0, "int", fn_error_state},
    {"ERROR_LINE", 0, 0, "int", fn_error_line},
    {"ERROR_MESSAGE", 0, 0, "nvarchar(4000)", fn_error_message},
    {"ERROR_PROCEDURE", 0, 0, "nvarchar(128)", fn_error_procedure},
    {"APP_NAME", 0, 0, "nvarchar(128)", fn_app_name},
    {"HOST_NAME", 0, 0, "nvarchar(128)", fn_host_name},
    {"DATABASEPROPERTYEX", 2, 2, "sql_variant", fn_database_property},
    {"sys.fn_cdc_get_max_lsn", 0, 0, "binary(10)", fn_cdc_max_lsn},
    {"sys.fn_cdc_get_min_lsn", 1, 1, "binary(10)", fn_cdc_min_lsn},
    {"sys.fn_cdc_increment_lsn", 1, 1, "binary(10)", fn_cdc_increment},
    {"sys.fn_cdc_decrement_lsn", 1, 1, "binary(10)", fn_cdc_decrement},
    {"sys.fn_cdc_map_lsn_to_time", 1, 1, "datetime", fn_cdc_lsn_to_time},
    {"sys.fn_cdc_map_time_to_lsn", 2, 2, "binary(10)", fn_cdc_time_to_lsn},
    {"sys.fn_cdc_get_column_ordinal", 2, 2, "int", fn_cdc_column_ordinal},
    {"sys.fn_cdc_is_bit_set", 2, 2, "bit", fn_cdc_is_bit_set},
    {"sys.fn_cdc_has_column_changed", 3, 3, "bit", fn_cdc_has_changed},
    {"sys.fn_varbintohexstr", 1, 1, "nvarchar(4000)", fn_hex},
};

static const SimValue *eval_session_function(Node *node, Exec *exec)
{
    SimValue               args[5];
    const SessionFunction *function = node->function;
    Call                   call     = {.exec     = exec,
                                       .session  = exec->session,
                                       .database = node->state,
                                       .args     = args,
                                       .count    = node->arg_count,
                                       .arena    = exec->scratch};

    for (size_t i = 0; i < node->arg_count; i++) {
        const SimValue *value = node_eval(node->args[i], exec);
        if (!value) return NULL;
        args[i] = *value;
    }
    node->value = sim_null(node->type);
    if (!call.database) call.database = exec->session->database;
    return function->run(&call, &node->value) ? &node->value : NULL;
}

static const SessionFunction *find_in(const SessionFunction *list, size_t count, const Expr *expr)
{
    bool in_sys = sim_name_equal(expr->function.schema, STR("sys")) ||
                  (sim_name_equal(expr->function.schema, STR("dbo")) &&
                   sim_name_equal(expr->function.database, STR("master")));

    for (size_t i = 0; i < count && list[i].name; i++) {
        Str name = str_from_c(list[i].name);
        if (in_sys
                ? str_starts_with(name, STR("sys.")) &&
                      sim_name_equal(str_slice(name, 4, name.len), expr->function.name)
                : str_is_empty(expr->function.schema) && sim_name_equal(name, expr->function.name))
            return &list[i];
    }
    return NULL;
}

static const SessionFunction *function_find(const Expr *expr)
{
    const SessionFunction *found = find_in(functions, COUNT_OF(functions), expr);

    if (!found) found = find_in(catalog_functions_of_session, SIZE_MAX, expr);
    if (!found) found = find_in(principal_functions_of_session, SIZE_MAX, expr);
    return found ? found : find_in(property_functions_of_session, SIZE_MAX, expr);
}

bool bind_session_function(Binder *binder, QueryScope *scope, const Expr *expr, Node **out,
                           bool *found)
{
    const SessionFunction *function = function_find(expr);
    SimType                type;

    *found = function != NULL;
    if (!function) return true;
    if (expr->args.count < function->min_args || expr->args.count > function->max_args) {
        if (!str_is_empty(expr->function.schema))
            return binder_error(binder, expr->line,
                                expr->args.count < function->min_args ? 313 : 8144,
                                expr->args.count < function->min_args
                                    ? "An insufficient number of arguments were supplied for the "
                                      "procedure or function %s."
                                    : "Procedure or function %s has too many arguments specified.",
                                function->name);
        return binder_error(binder, expr->line, 174, "The %s function requires %d argument(s).",
                            function->name, function->min_args);
    }
    if (!sim_type_parse(str_from_c(function->type), &type))
        return binder_not_supported(binder, expr->line, "the type %s", function->type);
    Node *node      = node_new(binder->arena, NODE_CALL, type, expr->line);
    node->eval      = eval_session_function;
    node->function  = function;
    node->args      = ARENA_ARRAY(binder->arena, Node *, expr->args.count + 1);
    node->arg_count = expr->args.count;
    if (!str_is_empty(expr->function.database)) {
        node->state = sim_server_find_database(binder->session->server, expr->function.database);
        if (!node->state)
            return binder_error(
                binder, expr->line, 911,
                "Database '%.*s' does not exist. Make sure that the name is entered correctly.",
                STR_ARG(expr->function.database));
    }
    if (!node->state) node->state = binder->database;
    bool is_sequential = str_equal_c(str_from_c(function->name), "NEWSEQUENTIALID");
    if (is_sequential && !binder->binds_default)
        return binder_error(binder, expr->line, 302,
                            "The newsequentialid() built-in function can only be used in a DEFAULT "
                            "expression for a column of type 'uniqueidentifier' in a CREATE TABLE "
                            "or ALTER TABLE statement. It cannot be combined with other operators "
                            "to form a complex scalar expression.");
    node->is_volatile = is_sequential || function->run == fn_new_id;
    for (size_t i = 0; i < expr->args.count; i++)
        if (!bind_expr(binder, scope, expr->args.items[i], &node->args[i])) return false;
    *out = node;
    return true;
}

/* --- @@globals --- */
/* The bits of SET options (sqlserver.md 2.10). */
static int options_bits(const SessionOptions *options)
{
    return (options->implicit_transactions ? 2 : 0) | (options->cursor_close_on_commit ? 4 : 0) |
           (options->ansi_warnings ? 8 : 0) | (options->ansi_padding ? 16 : 0) |
           (options->ansi_nulls ? 32 : 0) | (options->arithabort ? 64 : 0) |
           (options->quoted_identifier ? 256 : 0) | (options->nocount ? 512 : 0) |
           (options->ansi_null_dflt_on ? 1024 : 0) | (options->concat_null_yields_null ? 4096 : 0) |
           (options->numeric_roundabort ? 8192 : 0) | (options->xact_abort ? 16384 : 0);
}

/* Counters of the machine: nothing here is slow enough to be counted. */
static bool global_number(Str name, SimValue *out)
{
    static const struct {
        const char *name;
        int         value;
    } numbers[] = {{"MAX_CONNECTIONS", 32767},
                   {"TIMETICKS", 31250},
                   {"CONNECTIONS", 0},
                   {"CPU_BUSY", 0},
                   {"IDLE", 0},
                   {"IO_BUSY", 0},
                   {"PACK_RECEIVED", 0},
                   {"PACK_SENT", 0},
                   {"PACKET_ERRORS", 0},
                   {"TOTAL_READ", 0},
                   {"TOTAL_WRITE", 0},
                   {"TOTAL_ERRORS", 0}};

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (sim_name_equal(name, str_from_c(numbers[i].name))) {
            *out = value_int(numbers[i].value);
            return true;
        }
    return false;
}

static bool global_value(Exec *exec, Str name, SimValue *out)
{
    SimSession *session = exec->session;
    Arena      *arena   = exec->scratch;

    if (sim_name_equal(name, STR("SPID")))
        *out = sim_int(session->id, SIM_SMALLINT);
    else if (sim_name_equal(name, STR("VERSION")))
        *out = value_text(arena, server_version_text(arena, front_version(session)));
    else if (sim_name_equal(name, STR("TRANCOUNT")))
        *out = value_int(session->tran_count);
    else if (sim_name_equal(name, STR("ROWCOUNT")))
        *out = value_int(session->row_count);
    else if (sim_name_equal(name, STR("ERROR")))
        *out = value_int(session->last_error);
    else if (sim_name_equal(name, STR("IDENTITY")))
        *out = session->identity;
    else if (sim_name_equal(name, STR("SERVERNAME")))
        *out = value_text(arena, STR("tidesim"));
    else if (sim_name_equal(name, STR("SERVICENAME")))
        *out = value_text(arena, STR("MSSQLSERVER"));
    else if (sim_name_equal(name, STR("LANGUAGE")))
        *out = value_text(arena, str_from_c(session->options.language));
    else if (sim_name_equal(name, STR("LANGID")))
        *out = sim_int(0, SIM_SMALLINT);
    else if (sim_name_equal(name, STR("DATEFIRST")))
        *out = sim_int(session->options.date_first, SIM_TINYINT);
    else if (sim_name_equal(name, STR("MAX_PRECISION")))
        *out = sim_int(38, SIM_TINYINT);
    else if (sim_name_equal(name, STR("LOCK_TIMEOUT")))
        *out = value_int(session->options.lock_timeout_ms);
    else if (sim_name_equal(name, STR("TEXTSIZE")))
        *out = value_int(session->options.text_size);
    else if (sim_name_equal(name, STR("NESTLEVEL")))
        *out = value_int(session->proc_depth);
    else if (sim_name_equal(name, STR("PROCID")))
        *out = value_int(
            session->frame && session->frame->module ? session->frame->module->object_id : 0);
    else if (sim_name_equal(name, STR("FETCH_STATUS")))
        *out = value_int(session->fetch_status);
    else if (sim_name_equal(name, STR("CURSOR_ROWS")))
        *out = value_int(session->cursor_rows);
    else if (sim_name_equal(name, STR("MICROSOFTVERSION")))
        *out = value_int((int64_t)(front_version(session) - 2022 + 16) << 24);
    else if (sim_name_equal(name, STR("OPTIONS")))
        *out = value_int(options_bits(&session->options));
    else if (sim_name_equal(name, STR("DBTS"))) {
        uint64_t last  = sim_last_rowversion(session->database);
        uint8_t *bytes = arena_alloc(arena, 8);
        for (int i = 0; i < 8; i++)
            bytes[i] = (uint8_t)(last >> (56 - 8 * i));
        *out         = sim_null(sim_type_sized(SIM_VARBINARY, 8));
        out->is_null = false;
        out->bytes   = (Bytes){bytes, 8};
    } else if (sim_name_equal(name, STR("REMSERVER"))) {
        *out = sim_null(sim_type_sized(SIM_NVARCHAR, 256));
    } else if (!global_number(name, out)) {
        return false;
    }
    return true;
}

static const SimValue *eval_global(Node *node, Exec *exec)
{
    node->value = sim_null(node->type);
    (void)global_value(exec, node->text, &node->value);
    return &node->value;
}

bool bind_global(Binder *binder, const Expr *expr, Node **out)
{
    Exec     probe = {.session = binder->session, .scratch = binder->arena};
    SimValue value;

    if (!global_value(&probe, expr->text, &value))
        return binder_error(binder, expr->line, 137, "Must declare the scalar variable \"@@%.*s\".",
                            STR_ARG(expr->text));
    Node *node = node_new(binder->arena, NODE_CALL, value.type, expr->line);
    if (value.type.kind == SIM_NVARCHAR)
        node->type = sim_type_sized(SIM_NVARCHAR,
                                    sim_name_equal(expr->text, STR("VERSION")) ? 300 : 128);
    node->eval = eval_global;
    node->text = expr->text;
    *out       = node;
    return true;
}

/* --- server facts --- */
Str server_product_version(Arena *arena, int version)
{
    (void)arena;
    switch (version) {
    case 2016: return STR("13.0.6300.2");
    case 2017: return STR("14.0.3456.2");
    case 2019: return STR("15.0.4430.1");
    case 2025: return STR("17.0.1000.7");
    default: return STR("16.0.4135.4");
    }
}

Str server_update_level(int version)
{
    switch (version) {
    case 2017: return STR("CU31");
    case 2019: return STR("CU32");
    case 2022: return STR("CU15");
    default: return STR_EMPTY;
    }
}

Str server_product_level(int version)
{
    return version == 2016 ? STR("SP3") : STR("RTM");
}

Str server_version_text(Arena *arena, int version)
{
    Str level = server_product_level(version), update = server_update_level(version);

    return str_printf(arena,
                      "Microsoft SQL Server %d (%.*s%s%.*s) - %.*s (X64) \n\tDeveloper Edition "
                      "(64-bit) on %s <X64>\n\ttidesim, a simulated SQL Server",
                      version, STR_ARG(level), update.len ? "-" : "", STR_ARG(update),
                      STR_ARG(server_product_version(arena, version)),
                      version == 2016 ? "Windows Server 2016 Standard 10.0" : "Linux");
}
