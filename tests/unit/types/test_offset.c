#include "support/test_support.h"

#include "types/offset.h"

#define COMMIT_TS_US INT64_C(1790603700123456) /* 2026-09-28T13:55:00.123456 */

static Lsn sample_lsn(void)
{
    Lsn lsn = LSN_ZERO;

    assert_true(lsn_parse(STR("0x0000002A000001000051"), &lsn));
    return lsn;
}

static void an_offset_is_written_with_both_members(void **state) /* 0.2, state.md 1 */
{
    Arena *arena  = arena_new();
    Offset offset = {.lsn = sample_lsn(), .commit_ts = {true, COMMIT_TS_US}};

    (void)state;
    assert_str_is(
        offset_format_json(arena, &offset),
        "{\"lsn\": \"0x0000002A000001000051\", \"commit_ts\": \"2026-09-28T13:55:00.123\"}");
    offset.commit_ts.is_set = false;
    assert_str_is(offset_format_json(arena, &offset),
                  "{\"lsn\": \"0x0000002A000001000051\", \"commit_ts\": \"\"}");
    arena_close(arena);
}

static void members_are_read_by_name_in_any_order(void **state)
{
    Offset offset = {.lsn = LSN_ZERO};
    Err    err    = ERR_INIT;

    (void)state;
    assert_ok(offset_parse_json(
                  STR("{\"commit_ts\":\"2026-09-28T13:55:00.123\",\"more\":[1],\"lsn\":\"0x2a\"}"),
                  &offset, &err),
              &err);
    assert_string_equal(lsn_format(offset.lsn).text, "0x0000000000000000002A");
    assert_true(offset.commit_ts.is_set);
    assert_int_equal(offset.commit_ts.utc_us, COMMIT_TS_US / 1000 * 1000);

    /* A reader takes a time without fraction (state.md 1), and escaped text. */
    assert_ok(
        offset_parse_json(STR("{\"lsn\": \"\\u0030x2A\", \"commit_ts\": \"2026-09-28T13:55:00\"}"),
                          &offset, &err),
        &err);
    assert_int_equal(offset.commit_ts.utc_us, COMMIT_TS_US / 1000000 * 1000000);
}

static void a_commit_time_that_is_empty_or_missing_is_unset(void **state)
{
    const char *texts[] = {"{\"lsn\":\"1\",\"commit_ts\":\"\"}", "{\"lsn\":\"1\"}",
                           "{\"lsn\":\"1\",\"commit_ts\":null}"};
    Err         err     = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Offset offset = {.commit_ts = {true, 5}};
        assert_ok(offset_parse_json(str_from_c(texts[i]), &offset, &err), &err);
        assert_false(offset.commit_ts.is_set);
    }
}

static void a_damaged_offset_is_refused_with_what_is_wrong(void **state)
{
    const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"", "not JSON"},
        {"{\"lsn\": \"0x2A\"", "not JSON"},
        {"{\"lsn\": \"0x2A\"} x", "not JSON"},
        {"[1]", "not a JSON object"},
        {"{}", "no text member \"lsn\""},
        {"{\"lsn\": 42}", "no text member \"lsn\""},
        {"{\"lsn\": \"\"}", "not an LSN"},
        {"{\"lsn\": \"0xZZ\"}", "\"0xZZ\" is not an LSN"},
        {"{\"lsn\": \"0x2A\", \"lsn\": \"0x2B\"}", "not JSON"},
        {"{\"lsn\": \"0x2A\", \"commit_ts\": 7}", "commit_ts is not a text"},
        {"{\"lsn\": \"0x2A\", \"commit_ts\": \"yesterday\"}", "\"yesterday\" is not a time"},
    };
    Offset offset = {.lsn = sample_lsn()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Err err = ERR_INIT;
        assert_false(offset_parse_json(str_from_c(cases[i].text), &offset, &err));
        assert_err(&err, ERR_DAMAGED, cases[i].says);
    }
    assert_true(lsn_equal(offset.lsn, sample_lsn())); /* untouched */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offset_is_written_with_both_members),
        cmocka_unit_test(members_are_read_by_name_in_any_order),
        cmocka_unit_test(a_commit_time_that_is_empty_or_missing_is_unset),
        cmocka_unit_test(a_damaged_offset_is_refused_with_what_is_wrong),
    };
    return RUN_TESTS(tests);
}
