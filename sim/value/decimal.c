/* 128-bit decimals: powers of ten, rescaling with SQL Server's rounding, text. */
#include "sim/value/value_internal.h"

#include <string.h>

UWide wide_power_of_ten(int digits)
{
    static const uint64_t small[] = {1U,
                                     10U,
                                     100U,
                                     1000U,
                                     10000U,
                                     100000U,
                                     1000000U,
                                     10000000U,
                                     100000000U,
                                     1000000000U,
                                     10000000000U,
                                     100000000000U,
                                     1000000000000U,
                                     10000000000000U,
                                     100000000000000U,
                                     1000000000000000U,
                                     10000000000000000U,
                                     100000000000000000U,
                                     1000000000000000000U,
                                     10000000000000000000U};

    if (digits < (int)COUNT_OF(small)) return small[digits];
    return (UWide)small[COUNT_OF(small) - 1] * small[digits - (int)COUNT_OF(small) + 1];
}

static UWide magnitude(Wide value)
{
    return value < 0 ? (UWide)0 - (UWide)value : (UWide)value;
}

bool wide_fits(Wide value, int precision)
{
    return magnitude(value) < wide_power_of_ten(precision);
}

bool wide_rescale(Wide value, int from_scale, int to_scale, Wide *out)
{
    UWide size = magnitude(value);

    if (to_scale >= from_scale) {
        int up = to_scale - from_scale;
        if (size != 0 &&
            (up > DECIMAL_DIGITS_MAX || size >= wide_power_of_ten(DECIMAL_DIGITS_MAX - up)))
            return false;
        if (size != 0) size *= wide_power_of_ten(up);
    } else {
        UWide unit = wide_power_of_ten(from_scale - to_scale);
        UWide rest = size % unit;
        size       = size / unit + (rest >= unit - rest ? 1U : 0U);
    }
    *out = value < 0 ? -(Wide)size : (Wide)size;
    return true;
}

size_t wide_format(Wide value, int scale, char out[48])
{
    char   digits[48];
    size_t count = 0;
    size_t len   = 0;
    UWide  size  = magnitude(value);

    do {
        digits[count++] = (char)('0' + (int)(size % 10));
        size /= 10;
    } while (size != 0 || count <= (size_t)scale);
    if (value < 0) out[len++] = '-';
    while (count > 0) {
        if (count == (size_t)scale) out[len++] = '.';
        out[len++] = digits[--count];
    }
    out[len] = '\0';
    return len;
}

bool value_is_exact(SimTypeKind kind)
{
    return sim_type_is_number(kind) && kind != SIM_REAL && kind != SIM_FLOAT;
}

void value_as_decimal(const SimValue *value, Wide *out, int *scale_out)
{
    bool is_money = value->type.kind == SIM_MONEY || value->type.kind == SIM_SMALLMONEY;

    if (value->type.kind == SIM_DECIMAL) {
        *out       = wide_from(value->dec);
        *scale_out = value->type.scale;
    } else {
        *out       = value->i64;
        *scale_out = is_money ? 4 : 0;
    }
}
