/* payload_staged.h - what stands next to the staged files of a wave that was read and not committed yet: ours alone,
 * written and read by this program, gone with the wave's commit. It holds key values, as bronze's commits do. */
#ifndef TIDELAKE_STATE_PAYLOAD_STAGED_H
#define TIDELAKE_STATE_PAYLOAD_STAGED_H

#include "state/payload_chunks.h"

typedef struct StagedWave {
    WaveTag tag; /* as its commit would have it; its attempt stays behind */
    OptTime stamp_ts;
    int64_t started_us, sealed_us; /* UTC */
    Str     read; /* what was read, and as what: a run that reads otherwise has no use for it */
} StagedWave;

/* In `arena`. */
Str payload_staged(Arena *arena, const StagedWave *wave);
/* False: another release wrote it. What it returns borrows `text` or lives in `arena`. */
bool payload_parse_staged(Str text, Arena *arena, StagedWave *out);

#endif
