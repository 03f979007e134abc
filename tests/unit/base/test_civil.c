#include "support/test_support.h"

#include "base/clock.h"

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY    (INT64_C(86400) * US_PER_SECOND)
#define YEAR_1_US     INT64_C(-62135596800000000) /* 0001-01-01T00:00:00 */
#define YEAR_9999_US  INT64_C(253402300799999999) /* 9999-12-31T23:59:59.999999 */

static int64_t parsed(const char *text)
{
    int64_t utc_us = INT64_MIN;

    if (!time_parse(str_from_c(text), &utc_us)) fail_msg("not a time: %s", text);
    return utc_us;
}

static void every_day_of_ten_thousand_years_round_trips(void **state)
{
    int64_t days = civil_days_from_date(1, 1, 1);

    (void)state;
    assert_int_equal(days, YEAR_1_US / US_PER_DAY);
    for (CivilTime date = {1, 1, 1, 0, 0, 0, 0}; date.year <= 9999; days++) {
        CivilTime next = civil_from_us((days + 1) * US_PER_DAY);
        if (civil_days_from_date(date.year, date.month, date.day) != days)
            fail_msg("%04d-%02d-%02d", (int)date.year, (int)date.month, (int)date.day);
        bool is_next = (next.year == date.year && next.month == date.month &&
                        next.day == date.day + 1) ||
                       (next.year == date.year && next.month == date.month + 1 && next.day == 1) ||
                       (next.year == date.year + 1 && next.month == 1 && next.day == 1 &&
                        date.day == 31);
        if (!is_next)
            fail_msg("after %04d-%02d-%02d", (int)date.year, (int)date.month, (int)date.day);
        date = next;
    }
    assert_int_equal(days - 1, YEAR_9999_US / US_PER_DAY);
}

static void leap_years_follow_the_gregorian_rule(void **state)
{
    int64_t out = 0;

    (void)state;
    assert_int_equal(civil_from_us(parsed("2000-02-29T00:00:00")).day, 29);
    assert_int_equal(civil_from_us(parsed("2024-02-29T00:00:00")).day, 29);
    assert_false(time_parse(STR("1900-02-29T00:00:00"), &out));
    assert_false(time_parse(STR("2023-02-29T00:00:00"), &out));
    assert_int_equal(civil_from_us(parsed("1900-02-28T23:59:59") + US_PER_SECOND).month, 3);
}

static void times_before_1970_are_cut_towards_the_past(void **state)
{
    CivilTime civil = civil_from_us(-1);

    (void)state;
    assert_int_equal(civil.year, 1969);
    assert_int_equal(civil.second, 59);
    assert_int_equal(civil.microsecond, 999999);
    assert_int_equal(civil_to_us(civil), -1);
}

static void milliseconds_are_cut_not_rounded(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(time_format_ms(arena, parsed("2026-09-28T13:55:00.9999")),
                  "2026-09-28T13:55:00.999");
    assert_str_is(time_format_ms(arena, 0), "1970-01-01T00:00:00.000");
    assert_str_is(time_format_ms(arena, -1), "1969-12-31T23:59:59.999");
    assert_str_is(time_format_ms(arena, YEAR_1_US), "0001-01-01T00:00:00.000");
    assert_str_is(time_format_us(arena, YEAR_9999_US), "9999-12-31T23:59:59.999999");
    assert_str_is(time_format_seconds_offset(arena, parsed("2026-10-10T03:45:24.9")),
                  "2026-10-10T03:45:24+00:00");
    arena_close(arena);
}

static void every_form_the_peers_write_is_read(void **state)
{
    int64_t base = parsed("2026-09-28T13:55:00");

    (void)state;
    assert_int_equal(parsed("2026-09-28 13:55:00"), base);
    assert_int_equal(parsed("2026-09-28T13:55:00.000"), base);
    assert_int_equal(parsed("2026-09-28T13:55:00Z"), base);
    assert_int_equal(parsed("2026-09-28T13:55:00.5Z"), base + 500000);
    assert_int_equal(parsed("2026-09-28T13:55:00.123456789"), base + 123456); /* cut */
    assert_int_equal(parsed("2026-09-28T15:55:00+02:00"), base);
    assert_int_equal(parsed("2026-09-28T15:55:00+0200"), base);
    assert_int_equal(parsed("2026-09-28T15:55:00+02"), base);
    assert_int_equal(parsed("2026-09-28T08:25:00.000-05:30"), base);
    assert_int_equal(parsed("2026-09-28 15:55:00.1234567 +02:00"),
                     base + 123456); /* datetimeoffset(7) */
    assert_int_equal(parsed("2026-09-29T00:55:00+11:00"), base);
    assert_int_equal(parsed("2026-09-28T13:55:00+00:00"), base);
}

static void anything_else_is_no_time(void **state)
{
    const char *bad[] = {
        "",
        "2026",
        "2026-09-28",
        "2026-09-28T",
        "2026-09-28T13",
        "2026-09-28T13:55",
        "2026-09-28t13:55:00",
        "2026-9-28T13:55:00",
        "26-09-28T13:55:00",
        "2026/09/28T13:55:00",
        "2026-09-28T13:55:00.",
        "2026-09-28T13:55:60",
        "2026-09-28T24:00:00",
        "2026-09-28T13:60:00",
        "2026-00-28T13:55:00",
        "2026-13-28T13:55:00",
        "2026-09-31T13:55:00",
        "2026-09-00T13:55:00",
        "0000-01-01T00:00:00",
        "2026-09-28T13:55:00.1234567890",
        "2026-09-28T13:55:00z",
        "2026-09-28T13:55:00+",
        "2026-09-28T13:55:00+1",
        "2026-09-28T13:55:00+24:00",
        "2026-09-28T13:55:00+01:60",
        "2026-09-28T13:55:00+01:",
        "2026-09-28T13:55:00 ",
        " 2026-09-28T13:55:00",
        "2026-09-28T13:55:00ZZ",
        "2026-09-28T13:55:00+01:00x",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "-026-09-28T13:55:00",
        "2026-09-28  13:55:00",
        "2026-09-28T13:55:0\xD9",
    };
    int64_t out = 7;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (time_parse(str_from_c(bad[i]), &out)) fail_msg("read as a time: %s", bad[i]);
    assert_int_equal(out, 7); /* untouched */
    assert_int_equal(parsed("0001-01-01T00:01:00+00:01"), YEAR_1_US);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_of_ten_thousand_years_round_trips),
        cmocka_unit_test(leap_years_follow_the_gregorian_rule),
        cmocka_unit_test(times_before_1970_are_cut_towards_the_past),
        cmocka_unit_test(milliseconds_are_cut_not_rounded),
        cmocka_unit_test(every_form_the_peers_write_is_read),
        cmocka_unit_test(anything_else_is_no_time),
    };
    return RUN_TESTS(tests);
}
