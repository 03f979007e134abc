/* front_internal.h - what the session layer adds to a server: its sessions, and the controls of sqlserver.md 2.17. */
#ifndef TIDESIM_FRONT_INTERNAL_H
#define TIDESIM_FRONT_INTERNAL_H

#include "sim/session_internal.h"

typedef struct
    Fault {          /* once, n times or for ever: what happens to a statement, a read or a login */
    Str     action;  /* error, close, kill, stall, login_error, deadlock */
    Str     pattern; /* LIKE pattern of the statement; empty: all */
    Str     login, app;
    int32_t number;
    int     severity, state;
    Str     text;
    int64_t nth;   /* the n-th match; 0: the first */
    int64_t times; /* -1: for ever */
    int64_t stall_ms;
} Fault;

typedef struct ReadHook { /* on_read: runs once, in a session of its own */
    Str     object, sql, login, when;
    int64_t rows;
    bool    is_done;
} ReadHook;

struct Front {
    SimServer  *server;
    Arena      *arena;
    Queue      *lock; /* holds one token */
    SimSession *sessions;
    int32_t     next_id;
    Clock      *clock; /* the real one behind a virtual one */
    LIST(Fault) faults;
    LIST(ReadHook) hooks;
    atomic_int fault_count, hook_count; /* fast look before the lock */
    Str        cleanup_pause;
    LIST(Str) trace; /* texts, when on */
    bool traces;
};

Clock *control_clock_new(Clock *inner);
void   control_front_close(Front *front);
bool   control_login(Front *front, const SimLoginRequest *login, SimError *error) MUST_CHECK;
bool   control_clock_is_virtual(Clock *clock);
void   control_clock_set(Clock *clock, bool is_virtual, int64_t utc_us);

void session_drop_prepared(SimSession *session);
void session_drop_temps(SimSession *session, const Frame *frame); /* NULL: all */

#endif
