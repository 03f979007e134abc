/* Statistics as they are written (delta.md 2.4, test 3 of 7): every form, every bound that has
 * to be left out. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define TREE "\xF0\x9F\x8C\x8A" /* U+1F30A, four bytes */
#define LAST "\xF4\x8F\xBF\xBF" /* U+10FFFF */

static Str bound(Arena *arena, ColumnType type, const char *text, bool is_max)
{
    Str out;
    return stats_format_bound(type, str_from_c(text), is_max, 32, arena, &out) ? out : STR("-");
}

static void numbers_keep_every_digit(void **state)
{
    Arena *arena = arena_new();
    (void)state;
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_LONG), "-9223372036854775808", false),
                  "-9223372036854775808");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_SHORT), "0", true), "0");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_DOUBLE), "1e+300", true), "1e+300");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_DOUBLE), "inf", true), "-");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_FLOAT), "nan", true), "-");
    assert_str_is(
        bound(arena, DECIMAL_TYPE(38, 10), "1234567890123456789012345678.1234567890", true),
        "1234567890123456789012345678.1234567890");
    assert_str_is(
        bound(arena, DECIMAL_TYPE(38, 38), "0.00000000000000000000000000000000000001", false),
        "0.00000000000000000000000000000000000001");
    assert_str_is(bound(arena, DECIMAL_TYPE(10, 4), "61.25", true), "61.2500");
    assert_str_is(bound(arena, DECIMAL_TYPE(10, 4), "-0.5", true), "-0.5000");
    assert_str_is(bound(arena, DECIMAL_TYPE(10, 4), "0", true), "0.0000");
    assert_str_is(bound(arena, DECIMAL_TYPE(10, 0), "1234", true), "1234");
    assert_str_is(bound(arena, DECIMAL_TYPE(10, 0), "1.2E3", true), "-");
    arena_close(arena);
}

static void times_are_cut_down_below_and_up_above(void **state)
{
    Arena *arena = arena_new();
    (void)state;
    const ColumnType ntz = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), utc = COLUMN_TYPE(TYPE_TIMESTAMP);
    assert_str_is(bound(arena, ntz, "2020-01-31 23:59:59", true), "\"2020-01-31T23:59:59.000\"");
    assert_str_is(bound(arena, ntz, "2020-01-31 23:59:59.123", true),
                  "\"2020-01-31T23:59:59.123\"");
    assert_str_is(bound(arena, ntz, "2020-01-31 23:59:59.123001", false),
                  "\"2020-01-31T23:59:59.123\"");
    assert_str_is(bound(arena, ntz, "2020-01-31 23:59:59.123001", true),
                  "\"2020-01-31T23:59:59.124\"");
    assert_str_is(bound(arena, ntz, "2020-01-31 23:59:59.999001", true),
                  "\"2020-02-01T00:00:00.000\"");
    assert_str_is(bound(arena, ntz, "1899-12-31 23:59:59.999999", false),
                  "\"1899-12-31T23:59:59.999\"");
    assert_str_is(bound(arena, ntz, "1899-12-31 23:59:59.999999", true),
                  "\"1900-01-01T00:00:00.000\"");
    assert_str_is(bound(arena, utc, "2020-01-31 23:59:59.123001+00", false),
                  "\"2020-01-31T23:59:59.123Z\"");
    assert_str_is(bound(arena, utc, "2020-01-31 23:59:59.123001+00", true),
                  "\"2020-01-31T23:59:59.124Z\"");
    assert_str_is(bound(arena, ntz, "9999-12-31 23:59:59.999999", true),
                  "-"); /* the year 10000 has no form */
    assert_str_is(bound(arena, ntz, "9999-12-31 23:59:59.999999", false),
                  "\"9999-12-31T23:59:59.999\"");
    assert_str_is(bound(arena, ntz, "infinity", true), "-");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_DATE), "0001-01-01", false), "\"0001-01-01\"");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_DATE), "10000-01-01", true), "-");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_DATE), "0044-03-15 (BC)", false), "-");
    arena_close(arena);
}

static Str repeat(Arena *arena, const char *piece, int count)
{
    Buf buf = buf_new(arena, 0);
    for (int i = 0; i < count; i++)
        buf_append_c(&buf, piece);
    return buf_str(&buf);
}

static Str join3(Arena *arena, Str a, const char *b, Str c)
{
    return str_printf(arena, "%.*s%s%.*s", STR_ARG(a), b, STR_ARG(c));
}

static Str max_of(Arena *arena, Str text)
{
    Str out;
    return stats_string_max(text, 32, arena, &out) ? out : STR("none");
}

static void strings_up_to_the_prefix_stand_as_they_are(void **state)
{
    Arena *arena = arena_new();
    (void)state;
    Str text = repeat(arena, TREE, 32);
    assert_true(str_equal(stats_string_min(text, 32), text));
    assert_true(str_equal(max_of(arena, text), text));
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_STRING), "it's \"x\"\n", true),
                  "\"it's \\\"x\\\"\\n\"");
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_STRING), "\xFF", true),
                  "-"); /* cut within a character */
    assert_str_is(bound(arena, COLUMN_TYPE(TYPE_STRING), "", false), "\"\"");
    arena_close(arena);
}

static void longer_strings_are_cut_to_a_bound(void **state)
{
    Arena *arena = arena_new();
    (void)state;
    Str a32 = repeat(arena, "a", 32), tail = repeat(arena, "b", 40);
    assert_true(str_equal(stats_string_min(join3(arena, a32, "b", tail), 32), a32));
    assert_true(str_equal(max_of(arena, join3(arena, a32, "b", tail)),
                          join3(arena, a32, "\x7F", STR_EMPTY)));
    assert_true(str_equal(max_of(arena, join3(arena, a32, "\x7F", tail)),
                          join3(arena, a32, LAST, STR_EMPTY)));
    assert_true(str_equal(max_of(arena, join3(arena, a32, TREE, tail)),
                          join3(arena, a32, LAST, STR_EMPTY)));
    /* nothing is above U+10FFFF: one character more */
    assert_true(str_equal(max_of(arena, join3(arena, a32, LAST "b", tail)),
                          join3(arena, a32, LAST "\x7F", STR_EMPTY)));
    Str short_end = join3(arena, a32, LAST, STR_EMPTY);
    assert_true(str_equal(max_of(arena, short_end), short_end));
    assert_str_is(max_of(arena, join3(arena, a32, "", repeat(arena, LAST, 40))), "none");
    Str to_64 = join3(arena, a32, "", repeat(arena, LAST, 32));
    assert_true(str_equal(max_of(arena, to_64), to_64)); /* it ends at k = 64 */
    arena_close(arena);
}

/* A bound is a bound, whatever stands at the cut. */
static void string_bounds_hold_for_random_text(void **state)
{
    const char *const pieces[] = {"a", "\x7F", LAST, TREE, "\xC3\xA9", "~", "z", "\x7E"};
    (void)state;
    FOR_EACH_SEED (seed, 3000) {
        Rng   *rng   = rng_new(seed);
        Arena *arena = arena_new();
        Buf    buf   = buf_new(arena, 0);
        for (int64_t i = rng_between(rng, 0, 70); i-- > 0;)
            buf_append_c(&buf, rng_below(rng, 2) ? LAST : pieces[rng_below(rng, COUNT_OF(pieces))]);
        Str text = buf_str(&buf), max;
        assert_true(str_compare(stats_string_min(text, 32), text) <= 0);
        assert_true(utf8_is_valid(stats_string_min(text, 32)));
        if (stats_string_max(text, 32, arena, &max)) {
            assert_true(str_compare(max, text) >= 0);
            assert_true(utf8_is_valid(max));
        }
        arena_close(arena);
        rng_close(rng);
    }
}

static Str written_stats(World *world, const Column *columns, size_t column_count,
                         const DeltaProperty *property, RowStream *rows)
{
    static int       table_number; /* tables of one program have names of their own */
    DeltaTable      *table  = NULL;
    DeltaCreate      spec   = {.schema         = {columns, column_count},
                               .description    = STR_EMPTY,
                               .properties     = property,
                               .property_count = property != NULL};
    Str              path   = str_printf(world->arena, "lake/stats%d", table_number++);
    DeltaAppend      append = {.rows = rows, .purpose = STR("test"), .user_metadata = STR_EMPTY};
    DeltaOutcome     outcome;
    const DeltaFile *file;
    size_t           at = 0;
    assert_ok(delta_table_create(&world->context, path, &spec, &table, NULL, &world->err),
              &world->err);
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &world->err), &world->err);
    assert_true(delta_table_next_file(table, &at, &file));
    Str stats = delta_file_get_stats(file, world->arena);
    delta_table_close(table);
    return stats;
}

static void a_file_says_what_it_holds(void **state)
{
    World      *world     = world_new(state);
    Column      columns[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                             {STR("empty"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY},
                             {STR("flag"), COLUMN_TYPE(TYPE_BOOLEAN), STR_EMPTY},
                             {STR("x"), COLUMN_TYPE(TYPE_DOUBLE), STR_EMPTY},
                             {STR("q\"uote.d"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY}};
    Schema      schema    = {columns, COUNT_OF(columns)};
    RowBuilder *builder   = row_builder_new(world->arena, &schema);
    for (int64_t i = 0; i < 3; i++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, i);
        row_builder_set_i64(builder, 2, i & 1);
        row_builder_set_double(builder, 3, i == 1 ? -0.0 : 1.5 * (double)-i);
        if (i > 0) row_builder_set_str(builder, 4, STR("v"));
    }
    RowBlock block = row_builder_block(builder);
    assert_str_is(written_stats(world, columns, COUNT_OF(columns), NULL,
                                row_stream_of_block(world->arena, &schema, &block)),
                  "{\"numRecords\":3,\"minValues\":{\"id\":0,\"x\":-3.0,\"q\\\"uote.d\":\"v\"},"
                  "\"maxValues\":{\"id\":2,\"x\":0.0,\"q\\\"uote.d\":\"v\"},"
                  "\"nullCount\":{\"id\":0,\"empty\":3,\"flag\":0,\"x\":0,\"q\\\"uote.d\":1}}");
    world_close(world);
}

/* NaN in the first, a middle and the last row group: no bounds, whatever the footer says (5.4). */
static void a_column_with_nan_has_no_bounds(void **state)
{
    World        *world  = world_new(state);
    Column        column = {STR("x"), COLUMN_TYPE(TYPE_DOUBLE), STR_EMPTY};
    Schema        schema = {&column, 1};
    const int64_t groups = 3, rows_a_group = 122880;
    for (int64_t nan_in = 0; nan_in < groups; nan_in++) {
        size_t  count  = (size_t)(groups * rows_a_group);
        double *values = mem_alloc(count * sizeof *values);
        for (size_t i = 0; i < count; i++)
            values[i] = (double)i;
        values[(size_t)(nan_in * rows_a_group) + 5] = strtod("nan", NULL);
        ColumnVector vector                         = {.type = column.type, .data = values};
        RowBlock     block = {.columns = &vector, .column_count = 1, .row_count = count};
        assert_str_is(
            written_stats(world, &column, 1, NULL,
                          row_stream_of_block(world->arena, &schema, &block)),
            "{\"numRecords\":368640,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"x\":0}}");
        mem_free(values);
    }
    world_close(world);
}

static void the_table_says_which_columns(void **state)
{
    World *world = world_new(state);
    Column columns[40];
    Schema schema = {columns, COUNT_OF(columns)};
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        columns[i] = (Column){str_printf(world->arena, i == 38 ? "_own%zu" : "c%zu", i),
                              COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    RowBuilder *builder = row_builder_new(world->arena, &schema);
    row_builder_begin(builder);
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        row_builder_set_i64(builder, i, (int64_t)i);
    RowBlock block = row_builder_block(builder);

    Str stats = written_stats(world, columns, COUNT_OF(columns), NULL,
                              row_stream_of_block(world->arena, &schema, &block));
    assert_true(str_find(stats, STR("\"c31\":31"), 0) >= 0);
    assert_true(str_find(stats, STR("\"c32\""), 0) < 0);
    assert_true(str_find(stats, STR("\"_own38\":38"), 0) >= 0); /* ours, wherever it stands */
    DeltaProperty few = {STR("delta.dataSkippingNumIndexedCols"), STR("2")};
    stats             = written_stats(
                    world, columns, 5, &few,
                    row_stream_of_block(world->arena, &(Schema){columns, 5}, &(RowBlock){block.columns, 5, 1}));
    assert_str_is(stats, "{\"numRecords\":1,\"minValues\":{\"c0\":0,\"c1\":1},\"maxValues\":{"
                         "\"c0\":0,\"c1\":1},\"nullCount\":{\"c0\":0,\"c1\":0}}");
    DeltaProperty named = {STR("delta.dataSkippingStatsColumns"), STR("c3, `c1`")};
    stats               = written_stats(
                      world, columns, 5, &named,
                      row_stream_of_block(world->arena, &(Schema){columns, 5}, &(RowBlock){block.columns, 5, 1}));
    assert_str_is(stats, "{\"numRecords\":1,\"minValues\":{\"c1\":1,\"c3\":3},\"maxValues\":{"
                         "\"c1\":1,\"c3\":3},\"nullCount\":{\"c1\":0,\"c3\":0}}");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_every_digit),
        cmocka_unit_test(times_are_cut_down_below_and_up_above),
        cmocka_unit_test(strings_up_to_the_prefix_stand_as_they_are),
        cmocka_unit_test(longer_strings_are_cut_to_a_bound),
        property_test(string_bounds_hold_for_random_text),
        cmocka_unit_test(a_file_says_what_it_holds),
        cmocka_unit_test(a_column_with_nan_has_no_bounds),
        cmocka_unit_test(the_table_says_which_columns),
    };
    return RUN_DELTA_TESTS(tests);
}
