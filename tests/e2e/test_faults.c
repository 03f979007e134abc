/* What tidesim breaks, as tidelake sees it through a driver: which SQLSTATE, which class, and whether its retries get over it
 * (sqlserver.md 1.13, 1.14). */
#include "e2e/queries_world.h"

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
    World *world = *state;

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
    World   *world = *state;
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
    World   *world = *state;
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

static void logins_that_may_work_later_are_told_from_those_that_will_not(void **state)
{
    static const struct {
        int     number;
        ErrCode code;
    } errors[] = {{18401, ERR_SOURCE}, {40613, ERR_SOURCE}, {17142, ERR_SOURCE}, {4060, ERR_SOURCE},
                  {6005, ERR_SOURCE},  {18456, ERR_LOGIN},  {18486, ERR_LOGIN}};
    World *world = *state;
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
    World                   *world    = *state;

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
    World *world = *state;
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
    World *world  = *state;
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
    World *world  = *state;
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

/* --- with every driver there is --- */

typedef struct Slot {
    const char *name, *driver;
    World      *world;
} Slot;

static int open_slot(void **state)
{
    Slot *slot = *state;

    if (!slot->world) slot->world = world_open(slot->driver);
    slot->world->err = ERR_INIT;
    *state           = slot->world;
    return 0;
}

static const struct CMUnitTest cases[] = {
    cmocka_unit_test(a_connection_that_breaks_anywhere_is_a_transport_error),
    cmocka_unit_test(a_killed_session_is_a_transport_error),
    cmocka_unit_test(an_error_after_rows_keeps_its_number_and_the_connection),
    cmocka_unit_test(logins_that_may_work_later_are_told_from_those_that_will_not),
    cmocka_unit_test(a_login_that_breaks_off_is_a_transport_error),
    cmocka_unit_test(a_question_is_asked_again_after_whatever_may_pass),
    cmocka_unit_test(a_question_gets_over_a_restart),
    cmocka_unit_test(a_fault_that_stays_is_raised_after_three_retries),
};

#define CASES COUNT_OF(cases)

int main(void)
{
    Arena            *arena   = arena_new();
    Slot              slots[] = {{.name = "FreeTDS", .driver = "FreeTDS"},
                                 {.name = "Microsoft", .driver = world_microsoft_driver(arena)}};
    struct CMUnitTest tests[COUNT_OF(slots) * CASES];
    size_t            count = 0;
    int               failed;

    for (size_t s = 0; s < COUNT_OF(slots); s++) {
        if (!slots[s].driver) /* test_faults.sh makes a skipped case of this line */
            (void)printf("# %s: its driver is not installed (TIDELAKE_MICROSOFT_ODBC names it)\n",
                         slots[s].name);
        for (size_t i = 0; i < CASES && slots[s].driver; i++) {
            struct CMUnitTest *test = &tests[count++];
            *test                   = cases[i];
            test->name = str_c(arena, str_printf(arena, "%s: %s", slots[s].name, cases[i].name));
            test->setup_func    = open_slot;
            test->initial_state = &slots[s];
        }
    }
    failed = _cmocka_run_group_tests("faults", tests, count, NULL, NULL);
    for (size_t s = 0; s < COUNT_OF(slots); s++)
        if (slots[s].world) world_close(slots[s].world);
    arena_close(arena);
    return failed;
}
