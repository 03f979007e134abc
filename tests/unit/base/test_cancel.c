#include "support/test_support.h"

#include "base/cancel.h"
#include "base/sched.h"

#include <stdatomic.h>

static void count_call(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void check_fails_only_after_the_request(void **state)
{
    Cancel *cancel = cancel_new();
    Err     err    = ERR_INIT;

    (void)state;
    assert_false(cancel_is_requested(cancel));
    assert_true(cancel_check(cancel, &err));
    cancel_request(cancel);
    assert_true(cancel_is_requested(cancel));
    assert_false(cancel_check(cancel, &err));
    assert_err(&err, ERR_CANCELLED, "stopped on request");
    cancel_close(cancel);
    cancel_close(NULL);
}

static void every_waker_runs_once(void **state)
{
    Cancel    *cancel    = cancel_new();
    atomic_int calls[20] = {0};
    int        handles[20];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        handles[i] = cancel_register(cancel, count_call, &calls[i]);
    cancel_unregister(cancel, handles[3]);
    cancel_request(cancel);
    cancel_request(cancel);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        assert_int_equal(atomic_load(&calls[i]), i == 3 ? 0 : 1);
    for (size_t i = 0; i < COUNT_OF(calls); i++)
        cancel_unregister(cancel, handles[i]);
    cancel_close(cancel);
}

static void a_late_waker_runs_at_once(void **state)
{
    Cancel    *cancel = cancel_new();
    atomic_int calls  = 0;

    (void)state;
    cancel_request(cancel);
    int handle = cancel_register(cancel, count_call, &calls);
    assert_int_equal(atomic_load(&calls), 1);
    cancel_unregister(cancel, handle);
    assert_int_equal(atomic_load(&calls), 1);
    cancel_close(cancel);
}

typedef struct Waiter {
    Cancel     *cancel;
    atomic_int *dead_calls; /* wakers that ran after they were unregistered */
} Waiter;

typedef struct OnStack {
    bool        is_registered;
    atomic_int *dead_calls;
} OnStack;

static void wake_on_stack(void *arg)
{
    const OnStack *on_stack = arg;

    if (!on_stack->is_registered) count_call(on_stack->dead_calls);
}

static void register_again_and_again(void *arg)
{
    const Waiter *waiter = arg;

    while (!cancel_is_requested(waiter->cancel)) {
        OnStack on_stack = {.is_registered = true, .dead_calls = waiter->dead_calls};
        int     handle   = cancel_register(waiter->cancel, wake_on_stack, &on_stack);
        cancel_unregister(waiter->cancel, handle);
        on_stack.is_registered = false;
    }
}

static void no_waker_runs_after_it_was_unregistered(void **state)
{
    Sched     *sched      = sched_new_real();
    Clock     *clock      = clock_new_real();
    Cancel    *cancel     = cancel_new();
    atomic_int dead_calls = 0;
    Waiter     waiter     = {.cancel = cancel, .dead_calls = &dead_calls};
    Task      *tasks[4];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        tasks[i] = sched_spawn(sched, "waiter", register_again_and_again, &waiter);
    clock_sleep_ms(clock, 20, NULL);
    cancel_request(cancel);
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        sched_join(sched, tasks[i]);
    assert_int_equal(atomic_load(&dead_calls), 0);
    cancel_close(cancel);
    clock_close(clock);
    sched_close(sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_fails_only_after_the_request),
        cmocka_unit_test(every_waker_runs_once),
        cmocka_unit_test(a_late_waker_runs_at_once),
        cmocka_unit_test(no_waker_runs_after_it_was_unregistered),
    };
    return RUN_TESTS(tests);
}
