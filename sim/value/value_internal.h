/* value_internal.h - what the files of values share: 128-bit arithmetic, powers of ten, text of a
 * value. */
#ifndef TIDESIM_VALUE_INTERNAL_H
#define TIDESIM_VALUE_INTERNAL_H

#include "sim/value/value.h"

__extension__ typedef __int128          Wide;
__extension__ typedef unsigned __int128 UWide;

static inline Wide wide_from(Int128 value)
{
    return (Wide)((UWide)(uint64_t)value.upper << 64 | value.lower);
}

static inline Int128 wide_to(Wide value)
{
    return (Int128){(uint64_t)(UWide)value, (int64_t)(uint64_t)((UWide)value >> 64)};
}

enum {
    DECIMAL_DIGITS_MAX = 38,
    DAYS_TO_1900       = 693595,
    DAYS_TO_1970       = 719162,
    DAYS_TO_9999       = 3652058
};
#define TICKS_PER_SECOND       INT64_C(10000000)
#define TICKS_PER_DAY          (INT64_C(86400) * TICKS_PER_SECOND)
#define DATETIME_TICKS_PER_DAY (INT64_C(86400) * 300)

UWide wide_power_of_ten(int digits); /* 0 to 38 */
/* |value| < 10^precision */
bool wide_fits(Wide value, int precision);
/* value * 10^(to - from), rounded half away from zero; false when it does not fit 38 digits. */
bool   wide_rescale(Wide value, int from_scale, int to_scale, Wide *out) MUST_CHECK;
size_t wide_format(Wide value, int scale, char out[48]);

/* Ticks of 100 ns since midnight of any time value, and the kind's own ticks from them. */
int64_t value_ticks(const SimValue *value);

/* A number of any kind as a decimal with its natural scale (money 4, float none). */
bool value_is_exact(SimTypeKind kind);
void value_as_decimal(const SimValue *value, Wide *out, int *scale_out);

#endif
