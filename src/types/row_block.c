/* row_block.c - reading values out of blocks, and streams of blocks. */
#include "types/row_block.h"

#include "base/clock.h"

#include <assert.h>

bool column_is_null(const ColumnVector *column, size_t row_index)
{
    if (column->validity == NULL) return false;
    return (column->validity[row_index / 64] >> (row_index % 64) & 1) == 0;
}

bool column_bool(const ColumnVector *column, size_t row_index)
{
    assert(column->type.kind == TYPE_BOOLEAN);
    return ((const uint8_t *)column->data)[row_index] != 0;
}

/* Kinds held as one integer of at most 64 bits. */
static bool is_integer_kind(TypeKind kind)
{
    switch (kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ: return true;
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_NESTED: return false;
    }
    return false;
}

static int64_t read_integer(const void *data, size_t width, size_t row_index)
{
    if (width == sizeof(int16_t)) return ((const int16_t *)data)[row_index];
    if (width == sizeof(int32_t)) return ((const int32_t *)data)[row_index];
    assert(width == sizeof(int64_t));
    return ((const int64_t *)data)[row_index];
}

int64_t column_i64(const ColumnVector *column, size_t row_index)
{
    assert(is_integer_kind(column->type.kind));
    return read_integer(column->data, column_type_width(column->type), row_index);
}

double column_double(const ColumnVector *column, size_t row_index)
{
    if (column->type.kind == TYPE_FLOAT) return (double)((const float *)column->data)[row_index];
    assert(column->type.kind == TYPE_DOUBLE);
    return ((const double *)column->data)[row_index];
}

Str column_str(const ColumnVector *column, size_t row_index)
{
    assert(column_type_is_text(column->type));
    return ((const Str *)column->data)[row_index];
}

Int128 column_decimal(const ColumnVector *column, size_t row_index)
{
    size_t width = column_type_width(column->type);

    assert(column->type.kind == TYPE_DECIMAL);
    if (width == sizeof(Int128)) return ((const Int128 *)column->data)[row_index];
    return int128_from_i64(read_integer(column->data, width, row_index));
}

uint64_t column_size_bytes(const ColumnVector *column, size_t row_count)
{
    uint64_t size = (row_count + 7) / 8; /* validity, whether or not there is a NULL */

    if (!column_type_is_text(column->type))
        return size + (uint64_t)row_count * column_type_width(column->type);
    size += 4 * (uint64_t)row_count;
    for (size_t i = 0; i < row_count; i++)
        if (!column_is_null(column, i)) size += column_str(column, i).len;
    return size;
}

/* ---- text ---- */

static Str format_date(Arena *arena, int64_t days)
{
    CivilTime date = civil_from_us(days * INT64_C(86400000000));
    return str_printf(arena, "%04d-%02d-%02d", (int)date.year, (int)date.month, (int)date.day);
}

static Str format_double(Arena *arena, double value)
{
    char   text[32];
    size_t len = double_format_shortest(value, text);
    return str_copy(arena, (Str){text, len});
}

static Str format_decimal(Arena *arena, const ColumnVector *column, size_t row_index)
{
    char   text[48];
    size_t len = decimal_format(column_decimal(column, row_index), column->type.scale, text);
    return str_copy(arena, (Str){text, len});
}

Str column_format(Arena *arena, const ColumnVector *column, size_t row_index)
{
    assert(!column_is_null(column, row_index));
    switch (column->type.kind) {
    case TYPE_BOOLEAN: return column_bool(column, row_index) ? STR("true") : STR("false");
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG: return str_printf(arena, "%lld", (long long)column_i64(column, row_index));
    case TYPE_FLOAT:
    case TYPE_DOUBLE: return format_double(arena, column_double(column, row_index));
    case TYPE_DECIMAL: return format_decimal(arena, column, row_index);
    case TYPE_DATE: return format_date(arena, column_i64(column, row_index));
    case TYPE_TIMESTAMP:
        return str_printf(arena, "%s+00:00",
                          time_format_us(arena, column_i64(column, row_index)).ptr);
    case TYPE_TIMESTAMP_NTZ: return time_format_us(arena, column_i64(column, row_index));
    case TYPE_STRING:
    case TYPE_NESTED: return column_str(column, row_index);
    case TYPE_BINARY:
        return str_printf(arena, "0x%s",
                          hex_encode(arena, str_bytes(column_str(column, row_index)), false).ptr);
    }
    assert(false);
    return STR_EMPTY;
}

void column_write_json(JsonWriter *json, const ColumnVector *column, size_t row_index,
                       Arena *scratch)
{
    if (column_is_null(column, row_index)) {
        json_null_value(json);
        return;
    }
    switch (column->type.kind) {
    case TYPE_BOOLEAN: json_bool(json, column_bool(column, row_index)); return;
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG: json_i64(json, column_i64(column, row_index)); return;
    case TYPE_FLOAT:
    case TYPE_DOUBLE: json_double(json, column_double(column, row_index)); return;
    case TYPE_STRING: json_str(json, column_str(column, row_index)); return;
    case TYPE_NESTED: json_raw(json, column_str(column, row_index)); return;
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_BINARY: break;
    }
    json_str(json, column_format(scratch, column, row_index));
}

/* ---- streams ---- */

bool row_stream_next(RowStream *stream, RowBlock *out, Err *err)
{
    return stream->next(stream, out, err);
}

void row_stream_close(RowStream *stream)
{
    if (stream != NULL && stream->close != NULL) stream->close(stream);
}

void row_stream_release(RowStream *stream)
{
    if (stream->release != NULL) stream->release(stream);
}

typedef struct BlockStream {
    RowStream base;
    RowBlock  block; /* row_count 0 once it was given */
} BlockStream;

static bool block_stream_next(RowStream *stream, RowBlock *out, Err *err)
{
    BlockStream *self = (BlockStream *)stream;

    (void)err;
    *out                  = self->block;
    self->block.row_count = 0;
    return true;
}

RowStream *row_stream_of_block(Arena *arena, const Schema *schema, const RowBlock *block)
{
    BlockStream *self = ARENA_NEW(arena, BlockStream);

    assert(block->row_count == 0 || block->column_count == schema->column_count);
    self->base = (RowStream){
        .schema = *schema, .row_limit = block->row_count, .next = block_stream_next};
    for (size_t i = 0; i < block->column_count && block->row_count > 0; i++)
        self->base.byte_limit += (size_t)column_size_bytes(&block->columns[i], block->row_count);
    self->block = *block;
    return &self->base;
}

RowStream *row_stream_empty(Arena *arena, const Schema *schema)
{
    return row_stream_of_block(arena, schema, &(RowBlock){.row_count = 0});
}
