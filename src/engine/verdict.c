/* verdict.c - the tracker: a queue of one slot and a task that advances. */
#include "engine/verdict.h"

#define WARNING_EVERY_US INT64_C(600000000)

struct VerdictTracker {
    Env        *env;
    Arena      *arena;
    Control    *control;
    Str         label;
    Granularity granularity;
    Queue      *offsets; /* Offset *, owned by whoever holds them */
    Task       *task;
    int64_t     written_us; /* the period this tracker wrote last */
    bool        has_written;
    int64_t     failures; /* of the streak */
    int64_t     warned_us;
};

static void note_failure(VerdictTracker *tracker, const Err *why)
{
    Env    *env    = tracker->env;
    int64_t now_us = clock_utc_us(env->clock);
    char    text[ERR_TEXT_BYTES];

    err_format(why, text, sizeof text);
    if (why->code == ERR_CANCELLED) return; /* the next run catches up */
    if (tracker->failures++ == 0)
        log_error(env->log, "verdict", "verdict not advanced", LOG_STR("table", tracker->label),
                  LOG_TEXT("error", text));
    else if (now_us - tracker->warned_us >= WARNING_EVERY_US)
        log_warn(env->log, "verdict", "verdict still not advanced",
                 LOG_STR("table", tracker->label), LOG_I64("failures", tracker->failures),
                 LOG_TEXT("error", text));
    else
        return;
    tracker->warned_us = now_us;
}

static void advance(VerdictTracker *tracker, const Offset *end)
{
    int64_t period_us;
    OptTime finalized;
    Arena  *scratch;
    Err     why = ERR_INIT;

    if (!end->commit_ts.is_set) return;
    period_us = granularity_truncate(tracker->granularity, end->commit_ts.utc_us);
    if (tracker->has_written && period_us <= tracker->written_us) return;
    if (!control_advance(tracker->control, tracker->label, end, tracker->granularity, &finalized,
                         &why)) {
        note_failure(tracker, &why);
        return;
    }
    tracker->failures    = 0;
    tracker->has_written = true;
    tracker->written_us  = period_us;
    scratch              = arena_new();
    log_info(tracker->env->log, "verdict", "verdict advanced", LOG_STR("table", tracker->label),
             LOG_STR("finalized_until", time_format_ms(scratch, finalized.utc_us)),
             LOG_LSN("end_lsn", end->lsn));
    arena_close(scratch);
}

static void run(void *arg)
{
    VerdictTracker *tracker = arg;
    void           *item;

    while (queue_pop(tracker->offsets, -1, &item)) {
        advance(tracker, item);
        mem_free(item);
    }
}

bool verdict_tracker_start(Env *env, const TableRef *control, Str table_label,
                           Granularity granularity, VerdictTracker **out, Err *err)
{
    Arena          *arena   = arena_new();
    VerdictTracker *tracker = ARENA_NEW(arena, VerdictTracker);
    ControlRow      row;

    tracker->env         = env;
    tracker->arena       = arena;
    tracker->label       = str_copy(arena, table_label);
    tracker->granularity = granularity;
    if (!control_open(env->delta, control, &tracker->control, err)) {
        arena_close(arena);
        *out = NULL;
        return false;
    }
    if (!control_read(tracker->control, tracker->label, &row, err)) {
        control_close(tracker->control);
        arena_close(arena);
        *out = NULL;
        return false;
    }
    tracker->has_written = row.finalized_until.is_set; /* nothing to do up to there */
    tracker->written_us  = row.finalized_until.utc_us;
    tracker->offsets     = queue_new(env->sched, 1);
    tracker->task        = sched_spawn(env->sched, "verdict", run, tracker);
    *out                 = tracker;
    return true;
}

void verdict_tracker_offer(VerdictTracker *tracker, const Offset *end)
{
    void   *waiting;
    Offset *copy;

    if (!tracker) return;
    if (queue_try_pop(tracker->offsets, &waiting)) mem_free(waiting); /* the newer one says more */
    copy  = mem_alloc(sizeof *copy);
    *copy = *end;
    if (!queue_push(tracker->offsets, copy)) mem_free(copy);
}

void verdict_tracker_stop(VerdictTracker *tracker)
{
    if (!tracker) return;
    queue_close(tracker->offsets);
    sched_join(tracker->env->sched, tracker->task);
    queue_free(tracker->offsets);
    control_close(tracker->control);
    arena_close(tracker->arena);
}
