/* key_column.h - a column of integer keys in memory that answers what plan_slices asks the server. */
#ifndef TIDELAKE_TESTS_KEY_COLUMN_H
#define TIDELAKE_TESTS_KEY_COLUMN_H

#include "base/list.h"
#include "engine/plan_slices.h"

typedef struct KeyColumnModel {
    int64_t *keys; /* ascending */
    size_t   count;
    int      count_calls, extent_calls;
} KeyColumnModel;

UNUSED static int compare_keys(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

UNUSED static int64_t floor_divide(int64_t key, int64_t width)
{
    return key / width - (key % width < 0);
}

UNUSED static bool interval_holds(const KeyInterval *interval, int64_t key)
{
    return (!interval->has_from || key >= interval->from) &&
           (!interval->has_hi || key < interval->hi);
}

UNUSED static bool key_column_count(void *context, const SliceGrid *grids, size_t grid_count,
                                    Arena *arena, SliceCounts *out, Err *err)
{
    KeyColumnModel *model = context;

    (void)err;
    model->count_calls++;
    for (size_t g = 0; g < grid_count; g++) {
        LIST(SliceCount) counts = {0};
        for (size_t i = 0; i < model->count; i++) {
            if (!interval_holds(&grids[g].interval, model->keys[i])) continue;
            int64_t index = floor_divide(model->keys[i], grids[g].width);
            if (counts.count == 0 || counts.items[counts.count - 1].index != index)
                LIST_PUSH(arena, &counts)->index = index;
            counts.items[counts.count - 1].rows++;
        }
        out[g] = (SliceCounts){counts.items, counts.count};
        assert_true(counts.count <= SLICES_MAX + 1);
    }
    return true;
}

UNUSED static bool key_column_extents(void *context, const KeyInterval *intervals,
                                      size_t interval_count, KeyExtent *out, Err *err)
{
    KeyColumnModel *model = context;

    (void)err;
    model->extent_calls++;
    for (size_t n = 0; n < interval_count; n++) {
        out[n] = (KeyExtent){0};
        for (size_t i = 0; i < model->count; i++) {
            if (!interval_holds(&intervals[n], model->keys[i])) continue;
            if (!out[n].is_found) out[n].min = model->keys[i];
            out[n].max      = model->keys[i];
            out[n].is_found = true;
        }
    }
    return true;
}

UNUSED static CutSource key_column_source(KeyColumnModel *model)
{
    return (CutSource){
        .context = model, .find_extents = key_column_extents, .count_slices = key_column_count};
}

UNUSED static KeyExtent key_column_extent(const KeyColumnModel *model)
{
    if (model->count == 0) return (KeyExtent){0};
    return (KeyExtent){true, model->keys[0], model->keys[model->count - 1]};
}

#endif
