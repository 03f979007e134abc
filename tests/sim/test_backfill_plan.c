/* Plans of chunked snapshots in the tables and at the source (algorithms.md 4.6 to 4.8). */
#include "support/test_support.h"

#include "support/backfill.h"

static void a_plan_is_made_once(void **state) /* T4.18 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 6);
    options.max_waves = OPT_I64(1);
    (void)world_backfill(world, &options);
    options               = shop_backfill(5, 2);
    options.max_waves     = OPT_I64(1);
    BackfillResult result = world_backfill(world, &options);
    assert_int_equal(result.chunks_total.value, 3);
    assert_int_equal(world_line_count(world, "planned with another chunk_rows"), 1);
    world_close(world);
}

static void a_plan_that_was_stored_counts(void **state) /* T4.20 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "dying");
    BackfillResult  result;

    shop_open_snapshot(world, 6);
    process->plan = (FaultPlan){
        .fail_at_step         = 1,
        .crash                = true,
        .only_path_containing = STR(FACTS "/_delta_log/00000000000000000003")};
    assert_false(process_backfill(process, &options, &result));
    assert_true(process->plan.has_crashed);
    process_close(process);
    world_commit(world, "DELETE FROM dbo.orders WHERE id < 4");
    options.chunk_rows = 5;
    assert_backfill_done(world, &options, 2);
    assert_rows(world, "3\n",
                "SELECT json_extract(detail, '$.chunk_count')::INT FROM {" FACTS
                "} WHERE event = 'snapshot_plan'");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_made_once),
        cmocka_unit_test(a_plan_that_was_stored_counts),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
