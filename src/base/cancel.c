/* cancel.c - a flag, and the wakers of those who block. */
#include "base/cancel.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct Waker {
    int        handle;
    CancelWake wake;
    void      *arg;
} Waker;

struct Cancel {
    atomic_bool requested;
    pthread_mutex_t
           lock; /* held while wakers run: so cancel_unregister waits for one that is running */
    Waker *wakers;
    size_t waker_count;
    size_t waker_capacity;
    int    last_handle;
};

Cancel *cancel_new(void)
{
    Cancel *cancel = mem_alloc(sizeof *cancel);

    atomic_init(&cancel->requested, false);
    if (pthread_mutex_init(&cancel->lock, NULL) != 0) base_fatal("no mutex");
    return cancel;
}

void cancel_close(Cancel *cancel)
{
    if (cancel == NULL) return;
    (void)pthread_mutex_destroy(&cancel->lock);
    mem_free(cancel->wakers);
    mem_free(cancel);
}

void cancel_request(Cancel *cancel)
{
    (void)pthread_mutex_lock(&cancel->lock);
    if (!atomic_load(&cancel->requested)) {
        atomic_store(&cancel->requested, true);
        for (size_t i = 0; i < cancel->waker_count; i++)
            cancel->wakers[i].wake(cancel->wakers[i].arg);
    }
    (void)pthread_mutex_unlock(&cancel->lock);
}

bool cancel_is_requested(const Cancel *cancel)
{
    return atomic_load(&cancel->requested);
}

bool cancel_check(const Cancel *cancel, Err *err)
{
    return !cancel_is_requested(cancel) || err_set(err, ERR_CANCELLED, "stopped on request");
}

int cancel_register(Cancel *cancel, CancelWake wake, void *arg)
{
    (void)pthread_mutex_lock(&cancel->lock);
    int  handle    = ++cancel->last_handle;
    bool requested = atomic_load(&cancel->requested);
    if (!requested) {
        if (cancel->waker_count == cancel->waker_capacity) {
            cancel->waker_capacity = cancel->waker_capacity ? 2 * cancel->waker_capacity : 8;
            cancel->wakers         = mem_realloc(cancel->wakers,
                                                 cancel->waker_capacity * sizeof *cancel->wakers);
        }
        cancel->wakers[cancel->waker_count++] = (Waker){.handle = handle, .wake = wake, .arg = arg};
    }
    (void)pthread_mutex_unlock(&cancel->lock);

    if (requested) wake(arg);
    return handle;
}

void cancel_unregister(Cancel *cancel, int handle)
{
    (void)pthread_mutex_lock(&cancel->lock);
    for (size_t i = 0; i < cancel->waker_count; i++) {
        if (cancel->wakers[i].handle != handle) continue;
        /* The order of wakers is kept: simulated runs repeat. */
        cancel->waker_count--;
        memmove(&cancel->wakers[i], &cancel->wakers[i + 1],
                (cancel->waker_count - i) * sizeof *cancel->wakers);
        break;
    }
    (void)pthread_mutex_unlock(&cancel->lock);
}
