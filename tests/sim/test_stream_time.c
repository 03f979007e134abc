/* Commit times are UTC whatever clock the server has (sqlserver.md 1.8). */
#include "support/test_support.h"

#include "support/shop.h"

#define ZONE "Central European Standard Time"

static void pass_until(World *world, const char *utc)
{
    Str     text = str_from_c(utc);
    int64_t want_us;

    assert_true(time_parse(text, &want_us));
    clock_sleep_ms(world_clock(world), (want_us - clock_utc_us(world_clock(world))) / 1000, NULL);
}

static Lsn commit_at(World *world, const char *utc, int id)
{
    pass_until(world, utc);
    world_exec(world, "INSERT INTO dbo.orders VALUES (%d, 'n')", id);
    world_scan(world);
    return world_max_lsn(world);
}

/* Three commits around the hour that comes twice: 02:50 summer time, 02:10 and 03:05 winter time. */
static StreamOptions autumn(World *world)
{
    StreamOptions options;

    world_exec(world, "EXEC tidesim.zone N'" ZONE "'");
    world_create(world, "orders", SHOP_COLUMNS);
    pass_until(world, "2030-10-26T20:00:00.000");
    options = shop_stream_from(world_max_lsn(world));
    (void)commit_at(world, "2030-10-27T00:50:00.000", 1);
    (void)commit_at(world, "2030-10-27T01:10:00.000", 2);
    (void)commit_at(world, "2030-10-27T02:05:00.000", 3);
    return options;
}

#define UTC_TIMES                                                                  \
    "1|2030-10-27T00:50:00.000000\n2|2030-10-27T01:10:00.000000\n3|2030-10-27T02:" \
    "05:00.000000\n"

static void the_hour_that_comes_twice_is_told_apart(void **state) /* case A15 */
{
    for (int64_t commits = 0; commits <= 1; commits++)
        for (int named = 0; named <= 1; named++) {
            World        *world   = world_open(state, 1);
            StreamOptions options = autumn(world);

            assert_str_is(world_source_rows(
                              world, "SELECT CONVERT(varchar(5), tran_end_time, 108) FROM "
                                     "cdc.lsn_time_mapping WHERE start_lsn IN (SELECT __$start_lsn "
                                     "FROM cdc.dbo_orders_CT) ORDER BY start_lsn"),
                          "02:50\n02:10\n03:05\n");
            options.max_commits_per_batch = commits; /* together, and each in its own batch */
            if (named) options.source.time_zone = STR(ZONE);
            (void)world_stream(world, &options);
            assert_rows(world, UTC_TIMES,
                        "SELECT id, _commit_ts FROM {" BRONZE "} ORDER BY _start_lsn");
            /* Times of positions and facts are the same ones, and no lag is negative. */
            assert_rows(world, "true|true|2030-10-27T02:05:00.000000\n",
                        "SELECT bool_and(capture_lag_seconds >= 0), bool_and(ingestion_lag_seconds "
                        ">= 0), max(end_commit_ts) FROM {" FACTS "} WHERE event IS NULL");
            assert_rows(world, "true\n",
                        "SELECT bool_and(ok) FROM (SELECT end_commit_ts > lag(end_commit_ts) OVER "
                        "(ORDER BY batch_id) IS NOT FALSE AS ok FROM {" FACTS "})");
            assert_int_equal(world_line_count(world, "WARN"), 0);
            world_close(world);
        }
}

static void a_replay_has_the_times_of_the_first_try(void **state)
{
    World        *world   = world_open(state, 1);
    StreamOptions options = autumn(world);

    shop_crash_at(world, &options, FACTS "/_delta_log/00000000000000000001", false);
    (void)world_stream(world, &options);
    assert_rows(world, UTC_TIMES, "SELECT id, _commit_ts FROM {" BRONZE "} ORDER BY _start_lsn");
    assert_facts_once(world);
    world_close(world);
}

static void an_hour_that_is_left_out_shifts_nothing(void **state)
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_exec(world, "EXEC tidesim.zone N'" ZONE "'");
    world_create(world, "orders", SHOP_COLUMNS);
    options = shop_stream_from(world_max_lsn(world));
    (void)commit_at(world, "2027-03-28T00:30:00.000", 1); /* 01:30 winter time */
    (void)commit_at(world, "2027-03-28T01:30:00.000", 2); /* 03:30 summer time */
    (void)world_stream(world, &options);
    assert_rows(world, "1|2027-03-28T00:30:00.000000\n2|2027-03-28T01:30:00.000000\n",
                "SELECT id, _commit_ts FROM {" BRONZE "} ORDER BY _start_lsn");
    world_close(world);
}

static void a_fixed_offset_is_taken_off(void **state)
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_exec(world, "EXEC tidesim.zone N'Nepal Standard Time'");
    world_create(world, "orders", SHOP_COLUMNS);
    options = shop_stream_from(world_max_lsn(world));
    (void)commit_at(world, "2027-03-28T00:30:00.007", 1);
    (void)world_stream(world, &options);
    assert_rows(world, "1|2027-03-28T00:30:00.007000\n", "SELECT id, _commit_ts FROM {" BRONZE "}");

    /* Told that the clock is UTC, its reading is taken as it is. */
    options.source.time_zone = STR("utc");
    options.app_id           = STR("utc");
    options.checkpoint       = STR("checkpoints/utc");
    options.bronze           = (TableRef){STR("lake/utc"), STR("lake/utc")};
    (void)world_stream(world, &options);
    assert_rows(world, "1|2027-03-28T06:15:00.007000\n", "SELECT id, _commit_ts FROM {lake/utc}");
    world_close(world);
}

static void a_zone_the_server_does_not_know_is_named(void **state)
{
    World        *world = world_open(state, 1);
    StreamOptions options;
    Process      *process;

    world_create(world, "orders", SHOP_COLUMNS);
    options                  = shop_stream_from(world_max_lsn(world));
    options.source.time_zone = STR("Europe/Berlin");
    (void)shop_insert(world, 1);
    process = process_open(world, "stream");
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_CONFIG, "\"Europe/Berlin\"");
    assert_err(&process->err, ERR_CONFIG, "Windows zone name");
    assert_err(&process->err, ERR_CONFIG, "sys.time_zone_info");
    process_close(process);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hour_that_comes_twice_is_told_apart),
        cmocka_unit_test(a_replay_has_the_times_of_the_first_try),
        cmocka_unit_test(an_hour_that_is_left_out_shifts_nothing),
        cmocka_unit_test(a_fixed_offset_is_taken_off),
        cmocka_unit_test(a_zone_the_server_does_not_know_is_named),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
