/* What `tidesim exec` prints for scripts of T-SQL: tests/golden/sim/NAME.sql, with NAME.txt beside it.
 * The answers were worked out from what SQL Server says; a refreshed one has to be worked out again. */
#include "support/golden.h"

#include "base/buf.h"

#include <stdio.h>

static void check_script(const char *name)
{
    const char *source = getenv("TIDELAKE_SOURCE_ROOT"), *build = getenv("TIDELAKE_BUILD_ROOT");
    Arena      *arena = arena_new();
    Buf         got   = buf_new(arena, 0);
    char        command[8192], file[256], chunk[4096];
    size_t      len = 0;

    assert_non_null(build);
    (void)snprintf(command, sizeof command,
                   "cd '%s/tests/golden/sim' && '%s/tidesim' exec --keep-going --seed 1 --clock "
                   "virtual --database shop %s.sql 2>&1",
                   source ? source : ".", build, name);
    FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): our own program, our own names */
    assert_non_null(pipe);
    while ((len = fread(chunk, 1, sizeof chunk, pipe)) > 0)
        buf_append(&got, (Str){chunk, len});
    (void)pclose(pipe);
    (void)snprintf(file, sizeof file, "sim/%s.txt", name);
    assert_golden(file, buf_str(&got));
    arena_close(arena);
}

#define SCRIPT_TEST(test, name)    \
    static void test(void **state) \
    {                              \
        (void)state;               \
        check_script(name);        \
    }

SCRIPT_TEST(batches_and_variables, "batches")
SCRIPT_TEST(flow_and_errors, "errors")
SCRIPT_TEST(procedures_return_and_nest, "procedures")
SCRIPT_TEST(constraints_hold, "constraints")
SCRIPT_TEST(joins_subqueries_and_sets, "queries")
SCRIPT_TEST(windows_and_frames, "windows")
SCRIPT_TEST(common_tables_recurse, "recursion")
SCRIPT_TEST(merge_does_each_row_once, "merge")
SCRIPT_TEST(cursors_walk, "cursors")
SCRIPT_TEST(values_compare_and_round, "values")
SCRIPT_TEST(databases_have_their_collations, "collation")
SCRIPT_TEST(others_act_by_their_rights, "context")
SCRIPT_TEST(the_catalogue_answers_jdbc, "jdbc")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_and_variables),
        cmocka_unit_test(flow_and_errors),
        cmocka_unit_test(procedures_return_and_nest),
        cmocka_unit_test(constraints_hold),
        cmocka_unit_test(joins_subqueries_and_sets),
        cmocka_unit_test(windows_and_frames),
        cmocka_unit_test(common_tables_recurse),
        cmocka_unit_test(merge_does_each_row_once),
        cmocka_unit_test(cursors_walk),
        cmocka_unit_test(values_compare_and_round),
        cmocka_unit_test(others_act_by_their_rights),
        cmocka_unit_test(the_catalogue_answers_jdbc),
        cmocka_unit_test(databases_have_their_collations),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
