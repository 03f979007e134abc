/* batch_internal.h - what one micro-batch has planned, read and met. */
#ifndef TIDELAKE_ENGINE_BATCH_INTERNAL_H
#define TIDELAKE_ENGINE_BATCH_INTERNAL_H

#include "engine/plan_batch.h"
#include "engine/stream_internal.h"

typedef struct Batch {
    Stream        *stream;
    Arena         *arena;
    Offset         end;
    bool           is_replay;
    bool           is_done; /* an earlier attempt got its rows in */
    OptTime        started_at;
    int64_t        duration_ms;
    PlannedRange  *ranges;
    size_t         range_count;
    int64_t        row_total; /* as the plan counted them, for progress; 0: not counted */
    ChangeMetrics *metrics;
    LIST(FactsRow) events;
    BatchCounts counts;
} Batch;

/* Ranges of (position, end], after the schema checks and the retention guard (2.4, 2.5); none when
 * there is nothing to read. */
bool batch_plan_ranges(Batch *batch, Err *err) MUST_CHECK;
/* The guard again, after every range was read and before anything is committed. `written`: rows the
 * writer took. */
bool batch_check_read(Batch *batch, int64_t written, Err *err) MUST_CHECK;
/* The events of a batch whose rows are in: nothing stops it any more, and what the source no longer
 * tells is left out (2.7). */
bool batch_find_events_again(Batch *batch, Err *err) MUST_CHECK;

/* --- batch_events.c --- */
bool batch_add_ddl(Batch *batch, const DdlEvent *ddl, Err *err) MUST_CHECK;
/* Changes from `from` on to below `low` are not in bronze: surely, or for all that is known
 * (`reason` not empty) (5.7). */
bool batch_add_skip(Batch *batch, Lsn from, Lsn low, Str reason, Err *err) MUST_CHECK;

#endif
