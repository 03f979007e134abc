/* facts.h - the table of what happened: a row per micro-batch and per event (state.md 7, 8). */
#ifndef TIDELAKE_STATE_FACTS_H
#define TIDELAKE_STATE_FACTS_H

#include "state/table_ref.h"
#include "types/optional.h"

#define EVENT_BOOTSTRAP      "bootstrap"
#define EVENT_RESNAPSHOT     "resnapshot"
#define EVENT_SNAPSHOT_OPEN  "snapshot_open"
#define EVENT_SNAPSHOT_PLAN  "snapshot_plan"
#define EVENT_SNAPSHOT_CHUNK "snapshot_chunk"
#define EVENT_SCHEMA_CHANGE  "schema_change"
#define EVENT_SWITCHED       "capture_instance_switched"
#define EVENT_DATA_SKIPPED   "data_skipped"

/* One row; unset members and empty texts are NULL. */
typedef struct FactsRow {
    Str       app_id; /* the generation's sink id */
    OptI64    batch_id;
    OptI64    rows;
    OptLsn    min_lsn, max_lsn;
    OptTime   min_commit_ts, max_commit_ts;
    OptI64    deletes, inserts, updates;
    OptTime   started_at;
    OptI64    duration_ms;
    OptDouble source_rtt_ms, read_seconds, read_mb;
    OptI64    network_wait_ms;
    OptTime   retention_watermark_ts;
    OptDouble retention_headroom_hours;
    Str       event;
    OptTime   lost_from_ts, lost_to_ts;
    OptTime   source_max_commit_ts;
    OptDouble capture_lag_seconds, ingestion_lag_seconds;
    OptLsn    end_lsn;
    OptTime   end_commit_ts;
    Str       detail;
    Str       target;
    OptTime   written_at; /* set by the append */
} FactsRow;

/* An event at one LSN of the source and its time: it wrote no rows. Whose it is, is the caller's to set. */
FactsRow facts_event_row(Str event, Lsn lsn, OptTime commit_ts);

typedef struct Facts Facts;

/* Creates the table when missing. */
bool facts_open(DeltaContext *context, const TableRef *ref, Facts **out, Err *err) MUST_CHECK;
/* `*out` NULL: no facts are named, or their table is not there; whoever only looks makes none. */
bool facts_open_if_exists(DeltaContext *context, const TableRef *ref, Facts **out,
                          Err *err) MUST_CHECK;
void facts_close(Facts *facts); /* accepts NULL */

/* A batch's row and its events in one commit, key `<sink id>#facts` / batch id. */
bool facts_append_batch(Facts *facts, Str sink_id, int64_t batch_id, FactsRow *rows, size_t count,
                        DeltaOutcome *out, Err *err) MUST_CHECK;
/* One event. `app_id` is the caller's, never a generation's: the key is `<app_id>#events` /
 * version; a full open has none (txn_version < 0). */
bool facts_append_event(Facts *facts, Str app_id, int64_t txn_version, FactsRow *row,
                        DeltaOutcome *out, Err *err) MUST_CHECK;

/* Rows of a chunked snapshot in one commit; `key` and `version` as state.md 15 has them. */
bool facts_append_once(Facts *facts, Str key, int64_t version, FactsRow *rows, size_t count,
                       DeltaOutcome *out, Err *err) MUST_CHECK;

/* Largest batch_id of micro-batch rows of this sink id. */
bool facts_find_last_batch(Facts *facts, Str sink_id, OptI64 *out, Err *err) MUST_CHECK;
/* True when the batch's commit is in. */
bool facts_has_batch(Facts *facts, Str sink_id, int64_t batch_id, bool *out, Err *err) MUST_CHECK;
/* Snapshot events ('snapshot_open', 'bootstrap', 'resnapshot') of this target, oldest first;
 * app_id, event, rows, LSNs, their times, started_at, duration_ms, the gap, written_at and detail
 * are filled. `family_of` empty: whatever their app_id. */
bool facts_find_snapshots(Facts *facts, Str target, Str family_of, Arena *arena, FactsRow **out,
                          size_t *count_out, Err *err) MUST_CHECK;
/* The 'snapshot_plan' and 'snapshot_chunk' rows of one chunked snapshot; members as above. */
bool facts_find_chunks(Facts *facts, Str target, Str family_of, Lsn snapshot, Arena *arena,
                       FactsRow **out, size_t *count_out, Err *err) MUST_CHECK;
/* What the newest micro-batch row of this sink id says of the room to the retention; unset without
 * a row, or where it says nothing. */
bool facts_find_headroom(Facts *facts, Str sink_id, OptDouble *hours_out, OptTime *written_at_out,
                         Err *err) MUST_CHECK;
/* Whether a micro-batch of this target, whoever's, ended at or after that time at the source. */
bool facts_has_read_to(Facts *facts, Str target, int64_t commit_us, bool *out, Err *err) MUST_CHECK;
/* Events of one kind of this sink id at one LSN; members as above. */
bool facts_find_events(Facts *facts, Str sink_id, Str event, Lsn lsn, Arena *arena, FactsRow **out,
                       size_t *count_out, Err *err) MUST_CHECK;
/* Whether the table has rows for the target `known`; when not, at most `limit` of those it has. */
bool facts_find_targets(Facts *facts, Str known, size_t limit, Arena *arena, bool *is_known,
                        Str **out, size_t *count_out, Err *err) MUST_CHECK;

#endif
