/* enable.c - sys.sp_cdc_enable_table: its checks in the server's order, the change table, the
 * instance (sqlserver.md 2.15). */
#include "sim/capture/cdc_internal.h"

#define INSTANCE_NAME_CHARS 100
#define INDEX_COLUMNS_MOST  14   /* for net changes */
#define COLUMNS_MOST        1018 /* 1024 with the change table's own */

/* What an enable works on. */
typedef struct Enabling {
    SimTxn               *txn;
    SimCdc               *cdc;
    const SimEnableTable *args;
    SimTable             *source;
    const SimTableInfo   *info;
    Str                   name;
    const SimIndex       *index; /* NULL: none */
    bool                  net_changes;
    Arena                *arena;    /* the instance's */
    size_t               *ordinals; /* captured columns */
    size_t                column_count;
} Enabling;

/* --- lists of instances; with the mutex held --- */

Instance *instance_find(SimCdc *cdc, Str name)
{
    for (Instance *instance = cdc->instances; instance != NULL; instance = instance->next)
        if (!instance->is_over && sim_name_equal(instance->name, name)) return instance;
    return NULL;
}

void instance_capture(Instance *instance, bool on)
{
    Instance **captures = instance->source->captures;

    if (on && captures[0] != NULL &&
        captures[0]->order > instance->order) { /* it comes back, and was the older one */
        captures[1] = captures[0];
        captures[0] = instance;
    } else if (on) {
        captures[captures[0] != NULL] = instance;
    } else if (captures[0] == instance) {
        captures[0] = captures[1];
        captures[1] = NULL;
    } else if (captures[1] == instance) {
        captures[1] = NULL;
    }
    atomic_store(&instance->source->capture_count,
                 (unsigned)(captures[0] != NULL) + (captures[1] != NULL));
}

/* --- checks --- */

static bool check_names(const Enabling *enabling, SimError *error)
{
    if (sim_name_equal(enabling->info->schema, STR("cdc")))
        return sim_error(
            error, 22974,
            "Tables contained in the cdc schema cannot be enabled for Change Data Capture.");
    if (enabling->args->has_empty_role)
        return sim_error(
            error, 22907,
            "Parameter @role_name cannot be empty. Specify a value for @role_name and "
            "retry the operation. Supply null as the value if no role is to be used to "
            "gate access to captured change data.");
    if (enabling->name.len >
        INSTANCE_NAME_CHARS) /* bytes: names of other scripts are refused a little early */
        return sim_error(error, 22927,
                         "Capture instance name '%.*s' exceeds the length limit of 100 characters. "
                         "Specify a name that satisfies the length constraint.",
                         STR_ARG(enabling->name));
    (void)pthread_mutex_lock(&enabling->cdc->mutex);
    bool taken = instance_find(enabling->cdc, enabling->name) != NULL;
    (void)pthread_mutex_unlock(&enabling->cdc->mutex);
    if (taken)
        return sim_error(
            error, 22926,
            "Could not create a capture instance because the capture instance name '%.*s' already "
            "exists in the current database. Specify an explicit unique "
            "name for the parameter @capture_instance.",
            STR_ARG(enabling->name));
    if (enabling->source->captures[1] != NULL)
        return sim_error(error, 22962,
                         "Two capture instances already exist for source table '%.*s.%.*s'. A "
                         "table can have at most two capture instances. If the current tracking "
                         "options are not appropriate, disable change tracking for the obsolete "
                         "instance by using sys.sp_cdc_disable_table and retry the operation.",
                         STR_ARG(enabling->info->schema), STR_ARG(enabling->info->name));
    return true;
}

static const SimColumn *column_by_id(const SimTableInfo *info, int32_t column_id)
{
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].column_id == column_id) return &info->columns[i];
    return NULL;
}

static bool choose_index(Enabling *enabling, SimError *error)
{
    const SimTableInfo *info  = enabling->info;
    Str                 named = enabling->args->index_name;

    for (size_t i = 0; i < info->index_count; i++) {
        bool matches = str_is_empty(named) ? info->indexes[i]->is_primary_key
                                           : sim_name_equal(info->indexes[i]->name, named);
        if (matches) enabling->index = info->indexes[i];
    }
    if (!str_is_empty(named) && enabling->index == NULL)
        return sim_error(error, 22928,
                         "Index name '%.*s' is not an index for table '%.*s.%.*s'. Specify a valid "
                         "index name for the table.",
                         STR_ARG(named), STR_ARG(info->schema), STR_ARG(info->name));
    if (enabling->index != NULL && !enabling->index->is_unique)
        return sim_error(
            error, 22929,
            "Index '%.*s' must be either a primary key or a unique index for table '%.*s.%.*s'. "
            "Specify an index that meets at least one of these requirements.",
            STR_ARG(named), STR_ARG(info->schema), STR_ARG(info->name));
    for (size_t i = 0; enabling->index != NULL && i < enabling->index->column_count; i++)
        if (column_by_id(info, enabling->index->columns[i].column_id)->is_nullable)
            return sim_error(
                error, 22838,
                "All columns of a CDC unique index must be defined as NOT NULL. Index '%.*s' "
                "selected as the CDC unique index for source table '%.*s.%.*s' does "
                "not meet this requirement. Define all columns of the selected index as NOT NULL "
                "or select another unique index as the CDC index and resubmit the request.",
                STR_ARG(enabling->index->name), STR_ARG(info->schema), STR_ARG(info->name));
    enabling->net_changes = enabling->args->net_changes_given ? enabling->args->supports_net_changes
                                                              : enabling->index != NULL;
    if (enabling->net_changes && enabling->index == NULL)
        return sim_error(
            error, 22939,
            "The parameter @supports_net_changes is set to 1, but the source table does not have a "
            "primary key defined and no alternate unique index has been specified.");
    if (enabling->net_changes && enabling->index->column_count > INDEX_COLUMNS_MOST)
        return sim_error(
            error, 22865,
            "The number of columns in the index '%.*s', used as the unique row identifier to "
            "support net changes for table '%.*s'.'%.*s', exceeds the limit of 14 columns. Set the "
            "parameter @supports_net_changes to 0 or use the @index_name parameter to identify a "
            "unique index with fewer than 15 columns as the unique row identifier and resubmit the "
            "request.",
            STR_ARG(enabling->index->name), STR_ARG(info->schema), STR_ARG(info->name));
    return true;
}

static bool choose_columns(Enabling *enabling, SimError *error)
{
    const SimEnableTable *args = enabling->args;
    const SimTableInfo   *info = enabling->info;
    bool                 *used = ARENA_ARRAY(enabling->arena, bool, info->column_count);

    if (args->has_bad_list)
        return sim_error(
            error, 22965,
            "A quoted column in the column list is not properly terminated. Verify that columns "
            "are "
            "correctly delimited and retry the operation. For more information, see 'Delimited "
            "Identifiers' in Books Online.");
    for (size_t i = 0; i < args->captured_column_count; i++) {
        ptrdiff_t ordinal = sim_table_find_column(enabling->source, args->captured_columns[i]);
        if (ordinal < 0 && args->captured_column_count == 1)
            return sim_error(error, 22930,
                             "Could not locate '%.*s' as a column of source table '%.*s.%.*s'. "
                             "Specify a valid column name.",
                             STR_ARG(args->captured_columns[i]), STR_ARG(info->schema),
                             STR_ARG(info->name));
        if (ordinal < 0 || used[ordinal])
            return sim_error(
                error, 22942,
                "Columns specified in the captured column list could not be mapped to columns in "
                "source table '%.*s.%.*s'. Verify that the columns specified in "
                "the parameter @captured_column_list are delimited properly and match columns in "
                "the source table.",
                STR_ARG(info->schema), STR_ARG(info->name));
        used[ordinal] = true;
    }
    enabling->ordinals = ARENA_ARRAY(enabling->arena, size_t, info->column_count);
    for (size_t i = 0; i < info->column_count; i++) /* in the table's order, whatever the list's */
        if (args->captured_column_count == 0 || used[i])
            enabling->ordinals[enabling->column_count++] = i;
    return true;
}

static bool is_captured_id(const Enabling *enabling, int32_t column_id)
{
    for (size_t i = 0; i < enabling->column_count; i++)
        if (enabling->info->columns[enabling->ordinals[i]].column_id == column_id) return true;
    return false;
}

static bool check_columns(const Enabling *enabling, SimError *error)
{
    static const char *const reserved[] = {"__$start_lsn", "__$end_lsn",     "__$seqval",
                                           "__$operation", "__$update_mask", "__$command_id"};

    for (size_t i = 0;
         enabling->index != NULL && enabling->net_changes && i < enabling->index->column_count; i++)
        if (!is_captured_id(enabling, enabling->index->columns[i].column_id))
            return sim_error(
                error, 22943,
                "Columns used to uniquely identify a row for net change tracking must be included "
                "in the list of captured columns. Add either the primary key "
                "columns of the source table, or the columns defined for the index specified in "
                "the parameter @index_name to the list of captured columns and retry the "
                "operation.");
    for (size_t i = 0; i < enabling->column_count; i++)
        for (size_t j = 0; j < COUNT_OF(reserved); j++)
            if (sim_name_equal(enabling->info->columns[enabling->ordinals[i]].name,
                               str_from_c(reserved[j])))
                return sim_error(
                    error, 22975,
                    "Source table '%.*s.%.*s' contains one of the following reserved column names: "
                    "__$start_lsn, __$end_lsn, __$seqval, __$operation, and "
                    "__$update_mask. To enable Change Data Capture for this table, specify a "
                    "captured column list and ensure that these columns are excluded from the "
                    "list.",
                    STR_ARG(enabling->info->schema), STR_ARG(enabling->info->name));
    if (enabling->column_count > COLUMNS_MOST)
        return sim_error(
            error, 22925,
            "The number of columns captured by capture instance '%.*s' exceeds the maximum allowed "
            "number: %d. Use the @captured_columns_list parameter to specify a subset of the "
            "columns less than or equal to the maximum allowed and resubmit the request.",
            STR_ARG(enabling->name), COLUMNS_MOST);
    if (!str_is_empty(enabling->args->filegroup) &&
        !sim_name_equal(enabling->args->filegroup, STR("PRIMARY")))
        return sim_error(
            error, 22973,
            "The specified filegroup '%.*s' is not a valid filegroup for database '%.*s'. Specify "
            "a "
            "valid existing filegroup or create the named filegroup, and retry the operation.",
            STR_ARG(enabling->args->filegroup), STR_ARG(enabling->txn->database->name));
    return true;
}

/* --- the change table --- */

static SimColumn head_column(const char *name, SimTypeKind kind, int32_t length, bool is_nullable)
{
    SimColumn column = {
        .name = str_from_c(name), .type = sim_type(kind), .is_nullable = is_nullable};
    if (length > 0) column.type.length = length;
    return column;
}

/* Change tables made now have no __$command_id, as before an update of SQL Server 2016. */
static bool cdc_hides_command_id(const SimServer *server)
{
    return sim_server_version(server) == 2016 &&
           sim_server_knob(server, SIM_KNOB_COMMAND_ID_2016) != 0;
}

static bool create_change_table(Enabling *enabling, SimTable **out, SimError *error)
{
    bool       numbers = !cdc_hides_command_id(enabling->txn->database->server);
    size_t     count   = CT_HEAD_COLUMNS + enabling->column_count + numbers;
    SimColumn *columns = ARENA_ARRAY(enabling->arena, SimColumn, count);

    columns[0] = head_column("__$start_lsn", SIM_BINARY, LSN_BYTES, false);
    columns[1] = head_column("__$end_lsn", SIM_BINARY, LSN_BYTES, true);
    columns[2] = head_column("__$seqval", SIM_BINARY, LSN_BYTES, false);
    columns[3] = head_column("__$operation", SIM_INT, 0, false);
    columns[4] = head_column("__$update_mask", SIM_VARBINARY, 128, true);
    for (size_t i = 0; i < enabling->column_count; i++) {
        const SimColumn *source      = &enabling->info->columns[enabling->ordinals[i]];
        columns[CT_HEAD_COLUMNS + i] = (SimColumn){
            .name = source->name, .type = change_column_type(source), .is_nullable = true};
    }
    if (numbers) columns[count - 1] = head_column("__$command_id", SIM_INT, 0, true);
    SimIndexColumn key[4];
    size_t         key_count = 0;
    key[key_count++]         = (SimIndexColumn){.column_id = 1};
    if (numbers) key[key_count++] = (SimIndexColumn){.column_id = (int32_t)count};
    key[key_count++] = (SimIndexColumn){.column_id = 3};
    key[key_count++] = (SimIndexColumn){.column_id = 4};
    SimIndex index   = {
          .name      = str_printf(enabling->arena, "%.*s_CT_clustered_idx", STR_ARG(enabling->name)),
          .is_unique = true,
          .is_clustered = true,
          .columns      = key,
          .column_count = key_count};
    SimTableSpec spec = {.schema  = STR("cdc"),
                         .name    = str_printf(enabling->arena, "%.*s_CT", STR_ARG(enabling->name)),
                         .columns = columns,
                         .column_count = count,
                         .indexes      = &index,
                         .index_count  = 1,
                         .is_system    = true};
    return sim_create_table(enabling->txn, &spec, out, error);
}

/* --- the instance --- */

static Instance *make_instance(const Enabling *enabling, SimTable *change_table)
{
    Arena    *arena    = enabling->arena;
    Instance *instance = ARENA_NEW(arena, Instance);

    *instance = (Instance){
        .database             = enabling->txn->database,
        .arena                = arena,
        .name                 = enabling->name,
        .source               = enabling->source,
        .change_table         = change_table,
        .supports_net_changes = enabling->net_changes,
        .role_name            = str_copy(arena, enabling->args->role_name),
        .filegroup            = str_copy(arena, enabling->args->filegroup),
        .index_name = enabling->index != NULL ? str_copy(arena, enabling->index->name) : STR_EMPTY,
        .create_us  = sim_server_local_us(enabling->txn->database->server),
        .columns    = ARENA_ARRAY(arena, SimCapturedColumn, enabling->column_count),
        .column_count = enabling->column_count,
        .map          = ARENA_ARRAY(arena, int32_t, enabling->column_count)};
    for (size_t i = 0; i < enabling->column_count; i++) {
        const SimColumn *source = &enabling->info->columns[enabling->ordinals[i]];
        instance->columns[i]    = (SimCapturedColumn){.name          = str_copy(arena, source->name),
                                                      .column_id     = source->column_id,
                                                      .ordinal       = (int32_t)i + 1,
                                                      .type          = change_column_type(source),
                                                      .is_computed   = source->is_computed,
                                                      .is_rowversion = source->type.kind ==
                                                                       SIM_ROWVERSION};
    }
    if (enabling->index != NULL) {
        instance->index_columns = ARENA_ARRAY(arena, SimIndexColumn, enabling->index->column_count);
        instance->index_column_count = enabling->index->column_count;
        memcpy(instance->index_columns, enabling->index->columns,
               enabling->index->column_count * sizeof *instance->index_columns);
    }
    return instance;
}

typedef struct EnableEvent {
    TxnEvent  base;
    Instance *instance;
    bool      made_role;
} EnableEvent;

static void enable_commit(TxnEvent *event, SimTxn *txn, Lsn lsn)
{
    Instance *instance = ((EnableEvent *)event)->instance;

    (void)pthread_mutex_lock(&txn->database->cdc->mutex);
    instance->start_lsn    = lsn;
    instance->is_committed = true;
    jobs_make(txn->database->cdc);
    (void)pthread_mutex_unlock(&txn->database->cdc->mutex);
}

static void enable_rollback(TxnEvent *event, SimTxn *txn)
{
    const EnableEvent *enable  = (const EnableEvent *)event;
    SimError           ignored = SIM_ERROR_INIT;

    (void)pthread_mutex_lock(&txn->database->cdc->mutex);
    enable->instance->is_over = true;
    instance_capture(enable->instance, false);
    (void)pthread_mutex_unlock(&txn->database->cdc->mutex);
    bool dropped = !enable->made_role ||
                   sim_drop_principal(txn->database, enable->instance->role_name, &ignored);
    (void)dropped;
}

static void enable_done(TxnEvent *event)
{
    mem_free(event);
}

static void list_instance(SimCdc *cdc, Instance *instance)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    if (cdc->last_instance != NULL)
        cdc->last_instance->next = instance;
    else
        cdc->instances = instance;
    cdc->last_instance = instance;
    instance->order    = ++cdc->instance_count;
    instance_capture(instance, true);
    (void)pthread_mutex_unlock(&cdc->mutex);
}

static bool add_instance(Enabling *enabling, SimTable *change_table, SimError *error)
{
    SimTxn      *txn      = enabling->txn;
    Instance    *instance = make_instance(enabling, change_table);
    EnableEvent *event    = mem_alloc(sizeof *event);
    Str          role     = instance->role_name;

    event->base = (TxnEvent){
        .commit = enable_commit, .rollback = enable_rollback, .done = enable_done};
    event->instance  = instance;
    event->made_role = !str_is_empty(role) && !security_has_principal(txn->database, role);
    if (event->made_role && !sim_create_role(txn->database, role, error)) {
        mem_free(event);
        return false;
    }
    list_instance(enabling->cdc, instance);
    txn_push_event(txn, &event->base);
    log_append(txn, (LogRecord){.kind     = LOG_ENABLE,
                                .lsn      = log_next(&txn->database->log),
                                .table    = enabling->source,
                                .info     = enabling->info,
                                .instance = instance});
    return true;
}

static bool enable(Enabling *enabling, bool *keeps_arena_out, SimError *error)
{
    SimTable *change_table = NULL;

    if (!check_names(enabling, error) || !choose_index(enabling, error) ||
        !choose_columns(enabling, error) || !check_columns(enabling, error))
        return false;
    if (!create_change_table(enabling, &change_table, error)) return false;
    *keeps_arena_out = add_instance(enabling, change_table, error);
    return *keeps_arena_out;
}

static bool not_enabled(const SimDatabase *database, SimError *error)
{
    return sim_error(
        error, 22901,
        "The database '%.*s' is not enabled for Change Data Capture. Ensure that the correct "
        "database context is set and retry the operation. To report on "
        "the databases enabled for Change Data Capture, query the is_cdc_enabled column in the "
        "sys.databases catalog view.",
        STR_ARG(database->name));
}

/* The source under its schema lock; NULL: there is none. */
static bool lock_source(SimTxn *txn, const SimEnableTable *args, SimTable **out, SimError *error)
{
    SimTable *source = sim_database_find_table(txn->database, args->source_schema,
                                               args->source_name);

    if (source != NULL && !lock_take(txn, &source->lock, LOCK_SCH_M, error)) return false;
    *out = source != NULL && !atomic_load(&source->is_dropped) ? source : NULL;
    return true;
}

bool sim_cdc_enable_table(SimTxn *txn, const SimEnableTable *args, SimError *error)
{
    SimCdc  *cdc      = txn->database->cdc;
    Enabling enabling = {.txn = txn, .cdc = cdc, .args = args};
    bool     kept     = false;

    if (!lock_take(txn, &cdc->ddl_lock, LOCK_X, error)) return false;
    if (!cdc_is_on(cdc, txn)) return not_enabled(txn->database, error);
    if (!lock_source(txn, args, &enabling.source, error)) return false;
    if (enabling.source == NULL)
        return sim_error(error, 22931,
                         "Source table '%.*s.%.*s' does not exist in the current database. Ensure "
                         "that the correct database context is set. Specify a valid schema and "
                         "table name for the database.",
                         STR_ARG(args->source_schema), STR_ARG(args->source_name));
    enabling.arena = arena_new();
    enabling.info  = sim_table_info(enabling.source);
    enabling.name  = str_copy(enabling.arena, args->capture_instance);
    if (str_is_empty(enabling.name))
        enabling.name = str_printf(enabling.arena, "%.*s_%.*s", STR_ARG(enabling.info->schema),
                                   STR_ARG(enabling.info->name));
    bool ok = enable(&enabling, &kept, error);
    if (!kept) arena_close(enabling.arena);
    return ok;
}
