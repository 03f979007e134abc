/* plan_walk.c - bounds of chunks by seeks. */
#include "engine/plan_walk.h"

#include <assert.h>

static bool same_bound(const KeyPart *left, const KeyPart *right, size_t count)
{
    if (!left || !right) return false;
    for (size_t i = 0; i < count; i++) {
        if (left[i].is_null != right[i].is_null) return false;
        if (!left[i].is_null && !str_equal(left[i].text, right[i].text)) return false;
    }
    return true;
}

bool plan_seek_ahead(const CutSource *source, size_t column_count, bool may_repeat,
                     const KeyPart *lo, const KeyPart *hi, int64_t n, Arena *arena,
                     const KeyPart **out, Err *err)
{
    for (;; n *= 2) {
        const KeyPart *between = NULL;

        if (!source->seek(source->context, lo, hi, n, arena, out, err)) return false;
        if (!*out) return true;
        if (!same_bound(lo, *out, column_count)) {
            if (!may_repeat) return true;
            if (!source->seek(source->context, lo, *out, 0, arena, &between, err)) return false;
            if (between) return true;
        }
        if (n > INT64_MAX / 4)
            return err_set(err, ERR_INTERNAL, "no end of a repeated key was found");
    }
}

bool plan_walk_next(const CutSource *source, const KeyWalk *walk, const KeyPart *lo, Arena *arena,
                    const KeyPart **out, Err *err)
{
    assert(walk->chunk_rows >= 1);
    assert(walk->max != NULL);
    return plan_seek_ahead(source, walk->column_count, walk->may_repeat, lo, walk->max,
                           walk->chunk_rows, arena, out, err);
}

bool plan_walk_last(const CutSource *source, const KeyWalk *walk, Arena *arena, const KeyPart **out,
                    Err *err)
{
    if (walk->may_repeat)
        return plan_seek_ahead(source, walk->column_count, true, walk->max, NULL, 1, arena, out,
                               err);
    if (!source->seek(source->context, walk->max, NULL, 1, arena, out, err)) return false;
    /* a key finer than a bound can hold: closing here would leave MAX's neighbours in no chunk */
    if (same_bound(walk->max, *out, walk->column_count)) *out = NULL;
    return true;
}
