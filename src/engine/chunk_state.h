/* chunk_state.h - how far a chunked snapshot is: its open, its plan, the chunks that are in (algorithms.md 4.3,
 * state.md 10). The one place where rows of facts and plans are put together, for backfill and for apply. */
#ifndef TIDELAKE_ENGINE_CHUNK_STATE_H
#define TIDELAKE_ENGINE_CHUNK_STATE_H

#include "engine/family.h"
#include "state/plans.h"

/* A 'snapshot_chunk' row. */
typedef struct RecordedChunk {
    int64_t     chunk, wave;
    bool        is_last;
    OptI64      rows, duration_ms;
    OptDouble   read_seconds, read_mb;
    Lsn         stamp;
    ChunkBounds bounds; /* empty unless they were asked for */
} RecordedChunk;

/* --- every row, for whoever applies them --- */

typedef struct ChunkQuery {
    Facts          *facts;
    Plans          *plans; /* NULL: there is no table */
    const TableRef *plans_ref;
    Str             target, app_id; /* app_id empty: whoever's */
    Lsn             snapshot;
    Str             open_detail; /* of the open's row in the facts */
    bool            with_plan;   /* where there is one: its chunks must be there */
    bool            with_bounds; /* of every recorded chunk: they must be there */
} ChunkQuery;

typedef struct ChunkRows {
    ChunkedOpen      opened;     /* with its keys and extent */
    bool             is_planned; /* as far as that was asked for */
    ChunkPlanPayload plan;
    RecordedChunk
          *chunks; /* by wave and chunk; two attempts of a wave may have recorded one chunk */
    size_t count;
} ChunkRows;

/* Reads the facts. `plans` is asked of chunk_rows_complete alone, so it may be opened between the two: what the
 * facts announce is in it then. */
bool chunk_rows_find(const ChunkQuery *query, Arena *arena, FactsRow **rows_out, size_t *count_out,
                     Err *err) MUST_CHECK;
/* Completes them from the plans. ERR_STATE when key values are missing that the facts announce. */
bool chunk_rows_complete(const ChunkQuery *query, const FactsRow *rows, size_t count, Arena *arena,
                         ChunkRows *out, Err *err) MUST_CHECK;

/* --- how far it is, for whoever goes on --- */

typedef struct ChunkState {
    const SnapshotOpen *open;
    ChunkedOpen         opened; /* with its keys and extent */
    bool is_in_facts; /* opened before the plans table was there: it finishes in that shape */
    bool is_planned;
    ChunkPlanPayload     plan;     /* with its chunks */
    const RecordedChunk *recorded; /* by chunk, each once */
    size_t               recorded_count;
} ChunkState;

/* Reads the facts, then the plans. Errors as above. */
bool chunk_state_read(Facts *facts, Plans *plans, const TableRef *plans_ref, Str target, Str app_id,
                      const SnapshotOpen *open, Arena *arena, ChunkState *out, Err *err) MUST_CHECK;

/* The recorded chunk with the largest index; NULL without any. */
const RecordedChunk *chunk_state_last(const ChunkState *state);

#endif
