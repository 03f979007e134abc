/* The period that holds a time, and what is final by it (algorithms.md 8). */
#include "support/test_support.h"

#include "engine/verdict.h"

#define MINUTE_US INT64_C(60000000)

static void a_verdict_never_passes_the_time_it_comes_from(void **state) /* T8.1 */
{
    static const int64_t lengths[] = {MINUTE_US, 60 * MINUTE_US, 24 * 60 * MINUTE_US};

    (void)state;
    FOR_EACH_SEED (seed, 10000) {
        Rng    *rng     = rng_new(seed);
        int64_t least   = civil_to_us((CivilTime){1, 1, 2, 0, 0, 0, 0});
        int64_t most    = civil_to_us((CivilTime){9999, 12, 31, 23, 59, 59, 999999});
        int64_t time_us = rng_between(rng, least, most), later_us = rng_between(rng, time_us, most);
        int64_t finer = time_us;

        if (rng_below(rng, 4) == 0) time_us -= ((time_us % lengths[1]) + lengths[1]) % lengths[1];
        finer = time_us;
        for (int g = GRANULARITY_MINUTE; g <= GRANULARITY_DAY; g++) {
            int64_t      start     = granularity_truncate((Granularity)g, time_us);
            VerdictState state_now = {.row = {.exists = true, .finalized_until = OPT_TIME(start)}};

            assert_true(start <= time_us && time_us - start < lengths[g]);
            assert_true(start % lengths[g] == 0);
            assert_int_equal(granularity_truncate((Granularity)g, start), start);
            assert_true(granularity_truncate((Granularity)g, later_us) >= start);
            assert_true(start <= finer); /* a coarser period starts no later */
            finer = start;
            assert_true(verdict_is_final(&state_now, start));
            assert_false(verdict_is_final(&state_now, start + 1));
            if (time_us > start) assert_false(verdict_is_final(&state_now, time_us));
        }
        rng_close(rng);
    }
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        property_test(a_verdict_never_passes_the_time_it_comes_from)};

    return RUN_TESTS(cases);
}
