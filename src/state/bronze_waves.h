/* bronze_waves.h - waves of chunked snapshots in bronze (state.md 14.2, 16.6). */
#ifndef TIDELAKE_STATE_BRONZE_WAVES_H
#define TIDELAKE_STATE_BRONZE_WAVES_H

#include "state/bronze.h"
#include "state/payload_chunks.h"

/* Publishes and commits a wave's files once, under the tag's key and wave, with the tag as userMetadata.
 * There must be files: a wave without rows makes no commit. */
bool bronze_append_wave(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                        const WaveTag *tag, DeltaOutcome *out, Err *err) MUST_CHECK;
/* What dead runs of a purpose left sealed next to bronze (delta_staged_take), and a writer whose files are such ones
 * (delta_writer_open_staged), after bronze_prepare. */
bool bronze_take_staged(Bronze *bronze, Str purpose, Arena *arena, DeltaStaged ***out,
                        size_t *count_out, Err *err) MUST_CHECK;
bool bronze_open_staged(Bronze *bronze, DeltaStaged *staged, Arena *arena, DeltaWriter **out,
                        DeltaAdd **adds_out, size_t *count_out, Str *why_not, Err *err) MUST_CHECK;

/* Is the wave in, and what does its commit say of it? `has_tag` false: the history holds the commit no longer.
 * A table that is not there holds no wave. */
bool bronze_find_wave(Bronze *bronze, Str key, int64_t wave, Arena *arena, bool *is_in,
                      bool *has_tag, WaveTag *out, Err *err) MUST_CHECK;

/* The rows of a chunk as they stand. */
typedef struct ChunkCount {
    int64_t chunk, rows;
    Lsn     stamp; /* the lowest of its rows */
} ChunkCount;
/* Of the chunks of a snapshot from `first` on that have rows, in order. */
bool bronze_count_chunks(Bronze *bronze, Lsn snapshot, int64_t first, Arena *arena,
                         ChunkCount **out, size_t *count_out, Err *err) MUST_CHECK;

#endif
