/* Zones: offsets through the year, gaps and repeated hours as AT TIME ZONE has them (sqlserver.md
 * 2.11, 1.8). */
#include "support/test_support.h"

#include "base/clock.h"
#include "sim/value/time_zone.h"

#define MINUTE_US INT64_C(60000000)

static int64_t at(const char *text)
{
    int64_t us = 0;
    assert_true(time_parse(str_from_c(text), &us));
    return us;
}

static const SimZone *zone(const char *name)
{
    const SimZone *found = sim_zone_find(str_from_c(name));
    assert_non_null(found);
    return found;
}

static void every_zone_that_is_needed_is_there(void **state)
{
    static const char *const names[] = {"UTC",
                                        "E. South America Standard Time",
                                        "Eastern Standard Time",
                                        "Pacific Standard Time",
                                        "GMT Standard Time",
                                        "W. Europe Standard Time",
                                        "Central European Standard Time",
                                        "Romance Standard Time",
                                        "FLE Standard Time",
                                        "Russian Standard Time",
                                        "India Standard Time",
                                        "Nepal Standard Time",
                                        "AUS Eastern Standard Time",
                                        "Lord Howe Standard Time",
                                        "Tokyo Standard Time"};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_str_is(sim_zone_name(zone(names[i])), names[i]);
    assert_ptr_equal(zone("eastern standard TIME"), zone("Eastern Standard Time"));
    assert_null(sim_zone_find(STR("Europe/Berlin")));
    assert_ptr_equal(sim_zone_utc(), zone("utc"));
    const SimZone *each, *last = NULL;
    for (size_t i = 0; sim_zone_next(&i, &each); last = each)
        assert_true(last == NULL || each != last);
}

typedef struct OffsetCase {
    const char *zone, *utc;
    int         offset;
} OffsetCase;

static void offsets_follow_the_rules(void **state)
{
    static const OffsetCase cases[] = {
        {"UTC", "2026-07-01T12:00:00", 0},
        {"E. South America Standard Time", "2026-01-15T00:00:00", -180},
        {"Eastern Standard Time", "2026-03-08T06:59:59", -300},
        {"Eastern Standard Time", "2026-03-08T07:00:00", -240},
        {"Eastern Standard Time", "2026-11-01T05:59:59", -240},
        {"Eastern Standard Time", "2026-11-01T06:00:00", -300},
        {"Pacific Standard Time", "2026-07-01T12:00:00", -420},
        {"GMT Standard Time", "2026-03-29T00:59:59", 0},
        {"GMT Standard Time", "2026-03-29T01:00:00", 60},
        {"W. Europe Standard Time", "2026-03-29T00:59:59", 60},
        {"W. Europe Standard Time", "2026-10-25T00:59:59", 120},
        {"W. Europe Standard Time", "2026-10-25T01:00:00", 60},
        {"FLE Standard Time", "2026-07-01T00:00:00", 180},
        {"Russian Standard Time", "2026-07-01T00:00:00", 180},
        {"India Standard Time", "2026-07-01T00:00:00", 330},
        {"Nepal Standard Time", "2026-07-01T00:00:00", 345},
        {"AUS Eastern Standard Time", "2026-01-01T00:00:00", 660},
        {"AUS Eastern Standard Time", "2026-04-04T15:59:59", 660},
        {"AUS Eastern Standard Time", "2026-04-04T16:00:00", 600},
        {"AUS Eastern Standard Time", "2026-10-03T16:00:00", 660},
        {"Lord Howe Standard Time", "2026-01-01T00:00:00", 660},
        {"Lord Howe Standard Time", "2026-07-01T00:00:00", 630},
        {"Tokyo Standard Time", "2026-07-01T00:00:00", 540},
    };
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (sim_zone_offset_at_utc(zone(cases[i].zone), at(cases[i].utc)) != cases[i].offset)
            fail_msg("%s at %s: want %d, got %d", cases[i].zone, cases[i].utc, cases[i].offset,
                     sim_zone_offset_at_utc(zone(cases[i].zone), at(cases[i].utc)));
}

/* The test points of 1.8. */
static void utc_becomes_local_time(void **state)
{
    const SimZone *eastern = zone("Eastern Standard Time");
    (void)state;

    assert_int_equal(sim_zone_local_from_utc(eastern, at("2026-11-01T06:30:00")),
                     at("2026-11-01T01:30:00"));
    assert_int_equal(sim_zone_local_from_utc(eastern, at("2026-11-01T05:45:00")),
                     at("2026-11-01T01:45:00"));
    assert_int_equal(sim_zone_local_from_utc(eastern, at("2026-03-08T06:30:00")),
                     at("2026-03-08T01:30:00"));
    assert_int_equal(sim_zone_local_from_utc(eastern, at("2026-07-01T12:00:00")),
                     at("2026-07-01T08:00:00"));
}

static void a_time_in_the_gap_moves_forward(void **state)
{
    int64_t moved;
    (void)state;

    assert_int_equal(
        sim_zone_offset_at_local(zone("Eastern Standard Time"), at("2026-03-08T02:30:00"), &moved),
        -240);
    assert_int_equal(moved, at("2026-03-08T03:30:00"));
    assert_int_equal(sim_zone_offset_at_local(zone("Lord Howe Standard Time"),
                                              at("2026-10-04T02:10:00"), &moved),
                     660);
    assert_int_equal(moved, at("2026-10-04T02:40:00"));
}

static void a_repeated_time_has_the_offset_before_the_change(void **state)
{
    int64_t moved;
    (void)state;

    assert_int_equal(
        sim_zone_offset_at_local(zone("Eastern Standard Time"), at("2026-11-01T01:30:00"), &moved),
        -240);
    assert_int_equal(moved, at("2026-11-01T01:30:00"));
    assert_int_equal(
        sim_zone_offset_at_local(zone("Eastern Standard Time"), at("2026-11-01T02:00:00"), NULL),
        -300);
    assert_int_equal(
        sim_zone_offset_at_local(zone("Lord Howe Standard Time"), at("2026-04-05T01:45:00"), NULL),
        660);
    assert_int_equal(sim_zone_offset_at_local(zone("UTC"), at("2026-04-05T01:45:00"), NULL), 0);
}

static void local_times_lead_back_to_utc(void **state)
{
    const SimZone *each;
    (void)state;

    for (size_t i = 0; sim_zone_next(&i, &each);)
        for (int64_t utc = at("2025-12-30T00:00:00"); utc < at("2027-01-02T00:00:00");
             utc += 30 * MINUTE_US) {
            int64_t local  = sim_zone_local_from_utc(each, utc), meant;
            int     offset = sim_zone_offset_at_local(each, local, &meant);
            assert_int_equal(meant, local); /* nobody lives in a gap */
            int64_t back = local - offset * MINUTE_US;
            assert_true(back == utc || sim_zone_local_from_utc(each, back) == local);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_zone_that_is_needed_is_there),
        cmocka_unit_test(offsets_follow_the_rules),
        cmocka_unit_test(utc_becomes_local_time),
        cmocka_unit_test(a_time_in_the_gap_moves_forward),
        cmocka_unit_test(a_repeated_time_has_the_offset_before_the_change),
        cmocka_unit_test(local_times_lead_back_to_utc),
    };
    return RUN_TESTS(tests);
}
