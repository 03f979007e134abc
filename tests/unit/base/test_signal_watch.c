#include "support/test_support.h"

#include "base/clock.h"
#include "base/signal_watch.h"

static void wait_for_request(const Cancel *cancel)
{
    Clock *clock = clock_new_real();

    for (int i = 0; i < 2000 && !cancel_is_requested(cancel); i++)
        clock_sleep_ms(clock, 5, NULL);
    clock_close(clock);
    assert_true(cancel_is_requested(cancel));
}

static void the_first_signal_requests_the_cancel(void **state)
{
    const int signals[] = {SIGINT, SIGTERM};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        Cancel      *cancel = cancel_new();
        SignalWatch *watch  = signal_watch_new(cancel, 0);

        assert_int_equal(signal_watch_get(watch), 0);
        assert_int_equal(kill(getpid(), signals[i]), 0);
        wait_for_request(cancel);
        assert_int_equal(signal_watch_get(watch), signals[i]);
        signal_watch_close(watch);
        cancel_close(cancel);
    }
}

static void a_watch_ends_without_a_signal(void **state)
{
    Cancel      *cancel = cancel_new();
    SignalWatch *watch  = signal_watch_new(cancel, 0);

    (void)state;
    signal_watch_close(watch);
    signal_watch_close(NULL);
    assert_false(cancel_is_requested(cancel));
    cancel_close(cancel);
}

static void be_signalled_twice(void *arg)
{
    Cancel *cancel = cancel_new();

    (void)arg;
    (void)signal_watch_new(cancel, 0);
    (void)kill(getpid(), SIGINT);
    wait_for_request(cancel);
    (void)kill(getpid(), SIGTERM);
    Clock *clock = clock_new_real();
    clock_sleep_ms(clock, 20000, NULL);
    _exit(0);
}

static void the_second_signal_ends_the_process(void **state)
{
    char text[4096];

    (void)state;
    int status = test_run_in_child(be_signalled_twice, NULL, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
}

static void hang_after_a_signal(void *arg)
{
    Cancel *cancel = cancel_new();

    (void)arg;
    (void)signal_watch_new(cancel, 300);
    (void)kill(getpid(), SIGTERM);
    Clock *clock = clock_new_real();
    clock_sleep_ms(clock, 20000, NULL);
    _exit(0);
}

static void a_process_that_does_not_stop_in_time_is_ended(void **state)
{
    Clock  *clock = clock_new_real();
    int64_t began = clock_monotonic_ns(clock);
    char    text[4096];

    (void)state;
    int status = test_run_in_child(hang_after_a_signal, NULL, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
    assert_non_null(strstr(text, "a rerun goes on from here"));
    int64_t took_ms = (clock_monotonic_ns(clock) - began) / 1000000;
    assert_true(took_ms >= 300 && took_ms < 10000);
    clock_close(clock);
}

static void grace_ends_with_the_watch(void **state)
{
    Cancel      *cancel = cancel_new();
    SignalWatch *watch  = signal_watch_new(cancel, 100);
    Clock       *clock  = clock_new_real();

    (void)state;
    assert_int_equal(kill(getpid(), SIGINT), 0);
    wait_for_request(cancel);
    signal_watch_close(watch);
    clock_sleep_ms(clock, 200, NULL); /* the deadline passes, and nobody is ended */
    clock_close(clock);
    cancel_close(cancel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_signal_requests_the_cancel),
        cmocka_unit_test(a_watch_ends_without_a_signal),
        cmocka_unit_test(the_second_signal_ends_the_process),
        cmocka_unit_test(a_process_that_does_not_stop_in_time_is_ended),
        cmocka_unit_test(grace_ends_with_the_watch),
    };
    return RUN_TESTS(tests);
}
