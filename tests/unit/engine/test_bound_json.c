#include "support/test_support.h"

#include "engine/bound_json.h"
#include "source/mssql_text.h"

typedef struct Form {
    SqlTypeKind type;
    const char *text, *json; /* text NULL: NULL */
} Form;

/* state.md 18: what JSON has a type for is no text, and numbers keep their digits. */
static void each_type_has_its_form_and_comes_back(void **state)
{
    static const Form forms[] = {
        {SQL_TYPE_BIGINT, "9223372036854775808", "9223372036854775808"},
        {SQL_TYPE_TINYINT, "0", "0"},
        {SQL_TYPE_REAL, "0.10000000149011612", "0.10000000149011612"},
        {SQL_TYPE_FLOAT, "1e+300", "1e+300"},
        {SQL_TYPE_BIT, "1", "true"},
        {SQL_TYPE_DECIMAL, "0.0000000000", "\"0.0000000000\""},
        {SQL_TYPE_NVARCHAR, "\xC3\xA9\"", "\"\\u00e9\\\"\""},
        {SQL_TYPE_VARBINARY, "0x00ab", "\"0x00ab\""},
        {SQL_TYPE_INT, NULL, "null"},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        KeyColumn      columns[] = {{.sql_type = forms[i].type}, {.sql_type = SQL_TYPE_INT}};
        TableCut       cut       = {.column_count = 2, .columns = columns, .can_bound = true};
        KeyPart        parts[]   = {{.text    = forms[i].text ? str_from_c(forms[i].text) : STR(""),
                                     .is_null = !forms[i].text},
                                    {.text = STR("7")}};
        const KeyPart *back;
        Err            err  = ERR_INIT;
        Str            json = bound_to_json(arena, &cut, parts);

        assert_str_is(json, str_c(arena, str_printf(arena, "[%s, 7]", forms[i].json)));
        assert_true(bound_from_json(arena, &cut, json, &back, &err));
        assert_int_equal(back[0].is_null, !forms[i].text);
        if (forms[i].text) assert_str_is(back[0].text, forms[i].text);
    }
    arena_close(arena);
}

static void a_bound_of_other_columns_is_refused_without_its_value(void **state)
{
    static const char *const bad[]  = {"\"secret\"", "[1, 2]", "1.5.", "", "{}"};
    Arena                   *arena  = arena_new();
    KeyColumn                column = {.sql_type = SQL_TYPE_INT};
    const Str                name   = STR("id");
    TableCut       cut = {.names = &name, .column_count = 1, .columns = &column, .can_bound = true};
    const KeyPart *back;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Err err = ERR_INIT;

        assert_false(bound_from_json(arena, &cut, str_from_c(bad[i]), &back, &err));
        assert_err(&err, ERR_SCHEMA_CHANGED, "does not fit the columns it was cut on (id)");
        assert_err(&err, ERR_SCHEMA_CHANGED, "begin anew");
        assert_null(strstr(err.message, "secret"));
    }
    Err err = ERR_INIT;
    assert_true(bound_from_json(arena, &cut, STR("null"), &back, &err));
    assert_null(back); /* open */
    assert_str_is(bound_to_json(arena, &cut, NULL), "null");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest cases[] = {
        cmocka_unit_test(each_type_has_its_form_and_comes_back),
        cmocka_unit_test(a_bound_of_other_columns_is_refused_without_its_value)};

    return RUN_TESTS(cases);
}
