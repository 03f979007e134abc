/* Chunked snapshots next to the stream (algorithms.md 4). */
#include "support/test_support.h"

#include "support/backfill.h"

static void fill(World *world, int from, int count)
{
    world_commit(world,
                 "INSERT INTO dbo.orders SELECT value, CONCAT('n', value) FROM "
                 "GENERATE_SERIES(%d, %d)",
                 from, from + count - 1);
}

static void waves_are_read_until_the_snapshot_is_done(void **state) /* T4.3, T4.23, T4.41 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   stream  = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);
    ApplyOptions    apply   = shop_apply();
    BackfillResult  result;

    fill(world, 0, 8);
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

static void open_snapshot(World *world, int count)
{
    StreamOptions stream = shop_chunked();

    fill(world, 0, count);
    (void)world_stream(world, &stream);
}

/* Where the n-th file of bronze's log is. */
static const char *bronze_commit(World *world, int n)
{
    return str_c(world_arena(world),
                 str_printf(world_arena(world), BRONZE "/_delta_log/%020d.json", n));
}

static void assert_done(World *world, const BackfillOptions *options, int64_t rows)
{
    BackfillResult result = world_backfill(world, options);

    assert_int_equal(result.state, BACKFILL_DONE);
    assert_rows(world,
                str_c(world_arena(world), str_printf(world_arena(world), "%lld|%lld\n",
                                                     (long long)rows, (long long)rows)),
                "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "} WHERE _operation = 0");
}

/* What was appended counts, whatever the rerun finds in the table or would read now. */
static void a_wave_that_is_in_is_not_read_again(void **state) /* T4.29 */
{
    static const char *const changes[] = {"INSERT INTO dbo.orders VALUES (-1, 'low')",
                                          "DELETE FROM dbo.orders WHERE id BETWEEN 0 AND 3"};

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        World          *world   = shop_open(state, 1);
        BackfillOptions options = shop_backfill(2, 2);

        open_snapshot(world, 6);
        backfill_crash_at(world, &options, bronze_commit(world, 1), 1, true);
        assert_rows(world, "4\n", "SELECT count(*) FROM {" BRONZE "}");
        assert_rows(world, "0\n",
                    "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_chunk'");
        world_commit(world, "%s", changes[i]);
        options.max_waves     = OPT_I64(1);
        BackfillResult result = world_backfill(world, &options);
        assert_int_equal(result.waves, 1); /* the one behind it; this one was not read */
        assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
        options.max_waves = (OptI64){.is_set = false};
        assert_done(world, &options, 6);
        world_close(world);
    }
}

static void the_history_lost_the_rows_tell(void **state) /* T4.30 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Err             err     = ERR_INIT;

    open_snapshot(world, 6);
    backfill_crash_at(world, &options, bronze_commit(world, 1), 1, true);
    Lsn         stamp = world_max_lsn(world);
    DeltaTable *table = NULL;
    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    assert_ok(delta_table_checkpoint(table, &err), &err);
    delta_table_close(table);
    assert_ok(store_remove(world_store(world), str_from_c(bronze_commit(world, 0)), &err), &err);
    assert_ok(store_remove(world_store(world), str_from_c(bronze_commit(world, 1)), &err), &err);
    options.stream.source.num_partitions = 3;
    options.max_waves                    = OPT_I64(0);
    BackfillResult result                = world_backfill(world, &options);
    assert_int_equal(result.chunks_done, 0); /* a call that may start no wave looks at none */
    options.max_waves = OPT_I64(1);
    result            = world_backfill(world, &options);
    assert_int_equal(result.chunks_done, 3);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
    assert_rows(
        world,
        str_c(world_arena(world), str_printf(world_arena(world), "%s|%s|-|-\n",
                                             lsn_format(stamp).text, lsn_format(stamp).text)),
        "SELECT DISTINCT min_lsn, max_lsn, read_seconds, read_mb FROM {" FACTS
        "} WHERE event = 'snapshot_chunk' AND contains(detail, '\"wave\": 0')");
    world_close(world);
}

/* The wave read ahead began at the wrong chunk: it is dropped, and the next begins behind what is in. */
static void a_wave_read_ahead_of_a_narrower_one_is_dropped(void **state) /* T4.31 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    open_snapshot(world, 10);
    backfill_crash_at(world, &options, bronze_commit(world, 1), 1, true);
    options.stream.source.num_partitions = 3;
    assert_done(world, &options, 10);
    assert_rows(world, "0|0\n1|0\n2|1\n3|1\n4|1\n",
                "SELECT json_extract(detail, '$.chunk')::INT AS c, json_extract(detail, "
                "'$.wave')::INT FROM {" FACTS "} WHERE event = 'snapshot_chunk' ORDER BY c");
    world_close(world);
}

static void an_empty_wave_keeps_the_chunks_it_announced(void **state) /* T4.32 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    open_snapshot(world, 4);
    /* open, batch 0 and the plan are versions 1 to 3 of the facts; the wave's chunks would be 4 */
    backfill_crash_at(world, &options, FACTS "/_delta_log/00000000000000000003.json", 1, true);
    world_commit(world, "DELETE FROM dbo.orders");
    backfill_crash_at(world, &options, FACTS "/_delta_log/00000000000000000004.json", 1, false);
    options.stream.source.num_partitions = 1;
    options.max_waves                    = OPT_I64(1);
    (void)world_backfill(world, &options);
    assert_str_is(shop_chunks(world), "0|0|-|2|0\n1|0|2|4|0\n"); /* both, though N is 1 now */
    options.max_waves = (OptI64){.is_set = false};
    assert_done(world, &options, 0);
    world_close(world);
}

static void the_completion_is_written_by_the_next_call(void **state) /* T4.34 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(4, 2);
    Process        *process = process_open(world, "dying");
    BackfillResult  result;

    open_snapshot(world, 4);
    /* open, batch 0, plan and the wave's rows are versions 1 to 4; the completion would be 5 */
    process->plan = (FaultPlan){
        .fail_at_step         = 1,
        .crash                = true,
        .only_path_containing = STR(FACTS "/_delta_log/00000000000000000005")};
    assert_false(process_backfill(process, &options, &result));
    assert_true(process->plan.has_crashed);
    process_close(process);
    int64_t version = world_version(world, BRONZE);
    result          = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.waves, 0);
    assert_int_equal(world_version(world, BRONZE), version);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'bootstrap'");
    world_close(world);
}

static void a_plan_is_made_once(void **state) /* T4.18 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    open_snapshot(world, 6);
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

    open_snapshot(world, 6);
    process->plan = (FaultPlan){
        .fail_at_step         = 1,
        .crash                = true,
        .only_path_containing = STR(FACTS "/_delta_log/00000000000000000003")};
    assert_false(process_backfill(process, &options, &result));
    assert_true(process->plan.has_crashed);
    process_close(process);
    world_commit(world, "DELETE FROM dbo.orders WHERE id < 4");
    options.chunk_rows = 5;
    assert_done(world, &options, 2);
    assert_rows(world, "3\n",
                "SELECT json_extract(detail, '$.chunk_count')::INT FROM {" FACTS
                "} WHERE event = 'snapshot_plan'");
    world_close(world);
}

static void key_values_stay_out_of_the_facts(void **state) /* T4.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process;
    BackfillResult  result;
    Err             err = ERR_INIT;

    fill(world, 777100, 6);
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

static void one_mode_at_a_time(void **state) /* T4.36b, T4.37 */
{
    World          *world = shop_open(state, 1);
    StreamOptions   full = shop_bootstrap(), chunked = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "stream");
    BackfillResult  result;

    open_snapshot(world, 4);
    assert_false(process_stream(process, &full));
    assert_err(&process->err, ERR_STATE, "a chunked snapshot at LSN 0x");
    assert_err(&process->err, ERR_STATE, "(generation 0)");
    assert_err(&process->err, ERR_STATE, "tidelake backfill");
    process_close(process);
    world_close(world);

    world = shop_open(state, 1);
    fill(world, 0, 4);
    shop_crash_at(world, &full, BRONZE "/part-", false);
    process = process_open(world, "stream");
    assert_false(process_stream(process, &chunked));
    assert_err(&process->err, ERR_STATE, "a full snapshot at LSN 0x");
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_STATE, "a full snapshot at LSN 0x");
    process_close(process);
    (void)world_stream(world, &full);
    StreamResult reused = world_stream(world, &chunked); /* opens nothing */
    assert_true(reused.snapshot.is_set);
    assert_rows(world, "full\n",
                "SELECT DISTINCT json_extract_string(detail, '$.mode') FROM {" FACTS
                "} WHERE event = 'snapshot_open'");
    world_close(world);
}

static void a_pause_file_holds_the_next_wave(void **state) /* T4.56 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Err             err     = ERR_INIT;
    BackfillResult  result;

    open_snapshot(world, 6);
    assert_ok(store_replace(world_store(world), STR(CHECKPOINT "/_tidelake/pause"),
                            str_bytes(STR("")), &err),
              &err);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_PAUSED);
    assert_false(result.chunks_total.is_set);
    assert_true(str_find(result.reason, STR("_tidelake/pause"), 0) >= 0);
    assert_int_equal(world_version(world, BRONZE), -1);
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/_tidelake/pause"), &err), &err);
    assert_done(world, &options, 6);
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
    open_snapshot(world, 6);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_WAITING_METRICS);
    fill(world, 100, 1);
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

static void what_was_opened_on_other_columns_is_not_planned(void **state) /* T4.16, T4.17 */
{
    static const Str note[] = {{"note", 4}}, unknown[] = {{"nope", 4}};
    World           *world   = shop_open(state, 1);
    StreamOptions    stream  = shop_chunked();
    BackfillOptions  options = shop_backfill(2, 2);
    Process         *process = process_open(world, "stream");
    BackfillResult   result;

    fill(world, 0, 6);
    stream.snapshot_keys      = unknown;
    stream.snapshot_key_count = 1;
    assert_false(process_stream(process, &stream));
    assert_err(&process->err, ERR_USAGE, "nope");
    assert_int_equal(world_version(world, PLANS), -1);
    stream.snapshot_keys = note;
    assert_ok(process_stream(process, &stream), &process->err);
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_STATE, "opened cut on note, and this run would cut on id");
    options.stream.snapshot_keys      = note;
    options.stream.snapshot_key_count = 1;
    process_close(process);
    assert_done(world, &options, 6);
    world_close(world);
}

static void a_table_that_was_empty_is_complete(void **state) /* T4.13, case A11 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    StreamOptions   stream  = shop_chunked();
    ApplyOptions    apply   = shop_apply();

    world_commit(world, "CREATE TABLE dbo.other (a int)");
    (void)world_stream(world, &stream);
    fill(world, 0, 3);
    (void)world_stream(world, &stream);
    assert_done(world, &options, 3); /* it reads what is there when it is read */
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(waves_are_read_until_the_snapshot_is_done),
    cmocka_unit_test(a_wave_that_is_in_is_not_read_again),
    cmocka_unit_test(the_history_lost_the_rows_tell),
    cmocka_unit_test(a_wave_read_ahead_of_a_narrower_one_is_dropped),
    cmocka_unit_test(an_empty_wave_keeps_the_chunks_it_announced),
    cmocka_unit_test(the_completion_is_written_by_the_next_call),
    cmocka_unit_test(a_plan_is_made_once),
    cmocka_unit_test(a_plan_that_was_stored_counts),
    cmocka_unit_test(key_values_stay_out_of_the_facts),
    cmocka_unit_test(one_mode_at_a_time),
    cmocka_unit_test(a_pause_file_holds_the_next_wave),
    cmocka_unit_test(the_retention_is_kept_at_a_distance),
    cmocka_unit_test(what_was_opened_on_other_columns_is_not_planned),
    cmocka_unit_test(a_table_that_was_empty_is_complete),
};

int main(void)
{
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
