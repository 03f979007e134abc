/* program.h - what the small programs of this folder share: options, a connection, libduckdb. They
 * use tidelake's drivers and nothing of its engine. */
#ifndef TIDELAKE_DEMO_PROGRAM_H
#define TIDELAKE_DEMO_PROGRAM_H

#include "base/buf.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/signal_watch.h"
#include "delta/delta.h"
#include "sqlconn/sqlconn.h"

typedef struct Program {
    Arena       *arena;
    const char  *name;
    Cancel      *cancel;
    SignalWatch *signals;
    Clock       *clock;
    Log         *log;
    SqlDriver   *driver;
    SqlConn     *conn;
} Program;

/* The value behind `--name`, or `fallback`; NULL as fallback: required, ends the program with
 * status 2. */
Str     program_option(int argc, char **argv, const char *name, const char *fallback);
int64_t program_number(int argc, char **argv, const char *name, const char *fallback);

bool program_open(Program *program, const char *name, Str connection, Err *err) MUST_CHECK;
void program_close(Program *program);
int  program_fail(const Program *program, const Err *err); /* prints, returns 1 */

#endif
