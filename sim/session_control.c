/* session_control.c - the controls of sqlserver.md 2.17: clock, capture, faults, hooks on reads, statistics; as procedures of schema tidesim. */
#include "base/cancel.h"
#include "sim/catalog_internal.h"
#include "sim/function.h"
#include "sim/load.h"

/* --- a clock that may stand still --- */
typedef struct ControlClock {
    Clock           clock;
    Clock          *inner;
    atomic_bool     is_virtual;
    _Atomic int64_t utc_us;  /* when virtual */
    _Atomic int64_t base_ns; /* monotonic time when it became virtual, moved along */
} ControlClock;

static int64_t control_utc_us(Clock *clock)
{
    ControlClock *control = (ControlClock *)clock;
    return atomic_load(&control->is_virtual) ? atomic_load(&control->utc_us)
                                             : clock_utc_us(control->inner);
}

static int64_t control_monotonic_ns(Clock *clock)
{
    ControlClock *control = (ControlClock *)clock;
    return atomic_load(&control->is_virtual) ? atomic_load(&control->base_ns)
                                             : clock_monotonic_ns(control->inner);
}

/* Virtual time moves only when told, so a sleeper looks again now and then. */
static void control_sleep_until(Clock *clock, int64_t monotonic_ns, Cancel *cancel)
{
    ControlClock *control = (ControlClock *)clock;

    if (!atomic_load(&control->is_virtual)) {
        control->inner->sleep_until(control->inner, monotonic_ns, cancel);
        return;
    }
    while (atomic_load(&control->is_virtual) && atomic_load(&control->base_ns) < monotonic_ns &&
           !(cancel && cancel_is_requested(cancel)))
        clock_sleep_ms(control->inner, 2, cancel);
}

static void control_clock_close(Clock *clock)
{
    mem_free(clock);
}

Clock *control_clock_new(Clock *inner)
{
    ControlClock *control = mem_alloc(sizeof *control);

    control->clock = (Clock){control_utc_us, control_monotonic_ns, control_sleep_until,
                             control_clock_close};
    control->inner = inner;
    return &control->clock;
}

bool control_clock_is_virtual(Clock *clock)
{
    return atomic_load(&((ControlClock *)clock)->is_virtual);
}

void control_clock_set(Clock *clock, bool is_virtual, int64_t utc_us)
{
    ControlClock *control = (ControlClock *)clock;

    if (is_virtual && !atomic_load(&control->is_virtual)) {
        atomic_store(&control->base_ns, clock_monotonic_ns(control->inner));
        atomic_store(&control->utc_us, utc_us);
    } else if (is_virtual) {
        int64_t ahead = utc_us - atomic_load(&control->utc_us);
        if (ahead > 0) atomic_fetch_add(&control->base_ns, ahead * 1000);
        atomic_store(&control->utc_us, utc_us);
    }
    atomic_store(&control->is_virtual, is_virtual);
}

void control_front_close(Front *front)
{
    front->faults.count = front->hooks.count = 0;
}

/* --- waiting and killing --- */
bool session_sleep(SimSession *session, int64_t us, SimError *error)
{
    Clock  *clock = session->front->clock;
    int64_t until = clock_monotonic_ns(clock) + us * 1000;

    for (;;) {
        int64_t left = until - clock_monotonic_ns(clock);
        if (!session_alive(session, error)) return false;
        if (left <= 0) return true;
        int64_t ms = control_clock_is_virtual(clock) ? 2 : (left + 999999) / 1000000;
        (void)sim_waiter_wait(&session->waiter, ms);
    }
}

bool session_kill(Front *front, int32_t session_id)
{
    bool found = false;

    front_lock(front);
    for (SimSession *session = front->sessions; session; session = session->next) {
        if (session->id != session_id) continue;
        atomic_store(&session->waiter.killed, true);
        sim_waiter_wake(&session->waiter);
        if (session->on_kill) session->on_kill(session->on_kill_arg);
        found = true;
    }
    front_unlock(front);
    return found;
}

/* --- faults --- */
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

static bool fault_matches(Fault *fault, Str text, Str login, Str app)
{
    if (fault->times == 0) return false;
    if (!str_is_empty(fault->login) && !sim_name_equal(fault->login, login)) return false;
    if (!str_is_empty(fault->app) && !sim_name_equal(fault->app, app)) return false;
    if (!str_is_empty(fault->pattern) && !like(text, fault->pattern)) return false;
    if (fault->nth > 1) {
        fault->nth--;
        return false;
    }
    if (fault->times > 0) fault->times--;
    return true;
}

static bool take_fault(Front *front, Str text, Str login, Str app, bool is_login, Fault *out)
{
    bool found = false;

    if (atomic_load(&front->fault_count) == 0) return false;
    front_lock(front);
    for (size_t i = 0; i < front->faults.count && !found; i++) {
        Fault *fault = &front->faults.items[i];
        if (str_equal_c(fault->action, "login_error") != is_login) continue;
        found = fault_matches(fault, text, login, app);
        if (found) *out = *fault;
    }
    front_unlock(front);
    return found;
}

static bool fault_error(const Fault *fault, int32_t number, SimError *error)
{
    sim_error(error, number, "%.*s",
              STR_ARG(str_is_empty(fault->text) ? STR("An injected error.") : fault->text));
    if (fault->severity > 0) error->severity = (uint8_t)fault->severity;
    if (fault->state > 0) error->state = (uint8_t)fault->state;
    if (error->severity >= 20) error->ends_batch = true;
    return false;
}

bool control_login(Front *front, const SimLoginRequest *login, SimError *error)
{
    Fault fault;

    if (!take_fault(front, STR_EMPTY, login->user, login->app_name, true, &fault)) return true;
    return fault_error(&fault, fault.number, error);
}

bool control_statement(SimSession *session, const Stmt *stmt, SimError *error)
{
    Fault fault;

    if (session->is_in_control || !take_fault(session->front, stmt->source, session->login.name,
                                              session->app_name, false, &fault))
        return true;
    if (str_equal_c(fault.action, "stall"))
        return session_sleep(session, fault.stall_ms * 1000, error);
    if (str_equal_c(fault.action, "kill")) {
        atomic_store(&session->waiter.killed, true);
        return session_alive(session, error);
    }
    if (str_equal_c(fault.action, "close")) {
        session->close_wanted = session->sink_failed = true;
        return session_alive(session, error);
    }
    if (str_equal_c(fault.action, "deadlock")) {
        sim_error(error, 1205,
                  "Transaction (Process ID %d) was deadlocked on lock resources with another "
                  "process and has been chosen as the deadlock victim. Rerun the "
                  "transaction.",
                  session->id);
        error->severity   = 13;
        error->ends_batch = error->rolls_back = true;
        return false;
    }
    return fault_error(&fault, fault.number, error);
}

/* --- hooks on reads --- */
static bool sink_nothing_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    (void)sink;
    (void)columns;
    (void)count;
    return true;
}
static bool sink_nothing_row(SimSink *sink, const SimValue *values, size_t count)
{
    (void)sink;
    (void)values;
    (void)count;
    return true;
}
typedef struct HookSink {
    SimSink  sink;
    SimError error; /* the first */
} HookSink;
static bool sink_first_error(SimSink *sink, const SimError *message)
{
    HookSink *hook = (HookSink *)sink;
    if (message->severity > 10 && hook->error.number == 0) hook->error = *message;
    return true;
}
static bool sink_nothing_done(SimSink *sink, const SimDone *done)
{
    (void)sink;
    (void)done;
    return true;
}

/* Runs text in a session of its own, as a sysadmin, in the reader's database. */
static bool run_aside(SimSession *session, Str sql, SimError *error)
{
    Front      *front   = session->front;
    HookSink    sink    = {.sink = {.columns = sink_nothing_columns,
                                    .row     = sink_nothing_row,
                                    .message = sink_first_error,
                                    .done    = sink_nothing_done}};
    SimSession *aside   = mem_alloc(sizeof *aside);
    SimError    ignored = SIM_ERROR_INIT;

    aside->server         = session->server;
    aside->front          = front;
    aside->arena          = arena_new();
    aside->login          = (SimLogin){STR("sa"), true};
    aside->waiter.wake    = queue_new(sim_server_sched(session->server), 1);
    aside->prepared       = map_new();
    aside->context        = map_new();
    aside->is_in_control  = true;
    aside->next_handle    = 1;
    aside->scope_identity = aside->identity = sim_null(sim_type_decimal(38, 0));
    options_default(&aside->options, true);
    aside->login_options = aside->options;
    session_use_options(aside);
    front_lock(front);
    aside->id                = front->next_id++;
    aside->waiter.session_id = aside->id;
    aside->next              = front->sessions;
    front->sessions          = aside;
    front_unlock(front);
    bool ok = session_use_database(aside, sim_database_name(session->database), &ignored);
    aside->login_database = aside->database;
    frame_push(aside, false);
    ok = ok && sim_session_batch(aside, sql, &sink.sink) && sink.error.number == 0;
    sim_session_close(aside);
    if (!ok && sink.error.number != 0) *error = sink.error;
    return ok || error->number != 0 ? ok : sim_error(error, 50000, "The text of on_read failed.");
}

bool control_scan(SimSession *session, SimTable *table, const char *when, int64_t rows,
                  SimError *error)
{
    Front *front = session->front;
    Str    sql   = STR_EMPTY;

    if (session->is_in_control || atomic_load(&front->hook_count) == 0) return true;
    Arena              *arena = arena_new();
    const SimTableInfo *info  = sim_table_info(table);
    Str full = str_printf(arena, "%.*s.%.*s", STR_ARG(info->schema), STR_ARG(info->name));
    front_lock(front);
    for (size_t i = 0; i < front->hooks.count; i++) {
        ReadHook *hook = &front->hooks.items[i];
        if (hook->is_done || !str_equal(hook->when, str_from_c(when)) || rows < hook->rows)
            continue;
        if (!sim_name_equal(hook->object, full) && !sim_name_equal(hook->object, info->name))
            continue;
        if (!str_is_empty(hook->login) && !sim_name_equal(hook->login, session->login.name))
            continue;
        hook->is_done = true;
        atomic_fetch_sub(&front->hook_count, 1);
        sql = hook->sql;
        break;
    }
    front_unlock(front);
    arena_close(arena);
    return str_is_empty(sql) || run_aside(session, sql, error);
}

void control_trace(SimSession *session, Str text, const ProcArg *args, size_t count)
{
    Front *front = session->front;

    (void)args;
    if (!front->traces || session->is_in_control) return;
    front_lock(front);
    *LIST_PUSH(front->arena, &front->trace) = str_printf(front->arena, "%d: %.*s%s", session->id,
                                                         STR_ARG(text), count ? " ..." : "");
    front_unlock(front);
}

/* --- procedures --- */
static bool need_sysadmin(ProcCall *call)
{
    return call->session->login.is_sysadmin ||
           sim_error(call->error, 229,
                     "The EXECUTE permission was denied on the object '%.*s', database 'master', "
                     "schema 'tidesim'.",
                     STR_ARG(call->name));
}

static SimDatabase *database_arg(ProcCall *call, size_t index)
{
    Str name;

    if (!need_sysadmin(call)) return NULL;
    if (!proc_text(call, index, &name)) return call->session->database;
    SimDatabase *database = sim_server_find_database(call->session->server, name);
    if (!database)
        sim_error(call->error, 911,
                  "Database '%.*s' does not exist. Make sure that the name is entered correctly.",
                  STR_ARG(name));
    return database;
}

static bool kept_text(ProcCall *call, size_t index, Str *out)
{
    Str text;

    *out = STR_EMPTY;
    if (!proc_text(call, index, &text)) return false;
    *out = str_copy(call->session->front->arena, text);
    return true;
}

static bool control_time(ProcCall *call, size_t index, int64_t *out)
{
    SimType         type  = sim_type_time(SIM_DATETIME2, 7);
    const SimValue *value = proc_arg(call, index);
    SimValue        time;

    if (!value || value->is_null) return true;
    if (!sim_convert(value, &type, 0, true, call->arena, &time, call->error)) return false;
    *out = sim_time_to_us(&time);
    return true;
}

static bool control_clock(ProcCall *call)
{
    Front  *front = call->session->front;
    int64_t start = clock_utc_us(front->clock);
    Str     mode;

    if (!need_sysadmin(call) || !control_time(call, 1, &start)) return false;
    bool is_virtual = !proc_text(call, 0, &mode) || !sim_name_equal(mode, STR("real"));
    control_clock_set(front->clock, is_virtual, start);
    return true;
}

static bool control_clock_set_to(ProcCall *call)
{
    int64_t time = 0;

    if (!need_sysadmin(call) || !control_time(call, 0, &time)) return false;
    control_clock_set(call->session->front->clock, true, time);
    return true;
}

static bool control_clock_advance(ProcCall *call)
{
    Clock  *clock = call->session->front->clock;
    int64_t ms    = 0;

    if (!need_sysadmin(call) || !proc_i64(call, 0, &ms)) return false;
    control_clock_set(clock, true, clock_utc_us(clock) + ms * 1000);
    return true;
}

static bool control_zone(ProcCall *call)
{
    Str name;

    if (!need_sysadmin(call)) return false;
    (void)proc_text(call, 0, &name);
    if (sim_server_set_zone(call->session->server, name)) return true;
    return sim_error(call->error, 9820,
                     "The time zone parameter '%.*s' provided to AT TIME ZONE clause is invalid.",
                     STR_ARG(name));
}

static bool control_capture_mode(ProcCall *call)
{
    SimDatabase *database = database_arg(call, 0);
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

static bool control_scan_now(ProcCall *call)
{
    static const ResultSpec specs[]      = {{"transactions", "bigint"}, {"rows", "bigint"}};
    SimDatabase            *database     = database_arg(call, 0);
    int64_t                 transactions = 0, rows = 0;

    if (!database || !sim_cdc_scan_now(database, &transactions, &rows, call->error)) return false;
    SimValue row[] = {value_bigint(transactions), value_bigint(rows)};
    return proc_columns(call, specs, COUNT_OF(specs)) && proc_row(call, row, COUNT_OF(row)) &&
           proc_done(call, 1);
}

static bool control_idle_now(ProcCall *call)
{
    SimDatabase *database = database_arg(call, 0);
    return database && sim_cdc_idle_now(database, call->error);
}

static bool control_cleanup_now(ProcCall *call)
{
    SimDatabase *database = database_arg(call, 0);
    return database && sim_cdc_cleanup(database, STR_EMPTY, LSN_ZERO, 5000, call->error);
}

static bool control_sleep(ProcCall *call)
{
    int64_t ms = 0;
    return proc_i64(call, 0, &ms) && session_sleep(call->session, ms * 1000, call->error);
}

static bool control_wait_captured(ProcCall *call)
{
    SimDatabase    *database = database_arg(call, 0);
    SimType         type     = sim_type_sized(SIM_BINARY, LSN_BYTES);
    SimValue        value;
    Lsn             wanted     = LSN_ZERO, reached;
    int64_t         timeout_ms = 30000;
    const SimValue *given      = proc_arg(call, 1);

    if (!database || !proc_i64(call, 2, &timeout_ms)) return false;
    if (given && !given->is_null &&
        (!sim_convert(given, &type, 1, false, call->arena, &value, call->error) ||
         !lsn_from_bytes(value.bytes, &wanted)))
        return false;
    for (int64_t waited = 0; waited <= timeout_ms; waited += 5) {
        if (sim_cdc_max_lsn(database, &reached) && lsn_compare(reached, wanted) >= 0) return true;
        if (!session_sleep(call->session, 5000, call->error)) return false;
    }
    return sim_error(call->error, 50000, "Capture did not reach the LSN in time.");
}

static bool control_stats(ProcCall *call)
{
    static const ResultSpec specs[] = {
        {"scope", "varchar(10)"}, {"rows_examined", "bigint"}, {"rows_returned", "bigint"},
        {"seeks", "bigint"},      {"scans", "bigint"},         {"lock_waits", "bigint"},
        {"bytes_sent", "bigint"}, {"blocked_ns", "bigint"},    {"statements", "bigint"}};
    SimSession *self = call->session, *found = NULL;
    int64_t     id = self->id;
    SimStats    stats[2];

    if (!proc_i64(call, 0, &id) || (id != self->id && !need_sysadmin(call))) return false;
    front_lock(self->front);
    for (SimSession *session = self->front->sessions; session; session = session->next)
        if (session->id == id) {
            found           = session;
            bool self_asked = session == self;
            stats[0]        = self_asked ? sim_session_stats(session, true)
                                         : session->public.statement_stats;
            stats[1] = self_asked ? sim_session_stats(session, false) : session->public.stats;
        }
    front_unlock(self->front);
    if (!found)
        return sim_error(call->error, 6106, "Process ID %lld is not an active process ID.",
                         (long long)id);
    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < 2; i++) {
        SimValue row[] = {value_text(call->arena, i ? STR("total") : STR("last")),
                          value_bigint(stats[i].rows_examined),
                          value_bigint(stats[i].rows_returned),
                          value_bigint(stats[i].seeks),
                          value_bigint(stats[i].scans),
                          value_bigint(stats[i].lock_waits),
                          value_bigint(stats[i].bytes_sent),
                          value_bigint(stats[i].blocked_ns),
                          value_bigint(stats[i].statements)};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
    }
    return proc_done(call, 2);
}

static bool control_on_read(ProcCall *call)
{
    Front   *front = call->session->front;
    ReadHook hook  = {.when = STR("before")};
    Str      when;

    if (!need_sysadmin(call)) return false;
    if (!kept_text(call, 0, &hook.object) || !kept_text(call, 1, &hook.sql))
        return sim_error(call->error, 50000, "on_read needs @object and @sql.");
    if (kept_text(call, 2, &when) && !sim_name_equal(when, STR("before")))
        return sim_not_supported(call->error, "on_read %.*s", STR_ARG(when));
    (void)kept_text(call, 4, &hook.login);
    front_lock(front);
    *LIST_PUSH(front->arena, &front->hooks) = hook;
    atomic_fetch_add(&front->hook_count, 1);
    front_unlock(front);
    return true;
}

static bool control_fault(ProcCall *call)
{
    Front  *front  = call->session->front;
    Fault   fault  = {.times = 1};
    int64_t number = 0, severity = 0, state = 0;

    if (!need_sysadmin(call)) return false;
    if (!kept_text(call, 0, &fault.action))
        return sim_error(
            call->error, 50000,
            "fault needs @action: error, deadlock, close, kill, stall or login_error.");
    static const char *const actions[] = {"error", "deadlock", "close",
                                          "kill",  "stall",    "login_error"};
    bool                     known     = false;
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        known |= str_equal_c(fault.action, actions[i]);
    if (!known) return sim_not_supported(call->error, "the fault %.*s", STR_ARG(fault.action));
    (void)kept_text(call, 1, &fault.pattern);
    (void)kept_text(call, 5, &fault.text);
    (void)kept_text(call, 9, &fault.login);
    (void)kept_text(call, 10, &fault.app);
    if (!proc_i64(call, 2, &number) || !proc_i64(call, 3, &severity) ||
        !proc_i64(call, 4, &state) || !proc_i64(call, 6, &fault.nth) ||
        !proc_i64(call, 7, &fault.times) || !proc_i64(call, 8, &fault.stall_ms))
        return false;
    fault.number   = (int32_t)number;
    fault.severity = (int)severity;
    fault.state    = (int)state;
    front_lock(front);
    *LIST_PUSH(front->arena, &front->faults) = fault;
    atomic_fetch_add(&front->fault_count, 1);
    front_unlock(front);
    return true;
}

static bool control_trace_proc(ProcCall *call)
{
    static const ResultSpec specs[] = {{"line", "nvarchar(max)"}};
    Front                  *front   = call->session->front;
    Str                     mode;

    if (!need_sysadmin(call)) return false;
    if (proc_text(call, 0, &mode)) {
        front->traces = !sim_name_equal(mode, STR("off"));
        return true;
    }
    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < front->trace.count; i++) {
        SimValue row[] = {value_text(call->arena, front->trace.items[i])};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
    }
    return proc_done(call, (int64_t)front->trace.count);
}

/* Drops every database that is not the server's own, and every fault and hook. */
static bool control_reset(ProcCall *call)
{
    SimSession  *session  = call->session;
    Front       *front    = session->front;
    SimDatabase *database = NULL, *found = NULL;

    if (!need_sysadmin(call)) return false;
    if (!session_use_database(session, STR("master"), call->error)) return false;
    session->login_database = session->database;
    do {
        size_t at = 0;
        found     = NULL;
        while (!found && sim_server_next_database(session->server, &at, &database))
            if (!sim_database_is_system(database)) found = database;
        if (found && !sim_drop_database(session->server, sim_database_name(found), call->error))
            return false;
    } while (found);
    front_lock(front);
    front->faults.count = front->hooks.count = front->trace.count = 0;
    atomic_store(&front->fault_count, 0);
    atomic_store(&front->hook_count, 0);
    front_unlock(front);
    return true;
}

/* --- a pause inside cleanup --- */
typedef struct CleanupPause {
    Front *front;
    Str    where, sql;
    Str    database;
} CleanupPause;

static void cleanup_hook(void *arg, const char *where)
{
    CleanupPause *pause   = arg;
    SimSession    reader  = {.server = pause->front->server, .front = pause->front};
    SimError      ignored = SIM_ERROR_INIT;

    if (!str_equal(pause->where, str_from_c(where)) || str_is_empty(pause->sql)) return;
    Str sql         = pause->sql;
    pause->sql      = STR_EMPTY; /* once */
    reader.database = sim_server_find_database(pause->front->server, pause->database);
    if (reader.database) (void)run_aside(&reader, sql, &ignored);
}

static bool control_cleanup_pause(ProcCall *call)
{
    Front        *front    = call->session->front;
    CleanupPause *pause    = ARENA_NEW(front->arena, CleanupPause);
    SimDatabase  *database = database_arg(call, 2);

    if (!database) return false;
    pause->front    = front;
    pause->database = sim_database_name(database);
    (void)kept_text(call, 0, &pause->where);
    (void)kept_text(call, 1, &pause->sql);
    sim_cdc_set_cleanup_hook(database, cleanup_hook, pause);
    return true;
}

static bool control_load(ProcCall *call)
{
    SimDatabase *database = database_arg(call, 1);
    Str          folder;

    if (!database) return false;
    if (!proc_text(call, 0, &folder)) return sim_error(call->error, 50000, "load needs @folder.");
    return sim_load_folder(database, folder, call->error);
}

const ProcEntry control_procs[] = {
    {"load", control_load, "folder,db"},
    {"clock", control_clock, "mode,start"},
    {"clock_set", control_clock_set_to, "time"},
    {"clock_advance", control_clock_advance, "ms"},
    {"zone", control_zone, "windows_name"},
    {"capture_mode", control_capture_mode, "db,mode"},
    {"scan_now", control_scan_now, "db,maxtrans"},
    {"idle_now", control_idle_now, "db"},
    {"cleanup_now", control_cleanup_now, "db"},
    {"cleanup_pause", control_cleanup_pause, "where,sql,db"},
    {"wait_captured", control_wait_captured, "db,lsn,timeout"},
    {"stats", control_stats, "spid"},
    {"on_read", control_on_read, "object,sql,when,rows,login"},
    {"fault", control_fault, "action,pattern,number,severity,state,text,nth,times,ms,login,app"},
    {"trace", control_trace_proc, "mode"},
    {"sleep", control_sleep, "ms"},
    {"reset", control_reset, ""},
    {"synthetic", control_synthetic, "name,rows,profile,seed"},
    {NULL, NULL, NULL},
};
