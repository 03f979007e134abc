/* duck_checkpoint.h - Delta checkpoint files: Parquet of action structs, written and read with one
 * query shape (delta.md 1.4, 2.13). */
#ifndef TIDELAKE_DUCK_DUCK_CHECKPOINT_H
#define TIDELAKE_DUCK_DUCK_CHECKPOINT_H

#include "duck/duck.h"

/* Turns newline-delimited action JSON (`ndjson_local`) into a classic V1 checkpoint at
 * `parquet_local`, in exactly the schema of delta.md 2.13; rows may change their order.
 * `row_count_out` may be NULL. No file is left on an error. */
bool duck_checkpoint_write(Duck *duck, Str ndjson_local, Str parquet_local, int64_t *row_count_out,
                           Err *err) MUST_CHECK;

/* Reads the actions of checkpoint files back, one JSON object (as in a commit) per row, in a stream
 * of one STRING column `action`. Nested members that are NULL are left out, except values of maps.
 * `stats` text comes back unchanged; where only stats_parsed exists, stats holds
 * {"numRecords":n}. Rows of actions unknown to this version are left out. */
bool duck_checkpoint_read(DuckSession *session, const Str *parquet_locals, size_t count,
                          Arena *arena, RowStream **out, Err *err) MUST_CHECK;

#endif
