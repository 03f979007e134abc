#include "support/test_support.h"

#include "types/lsn.h"

static Lsn parsed(const char *text)
{
    Lsn lsn = LSN_ZERO;

    if (!lsn_parse(str_from_c(text), &lsn)) fail_msg("not an LSN: \"%s\"", text);
    return lsn;
}

static void assert_lsn_is(Lsn lsn, const char *text)
{
    assert_string_equal(lsn_format(lsn).text, text);
}

static void short_blank_and_lower_case_texts_are_normalised(void **state) /* T0.2 */
{
    (void)state;
    assert_lsn_is(parsed(" 0x2a0000 "), "0x000000000000002A0000");
    assert_lsn_is(parsed("0x0000002A000001000051"), "0x0000002A000001000051");
    assert_lsn_is(parsed("0X2a"), "0x0000000000000000002A");
    assert_lsn_is(parsed("2a"), "0x0000000000000000002A");
    assert_lsn_is(parsed("0"), "0x00000000000000000000");
    assert_lsn_is(parsed("\t\r\nabc\n"), "0x00000000000000000ABC");
    assert_lsn_is(parsed("0xffffffffffffffffffff"), "0xFFFFFFFFFFFFFFFFFFFF");
}

static void anything_else_is_no_lsn(void **state) /* T0.2 */
{
    const char *bad[] = {"",
                         " ",
                         "0x",
                         "0X ",
                         "x2a",
                         "0x0x2a",
                         "0xg",
                         "2a 2a",
                         "-1",
                         "0x-1",
                         "2a.",
                         "0x+1",
                         "NULL",
                         "0x 2a",
                         ("\xC2\xA0"
                          "2a"),
                         "0x0000002A00000100005100", /* 11 bytes */
                         "0000002A00000100005100",
                         "0x000000000000000000000"};
    Lsn         out   = parsed("7");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (lsn_parse(str_from_c(bad[i]), &out)) fail_msg("read as an LSN: \"%s\"", bad[i]);
    assert_false(lsn_parse((Str){NULL, 0}, &out));
    assert_false(lsn_parse(STR("2a\0"), &out));
    assert_lsn_is(out, "0x00000000000000000007"); /* untouched */
}

static void only_ten_bytes_are_an_lsn(void **state) /* T0.2 */
{
    const uint8_t bytes[11] = {0, 0, 0, 0x2A, 0, 0, 1, 0, 0, 0x51, 0xFF};
    Lsn           lsn       = LSN_ZERO;

    (void)state;
    assert_true(lsn_from_bytes((Bytes){bytes, 10}, &lsn));
    assert_lsn_is(lsn, "0x0000002A000001000051");
    assert_false(lsn_from_bytes((Bytes){bytes, 9}, &lsn));
    assert_false(lsn_from_bytes((Bytes){bytes, 11}, &lsn));
    assert_false(lsn_from_bytes((Bytes){NULL, 0}, &lsn));
}

static void lsns_compare_as_numbers(void **state)
{
    Lsn low  = parsed("0x00000001000000000000");
    Lsn high = parsed("0x80000000000000000000");

    (void)state;
    assert_int_equal(lsn_compare(low, high), -1);
    assert_int_equal(lsn_compare(high, low), 1);
    assert_int_equal(lsn_compare(low, low), 0);
    assert_true(lsn_equal(low, low));
    assert_true(lsn_is_zero(LSN_ZERO));
    assert_false(lsn_is_zero(low));
    assert_true(lsn_equal(lsn_max(low, high), high));
    assert_true(lsn_equal(lsn_min(low, high), low));
}

static void steps_carry_and_stop_at_both_ends(void **state) /* T0.2: decrement of ZERO is ZERO */
{
    (void)state;
    assert_lsn_is(lsn_increment(parsed("0x000000000000000000FF")), "0x00000000000000000100");
    assert_lsn_is(lsn_increment(parsed("0x0000FFFFFFFFFFFFFFFF")), "0x00010000000000000000");
    assert_lsn_is(lsn_increment(parsed("0xFFFFFFFFFFFFFFFFFFFF")), "0xFFFFFFFFFFFFFFFFFFFF");
    assert_lsn_is(lsn_decrement(parsed("0x00010000000000000000")), "0x0000FFFFFFFFFFFFFFFF");
    assert_lsn_is(lsn_decrement(LSN_ZERO), "0x00000000000000000000");
    assert_lsn_is(lsn_increment(LSN_ZERO), "0x00000000000000000001");
}

static void an_lsn_is_logged_in_its_canonical_form(void **state)
{
    LogField field = LOG_LSN("end_lsn", parsed("2a"));
    Arena   *arena = arena_new();

    (void)state;
    assert_string_equal(field.key, "end_lsn");
    assert_int_equal(field.type, LOG_FIELD_STR);
    assert_str_is(lsn_str(arena, parsed("2a")), "0x0000000000000000002A");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_blank_and_lower_case_texts_are_normalised),
        cmocka_unit_test(anything_else_is_no_lsn),
        cmocka_unit_test(only_ten_bytes_are_an_lsn),
        cmocka_unit_test(lsns_compare_as_numbers),
        cmocka_unit_test(steps_carry_and_stop_at_both_ends),
        cmocka_unit_test(an_lsn_is_logged_in_its_canonical_form),
    };
    return RUN_TESTS(tests);
}
