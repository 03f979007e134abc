/* backfill_plan.h - makes the plan of a chunked snapshot, once and for all (algorithms.md 4.5 to 4.8). */
#ifndef TIDELAKE_ENGINE_BACKFILL_PLAN_H
#define TIDELAKE_ENGINE_BACKFILL_PLAN_H

#include "engine/chunk_state.h"
#include "engine/env.h"
#include "engine/stream.h"
#include "source/mssql_cut.h"

typedef struct BackfillPlan {
    Env                 *env;
    const StreamOptions *options;
    int64_t              chunk_rows;
    Facts               *facts;
    const TableRef      *plans_ref;
    Plans              **plans; /* opened, and created, when needed */
    const TableCut      *cut;
    Cutter              *cutter;
    /* Asked between the seeks of a walk. */
    bool (*must_stop)(void *arg, bool *out, Err *err);
    void *arg;
} BackfillPlan;

/* Fills the plan of `state`, in `arena`. A walk that must stop keeps the bounds it found under the checkpoint's
 * _tidelake, where the next call goes on: `is_planned` false, and the tables know nothing of it. The plan that is
 * stored counts, whoever made it. */
bool backfill_plan(const BackfillPlan *plan, ChunkState *state, Arena *arena, bool *is_planned,
                   Err *err) MUST_CHECK;

#endif
