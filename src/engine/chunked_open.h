/* chunked_open.h - opens a chunked snapshot: S and the key's extent are recorded, nothing of the table is read
 * (algorithms.md 4.4). */
#ifndef TIDELAKE_ENGINE_CHUNKED_OPEN_H
#define TIDELAKE_ENGINE_CHUNKED_OPEN_H

#include "engine/family.h"
#include "engine/stream.h"

/* For the generation `sink_id` names. What another run opened first is taken as it is: `out` is the S that
 * counts. Errors: ERR_USAGE when snapshot_keys cannot be cut along, before anything is written. */
bool chunked_open(Env *env, Mssql *mssql, const StreamOptions *options, const CaptureTable *table,
                  Facts *facts, Str sink_id, int64_t generation, Offset *out, Err *err) MUST_CHECK;

#endif
