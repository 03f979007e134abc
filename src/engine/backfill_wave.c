/* backfill_wave.c - the next wave of a call: stamp, bounds and chunks, then its rows (algorithms.md 4.9, steps f to j). */
#include "engine/backfill_internal.h"

#include "engine/bound_json.h"
#include "engine/cut_source.h"
#include "engine/plan_walk.h"
#include "engine/plan_wave.h"
#include "engine/snapshot.h"

#include <math.h>

static bool ask_stamp(Backfill *backfill, Offset *out, Err *err)
{
    const CaptureTable *table = &backfill->stream.table;

    return snapshot_stamp(backfill->mssql, &table->instances[table->configured], out, err);
}

/* A stamp may be as old as one likes, if it is not below S; so two questions less stand between two waves. What goes
 * wrong is asked again, and told, when it is wanted. */
void backfill_stamp_ahead(void *arg)
{
    Backfill *backfill = arg;
    Err       ignored  = ERR_INIT;

    if (backfill->read_to < (int64_t)backfill->state.plan.chunk_count)
        backfill->is_stamped_ahead = ask_stamp(backfill, &backfill->stamp_ahead, &ignored);
}

static bool take_stamp(Backfill *backfill, Wave *wave, Err *err)
{
    Lsn snapshot = backfill->state.open->at.lsn;

    if (backfill->is_stamped_ahead)
        wave->stamp = backfill->stamp_ahead;
    else if (!ask_stamp(backfill, &wave->stamp, err))
        return false;
    backfill->is_stamped_ahead = false;
    return lsn_compare(wave->stamp.lsn, snapshot) >= 0 ||
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

static bool take_next_chunks(Backfill *backfill, Wave *wave, const KeyPart *last_end, Err *err)
{
    const ChunkPlanPayload *plan = &backfill->state.plan;
    int64_t                 left = (int64_t)plan->chunk_count - backfill->next_chunk;
    WavePace                pace = {
                       .round_seconds  = backfill->pace,
                       .target_seconds = backfill->options->target_wave_seconds,
                       .rest_seconds   = backfill->options->max_seconds.is_set
                                             ? fmax(0, backfill->options->max_seconds.value -
                                                           backfill_seconds_since(backfill, backfill->began_ns))
                                             : -1};
    int64_t width = plan_wave_chunks(backfill->context.connections, &pace,
                                     (int64_t)plan->chunk_count, left);

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
 * no commit of this call is on its way. */
static bool find_known(Backfill *backfill, Wave *wave, Err *err)
{
    WaveTag tag;
    bool    has_tag;

    if (backfill->committing) return true;
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

/* While the wave before commits, this task would wait: it seals. Else the next wave is read at once, and the commit
 * begins with that. How far the log is by then is the committing task's to ask in either case. */
static bool seal_early(Backfill *backfill, Wave *wave, Err *err)
{
    return wave->is_known || !backfill->committing || atomic_load(&backfill->committing->is_over) ||
           (wave_finish_read(wave, err) && wave_seal(&backfill->context, wave, err));
}

static void note_chunks(Backfill *backfill, const Wave *wave)
{
    for (size_t i = 0; i < wave->chunk_count; i++)
        backfill_note_chunk(backfill, wave->number, wave->chunks[i].rows, wave->chunks[i].seconds,
                            (double)wave->chunks[i].bytes / 1e6);
}

static bool read_rows(Backfill *backfill, Wave *wave, int64_t began_ns, Err *err)
{
    wave->high = wave->stamp;
    if (wave->is_known) return true;
    wave->progress    = backfill_progress(backfill, wave->number);
    backfill->read_to = wave->chunks[wave->chunk_count - 1].index + 1;
    if (!wave_read(&backfill->context, backfill->bronze[wave->number % 2], wave, err)) return false;
    backfill->pace = plan_wave_pace(backfill_seconds_since(backfill, began_ns),
                                    (int64_t)wave->chunk_count, backfill->context.connections);
    return true;
}

/* Steps f to j: stamp, bounds, chunks, read. First whether anything has to be read: bronze is asked while the files of
 * dead calls are locked, so that it shows all that those calls committed. */
bool backfill_read_wave(Backfill *backfill, Wave *wave, Err *err)
{
    int64_t        began_ns = clock_monotonic_ns(backfill->env->clock);
    const KeyPart *last_end = NULL;
    const Str *planned_hi   = &backfill->state.plan.chunks[backfill->state.plan.chunk_count - 1].hi;
    bool       found, taken = false;

    wave->started_us = clock_utc_us(backfill->env->clock);
    if (!take_planned_chunks(backfill, wave, &found, err)) return false;
    if (!find_known(backfill, wave, err) ||
        (!wave->is_known && !find_staged(backfill, wave, &taken, err)))
        return false;
    if (taken) {
        note_chunks(backfill, wave);
        return true;
    }
    if (!take_stamp(backfill, wave, err)) return false;
    if (!found && str_equal(*planned_hi, BOUND_OPEN) && !find_last_end(backfill, &last_end, err))
        return false;
    if (!found && !take_next_chunks(backfill, wave, last_end, err)) return false;
    if (!read_rows(backfill, wave, began_ns, err)) return false;
    if (!wave->is_known) note_chunks(backfill, wave);
    return seal_early(backfill, wave, err);
}
