/* verdict.h - bronze's verdict, moved after each batch next to the stream, never in its way
 * (algorithms.md 8). */
#ifndef TIDELAKE_ENGINE_VERDICT_H
#define TIDELAKE_ENGINE_VERDICT_H

#include "engine/env.h"
#include "state/control.h"
#include "types/offset.h"

/* One tracker per run of a stream: one slot, a newer offset replaces a waiting one; a task of its
 * own advances. */
typedef struct VerdictTracker VerdictTracker;
bool verdict_tracker_start(Env *env, const TableRef *control, Str table_label,
                           Granularity granularity, VerdictTracker **out, Err *err) MUST_CHECK;
/* After the batch's checkpoint commit; never blocks. Accepts NULL. */
void verdict_tracker_offer(VerdictTracker *tracker, const Offset *end);
/* Applies what is left and stops. Accepts NULL. Its failures were logged and fail nobody. */
void verdict_tracker_stop(VerdictTracker *tracker);

#endif
