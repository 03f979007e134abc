#include "support/test_support.h"

#include "unit/state/state_test.h"

static BatchCounts sample_counts(void)
{
    return (BatchCounts){.rows          = 4,
                         .deletes       = 1,
                         .inserts       = 1,
                         .updates       = 1,
                         .min_lsn       = OPT_LSN(lsn_of("0x0000002A000001000011")),
                         .max_lsn       = OPT_LSN(lsn_of("0x0000002A000001000031")),
                         .min_commit_ts = OPT_TIME(time_of("2026-09-28T13:53:00")),
                         .max_commit_ts = OPT_TIME(time_of("2026-09-28T13:54:00"))};
}

static void batch_payload_is_the_sample_byte_for_byte(void **state) /* state.md 22 */
{
    Arena      *arena  = arena_new();
    BatchCounts counts = sample_counts();

    (void)state;
    assert_str_is(payload_batch(arena, &counts, 1, STR("shop")),
                  "{\"rows\":4,\"min_lsn\":\"0x0000002A000001000011\",\"max_lsn\":"
                  "\"0x0000002A000001000031\",\"min_commit_ts\":\"2026-09-28T13:53:00.000\","
                  "\"max_commit_ts\":\"2026-09-28T13:54:00.000\",\"deletes\":1,\"inserts\":1,"
                  "\"updates\":1,\"batch_id\":1,\"app_id\":\"shop\"}");
    arena_close(arena);
}

static void batch_payload_reads_back_what_it_holds(void **state)
{
    Arena      *arena  = arena_new();
    BatchCounts counts = sample_counts(), got;
    Str         text   = payload_batch(arena, &counts, 7, STR("sh\"op"));

    (void)state;
    assert_true(payload_parse_batch(text, STR("sh\"op"), 7, &got));
    assert_int_equal(got.rows, 4);
    assert_int_equal(got.updates, 1);
    assert_true(lsn_equal(got.max_lsn.lsn, counts.max_lsn.lsn));
    assert_int_equal(got.min_commit_ts.utc_us, counts.min_commit_ts.utc_us);
    arena_close(arena);
}

static void batch_payload_of_another_batch_or_stream_is_not_ours(void **state)
{
    Arena      *arena  = arena_new();
    BatchCounts counts = sample_counts(), got;
    Str         text   = payload_batch(arena, &counts, 7, STR("shop"));

    (void)state;
    assert_false(payload_parse_batch(text, STR("shop"), 8, &got));
    assert_false(payload_parse_batch(text, STR("shop.g1"), 7, &got));
    assert_false(payload_parse_batch(STR("{\"rows\":"), STR("shop"), 7, &got));
    assert_false(payload_parse_batch(STR_EMPTY, STR("shop"), 7, &got));
    assert_false(payload_parse_batch(STR("[7]"), STR("shop"), 7, &got));
    arena_close(arena);
}

static void batch_payload_with_null_counts_is_not_usable(void **state) /* state.md 14.4 */
{
    BatchCounts got;

    (void)state;
    assert_false(payload_parse_batch(
        STR("{\"rows\":null,\"min_lsn\":null,\"max_lsn\":null,\"min_commit_ts\":null,"
            "\"max_commit_ts\":null,\"deletes\":null,\"inserts\":null,\"updates\":null,"
            "\"batch_id\":1,\"app_id\":\"shop\"}"),
        STR("shop"), 1, &got));
}

static void batch_payload_takes_members_in_any_order_and_unknown_ones(void **state)
{
    BatchCounts got;

    (void)state;
    assert_true(payload_parse_batch(
        STR("{ \"app_id\": \"shop\", \"new\": [1], \"batch_id\": 3, \"updates\": 0, \"inserts\": "
            "2, "
            "\"deletes\": 0, \"rows\": 2, \"min_lsn\": \"0x0000002A000001000011\", \"max_lsn\": "
            "\"0x0000002A000001000011\", \"min_commit_ts\": null, \"max_commit_ts\": null }"),
        STR("shop"), 3, &got));
    assert_int_equal(got.inserts, 2);
    assert_false(got.min_commit_ts.is_set);
}

static void snapshot_payload_is_the_sample_byte_for_byte(void **state) /* state.md 22 */
{
    Arena *arena = arena_new();
    Offset at    = {.lsn       = lsn_of("0x0000002A000001000011"),
                    .commit_ts = OPT_TIME(time_of("2026-09-28T13:52:00"))};

    (void)state;
    assert_str_is(payload_snapshot(arena, STR("dbo_t"), &at),
                  "{\"snapshot\": \"dbo_t\", \"lsn\": \"0x0000002A000001000011\", \"commit_ts\": "
                  "\"2026-09-28T13:52:00.000\"}");
    at.commit_ts = (OptTime){.is_set = false};
    assert_str_is(payload_snapshot(arena, STR("dbo_\xc3\xa9"), &at),
                  "{\"snapshot\": \"dbo_\\u00e9\", \"lsn\": \"0x0000002A000001000011\", "
                  "\"commit_ts\": \"\"}");
    arena_close(arena);
}

static void full_open_is_the_sample_byte_for_byte(void **state) /* state.md 22 */
{
    Arena *arena = arena_new();

    (void)state;
    assert_str_is(payload_full_open(arena, 0),
                  "{\"mode\": \"full\", \"kind\": \"bootstrap\", \"generation\": 0, "
                  "\"lost_from_ts\": null, \"lost_to_ts\": null}");
    arena_close(arena);
}

static void open_without_full_mode_reads_as_chunked(void **state) /* state.md 9.1 */
{
    OpenDetail detail;

    (void)state;
    assert_true(payload_parse_open(STR("{\"mode\": \"full\", \"kind\": \"bootstrap\"}"), &detail));
    assert_true(detail.is_full);
    assert_false(detail.is_resnapshot);
    assert_true(payload_parse_open(STR("{\"mode\": \"new\", \"generation\": 2}"), &detail));
    assert_false(detail.is_full);
    assert_true(detail.is_resnapshot); /* no kind, and not generation 0 */
    assert_false(payload_parse_open(STR("text"), &detail));
    assert_false(detail.is_full);
}

static void warnings_are_escaped_and_absent_without_any(void **state) /* state.md 9.6 */
{
    Arena *arena      = arena_new();
    Str    warnings[] = {STR("a \"b\""), STR("\xc3\xa9")};

    (void)state;
    assert_str_is(payload_warnings(arena, warnings, 0), "");
    assert_str_is(payload_warnings(arena, warnings, 2),
                  "{\"warnings\": [\"a \\\"b\\\"\", \"\\u00e9\"]}");
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_payload_is_the_sample_byte_for_byte),
        cmocka_unit_test(batch_payload_reads_back_what_it_holds),
        cmocka_unit_test(batch_payload_of_another_batch_or_stream_is_not_ours),
        cmocka_unit_test(batch_payload_with_null_counts_is_not_usable),
        cmocka_unit_test(batch_payload_takes_members_in_any_order_and_unknown_ones),
        cmocka_unit_test(snapshot_payload_is_the_sample_byte_for_byte),
        cmocka_unit_test(full_open_is_the_sample_byte_for_byte),
        cmocka_unit_test(open_without_full_mode_reads_as_chunked),
        cmocka_unit_test(warnings_are_escaped_and_absent_without_any),
    };
    return RUN_TESTS(tests);
}
