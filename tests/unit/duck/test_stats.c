/* Which bounds of a written file can be trusted: the traps of delta.md 5.4, and the forms of 5.2.
 */
#include "duck_test.h"

#include <math.h>

#define GROUP_ROWS ((size_t)122880)
#define ALL_ROWS   (GROUP_ROWS * 2 + 5000) /* three row groups */

static DuckFile write_generated(DuckWorld *world, GeneratedRows *rows)
{
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              path = str_printf(world->arena, "%s/%p.parquet", world->dir, (void *)rows);

    assert_ok(duck_parquet_write(world->duck, &rows->base, path, &options, world->arena, &file,
                                 &world->err),
              &world->err);
    arena_close(rows->arena);
    return file;
}

/* --- NaN, in whatever row group it is --- */

typedef struct Odd {
    size_t row;
    double value;
} Odd;

static void fill_floats_with_an_odd_one(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    const Odd *odd   = rows->arg;
    double     value = row == odd->row ? odd->value : (double)(row % 1000);

    row_builder_set_i64(builder, 0, (int64_t)row);
    row_builder_set_double(builder, 1, value);
    row_builder_set_double(builder, 2, value);
    row_builder_set_double(builder, 3, 1.5);
}

static const Column float_columns[] = {{{"id", 2}, {TYPE_LONG, 0, 0, NULL}, {"", 0}},
                                       {{"f", 1}, {TYPE_FLOAT, 0, 0, NULL}, {"", 0}},
                                       {{"d", 1}, {TYPE_DOUBLE, 0, 0, NULL}, {"", 0}},
                                       {{"clean", 5}, {TYPE_DOUBLE, 0, 0, NULL}, {"", 0}}};

static void a_float_column_with_nan_or_infinity_has_no_bounds(void **state)
{
    DuckWorld   *world    = *state;
    const size_t at[]     = {5, GROUP_ROWS + 5, GROUP_ROWS * 2 + 5, ALL_ROWS - 1};
    const double values[] = {NAN, -NAN, INFINITY, -INFINITY};

    for (size_t i = 0; i < COUNT_OF(at); i++)
        for (size_t k = 0; k < COUNT_OF(values); k++) {
            Odd           odd  = {at[i], values[k]};
            GeneratedRows rows = generated_rows(float_columns, 4, ALL_ROWS, 10000,
                                                fill_floats_with_an_odd_one);
            rows.arg           = &odd;
            DuckFile file      = write_generated(world, &rows);
            assert_int_equal(file.row_count, ALL_ROWS);
            assert_str_is(file.columns[0].min, "0");
            assert_false(file.columns[1].has_bounds);
            assert_false(file.columns[2].has_bounds);
            assert_true(file.columns[3].has_bounds);
            assert_str_is(file.columns[3].max, "1.5");
        }
}

static void a_float_column_without_them_has_bounds(void **state)
{
    DuckWorld    *world = *state;
    Odd           none  = {SIZE_MAX, 0};
    GeneratedRows rows  = generated_rows(float_columns, 4, ALL_ROWS, 10000,
                                         fill_floats_with_an_odd_one);
    rows.arg            = &none;
    DuckFile file       = write_generated(world, &rows);

    for (size_t i = 0; i < 4; i++)
        assert_true(file.columns[i].has_bounds);
    assert_str_is(file.columns[0].max, "250759");
    assert_str_is(file.columns[1].min, "0.0");
    assert_str_is(file.columns[2].max, "999.0");
}

static void nan_in_a_small_file_is_seen_too(void **state)
{
    DuckWorld *world = *state;
    for (size_t at = 0; at < 3; at++) {
        Odd           odd  = {at, NAN};
        GeneratedRows rows = generated_rows(float_columns, 4, 3, 10, fill_floats_with_an_odd_one);
        rows.arg           = &odd;
        DuckFile file      = write_generated(world, &rows);
        assert_false(file.columns[1].has_bounds);
        assert_false(file.columns[2].has_bounds);
    }
}

static void copied_queries_are_checked_as_well(void **state)
{
    DuckWorld       *world   = *state;
    Schema           schema  = {float_columns + 2, 2};
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              sql = str_printf(
                     world->arena,
                     "SELECT CASE WHEN i = %zu THEN 'nan'::DOUBLE ELSE i END::DOUBLE, i FROM range(%zu) AS r(i)",
                     GROUP_ROWS + 7, ALL_ROWS);

    assert_ok(duck_copy_query(world->session, sql, &schema, path_in(world, "q.parquet"), &options,
                              world->arena, &file, &world->err),
              &world->err);
    assert_int_equal(file.row_count, ALL_ROWS);
    assert_false(file.columns[0].has_bounds);
    assert_true(file.columns[1].has_bounds);
}

/* --- NULL --- */

static void fill_nulls(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    (void)rows;
    row_builder_set_i64(builder, 0, (int64_t)row);
    if (row < GROUP_ROWS || row >= GROUP_ROWS * 2)
        row_builder_set_i64(builder, 2, (int64_t)row); /* a group of NULL alone */
    if (row % 2 == 1) row_builder_set_double(builder, 3, 1.0);
    if (row >= GROUP_ROWS * 2) row_builder_set_double(builder, 4, (double)row);
}

static void null_counts_are_exact_and_all_null_has_no_bounds(void **state)
{
    DuckWorld    *world     = *state;
    const Column  columns[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR("")},
                               {STR("never"), COLUMN_TYPE(TYPE_STRING), STR("")},
                               {STR("not in the middle"), COLUMN_TYPE(TYPE_LONG), STR("")},
                               {STR("half"), COLUMN_TYPE(TYPE_DOUBLE), STR("")},
                               {STR("at the end"), COLUMN_TYPE(TYPE_DOUBLE), STR("")}};
    GeneratedRows rows      = generated_rows(columns, 5, ALL_ROWS, 2048, fill_nulls);
    DuckFile      file      = write_generated(world, &rows);

    assert_int_equal(file.columns[0].null_count, 0);
    assert_true(file.columns[0].has_bounds);
    assert_int_equal(file.columns[1].null_count, ALL_ROWS);
    assert_false(file.columns[1].has_bounds);
    assert_int_equal(file.columns[2].null_count, GROUP_ROWS);
    if (file.columns[2].has_bounds) { /* not needed, but never wrong */
        assert_str_is(file.columns[2].min, "0");
        assert_str_is(file.columns[2].max, "250759");
    }
    assert_int_equal(file.columns[3].null_count, ALL_ROWS / 2);
    assert_true(file.columns[3].has_bounds);
    assert_int_equal(file.columns[4].null_count, GROUP_ROWS * 2);
}

/* --- text --- */

static DuckFile write_texts(DuckWorld *world, const Str *texts, size_t count)
{
    const Column     columns[] = {{STR("s"), COLUMN_TYPE(TYPE_STRING), STR("")}};
    Schema           schema    = {columns, 1};
    RowBuilder      *builder   = row_builder_new(world->arena, &schema);
    DuckWriteOptions options   = write_options();
    DuckFile         file;

    for (size_t i = 0; i < count; i++) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, texts[i]);
    }
    RowBlock   block = row_builder_block(builder);
    RowStream *rows  = row_stream_of_block(world->arena, &schema, &block);
    assert_ok(duck_parquet_write(world->duck, rows, path_in(world, "s.parquet"), &options,
                                 world->arena, &file, &world->err),
              &world->err);
    return file;
}

static Str repeat(DuckWorld *world, const char *start, const char *text, size_t count)
{
    Str all = str_from_c(start);
    for (size_t i = 0; i < count; i++)
        all = str_printf(world->arena, "%.*s%s", STR_ARG(all), text);
    return all;
}

/* Whatever the strings: a bound that is given is valid text and does bound them. */
static void bounds_of_strings_hold_or_are_absent(void **state)
{
    DuckWorld *world         = *state;
    Str        texts[]       = {STR(""),
                                STR("a"),
                                STR("\0"),
                                STR("a\0b"),
                                STR("\x01\x7F"),
                                STR("'\"\\\n\t"),
                                STR("\xC3\xA9"),
                                STR("\xF4\x8F\xBF\xBF"),
                                repeat(world, "", "z", 255),
                                repeat(world, "", "z", 256),
                                repeat(world, "", "z", 257),
                                repeat(world, "", "\x7F", 300),
                                repeat(world, "a", "\xC3\xA9", 200),
                                repeat(world, "", "\xC3\xA9", 200),
                                repeat(world, "", "\xE2\x82\xAC", 100),
                                repeat(world, "ab", "\xF0\x9F\x98\x80", 90),
                                repeat(world, "", "\xF4\x8F\xBF\xBF", 80),
                                repeat(world, "", "b", 5000)};
    size_t     bounded_count = 0;

    for (size_t i = 0; i < COUNT_OF(texts); i++)
        for (size_t k = 0; k < COUNT_OF(texts); k++) {
            Str      both[] = {texts[i], texts[k]};
            DuckFile file   = write_texts(world, both, 2);
            if (!file.columns[0].has_bounds) continue;
            bounded_count++;
            assert_true(utf8_is_valid(file.columns[0].min));
            assert_true(utf8_is_valid(file.columns[0].max));
            assert_true(file.columns[0].min.len <= 256 && file.columns[0].max.len <= 256);
            for (size_t n = 0; n < 2; n++) {
                assert_true(str_compare(file.columns[0].min, both[n]) <= 0);
                assert_true(str_compare(file.columns[0].max, both[n]) >= 0);
            }
        }
    assert_true(bounded_count > COUNT_OF(texts) * COUNT_OF(texts) / 2);
}

static void short_strings_are_their_own_bounds(void **state)
{
    DuckWorld *world   = *state;
    Str        texts[] = {STR("it's \"b\""), STR("\xF0\x9F\x98\x80"), STR("a\\b\n")};
    DuckFile   file    = write_texts(world, texts, 3);
    assert_true(file.columns[0].has_bounds);
    assert_str_is(file.columns[0].min, "a\\b\n");
    assert_str_is(file.columns[0].max, "\xF0\x9F\x98\x80");
}

/* --- the forms of 5.2 --- */

static void bounds_are_printed_as_documented(void **state)
{
    DuckWorld       *world     = *state;
    const Column     columns[] = {{STR("bool"), COLUMN_TYPE(TYPE_BOOLEAN), STR("")},
                                  {STR("d"), DECIMAL_TYPE(10, 4), STR("")},
                                  {STR("d38"), DECIMAL_TYPE(38, 10), STR("")},
                                  {STR("date"), COLUMN_TYPE(TYPE_DATE), STR("")},
                                  {STR("ntz"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR("")},
                                  {STR("ts"), COLUMN_TYPE(TYPE_TIMESTAMP), STR("")},
                                  {STR("f"), COLUMN_TYPE(TYPE_FLOAT), STR("")},
                                  {STR("bin"), COLUMN_TYPE(TYPE_BINARY), STR("")},
                                  {STR("d0"), DECIMAL_TYPE(5, 0), STR("")}};
    const char      *want[][2] = {{NULL, NULL},
                                  {"-0.5000", "61.2500"},
                                  {"-0.0000000001", "9999999999999999999999999999.9999999999"},
                                  {"0001-01-01", "9999-12-31"},
                                  {"0001-01-01 00:00:00", "2020-01-01 00:00:49.123456"},
                                  {"0001-01-01 00:00:00+00", "2020-01-01 00:00:49.123456+00"},
                                  {"0.1", "1e+30"},
                                  {NULL, NULL},
                                  {"-7", "1234"}};
    Schema           schema    = {columns, COUNT_OF(columns)};
    DuckWriteOptions options   = write_options();
    DuckFile         file;
    Str              sql = STR(
                     "VALUES (false, -0.5, -0.0000000001::DECIMAL(38,10), DATE '0001-01-01', TIMESTAMP "
                                  "'0001-01-01', "
                                  "TIMESTAMPTZ '0001-01-01 00:00:00+00', 0.1, '\\x00'::BLOB, -7), "
                                  "(true, 61.25, 9999999999999999999999999999.9999999999::DECIMAL(38,10), DATE '9999-12-31', "
                                  "TIMESTAMP '2020-01-01 00:00:49.123456', TIMESTAMPTZ '2020-01-01 00:00:49.123456+00', "
                                  "1e30, '\\xFF'::BLOB, 1234)");

    assert_ok(duck_copy_query(world->session, sql, &schema, path_in(world, "f.parquet"), &options,
                              world->arena, &file, &world->err),
              &world->err);
    for (size_t i = 0; i < schema.column_count; i++) {
        if (!want[i][0]) continue;
        assert_true(file.columns[i].has_bounds);
        assert_str_is(file.columns[i].min, want[i][0]);
        assert_str_is(file.columns[i].max, want[i][1]);
    }
}

/* Row groups bounded in bytes are smaller; their statistics add up all the same. */
static void fill_wide(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    static const char filler[1000] = {0};
    Buf               text         = buf_new(rows->arena, 0);
    buf_printf(&text, "%08zu", row);
    buf_append_bytes(&text, filler, sizeof(filler));
    row_builder_set_i64(builder, 0, (int64_t)row);
    row_builder_set_str(builder, 1, buf_str(&text));
    row_builder_set_double(builder, 2, row == 3 ? (double)NAN : 1.0);
}

static void row_groups_bounded_in_bytes_keep_statistics_right(void **state)
{
    DuckWorld       *world     = *state;
    const Column     columns[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR("")},
                                  {STR("s"), COLUMN_TYPE(TYPE_STRING), STR("")},
                                  {STR("d"), COLUMN_TYPE(TYPE_DOUBLE), STR("")}};
    GeneratedRows    rows      = generated_rows(columns, 3, 20000, 1500, fill_wide);
    DuckWriteOptions options   = write_options();
    DuckFile         file;
    Str              path = path_in(world, "w.parquet");

    options.row_group_bytes = 4 * MEGABYTE;
    assert_ok(duck_parquet_write(world->duck, &rows.base, path, &options, world->arena, &file,
                                 &world->err),
              &world->err);
    arena_close(rows.arena);
    assert_query(
        world,
        str_printf(
            world->arena,
            "SELECT count(DISTINCT row_group_id) BETWEEN 3 AND 10 FROM parquet_metadata('%.*s')",
            STR_ARG(path)),
        "true\n");
    assert_str_is(file.columns[0].min, "0");
    assert_str_is(file.columns[0].max, "19999");
    assert_false(file.columns[2].has_bounds);
    assert_true(!file.columns[1].has_bounds ||
                str_starts_with(file.columns[1].min, STR("00000000")));
}

/* Few rows, and yet several row groups: the last one's has_nan says nothing of the others. */
static void fill_huge(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    uint8_t *text = arena_alloc(rows->arena, MEGABYTE);
    uint64_t next = row + 1; /* no two alike, so that nothing is compressed away */

    for (size_t i = 0; i < MEGABYTE; i++) {
        next    = next * UINT64_C(6364136223846793005) + 1442695040888963407;
        text[i] = (uint8_t)('a' + (next >> 33) % 26);
    }
    row_builder_set_i64(builder, 0, (int64_t)row);
    row_builder_set_str(builder, 1, (Str){(char *)text, MEGABYTE});
    row_builder_set_double(builder, 2, row == 3 ? (double)NAN : 1.0);
}

static void nan_among_few_large_rows_is_seen_too(void **state)
{
    DuckWorld       *world     = *state;
    const Column     columns[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR("")},
                                  {STR("s"), COLUMN_TYPE(TYPE_STRING), STR("")},
                                  {STR("d"), COLUMN_TYPE(TYPE_DOUBLE), STR("")}};
    GeneratedRows    rows      = generated_rows(columns, 3, 16, 2, fill_huge);
    DuckWriteOptions options   = write_options();
    DuckFile         file;
    Str              path = path_in(world, "h.parquet");

    options.row_group_bytes = 4 * MEGABYTE;
    assert_ok(duck_parquet_write(world->duck, &rows.base, path, &options, world->arena, &file,
                                 &world->err),
              &world->err);
    arena_close(rows.arena);
    assert_query(world,
                 str_printf(world->arena,
                            "SELECT count(DISTINCT row_group_id) > 1 FROM parquet_metadata('%.*s')",
                            STR_ARG(path)),
                 "true\n");
    assert_false(file.columns[2].has_bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(a_float_column_with_nan_or_infinity_has_no_bounds),
        duck_test(a_float_column_without_them_has_bounds),
        duck_test(nan_in_a_small_file_is_seen_too),
        duck_test(copied_queries_are_checked_as_well),
        duck_test(null_counts_are_exact_and_all_null_has_no_bounds),
        duck_test(bounds_of_strings_hold_or_are_absent),
        duck_test(short_strings_are_their_own_bounds),
        duck_test(bounds_are_printed_as_documented),
        duck_test(row_groups_bounded_in_bytes_keep_statistics_right),
        duck_test(nan_among_few_large_rows_is_seen_too),
    };
    return RUN_TESTS(tests);
}
