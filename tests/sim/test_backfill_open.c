/* Opening a chunked snapshot, and who may (algorithms.md 4.4, 4.7, 4.14). */
#include "support/test_support.h"

#include "support/backfill.h"

static void one_mode_at_a_time(void **state) /* T4.36b, T4.37 */
{
    World          *world = shop_open(state, 1);
    StreamOptions   full = shop_bootstrap(), chunked = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "stream");
    BackfillResult  result;

    shop_open_snapshot(world, 4);
    assert_false(process_stream(process, &full));
    assert_err(&process->err, ERR_STATE, "a chunked snapshot at LSN 0x");
    assert_err(&process->err, ERR_STATE, "(generation 0)");
    assert_err(&process->err, ERR_STATE, "tidelake backfill");
    process_close(process);
    world_close(world);

    world = shop_open(state, 1);
    shop_fill(world, 0, 4);
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

static void what_was_opened_on_other_columns_is_not_planned(void **state) /* T4.16, T4.17 */
{
    static const Str note[] = {{"note", 4}}, unknown[] = {{"nope", 4}};
    World           *world   = shop_open(state, 1);
    StreamOptions    stream  = shop_chunked();
    BackfillOptions  options = shop_backfill(2, 2);
    Process         *process = process_open(world, "stream");
    BackfillResult   result;

    shop_fill(world, 0, 6);
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
    assert_backfill_done(world, &options, 6);
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
    shop_fill(world, 0, 3);
    (void)world_stream(world, &stream);
    assert_backfill_done(world, &options, 3); /* it reads what is there when it is read */
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mode_at_a_time),
        cmocka_unit_test(what_was_opened_on_other_columns_is_not_planned),
        cmocka_unit_test(a_table_that_was_empty_is_complete),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
