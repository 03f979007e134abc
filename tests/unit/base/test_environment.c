#include "support/test_support.h"

#include "base/environment.h"

static void a_variable_is_found_or_not(void **state)
{
    Str value = STR("before");

    (void)state;
    assert_int_equal(setenv("TIDELAKE_TEST_VARIABLE", "a b", 1), 0);
    assert_true(environment_find("TIDELAKE_TEST_VARIABLE", &value));
    assert_str_is(value, "a b");
    assert_int_equal(setenv("TIDELAKE_TEST_VARIABLE", "", 1), 0);
    assert_true(environment_find("TIDELAKE_TEST_VARIABLE", &value)); /* empty is set */
    assert_str_is(value, "");
    assert_int_equal(unsetenv("TIDELAKE_TEST_VARIABLE"), 0);
    assert_false(environment_find("TIDELAKE_TEST_VARIABLE", &value));
}

static void there_is_at_least_one_core(void **state)
{
    (void)state;
    assert_in_range(environment_core_count(), 1, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_is_found_or_not),
        cmocka_unit_test(there_is_at_least_one_core),
    };
    return RUN_TESTS(tests);
}
