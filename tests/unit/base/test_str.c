#include "support/test_support.h"

static int make_arena(void **state)
{
    *state = arena_new();
    return 0;
}

static int close_arena(void **state)
{
    arena_close(*state);
    return 0;
}

static void texts_compare_bytewise(void **state)
{
    (void)state;
    assert_int_equal(str_compare(STR("a"), STR("b")), -1);
    assert_int_equal(str_compare(STR("b"), STR("a")), 1);
    assert_int_equal(str_compare(STR("a"), STR("aa")), -1);
    assert_int_equal(str_compare(STR(""), (Str){NULL, 0}), 0);
    assert_int_equal(str_compare(STR("\xFF"), STR("a")), 1); /* bytes are unsigned */
    assert_true(str_equal(STR(""), (Str){NULL, 0}));
    assert_false(str_equal(STR("a"), STR("b")));
    assert_true(str_equal_c(STR("abc"), "abc"));
}

static void only_ascii_letters_fold(void **state)
{
    (void)state;
    assert_true(str_equal_ignoring_case(STR("OrDer_1"), STR("oRdEr_1")));
    assert_false(str_equal_ignoring_case(STR("\xC3\x84"), STR("\xC3\xA4"))); /* Ä, ä */
    assert_false(str_equal_ignoring_case(STR("["), STR("{")));
    assert_false(str_equal_ignoring_case(STR("@"), STR("`")));
    assert_str_is(str_lower_ascii(*state, STR("AZaz[\xC3\x84")), "azaz[\xC3\x84");
}

static void text_is_found_where_it_first_stands(void **state)
{
    (void)state;
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 0), 1);
    assert_int_equal(str_find(STR("abcabc"), STR("bc"), 2), 4);
    assert_int_equal(str_find(STR("abcabc"), STR("bd"), 0), -1);
    assert_int_equal(str_find(STR("aaab"), STR("aab"), 0), 1);
    assert_int_equal(str_find(STR("abc"), STR(""), 3), 3);
    assert_int_equal(str_find(STR("abc"), STR(""), 4), -1);
    assert_int_equal(str_find(STR("ab"), STR("abc"), 0), -1);
    assert_int_equal(str_find(STR("ab"), STR("b"), 9), -1);
    assert_int_equal(str_find_char(STR("a.b.c"), '.', 2), 3);
    assert_int_equal(str_find_char(STR(""), '.', 0), -1);
    assert_int_equal(str_find_last_char(STR("a.b.c"), '.'), 3);
    assert_int_equal(str_find_last_char(STR("abc"), '.'), -1);
}

static void starts_and_ends_are_seen(void **state)
{
    (void)state;
    assert_true(str_starts_with(STR("orders.g1"), STR("orders")));
    assert_false(str_starts_with(STR("ord"), STR("orders")));
    assert_true(str_ends_with(STR("a.parquet"), STR(".parquet")));
    assert_false(str_ends_with(STR("t"), STR("et")));
    assert_true(str_starts_with(STR(""), STR("")));
}

static void slices_are_clamped(void **state)
{
    (void)state;
    assert_str_is(str_slice(STR("hello"), 1, 3), "el");
    assert_str_is(str_slice(STR("hello"), 3, 99), "lo");
    assert_str_is(str_slice(STR("hello"), 9, 99), "");
    assert_str_is(str_slice(STR("hello"), 4, 2), "");
    assert_null(str_slice((Str){NULL, 0}, 0, 5).ptr);
}

static void trim_takes_blanks_off_both_ends(void **state)
{
    (void)state;
    assert_str_is(str_trim(STR(" \t\r\n a b \n")), "a b");
    assert_str_is(str_trim(STR("  ")), "");
    assert_str_is(str_trim(STR("")), "");
}

static void split_gives_every_part_also_empty_ones(void **state)
{
    Str         rest    = STR("a,,b,");
    Str         part    = STR_EMPTY;
    const char *parts[] = {"a", "", "b", ""};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        assert_true(str_split_next(&rest, ',', &part));
        assert_str_is(part, parts[i]);
    }
    assert_false(str_split_next(&rest, ',', &part));

    rest = STR("");
    assert_true(str_split_next(&rest, ',', &part));
    assert_false(str_split_next(&rest, ',', &part));
}

static void made_texts_have_a_nul_behind_them(void **state)
{
    char long_text[1000];

    memset(long_text, 'x', sizeof long_text);
    Str copy = str_copy(*state, (Str){long_text, sizeof long_text});
    assert_int_equal(copy.len, sizeof long_text);
    assert_int_equal(copy.ptr[copy.len], 0);
    assert_string_equal(str_c(*state, STR("ab\0c")), "ab");
    assert_string_equal(str_c(*state, (Str){NULL, 0}), "");
    assert_str_is(str_printf(*state, "%d-%s", 7, "x"), "7-x");
    Str printed = str_printf(*state, "%.*s!", 1000, long_text);
    assert_int_equal(printed.len, 1001);
    assert_int_equal(printed.ptr[1000], '!');
    assert_int_equal(printed.ptr[1001], 0);
    assert_null(str_from_c(NULL).ptr);
}

static void integers_are_parsed_whole_or_not_at_all(void **state)
{
    int64_t     signed_out   = 0;
    uint64_t    unsigned_out = 0;
    const char *bad[]        = {
               "",   "-", "+1", " 1", "1 ", "1x", "--1", "9223372036854775808", "-9223372036854775809",
               "0x1"};

    (void)state;
    assert_true(str_parse_i64(STR("9223372036854775807"), &signed_out));
    assert_int_equal(signed_out, INT64_MAX);
    assert_true(str_parse_i64(STR("-9223372036854775808"), &signed_out));
    assert_int_equal(signed_out, INT64_MIN);
    assert_true(str_parse_i64(STR("-007"), &signed_out));
    assert_int_equal(signed_out, -7);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(str_parse_i64(str_from_c(bad[i]), &signed_out));
    assert_int_equal(signed_out, -7); /* untouched */

    assert_true(str_parse_u64(STR("18446744073709551615"), &unsigned_out));
    assert_true(unsigned_out == UINT64_MAX);
    assert_false(str_parse_u64(STR("18446744073709551616"), &unsigned_out));
    assert_false(str_parse_u64(STR("-1"), &unsigned_out));
}

static void doubles_are_parsed_whole_or_not_at_all(void **state)
{
    double      out   = 0;
    const char *bad[] = {"",    "-",  ".5", "5.", "1e",  "1e+",   "inf",  "nan",
                         "0x1", " 1", "1 ", "+1", "1_0", "1e999", "1.2.3"};
    char        digits[300];

    (void)state;
    assert_true(str_parse_double(STR("-12.5e-1"), &out));
    assert_true(out == -1.25);
    assert_true(str_parse_double(STR("1E3"), &out));
    assert_true(out == 1000);
    assert_true(str_parse_double(STR("1e-999"), &out));
    assert_true(out == 0);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(str_parse_double(str_from_c(bad[i]), &out));
    memset(digits, '9', sizeof digits);
    assert_true(str_parse_double((Str){digits, sizeof digits}, &out));
    assert_true(out == 1e300);
    assert_true(str_parse_double((Str){"123456", 3}, &out)); /* not past its end */
    assert_true(out == 123);
}

static void hex_goes_both_ways(void **state)
{
    const uint8_t raw[] = {0x00, 0x0F, 0xA5, 0xFF};
    Bytes         back  = {NULL, 0};

    assert_str_is(hex_encode(*state, (Bytes){raw, 4}, true), "000FA5FF");
    assert_str_is(hex_encode(*state, (Bytes){raw, 4}, false), "000fa5ff");
    assert_str_is(hex_encode(*state, (Bytes){NULL, 0}, false), "");
    assert_true(hex_decode(*state, STR("000fA5Ff"), &back));
    assert_int_equal(back.len, 4);
    assert_memory_equal(back.ptr, raw, 4);
    assert_false(hex_decode(*state, STR("000"), &back));
    assert_false(hex_decode(*state, STR("0g"), &back));
    assert_true(hex_decode(*state, STR(""), &back));
    assert_int_equal(back.len, 0);
}

static void hashes_depend_on_every_byte(void **state)
{
    char text[20] = "abcdefghijklmnopqrs";

    (void)state;
    uint64_t before = str_hash((Str){text, 19});
    for (size_t i = 0; i < 19; i++) {
        text[i] ^= 1;
        assert_true(str_hash((Str){text, 19}) != before);
        text[i] ^= 1;
    }
    assert_true(str_hash((Str){text, 19}) == before);
    assert_true(str_hash(STR("a\0")) != str_hash(STR("a")));
}

#define with_arena(test) cmocka_unit_test_setup_teardown(test, make_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_arena(texts_compare_bytewise),
        with_arena(only_ascii_letters_fold),
        with_arena(text_is_found_where_it_first_stands),
        with_arena(starts_and_ends_are_seen),
        with_arena(slices_are_clamped),
        with_arena(trim_takes_blanks_off_both_ends),
        with_arena(split_gives_every_part_also_empty_ones),
        with_arena(made_texts_have_a_nul_behind_them),
        with_arena(integers_are_parsed_whole_or_not_at_all),
        with_arena(doubles_are_parsed_whole_or_not_at_all),
        with_arena(hex_goes_both_ways),
        with_arena(hashes_depend_on_every_byte),
    };
    return RUN_TESTS(tests);
}
