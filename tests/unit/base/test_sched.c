/* What both schedulers promise, and what real threads add. test_sched_sim.c has the rest of the
 * simulation. */
#include "support/test_support.h"

#include "base/limits.h"
#include "base/sched.h"

#include <stdatomic.h>

/* A scheduler of either kind with its clock. */
typedef struct Kind {
    bool   is_simulated;
    Sched *sched;
    Clock *clock;
} Kind;

static int open_real(void **state)
{
    Kind *kind  = mem_alloc(sizeof *kind);
    kind->sched = sched_new_real();
    kind->clock = clock_new_real();
    *state      = kind;
    return 0;
}

static int open_simulated(void **state)
{
    Kind *kind         = mem_alloc(sizeof *kind);
    kind->is_simulated = true;
    kind->sched        = sched_new_simulated(7, 0, &kind->clock);
    *state             = kind;
    return 0;
}

static int close_kind(void **state)
{
    Kind *kind = *state;

    clock_close(kind->clock);
    sched_close(kind->sched);
    mem_free(kind);
    return 0;
}

typedef struct Work {
    Kind      *kind;
    Queue     *queue;
    Queue     *answers;
    atomic_int sum;
    int        first;
} Work;

static int numbers_of[1000];

static void set_flag(void *arg)
{
    *(int *)arg = 1;
}

static void join_waits_for_the_end_of_a_task(void **state)
{
    Kind *kind    = *state;
    int   is_done = 0;
    Task *task    = sched_spawn(kind->sched, "setter", set_flag, &is_done);

    sched_join(kind->sched, task);
    assert_int_equal(is_done, 1);
    sched_join(kind->sched, NULL);
    assert_int_equal(sched_is_simulated(kind->sched), kind->is_simulated);
    sched_point(kind->sched, "nothing else to run");
}

static void produce(void *arg)
{
    Work *work = arg;

    for (int i = 0; i < 500; i++)
        assert_true(queue_push(work->queue, &numbers_of[work->first + i]));
}

static void consume(void *arg)
{
    Work *work = arg;
    void *item = NULL;

    while (queue_pop(work->queue, -1, &item))
        atomic_fetch_add(&work->sum, (int)((int *)item - numbers_of));
}

static void every_item_arrives_once_through_a_small_queue(void **state)
{
    Kind *kind    = *state;
    Work  left    = {.kind = kind, .queue = queue_new(kind->sched, 3), .first = 0};
    Work  right   = {.kind = kind, .queue = left.queue, .first = 500};
    Work  one     = {.queue = left.queue};
    Work  two     = {.queue = left.queue};
    Task *tasks[] = {
        sched_spawn(kind->sched, "consumer one", consume, &one),
        sched_spawn(kind->sched, "producer left", produce, &left),
        sched_spawn(kind->sched, "consumer two", consume, &two),
        sched_spawn(kind->sched, "producer right", produce, &right),
    };

    sched_join(kind->sched, tasks[1]);
    sched_join(kind->sched, tasks[3]);
    queue_close(left.queue); /* what is left can still be popped */
    sched_join(kind->sched, tasks[0]);
    sched_join(kind->sched, tasks[2]);
    assert_int_equal(atomic_load(&one.sum) + atomic_load(&two.sum), 999 * 1000 / 2);
    queue_free(left.queue);
}

static void items_come_out_in_the_order_they_went_in(void **state)
{
    Kind  *kind  = *state;
    Queue *queue = queue_new(kind->sched, LIMIT_QUEUE_ITEMS);
    void  *item  = NULL;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 700; i++)
            assert_true(queue_push(queue, &numbers_of[i]));
        for (int i = 0; i < 700; i++) {
            assert_true(queue_try_pop(queue, &item));
            assert_ptr_equal(item, &numbers_of[i]);
        }
        assert_false(queue_try_pop(queue, &item));
    }
    queue_free(queue);
    queue_free(NULL);
}

static void a_closed_queue_takes_nothing_and_gives_what_it_has(void **state)
{
    Kind  *kind  = *state;
    Queue *queue = queue_new(kind->sched, 4);
    void  *item  = NULL;

    assert_true(queue_push(queue, &numbers_of[1]));
    queue_close(queue);
    queue_close(queue);
    assert_false(queue_push(queue, &numbers_of[2]));
    assert_true(queue_pop(queue, -1, &item));
    assert_ptr_equal(item, &numbers_of[1]);
    assert_false(queue_pop(queue, -1, &item));
    assert_false(queue_pop(queue, 1000000, &item));
    assert_false(queue_try_pop(queue, &item));
    queue_free(queue);
}

static void push_until_refused(void *arg)
{
    Work *work = arg;

    while (queue_push(work->queue, &numbers_of[0]))
        work->first++;
}

static void closing_wakes_who_waits_for_room_and_for_items(void **state)
{
    Kind *kind    = *state;
    Work  pushing = {.queue = queue_new(kind->sched, 2)};
    Work  popping = {.queue = queue_new(kind->sched, 2)};
    Task *pusher  = sched_spawn(kind->sched, "pusher", push_until_refused, &pushing);
    Task *popper  = sched_spawn(kind->sched, "popper", consume, &popping);

    clock_sleep_ms(kind->clock, 20, NULL);
    queue_close(pushing.queue);
    queue_close(popping.queue);
    sched_join(kind->sched, pusher);
    sched_join(kind->sched, popper);
    assert_int_equal(pushing.first, 2);
    queue_free(pushing.queue);
    queue_free(popping.queue);
}

static void close_queue(void *arg)
{
    queue_close(arg);
}

static void request_cancel(void *arg)
{
    cancel_request(arg);
}

static void a_cancel_can_close_a_queue_somebody_waits_on(void **state)
{
    Kind   *kind   = *state;
    Queue  *queue  = queue_new(kind->sched, 2);
    Cancel *cancel = cancel_new();
    int     handle = cancel_register(cancel, close_queue, queue);
    Task   *task   = sched_spawn(kind->sched, "canceller", request_cancel, cancel);
    void   *item   = NULL;

    assert_false(queue_pop(queue, -1, &item));
    cancel_unregister(cancel, handle);
    sched_join(kind->sched, task);
    cancel_close(cancel);
    queue_free(queue);
}

static void a_pop_gives_up_when_its_time_is_over(void **state)
{
    Kind   *kind   = *state;
    Queue  *queue  = queue_new(kind->sched, 1);
    void   *item   = NULL;
    int64_t before = clock_monotonic_ns(kind->clock);

    assert_false(queue_pop(queue, 30, &item));
    int64_t waited_ns = clock_monotonic_ns(kind->clock) - before;
    assert_true(waited_ns >= 30000000);
    if (kind->is_simulated) assert_int_equal(waited_ns, 30000000);
    assert_false(queue_pop(queue, 0, &item));
    assert_true(queue_push(queue, &numbers_of[0]));
    assert_true(queue_pop(queue, INT64_MAX, &item));
    queue_free(queue);
}

static void sleep_long(void *arg)
{
    void **args  = arg;
    Clock *clock = args[0];

    clock_sleep_ms(clock, 3600 * 1000, args[1]);
}

static void a_cancel_wakes_a_sleeping_task(void **state)
{
    Kind   *kind   = *state;
    Cancel *cancel = cancel_new();
    void   *args[] = {kind->clock, cancel};
    int64_t before = clock_monotonic_ns(kind->clock);
    Task   *task   = sched_spawn(kind->sched, "sleeper", sleep_long, args);

    clock_sleep_ms(kind->clock, 10, NULL);
    cancel_request(cancel);
    sched_join(kind->sched, task);
    assert_true(clock_monotonic_ns(kind->clock) - before < INT64_C(60) * 1000000000);
    cancel_close(cancel);
}

static void spawn_another(void *arg)
{
    Work *work  = arg;
    Task *child = sched_spawn(work->kind->sched, "child", set_flag, &work->first);

    sched_join(work->kind->sched, child);
}

static void a_task_may_spawn_and_join_tasks(void **state)
{
    Kind *kind = *state;
    Work  work = {.kind = kind};
    Task *task = sched_spawn(kind->sched, "parent", spawn_another, &work);

    sched_join(kind->sched, task);
    assert_int_equal(work.first, 1);
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    sched_close(NULL);
}

#define on_both(test)                                                  \
    {#test "_on_threads", test, open_real, close_kind, NULL},          \
    {                                                                  \
#test "_in_simulation", test, open_simulated, close_kind, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        on_both(join_waits_for_the_end_of_a_task),
        on_both(every_item_arrives_once_through_a_small_queue),
        on_both(items_come_out_in_the_order_they_went_in),
        on_both(a_closed_queue_takes_nothing_and_gives_what_it_has),
        on_both(closing_wakes_who_waits_for_room_and_for_items),
        on_both(a_cancel_can_close_a_queue_somebody_waits_on),
        on_both(a_pop_gives_up_when_its_time_is_over),
        on_both(a_cancel_wakes_a_sleeping_task),
        on_both(a_task_may_spawn_and_join_tasks),
        cmocka_unit_test(closing_nothing_is_fine),
    };
    return RUN_TESTS(tests);
}
