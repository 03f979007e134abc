/* row_builder.c - blocks made by hand. */
#include "types/row_block.h"

#include <assert.h>
#include <string.h>

typedef struct BuilderColumn {
    ColumnType type;
    size_t     width;
    char      *data;
    uint64_t  *validity;
} BuilderColumn;

struct RowBuilder {
    Arena         *arena;
    BuilderColumn *columns;
    size_t         column_count;
    size_t         row_count;
    size_t         row_capacity; /* a multiple of 64, or 0 */
};

RowBuilder *row_builder_new(Arena *arena, const Schema *schema)
{
    RowBuilder *builder = ARENA_NEW(arena, RowBuilder);

    builder->arena        = arena;
    builder->columns      = ARENA_ARRAY(arena, BuilderColumn, schema->column_count);
    builder->column_count = schema->column_count;
    for (size_t i = 0; i < schema->column_count; i++) {
        builder->columns[i].type  = schema->columns[i].type;
        builder->columns[i].width = column_type_width(schema->columns[i].type);
    }
    return builder;
}

static void *moved_array(Arena *arena, const void *old, size_t old_size, size_t new_size)
{
    void *moved = arena_alloc(arena, new_size);

    if (old_size > 0) memcpy(moved, old, old_size);
    return moved;
}

static void grow(RowBuilder *builder)
{
    size_t before = builder->row_capacity;
    size_t after  = before ? 2 * before : 64;

    for (size_t i = 0; i < builder->column_count; i++) {
        BuilderColumn *column = &builder->columns[i];
        column->data          = moved_array(builder->arena, column->data, before * column->width,
                                            after * column->width);
        column->validity = moved_array(builder->arena, column->validity, before / 8, after / 8);
    }
    builder->row_capacity = after;
}

void row_builder_begin(RowBuilder *builder)
{
    if (builder->row_count == builder->row_capacity) grow(builder);
    builder->row_count++; /* arrays are zeroed, and so every column of the row is NULL */
}

/* Marks the value as there and returns its place. */
static void *value_place(RowBuilder *builder, size_t column)
{
    assert(builder->row_count > 0);
    assert(column < builder->column_count);
    BuilderColumn *to        = &builder->columns[column];
    size_t         row_index = builder->row_count - 1;

    to->validity[row_index / 64] |= (uint64_t)1 << (row_index % 64);
    return to->data + row_index * to->width;
}

static void put_i16(void *place, int64_t value)
{
    assert(value >= INT16_MIN);
    assert(value <= INT16_MAX);
    *(int16_t *)place = (int16_t)value;
}

static void put_i32(void *place, int64_t value)
{
    assert(value >= INT32_MIN);
    assert(value <= INT32_MAX);
    *(int32_t *)place = (int32_t)value;
}

void row_builder_set_i64(RowBuilder *builder, size_t column, int64_t value)
{
    void *place = value_place(builder, column);

    switch (builder->columns[column].type.kind) {
    case TYPE_BOOLEAN: *(uint8_t *)place = value != 0; return;
    case TYPE_SHORT: put_i16(place, value); return;
    case TYPE_INTEGER:
    case TYPE_DATE: put_i32(place, value); return;
    case TYPE_LONG:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ: *(int64_t *)place = value; return;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_NESTED: break;
    }
    assert(false); /* the column is not one of integers */
}

void row_builder_set_double(RowBuilder *builder, size_t column, double value)
{
    TypeKind kind  = builder->columns[column].type.kind;
    void    *place = value_place(builder, column);

    if (kind == TYPE_FLOAT) {
        *(float *)place = (float)value;
        return;
    }
    assert(kind == TYPE_DOUBLE);
    *(double *)place = value;
}

void row_builder_set_str(RowBuilder *builder, size_t column, Str value)
{
    Str *place = value_place(builder, column);

    assert(column_type_is_text(builder->columns[column].type));
    *place = str_copy(builder->arena, value);
}

void row_builder_set_decimal(RowBuilder *builder, size_t column, Int128 unscaled)
{
    const BuilderColumn *to    = &builder->columns[column];
    void                *place = value_place(builder, column);
    int64_t              value = 0;

    assert(to->type.kind == TYPE_DECIMAL);
    if (to->width == sizeof(Int128)) {
        *(Int128 *)place = unscaled;
        return;
    }
    bool fits = int128_to_i64(unscaled, &value);
    assert(fits);
    if (to->width == sizeof(int16_t))
        put_i16(place, value);
    else if (to->width == sizeof(int32_t))
        put_i32(place, value);
    else
        *(int64_t *)place = value;
}

static bool has_null(const BuilderColumn *column, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++)
        if ((column->validity[i / 64] >> (i % 64) & 1) == 0) return true;
    return false;
}

RowBlock row_builder_block(RowBuilder *builder)
{
    ColumnVector *columns = ARENA_ARRAY(builder->arena, ColumnVector, builder->column_count);

    for (size_t i = 0; i < builder->column_count; i++) {
        const BuilderColumn *from = &builder->columns[i];
        columns[i].type           = from->type;
        columns[i].data           = from->data;
        columns[i].validity       = has_null(from, builder->row_count) ? from->validity : NULL;
    }
    return (RowBlock){
        .columns = columns, .column_count = builder->column_count, .row_count = builder->row_count};
}
