/* sched_internal.h - what a scheduler has to do; sched.c has the one on threads, sched_sim.c the
 * simulated one. */
#ifndef TIDELAKE_BASE_SCHED_INTERNAL_H
#define TIDELAKE_BASE_SCHED_INTERNAL_H

#include "base/sched.h"

#include <pthread.h>

typedef struct SchedOps {
    void (*close)(Sched *sched);
    Task *(*spawn)(Sched *sched, const char *name, TaskRun run, void *arg);
    void (*join)(Sched *sched, Task *task);
    void (*point)(Sched *sched, const char *what);
    Queue *(*queue_new)(Sched *sched, size_t capacity);
    void (*queue_free)(Queue *queue);
    bool (*queue_push)(Queue *queue, void *item);
    bool (*queue_pop)(Queue *queue, int64_t timeout_ms, void **item_out);
    bool (*queue_try_pop)(Queue *queue, void **item_out);
    void (*queue_close)(Queue *queue);
} SchedOps;

struct Sched {
    const SchedOps *ops;
};

/* The ring of a queue; each scheduler adds its way to wait. */
struct Queue {
    Sched *sched;
    void **items;
    size_t capacity;
    size_t first;
    size_t count;
    bool   closed;
};

void  ring_init(Queue *queue, Sched *sched, size_t capacity);
void  ring_put(Queue *queue, void *item); /* there is room */
void *ring_take(Queue *queue);            /* there is an item */

/* A thread that leaves the signals to those who wait for them. Ends the process when there is no
 * thread to be had. */
pthread_t thread_start(void *(*run)(void *), void *arg);

extern const SchedOps sched_sim_ops;

#endif
