/* Literals and the types they have: an integer beyond int is numeric, text without N is in the
 * default code page. */
#include "sim/parse/parse_internal.h"
#include "sim/value/value_internal.h"

bool is_literal(Parser *parser)
{
    switch (peek(parser, 0)->kind) {
    case TOKEN_STRING:
    case TOKEN_NSTRING:
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_FLOAT:
    case TOKEN_MONEY:
    case TOKEN_BINARY: return true;
    case TOKEN_WORD: return is_keyword(parser, KW_NULL);
    case TOKEN_END:
    case TOKEN_QUOTED:
    case TOKEN_VARIABLE:
    case TOKEN_GLOBAL:
    case TOKEN_OPERATOR: break;
    }
    return false;
}

/* Digits with at most one point as a decimal of the fewest digits. False: more than 38. */
static bool decimal_of(Str digits, SimValue *out)
{
    ptrdiff_t point = str_find_char(digits, '.', 0);
    Wide      value = 0;
    int       count = 0;
    int       scale = point < 0 ? 0 : (int)MIN(digits.len - (size_t)point - 1, (size_t)100);

    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] == '.') continue;
        if (value != 0 || digits.ptr[i] != '0') count++;
        if (count > DECIMAL_DIGITS_MAX) return false;
        value = value * 10 + (digits.ptr[i] - '0');
    }
    if (scale > DECIMAL_DIGITS_MAX) return false;
    *out = sim_numeric(wide_to(value), (uint8_t)MAX(MAX(count, scale), 1), (uint8_t)scale);
    return true;
}

static bool number_value(Parser *parser, Str digits, SimValue *out)
{
    int64_t small = 0;

    if (str_find_char(digits, '.', 0) < 0 && str_parse_i64(digits, &small) && small <= INT32_MAX) {
        SimValue counted = {0};
        *out             = sim_int(small, SIM_INT);
        if (decimal_of(digits, &counted)) out->type.precision = counted.type.precision;
        return true;
    }
    if (decimal_of(digits, out)) return true;
    return parse_fail(
        parser, line_of(parser), 1007,
        "The number '%.*s' is out of the range for numeric representation (maximum precision 38).",
        STR_ARG(str_slice(digits, 0, 128)));
}

static bool float_value(Parser *parser, Str text, SimValue *out)
{
    double number = 0;
    Str    whole  = text;
    char   last   = text.ptr[text.len - 1];

    if (last == 'e' || last == 'E') whole = str_printf(parser->arena, "%.*s0", STR_ARG(text));
    ptrdiff_t exponent = str_find_char(whole, 'e', 0);
    if (exponent < 0) exponent = str_find_char(whole, 'E', 0);
    /* "1.e5" and ".5e1" as C reads them everywhere: 1.0e5, 0.5e1. */
    Str mantissa = str_slice(whole, 0, (size_t)exponent);
    if (str_ends_with(mantissa, STR(".")))
        mantissa = str_printf(parser->arena, "%.*s0", STR_ARG(mantissa));
    if (str_starts_with(mantissa, STR(".")))
        mantissa = str_printf(parser->arena, "0%.*s", STR_ARG(mantissa));
    whole = str_printf(parser->arena, "%.*s%.*s", STR_ARG(mantissa),
                       STR_ARG(str_slice(whole, (size_t)exponent, whole.len)));
    if (!str_parse_double(whole, &number))
        return parse_fail(parser, line_of(parser), 168,
                          "The floating point value '%.*s' is out of the range of computer "
                          "representation (8 bytes).",
                          STR_ARG(str_slice(text, 0, 128)));
    *out = sim_float(number);
    return true;
}

static bool money_value(Parser *parser, Str digits, SimValue *out)
{
    SimValue number = {0};
    Wide     scaled = 0;

    *out = sim_int(0, SIM_MONEY);
    if (digits.len == 0) return true;
    if (!decimal_of(digits, &number) ||
        !wide_rescale(wide_from(number.dec), number.type.scale, 4, &scaled) || scaled > INT64_MAX)
        return parse_fail(
            parser, line_of(parser), 235,
            "Cannot convert a char value to money. The char value has incorrect syntax.");
    out->i64 = (int64_t)scaled;
    return true;
}

static SimValue text_value(Parser *parser, Str text, bool unicode)
{
    Bytes   bytes = sim_text_from_utf8(parser->arena, NULL, unicode, text);
    SimType type  = sim_type_sized(unicode ? SIM_NVARCHAR : SIM_VARCHAR,
                                  (int64_t)(unicode ? bytes.len / 2 : bytes.len));

    return (SimValue){.type = type, .bytes = bytes};
}

/* An odd digit stands for the low half of a byte: 0x1 is 0x01. */
static SimValue binary_value(Parser *parser, Str hex)
{
    Bytes bytes = {(const uint8_t *)"", 0};
    Str   even  = hex.len % 2 == 0 ? hex : str_printf(parser->arena, "0%.*s", STR_ARG(hex));

    if (even.len > 0 && !hex_decode(parser->arena, even, &bytes)) bytes.len = 0;
    return sim_varbinary(bytes);
}

Expr *parse_literal(Parser *parser)
{
    Token token = *peek(parser, 0);
    Expr *expr  = expr_new(parser, EXPR_LITERAL, token.line);
    bool  ok    = true;

    switch (token.kind) {
    case TOKEN_STRING:
    case TOKEN_NSTRING:
        expr->value = text_value(parser, token.text, token.kind == TOKEN_NSTRING);
        expr->text  = token.text;
        break;
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL: ok = number_value(parser, token.text, &expr->value); break;
    case TOKEN_FLOAT: ok = float_value(parser, token.text, &expr->value); break;
    case TOKEN_MONEY: ok = money_value(parser, token.text, &expr->value); break;
    case TOKEN_BINARY: expr->value = binary_value(parser, token.text); break;
    case TOKEN_WORD: expr->value = sim_null(sim_type(SIM_INT)); break;
    case TOKEN_END:
    case TOKEN_QUOTED:
    case TOKEN_VARIABLE:
    case TOKEN_GLOBAL:
    case TOKEN_OPERATOR: ok = syntax_error(parser); break;
    }
    if (!ok) return NULL;
    advance(parser);
    return expr;
}
