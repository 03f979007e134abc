/* control.h - one row per tracked table: its verdict, and silver's position (state.md 11,
 * algorithms.md 8). */
#ifndef TIDELAKE_STATE_CONTROL_H
#define TIDELAKE_STATE_CONTROL_H

#include "state/table_ref.h"
#include "types/optional.h"

typedef enum Granularity { GRANULARITY_MINUTE, GRANULARITY_HOUR, GRANULARITY_DAY } Granularity;
bool granularity_parse(Str text, Granularity *out) MUST_CHECK;
/* The start of the period that holds the time: periods that end at or before it are complete. */
int64_t granularity_truncate(Granularity granularity, int64_t utc_us);

typedef struct ControlRow {
    bool    exists;
    OptTime finalized_until;
    OptLsn  end_lsn;
    OptTime end_commit_ts;
    OptTime updated_at;
    OptLsn  applied_lsn, snapshot_lsn, open_snapshot_lsn;
    OptI64  snapshot_wave;
} ControlRow;

typedef struct Control Control;

/* Creates the table when missing. */
bool control_open(DeltaContext *context, const TableRef *ref, Control **out, Err *err) MUST_CHECK;
/* To look only: nothing is created or brought up to date. *out NULL when there is no table. */
bool control_open_if_exists(DeltaContext *context, const TableRef *ref, Control **out,
                            Err *err) MUST_CHECK;
void control_close(Control *control); /* accepts NULL */

/* The row as it is now; `exists` false when there is none. */
bool control_read(Control *control, Str table_name, ControlRow *out, Err *err) MUST_CHECK;
/* Names of the tables that have a row, in order. */
bool control_list(Control *control, Arena *arena, Str **out, size_t *count_out,
                  Err *err) MUST_CHECK;
/* Moves the verdict when `end` has a commit time and its period is later than the recorded one;
 * never back. A lost race is retried for up to 60 s. `finalized_out` (may be NULL): the verdict in
 * force. */
bool control_advance(Control *control, Str table_name, const Offset *end, Granularity granularity,
                     OptTime *finalized_out, Err *err) MUST_CHECK;
/* Sets silver's position, all four members together; writes nothing when they are as recorded. */
bool control_set_position(Control *control, Str table_name, OptLsn applied, OptLsn snapshot,
                          OptLsn open_snapshot, OptI64 wave, Err *err) MUST_CHECK;

#endif
