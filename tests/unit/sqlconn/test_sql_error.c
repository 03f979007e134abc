/* The classes of sqlserver.md 1.13: the native number first, then SQLSTATE. */
#include "support/test_support.h"

#include "sqlconn/sqlconn_internal.h"

typedef struct Classed {
    int32_t     native;
    const char *sqlstate;
    ErrCode     code;
} Classed;

static void errors_are_classified_by_number_then_by_state(void **state)
{
    static const Classed table[] = {
        {1205, "40001", ERR_SOURCE}, /* Microsoft's */
        {1205, "42000", ERR_SOURCE}, /* FreeTDS's: SQLSTATE alone would miss it */
        {1204, "HY000", ERR_SOURCE},
        {596, "42000", ERR_SOURCE},
        {40613, "42000", ERR_SOURCE},
        {976, "42000", ERR_SOURCE},
        {4060, "42000", ERR_SOURCE},
        {3960, "42000", ERR_QUERY},
        {22984, "42000", ERR_SOURCE},
        {10054, "08S01", ERR_SOURCE},
        {0, "08S01", ERR_SOURCE},
        {0, "08001", ERR_SOURCE},
        {0, "08004", ERR_SOURCE},
        {0, "08006", ERR_SOURCE},
        {0, "08007", ERR_SOURCE},
        {0, "HYT00", ERR_SOURCE},
        {0, "HYT01", ERR_SOURCE},
        {0, "40001", ERR_SOURCE},
        {0, "HY000", ERR_QUERY},
        {0, "", ERR_QUERY},
        {1222, "42000", ERR_LOCK_TIMEOUT},
        {18456, "28000", ERR_LOGIN},
        {18456, "42000", ERR_LOGIN},
        {0, "28000", ERR_LOGIN},
        {4064, "42000", ERR_LOGIN},
        {229, "42000", ERR_PERMISSION},
        {230, "42000", ERR_PERMISSION},
        {262, "42000", ERR_PERMISSION},
        {22981, "42000", ERR_SOURCE_STATE},
        {22901, "42000", ERR_SOURCE_STATE},
        {208, "42S02", ERR_SOURCE_STATE},
        {22960, "42000", ERR_SOURCE_STATE},
        {3952, "42000", ERR_SOURCE_STATE},
        {207, "42S22", ERR_QUERY},
        {102, "42000", ERR_QUERY},
        {8114, "42000", ERR_QUERY},
        {10057, "08001", ERR_SOURCE}, /* the socket's number */
        {8134, "HYT00", ERR_QUERY},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (sql_error_classify(table[i].native, table[i].sqlstate) != table[i].code)
            fail_msg("%d %s: %s", table[i].native, table[i].sqlstate,
                     err_code_name(sql_error_classify(table[i].native, table[i].sqlstate)));
}

static void values_of_rows_are_taken_out_of_messages(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_true(sql_error_quotes_values(245));
    assert_true(sql_error_quotes_values(2627));
    assert_false(sql_error_quotes_values(208));
    assert_str_is(
        sql_error_strip_values(
            arena,
            STR("Conversion failed when converting the varchar value 'se'cret' to data type int.")),
        "Conversion failed when converting the varchar value '...' to data type int.");
    assert_str_is(sql_error_strip_values(arena, STR("The duplicate key value is (4711, x).")),
                  "The duplicate key value is (...).");
    assert_str_is(sql_error_strip_values(arena, STR("The value 'secret is cut")), "The value '");
    assert_str_is(sql_error_strip_values(arena, STR("Arithmetic overflow.")),
                  "Arithmetic overflow.");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_classified_by_number_then_by_state),
        cmocka_unit_test(values_of_rows_are_taken_out_of_messages),
    };
    return RUN_TESTS(tests);
}
