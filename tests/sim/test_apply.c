#include "support/test_support.h"

#include "base/buf.h"
#include "support/shop.h"

static void verdict_moves_with_an_empty_batch(void **state) /* T8.2 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    ApplyOptions  apply   = shop_apply();

    world_pass_minutes(world, 13 * 60 + 50);
    (void)shop_insert(world, 1);
    (void)shop_insert(world, 2);
    (void)world_stream(world, &options);
    assert_rows(world, "2026-12-08T13:00:00.000000\n", "SELECT finalized_until FROM {" CONTROL "}");
    world_pass_minutes(world, 123);
    world_idle(world);
    (void)world_stream(world, &options);
    assert_rows(world, "2026-12-08T15:00:00.000000\n", "SELECT finalized_until FROM {" CONTROL "}");
    (void)world_apply(world, &apply);
    assert_rows(world,
                "lake/bronze/orders|2026-12-08T15:00:00.000000\n"
                "lake/silver/orders|2026-12-08T15:00:00.000000\n",
                "SELECT table_name, finalized_until FROM {" CONTROL "} ORDER BY table_name");
    world_close(world);
}

/* A batch and a newer verdict land when apply is about to write silver. */
typedef struct Intruder {
    World               *world;
    const StreamOptions *options;
    bool                 has_come;
} Intruder;

static void intrude(void *arg, uint64_t step, const char *operation, Str path)
{
    Intruder *intruder = arg;

    (void)step, (void)operation;
    if (intruder->has_come || str_find(path, STR(SILVER "/part-"), 0) < 0) return;
    intruder->has_come = true;
    world_pass_minutes(intruder->world, 120);
    (void)shop_insert(intruder->world, 3);
    (void)world_stream(intruder->world, intruder->options);
}

static void what_lands_after_the_reads_waits_for_the_next_call(void **state) /* T7.1 */
{
    World        *world    = shop_open(state, 1);
    StreamOptions options  = shop_bootstrap();
    ApplyOptions  apply    = shop_apply();
    Process      *process  = process_open(world, "apply");
    Intruder      intruder = {.world = world, .options = &options};

    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    process->plan = (FaultPlan){.on_step = intrude, .on_step_arg = &intruder};
    assert_ok(process_apply(process, &apply), &process->err);
    assert_true(intruder.has_come);
    process_close(process);
    assert_rows(world, "1\n", "SELECT id FROM {" SILVER "}");
    assert_rows(world, "00\n02\n",
                "SELECT strftime(finalized_until, '%%H') FROM {" CONTROL "} ORDER BY 1");
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_rows(world, "02\n02\n",
                "SELECT strftime(finalized_until, '%%H') FROM {" CONTROL "} ORDER BY 1");
    world_close(world);
}

static void every_shape_of_key_change_reaches_silver(void **state) /* cases A1 to A3, T7.9 */
{
    for (int one_by_one = 0; one_by_one <= 1; one_by_one++) {
        World                   *world   = shop_open(state, 1);
        StreamOptions            options = shop_bootstrap();
        ApplyOptions             apply   = shop_apply();
        static const char *const steps[] = {
            "UPDATE dbo.orders SET id = 6 WHERE id = 5",
            "UPDATE dbo.orders SET id = 7 WHERE id = 6",
            "UPDATE dbo.orders SET id = 3 - id WHERE id IN (1, 2)", /* a swap in one statement */
            "BEGIN TRAN; UPDATE dbo.orders SET note = 'x' WHERE id = 1; UPDATE dbo.orders SET note "
            "= 'y' WHERE id = 1; DELETE FROM dbo.orders WHERE id = 7; COMMIT",
            "BEGIN TRAN; INSERT INTO dbo.orders VALUES (10, 'a'); DELETE FROM dbo.orders WHERE id "
            "= "
            "10; COMMIT",
            "BEGIN TRAN; DELETE FROM dbo.orders WHERE id = 2; INSERT INTO dbo.orders VALUES (2, "
            "'back'); COMMIT",
        };

        world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'oak'), (2, 'elm'), (5, 'ash')");
        Lsn start = world_max_lsn(world);
        (void)world_stream(world, &options);
        (void)world_apply(world, &apply);
        for (size_t i = 0; i < COUNT_OF(steps); i++) {
            world_commit(world, "%s", steps[i]);
            if (!one_by_one) continue;
            (void)world_stream(world, &options);
            (void)world_apply(world, &apply);
            assert_silver_is_source(world, "orders", "id, note");
        }
        (void)world_stream(world, &options);
        (void)world_apply(world, &apply);
        (void)world_apply(world, &apply);
        assert_silver_is_source(world, "orders", "id, note");
        assert_bronze_is_complete(world, "orders", start);
        assert_facts_once(world);
        world_close(world);
    }
}

/* Silver's one file becomes `count` files of equal key ranges. */
static void cut_silver(World *world, int count, int rows_per_file)
{
    Arena           *arena   = world_arena(world);
    DeltaTable      *table   = NULL;
    DeltaWriter     *writer  = NULL;
    DuckSession     *session = NULL;
    DeltaAdd        *adds    = ARENA_ARRAY(arena, DeltaAdd, (size_t)count);
    const DeltaFile *whole;
    DeltaCommit      commit = {.operation = STR("OPTIMIZE"), .read_whole_table = true};
    DeltaOutcome     outcome;
    Err              err = ERR_INIT;
    size_t           at  = 0;
    Str              scan;

    assert_ok(delta_table_open(world_delta(world), STR(SILVER), &table, &err), &err);
    assert_ok(duck_session_open(world_delta(world)->duck, &session, &err), &err);
    assert_true(delta_table_next_file(table, &at, &whole));
    assert_ok(delta_scan_sql(table, NULL, 0, NULL, false, arena, &scan, &err), &err);
    assert_ok(delta_writer_open(table, STR("test"), NULL, &writer, &err), &err);
    for (int i = 0; i < count; i++)
        assert_ok(
            delta_writer_write_query(
                writer, session,
                str_printf(arena, "SELECT * FROM (%.*s) WHERE id BETWEEN %d AND %d", STR_ARG(scan),
                           i * rows_per_file, i * rows_per_file + rows_per_file - 1),
                arena, &adds[i], &err),
            &err);
    assert_ok(delta_writer_publish(writer, adds, (size_t)count, &err), &err);
    commit.adds         = adds;
    commit.add_count    = (size_t)count;
    commit.removes      = &whole;
    commit.remove_count = 1;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &err), &err);
    assert_int_equal(delta_table_get_file_count(table), count);
    delta_writer_close(writer);
    duck_session_close(session);
    delta_table_close(table);
}

static void only_files_with_a_changed_key_are_opened(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    ApplyOptions  apply   = shop_apply();
    Process      *process;
    uint64_t      fetched, idle;

    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'x' FROM GENERATE_SERIES(0, 999)");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    cut_silver(world, 200, 5);
    for (int i = 0; i < 10; i++)
        world_commit(world, "UPDATE dbo.orders SET note = 'changed' WHERE id = %d", 97 * i + 3);
    (void)world_stream(world, &options);
    process = process_open(world, "apply");
    assert_ok(process_apply(process, &apply), &process->err);
    fetched = process->plan.fetch_count;
    assert_int_equal(process->apply.rows_written, 10);
    process_close(process);
    assert_silver_is_source(world, "orders", "id, note");

    process = process_open(world, "idle"); /* what a call fetches that finds nothing to do */
    assert_ok(process_apply(process, &apply), &process->err);
    idle = process->plan.fetch_count;
    process_close(process);
    /* Each file is looked at and then rewritten; bronze's new batch is one file; the position's
     * row is replaced in two. */
    if (fetched - idle > 2 * 10 + 1 + 2)
        fail_msg("fetched %llu files, %llu without work", (unsigned long long)fetched,
                 (unsigned long long)idle);
    world_close(world);
}

/* Without statistics of the key every file of a wide table would be opened. */
static void a_key_behind_the_32nd_column_has_statistics(void **state) /* delta.md 2.4 */
{
    World        *world   = world_open(state, 1);
    StreamOptions options = shop_bootstrap();
    Str           keys[]  = {STR("id")};
    ApplyOptions  apply   = world_apply_options(keys, 1);
    Buf           columns = buf_new(world_arena(world), 0);
    Str           silver;

    for (int i = 0; i < 40; i++)
        buf_printf(&columns, "c%d int NULL, ", i);
    world_create(
        world, "orders",
        str_c(world_arena(world), str_printf(world_arena(world), "%.*sid int NOT NULL PRIMARY KEY",
                                             STR_ARG(buf_str(&columns)))));
    world_commit(world, "INSERT INTO dbo.orders (c1, id) VALUES (5, 7001), (5, 7002)");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    silver = world_store_text(world);
    silver = str_slice(silver, (size_t)str_find(silver, STR(SILVER "/_delta_log"), 0), silver.len);
    assert_true(str_find(silver, STR("\\\"id\\\":7001"), 0) >= 0);
    assert_true(str_find(silver, STR("\\\"id\\\":7002"), 0) >= 0);
    world_close(world);
}

static void a_captured_column_may_have_any_name(void **state)
{
    World        *world   = world_open(state, 1);
    StreamOptions options = shop_bootstrap();
    Str           keys[]  = {STR("_id")};
    ApplyOptions  apply   = world_apply_options(keys, 1);

    world_create(world, "orders",
                 "[_id] int NOT NULL PRIMARY KEY, [filename] varchar(9), [file_row_number] bigint, "
                 "[_file] varchar(9), [_row] int, [newer] int, [rows] int, [select] int");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'f', 7, 'g', 8, 9, 10, 11), (2, 'f', 7, "
                        "'g', 8, 9, 10, 11)");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    world_commit(world, "INSERT INTO dbo.orders VALUES (3, 'f', 7, 'g', 8, 9, 10, 11)");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    world_commit(world, "UPDATE dbo.orders SET newer = 0 WHERE [_id] IN (1, 3); DELETE FROM "
                        "dbo.orders WHERE [_id] = 2");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_silver_is_source(
        world, "orders",
        "\"_id\", \"filename\", \"file_row_number\", \"_file\", \"_row\", \"newer\"");
    world_close(world);
}

static void every_type_survives_the_whole_way(void **state)
{
    World        *world   = world_open(state, 1);
    StreamOptions options = shop_bootstrap();
    Str           keys[]  = {STR("k")};
    ApplyOptions  apply   = world_apply_options(keys, 1);
    const char   *columns = "k, a, b, c, d, e, f, g, h, i, j, l, m";

    world_create(world, "orders",
                 "k datetime2(7) NOT NULL PRIMARY KEY, a bit, b tinyint, c smallint, d bigint, e "
                 "decimal(38,10), f float, g real, h nvarchar(20), i char(5), j varbinary(8), l "
                 "date, m uniqueidentifier");
    world_commit(world,
                 "INSERT INTO dbo.orders VALUES ('2026-01-01T00:00:00.0005001', 1, 255, -32768, "
                 "9223372036854775807, 1234567890123456789012345678.0123456789, 1.5e300, 0.25, "
                 "N'\xc3\xa9\xf0\x9f\x8c\x8a', 'ab', 0x00FF, '9999-12-31', "
                 "'6F9619FF-8B86-D011-B42D-00C04FC964FF'), ('0001-01-01', NULL, NULL, NULL, NULL, "
                 "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", columns);
    /* A key within the millisecond that statistics cut off is still found. */
    world_commit(world, "UPDATE dbo.orders SET c = 5 WHERE a = 1");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", columns);
    world_close(world);
}

static void a_large_commit_is_there_whole_or_not_at_all(void **state) /* case A7, scaled down */
{
    static const char *const deaths[] = {".parquet", BRONZE "/_delta_log/", FACTS "/_delta_log/",
                                         "commits/0"};

    for (size_t i = 0; i < COUNT_OF(deaths); i++)
        for (int after = 0; after <= 1; after++) {
            World        *world   = shop_open(state, 1);
            StreamOptions options = shop_stream_from(world_max_lsn(world)), warm = options;

            warm.app_id       = STR("warm"); /* facts and control are there already */
            warm.checkpoint   = STR("checkpoints/warm");
            warm.bronze.label = warm.bronze.path = STR("lake/bronze/warm");
            (void)world_stream(world, &warm);
            world_commit(world, "INSERT INTO dbo.orders SELECT value, REPLICATE('x', 20) FROM "
                                "GENERATE_SERIES(1, 20000)");
            options.source.fetch_rows = 1000;
            shop_crash_at(world, &options, deaths[i], after);
            (void)world_stream(world, &options);
            (void)world_stream(world, &options);
            assert_rows(world, "20000|20000\n",
                        "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "}");
            assert_rows(world, "20000\n",
                        "SELECT \"rows\" FROM {" FACTS "} WHERE app_id = '" APP_ID "'");
            assert_logs_readable(world);
            world_close(world);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_moves_with_an_empty_batch),
        cmocka_unit_test(what_lands_after_the_reads_waits_for_the_next_call),
        cmocka_unit_test(every_shape_of_key_change_reaches_silver),
        cmocka_unit_test(only_files_with_a_changed_key_are_opened),
        cmocka_unit_test(a_key_behind_the_32nd_column_has_statistics),
        cmocka_unit_test(a_captured_column_may_have_any_name),
        cmocka_unit_test(every_type_survives_the_whole_way),
        cmocka_unit_test(a_large_commit_is_there_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
