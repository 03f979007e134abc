/* Which table a name means, and what its instances capture (algorithms.md 6.1; Q18 to Q22). */
#include "source_test.h"

#define HELP_COLUMNS                                                                             \
    "source_schema STRING, source_table STRING, capture_instance STRING, object_id INT, "        \
    "source_object_id INT, start_lsn BINARY, "                                                   \
    "end_lsn BINARY, supports_net_changes BOOLEAN, has_drop_pending BOOLEAN, role_name STRING, " \
    "index_name STRING, "                                                                        \
    "filegroup_name STRING, create_date TIMESTAMP_NTZ, index_column_list STRING, "               \
    "captured_column_list STRING"
#define HELP_ROW(schema, table, name, lsn, created, keys)                                  \
    schema "|" table "|" name "|1|2|" lsn "|NULL|true|NULL|NULL|pk|NULL|" created "|" keys \
           "|[id], [name]\n"
#define CAPTURED_COLUMNS                                                                       \
    "source_schema STRING, source_table STRING, capture_instance STRING, column_name STRING, " \
    "column_id INT, column_ordinal INT, "                                                      \
    "data_type STRING, character_maximum_length INT, numeric_precision SMALLINT, "             \
    "numeric_precision_radix SMALLINT, "                                                       \
    "numeric_scale INT, datetime_precision SMALLINT"
#define SOURCE_COLUMNS \
    "name STRING, column_id INT, is_computed BOOLEAN, is_nullable BOOLEAN, collation_name STRING"

#define CAPTURED                                                                                  \
    {                                                                                             \
        .expect = "sp_cdc_get_captured_columns", .columns = CAPTURED_COLUMNS,                     \
        .rows = "dbo|orders|dbo_orders|id|1|1|int|NULL|10|10|0|NULL\ndbo|orders|dbo_orders|Name|" \
                "2|2|varchar|16|NULL|NULL|NULL|NULL\n"                                            \
                "dbo|orders|dbo_orders|price|3|3|decimal|NULL|10|10|2|NULL\ndbo|orders|dbo_"      \
                "orders|total|4|4|money|NULL|19|10|4|NULL\n"                                      \
                "dbo|orders|dbo_orders|shape|5|5|geography|-1|NULL|NULL|NULL|NULL\ndbo|orders|"   \
                "dbo_orders|tiny|6|6|tinyint|NULL|3|10|0|NULL\n"                                  \
    }
#define SOURCE                                                                              \
    {                                                                                       \
        .expect = "FROM sys.columns", .columns = SOURCE_COLUMNS,                            \
        .rows = "id|1|false|false|NULL\nNAME|2|false|true|Greek_CI_AS\nprice|9|false|true|" \
                "NULL\ntotal|4|true|true|NULL\ntiny|6|false|true|NULL\n"                    \
    }

static void columns_tell_type_and_what_the_table_still_has(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "sp_cdc_help_change_data_capture",
         .columns = HELP_COLUMNS,
         .rows    = HELP_ROW("dbo", "orders", "dbo_orders", "0x0000002A000001B80003",
                             "2026-01-01T00:00:00", "[id], [n]]x]")},
        CAPTURED,
        SOURCE};
    SourceTest   test;
    CaptureTable table;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_find_table(test.mssql, STR("dbo_orders"), test.arena, &table, &test.err),
              &test.err);
    assert_int_equal(table.instance_count, 1);
    const CaptureInstance *instance = &table.instances[0];
    assert_str_is(instance->source_table, "orders");
    assert_true(instance->has_start_lsn);
    assert_string_equal(lsn_format(instance->start_lsn).text, "0x0000002A000001B80003");
    assert_int_equal(instance->key_column_count, 2);
    assert_str_is(instance->key_columns[1], "n]x");
    assert_int_equal(instance->column_count, 6);

    const CapturedColumn *c = instance->columns;
    assert_true(c[0].has_type && c[0].type.kind == TYPE_INTEGER && c[0].is_in_source &&
                !c[0].is_nullable);
    assert_str_is(c[1].sql_type_name, "varchar(16)");
    assert_str_is(c[1].collation, "Greek_CI_AS");
    assert_true(c[1].is_in_source); /* names compare ignoring case */
    assert_str_is(c[2].sql_type_name, "decimal(10,2)");
    assert_true(column_type_equal(c[2].type, DECIMAL_TYPE(10, 2)));
    assert_false(c[2].is_in_source); /* dropped and added back: another column_id */
    assert_true(c[3].is_computed);
    assert_false(c[4].has_type);
    assert_str_is(c[4].sql_type_name, "geography");
    assert_true(c[5].is_byte && c[5].type.kind == TYPE_SHORT);
    source_test_close(&test);
}

static void columns_are_read_once_until_forgotten(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "sp_cdc_help_change_data_capture",
         .columns = HELP_COLUMNS,
         .rows    = HELP_ROW("dbo", "orders", "dbo_orders", "NULL", "2026-01-01T00:00:00", "NULL")},
        CAPTURED,
        SOURCE};
    SourceTest   test;
    CaptureTable table;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    for (int i = 0; i < 3; i++)
        assert_ok(mssql_find_table(test.mssql, STR("dbo_orders"), test.arena, &table, &test.err),
                  &test.err);
    assert_int_equal(fake_server_call_count(test.server, "sp_cdc_get_captured_columns"), 1);
    assert_int_equal(fake_server_call_count(test.server, "sys.columns"), 1);
    assert_int_equal(fake_server_call_count(test.server, "@source_schema = ?"),
                     2); /* Q19 after the first resolution */
    assert_int_equal(table.instances[0].key_column_count, 0);
    assert_false(table.instances[0].has_start_lsn);
    mssql_forget_columns(test.mssql);
    assert_ok(mssql_find_table(test.mssql, STR("dbo_orders"), test.arena, &table, &test.err),
              &test.err);
    assert_int_equal(fake_server_call_count(test.server, "sp_cdc_get_captured_columns"), 2);
    source_test_close(&test);
}

#define MANY                                                                          \
    HELP_ROW("dbo", "orders", "dbo_orders_v2", "0x02", "2026-02-01T00:00:00", "[id]") \
    HELP_ROW("dbo", "orders", "dbo_orders", "0x01", "2026-01-01T00:00:00", "[id]")    \
    HELP_ROW("dbo", "items", "Items", "0x01", "2026-01-01T00:00:00", "[id]")          \
    HELP_ROW("dbo", "items", "ITEMS", "0x01", "2026-01-02T00:00:00", "[id]")          \
    HELP_ROW("sales", "people", "custom", "0x01", "2026-01-01T00:00:00", "[id]")

typedef struct Resolution {
    const char *name, *instance; /* instance NULL: refused */
    bool        is_gone;
    const char *message;
} Resolution;

static void
names_resolve_exactly_then_ignoring_case_then_by_the_default_name(void **state) /* T12.1 */
{
    static const Resolution table[] = {
        {"dbo_orders", "dbo_orders", false, NULL},
        {"DBO_ORDERS", "dbo_orders", false, NULL},
        {"Items", "Items", false, NULL},
        {"items", NULL, false, "both Items and ITEMS"},
        {"sales_people", "custom", true, NULL}, /* gone, but its table's default name */
        {"SALES_PEOPLE", "custom", true, NULL},
        {"dbo_orders_v1", NULL, false, "dbo_orders_v2, dbo_orders"}, /* similar ones */
        {"nothing_like_it", NULL, false, "gating role"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        /* the listing of 10-byte LSNs is written out by the fake as it is: pad */
        Arena *arena = arena_new();
        Str    rows  = str_from_c(MANY);
        Buf    buf   = buf_new(arena, 0);
        for (size_t at = 0; at < rows.len; at++) {
            buf_append_char(&buf, rows.ptr[at]);
            if (at > 2 && str_equal_c(str_slice(rows, at - 2, at + 1), "|0x"))
                buf_append_c(&buf, "000000000000000000");
        }
        const FakeAnswer answers[] = {FACTS_2022,
                                      {.expect  = "sp_cdc_help_change_data_capture",
                                       .columns = HELP_COLUMNS,
                                       .rows    = str_c(arena, buf_str(&buf))},
                                      CAPTURED,
                                      SOURCE};
        SourceTest       test;
        CaptureTable     found;

        source_test_open(&test, answers, COUNT_OF(answers));
        bool ok = mssql_find_table(test.mssql, str_from_c(table[i].name), test.arena, &found,
                                   &test.err);
        if (!table[i].instance) {
            assert_false(ok);
            assert_err(&test.err, ERR_SOURCE_STATE, table[i].name);
            assert_err(&test.err, ERR_SOURCE_STATE, table[i].message);
        } else {
            assert_ok(ok, &test.err);
            assert_str_is(found.instances[found.configured].name, table[i].instance);
            assert_int_equal(found.configured_is_gone, table[i].is_gone);
            for (size_t k = 1; k < found.instance_count; k++) /* oldest first */
                assert_true(found.instances[k - 1].create_date_us <
                            found.instances[k].create_date_us);
        }
        source_test_close(&test);
        arena_close(arena);
    }
}

static void no_access_names_its_three_causes(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "sp_cdc_help_change_data_capture",
         .columns = HELP_COLUMNS,
         .rows    = HELP_ROW("dbo", "orders", "dbo_orders", "NULL", "2026-01-01T00:00:00", "[id]")},
        {.expect  = "sp_cdc_get_captured_columns",
         .code    = ERR_SOURCE_STATE,
         .native  = 22981,
         .message = "the driver's words"}};
    SourceTest   test;
    CaptureTable table;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(mssql_find_table(test.mssql, STR("dbo_orders"), test.arena, &table, &test.err));
    assert_err(&test.err, ERR_SOURCE_STATE, "not found");
    assert_err(&test.err, ERR_SOURCE_STATE, "SELECT on a captured column");
    assert_err(&test.err, ERR_SOURCE_STATE, "gating role");
    assert_err(&test.err, ERR_SOURCE_STATE, "the driver's words");
    source_test_close(&test);
}

static void a_database_without_cdc_is_refused(void **state)
{
    static const FakeAnswer answers[] = {
        {.expect  = "SERVERPROPERTY",
         .columns = FACTS_COLUMNS,
         .rows    = "16|3|16.0|shop|x|160|false|1|false|false|READ_WRITE|r|r|51\n"}};
    SourceTest   test;
    MssqlOptions options = source_test_begin(&test, answers, COUNT_OF(answers));

    (void)state;
    assert_false(mssql_open(&options, &test.mssql, &test.err));
    assert_err(&test.err, ERR_SOURCE_STATE, "CDC is not enabled in database shop");
    source_test_close(&test);
}

static void ddl_of_a_batch_is_what_stands_in_its_range(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "sp_cdc_get_ddl_history",
         .columns = "source_schema STRING, source_table STRING, capture_instance STRING, "
                    "required_column_update BOOLEAN, ddl_command STRING, ddl_lsn BINARY, ddl_time "
                    "TIMESTAMP_NTZ",
         .rows = "dbo|t|c|false|five|0x00000000000000000005|2026-01-01T00:00:00\ndbo|t|c|false|two|"
                 "0x00000000000000000002|2026-01-01T00:00:00\n"
                 "dbo|t|c|false|three|0x00000000000000000003|2026-01-01T00:00:00\ndbo|t|c|false|"
                 "six|0x00000000000000000006|2026-01-01T00:00:00\n"}};
    SourceTest      test;
    CaptureInstance instance = {.name = STR("c")};
    DdlEvent       *events;
    size_t          count;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(mssql_find_ddl(test.mssql, &instance, lsn_of("0x02"), lsn_of("0x05"), test.arena,
                             &events, &count, &test.err),
              &test.err);
    assert_int_equal(count, 2);
    assert_str_is(events[0].command, "three");
    assert_str_is(events[1].command, "five");
    source_test_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_tell_type_and_what_the_table_still_has),
        cmocka_unit_test(columns_are_read_once_until_forgotten),
        cmocka_unit_test(names_resolve_exactly_then_ignoring_case_then_by_the_default_name),
        cmocka_unit_test(no_access_names_its_three_causes),
        cmocka_unit_test(a_database_without_cdc_is_refused),
        cmocka_unit_test(ddl_of_a_batch_is_what_stands_in_its_range),
    };
    return RUN_TESTS(tests);
}
