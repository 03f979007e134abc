/* A call that died or failed, and the one after it (algorithms.md 4.13). */
#include "support/test_support.h"

#include "support/backfill.h"

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
        assert_int_equal(result.waves, 1); /* the one behind it; this one was not read */
        assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
        options.max_waves = (OptI64){.is_set = false};
        assert_backfill_done(world, &options, 6);
        world_close(world);
    }
}

static void the_history_lost_the_rows_tell(void **state) /* T4.30 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Err             err     = ERR_INIT;

    shop_open_snapshot(world, 6);
    backfill_crash_at(world, &options, BRONZE_COMMIT(1), 1, true);
    Lsn         stamp = world_max_lsn(world);
    DeltaTable *table = NULL;
    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    assert_ok(delta_table_checkpoint(table, &err), &err);
    delta_table_close(table);
    assert_ok(store_remove(world_store(world), STR(BRONZE_COMMIT(0)), &err), &err);
    assert_ok(store_remove(world_store(world), STR(BRONZE_COMMIT(1)), &err), &err);
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
    Process        *process = process_open(world, "dying");
    BackfillResult  result;

    shop_open_snapshot(world, 4);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_that_is_in_is_not_read_again),
        cmocka_unit_test(the_history_lost_the_rows_tell),
        cmocka_unit_test(a_wave_read_ahead_of_a_narrower_one_is_dropped),
        cmocka_unit_test(an_empty_wave_keeps_the_chunks_it_announced),
        cmocka_unit_test(the_completion_is_written_by_the_next_call),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
