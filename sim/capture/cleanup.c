/* cleanup.c - what is older than the retention goes: first the low endpoints move, then rows,
 * then mapping entries (sqlserver.md 2.16). The order is the promise that readers' retention guard
 * rests on. */
#include "sim/capture/cdc_internal.h"

#define MINUTE_US INT64_C(60000000)

static void run_hook(SimCdc *cdc, const char *where)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    SimCleanupHook hook = cdc->hook;
    void          *arg  = cdc->hook_arg;
    (void)pthread_mutex_unlock(&cdc->mutex);
    if (hook != NULL) hook(arg, where);
}

/* --- the low mark --- */

static bool mark_of_procedure(SimCdc *cdc, SimTable *mapping, Str name, Lsn given, Lsn *mark_out,
                              SimError *error)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    const Instance *instance   = instance_find(cdc, name);
    bool            is_known   = instance != NULL;
    bool            is_current = is_known && lsn_equal(instance->start_lsn, given);
    bool            is_past    = is_known && lsn_compare(given, instance->start_lsn) < 0;
    bool            is_ahead   = cdc->has_max_lsn && lsn_compare(given, cdc->max_lsn) > 0;
    Lsn             start_lsn  = is_known ? instance->start_lsn : LSN_ZERO;
    Lsn             max_lsn    = cdc->has_max_lsn ? cdc->max_lsn : LSN_ZERO;
    (void)pthread_mutex_unlock(&cdc->mutex);
    *mark_out = given;
    if (!is_known)
        return sim_error(error, 22920,
                         "The named capture instance %.*s does not exist for database %.*s.",
                         STR_ARG(name), STR_ARG(cdc->database->name));
    if (is_current) return true;
    if (is_past || is_ahead)
        return sim_error(
            error, 22957,
            "LSN %s, specified as the new low end point for the change table associated with "
            "capture instance '%.*s', is not within the Change Data Capture timeline [%s, %s].",
            lsn_format(given).text, STR_ARG(name), lsn_format(start_lsn).text,
            lsn_format(max_lsn).text);
    if (!mapping_lowered(mapping, given, mark_out))
        return sim_error(
            error, 22964,
            "LSN %s, specified as the new low end point for change table cleanup must represent "
            "the start_lsn value of a current entry in the cdc.lsn_time_mapping table. "
            "Choose an LSN value that satisfies this requirement.",
            lsn_format(given).text);
    return true;
}

/* From here on min_lsn shows it. Never down. */
static void move_low_endpoints(SimCdc *cdc, Str name, Lsn mark)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    for (Instance *instance = cdc->instances; instance != NULL; instance = instance->next) {
        if (instance->is_over || !instance->is_committed) continue;
        if (!str_is_empty(name) && !sim_name_equal(instance->name, name)) continue;
        if (lsn_compare(instance->start_lsn, mark) < 0) instance->start_lsn = mark;
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
}

/* --- deleting --- */

/* One statement: at most `limit` rows whose LSN is below the mark, in a transaction of its own. */
static bool delete_some(SimTxn *txn, SimTable *table, Lsn mark, int64_t limit, int64_t *deleted_out,
                        SimError *error)
{
    SimRange       range   = {.high = {.is_set = true, .value = lsn_value(&mark)}};
    SimScanOptions options = {
        .isolation = SIM_READ_COMMITTED, .for_update = true, .limit_hint = limit};
    SimScan *scan = NULL;
    bool     ok   = write_begin(txn, table, error) &&
              sim_scan_open(txn, table, &range, &options, &scan, error);

    while (ok && *deleted_out < limit) {
        const SimRow *const *rows  = NULL;
        size_t               count = 0;
        ok                         = sim_scan_next(scan, &rows, &count, error);
        if (!ok || count == 0) break;
        for (size_t i = 0; ok && i < count && *deleted_out < limit; i++, ++*deleted_out)
            ok = write_delete_row(txn, table, rows[i], error);
    }
    sim_scan_close(scan);
    return ok;
}

static bool delete_below(SimCdc *cdc, SimTable *table, Lsn mark, int64_t threshold, SimError *error)
{
    SystemSession session;
    bool          ok      = true;
    int64_t       deleted = threshold;

    system_session_open(&session, cdc->database->server);
    while (ok && deleted == threshold) {
        SimTxn *txn = system_txn_begin(&session, cdc->database);
        deleted     = 0;
        ok          = delete_some(txn, table, mark, threshold, &deleted, error);
        if (ok)
            ok = sim_txn_commit(txn, NULL, error);
        else
            sim_txn_rollback(txn);
        if (ok && deleted == threshold) run_hook(cdc, "between_batches");
    }
    system_session_close(&session);
    if (!ok && error->number == 208) { /* the instance was disabled meanwhile */
        *error = SIM_ERROR_INIT;
        return true;
    }
    return ok;
}

/* The change tables to clean, each with its low mark. */
typedef struct Target {
    SimTable *table;
    Lsn       mark;
} Target;
typedef LIST(Target) TargetList;

static void list_targets(SimCdc *cdc, Str name, Arena *arena, TargetList *targets)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    for (Instance *instance = cdc->instances; instance != NULL; instance = instance->next) {
        if (instance->is_over || !instance->is_committed) continue;
        if (!str_is_empty(name) && !sim_name_equal(instance->name, name)) continue;
        *LIST_PUSH(arena, targets) = (Target){instance->change_table, instance->start_lsn};
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
}

/* The lowest endpoint of any instance, the mark when there is none; never above the newest entry,
 * which stays. */
static Lsn lowest_endpoint(SimCdc *cdc, Lsn mark)
{
    bool any    = false;
    Lsn  lowest = mark;

    (void)pthread_mutex_lock(&cdc->mutex);
    for (Instance *instance = cdc->instances; instance != NULL; instance = instance->next) {
        if (instance->is_over || !instance->is_committed) continue;
        lowest = any ? lsn_min(lowest, instance->start_lsn) : instance->start_lsn;
        any    = true;
    }
    if (cdc->has_max_lsn) lowest = lsn_min(lowest, cdc->max_lsn);
    (void)pthread_mutex_unlock(&cdc->mutex);
    return lowest;
}

/* The marks move in any case; deleting may fail. */
static bool clean(SimCdc *cdc, Str name, Lsn mark, int64_t threshold, SimError *error)
{
    Arena     *arena   = arena_new();
    TargetList targets = {.items = NULL};
    bool       ok      = true;

    move_low_endpoints(cdc, name, mark);
    run_hook(cdc, "after_mark");
    list_targets(cdc, name, arena, &targets);
    for (size_t i = 0; ok && i < targets.count; i++)
        ok = delete_below(cdc, targets.items[i].table, targets.items[i].mark, threshold, error);
    arena_close(arena);
    SimTable *mapping = sim_cdc_mapping_table(cdc->database);
    if (ok && mapping != NULL)
        ok = delete_below(cdc, mapping, lowest_endpoint(cdc, mark), threshold, error);
    return ok;
}

/* `is_idle_out`: nothing is old enough. */
static bool choose_mark(SimDatabase *database, Str instance, Lsn low_water_mark, int64_t threshold,
                        Lsn *mark_out, bool *is_idle_out, SimError *error)
{
    SimCdc   *cdc     = database->cdc;
    SimTable *mapping = sim_cdc_mapping_table(database);

    *is_idle_out = false;
    *mark_out    = low_water_mark;
    if (mapping == NULL)
        return sim_error(
            error, 22901,
            "The database '%.*s' is not enabled for Change Data Capture. Ensure that the correct "
            "database context is set and retry the operation. To report on "
            "the databases enabled for Change Data Capture, query the is_cdc_enabled column in the "
            "sys.databases catalog view.",
            STR_ARG(database->name));
    if (threshold <= 0)
        return sim_error(
            error, 22850,
            "The threshold value specified for the Change Data Capture cleanup process must be "
            "greater than 0. When creating or modifying the cleanup job, specify a "
            "positive threshold value. If this error is encountered when executing the "
            "sys.sp_cdc_cleanup_change_table stored procedure, reset the threshold value "
            "associated "
            "with the job to a non-negative value by using the sp_cdc_change_job stored "
            "procedure.");
    if (lsn_is_zero(low_water_mark) && str_is_empty(instance)) {
        if (!mapping_at_age(mapping, sim_cdc_jobs(database).retention_minutes * MINUTE_US,
                            mark_out))
            *is_idle_out = true;
    } else if (!str_is_empty(instance)) {
        if (!mark_of_procedure(cdc, mapping, instance, low_water_mark, mark_out, error))
            return false;
    } else if (!mapping_lowered(mapping, low_water_mark, mark_out)) {
        return sim_error(
            error, 22964,
            "LSN %s, specified as the new low end point for change table cleanup must represent "
            "the start_lsn value of a current entry in the cdc.lsn_time_mapping table. "
            "Choose an LSN value that satisfies this requirement.",
            lsn_format(low_water_mark).text);
    }
    return true;
}

bool sim_cdc_cleanup(SimDatabase *database, Str instance, Lsn low_water_mark, int64_t threshold,
                     SimError *error)
{
    Lsn  mark;
    bool is_idle;

    if (!choose_mark(database, instance, low_water_mark, threshold, &mark, &is_idle, error))
        return false;
    return is_idle || clean(database->cdc, instance, mark, threshold, error);
}

bool sim_cdc_cleanup_leniently(SimDatabase *database, Str instance, Lsn low_water_mark,
                               int64_t threshold, bool *has_failed_out, SimError *reason_out,
                               SimError *error)
{
    Lsn  mark;
    bool is_idle;

    *has_failed_out = false;
    if (!choose_mark(database, instance, low_water_mark, threshold, &mark, &is_idle, error))
        return false;
    *has_failed_out = !is_idle && !clean(database->cdc, instance, mark, threshold, reason_out);
    return true;
}
