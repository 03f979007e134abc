/* tds_type.c - type descriptions and values, both ways. */
#include "tds/tds_type.h"

#include <assert.h>
#include <string.h>

#define PLP_NULL    UINT64_MAX
#define PLP_UNKNOWN (UINT64_MAX - 1)
#define PLP_CHUNK   ((size_t)32 << 10)
#define MAX_LENGTH  0xFFFF

/* --- types --- */

typedef enum TypeShape {
    SHAPE_UNKNOWN,
    SHAPE_FIXED,
    SHAPE_BYTE_LENGTH,
    SHAPE_DECIMAL,
    SHAPE_DATE,
    SHAPE_SCALE,
    SHAPE_BINARY,
    SHAPE_TEXT,
    SHAPE_LOB,
    SHAPE_LOB_TEXT,
    SHAPE_XML,
    SHAPE_VARIANT
} TypeShape;

typedef struct FixedForm {
    uint8_t fixed, nullable, length;
} FixedForm;

static const FixedForm fixed_forms[] = {
    {TDS_TYPE_INT1, TDS_TYPE_INTN, 1},          {TDS_TYPE_BIT, TDS_TYPE_BITN, 1},
    {TDS_TYPE_INT2, TDS_TYPE_INTN, 2},          {TDS_TYPE_INT4, TDS_TYPE_INTN, 4},
    {TDS_TYPE_INT8, TDS_TYPE_INTN, 8},          {TDS_TYPE_FLT4, TDS_TYPE_FLTN, 4},
    {TDS_TYPE_FLT8, TDS_TYPE_FLTN, 8},          {TDS_TYPE_MONEY, TDS_TYPE_MONEYN, 8},
    {TDS_TYPE_MONEY4, TDS_TYPE_MONEYN, 4},      {TDS_TYPE_DATETIME, TDS_TYPE_DATETIMEN, 8},
    {TDS_TYPE_DATETIM4, TDS_TYPE_DATETIMEN, 4},
};

static TypeShape shape_of(uint8_t token)
{
    switch (token) {
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

bool tds_get_type(TdsCursor *cursor, TdsType *out)
{
    uint8_t token = tds_get_u8(cursor);
    Bytes   collation;

    *out = (TdsType){.token = token};
    for (size_t i = 0; i < COUNT_OF(fixed_forms); i++)
        if (fixed_forms[i].fixed == token) {
            out->token = fixed_forms[i].nullable;
            out->length =
                -(int32_t)fixed_forms[i].length; /* negative: no length byte before the value */
            return !cursor->failed;
        }
    switch (shape_of(token)) {
    case SHAPE_UNKNOWN:
    case SHAPE_FIXED: return false;
    case SHAPE_BYTE_LENGTH: out->length = tds_get_u8(cursor); break;
    case SHAPE_DECIMAL:
        out->length    = tds_get_u8(cursor);
        out->precision = tds_get_u8(cursor);
        out->scale     = tds_get_u8(cursor);
        break;
    case SHAPE_DATE: out->length = 3; break;
    case SHAPE_SCALE: out->scale = tds_get_u8(cursor); break;
    case SHAPE_BINARY:
    case SHAPE_TEXT: {
        uint16_t length = tds_get_u16(cursor);
        out->length     = length == MAX_LENGTH ? -1 : length;
        break;
    }
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT: out->length = (int32_t)tds_get_u32(cursor); break;
    case SHAPE_XML:
        if (tds_get_u8(cursor)) return false; /* a schema collection */
        out->length = -1;
        break;
    case SHAPE_VARIANT: out->length = (int32_t)tds_get_u32(cursor); break;
    }
    if (shape_of(token) == SHAPE_TEXT || shape_of(token) == SHAPE_LOB_TEXT) {
        collation = tds_get_bytes(cursor, 5);
        if (collation.len == 5) memcpy(out->collation, collation.ptr, 5);
    }
    return !cursor->failed;
}

void tds_put_type(TdsWriter *writer, const TdsType *type)
{
    tds_put_u8(writer, type->token);
    switch (shape_of(type->token)) {
    case SHAPE_UNKNOWN:
    case SHAPE_FIXED: assert(!"a type without a nullable form"); break;
    case SHAPE_BYTE_LENGTH: tds_put_u8(writer, (uint8_t)type->length); break;
    case SHAPE_DECIMAL:
        tds_put_u8(writer, (uint8_t)type->length);
        tds_put_u8(writer, type->precision);
        tds_put_u8(writer, type->scale);
        break;
    case SHAPE_DATE: break;
    case SHAPE_SCALE: tds_put_u8(writer, type->scale); break;
    case SHAPE_BINARY:
    case SHAPE_TEXT:
        tds_put_u16(writer, type->length < 0 ? MAX_LENGTH : (uint16_t)type->length);
        break;
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT:
    case SHAPE_VARIANT: tds_put_u32(writer, (uint32_t)type->length); break;
    case SHAPE_XML: tds_put_u8(writer, 0); break;
    }
    if (shape_of(type->token) == SHAPE_TEXT || shape_of(type->token) == SHAPE_LOB_TEXT)
        tds_put_bytes(writer, type->collation, 5);
}

/* --- values in --- */

static int64_t sign_extend(uint64_t value, size_t len)
{
    size_t shift = 64 - 8 * len;

    return len == 0 ? 0 : (int64_t)(value << shift) >> shift;
}

static uint64_t get_little(TdsCursor *cursor, size_t len)
{
    Bytes    bytes = tds_get_bytes(cursor, len);
    uint64_t value = 0;

    for (size_t i = 0; i < bytes.len && i < 8; i++)
        value |= (uint64_t)bytes.ptr[i] << (8 * i);
    return value;
}

static bool get_decimal(TdsCursor *cursor, size_t len, Int128 *out)
{
    uint8_t sign = tds_get_u8(cursor);

    if (len != 5 && len != 9 && len != 13 && len != 17) return false;
    out->lower = get_little(cursor, MIN(len - 1, (size_t)8));
    out->upper = len > 9 ? (int64_t)get_little(cursor, len - 9) : 0;
    if (sign == 0) *out = int128_negate(*out);
    return !cursor->failed;
}

static size_t time_bytes(uint8_t scale)
{
    return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

static int64_t power_of_ten(int exponent)
{
    int64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

static bool get_time(TdsCursor *cursor, const TdsType *type, size_t len, TdsValue *out)
{
    size_t clock_len = time_bytes(type->scale);
    size_t wanted    = clock_len + (type->token == TDS_TYPE_TIMEN ? 0 : 3) +
                    (type->token == TDS_TYPE_DATETIMEOFFSETN ? 2 : 0);

    if (type->scale > 7 || len != wanted) return false;
    out->time.ticks = (int64_t)get_little(cursor, clock_len) * power_of_ten(7 - type->scale);
    if (type->token != TDS_TYPE_TIMEN) out->time.days = (int32_t)get_little(cursor, 3);
    if (type->token == TDS_TYPE_DATETIMEOFFSETN)
        out->time.offset_minutes = (int16_t)tds_get_u16(cursor);
    return !cursor->failed;
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
    if (len == 4) {
        *out = (int32_t)tds_get_u32(cursor);
        return true;
    }
    if (len != 8) return false;
    *out = (int64_t)((uint64_t)tds_get_u32(cursor) << 32);
    *out |= (int64_t)tds_get_u32(cursor);
    return true;
}

static bool get_datetime(TdsCursor *cursor, size_t len, TdsValue *out)
{
    if (len == 8) {
        out->time.days  = (int32_t)tds_get_u32(cursor);
        out->time.ticks = (int64_t)tds_get_u32(cursor);
    } else if (len == 4) {
        out->time.days  = tds_get_u16(cursor);
        out->time.ticks = tds_get_u16(cursor);
    }
    return len == 8 || len == 4;
}

static bool get_short_value(TdsCursor *cursor, const TdsType *type, size_t len, TdsValue *out)
{
    switch (type->token) {
    case TDS_TYPE_INTN:
        out->i64 = len == 1 ? (int64_t)get_little(cursor, 1)
                            : sign_extend(get_little(cursor, len), len);
        return len == 1 || len == 2 || len == 4 || len == 8;
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

static bool get_plp(TdsCursor *cursor, Arena *arena, TdsValue *out)
{
    uint64_t total = tds_get_u64(cursor);
    Buf      buf;

    out->is_null = total == PLP_NULL;
    if (out->is_null) return !cursor->failed;
    buf = buf_new(arena, TDS_MAX_MESSAGE_BYTES);
    for (;;) {
        uint32_t len = tds_get_u32(cursor);
        Bytes    chunk;
        if (cursor->failed) return false;
        if (len == 0) break;
        chunk = tds_get_bytes(cursor, len);
        if (cursor->failed) return false;
        buf_append_bytes(&buf, chunk.ptr, chunk.len);
    }
    out->bytes = str_bytes(buf_str(&buf));
    return true;
}

static bool get_lob(TdsCursor *cursor, TdsValue *out)
{
    uint32_t len = tds_get_u32(cursor);

    out->is_null = len == UINT32_MAX;
    if (!out->is_null) out->bytes = tds_get_bytes(cursor, len);
    return !cursor->failed;
}

bool tds_get_value(TdsCursor *cursor, const TdsType *type, Arena *arena, TdsValue *out)
{
    TypeShape shape = shape_of(type->token);
    size_t    len;

    *out = (TdsValue){.is_null = false};
    if (shape == SHAPE_TEXT || shape == SHAPE_BINARY) {
        if (type->length < 0) return get_plp(cursor, arena, out);
        len          = tds_get_u16(cursor);
        out->is_null = len == MAX_LENGTH;
        if (!out->is_null) out->bytes = tds_get_bytes(cursor, len);
        return !cursor->failed;
    }
    if (shape == SHAPE_LOB || shape == SHAPE_LOB_TEXT) return get_lob(cursor, out);
    if (shape == SHAPE_XML) return get_plp(cursor, arena, out);
    if (shape == SHAPE_UNKNOWN || shape == SHAPE_VARIANT) return false;
    len          = type->length < 0 ? (size_t)-type->length : tds_get_u8(cursor);
    out->is_null = len == 0;
    return !cursor->failed && (out->is_null || get_short_value(cursor, type, len, out)) &&
           !cursor->failed;
}

/* --- values out --- */

static void put_little_n(TdsWriter *writer, uint64_t value, size_t len)
{
    uint8_t bytes[9];

    bytes[0] = (uint8_t)len;
    for (size_t i = 0; i < len; i++)
        bytes[i + 1] = (uint8_t)(value >> (8 * i));
    tds_put_bytes(writer, bytes, len + 1);
}

static void put_decimal(TdsWriter *writer, const TdsType *type, Int128 value)
{
    uint8_t bytes[18];
    bool    is_negative = value.upper < 0;
    size_t  len         = (size_t)type->length;

    if (is_negative) value = int128_negate(value);
    bytes[0] = (uint8_t)len;
    bytes[1] = is_negative ? 0 : 1;
    for (size_t i = 0; i + 1 < len; i++)
        bytes[i + 2] = i < 8 ? (uint8_t)(value.lower >> (8 * i))
                             : (uint8_t)((uint64_t)value.upper >> (8 * (i - 8)));
    tds_put_bytes(writer, bytes, len + 1);
}

static void put_time(TdsWriter *writer, const TdsType *type, const TdsValue *value)
{
    uint8_t  bytes[11];
    size_t   at = 1, clock_len = time_bytes(type->scale);
    uint64_t clock = (uint64_t)(value->time.ticks / power_of_ten(7 - type->scale));

    for (size_t i = 0; i < clock_len; i++)
        bytes[at++] = (uint8_t)(clock >> (8 * i));
    if (type->token != TDS_TYPE_TIMEN)
        for (size_t i = 0; i < 3; i++)
            bytes[at++] = (uint8_t)((uint32_t)value->time.days >> (8 * i));
    if (type->token == TDS_TYPE_DATETIMEOFFSETN)
        for (size_t i = 0; i < 2; i++)
            bytes[at++] = (uint8_t)((uint16_t)value->time.offset_minutes >> (8 * i));
    bytes[0] = (uint8_t)(at - 1);
    tds_put_bytes(writer, bytes, at);
}

static void put_float(TdsWriter *writer, size_t len, double value)
{
    uint64_t bits = 0;

    if (len == 4) {
        float    narrow = (float)value;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        bits = narrow_bits;
    } else {
        memcpy(&bits, &value, sizeof bits);
    }
    put_little_n(writer, bits, len);
}

static void put_money(TdsWriter *writer, size_t len, int64_t value)
{
    uint64_t bits = (uint64_t)value;

    put_little_n(writer, len == 4 ? bits : (bits >> 32 | bits << 32),
                 len); /* eight bytes: the high half comes first */
}

static void put_datetime(TdsWriter *writer, size_t len, const TdsValue *value)
{
    if (len == 8)
        put_little_n(writer, (uint32_t)value->time.days | (uint64_t)value->time.ticks << 32, 8);
    else
        put_little_n(writer, (uint16_t)value->time.days | (uint64_t)value->time.ticks << 16, 4);
}

static void put_plp(TdsWriter *writer, const TdsValue *value)
{
    if (value->is_null) {
        tds_put_u64(writer, PLP_NULL);
        return;
    }
    tds_put_u64(writer, value->bytes.len);
    for (size_t at = 0; at < value->bytes.len;) {
        size_t len = MIN(PLP_CHUNK, value->bytes.len - at);
        tds_put_u32(writer, (uint32_t)len);
        tds_put_bytes(writer, value->bytes.ptr + at, len);
        at += len;
    }
    tds_put_u32(writer, 0);
}

static void put_lob(TdsWriter *writer, const TdsValue *value)
{
    static const uint8_t pointer[24] = {
        "tidesim text ptr"}; /* 16 bytes of pointer, 8 of timestamp; nobody dereferences it */

    if (value->is_null) {
        tds_put_u8(writer, 0);
        return;
    }
    tds_put_u8(writer, 16);
    tds_put_bytes(writer, pointer, sizeof pointer);
    tds_put_u32(writer, (uint32_t)value->bytes.len);
    tds_put_bytes(writer, value->bytes.ptr, value->bytes.len);
}

static void put_counted(TdsWriter *writer, const TdsValue *value)
{
    if (value->is_null) {
        tds_put_u16(writer, MAX_LENGTH);
        return;
    }
    tds_put_u16(writer, (uint16_t)value->bytes.len);
    tds_put_bytes(writer, value->bytes.ptr, value->bytes.len);
}

static void put_short_value(TdsWriter *writer, const TdsType *type, const TdsValue *value)
{
    switch (type->token) {
    case TDS_TYPE_INTN:
    case TDS_TYPE_BITN: put_little_n(writer, (uint64_t)value->i64, (size_t)type->length); return;
    case TDS_TYPE_FLTN: put_float(writer, (size_t)type->length, value->f64); return;
    case TDS_TYPE_MONEYN: put_money(writer, (size_t)type->length, value->i64); return;
    case TDS_TYPE_DATETIMEN: put_datetime(writer, (size_t)type->length, value); return;
    case TDS_TYPE_DECIMALN:
    case TDS_TYPE_NUMERICN: put_decimal(writer, type, value->dec); return;
    case TDS_TYPE_DATEN: put_little_n(writer, (uint32_t)value->time.days, 3); return;
    case TDS_TYPE_GUID:
        tds_put_u8(writer, 16);
        tds_put_bytes(writer, value->bytes.ptr, 16);
        return;
    default: put_time(writer, type, value);
    }
}

void tds_put_value(TdsWriter *writer, const TdsType *type, const TdsValue *value)
{
    switch (shape_of(type->token)) {
    case SHAPE_TEXT:
    case SHAPE_BINARY:
        if (type->length < 0)
            put_plp(writer, value);
        else
            put_counted(writer, value);
        return;
    case SHAPE_XML: put_plp(writer, value); return;
    case SHAPE_LOB:
    case SHAPE_LOB_TEXT: put_lob(writer, value); return;
    case SHAPE_UNKNOWN:
    case SHAPE_FIXED:
    case SHAPE_VARIANT: assert(!"a type that is never sent"); return;
    case SHAPE_BYTE_LENGTH:
    case SHAPE_DECIMAL:
    case SHAPE_DATE:
    case SHAPE_SCALE: break;
    }
    if (value->is_null)
        tds_put_u8(writer, 0);
    else
        put_short_value(writer, type, value);
}
