/* column_type.h - the types of columns in the lake (delta.md 3.1) and how a value of each is
 * held in memory. */
#ifndef TIDELAKE_TYPES_COLUMN_TYPE_H
#define TIDELAKE_TYPES_COLUMN_TYPE_H

#include "base/str.h"

typedef enum TypeKind {
    TYPE_BOOLEAN, /* uint8_t 0 or 1 */
    TYPE_SHORT,   /* int16_t */
    TYPE_INTEGER, /* int32_t */
    TYPE_LONG,    /* int64_t */
    TYPE_FLOAT,   /* float */
    TYPE_DOUBLE,  /* double */
    TYPE_DECIMAL, /* unscaled: int16_t up to 4 digits, int32_t to 9, int64_t to 18, Int128 to 38 */
    TYPE_DATE,    /* int32_t days since 1970-01-01 */
    TYPE_TIMESTAMP,     /* int64_t microseconds since 1970, an instant in UTC */
    TYPE_TIMESTAMP_NTZ, /* int64_t microseconds since 1970, no zone */
    TYPE_STRING,        /* Str, valid UTF-8 */
    TYPE_BINARY,        /* Str, any bytes */
    TYPE_NESTED,        /* Str, the value as JSON text; other programs' tables, never written */
} TypeKind;

/* 128-bit two's complement, the layout libduckdb uses. */
typedef struct Int128 {
    uint64_t lower;
    int64_t  upper;
} Int128;

typedef struct NestedType NestedType; /* nested_type.h */

typedef struct ColumnType {
    TypeKind          kind;
    uint8_t           precision; /* decimal only: 1 to 38 */
    uint8_t           scale;     /* decimal only: 0 to precision */
    const NestedType *nested;    /* nested only; NULL in the rows of a query, which do not tell */
} ColumnType;

#define COLUMN_TYPE(type_kind) ((ColumnType){.kind = (type_kind)})
#define DECIMAL_TYPE(digits, fraction_digits) \
    ((ColumnType){.kind = TYPE_DECIMAL, .precision = (digits), .scale = (fraction_digits)})

bool   column_type_equal(ColumnType left, ColumnType right);
size_t column_type_width(ColumnType type);   /* bytes of one value in a column's array */
bool   column_type_is_text(ColumnType type); /* STRING, BINARY, NESTED: values are Str */
/* The Delta name: "string", "long", "decimal(10,2)", "timestamp_ntz". Of nested types,
 * which are never written, the SQL name. */
Str column_type_delta_name(Arena *arena, ColumnType type);
/* blanks inside decimal( 10 , 2 ) accepted */
bool column_type_parse_delta(Str name, ColumnType *out) MUST_CHECK;
/* The SQL name users see and write in `columns`: "STRING", "BIGINT", "DECIMAL(10,2)",
 * "TIMESTAMP_NTZ". Any case on the way in, which takes no nested types. */
Str  column_type_sql_name(Arena *arena, ColumnType type);
bool column_type_parse_sql(Str name, ColumnType *out) MUST_CHECK;
/* Every value of `from` is held by `to` unchanged (algorithms.md 6.5). `from_is_byte`: the
 * source's tinyint, which needs 3 digits. */
bool column_type_fits(ColumnType from, bool from_is_byte, ColumnType to);

/* Decimal text, plain notation with exactly `scale` fraction digits, and back. */
size_t decimal_format(Int128 unscaled, uint8_t scale, char out[48]);
/* too many fraction digits or overflow: false */
bool   decimal_parse(Str text, uint8_t precision, uint8_t scale, Int128 *out) MUST_CHECK;
Int128 int128_from_i64(int64_t value);
bool   int128_to_i64(Int128 value, int64_t *out) MUST_CHECK;
Int128 int128_negate(Int128 value);
int    int128_compare(Int128 left, Int128 right);

#endif
