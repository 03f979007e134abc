/* What opening, planning and reading a chunked snapshot must tell, item by item (algorithms.md 12), and what it must
 * never tell: key values. */
#include "support/test_support.h"

#include "support/backfill.h"

#include <errno.h>

#define WORD_COLUMNS "id varchar(20) NOT NULL PRIMARY KEY, note varchar(20) NULL"

static void assert_untold(const Err *err)
{
    char text[ERR_TEXT_BYTES];

    err_format(err, text, sizeof text);
    if (str_find(str_from_c(text), STR("secret"), 0) >= 0)
        fail_msg("a key value is in an error: %s", text);
}

static void refuse(World *world, const BackfillOptions *options, ErrCode code,
                   const char *const *parts)
{
    Process       *process = process_open(world, "refused");
    BackfillResult result;

    assert_false(process_backfill(process, options, &result));
    for (size_t i = 0; parts[i]; i++)
        assert_err(&process->err, code, parts[i]);
    assert_untold(&process->err);
    process_close(process);
}

#define REFUSE(world, options, code, ...) \
    refuse(world, options, code, (const char *const[]){__VA_ARGS__, NULL})

static const char *opened_at(World *world)
{
    return str_c(world_arena(world),
                 str_trim(world_rows(world, "SELECT max_lsn FROM {" FACTS
                                            "} WHERE event = 'snapshot_open'")));
}

static void what_a_call_lacks_is_named(void **state) /* T12.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 4);
    options.stream.facts = (TableRef){STR_EMPTY, STR_EMPTY};
    REFUSE(world, &options, ERR_USAGE, "dbo_orders", "kept in the facts table",
           "name one (--facts, lake.facts)");
    options                         = shop_backfill(2, 2);
    options.stream.capture_instance = STR("dbo_orders_old");
    REFUSE(world, &options, ERR_SOURCE_STATE, "dbo_orders_old", "was not found",
           "similar ones: dbo_orders");
    assert_int_equal(world_version(world, BRONZE), -1);
    world_close(world);
}

/* The server's own number, the statement that allows it, and nothing opened or planned. */
static void an_isolation_the_database_does_not_allow_is_passed_through(void **state) /* T12.1 */
{
    for (int is_word = 0; is_word <= 1; is_word++) {
        World          *world   = world_open(state, 1);
        StreamOptions   stream  = shop_chunked();
        BackfillOptions options = shop_backfill(2, 2);
        Process        *process = process_open(world, "isolated");
        BackfillResult  result;

        world_create(world, "orders", is_word ? WORD_COLUMNS : SHOP_COLUMNS);
        world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')");
        stream.source.isolation_snapshot = options.stream.source.isolation_snapshot = true;
        assert_false(process_stream(process, &stream));
        assert_err(&process->err, ERR_SOURCE_STATE,
                   "ALTER DATABASE [shop] SET ALLOW_SNAPSHOT_ISOLATION ON");
        assert_int_equal(process->err.native, 3952);
        assert_int_equal(world_version(world, PLANS), -1);
        (void)shop_run_chunked(world);
        assert_false(process_backfill(process, &options, &result));
        assert_err(&process->err, ERR_SOURCE_STATE,
                   "ALTER DATABASE [shop] SET ALLOW_SNAPSHOT_ISOLATION ON");
        assert_err(&process->err, ERR_SOURCE_STATE, "planning");
        assert_int_equal(process->err.native, 3952);
        process_close(process);
        assert_rows(world, "1\n", "SELECT count(*) FROM {" PLANS "}");
        world_close(world);
    }
}

/* Planning is tried again as all planning is: method, error, attempt, wait. */
static void each_question_of_a_plan_is_asked_again(void **state) /* T12.1 */
{
    static const struct {
        bool        is_word, is_open;
        const char *expect, *method;
    } cases[] = {
        {false, true, "key_min", "method=\"find extents\""},
        {false, true, "sp_spaceused", "method=\"estimate rows\""},
        {true, true, "[id] DESC", "method=\"find last key\""},
        {false, false, "GROUP BY x.b", "method=\"count slices\""},
        {true, false, "ROWS FETCH NEXT 1", "method=\"seek key\""},
        {false, false, "fn_cdc_get_max_lsn", "method=max_lsn"},
        {false, false, "t.[note]", "method=\"read chunk\""},
    };
    static const char *const parts[] = {
        "WARN source",   "capture_instance=dbo_orders", "attempt=1", "wait_ms=", "native=1205",
        "sqlstate=40001"};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World          *world   = world_open(state, 1);
        StreamOptions   stream  = shop_chunked();
        BackfillOptions options = shop_backfill(2, 2);
        Process        *process = process_open(world, "run");
        BackfillResult  result;

        world_create(world, "orders", cases[i].is_word ? WORD_COLUMNS : SHOP_COLUMNS);
        world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
        if (!cases[i].is_open) (void)shop_run_chunked(world);
        sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = cases[i].expect,
                                                              .times    = 1,
                                                              .native   = 1205,
                                                              .sqlstate = "40001"});
        if (cases[i].is_open) assert_ok(process_stream(process, &stream), &process->err);
        if (!cases[i].is_open)
            assert_ok(process_backfill(process, &options, &result), &process->err);
        process_close(process);
        if (world_line_count(world, cases[i].method) != 1)
            fail_msg("no warning of %s:\n%.*s", cases[i].method, STR_ARG(world_log_text(world)));
        for (size_t n = 0; n < COUNT_OF(parts); n++)
            assert_int_equal(world_line_count(world, parts[n]), 1);
        world_close(world);
    }
}

/* Bronze says that a wave is in, and neither its history nor a row is there to say what it held. */
static void a_wave_that_is_nowhere_is_named(void **state) /* T12.1 */
{
    World           *world   = shop_open(state, 1);
    BackfillOptions  options = shop_backfill(2, 2);
    DeltaTable      *table   = NULL;
    const DeltaFile *files[4], *file;
    size_t           count = 0;
    Err              err   = ERR_INIT;
    DeltaOutcome     outcome;

    shop_open_snapshot(world, 4);
    backfill_crash_at(world, &options, BRONZE_COMMIT(1), 1, true);
    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    for (size_t at = 0; count < COUNT_OF(files) && delta_table_next_file(table, &at, &file);)
        files[count++] = file;
    DeltaCommit commit = {.operation = STR("DELETE"), .removes = files, .remove_count = count};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
    assert_ok(delta_table_checkpoint(table, &err), &err);
    delta_table_close(table);
    assert_ok(store_remove(world_store(world), STR(BRONZE_COMMIT(0)), &err), &err);
    assert_ok(store_remove(world_store(world), STR(BRONZE_COMMIT(1)), &err), &err);
    const char *key = str_c(world_arena(world),
                            str_printf(world_arena(world), APP_ID "#snap.%s", opened_at(world)));
    REFUSE(world, &options, ERR_DAMAGED, "dbo_orders", BRONZE, "wave 0", opened_at(world), key,
           "neither its history nor its rows", "take a new snapshot");
    assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_chunk'");
    world_close(world);
}

/* Whichever of a wave's tables cannot be written: the stream, the wave, the file. */
static void a_wave_that_cannot_be_written_is_named(void **state) /* T12.1 */
{
    static const char *const files[] = {BRONZE_COMMIT(1), PLANS_COMMIT(3), FACTS_COMMIT(4)};

    for (size_t i = 0; i < COUNT_OF(files); i++) {
        World          *world   = shop_open(state, 1);
        BackfillOptions options = shop_backfill(2, 2);
        Process        *process = process_open(world, "full");
        BackfillResult  result;

        shop_open_snapshot(world, 6);
        process->plan = (FaultPlan){
            .fail_at_step = 1, .error_errno = ENOSPC, .only_path_containing = str_from_c(files[i])};
        assert_false(process_backfill(process, &options, &result));
        assert_err(&process->err, ERR_STORE, "dbo_orders: backfill: wave 0: ");
        assert_err(&process->err, ERR_STORE, files[i]);
        process_close(process);
        world_close(world);
    }
}

static void plans_of_a_newer_release_stop_the_call(void **state) /* T12.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 4);
    world_set_property(world, PLANS, "mssql_cdc.min_version", "99");
    REFUSE(world, &options, ERR_STATE, PLANS, "version 99 of", "mssql_cdc.min_version",
           "newer release");
    world_close(world);
}

/* A bound that is no value of its column any more: by itself, or as the server finds. Column or table is named, the way out
 * as well, the bound is not. */
static void a_plan_that_does_not_fit_its_columns_is_told_without_values(void **state) /* T12.1 */
{
    static const struct {
        const char *type, *told[2];
    } cases[] = {
        {"int", {"does not fit the columns it was cut on (id)", "Change it back, or begin anew"}},
        {"decimal(9,2)", {"a key column of [dbo].[orders] has another type", "begin anew"}},
        {"date", {"a key column of [dbo].[orders] has another type", "begin anew"}},
        {"uniqueidentifier", {"a key column of [dbo].[orders] has another type", "begin anew"}},
        {"time(3)", {"a key column of [dbo].[orders] is gone or has another type", "begin anew"}},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World          *world   = world_open(state, 1);
        BackfillOptions options = shop_backfill(1, 2);

        world_create(world, "orders", WORD_COLUMNS);
        world_commit(world, "INSERT INTO dbo.orders VALUES ('secret-1', 'a'), ('secret-2', 'b'), "
                            "('secret-3', 'c')");
        (void)shop_run_chunked(world);
        backfill_crash_at(world, &options, FACTS_COMMIT(3), 1, true);
        world_exec(world, "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = "
                          "N'orders', @capture_instance = N'all'");
        world_exec(world, "DROP TABLE dbo.orders");
        world_create(
            world, "orders",
            str_c(world_arena(world),
                  str_printf(world_arena(world),
                             "id %s NOT NULL PRIMARY KEY, note varchar(20) NULL", cases[i].type)));
        REFUSE(world, &options, ERR_SCHEMA_CHANGED, "dbo_orders", cases[i].told[0],
               cases[i].told[1], "new bronze table, app_id and checkpoint");
        assert_int_equal(world_line_count(world, "secret"), 0);
        assert_rows(world, "0\n",
                    "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_chunk'");
        world_close(world);
    }
}

/* --- what is told on the way --- */

static void each_step_is_told_once(void **state) /* T12.1 */
{
    static const char *const lines[] = {
        "INFO snapshot chunked snapshot opened stream=dbo_orders lsn=0x",
        "INFO backfill the snapshot is planned stream=dbo_orders lsn=0x",
        "chunks=3 chunk_rows=2",
        "INFO backfill wave committed stream=dbo_orders wave=0 chunks=2 stamp=0x",
        "INFO backfill wave committed stream=dbo_orders wave=1 chunks=1 stamp=0x",
        "rows=4 seconds=",
        "chunks_done=2 chunks_total=3",
        "chunks_done=3 chunks_total=3",
    };
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 6);
    assert_backfill_done(world, &options, 6);
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        if (world_line_count(world, lines[i]) != 1)
            fail_msg("not once: %s in\n%.*s", lines[i], STR_ARG(world_log_text(world)));
    world_close(world);
}

/* --- key values --- */

#define SECRETS                                                                    \
    "('secret-1', 'a'), ('secret-2', 'b'), ('secret-3', 'c'), ('secret-4', 'd'), " \
    "('secret-5', 'e')"

/* The whole of a chunked bootstrap, as far as it gets; the errors on the way are looked at. */
static void run_all(Process *process)
{
    StreamOptions   stream  = shop_chunked();
    BackfillOptions options = shop_backfill(1, 2);
    ApplyOptions    apply   = shop_apply();
    BackfillResult  result  = {0};

    process_tell_all(process);
    for (int i = 0; i < 4; i++) {
        bool ok = i == 0   ? process_stream(process, &stream)
                  : i == 3 ? process_apply(process, &apply)
                           : process_backfill(process, &options, &result);
        if (i == 1 && ok)
            world_commit(process->world, "DELETE FROM dbo.orders WHERE id = 'secret-3'");
        if (!ok) assert_untold(&process->err);
        assert_true(str_find(result.reason, STR("secret"), 0) < 0);
    }
}

static World *open_secrets(void **state)
{
    World *world = world_open(state, 1);

    world_exec(world, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON");
    world_create(world, "orders", WORD_COLUMNS);
    world_commit(world, "INSERT INTO dbo.orders VALUES " SECRETS);
    return world;
}

static void assert_nothing_told(World *world)
{
    Str lines = world_log_text(world);

    if (str_find(lines, STR("secret"), 0) >= 0)
        fail_msg("a key value is in a log:\n%.*s", STR_ARG(lines));
    if (world_version(world, FACTS) >= 0)
        assert_rows(world, "0\n",
                    "SELECT count(*) FROM {" FACTS "} AS f WHERE contains(f::VARCHAR, 'secret')");
}

static void no_key_value_is_ever_told(void **state)
{
    World   *world   = open_secrets(state);
    Process *process = process_open(world, "run");
    uint64_t steps;

    run_all(process);
    steps = process->plan.step_count;
    process_close(process);
    assert_true(world_line_count(world, "wave committed") > 0);
    assert_rows(world, "0\n",
                "SELECT count(*) FROM {" FACTS "} AS f WHERE contains(f::VARCHAR, "
                "'secret')");
    assert_rows(world, "true\n",
                "SELECT count(*) > 4 FROM {" PLANS "} AS p WHERE contains(p::VARCHAR, 'secret')");
    assert_nothing_told(world);
    world_close(world);

    assert_true(steps > 40);
    for (uint64_t step = 1; step <= steps; step += 5) { /* the lake fails */
        world         = open_secrets(state);
        process       = process_open(world, "failing");
        process->plan = (FaultPlan){.fail_at_step = step, .error_errno = ENOSPC};
        run_all(process);
        process_close(process);
        assert_nothing_told(world);
        world_close(world);
    }
    static const char *const statements[] = {"[id] DESC", "ROWS FETCH NEXT 1", "t.[note]",
                                             "fn_cdc_get_max_lsn", SIM_SQL_CONNECT};
    for (size_t i = 0; i < 3 * COUNT_OF(statements); i++) { /* the source fails, for good */
        world   = open_secrets(state);
        process = process_open(world, "failing");
        sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = statements[i / 3],
                                                              .skip     = (int)(i % 3),
                                                              .times    = 100,
                                                              .native   = i % 2 ? 8134 : 1222,
                                                              .sqlstate = "HY000"});
        run_all(process);
        process_close(process);
        assert_nothing_told(world);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_call_lacks_is_named),
        cmocka_unit_test(an_isolation_the_database_does_not_allow_is_passed_through),
        cmocka_unit_test(each_question_of_a_plan_is_asked_again),
        cmocka_unit_test(a_wave_that_is_nowhere_is_named),
        cmocka_unit_test(a_wave_that_cannot_be_written_is_named),
        cmocka_unit_test(plans_of_a_newer_release_stop_the_call),
        cmocka_unit_test(a_plan_that_does_not_fit_its_columns_is_told_without_values),
        cmocka_unit_test(each_step_is_told_once),
        cmocka_unit_test(no_key_value_is_ever_told),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
