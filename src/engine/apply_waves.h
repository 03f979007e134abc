/* apply_waves.h - chunks of an open snapshot in silver: which of them are new, and the rows that go because a chunk
 * no longer had them (algorithms.md 7.3, 7.6). */
#ifndef TIDELAKE_ENGINE_APPLY_WAVES_H
#define TIDELAKE_ENGINE_APPLY_WAVES_H

#include "engine/announced.h"
#include "engine/apply_internal.h"

/* Reads the snapshot's chunks from the plans, as the facts read before announce them: `apply->waves`. The bounds of every
 * recorded chunk must be there, applied or not. ERR_STATE when they are not. Before bronze is pinned. */
bool apply_read_waves(Apply *apply, const FactsRow *open, Err *err) MUST_CHECK;
/* A complete snapshot that is not in silver yet stays open here while a row that moved between its chunks may be missing: it
 * is cut on a column that is none of silver's key, and bronze has not passed the time it was completed. Before bronze is
 * pinned. */
bool apply_hold_moving_rows(Apply *apply, Announced *announced, Err *err) MUST_CHECK;
/* Once the plan is made: is the snapshot still open, and which chunks are not applied yet? */
void apply_choose_waves(Apply *apply);

/* Fills the temp table `stale`: keys of silver that a new chunk's range holds and its read did not return, with the
 * chunk's stamp. Empty when ranges say nothing of silver's keys. Again after every change of silver. */
bool apply_find_stale(Apply *apply, Err *err) MUST_CHECK;

/* An end of a chunk as a value of silver's key (7.6). */
typedef enum RangeEnd { RANGE_VALUE, RANGE_OPEN, RANGE_NOTHING } RangeEnd;
/* `literal_out` is SQL for RANGE_VALUE. RANGE_NOTHING: the chunk deletes nothing. */
RangeEnd apply_range_end(Arena *arena, ColumnType type, Str json, bool is_lower, Str *literal_out);

#endif
