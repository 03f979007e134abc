/* bronze.h - the append-only change log (state.md 6). */
#ifndef TIDELAKE_STATE_BRONZE_H
#define TIDELAKE_STATE_BRONZE_H

#include "state/payload.h"
#include "state/table_ref.h"

typedef struct Bronze Bronze;

/* The table at `ref`, which need not exist: bronze_prepare creates it. ERR_STATE when something
 * else is there. */
bool bronze_open(DeltaContext *context, const TableRef *ref, Bronze **out, Err *err) MUST_CHECK;
void bronze_close(Bronze *bronze); /* accepts NULL */
/* Its table, NULL while there is none. */
DeltaTable *bronze_get_table(const Bronze *bronze);

/* Would these columns be written? Checked before anything is: the table, if there is one, is a
 * bronze table that this program writes; names are such as Delta takes, or maps.
 * ERR_SCHEMA_CHANGED when a column's type does not hold the rows' and may not be widened, or a new
 * name needs column mapping (algorithms.md 6.5). ERR_UNSUPPORTED: two names equal ignoring case. */
bool bronze_check(const Bronze *bronze, const Schema *captured, bool include_command_id,
                  Err *err) MUST_CHECK;
/* Before rows are written: the same, and creates the table when missing, and plans the columns it
 * lacks and the types that the next append widens. */
bool bronze_prepare(Bronze *bronze, const Schema *captured, bool include_command_id,
                    Err *err) MUST_CHECK;
/* Where a batch's or snapshot's rows go before their commit. After bronze_prepare. */
bool bronze_writer_open(Bronze *bronze, Str purpose, DeltaWriter **out, Err *err) MUST_CHECK;
/* delta_writer_finish. Accepts NULL. */
void bronze_writer_finish(Bronze *bronze, DeltaWriter *writer);

/* Publishes and commits a batch's files once: key sink id / batch id, its counts in the commit. */
bool bronze_append_batch(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                         Str sink_id, int64_t batch_id, const BatchCounts *counts,
                         DeltaOutcome *out, Err *err) MUST_CHECK;
/* Capture instances whose rows are in files that statistics show to hold none of `names` (ignoring
 * case); long ones may be cut to their beginning. At most `limit`, in `arena`. */
void bronze_find_others(const Bronze *bronze, const Str *names, size_t name_count, size_t limit,
                        Arena *arena, Str **out, size_t *count_out);
/* The newest batch of the sink id in the table as it was opened; false: none. */
bool bronze_find_last_batch(const Bronze *bronze, Str sink_id, int64_t *out);
/* Is the batch in, and what does its commit say? `has_counts` false: look into the source again. */
bool bronze_find_batch(Bronze *bronze, Str sink_id, int64_t batch_id, bool *is_in, bool *has_counts,
                       BatchCounts *counts, Err *err) MUST_CHECK;

/* Publishes and commits a whole snapshot; no rows: no commit. */
bool bronze_append_snapshot(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                            Str capture_instance, const Offset *at, Err *err) MUST_CHECK;
/* The newest whole snapshot of these capture instances (names ignoring case; none: of any) above
 * `above`; files that statistics show to be older are not opened. */
bool bronze_find_snapshot(Bronze *bronze, const Str *instances, size_t instance_count, OptLsn above,
                          bool *found, Offset *out, Err *err) MUST_CHECK;
/* The newest of those that a filter leaves. */
typedef struct SnapshotFilter {
    OptLsn  exactly;     /* stamped with this LSN */
    OptTime until;       /* committed at or before; one of unknown time is not */
    bool    with_chunks; /* a chunked one counts too, by its S; its time is then some stamp's */
} SnapshotFilter;
bool bronze_find_snapshot_where(Bronze *bronze, const Str *instances, size_t instance_count,
                                const SnapshotFilter *filter, bool *found, Offset *out,
                                Err *err) MUST_CHECK;
/* bronze_append_snapshot for a table that has no whole snapshot of these instances above `above`. When another run
 * came first, nothing is committed: `found`, and `at` is its. */
bool bronze_append_first_snapshot(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds,
                                  size_t count, const Str *instances, size_t instance_count,
                                  OptLsn above, Str user_metadata, Offset *at, bool *found,
                                  Err *err) MUST_CHECK;
/* When the commit at this LSN was; unset where no row is of it, or its time is unknown. */
bool bronze_find_commit_ts(Bronze *bronze, Lsn lsn, OptTime *out, Err *err) MUST_CHECK;
/* Whether there are rows of a chunked snapshot above `above`. */
bool bronze_has_chunks(Bronze *bronze, OptLsn above, bool *out, Err *err) MUST_CHECK;

#endif
