/* What a copy's values become (docs/snapshots.md, "From a copy you have"): asked of libduckdb itself. */
#include "support/test_support.h"

#include "duck/duck.h"
#include "engine/copy_cast.h"

typedef struct Case {
    const char *literal; /* of the copy, in libduckdb's SQL: its type is asked for */
    ColumnType  want;
    SqlTypeKind sql_type;
    const char *text; /* the value as text; "bad": refused; "never": the types do not fit */
} Case;

static Duck *open_duck(void)
{
    DuckOptions options = {.threads = 1, .temp_directory = STR("/tmp")};
    Duck       *duck    = NULL;
    Err         err     = ERR_INIT;

    assert_ok(duck_open(&options, &duck, &err), &err);
    return duck;
}

static Str ask(DuckSession *session, Arena *arena, Str sql)
{
    RowStream *rows = NULL;
    RowBlock   block;
    Err        err = ERR_INIT;
    Str        text;

    assert_ok(duck_query(session, sql, arena, &rows, &err), &err);
    assert_ok(row_stream_next(rows, &block, &err), &err);
    assert_int_equal(block.row_count, 1);
    text = column_is_null(&block.columns[0], 0)
               ? STR("NULL")
               : str_copy(arena, column_format(arena, &block.columns[0], 0));
    row_stream_close(rows);
    return text;
}

static void check(Duck *duck, const Case *one)
{
    Arena       *arena   = arena_new();
    DuckSession *session = NULL;
    CopyCast     cast;
    Err          err = ERR_INIT;

    assert_ok(duck_session_open(duck, &session, &err), &err);
    Str type = ask(session, arena, str_printf(arena, "SELECT typeof(%s)", one->literal));
    Str got  = STR("never");
    if (copy_cast_sql(arena, STR("f.x"), type, one->want, one->sql_type, &cast)) {
        Str bad = cast.bad.len ? cast.bad : STR("false");
        got     = ask(session, arena,
                      str_printf(arena,
                                 "SELECT CASE WHEN %.*s THEN 'bad' ELSE coalesce(CAST(%.*s AS "
                                     "VARCHAR), 'NULL') END FROM (SELECT %s AS x) AS f",
                                 STR_ARG(bad), STR_ARG(cast.value), one->literal));
        /* of the wanted type exactly, else the files would hold another */
        Str made = ask(session, arena,
                       str_printf(arena, "SELECT typeof(%.*s) FROM (SELECT %s AS x) AS f",
                                  STR_ARG(cast.value), one->literal));
        assert_str_is(made, str_c(arena, duck_type_name(arena, one->want)));
    }
    if (!str_equal_c(got, one->text)) {
        print_error("# %s as %.*s\n", one->literal,
                    STR_ARG(column_type_sql_name(arena, one->want)));
        assert_str_is(got, one->text);
    }
    duck_session_close(session);
    arena_close(arena);
}

static void check_all(const Case *cases, size_t count)
{
    Duck *duck = open_duck();

    for (size_t i = 0; i < count; i++)
        check(duck, &cases[i]);
    duck_close(duck);
}

/* clang-format off */
#define INT    {.kind = TYPE_INTEGER}, SQL_TYPE_INT
#define SMALL  {.kind = TYPE_SHORT}, SQL_TYPE_SMALLINT
#define BIG    {.kind = TYPE_LONG}, SQL_TYPE_BIGINT
#define BIT    {.kind = TYPE_BOOLEAN}, SQL_TYPE_BIT
#define DEC    {.kind = TYPE_DECIMAL, .precision = 10, .scale = 2}, SQL_TYPE_DECIMAL
#define DEC38  {.kind = TYPE_DECIMAL, .precision = 38, .scale = 10}, SQL_TYPE_DECIMAL
#define REAL   {.kind = TYPE_FLOAT}, SQL_TYPE_REAL
#define FLOAT8 {.kind = TYPE_DOUBLE}, SQL_TYPE_FLOAT
#define DAY    {.kind = TYPE_DATE}, SQL_TYPE_DATE
#define LOCAL  {.kind = TYPE_TIMESTAMP_NTZ}, SQL_TYPE_DATETIME2
#define ZONED  {.kind = TYPE_TIMESTAMP}, SQL_TYPE_DATETIMEOFFSET
#define CHARS  {.kind = TYPE_STRING}, SQL_TYPE_VARCHAR
#define GUID   {.kind = TYPE_STRING}, SQL_TYPE_UNIQUEIDENTIFIER
#define CLOCK  {.kind = TYPE_STRING}, SQL_TYPE_TIME
#define BYTES  {.kind = TYPE_BINARY}, SQL_TYPE_VARBINARY
/* clang-format on */

static void numbers_arrive_whole_or_not_at_all(void **state)
{
    static const Case cases[] = {
        {"7::INTEGER", INT, "7"},
        {"NULL::INTEGER", INT, "NULL"},
        {"NULL", INT, "NULL"},
        {"7::BIGINT", INT, "7"},
        {"3000000000::BIGINT", INT, "bad"},
        {"200::UTINYINT", SMALL, "200"},
        {"18446744073709551615::UBIGINT", BIG, "bad"},
        {"true", INT, "1"},
        {"1.0::DOUBLE", INT, "1"},
        {"1.5::DOUBLE", INT, "bad"},
        {"'nan'::DOUBLE", INT, "bad"},
        {"2.00::DECIMAL(10,2)", INT, "2"},
        {"2.01::DECIMAL(10,2)", INT, "bad"},
        {"'12'", INT, "12"},
        {"' 12 '", INT, "12"},
        {"'1.0'", INT, "1"},
        {"'1.5'", INT, "bad"},
        {"'9223372036854775807'", BIG, "9223372036854775807"},
        {"'9223372036854775808'", BIG, "bad"},
        {"'x'", INT, "bad"},
        {"''", INT, "bad"},
        {"DATE '2024-01-01'", INT, "never"},
        {"1::INTEGER", BIT, "true"},
        {"2::INTEGER", BIT, "bad"},
        {"'false'", BIT, "false"},
        {"'2'", BIT, "bad"},
        {"1::INTEGER", DEC, "1.00"},
        {"123456789::INTEGER", DEC, "bad"},
        {"10.1::DOUBLE", DEC, "10.10"},
        {"10.125::DOUBLE", DEC, "bad"},
        {"1.230::DECIMAL(12,3)", DEC, "1.23"},
        {"1.235::DECIMAL(12,3)", DEC, "bad"},
        {"'1.2'", DEC, "1.20"},
        {"'1.200'", DEC, "1.20"},
        {"'1.205'", DEC, "bad"},
        {"'12e-1'", DEC, "1.20"},
        {"'$1.20'", DEC, "bad"},
        {"'1.0000000001'", DEC38, "1.0000000001"},
        {"'1.00000000010'", DEC38, "1.0000000001"},
        {"'1.00000000015'", DEC38, "bad"},
        {"0.1::DOUBLE", REAL, "0.1"},
        {"9007199254740993::BIGINT", FLOAT8, "9007199254740992.0"},
        {"'0.1'", FLOAT8, "0.1"},
        {"'one'", FLOAT8, "bad"},
        {"1.5::DOUBLE", FLOAT8, "1.5"},
        {"NULL::DOUBLE", FLOAT8, "NULL"},
        {"'nan'::DOUBLE", FLOAT8, "bad"}, /* SQL Server has none; pandas writes it for NULL */
        {"'-inf'::FLOAT", REAL, "bad"},
        {"'1e400'", FLOAT8, "bad"},
        {"'nan'", REAL, "bad"},
        {"[1]", INT, "never"},
        {"{'a': 1}", DEC, "never"},
    };

    (void)state;
    check_all(cases, COUNT_OF(cases));
}

static void times_are_cut_to_the_microsecond_and_no_further(void **state)
{
    static const Case cases[] = {
        {"DATE '2024-02-29'", DAY, "2024-02-29"},
        {"TIMESTAMP '2024-02-29 00:00:00'", DAY, "2024-02-29"},
        {"TIMESTAMP '2024-02-29 00:00:01'", DAY, "bad"},
        {"'2024-02-29'", DAY, "2024-02-29"},
        {"'2024-02-29 13:00:00'", DAY, "bad"},
        {"'2024-02-30'", DAY, "bad"},
        {"'02/03/2024'", DAY, "bad"},
        {"'infinity'", DAY, "bad"},
        {"DATE '2024-02-29'", LOCAL, "2024-02-29 00:00:00"},
        {"'2024-02-29T13:00:00.123456'", LOCAL, "2024-02-29 13:00:00.123456"},
        {"'2024-02-29 13:00:00.1234567'", LOCAL, "2024-02-29 13:00:00.123456"},
        {"'2024-02-29 13:00:00+02:00'", LOCAL, "bad"},
        {"'2024-02-29 13:00:00Z'", LOCAL, "bad"},
        {"'2024-02-29'", LOCAL, "2024-02-29 00:00:00"},
        {"'infinity'", LOCAL, "bad"},
        {"TIMESTAMP_NS '2024-02-29 13:00:00.123456789'", LOCAL, "2024-02-29 13:00:00.123456"},
        {"TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", LOCAL, "1969-12-31 23:59:59.999999"},
        {"TIMESTAMP_S '2024-02-29 13:00:01'", LOCAL, "2024-02-29 13:00:01"},
        {"TIMESTAMPTZ '2024-02-29 13:00:00+02'", LOCAL, "2024-02-29 11:00:00"},
        {"TIMESTAMP '2024-02-29 13:00:00'", ZONED, "2024-02-29 13:00:00+00"},
        {"'2024-02-29 13:00:00.1234567 +02:00'", ZONED, "2024-02-29 11:00:00.123456+00"},
        {"'2024-02-29T13:00:00-03:30'", ZONED, "2024-02-29 16:30:00+00"},
        {"'2024-02-29 13:00:00'", ZONED, "2024-02-29 13:00:00+00"},
        {"TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", ZONED, "1969-12-31 23:59:59.999999+00"},
        {"'noon'", ZONED, "bad"},
        {"7::INTEGER", LOCAL, "never"},
        {"TIME '13:00:00'", LOCAL, "never"},
    };

    (void)state;
    check_all(cases, COUNT_OF(cases));
}

static void text_is_spelled_as_the_stream_spells_it(void **state)
{
    static const Case cases[] = {
        {"'a'", CHARS, "a"},
        {"''", CHARS, ""},
        {"'a'::ENUM('a', 'b')", CHARS, "a"},
        {"7::INTEGER", CHARS, "7"},
        {"1.50::DECIMAL(5,2)", CHARS, "1.50"},
        {"'\\xC5\\x81'::BLOB", CHARS, "\xC5\x81"},
        {"'\\xFF'::BLOB", CHARS, "bad"},
        {"[1]", CHARS, "never"},
        {"'3f2504e0-4f89-11d3-9a0c-0305e82c3301'", GUID, "3F2504E0-4F89-11D3-9A0C-0305E82C3301"},
        {"'{3F2504E0-4F89-11D3-9A0C-0305E82C3301}'", GUID, "3F2504E0-4F89-11D3-9A0C-0305E82C3301"},
        {"UUID '3F2504E0-4F89-11D3-9A0C-0305E82C3301'", GUID,
         "3F2504E0-4F89-11D3-9A0C-0305E82C3301"},
        {"'3F2504E0'", GUID, "bad"},
        {"7::INTEGER", GUID, "never"},
        {"TIME '13:50:01'", CLOCK, "13:50:01.000000000"},
        {"TIME '13:50:01.5'", CLOCK, "13:50:01.500000000"},
        {"'13:50:01.1234567'", CLOCK, "13:50:01.123456700"},
        {"'13:50'", CLOCK, "bad"},
        {"'24:00:00'", CLOCK, "bad"},
        {"'\\x01'::BLOB", BYTES, "\\x01"},
        {"'0x01fF'", BYTES, "\\x01\\xFF"},
        {"'0x'", BYTES, ""},
        {"'0x1'", BYTES, "bad"},
        {"'01FF'", BYTES, "bad"},
        {"7::INTEGER", BYTES, "never"},
    };

    (void)state;
    check_all(cases, COUNT_OF(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_arrive_whole_or_not_at_all),
        cmocka_unit_test(times_are_cut_to_the_microsecond_and_no_further),
        cmocka_unit_test(text_is_spelled_as_the_stream_spells_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
