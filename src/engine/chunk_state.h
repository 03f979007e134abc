/* chunk_state.h - how far a chunked snapshot is: its open, its plan, the chunks that are in (algorithms.md 4.3,
 * state.md 10). */
#ifndef TIDELAKE_ENGINE_CHUNK_STATE_H
#define TIDELAKE_ENGINE_CHUNK_STATE_H

#include "engine/family.h"
#include "state/plans.h"

/* A 'snapshot_chunk' row. */
typedef struct RecordedChunk {
    int64_t chunk, wave;
    bool    is_last;
    OptI64  rows, duration_ms;
    Lsn     stamp;
} RecordedChunk;

typedef struct ChunkState {
    const SnapshotOpen *open;
    ChunkedOpen         opened; /* with its keys and extent */
    bool is_in_facts; /* opened before the plans table was there: it finishes in that shape */
    bool is_planned;
    ChunkPlanPayload     plan;     /* with its chunks */
    const RecordedChunk *recorded; /* by chunk, each once */
    size_t               recorded_count;
} ChunkState;

/* Reads the facts, then the plans. `plans` NULL: there is no table. ERR_STATE when key values are missing that the
 * facts announce. */
bool chunk_state_read(Facts *facts, Plans *plans, const TableRef *plans_ref, Str target, Str app_id,
                      const SnapshotOpen *open, Arena *arena, ChunkState *out, Err *err) MUST_CHECK;

/* The recorded chunk with the largest index; NULL without any. */
const RecordedChunk *chunk_state_last(const ChunkState *state);

#endif
