#include "support/test_support.h"

#include "types/row_block.h"

enum { FLAG, SMALL, INT, BIG, REAL, NUMBER, DAY, AT, TEXT, RAW, D4, D9, D18, D38, COLUMN_COUNT };

static const Column columns[COLUMN_COUNT] = {
    [FLAG]   = {.name = STR_INIT("flag"), .type = {.kind = TYPE_BOOLEAN}},
    [SMALL]  = {.name = STR_INIT("small"), .type = {.kind = TYPE_SHORT}},
    [INT]    = {.name = STR_INIT("int"), .type = {.kind = TYPE_INTEGER}},
    [BIG]    = {.name = STR_INIT("big"), .type = {.kind = TYPE_LONG}},
    [REAL]   = {.name = STR_INIT("real"), .type = {.kind = TYPE_FLOAT}},
    [NUMBER] = {.name = STR_INIT("number"), .type = {.kind = TYPE_DOUBLE}},
    [DAY]    = {.name = STR_INIT("day"), .type = {.kind = TYPE_DATE}},
    [AT]     = {.name = STR_INIT("at"), .type = {.kind = TYPE_TIMESTAMP_NTZ}},
    [TEXT]   = {.name = STR_INIT("text"), .type = {.kind = TYPE_STRING}},
    [RAW]    = {.name = STR_INIT("raw"), .type = {.kind = TYPE_BINARY}},
    [D4]     = {.name = STR_INIT("d4"), .type = {TYPE_DECIMAL, 4, 2, NULL}},
    [D9]     = {.name = STR_INIT("d9"), .type = {TYPE_DECIMAL, 9, 2, NULL}},
    [D18]    = {.name = STR_INIT("d18"), .type = {TYPE_DECIMAL, 18, 2, NULL}},
    [D38]    = {.name = STR_INIT("d38"), .type = {TYPE_DECIMAL, 38, 2, NULL}},
};

static const Schema schema = {columns, COLUMN_COUNT};

static void set_row(RowBuilder *builder, int64_t i)
{
    char text[32];

    (void)snprintf(text, sizeof text, "row %d", (int)i);
    row_builder_begin(builder);
    row_builder_set_i64(builder, FLAG, i % 2);
    row_builder_set_i64(builder, SMALL, -i);
    row_builder_set_i64(builder, INT, i * 1000);
    row_builder_set_i64(builder, BIG, i * INT64_C(10000000000));
    row_builder_set_double(builder, REAL, (double)i / 2);
    row_builder_set_double(builder, NUMBER, (double)i / 4);
    row_builder_set_i64(builder, DAY, i);
    row_builder_set_i64(builder, AT, i * 1000000);
    row_builder_set_str(builder, TEXT, str_from_c(text)); /* copied: `text` goes */
    row_builder_set_str(builder, RAW, STR("\0\1"));
    for (size_t column = D4; column <= D38; column++)
        row_builder_set_decimal(builder, column, int128_from_i64(-i));
}

static void what_was_set_is_read_from_the_block(void **state)
{
    Arena      *arena   = arena_new();
    RowBuilder *builder = row_builder_new(arena, &schema);

    (void)state;
    for (int64_t i = 0; i < 1000; i++)
        set_row(builder, i);
    RowBlock block = row_builder_block(builder);
    assert_int_equal(block.row_count, 1000);
    assert_int_equal(block.column_count, COLUMN_COUNT);
    for (size_t i = 0; i < 1000; i++) {
        const ColumnVector *got = block.columns;
        assert_int_equal(column_bool(&got[FLAG], i), i % 2);
        assert_int_equal(column_i64(&got[SMALL], i), -(int64_t)i);
        assert_int_equal(column_i64(&got[INT], i), i * 1000);
        assert_int_equal(column_i64(&got[BIG], i), i * INT64_C(10000000000));
        assert_true(column_double(&got[REAL], i) == (double)i / 2);
        assert_true(column_double(&got[NUMBER], i) == (double)i / 4);
        assert_int_equal(column_i64(&got[DAY], i), i);
        assert_int_equal(column_i64(&got[AT], i), i * 1000000);
        assert_str_is(column_str(&got[TEXT], i), str_printf(arena, "row %zu", i).ptr);
        assert_int_equal(column_str(&got[RAW], i).len, 2);
        for (size_t column = D4; column <= D38; column++)
            assert_int_equal(
                int128_compare(column_decimal(&got[column], i), int128_from_i64(-(int64_t)i)), 0);
    }
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        assert_null(block.columns[column].validity);
    arena_close(arena);
}

static void what_was_not_set_is_null(void **state)
{
    Arena      *arena   = arena_new();
    RowBuilder *builder = row_builder_new(arena, &schema);

    (void)state;
    for (int i = 0; i < 300; i++) {
        row_builder_begin(builder);
        if (i % 3 == 0) row_builder_set_i64(builder, BIG, i);
    }
    RowBlock block = row_builder_block(builder);
    assert_non_null(block.columns[BIG].validity);
    for (size_t i = 0; i < 300; i++) {
        assert_int_equal(column_is_null(&block.columns[BIG], i), i % 3 != 0);
        assert_true(column_is_null(&block.columns[TEXT], i));
        assert_int_equal(((const Str *)block.columns[TEXT].data)[i].len, 0);
    }
    arena_close(arena);
}

static void a_block_without_rows_is_a_block(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    RowBlock block = row_builder_block(row_builder_new(arena, &schema));
    assert_int_equal(block.row_count, 0);
    assert_int_equal(block.column_count, COLUMN_COUNT);
    arena_close(arena);
}

static void a_builder_goes_on_after_a_block(void **state)
{
    Arena      *arena   = arena_new();
    RowBuilder *builder = row_builder_new(arena, &schema);

    (void)state;
    set_row(builder, 1);
    RowBlock one = row_builder_block(builder);
    for (int64_t i = 2; i < 200; i++)
        set_row(builder, i);
    RowBlock all = row_builder_block(builder);
    assert_int_equal(one.row_count, 1);
    assert_int_equal(column_i64(&one.columns[INT], 0), 1000);
    assert_int_equal(all.row_count, 199);
    assert_int_equal(column_i64(&all.columns[INT], 0), 1000);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_set_is_read_from_the_block),
        cmocka_unit_test(what_was_not_set_is_null),
        cmocka_unit_test(a_block_without_rows_is_a_block),
        cmocka_unit_test(a_builder_goes_on_after_a_block),
    };
    return RUN_TESTS(tests);
}
