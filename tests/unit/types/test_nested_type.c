/* Arrays, maps and structs: names, equality, copies, and what they are called in data files. */
#include "support/test_support.h"

#include "types/nested_type.h"
#include "types/schema.h"

static const NestedField point_fields[] = {
    {STR_INIT("x"), STR_INIT("col-1"), 3, {.kind = TYPE_INTEGER}},
    {STR_INIT("b `c`"), STR_INIT("col-2"), 4, {.kind = TYPE_DECIMAL, .precision = 9, .scale = 2}}};
static const NestedType  point       = {NESTED_STRUCT, point_fields, 2};
static const NestedField list_fields = {
    STR_INIT("element"), {0}, -1, {.kind = TYPE_NESTED, .nested = &point}};
static const NestedType  list         = {NESTED_ARRAY, &list_fields, 1};
static const NestedField map_fields[] = {
    {STR_INIT("key"), {0}, -1, {.kind = TYPE_STRING}},
    {STR_INIT("value"), {0}, -1, {.kind = TYPE_NESTED, .nested = &list}}};
static const NestedType map         = {NESTED_MAP, map_fields, 2};
static const ColumnType map_of_list = {.kind = TYPE_NESTED, .nested = &map};

static void a_nested_type_is_named_as_spark_names_it(void **state)
{
    static const NestedType nothing = {.kind = NESTED_VOID};
    Arena                  *arena   = arena_new();

    (void)state;
    assert_str_is(column_type_sql_name(arena, map_of_list),
                  "MAP<STRING, ARRAY<STRUCT<x: INT, `b ``c```: DECIMAL(9,2)>>>");
    assert_str_is(
        column_type_sql_name(arena, (ColumnType){.kind = TYPE_NESTED, .nested = &nothing}), "VOID");
    assert_str_is(column_type_sql_name(arena, COLUMN_TYPE(TYPE_NESTED)), "NESTED");
    arena_close(arena);
}

static void nested_types_are_equal_by_what_they_hold(void **state)
{
    NestedField other_fields[2] = {point_fields[0], point_fields[1]};
    NestedType  other           = {NESTED_STRUCT, other_fields, 2};
    ColumnType  left            = {.kind = TYPE_NESTED, .nested = &point};
    ColumnType  right           = {.kind = TYPE_NESTED, .nested = &other};

    (void)state;
    other_fields[0].physical_name = STR("elsewhere");
    assert_true(column_type_equal(left, right));
    other_fields[1].type = DECIMAL_TYPE(9, 3);
    assert_false(column_type_equal(left, right));
    other_fields[1] = point_fields[1];
    other_fields[0] = (NestedField){STR("y"), STR_EMPTY, -1, COLUMN_TYPE(TYPE_INTEGER)};
    assert_false(column_type_equal(left, right));
    other.field_count = 1;
    assert_false(column_type_equal(left, right));
    assert_false(column_type_equal(left, map_of_list));
    assert_false(column_type_equal(left, COLUMN_TYPE(TYPE_NESTED)));
    assert_true(column_type_equal(map_of_list, map_of_list));
}

static void a_copy_outlives_its_original(void **state)
{
    const Column column = {STR("m"), map_of_list, STR_EMPTY};
    Schema       copy;
    Arena       *arena = arena_new(), *gone = arena_new();

    (void)state;
    Schema first = schema_copy(gone, &(Schema){&column, 1});
    assert_ptr_not_equal(first.columns[0].type.nested, &map);
    copy = schema_copy(arena, &first);
    arena_close(gone);
    assert_true(column_type_equal(copy.columns[0].type, map_of_list));
    assert_true(column_type_has_physical_names(copy.columns[0].type));
    arena_close(arena);
}

static void data_files_call_fields_by_their_physical_names(void **state)
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(column_type_sql_name(arena, column_type_physical(arena, map_of_list)),
                  "MAP<STRING, ARRAY<STRUCT<`col-1`: INT, `col-2`: DECIMAL(9,2)>>>");
    assert_false(column_type_has_physical_names(column_type_physical(arena, map_of_list)));
    assert_false(column_type_has_physical_names(COLUMN_TYPE(TYPE_LONG)));
    assert_int_equal(column_type_physical(arena, COLUMN_TYPE(TYPE_LONG)).kind, TYPE_LONG);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nested_type_is_named_as_spark_names_it),
        cmocka_unit_test(nested_types_are_equal_by_what_they_hold),
        cmocka_unit_test(a_copy_outlives_its_original),
        cmocka_unit_test(data_files_call_fields_by_their_physical_names),
    };
    return RUN_TESTS(tests);
}
