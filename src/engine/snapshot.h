/* snapshot.h - a full snapshot, and the bootstrap that starts a stream (algorithms.md 3). Chunked ones are
 * opened by chunked_open.h and read by backfill.h. */
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

/* A facts row of a snapshot at S, counts 0 (state.md 8.2). */
FactsRow snapshot_event_row(Str sink_id, Str target, Str event, const Offset *at);

#endif
