/* sched.h - tasks and bounded queues, on real threads or, in simulation, on threads that pass one
 * baton.
 *
 * In simulation only the task that holds the baton runs; it changes hands only inside the calls
 * of this header, of Clock's sleep and of sched_point (which simulated Store and SqlConn call),
 * in an order the seed decides. So every run can be repeated, and sanitizers and debuggers still
 * work. The engine uses nothing else to wait: no mutex or condition variable of its own. */
#ifndef TIDELAKE_BASE_SCHED_H
#define TIDELAKE_BASE_SCHED_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/rng.h"

typedef struct Sched Sched;
typedef struct Task  Task;
typedef struct Queue Queue;
typedef void (*TaskRun)(void *arg);

/* Real threads. */
Sched *sched_new_real(void);
/* One baton. `clock_out` is a simulated clock that starts at `start_utc_us`; it moves only when
 * every task sleeps or waits, to the earliest sleeper (a wait that nothing can end is a failed
 * run: abort with the names of the tasks). The clock belongs to the scheduler: clock_close does
 * nothing to it. The calling thread is the task "main" and has the baton. */
Sched *sched_new_simulated(uint64_t seed, int64_t start_utc_us, Clock **clock_out);
void   sched_close(Sched *sched); /* accepts NULL; every task must have been joined */

/* `name` is borrowed for the life of the task. */
Task *sched_spawn(Sched *sched, const char *name, TaskRun run, void *arg);
void  sched_join(Sched *sched, Task *task); /* waits and frees the task; accepts NULL */
/* A place where another task may run first. `what` is for the trace of a simulated run; does
 * nothing on real threads. */
void sched_point(Sched *sched, const char *what);
bool sched_is_simulated(const Sched *sched);
/* The calling task lets every other one have the processor first, where the system can do that. */
void sched_give_way(Sched *sched);
/* Called at every place where the baton may change hands, with the task that got there; nothing
 * on real threads. */
typedef void (*SchedTrace)(void *arg, int64_t monotonic_ns, const char *task, const char *what);
void sched_set_trace(Sched *sched, SchedTrace trace, void *arg);

/* A queue of pointers, 1 to LIMIT_QUEUE_ITEMS long. Many producers, many consumers. */
Queue *queue_new(Sched *sched, size_t capacity);
void   queue_free(Queue *queue); /* accepts NULL; nobody may be waiting */
/* Waits for room; false when the queue was closed. */
bool queue_push(Queue *queue, void *item);
/* Waits for an item at most timeout_ms (-1: for ever); false when it timed out, or is closed and
 * empty. */
bool queue_pop(Queue *queue, int64_t timeout_ms, void **item_out);
bool queue_try_pop(Queue *queue, void **item_out);
void queue_close(Queue *queue); /* wakes everyone; items left can still be popped */

#endif
