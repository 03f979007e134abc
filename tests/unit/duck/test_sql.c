/* SQL text: quoting, names of types, and what libduckdb is told to read. Needs no instance. */
#include "duck_test.h"

static int arena_setup(void **state)
{
    *state = arena_new();
    return 0;
}

static int arena_teardown(void **state)
{
    arena_close(*state);
    return 0;
}

static void identifiers_and_literals_double_their_quote(void **state)
{
    Arena *arena = *state;
    assert_str_is(duck_quote_identifier(arena, STR("name")), "\"name\"");
    assert_str_is(duck_quote_identifier(arena, STR("na\"m'e")), "\"na\"\"m'e\"");
    assert_str_is(duck_quote_identifier(arena, STR("\"")), "\"\"\"\"");
    assert_str_is(duck_quote_identifier(arena, STR("\xF0\x9F\x90\xA2; --")),
                  "\"\xF0\x9F\x90\xA2; --\"");
    assert_str_is(duck_quote_literal(arena, STR("te'x\"t")), "'te''x\"t'");
    assert_str_is(duck_quote_literal(arena, STR("")), "''");
    assert_str_is(duck_quote_literal(arena, STR("\\'")), "'\\'''");
}

static void every_type_has_its_name(void **state)
{
    Arena *arena = *state;
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_BOOLEAN)), "BOOLEAN");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_SHORT)), "SMALLINT");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_INTEGER)), "INTEGER");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_LONG)), "BIGINT");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_FLOAT)), "FLOAT");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_DOUBLE)), "DOUBLE");
    assert_str_is(duck_type_name(arena, DECIMAL_TYPE(38, 0)), "DECIMAL(38,0)");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_DATE)), "DATE");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_TIMESTAMP)), "TIMESTAMP WITH TIME ZONE");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_TIMESTAMP_NTZ)), "TIMESTAMP");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_STRING)), "VARCHAR");
    assert_str_is(duck_type_name(arena, COLUMN_TYPE(TYPE_BINARY)), "BLOB");
}

static void data_files_are_read_with_the_schema_spelled_out(void **state)
{
    Arena       *arena     = *state;
    const Column columns[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR("")},
                              {STR("it's"), DECIMAL_TYPE(5, 2), STR("")}};
    Schema       schema    = {columns, 2};
    Str          paths[]   = {STR("/a/it's.parquet"), STR("/a/[x]*?.parquet")};
    assert_str_is(duck_read_parquet_sql(arena, paths, 2, &schema),
                  "read_parquet(['/a/it''s.parquet', '/a/[[]x][*][?].parquet'], "
                  "hive_partitioning=false, schema=MAP{"
                  "'id': {name: 'id', type: 'BIGINT', default_value: NULL}, "
                  "'it''s': {name: 'it''s', type: 'DECIMAL(5,2)', default_value: NULL}})");
    assert_str_is(duck_read_parquet_sql(arena, NULL, 0, &schema),
                  "(SELECT CAST(NULL AS BIGINT) AS \"id\", CAST(NULL AS DECIMAL(5,2)) AS \"it's\" "
                  "WHERE false)");
}

static void the_version_is_the_pinned_one(void **state)
{
    (void)state;
    assert_string_equal(duck_version(), "v1.5.6");
}

/* Opening costs nothing until something is asked of it. */
static void an_unused_duck_opens_nothing(void **state)
{
    DuckOptions options = {.memory_limit_bytes = 100 * MEGABYTE,
                           .temp_directory     = STR("/nonexistent")};
    Duck       *duck    = NULL;
    Err         err     = ERR_INIT;
    (void)state;
    for (int i = 0; i < 1000; i++) { /* an instance takes 10 ms and more */
        assert_ok(duck_open(&options, &duck, &err), &err);
        duck_close(duck);
    }
    duck_close(NULL);
}

#define sql_test(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        sql_test(identifiers_and_literals_double_their_quote),
        sql_test(every_type_has_its_name),
        sql_test(data_files_are_read_with_the_schema_spelled_out),
        sql_test(the_version_is_the_pinned_one),
        sql_test(an_unused_duck_opens_nothing),
    };
    return RUN_TESTS(tests);
}
