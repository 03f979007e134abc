/* The retry policy (T0.4; sqlserver.md 1.14), on a simulated clock. */
#include "source_test.h"

#define MAX_LSN_ROW "max_lsn STRING"

static void a_transient_error_is_retried_twice_on_new_connections(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect   = "fn_cdc_get_max_lsn",
         .code     = ERR_SOURCE,
         .sqlstate = "08S01",
         .message  = "communication link failure",
         .times    = 2,
         .kills    = true},
        {.expect  = "fn_cdc_get_max_lsn",
         .columns = MAX_LSN_ROW,
         .rows    = "0x0000002A000001B80003\n"},
    };
    SourceTest test;
    Lsn        lsn;
    bool       is_null;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    int64_t before = clock_monotonic_ns(test.clock);
    assert_ok(mssql_max_lsn(test.mssql, &lsn, &is_null, &test.err), &test.err); /* T0.4 */
    assert_string_equal(lsn_format(lsn).text, "0x0000002A000001B80003");
    assert_false(is_null);
    assert_int_equal(fake_server_connections(test.server), 3);
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 2);
    assert_int_equal(count_in(buf_str(&test.log_text), "sqlstate=08S01"), 2);
    assert_int_equal(count_in(buf_str(&test.log_text), "method=max_lsn"), 2);
    int64_t waited_ms = (clock_monotonic_ns(test.clock) - before) / 1000000;
    assert_in_range(waited_ms, 3000, 6000); /* 1-2 s, then 2-4 s */
    source_test_close(&test);
}

static void the_error_is_raised_after_the_third_retry(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect   = "fn_cdc_get_max_lsn",
         .code     = ERR_SOURCE,
         .native   = 1205,
         .sqlstate = "42000",
         .message  = "deadlock victim"},
    };
    SourceTest test;
    Lsn        lsn;
    bool       is_null;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    int64_t before = clock_monotonic_ns(test.clock);
    assert_false(mssql_max_lsn(test.mssql, &lsn, &is_null, &test.err)); /* T0.4 */
    assert_err(&test.err, ERR_SOURCE, "deadlock victim");
    assert_int_equal(test.err.native, 1205);
    assert_int_equal(fake_server_call_count(test.server, "fn_cdc_get_max_lsn"), 4);
    assert_int_equal(fake_server_connections(test.server), 4);
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 3);
    assert_in_range((clock_monotonic_ns(test.clock) - before) / 1000000, 7000, 14000);
    source_test_close(&test);
}

static void a_refused_login_is_raised_at_once(void **state)
{
    static const FakeAnswer answers[] = {{.expect   = FAKE_CONNECT,
                                          .code     = ERR_LOGIN,
                                          .native   = 18456,
                                          .sqlstate = "28000",
                                          .message  = "Login failed"}};
    SourceTest              test;
    MssqlOptions            options = source_test_begin(&test, answers, COUNT_OF(answers));

    (void)state;
    int64_t before = clock_monotonic_ns(test.clock);
    assert_false(mssql_open(&options, &test.mssql, &test.err)); /* T0.4 */
    assert_err(&test.err, ERR_LOGIN, "Login failed");
    assert_int_equal(clock_monotonic_ns(test.clock) - before, 0);
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 0);
    source_test_close(&test);
}

static void a_host_that_comes_back_is_connected_to(void **state)
{
    static const FakeAnswer answers[] = {
        {.expect   = FAKE_CONNECT,
         .code     = ERR_SOURCE,
         .sqlstate = "08001",
         .message  = "refused",
         .times    = 3},
        FACTS_2022,
    };
    SourceTest test;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_int_equal(fake_server_connections(test.server), 1);
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 3);
    source_test_close(&test);
}

static void what_no_retry_can_mend_is_asked_once(void **state)
{
    static const ErrCode codes[] = {ERR_QUERY, ERR_PERMISSION, ERR_LOCK_TIMEOUT, ERR_SOURCE_STATE,
                                    ERR_CANCELLED};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        const FakeAnswer answers[] = {FACTS_2022,
                                      {.expect = "fn_cdc_get_max_lsn", .code = codes[i]}};
        SourceTest       test;
        Lsn              lsn;
        bool             is_null;
        source_test_open(&test, answers, COUNT_OF(answers));
        assert_false(mssql_max_lsn(test.mssql, &lsn, &is_null, &test.err));
        assert_int_equal(test.err.code, codes[i]);
        assert_int_equal(fake_server_call_count(test.server, "fn_cdc_get_max_lsn"), 1);
        source_test_close(&test);
    }
}

typedef struct Inner {
    int runs;
} Inner;

static bool call_outer(Mssql *mssql, void *arg, Err *err)
{
    Lsn  lsn;
    bool is_null;

    ((Inner *)arg)->runs++;
    return mssql_max_lsn(mssql, &lsn, &is_null, err);
}

static void a_method_runs_again_as_a_whole_and_inner_questions_do_not_multiply(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect = "fn_cdc_get_max_lsn", .code = ERR_SOURCE}};
    SourceTest              test;
    Inner                   inner = {0};

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(mssql_retry(test.mssql, "outer", call_outer, &inner, &test.err));
    assert_int_equal(inner.runs, 4);
    assert_int_equal(fake_server_call_count(test.server, "fn_cdc_get_max_lsn"), 4);
    source_test_close(&test);
}

static void a_request_to_stop_ends_the_waiting(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022,
                                         {.expect = "fn_cdc_get_max_lsn", .code = ERR_SOURCE}};
    SourceTest              test;
    MssqlOptions            options = source_test_begin(&test, answers, COUNT_OF(answers));
    Lsn                     lsn;
    bool                    is_null;

    (void)state;
    options.cancel = cancel_new();
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    cancel_request(options.cancel);
    assert_false(mssql_max_lsn(test.mssql, &lsn, &is_null, &test.err));
    assert_err(&test.err, ERR_CANCELLED, "");
    assert_int_equal(fake_server_call_count(test.server, "fn_cdc_get_max_lsn"), 1);
    source_test_close(&test);
    cancel_close(options.cancel);
}

static void range_reads_get_four_attempts(void **state)
{
    static const FakeAnswer answers[] = {FACTS_2022};
    SourceTest              test;
    Err transient = {.code = ERR_SOURCE, .native = 596}, loss = {.code = ERR_DATA_LOSS};
    Err locked = {.code = ERR_LOCK_TIMEOUT, .native = 1222};

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    for (int attempt = 1; attempt <= 3; attempt++)
        assert_true(mssql_should_retry_read(test.mssql, "read_changes", attempt, &transient));
    assert_false(mssql_should_retry_read(test.mssql, "read_changes", 4, &transient));
    assert_false(mssql_should_retry_read(test.mssql, "read_changes", 1, &loss));
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 3);
    assert_int_equal(count_in(buf_str(&test.log_text), " ERROR "), 1); /* given up */
    assert_true(mssql_should_retry_read(test.mssql, "read table", 1, &locked));
    assert_false(mssql_should_retry_read(test.mssql, "read table", 4, &locked));
    source_test_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transient_error_is_retried_twice_on_new_connections),
        cmocka_unit_test(the_error_is_raised_after_the_third_retry),
        cmocka_unit_test(a_refused_login_is_raised_at_once),
        cmocka_unit_test(a_host_that_comes_back_is_connected_to),
        cmocka_unit_test(what_no_retry_can_mend_is_asked_once),
        cmocka_unit_test(a_method_runs_again_as_a_whole_and_inner_questions_do_not_multiply),
        cmocka_unit_test(a_request_to_stop_ends_the_waiting),
        cmocka_unit_test(range_reads_get_four_attempts),
    };
    return RUN_TESTS(tests);
}
