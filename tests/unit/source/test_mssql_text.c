/* What is inlined in T-SQL passes a validator each time (sqlserver.md 1.2). */
#include "source_test.h"

typedef bool (*Check)(Str name, Err *err);

static bool passes(Check check, const char *text)
{
    Err err = ERR_INIT;

    return check(str_from_c(text), &err);
}

static void type_names_follow_their_pattern(void **state)
{
    static const char *const good[] = {
        "int", "decimal(10,2)", "varchar(max)", "nvarchar(4000)", "datetime2(7)", "binary(8)"};
    static const char *const bad[] = {"",
                                      "INT",
                                      "int;drop",
                                      "varchar()",
                                      "varchar(,)",
                                      "decimal(1,2,3)",
                                      "varchar(max",
                                      "varchar max",
                                      "varchar(1,)",
                                      "varchar(maxx)",
                                      "int)",
                                      "a(1)b",
                                      "varchar( 1)"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (!passes(mssql_check_type_name, good[i])) fail_msg("%s", good[i]);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (passes(mssql_check_type_name, bad[i])) fail_msg("%s", bad[i]);
}

static void collations_and_zones_follow_their_patterns(void **state)
{
    (void)state;
    assert_true(passes(mssql_check_collation, "SQL_Latin1_General_CP1_CI_AS"));
    assert_false(passes(mssql_check_collation, "Latin1 General"));
    assert_false(passes(mssql_check_collation, ""));
    assert_true(passes(mssql_check_zone, "US Eastern Standard Time (Mexico) +1.0/x-y_z"));
    assert_false(passes(mssql_check_zone, "UTC' + (SELECT 1) + '"));
    assert_false(passes(mssql_check_zone, ""));
    assert_false(passes(mssql_check_zone, "Z\xC3\xBCrich"));
}

static void identifiers_are_bounded_and_quoted(void **state)
{
    Arena *arena = arena_new();
    Buf    buf   = buf_new(arena, 0);
    Err    err   = ERR_INIT;

    (void)state;
    for (int i = 0; i < 128; i++)
        buf_append_c(&buf, "\xC3\xA9");
    assert_true(mssql_check_identifier(buf_str(&buf), &err));
    assert_false(mssql_check_capture_instance(buf_str(&buf), &err));
    buf_append_char(&buf, 'x');
    assert_false(mssql_check_identifier(buf_str(&buf), &err));
    assert_false(mssql_check_identifier(STR(""), &err));
    assert_false(mssql_check_identifier(STR("a\nb"), &err));
    assert_false(mssql_check_identifier(STR("a\xFF"), &err));
    buf_clear(&buf);
    for (int i = 0; i < 64; i++)
        buf_append_c(&buf, "\xF0\x9F\x98\x80"); /* two units each */
    assert_true(mssql_check_identifier(buf_str(&buf), &err));
    buf_append_char(&buf, 'x');
    assert_false(mssql_check_identifier(buf_str(&buf), &err));
    assert_str_is(mssql_quote(arena, STR("a]b]]")), "[a]]b]]]]]");
    assert_str_is(mssql_change_table(arena, STR("dbo_o]rders")), "cdc.[dbo_o]]rders_CT]");
    arena_close(arena);
}

static void key_column_lists_are_read(void **state)
{
    static const char *const bad[] = {"a, b", "[a], ", "[a] [b]", "[a", "[]", "[a],,[b]"};
    Arena                   *arena = arena_new();
    Err                      err   = ERR_INIT;
    const Str               *names;
    size_t                   count;

    (void)state;
    assert_ok(mssql_parse_column_list(STR("[a], [b]],c] ,[ d]"), arena, &names, &count, &err),
              &err);
    assert_int_equal(count, 3);
    assert_str_is(names[0], "a");
    assert_str_is(names[1], "b],c");
    assert_str_is(names[2], " d");
    assert_ok(mssql_parse_column_list(STR_EMPTY, arena, &names, &count, &err), &err);
    assert_int_equal(count, 0);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (mssql_parse_column_list(str_from_c(bad[i]), arena, &names, &count, &err))
            fail_msg("%s", bad[i]);
    arena_close(arena);
}

static void declared_types_are_put_together(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(mssql_declared_type(arena, STR("DECIMAL"), -1, 10, 2, -1), "decimal(10,2)");
    assert_str_is(mssql_declared_type(arena, STR("varchar"), 16, -1, -1, -1), "varchar(16)");
    assert_str_is(mssql_declared_type(arena, STR("nvarchar"), -1, -1, -1, -1), "nvarchar(max)");
    assert_str_is(mssql_declared_type(arena, STR("datetime2"), -1, -1, -1, 3), "datetime2(3)");
    assert_str_is(mssql_declared_type(arena, STR("datetime"), -1, -1, -1, 3), "datetime");
    assert_str_is(mssql_declared_type(arena, STR("float"), -1, 53, -1, -1), "float");
    assert_str_is(mssql_declared_type(arena, STR("timestamp"), -1, -1, -1, -1), "timestamp");
    assert_str_is(mssql_declared_type(arena, STR("int"), -1, 10, 0, -1), "int");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_names_follow_their_pattern),
        cmocka_unit_test(collations_and_zones_follow_their_patterns),
        cmocka_unit_test(identifiers_are_bounded_and_quoted),
        cmocka_unit_test(key_column_lists_are_read),
        cmocka_unit_test(declared_types_are_put_together),
    };
    return RUN_TESTS(tests);
}
