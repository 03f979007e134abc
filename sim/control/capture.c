/* capture.c - the verbs about capture and cleanup. */
#include "sim/session/front_internal.h"

#define NS_PER_MS       INT64_C(1000000)
#define WAIT_MS_DEFAULT 30000

/* --- waiting for capture --- */

static bool has_passed(SimDatabase *database, const SimCaptureGoal *goal)
{
    Lsn reached;

    if (goal->is_all) return !sim_cdc_is_waiting(database, goal->lsn);
    if (goal->has_time)
        return sim_cdc_map_time_to_lsn(database, SIM_SMALLEST_GREATER_OR_EQUAL, &goal->time,
                                       &reached);
    return sim_cdc_max_lsn(database, &reached) && lsn_compare(reached, goal->lsn) >= 0;
}

bool sim_control_wait_captured(SimSession *session, SimDatabase *database,
                               const SimCaptureGoal *goal, int64_t timeout_ms, SimError *error)
{
    Clock      *clock  = session->front->clock;
    int64_t     due_ns = clock_monotonic_ns(clock) + timeout_ms * NS_PER_MS;
    CaptureWait wait   = {.waiter = &session->waiter};
    bool        ok     = false;

    sim_cdc_wait_begin(database, &wait);
    while (session_alive(session, error)) {
        ok = has_passed(database, goal);
        if (!ok && clock_monotonic_ns(clock) >= due_ns)
            (void)sim_error(error, 50000, "Capture did not get there in time.");
        if (ok || error->number != 0) break;
        (void)sim_waiter_wait_until(&session->waiter, clock, due_ns);
    }
    sim_cdc_wait_end(database, &wait);
    return ok;
}

/* --- procedures --- */

bool control_capture_mode(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 0);
    Str          mode;

    if (!database) return false;
    (void)proc_text(call, 1, &mode);
    SimCaptureMode wanted = sim_name_equal(mode, STR("manual"))   ? SIM_CAPTURE_MANUAL
                            : sim_name_equal(mode, STR("paused")) ? SIM_CAPTURE_PAUSED
                                                                  : SIM_CAPTURE_AUTO;
    if (wanted == SIM_CAPTURE_AUTO && !sim_name_equal(mode, STR("auto")))
        return sim_error(call->error, 50000, "The modes are auto, manual and paused.");
    return sim_cdc_set_mode(database, wanted) ||
           sim_error(call->error, 22901, "The database is not enabled for Change Data Capture.");
}

bool control_secondary(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 0);
    int64_t      lag_ms   = 0;

    if (!database || !proc_i64(call, 1, &lag_ms)) return false;
    sim_database_set_secondary(database, lag_ms);
    return true;
}

bool control_capture_latency(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 0);
    int64_t      min_ms = 0, max_ms = -1;

    if (!database || !proc_i64(call, 1, &min_ms) || !proc_i64(call, 2, &max_ms)) return false;
    if (max_ms < 0) max_ms = min_ms;
    if (min_ms < 0 || max_ms < min_ms)
        return sim_error(call->error, 50000,
                         "A latency is @min and @max milliseconds, @max not less.");
    sim_cdc_set_latency(database, min_ms, max_ms);
    return true;
}

bool control_scan_now(ProcCall *call)
{
    static const ResultSpec specs[]      = {{"transactions", "bigint"}, {"rows", "bigint"}};
    SimDatabase            *database     = control_database_arg(call, 0);
    int64_t                 transactions = 0, rows = 0, most = 0;
    bool                    ok;

    if (!database || !proc_i64(call, 1, &most)) return false;
    if (most < 0) return sim_error(call->error, 50000, "@maxtrans is a number of transactions.");
    ok = most > 0 ? sim_cdc_scan(database, most, 1, &transactions, &rows, call->error)
                  : sim_cdc_scan_now(database, &transactions, &rows, call->error);
    if (!ok) return false;
    SimValue row[] = {value_bigint(transactions), value_bigint(rows)};
    return proc_columns(call, specs, COUNT_OF(specs)) && proc_row(call, row, COUNT_OF(row)) &&
           proc_done(call, 1);
}

bool control_idle_now(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 0);
    return database && sim_cdc_idle_now(database, call->error);
}

bool control_idle_interval(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 0);
    int64_t      seconds  = 0;

    if (!database || !proc_i64(call, 1, &seconds)) return false;
    if (seconds <= 0) return sim_error(call->error, 50000, "idle_interval needs @s, in seconds.");
    sim_cdc_set_idle_interval(database, seconds * 1000);
    return true;
}

bool control_cleanup_now(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 0);
    return database && sim_cdc_cleanup(database, STR_EMPTY, LSN_ZERO, 5000, call->error);
}

bool control_wait_captured(ProcCall *call)
{
    SimDatabase    *database   = control_database_arg(call, 0);
    SimType         binary     = sim_type_sized(SIM_BINARY, LSN_BYTES);
    SimType         datetime   = sim_type(SIM_DATETIME);
    SimCaptureGoal  goal       = {.lsn = LSN_ZERO};
    int64_t         timeout_ms = WAIT_MS_DEFAULT;
    const SimValue *lsn = proc_arg(call, 1), *time = proc_arg(call, 3);
    SimValue        value;

    if (!database || !proc_i64(call, 2, &timeout_ms)) return false;
    if (lsn && !lsn->is_null &&
        (!sim_convert(lsn, &binary, 1, false, call->arena, &value, call->error) ||
         !lsn_from_bytes(value.bytes, &goal.lsn)))
        return false;
    if ((!lsn || lsn->is_null) && (!time || time->is_null)) {
        if (!sim_cdc_is_enabled(database))
            return sim_error(call->error, 22901,
                             "The database is not enabled for Change Data Capture.");
        goal.is_all = true;
        goal.lsn    = sim_cdc_newest_waiting(database);
    }
    if (time && !time->is_null) {
        goal.has_time = true;
        if (!sim_convert(time, &datetime, 0, true, call->arena, &goal.time, call->error))
            return false;
    }
    return sim_control_wait_captured(call->session, database, &goal, timeout_ms, call->error);
}

/* --- a pause inside cleanup --- */

typedef struct CleanupPause {
    Front *front;
    Str    where, sql, database;
    bool   is_done;
} CleanupPause;

static void run_in_cleanup(void *arg, const char *where)
{
    CleanupPause *pause   = arg;
    SimError      ignored = SIM_ERROR_INIT;

    if (pause->is_done || !str_equal(pause->where, str_from_c(where))) return;
    pause->is_done = true;
    (void)!aside_run(pause->front, NULL, pause->database, pause->sql, &ignored);
}

bool control_cleanup_pause(ProcCall *call)
{
    Front        *front    = call->session->front;
    SimDatabase  *database = control_database_arg(call, 2);
    CleanupPause *pause;
    Str           where, sql;

    if (!database) return false;
    if (!proc_text(call, 0, &where) || !proc_text(call, 1, &sql) ||
        (!sim_name_equal(where, STR("after_mark")) &&
         !sim_name_equal(where, STR("between_batches"))))
        return sim_error(call->error, 50000,
                         "cleanup_pause needs @where (after_mark or between_batches) and @sql.");
    front_lock(front);
    pause           = ARENA_NEW(front->arena, CleanupPause);
    pause->front    = front;
    pause->where    = str_lower_ascii(front->arena, where);
    pause->sql      = str_copy(front->arena, sql);
    pause->database = str_copy(front->arena, sim_database_name(database));
    front_unlock(front);
    sim_cdc_set_cleanup_hook(database, run_in_cleanup, pause);
    return true;
}
