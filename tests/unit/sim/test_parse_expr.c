/* Expressions and conditions: what binds to what (sqlserver.md 2.10). */
#include "support/sim_tree.h"

static void operators_have_their_precedence(void **state)
{
    (void)state;
    assert_select("SELECT 1 + 2 * 3 - 4", "SELECT ((1 + (2 * 3)) - 4)");
    assert_select("SELECT (1 + 2) * 3", "SELECT ((1 + 2) * 3)");
    assert_select("SELECT a & b | c ^ d + e", "SELECT ((((a & b) | c) ^ d) + e)");
    assert_select("SELECT - a * b + ~ c", "SELECT ((-(a * b)) + (~c))");
    assert_select("SELECT - - a", "SELECT (-(-a))");
    assert_select("SELECT a + b COLLATE x", "SELECT (a + b COLLATE x)");
    assert_select("SELECT a AT TIME ZONE 'u' AT TIME ZONE 'v'",
                  "SELECT ((a AT TIME ZONE 'u') AT TIME ZONE 'v')");
}

static void conditions_have_their_precedence(void **state)
{
    (void)state;
    assert_select("SELECT 1 WHERE a = 1 OR b = 2 AND NOT c = 3",
                  "SELECT 1 WHERE ((a = 1) OR ((b = 2) AND NOT (c = 3)))");
    assert_select("SELECT 1 WHERE a = 1 AND b = 2 AND c = 3",
                  "SELECT 1 WHERE ((a = 1) AND (b = 2) AND (c = 3))");
    assert_select("SELECT 1 WHERE (a = 1 OR b = 2) AND c = 3",
                  "SELECT 1 WHERE (((a = 1) OR (b = 2)) AND (c = 3))");
    assert_select("SELECT 1 WHERE ((a) + (1)) * 2 >= (b)", "SELECT 1 WHERE (((a + 1) * 2) >= b)");
    assert_select("SELECT 1 WHERE ((((a = 1))))", "SELECT 1 WHERE (a = 1)");
    assert_select("SELECT 1 WHERE a !< 1 AND a !> 2 AND a != 3 AND a < = 4 AND a > = 5",
                  "SELECT 1 WHERE ((a >= 1) AND (a <= 2) AND (a <> 3) AND (a <= 4) AND (a >= 5))");
    assert_select("SELECT 1 WHERE a BETWEEN 1 AND 2 AND b NOT BETWEEN c + 1 AND d",
                  "SELECT 1 WHERE (a BETWEEN 1, 2 AND b NOT BETWEEN (c + 1), d)");
    assert_select("SELECT 1 WHERE a IN (1, 2) OR a NOT IN (SELECT 3)",
                  "SELECT 1 WHERE (a IN (1, 2) OR a NOT IN (SELECT 3))");
    assert_select("SELECT 1 WHERE a LIKE 'x!%' ESCAPE '!' AND b NOT LIKE c",
                  "SELECT 1 WHERE (a LIKE 'x!%', '!' AND b NOT LIKE c)");
    assert_select("SELECT 1 WHERE a IS NULL AND b + 1 IS NOT NULL",
                  "SELECT 1 WHERE (a IS NULL AND (b + 1) IS NOT NULL)");
    assert_select(
        "SELECT 1 WHERE NOT EXISTS (SELECT 1) AND a = ANY (SELECT 2) AND b >= ALL (SELECT 3)",
        "SELECT 1 WHERE (NOT EXISTS (SELECT 1) AND a = ANY (SELECT 2) AND b >= ALL (SELECT 3))");
    assert_select("SELECT 1 WHERE (SELECT 1) = 1 AND ((SELECT 2) + 1) = 3",
                  "SELECT 1 WHERE (((SELECT 1) = 1) AND (((SELECT 2) + 1) = 3))");
}

static void names_have_up_to_four_parts(void **state)
{
    (void)state;
    assert_select("SELECT a, t.a, s.t.a, d..t.a, [x y].[a]]b], \"q\"",
                  "SELECT a, t.a, s.t.a, d..t.a, x y.a]b, q");
    assert_select("SELECT t.*, * FROM t", "SELECT t.*, * FROM t");
    assert_select("SELECT [db].sys.fn_x(1), sys.f(), g()", "SELECT db.sys.fn_x(1), sys.f(), g()");
    assert_select("SELECT @a, @@SPID, @@rowcount", "SELECT @a, @@SPID, @@rowcount");
}

static void literals_keep_their_kind(void **state)
{
    (void)state;
    assert_select("SELECT 'it''s', N'\xC5\x9F', 0x0A, 1.50, NULL, ''",
                  "SELECT 'it's', N'\xC5\x9F', 0x0A, 1.50, NULL, ''");
    assert_select("SELECT 1a, 0xFFg", "SELECT 1 AS a, 0xFF AS g");
}

static void functions_keep_their_arguments(void **state)
{
    (void)state;
    assert_select("SELECT COUNT(*), COUNT(DISTINCT a), COALESCE(a, b), NULLIF(a, b), LEFT(a, 1)",
                  "SELECT COUNT(*), COUNT(DISTINCT a), COALESCE(a, b), NULLIF(a, b), LEFT(a, 1)");
    assert_select("SELECT DATEADD(day, 1, a), DATEPART(TZOFFSET, b), DATEDIFF_BIG([ms], a, b)",
                  "SELECT DATEADD(day, 1, a), DATEPART(TZOFFSET, b), DATEDIFF_BIG(ms, a, b)");
    assert_select("SELECT CURRENT_TIMESTAMP, USER, SYSTEM_USER",
                  "SELECT CURRENT_TIMESTAMP(), USER(), SYSTEM_USER()");
    assert_select("SELECT IIF(a < b, a, b)", "SELECT IIF((a < b), a, b)");
    assert_select("SELECT TRIM(a), TRIM('x' FROM a), TRIM(LEADING 'x' FROM a)",
                  "SELECT TRIM(a), TRIM(a, 'x'), LTRIM(a, 'x')");
    assert_select("SELECT CAST(a AS decimal(5,2)), CONVERT(varchar(10), b, 121), TRY_CAST(a AS "
                  "int), TRY_CONVERT(date, b), PARSE(c AS date USING 'en')",
                  "SELECT CAST(a AS decimal(5,2)), CONVERT(b AS varchar(10) 121), TRY_CAST(a AS "
                  "int), TRY_CONVERT(b AS date), CAST(c AS date)");
    assert_select("SELECT ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC, d)",
                  "SELECT ROW_NUMBER() OVER (a, b ORDER c DESC, d)");
    assert_select("SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
                  "SELECT SUM(a) OVER ( ORDER b FRAME ROWS 1 PRECEDING TO CURRENT ROW)");
    assert_select("SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b DESC)",
                  "SELECT STRING_AGG(a, ',') WITHIN GROUP (b DESC)");
    assert_select("SELECT f((SELECT 1))", "SELECT f((SELECT 1))");
    assert_select(
        "SELECT CASE WHEN a = 1 THEN 2 END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END",
        "SELECT CASE WHEN (a = 1) THEN 2 END, CASE a WHEN 1 THEN 2 WHEN 3 THEN 4 ELSE 5 END");
}

static void a_comparison_is_no_value_and_a_value_no_condition(void **state)
{
    (void)state;
    assert_syntax("SELECT (a = 1)", 102, 1, "near '='");
    assert_syntax("SELECT 1 WHERE a", 4145, 1, "near 'a'");
    assert_syntax("SELECT 1 WHERE (a) ORDER BY 1", 4145, 1, "near 'ORDER'");
    assert_syntax("SELECT 1 WHERE a AND b = 1", 4145, 1, "near 'AND'");
    assert_syntax("SELECT 1 WHERE (a = 1) + 1 = 2", 102, 1, "near '+'");
    assert_syntax("SELECT 1 WHERE (a = 1) = 1", 102, 1, "near '='");
    assert_syntax("SELECT 1 WHERE (a, b) = (1, 2)", 102, 1, "near ','");
    assert_syntax("SELECT CASE WHEN a THEN 1 END", 4145, 1, "near 'THEN'");
    assert_syntax("SELECT CASE a WHEN b = 1 THEN 1 END", 102, 1, "near '='");
}

static void every_node_knows_its_line(void **state)
{
    Arena   *arena = arena_new();
    StmtList list  = PARSE(arena, "-- one\nSELECT a,\n  b /* x\n y */ +\n c\n;\nPRINT 1");

    (void)state;
    const Expr *sum = list.items[0]->select->items.items[1].expr;
    assert_int_equal(list.items[0]->line, 2);
    assert_int_equal(list.items[0]->select->items.items[0].expr->line, 2);
    assert_int_equal(sum->args.items[0]->line, 3);
    assert_int_equal(sum->args.items[1]->line, 5);
    assert_int_equal(list.items[1]->line, 7);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_their_precedence),
        cmocka_unit_test(conditions_have_their_precedence),
        cmocka_unit_test(names_have_up_to_four_parts),
        cmocka_unit_test(literals_keep_their_kind),
        cmocka_unit_test(functions_keep_their_arguments),
        cmocka_unit_test(a_comparison_is_no_value_and_a_value_no_condition),
        cmocka_unit_test(every_node_knows_its_line),
    };
    return RUN_TESTS(tests);
}
