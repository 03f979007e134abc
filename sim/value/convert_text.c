/* Conversions to text: numbers with their styles, times, GUIDs, binary in hex, other text. */
#include "sim/value/convert_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- fitting it into the type --- */
static Bytes cut(const Conversion *conversion, Bytes bytes)
{
    const SimType *to = conversion->to;

    if (to->length < 0 || bytes.len <= (size_t)to->length) return bytes;
    bytes.len = (size_t)to->length;
    if (sim_type_is_unicode(to->kind) || !sim_collation_is_utf8(to->collation)) return bytes;
    while (bytes.len > 0 && (bytes.ptr[bytes.len] & 0xC0) == 0x80) /* no half characters */
        bytes.len--;
    return bytes;
}

static Bytes pad(const Conversion *conversion, Bytes bytes)
{
    const SimType *to    = conversion->to;
    size_t         width = (size_t)to->length;
    size_t         step  = to->kind == SIM_NCHAR ? 2 : 1;

    if ((to->kind != SIM_CHAR && to->kind != SIM_NCHAR) || bytes.len >= width) return bytes;
    uint8_t *out = (uint8_t *)arena_alloc(conversion->arena, width);
    if (bytes.len > 0) memcpy(out, bytes.ptr, bytes.len);
    for (size_t i = bytes.len; i < width; i += step)
        out[i] = ' ';
    return (Bytes){out, width};
}

static void set_bytes(const Conversion *conversion, Bytes bytes, SimValue *out)
{
    out->bytes = pad(conversion, cut(conversion, bytes));
}

static Bytes encode(const Conversion *conversion, Str text)
{
    return sim_text_from_utf8(conversion->arena, conversion->to->collation,
                              sim_type_is_unicode(conversion->to->kind), text);
}

static size_t capacity(const SimType *to)
{
    if (to->length < 0) return SIZE_MAX;
    return (size_t)(sim_type_is_unicode(to->kind) ? to->length / 2 : to->length);
}

/* --- numbers --- */
/* A whole number that does not fit is "*" in char and varchar, from int and smaller. */
static bool integer_text(const Conversion *conversion, Str text, SimValue *out)
{
    SimTypeKind from = conversion->value->type.kind;

    if (text.len > capacity(conversion->to)) {
        if (from == SIM_BIGINT || sim_type_is_unicode(conversion->to->kind))
            return overflow_error(conversion, "expression");
        text = STR("*");
    }
    set_bytes(conversion, encode(conversion, text), out);
    return true;
}

/* C's exponents have two digits or more, the server's three. */
static Str widen_exponent(Arena *arena, Str text)
{
    ptrdiff_t e = str_find_char(text, 'e', 0);

    if (e < 0) return text;
    Str digits = str_slice(text, (size_t)e + 2, text.len);
    while (digits.len > 3 && digits.ptr[0] == '0')
        digits = str_slice(digits, 1, digits.len);
    return str_printf(arena, "%.*s%.*s%.*s", STR_ARG(str_slice(text, 0, (size_t)e + 2)),
                      (int)(digits.len < 3 ? 3 - digits.len : 0), "000", STR_ARG(digits));
}

static bool float_text(const Conversion *conversion, SimValue *out)
{
    char   text[64];
    double number  = conversion->value->f64;
    bool   is_real = conversion->value->type.kind == SIM_REAL;
    int    len     = 0;

    switch (conversion->style) {
    case 1: len = snprintf(text, sizeof text, "%.7e", number); break;
    case 2: len = snprintf(text, sizeof text, "%.15e", number); break;
    case 3: len = snprintf(text, sizeof text, is_real ? "%.8e" : "%.16e", number); break;
    default: len = snprintf(text, sizeof text, "%.6g", number); break;
    }
    Str shown = widen_exponent(conversion->arena, (Str){text, (size_t)len});
    if (shown.len > capacity(conversion->to))
        return overflow_error(conversion, is_real ? "real" : "float");
    set_bytes(conversion, encode(conversion, shown), out);
    return true;
}

static Str with_commas(Arena *arena, Str number)
{
    char  *out   = (char *)arena_alloc_uninit(arena, number.len * 2);
    size_t len   = 0;
    size_t at    = number.len > 0 && number.ptr[0] == '-' ? 1 : 0;
    size_t point = (size_t)str_find_char(number, '.', 0);

    if (at == 1) out[len++] = '-';
    for (; at < number.len; at++) {
        out[len++] = number.ptr[at];
        if (at + 1 < point && (point - at - 1) % 3 == 0) out[len++] = ',';
    }
    return (Str){out, len};
}

/* Two decimals, with commas under style 1; four under styles 2 and 126. */
static bool money_text(const Conversion *conversion, SimValue *out)
{
    char text[48];
    Wide number = conversion->value->i64;
    bool four   = conversion->style == 2 || conversion->style == 126;

    if (!four && !wide_rescale(number, 4, 2, &number)) number = 0;
    size_t len   = wide_format(number, four ? 4 : 2, text);
    Str    shown = {text, len};
    if (conversion->style == 1) shown = with_commas(conversion->arena, shown);
    if (shown.len > capacity(conversion->to))
        return sim_error(conversion->error, 234,
                         "There is insufficient result space to convert a money value to %s.",
                         sim_type_name(conversion->to->kind));
    set_bytes(conversion, encode(conversion, shown), out);
    return true;
}

static bool number_text(const Conversion *conversion, SimValue *out)
{
    char            text[48];
    const SimValue *value = conversion->value;
    SimTypeKind     from  = value->type.kind;

    if (from == SIM_FLOAT || from == SIM_REAL) return float_text(conversion, out);
    if (from == SIM_MONEY || from == SIM_SMALLMONEY) return money_text(conversion, out);
    if (from != SIM_DECIMAL) {
        size_t len = wide_format(value->i64, 0, text);
        return integer_text(conversion, (Str){text, len}, out);
    }
    size_t len = wide_format(wide_from(value->dec), value->type.scale, text);
    if (len > capacity(conversion->to)) return overflow_error(conversion, "numeric");
    set_bytes(conversion, encode(conversion, (Str){text, len}), out);
    return true;
}

/* --- times, GUIDs --- */
static bool time_text(const Conversion *conversion, SimValue *out)
{
    Str text = STR_EMPTY;

    if (conversion->style == 130 || conversion->style == 131)
        return sim_not_supported(conversion->error, "style %d of CONVERT", conversion->style);
    if (!time_format(conversion->value, conversion->style, conversion->arena, &text))
        return sim_error(
            conversion->error, 281,
            "%d is not a valid style number when converting from %s to a character string.",
            conversion->style, sim_type_name(conversion->value->type.kind));
    set_bytes(conversion, encode(conversion, text), out);
    return true;
}

static bool guid_text(const Conversion *conversion, SimValue *out)
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t       *bytes     = conversion->value->bytes.ptr;
    char                 text[37];
    size_t               len = 0;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text[len++] = '-';
        text[len++] = "0123456789ABCDEF"[bytes[order[i]] >> 4];
        text[len++] = "0123456789ABCDEF"[bytes[order[i]] & 15];
    }
    if (len > capacity(conversion->to))
        return sim_error(conversion->error, 8170,
                         "Insufficient result space to convert uniqueidentifier value to char.");
    set_bytes(conversion, encode(conversion, (Str){text, len}), out);
    return true;
}

/* --- binary --- */
/* Style 1 is 0x and hex, 2 hex alone, whole bytes only; otherwise the bytes are the characters. */
static bool binary_text(const Conversion *conversion, SimValue *out)
{
    Bytes  bytes  = conversion->value->bytes;
    size_t prefix = conversion->style == 1 ? 2 : 0;
    size_t room   = capacity(conversion->to);

    if (conversion->style != 1 && conversion->style != 2) {
        if (sim_type_is_unicode(conversion->to->kind) && bytes.len % 2 == 1) {
            uint8_t *even = (uint8_t *)arena_alloc(conversion->arena, bytes.len + 1);
            memcpy(even, bytes.ptr, bytes.len);
            bytes = (Bytes){even, bytes.len + 1};
        }
        set_bytes(conversion, bytes, out);
        return true;
    }
    if (room < prefix) {
        set_bytes(conversion, (Bytes){(const uint8_t *)"", 0}, out);
        return true;
    }
    if (bytes.len > (room - prefix) / 2) bytes.len = (room - prefix) / 2;
    Str hex = hex_encode(conversion->arena, bytes, true);
    set_bytes(conversion,
              encode(conversion,
                     prefix == 0 ? hex : str_printf(conversion->arena, "0x%.*s", STR_ARG(hex))),
              out);
    return true;
}

static bool text_text(const Conversion *conversion, SimValue *out)
{
    const SimValue *value = conversion->value;

    set_bytes(conversion,
              sim_text_recode(conversion->arena, value->type.collation,
                              sim_type_is_unicode(value->type.kind), conversion->to->collation,
                              sim_type_is_unicode(conversion->to->kind), value->bytes),
              out);
    return true;
}

bool convert_to_text(const Conversion *conversion, SimValue *out)
{
    SimTypeKind from = conversion->value->type.kind;

    if (sim_type_is_number(from)) return number_text(conversion, out);
    if (sim_type_is_time(from)) return time_text(conversion, out);
    if (sim_type_is_binary(from)) return binary_text(conversion, out);
    if (from == SIM_UNIQUEIDENTIFIER) return guid_text(conversion, out);
    return text_text(conversion, out);
}
