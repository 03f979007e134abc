/* odbc_decode.c - bound cells of the driver become vectors. What has the vector's form already is
 * pointed to, everything else is converted once. Rows never become objects: each function runs down
 * one column. */
#include "sqlconn/odbc_internal.h"

#include <string.h>

__extension__ typedef unsigned __int128 U128;

#define US_PER_DAY ((int64_t)86400 * 1000000)

/* NULL when no value is NULL. */
static const uint64_t *decode_validity(const OdbcColumn *column, size_t row_count, Arena *arena)
{
    const SQLLEN *lengths    = column->lengths;
    size_t        null_count = 0;

    for (size_t i = 0; i < row_count; i++)
        null_count += lengths[i] == SQL_NULL_DATA;
    if (null_count == 0) return NULL;

    uint64_t *bits = ARENA_ARRAY(arena, uint64_t, row_count / 64 + 1);
    for (size_t i = 0; i < row_count; i++)
        bits[i / 64] |= (uint64_t)(lengths[i] != SQL_NULL_DATA) << (i % 64);
    return bits;
}

/* A value longer than its column was declared would be cut by the driver. */
static bool check_lengths(const OdbcColumn *column, size_t row_count, size_t limit, Err *err)
{
    bool is_bad = false;

    for (size_t i = 0; i < row_count; i++)
        is_bad |= (column->lengths[i] < 0 && column->lengths[i] != SQL_NULL_DATA) ||
                  column->lengths[i] > (SQLLEN)limit;
    return !is_bad ||
           err_set(err, ERR_QUERY, "a value is longer than the driver declared (%zu bytes)", limit);
}

/* --- dates and times --- */

/* Neighbouring rows often share their day, whose number is the dear part. */
typedef struct DayCache {
    int32_t year, month, day;
    int64_t days;
} DayCache;

static int64_t day_number(DayCache *cache, int32_t year, int32_t month, int32_t day)
{
    if (year != cache->year || month != cache->month || day != cache->day)
        *cache = (DayCache){year, month, day, civil_days_from_date(year, month, day)};
    return cache->days;
}

static const void *decode_dates(const OdbcColumn *column, size_t row_count, Arena *arena)
{
    const SQL_DATE_STRUCT *cells = (const void *)column->cells;
    int32_t               *out   = arena_alloc_uninit(arena, (row_count + 1) * sizeof(*out));
    DayCache               cache = {1970, 1, 1, 0};

    for (size_t i = 0; i < row_count; i++)
        out[i] = column->lengths[i] == SQL_NULL_DATA
                     ? 0
                     : (int32_t)day_number(&cache, cells[i].year, cells[i].month, cells[i].day);
    return out;
}

static const void *decode_timestamps(const OdbcColumn *column, size_t row_count, Arena *arena)
{
    const SQL_TIMESTAMP_STRUCT *cells = (const void *)column->cells;
    int64_t                    *out   = arena_alloc_uninit(arena, (row_count + 1) * sizeof(*out));
    DayCache                    cache = {1970, 1, 1, 0};
    bool                        is_rounded = column->decode == DECODE_DATETIME;

    for (size_t i = 0; i < row_count; i++) {
        const SQL_TIMESTAMP_STRUCT *cell = &cells[i];
        if (column->lengths[i] == SQL_NULL_DATA) {
            out[i] = 0;
            continue;
        }
        int64_t seconds  = ((int64_t)cell->hour * 60 + cell->minute) * 60 + cell->second;
        int64_t fraction = is_rounded ? (cell->fraction + 500000) / 1000000 * 1000
                                      : cell->fraction / 1000;
        out[i]           = day_number(&cache, cell->year, cell->month, cell->day) * US_PER_DAY +
                 seconds * 1000000 + fraction;
    }
    return out;
}

/* "13:50:01", and at most nine digits of a second. */
static bool is_time_of_day(Str text)
{
    const Str form = STR("00:00:00.000000000");

    if (text.len < 8 || text.len > form.len) return false;
    for (size_t i = 0; i < text.len; i++) {
        bool is_digit = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        if (form.ptr[i] == '0' ? !is_digit : text.ptr[i] != form.ptr[i]) return false;
    }
    return true;
}

/* "13:50:01.1234567" with nine digits. */
static bool decode_time(const OdbcColumn *column, size_t row_count, Arena *arena, ColumnVector *out,
                        Err *err)
{
    const Str *text = utf16_cells_to_str(arena, column->cells, column->cell_bytes, column->lengths,
                                         row_count);
    Str       *strs = arena_alloc_uninit(arena, (row_count + 1) * sizeof(Str));

    for (size_t i = 0; i < row_count; i++) {
        ptrdiff_t space = text[i].ptr ? str_find_last_char(text[i], ' ') : -1;
        Str       cell  = space < 0 ? text[i] : str_slice(text[i], (size_t)space + 1, text[i].len);
        if (!text[i].ptr) {
            strs[i] = (Str){NULL, 0};
            continue;
        }
        if (!is_time_of_day(cell))
            return err_set(err, ERR_QUERY, "the driver gave a time of day in an unknown form");
        strs[i] = str_printf(arena, "%.*s.%.*s%.*s", STR_ARG(str_slice(cell, 0, 8)),
                             STR_ARG(str_slice(cell, 9, cell.len)), (int)MIN(9, 18 - cell.len),
                             "000000000");
    }
    out->data = strs;
    return true;
}

static bool decode_offsets(const OdbcColumn *column, size_t row_count, Arena *arena,
                           ColumnVector *out, Err *err)
{
    const Str *text = utf16_cells_to_str(arena, column->cells, column->cell_bytes, column->lengths,
                                         row_count);
    int64_t   *values = arena_alloc_uninit(arena, (row_count + 1) * sizeof(*values));

    for (size_t i = 0; i < row_count; i++) {
        char   buf[64];
        size_t len = 0;

        values[i] = 0;
        if (!text[i].ptr) continue;
        /* "2026-01-01 10:00:00.1234567 +02:00"; FreeTDS writes the year 7 as "7". */
        ptrdiff_t zone = str_find_last_char(text[i], ' ');
        for (ptrdiff_t k = str_find_char(text[i], '-', 0); k > 0 && k < 4; k++)
            buf[len++] = '0';
        for (size_t k = 0; k < text[i].len && len < sizeof(buf); k++)
            if ((ptrdiff_t)k != zone || zone < 16) buf[len++] = text[i].ptr[k];
        if (!time_parse((Str){buf, len}, &values[i]))
            return err_set(err, ERR_QUERY, "the driver gave a datetimeoffset in an unknown form");
    }
    out->data = values;
    return true;
}

/* --- decimals --- */

#define DIGITS_MAX 38 /* what 128 bits hold */

/* At most DIGITS_MAX. */
static U128 power_of_ten(unsigned exponent)
{
    U128 value = 1;

    while (exponent-- > 0)
        value *= 10;
    return value;
}

static U128 magnitude_of(const SQL_NUMERIC_STRUCT *cell)
{
    uint64_t lower, upper;

    memcpy(&lower, cell->val, 8);
    memcpy(&upper, cell->val + 8, 8);
    return (U128)upper << 64 | lower;
}

/* Stores a value in two's complement, in the width of its type (column_type.h). */
static void store_integer(uint8_t *out, size_t width, size_t row, U128 value)
{
    switch (width) {
    case 2: ((int16_t *)(void *)out)[row] = (int16_t)value; break;
    case 4: ((int32_t *)(void *)out)[row] = (int32_t)value; break;
    case 8: ((int64_t *)(void *)out)[row] = (int64_t)value; break;
    default:
        ((Int128 *)(void *)out)[row] = (Int128){(uint64_t)value, (int64_t)(value >> 64)};
        break;
    }
}

/* `magnitude` has `scale` fraction digits; false when it cannot have `wanted` of them. */
static bool rescale(U128 *magnitude, int scale, int wanted)
{
    if (scale - wanted > DIGITS_MAX || wanted - scale > DIGITS_MAX) return *magnitude == 0;
    if (scale < wanted) {
        U128 factor = power_of_ten((unsigned)(wanted - scale));
        if (*magnitude > ~(U128)0 / 2 / factor) return false;
        *magnitude *= factor;
    } else if (scale > wanted) {
        U128 factor = power_of_ten((unsigned)(scale - wanted));
        if (*magnitude % factor != 0) return false;
        *magnitude /= factor;
    }
    return true;
}

static bool unknown_form(Err *err)
{
    return err_set(err, ERR_QUERY, "the driver gave a decimal in a form that is not known");
}

static bool decode_numerics(const OdbcColumn *column, size_t row_count, Arena *arena,
                            ColumnVector *out, Err *err)
{
    const uint8_t *cells = column->cells;
    size_t         width = column_type_width(column->type);
    uint8_t       *data  = arena_alloc_uninit(arena, (row_count + 1) * width);
    int            scale = column->type.scale;
    U128           limit = power_of_ten(column->type.precision);

    for (size_t i = 0; i < row_count; i++) {
        SQL_NUMERIC_STRUCT cell;
        U128               magnitude;

        if (column->lengths[i] == SQL_NULL_DATA) {
            store_integer(data, width, i, 0);
            continue;
        }
        if (column->lengths[i] != sizeof(cell)) return unknown_form(err);
        memcpy(&cell, cells + i * sizeof(cell), sizeof(cell));
        magnitude = magnitude_of(&cell);
        if (cell.scale != scale && !rescale(&magnitude, cell.scale, scale))
            return unknown_form(err);
        if (magnitude >= limit) return unknown_form(err); /* it would be cut */
        store_integer(data, width, i, cell.sign ? magnitude : (U128)0 - magnitude);
    }
    out->data = data;
    return true;
}

static bool decode_money(const OdbcColumn *column, size_t row_count, Arena *arena,
                         ColumnVector *out, Err *err)
{
    size_t   width = column_type_width(column->type);
    uint8_t *data  = arena_alloc_uninit(arena, (row_count + 1) * width);

    for (size_t i = 0; i < row_count; i++) {
        int32_t halves[2] = {0};
        SQLLEN  length    = column->lengths[i];
        U128    magnitude;

        if (length != SQL_NULL_DATA && length != 8 && length != 4) return unknown_form(err);
        if (length > 0) memcpy(halves, column->cells + i * column->cell_bytes, (size_t)length);
        int64_t value = length == 8
                            ? (int64_t)((uint64_t)(uint32_t)halves[0] << 32 | (uint32_t)halves[1])
                            : halves[0];
        magnitude     = value < 0 ? (U128)(0 - (uint64_t)value) : (U128)(uint64_t)value;
        if (!rescale(&magnitude, 4, column->type.scale)) return unknown_form(err);
        store_integer(data, width, i, value < 0 ? (U128)0 - magnitude : magnitude);
    }
    out->data = data;
    return true;
}

static bool decode_decimal_texts(const OdbcColumn *column, size_t row_count, Arena *arena,
                                 ColumnVector *out, Err *err)
{
    size_t   width = column_type_width(column->type);
    uint8_t *data  = arena_alloc_uninit(arena, (row_count + 1) * width);

    for (size_t i = 0; i < row_count; i++) {
        Int128 value  = {0};
        SQLLEN length = column->lengths[i];
        Str text = {(const char *)column->cells + i * column->cell_bytes, (size_t)MAX(length, 0)};

        if (length != SQL_NULL_DATA &&
            (length >= (SQLLEN)column->cell_bytes ||
             !decimal_parse(text, column->type.precision, column->type.scale, &value)))
            return unknown_form(err);
        store_integer(data, width, i, (U128)(uint64_t)value.upper << 64 | value.lower);
    }
    out->data = data;
    return true;
}

/* The largest magnitude that the type holds; what an integer must not pass. */
static U128 integer_limit(ColumnType type)
{
    switch (type.kind) {
    case TYPE_SHORT: return INT16_MAX;
    case TYPE_INTEGER: return INT32_MAX;
    case TYPE_DECIMAL: return power_of_ten((unsigned)(type.precision - type.scale)) - 1;
    default: return INT64_MAX;
    }
}

/* Integers that the server holds in another type than the one wanted, value by value: CDC keeps
 * identity columns of other types as int or bigint (1.9). */
static bool decode_integers(const OdbcColumn *column, size_t row_count, Arena *arena,
                            ColumnVector *out, Err *err)
{
    const int64_t *cells      = (const void *)column->cells;
    bool           is_decimal = column->type.kind == TYPE_DECIMAL;
    size_t         width      = column_type_width(column->type);
    uint8_t       *data       = arena_alloc_uninit(arena, (row_count + 1) * width);
    U128           factor     = is_decimal ? power_of_ten(column->type.scale) : 1;
    U128           limit      = integer_limit(column->type);

    for (size_t i = 0; i < row_count; i++) {
        bool     is_null     = column->lengths[i] == SQL_NULL_DATA;
        int64_t  cell        = is_null ? 0 : cells[i];
        bool     is_negative = cell < 0;
        uint64_t magnitude   = is_negative ? 0 - (uint64_t)cell : (uint64_t)cell;

        if (magnitude > limit + (is_negative && !is_decimal))
            return err_set(err, ERR_SCHEMA_CHANGED, "a value does not fit the type it is read as");
        U128 value = magnitude * factor;
        store_integer(data, width, i, is_negative ? (U128)0 - value : value);
    }
    out->data = data;
    return true;
}

/* --- text and bytes --- */

static char *put_hex(char *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < count; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

/* 00112233-4455-6677-8899-AABBCCDDEEFF; the first three groups are little-endian numbers. */
static void format_guid(const SQLGUID *guid, char *out)
{
    uint32_t      d1      = (uint32_t)guid->Data1;
    const uint8_t head[8] = {(uint8_t)(d1 >> 24),         (uint8_t)(d1 >> 16),
                             (uint8_t)(d1 >> 8),          (uint8_t)d1,
                             (uint8_t)(guid->Data2 >> 8), (uint8_t)guid->Data2,
                             (uint8_t)(guid->Data3 >> 8), (uint8_t)guid->Data3};

    out    = put_hex(out, head, 4);
    *out++ = '-';
    out    = put_hex(out, head + 4, 2);
    *out++ = '-';
    out    = put_hex(out, head + 6, 2);
    *out++ = '-';
    out    = put_hex(out, guid->Data4, 2);
    *out++ = '-';
    put_hex(out, guid->Data4 + 2, 6);
}

static const void *decode_guids(const OdbcColumn *column, size_t row_count, Arena *arena)
{
    const SQLGUID *cells = (const void *)column->cells;
    Str           *strs  = arena_alloc_uninit(arena, (row_count + 1) * sizeof(Str));
    char          *text  = arena_alloc_uninit(arena, row_count * 36 + 1);

    for (size_t i = 0; i < row_count; i++) {
        if (column->lengths[i] == SQL_NULL_DATA) {
            strs[i] = (Str){NULL, 0};
            continue;
        }
        format_guid(&cells[i], text);
        strs[i] = (Str){text, 36};
        text += 36;
    }
    return strs;
}

/* Bytes stay where the driver put them. */
static const void *decode_binary(const OdbcColumn *column, size_t row_count, Arena *arena)
{
    Str *strs = arena_alloc_uninit(arena, (row_count + 1) * sizeof(Str));

    for (size_t i = 0; i < row_count; i++) {
        bool is_null = column->lengths[i] == SQL_NULL_DATA;
        strs[i]      = is_null ? (Str){NULL, 0}
                               : (Str){(const char *)column->cells + i * column->cell_bytes,
                                       (size_t)column->lengths[i]};
    }
    return strs;
}

bool odbc_decode(const OdbcColumn *column, size_t row_count, Arena *arena, ColumnVector *out,
                 Err *err)
{
    out->type     = column->type;
    out->validity = decode_validity(column, row_count, arena);
    switch (column->decode) {
    case DECODE_DIRECT: out->data = column->cells; return true;
    case DECODE_NUMERIC: return decode_numerics(column, row_count, arena, out, err);
    case DECODE_MONEY: return decode_money(column, row_count, arena, out, err);
    case DECODE_DECIMAL_TEXT: return decode_decimal_texts(column, row_count, arena, out, err);
    case DECODE_I64: return decode_integers(column, row_count, arena, out, err);
    case DECODE_DATE: out->data = decode_dates(column, row_count, arena); return true;
    case DECODE_TIMESTAMP:
    case DECODE_DATETIME: out->data = decode_timestamps(column, row_count, arena); return true;
    case DECODE_GUID: out->data = decode_guids(column, row_count, arena); return true;
    case DECODE_TIME:
        return check_lengths(column, row_count, column->cell_bytes - sizeof(SQLWCHAR), err) &&
               decode_time(column, row_count, arena, out, err);
    case DECODE_DATETIMEOFFSET:
        return check_lengths(column, row_count, column->cell_bytes - sizeof(SQLWCHAR), err) &&
               decode_offsets(column, row_count, arena, out, err);
    case DECODE_TEXT:
        if (!check_lengths(column, row_count, column->cell_bytes - sizeof(SQLWCHAR), err))
            return false;
        out->data = utf16_cells_to_str(arena, column->cells, column->cell_bytes, column->lengths,
                                       row_count);
        return true;
    case DECODE_BINARY:
        if (!check_lengths(column, row_count, column->cell_bytes, err)) return false;
        out->data = decode_binary(column, row_count, arena);
        return true;
    }
    return false;
}
