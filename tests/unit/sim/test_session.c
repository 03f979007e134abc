/* test_session.c - requests that are no text: remote procedure calls, transaction requests, attentions, resets, kills; and many sessions at once. */
#include "unit/sim/script.h"

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

static SimParameter text_param(Arena *arena, const char *name, const char *text)
{
    return (SimParameter){.name = str_from_c(name), .value = sim_nvarchar(arena, str_from_c(text))};
}

static SimParameter int_param(const char *name, int64_t value, bool is_output)
{
    return (SimParameter){
        .name = str_from_c(name), .value = sim_int(value, SIM_INT), .is_output = is_output};
}

static void open_shop(Script *script)
{
    (void)script_run(script, 1, STR("CREATE DATABASE shop"));
    (void)script_run(script, 1, STR("USE shop"));
    assert_answer(script_run(script, 1,
                             STR("CREATE TABLE t (id int PRIMARY KEY, v int NULL); INSERT INTO t "
                                 "VALUES (1, 10), (2, 20)")),
                  "(2)\n");
}

static void executesql_takes_parameters_by_position_and_by_name(void **state)
{
    Arena       *arena    = arena_new();
    Script      *script   = script_open();
    SimParameter params[] = {text_param(arena, "", "SELECT v FROM t WHERE id = @P1 AND N'a' = @P2"),
                             text_param(arena, "", "@P1 int, @P2 nvarchar(4000)"),
                             int_param("@P1", 2, false), text_param(arena, "@P2", "A")};
    SimParameter bare[]   = {text_param(arena, "stmt", "SELECT 1 AS a"),
                             text_param(arena, "params", "")};

    (void)state;
    open_shop(script);
    assert_answer(script_rpc(script, 1, 10, "", params, 4), "v\n20\n(1)\n");
    /* tiberius leaves the @ out and sends empty definitions */
    assert_answer(script_rpc(script, 1, 0, "sp_executesql", bare, 2), "a\n1\n(1)\n");
    script_close(script);
    arena_close(arena);
}

static void prepared_statements_live_until_they_are_unprepared(void **state)
{
    Arena       *arena     = arena_new();
    Script      *script    = script_open();
    SimParameter prepare[] = {int_param("", 0, true), text_param(arena, "", "@P1 int"),
                              text_param(arena, "", "SELECT v FROM t WHERE id = @P1"),
                              int_param("", 1, false)};
    SimParameter execute[] = {int_param("", 1, false), int_param("", 2, false)};

    (void)state;
    prepare[0].value = sim_null(sim_type(SIM_INT));
    open_shop(script);
    assert_answer(script_rpc(script, 1, 13, "", prepare, 4), "v\n10\n(1)\n = 1\n");
    /* FreeTDS sends sp_execute by name, Microsoft's driver in brackets */
    assert_answer(script_rpc(script, 1, 0, "sp_execute", execute, 2), "v\n20\n(1)\n");
    assert_answer(script_rpc(script, 1, 0, "[sys].[sp_unprepare]", execute, 1), "");
    assert_answer(script_rpc(script, 1, 12, "", execute, 2),
                  "!8179 16 2 line 1: Could not find prepared statement with handle 1.\n");
    assert_answer(script_rpc(script, 1, 0, "..sp_pkeys", NULL, 0),
                  "TABLE_QUALIFIER|TABLE_OWNER|TABLE_NAME|COLUMN_NAME|KEY_SEQ|PK_NAME\nshop|dbo|t|"
                  "id|1|PK__t__DF6E1CE3B6218C49\n(1)\n");
    assert_answer(script_rpc(script, 1, 0, "sp_nothing", NULL, 0),
                  "!2812 16 62 line 1: Could not find stored procedure 'sp_nothing'.\n");
    script_close(script);
    arena_close(arena);
}

static void transaction_requests_begin_commit_and_roll_back(void **state)
{
    Script     *script = script_open();
    SimSession *session;

    (void)state;
    open_shop(script);
    session = script_session(script, 1);
    assert_true(sim_session_transaction_request(session, SIM_TM_BEGIN, STR_EMPTY, 0, false, 0,
                                                script_sink(script)));
    assert_true(sim_session_transaction(session) != 0);
    (void)script_run(script, 1, STR("DELETE FROM t"));
    assert_true(sim_session_transaction_request(session, SIM_TM_ROLLBACK, STR_EMPTY, 0, true, 0,
                                                script_sink(script)));
    assert_answer(script_run(script, 1, STR("SELECT COUNT(*) AS n, @@TRANCOUNT AS o FROM t")),
                  "n|o\n2|1\n(1)\n");
    assert_true(sim_session_transaction_request(session, SIM_TM_COMMIT, STR_EMPTY, 0, false, 0,
                                                script_sink(script)));
    assert_true(sim_session_transaction(session) == 0);
    (void)script_answer(script);
    assert_true(sim_session_transaction_request(session, SIM_TM_COMMIT, STR_EMPTY, 0, false, 0,
                                                script_sink(script)));
    assert_answer(script_answer(script), "!3902 16 1 line 1: The COMMIT TRANSACTION request has no "
                                         "corresponding BEGIN TRANSACTION.\n");
    script_close(script);
}

static void a_reset_rolls_back_and_restores_options_but_not_the_isolation(void **state)
{
    Script *script = script_open();

    (void)state;
    open_shop(script);
    (void)script_run(script, 1,
                     STR("SET NOCOUNT ON; SET LOCK_TIMEOUT 7; SET TRANSACTION ISOLATION LEVEL "
                         "SERIALIZABLE; CREATE TABLE #x (a int); BEGIN TRAN; DELETE FROM t"));
    sim_session_reset(script_session(script, 1), false, script_sink(script));
    (void)script_answer(script);
    assert_answer(script_run(script, 1,
                             STR("SELECT DB_NAME() AS db, @@TRANCOUNT AS o, @@LOCK_TIMEOUT AS l, "
                                 "transaction_isolation_level AS i FROM sys.dm_exec_sessions "
                                 "WHERE session_id = @@SPID")),
                  "db|o|l|i\nmaster|0|-1|4\n(1)\n");
    assert_answer(script_run(script, 1, STR("SELECT COUNT(*) AS n FROM shop.dbo.t")),
                  "n\n2\n(1)\n");
    assert_answer(script_run(script, 1, STR("SELECT * FROM #x")),
                  "!208 16 1 line 1: Invalid object name '#x'.\n");
    script_close(script);
}

/* --- from another thread --- */
typedef struct Other {
    Script     *script;
    SimSession *session;
    Clock      *clock;
    int64_t     after_ms;
} Other;

static void send_attention(void *arg)
{
    Other *other = arg;

    clock_sleep_ms(other->clock, other->after_ms, NULL);
    sim_session_attention(other->session);
}

static void an_attention_stops_a_wait(Script *script, Str sql, const char *want)
{
    Clock *clock = clock_new_real();
    Sched *sched = sched_new_real();
    Other  other = {script, script_session(script, 2), clock, 50};
    Task  *task  = sched_spawn(sched, "attention", send_attention, &other);

    Str answer = script_run(script, 2, sql);
    sched_join(sched, task);
    assert_answer(answer, want);
    sched_close(sched);
    clock_close(clock);
}

static void attentions_wake_lock_waits_sleeps_and_loops(void **state)
{
    Script *script = script_open();

    (void)state;
    open_shop(script);
    (void)script_run(script, 1,
                     STR("EXEC tidesim.clock 'real'; BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 1"));
    an_attention_stops_a_wait(script, STR("SELECT v FROM t WHERE id = 1"), "v\n(stopped)\n");
    an_attention_stops_a_wait(script, STR("WAITFOR DELAY '00:01:00'"), "(stopped)\n");
    an_attention_stops_a_wait(script, STR("DECLARE @x int; WHILE 1 = 1 SET @x = 1"), "(stopped)\n");
    script_close(script);
}

static void kill_closes_the_other_session(void **state)
{
    Script *script = script_open();
    char    text[40];

    (void)state;
    open_shop(script);
    (void)script_run(script, 2, STR("BEGIN TRAN; DELETE FROM t"));
    (void)snprintf(text, sizeof text, "KILL %d", sim_session_id(script_session(script, 2)));
    assert_answer(script_run(script, 1, str_from_c(text)), "");
    assert_answer(script_run(script, 2, STR("SELECT 1")),
                  "!596 21 1 line 1: Cannot continue the execution because the session is in the "
                  "kill state.\n(closed)\n");
    assert_answer(script_run(script, 1, STR("SELECT COUNT(*) AS n FROM t")), "n\n2\n(1)\n");
    script_close(script);
}

static void a_refused_login_says_which(void **state)
{
    Script         *script  = script_open();
    SimSession     *session = NULL;
    SimError        error   = SIM_ERROR_INIT;
    SimLoginRequest login   = {.user = STR("sa"), .password = STR("wrong")};

    (void)state;
    assert_false(sim_session_open(script_server(script), &login, &session, &error));
    assert_int_equal(error.number, 18456);
    login.password = STR("secret");
    login.database = STR("nowhere");
    assert_false(sim_session_open(script_server(script), &login, &session, &error));
    assert_int_equal(error.number, 4060);
    assert_null(session);
    script_close(script);
}

/* --- many at once --- */
typedef struct Worker {
    SimSink    sink; /* first */
    SimServer *server;
    int        number;
    int        errors, rows;
    char       first[200];
} Worker;

static bool worker_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    (void)sink;
    (void)columns;
    (void)count;
    return true;
}

static bool worker_row(SimSink *sink, const SimValue *values, size_t count)
{
    (void)values;
    (void)count;
    ((Worker *)sink)->rows++;
    return true;
}

static bool worker_message(SimSink *sink, const SimError *message)
{
    Worker *worker = (Worker *)sink;

    if (message->severity <= 10 || message->number == 1205 || message->number == 3621) return true;
    if (worker->errors++ == 0)
        (void)snprintf(worker->first, sizeof worker->first, "%d %.150s", message->number,
                       message->message);
    return true;
}

static bool worker_done(SimSink *sink, const SimDone *done)
{
    (void)sink;
    (void)done;
    return true;
}

static void worker_run(void *arg)
{
    static const char *const texts[] = {
        "BEGIN TRAN; UPDATE t SET v = v + 1 WHERE id = ~; UPDATE t SET v = v + 1 WHERE id = ^; "
        "COMMIT",
        "SELECT COUNT(*) FROM t WHERE id BETWEEN ~ AND ^",
        "INSERT INTO t SELECT @@SPID * 10000 + COUNT(*), ~ + ^ FROM t WHERE id >= @@SPID * 10000 "
        "AND id < @@SPID * 10000 + 10000",
        "SELECT c.id, m.tran_end_time FROM cdc.dbo_t_CT c JOIN cdc.lsn_time_mapping m ON "
        "m.start_lsn = c.[__$start_lsn] WHERE c.id <> ~ AND c.id <> -^",
        "DECLARE @a TABLE (x int); INSERT INTO @a SELECT TOP 5 id FROM t WHERE id > ~; CREATE "
        "TABLE #x (a int); INSERT INTO #x VALUES (^); DROP TABLE #x",
        "EXEC sys.sp_cdc_help_change_data_capture; SELECT session_id, status FROM "
        "sys.dm_exec_requests WHERE session_id > ~ + ^; EXEC tidesim.scan_now 'shop'",
    };
    Worker         *worker = arg;
    SimLoginRequest login = {.user = STR("sa"), .password = STR("secret"), .database = STR("shop")};
    SimSession     *session = NULL;
    SimError        error   = SIM_ERROR_INIT;
    char            text[400];

    worker->sink = (SimSink){.columns = worker_columns,
                             .row     = worker_row,
                             .message = worker_message,
                             .done    = worker_done};
    if (!sim_session_open(worker->server, &login, &session, &error)) {
        worker->errors = 1;
        return;
    }
    for (int i = 0; i < 120; i++) {
        int         a = 1 + (i + worker->number) % 2, b = 3 - a;
        size_t      at   = 0;
        const char *from = texts[(i + worker->number) % (int)COUNT_OF(texts)];
        for (; *from; from++)
            text[at++] = *from == '~' ? (char)('0' + a) : *from == '^' ? (char)('0' + b) : *from;
        text[at] = '\0';
        if (!sim_session_batch(session, str_from_c(text), &worker->sink)) worker->errors++;
    }
    sim_session_close(session);
}

static void many_sessions_at_once_meet_no_error_but_deadlocks(void **state)
{
    Script *script = script_open();
    Sched  *sched  = sched_new_real();
    Worker  workers[6];
    Task   *tasks[6];

    (void)state;
    open_shop(script);
    (void)script_run(script, 1,
                     STR("EXEC tidesim.clock 'real'; EXEC sys.sp_cdc_enable_db; EXEC "
                         "tidesim.capture_mode 'shop', 'manual'; EXEC sys.sp_cdc_enable_table "
                         "'dbo', 't', NULL"));
    for (int i = 0; i < 6; i++) {
        workers[i] = (Worker){.server = script_server(script), .number = i};
        tasks[i]   = sched_spawn(sched, "worker", worker_run, &workers[i]);
    }
    for (int i = 0; i < 6; i++)
        sched_join(sched, tasks[i]);
    for (int i = 0; i < 6; i++)
        if (workers[i].errors > 0)
            fail_msg("worker %d: %d errors, first %s", i, workers[i].errors, workers[i].first);
    sched_close(sched);
    script_close(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executesql_takes_parameters_by_position_and_by_name),
        cmocka_unit_test(prepared_statements_live_until_they_are_unprepared),
        cmocka_unit_test(transaction_requests_begin_commit_and_roll_back),
        cmocka_unit_test(a_reset_rolls_back_and_restores_options_but_not_the_isolation),
        cmocka_unit_test(attentions_wake_lock_waits_sleeps_and_loops),
        cmocka_unit_test(kill_closes_the_other_session),
        cmocka_unit_test(a_refused_login_says_which),
        cmocka_unit_test(many_sessions_at_once_meet_no_error_but_deadlocks),
    };

    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
