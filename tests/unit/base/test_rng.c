#include "support/test_support.h"

#include <pthread.h>

static void the_same_seed_gives_the_same_sequence(void **state)
{
    Rng *left  = rng_new(42);
    Rng *right = rng_new(42);
    Rng *other = rng_new(43);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint64_t value = rng_u64(left);
        assert_true(value == rng_u64(right));
        assert_true(value != rng_u64(other));
    }
    rng_close(left);
    rng_close(right);
    rng_close(other);
    rng_close(NULL);
}

static void known_values_hold_for_ever(void **state)
{
    Rng *rng = rng_new(0);

    (void)state;
    /* xoshiro256** seeded with splitmix64(0): a seed in an issue must repeat after an update. */
    assert_true(rng_u64(rng) == 0x99EC5F36CB75F2B4u);
    assert_true(rng_u64(rng) == 0xBF6E1F784956452Au);
    rng_close(rng);
}

static void bounds_are_kept_and_reached(void **state)
{
    Rng *rng     = rng_new(1);
    bool seen[7] = {false};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        seen[rng_below(rng, 7)] = true;
        int64_t between         = rng_between(rng, -3, 3);
        assert_true(between >= -3);
        assert_true(between <= 3);
        double real = rng_double(rng);
        assert_true(real >= 0);
        assert_true(real < 1);
        assert_int_equal(rng_below(rng, 1), 0);
        assert_int_equal(rng_between(rng, 5, 5), 5);
        (void)rng_between(rng, INT64_MIN, INT64_MAX);
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        assert_true(seen[i]);
    rng_close(rng);
}

static void results_below_a_bound_are_even(void **state)
{
    Rng *rng       = rng_new(2);
    int  counts[3] = {0};

    (void)state;
    /* A bound of 3/4 of 2^64 would favour the lower third if the remainder were taken. */
    uint64_t bound = (uint64_t)3 << 62;
    for (int i = 0; i < 30000; i++)
        counts[rng_below(rng, bound) / ((uint64_t)1 << 62)]++;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        assert_true(counts[i] > 9500);
        assert_true(counts[i] < 10500);
    }
    rng_close(rng);
}

static void uuids_are_of_version_4_and_differ(void **state)
{
    Arena *arena = arena_new();
    Rng   *rng   = rng_new_from_entropy();
    Str    first = rng_uuid4(rng, arena);

    (void)state;
    for (int i = 0; i < 100; i++) {
        Str uuid = rng_uuid4(rng, arena);
        assert_int_equal(uuid.len, 36);
        for (size_t at = 0; at < 36; at++) {
            bool is_hyphen = at == 8 || at == 13 || at == 18 || at == 23;
            assert_int_equal(uuid.ptr[at] == '-', is_hyphen);
            if (!is_hyphen) assert_non_null(strchr("0123456789abcdef", uuid.ptr[at]));
        }
        assert_int_equal(uuid.ptr[14], '4');
        assert_non_null(strchr("89ab", uuid.ptr[19]));
        assert_false(str_equal(first, uuid));
    }
    rng_close(rng);
    arena_close(arena);
}

static void *draw_many(void *arg)
{
    uint64_t sum = 0;

    for (int i = 0; i < 20000; i++)
        sum ^= rng_u64(arg);
    return sum == 0 ? arg : NULL;
}

static void threads_may_share_one(void **state)
{
    Rng      *rng = rng_new(3);
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_many, rng), 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);

    Rng *alone = rng_new(3); /* no draw was lost or doubled */
    for (int i = 0; i < 80000; i++)
        (void)rng_u64(alone);
    assert_true(rng_u64(rng) == rng_u64(alone));
    rng_close(alone);
    rng_close(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_sequence),
        cmocka_unit_test(known_values_hold_for_ever),
        cmocka_unit_test(bounds_are_kept_and_reached),
        cmocka_unit_test(results_below_a_bound_are_even),
        cmocka_unit_test(uuids_are_of_version_4_and_differ),
        cmocka_unit_test(threads_may_share_one),
    };
    return RUN_TESTS(tests);
}
