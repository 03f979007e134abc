#include "support/test_support.h"

static void valid_utf8_is_told_from_the_rest(void **state)
{
    const char *good[] = {"",
                          "plain ascii text",
                          "\xC3\xA4",
                          "\xE2\x82\xAC",
                          "\xF0\x9F\x98\x80",
                          "\xED\x9F\xBF",
                          "\xEE\x80\x80",
                          "\xF4\x8F\xBF\xBF",
                          "abcdefgh\xC3\xA4xyzabcdefgh"};
    const char *bad[]  = {"\x80",
                          "\xC3",
                          "\xC0\x80",
                          "\xC1\xBF",
                          "\xE0\x9F\xBF",
                          "\xED\xA0\x80",
                          "\xED\xBF\xBF",
                          "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80",
                          "\xF5\x80\x80\x80",
                          "\xE2\x82",
                          "\xF0\x9F\x98",
                          "\xC3(",
                          "abcdefghabcdefgh\xFF",
                          "\xFE",
                          "a\xE2(\xA1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(utf8_is_valid(str_from_c(good[i])));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(utf8_is_valid(str_from_c(bad[i])));
}

static void malformed_bytes_read_as_replacement_one_by_one(void **state)
{
    Str    text = STR("a\xE2\x82"
                         "b");
    size_t at   = 0;

    (void)state;
    assert_int_equal(utf8_next(text, &at), 'a');
    assert_int_equal(utf8_next(text, &at), 0xFFFD);
    assert_int_equal(at, 2);
    assert_int_equal(utf8_next(text, &at), 0xFFFD);
    assert_int_equal(utf8_next(text, &at), 'b');
    assert_int_equal(at, text.len);
}

static void every_code_point_round_trips_through_utf8(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char   bytes[4];
        size_t at           = 0;
        size_t len          = utf8_encode(c, bytes);
        bool   is_surrogate = c >= 0xD800 && c < 0xE000;
        if (!utf8_is_valid((Str){bytes, len})) fail_msg("U+%X", (unsigned)c);
        if (utf8_next((Str){bytes, len}, &at) != (is_surrogate ? 0xFFFD : c))
            fail_msg("U+%X", (unsigned)c);
        if (at != len) fail_msg("U+%X", (unsigned)c);
    }
    char bytes[4];
    assert_int_equal(utf8_encode(0x110000, bytes), 3);
    assert_memory_equal(bytes, "\xEF\xBF\xBD", 3);
}

/* Blocks of exactly the stated size, so that the address sanitizer sees a byte too much. */
static void assert_utf16_reads_as(const char *utf16, size_t unit_count, const char *want)
{
    uint8_t *in  = mem_alloc(2 * unit_count);
    char    *out = mem_alloc(3 * unit_count);

    memcpy(in, utf16, 2 * unit_count);
    size_t len = utf16le_to_utf8(in, unit_count, out);
    assert_str_is(((Str){out, len}), want);
    mem_free(out);
    mem_free(in);
}

static void utf16_is_read_with_lone_surrogates_replaced(void **state)
{
    (void)state;
    assert_utf16_reads_as("", 0, "");
    assert_utf16_reads_as("a\0b\0", 2, "ab");
    assert_utf16_reads_as("\xE4\x00\xAC\x20", 2, "\xC3\xA4\xE2\x82\xAC");
    assert_utf16_reads_as("\x3D\xD8\x00\xDE", 2, "\xF0\x9F\x98\x80");
    assert_utf16_reads_as("\x3D\xD8", 1, "\xEF\xBF\xBD");
    assert_utf16_reads_as("\x3D\xD8"
                          "a\0",
                          2,
                          "\xEF\xBF\xBD"
                          "a");
    assert_utf16_reads_as("\x00\xDE"
                          "a\0",
                          2,
                          "\xEF\xBF\xBD"
                          "a");
    assert_utf16_reads_as("\x3D\xD8\x3D\xD8\x00\xDE", 3, "\xEF\xBF\xBD\xF0\x9F\x98\x80");
    assert_utf16_reads_as("\xFF\xFF\x80\x00\x7F\x00\xFF\x07\x00\x08", 5,
                          "\xEF\xBF\xBF\xC2\x80\x7F\xDF\xBF\xE0\xA0\x80");
}

static void a_pair_across_a_group_of_eight_stays_a_pair(void **state)
{
    (void)state;
    for (size_t before = 0; before < 24; before++) {
        uint8_t in[2 * 40];
        char    out[3 * 40];
        char    want[3 * 40];
        size_t  count = 0;

        for (; count < before; count++)
            memcpy(in + 2 * count, "x", 2);
        memcpy(in + 2 * count, "\x3D\xD8\x00\xDE", 4);
        count += 2;
        for (; count < 40; count++)
            memcpy(in + 2 * count, "y", 2);
        (void)snprintf(want, sizeof want, "%.*s\xF0\x9F\x98\x80%.*s", (int)before,
                       "xxxxxxxxxxxxxxxxxxxxxxxxx", (int)(38 - before),
                       "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy");
        size_t len = utf16le_to_utf8(in, 40, out);
        assert_str_is(((Str){out, len}), want);
    }
}

static void utf8_becomes_utf16_with_malformed_bytes_replaced(void **state)
{
    uint8_t out[64];

    (void)state;
    assert_int_equal(utf8_to_utf16le(STR("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), out), 5);
    assert_memory_equal(out, "a\0\xE4\x00\xAC\x20\x3D\xD8\x00\xDE", 10);
    assert_int_equal(utf8_to_utf16le(STR("\xFF"
                                         "a\xED\xA0\x80"),
                                     out),
                     5);
    assert_memory_equal(out,
                        "\xFD\xFF"
                        "a\0\xFD\xFF\xFD\xFF\xFD\xFF",
                        10);
    assert_int_equal(utf8_to_utf16le(STR("0123456789abcdefg"), out), 17);
    assert_memory_equal(out + 16, "8\0009\0a\0b\0", 8);
    assert_int_equal(utf8_to_utf16le((Str){NULL, 0}, out), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_utf8_is_told_from_the_rest),
        cmocka_unit_test(malformed_bytes_read_as_replacement_one_by_one),
        cmocka_unit_test(every_code_point_round_trips_through_utf8),
        cmocka_unit_test(utf16_is_read_with_lone_surrogates_replaced),
        cmocka_unit_test(a_pair_across_a_group_of_eight_stays_a_pair),
        cmocka_unit_test(utf8_becomes_utf16_with_malformed_bytes_replaced),
    };
    return RUN_TESTS(tests);
}
