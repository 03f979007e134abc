/* Dates and times: from text, to text, between each other (sqlserver.md 2.10, 2.11). */
#include "support/sim_eval.h"

#define AS_DATETIME(text) "CONVERT(varchar(40), CAST('" text "' AS datetime), 121)"

static void datetime_holds_ticks_of_a_300th_second(void **state)
{
    (void)state;
    assert_value(AS_DATETIME("2020-01-02T03:04:05.997"), "2020-01-02 03:04:05.997");
    assert_value(AS_DATETIME("2020-01-02T03:04:05.998"), "2020-01-02 03:04:05.997");
    assert_value(AS_DATETIME("2020-01-02T03:04:05.999"), "2020-01-02 03:04:06.000");
    assert_value(AS_DATETIME("2020-01-02T03:04:05.001"), "2020-01-02 03:04:05.000");
    assert_value(AS_DATETIME("2020-01-02T03:04:05.002"), "2020-01-02 03:04:05.003");
    assert_value(AS_DATETIME("2020-01-02T03:04:05.005"), "2020-01-02 03:04:05.007");
    assert_value(AS_DATETIME("2020-12-31T23:59:59.999"), "2021-01-01 00:00:00.000");
    assert_fails("CAST('2020-01-02T03:04:05.1234' AS datetime)", 241);
}

static void datetime_begins_in_1753(void **state)
{
    (void)state;
    assert_value(AS_DATETIME("17530101"), "1753-01-01 00:00:00.000");
    assert_value(AS_DATETIME("99991231 23:59:59.997"), "9999-12-31 23:59:59.997");
    assert_fails("CAST('17521231' AS datetime)", 242);
    assert_fails("CAST(CAST('17521231' AS date) AS datetime)", 242);
    assert_fails("CAST('9999-12-31T23:59:59.999' AS datetime)", 242);
    assert_fails("CAST('2020-02-30' AS datetime)", 242);
    assert_fails("CAST('2020-02-30' AS date)", 241);
    assert_fails("CAST('2079-06-07' AS smalldatetime)", 242);
    assert_fails("CAST('abc' AS smalldatetime)", 295);
    assert_fails("CAST('abc' AS datetime)", 241);
}

static void newer_types_round_to_their_digits(void **state)
{
    (void)state;
    assert_typed("CAST('2020-01-02T03:04:05.1234567' AS datetime2)",
                 "2020-01-02 03:04:05.1234567 datetime2(7)");
    assert_value("CAST('2020-01-02T03:04:05.12345' AS datetime2(4))", "2020-01-02 03:04:05.1235");
    assert_value("CAST('2020-12-31T23:59:59.99999' AS datetime2(3))", "2021-01-01 00:00:00.000");
    assert_value("CAST('9999-12-31T23:59:59.9999999' AS datetime2(0))", "9999-12-31 23:59:59");
    assert_value("CAST('23:59:59.9999' AS time(2))", "00:00:00.00");
    assert_value("CAST('0001-01-01' AS date)", "0001-01-01");
    assert_value("CAST(CAST('2020-01-02T03:04:29.998' AS datetime) AS smalldatetime)",
                 "Jan  2 2020  3:04AM");
    assert_value("CAST(CAST('2020-01-02T03:04:30' AS datetime2(0)) AS smalldatetime)",
                 "Jan  2 2020  3:05AM");
    assert_value("CAST(CAST('2020-01-02T03:04:05.003' AS datetime) AS datetime2(7))",
                 "2020-01-02 03:04:05.0033333");
    assert_fails("CAST('03:04:05.12345678' AS time)", 241);
}

static void offsets_are_kept_beside_the_instant(void **state)
{
    (void)state;
    assert_value("CAST('2020-01-02 03:04:05.12 +02:30' AS datetimeoffset(3))",
                 "2020-01-02 03:04:05.120 +02:30");
    assert_value("CAST('2020-01-02T03:04:05Z' AS datetimeoffset(0))", "2020-01-02 03:04:05 +00:00");
    assert_value(
        "CONVERT(varchar(40), CAST('2020-01-02 01:04:05 +02:30' AS datetimeoffset(0)), 127)",
        "2020-01-01T22:34:05Z");
    assert_value(
        "CONVERT(varchar(40), CAST('2020-01-02 01:04:05.5 -02:30' AS datetimeoffset(1)), 126)",
        "2020-01-02T01:04:05.5-02:30");
    assert_value("CAST(CAST('2020-01-02 01:04:05 +02:30' AS datetimeoffset(0)) AS datetime2(0))",
                 "2020-01-02 01:04:05");
    assert_value("CAST(CAST('2020-01-02 01:04:05' AS datetime2(0)) AS datetimeoffset(0))",
                 "2020-01-02 01:04:05 +00:00");
    assert_fails("CAST('2020-01-02 03:04:05 +14:01' AS datetimeoffset)", 241);
    assert_fails("CAST('0001-01-01 00:00:00 +01:00' AS datetimeoffset)", 241);
    assert_fails("CAST('2020-01-02T03:04:05+02:00' AS datetime)", 241);
}

static void text_is_read_in_many_forms(void **state)
{
    (void)state;
    assert_value("CAST('2020-05-06' AS date)", "2020-05-06");
    assert_value("CAST('20200506' AS date)", "2020-05-06");
    assert_value("CAST('200506' AS date)", "2020-05-06");
    assert_value("CAST('500506' AS date)", "1950-05-06");
    assert_value("CAST('2020' AS date)", "2020-01-01");
    assert_value("CAST('5/6/2020' AS date)", "2020-05-06");
    assert_value("CAST('5.6.49' AS date)", "2049-05-06");
    assert_value("CAST('2020/05/06' AS date)", "2020-05-06");
    assert_value("CAST('May 6 2020' AS date)", "2020-05-06");
    assert_value("CAST('6 May, 2020' AS date)", "2020-05-06");
    assert_value("CAST('2020 May 6' AS date)", "2020-05-06");
    assert_value("CAST('May 2020' AS date)", "2020-05-01");
    assert_value(AS_DATETIME("2020-05-06 3:04PM"), "2020-05-06 15:04:00.000");
    assert_value(AS_DATETIME("12AM May 6 2020"), "2020-05-06 00:00:00.000");
    assert_value(AS_DATETIME("3:04:05:7"), "1900-01-01 03:04:05.007");
    assert_value(AS_DATETIME(""), "1900-01-01 00:00:00.000");
    assert_value("CAST('3 PM' AS time(0))", "15:00:00");
    assert_fails("CAST('2020-5' AS date)", 241);
    assert_fails("CAST('2020-05-06-07' AS date)", 241);
    assert_fails("CAST('Foo 6 2020' AS date)", 241);
    assert_fails("CAST('25:00' AS time)", 241);
    assert_fails("CAST('12:60' AS time)", 241);
    assert_fails("CAST('99999999999' AS date)", 241);
}

static void styles_say_in_which_order_text_is_read(void **state)
{
    (void)state;
    assert_value("CONVERT(date, '05/06/2020', 101)", "2020-05-06");
    assert_value("CONVERT(date, '05/06/2020', 103)", "2020-06-05");
    assert_value("CONVERT(date, '05.06.2020', 104)", "2020-06-05");
    assert_value("CONVERT(date, '20/06/05', 111)", "2020-06-05");
    assert_value("CONVERT(datetime2(0), '2020-01-02T03:04:05', 126)", "2020-01-02 03:04:05");
    assert_value("CONVERT(datetime2(3), '2020-01-02T03:04:05.123', 126)",
                 "2020-01-02 03:04:05.123");
    assert_fails("CONVERT(datetime, '2020-01-02 03:04:05', 126)", 241);
    assert_fails("CONVERT(datetime, '20200102', 126)", 241);
    assert_fails("CONVERT(datetime, '2020-01-02', 99)", 281);
    assert_fails("CONVERT(datetime, '2020-01-02', 130)", SIM_NOT_SUPPORTED);
}

static void styles_say_how_times_are_shown(void **state)
{
    static const struct {
        int         style;
        const char *datetime, *datetime2;
    } cases[] = {
        {0, "Jan  2 2020  3:04PM", "2020-01-02 15:04:05.120"},
        {100, "Jan  2 2020  3:04PM", "Jan  2 2020  3:04PM"},
        {101, "01/02/2020", "01/02/2020"},
        {103, "02/01/2020", "02/01/2020"},
        {104, "02.01.2020", "02.01.2020"},
        {105, "02-01-2020", "02-01-2020"},
        {106, "02 Jan 2020", "02 Jan 2020"},
        {107, "Jan 02, 2020", "Jan 02, 2020"},
        {108, "15:04:05", "15:04:05"},
        {109, "Jan  2 2020  3:04:05:120PM", "Jan  2 2020  3:04:05:120PM"},
        {110, "01-02-2020", "01-02-2020"},
        {111, "2020/01/02", "2020/01/02"},
        {112, "20200102", "20200102"},
        {113, "02 Jan 2020 15:04:05:120", "02 Jan 2020 15:04:05:120"},
        {114, "15:04:05:120", "15:04:05:120"},
        {120, "2020-01-02 15:04:05", "2020-01-02 15:04:05"},
        {121, "2020-01-02 15:04:05.120", "2020-01-02 15:04:05.120"},
        {126, "2020-01-02T15:04:05.120", "2020-01-02T15:04:05.120"},
        {127, "2020-01-02T15:04:05.120", "2020-01-02T15:04:05.120"},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *moment = "'2020-01-02T15:04:05.12'";
        assert_value(str_printf(arena, "CONVERT(varchar(40), CAST(%s AS datetime), %d)", moment,
                                cases[i].style)
                         .ptr,
                     cases[i].datetime);
        assert_value(str_printf(arena, "CONVERT(varchar(40), CAST(%s AS datetime2(3)), %d)", moment,
                                cases[i].style)
                         .ptr,
                     cases[i].datetime2);
    }
    arena_close(arena);
    assert_value("CONVERT(varchar(40), CAST('2020-01-02T03:04:05' AS datetime), 126)",
                 "2020-01-02T03:04:05");
    assert_value("CONVERT(varchar(40), CAST('2020-01-02T03:04:05' AS datetime2(3)), 126)",
                 "2020-01-02T03:04:05"); /* a fraction of zero is left out */
    assert_value("CONVERT(varchar(10), CAST('2020-01-02T03:04:05' AS datetime), 120)",
                 "2020-01-02");
    assert_fails("CONVERT(varchar(40), CAST('2020-01-02' AS date), 99)", 281);
    assert_fails("CONVERT(varchar(40), CAST('2020-01-02' AS date), 131)", SIM_NOT_SUPPORTED);
}

static void datetime_counts_days_since_1900(void **state)
{
    (void)state;
    assert_value("CAST(CAST('2020-01-01' AS datetime) AS int)", "43829");
    assert_value("CAST(CAST('2020-01-01T12:00:00' AS datetime) AS int)", "43830");
    assert_value("CAST(CAST('2020-01-01T18:00:00' AS datetime) AS decimal(9,2))", "43829.75");
    assert_value("CAST(43829.75 AS datetime)", "Jan  1 2020  6:00PM");
    assert_value("CAST(-1 AS datetime)", "Dec 31 1899 12:00AM");
    assert_fails("CAST(1e9 AS datetime)", 8115);
    assert_fails("CAST(1 AS date)", 529);
    assert_fails("CAST(CAST('10:00' AS time) AS date)", 529);
    assert_value("CAST(CAST('10:00' AS time) AS datetime)", "Jan  1 1900 10:00AM");
    assert_value("CAST(CAST('2020-01-01T18:00:00' AS datetime) AS binary(8))",
                 "0x0000AB350128A180");
    assert_value("CAST(0x0000AB350128A180 AS datetime)", "Jan  1 2020  6:00PM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datetime_holds_ticks_of_a_300th_second),
        cmocka_unit_test(datetime_begins_in_1753),
        cmocka_unit_test(newer_types_round_to_their_digits),
        cmocka_unit_test(offsets_are_kept_beside_the_instant),
        cmocka_unit_test(text_is_read_in_many_forms),
        cmocka_unit_test(styles_say_in_which_order_text_is_read),
        cmocka_unit_test(styles_say_how_times_are_shown),
        cmocka_unit_test(datetime_counts_days_since_1900),
    };
    return RUN_TESTS(tests);
}
