/* checkpoint.h - a stream's position on disk, in Spark's checkpoint format, so that either engine
 * can go on (state.md 17).
 *
 * <checkpoint>/metadata, offsets/<n>, commits/<n>; a later generation lives under
 * _generations/<g>/. What is only ours is in _tidelake/. */
#ifndef TIDELAKE_STATE_CHECKPOINT_H
#define TIDELAKE_STATE_CHECKPOINT_H

#include "base/clock.h"
#include "base/rng.h"
#include "store/store.h"
#include "types/optional.h"

typedef struct Checkpoint Checkpoint;

/* Reads what is there; writes nothing. ERR_STATE: a format other than v1, or a damaged file
 * (named). */
bool checkpoint_open(Store *store, Clock *clock, Rng *rng, Str path, Checkpoint **out,
                     Err *err) MUST_CHECK;
void checkpoint_close(Checkpoint *checkpoint); /* accepts NULL */

/* The directory of the live generation. */
Str checkpoint_get_path(const Checkpoint *checkpoint);
/* 0 unless a recovery started another. */
int64_t checkpoint_get_generation(const Checkpoint *checkpoint);
/* Where a later generation starts: snapshot_lsn of the state file. */
bool checkpoint_has_generation_start(const Checkpoint *checkpoint, Offset *out);
/* A first batch was about to be planned once. */
bool checkpoint_has_metadata(const Checkpoint *checkpoint);

/* The last batch whose commits/<n> is there: its id and end; false if none. */
bool checkpoint_find_committed(const Checkpoint *checkpoint, int64_t *batch_id_out,
                               Offset *end_out);
/* A batch that was planned and not committed; false if none. Its start is the end of the one
 * before, or checkpoint_find_start for batch 0. */
bool checkpoint_find_planned(const Checkpoint *checkpoint, int64_t *batch_id_out, Offset *end_out);
/* Batch 0's start, as the run of ours that planned it recorded it. */
bool checkpoint_find_start(const Checkpoint *checkpoint, Offset *out);
/* Records batch 0's start and makes `metadata`; right before batch 0 is planned. The record counts
 * once checkpoint_plan succeeds: of two runs, only the one that planned the batch set its start. */
bool checkpoint_begin(Checkpoint *checkpoint, const Offset *start, Err *err) MUST_CHECK;

/* Durably "batch n ends here", exclusively: ERR_STATE when another run planned it meanwhile. */
bool checkpoint_plan(Checkpoint *checkpoint, int64_t batch_id, const Offset *end,
                     Err *err) MUST_CHECK;
/* Durably "batch n is done". Now and then removes files of batches more than 100 back, as Spark
 * does. */
bool checkpoint_commit(Checkpoint *checkpoint, int64_t batch_id, Err *err) MUST_CHECK;

#endif
