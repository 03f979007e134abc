/* Rows in their wire form: every type at its extremes comes back, and the bytes are those of
 * sqlserver.md 2.9. */
#include "support/test_support.h"

#include "sim/model/model_internal.h"
#include "support/sim_model.h"

static SimType type_of(const char *text)
{
    SimType type;
    assert_true(sim_type_parse(str_from_c(text), &type));
    return type;
}

typedef struct WireCase {
    const char *type, *text; /* text NULL: NULL */
    const char *hex;
} WireCase;

static const WireCase cases[] = {
    {"bit", "1", "0101"},
    {"bit", NULL, "00"},
    {"tinyint", "255", "01FF"},
    {"smallint", "-32768", "020080"},
    {"int", "2147483647", "04FFFFFF7F"},
    {"int", "-1", "04FFFFFFFF"},
    {"bigint", "-9223372036854775808", "080000000000000080"},
    {"real", "1.5", "040000C03F"},
    {"float", "-0.5", "08000000000000E0BF"},
    {"decimal(9,2)", "-123.45", "050039300000"},
    {"decimal(19,0)", "1", "09010100000000000000"},
    {"decimal(38,0)", "99999999999999999999999999999999999999",
     "1101FFFFFFFF3F228A097AC4865AA84C3B4B"},
    {"money", "-1.0001", "08FFFFFFFFEFD8FFFF"},
    {"smallmoney", "1", "0410270000"},
    {"date", "0001-01-01", "03000000"},
    {"date", "9999-12-31", "03DAB937"},
    {"time(7)", "23:59:59.9999999", "05FFBF692AC9"},
    {"time(0)", "00:00:01", "03010000"},
    {"datetime", "1900-01-01 00:00:00.003", "080000000001000000"},
    {"datetime", "1753-01-01", "08462EFFFF00000000"},
    {"smalldatetime", "2079-06-06 23:59", "04FFFF9F05"},
    {"datetime2(3)", "2026-01-02 03:04:05.678", "072E8BA80021490B"},
    {"datetimeoffset(0)", "1970-01-01 00:00:00 +00:00", "080000003AF90A0000"},
    {"char(3)", "ab", "0300616220"},
    {"varchar(10)", "abc", "0300616263"},
    {"varchar(10)", "", "0000"},
    {"varchar(10)", NULL, "FFFF"},
    {"nvarchar(10)", "a", "02006100"},
    {"varchar(max)", "ab",
     "02000000000000000200000061620000"
     "0000"},
    {"varchar(max)", "", "000000000000000000000000"},
    {"varchar(max)", NULL, "FFFFFFFFFFFFFFFF"},
    {"uniqueidentifier", "00010203-0405-0607-0809-0A0B0C0D0E0F",
     "10030201000504070608090A0B0C0D0E0F"},
    {"uniqueidentifier", NULL, "00"},
    {"text", NULL, "00"},
};

static SimValue value_of(Arena *arena, const char *text, const SimType *type)
{
    SimError error = SIM_ERROR_INIT;
    SimValue out;

    if (text == NULL) return sim_null(*type);
    SimValue from = sim_nvarchar(arena, str_from_c(text));
    assert_sim(sim_convert(&from, type, 0, false, arena, &out, &error), &error);
    return out;
}

static void values_have_their_wire_form_and_come_back(void **state)
{
    Arena *arena = arena_new();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        SimType  type  = type_of(cases[i].type);
        SimValue value = value_of(arena, cases[i].text, &type), back;
        size_t   size  = wire_size(&type, &value);
        uint8_t *wire  = arena_alloc(arena, size);
        wire_put(&type, &value, wire);
        Str hex = hex_encode(arena, (Bytes){wire, size}, true);
        if (!str_equal_c(hex, cases[i].hex))
            fail_msg("%s %s: want %s, got %.*s", cases[i].type,
                     cases[i].text ? cases[i].text : "NULL", cases[i].hex, STR_ARG(hex));
        wire_get(&type, (Bytes){wire, size}, &back);
        assert_int_equal(back.is_null, value.is_null);
        if (!value.is_null && sim_compare_same(&value, &back) != 0)
            fail_msg("%s %s does not come back", cases[i].type, cases[i].text);
    }
    arena_close(arena);
}

static void old_text_and_variants_come_back(void **state)
{
    Arena   *arena = arena_new();
    SimType  image = type_of("image"), variant = type_of("sql_variant");
    SimValue values[] = {{.type = image, .bytes = {(const uint8_t *)"abc", 3}},
                         sim_int(-5, SIM_BIGINT),
                         sim_nvarchar(arena, STR("x")),
                         sim_decimal((Int128){.lower = 15}, 5, 1),
                         sim_numeric((Int128){.lower = 15}, 5, 1),
                         sim_null(variant)};
    (void)state;

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        const SimType *type = i == 0 ? &image : &variant;
        size_t         size = wire_size(type, &values[i]);
        uint8_t       *wire = arena_alloc(arena, size);
        SimValue       back;
        wire_put(type, &values[i], wire);
        wire_get(type, (Bytes){wire, size}, &back);
        assert_int_equal(back.is_null, values[i].is_null);
        if (back.is_null) continue;
        assert_int_equal(back.type.kind, values[i].type.kind);
        assert_int_equal(back.type.is_numeric, values[i].type.is_numeric);
        assert_int_equal(sim_compare_same(&back, &values[i]), 0);
    }
    arena_close(arena);
}

static void offsets_are_as_wide_as_the_row_needs(void **state)
{
    static const size_t middle[] = {0, 253, 254, 65533, 65534, 70000};
    Arena              *arena    = arena_new();
    uint8_t            *bytes    = arena_alloc(arena, 70000);
    Slab               *slab     = slab_new();

    (void)state;
    for (size_t i = 0; i < 70000; i++)
        bytes[i] = (uint8_t)(i * 31);
    for (size_t i = 0; i < COUNT_OF(middle); i++) {
        size_t   size  = middle[i] + 2;
        RowBuild build = row_build_begin(slab, 3, size);
        row_build_copy(&build, (Bytes){bytes, 1});
        row_build_copy(&build, (Bytes){bytes, middle[i]});
        row_build_copy(&build, (Bytes){bytes + 7, 1});
        assert_int_equal(build.row->flags, size < 256 ? ROW_TINY : size < 65536 ? 0 : ROW_WIDE);
        assert_int_equal(row_size(build.row), size);
        assert_int_equal(row_wire(build.row, 0).len, 1);
        assert_int_equal(row_wire(build.row, 1).len, middle[i]);
        assert_memory_equal(row_wire(build.row, 1).ptr, bytes, middle[i]);
        assert_int_equal(row_wire(build.row, 2).ptr[0], bytes[7]);
        row_release(build.row);
    }
    assert_int_equal(slab_used(slab), 0);
    slab_close(slab);
    arena_close(arena);
}

static void a_seek_key_of_two_columns_keeps_their_order(void **state)
{
    Arena *arena = arena_new();
    (void)state;

    /* 'a' then 'c' against 'ab' then 'b': the first column decides, whatever comes behind it. */
    Buf      left = buf_new(arena, 0), right = buf_new(arena, 0);
    SimValue a = sim_varchar(arena, STR("a")), ab = sim_varchar(arena, STR("ab")),
             b = sim_varchar(arena, STR("b")), c = sim_varchar(arena, STR("c"));
    sim_sort_key(&a, false, &left);
    sim_sort_key(&c, false, &left);
    sim_sort_key(&ab, false, &right);
    sim_sort_key(&b, false, &right);
    assert_true(str_compare(buf_str(&left), buf_str(&right)) < 0);
    buf_clear(&left);
    buf_clear(&right);
    sim_sort_key(&a, true, &left);
    sim_sort_key(&c, true, &left);
    sim_sort_key(&ab, true, &right);
    sim_sort_key(&b, true, &right);
    assert_true(str_compare(buf_str(&left), buf_str(&right)) > 0);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_wire_form_and_come_back),
        cmocka_unit_test(old_text_and_variants_come_back),
        cmocka_unit_test(offsets_are_as_wide_as_the_row_needs),
        cmocka_unit_test(a_seek_key_of_two_columns_keeps_their_order),
    };
    return RUN_TESTS(tests);
}
