/* A death, or a failure that passes, at every step of a bootstrap, a batch and an apply. */
#include "support/test_support.h"

#include "support/shop.h"

/* One thing that is done after the other; the source's part is done once, the rest until it works. */
typedef struct Story {
    World        *world;
    StreamOptions stream;
    ApplyOptions  apply;
    Lsn           start;
    size_t        at; /* the part that comes next */
} Story;

#define STORY_PARTS 4

static void story_open(Story *story, void **state, uint64_t seed)
{
    *story = (Story){
        .world = shop_open(state, seed), .stream = shop_bootstrap(), .apply = shop_apply()};
    world_commit(story->world, "INSERT INTO dbo.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')");
    story->start = world_max_lsn(story->world);
}

/* Bootstrap, changes, their batch, apply. True when all of it is done. */
static bool story_go_on(Story *story, Process *process)
{
    for (; story->at < STORY_PARTS; story->at++) {
        bool ok = true;
        switch (story->at) {
        case 0: ok = process_stream(process, &story->stream); break;
        case 1:
            world_commit(story->world, "UPDATE dbo.orders SET note = 'B' WHERE id = 2");
            world_commit(story->world, "DELETE FROM dbo.orders WHERE id = 3");
            world_commit(story->world, "INSERT INTO dbo.orders VALUES (4, 'd')");
            break;
        case 2: ok = process_stream(process, &story->stream); break;
        case 3: ok = process_apply(process, &story->apply); break;
        default: break;
        }
        if (!ok) return false;
    }
    return true;
}

static void assert_nobody_can_tell(Story *story)
{
    World *world = story->world;

    assert_silver_is_source(world, "orders", "id, note");
    assert_bronze_is_complete(world, "orders", story->start);
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

static uint64_t count_steps(void **state)
{
    Story    story;
    uint64_t steps;

    story_open(&story, state, 1);
    Process *process = process_open(story.world, "run");
    assert_ok(story_go_on(&story, process), &process->err);
    steps = process->plan.step_count;
    process_close(process);
    assert_nobody_can_tell(&story);
    world_close(story.world);
    return steps;
}

static void a_death_at_any_step_leaves_no_trace(void **state) /* state.md 16.1, 16.2, 16.10 */
{
    uint64_t steps = count_steps(state);

    assert_true(steps > 30);
    for (uint64_t step = 1; step <= steps; step++)
        for (int after = 0; after <= 1; after++) {
            Story story;

            story_open(&story, state, 1);
            Process *process = process_open(story.world, "dying");
            process->plan    = (FaultPlan){
                   .fail_at_step = step, .after_effect = after == 1, .crash = true};
            (void)story_go_on(&story, process); /* a death at the very end may go unseen */
            process_close(process);
            process = process_open(story.world, "rerun");
            if (!story_go_on(&story, process)) {
                print_error("# step %llu, after %d\n", (unsigned long long)step, after);
                assert_ok(false, &process->err);
            }
            process_close(process);
            assert_nobody_can_tell(&story);
            world_close(story.world);
        }
}

static void a_failure_that_passes_is_survived_too(void **state)
{
    uint64_t steps = count_steps(state);

    for (uint64_t step = 1; step <= steps; step += 7)
        for (int after = 0; after <= 1; after++) {
            Story story;

            story_open(&story, state, 1);
            Process *process = process_open(story.world, "failing");
            process->plan    = (FaultPlan){.fail_at_step = step, .after_effect = after == 1};
            if (!story_go_on(&story, process)) { /* the same process may be asked again */
                assert_err(&process->err, ERR_STORE, "injected");
                assert_ok(story_go_on(&story, process), &process->err);
            }
            process_close(process);
            assert_nobody_can_tell(&story);
            world_close(story.world);
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
