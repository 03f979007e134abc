/* Two processes at once, lives under faults by seed, and the same life twice. */
#include "support/test_support.h"

#include "support/shop.h"

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

/* Log and store alike, byte for byte, Parquet too. */
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
        property_test(of_two_runs_on_one_checkpoint_one_goes_on),
        property_test(whatever_happens_nothing_is_lost_or_doubled),
        property_test(the_same_seed_gives_the_same_run),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
