/* snapshot_call.h - what a call that puts a whole snapshot into bronze works with: the source's table, bronze, and
 * what the facts know of the stream's snapshots. */
#ifndef TIDELAKE_ENGINE_SNAPSHOT_CALL_H
#define TIDELAKE_ENGINE_SNAPSHOT_CALL_H

#include "engine/family.h"
#include "engine/stream_internal.h"

typedef struct SnapshotCall {
    Stream
        stream; /* the parts of one that have nothing to do with a position; facts NULL: none yet */
    Family     family;
    const Str *names; /* the table's rows may stand under, the configured one first */
    size_t     name_count;
} SnapshotCall;

/* Everything is checked that needs neither rows nor a stamp. ERR_USAGE: facts without the stream's app_id. To be
 * closed whatever it returned. */
bool snapshot_call_open(Env *env, const StreamOptions *options, SnapshotCall *out,
                        Err *err) MUST_CHECK;
void snapshot_call_close(SnapshotCall *call);

#endif
