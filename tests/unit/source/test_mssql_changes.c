/* Change rows as bronze has them, and what is measured around them (algorithms.md 2.6, 11; Q03,
 * Q16, Q17). */
#include "source_test.h"

#include "sqlconn/sqlconn_internal.h"

#define CHANGE_COLUMNS                                                                            \
    "__$start_lsn BINARY, __$seqval BINARY, __$operation INT, __$command_id INT, __$commit_time " \
    "TIMESTAMP_NTZ, name STRING, id INT"
#define ROW(commit, seq, op, time, id, name)                                                      \
    "0x000000000000000000" commit "|0x0000000000000000" seq "|" op "|1|2026-07-01T" time "|" name \
    "|" id "\n"

#define QUIET_RTT                                                  \
    {                                                              \
        .expect = "SELECT 1;", .columns = "one INT", .rows = "1\n" \
    }
#define NO_WAIT_STATS                                                  \
    {                                                                  \
        .expect = "ASYNC_NETWORK_IO", .code = ERR_QUERY, .native = 208 \
    }
#define MIN_LSN(lsn)                                                                  \
    {                                                                                 \
        .expect = "fn_cdc_get_min_lsn", .columns = "min_lsn STRING", .rows = lsn "\n" \
    }

static CapturedColumn columns_of_orders[] = {
    {.name          = {"id", 2},
     .column_id     = 1,
     .sql_type      = SQL_TYPE_INT,
     .sql_type_name = {"int", 3},
     .has_type      = true,
     .type          = {.kind = TYPE_INTEGER},
     .is_in_source  = true},
    {.name          = {"name", 4},
     .column_id     = 2,
     .sql_type      = SQL_TYPE_VARCHAR,
     .sql_type_name = {"varchar(10)", 11},
     .has_type      = true,
     .type          = {.kind = TYPE_STRING}},
    {.name          = {"calc", 4},
     .column_id     = 3,
     .sql_type      = SQL_TYPE_INT,
     .sql_type_name = {"int", 3},
     .has_type      = true,
     .type          = {.kind = TYPE_INTEGER},
     .is_computed   = true},
    {.name          = {"shape", 5},
     .column_id     = 4,
     .sql_type      = SQL_TYPE_OTHER,
     .sql_type_name = {"geography", 9}},
};

static const CaptureInstance orders = {.name         = {"dbo_or]ders", 11},
                                       .columns      = columns_of_orders,
                                       .column_count = COUNT_OF(columns_of_orders)};

static const Column wanted_columns[] = {
    {.name = {"NAME", 4}, .type = {.kind = TYPE_STRING}},
    {.name = {"gone", 4}, .type = {.kind = TYPE_DECIMAL, .precision = 30, .scale = 2}},
    {.name = {"calc", 4}, .type = {.kind = TYPE_INTEGER}},
    {.name = {"id", 2}, .type = {.kind = TYPE_INTEGER}}};
static const Schema wanted = {wanted_columns, COUNT_OF(wanted_columns)};

typedef struct Read {
    size_t        rows;
    ChangeMetrics metrics;
    Str           text; /* rows as text, columns by '|' */
} Read;

static ChangeRange range_of(const char *from, const char *to, bool is_last)
{
    return (ChangeRange){.instance  = &orders,
                         .from      = lsn_of(from),
                         .to        = lsn_of(to),
                         .is_last   = is_last,
                         .batch_end = lsn_of(to)};
}

static bool read_all(SourceTest *test, const ChangeRange *range, Read *out)
{
    RowStream *stream;

    *out = (Read){0};
    return mssql_read_changes(test->mssql, range, &wanted, 41, test->arena, &out->metrics, &stream,
                              &test->err) &&
           read_as_text(test, stream, &out->text, &out->rows);
}

#define SHAPE(commit, seq, op, time, name, id)                                 \
    "dbo_or]ders|0x000000000000000000" commit "|0x0000000000000000" seq "|" op \
    "|1|2026-07-01T" time "000|" name "|NULL|NULL|" id "|41|NULL|NULL\n"

static void rows_come_in_bronzes_form_whatever_the_block_size(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        QUIET_RTT,
        NO_WAIT_STATS,
        MIN_LSN("0x00000000000000000001"),
        {.expect  = "__$operation",
         .columns = CHANGE_COLUMNS,
         .rows    = ROW("02", "0AFF", "2", "10:00:00.003", "1", "one")
             ROW("02", "0B00", "1", "10:00:00.003", "2", "NULL")
                 ROW("03", "0B01", "3", "10:00:01.000", "3", "")
                     ROW("03", "0B01", "4", "10:00:01.000", "3", "tre")}};

    (void)state;
    for (size_t block_rows = 1; block_rows <= 5; block_rows++) {
        SourceTest test;
        Read       read;
        source_test_open(&test, answers, COUNT_OF(answers));
        fake_server_set_block_rows(test.server, block_rows);
        ChangeRange range = range_of("0x01", "0x09", false);
        assert_ok(read_all(&test, &range, &read), &test.err);
        assert_str_is(read.text, SHAPE("02", "0AFF", "2", "10:00:00.003", "one", "1")
                                     SHAPE("02", "0B00", "1", "10:00:00.003", "NULL", "2")
                                         SHAPE("03", "0B01", "3", "10:00:01.000", "", "3")
                                             SHAPE("03", "0B01", "4", "10:00:01.000", "tre", "3"));
        const ChangeMetrics *m = &read.metrics;
        assert_int_equal(m->rows, 4);
        assert_int_equal(m->deletes, 1);
        assert_int_equal(m->inserts, 1);
        assert_int_equal(m->updates, 1);
        assert_true(lsn_equal(m->min_lsn, lsn_of("0x02")) && lsn_equal(m->max_lsn, lsn_of("0x03")));
        assert_int_equal(m->min_commit_ts.utc_us, us_of("2026-07-01T10:00:00.003"));
        assert_int_equal(m->max_commit_ts.utc_us, us_of("2026-07-01T10:00:01"));
        assert_true(m->min_lsn_after_is_set && lsn_equal(m->min_lsn_after, lsn_of("0x01")));
        assert_int_equal(m->network_wait_ms, -1); /* unknown, and no failure */
        assert_true(m->rtt_ms >= 0);
        assert_true(m->capture_lag_seconds != m->capture_lag_seconds);
        assert_false(m->is_last);
        source_test_close(&test);
    }
}

static void the_statement_joins_the_mapping_and_orders_by_the_key(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         QUIET_RTT,
                                         NO_WAIT_STATS,
                                         MIN_LSN("NULL"),
                                         {.expect = "__$operation", .columns = CHANGE_COLUMNS}};
    SourceTest              test;
    Read                    read;
    ChangeRange             range = range_of("0x01", "0x0A", false);

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(read_all(&test, &range, &read), &test.err);
    const FakeCall *call = fake_server_call(test.server, "__$operation", 0);
    assert_true(str_find(call->sql, STR("FROM cdc.[dbo_or]]ders_CT] AS c"), 0) > 0);
    assert_true(str_find(call->sql, STR("c.[name], c.[id]\n"), 0) > 0);
    assert_true(
        str_find(
            call->sql,
            STR("ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation];"),
            0) > 0);
    assert_int_equal(call->param_count, 2);
    assert_str_is(call->params[0], "0x00000000000000000001");
    assert_str_is(call->params[1], "0x0000000000000000000A");
    assert_int_equal(call->connection, 2); /* its own */
    assert_int_equal(read.metrics.rows, 0);
    assert_true(lsn_is_zero(read.metrics.min_lsn) && lsn_is_zero(read.metrics.max_lsn));
    assert_false(read.metrics.min_commit_ts.is_set);
    assert_false(read.metrics.min_lsn_after_is_set);
    assert_int_equal(read.metrics.read_bytes, 0);
    source_test_close(&test);
}

static void without_command_ids_neither_list_nor_order_names_them(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        QUIET_RTT,
        NO_WAIT_STATS,
        MIN_LSN("NULL"),
        {.expect  = "__$operation",
         .columns = "__$start_lsn BINARY, __$seqval BINARY, __$operation INT, __$commit_time "
                    "TIMESTAMP_NTZ, name STRING, id INT",
         .rows    = "0x00000000000000000002|0x00000000000000000003|2|2026-07-01T10:00:00|x|1\n"}};
    SourceTest   test;
    Read         read;
    ChangeRange  range   = range_of("0x01", "0x0A", false);
    MssqlOptions options = source_test_begin(&test, answers, COUNT_OF(answers));

    (void)state;
    options.include_command_id = false;
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    assert_ok(read_all(&test, &range, &read), &test.err);
    assert_int_equal(fake_server_call_count(test.server, "__$command_id"), 0);
    assert_str_is(read.text, "dbo_or]ders|0x00000000000000000002|0x00000000000000000003|2|2026-07-"
                             "01T10:00:00.000000|x|NULL|NULL|1|41|NULL|NULL\n");
    source_test_close(&test);
}

/* Fixed width, or 4 + length, plus a validity bit each; metadata included, the sink's columns not
 * (T11; algorithms.md 11). */
static void bytes_are_those_of_the_columns(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         QUIET_RTT,
                                         NO_WAIT_STATS,
                                         MIN_LSN("NULL"),
                                         {.expect  = "__$operation",
                                          .columns = CHANGE_COLUMNS,
                                          .rows = ROW("02", "0AFF", "2", "10:00:00", "1", "four")}};
    SourceTest              test;
    Read                    read;
    ChangeRange             range = range_of("0x01", "0x0A", false);

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    fake_server_set_block_rows(test.server, 100);
    assert_ok(read_all(&test, &range, &read), &test.err);
    int64_t fixed = (4 + 11) + (4 + 22) + (4 + 22) + 4 + 4 + 8 + (4 + 4) + 16 + 4 + 4;
    assert_in_range(read.metrics.read_bytes, fixed + 1,
                    fixed + 10); /* ten validity bits, however they are rounded */
    source_test_close(&test);
}

static void the_last_range_measures_the_position(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        QUIET_RTT,
        {.expect = "ASYNC_NETWORK_IO", .columns = "ms BIGINT", .rows = "100\n", .times = 1},
        {.expect = "ASYNC_NETWORK_IO", .columns = "ms BIGINT", .rows = "130\n"},
        MIN_LSN("0x00000000000000000001"),
        {.expect  = "fn_cdc_get_max_lsn",
         .columns = "max_lsn STRING",
         .rows    = "0x0000000000000000000F\n"},
        {.expect  = "__$operation",
         .columns = CHANGE_COLUMNS,
         .rows    = ROW("02", "0AFF", "2", "10:00:00", "1", "x")},
        /* three look-ups: of the maximum, of the low endpoint (no commit's), of the batch's end */
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = "start_lsn BINARY, tran_end_time TIMESTAMP_NTZ",
         .rows    = "0x0000000000000000000F|2026-07-01T10:05:00\n",
         .times   = 1},
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = "start_lsn BINARY, tran_end_time TIMESTAMP_NTZ",
         .rows    = "0x00000000000000000000|2026-06-01T00:00:00\n",
         .times   = 1},
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = "start_lsn BINARY, tran_end_time TIMESTAMP_NTZ",
         .rows    = "0x0000000000000000000A|2026-07-01T10:02:00\n"}};
    SourceTest  test;
    Read        read;
    ChangeRange range = range_of("0x01", "0x0A", true);

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(read_all(&test, &range, &read), &test.err);
    const ChangeMetrics *m = &read.metrics;
    assert_true(m->is_last);
    assert_int_equal(m->network_wait_ms, 30);
    assert_int_equal(m->source_max_commit_ts.utc_us, us_of("2026-07-01T10:05:00"));
    assert_false(m->retention_watermark_ts.is_set);
    assert_int_equal(m->end_commit_ts.utc_us, us_of("2026-07-01T10:02:00"));
    double lag = (double)(clock_utc_us(test.clock) - us_of("2026-07-01T10:05:00")) / 1e6;
    assert_true(m->capture_lag_seconds > lag - 1 && m->capture_lag_seconds <= lag);
    source_test_close(&test);
}

static void metrics_that_fail_never_fail_a_read(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        QUIET_RTT,
        NO_WAIT_STATS,
        MIN_LSN("0x00000000000000000001"),
        {.expect = "fn_cdc_get_max_lsn", .code = ERR_SOURCE},
        {.expect = "__$operation", .columns = CHANGE_COLUMNS},
        {.expect = "FROM cdc.lsn_time_mapping", .code = ERR_SOURCE}};
    SourceTest  test;
    Read        read;
    ChangeRange range = range_of("0x01", "0x0A", true);

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(read_all(&test, &range, &read), &test.err);
    assert_false(read.metrics.source_max_commit_ts.is_set);
    assert_false(read.metrics.end_commit_ts.is_set);
    source_test_close(&test);
}

static void the_retention_question_must_be_answered(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         QUIET_RTT,
                                         NO_WAIT_STATS,
                                         {.expect = "fn_cdc_get_min_lsn", .code = ERR_SOURCE},
                                         {.expect = "__$operation", .columns = CHANGE_COLUMNS}};
    SourceTest              test;
    Read                    read;
    ChangeRange             range = range_of("0x01", "0x0A", false);

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(read_all(&test, &range, &read));
    assert_int_equal(test.err.code, ERR_SOURCE);
    source_test_close(&test);
}

static void an_error_in_the_middle_is_passed_on(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         QUIET_RTT,
                                         NO_WAIT_STATS,
                                         {.expect  = "__$operation",
                                          .columns = CHANGE_COLUMNS,
                                          .rows    = ROW("02", "0AFF", "2", "10:00:00", "1", "x")
                                              ROW("03", "0AFF", "2", "10:00:00", "1", "x"),
                                          .code            = ERR_SOURCE,
                                          .native          = 596,
                                          .message         = "killed",
                                          .fail_after_rows = 1,
                                          .kills           = true}};
    SourceTest              test;
    Read                    read;
    ChangeRange             range = range_of("0x01", "0x0A", false);

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(read_all(&test, &range, &read));
    assert_err(&test.err, ERR_SOURCE, "killed");
    assert_int_equal(read.metrics.rows, 1);
    source_test_close(&test);
}

static void a_missing_grant_is_spelled_out(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         QUIET_RTT,
                                         NO_WAIT_STATS,
                                         {.expect   = "__$operation",
                                          .code     = ERR_PERMISSION,
                                          .native   = 229,
                                          .sqlstate = "42000",
                                          .message  = "The SELECT permission was denied"},
                                         {.expect  = "HAS_PERMS_BY_NAME",
                                          .columns = "can_read INT, min_lsn STRING",
                                          .rows    = "0|0x00000000000000000001\n"}};
    SourceTest              test;
    Read                    read;
    ChangeRange             range    = range_of("0x01", "0x0A", false);
    CaptureInstance         instance = orders;
    bool                    can;
    Str                     grant;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(read_all(&test, &range, &read)); /* T12.3 */
    assert_err(&test.err, ERR_PERMISSION, "GRANT SELECT ON cdc.[dbo_or]]ders_CT] TO [rea]]der]");
    assert_err(&test.err, ERR_PERMISSION, "each capture instance has its own change table");
    assert_err(&test.err, ERR_PERMISSION, "The SELECT permission was denied");
    assert_int_equal(test.err.native, 229);
    assert_int_equal(fake_server_call(test.server, "HAS_PERMS_BY_NAME", 0)->connection,
                     2); /* not meta: it belongs to another thread */
    assert_ok(mssql_can_read_changes(test.mssql, &instance, test.arena, &can, &grant, &test.err),
              &test.err);
    assert_false(can);
    assert_str_is(grant, "GRANT SELECT ON cdc.[dbo_or]]ders_CT] TO [rea]]der]");
    source_test_close(&test);
}

static void what_is_not_there_is_not_denied(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect  = "HAS_PERMS_BY_NAME",
                                          .columns = "can_read INT, min_lsn STRING",
                                          .rows    = "0|0x00000000000000000000\n"}};
    SourceTest              test;
    bool                    can;
    Str                     grant;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_can_read_changes(test.mssql, &orders, test.arena, &can, &grant, &test.err),
              &test.err);
    assert_true(can);
    assert_int_equal(grant.len, 0);
    source_test_close(&test);
}

typedef struct Explained {
    int32_t     native;
    ErrCode     from, to;
    const char *text;
} Explained;

static void errors_of_the_change_table_say_what_to_do(void **state)
{
    static const Explained table[] = {{208, ERR_SOURCE_STATE, ERR_SOURCE_STATE, "was disabled"},
                                      {207, ERR_QUERY, ERR_SCHEMA_CHANGED, "include_command_id"},
                                      {22981, ERR_SOURCE_STATE, ERR_SOURCE_STATE, "gating role"},
                                      {1205, ERR_SOURCE, ERR_SOURCE, "cause"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const FakeAnswer answers[] = {FACTS_2022,
                                      QUIET_RTT,
                                      NO_WAIT_STATS,
                                      {.expect  = "__$operation",
                                       .code    = table[i].from,
                                       .native  = table[i].native,
                                       .message = "cause"}};
        SourceTest       test;
        Read             read;
        ChangeRange      range = range_of("0x01", "0x0A", false);
        source_test_open(&test, answers, COUNT_OF(answers));
        assert_false(read_all(&test, &range, &read));
        assert_err(&test.err, table[i].to, table[i].text);
        assert_err(&test.err, table[i].to, "cause");
        assert_int_equal(test.err.native, table[i].native);
        source_test_close(&test);
    }
}

static void a_column_without_a_type_is_refused_by_name(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022};
    static const Column     shape     = {.name = {"shape", 5}, .type = {.kind = TYPE_BINARY}};
    SourceTest              test;
    ChangeMetrics           metrics;
    ChangeRange             range  = range_of("0x01", "0x0A", false);
    Schema                  schema = {&shape, 1};
    RowStream              *stream;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(mssql_read_changes(test.mssql, &range, &schema, 1, test.arena, &metrics, &stream,
                                    &test.err));
    assert_err(&test.err, ERR_UNSUPPORTED, "dbo_or]ders");
    assert_err(&test.err, ERR_UNSUPPORTED, "shape");
    assert_err(&test.err, ERR_UNSUPPORTED, "geography");
    assert_err(&test.err, ERR_UNSUPPORTED, "columns option");
    assert_int_equal(fake_server_connections(test.server), 1); /* before a connection was opened */
    source_test_close(&test);
}

/* Reads a range twice with connections kept in between. */
static void read_twice(SourceTest *test, const FakeAnswer *answers, size_t count)
{
    ChangeRange range = range_of("0x01", "0x09", false);
    Read        read;

    source_test_open(test, answers, count);
    sqldriver_keep_connections(fake_server_driver(test->server), test->clock, 1000);
    for (int i = 0; i < 2; i++)
        assert_ok(read_all(test, &range, &read), &test->err);
    assert_int_equal(count_in(buf_str(&test->log_text), " WARN "), 0);
}

static void close_with_pool(SourceTest *test)
{
    sqldriver_close_kept(fake_server_driver(test->server), STR("Server=h"));
    sql_pool_close(fake_server_driver(test->server)->pool);
    source_test_close(test);
}

#define CHANGES                                                    \
    {                                                              \
        .expect = "__$operation", .columns = CHANGE_COLUMNS,       \
        .rows = ROW("02", "0AFF", "2", "10:00:00.003", "1", "one") \
    }
#define WAIT_STATS                                                          \
    {                                                                       \
        .expect = "ASYNC_NETWORK_IO", .columns = "ms BIGINT", .rows = "5\n" \
    }

static void a_connection_serves_one_range_after_the_other(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022, QUIET_RTT, WAIT_STATS,
                                         MIN_LSN("0x00000000000000000001"), CHANGES};
    SourceTest              test;

    (void)state;
    read_twice(&test, answers, COUNT_OF(answers));
    assert_int_equal(fake_server_connections(test.server), 2); /* with the one for questions */
    close_with_pool(&test);
}

static void a_kept_connection_that_died_is_replaced_without_a_word(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "SELECT 1;", .columns = "one INT", .rows = "1\n", .times = 1},
        {.expect = "SELECT 1;", .code = ERR_SOURCE, .sqlstate = "08S01", .times = 1, .kills = true},
        QUIET_RTT,
        WAIT_STATS,
        MIN_LSN("0x00000000000000000001"),
        CHANGES};
    SourceTest test;

    (void)state;
    read_twice(&test, answers, COUNT_OF(answers));
    assert_int_equal(fake_server_connections(test.server), 3);
    close_with_pool(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_serves_one_range_after_the_other),
        cmocka_unit_test(a_kept_connection_that_died_is_replaced_without_a_word),
        cmocka_unit_test(rows_come_in_bronzes_form_whatever_the_block_size),
        cmocka_unit_test(the_statement_joins_the_mapping_and_orders_by_the_key),
        cmocka_unit_test(without_command_ids_neither_list_nor_order_names_them),
        cmocka_unit_test(bytes_are_those_of_the_columns),
        cmocka_unit_test(the_last_range_measures_the_position),
        cmocka_unit_test(metrics_that_fail_never_fail_a_read),
        cmocka_unit_test(the_retention_question_must_be_answered),
        cmocka_unit_test(an_error_in_the_middle_is_passed_on),
        cmocka_unit_test(a_missing_grant_is_spelled_out),
        cmocka_unit_test(what_is_not_there_is_not_denied),
        cmocka_unit_test(errors_of_the_change_table_say_what_to_do),
        cmocka_unit_test(a_column_without_a_type_is_refused_by_name),
    };
    return RUN_TESTS(tests);
}
