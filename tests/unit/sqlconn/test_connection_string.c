/* Connection strings are taken apart, quoted, and shown without their secrets. */
#include "support/test_support.h"

#include "sqlconn/sqlconn_internal.h"

static ConnectionString parse(Arena *arena, const char *text)
{
    ConnectionString out;
    Err              err = ERR_INIT;

    assert_ok(connection_parse(arena, str_from_c(text), &out, &err), &err);
    return out;
}

static void parts_are_split_at_semicolons_and_keywords_ignore_case(void **state)
{
    Arena           *arena = arena_new();
    ConnectionString c     = parse(arena,
                                   " Driver = FreeTDS ;server=db.example,1433;; UID=sa;Pwd=p=w ;");

    (void)state;
    assert_int_equal(c.part_count, 4);
    assert_str_is(connection_find(&c, "driver"), "FreeTDS");
    assert_str_is(connection_find(&c, "SERVER"), "db.example,1433");
    assert_str_is(connection_find(&c, "pwd"), "p=w");
    assert_null(connection_find(&c, "Database").ptr);
    arena_close(arena);
}

static void braces_hold_anything_and_doubled_ones_stand_for_themselves(void **state)
{
    Arena           *arena = arena_new();
    ConnectionString c     = parse(arena,
                                   "Driver={ODBC Driver 18 for SQL Server};Pwd={a;b}}c{=};Uid={}");

    (void)state;
    assert_str_is(connection_find(&c, "Driver"), "ODBC Driver 18 for SQL Server");
    assert_str_is(connection_find(&c, "Pwd"), "a;b}c{=");
    assert_str_is(connection_find(&c, "Uid"), "");
    assert_str_is(c.parts[1].text, "Pwd={a;b}}c{=}");
    arena_close(arena);
}

static void the_first_of_two_equal_keywords_counts(void **state)
{
    Arena           *arena = arena_new();
    ConnectionString c     = parse(arena, "Uid=first;uid=second");

    (void)state;
    assert_str_is(connection_find(&c, "Uid"), "first");
    arena_close(arena);
}

static void malformed_strings_are_refused_without_showing_them(void **state)
{
    static const char *const texts[] = {
        "", "  ;; ", "Server", "Pwd=hunter2;garbage", "Pwd={hunter2", "Pwd={hunter2}x;Uid=a"};
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        ConnectionString out;
        Err              err = ERR_INIT;
        assert_false(connection_parse(arena, str_from_c(texts[i]), &out, &err));
        assert_err(&err, ERR_CONFIG, "connection string");
        assert_null(strstr(err.message, "hunter2"));
    }
    arena_close(arena);
}

static void values_are_quoted_when_they_must_be(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(connection_format_part(arena, "Pwd", STR("plain")), "Pwd=plain");
    assert_str_is(connection_format_part(arena, "Pwd", STR("a;b")), "Pwd={a;b}");
    assert_str_is(connection_format_part(arena, "Pwd", STR("a}b")), "Pwd={a}}b}");
    assert_str_is(connection_format_part(arena, "Pwd", STR(" a")), "Pwd={ a}");
    ConnectionString c = parse(arena,
                               str_c(arena, connection_format_part(arena, "Pwd", STR(" {;}}="))));
    assert_str_is(c.parts[0].value, " {;}}=");
    arena_close(arena);
}

static void secrets_are_starred_out(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(
        sql_connection_redact(
            arena, STR("Server=h;UID=sa;PWD={s;e}}cret};Password = x;AccessToken=y;Database=d")),
        "Server=h;UID=sa;PWD=***;Password=***;AccessToken=***;Database=d");
    Str shown = sql_connection_redact(arena, STR("PWD={secret"));
    assert_true(str_find(shown, STR("secret"), 0) < 0);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_split_at_semicolons_and_keywords_ignore_case),
        cmocka_unit_test(braces_hold_anything_and_doubled_ones_stand_for_themselves),
        cmocka_unit_test(the_first_of_two_equal_keywords_counts),
        cmocka_unit_test(malformed_strings_are_refused_without_showing_them),
        cmocka_unit_test(values_are_quoted_when_they_must_be),
        cmocka_unit_test(secrets_are_starred_out),
    };
    return RUN_TESTS(tests);
}
