/* Operators: result types, precision, overflow (sqlserver.md 2.11). */
#include "support/sim_eval.h"

static void integers_keep_the_wider_type_and_truncate(void **state)
{
    (void)state;
    assert_typed("5 / 2", "2 int");
    assert_typed("-5 / 2", "-2 int");
    assert_typed("-5 % 3", "-2 int");
    assert_typed("5 % -3", "2 int");
    assert_typed("CAST(1 AS tinyint) + CAST(1 AS smallint)", "2 smallint");
    assert_typed("CAST(1 AS bit) + 1", "2 int");
    assert_typed("10 & 6", "2 int");
    assert_typed("10 | 5", "15 int");
    assert_typed("10 ^ 3", "9 int");
    assert_typed("0x0F & 6", "6 int");
    assert_fails("2147483647 + 1", 8115);
    assert_fails("CAST(255 AS tinyint) + CAST(1 AS tinyint)", 8115);
    assert_fails("CAST(9223372036854775807 AS bigint) + 1", 8115);
    assert_fails("CAST(-2147483648 AS int) / -1", 8115);
    assert_fails("1 / 0", 8134);
    assert_fails("1 % 0", 8134);
    assert_fails("CAST(1 AS bit) + CAST(1 AS bit)", 8117);
}

static void decimals_follow_the_rules_of_precision(void **state)
{
    (void)state;
    assert_typed("1.5 + 2.25", "3.75 numeric(4,2)");
    assert_typed("1.5 * 2.25", "3.375 numeric(6,3)");
    assert_typed("1 / 3.0", "0.333333 numeric(8,6)");
    assert_typed("2.0 / 3.0", "0.666666 numeric(8,6)"); /* cut, not rounded */
    assert_typed("10.5 / 3", "3.500000 numeric(8,6)");  /* a literal counts by its digits */
    assert_typed("10.5 / CAST(3 AS int)", "3.500000000000 numeric(14,12)");
    assert_typed("7.5 % 2", "1.5 numeric(2,1)");
    assert_typed("-7.5 % 2", "-1.5 numeric(2,1)");
    assert_typed("CAST(1 AS decimal(38,10)) / 3", "0.3333333333 decimal(38,10)");
    assert_typed("CAST(1.23456789012345678901234567890 AS decimal(38,29)) * CAST(9.87654321 AS "
                 "decimal(38,29))",
                 "12.1932631124828532112 decimal(38,19)");
    assert_typed("CAST(1 AS decimal(38,0)) + 0.5", "2 numeric(38,0)");
    assert_typed("CAST('12345678901234567890123456789012345678' AS decimal(38,0)) * 2",
                 "24691357802469135780246913578024691356 decimal(38,0)");
    assert_fails("CAST('99999999999999999999999999999999999999' AS decimal(38,0)) + 1", 8115);
    assert_fails("CAST('99999999999999999999' AS decimal(20,0)) * CAST('99999999999999999999' AS "
                 "decimal(20,0))",
                 8115);
    assert_fails("1.0 / 0", 8134);
}

static void money_and_float_stay_what_they_are(void **state)
{
    (void)state;
    assert_typed("CONVERT(varchar(20), $2 / 3, 2)", "0.6666 varchar(20)");
    assert_typed("$1.5 * $1.5", "2.25 money");
    assert_typed("$1 + 1.5", "2.5000 numeric(20,4)");
    assert_typed("1.5e0 + 1", "2.5 float");
    assert_typed("CAST(1.5 AS real) + 1", "2.5 real");
    assert_fails("1e308 * 10", 8115);
    assert_fails("1e0 / 0", 8134);
    assert_fails("1.5e0 % 2", 402);
    assert_fails("CAST(900000000000000 AS money) + CAST(900000000000000 AS money)", 8115);
}

static void plus_joins_text_and_binary(void **state)
{
    (void)state;
    assert_typed("'a' + 'bc'", "abc varchar(3)");
    assert_typed("N'a' + 'bc'", "abc nvarchar(3)");
    assert_typed("0x01 + 0x02", "0x0102 varbinary(2)");
    assert_typed("'1' + 2", "3 int");
    assert_typed("'1.5' + 2.25", "3.75 numeric(4,2)");
    assert_fails("'a' + 1", 245);
    assert_fails("'a' - 'b'", 8117);
    assert_fails("'a' * N'b'", 402);
    assert_typed("'a' + NULL", "NULL int");
}

static void days_are_added_to_datetime_alone(void **state)
{
    (void)state;
    assert_typed("CAST('2020-01-31' AS datetime) + 1.5", "Feb  1 2020 12:00PM datetime");
    assert_typed("CAST('2020-01-31' AS datetime) - 31", "Dec 31 2019 12:00AM datetime");
    assert_fails("CAST('2020-01-31' AS date) + 1", 206);
    assert_fails("CAST('2020-01-31' AS datetime2) - CAST('2020-01-31' AS datetime2)", 402);
    assert_fails("CAST('2020-01-31' AS datetime) * 2", 8117);
    assert_fails("CAST('9999-12-31' AS datetime) + 1", 8115);
}

static void signs_take_the_whole_product(void **state)
{
    (void)state;
    assert_typed("- 4 / -2 * 3", "0 int"); /* -(4 / -(2 * 3)) */
    assert_typed("-2147483648", "-2147483648 numeric(10,0)");
    assert_typed("-1.5", "-1.5 numeric(2,1)");
    assert_fails("-CAST(-2147483648 AS int)", 8115);
    assert_fails("-CAST(1 AS tinyint)", 8115);
    assert_fails("-CAST(1 AS bit)", 8117);
    assert_fails("-'1'", 8117);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_keep_the_wider_type_and_truncate),
        cmocka_unit_test(decimals_follow_the_rules_of_precision),
        cmocka_unit_test(money_and_float_stay_what_they_are),
        cmocka_unit_test(plus_joins_text_and_binary),
        cmocka_unit_test(days_are_added_to_datetime_alone),
        cmocka_unit_test(signs_take_the_whole_product),
    };
    return RUN_TESTS(tests);
}
