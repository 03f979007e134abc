/* A death, or a failure that passes, at every step of a chunked snapshot next to its stream. */
#include "support/test_support.h"

#include "support/backfill.h"

/* One thing that is done after the other; the source's part is done once, the rest until it works. */
typedef struct Story {
    World          *world;
    StreamOptions   stream;
    BackfillOptions backfill;
    ApplyOptions    apply;
    size_t          at; /* the part that comes next */
} Story;

#define STORY_PARTS 7

static void story_open(Story *story, void **state, uint64_t seed)
{
    *story = (Story){.world    = shop_open(state, seed),
                     .stream   = shop_chunked(),
                     .backfill = shop_backfill(2, 2),
                     .apply    = shop_apply()};
    world_commit(story->world, "INSERT INTO dbo.orders SELECT value, CONCAT('n', value) FROM "
                               "GENERATE_SERIES(0, 10)");
}

static bool story_go_on(Story *story, Process *process)
{
    BackfillResult result;

    for (; story->at < STORY_PARTS; story->at++) {
        bool ok = true;
        switch (story->at) {
        case 0: ok = process_stream(process, &story->stream); break;
        case 1:
            world_commit(story->world, "UPDATE dbo.orders SET note = 'B' WHERE id IN (2, 7)");
            world_commit(story->world, "DELETE FROM dbo.orders WHERE id IN (3, 8)");
            world_commit(story->world, "INSERT INTO dbo.orders VALUES (-1, 'low'), (40, 'high')");
            break;
        case 2:
            story->backfill.max_waves = OPT_I64(1);
            ok                        = process_backfill(process, &story->backfill, &result);
            break;
        case 3:
            world_commit(story->world, "UPDATE dbo.orders SET id = 41 WHERE id = 9");
            world_commit(story->world, "DELETE FROM dbo.orders WHERE id = 0");
            break;
        case 4: ok = process_stream(process, &story->stream); break;
        case 5:
            story->backfill.max_waves = (OptI64){.is_set = false};
            ok                        = process_backfill(process, &story->backfill, &result) &&
                 (result.state == BACKFILL_DONE || err_set(&process->err, ERR_STATE, "not done"));
            break;
        case 6: ok = process_apply(process, &story->apply); break;
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
    assert_chunk_rows_counted(world);
    assert_chunks_recorded(world);
    /* no stamp below S */
    assert_rows(world, "0\n",
                "SELECT count(*) FROM {" BRONZE
                "} WHERE _operation = 0 AND _start_lsn < _snapshot");
    assert_facts_once(world);
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

/* The plan as it is stored; empty before it is. */
static Str stored_plan(World *world)
{
    return world_version(world, PLANS) < 0
               ? STR_EMPTY
               : world_rows(world, "SELECT detail FROM {" PLANS "} WHERE event = 'snapshot_plan'");
}

/* Whatever the rerun would do otherwise: with other connections and another chunk_rows. */
static void run_with(void **state, FaultPlan plan, int64_t connections, int64_t chunk_rows)
{
    Story story;

    story_open(&story, state, 1);
    Process *process = process_open(story.world, "dying");
    process->plan    = plan;
    (void)story_go_on(&story, process); /* a death at the very end may go unseen */
    process_close(process);
    Str planned                                 = stored_plan(story.world);
    process                                     = process_open(story.world, "rerun");
    story.backfill.stream.source.num_partitions = connections;
    story.backfill.chunk_rows                   = chunk_rows;
    if (!story_go_on(&story, process)) {
        print_error("# step %llu, after %d\n", (unsigned long long)plan.fail_at_step,
                    plan.after_effect);
        assert_ok(false, &process->err);
    }
    process_close(process);
    assert_nobody_can_tell(&story);
    if (planned.len > 0)
        assert_str_is(stored_plan(story.world), str_c(world_arena(story.world), planned));
    world_close(story.world);
}

static void a_death_at_any_step_leaves_no_trace(void **state) /* case A12 */
{
    uint64_t steps = count_steps(state);

    assert_true(steps > 60);
    /* every second step: all of them take minutes under sanitizers; TIDELAKE_STRIDE=1 takes all */
    for (uint64_t step = test_env_number("TIDELAKE_STEP", 1); step <= steps;
         step += test_env_number("TIDELAKE_STRIDE", 2))
        for (int after = 0; after <= 1; after++)
            run_with(state,
                     (FaultPlan){.fail_at_step = step, .after_effect = after == 1, .crash = true},
                     1 + (int64_t)(step % 3), 2 + (int64_t)(step / 3 % 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_death_at_any_step_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
