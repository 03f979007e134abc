/* source_test.h - a Mssql on a scripted server and a simulated clock. */
#ifndef TIDELAKE_SOURCE_TEST_H
#define TIDELAKE_SOURCE_TEST_H

#include "support/test_support.h"

#include "base/sched.h"
#include "source/mssql_internal.h"
#include "support/fake_sqlconn.h"

/* Q01's answer; %s: major version. */
#define FACTS_COLUMNS                                                                             \
    "major_version INT, engine_edition INT, product_version STRING, name STRING, collation_name " \
    "STRING, compatibility_level SMALLINT, "                                                      \
    "is_cdc_enabled BOOLEAN, snapshot_isolation_state SMALLINT, is_read_committed_snapshot_on "   \
    "BOOLEAN, is_read_only BOOLEAN, "                                                             \
    "updateability STRING, login_name STRING, user_name STRING, spid SMALLINT"
#define FACTS_2022                                                                              \
    {                                                                                           \
        .expect = "SERVERPROPERTY", .columns = FACTS_COLUMNS,                                   \
        .rows = "16|3|16.0.1000|shop|SQL_Latin1_General_CP1_CI_AS|160|true|1|false|false|READ_" \
                "WRITE|reader|rea]der|51\n"                                                     \
    }
#define FACTS_2019                                                                              \
    {                                                                                           \
        .expect = "SERVERPROPERTY", .columns = FACTS_COLUMNS,                                   \
        .rows = "15|3|15.0.2000|shop|SQL_Latin1_General_CP1_CI_AS|150|true|0|false|false|READ_" \
                "WRITE|reader|reader|51\n"                                                      \
    }

typedef struct SourceTest {
    Arena      *arena;
    Sched      *sched;
    Clock      *clock;
    Rng        *rng;
    Log        *log;
    Buf         log_text;
    FakeServer *server;
    Mssql      *mssql;
    Err         err;
} SourceTest;

UNUSED static void source_test_log(void *arg, LogLevel level, Str line)
{
    SourceTest *test = arg;

    (void)level;
    buf_append(&test->log_text, line);
    buf_append_char(&test->log_text, '\n');
}

UNUSED static MssqlOptions source_test_begin(SourceTest *test, const FakeAnswer *answers,
                                             size_t count)
{
    *test          = (SourceTest){.arena = arena_new(), .err = ERR_INIT};
    test->sched    = sched_new_simulated(7, (int64_t)1790000000 * 1000000, &test->clock);
    test->rng      = rng_new(7);
    test->log_text = buf_new(test->arena, 0);
    test->log      = log_new(test->clock, LOG_INFO, LOG_FORMAT_TEXT, source_test_log, test);
    test->server   = fake_server_new(test->arena, answers, count);
    return (MssqlOptions){.driver             = fake_server_driver(test->server),
                          .clock              = test->clock,
                          .rng                = test->rng,
                          .log                = test->log,
                          .connection         = STR("Server=h"),
                          .time_zone          = STR("UTC"),
                          .connect_timeout_s  = 30,
                          .lock_timeout_ms    = -1,
                          .include_command_id = true,
                          .name               = STR("dbo_orders")};
}

UNUSED static void source_test_open(SourceTest *test, const FakeAnswer *answers, size_t count)
{
    MssqlOptions options = source_test_begin(test, answers, count);

    assert_ok(mssql_open(&options, &test->mssql, &test->err), &test->err);
}

UNUSED static void source_test_close(SourceTest *test)
{
    mssql_close(test->mssql);
    assert_int_equal(fake_server_open_connections(test->server), 0);
    log_close(test->log);
    rng_close(test->rng);
    clock_close(test->clock);
    sched_close(test->sched);
    arena_close(test->arena);
}

UNUSED static size_t count_in(Str text, const char *word)
{
    size_t count = 0;

    for (ptrdiff_t at = 0; (at = str_find(text, str_from_c(word), (size_t)at)) >= 0; at++)
        count++;
    return count;
}

/* Reads the stream to its end and closes it: rows as text, a line each, columns by '|'. Types are the schema's. */
UNUSED static bool read_as_text(SourceTest *test, RowStream *stream, Str *text_out,
                                size_t *rows_out)
{
    RowBlock block;
    Buf      buf = buf_new(test->arena, 0);
    bool     ok;

    *rows_out = 0;
    while ((ok = row_stream_next(stream, &block, &test->err)) && block.row_count > 0) {
        assert_int_equal(block.column_count, stream->schema.column_count);
        for (size_t row = 0; row < block.row_count; row++)
            for (size_t c = 0; c < block.column_count; c++) {
                assert_true(
                    column_type_equal(block.columns[c].type, stream->schema.columns[c].type));
                bool is_null = column_is_null(&block.columns[c], row);
                buf_append(&buf, is_null ? STR("NULL")
                                         : column_format(test->arena, &block.columns[c], row));
                buf_append_char(&buf, c + 1 == block.column_count ? '\n' : '|');
            }
        *rows_out += block.row_count;
    }
    *text_out = buf_str(&buf);
    row_stream_close(stream);
    return ok;
}

UNUSED static Lsn lsn_of(const char *text)
{
    Lsn out = LSN_ZERO;

    assert_true(lsn_parse(str_from_c(text), &out));
    return out;
}

UNUSED static int64_t us_of(const char *text)
{
    int64_t out = 0;

    assert_true(time_parse(str_from_c(text), &out));
    return out;
}

#endif
