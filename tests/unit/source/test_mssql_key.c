/* Bounds as text, and the pieces of a key range as T-SQL (sqlserver.md 1.2, 1.5). */
#include "source_test.h"

static CapturedColumn captured(SqlTypeKind kind, const char *type, const char *collation,
                               bool is_nullable)
{
    return (CapturedColumn){.name          = STR("k"),
                            .sql_type      = kind,
                            .sql_type_name = str_from_c(type),
                            .collation     = str_from_c(collation),
                            .is_nullable   = is_nullable};
}

typedef struct Bound {
    SqlTypeKind kind;
    const char *type, *collation, *bound; /* bound NULL: none */
} Bound;

static void bounds_are_converted_to_the_declared_type(void **state)
{
    static const Bound table[] = {
        {SQL_TYPE_BIGINT, "bigint", "", "CAST(? AS bigint)"},
        {SQL_TYPE_DECIMAL, "decimal(10,2)", "", "CAST(? AS decimal(10,2))"},
        {SQL_TYPE_MONEY, "money", "", "CAST(? AS money)"},
        {SQL_TYPE_BIT, "bit", "", "CAST(? AS bit)"},
        {SQL_TYPE_DATETIME2, "datetime2(3)", "", "CAST(? AS datetime2(3))"},
        {SQL_TYPE_VARCHAR, "varchar(16)", "Greek_CI_AS",
         "CAST(? COLLATE Greek_CI_AS AS varchar(16))"},
        {SQL_TYPE_CHAR, "char(4)", "", NULL},
        {SQL_TYPE_NVARCHAR, "nvarchar(16)", "", "CAST(? AS nvarchar(16))"},
        {SQL_TYPE_VARBINARY, "varbinary(8)", "", "CONVERT(varbinary(8), ?, 1)"},
        {SQL_TYPE_BINARY, "binary(8)", "", "CONVERT(varbinary(8), ?, 1)"},
        {SQL_TYPE_ROWVERSION, "timestamp", "", "CONVERT(binary(8), ?, 1)"},
        {SQL_TYPE_UNIQUEIDENTIFIER, "uniqueidentifier", "", "CAST(? AS uniqueidentifier)"},
        {SQL_TYPE_TIME, "time(7)", "", NULL},
        {SQL_TYPE_XML, "xml", "", NULL},
        {SQL_TYPE_TEXT, "text", "Greek_CI_AS", NULL},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        CapturedColumn column = captured(table[i].kind, table[i].type, table[i].collation, false);
        KeyColumn      key;
        bool           can;
        Err            err = ERR_INIT;
        assert_ok(key_column_plan(&column, true, false, arena, &key, &can, &err), &err);
        assert_int_equal(can, table[i].bound != NULL);
        if (can) assert_str_is(key.bound, table[i].bound);
        assert_false(key.is_inlined);
    }
    arena_close(arena);
}

static void scale_seven_is_for_the_last_column_alone(void **state)
{
    Arena         *arena  = arena_new();
    CapturedColumn column = captured(SQL_TYPE_DATETIME2, "datetime2(7)", "", false);
    KeyColumn      key;
    bool           can;
    Err            err = ERR_INIT;

    (void)state;
    assert_ok(key_column_plan(&column, true, false, arena, &key, &can, &err), &err);
    assert_true(can);
    assert_ok(key_column_plan(&column, false, false, arena, &key, &can, &err), &err);
    assert_false(can);
    arena_close(arena);
}

typedef struct Formatted {
    SqlTypeKind kind;
    const char *column, *value, *text;
} Formatted;

static void bound_texts_follow_the_table(void **state)
{
    static const Formatted table[] = {
        {SQL_TYPE_INT, "k INT", "-5", "-5"},
        {SQL_TYPE_BIGINT, "k BIGINT", "9223372036854775807", "9223372036854775807"},
        {SQL_TYPE_BIT, "k BOOLEAN", "true", "1"},
        {SQL_TYPE_DECIMAL, "k DECIMAL(20,10)", "0.0000000000", "0.0000000000"},
        {SQL_TYPE_MONEY, "k DECIMAL(19,4)", "-1.5000", "-1.5000"},
        {SQL_TYPE_REAL, "k FLOAT", "0.1", "0.10000000149011612"},
        {SQL_TYPE_FLOAT, "k DOUBLE", "0.1", "0.1"},
        {SQL_TYPE_DATE, "k DATE", "2026-02-28", "2026-02-28"},
        {SQL_TYPE_DATETIME, "k TIMESTAMP_NTZ", "2026-02-28T23:59:59.997",
         "2026-02-28T23:59:59.997"},
        {SQL_TYPE_SMALLDATETIME, "k TIMESTAMP_NTZ", "2026-02-28T23:59:00",
         "2026-02-28T23:59:00.000"},
        {SQL_TYPE_DATETIME2, "k TIMESTAMP_NTZ", "2026-02-28T23:59:59.1",
         "2026-02-28T23:59:59.100000"},
        {SQL_TYPE_DATETIMEOFFSET, "k TIMESTAMP", "2026-02-28T23:59:59",
         "2026-02-28T23:59:59.000000+00:00"},
        {SQL_TYPE_NVARCHAR, "k STRING", "it's", "it's"},
        {SQL_TYPE_VARBINARY, "k BINARY", "0x00ABFF", "0x00abff"},
        {SQL_TYPE_BINARY, "k BINARY", "0x", "0x"},
        {SQL_TYPE_INT, "k INT", "NULL", NULL},
    };
    Arena *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        SqlResult *result = fake_result_new(
            table[i].column, str_c(arena, str_printf(arena, "%s\n", table[i].value)), 1);
        RowBlock block;
        Err      err = ERR_INIT;
        assert_ok(sqlresult_next(result, &block, &err), &err);
        KeyPart part = key_format_part(arena, table[i].kind, &block.columns[0], 0);
        assert_int_equal(part.is_null, table[i].text == NULL);
        if (table[i].text) assert_str_is(part.text, table[i].text);
        sqlresult_close(result);
    }
    arena_close(arena);
}

/* --- pieces --- */

static Str all_pieces(Arena *arena, const KeyColumn *columns, size_t n, const KeyPart *lo,
                      const KeyPart *hi, KeyParams *params)
{
    KeyPieces pieces = key_pieces(arena, n, lo, hi);
    Buf       buf    = buf_new(arena, 0);
    Err       err    = ERR_INIT;

    for (size_t i = 0; i < pieces.piece_count; i++) {
        if (i > 0) buf_append_c(&buf, " | ");
        assert_ok(key_piece_where(arena, &pieces.pieces[i], columns, n, lo, hi, &buf, params, &err),
                  &err);
    }
    return buf_str(&buf);
}

static const KeyColumn ab[] = {{.name = {"a", 1}, .sql_type = SQL_TYPE_INT, .bound = {"?", 1}},
                               {.name = {"b", 1}, .sql_type = SQL_TYPE_INT, .bound = {"?", 1}}};

#define PART(value)                          \
    {                                        \
        .text = { value, sizeof(value) - 1 } \
    }
#define NULL_PART       \
    {                   \
        .is_null = true \
    }

static void the_example_of_the_page(void **state)
{
    static const KeyPart     lo[] = {PART("3"), PART("500")}, hi[] = {PART("7"), PART("20")};
    static const char *const want[] = {"3", "500", "7", "7", "20", "3", "7", "7", "20", "3"};
    Arena                   *arena  = arena_new();
    KeyParams                params = {0};

    (void)state;
    assert_str_is(all_pieces(arena, ab, 2, lo, hi, &params),
                  "t.[a] = ? AND t.[b] >= ? AND (t.[a] < ? OR (t.[a] = ? AND t.[b] < ?)) | "
                  "t.[a] > ? AND t.[a] < ? | t.[a] = ? AND t.[b] < ? AND t.[a] > ?");
    assert_int_equal(params.count, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_str_is(params.items[i].text, want[i]);
    arena_close(arena);
}

static void open_ends_and_common_prefixes(void **state)
{
    static const KeyPart lo[] = {PART("3"), PART("5")}, hi[] = {PART("3"), PART("9")};
    Arena               *arena  = arena_new();
    KeyParams            params = {0};

    (void)state;
    assert_str_is(all_pieces(arena, ab, 2, NULL, NULL, &params), "");
    assert_int_equal(params.count, 0);
    assert_str_is(all_pieces(arena, ab, 2, lo, NULL, &params),
                  "t.[a] = ? AND t.[b] >= ? | t.[a] > ?");
    assert_str_is(all_pieces(arena, ab, 2, NULL, hi, &params),
                  "t.[a] < ? | t.[a] = ? AND t.[b] < ?");
    assert_str_is(all_pieces(arena, ab, 2, lo, hi, &params),
                  "t.[a] = ? AND t.[b] >= ? AND t.[b] < ?");
    arena_close(arena);
}

static void nulls_are_lowest(void **state)
{
    static const KeyColumn columns[] = {{.name = {"a", 1}, .bound = {"?", 1}, .is_nullable = true},
                                        {.name = {"b", 1}, .bound = {"?", 1}, .is_nullable = true}};
    static const KeyPart   lo[]      = {NULL_PART, PART("5")};
    static const KeyPart   hi[]      = {PART("1"), NULL_PART};
    Arena                 *arena     = arena_new();
    KeyParams              params    = {0};

    (void)state;
    assert_str_is(all_pieces(arena, columns, 2, lo, NULL, &params),
                  "t.[a] IS NULL AND t.[b] >= ? | t.[a] IS NOT NULL");
    assert_str_is(all_pieces(arena, columns, 2, NULL, hi, &params),
                  "(t.[a] < ? OR t.[a] IS NULL) | t.[a] = ? AND 1 = 0");
    static const KeyPart low_null[] = {PART("1"), NULL_PART};
    assert_str_is(all_pieces(arena, columns, 2, low_null, NULL, &params),
                  "t.[a] = ? AND 1 = 1 | t.[a] > ?");
    arena_close(arena);
}

static void the_single_integer_key_is_inlined_after_a_look(void **state)
{
    static const KeyColumn column = {
        .name = {"we]ird", 6}, .sql_type = SQL_TYPE_BIGINT, .is_inlined = true};
    static const KeyPart lo = PART("-9223372036854775808"), hi = PART("9223372036854775808"),
                         bad = PART("1 OR 1=1");
    Arena    *arena          = arena_new();
    KeyParams params         = {0};
    Buf       buf            = buf_new(arena, 0);
    Err       err            = ERR_INIT;

    (void)state;
    assert_str_is(all_pieces(arena, &column, 1, &lo, &hi, &params),
                  "t.[we]]ird] >= -9223372036854775808 AND t.[we]]ird] < 9223372036854775808");
    assert_int_equal(params.count, 0);
    KeyPieces pieces = key_pieces(arena, 1, &bad, NULL);
    assert_false(
        key_piece_where(arena, &pieces.pieces[0], &column, 1, &bad, NULL, &buf, &params, &err));
    assert_err(&err, ERR_INTERNAL, "no integer");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_converted_to_the_declared_type),
        cmocka_unit_test(scale_seven_is_for_the_last_column_alone),
        cmocka_unit_test(bound_texts_follow_the_table),
        cmocka_unit_test(the_example_of_the_page),
        cmocka_unit_test(open_ends_and_common_prefixes),
        cmocka_unit_test(nulls_are_lowest),
        cmocka_unit_test(the_single_integer_key_is_inlined_after_a_look),
    };
    return RUN_TESTS(tests);
}
