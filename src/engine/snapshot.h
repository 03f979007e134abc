/* snapshot.h - full snapshots: one taken by itself, and the bootstrap that starts a stream (algorithms.md 3).
 * Chunked ones are opened by chunked_open.h and read by backfill.h; a copy takes a snapshot's place by seed.h. */
#ifndef TIDELAKE_ENGINE_SNAPSHOT_H
#define TIDELAKE_ENGINE_SNAPSHOT_H

#include "engine/stream.h"
#include "source/mssql.h"
#include "state/bronze.h"
#include "state/facts.h"

/* The stamp of a snapshot taken now (3.1): max(max_lsn or zero, the LSN below the instance's
 * start), with its commit time. */
bool snapshot_stamp(Mssql *mssql, const CaptureInstance *instance, Offset *out,
                    Err *err) MUST_CHECK;

/* Bootstrap of generation 0 (3.4): finds the snapshot the stream starts from, or takes one, or opens one to be
 * read in chunks. `facts` may be NULL where it is taken whole. Refuses (ERR_STATE) while one of the other mode
 * is open. */
bool snapshot_bootstrap(Env *env, Mssql *mssql, const StreamOptions *options,
                        const CaptureTable *table, const Schema *captured, Bronze *bronze,
                        Facts *facts, Offset *out, Err *err) MUST_CHECK;

/* --- by itself --- */

typedef struct SnapshotResult {
    OptLsn  lsn; /* where a stream starts; unset when the call failed */
    OptTime commit_ts;
    OptI64  rows; /* written by this call; unset: it was there already */
} SnapshotResult;

/* Appends one full snapshot, or finds the one that is there, a chunked one too (3.3). `takes_another`: always
 * takes one. No facts row is written; with facts a chunked snapshot that is open is refused (ERR_STATE). Of the
 * stream's options what concerns its position is not used. */
bool snapshot_run(Env *env, const StreamOptions *options, bool takes_another, SnapshotResult *out,
                  Err *err) MUST_CHECK;

/* --- what a seed shares --- */

/* A facts row of a snapshot at S, counts 0 (state.md 8.2). */
FactsRow snapshot_event_row(Str sink_id, Str target, Str event, const Offset *at);
/* What reading took, as the event tells it; nothing set: it was found. */
typedef struct SnapshotCost {
    OptI64  rows;
    OptTime started_at;
    OptI64  duration_ms;
} SnapshotCost;
SnapshotCost snapshot_cost(Env *env, int64_t started_us, int64_t rows);
/* The 'bootstrap' event of generation 0, once. `facts` NULL: none. */
bool snapshot_write_bootstrap(Facts *facts, const StreamOptions *options, const Offset *at,
                              const SnapshotCost *cost, Err *err) MUST_CHECK;
/* The names a table's rows may stand under in bronze, the configured one first. */
const Str *snapshot_names(const StreamOptions *options, const CaptureTable *table, Arena *arena,
                          size_t *count_out);

#endif
