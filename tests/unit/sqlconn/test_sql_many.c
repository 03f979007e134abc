/* Several questions in one request, and answers that wait for their question, on a connection that
 * gives a result per statement of the text. */
#include "support/test_support.h"

#include "support/fake_sqlconn.h"

/* Answers "give N" with one row that holds N and the first parameter after it; "fail" fails. */
typedef struct JoinConn {
    SqlConn base;
    Arena  *arena;
    int     requests, statements;
    bool    is_dead;
} JoinConn;

typedef struct JoinResult {
    SqlResult       base;
    SqlResult      *now; /* of the statement the stream is at */
    JoinConn       *conn;
    Str             rest;
    const SqlParam *params;
} JoinResult;

static bool run_statement(JoinResult *result, bool *has_out, Err *err)
{
    Str line;

    *has_out = false;
    do
        if (!str_split_next(&result->rest, '\n', &line)) return true;
    while (line.len == 0);
    result->conn->statements++;
    if (str_starts_with(line, STR("fail")))
        return err_set(err, ERR_QUERY, "\"%.*s\" failed", STR_ARG(line));
    if (str_starts_with(line, STR("break"))) {
        result->conn->is_dead = true;
        return err_set(err, ERR_SOURCE, "broken");
    }
    if (str_starts_with(line, STR("mute"))) return run_statement(result, has_out, err);

    Str row = str_printf(result->conn->arena, "%.*s%s%.*s\n", STR_ARG(line),
                         str_find_char(line, '?', 0) >= 0 ? "=" : "",
                         str_find_char(line, '?', 0) >= 0 ? (int)result->params->text.len : 0,
                         str_find_char(line, '?', 0) >= 0 ? result->params->text.ptr : "");
    if (str_find_char(line, '?', 0) >= 0) result->params++;
    sqlresult_close(result->now);
    result->now                = fake_result_new("said STRING", str_c(result->conn->arena, row), 0);
    result->base.stream.schema = result->now->stream.schema;
    *has_out                   = true;
    return true;
}

static bool join_next(RowStream *stream, RowBlock *out, Err *err)
{
    return row_stream_next(&((JoinResult *)stream)->now->stream, out, err);
}

static void join_close(RowStream *stream)
{
    sqlresult_close(((JoinResult *)stream)->now);
}

static bool join_next_result(SqlResult *base, bool *has_out, Err *err)
{
    return run_statement((JoinResult *)base, has_out, err);
}

static bool join_query(SqlConn *base, const SqlQuery *query, SqlResult **out, Err *err)
{
    JoinConn   *conn   = (JoinConn *)base;
    JoinResult *result = ARENA_NEW(conn->arena, JoinResult);
    bool        has_one;

    conn->requests++;
    *result             = (JoinResult){.conn = conn, .rest = query->text, .params = query->params};
    result->base.stream = (RowStream){.next = join_next, .close = join_close};
    if (query->has_more) result->base.next_result = join_next_result;
    if (!run_statement(result, &has_one, err)) return false;
    assert_true(has_one);
    *out = &result->base;
    return true;
}

static bool join_is_dead(SqlConn *base)
{
    return ((JoinConn *)base)->is_dead;
}

static void join_conn_close(SqlConn *base)
{
    (void)base;
}

static JoinConn conn_new(bool can_join)
{
    return (JoinConn){.base  = {.query    = join_query,
                                .is_dead  = join_is_dead,
                                .close    = join_conn_close,
                                .can_join = can_join},
                      .arena = arena_new()};
}

static void conn_free(JoinConn *conn)
{
    assert_int_equal(conn->base.open_results, 0);
    sqlconn_close(&conn->base);
    arena_close(conn->arena);
}

static const SqlParam x = {.text = {"x", 1}}, y = {.text = {"y", 1}};

static const SqlQuery three[] = {{.text = {"give 1", 6}},
                                 {.text = {"give ?2", 7}, .params = &x, .param_count = 1},
                                 {.text = {"give ?3", 7}, .params = &y, .param_count = 1}};

static void questions_go_in_one_request_where_they_can(void **state)
{
    (void)state;
    for (int can_join = 0; can_join <= 1; can_join++) {
        JoinConn  conn = conn_new(can_join == 1);
        SqlAnswer answers[3];
        Err       err = ERR_INIT;
        assert_ok(sqlconn_fetch_many(&conn.base, three, 3, 10, conn.arena, answers, &err), &err);
        assert_str_is(column_str(&answers[0].block.columns[0], 0), "give 1");
        assert_str_is(column_str(&answers[1].block.columns[0], 0), "give ?2=x");
        assert_str_is(column_str(&answers[2].block.columns[0], 0), "give ?3=y");
        assert_int_equal(conn.requests, can_join ? 1 : 3);
        assert_false(conn.base.has_failed);
        conn_free(&conn);
    }
}

static void one_that_fails_is_found_by_asking_each(void **state)
{
    const SqlQuery queries[] = {three[0], {.text = STR("fail here")}, {.text = STR("fail too")}};
    JoinConn       conn      = conn_new(true);
    SqlAnswer      answers[3];
    Err            err = ERR_INIT;

    (void)state;
    assert_false(sqlconn_fetch_many(&conn.base, queries, 3, 10, conn.arena, answers, &err));
    assert_err(&err, ERR_QUERY, "fail here");
    assert_int_equal(conn.requests, 3);
    conn_free(&conn);
}

static void a_broken_connection_is_not_asked_again(void **state)
{
    const SqlQuery queries[] = {three[0], {.text = STR("break")}};
    JoinConn       conn      = conn_new(true);
    SqlAnswer      answers[2];
    Err            err = ERR_INIT;

    (void)state;
    assert_false(sqlconn_fetch_many(&conn.base, queries, 2, 10, conn.arena, answers, &err));
    assert_err(&err, ERR_SOURCE, "broken");
    assert_false(sqlconn_ask_ahead(&conn.base, queries, 2, 10, &err));
    assert_int_equal(conn.requests, 2);
    conn_free(&conn);
}

static Str ask(JoinConn *conn, const SqlQuery *query)
{
    Err      err = ERR_INIT;
    Schema   schema;
    RowBlock block;

    assert_ok(sqlconn_fetch_all(&conn->base, query, 10, conn->arena, &schema, &block, &err), &err);
    assert_int_equal(block.row_count, 1);
    return column_str(&block.columns[0], 0);
}

static void an_answer_that_is_there_is_used_once(void **state)
{
    JoinConn conn = conn_new(true);
    Err      err  = ERR_INIT;

    (void)state;
    assert_ok(sqlconn_ask_ahead(&conn.base, three, 3, 10, &err), &err);
    assert_int_equal(conn.requests, 1);
    assert_str_is(ask(&conn, &three[2]), "give ?3=y");
    assert_str_is(ask(&conn, &three[0]), "give 1");
    assert_int_equal(conn.requests, 1);
    assert_str_is(ask(&conn, &three[0]), "give 1"); /* a second time it is news that is wanted */
    assert_int_equal(conn.requests, 2);
    conn_free(&conn);
}

static void only_the_same_question_gets_it(void **state)
{
    const SqlQuery others[] = {{.text = STR("give ?2"), .params = &y, .param_count = 1},
                               {.text = STR("give 2")},
                               {.text = STR("give ?3"), .params = &x, .param_count = 1}};
    JoinConn       conn     = conn_new(true);
    Err            err      = ERR_INIT;

    (void)state;
    assert_ok(sqlconn_ask_ahead(&conn.base, three, 3, 10, &err), &err);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        (void)ask(&conn, &others[i]);
    assert_int_equal(conn.requests, 1 + (int)COUNT_OF(others));
    conn_free(&conn);
}

static void what_is_forgotten_is_asked_anew(void **state)
{
    JoinConn conn = conn_new(true);
    Err      err  = ERR_INIT;

    (void)state;
    assert_ok(sqlconn_ask_ahead(&conn.base, three, 3, 10, &err), &err);
    sqlconn_forget_ahead(&conn.base);
    sqlconn_forget_ahead(&conn.base);
    assert_str_is(ask(&conn, &three[0]), "give 1");
    assert_int_equal(conn.requests, 2);
    assert_ok(sqlconn_ask_ahead(&conn.base, three, 3, 10, &err), &err);
    assert_ok(sqlconn_ask_ahead(&conn.base, three, 2, 10, &err), &err); /* the newest alone count */
    assert_str_is(ask(&conn, &three[2]), "give ?3=y");
    assert_int_equal(conn.requests, 5);
    conn_free(&conn);
}

static void what_cannot_be_asked_ahead_is_asked_in_its_turn(void **state)
{
    const SqlQuery failing[] = {three[0], {.text = STR("fail")}};
    const SqlQuery mute[]    = {three[0], {.text = STR("mute")}, three[1]};
    JoinConn       conn      = conn_new(true);
    JoinConn       plain     = conn_new(false);
    Err            err       = ERR_INIT;

    (void)state;
    assert_ok(sqlconn_ask_ahead(&plain.base, three, 3, 10, &err), &err);
    assert_int_equal(plain.requests, 0);
    assert_ok(sqlconn_ask_ahead(&conn.base, three, 1, 10, &err), &err);
    assert_int_equal(conn.requests, 0);
    assert_ok(sqlconn_ask_ahead(&conn.base, failing, 2, 10, &err), &err);
    assert_int_equal(err.code, ERR_NONE);
    assert_str_is(ask(&conn, &three[0]), "give 1");
    assert_int_equal(conn.requests, 2);
    assert_ok(sqlconn_ask_ahead(&conn.base, mute, 3, 10, &err), &err); /* whose answer is whose? */
    assert_str_is(ask(&conn, &three[1]), "give ?2=x");
    assert_int_equal(conn.requests, 4);
    conn_free(&conn);
    conn_free(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_go_in_one_request_where_they_can),
        cmocka_unit_test(one_that_fails_is_found_by_asking_each),
        cmocka_unit_test(a_broken_connection_is_not_asked_again),
        cmocka_unit_test(an_answer_that_is_there_is_used_once),
        cmocka_unit_test(only_the_same_question_gets_it),
        cmocka_unit_test(what_is_forgotten_is_asked_anew),
        cmocka_unit_test(what_cannot_be_asked_ahead_is_asked_in_its_turn),
    };
    return RUN_TESTS(tests);
}
