/* Several streams of one process (algorithms.md 10). */
#include "support/test_support.h"

#include "engine/streams.h"
#include "support/shop.h"

#define MOST_STREAMS 40
#define READER       "UID=reader;PWD=Reader.Word.1;DATABASE=shop"

/* The streams of one call, and the process they run in. */
typedef struct Many {
    World    *world;
    Process  *process;
    StreamRun runs[MOST_STREAMS];
    size_t    count;
    Task     *task;
    bool      is_over;
} Many;

/* A stream of dbo.NAME after `start`, with its own tables; facts are shared. */
static void add_stream(Many *many, const char *name, Lsn start)
{
    World        *world   = many->world;
    StreamOptions options = shop_stream_from(start);

    options.capture_instance          = str_printf(world_arena(world), "dbo_%s", name);
    options.bronze.path               = str_printf(world_arena(world), "lake/bronze/%s", name);
    options.bronze.label              = options.bronze.path;
    options.app_id                    = str_printf(world_arena(world), "%s-v1", name);
    options.checkpoint                = str_printf(world_arena(world), "checkpoints/%s", name);
    many->runs[many->count++].options = options;
}

static void run_task(void *arg)
{
    Many *many = arg;

    streams_run(&many->process->env, many->runs, many->count);
    many->is_over = true;
}

static void spawn(Many *many)
{
    many->process = process_open(many->world, "many");
    many->task    = sched_spawn(world_sched(many->world), "many", run_task, many);
}

static void stop(Many *many)
{
    sched_join(world_sched(many->world), many->task);
    sqldriver_close_kept(many->process->sql, STR(READER));
    process_close(many->process);
}

static World *orders_and_customers(void **state, uint64_t seed)
{
    World *world = shop_open(state, seed);

    world_create(world, "customers", "id int NOT NULL PRIMARY KEY");
    return world;
}

static void each_has_its_rows_and_all_share_the_facts(void **state) /* T10.1 */
{
    World *world = orders_and_customers(state, 1);
    Lsn    start = world_max_lsn(world);
    Many   many  = {.world = world};

    (void)shop_insert(world, 1);
    world_commit(world, "INSERT INTO dbo.customers VALUES (7), (8)");
    add_stream(&many, "orders", start);
    add_stream(&many, "customers", start);
    spawn(&many);
    stop(&many);
    for (size_t i = 0; i < many.count; i++)
        assert_ok(many.runs[i].ok, &many.runs[i].err);
    assert_bronze_ids(world, "1");
    assert_rows(world, "7\n8\n", "SELECT id FROM {lake/bronze/customers} ORDER BY id");
    assert_rows(world, "customers-v1|lake/bronze/customers|2\norders-v1|lake/bronze/orders|1\n",
                "SELECT app_id, target, sum(\"rows\")::BIGINT FROM {" FACTS
                "} GROUP BY ALL ORDER BY app_id");
    assert_logs_readable(world);
    world_close(world);
}

static void fail_later(void **state, uint64_t seed)
{
    World *world = orders_and_customers(state, seed);
    Lsn    start = world_max_lsn(world);
    Many   many  = {.world = world};

    (void)shop_insert(world, 1);
    (void)shop_insert(world, 2);
    world_exec(world, "DECLARE @to binary(10) = sys.fn_cdc_get_max_lsn(); EXEC "
                      "sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_orders', "
                      "@low_water_mark = @to");
    add_stream(&many, "orders", start);
    add_stream(&many, "customers", start);
    for (size_t i = 0; i < many.count; i++)
        many.runs[i].options.trigger = TRIGGER_CONTINUOUS;
    spawn(&many);
    clock_sleep_ms(world_clock(world), 5000, NULL);
    world_commit(world, "INSERT INTO dbo.customers VALUES (7)");
    clock_sleep_ms(world_clock(world), 5000, NULL);
    assert_false(many.is_over);
    assert_rows(world, "7\n", "SELECT id FROM {lake/bronze/customers}");
    /* The failure was said when it happened. */
    assert_int_equal(world_line_count(world, "ERROR stream stream failed stream=dbo_orders"), 1);
    cancel_request(many.process->cancel);
    stop(&many);
    assert_err(&many.runs[0].err, ERR_DATA_LOSS, "dbo_orders");
    assert_int_equal(many.runs[1].err.code, ERR_CANCELLED);
    assert_int_equal(many.runs[1].result.rows, 1);
    world_close(world);
}

static void one_that_fails_later_stops_alone(void **state) /* T10.2 */
{
    FOR_EACH_SEED (seed, 5)
        fail_later(state, seed);
}

static void fail_a_start(void **state, uint64_t seed)
{
    World *world = orders_and_customers(state, seed);
    Lsn    start = world_max_lsn(world);
    Many   many  = {.world = world};

    (void)shop_insert(world, 1);
    add_stream(&many, "orders", start);
    add_stream(&many, "nowhere", start);
    add_stream(&many, "customers", start);
    for (size_t i = 0; i < many.count; i++)
        many.runs[i].options.trigger = TRIGGER_CONTINUOUS;
    spawn(&many);
    stop(&many);
    assert_int_equal(many.runs[0].err.code, ERR_CANCELLED);
    assert_true(many.runs[0].was_run);
    assert_err(&many.runs[1].err, ERR_SOURCE_STATE, "dbo_nowhere");
    assert_int_equal(many.runs[2].err.code, ERR_CANCELLED);
    assert_false(many.runs[2].was_run);
    /* What stopped resumes. */
    many.runs[0].options.trigger = TRIGGER_AVAILABLE_NOW;
    (void)world_stream(world, &many.runs[0].options);
    assert_bronze_ids(world, "1");
    world_close(world);
}

static void a_failed_start_stops_all(void **state) /* T10.3 */
{
    FOR_EACH_SEED (seed, 5)
        fail_a_start(state, seed);
}

static void a_start_waits_for_the_one_before(void **state)
{
    World *world = orders_and_customers(state, 1);
    Many   many  = {.world = world};

    (void)shop_insert(world, 1);
    add_stream(&many, "orders", LSN_ZERO);
    add_stream(&many, "customers", LSN_ZERO);
    for (size_t i = 0; i < many.count; i++) {
        many.runs[i].options.starting_given = false;
        many.runs[i].options.bootstrap      = true;
    }
    spawn(&many);
    stop(&many);
    /* The second opened its snapshot after the first was in. */
    assert_rows(world, "true\n",
                "SELECT (SELECT min(written_at) FROM {" FACTS "} WHERE app_id = 'customers-v1') >= "
                "(SELECT max(written_at) FROM {" FACTS "} WHERE app_id = 'orders-v1' AND event = "
                "'bootstrap')");
    assert_logs_readable(world);
    world_close(world);
}

/* 0.5: a connection that breaks is replaced, and only what keeps breaking ends a stream. */
static void trouble_that_passes_ends_no_stream(void **state)
{
    World *world = orders_and_customers(state, 1);
    Lsn    start = world_max_lsn(world);
    Many   many  = {.world = world};

    add_stream(&many, "orders", start);
    add_stream(&many, "customers", start);
    for (size_t i = 0; i < many.count; i++)
        many.runs[i].options.trigger = TRIGGER_CONTINUOUS;
    spawn(&many);
    clock_sleep_ms(world_clock(world), 5000, NULL);
    sim_sql_driver_add_fault(many.process->sql, &(SimSqlFault){.expect   = "fn_cdc_get_max_lsn",
                                                               .times    = 3,
                                                               .sqlstate = "08S01",
                                                               .kills    = true});
    clock_sleep_ms(world_clock(world), 60000, NULL);
    assert_int_equal(world_line_count(world, "WARN source the source failed, trying again"), 3);
    (void)shop_insert(world, 1);
    world_commit(world, "INSERT INTO dbo.customers VALUES (7)");
    clock_sleep_ms(world_clock(world), 5000, NULL);
    assert_bronze_ids(world, "1");
    assert_rows(world, "7\n", "SELECT id FROM {lake/bronze/customers}");

    /* The change table of one stays out of reach. */
    sim_sql_driver_add_fault(many.process->sql,
                             &(SimSqlFault){.expect   = "FROM cdc.[dbo_customers_CT]",
                                            .times    = 1000,
                                            .sqlstate = "08S01",
                                            .kills    = true});
    (void)shop_insert(world, 2);
    world_commit(world, "INSERT INTO dbo.customers VALUES (8)");
    clock_sleep_ms(world_clock(world), 60000, NULL);
    (void)shop_insert(world, 3);
    clock_sleep_ms(world_clock(world), 5000, NULL);
    assert_bronze_ids(world, "1 2 3");
    assert_int_equal(world_line_count(world, "failed for the last time, giving up"), 1);
    assert_int_equal(world_line_count(world, "stream failed stream=dbo_customers"), 1);
    cancel_request(many.process->cancel);
    stop(&many);
    assert_int_equal(many.runs[0].err.code, ERR_CANCELLED);
    assert_err(&many.runs[1].err, ERR_SOURCE, "planned by the test");
    world_close(world);
}

/* dbo.t00 ... dbo.t39, read by a login that lacks one grant. */
static void make_forty(World *world)
{
    world_exec(world, "CREATE LOGIN reader WITH PASSWORD = 'Reader.Word.1'");
    world_exec(world, "CREATE USER reader FOR LOGIN reader");
    for (int i = 0; i < MOST_STREAMS; i++) {
        world_create(world, str_c(world_arena(world), str_printf(world_arena(world), "t%02d", i)),
                     "id int NOT NULL PRIMARY KEY, v int NULL");
        world_exec(world, "GRANT SELECT ON dbo.t%02d TO reader", i);
        if (i != 13) world_exec(world, "GRANT SELECT ON cdc.dbo_t%02d_CT TO reader", i);
    }
}

static void thirty_nine_go_on_without_the_one_that_lacks_a_grant(void **state) /* case A17 */
{
    World *world = world_open(state, 1);
    Many   many  = {.world = world};
    Lsn    start;

    make_forty(world);
    start = world_max_lsn(world);
    for (int i = 0; i < MOST_STREAMS; i++) {
        add_stream(&many, str_c(world_arena(world), str_printf(world_arena(world), "t%02d", i)),
                   start);
        many.runs[i].options.trigger           = TRIGGER_CONTINUOUS;
        many.runs[i].options.source.connection = STR(READER);
    }
    spawn(&many);
    clock_sleep_ms(world_clock(world), 10000, NULL);
    for (int i = 0; i < 3; i++)
        world_commit(world, "INSERT INTO dbo.t%02d VALUES (1, %d)", 5 * i, i);
    clock_sleep_ms(world_clock(world), 10000, NULL);

    /* A quiet minute: one question a poll, and nothing else. */
    int before = sim_sql_driver_statements(many.process->sql, "");
    int polls  = sim_sql_driver_statements(many.process->sql, "fn_cdc_get_max_lsn");
    clock_sleep_ms(world_clock(world), 60000, NULL);
    int statements = sim_sql_driver_statements(many.process->sql, "") - before;
    assert_in_range(statements, 39 * 55, 39 * 61);
    assert_int_equal(sim_sql_driver_statements(many.process->sql, "fn_cdc_get_max_lsn") - polls,
                     statements);

    /* A batch of each: besides polls a bounded number of questions a table. */
    before = sim_sql_driver_statements(many.process->sql, "");
    polls  = sim_sql_driver_statements(many.process->sql, "fn_cdc_get_max_lsn");
    world_commit(world, "INSERT INTO dbo.t00 VALUES (2, 2)");
    clock_sleep_ms(world_clock(world), 40000,
                   NULL); /* they race for the facts: the last waits out some losses */
    statements = sim_sql_driver_statements(many.process->sql, "") - before;
    statements -= sim_sql_driver_statements(many.process->sql, "fn_cdc_get_max_lsn") - polls;
    assert_in_range(statements, 39, 39 * 20);

    assert_false(many.is_over);
    cancel_request(many.process->cancel);
    stop(&many);
    Lsn end = world_max_lsn(world);
    for (int i = 0; i < MOST_STREAMS; i++) {
        const StreamRun *run = &many.runs[i];
        if (i == 13) {
            assert_err(&run->err, ERR_PERMISSION, "GRANT SELECT ON cdc.[dbo_t13_CT] TO [reader]");
            continue;
        }
        assert_int_equal(run->err.code, ERR_CANCELLED);
        assert_true(lsn_equal(run->result.end_lsn.lsn, end));
        assert_int_equal(run->result.rows, i == 0 ? 2 : i == 5 || i == 10);
    }
    world_close(world);
}

static void a_bronze_of_another_table_is_refused_at_once(void **state)
{
    World        *world = orders_and_customers(state, 1);
    Lsn           start = world_max_lsn(world);
    StreamOptions options;
    Process      *process;

    (void)shop_insert(world, 1);
    options = shop_stream_from(start);
    (void)world_stream(world, &options);
    int64_t version = world_version(world, BRONZE);

    options.capture_instance = STR("dbo_customers");
    options.app_id           = STR("customers-v1");
    options.checkpoint       = STR("checkpoints/customers");
    world_commit(world, "INSERT INTO dbo.customers VALUES (7)");
    process = process_open(world, "other");
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_STATE, "dbo_orders, which is of table dbo.orders");
    assert_err(&process->err, ERR_STATE, "reads dbo.customers");
    process_close(process);
    assert_int_equal(world_version(world, BRONZE), version);

    /* Rows of an instance that is gone may be this table's. */
    world_exec(world, "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @capture_instance = N'dbo_orders'");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL, @capture_instance = N'dbo_orders_v2'");
    world_scan(world);
    options                  = shop_stream_from(world_max_lsn(world));
    options.capture_instance = STR("dbo_orders_v2");
    options.app_id           = STR("orders-v2");
    options.checkpoint       = STR("checkpoints/orders-v2");
    (void)world_stream(world, &options);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_rows_and_all_share_the_facts),
        property_test(one_that_fails_later_stops_alone),
        property_test(a_failed_start_stops_all),
        cmocka_unit_test(a_start_waits_for_the_one_before),
        cmocka_unit_test(a_bronze_of_another_table_is_refused_at_once),
        cmocka_unit_test(trouble_that_passes_ends_no_stream),
        cmocka_unit_test(thirty_nine_go_on_without_the_one_that_lacks_a_grant),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
