/* test_exec.c - statements and their answers, a file of tests/unit/sim/sql per subject. */
#include "unit/sim/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
FILE_TEST(the_catalogue_and_who_sees_what, "catalog")
FILE_TEST(what_drivers_ask_the_catalogue, "catalog_proc")
FILE_TEST(least_privilege, "rights")
FILE_TEST(what_lasts_how_long_in_a_session, "session")
FILE_TEST(shapes_of_other_readers, "shapes")
FILE_TEST(synthetic_tables_and_integer_groups, "synthetic")
FILE_TEST(changes_and_what_their_errors_end, "change")
FILE_TEST(what_the_reference_says_of_itself, "truth")
FILE_TEST(merge_in_change_tables_procedures_and_keys_under_locks, "modules")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_statements),
        cmocka_unit_test(every_query_of_a_stream),
        cmocka_unit_test(every_query_of_a_snapshot),
        cmocka_unit_test(joins_groups_windows_and_subqueries),
        cmocka_unit_test(the_catalogue_and_who_sees_what),
        cmocka_unit_test(what_drivers_ask_the_catalogue),
        cmocka_unit_test(least_privilege),
        cmocka_unit_test(what_lasts_how_long_in_a_session),
        cmocka_unit_test(shapes_of_other_readers),
        cmocka_unit_test(synthetic_tables_and_integer_groups),
        cmocka_unit_test(changes_and_what_their_errors_end),
        cmocka_unit_test(what_the_reference_says_of_itself),
        cmocka_unit_test(merge_in_change_tables_procedures_and_keys_under_locks),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
