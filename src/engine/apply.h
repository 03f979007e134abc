/* apply.h - silver brought up to bronze (algorithms.md 7). */
#ifndef TIDELAKE_ENGINE_APPLY_H
#define TIDELAKE_ENGINE_APPLY_H

#include "engine/env.h"
#include "engine/stream.h"
#include "state/control.h"

typedef struct ApplyOptions {
    TableRef    bronze, silver, control;
    TableRef    facts; /* path empty: none; the verdict is then not advanced */
    TableRef    plans; /* path empty: next to bronze */
    Granularity granularity;
    const Str  *instances; /* of the table, whose rows are ours; at least 1 */
    size_t      instance_count;
    const Str  *keys; /* spelled as captured; at least 1 */
    size_t      key_count;
    bool        deletion_vectors; /* a silver that is made here loses rows by vector */
} ApplyOptions;

typedef struct ApplyResult {
    bool    rebuilt, bronze_found;
    OptLsn  applied_lsn;
    OptTime finalized_until;
    int64_t rows_written, rows_deleted;
    int64_t waves_applied; /* of the open chunked snapshot */
} ApplyResult;

/* Brings silver up to what bronze holds now, records the position, then moves silver's verdict. A
 * crash between any two steps, and a call with nothing new, change no row that is right. `out`
 * tells what was done; without a bronze table that is nothing. While a chunked snapshot is open its waves are applied
 * as they come, and the verdict is held.
 * Errors: ERR_STATE (rows that are not of this table, chunks without their open or their bounds), ERR_CONFLICT
 * (others kept changing silver), ERR_QUERY_ENGINE, ERR_STORE, ERR_CANCELLED. */
bool apply_run(Env *env, const ApplyOptions *options, ApplyResult *out, Err *err) MUST_CHECK;

/* Fills the instances and keys of a table from the source (7.1): the keys given, else the
 * configured instance's unique index. They live in `arena`. ERR_CONFIG when there is no such key
 * column or no index; the source's errors. */
bool apply_resolve(Env *env, const SourceOptions *source, Str capture_instance, const Str *keys,
                   size_t key_count, Arena *arena, ApplyOptions *options, Err *err) MUST_CHECK;

#endif
