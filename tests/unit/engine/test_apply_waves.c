#include "support/test_support.h"

#include "engine/apply_waves.h"

typedef struct End {
    TypeKind    type;
    const char *json;
    bool        is_lower;
    RangeEnd    want;
    const char *literal;
} End;

#define LONG_VALUE(digits) "CAST('" digits "' AS BIGINT)"

static void a_bound_becomes_a_value_of_silvers_key(void **state) /* T7.13 */
{
    static const End ends[] = {
        {TYPE_INTEGER, "3", true, RANGE_VALUE, LONG_VALUE("3")},
        {TYPE_SHORT, "\"3\"", false, RANGE_VALUE, LONG_VALUE("3")},
        {TYPE_LONG, "-9223372036854775808", true, RANGE_VALUE, LONG_VALUE("-9223372036854775808")},
        {TYPE_LONG, "9223372036854775808", false, RANGE_OPEN, ""},
        {TYPE_LONG, "9223372036854775808", true, RANGE_NOTHING, ""},
        {TYPE_LONG, "null", true, RANGE_OPEN, ""},
        {TYPE_DATE, "\"2026-01-03T00:00:00.0000000\"", true, RANGE_VALUE, "DATE '2026-01-03'"},
        {TYPE_DATE, "\"2026-01-03\"", false, RANGE_VALUE, "DATE '2026-01-03'"},
        {TYPE_TIMESTAMP_NTZ, "\"2026-01-03 00:00:03.1234560\"", true, RANGE_VALUE,
         "TIMESTAMP '2026-01-03T00:00:03.123456'"},
        {TYPE_TIMESTAMP_NTZ, "\"2026-01-03T00:00:03.1234567\"", true, RANGE_VALUE,
         "TIMESTAMP '2026-01-03T00:00:03.123457'"},
        {TYPE_TIMESTAMP_NTZ, "\"2026-01-03T00:00:03.1234567\"", false, RANGE_VALUE,
         "TIMESTAMP '2026-01-03T00:00:03.123456'"},
        {TYPE_TIMESTAMP_NTZ, "\"2026-01-03T00:00:03.9999999\"", true, RANGE_VALUE,
         "TIMESTAMP '2026-01-03T00:00:04.000000'"},
        {TYPE_TIMESTAMP_NTZ, "\"2026-01-03T00:00:03.9999999\"", false, RANGE_VALUE,
         "TIMESTAMP '2026-01-03T00:00:03.999999'"},
        {TYPE_TIMESTAMP_NTZ, "\"9999-12-31 23:59:59.9999999\"", true, RANGE_NOTHING, ""},
        {TYPE_TIMESTAMP_NTZ, "\"9999-12-31 23:59:59.9999999\"", false, RANGE_VALUE,
         "TIMESTAMP '9999-12-31T23:59:59.999999'"},
        {TYPE_STRING, "\"a\"", true, RANGE_NOTHING, ""},
        {TYPE_LONG, "[1, 2]", true, RANGE_NOTHING, ""},
        {TYPE_DATE, "\"soon\"", true, RANGE_NOTHING, ""},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        Str      literal;
        RangeEnd got = apply_range_end(arena, COLUMN_TYPE(ends[i].type), str_from_c(ends[i].json),
                                       ends[i].is_lower, &literal);

        if (got != ends[i].want) fail_msg("%s", ends[i].json);
        if (got == RANGE_VALUE) assert_str_is(literal, ends[i].literal);
    }
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(a_bound_becomes_a_value_of_silvers_key)};

    return RUN_TESTS(cases);
}
