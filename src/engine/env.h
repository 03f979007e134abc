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
#include "types/optional.h"

/* Of a snapshot whose waves are steps. */
typedef struct ChunkProgress {
    int64_t   done, total; /* chunks, of the plan */
    int64_t   wave;        /* the one in flight */
    int64_t   rows_left;   /* of the snapshot, when the wave began; an estimate */
    int64_t   began_ns;    /* of the call, monotonic */
    OptDouble headroom_hours;
} ChunkProgress;

/* What a long step has done so far. */
typedef struct Progress {
    Str                  name;        /* the stream, or the table */
    const char          *what;        /* "snapshot", "batch", "apply: matching keys" */
    const char          *unit;        /* of done and total: "rows", "files" */
    int64_t              done, total; /* total 0: unknown */
    int64_t              bytes;       /* read so far, as facts count them; 0: not counted */
    int64_t              began_ns;    /* monotonic */
    bool                 is_over;     /* the step ended, well or not */
    const ChunkProgress *chunks;      /* NULL: it is no wave */
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
    /* Told after each block of rows and at a step's end, from any task, so it must be quick; may be
     * NULL. */
    void (*on_progress)(void *arg, const Progress *progress);
    void *on_progress_arg;
} Env;

#endif
