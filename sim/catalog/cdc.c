/* cdc.c - the metadata tables of schema cdc (sqlserver.md 2.15): for owners alone, rows made from the model. */
#include "sim/catalog/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

static const VirtualColumn change_columns[] = {{"object_id", "int"},
                                               {"version", "int"},
                                               {"source_object_id", "int"},
                                               {"capture_instance", "sysname"},
                                               {"start_lsn", "binary(10)"},
                                               {"end_lsn", "binary(10)"},
                                               {"supports_net_changes", "bit"},
                                               {"has_drop_pending", "bit"},
                                               {"role_name", "sysname"},
                                               {"index_name", "sysname"},
                                               {"filegroup_name", "sysname"},
                                               {"create_date", "datetime"},
                                               {"partition_switch", "bit"}};

static bool fill_change_tables(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimCaptureInstance *instances = NULL;
    size_t              count     = sim_cdc_instances(source->database, rows->arena, &instances);

    (void)exec;
    for (size_t i = 0; i < count; i++) {
        SimValue *row = view_row(rows);
        view_set(rows, row, "object_id", INT(instances[i].object_id));
        view_set(rows, row, "version", INT(0));
        view_set(rows, row, "source_object_id", INT(instances[i].source_object_id));
        view_set(rows, row, "capture_instance", TEXT(instances[i].name));
        view_set(rows, row, "start_lsn", value_lsn(rows->arena, instances[i].start_lsn));
        view_set(rows, row, "supports_net_changes", BIT(instances[i].supports_net_changes));
        if (!str_is_empty(instances[i].role_name))
            view_set(rows, row, "role_name", TEXT(instances[i].role_name));
        if (!str_is_empty(instances[i].index_name))
            view_set(rows, row, "index_name", TEXT(instances[i].index_name));
        if (!str_is_empty(instances[i].filegroup))
            view_set(rows, row, "filegroup_name", TEXT(instances[i].filegroup));
        view_set(rows, row, "create_date", value_datetime(instances[i].create_us));
        view_set(rows, row, "partition_switch", BIT(true)); /* what is not partitioned */
    }
    return true;
}

static const VirtualColumn captured_columns[] = {
    {"object_id", "int"},       {"column_name", "sysname"}, {"column_id", "int"},
    {"column_type", "sysname"}, {"column_ordinal", "int"},  {"is_computed", "bit"}};

static Str base_name(const SimCapturedColumn *column)
{
    return column->is_rowversion ? STR("timestamp") : str_from_c(sim_type_word(&column->type));
}

static bool fill_captured_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimCaptureInstance *instances = NULL;
    size_t              count     = sim_cdc_instances(source->database, rows->arena, &instances);

    (void)exec;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < instances[i].column_count; c++) {
            const SimCapturedColumn *column = &instances[i].columns[c];
            SimValue                *row    = view_row(rows);
            view_set(rows, row, "object_id", INT(instances[i].object_id));
            view_set(rows, row, "column_name", TEXT(column->name));
            view_set(rows, row, "column_id", INT(column->column_id));
            view_set(rows, row, "column_type", TEXT(base_name(column)));
            view_set(rows, row, "column_ordinal", INT(column->ordinal));
            view_set(rows, row, "is_computed", BIT(column->is_computed));
        }
    return true;
}

static const VirtualColumn index_columns[] = {{"object_id", "int"},
                                              {"column_name", "sysname"},
                                              {"index_ordinal", "tinyint"},
                                              {"column_id", "int"}};

static bool fill_index_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimCaptureInstance *instances = NULL;
    size_t              count     = sim_cdc_instances(source->database, rows->arena, &instances);

    (void)exec;
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < instances[i].index_column_count; c++) {
            SimValue *row = view_row(rows);
            view_set(rows, row, "object_id", INT(instances[i].object_id));
            view_set(rows, row, "column_name", TEXT(instances[i].index_columns[c]));
            view_set(rows, row, "index_ordinal", INT((int64_t)c + 1));
            for (size_t k = 0; k < instances[i].column_count; k++)
                if (sim_name_equal(instances[i].columns[k].name, instances[i].index_columns[c]))
                    view_set(rows, row, "column_id", INT(instances[i].columns[k].column_id));
        }
    return true;
}

static const VirtualColumn history_columns[] = {
    {"source_object_id", "int"},      {"object_id", "int"},      {"required_column_update", "bit"},
    {"ddl_command", "nvarchar(max)"}, {"ddl_lsn", "binary(10)"}, {"ddl_time", "datetime"}};

static bool fill_history(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimCaptureInstance *instances = NULL;
    size_t              count     = sim_cdc_instances(source->database, rows->arena, &instances);

    (void)exec;
    for (size_t i = 0; i < count; i++) {
        SimDdlEntry *entries = NULL;
        size_t entry_count   = sim_cdc_ddl_history(source->database, instances[i].name, rows->arena,
                                                   &entries);
        for (size_t e = 0; e < entry_count; e++) {
            SimValue *row = view_row(rows);
            view_set(rows, row, "source_object_id", INT(instances[i].source_object_id));
            view_set(rows, row, "object_id", INT(instances[i].object_id));
            view_set(rows, row, "required_column_update", BIT(entries[e].required_column_update));
            view_set(rows, row, "ddl_command", TEXT(entries[e].command));
            view_set(rows, row, "ddl_lsn", value_lsn(rows->arena, entries[e].lsn));
            view_set(rows, row, "ddl_time", value_datetime(entries[e].time_us));
        }
    }
    return true;
}

static const VirtualColumn error_columns[] = {{"session_id", "int"},
                                              {"phase_number", "int"},
                                              {"entry_time", "datetime"},
                                              {"error_number", "int"},
                                              {"error_severity", "int"},
                                              {"error_state", "int"},
                                              {"error_message", "nvarchar(1024)"},
                                              {"start_lsn", "nvarchar(23)"},
                                              {"begin_lsn", "nvarchar(23)"},
                                              {"sequence_value", "nvarchar(23)"}};

static SimValue lsn_text(VirtualRows *rows, Lsn lsn)
{
    const uint8_t *b = lsn.bytes;

    return TEXT(str_printf(rows->arena, "%02X%02X%02X%02X:%02X%02X%02X%02X:%02X%02X", b[0], b[1],
                           b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9]));
}

static bool fill_errors(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimScanError *errors = NULL;
    size_t        count  = sim_cdc_errors(source->database, rows->arena, &errors);

    (void)exec;
    for (size_t i = 0; i < count; i++) {
        SimValue *row = view_row(rows);
        view_set(rows, row, "session_id", INT(errors[i].session_id));
        view_set(rows, row, "phase_number", INT(errors[i].phase));
        view_set(rows, row, "entry_time", value_datetime(errors[i].time_us));
        view_set(rows, row, "error_number", INT(errors[i].number));
        view_set(rows, row, "error_severity", INT(errors[i].severity));
        view_set(rows, row, "error_state", INT(errors[i].state));
        view_set(rows, row, "error_message", TEXT(errors[i].message));
        view_set(rows, row, "start_lsn", lsn_text(rows, errors[i].start_lsn));
        view_set(rows, row, "begin_lsn", lsn_text(rows, errors[i].begin_lsn));
        view_set(rows, row, "sequence_value", lsn_text(rows, LSN_ZERO));
    }
    return true;
}

static const VirtualColumn session_columns[] = {{"session_id", "int"},
                                                {"start_time", "datetime"},
                                                {"end_time", "datetime"},
                                                {"duration", "bigint"},
                                                {"scan_phase", "nvarchar(200)"},
                                                {"error_count", "int"},
                                                {"start_lsn", "nvarchar(23)"},
                                                {"current_lsn", "nvarchar(23)"},
                                                {"end_lsn", "nvarchar(23)"},
                                                {"tran_count", "bigint"},
                                                {"last_commit_lsn", "nvarchar(23)"},
                                                {"last_commit_time", "datetime"},
                                                {"log_record_count", "bigint"},
                                                {"schema_change_count", "int"},
                                                {"command_count", "bigint"},
                                                {"first_begin_cdc_lsn", "nvarchar(23)"},
                                                {"last_commit_cdc_lsn", "nvarchar(23)"},
                                                {"last_commit_cdc_time", "datetime"},
                                                {"latency", "int"},
                                                {"empty_scan_count", "int"},
                                                {"failed_sessions_count", "int"}};

static int64_t whole_seconds(int64_t from_us, int64_t to_us)
{
    return (to_us - from_us) / 1000000;
}

/* What a session found, or all of them together: then it is number 0. */
/* 22 characters, behind which some servers have a NUL. */
static SimValue scan_lsn_text(VirtualRows *rows, Lsn lsn)
{
    static const char nul[2] = {0, 0};
    SimValue          text   = lsn_text(rows, lsn);
    Buf               buf    = buf_new(rows->arena, 0);

    if (!rows->lsn_has_nul) return text;
    buf_append(&buf, bytes_str(text.bytes));
    buf_append(&buf, (Str){nul, sizeof nul});
    text.bytes = str_bytes(buf_str(&buf));
    return text;
}

static void session_row(VirtualRows *rows, const SimScanSession *session, int32_t failed_count)
{
    SimValue *row          = view_row(rows);
    bool      is_aggregate = session->id == 0;

    view_set(rows, row, "session_id", INT(session->id));
    view_set(rows, row, "start_time", value_datetime(session->start_us));
    view_set(rows, row, "end_time", value_datetime(session->end_us));
    view_set(
        rows, row, "duration",
        INT(session->transactions > 0 ? whole_seconds(session->start_us, session->end_us) : 0));
    view_set(rows, row, "scan_phase", TEXT(is_aggregate ? STR("Aggregate") : STR("Done")));
    view_set(rows, row, "error_count", INT(failed_count));
    view_set(rows, row, "start_lsn", scan_lsn_text(rows, session->start_lsn));
    view_set(rows, row, "current_lsn",
             scan_lsn_text(rows, is_aggregate ? LSN_ZERO : session->end_lsn));
    view_set(rows, row, "end_lsn", scan_lsn_text(rows, session->end_lsn));
    view_set(rows, row, "tran_count", INT(session->transactions));
    view_set(rows, row, "last_commit_lsn", scan_lsn_text(rows, session->end_lsn));
    view_set(rows, row, "log_record_count", INT(session->records));
    view_set(rows, row, "schema_change_count", INT(session->ddl_count));
    view_set(rows, row, "command_count", INT(session->commands));
    view_set(rows, row, "first_begin_cdc_lsn", scan_lsn_text(rows, session->first_begin_lsn));
    view_set(rows, row, "last_commit_cdc_lsn", scan_lsn_text(rows, session->last_commit_lsn));
    if (session->transactions > 0) {
        view_set(rows, row, "last_commit_time", value_datetime(session->last_commit_us));
        view_set(rows, row, "last_commit_cdc_time", value_datetime(session->last_commit_us));
        view_set(rows, row, "latency",
                 INT(MAX(whole_seconds(session->last_commit_us, session->end_us), 0)));
    } else {
        view_set(rows, row, "latency", INT(0));
    }
    view_set(rows, row, "empty_scan_count", INT(session->empty_count));
    view_set(rows, row, "failed_sessions_count", INT(failed_count));
}

static void add_session(SimScanSession *all, const SimScanSession *session)
{
    all->end_us = session->end_us;
    all->transactions += session->transactions;
    all->records += session->records;
    all->commands += session->commands;
    all->ddl_count += session->ddl_count;
    all->empty_count = session->empty_count;
    if (session->empty_count > 0) return;
    all->start_lsn = session->start_lsn;
    all->end_lsn   = session->end_lsn;
    if (session->transactions == 0) return;
    if (lsn_is_zero(all->first_begin_lsn)) all->first_begin_lsn = session->first_begin_lsn;
    all->last_commit_lsn = session->last_commit_lsn;
    all->last_commit_us  = session->last_commit_us;
}

static bool fill_sessions(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimScanSession *sessions     = NULL;
    size_t          count        = sim_cdc_scan_sessions(source->database, rows->arena, &sessions);
    SimScanSession  all          = {.id = 0};
    int32_t         failed_count = 0;

    if (count == 0) return true;
    rows->lsn_has_nul = sim_server_knob(exec->session->server, SIM_KNOB_SCAN_LSN_NUL) != 0;
    all.start_us      = sessions[0].start_us;
    for (size_t i = 0; i < count; i++) {
        add_session(&all, &sessions[i]);
        failed_count += sessions[i].has_failed;
    }
    session_row(rows, &all, failed_count);
    for (size_t i = 0; i < count; i++)
        session_row(rows, &sessions[i], sessions[i].has_failed);
    return true;
}

#define OWNED(view_name, column_list, fill_function)                                        \
    {                                                                                       \
        .schema = "cdc", .name = view_name, .columns = column_list,                         \
        .column_count = COUNT_OF(column_list), .fill = fill_function, .is_owner_only = true \
    }

const VirtualTable catalog_cdc_views[] = {
    OWNED("change_tables", change_columns, fill_change_tables),
    OWNED("captured_columns", captured_columns, fill_captured_columns),
    OWNED("index_columns", index_columns, fill_index_columns),
    OWNED("ddl_history", history_columns, fill_history),
    {.schema       = "sys",
     .name         = "dm_cdc_errors",
     .columns      = error_columns,
     .column_count = COUNT_OF(error_columns),
     .fill         = fill_errors,
     .permission   = SIM_PERM_VIEW_DATABASE_STATE},
    {.schema       = "sys",
     .name         = "dm_cdc_log_scan_sessions",
     .columns      = session_columns,
     .column_count = COUNT_OF(session_columns),
     .fill         = fill_sessions,
     .permission   = SIM_PERM_VIEW_DATABASE_STATE},
    {.name = NULL},
};
