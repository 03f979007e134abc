/* Comparison of values of any two types (sqlserver.md 2.11). */
#include "support/sim_eval.h"

#include "base/buf.h"

static void assert_order(const char *left, const char *right, int want)
{
    Arena   *arena = arena_new();
    SimValue one, two;
    SimError error;
    int      got = 9;

    assert_true(sim_eval(left, arena, &one, &error));
    assert_true(sim_eval(right, arena, &two, &error));
    if (!sim_compare(&one, &two, &got, &error)) fail_msg("%s ? %s: %s", left, right, error.message);
    if (got != want) fail_msg("%s ? %s: want %d, got %d", left, right, want, got);
    assert_true(sim_compare(&two, &one, &got, &error));
    assert_int_equal(got, -want);
    arena_close(arena);
}

static void assert_incomparable(const char *left, const char *right, int number)
{
    Arena   *arena = arena_new();
    SimValue one, two;
    SimError error;
    int      got = 0;

    assert_true(sim_eval(left, arena, &one, &error));
    assert_true(sim_eval(right, arena, &two, &error));
    assert_false(sim_compare(&one, &two, &got, &error));
    assert_int_equal(error.number, number);
    arena_close(arena);
}

static void numbers_compare_across_types(void **state)
{
    (void)state;
    assert_order("1", "2", -1);
    assert_order("1", "1.0", 0);
    assert_order("1.5", "1.50001", -1);
    assert_order("CAST(9223372036854775807 AS bigint)", "9223372036854775808", -1); /* as numeric */
    assert_order("-9223372036854775809", "CAST(-9223372036854775808 AS bigint)", -1);
    assert_order("$1.5", "1.5", 0);
    assert_order("1e0", "1", 0);
    assert_order("0.1e0", "CAST(0.1 AS real)", -1); /* the real is a little more */
    assert_order("CAST(1 AS bit)", "1", 0);
    assert_order("CAST('12345678901234567890123456789012345678' AS decimal(38,0))",
                 "0.12345678901234567890123456789012345678", 1);
}

static void text_beside_a_number_is_a_number(void **state)
{
    (void)state;
    assert_order("'10'", "9", 1);
    assert_order("'1.5'", "1.5", 0);
    assert_incomparable("'x'", "9", 245);
}

static void text_is_padded(void **state)
{
    (void)state;
    assert_order("'a'", "'a  '", 0);
    assert_order("'a'", "'A'", 0);
    assert_order("'a'", "N'a '", 0);
    assert_order("''", "'  '", 0);
    assert_order("'k1'", "'k10'", -1);
    assert_order("'k10'", "'k2'", -1);
    assert_order("'a' COLLATE Latin1_General_BIN2", "'A'", 1);
    assert_order("'a' COLLATE Greek_CI_AS", "'b'", -1);
    assert_incomparable("'a' COLLATE Greek_CI_AS", "'b' COLLATE Turkish_CI_AS", 468);
}

static void binary_is_padded_with_zeros(void **state)
{
    (void)state;
    assert_order("0x01", "0x0100", 0);
    assert_order("0x", "0x00", 0);
    assert_order("0x01", "0x0101", -1);
    assert_order("0x02", "0x01FF", 1);
    assert_order("CAST(0x02 AS binary(4))", "0x02", 0);
}

static void guids_compare_from_their_last_group(void **state)
{
    (void)state;
    assert_order("CAST('01000000-0000-0000-0000-000000000000' AS uniqueidentifier)",
                 "CAST('00010000-0000-0000-0000-000000000000' AS uniqueidentifier)", -1);
    assert_order("CAST('FFFFFFFF-FFFF-FFFF-FFFF-000000000000' AS uniqueidentifier)",
                 "CAST('00000000-0000-0000-0000-000000000001' AS uniqueidentifier)", -1);
    assert_order("CAST('FFFFFFFF-FFFF-FFFF-0000-000000000000' AS uniqueidentifier)",
                 "CAST('00000000-0000-0000-0001-000000000000' AS uniqueidentifier)", -1);
    assert_order("CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)",
                 "'6f9619ff-8b86-d011-b42d-00c04fc964ff'", 0);
}

static void times_compare_as_the_wider_type(void **state)
{
    (void)state;
    assert_order("CAST('2020-01-01' AS date)", "CAST('2020-01-01T00:00:00' AS datetime)", 0);
    assert_order("CAST('2020-01-01' AS datetime)", "'20200102'", -1);
    assert_order("CAST('2020-01-01T02:00:00 +02:00' AS datetimeoffset)",
                 "CAST('2020-01-01T00:00:00 +00:00' AS datetimeoffset)", 0);
    assert_order("CAST('2020-01-01T00:00:00.003' AS datetime)",
                 "CAST('2020-01-01T00:00:00.0033333' AS datetime2)", 0);
    assert_order("CAST('2020-01-01T00:00:00.003' AS datetime)",
                 "CAST('2020-01-01T00:00:00.003' AS datetime2(3))", 1);
    assert_incomparable("CAST('2020-01-01' AS date)", "1", 206);
    assert_incomparable("CAST('10:00' AS time)", "CAST('2020-01-01' AS date)", 206);
}

static void null_is_below_everything(void **state)
{
    (void)state;
    assert_order("NULL", "-5", -1);
    assert_order("CAST(NULL AS varchar(5))", "''", -1);
    assert_order("NULL", "NULL", 0);
}

static void long_text_and_xml_are_not_compared(void **state)
{
    (void)state;
    assert_incomparable("CAST('a' AS text)", "'a'", 306);
    assert_incomparable("CAST('a' AS ntext)", "'a'", 306);
    assert_incomparable("CAST('<a/>' AS xml)", "'a'", 305);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_compare_across_types),
        cmocka_unit_test(text_beside_a_number_is_a_number),
        cmocka_unit_test(text_is_padded),
        cmocka_unit_test(binary_is_padded_with_zeros),
        cmocka_unit_test(guids_compare_from_their_last_group),
        cmocka_unit_test(times_compare_as_the_wider_type),
        cmocka_unit_test(null_is_below_everything),
        cmocka_unit_test(long_text_and_xml_are_not_compared),
    };
    return RUN_TESTS(tests);
}
