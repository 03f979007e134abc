#include "support/test_support.h"

#include "types/column_list.h"

static void names_and_types_are_read(void **state)
{
    Arena *arena = arena_new();
    Schema schema;
    Err    err = ERR_INIT;

    (void)state;
    assert_ok(column_list_parse(STR(" id BIGINT,`a ``b``, c` string ,amount:decimal( 18 , 2 ),\n"
                                    "at timestamp_ntz, \xc3\xa9 Binary"),
                                arena, &schema, &err),
              &err);
    assert_int_equal(schema.column_count, 5);
    assert_str_is(schema.columns[0].name, "id");
    assert_int_equal(schema.columns[0].type.kind, TYPE_LONG);
    assert_str_is(schema.columns[1].name, "a `b`, c");
    assert_int_equal(schema.columns[1].type.kind, TYPE_STRING);
    assert_str_is(schema.columns[2].name, "amount");
    assert_true(column_type_equal(schema.columns[2].type, DECIMAL_TYPE(18, 2)));
    assert_int_equal(schema.columns[3].type.kind, TYPE_TIMESTAMP_NTZ);
    assert_str_is(schema.columns[4].name, "\xc3\xa9");
    arena_close(arena);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[]    = {{"", "no name"},
                    {"id", "column id has no type"},
                    {"id INT,", "no name"},
                    {"id INT, , b INT", "no name"},
                    {"id INT NOT NULL", "type INT NOT NULL; allowed: BOOLEAN"},
                    {"id TINYINT", "TINYINT"},
                    {"d DECIMAL(39,2)", "DECIMAL(39,2)"},
                    {"d DECIMAL(9,2", "DECIMAL(9,2"},
                    {"`id INT", "backquotes"},
                    {"id INT, ID BIGINT", "twice"},
                    {"`` INT", "no name"}};
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Schema schema;
        Err    err = ERR_INIT;
        assert_false(column_list_parse(str_from_c(cases[i].text), arena, &schema, &err));
        assert_err(&err, ERR_USAGE, cases[i].message);
    }
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_types_are_read),
        cmocka_unit_test(what_is_wrong_is_named),
    };

    return RUN_TESTS(tests);
}
