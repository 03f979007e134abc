/* signal_watch.c - a thread in sigwait. */
#include "base/signal_watch.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

struct SignalWatch {
    Cancel     *cancel;
    int64_t     grace_ms;
    pthread_t   thread;
    sigset_t    watched;
    sigset_t    before; /* what the calling thread had blocked */
    atomic_int  signal;
    atomic_bool closing;
};

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The next signal; 0 when none came by `deadline_ms` (-1: waits for ever). */
static int wait_signal(const SignalWatch *watch, int64_t deadline_ms)
{
    int signal = 0;

    for (;;) {
        if (deadline_ms < 0) {
            if (sigwait(&watch->watched, &signal) == 0) return signal;
            continue;
        }
        int64_t         left = MAX(deadline_ms - now_ms(), 0);
        struct timespec wait = {.tv_sec  = (time_t)(left / 1000),
                                .tv_nsec = (long)(left % 1000) * 1000000};
        signal               = sigtimedwait(&watch->watched, NULL, &wait);
        if (signal > 0) return signal;
        if (errno != EINTR) return 0;
    }
}

static void say_late(void)
{
    static const char text[] = "tidelake: ended without waiting any longer for a call that did not "
                               "return; a rerun goes on from here\n";

    (void)!write(STDERR_FILENO, text, sizeof text - 1);
}

static void *watch_signals(void *arg)
{
    SignalWatch *watch       = arg;
    int          first       = 0;
    int64_t      deadline_ms = -1;

    for (;;) {
        int signal = wait_signal(watch, deadline_ms);
        if (atomic_load(&watch->closing)) return NULL;
        if (signal == 0) {
            say_late();
            _exit(128 + first);
        }
        if (first != 0) _exit(128 + signal); /* the second one */
        first = signal;
        atomic_store(&watch->signal, signal);
        if (watch->grace_ms > 0) deadline_ms = now_ms() + watch->grace_ms;
        cancel_request(watch->cancel);
    }
}

SignalWatch *signal_watch_new(Cancel *cancel, int64_t grace_ms)
{
    SignalWatch *watch = mem_alloc(sizeof *watch);

    watch->cancel   = cancel;
    watch->grace_ms = grace_ms;
    atomic_init(&watch->signal, 0);
    atomic_init(&watch->closing, false);
    (void)sigemptyset(&watch->watched);
    (void)sigaddset(&watch->watched, SIGINT);
    (void)sigaddset(&watch->watched, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &watch->watched, &watch->before);
    if (pthread_create(&watch->thread, NULL, watch_signals, watch) != 0) base_fatal("no thread");
    return watch;
}

void signal_watch_close(SignalWatch *watch)
{
    const int wake = SIGTERM; /* the thread has it blocked: it ends a wait and nothing else */

    if (watch == NULL) return;
    atomic_store(&watch->closing, true);
    (void)pthread_kill(watch->thread, wake);
    (void)pthread_join(watch->thread, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &watch->before, NULL);
    mem_free(watch);
}

int signal_watch_get(const SignalWatch *watch)
{
    return atomic_load(&watch->signal);
}
