/* Aggregates over a few values (sqlserver.md 2.10). */
#include "support/sim_eval.h"

#include "sim/function/aggregate.h"

/* Each value an expression; NULL for rows of COUNT(*). */
static bool aggregate(Arena *arena, const char *name, const char *const *values,
                      const char *separator, SimValue *out, SimError *error)
{
    const SimAggregate *found = sim_aggregate_find(str_from_c(name));
    SimAccumulator      accumulator;
    SimValue            value, between = sim_null(sim_type(SIM_INT));
    SimType             type;

    assert_non_null(found);
    assert_true(values[0] == NULL || sim_eval(values[0], arena, &value, error));
    if (!sim_aggregate_type(found, values[0] != NULL ? &value.type : NULL, &type, error))
        return false;
    if (separator != NULL) assert_true(sim_eval(separator, arena, &between, error));
    sim_accumulator_init(&accumulator, found, &type, arena);
    for (size_t i = 0; values[i] != NULL; i++) {
        assert_true(sim_eval(values[i], arena, &value, error));
        if (!sim_accumulator_add(&accumulator, &value, &between, error)) return false;
    }
    return sim_accumulator_result(&accumulator, out, error);
}

static void assert_aggregate_at(const char *name, const char *const *values, const char *want,
                                int line)
{
    Arena   *arena = arena_new();
    SimValue out;
    SimError error = SIM_ERROR_INIT;

    if (!aggregate(arena, name, values, "','", &out, &error))
        fail_msg("line %d: %s: %s", line, name, error.message);
    Str got = str_printf(arena, "%.*s %.*s", STR_ARG(sim_value_text(arena, &out)),
                         STR_ARG(sim_type_format(arena, &out.type)));
    if (!str_equal_c(got, want))
        fail_msg("line %d: %s: want %s, got %.*s", line, name, want, STR_ARG(got));
    arena_close(arena);
}
#define VALUES(...)                          ((const char *const[]){__VA_ARGS__, NULL})
#define assert_aggregate(name, values, want) assert_aggregate_at((name), (values), (want), __LINE__)

static void counts_leave_nulls_out(void **state)
{
    (void)state;
    assert_aggregate("COUNT", VALUES("1", "NULL", "3"), "2 int");
    assert_aggregate("COUNT_BIG", VALUES("'a'", "'b'"), "2 bigint");
    assert_aggregate("COUNT", VALUES("CAST(NULL AS int)"), "0 int");
}

static void counting_rows_needs_no_value(void **state)
{
    Arena         *arena = arena_new();
    SimAccumulator accumulator;
    SimType        type;
    SimValue       out;
    SimError       error = SIM_ERROR_INIT;

    (void)state;
    assert_true(sim_aggregate_type(sim_aggregate_find(STR("COUNT")), NULL, &type, &error));
    sim_accumulator_init(&accumulator, sim_aggregate_find(STR("count")), &type, arena);
    for (int i = 0; i < 3; i++)
        assert_true(sim_accumulator_add(&accumulator, NULL, NULL, &error));
    assert_true(sim_accumulator_result(&accumulator, &out, &error));
    assert_int_equal(out.i64, 3);
    assert_false(sim_accumulator_skipped_null(&accumulator));
    arena_close(arena);
}

static void sums_keep_their_type_and_overflow(void **state)
{
    Arena   *arena = arena_new();
    SimValue out;
    SimError error = SIM_ERROR_INIT;

    (void)state;
    assert_aggregate("SUM", VALUES("CAST(200 AS tinyint)", "CAST(200 AS tinyint)"), "400 int");
    assert_aggregate("SUM", VALUES("CAST(1 AS bigint)", "2"), "3 bigint");
    assert_aggregate("SUM", VALUES("1.25", "-0.25"), "1.00 numeric(38,2)");
    assert_aggregate("SUM", VALUES("$1.5", "$2"), "3.50 money");
    assert_aggregate("SUM", VALUES("1.5e0", "CAST(1 AS real)"), "2.5 float");
    assert_aggregate("SUM", VALUES("NULL"), "NULL int");
    assert_aggregate("SUM", VALUES("2147483647", "1", "-1"), "2147483647 int");
    assert_false(aggregate(arena, "SUM", VALUES("2147483647", "1"), NULL, &out, &error));
    assert_int_equal(error.number, 8115);
    assert_false(aggregate(arena, "SUM", VALUES("'a'"), NULL, &out, &error));
    assert_int_equal(error.number, 8117);
    assert_false(aggregate(arena, "SUM", VALUES("CAST(1 AS bit)"), NULL, &out, &error));
    assert_int_equal(error.number, 8117);
    arena_close(arena);
}

static void averages_divide_as_their_type_does(void **state)
{
    (void)state;
    assert_aggregate("AVG", VALUES("1", "2"), "1 int");
    assert_aggregate("AVG", VALUES("-1", "-2"), "-1 int");
    assert_aggregate("AVG", VALUES("1.0", "2.0", "NULL"), "1.500000 numeric(38,6)");
    assert_aggregate("AVG", VALUES("1e0", "2"), "1.5 float");
    assert_aggregate("AVG", VALUES("NULL"), "NULL int");
}

static void extremes_follow_the_order_of_the_type(void **state)
{
    Arena   *arena = arena_new();
    SimValue out;
    SimError error = SIM_ERROR_INIT;

    (void)state;
    assert_aggregate("MIN", VALUES("3", "NULL", "1", "2"), "1 int");
    assert_aggregate("MAX", VALUES("'k2'", "'K10'", "'k1'"), "k2 varchar(2)");
    assert_aggregate("MAX", VALUES("0x01", "0x0001", "0x0000FF"), "0x01 varbinary(1)");
    assert_aggregate("MIN", VALUES("CAST('2020-01-02' AS date)", "CAST('2020-01-01' AS date)"),
                     "2020-01-01 date");
    assert_aggregate("MIN", VALUES("NULL"), "NULL int");
    assert_false(aggregate(arena, "MIN", VALUES("CAST(1 AS bit)"), NULL, &out, &error));
    assert_int_equal(error.number, 8117);
    assert_false(aggregate(arena, "MAX", VALUES("CAST('a' AS text)"), NULL, &out, &error));
    assert_int_equal(error.number, 8117);
    arena_close(arena);
}

static void texts_are_joined(void **state)
{
    (void)state;
    assert_aggregate("STRING_AGG", VALUES("'a'", "NULL", "'b'", "''"), "a,b, varchar(8000)");
    assert_aggregate("STRING_AGG", VALUES("N'\xC5\x9F'", "N'x'"), "\xC5\x9F,x nvarchar(4000)");
    assert_aggregate("STRING_AGG", VALUES("1", "2"), "1,2 nvarchar(4000)");
    assert_aggregate("STRING_AGG", VALUES("CAST(NULL AS varchar(5))"), "NULL varchar(8000)");
}

static void spread_is_measured(void **state)
{
    (void)state;
    assert_aggregate("VAR", VALUES("1", "2", "3", "4"), "1.66667 float");
    assert_aggregate("VARP", VALUES("1", "2", "3", "4"), "1.25 float");
    assert_aggregate("STDEVP", VALUES("2", "4", "4", "4", "5", "5", "7", "9"), "2 float");
    assert_aggregate("STDEV", VALUES("1"), "NULL float");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_leave_nulls_out),
        cmocka_unit_test(counting_rows_needs_no_value),
        cmocka_unit_test(sums_keep_their_type_and_overflow),
        cmocka_unit_test(averages_divide_as_their_type_does),
        cmocka_unit_test(extremes_follow_the_order_of_the_type),
        cmocka_unit_test(texts_are_joined),
        cmocka_unit_test(spread_is_measured),
    };
    return RUN_TESTS(tests);
}
