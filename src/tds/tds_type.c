/* tds_type.c - type descriptions, both ways. */
#include "tds/tds_type.h"

#include "tds/tds_shape.h"

#include <assert.h>
#include <string.h>

#define LENGTH_MOST        8000 /* of a type that is not (max) */
#define PRECISION_MOST     38
#define DECIMAL_BYTES_MOST 17
#define SCALE_MOST         7 /* of a time */

/* clang-format off */
static const TdsFixedForm fixed_forms[] = {
    {TDS_TYPE_INT1,     TDS_TYPE_INTN,      1}, {TDS_TYPE_BIT,      TDS_TYPE_BITN,      1},
    {TDS_TYPE_INT2,     TDS_TYPE_INTN,      2}, {TDS_TYPE_INT4,     TDS_TYPE_INTN,      4},
    {TDS_TYPE_INT8,     TDS_TYPE_INTN,      8}, {TDS_TYPE_FLT4,     TDS_TYPE_FLTN,      4},
    {TDS_TYPE_FLT8,     TDS_TYPE_FLTN,      8}, {TDS_TYPE_MONEY,    TDS_TYPE_MONEYN,    8},
    {TDS_TYPE_MONEY4,   TDS_TYPE_MONEYN,    4}, {TDS_TYPE_DATETIME, TDS_TYPE_DATETIMEN, 8},
    {TDS_TYPE_DATETIM4, TDS_TYPE_DATETIMEN, 4},
};
/* clang-format on */

const TdsFixedForm *tds_fixed_form(uint8_t fixed)
{
    for (size_t i = 0; i < COUNT_OF(fixed_forms); i++)
        if (fixed_forms[i].fixed == fixed) return &fixed_forms[i];
    return NULL;
}

uint8_t tds_fixed_of(uint8_t nullable, int32_t length)
{
    for (size_t i = 0; i < COUNT_OF(fixed_forms); i++)
        if (fixed_forms[i].nullable == nullable && fixed_forms[i].length == length)
            return fixed_forms[i].fixed;
    return 0;
}

TdsShape tds_shape(uint8_t token)
{
    switch (token) {
    case TDS_TYPE_NULL: return SHAPE_NULL;
    case TDS_TYPE_INTN:
    case TDS_TYPE_BITN:
    case TDS_TYPE_FLTN:
    case TDS_TYPE_MONEYN:
    case TDS_TYPE_DATETIMEN:
    case TDS_TYPE_GUID: return SHAPE_BYTE_LENGTH;
    case TDS_TYPE_DECIMALN:
    case TDS_TYPE_NUMERICN: return SHAPE_DECIMAL;
    case TDS_TYPE_DATEN: return SHAPE_DATE;
    case TDS_TYPE_TIMEN:
    case TDS_TYPE_DATETIME2N:
    case TDS_TYPE_DATETIMEOFFSETN: return SHAPE_SCALE;
    case TDS_TYPE_BIGBINARY:
    case TDS_TYPE_BIGVARBINARY: return SHAPE_BINARY;
    case TDS_TYPE_BIGCHAR:
    case TDS_TYPE_BIGVARCHAR:
    case TDS_TYPE_NCHAR:
    case TDS_TYPE_NVARCHAR: return SHAPE_TEXT;
    case TDS_TYPE_IMAGE: return SHAPE_LOB;
    case TDS_TYPE_TEXT:
    case TDS_TYPE_NTEXT: return SHAPE_LOB_TEXT;
    case TDS_TYPE_XML: return SHAPE_XML;
    case TDS_TYPE_VARIANT: return SHAPE_VARIANT;
    default: break;
    }
    return SHAPE_UNKNOWN;
}

size_t tds_time_bytes(uint8_t scale)
{
    return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

int64_t tds_tick_unit(uint8_t scale)
{
    static const int64_t units[] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};

    assert(scale <= SCALE_MOST);
    return units[scale];
}

static bool is_length_of(uint8_t token, int32_t length)
{
    switch (token) {
    case TDS_TYPE_INTN: return length == 1 || length == 2 || length == 4 || length == 8;
    case TDS_TYPE_BITN: return length == 1;
    case TDS_TYPE_GUID: return length == 16;
    default: break;
    }
    return length == 4 || length == 8;
}

/* A type that a collection of schemas describes has three names more. */
static void skip_schema(TdsCursor *cursor)
{
    if (tds_get_u8(cursor) == 0) return;
    (void)tds_get_bytes(cursor, 2 * (size_t)tds_get_u8(cursor));
    (void)tds_get_bytes(cursor, 2 * (size_t)tds_get_u8(cursor));
    (void)tds_get_bytes(cursor, 2 * (size_t)tds_get_u16(cursor));
}

static bool get_two_byte_length(TdsCursor *cursor, TdsType *out)
{
    uint16_t length = tds_get_u16(cursor);

    out->length = length == TDS_MAX_LENGTH ? -1 : length;
    return out->length <= LENGTH_MOST;
}

static bool get_four_byte_length(TdsCursor *cursor, TdsType *out)
{
    uint32_t length = tds_get_u32(cursor);

    out->length = (int32_t)MIN(length, (uint32_t)INT32_MAX);
    return true;
}

/* The longest value is what the precision makes it; the bulk copy of mssql-python repeats the token in the length's place. */
static bool get_decimal_type(TdsCursor *cursor, TdsType *out)
{
    uint8_t length = tds_get_u8(cursor);

    out->length    = MIN(length, DECIMAL_BYTES_MOST);
    out->precision = tds_get_u8(cursor);
    out->scale     = tds_get_u8(cursor);
    return out->precision >= 1 && out->precision <= PRECISION_MOST && out->scale <= out->precision;
}

static void get_collation(TdsCursor *cursor, TdsType *out)
{
    Bytes collation = tds_get_bytes(cursor, sizeof out->collation);

    if (collation.len) memcpy(out->collation, collation.ptr, sizeof out->collation);
}

bool tds_get_type(TdsCursor *cursor, TdsType *out)
{
    uint8_t             token = tds_get_u8(cursor);
    const TdsFixedForm *fixed = tds_fixed_form(token);
    TdsShape            shape = tds_shape(token);
    bool                ok    = true;

    *out = (TdsType){.token = token};
    if (fixed) {
        *out = (TdsType){.token = fixed->nullable, .length = fixed->length, .is_fixed = true};
        return !cursor->failed;
    }
    switch (shape) {
    case SHAPE_UNKNOWN: return false;
    case SHAPE_NULL: break;
    case SHAPE_BYTE_LENGTH:
        out->length = tds_get_u8(cursor);
        ok          = is_length_of(token, out->length);
        break;
    case SHAPE_DECIMAL: ok = get_decimal_type(cursor, out); break;
    case SHAPE_DATE: out->length = 3; break;
    case SHAPE_SCALE:
        out->scale = tds_get_u8(cursor);
        ok         = out->scale <= SCALE_MOST;
        break;
    case SHAPE_BINARY:
    case SHAPE_TEXT: ok = get_two_byte_length(cursor, out); break;
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT:
    case SHAPE_VARIANT: ok = get_four_byte_length(cursor, out); break;
    case SHAPE_XML:
        out->length = -1;
        skip_schema(cursor);
        break;
    }
    if (shape == SHAPE_TEXT || shape == SHAPE_LOB_TEXT) get_collation(cursor, out);
    return ok && !cursor->failed;
}

void tds_put_type(TdsWriter *writer, const TdsType *type)
{
    TdsShape shape = tds_shape(type->token);

    assert(shape != SHAPE_UNKNOWN);
    tds_put_u8(writer, type->is_fixed ? tds_fixed_of(type->token, type->length) : type->token);
    if (type->is_fixed) return;
    switch (shape) {
    case SHAPE_UNKNOWN:
    case SHAPE_NULL:
    case SHAPE_DATE: break;
    case SHAPE_BYTE_LENGTH: tds_put_u8(writer, (uint8_t)type->length); break;
    case SHAPE_DECIMAL:
        tds_put_u8(writer, (uint8_t)type->length);
        tds_put_u8(writer, type->precision);
        tds_put_u8(writer, type->scale);
        break;
    case SHAPE_SCALE: tds_put_u8(writer, type->scale); break;
    case SHAPE_BINARY:
    case SHAPE_TEXT:
        tds_put_u16(writer, type->length < 0 ? TDS_MAX_LENGTH : (uint16_t)type->length);
        break;
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT:
    case SHAPE_VARIANT: tds_put_u32(writer, (uint32_t)type->length); break;
    case SHAPE_XML: tds_put_u8(writer, 0); break;
    }
    if (shape == SHAPE_TEXT || shape == SHAPE_LOB_TEXT)
        tds_put_bytes(writer, type->collation, sizeof type->collation);
}
