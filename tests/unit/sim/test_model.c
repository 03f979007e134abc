/* Tables, rows, indexes and DDL of the simulated server's model, by one session. */
#include "support/test_support.h"

#include "support/sim_model.h"

static void rows_come_back_in_the_order_of_the_key(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    (void)state;

    actor_open(&actor, world, 51);
    table       = make_table(&actor, "t", (TestTable){0});
    SimTxn *txn = actor_begin(&actor);
    do_insert(txn, table, (TestRow){3, 30, "c"});
    do_insert(txn, table, (TestRow){1, 10, "a"});
    do_insert(txn, table, (TestRow){2, 20, NULL});
    (void)actor_commit(txn);
    assert_rows(world, table, "1:10:a 2:20:- 3:30:c");
    assert_int_equal(sim_table_row_count(table), 3);
    actor_close(&actor);
    world_close(world);
}

static void a_heap_keeps_the_order_of_arrival(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.heap = true, .by_v = true});
    (void)put_row(&actor, table, (TestRow){3, 10, "c"});
    (void)put_row(&actor, table, (TestRow){1, 30, "a"});
    (void)put_row(&actor, table, (TestRow){1, 20, "a"});
    assert_rows(world, table, "3:10:c 1:30:a 1:20:a");
    SimRange by_v = {.index = sim_table_info(table)->indexes[0]};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &by_v}), "3:10:c 1:20:a 1:30:a");
    actor_close(&actor);
    world_close(world);
}

static SimBound bound(int64_t value, bool inclusive)
{
    return (SimBound){true, inclusive, sim_int(value, SIM_INT)};
}

static void ranges_have_open_and_closed_ends_in_both_directions(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){0});
    for (int64_t id = 1; id <= 5; id++)
        (void)put_row(&actor, table, (TestRow){id, 0, NULL});
    SimRange closed    = {.low = bound(2, true), .high = bound(4, true)};
    SimRange open      = {.low = bound(2, false), .high = bound(4, false)};
    SimRange backwards = {.low = bound(2, false), .backwards = true};
    SimValue three     = sim_int(3, SIM_INT);
    SimRange point     = {.equal = &three, .equal_count = 1};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &closed, .last = 0}),
                  "2:0:- 3:0:- 4:0:-");
    assert_str_is(read_table(world, table, (ReadSpec){.range = &open}), "3:0:-");
    assert_str_is(read_table(world, table, (ReadSpec){.range = &backwards}), "5:0:- 4:0:- 3:0:-");
    assert_str_is(read_table(world, table, (ReadSpec){.range = &point}), "3:0:-");
    actor_close(&actor);
    world_close(world);
}

static void an_exclusive_null_leaves_nulls_out(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table       = make_table(&actor, "t", (TestTable){.by_v = true});
    SimTxn *txn = actor_begin(&actor);
    do_insert(txn, table, (TestRow){1, -5, NULL});
    SimValue values[3];
    row_values((TestRow){2, 0, NULL}, values);
    values[1] = sim_null(sim_type(SIM_INT));
    assert_sim(sim_insert(txn, table, values, &error), &error);
    (void)actor_commit(txn);
    SimRange range = {.index = sim_table_info(table)->indexes[1],
                      .low   = {true, false, sim_null(sim_type(SIM_INT))},
                      .high  = bound(100, true)};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &range}), "1:-5:-");
    SimValue null  = sim_null(sim_type(SIM_INT));
    SimRange nulls = {.index = range.index, .equal = &null, .equal_count = 1};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &nulls}), "2:-:-");
    actor_close(&actor);
    world_close(world);
}

static void a_scan_says_whether_it_was_a_seek_and_what_it_cost(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    SimScan  *scan;
    (void)state;

    actor_open(&actor, world, 51);
    table       = make_table(&actor, "t", (TestTable){0});
    SimTxn *txn = actor_begin(&actor);
    for (int64_t id = 1; id <= 5000; id++)
        do_insert(txn, table, (TestRow){id, id, NULL});
    (void)actor_commit(txn);
    txn                          = actor_begin(&actor);
    SimRange             range   = {.low = bound(4990, true)};
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED, .limit_hint = 3};
    const SimRow *const *rows;
    size_t               count;
    assert_sim(sim_scan_open(txn, table, &range, &options, &scan, &error), &error);
    assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
    assert_int_equal(count, 3);
    assert_true(sim_scan_was_seek(scan));
    assert_int_equal(sim_scan_rows_examined(scan), 3);
    sim_scan_close(scan);
    assert_sim(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    assert_false(sim_scan_was_seek(scan));
    sim_scan_close(scan);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void a_batch_stays_as_it_was_while_the_table_changes(void **state)
{
    World               *world = world_simulated(1);
    Actor                actor, writer;
    SimTable            *table;
    SimError             error = SIM_ERROR_INIT;
    SimScan             *scan;
    const SimRow *const *rows;
    size_t               count;
    SimValue             value;
    (void)state;

    actor_open(&actor, world, 51);
    actor_open(&writer, world, 52);
    table = make_table(&actor, "t", (TestTable){0});
    for (int64_t id = 1; id <= 200; id++)
        (void)put_row(&actor, table, (TestRow){id, id, "x"});
    SimTxn        *txn     = actor_begin(&actor);
    SimScanOptions options = {.isolation = SIM_READ_COMMITTED};
    assert_sim(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
    assert_in_range(count, 10, 199);
    for (int round = 0; round < 100; round++) {
        SimTxn *change = actor_begin(&writer);
        do_update(change, table, 1, 50, 0, 1000);
        do_delete(change, table, 60 + round % 3, 60 + round % 3);
        (void)actor_commit(change);
        if (round < 3) continue;
        (void)put_row(&writer, table, (TestRow){60 + round % 3, 7, "again"});
    }
    sim_row_value(table, rows[0], 1, &value);
    assert_int_equal(value.i64, 1);
    size_t total = count;
    do {
        assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
        total += count;
    } while (count > 0);
    assert_in_range(total, 197, 200);
    sim_scan_close(scan);
    sim_txn_rollback(txn);
    actor_close(&writer);
    actor_close(&actor);
    world_close(world);
}

static void duplicates_name_the_constraint_and_the_value(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.by_v_unique = true});
    (void)put_row(&actor, table, (TestRow){1, 10, "a"});
    SimTxn *txn = actor_begin(&actor);
    assert_false(try_insert(txn, table, (TestRow){1, 20, "b"}, &error));
    assert_int_equal(error.number, 2627);
    assert_string_equal(
        error.message, "Violation of PRIMARY KEY constraint 'PK_t'. Cannot insert duplicate key in "
                       "object 'dbo.t'. The duplicate key value is (1).");
    assert_false(try_insert(txn, table, (TestRow){2, 10, "b"}, &error));
    assert_int_equal(error.number, 2601);
    assert_string_equal(
        error.message,
        "Cannot insert duplicate key row in object 'dbo.t' with unique index 'by_v'. "
        "The duplicate key value is (10).");
    (void)actor_commit(txn);
    assert_rows(world, table, "1:10:a");
    actor_close(&actor);
    world_close(world);
}

static void nulls_are_refused_where_there_may_be_none(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    SimValue  values[3];
    (void)state;

    actor_open(&actor, world, 51);
    table       = make_table(&actor, "t", (TestTable){0});
    SimTxn *txn = actor_begin(&actor);
    row_values((TestRow){1, 1, NULL}, values);
    values[0] = sim_null(sim_type(SIM_INT));
    assert_sim_error(sim_insert(txn, table, values, &error), &error, 515);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void an_update_may_trade_keys(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.by_v_unique = true});
    for (int64_t id = 1; id <= 4; id++)
        (void)put_row(&actor, table, (TestRow){id, id, NULL});
    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 1, 4, 1, 1);
    (void)actor_commit(txn);
    assert_rows(world, table, "2:2:- 3:3:- 4:4:- 5:5:-");
    SimRange by_v = {.index = sim_table_info(table)->indexes[1], .low = bound(0, true)};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &by_v}), "2:2:- 3:3:- 4:4:- 5:5:-");
    actor_close(&actor);
    world_close(world);
}

static void a_failed_update_leaves_nothing_behind(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.by_v_unique = true});
    for (int64_t id = 1; id <= 4; id++)
        (void)put_row(&actor, table, (TestRow){id, id, NULL});
    SimTxn *txn = actor_begin(&actor);
    assert_sim_error(try_update(txn, table, 1, 2, 2, 0, &error), &error, 2627); /* 1, 2 to 3, 4 */
    assert_sim_error(try_update(txn, table, 1, 2, 0, 1, &error), &error, 2601); /* v of 2 to 3 */
    (void)actor_commit(txn);
    assert_rows(world, table, "1:1:- 2:2:- 3:3:- 4:4:-");
    SimRange by_v = {.index = sim_table_info(table)->indexes[1], .low = bound(0, true)};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &by_v}), "1:1:- 2:2:- 3:3:- 4:4:-");
    actor_close(&actor);
    world_close(world);
}

static void a_rollback_undoes_rows_and_entries(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.by_v = true});
    for (int64_t id = 1; id <= 3; id++)
        (void)put_row(&actor, table, (TestRow){id, id, NULL});
    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 1, 1, 0, 50);
    do_delete(txn, table, 2, 2);
    do_insert(txn, table, (TestRow){2, 7, "new"});
    do_update(txn, table, 2, 2, 0, 1);
    do_insert(txn, table, (TestRow){9, 9, NULL});
    do_update(txn, table, 9, 9, 1, 0);
    sim_txn_rollback(txn);
    assert_rows(world, table, "1:1:- 2:2:- 3:3:-");
    SimRange by_v = {.index = sim_table_info(table)->indexes[1], .low = bound(0, true)};
    assert_str_is(read_table(world, table, (ReadSpec){.range = &by_v}), "1:1:- 2:2:- 3:3:-");
    assert_int_equal(sim_table_row_count(table), 3);
    actor_close(&actor);
    world_close(world);
}

static void undo_goes_back_to_a_mark(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    (void)state;

    actor_open(&actor, world, 51);
    table       = make_table(&actor, "t", (TestTable){0});
    SimTxn *txn = actor_begin(&actor);
    do_insert(txn, table, (TestRow){1, 1, NULL});
    uint64_t mark = sim_txn_mark(txn);
    do_update(txn, table, 1, 1, 5, 5);
    do_insert(txn, table, (TestRow){2, 2, NULL});
    sim_txn_undo_to(txn, mark);
    do_insert(txn, table, (TestRow){3, 3, NULL});
    (void)actor_commit(txn);
    assert_rows(world, table, "1:1:- 3:3:-");
    assert_int_equal(sim_table_row_count(table), 2);
    actor_close(&actor);
    world_close(world);
}

static void a_changed_key_shows_once_in_other_indexes(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    Str       text;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.by_v = true});
    for (int64_t id = 1; id <= 3; id++)
        (void)put_row(&actor, table, (TestRow){id, id, NULL});
    SimRange by_v = {.index = sim_table_info(table)->indexes[1], .low = bound(0, true)};
    SimTxn  *txn  = actor_begin(&actor);
    do_update(txn, table, 1, 1, 0, 10);  /* v 1 to 11 */
    do_update(txn, table, 1, 1, 0, -10); /* and back */
    do_update(txn, table, 2, 2, 0, 10);  /* v 2 to 12 */
    ReadSpec spec = {.range = &by_v, .isolation = SIM_READ_COMMITTED};
    assert_sim(try_read(txn, table, spec, world->arena, &text, &error), &error);
    assert_str_is(text, "1:1:- 3:3:- 2:12:-");
    (void)actor_commit(txn);
    assert_str_is(read_table(world, table, spec), "1:1:- 3:3:- 2:12:-");
    actor_close(&actor);
    world_close(world);
}

static void ddl_changes_columns_and_rolls_back(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){0});
    (void)put_row(&actor, table, (TestRow){1, 10, "a"});
    (void)put_row(&actor, table, (TestRow){2, 20, "b"});
    SimTxn   *txn   = actor_begin(&actor);
    SimColumn added = test_column("w", "bigint", false);
    SimValue  fill  = sim_int(7, SIM_BIGINT);
    assert_sim(sim_add_column(txn, table, &added, &fill, STR("ALTER"), &error), &error);
    do_insert(txn, table, (TestRow){3, 30, "c"});
    sim_txn_rollback(txn);
    assert_rows(world, table, "1:10:a 2:20:b");

    txn = actor_begin(&actor);
    assert_sim(sim_add_column(txn, table, &added, &fill, STR("ALTER"), &error), &error);
    SimType wide = sim_type(SIM_BIGINT);
    assert_sim(sim_alter_column(txn, table, STR("V"), &wide, true, STR("ALTER"), &error), &error);
    assert_sim(sim_drop_column(txn, table, STR("s"), STR("ALTER"), &error), &error);
    (void)actor_commit(txn);
    assert_rows(world, table, "1:10:7 2:20:7");
    const SimTableInfo *info = sim_table_info(table);
    assert_int_equal(info->columns[2].column_id, 5); /* 4 was rolled back */
    assert_int_equal(info->columns[1].type.kind, SIM_BIGINT);
    assert_int_equal(info->schema_version, 3);

    txn = actor_begin(&actor);
    assert_sim_error(sim_drop_column(txn, table, STR("id"), STR(""), &error), &error, 5074);
    assert_sim_error(sim_drop_column(txn, table, STR("s"), STR(""), &error), &error, 4924);
    added.name = STR("W");
    assert_sim_error(sim_add_column(txn, table, &added, NULL, STR(""), &error), &error, 2705);
    added.name = STR("z");
    assert_sim_error(sim_add_column(txn, table, &added, NULL, STR(""), &error), &error, 4901);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void text_that_would_be_cut_stops_an_alter(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    SimType   narrow;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){0});
    (void)put_row(&actor, table, (TestRow){1, 10, "long text"});
    SimTxn *txn = actor_begin(&actor);
    assert_true(sim_type_parse(STR("varchar(4)"), &narrow));
    assert_sim_error(sim_alter_column(txn, table, STR("s"), &narrow, true, STR(""), &error), &error,
                     2628);
    assert_true(sim_type_parse(STR("varchar(9)"), &narrow));
    assert_sim(sim_alter_column(txn, table, STR("s"), &narrow, false, STR(""), &error), &error);
    (void)actor_commit(txn);
    assert_rows(world, table, "1:10:long text");
    actor_close(&actor);
    world_close(world);
}

static void indexes_come_and_go(void **state)
{
    World         *world = world_simulated(1);
    Actor          actor;
    SimTable      *table;
    SimError       error = SIM_ERROR_INIT;
    SimIndexColumn s     = {.column_id = 3, .descending = true};
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){.heap = true});
    (void)put_row(&actor, table, (TestRow){2, 10, "b"});
    (void)put_row(&actor, table, (TestRow){1, 10, "a"});
    (void)put_row(&actor, table, (TestRow){3, 10, "a"});
    SimIndex spec = {.name = STR("by_s"), .is_unique = true, .columns = &s, .column_count = 1};
    SimTxn  *txn  = actor_begin(&actor);
    assert_sim_error(sim_create_index(txn, table, &spec, &error), &error, 1505);
    spec.is_unique    = false;
    spec.is_clustered = true;
    assert_sim(sim_create_index(txn, table, &spec, &error), &error);
    assert_sim_error(sim_create_index(txn, table, &spec, &error), &error, 1913);
    (void)actor_commit(txn);
    assert_rows(world, table, "2:10:b 1:10:a 3:10:a"); /* descending, equal ones as they came */
    txn = actor_begin(&actor);
    assert_sim(sim_drop_index(txn, table, STR("BY_S"), &error), &error);
    assert_sim_error(sim_drop_index(txn, table, STR("by_s"), &error), &error, 3701);
    (void)actor_commit(txn);
    assert_int_equal(sim_table_info(table)->index_count, 0);
    assert_rows(world, table, "2:10:b 1:10:a 3:10:a");
    actor_close(&actor);
    world_close(world);
}

static void dropped_and_created_tables_follow_the_transaction(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "T", (TestTable){0});
    (void)put_row(&actor, table, (TestRow){1, 10, "a"});
    assert_ptr_equal(sim_database_find_table(world->database, STR_EMPTY, STR("t")), table);
    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_drop_table(txn, table, &error), &error);
    assert_null(sim_database_find_table(world->database, STR("DBO"), STR("t")));
    sim_txn_rollback(txn);
    assert_ptr_equal(sim_database_find_table(world->database, STR("dbo"), STR("t")), table);
    assert_rows(world, table, "1:10:a");
    txn = actor_begin(&actor);
    assert_sim(sim_drop_table(txn, table, &error), &error);
    (void)actor_commit(txn);
    assert_true(sim_table_is_dropped(table));
    txn = actor_begin(&actor);
    SimValue values[3];
    row_values((TestRow){1, 1, NULL}, values);
    assert_sim_error(sim_insert(txn, table, values, &error), &error, 208);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void truncate_empties_and_rolls_back(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){0});
    (void)put_row(&actor, table, (TestRow){1, 10, "a"});
    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_truncate(txn, table, &error), &error);
    do_insert(txn, table, (TestRow){5, 5, NULL});
    sim_txn_rollback(txn);
    assert_rows(world, table, "1:10:a");
    txn = actor_begin(&actor);
    do_insert(txn, table, (TestRow){2, 5, NULL});
    assert_sim(sim_truncate(txn, table, &error), &error);
    (void)actor_commit(txn);
    assert_rows(world, table, "");
    assert_int_equal(sim_table_row_count(table), 0);
    actor_close(&actor);
    world_close(world);
}

static void a_renamed_table_keeps_its_rows(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    table       = make_table(&actor, "t", (TestTable){.by_v = true});
    SimTable *u = make_table(&actor, "u", (TestTable){0});
    (void)put_row(&actor, table, (TestRow){1, 10, "a"});
    SimTxn *txn = actor_begin(&actor);
    assert_sim_error(sim_rename_table(txn, table, STR("U"), &error), &error, 15335);
    assert_sim(sim_rename_table(txn, table, STR("new"), &error), &error);
    assert_sim(sim_rename_column(txn, table, STR("s"), STR("text"), &error), &error);
    do_insert(txn, table, (TestRow){2, 20, "b"});
    sim_txn_rollback(txn);
    assert_ptr_equal(sim_database_find_table(world->database, STR_EMPTY, STR("t")), table);
    assert_rows(world, table, "1:10:a");
    txn = actor_begin(&actor);
    assert_sim(sim_rename_table(txn, table, STR("new"), &error), &error);
    do_insert(txn, table, (TestRow){2, 20, "b"});
    (void)actor_commit(txn);
    assert_null(sim_database_find_table(world->database, STR_EMPTY, STR("t")));
    assert_ptr_equal(sim_database_find_table(world->database, STR_EMPTY, STR("new")), table);
    assert_rows(world, table, "1:10:a 2:20:b");
    assert_rows(world, u, "");
    actor_close(&actor);
    world_close(world);
}

static void temporary_tables_go_when_they_are_dropped(void **state)
{
    World   *world = world_simulated(1);
    Actor    actor;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    world->database     = sim_server_find_database(world->server, STR("tempdb"));
    SimColumn    column = test_column("x", "int", true);
    SimTableSpec spec   = {
          .name = STR("#t"), .columns = &column, .column_count = 1, .is_temporary = true};
    for (int i = 0; i < 3; i++) {
        SimTable *table;
        SimValue  value = sim_int(1, SIM_INT);
        SimTxn   *txn   = actor_begin(&actor);
        assert_sim(sim_create_table(txn, &spec, &table, &error), &error);
        assert_sim(sim_insert(txn, table, &value, &error), &error);
        if (i == 1) {
            sim_txn_rollback(txn);
            continue;
        }
        (void)actor_commit(txn);
        txn = actor_begin(&actor);
        assert_sim(sim_drop_table(txn, table, &error), &error);
        (void)actor_commit(txn);
        size_t at = 0;
        assert_false(sim_database_next_table(world->database, &at, &table));
    }
    actor_close(&actor);
    world_close(world);
}

static void a_database_has_a_name_of_at_most_128_units(void **state)
{
    World   *world = world_simulated(1);
    SimError error = SIM_ERROR_INIT;
    char     name[130];
    (void)state;

    memset(name, 'a', sizeof name);
    assert_false(sim_create_database(world->server, (Str){name, 129}, &error));
    assert_int_equal(error.number, 103);
    assert_sim(sim_create_database(world->server, (Str){name, 128}, &error), &error);
    world_close(world);
}

static void identities_and_rowversions_count(void **state)
{
    World    *world = world_simulated(1);
    Actor     actor;
    SimTable *table;
    SimError  error      = SIM_ERROR_INIT;
    SimColumn columns[2] = {test_column("id", "int", false),
                            test_column("rv", "rowversion", false)};
    SimValue  values[2];
    int64_t   next;
    (void)state;

    actor_open(&actor, world, 51);
    columns[0].is_identity   = true;
    columns[0].identity_seed = 10;
    columns[0].identity_step = 5;
    SimTableSpec spec        = {
               .schema = STR("dbo"), .name = STR("t"), .columns = columns, .column_count = 2};
    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_create_table(txn, &spec, &table, &error), &error);
    for (int i = 0; i < 2; i++) {
        assert_sim(sim_next_identity(table, &next, &error), &error);
        values[0] = sim_int(next, SIM_INT);
        values[1] = sim_null(columns[1].type);
        assert_sim(sim_insert(txn, table, values, &error), &error);
    }
    (void)actor_commit(txn);
    assert_rows(world, table, "10:0x00000000000007D1 15:0x00000000000007D2");
    sim_note_identity(table, 100);
    assert_int_equal(sim_table_identity_current(table), 100);
    assert_sim(sim_next_identity(table, &next, &error), &error);
    assert_int_equal(next, 105);
    sim_note_identity(table, INT32_MAX - 2);
    assert_false(sim_next_identity(table, &next, &error));
    assert_int_equal(error.number, 8115);
    assert_int_equal(sim_table_identity_current(table), INT32_MAX - 2);
    actor_close(&actor);
    world_close(world);
}

static void snapshot_isolation_is_refused_for_tables_of_users(void **state)
{
    World         *world = world_simulated(1);
    Actor          actor;
    SimTable      *table;
    SimError       error   = SIM_ERROR_INIT;
    SimScan       *scan    = NULL;
    SimScanOptions options = {.isolation = SIM_SNAPSHOT};
    (void)state;

    actor_open(&actor, world, 51);
    table = make_table(&actor, "t", (TestTable){0});
    enable_cdc(&actor);
    SimTxn *txn = actor_begin(&actor);
    assert_sim_error(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error, 3952);
    assert_sim(
        sim_scan_open(txn, sim_cdc_mapping_table(world->database), NULL, &options, &scan, &error),
        &error);
    sim_scan_close(scan);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void schemas_are_transactional(void **state)
{
    World   *world = world_simulated(1);
    Actor    actor;
    SimError error = SIM_ERROR_INIT;
    (void)state;

    actor_open(&actor, world, 51);
    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_create_schema(txn, STR("sales"), &error), &error);
    assert_sim_error(sim_create_schema(txn, STR("SALES"), &error), &error, 2714);
    sim_txn_rollback(txn);
    assert_false(sim_database_has_schema(world->database, STR("sales")));
    txn = actor_begin(&actor);
    assert_sim(sim_create_schema(txn, STR("sales"), &error), &error);
    (void)actor_commit(txn);
    assert_true(sim_database_has_schema(world->database, STR("Sales")));
    txn = actor_begin(&actor);
    assert_sim(sim_drop_schema(txn, STR("sales"), &error), &error);
    (void)actor_commit(txn);
    txn = actor_begin(&actor);
    assert_sim_error(sim_drop_schema(txn, STR("dbo2"), &error), &error, 15151);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void databases_have_names_once(void **state)
{
    World   *world = world_simulated(1);
    SimError error = SIM_ERROR_INIT;
    size_t   count = 0;
    (void)state;

    assert_sim_error(sim_create_database(world->server, STR("SHOP"), &error), &error, 1801);
    assert_sim_error(sim_drop_database(world->server, STR("master"), &error), &error, 3708);
    assert_sim_error(sim_drop_database(world->server, STR("none"), &error), &error, 3701);
    SimDatabase *database;
    for (size_t at = 0; sim_server_next_database(world->server, &at, &database);)
        count++;
    assert_int_equal(count, 5);
    assert_int_equal(sim_database_id(world->database), 5);
    assert_sim(sim_drop_database(world->server, STR("shop"), &error), &error);
    assert_null(sim_server_find_database(world->server, STR("shop")));
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_in_the_order_of_the_key),
        cmocka_unit_test(a_heap_keeps_the_order_of_arrival),
        cmocka_unit_test(ranges_have_open_and_closed_ends_in_both_directions),
        cmocka_unit_test(an_exclusive_null_leaves_nulls_out),
        cmocka_unit_test(a_scan_says_whether_it_was_a_seek_and_what_it_cost),
        cmocka_unit_test(a_batch_stays_as_it_was_while_the_table_changes),
        cmocka_unit_test(duplicates_name_the_constraint_and_the_value),
        cmocka_unit_test(nulls_are_refused_where_there_may_be_none),
        cmocka_unit_test(an_update_may_trade_keys),
        cmocka_unit_test(a_failed_update_leaves_nothing_behind),
        cmocka_unit_test(a_rollback_undoes_rows_and_entries),
        cmocka_unit_test(undo_goes_back_to_a_mark),
        cmocka_unit_test(a_changed_key_shows_once_in_other_indexes),
        cmocka_unit_test(ddl_changes_columns_and_rolls_back),
        cmocka_unit_test(text_that_would_be_cut_stops_an_alter),
        cmocka_unit_test(indexes_come_and_go),
        cmocka_unit_test(dropped_and_created_tables_follow_the_transaction),
        cmocka_unit_test(truncate_empties_and_rolls_back),
        cmocka_unit_test(a_renamed_table_keeps_its_rows),
        cmocka_unit_test(temporary_tables_go_when_they_are_dropped),
        cmocka_unit_test(a_database_has_a_name_of_at_most_128_units),
        cmocka_unit_test(identities_and_rowversions_count),
        cmocka_unit_test(snapshot_isolation_is_refused_for_tables_of_users),
        cmocka_unit_test(schemas_are_transactional),
        cmocka_unit_test(databases_have_names_once),
    };
    return RUN_TESTS(tests);
}
