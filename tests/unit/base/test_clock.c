#include "support/test_support.h"

#include "base/clock.h"
#include "base/sched.h"

#include <time.h>

static void the_real_clock_tells_utc(void **state)
{
    Clock  *clock  = clock_new_real();
    int64_t before = (int64_t)time(NULL);
    int64_t utc_us = clock_utc_us(clock);
    int64_t after  = (int64_t)time(NULL);

    (void)state;
    assert_true(utc_us / 1000000 >= before - 1);
    assert_true(utc_us / 1000000 <= after + 1);
    clock_close(clock);
    clock_close(NULL);
}

static void a_sleep_lasts_as_long_as_asked(void **state)
{
    Clock  *clock  = clock_new_real();
    int64_t before = clock_monotonic_ns(clock);

    (void)state;
    clock_sleep_ms(clock, 30, NULL);
    assert_true(clock_monotonic_ns(clock) - before >= 30000000);

    before = clock_monotonic_ns(clock);
    clock_sleep_ms(clock, 0, NULL);
    clock_sleep_ms(clock, -5, NULL);
    clock->sleep_until(clock, -1, NULL);
    assert_true(clock_monotonic_ns(clock) - before < 1000000000);
    clock_close(clock);
}

static void request_soon(void *arg)
{
    Clock *clock = clock_new_real();

    clock_sleep_ms(clock, 20, NULL);
    cancel_request(arg);
    clock_close(clock);
}

static void a_cancel_ends_a_sleep_at_once(void **state)
{
    Clock  *clock  = clock_new_real();
    Sched  *sched  = sched_new_real();
    Cancel *cancel = cancel_new();
    int64_t before = clock_monotonic_ns(clock);
    Task   *task   = sched_spawn(sched, "canceller", request_soon, cancel);

    (void)state;
    clock_sleep_ms(clock, INT64_MAX, cancel);
    assert_true(cancel_is_requested(cancel));
    clock_sleep_ms(clock, INT64_MAX, cancel); /* nor does the next one begin */
    assert_true(clock_monotonic_ns(clock) - before < INT64_C(20000000000));
    sched_join(sched, task);
    cancel_close(cancel);
    sched_close(sched);
    clock_close(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_real_clock_tells_utc),
        cmocka_unit_test(a_sleep_lasts_as_long_as_asked),
        cmocka_unit_test(a_cancel_ends_a_sleep_at_once),
    };
    return RUN_TESTS(tests);
}
