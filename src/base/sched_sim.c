/* sched_sim.c - threads that pass one baton, and the clock that only they can move.
 *
 * Whoever calls in here holds the baton, so the caller is always `sim->current`, whichever
 * thread it comes from: the thread that made the scheduler is the task "main", and a library's
 * own thread that calls back on behalf of a task that waits for it counts as that task. One lock
 * guards everything; it is never held while a task runs. */
#include "base/sched.h"

#include "base/arena.h"
#include "base/base_internal.h"
#include "base/sched_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum TaskState { TASK_READY, TASK_RUNNING, TASK_WAITING, TASK_DONE } TaskState;

#define NEVER INT64_MAX

typedef struct SimTask {
    struct SimTask *next; /* in the order of spawning */
    const char     *name;
    TaskRun         run;
    void           *arg;
    struct Sim     *sim;
    pthread_t       thread;
    pthread_cond_t  turn;
    TaskState       state;
    const void     *waits_for; /* a queue, a task, or NULL: only for time */
    const char     *waits_how; /* for the report of a deadlock */
    int64_t         wake_ns;   /* NEVER: not by time */
} SimTask;

typedef struct SimClock {
    Clock       base;
    struct Sim *sim;
} SimClock;

typedef struct Sim {
    Sched           base;
    pthread_mutex_t lock;
    Rng            *rng;
    SimClock        clock;
    int64_t         start_utc_us;
    int64_t         now_ns;
    SimTask         main; /* first of the list */
    SimTask        *current;
    SchedTrace      trace;
    void           *trace_arg;
} Sim;

/* ---- the baton; all of this with the lock held ---- */

static void die_of_deadlock(const Sim *sim)
{
    (void)fprintf(stderr, "simulation: every task waits for another one, at %lld ns:\n",
                  (long long)sim->now_ns);
    for (const SimTask *task = &sim->main; task != NULL; task = task->next)
        if (task->state == TASK_WAITING)
            (void)fprintf(stderr, "  %s waits %s\n", task->name, task->waits_how);
    abort();
}

static size_t count_ready(const Sim *sim)
{
    size_t count = 0;

    for (const SimTask *task = &sim->main; task != NULL; task = task->next)
        count += task->state == TASK_READY;
    return count;
}

/* Nobody can run: on to the earliest moment somebody waits for. */
static void jump_to_next_sleeper(Sim *sim)
{
    int64_t wake_ns = NEVER;

    for (const SimTask *task = &sim->main; task != NULL; task = task->next)
        if (task->state == TASK_WAITING) wake_ns = MIN(wake_ns, task->wake_ns);
    if (wake_ns == NEVER) die_of_deadlock(sim);
    sim->now_ns = MAX(sim->now_ns, wake_ns);
    for (SimTask *task = &sim->main; task != NULL; task = task->next)
        if (task->state == TASK_WAITING && task->wake_ns <= sim->now_ns) task->state = TASK_READY;
}

static SimTask *choose_next(Sim *sim)
{
    if (count_ready(sim) == 0) jump_to_next_sleeper(sim);

    uint64_t skip = rng_below(sim->rng, count_ready(sim));
    for (SimTask *task = &sim->main; task != NULL; task = task->next) {
        if (task->state != TASK_READY) continue;
        if (skip == 0) return task;
        skip--;
    }
    assert(false); /* one of the ready ones was chosen */
    return NULL;
}

/* Hands the baton on, as the caller's state allows, and returns when the caller has it again (at
 * once when it is done). */
static void pass_baton(Sim *sim)
{
    SimTask *self = sim->current;
    SimTask *next = choose_next(sim);

    next->state  = TASK_RUNNING;
    sim->current = next;
    if (next == self) return;
    (void)pthread_cond_signal(&next->turn);
    if (self->state == TASK_DONE) return;
    while (sim->current != self)
        (void)pthread_cond_wait(&self->turn, &sim->lock);
}

static void stay_ready(Sim *sim)
{
    sim->current->state = TASK_READY;
    pass_baton(sim);
}

/* `what` is NULL for time alone. Returns when woken, by wake_waiters, a cancel or the time. */
static void wait_for(Sim *sim, const void *what, const char *how, int64_t wake_ns)
{
    SimTask *self = sim->current;

    self->state     = TASK_WAITING;
    self->waits_for = what;
    self->waits_how = how;
    self->wake_ns   = wake_ns;
    pass_baton(sim);
    self->waits_for = NULL;
}

static void wake_waiters(Sim *sim, const void *what)
{
    for (SimTask *task = &sim->main; task != NULL; task = task->next)
        if (task->state == TASK_WAITING && task->waits_for == what) task->state = TASK_READY;
}

static void lock(Sim *sim)
{
    (void)pthread_mutex_lock(&sim->lock);
}

static void unlock(Sim *sim)
{
    (void)pthread_mutex_unlock(&sim->lock);
}

static void tell_trace(Sim *sim, const char *what)
{
    if (sim->trace != NULL) sim->trace(sim->trace_arg, sim->now_ns, sim->current->name, what);
}

/* ---- tasks ---- */

static void *run_sim_task(void *arg)
{
    SimTask *task = arg;
    Sim     *sim  = task->sim;

    lock(sim);
    while (sim->current != task)
        (void)pthread_cond_wait(&task->turn, &sim->lock);
    tell_trace(sim, "begins");
    unlock(sim);

    task->run(task->arg);

    lock(sim);
    tell_trace(sim, "ends");
    task->state = TASK_DONE;
    wake_waiters(sim, task);
    pass_baton(sim);
    unlock(sim);
    return NULL;
}

static Task *sim_spawn(Sched *sched, const char *name, TaskRun run, void *arg)
{
    Sim      *sim  = (Sim *)sched;
    SimTask  *task = mem_alloc(sizeof *task);
    SimTask **last = &sim->main.next;

    *task = (SimTask){.name = name, .run = run, .arg = arg, .sim = sim, .state = TASK_READY};
    cond_init_monotonic(&task->turn);
    lock(sim);
    while (*last != NULL)
        last = &(*last)->next;
    *last        = task;
    task->thread = thread_start(run_sim_task, task);
    stay_ready(sim);
    unlock(sim);
    return (Task *)task;
}

static void forget_task(Sim *sim, SimTask *task)
{
    SimTask **at = &sim->main.next;

    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
}

static void sim_join(Sched *sched, Task *handle)
{
    Sim     *sim  = (Sim *)sched;
    SimTask *task = (SimTask *)handle;

    lock(sim);
    while (task->state != TASK_DONE)
        wait_for(sim, task, "for a task to end", NEVER);
    forget_task(sim, task);
    unlock(sim);

    int failed = pthread_join(task->thread,
                              NULL); /* it has passed the baton on, so this is short */
    assert(failed == 0);
    (void)pthread_cond_destroy(&task->turn);
    mem_free(task);
}

static void sim_point(Sched *sched, const char *what)
{
    Sim *sim = (Sim *)sched;

    lock(sim);
    tell_trace(sim, what);
    stay_ready(sim);
    unlock(sim);
}

/* ---- queues ---- */

static Queue *sim_queue_new(Sched *sched, size_t capacity)
{
    Queue *queue = mem_alloc(sizeof *queue);

    ring_init(queue, sched, capacity);
    return queue;
}

static void sim_queue_free(Queue *queue)
{
    mem_free(queue->items);
    mem_free(queue);
}

static bool sim_queue_push(Queue *queue, void *item)
{
    Sim *sim = (Sim *)queue->sched;

    lock(sim);
    tell_trace(sim, "queue push");
    stay_ready(sim);
    while (!queue->closed && queue->count == queue->capacity)
        wait_for(sim, queue, "for room in a queue", NEVER);
    bool pushed = !queue->closed;
    if (pushed) {
        ring_put(queue, item);
        wake_waiters(sim, queue);
    }
    unlock(sim);
    return pushed;
}

static bool sim_queue_pop(Queue *queue, int64_t timeout_ms, void **item_out)
{
    Sim *sim = (Sim *)queue->sched;

    lock(sim);
    int64_t deadline_ns = timeout_ms < 0 ? NEVER : deadline_after_ms(sim->now_ns, timeout_ms);
    tell_trace(sim, "queue pop");
    stay_ready(sim);
    while (queue->count == 0 && !queue->closed && sim->now_ns < deadline_ns)
        wait_for(sim, queue, "for an item in a queue", deadline_ns);
    bool popped = queue->count > 0;
    if (popped) {
        *item_out = ring_take(queue);
        wake_waiters(sim, queue);
    }
    unlock(sim);
    return popped;
}

static bool sim_queue_try_pop(Queue *queue, void **item_out)
{
    return sim_queue_pop(queue, 0, item_out);
}

/* No place to pass the baton: cancel_request may call this with its own lock held. */
static void sim_queue_close(Queue *queue)
{
    Sim *sim = (Sim *)queue->sched;

    lock(sim);
    queue->closed = true;
    wake_waiters(sim, queue);
    unlock(sim);
}

/* ---- the clock ---- */

static int64_t sim_monotonic_ns(Clock *clock)
{
    Sim *sim = ((SimClock *)clock)->sim;

    lock(sim);
    int64_t now_ns = sim->now_ns;
    unlock(sim);
    return now_ns;
}

static int64_t sim_utc_us(Clock *clock)
{
    return ((SimClock *)clock)->sim->start_utc_us + sim_monotonic_ns(clock) / 1000;
}

typedef struct Sleep {
    Sim     *sim;
    SimTask *task;
    bool     is_woken; /* under the lock */
} Sleep;

static void wake_sleep(void *arg)
{
    Sleep *sleep = arg;

    lock(sleep->sim);
    sleep->is_woken = true;
    if (sleep->task->state == TASK_WAITING) sleep->task->state = TASK_READY;
    unlock(sleep->sim);
}

static void sim_sleep_until(Clock *clock, int64_t monotonic_ns, Cancel *cancel)
{
    Sim  *sim    = ((SimClock *)clock)->sim;
    Sleep sleep  = {.sim = sim, .task = sim->current};
    int   handle = 0;

    if (cancel != NULL) handle = cancel_register(cancel, wake_sleep, &sleep);
    lock(sim);
    tell_trace(sim, "sleep");
    stay_ready(sim);
    while (!sleep.is_woken && sim->now_ns < monotonic_ns)
        wait_for(sim, NULL, "for the time", monotonic_ns);
    unlock(sim);
    if (cancel != NULL) cancel_unregister(cancel, handle);
}

static void sim_clock_close(Clock *clock)
{
    (void)clock; /* part of its scheduler */
}

/* ---- the whole ---- */

static void sim_close(Sched *sched)
{
    Sim *sim = (Sim *)sched;

    assert(sim->main.next == NULL); /* every task was joined */
    (void)pthread_cond_destroy(&sim->main.turn);
    (void)pthread_mutex_destroy(&sim->lock);
    rng_close(sim->rng);
    mem_free(sim);
}

const SchedOps sched_sim_ops = {
    .close         = sim_close,
    .spawn         = sim_spawn,
    .join          = sim_join,
    .point         = sim_point,
    .queue_new     = sim_queue_new,
    .queue_free    = sim_queue_free,
    .queue_push    = sim_queue_push,
    .queue_pop     = sim_queue_pop,
    .queue_try_pop = sim_queue_try_pop,
    .queue_close   = sim_queue_close,
};

Sched *sched_new_simulated(uint64_t seed, int64_t start_utc_us, Clock **clock_out)
{
    Sim *sim = mem_alloc(sizeof *sim);

    sim->base.ops     = &sched_sim_ops;
    sim->rng          = rng_new(seed);
    sim->start_utc_us = start_utc_us;
    sim->main         = (SimTask){.name = "main", .sim = sim, .state = TASK_RUNNING};
    sim->current      = &sim->main;
    sim->clock.sim    = sim;
    sim->clock.base   = (Clock){
          .utc_us       = sim_utc_us,
          .monotonic_ns = sim_monotonic_ns,
          .sleep_until  = sim_sleep_until,
          .close        = sim_clock_close,
    };
    if (pthread_mutex_init(&sim->lock, NULL) != 0) base_fatal("no mutex");
    cond_init_monotonic(&sim->main.turn);
    *clock_out = &sim->clock.base;
    return &sim->base;
}

void sched_set_trace(Sched *sched, SchedTrace trace, void *arg)
{
    if (!sched_is_simulated(sched)) return;
    Sim *sim       = (Sim *)sched;
    sim->trace     = trace;
    sim->trace_arg = arg;
}
