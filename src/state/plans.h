/* plans.h - the table next to bronze that holds the key values of chunked snapshots, which shall not
 * stand in the shared facts (state.md 10). */
#ifndef TIDELAKE_STATE_PLANS_H
#define TIDELAKE_STATE_PLANS_H

#include "state/facts.h"

typedef struct Plans Plans;

/* Where the plans of a bronze table are: its name with _snapshot_plans, inside the last quote of a
 * quoted one, after the trailing `/` of a path were taken off. */
TableRef plans_ref_of_bronze(Arena *arena, const TableRef *bronze);

/* *out NULL when there is no table yet; an older one is brought up to date. */
bool plans_open_if_exists(DeltaContext *context, const TableRef *ref, Plans **out,
                          Err *err) MUST_CHECK;
/* Creates the table when missing. */
bool plans_open(DeltaContext *context, const TableRef *ref, Plans **out, Err *err) MUST_CHECK;
void plans_close(Plans *plans); /* accepts NULL */

/* The whole payload of a facts row of a chunked snapshot, in `arena`: the row's own when it has any
 * of the members that moved, else that of its row here. Read the facts first. `plans` NULL: there
 * is no table. ERR_STATE names table, snapshot, event and chunk when neither has it: a missing
 * bound is never an open one. */
bool plans_complete_detail(Plans *plans, const TableRef *ref, const FactsRow *row, Lsn snapshot,
                           Arena *arena, Str *out, Err *err) MUST_CHECK;

/* The same for many rows of one kind, which are read at once; `out` has `count` members. */
bool plans_complete_details(Plans *plans, const TableRef *ref, const FactsRow *const *rows,
                            size_t count, Lsn snapshot, Arena *arena, Str *out,
                            Err *err) MUST_CHECK;

/* Rows of one snapshot and kind in one commit; `key` and `version` as state.md 15 has them. `key` empty: whatever
 * else was written. */
bool plans_append_once(Plans *plans, Str key, int64_t version, Lsn snapshot, Str event,
                       const Str *details, size_t count, DeltaOutcome *out, Err *err) MUST_CHECK;
/* Is that commit, or one of a higher version, in? */
bool plans_has(Plans *plans, Str key, int64_t version, bool *out, Err *err) MUST_CHECK;
/* The payloads of one snapshot and kind, in no order. */
bool plans_find_details(Plans *plans, Lsn snapshot, Str event, Arena *arena, Str **out,
                        size_t *count_out, Err *err) MUST_CHECK;

#endif
