/* Rows in the table's shape: columns matched by name, those the rows lack NULL, narrower types
 * widened without loss (algorithms.md 6.5). What fits needs no copy. */
#include "delta/conform.h"

#include <assert.h>
#include <string.h>

__extension__ typedef __int128          Wide;
__extension__ typedef unsigned __int128 WideBits;

#define DAY_US (INT64_C(86400) * 1000000)
#define ABSENT ((ptrdiff_t)-1)

typedef struct ConformStream {
    RowStream     base;
    RowStream    *inner;
    Schema        names;  /* as people know the columns, for messages */
    ptrdiff_t    *source; /* per column of ours, the inner column or ABSENT */
    ColumnVector *columns;
    Arena        *block; /* reset per block */
} ConformStream;

/* --- widening one column --- */

static Wide to_wide(Int128 value)
{
    return (Wide)((WideBits)(uint64_t)value.upper << 64 | value.lower);
}

static bool scale_up(Wide *value, int digits)
{
    for (int i = 0; i < digits; i++)
        if (__builtin_mul_overflow(*value, (Wide)10, value)) return false;
    return true;
}

static bool fits_precision(Wide value, uint8_t precision)
{
    Wide limit = 1;
    if (!scale_up(&limit, precision)) return true; /* 38 digits need all of it */
    return value < limit && value > -limit;
}

static void put_integer(void *data, size_t width, size_t index, Wide value)
{
    switch (width) {
    case sizeof(int16_t): ((int16_t *)data)[index] = (int16_t)value; return;
    case sizeof(int32_t): ((int32_t *)data)[index] = (int32_t)value; return;
    case sizeof(int64_t): ((int64_t *)data)[index] = (int64_t)value; return;
    default:
        ((Int128 *)data)[index] = (Int128){.lower = (uint64_t)value,
                                           .upper = (int64_t)(value >> 64)};
    }
}

static bool is_integer(ColumnType type)
{
    return type.kind == TYPE_SHORT || type.kind == TYPE_INTEGER || type.kind == TYPE_LONG;
}

/* The value as a whole number in units of the new type's scale. */
static bool widen_whole(const ColumnVector *in, ColumnType to, size_t row, Wide *out)
{
    if (in->type.kind == TYPE_DECIMAL) {
        *out = to_wide(column_decimal(in, row));
        return scale_up(out, to.scale - in->type.scale) && fits_precision(*out, to.precision);
    }
    *out = (Wide)column_i64(in, row);
    if (to.kind == TYPE_TIMESTAMP_NTZ) *out *= DAY_US;
    return to.kind != TYPE_DECIMAL ||
           (scale_up(out, to.scale) && fits_precision(*out, to.precision));
}

static bool widen(const ColumnVector *in, ColumnType to, size_t row_count, Arena *arena,
                  ColumnVector *out)
{
    size_t width = column_type_width(to);
    void  *data  = arena_alloc_array(arena, row_count, width);

    *out = (ColumnVector){.type = to, .data = data, .validity = in->validity};
    for (size_t row = 0; row < row_count; row++) {
        Wide whole;
        if (column_is_null(in, row)) continue;
        if (to.kind == TYPE_DOUBLE) {
            ((double *)data)[row] = is_integer(in->type) ? (double)column_i64(in, row)
                                                         : column_double(in, row);
            continue;
        }
        if (!widen_whole(in, to, row, &whole)) return false;
        put_integer(data, width, row, whole);
    }
    return true;
}

static ColumnVector all_null(ColumnType type, size_t row_count, Arena *arena)
{
    return (ColumnVector){
        .type     = type,
        .data     = arena_alloc_array(arena, row_count, column_type_width(type)),
        .validity = arena_alloc_array(arena, (row_count + 63) / 64, sizeof(uint64_t)),
    };
}

/* --- the stream --- */

static bool conform_next(RowStream *stream, RowBlock *out, Err *err)
{
    ConformStream *conform = (ConformStream *)stream;
    RowBlock       block;

    arena_reset(conform->block);
    if (!row_stream_next(conform->inner, &block, err)) return false;
    *out = (RowBlock){.column_count = stream->schema.column_count};
    if (block.row_count == 0) return true;
    for (size_t i = 0; i < stream->schema.column_count; i++) {
        const Column *want = &stream->schema.columns[i];
        if (conform->source[i] == ABSENT) {
            conform->columns[i] = all_null(want->type, block.row_count, conform->block);
            continue;
        }
        const ColumnVector *have = &block.columns[conform->source[i]];
        conform->columns[i]      = *have;
        if (column_type_equal(have->type, want->type)) continue;
        if (!widen(have, want->type, block.row_count, conform->block, &conform->columns[i]))
            return err_set(err, ERR_SCHEMA_CHANGED, "a value of column %.*s does not fit into %.*s",
                           STR_ARG(conform->names.columns[i].name),
                           STR_ARG(column_type_sql_name(conform->block, want->type)));
    }
    out->columns   = conform->columns;
    out->row_count = block.row_count;
    return true;
}

static void conform_release(RowStream *stream)
{
    row_stream_release(((ConformStream *)stream)->inner);
}

static bool match_columns(const Schema *have, const Schema *want, ptrdiff_t *source, Arena *arena,
                          Err *err)
{
    bool *used = ARENA_ARRAY(arena, bool, have->column_count + 1);

    for (size_t i = 0; i < want->column_count; i++) {
        source[i] = schema_find(have, want->columns[i].name);
        if (source[i] == ABSENT) continue;
        used[source[i]] = true;
        ColumnType from = have->columns[source[i]].type;
        ColumnType to   = want->columns[i].type;
        if (!column_type_fits(from, true, to))
            return err_set(err, ERR_SCHEMA_CHANGED,
                           "column %.*s has type %.*s in the table, and rows bring %.*s",
                           STR_ARG(want->columns[i].name), STR_ARG(column_type_sql_name(arena, to)),
                           STR_ARG(column_type_sql_name(arena, from)));
    }
    for (size_t i = 0; i < have->column_count; i++)
        if (!used[i])
            return err_set(err, ERR_SCHEMA_CHANGED, "the table has no column %.*s",
                           STR_ARG(have->columns[i].name));
    return true;
}

bool conform_open(RowStream *rows, const Schema *schema, const Schema *stored, Arena *arena,
                  RowStream **out, Err *err)
{
    ConformStream *conform = ARENA_NEW(arena, ConformStream);

    *conform = (ConformStream){
        .base    = {.schema     = *stored,
                    .row_limit  = rows->row_limit,
                    .byte_limit = rows->byte_limit,
                    .next       = conform_next,
                    .release    = conform_release},
        .names   = *schema,
        .inner   = rows,
        .source  = ARENA_ARRAY(arena, ptrdiff_t, schema->column_count + 1),
        .columns = ARENA_ARRAY(arena, ColumnVector, schema->column_count + 1),
    };
    if (!match_columns(&rows->schema, schema, conform->source, arena, err)) return false;
    conform->block = arena_new();
    *out           = &conform->base;
    return true;
}

bool conform_supplies(const RowStream *stream, size_t column)
{
    return ((const ConformStream *)stream)->source[column] != ABSENT;
}

void conform_close(RowStream *stream)
{
    if (stream) arena_close(((ConformStream *)stream)->block);
}
