/* A small history of a chunked bootstrap, with a death at each step of it. */
#include "support/test_support.h"

#include "support/history.h"

/* A history with large rows, small enough to die at each step of its stores, before it takes effect and after; at every
 * second all die. Step n is seed n. Every fourth one: all of them take minutes under sanitizers; TIDELAKE_STRIDE=1, as tests/e2e has it,
 * takes all. */
static void a_death_at_every_step_ends_well(void **state)
{
    HistoryCounts  counts  = {0};
    uint64_t       steps   = 0;
    uint64_t       stride  = test_env_number("TIDELAKE_STRIDE", 4);
    HistoryOptions options = {.source_seed     = 2,
                              .cut_seed        = 2,
                              .without_faults  = true,
                              .with_large_rows = true,
                              .steps_out       = &steps};

    (void)history_live(state, &options, NULL, &counts);
    assert_true(steps > 50);
    options.steps_out = NULL;
    FOR_EACH_SEED (step, steps) {
        if (step % stride != 0) continue;
        for (int after = 0; after <= 1; after++) {
            options.die_at     = step;
            options.dies_after = after == 1;
            (void)history_live(state, &options, NULL, &counts);
        }
    }
    history_print_counts(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(a_death_at_every_step_ends_well),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
