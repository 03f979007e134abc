/* plan_batch.c - decides the next batch; no I/O. */
#include "engine/plan_batch.h"

#include "base/list.h"

#include <assert.h>

bool plan_batch_end(Lsn start, Lsn upper, OptLsn nth, Lsn *end_out)
{
    *end_out = start;
    if (lsn_compare(upper, start) <= 0) return false;
    *end_out = nth.is_set ? lsn_min(nth.lsn, upper) : upper;
    return true;
}

bool plan_is_lost(Lsn from, Lsn min_lsn, bool min_lsn_is_set)
{
    return min_lsn_is_set && lsn_compare(from, min_lsn) < 0;
}

void plan_split(Lsn from, Lsn to, const PlanTile *tiles, size_t tile_count, int64_t floor,
                Arena *arena, PlannedRange **out, size_t *count_out)
{
    LIST(PlannedRange) ranges = {0};
    Lsn     at                = from;
    int64_t rows              = 0;

    assert(lsn_compare(from, to) <= 0);
    for (size_t i = 0; i < tile_count; i++) {
        const PlanTile *tile = &tiles[i];

        /* A bound that two tiles share: its commit is in the range that was closed there. Its rows
         * count for nobody. */
        if (lsn_compare(tile->last_lsn, at) < 0) continue;
        rows += tile->row_count;
        if (lsn_compare(tile->last_lsn, to) >= 0 || rows < floor) continue;
        *LIST_PUSH(arena, &ranges) = (PlannedRange){.from = at, .to = tile->last_lsn};
        at                         = tile->next_lsn;
        rows                       = 0;
    }
    if (ranges.count > 0 && rows < floor)
        ranges.items[ranges.count - 1].to = to; /* a short tail joins the range before it */
    else
        *LIST_PUSH(arena, &ranges) = (PlannedRange){.from = at, .to = to};
    *out       = ranges.items;
    *count_out = ranges.count;
}
