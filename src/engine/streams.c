/* streams.c - streams side by side: each starts when the one before reads or has ended (algorithms.md 10). */
#include "engine/streams.h"

#define NEWS_MOST 2 /* it has started, it has ended */

static void note_start(void *arg)
{
    StreamRun *run = arg;

    run->has_started = true;
    (void)queue_push(run->news, run);
}

/* Said when it happens: the streams beside it may go on for weeks. */
static void log_failure(const StreamRun *run)
{
    char text[ERR_TEXT_BYTES];

    if (run->ok || !run->is_one_of_many || run->err.code == ERR_CANCELLED) return;
    err_format(&run->err, text, sizeof text);
    log_error(run->env->log, "stream", "stream failed",
              LOG_STR("stream", run->options.capture_instance), LOG_TEXT("error", text));
}

static void run_one(void *arg)
{
    StreamRun *run = arg;

    run->was_run = true;
    run->ok      = stream_run(run->env, &run->options, &run->result, &run->err);
    log_failure(run);
    (void)queue_push(run->news, run);
}

static bool stops_the_others(const StreamRun *run)
{
    return !run->has_started && !run->ok && run->err.code != ERR_PERMISSION;
}

/* Until the stream reads batches, or has ended. */
static void start(StreamRun *run)
{
    void *item;

    run->task = sched_spawn(run->env->sched, "stream", run_one, run);
    (void)queue_pop(run->news, -1, &item);
}

void streams_run(Env *env, StreamRun *runs, size_t count)
{
    size_t started = 0;
    bool   is_over = false;

    for (size_t i = 0; i < count; i++) {
        runs[i].env                    = env;
        runs[i].is_one_of_many         = count > 1;
        runs[i].news                   = queue_new(env->sched, NEWS_MOST);
        runs[i].options.on_started     = note_start;
        runs[i].options.on_started_arg = &runs[i];
        err_set(&runs[i].err, ERR_CANCELLED, "not started");
    }
    for (; started < count && !is_over; started++) {
        StreamRun *run = &runs[started];
        err_clear(&run->err);
        start(run);
        is_over = stops_the_others(run);
    }
    if (is_over) cancel_request(env->cancel);
    for (size_t i = 0; i < started; i++)
        sched_join(env->sched, runs[i].task);
    for (size_t i = 0; i < count; i++) {
        runs[i].options.on_started = NULL;
        queue_free(runs[i].news);
    }
}
