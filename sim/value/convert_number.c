/* Conversions to numbers: exact ones truncate or round as SQL Server does for each pair, text is
 * read strictly. */
#include "sim/value/convert_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- ranges --- */
static bool integer_fits(SimTypeKind kind, Wide value)
{
    switch (kind) {
    case SIM_BIT: return true;
    case SIM_TINYINT: return value >= 0 && value <= UINT8_MAX;
    case SIM_SMALLINT: return value >= INT16_MIN && value <= INT16_MAX;
    case SIM_INT:
    case SIM_SMALLMONEY: return value >= INT32_MIN && value <= INT32_MAX;
    default: return value >= INT64_MIN && value <= INT64_MAX;
    }
}

static bool is_money(SimTypeKind kind)
{
    return kind == SIM_MONEY || kind == SIM_SMALLMONEY;
}

/* What the overflow of a whole number is called, by where it came from. */
static bool integer_overflow(const Conversion *conversion, Wide value)
{
    SimTypeKind from = conversion->value->type.kind;
    SimTypeKind to   = conversion->to->kind;

    if (from == SIM_DECIMAL) return overflow_error(conversion, "numeric");
    if (sim_type_is_integer(from) && (to == SIM_TINYINT || to == SIM_SMALLINT) &&
        from != SIM_BIGINT)
        return sim_error(conversion->error, 220,
                         "Arithmetic overflow error for data type %s, value = %lld.",
                         sim_type_name(to), (long long)value);
    return overflow_error(conversion, "expression");
}

static bool set_integer(const Conversion *conversion, Wide value, SimValue *out)
{
    if (!integer_fits(conversion->to->kind, value)) return integer_overflow(conversion, value);
    out->i64 = conversion->to->kind == SIM_BIT ? (value != 0 ? 1 : 0) : (int64_t)value;
    return true;
}

/* Whole numbers and decimals into a decimal or money. */
static bool set_scaled(const Conversion *conversion, Wide value, int scale, const char *from,
                       SimValue *out)
{
    bool money     = is_money(conversion->to->kind);
    int  to_scale  = money ? 4 : conversion->to->scale;
    int  precision = money ? DECIMAL_DIGITS_MAX : conversion->to->precision;
    Wide scaled    = 0;

    if (!wide_rescale(value, scale, to_scale, &scaled) || !wide_fits(scaled, precision))
        return overflow_error(conversion, from);
    if (!money) {
        out->dec = wide_to(scaled);
        return true;
    }
    if (!integer_fits(conversion->to->kind, scaled)) return overflow_error(conversion, from);
    out->i64 = (int64_t)scaled;
    return true;
}

/* --- from exact numbers --- */
/* Money rounds when it becomes whole, decimals are cut. */
static Wide whole_part(const SimValue *value)
{
    Wide number = 0;
    int  scale  = 0;

    value_as_decimal(value, &number, &scale);
    if (is_money(value->type.kind)) {
        Wide rounded = 0;
        if (wide_rescale(number, scale, 0, &rounded)) return rounded;
    }
    return number / (Wide)wide_power_of_ten(scale);
}

static double exact_to_double(const SimValue *value)
{
    char   text[48];
    Wide   number = 0;
    int    scale  = 0;
    double result = 0;

    value_as_decimal(value, &number, &scale);
    if (scale == 0) return (double)number;
    size_t len = wide_format(number, scale, text);
    return str_parse_double((Str){text, len}, &result) ? result : 0;
}

static bool set_double(const Conversion *conversion, double number, SimValue *out)
{
    out->f64 = number;
    if (conversion->to->kind == SIM_REAL) {
        if (fabs(number) > 3.4028234663852886e38)
            return sim_error(conversion->error, 232,
                             "Arithmetic overflow error for type %s, value = %f.", "real", number);
        out->f64 = (double)(float)number;
    }
    return true;
}

static bool from_exact(const Conversion *conversion, SimValue *out)
{
    SimTypeKind to     = conversion->to->kind;
    SimTypeKind from   = conversion->value->type.kind;
    Wide        number = 0;
    int         scale  = 0;

    if (to == SIM_FLOAT || to == SIM_REAL)
        return set_double(conversion, exact_to_double(conversion->value), out);
    value_as_decimal(conversion->value, &number, &scale);
    if (to == SIM_BIT) return set_integer(conversion, number, out);
    if (to == SIM_DECIMAL || is_money(to))
        return set_scaled(conversion, number, scale, type_message_name(from), out);
    return set_integer(conversion, whole_part(conversion->value), out);
}

/* --- from float --- */
/* The exact value of the double, rounded half away from zero: printf would round a half to even, so
 * it is asked for more digits. */
static bool float_to_decimal(const Conversion *conversion, double number, const char *from,
                             SimValue *out)
{
    enum { MORE_DIGITS = 20 };
    char text[160];
    bool money = is_money(conversion->to->kind);
    int  scale = money ? 4 : conversion->to->scale;
    Wide value = 0;

    if (!(fabs(number) < 1e38)) return overflow_error(conversion, from);
    int len = snprintf(text, sizeof text, "%.*f", scale + MORE_DIGITS, fabs(number));
    if (len <= MORE_DIGITS || (size_t)len >= sizeof text) return overflow_error(conversion, from);
    int kept   = len - MORE_DIGITS;
    int digits = 0;
    for (int i = 0; i < kept; i++) {
        if (text[i] == '.') continue;
        if (value != 0 || text[i] != '0') digits++;
        if (digits > DECIMAL_DIGITS_MAX) return overflow_error(conversion, from);
        value = value * 10 + (text[i] - '0');
    }
    if (text[kept] >= '5') value++;
    return set_scaled(conversion, number < 0 ? -value : value, scale, from, out);
}

static bool from_float(const Conversion *conversion, double number, SimValue *out)
{
    SimTypeKind to = conversion->to->kind;

    if (to == SIM_FLOAT || to == SIM_REAL) return set_double(conversion, number, out);
    if (to == SIM_DECIMAL || is_money(to))
        return float_to_decimal(conversion, number, type_message_name(conversion->value->type.kind),
                                out);
    if (to == SIM_BIT) return set_integer(conversion, number != 0 ? 1 : 0, out);
    if (!(fabs(number) < 1e19) || !integer_fits(to, (Wide)number)) {
        if (to == SIM_BIGINT) return overflow_error(conversion, "expression");
        return sim_error(conversion->error, 232,
                         "Arithmetic overflow error for type %s, value = %f.", sim_type_name(to),
                         number);
    }
    out->i64 = (int64_t)number;
    return true;
}

/* --- from text --- */
static bool text_failed(const Conversion *conversion, Str text)
{
    Str         shown = str_slice(text, 0, 400);
    const char *from  = sim_type_name(conversion->value->type.kind);
    SimTypeKind to    = conversion->to->kind;

    if (is_money(to))
        return sim_error(
            conversion->error, 235,
            "Cannot convert a char value to money. The char value has incorrect syntax.");
    if (sim_type_is_integer(to) || to == SIM_BIT) {
        if (to != SIM_BIGINT)
            return sim_error(
                conversion->error, 245,
                "Conversion failed when converting the %s value '%.*s' to data type %s.", from,
                STR_ARG(shown), sim_type_name(to));
    }
    return sim_error(conversion->error, 8114, "Error converting data type %s to %s.", from,
                     type_message_name(to));
}

static bool text_overflow(const Conversion *conversion, Str text)
{
    const char *from  = sim_type_name(conversion->value->type.kind);
    SimTypeKind to    = conversion->to->kind;
    Str         shown = str_slice(text, 0, 400);

    if (to == SIM_TINYINT || to == SIM_SMALLINT)
        return sim_error(conversion->error, 244,
                         "The conversion of the %s value '%.*s' overflowed an %s column. Use a "
                         "larger integer column.",
                         from, STR_ARG(shown), to == SIM_TINYINT ? "INT1" : "INT2");
    if (to == SIM_INT)
        return sim_error(conversion->error, 248,
                         "The conversion of the %s value '%.*s' overflowed an int column.", from,
                         STR_ARG(shown));
    return overflow_error(conversion, to == SIM_BIGINT ? "expression" : from);
}

/* A sign, digits, one point. */
typedef struct PlainNumber {
    Wide value;
    int  scale;
    bool has_point, is_negative, overflows;
    int  digits;
} PlainNumber;

/* Digits beyond the 38th are dropped behind the point, where no type keeps them, and overflow in
 * front of it. */
static void add_digit(PlainNumber *number, int digit)
{
    number->digits++;
    if (number->value >= (Wide)wide_power_of_ten(DECIMAL_DIGITS_MAX - 1)) {
        number->overflows = number->overflows || !number->has_point;
        return;
    }
    number->value = number->value * 10 + digit;
    if (number->has_point) number->scale++;
}

static bool parse_plain(Str text, bool with_commas, PlainNumber *out)
{
    size_t at = 0;

    *out = (PlainNumber){0};
    if (at < text.len && (text.ptr[at] == '-' || text.ptr[at] == '+'))
        out->is_negative = text.ptr[at++] == '-';
    while (at < text.len && text.ptr[at] == ' ')
        at++;
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (c >= '0' && c <= '9') {
            add_digit(out, c - '0');
        } else if (c == '.' && !out->has_point) {
            out->has_point = true;
        } else if (!(c == ',' && with_commas)) {
            return false;
        }
    }
    if (out->is_negative) out->value = -out->value;
    return out->digits > 0;
}

static bool text_to_integer(const Conversion *conversion, Str text, Str whole, SimValue *out)
{
    PlainNumber number;

    if (conversion->to->kind == SIM_BIT) {
        bool is_true = str_equal_ignoring_case(text, STR("true"));
        if (is_true || str_equal_ignoring_case(text, STR("false"))) {
            out->i64 = is_true ? 1 : 0;
            return true;
        }
    }
    if (text.len == 0) {
        out->i64 = 0;
        return true;
    }
    if (!parse_plain(text, false, &number) || number.has_point)
        return text_failed(conversion, whole);
    if (number.overflows || !integer_fits(conversion->to->kind, number.value))
        return text_overflow(conversion, whole);
    return set_integer(conversion, number.value, out);
}

/* A currency sign at either side of the sign, thousands' commas. */
static bool text_to_money(const Conversion *conversion, Str text, Str whole, SimValue *out)
{
    static const char *const signs[] = {"$", "\xC2\xA3", "\xC2\xA5", "\xE2\x82\xAC"};
    PlainNumber              number;
    Str                      digits   = text;
    bool                     negative = false;

    if (str_starts_with(digits, STR("-")) || str_starts_with(digits, STR("+"))) {
        negative = digits.ptr[0] == '-';
        digits   = str_trim(str_slice(digits, 1, digits.len));
    }
    for (size_t i = 0; i < COUNT_OF(signs); i++) {
        if (!str_starts_with(digits, str_from_c(signs[i]))) continue;
        digits = str_trim(str_slice(digits, strlen(signs[i]), digits.len));
        break;
    }
    if (digits.len == 0) {
        out->i64 = 0;
        return text.len == 0 || text_failed(conversion, whole);
    }
    if (!parse_plain(digits, true, &number)) return text_failed(conversion, whole);
    if (number.overflows) return overflow_error(conversion, "varchar");
    return set_scaled(conversion, negative ? -number.value : number.value, number.scale, "varchar",
                      out);
}

static bool is_float_text(Str text)
{
    size_t digits = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c >= '0' && c <= '9')
            digits++;
        else if (c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' && c != 'd' && c != 'D')
            return false;
    }
    return digits > 0;
}

/* What str_parse_double takes: no plus in front, a digit on both sides of the point. */
static Str normal_float(Arena *arena, Str text)
{
    Str    rest = text.len > 0 && text.ptr[0] == '+' ? str_slice(text, 1, text.len) : text;
    bool   sign = rest.len > 0 && rest.ptr[0] == '-';
    Str    body = sign ? str_slice(rest, 1, rest.len) : rest;
    char  *out  = (char *)arena_alloc_uninit(arena, body.len + 4);
    size_t len  = 0;

    if (sign) out[len++] = '-';
    if (body.len > 0 && body.ptr[0] == '.') out[len++] = '0';
    for (size_t i = 0; i < body.len; i++) {
        char c     = body.ptr[i];
        bool digit = i + 1 < body.len && body.ptr[i + 1] >= '0' && body.ptr[i + 1] <= '9';
        if (c == 'd' || c == 'D') c = 'e';
        if (c == '.' && !digit) continue; /* "1." and "1.e5" */
        out[len++] = c;
    }
    return (Str){out, len};
}

static bool text_to_float(const Conversion *conversion, Str text, Str whole, SimValue *out)
{
    double number = 0;

    if (text.len == 0) {
        out->f64 = 0;
        return true;
    }
    if (!is_float_text(text) || !str_parse_double(normal_float(conversion->arena, text), &number))
        return text_failed(conversion, whole);
    if (isinf(number) || isnan(number)) return overflow_error(conversion, "expression");
    return set_double(conversion, number, out);
}

static bool from_text(const Conversion *conversion, SimValue *out)
{
    Str         whole = conversion_text(conversion);
    Str         text  = str_trim(whole);
    SimTypeKind to    = conversion->to->kind;
    PlainNumber number;

    if (to == SIM_FLOAT || to == SIM_REAL) return text_to_float(conversion, text, whole, out);
    if (is_money(to)) return text_to_money(conversion, text, whole, out);
    if (to != SIM_DECIMAL) return text_to_integer(conversion, text, whole, out);
    if (!parse_plain(text, false, &number)) return text_failed(conversion, whole);
    if (number.overflows) return text_overflow(conversion, whole);
    return set_scaled(conversion, number.value, number.scale,
                      sim_type_name(conversion->value->type.kind), out);
}

/* --- from datetime: days since 1900, noon rounds up --- */
static bool from_days(const Conversion *conversion, SimValue *out)
{
    const SimValue *value = conversion->value;
    int64_t         days  = value->time.days - (int64_t)DAYS_TO_1900;
    int64_t         unit  = value->type.kind == SIM_DATETIME ? DATETIME_TICKS_PER_DAY : 1440;
    SimTypeKind     to    = conversion->to->kind;

    if (to == SIM_FLOAT || to == SIM_REAL || to == SIM_DECIMAL || is_money(to)) {
        double number = (double)days + (double)value->time.ticks / (double)unit;
        return to == SIM_FLOAT || to == SIM_REAL
                   ? set_double(conversion, number, out)
                   : float_to_decimal(conversion, number, "expression", out);
    }
    if (value->time.ticks * 2 >= unit) days++;
    return set_integer(conversion, days, out);
}

/* --- from binary: the last bytes, big-endian --- */
static bool from_binary(const Conversion *conversion, SimValue *out)
{
    Bytes    bytes = conversion->value->bytes;
    size_t   width = (size_t)(conversion->to->kind == SIM_DECIMAL
                                  ? 0
                                  : sim_type(conversion->to->kind).length);
    uint64_t bits  = 0;

    if (conversion->to->kind ==
        SIM_DECIMAL) { /* precision, scale, 0, sign, magnitude little-endian */
        Wide value = 0;
        if (bytes.len < 5 || bytes.len > 20 || bytes.ptr[0] > DECIMAL_DIGITS_MAX ||
            bytes.ptr[1] > bytes.ptr[0])
            return sim_error(conversion->error, 8114, "Error converting data type %s to numeric.",
                             sim_type_name(conversion->value->type.kind));
        for (size_t i = bytes.len; i-- > 4;)
            value = (Wide)((UWide)value << 8 | bytes.ptr[i]);
        return set_scaled(conversion, bytes.ptr[3] == 0 ? -value : value, bytes.ptr[1], "varbinary",
                          out);
    }
    for (size_t i = bytes.len > width ? bytes.len - width : 0; i < bytes.len; i++)
        bits = bits << 8 | bytes.ptr[i];
    switch (conversion->to->kind) {
    case SIM_SMALLINT: out->i64 = (int16_t)(uint16_t)bits; break;
    case SIM_INT:
    case SIM_SMALLMONEY: out->i64 = (int32_t)(uint32_t)bits; break;
    case SIM_BIT: out->i64 = bits != 0 ? 1 : 0; break;
    default: out->i64 = (int64_t)bits; break;
    }
    return true;
}

bool convert_to_number(const Conversion *conversion, SimValue *out)
{
    SimTypeKind from = conversion->value->type.kind;

    if (from == SIM_FLOAT || from == SIM_REAL)
        return from_float(conversion, conversion->value->f64, out);
    if (sim_type_is_number(from)) return from_exact(conversion, out);
    if (sim_type_is_time(from)) return from_days(conversion, out);
    if (sim_type_is_text(from)) return from_text(conversion, out);
    return from_binary(conversion, out);
}
