/* CAST and CONVERT between numbers, text, binary and uniqueidentifier (sqlserver.md 2.10, 2.11). */
#include "support/sim_eval.h"

static void numbers_are_cut_or_rounded_as_the_pair_asks(void **state)
{
    (void)state;
    assert_typed("CAST(1.9 AS int)", "1 int");
    assert_typed("CAST(-1.9 AS int)", "-1 int");
    assert_typed("CAST(-1.9e0 AS int)", "-1 int");
    assert_typed("CAST($2.5 AS int)", "3 int");
    assert_typed("CAST(1.005 AS decimal(3,2))", "1.01 decimal(3,2)");
    assert_typed("CAST(-1.005 AS decimal(3,2))", "-1.01 decimal(3,2)");
    assert_typed("CAST(2.5e0 AS decimal(5,0))", "3 decimal(5,0)");
    assert_typed("CONVERT(varchar(20), CAST(1.99995 AS money), 2)", "2.0000 varchar(20)");
    assert_typed("CAST(0.1 AS bit)", "1 bit");
    assert_typed("CAST(0.1e0 AS decimal(38,20))", "0.10000000000000000555 decimal(38,20)");
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_fails("CAST(300 AS tinyint)", 220);
    assert_fails("CAST(-1 AS tinyint)", 220);
    assert_fails("CAST(40000 AS smallint)", 220);
    assert_fails("CAST(2147483648 AS int)", 8115);
    assert_fails("CAST(CAST(2147483648 AS bigint) AS int)", 8115);
    assert_fails("CAST(1e10 AS int)", 232);
    assert_fails("CAST(1e19 AS bigint)", 8115);
    assert_fails("CAST(100000 AS decimal(5,0))", 8115);
    assert_fails("CAST(1e40 AS decimal(38,0))", 8115);
    assert_fails("CAST(1e39 AS real)", 232);
    assert_fails("CAST(300000 AS smallmoney)", 8115);
    assert_value("CAST(-2147483648 AS int)", "-2147483648");
    assert_value("CAST('-9223372036854775808' AS bigint)", "-9223372036854775808");
}

static void text_becomes_a_number_only_when_it_is_one(void **state)
{
    (void)state;
    assert_value("CAST(' 12 ' AS int)", "12");
    assert_value("CAST('-12' AS int)", "-12");
    assert_value("CAST('' AS int)", "0");
    assert_fails("CAST('1.5' AS int)", 245);
    assert_fails("CAST('abc' AS int)", 245);
    assert_fails("CAST('-' AS int)", 245);
    assert_fails("CAST(N'x' AS bigint)", 8114);
    assert_fails("CAST('2147483648' AS int)", 248);
    assert_fails("CAST('256' AS tinyint)", 244);
    assert_fails("CAST('40000' AS smallint)", 244);
    assert_fails("CAST('9223372036854775808' AS bigint)", 8115);
    assert_value("CAST('1.005' AS decimal(5,2))", "1.01");
    assert_value("CAST('-.5' AS decimal(5,2))", "-0.50");
    assert_fails("CAST('' AS decimal(5,2))", 8114);
    assert_fails("CAST('1e5' AS decimal(9,2))", 8114);
    assert_fails("CAST('1000' AS decimal(5,2))", 8115);
    assert_value("CAST('1e5' AS float)", "100000");
    assert_value("CAST('.5' AS float)", "0.5");
    assert_value("CAST('5.' AS float)", "5");
    assert_fails("CAST('x' AS float)", 8114);
    assert_value("CAST('TRUE' AS bit)", "1");
    assert_value("CAST('false' AS bit)", "0");
    assert_fails("CAST('yes' AS bit)", 245);
    assert_value("CONVERT(varchar(20), CAST('-$1,234.5678' AS money), 2)", "-1234.5678");
    assert_fails("CAST('x' AS money)", 235);
}

static void numbers_are_shown_as_their_type_and_style_say(void **state)
{
    (void)state;
    assert_value("CAST(1.50 AS varchar(10))", "1.50");
    assert_value("CAST(-0.05 AS varchar(10))", "-0.05");
    assert_value("CAST(123456.7e0 AS varchar(20))", "123457");
    assert_value("CAST(1234567e0 AS varchar(20))", "1.23457e+006");
    assert_value("CAST(0.00001e0 AS varchar(20))", "1e-005");
    assert_value("CONVERT(varchar(30), 1.5e0, 1)", "1.5000000e+000");
    assert_value("CONVERT(varchar(30), 1.5e0, 2)", "1.500000000000000e+000");
    assert_value("CONVERT(varchar(30), 0.1e0, 3)", "1.0000000000000001e-001");
    assert_value("CONVERT(varchar(30), $1234567.8912)", "1234567.89");
    assert_value("CONVERT(varchar(30), -$234567.8912, 1)", "-234,567.89");
    assert_value("CONVERT(varchar(30), $1234567.8912, 2)", "1234567.8912");
    assert_value("CAST(12345 AS varchar(3))", "*");
    assert_fails("CAST(12345 AS nvarchar(3))", 8115);
    assert_fails("CAST(123.45 AS varchar(3))", 8115);
    assert_fails("CAST(CAST(12345 AS bigint) AS varchar(3))", 8115);
    assert_fails("CAST($12345 AS varchar(3))", 234);
}

static void text_is_cut_padded_and_recoded(void **state)
{
    (void)state;
    assert_typed("CAST('abc' AS varchar(2))", "ab varchar(2)");
    assert_typed("CAST('abc' AS char(5)) + '|'", "abc  | varchar(6)");
    assert_typed("CAST('x' AS varchar)", "x varchar(30)");
    assert_typed("CAST(N'a\xC3\xB1' AS varchar(5))", "a\xC3\xB1 varchar(5)");
    assert_value("CAST(N'\xCE\xB1' AS varchar(5))", "?"); /* no alpha in CP1252 */
    assert_value("CAST(N'\xCE\xB1' COLLATE Greek_CI_AS AS varchar(5))", "\xCE\xB1");
    assert_value("CAST(N'\xC5\x9F' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(1))", "");
    assert_value("CAST(N'\xC5\x9F' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(2))",
                 "\xC5\x9F");
    assert_value("CAST(N'\xF0\x9F\x98\x80' AS varchar(5))", "??");
}

static void hex_has_two_styles_and_no_half_bytes(void **state)
{
    (void)state;
    assert_typed("CONVERT(binary(10), '0x0000002A000001F80003', 1)",
                 "0x0000002A000001F80003 binary(10)");
    assert_typed("CONVERT(char(22), 0x0000002A000001F80003, 1)", "0x0000002A000001F80003 char(22)");
    assert_typed("CONVERT(binary(10), N'0x0000002a000001f80003', 1)",
                 "0x0000002A000001F80003 binary(10)");
    assert_value("CONVERT(varchar(10), 0x1234, 2)", "1234");
    assert_value("CONVERT(varchar(5), 0x1234, 1)", "0x12");
    assert_value("CONVERT(varbinary(10), '1234', 2)", "0x1234");
    assert_value("CONVERT(binary(4), '0x12', 1)", "0x12000000");
    assert_fails("CONVERT(binary(10), '0x123', 1)", 8114);
    assert_fails("CONVERT(binary(10), '0xZZ', 1)", 8114);
    assert_fails("CONVERT(binary(10), '1234', 1)", 8114);
    assert_value("CAST('A' AS varbinary(5))", "0x41");
    assert_value("CAST(N'A' AS varbinary(5))", "0x4100");
    assert_value("CAST(0x41 AS varchar(5))", "A");
}

static void numbers_travel_through_binary(void **state)
{
    (void)state;
    assert_value("CAST(1 AS binary(4))", "0x00000001");
    assert_value("CAST(123456 AS binary(2))", "0xE240");
    assert_value("CAST(-1 AS varbinary(8))", "0xFFFFFFFF");
    assert_value("CAST(1.5 AS varbinary(20))", "0x020100010F000000");
    assert_value("CAST(0xFFFFFFFF AS int)", "-1");
    assert_value("CAST(0x0102 AS int)", "258");
    assert_value("CAST(0x AS int)", "0");
    assert_value("CAST(CAST(-12.345 AS varbinary(20)) AS decimal(5,3))", "-12.345");
    assert_fails("CAST(0x41 AS float)", 529);
}

static void uniqueidentifiers_keep_their_bytes_in_wire_order(void **state)
{
    (void)state;
    assert_value("CAST('6f9619ff-8b86-d011-b42d-00c04fc964ff' AS uniqueidentifier)",
                 "6F9619FF-8B86-D011-B42D-00C04FC964FF");
    assert_value("CAST('{6F9619FF-8B86-D011-B42D-00C04FC964FF}' AS uniqueidentifier)",
                 "6F9619FF-8B86-D011-B42D-00C04FC964FF");
    assert_value(
        "CAST(CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier) AS binary(16))",
        "0xFF19966F868B11D0B42D00C04FC964FF");
    assert_value("CAST(0x01 AS uniqueidentifier)", "00000001-0000-0000-0000-000000000000");
    assert_fails("CAST('6F9619FF' AS uniqueidentifier)", 8169);
    assert_fails("CAST(CAST(0x01 AS uniqueidentifier) AS varchar(30))", 8170);
    assert_fails("CAST(1 AS uniqueidentifier)", 529);
}

static void implicit_conversions_are_fewer(void **state)
{
    SimError error = SIM_ERROR_INIT;
    SimType  money = sim_type(SIM_MONEY), text = sim_type_sized(SIM_VARCHAR, 30),
            day    = sim_type(SIM_DATE);
    SimType number = sim_type(SIM_INT), binary = sim_type_sized(SIM_VARBINARY, 10),
            moment = sim_type(SIM_DATETIME);

    (void)state;
    assert_false(sim_convert_check(&money, &text, true, &error));
    assert_int_equal(error.number, 257);
    assert_true(sim_convert_check(&money, &text, false, &error));
    assert_false(sim_convert_check(&text, &binary, true, &error));
    assert_int_equal(error.number, 257);
    assert_false(sim_convert_check(&number, &day, true, &error));
    assert_int_equal(error.number, 206);
    assert_false(sim_convert_check(&number, &day, false, &error));
    assert_int_equal(error.number, 529);
    assert_true(sim_convert_check(&number, &moment, true, &error));
    assert_false(sim_convert_check(&moment, &number, true, &error));
    assert_true(sim_convert_check(&moment, &number, false, &error));
}

static void null_converts_to_anything(void **state)
{
    (void)state;
    assert_typed("CAST(NULL AS date)", "NULL date");
    assert_typed("CAST(NULL AS decimal(38,0))", "NULL decimal(38,0)");
    assert_typed("CAST(NULL AS uniqueidentifier)", "NULL uniqueidentifier");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_cut_or_rounded_as_the_pair_asks),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(text_becomes_a_number_only_when_it_is_one),
        cmocka_unit_test(numbers_are_shown_as_their_type_and_style_say),
        cmocka_unit_test(text_is_cut_padded_and_recoded),
        cmocka_unit_test(hex_has_two_styles_and_no_half_bytes),
        cmocka_unit_test(numbers_travel_through_binary),
        cmocka_unit_test(uniqueidentifiers_keep_their_bytes_in_wire_order),
        cmocka_unit_test(implicit_conversions_are_fewer),
        cmocka_unit_test(null_converts_to_anything),
    };
    return RUN_TESTS(tests);
}
