/* Types and values: each with its extremes, the bytes of some, and what is refused. */
#include "unit/tds/tds_test.h"

#include "tds/tds_type.h"

#include <float.h>
#include <math.h>

static void wire_open(Wire *wire)
{
    wire_begin(wire, TDS_PACKET_RESPONSE, 1);
}

/* The value goes out as in a row and as a parameter, and comes back; the bytes of the row. */
static TdsValue turned_around(Wire *wire, const TdsType *type, const TdsValue *value,
                              Bytes *bytes_out)
{
    TdsType   got_type;
    TdsValue  in_row, as_parameter;
    TdsCursor cursor;

    wire_open(wire);
    tds_put_type(wire->writer, type);
    tds_put_value(wire->writer, type, value);
    tds_put_type(wire->writer, type);
    tds_put_parameter_value(wire->writer, type, value);
    cursor = tds_cursor(pipe_finish(&wire->pipe, wire->writer));
    assert_true(tds_get_type(&cursor, &got_type));
    assert_int_equal(got_type.token, type->token);
    assert_int_equal(got_type.precision, type->precision);
    assert_int_equal(got_type.scale, type->scale);
    assert_int_equal(got_type.is_fixed, type->is_fixed);
    assert_memory_equal(got_type.collation, type->collation, 5);
    if (type->token != TDS_TYPE_DATEN) assert_int_equal(got_type.length, type->length);
    bytes_out->ptr = cursor.ptr + cursor.at;
    assert_true(tds_get_row_value(&cursor, &got_type, wire->arena, &in_row));
    bytes_out->len = (size_t)(cursor.ptr + cursor.at - bytes_out->ptr);
    assert_true(tds_get_type(&cursor, &got_type));
    assert_true(tds_get_value(&cursor, &got_type, wire->arena, &as_parameter));
    assert_int_equal(tds_left(&cursor), 0);
    assert_int_equal(in_row.is_null, as_parameter.is_null);
    assert_int_equal(in_row.is_null, value->is_null);
    return in_row;
}

static void assert_integer(uint8_t token, int32_t length, int64_t number)
{
    Wire     wire;
    Bytes    bytes;
    TdsType  nullable = {.token = token, .length = length};
    TdsType  fixed    = {.token = token, .length = length, .is_fixed = true};
    TdsValue value    = {.i64 = number};

    assert_int_equal(turned_around(&wire, &nullable, &value, &bytes).i64, number);
    assert_int_equal(bytes.len, length + 1);
    assert_int_equal(bytes.ptr[0], length);
    wire_close(&wire);
    assert_int_equal(turned_around(&wire, &fixed, &value, &bytes).i64, number);
    assert_int_equal(bytes.len, length);
    wire_close(&wire);
}

static void integers_bits_and_money_keep_their_extremes(void **state)
{
    (void)state;
    for (int64_t number = 0; number < 256; number++)
        assert_integer(TDS_TYPE_INTN, 1, number);
    assert_integer(TDS_TYPE_INTN, 2, INT16_MIN);
    assert_integer(TDS_TYPE_INTN, 2, INT16_MAX);
    assert_integer(TDS_TYPE_INTN, 4, INT32_MIN);
    assert_integer(TDS_TYPE_INTN, 4, INT32_MAX);
    assert_integer(TDS_TYPE_INTN, 8, INT64_MIN);
    assert_integer(TDS_TYPE_INTN, 8, INT64_MAX);
    assert_integer(TDS_TYPE_INTN, 8, -1);
    assert_integer(TDS_TYPE_BITN, 1, 0);
    assert_integer(TDS_TYPE_BITN, 1, 1);
    assert_integer(TDS_TYPE_MONEYN, 8, INT64_MIN);
    assert_integer(TDS_TYPE_MONEYN, 8, INT64_MAX);
    assert_integer(TDS_TYPE_MONEYN, 8, -1);
    assert_integer(TDS_TYPE_MONEYN, 8, 0x0000000123456789);
    assert_integer(TDS_TYPE_MONEYN, 4, INT32_MIN);
    assert_integer(TDS_TYPE_MONEYN, 4, INT32_MAX);
}

static void floats_keep_every_bit(void **state)
{
    static const double numbers[] = {0.0,     -0.0,     1.5,    -0.1,    DBL_MAX,
                                     DBL_MIN, -DBL_MAX, 5e-324, FLT_MAX, -FLT_MIN};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        for (int32_t length = 4; length <= 8; length += 4) {
            Wire     wire;
            Bytes    bytes;
            TdsType  type  = {.token = TDS_TYPE_FLTN, .length = length};
            TdsValue value = {.f64 = length == 4 ? (double)(float)numbers[i] : numbers[i]};
            TdsValue got   = turned_around(&wire, &type, &value, &bytes);
            assert_memory_equal(&got.f64, &value.f64, sizeof got.f64);
            wire_close(&wire);
        }
}

static void decimals_keep_38_digits(void **state)
{
    static const struct {
        uint8_t     precision, scale, length;
        const char *digits;
    } cases[] = {
        {1, 0, 5, "9"},
        {9, 2, 5, "9999999.99"},
        {10, 0, 9, "9999999999"},
        {19, 4, 9, "999999999999999.9999"},
        {20, 0, 13, "99999999999999999999"},
        {28, 28, 13, "0.9999999999999999999999999999"},
        {29, 0, 17, "99999999999999999999999999999"},
        {38, 0, 17, "99999999999999999999999999999999999999"},
        {38, 38, 17, "0.00000000000000000000000000000000000001"},
        {38, 10, 17, "0.0000000000"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int sign = 0; sign < 2; sign++) {
            Wire     wire;
            Bytes    bytes;
            TdsType  type  = {.token     = i % 2 ? TDS_TYPE_DECIMALN : TDS_TYPE_NUMERICN,
                              .length    = cases[i].length,
                              .precision = cases[i].precision,
                              .scale     = cases[i].scale};
            TdsValue value = {.is_null = false}, got;
            assert_true(
                decimal_parse(str_from_c(cases[i].digits), type.precision, type.scale, &value.dec));
            if (sign) value.dec = int128_negate(value.dec);
            got = turned_around(&wire, &type, &value, &bytes);
            assert_int_equal(int128_compare(got.dec, value.dec), 0);
            assert_int_equal(bytes.len, 1 + cases[i].length);
            wire_close(&wire);
        }
}

static TdsValue time_value(int32_t days, int64_t ticks, int16_t offset)
{
    return (TdsValue){.time = {.days = days, .ticks = ticks, .offset_minutes = offset}};
}

static void assert_time(const TdsType *type, TdsValue value, size_t len)
{
    Wire     wire;
    Bytes    bytes;
    TdsValue got = turned_around(&wire, type, &value, &bytes);

    assert_int_equal(got.time.days, value.time.days);
    assert_int_equal(got.time.ticks, value.time.ticks);
    assert_int_equal(got.time.offset_minutes, value.time.offset_minutes);
    assert_int_equal(bytes.len, len);
    wire_close(&wire);
}

static void times_keep_their_extremes_at_every_scale(void **state)
{
    const int64_t day   = INT64_C(864000000000);
    const int32_t last  = 3652058; /* 9999-12-31 */
    int64_t       unit  = 10000000;
    TdsType       date  = {.token = TDS_TYPE_DATEN, .length = 3};
    TdsType       dt    = {.token = TDS_TYPE_DATETIMEN, .length = 8};
    TdsType       small = {.token = TDS_TYPE_DATETIMEN, .length = 4};

    (void)state;
    for (uint8_t scale = 0; scale <= 7; scale++, unit /= 10) {
        size_t  clock  = scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
        TdsType time   = {.token = TDS_TYPE_TIMEN, .scale = scale};
        TdsType dt2    = {.token = TDS_TYPE_DATETIME2N, .scale = scale};
        TdsType offset = {.token = TDS_TYPE_DATETIMEOFFSETN, .scale = scale};
        assert_time(&time, time_value(0, 0, 0), 1 + clock);
        assert_time(&time, time_value(0, day - unit, 0), 1 + clock);
        assert_time(&dt2, time_value(0, 0, 0), 4 + clock);
        assert_time(&dt2, time_value(last, day - unit, 0), 4 + clock);
        assert_time(&offset, time_value(0, 0, -840), 6 + clock);
        assert_time(&offset, time_value(last, day - unit, 840), 6 + clock);
    }
    assert_time(&date, time_value(0, 0, 0), 4);
    assert_time(&date, time_value(last, 0, 0), 4);
    assert_time(&dt, time_value(-53690, 0, 0), 9); /* 1753-01-01 */
    assert_time(&dt, time_value(2958463, 25919999, 0), 9);
    assert_time(&small, time_value(0, 0, 0), 5);
    assert_time(&small, time_value(65535, 1439, 0), 5);
}

static void assert_bytes_come_back(TdsType type, Bytes bytes, size_t wire_len)
{
    Wire     wire;
    Bytes    row;
    TdsValue value = {.bytes = bytes}, got = turned_around(&wire, &type, &value, &row);

    assert_int_equal(got.bytes.len, bytes.len);
    if (bytes.len) assert_memory_equal(got.bytes.ptr, bytes.ptr, bytes.len);
    assert_int_equal(row.len, wire_len);
    wire_close(&wire);
}

static void text_and_binary_of_every_length(void **state)
{
    static const uint8_t tokens[] = {TDS_TYPE_BIGVARCHAR, TDS_TYPE_NVARCHAR, TDS_TYPE_BIGVARBINARY,
                                     TDS_TYPE_BIGCHAR,    TDS_TYPE_NCHAR,    TDS_TYPE_BIGBINARY};
    static const size_t  sizes[]  = {0, 2, 254, 8000, 16382, 16384, 65534, 65536, 1000000};
    Arena               *arena    = arena_new();
    uint8_t             *bytes    = arena_alloc(arena, 1000000);

    (void)state;
    for (size_t i = 0; i < 1000000; i++)
        bytes[i] = (uint8_t)i;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        Bytes value = {bytes, sizes[s]};
        for (size_t t = 0; t < COUNT_OF(tokens) && sizes[s] <= 8000; t++) {
            TdsType type = {.token = tokens[t], .length = 8000};
            if (t % 3 != 2) memcpy(type.collation, "\x09\x04\xD0\x00\x34", 5);
            assert_bytes_come_back(type, value, 2 + sizes[s]);
        }
        for (size_t t = 0; t < 3; t++)
            assert_bytes_come_back((TdsType){.token = tokens[t], .length = -1}, value,
                                   8 + (sizes[s] ? 4u : 0u) + sizes[s] + 4);
        assert_bytes_come_back((TdsType){.token = TDS_TYPE_XML, .length = -1}, value,
                               8 + (sizes[s] ? 4u : 0u) + sizes[s] + 4);
        assert_bytes_come_back((TdsType){.token = TDS_TYPE_NTEXT, .length = INT32_MAX}, value,
                               25 + 4 + sizes[s]);
        assert_bytes_come_back((TdsType){.token = TDS_TYPE_IMAGE, .length = INT32_MAX}, value,
                               25 + 4 + sizes[s]);
    }
    assert_bytes_come_back((TdsType){.token = TDS_TYPE_GUID, .length = 16}, (Bytes){bytes, 16}, 17);
    arena_close(arena);
}

static void null_of_every_type(void **state)
{
    static const TdsType types[] = {
        {.token = TDS_TYPE_INTN, .length = 4},
        {.token = TDS_TYPE_BITN, .length = 1},
        {.token = TDS_TYPE_FLTN, .length = 8},
        {.token = TDS_TYPE_MONEYN, .length = 8},
        {.token = TDS_TYPE_DATETIMEN, .length = 8},
        {.token = TDS_TYPE_DATEN, .length = 3},
        {.token = TDS_TYPE_TIMEN, .scale = 7},
        {.token = TDS_TYPE_DATETIME2N, .scale = 3},
        {.token = TDS_TYPE_DATETIMEOFFSETN, .scale = 0},
        {.token = TDS_TYPE_NUMERICN, .length = 17, .precision = 38, .scale = 0},
        {.token = TDS_TYPE_GUID, .length = 16},
        {.token = TDS_TYPE_BIGVARCHAR, .length = 10},
        {.token = TDS_TYPE_NVARCHAR, .length = -1},
        {.token = TDS_TYPE_BIGVARBINARY, .length = 8000},
        {.token = TDS_TYPE_TEXT, .length = INT32_MAX},
        {.token = TDS_TYPE_IMAGE, .length = INT32_MAX},
        {.token = TDS_TYPE_XML, .length = -1},
        {.token = TDS_TYPE_VARIANT, .length = 8009},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        Wire     wire;
        Bytes    bytes;
        TdsValue value = {.is_null = true};
        assert_true(turned_around(&wire, &types[i], &value, &bytes).is_null);
        wire_close(&wire);
    }
}

static void variants_carry_their_own_type(void **state)
{
    static const uint8_t text[]  = {'h', 0, 'i', 0};
    const TdsVariant     cases[] = {
            {{.token = TDS_TYPE_INTN, .length = 4}, {.i64 = -5}},
            {{.token = TDS_TYPE_BITN, .length = 1}, {.i64 = 1}},
            {{.token = TDS_TYPE_MONEYN, .length = 8}, {.i64 = 123456}},
            {{.token = TDS_TYPE_NUMERICN, .length = 17, .precision = 38, .scale = 2},
             {.dec = {.lower = 7, .upper = 1}}},
            {{.token = TDS_TYPE_DATETIME2N, .scale = 7}, {.time = {.days = 5, .ticks = 6}}},
            {{.token = TDS_TYPE_DATETIMEN, .length = 8}, {.time = {.days = -5, .ticks = 6}}},
            {{.token = TDS_TYPE_DATEN, .length = 3}, {.time = {.days = 9}}},
            {{.token = TDS_TYPE_GUID, .length = 16},
             {.bytes = {(const uint8_t *)"0123456789abcdef", 16}}},
            {{.token = TDS_TYPE_NVARCHAR, .length = 40}, {.bytes = {text, sizeof text}}},
            {{.token = TDS_TYPE_BIGVARBINARY, .length = 8000}, {.bytes = {text, 3}}},
            {{.token = TDS_TYPE_BIGVARCHAR, .length = 10}, {.bytes = {text, 0}}},
    };
    const TdsType type = {.token = TDS_TYPE_VARIANT, .length = 8009};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Wire              wire;
        Bytes             bytes;
        TdsValue          value = {.variant = &cases[i]};
        const TdsVariant *got   = turned_around(&wire, &type, &value, &bytes).variant;
        assert_int_equal(got->type.token, cases[i].type.token);
        assert_int_equal(got->type.scale, cases[i].type.scale);
        if (i >= 7) {
            assert_int_equal(got->value.bytes.len, cases[i].value.bytes.len);
            assert_memory_equal(got->value.bytes.ptr, cases[i].value.bytes.ptr,
                                cases[i].value.bytes.len);
        } else if (i >= 4) {
            assert_int_equal(got->value.time.days, cases[i].value.time.days);
            assert_int_equal(got->value.time.ticks, cases[i].value.time.ticks);
        } else {
            assert_int_equal(got->value.i64, cases[i].value.i64);
        }
        wire_close(&wire);
    }
}

/* --- bytes from others --- */

static bool type_reads(const char *bytes, size_t len, TdsType *out)
{
    TdsCursor cursor = tds_cursor((Bytes){(const uint8_t *)bytes, len});

    return tds_get_type(&cursor, out) && tds_left(&cursor) == 0;
}

#define TYPE_READS(literal, out) type_reads((literal), sizeof(literal) - 1, (out))

static void types_that_no_server_has_are_refused(void **state)
{
    TdsType type;

    (void)state;
    assert_true(TYPE_READS("\x26\x04", &type));
    assert_false(TYPE_READS("\x26\x03", &type));         /* an integer of three bytes */
    assert_false(TYPE_READS("\x68\x02", &type));         /* a bit of two */
    assert_false(TYPE_READS("\x6A\x11\x27\x00", &type)); /* 39 digits */
    assert_false(TYPE_READS("\x6A\x11\x00\x00", &type)); /* none */
    assert_false(TYPE_READS("\x6A\x11\x05\x06", &type)); /* more behind the point than there are */
    assert_false(TYPE_READS("\x29\x08", &type));         /* 10 ns */
    assert_false(
        TYPE_READS("\xE7\x41\x1F\x00\x00\x00\x00\x00", &type)); /* nvarchar of 8001 bytes */
    assert_false(TYPE_READS("\xF3\x00", &type));                /* a table */
    assert_false(TYPE_READS("\xE7\x40", &type));                /* cut off */
    assert_false(TYPE_READS("", &type));
    assert_true(TYPE_READS("\x6C\x6C\x0A\x02", &type)); /* the token again for the length */
    assert_int_equal(type.length, 17);
    assert_int_equal(type.precision, 10);
    assert_true(TYPE_READS("\x38", &type));
    assert_true(type.is_fixed);
    assert_int_equal(type.token, TDS_TYPE_INTN);
    assert_true(TYPE_READS("\xE7\xFF\xFF\x09\x04\xD0\x00\x34", &type));
    assert_int_equal(type.length, -1);
    assert_true(
        TYPE_READS("\xF1\x01\x01\x61\x00\x00\x01\x00\x62\x00", &type)); /* xml with a schema */
}

static bool value_reads(TdsType type, const char *bytes, size_t len, TdsValue *out)
{
    Arena    *arena  = arena_new();
    TdsCursor cursor = tds_cursor((Bytes){(const uint8_t *)bytes, len});
    bool      ok     = tds_get_value(&cursor, &type, arena, out) && tds_left(&cursor) == 0;

    arena_close(arena);
    return ok;
}

#define VALUE_READS(type, literal, out) value_reads((type), (literal), sizeof(literal) - 1, (out))

static void values_that_do_not_fit_their_type_are_refused(void **state)
{
    const TdsType integer = {.token = TDS_TYPE_INTN, .length = 4};
    const TdsType decimal = {.token = TDS_TYPE_DECIMALN, .length = 17, .precision = 38};
    const TdsType time    = {.token = TDS_TYPE_TIMEN, .scale = 7};
    const TdsType text    = {.token = TDS_TYPE_NVARCHAR, .length = 4};
    const TdsType max     = {.token = TDS_TYPE_NVARCHAR, .length = -1};
    const TdsType guid    = {.token = TDS_TYPE_GUID, .length = 16};
    const TdsType lob     = {.token = TDS_TYPE_TEXT, .length = INT32_MAX};
    const TdsType variant = {.token = TDS_TYPE_VARIANT, .length = 8009};
    TdsValue      value;

    (void)state;
    assert_true(VALUE_READS(integer, "\x04\x01\x02\x03\x04", &value));
    assert_true(VALUE_READS(integer, "\x02\xFF\xFF", &value)); /* narrower: fine */
    assert_int_equal(value.i64, -1);
    assert_false(VALUE_READS(integer, "\x03\x01\x02\x03", &value));
    assert_false(VALUE_READS(integer, "\x08\x01\x02\x03\x04\x05\x06\x07\x08", &value));
    assert_false(VALUE_READS(integer, "\x04\x01\x02", &value));
    assert_false(VALUE_READS(integer, "", &value));
    assert_true(VALUE_READS(decimal, "\x03\x01\xD2\x04", &value)); /* as FreeTDS sends 12.34 */
    assert_int_equal(value.dec.lower, 1234);
    assert_false(VALUE_READS(decimal, "\x01\x01", &value));
    assert_false(VALUE_READS(
        decimal, "\x12\x01\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F\x10\x11",
        &value));
    assert_false(VALUE_READS(
        decimal, "\x11\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        &value));
    assert_false(VALUE_READS(time, "\x04\x01\x02\x03\x04", &value));
    assert_false(VALUE_READS(text,
                             "\x06\x00"
                             "a\0b\0c\0",
                             &value)); /* longer than nvarchar(2) */
    assert_false(VALUE_READS(text,
                             "\x03\x00"
                             "a\0b",
                             &value)); /* half a character */
    assert_false(VALUE_READS(text,
                             "\x04\x00"
                             "a\0",
                             &value));
    assert_false(VALUE_READS(guid,
                             "\x0F"
                             "0123456789abcde",
                             &value));
    assert_false(VALUE_READS(lob,
                             "\xFF\xFF\xFF\x7F"
                             "abc",
                             &value));
    assert_false(VALUE_READS(max,
                             "\x04\0\0\0\0\0\0\0\x02\0\0\0"
                             "a\0\0\0\0\0",
                             &value)); /* not the total */
    assert_false(VALUE_READS(max,
                             "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\0\0\0"
                             "a\0",
                             &value)); /* no end */
    assert_true(VALUE_READS(max,
                            "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\0\0\0"
                            "a\0\x02\0\0\0"
                            "b\0\0\0\0\0",
                            &value));
    assert_int_equal(value.bytes.len, 4);
    assert_false(VALUE_READS(max,
                             "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x03\0\0\0"
                             "a\0b\0\0\0\0",
                             &value));
    assert_false(
        VALUE_READS(variant, "\x04\0\0\0\x38\x00\x01\x02", &value)); /* an int of two bytes */
    assert_false(
        VALUE_READS(variant, "\x03\0\0\0\x62\x00\x01", &value)); /* a variant in a variant */
    assert_false(VALUE_READS(variant, "\xFF\xFF\xFF\xFF\x38\x00", &value));
}

static void the_bytes_of_some_values(void **state)
{
    static const struct {
        TdsType     type;
        TdsValue    value;
        const char *bytes;
        size_t      len;
    } cases[] = {
        /* $1.0000: the high half first */
        {{.token = TDS_TYPE_MONEYN, .length = 8}, {.i64 = 10000}, "\x08\0\0\0\0\x10\x27\0\0", 9},
        {{.token = TDS_TYPE_NUMERICN, .length = 5, .precision = 5, .scale = 2},
         {.dec = {.lower = (uint64_t)-12345, .upper = -1}},
         "\x05\0\x39\x30\0\0",
         6},
        {{.token = TDS_TYPE_DATETIMEN, .length = 4},
         {.time = {.days = 1, .ticks = 60}},
         "\x04\x01\0\x3C\0",
         5},
        {{.token = TDS_TYPE_DATEN}, {.time = {.days = 0x010203}}, "\x03\x03\x02\x01", 4},
        {{.token = TDS_TYPE_TIMEN, .scale = 3},
         {.time = {.ticks = 12340000}},
         "\x04\xD2\x04\0\0",
         5},
        {{.token = TDS_TYPE_DATETIMEOFFSETN, .scale = 0},
         {.time = {.days = 1, .ticks = 20000000, .offset_minutes = -60}},
         "\x08\x02\0\0\x01\0\0\xC4\xFF",
         9},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Wire  wire;
        Bytes body;
        wire_open(&wire);
        tds_put_value(wire.writer, &cases[i].type, &cases[i].value);
        body = pipe_finish(&wire.pipe, wire.writer);
        assert_int_equal(body.len, cases[i].len);
        assert_memory_equal(body.ptr, cases[i].bytes, body.len);
        wire_close(&wire);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_bits_and_money_keep_their_extremes),
        cmocka_unit_test(floats_keep_every_bit),
        cmocka_unit_test(decimals_keep_38_digits),
        cmocka_unit_test(times_keep_their_extremes_at_every_scale),
        cmocka_unit_test(text_and_binary_of_every_length),
        cmocka_unit_test(null_of_every_type),
        cmocka_unit_test(variants_carry_their_own_type),
        cmocka_unit_test(types_that_no_server_has_are_refused),
        cmocka_unit_test(values_that_do_not_fit_their_type_are_refused),
        cmocka_unit_test(the_bytes_of_some_values),
    };

    return RUN_TESTS(tests);
}
