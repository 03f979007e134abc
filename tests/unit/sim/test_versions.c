/* SNAPSHOT and READ_COMMITTED_SNAPSHOT: what readers of versions see, what writers among them meet,
 * how long old versions are kept, and the options that allow it (sqlserver.md 2.12). */
#include "support/test_support.h"

#include "unit/sim/talk.h"

#include "sim/model/model.h"

#define SNAPSHOT "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; "

/* t: 1|10, 2|20, 3|30 */
static Pair shop_open(const char *options)
{
    return pair_open("CREATE TABLE t (id int NOT NULL PRIMARY KEY, v int); "
                     "CREATE INDEX by_v ON t (v); INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)",
                     options);
}

static const char allowed[] = "ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON";
static const char rcsi[]    = "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON";

static size_t kept_rows(const Pair *shop)
{
    return sim_database_kept_rows(sim_server_find_database(shop->talks->server, STR("shop")));
}

/* --- SNAPSHOT --- */

static void the_first_access_fixes_what_a_snapshot_sees(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.two, SNAPSHOT "BEGIN TRAN");
    do_run(shop.one, "UPDATE t SET v = 11 WHERE id = 1"); /* before the first access: seen */
    assert_says(shop.two, "SELECT id, v FROM t WHERE id = 1", "1|11");
    do_run(shop.one, "UPDATE t SET v = 12 WHERE id = 1; DELETE FROM t WHERE id = 2; "
                     "INSERT INTO t VALUES (4, 40)");
    assert_says(shop.two, "SELECT id, v FROM t", "1|11;2|20;3|30");
    assert_says(shop.two, "SELECT id, v FROM t WHERE v BETWEEN 11 AND 29 ORDER BY v", "1|11;2|20");
    assert_says(shop.two, "SELECT id FROM t WHERE v = 12", "");
    assert_says(shop.two, "SELECT v FROM t WHERE id = 2", "20");
    assert_says(shop.two, "SELECT COUNT(*) FROM t WHERE v >= 40", "0");
    do_run(shop.two, "COMMIT");
    assert_says(shop.two, "SELECT id, v FROM t", "1|12;3|30;4|40");
    pair_close(&shop);
}

static void a_snapshot_does_not_wait_for_writers(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 99 WHERE id = 1; DELETE FROM t WHERE id = 2; "
                     "INSERT INTO t VALUES (9, 90)");
    assert_says(shop.two, SNAPSHOT "SET LOCK_TIMEOUT 0; SELECT id, v FROM t", "1|10;2|20;3|30");
    do_run(shop.one, "ROLLBACK");
    assert_says(shop.two, "SELECT id, v FROM t", "1|10;2|20;3|30");
    assert_int_equal(kept_rows(&shop), 0);
    pair_close(&shop);
}

static void a_snapshot_sees_its_own_changes(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.two, SNAPSHOT "BEGIN TRAN; UPDATE t SET v = v + 1 WHERE id = 1; "
                              "DELETE FROM t WHERE id = 2; INSERT INTO t VALUES (4, 40)");
    do_run(shop.one, "INSERT INTO t VALUES (5, 50)");
    assert_says(shop.two, "SELECT id, v FROM t", "1|11;3|30;4|40");
    do_run(shop.two, "UPDATE t SET v = v + 1 WHERE id = 1; COMMIT");
    assert_says(shop.one, "SELECT id, v FROM t", "1|12;3|30;4|40;5|50");
    pair_close(&shop);
}

static void autocommit_takes_a_view_per_statement(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    assert_says(shop.two, SNAPSHOT "SELECT v FROM t WHERE id = 1", "10");
    do_run(shop.one, "UPDATE t SET v = 11 WHERE id = 1");
    assert_says(shop.two, "SELECT v FROM t WHERE id = 1", "11");
    pair_close(&shop);
}

static void writing_what_changed_since_is_an_update_conflict(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.two, SNAPSHOT "BEGIN TRAN; DECLARE @n int = (SELECT COUNT(*) FROM t)");
    do_run(shop.one, "UPDATE t SET v = 11 WHERE id = 1; DELETE FROM t WHERE id = 2");
    do_run(shop.two, "UPDATE t SET v = 31 WHERE id = 3"); /* that one did not change */
    assert_says(shop.two, "UPDATE t SET v = 0 WHERE id = 1", "!3960");
    assert_says(shop.two, "SELECT @@TRANCOUNT", "0"); /* rolled back as a whole */
    assert_says(shop.two, "SELECT id, v FROM t", "1|11;3|30");

    do_run(shop.two, "BEGIN TRAN; DECLARE @n int = (SELECT COUNT(*) FROM t)");
    do_run(shop.one, "DELETE FROM t WHERE id = 3");
    assert_says(shop.two, "DELETE FROM t WHERE id = 3", "!3960");
    do_run(shop.two, "BEGIN TRAN; DECLARE @n int = (SELECT COUNT(*) FROM t)");
    do_run(shop.one, "DELETE FROM t WHERE id = 1");
    assert_says(shop.two, "INSERT INTO t VALUES (1, 1)", "!3960"); /* it does not see it gone */
    pair_close(&shop);
}

static void a_conflict_waits_for_the_other_writer_first(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 11 WHERE id = 1");
    talk_start(shop.two, STR(SNAPSHOT "UPDATE t SET v = v + 5 WHERE id = 1"));
    talk_await(shop.two, "LCK_M_X", shop.one);
    do_run(shop.one, "ROLLBACK"); /* then there is no conflict */
    assert_finishes(shop.two, "");
    assert_says(shop.one, "SELECT v FROM t WHERE id = 1", "15");

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 16 WHERE id = 1");
    talk_start(shop.two, STR("UPDATE t SET v = v + 5 WHERE id = 1"));
    talk_await(shop.two, "LCK_M_X", shop.one);
    do_run(shop.one, "COMMIT");
    assert_finishes(shop.two, "!3960");
    assert_says(shop.one, "SELECT v FROM t WHERE id = 1", "16");
    pair_close(&shop);
}

static void updlock_under_snapshot_looks_for_conflicts_at_once(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.two, SNAPSHOT "BEGIN TRAN; DECLARE @n int = (SELECT COUNT(*) FROM t)");
    do_run(shop.one, "UPDATE t SET v = 11 WHERE id = 1");
    assert_says(shop.two, "SELECT v FROM t WITH (UPDLOCK) WHERE id = 2", "20");
    do_run(shop.one, "SET LOCK_TIMEOUT 0");
    assert_says(shop.one, "UPDATE t SET v = 21 WHERE id = 2", "!1222");
    assert_says(shop.two, "SELECT v FROM t WITH (UPDLOCK) WHERE id = 1", "!3960");
    pair_close(&shop);
}

static void snapshot_is_refused_where_it_is_not_allowed(void **state)
{
    Pair shop = shop_open("");
    (void)state;

    do_run(shop.two, SNAPSHOT); /* always succeeds */
    assert_says(shop.two, "SELECT v FROM t", "!3952");
    assert_says(shop.two, "INSERT INTO t VALUES (5, 50)", "!3952");
    assert_says(shop.two,
                "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE "
                "session_id = @@SPID",
                "5");
    assert_says(shop.two, "SELECT COUNT(*) FROM sys.tables", "1"); /* the catalogue is not asked */
    do_run(shop.two, "CREATE TABLE #x (a int); INSERT INTO #x VALUES (1)");
    assert_says(shop.two, "SELECT a FROM #x", "1");
    do_run(shop.one, "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', "
                     "@role_name = NULL; UPDATE t SET v = 11 WHERE id = 1");
    assert_says(shop.one, "EXEC tidesim.scan_now", "2|2");
    assert_says(shop.two, "SELECT COUNT(*) FROM cdc.dbo_t_CT", "2"); /* neither are change tables */
    pair_close(&shop);
}

static void a_transaction_of_another_level_gets_3951(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.two, "BEGIN TRAN; UPDATE t SET v = 11 WHERE id = 1");
    assert_says(shop.two, SNAPSHOT "SELECT v FROM t", "!3951");
    do_run(shop.two, "ROLLBACK");
    /* one that has touched nothing has not started, and back to SNAPSHOT is allowed */
    do_run(shop.two, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRAN");
    assert_says(shop.two, SNAPSHOT "SELECT v FROM t WHERE id = 1", "10");
    do_run(shop.one, "UPDATE t SET v = 12 WHERE id = 1");
    assert_says(shop.two,
                "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT v FROM t WHERE id = 1",
                "12");
    assert_says(shop.two, SNAPSHOT "SELECT v FROM t WHERE id = 1", "10");
    assert_says(shop.two, "SELECT v FROM t WITH (READCOMMITTED) WHERE id = 1", "12");
    do_run(shop.two, "COMMIT");
    pair_close(&shop);
}

static void ddl_since_the_start_gets_3961(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.one, "CREATE TABLE u (a int); INSERT INTO u VALUES (1)");
    do_run(shop.two, SNAPSHOT "BEGIN TRAN; DECLARE @n int = (SELECT COUNT(*) FROM t)");
    do_run(shop.one, "ALTER TABLE t ADD w int NULL; CREATE TABLE later (a int)");
    assert_says(shop.two, "SELECT v FROM t", "!3961");
    assert_says(shop.two, "SELECT a FROM later", "!3961");
    assert_says(shop.two, "SELECT a FROM u", "1"); /* only what was altered */
    do_run(shop.two, "COMMIT");
    assert_says(shop.two, "SELECT v FROM t WHERE id = 1", "10");
    assert_says(shop.two, "BEGIN TRAN; ALTER TABLE u ADD b int NULL", "!3964");
    do_run(shop.two, "ROLLBACK");
    /* a rolled back one has not happened */
    do_run(shop.two, "BEGIN TRAN; DECLARE @n int = (SELECT COUNT(*) FROM t)");
    do_run(shop.one, "BEGIN TRAN; ALTER TABLE t ADD x int NULL; ROLLBACK");
    assert_says(shop.two, "SELECT v FROM t WHERE id = 1", "10");
    pair_close(&shop);
}

/* --- the option --- */

static void allowing_waits_for_open_transactions(void **state)
{
    Pair  shop  = shop_open("");
    Talk *third = talk_open(shop.talks);
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 11 WHERE id = 1");
    talk_start(shop.two, STR("ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON"));
    talk_await(shop.two, "ENABLE_VERSIONING", shop.one);
    assert_says(third,
                "SELECT snapshot_isolation_state, snapshot_isolation_state_desc FROM "
                "sys.databases WHERE name = 'shop'",
                "3|IN_TRANSITION_TO_ON");
    assert_says(third, SNAPSHOT "SELECT v FROM t", "!3956");
    do_run(shop.one, "COMMIT");
    assert_finishes(shop.two, "");
    assert_says(third, "SELECT snapshot_isolation_state FROM sys.databases WHERE name = 'shop'",
                "1");

    assert_says(third, "BEGIN TRAN; SELECT v FROM t WHERE id = 1", "11");
    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 12 WHERE id = 1"); /* not in its way */
    talk_start(shop.two, STR("ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION OFF"));
    talk_await(shop.two, "DISABLE_VERSIONING", third);
    assert_says(shop.talks->watcher,
                "SELECT snapshot_isolation_state FROM sys.databases WHERE name = 'shop'", "2");
    assert_says(third, "SELECT v FROM t WHERE id = 1", "11"); /* it goes on */
    do_run(shop.one, "COMMIT");
    assert_says(shop.one, SNAPSHOT "SELECT v FROM t", "!3954");
    do_run(third, "COMMIT");
    assert_finishes(shop.two, "");
    assert_says(third, "SELECT v FROM t", "!3952");
    talk_close(third);
    pair_close(&shop);
}

static void an_attention_leaves_the_option_as_it_was(void **state)
{
    Pair shop = shop_open("");
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 11 WHERE id = 1");
    talk_start(shop.two, STR("ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON"));
    talk_await(shop.two, "ENABLE_VERSIONING", shop.one);
    sim_session_attention(shop.two->session);
    assert_finishes(shop.two, "");
    assert_says(shop.one, "SELECT snapshot_isolation_state FROM sys.databases WHERE name = 'shop'",
                "0");
    assert_says(shop.one, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON", "!226");
    assert_says(shop.two, "ALTER DATABASE master SET ALLOW_SNAPSHOT_ISOLATION ON", "!5058");
    assert_says(shop.two, "ALTER DATABASE nowhere SET ALLOW_SNAPSHOT_ISOLATION ON", "!5011");
    assert_says(shop.two, "ALTER DATABASE shop SET READ_ONLY", "!50001");
    do_run(shop.two, "ALTER DATABASE shop SET RECOVERY SIMPLE");
    assert_says(shop.two,
                "SELECT snapshot_isolation_state FROM sys.databases WHERE database_id "
                "<= 4 ORDER BY database_id",
                "1;0;0;1");
    pair_close(&shop);
}

/* --- READ_COMMITTED_SNAPSHOT --- */

static void rcsi_reads_what_was_committed_when_the_statement_began(void **state)
{
    Pair shop = shop_open(rcsi);
    (void)state;

    assert_says(shop.two,
                "SELECT is_read_committed_snapshot_on FROM sys.databases WHERE name = "
                "'shop'",
                "1");
    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 99 WHERE id = 1; DELETE FROM t WHERE id = 2");
    do_run(shop.two, "SET LOCK_TIMEOUT 0; BEGIN TRAN");
    assert_says(shop.two, "SELECT id, v FROM t", "1|10;2|20;3|30");
    assert_says(shop.two, "SELECT id, v FROM t WITH (READCOMMITTEDLOCK)", "!1222");
    assert_says(shop.two, "SELECT id, v FROM t WITH (NOLOCK)", "1|99;3|30");
    assert_says(shop.two, "SELECT id FROM t WITH (UPDLOCK)", "!1222");
    do_run(shop.one, "COMMIT");
    assert_says(shop.two, "SELECT id, v FROM t", "1|99;3|30");       /* each statement anew */
    do_run(shop.two, "UPDATE t SET v = v + 1 WHERE id = 1; COMMIT"); /* and no conflicts */
    assert_says(shop.one, "SELECT v FROM t WHERE id = 1", "100");
    assert_int_equal(kept_rows(&shop), 0);
    pair_close(&shop);
}

static void a_statement_under_rcsi_is_consistent_while_it_runs(void **state)
{
    Pair shop = shop_open(rcsi);
    (void)state;

    /* The first read of t is followed by a change, then t is read again in the same statement. */
    do_run(shop.one, "CREATE TABLE other (a int); INSERT INTO other VALUES (1)");
    do_run(shop.one, "EXEC tidesim.on_read @object = 'dbo.other', @sql = N'UPDATE shop.dbo.t SET v "
                     "= v + 1000'");
    assert_says(shop.two,
                "SELECT a.v, o.a, (SELECT v FROM t AS b WHERE b.id = a.id) FROM t AS a "
                "CROSS JOIN other AS o WHERE a.id <= 2 ORDER BY a.v",
                "10|1|10;20|1|20");
    assert_says(shop.two, "SELECT v FROM t WHERE id = 1", "1010");
    pair_close(&shop);
}

static void rcsi_waits_for_others_to_leave(void **state)
{
    Pair shop = shop_open("");
    (void)state;

    assert_says(shop.one, "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON WITH NO_WAIT",
                "!5070");
    talk_start(shop.one, STR("ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON"));
    talk_await(shop.one, "LCK_M_X", shop.two);
    do_run(shop.two, "USE master");
    assert_finishes(shop.one, "");
    do_run(shop.two, "USE shop; BEGIN TRAN; UPDATE t SET v = 11 WHERE id = 1");
    talk_start(shop.one, STR("ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK "
                             "IMMEDIATE"));
    talk_await(shop.one, "LCK_M_X", shop.two);
    assert_says(shop.two, "SELECT 1", "!596"); /* killed; its transaction goes with it */
    assert_true(shop.two->is_closed);
    assert_finishes(shop.one, "");
    assert_says(shop.one,
                "SELECT is_read_committed_snapshot_on FROM sys.databases WHERE name = "
                "'shop'",
                "0");
    assert_says(shop.one, "SELECT v FROM t WHERE id = 1", "10");
    pair_close(&shop);
}

static void single_user_keeps_others_out(void **state)
{
    Pair shop = shop_open("");
    (void)state;

    do_run(shop.two, "USE master");
    do_run(shop.one, "ALTER DATABASE shop SET SINGLE_USER WITH ROLLBACK IMMEDIATE");
    assert_says(shop.two, "USE shop", "!924");
    assert_says(shop.two, "SELECT user_access_desc FROM sys.databases WHERE name = 'shop'",
                "SINGLE_USER");
    assert_says(shop.two, "ALTER DATABASE shop SET MULTI_USER", "!5064");
    do_run(shop.one, "ALTER DATABASE shop SET MULTI_USER");
    do_run(shop.two, "USE shop");
    pair_close(&shop);
}

/* --- how long versions live --- */

static void versions_go_when_the_last_view_closes(void **state)
{
    Pair  shop  = shop_open(allowed);
    Talk *third = talk_open(shop.talks);
    (void)state;

    assert_says(shop.two, SNAPSHOT "BEGIN TRAN; SELECT SUM(v) FROM t", "60");
    do_run(shop.one, "UPDATE t SET v = v + 100");
    assert_says(third, SNAPSHOT "BEGIN TRAN; SELECT SUM(v) FROM t", "360");
    do_run(shop.one, "UPDATE t SET v = v + 1; DELETE FROM t WHERE id = 3; UPDATE t SET id = 7 "
                     "WHERE id = 2");
    assert_int_equal(kept_rows(&shop), 3);
    assert_says(shop.two, "SELECT id, v FROM t WHERE v > 0 ORDER BY v", "1|10;2|20;3|30");
    do_run(shop.two, "COMMIT");
    assert_int_equal(kept_rows(&shop), 3); /* the other one still looks */
    assert_says(third, "SELECT id, v FROM t WHERE v > 0 ORDER BY v", "1|110;2|120;3|130");
    do_run(third, "ROLLBACK");
    assert_int_equal(kept_rows(&shop), 0);
    assert_says(third, "SELECT id, v FROM t ORDER BY id", "1|111;7|121");
    talk_close(third);
    pair_close(&shop);
}

static void undone_changes_leave_older_versions_alone(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    assert_says(shop.two, SNAPSHOT "BEGIN TRAN; SELECT SUM(v) FROM t", "60");
    do_run(shop.one, "DELETE FROM t WHERE id = 2; UPDATE t SET v = 11 WHERE id = 1");
    do_run(shop.one, "BEGIN TRAN; INSERT INTO t VALUES (2, 22); UPDATE t SET v = 12 WHERE id = 1");
    do_run(shop.two, "COMMIT"); /* the versions wait for the writer above them */
    do_run(shop.one, "ROLLBACK");
    assert_int_equal(kept_rows(&shop), 0);
    assert_says(shop.two, "SELECT id, v FROM t", "1|11;3|30");
    do_run(shop.one, "INSERT INTO t VALUES (2, 23)");
    assert_says(shop.two, "SELECT id FROM t WHERE v = 23", "2");
    pair_close(&shop);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
size_t __sanitizer_get_current_allocated_bytes(void); /* its header is a package of its own */

/* kB that are allocated: a sanitizer keeps what was freed in memory for a while. */
static long held_kb(void)
{
    return (long)(__sanitizer_get_current_allocated_bytes() / 1024);
}
#else
/* kB of this process in memory. */
static long held_kb(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long  size = 0, resident = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    (void)fclose(file);
    return resident * 4;
}
#endif

static void a_hot_row_keeps_one_version_for_one_view(void **state)
{
    Pair shop = shop_open(allowed);
    (void)state;

    do_run(shop.one,
           "CREATE TABLE wide (id int NOT NULL PRIMARY KEY, s varchar(4000)); INSERT INTO "
           "wide VALUES (1, REPLICATE('x', 4000))");
    assert_says(shop.two, SNAPSHOT "BEGIN TRAN; SELECT LEN(s) FROM wide", "4000");
    long before_kb = held_kb();
    do_run(shop.one, "SET NOCOUNT ON; DECLARE @i int = 0; WHILE @i < 20000 BEGIN UPDATE wide SET s "
                     "= REPLICATE('y', 3999); SET @i += 1 END");
    assert_true(held_kb() - before_kb < 40000); /* 20,000 versions would be 80 MB */
    assert_int_equal(kept_rows(&shop), 1);
    assert_says(shop.two, "SELECT LEN(s) FROM wide", "4000");
    do_run(shop.two, "COMMIT");
    assert_int_equal(kept_rows(&shop), 0);
    pair_close(&shop);
}

/* --- the secondary --- */

static void a_secondary_is_behind_and_read_only(void **state)
{
    Pair shop = shop_open("EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', "
                          "@role_name = NULL; EXEC tidesim.clock 'virtual', '2026-03-01T12:00:00'");
    (void)state;

    assert_says(shop.one, "EXEC tidesim.scan_now", "1|0");
    do_run(shop.one, "EXEC tidesim.secondary @lag_ms = 5000");
    Talk *reader = talk_login(shop.talks, "shop", true);
    assert_says(reader,
                "SELECT DATABASEPROPERTYEX('shop', 'Updateability'), is_read_only FROM "
                "sys.databases WHERE name = 'shop'",
                "READ_ONLY|1");
    assert_says(shop.two,
                "SELECT DATABASEPROPERTYEX('shop', 'Updateability'), is_read_only FROM "
                "sys.databases WHERE name = 'shop'",
                "READ_WRITE|0");
    do_run(shop.one, "UPDATE t SET v = 11 WHERE id = 1; DELETE FROM t WHERE id = 2");
    assert_says(shop.one, "EXEC tidesim.scan_now", "2|3");
    assert_says(reader, "SELECT id, v FROM t", "1|10;2|20;3|30");
    assert_says(reader, "SELECT COUNT(*) FROM cdc.dbo_t_CT", "0");
    assert_says(reader,
                "SELECT IIF(sys.fn_cdc_get_max_lsn() = (SELECT MAX(start_lsn) FROM "
                "cdc.lsn_time_mapping), 1, 0)",
                "1");
    Str primary = str_copy(shop.talks->arena,
                           talk_run(shop.one, STR("SELECT sys.fn_cdc_get_max_lsn()")));
    assert_false(str_equal(talk_run(reader, STR("SELECT sys.fn_cdc_get_max_lsn()")), primary));
    assert_says(reader, "UPDATE t SET v = 1 WHERE id = 99", "!3906");
    assert_says(reader, "INSERT INTO t VALUES (9, 9)", "!3906");
    assert_says(reader, "CREATE TABLE u (a int)", "!3906");
    assert_says(reader, "EXEC sys.sp_cdc_disable_db", "!3906");
    do_run(reader, "CREATE TABLE #x (a int); INSERT INTO #x VALUES (1)");
    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 77");
    assert_says(reader, "SET LOCK_TIMEOUT 0; SELECT id, v FROM t WITH (TABLOCK, HOLDLOCK)",
                "1|10;2|20;3|30"); /* hints and writers do not matter */
    do_run(shop.one, "ROLLBACK; EXEC tidesim.clock_advance 5000");
    assert_says(reader, "SELECT id, v FROM t", "1|11;3|30");
    assert_says(reader, "SELECT COUNT(*) FROM cdc.dbo_t_CT", "3");
    assert_str_is(talk_run(reader, STR("SELECT sys.fn_cdc_get_max_lsn()")), primary.ptr);
    do_run(shop.one, "EXEC tidesim.secondary @lag_ms = -1");
    do_run(reader, "UPDATE t SET v = 12 WHERE id = 1");
    assert_int_equal(kept_rows(&shop), 0);
    talk_close(reader);
    pair_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_access_fixes_what_a_snapshot_sees),
        cmocka_unit_test(a_snapshot_does_not_wait_for_writers),
        cmocka_unit_test(a_snapshot_sees_its_own_changes),
        cmocka_unit_test(autocommit_takes_a_view_per_statement),
        cmocka_unit_test(writing_what_changed_since_is_an_update_conflict),
        cmocka_unit_test(a_conflict_waits_for_the_other_writer_first),
        cmocka_unit_test(updlock_under_snapshot_looks_for_conflicts_at_once),
        cmocka_unit_test(snapshot_is_refused_where_it_is_not_allowed),
        cmocka_unit_test(a_transaction_of_another_level_gets_3951),
        cmocka_unit_test(ddl_since_the_start_gets_3961),
        cmocka_unit_test(allowing_waits_for_open_transactions),
        cmocka_unit_test(an_attention_leaves_the_option_as_it_was),
        cmocka_unit_test(rcsi_reads_what_was_committed_when_the_statement_began),
        cmocka_unit_test(a_statement_under_rcsi_is_consistent_while_it_runs),
        cmocka_unit_test(rcsi_waits_for_others_to_leave),
        cmocka_unit_test(single_user_keeps_others_out),
        cmocka_unit_test(versions_go_when_the_last_view_closes),
        cmocka_unit_test(undone_changes_leave_older_versions_alone),
        cmocka_unit_test(a_hot_row_keeps_one_version_for_one_view),
        cmocka_unit_test(a_secondary_is_behind_and_read_only),
    };
    return RUN_TESTS(tests);
}
