/* virtual_clock.c - a clock that may stand still. */
#include "sim/model/virtual_clock.h"

#include "base/arena.h"

#include <stdatomic.h>

#define NS_PER_US INT64_C(1000)
#define LOOK_MS   2 /* a sleeper without an alarm looks so often */

typedef struct VirtualClock {
    Clock           clock; /* first */
    Clock          *inner;
    atomic_bool     is_stopped;
    _Atomic int64_t utc_us;       /* when stopped */
    _Atomic int64_t monotonic_ns; /* when stopped */
    Queue          *lock;         /* of the alarms; holds one token */
    Alarm          *alarms;       /* by due_ns, then in the order they were set */
} VirtualClock;

static VirtualClock *of(Clock *clock)
{
    return (VirtualClock *)clock;
}

static int64_t virtual_utc_us(Clock *clock)
{
    return atomic_load(&of(clock)->is_stopped) ? atomic_load(&of(clock)->utc_us)
                                               : clock_utc_us(of(clock)->inner);
}

static int64_t virtual_monotonic_ns(Clock *clock)
{
    return atomic_load(&of(clock)->is_stopped) ? atomic_load(&of(clock)->monotonic_ns)
                                               : clock_monotonic_ns(of(clock)->inner);
}

static void virtual_sleep_until(Clock *clock, int64_t monotonic_ns, Cancel *cancel)
{
    VirtualClock *self = of(clock);

    if (!atomic_load(&self->is_stopped)) {
        self->inner->sleep_until(self->inner, monotonic_ns, cancel);
        return;
    }
    while (atomic_load(&self->is_stopped) && atomic_load(&self->monotonic_ns) < monotonic_ns &&
           !(cancel && cancel_is_requested(cancel)))
        clock_sleep_ms(self->inner, LOOK_MS, cancel);
}

static void virtual_close(Clock *clock)
{
    queue_close(of(clock)->lock);
    queue_free(of(clock)->lock);
    mem_free(clock);
}

Clock *virtual_clock_new(Clock *inner, Sched *sched)
{
    VirtualClock *self = mem_alloc(sizeof *self);

    self->clock = (Clock){virtual_utc_us, virtual_monotonic_ns, virtual_sleep_until, virtual_close};
    self->inner = inner;
    self->lock  = queue_new(sched, 1);
    (void)queue_push(self->lock, self);
    return &self->clock;
}

bool virtual_clock_is_stopped(const Clock *clock)
{
    return atomic_load(&((const VirtualClock *)clock)->is_stopped);
}

Clock *virtual_clock_inner(const Clock *clock)
{
    return ((const VirtualClock *)clock)->inner;
}

/* --- alarms --- */

/* The scheduler's kind of lock: rings push into queues while it is held. */
static void lock_alarms(VirtualClock *self)
{
    void *token;

    (void)queue_pop(self->lock, -1, &token);
}

static void unlock_alarms(VirtualClock *self)
{
    (void)queue_push(self->lock, self);
}

static void ring_alarms(VirtualClock *self, int64_t until_ns)
{
    for (Alarm *alarm = self->alarms; alarm && alarm->due_ns <= until_ns; alarm = alarm->next) {
        if (alarm->has_rung) continue;
        alarm->has_rung = true;
        alarm->ring(alarm->arg);
    }
}

void alarm_set(Clock *clock, Alarm *alarm)
{
    VirtualClock *self = of(clock);
    Alarm       **at   = &self->alarms;

    lock_alarms(self);
    while (*at && (*at)->due_ns <= alarm->due_ns)
        at = &(*at)->next;
    alarm->has_rung = false;
    alarm->next     = *at;
    *at             = alarm;
    unlock_alarms(self);
}

void alarm_clear(Clock *clock, Alarm *alarm)
{
    VirtualClock *self = of(clock);
    Alarm       **at   = &self->alarms;

    lock_alarms(self);
    while (*at && *at != alarm)
        at = &(*at)->next;
    if (*at) *at = alarm->next;
    unlock_alarms(self);
}

/* --- stopping and going --- */

void virtual_clock_stop(Clock *clock, int64_t utc_us)
{
    VirtualClock *self        = of(clock);
    bool          was_stopped = atomic_load(&self->is_stopped);

    lock_alarms(self);
    if (was_stopped) {
        int64_t ahead_us = utc_us - atomic_load(&self->utc_us);
        if (ahead_us > 0) atomic_fetch_add(&self->monotonic_ns, ahead_us * NS_PER_US);
    } else {
        atomic_store(&self->monotonic_ns, clock_monotonic_ns(self->inner));
    }
    atomic_store(&self->utc_us, utc_us);
    atomic_store(&self->is_stopped, true);
    ring_alarms(self, was_stopped ? atomic_load(&self->monotonic_ns) : INT64_MAX);
    unlock_alarms(self);
}

void virtual_clock_go(Clock *clock)
{
    VirtualClock *self = of(clock);

    lock_alarms(self);
    atomic_store(&self->is_stopped, false);
    ring_alarms(self, INT64_MAX);
    unlock_alarms(self);
}
