/* Locks of real sessions on threads: what each isolation level and each hint waits for, who is
 * shown waiting, and how transactions end (sqlserver.md 2.8, 2.12). */
#include "support/test_support.h"

#include "unit/sim/talk.h"

#define LEVEL(level) "SET TRANSACTION ISOLATION LEVEL " level "; BEGIN TRAN; "

/* t: 10|1, 20|2, 30|3, 40|4 by id and v, indexed */
static Pair shop_open(void)
{
    return pair_open("CREATE TABLE t (id int NOT NULL PRIMARY KEY, v int); "
                     "CREATE INDEX by_v ON t (v); "
                     "INSERT INTO t VALUES (10, 1), (20, 2), (30, 3), (40, 4)",
                     "");
}

static void read_committed_waits_at_rows_that_would_not_qualify(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 99 WHERE id = 20");
    talk_start(shop.two, STR("SELECT id FROM t WHERE v BETWEEN 1 AND 3"));
    talk_await(shop.two, "LCK_M_S", shop.one);
    do_run(shop.one, "COMMIT");
    assert_finishes(shop.two, "10;30");
    do_run(shop.one, "BEGIN TRAN; DELETE FROM t WHERE id = 30"); /* a deleted row blocks, too */
    talk_start(shop.two, STR("SELECT id FROM t WHERE id >= 30"));
    talk_await(shop.two, "LCK_M_S", shop.one);
    do_run(shop.one, "ROLLBACK");
    assert_finishes(shop.two, "30;40");
    do_run(shop.one, "BEGIN TRAN; INSERT INTO t VALUES (50, 5)");
    assert_says(shop.two, "SELECT id FROM t WHERE id < 30", "10;20"); /* not in its range */
    assert_says(shop.two, "SELECT id FROM t WITH (NOLOCK) WHERE id > 30", "40;50");
    assert_says(shop.two, "SELECT id FROM t WITH (READPAST) WHERE id > 30", "40");
    assert_says(shop.two, "SELECT id FROM t WITH (NOWAIT) WHERE id > 30", "40;!1222");
    assert_says(shop.two, "SET LOCK_TIMEOUT 20; BEGIN TRAN; INSERT INTO t VALUES (50, 6)", "!1222");
    assert_says(shop.two, "SELECT @@TRANCOUNT", "1"); /* the transaction stays */
    pair_close(&shop);
}

static void repeatable_read_keeps_what_it_read(void **state)
{
    Pair shop = shop_open();
    (void)state;

    assert_says(shop.one, LEVEL("REPEATABLE READ") "SELECT v FROM t WHERE id = 20", "2");
    do_run(shop.two, "UPDATE t SET v = 0 WHERE id = 10; INSERT INTO t VALUES (21, 9)");
    talk_start(shop.two, STR("UPDATE t SET v = 0 WHERE id = 20"));
    talk_await(shop.two, "LCK_M_X", shop.one);
    assert_says(shop.one, "SELECT v FROM t WHERE id = 20; COMMIT", "2");
    assert_finishes(shop.two, "");
    assert_says(shop.one, "SELECT v FROM t WITH (REPEATABLEREAD) WHERE id = 20", "0");
    pair_close(&shop);
}

static void serializable_locks_its_ranges(void **state)
{
    Pair shop = shop_open();
    (void)state;

    assert_says(shop.one, LEVEL("SERIALIZABLE") "SELECT COUNT(*) FROM t WHERE id BETWEEN 11 AND 29",
                "1");
    do_run(shop.two, "INSERT INTO t VALUES (50, 5)"); /* outside */
    talk_start(shop.two, STR("INSERT INTO t VALUES (15, 5)"));
    talk_await(shop.two, "LCK_M_RIn_NL", shop.one);
    assert_says(shop.talks->watcher,
                "SELECT request_mode, request_status FROM sys.dm_tran_locks WHERE resource_type = "
                "'KEY' AND request_mode LIKE 'Range%' ORDER BY request_mode",
                "RangeI-N|WAIT;RangeS-S|GRANT");
    assert_says(shop.one, "SELECT COUNT(*) FROM t WHERE id BETWEEN 11 AND 29; COMMIT", "1");
    assert_finishes(shop.two, "");
    /* by another index: a row that is updated into the range */
    assert_says(shop.one, "BEGIN TRAN; SELECT COUNT(*) FROM t WHERE v = 7", "0");
    talk_start(shop.two, STR("UPDATE t SET v = 7 WHERE id = 40"));
    talk_await(shop.two, "LCK_M_RIn_NL", shop.one);
    assert_says(shop.one, "SELECT COUNT(*) FROM t WHERE v = 7; ROLLBACK", "0");
    assert_finishes(shop.two, "");
    pair_close(&shop);
}

/* IF NOT EXISTS (... WITH (UPDLOCK, HOLDLOCK)) INSERT: the second one waits rather than failing. */
static void updlock_and_holdlock_make_an_upsert_safe(void **state)
{
    Pair shop = shop_open();
    (void)state;

    assert_says(shop.one,
                "BEGIN TRAN; SELECT COUNT(*) FROM t WITH (UPDLOCK, HOLDLOCK) WHERE id = 25", "0");
    talk_start(shop.two, STR("BEGIN TRAN; SELECT COUNT(*) FROM t WITH (UPDLOCK, HOLDLOCK) WHERE id "
                             "= 25; COMMIT"));
    talk_await(shop.two, "LCK_M_RS_U", shop.one);
    do_run(shop.one, "INSERT INTO t VALUES (25, 25); COMMIT");
    assert_finishes(shop.two, "1");
    pair_close(&shop);
}

static void hints_lock_rows_and_tables(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.two, "SET LOCK_TIMEOUT 0");
    assert_says(shop.one, "BEGIN TRAN; SELECT v FROM t WITH (UPDLOCK, ROWLOCK) WHERE id = 20", "2");
    assert_says(shop.two, "SELECT v FROM t WHERE id = 20", "2"); /* readers may */
    assert_says(shop.two, "UPDATE t SET v = 0 WHERE id = 20", "!1222");
    assert_says(shop.two, "SELECT id FROM t WITH (UPDLOCK, READPAST)", "10;30;40");
    assert_says(shop.one, "SELECT v FROM t WITH (XLOCK) WHERE id = 30", "3");
    assert_says(shop.two, "SELECT v FROM t WITH (REPEATABLEREAD) WHERE id = 30", "!1222");
    do_run(shop.one, "ROLLBACK");
    assert_says(shop.one, "BEGIN TRAN; SELECT COUNT(*) FROM t WITH (TABLOCK)", "4");
    do_run(shop.two, "UPDATE t SET v = 1 WHERE id = 10"); /* it was for the statement */
    assert_says(shop.one, "SELECT COUNT(*) FROM t WITH (TABLOCK, HOLDLOCK)", "4");
    assert_says(shop.two, "UPDATE t SET v = 1 WHERE id = 10", "!1222");
    assert_says(shop.two, "SELECT COUNT(*) FROM t", "4");
    assert_says(shop.one, "SELECT TOP (0) v FROM t WITH (TABLOCKX)", "");
    assert_says(shop.two, "SELECT COUNT(*) FROM t", "!1222");
    assert_says(shop.two, "SELECT COUNT(*) FROM t WITH (NOLOCK)", "4");
    do_run(shop.one, "COMMIT");
    assert_says(shop.two, "SELECT v FROM t WITH (NOLOCK, HOLDLOCK)", "!1047");
    assert_says(shop.two, "SELECT v FROM t WITH (NOLOCK, UPDLOCK)", "!1047");
    assert_says(shop.two, "SELECT v FROM t WITH (READPAST, SERIALIZABLE)", "!650");
    assert_says(shop.two, "UPDATE t WITH (NOLOCK) SET v = 1", "!1065");
    pair_close(&shop);
}

static void a_deadlock_takes_the_lower_priority_then_the_lighter_one(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 0 WHERE id IN (10, 30, 40)");
    do_run(shop.two, "BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 20");
    talk_start(shop.one, STR("UPDATE t SET v = 0 WHERE id = 20"));
    talk_await(shop.one, "LCK_M_U", shop.two);
    assert_says(shop.two, "UPDATE t SET v = 0 WHERE id = 10", "!1205"); /* it wrote less */
    assert_says(shop.two, "SELECT @@TRANCOUNT", "0");
    assert_finishes(shop.one, "");
    do_run(shop.one, "ROLLBACK");

    do_run(shop.one, "SET DEADLOCK_PRIORITY LOW; BEGIN TRAN; UPDATE t SET v = 0 WHERE id > 20");
    do_run(shop.two, "BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 20");
    talk_start(shop.one, STR("UPDATE t SET v = 0 WHERE id = 20"));
    talk_await(shop.one, "LCK_M_U", shop.two);
    do_run(shop.two, "UPDATE t SET v = 0 WHERE id = 30"); /* the other one is the victim */
    assert_finishes(shop.one, "!1205");
    do_run(shop.two, "COMMIT");
    pair_close(&shop);
}

static void ddl_waits_for_writers_and_readers_wait_behind_it(void **state)
{
    Pair  shop  = shop_open();
    Talk *third = talk_open(shop.talks);
    (void)state;

    do_run(shop.one, "EXEC sys.sp_cdc_enable_db; BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 10");
    talk_start(shop.two, STR("EXEC sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL"));
    talk_await(shop.two, "LCK_M_SCH_M", shop.one);
    talk_start(third, STR("SELECT v FROM t WHERE id = 40"));
    talk_await(third, "LCK_M_SCH_S", NULL); /* it stands behind one that only waits */
    do_run(shop.one, "COMMIT");
    assert_finishes(shop.two, "");
    assert_finishes(third, "4");

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 10");
    talk_start(shop.two, STR("EXEC sys.sp_cdc_disable_table 'dbo', 't', 'dbo_t'"));
    talk_await(shop.two, "LCK_M_SCH_M", shop.one);
    do_run(shop.one, "COMMIT");
    assert_finishes(shop.two, "");
    do_run(shop.one, "BEGIN TRAN; ALTER TABLE t ADD w int NULL");
    talk_start(shop.two, STR("SELECT v FROM t WITH (NOLOCK) WHERE id = 40"));
    talk_await(shop.two, "LCK_M_SCH_S", shop.one);
    do_run(shop.one, "ROLLBACK");
    assert_finishes(shop.two, "4");
    talk_close(third);
    pair_close(&shop);
}

static void kill_ends_a_wait_and_the_transaction(void **state)
{
    Pair  shop = shop_open();
    char  sql[40];
    Talk *victim = talk_open(shop.talks);
    (void)state;

    do_run(shop.one, "BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 10");
    do_run(victim, "BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 20");
    talk_start(victim, STR("UPDATE t SET v = 0 WHERE id = 10"));
    talk_await(victim, "LCK_M_U", shop.one);
    assert_says(shop.talks->watcher,
                "SELECT command, IIF(wait_time >= 0, 1, 0) FROM sys.dm_exec_requests WHERE "
                "wait_type = 'LCK_M_U'",
                "UPDATE|1");
    (void)snprintf(sql, sizeof sql, "KILL %d", (int)sim_session_id(victim->session));
    assert_str_is(talk_run(shop.talks->watcher, str_from_c(sql)), "");
    assert_finishes(victim, "!596");
    assert_true(victim->is_closed);
    assert_says(shop.two, "SET LOCK_TIMEOUT 0; SELECT v FROM t WHERE id = 20", "2");
    talk_close(victim);
    pair_close(&shop);
}

static void transactions_nest_and_have_names(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.one,
           "BEGIN TRAN outer_one; UPDATE t SET v = 7 WHERE id = 10; SAVE TRAN a; UPDATE t "
           "SET v = 8 WHERE id = 10; SAVE TRAN b; UPDATE t SET v = 9 WHERE id = 10");
    assert_says(shop.one, "ROLLBACK TRAN a; SELECT v, @@TRANCOUNT FROM t WHERE id = 10", "7|1");
    assert_says(shop.one, "ROLLBACK TRAN b", "!6401"); /* it went with a */
    assert_says(shop.one, "BEGIN TRAN inner_one; ROLLBACK TRAN inner_one", "!6401");
    assert_says(shop.one, "SELECT @@TRANCOUNT", "2");
    assert_says(shop.one,
                "DECLARE @n varchar(32) = 'c'; SAVE TRAN @n; DELETE FROM t; ROLLBACK TRAN "
                "@n; SELECT COUNT(*) FROM t",
                "4");
    assert_says(shop.one,
                "COMMIT; ROLLBACK TRAN outer_one; SELECT v, @@TRANCOUNT FROM t WHERE id = "
                "10",
                "1|0");
    assert_says(shop.one, "COMMIT; ROLLBACK", "!3902;!3903");
    assert_says(shop.one, "SAVE TRAN x", "!628");
    pair_close(&shop);
}

static void implicit_transactions_begin_with_data(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.one, "SET IMPLICIT_TRANSACTIONS ON");
    assert_says(shop.one, "SELECT 1; SELECT @@TRANCOUNT", "1;0");
    assert_says(shop.one, "UPDATE t SET v = 0 WHERE id = 10; SELECT @@TRANCOUNT", "1");
    assert_says(shop.one, "ROLLBACK; SELECT @@TRANCOUNT", "0");
    assert_says(shop.one, "BEGIN TRAN; SELECT @@TRANCOUNT", "2"); /* it opens one first */
    do_run(shop.one, "ROLLBACK; SET IMPLICIT_TRANSACTIONS OFF");
    assert_says(shop.one, "SELECT v FROM t WHERE id = 10", "1");
    pair_close(&shop);
}

static void xact_abort_ends_the_transaction_at_the_first_error(void **state)
{
    Pair shop = shop_open();
    (void)state;

    assert_says(shop.one,
                "BEGIN TRAN; INSERT INTO t VALUES (50, 5); INSERT INTO t VALUES (10, 5); "
                "SELECT @@TRANCOUNT; COMMIT",
                "!2627;1");
    assert_says(shop.one,
                "SET XACT_ABORT ON; BEGIN TRAN; INSERT INTO t VALUES (60, 6); INSERT INTO "
                "t VALUES (10, 5); SELECT 'not reached'",
                "!2627");
    assert_says(shop.one, "SELECT @@TRANCOUNT; SELECT id FROM t WHERE id > 40", "0;50");
    pair_close(&shop);
}

static void ddl_cdc_and_grants_roll_back(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.one, "EXEC sys.sp_cdc_enable_db; CREATE USER reader WITHOUT LOGIN");
    do_run(shop.one, "BEGIN TRAN; CREATE TABLE u (a int); ALTER TABLE t ADD w int NULL; EXEC "
                     "sys.sp_cdc_enable_table 'dbo', 't', @role_name = NULL; GRANT SELECT ON t TO "
                     "reader; CREATE ROLE clerks; DROP TABLE t; ROLLBACK");
    assert_says(shop.one, "SELECT COUNT(*) FROM sys.tables WHERE name IN ('t', 'u')", "1");
    assert_says(shop.one, "SELECT COL_LENGTH('dbo.t', 'w')", "NULL");
    assert_says(shop.one, "SELECT COUNT(*) FROM cdc.change_tables", "0");
    assert_says(shop.one,
                "SELECT COUNT(*) FROM sys.database_permissions AS p JOIN "
                "sys.database_principals AS u ON u.principal_id = "
                "p.grantee_principal_id WHERE u.name = 'reader' AND p.type = 'SL'",
                "0");
    assert_says(shop.one, "SELECT COUNT(*) FROM sys.database_principals WHERE name = 'clerks'",
                "0");
    do_run(shop.one, "GRANT SELECT ON t TO reader; BEGIN TRAN; REVOKE SELECT ON t FROM reader; "
                     "ROLLBACK");
    assert_says(shop.one,
                "SELECT COUNT(*) FROM sys.database_permissions AS p JOIN "
                "sys.database_principals AS u ON u.principal_id = "
                "p.grantee_principal_id WHERE u.name = 'reader' AND p.type = 'SL'",
                "1");
    pair_close(&shop);
}

/* --- requests of the transaction manager --- */
static void transaction_requests_set_levels_and_begin_the_next(void **state)
{
    Pair     shop = shop_open();
    Talk    *talk = shop.one;
    uint64_t first, second;
    (void)state;

    assert_true(sim_session_transaction_request(talk->session, SIM_TM_BEGIN, STR_EMPTY, 4, false, 0,
                                                &talk->sink));
    first = sim_session_transaction(talk->session);
    assert_true(first != 0);
    assert_says(talk,
                "SELECT transaction_isolation_level, @@TRANCOUNT FROM sys.dm_exec_sessions "
                "WHERE session_id = @@SPID",
                "4|1");
    do_run(talk, "UPDATE t SET v = 7 WHERE id = 10");
    assert_true(sim_session_transaction_request(talk->session, SIM_TM_SAVE, STR("s"), 0, false, 0,
                                                &talk->sink));
    do_run(talk, "UPDATE t SET v = 8 WHERE id = 10");
    assert_true(sim_session_transaction_request(talk->session, SIM_TM_ROLLBACK, STR("s"), 0, false,
                                                0, &talk->sink));
    assert_says(talk, "SELECT v FROM t WHERE id = 10", "7");
    assert_true(sim_session_transaction_request(talk->session, SIM_TM_COMMIT, STR_EMPTY, 0, true, 2,
                                                &talk->sink));
    second = sim_session_transaction(talk->session);
    assert_true(second != 0 && second != first);
    assert_says(talk,
                "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE "
                "session_id = @@SPID",
                "2");
    assert_true(sim_session_transaction_request(talk->session, SIM_TM_ROLLBACK, STR_EMPTY, 0, false,
                                                0, &talk->sink));
    assert_true(sim_session_transaction(talk->session) == 0);
    assert_says(shop.two, "SELECT v FROM t WHERE id = 10", "7");
    pair_close(&shop);
}

/* Whoever sees a commit captured sees it in the table, at every level. */
static void a_captured_commit_is_visible(void **state)
{
    Pair shop = shop_open();
    (void)state;

    do_run(shop.one, "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', "
                     "@role_name = NULL; ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON");
    talk_start(shop.one,
               STR("SET NOCOUNT ON; DECLARE @i int = 0; WHILE @i < 300 BEGIN INSERT INTO t "
                   "VALUES (1000 + @i, 0); SET @i += 1 END"));
    do_run(shop.two, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT");
    for (int i = 0; i < 100; i++) {
        (void)talk_run(shop.talks->watcher, STR("EXEC tidesim.scan_now @db = 'shop'"));
        assert_says(shop.two,
                    "DECLARE @n int = (SELECT COUNT(*) FROM cdc.dbo_t_CT); SELECT "
                    "IIF((SELECT COUNT(*) FROM t WHERE id >= 1000) >= @n, 1, 0)",
                    "1");
    }
    assert_finishes(shop.one, "");
    pair_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_committed_waits_at_rows_that_would_not_qualify),
        cmocka_unit_test(repeatable_read_keeps_what_it_read),
        cmocka_unit_test(serializable_locks_its_ranges),
        cmocka_unit_test(updlock_and_holdlock_make_an_upsert_safe),
        cmocka_unit_test(hints_lock_rows_and_tables),
        cmocka_unit_test(a_deadlock_takes_the_lower_priority_then_the_lighter_one),
        cmocka_unit_test(ddl_waits_for_writers_and_readers_wait_behind_it),
        cmocka_unit_test(kill_ends_a_wait_and_the_transaction),
        cmocka_unit_test(transactions_nest_and_have_names),
        cmocka_unit_test(implicit_transactions_begin_with_data),
        cmocka_unit_test(xact_abort_ends_the_transaction_at_the_first_error),
        cmocka_unit_test(ddl_cdc_and_grants_roll_back),
        cmocka_unit_test(transaction_requests_set_levels_and_begin_the_next),
        cmocka_unit_test(a_captured_commit_is_visible),
    };
    return RUN_TESTS(tests);
}
