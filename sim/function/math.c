/* Mathematical functions, and the few that work on any type. */
#include "sim/function/function_internal.h"

#include <math.h>

typedef enum MathTag {
    MATH_NONE,
    MATH_CEILING,
    MATH_FLOOR,
    MATH_SQRT,
    MATH_SQUARE,
    MATH_EXP,
    MATH_LOG10,
    MATH_SIN,
    MATH_COS,
    MATH_TAN,
    MATH_COT,
    MATH_ASIN,
    MATH_ACOS,
    MATH_ATAN,
    MATH_RADIANS,
    MATH_DEGREES,
    MATH_GREATEST,
    MATH_LEAST,
} MathTag;

/* --- types --- */
/* int for the smaller ones, the kind itself otherwise; text becomes float. */
static bool type_number(const Typing *typing, SimType *out)
{
    const SimType *arg = &typing->args[0];

    if (sim_type_is_text(arg->kind) || arg->kind == SIM_REAL) {
        *out = sim_type(SIM_FLOAT);
        return true;
    }
    if (!sim_type_is_number(arg->kind)) return refuse_argument(typing, 0);
    switch (arg->kind) {
    case SIM_BIT: *out = sim_type(SIM_FLOAT); break;
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT: *out = sim_type(SIM_INT); break;
    case SIM_SMALLMONEY: *out = sim_type(SIM_MONEY); break;
    default: *out = *arg; break;
    }
    return true;
}

static bool type_whole(const Typing *typing, SimType *out)
{
    if (!type_number(typing, out)) return false;
    if (out->kind == SIM_DECIMAL) out->scale = 0;
    return true;
}

static bool type_power(const Typing *typing, SimType *out)
{
    if (!type_number(typing, out)) return false;
    bool is_numeric = out->is_numeric;
    if (out->kind == SIM_DECIMAL) *out = sim_type_decimal(DECIMAL_DIGITS_MAX, out->scale);
    out->is_numeric = is_numeric;
    return true;
}

static bool overflow(const Call *call)
{
    return sim_error(call->error, 8115,
                     "Arithmetic overflow error converting expression to data type %s.",
                     call->type->kind == SIM_DECIMAL ? "numeric" : sim_type_name(call->type->kind));
}

static bool domain_error(const Call *call)
{
    return sim_error(call->error, 3623, "An invalid floating point operation occurred.");
}

/* The argument as the result's type. */
static bool number_arg(const Call *call, SimValue *out)
{
    return sim_convert(&call->args[0], call->type, 0, false, call->arena, out, call->error);
}

static bool is_float(const Call *call)
{
    return call->type->kind == SIM_FLOAT;
}

static bool set_float(const Call *call, double number, SimValue *out)
{
    if (isnan(number)) return domain_error(call);
    if (isinf(number)) return overflow(call);
    out->f64 = number;
    return true;
}

/* --- signs and rounding --- */
static bool call_abs(const Call *call, SimValue *out)
{
    SimValue value;

    if (!number_arg(call, &value)) return false;
    *out             = value;
    bool is_negative = is_float(call)                    ? value.f64 < 0
                       : call->type->kind == SIM_DECIMAL ? wide_from(value.dec) < 0
                                                         : value.i64 < 0;
    return !is_negative || sim_negate(&value, call->arena, out, call->error);
}

static bool call_sign(const Call *call, SimValue *out)
{
    SimValue value;

    if (!number_arg(call, &value)) return false;
    if (is_float(call)) {
        out->f64 = value.f64 < 0 ? -1 : value.f64 > 0 ? 1 : 0;
    } else if (call->type->kind == SIM_DECIMAL) {
        Wide number = wide_from(value.dec);
        Wide unit   = (Wide)wide_power_of_ten(call->type->scale);
        if (!wide_fits(unit, call->type->precision)) unit = 0; /* decimal(1,1) has no 1 */
        out->dec = wide_to(number < 0 ? -unit : number > 0 ? unit : 0);
    } else {
        int64_t unit = call->type->kind == SIM_MONEY ? 10000 : 1;
        out->i64     = value.i64 < 0 ? -unit : value.i64 > 0 ? unit : 0;
    }
    return true;
}

/* Down to a multiple of the unit, or up. */
static Wide to_multiple(Wide number, Wide unit, bool up)
{
    Wide rest = number % unit;

    if (rest == 0) return number;
    if (rest < 0) rest += unit;
    return number - rest + (up ? unit : 0);
}

static bool call_whole(const Call *call, SimValue *out)
{
    bool     up    = call->function->tag == MATH_CEILING;
    SimValue value = call->args[0];
    Wide     number;
    int      scale = 0;

    if (is_float(call)) {
        if (!number_arg(call, &value)) return false;
        out->f64 = up ? ceil(value.f64) : floor(value.f64);
        return true;
    }
    value_as_decimal(&value, &number, &scale);
    Wide unit  = (Wide)wide_power_of_ten(scale);
    Wide whole = to_multiple(number, unit, up);
    if (call->type->kind == SIM_DECIMAL) {
        if (!wide_fits(whole / unit, call->type->precision)) return overflow(call);
        out->dec = wide_to(whole / unit);
    } else {
        out->i64 = (int64_t)(scale == 4 ? whole : whole / unit);
    }
    return true;
}

/* ROUND(x, digits [, cut]) of an exact number: digits may be negative. */
static bool round_exact(const Call *call, const SimValue *value, int64_t digits, bool cut,
                        SimValue *out)
{
    Wide number = 0;
    int  scale  = 0;

    value_as_decimal(value, &number, &scale);
    int64_t drop = scale - digits;
    if (drop > 0) {
        if (drop > DECIMAL_DIGITS_MAX) {
            number = 0;
        } else {
            Wide unit = (Wide)wide_power_of_ten((int)drop);
            Wide rest = number % unit;
            Wide size = rest < 0 ? -rest : rest;
            number -= rest;
            if (!cut && size >= unit - size) number += rest < 0 ? -unit : unit;
        }
    }
    if (call->type->kind == SIM_DECIMAL) {
        if (!wide_fits(number, call->type->precision)) return overflow(call);
        out->dec = wide_to(number);
        return true;
    }
    if (number < (call->type->kind == SIM_INT ? INT32_MIN : INT64_MIN) ||
        number > (call->type->kind == SIM_INT ? INT32_MAX : INT64_MAX))
        return overflow(call);
    out->i64 = (int64_t)number;
    return true;
}

static double round_double(double number, int64_t digits, bool cut)
{
    if (digits > 300 || digits < -300) return digits > 0 ? number : 0;
    double unit   = pow(10, (double)(digits < 0 ? -digits : digits));
    double scaled = digits < 0 ? number / unit : number * unit;
    if (isinf(scaled)) return number;
    scaled = cut ? trunc(scaled) : round(scaled);
    return digits < 0 ? scaled * unit : scaled / unit;
}

static bool call_round(const Call *call, SimValue *out)
{
    SimValue value;
    int64_t  digits = 0;
    int64_t  cut    = 0;

    if (!number_arg(call, &value) || !i64_arg(call, 1, &digits)) return false;
    if (call->count > 2 && !i64_arg(call, 2, &cut)) return false;
    if (is_float(call)) return set_float(call, round_double(value.f64, digits, cut != 0), out);
    return round_exact(call, &value, digits, cut != 0, out);
}

/* --- powers and the like --- */
static bool set_number(const Call *call, double number, SimValue *out)
{
    SimValue value = sim_float(number);

    if (isnan(number)) return domain_error(call);
    if (isinf(number)) return overflow(call);
    if (is_float(call)) return set_float(call, number, out);
    if (!sim_convert(&value, call->type, 0, false, call->arena, out, call->error))
        return overflow(call);
    return true;
}

static bool call_power(const Call *call, SimValue *out)
{
    double base     = 0;
    double exponent = 0;

    if (!f64_arg(call, 0, &base) || !f64_arg(call, 1, &exponent)) return false;
    if (base == 0 && exponent < 0)
        return sim_error(call->error, 8134, "Divide by zero error encountered.");
    return set_number(call, pow(base, exponent), out);
}

static bool call_log(const Call *call, SimValue *out)
{
    double number = 0;
    double base   = 0;

    if (!f64_arg(call, 0, &number)) return false;
    if (call->count > 1 && !f64_arg(call, 1, &base)) return false;
    if (number <= 0 || (call->count > 1 && (base <= 0 || base == 1))) return domain_error(call);
    return set_float(call, call->count > 1 ? log(number) / log(base) : log(number), out);
}

static bool call_double(const Call *call, SimValue *out)
{
    double x = 0;

    if (!f64_arg(call, 0, &x)) return false;
    switch ((MathTag)call->function->tag) {
    case MATH_SQRT: return x < 0 ? domain_error(call) : set_float(call, sqrt(x), out);
    case MATH_SQUARE: return set_float(call, x * x, out);
    case MATH_EXP: return set_float(call, exp(x), out);
    case MATH_LOG10: return x <= 0 ? domain_error(call) : set_float(call, log10(x), out);
    case MATH_SIN: return set_float(call, sin(x), out);
    case MATH_COS: return set_float(call, cos(x), out);
    case MATH_TAN: return set_float(call, tan(x), out);
    case MATH_COT: return x == 0 ? domain_error(call) : set_float(call, 1 / tan(x), out);
    case MATH_ASIN: return set_float(call, asin(x), out);
    case MATH_ACOS: return set_float(call, acos(x), out);
    case MATH_ATAN: return set_float(call, atan(x), out);
    case MATH_NONE:
    case MATH_CEILING:
    case MATH_FLOOR:
    case MATH_RADIANS:
    case MATH_DEGREES:
    case MATH_GREATEST:
    case MATH_LEAST: break;
    }
    return set_float(call, x, out);
}

static const double pi = 3.14159265358979323846;

/* RADIANS and DEGREES keep the argument's kind. */
static bool call_angle(const Call *call, SimValue *out)
{
    double x = 0;

    if (!f64_arg(call, 0, &x)) return false;
    return set_number(call, call->function->tag == MATH_RADIANS ? x * pi / 180 : x * 180 / pi, out);
}

static bool type_pi(const Typing *typing, SimType *out)
{
    (void)typing;
    *out = sim_type(SIM_FLOAT);
    return true;
}

static bool call_pi(const Call *call, SimValue *out)
{
    (void)call;
    out->f64 = pi;
    return true;
}

static bool call_atn2(const Call *call, SimValue *out)
{
    double y = 0;
    double x = 0;

    if (!f64_arg(call, 0, &y) || !f64_arg(call, 1, &x)) return false;
    return x == 0 && y == 0 ? domain_error(call) : set_float(call, atan2(y, x), out);
}

/* --- any type --- */
static bool type_first(const Typing *typing, SimType *out)
{
    *out = typing->args[0];
    if (sim_type_is_integer(out->kind)) *out = sim_type(out->kind);
    return true;
}

static bool call_isnull(const Call *call, SimValue *out)
{
    const SimValue *value = call->args[0].is_null ? &call->args[1] : &call->args[0];

    return sim_convert(value, call->type, 0, true, call->arena, out, call->error);
}

static bool unify_from(const Typing *typing, size_t from, SimType *out)
{
    *out = typing->args[from];
    for (size_t i = from + 1; i < typing->count; i++) {
        SimType both;
        if (!sim_type_unify(out, &typing->args[i], &both, typing->error)) return false;
        *out = both;
    }
    return true;
}

static bool type_choose(const Typing *typing, SimType *out)
{
    return unify_from(typing, 1, out);
}

static bool call_choose(const Call *call, SimValue *out)
{
    int64_t index = 0;

    out->is_null = true;
    if (call->args[0].is_null) return true;
    if (!i64_arg(call, 0, &index)) return false;
    if (index < 1 || (uint64_t)index >= call->count) return true;
    out->is_null = false;
    return sim_convert(&call->args[index], call->type, 0, true, call->arena, out, call->error);
}

static bool type_extreme(const Typing *typing, SimType *out)
{
    return unify_from(typing, 0, out);
}

static bool call_extreme(const Call *call, SimValue *out)
{
    bool     greatest = call->function->tag == MATH_GREATEST;
    SimValue best     = sim_null(*call->type);

    for (size_t i = 0; i < call->count; i++) {
        SimValue value;
        if (call->args[i].is_null) continue;
        if (!sim_convert(&call->args[i], call->type, 0, true, call->arena, &value, call->error))
            return false;
        int order = best.is_null ? 0 : sim_compare_same(&value, &best);
        if (best.is_null || (greatest ? order > 0 : order < 0)) best = value;
    }
    *out = best;
    return true;
}

static bool call_isnumeric(const Call *call, SimValue *out)
{
    static const SimTypeKind kinds[] = {SIM_FLOAT, SIM_MONEY};
    SimError                 ignored = SIM_ERROR_INIT;
    SimTypeKind              from    = call->args[0].type.kind;

    out->i64 = 0;
    if (call->args[0].is_null) return true;
    if (sim_type_is_number(from)) {
        out->i64 = from == SIM_BIT ? 0 : 1;
        return true;
    }
    if (!sim_type_is_text(from)) return true;
    Text text;
    if (!text_arg(call, 0, &text)) return false;
    Str shown = str_trim(sim_text_to_utf8(call->arena, text.collation, text.wide, text.bytes));
    if (shown.len == 0) return true;
    for (size_t i = 0; i < COUNT_OF(kinds) && out->i64 == 0; i++) {
        SimType  to = sim_type(kinds[i]);
        SimValue value;
        if (sim_convert(&call->args[0], &to, 0, false, call->arena, &value, &ignored)) out->i64 = 1;
    }
    return true;
}

static const SimFunction math_functions[] = {
    {"ABS", 1, 1, false, false, MATH_NONE, type_number, call_abs},
    {"SIGN", 1, 1, false, false, MATH_NONE, type_number, call_sign},
    {"CEILING", 1, 1, false, false, MATH_CEILING, type_whole, call_whole},
    {"FLOOR", 1, 1, false, false, MATH_FLOOR, type_whole, call_whole},
    {"ROUND", 2, 3, false, false, MATH_NONE, type_number, call_round},
    {"POWER", 2, 2, false, false, MATH_NONE, type_power, call_power},
    {"SQRT", 1, 1, false, false, MATH_SQRT, type_float, call_double},
    {"SQUARE", 1, 1, false, false, MATH_SQUARE, type_float, call_double},
    {"EXP", 1, 1, false, false, MATH_EXP, type_float, call_double},
    {"LOG", 1, 2, false, false, MATH_NONE, type_float, call_log},
    {"LOG10", 1, 1, false, false, MATH_LOG10, type_float, call_double},
    {"SIN", 1, 1, false, false, MATH_SIN, type_float, call_double},
    {"COS", 1, 1, false, false, MATH_COS, type_float, call_double},
    {"TAN", 1, 1, false, false, MATH_TAN, type_float, call_double},
    {"COT", 1, 1, false, false, MATH_COT, type_float, call_double},
    {"ASIN", 1, 1, false, false, MATH_ASIN, type_float, call_double},
    {"ACOS", 1, 1, false, false, MATH_ACOS, type_float, call_double},
    {"ATAN", 1, 1, false, false, MATH_ATAN, type_float, call_double},
    {"ATN2", 2, 2, false, false, MATH_NONE, type_float, call_atn2},
    {"RADIANS", 1, 1, false, false, MATH_RADIANS, type_power, call_angle},
    {"DEGREES", 1, 1, false, false, MATH_DEGREES, type_power, call_angle},
    {"PI", 0, 0, false, false, MATH_NONE, type_pi, call_pi},
    {"ISNULL", 2, 2, false, true, MATH_NONE, type_first, call_isnull},
    {"CHOOSE", 2, ARGS_ANY, false, true, MATH_NONE, type_choose, call_choose},
    {"GREATEST", 1, ARGS_ANY, false, true, MATH_GREATEST, type_extreme, call_extreme},
    {"LEAST", 1, ARGS_ANY, false, true, MATH_LEAST, type_extreme, call_extreme},
    {"ISNUMERIC", 1, 1, false, true, MATH_NONE, type_int, call_isnumeric},
};

const SimFunction *function_find_math(Str name)
{
    return function_find_among(math_functions, COUNT_OF(math_functions), name);
}
