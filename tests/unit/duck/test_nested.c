/* Fields within columns that data files call otherwise: read by their physical names, shown by
 * their own. */
#include "duck_test.h"

#include "duck/duck_internal.h"

#include "types/nested_type.h"

static const NestedField point_fields[] = {
    {STR_INIT("x y"), STR_INIT("col-1"), 3, {.kind = TYPE_INTEGER}},
    {STR_INIT("it's"), STR_INIT("col-2"), 4, {.kind = TYPE_STRING}}};
static const NestedType  point       = {NESTED_STRUCT, point_fields, 2};
static const NestedField list_fields = {
    STR_INIT("element"), {0}, -1, {.kind = TYPE_NESTED, .nested = &point}};
static const NestedType  list         = {NESTED_ARRAY, &list_fields, 1};
static const NestedField map_fields[] = {
    {STR_INIT("key"), {0}, -1, {.kind = TYPE_NESTED, .nested = &point}},
    {STR_INIT("value"), {0}, -1, {.kind = TYPE_NESTED, .nested = &list}}};
static const NestedType map = {NESTED_MAP, map_fields, 2};

static Str renamed(DuckWorld *world, const char *values, const NestedType *type)
{
    Str sql = duck_rename_fields_sql(world->arena,
                                     (ColumnType){.kind = TYPE_NESTED, .nested = type}, STR("v"));
    return str_printf(world->arena, "SELECT %.*s FROM (VALUES %s) t(i, v) ORDER BY i", STR_ARG(sql),
                      values);
}

#define POINT "{'col-1': 1, 'col-2': 'a'}"

static void fields_get_their_own_names(void **state)
{
    DuckWorld *world = *state;

    assert_query(
        world,
        renamed(world, "(1, " POINT "), (2, {'col-1': NULL, 'col-2': NULL}), (3, NULL)", &point),
        "{\"x y\": 1, \"it's\": \"a\"}\n{\"x y\": null, \"it's\": null}\nNULL\n");
    assert_query(world, renamed(world, "(1, [" POINT ", NULL]), (2, []), (3, NULL)", &list),
                 "[{\"x y\": 1, \"it's\": \"a\"}, null]\n[]\nNULL\n");
    assert_query(world,
                 renamed(world, "(1, MAP {" POINT ": [" POINT "]}), (2, MAP {}), (3, NULL)", &map),
                 "{\"{\\\"x y\\\": 1, \\\"it's\\\": \\\"a\\\"}\": [{\"x y\": 1, \"it's\": "
                 "\"a\"}]}\n{}\nNULL\n");
}

static void types_without_other_names_stay(void **state)
{
    DuckWorld        *world    = *state;
    const NestedField plain    = {STR_INIT("element"), {0}, -1, {.kind = TYPE_LONG}};
    const NestedType  of_longs = {NESTED_ARRAY, &plain, 1};

    assert_str_is(duck_rename_fields_sql(world->arena,
                                         (ColumnType){.kind = TYPE_NESTED, .nested = &of_longs},
                                         STR("f.a")),
                  "f.a");
    assert_str_is(duck_rename_fields_sql(world->arena, COLUMN_TYPE(TYPE_DATE), STR("f.a")), "f.a");
}

static int64_t first_with_other_names(DuckWorld *world, const Str *paths, size_t count)
{
    int64_t found = -1;
    Str     sql   = duck_find_file_with_other_names_sql(
              world->arena, paths, count, (ColumnType){.kind = TYPE_NESTED, .nested = &list});

    assert_ok(duck_query_i64(world->session, sql, &found, NULL, &world->err), &world->err);
    return found;
}

static void a_file_that_calls_a_field_otherwise_is_found(void **state)
{
    DuckWorld        *world     = *state;
    Str               paths[2]  = {str_printf(world->arena, "%s/right.parquet", world->dir),
                                   str_printf(world->arena, "%s/wrong.parquet", world->dir)};
    const char *const fields[2] = {"col-1", "was"};

    for (size_t i = 0; i < 2; i++) {
        Str sql = str_printf(
            world->arena,
            "COPY (SELECT [{'%s': 1, 'col-2': 'a'}] AS l) TO '%.*s' (FORMAT parquet, "
            "FIELD_IDS {l: {__duckdb_field_id: 2, element: {'%s': 3, 'col-2': 4}}})",
            fields[i], STR_ARG(paths[i]), fields[i]);
        assert_ok(duck_execute(world->session, sql, NULL, &world->err), &world->err);
    }
    assert_int_equal(first_with_other_names(world, paths, 1), 0);
    assert_int_equal(first_with_other_names(world, paths, 2), 2);
    assert_int_equal(first_with_other_names(world, paths + 1, 1), 1);
    assert_int_equal(
        duck_find_file_with_other_names_sql(world->arena, paths, 1, COLUMN_TYPE(TYPE_LONG)).len, 0);
}

/* Damaged levels of a file make such lists (libduckdb gives them as they are). */
static void a_list_that_reaches_past_its_values_is_not_read(void **state)
{
    static const NestedField element = {STR_INIT("element"), {0}, -1, {.kind = TYPE_INTEGER}};
    static const NestedType  numbers = {NESTED_ARRAY, &element, 1};
    const ColumnType         type    = {.kind = TYPE_NESTED, .nested = &numbers};
    duckdb_logical_type      integer = duckdb_create_logical_type(DUCKDB_TYPE_INTEGER);
    duckdb_logical_type      lists   = duckdb_create_list_type(integer);
    duckdb_vector            vector  = duckdb_create_vector(lists, 2);
    duckdb_list_entry       *entries = duckdb_vector_get_data(vector);

    (void)state;
    assert_int_equal(duckdb_list_vector_reserve(vector, 4), DuckDBSuccess);
    assert_int_equal(duckdb_list_vector_set_size(vector, 3), DuckDBSuccess);
    entries[0] = (duckdb_list_entry){.offset = 0, .length = 2};
    entries[1] = (duckdb_list_entry){.offset = 2, .length = 1};
    assert_true(duck_nested_is_sound(vector, type, 2));
    entries[1].length = 2;
    assert_false(duck_nested_is_sound(vector, type, 2));
    assert_true(duck_nested_is_sound(vector, type, 1));
    entries[1] = (duckdb_list_entry){.offset = 4, .length = 1};
    assert_false(duck_nested_is_sound(vector, type, 2));
    entries[1] = (duckdb_list_entry){.offset = UINT64_MAX, .length = 2};
    assert_false(duck_nested_is_sound(vector, type, 2));
    duckdb_destroy_vector(&vector);
    duckdb_destroy_logical_type(&lists);
    duckdb_destroy_logical_type(&integer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_that_reaches_past_its_values_is_not_read),
        duck_test(fields_get_their_own_names),
        duck_test(types_without_other_names_stay),
        duck_test(a_file_that_calls_a_field_otherwise_is_found),
    };
    return RUN_TESTS(tests);
}
