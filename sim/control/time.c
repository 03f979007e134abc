/* time.c - the verbs about time, chance and knobs. */
#include "sim/model/virtual_clock.h"
#include "sim/session/front_internal.h"

#include <assert.h>

#define NS_PER_US INT64_C(1000)

/* --- from C --- */

void sim_control_clock_stop(SimServer *server, int64_t utc_us)
{
    virtual_clock_stop(sim_server_clock(server), utc_us);
}

void sim_control_clock_go(SimServer *server)
{
    virtual_clock_go(sim_server_clock(server));
}

void sim_control_clock_advance(SimServer *server, int64_t us)
{
    Clock *clock = sim_server_clock(server);

    virtual_clock_stop(clock, clock_utc_us(clock) + us);
}

/* --- waiting --- */

bool session_sleep(SimSession *session, int64_t us, SimError *error)
{
    Clock  *clock  = session->front->clock;
    int64_t now_ns = clock_monotonic_ns(clock);
    int64_t due_ns = now_ns + us * NS_PER_US;
    bool    alive;

    atomic_store(&session->waiter.blocking_session_id, 0);
    atomic_store(&session->waiter.wait_start_ns, now_ns);
    atomic_store(&session->waiter.wait_type, "WAITFOR");
    while ((alive = session_alive(session, error)) && clock_monotonic_ns(clock) < due_ns)
        (void)sim_waiter_wait_until(&session->waiter, clock, due_ns);
    atomic_store(&session->waiter.wait_type, NULL);
    return alive;
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

/* --- procedures --- */

static bool time_arg(ProcCall *call, size_t index, int64_t *utc_us_out)
{
    SimType         type  = sim_type_time(SIM_DATETIME2, 7);
    const SimValue *value = proc_arg(call, index);
    SimValue        time;

    if (!value || value->is_null) return true;
    if (!sim_convert(value, &type, 0, true, call->arena, &time, call->error)) return false;
    *utc_us_out = sim_time_to_us(&time);
    return true;
}

bool control_clock(ProcCall *call)
{
    SimServer *server = call->session->server;
    int64_t    start  = clock_utc_us(sim_server_clock(server));
    Str        mode;

    if (!control_need_sysadmin(call) || !time_arg(call, 1, &start)) return false;
    if (!proc_text(call, 0, &mode)) mode = STR("virtual");
    if (sim_name_equal(mode, STR("real"))) {
        sim_control_clock_go(server);
        return true;
    }
    if (!sim_name_equal(mode, STR("virtual")))
        return sim_error(call->error, 50000, "A clock is real or virtual.");
    sim_control_clock_stop(server, start);
    return true;
}

bool control_clock_set(ProcCall *call)
{
    int64_t time = INT64_MIN;

    if (!control_need_sysadmin(call) || !time_arg(call, 0, &time)) return false;
    if (time == INT64_MIN) return sim_error(call->error, 50000, "clock_set needs @time.");
    sim_control_clock_stop(call->session->server, time);
    return true;
}

bool control_clock_advance(ProcCall *call)
{
    int64_t ms = 0;

    if (!control_need_sysadmin(call) || !proc_i64(call, 0, &ms)) return false;
    sim_control_clock_advance(call->session->server, ms * 1000);
    return true;
}

bool control_zone(ProcCall *call)
{
    Str name;

    if (!control_need_sysadmin(call)) return false;
    (void)proc_text(call, 0, &name);
    if (sim_server_set_zone(call->session->server, name)) return true;
    return sim_error(call->error, 9820,
                     "The time zone parameter '%.*s' provided to AT TIME ZONE clause is invalid.",
                     STR_ARG(name));
}

bool control_seed(ProcCall *call)
{
    int64_t seed = 0;

    if (!control_need_sysadmin(call) || !proc_i64(call, 0, &seed)) return false;
    sim_server_seed(call->session->server, (uint64_t)seed);
    return true;
}

bool control_sleep(ProcCall *call)
{
    int64_t ms = 0;
    return proc_i64(call, 0, &ms) && session_sleep(call->session, ms * 1000, call->error);
}

static bool list_knobs(ProcCall *call)
{
    static const ResultSpec columns[] = {
        {"name", "varchar(40)"}, {"value", "varchar(40)"}, {"allowed", "varchar(80)"}};

    if (!proc_columns(call, columns, COUNT_OF(columns))) return false;
    for (int i = 0; i < SIM_KNOB_COUNT; i++) {
        const SimKnobSpec *spec = sim_knob_spec((SimKnob)i);
        Str value = sim_knob_format((SimKnob)i, sim_server_knob(call->session->server, (SimKnob)i),
                                    call->arena);
        SimValue row[] = {value_text(call->arena, str_from_c(spec->name)),
                          value_text(call->arena, value),
                          value_text(call->arena, str_from_c(spec->values))};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
    }
    return proc_done(call, SIM_KNOB_COUNT);
}

bool control_knob(ProcCall *call)
{
    SimKnob knob;
    Str     name, text;
    int64_t value;

    if (!control_need_sysadmin(call)) return false;
    if (!proc_text(call, 0, &name)) return list_knobs(call);
    if (!sim_knob_find(name, &knob))
        return sim_error(call->error, 50000, "There is no knob %.*s.", STR_ARG(name));
    if (!proc_text(call, 1, &text) || !sim_knob_parse(knob, text, &value))
        return sim_error(call->error, 50000, "The knob %.*s takes %s.", STR_ARG(name),
                         sim_knob_spec(knob)->values);
    sim_server_set_knob(call->session->server, knob, value);
    return true;
}
