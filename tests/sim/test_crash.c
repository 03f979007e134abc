/* Deaths at every step, two processes at once, the same run twice, and runs by seed. */
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

static void of_two_runs_on_one_checkpoint_one_goes_on(void **state) /* 2.1 */
{
    FOR_EACH_SEED (seed, 6) {
        World        *world   = shop_open(state, seed);
        StreamOptions options = shop_stream_from(world_max_lsn(world));
        ApplyOptions  apply   = shop_apply();
        Process      *pair[2];
        int           failed = 0;

        options.trigger = TRIGGER_CONTINUOUS;
        for (int i = 0; i < 2; i++) {
            pair[i] = process_open(world, i ? "right" : "left");
            process_spawn_stream(pair[i], &options);
        }
        for (int i = 0; i < 6; i++)
            (void)shop_insert(world, i);
        world_pass_minutes(world, 2);
        for (int i = 0; i < 2; i++)
            cancel_request(pair[i]->cancel);
        for (int i = 0; i < 2; i++) {
            process_join(pair[i]);
            assert_false(pair[i]->ok);
            if (pair[i]->err.code == ERR_CANCELLED) continue;
            assert_err(&pair[i]->err, ERR_STATE, CHECKPOINT);
            failed++;
        }
        assert_int_equal(failed, 1);
        process_close(pair[0]);
        process_close(pair[1]);
        options.trigger = TRIGGER_AVAILABLE_NOW;
        (void)world_stream(world, &options);
        (void)world_apply(world, &apply);
        assert_bronze_ids(world, "0 1 2 3 4 5");
        assert_silver_is_source(world, "orders", "id, note");
        assert_facts_once(world);
        assert_logs_readable(world);
        world_close(world);
    }
}

/* --- by seed --- */

static void change_something(World *world, Rng *rng)
{
    int key = (int)rng_below(rng, 12);

    switch (rng_below(rng, 5)) {
    case 0:
        world_commit(world,
                     "IF NOT EXISTS (SELECT 1 FROM dbo.orders WHERE id = %d) INSERT INTO "
                     "dbo.orders VALUES (%d, 'i')",
                     key, key);
        break;
    case 1: world_commit(world, "DELETE FROM dbo.orders WHERE id = %d", key); break;
    case 2:
        world_commit(world, "UPDATE dbo.orders SET note = 'u%d' WHERE id = %d",
                     (int)rng_below(rng, 100), key);
        break;
    case 3:
        world_commit(world,
                     "BEGIN TRAN; DELETE FROM dbo.orders WHERE id = %d; INSERT INTO dbo.orders "
                     "VALUES (%d, 'again'); COMMIT",
                     key, key);
        break;
    default:
        world_pass_minutes(world, rng_between(rng, 1, 90));
        world_idle(world);
        break;
    }
}

static FaultPlan choose_fault(Rng *rng)
{
    if (rng_below(rng, 3) == 0) return (FaultPlan){.fail_at_step = 0};
    return (FaultPlan){.fail_at_step = 1 + rng_below(rng, 40),
                       .after_effect = rng_below(rng, 2) == 0,
                       .crash        = rng_below(rng, 3) > 0};
}

static void run_once(World *world, Rng *rng, StreamOptions *stream, const ApplyOptions *apply)
{
    static const char *const trouble[] = {"fn_cdc_get_max_lsn", "AS [__$commit_time]",
                                          SIM_SQL_CONNECT};
    Process                 *process   = process_open(world, "run");

    process->plan                 = choose_fault(rng);
    stream->max_commits_per_batch = (int64_t)rng_below(rng, 4);
    if (rng_below(rng, 4) == 0)
        sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect = trouble[rng_below(rng, 3)],
                                                              .skip   = (int)rng_below(rng, 3),
                                                              .times  = 1 + (int)rng_below(rng, 5),
                                                              .sqlstate = "08S01",
                                                              .kills    = rng_below(rng, 2) == 0});
    bool ok = rng_below(rng, 3) > 0 ? process_stream(process, stream)
                                    : process_apply(process, apply);
    if (!ok && process->err.code != ERR_STORE && process->err.code != ERR_SOURCE &&
        process->err.code != ERR_FAILED)
        assert_ok(false, &process->err);
    process_close(process);
}

/* A life of a table under faults; afterwards one run of each without any must catch up. */
static World *live(void **state, uint64_t seed)
{
    World        *world  = shop_open(state, seed);
    Rng          *rng    = rng_new(seed);
    StreamOptions stream = shop_bootstrap();
    ApplyOptions  apply  = shop_apply();
    Lsn           start;

    for (int i = 0; i < 3; i++)
        change_something(world, rng);
    start = LSN_ZERO;
    for (int i = 0; i < 7; i++) {
        if (rng_below(rng, 3) > 0) change_something(world, rng);
        run_once(world, rng, &stream, &apply);
        assert_logs_readable(world); /* with faults on, nothing is ever wrong */
    }
    change_something(world, rng);
    (void)world_stream(world, &stream);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    Str text = world_rows(world, "SELECT coalesce(max(max_lsn), '0x0') FROM {" FACTS
                                 "} WHERE event = 'bootstrap'");
    assert_true(lsn_parse(str_trim(text), &start));
    assert_bronze_is_complete(world, "orders", start);
    assert_facts_once(world);
    assert_logs_readable(world);
    rng_close(rng);
    return world;
}

static void whatever_happens_nothing_is_lost_or_doubled(void **state)
{
    FOR_EACH_SEED (seed, 20)
        world_close(live(state, seed));
}

/* Parquet shows by its length: libduckdb's file metadata is the same, but that is its promise, not
 * ours. */
static void the_same_seed_gives_the_same_run(void **state)
{
    FOR_EACH_SEED (seed, 3) {
        World *first = live(state, seed), *second = live(state, seed);

        Str logs[]   = {world_log_text(first), world_log_text(second)};
        Str stores[] = {world_store_text(first), world_store_text(second)};
        if (!str_equal(logs[0], logs[1]))
            fail_msg("logs differ\n%.*s---\n%.*s", STR_ARG(logs[0]), STR_ARG(logs[1]));
        if (!str_equal(stores[0], stores[1]))
            fail_msg("stores differ\n%.*s---\n%.*s", STR_ARG(stores[0]), STR_ARG(stores[1]));
        world_close(first);
        world_close(second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_death_at_any_step_leaves_no_trace),
        cmocka_unit_test(a_failure_that_passes_is_survived_too),
        property_test(of_two_runs_on_one_checkpoint_one_goes_on),
        property_test(whatever_happens_nothing_is_lost_or_doubled),
        property_test(the_same_seed_gives_the_same_run),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
