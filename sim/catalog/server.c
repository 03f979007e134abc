/* server.c - views of the server: databases, principals, sessions, requests, waits. */
#include "sim/catalog/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

static const VirtualColumn database_columns[] = {
    {"name", "sysname"},
    {"database_id", "int"},
    {"source_database_id", "int"},
    {"owner_sid", "varbinary(85)"},
    {"create_date", "datetime"},
    {"compatibility_level", "tinyint"},
    {"collation_name", "sysname"},
    {"user_access", "tinyint"},
    {"user_access_desc", "nvarchar(60)"},
    {"is_read_only", "bit"},
    {"is_auto_close_on", "bit"},
    {"is_auto_shrink_on", "bit"},
    {"state", "tinyint"},
    {"state_desc", "nvarchar(60)"},
    {"is_in_standby", "bit"},
    {"is_cleanly_shutdown", "bit"},
    {"is_supplemental_logging_enabled", "bit"},
    {"snapshot_isolation_state", "tinyint"},
    {"snapshot_isolation_state_desc", "nvarchar(60)"},
    {"is_read_committed_snapshot_on", "bit"},
    {"recovery_model", "tinyint"},
    {"recovery_model_desc", "nvarchar(60)"},
    {"page_verify_option", "tinyint"},
    {"page_verify_option_desc", "nvarchar(60)"},
    {"is_auto_create_stats_on", "bit"},
    {"is_auto_create_stats_incremental_on", "bit"},
    {"is_auto_update_stats_on", "bit"},
    {"is_auto_update_stats_async_on", "bit"},
    {"is_ansi_null_default_on", "bit"},
    {"is_ansi_nulls_on", "bit"},
    {"is_ansi_padding_on", "bit"},
    {"is_ansi_warnings_on", "bit"},
    {"is_arithabort_on", "bit"},
    {"is_concat_null_yields_null_on", "bit"},
    {"is_numeric_roundabort_on", "bit"},
    {"is_quoted_identifier_on", "bit"},
    {"is_recursive_triggers_on", "bit"},
    {"is_cursor_close_on_commit_on", "bit"},
    {"is_local_cursor_default", "bit"},
    {"is_fulltext_enabled", "bit"},
    {"is_trustworthy_on", "bit"},
    {"is_db_chaining_on", "bit"},
    {"is_parameterization_forced", "bit"},
    {"is_master_key_encrypted_by_server", "bit"},
    {"is_query_store_on", "bit"},
    {"is_published", "bit"},
    {"is_subscribed", "bit"},
    {"is_merge_published", "bit"},
    {"is_distributor", "bit"},
    {"is_sync_with_backup", "bit"},
    {"service_broker_guid", "uniqueidentifier"},
    {"is_broker_enabled", "bit"},
    {"log_reuse_wait", "tinyint"},
    {"log_reuse_wait_desc", "nvarchar(60)"},
    {"is_date_correlation_on", "bit"},
    {"is_cdc_enabled", "bit"},
    {"is_encrypted", "bit"},
    {"is_honor_broker_priority_on", "bit"},
    {"replica_id", "uniqueidentifier"},
    {"group_database_id", "uniqueidentifier"},
    {"resource_pool_id", "int"},
    {"default_language_lcid", "smallint"},
    {"default_language_name", "nvarchar(128)"},
    {"default_fulltext_language_lcid", "int"},
    {"default_fulltext_language_name", "nvarchar(128)"},
    {"is_nested_triggers_on", "bit"},
    {"is_transform_noise_words_on", "bit"},
    {"two_digit_year_cutoff", "smallint"},
    {"containment", "tinyint"},
    {"containment_desc", "nvarchar(60)"},
    {"target_recovery_time_in_seconds", "int"},
    {"delayed_durability", "int"},
    {"delayed_durability_desc", "nvarchar(60)"},
    {"is_memory_optimized_elevate_to_snapshot_on", "bit"},
    {"is_federation_member", "bit"},
    {"is_remote_data_archive_enabled", "bit"},
    {"is_mixed_page_allocation_on", "bit"},
    {"is_temporal_history_retention_enabled", "bit"},
    {"catalog_collation_type", "int"},
    {"catalog_collation_type_desc", "nvarchar(60)"},
    {"physical_database_name", "nvarchar(128)"},
    {"is_result_set_caching_on", "bit"},
    {"is_accelerated_database_recovery_on", "bit"},
    {"is_tempdb_spill_to_remote_store", "bit"},
    {"is_stale_page_detection_on", "bit"},
    {"is_memory_optimized_enabled", "bit"},
    {"is_data_retention_enabled", "bit"},
    {"is_ledger_on", "bit"},
    {"is_change_feed_enabled", "bit"},
};

static int compatibility(int version)
{
    return version == 2016   ? 130
           : version == 2017 ? 140
           : version == 2019 ? 150
           : version == 2025 ? 170
                             : 160;
}

static const char *const on[]  = {"is_auto_create_stats_on", "is_auto_update_stats_on",
                                  "is_memory_optimized_enabled",
                                  "is_temporal_history_retention_enabled"};
static const char *const off[] = {"is_auto_close_on",
                                  "is_auto_shrink_on",
                                  "is_in_standby",
                                  "is_cleanly_shutdown",
                                  "is_supplemental_logging_enabled",
                                  "is_auto_create_stats_incremental_on",
                                  "is_auto_update_stats_async_on",
                                  "is_ansi_null_default_on",
                                  "is_ansi_nulls_on",
                                  "is_ansi_padding_on",
                                  "is_ansi_warnings_on",
                                  "is_arithabort_on",
                                  "is_concat_null_yields_null_on",
                                  "is_numeric_roundabort_on",
                                  "is_quoted_identifier_on",
                                  "is_recursive_triggers_on",
                                  "is_cursor_close_on_commit_on",
                                  "is_local_cursor_default",
                                  "is_fulltext_enabled",
                                  "is_trustworthy_on",
                                  "is_db_chaining_on",
                                  "is_parameterization_forced",
                                  "is_master_key_encrypted_by_server",
                                  "is_query_store_on",
                                  "is_published",
                                  "is_subscribed",
                                  "is_merge_published",
                                  "is_distributor",
                                  "is_sync_with_backup",
                                  "is_broker_enabled",
                                  "is_date_correlation_on",
                                  "is_encrypted",
                                  "is_honor_broker_priority_on",
                                  "is_memory_optimized_elevate_to_snapshot_on",
                                  "is_federation_member",
                                  "is_remote_data_archive_enabled",
                                  "is_mixed_page_allocation_on",
                                  "is_result_set_caching_on",
                                  "is_accelerated_database_recovery_on",
                                  "is_tempdb_spill_to_remote_store",
                                  "is_stale_page_detection_on",
                                  "is_data_retention_enabled",
                                  "is_ledger_on",
                                  "is_change_feed_enabled"};

static bool fill_databases(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t       at       = 0;
    SimDatabase *database = NULL;

    (void)source;
    while (sim_server_next_database(exec->session->server, &at, &database)) {
        Str user, name = sim_database_name(database);
        if (!session_user_in(exec->session, database, &user) &&
            !sim_name_equal(name, STR("master")) && !sim_name_equal(name, STR("tempdb")))
            continue;
        SimValue *row = view_row(rows);
        view_set(rows, row, "name", TEXT(name));
        view_set(rows, row, "database_id", INT(sim_database_id(database)));
        view_set(rows, row, "owner_sid", sim_binary((Bytes){(const uint8_t *)"\x01", 1}, -1));
        view_set(rows, row, "create_date", value_datetime(sim_database_created_us(database)));
        view_set(rows, row, "compatibility_level",
                 INT(compatibility(front_version(exec->session))));
        const SimCollation *collation = sim_database_collation(database);
        view_set(rows, row, "collation_name",
                 TEXT(sim_collation_name(collation ? collation : sim_collation_default())));
        bool single = sim_database_single_user(database) != 0;
        view_set(rows, row, "user_access", INT(single ? 1 : 0));
        view_set(rows, row, "user_access_desc",
                 TEXT(single ? STR("SINGLE_USER") : STR("MULTI_USER")));
        view_set(rows, row, "state", INT(0));
        view_set(rows, row, "state_desc", TEXT(STR("ONLINE")));
        static const char *const states[] = {"OFF", "ON", "IN_TRANSITION_TO_OFF",
                                             "IN_TRANSITION_TO_ON"};
        SimSnapshotState         state    = sim_database_snapshot_state(database);
        view_set(rows, row, "snapshot_isolation_state", INT(state));
        view_set(rows, row, "snapshot_isolation_state_desc", TEXT(str_from_c(states[state])));
        view_set(rows, row, "is_read_committed_snapshot_on",
                 BIT(sim_database_reads_versions(database)));
        view_set(rows, row, "is_read_only", BIT(session_reads_secondary(exec->session, database)));
        view_set(rows, row, "recovery_model", INT(1));
        view_set(rows, row, "recovery_model_desc", TEXT(STR("FULL")));
        view_set(rows, row, "log_reuse_wait", INT(0));
        for (size_t i = 0; i < COUNT_OF(off); i++)
            view_set(rows, row, off[i], BIT(false));
        for (size_t i = 0; i < COUNT_OF(on); i++)
            view_set(rows, row, on[i], BIT(true));
        view_set(rows, row, "page_verify_option", INT(2));
        view_set(rows, row, "page_verify_option_desc", TEXT(STR("CHECKSUM")));
        view_set(rows, row, "log_reuse_wait_desc", TEXT(STR("NOTHING")));
        view_set(rows, row, "containment", INT(0));
        view_set(rows, row, "containment_desc", TEXT(STR("NONE")));
        view_set(rows, row, "target_recovery_time_in_seconds", INT(60));
        view_set(rows, row, "delayed_durability", INT(0));
        view_set(rows, row, "delayed_durability_desc", TEXT(STR("DISABLED")));
        view_set(rows, row, "catalog_collation_type", INT(0));
        view_set(rows, row, "catalog_collation_type_desc", TEXT(STR("DATABASE_DEFAULT")));
        view_set(rows, row, "physical_database_name", TEXT(name));
        view_set(rows, row, "is_cdc_enabled", BIT(sim_cdc_is_enabled(database)));
    }
    return true;
}

static const VirtualColumn recovery_columns[] = {{"database_id", "int"},
                                                 {"database_guid", "uniqueidentifier"},
                                                 {"family_guid", "uniqueidentifier"},
                                                 {"last_log_backup_lsn", "numeric(25,0)"},
                                                 {"recovery_fork_guid", "uniqueidentifier"},
                                                 {"first_recovery_fork_guid", "uniqueidentifier"},
                                                 {"fork_point_lsn", "numeric(25,0)"}};

static bool fill_recovery(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t       at       = 0;
    SimDatabase *database = NULL;

    (void)source;
    while (sim_server_next_database(exec->session->server, &at, &database)) {
        SimValue *row  = view_row(rows);
        SimValue  guid = TEXT(str_printf(rows->arena, "00000000-0000-4000-8000-%012X",
                                         (unsigned)sim_database_id(database)));
        view_set(rows, row, "database_id", INT(sim_database_id(database)));
        view_set(rows, row, "database_guid", guid);
        view_set(rows, row, "family_guid", guid);
        view_set(rows, row, "recovery_fork_guid", guid);
    }
    return true;
}

/* --- sessions --- */
static bool may_see_all(SimSession *session)
{
    return session->login.is_sysadmin;
}

static const VirtualColumn session_columns[] = {{"session_id", "smallint"},
                                                {"login_time", "datetime"},
                                                {"host_name", "nvarchar(128)"},
                                                {"program_name", "nvarchar(128)"},
                                                {"host_process_id", "int"},
                                                {"client_version", "int"},
                                                {"client_interface_name", "nvarchar(32)"},
                                                {"login_name", "nvarchar(128)"},
                                                {"status", "nvarchar(30)"},
                                                {"cpu_time", "int"},
                                                {"memory_usage", "int"},
                                                {"total_elapsed_time", "int"},
                                                {"last_request_start_time", "datetime"},
                                                {"last_request_end_time", "datetime"},
                                                {"reads", "bigint"},
                                                {"writes", "bigint"},
                                                {"logical_reads", "bigint"},
                                                {"is_user_process", "bit"},
                                                {"text_size", "int"},
                                                {"language", "nvarchar(128)"},
                                                {"date_format", "nvarchar(3)"},
                                                {"date_first", "smallint"},
                                                {"quoted_identifier", "bit"},
                                                {"arithabort", "bit"},
                                                {"ansi_null_dflt_on", "bit"},
                                                {"ansi_defaults", "bit"},
                                                {"ansi_warnings", "bit"},
                                                {"ansi_padding", "bit"},
                                                {"ansi_nulls", "bit"},
                                                {"concat_null_yields_null", "bit"},
                                                {"transaction_isolation_level", "smallint"},
                                                {"lock_timeout", "int"},
                                                {"deadlock_priority", "int"},
                                                {"row_count", "bigint"},
                                                {"prev_error", "int"},
                                                {"original_login_name", "nvarchar(128)"},
                                                {"database_id", "smallint"},
                                                {"open_transaction_count", "int"}};

static int isolation_number(SimIsolation isolation)
{
    switch (isolation) {
    case SIM_READ_UNCOMMITTED: return 1;
    case SIM_READ_COMMITTED: return 2;
    case SIM_REPEATABLE_READ: return 3;
    case SIM_SERIALIZABLE: return 4;
    case SIM_SNAPSHOT: return 5;
    }
    return 0;
}

/* Of another session only what it publishes, and what never changes. */
static void session_row(VirtualRows *rows, const SimSession *session, bool is_self)
{
    SimValue             *row     = view_row(rows);
    const SessionOptions *options = is_self ? &session->options : &session->login_options;
    const SessionPublic *public   = &session->public;
    SimDatabase *database         = atomic_load(&public->database);

    view_set(rows, row, "session_id", INT(session->id));
    view_set(rows, row, "login_time", value_datetime(session->login_us));
    view_set(rows, row, "host_name", TEXT(session->host_name));
    view_set(rows, row, "program_name", TEXT(session->app_name));
    view_set(rows, row, "login_name", TEXT(session->login.name));
    view_set(rows, row, "original_login_name", TEXT(session->login.name));
    view_set(rows, row, "status",
             TEXT(atomic_load(&public->is_running) ? STR("running") : STR("sleeping")));
    view_set(rows, row, "last_request_start_time",
             value_datetime(atomic_load(&session->public.request_us)));
    view_set(rows, row, "is_user_process", BIT(true));
    view_set(rows, row, "text_size", INT(options->text_size));
    view_set(rows, row, "language", TEXT(str_from_c(options->language)));
    view_set(rows, row, "date_format", TEXT(str_from_c(options->date_format)));
    view_set(rows, row, "date_first", INT(options->date_first));
    view_set(rows, row, "quoted_identifier", BIT(options->quoted_identifier));
    view_set(rows, row, "arithabort", BIT(options->arithabort));
    view_set(rows, row, "ansi_null_dflt_on", BIT(options->ansi_null_dflt_on));
    view_set(rows, row, "ansi_warnings", BIT(options->ansi_warnings));
    view_set(rows, row, "ansi_padding", BIT(options->ansi_padding));
    view_set(rows, row, "ansi_nulls", BIT(options->ansi_nulls));
    view_set(rows, row, "concat_null_yields_null", BIT(options->concat_null_yields_null));
    view_set(rows, row, "transaction_isolation_level",
             INT(isolation_number((SimIsolation)atomic_load(&public->isolation))));
    view_set(rows, row, "lock_timeout", INT(options->lock_timeout_ms));
    view_set(rows, row, "deadlock_priority", INT(options->deadlock_priority));
    view_set(rows, row, "row_count", value_bigint(atomic_load(&session->public.row_count)));
    view_set(rows, row, "prev_error", INT(is_self ? session->last_error : 0));
    view_set(rows, row, "database_id", INT(database ? sim_database_id(database) : 1));
    view_set(rows, row, "open_transaction_count", INT(atomic_load(&session->public.tran_count)));
}

static bool fill_sessions(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimSession *self = exec->session;

    (void)source;
    front_lock(self->front);
    for (SimSession *session = front_first_session(self->front); session; session = session->next)
        if (session == self || may_see_all(self)) session_row(rows, session, session == self);
    front_unlock(self->front);
    return true;
}

static const VirtualColumn request_columns[] = {{"session_id", "smallint"},
                                                {"request_id", "int"},
                                                {"start_time", "datetime"},
                                                {"status", "nvarchar(30)"},
                                                {"command", "nvarchar(32)"},
                                                {"database_id", "smallint"},
                                                {"blocking_session_id", "smallint"},
                                                {"wait_type", "nvarchar(60)"},
                                                {"wait_time", "int"},
                                                {"last_wait_type", "nvarchar(60)"},
                                                {"wait_resource", "nvarchar(256)"},
                                                {"open_transaction_count", "int"},
                                                {"transaction_isolation_level", "smallint"},
                                                {"row_count", "bigint"}};

static bool fill_requests(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimSession *self = exec->session;

    (void)source;
    front_lock(self->front);
    for (SimSession *session = front_first_session(self->front); session; session = session->next) {
        if (!atomic_load(&session->public.is_running) || (session != self && !may_see_all(self)))
            continue;
        const char  *wait     = atomic_load(&session->waiter.wait_type);
        SimDatabase *database = atomic_load(&session->public.database);
        SimValue    *row      = view_row(rows);
        view_set(rows, row, "session_id", INT(session->id));
        view_set(rows, row, "request_id", INT(0));
        view_set(rows, row, "start_time", value_datetime(atomic_load(&session->public.request_us)));
        view_set(rows, row, "status", TEXT(wait ? STR("suspended") : STR("running")));
        const char *command = atomic_load(&session->public.command);
        view_set(rows, row, "command",
                 TEXT(command ? str_from_c(command) : STR("AWAITING COMMAND")));
        view_set(rows, row, "database_id", INT(database ? sim_database_id(database) : 1));
        view_set(rows, row, "blocking_session_id",
                 INT(wait ? atomic_load(&session->waiter.blocking_session_id) : 0));
        if (wait) view_set(rows, row, "wait_type", TEXT(str_from_c(wait)));
        int64_t waited_ns = wait ? clock_monotonic_ns(sim_server_clock(self->server)) -
                                       atomic_load(&session->waiter.wait_start_ns)
                                 : 0;
        view_set(rows, row, "wait_time", INT(waited_ns / 1000000));
        view_set(rows, row, "last_wait_type", TEXT(wait ? str_from_c(wait) : STR("MISCELLANEOUS")));
        view_set(rows, row, "wait_resource", TEXT(STR_EMPTY));
        view_set(rows, row, "open_transaction_count",
                 INT(atomic_load(&session->public.tran_count)));
        view_set(rows, row, "transaction_isolation_level",
                 INT(isolation_number((SimIsolation)atomic_load(&session->public.isolation))));
        view_set(rows, row, "row_count", value_bigint(atomic_load(&session->public.row_count)));
    }
    front_unlock(self->front);
    return true;
}

static const VirtualColumn wait_columns[] = {
    {"session_id", "smallint"}, {"wait_type", "nvarchar(60)"},  {"waiting_tasks_count", "bigint"},
    {"wait_time_ms", "bigint"}, {"max_wait_time_ms", "bigint"}, {"signal_wait_time_ms", "bigint"}};

static bool fill_waits(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimSession *session = exec->session;

    (void)source;
    int64_t blocked_ns = atomic_load(&session->stats.blocked_ns);

    if (blocked_ns == 0) return true;
    SimValue *row = view_row(rows);
    view_set(rows, row, "session_id", INT(session->id));
    view_set(rows, row, "wait_type", TEXT(STR("ASYNC_NETWORK_IO")));
    view_set(rows, row, "waiting_tasks_count", value_bigint(1));
    view_set(rows, row, "wait_time_ms", value_bigint(blocked_ns / 1000000));
    view_set(rows, row, "max_wait_time_ms", value_bigint(blocked_ns / 1000000));
    view_set(rows, row, "signal_wait_time_ms", value_bigint(0));
    return true;
}

static const VirtualColumn service_columns[] = {
    {"servicename", "nvarchar(256)"},       {"startup_type", "int"},
    {"startup_type_desc", "nvarchar(256)"}, {"status", "int"},
    {"status_desc", "nvarchar(256)"},       {"process_id", "int"}};

static bool fill_services(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimValue *row = view_row(rows);

    (void)exec;
    (void)source;
    view_set(rows, row, "servicename", TEXT(STR("SQL Server Agent (MSSQLSERVER)")));
    view_set(rows, row, "startup_type", INT(2));
    view_set(rows, row, "startup_type_desc", TEXT(STR("Automatic")));
    view_set(rows, row, "status", INT(4));
    view_set(rows, row, "status_desc", TEXT(STR("Running")));
    return true;
}

static const VirtualColumn zone_columns[] = {
    {"name", "sysname"}, {"current_utc_offset", "nvarchar(6)"}, {"is_currently_dst", "bit"}};

static bool fill_zones(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t         at   = 0;
    const SimZone *zone = NULL;

    (void)source;
    while (sim_zone_next(&at, &zone)) {
        int offset    = sim_zone_offset_at_utc(zone, exec->utc_us),
            size      = offset < 0 ? -offset : offset;
        SimValue *row = view_row(rows);
        view_set(rows, row, "name", TEXT(sim_zone_name(zone)));
        view_set(rows, row, "current_utc_offset",
                 TEXT(str_printf(rows->arena, "%c%02d:%02d", offset < 0 ? '-' : '+', size / 60,
                                 size % 60)));
        view_set(rows, row, "is_currently_dst", BIT(sim_zone_is_dst_at_utc(zone, exec->utc_us)));
    }
    return true;
}

const VirtualTable catalog_server_views[] = {
    VIEW("sys", "databases", database_columns, fill_databases),
    VIEW("sys", "database_recovery_status", recovery_columns, fill_recovery),
    VIEW("sys", "dm_exec_sessions", session_columns, fill_sessions),
    VIEW("sys", "dm_exec_requests", request_columns, fill_requests),
    VIEW("sys", "dm_exec_session_wait_stats", wait_columns, fill_waits),
    VIEW("sys", "dm_server_services", service_columns, fill_services),
    VIEW("sys", "time_zone_info", zone_columns, fill_zones),
    {.name = NULL},
};
