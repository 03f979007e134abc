/* What tidesim breaks, as tidelake sees it through a driver: which SQLSTATE, which class, and whether its retries get over it
 * (sqlserver.md 1.13, 1.14). */
#include "e2e/queries_world.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define PASSWORD "Tide.Sim.1"
#define ROWS_SQL "SELECT value AS a, REPLICATE('x', 50) AS b FROM GENERATE_SERIES(1, 5000)"

static bool is_freetds(const World *world)
{
    return str_equal_c(world->driver, "FreeTDS");
}

static SqlConn *connect_now(World *world)
{
    SqlConn *conn;

    assert_ok(sqldriver_connect(world->sql, world_connection(world, "sa", PASSWORD, "shop"), 10,
                                &conn, &world->err),
              &world->err);
    return conn;
}

/* Reads to the end or the error; the rows that came. */
static size_t read_all(SqlConn *conn, const char *sql, Err *err)
{
    SqlQuery   query = {.text = str_from_c(sql), .fetch_rows = 10};
    SqlResult *result;
    RowBlock   block;
    size_t     rows = 0;

    if (!sqlconn_query(conn, &query, &result, err)) return 0;
    while (sqlresult_next(result, &block, err) && block.row_count > 0)
        rows += block.row_count;
    sqlresult_close(result);
    return rows;
}

/* Transport, however the driver puts it: an 08 SQLSTATE; from FreeTDS also 01000 with a number of its own, and for an RST
 * nothing at all, so that the dead connection decides. */
static void assert_broken(World *world, SqlConn *conn, const char *fault, const Err *err)
{
    bool is_own = is_freetds(world) && err->native >= 20003 && err->native <= 20020 &&
                  strcmp(err->sqlstate, "01000") == 0;
    bool is_mute = is_freetds(world) && err->native == 0 && strcmp(err->sqlstate, "HY000") == 0;

    if (err->code != ERR_SOURCE || (memcmp(err->sqlstate, "08", 2) != 0 && !is_own && !is_mute))
        fail_msg("%s: %d, SQLSTATE \"%s\", %d, %s", fault, err->code, err->sqlstate, err->native,
                 err->message);
    assert_true(sqlconn_is_dead(conn));
}

static void a_connection_that_breaks_anywhere_is_a_transport_error(void **state)
{
    static const struct {
        const char *fault;
        size_t      rows_most;
    } faults[] = {
        {"EXEC tidesim.fault 'close', '%GENERATE%'", 0},
        {"EXEC tidesim.fault 'rst', '%GENERATE%'", 0},
        {"EXEC tidesim.fault 'close', '%GENERATE%', @at = 'row', @n = 1000", 1000},
        {"EXEC tidesim.fault 'rst', '%GENERATE%', @at = 'row', @n = 1000", 1000},
        {"EXEC tidesim.fault 'close', '%GENERATE%', @at = 'inside_row', @n = 1000", 999},
        {"EXEC tidesim.fault 'rst', '%GENERATE%', @at = 'byte', @n = 20001", 600},
        {"EXEC tidesim.fault 'close', '%GENERATE%', @at = 'packet', @n = 3", 600},
        {"EXEC tidesim.fault 'close', '%GENERATE%', @at = 'byte', @n = 5", 0},
    };
    World *world = world_of(state);

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        SqlConn *conn = connect_now(world);
        Err      err  = ERR_INIT;
        world_run(world, faults[i].fault);
        size_t rows = read_all(conn, ROWS_SQL, &err);
        assert_broken(world, conn, faults[i].fault, &err);
        assert_true(rows <= faults[i].rows_most);
        sqlconn_close(conn);
    }
}

static void a_killed_session_is_a_transport_error(void **state)
{
    World   *world = world_of(state);
    SqlConn *conn  = connect_now(world);
    Err      err   = ERR_INIT;

    world_run(world, "EXEC tidesim.fault 'kill', '%GENERATE%', @at = 'row', @n = 1000");
    assert_true(read_all(conn, ROWS_SQL, &err) <= 1000);
    assert_int_equal(err.code, ERR_SOURCE);
    assert_true(err.native == 596 || memcmp(err.sqlstate, "08", 2) == 0);
    sqlconn_close(conn);
}

static void an_error_after_rows_keeps_its_number_and_the_connection(void **state)
{
    static const struct {
        int     number;
        ErrCode code;
    } errors[]     = {{1205, ERR_SOURCE},
                      {3958, ERR_SOURCE},
                      {701, ERR_SOURCE},
                      {976, ERR_SOURCE},
                      {229, ERR_PERMISSION}};
    World   *world = world_of(state);
    SqlConn *conn  = connect_now(world);
    char     sql[200];

    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        Err err = ERR_INIT;
        (void)snprintf(sql, sizeof sql,
                       "EXEC tidesim.fault 'error', '%%GENERATE%%', %d, @at = 'row', @n = 1000",
                       errors[i].number);
        world_run(world, sql);
        assert_true(read_all(conn, ROWS_SQL, &err) <= 1000);
        assert_int_equal(err.native, errors[i].number);
        assert_int_equal(err.code, errors[i].code);
    }
    Err err = ERR_INIT;
    assert_int_equal(read_all(conn, ROWS_SQL, &err), 5000);
    assert_int_equal(err.code, ERR_NONE);
    sqlconn_close(conn);
}

#define FIRST_ROWS 95
#define TWO_SQL                                                                 \
    "SELECT value AS a, REPLICATE('x', 50) AS b FROM GENERATE_SERIES(1, 95);\n" \
    "RAISERROR(N'', 0, 1) WITH NOWAIT;\n"                                       \
    "SELECT value AS a, REPLICATE('x', 50) AS b FROM GENERATE_SERIES(1, 20)"

/* The rows of the first of two results, up to its end or the error. */
static size_t read_first(SqlConn *conn, Err *err)
{
    SqlQuery   query = {.text = STR(TWO_SQL), .fetch_rows = 10, .has_more = true};
    SqlResult *result;
    RowBlock   block;
    size_t     rows = 0;

    if (!sqlconn_query(conn, &query, &result, err)) return 0;
    while (sqlresult_next(result, &block, err) && block.row_count > 0)
        rows += block.row_count;
    sqlresult_close(result);
    return rows;
}

/* Whatever happens behind some rows of a result with another one behind it, in the middle of a block or at the end of one:
 * what is told as its end has all its rows. */
static void an_error_is_no_end_of_a_result(void **state)
{
    static const struct {
        const char *action, *at;
        int         number;
    } faults[]             = {{"error", "row", 1222},
                              {"kill", "row", 596},
                              {"close", "row", 0},
                              {"rst", "row", 0},
                              {"close", "inside_row", 0}};
    static const int at[]  = {1, 5, 10, 11, 90, 94};
    World           *world = world_of(state);
    char             sql[200];

    for (size_t i = 0; i < COUNT_OF(faults); i++)
        for (size_t n = 0; n < COUNT_OF(at); n++) {
            SqlConn *conn = connect_now(world);
            Err      err  = ERR_INIT;
            (void)snprintf(sql, sizeof sql,
                           "EXEC tidesim.fault '%s', '%%GENERATE%%', %d, @at = '%s', @n = %d",
                           faults[i].action, faults[i].number, faults[i].at, at[n]);
            world_run(world, sql);
            size_t rows = read_first(conn, &err);
            if (err.code == ERR_NONE) fail_msg("%s: an end behind %zu rows", sql, rows);
            assert_true(rows <= (size_t)at[n]);
            sqlconn_close(conn);
        }
    SqlConn *conn = connect_now(world);
    Err      err  = ERR_INIT;
    assert_int_equal(read_first(conn, &err), FIRST_ROWS);
    assert_int_equal(err.code, ERR_NONE);
    sqlconn_close(conn);
}

/* Every number of the table, as the driver hands it over: SQLSTATEs differ, the class must not. */
static void every_number_has_its_class(void **state)
{
    static const struct {
        ErrCode code;
        int     numbers[40];
    } classes[]    = {{ERR_SOURCE, {1205, 1204, 701,  8645, 8651, 6005, 17142, 18401, 921,  922,
                                    927,  942,  952,  976,  978,  979,  982,   983,   3948, 3949,
                                    3950, 3953, 3956, 3957, 3958, 3961, 3966,  22984}},
                      {ERR_SOURCE,
                       {4060, 4221, 10928, 10929, 40143, 40197, 40501, 40540, 40613, 42108, 42109,
                        49918, 49919, 49920}},
                      {ERR_SOURCE, {233, 997, 10053, 10054, 10060, 11001}},
                      {ERR_LOCK_TIMEOUT, {1222}},
                      {ERR_LOGIN, {18456, 18452, 18470, 18486, 18487, 18488, 4064}},
                      {ERR_PERMISSION, {229, 230, 300, 262, 297, 15247}},
                      {ERR_SOURCE_STATE, {22981, 22901, 22985, 22910, 208, 22920, 22960, 3952, 3954}},
                      {ERR_QUERY, {207, 4922, 241,  242, 245, 8114, 8115, 8169, 102,  156,   137,
                                   201, 8144, 8145, 313, 195, 448,  3951, 9820, 3960, 50000, 8134}}};
    World   *world = world_of(state);
    SqlConn *conn  = connect_now(world);
    char     sql[200];

    for (size_t i = 0; i < COUNT_OF(classes); i++)
        for (size_t n = 0; n < COUNT_OF(classes[i].numbers) && classes[i].numbers[n]; n++) {
            Err err = ERR_INIT;
            (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault 'error', '%%GENERATE%%', %d, 16",
                           classes[i].numbers[n]);
            world_run(world, sql);
            assert_int_equal(read_all(conn, ROWS_SQL, &err), 0);
            if (err.code != classes[i].code || err.native != classes[i].numbers[n])
                fail_msg("%d: %s, native %d, SQLSTATE %s, %s", classes[i].numbers[n],
                         err_code_name(err.code), err.native, err.sqlstate, err.message);
            assert_false(sqlconn_is_dead(conn));
        }
    sqlconn_close(conn);
}

/* A server that takes the statement, or a part of the answer, and says nothing more. */
static void silence_is_given_up_after_its_limit(void **state)
{
    static const char *const faults[] = {
        "EXEC tidesim.fault 'half_close', '%GENERATE%'",
        "EXEC tidesim.fault 'half_close', '%GENERATE%', @at = 'inside_row', @n = 1000"};
    World *world = world_of(state);

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        SqlConn *conn = connect_now(world);
        Err      err  = ERR_INIT;
        sqlconn_set_silence_timeout(conn, 1);
        world_run(world, faults[i]);
        int64_t before = clock_monotonic_ns(world->clock);
        assert_true(read_all(conn, ROWS_SQL, &err) < 1000);
        sqlconn_close(conn);
        int64_t took_ms = (clock_monotonic_ns(world->clock) - before) / 1000000;
        if (err.code != ERR_SOURCE || strncmp(err.sqlstate, "HYT", 3) != 0)
            fail_msg("%s: %s, %s, %s", faults[i], err_code_name(err.code), err.sqlstate,
                     err.message);
        assert_err(&err, ERR_SOURCE, "said nothing for 1 seconds");
        assert_in_range(took_ms, 900, 8000);
    }
}

/* The server tells an error, and nothing after it: what is left is cancelled, and its word on that is
 * not waited for without a limit. */
static void silence_behind_an_error_is_given_up_too(void **state)
{
    static const char *const faults[] = {
        "EXEC tidesim.fault 'half_close', '%GENERATE%', @at = 'row', @n = 1000",
        "EXEC tidesim.fault 'half_close', '%GENERATE%', @at = 'inside_row', @n = 1"};
    World *world = world_of(state);

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        SqlConn *conn = connect_now(world);
        Err      err  = ERR_INIT;
        sqlconn_set_silence_timeout(conn, 1);
        world_run(world, faults[i]);
        int64_t before = clock_monotonic_ns(world->clock);
        assert_int_equal(read_all(conn, "RAISERROR('no', 16, 1) WITH NOWAIT; " ROWS_SQL, &err), 0);
        assert_true(sqlconn_is_dead(conn));
        sqlconn_close(conn);
        assert_in_range((clock_monotonic_ns(world->clock) - before) / 1000000, 900, 8000);
        assert_int_equal(err.native, 50000);
    }
}

/* Rows that keep coming are no silence, however long all of them take. */
static void rows_that_keep_coming_are_not_cut_off(void **state)
{
    World   *world = world_of(state);
    SqlConn *conn  = connect_now(world);
    Err      err   = ERR_INIT;

    sqlconn_set_silence_timeout(conn, 1);
    world_run(world, "EXEC tidesim.link 'all', @bytes_per_s = 60000");
    int64_t before = clock_monotonic_ns(world->clock);
    assert_int_equal(read_all(conn, ROWS_SQL, &err), 5000);
    assert_true(clock_monotonic_ns(world->clock) - before > INT64_C(2500000000));
    world_run(world, "EXEC tidesim.link 'all', @bytes_per_s = 0");
    assert_int_equal(err.code, ERR_NONE);
    sqlconn_close(conn);
}

/* Keepalive is on, and what is sent must be acknowledged in time: a network that swallows packets
 * cannot be had here, but what would notice it can be looked at. */
static void sockets_notice_a_network_that_has_gone(void **state)
{
    World   *world = world_of(state);
    SqlConn *conn  = connect_now(world);
    int      found = 0;

    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in peer = {0};
        socklen_t          len  = sizeof peer;
        int                on = 0, idle = 0;
        unsigned           unacked = 0;
        int64_t            port;
        if (getpeername(fd, (struct sockaddr *)&peer, &len) != 0 || peer.sin_family != AF_INET)
            continue;
        assert_true(str_parse_i64(world->port, &port));
        if (ntohs(peer.sin_port) != port) continue;
        len = sizeof on;
        assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len), 0);
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &len), 0);
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked, &len), 0);
        assert_int_equal(on, 1);
        assert_in_range(idle, 1, 60);
        assert_in_range(unacked, 1000, 60000);
        found++;
    }
    assert_true(found >= 4); /* this one and the test's own, by the driver's number and by ours */
    sqlconn_close(conn);
}

static size_t count_descriptors(void)
{
    DIR   *folder = opendir("/proc/self/fd");
    size_t count  = 0;

    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count;
}

static bool has_one_session(World *world)
{
    Err err = ERR_INIT;

    return read_all(world->admin,
                    "SELECT session_id FROM sys.dm_exec_sessions WHERE is_user_process = 1",
                    &err) == 1;
}

/* However a connection ends, nothing of it stays open: neither a descriptor nor, until the process
 * ends, the session. */
static void a_connection_that_ends_leaves_nothing_open(void **state)
{
    static const char *const faults[] = {
        "SELECT 1", /* none */
        "EXEC tidesim.fault 'close', '%GENERATE%', @at = 'row', @n = 1000",
        "EXEC tidesim.fault 'rst', '%GENERATE%', @at = 'inside_row', @n = 1000",
        "EXEC tidesim.fault 'half_close', '%GENERATE%'",
        "EXEC tidesim.fault 'error', '%GENERATE%', 1205, @at = 'row', @n = 1000",
        "EXEC tidesim.fault 'login_error', @number = 18456",
        "EXEC tidesim.fault 'close', @at = 'login'",
    };
    World *world = world_of(state);

    sqlconn_close(connect_now(world)); /* what a driver opens once */
    size_t before = count_descriptors();
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        SqlConn *conn = NULL;
        Err      err  = ERR_INIT;
        world_run(world, faults[i]);
        if (sqldriver_connect(world->sql, world_connection(world, "sa", PASSWORD, "shop"), 10,
                              &conn, &err)) {
            assert_true(count_descriptors() > before);
            sqlconn_set_silence_timeout(conn, 1);
            (void)read_all(conn, ROWS_SQL, &err);
        }
        sqlconn_close(conn);
        if (count_descriptors() != before)
            fail_msg("%s: %zu descriptors, %zu before", faults[i], count_descriptors(), before);
        for (int look = 0; !has_one_session(world); look++) {
            if (look == 100) fail_msg("%s: a session is left", faults[i]);
            clock_sleep_ms(world->clock, 20, NULL);
        }
    }
}

static void logins_that_may_work_later_are_told_from_those_that_will_not(void **state)
{
    static const struct {
        int     number;
        ErrCode code;
    } errors[] = {{18401, ERR_SOURCE}, {40613, ERR_SOURCE}, {17142, ERR_SOURCE}, {4060, ERR_SOURCE},
                  {6005, ERR_SOURCE},  {18456, ERR_LOGIN},  {18486, ERR_LOGIN}};
    World *world = world_of(state);
    char   sql[100];

    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        SqlConn *conn = NULL;
        Err      err  = ERR_INIT;
        (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault 'login_error', @number = %d",
                       errors[i].number);
        world_run(world, sql);
        assert_false(sqldriver_connect(world->sql, world_connection(world, "sa", PASSWORD, "shop"),
                                       10, &conn, &err));
        if (err.code != errors[i].code)
            fail_msg("%d: %s %d %s", errors[i].number, err.sqlstate, err.native, err.message);
    }
}

static void a_login_that_breaks_off_is_a_transport_error(void **state)
{
    static const char *const faults[] = {"EXEC tidesim.fault 'close', @at = 'login'",
                                         "EXEC tidesim.fault 'rst', @at = 'login'",
                                         "EXEC tidesim.fault 'half_close', @at = 'login'"};
    World                   *world    = world_of(state);

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        SqlConn *conn = NULL;
        Err      err  = ERR_INIT;
        world_run(world, faults[i]);
        assert_false(sqldriver_connect(world->sql, world_connection(world, "sa", PASSWORD, "shop"),
                                       3, &conn, &err));
        if (err.code != ERR_SOURCE)
            fail_msg("%s: %s %d %s", faults[i], err.sqlstate, err.native, err.message);
    }
}

/* --- what the engine's questions do about it --- */

static size_t count_retries(const World *world)
{
    Str    log   = buf_str(&world->log_text);
    size_t count = 0;

    for (ptrdiff_t at = 0; (at = str_find(log, STR("trying again"), (size_t)at)) >= 0; at++)
        count++;
    return count;
}

static void a_question_is_asked_again_after_whatever_may_pass(void **state)
{
    static const char *const faults[] = {
        "EXEC tidesim.fault 'close', '%fn_cdc_get_max_lsn%'",
        "EXEC tidesim.fault 'rst', '%fn_cdc_get_max_lsn%', @at = 'byte', @n = 9",
        "EXEC tidesim.fault 'deadlock', '%fn_cdc_get_max_lsn%'",
        "EXEC tidesim.fault 'kill', '%fn_cdc_get_max_lsn%', @at = 'row'",
        "EXEC tidesim.fault 'error', '%fn_cdc_get_max_lsn%', 8645, @at = 'row'",
    };
    World *world = world_of(state);
    Lsn    lsn;
    bool   is_null;

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        size_t before = count_retries(world);
        world_run(world, faults[i]);
        assert_ok(mssql_max_lsn(world_mssql(world), &lsn, &is_null, &world->err), &world->err);
        if (count_retries(world) != before + 1)
            fail_msg("%s: %zu retries", faults[i], count_retries(world) - before);
    }
}

static void a_question_gets_over_a_restart(void **state)
{
    World *world  = world_of(state);
    size_t before = count_retries(world);
    Lsn    lsn;
    bool   is_null;

    assert_ok(mssql_max_lsn(world_mssql(world), &lsn, &is_null, &world->err), &world->err);
    world_run(world, "EXEC tidesim.restart 1500");
    assert_ok(mssql_max_lsn(world_mssql(world), &lsn, &is_null, &world->err), &world->err);
    assert_true(count_retries(world) >= before + 1);
    sqlconn_close(world->admin);
    world->admin = connect_now(world);
}

static void a_fault_that_stays_is_raised_after_three_retries(void **state)
{
    World *world  = world_of(state);
    size_t before = count_retries(world);
    Err    err    = ERR_INIT;
    Lsn    lsn;
    bool   is_null;

    world_run(world, "EXEC tidesim.fault 'error', '%fn_cdc_get_max_lsn%', 10928, @times = -1");
    assert_false(mssql_max_lsn(world_mssql(world), &lsn, &is_null, &err));
    assert_int_equal(err.native, 10928);
    assert_int_equal(count_retries(world), before + 3);
    world_run(world, "EXEC tidesim.fault 'none'");
    assert_ok(mssql_max_lsn(world_mssql(world), &lsn, &is_null, &world->err), &world->err);
}

static const struct CMUnitTest cases[] = {
    cmocka_unit_test(a_connection_that_breaks_anywhere_is_a_transport_error),
    cmocka_unit_test(a_killed_session_is_a_transport_error),
    cmocka_unit_test(an_error_after_rows_keeps_its_number_and_the_connection),
    cmocka_unit_test(an_error_is_no_end_of_a_result),
    cmocka_unit_test(every_number_has_its_class),
    cmocka_unit_test(silence_is_given_up_after_its_limit),
    cmocka_unit_test(silence_behind_an_error_is_given_up_too),
    cmocka_unit_test(rows_that_keep_coming_are_not_cut_off),
    cmocka_unit_test(sockets_notice_a_network_that_has_gone),
    cmocka_unit_test(a_connection_that_ends_leaves_nothing_open),
    cmocka_unit_test(logins_that_may_work_later_are_told_from_those_that_will_not),
    cmocka_unit_test(a_login_that_breaks_off_is_a_transport_error),
    cmocka_unit_test(a_question_is_asked_again_after_whatever_may_pass),
    cmocka_unit_test(a_question_gets_over_a_restart),
    cmocka_unit_test(a_fault_that_stays_is_raised_after_three_retries),
};

int main(void)
{
    return world_run_cases("faults", cases, COUNT_OF(cases));
}
