/* Operators on values: SQL Server's result types, precision rules and overflows (sqlserver.md
 * 2.11). */
#include "sim/value/value_internal.h"

#include <math.h>
#include <string.h>

/* --- result types --- */
static const char *operator_name(char op)
{
    switch (op) {
    case '+': return "add";
    case '-': return "subtract";
    case '*': return "multiply";
    case '/': return "divide";
    case '%': return "modulo";
    case '&': return "'&'";
    case '|': return "'|'";
    default: return "'^'";
    }
}

static bool incompatible(char op, const SimType *left, const SimType *right, SimError *error)
{
    return sim_error(error, 402, "The data types %s and %s are incompatible in the %s operator.",
                     sim_type_word(left), sim_type_word(right), operator_name(op));
}

static bool invalid_operand(char op, const SimType *type, SimError *error)
{
    return sim_error(error, 8117, "Operand data type %s is invalid for %s operator.",
                     sim_type_word(type), operator_name(op));
}

static bool is_old_time(SimTypeKind kind)
{
    return kind == SIM_DATETIME || kind == SIM_SMALLDATETIME;
}

static bool is_money(SimTypeKind kind)
{
    return kind == SIM_MONEY || kind == SIM_SMALLMONEY;
}

static bool is_float(SimTypeKind kind)
{
    return kind == SIM_FLOAT || kind == SIM_REAL;
}

static bool is_bytes(SimTypeKind kind)
{
    return kind == SIM_BINARY || kind == SIM_VARBINARY;
}

static void as_decimal_type(const SimType *type, int *precision_out, int *scale_out)
{
    *precision_out = type->precision > 0 ? type->precision : 18;
    *scale_out     = type->scale;
}

/* When more than 38 digits are asked for, the fraction gives way: for sums down to what the whole
 * part leaves, for products and quotients not below six digits. */
static SimType cap_decimal(char op, int precision, int scale, int whole)
{
    if (precision > DECIMAL_DIGITS_MAX) {
        if (op == '+' || op == '-')
            scale = MIN(scale, MAX(0, DECIMAL_DIGITS_MAX - whole));
        else if (whole <= 32)
            scale = MIN(scale, DECIMAL_DIGITS_MAX - whole);
        else if (scale > 6)
            scale = 6;
        precision = DECIMAL_DIGITS_MAX;
    }
    return sim_type_decimal(precision, scale);
}

static SimType decimal_result(char op, const SimType *left, const SimType *right)
{
    int p1, s1, p2, s2, precision, scale;

    as_decimal_type(left, &p1, &s1);
    as_decimal_type(right, &p2, &s2);
    switch (op) {
    case '*':
        scale     = s1 + s2;
        precision = p1 + p2 + 1;
        return cap_decimal(op, precision, scale, precision - scale);
    case '/':
        scale     = MAX(6, s1 + p2 + 1);
        precision = p1 - s1 + s2 + scale;
        return cap_decimal(op, precision, scale, precision - scale);
    case '%':
        scale     = MAX(s1, s2);
        precision = MIN(p1 - s1, p2 - s2) + scale;
        return sim_type_decimal(MIN(MAX(precision, 1), DECIMAL_DIGITS_MAX), scale);
    default:
        scale     = MAX(s1, s2);
        precision = scale + MAX(p1 - s1, p2 - s2) + 1;
        return cap_decimal(op, precision, scale, MAX(p1 - s1, p2 - s2));
    }
}

static SimType concatenation(SimTypeKind kind, const SimType *left, const SimType *right)
{
    bool    wide  = sim_type_is_unicode(kind);
    int64_t one   = left->length < 0                  ? -1
                    : sim_type_is_unicode(left->kind) ? left->length / 2
                                                      : left->length;
    int64_t two   = right->length < 0                  ? -1
                    : sim_type_is_unicode(right->kind) ? right->length / 2
                                                       : right->length;
    int64_t limit = wide ? 4000 : 8000;

    if (one < 0 || two < 0) return sim_type_sized(kind, -1);
    return sim_type_sized(kind, MIN(one + two, limit)); /* longer is cut, as the server does */
}

static bool concatenation_type(const SimType *left, const SimType *right, SimType *out,
                               SimError *error)
{
    SimType     common;
    SimTypeKind kind = SIM_VARBINARY;

    if (!sim_type_unify(left, right, &common, error)) return false;
    if (sim_type_is_text(common.kind))
        kind = sim_type_is_unicode(common.kind) ? SIM_NVARCHAR : SIM_VARCHAR;
    *out           = concatenation(kind, left, right);
    out->collation = common.collation;
    return true;
}

static bool bit_operator_type(char op, const SimType *left, const SimType *right, SimType *out,
                              SimError *error)
{
    bool left_whole  = sim_type_is_integer(left->kind) || left->kind == SIM_BIT;
    bool right_whole = sim_type_is_integer(right->kind) || right->kind == SIM_BIT;

    if (left_whole && right_whole) {
        *out = sim_type(sim_type_precedence(left->kind) >= sim_type_precedence(right->kind)
                            ? left->kind
                            : right->kind);
        return true;
    }
    if ((left_whole && is_bytes(right->kind)) || (right_whole && is_bytes(left->kind))) {
        *out = sim_type(left_whole ? left->kind : right->kind);
        return true;
    }
    return incompatible(op, left, right, error);
}

static bool time_operator_type(char op, const SimType *left, const SimType *right, SimType *out,
                               SimError *error)
{
    bool left_time  = sim_type_is_time(left->kind);
    bool right_time = sim_type_is_time(right->kind);

    if ((left_time && !is_old_time(left->kind)) || (right_time && !is_old_time(right->kind))) {
        const SimType *time  = left_time && !is_old_time(left->kind) ? left : right;
        const SimType *other = time == left ? right : left;
        if (sim_type_is_number(other->kind))
            return sim_error(error, 206, "Operand type clash: %s is incompatible with %s",
                             sim_type_word(time), sim_type_word(other));
        if (sim_type_is_time(other->kind)) return incompatible(op, left, right, error);
        return invalid_operand(op, time, error);
    }
    if (op != '+' && op != '-') return invalid_operand(op, left_time ? left : right, error);
    SimType common;
    if (!sim_type_unify(left, right, &common, error)) return false;
    *out = sim_type(common.kind == SIM_SMALLDATETIME ? SIM_SMALLDATETIME : SIM_DATETIME);
    return true;
}

/* Text beside a number becomes that number; the type it then has. */
static SimType numeric_side(const SimType *type, const SimType *other)
{
    return sim_type_is_text(type->kind) || is_bytes(type->kind) ? *other : *type;
}

static bool number_operator_type(char op, const SimType *left, const SimType *right, SimType *out,
                                 SimError *error)
{
    SimType        one   = numeric_side(left, right);
    SimType        two   = numeric_side(right, left);
    const SimType *high  = sim_type_precedence(one.kind) >= sim_type_precedence(two.kind) ? &one
                                                                                          : &two;
    SimType        mixed = {0};

    if (!sim_type_unify(left, right, &mixed, error)) return false;
    if (!sim_type_is_number(one.kind) || !sim_type_is_number(two.kind))
        return incompatible(op, left, right, error);
    if (one.kind == SIM_BIT && two.kind == SIM_BIT) return invalid_operand(op, left, error);
    if (op == '%' && is_float(high->kind)) return incompatible(op, left, right, error);
    if (high->kind == SIM_DECIMAL) {
        *out            = decimal_result(op, &one, &two);
        out->is_numeric = one.is_numeric || two.is_numeric;
    } else {
        *out = sim_type(high->kind);
    }
    return true;
}

bool sim_arithmetic_type(char op, const SimType *left, const SimType *right, SimType *out,
                         SimError *error)
{
    const SimType *sides[2]  = {left, right};
    bool           left_text = sim_type_is_text(left->kind) || is_bytes(left->kind);

    for (int i = 0; i < 2; i++) {
        SimTypeKind kind = sides[i]->kind;
        if (sim_type_is_lob(kind) || kind == SIM_XML || kind == SIM_UNIQUEIDENTIFIER ||
            kind == SIM_VARIANT || kind == SIM_ROWVERSION) {
            if (sides[0]->kind == sides[1]->kind) return invalid_operand(op, sides[i], error);
            return incompatible(op, left, right, error);
        }
    }
    if (op == '&' || op == '|' || op == '^') return bit_operator_type(op, left, right, out, error);
    if (left_text && (sim_type_is_text(right->kind) || is_bytes(right->kind))) {
        if (op == '+' && is_bytes(left->kind) == is_bytes(right->kind))
            return concatenation_type(left, right, out, error);
        if (sim_type_is_text(left->kind) && left->kind == right->kind)
            return invalid_operand(op, left, error);
        return incompatible(op, left, right, error);
    }
    if (sim_type_is_time(left->kind) || sim_type_is_time(right->kind))
        return time_operator_type(op, left, right, out, error);
    return number_operator_type(op, left, right, out, error);
}

/* --- wide integers for products and quotients --- */
enum { LIMBS = 16 };
typedef struct Big { /* little-endian, 512 bits */
    uint32_t limbs[LIMBS];
} Big;

static Big big_from(UWide value)
{
    Big big = {{0}};

    for (int i = 0; i < 4; i++)
        big.limbs[i] = (uint32_t)(value >> (32 * i));
    return big;
}

static void big_multiply_small(Big *big, uint32_t factor)
{
    uint64_t carry = 0;

    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)big->limbs[i] * factor;
        big->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void big_scale_up(Big *big, int digits)
{
    for (; digits >= 9; digits -= 9)
        big_multiply_small(big, 1000000000U);
    for (; digits > 0; digits--)
        big_multiply_small(big, 10);
}

static uint32_t big_divide_small(Big *big, uint32_t divisor)
{
    uint64_t rest = 0;

    for (int i = LIMBS - 1; i >= 0; i--) {
        rest          = rest << 32 | big->limbs[i];
        big->limbs[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    return (uint32_t)rest;
}

static Big big_product(UWide left, UWide right)
{
    Big one = big_from(left);
    Big two = big_from(right);
    Big out = {{0}};

    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int j = 0; j + i < LIMBS; j++) {
            carry += (uint64_t)one.limbs[i] * two.limbs[j] + out.limbs[i + j];
            out.limbs[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return out;
}

/* Quotient in place, bit by bit; the divisor is below 2^127. */
static void big_divide(Big *big, UWide divisor)
{
    UWide rest = 0;

    for (int bit = LIMBS * 32 - 1; bit >= 0; bit--) {
        uint32_t *limb = &big->limbs[bit / 32];
        uint32_t  mask = UINT32_C(1) << (bit % 32);
        rest           = rest << 1 | ((*limb & mask) != 0 ? 1U : 0U);
        *limb &= ~mask;
        if (rest < divisor) continue;
        rest -= divisor;
        *limb |= mask;
    }
}

static bool big_to(const Big *big, UWide *out)
{
    *out = 0;
    for (int i = 4; i < LIMBS; i++) {
        if (big->limbs[i] != 0) return false;
    }
    for (int i = 3; i >= 0; i--)
        *out = *out << 32 | big->limbs[i];
    return true;
}

/* --- decimals --- */
static UWide magnitude(Wide value)
{
    return value < 0 ? (UWide)0 - (UWide)value : (UWide)value;
}

static bool overflow(const SimType *type, SimError *error)
{
    return sim_error(error, 8115,
                     "Arithmetic overflow error converting expression to data type %s.",
                     type->kind == SIM_DECIMAL ? "numeric" : sim_type_name(type->kind));
}

static bool divide_by_zero(SimError *error)
{
    return sim_error(error, 8134, "Divide by zero error encountered.");
}

static bool set_decimal(UWide size, bool negative, const SimType *type, SimValue *out,
                        SimError *error)
{
    if (size >= wide_power_of_ten(type->precision)) return overflow(type, error);
    out->dec = wide_to(negative ? -(Wide)size : (Wide)size);
    return true;
}

static bool multiply_decimals(Wide left, Wide right, int scale, const SimType *type, SimValue *out,
                              SimError *error)
{
    Big   product = big_product(magnitude(left), magnitude(right));
    UWide size    = 0;
    int   drop    = scale - type->scale;

    for (; drop > 1; drop--)
        (void)big_divide_small(&product, 10);
    uint32_t last = drop == 1 ? big_divide_small(&product, 10) : 0;
    if (!big_to(&product, &size) || size >= wide_power_of_ten(DECIMAL_DIGITS_MAX))
        return overflow(type, error);
    if (last >= 5) size++;
    return set_decimal(size, (left < 0) != (right < 0), type, out, error);
}

/* Cut, not rounded. */
static bool divide_decimals(Wide left, int left_scale, Wide right, int right_scale,
                            const SimType *type, SimValue *out, SimError *error)
{
    Big   quotient = big_from(magnitude(left));
    UWide size     = 0;
    int   up       = type->scale - left_scale + right_scale;

    if (right == 0) return divide_by_zero(error);
    big_scale_up(&quotient, MAX(up, 0));
    for (; up < 0; up++)
        (void)big_divide_small(&quotient, 10);
    big_divide(&quotient, magnitude(right));
    if (!big_to(&quotient, &size)) return overflow(type, error);
    return set_decimal(size, (left < 0) != (right < 0), type, out, error);
}

static bool add_scaled(char op, Wide left, Wide right, Wide *out)
{
    return op == '-' ? !__builtin_sub_overflow(left, right, out)
                     : !__builtin_add_overflow(left, right, out);
}

static bool add_decimals(char op, Wide left, int left_scale, Wide right, int right_scale,
                         const SimType *type, SimValue *out, SimError *error)
{
    int  scale = MAX(left_scale, right_scale);
    Wide one = 0, two = 0, sum = 0;
    bool fits = wide_rescale(left, left_scale, scale, &one) &&
                wide_rescale(right, right_scale, scale, &two) && add_scaled(op, one, two, &sum);

    if (!fits) { /* the full fraction has no room beside so large a number */
        scale = type->scale;
        if (!wide_rescale(left, left_scale, scale, &one) ||
            !wide_rescale(right, right_scale, scale, &two) || !add_scaled(op, one, two, &sum))
            return overflow(type, error);
    }
    if (scale != type->scale && !wide_rescale(sum, scale, type->scale, &sum))
        return overflow(type, error);
    return set_decimal(magnitude(sum), sum < 0, type, out, error);
}

static bool modulo_decimals(Wide left, int left_scale, Wide right, int right_scale,
                            const SimType *type, SimValue *out, SimError *error)
{
    Wide one = 0, two = 0;

    if (right == 0) return divide_by_zero(error);
    if (!wide_rescale(left, left_scale, type->scale, &one) ||
        !wide_rescale(right, right_scale, type->scale, &two))
        return overflow(type, error);
    Wide rest = one % two;
    return set_decimal(magnitude(rest), rest < 0, type, out, error);
}

static bool decimal_arithmetic(char op, const SimValue *left, const SimValue *right, SimValue *out,
                               SimError *error)
{
    Wide one = 0, two = 0;
    int  one_scale = 0, two_scale = 0;

    value_as_decimal(left, &one, &one_scale);
    value_as_decimal(right, &two, &two_scale);
    switch (op) {
    case '*': return multiply_decimals(one, two, one_scale + two_scale, &out->type, out, error);
    case '/': return divide_decimals(one, one_scale, two, two_scale, &out->type, out, error);
    case '%': return modulo_decimals(one, one_scale, two, two_scale, &out->type, out, error);
    default: return add_decimals(op, one, one_scale, two, two_scale, &out->type, out, error);
    }
}

/* --- integers, money, float --- */
static bool fits(SimTypeKind kind, Wide value)
{
    switch (kind) {
    case SIM_TINYINT: return value >= 0 && value <= UINT8_MAX;
    case SIM_SMALLINT: return value >= INT16_MIN && value <= INT16_MAX;
    case SIM_INT:
    case SIM_SMALLMONEY: return value >= INT32_MIN && value <= INT32_MAX;
    case SIM_BIT: return value >= 0 && value <= 1;
    default: return value >= INT64_MIN && value <= INT64_MAX;
    }
}

static bool whole_arithmetic(char op, int64_t left, int64_t right, SimValue *out, SimError *error)
{
    bool money  = is_money(out->type.kind);
    Wide result = 0;

    if ((op == '/' || op == '%') && right == 0) return divide_by_zero(error);
    switch (op) {
    case '+': result = (Wide)left + right; break;
    case '-': result = (Wide)left - right; break;
    case '*':
        result = (Wide)left * right;
        if (money && !wide_rescale(result, 8, 4, &result)) return overflow(&out->type, error);
        break;
    case '/': result = (money ? (Wide)left * 10000 : (Wide)left) / right; break;
    case '%': result = (Wide)left % right; break;
    case '&': result = left & right; break;
    case '|': result = left | right; break;
    default: result = left ^ right; break;
    }
    if (!fits(out->type.kind, result)) return overflow(&out->type, error);
    out->i64 = (int64_t)result;
    return true;
}

static bool float_arithmetic(char op, double left, double right, SimValue *out, SimError *error)
{
    double result = 0;

    if (op == '/' && right == 0) return divide_by_zero(error);
    switch (op) {
    case '+': result = left + right; break;
    case '-': result = left - right; break;
    case '*': result = left * right; break;
    default: result = left / right; break;
    }
    if (out->type.kind == SIM_REAL) {
        if (fabs(result) > 3.4028234663852886e38) return overflow(&out->type, error);
        result = (double)(float)result;
    }
    if (isinf(result) || isnan(result)) return overflow(&out->type, error);
    out->f64 = result;
    return true;
}

/* --- the rest --- */
/* A datetime as ticks since 1900, dates and days alike. */
static bool datetime_arithmetic(char op, const SimValue *left, const SimValue *right, Arena *arena,
                                SimValue *out, SimError *error)
{
    SimType  to = sim_type(SIM_DATETIME);
    SimValue one, two;

    if (!sim_convert(left, &to, 0, true, arena, &one, error) ||
        !sim_convert(right, &to, 0, true, arena, &two, error))
        return false;
    int64_t ticks = (one.time.days - (int64_t)DAYS_TO_1900) * DATETIME_TICKS_PER_DAY +
                    one.time.ticks;
    int64_t shift = (two.time.days - (int64_t)DAYS_TO_1900) * DATETIME_TICKS_PER_DAY +
                    two.time.ticks;
    ticks += op == '-' ? -shift : shift;
    int64_t days   = ticks / DATETIME_TICKS_PER_DAY - (ticks % DATETIME_TICKS_PER_DAY < 0 ? 1 : 0);
    one.time.ticks = ticks - days * DATETIME_TICKS_PER_DAY;
    days += DAYS_TO_1900;
    if (days < 639905 || days > DAYS_TO_9999) return overflow(&out->type, error);
    one.time.days = (int32_t)days;
    SimType type  = out->type;
    return sim_convert(&one, &type, 0, false, arena, out, error);
}

static bool concatenate(const SimValue *left, const SimValue *right, Arena *arena, SimValue *out,
                        SimError *error)
{
    SimType  part = sim_type_sized(out->type.kind, -1);
    SimValue one, two;

    part.collation = out->type.collation;
    if (!sim_convert(left, &part, 0, true, arena, &one, error) ||
        !sim_convert(right, &part, 0, true, arena, &two, error))
        return false;
    size_t len = one.bytes.len + two.bytes.len;
    if (len > SIM_VALUE_BYTES_MOST) return sim_value_too_long(error);
    uint8_t *bytes = (uint8_t *)arena_alloc_uninit(arena, len + 1);
    if (one.bytes.len > 0) memcpy(bytes, one.bytes.ptr, one.bytes.len);
    if (two.bytes.len > 0) memcpy(bytes + one.bytes.len, two.bytes.ptr, two.bytes.len);
    if (out->type.length >= 0 && len > (size_t)out->type.length) len = (size_t)out->type.length;
    out->bytes = (Bytes){bytes, len};
    return true;
}

/* Both sides as numbers of the kind the result has; decimals keep scales of their own. */
static bool number_arithmetic(char op, const SimValue *left, const SimValue *right, Arena *arena,
                              SimValue *out, SimError *error)
{
    SimType  type = out->type;
    SimValue one  = *left;
    SimValue two  = *right;

    if (type.kind == SIM_DECIMAL) {
        SimType left_type  = numeric_side(&left->type, &right->type);
        SimType right_type = numeric_side(&right->type, &left->type);
        if (left_type.kind != left->type.kind &&
            !sim_convert(left, &left_type, 0, true, arena, &one, error))
            return false;
        if (right_type.kind != right->type.kind &&
            !sim_convert(right, &right_type, 0, true, arena, &two, error))
            return false;
        return decimal_arithmetic(op, &one, &two, out, error);
    }
    if (left->type.kind != type.kind && !sim_convert(left, &type, 0, true, arena, &one, error))
        return false;
    if (right->type.kind != type.kind && !sim_convert(right, &type, 0, true, arena, &two, error))
        return false;
    if (is_float(type.kind)) return float_arithmetic(op, one.f64, two.f64, out, error);
    return whole_arithmetic(op, one.i64, two.i64, out, error);
}

bool sim_arithmetic(char op, const SimValue *left, const SimValue *right, Arena *arena,
                    SimValue *out, SimError *error)
{
    SimType type = {0};

    if (!sim_arithmetic_type(op, &left->type, &right->type, &type, error)) return false;
    if (left->is_null || right->is_null) {
        *out = sim_null(type);
        return true;
    }
    SimValue result = {.type = type};
    bool     ok     = sim_type_is_time(type.kind)
                          ? datetime_arithmetic(op, left, right, arena, &result, error)
                      : sim_type_is_number(type.kind)
                          ? number_arithmetic(op, left, right, arena, &result, error)
                          : concatenate(left, right, arena, &result, error);
    if (ok) *out = result;
    return ok;
}

bool sim_negate(const SimValue *value, Arena *arena, SimValue *out, SimError *error)
{
    SimTypeKind kind = value->type.kind;

    (void)arena;
    if (!sim_type_is_number(kind) || kind == SIM_BIT)
        return sim_error(error, 8117, "Operand data type %s is invalid for minus operator.",
                         sim_type_word(&value->type));
    *out = *value;
    if (value->is_null) return true;
    if (kind == SIM_DECIMAL) {
        out->dec = wide_to(-wide_from(value->dec));
    } else if (is_float(kind)) {
        out->f64 = -value->f64;
    } else {
        if (!fits(kind, -(Wide)value->i64)) return overflow(&value->type, error);
        out->i64 = -value->i64;
    }
    return true;
}
