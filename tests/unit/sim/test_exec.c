/* test_exec.c - statements and their answers, a file of tests/unit/sim/sql per subject. */
#include "unit/sim/script.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define FILE_TEST(test, file)      \
    static void test(void **state) \
    {                              \
        (void)state;               \
        script_check_file(file);   \
    }

FILE_TEST(first_statements, "first")
FILE_TEST(every_query_of_a_stream, "cdc")
FILE_TEST(every_query_of_a_snapshot, "snapshot")
FILE_TEST(joins_groups_windows_and_subqueries, "query")
FILE_TEST(decimal_and_numeric_are_told_apart, "numeric")
FILE_TEST(the_catalogue_and_who_sees_what, "catalog")
FILE_TEST(what_drivers_ask_the_catalogue, "catalog_proc")
FILE_TEST(least_privilege, "rights")
FILE_TEST(what_lasts_how_long_in_a_session, "session")
FILE_TEST(shapes_of_other_readers, "shapes")
FILE_TEST(xml_is_read_and_written, "xml")
FILE_TEST(synthetic_tables_and_integer_groups, "synthetic")
FILE_TEST(changes_and_what_their_errors_end, "change")
FILE_TEST(what_the_reference_says_of_itself, "truth")
FILE_TEST(claims_of_statements_and_their_refusal, "claims")
FILE_TEST(merge_in_change_tables_procedures_and_keys_under_locks, "modules")

/* --- sizes, one below and one past the limit --- */

/* `count` times `piece`, which may use its number, with commas between. */
static Str list_of(Arena *arena, const char *piece, int count)
{
    Buf buf = buf_new(arena, 0);

    for (int i = 0; i < count; i++) {
        const char *number = strchr(piece, '#');
        buf_printf(&buf, "%s%.*s%d%s", i ? ", " : "", (int)(number - piece), piece, i, number + 1);
    }
    return buf_str(&buf);
}

static void assert_most(const char *begin, const char *piece, int most, const char *end,
                        const char *refusal)
{
    for (int count = most; count <= most + 1; count++) {
        Script *script = script_open();
        Arena  *arena  = arena_new();
        Str     answer;
        (void)script_run(script, 1, STR("CREATE DATABASE shop"));
        (void)script_run(script, 1, STR("USE shop; CREATE TABLE t (a int)"));
        answer = script_run(
            script, 1,
            str_printf(arena, "%s%.*s%s", begin, STR_ARG(list_of(arena, piece, count)), end));
        if (str_starts_with(answer, str_from_c(refusal)) != (count > most))
            fail_msg("%d of '%s': %.*s", count, piece, (int)MIN(answer.len, 300), answer.ptr);
        arena_close(arena);
        script_close(script);
    }
}

static void lists_have_the_servers_limits(void **state)
{
    (void)state;
    assert_most("INSERT INTO t VALUES ", "(#)", 1000, "", "!10738 15 1 ");
    assert_most("CREATE TABLE u (", "c# int", 1024, ")", "!1702 16 1 ");
    assert_most("SELECT ", "# AS a", 4096, "", "!1056 15 1 ");
    assert_most("CREATE PROCEDURE p ", "@p# int", 2100, " AS SELECT 1", "!180 15 1 ");
    assert_most("CREATE TABLE u (z int); ALTER TABLE u ADD ", "c# int", 1023, "", "!1702 16 1 ");
    assert_most("CREATE TABLE u (c0 int, c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, "
                "c8 int, c9 int, c10 int, c11 int, "
                "c12 int, c13 int, c14 int, c15 int, c16 int, c17 int, c18 int, c19 int, c20 int, "
                "c21 int, c22 int, c23 int, c24 "
                "int, c25 int, c26 int, c27 int, c28 int, c29 int, c30 int, c31 int, c32 int); "
                "CREATE INDEX i ON u (",
                "c#", 32, ")", "!1904 16 1 ");
}

static void a_call_has_at_most_2100_parameters(void **state)
{
    Script       *script = script_open();
    SimParameter *params = mem_alloc(2101 * sizeof *params);
    Str           answer;

    (void)state;
    for (size_t i = 0; i < 2101; i++)
        params[i] = (SimParameter){.name = STR_EMPTY, .value = sim_int(1, SIM_INT)};
    answer = script_rpc(script, 1, 0, "sp_who", params, 2101);
    assert_true(str_starts_with(answer, STR("!8003 16 1 ")));
    answer = script_rpc(script, 1, 0, "sp_who", params, 2100);
    assert_false(str_starts_with(answer, STR("!8003 ")));
    mem_free(params);
    script_close(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_statements),
        cmocka_unit_test(every_query_of_a_stream),
        cmocka_unit_test(every_query_of_a_snapshot),
        cmocka_unit_test(joins_groups_windows_and_subqueries),
        cmocka_unit_test(decimal_and_numeric_are_told_apart),
        cmocka_unit_test(the_catalogue_and_who_sees_what),
        cmocka_unit_test(what_drivers_ask_the_catalogue),
        cmocka_unit_test(least_privilege),
        cmocka_unit_test(what_lasts_how_long_in_a_session),
        cmocka_unit_test(shapes_of_other_readers),
        cmocka_unit_test(xml_is_read_and_written),
        cmocka_unit_test(synthetic_tables_and_integer_groups),
        cmocka_unit_test(changes_and_what_their_errors_end),
        cmocka_unit_test(what_the_reference_says_of_itself),
        cmocka_unit_test(claims_of_statements_and_their_refusal),
        cmocka_unit_test(merge_in_change_tables_procedures_and_keys_under_locks),
        cmocka_unit_test(lists_have_the_servers_limits),
        cmocka_unit_test(a_call_has_at_most_2100_parameters),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
