#include "support/test_support.h"

#include "types/column_type.h"

static const TypeKind plain_kinds[] = {
    TYPE_BOOLEAN, TYPE_SHORT,     TYPE_INTEGER,       TYPE_LONG,   TYPE_FLOAT, TYPE_DOUBLE,
    TYPE_DATE,    TYPE_TIMESTAMP, TYPE_TIMESTAMP_NTZ, TYPE_STRING, TYPE_BINARY};

static void every_type_is_read_back_from_both_names(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(plain_kinds); i++) {
        ColumnType type = COLUMN_TYPE(plain_kinds[i]);
        ColumnType back = DECIMAL_TYPE(1, 1);
        assert_true(column_type_parse_delta(column_type_delta_name(arena, type), &back));
        assert_true(column_type_equal(type, back));
        assert_true(column_type_parse_sql(str_lower_ascii(arena, column_type_sql_name(arena, type)),
                                          &back));
        assert_true(column_type_equal(type, back));
    }
    for (uint8_t precision = 1; precision <= 38; precision++)
        for (uint8_t scale = 0; scale <= precision; scale++) {
            ColumnType type = DECIMAL_TYPE(precision, scale);
            ColumnType back = COLUMN_TYPE(TYPE_LONG);
            assert_true(column_type_parse_delta(column_type_delta_name(arena, type), &back));
            assert_true(column_type_equal(type, back));
            assert_true(column_type_parse_sql(column_type_sql_name(arena, type), &back));
            assert_true(column_type_equal(type, back));
        }
    arena_close(arena);
}

static void names_are_those_of_delta_and_spark(void **state)
{
    Arena     *arena = arena_new();
    ColumnType type  = COLUMN_TYPE(TYPE_LONG);

    (void)state;
    assert_str_is(column_type_delta_name(arena, DECIMAL_TYPE(10, 2)), "decimal(10,2)");
    assert_str_is(column_type_delta_name(arena, COLUMN_TYPE(TYPE_TIMESTAMP_NTZ)), "timestamp_ntz");
    assert_str_is(column_type_sql_name(arena, DECIMAL_TYPE(18, 0)), "DECIMAL(18,0)");
    assert_str_is(column_type_sql_name(arena, COLUMN_TYPE(TYPE_SHORT)), "SMALLINT");
    assert_true(column_type_parse_delta(STR(" decimal( 10 , 2 ) "), &type));
    assert_true(column_type_equal(type, DECIMAL_TYPE(10, 2)));
    assert_true(column_type_parse_sql(STR("numeric (5)"), &type));
    assert_true(column_type_equal(type, DECIMAL_TYPE(5, 0)));
    assert_true(column_type_parse_sql(STR("decimal"), &type));
    assert_true(column_type_equal(type, DECIMAL_TYPE(10, 0)));
    assert_true(column_type_parse_sql(STR("integer"), &type));
    assert_int_equal(type.kind, TYPE_INTEGER);
    arena_close(arena);
}

static void other_names_are_no_types(void **state)
{
    const char *bad[] = {"",
                         "int8",
                         "decimal(0,0)",
                         "decimal(39,0)",
                         "decimal(10,11)",
                         "decimal(10,2",
                         "decimal 10,2)",
                         "decimal()",
                         "decimal(10,)",
                         "decimal(,2)",
                         "decimal(10,2,3)",
                         "decimal(-1,0)",
                         "long(3)",
                         "string(10)",
                         "timestamp ntz",
                         "void",
                         "binary()",
                         "decimal(99999999999999999999,0)",
                         "(10,2)"};
    ColumnType  type  = COLUMN_TYPE(TYPE_LONG);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (column_type_parse_delta(str_from_c(bad[i]), &type))
            fail_msg("read as a Delta type: %s", bad[i]);
        if (column_type_parse_sql(str_from_c(bad[i]), &type))
            fail_msg("read as an SQL type: %s", bad[i]);
    }
    assert_false(column_type_parse_delta(STR("LONG"), &type)); /* Delta's names have one case */
    assert_false(column_type_parse_delta(STR("bigint"), &type));
}

static void a_value_takes_the_width_libduckdb_uses(void **state)
{
    const struct {
        uint8_t precision;
        size_t  width;
    } cases[] = {{1, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}, {19, 16}, {38, 16}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(column_type_width(DECIMAL_TYPE(cases[i].precision, 0)), cases[i].width);
    assert_int_equal(column_type_width(COLUMN_TYPE(TYPE_BOOLEAN)), 1);
    assert_int_equal(column_type_width(COLUMN_TYPE(TYPE_SHORT)), 2);
    assert_int_equal(column_type_width(COLUMN_TYPE(TYPE_DATE)), 4);
    assert_int_equal(column_type_width(COLUMN_TYPE(TYPE_TIMESTAMP)), 8);
    assert_int_equal(column_type_width(COLUMN_TYPE(TYPE_STRING)), sizeof(Str));
    assert_true(column_type_is_text(COLUMN_TYPE(TYPE_BINARY)));
    assert_false(column_type_is_text(COLUMN_TYPE(TYPE_DATE)));
}

/* The table of algorithms.md 6.5; what it does not list does not fit. */
static bool table_says(ColumnType from, bool is_byte, ColumnType to)
{
    int whole      = to.precision - to.scale;
    int from_whole = from.precision - from.scale;

    if (column_type_equal(from, to)) return true;
    if (to.kind == TYPE_DECIMAL) {
        if (from.kind == TYPE_SHORT) return whole >= (is_byte ? 3 : 5);
        if (from.kind == TYPE_INTEGER) return whole >= 10;
        if (from.kind == TYPE_LONG) return whole >= 20;
        return from.kind == TYPE_DECIMAL && to.scale >= from.scale && whole >= from_whole;
    }
    if (from.kind == TYPE_SHORT)
        return to.kind == TYPE_INTEGER || to.kind == TYPE_LONG || to.kind == TYPE_DOUBLE;
    if (from.kind == TYPE_INTEGER) return to.kind == TYPE_LONG || to.kind == TYPE_DOUBLE;
    if (from.kind == TYPE_FLOAT) return to.kind == TYPE_DOUBLE;
    return from.kind == TYPE_DATE && to.kind == TYPE_TIMESTAMP_NTZ;
}

static size_t all_types(ColumnType *out)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT_OF(plain_kinds); i++)
        out[count++] = COLUMN_TYPE(plain_kinds[i]);
    for (uint8_t precision = 1; precision <= 38; precision++)
        for (uint8_t scale = 0; scale <= precision; scale++)
            out[count++] = DECIMAL_TYPE(precision, scale);
    return count;
}

static void a_type_fits_another_as_the_table_says_in_both_directions(void **state) /* T6.8 */
{
    ColumnType types[COUNT_OF(plain_kinds) + 38 * 40];
    size_t     count = all_types(types);
    Arena     *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            for (int is_byte = 0; is_byte <= (types[i].kind == TYPE_SHORT); is_byte++)
                if (column_type_fits(types[i], is_byte, types[j]) !=
                    table_says(types[i], is_byte, types[j]))
                    fail_msg("%s into %s", column_type_sql_name(arena, types[i]).ptr,
                             column_type_sql_name(arena, types[j]).ptr);
    assert_true(column_type_fits(COLUMN_TYPE(TYPE_SHORT), true, DECIMAL_TYPE(3, 0)));
    assert_false(column_type_fits(COLUMN_TYPE(TYPE_SHORT), false, DECIMAL_TYPE(3, 0)));
    assert_false(column_type_fits(COLUMN_TYPE(TYPE_LONG), false, COLUMN_TYPE(TYPE_DOUBLE)));
    assert_false(column_type_fits(COLUMN_TYPE(TYPE_LONG), false, DECIMAL_TYPE(19, 0)));
    arena_close(arena);
}

static Int128 parsed(const char *text, uint8_t precision, uint8_t scale)
{
    Int128 value = {0, 0};

    if (!decimal_parse(str_from_c(text), precision, scale, &value))
        fail_msg("not a decimal: %s", text);
    return value;
}

static void assert_decimal_is(Int128 unscaled, uint8_t scale, const char *want)
{
    char   text[48];
    size_t len = decimal_format(unscaled, scale, text);

    assert_str_is(((Str){text, len}), want);
    assert_int_equal(text[len], 0);
}

static void decimals_are_written_with_exactly_their_scale(void **state)
{
    (void)state;
    assert_decimal_is(int128_from_i64(0), 0, "0");
    assert_decimal_is(int128_from_i64(0), 10, "0.0000000000"); /* state.md 18 */
    assert_decimal_is(int128_from_i64(-5), 2, "-0.05");
    assert_decimal_is(int128_from_i64(1234), 2, "12.34");
    assert_decimal_is(int128_from_i64(1234), 0, "1234");
    assert_decimal_is(int128_from_i64(INT64_MIN), 4, "-922337203685477.5808");
    assert_decimal_is(parsed("99999999999999999999999999999999999999", 38, 0), 38,
                      "0.99999999999999999999999999999999999999");
    assert_decimal_is(parsed("-10000000000000000000000000000000000000", 38, 0), 0,
                      "-10000000000000000000000000000000000000");
}

static void decimals_are_read_as_sql_server_writes_them(void **state)
{
    int64_t value = 0;

    (void)state;
    assert_true(int128_to_i64(parsed(".50", 5, 2), &value)); /* no zero before the point */
    assert_int_equal(value, 50);
    assert_true(int128_to_i64(parsed("-.5", 5, 2), &value));
    assert_int_equal(value, -50);
    assert_true(int128_to_i64(parsed("7", 5, 2), &value));
    assert_int_equal(value, 700);
    assert_true(int128_to_i64(parsed("7.", 5, 2), &value));
    assert_int_equal(value, 700);
    assert_true(int128_to_i64(parsed("-0", 5, 2), &value));
    assert_int_equal(value, 0);
    assert_true(
        int128_to_i64(parsed("000000000000000000000000000000000000000000999.99", 5, 2), &value));
    assert_int_equal(value, 99999);
}

static void what_does_not_fit_is_no_decimal(void **state)
{
    const struct {
        const char *text;
        uint8_t     precision, scale;
    } bad[]    = {{"", 5, 2},
                  {"-", 5, 2},
                  {".", 5, 2},
                  {"1.234", 5, 2},
                  {"1000", 5, 2},
                  {"999.999", 5, 2},
                  {"1e3", 5, 2},
                  {"+1", 5, 2},
                  {" 1", 5, 2},
                  {"1.2.3", 5, 2},
                  {"--1", 5, 2},
                  {"1,5", 5, 2},
                  {"100000000000000000000000000000000000000", 38, 0},
                  {"340282366920938463463374607431768211456", 38, 0}, /* 2^128 */
                  {"340282366920938463463374607431768211457", 38, 0},
                  {"1", 38, 38},
                  {"9999999999999999999999999999999999999999999999999", 38, 0}};
    Int128 out = {7, 7};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (decimal_parse(str_from_c(bad[i].text), bad[i].precision, bad[i].scale, &out))
            fail_msg("read: %s", bad[i].text);
    assert_int_equal(out.lower, 7); /* untouched */
}

static void wide_integers_convert_and_compare(void **state)
{
    int64_t value = 0;
    Int128  big   = {.lower = 0, .upper = 1};

    (void)state;
    assert_true(int128_to_i64(int128_from_i64(INT64_MIN), &value));
    assert_int_equal(value, INT64_MIN);
    assert_false(int128_to_i64(big, &value));
    assert_false(int128_to_i64((Int128){.lower = (uint64_t)1 << 63, .upper = 0}, &value));
    assert_false(int128_to_i64(int128_negate(big), &value));
    assert_int_equal(int128_compare(int128_from_i64(-1), int128_from_i64(0)), -1);
    assert_int_equal(int128_compare(big, int128_from_i64(INT64_MAX)), 1);
    assert_int_equal(int128_compare(int128_negate(big), int128_from_i64(INT64_MIN)), -1);
    assert_int_equal(int128_compare(int128_negate(int128_negate(big)), big), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read_back_from_both_names),
        cmocka_unit_test(names_are_those_of_delta_and_spark),
        cmocka_unit_test(other_names_are_no_types),
        cmocka_unit_test(a_value_takes_the_width_libduckdb_uses),
        cmocka_unit_test(a_type_fits_another_as_the_table_says_in_both_directions),
        cmocka_unit_test(decimals_are_written_with_exactly_their_scale),
        cmocka_unit_test(decimals_are_read_as_sql_server_writes_them),
        cmocka_unit_test(what_does_not_fit_is_no_decimal),
        cmocka_unit_test(wide_integers_convert_and_compare),
    };
    return RUN_TESTS(tests);
}
