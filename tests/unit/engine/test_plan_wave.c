#include "support/test_support.h"

#include "engine/plan_wave.h"

static void a_wave_takes_whole_rounds_towards_its_target(void **state) /* T4.24 */
{
    static const struct {
        int64_t connections;
        double  pace, target, rest;
        int64_t chunks;
    } rows[] =
        {
            {4, 75, 300, -1, 16},   {4, 150, 300, -1, 8}, {2, 1000, 2500, -1, 4},
            {2, 500, 2500, 700, 2}, {4, 0, 300, -1, 4},   {4, 10, 0, -1, 4},
            {4, 1, 300, 0, 4} /* the time is up: the caller asks before, a wave is never empty */};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        WavePace pace = {rows[i].pace, rows[i].target, rows[i].rest};
        assert_int_equal(plan_wave_chunks(rows[i].connections, &pace, 1000, 1000), rows[i].chunks);
    }
    assert_int_equal(plan_wave_chunks(4, &(WavePace){1, 300, -1}, 6, 6), 6);
    assert_int_equal(plan_wave_chunks(4, &(WavePace){1e-9, 300, -1}, 1000, 7), 7);
}

static void a_round_is_as_many_chunks_as_connections(void **state)
{
    (void)state;
    assert_true(plan_wave_pace(100, 8, 4) == 50);
    assert_true(plan_wave_pace(100, 9, 4) == 100.0 / 3);
    assert_true(plan_wave_pace(0, 8, 4) == 0);
    assert_true(plan_wave_pace(100, 0, 4) == 0);
}

/* Round trips of a fiftieth of the time that rows take, or the chunks that are left. */
static void a_request_is_as_long_as_its_round_trip_is_worth(void **state)
{
    (void)state;
    assert_int_equal(plan_wave_request(0, 0, 8), 1); /* nothing is known */
    assert_int_equal(plan_wave_request(0.2, 0, 8), 1);
    assert_int_equal(plan_wave_request(0, 5, 8), 1);
    assert_int_equal(plan_wave_request(0.2, 10, 8), 1);
    assert_int_equal(plan_wave_request(0.2, 9.9, 8), 2);
    assert_int_equal(plan_wave_request(0.2, 2.5, 8), 4);
    assert_int_equal(plan_wave_request(0.2, 0.01, 8), 8);
    assert_int_equal(plan_wave_request(0.2, 1e-300, SIZE_MAX / 2), SIZE_MAX / 2);
    assert_int_equal(plan_wave_request(0.001, 30, 8), 1); /* nearby */
    assert_int_equal(plan_wave_request(0.2, 0.01, 1), 1);
    assert_int_equal(plan_wave_request(0.2, 0.01, 0), 0);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(a_wave_takes_whole_rounds_towards_its_target),
        cmocka_unit_test(a_request_is_as_long_as_its_round_trip_is_worth),
        cmocka_unit_test(a_round_is_as_many_chunks_as_connections)};

    return RUN_TESTS(cases);
}
