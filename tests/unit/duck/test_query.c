/* Sessions: statements, queries, numbers, loaded rows, COPY of a query; stopping them, and their
 * errors. */
#include "duck_test.h"

#include <pthread.h>
#include <time.h>

static int64_t number(DuckWorld *world, const char *sql)
{
    int64_t value = 0;
    assert_ok(duck_query_i64(world->session, str_from_c(sql), &value, NULL, &world->err),
              &world->err);
    return value;
}

/* --- statements --- */

static void several_statements_run_in_order(void **state)
{
    DuckWorld *world   = *state;
    int64_t    changed = -1;

    assert_ok(
        duck_execute(world->session,
                     STR("CREATE TEMP TABLE t (a BIGINT); INSERT INTO t VALUES (1), (2), (3); "
                         "UPDATE t SET a = a + 10 WHERE a > 1;"),
                     &changed, &world->err),
        &world->err);
    assert_int_equal(changed, 2);
    assert_query(world, STR("SELECT * FROM t ORDER BY a"), "1\n12\n13\n");
    assert_ok(duck_execute(world->session, STR(" ; -- nothing\n"), &changed, &world->err),
              &world->err);
    assert_int_equal(changed, 0);
}

static void a_wrong_statement_says_why(void **state)
{
    DuckWorld *world = *state;
    RowStream *rows  = NULL;

    assert_false(duck_execute(world->session, STR("SELEC 1"), NULL, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "syntax error");
    assert_false(duck_execute(world->session,
                              STR("CREATE TEMP TABLE ok (a INT); INSERT INTO nowhere VALUES (1)"),
                              NULL, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "nowhere does not exist");
    assert_null(strstr(world->err.message, "LINE 1"));
    assert_null(strchr(world->err.message, '\n'));
    assert_false(
        duck_query(world->session, STR("SELECT nothing"), world->arena, &rows, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "nothing");
    assert_null(rows);
    assert_int_equal(number(world, "SELECT count(*) FROM ok"), 0); /* the session is still good */
}

static void sessions_have_temp_tables_of_their_own(void **state)
{
    DuckWorld   *world = *state;
    DuckSession *other = NULL;

    assert_ok(duck_session_open(world->duck, &other, &world->err), &world->err);
    assert_ok(duck_execute(world->session, STR("CREATE TEMP TABLE t AS SELECT 1 AS a"), NULL,
                           &world->err),
              &world->err);
    assert_false(duck_execute(other, STR("SELECT * FROM t"), NULL, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "t does not exist");
    duck_session_close(other);
    duck_session_close(NULL);
}

static void every_session_is_in_utc_and_installs_nothing(void **state)
{
    DuckWorld   *world = *state;
    DuckSession *first = world->session;

    assert_ok(duck_session_open(world->duck, &world->session, &world->err), &world->err);
    assert_query(
        world,
        STR("SELECT current_setting('TimeZone'), current_setting('autoinstall_known_extensions'), "
            "current_setting('autoload_known_extensions'), "
            "current_setting('preserve_insertion_order'), "
            "current_setting('threads')::BIGINT, TIMESTAMPTZ '2020-01-01 00:00:00+02'::VARCHAR"),
        "UTC|false|false|false|2|2019-12-31 22:00:00+00\n");
    duck_session_close(world->session);
    world->session = first;
    assert_false(duck_execute(world->session, STR("SELECT * FROM 'https://example.com/x.parquet'"),
                              NULL, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "httpfs");
}

/* --- queries --- */

static void all_types_come_as_they_are_and_others_as_text(void **state)
{
    DuckWorld *world = *state;
    RowStream *rows  = NULL;
    Str        sql   = STR(
                 "SELECT true AS b, 1::SMALLINT AS s, 2::INT, 3::BIGINT, 1.5::FLOAT, 2.5::DOUBLE, "
                          "1.25::DECIMAL(5,2), "
                          "DATE '2020-02-29', TIMESTAMPTZ '2020-01-01 00:00:00+00', TIMESTAMP '2020-01-01 "
                          "12:00:00.5', 'x', "
                          "'\\x01'::BLOB, 1::HUGEINT AS \"huge \"\"one\"\"\", [1, 2], {'a': 'b'}, TIME '12:30:00', "
                          "INTERVAL 1 DAY, '6b4e03de-0000-4000-8000-000000000000'::UUID, 7::TINYINT, 8::UTINYINT, "
                          "9::USMALLINT, "
                          "10::UINTEGER, 18446744073709551615::UBIGINT, TIMESTAMP_S '2020-01-01 00:00:01', "
                          "TIMESTAMP_NS '2020-01-01 00:00:00.123456789', '{\"k\": 1}'::JSON, MAP {'k': 1}, NULL ; "
                          "; ");
    const char *types[] = {"boolean",       "short",      "integer",
                           "long",          "float",      "double",
                           "decimal(5,2)",  "date",       "timestamp",
                           "timestamp_ntz", "string",     "binary",
                           "string",        "ARRAY<INT>", "STRUCT<a: STRING>",
                           "string",        "string",     "string",
                           "short",         "short",      "integer",
                           "long",          "string",     "timestamp_ntz",
                           "string",        "string",     "MAP<STRING, INT>",
                           "integer"};

    assert_ok(duck_query(world->session, sql, world->arena, &rows, &world->err), &world->err);
    assert_int_equal(rows->schema.column_count, COUNT_OF(types));
    for (size_t i = 0; i < COUNT_OF(types); i++)
        assert_str_is(column_type_delta_name(world->arena, rows->schema.columns[i].type), types[i]);
    assert_str_is(rows->schema.columns[0].name, "b");
    assert_str_is(rows->schema.columns[12].name, "huge \"one\"");
    row_stream_close(rows);
    Str text = query_text(world, sql);
    assert_true(str_find(text,
                         STR("|1|[1, 2]|{\"a\": \"b\"}|12:30:00|1 "
                             "day|6b4e03de-0000-4000-8000-000000000000|7|8|9|10|"
                             "18446744073709551615|"),
                         0) > 0);
    assert_true(
        str_find(text, STR("|2020-01-01 00:00:00.123456789|{\"k\": 1}|{\"k\": 1}|NULL\n"), 0) > 0);
}

static void rows_come_in_order_and_completely(void **state)
{
    DuckWorld *world = *state;
    RowStream *rows  = NULL;
    RowBlock   block;
    int64_t    next = 0, block_count = 0;

    assert_ok(duck_query(world->session,
                         STR("SELECT i, 'text number ' || i AS t, i::HUGEINT FROM range(300000) AS "
                             "r(i) ORDER BY i"),
                         world->arena, &rows, &world->err),
              &world->err);
    do {
        assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
        for (size_t row = 0; row < block.row_count; row++, next++) {
            char text[64];
            assert_int_equal(column_i64(&block.columns[0], row), next);
            (void)snprintf(text, sizeof(text), "text number %lld", (long long)next);
            assert_str_is(column_str(&block.columns[1], row), text);
        }
        block_count++;
    } while (block.row_count > 0);
    assert_int_equal(next, 300000);
    assert_true(block_count > 10);
    assert_ok(row_stream_next(rows, &block, &world->err), &world->err); /* the end stays the end */
    assert_int_equal(block.row_count, 0);
    row_stream_close(rows);
}

static void nested_values_come_as_json(void **state)
{
    DuckWorld *world = *state;

    assert_query(world,
                 STR("SELECT [1, NULL, 3], [[DATE '2026-01-02'], [], NULL], {'a b': 1.50, 's': "
                     "'q\"', 'n': NULL::INT}, MAP {'k': [TIMESTAMP '2026-01-02 03:04:05']}, "
                     "MAP {2: '\\xAB'::BLOB, 10: NULL}, NULL::INT[]"),
                 "[1, null, 3]|[[\"2026-01-02\"], [], null]|{\"a b\": \"1.50\", \"s\": \"q\\\"\", "
                 "\"n\": null}|{\"k\": [\"2026-01-02T03:04:05.000000\"]}|{\"2\": \"0xab\", \"10\": "
                 "null}|NULL\n");
    /* as they come out of operators: not only constants */
    assert_query(world,
                 STR("SELECT list_filter([i, i + 1, NULL], lambda x: x IS NOT NULL), "
                     "{'t': CASE WHEN i > 0 THEN 'some longer text ' || i END} FROM range(2) t(i) "
                     "ORDER BY i"),
                 "[0, 1]|{\"t\": null}\n[1, 2]|{\"t\": \"some longer text 1\"}\n");
}

static void types_within_nested_ones_that_the_lake_lacks_are_cast(void **state)
{
    DuckWorld *world = *state;

    assert_query(world,
                 STR("SELECT [7::UTINYINT], {'h': 170141183460469231731687303715884105727}, "
                     "MAP {'i': INTERVAL 1 DAY}, [1.5, 2.5]::DOUBLE[2], row(1, 2)"),
                 "[7]|{\"h\": \"170141183460469231731687303715884105727\"}|{\"i\": \"1 day\"}|"
                 "[1.5, 2.5]|(1, 2)\n");
}

static void a_stream_may_be_closed_early(void **state)
{
    DuckWorld *world = *state;
    RowStream *rows  = NULL;
    RowBlock   block;

    for (int i = 0; i < 3; i++) {
        assert_ok(duck_query(world->session,
                             STR("SELECT i, repeat('x', 100) FROM range(10000000) AS r(i)"),
                             world->arena, &rows, &world->err),
                  &world->err);
        if (i > 0) assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
        row_stream_close(rows);
        assert_int_equal(number(world, "SELECT 5"), 5);
    }
    row_stream_close(NULL);
}

static void an_error_while_rows_come_is_reported(void **state)
{
    DuckWorld *world = *state;
    RowStream *rows  = NULL;
    RowBlock   block = {.row_count = 1};
    bool       ok    = true;

    assert_ok(duck_query(world->session,
                         STR("SELECT CASE WHEN i = 100000 THEN error('row broke') ELSE i::VARCHAR "
                             "END FROM range(200000) AS r(i)"),
                         world->arena, &rows, &world->err),
              &world->err);
    while (ok && block.row_count > 0)
        ok = row_stream_next(rows, &block, &world->err);
    assert_false(ok);
    assert_err(&world->err, ERR_QUERY_ENGINE, "row broke");
    row_stream_close(rows);
    assert_int_equal(number(world, "SELECT 5"), 5);
}

static void a_number_is_one_row_of_one_column(void **state)
{
    DuckWorld *world   = *state;
    int64_t    value   = 0;
    bool       is_null = false;

    assert_int_equal(number(world, "SELECT count(*) FROM range(7)"), 7);
    assert_int_equal(number(world, "SELECT sum(i) FROM range(5) AS r(i)"), 10); /* a HUGEINT */
    assert_int_equal(number(world, "SELECT -9223372036854775808"), INT64_MIN);
    assert_int_equal(number(world, "SELECT true"), 1);
    assert_int_equal(number(world, "SELECT 12::DECIMAL(20,0)"), 12);
    assert_ok(
        duck_query_i64(world->session, STR("SELECT NULL::BIGINT"), &value, &is_null, &world->err),
        &world->err);
    assert_true(is_null);
    assert_false(
        duck_query_i64(world->session, STR("SELECT NULL::BIGINT"), &value, NULL, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "NULL");
    assert_false(
        duck_query_i64(world->session, STR("SELECT 1 WHERE false"), &value, &is_null, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "one row");
    assert_false(duck_query_i64(world->session, STR("SELECT * FROM range(2)"), &value, &is_null,
                                &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "one row");
    assert_false(duck_query_i64(world->session, STR("SELECT 1, 2"), &value, &is_null, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "one column");
    assert_false(
        duck_query_i64(world->session, STR("SELECT 1.5::DOUBLE"), &value, &is_null, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "64-bit");
    assert_false(duck_query_i64(world->session, STR("SELECT 9223372036854775808"), &value, &is_null,
                                &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "64-bit");
}

/* --- loading --- */

static const Column loaded_columns[] = {{{"id", 2}, {TYPE_LONG, 0, 0, NULL}, {"", 0}},
                                        {{"select \"x\"", 10}, {TYPE_STRING, 0, 0, NULL}, {"", 0}},
                                        {{"amount", 6}, {TYPE_DECIMAL, 20, 3, NULL}, {"", 0}}};

static void fill_loaded(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    row_builder_set_i64(builder, 0, (int64_t)row);
    if (row % 3 != 0)
        row_builder_set_str(builder, 1, str_printf(rows->arena, "some longer text %zu", row));
    row_builder_set_decimal(builder, 2, int128_from_i64((int64_t)row * 1000));
}

static void loaded_rows_can_be_queried(void **state)
{
    DuckWorld *world = *state;
    Str        name  = STR("it's a \"table\" \xF0\x9F\x90\xA2");

    for (size_t i = 0; i < 2; i++) { /* the second replaces the first */
        GeneratedRows rows = generated_rows(loaded_columns, 3, 10000 + i, 777, fill_loaded);
        assert_ok(duck_load(world->session, name, &rows.base, &world->err), &world->err);
        arena_close(rows.arena);
    }
    Str table = duck_quote_identifier(world->arena, name);
    assert_query(world,
                 str_printf(world->arena,
                            "SELECT count(*), sum(id)::BIGINT, sum(amount), count(\"select "
                            "\"\"x\"\"\"), max(\"select \"\"x\"\"\") FROM %.*s",
                            STR_ARG(table)),
                 "10001|50005000|50005000.000|6667|some longer text 9998\n");
}

static void loading_no_rows_makes_an_empty_table(void **state)
{
    DuckWorld *world  = *state;
    Schema     schema = {loaded_columns, 3};
    assert_ok(
        duck_load(world->session, STR("t"), row_stream_empty(world->arena, &schema), &world->err),
        &world->err);
    assert_int_equal(number(world, "SELECT count(*) FROM t"), 0);
}

static void a_broken_stream_leaves_no_table(void **state)
{
    DuckWorld    *world = *state;
    GeneratedRows rows  = generated_rows(loaded_columns, 3, 10000, 1000, fill_loaded);

    rows.fail_at = 5000;
    assert_false(duck_load(world->session, STR("t"), &rows.base, &world->err));
    assert_err(&world->err, ERR_SOURCE, "loading t");
    assert_false(duck_execute(world->session, STR("SELECT * FROM t"), NULL, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "t does not exist");
    arena_close(rows.arena);
}

/* --- COPY of a query --- */

static void a_copied_query_has_the_columns_of_its_schema(void **state)
{
    DuckWorld       *world   = *state;
    Schema           schema  = {loaded_columns, 3};
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              path = path_in(world, "c.parquet");
    Str sql = STR("SELECT i::INT AS a, NULL AS b, i * 1.5 AS c FROM range(100000) AS r(i) ORDER BY "
                  "i DESC -- last");

    assert_ok(duck_copy_query(world->session, sql, &schema, path, &options, world->arena, &file,
                              &world->err),
              &world->err);
    assert_int_equal(file.row_count, 100000);
    assert_str_is(file.columns[2].name, "amount");
    assert_str_is(file.columns[2].max, "149998.500");
    Str from = duck_read_parquet_sql(world->arena, &path, 1, &schema);
    assert_query(world,
                 str_printf(world->arena,
                            "SELECT typeof(id), typeof(amount), count(*), bool_and(id + "
                            "file_row_number = 99999) FROM %.*s GROUP BY ALL",
                            STR_ARG(from)),
                 "BIGINT|DECIMAL(20,3)|100000|true\n"); /* in the order asked for */
}

static void a_copied_query_of_other_width_is_refused(void **state)
{
    DuckWorld       *world   = *state;
    Schema           schema  = {loaded_columns, 3};
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              path    = path_in(world, "c.parquet");
    const char      *wrong[] = {"SELECT 1, 'x'", "SELECT 1, 'x', 3, 4"};

    for (size_t i = 0; i < 2; i++) {
        assert_false(duck_copy_query(world->session, str_from_c(wrong[i]), &schema, path, &options,
                                     world->arena, &file, &world->err));
        assert_err(&world->err, ERR_QUERY_ENGINE, "columns, the table 3");
        assert_false(file_exists(path));
    }
    assert_false(duck_copy_query(world->session, STR("SELECT 'text', 'x', 3 FROM range(100000)"),
                                 &schema, path, &options, world->arena, &file, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "Conversion");
    assert_false(file_exists(path));
}

/* --- stopping --- */

static void *cancel_soon(void *arg)
{
    struct timespec pause = {.tv_nsec = 100000000};
    (void)nanosleep(&pause, NULL);
    cancel_request(arg);
    return NULL;
}

#define ENDLESS                                                                                  \
    "SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000000) c WHERE a.range + " \
    "b.range = c.range * 7"

static int64_t elapsed_ms(const struct timespec *since)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

static void a_cancel_interrupts_a_running_query(void **state)
{
    DuckWorld      *world = *state;
    pthread_t       thread;
    struct timespec start;
    int64_t         value;

    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, world->cancel), 0);
    assert_false(duck_query_i64(world->session, STR(ENDLESS), &value, NULL, &world->err));
    assert_err(&world->err, ERR_CANCELLED, "");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(elapsed_ms(&start) < 5000);
    assert_false(duck_execute(world->session, STR("SELECT 1"), NULL,
                              &world->err)); /* and nothing new starts */
    assert_err(&world->err, ERR_CANCELLED, "");
}

/* However the cancel falls between the steps of a statement, it is not lost. */
static void a_cancel_at_any_moment_ends_the_query(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        DuckWorld *world = duck_world_new(256 * MEGABYTE);
        pthread_t  thread;
        int64_t    value;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, world->cancel), 0);
        bool ok = true;
        while (ok)
            ok = duck_query_i64(world->session, STR("SELECT count(*) FROM range(3000)"), &value,
                                NULL, &world->err);
        assert_err(&world->err, ERR_CANCELLED, "");
        assert_int_equal(pthread_join(thread, NULL), 0);
        duck_world_close(world);
    }
}

/* --- limits --- */

static void running_out_of_memory_is_a_limit(void **state)
{
    DuckWorld *world = *state;
    Str sql = STR("SELECT list(i || 'some text to fill memory with') FROM range(50000000) AS r(i)");
    assert_ok(duck_execute(world->session, STR("SET memory_limit = '50MB'"), NULL, &world->err),
              &world->err);
    assert_false(duck_execute(world->session, sql, NULL, &world->err));
    assert_err(&world->err, ERR_LIMIT, "raise memory_limit");
    assert_null(strstr(world->err.message, "solutions"));
    assert_int_equal(number(world, "SELECT 5"), 5);
}

static void large_queries_spill_into_the_folder_given(void **state)
{
    DuckWorld *world = *state;
    assert_ok(duck_execute(world->session, STR("SET memory_limit = '64MB'"), NULL, &world->err),
              &world->err);
    assert_int_equal(number(world, "SELECT count(*) FROM (SELECT hash(i) AS h, repeat('x', 50) AS "
                                   "t FROM range(2000000) AS r(i) ORDER BY h)"),
                     2000000);
    assert_ok(duck_execute(world->session,
                           STR("CREATE TEMP TABLE big AS SELECT hash(i) AS h, repeat('x', 50) || i "
                               "AS t FROM range(2000000) AS r(i) ORDER BY h"),
                           NULL, &world->err),
              &world->err);
    assert_true(file_exists(path_in(world, "made/when/needed")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(several_statements_run_in_order),
        duck_test(a_wrong_statement_says_why),
        duck_test(sessions_have_temp_tables_of_their_own),
        duck_test(every_session_is_in_utc_and_installs_nothing),
        duck_test(all_types_come_as_they_are_and_others_as_text),
        duck_test(rows_come_in_order_and_completely),
        duck_test(nested_values_come_as_json),
        duck_test(types_within_nested_ones_that_the_lake_lacks_are_cast),
        duck_test(a_stream_may_be_closed_early),
        duck_test(an_error_while_rows_come_is_reported),
        duck_test(a_number_is_one_row_of_one_column),
        duck_test(loaded_rows_can_be_queried),
        duck_test(loading_no_rows_makes_an_empty_table),
        duck_test(a_broken_stream_leaves_no_table),
        duck_test(a_copied_query_has_the_columns_of_its_schema),
        duck_test(a_copied_query_of_other_width_is_refused),
        duck_test(a_cancel_interrupts_a_running_query),
        cmocka_unit_test(a_cancel_at_any_moment_ends_the_query),
        duck_test(running_out_of_memory_is_a_limit),
        duck_test(large_queries_spill_into_the_folder_given),
    };
    return RUN_TESTS(tests);
}
