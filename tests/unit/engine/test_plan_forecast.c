#include "support/test_support.h"

#include "engine/plan_forecast.h"

#include <math.h>

static void a_wave_takes_as_long_as_its_busiest_connection(void **state)
{
    const ReadChunk chunks[] = {
        {0, 1000, 90, 9},                                  /* five waves back: not looked at */
        {1, 100, 1, 2},   {1, 100, 3, 2},  {1, 100, 1, 2}, /* 1 + 1 beside 3 */
        {2, 100, 2, 2},   {3, 50, NAN, 1},                 /* not measured: left out */
        {4, 100, 2, 4},   {4, 100, 4, 4},
    };
    ReadPace pace;

    (void)state;
    pace = plan_read_pace(chunks, COUNT_OF(chunks), 2);
    assert_true(pace.rows == 600);
    assert_true(pace.mb == 16);
    assert_true(pace.seconds == 3 + 2 + 4);
    pace = plan_read_pace(chunks, COUNT_OF(chunks), 1);
    assert_true(pace.seconds == 5 + 2 + 6);
    pace = plan_read_pace(chunks, 0, 1);
    assert_true(pace.rows == 0 && pace.seconds == 0);
}

static void the_rest_is_the_estimate_without_what_was_read(void **state)
{
    static const struct {
        SnapshotRest rest;
        int64_t      left;
    } rows[] = {
        {{10000, 12, 1000, 2, 1800}, 8200},
        {{0, 12, 1000, 2, 2000}, 10000},      /* no estimate: chunks are full */
        {{50000, 12, 1000, 10, 10000}, 2000}, /* rows that came since are the stream's */
        {{5000, 12, 1000, 10, 9000}, 1800},   /* fewer rows than were read already */
        {{10000, 12, 1000, 12, 9000}, 0},     /* nothing is left of the plan */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(plan_rows_left(&rows[i].rest), rows[i].left);
}

static void a_forecast_is_rows_left_over_the_pace(void **state)
{
    SnapshotRest rest     = {10000, 10, 1000, 2, 2000};
    Forecast     forecast = plan_forecast(&rest, &(ReadPace){2000, 10, 4});

    (void)state;
    assert_true(forecast.is_known);
    assert_int_equal(forecast.rows, 8000);
    assert_true(forecast.rows_per_second == 500 && forecast.mb_per_second == 2.5);
    assert_true(forecast.mb == 40 && forecast.seconds == 16);
    assert_false(plan_forecast(&rest, &(ReadPace){0}).is_known);
    rest.chunks_done = 10;
    assert_false(plan_forecast(&rest, &(ReadPace){2000, 10, 4}).is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_takes_as_long_as_its_busiest_connection),
        cmocka_unit_test(the_rest_is_the_estimate_without_what_was_read),
        cmocka_unit_test(a_forecast_is_rows_left_over_the_pace),
    };
    return RUN_TESTS(tests);
}
