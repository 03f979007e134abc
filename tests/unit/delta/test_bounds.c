/* Statistics read back: a file is passed over only when they prove that it cannot hold what is
 * looked for. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define COMMIT_0                                                                                   \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"                             \
    "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{"       \
    "\\\"type\\\":\\\"struct\\\",\\\"fields\\\":["                                                 \
    "{\\\"name\\\":\\\"Id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}" \
    "},"                                                                                           \
    "{\\\"name\\\":\\\"s\\\",\\\"type\\\":\\\"string\\\",\\\"nullable\\\":true,\\\"metadata\\\":{" \
    "}},"                                                                                          \
    "{\\\"name\\\":\\\"d\\\",\\\"type\\\":\\\"decimal(38,2)\\\",\\\"nullable\\\":true,"            \
    "\\\"metadata\\\":{}},"                                                                        \
    "{\\\"name\\\":\\\"at\\\",\\\"type\\\":\\\"timestamp\\\",\\\"nullable\\\":true,"               \
    "\\\"metadata\\\":{}},"                                                                        \
    "{\\\"name\\\":\\\"day\\\",\\\"type\\\":\\\"date\\\",\\\"nullable\\\":true,\\\"metadata\\\":{" \
    "}},"                                                                                          \
    "{\\\"name\\\":\\\"f\\\",\\\"type\\\":\\\"float\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}" \
    "},"                                                                                           \
    "{\\\"name\\\":\\\"b\\\",\\\"type\\\":\\\"boolean\\\",\\\"nullable\\\":true,\\\"metadata\\\":" \
    "{}}"                                                                                          \
    "]}\",\"partitionColumns\":[],\"configuration\":{}}}\n"

typedef struct Fixture {
    World           *world;
    DeltaTable      *table;
    const DeltaFile *file;
} Fixture;

/* A table with one file of these statistics. */
static Fixture with_stats(void **state, const char *stats)
{
    World     *world = world_new(state);
    Buf        buf   = buf_new(world->arena, 0);
    JsonWriter json  = json_writer(&buf, false, false);
    json_str(&json, str_from_c(stats));
    put_commit(world, "t", 0,
               str_printf(world->arena,
                          "%s{\"add\":{\"path\":\"f\",\"partitionValues\":{},\"size\":1,"
                          "\"modificationTime\":1,\"dataChange\":true,\"stats\":%.*s}}\n",
                          COMMIT_0, STR_ARG(buf_str(&buf)))
                   .ptr);
    Fixture fixture = {.world = world, .table = open_table(world, "t")};
    size_t  at      = 0;
    assert_true(delta_table_next_file(fixture.table, &at, &fixture.file));
    return fixture;
}

static void close_fixture(Fixture *fixture)
{
    delta_table_close(fixture->table);
    world_close(fixture->world);
}

static bool may(const Fixture *fixture, const char *column, const char *low, bool low_in,
                const char *high, bool high_in)
{
    Str low_str = str_from_c(low), high_str = str_from_c(high);
    return delta_file_may_hold_range(fixture->table, fixture->file, str_from_c(column),
                                     low ? &low_str : NULL, low_in, high ? &high_str : NULL,
                                     high_in);
}

static void ranges_are_compared_as_the_columns_type(void **state)
{
    Fixture fixture = with_stats(
        state, "{\"numRecords\":5,\"minValues\":{\"Id\":-10,\"s\":\"b\",\"d\":-"
               "99999999999999999999999999999999999.25,\"at\":\"2026-01-01T00:00:00.000Z\",\"day\":"
               "\"2026-01-01\",\"f\":0.1,\"b\":false},"
               "\"maxValues\":{\"Id\":9,\"s\":\"m\",\"d\":12.5,\"at\":\"2026-01-02T00:00:00.123Z\","
               "\"day\":\"2026-02-01\",\"f\":2.5,\"b\":false},\"nullCount\":{\"Id\":0,\"s\":2}}");
    assert_true(may(&fixture, "Id", "9", true, NULL, false));
    assert_false(may(&fixture, "Id", "9", false, NULL, false));
    assert_false(may(&fixture, "Id", "10", true, "20", true));  /* as text "10" is below "9" */
    assert_true(may(&fixture, "ID", NULL, false, "-10", true)); /* names ignore case */
    assert_false(may(&fixture, "Id", NULL, false, "-10", false));
    assert_true(may(&fixture, "Id", "-5", true, "5", true));
    assert_false(may(&fixture, "s", "n", true, NULL, false));
    assert_false(may(&fixture, "s", NULL, false, "b", false));
    assert_true(may(&fixture, "s", "c", true, "c", true));
    assert_false(may(&fixture, "d", "12.51", true, NULL, false));
    assert_true(may(&fixture, "d", "12.50", true, NULL, false));
    assert_false(may(&fixture, "d", NULL, false, "-99999999999999999999999999999999999.26", true));
    assert_true(may(&fixture, "at", "2026-01-02T00:00:00.123999+00:00", true, NULL,
                    false)); /* the writer may have cut it off */
    assert_false(may(&fixture, "at", "2026-01-02T00:00:00.124000+00:00", true, NULL, false));
    assert_false(may(&fixture, "at", NULL, false, "2025-12-31T23:59:59.999999+00:00", true));
    assert_true(may(&fixture, "day", "2026-02-01", true, NULL, false));
    assert_false(may(&fixture, "day", "2026-02-02", true, NULL, false));
    assert_true(may(&fixture, "f", NULL, false, "0.10000000149011612", true)); /* 0.1 as a float */
    assert_true(may(&fixture, "b", "true", true, NULL, false)); /* booleans have no bounds */
    assert_true(may(&fixture, "none", "1", true, NULL, false));
    assert_true(
        may(&fixture, "Id", "x", true, NULL, false)); /* what cannot be understood proves nothing */
    assert_true(may(&fixture, "Id", NULL, false, NULL, false));
    assert_false(delta_file_may_hold_null(fixture.table, fixture.file, STR("id")));
    assert_true(delta_file_may_hold_null(fixture.table, fixture.file, STR("s")));
    assert_true(delta_file_may_hold_null(fixture.table, fixture.file, STR("d")));
    close_fixture(&fixture);
}

static void bounds_come_back_as_text(void **state)
{
    Fixture fixture = with_stats(
        state, "{\"numRecords\":2,\"minValues\":{\"d\":-0.25,\"s\":\"it's "
               "\\\"x\\\"\"},\"maxValues\":{\"s\":\"z\"},\"nullCount\":{\"s\":1}}");
    DeltaBounds bounds;
    assert_true(delta_file_find_bounds(fixture.table, fixture.file, STR("D"), fixture.world->arena,
                                       &bounds));
    assert_str_is(bounds.min, "-0.25");
    assert_null(bounds.max.ptr);
    assert_int_equal(bounds.null_count, -1);
    assert_true(delta_file_find_bounds(fixture.table, fixture.file, STR("s"), fixture.world->arena,
                                       &bounds));
    assert_str_is(bounds.min, "it's \"x\"");
    assert_int_equal(bounds.null_count, 1);
    assert_false(delta_file_find_bounds(fixture.table, fixture.file, STR("at"),
                                        fixture.world->arena, &bounds));
    close_fixture(&fixture);
}

static void a_column_that_is_all_null_is_in_no_range(void **state)
{
    Fixture fixture = with_stats(
        state, "{\"numRecords\":2,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"Id\":2}}");
    assert_false(may(&fixture, "Id", "1", true, NULL, false));
    assert_true(may(&fixture, "s", "1", true, NULL, false));
    assert_true(delta_file_may_hold_null(fixture.table, fixture.file, STR("Id")));
    close_fixture(&fixture);
}

/* Other writers' statistics are not to be trusted further than they can be read. */
static void statistics_that_cannot_be_read_prove_nothing(void **state)
{
    const char *const broken[] = {
        "",
        "{\"numRecords\":2,\"minValues\":{\"Id\":",
        "{\"stats_json\":\"{\\\"numRecords\\\":3}\"}",
        "[]",
        "null",
        "{\"minValues\":{\"Id\":\"abc\"},\"maxValues\":{\"Id\":\"abc\"},\"nullCount\":{\"Id\":-1}}",
        "{\"minValues\":[1],\"maxValues\":7,\"nullCount\":\"x\"}"};
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        Fixture fixture = with_stats(state, broken[i]);
        assert_true(may(&fixture, "Id", "100", true, "200", true));
        assert_true(delta_file_may_hold_null(fixture.table, fixture.file, STR("Id")));
        close_fixture(&fixture);
    }
}

static void row_counts_come_from_the_statistics(void **state)
{
    (void)state;
    assert_int_equal(stats_row_count(STR("{\"numRecords\":17,\"minValues\":{}}")), 17);
    assert_int_equal(stats_row_count(STR("{\"numRecords\":17}")), 17);
    assert_int_equal(
        stats_row_count(STR("{ \"minValues\":{\"numRecords\":5}, \"numRecords\" : 18 }")), 18);
    assert_int_equal(stats_row_count(STR("{\"numRecords\":1.5}")), -1);
    assert_int_equal(stats_row_count(STR("{\"numRecords\":-4}")), -1);
    assert_int_equal(stats_row_count(STR("{\"numRecords\":")), -1);
    assert_int_equal(stats_row_count(STR("")), -1);
}

/* What our own writer says of a file must let every row of it be found. */
static void no_row_of_a_written_file_is_ever_missed(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "lake/t");
    append_rows(world, table, -50, 100);
    const DeltaFile *file;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    RowStream *rows = test_rows(world->arena, -50, 100);
    RowBlock   block;
    assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
    for (size_t row = 0; row < block.row_count; row++)
        for (size_t column = 0; column < block.column_count; column++) {
            Str value = column_format(world->arena, &block.columns[column], row);
            assert_true(delta_file_may_hold_range(table, file, rows->schema.columns[column].name,
                                                  &value, true, &value, true));
        }
    row_stream_close(rows);
    Str below = STR("-51"), above = STR("50");
    assert_false(delta_file_may_hold_range(table, file, STR("id"), NULL, false, &below, true));
    assert_false(delta_file_may_hold_range(table, file, STR("id"), &above, true, NULL, false));
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_compared_as_the_columns_type),
        cmocka_unit_test(bounds_come_back_as_text),
        cmocka_unit_test(a_column_that_is_all_null_is_in_no_range),
        cmocka_unit_test(statistics_that_cannot_be_read_prove_nothing),
        cmocka_unit_test(row_counts_come_from_the_statistics),
        cmocka_unit_test(no_row_of_a_written_file_is_ever_missed),
    };
    return RUN_DELTA_TESTS(tests);
}
