/* plan_parts.h - cuts a table into parts for one read side by side (algorithms.md 3.2). */
#ifndef TIDELAKE_ENGINE_PLAN_PARTS_H
#define TIDELAKE_ENGINE_PLAN_PARTS_H

#include "engine/cut_source.h"

/* Part i is [bounds[i - 1], bounds[i]), the first open below and the last open above: one part more than bounds.
 * None where the table cannot be cut, or is not worth it. */
typedef struct PartPlan {
    const KeyPart **bounds;
    size_t          part_count; /* at least 1 */
} PartPlan;

bool plan_parts(const CutSource *source, const TableCut *cut, int64_t parts, Arena *arena,
                PartPlan *out, Err *err) MUST_CHECK;

#endif
