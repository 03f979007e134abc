/* A call of backfill: its waves, its limits, what stops it (algorithms.md 4.9 to 4.12, 4.16). */
#include "support/test_support.h"

#include "support/backfill.h"

static void waves_are_read_until_the_snapshot_is_done(void **state) /* T4.3, T4.23, T4.41 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   stream  = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);
    ApplyOptions    apply   = shop_apply();
    BackfillResult  result;

    shop_fill(world, 0, 8);
    StreamResult started = world_stream(world, &stream);
    assert_int_equal(world_version(world, BRONZE), -1); /* nothing of the table was read */
    StreamResult again = world_stream(world, &stream);
    assert_true(lsn_equal(started.snapshot.lsn, again.snapshot.lsn));
    options.max_waves = OPT_I64(0);
    result            = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_RUNNING);
    assert_false(result.chunks_total.is_set);
    options.max_waves = OPT_I64(1);
    result            = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_RUNNING);
    assert_int_equal(result.chunks_done, 2);
    assert_int_equal(result.chunks_total.value, 4);
    world_commit(world, "UPDATE dbo.orders SET note = 'late' WHERE id = 1");
    world_commit(world, "DELETE dbo.orders WHERE id = 6");
    (void)world_stream(world, &stream);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.chunks_done, 4);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n3|1|6|8|1\n");
    int64_t version = world_version(world, BRONZE);
    result          = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(world_version(world, BRONZE), version);
    assert_rows(world, "bootstrap|7\n",
                "SELECT event, \"rows\" FROM {" FACTS "} WHERE event = 'bootstrap'");
    stream.snapshot_chunked = false; /* a full run finds it and reads nothing */
    again                   = world_stream(world, &stream);
    assert_true(lsn_equal(started.snapshot.lsn, again.snapshot.lsn));
    assert_int_equal(world_version(world, BRONZE), version);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

static void key_values_stay_out_of_the_facts(void **state) /* T4.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process;
    BackfillResult  result;
    Err             err = ERR_INIT;

    shop_fill(world, 777100, 6);
    StreamOptions stream = shop_chunked();
    (void)world_stream(world, &stream);
    options.max_waves = OPT_I64(1);
    (void)world_backfill(world, &options);
    assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "} WHERE contains(detail, '7771')");
    assert_rows(world, "1|1|2\n",
                "SELECT count(*) FILTER (event = 'snapshot_open'), count(*) FILTER (event = "
                "'snapshot_plan'), count(*) FILTER (event = 'snapshot_chunk') FROM {" PLANS
                "} WHERE contains(detail, '7771')");
    assert_int_equal(world_line_count(world, "7771"), 0);
    assert_ok(
        store_remove(world_store(world), STR(PLANS "/_delta_log/00000000000000000002.json"), &err),
        &err);
    assert_ok(
        store_remove(world_store(world), STR(PLANS "/_delta_log/00000000000000000003.json"), &err),
        &err);
    options.max_waves = (OptI64){.is_set = false};
    process           = process_open(world, "backfill");
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_STATE, PLANS);
    process_close(process);
    world_close(world);
}

static void a_pause_file_holds_the_next_wave(void **state) /* T4.56 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Err             err     = ERR_INIT;
    BackfillResult  result;

    shop_open_snapshot(world, 6);
    assert_ok(store_replace(world_store(world), STR(CHECKPOINT "/_tidelake/pause"),
                            str_bytes(STR("")), &err),
              &err);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_PAUSED);
    assert_false(result.chunks_total.is_set);
    assert_true(str_find(result.reason, STR("_tidelake/pause"), 0) >= 0);
    assert_int_equal(world_version(world, BRONZE), -1);
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/_tidelake/pause"), &err), &err);
    assert_backfill_done(world, &options, 6);
    world_close(world);
}

static void the_retention_is_kept_at_a_distance(void **state) /* T4.28 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    StreamOptions   stream  = shop_chunked();
    BackfillResult  result;

    options.min_headroom_hours = OPT_DOUBLE(1);
    result                     = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_NO_SNAPSHOT);
    shop_open_snapshot(world, 6);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_WAITING_METRICS);
    shop_fill(world, 100, 1);
    (void)world_stream(world, &stream);
    options.min_headroom_hours = OPT_DOUBLE(1000);
    result                     = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_WAITING_HEADROOM);
    options.min_headroom_hours = OPT_DOUBLE(0.001);
    world_pass_minutes(world, 60);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_WAITING_HEADROOM); /* the row is too old to go by */
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_are_read_until_the_snapshot_is_done),
        cmocka_unit_test(key_values_stay_out_of_the_facts),
        cmocka_unit_test(a_pause_file_holds_the_next_wave),
        cmocka_unit_test(the_retention_is_kept_at_a_distance),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
