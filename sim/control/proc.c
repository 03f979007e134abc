/* proc.c - the procedures of schema tidesim: what they are called and who may; and reset, which undoes them all. */
#include "sim/capture/load.h"
#include "sim/model/virtual_clock.h"
#include "sim/session/front_internal.h"

#define GONE_ROUNDS 2500 /* of LOOK_MS: how long reset waits for others to leave */
#define LOOK_MS     2

bool control_need_sysadmin(ProcCall *call)
{
    return call->session->login.is_sysadmin ||
           sim_error(call->error, 229,
                     "The EXECUTE permission was denied on the object '%.*s', database 'master', "
                     "schema 'tidesim'.",
                     STR_ARG(call->name));
}

SimDatabase *control_database_arg(ProcCall *call, size_t index)
{
    Str name;

    if (!control_need_sysadmin(call)) return NULL;
    if (!proc_text(call, index, &name)) return call->session->database;
    SimDatabase *database = sim_server_find_database(call->session->server, name);
    if (!database)
        sim_error(call->error, 911,
                  "Database '%.*s' does not exist. Make sure that the name is entered correctly.",
                  STR_ARG(name));
    return database;
}

bool control_f64(ProcCall *call, size_t index, double *out)
{
    const SimValue *value = proc_arg(call, index);
    SimType         type  = sim_type(SIM_FLOAT);
    SimValue        number;

    if (!value || value->is_null) return true;
    if (!sim_convert(value, &type, 0, true, call->arena, &number, call->error)) return false;
    *out = number.f64;
    return true;
}

static bool control_load(ProcCall *call)
{
    SimDatabase *database = control_database_arg(call, 1);
    Str          folder;

    if (!database) return false;
    if (!proc_text(call, 0, &folder)) return sim_error(call->error, 50000, "load needs @folder.");
    return sim_load_folder(database, folder, call->error);
}

/* --- reset --- */

void control_release_gates(Front *front)
{
    SimSession *session;

    do {
        session = NULL;
        front_lock(front);
        if (front->gates.count > 0) session = front->gates.items[--front->gates.count].session;
        front_unlock(front);
        aside_close(session);
    } while (session);
}

/* Faults, hooks, gates, links: none any more. */
static void control_forget(Front *front)
{
    front_lock(front);
    front->faults.count = front->hooks.count = front->trace.count = 0;
    atomic_store(&front->fault_count, 0);
    atomic_store(&front->hook_count, 0);
    front->links.count = 0;
    atomic_fetch_add(&front->link_version, 1);
    for (size_t i = 0; i < front->first_links.count; i++)
        *LIST_PUSH(front->arena, &front->links) = front->first_links.items[i];
    front_unlock(front);
    control_release_gates(front);
}

void control_front_close(Front *front)
{
    SimError ignored = SIM_ERROR_INIT;

    control_forget(front);
    (void)!sim_control_trace(front->server, STR_EMPTY, &ignored);
}

void sim_control_remember_start(SimServer *server)
{
    Front *front = front_of(server);

    front_lock(front);
    front->first_links.count = 0;
    for (size_t i = 0; i < front->links.count; i++)
        *LIST_PUSH(front->arena, &front->first_links) = front->links.items[i];
    for (int i = 0; i < SIM_KNOB_COUNT; i++)
        front->first_knobs[i] = sim_server_knob(server, (SimKnob)i);
    front_unlock(front);
}

static bool has_table_variables(const SimSession *session)
{
    for (const Frame *frame = session->frame; frame; frame = frame->outer) {
        size_t at = 0;
        Str    key;
        void  *value = NULL;
        while (map_next(frame->variables, &at, &key, &value))
            if (((const Variable *)value)->table) return true;
    }
    return false;
}

static size_t count_others(Front *front, const SimSession *self)
{
    size_t count = 0;

    front_lock(front);
    for (const SimSession *session = front->sessions; session; session = session->next)
        count += session != self;
    front_unlock(front);
    return count;
}

static bool drop_others(Front *front, const SimSession *self, SimError *error)
{
    bool has_own = false, rests;

    front_lock(front);
    for (SimSession *session = front->sessions; session; session = session->next) {
        has_own |= session != self && !session->wire;
        if (session != self && session->wire) session->wire->drop(session->wire);
    }
    front_unlock(front);
    if (has_own) /* nobody here can close them */
        return sim_error(error, 50000, "reset wants the other sessions of this process closed.");
    for (int round = 0; count_others(front, self) > 0; round++) {
        if (round == GONE_ROUNDS) return sim_error(error, 50000, "Other sessions do not end.");
        rests = self && turn_rest(self->waiter.turns,
                                  self->waiter.turn); /* theirs ends with their request */
        clock_sleep_ms(virtual_clock_inner(front->clock), LOOK_MS, NULL);
        if (rests) turn_take(self->waiter.turns, self->waiter.turn);
    }
    return true;
}

bool sim_control_reset(SimServer *server, SimSession *session, SimError *error)
{
    Front *front = front_of(server);

    if (session && (session->tran_count > 0 || has_table_variables(session)))
        return sim_error(error, 50000,
                         "reset wants no open transaction and no table variable in its batch.");
    control_forget(front);
    if (!drop_others(front, session, error)) return false;
    if (session) session_drop_temps(session, NULL);
    sim_server_empty(server, front->seed);
    for (int i = 0; i < SIM_KNOB_COUNT; i++)
        sim_server_set_knob(server, (SimKnob)i, front->first_knobs[i]);
    rng_close(front->chances);
    front->sequential = 0;
    front->chances    = rng_new(front->seed);
    if (!sim_create_login(server, front->login, front->password, true, error)) return false;
    if (!session) return true;
    session->login = (SimLogin){.name = front->login, .is_sysadmin = true};
    session->user  = STR_EMPTY;
    if (!session_use_database(session, STR("master"), error)) return false;
    session->login_database = session->database;
    return true;
}

static bool control_reset(ProcCall *call)
{
    return control_need_sysadmin(call) &&
           sim_control_reset(call->session->server, call->session, call->error);
}

/* --- the table --- */

const ProcEntry control_procs[] = {
    {"clock", control_clock, "mode,start"},
    {"clock_set", control_clock_set, "time"},
    {"clock_advance", control_clock_advance, "ms"},
    {"zone", control_zone, "windows_name"},
    {"seed", control_seed, "n"},
    {"sleep", control_sleep, "ms"},
    {"knob", control_knob, "name,value"},
    {"capture_mode", control_capture_mode, "db,mode"},
    {"capture_latency", control_capture_latency, "db,min,max"},
    {"scan_now", control_scan_now, "db,maxtrans"},
    {"idle_now", control_idle_now, "db"},
    {"idle_interval", control_idle_interval, "db,s"},
    {"cleanup_now", control_cleanup_now, "db"},
    {"cleanup_pause", control_cleanup_pause, "where,sql,db"},
    {"wait_captured", control_wait_captured, "db,lsn,timeout,commit_ts"},
    {"secondary", control_secondary, "db,lag_ms"},
    {"on_read", control_on_read, "object,sql,when,rows,login"},
    {"gate", control_gate, "object,action"},
    {"fault", control_fault,
     "action,pattern,number,severity,state,text,nth,times,ms,login,app,spid,at,n,probability,rate,"
     "deaf,db"},
    {"link", control_link, "who,rtt_ms,bytes_per_s,jitter"},
    {"restart", control_restart, "down_ms,answer,number"},
    {"stats", control_stats, "spid"},
    {"trace", control_trace_proc, "mode,file"},
    {"load", control_load, "folder,db"},
    {"synthetic", control_synthetic, "name,rows,profile,seed"},
    {"reset", control_reset, ""},
    {NULL, NULL, NULL},
};
