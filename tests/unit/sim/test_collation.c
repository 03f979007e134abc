/* Collations: names, wire bytes, code pages, order (sqlserver.md 2.9, 2.11). */
#include "support/sim_eval.h"

static const SimCollation *collation_of(const char *name)
{
    const SimCollation *found = sim_collation_find(str_from_c(name));

    if (found == NULL) fail_msg("no collation %s", name);
    return found;
}

static int compare(const char *name, bool unicode, const char *left, const char *right)
{
    const SimCollation *collation = collation_of(name);
    Arena              *arena     = arena_new();
    Bytes               one       = sim_text_from_utf8(arena, collation, unicode, str_from_c(left));
    Bytes               two   = sim_text_from_utf8(arena, collation, unicode, str_from_c(right));
    int                 order = sim_text_compare(collation, unicode, one, two);

    assert_int_equal(sim_text_compare(collation, unicode, two, one), -order);
    arena_close(arena);
    return order;
}

/* In this order, each strictly below the next. */
static void assert_ascending(const char *name, bool unicode, const char *const *texts)
{
    for (size_t i = 0; texts[i + 1] != NULL; i++)
        for (size_t j = i + 1; texts[j] != NULL; j++)
            if (compare(name, unicode, texts[i], texts[j]) != -1)
                fail_msg("%s: \"%s\" is not below \"%s\"", name, texts[i], texts[j]);
}

static void names_are_found_in_any_case(void **state)
{
    (void)state;
    assert_ptr_equal(collation_of("sql_latin1_general_cp1_ci_as"), sim_collation_default());
    assert_str_is(sim_collation_name(NULL), "SQL_Latin1_General_CP1_CI_AS");
    assert_null(sim_collation_find(STR("Klingon_CI_AS")));
    static const char *const needed[] = {"SQL_Latin1_General_CP1_CS_AS",
                                         "SQL_Latin1_General_CP1_CI_AI",
                                         "Latin1_General_CI_AS",
                                         "Latin1_General_CS_AS",
                                         "Latin1_General_BIN",
                                         "Latin1_General_BIN2",
                                         "Latin1_General_100_CI_AS_SC_UTF8",
                                         "Greek_CI_AS",
                                         "Turkish_CI_AS",
                                         "Cyrillic_General_CI_AS"};
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        assert_str_is(sim_collation_name(collation_of(needed[i])), needed[i]);
    size_t count = 0;
    for (size_t at = 0; sim_collation_next(&at) != NULL;)
        count++;
    assert_true(count > 50);
}

static void assert_wire(const char *name, const char *want)
{
    Arena  *arena = arena_new();
    uint8_t wire[5];

    sim_collation_wire(collation_of(name), wire);
    assert_str_is(hex_encode(arena, (Bytes){wire, sizeof wire}, true), want);
    arena_close(arena);
}

static void wire_bytes_say_locale_flags_and_sort_id(void **state)
{
    (void)state;
    assert_wire("SQL_Latin1_General_CP1_CI_AS", "0904D00034");
    assert_wire("Latin1_General_CI_AS", "0904D00000");
    assert_wire("Latin1_General_CS_AS", "0904C00000");
    assert_wire("Latin1_General_CI_AI", "0904F00000");
    assert_wire("Latin1_General_BIN", "0904000100");
    assert_wire("Latin1_General_BIN2", "0904000200");
    assert_wire("Latin1_General_100_CI_AS_SC_UTF8", "0904D02400");
    assert_wire("Greek_CI_AS", "0804D00000");
}

static void code_pages_hold_their_letters(void **state)
{
    Arena              *arena = arena_new();
    const SimCollation *greek = collation_of("Greek_CI_AS");
    const SimCollation *utf8  = collation_of("Latin1_General_100_CI_AS_SC_UTF8");
    Str                 text = STR("a\xCE\xB1\xE2\x82\xAC\xC5\x9F"); /* a, alpha, euro, s cedilla */

    (void)state;
    assert_str_is(hex_encode(arena, sim_text_from_utf8(arena, greek, false, text), false),
                  "61e1803f");
    assert_str_is(hex_encode(arena, sim_text_from_utf8(arena, NULL, false, text), false),
                  "613f803f");
    assert_str_is(hex_encode(arena, sim_text_from_utf8(arena, utf8, false, text), false),
                  "61ceb1e282acc59f");
    assert_str_is(hex_encode(arena, sim_text_from_utf8(arena, greek, true, text), false),
                  "6100b103ac205f01");
    Bytes stored = sim_text_from_utf8(arena, greek, false, STR("\xCE\x91\xCE\xA9"));
    assert_str_is(sim_text_to_utf8(arena, greek, false, stored), "\xCE\x91\xCE\xA9");
    Bytes recoded = sim_text_recode(arena, greek, false, NULL, true, stored);
    assert_str_is(hex_encode(arena, recoded, false), "9103a903");
    for (size_t at = 0;;) { /* every byte of every page comes back */
        const SimCollation *collation = sim_collation_next(&at);
        if (collation == NULL) break;
        for (unsigned byte = 0; byte < 256 && !sim_collation_is_utf8(collation); byte++) {
            uint8_t one   = (uint8_t)byte;
            Str     shown = sim_text_to_utf8(arena, collation, false, (Bytes){&one, 1});
            Bytes   back  = sim_text_from_utf8(arena, collation, false, shown);
            assert_int_equal(back.len, 1);
            assert_int_equal(back.ptr[0], byte);
        }
    }
    arena_close(arena);
}

static void case_and_accents_count_as_the_name_says(void **state)
{
    (void)state;
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", false, "n", "N"), 0);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", true, "n", "N"), 0);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CS_AS", false, "N", "n"),
                     -1);                                                  /* upper case first */
    assert_int_equal(compare("Latin1_General_CS_AS", true, "n", "N"), -1); /* lower case first */
    assert_int_equal(compare("Latin1_General_CS_AS", false, "nb", "Na"),
                     1); /* letters before case */
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", false, "a", "\xC3\xA1"), -1);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AI", false, "a", "\xC3\xA1"), 0);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AI", true, "A", "\xC3\xA1"), 0);
    assert_int_equal(compare("Latin1_General_CI_AI", false, "A", "\xC3\xA1"), 0);
    assert_int_equal(compare("Latin1_General_CI_AS", true, "a", "\xC3\xA1"), -1);
    assert_int_equal(compare("Latin1_General_CI_AS", true, "az", "\xC3\xA1z"), -1);
    assert_int_equal(compare("Latin1_General_CI_AS", true, "\xC3\xA1z", "b"), -1);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", true, "n", "\xC5\x9F"),
                     -1); /* N'n' < N's cedilla' */
    assert_int_equal(compare("Latin1_General_CI_AS", true,
                             "stra\xC3\x9F"
                             "e",
                             "strasse"),
                     0);
    assert_int_equal(compare("Latin1_General_CI_AS", true, "e\xCC\x81", "\xC3\xA9"),
                     0); /* e and a combining accent */
}

static void trailing_blanks_do_not_count(void **state)
{
    static const char *const names[] = {"SQL_Latin1_General_CP1_CI_AS", "Latin1_General_CI_AS",
                                        "Latin1_General_BIN", "Latin1_General_BIN2",
                                        "Latin1_General_100_CI_AS_SC_UTF8"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        for (int unicode = 0; unicode <= 1; unicode++) {
            assert_int_equal(compare(names[i], unicode, "a", "a  "), 0);
            assert_int_equal(compare(names[i], unicode, "", "   "), 0);
            assert_int_equal(compare(names[i], unicode, "a", "a  b"), -1);
        }
    }
    assert_int_equal(compare("Latin1_General_BIN2", false, "a", "a\t"),
                     1); /* a tab is below the blank it is padded with */
    assert_int_equal(compare("Latin1_General_BIN2", true, "a", "a \x01"), 1);
    assert_int_equal(compare("Latin1_General_BIN", true, "a", "a\t"), 1);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", false, "a", "a\t"), 1);
}

static void symbols_come_before_digits_before_letters(void **state)
{
    static const char *const windows[] = {"",  " ", "!", "#", "/", "_", "~", "+",
                                          "=", "0", "1", "9", "a", "b", "z", NULL};
    static const char *const sql[]     = {"",  "!", "#", "'", "-",        "/", "=", "_",
                                          "~", "0", "9", "a", "\xC3\xA1", "b", "z", NULL};

    (void)state;
    assert_ascending("Latin1_General_CI_AS", true, &windows[1]);
    assert_ascending("SQL_Latin1_General_CP1_CI_AS", false, sql);
}

static void hyphens_only_break_ties_under_windows(void **state)
{
    static const char *const texts[] = {"coop", "co-op", "coops", "co-ops", NULL};

    (void)state;
    assert_ascending("Latin1_General_CI_AS", true, texts);
    assert_ascending("SQL_Latin1_General_CP1_CI_AS", true, texts);
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", false, "co-op", "coop"),
                     -1); /* an ordinary symbol in varchar */
    assert_int_equal(compare("SQL_Latin1_General_CP1_CI_AS", false, "co-op", "coon"), -1);
}

static void alphabets_keep_their_order(void **state)
{
    static const char *const greek[]    = {"\xCE\x91", "\xCE\x92", "\xCE\x93", "\xCE\x94",
                                           "\xCE\xA1", "\xCE\xA3", "\xCE\xA9", NULL};
    static const char *const cyrillic[] = {"\xD0\x90", "\xD0\x91", "\xD0\x98", "\xD0\x99",
                                           "\xD0\x9A", "\xD0\xAF", NULL};
    static const char *const turkish[]  = {
         "c", "\xC3\xA7", "d", "g",        "\xC4\x9F", "h", "\xC4\xB1", "i", "j",
         "o", "\xC3\xB6", "s", "\xC5\x9F", "t",        "u", "\xC3\xBC", "v", NULL};

    (void)state;
    assert_ascending("Greek_CI_AS", false, greek);
    assert_ascending("Greek_CI_AS", true, greek);
    assert_ascending("Cyrillic_General_CI_AS", false, cyrillic);
    assert_ascending("Turkish_CI_AS", false, turkish);
    assert_ascending("Turkish_CI_AS", true, turkish);
    assert_int_equal(compare("Turkish_CI_AS", false, "i", "\xC4\xB0"),
                     0); /* i and dotted capital I */
    assert_int_equal(compare("Turkish_CI_AS", false, "\xC4\xB1", "I"), 0);
    assert_int_equal(compare("Turkish_CI_AS", false, "i", "I"), 1);
}

static void binary_orders_go_by_code(void **state)
{
    static const char *const texts[] = {"", "A", "B", "Z", "_", "a", "z", "\xC3\xA1", NULL};

    (void)state;
    assert_ascending("Latin1_General_BIN2", false, texts);
    assert_ascending("Latin1_General_BIN2", true, texts);
    /* U+0141 is above U+00FF as a number; behind the first unit _BIN sees bytes: 41 01 is below FF
     * 00. */
    assert_int_equal(compare("Latin1_General_BIN", true, "\xC5\x81", "\xC3\xBF"), 1);
    assert_int_equal(compare("Latin1_General_BIN", true, "x\xC5\x81", "x\xC3\xBF"), -1);
    assert_int_equal(compare("Latin1_General_BIN2", true, "x\xC5\x81", "x\xC3\xBF"), 1);
    /* By code point: beyond the BMP is above U+FFFD. */
    assert_int_equal(compare("Latin1_General_BIN2", true, "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"), 1);
}

static void letters_change_case_by_the_rules_of_the_language(void **state)
{
    (void)state;
    assert_value("UPPER('\xC3\xA1z\xC3\xBF')", "\xC3\x81Z\xC5\xB8");
    assert_value("UPPER(N'i' COLLATE Turkish_CI_AS)", "\xC4\xB0");
    assert_value("LOWER(N'I' COLLATE Turkish_CI_AS)", "\xC4\xB1");
    assert_value("UPPER(N'\xCE\xB1\xD0\xB1\xC5\x9F')", "\xCE\x91\xD0\x91\xC5\x9E");
    assert_value("LOWER(N'\xCE\x91\xD0\x91\xC5\x9E')", "\xCE\xB1\xD0\xB1\xC5\x9F");
    assert_value("UPPER('\xC3\xA1' COLLATE Latin1_General_100_CI_AS_SC_UTF8)", "\xC3\x81");
}

static void identifiers_compare_ignoring_case(void **state)
{
    (void)state;
    assert_true(sim_name_equal(STR("Orders"), STR("ORDERS")));
    assert_true(sim_name_equal(STR("\xC3\x81rvore"), STR("\xC3\xA1rvore")));
    assert_false(sim_name_equal(STR("a"), STR("ab")));
    assert_false(sim_name_equal(STR("a"), STR("\xC3\xA1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(wire_bytes_say_locale_flags_and_sort_id),
        cmocka_unit_test(code_pages_hold_their_letters),
        cmocka_unit_test(case_and_accents_count_as_the_name_says),
        cmocka_unit_test(trailing_blanks_do_not_count),
        cmocka_unit_test(symbols_come_before_digits_before_letters),
        cmocka_unit_test(hyphens_only_break_ties_under_windows),
        cmocka_unit_test(alphabets_keep_their_order),
        cmocka_unit_test(binary_orders_go_by_code),
        cmocka_unit_test(letters_change_case_by_the_rules_of_the_language),
        cmocka_unit_test(identifiers_compare_ignoring_case),
    };
    return RUN_TESTS(tests);
}
