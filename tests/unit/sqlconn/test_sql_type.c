/* SQL Server's types and the lake's (state.md 6.1). */
#include "support/test_support.h"

#include "sqlconn/sqlconn.h"

typedef struct Mapped {
    const char *sql, *lake; /* NULL: none */
} Mapped;

static void every_type_maps_as_the_table_says(void **state)
{
    static const Mapped table[] = {
        {"bit", "boolean"},
        {"tinyint", "short"},
        {"smallint", "short"},
        {"int", "integer"},
        {"bigint", "long"},
        {"real", "float"},
        {"float", "double"},
        {"decimal", "decimal(12,3)"},
        {"numeric", "decimal(12,3)"},
        {"money", "decimal(19,4)"},
        {"smallmoney", "decimal(10,4)"},
        {"date", "date"},
        {"datetime", "timestamp_ntz"},
        {"smalldatetime", "timestamp_ntz"},
        {"datetime2", "timestamp_ntz"},
        {"datetimeoffset", "timestamp"},
        {"time", "string"},
        {"char", "string"},
        {"varchar", "string"},
        {"nchar", "string"},
        {"nvarchar", "string"},
        {"sysname", "string"},
        {"text", "string"},
        {"ntext", "string"},
        {"xml", "string"},
        {"uniqueidentifier", "string"},
        {"binary", "binary"},
        {"varbinary", "binary"},
        {"image", "binary"},
        {"timestamp", "binary"},
        {"rowversion", "binary"},
        {"INT IDENTITY", "integer"},
        {"numeric() identity", "decimal(12,3)"},
        {"sql_variant", NULL},
        {"geography", NULL},
        {"hierarchyid", NULL},
        {"", NULL},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        ColumnType type;
        bool ok = sql_type_to_column_type(sql_type_kind(str_from_c(table[i].sql)), 12, 3, &type);
        if (ok != (table[i].lake != NULL)) fail_msg("%s", table[i].sql);
        if (ok) assert_str_is(column_type_delta_name(arena, type), table[i].lake);
    }
    arena_close(arena);
}

static void decimals_outside_38_digits_have_no_type(void **state)
{
    ColumnType type;

    (void)state;
    assert_false(sql_type_to_column_type(SQL_TYPE_DECIMAL, 0, 0, &type));
    assert_false(sql_type_to_column_type(SQL_TYPE_DECIMAL, 39, 0, &type));
    assert_false(sql_type_to_column_type(SQL_TYPE_DECIMAL, 5, 6, &type));
    assert_true(sql_type_to_column_type(SQL_TYPE_DECIMAL, 38, 38, &type));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_maps_as_the_table_says),
        cmocka_unit_test(decimals_outside_38_digits_have_no_type),
    };
    return RUN_TESTS(tests);
}
