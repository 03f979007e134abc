/* A death, or a failure that passes, at every step of a bootstrap, a batch and an apply. */
#include "support/test_support.h"

#include "support/shop.h"
#include "support/story.h"

typedef struct Bootstrapping {
    Story         story;
    StreamOptions stream;
    ApplyOptions  apply;
    Lsn           start;
} Bootstrapping;

static Story *open_bootstrapping(void **state)
{
    World         *world = shop_open(state, 1);
    Bootstrapping *all   = ARENA_NEW(world_arena(world), Bootstrapping);

    *all = (Bootstrapping){
        .story = {.world = world}, .stream = shop_bootstrap(), .apply = shop_apply()};
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    all->start = world_max_lsn(world);
    return &all->story;
}

/* Bootstrap, changes, their batch, apply. The source's part is done once, the rest until it works. */
static bool tell(Story *story, size_t part, Process *process)
{
    Bootstrapping *all = (Bootstrapping *)story;

    switch (part) {
    case 0:
    case 2: return process_stream(process, &all->stream);
    case 1:
        world_commit(story->world, "UPDATE dbo.orders SET note = 'B' WHERE id = 2");
        world_commit(story->world, "DELETE FROM dbo.orders WHERE id = 3");
        world_commit(story->world, "INSERT INTO dbo.orders VALUES (4, 'd')");
        return true;
    default: return process_apply(process, &all->apply);
    }
}

static void assert_nobody_can_tell(Story *story)
{
    World *world = story->world;
    Lsn    start = ((Bootstrapping *)story)->start;

    assert_silver_is_source(world, "orders", "id, note");
    assert_bronze_is_complete(world, "orders", start);
    assert_rows(world, "3|3\n",
                "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "} WHERE _operation = 0");
    assert_facts_once(world);
    assert_rows(world, "0|1\n",
                "SELECT string_agg(batch_id::VARCHAR, '|' ORDER BY batch_id) FROM {" FACTS
                "} WHERE event IS NULL");
    assert_rows(world, "2|2\n",
                "SELECT count(*), count(applied_lsn) + count(finalized_until) - 1 FROM {" CONTROL
                "}");
    assert_logs_readable(world);
}

static const StoryPlot plot = {
    .open = open_bootstrapping, .parts = 4, .tell = tell, .check = assert_nobody_can_tell};

static void a_death_at_any_step_leaves_no_trace(void **state) /* state.md 16.1, 16.2, 16.10 */
{
    uint64_t steps = story_count_steps(&plot, state);

    assert_true(steps > 30);
    for (uint64_t step = 1; step <= steps; step++)
        for (int after = 0; after <= 1; after++) {
            FaultPlan death = {.fail_at_step = step, .after_effect = after == 1, .crash = true};
            Story    *story = story_begin_dying(&plot, state, death);

            story_rerun(&plot, story, &death);
            world_close(story->world);
        }
}

static void a_failure_that_passes_is_survived_too(void **state)
{
    uint64_t steps = story_count_steps(&plot, state);

    for (uint64_t step = 1; step <= steps; step += 7)
        for (int after = 0; after <= 1; after++) {
            Story   *story   = open_bootstrapping(state);
            Process *process = process_open(story->world, "failing");

            process->plan = (FaultPlan){.fail_at_step = step, .after_effect = after == 1};
            if (!story_go_on(&plot, story, process)) { /* the same process may be asked again */
                assert_err(&process->err, ERR_STORE, "injected");
                assert_ok(story_go_on(&plot, story, process), &process->err);
            }
            process_close(process);
            assert_nobody_can_tell(story);
            world_close(story->world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_death_at_any_step_leaves_no_trace),
        cmocka_unit_test(a_failure_that_passes_is_survived_too),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
