/* Cleanup: the mark first, then rows in batches, then mapping entries (sqlserver.md 2.16). */
#include "support/test_support.h"

#include "support/sim_model.h"

#define MINUTE_MS INT64_C(60000)

typedef struct Shop {
    World    *world;
    Actor     actor;
    SimTable *table;
    Lsn       commits[8]; /* a minute apart */
    Str       seen;       /* by the hook */
    int       calls;
} Shop;

static void shop_open(Shop *shop, int64_t retention_minutes)
{
    *shop = (Shop){.world = world_open((WorldOptions){
                       .seed = 9, .simulated = true, .retention_minutes = retention_minutes})};
    actor_open(&shop->actor, shop->world, 51);
    shop->table = make_table(&shop->actor, "t", (TestTable){0});
    enable_cdc(&shop->actor);
    (void)enable_table(&shop->actor, "t", "ci");
    for (int64_t i = 0; i < 8; i++) {
        clock_sleep_ms(shop->world->clock, MINUTE_MS, NULL);
        shop->commits[i] = put_row(&shop->actor, shop->table, (TestRow){i, i, NULL});
    }
    (void)scan_log(shop->world);
}

static void shop_close(Shop *shop)
{
    actor_close(&shop->actor);
    world_close(shop->world);
}

static Lsn start_lsn(const Shop *shop, const char *name)
{
    SimCaptureInstance instance;
    assert_true(sim_cdc_find_instance(shop->world->database, str_from_c(name), shop->world->arena,
                                      &instance));
    return instance.start_lsn;
}

static Str ids_left(const Shop *shop)
{
    return read_table(shop->world, change_table(shop->world, "ci"),
                      (ReadSpec){.first = 5, .last = 5});
}

static int64_t mapping_count(const Shop *shop)
{
    return sim_table_row_count(sim_cdc_mapping_table(shop->world->database));
}

/* 2.19: a purged range reads as empty and min_lsn moved. */
static void what_is_older_than_the_retention_goes(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, 3);
    assert_sim(sim_cdc_cleanup(shop.world->database, STR_EMPTY, LSN_ZERO, 5000, &error), &error);
    assert_true(
        lsn_equal(start_lsn(&shop, "ci"), shop.commits[4])); /* three minutes before the newest */
    assert_str_is(ids_left(&shop), "4 5 6 7");
    assert_int_equal(mapping_count(&shop), 4);
    assert_sim(sim_cdc_cleanup(shop.world->database, STR_EMPTY, LSN_ZERO, 5000, &error), &error);
    assert_str_is(ids_left(&shop), "4 5 6 7");
    shop_close(&shop);
}

static void nothing_goes_while_nothing_is_old_enough(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, 100);
    Lsn before = start_lsn(&shop, "ci");
    assert_sim(sim_cdc_cleanup(shop.world->database, STR_EMPTY, LSN_ZERO, 5000, &error), &error);
    assert_true(lsn_equal(start_lsn(&shop, "ci"), before));
    assert_str_is(ids_left(&shop), "0 1 2 3 4 5 6 7");
    shop_close(&shop);
}

static void watch(void *arg, const char *where)
{
    Shop *shop = arg;
    shop->seen = str_printf(shop->world->arena, "%.*s[%s: %d, %.*s]", STR_ARG(shop->seen), where,
                            lsn_equal(start_lsn(shop, "ci"), shop->commits[5]),
                            STR_ARG(ids_left(shop)));
}

/* The retention guard of readers rests on this order. */
static void the_mark_moves_before_any_row_goes(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, 2);
    sim_cdc_set_cleanup_hook(shop.world->database, watch, &shop);
    assert_sim(sim_cdc_cleanup(shop.world->database, STR_EMPTY, LSN_ZERO, 2, &error), &error);
    assert_str_is(
        shop.seen,
        "[after_mark: 1, 0 1 2 3 4 5 6 7][between_batches: 1, 2 3 4 5 6 7][between_batches: 1, 4 5 "
        "6 7]"
        "[between_batches: 1, 5 6 7][between_batches: 1, 5 6 7][between_batches: 1, 5 6 7]");
    shop_close(&shop);
}

static void the_procedure_cleans_one_instance_to_an_entry(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, 100);
    SimDatabase *database = shop.world->database;
    Lsn          start    = start_lsn(&shop, "ci");
    assert_sim_error(sim_cdc_cleanup(database, STR("none"), shop.commits[1], 5000, &error), &error,
                     22920);
    assert_sim_error(sim_cdc_cleanup(database, STR("ci"), shop.commits[1], 0, &error), &error,
                     22850);
    assert_sim_error(
        sim_cdc_cleanup(database, STR("ci"), lsn_increment(shop.commits[1]), 5000, &error), &error,
        22964);
    assert_sim_error(sim_cdc_cleanup(database, STR("ci"), lsn_decrement(start), 5000, &error),
                     &error, 22957);
    assert_sim_error(
        sim_cdc_cleanup(database, STR("ci"), lsn_increment(shop.commits[7]), 5000, &error), &error,
        22957);
    assert_sim(sim_cdc_cleanup(database, STR("ci"), shop.commits[2], 5000, &error), &error);
    assert_str_is(ids_left(&shop), "2 3 4 5 6 7");
    assert_true(lsn_equal(start_lsn(&shop, "ci"), shop.commits[2]));
    assert_sim(sim_cdc_cleanup(database, STR("ci"), shop.commits[2], 5000, &error),
               &error); /* the current one */
    assert_sim_error(sim_cdc_cleanup(database, STR("ci"), shop.commits[1], 5000, &error), &error,
                     22957); /* never down */
    shop_close(&shop);
}

/* 2.19: mapping entries stay until the last instance has passed them. */
static void mapping_entries_stay_while_an_instance_needs_them(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    int64_t  time_us;
    (void)state;

    shop_open(&shop, 100);
    SimDatabase *database = shop.world->database;
    Actor        other;
    actor_open(&other, shop.world, 52);
    (void)make_table(&other, "u", (TestTable){0});
    (void)enable_table(&other, "u", "c2"); /* starts late: it needs none of the old ones */
    (void)scan_log(shop.world);
    assert_sim(sim_cdc_cleanup(database, STR("ci"), shop.commits[3], 5000, &error), &error);
    assert_true(sim_cdc_map_lsn_to_time(database, shop.commits[3], &time_us));
    assert_false(sim_cdc_map_lsn_to_time(database, shop.commits[2], &time_us));
    assert_sim(sim_cdc_cleanup(database, STR("c2"), start_lsn(&shop, "c2"), 5000, &error), &error);
    assert_true(
        sim_cdc_map_lsn_to_time(database, shop.commits[3], &time_us)); /* ci is not past it */
    actor_close(&other);
    shop_close(&shop);
}

static void commits_of_one_time_go_together(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, 100);
    Lsn first = put_row(&shop.actor, shop.table,
                        (TestRow){20, 0, NULL}); /* at the time of commits[7] */
    Lsn last  = put_row(&shop.actor, shop.table, (TestRow){21, 0, NULL});
    (void)scan_log(shop.world);
    assert_sim(sim_cdc_cleanup(shop.world->database, STR("ci"), last, 5000, &error), &error);
    assert_true(lsn_equal(start_lsn(&shop, "ci"), shop.commits[7]));
    assert_true(lsn_compare(shop.commits[7], first) < 0);
    assert_str_is(ids_left(&shop), "7 20 21");
    shop_close(&shop);
}

static void the_job_cleans_once_a_day(void **state)
{
    World *world = world_open((WorldOptions){
        .seed = 9, .simulated = true, .retention_minutes = 60, .capture_interval_ms = 5000});
    Actor  actor;
    (void)state;

    actor_open(&actor, world, 51);
    SimTable *table = make_table(&actor, "t", (TestTable){0});
    enable_cdc(&actor);
    (void)enable_table(&actor, "t", "ci");
    (void)put_row(&actor, table, (TestRow){1, 1, NULL});
    clock_sleep_ms(world->clock, 119 * MINUTE_MS, NULL); /* 01:59 */
    assert_changes(world, "ci", "2:1:1:1:-");
    clock_sleep_ms(world->clock, 2 * MINUTE_MS, NULL);
    assert_changes(world, "ci", "");
    actor_close(&actor);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_older_than_the_retention_goes),
        cmocka_unit_test(nothing_goes_while_nothing_is_old_enough),
        cmocka_unit_test(the_mark_moves_before_any_row_goes),
        cmocka_unit_test(the_procedure_cleans_one_instance_to_an_entry),
        cmocka_unit_test(mapping_entries_stay_while_an_instance_needs_them),
        cmocka_unit_test(commits_of_one_time_go_together),
        cmocka_unit_test(the_job_cleans_once_a_day),
    };
    return RUN_TESTS(tests);
}
