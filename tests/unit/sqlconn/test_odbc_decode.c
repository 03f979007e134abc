/* Bound cells of the driver become vectors (odbc_decode.c). */
#include "support/test_support.h"

#include "sqlconn/odbc_internal.h"

#include "base/clock.h"

static ColumnVector decode(Arena *arena, OdbcColumn *column, const void *cells,
                           const SQLLEN *lengths, size_t rows)
{
    ColumnVector out;
    Err          err = ERR_INIT;

    column->cells   = arena_alloc(arena, rows * column->cell_bytes + 8);
    column->lengths = ARENA_ARRAY(arena, SQLLEN, rows);
    memcpy(column->cells, cells, rows * column->cell_bytes);
    memcpy(column->lengths, lengths, rows * sizeof(SQLLEN));
    assert_ok(odbc_decode(column, rows, arena, &out, &err), &err);
    return out;
}

static int64_t us(const char *text)
{
    int64_t out = 0;

    assert_true(time_parse(str_from_c(text), &out));
    return out;
}

static void fixed_width_values_are_not_copied(void **state)
{
    static const int32_t cells[]   = {7, 0, -9};
    static const SQLLEN  lengths[] = {4, SQL_NULL_DATA, 4};
    Arena               *arena     = arena_new();
    OdbcColumn           column    = {
                     .decode = DECODE_DIRECT, .cell_bytes = 4, .type = COLUMN_TYPE(TYPE_INTEGER)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 3);

    (void)state;
    assert_ptr_equal(vector.data, column.cells);
    assert_int_equal(column_i64(&vector, 0), 7);
    assert_true(column_is_null(&vector, 1));
    assert_int_equal(column_i64(&vector, 2), -9);
    column.lengths[1] = 4;
    Err err           = ERR_INIT;
    assert_ok(odbc_decode(&column, 3, arena, &vector, &err), &err);
    assert_null(vector.validity);
    arena_close(arena);
}

static void datetime2_is_cut_and_datetime_is_rounded(void **state)
{
    static const SQL_TIMESTAMP_STRUCT cells[] = {
        {2026, 11, 1, 1, 59, 59, 123456700},   {1, 1, 1, 0, 0, 0, 0},
        {9999, 12, 31, 23, 59, 59, 999999900}, {2026, 11, 1, 0, 0, 0, 3333300},
        {1969, 12, 31, 23, 59, 59, 6666700},
    };
    static const SQLLEN lengths[] = {16, 16, 16, 16, 16};
    Arena              *arena     = arena_new();
    OdbcColumn          column    = {.decode     = DECODE_TIMESTAMP,
                                     .cell_bytes = sizeof(cells[0]),
                                     .type       = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ)};
    ColumnVector        vector    = decode(arena, &column, cells, lengths, 5);

    (void)state;
    assert_int_equal(column_i64(&vector, 0), us("2026-11-01T01:59:59.123456"));
    assert_int_equal(column_i64(&vector, 1), us("0001-01-01T00:00:00"));
    assert_int_equal(column_i64(&vector, 2), us("9999-12-31T23:59:59.999999"));
    assert_int_equal(column_i64(&vector, 3), us("2026-11-01T00:00:00.003333"));
    column.decode = DECODE_DATETIME;
    vector        = decode(arena, &column, cells, lengths, 5);
    assert_int_equal(column_i64(&vector, 3), us("2026-11-01T00:00:00.003"));
    assert_int_equal(column_i64(&vector, 4), us("1969-12-31T23:59:59.007"));
    arena_close(arena);
}

static void dates_become_days_and_nulls_cost_nothing(void **state)
{
    static const SQL_DATE_STRUCT cells[] = {
        {1970, 1, 1}, {0, 0, 0}, {1970, 1, 2}, {1, 1, 1}, {9999, 12, 31}};
    static const SQLLEN lengths[] = {6, SQL_NULL_DATA, 6, 6, 6};
    Arena              *arena     = arena_new();
    OdbcColumn          column    = {
                    .decode = DECODE_DATE, .cell_bytes = sizeof(cells[0]), .type = COLUMN_TYPE(TYPE_DATE)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 5);

    (void)state;
    assert_int_equal(column_i64(&vector, 0), 0);
    assert_true(column_is_null(&vector, 1));
    assert_int_equal(column_i64(&vector, 2), 1);
    assert_int_equal(column_i64(&vector, 3), -719162);
    assert_int_equal(column_i64(&vector, 4), 2932896);
    arena_close(arena);
}

static SQL_NUMERIC_STRUCT numeric(const char *digits, uint8_t scale)
{
    SQL_NUMERIC_STRUCT out = {
        .precision = 38, .scale = (SQLSCHAR)scale, .sign = digits[0] == '-' ? 0 : 1};
    Int128 value;

    assert_true(decimal_parse(str_from_c(digits + (digits[0] == '-')), 38, 0, &value));
    memcpy(out.val, &value, sizeof(value));
    return out;
}

/* Every width of a decimal, and a driver that wrote another scale than asked for. */
static void numerics_become_decimals_of_any_width(void **state)
{
    static const uint8_t precisions[] = {4, 9, 18, 38};
    static const SQLLEN  lengths[]    = {19, 19, SQL_NULL_DATA, 19};
    Arena               *arena        = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(precisions); i++) {
        SQL_NUMERIC_STRUCT cells[] = {numeric("1234", 2), numeric("-1", 2), numeric("0", 0),
                                      numeric("-7", 0)};
        OdbcColumn         column  = {.decode     = DECODE_NUMERIC,
                                      .cell_bytes = sizeof(cells[0]),
                                      .type       = DECIMAL_TYPE(precisions[i], 2),
                                      .scale      = 2};
        ColumnVector       vector  = decode(arena, &column, cells, lengths, 4);
        char               text[48];
        Str                want[] = {STR("12.34"), STR("-0.01"), STR_EMPTY, STR("-7.00")};

        for (size_t row = 0; row < 4; row++) {
            if (row == 2) {
                assert_true(column_is_null(&vector, row));
                continue;
            }
            size_t len = decimal_format(column_decimal(&vector, row), 2, text);
            assert_true(str_equal((Str){text, len}, want[row]));
        }
    }
    arena_close(arena);
}

static void extreme_numerics_hold(void **state)
{
    SQL_NUMERIC_STRUCT cells[]   = {numeric("99999999999999999999999999999999999999", 0),
                                    numeric("-99999999999999999999999999999999999999", 0)};
    SQLLEN             lengths[] = {19, 19};
    Arena             *arena     = arena_new();
    OdbcColumn         column    = {
                   .decode = DECODE_NUMERIC, .cell_bytes = sizeof(cells[0]), .type = DECIMAL_TYPE(38, 0)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 2);
    char         text[48];

    (void)state;
    size_t len = decimal_format(column_decimal(&vector, 1), 0, text);
    assert_str_is(((Str){text, len}), "-99999999999999999999999999999999999999");
    cells[0].scale = 3; /* digits that the type does not have */
    memcpy(column.cells, cells, sizeof(cells));
    Err err = ERR_INIT;
    assert_false(odbc_decode(&column, 2, arena, &vector, &err));
    assert_err(&err, ERR_QUERY, "decimal");
    arena_close(arena);
}

static void money_is_ten_thousandths_with_its_upper_half_first(void **state)
{
    static const uint8_t cells[4][8] = {
        {0, 0, 0, 0x80, 1, 0, 0, 0}, {0, 0, 0, 0, 0x10, 0x27, 0, 0}, {0xFF, 0xFF, 0xFF, 0x7F}, {0}};
    static const SQLLEN      lengths[] = {8, 8, 4, SQL_NULL_DATA};
    static const char *const wants[]   = {"-922337203685477.5807", "1.0000", "214748.3647"};
    Arena                   *arena     = arena_new();
    OdbcColumn   column = {.decode = DECODE_MONEY, .cell_bytes = 8, .type = DECIMAL_TYPE(19, 4)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 4);
    char         text[48];
    Err          err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wants); i++) {
        size_t len = decimal_format(column_decimal(&vector, i), 4, text);
        assert_str_is(((Str){text, len}), wants[i]);
    }
    assert_true(column_is_null(&vector, 3));
    column.lengths[0] = 19;
    assert_false(odbc_decode(&column, 4, arena, &vector, &err));
    assert_err(&err, ERR_QUERY, "decimal");
    arena_close(arena);
}

static void decimals_of_other_drivers_are_read_as_text(void **state)
{
    static const char   cells[3][48] = {"-12.5", ".25", "12.345"};
    static const SQLLEN lengths[]    = {5, SQL_NULL_DATA, 6};
    Arena              *arena        = arena_new();
    OdbcColumn          column       = {
                       .decode = DECODE_DECIMAL_TEXT, .cell_bytes = 48, .type = DECIMAL_TYPE(4, 2)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 2);
    char         text[48];
    Err          err = ERR_INIT;

    (void)state;
    size_t len = decimal_format(column_decimal(&vector, 0), 2, text);
    assert_str_is(((Str){text, len}), "-12.50");
    assert_true(column_is_null(&vector, 1));
    column.cells   = arena_alloc(arena, sizeof(cells));
    column.lengths = ARENA_ARRAY(arena, SQLLEN, 3);
    memcpy(column.cells, cells, sizeof(cells));
    memcpy(column.lengths, lengths, sizeof(lengths));
    assert_false(odbc_decode(&column, 3, arena, &vector, &err));
    assert_err(&err, ERR_QUERY, "decimal");
    arena_close(arena);
}

static void integers_become_the_wanted_type_or_are_refused(void **state)
{
    int64_t    cells[]   = {12, -30000, 0, 99};
    SQLLEN     lengths[] = {8, 8, SQL_NULL_DATA, 8};
    Arena     *arena     = arena_new();
    OdbcColumn column    = {.decode = DECODE_I64, .cell_bytes = 8, .type = DECIMAL_TYPE(7, 2)};
    char       text[48];
    Err        err = ERR_INIT;

    (void)state;
    ColumnVector vector = decode(arena, &column, cells, lengths, 4);
    size_t       len    = decimal_format(column_decimal(&vector, 1), 2, text);
    assert_str_is(((Str){text, len}), "-30000.00");
    assert_true(column_is_null(&vector, 2));
    column.type = COLUMN_TYPE(TYPE_SHORT);
    vector      = decode(arena, &column, cells, lengths, 4);
    assert_int_equal(column_i64(&vector, 1), -30000);
    column.type = DECIMAL_TYPE(4, 0);
    assert_false(odbc_decode(&column, 4, arena, &vector, &err));
    assert_err(&err, ERR_SCHEMA_CHANGED, "does not fit");
    column.type                  = COLUMN_TYPE(TYPE_SHORT);
    ((int64_t *)column.cells)[3] = 32768;
    assert_false(odbc_decode(&column, 4, arena, &vector, &err));
    assert_err(&err, ERR_SCHEMA_CHANGED, "does not fit");
    arena_close(arena);
}

static void guids_are_upper_case(void **state)
{
    static const SQLGUID cells[] = {
        {0x6F9619FF, 0x8B86, 0xD011, {0xB4, 0x2D, 0x00, 0xC0, 0x4F, 0xC9, 0x64, 0xFF}}};
    static const SQLLEN lengths[] = {16};
    Arena              *arena     = arena_new();
    OdbcColumn          column    = {
                    .decode = DECODE_GUID, .cell_bytes = sizeof(SQLGUID), .type = COLUMN_TYPE(TYPE_STRING)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 1);

    (void)state;
    assert_str_is(column_str(&vector, 0), "6F9619FF-8B86-D011-B42D-00C04FC964FF");
    arena_close(arena);
}

static void binary_stays_where_the_driver_put_it(void **state)
{
    static const uint8_t cells[2][8] = {{1, 0, 3}, {0}};
    static const SQLLEN  lengths[]   = {3, 0};
    Arena               *arena       = arena_new();
    OdbcColumn           column      = {
                       .decode = DECODE_BINARY, .cell_bytes = 8, .type = COLUMN_TYPE(TYPE_BINARY)};
    ColumnVector vector = decode(arena, &column, cells, lengths, 2);

    (void)state;
    assert_ptr_equal(column_str(&vector, 0).ptr, column.cells);
    assert_int_equal(column_str(&vector, 0).len, 3);
    assert_int_equal(column_str(&vector, 1).len, 0);
    arena_close(arena);
}

static void a_value_longer_than_declared_is_an_error(void **state)
{
    static const SQLLEN bad[] = {9, SQL_NO_TOTAL};
    Arena              *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        for (int text = 0; text <= 1; text++) {
            OdbcColumn   column = {.decode     = text ? DECODE_TEXT : DECODE_BINARY,
                                   .cell_bytes = 8,
                                   .type       = COLUMN_TYPE(text ? TYPE_STRING : TYPE_BINARY),
                                   .cells      = arena_alloc(arena, 16),
                                   .lengths    = ARENA_NEW(arena, SQLLEN)};
            ColumnVector vector;
            Err          err  = ERR_INIT;
            column.lengths[0] = bad[i];
            assert_false(odbc_decode(&column, 1, arena, &vector, &err));
            assert_err(&err, ERR_QUERY, "longer than the driver declared");
        }
    arena_close(arena);
}

static void put_utf16(uint8_t *cell, const char *text, SQLLEN *length)
{
    *length = (SQLLEN)(2 * utf8_to_utf16le(str_from_c(text), cell));
}

static void times_of_day_have_nine_digits_and_offsets_are_instants(void **state)
{
    static const char *const texts[]      = {"13:50:01.1234567", "00:00:00", "23:59:59.9"};
    static const char *const wants[]      = {"13:50:01.123456700", "00:00:00.000000000",
                                             "23:59:59.900000000"};
    uint8_t                  cells[3][80] = {{0}};
    SQLLEN                   lengths[3];
    Arena                   *arena = arena_new();
    OdbcColumn column = {.decode = DECODE_TIME, .cell_bytes = 80, .type = COLUMN_TYPE(TYPE_STRING)};

    (void)state;
    for (size_t i = 0; i < 3; i++)
        put_utf16(cells[i], texts[i], &lengths[i]);
    ColumnVector vector = decode(arena, &column, cells, lengths, 3);
    for (size_t i = 0; i < 3; i++)
        assert_str_is(column_str(&vector, i), wants[i]);

    put_utf16(cells[0], "2026-06-01 10:00:00.1234567 +02:00", &lengths[0]);
    lengths[1] = SQL_NULL_DATA;
    put_utf16(cells[2], "0001-01-02 00:00:00 -14:00", &lengths[2]);
    column = (OdbcColumn){
        .decode = DECODE_DATETIMEOFFSET, .cell_bytes = 80, .type = COLUMN_TYPE(TYPE_TIMESTAMP)};
    vector = decode(arena, &column, cells, lengths, 3);
    assert_int_equal(column_i64(&vector, 0), us("2026-06-01T08:00:00.123456"));
    assert_true(column_is_null(&vector, 1));
    assert_int_equal(column_i64(&vector, 2), us("0001-01-02T14:00:00"));
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_width_values_are_not_copied),
        cmocka_unit_test(datetime2_is_cut_and_datetime_is_rounded),
        cmocka_unit_test(dates_become_days_and_nulls_cost_nothing),
        cmocka_unit_test(numerics_become_decimals_of_any_width),
        cmocka_unit_test(extreme_numerics_hold),
        cmocka_unit_test(money_is_ten_thousandths_with_its_upper_half_first),
        cmocka_unit_test(decimals_of_other_drivers_are_read_as_text),
        cmocka_unit_test(integers_become_the_wanted_type_or_are_refused),
        cmocka_unit_test(guids_are_upper_case),
        cmocka_unit_test(binary_stays_where_the_driver_put_it),
        cmocka_unit_test(a_value_longer_than_declared_is_an_error),
        cmocka_unit_test(times_of_day_have_nine_digits_and_offsets_are_instants),
    };
    return RUN_TESTS(tests);
}
