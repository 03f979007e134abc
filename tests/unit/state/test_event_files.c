/* Files of events that the peer library left (state.md 17.5): those that hold one of its three
 * events are read, everything else stays as it is. */
#include "support/test_support.h"

#include "state/event_files.h"
#include "unit/state/state_test.h"

#define DIR "cp/_mssql_cdc_metrics/"
#define LSN "0x0000002A000000000051"

static EventFile *read_files(Lake *lake, size_t *count)
{
    EventFile *files = NULL;

    assert_ok(event_files_read(lake->store, STR("cp/_mssql_cdc_metrics"), lake->log, lake->arena,
                               &files, count, &lake->err),
              &lake->err);
    return files;
}

static void an_event_becomes_a_row_of_its_lsn_and_time(void **state)
{
    Lake  *lake = lake_open(NULL);
    size_t count;

    (void)state;
    put_text(
        lake, DIR "event-schema_change-" LSN ".json",
        "{\"event\": \"schema_change\", \"capture_instance\": \"dbo_t\", \"lsn\": \"" LSN
        "\", \"commit_ts\": \"2026-09-28T13:55:00.000\", \"detail\": \"ALTER TABLE \\u00e9\"}");
    EventFile *files = read_files(lake, &count);
    assert_int_equal(count, 1);
    assert_str_is(files[0].path, DIR "event-schema_change-" LSN ".json");
    assert_str_is(files[0].row.event, "schema_change");
    assert_str_is(files[0].row.detail, "ALTER TABLE \xc3\xa9");
    const OptLsn  lsns[]   = {files[0].row.min_lsn, files[0].row.max_lsn, files[0].row.end_lsn};
    const OptTime times[]  = {files[0].row.min_commit_ts, files[0].row.max_commit_ts,
                              files[0].row.end_commit_ts};
    const OptI64  counts[] = {files[0].row.rows, files[0].row.deletes, files[0].row.inserts,
                              files[0].row.updates};
    for (size_t i = 0; i < 3; i++) {
        assert_true(lsns[i].is_set && lsn_equal(lsns[i].lsn, lsn_number(0x51)));
        assert_true(times[i].is_set && times[i].utc_us == time_of("2026-09-28T13:55:00"));
    }
    for (size_t i = 0; i < 4; i++)
        assert_true(counts[i].is_set && counts[i].value == 0);
    assert_false(files[0].row.lost_from_ts.is_set);
    lake_close(lake);
}

static void a_skip_has_its_gap_and_times_may_be_unknown(void **state)
{
    Lake  *lake = lake_open(NULL);
    size_t count;

    (void)state;
    put_text(lake, DIR "event-data_skipped-dbo_t-0x01.json",
             "{\"event\": \"data_skipped\", \"capture_instance\": \"dbo_t\", \"lsn\": \"" LSN
             "\", \"commit_ts\": null, \"detail\": \"{\\\"from\\\": \\\"0x01\\\"}\", "
             "\"lost_from_ts\": \"2026-09-28T13:50:00.000\", \"lost_to_ts\": "
             "\"2026-09-28T13:55:00.000\"}");
    EventFile *files = read_files(lake, &count);
    assert_int_equal(count, 1);
    assert_false(files[0].row.end_commit_ts.is_set);
    assert_int_equal(files[0].row.lost_from_ts.utc_us, time_of("2026-09-28T13:50:00"));
    assert_int_equal(files[0].row.lost_to_ts.utc_us, time_of("2026-09-28T13:55:00"));
    assert_str_is(files[0].row.detail, "{\"from\": \"0x01\"}");
    lake_close(lake);
}

static void what_holds_no_event_is_left_with_a_warning(void **state)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"event\": \"schema_change\"}",
                                        "{\"event\": \"bootstrap\", \"lsn\": \"" LSN "\"}",
                                        "{\"event\": \"schema_change\", \"lsn\": \"nonsense\"}",
                                        "{\"event\": \"schema_change\", \"lsn\": \"" LSN
                                        "\", \"commit_ts\": \"yesterday\"}"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Lake  *lake = lake_open(NULL);
        size_t count;

        put_text(lake, DIR "event-x.json", texts[i]);
        (void)read_files(lake, &count);
        assert_int_equal(count, 0);
        assert_int_equal(lake->lines.warning_count, 1);
        assert_non_null(strstr(lake->lines.last, "event-x.json"));
        assert_str_is(read_text(lake, DIR "event-x.json"), texts[i]);
        lake_close(lake);
    }
}

static void other_files_and_half_written_ones_are_none_of_ours(void **state)
{
    Lake  *lake = lake_open(NULL);
    size_t count;

    (void)state;
    (void)read_files(lake, &count); /* no folder */
    assert_int_equal(count, 0);
    put_text(lake, DIR "0x01-0x02.json", "{}");
    put_text(lake, DIR "event-schema_change-" LSN ".json.tmp", "{");
    put_text(lake, DIR "events", "{");
    (void)read_files(lake, &count);
    assert_int_equal(count, 0);
    assert_int_equal(lake->lines.warning_count, 0);
    lake_close(lake);
}

static void events_are_the_same_by_kind_and_lsn_and_a_skip_by_where_it_began(void **state)
{
    FactsRow change = {
        .event = STR("schema_change"), .max_lsn = OPT_LSN(lsn_number(5)), .detail = STR("a")};
    FactsRow other = change, skip = change, same_skip, other_skip;

    (void)state;
    other.detail = STR("b");
    assert_true(event_is_same(&change, &other));
    other.max_lsn = OPT_LSN(lsn_number(6));
    assert_false(event_is_same(&change, &other));
    skip.event  = STR("data_skipped");
    skip.detail = STR("{\"from\": \"0x01\", \"certain\": true}");
    same_skip = other_skip = skip;
    same_skip.detail       = STR("{\"certain\":true,\"from\":\"0x01\"}");
    other_skip.detail      = STR("{\"from\": \"0x02\", \"certain\": true}");
    assert_false(event_is_same(&change, &skip));
    same_skip.max_lsn = OPT_LSN(lsn_number(9));
    assert_true(event_is_same(&skip, &same_skip));
    assert_false(event_is_same(&skip, &other_skip));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_becomes_a_row_of_its_lsn_and_time),
        cmocka_unit_test(a_skip_has_its_gap_and_times_may_be_unknown),
        cmocka_unit_test(what_holds_no_event_is_left_with_a_warning),
        cmocka_unit_test(other_files_and_half_written_ones_are_none_of_ours),
        cmocka_unit_test(events_are_the_same_by_kind_and_lsn_and_a_skip_by_where_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
