/* Errors of the parser: numbers, texts, lines; and input that means harm (sqlserver.md 2.1,
 * 2.5). */
#include "support/sim_tree.h"

static void syntax_errors_are_near_something(void **state)
{
    (void)state;
    assert_syntax("SELECT * FROM", 102, 1, "near 'FROM'");
    assert_syntax("SELECT * FROM WHERE", 156, 1, "near the keyword 'WHERE'");
    assert_syntax("SELECT a b c", 102, 1, "near 'c'");
    assert_syntax("SELECT 1\nSELECT 2 FROM\n\nWHERE", 156, 4, "near the keyword 'WHERE'");
    assert_syntax("SELECT 'a' 'b' 'cd'", 102, 1, "near 'cd'");
    assert_syntax("SELECT 0x1F 0x2A.", 102, 1, "near '0x2A'");
    assert_syntax("SELECT [a b] [c d] [e f]", 102, 1, "near 'e f'");
    assert_syntax("SELECT ?", 102, 1, "near '?'");
    assert_syntax("SELECT SUM(a", 102, 1, "near 'a'");
    assert_syntax("END", 156, 1, "'END'");
    assert_syntax("SELECT 1 ELSE", 156, 1, "'ELSE'");
    assert_syntax(")", 102, 1, "near ')'");
    assert_syntax("SELECT 1 FROM t WHERE a = ", 102, 1, "near '='");
    assert_syntax("SELECT user FROM order", 156, 1, "near the keyword 'order'");
}

static void open_quotes_and_comments_are_named(void **state)
{
    (void)state;
    assert_syntax("SELECT\n'abc", 105, 2, "after the character string 'abc'");
    assert_syntax("SELECT [abc", 105, 1, "after the character string 'abc'");
    assert_syntax("SELECT \"abc", 105, 1, "after the character string 'abc'");
    assert_syntax("SELECT 1 /* x /* y */", 113, 1, "Missing end comment mark '*/'.");
    assert_syntax("SELECT 'it''s", 105, 1, "'it''s'");
    assert_syntax("SELECT 1 AS []", 1038, 1, "missing or empty");
}

static void names_are_at_most_128_long(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    (void)PARSE(arena, str_printf(arena, "SELECT [%0128d]", 0).ptr);
    assert_syntax(str_printf(arena, "SELECT [%0129d]", 0).ptr, 103, 1, "Maximum length is 128");
    arena_close(arena);
}

static void comments_and_blanks_are_anywhere(void **state)
{
    (void)state;
    assert_select("SELECT/**/1/* a /* b */ c */+--x\n2", "SELECT (1 + 2)");
    assert_select("\xEF\xBB\xBFSELECT\xC2\xA0"
                  "1\t,\r\n2",
                  "SELECT 1, 2");
}

/* `count` times the opening, then the middle, then `count` times the closing. */
static Str nested(Arena *arena, size_t count, const char *open, const char *middle,
                  const char *close)
{
    Buf out = buf_new(arena, 0);

    for (size_t i = 0; i < count; i++)
        buf_append_c(&out, open);
    buf_append_c(&out, middle);
    for (size_t i = 0; i < count; i++)
        buf_append_c(&out, close);
    buf_append_char(&out, '\0');
    return buf_str(&out);
}

static void assert_too_deep(const char *prefix, size_t count, const char *open, const char *middle,
                            const char *close)
{
    Arena   *arena = arena_new();
    StmtList list;
    SimError error = SIM_ERROR_INIT;
    Str      text  = nested(arena, count, open, middle, close);
    Str      batch = str_printf(arena, "%s%.*s", prefix, (int)text.len - 1, text.ptr);

    assert_false(sim_parse(batch, true, arena, &list, &error));
    if (error.number != 191)
        fail_msg("%s%s...: got %d: %s", prefix, open, error.number, error.message);
    arena_close(arena);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    assert_too_deep("SELECT ", 100000, "(", "1", ")");
    assert_too_deep("SELECT ", 100000, "- ", "1", "");
    assert_too_deep("SELECT ", 100000, "~", "1", "");
    assert_too_deep("SELECT 1 WHERE ", 100000, "(", "1 = 1", ")");
    assert_too_deep("SELECT 1 WHERE ", 100000, "NOT ", "1 = 1", "");
    assert_too_deep("SELECT ", 5000, "(SELECT ", "1", ")");
    assert_too_deep("SELECT * FROM ", 5000, "(SELECT * FROM ", "t", ") x");
    assert_too_deep("SELECT * FROM ", 5000, "(", "t", ")");
    assert_too_deep("SELECT ", 5000, "CASE WHEN 1 = 1 THEN ", "1", " END");
    assert_too_deep("SELECT ", 5000, "f(", "1", ")");
    assert_too_deep("SELECT ", 5000, "1 + ", "1", "");
    assert_too_deep("", 5000, "SELECT 1 UNION ALL ", "SELECT 1", "");
    assert_too_deep("SELECT * FROM ", 5000, "t, ", "t", "");
    assert_too_deep("SELECT * FROM t ", 5000, "JOIN t ", "", "ON 1 = 1 ");
    assert_too_deep("", 5000, "IF 1 = 1 ", "SELECT 1", "");
    assert_too_deep("", 5000, "BEGIN ", "SELECT 1", " END");
    assert_too_deep("", 5000, "IF 1 = 1 SELECT 1 ELSE ", "SELECT 1", "");
}

/* Depth adds up over subqueries: a chain below a chain below a chain. */
static void depth_is_counted_through_subqueries(void **state)
{
    Arena   *arena = arena_new();
    StmtList list;
    SimError error = SIM_ERROR_INIT;
    Str      chain = nested(arena, 300, "", "", " + 1");
    Buf      text  = buf_new(arena, 0);

    (void)state;
    buf_append_c(&text, "SELECT ");
    for (int i = 0; i < 8; i++)
        buf_append_c(&text, "(SELECT ");
    buf_append_char(&text, '1');
    for (int i = 0; i < 8; i++)
        buf_printf(&text, "%.*s)", (int)chain.len - 1, chain.ptr);
    assert_false(sim_parse(buf_str(&text), true, arena, &list, &error));
    assert_int_equal(error.number, 191);
    arena_close(arena);
}

static void long_but_flat_text_is_fine(void **state)
{
    Arena *arena = arena_new();
    Buf    text  = buf_new(arena, 0);

    (void)state;
    buf_append_c(&text, "SELECT 1 FROM t WHERE a = 0");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, " OR (a = %d AND b = %d)", i, i);
    buf_append_c(&text, "; INSERT t SELECT a FROM (VALUES (0)");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, ", (%d)", i);
    buf_append_c(&text, ") v(a)");
    for (int i = 0; i < 5000; i++)
        buf_append_c(&text, "; SELECT 1 + 1 + 1");
    buf_append_char(&text, '\0');
    StmtList list = PARSE(arena, text.ptr);
    assert_int_equal(list.count, 5002);
    assert_int_equal(list.items[0]->select->where->args.count, 5001);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_errors_are_near_something),
        cmocka_unit_test(open_quotes_and_comments_are_named),
        cmocka_unit_test(names_are_at_most_128_long),
        cmocka_unit_test(comments_and_blanks_are_anywhere),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(depth_is_counted_through_subqueries),
        cmocka_unit_test(long_but_flat_text_is_fine),
    };
    return RUN_TESTS(tests);
}
