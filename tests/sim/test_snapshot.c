#include "support/test_support.h"

#include "support/backfill.h"

/* Runs a batch on the source right before the statement whose text holds `expect`. */
typedef struct Trap {
    World      *world;
    const char *expect;
    const char *sql;
    int         times; /* how often it still springs */
} Trap;

static void spring(void *arg, Str sql)
{
    Trap *trap = arg;

    if (trap->times == 0 || str_find(sql, str_from_c(trap->expect), 0) < 0) return;
    trap->times--;
    world_commit(trap->world, "%s", trap->sql);
}

static Str snapshot_rows(World *world)
{
    return world_rows(world, "SELECT id, note FROM {" BRONZE "} WHERE _operation = 0 ORDER BY id");
}

static Str snapshot_events(World *world)
{
    return world_rows(world,
                      "SELECT event, \"rows\" FROM {" FACTS "} WHERE event IS NOT NULL ORDER "
                      "BY written_at, event DESC");
}

static void a_row_that_comes_during_the_read_is_there_twice(void **state) /* T3.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    ApplyOptions  apply   = shop_apply();
    Process      *process;
    Trap          trap = {.world  = world,
                          .expect = "FROM [dbo].[orders]",
                          .sql    = "INSERT INTO dbo.orders VALUES (2, 'late')",
                          .times  = 1};

    Lsn first = shop_insert(world, 1);
    process   = process_open(world, "stream");
    sim_sql_driver_set_hook(process->sql, spring, &trap);
    assert_ok(process_stream(process, &options), &process->err);
    assert_int_equal(trap.times, 0);
    process_close(process);
    assert_str_is(
        world_rows(world,
                   "SELECT DISTINCT _start_lsn, _snapshot FROM {" BRONZE "} WHERE _operation = 0"),
        str_c(world_arena(world), str_printf(world_arena(world), "%s|%s\n", lsn_format(first).text,
                                             lsn_format(first).text)));
    assert_str_is(snapshot_rows(world), "1|n1\n2|late\n");
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "2");
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

static void a_table_is_read_once_for_one_bootstrap(void **state) /* T3.4 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();

    (void)shop_insert(world, 1);
    StreamResult first = world_stream(world, &options);
    (void)shop_insert(world, 2);
    (void)shop_insert(world, 3);
    options.capture_instance = STR("DBO_Orders");
    StreamResult second      = world_stream(world, &options);
    assert_true(lsn_equal(first.snapshot.lsn, second.snapshot.lsn));
    assert_str_is(snapshot_rows(world), "1|n1\n");
    assert_bronze_ids(world, "2 3");
    assert_str_is(snapshot_events(world), "snapshot_open|0\nbootstrap|1\n");
    world_close(world);
}

static void unrelated_commits_do_not_change_the_count(void **state) /* T3.5 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    Err           err     = ERR_INIT;

    (void)shop_insert(world, 1);
    (void)shop_insert(world, 2);
    /* The process dies right after the snapshot's commit; others commit; its event comes later. */
    shop_crash_at(world, &options, BRONZE "/_delta_log/00000000000000000001.json", true);
    for (int i = 0; i < 5; i++) {
        DeltaTable   *table    = NULL;
        DeltaProperty property = {STR("user.note"), str_printf(world_arena(world), "%d", i)};
        DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                                  .set_properties     = &property,
                                  .set_property_count = 1};
        DeltaOutcome  outcome;
        assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
        assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
        delta_table_close(table);
    }
    (void)world_stream(world, &options);
    assert_str_is(snapshot_events(world), "snapshot_open|0\nbootstrap|-\n");
    assert_str_is(snapshot_rows(world), "1|n1\n2|n2\n");
    world_close(world);
}

static void a_read_that_died_is_read_again(void **state) /* T3.6 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();

    for (int i = 0; i < 3; i++)
        (void)shop_insert(world, i);
    shop_crash_at(world, &options, ".parquet", false); /* facts' own file is the first */
    shop_crash_at(world, &options, BRONZE "/part-", false);
    assert_str_is(snapshot_events(world), "snapshot_open|0\n");
    assert_str_is(snapshot_rows(world), "");
    (void)world_stream(world, &options);
    assert_str_is(snapshot_events(world), "snapshot_open|0\nsnapshot_open|0\nbootstrap|3\n");
    assert_rows(world, "true\n",
                "SELECT (SELECT max_lsn FROM {" FACTS
                "} WHERE event = 'bootstrap') >= (SELECT max(max_lsn) FROM {" FACTS
                "} WHERE event = 'snapshot_open')");
    assert_int_equal(world_version(world, BRONZE), 1);
    world_close(world);
}

static void an_empty_tables_snapshot_is_found_by_its_event(void **state) /* T3.6b */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap(), chunked = shop_chunked();
    ApplyOptions  apply = shop_apply();

    StreamResult first = world_stream(world, &options);
    (void)shop_insert(world, 1);
    StreamResult second = world_stream(world, &options);
    assert_true(lsn_equal(first.snapshot.lsn, second.snapshot.lsn));
    assert_str_is(snapshot_events(world), "snapshot_open|0\nbootstrap|0\n");
    assert_str_is(snapshot_rows(world), "");
    assert_bronze_ids(world, "1");
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    (void)shop_insert(world, 2); /* the other mode finds it too, and opens nothing */
    StreamResult third = world_stream(world, &chunked);
    assert_true(lsn_equal(first.snapshot.lsn, third.snapshot.lsn));
    assert_str_is(snapshot_events(world), "snapshot_open|0\nbootstrap|0\n");
    assert_bronze_ids(world, "1 2");
    world_close(world);
}

static void an_instance_younger_than_the_log_is_no_loss(void **state) /* case A5 */
{
    World        *world   = world_open(state, 1);
    StreamOptions options = shop_bootstrap();
    ApplyOptions  apply   = shop_apply();

    world_exec(world, "CREATE TABLE dbo.orders (" SHOP_COLUMNS ")");
    world_exec(world, "INSERT INTO dbo.orders VALUES (1, 'a')");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL");
    (void)world_stream(world, &options);
    (void)world_stream(world, &options);
    world_commit(world, "UPDATE dbo.orders SET note = 'b'");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_str_is(snapshot_events(world), "snapshot_open|0\nbootstrap|1\n");
    assert_rows(world, "1|b\n", "SELECT id, note FROM {" SILVER "}");
    assert_bronze_ids(world, "1 1");
    world_close(world);
}

static void a_snapshot_read_in_parts_has_each_row_once(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    ApplyOptions  apply   = shop_apply();

    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'x' FROM GENERATE_SERIES(1, 1000)");
    options.source.num_partitions = 4;
    options.source.fetch_rows     = 100;
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_rows(world, "1000|1000\n",
                "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "} WHERE _operation = 0");
    assert_str_is(snapshot_events(world), "snapshot_open|0\nbootstrap|1000\n");
    world_close(world);
}

static void ones_own_commit_is_found_among_others(void **state) /* T0.3 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    Err           err     = ERR_INIT;
    int64_t       found;

    (void)shop_insert(world, 1);
    StreamResult result = world_stream(world, &options);
    (void)shop_insert(world, 2);
    (void)world_stream(world, &options); /* another commit comes after it */
    Offset at   = {.lsn = result.snapshot.lsn, .commit_ts = result.end_commit_ts};
    Str    mine = payload_snapshot(world_arena(world), STR("dbo_orders"), &at);
    assert_ok(
        delta_table_find_user_metadata(world_delta(world), STR(BRONZE), 0, mine, &found, &err),
        &err);
    assert_int_equal(found, 1);
    assert_ok(
        delta_table_find_user_metadata(world_delta(world), STR(BRONZE), 1, mine, &found, &err),
        &err);
    assert_int_equal(found, -1);
    world_close(world);
}

static void a_quiet_table_follows_the_database(void **state) /* case A4(a) */
{
    World        *world = shop_open(state, 1);
    Lsn           start;
    StreamOptions options;

    world_create(world, "hot", "id int NOT NULL PRIMARY KEY, v int");
    start   = shop_insert(world, 1);
    options = shop_stream_from(start);
    (void)world_stream(world, &options);
    for (int i = 0; i < 6; i++) {
        world_pass_minutes(world, 20);
        Lsn lsn = world_commit(world, "INSERT INTO dbo.hot VALUES (%d, 0)", i);
        (void)world_stream(world, &options);
        if (i == 3) world_cleanup(world, lsn);
    }
    assert_int_equal(world_line_count(world, "ERROR"), 0);
    assert_str_is(world_rows(world, "SELECT max(end_lsn) FROM {" FACTS "}"),
                  str_c(world_arena(world), str_printf(world_arena(world), "%s\n",
                                                       lsn_format(world_max_lsn(world)).text)));
    assert_rows(world, "true\n",
                "SELECT (SELECT finalized_until FROM {" CONTROL "}) = date_trunc('hour', (SELECT "
                "max(end_commit_ts) FROM {" FACTS "}))");
    world_close(world);
}

static void a_stream_that_was_away_too_long_names_its_gap(void **state) /* case A4(b) */
{
    World        *world = shop_open(state, 1);
    StreamOptions calm = world_stream_options(), hot = world_stream_options();

    world_create(world, "hot", SHOP_COLUMNS);
    (void)shop_insert(world, 1);
    world_commit(world, "INSERT INTO dbo.hot VALUES (1, 'a')");
    hot.capture_instance = STR("dbo_hot");
    hot.bronze           = (TableRef){STR("lake/bronze/hot"), STR("lake/bronze/hot")};
    hot.app_id           = STR("hot-v1");
    hot.checkpoint       = STR("checkpoints/hot");
    (void)world_stream(world, &calm);
    (void)world_stream(world, &hot);
    Lsn position = world_max_lsn(world), middle = position;
    for (int i = 2; i < 8; i++) {
        world_pass_minutes(world, 60);
        Lsn lsn = world_commit(world, "INSERT INTO dbo.hot VALUES (%d, 'a')", i);
        if (i == 4) middle = lsn;
    }
    world_cleanup(world, middle);
    Str                        verdicts = world_rows(world,
                                                     "SELECT table_name, finalized_until FROM {" CONTROL "} ORDER BY 1");
    const StreamOptions *const both[]   = {&calm, &hot};
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        Process *process = process_open(world, "late");
        assert_false(process_stream(process, both[i]));
        assert_err(&process->err, ERR_DATA_LOSS, lsn_format(lsn_increment(position)).text);
        assert_err(&process->err, ERR_DATA_LOSS, lsn_format(middle).text);
        assert_err(&process->err, ERR_DATA_LOSS, i ? "dbo_hot" : "dbo_orders");
        process_close(process);
    }
    assert_str_is(
        world_rows(world, "SELECT table_name, finalized_until FROM {" CONTROL "} ORDER BY 1"),
        str_c(world_arena(world), verdicts));
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_that_comes_during_the_read_is_there_twice),
        cmocka_unit_test(a_table_is_read_once_for_one_bootstrap),
        cmocka_unit_test(unrelated_commits_do_not_change_the_count),
        cmocka_unit_test(a_read_that_died_is_read_again),
        cmocka_unit_test(an_empty_tables_snapshot_is_found_by_its_event),
        cmocka_unit_test(an_instance_younger_than_the_log_is_no_loss),
        cmocka_unit_test(a_snapshot_read_in_parts_has_each_row_once),
        cmocka_unit_test(ones_own_commit_is_found_among_others),
        cmocka_unit_test(a_quiet_table_follows_the_database),
        cmocka_unit_test(a_stream_that_was_away_too_long_names_its_gap),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
