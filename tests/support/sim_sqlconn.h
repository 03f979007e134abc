/* sim_sqlconn.h - sqlconn.h on a tidesim session in-process: what ODBC would give for the same
 * statement, without a socket.
 *
 * Each call is a sched_point, so in simulation another task may run before it. Faults are told by
 * text: an answer that fails, and a hook before a statement. A process that has died (its FaultPlan
 * says so) gets no answer any more. */
#ifndef TIDELAKE_SUPPORT_SIM_SQLCONN_H
#define TIDELAKE_SUPPORT_SIM_SQLCONN_H

#include "base/sched.h"
#include "sim/sim.h"
#include "sqlconn/sqlconn.h"
#include "store/store.h"

/* A statement (or SIM_SQL_CONNECT) that fails instead of running. */
#define SIM_SQL_CONNECT "<connect>"
typedef struct SimSqlFault {
    const char *expect; /* stands in the statement's text */
    int         skip;   /* so many statements with it pass first */
    int         times;  /* then so many fail */
    int32_t     native;
    const char *sqlstate;
    bool        kills; /* the connection is dead afterwards */
} SimSqlFault;

typedef struct SimSqlOptions {
    SimServer       *server;
    Sched           *sched;
    const FaultPlan *process; /* NULL: it never dies */
    /* Before each statement; may run anything on other sessions. May be NULL. */
    void (*on_query)(void *arg, Str sql);
    void *on_query_arg;
    size_t
        large_row_bytes; /* a row with values of that size ends its block, as with ODBC; 0: none does */
} SimSqlOptions;

/* Connection strings are UID=...;PWD=...;DATABASE=... */
SqlDriver *sim_sql_driver_new(const SimSqlOptions *options);
/* The hook of a driver that is there already. */
void sim_sql_driver_set_hook(SqlDriver *driver, void (*on_query)(void *arg, Str sql), void *arg);
/* The fault is copied; several are tried in the order they came. */
void sim_sql_driver_add_fault(SqlDriver *driver, const SimSqlFault *fault);
/* From now on a connection takes several statements in one request, as ODBC's does, and every request, and every row of
 * a captured table, takes so long on the way. */
void sim_sql_driver_set_link(SqlDriver *driver, Clock *clock, int64_t latency_ms, int64_t row_ms);
int  sim_sql_driver_connections(const SqlDriver *driver);      /* opened so far */
int  sim_sql_driver_open_connections(const SqlDriver *driver); /* not closed yet */
/* Statements run so far whose text holds `part`. */
int sim_sql_driver_statements(const SqlDriver *driver, const char *part);

#endif
