/* info.c - copies of what CDC knows, for procedures and catalog views (sqlserver.md 2.15). */
#include "sim/capture/cdc_internal.h"

static Str column_name(const Instance *instance, int32_t column_id)
{
    const SimTableInfo *info = sim_table_info(instance->source);

    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].column_id == column_id) return info->columns[i].name;
    for (size_t i = 0; i < instance->column_count; i++)
        if (instance->columns[i].column_id == column_id) return instance->columns[i].name;
    return STR_EMPTY;
}

static void copy_columns(const Instance *instance, Arena *arena, SimCaptureInstance *out)
{
    SimCapturedColumn *columns = ARENA_ARRAY(arena, SimCapturedColumn, instance->column_count);
    Str               *keys    = ARENA_ARRAY(arena, Str, instance->index_column_count);

    for (size_t i = 0; i < instance->column_count; i++) {
        columns[i]      = instance->columns[i];
        columns[i].name = str_copy(arena, instance->columns[i].name);
    }
    for (size_t i = 0; i < instance->index_column_count; i++)
        keys[i] = str_copy(arena, column_name(instance, instance->index_columns[i].column_id));
    out->columns            = columns;
    out->column_count       = instance->column_count;
    out->index_columns      = keys;
    out->index_column_count = instance->index_column_count;
}

static void copy_instance(const Instance *instance, Arena *arena, SimCaptureInstance *out)
{
    const SimTableInfo *source = sim_table_info(instance->source);

    *out = (SimCaptureInstance){.name                 = str_copy(arena, instance->name),
                                .object_id            = instance->change_table->object_id,
                                .source_object_id     = source->object_id,
                                .source_schema        = str_copy(arena, source->schema),
                                .source_table         = str_copy(arena, source->name),
                                .start_lsn            = instance->start_lsn,
                                .is_reached           = instance->is_reached,
                                .role_name            = str_copy(arena, instance->role_name),
                                .index_name           = str_copy(arena, instance->index_name),
                                .filegroup            = str_copy(arena, instance->filegroup),
                                .supports_net_changes = instance->supports_net_changes,
                                .create_us            = instance->create_us};
    copy_columns(instance, arena, out);
}

static bool is_shown(const Instance *instance)
{
    return instance->is_committed && !instance->is_over;
}

size_t sim_cdc_instances(SimDatabase *database, Arena *arena, SimCaptureInstance **out)
{
    SimCdc *cdc                   = database->cdc;
    LIST(SimCaptureInstance) list = {.items = NULL};

    (void)pthread_mutex_lock(&cdc->mutex);
    for (const Instance *instance = cdc->instances; instance != NULL; instance = instance->next)
        if (is_shown(instance)) copy_instance(instance, arena, LIST_PUSH(arena, &list));
    (void)pthread_mutex_unlock(&cdc->mutex);
    *out = list.items;
    return list.count;
}

bool sim_cdc_find_instance(SimDatabase *database, Str name, Arena *arena, SimCaptureInstance *out)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    const Instance *instance = instance_find(cdc, name);
    bool            found    = instance != NULL && is_shown(instance);
    if (found) copy_instance(instance, arena, out);
    (void)pthread_mutex_unlock(&cdc->mutex);
    return found;
}

size_t sim_cdc_ddl_history(SimDatabase *database, Str name, Arena *arena, SimDdlEntry **out)
{
    SimCdc *cdc            = database->cdc;
    LIST(SimDdlEntry) list = {.items = NULL};

    (void)pthread_mutex_lock(&cdc->mutex);
    const Instance *instance = instance_find(cdc, name);
    for (size_t i = 0; instance != NULL && i < instance->history.count; i++) {
        SimDdlEntry *entry = LIST_PUSH(arena, &list);
        *entry             = instance->history.items[i];
        entry->command     = str_copy(arena, entry->command);
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
    *out = list.items;
    return list.count;
}

bool sim_cdc_max_lsn(SimDatabase *database, Lsn *out)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool known = cdc->is_enabled && cdc->has_max_lsn;
    *out       = known ? cdc->max_lsn : LSN_ZERO;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return known;
}

Lsn sim_cdc_newest_waiting(SimDatabase *database)
{
    return log_newest(&database->log);
}

bool sim_cdc_is_waiting(SimDatabase *database, Lsn lsn)
{
    return log_waits(&database->log, lsn);
}

size_t sim_cdc_errors(SimDatabase *database, Arena *arena, SimScanError **out)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    size_t        count  = cdc->errors.count;
    SimScanError *errors = ARENA_ARRAY(arena, SimScanError, count);
    for (size_t i = 0; i < count; i++) {
        errors[i]         = cdc->errors.items[i];
        errors[i].message = str_copy(arena, errors[i].message);
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
    *out = errors;
    return count;
}
