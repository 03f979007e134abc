/* test_cdc_session.c - change data capture as statements and procedures show it, a file of tests/unit/sim/sql per subject. */
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

FILE_TEST(jobs_and_scan_sessions, "cdc_job")
FILE_TEST(net_changes, "cdc_net")
FILE_TEST(enabling_and_disabling, "cdc_enable")
FILE_TEST(ddl_on_captured_tables, "cdc_ddl")
FILE_TEST(values_in_change_rows, "cdc_value")
FILE_TEST(the_order_of_change_rows, "cdc_order")
FILE_TEST(rights_and_languages, "cdc_rights")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_and_scan_sessions), cmocka_unit_test(net_changes),
        cmocka_unit_test(enabling_and_disabling), cmocka_unit_test(ddl_on_captured_tables),
        cmocka_unit_test(values_in_change_rows),  cmocka_unit_test(the_order_of_change_rows),
        cmocka_unit_test(rights_and_languages),
    };

    return cmocka_run_group_tests_name("cdc_session", tests, NULL, NULL);
}
