/* The shorthands for small results, on a scripted server. */
#include "support/test_support.h"

#include "support/fake_sqlconn.h"

typedef struct Fixture {
    Arena      *arena;
    FakeServer *server;
    SqlConn    *conn;
} Fixture;

static Fixture open_fixture(const FakeAnswer *answers, size_t count)
{
    Fixture fixture = {.arena = arena_new()};
    Err     err     = ERR_INIT;

    fixture.server = fake_server_new(fixture.arena, answers, count);
    assert_ok(
        sqldriver_connect(fake_server_driver(fixture.server), STR("x=y"), 1, &fixture.conn, &err),
        &err);
    return fixture;
}

static void close_fixture(Fixture *fixture)
{
    sqlconn_close(fixture->conn);
    arena_close(fixture->arena);
}

static const FakeAnswer three_rows = {
    .expect = "three",
    .columns =
        "id BIGINT, name STRING, price DECIMAL(10,2), at TIMESTAMP_NTZ, raw BINARY, ok BOOLEAN",
    .rows = "1|one|1.50|2026-01-01T00:00:00|0x0102|true\n2|NULL|NULL|NULL|NULL|NULL\n3||-0.01|NULL|"
            "0x|false\n"};

static void a_small_result_is_put_together_from_blocks(void **state)
{
    Fixture  fixture = open_fixture(&three_rows, 1);
    SqlQuery query   = {.text = STR("three")};
    Err      err     = ERR_INIT;
    Schema   schema;
    RowBlock block;

    (void)state;
    fake_server_set_block_rows(fixture.server, 1);
    assert_ok(sqlconn_fetch_all(fixture.conn, &query, 3, fixture.arena, &schema, &block, &err),
              &err);
    assert_int_equal(block.row_count, 3);
    assert_int_equal(schema.column_count, 6);
    assert_str_is(schema.columns[1].name, "name");
    assert_int_equal(column_i64(&block.columns[0], 2), 3);
    assert_str_is(column_str(&block.columns[1], 0), "one");
    assert_true(column_is_null(&block.columns[1], 1));
    assert_str_is(column_str(&block.columns[1], 2), "");
    assert_false(column_is_null(&block.columns[1], 2));
    assert_int_equal(column_str(&block.columns[4], 0).len, 2);
    assert_true(column_bool(&block.columns[5], 0));
    assert_true(column_is_null(&block.columns[5], 1));
    close_fixture(&fixture);
}

static void more_rows_than_expected_are_an_error_and_the_connection_lives(void **state)
{
    Fixture  fixture = open_fixture(&three_rows, 1);
    SqlQuery query   = {.text = STR("three")};
    Err      err     = ERR_INIT;
    RowBlock block;

    (void)state;
    assert_false(sqlconn_fetch_all(fixture.conn, &query, 2, fixture.arena, NULL, &block, &err));
    assert_err(&err, ERR_LIMIT, "more than 2 rows");
    assert_ok(sqlconn_execute(fixture.conn, STR("three"), &err), &err);
    close_fixture(&fixture);
}

static void an_error_behind_the_rows_is_seen(void **state)
{
    static const FakeAnswer late    = {.expect          = "late",
                                       .columns         = "n BIGINT",
                                       .rows            = "1\n2\n",
                                       .code            = ERR_QUERY,
                                       .native          = 8134,
                                       .fail_after_rows = 2};
    Fixture                 fixture = open_fixture(&late, 1);
    Err                     err     = ERR_INIT;

    (void)state;
    assert_false(sqlconn_execute(fixture.conn, STR("late"), &err));
    assert_int_equal(err.native, 8134);
    close_fixture(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_result_is_put_together_from_blocks),
        cmocka_unit_test(more_rows_than_expected_are_an_error_and_the_connection_lives),
        cmocka_unit_test(an_error_behind_the_rows_is_seen),
    };
    return RUN_TESTS(tests);
}
