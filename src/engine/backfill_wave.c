/* backfill_wave.c - the next wave of a call: stamp, bounds and chunks, then its rows (algorithms.md 4.9, steps f to j). */
#include "engine/backfill_internal.h"

#include "engine/bound_json.h"
#include "engine/cut_source.h"
#include "engine/plan_walk.h"
#include "engine/plan_wave.h"
#include "engine/snapshot.h"

#include <math.h>

static bool ask_stamp(Backfill *backfill, Err *err)
{
    const CaptureTable *table = &backfill->stream.table;
    Offset              stamp;

    if (!snapshot_stamp(backfill->mssql, &table->instances[table->configured], &stamp, err))
        return false;
    wave_lanes_set_stamp(backfill->context.lanes, &stamp);
    backfill->is_stamped_ahead = true;
    return true;
}

/* A stamp may be as old as one likes, if it is not below S; so two questions less stand between two waves. What goes
 * wrong is asked again, and told, when it is wanted. */
void backfill_stamp_ahead(void *arg)
{
    Backfill *backfill = arg;
    Err       ignored  = ERR_INIT;

    if (backfill->next_chunk >= (int64_t)backfill->state.plan.chunk_count) return;
    wave_lanes_begin_wait(backfill->context.lanes);
    if (!ask_stamp(backfill, &ignored)) err_clear(&ignored);
    wave_lanes_end_wait(backfill->context.lanes);
}

static bool take_stamp(Backfill *backfill, Wave *wave, Err *err)
{
    Lsn snapshot = backfill->state.open->at.lsn;

    if (!backfill->is_stamped_ahead && !ask_stamp(backfill, err)) return false;
    backfill->is_stamped_ahead = false;
    return (wave_lanes_stamp(backfill->context.lanes, &wave->stamp) &&
            lsn_compare(wave->stamp.lsn, snapshot) >= 0) ||
           err_set(err, ERR_SOURCE_STATE,
                   "the newest captured LSN is %s, below the snapshot's %s: is this a readable "
                   "secondary that is behind, or another database? Nothing was read",
                   lsn_format(wave->stamp.lsn).text, lsn_format(snapshot).text);
}

/* A last chunk that was open when it was planned ends where the first key above MAX is by now. */
static bool find_last_end(Backfill *backfill, const KeyPart **out, Err *err)
{
    const SnapshotExtent *extent = &backfill->state.opened.extent;
    CutSource             source = cut_source_of_cutter(backfill->cutter);
    KeyWalk               walk   = {.column_count = backfill->cut.column_count,
                                    .chunk_rows   = 1,
                                    .may_repeat   = backfill->cut.may_repeat};

    *out = NULL;
    if (extent->is_integer || str_equal(extent->max, BOUND_OPEN) || !backfill->cut.can_bound)
        return true;
    /* the new rows may be locked, by somebody who waits for a row that a lane keeps */
    wave_lanes_let_go(backfill->context.lanes, 0);
    return bound_from_json(backfill->arena, &backfill->cut, extent->max, &walk.max, err) &&
           plan_walk_last(&source, &walk, backfill->arena, out, err);
}

static bool add_chunk(Backfill *backfill, Wave *wave, int64_t index, const ChunkBounds *bounds,
                      Err *err)
{
    WaveChunk *chunk = &wave->chunks[wave->chunk_count++];

    *chunk = (WaveChunk){.index   = index,
                         .bounds  = *bounds,
                         .is_last = index + 1 == (int64_t)backfill->state.plan.chunk_count};
    return bound_from_json(wave->arena, &backfill->cut, bounds->lo, &chunk->lo, err) &&
           bound_from_json(wave->arena, &backfill->cut, bounds->hi, &chunk->hi, err);
}

/* An attempt that got as far as its plans rows decided which chunks this wave has, and their bounds. */
static bool take_planned_chunks(Backfill *backfill, Wave *wave, bool *found, Err *err)
{
    Str    *details;
    size_t  count, kept = 0;
    int64_t first = -1;
    bool    was_recorded;

    *found = false;
    if (backfill->state.is_in_facts) return true;
    if (!plans_has(backfill->plans,
                   str_printf(wave->arena, "%.*s#snapchunks.%s",
                              STR_ARG(backfill->options->stream.app_id),
                              lsn_format(backfill->state.open->at.lsn).text),
                   wave->number, &was_recorded, err))
        return false;
    if (!was_recorded) return true;
    if (!plans_find_details(backfill->plans, backfill->state.open->at.lsn,
                            STR(EVENT_SNAPSHOT_CHUNK), wave->arena, &details, &count, err))
        return false;
    ChunkPayload *chunks = ARENA_ARRAY(wave->arena, ChunkPayload, count + 1);
    for (size_t i = 0; i < count; i++) {
        ChunkPayload chunk;

        if (!payload_parse_chunk(details[i], wave->arena, &chunk) || chunk.wave != wave->number ||
            !chunk.has_bounds)
            continue;
        chunks[kept++] = chunk;
        if (first < 0 || chunk.chunk < first) first = chunk.chunk;
    }
    wave->chunks = ARENA_ARRAY(wave->arena, WaveChunk, kept + 1);
    for (size_t n = 0; n < kept; n++) /* in the plan's order; a chunk recorded twice counts once */
        for (size_t i = 0; i < kept; i++)
            if (chunks[i].chunk == first + (int64_t)n && wave->chunk_count == n &&
                !add_chunk(backfill, wave, chunks[i].chunk, &chunks[i].bounds, err))
                return false;
    *found = wave->chunk_count > 0;
    return true;
}

static int64_t next_width(const Backfill *backfill)
{
    const ChunkPlanPayload *plan = &backfill->state.plan;
    WavePace                pace = {
                       .round_seconds  = backfill->pace,
                       .target_seconds = backfill->options->target_wave_seconds,
                       .rest_seconds   = backfill->options->max_seconds.is_set
                                             ? fmax(0, backfill->options->max_seconds.value -
                                                           backfill_seconds_since(backfill, backfill->began_ns))
                                             : -1};

    return plan_wave_chunks(backfill->context.connections, &pace, (int64_t)plan->chunk_count,
                            (int64_t)plan->chunk_count - backfill->next_chunk);
}

static bool take_next_chunks(Backfill *backfill, Wave *wave, Err *err)
{
    const ChunkPlanPayload *plan     = &backfill->state.plan;
    int64_t                 width    = next_width(backfill);
    const KeyPart          *last_end = NULL;

    if (backfill->next_chunk + width == (int64_t)plan->chunk_count &&
        str_equal(plan->chunks[plan->chunk_count - 1].hi, BOUND_OPEN) &&
        !find_last_end(backfill, &last_end, err))
        return false;
    wave->chunks = ARENA_ARRAY(wave->arena, WaveChunk, (size_t)width);
    for (int64_t i = 0; i < width; i++) {
        int64_t     index  = backfill->next_chunk + i;
        ChunkBounds bounds = plan->chunks[index];

        if (last_end && index + 1 == (int64_t)plan->chunk_count)
            bounds.hi = bound_to_json(wave->arena, &backfill->cut, last_end);
        if (!add_chunk(backfill, wave, index, &bounds, err)) return false;
    }
    return true;
}

/* Bronze has the wave, by an attempt that died before it was recorded: nothing has to be read. Asked only when
 * no wave of this call is on its way. */
static bool find_known(Backfill *backfill, Wave *wave, Err *err)
{
    WaveTag tag;
    bool    has_tag;

    if (backfill->committing || backfill->reading) return true;
    return bronze_find_wave(backfill->bronze[wave->number % 2], backfill->context.key, wave->number,
                            wave->arena, &wave->is_known, &has_tag, &tag, err);
}

Wave *backfill_wave_new(int64_t number)
{
    Arena *arena = arena_new();
    Wave  *wave  = ARENA_NEW(arena, Wave);

    wave->arena  = arena;
    wave->number = number;
    return wave;
}

static bool find_staged(Backfill *backfill, Wave *wave, bool *taken, Err *err)
{
    return staged_waves_find(backfill->staged, &backfill->context,
                             backfill->bronze[wave->number % 2], backfill->next_chunk, wave, taken,
                             err);
}

static void note_chunks(Backfill *backfill, const Wave *wave)
{
    for (size_t i = 0; i < wave->chunk_count; i++)
        backfill_note_chunk(backfill, wave->number, wave->chunks[i].rows, wave->chunks[i].seconds,
                            (double)wave->chunks[i].bytes / 1e6);
}

int64_t backfill_waves_begun(const Backfill *backfill)
{
    return backfill->result->waves + (backfill->committing != NULL) + (backfill->reading != NULL);
}

static bool begin_rows(Backfill *backfill, Wave *wave, Err *err)
{
    wave->high = wave->stamp;
    if (wave->is_known) return true;
    wave->progress        = backfill_progress(backfill, wave->number);
    wave->is_hidden       = backfill->reading != NULL;
    wave->is_last_of_call = backfill->options->max_waves.is_set &&
                            backfill_waves_begun(backfill) + 1 >=
                                backfill->options->max_waves.value;
    return wave_begin_read(&backfill->context, backfill->bronze[wave->number % 2], wave, err);
}

/* Steps f to j: stamp, bounds, chunks, read. First whether anything has to be read: bronze is asked while the files of
 * dead calls are locked, so that it shows all that those calls committed. */
static bool begin_wave(Backfill *backfill, Wave *wave, Err *err)
{
    bool found, taken = false;

    if (!take_planned_chunks(backfill, wave, &found, err) || !find_known(backfill, wave, err) ||
        (!wave->is_known && !find_staged(backfill, wave, &taken, err)))
        return false;
    return taken ||
           (take_stamp(backfill, wave, err) && (found || take_next_chunks(backfill, wave, err)) &&
            begin_rows(backfill, wave, err));
}

bool backfill_begin_wave(Backfill *backfill, Wave *wave, Err *err)
{
    wave->began_ns   = clock_monotonic_ns(backfill->env->clock);
    wave->started_us = clock_utc_us(backfill->env->clock);
    if (!begin_wave(backfill, wave, err))
        return err_context(err, "wave %lld", (long long)wave->number);
    backfill->next_chunk = wave->chunks[wave->chunk_count - 1].index + 1;
    backfill->next_wave  = wave->number + 1;
    return true;
}

void backfill_note_pace(Backfill *backfill, const Wave *wave)
{
    double seconds = wave_lane_seconds(wave);

    if (seconds > 0)
        backfill->pace = plan_wave_pace(seconds, (int64_t)wave->chunk_count,
                                        backfill->context.connections);
}

bool backfill_end_read(Backfill *backfill, Wave *wave, Err *err)
{
    if (!wave_await_rows(wave, err)) return false;
    if (!wave->is_known) note_chunks(backfill, wave);
    return true;
}
