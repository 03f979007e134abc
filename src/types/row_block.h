/* row_block.h - a block of rows as columns, and the streams that are asked for them.
 *
 * Rows are pulled: row_stream_next gives a block that is good until the next call. The driver's
 * buffers become a block once, and DuckDB's writer asks for blocks through a table function that
 * points into them. */
#ifndef TIDELAKE_TYPES_ROW_BLOCK_H
#define TIDELAKE_TYPES_ROW_BLOCK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "types/schema.h"

/* One column of a block. `data` is an array of row_count values in the form of column_type.h,
 * Str for text and binary. `validity` has a bit per row, least significant first, set for a
 * value; NULL when no value is NULL. What stands in `data` at a NULL is unspecified (a Str there
 * is {NULL, 0}). */
typedef struct ColumnVector {
    ColumnType      type;
    const void     *data;
    const uint64_t *validity;
} ColumnVector;

typedef struct RowBlock {
    const ColumnVector *columns;
    size_t              column_count;
    size_t              row_count;
} RowBlock;

bool column_is_null(const ColumnVector *column, size_t row_index);
/* Typed reads; asserted against the column's type. Not for NULLs. */
bool column_bool(const ColumnVector *column, size_t row_index);
/* SHORT, INTEGER, LONG, DATE, TIMESTAMP, TIMESTAMP_NTZ */
int64_t column_i64(const ColumnVector *column, size_t row_index);
double  column_double(const ColumnVector *column, size_t row_index); /* FLOAT, DOUBLE */
Str     column_str(const ColumnVector *column, size_t row_index);    /* STRING, BINARY */
Int128  column_decimal(const ColumnVector *column, size_t row_index);
/* Bytes of one column's values as facts count them: fixed width, or 4 + length, plus a validity
 * bit each (algorithms.md 11). */
uint64_t column_size_bytes(const ColumnVector *column, size_t row_count);

/* The text of a value for people and JSON: ISO dates and times, plain decimals, hex for binary
 * ("0x..."). */
Str column_format(Arena *arena, const ColumnVector *column, size_t row_index);
/* A value, or null: numbers and booleans as such, nested ones as the JSON they are, all else as its
 * text. */
void column_write_json(JsonWriter *json, const ColumnVector *column, size_t row_index,
                       Arena *scratch);

/* A stream of blocks. Implementations embed it as their first member. */
typedef struct RowStream RowStream;
struct RowStream {
    Schema schema;     /* of every block */
    size_t row_limit;  /* there are no more rows than these in all; 0: not known */
    size_t byte_limit; /* of their values, about; 0 with row_limit */
    /* A block with row_count > 0, or at the end true and row_count 0. A block is good until the
     * next call on the same stream. */
    bool (*next)(RowStream *stream, RowBlock *out, Err *err);
    void (*close)(RowStream *stream);   /* may be NULL */
    void (*release)(RowStream *stream); /* may be NULL */
};

bool row_stream_next(RowStream *stream, RowBlock *out, Err *err) MUST_CHECK;
void row_stream_close(RowStream *stream); /* accepts NULL */
/* The block at hand is not looked at any more: what it holds may go before the next one is asked
 * for. */
void row_stream_release(RowStream *stream);

/* Rows made by hand, value by value, for the small tables (facts, control, plans) and tests. All
 * memory is the arena's. */
typedef struct RowBuilder RowBuilder;

RowBuilder *row_builder_new(Arena *arena, const Schema *schema);
void        row_builder_begin(RowBuilder *builder); /* a new row, every column NULL */
/* all integer, date and time types, BOOLEAN too */
void     row_builder_set_i64(RowBuilder *builder, size_t column, int64_t value);
void     row_builder_set_double(RowBuilder *builder, size_t column, double value);
void     row_builder_set_str(RowBuilder *builder, size_t column, Str value); /* copied */
void     row_builder_set_decimal(RowBuilder *builder, size_t column, Int128 unscaled);
RowBlock row_builder_block(RowBuilder *builder);
/* One block, then the end. */
RowStream *row_stream_of_block(Arena *arena, const Schema *schema, const RowBlock *block);
RowStream *row_stream_empty(Arena *arena, const Schema *schema);

#endif
