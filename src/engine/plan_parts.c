/* plan_parts.c - equal steps of an integer key, or tiles of the key order found by seeks. */
#include "engine/plan_parts.h"

#include "base/list.h"
#include "engine/plan_walk.h"

typedef LIST(const KeyPart *) BoundList;

/* Each part as wide as the others, whatever it holds: two seeks say all there is to know. */
static bool plan_steps(const CutSource *source, int64_t parts, Arena *arena, BoundList *bounds,
                       Err *err)
{
    KeyInterval whole  = {.has_from = false};
    KeyExtent   extent = {.is_found = false};

    if (!source->find_extents(source->context, &whole, 1, &extent, err)) return false;
    if (!extent.is_found) return true;
    WideKey span = (WideKey)extent.max - extent.min + 1;
    WideKey n    = span < parts ? span : parts;
    for (WideKey i = 1; i < n; i++) {
        KeyPart *bound = ARENA_NEW(arena, KeyPart);

        bound->text = str_printf(arena, "%lld", (long long)(extent.min + span * i / n));
        *LIST_PUSH(arena, bounds) = bound;
    }
    return true;
}

/* Each part with as many rows as the others, when the server's guess of the rows is right. */
static bool plan_tiles(const CutSource *source, const TableCut *cut, int64_t parts, Arena *arena,
                       BoundList *bounds, Err *err)
{
    const KeyPart *lo = NULL, *bound = NULL;
    int64_t        rows = 0;

    if (!source->estimate_rows(source->context, &rows, err)) return false;
    int64_t n = MIN(parts, rows);
    for (int64_t i = 0; i + 1 < n; i++, lo = bound) {
        int64_t size = rows / n + (i < rows % n ? 1 : 0);

        if (!plan_seek_ahead(source, cut->column_count, cut->may_repeat, lo, NULL, size, arena,
                             &bound, err))
            return false;
        if (!bound) break;
        *LIST_PUSH(arena, bounds) = bound;
    }
    return true;
}

bool plan_parts(const CutSource *source, const TableCut *cut, int64_t parts, Arena *arena,
                PartPlan *out, Err *err)
{
    BoundList bounds = {0};

    if (cut->can_bound && parts > 1) {
        bool ok = cut->is_integer ? plan_steps(source, parts, arena, &bounds, err)
                                  : plan_tiles(source, cut, parts, arena, &bounds, err);
        if (!ok) return false;
    }
    *out = (PartPlan){bounds.items, bounds.count + 1};
    return true;
}
