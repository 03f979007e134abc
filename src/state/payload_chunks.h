/* payload_chunks.h - the JSON texts of chunked snapshots: 'snapshot_open', 'snapshot_plan', 'snapshot_chunk',
 * the completion, and the tag of a wave's commit (state.md 9, 14.2, 18). Byte form is part of the contract.
 *
 * A bound stays the JSON text it is (state.md 18): a scalar, a list, or `null` for an open end. Numbers
 * keep their digits. Key values may stand in plans rows and in bronze's commits, never in facts: that is what
 * `with_bounds` decides (state.md 10.1). */
#ifndef TIDELAKE_STATE_PAYLOAD_CHUNKS_H
#define TIDELAKE_STATE_PAYLOAD_CHUNKS_H

#include "base/arena.h"
#include "types/optional.h"

#define BOUND_OPEN STR("null")

/* Rows with lo <= key < hi. */
typedef struct ChunkBounds {
    Str lo, hi; /* JSON */
} ChunkBounds;

/* The key's extent, read just after S. */
typedef struct SnapshotExtent {
    bool    is_integer;
    int64_t lo, hi;       /* of an integer key: MIN and MAX, both belong */
    int64_t row_estimate; /* a guess of the server's */
    Str     max;          /* JSON, of any other key; `null`: the plan is one chunk */
} SnapshotExtent;

typedef struct ChunkedOpen {
    bool           is_resnapshot;
    OptI64         generation;
    OptTime        lost_from_ts, lost_to_ts; /* the gap of a re-snapshot */
    OptI64         switch_batch_id;          /* set: opened after a switch of capture instances */
    bool           has_bounds;               /* the two below are there */
    const Str     *keys;                     /* the cut columns, as captured */
    size_t         key_count;
    SnapshotExtent extent;
} ChunkedOpen;

typedef struct ChunkPlanPayload {
    Lsn                snapshot;
    bool               is_integer;
    const Str         *keys;
    size_t             key_count;
    int64_t            chunk_rows;
    bool               has_bounds;
    const ChunkBounds *chunks; /* when has_bounds */
    size_t             chunk_count;
} ChunkPlanPayload;

typedef struct ChunkPayload {
    OptLsn      snapshot; /* always set when written */
    int64_t     wave, chunk;
    bool        has_bounds;
    ChunkBounds bounds;
    bool        is_last; /* the plan's final chunk */
} ChunkPayload;

Str payload_chunked_open(Arena *arena, const ChunkedOpen *open, bool with_bounds);
Str payload_chunk_plan(Arena *arena, const ChunkPlanPayload *plan, bool with_bounds);
Str payload_chunk(Arena *arena, const ChunkPayload *chunk, bool with_bounds);
/* Of the completion row: chunks counted, rows summed, the newest stamp. */
Str payload_chunks_done(Arena *arena, Lsn snapshot, int64_t chunks, int64_t rows, Lsn last_lsn);

/* Reading, from any release; a missing member takes its default. False: the text is no such payload. What
 * they return borrows `text` or lives in `arena`. */
bool payload_parse_chunked_open(Str text, Arena *arena, ChunkedOpen *out);
bool payload_parse_chunk_plan(Str text, Arena *arena, ChunkPlanPayload *out);
bool payload_parse_chunk(Str text, Arena *arena, ChunkPayload *out);

/* --- the tag of a wave: what its commit in bronze says of itself --- */
typedef struct TagChunk {
    int64_t     chunk;
    ChunkBounds bounds;
    bool        is_last;
    OptI64      rows; /* these four: unset when they were not known at the commit */
    OptLsn      high_lsn;
    double      read_seconds, read_mb; /* NaN: unknown */
} TagChunk;

typedef struct WaveTag {
    Str             key; /* <app_id>#snap.<S>, the commit's txn */
    int64_t         wave;
    Lsn             stamp;
    Str             attempt; /* 32 hex digits, new per attempt: whose commit it is */
    const TagChunk *chunks;  /* the wave's, empty ones too, in the plan's order */
    size_t          chunk_count;
} WaveTag;

Str  payload_wave_tag(Arena *arena, const WaveTag *tag);
bool payload_parse_wave_tag(Str text, Arena *arena, WaveTag *out);

#endif
