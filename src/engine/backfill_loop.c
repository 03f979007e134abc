/* backfill_loop.c - wave after wave: of two that follow each other, the first commits while the second is read, and the
 * second begins on each connection that is through with the first. */
#include "engine/backfill_internal.h"

/* --- committing --- */

static void run_commit(void *arg)
{
    Committing *committing = arg;

    committing->ok = wave_commit(committing->context, committing->bronze, committing->wave,
                                 &committing->record, &committing->err);
    if (committing->ok && committing->looks_for_headroom) {
        Err ignored = ERR_INIT; /* nobody waits for a figure */

        if (!facts_find_headroom(
                committing->context->facts, committing->context->state->open->sink_id,
                &committing->headroom.hours, &committing->headroom.written_at, &ignored))
            committing->headroom.hours.is_set = false;
    }
    (void)queue_push(committing->over, committing);
}

/* For progress alone: now and then, so that it costs nothing. */
static bool wants_headroom(Backfill *backfill)
{
    if (!backfill->env->on_progress ||
        (backfill->headroom_looks > 0 &&
         backfill_seconds_since(backfill, backfill->headroom_ns) < 30))
        return false;
    backfill->headroom_looks++;
    backfill->headroom_ns = clock_monotonic_ns(backfill->env->clock);
    return true;
}

/* The chunk behind the wave. */
static int64_t end_of(const Wave *wave)
{
    return wave->chunks[wave->chunk_count - 1].index + 1;
}

static void start_commit(Backfill *backfill, Wave *wave)
{
    Committing *committing = ARENA_NEW(backfill->arena, Committing);

    committing->context            = &backfill->context;
    committing->bronze             = backfill->bronze[wave->number % 2];
    committing->wave               = wave;
    committing->looks_for_headroom = wants_headroom(backfill);
    for (size_t i = 0; i < wave->chunk_count; i++)
        committing->rows += wave->chunks[i].rows;
    committing->over = queue_new(backfill->env->sched, 1);
    err_clear(&committing->err);
    committing->task      = sched_spawn(backfill->env->sched, "commit", run_commit, committing);
    backfill->committing  = committing;
    backfill->next_commit = wave->number + 1;
    backfill->chunks_read = end_of(wave);
}

static void log_committed(const Backfill *backfill, const Committing *committing)
{
    const WaveRecord *record  = &committing->record;
    int64_t           took_us = clock_utc_us(backfill->env->clock) - committing->wave->started_us;

    log_info(backfill->env->log, "backfill", "wave committed",
             LOG_STR("stream", backfill->options->stream.capture_instance),
             LOG_I64("wave", record->wave), LOG_I64("chunks", record->chunks),
             LOG_LSN("stamp", record->stamp), LOG_I64("rows", record->rows),
             LOG_DOUBLE("seconds", (double)took_us / 1e6),
             LOG_I64("chunks_done", backfill->result->chunks_done),
             LOG_I64("chunks_total", backfill->result->chunks_total.value));
}

/* `as_read` false: the wave holds other chunks than were read for it, and the next one begins behind those. */
static void note_committed(Backfill *backfill, const Committing *committing, bool *as_read)
{
    const WaveRecord *record = &committing->record;
    BackfillResult   *result = backfill->result;

    *as_read                   = record->last_chunk + 1 == end_of(committing->wave);
    backfill->chunks_read      = record->last_chunk + 1;
    backfill->last_is_recorded = record->is_last;
    if (!*as_read) {
        backfill->next_chunk  = backfill->chunks_read;
        backfill->next_wave   = record->wave + 1;
        backfill->next_commit = backfill->next_wave;
    }
    backfill->rows_recorded += record->rows;
    backfill->newest_stamp = lsn_max(backfill->newest_stamp, record->stamp);
    if (committing->headroom.hours.is_set) backfill->headroom = committing->headroom;
    result->waves++;
    result->chunks_done += record->chunks;
    result->rows += record->rows;
    log_committed(backfill, committing);
}

/* Waits for the commit before. */
static bool finish_commit(Backfill *backfill, bool *as_read, Err *err)
{
    Committing *committing = backfill->committing;
    bool        ok;

    *as_read = true;
    if (!committing) return true;
    backfill->committing = NULL;
    sched_join(backfill->env->sched, committing->task);
    queue_free(committing->over);
    ok = committing->ok || err_copy(err, &committing->err);
    if (ok) note_committed(backfill, committing, as_read);
    wave_close(committing->wave);
    return ok;
}

bool backfill_end_commit(Backfill *backfill, Err *err)
{
    bool as_read;

    return finish_commit(backfill, &as_read, err);
}

/* --- reading --- */

/* The next wave, if there is one to read now: `*out` NULL when all are begun, or something asks for a pause. */
static bool begin_next(Backfill *backfill, Wave **out, Err *err)
{
    bool  must_pause;
    Wave *wave;

    *out = NULL;
    backfill_pause_for(backfill, BACKFILL_RUNNING, STR_EMPTY);
    if (!cancel_check(backfill->env->cancel, err)) return false;
    if (backfill->state.is_planned &&
        backfill->next_chunk >= (int64_t)backfill->state.plan.chunk_count)
        return true;
    if (backfill_is_at_limit(backfill)) return true;
    if (!backfill_check_pause(backfill, &must_pause, err)) return false;
    if (must_pause) return true;
    backfill_connect_ahead(backfill);
    if (!backfill->state.is_planned) {
        bool is_planned;

        if (!backfill_make_plan(backfill, &is_planned, err)) return false;
        backfill_await_lanes(backfill);
        return !is_planned || begin_next(backfill, out, err);
    }
    if (!backfill_tell_forecast(backfill, err)) return false;
    wave = backfill_wave_new(backfill->next_wave);
    if (!backfill_begin_wave(backfill, wave, err)) {
        wave_close(wave);
        return false;
    }
    *out = wave;
    return true;
}

/* One connection is through with the wave that is read: the next one begins while the others go on. What forbids it,
 * or fails, is met again when this wave is read. */
static Wave *begin_beside(Backfill *backfill)
{
    Err   ignored = ERR_INIT;
    Wave *next    = NULL;

    wave_lanes_begin_wait(backfill->context.lanes);
    if (!begin_next(backfill, &next, &ignored)) err_clear(&ignored);
    wave_lanes_end_wait(backfill->context.lanes);
    /* one that was read before, or that a dead call cut narrower, leaves lanes alone */
    wave_lanes_let_go(backfill->context.lanes, next ? wave_lane_count(next) : 0);
    backfill_pause_for(backfill, BACKFILL_RUNNING, STR_EMPTY);
    return next;
}

static void drop(Backfill *backfill, Wave *wave)
{
    log_info(backfill->env->log, "backfill",
             "a wave read ahead is dropped: the one before it holds other chunks",
             LOG_STR("stream", backfill->options->stream.capture_instance),
             LOG_I64("wave", wave->number));
    wave_close(wave);
}

/* What lanes keep meanwhile may hold a lock: so long it may. */
#define COMMIT_WAIT_MS 1000

/* What commits usually is in when the next wave is read. */
static bool is_committing(const Backfill *backfill)
{
    void *item;

    return backfill->committing && !queue_pop(backfill->committing->over, COMMIT_WAIT_MS, &item);
}

/* The wave is read before the one ahead of it is in: its files are made to outlive this call while it waits. */
static bool await_commit(Backfill *backfill, Wave *wave, bool *as_read, Err *err)
{
    wave_lanes_let_go(backfill->context.lanes, 0);
    return backfill_end_read(backfill, wave, err) && wave_finish_read(wave, err) &&
           (wave->is_known || wave_seal(&backfill->context, wave, err)) &&
           finish_commit(backfill, as_read, err);
}

/* From the first connection that is through with `wave` to the last. */
static bool read_on(Backfill *backfill, Wave *wave, bool *as_read, Wave **next, Err *err)
{
    wave_lanes_keep(backfill->context.lanes, wave->number);
    if (!wave_await_lane(wave)) return backfill_end_read(backfill, wave, err);
    backfill_note_pace(backfill, wave);
    if (is_committing(backfill)) return await_commit(backfill, wave, as_read, err);
    if (!finish_commit(backfill, as_read, err)) return false;
    if (!*as_read) return true;
    *next = begin_beside(backfill);
    return backfill_end_read(backfill, wave, err);
}

/* The wave ahead is read, and on its way into the tables: from now on this is the one that is waited for. */
static void lead(const Backfill *backfill, Wave *wave)
{
    wave->idle_us += (clock_monotonic_ns(backfill->env->clock) - wave->began_ns) / 1000;
    wave->progress = backfill_progress(backfill, wave->number);
    wave_show(wave);
}

/* Takes over `backfill->reading`: it commits when this returns, and the one behind it is read. */
static bool run_wave(Backfill *backfill, Err *err)
{
    Wave *wave = backfill->reading, *next = NULL;
    bool  as_read = true;
    bool  ok      = read_on(backfill, wave, &as_read, &next, err);

    backfill->reading = next;
    if (ok && as_read) {
        start_commit(backfill, wave);
        if (next) lead(backfill, next);
        return true;
    }
    wave_lanes_let_go(backfill->context.lanes, 0);
    if (ok)
        drop(backfill, wave);
    else
        wave_close(wave);
    wave_close(next); /* of a wave that failed */
    backfill->reading = NULL;
    return ok;
}

bool backfill_run_waves(Backfill *backfill, Err *err)
{
    for (;;) {
        if (!backfill->reading && !begin_next(backfill, &backfill->reading, err)) return false;
        if (backfill->reading) {
            if (!run_wave(backfill, err)) return false;
            continue;
        }
        if (!backfill->committing) return true;
        if (!backfill_end_commit(backfill, err)) return false;
        /* it may hold fewer chunks than were read: then there is more to do */
    }
}
