/* Who waits for whom: locks on rows and tables, time-outs, deadlocks, attentions, kills. On the
 * simulated scheduler, where a wait that nobody ends fails the test. */
#include "support/test_support.h"

#include "support/sim_model.h"

/* A second session on a task of its own: one step, its outcome kept. */
typedef struct Other {
    Actor     actor;
    SimTable *table;
    SimTxn   *txn;
    void (*step)(struct Other *other);
    Task    *task;
    bool     ok;
    SimError error;
    Str      text;
    int64_t  done_ns;
    Arena   *arena;
} Other;

static void run_other(void *arg)
{
    Other *other = arg;
    other->step(other);
    other->done_ns = clock_monotonic_ns(other->actor.world->clock);
}

static void other_start(Other *other, World *world, SimTable *table, void (*step)(Other *))
{
    actor_open(&other->actor, world, 60);
    other->table = table;
    other->step  = step;
    other->error = SIM_ERROR_INIT;
    other->arena = arena_new();
    other->txn   = actor_begin(&other->actor);
    other->task  = sched_spawn(world->sched, "other", run_other, other);
}

/* Lets the other session run until it waits or is done. */
static void let_it_run(World *world)
{
    clock_sleep_ms(world->clock, 1000, NULL);
}

static void other_join(Other *other)
{
    sched_join(other->actor.world->sched, other->task);
    other->task = NULL;
}

static void other_end(Other *other)
{
    if (other->txn != NULL) sim_txn_statement_end(other->txn);
    if (other->ok)
        assert_true(sim_txn_commit(other->txn, NULL, &other->error));
    else if (other->txn != NULL)
        sim_txn_rollback(other->txn);
    arena_close(other->arena);
    actor_close(&other->actor);
}

static void step_read(Other *other)
{
    ReadSpec spec = {.isolation = SIM_READ_COMMITTED};
    other->ok = try_read(other->txn, other->table, spec, other->arena, &other->text, &other->error);
}

static void step_read_repeatable(Other *other)
{
    ReadSpec spec = {.isolation = SIM_REPEATABLE_READ};
    other->ok = try_read(other->txn, other->table, spec, other->arena, &other->text, &other->error);
}

static void step_insert_two(Other *other)
{
    other->ok = try_insert(other->txn, other->table, (TestRow){2, 22, "other"}, &other->error);
}

static void step_update_two(Other *other)
{
    other->ok = try_update(other->txn, other->table, 2, 2, 0, 100, &other->error);
}

static void step_update_two_then_one(Other *other)
{
    other->ok = try_update(other->txn, other->table, 2, 2, 0, 100, &other->error);
    let_it_run(other->actor.world);
    if (other->ok) other->ok = try_update(other->txn, other->table, 1, 1, 0, 100, &other->error);
    if (other->ok) return;
    sim_txn_rollback(other->txn); /* as a session does at 1205: the other one waits for it */
    other->txn = NULL;
}

static void step_add_column(Other *other)
{
    SimColumn column = test_column("w", "int", true);
    other->ok        = sim_add_column(other->txn, other->table, &column, NULL, STR("ALTER"),
                                      &other->error);
}

static World *world_with_rows(Actor *actor, SimTable **table_out)
{
    World *world = world_simulated(7);

    actor_open(actor, world, 51);
    *table_out = make_table(actor, "t", (TestTable){0});
    for (int64_t id = 1; id <= 3; id++)
        (void)put_row(actor, *table_out, (TestRow){id, 10 * id, NULL});
    return world;
}

static void assert_waits(const Other *other, const char *wait_type, int32_t blocker)
{
    const char *got = atomic_load(&other->actor.waiter.wait_type);

    assert_non_null(got);
    assert_string_equal(got, wait_type);
    assert_int_equal(atomic_load(&other->actor.waiter.blocking_session_id), blocker);
}

static void a_reader_waits_for_uncommitted_rows_and_reads_the_committed_ones(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    Other     other = {0};
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 2, 2, 0, 5);
    other_start(&other, world, table, step_read);
    let_it_run(world);
    assert_waits(&other, "LCK_M_S", 51);
    (void)actor_commit(txn);
    other_join(&other);
    assert_true(other.ok);
    assert_str_is(other.text, "1:10:- 2:25:- 3:30:-");
    assert_null(atomic_load(&other.actor.waiter.wait_type));
    assert_int_equal(atomic_load(&other.actor.waiter.lock_waits), 1);
    other_end(&other);
    actor_close(&actor);
    world_close(world);
}

static void a_reader_waits_for_inserts_and_deletes_too(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    (void)state;

    for (int round = 0; round < 2; round++) {
        Other   other = {0};
        SimTxn *txn   = actor_begin(&actor);
        if (round == 0)
            do_insert(txn, table, (TestRow){4, 40, NULL});
        else
            do_delete(txn, table, 2, 2);
        other_start(&other, world, table, step_read);
        let_it_run(world);
        assert_waits(&other, "LCK_M_S", 51);
        sim_txn_rollback(txn);
        other_join(&other);
        assert_str_is(other.text, "1:10:- 2:20:- 3:30:-");
        other_end(&other);
    }
    actor_close(&actor);
    world_close(world);
}

static void read_uncommitted_sees_what_is_there(void **state)
{
    Actor     actor, reader;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    SimError  error = SIM_ERROR_INIT;
    Str       text;
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 2, 2, 0, 5);
    do_delete(txn, table, 1, 1);
    actor_open(&reader, world, 52);
    SimTxn *read = actor_begin(&reader);
    assert_sim(try_read(read, table, (ReadSpec){.isolation = SIM_READ_UNCOMMITTED}, world->arena,
                        &text, &error),
               &error);
    assert_str_is(text, "2:25:- 3:30:-");
    assert_sim(try_read(read, table, (ReadSpec){.isolation = SIM_READ_COMMITTED, .read_past = true},
                        world->arena, &text, &error),
               &error);
    assert_str_is(text, "3:30:-");
    sim_txn_rollback(read);
    sim_txn_rollback(txn);
    actor_close(&reader);
    actor_close(&actor);
    world_close(world);
}

static void lock_timeout_ends_a_wait_with_1222(void **state)
{
    Actor     actor, reader;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    SimError  error = SIM_ERROR_INIT;
    Str       text;
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 2, 2, 0, 5);
    actor_open(&reader, world, 52);
    SimTxn *read                  = actor_begin(&reader);
    reader.waiter.lock_timeout_ms = 0;
    assert_sim_error(try_read(read, table, (ReadSpec){.isolation = SIM_READ_COMMITTED},
                              world->arena, &text, &error),
                     &error, 1222);
    reader.waiter.lock_timeout_ms = 250;
    int64_t before_ns             = clock_monotonic_ns(world->clock);
    assert_sim_error(try_read(read, table, (ReadSpec){.isolation = SIM_READ_COMMITTED},
                              world->arena, &text, &error),
                     &error, 1222);
    assert_in_range((clock_monotonic_ns(world->clock) - before_ns) / 1000000, 250, 251);
    sim_txn_rollback(read);
    (void)actor_commit(txn);
    actor_close(&reader);
    actor_close(&actor);
    world_close(world);
}

static void an_insert_waits_for_an_uncommitted_duplicate(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    (void)state;

    for (int round = 0; round < 2; round++) { /* the delete of the key commits, or is rolled back */
        Other   other = {0};
        SimTxn *txn   = actor_begin(&actor);
        do_delete(txn, table, 2, 2);
        other_start(&other, world, table, step_insert_two);
        let_it_run(world);
        assert_waits(&other, "LCK_M_S", 51);
        if (round == 0)
            sim_txn_rollback(txn);
        else
            (void)actor_commit(txn);
        other_join(&other);
        assert_int_equal(other.ok, round == 1);
        assert_int_equal(other.error.number, round == 0 ? 2627 : 0);
        other_end(&other);
    }
    assert_rows(world, table, "1:10:- 2:22:other 3:30:-");
    actor_close(&actor);
    world_close(world);
}

static void a_second_writer_sees_the_first_ones_row(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    Other     other = {0};
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 2, 2, 0, 5);
    other_start(&other, world, table, step_update_two);
    let_it_run(world);
    assert_waits(&other, "LCK_M_U", 51);
    (void)actor_commit(txn);
    other_join(&other);
    assert_true(other.ok);
    other_end(&other);
    assert_rows(world, table, "1:10:- 2:125:- 3:30:-");
    actor_close(&actor);
    world_close(world);
}

static void rows_that_do_not_qualify_are_let_go(void **state)
{
    Actor                actor;
    SimTable            *table;
    World               *world   = world_with_rows(&actor, &table);
    Other                other   = {0};
    SimError             error   = SIM_ERROR_INIT;
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED, .for_update = true};
    SimScan             *scan;
    const SimRow *const *rows;
    size_t               count;
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
    assert_int_equal(count, 3);
    sim_scan_skip(scan, 1);
    sim_scan_close(scan);
    other_start(&other, world, table, step_update_two);
    other_join(&other); /* without a wait */
    assert_true(other.ok);
    other_end(&other);
    (void)actor_commit(txn);
    actor_close(&actor);
    world_close(world);
}

static void repeatable_read_keeps_its_rows(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    SimError  error = SIM_ERROR_INIT;
    Other     other = {0};
    (void)state;

    other_start(&other, world, table, step_read_repeatable);
    other_join(&other);
    assert_true(other.ok);
    actor.waiter.lock_timeout_ms = 100;
    SimTxn *txn                  = actor_begin(&actor);
    assert_sim_error(try_update(txn, table, 2, 2, 0, 1, &error), &error, 1222);
    other_end(&other);
    do_update(txn, table, 2, 2, 0, 1);
    (void)actor_commit(txn);
    actor_close(&actor);
    world_close(world);
}

static void a_cycle_has_one_victim(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    (void)state;

    for (int round = 0; round < 2; round++) { /* the one with the lower priority */
        Other    other = {0};
        SimError error = SIM_ERROR_INIT;
        SimTxn  *txn   = actor_begin(&actor);
        do_update(txn, table, 1, 1, 0, 1);
        actor.waiter.deadlock_priority = round == 0 ? -5 : 5;
        other_start(&other, world, table, step_update_two_then_one);
        clock_sleep_ms(world->clock, 500, NULL);
        bool ok = try_update(txn, table, 2, 2, 0, 1,
                             &error); /* closes the cycle, or is closed by the other */
        assert_int_equal(ok, round == 1);
        assert_int_equal(error.number, ok ? 0 : 1205);
        if (ok)
            (void)actor_commit(txn);
        else
            sim_txn_rollback(txn);
        other_join(&other);
        assert_int_equal(other.ok, round == 0);
        assert_int_equal(other.error.number, round == 0 ? 0 : 1205);
        if (round == 1) assert_true(other.error.rolls_back);
        other_end(&other);
    }
    assert_rows(world, table, "1:111:- 2:121:- 3:30:-");
    actor_close(&actor);
    world_close(world);
}

static void an_attention_and_a_kill_end_a_wait(void **state)
{
    Actor     actor;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    (void)state;

    for (int round = 0; round < 2; round++) {
        Other   other = {0};
        SimTxn *txn   = actor_begin(&actor);
        do_update(txn, table, 2, 2, 0, 5);
        other_start(&other, world, table, step_read);
        let_it_run(world);
        atomic_store(round == 0 ? &other.actor.waiter.attention : &other.actor.waiter.killed, true);
        sim_waiter_wake(&other.actor.waiter);
        other_join(&other);
        assert_int_equal(other.error.number, round == 0 ? SIM_ATTENTION : 596);
        sim_txn_rollback(txn);
        other_end(&other);
    }
    assert_rows(world, table, "1:10:- 2:20:- 3:30:-");
    actor_close(&actor);
    world_close(world);
}

static void ddl_waits_for_writers_and_others_wait_behind_it(void **state)
{
    Actor     actor, reader;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    Other     other = {0};
    SimError  error = SIM_ERROR_INIT;
    Str       text;
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    do_update(txn, table, 1, 1, 0, 5);
    other_start(&other, world, table, step_add_column);
    let_it_run(world);
    assert_waits(&other, "LCK_M_SCH_M", 51);
    actor_open(&reader, world, 52);
    reader.waiter.lock_timeout_ms = 100;
    SimTxn *read                  = actor_begin(&reader);
    assert_sim_error(try_read(read, table, (ReadSpec){.isolation = SIM_READ_UNCOMMITTED},
                              world->arena, &text, &error),
                     &error, 1222);
    do_update(txn, table, 3, 3, 0, 5); /* who has the lock goes on */
    (void)actor_commit(txn);
    other_join(&other);
    assert_true(other.ok);
    other_end(&other);
    assert_sim(try_read(read, table, (ReadSpec){.isolation = SIM_READ_COMMITTED}, world->arena,
                        &text, &error),
               &error);
    assert_str_is(text, "1:15:-:- 2:20:-:- 3:35:-:-");
    sim_txn_rollback(read);
    actor_close(&reader);
    actor_close(&actor);
    world_close(world);
}

static void an_open_scan_keeps_ddl_away_until_it_is_closed(void **state)
{
    Actor                actor;
    SimTable            *table;
    World               *world   = world_with_rows(&actor, &table);
    Other                other   = {0};
    SimError             error   = SIM_ERROR_INIT;
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED};
    SimScan             *scan;
    const SimRow *const *rows;
    size_t               count;
    (void)state;

    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
    other_start(&other, world, table, step_add_column);
    let_it_run(world);
    assert_waits(&other, "LCK_M_SCH_M", 51);
    sim_scan_close(scan);
    other_join(&other);
    assert_true(other.ok);
    other_end(&other);
    sim_txn_rollback(txn);
    actor_close(&actor);
    world_close(world);
}

static void table_locks_last_a_statement_or_a_transaction(void **state)
{
    Actor     actor, reader;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    SimError  error = SIM_ERROR_INIT;
    Str       text;
    (void)state;

    actor_open(&reader, world, 52);
    reader.waiter.lock_timeout_ms = 0;
    SimTxn  *read                 = actor_begin(&reader);
    SimTxn  *txn                  = actor_begin(&actor);
    ReadSpec spec                 = {.isolation = SIM_READ_COMMITTED};
    assert_sim(sim_lock_table(txn, table, SIM_LOCK_EXCLUSIVE, false, &error), &error);
    assert_sim_error(try_read(read, table, spec, world->arena, &text, &error), &error, 1222);
    sim_txn_statement_end(txn);
    assert_sim(try_read(read, table, spec, world->arena, &text, &error), &error);
    assert_sim(sim_lock_table(txn, table, SIM_LOCK_SHARED, true, &error), &error);
    sim_txn_statement_end(txn);
    assert_sim(try_read(read, table, spec, world->arena, &text, &error), &error);
    assert_sim_error(try_insert(read, table, (TestRow){9, 9, NULL}, &error), &error, 1222);
    sim_txn_rollback(txn);
    do_insert(read, table, (TestRow){9, 9, NULL});
    sim_txn_rollback(read);
    actor_close(&reader);
    actor_close(&actor);
    world_close(world);
}

static void serializable_keeps_new_rows_out(void **state)
{
    Actor     actor, writer;
    SimTable *table;
    World    *world = world_with_rows(&actor, &table);
    SimError  error = SIM_ERROR_INIT;
    Str       text;
    (void)state;

    actor_open(&writer, world, 52);
    writer.waiter.lock_timeout_ms = 0;
    SimTxn *txn                   = actor_begin(&actor);
    assert_sim(try_read(txn, table, (ReadSpec){.isolation = SIM_SERIALIZABLE}, world->arena, &text,
                        &error),
               &error);
    SimTxn *write = actor_begin(&writer);
    assert_sim_error(try_insert(write, table, (TestRow){9, 9, NULL}, &error), &error, 1222);
    (void)actor_commit(txn);
    do_insert(write, table, (TestRow){9, 9, NULL});
    (void)actor_commit(write);
    actor_close(&writer);
    actor_close(&actor);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_waits_for_uncommitted_rows_and_reads_the_committed_ones),
        cmocka_unit_test(a_reader_waits_for_inserts_and_deletes_too),
        cmocka_unit_test(read_uncommitted_sees_what_is_there),
        cmocka_unit_test(lock_timeout_ends_a_wait_with_1222),
        cmocka_unit_test(an_insert_waits_for_an_uncommitted_duplicate),
        cmocka_unit_test(a_second_writer_sees_the_first_ones_row),
        cmocka_unit_test(rows_that_do_not_qualify_are_let_go),
        cmocka_unit_test(repeatable_read_keeps_its_rows),
        cmocka_unit_test(a_cycle_has_one_victim),
        cmocka_unit_test(an_attention_and_a_kill_end_a_wait),
        cmocka_unit_test(ddl_waits_for_writers_and_others_wait_behind_it),
        cmocka_unit_test(an_open_scan_keeps_ddl_away_until_it_is_closed),
        cmocka_unit_test(table_locks_last_a_statement_or_a_transaction),
        cmocka_unit_test(serializable_keeps_new_rows_out),
    };
    return RUN_TESTS(tests);
}
