/* run.h - what both commands are made of: the world of a simulated server, and scripts run in a session or on a
 * connection. */
#ifndef TIDESIM_CLI_RUN_H
#define TIDESIM_CLI_RUN_H

#include "base/signal_watch.h"
#include "sim/cli/client.h"
#include "sim/cli/options.h"
#include "sim/cli/print.h"
#include "sim/cli/script.h"

typedef struct CliWorld {
    Cancel      *cancel; /* requested by SIGINT and SIGTERM */
    SignalWatch *signals;
    Clock       *clock;
    Sched       *sched;
    Rng         *rng;
    Log         *log;
    SimServer   *server; /* NULL until it is opened */
    uint64_t     seed;
} CliWorld;

/* Before any other thread. */
void cli_world_open(CliWorld *world, const CliOptions *options);
void cli_world_close(CliWorld *world);
/* The server the options describe, with its database. */
bool cli_world_open_server(CliWorld *world, const CliOptions *options, Err *err) MUST_CHECK;
/* A session of the sysadmin, in the options' database. */
bool cli_world_open_session(CliWorld *world, const CliOptions *options, SimSession **out,
                            Err *err) MUST_CHECK;
void cli_print_error(const Err *err);
/* Prints the error, if there is one, and gives the exit status: the error's, or 130 and 143 after a signal. */
int cli_world_status(const CliWorld *world, const Err *err);

typedef struct CliTarget { /* where a script runs: one of them */
    SimSession *session;
    SqlClient  *client;
    Cancel     *cancel;
} CliTarget;

/* Batch after batch. False when one had an error and `keeps_going` is not set, or the connection ended, or somebody wants
 * to stop; with `keeps_going` each is told at once, and false at the end if there was one. The error names the file and the line. */
bool cli_run_script(const CliTarget *target, const Script *script, Printer *printer,
                    bool keeps_going, Err *err) MUST_CHECK;

#endif
