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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_and_scan_sessions),
        cmocka_unit_test(net_changes),
    };

    return cmocka_run_group_tests_name("cdc_session", tests, NULL, NULL);
}
