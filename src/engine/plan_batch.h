/* plan_batch.h - decides the next batch, its ranges and their splits: pure functions of what was
 * read before (algorithms.md 2.1 to 2.5). */
#ifndef TIDELAKE_ENGINE_PLAN_BATCH_H
#define TIDELAKE_ENGINE_PLAN_BATCH_H

#include "types/optional.h"

#define RANGE_ROWS_FLOOR 50000 /* a range holds at least that many change rows (2.4) */

/* A contiguous part of a batch, both ends belong. */
typedef struct PlannedRange {
    Lsn from, to;
} PlannedRange;

/* The end of the next batch: `upper` is max_lsn, or the fixed target of an available-now run; `nth`
 * the admission limit, when there is one. Returns false when there is nothing after `start`. */
bool plan_batch_end(Lsn start, Lsn upper, OptLsn nth, Lsn *end_out);

/* What the server said of one NTILE tile. */
typedef struct PlanTile {
    Lsn     last_lsn, next_lsn;
    int64_t row_count;
} PlanTile;
/* Splits [from, to] at the tiles into ranges of at least `floor` rows; a short tail joins the range
 * before it (2.4). At least one range. */
void plan_split(Lsn from, Lsn to, const PlanTile *tiles, size_t tile_count, int64_t floor,
                Arena *arena, PlannedRange **out, size_t *count_out);

/* The retention guard (2.5): changes from `from` on are gone when the instance's low end is above
 * it. An unset low end (zero) loses nothing here. */
bool plan_is_lost(Lsn from, Lsn min_lsn, bool min_lsn_is_set);

#endif
