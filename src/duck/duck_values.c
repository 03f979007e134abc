/* duck_values.c - values between blocks of rows and libduckdb's vectors. Both hold them in the same
 * form (types/column_type.h), so only text is touched one by one, and even its bytes stay where
 * they are. */
#include "base/limits.h"
#include "duck/duck_internal.h"

#include <assert.h>
#include <string.h>

/* Text is valid UTF-8 by contract (delta.md 5.5); builds that hunt for mistakes look. */
#if defined(__SANITIZE_ADDRESS__)
#define VERIFY_UTF8 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VERIFY_UTF8 1
#endif
#endif
#ifndef VERIFY_UTF8
#define VERIFY_UTF8 0
#endif

#define INLINE_BYTES 12

static duckdb_type type_id(TypeKind kind)
{
    switch (kind) {
    case TYPE_BOOLEAN: return DUCKDB_TYPE_BOOLEAN;
    case TYPE_SHORT: return DUCKDB_TYPE_SMALLINT;
    case TYPE_INTEGER: return DUCKDB_TYPE_INTEGER;
    case TYPE_LONG: return DUCKDB_TYPE_BIGINT;
    case TYPE_FLOAT: return DUCKDB_TYPE_FLOAT;
    case TYPE_DOUBLE: return DUCKDB_TYPE_DOUBLE;
    case TYPE_DECIMAL: return DUCKDB_TYPE_DECIMAL;
    case TYPE_DATE: return DUCKDB_TYPE_DATE;
    case TYPE_TIMESTAMP: return DUCKDB_TYPE_TIMESTAMP_TZ;
    case TYPE_TIMESTAMP_NTZ: return DUCKDB_TYPE_TIMESTAMP;
    case TYPE_STRING: return DUCKDB_TYPE_VARCHAR;
    case TYPE_BINARY: return DUCKDB_TYPE_BLOB;
    case TYPE_NESTED: return DUCKDB_TYPE_VARCHAR; /* its text */
    }
    return DUCKDB_TYPE_INVALID;
}

duckdb_logical_type duck_logical_type(ColumnType type)
{
    if (type.kind == TYPE_DECIMAL) return duckdb_create_decimal_type(type.precision, type.scale);
    return duckdb_create_logical_type(type_id(type.kind));
}

bool duck_column_type(duckdb_logical_type logical, ColumnType *out)
{
    static const TypeKind kinds[] = {TYPE_BOOLEAN,   TYPE_SHORT,         TYPE_INTEGER, TYPE_LONG,
                                     TYPE_FLOAT,     TYPE_DOUBLE,        TYPE_DECIMAL, TYPE_DATE,
                                     TYPE_TIMESTAMP, TYPE_TIMESTAMP_NTZ, TYPE_STRING,  TYPE_BINARY};
    duckdb_type           id      = duckdb_get_type_id(logical);
    char *alias = duckdb_logical_type_get_alias(logical); /* JSON is a VARCHAR by another name */

    duckdb_free(alias);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (type_id(kinds[i]) != id) continue;
        *out = COLUMN_TYPE(kinds[i]);
        if (kinds[i] == TYPE_DECIMAL)
            *out = DECIMAL_TYPE(duckdb_decimal_width(logical), duckdb_decimal_scale(logical));
        return true;
    }
    return false;
}

/* --- in --- */

static void fill_validity(duckdb_vector vector, const uint64_t *validity, size_t from, size_t count)
{
    duckdb_vector_ensure_validity_writable(vector);
    uint64_t *out   = duckdb_vector_get_validity(vector);
    size_t    shift = from % 64, word = from / 64, last = (from + count - 1) / 64;

    for (size_t i = 0; i * 64 < count; i++, word++) {
        out[i] = validity[word] >> shift;
        if (shift > 0 && word < last) out[i] |= validity[word + 1] << (64 - shift);
    }
}

static void set_string(duckdb_string_t *out, Str text)
{
    *out                      = (duckdb_string_t){0};
    out->value.inlined.length = (uint32_t)text.len;
    if (text.len <= INLINE_BYTES) {
        if (text.len > 0) memcpy(out->value.inlined.inlined, text.ptr, text.len);
        return;
    }
    memcpy(out->value.pointer.prefix, text.ptr, sizeof(out->value.pointer.prefix));
    out->value.pointer.ptr = (char *)(uintptr_t)text.ptr; /* libduckdb only reads it */
}

static bool fill_text(duckdb_string_t *out, const ColumnVector *column, size_t from, size_t count,
                      Err *err)
{
    const Str *texts = column->data;
    for (size_t i = 0; i < count; i++) {
        bool is_null = column_is_null(column, from + i);
        if (!is_null && texts[from + i].len > LIMIT_VALUE_BYTES)
            return err_set(err, ERR_LIMIT,
                           "a value is longer than %d MiB, the most that a data file can hold",
                           LIMIT_VALUE_MIB);
        assert(!VERIFY_UTF8 || is_null || column->type.kind != TYPE_STRING ||
               utf8_is_valid(texts[from + i]));
        set_string(&out[i], is_null ? STR_EMPTY : texts[from + i]);
    }
    return true;
}

/* Adding zero turns -0.0, which statistics order wrongly, into 0.0 (delta.md 3.3.8). */
static void fill_floats(float *out, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = values[i] + 0.0F;
}

static void fill_doubles(double *out, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = values[i] + 0.0;
}

bool duck_fill_vector(duckdb_vector vector, const ColumnVector *column, size_t from, size_t count,
                      Err *err)
{
    void  *out   = duckdb_vector_get_data(vector);
    size_t width = column_type_width(column->type);

    assert(count > 0);
    if (column->validity) fill_validity(vector, column->validity, from, count);
    if (column_type_is_text(column->type)) return fill_text(out, column, from, count, err);
    if (column->type.kind == TYPE_FLOAT)
        fill_floats(out, (const float *)column->data + from, count);
    else if (column->type.kind == TYPE_DOUBLE)
        fill_doubles(out, (const double *)column->data + from, count);
    else
        memcpy(out, (const char *)column->data + from * width, count * width);
    return true;
}

/* --- out --- */

bool duck_vector_is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity && !duckdb_validity_row_is_valid(validity, row);
}

static Str string_str(const duckdb_string_t *string)
{
    size_t len = string->value.inlined.length;
    return (Str){len <= INLINE_BYTES ? string->value.inlined.inlined : string->value.pointer.ptr,
                 len};
}

Str duck_vector_str(duckdb_vector vector, idx_t row)
{
    return string_str((const duckdb_string_t *)duckdb_vector_get_data(vector) + row);
}

ColumnVector duck_column_of_vector(Arena *arena, duckdb_vector vector, ColumnType type,
                                   size_t count)
{
    ColumnVector column = {.type     = type,
                           .data     = duckdb_vector_get_data(vector),
                           .validity = duckdb_vector_get_validity(vector)};

    if (!column_type_is_text(type)) return column;
    const duckdb_string_t *strings = column.data;
    Str                   *texts   = arena_alloc_uninit(arena, count * sizeof(Str));
    for (size_t i = 0; i < count; i++) {
        if (column_is_null(&column, i))
            texts[i] = (Str){NULL, 0};
        else if (type.kind == TYPE_NESTED)
            texts[i] = duck_nested_text(arena, vector, type, i);
        else
            texts[i] = string_str(&strings[i]);
    }
    column.data = texts;
    return column;
}
