/* Plans of chunked snapshots in the tables and at the source (algorithms.md 4.6 to 4.8). */
#include "support/test_support.h"

#include "support/backfill.h"

static void a_plan_is_made_once(void **state) /* T4.18, T12.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 6);
    options.max_waves = OPT_I64(1);
    (void)world_backfill(world, &options);
    options               = shop_backfill(5, 2);
    options.max_waves     = OPT_I64(1);
    BackfillResult result = world_backfill(world, &options);
    assert_int_equal(result.chunks_total.value, 3);
    assert_int_equal(world_line_count(world, "planned with another chunk_rows"), 1);
    assert_int_equal(world_line_count(world, "planned_with=2"), 1);
    assert_int_equal(world_line_count(world, "asked_for=5"), 1);
    assert_int_equal(
        world_line_count(
            world, str_c(world_arena(world), str_printf(world_arena(world), "lsn=%s planned_with",
                                                        lsn_format(result.snapshot.lsn).text))),
        1);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
    world_close(world);
}

static void a_plan_that_was_stored_counts(void **state) /* T4.20 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_open_snapshot(world, 6);
    backfill_crash_at(world, &options, FACTS_COMMIT(3), 1, false);
    world_commit(world, "DELETE FROM dbo.orders WHERE id < 4");
    options.chunk_rows = 5;
    assert_backfill_done(world, &options, 2);
    assert_rows(world, "3\n",
                "SELECT json_extract(detail, '$.chunk_count')::INT FROM {" FACTS
                "} WHERE event = 'snapshot_plan'");
    world_close(world);
}

/* Another stream may begin on the same bronze before the source has a newer commit: the plans hold two plans of one S,
 * and a call that goes on must find the one that its facts announce. */
static void a_plan_of_another_stream_is_not_taken_for_ones_own(void **state)
{
    World          *world = shop_open(state, 1);
    BackfillOptions first = shop_backfill(2, 1), second = shop_backfill(6, 1);
    BackfillResult  result;

    second.stream.app_id     = STR("orders-v2");
    second.stream.checkpoint = STR("checkpoints/orders-v2");
    first.max_waves = second.max_waves = OPT_I64(1);
    shop_open_snapshot(world, 12);
    (void)world_backfill(world, &first);
    (void)world_stream(world, &second.stream);
    do
        result = world_backfill(world, &second);
    while (result.state != BACKFILL_DONE);
    do
        result = world_backfill(world, &first);
    while (result.state != BACKFILL_DONE);
    assert_rows(world, "1\n",
                "SELECT count(DISTINCT max_lsn) FROM {" FACTS "} WHERE event = 'snapshot_open'");
    assert_rows(world, APP_ID "|12\norders-v2|12\n",
                "SELECT app_id, sum(\"rows\")::BIGINT FROM {" FACTS
                "} WHERE event = 'snapshot_chunk' GROUP BY 1 ORDER BY 1");
    world_close(world);
}

/* --- the last chunk --- */

#define WORD_COLUMNS "id varchar(8) NOT NULL PRIMARY KEY, note varchar(20) NULL"

/* Words a table of WORD_COLUMNS begins with, and a chunked snapshot of it opened. */
static World *open_words(void **state, const char *values)
{
    World *world = world_open(state, 1);

    world_create(world, "orders", WORD_COLUMNS);
    world_commit(world, "INSERT INTO dbo.orders VALUES %s", values);
    (void)shop_run_chunked(world);
    return world;
}

/* What is inserted above MAX after the open is the stream's: the last chunk ends below it as soon as it is seen. */
static void the_last_chunk_ends_at_what_came_later(void **state) /* T4.10 */
{
    World *world = open_words(
        state, "('a', 'n'), ('b', 'n'), ('c', 'n'), ('d', 'n'), ('e', 'n'), ('f', 'n')");
    BackfillOptions options = shop_backfill(2, 2);

    options.max_waves = OPT_I64(1);
    (void)world_backfill(world, &options);
    world_commit(world, "INSERT INTO dbo.orders VALUES ('h', 'late'), ('g', 'late')");
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
    assert_str_is(shop_chunks(world), "0|0|-|c|2\n1|0|c|e|2\n2|1|e|g|2\n");
    /* the stored plan keeps its open end, the wave's commit has the one it was read with */
    assert_rows(world, "[[null,\"c\"],[\"c\",\"e\"],[\"e\",null]]\n",
                "SELECT json_extract(detail, '$.chunks') FROM {" PLANS
                "} WHERE event = 'snapshot_plan'");
    (void)shop_run_chunked(world);
    assert_rows(world, "a 0|b 0|c 0|d 0|e 0|f 0|g 2|h 2\n",
                "SELECT string_agg(id || ' ' || _operation, '|' ORDER BY id) FROM {" BRONZE "}");
    assert_silver_follows(world);
    world_close(world);
}

/* --- a walk that stops --- */

#define WORDS 51 /* 50 chunks of one row, the last with MAX's besides */
#define SEEK  "OFFSET 1 ROWS"
#define SEEKS_LEFT \
    (49 - 20 + 2) /* bounds from the 20th on, the one that finds MAX nearer, the last end */
#define PLAN_FOLDER CHECKPOINT "/_tidelake/plan-"

static World *open_many_words(void **state)
{
    World *world = world_open(state, 1);

    world_create(world, "orders", WORD_COLUMNS);
    world_commit(world,
                 "INSERT INTO dbo.orders SELECT CONCAT('k', value), 'n' FROM GENERATE_SERIES(100, "
                 "%d)",
                 100 + WORDS - 1);
    (void)shop_run_chunked(world);
    return world;
}

static void pass_a_minute_per_seek(void *arg, Str sql)
{
    if (str_find(sql, STR(SEEK), 0) >= 0) world_pass_minutes(arg, 1);
}

static void fail_seeks(World *world, const BackfillOptions *options, int times)
{
    Process       *process = process_open(world, "failing");
    BackfillResult result;

    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = SEEK,
                                                          .skip     = 20,
                                                          .times    = times,
                                                          .native   = 0,
                                                          .sqlstate = "08S01",
                                                          .kills    = true});
    bool ok = process_backfill(process, options, &result);
    if (times <= 3) assert_ok(ok, &process->err);
    if (times > 3) {
        assert_false(ok);
        assert_err(&process->err, ERR_SOURCE, "planning");
    }
    process_close(process);
}

static int64_t bounds_kept(World *world)
{
    size_t        count = 0;
    StoreChildren folders;
    Err           err = ERR_INIT;

    assert_ok(store_list_children(world_store(world), STR(CHECKPOINT "/_tidelake"),
                                  world_arena(world), &folders, &err),
              &err);
    for (size_t i = 0; i < folders.count; i++) {
        StoreList list;
        if (!folders.items[i].is_directory) continue;
        assert_ok(store_list_after(world_store(world),
                                   store_join(world_arena(world), STR(CHECKPOINT "/_tidelake"),
                                              folders.items[i].name),
                                   STR_EMPTY, world_arena(world), &list, &err),
                  &err);
        count += list.count;
    }
    return (int64_t)count;
}

/* Whatever stops the walk at its 20th bound, the next call goes on there, and the tables saw nothing of it. */
static void a_walk_goes_on_where_it_stopped(void **state) /* T4.53 */
{
    for (int stop = 0; stop < 3; stop++) {
        World          *world   = open_many_words(state);
        BackfillOptions options = shop_backfill(1, 4);
        BackfillResult  result;
        Process        *process;

        switch (stop) {
        case 0:
            options.max_seconds = OPT_DOUBLE(20 * 60 - 30);
            process             = process_open(world, "out of time");
            sim_sql_driver_set_hook(process->sql, pass_a_minute_per_seek, world);
            assert_ok(process_backfill(process, &options, &result), &process->err);
            assert_int_equal(result.state, BACKFILL_RUNNING);
            assert_false(result.chunks_total.is_set);
            process_close(process);
            break;
        case 1: backfill_crash_at(world, &options, PLAN_FOLDER, 21, false); break;
        default: fail_seeks(world, &options, 4); break;
        }
        assert_int_equal(bounds_kept(world), 20);
        assert_rows(world, "snapshot_open\n", "SELECT event FROM {" PLANS "}");
        assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_plan'");
        assert_int_equal(world_version(world, BRONZE), -1);

        options = shop_backfill(1, 4);
        process = process_open(world, "goes on");
        assert_ok(process_backfill(process, &options, &result), &process->err);
        assert_int_equal(result.state, BACKFILL_DONE);
        assert_int_equal(result.chunks_total.value, 50);
        /* one seek for the last end besides */
        assert_int_equal(sim_sql_driver_statements(process->sql, SEEK), SEEKS_LEFT + 1);
        process_close(process);
        assert_int_equal(bounds_kept(world), 0); /* of no use any more */
        assert_rows(world, "50|51|50\n",
                    "SELECT count(DISTINCT _chunk), count(DISTINCT id), count(*) FILTER (_chunk = "
                    "substr(id, 2)::INT - 100) FROM {" BRONZE "}");
        assert_rows(
            world, "true\n",
            "SELECT bool_and(b.lo = a.hi) FROM (SELECT json_extract(detail, '$.chunk')::INT "
            "AS c, json_extract_string(detail, '$.hi') AS hi FROM {" PLANS
            "} WHERE event = 'snapshot_chunk') AS a JOIN (SELECT json_extract(detail, "
            "'$.chunk')::INT AS c, json_extract_string(detail, '$.lo') AS lo FROM {" PLANS
            "} WHERE event = 'snapshot_chunk') AS b ON b.c = a.c + 1");
        world_close(world);
    }
}

static void three_failed_seeks_are_survived(void **state) /* T4.53 */
{
    World          *world   = open_many_words(state);
    BackfillOptions options = shop_backfill(1, 4);

    fail_seeks(world, &options, 3);
    assert_int_equal(world_line_count(world, "WARN source"), 3);
    assert_rows(world, "50\n",
                "SELECT json_extract(detail, '$.chunk_count')::INT FROM {" FACTS
                "} WHERE event = 'snapshot_plan'");
    world_close(world);
}

/* --- isolation --- */

typedef struct Statements {
    int extents, counts, seeks, reads, table, isolated;
} Statements;

static void count_statement(void *arg, Str sql)
{
    Statements *statements = arg;

    if (str_find(sql, STR("FROM [dbo].[orders] AS t"), 0) < 0) return;
    statements->table++;
    statements->isolated += str_find(sql, STR("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; "), 0) >=
                            0;
    assert_true(str_find(sql, STR("UNCOMMITTED"), 0) < 0);
    assert_true(str_find(sql, STR("NOLOCK"), 0) < 0);
    statements->reads += is_chunk_read(sql);
    statements->counts += str_find(sql, STR("GROUP BY x.b"), 0) >= 0;
    statements->seeks += str_find(sql, STR("ROWS FETCH NEXT 1"), 0) >= 0;
    statements->extents += str_find(sql, STR("DESC"), 0) >= 0;
}

/* Extent, counts, seeks, the last end and the chunks: all under the isolation that is asked for, or none. */
static void all_of_a_snapshot_is_read_under_one_isolation(void **state) /* T4.21 */
{
    for (int i = 0; i < 4; i++) {
        bool            is_word = i < 2, is_snapshot = i % 2 == 0;
        World          *world      = world_open(state, 1);
        StreamOptions   stream     = shop_chunked();
        BackfillOptions options    = shop_backfill(2, 1);
        Statements      statements = {0};
        BackfillResult  result;
        Process        *process = process_open(world, "run");

        world_exec(world, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON");
        world_create(world, "orders", is_word ? WORD_COLUMNS : SHOP_COLUMNS);
        world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'a'), (2, 'a'), (3, 'a'), (4, 'a')");
        sim_sql_driver_set_hook(process->sql, count_statement, &statements);
        stream.source.isolation_snapshot = options.stream.source.isolation_snapshot = is_snapshot;
        assert_ok(process_stream(process, &stream), &process->err);
        assert_int_equal(statements.extents, 1);
        options.target_wave_seconds = 0; /* waves of one chunk: the last one asks for its end */
        assert_ok(process_backfill(process, &options, &result), &process->err);
        assert_int_equal(result.state, BACKFILL_DONE);
        assert_int_equal(statements.counts, is_word ? 0 : 1);
        assert_int_equal(statements.seeks, is_word ? 2 + 1 + 1 : 0);
        assert_int_equal(statements.reads, result.chunks_total.value);
        assert_int_equal(statements.isolated, is_snapshot ? statements.table : 0);
        process_close(process);
        world_close(world);
    }
}

/* --- times --- */

/* Ticks are 3.3 ms apart, so milliseconds tell them apart. */
static void ticks_of_a_datetime_are_bounds(void **state) /* T4.55 */
{
    World          *world   = world_open(state, 1);
    BackfillOptions options = shop_backfill(1, 2);

    world_create(world, "orders", "id datetime NOT NULL PRIMARY KEY, note varchar(20) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:05.003', '1'), "
                        "('2026-01-02T03:04:05.007', '2'), ('2026-01-02T03:04:05.010', '3'), "
                        "('2026-01-02T03:04:05.013', '4')");
    (void)shop_run_chunked(world);
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
    assert_str_is(shop_chunks(world), "0|0|-|2026-01-02T03:04:05.007|1\n"
                                      "1|0|2026-01-02T03:04:05.007|2026-01-02T03:04:05.010|1\n"
                                      "2|1|2026-01-02T03:04:05.010|-|2\n");
    assert_rows(world, "1 0|2 1|3 2|4 2\n",
                "SELECT string_agg(note || ' ' || _chunk, '|' ORDER BY id) FROM {" BRONZE "}");
    world_close(world);
}

/* A key 100 ns above MAX reads back as MAX: the last chunk stays open and reads both. */
static void a_key_finer_than_a_bound_keeps_the_last_chunk_open(void **state) /* T4.12 */
{
    World          *world   = world_open(state, 1);
    BackfillOptions options = shop_backfill(1, 2);

    world_create(world, "orders", "id datetime2(7) NOT NULL PRIMARY KEY, note varchar(20) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:05.1000000', '1'), "
                        "('2026-01-02T03:04:05.2000000', '2'), ('2026-01-02T03:04:05.3000001', "
                        "'3')");
    (void)shop_run_chunked(world);
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-02T03:04:05.3000002', '4')");
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
    assert_str_is(shop_chunks(world), "0|0|-|2026-01-02T03:04:05.200000|1\n"
                                      "1|0|2026-01-02T03:04:05.200000|-|3\n");
    assert_rows(world, "1 0|2 1|3 1|4 1\n",
                "SELECT string_agg(note || ' ' || _chunk, '|' ORDER BY note) FROM {" BRONZE
                "} WHERE _operation = 0");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_made_once),
        cmocka_unit_test(a_plan_that_was_stored_counts),
        cmocka_unit_test(a_plan_of_another_stream_is_not_taken_for_ones_own),
        cmocka_unit_test(the_last_chunk_ends_at_what_came_later),
        cmocka_unit_test(a_walk_goes_on_where_it_stopped),
        cmocka_unit_test(three_failed_seeks_are_survived),
        cmocka_unit_test(all_of_a_snapshot_is_read_under_one_isolation),
        cmocka_unit_test(ticks_of_a_datetime_are_bounds),
        cmocka_unit_test(a_key_finer_than_a_bound_keeps_the_last_chunk_open),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
