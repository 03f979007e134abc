/* tds_value_in.c - values off the wire. */
#include "tds/tds_shape.h"

#include <string.h>

static uint64_t get_little(TdsCursor *cursor, size_t len)
{
    Bytes    bytes = tds_get_bytes(cursor, len);
    uint64_t value = 0;

    for (size_t i = 0; i < bytes.len && i < 8; i++)
        value |= (uint64_t)bytes.ptr[i] << (8 * i);
    return value;
}

static bool get_integer(TdsCursor *cursor, size_t len, int64_t *out)
{
    uint64_t bits = get_little(cursor, len);

    switch (len) {
    case 1: *out = (int64_t)bits; return true; /* tinyint has no sign */
    case 2: *out = (int16_t)bits; return true;
    case 4: *out = (int32_t)bits; return true;
    case 8: *out = (int64_t)bits; return true;
    default: return false;
    }
}

static bool get_decimal(TdsCursor *cursor, size_t len, Int128 *out)
{
    uint8_t sign = tds_get_u8(cursor);

    if (len < 2 || len > 17)
        return false; /* 5, 9, 13 or 17; FreeTDS sends no byte more than needed */
    out->lower = get_little(cursor, MIN(len - 1, (size_t)8));
    out->upper = len > 9 ? (int64_t)get_little(cursor, len - 9) : 0;
    if (out->upper < 0) return false; /* far past 38 digits */
    if (sign == 0) *out = int128_negate(*out);
    return true;
}

static bool get_float(TdsCursor *cursor, size_t len, double *out)
{
    uint64_t bits = get_little(cursor, len);

    if (len == 4) {
        uint32_t narrow = (uint32_t)bits;
        float    value;
        memcpy(&value, &narrow, sizeof value);
        *out = (double)value;
    } else {
        memcpy(out, &bits, sizeof *out);
    }
    return len == 4 || len == 8;
}

static bool get_money(TdsCursor *cursor, size_t len, int64_t *out)
{
    uint64_t high;

    if (len == 4) {
        *out = (int32_t)tds_get_u32(cursor);
        return true;
    }
    high = tds_get_u32(cursor); /* eight bytes: the high half comes first */
    *out = (int64_t)(high << 32 | tds_get_u32(cursor));
    return len == 8;
}

static bool get_datetime(TdsCursor *cursor, size_t len, TdsValue *out)
{
    if (len == 8) {
        out->time.days  = (int32_t)tds_get_u32(cursor);
        out->time.ticks = (int64_t)tds_get_u32(cursor);
        return true;
    }
    out->time.days  = tds_get_u16(cursor);
    out->time.ticks = tds_get_u16(cursor);
    return len == 4;
}

static bool get_time(TdsCursor *cursor, const TdsType *type, size_t len, TdsValue *out)
{
    size_t clock_len  = tds_time_bytes(type->scale);
    bool   has_date   = type->token != TDS_TYPE_TIMEN;
    bool   has_offset = type->token == TDS_TYPE_DATETIMEOFFSETN;

    if (len != clock_len + (has_date ? 3 : 0) + (has_offset ? 2 : 0)) return false;
    out->time.ticks = (int64_t)get_little(cursor, clock_len) * tds_tick_unit(type->scale);
    if (has_date) out->time.days = (int32_t)get_little(cursor, 3);
    if (has_offset) out->time.offset_minutes = (int16_t)tds_get_u16(cursor);
    return true;
}

/* A value of `len` bytes, of a type whose values are short. */
static bool get_short_value(TdsCursor *cursor, const TdsType *type, size_t len, TdsValue *out)
{
    switch (type->token) {
    case TDS_TYPE_INTN: return get_integer(cursor, len, &out->i64);
    case TDS_TYPE_BITN: out->i64 = get_little(cursor, len) != 0; return len == 1;
    case TDS_TYPE_FLTN: return get_float(cursor, len, &out->f64);
    case TDS_TYPE_MONEYN: return get_money(cursor, len, &out->i64);
    case TDS_TYPE_DATETIMEN: return get_datetime(cursor, len, out);
    case TDS_TYPE_DECIMALN:
    case TDS_TYPE_NUMERICN: return get_decimal(cursor, len, &out->dec);
    case TDS_TYPE_DATEN: out->time.days = (int32_t)get_little(cursor, len); return len == 3;
    case TDS_TYPE_GUID: out->bytes = tds_get_bytes(cursor, len); return len == 16;
    default: break;
    }
    return get_time(cursor, type, len, out);
}

static bool is_unicode(uint8_t token)
{
    return token == TDS_TYPE_NCHAR || token == TDS_TYPE_NVARCHAR || token == TDS_TYPE_NTEXT ||
           token == TDS_TYPE_XML;
}

/* Bytes that belong to the type: whole characters. */
static bool set_bytes(const TdsType *type, Bytes bytes, TdsValue *out)
{
    out->bytes = bytes;
    return !is_unicode(type->token) || bytes.len % 2 == 0;
}

/* (max) types come in chunks; one that comes in a single chunk is not copied. */
static bool get_plp(TdsCursor *cursor, const TdsType *type, Arena *arena, TdsValue *out)
{
    uint64_t total = tds_get_u64(cursor);
    Bytes    first = {NULL, 0};
    Buf      joined;
    uint32_t len;

    out->is_null = total == TDS_PLP_NULL;
    if (out->is_null) return !cursor->failed;
    joined = buf_new(arena, TDS_MAX_MESSAGE_BYTES);
    for (size_t count = 0; (len = tds_get_u32(cursor)) != 0; count++) {
        Bytes chunk = tds_get_bytes(cursor, len);
        if (cursor->failed) return false;
        if (count == 0) {
            first = chunk;
            continue;
        }
        if (count == 1) buf_append_bytes(&joined, first.ptr, first.len);
        buf_append_bytes(&joined, chunk.ptr, chunk.len);
    }
    if (joined.overflow) return false;
    if (joined.len) first = str_bytes(buf_str(&joined));
    if (total != TDS_PLP_UNKNOWN && total != first.len) return false;
    return !cursor->failed && set_bytes(type, first, out);
}

static bool get_counted(TdsCursor *cursor, const TdsType *type, TdsValue *out)
{
    size_t len = tds_get_u16(cursor);

    out->is_null = len == TDS_MAX_LENGTH;
    if (out->is_null) return !cursor->failed;
    if (len > (size_t)type->length) return false;
    return set_bytes(type, tds_get_bytes(cursor, len), out) && !cursor->failed;
}

static bool get_lob(TdsCursor *cursor, const TdsType *type, TdsValue *out)
{
    uint32_t len = tds_get_u32(cursor);

    out->is_null = len == UINT32_MAX;
    if (out->is_null) return !cursor->failed;
    return set_bytes(type, tds_get_bytes(cursor, len), out) && !cursor->failed;
}

/* --- sql_variant --- */

static bool get_variant_type(TdsCursor *cursor, TdsType *out)
{
    uint8_t             token = tds_get_u8(cursor);
    TdsCursor           properties;
    const TdsFixedForm *fixed = tds_fixed_form(token);
    Bytes               collation;

    properties = tds_cursor(tds_get_bytes(cursor, tds_get_u8(cursor)));
    *out       = (TdsType){.token = token};
    if (fixed) {
        *out = (TdsType){.token = fixed->nullable, .length = fixed->length, .is_fixed = true};
        return true;
    }
    switch (tds_shape(token)) {
    case SHAPE_DATE: return true;
    case SHAPE_BYTE_LENGTH: return token == TDS_TYPE_GUID;
    case SHAPE_SCALE: out->scale = tds_get_u8(&properties); break;
    case SHAPE_DECIMAL:
        out->precision = tds_get_u8(&properties);
        out->scale     = tds_get_u8(&properties);
        break;
    case SHAPE_TEXT:
        collation = tds_get_bytes(&properties, sizeof out->collation);
        if (collation.len) memcpy(out->collation, collation.ptr, sizeof out->collation);
        out->length = tds_get_u16(&properties);
        break;
    case SHAPE_BINARY: out->length = tds_get_u16(&properties); break;
    case SHAPE_UNKNOWN:
    case SHAPE_NULL:
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT:
    case SHAPE_XML:
    case SHAPE_VARIANT: return false;
    }
    return !properties.failed && (tds_shape(token) != SHAPE_SCALE || out->scale <= 7);
}

static bool get_variant(TdsCursor *cursor, Arena *arena, TdsValue *out)
{
    uint32_t    len  = tds_get_u32(cursor);
    TdsCursor   body = tds_cursor(tds_get_bytes(cursor, len));
    TdsVariant *variant;
    TdsShape    shape;

    out->is_null = len == 0;
    if (cursor->failed || out->is_null) return !cursor->failed;
    variant = ARENA_NEW(arena, TdsVariant);
    if (!get_variant_type(&body, &variant->type) || body.failed) return false;
    out->variant = variant;
    shape        = tds_shape(variant->type.token);
    len          = (uint32_t)tds_left(&body);
    if (shape == SHAPE_TEXT || shape == SHAPE_BINARY)
        return set_bytes(&variant->type, tds_get_bytes(&body, len), &variant->value);
    if (shape == SHAPE_DECIMAL) variant->type.length = (int32_t)len;
    if (variant->type.is_fixed && len != (uint32_t)variant->type.length) return false;
    return get_short_value(&body, &variant->type, len, &variant->value) && !body.failed &&
           tds_left(&body) == 0;
}

/* --- any --- */

/* Types whose description tells how long their values are at most. */
static bool has_length(const TdsType *type)
{
    TdsShape shape = tds_shape(type->token);

    return shape == SHAPE_BYTE_LENGTH || shape == SHAPE_DECIMAL;
}

bool tds_get_value(TdsCursor *cursor, const TdsType *type, Arena *arena, TdsValue *out)
{
    size_t len;

    *out = (TdsValue){.is_null = false};
    switch (tds_shape(type->token)) {
    case SHAPE_UNKNOWN: return false;
    case SHAPE_NULL: out->is_null = true; return !cursor->failed;
    case SHAPE_TEXT:
    case SHAPE_BINARY:
        return type->length < 0 ? get_plp(cursor, type, arena, out)
                                : get_counted(cursor, type, out);
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT: return get_lob(cursor, type, out);
    case SHAPE_XML: return get_plp(cursor, type, arena, out);
    case SHAPE_VARIANT: return get_variant(cursor, arena, out);
    case SHAPE_BYTE_LENGTH:
    case SHAPE_DECIMAL:
    case SHAPE_DATE:
    case SHAPE_SCALE: break;
    }
    len          = type->is_fixed ? (size_t)type->length : tds_get_u8(cursor);
    out->is_null = len == 0;
    if (cursor->failed || out->is_null) return !cursor->failed;
    if (has_length(type) && len > (size_t)type->length) return false;
    return get_short_value(cursor, type, len, out) && !cursor->failed;
}

bool tds_get_row_value(TdsCursor *cursor, const TdsType *type, Arena *arena, TdsValue *out)
{
    TdsShape shape = tds_shape(type->token);
    size_t   pointer_len;

    if (shape != SHAPE_LOB && shape != SHAPE_LOB_TEXT)
        return tds_get_value(cursor, type, arena, out);
    *out        = (TdsValue){.is_null = true};
    pointer_len = tds_get_u8(cursor);
    if (pointer_len == 0) return !cursor->failed;
    (void)tds_get_bytes(cursor, pointer_len + 8); /* and a timestamp */
    return get_lob(cursor, type, out);
}
