/* virtual_clock.h - the server's clock: goes like the one below it until it is stopped, and moves only when told from
 * then on. Alarms ring when it gets where they wait for, however it gets there. */
#ifndef TIDESIM_VIRTUAL_CLOCK_H
#define TIDESIM_VIRTUAL_CLOCK_H

#include "base/clock.h"
#include "base/sched.h"

Clock *virtual_clock_new(Clock *inner, Sched *sched);
bool   virtual_clock_is_stopped(const Clock *clock);
/* The clock below: time that nobody can stop. */
Clock *virtual_clock_inner(const Clock *clock);
/* Stops it, or moves a stopped one. Going back moves what it shows; nobody waits longer for it. */
void virtual_clock_stop(Clock *clock, int64_t utc_us);
void virtual_clock_go(Clock *clock);

/* Rings when a stopped clock reaches `due_ns` (monotonic), those that are due first first, and when the clock is stopped
 * or goes on, since whoever waits must wait in another way then. At most once for each alarm_set. `ring` must not wait
 * and must not touch alarms. */
typedef struct Alarm {
    struct Alarm *next; /* internal */
    int64_t       due_ns;
    void (*ring)(void *arg);
    void *arg;
    bool  has_rung;
} Alarm;
void alarm_set(Clock *clock, Alarm *alarm);
void alarm_clear(Clock *clock, Alarm *alarm); /* afterwards it does not ring any more */

#endif
