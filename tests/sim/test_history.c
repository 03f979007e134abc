/* Bootstrap in chunks with stream, backfill, apply and verdict as tasks of one history, by seed. */
#include "support/test_support.h"

#include "support/history.h"

/* Other batches, waves and calls for the same transactions: the same silver. */
static void compare_with_other_cuts(void **state, uint64_t seed, Str silver, Arena *arena)
{
    HistoryCounts  counts = {0};
    HistoryOptions other  = {.source_seed = seed, .cut_seed = seed + 1000003};

    if (!str_equal(history_live(state, &other, arena, &counts), silver))
        fail_msg("seed %" PRIu64 ": silver is another with other cuts", seed);
}

/* tests/soak/history runs 5,000 seeds; TIDELAKE_SEED=17 TIDELAKE_SEED_COUNT=1 repeats one. Of the 300 of CI the
 * sanitized build, which takes three times as long for each, runs the first 30; tests/e2e/test_histories.sh has the rest. */
static void silver_is_the_source_whatever_happens(void **state)
{
    HistoryCounts counts = {0};

    FOR_EACH_SEED (seed, 30) {
        bool           has_twin = seed % 16 == 0 && !history_is_swept(seed);
        Arena         *arena    = arena_new();
        HistoryOptions options  = {.source_seed = seed, .cut_seed = seed};
        Str            silver   = history_live(state, &options, has_twin ? arena : NULL, &counts);

        if (has_twin) compare_with_other_cuts(state, seed, silver, arena);
        arena_close(arena);
    }
    history_print_counts(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(silver_is_the_source_whatever_happens),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
