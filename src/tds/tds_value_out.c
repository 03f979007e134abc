/* tds_value_out.c - values onto the wire. Short ones are stored into the writer's buffer at once, since there are
 * millions of them in a result. */
#include "tds/tds_internal.h"
#include "tds/tds_shape.h"

#include <assert.h>
#include <string.h>

#define SHORT_BYTES 32 /* more than any value that is no text and no binary */

static uint8_t *store_little(uint8_t *at, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        at[i] = (uint8_t)(value >> (8 * i));
    return at + len;
}

static uint8_t *store_integer(uint8_t *at, int32_t len, int64_t value)
{
    switch (len) {
    case 1: *at = (uint8_t)value; return at + 1;
    case 2: return tds_store_u16(at, (uint16_t)value);
    case 4: return tds_store_u32(at, (uint32_t)value);
    default: return tds_store_u64(at, (uint64_t)value);
    }
}

static uint8_t *store_decimal(uint8_t *at, int32_t len, Int128 value)
{
    bool    is_negative = value.upper < 0;
    uint8_t bytes[17];

    if (is_negative) value = int128_negate(value);
    bytes[0] = is_negative ? 0 : 1;
    (void)tds_store_u64(tds_store_u64(bytes + 1, value.lower), (uint64_t)value.upper);
    memcpy(at, bytes, (size_t)len);
    return at + len;
}

static uint8_t *store_time(uint8_t *at, const TdsType *type, const TdsValue *value)
{
    uint64_t clock = (uint64_t)(value->time.ticks / tds_tick_unit(type->scale));

    at = store_little(at, clock, tds_time_bytes(type->scale));
    if (type->token != TDS_TYPE_TIMEN) at = store_little(at, (uint32_t)value->time.days, 3);
    if (type->token == TDS_TYPE_DATETIMEOFFSETN)
        at = tds_store_u16(at, (uint16_t)value->time.offset_minutes);
    return at;
}

static uint8_t *store_float(uint8_t *at, int32_t len, double value)
{
    uint64_t bits;
    float    narrow = (float)value;
    uint32_t narrow_bits;

    if (len == 4) {
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        return tds_store_u32(at, narrow_bits);
    }
    memcpy(&bits, &value, sizeof bits);
    return tds_store_u64(at, bits);
}

static uint8_t *store_money(uint8_t *at, int32_t len, int64_t value)
{
    uint64_t bits = (uint64_t)value;

    if (len == 4) return tds_store_u32(at, (uint32_t)bits);
    return tds_store_u64(at, bits >> 32 | bits << 32); /* the high half comes first */
}

static uint8_t *store_datetime(uint8_t *at, int32_t len, const TdsValue *value)
{
    if (len == 8)
        return tds_store_u32(tds_store_u32(at, (uint32_t)value->time.days),
                             (uint32_t)value->time.ticks);
    return tds_store_u16(tds_store_u16(at, (uint16_t)value->time.days),
                         (uint16_t)value->time.ticks);
}

/* A value of a type whose values are short, without a length; at most SHORT_BYTES - 1. */
static uint8_t *store_short_value(uint8_t *at, const TdsType *type, const TdsValue *value)
{
    switch (type->token) {
    case TDS_TYPE_INTN:
    case TDS_TYPE_BITN: return store_integer(at, type->length, value->i64);
    case TDS_TYPE_FLTN: return store_float(at, type->length, value->f64);
    case TDS_TYPE_MONEYN: return store_money(at, type->length, value->i64);
    case TDS_TYPE_DATETIMEN: return store_datetime(at, type->length, value);
    case TDS_TYPE_DECIMALN:
    case TDS_TYPE_NUMERICN: return store_decimal(at, type->length, value->dec);
    case TDS_TYPE_DATEN: return store_little(at, (uint32_t)value->time.days, 3);
    case TDS_TYPE_GUID: memcpy(at, value->bytes.ptr, 16); return at + 16;
    default: break;
    }
    return store_time(at, type, value);
}

static void put_short(TdsWriter *writer, const TdsType *type, const TdsValue *value)
{
    uint8_t *at  = tds_room(writer, SHORT_BYTES);
    uint8_t *end = at + 1;

    if (type->is_fixed) {
        writer->at = store_short_value(at, type, value);
        return;
    }
    if (!value->is_null) end = store_short_value(end, type, value);
    *at        = (uint8_t)(end - at - 1);
    writer->at = end;
}

static void put_counted(TdsWriter *writer, const TdsValue *value)
{
    size_t   len = value->bytes.len;
    uint8_t *at;

    if (value->is_null) {
        tds_put_u16(writer, TDS_MAX_LENGTH);
        return;
    }
    assert(len <= 8000);
    at = tds_store_u16(tds_room(writer, len + 2), (uint16_t)len);
    if (len) memcpy(at, value->bytes.ptr, len);
    writer->at = at + len;
}

static void put_plp(TdsWriter *writer, const TdsValue *value)
{
    if (value->is_null) {
        tds_put_u64(writer, TDS_PLP_NULL);
        return;
    }
    tds_put_u64(writer, value->bytes.len);
    if (value->bytes.len) {
        tds_put_u32(writer, (uint32_t)value->bytes.len);
        tds_put_bytes(writer, value->bytes.ptr, value->bytes.len);
    }
    tds_put_u32(writer, 0);
}

/* 16 bytes of pointer and 8 of timestamp, which nobody follows. */
static void put_lob(TdsWriter *writer, const TdsValue *value)
{
    static const uint8_t pointer[24] = {"tidesim text ptr"};

    if (value->is_null) {
        tds_put_u8(writer, 0);
        return;
    }
    tds_put_u8(writer, 16);
    tds_put_bytes(writer, pointer, sizeof pointer);
    tds_put_u32(writer, (uint32_t)value->bytes.len);
    tds_put_bytes(writer, value->bytes.ptr, value->bytes.len);
}

/* --- sql_variant --- */

static uint8_t *store_variant_properties(uint8_t *at, const TdsType *type)
{
    switch (tds_shape(type->token)) {
    case SHAPE_SCALE:
        *at++ = 1;
        *at++ = type->scale;
        break;
    case SHAPE_DECIMAL:
        *at++ = 2;
        *at++ = type->precision;
        *at++ = type->scale;
        break;
    case SHAPE_TEXT:
        *at++ = 7;
        memcpy(at, type->collation, sizeof type->collation);
        at = tds_store_u16(at + sizeof type->collation, (uint16_t)type->length);
        break;
    case SHAPE_BINARY:
        *at++ = 2;
        at    = tds_store_u16(at, (uint16_t)type->length);
        break;
    case SHAPE_BYTE_LENGTH:
    case SHAPE_DATE:
    case SHAPE_UNKNOWN:
    case SHAPE_NULL:
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT:
    case SHAPE_XML:
    case SHAPE_VARIANT: *at++ = 0; break;
    }
    return at;
}

static void put_variant(TdsWriter *writer, const TdsValue *value)
{
    const TdsVariant *variant = value->variant;
    uint8_t          *at;
    uint8_t          *end;
    uint8_t           fixed;

    if (value->is_null) {
        tds_put_u32(writer, 0);
        return;
    }
    assert(tds_shape(variant->type.token) < SHAPE_LOB && variant->type.length >= 0);
    at     = tds_room(writer, (size_t)2 * SHORT_BYTES + (size_t)variant->type.length);
    fixed  = tds_fixed_of(variant->type.token, variant->type.length);
    end    = at + 4;
    *end++ = fixed ? fixed : variant->type.token;
    end    = store_variant_properties(end, &variant->type);
    if (tds_shape(variant->type.token) == SHAPE_TEXT ||
        tds_shape(variant->type.token) == SHAPE_BINARY) {
        assert(variant->value.bytes.len <= (size_t)variant->type.length);
        if (variant->value.bytes.len)
            memcpy(end, variant->value.bytes.ptr, variant->value.bytes.len);
        end += variant->value.bytes.len;
    } else {
        end = store_short_value(end, &variant->type, &variant->value);
    }
    (void)tds_store_u32(at, (uint32_t)(end - at - 4));
    writer->at = end;
}

/* --- any --- */

void tds_put_value(TdsWriter *writer, const TdsType *type, const TdsValue *value)
{
    switch (tds_shape(type->token)) {
    case SHAPE_TEXT:
    case SHAPE_BINARY:
        if (type->length < 0)
            put_plp(writer, value);
        else
            put_counted(writer, value);
        return;
    case SHAPE_BYTE_LENGTH:
    case SHAPE_DECIMAL:
    case SHAPE_DATE:
    case SHAPE_SCALE: put_short(writer, type, value); return;
    case SHAPE_XML: put_plp(writer, value); return;
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT: put_lob(writer, value); return;
    case SHAPE_VARIANT: put_variant(writer, value); return;
    case SHAPE_NULL: return;
    case SHAPE_UNKNOWN: break;
    }
    assert(tds_shape(type->token) != SHAPE_UNKNOWN); /* nobody sends such a type */
}

void tds_put_parameter_value(TdsWriter *writer, const TdsType *type, const TdsValue *value)
{
    TdsShape shape = tds_shape(type->token);

    if (shape != SHAPE_LOB && shape != SHAPE_LOB_TEXT) {
        tds_put_value(writer, type, value);
    } else if (value->is_null) {
        tds_put_u32(writer, UINT32_MAX);
    } else {
        tds_put_u32(writer, (uint32_t)value->bytes.len);
        tds_put_bytes(writer, value->bytes.ptr, value->bytes.len);
    }
}
