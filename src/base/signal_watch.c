/* signal_watch.c - a thread in sigwait. */
#include "base/signal_watch.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

struct SignalWatch {
    Cancel     *cancel;
    pthread_t   thread;
    sigset_t    watched;
    sigset_t    before; /* what the calling thread had blocked */
    atomic_int  signal;
    atomic_bool closing;
};

static void *watch_signals(void *arg)
{
    SignalWatch *watch  = arg;
    int          signal = 0;

    while (sigwait(&watch->watched, &signal) == 0 && !atomic_load(&watch->closing)) {
        if (atomic_load(&watch->signal) != 0) _exit(128 + signal); /* the second one */
        atomic_store(&watch->signal, signal);
        cancel_request(watch->cancel);
    }
    return NULL;
}

SignalWatch *signal_watch_new(Cancel *cancel)
{
    SignalWatch *watch = mem_alloc(sizeof *watch);

    watch->cancel = cancel;
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
