/* The capture job and its parameters, capture latency, the cleanup job (sqlserver.md 2.15, 2.16). */
#include "support/test_support.h"

#include "support/sim_model.h"

#define MINUTE_MS INT64_C(60000)

typedef struct Shop {
    World    *world;
    Actor     actor;
    SimTable *table;
} Shop;

static void shop_open(Shop *shop, WorldOptions options)
{
    options.seed      = 4;
    options.simulated = true;
    *shop             = (Shop){.world = world_open(options)};
    actor_open(&shop->actor, shop->world, 51);
    shop->table = make_table(&shop->actor, "t", (TestTable){0});
    enable_cdc(&shop->actor);
    (void)enable_table(&shop->actor, "t", "ci");
}

static void shop_close(Shop *shop)
{
    actor_close(&shop->actor);
    world_close(shop->world);
}

static void pass_ms(const Shop *shop, int64_t ms)
{
    clock_sleep_ms(shop->world->clock, ms, NULL);
}

static int64_t captured(const Shop *shop)
{
    return sim_table_row_count(change_table(shop->world, "ci"));
}

static void capture_sees_a_commit_after_its_latency(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, (WorldOptions){0});
    (void)scan_log(shop.world);
    sim_cdc_set_latency(shop.world->database, 1000, 1000);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    assert_int_equal(scan_log(shop.world), 0);
    pass_ms(&shop, 999);
    assert_int_equal(scan_log(shop.world), 0);
    pass_ms(&shop, 1);
    assert_int_equal(scan_log(shop.world), 1);
    (void)put_row(&shop.actor, shop.table, (TestRow){2, 2, NULL});
    assert_int_equal(scan_log(shop.world), 0);
    assert_sim(sim_cdc_idle_now(shop.world->database, &error), &error); /* does not pass it */
    assert_int_equal(captured(&shop), 2);
    shop_close(&shop);
}

static void latencies_keep_the_order_of_commits(void **state)
{
    Shop shop;
    Lsn  before = LSN_ZERO, now;
    (void)state;

    shop_open(&shop, (WorldOptions){0});
    sim_cdc_set_latency(shop.world->database, 0, 5000);
    for (int64_t id = 0; id < 40; id++)
        (void)put_row(&shop.actor, shop.table, (TestRow){id, id, NULL});
    for (int64_t seen = 0; seen < 40; seen = captured(&shop)) {
        (void)scan_log(shop.world);
        if (sim_cdc_max_lsn(shop.world->database, &now)) {
            assert_true(lsn_compare(before, now) <= 0);
            before = now;
        }
        Str ids = read_table(shop.world, change_table(shop.world, "ci"),
                             (ReadSpec){.first = 5, .last = 5});
        for (int64_t id = 0; id < captured(&shop); id++) { /* a beginning of 0 1 2 ... */
            Str word;
            assert_true(str_split_next(&ids, ' ', &word));
            assert_str_is(word, str_c(shop.world->arena,
                                      str_printf(shop.world->arena, "%lld", (long long)id)));
        }
        pass_ms(&shop, 100);
    }
    shop_close(&shop);
}

static void what_a_job_is_told_counts_from_its_next_start(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 1000});
    pass_ms(&shop, 3000);
    SimCdcJobs jobs = sim_cdc_jobs(shop.world->database);
    jobs.maxtrans   = 2;
    jobs.maxscans   = 1;
    jobs.polling_ms = MINUTE_MS;
    sim_cdc_set_jobs(shop.world->database, &jobs);
    for (int64_t id = 0; id < 5; id++)
        (void)put_row(&shop.actor, shop.table, (TestRow){id, id, NULL});
    pass_ms(&shop, 3000);
    assert_int_equal(captured(&shop), 5); /* as it was started */
    assert_true(sim_cdc_stop_capture(shop.world->database));
    assert_false(sim_cdc_capture_is_running(shop.world->database));
    pass_ms(&shop, 3000);
    for (int64_t id = 5; id < 10; id++)
        (void)put_row(&shop.actor, shop.table, (TestRow){id, id, NULL});
    pass_ms(&shop, 3000);
    assert_int_equal(captured(&shop), 5);
    assert_true(sim_cdc_start_capture(shop.world->database));
    pass_ms(&shop, 3000);
    assert_int_equal(captured(&shop), 7); /* one scan of one cycle of two transactions */
    pass_ms(&shop, MINUTE_MS);
    assert_int_equal(captured(&shop), 9);
    shop_close(&shop);
}

static void a_job_that_is_not_continuous_scans_once(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 1000});
    pass_ms(&shop, 3000);
    SimCdcJobs jobs    = sim_cdc_jobs(shop.world->database);
    jobs.is_continuous = false;
    sim_cdc_set_jobs(shop.world->database, &jobs);
    assert_true(sim_cdc_stop_capture(shop.world->database));
    pass_ms(&shop, 3000);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    assert_true(sim_cdc_start_capture(shop.world->database));
    pass_ms(&shop, 3000);
    assert_int_equal(captured(&shop), 1);
    assert_false(sim_cdc_capture_is_running(shop.world->database));
    (void)put_row(&shop.actor, shop.table, (TestRow){2, 2, NULL});
    pass_ms(&shop, 10 * MINUTE_MS);
    assert_int_equal(captured(&shop), 1);
    shop_close(&shop);
}

static void cleanup_runs_at_two_by_its_own_parameters_while_capture_is_stopped(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 1000, .retention_minutes = 100000});
    SimCdcJobs jobs        = sim_cdc_jobs(shop.world->database);
    jobs.retention_minutes = 70; /* of the newest entry, an idle one */
    jobs.threshold         = 1;
    sim_cdc_set_jobs(shop.world->database, &jobs);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    pass_ms(&shop, 60 * MINUTE_MS);
    (void)put_row(&shop.actor, shop.table, (TestRow){2, 2, NULL});
    pass_ms(&shop, 59 * MINUTE_MS); /* 01:59 */
    assert_true(sim_cdc_stop_capture(shop.world->database));
    assert_int_equal(captured(&shop), 2);
    pass_ms(&shop, 2 * MINUTE_MS);
    assert_changes(shop.world, "ci", "2:1:2:2:-");
    shop_close(&shop);
}

static void a_cleanup_job_that_is_started_runs_soon(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 1000, .retention_minutes = 1});
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    pass_ms(&shop, 10 * MINUTE_MS);
    (void)put_row(&shop.actor, shop.table, (TestRow){2, 2, NULL});
    pass_ms(&shop, 3000);
    assert_int_equal(captured(&shop), 2);
    assert_sim(sim_cdc_start_cleanup(shop.world->database, &error), &error);
    pass_ms(&shop, 3000);
    assert_changes(shop.world, "ci", "2:1:2:2:-");
    shop_close(&shop);
}

static int64_t mapping_count(const Shop *shop)
{
    return sim_table_row_count(sim_cdc_mapping_table(shop->world->database));
}

static void idle_entries_come_at_their_interval(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 1000});
    sim_cdc_set_idle_interval(shop.world->database, 10000);
    pass_ms(&shop, 2000);
    int64_t before = mapping_count(&shop);
    pass_ms(&shop, 33000);
    assert_int_equal(mapping_count(&shop), before + 3);
    for (int64_t id = 0; id < 30; id++) { /* captured commits keep them away */
        (void)put_row(&shop.actor, shop.table, (TestRow){id, id, NULL});
        pass_ms(&shop, 2000);
    }
    assert_int_equal(mapping_count(&shop), before + 3 + 30);
    shop_close(&shop);
}

static void scans_that_find_nothing_share_a_row(void **state)
{
    Shop            shop;
    SimScanSession *sessions = NULL;
    (void)state;

    shop_open(&shop, (WorldOptions){0});
    (void)scan_log(shop.world);
    for (int i = 0; i < 5; i++)
        assert_int_equal(scan_log(shop.world), 0);
    Lsn commit = put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    (void)scan_log(shop.world);
    assert_int_equal(scan_log(shop.world), 0);
    size_t count = sim_cdc_scan_sessions(shop.world->database, shop.world->arena, &sessions);
    assert_int_equal(count, 4);
    assert_int_equal(sessions[1].empty_count, 5);
    assert_true(lsn_is_zero(sessions[1].start_lsn));
    assert_int_equal(sessions[2].transactions, 1);
    assert_true(lsn_equal(sessions[2].last_commit_lsn, commit));
    assert_int_equal(sessions[3].empty_count, 1);
    shop_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capture_sees_a_commit_after_its_latency),
        cmocka_unit_test(latencies_keep_the_order_of_commits),
        cmocka_unit_test(what_a_job_is_told_counts_from_its_next_start),
        cmocka_unit_test(a_job_that_is_not_continuous_scans_once),
        cmocka_unit_test(cleanup_runs_at_two_by_its_own_parameters_while_capture_is_stopped),
        cmocka_unit_test(a_cleanup_job_that_is_started_runs_soon),
        cmocka_unit_test(idle_entries_come_at_their_interval),
        cmocka_unit_test(scans_that_find_nothing_share_a_row),
    };
    return RUN_TESTS(tests);
}
