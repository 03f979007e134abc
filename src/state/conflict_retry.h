/* conflict_retry.h - a change of a shared table that lost to another writer is computed again: for
 * up to 60 s, with waits of a random length below 0.5 s, doubled each time up to 10 s
 * (state.md 4.4). */
#ifndef TIDELAKE_STATE_CONFLICT_RETRY_H
#define TIDELAKE_STATE_CONFLICT_RETRY_H

#include "delta/delta.h"

typedef struct ConflictRetry {
    int64_t deadline_ns;
    int     attempt;
} ConflictRetry;

ConflictRetry conflict_retry_begin(DeltaContext *context);
/* After a failed try: waits and returns true when it may be tried again. Else *err says why not:
 * `why`, or that the run was cancelled. */
bool conflict_retry_wait(ConflictRetry *retry, DeltaContext *context, const Err *why,
                         Err *err) MUST_CHECK;

#endif
