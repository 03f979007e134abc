/* json.c - JSON text as Python's json.dumps writes it, and doubles as its repr. */
#include "base/json.h"

#include "base/base_internal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

JsonWriter json_writer(Buf *buf, bool spaced, bool ascii)
{
    return (JsonWriter){.buf = buf, .spaced = spaced, .ascii = ascii};
}

static void begin_value(JsonWriter *json)
{
    if (json->needs_comma) buf_append(json->buf, json->spaced ? STR(", ") : STR(","));
    json->needs_comma = true;
}

static void begin_nested(JsonWriter *json, char bracket)
{
    begin_value(json);
    buf_append_char(json->buf, bracket);
    json->needs_comma = false;
}

static void end_nested(JsonWriter *json, char bracket)
{
    buf_append_char(json->buf, bracket);
    json->needs_comma = true;
}

void json_object_begin(JsonWriter *json)
{
    begin_nested(json, '{');
}

void json_object_end(JsonWriter *json)
{
    end_nested(json, '}');
}

void json_array_begin(JsonWriter *json)
{
    begin_nested(json, '[');
}

void json_array_end(JsonWriter *json)
{
    end_nested(json, ']');
}

/* The letter behind the backslash, or 0. */
static char short_escape(uint32_t c)
{
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

/* Python writes \u00e9, Spark's to_json (raw UTF-8 outside the controls) \u000B. */
static void append_unit_escape(JsonWriter *json, uint32_t unit)
{
    buf_printf(json->buf, json->ascii ? "\\u%04x" : "\\u%04X", (unsigned)unit);
}

static void append_escaped(JsonWriter *json, uint32_t c)
{
    char letter = short_escape(c);

    if (letter != 0) {
        buf_append_char(json->buf, '\\');
        buf_append_char(json->buf, letter);
    } else if (c < 0x20 || (json->ascii && c < 0x10000)) {
        append_unit_escape(json, c);
    } else if (json->ascii) {
        append_unit_escape(json, 0xD800 + ((c - 0x10000) >> 10));
        append_unit_escape(json, 0xDC00 + (c & 0x3FF));
    } else {
        char bytes[4];
        buf_append_bytes(json->buf, bytes, utf8_encode(c, bytes));
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

static void append_quoted(JsonWriter *json, Str value)
{
    size_t at = 0;

    buf_append_char(json->buf, '"');
    while (at < value.len) {
        size_t from = at;
        while (at < value.len && is_plain((unsigned char)value.ptr[at]))
            at++;
        buf_append(json->buf, str_slice(value, from, at));
        if (at < value.len) append_escaped(json, utf8_next(value, &at));
    }
    buf_append_char(json->buf, '"');
}

void json_key(JsonWriter *json, Str key)
{
    begin_value(json);
    append_quoted(json, key);
    buf_append(json->buf, json->spaced ? STR(": ") : STR(":"));
    json->needs_comma = false;
}

void json_str(JsonWriter *json, Str value)
{
    begin_value(json);
    append_quoted(json, value);
}

void json_i64(JsonWriter *json, int64_t value)
{
    begin_value(json);
    buf_printf(json->buf, "%lld", (long long)value);
}

void json_double(JsonWriter *json, double value)
{
    char text[32];

    if (!isfinite(value)) {
        json_null_value(json);
        return;
    }
    begin_value(json);
    buf_append_bytes(json->buf, text, double_format_shortest(value, text));
}

void json_bool(JsonWriter *json, bool value)
{
    json_raw(json, value ? STR("true") : STR("false"));
}

void json_null_value(JsonWriter *json)
{
    json_raw(json, STR("null"));
}

void json_raw(JsonWriter *json, Str text)
{
    begin_value(json);
    buf_append(json->buf, text);
}

void json_member_str(JsonWriter *json, const char *key, Str value)
{
    json_key(json, str_from_c(key));
    json_str(json, value);
}

void json_member_i64(JsonWriter *json, const char *key, int64_t value)
{
    json_key(json, str_from_c(key));
    json_i64(json, value);
}

void json_member_double(JsonWriter *json, const char *key, double value)
{
    json_key(json, str_from_c(key));
    json_double(json, value);
}

void json_member_bool(JsonWriter *json, const char *key, bool value)
{
    json_key(json, str_from_c(key));
    json_bool(json, value);
}

void json_member_null(JsonWriter *json, const char *key)
{
    json_key(json, str_from_c(key));
    json_null_value(json);
}

/* ---- shortest doubles ---- */

/* A positive finite double as 0.d1d2d3... x 10^point. */
typedef struct Digits {
    char digits[18]; /* NUL-terminated, no zeros at the end */
    int  point;
} Digits;

static void digits_from_scientific(const char *text, Digits *out)
{
    size_t count = 0;

    for (; *text != 'e'; text++)
        if (*text != '.') out->digits[count++] = *text;
    while (count > 1 && out->digits[count - 1] == '0')
        count--;
    out->digits[count] = '\0';
    out->point         = (int)strtol(text + 1, NULL, 10) + 1;
}

static bool digits_read_back(const Digits *digits, double value)
{
    char text[32];

    (void)snprintf(text, sizeof text, "0.%se%d", digits->digits, digits->point);
    return strtod(text, NULL) == value;
}

/* The next larger number of as many digits. */
static void digits_round_up(Digits *digits, size_t precision)
{
    size_t count = strlen(digits->digits);

    while (count < precision)
        digits->digits[count++] = '0';
    while (count > 0 && digits->digits[count - 1] == '9')
        count--;
    if (count == 0) {
        digits->digits[count++] = '1';
        digits->point++;
    } else {
        digits->digits[count - 1]++;
    }
    digits->digits[count] = '\0';
}

/* At a power of two the doubles above are twice as far apart as those below, so that of two
 * texts the farther, upper one may read back where the nearer one does not (2^-44). */
static bool try_precision(double value, int precision, Digits *out)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%.*e", precision - 1, value);
    digits_from_scientific(text, out);
    if (digits_read_back(out, value)) return true;
    digits_round_up(out, (size_t)precision);
    return digits_read_back(out, value);
}

/* 15 digits always survive a double, so a shorter text shows up there with zeros at its end;
 * below the normal range it may not. */
static Digits shortest_digits(double value)
{
    Digits digits    = {.point = 0};
    int    precision = isnormal(value) ? 15 : 1;

    while (!try_precision(value, precision, &digits)) {
        precision++;
        assert(precision <= 17);
    }
    return digits;
}

/* Python's repr: an exponent from 1e16 up and below 1e-4, else plain with at least one fraction
 * digit. */
static int print_digits(const Digits *d, const char *sign, char *out, size_t size)
{
    int count    = (int)strlen(d->digits);
    int exponent = d->point - 1;

    if (exponent < -4 || exponent >= 16)
        return snprintf(out, size, "%s%c%s%se%c%02d", sign, d->digits[0], count > 1 ? "." : "",
                        d->digits + 1, exponent < 0 ? '-' : '+', abs(exponent));
    if (d->point <= 0) return snprintf(out, size, "%s0.%.*s%s", sign, -d->point, "0000", d->digits);
    if (d->point >= count)
        return snprintf(out, size, "%s%s%.*s.0", sign, d->digits, d->point - count,
                        "0000000000000000");
    return snprintf(out, size, "%s%.*s.%s", sign, d->point, d->digits, d->digits + d->point);
}

size_t double_format_shortest(double value, char out[32])
{
    const char *sign = signbit(value) ? "-" : "";
    int         len;

    if (isnan(value))
        len = snprintf(out, 32, "nan");
    else if (isinf(value))
        len = snprintf(out, 32, "%sinf", sign);
    else if (value == 0)
        len = snprintf(out, 32, "%s0.0", sign);
    else {
        Digits digits = shortest_digits(fabs(value));
        len           = print_digits(&digits, sign, out, 32);
    }
    assert(len > 0);
    return (size_t)len;
}
