/* state_test.h - an empty lake in memory on simulated time, for the tests of state/. Include
 * test_support.h first. */
#ifndef TIDELAKE_STATE_TEST_H
#define TIDELAKE_STATE_TEST_H

#include "base/buf.h"
#include "state/bronze.h"
#include "state/checkpoint.h"
#include "state/control.h"
#include "state/facts.h"
#include "state/silver.h"

#define TEST_UTC_US INT64_C(1796008191067000) /* 2026-11-30T03:09:51.067Z */

typedef struct TestLog {
    int  warning_count;
    char last[1024];
} TestLog;

typedef struct Lake {
    Arena       *arena;
    Sched       *sched;
    Clock       *clock;
    Rng         *rng;
    Store       *store;
    Log         *log;
    TestLog      lines;
    DeltaContext delta;
    Err          err;
} Lake;

UNUSED static void keep_warning(void *arg, LogLevel level, Str line)
{
    TestLog *log = arg;

    if (level > LOG_WARN) return;
    log->warning_count++;
    (void)snprintf(log->last, sizeof log->last, "%.*s", STR_ARG(line));
}

UNUSED static int open_duck(void **state)
{
    Err         err     = ERR_INIT;
    Duck       *duck    = NULL;
    DuckOptions options = {
        .memory_limit_bytes = INT64_C(1) << 30, .threads = 1, .temp_directory = STR("/tmp")};

    if (!duck_open(&options, &duck, &err)) return -1;
    *state = duck;
    return 0;
}

UNUSED static int close_duck(void **state)
{
    duck_close(*state);
    return 0;
}

/* `duck` may be NULL for tests that touch no table. */
UNUSED static Lake *lake_open(Duck *duck)
{
    Arena *arena = arena_new();
    Lake  *lake  = ARENA_NEW(arena, Lake);

    lake->arena = arena;
    lake->sched = sched_new_simulated(1, TEST_UTC_US, &lake->clock);
    lake->rng   = rng_new(1);
    lake->store = store_memory_new(lake->clock, NULL);
    lake->log   = log_new(lake->clock, LOG_INFO, LOG_FORMAT_TEXT, keep_warning, &lake->lines);
    lake->delta = (DeltaContext){.store       = lake->store,
                                 .clock       = lake->clock,
                                 .rng         = lake->rng,
                                 .duck        = duck,
                                 .log         = lake->log,
                                 .engine_info = STR("tidelake/test"),
                                 .compression = DUCK_UNCOMPRESSED};
    return lake;
}

UNUSED static void lake_close(Lake *lake)
{
    store_close(lake->store);
    log_close(lake->log);
    rng_close(lake->rng);
    sched_close(lake->sched);
    arena_close(lake->arena);
}

UNUSED static Lsn lsn_of(const char *text)
{
    Lsn lsn;

    assert_true(lsn_parse(str_from_c(text), &lsn));
    return lsn;
}

/* The n-th LSN of these tests. */
UNUSED static Lsn lsn_number(unsigned n)
{
    Lsn lsn = {{0, 0, 0, 0x2A}};

    lsn.bytes[8] = (uint8_t)(n >> 8);
    lsn.bytes[9] = (uint8_t)n;
    return lsn;
}

UNUSED static int64_t time_of(const char *text)
{
    int64_t us;

    assert_true(time_parse(str_from_c(text), &us));
    return us;
}

UNUSED static Offset offset_of(unsigned n, const char *time)
{
    return (Offset){.lsn       = lsn_number(n),
                    .commit_ts = time ? OPT_TIME(time_of(time)) : (OptTime){.is_set = false}};
}

UNUSED static Str read_text(Lake *lake, const char *path)
{
    Bytes bytes;

    if (!store_read(lake->store, str_from_c(path), (size_t)1 << 20, lake->arena, &bytes,
                    &lake->err))
        return STR("(none)");
    return bytes_str(bytes);
}

UNUSED static void put_text(Lake *lake, const char *path, const char *text)
{
    assert_ok(store_replace(lake->store, str_from_c(path), str_bytes(str_from_c(text)), &lake->err),
              &lake->err);
}

/* Rows of a table by a SELECT with "{}" for it: "a|b\n" a row, NULL as "-". */
UNUSED static Str rows_of(Lake *lake, const char *path, const char *select)
{
    DeltaTable  *table   = NULL;
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    Buf          buf     = buf_new(lake->arena, 0);
    Str          scan, sql = str_from_c(select);
    ptrdiff_t    at = str_find(sql, STR("{}"), 0);
    RowBlock     block;

    assert_ok(delta_table_open(&lake->delta, str_from_c(path), &table, &lake->err), &lake->err);
    assert_ok(delta_scan_sql(table, NULL, 0, NULL, false, lake->arena, &scan, &lake->err),
              &lake->err);
    delta_table_close(table);
    sql = str_printf(lake->arena, "%.*s%.*s%.*s", STR_ARG(str_slice(sql, 0, (size_t)at)),
                     STR_ARG(scan), STR_ARG(str_slice(sql, (size_t)at + 2, sql.len)));
    assert_ok(duck_session_open(lake->delta.duck, &session, &lake->err), &lake->err);
    assert_ok(duck_query(session, sql, lake->arena, &rows, &lake->err), &lake->err);
    do {
        assert_ok(row_stream_next(rows, &block, &lake->err), &lake->err);
        for (size_t row = 0; row < block.row_count; row++)
            for (size_t i = 0; i < block.column_count; i++) {
                Str text = column_is_null(&block.columns[i], row)
                               ? STR("-")
                               : column_format(lake->arena, &block.columns[i], row);
                buf_printf(&buf, "%.*s%s", STR_ARG(text), i + 1 < block.column_count ? "|" : "\n");
            }
    } while (block.row_count > 0);
    row_stream_close(rows);
    duck_session_close(session);
    return buf_str(&buf);
}

#endif
