/* plan_slices.c - chunks of an integer key from counted slices. */
#include "engine/plan_slices.h"

#include "base/list.h"

#include <assert.h>

/* A slice whose rows are known, or one that holds too much and is counted again on a finer grid. */
typedef struct Slice {
    WideKey     from; /* the first slice's is a grid line at or below MIN */
    int64_t     rows;
    bool        is_split;
    KeyInterval interval;
    KeyExtent   extent;
} Slice;

typedef struct SliceList {
    Slice *items;
    size_t count, capacity;
} SliceList;

static WideKey divide_up(WideKey value, WideKey by)
{
    return value / by + (value % by != 0);
}

/* A grid of about 16 slices per chunk, on multiples of its width. */
static int64_t grid_width(KeyExtent extent, int64_t rows, int64_t chunk_rows)
{
    WideKey slices = divide_up((WideKey)16 * rows, chunk_rows);
    WideKey span   = (WideKey)extent.max - extent.min + 1;
    WideKey width;

    slices = slices < 1 ? 1 : slices > SLICES_MAX ? SLICES_MAX : slices;
    width  = span < 1 ? 1 : divide_up(span, slices);
    return width > INT64_MAX ? INT64_MAX : (int64_t)width;
}

/* The slices of one grid, cut to its interval. Those above `chunk_rows` that can be split are marked. */
static void add_slices(const SliceGrid *grid, const SliceCounts *counts, int64_t chunk_rows,
                       Arena *arena, SliceList *out)
{
    for (size_t i = 0; i < counts->count; i++) {
        WideKey from = (WideKey)counts->items[i].index * grid->width, hi = from + grid->width;
        Slice  *slice = LIST_PUSH(arena, out);

        if (grid->interval.has_from && from < grid->interval.from) from = grid->interval.from;
        if (grid->interval.has_hi && hi > grid->interval.hi) hi = grid->interval.hi;
        slice->from     = from;
        slice->rows     = counts->items[i].rows;
        slice->is_split = slice->rows > chunk_rows && grid->width > 1;
        slice->interval = (KeyInterval){true, true, from, hi};
    }
}

/* MIN and MAX of every slice to split. One that lost its rows meanwhile stays as it was counted. */
static bool find_extents(const CutSource *source, SliceList *slices, size_t split_count,
                         Arena *scratch, Err *err)
{
    KeyInterval *intervals = ARENA_ARRAY(scratch, KeyInterval, split_count);
    KeyExtent   *extents   = ARENA_ARRAY(scratch, KeyExtent, split_count);
    size_t       n         = 0;

    for (size_t i = 0; i < slices->count; i++)
        if (slices->items[i].is_split) intervals[n++] = slices->items[i].interval;
    if (!source->find_extents(source->context, intervals, n, extents, err)) return false;
    n = 0;
    for (size_t i = 0; i < slices->count; i++) {
        Slice *slice = &slices->items[i];

        if (!slice->is_split) continue;
        slice->extent   = extents[n++];
        slice->is_split = slice->extent.is_found;
    }
    return true;
}

/* Replaces every slice to split by the slices of its own grid. */
static bool count_again(const CutSource *source, const SliceList *slices, int64_t chunk_rows,
                        Arena *scratch, SliceList *out, Err *err)
{
    SliceGrid   *grids  = ARENA_ARRAY(scratch, SliceGrid, slices->count + 1);
    SliceCounts *counts = ARENA_ARRAY(scratch, SliceCounts, slices->count + 1);
    size_t       n      = 0;

    for (size_t i = 0; i < slices->count; i++) {
        const Slice *slice = &slices->items[i];
        if (slice->is_split)
            grids[n++] = (SliceGrid){slice->interval,
                                     grid_width(slice->extent, slice->rows, chunk_rows)};
    }
    if (n > 0 && !source->count_slices(source->context, grids, n, scratch, counts, err))
        return false;
    n = 0;
    for (size_t i = 0; i < slices->count; i++) {
        if (slices->items[i].is_split) {
            add_slices(&grids[n], &counts[n], chunk_rows, scratch, out);
            n++;
        } else {
            *LIST_PUSH(scratch, out) = slices->items[i];
        }
    }
    return true;
}

static size_t count_splits(const SliceList *slices)
{
    size_t n = 0;

    for (size_t i = 0; i < slices->count; i++)
        n += slices->items[i].is_split;
    return n;
}

/* Neighbours together up to `chunk_rows`; a chunk starts where a slice with rows does. */
static void pack(const SliceList *slices, WideKey end, int64_t chunk_rows, Arena *arena,
                 SlicePlan *out)
{
    LIST(WideKey) ends = {0};
    int64_t held       = 0;

    for (size_t i = 0; i < slices->count; i++) {
        const Slice *slice = &slices->items[i];

        if (held > 0 && slice->rows > chunk_rows - held) {
            *LIST_PUSH(arena, &ends) = slice->from;
            held                     = 0;
        }
        held += slice->rows;
    }
    *LIST_PUSH(arena, &ends) = end;
    *out                     = (SlicePlan){ends.items, ends.count};
}

bool plan_slices(const CutSource *source, KeyExtent extent, int64_t row_estimate,
                 int64_t chunk_rows, Arena *arena, SlicePlan *out, Err *err)
{
    Arena    *scratch = arena_new();
    WideKey   end     = (WideKey)extent.max + 1;
    SliceList slices  = {0};
    bool      ok      = true;

    assert(chunk_rows >= 1);
    assert(extent.is_found);
    /* The whole table is the slice to split of level 0: what the open found is its extent. */
    *LIST_PUSH(scratch, &slices) = (Slice){.rows     = row_estimate < 0 ? 0 : row_estimate,
                                           .is_split = true,
                                           .interval = {.has_hi = true, .hi = end},
                                           .extent   = extent};
    for (size_t splits = 1; ok && splits > 0;) {
        SliceList finer = {0};

        ok     = count_again(source, &slices, chunk_rows, scratch, &finer, err);
        slices = finer;
        splits = count_splits(&slices);
        if (ok && splits > 0) ok = find_extents(source, &slices, splits, scratch, err);
        splits = count_splits(&slices);
    }
    if (ok) pack(&slices, end, chunk_rows, arena, out);
    arena_close(scratch);
    return ok;
}
