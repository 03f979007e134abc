/* A full snapshot's parts and rows (algorithms.md 3.2, 3.3; Q24, Q25, Q28, Q29). */
#include "source_test.h"

static CapturedColumn int_column(const char *name, int32_t id)
{
    return (CapturedColumn){.name          = str_from_c(name),
                            .column_id     = id,
                            .sql_type      = SQL_TYPE_INT,
                            .sql_type_name = STR("int"),
                            .has_type      = true,
                            .type          = COLUMN_TYPE(TYPE_INTEGER),
                            .is_in_source  = true,
                            .collation     = STR_EMPTY};
}

static CapturedColumn text_column(const char *name, int32_t id)
{
    return (CapturedColumn){.name          = str_from_c(name),
                            .column_id     = id,
                            .sql_type      = SQL_TYPE_VARCHAR,
                            .sql_type_name = STR("varchar(9)"),
                            .has_type      = true,
                            .type          = COLUMN_TYPE(TYPE_STRING),
                            .is_in_source  = true,
                            .collation     = STR("Greek_CI_AS")};
}

typedef struct TableFixture {
    CapturedColumn  columns[4];
    Str             keys[2];
    CaptureInstance instance;
    CaptureTable    table;
} TableFixture;

/* dbo.or]ders(id int key, code varchar key, note varchar, gone int) */
static void table_begin(TableFixture *fixture, size_t key_count)
{
    *fixture = (TableFixture){.columns = {int_column("id", 1), text_column("code", 2),
                                          text_column("note", 3), int_column("gone", 4)},
                              .keys    = {STR("id"), STR("code")}};
    fixture->columns[3].is_in_source = false;
    fixture->instance                = (CaptureInstance){.name             = STR("dbo_orders"),
                                                         .source_schema    = STR("dbo"),
                                                         .source_table     = STR("or]ders"),
                                                         .columns          = fixture->columns,
                                                         .column_count     = 4,
                                                         .key_columns      = fixture->keys,
                                                         .key_column_count = key_count};
    fixture->table = (CaptureTable){.instances = &fixture->instance, .instance_count = 1};
}

static TablePlan plan(SourceTest *test, TableFixture *fixture, const Str *keys, size_t key_count,
                      int64_t partitions)
{
    TablePlan out;

    assert_ok(mssql_plan_table(test->mssql, &fixture->table, keys, key_count, partitions,
                               test->arena, &out, &test->err),
              &test->err);
    return out;
}

#define EXTENT(rows_text)                                                                \
    {                                                                                    \
        .expect = "AS key_min", .columns = "key_min INT, key_max INT", .rows = rows_text \
    }

static void one_integer_column_is_cut_evenly(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022, EXTENT("0|9\n")};
    SourceTest              test;
    TableFixture            fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TablePlan out = plan(&test, &fixture, NULL, 0, 4); /* T3.2: bounds 2, 5, 7 */
    assert_int_equal(out.partition_count, 4);
    assert_null(out.partitions[0].lo);
    assert_str_is(out.partitions[0].hi[0].text, "2");
    assert_str_is(out.partitions[1].hi[0].text, "5");
    assert_str_is(out.partitions[2].hi[0].text, "7");
    assert_str_is(out.partitions[3].lo[0].text, "7");
    assert_null(out.partitions[3].hi);
    assert_int_equal(fake_server_open_connections(test.server),
                     1); /* the table connection was closed */
    assert_true(str_find(fake_server_call(test.server, "key_min", 0)->sql,
                         STR("FROM [dbo].[or]]ders] AS t WHERE t.[id] IS NOT NULL"), 0) > 0);
    source_test_close(&test);
}

static void a_bigints_whole_range_does_not_overflow(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect  = "AS key_min",
                                          .columns = "key_min BIGINT, key_max BIGINT",
                                          .rows    = "-9223372036854775808|9223372036854775807\n"}};
    SourceTest              test;
    TableFixture            fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TablePlan out = plan(&test, &fixture, NULL, 0, 2);
    assert_int_equal(out.partition_count, 2);
    assert_str_is(out.partitions[1].lo[0].text, "0");
    source_test_close(&test);
}

typedef struct OnePart {
    const char *extent;
    size_t      key_count;
    int64_t     partitions;
    int         calls;
} OnePart;

static void what_cannot_be_cut_is_one_part(void **state)
{
    static const OnePart table[] = {
        {"", 1, 4, 1}, {"5|5\n", 1, 4, 1}, {"0|9\n", 1, 1, 0}, {"0|9\n", 0, 4, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const FakeAnswer answers[] = {FACTS_2022, EXTENT(table[i].extent)};
        SourceTest       test;
        TableFixture     fixture;
        source_test_open(&test, answers, COUNT_OF(answers));
        table_begin(&fixture, table[i].key_count);
        TablePlan out = plan(&test, &fixture, NULL, 0, table[i].partitions);
        assert_int_equal(out.partition_count, 1);
        assert_true(!out.partitions[0].lo && !out.partitions[0].hi);
        assert_int_equal(fake_server_call_count(test.server, "key_min"), table[i].calls);
        source_test_close(&test);
    }
}

static void a_key_column_that_is_gone_or_has_no_bound_leaves_one_part(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022};
    static const Str        gone[] = {{"gone", 4}}, unknown[] = {{"nope", 4}};
    SourceTest              test;
    TableFixture            fixture;
    TablePlan               out;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 2);
    assert_int_equal(plan(&test, &fixture, gone, 1, 4).partition_count, 1);
    fixture.columns[1].collation = STR_EMPTY; /* not visible */
    assert_int_equal(plan(&test, &fixture, NULL, 0, 4).partition_count, 1);
    assert_false(
        mssql_plan_table(test.mssql, &fixture.table, unknown, 1, 4, test.arena, &out, &test.err));
    assert_err(&test.err, ERR_USAGE, "nope");
    source_test_close(&test);
}

#define SPACE(rows_text)                                                                  \
    {                                                                                     \
        .expect = "sp_spaceused", .columns = "name STRING, rows STRING, reserved STRING", \
        .rows = "orders|" rows_text "|8 KB\n"                                             \
    }

static void other_keys_are_cut_into_tiles_by_seeks(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        SPACE("5                   "),
        {.expect = "OFFSET 2 ROWS", .columns = "code STRING", .rows = "C2\n"},
        {.expect = "OFFSET 1 ROWS", .columns = "code STRING", .rows = "C3\n", .times = 1},
        {.expect = "OFFSET 1 ROWS", .columns = "code STRING", .rows = "C4\n"}};
    static const Str keys[] = {{"code", 4}};
    SourceTest       test;
    TableFixture     fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TablePlan out = plan(&test, &fixture, keys, 1, 4); /* T3.2: tiles of 2, 1, 1, 1 */
    assert_int_equal(out.partition_count, 4);
    assert_str_is(out.partitions[1].lo[0].text, "C2");
    assert_str_is(out.partitions[2].lo[0].text, "C3");
    assert_str_is(out.partitions[3].lo[0].text, "C4");
    const FakeCall *seek = fake_server_call(test.server, "OFFSET 1 ROWS", 0);
    assert_true(str_find(seek->sql,
                         STR("SELECT TOP (2) t.[code] FROM [dbo].[or]]ders] AS t WHERE t.[code] >= "
                             "CAST(? COLLATE Greek_CI_AS AS varchar(9))"),
                         0) > 0);
    assert_str_is(seek->params[0], "C2");
    assert_str_is(fake_server_call(test.server, "sp_spaceused", 0)->params[0], "[dbo].[or]]ders]");
    source_test_close(&test);
}

static void a_seek_that_ends_where_it_began_goes_twice_as_far(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        SPACE("6"),
        {.expect = "OFFSET 3 ROWS", .columns = "code STRING", .rows = "A\n"},
        {.expect = "OFFSET 2 ROWS", .columns = "code STRING", .rows = "A\n", .times = 2},
        {.expect = "OFFSET 4 ROWS", .columns = "code STRING", .rows = "B\n"}};
    static const Str keys[] = {{"code", 4}};
    SourceTest       test;
    TableFixture     fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    TablePlan out = plan(&test, &fixture, keys, 1, 3);
    assert_int_equal(out.partition_count, 3);
    assert_str_is(out.partitions[1].lo[0].text, "A");
    assert_str_is(out.partitions[2].lo[0].text, "B");
    source_test_close(&test);
}

static void the_last_tile_ends_open_when_a_seek_finds_nothing(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        SPACE("100"),
        {.expect  = "OFFSET 25 ROWS",
         .columns = "id INT, code STRING",
         .rows    = "7|NULL\n",
         .times   = 1},
        {.expect = "OFFSET 25 ROWS", .columns = "id INT, code STRING"}};
    SourceTest   test;
    TableFixture fixture;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 2);
    fixture.columns[1].is_nullable = true;
    TablePlan out                  = plan(&test, &fixture, NULL, 0, 4);
    assert_int_equal(out.partition_count, 2);
    assert_str_is(out.partitions[0].hi[0].text, "7");
    assert_true(out.partitions[0].hi[1].is_null);
    source_test_close(&test);
}

/* --- rows --- */

static const Column wanted_columns[] = {{.name = {"note", 4}, .type = {.kind = TYPE_STRING}},
                                        {.name = {"gone", 4}, .type = {.kind = TYPE_INTEGER}},
                                        {.name = {"id", 2}, .type = {.kind = TYPE_INTEGER}}};
static const Schema wanted           = {wanted_columns, COUNT_OF(wanted_columns)};

static bool read_part(SourceTest *test, TableFixture *fixture, const TablePlan *table_plan,
                      size_t partition, const Offset *stamp, Str *text_out, int64_t *rows_out)
{
    RowStream *stream;
    RowBlock   block;
    Buf        buf = buf_new(test->arena, 0);
    bool       ok;

    if (!mssql_read_table(test->mssql, &fixture->table, table_plan, partition, &wanted,
                          STR("DBO_orders"), stamp, test->arena, rows_out, &stream, &test->err))
        return false;
    while ((ok = row_stream_next(stream, &block, &test->err)) && block.row_count > 0)
        for (size_t row = 0; row < block.row_count; row++)
            for (size_t c = 0; c < block.column_count; c++) {
                assert_true(
                    column_type_equal(block.columns[c].type, stream->schema.columns[c].type));
                bool is_null = column_is_null(&block.columns[c], row);
                buf_append(&buf, is_null ? STR("NULL")
                                         : column_format(test->arena, &block.columns[c], row));
                buf_append_char(&buf, c + 1 == block.column_count ? '\n' : '|');
            }
    *text_out = buf_str(&buf);
    row_stream_close(stream);
    return ok;
}

static void rows_carry_the_stamp_and_operation_zero(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "SELECT t.[note], t.[id] FROM [dbo].[or]]ders] AS t;",
         .columns = "note STRING, id INT",
         .rows    = "a|1\nNULL|2\nc|3\n"}};
    SourceTest     test;
    TableFixture   fixture;
    TablePartition open_part = {0};
    TablePlan      whole     = {.partitions = &open_part, .partition_count = 1};
    Offset         stamp     = {.lsn = lsn_of("0x2A")};
    Str            text;
    int64_t        rows;

    (void)state;
    for (size_t block_rows = 1; block_rows <= 4; block_rows++) {
        source_test_open(&test, answers, COUNT_OF(answers));
        table_begin(&fixture, 1);
        fake_server_set_block_rows(test.server, block_rows);
        assert_ok(read_part(&test, &fixture, &whole, 0, &stamp, &text, &rows), &test.err);
#define TABLE_ROW(time, note, id)                                              \
    "DBO_orders|0x0000000000000000002A|NULL|0|NULL|" time "|" note "|NULL|" id \
    "|NULL|0x0000000000000000002A|NULL\n"
        assert_str_is(text, TABLE_ROW("NULL", "a", "1") TABLE_ROW("NULL", "NULL", "2")
                                TABLE_ROW("NULL", "c", "3"));
        assert_int_equal(rows, 3);
        source_test_close(&test);
    }
    stamp.commit_ts = (OptTime){true, us_of("2026-07-01T10:00:00.003")};
    source_test_open(&test, answers, COUNT_OF(answers));
    table_begin(&fixture, 1);
    assert_ok(read_part(&test, &fixture, &whole, 0, &stamp, &text, &rows), &test.err);
    assert_true(str_starts_with(text, STR(TABLE_ROW("2026-07-01T10:00:00.003000", "a", "1"))));
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
    TablePartition part             = {lo, hi};
    Offset         stamp            = {.lsn = lsn_of("0x2A")};
    Str            text;
    int64_t        rows;

    (void)state;
    options.lock_timeout_ms    = 0;
    options.isolation_snapshot = true;
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    table_begin(&fixture, 2);
    TablePlan cut = {.cut_columns      = fixture.keys,
                     .cut_column_count = 2,
                     .partitions       = &part,
                     .partition_count  = 1};
    assert_ok(read_part(&test, &fixture, &cut, 0, &stamp, &text, &rows), &test.err);
    const FakeCall *call = fake_server_call(test.server, "UNION ALL", 0);
    assert_true(str_starts_with(call->sql, STR("SET LOCK_TIMEOUT 0; SET TRANSACTION ISOLATION "
                                               "LEVEL SNAPSHOT; SELECT t.[note], t.[id] FROM")));
    assert_int_equal(call->param_count, 10);
    assert_str_is(call->params[0], "3");
    assert_str_is(call->params[1], "x");
    assert_int_equal(call->connection, 2);
    source_test_close(&test);
}

static void planning_reads_of_an_extent_stay_read_committed(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022, EXTENT("0|9\n")};
    SourceTest              test;
    TableFixture            fixture;
    MssqlOptions            options = source_test_begin(&test, answers, COUNT_OF(answers));

    (void)state;
    options.lock_timeout_ms    = 250;
    options.isolation_snapshot = true;
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    table_begin(&fixture, 1);
    (void)plan(&test, &fixture, NULL, 0, 4);
    assert_true(str_starts_with(fake_server_call(test.server, "key_min", 0)->sql,
                                STR("SET LOCK_TIMEOUT 250; SELECT")));
    source_test_close(&test);
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
        {208, ERR_SOURCE_STATE, ERR_SOURCE_STATE, "gone or not visible"},
        {207, ERR_QUERY, ERR_SCHEMA_CHANGED, "lost a column"},
        {8114, ERR_QUERY, ERR_SCHEMA_CHANGED, "another type"},
        {3952, ERR_SOURCE_STATE, ERR_SOURCE_STATE,
         "ALTER DATABASE [shop] SET ALLOW_SNAPSHOT_ISOLATION ON"},
        {1222, ERR_LOCK_TIMEOUT, ERR_LOCK_TIMEOUT, "cause"}};
    TablePartition open_part = {0};
    TablePlan      whole     = {.partitions = &open_part, .partition_count = 1};
    Offset         stamp     = {.lsn = lsn_of("0x2A")};

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
        assert_false(read_part(&test, &fixture, &whole, 0, &stamp, &text, &rows));
        assert_err(&test.err, table[i].to, table[i].text);
        assert_err(&test.err, table[i].to, "cause");
        assert_int_equal(test.err.native, table[i].native);
        source_test_close(&test);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_integer_column_is_cut_evenly),
        cmocka_unit_test(a_bigints_whole_range_does_not_overflow),
        cmocka_unit_test(what_cannot_be_cut_is_one_part),
        cmocka_unit_test(a_key_column_that_is_gone_or_has_no_bound_leaves_one_part),
        cmocka_unit_test(other_keys_are_cut_into_tiles_by_seeks),
        cmocka_unit_test(a_seek_that_ends_where_it_began_goes_twice_as_far),
        cmocka_unit_test(the_last_tile_ends_open_when_a_seek_finds_nothing),
        cmocka_unit_test(rows_carry_the_stamp_and_operation_zero),
        cmocka_unit_test(a_part_reads_its_pieces_behind_the_prefix),
        cmocka_unit_test(planning_reads_of_an_extent_stay_read_committed),
        cmocka_unit_test(errors_of_the_table_say_what_to_do),
    };
    return RUN_TESTS(tests);
}
