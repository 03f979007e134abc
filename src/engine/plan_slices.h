/* plan_slices.h - cuts a table along one integer column: counts equal slices of the key, splits
 * what holds too much, packs neighbours (algorithms.md 4.5). All grids
 * of a level are asked for in one question, so the questions do not grow with the number of slices that are too
 * full. */
#ifndef TIDELAKE_ENGINE_PLAN_SLICES_H
#define TIDELAKE_ENGINE_PLAN_SLICES_H

#include "engine/cut_source.h"

#define SLICES_MAX 100000 /* a query of counts gives at most that many rows per grid */

/* Chunk i is [ends[i - 1], ends[i]), the first one open below. */
typedef struct SlicePlan {
    WideKey *ends;
    size_t   chunk_count; /* at least 1 */
} SlicePlan;

/* `extent` is what the open recorded (MIN and MAX after S), `row_estimate` the server's guess then; it sizes
 * the first grid and nothing else. No chunk is empty, and one with more than `chunk_rows` rows holds a
 * single value. Errors: the source's. */
bool plan_slices(const CutSource *source, KeyExtent extent, int64_t row_estimate,
                 int64_t chunk_rows, Arena *arena, SlicePlan *out, Err *err) MUST_CHECK;

#endif
