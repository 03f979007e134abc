/* column_type.c - names of types, what fits into what, and decimals. */
#include "types/column_type.h"

#include "base/arena.h"
#include "types/nested_type.h"

#include <assert.h>
#include <string.h>

#define DECIMAL_DIGITS_MAX 38

__extension__ typedef unsigned __int128 Uint128;

static const struct {
    TypeKind    kind;
    const char *delta;
    const char *sql;
} type_names[] = {
    {TYPE_BOOLEAN, "boolean", "BOOLEAN"},
    {TYPE_SHORT, "short", "SMALLINT"},
    {TYPE_INTEGER, "integer", "INT"},
    {TYPE_LONG, "long", "BIGINT"},
    {TYPE_FLOAT, "float", "FLOAT"},
    {TYPE_DOUBLE, "double", "DOUBLE"},
    {TYPE_DECIMAL, "decimal", "DECIMAL"},
    {TYPE_DATE, "date", "DATE"},
    {TYPE_TIMESTAMP, "timestamp", "TIMESTAMP"},
    {TYPE_TIMESTAMP_NTZ, "timestamp_ntz", "TIMESTAMP_NTZ"},
    {TYPE_STRING, "string", "STRING"},
    {TYPE_BINARY, "binary", "BINARY"},
};

/* Other spellings that Spark's SQL takes. */
static const struct {
    TypeKind    kind;
    const char *sql;
} type_aliases[] = {
    {TYPE_SHORT, "SHORT"},
    {TYPE_INTEGER, "INTEGER"},
    {TYPE_LONG, "LONG"},
    {TYPE_FLOAT, "REAL"},
    {TYPE_DECIMAL, "DEC"},
    {TYPE_DECIMAL, "NUMERIC"},
    {TYPE_TIMESTAMP, "TIMESTAMP_LTZ"},
};

bool column_type_equal(ColumnType left, ColumnType right)
{
    if (left.kind != right.kind) return false;
    if (left.kind == TYPE_NESTED) return nested_type_equal(left.nested, right.nested);
    if (left.kind != TYPE_DECIMAL) return true;
    return left.precision == right.precision && left.scale == right.scale;
}

static size_t decimal_width(uint8_t precision)
{
    if (precision <= 4) return sizeof(int16_t);
    if (precision <= 9) return sizeof(int32_t);
    if (precision <= 18) return sizeof(int64_t);
    return sizeof(Int128);
}

size_t column_type_width(ColumnType type)
{
    switch (type.kind) {
    case TYPE_BOOLEAN: return sizeof(uint8_t);
    case TYPE_SHORT: return sizeof(int16_t);
    case TYPE_INTEGER: return sizeof(int32_t);
    case TYPE_LONG: return sizeof(int64_t);
    case TYPE_FLOAT: return sizeof(float);
    case TYPE_DOUBLE: return sizeof(double);
    case TYPE_DECIMAL: return decimal_width(type.precision);
    case TYPE_DATE: return sizeof(int32_t);
    case TYPE_TIMESTAMP: return sizeof(int64_t);
    case TYPE_TIMESTAMP_NTZ: return sizeof(int64_t);
    case TYPE_STRING: return sizeof(Str);
    case TYPE_BINARY: return sizeof(Str);
    case TYPE_NESTED: return sizeof(Str);
    }
    assert(false);
    return 0;
}

bool column_type_is_text(ColumnType type)
{
    return type.kind >= TYPE_STRING;
}

/* ---- names ---- */

static Str name_with_digits(Arena *arena, const char *name, ColumnType type)
{
    if (type.kind != TYPE_DECIMAL) return str_from_c(name);
    return str_printf(arena, "%s(%d,%d)", name, type.precision, type.scale);
}

Str column_type_delta_name(Arena *arena, ColumnType type)
{
    if (type.kind == TYPE_NESTED) return nested_type_sql_name(arena, type.nested);
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (type_names[i].kind == type.kind)
            return name_with_digits(arena, type_names[i].delta, type);
    assert(false);
    return STR_EMPTY;
}

Str column_type_sql_name(Arena *arena, ColumnType type)
{
    if (type.kind == TYPE_NESTED) return nested_type_sql_name(arena, type.nested);
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (type_names[i].kind == type.kind)
            return name_with_digits(arena, type_names[i].sql, type);
    assert(false);
    return STR_EMPTY;
}

/* "(10,2)", "(10)" or nothing, which is (10,0) as in Spark. */
static bool parse_digits(Str text, ColumnType *out)
{
    uint64_t precision = 10;
    uint64_t scale     = 0;

    if (text.len > 0) {
        if (!str_starts_with(text, STR("(")) || !str_ends_with(text, STR(")"))) return false;
        Str inside = str_slice(text, 1, text.len - 1);
        Str digits;
        if (!str_split_next(&inside, ',', &digits) || !str_parse_u64(str_trim(digits), &precision))
            return false;
        if (inside.ptr != NULL && !str_parse_u64(str_trim(inside), &scale)) return false;
    }
    if (precision < 1 || precision > DECIMAL_DIGITS_MAX || scale > precision) return false;
    *out = DECIMAL_TYPE((uint8_t)precision, (uint8_t)scale);
    return true;
}

static void split_name(Str name, Str *word_out, Str *digits_out)
{
    Str       trimmed = str_trim(name);
    ptrdiff_t paren   = str_find_char(trimmed, '(', 0);
    size_t    end     = paren < 0 ? trimmed.len : (size_t)paren;

    *word_out   = str_trim(str_slice(trimmed, 0, end));
    *digits_out = str_slice(trimmed, end, trimmed.len);
}

static bool type_from_kind(TypeKind kind, Str digits, ColumnType *out)
{
    if (kind == TYPE_DECIMAL) return parse_digits(digits, out);
    if (digits.len > 0) return false;
    *out = COLUMN_TYPE(kind);
    return true;
}

bool column_type_parse_delta(Str name, ColumnType *out)
{
    Str word;
    Str digits;

    split_name(name, &word, &digits);
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (str_equal_c(word, type_names[i].delta))
            return type_from_kind(type_names[i].kind, digits, out);
    return false;
}

bool column_type_parse_sql(Str name, ColumnType *out)
{
    Str word;
    Str digits;

    split_name(name, &word, &digits);
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (str_equal_ignoring_case(word, str_from_c(type_names[i].sql)))
            return type_from_kind(type_names[i].kind, digits, out);
    for (size_t i = 0; i < COUNT_OF(type_aliases); i++)
        if (str_equal_ignoring_case(word, str_from_c(type_aliases[i].sql)))
            return type_from_kind(type_aliases[i].kind, digits, out);
    return false;
}

/* ---- what fits ---- */

/* Whole digits that hold every value of an integer type; 0 if it is none. */
static int integer_digits(ColumnType type, bool is_byte)
{
    switch (type.kind) {
    case TYPE_SHORT: return is_byte ? 3 : 5;
    case TYPE_INTEGER: return 10;
    case TYPE_LONG: return 20;
    case TYPE_BOOLEAN:
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_NESTED: return 0;
    }
    return 0;
}

static bool integer_fits(ColumnType from, int digits, ColumnType to)
{
    if (integer_digits(to, false) > 0) return column_type_width(to) > column_type_width(from);
    if (to.kind == TYPE_DOUBLE) return from.kind != TYPE_LONG;
    return to.kind == TYPE_DECIMAL && to.precision - to.scale >= digits;
}

bool column_type_fits(ColumnType from, bool from_is_byte, ColumnType to)
{
    int digits = integer_digits(from, from_is_byte);

    if (column_type_equal(from, to)) return true;
    if (digits > 0) return integer_fits(from, digits, to);
    if (from.kind == TYPE_FLOAT) return to.kind == TYPE_DOUBLE;
    if (from.kind == TYPE_DATE) return to.kind == TYPE_TIMESTAMP_NTZ;
    return from.kind == TYPE_DECIMAL && to.kind == TYPE_DECIMAL && to.scale >= from.scale &&
           to.precision - to.scale >= from.precision - from.scale;
}

/* ---- decimals ---- */

static Uint128 to_uint128(Int128 value)
{
    return (Uint128)(uint64_t)value.upper << 64 | value.lower;
}

static Int128 from_uint128(Uint128 value)
{
    return (Int128){.lower = (uint64_t)value, .upper = (int64_t)(uint64_t)(value >> 64)};
}

Int128 int128_from_i64(int64_t value)
{
    return (Int128){.lower = (uint64_t)value, .upper = value < 0 ? -1 : 0};
}

bool int128_to_i64(Int128 value, int64_t *out)
{
    int64_t low = (int64_t)value.lower;

    if (value.upper != (low < 0 ? -1 : 0)) return false;
    *out = low;
    return true;
}

Int128 int128_negate(Int128 value)
{
    return from_uint128(0 - to_uint128(value));
}

int int128_compare(Int128 left, Int128 right)
{
    if (left.upper != right.upper) return left.upper < right.upper ? -1 : 1;
    return (left.lower > right.lower) - (left.lower < right.lower);
}

/* Digits of `value` before `end`, at least `count_min` of them; returns where they begin. 18 at
 * a time, since dividing 128 bits is slow. */
static char *write_digits_before(char *end, Uint128 value, size_t count_min)
{
    const uint64_t group = 1000000000000000000u;
    char          *at    = end;

    while (value > UINT64_MAX) {
        uint64_t low = (uint64_t)(value % group);
        value /= group;
        for (int i = 0; i < 18; i++, low /= 10)
            *--at = (char)('0' + low % 10);
    }
    for (uint64_t rest = (uint64_t)value; rest != 0; rest /= 10)
        *--at = (char)('0' + rest % 10);
    while ((size_t)(end - at) < count_min)
        *--at = '0';
    return at;
}

size_t decimal_format(Int128 unscaled, uint8_t scale, char out[48])
{
    bool    negative  = unscaled.upper < 0;
    Uint128 magnitude = negative ? 0 - to_uint128(unscaled) : to_uint128(unscaled);
    char    digits[48];
    char   *end   = digits + sizeof digits;
    char   *first = write_digits_before(end, magnitude, (size_t)scale + 1);
    size_t  whole = (size_t)(end - first) - scale;
    size_t  len   = 0;

    assert(scale <= DECIMAL_DIGITS_MAX);
    if (negative) out[len++] = '-';
    memcpy(out + len, first, whole);
    len += whole;
    if (scale > 0) {
        out[len++] = '.';
        memcpy(out + len, first + whole, scale);
        len += scale;
    }
    out[len] = '\0';
    return len;
}

static Uint128 power_of_ten(uint8_t exponent)
{
    Uint128 power = 1;

    for (uint8_t i = 0; i < exponent; i++)
        power *= 10;
    return power;
}

/* Appends a digit; false when the number would reach `limit`, at most 10^38. */
static bool push_digit(Uint128 *value, Uint128 limit, uint32_t digit)
{
    if (*value > (limit - 1) / 10) return false;
    *value = *value * 10 + digit;
    return *value < limit;
}

/* -?digits?(.digits?)? with at least one digit: SQL Server writes .50 for a half. */
bool decimal_parse(Str text, uint8_t precision, uint8_t scale, Int128 *out)
{
    bool    negative       = text.len > 0 && text.ptr[0] == '-';
    bool    in_fraction    = false;
    size_t  digit_count    = 0;
    uint8_t fraction_count = 0;
    Uint128 value          = 0;
    Uint128 limit          = power_of_ten(precision);

    assert(precision >= 1);
    assert(precision <= DECIMAL_DIGITS_MAX);
    assert(scale <= precision);
    for (size_t i = negative ? 1 : 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !in_fraction) {
            in_fraction = true;
            continue;
        }
        if (c < '0' || c > '9') return false;
        if (in_fraction && fraction_count++ == scale) return false;
        if (!push_digit(&value, limit, (uint32_t)(c - '0'))) return false;
        digit_count++;
    }
    if (digit_count == 0) return false;
    for (; fraction_count < scale; fraction_count++)
        if (!push_digit(&value, limit, 0)) return false;

    *out = from_uint128(negative ? 0 - value : value);
    return true;
}
