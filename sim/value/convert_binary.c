/* Conversions to binary types and to uniqueidentifier. */
#include "sim/value/convert_internal.h"

#include <string.h>

static size_t width_of(const SimType *to)
{
    return to->length < 0 ? SIZE_MAX : (size_t)to->length;
}

static bool is_fixed(SimTypeKind kind)
{
    return kind == SIM_BINARY || kind == SIM_ROWVERSION;
}

/* Text and binary keep their left end and are filled up at the right. */
static bool set_left(const Conversion *conversion, Bytes bytes, SimValue *out)
{
    size_t width = width_of(conversion->to);

    if (bytes.len > width) bytes.len = width;
    if (is_fixed(conversion->to->kind) && bytes.len < width) {
        uint8_t *full = (uint8_t *)arena_alloc(conversion->arena, width);
        if (bytes.len > 0) memcpy(full, bytes.ptr, bytes.len);
        bytes = (Bytes){full, width};
    }
    out->bytes = bytes;
    return true;
}

/* Numbers keep their right end and are filled up at the left. */
static bool set_right(const Conversion *conversion, const uint8_t *bytes, size_t len, SimValue *out)
{
    size_t   width = is_fixed(conversion->to->kind) ? width_of(conversion->to)
                                                    : MIN(len, width_of(conversion->to));
    uint8_t *full  = (uint8_t *)arena_alloc(conversion->arena, width + 1);
    size_t   kept  = MIN(len, width);

    memcpy(full + (width - kept), bytes + (len - kept), kept);
    out->bytes = (Bytes){full, width};
    return true;
}

static void put_big_endian(uint8_t *out, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(value >> (8 * (len - 1 - i)));
}

static size_t put_little_endian(uint8_t *out, uint64_t value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(value >> (8 * i));
    return len;
}

static bool decimal_bytes(const Conversion *conversion, SimValue *out)
{
    const SimValue *value  = conversion->value;
    Wide            number = wide_from(value->dec);
    UWide           size   = number < 0 ? (UWide)0 - (UWide)number : (UWide)number;
    size_t magnitude = (size_t)sim_type_decimal(value->type.precision, value->type.scale).length -
                       1;
    uint8_t bytes[20] = {value->type.precision, value->type.scale, 0, number < 0 ? 0 : 1};

    for (size_t i = 0; i < magnitude; i++) {
        bytes[4 + i] = (uint8_t)size;
        size >>= 8;
    }
    return set_left(conversion,
                    (Bytes){(uint8_t *)memcpy(arena_alloc(conversion->arena, sizeof bytes), bytes,
                                              sizeof bytes),
                            4 + magnitude},
                    out);
}

static bool number_bytes(const Conversion *conversion, SimValue *out)
{
    const SimValue *value    = conversion->value;
    uint8_t         bytes[8] = {0};
    size_t          len      = (size_t)sim_type(value->type.kind).length;
    uint64_t        bits     = 0;

    if (value->type.kind == SIM_DECIMAL) return decimal_bytes(conversion, out);
    if (value->type.kind == SIM_FLOAT) {
        memcpy(&bits, &value->f64, sizeof bits);
    } else if (value->type.kind == SIM_REAL) {
        float    narrow = (float)value->f64;
        uint32_t word   = 0;
        memcpy(&word, &narrow, sizeof word);
        bits = word;
    } else {
        bits = (uint64_t)value->i64;
    }
    put_big_endian(bytes, bits, len);
    return set_right(conversion, bytes, len, out);
}

static int64_t scaled_ticks(const SimValue *value)
{
    return value->time.ticks / (int64_t)wide_power_of_ten(7 - value->type.scale);
}

/* As stored: datetime big-endian like the numbers it is made of, the newer types little-endian
 * behind their scale. */
static bool time_bytes(const Conversion *conversion, SimValue *out)
{
    const SimValue *value     = conversion->value;
    uint8_t         bytes[16] = {0};
    size_t          len       = 0;
    size_t          ticks_len = value->type.scale <= 2 ? 3 : value->type.scale <= 4 ? 4 : 5;

    switch (value->type.kind) {
    case SIM_DATETIME:
        put_big_endian(bytes, (uint64_t)(value->time.days - DAYS_TO_1900), 4);
        put_big_endian(bytes + 4, (uint64_t)value->time.ticks, 4);
        return set_right(conversion, bytes, 8, out);
    case SIM_SMALLDATETIME:
        put_big_endian(bytes, (uint64_t)(value->time.days - DAYS_TO_1900), 2);
        put_big_endian(bytes + 2, (uint64_t)value->time.ticks, 2);
        return set_right(conversion, bytes, 4, out);
    case SIM_DATE: len = put_little_endian(bytes, (uint64_t)value->time.days, 3); break;
    default:
        bytes[len++] = value->type.scale;
        len += put_little_endian(bytes + len, (uint64_t)scaled_ticks(value), ticks_len);
        if (value->type.kind != SIM_TIME)
            len += put_little_endian(bytes + len, (uint64_t)value->time.days, 3);
        if (value->type.kind == SIM_DATETIMEOFFSET)
            len += put_little_endian(bytes + len, (uint64_t)(int64_t)value->time.offset_minutes, 2);
        break;
    }
    uint8_t *copy = (uint8_t *)arena_alloc(conversion->arena, len);
    memcpy(copy, bytes, len);
    return set_left(conversion, (Bytes){copy, len}, out);
}

static bool hex_failed(const Conversion *conversion)
{
    return sim_error(conversion->error, 8114, "Error converting data type %s to %s.",
                     sim_type_name(conversion->value->type.kind),
                     sim_type_name(conversion->to->kind));
}

/* Style 1: 0x and hex; 2: hex alone; an odd or wrong digit fails. Otherwise the characters as they
 * are stored. */
static bool text_bytes(const Conversion *conversion, SimValue *out)
{
    Bytes bytes = conversion->value->bytes;

    if (conversion->style != 1 && conversion->style != 2) return set_left(conversion, bytes, out);
    Str text = conversion_text(conversion);
    while (text.len > 0 && text.ptr[text.len - 1] == ' ')
        text.len--;
    if (conversion->style == 1) {
        if (!str_starts_with(text, STR("0x")) && !str_starts_with(text, STR("0X")))
            return hex_failed(conversion);
        text = str_slice(text, 2, text.len);
    }
    if (text.len == 0) return set_left(conversion, (Bytes){(const uint8_t *)"", 0}, out);
    if (!hex_decode(conversion->arena, text, &bytes)) return hex_failed(conversion);
    return set_left(conversion, bytes, out);
}

bool convert_to_binary(const Conversion *conversion, SimValue *out)
{
    SimTypeKind from = conversion->value->type.kind;

    if (sim_type_is_number(from)) return number_bytes(conversion, out);
    if (sim_type_is_time(from)) return time_bytes(conversion, out);
    if (sim_type_is_text(from)) return text_bytes(conversion, out);
    return set_left(conversion, conversion->value->bytes, out);
}

/* --- uniqueidentifier --- */
/* 36 characters, braces around them or not; what follows does not matter. */
static bool parse_guid(Str text, uint8_t out[16])
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    bool                 braces    = text.len > 0 && text.ptr[0] == '{';
    Str                  rest      = braces ? str_slice(text, 1, text.len) : text;

    if (rest.len < 36 || (braces && (rest.len < 37 || rest.ptr[36] != '}'))) return false;
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && rest.ptr[at++] != '-') return false;
        int high = hex_digit_value(rest.ptr[at]);
        int low  = hex_digit_value(rest.ptr[at + 1]);
        if (high < 0 || low < 0) return false;
        out[order[i]] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    return true;
}

bool convert_to_guid(const Conversion *conversion, SimValue *out)
{
    uint8_t *bytes = (uint8_t *)arena_alloc(conversion->arena, 16);

    if (sim_type_is_binary(conversion->value->type.kind)) {
        size_t len = MIN(conversion->value->bytes.len, (size_t)16);
        if (len > 0) memcpy(bytes, conversion->value->bytes.ptr, len);
    } else if (!parse_guid(conversion_text(conversion), bytes)) {
        return sim_error(
            conversion->error, 8169,
            "Conversion failed when converting from a character string to uniqueidentifier.");
    }
    out->bytes = (Bytes){bytes, 16};
    return true;
}
