/* Capture instances: enabling and disabling, the second instance, DDL of captured tables
 * (sqlserver.md 2.15, 2.16). */
#include "support/test_support.h"

#include "support/sim_model.h"

typedef struct Shop {
    World    *world;
    Actor     actor;
    SimTable *table;
} Shop;

static void shop_open(Shop *shop, TestTable table)
{
    shop->world = world_simulated(5);
    actor_open(&shop->actor, shop->world, 51);
    shop->table = make_table(&shop->actor, "t", table);
}

static void shop_open_enabled(Shop *shop)
{
    shop_open(shop, (TestTable){0});
    enable_cdc(&shop->actor);
    (void)enable_table(&shop->actor, "t", "ci");
}

static void shop_close(Shop *shop)
{
    actor_close(&shop->actor);
    world_close(shop->world);
}

static SimCaptureInstance instance_of(const Shop *shop, const char *name)
{
    SimCaptureInstance instance;
    assert_true(sim_cdc_find_instance(shop->world->database, str_from_c(name), shop->world->arena,
                                      &instance));
    return instance;
}

/* --- enabling --- */

static void an_enabled_database_has_its_schema_and_its_mapping(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    Lsn      lsn;
    (void)state;

    shop_open(&shop, (TestTable){0});
    assert_false(sim_cdc_is_enabled(shop.world->database));
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim(sim_cdc_enable_database(txn, &error), &error);
    sim_txn_rollback(txn);
    assert_false(sim_database_has_schema(shop.world->database, STR("cdc")));
    assert_null(sim_cdc_mapping_table(shop.world->database));
    enable_cdc(&shop.actor);
    assert_true(sim_cdc_is_enabled(shop.world->database));
    assert_non_null(
        sim_database_find_table(shop.world->database, STR("cdc"), STR("lsn_time_mapping")));
    assert_false(sim_cdc_max_lsn(shop.world->database, &lsn));
    txn = actor_begin(&shop.actor);
    assert_sim_error(sim_cdc_enable_database(txn, &error), &error, 22905);
    assert_sim(sim_cdc_disable_database(txn, &error), &error);
    (void)actor_commit(txn);
    assert_false(sim_cdc_is_enabled(shop.world->database));
    assert_null(sim_database_find_table(shop.world->database, STR("cdc"), STR("lsn_time_mapping")));
    enable_cdc(&shop.actor);
    shop_close(&shop);
}

static void system_databases_are_refused(void **state)
{
    World   *world = world_simulated(1);
    Actor    actor;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    world->database = sim_server_find_database(world->server, STR("master"));
    SimTxn *txn     = actor_begin(&actor);
    assert_sim_error(sim_cdc_enable_database(txn, &error), &error, 22989);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void the_change_table_looks_as_documented(void **state)
{
    Shop shop;
    (void)state;

    shop_open_enabled(&shop);
    const SimTableInfo      *info    = sim_table_info(change_table(shop.world, "ci"));
    static const char *const names[] = {"__$start_lsn",   "__$end_lsn", "__$seqval", "__$operation",
                                        "__$update_mask", "id",         "v",         "s",
                                        "__$command_id"};
    assert_int_equal(info->column_count, COUNT_OF(names));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_str_is(info->columns[i].name, names[i]);
    assert_true(info->is_system);
    assert_true(info->columns[5].is_nullable);
    assert_true(info->indexes[0]->is_clustered);
    assert_int_equal(info->indexes[0]->columns[1].column_id, 9);
    SimCaptureInstance instance = instance_of(&shop, "CI");
    assert_str_is(instance.name, "ci");
    assert_str_is(instance.source_table, "t");
    assert_str_is(instance.index_name, "PK_t");
    assert_true(instance.supports_net_changes);
    assert_int_equal(instance.column_count, 3);
    assert_int_equal(instance.index_column_count, 1);
    assert_str_is(instance.index_columns[0], "id");
    assert_true(sim_table_is_captured(shop.table));
    shop_close(&shop);
}

static void enable_refuses_in_the_servers_order(void **state)
{
    Shop             shop;
    SimError         error  = SIM_ERROR_INIT;
    static const Str list[] = {{"v", 1}, {"nothing", 7}};
    (void)state;

    shop_open(&shop, (TestTable){.by_v_unique = true});
    SimEnableTable args = {.source_schema = STR("dbo"), .source_name = STR("t")};
    SimTxn        *txn  = actor_begin(&shop.actor);
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22901);
    sim_txn_rollback(txn);
    enable_cdc(&shop.actor);
    txn              = actor_begin(&shop.actor);
    args.source_name = STR("none");
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22931);
    args.source_schema = STR("cdc");
    args.source_name   = STR("lsn_time_mapping");
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22974);
    args                  = (SimEnableTable){.source_schema = STR("dbo"), .source_name = STR("t")};
    args.capture_instance = str_printf(shop.world->arena, "%0101d", 1);
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22927);
    args.capture_instance = STR("x");
    args.index_name       = STR("none");
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22928);
    args.index_name = STR("by_v"); /* v may be NULL */
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22838);
    args.index_name            = STR_EMPTY;
    args.captured_columns      = list;
    args.captured_column_count = 2;
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22942);
    args.captured_columns      = &list[1];
    args.captured_column_count = 1;
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22930);
    args.captured_columns = list;
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22943); /* without the key */
    args.captured_columns      = NULL;
    args.captured_column_count = 0;
    sim_txn_rollback(txn);
    (void)enable_table(&shop.actor, "t", "x");
    txn = actor_begin(&shop.actor);
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22926);
    sim_txn_rollback(txn);
    (void)enable_table(&shop.actor, "t", "y");
    txn                   = actor_begin(&shop.actor);
    args.capture_instance = STR("z");
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22962);
    sim_txn_rollback(txn);
    shop_close(&shop);
}

static void a_heap_has_no_net_changes(void **state)
{
    Shop           shop;
    SimError       error = SIM_ERROR_INIT;
    SimEnableTable args  = {.source_schema        = STR("dbo"),
                            .source_name          = STR("t"),
                            .supports_net_changes = true,
                            .net_changes_given    = true,
                            .role_name            = STR("gate")};
    (void)state;

    shop_open(&shop, (TestTable){.heap = true, .by_v = true});
    enable_cdc(&shop.actor);
    SimTxn *txn     = actor_begin(&shop.actor);
    args.index_name = STR("by_v");
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22929);
    args.index_name = STR_EMPTY;
    assert_sim_error(sim_cdc_enable_table(txn, &args, &error), &error, 22939);
    args.net_changes_given = false;
    assert_sim(sim_cdc_enable_table(txn, &args, &error), &error);
    (void)actor_commit(txn);
    SimCaptureInstance instance = instance_of(&shop, "dbo_t");
    assert_false(instance.supports_net_changes);
    assert_str_is(instance.index_name, "");
    assert_str_is(instance.role_name, "gate");
    SimError exists = SIM_ERROR_INIT;
    assert_sim_error(sim_create_role(shop.world->database, STR("gate"), &exists), &exists, 15023);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, "a"});
    SimTxn              *update  = actor_begin(&shop.actor);
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED, .for_update = true};
    SimScan             *scan;
    const SimRow *const *rows;
    size_t               count;
    SimValue             values[3];
    assert_sim(sim_scan_open(update, shop.table, NULL, &options, &scan, &error), &error);
    assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
    row_values((TestRow){1, 2, "a"}, values);
    SimChange change = {rows[0], values};
    sim_scan_close(scan);
    assert_sim(sim_update(update, shop.table, &change, 1, &error), &error);
    (void)actor_commit(update);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "dbo_t", "2:1:1:1:a 3:1:1:1:a 4:1:1:2:a");
    shop_close(&shop);
}

static void start_lsn_shows_at_once_and_min_lsn_when_capture_comes(void **state)
{
    Shop    shop;
    int64_t time_us;
    (void)state;

    shop_open(&shop, (TestTable){0});
    enable_cdc(&shop.actor);
    Lsn                enabled  = enable_table(&shop.actor, "t", "ci");
    SimCaptureInstance instance = instance_of(&shop, "ci");
    assert_true(lsn_equal(instance.start_lsn, enabled));
    assert_false(instance.is_reached);
    assert_false(sim_cdc_map_lsn_to_time(shop.world->database, enabled, &time_us));
    (void)scan_log(shop.world);
    instance = instance_of(&shop, "ci");
    assert_true(instance.is_reached);
    assert_true(lsn_equal(instance.start_lsn, enabled));
    assert_true(sim_cdc_map_lsn_to_time(shop.world->database, enabled, &time_us));
    shop_close(&shop);
}

static void an_enable_that_is_rolled_back_leaves_nothing(void **state)
{
    Shop           shop;
    SimError       error = SIM_ERROR_INIT;
    SimEnableTable args  = {.source_schema    = STR("dbo"),
                            .source_name      = STR("t"),
                            .capture_instance = STR("ci"),
                            .role_name        = STR("gate")};
    (void)state;

    shop_open(&shop, (TestTable){0});
    enable_cdc(&shop.actor);
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim(sim_cdc_enable_table(txn, &args, &error), &error);
    do_insert(txn, shop.table, (TestRow){1, 1, NULL});
    sim_txn_rollback(txn);
    assert_false(sim_table_is_captured(shop.table));
    assert_null(sim_database_find_table(shop.world->database, STR("cdc"), STR("ci_CT")));
    assert_sim(sim_create_role(shop.world->database, STR("gate"), &error), &error);
    assert_int_equal(scan_log(shop.world), 0);
    (void)enable_table(&shop.actor, "t", "ci");
    shop_close(&shop);
}

/* --- the second instance --- */

/* 2.14: the numbers of two instances interleave. */
static void two_instances_share_commits_and_number_their_commands_in_turn(void **state)
{
    Shop shop;
    (void)state;

    shop_open_enabled(&shop);
    (void)put_row(&shop.actor, shop.table, (TestRow){9, 90, "old"});
    (void)enable_table(&shop.actor, "t", "c2");
    SimTxn *txn = actor_begin(&shop.actor);
    do_insert(txn, shop.table, (TestRow){1, 10, "a"});
    do_update(txn, shop.table, 1, 1, 0, 1);
    do_delete(txn, shop.table, 1, 1);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:9:90:old 2:1:1:10:a 3:3:1:10:a 4:3:1:11:a 1:5:1:11:a");
    assert_changes(shop.world, "c2", "2:2:1:10:a 3:4:1:10:a 4:4:1:11:a 1:6:1:11:a");
    shop_close(&shop);
}

typedef struct Enabler {
    Shop *shop;
    Actor actor;
    Lsn   start_lsn;
    bool  is_done;
} Enabler;

static void run_enabler(void *arg)
{
    Enabler *enabler   = arg;
    enabler->start_lsn = enable_table(&enabler->actor, "t", "c2");
    enabler->is_done   = true;
}

/* 2.19: the cut at S2 with an open transaction across the enable. */
static void a_writer_before_the_enable_blocks_it_and_one_after_is_in_both(void **state)
{
    Shop    shop;
    Actor   early, late;
    Enabler enabler = {.shop = &shop};
    (void)state;

    shop_open_enabled(&shop);
    actor_open(&early, shop.world, 52);
    actor_open(&late, shop.world, 53);
    actor_open(&enabler.actor, shop.world, 54);
    SimTxn *before = actor_begin(&early);
    do_insert(before, shop.table, (TestRow){1, 1, "before"});
    SimTxn *across = actor_begin(&late); /* begins before the enable, writes after it */
    Task   *task   = sched_spawn(shop.world->sched, "enabler", run_enabler, &enabler);
    clock_sleep_ms(shop.world->clock, 100, NULL);
    assert_false(enabler.is_done);
    do_insert(before, shop.table, (TestRow){2, 2, "before"});
    Lsn first = actor_commit(before);
    sched_join(shop.world->sched, task);
    assert_true(lsn_compare(first, enabler.start_lsn) < 0);
    do_insert(across, shop.table, (TestRow){3, 3, "across"});
    (void)actor_commit(across);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:1:1:before 2:2:2:2:before 2:1:3:3:across");
    assert_changes(shop.world, "c2", "2:2:3:3:across");
    SimCaptureInstance *instances;
    assert_int_equal(sim_cdc_instances(shop.world->database, shop.world->arena, &instances), 2);
    assert_str_is(instances[0].name, "ci");
    assert_str_is(instances[1].name, "c2");
    actor_close(&enabler.actor);
    actor_close(&late);
    actor_close(&early);
    shop_close(&shop);
}

/* Writes another table first, and waits with the enable for the writer of the captured one. */
typedef struct Rival {
    SimTable *other;
    Actor     actor;
    int       priority; /* of deadlocks */
    int32_t   number;   /* of its error; 0: it committed */
} Rival;

static void run_rival(void *arg)
{
    Rival         *rival = arg;
    SimError       error = SIM_ERROR_INIT;
    SimEnableTable args  = {
         .source_schema = STR("dbo"), .source_name = STR("t"), .capture_instance = STR("c2")};

    rival->actor.waiter.deadlock_priority = rival->priority;
    SimTxn *txn                           = actor_begin(&rival->actor);
    do_insert(txn, rival->other, (TestRow){1, 1, "rival"});
    clock_sleep_ms(rival->actor.world->clock, 50, NULL);
    if (sim_cdc_enable_table(txn, &args, &error)) {
        (void)actor_commit(txn);
        return;
    }
    rival->number = error.number;
    sim_txn_statement_end(txn);
    sim_txn_rollback(txn);
}

/* Who loses is a matter of priority; the other goes on, and nothing is left half done. */
static void enable_and_writer_deadlock(int priority, bool enable_loses)
{
    Shop     shop;
    Rival    rival = {.priority = priority};
    Actor    writer;
    SimError error = SIM_ERROR_INIT;

    shop_open_enabled(&shop);
    rival.other = make_table(&shop.actor, "other", (TestTable){0});
    actor_open(&rival.actor, shop.world, 52);
    actor_open(&writer, shop.world, 53);
    SimTxn *txn = actor_begin(&writer);
    do_insert(txn, shop.table, (TestRow){1, 1, "writer"});
    Task *task = sched_spawn(shop.world->sched, "rival", run_rival, &rival);
    clock_sleep_ms(shop.world->clock, 100, NULL);
    bool wrote = try_insert(txn, rival.other, (TestRow){1, 2, "writer"}, &error);
    assert_int_equal(error.number == 1205, !enable_loses && !wrote);
    sim_txn_statement_end(txn);
    if (wrote)
        assert_sim(sim_txn_commit(txn, NULL, &error), &error);
    else
        sim_txn_rollback(txn);
    sched_join(shop.world->sched, task);
    assert_int_equal(rival.number, enable_loses ? 1205 : 0);
    assert_int_equal(wrote, enable_loses);
    (void)scan_log(shop.world);
    SimCaptureInstance *instances;
    assert_int_equal(sim_cdc_instances(shop.world->database, shop.world->arena, &instances),
                     enable_loses ? 1 : 2);
    assert_changes(shop.world, "ci", enable_loses ? "2:1:1:1:writer" : "");
    actor_close(&writer);
    actor_close(&rival.actor);
    shop_close(&shop);
}

static void enabling_next_to_writers_can_deadlock_either_way(void **state)
{
    (void)state;
    enable_and_writer_deadlock(-5, true);
    enable_and_writer_deadlock(5, false);
}

/* --- disabling --- */

static void a_disabled_instance_goes_at_once(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open_enabled(&shop);
    (void)enable_table(&shop.actor, "t", "c2");
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim_error(sim_cdc_disable_table(txn, STR("dbo"), STR("t"), STR("c3"), &error), &error,
                     22960);
    assert_sim(sim_cdc_disable_table(txn, STR("dbo"), STR("t"), STR("ci"), &error), &error);
    sim_txn_rollback(txn);
    (void)instance_of(&shop, "ci");
    txn = actor_begin(&shop.actor);
    assert_sim(sim_cdc_disable_table(txn, STR("dbo"), STR("t"), STR("ci"), &error), &error);
    (void)actor_commit(txn);
    SimCaptureInstance gone;
    assert_false(sim_cdc_find_instance(shop.world->database, STR("ci"), shop.world->arena, &gone));
    assert_null(sim_database_find_table(shop.world->database, STR("cdc"), STR("ci_CT")));
    assert_int_equal(scan_log(shop.world), 1); /* what was written before is in the other one */
    assert_changes(shop.world, "c2", "2:1:1:1:-");
    txn = actor_begin(&shop.actor);
    assert_sim(sim_cdc_disable_table(txn, STR("dbo"), STR("t"), STR("all"), &error), &error);
    (void)actor_commit(txn);
    assert_false(sim_table_is_captured(shop.table));
    txn = actor_begin(&shop.actor);
    assert_sim_error(sim_cdc_disable_table(txn, STR("dbo"), STR("t"), STR("all"), &error), &error,
                     22985);
    sim_txn_rollback(txn);
    (void)enable_table(&shop.actor, "t", "ci"); /* again, from here on */
    assert_int_equal(scan_log(shop.world), 0);
    shop_close(&shop);
}

static void a_dropped_table_takes_its_instances_along_when_capture_comes(void **state)
{
    Shop               shop;
    SimError           error = SIM_ERROR_INIT;
    SimCaptureInstance instance;
    (void)state;

    shop_open_enabled(&shop);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, NULL});
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim(sim_drop_table(txn, shop.table, &error), &error);
    (void)actor_commit(txn);
    (void)instance_of(&shop, "ci");
    assert_int_equal(scan_log(shop.world), 1);
    assert_false(
        sim_cdc_find_instance(shop.world->database, STR("ci"), shop.world->arena, &instance));
    assert_null(sim_database_find_table(shop.world->database, STR("cdc"), STR("ci_CT")));
    shop_close(&shop);
}

/* --- DDL of captured tables --- */

static void what_captured_tables_refuse(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    SimType  wide  = sim_type(SIM_BIGINT);
    (void)state;

    shop_open_enabled(&shop);
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim_error(sim_truncate(txn, shop.table, &error), &error, 4711);
    assert_sim_error(sim_rename_column(txn, shop.table, STR("v"), STR("w"), &error), &error, 4928);
    assert_sim_error(sim_drop_index(txn, shop.table, STR("PK_t"), &error), &error, 22979);
    assert_sim_error(sim_alter_column(txn, shop.table, STR("id"), &wide, false, STR(""), &error),
                     &error, 5074);
    assert_sim_error(sim_drop_column(txn, shop.table, STR("id"), STR(""), &error), &error, 5074);
    assert_sim(sim_rename_table(txn, shop.table, STR("renamed"), &error), &error);
    (void)actor_commit(txn);
    assert_str_is(instance_of(&shop, "ci").source_table, "renamed");
    shop_close(&shop);
}

static Str history_of(const Shop *shop, const char *name)
{
    SimDdlEntry *entries;
    size_t count = sim_cdc_ddl_history(shop->world->database, str_from_c(name), shop->world->arena,
                                       &entries);
    Buf    text  = buf_new(shop->world->arena, 0);

    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].time_us % 60000000, 0);
        if (i > 0) assert_true(lsn_compare(entries[i].lsn, entries[i - 1].lsn) > 0);
        buf_printf(&text, "%s%d:%.*s", i > 0 ? " " : "", entries[i].required_column_update,
                   STR_ARG(entries[i].command));
    }
    return buf_str(&text);
}

static void ddl_is_recorded_when_capture_reads_it(void **state)
{
    Shop      shop;
    SimError  error = SIM_ERROR_INIT;
    SimType   wide  = sim_type(SIM_BIGINT);
    SimColumn added = test_column("w", "bigint", true);
    (void)state;

    shop_open_enabled(&shop);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, "a"});
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim(sim_add_column(txn, shop.table, &added, NULL, STR("add-w"), &error), &error);
    (void)actor_commit(txn);
    (void)put_row(&shop.actor, shop.table, (TestRow){2, 2, "b"});
    txn = actor_begin(&shop.actor);
    assert_sim(sim_alter_column(txn, shop.table, STR("v"), &wide, true, STR("alter-v"), &error),
               &error);
    assert_sim(sim_alter_column(txn, shop.table, STR("v"), &wide, false, STR("not-null-v"), &error),
               &error);
    (void)actor_commit(txn);
    assert_str_is(history_of(&shop, "ci"), "");
    assert_int_equal(sim_table_info(change_table(shop.world, "ci"))->columns[6].type.kind, SIM_INT);
    (void)scan_log(shop.world);
    assert_str_is(history_of(&shop, "ci"), "0:add-w 1:alter-v 0:not-null-v");
    assert_int_equal(sim_table_info(change_table(shop.world, "ci"))->columns[6].type.kind,
                     SIM_BIGINT);
    assert_int_equal(instance_of(&shop, "ci").columns[1].type.kind, SIM_BIGINT);
    assert_int_equal(instance_of(&shop, "ci").column_count, 3);
    assert_changes(shop.world, "ci", "2:1:1:1:a 2:1:2:2:b");
    (void)enable_table(&shop.actor, "t", "c2");
    (void)scan_log(shop.world);
    assert_str_is(history_of(&shop, "c2"), ""); /* before its time */
    assert_int_equal(instance_of(&shop, "c2").column_count, 4);
    shop_close(&shop);
}

static void an_update_of_an_uncaptured_column_writes_no_row(void **state)
{
    Shop      shop;
    SimError  error = SIM_ERROR_INIT;
    SimColumn added = test_column("w", "bigint", true);
    (void)state;

    shop_open_enabled(&shop);
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim(sim_add_column(txn, shop.table, &added, NULL, STR("add"), &error), &error);
    do_insert(txn, shop.table, (TestRow){1, 1, "a"});
    const SimRow *row;
    size_t        count;
    SimValue      values[4];
    assert_true(find_rows(txn, shop.table, 1, 1, &row, &count, 1, &error));
    row_values((TestRow){1, 1, "a"}, values);
    values[3]        = sim_int(99, SIM_BIGINT);
    SimChange change = {row, values};
    assert_sim(sim_update(txn, shop.table, &change, 1, &error), &error);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:1:1:a");
    shop_close(&shop);
}

static void a_dropped_column_is_null_from_then_on(void **state)
{
    Shop      shop;
    SimError  error = SIM_ERROR_INIT;
    SimColumn again = test_column("s", "bigint", true);
    (void)state;

    shop_open_enabled(&shop);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, "a"});
    SimTxn *txn = actor_begin(&shop.actor);
    assert_sim(sim_drop_column(txn, shop.table, STR("s"), STR("drop-s"), &error), &error);
    assert_sim(sim_add_column(txn, shop.table, &again, NULL, STR("add-s"), &error), &error);
    (void)actor_commit(txn);
    txn = actor_begin(&shop.actor);
    SimValue values[3];
    row_values((TestRow){2, 2, NULL}, values);
    values[2] = sim_int(5, SIM_BIGINT);
    assert_sim(sim_insert(txn, shop.table, values, &error), &error);
    const SimRow *row;
    size_t        count;
    assert_true(find_rows(txn, shop.table, 1, 1, &row, &count, 1, &error));
    row_values((TestRow){1, 7, NULL}, values);
    values[2]        = sim_null(sim_type(SIM_BIGINT));
    SimChange change = {row, values};
    assert_sim(sim_update(txn, shop.table, &change, 1, &error), &error);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:1:1:a 2:1:2:2:- 3:2:1:1:- 4:2:1:7:-");
    assert_str_is(history_of(&shop, "ci"), "0:drop-s 0:add-s");
    shop_close(&shop);
}

static void a_narrowing_that_does_not_fit_old_changes_stops_capture(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    SimType  narrow;
    (void)state;

    shop_open_enabled(&shop);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, "a long text"});
    (void)scan_log(shop.world);
    SimTxn *txn = actor_begin(&shop.actor);
    do_delete(txn, shop.table, 1, 1);
    assert_true(sim_type_parse(STR("varchar(4)"), &narrow));
    assert_sim(sim_alter_column(txn, shop.table, STR("s"), &narrow, true, STR("narrow"), &error),
               &error);
    (void)actor_commit(txn);
    assert_sim_error(sim_cdc_scan_now(shop.world->database, NULL, NULL, &error), &error, 2628);
    assert_sim_error(sim_cdc_scan_now(shop.world->database, NULL, NULL, &error), &error, 2628);
    SimScanError *errors;
    assert_int_equal(sim_cdc_errors(shop.world->database, shop.world->arena, &errors), 2);
    assert_int_equal(errors[0].number, 2628);
    assert_int_equal(errors[1].number, 22976);
    assert_changes(shop.world, "ci", "2:1:1:1:a long text"); /* nothing of the cycle */
    shop_close(&shop);
}

static void lob_values_follow_their_rules(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error     = SIM_ERROR_INIT;
    SimColumn columns[] = {test_column("id", "int", false), test_column("m", "varchar(max)", true),
                           test_column("x", "text", true)};
    SimIndexColumn id   = {.column_id = 1};
    SimIndex       key  = {.name           = STR("PK_lob"),
                           .is_unique      = true,
                           .is_clustered   = true,
                           .is_primary_key = true,
                           .columns        = &id,
                           .column_count   = 1};
    SimTableSpec   spec = {.schema       = STR("dbo"),
                           .name         = STR("lob"),
                           .columns      = columns,
                           .column_count = 3,
                           .indexes      = &key,
                           .index_count  = 1};
    (void)state;

    actor_open(&actor, world, 51);
    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_create_table(txn, &spec, &table, &error), &error);
    (void)actor_commit(txn);
    enable_cdc(&actor);
    (void)enable_table(&actor, "lob", "ci");
    txn                = actor_begin(&actor);
    SimValue values[3] = {sim_int(1, SIM_INT),
                          {.type = columns[1].type, .bytes = {(const uint8_t *)"mm", 2}},
                          {.type = columns[2].type, .bytes = {(const uint8_t *)"tt", 2}}};
    assert_sim(sim_insert(txn, table, values, &error), &error);
    for (int round = 0; round < 2; round++) { /* first the text changes, then the max column too */
        const SimRow *row;
        size_t        count;
        assert_true(find_rows(txn, table, 1, 1, &row, &count, 1, &error));
        values[2].bytes = (Bytes){(const uint8_t *)(round ? "v" : "u"), 1};
        if (round == 1) values[1].bytes = (Bytes){(const uint8_t *)"n", 1};
        SimChange change = {row, values};
        assert_sim(sim_update(txn, table, &change, 1, &error), &error);
    }
    do_delete(txn, table, 1, 1);
    (void)actor_commit(txn);
    (void)scan_log(world);
    assert_changes(world, "ci", "2:1:1:mm:tt 3:2:1:-:- 4:2:1:mm:u 3:3:1:mm:- 4:3:1:n:v 1:4:1:n:-");
    txn             = actor_begin(&actor);
    values[1].bytes = (Bytes){arena_alloc(world->arena, 65537), 65537};
    assert_sim_error(sim_insert(txn, table, values, &error), &error, 7139);
    values[1].bytes.len = 65536;
    assert_sim(sim_insert(txn, table, values, &error), &error);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_enabled_database_has_its_schema_and_its_mapping),
        cmocka_unit_test(system_databases_are_refused),
        cmocka_unit_test(the_change_table_looks_as_documented),
        cmocka_unit_test(enable_refuses_in_the_servers_order),
        cmocka_unit_test(a_heap_has_no_net_changes),
        cmocka_unit_test(start_lsn_shows_at_once_and_min_lsn_when_capture_comes),
        cmocka_unit_test(an_enable_that_is_rolled_back_leaves_nothing),
        cmocka_unit_test(two_instances_share_commits_and_number_their_commands_in_turn),
        cmocka_unit_test(a_writer_before_the_enable_blocks_it_and_one_after_is_in_both),
        cmocka_unit_test(enabling_next_to_writers_can_deadlock_either_way),
        cmocka_unit_test(a_disabled_instance_goes_at_once),
        cmocka_unit_test(a_dropped_table_takes_its_instances_along_when_capture_comes),
        cmocka_unit_test(what_captured_tables_refuse),
        cmocka_unit_test(ddl_is_recorded_when_capture_reads_it),
        cmocka_unit_test(an_update_of_an_uncaptured_column_writes_no_row),
        cmocka_unit_test(a_dropped_column_is_null_from_then_on),
        cmocka_unit_test(a_narrowing_that_does_not_fit_old_changes_stops_capture),
        cmocka_unit_test(lob_values_follow_their_rules),
    };
    return RUN_TESTS(tests);
}
