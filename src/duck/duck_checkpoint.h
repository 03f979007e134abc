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
/* The same with `add.stats_parsed`, of the columns and types of `typed`. A line of an add has a
 * member `parsed` beside it: {"numRecords":1,"tightBounds":true,"min":{"c0":"1"},"max":{...},
 * "nulls":{"c0":0}}, where c0 is the first column and bounds are texts, which are cast; one that
 * cannot be is NULL. */
bool duck_checkpoint_write_typed(Duck *duck, Str ndjson_local, Str parquet_local,
                                 const Schema *typed, int64_t *row_count_out, Err *err) MUST_CHECK;
/* Whether a checkpoint has bounds of columns of that type. */
bool duck_checkpoint_has_bounds(ColumnType type);

/* Reads the actions of checkpoint files back, one JSON object (as in a commit) per row, in a stream
 * of one STRING column `action`. Nested members that are NULL are left out, except values of maps.
 * `stats` text comes back unchanged; where only stats_parsed exists, stats holds
 * {"numRecords":n}. Rows of actions unknown to this version are left out. */
bool duck_checkpoint_read(DuckSession *session, const Str *parquet_locals, size_t count,
                          Arena *arena, RowStream **out, Err *err) MUST_CHECK;

/* One checkpoint file as its footer shows it; good as long as `arena` and the session are. */
typedef struct DuckCheckpoint DuckCheckpoint;

/* Columns of a block of adds. Rows of other actions are in it: path, size and time are NULL. */
typedef enum DuckAddColumn {
    DUCK_ADD_PATH,
    DUCK_ADD_SIZE,
    DUCK_ADD_MODIFIED,
    DUCK_ADD_STATS, /* text; of typed statistics where there is no text */
    DUCK_ADD_ROW,   /* in the file, from 0 */
    DUCK_ADD_EXTRA, /* the other members as JSON without braces, NULL and {} left out */
    DUCK_ADD_COLUMN_COUNT,
} DuckAddColumn;

/* Takes a block; what it points to is good until the call returns. Called by several threads at
 * once, and in no order. */
typedef bool (*DuckTakeAdds)(void *arg, const RowBlock *block, Err *err);

bool duck_checkpoint_open(DuckSession *session, Str local, Arena *arena, DuckCheckpoint **out,
                          Err *err) MUST_CHECK;
/* How many adds the footer counts; -1 when it does not. */
int64_t duck_checkpoint_count_adds(const DuckCheckpoint *file);
/* How many rows it has, each of which is to be one action; -1 when some may be actions that nobody
 * here knows. */
int64_t duck_checkpoint_count_rows(const DuckCheckpoint *file);
/* Hands all rows to `take`; its error (that of the earliest row, if several threads met one) ends
 * the scan and comes back. */
bool duck_checkpoint_take_adds(DuckCheckpoint *file, DuckTakeAdds take, void *arg,
                               Err *err) MUST_CHECK;
/* As duck_checkpoint_read, without the adds, and with a column `row`: the number in the file. *out
 * NULL when the file has none. */
bool duck_checkpoint_rest(DuckCheckpoint *file, Arena *arena, RowStream **out, Err *err) MUST_CHECK;

#endif
