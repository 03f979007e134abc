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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_statements),
        cmocka_unit_test(every_query_of_a_stream),
    };

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
