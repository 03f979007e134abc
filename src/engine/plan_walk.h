/* plan_walk.h - cuts a table along any other key than one integer: a walk of seeks, each from the
 * last bound (algorithms.md 4.6, 4.7). One step at a time, so that the caller may stop between two and go on
 * later: bounds are values. */
#ifndef TIDELAKE_ENGINE_PLAN_WALK_H
#define TIDELAKE_ENGINE_PLAN_WALK_H

#include "engine/cut_source.h"

typedef struct KeyWalk {
    size_t  column_count;
    int64_t chunk_rows; /* at least 1 */
    bool    may_repeat; /* the cut columns are not a unique index: a value may have many rows */
    const KeyPart *max; /* the last key when the snapshot was opened; not NULL */
} KeyWalk;

/* The key n rows on from `lo`, and twice as far as often as it takes to leave `lo`; NULL: the range ends
 * before. `lo` NULL: from the start. Only the server can tell whether a row lies between two keys, so where values
 * may repeat it is asked. */
bool plan_seek_ahead(const CutSource *source, size_t column_count, bool may_repeat,
                     const KeyPart *lo, const KeyPart *hi, int64_t n, Arena *arena,
                     const KeyPart **out, Err *err) MUST_CHECK;

/* Where the chunk that begins at `lo` ends: `chunk_rows` rows on, and never where it begins. NULL: MAX is
 * nearer, so this is the last chunk. */
bool plan_walk_next(const CutSource *source, const KeyWalk *walk, const KeyPart *lo, Arena *arena,
                    const KeyPart **out, Err *err) MUST_CHECK;

/* The end of the last chunk: the first key after MAX, so that what is inserted above it later belongs to the
 * stream alone. NULL: open, because there is none yet or because it reads back as MAX. */
bool plan_walk_last(const CutSource *source, const KeyWalk *walk, Arena *arena, const KeyPart **out,
                    Err *err) MUST_CHECK;

#endif
