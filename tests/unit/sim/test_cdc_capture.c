/* What capture writes for which change (sqlserver.md 2.13, 2.14), and when (2.16). */
#include "support/test_support.h"

#include "support/sim_model.h"

typedef struct Shop {
    World    *world;
    Actor     actor;
    SimTable *table;
} Shop;

static void shop_open(Shop *shop, WorldOptions options, TestTable table)
{
    options.simulated = true;
    if (options.seed == 0) options.seed = 3;
    shop->world = world_open(options);
    actor_open(&shop->actor, shop->world, 51);
    shop->table = make_table(&shop->actor, "t", table);
    enable_cdc(&shop->actor);
    (void)enable_table(&shop->actor, "t", "ci");
}

static void shop_close(Shop *shop)
{
    actor_close(&shop->actor);
    world_close(shop->world);
}

static Lsn max_lsn(const Shop *shop)
{
    Lsn lsn;
    (void)sim_cdc_max_lsn(shop->world->database, &lsn);
    return lsn;
}

/* 2.19 */
static void one_transaction_gives_2_3_4_3_4_1_with_rising_command_ids(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    SimTxn *txn = actor_begin(&shop.actor);
    do_insert(txn, shop.table, (TestRow){1, 10, "a"});
    do_update(txn, shop.table, 1, 1, 0, 1);
    do_update(txn, shop.table, 1, 1, 0, 1);
    do_delete(txn, shop.table, 1, 1);
    (void)actor_commit(txn);
    assert_changes(shop.world, "ci", "");
    assert_int_equal(scan_log(shop.world), 6);
    assert_changes(shop.world, "ci",
                   "2:1:1:10:a 3:2:1:10:a 4:2:1:11:a 3:3:1:11:a 4:3:1:12:a 1:4:1:12:a");
    shop_close(&shop);
}

static void rows_of_one_operation_share_their_seqval(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    SimTxn *txn = actor_begin(&shop.actor);
    do_insert(txn, shop.table, (TestRow){1, 10, "a"});
    do_update(txn, shop.table, 1, 1, 0, 1);
    Lsn commit = actor_commit(txn);
    (void)scan_log(shop.world);
    SimTable *ct          = change_table(shop.world, "ci");
    Str       text        = read_table(shop.world, ct, (ReadSpec){.first = 0, .last = 4});
    Str       commit_text = lsn_str(shop.world->arena, commit);
    LIST(Str) fields      = {.items = NULL};
    for (Str rest = text, row; str_split_next(&rest, ' ', &row);)
        for (Str field; str_split_next(&row, ':', &field);)
            *LIST_PUSH(shop.world->arena, &fields) = field;
    assert_int_equal(fields.count, 15);
    for (size_t i = 0; i < 15; i += 5) {
        assert_true(str_ends_with(fields.items[i], str_slice(commit_text, 2, 22)));
        assert_str_is(fields.items[i + 1], "-"); /* __$end_lsn */
        assert_true(str_compare(fields.items[i + 2], fields.items[i]) < 0);
    }
    assert_true(str_compare(fields.items[2], fields.items[7]) < 0);
    assert_true(str_equal(fields.items[7], fields.items[12]));
    assert_str_is(fields.items[4], "07");
    assert_str_is(fields.items[9], "02");
    assert_str_is(fields.items[14], "02");
    (void)error;
    shop_close(&shop);
}

static void a_key_update_of_one_row_is_1_and_2(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    SimTxn *txn = actor_begin(&shop.actor);
    do_update(txn, shop.table, 1, 1, 4, 0);
    do_update(txn, shop.table, 5, 5, 0, 1);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:1:10:a 1:1:1:10:a 2:2:5:10:a 3:3:5:10:a 4:3:5:11:a");
    Str seqvals = read_table(shop.world, change_table(shop.world, "ci"),
                             (ReadSpec){.first = 2, .last = 2});
    Str parts[5];
    for (size_t i = 0; i < 5; i++)
        assert_true(str_split_next(&seqvals, ' ', &parts[i]));
    assert_true(str_equal(parts[1], parts[2])); /* the pair shares its seqval */
    shop_close(&shop);
}

static void trace_flag_8207_keeps_a_key_update_of_one_row_as_3_and_4(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    sim_server_set_trace_flag(shop.world->server, 8207, true);
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    SimTxn *txn = actor_begin(&shop.actor);
    do_update(txn, shop.table, 1, 1, 4, 0);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:1:10:a 3:1:1:10:a 4:1:5:10:a");
    shop_close(&shop);
}

static void key_updates_of_several_rows_are_split_sorted_and_collapsed(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    for (int64_t id = 1; id <= 3; id++)
        (void)put_row(&shop.actor, shop.table, (TestRow){id, 10 * id, "x"});
    SimTxn *txn = actor_begin(&shop.actor);
    do_update(txn, shop.table, 1, 3, 1, 0); /* 1 2 3 to 2 3 4 */
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci",
                   "2:1:1:10:x 2:1:2:20:x 2:1:3:30:x "
                   "1:1:1:10:x 3:2:2:20:x 4:2:2:10:x 3:3:3:30:x 4:3:3:20:x 2:4:4:30:x");
    shop_close(&shop);
}

static void a_change_of_another_unique_column_is_1_and_2_too(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){.by_v_unique = true});
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    SimTxn *txn = actor_begin(&shop.actor);
    do_update(txn, shop.table, 1, 1, 0, 1);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:1:10:a 1:1:1:10:a 2:2:1:11:a");
    shop_close(&shop);
}

static void an_update_that_changes_nothing_writes_nothing(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    (void)scan_log(shop.world);
    Lsn     before = max_lsn(&shop);
    SimTxn *txn    = actor_begin(&shop.actor);
    do_update(txn, shop.table, 1, 1, 0, 0);
    (void)actor_commit(txn);
    assert_int_equal(scan_log(shop.world), 0);
    assert_true(lsn_equal(max_lsn(&shop), before)); /* no mapping entry either */
    shop_close(&shop);
}

static void rolled_back_changes_leave_nothing(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    SimTxn *txn = actor_begin(&shop.actor);
    do_insert(txn, shop.table, (TestRow){1, 10, "a"});
    sim_txn_rollback(txn);
    txn = actor_begin(&shop.actor);
    do_insert(txn, shop.table, (TestRow){2, 20, "b"});
    uint64_t mark = sim_txn_mark(txn);
    do_insert(txn, shop.table, (TestRow){3, 30, "c"});
    do_update(txn, shop.table, 2, 2, 0, 5);
    sim_txn_undo_to(txn, mark);
    do_update(txn, shop.table, 2, 2, 0, 1);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_changes(shop.world, "ci", "2:1:2:20:b 3:2:2:20:b 4:2:2:21:b");
    shop_close(&shop);
}

static void per_statement_the_rows_share_a_command_id(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.command_id_per_statement = true}, (TestTable){0});
    SimTxn *txn = actor_begin(&shop.actor);
    for (int64_t id = 1; id <= 3; id++)
        do_insert(txn, shop.table, (TestRow){id, 0, "x"});
    sim_txn_statement_end(txn);
    sim_txn_statement_begin(txn);
    do_update(txn, shop.table, 1, 3, 0, 1);
    (void)actor_commit(txn);
    (void)scan_log(shop.world);
    assert_str_is(
        read_table(shop.world, change_table(shop.world, "ci"), (ReadSpec){.first = 8, .last = 8}),
        "1 1 1 2 2 2 2 2 2");
    shop_close(&shop);
}

/* 2.19: a long transaction's rows are above what max_lsn said before it committed. */
static void rows_at_or_below_max_lsn_never_grow(void **state)
{
    Shop  shop;
    Actor slow;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    actor_open(&slow, shop.world, 52);
    SimTxn *txn = actor_begin(&slow);
    do_insert(txn, shop.table, (TestRow){100, 1, "slow"});
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 1, "fast"});
    (void)scan_log(shop.world);
    Lsn seen = max_lsn(&shop);
    do_insert(txn, shop.table, (TestRow){101, 1, "slow"});
    Lsn commit = actor_commit(txn);
    assert_true(lsn_compare(commit, seen) > 0);
    SimValue limit = sim_binary((Bytes){seen.bytes, LSN_BYTES}, LSN_BYTES);
    SimRange range = {.high = {true, true, limit}};
    ReadSpec spec  = {.range = &range, .first = 7, .last = 7};
    assert_str_is(read_table(shop.world, change_table(shop.world, "ci"), spec), "fast");
    (void)scan_log(shop.world);
    assert_str_is(read_table(shop.world, change_table(shop.world, "ci"), spec), "fast");
    assert_true(lsn_equal(max_lsn(&shop), commit));
    assert_changes(shop.world, "ci", "2:1:1:1:fast 2:1:100:1:slow 2:2:101:1:slow");
    actor_close(&slow);
    shop_close(&shop);
}

static void mapping_entries_have_the_local_time_of_the_commit(void **state)
{
    Shop    shop;
    int64_t local_us = 0;
    (void)state;

    shop_open(&shop, (WorldOptions){.zone = "Nepal Standard Time"}, (TestTable){0});
    clock_sleep_ms(shop.world->clock, 1500, NULL);
    Lsn commit = put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    (void)scan_log(shop.world);
    assert_true(sim_cdc_map_lsn_to_time(shop.world->database, commit, &local_us));
    assert_int_equal(local_us, WORLD_START_US + 345 * INT64_C(60000000) + 1500000);
    assert_false(sim_cdc_map_lsn_to_time(shop.world->database, lsn_decrement(commit), &local_us));
    shop_close(&shop);
}

static void times_map_to_lsns_with_ties_broken_outwards(void **state)
{
    Shop shop;
    Lsn  commits[4], got;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    (void)scan_log(shop.world); /* the entry of the enable */
    clock_sleep_ms(shop.world->clock, 1000, NULL);
    for (int64_t i = 0; i < 4; i++) { /* two at the same time, then two more */
        if (i == 2) clock_sleep_ms(shop.world->clock, 1000, NULL);
        commits[i] = put_row(&shop.actor, shop.table, (TestRow){i, 0, NULL});
    }
    (void)scan_log(shop.world);
    SimValue     first    = sim_datetime_from_us(WORLD_START_US + 1000000);
    SimValue     second   = sim_datetime_from_us(WORLD_START_US + 2000000);
    SimDatabase *database = shop.world->database;
    assert_true(sim_cdc_map_time_to_lsn(database, SIM_LARGEST_LESS_OR_EQUAL, &first, &got));
    assert_true(lsn_equal(got, commits[1]));
    assert_true(sim_cdc_map_time_to_lsn(database, SIM_LARGEST_LESS, &second, &got));
    assert_true(lsn_equal(got, commits[1]));
    assert_true(sim_cdc_map_time_to_lsn(database, SIM_SMALLEST_GREATER, &first, &got));
    assert_true(lsn_equal(got, commits[2]));
    assert_true(sim_cdc_map_time_to_lsn(database, SIM_SMALLEST_GREATER_OR_EQUAL, &first, &got));
    assert_true(lsn_equal(got, commits[0]));
    assert_false(sim_cdc_map_time_to_lsn(database, SIM_SMALLEST_GREATER, &second, &got));
    shop_close(&shop);
}

static void the_job_captures_after_its_interval_and_adds_idle_entries(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 5000}, (TestTable){0});
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    assert_changes(shop.world, "ci", "");
    clock_sleep_ms(shop.world->clock, 6000, NULL);
    assert_changes(shop.world, "ci", "2:1:1:10:a");
    Lsn before = max_lsn(&shop);
    clock_sleep_ms(shop.world->clock, 300000, NULL);
    assert_true(lsn_equal(max_lsn(&shop), before));
    clock_sleep_ms(shop.world->clock, 15000, NULL);
    assert_true(lsn_compare(max_lsn(&shop), before) > 0);
    Str       ids  = read_table(shop.world, sim_cdc_mapping_table(shop.world->database),
                                (ReadSpec){.first = 3, .last = 3});
    ptrdiff_t last = str_find_last_char(ids, ' ');
    assert_str_is(str_slice(ids, (size_t)last + 1, ids.len), "00");
    shop_close(&shop);
}

static void a_paused_job_captures_nothing_until_it_is_told_to(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){.capture_interval_ms = 1000}, (TestTable){0});
    assert_true(sim_cdc_set_mode(shop.world->database, SIM_CAPTURE_PAUSED));
    (void)put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    clock_sleep_ms(shop.world->clock, 60000, NULL);
    assert_changes(shop.world, "ci", "");
    assert_true(sim_cdc_set_mode(shop.world->database, SIM_CAPTURE_AUTO));
    clock_sleep_ms(shop.world->clock, 2000, NULL);
    assert_changes(shop.world, "ci", "2:1:1:10:a");
    shop_close(&shop);
}

static void an_idle_entry_never_passes_a_commit(void **state)
{
    Shop     shop;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    Lsn commit = put_row(&shop.actor, shop.table, (TestRow){1, 10, "a"});
    assert_sim(sim_cdc_idle_now(shop.world->database, &error), &error);
    assert_changes(shop.world, "ci", "2:1:1:10:a");
    assert_true(lsn_compare(max_lsn(&shop), commit) > 0);
    shop_close(&shop);
}

static void more_transactions_than_a_cycle_holds_are_read_in_order(void **state)
{
    Shop shop;
    (void)state;

    shop_open(&shop, (WorldOptions){0}, (TestTable){0});
    for (int64_t id = 0; id < 1203; id++)
        (void)put_row(&shop.actor, shop.table, (TestRow){id, id, NULL});
    assert_int_equal(scan_log(shop.world), 1203);
    assert_int_equal(sim_table_row_count(change_table(shop.world, "ci")), 1203);
    assert_int_equal(sim_table_row_count(sim_cdc_mapping_table(shop.world->database)), 1204);
    shop_close(&shop);
}

static Str lsns_of_a_run(uint64_t seed, Arena *arena)
{
    Shop shop;
    Buf  text = buf_new(arena, 0);

    shop_open(&shop, (WorldOptions){.seed = seed}, (TestTable){.by_v = true});
    for (int64_t id = 0; id < 50; id++) {
        SimTxn *txn = actor_begin(&shop.actor);
        do_insert(txn, shop.table, (TestRow){id, id % 7, "x"});
        if (id % 3 == 0) do_update(txn, shop.table, 0, id, 0, 1);
        buf_append(&text, lsn_str(arena, actor_commit(txn)));
    }
    (void)scan_log(shop.world);
    buf_append(&text,
               read_table(shop.world, change_table(shop.world, "ci"), (ReadSpec){.range = NULL}));
    buf_append(&text, read_table(shop.world, sim_cdc_mapping_table(shop.world->database),
                                 (ReadSpec){.range = NULL}));
    shop_close(&shop);
    return buf_str(&text);
}

static void the_same_seed_gives_the_same_lsns(void **state)
{
    Arena *arena = arena_new();
    (void)state;

    Str first = lsns_of_a_run(11, arena), again = lsns_of_a_run(11, arena),
        other = lsns_of_a_run(12, arena);
    assert_true(str_equal(first, again));
    assert_false(str_equal(first, other));
    assert_true(str_starts_with(first, STR("0x0000002A")));
    arena_close(arena);
}

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* 2.13: each commit ends a block; blocks are 8 to 64 apart, records take slots. */
static void lsns_are_laid_out_in_blocks_and_slots(void **state)
{
    Shop     shop;
    uint32_t block = 0, steps = 0;
    (void)state;

    shop_open(&shop, (WorldOptions){.seed = 5}, (TestTable){0});
    for (int64_t id = 0; id < 300; id++) {
        SimTxn *txn = actor_begin(&shop.actor);
        do_insert(txn, shop.table, (TestRow){id, id, NULL});
        do_insert(txn, shop.table, (TestRow){1000 + id, id, NULL});
        Lsn lsn = actor_commit(txn);
        assert_int_equal(big_endian(lsn.bytes), 0x2A);
        assert_int_equal(lsn.bytes[8], 0);
        assert_int_equal(lsn.bytes[9], 4); /* behind its begin and two rows */
        uint32_t now = big_endian(lsn.bytes + 4);
        if (block != 0) {
            assert_in_range(now - block, 8, 64);
            steps |= 1u << ((now - block) / 8);
        }
        block = now;
    }
    assert_int_equal(steps & 0x1FE, steps); /* of many widths */
    assert_true(steps != 0 && (steps & (steps - 1)) != 0);
    shop_close(&shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_transaction_gives_2_3_4_3_4_1_with_rising_command_ids),
        cmocka_unit_test(rows_of_one_operation_share_their_seqval),
        cmocka_unit_test(a_key_update_of_one_row_is_1_and_2),
        cmocka_unit_test(trace_flag_8207_keeps_a_key_update_of_one_row_as_3_and_4),
        cmocka_unit_test(key_updates_of_several_rows_are_split_sorted_and_collapsed),
        cmocka_unit_test(a_change_of_another_unique_column_is_1_and_2_too),
        cmocka_unit_test(an_update_that_changes_nothing_writes_nothing),
        cmocka_unit_test(rolled_back_changes_leave_nothing),
        cmocka_unit_test(per_statement_the_rows_share_a_command_id),
        cmocka_unit_test(rows_at_or_below_max_lsn_never_grow),
        cmocka_unit_test(mapping_entries_have_the_local_time_of_the_commit),
        cmocka_unit_test(times_map_to_lsns_with_ties_broken_outwards),
        cmocka_unit_test(the_job_captures_after_its_interval_and_adds_idle_entries),
        cmocka_unit_test(a_paused_job_captures_nothing_until_it_is_told_to),
        cmocka_unit_test(an_idle_entry_never_passes_a_commit),
        cmocka_unit_test(more_transactions_than_a_cycle_holds_are_read_in_order),
        cmocka_unit_test(the_same_seed_gives_the_same_lsns),
        cmocka_unit_test(lsns_are_laid_out_in_blocks_and_slots),
    };
    return RUN_TESTS(tests);
}
