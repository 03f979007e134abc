#include "support/test_support.h"

#include "base/buf.h"
#include "engine/plan_batch.h"

/* LSNs as numbers, as the page writes them. */
static Lsn at(unsigned n)
{
    Lsn lsn = LSN_ZERO;

    lsn.bytes[8] = (uint8_t)(n >> 8);
    lsn.bytes[9] = (uint8_t)n;
    return lsn;
}

static unsigned number(Lsn lsn)
{
    return (unsigned)lsn.bytes[8] << 8 | lsn.bytes[9];
}

typedef struct TestTile {
    unsigned last;
    int64_t  rows;
} TestTile;

/* "[1,6] [7,12]" */
static void assert_split(unsigned from, unsigned to, const TestTile *tiles, size_t count,
                         int64_t floor, const char *want)
{
    Arena        *arena = arena_new();
    PlanTile     *plan  = ARENA_ARRAY(arena, PlanTile, count + 1);
    PlannedRange *ranges;
    size_t        range_count;
    Buf           got = buf_new(arena, 0);

    for (size_t i = 0; i < count; i++)
        plan[i] = (PlanTile){.last_lsn  = at(tiles[i].last),
                             .next_lsn  = at(tiles[i].last + 1),
                             .row_count = tiles[i].rows};
    plan_split(at(from), at(to), plan, count, floor, arena, &ranges, &range_count);
    for (size_t i = 0; i < range_count; i++)
        buf_printf(&got, "%s[%u,%u]", i ? " " : "", number(ranges[i].from), number(ranges[i].to));
    assert_str_is(buf_str(&got), want);
    arena_close(arena);
}

static void ranges_close_at_the_floor_and_a_short_tail_joins(void **state) /* T2.5 */
{
    const TestTile example[] = {{2, 4}, {4, 4}, {6, 4}, {8, 4}, {10, 4}, {11, 4}};
    const TestTile tail[]    = {{2, 6}, {4, 6}, {6, 3}};
    const TestTile shared[]  = {{5, 1}, {5, 1}, {9, 1}};

    (void)state;
    assert_split(1, 12, example, COUNT_OF(example), 10, "[1,6] [7,12]");
    assert_split(1, 6, tail, COUNT_OF(tail), 10, "[1,6]");
    assert_split(1, 9, shared, COUNT_OF(shared), 1, "[1,5] [6,9]");
}

static void fewer_rows_than_the_floor_are_one_range(void **state) /* T2.5 */
{
    const TestTile tiles[] = {{2, 4000}, {4, 4000}, {6, 4000}, {8, 4000}};

    (void)state;
    assert_int_equal(RANGE_ROWS_FLOOR, 50000);
    assert_split(1, 8, tiles, COUNT_OF(tiles), RANGE_ROWS_FLOOR, "[1,8]");
    assert_split(1, 8, NULL, 0, RANGE_ROWS_FLOOR, "[1,8]");
    assert_split(7, 7, NULL, 0, RANGE_ROWS_FLOOR, "[7,7]");
}

static void a_last_tile_below_the_floor_joins_the_range_before(void **state) /* T2.6 */
{
    const TestTile tiles[] = {{100, 60000}, {200, 60000}, {300, 60000}, {400, 20000}};

    (void)state;
    assert_split(1, 400, tiles, COUNT_OF(tiles), RANGE_ROWS_FLOOR, "[1,100] [101,200] [201,400]");
}

static void a_commit_of_many_rows_is_a_range_of_its_own(void **state) /* T2.7 */
{
    /* Eight one-row commits 1 to 8, one of eight rows at 9: NTILE(2) has its last row of tile 1 at 8. */
    const TestTile tiles[] = {{8, 8}, {9, 8}};

    (void)state;
    assert_split(1, 9, tiles, COUNT_OF(tiles), 1, "[1,8] [9,9]");
}

/* Whatever the tiles: ranges cover [from, to], touch, and none is empty. */
static void ranges_partition_the_batch(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 2000) {
        Arena        *arena = arena_new();
        Rng          *rng   = rng_new(seed);
        unsigned      from  = (unsigned)rng_between(rng, 1, 50);
        unsigned      to = from + (unsigned)rng_between(rng, 0, 200), last = from;
        size_t        count = (size_t)rng_between(rng, 0, 12), range_count;
        PlanTile     *tiles = ARENA_ARRAY(arena, PlanTile, count + 1);
        PlannedRange *ranges;

        for (size_t i = 0; i < count; i++) {
            last += (unsigned)rng_between(rng, 0, 30);
            last     = MIN(to, last);
            tiles[i] = (PlanTile){.last_lsn  = at(last),
                                  .next_lsn  = at(last + 1),
                                  .row_count = rng_between(rng, 1, 20)};
        }
        plan_split(at(from), at(to), tiles, count, rng_between(rng, 1, 40), arena, &ranges,
                   &range_count);
        assert_true(range_count >= 1 && range_count <= count + 1);
        assert_int_equal(number(ranges[0].from), from);
        assert_int_equal(number(ranges[range_count - 1].to), to);
        for (size_t i = 0; i < range_count; i++) {
            assert_true(number(ranges[i].from) <= number(ranges[i].to));
            if (i) assert_int_equal(number(ranges[i].from), number(ranges[i - 1].to) + 1);
        }
        rng_close(rng);
        arena_close(arena);
    }
}

static void an_end_is_the_smaller_of_target_and_admission(void **state) /* 2.3 */
{
    OptLsn none = {.is_set = false};
    Lsn    end;

    (void)state;
    assert_false(plan_batch_end(at(5), at(5), none, &end));
    assert_int_equal(number(end), 5);
    assert_false(plan_batch_end(at(5), at(4), none, &end)); /* a start above max_lsn waits */
    assert_int_equal(number(end), 5);
    assert_true(plan_batch_end(at(5), at(9), none, &end));
    assert_int_equal(number(end), 9);
    assert_true(plan_batch_end(at(5), at(9), OPT_LSN(at(7)), &end));
    assert_int_equal(number(end), 7);
    assert_true(plan_batch_end(at(5), at(9), OPT_LSN(at(12)), &end));
    assert_int_equal(number(end), 9);
}

static void changes_below_the_low_end_are_lost(void **state) /* 2.5 */
{
    (void)state;
    assert_false(plan_is_lost(at(5), at(5), true));
    assert_true(plan_is_lost(at(5), at(6), true));
    assert_false(plan_is_lost(at(5), LSN_ZERO, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_close_at_the_floor_and_a_short_tail_joins),
        cmocka_unit_test(fewer_rows_than_the_floor_are_one_range),
        cmocka_unit_test(a_last_tile_below_the_floor_joins_the_range_before),
        cmocka_unit_test(a_commit_of_many_rows_is_a_range_of_its_own),
        property_test(ranges_partition_the_batch),
        cmocka_unit_test(an_end_is_the_smaller_of_target_and_admission),
        cmocka_unit_test(changes_below_the_low_end_are_lost),
    };
    return RUN_TESTS(tests);
}
