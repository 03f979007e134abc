/* conflict_retry.c - the waits between two tries. */
#include "state/conflict_retry.h"

#define TOTAL_MS 60000
#define FIRST_MS 500
#define CAP_MS   10000

ConflictRetry conflict_retry_begin(DeltaContext *context)
{
    return (ConflictRetry){.deadline_ns = clock_monotonic_ns(context->clock) +
                                          (int64_t)TOTAL_MS * 1000000};
}

bool conflict_retry_wait(ConflictRetry *retry, DeltaContext *context, const Err *why, Err *err)
{
    int64_t left_ms = (retry->deadline_ns - clock_monotonic_ns(context->clock)) / 1000000;
    int64_t wait_ms = MIN((int64_t)CAP_MS, (int64_t)FIRST_MS << MIN(retry->attempt, 10));

    if (why->code != ERR_CONFLICT || left_ms <= 0) return err_copy(err, why);
    if (context->cancel && !cancel_check(context->cancel, err)) return false;
    wait_ms = rng_between(context->rng, 0, wait_ms);
    clock_sleep_ms(context->clock, MIN(left_ms, wait_ms), context->cancel);
    retry->attempt++;
    return true;
}
