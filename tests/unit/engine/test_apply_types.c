/* Silver's types stay when bronze's become wider: what fits goes over, what does not is never cut
 * (algorithms.md 6.5). */
#include "support/test_support.h"

#include "engine/apply_internal.h"
#include "support/apply_lake.h"

#define PUT(lake, ...) \
    put_rows((lake), (const BronzeRow[]){__VA_ARGS__}, COUNT_OF(((const BronzeRow[]){__VA_ARGS__})))

static void allow_widening(ApplyLake *lake)
{
    DeltaProperty property = {STR("delta.enableTypeWidening"), STR("true")};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1,
                              .user_metadata      = STR_EMPTY};
    DeltaOutcome  outcome;
    Lake         *in = lake->lake;
    assert_ok(delta_table_commit(bronze_get_table(lake->bronze), &commit, &outcome, NULL, &in->err),
              &in->err);
}

static Str type_of(ApplyLake *lake, const char *path)
{
    DeltaTable *table = NULL;
    Lake       *in    = lake->lake;
    assert_ok(delta_table_open(&in->delta, str_from_c(path), &table, &in->err), &in->err);
    const Schema *schema = delta_table_get_schema(table);
    Str           name   = column_type_sql_name(in->arena,
                                                schema->columns[schema_find(schema, STR("id"))].type);
    delta_table_close(table);
    return name;
}

static void remove_all(Lake *lake, const char *folder)
{
    StoreList list;
    assert_ok(store_list_after(lake->store, str_from_c(folder), STR_EMPTY, lake->arena, &list,
                               &lake->err),
              &lake->err);
    for (size_t i = 0; i < list.count; i++)
        assert_ok(store_remove(lake->store,
                               store_join(lake->arena, str_from_c(folder), list.entries[i].name),
                               &lake->err),
                  &lake->err);
}

static void silver_keeps_its_type_and_takes_what_fits(void **state) /* T6.10 */
{
    ApplyLake   lake = apply_lake_open(*state);
    ApplyResult result;

    PUT(&lake, {10, 0, 0, 0, 1, "a"}, {10, 0, 0, 0, 2, "b"});
    (void)apply_now(&lake);
    allow_widening(&lake);
    lake.key_type = COLUMN_TYPE(TYPE_LONG);
    PUT(&lake, {11, 1, 1, 2, 3, "c"}, {12, 1, 2, 1, 2, "b"});
    assert_str_is(type_of(&lake, BRONZE_PATH), "BIGINT");
    (void)apply_now(&lake);
    assert_silver(&lake, "1=a 3=c");
    assert_str_is(type_of(&lake, SILVER_PATH), "INT");

    /* what does not fit stops the call before it writes anything */
    PUT(&lake, {13, 1, 1, 2, INT64_C(5000000000), "big"}, {14, 1, 1, 2, 4, "d"});
    int64_t version = silver_version(&lake);
    for (int i = 0; i < 2; i++) {
        assert_false(try_apply(&lake, true, &result));
        assert_err(&lake.lake->err, ERR_SCHEMA_CHANGED,
                   "column id is INT in silver and BIGINT in bronze, where 1 changed rows have a "
                   "value that silver's type does not hold; nothing was written");
        assert_int_equal(silver_version(&lake), version);
        assert_silver(&lake, "1=a 3=c");
    }

    /* the way out that the message names */
    remove_all(lake.lake, SILVER_PATH "/_delta_log");
    remove_all(lake.lake, SILVER_PATH);
    (void)apply_now(&lake);
    assert_silver(&lake, "1=a 3=c 4=d 5000000000=big");
    assert_str_is(type_of(&lake, SILVER_PATH), "BIGINT");
    apply_lake_close(&lake);
}

/* One column of each pair: DuckDB's own casts would round or cut some of these values. */
static void no_value_is_rounded_or_cut(void **state)
{
    const struct {
        ColumnType  silver, bronze;
        const char *value;
        bool        fits;
    } cases[] = {
        {COLUMN_TYPE(TYPE_INTEGER), COLUMN_TYPE(TYPE_LONG), "2147483647", true},
        {COLUMN_TYPE(TYPE_INTEGER), COLUMN_TYPE(TYPE_LONG), "2147483648", false},
        {COLUMN_TYPE(TYPE_SHORT), COLUMN_TYPE(TYPE_INTEGER), "-32769", false},
        {DECIMAL_TYPE(10, 2), DECIMAL_TYPE(12, 4), "12345678.1200", true},
        {DECIMAL_TYPE(10, 2), DECIMAL_TYPE(12, 4), "12345678.1201", false},
        {DECIMAL_TYPE(10, 2), DECIMAL_TYPE(12, 2), "123456789.00", false},
        {COLUMN_TYPE(TYPE_FLOAT), COLUMN_TYPE(TYPE_DOUBLE), "0.5", true},
        {COLUMN_TYPE(TYPE_FLOAT), COLUMN_TYPE(TYPE_DOUBLE), "0.1", false},
        {COLUMN_TYPE(TYPE_DATE), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), "2026-01-01 00:00:00", true},
        {COLUMN_TYPE(TYPE_DATE), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), "2026-01-01 00:00:00.000001",
         false},
        /* nothing is looked at where the type is held anyway */
        {COLUMN_TYPE(TYPE_LONG), COLUMN_TYPE(TYPE_INTEGER), "7", true},
        {COLUMN_TYPE(TYPE_DATE), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), NULL, true},
    };
    Err          err     = ERR_INIT;
    DuckSession *session = NULL;
    Arena       *arena   = arena_new();

    assert_ok(duck_session_open(*state, &session, &err), &err);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Column   silver    = {STR("the \"c\""), cases[i].silver, STR_EMPTY};
        Column   bronze    = {STR("THE \"C\""), cases[i].bronze, STR_EMPTY};
        Schema   in_silver = {&silver, 1}, in_bronze = {&bronze, 1};
        ApplySql sql     = {.arena = arena, .silver = &in_silver};
        Str      value   = cases[i].value ? duck_quote_literal(arena, str_from_c(cases[i].value))
                                          : STR("NULL");
        Str      changes = str_printf(arena, "SELECT CAST(%.*s AS %.*s) AS \"THE \"\"C\"\"\"",
                                      STR_ARG(value), STR_ARG(duck_type_name(arena, bronze.type)));
        bool     ok      = apply_check_types(&sql, session, changes, &in_bronze, &err);
        if (ok != cases[i].fits)
            fail_msg("%s as %.*s: %s", cases[i].value,
                     STR_ARG(column_type_sql_name(arena, silver.type)), err.message);
        if (!ok) assert_err(&err, ERR_SCHEMA_CHANGED, "column the \"c\" is");
        err_clear(&err);
    }
    duck_session_close(session);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silver_keeps_its_type_and_takes_what_fits),
        cmocka_unit_test(no_value_is_rounded_or_cut),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
