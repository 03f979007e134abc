/* sim.h - tidesim from the outside: a server, its sessions, its controls (sqlserver.md part 2). Used by the TDS server, by `tidesim exec`, and
 * in-process by tests, where it runs on a simulated clock and scheduler. */
#ifndef TIDESIM_SIM_H
#define TIDESIM_SIM_H

#include "base/clock.h"
#include "base/log.h"
#include "sim/capture/cdc.h"
#include "sim/control/control.h"
#include "sim/model/model.h"

typedef struct SimOptions {
    Clock   *clock;
    Sched   *sched;
    Rng     *rng;                      /* LSN steps, NEWID, ... */
    uint64_t seed;                     /* what `rng` was made of; reset goes back to it */
    Log     *log;                      /* may be NULL */
    int      server_version;           /* 2016 ... 2025; 0: 2022 */
    Str      time_zone;                /* Windows zone name; empty: UTC */
    int64_t  capture_interval_ms;      /* 5000; -1: manual */
    int64_t  idle_entry_ms;            /* 305000 */
    int64_t  retention_minutes;        /* 4320 */
    Str      login, password;          /* the sysadmin */
    bool     command_id_per_statement; /* 2.14's knob; default per row */
    /* Requests one at a time, in the order in which they come. For sessions on threads of their own; a simulated
     * scheduler has its own order. */
    bool one_at_a_time;
} SimOptions;

bool sim_server_open(const SimOptions *options, SimServer **out, SimError *error) MUST_CHECK;
void sim_server_close(
    SimServer *server); /* stops the jobs; every session must be closed; accepts NULL */

/* --- results --- */
typedef struct SimResultColumn {
    Str     name;
    SimType type;
    bool    is_nullable, is_identity, is_computed, is_case_sensitive;
    bool    is_hidden; /* a cursor's own: clients do not show it */
} SimResultColumn;

typedef enum SimDoneKind { SIM_DONE_STATEMENT, SIM_DONE_IN_PROC, SIM_DONE_PROC } SimDoneKind;
typedef struct SimDone {
    SimDoneKind kind;
    bool        has_count, has_error, in_transaction, is_attention;
    uint16_t    command; /* current command: 193 SELECT, 195 INSERT, ... */
    int64_t     row_count;
} SimDone;

typedef enum SimEnvKind {
    SIM_ENV_DATABASE      = 1,
    SIM_ENV_LANGUAGE      = 2,
    SIM_ENV_PACKET_SIZE   = 4,
    SIM_ENV_COLLATION     = 7,
    SIM_ENV_BEGIN_TRAN    = 8,
    SIM_ENV_COMMIT_TRAN   = 9,
    SIM_ENV_ROLLBACK_TRAN = 10,
    SIM_ENV_RESET         = 18
} SimEnvKind;

/* Receives what a request produces, in order. A callback that returns false (socket gone) stops the request. Never called with a latch held. */
typedef struct SimSink SimSink;
struct SimSink {
    bool (*columns)(SimSink *sink, const SimResultColumn *columns, size_t count);
    bool (*row)(SimSink *sink, const SimValue *values, size_t count);
    /* May be NULL: then every row comes through `row`. A column that has `wires[i].ptr` is these bytes, as the model
     * stores values of the column's type (sim_row_wire); any other is `values[i]`. */
    bool (*wire_row)(SimSink *sink, const Bytes *wires, const SimValue *values, size_t count);
    bool (*message)(SimSink *sink, const SimError *message); /* severity <= 10: INFO */
    bool (*done)(SimSink *sink, const SimDone *done);
    bool (*env_change)(
        SimSink *sink, SimEnvKind kind, Bytes new_value,
        Bytes old_value); /* text kinds: UTF-8; transaction kinds: the 8-byte descriptor */
    bool (*return_status)(SimSink *sink, int32_t status);
    bool (*return_value)(SimSink *sink, Str name, const SimValue *value);
};

/* --- the connection under a session --- */
typedef enum SimCut { SIM_CUT_CLOSE, SIM_CUT_RESET, SIM_CUT_SILENCE } SimCut;
/* What faults do to it; a session in-process has none. Called by the session's thread, `drop` by any. */
typedef struct SimWire SimWire;
struct SimWire {
    /* What was said so far leaves now, all but its last `keep_bytes`. */
    void (*flush)(SimWire *wire, size_t keep_bytes);
    /* FIN, RST, or nothing any more: that returns when the client has gone. */
    void (*cut)(SimWire *wire, SimCut how);
    /* Calls sim_session_watched once, when `n` bytes (or packets) more have left in this response. */
    void (*watch)(SimWire *wire, bool counts_packets, int64_t n);
    /* Ends the connection soon; does not wait. */
    void (*drop)(SimWire *wire);
};

/* --- sessions --- */
typedef struct SimLoginRequest {
    Str      user, password, database, app_name, host_name, language;
    bool     odbc; /* LOGIN7's ODBC bit: ANSI defaults */
    bool     read_only_intent;
    bool     is_encrypted; /* all of the connection */
    SimWire *wire;         /* NULL: in-process */
    Cancel  *stop;         /* ends waits at the login; may be NULL */
    bool     is_aside;     /* the server's own: no control touches it */
} SimLoginRequest;
/* Errors 18456, 4060, ... The messages a client gets on success (5701, 5703) are the TDS server's. One request at a time. */
bool    sim_session_open(SimServer *server, const SimLoginRequest *login, SimSession **out,
                         SimError *error) MUST_CHECK;
void    sim_session_close(SimSession *session); /* rolls back; accepts NULL */
int32_t sim_session_id(const SimSession *session);
Str     sim_session_database(const SimSession *session);
Str     sim_session_language(const SimSession *session); /* as the server names it */
Str     sim_session_login(const SimSession *session);    /* as long as the session */
Str     sim_session_app(const SimSession *session);
bool    sim_session_is_killed(const SimSession *session);
/* Between requests: nothing would be lost if it were opened anew in its database. */
bool     sim_session_is_recoverable(const SimSession *session);
uint64_t sim_session_transaction(const SimSession *session); /* descriptor, 0: none */
int64_t  sim_session_text_size(const SimSession *session); /* SET TEXTSIZE: bytes of a long value */
bool     sim_session_breaks_off(
        const SimSession *session); /* the connection ends without a word more */

typedef struct SimParameter {
    Str      name;  /* with its @; may be empty */
    SimValue value; /* value.type is the declared type */
    bool     is_output, is_default;
} SimParameter;

/* A language batch. False only when the connection must close (severity >= 20, sink gone); errors otherwise went to the sink. */
bool sim_session_batch(SimSession *session, Str sql, SimSink *sink) MUST_CHECK;
/* A remote procedure call: sp_executesql, sp_prepexec, sp_execute, sp_unprepare, catalog and CDC procedures ... `proc_id` 0: by name. */
bool sim_session_rpc(SimSession *session, uint16_t proc_id, Str name, const SimParameter *params,
                     size_t count, SimSink *sink) MUST_CHECK;
/* The rows of a bulk load, which an INSERT BULK has announced. STOPPED: the client wants it no more; FAILED: with the error. */
typedef enum SimBulkPull {
    SIM_BULK_ROW,
    SIM_BULK_END,
    SIM_BULK_STOPPED,
    SIM_BULK_FAILED
} SimBulkPull;
typedef struct SimBulkSource SimBulkSource;
struct SimBulkSource {
    /* First, once. ROW: there are columns, and rows may be pulled. */
    SimBulkPull (*columns)(SimBulkSource *source, const SimType **types_out, size_t *count_out,
                           SimError *error);
    /* Values are good until the next call. */
    SimBulkPull (*row)(SimBulkSource *source, const SimValue **values_out, SimError *error);
};
bool sim_session_expects_bulk(const SimSession *session);
/* Only when one is expected. */
bool sim_session_bulk(SimSession *session, SimBulkSource *source, SimSink *sink) MUST_CHECK;
/* Transaction manager requests: begin, commit, rollback, save. */
typedef enum SimTmRequest {
    SIM_TM_BEGIN    = 5,
    SIM_TM_COMMIT   = 7,
    SIM_TM_ROLLBACK = 8,
    SIM_TM_SAVE     = 9
} SimTmRequest;
bool sim_session_transaction_request(SimSession *session, SimTmRequest request, Str name,
                                     int isolation, bool begin_next, int next_isolation,
                                     SimSink *sink) MUST_CHECK;
void sim_session_reset(SimSession *session, bool keep_transaction, SimSink *sink);
/* Stops the running request from another thread; it then ends with done.is_attention. */
void sim_session_attention(SimSession *session);
/* The same when the client has gone: nothing waits for anything any more, and the next request fails. */
void sim_session_hang_up(SimSession *session);
/* SimWire.watch has got there; between two writes, also after the request. False: nothing more may be sent. */
bool sim_session_watched(SimSession *session);
/* Forgets one that came too late to stop anything; between requests. */
void sim_session_clear_attention(SimSession *session);
/* `notify` is called when the session is killed, by whoever does it, and must not wait: a session between requests has
 * nobody else to tell its client. */
void sim_session_on_kill(SimSession *session, void (*notify)(void *arg), void *arg);

/* --- what `stats` shows (2.17) --- */
typedef struct SimStats {
    int64_t rows_examined, rows_returned, seeks, scans, lock_waits, bytes_sent, blocked_ns,
        statements;
} SimStats;
/* From any thread while the session lives. */
SimStats sim_session_stats(const SimSession *session, bool last_statement_only);
/* Around a wait for the client in the middle of a request, where requests go one at a time: others may go meanwhile. False:
 * there is nothing to resume. From the thread of the request. */
bool sim_session_rest(SimSession *session);
void sim_session_resume(SimSession *session);
void sim_session_add_io(SimSession *session, int64_t bytes_sent,
                        int64_t blocked_ns); /* from the TDS server */

#endif
