/* verdict.h - up to when a table is complete: moved after each batch next to the stream, never in its way;
 * looked at and moved on request (algorithms.md 8). */
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

/* --- on request --- */

typedef struct VerdictState {
    ControlRow row;           /* exists false: control has none, or there is no control table */
    OptI64     verdict_age_s; /* whole seconds from finalized_until to now */
    OptI64     move_age_s;    /* and since it moved */
} VerdictState;

/* Looks; creates and changes nothing. */
bool verdict_read(Env *env, const TableRef *control, Str table_label, VerdictState *out,
                  Err *err) MUST_CHECK;
/* Is the period that ends at this time complete? */
bool verdict_is_final(const VerdictState *state, int64_t until_us);

typedef struct VerdictOptions {
    TableRef    control, bronze, silver; /* silver: of verdict_advance_silver alone */
    TableRef    facts;                   /* path empty: none */
    Str         checkpoint;
    Granularity granularity;
} VerdictOptions;

/* Moves bronze's verdict to the end of the last batch that the checkpoint has as committed: its rows are in. Without
 * such a batch it stays. `out` (of both): as it stands afterwards. */
bool verdict_advance_bronze(Env *env, const VerdictOptions *options, VerdictState *out,
                            Err *err) MUST_CHECK;
/* Moves silver's verdict to the commit time of the newest change it has applied. It stays while a snapshot is open or
 * not in silver yet, without facts, which alone tell, and without silver. */
bool verdict_advance_silver(Env *env, const VerdictOptions *options, VerdictState *out,
                            Err *err) MUST_CHECK;

#endif
