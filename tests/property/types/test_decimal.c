/* Decimals against plain arithmetic on __int128. */
#include "support/test_support.h"

#include "types/column_type.h"

__extension__ typedef __int128          Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

static Int128 from_wide(Wide value)
{
    return (Int128){.lower = (uint64_t)value, .upper = (int64_t)(value >> 64)};
}

static Wide power_of_ten(int exponent)
{
    Wide power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Of at most `digits` digits, short ones as often as long ones. */
static Wide any_value(Rng *rng, int digits)
{
    UnsignedWide bits = (UnsignedWide)rng_u64(rng) << 64 | rng_u64(rng);
    Wide value        = (Wide)(bits % (UnsignedWide)power_of_ten((int)rng_between(rng, 0, digits)));

    if (rng_below(rng, 10) == 0) value = power_of_ten(digits) - 1;
    return rng_below(rng, 2) ? -value : value;
}

/* One digit at a time, from the lowest. */
static void plain_format(Wide value, int scale, char out[48])
{
    char         reversed[48];
    size_t       len       = 0;
    UnsignedWide magnitude = value < 0 ? -(UnsignedWide)value : (UnsignedWide)value;

    for (int i = 0; i <= scale || magnitude != 0; i++, magnitude /= 10) {
        if (i == scale && scale > 0) reversed[len++] = '.';
        reversed[len++] = (char)('0' + (int)(magnitude % 10));
    }
    if (value < 0) reversed[len++] = '-';
    for (size_t i = 0; i < len; i++)
        out[i] = reversed[len - 1 - i];
    out[len] = '\0';
}

static void a_decimal_is_formatted_digit_by_digit_and_reads_back(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            uint8_t precision = (uint8_t)rng_between(rng, 1, 38);
            uint8_t scale     = (uint8_t)rng_between(rng, 0, precision);
            Wide    value     = any_value(rng, precision);
            char    want[48];
            char    got[48];
            Int128  back = {0, 0};

            plain_format(value, scale, want);
            size_t len = decimal_format(from_wide(value), scale, got);
            assert_str_is(((Str){got, len}), want);
            assert_true(decimal_parse((Str){got, len}, precision, scale, &back));
            assert_int_equal(int128_compare(back, from_wide(value)), 0);
        }
        rng_close(rng);
    }
}

static void a_decimal_is_refused_exactly_when_it_has_too_many_digits(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            uint8_t precision  = (uint8_t)rng_between(rng, 1, 38);
            uint8_t scale      = (uint8_t)rng_between(rng, 0, precision);
            uint8_t text_scale = (uint8_t)rng_between(rng, 0, 38);
            Wide    value      = any_value(rng, 38);
            char    text[48];
            Int128  back = {0, 0};

            plain_format(value, text_scale, text);
            bool fits = text_scale <= scale;
            if (fits) {
                Wide room = power_of_ten(precision - (scale - text_scale));
                fits      = value < room && value > -room;
            }
            assert_int_equal(decimal_parse(str_from_c(text), precision, scale, &back), fits);
            if (fits)
                assert_int_equal(
                    int128_compare(back, from_wide(value * power_of_ten(scale - text_scale))), 0);
        }
        rng_close(rng);
    }
}

static void integers_of_128_bits_behave_as_such(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 500) {
        Rng *rng = rng_new(seed);
        for (int i = 0; i < 100; i++) {
            Wide    left  = any_value(rng, (int)rng_between(rng, 1, 38));
            Wide    right = rng_below(rng, 3) ? any_value(rng, 20) : left + rng_between(rng, -1, 1);
            int64_t narrow = 0;

            assert_int_equal(int128_compare(from_wide(left), from_wide(right)),
                             (left > right) - (left < right));
            assert_int_equal(int128_compare(int128_negate(from_wide(left)), from_wide(-left)), 0);
            bool fits = left >= INT64_MIN && left <= INT64_MAX;
            assert_int_equal(int128_to_i64(from_wide(left), &narrow), fits);
            if (fits) {
                assert_true(narrow == left);
                assert_int_equal(int128_compare(int128_from_i64(narrow), from_wide(left)), 0);
            }
        }
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(a_decimal_is_formatted_digit_by_digit_and_reads_back),
        property_test(a_decimal_is_refused_exactly_when_it_has_too_many_digits),
        property_test(integers_of_128_bits_behave_as_such),
    };
    return RUN_TESTS(tests);
}
