#include "support/test_support.h"

#include "types/row_block.h"

static void a_value_is_null_when_its_bit_is_clear(void **state)
{
    const uint64_t     validity[] = {~(uint64_t)0 ^ 2, 1};
    const int64_t      data[66]   = {0};
    const ColumnVector column     = {COLUMN_TYPE(TYPE_LONG), data, validity};
    const ColumnVector full       = {COLUMN_TYPE(TYPE_LONG), data, NULL};

    (void)state;
    assert_false(column_is_null(&column, 0));
    assert_true(column_is_null(&column, 1));
    assert_false(column_is_null(&column, 63));
    assert_false(column_is_null(&column, 64));
    assert_true(column_is_null(&column, 65));
    assert_false(column_is_null(&full, 65));
}

static void values_are_read_in_their_width(void **state)
{
    const uint8_t booleans[] = {0, 1};
    const int16_t shorts[]   = {-7, INT16_MAX};
    const int32_t integers[] = {-8, INT32_MIN};
    const int64_t longs[]    = {-9, INT64_MIN};
    const float   floats[]   = {0, 0.5f};
    const double  doubles[]  = {0, 0.25};
    const Str     texts[]    = {STR(""), STR("b")};
    const Int128  wide[]     = {{1, 0}, {5, -1}};

    (void)state;
    assert_true(column_bool(&(ColumnVector){COLUMN_TYPE(TYPE_BOOLEAN), booleans, NULL}, 1));
    assert_int_equal(column_i64(&(ColumnVector){COLUMN_TYPE(TYPE_SHORT), shorts, NULL}, 0), -7);
    assert_int_equal(column_i64(&(ColumnVector){COLUMN_TYPE(TYPE_INTEGER), integers, NULL}, 1),
                     INT32_MIN);
    assert_int_equal(column_i64(&(ColumnVector){COLUMN_TYPE(TYPE_DATE), integers, NULL}, 0), -8);
    assert_int_equal(column_i64(&(ColumnVector){COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), longs, NULL}, 1),
                     INT64_MIN);
    assert_true(column_double(&(ColumnVector){COLUMN_TYPE(TYPE_FLOAT), floats, NULL}, 1) == 0.5);
    assert_true(column_double(&(ColumnVector){COLUMN_TYPE(TYPE_DOUBLE), doubles, NULL}, 1) == 0.25);
    assert_str_is(column_str(&(ColumnVector){COLUMN_TYPE(TYPE_STRING), texts, NULL}, 1), "b");
    assert_int_equal(column_decimal(&(ColumnVector){DECIMAL_TYPE(4, 0), shorts, NULL}, 0).upper,
                     -1);
    assert_int_equal(column_decimal(&(ColumnVector){DECIMAL_TYPE(9, 0), integers, NULL}, 0).lower,
                     (uint64_t)-8);
    assert_int_equal(column_decimal(&(ColumnVector){DECIMAL_TYPE(18, 0), longs, NULL}, 0).lower,
                     (uint64_t)-9);
    assert_int_equal(column_decimal(&(ColumnVector){DECIMAL_TYPE(38, 0), wide, NULL}, 1).lower, 5);
}

static void sizes_are_counted_as_facts_count_them(void **state) /* algorithms.md 11 */
{
    const int64_t  longs[9]   = {0};
    const Str      texts[3]   = {STR("abc"), {NULL, 0}, STR("de")};
    const uint64_t validity[] = {5};

    (void)state;
    assert_int_equal(column_size_bytes(&(ColumnVector){COLUMN_TYPE(TYPE_LONG), longs, NULL}, 9),
                     9 * 8 + 2);
    assert_int_equal(
        column_size_bytes(&(ColumnVector){COLUMN_TYPE(TYPE_STRING), texts, validity}, 3),
        3 * 4 + 5 + 1);
    assert_int_equal(column_size_bytes(&(ColumnVector){COLUMN_TYPE(TYPE_LONG), NULL, NULL}, 0), 0);
}

static Str formatted(Arena *arena, ColumnType type, const void *value)
{
    return column_format(arena, &(ColumnVector){type, value, NULL}, 0);
}

static void values_are_formatted_for_people_and_json(void **state)
{
    Arena        *arena  = arena_new();
    const int64_t us     = INT64_C(1790603700123456);
    const int32_t days   = -719162; /* 0001-01-01 */
    const float   real   = 0.1f;
    const double  number = 1e300;
    const Int128  amount = {.lower = (uint64_t)-1234, .upper = -1};
    const Str     bytes  = STR("\x00\xAB");
    const Str     empty  = STR("");
    const uint8_t yes    = 1;

    (void)state;
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_BOOLEAN), &yes), "true");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_LONG), &us), "1790603700123456");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), &us),
                  "2026-09-28T13:55:00.123456");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_TIMESTAMP), &us),
                  "2026-09-28T13:55:00.123456+00:00");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_DATE), &days), "0001-01-01");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_FLOAT), &real), "0.10000000149011612");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_DOUBLE), &number), "1e+300");
    assert_str_is(formatted(arena, DECIMAL_TYPE(38, 2), &amount), "-12.34");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_BINARY), &bytes), "0x00ab");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_BINARY), &empty), "0x");
    assert_str_is(formatted(arena, COLUMN_TYPE(TYPE_STRING), &empty), "");
    arena_close(arena);
}

static void a_stream_of_a_block_gives_it_once(void **state)
{
    Arena             *arena     = arena_new();
    const int64_t      values[]  = {1, 2};
    const Column       columns[] = {{.name = STR("a"), .type = COLUMN_TYPE(TYPE_LONG)}};
    const Schema       schema    = {columns, 1};
    const ColumnVector vector    = {COLUMN_TYPE(TYPE_LONG), values, NULL};
    const RowBlock     block     = {&vector, 1, 2};
    RowStream         *stream    = row_stream_of_block(arena, &schema, &block);
    RowBlock           got       = {NULL, 0, 0};
    Err                err       = ERR_INIT;

    (void)state;
    assert_true(schema_equal(&stream->schema, &schema));
    assert_ok(row_stream_next(stream, &got, &err), &err);
    assert_int_equal(got.row_count, 2);
    assert_int_equal(column_i64(&got.columns[0], 1), 2);
    assert_ok(row_stream_next(stream, &got, &err), &err);
    assert_int_equal(got.row_count, 0);
    row_stream_close(stream);

    stream = row_stream_empty(arena, &schema);
    assert_ok(row_stream_next(stream, &got, &err), &err);
    assert_int_equal(got.row_count, 0);
    row_stream_close(stream);
    row_stream_close(NULL);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_null_when_its_bit_is_clear),
        cmocka_unit_test(values_are_read_in_their_width),
        cmocka_unit_test(sizes_are_counted_as_facts_count_them),
        cmocka_unit_test(values_are_formatted_for_people_and_json),
        cmocka_unit_test(a_stream_of_a_block_gives_it_once),
    };
    return RUN_TESTS(tests);
}
