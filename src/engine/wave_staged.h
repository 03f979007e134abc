/* wave_staged.h - waves that a call read, and did not live to commit: the next call takes them from where they are
 * staged, under the stamp they were read at (algorithms.md 4.11, 4.13). */
#ifndef TIDELAKE_ENGINE_WAVE_STAGED_H
#define TIDELAKE_ENGINE_WAVE_STAGED_H

#include "engine/wave.h"

typedef struct StagedWaves StagedWaves;

/* Takes over what dead runs of this stream's backfill left, under their locks; what belongs to another snapshot, or
 * was read otherwise than this call would, is removed. Before this call stages anything. In `arena`, to be closed. */
bool staged_waves_take(const WaveContext *context, Bronze *bronze, Arena *arena, StagedWaves **out,
                       Err *err) MUST_CHECK;
/* Fills `wave` when it is among them: its number, whole, and beginning at chunk `first` of the plan. `wave` may have
 * the chunks that the plans table holds for it: those it must be then. `taken` false: it has to be read. */
bool staged_waves_find(StagedWaves *staged, const WaveContext *context, Bronze *bronze,
                       int64_t first, Wave *wave, bool *taken, Err *err) MUST_CHECK;
/* Leaves those from wave `next` on to the next call, and removes the rest. Accepts NULL. */
void staged_waves_close(StagedWaves *staged, int64_t next);

#endif
