/* cut_source.c - a Cutter as the planners see it. */
#include "engine/cut_source.h"

static bool find_extents(void *context, const KeyInterval *intervals, size_t count, KeyExtent *out,
                         Err *err)
{
    return cutter_find_extents(context, intervals, count, out, err);
}

static bool count_slices(void *context, const SliceGrid *grids, size_t count, Arena *arena,
                         SliceCounts *out, Err *err)
{
    return cutter_count_slices(context, grids, count, arena, out, err);
}

static bool estimate_rows(void *context, int64_t *rows_out, Err *err)
{
    return cutter_estimate_rows(context, rows_out, err);
}

static bool seek(void *context, const KeyPart *lo, const KeyPart *hi, int64_t n, Arena *arena,
                 const KeyPart **out, Err *err)
{
    return cutter_seek(context, lo, hi, n, arena, out, err);
}

CutSource cut_source_of_cutter(Cutter *cutter)
{
    return (CutSource){cutter, find_extents, count_slices, estimate_rows, seek};
}
