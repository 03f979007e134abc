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
        SignalWatch *watch  = signal_watch_new(cancel);

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
    SignalWatch *watch  = signal_watch_new(cancel);

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
    (void)signal_watch_new(cancel);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_signal_requests_the_cancel),
        cmocka_unit_test(a_watch_ends_without_a_signal),
        cmocka_unit_test(the_second_signal_ends_the_process),
    };
    return RUN_TESTS(tests);
}
