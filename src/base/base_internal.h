/* base_internal.h - what the files of base/ share with each other. */
#ifndef TIDELAKE_BASE_INTERNAL_H
#define TIDELAKE_BASE_INTERNAL_H

#include "base/macros.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* The end of the process, with a sentence on stderr: no memory, no thread. Safe, because a crash
 * at any instant is. */
NORETURN void base_fatal(const char *what);

static inline struct timespec timespec_from_ns(int64_t ns)
{
    return (struct timespec){.tv_sec  = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

/* A time `duration_ms` later, as far as there is one. */
static inline int64_t deadline_after_ms(int64_t now_ns, int64_t duration_ms)
{
    if (duration_ms <= 0) return now_ns;
    if (duration_ms > (INT64_MAX - now_ns) / 1000000) return INT64_MAX;
    return now_ns + duration_ms * 1000000;
}

/* Timed waits go by the monotonic clock: a change of the wall clock must not end or extend them. */
static inline void cond_init_monotonic(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0) base_fatal("no condition variable");
    if (pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) != 0)
        base_fatal("no monotonic clock");
    if (pthread_cond_init(cond, &attributes) != 0) base_fatal("no condition variable");
    (void)pthread_condattr_destroy(&attributes);
}

static inline uint64_t load_u64(const void *ptr)
{
    uint64_t value;
    memcpy(&value, ptr, sizeof value);
    return value;
}

#define BASE_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

#endif
