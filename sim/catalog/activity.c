/* activity.c - views of what goes on: connections, locks, and the machine below. */
#include "sim/catalog/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

#define STATE_VIEW(view_name, column_list, fill_function, needs)      \
    {                                                                 \
        .schema = "sys", .name = view_name, .columns = column_list,   \
        .column_count = COUNT_OF(column_list), .fill = fill_function, \
        .permission = SIM_PERM_VIEW_##needs##_STATE                   \
    }

/* --- sys.dm_exec_connections --- */
static const VirtualColumn connection_columns[] = {{"session_id", "int"},
                                                   {"most_recent_session_id", "int"},
                                                   {"connect_time", "datetime"},
                                                   {"net_transport", "nvarchar(40)"},
                                                   {"protocol_type", "nvarchar(40)"},
                                                   {"protocol_version", "int"},
                                                   {"endpoint_id", "int"},
                                                   {"encrypt_option", "nvarchar(40)"},
                                                   {"auth_scheme", "nvarchar(40)"},
                                                   {"node_affinity", "smallint"},
                                                   {"num_reads", "int"},
                                                   {"num_writes", "int"},
                                                   {"last_read", "datetime"},
                                                   {"last_write", "datetime"},
                                                   {"net_packet_size", "int"},
                                                   {"client_net_address", "varchar(48)"},
                                                   {"client_tcp_port", "int"},
                                                   {"local_net_address", "varchar(48)"},
                                                   {"local_tcp_port", "int"},
                                                   {"connection_id", "uniqueidentifier"},
                                                   {"parent_connection_id", "uniqueidentifier"},
                                                   {"most_recent_sql_handle", "varbinary(64)"}};

static bool fill_connections(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    Front *front = exec->session->front;

    (void)source;
    front_lock(front);
    for (SimSession *session = front_first_session(front); session; session = session->next) {
        int64_t   last_us = atomic_load(&session->public.request_us);
        SimValue *row     = view_row(rows);
        view_set(rows, row, "session_id", INT(session->id));
        view_set(rows, row, "most_recent_session_id", INT(session->id));
        view_set(rows, row, "connect_time", value_datetime(session->login_us));
        view_set(rows, row, "net_transport", TEXT(STR("TCP")));
        view_set(rows, row, "protocol_type", TEXT(STR("TSQL")));
        view_set(rows, row, "protocol_version", INT(0x74000004));
        view_set(rows, row, "endpoint_id", INT(4));
        view_set(rows, row, "encrypt_option",
                 TEXT(session->is_encrypted ? STR("TRUE") : STR("FALSE")));
        view_set(rows, row, "auth_scheme", TEXT(STR("SQL")));
        view_set(rows, row, "node_affinity", INT(0));
        view_set(rows, row, "last_read", value_datetime(last_us));
        view_set(rows, row, "last_write", value_datetime(last_us));
        view_set(
            rows, row, "connection_id",
            TEXT(str_printf(rows->arena, "00000000-0000-4000-9000-%012X", (unsigned)session->id)));
    }
    front_unlock(front);
    return true;
}

/* --- sys.dm_tran_locks --- */
static const VirtualColumn lock_columns[] = {{"resource_type", "nvarchar(60)"},
                                             {"resource_subtype", "nvarchar(60)"},
                                             {"resource_database_id", "int"},
                                             {"resource_description", "nvarchar(256)"},
                                             {"resource_associated_entity_id", "bigint"},
                                             {"resource_lock_partition", "int"},
                                             {"request_mode", "nvarchar(60)"},
                                             {"request_type", "nvarchar(60)"},
                                             {"request_status", "nvarchar(60)"},
                                             {"request_reference_count", "smallint"},
                                             {"request_lifetime", "int"},
                                             {"request_session_id", "int"},
                                             {"request_exec_context_id", "int"},
                                             {"request_request_id", "int"},
                                             {"request_owner_type", "nvarchar(60)"},
                                             {"request_owner_id", "bigint"},
                                             {"request_owner_guid", "uniqueidentifier"},
                                             {"request_owner_lockspace_id", "nvarchar(32)"},
                                             {"lock_owner_address", "varbinary(8)"}};

static void lock_row(VirtualRows *rows, const SimLockInfo *lock, Str type)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "resource_type", TEXT(type));
    view_set(rows, row, "resource_subtype", TEXT(STR_EMPTY));
    view_set(rows, row, "resource_database_id", INT(lock->database_id));
    view_set(rows, row, "resource_description", TEXT(STR_EMPTY));
    view_set(rows, row, "resource_associated_entity_id", value_bigint(lock->object_id));
    view_set(rows, row, "resource_lock_partition", INT(0));
    view_set(rows, row, "request_mode", TEXT(str_from_c(lock->mode)));
    view_set(rows, row, "request_type", TEXT(STR("LOCK")));
    view_set(rows, row, "request_status",
             TEXT(!lock->is_waiting     ? STR("GRANT")
                  : lock->is_conversion ? STR("CONVERT")
                                        : STR("WAIT")));
    view_set(rows, row, "request_reference_count", INT(1));
    view_set(rows, row, "request_lifetime", INT(0));
    view_set(rows, row, "request_session_id", INT(lock->session_id));
    view_set(rows, row, "request_exec_context_id", INT(0));
    view_set(rows, row, "request_request_id", INT(0));
    view_set(rows, row, "request_owner_type",
             TEXT(lock->txn_id ? STR("TRANSACTION") : STR("SHARED_TRANSACTION_WORKSPACE")));
    view_set(rows, row, "request_owner_id", value_bigint((int64_t)lock->txn_id));
}

static bool fill_locks(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    Front       *front = exec->session->front;
    SimLockInfo *locks = NULL;
    size_t       count = sim_server_locks(exec->session->server, rows->arena, &locks);

    (void)source;
    front_lock(front); /* each session holds its database in common with the others */
    for (SimSession *session = front_first_session(front); session; session = session->next) {
        SimDatabase *database = atomic_load(&session->public.database);
        SimLockInfo  shared   = {.session_id  = session->id,
                                 .database_id = database ? sim_database_id(database) : 1,
                                 .mode        = "S"};
        if (shared.database_id > 2) lock_row(rows, &shared, STR("DATABASE"));
    }
    front_unlock(front);
    for (size_t i = 0; i < count; i++)
        lock_row(rows, &locks[i], locks[i].is_key ? STR("KEY") : STR("OBJECT"));
    return true;
}

/* --- the machine --- */
static const VirtualColumn system_columns[] = {{"cpu_ticks", "bigint"},
                                               {"ms_ticks", "bigint"},
                                               {"cpu_count", "int"},
                                               {"hyperthread_ratio", "int"},
                                               {"physical_memory_kb", "bigint"},
                                               {"virtual_memory_kb", "bigint"},
                                               {"committed_kb", "bigint"},
                                               {"committed_target_kb", "bigint"},
                                               {"max_workers_count", "int"},
                                               {"scheduler_count", "int"},
                                               {"scheduler_total_count", "int"},
                                               {"sqlserver_start_time_ms_ticks", "bigint"},
                                               {"sqlserver_start_time", "datetime"},
                                               {"affinity_type", "int"},
                                               {"affinity_type_desc", "nvarchar(60)"},
                                               {"virtual_machine_type", "int"},
                                               {"virtual_machine_type_desc", "nvarchar(60)"},
                                               {"container_type", "int"},
                                               {"container_type_desc", "nvarchar(60)"}};

static bool fill_system(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimDatabase *master  = sim_server_find_database(exec->session->server, STR("master"));
    int64_t      started = sim_database_created_us(master);
    int64_t      now     = session_local_us(exec->session, exec->utc_us);
    SimValue    *row     = view_row(rows);

    (void)source;
    view_set(rows, row, "ms_ticks", value_bigint((now - started) / 1000));
    view_set(rows, row, "cpu_count", INT(1));
    view_set(rows, row, "hyperthread_ratio", INT(1));
    view_set(rows, row, "scheduler_count", INT(1));
    view_set(rows, row, "scheduler_total_count", INT(1));
    view_set(rows, row, "sqlserver_start_time_ms_ticks", value_bigint(0));
    view_set(rows, row, "sqlserver_start_time", value_datetime(started));
    view_set(rows, row, "affinity_type", INT(2));
    view_set(rows, row, "affinity_type_desc", TEXT(STR("AUTO")));
    view_set(rows, row, "virtual_machine_type", INT(0));
    view_set(rows, row, "virtual_machine_type_desc", TEXT(STR("NONE")));
    view_set(rows, row, "container_type", INT(0));
    view_set(rows, row, "container_type_desc", TEXT(STR("NONE")));
    return true;
}

static const VirtualColumn host_columns[] = {{"host_platform", "nvarchar(256)"},
                                             {"host_distribution", "nvarchar(256)"},
                                             {"host_release", "nvarchar(256)"},
                                             {"host_service_pack_level", "nvarchar(256)"},
                                             {"host_sku", "int"},
                                             {"os_language_version", "int"},
                                             {"host_architecture", "nvarchar(256)"}};

static bool fill_host(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimValue *row = view_row(rows);

    (void)exec;
    (void)source;
    view_set(rows, row, "host_platform", TEXT(STR("Linux")));
    view_set(rows, row, "host_distribution", TEXT(STR("tidesim")));
    view_set(rows, row, "host_release", TEXT(STR_EMPTY));
    view_set(rows, row, "host_service_pack_level", TEXT(STR_EMPTY));
    view_set(rows, row, "os_language_version", INT(0));
    view_set(rows, row, "host_architecture", TEXT(STR("X64")));
    return true;
}

const VirtualTable catalog_activity_views[] = {
    STATE_VIEW("dm_exec_connections", connection_columns, fill_connections, SERVER),
    STATE_VIEW("dm_tran_locks", lock_columns, fill_locks, SERVER),
    STATE_VIEW("dm_os_sys_info", system_columns, fill_system, SERVER),
    STATE_VIEW("dm_os_host_info", host_columns, fill_host, SERVER),
    {.name = NULL},
};
