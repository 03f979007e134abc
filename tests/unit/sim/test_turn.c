/* Requests one at a time (2.17, deterministic mode): sessions on threads that wait for each other, for locks and for the
 * clock, in an order that repeats itself. */
#include "support/test_support.h"

#include "unit/sim/talk.h"

#define TALK_COUNT 8
#define RUN_COUNT  10

/* Each talk takes the same row's lock while the others wait, and notes what it got: a number, an LSN, a GUID, a time. */
#define TELL                                                                                     \
    "WAITFOR DELAY '00:00:01'; BEGIN TRAN; UPDATE hot SET v = v + 1; WAITFOR DELAY '00:00:01'; " \
    "INSERT told (who, v, at, mark) SELECT %d, v, SYSDATETIME(), NEWID() FROM hot; COMMIT"

static void advance_until_done(Talks *talks, Talk *const *talk)
{
    for (int round = 0; round < 4000; round++) {
        size_t done = 0;
        for (size_t i = 0; i < TALK_COUNT; i++)
            done += atomic_load(&talk[i]->is_done);
        if (done == TALK_COUNT) return;
        /* Once nobody runs and one sleeps: whoever got a lock a moment ago is about to sleep. */
        do_run(talks->watcher, "IF EXISTS (SELECT 1 FROM sys.dm_exec_requests WHERE wait_type = "
                               "'WAITFOR') AND NOT EXISTS (SELECT 1 FROM "
                               "sys.dm_exec_requests WHERE status = 'running' AND session_id <> "
                               "@@SPID) EXEC tidesim.clock_advance 1000");
        clock_sleep_ms(talks->clock, 1, NULL);
    }
    fail_msg("they do not end");
}

static Str tell(Arena *arena)
{
    Talks *talks = talks_open_one_at_a_time();
    Talk  *talk[TALK_COUNT];
    Str    told;

    do_run(talks->watcher, "EXEC tidesim.clock 'virtual', '2030-01-01'");
    do_run(talks->watcher,
           "USE shop; CREATE TABLE hot (v int); INSERT hot VALUES (0); CREATE TABLE told (n int "
           "IDENTITY PRIMARY "
           "KEY, who int, v int, at datetime2, mark uniqueidentifier, stamp rowversion)");
    do_run(talks->watcher,
           "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 'told', NULL");
    for (size_t i = 0; i < TALK_COUNT; i++) {
        char sql[400];
        talk[i] = talk_open(talks);
        (void)snprintf(sql, sizeof sql, TELL, (int)i);
        talk_start(talk[i], str_copy(talks->arena, str_from_c(sql)));
        talk_await(talk[i], "WAITFOR", NULL);
    }
    advance_until_done(talks, talk);
    for (size_t i = 0; i < TALK_COUNT; i++)
        assert_finishes(talk[i], "");
    (void)talk_run(talks->watcher, STR("EXEC tidesim.scan_now"));
    told = str_copy(
        arena,
        talk_run(talks->watcher,
                 STR("SELECT n, who, c.v, at, mark, CONVERT(binary(8), stamp), __$start_lsn, "
                     "__$seqval FROM cdc.dbo_told_CT AS c ORDER BY n")));
    for (size_t i = 0; i < TALK_COUNT; i++)
        talk_close(talk[i]);
    talks_close(talks);
    return told;
}

static void sessions_that_overlap_get_the_same_again(void **state)
{
    Arena *arena = arena_new();
    Str    first = tell(arena);
    (void)state;

    assert_true(str_find(first, STR("1|0|1|"), 0) == 0); /* who came first told first */
    assert_true(str_find(first, STR(";8|7|8|"), 0) > 0);
    for (int run = 1; run < RUN_COUNT; run++)
        assert_str_is(tell(arena), str_c(arena, first));
    arena_close(arena);
}

/* Whoever waits for its client, a lock or a KILL keeps nobody from going on. */
static void a_session_that_waits_gives_its_turn(void **state)
{
    Talks *talks = talks_open_one_at_a_time();
    Talk  *one = talk_open(talks), *two = talk_open(talks);
    (void)state;

    do_run(one, "CREATE TABLE t (id int); BEGIN TRAN; INSERT t VALUES (1)");
    talk_start(two, STR("SELECT COUNT(*) FROM t"));
    talk_await(two, "LCK_M_S", one);
    do_run(one, "INSERT t VALUES (2); COMMIT");
    assert_finishes(two, "2");
    talk_start(two, STR("WAITFOR DELAY '01:00:00'"));
    talk_await(two, "WAITFOR", NULL);
    (void)talk_run(
        talks->watcher,
        STR("DECLARE @spid int = (SELECT session_id FROM sys.dm_exec_requests WHERE wait_type = "
            "'WAITFOR'), @sql nvarchar(20); SET @sql = CONCAT(N'KILL ', @spid); EXEC (@sql)"));
    (void)talk_finish(two);
    assert_true(two->is_closed);
    assert_says(one, "SELECT COUNT(*) FROM t", "2");
    talk_close(one);
    talk_close(two);
    talks_close(talks);
}

/* What runs in the middle of another's read has its turn. */
static void a_hook_runs_in_the_turn_of_its_reader(void **state)
{
    Talks *talks = talks_open_one_at_a_time();
    Talk  *one   = talk_open(talks);
    (void)state;

    do_run(one, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1), (2)");
    do_run(one, "EXEC tidesim.on_read @object = 'dbo.t', @sql = N'DELETE FROM dbo.t WHERE id = 1'");
    assert_says(one, "SELECT id FROM t", "2");
    talk_close(one);
    talks_close(talks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_that_overlap_get_the_same_again),
        cmocka_unit_test(a_session_that_waits_gives_its_turn),
        cmocka_unit_test(a_hook_runs_in_the_turn_of_its_reader),
    };
    return RUN_TESTS(tests);
}
