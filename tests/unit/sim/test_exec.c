/* test_exec.c - statements and their answers, a file of tests/unit/sim/sql per subject. */
#include "unit/sim/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void first_statements(void **state)
{
    (void)state;
    script_check_file("first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_statements)};

    return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
