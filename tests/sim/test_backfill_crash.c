/* A death, or a failure that passes, at every step of a chunked snapshot next to its stream. */
#include "support/test_support.h"

#include "support/backfill.h"
#include "support/story.h"

typedef struct Chunked {
    Story           story;
    StreamOptions   stream;
    BackfillOptions backfill;
    ApplyOptions    apply;
} Chunked;

static Story *open_chunked(void **state)
{
    World   *world = shop_open(state, 1);
    Chunked *all   = ARENA_NEW(world_arena(world), Chunked);

    *all = (Chunked){.story    = {.world = world},
                     .stream   = shop_chunked(),
                     .backfill = shop_backfill(2, 2),
                     .apply    = shop_apply()};
    shop_fill(world, 0, 11);
    return &all->story;
}

/* The source's part is done once, the rest until it works. */
static bool tell(Story *story, size_t part, Process *process)
{
    Chunked       *all = (Chunked *)story;
    BackfillResult result;

    switch (part) {
    case 0:
    case 4: return process_stream(process, &all->stream);
    case 1:
        world_commit(story->world, "UPDATE dbo.orders SET note = 'B' WHERE id IN (2, 7)");
        world_commit(story->world, "DELETE FROM dbo.orders WHERE id IN (3, 8)");
        world_commit(story->world, "INSERT INTO dbo.orders VALUES (-1, 'low'), (40, 'high')");
        return true;
    case 2:
        all->backfill.max_waves = OPT_I64(1);
        return process_backfill(process, &all->backfill, &result);
    case 3:
        world_commit(story->world, "UPDATE dbo.orders SET id = 41 WHERE id = 9");
        world_commit(story->world, "DELETE FROM dbo.orders WHERE id = 0");
        return true;
    case 5:
        all->backfill.max_waves = (OptI64){.is_set = false};
        return process_backfill(process, &all->backfill, &result) &&
               (result.state == BACKFILL_DONE || err_set(&process->err, ERR_STATE, "not done"));
    default: return process_apply(process, &all->apply);
    }
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

static const StoryPlot plot = {
    .open = open_chunked, .parts = 7, .tell = tell, .check = assert_nobody_can_tell};

/* The plan as it is stored; empty before it is. */
static Str stored_plan(World *world)
{
    return world_version(world, PLANS) < 0
               ? STR_EMPTY
               : world_rows(world, "SELECT detail FROM {" PLANS "} WHERE event = 'snapshot_plan'");
}

/* Whatever the rerun would do otherwise: with other connections and another chunk_rows. */
static void run_with(void **state, FaultPlan death, int64_t connections, int64_t chunk_rows)
{
    Story   *story   = story_begin_dying(&plot, state, death);
    Chunked *all     = (Chunked *)story;
    Str      planned = stored_plan(story->world);

    all->backfill.stream.source.num_partitions = connections;
    all->backfill.chunk_rows                   = chunk_rows;
    story_rerun(&plot, story, &death);
    if (planned.len > 0)
        assert_str_is(stored_plan(story->world), str_c(world_arena(story->world), planned));
    world_close(story->world);
}

static void a_death_at_any_step_leaves_no_trace(void **state) /* case A12 */
{
    uint64_t steps = story_count_steps(&plot, state);

    assert_true(steps > 60);
    /* every fourth step: all of them take minutes under sanitizers; TIDELAKE_STRIDE=1 takes all,
     * as tests/e2e/test_histories.sh does */
    for (uint64_t step = test_env_number("TIDELAKE_STEP", 1); step <= steps;
         step += test_env_number("TIDELAKE_STRIDE", 4))
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
