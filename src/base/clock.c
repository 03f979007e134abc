/* clock.c - the real clock. The simulated one is in sched_sim.c, since only the scheduler can
 * move it. */
#include "base/clock.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <pthread.h>

static int64_t read_clock_ns(clockid_t id)
{
    struct timespec now;

    if (clock_gettime(id, &now) != 0) base_fatal("no clock");
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t real_utc_us(Clock *clock)
{
    (void)clock;
    return read_clock_ns(CLOCK_REALTIME) / 1000;
}

static int64_t real_monotonic_ns(Clock *clock)
{
    (void)clock;
    return read_clock_ns(CLOCK_MONOTONIC);
}

/* One sleeper, on its own stack. */
typedef struct Sleeper {
    pthread_mutex_t lock;
    pthread_cond_t  woken;
    bool            is_woken;
} Sleeper;

static void wake_sleeper(void *arg)
{
    Sleeper *sleeper = arg;

    (void)pthread_mutex_lock(&sleeper->lock);
    sleeper->is_woken = true;
    (void)pthread_cond_signal(&sleeper->woken);
    (void)pthread_mutex_unlock(&sleeper->lock);
}

static void real_sleep_until(Clock *clock, int64_t monotonic_ns, Cancel *cancel)
{
    Sleeper sleeper = {.is_woken = false};
    int     handle  = 0;

    cond_init_monotonic(&sleeper.woken);
    if (pthread_mutex_init(&sleeper.lock, NULL) != 0) base_fatal("no mutex");
    if (cancel != NULL) handle = cancel_register(cancel, wake_sleeper, &sleeper);

    struct timespec deadline = timespec_from_ns(MAX(monotonic_ns, 0));
    (void)pthread_mutex_lock(&sleeper.lock);
    while (!sleeper.is_woken && real_monotonic_ns(clock) < monotonic_ns)
        (void)pthread_cond_timedwait(&sleeper.woken, &sleeper.lock, &deadline);
    (void)pthread_mutex_unlock(&sleeper.lock);

    if (cancel != NULL) cancel_unregister(cancel, handle);
    (void)pthread_mutex_destroy(&sleeper.lock);
    (void)pthread_cond_destroy(&sleeper.woken);
}

static void real_close(Clock *clock)
{
    mem_free(clock);
}

Clock *clock_new_real(void)
{
    Clock *clock = mem_alloc(sizeof *clock);

    *clock = (Clock){
        .utc_us       = real_utc_us,
        .monotonic_ns = real_monotonic_ns,
        .sleep_until  = real_sleep_until,
        .close        = real_close,
    };
    return clock;
}

int64_t clock_utc_us(Clock *clock)
{
    return clock->utc_us(clock);
}

int64_t clock_monotonic_ns(Clock *clock)
{
    return clock->monotonic_ns(clock);
}

void clock_sleep_ms(Clock *clock, int64_t duration_ms, Cancel *cancel)
{
    clock->sleep_until(clock, deadline_after_ms(clock_monotonic_ns(clock), duration_ms), cancel);
}

void clock_close(Clock *clock)
{
    if (clock != NULL) clock->close(clock);
}
