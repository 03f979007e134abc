/* Connections that are kept between two uses: which are, for how long, and who gets them. */
#include "support/test_support.h"

#include "base/sched.h"
#include "support/fake_sqlconn.h"

#define HERE STR("Server=here")
#define AWAY STR("Server=away")

typedef struct Pool {
    Arena      *arena;
    Sched      *sched;
    Clock      *clock;
    FakeServer *server;
    SqlDriver  *driver;
    Err         err;
} Pool;

static const FakeAnswer answers[] = {
    {.expect = "fine", .columns = "a INT", .rows = "1\n2\n3\n"},
    {.expect = "refused", .code = ERR_QUERY, .native = 208},
    {.expect = "late", .columns = "a INT", .rows = "1\n", .code = ERR_QUERY, .fail_after_rows = 1},
    {.expect = "deadly", .code = ERR_SOURCE, .kills = true},
};

static Pool open_pool(void)
{
    Pool pool = {.arena = arena_new(), .err = ERR_INIT};

    pool.sched  = sched_new_simulated(7, INT64_C(1790000000000000), &pool.clock);
    pool.server = fake_server_new(pool.arena, answers, COUNT_OF(answers));
    pool.driver = fake_server_driver(pool.server);
    fake_server_set_block_rows(pool.server, 1);
    sqldriver_keep_connections(pool.driver, pool.clock, 1000);
    return pool;
}

static void close_pool(Pool *pool)
{
    sqldriver_close(pool->driver);
    assert_int_equal(fake_server_open_connections(pool->server), 0);
    clock_close(pool->clock);
    sched_close(pool->sched);
    arena_close(pool->arena);
}

static SqlConn *connect_to(Pool *pool, Str connection)
{
    SqlConn *conn;

    assert_ok(sqldriver_connect(pool->driver, connection, 1, &conn, &pool->err), &pool->err);
    assert_false(conn->is_reused);
    return conn;
}

static void a_clean_connection_goes_to_the_next_of_its_string(void **state)
{
    Pool     pool = open_pool();
    SqlConn *conn = connect_to(&pool, HERE);

    (void)state;
    assert_ok(sqlconn_execute(conn, STR("fine"), &pool.err), &pool.err);
    sqldriver_give_back(pool.driver, HERE, conn);
    assert_int_equal(fake_server_open_connections(pool.server), 1);
    assert_null(sqldriver_take_kept(pool.driver, AWAY));
    assert_ptr_equal(sqldriver_take_kept(pool.driver, HERE), conn);
    assert_true(conn->is_reused);
    assert_null(sqldriver_take_kept(pool.driver, HERE)); /* one at a time */
    sqldriver_give_back(pool.driver, HERE, conn);
    close_pool(&pool);
}

static void read_one_row(Pool *pool, SqlConn *conn, const char *sql)
{
    SqlQuery   query  = {.text = str_from_c(sql)};
    SqlResult *result = NULL;
    RowBlock   block;

    if (!sqlconn_query(conn, &query, &result, &pool->err)) return;
    assert_ok(sqlresult_next(result, &block, &pool->err), &pool->err);
    if (strcmp(sql, "late") == 0) assert_false(sqlresult_next(result, &block, &pool->err));
    sqlresult_close(result);
}

static void what_is_not_clean_is_closed(void **state)
{
    static const char *const statements[] = {"fine", "refused", "late", "deadly"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        Pool     pool = open_pool();
        SqlConn *conn = connect_to(&pool, HERE);
        read_one_row(&pool, conn, statements[i]); /* two rows of "fine" are left */
        sqldriver_give_back(pool.driver, HERE, conn);
        if (fake_server_open_connections(pool.server) != 0) fail_msg("%s", statements[i]);
        assert_null(sqldriver_take_kept(pool.driver, HERE));
        close_pool(&pool);
    }
}

static void a_result_that_was_not_read_spoils_its_connection(void **state)
{
    Pool       pool   = open_pool();
    SqlConn   *conn   = connect_to(&pool, HERE);
    SqlQuery   query  = {.text = STR("fine")};
    SqlResult *result = NULL;

    (void)state;
    assert_ok(sqlconn_query(conn, &query, &result, &pool.err), &pool.err);
    sqlresult_close(result);
    assert_true(conn->has_failed);
    sqldriver_give_back(pool.driver, HERE, conn);
    assert_int_equal(fake_server_open_connections(pool.server), 0);
    close_pool(&pool);
}

static void one_that_was_idle_for_too_long_is_closed(void **state)
{
    Pool     pool = open_pool();
    SqlConn *old  = connect_to(&pool, HERE);
    SqlConn *late = connect_to(&pool, HERE);

    (void)state;
    sqldriver_give_back(pool.driver, HERE, old);
    clock_sleep_ms(pool.clock, 900, NULL);
    sqldriver_give_back(pool.driver, HERE, late);
    clock_sleep_ms(pool.clock, 200, NULL);
    sqldriver_close_idle(pool.driver);
    assert_int_equal(fake_server_open_connections(pool.server), 1);
    assert_ptr_equal(sqldriver_take_kept(pool.driver, HERE), late);
    sqldriver_give_back(pool.driver, HERE, late);
    clock_sleep_ms(pool.clock, 1100, NULL);
    assert_null(sqldriver_take_kept(pool.driver, HERE));
    assert_int_equal(fake_server_open_connections(pool.server), 0);
    close_pool(&pool);
}

static void those_of_a_server_that_went_are_closed_together(void **state)
{
    Pool     pool = open_pool();
    SqlConn *conns[3];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(conns); i++)
        conns[i] = connect_to(&pool, i < 2 ? HERE : AWAY);
    for (size_t i = 0; i < COUNT_OF(conns); i++)
        sqldriver_give_back(pool.driver, i < 2 ? HERE : AWAY, conns[i]);
    sqldriver_close_kept(pool.driver, HERE);
    assert_int_equal(fake_server_open_connections(pool.server), 1);
    assert_null(sqldriver_take_kept(pool.driver, HERE));
    close_pool(&pool); /* with the one that is left */
}

static void no_more_are_kept_than_there_is_room_for(void **state)
{
    Pool     pool = open_pool();
    SqlConn *conns[SQL_POOL_CONNECTIONS_MAX + 2];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(conns); i++)
        conns[i] = connect_to(&pool, HERE);
    for (size_t i = 0; i < COUNT_OF(conns); i++)
        sqldriver_give_back(pool.driver, HERE, conns[i]);
    assert_int_equal(fake_server_open_connections(pool.server), SQL_POOL_CONNECTIONS_MAX);
    close_pool(&pool);
}

static void without_a_pool_a_connection_is_closed(void **state)
{
    Arena      *arena  = arena_new();
    FakeServer *server = fake_server_new(arena, answers, COUNT_OF(answers));
    SqlDriver  *driver = fake_server_driver(server);
    Err         err    = ERR_INIT;
    SqlConn    *conn;

    (void)state;
    assert_ok(sqldriver_connect(driver, HERE, 1, &conn, &err), &err);
    assert_null(sqldriver_take_kept(driver, HERE));
    sqldriver_close_idle(driver);
    sqldriver_close_kept(driver, HERE);
    sqldriver_give_back(driver, HERE, conn);
    sqldriver_give_back(driver, HERE, NULL);
    assert_int_equal(fake_server_open_connections(server), 0);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_connection_goes_to_the_next_of_its_string),
        cmocka_unit_test(what_is_not_clean_is_closed),
        cmocka_unit_test(a_result_that_was_not_read_spoils_its_connection),
        cmocka_unit_test(one_that_was_idle_for_too_long_is_closed),
        cmocka_unit_test(those_of_a_server_that_went_are_closed_together),
        cmocka_unit_test(no_more_are_kept_than_there_is_room_for),
        cmocka_unit_test(without_a_pool_a_connection_is_closed),
    };
    return RUN_TESTS(tests);
}
