/* env.h - everything the engine can touch (style: the world is passed in). Real ones are wired in
 * cli/wire.c, simulated ones in tests/support/. */
#ifndef TIDELAKE_ENGINE_ENV_H
#define TIDELAKE_ENGINE_ENV_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sched.h"
#include "delta/delta.h"
#include "sqlconn/sqlconn.h"
#include "types/offset.h"

/* What a long step has done so far, for the progress line. `total` 0: unknown. */
typedef struct Progress {
    const char *what; /* "snapshot", "batch", "apply" */
    Str         name; /* the stream */
    int64_t     rows, rows_total;
    int64_t     bytes;
    OptTime     position; /* the stream's commit time, when known */
} Progress;

typedef struct Env { /* outlives every task */
    Clock        *clock;
    Rng          *rng;
    Sched        *sched;
    SqlDriver    *sql;
    Store        *store;
    Duck         *duck;
    Log          *log;
    Cancel       *cancel;
    DeltaContext *delta; /* made of the above */
    /* Told now and then from any task; may be NULL. */
    void (*on_progress)(void *arg, const Progress *progress);
    void *on_progress_arg;
} Env;

#endif
