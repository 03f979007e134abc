/* control.h - what a test may do to a server, from C. The procedures of schema tidesim are the same verbs over TDS
 * (docs/tidesim-reference.md). Verbs that are calls of the model already: sim_server_set_zone, sim_server_seed,
 * sim_server_set_knob, sim_cdc_set_mode, sim_cdc_scan_now, sim_cdc_idle_now, sim_cdc_cleanup. */
#ifndef TIDESIM_CONTROL_H
#define TIDESIM_CONTROL_H

#include "sim/capture/cdc.h"

/* --- time --- */
void sim_control_clock_stop(SimServer *server, int64_t utc_us); /* or moves a stopped one */
void sim_control_clock_go(SimServer *server);
void sim_control_clock_advance(SimServer *server, int64_t us); /* stops it first */

/* --- faults --- */
typedef enum SimFaultAction {
    SIM_FAULT_ERROR,
    SIM_FAULT_DEADLOCK,
    SIM_FAULT_CLOSE,      /* FIN */
    SIM_FAULT_RESET,      /* RST */
    SIM_FAULT_HALF_CLOSE, /* a socket that never answers */
    SIM_FAULT_STALL,
    SIM_FAULT_KILL,
    SIM_FAULT_LOGIN_ERROR,
    SIM_FAULT_SLOW_ROWS,
    SIM_FAULT_CAPTURE_STOP,
    SIM_FAULT_LOSE_GRANT,
    SIM_FAULT_ACTION_COUNT
} SimFaultAction;

typedef enum SimFaultPlace {
    SIM_AT_STATEMENT,  /* before it runs */
    SIM_AT_ROW,        /* once `n` rows of results were sent */
    SIM_AT_INSIDE_ROW, /* in the middle of row `n` */
    SIM_AT_BYTE,       /* once `n` bytes of the response were sent, headers of packets included */
    SIM_AT_PACKET,     /* once `n` packets of it were sent */
    SIM_AT_LOGIN,      /* before its answer */
    SIM_AT_COMMIT,     /* of a transaction that wrote, before it takes effect */
    SIM_AT_COMMITTED,  /* and after, before the answer */
    SIM_AT_SCAN,       /* a cycle of capture */
    SIM_AT_COUNT
} SimFaultPlace;

typedef struct SimFault {
    SimFaultAction action;
    SimFaultPlace  place;
    int64_t        n;       /* row, byte or packet; at least 1 */
    Str            pattern; /* LIKE, of the statement or the procedure called; empty: every one */
    Str            login, app, database;    /* empty: every one */
    int32_t        session_id;              /* 0: every one */
    int64_t        nth;                     /* the first match that counts; 0 and 1: the first */
    int64_t        times;                   /* so many; -1: for ever */
    double         chance;                  /* of a match to count, from the seed; 0: always */
    int32_t        number, severity, state; /* 0: as the number usually has */
    Str            text;                    /* of the error; of lose_grant: the REVOKE */
    int64_t        ms;                      /* of stall */
    bool           is_deaf;                 /* a stall that attentions do not end */
    double         rate;                    /* of slow_rows: rows a second */
} SimFault;
/* Copies it. 50001 for combinations that make no sense, 50000 for what is missing. */
bool sim_control_fault(SimServer *server, const SimFault *fault, SimError *error) MUST_CHECK;
Str  sim_fault_action_name(SimFaultAction action);
Str  sim_fault_place_name(SimFaultPlace place);
/* Ends all faults. */
void sim_control_clear_faults(SimServer *server);

/* --- reads and locks --- */
typedef struct SimReadHook {
    Str     object; /* "t" or "dbo.t" */
    Str     sql;    /* runs once, as a sysadmin in a session of its own, in the reader's database */
    Str     login;  /* empty: whoever reads */
    int64_t rows;   /* 0: before the read sees anything; n: once it has read n rows that qualify */
} SimReadHook;
void sim_control_on_read(SimServer *server, const SimReadHook *hook);
/* Holds every row of the table as a writer would, until it is released. 208; 1222 when somebody holds one already;
 * 50000: it is held already, or is not. */
bool sim_control_gate(SimServer *server, Str database, Str object, bool holds,
                      SimError *error) MUST_CHECK;

/* --- the way to the clients --- */
typedef struct SimLink {
    int64_t rtt_ms;      /* before each response */
    int64_t jitter_ms;   /* and up to so much more, from the seed */
    int64_t bytes_per_s; /* 0: no limit */
} SimLink;
/* `who`: a login or the name of a program, "all" or empty: everybody no other rule is for. */
void     sim_control_link(SimServer *server, Str who, const SimLink *link);
uint32_t sim_link_version(const SimServer *server); /* changes with every rule */
SimLink  sim_link_for(SimServer *server, Str login, Str app);
int64_t  sim_link_jitter_ms(SimServer *server, const SimLink *link); /* drawn anew */

/* Connections drop, with their sessions and transactions; data stays. Logins are refused for `down_ms` of real time. */
typedef struct SimRestart {
    int64_t down_ms;
    int32_t number;    /* what a login gets meanwhile; 0: 18401 */
    bool    is_silent; /* or no answer at all */
} SimRestart;
void sim_control_restart(SimServer *server, const SimRestart *restart);
bool sim_server_is_silent(SimServer *server); /* a connection begun now never gets an answer */

/* --- looking --- */
/* Blocks until capture has passed the LSN, with `has_time` a commit at this local time, with
 * `is_all` everything that is committed now. */
typedef struct SimCaptureGoal {
    Lsn      lsn;
    bool     is_all;
    bool     has_time;
    SimValue time; /* datetime */
} SimCaptureGoal;
bool sim_control_wait_captured(SimSession *session, SimDatabase *database,
                               const SimCaptureGoal *goal, int64_t timeout_ms,
                               SimError *error) MUST_CHECK;
/* Every request from now on, a line each, with its parameters and what came of it; an empty path ends it. 50000: the
 * file cannot be written. */
bool sim_control_trace(SimServer *server, Str path, SimError *error) MUST_CHECK;

/* The links and knobs of now are what reset goes back to. */
void sim_control_remember_start(SimServer *server);

/* Back to an empty server with the seed it was opened with: no databases, logins, faults, hooks or gates.
 * Connections are dropped and waited for; `session` (may be NULL) goes on in master. 50000: it has a transaction or a
 * table variable, or another session is open in this process. */
bool sim_control_reset(SimServer *server, SimSession *session, SimError *error) MUST_CHECK;

#endif
