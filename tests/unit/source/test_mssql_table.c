/* The rows of a snapshot (algorithms.md 3.3, 4.11; Q29). */
#include "source/mssql_internal.h"
#include "sqlconn/sqlconn_internal.h"
#include "table_fixture.h"

static const Column wanted_columns[] = {{.name = {"note", 4}, .type = {.kind = TYPE_STRING}},
                                        {.name = {"gone", 4}, .type = {.kind = TYPE_INTEGER}},
                                        {.name = {"id", 2}, .type = {.kind = TYPE_INTEGER}}};
static const Schema wanted           = {wanted_columns, COUNT_OF(wanted_columns)};

static TableRead whole_table(const TableFixture *fixture)
{
    static const TableCut uncut = {.column_count = 0};

    return (TableRead){.table         = &fixture->table,
                       .cut           = &uncut,
                       .columns       = &wanted,
                       .instance_name = STR("DBO_orders"),
                       .stamp         = {.lsn = lsn_of("0x2A")},
                       .snapshot      = lsn_of("0x2A")};
}

static bool read_part(SourceTest *test, const TableRead *read, Str *text_out, int64_t *rows_out)
{
    RowStream *stream;
    size_t     rows;

    return mssql_read_table(test->mssql, read, rows_out, &stream, &test->err) &&
           read_as_text(test, stream, text_out, &rows);
}

static void rows_carry_the_stamp_and_operation_zero(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "SELECT t.[note], t.[id] FROM [dbo].[or]]ders] AS t;",
         .columns = "note STRING, id INT",
         .rows    = "a|1\nNULL|2\nc|3\n"}};
    SourceTest   test;
    TableFixture fixture;
    TableRead    read;
    Str          text;
    int64_t      rows;

    (void)state;
    for (size_t block_rows = 1; block_rows <= 4; block_rows++) {
        source_test_open(&test, answers, COUNT_OF(answers));
        table_begin(&fixture, 1);
        fake_server_set_block_rows(test.server, block_rows);
        read = whole_table(&fixture);
        assert_ok(read_part(&test, &read, &text, &rows), &test.err);
#define TABLE_ROW(time, note, id)                                              \
    "DBO_orders|0x0000000000000000002A|NULL|0|NULL|" time "|" note "|NULL|" id \
    "|NULL|0x0000000000000000002A|NULL\n"
        assert_str_is(text, TABLE_ROW("NULL", "a", "1") TABLE_ROW("NULL", "NULL", "2")
                                TABLE_ROW("NULL", "c", "3"));
        assert_int_equal(rows, 3);
        source_test_close(&test);
    }
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    read                 = whole_table(&fixture);
    read.stamp.commit_ts = (OptTime){true, us_of("2026-07-01T10:00:00.003")};
    assert_ok(read_part(&test, &read, &text, &rows), &test.err);
    assert_true(str_starts_with(text, STR(TABLE_ROW("2026-07-01T10:00:00.003000", "a", "1"))));
    source_test_close(&test);
}

static void a_chunks_rows_carry_its_number_and_its_snapshot(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "SELECT t.[note]", .columns = "note STRING, id INT", .rows = "a|1\nb|2\n"}};
    SourceTest   test;
    TableFixture fixture;
    Str          text;
    int64_t      rows;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TableRead read = whole_table(&fixture);
    read.snapshot  = lsn_of("0x1F");
    read.chunk     = OPT_I64(7);
    assert_ok(read_part(&test, &read, &text, &rows), &test.err);
    assert_str_is(text, "DBO_orders|0x0000000000000000002A|NULL|0|NULL|NULL|a|NULL|1|NULL|"
                        "0x0000000000000000001F|7\n"
                        "DBO_orders|0x0000000000000000002A|NULL|0|NULL|NULL|b|NULL|2|NULL|"
                        "0x0000000000000000001F|7\n");
    source_test_close(&test);
}

static void a_part_reads_its_pieces_behind_the_prefix(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect = "UNION ALL", .columns = "note STRING, id INT"}};
    SourceTest              test;
    TableFixture            fixture;
    MssqlOptions            options = source_test_begin(&test, answers, COUNT_OF(answers));
    KeyPart                 lo[]    = {{.text = STR("3")}, {.text = STR("x")}},
            hi[]                    = {{.text = STR("7")}, {.text = STR("y")}};
    TableCut  cut;
    TableRead read;
    Str       text;
    int64_t   rows;

    (void)state;
    options.lock_timeout_ms    = 0;
    options.isolation_snapshot = true;
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    table_begin(&fixture, 2);
    assert_ok(mssql_cut_table(&fixture.table, NULL, 0, test.arena, &cut, &test.err), &test.err);
    read     = whole_table(&fixture);
    read.cut = &cut;
    read.lo  = lo;
    read.hi  = hi;
    assert_ok(read_part(&test, &read, &text, &rows), &test.err);
    const FakeCall *call = fake_server_call(test.server, "UNION ALL", 0);
    assert_true(str_starts_with(call->sql, STR("SET LOCK_TIMEOUT 0; SET TRANSACTION ISOLATION "
                                               "LEVEL SNAPSHOT; SELECT t.[note], t.[id] FROM")));
    assert_int_equal(call->param_count, 10);
    assert_str_is(call->params[0], "3");
    assert_str_is(call->params[1], "x");
    assert_int_equal(call->connection, 2);
    source_test_close(&test);
}

static void close_with_pool(SourceTest *test)
{
    sqldriver_close_kept(fake_server_driver(test->server), STR("Server=h"));
    sql_pool_close(fake_server_driver(test->server)->pool);
    source_test_close(test);
}

/* `count` chunks one after the other, with connections kept in between. */
static void read_chunks(SourceTest *test, TableFixture *fixture, int count)
{
    int64_t rows;
    Str     text;

    table_begin(fixture, 1);
    for (int i = 0; i < count; i++) {
        TableRead read = whole_table(fixture);
        assert_ok(read_part(test, &read, &text, &rows), &test->err);
        assert_int_equal(rows, 1);
    }
    assert_int_equal(count_in(buf_str(&test->log_text), " WARN "), 0);
}

static void a_connection_serves_one_chunk_after_the_other(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "SELECT t.[note]", .columns = "note STRING, id INT", .rows = "a|1\n"}};
    SourceTest   test;
    TableFixture fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    sqldriver_keep_connections(fake_server_driver(test.server), test.clock, 1000);
    read_chunks(&test, &fixture, 3);
    assert_int_equal(fake_server_connections(test.server), 2); /* with the one for questions */
    test.mssql->table_connection = STR("Server=h\nSET LOCK_TIMEOUT 5; "); /* other settings */
    read_chunks(&test, &fixture, 1);
    assert_int_equal(fake_server_connections(test.server), 3);
    close_with_pool(&test);
}

static void a_kept_connection_that_died_is_no_failure_of_a_chunk(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "SELECT t.[note]",
         .columns = "note STRING, id INT",
         .rows    = "a|1\n",
         .times   = 1},
        {.expect   = "SELECT t.[note]",
         .code     = ERR_SOURCE,
         .sqlstate = "08S01",
         .times    = 1,
         .kills    = true},
        {.expect = "SELECT t.[note]", .columns = "note STRING, id INT", .rows = "a|1\n"}};
    SourceTest   test;
    TableFixture fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    sqldriver_keep_connections(fake_server_driver(test.server), test.clock, 1000);
    read_chunks(&test, &fixture, 2);
    assert_int_equal(fake_server_connections(test.server), 3);
    close_with_pool(&test);
}

typedef struct Explained {
    int32_t     native;
    ErrCode     from, to;
    const char *text;
} Explained;

static void errors_of_the_table_say_what_to_do(void **state)
{
    static const Explained table[] = {
        {229, ERR_PERMISSION, ERR_PERMISSION, "GRANT SELECT ON [dbo].[or]]ders] TO [rea]]der]"},
        {230, ERR_PERMISSION, ERR_PERMISSION, "GRANT SELECT ON [dbo].[or]]ders] TO [rea]]der]"},
        {208, ERR_SOURCE_STATE, ERR_SOURCE_STATE,
         "gone or not visible to the login: when it was renamed, run this again; else grant"},
        {207, ERR_QUERY, ERR_SCHEMA_CHANGED, "lost a column that was to be read: run this again"},
        {0, ERR_SCHEMA_CHANGED, ERR_SCHEMA_CHANGED, "changed meanwhile: run this again"},
        {8114, ERR_QUERY, ERR_SCHEMA_CHANGED,
         "another type than when the bounds were planned: run this again"},
        {3952, ERR_SOURCE_STATE, ERR_SOURCE_STATE,
         "ALTER DATABASE [shop] SET ALLOW_SNAPSHOT_ISOLATION ON"},
        {1222, ERR_LOCK_TIMEOUT, ERR_LOCK_TIMEOUT,
         "a lock for longer than lock_timeout_ms (-1); nothing was committed: run this again"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const FakeAnswer answers[] = {FACTS_2022,
                                      {.expect  = "SELECT t.[note]",
                                       .code    = table[i].from,
                                       .native  = table[i].native,
                                       .message = "cause"}};
        SourceTest       test;
        TableFixture     fixture;
        Str              text;
        int64_t          rows;
        source_test_open(&test, answers, COUNT_OF(answers));
        table_begin(&fixture, 1);
        TableRead read = whole_table(&fixture);
        assert_false(read_part(&test, &read, &text, &rows));
        assert_err(&test.err, table[i].to, table[i].text);
        assert_err(&test.err, table[i].to, "cause");
        assert_int_equal(test.err.native, table[i].native);
        source_test_close(&test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_carry_the_stamp_and_operation_zero),
        cmocka_unit_test(a_chunks_rows_carry_its_number_and_its_snapshot),
        cmocka_unit_test(a_part_reads_its_pieces_behind_the_prefix),
        cmocka_unit_test(a_connection_serves_one_chunk_after_the_other),
        cmocka_unit_test(a_kept_connection_that_died_is_no_failure_of_a_chunk),
        cmocka_unit_test(errors_of_the_table_say_what_to_do),
    };
    return RUN_TESTS(tests);
}
