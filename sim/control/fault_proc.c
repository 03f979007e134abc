/* fault_proc.c - tidesim.fault. */
#include "sim/session/front_internal.h"

/* In the order of its parameters. */
enum {
    ARG_ACTION,
    ARG_PATTERN,
    ARG_NUMBER,
    ARG_SEVERITY,
    ARG_STATE,
    ARG_TEXT,
    ARG_NTH,
    ARG_TIMES,
    ARG_MS,
    ARG_LOGIN,
    ARG_APP,
    ARG_SPID,
    ARG_AT,
    ARG_N,
    ARG_PROBABILITY,
    ARG_RATE,
    ARG_DEAF,
    ARG_DB
};

static bool action_is_missing(ProcCall *call)
{
    Buf names = buf_new(call->arena, 0);

    for (int i = 0; i < SIM_FAULT_ACTION_COUNT; i++) {
        Str name = sim_fault_action_name((SimFaultAction)i);
        buf_printf(&names, "%s%.*s", i == 0 ? "" : ", ", STR_ARG(name));
    }
    return sim_error(call->error, 50000, "fault needs @action, one of: %.*s, none.",
                     STR_ARG(buf_str(&names)));
}

static bool read_action(ProcCall *call, SimFault *fault)
{
    Str name;

    if (!proc_text(call, ARG_ACTION, &name)) return action_is_missing(call);
    for (int i = 0; i < SIM_FAULT_ACTION_COUNT; i++)
        if (sim_name_equal(name, sim_fault_action_name((SimFaultAction)i))) {
            fault->action = (SimFaultAction)i;
            return true;
        }
    return sim_not_supported(call->error, "the fault %.*s", STR_ARG(name));
}

static bool read_place(ProcCall *call, SimFault *fault)
{
    Str name;

    fault->place = fault->action == SIM_FAULT_LOGIN_ERROR ? SIM_AT_LOGIN : SIM_AT_STATEMENT;
    if (!proc_text(call, ARG_AT, &name)) return true;
    for (int i = 0; i < SIM_AT_COUNT; i++)
        if (sim_name_equal(name, sim_fault_place_name((SimFaultPlace)i))) {
            fault->place = (SimFaultPlace)i;
            return true;
        }
    return sim_not_supported(call->error, "a fault at %.*s", STR_ARG(name));
}

static bool read_numbers(ProcCall *call, SimFault *fault)
{
    int64_t number = 0, severity = 0, state = 0, session_id = 0, deaf = 0;

    fault->times = 1;
    if (!proc_i64(call, ARG_NUMBER, &number) || !proc_i64(call, ARG_SEVERITY, &severity) ||
        !proc_i64(call, ARG_STATE, &state) || !proc_i64(call, ARG_NTH, &fault->nth) ||
        !proc_i64(call, ARG_TIMES, &fault->times) || !proc_i64(call, ARG_MS, &fault->ms) ||
        !proc_i64(call, ARG_SPID, &session_id) || !proc_i64(call, ARG_N, &fault->n) ||
        !proc_i64(call, ARG_DEAF, &deaf) || !control_f64(call, ARG_PROBABILITY, &fault->chance) ||
        !control_f64(call, ARG_RATE, &fault->rate))
        return false;
    fault->number     = (int32_t)number;
    fault->severity   = (int32_t)severity;
    fault->state      = (int32_t)state;
    fault->session_id = (int32_t)session_id;
    fault->is_deaf    = deaf != 0;
    return true;
}

static bool end_faults(ProcCall *call)
{
    sim_control_clear_faults(call->session->server);
    return true;
}

bool control_fault(ProcCall *call)
{
    SimFault fault = {.action = SIM_FAULT_ERROR};
    Str      name;

    if (!control_need_sysadmin(call)) return false;
    if (proc_text(call, ARG_ACTION, &name) && sim_name_equal(name, STR("none")))
        return end_faults(call);
    if (!read_action(call, &fault) || !read_place(call, &fault) || !read_numbers(call, &fault))
        return false;
    (void)proc_text(call, ARG_PATTERN, &fault.pattern);
    (void)proc_text(call, ARG_TEXT, &fault.text);
    (void)proc_text(call, ARG_LOGIN, &fault.login);
    (void)proc_text(call, ARG_APP, &fault.app);
    (void)proc_text(call, ARG_DB, &fault.database);
    return sim_control_fault(call->session->server, &fault, call->error);
}
