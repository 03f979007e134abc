/* Who has a lane, what stays asked on it, and the stamp that allows (algorithms.md 4.11). */
#include "support/test_support.h"

#include "engine/wave_lanes.h"

typedef struct Fixture {
    Arena     *arena;
    Clock     *clock;
    Sched     *sched;
    WaveLanes *lanes;
} Fixture;

static int setup(void **state)
{
    Fixture *fixture = calloc(1, sizeof(*fixture));

    fixture->arena = arena_new();
    fixture->sched = sched_new_simulated(7, INT64_C(1790000000000000), &fixture->clock);
    fixture->lanes = wave_lanes_new(fixture->sched, 2, fixture->arena);
    *state         = fixture;
    return 0;
}

static int teardown(void **state)
{
    Fixture *fixture = *state;

    wave_lanes_close(fixture->lanes);
    sched_close(fixture->sched);
    arena_close(fixture->arena);
    free(fixture);
    return 0;
}

/* A request that counts how often it was given up. */
typedef struct Request {
    RowStream stream;
    int       closed;
} Request;

static void close_request(RowStream *stream)
{
    ((Request *)stream)->closed++;
}

static Request request(void)
{
    return (Request){.stream = {.close = close_request}};
}

static Offset stamp(unsigned char last)
{
    Offset offset = {.lsn = LSN_ZERO};

    offset.lsn.bytes[LSN_BYTES - 1] = last;
    return offset;
}

static void assert_stamp(WaveLanes *lanes, unsigned char last)
{
    Offset got, want = stamp(last);

    assert_true(wave_lanes_stamp(lanes, &got));
    assert_true(lsn_equal(got.lsn, want.lsn));
}

static void set_stamp(WaveLanes *lanes, unsigned char last)
{
    Offset offset = stamp(last);

    wave_lanes_set_stamp(lanes, &offset);
}

static void what_was_asked_ahead_stays_where_the_next_wave_begins(void **state)
{
    Fixture  *fixture = *state;
    WaveLane *lane    = wave_lane_at(fixture->lanes, 0);
    Request   ahead   = request();

    wave_lanes_keep(fixture->lanes, 3);
    wave_lane_take(lane);
    lane->rows = &ahead.stream;
    wave_lane_give(fixture->lanes, 0, 3);
    assert_int_equal(ahead.closed, 0);
    wave_lane_take(lane);
    assert_ptr_equal(lane->rows, &ahead.stream);
    wave_lane_give(
        fixture->lanes, 0,
        4); /* through with the next one too, and that is not the wave that is followed */
    assert_int_equal(ahead.closed, 1);
    assert_null(lane->rows);
}

static void nothing_stays_when_the_next_wave_has_to_wait(void **state)
{
    Fixture *fixture = *state;
    Request  free = request(), busy = request(), unasked = request();

    wave_lanes_keep(fixture->lanes, 0);
    wave_lane_take(wave_lane_at(fixture->lanes, 0));
    wave_lane_take(wave_lane_at(fixture->lanes, 1));
    wave_lane_at(fixture->lanes, 0)->rows = &free.stream;
    wave_lane_at(fixture->lanes, 1)->rows = &busy.stream;
    wave_lane_give(fixture->lanes, 0, 0);
    assert_int_equal(free.closed, 0);
    wave_lanes_let_go(fixture->lanes, 0);
    assert_int_equal(free.closed, 1);
    assert_int_equal(busy.closed, 0); /* somebody reads on it */
    wave_lane_give(fixture->lanes, 1, 0);
    assert_int_equal(busy.closed, 1);

    wave_lane_take(wave_lane_at(fixture->lanes, 0));
    wave_lane_at(fixture->lanes, 0)->rows = &unasked.stream;
    wave_lane_give(fixture->lanes, 0, 1);
    assert_int_equal(unasked.closed, 1);
}

/* What is begun is read on one lane: the next wave was read before, or is narrower. */
static void a_lane_that_the_next_wave_does_not_read_keeps_nothing(void **state)
{
    Fixture *fixture = *state;
    Request  read = request(), free = request(), late = request();

    wave_lanes_keep(fixture->lanes, 0);
    for (size_t i = 0; i < 2; i++)
        wave_lane_take(wave_lane_at(fixture->lanes, i));
    wave_lane_at(fixture->lanes, 0)->rows = &read.stream;
    wave_lane_at(fixture->lanes, 1)->rows = &free.stream;
    wave_lane_give(fixture->lanes, 0, 0);
    wave_lane_give(fixture->lanes, 1, 0);
    wave_lanes_let_go(fixture->lanes, 1);
    assert_int_equal(read.closed, 0);
    assert_int_equal(free.closed, 1);
    wave_lane_take(wave_lane_at(fixture->lanes, 1)); /* as one that was not through yet */
    wave_lane_at(fixture->lanes, 1)->rows = &late.stream;
    wave_lane_give(fixture->lanes, 1, 0);
    assert_int_equal(late.closed, 1);
    wave_lanes_let_go(fixture->lanes, 0);
    assert_int_equal(read.closed, 1);
}

/* The store, or the source, keeps the next wave waiting. */
static void a_lane_keeps_nothing_for_longer_than_a_second(void **state)
{
    for (int64_t ms = 500; ms <= 1500; ms += 1000) {
        Fixture  *fixture = *state;
        WaveLane *lane    = wave_lane_at(fixture->lanes, 0);
        Request   ahead   = request();

        wave_lanes_keep(fixture->lanes, 0);
        wave_lane_take(lane);
        lane->rows = &ahead.stream;
        wave_lane_give(fixture->lanes, 0, 0);
        wave_lanes_begin_wait(fixture->lanes);
        clock_sleep_ms(fixture->clock, ms, NULL);
        assert_int_equal(ahead.closed, ms > 1000);
        wave_lanes_end_wait(fixture->lanes);
        assert_int_equal(ahead.closed, ms > 1000);
        wave_lanes_let_go(fixture->lanes, 0);
    }
}

static void a_stamp_is_no_newer_than_what_was_asked_under_it(void **state)
{
    Fixture  *fixture = *state;
    Offset    none;
    Request   ahead = request();
    WaveLane *lane  = wave_lane_at(fixture->lanes, 1);

    assert_false(wave_lanes_stamp(fixture->lanes, &none));
    set_stamp(fixture->lanes, 5);
    assert_stamp(fixture->lanes, 5);
    wave_lane_take(lane);
    lane->rows = &ahead.stream;
    wave_lane_note_ahead(fixture->lanes, lane);
    set_stamp(fixture->lanes, 8);
    assert_stamp(fixture->lanes, 5);
    wave_lane_drop(lane); /* read to its end, or given up */
    assert_stamp(fixture->lanes, 8);
    wave_lane_note_ahead(fixture->lanes, lane);
    assert_stamp(fixture->lanes, 8);
    set_stamp(fixture->lanes,
              6); /* the source was set back: what is read now may be as old as that */
    assert_stamp(fixture->lanes, 6);
    wave_lane_give(fixture->lanes, 1, 0);
}

typedef struct Turns {
    WaveLane *lane;
    int       taken;
} Turns;

static void take_turn(void *arg)
{
    Turns *turns = arg;

    wave_lane_take(turns->lane);
    turns->taken++;
}

static void a_lane_is_one_readers(void **state)
{
    Fixture *fixture = *state;
    Turns    turns   = {.lane = wave_lane_at(fixture->lanes, 0)};
    Task    *next;

    wave_lane_take(turns.lane);
    next = sched_spawn(fixture->sched, "next wave", take_turn, &turns);
    clock_sleep_ms(fixture->clock, 1000, NULL);
    assert_int_equal(turns.taken, 0);
    wave_lane_give(fixture->lanes, 0, 0);
    sched_join(fixture->sched, next);
    assert_int_equal(turns.taken, 1);
    wave_lane_give(fixture->lanes, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_asked_ahead_stays_where_the_next_wave_begins,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_stays_when_the_next_wave_has_to_wait, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_lane_that_the_next_wave_does_not_read_keeps_nothing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_lane_keeps_nothing_for_longer_than_a_second, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_stamp_is_no_newer_than_what_was_asked_under_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_lane_is_one_readers, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
