/* A table from its first version to its first checkpoints, read back at every step. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

static void a_created_table_has_its_schema_and_is_empty(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "lake/t");

    assert_int_equal(delta_table_get_version(table), 0);
    assert_int_equal(delta_table_get_file_count(table), 0);
    assert_int_equal(count_rows(world, table), 0);
    Schema want = test_schema(world->arena);
    assert_true(schema_equal(delta_table_get_schema(table), &want));
    assert_str_is(delta_table_get_schema(table)->columns[0].comment, "the key");
    assert_str_is(delta_table_get_description(table), "a test");
    Str value;
    assert_true(delta_table_find_property(table, STR("MSSQL_CDC.Schema_Version"), &value));
    assert_str_is(value, "1");
    assert_int_equal(delta_table_get_min_reader_version(table), 3);
    assert_int_equal(delta_table_get_min_writer_version(table), 7);
    delta_table_close(table);
    world_close(world);
}

static void rows_appended_are_read_at_every_version(void **state)
{
    World      *world = world_new_local(state);
    DeltaTable *table = create_table(world, "lake/t");

    for (int64_t version = 1; version <= 25; version++) {
        append_rows(world, table, version * 10, 10);
        DeltaTable *again = open_table(world, "lake/t");
        assert_int_equal(delta_table_get_version(again), version);
        assert_int_equal(delta_table_get_file_count(again), version);
        assert_int_equal(count_rows(world, again), version * 10);
        delta_table_close(again);
    }
    assert_true(
        file_exists(world, log_path(world, "lake/t", "00000000000000000010.checkpoint.parquet")));
    assert_true(
        file_exists(world, log_path(world, "lake/t", "00000000000000000020.checkpoint.parquet")));
    assert_int_equal(world->lines.warning_count, 0);
    assert_int_equal(query_table(world, table, "SELECT count(DISTINCT \"__$file\") FROM %s"), 25);
    assert_int_equal(query_table(world, table, "SELECT max(\"__$row\") FROM %s"), 9);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_created_table_has_its_schema_and_is_empty),
        cmocka_unit_test(rows_appended_are_read_at_every_version),
    };
    return RUN_DELTA_TESTS(tests);
}
