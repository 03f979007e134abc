/* What a stream that cannot go on must tell, and what one that goes on must warn of, item by item
 * (algorithms.md 12). */
#include "support/test_support.h"

#include "support/shop.h"
#include "types/column_list.h"

#define PARTS_MOST 10

/* The run fails with that code, and its message holds every part. */
static void refuse(World *world, const StreamOptions *options, ErrCode code,
                   const char *const *parts)
{
    Process *process = process_open(world, "refused");

    assert_false(process_stream(process, options));
    for (size_t i = 0; parts[i]; i++)
        assert_err(&process->err, code, parts[i]);
    process_close(process);
}

#define REFUSE(world, options, code, ...) \
    refuse(world, options, code, (const char *const[]){__VA_ARGS__, NULL})

static const char *text_of(World *world, Lsn lsn)
{
    return str_c(world_arena(world), lsn_str(world_arena(world), lsn));
}

/* --- 12.1 --- */

static void a_loss_tells_what_is_gone_and_what_can_be_done(void **state) /* T12.1 */
{
    World        *world   = shop_open(state, 1);
    Lsn           c1      = shop_insert(world, 1);
    StreamOptions options = shop_stream_from(c1);

    (void)shop_insert(world, 2);
    Lsn c3 = shop_insert(world, 3);
    world_cleanup(world, c3);
    REFUSE(world, &options, ERR_DATA_LOSS, "dbo_orders", text_of(world, lsn_increment(c1)),
           text_of(world, c3), "cleanup", "new snapshot", "--bootstrap",
           "fail_on_data_loss: false goes on", "lost for good");
    world_close(world);
}

static void a_loss_names_the_instance_that_is_gone_as_a_cause(void **state) /* T12.1 */
{
    World        *world   = world_open(state, 1);
    StreamOptions options = world_stream_options();
    Process      *process;

    /* Configured by the default name, which an instance of another name takes the place of. */
    world_create(world, "orders", SHOP_COLUMNS);
    (void)shop_insert(world, 1);
    Lsn position = world_max_lsn(world);
    (void)shop_insert(world, 2);
    world_exec(world, "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @capture_instance = N'dbo_orders'");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL, @capture_instance = N'new_orders'");
    (void)shop_insert(world, 3);
    options = shop_stream_from(position);
    process = process_open(world, "stream");
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_DATA_LOSS, "new_orders");
    assert_err(&process->err, ERR_DATA_LOSS, "cleanup took them");
    assert_err(&process->err, ERR_DATA_LOSS,
               "or capture instance dbo_orders, which does not exist any more, was disabled");
    process_close(process);
    world_close(world);
}

/* --- 12.2 --- */

static void read_columns(World *world, StreamOptions *options, const char *columns)
{
    Err err = ERR_INIT;

    assert_ok(column_list_parse(str_from_c(columns), world_arena(world), &options->columns, &err),
              &err);
}

static void what_bronze_cannot_take_names_the_statement(void **state) /* T12.1 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, amount int NULL, [a b] int NULL");
    options = shop_stream_from(world_max_lsn(world));
    read_columns(world, &options, "id INT, amount INT");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 1, 1)");
    (void)world_stream(world, &options);
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 2, 2)");
    read_columns(world, &options, "id INT, amount BIGINT");
    REFUSE(world, &options, ERR_SCHEMA_CHANGED, BRONZE, "column amount", "INT", "BIGINT",
           "SET TBLPROPERTIES ('delta.enableTypeWidening'='true')");
    read_columns(world, &options, "id INT, amount INT, `a b` INT");
    REFUSE(world, &options, ERR_SCHEMA_CHANGED, BRONZE, "column a b",
           "'delta.columnMapping.mode'='name'", "'delta.feature.columnMapping'='supported'",
           "raises the protocol for every reader and writer");
    read_columns(world, &options, "id INT, amount INT");
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "1 2");
    world_close(world);
}

/* --- 12.3 --- */

static void a_missing_grant_names_table_and_grant(void **state) /* T12.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    world_exec(world, "CREATE LOGIN reader WITH PASSWORD = 'Reader.Word.1'");
    world_exec(world, "CREATE USER reader FOR LOGIN reader");
    world_exec(world, "GRANT SELECT ON dbo.orders TO reader");
    (void)shop_insert(world, 1);
    options.source.connection = STR("UID=reader;PWD=Reader.Word.1;DATABASE=shop");
    REFUSE(world, &options, ERR_PERMISSION, "dbo_orders",
           "GRANT SELECT ON cdc.[dbo_orders_CT] TO [reader]", "each capture instance has its own");
    assert_str_is(world_store_text(world), "");
    world_close(world);
}

static void a_grant_that_goes_during_the_run_names_it_too(void **state) /* T12.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process = process_open(world, "stream");

    world_exec(world, "CREATE LOGIN reader WITH PASSWORD = 'Reader.Word.1'");
    world_exec(world, "CREATE USER reader FOR LOGIN reader");
    world_exec(world, "GRANT SELECT ON dbo.orders TO reader");
    world_exec(world, "GRANT SELECT ON cdc.dbo_orders_CT TO reader");
    options.source.connection = STR("UID=reader;PWD=Reader.Word.1;DATABASE=shop");
    options.trigger           = TRIGGER_CONTINUOUS;
    process_spawn_stream(process, &options);
    world_pass_minutes(world, 1);
    world_exec(world, "REVOKE SELECT ON cdc.dbo_orders_CT FROM reader");
    (void)shop_insert(world, 1);
    process_join(process);
    assert_err(&process->err, ERR_PERMISSION, "cdc.[dbo_orders_CT]");
    assert_err(&process->err, ERR_PERMISSION, "GRANT SELECT ON cdc.[dbo_orders_CT] TO [reader]");
    assert_err(&process->err, ERR_PERMISSION, "each capture instance has its own");
    sqldriver_close_kept(process->sql, options.source.connection);
    process_close(process);
    world_close(world);
}

static void an_instance_that_is_not_there_names_what_may_be_meant(void **state) /* T12.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = world_stream_options();

    options.capture_instance = STR("dbo_orders_old");
    REFUSE(world, &options, ERR_SOURCE_STATE, "dbo_orders_old", "was not found", "gating role",
           "SELECT", "similar ones: dbo_orders", "set capture_instance to the newer one");
    world_close(world);
}

static void an_instance_capture_has_not_reached_says_when_to_retry(void **state) /* T12.1 */
{
    World        *world   = world_open(state, 1);
    StreamOptions options = shop_stream_from(lsn_increment(LSN_ZERO));

    world_create(world, "other", "id int NOT NULL PRIMARY KEY");
    world_commit(world, "INSERT INTO dbo.other VALUES (1)");
    world_exec(world, "CREATE TABLE dbo.orders (" SHOP_COLUMNS ")");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL");
    REFUSE(world, &options, ERR_SOURCE_STATE, "dbo_orders", "does not exist", "may not see it",
           "capture has not processed its creation yet", "retry once the capture job ran");
    world_close(world);
}

static void locks_and_isolation_of_a_snapshot_are_passed_through(void **state) /* T12.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();

    (void)shop_insert(world, 1);
    world_exec(world, "EXEC tidesim.gate N'shop.dbo.orders', N'hold'");
    options.source.lock_timeout_ms = 0;
    Process *process               = process_open(world, "locked");
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_LOCK_TIMEOUT,
               "[dbo].[orders]: another transaction held a lock for longer than lock_timeout_ms "
               "(0); nothing was committed: run this again");
    assert_int_equal(process->err.native, 1222);
    process_close(process);
    world_exec(world, "EXEC tidesim.gate N'shop.dbo.orders', N'release'");

    options                           = shop_bootstrap();
    options.source.isolation_snapshot = true;
    process                           = process_open(world, "isolated");
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_SOURCE_STATE,
               "ALTER DATABASE [shop] SET ALLOW_SNAPSHOT_ISOLATION ON");
    assert_int_equal(process->err.native, 3952);
    process_close(process);
    world_exec(world, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON");
    (void)world_stream(world, &options);
    assert_rows(world, "1\n", "SELECT id FROM {" BRONZE "}");
    world_close(world);
}

/* --- 12.6 --- */

/* How often a warning stands in the detail of a batch. */
static int64_t in_facts(World *world, const char *warning)
{
    Str     text = world_rows(world,
                              "SELECT count(*) FROM {" FACTS "} WHERE event IS NULL AND "
                                  "contains(detail, '%s')",
                              warning);
    int64_t count;

    assert_true(str_parse_i64(str_trim(text), &count));
    return count;
}

static void an_old_server_is_warned_of_once_and_at_each_change(void **state) /* T12.1 */
{
    World        *world = world_open_version(state, 1, 2019);
    StreamOptions options;
    Process      *process;

    world_exec(world, "EXEC tidesim.zone N'Central European Standard Time'");
    world_create(world, "orders", SHOP_COLUMNS);
    options         = shop_stream_from(world_max_lsn(world));
    options.trigger = TRIGGER_CONTINUOUS;
    process         = process_open(world, "stream");
    process_spawn_stream(process, &options);
    (void)shop_insert(world, 1);
    (void)shop_insert(world, 2);
    world_pass_minutes(world, 2);
    world_exec(world, "EXEC tidesim.zone N'FLE Standard Time'");
    (void)shop_insert(world, 3);
    world_pass_minutes(world, 2);
    cancel_request(process->cancel);
    process_join(process);
    process_close(process);
    assert_int_equal(in_facts(world, "UTC offset of 60 minutes is used"), 1);
    assert_int_equal(in_facts(world, "set time_zone to the zone"), 2);
    assert_int_equal(in_facts(world, "UTC offset changed from 60 to 120 minutes"), 1);
    /* The change is seen before the batch that it matters to. */
    assert_rows(world, "true\n",
                "SELECT max(_commit_ts) - min(_commit_ts) < INTERVAL 1 HOUR FROM {" BRONZE "}");
    world_close(world);
}

static void every_retry_tells_method_error_attempt_and_wait(void **state) /* T12.1 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process = process_open(world, "stream");

    (void)shop_insert(world, 1);
    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = "fn_cdc_get_min_lsn",
                                                          .times    = 2,
                                                          .native   = 1205,
                                                          .sqlstate = "40001"});
    assert_ok(process_stream(process, &options), &process->err);
    process_close(process);
    assert_int_equal(world_line_count(world, "WARN source"), 2);
    static const char *const parts[] = {"capture_instance=dbo_orders",
                                        "method=",
                                        "attempt=1",
                                        "attempt=2",
                                        "wait_ms=",
                                        "native=1205",
                                        "sqlstate=40001"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_true(world_line_count(world, parts[i]) > 0);
    assert_bronze_ids(world, "1");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_tells_what_is_gone_and_what_can_be_done),
        cmocka_unit_test(a_loss_names_the_instance_that_is_gone_as_a_cause),
        cmocka_unit_test(what_bronze_cannot_take_names_the_statement),
        cmocka_unit_test(a_missing_grant_names_table_and_grant),
        cmocka_unit_test(a_grant_that_goes_during_the_run_names_it_too),
        cmocka_unit_test(an_instance_that_is_not_there_names_what_may_be_meant),
        cmocka_unit_test(an_instance_capture_has_not_reached_says_when_to_retry),
        cmocka_unit_test(locks_and_isolation_of_a_snapshot_are_passed_through),
        cmocka_unit_test(an_old_server_is_warned_of_once_and_at_each_change),
        cmocka_unit_test(every_retry_tells_method_error_attempt_and_wait),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
