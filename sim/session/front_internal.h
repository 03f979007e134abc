/* front_internal.h - what the session layer adds to a server: its sessions, and the controls of sqlserver.md 2.17. */
#ifndef TIDESIM_FRONT_INTERNAL_H
#define TIDESIM_FRONT_INTERNAL_H

#include "sim/session/session_internal.h"

#include <stdio.h>

typedef struct FaultEntry {
    SimFault fault;
    uint64_t id;
    int64_t  to_skip, left; /* matches before the first that counts; -1: for ever */
} FaultEntry;

typedef struct ReadHookEntry {
    SimReadHook hook;
    bool        is_done;
} ReadHookEntry;

typedef struct LinkRule {
    Str     who; /* empty: everybody */
    SimLink link;
} LinkRule;

typedef struct Gate {
    SimSession *session; /* holds the locks */
    SimTable   *table;
} Gate;

struct Front {
    SimServer  *server;
    Arena      *arena;
    Queue      *lock; /* holds one token */
    SimSession *sessions;
    int32_t     next_id;
    Clock      *clock; /* the server's, which can be stopped */
    uint64_t    seed;  /* reset goes back to it */
    Str         login, password;
    Rng        *chances; /* of faults and jitter, so that they leave other draws alone */
    LIST(FaultEntry) faults;
    LIST(ReadHookEntry) hooks;
    LIST(LinkRule) links;
    LIST(LinkRule) first_links; /* what reset goes back to */
    int64_t first_knobs[SIM_KNOB_COUNT];
    LIST(Gate) gates;
    uint64_t        next_fault_id;
    atomic_int      fault_count, hook_count; /* fast look before the lock */
    _Atomic int64_t down_until_ns;           /* by the clock below */
    atomic_bool     down_is_silent;
    atomic_int      down_number;
    atomic_uint     link_version;
    LIST(Str) trace; /* lines, when on */
    atomic_bool traces, is_closing;
    FILE       *trace_file; /* NULL: lines are kept in memory */
    uint32_t    sequential; /* NEWSEQUENTIALID: the last one; 0: none yet */
    uint64_t    sequential_place[2];
};

/* --- sessions of the server's own (control/aside.c) --- */
/* A sysadmin's, which no control touches. `database` by name. */
SimSession *aside_open(Front *front, Str database, SimError *error);
void        aside_close(SimSession *session);
/* Runs text in one, in the middle of what `caller` does (NULL: nobody's); the first error of it. */
bool aside_run(Front *front, SimSession *caller, Str database, Str sql, SimError *error) MUST_CHECK;

/* --- faults (control/fault.c) --- */
typedef struct FaultOccasion {
    SimFaultPlace place;
    Str           text, login, app, database;
    int32_t       session_id;
} FaultOccasion;
/* The first fault that meets it. One that begins inside a result is spent when it gets there. */
bool   fault_take(Front *front, const FaultOccasion *occasion, FaultEntry *out);
bool   fault_error(const SimFault *fault, SimError *error); /* false */
SimCut fault_cut(SimFaultAction action);
void   fault_stop_capture(const SimFault *fault, SimDatabase *database);

/* --- what sessions call --- */
bool control_login(Front *front, const SimLoginRequest *login,
                   SimError *error) MUST_CHECK; /* restart, faults */
bool control_commit(SimSession *session, SimFaultPlace place,
                    SimError *error) MUST_CHECK;        /* faults at a commit */
void control_rows(SimSession *session, bool is_before); /* around each row, when watched */
bool control_scan_cycle(void *arg, SimDatabase *database, SimError *error); /* a SimScanHook */
void control_release_gates(Front *front);
void control_front_close(Front *front);
void control_trace_end(SimSession *session); /* of the request: what came of it */

void session_drop_prepared(SimSession *session);
void session_drop_temps(SimSession *session, const Frame *frame); /* NULL: all */

/* --- procedures, by file --- */
bool         control_need_sysadmin(ProcCall *call);
SimDatabase *control_database_arg(ProcCall *call, size_t index); /* left out: the current one */
bool         control_f64(ProcCall *call, size_t index, double *out) MUST_CHECK;
bool         control_clock(ProcCall *call);
bool         control_clock_set(ProcCall *call);
bool         control_clock_advance(ProcCall *call);
bool         control_zone(ProcCall *call);
bool         control_seed(ProcCall *call);
bool         control_sleep(ProcCall *call);
bool         control_knob(ProcCall *call);
bool         control_capture_mode(ProcCall *call);
bool         control_capture_latency(ProcCall *call);
bool         control_secondary(ProcCall *call);
bool         control_scan_now(ProcCall *call);
bool         control_idle_now(ProcCall *call);
bool         control_idle_interval(ProcCall *call);
bool         control_cleanup_now(ProcCall *call);
bool         control_cleanup_pause(ProcCall *call);
bool         control_wait_captured(ProcCall *call);
bool         control_stats(ProcCall *call);
bool         control_trace_proc(ProcCall *call);
bool         control_on_read(ProcCall *call);
bool         control_gate(ProcCall *call);
bool         control_fault(ProcCall *call);
bool         control_link(ProcCall *call);
bool         control_restart(ProcCall *call);

#endif
