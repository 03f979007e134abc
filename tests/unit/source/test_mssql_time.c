/* Commit times in UTC (sqlserver.md 1.8): fixed offsets, named zones, the repeated hour. */
#include "source_test.h"

#define MINUTE ((int64_t)60 * 1000000)
#define HOUR   (60 * MINUTE)

/* A zone with rules like US Eastern in 2026: -240 minutes from 2026-03-08T07:00Z until
 * 2026-11-01T06:00Z, else -300. */
static int64_t offset_at_utc(int64_t utc_us)
{
    return utc_us >= us_of("2026-03-08T07:00:00") && utc_us < us_of("2026-11-01T06:00:00") ? -240
                                                                                           : -300;
}

/* What AT TIME ZONE answers for a local time: in the repeated hour the offset before the change, in
 * the gap too. */
static int64_t offset_at_local(int64_t local_us)
{
    return local_us >= us_of("2026-03-08T03:00:00") && local_us < us_of("2026-11-01T02:00:00")
               ? -240
               : -300;
}

static CommitOffsets commit_at(int64_t utc_us, const CommitOffsets *previous)
{
    CommitOffsets commit = {.local_us = utc_us + offset_at_utc(utc_us) * MINUTE};

    commit.off0      = offset_at_local(commit.local_us);
    commit.off3      = offset_at_local(commit.local_us + 3 * HOUR);
    commit.off_moved = offset_at_local(commit.local_us + (commit.off0 - commit.off3) * MINUTE);
    if (previous) {
        commit.has_previous = true;
        commit.previous_us  = previous->local_us;
    }
    return commit;
}

/* Commits at most `gap_max` apart around a change come out at their true time. */
static void check_change(Rng *rng, const char *change_utc, int64_t gap_max)
{
    RepeatedHour  rule     = {0};
    CommitOffsets previous = {0}, commit;
    bool          is_first = true;

    for (int64_t utc = us_of(change_utc) - 8 * HOUR; utc < us_of(change_utc) + 8 * HOUR;) {
        commit         = commit_at(utc, is_first ? NULL : &previous);
        int64_t offset = repeated_hour_offset(&rule, &commit);
        assert_int_equal(commit.local_us - offset * MINUTE, utc);
        previous = commit;
        is_first = false;
        utc += 1000 + (int64_t)rng_below(rng, (uint64_t)gap_max);
    }
}

static void commits_around_a_change_come_out_at_their_true_time(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 200) {
        Rng *rng = rng_new(seed);
        check_change(rng, "2026-11-01T06:00:00", 50 * MINUTE);
        check_change(rng, "2026-03-08T07:00:00", 3 * HOUR);
        check_change(rng, "2026-07-01T12:00:00", 3 * HOUR);
        rng_close(rng);
    }
}

static void clock_jitter_is_no_drop(void **state)
{
    RepeatedHour  rule   = {0};
    CommitOffsets commit = {.local_us     = us_of("2026-11-01T01:30:00"),
                            .previous_us  = us_of("2026-11-01T01:30:59"),
                            .has_previous = true,
                            .off0         = -240,
                            .off3         = -300,
                            .off_moved    = -300};

    (void)state;
    assert_int_equal(repeated_hour_offset(&rule, &commit), -240);
    commit.previous_us += 2 * 1000000; /* now more than a minute */
    assert_int_equal(repeated_hour_offset(&rule, &commit), -300);
}

#define MAPPING_COLUMNS "start_lsn BINARY, tran_end_time TIMESTAMP_NTZ"
#define RANGE_COLUMNS \
    "first_end TIMESTAMP_NTZ, last_end TIMESTAMP_NTZ, days INT, off_first INT, off_last INT"
#define COMMIT_COLUMNS \
    "start_lsn BINARY, t TIMESTAMP_NTZ, prev_t TIMESTAMP_NTZ, off0 INT, off3 INT, off_moved INT"

static OptTime ask_commit_time(SourceTest *test, const char *lsn)
{
    OptTime out;

    assert_ok(mssql_commit_time(test->mssql, lsn_of(lsn), &out, &test->err), &test->err);
    return out;
}

static void a_commit_time_is_of_exactly_its_lsn(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = MAPPING_COLUMNS,
         .rows    = "0x0000002A000001B80003|2026-07-01T08:00:00.007\n"}};
    SourceTest test;
    OptTime    at_or_before;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers)); /* UTC: no conversion */
    OptTime exact = ask_commit_time(&test, "0x0000002A000001B80003");
    assert_true(exact.is_set);
    assert_int_equal(exact.utc_us, us_of("2026-07-01T08:00:00.007"));
    assert_false(ask_commit_time(&test, "0x0000002A000001B80004").is_set);
    assert_ok(mssql_commit_time_at_or_before(test.mssql, lsn_of("0x0000002A000001B80004"),
                                             &at_or_before, &test.err),
              &test.err);
    assert_true(at_or_before.is_set);
    assert_str_is(fake_server_call(test.server, "lsn_time_mapping", 1)->params[0],
                  "0x0000002A000001B80004");
    source_test_close(&test);
}

static void an_lsn_before_every_commit_has_no_time(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022, {.expect = "FROM cdc.lsn_time_mapping", .columns = MAPPING_COLUMNS}};
    SourceTest test;
    OptTime    out;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_false(ask_commit_time(&test, "0x01").is_set);
    assert_ok(mssql_commit_time_at_or_before(test.mssql, lsn_of("0x01"), &out, &test.err),
              &test.err);
    assert_false(out.is_set);
    source_test_close(&test);
}

static void a_fixed_offset_is_subtracted(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2019,
        {.expect = "SYSDATETIMEOFFSET", .columns = "minutes_east INT", .rows = "120\n", .times = 1},
        {.expect = "SYSDATETIMEOFFSET", .columns = "minutes_east INT", .rows = "60\n"},
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = MAPPING_COLUMNS,
         .rows    = "0x00000000000000000007|2026-07-01T08:00:00\n"}};
    SourceTest   test;
    MssqlOptions options = source_test_begin(&test, answers, COUNT_OF(answers));
    Str          warning;

    (void)state;
    options.time_zone = STR("auto");
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 1);
    assert_int_equal(ask_commit_time(&test, "0x07").utc_us, us_of("2026-07-01T06:00:00"));

    assert_ok(mssql_refresh_clock(test.mssql, test.arena, &warning, &test.err), &test.err);
    assert_true(str_find(warning, STR("from 120 to 60"), 0) >=
                0); /* the change takes the first warning's place */
    assert_int_equal(ask_commit_time(&test, "0x07").utc_us, us_of("2026-07-01T07:00:00"));
    assert_ok(mssql_refresh_clock(test.mssql, test.arena, &warning, &test.err), &test.err);
    assert_int_equal(warning.len, 0);
    source_test_close(&test);
}

static void from_2022_on_the_server_names_its_zone(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "CURRENT_TIMEZONE_ID",
         .columns = "zone STRING",
         .rows    = "Eastern Standard Time\n"},
        {.expect  = "DATEDIFF(day",
         .columns = RANGE_COLUMNS,
         .rows    = "2026-07-01T08:00:00|2026-07-01T08:00:00|0|-240|-240\n"},
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = MAPPING_COLUMNS,
         .rows    = "0x00000000000000000007|2026-07-01T08:00:00\n"}};
    SourceTest   test;
    MssqlOptions options = source_test_begin(&test, answers, COUNT_OF(answers));

    (void)state;
    options.time_zone = STR("auto");
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    assert_int_equal(ask_commit_time(&test, "0x07").utc_us, us_of("2026-07-01T12:00:00"));
    assert_int_equal(fake_server_call_count(test.server, "AT TIME ZONE N'Eastern Standard Time'"),
                     1);
    assert_int_equal(fake_server_call_count(test.server, "SYSDATETIMEOFFSET"), 0);
    assert_int_equal(count_in(buf_str(&test.log_text), " WARN "), 0);
    source_test_close(&test);
}

static void near_a_change_commits_are_converted_one_by_one(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "DATEDIFF(day",
         .columns = RANGE_COLUMNS,
         .rows    = "2026-11-01T01:30:00|2026-11-01T01:30:00|0|-240|-300\n"},
        {.expect  = "DATEADD(hour, -3, CONVERT(datetime",
         .columns = "below STRING",
         .rows    = "0x00000000000000000001\n"},
        /* 05:30Z, 05:50Z, 06:10Z (a drop), 06:30Z */
        {.expect  = "LAG(m.tran_end_time)",
         .columns = COMMIT_COLUMNS,
         .rows =
             "0x00000000000000000002|2026-11-01T01:30:00|NULL|-240|-300|-"
             "300\n0x00000000000000000003|2026-11-01T01:50:00|2026-11-01T01:30:00|-240|-300|-300\n"
             "0x00000000000000000004|2026-11-01T01:10:00|2026-11-01T01:50:00|-240|-300|-"
             "300\n0x00000000000000000005|2026-11-01T01:30:00|2026-11-01T01:10:00|-240|-300|-"
             "300\n"},
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = MAPPING_COLUMNS,
         .rows    = "0x00000000000000000005|2026-11-01T01:30:00\n"}};
    SourceTest   test;
    MssqlOptions options = source_test_begin(&test, answers, COUNT_OF(answers));
    RangeClock   clock;
    SqlConn     *conn;

    (void)state;
    options.time_zone = STR("Eastern Standard Time");
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    assert_int_equal(ask_commit_time(&test, "0x05").utc_us, us_of("2026-11-01T06:30:00"));
    const FakeCall *below = fake_server_call(test.server, "DATEADD(hour, -3, CONVERT(datetime", 0);
    assert_str_is(below->params[0], "2026-11-01T01:30:00.000");
    assert_str_is(fake_server_call(test.server, "LAG(", 0)->params[0], "0x00000000000000000001");

    assert_ok(mssql_connect(test.mssql, CONN_META, &conn, &test.err), &test.err);
    assert_ok(mssql_range_clock_on(conn, &test.mssql->clock, lsn_of("0x02"), lsn_of("0x05"),
                                   test.arena, &clock, &test.err),
              &test.err);
    assert_int_equal(clock.run_count, 2); /* runs, not commits */
    size_t at = 0;
    assert_int_equal(range_clock_to_utc(&clock, lsn_of("0x02"), us_of("2026-11-01T01:30:00"), &at),
                     us_of("2026-11-01T05:30:00"));
    assert_int_equal(range_clock_to_utc(&clock, lsn_of("0x03"), us_of("2026-11-01T01:50:00"), &at),
                     us_of("2026-11-01T05:50:00"));
    assert_int_equal(range_clock_to_utc(&clock, lsn_of("0x04"), us_of("2026-11-01T01:10:00"), &at),
                     us_of("2026-11-01T06:10:00"));
    assert_int_equal(range_clock_to_utc(&clock, lsn_of("0x05"), us_of("2026-11-01T01:30:00"), &at),
                     us_of("2026-11-01T06:30:00"));
    sqlconn_close(conn);
    source_test_close(&test);
}

static void an_unknown_zone_is_refused_with_the_way_out(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect = "DATEDIFF(day", .code = ERR_QUERY, .native = 9820},
        {.expect  = "FROM cdc.lsn_time_mapping",
         .columns = MAPPING_COLUMNS,
         .rows    = "0x00000000000000000007|2026-07-01T08:00:00\n"}};
    SourceTest   test;
    MssqlOptions options = source_test_begin(&test, answers, COUNT_OF(answers));
    OptTime      out;

    (void)state;
    options.time_zone = STR("Middle Earth Time");
    assert_ok(mssql_open(&options, &test.mssql, &test.err), &test.err);
    assert_false(mssql_commit_time(test.mssql, lsn_of("0x07"), &out, &test.err));
    assert_err(&test.err, ERR_CONFIG, "Middle Earth Time");
    assert_err(&test.err, ERR_CONFIG, "time_zone");
    source_test_close(&test);

    options           = source_test_begin(&test, answers, COUNT_OF(answers));
    options.time_zone = STR("x'; DROP TABLE t; --");
    assert_false(mssql_open(&options, &test.mssql, &test.err));
    assert_err(&test.err, ERR_CONFIG, "time zone");
    source_test_close(&test);
}

static void a_time_is_asked_for_in_whole_seconds(void **state)
{
    static const FakeAnswer answers[] = {
        FACTS_2022,
        {.expect  = "fn_cdc_map_time_to_lsn",
         .columns = "lsn STRING",
         .rows    = "0x00000000000000000007\n",
         .times   = 1},
        {.expect = "fn_cdc_map_time_to_lsn", .columns = "lsn STRING", .rows = "NULL\n"}};
    SourceTest test;
    Lsn        lsn;
    bool       is_set;

    (void)state;
    source_test_open(&test, answers, COUNT_OF(answers));
    assert_ok(
        mssql_lsn_at_time(test.mssql, us_of("2026-11-01T05:45:00.999"), &lsn, &is_set, &test.err),
        &test.err);
    assert_true(is_set);
    assert_str_is(fake_server_call(test.server, "fn_cdc_map_time_to_lsn", 0)->params[0],
                  "2026-11-01T05:45:00");
    assert_ok(mssql_lsn_at_time(test.mssql, us_of("1999-01-01T00:00:00"), &lsn, &is_set, &test.err),
              &test.err);
    assert_false(is_set);
    source_test_close(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(commits_around_a_change_come_out_at_their_true_time),
        cmocka_unit_test(clock_jitter_is_no_drop),
        cmocka_unit_test(a_commit_time_is_of_exactly_its_lsn),
        cmocka_unit_test(an_lsn_before_every_commit_has_no_time),
        cmocka_unit_test(a_fixed_offset_is_subtracted),
        cmocka_unit_test(from_2022_on_the_server_names_its_zone),
        cmocka_unit_test(near_a_change_commits_are_converted_one_by_one),
        cmocka_unit_test(an_unknown_zone_is_refused_with_the_way_out),
        cmocka_unit_test(a_time_is_asked_for_in_whole_seconds),
    };
    return RUN_TESTS(tests);
}
