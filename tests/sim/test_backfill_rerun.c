/* A call that died or failed, and the one after it (algorithms.md 4.13). */
#include "support/test_support.h"

#include "support/backfill.h"

#include <errno.h>

/* What was appended counts, whatever the rerun finds in the table or would read now. */
static void a_wave_that_is_in_is_not_read_again(void **state) /* T4.29 */
{
    static const char *const changes[] = {"INSERT INTO dbo.orders VALUES (-1, 'low')",
                                          "DELETE FROM dbo.orders WHERE id BETWEEN 0 AND 3"};

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        World          *world   = shop_open(state, 1);
        BackfillOptions options = shop_backfill(2, 2);

        shop_open_snapshot(world, 6);
        backfill_crash_at(world, &options, BRONZE_COMMIT(1), 1, true);
        assert_rows(world, "4\n", "SELECT count(*) FROM {" BRONZE "}");
        assert_rows(world, "0\n",
                    "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_chunk'");
        world_commit(world, "%s", changes[i]);
        options.max_waves     = OPT_I64(1);
        BackfillResult result = world_backfill(world, &options);
        assert_int_equal(result.chunks_done, 2);
        assert_int_equal(result.chunks_total.value, 3);
        assert_rows(world, "4\n", "SELECT count(*) FROM {" BRONZE "}");
        assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n");
        options.max_waves = (OptI64){.is_set = false};
        assert_backfill_done(world, &options, 6);
        assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
        assert_silver_follows(world);
        world_close(world);
    }
}

/* As a clean-up of bronze's log does: the table is the same, its first commits are gone. */
static void lose_history(World *world)
{
    DeltaTable *table = NULL;
    Err         err   = ERR_INIT;

    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    assert_ok(delta_table_checkpoint(table, &err), &err);
    delta_table_close(table);
    assert_ok(store_remove(world_store(world), STR(BRONZE_COMMIT(0)), &err), &err);
    assert_ok(store_remove(world_store(world), STR(BRONZE_COMMIT(1)), &err), &err);
}

static void the_history_lost_the_rows_tell(void **state) /* T4.30 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 6);
    backfill_crash_at(world, &options, BRONZE_COMMIT(1), 1, true);
    Lsn stamp = world_max_lsn(world);
    lose_history(world);
    options.stream.source.num_partitions = 3;
    options.max_waves                    = OPT_I64(0);
    BackfillResult result                = world_backfill(world, &options);
    assert_int_equal(result.chunks_done, 0); /* a call that may start no wave looks at none */
    options.max_waves = OPT_I64(1);
    result            = world_backfill(world, &options);
    assert_int_equal(result.chunks_done, 2); /* not 3, as many as it would read */
    assert_int_equal(result.chunks_total.value, 3);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n");
    assert_rows(
        world,
        str_c(world_arena(world), str_printf(world_arena(world), "%s|%s|-|-\n",
                                             lsn_format(stamp).text, lsn_format(stamp).text)),
        "SELECT DISTINCT min_lsn, max_lsn, read_seconds, read_mb FROM {" FACTS
        "} WHERE event = 'snapshot_chunk' AND contains(detail, '\"wave\": 0')");
    options.max_waves = (OptI64){.is_set = false};
    assert_backfill_done(world, &options, 6);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
    assert_silver_follows(world);
    world_close(world);
}

/* The wave read ahead began at the wrong chunk: it is dropped, and the next begins behind what is in. */
static void a_wave_read_ahead_of_a_narrower_one_is_dropped(void **state) /* T4.31 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 10);
    backfill_crash_at(world, &options, BRONZE_COMMIT(1), 1, true);
    options.stream.source.num_partitions = 3;
    assert_backfill_done(world, &options, 10);
    assert_rows(world, "0|0\n1|0\n2|1\n3|1\n4|1\n",
                "SELECT json_extract(detail, '$.chunk')::INT AS c, json_extract(detail, "
                "'$.wave')::INT FROM {" FACTS "} WHERE event = 'snapshot_chunk' ORDER BY c");
    world_close(world);
}

static void an_empty_wave_keeps_the_chunks_it_announced(void **state) /* T4.32 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 4);
    /* open, batch 0 and the plan are versions 1 to 3 of the facts; the wave's chunks would be 4 */
    backfill_crash_at(world, &options, FACTS "/_delta_log/00000000000000000003.json", 1, true);
    world_commit(world, "DELETE FROM dbo.orders");
    backfill_crash_at(world, &options, FACTS "/_delta_log/00000000000000000004.json", 1, false);
    options.stream.source.num_partitions = 1;
    options.max_waves                    = OPT_I64(1);
    (void)world_backfill(world, &options);
    assert_str_is(shop_chunks(world), "0|0|-|2|0\n1|0|2|4|0\n"); /* both, though N is 1 now */
    options.max_waves = (OptI64){.is_set = false};
    assert_backfill_done(world, &options, 0);
    world_close(world);
}

static void the_completion_is_written_by_the_next_call(void **state) /* T4.34 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(4, 2);
    BackfillResult  result;

    shop_open_snapshot(world, 4);
    /* open, batch 0, plan and the wave's rows are versions 1 to 4; the completion would be 5 */
    backfill_crash_at(world, &options, FACTS_COMMIT(5), 1, false);
    int64_t version = world_version(world, BRONZE);
    result          = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.waves, 0);
    assert_int_equal(world_version(world, BRONZE), version);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'bootstrap'");
    world_close(world);
}

/* Chunk 2 was announced with wave 0 and had no row, so nothing but its plans row knows that it was read: it is read
 * again with wave 1, and each facts row goes with the plans row of its own wave. */
static void an_empty_chunk_at_the_end_of_a_lost_wave_is_read_again(void **state) /* T4.36 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 3);

    shop_open_snapshot(world, 6);
    backfill_crash_at(world, &options, FACTS_COMMIT(3), 1, true); /* planned */
    world_commit(world, "DELETE FROM dbo.orders WHERE id >= 4");
    backfill_crash_at(world, &options, FACTS_COMMIT(4), 1, false);
    lose_history(world);
    world_commit(world, "INSERT INTO dbo.orders VALUES (5, 'again')");
    options.max_waves = OPT_I64(1);
    assert_int_equal(world_backfill(world, &options).chunks_done, 2);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n");
    options.max_waves = (OptI64){.is_set = false};
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|1\n");
    assert_rows(world, "0|0\n1|0\n2|0\n2|1\n",
                "SELECT json_extract(detail, '$.chunk')::INT AS c, json_extract(detail, "
                "'$.wave')::INT AS w FROM {" PLANS
                "} WHERE event = 'snapshot_chunk' ORDER BY c, w");
    assert_chunks_recorded(world);
    assert_chunk_rows_counted(world);
    assert_silver_follows(world);
    world_close(world);
}

/* --- failures of a process that lives on --- */

typedef struct SlowCommit {
    World   *world;
    Process *process;
    int      reads; /* of wave 1, before wave 0 was recorded */
} SlowCommit;

/* The append of wave 0 takes long enough for wave 1's read to fail meanwhile. */
static void take_long(void *arg, uint64_t step, const char *operation, Str path)
{
    SlowCommit *slow = arg;

    (void)step, (void)operation;
    if (str_find(path, STR(BRONZE_COMMIT(1)), 0) >= 0) world_pass_minutes(slow->world, 10);
    if (str_find(path, STR(FACTS_COMMIT(4)), 0) >= 0)
        slow->reads = sim_sql_driver_statements(slow->process->sql, "t.[id] >= 4");
}

static void a_commit_under_way_is_finished_before_a_failed_read_is_told(void **state) /* T4.33 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "failing");
    SlowCommit      slow    = {.world = world, .process = process};
    BackfillResult  result;

    shop_open_snapshot(world, 8);
    sim_sql_driver_add_fault(
        process->sql,
        &(SimSqlFault){.expect = "t.[id] >= 4", .times = 100, .native = 8134, .sqlstate = "22012"});
    process->plan = (FaultPlan){.on_step = take_long, .on_step_arg = &slow};
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_QUERY, "chunk 2 of wave 1");
    process_close(process);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n");
    assert_int_equal(result.chunks_done, 2);
    assert_int_equal(slow.reads, 1); /* so its stamp was taken before that */
    assert_backfill_done(world, &options, 8);
    assert_chunks_recorded(world);
    assert_chunk_rows_counted(world);
    world_close(world);
}

/* What was read ahead and dropped is not left behind. */
static void assert_no_staged_files(World *world)
{
    StoreDeadRuns runs;
    int64_t       held;
    Err           err = ERR_INIT;

    assert_ok(store_staging_sweep(world_store(world), STR(BRONZE), true, world_arena(world), &runs,
                                  &held, &err),
              &err);
    assert_int_equal(runs.count + (size_t)held, 0);
}

static void a_wave_behind_a_failed_commit_is_dropped(void **state)
{
    static const char *const paths[] = {BRONZE_COMMIT(1), PLANS_COMMIT(3), FACTS_COMMIT(4)};

    for (size_t i = 0; i < COUNT_OF(paths); i++)
        for (int after = 0; after <= 1; after++) {
            World          *world   = shop_open(state, 1);
            BackfillOptions options = shop_backfill(2, 2);
            Process        *process = process_open(world, "failing");
            BackfillResult  result;

            shop_open_snapshot(world, 8);
            process->plan = (FaultPlan){.fail_at_step         = 1,
                                        .after_effect         = after == 1,
                                        .error_errno          = ENOSPC, /* not tried again */
                                        .only_path_containing = str_from_c(paths[i])};
            bool ok       = process_backfill(process, &options, &result);
            if (after == 0) { /* else the commit may be found by its contents */
                assert_false(ok);
                assert_err(&process->err, ERR_STORE, "wave 0");
                assert_int_equal(result.chunks_done, 0);
            }
            assert_no_staged_files(world);
            /* the same process may go on */
            if (!ok) assert_ok(process_backfill(process, &options, &result), &process->err);
            assert_int_equal(result.state, BACKFILL_DONE);
            process_close(process);
            assert_chunks_recorded(world);
            assert_chunk_rows_counted(world);
            assert_silver_follows(world);
            world_close(world);
        }
}

/* --- bronze comes, or changes, while wave 0 is appended --- */

typedef struct Meanwhile {
    World *world;
    bool   alters, has_run;
} Meanwhile;

static void let_stream_run(void *arg, uint64_t step, const char *operation, Str path)
{
    Meanwhile *meanwhile = arg;

    (void)step, (void)operation, (void)path;
    if (meanwhile->has_run) return;
    meanwhile->has_run = true;
    world_commit(meanwhile->world, "UPDATE dbo.orders SET note = 'new' WHERE id = 1");
    (void)shop_run_chunked(meanwhile->world);
    if (meanwhile->alters) world_set_property(meanwhile->world, BRONZE, "owner", "somebody");
}

static void bronze_may_come_while_a_wave_is_appended(void **state) /* T4.35 */
{
    static const char *const paths[] = {BRONZE_COMMIT(0), BRONZE_COMMIT(1)};

    for (size_t i = 0; i < 2 * COUNT_OF(paths); i++) {
        World          *world     = shop_open(state, 1);
        BackfillOptions options   = shop_backfill(2, 2);
        Process        *process   = process_open(world, "backfill");
        Meanwhile       meanwhile = {.world = world, .alters = i >= 2};
        BackfillResult  result;

        shop_open_snapshot(world, 4);
        process->plan = (FaultPlan){.only_path_containing = str_from_c(paths[i % 2]),
                                    .on_step              = let_stream_run,
                                    .on_step_arg          = &meanwhile};
        assert_ok(process_backfill(process, &options, &result), &process->err);
        assert_true(meanwhile.has_run);
        assert_int_equal(result.state, BACKFILL_DONE);
        process_close(process);
        assert_rows(world, "0 0 0 0 3 4\n",
                    "SELECT string_agg(_operation::VARCHAR, ' ' ORDER BY _operation) FROM {" BRONZE
                    "}");
        assert_chunk_rows_counted(world);
        assert_silver_follows(world);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_that_is_in_is_not_read_again),
        cmocka_unit_test(the_history_lost_the_rows_tell),
        cmocka_unit_test(a_wave_read_ahead_of_a_narrower_one_is_dropped),
        cmocka_unit_test(an_empty_wave_keeps_the_chunks_it_announced),
        cmocka_unit_test(the_completion_is_written_by_the_next_call),
        cmocka_unit_test(an_empty_chunk_at_the_end_of_a_lost_wave_is_read_again),
        cmocka_unit_test(a_commit_under_way_is_finished_before_a_failed_read_is_told),
        cmocka_unit_test(a_wave_behind_a_failed_commit_is_dropped),
        cmocka_unit_test(bronze_may_come_while_a_wave_is_appended),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
