/* test_control.c - controls in one process: their answers, time that stands still, and the verbs from C. */
#include "unit/sim/script.h"

#include "base/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void every_answer_is_as_it_was(void **state)
{
    (void)state;
    script_check_file("control");
}

static void assert_answer(Str got, const char *want)
{
    if (str_equal(got, str_from_c(want))) return;
    fprintf(stderr, "want:\n%sgot:\n%.*s", want, STR_ARG(got));
    fail();
}

static Script *open_shop(void)
{
    Script *script = script_open();

    (void)script_run(script, 1, STR("CREATE DATABASE shop"));
    (void)script_run(script, 1, STR("USE shop"));
    assert_answer(script_run(script, 1,
                             STR("CREATE TABLE t (id int PRIMARY KEY, v int NULL); INSERT INTO t "
                                 "VALUES (1, 10), (2, 20)")),
                  "(2)\n");
    return script;
}

/* --- a request on a thread of its own --- */

typedef struct Request {
    SimSink     sink; /* first */
    SimSession *session;
    const char *sql;
    Sched      *sched;
    Clock      *clock; /* real */
    Task       *task;
    atomic_int  error, rows;
    atomic_bool is_done, is_open;
} Request;

static bool on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    (void)sink, (void)columns, (void)count;
    return true;
}

static bool on_row(SimSink *sink, const SimValue *values, size_t count)
{
    (void)values, (void)count;
    atomic_fetch_add(&((Request *)sink)->rows, 1);
    return true;
}

static bool on_message(SimSink *sink, const SimError *message)
{
    if (message->severity > 10) atomic_store(&((Request *)sink)->error, message->number);
    return true;
}

static bool on_done(SimSink *sink, const SimDone *done)
{
    (void)sink, (void)done;
    return true;
}

static void run_request(void *arg)
{
    Request *request = arg;

    atomic_store(&request->is_open,
                 sim_session_batch(request->session, str_from_c(request->sql), &request->sink));
    atomic_store(&request->is_done, true);
}

static void begin(Request *request, SimSession *session, const char *sql)
{
    *request = (Request){
        .sink    = {.columns = on_columns, .row = on_row, .message = on_message, .done = on_done},
        .session = session,
        .sql     = sql,
        .sched   = sched_new_real(),
        .clock   = clock_new_real()};
    request->task = sched_spawn(request->sched, "request", run_request, request);
}

static bool is_done_within(Request *request, int ms)
{
    for (int waited = 0; waited < ms && !atomic_load(&request->is_done); waited += 2)
        clock_sleep_ms(request->clock, 2, NULL);
    return atomic_load(&request->is_done);
}

static void end(Request *request)
{
    sched_join(request->sched, request->task);
    sched_close(request->sched);
    clock_close(request->clock);
}

/* --- time that stands still --- */

static void lock_timeouts_and_sleeps_follow_the_virtual_clock(void **state)
{
    static const struct {
        const char *sql;
        int         ms, error;
    } waits[]      = {{"SET LOCK_TIMEOUT 5000; SELECT v FROM t WHERE id = 1", 5000, 1222},
                      {"WAITFOR DELAY '00:10:00'", 600000, 0},
                      {"EXEC tidesim.sleep 70", 70, 0}};
    Script *script = open_shop();
    Request request;

    (void)state;
    (void)script_run(script, 1, STR("BEGIN TRAN; UPDATE t SET v = 0 WHERE id = 1"));
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        begin(&request, script_session(script, 2), waits[i].sql);
        assert_false(is_done_within(&request, 120));
        sim_control_clock_advance(script_server(script), (waits[i].ms - 1) * INT64_C(1000));
        assert_false(is_done_within(&request, 60));
        sim_control_clock_advance(script_server(script), 1000);
        assert_true(is_done_within(&request, 5000));
        assert_int_equal(atomic_load(&request.error), waits[i].error);
        end(&request);
    }
    script_close(script);
}

static void a_clock_that_goes_again_takes_its_sleepers_along(void **state)
{
    Script *script = open_shop();
    Request request;

    (void)state;
    begin(&request, script_session(script, 2), "WAITFOR DELAY '00:00:00.100'");
    assert_false(is_done_within(&request, 150));
    sim_control_clock_go(script_server(script));
    assert_true(is_done_within(&request, 5000));
    end(&request);
    begin(&request, script_session(script, 2), "WAITFOR DELAY '00:00:20'");
    assert_false(is_done_within(&request, 20));
    sim_control_clock_stop(script_server(script), INT64_C(1800000000000000));
    assert_false(is_done_within(&request, 20));
    sim_control_clock_advance(script_server(script), INT64_C(20000000));
    assert_true(is_done_within(&request, 5000));
    end(&request);
    script_close(script);
}

static void the_capture_job_follows_the_virtual_clock(void **state)
{
    Script *script = open_shop();
    Request request;

    (void)state;
    (void)script_run(script, 1,
                     STR("EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', "
                         "NULL; EXEC tidesim.capture_mode 'shop', 'auto'; EXEC "
                         "tidesim.idle_interval 'shop', 60"));
    (void)script_run(script, 1, STR("UPDATE t SET v = 1"));
    begin(&request, script_session(script, 2),
          "DECLARE @t datetime = '2026-03-01T12:00:00'; EXEC tidesim.wait_captured @commit_ts = "
          "@t, @timeout = 3600000");
    assert_false(is_done_within(&request, 100));
    sim_control_clock_advance(script_server(script), 5000 * INT64_C(1000));
    assert_true(is_done_within(&request, 5000)); /* a poll woke it, not the timeout */
    assert_int_equal(atomic_load(&request.error), 0);
    end(&request);
    assert_answer(script_run(script, 1, STR("SELECT COUNT(*) AS n FROM cdc.dbo_t_CT")),
                  "n\n4\n(1)\n");
    begin(&request, script_session(script, 2),
          "DECLARE @t datetime = '2026-03-01T12:01:00'; EXEC tidesim.wait_captured @commit_ts = "
          "@t, @timeout = 3600000");
    sim_control_clock_advance(script_server(script), 65000 * INT64_C(1000)); /* an idle entry */
    assert_true(is_done_within(&request, 5000));
    assert_int_equal(atomic_load(&request.error), 0);
    end(&request);
    (void)script_run(script, 1, STR("EXEC tidesim.capture_mode 'shop', 'manual'"));
    script_close(script);
}

static void a_wait_for_capture_ends_with_the_scan(void **state)
{
    Script *script = open_shop();
    Request request;

    (void)state;
    (void)script_run(script, 1,
                     STR("EXEC sys.sp_cdc_enable_db; EXEC tidesim.capture_mode 'shop', 'manual'; "
                         "EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL"));
    begin(&request, script_session(script, 2),
          "EXEC tidesim.wait_captured @commit_ts = '2026-03-01T12:00:00'");
    assert_false(is_done_within(&request, 60));
    (void)script_run(script, 1, STR("EXEC tidesim.scan_now"));
    assert_true(is_done_within(&request, 5000));
    assert_int_equal(atomic_load(&request.error), 0);
    end(&request);
    assert_answer(script_run(script, 1, STR("EXEC tidesim.wait_captured")), ""); /* nothing waits */
    (void)script_run(script, 1, STR("UPDATE t SET v = 7"));
    begin(&request, script_session(script, 2), "EXEC tidesim.wait_captured");
    assert_false(is_done_within(&request, 60));
    (void)script_run(script, 1, STR("EXEC tidesim.scan_now"));
    assert_true(is_done_within(&request, 5000));
    assert_int_equal(atomic_load(&request.error), 0);
    end(&request);
    begin(&request, script_session(script, 2),
          "EXEC tidesim.wait_captured @commit_ts = '2027-01-01', @timeout = 1000");
    assert_false(is_done_within(&request, 60));
    sim_control_clock_advance(script_server(script), 1000 * INT64_C(1000));
    assert_true(is_done_within(&request, 5000));
    assert_int_equal(atomic_load(&request.error), 50000);
    end(&request);
    script_close(script);
}

/* --- the verbs from C --- */

static void a_session_without_a_socket_meets_faults_too(void **state)
{
    Script    *script = open_shop();
    SimServer *server = script_server(script);
    SimError   error  = SIM_ERROR_INIT;
    Request    request;
    SimFault   fault = {.action  = SIM_FAULT_ERROR,
                        .place   = SIM_AT_ROW,
                        .n       = 1,
                        .number  = 701,
                        .pattern = STR("%FROM t%")};

    (void)state;
    assert_true(sim_control_fault(server, &fault, &error));
    assert_answer(script_run(script, 1, STR("SELECT id FROM t ORDER BY id")),
                  "id\n1\n!701 17 123 line 1: An injected error.\n");
    fault = (SimFault){.action = SIM_FAULT_CLOSE, .pattern = STR("%FROM t%")};
    assert_true(sim_control_fault(server, &fault, &error));
    assert_answer(script_run(script, 1, STR("SELECT id FROM t ORDER BY id")), "(closed)\n");
    fault = (SimFault){.action = SIM_FAULT_HALF_CLOSE, .pattern = STR("%FROM t%")};
    assert_true(sim_control_fault(server, &fault, &error));
    begin(&request, script_session(script, 2), "SELECT id FROM t");
    assert_false(is_done_within(&request, 60));
    sim_session_attention(request.session); /* it does not hear */
    assert_false(is_done_within(&request, 60));
    sim_session_hang_up(request.session);
    assert_true(is_done_within(&request, 5000));
    assert_false(atomic_load(&request.is_open));
    end(&request);
    fault = (SimFault){.action = SIM_FAULT_ERROR, .place = SIM_AT_BYTE};
    assert_false(sim_control_fault(server, &fault, &error));
    assert_int_equal(error.number, 50001);
    script_close(script);
}

static void logins_in_process_fail_as_over_a_socket(void **state)
{
    static const struct {
        SimFaultAction action;
        int32_t        number, want;
    } faults[] = {{SIM_FAULT_LOGIN_ERROR, 40613, 40613}, {SIM_FAULT_LOGIN_ERROR, 0, 18456},
                  {SIM_FAULT_CLOSE, 0, 10054},           {SIM_FAULT_RESET, 0, 10054},
                  {SIM_FAULT_HALF_CLOSE, 0, 10060},      {SIM_FAULT_ERROR, 976, 976}};
    Script         *script  = open_shop();
    SimLoginRequest login   = {.user = STR("sa"), .password = STR("secret")};
    SimSession     *session = NULL;
    SimError        error   = SIM_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        SimFault fault = {
            .action = faults[i].action, .place = SIM_AT_LOGIN, .number = faults[i].number};
        assert_true(sim_control_fault(script_server(script), &fault, &error));
        assert_false(sim_session_open(script_server(script), &login, &session, &error));
        assert_int_equal(error.number, faults[i].want);
        error = SIM_ERROR_INIT;
        assert_true(sim_session_open(script_server(script), &login, &session, &error));
        sim_session_close(session);
    }
    sim_control_restart(script_server(script), &(SimRestart){.down_ms = 60000, .number = 17142});
    assert_false(sim_session_open(script_server(script), &login, &session, &error));
    assert_int_equal(error.number, 17142);
    sim_control_restart(script_server(script), &(SimRestart){.down_ms = 0});
    error = SIM_ERROR_INIT;
    assert_true(sim_session_open(script_server(script), &login, &session, &error));
    sim_session_close(session);
    assert_answer(script_run(script, 1, STR("SELECT 1 AS a")), "(closed)\n"); /* it was dropped */
    script_close(script);
}

static void a_gate_and_a_hook_from_c(void **state)
{
    Script    *script = open_shop();
    SimServer *server = script_server(script);
    SimError   error  = SIM_ERROR_INIT;
    Request    request;

    (void)state;
    assert_true(sim_control_gate(server, STR("shop"), STR("dbo.t"), true, &error));
    begin(&request, script_session(script, 2), "SELECT id FROM t");
    assert_false(is_done_within(&request, 60));
    assert_true(sim_control_gate(server, STR("shop"), STR("dbo.t"), false, &error));
    assert_true(is_done_within(&request, 5000));
    assert_int_equal(atomic_load(&request.rows), 2);
    end(&request);
    sim_control_on_read(
        server,
        &(SimReadHook){.object = STR("t"), .sql = STR("INSERT t VALUES (9, 9)"), .rows = 1});
    assert_answer(script_run(script, 1, STR("SELECT id FROM t ORDER BY id")), "id\n1\n2\n9\n(3)\n");
    script_close(script);
}

static void a_trace_is_a_file_of_requests(void **state)
{
    Script      *script   = open_shop();
    SimError     error    = SIM_ERROR_INIT;
    char         path[]   = "/tmp/tidesim-trace-XXXXXX", text[600];
    int          fd       = mkstemp(path);
    Arena       *arena    = arena_new();
    SimParameter params[] = {{.value = sim_nvarchar(arena, STR("SELECT @a AS a"))},
                             {.value = sim_nvarchar(arena, STR("@a int"))},
                             {.name = STR("@a"), .value = sim_int(5, SIM_INT)}};

    (void)state;
    assert_true(fd >= 0);
    assert_true(sim_control_trace(script_server(script), str_from_c(path), &error));
    (void)script_run(script, 1, STR("SELECT id\nFROM t"));
    (void)script_rpc(script, 1, 0, "sp_executesql", params, 3);
    (void)script_run(script, 1, STR("SELECT * FROM nowhere"));
    assert_true(sim_control_trace(script_server(script), STR_EMPTY, &error));
    (void)script_run(script, 1, STR("SELECT 1 AS unseen"));
    ssize_t len = read(fd, text, sizeof text - 1);
    assert_true(len > 0);
    text[len] = '\0';
    assert_string_equal(text, "51: SELECT id\\nFROM t -> 2 rows, 2 examined\n"
                              "51: sp_executesql 'SELECT @a AS a', '@a int', @a=5 -> 1 row\n"
                              "51: SELECT * FROM nowhere -> 0 rows, error 208\n");
    (void)close(fd);
    (void)unlink(path);
    arena_close(arena);
    script_close(script);
}

static void a_seed_begins_anew(void **state)
{
    Script *script = open_shop();
    Arena  *arena  = arena_new();

    (void)state;
    (void)script_run(script, 1, STR("EXEC tidesim.seed 42"));
    Str one = str_copy(arena, script_run(script, 1, STR("SELECT NEWID() AS a, NEWID() AS b")));
    Str two = str_copy(arena, script_run(script, 1, STR("SELECT NEWID() AS a, NEWID() AS b")));
    (void)script_run(script, 1, STR("EXEC tidesim.seed 42"));
    assert_true(str_equal(one, script_run(script, 1, STR("SELECT NEWID() AS a, NEWID() AS b"))));
    assert_false(str_equal(one, two));
    arena_close(arena);
    script_close(script);
}

static void a_server_of_2016_can_hide_the_command_id(void **state)
{
    Clock          *clock   = clock_new_real();
    Sched          *sched   = sched_new_real();
    Rng            *rng     = rng_new(3);
    SimOptions      options = {.clock               = clock,
                               .sched               = sched,
                               .rng                 = rng,
                               .server_version      = 2016,
                               .capture_interval_ms = -1,
                               .login               = STR("sa"),
                               .password            = STR("secret")};
    SimServer      *server  = NULL;
    SimError        error   = SIM_ERROR_INIT;
    Request         request;
    SimLoginRequest login = {.user = STR("sa"), .password = STR("secret"), .database = STR("shop")};
    SimSession     *session = NULL;

    (void)state;
    assert_true(sim_server_open(&options, &server, &error));
    assert_true(sim_create_database(server, STR("shop"), &error));
    assert_true(sim_session_open(server, &login, &session, &error));
    for (int hides = 0; hides < 2; hides++) {
        sim_server_set_knob(server, SIM_KNOB_COMMAND_ID_2016, hides);
        begin(&request, session,
              hides ? "CREATE TABLE b (a int PRIMARY KEY); EXEC sys.sp_cdc_enable_table 'dbo', "
                      "'b', NULL; INSERT b VALUES (1); UPDATE b SET a = 2; EXEC tidesim.scan_now; "
                      "SELECT * FROM cdc.dbo_b_CT"
                    : "EXEC sys.sp_cdc_enable_db; CREATE TABLE a (a int PRIMARY KEY); EXEC "
                      "sys.sp_cdc_enable_table 'dbo', 'a', NULL; INSERT a VALUES (1); UPDATE a SET "
                      "a = 2; EXEC tidesim.scan_now; SELECT * FROM cdc.dbo_a_CT");
        end(&request);
        assert_int_equal(atomic_load(&request.error), 0);
        assert_int_equal(atomic_load(&request.rows), 4); /* scan_now's one, and three changes */
        begin(&request, session,
              hides ? "SELECT __$command_id FROM cdc.dbo_b_CT"
                    : "SELECT __$command_id FROM cdc.dbo_a_CT");
        end(&request);
        assert_int_equal(atomic_load(&request.error), hides ? 207 : 0);
    }
    sim_session_close(session);
    assert_true(sim_control_reset(server, NULL, &error));
    assert_null(sim_server_find_database(server, STR("shop")));
    sim_server_close(server);
    rng_close(rng);
    sched_close(sched);
    clock_close(clock);
}

static void types_of_2025_are_unknown_before_and_not_supported_from_then_on(void **state)
{
    static const char *const texts[] = {"DECLARE @j json", "CREATE TABLE t (v vector(3))",
                                        "EXEC sp_executesql N'SELECT 1', N'@v vector(3)', NULL"};

    (void)state;
    for (int year = 2022; year <= 2025; year += 3) {
        Clock          *clock   = clock_new_real();
        Sched          *sched   = sched_new_real();
        Rng            *rng     = rng_new(3);
        SimOptions      options = {.clock               = clock,
                                   .sched               = sched,
                                   .rng                 = rng,
                                   .server_version      = year,
                                   .capture_interval_ms = -1,
                                   .login               = STR("sa"),
                                   .password            = STR("secret")};
        SimServer      *server  = NULL;
        SimSession     *session = NULL;
        SimError        error   = SIM_ERROR_INIT;
        SimLoginRequest login   = {.user = STR("sa"), .password = STR("secret")};
        assert_true(sim_server_open(&options, &server, &error));
        assert_true(sim_session_open(server, &login, &session, &error));
        for (size_t i = 0; i < COUNT_OF(texts); i++) {
            Request request;
            begin(&request, session, texts[i]);
            end(&request);
            assert_int_equal(atomic_load(&request.error), year < 2025 ? 2715 : 50001);
        }
        sim_session_close(session);
        sim_server_close(server);
        rng_close(rng);
        sched_close(sched);
        clock_close(clock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_as_it_was),
        cmocka_unit_test(lock_timeouts_and_sleeps_follow_the_virtual_clock),
        cmocka_unit_test(a_clock_that_goes_again_takes_its_sleepers_along),
        cmocka_unit_test(the_capture_job_follows_the_virtual_clock),
        cmocka_unit_test(a_wait_for_capture_ends_with_the_scan),
        cmocka_unit_test(a_session_without_a_socket_meets_faults_too),
        cmocka_unit_test(logins_in_process_fail_as_over_a_socket),
        cmocka_unit_test(a_gate_and_a_hook_from_c),
        cmocka_unit_test(a_trace_is_a_file_of_requests),
        cmocka_unit_test(a_seed_begins_anew),
        cmocka_unit_test(a_server_of_2016_can_hide_the_command_id),
        cmocka_unit_test(types_of_2025_are_unknown_before_and_not_supported_from_then_on),
    };

    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
