/* sched.c - tasks and queues on real threads, and the calls that choose between them and the
 * simulation. */
#include "base/sched.h"

#include "base/arena.h"
#include "base/base_internal.h"
#include "base/limits.h"
#include "base/sched_internal.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#define GIVE_WAY_NICE 10

typedef struct RealSched {
    Sched         base;
    atomic_size_t task_count;
} RealSched;

struct Task {
    pthread_t thread;
    TaskRun   run;
    void     *arg;
};

typedef struct RealQueue {
    Queue           base;
    pthread_mutex_t lock;
    pthread_cond_t  not_empty;
    pthread_cond_t  not_full;
} RealQueue;

/* ---- shared with the simulation ---- */

pthread_t thread_start(void *(*run)(void *), void *arg)
{
    const int leave_to_main[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                 SIGUSR2, SIGALRM, SIGCHLD, SIGPIPE};
    pthread_t thread;
    sigset_t  blocked;
    sigset_t  before;

    (void)sigemptyset(&blocked);
    for (size_t i = 0; i < COUNT_OF(leave_to_main); i++)
        (void)sigaddset(&blocked, leave_to_main[i]);
    (void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
    if (pthread_create(&thread, NULL, run, arg) != 0)
        base_fatal("the system gives no more threads");
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return thread;
}

void ring_init(Queue *queue, Sched *sched, size_t capacity)
{
    assert(capacity >= 1);
    assert(capacity <= LIMIT_QUEUE_ITEMS);
    queue->sched    = sched;
    queue->items    = mem_alloc(capacity * sizeof *queue->items);
    queue->capacity = capacity;
}

void ring_put(Queue *queue, void *item)
{
    assert(queue->count < queue->capacity);
    queue->items[(queue->first + queue->count) % queue->capacity] = item;
    queue->count++;
}

void *ring_take(Queue *queue)
{
    assert(queue->count > 0);
    void *item   = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    queue->count--;
    return item;
}

/* ---- real threads ---- */

static void real_close(Sched *sched)
{
    RealSched *real = (RealSched *)sched;

    assert(atomic_load(&real->task_count) == 0);
    mem_free(real);
}

static void *run_task(void *arg)
{
    Task *task = arg;

    task->run(task->arg);
    return NULL;
}

static Task *real_spawn(Sched *sched, const char *name, TaskRun run, void *arg)
{
    Task *task = mem_alloc(sizeof *task);

    (void)name;
    atomic_fetch_add(&((RealSched *)sched)->task_count, 1);
    task->run    = run;
    task->arg    = arg;
    task->thread = thread_start(run_task, task);
    return task;
}

static void real_join(Sched *sched, Task *task)
{
    int failed = pthread_join(task->thread, NULL);

    assert(failed == 0);
    mem_free(task);
    atomic_fetch_sub(&((RealSched *)sched)->task_count, 1);
}

static void real_point(Sched *sched, const char *what)
{
    (void)sched, (void)what;
}

static Queue *real_queue_new(Sched *sched, size_t capacity)
{
    RealQueue *queue = mem_alloc(sizeof *queue);

    ring_init(&queue->base, sched, capacity);
    if (pthread_mutex_init(&queue->lock, NULL) != 0) base_fatal("no mutex");
    cond_init_monotonic(&queue->not_empty);
    cond_init_monotonic(&queue->not_full);
    return &queue->base;
}

static void real_queue_free(Queue *base)
{
    RealQueue *queue = (RealQueue *)base;

    (void)pthread_cond_destroy(&queue->not_full);
    (void)pthread_cond_destroy(&queue->not_empty);
    (void)pthread_mutex_destroy(&queue->lock);
    mem_free(queue->base.items);
    mem_free(queue);
}

static bool real_queue_push(Queue *base, void *item)
{
    RealQueue *queue = (RealQueue *)base;

    (void)pthread_mutex_lock(&queue->lock);
    while (!base->closed && base->count == base->capacity)
        (void)pthread_cond_wait(&queue->not_full, &queue->lock);
    bool pushed = !base->closed;
    if (pushed) {
        ring_put(base, item);
        (void)pthread_cond_signal(&queue->not_empty);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return pushed;
}

/* With the lock held. */
static bool take_item(RealQueue *queue, void **item_out)
{
    if (queue->base.count == 0) return false;
    *item_out = ring_take(&queue->base);
    (void)pthread_cond_signal(&queue->not_full);
    return true;
}

static void wait_for_item(RealQueue *queue, int64_t timeout_ms)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) base_fatal("no clock");
    int64_t         now_ns   = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    struct timespec deadline = timespec_from_ns(deadline_after_ms(now_ns, timeout_ms));

    int result = 0;
    while (!queue->base.closed && queue->base.count == 0 && result == 0)
        result = timeout_ms < 0
                     ? pthread_cond_wait(&queue->not_empty, &queue->lock)
                     : pthread_cond_timedwait(&queue->not_empty, &queue->lock, &deadline);
}

static bool real_queue_pop(Queue *base, int64_t timeout_ms, void **item_out)
{
    RealQueue *queue = (RealQueue *)base;

    (void)pthread_mutex_lock(&queue->lock);
    if (base->count == 0 && !base->closed && timeout_ms != 0) wait_for_item(queue, timeout_ms);
    bool taken = take_item(queue, item_out);
    (void)pthread_mutex_unlock(&queue->lock);
    return taken;
}

static bool real_queue_try_pop(Queue *base, void **item_out)
{
    return real_queue_pop(base, 0, item_out);
}

static void real_queue_close(Queue *base)
{
    RealQueue *queue = (RealQueue *)base;

    (void)pthread_mutex_lock(&queue->lock);
    base->closed = true;
    (void)pthread_cond_broadcast(&queue->not_empty);
    (void)pthread_cond_broadcast(&queue->not_full);
    (void)pthread_mutex_unlock(&queue->lock);
}

static const SchedOps real_ops = {
    .close         = real_close,
    .spawn         = real_spawn,
    .join          = real_join,
    .point         = real_point,
    .queue_new     = real_queue_new,
    .queue_free    = real_queue_free,
    .queue_push    = real_queue_push,
    .queue_pop     = real_queue_pop,
    .queue_try_pop = real_queue_try_pop,
    .queue_close   = real_queue_close,
};

Sched *sched_new_real(void)
{
    RealSched *real = mem_alloc(sizeof *real);

    real->base.ops = &real_ops;
    atomic_init(&real->task_count, 0);
    return &real->base;
}

/* ---- either ---- */

void sched_close(Sched *sched)
{
    if (sched != NULL) sched->ops->close(sched);
}

Task *sched_spawn(Sched *sched, const char *name, TaskRun run, void *arg)
{
    return sched->ops->spawn(sched, name, run, arg);
}

void sched_join(Sched *sched, Task *task)
{
    if (task != NULL) sched->ops->join(sched, task);
}

void sched_point(Sched *sched, const char *what)
{
    sched->ops->point(sched, what);
}

/* Linux keeps a priority per thread, and 0 is the calling one. Elsewhere the whole process would
 * give way. */
void sched_give_way(Sched *sched)
{
#ifdef __linux__
    if (!sched_is_simulated(sched)) (void)setpriority(PRIO_PROCESS, 0, GIVE_WAY_NICE);
#else
    (void)sched;
#endif
}

bool sched_is_simulated(const Sched *sched)
{
    return sched->ops == &sched_sim_ops;
}

Queue *queue_new(Sched *sched, size_t capacity)
{
    return sched->ops->queue_new(sched, capacity);
}

void queue_free(Queue *queue)
{
    if (queue != NULL) queue->sched->ops->queue_free(queue);
}

bool queue_push(Queue *queue, void *item)
{
    return queue->sched->ops->queue_push(queue, item);
}

bool queue_pop(Queue *queue, int64_t timeout_ms, void **item_out)
{
    return queue->sched->ops->queue_pop(queue, timeout_ms, item_out);
}

bool queue_try_pop(Queue *queue, void **item_out)
{
    return queue->sched->ops->queue_try_pop(queue, item_out);
}

void queue_close(Queue *queue)
{
    queue->sched->ops->queue_close(queue);
}
