#include "support/test_support.h"

#include "types/schema.h"

#define COLUMN(text, type_kind)                                \
    {                                                          \
        .name = STR_INIT(text), .type = {.kind = (type_kind) } \
    }

static void a_column_is_found_ignoring_case_unless_one_matches_exactly(void **state)
{
    const Column columns[] = {COLUMN("ID", TYPE_LONG), COLUMN("id", TYPE_STRING),
                              COLUMN("Amount", TYPE_DOUBLE)};
    const Schema schema    = {columns, COUNT_OF(columns)};

    (void)state;
    assert_int_equal(schema_find(&schema, STR("id")), 1);
    assert_int_equal(schema_find(&schema, STR("ID")), 0);
    assert_int_equal(schema_find(&schema, STR("Id")), 0);
    assert_int_equal(schema_find(&schema, STR("AMOUNT")), 2);
    assert_int_equal(schema_find(&schema, STR("amoun")), -1);
    assert_int_equal(schema_find(&(Schema){NULL, 0}, STR("id")), -1);
}

static void merging_appends_what_the_first_lacks(void **state)
{
    const Column first_columns[]  = {COLUMN("a", TYPE_LONG), COLUMN("b", TYPE_LONG)};
    const Column second_columns[] = {COLUMN("B", TYPE_STRING), COLUMN("c", TYPE_DATE),
                                     COLUMN("a", TYPE_STRING)};
    const Schema first            = {first_columns, COUNT_OF(first_columns)};
    const Schema second           = {second_columns, COUNT_OF(second_columns)};
    Arena       *arena            = arena_new();

    (void)state;
    Schema merged = schema_merge(arena, &first, &second);
    assert_int_equal(merged.column_count, 3);
    assert_str_is(merged.columns[0].name, "a");
    assert_int_equal(merged.columns[1].type.kind, TYPE_LONG);
    assert_str_is(merged.columns[2].name, "c");
    assert_int_equal(schema_merge(arena, &(Schema){NULL, 0}, &(Schema){NULL, 0}).column_count, 0);
    arena_close(arena);
}

static void a_copy_owns_its_names(void **state)
{
    char         name[]    = "abc";
    const Column columns[] = {
        {.name = {name, 3}, .type = DECIMAL_TYPE(10, 2), .comment = STR("why")}};
    Arena *arena = arena_new();

    (void)state;
    Schema copy = schema_copy(arena, &(Schema){columns, 1});
    name[0]     = 'x';
    assert_str_is(copy.columns[0].name, "abc");
    assert_str_is(copy.columns[0].comment, "why");
    arena_close(arena);
}

static void schemas_are_equal_by_names_and_types(void **state)
{
    const Column left[] = {{.name = STR("a"), .type = DECIMAL_TYPE(10, 2), .comment = STR("one")}};
    const Column same[] = {{.name = STR("a"), .type = DECIMAL_TYPE(10, 2), .comment = STR("two")}};
    const Column renamed[]  = {{.name = STR("A"), .type = DECIMAL_TYPE(10, 2)}};
    const Column rescaled[] = {{.name = STR("a"), .type = DECIMAL_TYPE(10, 3)}};

    (void)state;
    assert_true(schema_equal(&(Schema){left, 1}, &(Schema){same, 1}));
    assert_false(schema_equal(&(Schema){left, 1}, &(Schema){renamed, 1}));
    assert_false(schema_equal(&(Schema){left, 1}, &(Schema){rescaled, 1}));
    assert_false(schema_equal(&(Schema){left, 1}, &(Schema){left, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_is_found_ignoring_case_unless_one_matches_exactly),
        cmocka_unit_test(merging_appends_what_the_first_lacks),
        cmocka_unit_test(a_copy_owns_its_names),
        cmocka_unit_test(schemas_are_equal_by_names_and_types),
    };
    return RUN_TESTS(tests);
}
