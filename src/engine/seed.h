/* seed.h - a copy of the table that somebody has, appended in a snapshot's place (algorithms.md 3.5). */
#ifndef TIDELAKE_ENGINE_SEED_H
#define TIDELAKE_ENGINE_SEED_H

#include "engine/snapshot.h"

typedef struct SeedOptions {
    Str     from;      /* copy_open's path */
    OptTime as_of;     /* when the copy began to be read: stands for the last commit then */
    Lsn     as_of_lsn; /* where as_of is unset */
    bool    allows_missing_columns;
    bool    reseeds; /* also over an older snapshot */
} SeedOptions;

/* Appends the copy in one commit, then offers the 'bootstrap' event. A rerun finds what is there, and offers the event
 * alone. Nothing is written before all of this holds: no snapshot of the stream is open, the copy has the captured
 * columns, the source still has every change after the LSN, bronze holds no other snapshot. Errors: ERR_STATE,
 * ERR_DATA_LOSS, ERR_USAGE (facts without app_id). */
bool seed_run(Env *env, const StreamOptions *options, const SeedOptions *seed, SnapshotResult *out,
              Err *err) MUST_CHECK;

#endif
