/* test_cdc_self.c - the self-tests that pin change data capture (sqlserver.md 2.19): what a reader rests on, told in the T-SQL
 * that could run against a real server too. */
#include "unit/sim/script.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_answer(Str got, const char *want)
{
    if (str_equal(got, str_from_c(want))) return;
    fprintf(stderr, "want:\n%sgot:\n%.*s", want, STR_ARG(got));
    fail();
}

static void run(Script *script, int session, const char *sql)
{
    (void)script_run(script, session, str_from_c(sql));
}

static void answers(Script *script, int session, const char *sql, const char *want)
{
    assert_answer(script_run(script, session, str_from_c(sql)), want);
}

/* A database with capture by hand, and dbo.t(id, v) under instance `ci`. */
static Script *open_shop(void)
{
    Script *script = script_open();

    run(script, 1, "CREATE DATABASE shop");
    run(script, 1, "USE shop");
    run(script, 1, "EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual'");
    run(script, 1, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NULL)");
    run(script, 1, "EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'ci'");
    run(script, 2, "USE shop");
    run(script, 1, "EXEC tidesim.scan_now");
    return script;
}

static void self_test_one_transaction_gives_2_3_4_3_4_1_with_ascending_command_ids(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1,
        "BEGIN TRAN; INSERT INTO t VALUES (1, 1); UPDATE t SET v = 2; UPDATE t SET v = 3; DELETE "
        "FROM t; COMMIT; EXEC tidesim.scan_now");
    answers(script, 1,
            "SELECT __$operation AS op, __$command_id AS cmd, v FROM cdc.ci_CT ORDER BY "
            "__$start_lsn, __$command_id, __$seqval, __$operation",
            "op|cmd|v\n2|1|1\n3|2|1\n4|2|2\n3|3|2\n4|3|3\n1|4|3\n(6)\n");
    script_close(script);
}

static void self_test_a_purged_range_reads_as_empty_and_min_lsn_moved(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1, "EXEC tidesim.clock_advance 60000; INSERT INTO t VALUES (1, 1)");
    run(script, 1,
        "EXEC tidesim.clock_advance 60000; INSERT INTO t VALUES (2, 2); EXEC tidesim.scan_now");
    run(script, 1,
        "SELECT __$start_lsn AS lsn INTO dbo.old FROM cdc.ci_CT WHERE id = 1; DECLARE @l "
        "binary(10) "
        "= sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table 'ci', @l");
    answers(
        script, 1,
        "SELECT COUNT(*) AS n FROM cdc.ci_CT AS c JOIN cdc.lsn_time_mapping AS m ON m.start_lsn "
        "= c.__$start_lsn WHERE c.__$start_lsn <= (SELECT lsn FROM old)",
        "n\n0\n(1)\n");
    answers(
        script, 1,
        "SELECT CASE WHEN sys.fn_cdc_get_min_lsn('ci') > (SELECT lsn FROM old) THEN 'moved' END "
        "AS min_lsn",
        "min_lsn\nmoved\n(1)\n");
    script_close(script);
}

static void self_test_rows_at_or_below_max_lsn_never_grow_under_a_long_transaction(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1,
        "CREATE TABLE dbo.probe (n int IDENTITY PRIMARY KEY, max_lsn binary(10), held int)");
    run(script, 2, "BEGIN TRAN; INSERT INTO t VALUES (1000, 0)");
    for (int i = 0; i < 20; i++) {
        if (i == 12) run(script, 2, "COMMIT");
        run(script, 1, "INSERT INTO t SELECT COUNT(*), 0 FROM t WITH (NOLOCK)");
        if (i < 12 && i % 3 == 0) run(script, 2, "UPDATE t SET v = v + 1 WHERE id = 1000");
        run(script, 1,
            "EXEC tidesim.scan_now; DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn(); INSERT INTO "
            "probe SELECT @l, COUNT(*) FROM cdc.ci_CT WHERE __$start_lsn <= @l");
    }
    answers(script, 1,
            "SELECT COUNT(*) AS grown FROM probe AS p WHERE p.held <> (SELECT COUNT(*) FROM "
            "cdc.ci_CT WHERE __$start_lsn <= p.max_lsn)",
            "grown\n0\n(1)\n");
    answers(script, 1, "SELECT COUNT(*) AS n FROM cdc.ci_CT WHERE id = 1000", "n\n9\n(1)\n");
    script_close(script);
}

static void self_test_map_lsn_to_time_is_null_for_what_is_no_commit(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1, "INSERT INTO t VALUES (1, 1); EXEC tidesim.scan_now");
    answers(script, 1,
            "SELECT sys.fn_cdc_map_lsn_to_time(__$start_lsn) AS commit_time, "
            "sys.fn_cdc_map_lsn_to_time(__$seqval) AS row_time, "
            "sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_increment_lsn(__$start_lsn)) AS next_time FROM "
            "cdc.ci_CT",
            "commit_time|row_time|next_time\n2026-03-01 12:00:00.000|NULL|NULL\n(1)\n");
    script_close(script);
}

static void self_test_ntile_of_eight_small_commits_and_a_large_one_gives_8_and_8(void **state)
{
    Script *script = open_shop();
    (void)state;

    for (int i = 0; i < 8; i++) {
        char sql[64];
        (void)snprintf(sql, sizeof sql, "INSERT INTO t VALUES (%d, 0)", i);
        run(script, 1, sql);
    }
    run(script, 1,
        "INSERT INTO t SELECT value, 0 FROM GENERATE_SERIES(100, 107); EXEC tidesim.scan_now");
    answers(script, 1,
            "WITH r AS (SELECT c.[__$start_lsn] AS l, NTILE(2) OVER (ORDER BY c.[__$start_lsn]) AS "
            "tile FROM cdc.ci_CT AS c) SELECT COUNT_BIG(*) AS row_count FROM r GROUP BY r.tile "
            "ORDER BY MAX(r.l)",
            "row_count\n8\n8\n(2)\n");
    script_close(script);
}

/* What help lists and whether min_lsn is seen, to `reader`. */
static void reader_sees(Script *script, const char *listed, const char *min_lsn)
{
    char want[80];

    Str help = script_run(script, 3, STR("EXEC sys.sp_cdc_help_change_data_capture"));
    assert_int_equal(str_find(help, STR("|ci|"), 0) >= 0, strcmp(listed, "listed") == 0);
    (void)snprintf(want, sizeof want, "min_lsn\n%s\n(1)\n", min_lsn);
    answers(script, 3,
            "SELECT CASE WHEN sys.fn_cdc_get_min_lsn('ci') > 0x00 THEN 'seen' ELSE 'zero' END AS "
            "min_lsn",
            want);
}

static void self_test_help_and_min_lsn_under_each_grant(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1, "CREATE LOGIN reader WITH PASSWORD = 'pw'; CREATE USER reader FOR LOGIN reader");
    script_login(script, 3, STR("reader"), STR("pw"));
    run(script, 3, "USE shop");
    reader_sees(script, "hidden", "zero");
    run(script, 1, "GRANT SELECT ON cdc.ci_CT TO reader");
    reader_sees(script, "hidden", "zero");
    run(script, 1, "GRANT SELECT ON dbo.t (id) TO reader");
    reader_sees(script, "hidden", "zero");
    run(script, 1, "GRANT SELECT ON dbo.t (v) TO reader");
    reader_sees(script, "listed", "seen");
    run(script, 1,
        "REVOKE SELECT ON dbo.t (id, v) FROM reader; GRANT SELECT ON SCHEMA::dbo TO reader");
    reader_sees(script, "listed", "seen");
    run(script, 1, "DENY SELECT ON dbo.t TO reader");
    reader_sees(script, "hidden", "zero");
    run(script, 1,
        "REVOKE SELECT ON dbo.t FROM reader; REVOKE SELECT ON SCHEMA::dbo FROM reader; ALTER ROLE "
        "db_datareader ADD MEMBER reader");
    reader_sees(script, "listed", "seen");
    run(script, 1,
        "EXEC sys.sp_cdc_disable_table 'dbo', 't', 'all'; EXEC sys.sp_cdc_enable_table 'dbo', 't', "
        "N'gate', @capture_instance = N'ci'; EXEC tidesim.scan_now");
    reader_sees(script, "hidden", "zero");
    run(script, 1, "ALTER ROLE gate ADD MEMBER reader");
    reader_sees(script, "listed", "seen");
    script_close(script);
}

static void self_test_a_nullable_index_is_22838(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1, "CREATE UNIQUE INDEX by_v ON t (v)");
    Str answer = script_run(
        script, 1,
        STR("EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = "
            "N'c2', @index_name = N'by_v'"));
    assert_true(str_starts_with(answer, STR("!22838 16 1 ")));
    script_close(script);
}

static void self_test_a_second_instance_cuts_at_s2_with_a_transaction_open_across_it(void **state)
{
    Script *script = open_shop();
    (void)state;

    /* written before: it holds the enable off, and belongs to the first alone */
    run(script, 2, "BEGIN TRAN; INSERT INTO t VALUES (1, 1)");
    answers(script, 1,
            "SET LOCK_TIMEOUT 0; EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance "
            "= N'c2'",
            "!1222 16 45 line 1: Lock request time out period exceeded.\n");
    run(script, 2, "COMMIT");
    /* begun before, writes after: complete in both */
    run(script, 2, "BEGIN TRAN; SELECT COUNT(*) FROM cdc.lsn_time_mapping");
    run(script, 1, "EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL, @capture_instance = N'c2'");
    run(script, 2, "INSERT INTO t VALUES (2, 2); UPDATE t SET v = 3 WHERE id = 2; COMMIT");
    run(script, 1, "EXEC tidesim.scan_now");
    answers(script, 1,
            "SELECT '1' AS i, __$operation AS op, id FROM cdc.ci_CT UNION ALL SELECT '2', "
            "__$operation, id FROM cdc.c2_CT ORDER BY i, id, op",
            "i|op|id\n1|2|1\n1|2|2\n1|3|2\n1|4|2\n2|2|2\n2|3|2\n2|4|2\n(7)\n");
    answers(
        script, 1,
        "SELECT CASE WHEN MAX(a.__$start_lsn) < MAX(c.start_lsn) THEN 'below S2' END AS cut FROM "
        "cdc.ci_CT AS a CROSS JOIN cdc.change_tables AS c WHERE a.id = 1 AND "
        "c.capture_instance = 'c2'",
        "cut\nbelow S2\n(1)\n");
    script_close(script);
}

static void self_test_the_mapping_keeps_what_the_last_instance_has_not_passed(void **state)
{
    static const char left[] =
        "SELECT COUNT(*) AS below FROM cdc.lsn_time_mapping WHERE start_lsn < "
        "(SELECT MAX(start_lsn) FROM cdc.change_tables)";
    Script *script = open_shop();
    (void)state;

    run(script, 1,
        "CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY); EXEC sys.sp_cdc_enable_table 'dbo', "
        "'u', "
        "NULL, @capture_instance = N'c2'; EXEC tidesim.scan_now");
    for (int i = 0; i < 3; i++) {
        char sql[96];
        (void)snprintf(sql, sizeof sql,
                       "EXEC tidesim.clock_advance 60000; INSERT INTO t VALUES (%d, 0)", i);
        run(script, 1, sql);
    }
    run(script, 1, "EXEC tidesim.scan_now");
    run(script, 1,
        "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table "
        "'ci', @l");
    answers(script, 1, left, "below\n3\n(1)\n"); /* from c2's own entry on */
    run(script, 1,
        "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table "
        "'c2', @l");
    answers(script, 1, left, "below\n0\n(1)\n");
    script_close(script);
}

/* --- a chunk that meets a writer --- */

typedef struct Chunk {
    SimSink     sink; /* first: callbacks find the chunk by it */
    SimSession *session;
    int64_t     rows, values;
} Chunk;

static bool on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    (void)sink;
    (void)columns;
    return count == 2;
}

static bool on_row(SimSink *sink, const SimValue *values, size_t count)
{
    Chunk *chunk = (Chunk *)sink;

    chunk->rows++;
    chunk->values = chunk->values * 100 + values[count - 1].i64;
    return true;
}

static bool on_message(SimSink *sink, const SimError *message)
{
    (void)sink;
    return message->severity <= 10;
}

static bool on_done(SimSink *sink, const SimDone *done)
{
    (void)sink;
    return !done->has_error;
}

static void *read_chunk(void *arg)
{
    Chunk *chunk = arg;
    bool   ok    = sim_session_batch(
             chunk->session, STR("SELECT id, v FROM dbo.t WHERE id >= 1 AND id < 4"), &chunk->sink);
    return ok ? chunk : NULL;
}

static void self_test_a_chunk_waits_with_lck_m_s_and_reads_the_committed_row(void **state)
{
    Script *script = open_shop();
    Chunk   chunk  = {
           .sink = {.columns = on_columns, .row = on_row, .message = on_message, .done = on_done}};
    pthread_t thread;
    void     *ended = NULL;
    (void)state;

    run(script, 1, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
    run(script, 2, "BEGIN TRAN; UPDATE t SET v = 22 WHERE id = 2");
    run(script, 3, "USE shop");
    chunk.session = script_session(script, 3);
    assert_int_equal(pthread_create(&thread, NULL, read_chunk, &chunk), 0);
    int looks = 0;
    for (bool waits = false; !waits;) {
        char sql[160];
        assert_true(looks++ < 1000000);
        (void)snprintf(sql, sizeof sql,
                       "SELECT status, wait_type, blocking_session_id - %d AS by_the_writer FROM "
                       "sys.dm_exec_requests WHERE session_id = %d",
                       sim_session_id(script_session(script, 2)), sim_session_id(chunk.session));
        waits = str_equal(script_run(script, 1, str_from_c(sql)),
                          STR("status|wait_type|by_the_writer\nsuspended|LCK_M_S|0\n(1)\n"));
    }
    run(script, 2, "COMMIT");
    assert_int_equal(pthread_join(thread, &ended), 0);
    assert_non_null(ended);
    assert_int_equal(chunk.rows, 3);
    assert_int_equal(chunk.values, 12203); /* 1, 22, 3 */
    script_close(script);
}

static void self_test_snapshot_is_refused_with_3952_and_then_does_not_wait(void **state)
{
    Script *script = open_shop();
    (void)state;

    run(script, 1, "INSERT INTO t VALUES (1, 1)");
    run(script, 3, "USE shop");
    Str refused = script_run(script, 3,
                             STR("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT v FROM dbo.t"));
    assert_true(str_find(refused, STR("!3952 16 1 "), 0) >= 0);
    run(script, 1, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON");
    run(script, 2, "BEGIN TRAN; UPDATE t SET v = 2");
    answers(script, 3, "SET LOCK_TIMEOUT 0; SELECT v FROM dbo.t", "v\n1\n(1)\n");
    run(script, 2, "COMMIT");
    answers(script, 3, "SELECT v FROM dbo.t", "v\n2\n(1)\n");
    script_close(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_test_one_transaction_gives_2_3_4_3_4_1_with_ascending_command_ids),
        cmocka_unit_test(self_test_a_purged_range_reads_as_empty_and_min_lsn_moved),
        cmocka_unit_test(self_test_rows_at_or_below_max_lsn_never_grow_under_a_long_transaction),
        cmocka_unit_test(self_test_map_lsn_to_time_is_null_for_what_is_no_commit),
        cmocka_unit_test(self_test_ntile_of_eight_small_commits_and_a_large_one_gives_8_and_8),
        cmocka_unit_test(self_test_help_and_min_lsn_under_each_grant),
        cmocka_unit_test(self_test_a_nullable_index_is_22838),
        cmocka_unit_test(self_test_a_second_instance_cuts_at_s2_with_a_transaction_open_across_it),
        cmocka_unit_test(self_test_the_mapping_keeps_what_the_last_instance_has_not_passed),
        cmocka_unit_test(self_test_a_chunk_waits_with_lck_m_s_and_reads_the_committed_row),
        cmocka_unit_test(self_test_snapshot_is_refused_with_3952_and_then_does_not_wait),
    };

    return cmocka_run_group_tests_name("cdc_self", tests, NULL, NULL);
}
