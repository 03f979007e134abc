/* backfill_plan.c - bounds first, then the plans row, then the facts row with the plan read back. */
#include "engine/backfill_plan.h"

#include "base/list.h"
#include "engine/bound_json.h"
#include "engine/cut_source.h"
#include "engine/plan_slices.h"
#include "engine/plan_walk.h"
#include "engine/snapshot.h"

#define BOUND_LIMIT_BYTES ((size_t)1 << 20)

typedef struct Planning {
    const BackfillPlan *plan;
    const ChunkState   *state;
    Arena              *arena;
    CutSource           source;
    Str                 directory; /* of the bounds found so far; empty: there is no checkpoint */
    LIST(Str) bounds;              /* between the chunks, JSON */
    Str last;                      /* the end of the last chunk */
} Planning;

/* --- an integer key --- */

static Str format_key(Arena *arena, WideKey key)
{
    if (key <= INT64_MAX) return str_printf(arena, "%lld", (long long)key);
    return STR("9223372036854775808"); /* one past bigint's maximum: MAX + 1 of the greatest key */
}

static bool plan_integer(Planning *planning, Err *err)
{
    const SnapshotExtent *extent = &planning->state->opened.extent;
    KeyExtent             known  = {true, extent->lo, extent->hi};
    SlicePlan             slices;

    if (!plan_slices(&planning->source, known, extent->row_estimate, planning->plan->chunk_rows,
                     planning->arena, &slices, err))
        return false;
    for (size_t i = 0; i + 1 < slices.chunk_count; i++)
        *LIST_PUSH(planning->arena, &planning->bounds) = format_key(planning->arena,
                                                                    slices.ends[i]);
    planning->last = format_key(planning->arena, slices.ends[slices.chunk_count - 1]);
    return true;
}

/* --- any other key: a walk that can be taken up again --- */

static Str bound_path(const Planning *planning, size_t index, Arena *arena)
{
    return store_join(arena, planning->directory, str_printf(arena, "%010zu", index));
}

static bool load_bounds(Planning *planning, Err *err)
{
    Store *store = planning->plan->env->store;

    if (planning->directory.len == 0) return true;
    for (size_t i = 0;; i++) {
        Err   found = ERR_INIT;
        Bytes bytes;

        if (store_read(store, bound_path(planning, i, planning->arena), BOUND_LIMIT_BYTES,
                       planning->arena, &bytes, &found))
            *LIST_PUSH(planning->arena, &planning->bounds) = bytes_str(bytes);
        else
            return found.code == ERR_NOT_FOUND || err_copy(err, &found);
    }
}

static bool keep_bound(Planning *planning, Str bound, Err *err)
{
    size_t index = planning->bounds.count;

    *LIST_PUSH(planning->arena, &planning->bounds) = bound;
    return planning->directory.len == 0 ||
           store_replace(planning->plan->env->store, bound_path(planning, index, planning->arena),
                         str_bytes(bound), err);
}

/* The plan is stored: what led there is of no use any more. A failure leaves files that nobody reads. */
static void forget_bounds(const Planning *planning)
{
    Store    *store   = planning->plan->env->store;
    Arena    *scratch = arena_new();
    StoreList list;
    bool      removed;
    Err       err = ERR_INIT;
    bool      ok  = planning->directory.len > 0 &&
              store_list_after(store, planning->directory, STR_EMPTY, scratch, &list, &err);

    for (size_t i = 0; ok && i < list.count; i++)
        ok = store_remove(store, store_join(scratch, planning->directory, list.entries[i].name),
                          &err);
    ok = ok && store_remove_directory(store, planning->directory, &removed, &err);
    if (!ok && err.code != ERR_NONE)
        log_debug(planning->plan->env->log, "backfill", "bounds of a plan that is stored were left",
                  LOG_STR("directory", planning->directory), LOG_TEXT("error", err.message));
    arena_close(scratch);
}

static bool walk(Planning *planning, bool *is_planned, Err *err)
{
    const BackfillPlan *plan = planning->plan;
    KeyWalk             walk = {.column_count = plan->cut->column_count,
                                .chunk_rows   = plan->chunk_rows,
                                .may_repeat   = plan->cut->may_repeat};
    const KeyPart      *at   = NULL;

    if (!bound_from_json(planning->arena, plan->cut, planning->state->opened.extent.max, &walk.max,
                         err) ||
        !load_bounds(planning, err))
        return false;
    if (planning->bounds.count > 0 &&
        !bound_from_json(planning->arena, plan->cut,
                         planning->bounds.items[planning->bounds.count - 1], &at, err))
        return false;
    for (;;) {
        bool must_stop = false;

        if (!plan->must_stop(plan->arg, &must_stop, err)) return false;
        if (must_stop) {
            *is_planned = false;
            return true;
        }
        if (!plan_walk_next(&planning->source, &walk, at, planning->arena, &at, err)) return false;
        if (!at) break;
        if (!keep_bound(planning, bound_to_json(planning->arena, plan->cut, at), err)) return false;
    }
    if (!plan_walk_last(&planning->source, &walk, planning->arena, &at, err)) return false;
    planning->last = bound_to_json(planning->arena, plan->cut, at);
    return true;
}

/* --- the plan in the tables --- */

static ChunkPlanPayload payload_of(const Planning *planning)
{
    size_t       count  = planning->bounds.count + 1;
    ChunkBounds *chunks = ARENA_ARRAY(planning->arena, ChunkBounds, count);

    for (size_t i = 0; i < count; i++) {
        chunks[i].lo = i > 0 ? planning->bounds.items[i - 1] : BOUND_OPEN;
        chunks[i].hi = i + 1 < count ? planning->bounds.items[i] : planning->last;
    }
    return (ChunkPlanPayload){.snapshot    = planning->state->open->at.lsn,
                              .is_integer  = planning->state->opened.extent.is_integer,
                              .keys        = planning->state->opened.keys,
                              .key_count   = planning->state->opened.key_count,
                              .chunk_rows  = planning->plan->chunk_rows,
                              .has_bounds  = true,
                              .chunks      = chunks,
                              .chunk_count = count};
}

static Str plan_key(const Planning *planning)
{
    return str_printf(planning->arena, "%.*s#snapplan.%s", STR_ARG(planning->plan->options->app_id),
                      lsn_format(planning->state->open->at.lsn).text);
}

/* Writes the plan next to bronze; of several calls that plan, the first one's is read back. */
static bool store_in_plans(const Planning *planning, ChunkPlanPayload *payload, Err *err)
{
    const BackfillPlan *plan     = planning->plan;
    Lsn                 snapshot = planning->state->open->at.lsn;
    Str                 detail   = payload_chunk_plan(planning->arena, payload, true);
    Str                *details;
    size_t              count;
    DeltaOutcome        outcome;

    if (!*plan->plans && !plans_open(plan->env->delta, plan->plans_ref, plan->plans, err))
        return false;
    if (!plans_append_once(*plan->plans, plan_key(planning), 0, snapshot, STR(EVENT_SNAPSHOT_PLAN),
                           &detail, 1, &outcome, err))
        return false;
    if (!plans_find_details(*plan->plans, snapshot, STR(EVENT_SNAPSHOT_PLAN), planning->arena,
                            &details, &count, err))
        return false;
    return (count > 0 && payload_parse_chunk_plan(details[0], planning->arena, payload) &&
            payload->has_bounds) ||
           err_set(
               err, ERR_DAMAGED,
               "plans table %.*s does not hold the plan of snapshot %s, which was written: restore "
               "the table, or take a new snapshot",
               STR_ARG(plan->plans_ref->label), lsn_format(snapshot).text);
}

static bool store_plan(const Planning *planning, ChunkPlanPayload *payload, int64_t started_us,
                       Err *err)
{
    const BackfillPlan *plan = planning->plan;
    const SnapshotOpen *open = planning->state->open;
    DeltaOutcome        outcome;
    FactsRow            row = snapshot_event_row(open->sink_id, plan->options->bronze.label,
                                                 STR(EVENT_SNAPSHOT_PLAN), &open->at);

    if (!planning->state->is_in_facts && !store_in_plans(planning, payload, err)) return false;
    row.started_at  = OPT_TIME(started_us);
    row.duration_ms = OPT_I64((clock_utc_us(plan->env->clock) - started_us + 500) / 1000);
    row.detail      = payload_chunk_plan(planning->arena, payload, planning->state->is_in_facts);
    return facts_append_once(plan->facts, plan_key(planning), 0, &row, 1, &outcome, err);
}

bool backfill_plan(const BackfillPlan *plan, ChunkState *state, Arena *arena, bool *is_planned,
                   Err *err)
{
    const SnapshotExtent *extent     = &state->opened.extent;
    Planning              planning   = {.plan   = plan,
                                        .state  = state,
                                        .arena  = arena,
                                        .source = cut_source_of_cutter(plan->cutter),
                                        .last   = BOUND_OPEN};
    int64_t               started_us = clock_utc_us(plan->env->clock);
    ChunkPlanPayload      payload;
    bool                  ok = true;

    *is_planned = true;
    if (plan->options->checkpoint.len > 0)
        planning.directory = store_join(arena, plan->options->checkpoint,
                                        str_printf(arena, "_tidelake/plan-%s-%lld",
                                                   lsn_format(state->open->at.lsn).text,
                                                   (long long)plan->chunk_rows));
    if (extent->is_integer)
        ok = plan_integer(&planning, err);
    else if (!str_equal(extent->max, BOUND_OPEN) && plan->cut->can_bound)
        ok = walk(&planning, is_planned, err);
    if (!ok) return err_context(err, "planning");
    if (!*is_planned) return true;
    payload = payload_of(&planning);
    if (!store_plan(&planning, &payload, started_us, err)) return err_context(err, "planning");
    forget_bounds(&planning);
    log_info(plan->env->log, "backfill", "the snapshot is planned",
             LOG_STR("stream", plan->options->capture_instance),
             LOG_LSN("lsn", state->open->at.lsn), LOG_I64("chunks", (int64_t)payload.chunk_count),
             LOG_I64("chunk_rows", payload.chunk_rows));
    state->plan       = payload;
    state->is_planned = true;
    return true;
}
