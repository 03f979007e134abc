/* fault.c - faults: what they wait for and what they do (docs/tidesim-reference.md, "Faults"). */
#include "sim/function/function.h"
#include "sim/model/virtual_clock.h"
#include "sim/session/front_internal.h"

#include <string.h>

#define NS_PER_MS INT64_C(1000000)

static const char *const action_names[SIM_FAULT_ACTION_COUNT] = {
    [SIM_FAULT_ERROR]        = "error",
    [SIM_FAULT_DEADLOCK]     = "deadlock",
    [SIM_FAULT_CLOSE]        = "close",
    [SIM_FAULT_RESET]        = "rst",
    [SIM_FAULT_HALF_CLOSE]   = "half_close",
    [SIM_FAULT_STALL]        = "stall",
    [SIM_FAULT_KILL]         = "kill",
    [SIM_FAULT_LOGIN_ERROR]  = "login_error",
    [SIM_FAULT_SLOW_ROWS]    = "slow_rows",
    [SIM_FAULT_CAPTURE_STOP] = "capture_stop",
    [SIM_FAULT_LOSE_GRANT]   = "lose_grant",
};

static const char *const place_names[SIM_AT_COUNT] = {
    [SIM_AT_STATEMENT]  = "statement",
    [SIM_AT_ROW]        = "row",
    [SIM_AT_INSIDE_ROW] = "inside_row",
    [SIM_AT_BYTE]       = "byte",
    [SIM_AT_PACKET]     = "packet",
    [SIM_AT_LOGIN]      = "login",
    [SIM_AT_COMMIT]     = "commit",
    [SIM_AT_COMMITTED]  = "committed",
    [SIM_AT_SCAN]       = "scan",
};

Str sim_fault_action_name(SimFaultAction action)
{
    return str_from_c(action_names[action]);
}

Str sim_fault_place_name(SimFaultPlace place)
{
    return str_from_c(place_names[place]);
}

/* --- adding one --- */

/* Which places an action makes sense at. */
static bool fits(SimFaultAction action, SimFaultPlace place)
{
    bool is_on_wire = place == SIM_AT_BYTE || place == SIM_AT_PACKET;

    switch (action) {
    case SIM_FAULT_ERROR: return !is_on_wire && place != SIM_AT_INSIDE_ROW;
    case SIM_FAULT_DEADLOCK:
        return place == SIM_AT_STATEMENT || place == SIM_AT_ROW || place == SIM_AT_COMMIT;
    case SIM_FAULT_CLOSE:
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_CLOSE: return place != SIM_AT_SCAN;
    case SIM_FAULT_STALL: return true;
    case SIM_FAULT_KILL: return place != SIM_AT_SCAN && place != SIM_AT_LOGIN;
    case SIM_FAULT_LOGIN_ERROR: return place == SIM_AT_LOGIN;
    case SIM_FAULT_SLOW_ROWS: return place == SIM_AT_STATEMENT || place == SIM_AT_ROW;
    case SIM_FAULT_CAPTURE_STOP:
    case SIM_FAULT_LOSE_GRANT: return !is_on_wire && place != SIM_AT_INSIDE_ROW;
    case SIM_FAULT_ACTION_COUNT: break;
    }
    return false;
}

static bool is_revoke(Str text)
{
    Arena   *arena   = arena_new();
    StmtList stmts   = {0};
    SimError ignored = SIM_ERROR_INIT;
    bool     is_one  = sim_parse(text, true, arena, &stmts, &ignored) && stmts.count > 0;

    for (size_t i = 0; i < stmts.count; i++)
        is_one = is_one && stmts.items[i]->kind == STMT_GRANT &&
                 stmts.items[i]->grant != GRANT_GRANT;
    arena_close(arena);
    return is_one;
}

static bool check_fault(const SimFault *fault, SimError *error)
{
    if (!fits(fault->action, fault->place))
        return sim_not_supported(error, "the fault %s at %s", action_names[fault->action],
                                 place_names[fault->place]);
    if (fault->action == SIM_FAULT_SLOW_ROWS && !(fault->rate > 0))
        return sim_error(error, 50000, "slow_rows needs @rate, in rows a second.");
    if (fault->action == SIM_FAULT_STALL && fault->ms <= 0)
        return sim_error(error, 50000, "stall needs @ms, in milliseconds.");
    if (fault->action == SIM_FAULT_LOSE_GRANT && !is_revoke(fault->text))
        return sim_error(error, 50000, "lose_grant needs @text, a REVOKE or DENY.");
    return (fault->chance >= 0 && fault->chance <= 1) ||
           sim_error(error, 50000, "A probability lies between 0 and 1.");
}

bool sim_control_fault(SimServer *server, const SimFault *fault, SimError *error)
{
    Front *front = front_of(server);

    if (!check_fault(fault, error)) return false;
    front_lock(front);
    FaultEntry *entry     = LIST_PUSH(front->arena, &front->faults);
    entry->fault          = *fault;
    entry->fault.n        = MAX(fault->n, 1);
    entry->fault.pattern  = str_copy(front->arena, fault->pattern);
    entry->fault.login    = str_copy(front->arena, fault->login);
    entry->fault.app      = str_copy(front->arena, fault->app);
    entry->fault.database = str_copy(front->arena, fault->database);
    entry->fault.text     = str_copy(front->arena, fault->text);
    entry->id             = ++front->next_fault_id;
    entry->to_skip        = MAX(fault->nth, 1) - 1;
    entry->left           = fault->times == 0 ? 1 : fault->times;
    atomic_fetch_add(&front->fault_count, 1);
    front_unlock(front);
    return true;
}

void sim_control_clear_faults(SimServer *server)
{
    Front *front = front_of(server);

    front_lock(front);
    front->faults.count = 0;
    atomic_store(&front->fault_count, 0);
    front_unlock(front);
}

/* --- matching --- */

static bool like(Str text, Str pattern)
{
    Arena   *arena   = arena_new();
    bool     matches = false;
    SimError ignored = SIM_ERROR_INIT;
    SimValue value = value_text(arena, text), wanted = value_text(arena, pattern);

    if (!sim_like(&value, &wanted, NULL, NULL, arena, &matches, &ignored)) matches = false;
    arena_close(arena);
    return matches;
}

static bool same_or_any(Str wanted, Str name)
{
    return str_is_empty(wanted) || sim_name_equal(wanted, name);
}

/* Places inside a result begin where its statement does. */
static bool is_inside_result(SimFaultPlace place)
{
    return place == SIM_AT_ROW || place == SIM_AT_INSIDE_ROW || place == SIM_AT_BYTE ||
           place == SIM_AT_PACKET;
}

static bool begins_at(const SimFault *fault, SimFaultPlace place)
{
    return fault->place == place || (place == SIM_AT_STATEMENT && is_inside_result(fault->place));
}

static bool meets(Front *front, FaultEntry *entry, const FaultOccasion *occasion)
{
    const SimFault *fault = &entry->fault;

    if (entry->left == 0 || !begins_at(fault, occasion->place) ||
        (fault->session_id != 0 && fault->session_id != occasion->session_id) ||
        !same_or_any(fault->login, occasion->login) || !same_or_any(fault->app, occasion->app) ||
        !same_or_any(fault->database, occasion->database) ||
        (!str_is_empty(fault->pattern) && !like(occasion->text, fault->pattern)))
        return false;
    if (entry->to_skip > 0) {
        entry->to_skip--;
        return false;
    }
    return fault->chance == 0 || rng_double(front->chances) < fault->chance;
}

/* One that begins inside a result is spent when it gets there: spend_fault. */
bool fault_take(Front *front, const FaultOccasion *occasion, FaultEntry *out)
{
    bool found = false;

    if (atomic_load(&front->fault_count) == 0) return false;
    front_lock(front);
    for (size_t i = 0; i < front->faults.count && !found; i++) {
        FaultEntry *entry = &front->faults.items[i];
        found             = meets(front, entry, occasion);
        if (!found) continue;
        *out = *entry;
        if (entry->left > 0 && !is_inside_result(entry->fault.place)) entry->left--;
    }
    front_unlock(front);
    return found;
}

/* False: others have used it up meanwhile. */
static bool spend_fault(Front *front, uint64_t id)
{
    bool may = false;

    front_lock(front);
    for (size_t i = 0; i < front->faults.count; i++) {
        FaultEntry *entry = &front->faults.items[i];
        if (entry->id != id || entry->left == 0) continue;
        may = true;
        if (entry->left > 0) entry->left--;
    }
    front_unlock(front);
    return may;
}

/* --- what they do --- */

bool fault_error(const SimFault *fault, SimError *error)
{
    int32_t number = fault->number != 0 ? fault->number : 50000;

    sim_error(error, number, "%.*s",
              STR_ARG(str_is_empty(fault->text) ? STR("An injected error.") : fault->text));
    if (fault->severity > 0) error->severity = (uint8_t)fault->severity;
    if (fault->state > 0) error->state = (uint8_t)fault->state;
    if (error->severity >= 20) error->ends_batch = true;
    return false;
}

static bool deadlock(const SimSession *session, SimError *error)
{
    return sim_error(error, 1205,
                     "Transaction (Process ID %d) was deadlocked on lock resources with another "
                     "process and has been chosen as the deadlock victim. Rerun the transaction.",
                     session->id);
}

SimCut fault_cut(SimFaultAction action)
{
    return action == SIM_FAULT_RESET        ? SIM_CUT_RESET
           : action == SIM_FAULT_HALF_CLOSE ? SIM_CUT_SILENCE
                                            : SIM_CUT_CLOSE;
}

/* A session without a socket is as silent, until it is hung up on. */
static void be_silent(SimSession *session)
{
    while (!atomic_load(&session->is_gone) && !atomic_load(&session->waiter.killed))
        (void)sim_waiter_wait(&session->waiter, -1);
}

static bool cut(SimSession *session, SimFaultAction action, SimError *error)
{
    SimWire *wire = session->wire;

    if (wire)
        wire->cut(wire, fault_cut(action));
    else if (action == SIM_FAULT_HALF_CLOSE)
        be_silent(session);
    session->close_wanted = session->sink_failed = true;
    return session_alive(session, error);
}

static bool stall(SimSession *session, const SimFault *fault, SimError *error)
{
    Clock  *clock  = session->front->clock;
    int64_t due_ns = clock_monotonic_ns(clock) + fault->ms * NS_PER_MS;

    if (!fault->is_deaf) return session_sleep(session, fault->ms * 1000, error);
    while (clock_monotonic_ns(clock) < due_ns && !atomic_load(&session->is_gone) &&
           !atomic_load(&session->waiter.killed))
        (void)sim_waiter_wait_until(&session->waiter, clock, due_ns);
    return session_alive(session, error);
}

void fault_stop_capture(const SimFault *fault, SimDatabase *database)
{
    SimError failed = SIM_ERROR_INIT;

    (void)sim_error(&failed, fault->number != 0 ? fault->number : 22859, "%.*s",
                    STR_ARG(str_is_empty(fault->text)
                                ? STR("Log Scan process failed in processing log records.")
                                : fault->text));
    sim_cdc_fail(database, &failed);
}

static void flush(SimSession *session, size_t keep_bytes)
{
    if (session->wire) session->wire->flush(session->wire, keep_bytes);
}

/* True: go on as if nothing had been. */
static bool act(SimSession *session, const SimFault *fault, SimError *error)
{
    switch (fault->action) {
    case SIM_FAULT_ERROR: return fault_error(fault, error);
    case SIM_FAULT_DEADLOCK: return deadlock(session, error);
    case SIM_FAULT_CLOSE:
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_CLOSE: return cut(session, fault->action, error);
    case SIM_FAULT_STALL: return stall(session, fault, error);
    case SIM_FAULT_KILL:
        atomic_store(&session->waiter.killed, true);
        return session_alive(session, error);
    case SIM_FAULT_SLOW_ROWS:
        session->watch.row_pace_ns = (int64_t)(1e9 / fault->rate);
        session->watch.next_row_ns = clock_monotonic_ns(session->front->clock);
        return true;
    case SIM_FAULT_CAPTURE_STOP: fault_stop_capture(fault, session->database); return true;
    case SIM_FAULT_LOSE_GRANT:
        return aside_run(session->front, session, sim_database_name(session->database), fault->text,
                         error);
    case SIM_FAULT_LOGIN_ERROR:
    case SIM_FAULT_ACTION_COUNT: break;
    }
    return true;
}

/* --- statements --- */

static FaultOccasion occasion_of(const SimSession *session, SimFaultPlace place, Str text)
{
    return (FaultOccasion){.place      = place,
                           .text       = text,
                           .login      = session->login.name,
                           .app        = session->app_name,
                           .database   = sim_database_name(session->database),
                           .session_id = session->id};
}

static void watch_result(SimSession *session, const FaultEntry *entry)
{
    RowWatch *watch = &session->watch;

    watch->fault    = entry->fault;
    watch->fault_id = entry->id;
    watch->is_armed = true;
    watch->rows     = 0;
    if ((entry->fault.place == SIM_AT_BYTE || entry->fault.place == SIM_AT_PACKET) && session->wire)
        session->wire->watch(session->wire, entry->fault.place == SIM_AT_PACKET, entry->fault.n);
}

static bool meet_text(SimSession *session, Str text, SimError *error)
{
    FaultOccasion occasion = occasion_of(session, SIM_AT_STATEMENT, text);
    FaultEntry    entry;

    if (session->is_aside || !fault_take(session->front, &occasion, &entry)) return true;
    if (is_inside_result(entry.fault.place)) {
        watch_result(session, &entry);
        return true;
    }
    if (entry.fault.action != SIM_FAULT_SLOW_ROWS) flush(session, 0);
    return act(session, &entry.fault, error);
}

/* The controls themselves fail at nothing. */
bool control_statement(SimSession *session, const Stmt *stmt, SimError *error)
{
    if (stmt->kind == STMT_EXEC && sim_name_equal(stmt->object.schema, STR("tidesim"))) return true;
    return meet_text(session, stmt->source, error);
}

bool control_call(SimSession *session, const ObjectName *name, Str text, SimError *error)
{
    static const char *const run_text[] = {"sp_executesql",  "sp_execute",    "sp_prepare",
                                           "sp_prepexec",    "sp_unprepare",  "sp_cursoropen",
                                           "sp_cursorfetch", "sp_cursorclose"};

    if (sim_name_equal(name->schema, STR("tidesim"))) return true;
    for (size_t i = 0; i < COUNT_OF(run_text); i++) /* what these run is met by itself */
        if (sim_name_equal(name->name, str_from_c(run_text[i]))) return true;
    return meet_text(session, text, error);
}

/* --- rows --- */

static void fire(SimSession *session)
{
    RowWatch *watch = &session->watch;
    SimError  error = SIM_ERROR_INIT;

    watch->is_armed = false;
    if (!spend_fault(session->front, watch->fault_id) || act(session, &watch->fault, &error))
        return;
    if (error.number == SIM_ATTENTION || error.number == 596) return; /* session_alive tells */
    watch->pending     = error;
    watch->has_pending = true;
}

static void keep_pace(SimSession *session)
{
    RowWatch *watch   = &session->watch;
    SimError  ignored = SIM_ERROR_INIT; /* session_alive tells it again */
    int64_t   left_ns = watch->next_row_ns - clock_monotonic_ns(session->front->clock);

    watch->next_row_ns += watch->row_pace_ns;
    if (left_ns <= 0) return;
    flush(session, 0);
    (void)!session_sleep(session, left_ns / 1000, &ignored);
}

void control_rows(SimSession *session, bool is_before)
{
    RowWatch *watch = &session->watch;

    if (is_before) {
        if (watch->row_pace_ns > 0) keep_pace(session);
        return;
    }
    watch->rows++;
    if (!watch->is_armed || watch->rows != watch->fault.n) return;
    if (watch->fault.place == SIM_AT_ROW || watch->fault.place == SIM_AT_INSIDE_ROW) {
        flush(session, watch->fault.place == SIM_AT_INSIDE_ROW ? 1 : 0);
        fire(session);
    }
}

bool sim_session_watched(SimSession *session)
{
    if (session->watch.is_armed) fire(session);
    return !session->close_wanted;
}

/* --- commits and scans --- */

bool control_commit(SimSession *session, SimFaultPlace place, SimError *error)
{
    FaultOccasion occasion = occasion_of(session, place,
                                         session->stmt ? session->stmt->source : STR_EMPTY);
    FaultEntry    entry;

    if (session->is_aside || !fault_take(session->front, &occasion, &entry)) return true;
    if (session->sink) flush(session, 0);
    return act(session, &entry.fault, error);
}

/* By the server's clock, unless the server ends. */
static void stall_scan(Front *front, int64_t ms)
{
    int64_t due_ns = clock_monotonic_ns(front->clock) + ms * NS_PER_MS;

    while (clock_monotonic_ns(front->clock) < due_ns && !atomic_load(&front->is_closing))
        clock_sleep_ms(virtual_clock_inner(front->clock), 2, NULL);
}

bool control_scan_cycle(void *arg, SimDatabase *database, SimError *error)
{
    Front        *front    = arg;
    FaultOccasion occasion = {.place = SIM_AT_SCAN, .database = sim_database_name(database)};
    FaultEntry    entry;

    if (!fault_take(front, &occasion, &entry)) return true;
    switch (entry.fault.action) {
    case SIM_FAULT_ERROR: return fault_error(&entry.fault, error);
    case SIM_FAULT_STALL: stall_scan(front, entry.fault.ms); return true;
    case SIM_FAULT_CAPTURE_STOP: fault_stop_capture(&entry.fault, database); return true;
    case SIM_FAULT_LOSE_GRANT:
        return aside_run(front, NULL, sim_database_name(database), entry.fault.text, error);
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_CLOSE:
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_CLOSE:
    case SIM_FAULT_KILL:
    case SIM_FAULT_LOGIN_ERROR:
    case SIM_FAULT_SLOW_ROWS:
    case SIM_FAULT_ACTION_COUNT: break; /* check_fault let none of them in */
    }
    return true;
}
