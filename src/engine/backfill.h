/* backfill.h - reads the open chunked snapshot of a stream, wave by wave, next to the running stream
 * (algorithms.md 4.8 to 4.16). */
#ifndef TIDELAKE_ENGINE_BACKFILL_H
#define TIDELAKE_ENGINE_BACKFILL_H

#include "engine/stream.h"

typedef struct BackfillOptions {
    StreamOptions stream;     /* whose snapshot it is; its source options are the reads' */
    int64_t       chunk_rows; /* of a plan that is made now */
    OptI64        max_waves;
    OptDouble     max_seconds;
    double        target_wave_seconds; /* 0: one round a wave */
    OptDouble     min_headroom_hours;
} BackfillOptions;

typedef enum BackfillState {
    BACKFILL_NO_SNAPSHOT,
    BACKFILL_RUNNING, /* the call ended, the snapshot goes on */
    BACKFILL_PAUSED,
    BACKFILL_WAITING_HEADROOM,
    BACKFILL_WAITING_METRICS,
    BACKFILL_DONE,
} BackfillState;

const char *backfill_state_name(BackfillState state);
bool        backfill_is_paused(BackfillState state);

typedef struct BackfillResult {
    BackfillState state;
    OptLsn        snapshot;
    int64_t       chunks_done;
    OptI64        chunks_total; /* unset before the plan */
    Str           reason;       /* empty: none */
    int64_t       rows, waves;  /* of this call */
} BackfillResult;

/* Reads waves until the snapshot is complete, a limit is reached, or something asks for a pause. `out` tells what
 * was done in either case; its reason lives in `arena`. Everything is resumable. */
bool backfill_run(Env *env, const BackfillOptions *options, Arena *arena, BackfillResult *out,
                  Err *err) MUST_CHECK;

#endif
