/* A table against an array: random statements, savepoints and rollbacks; ranges read forward and
 * backward through every index. */
#include "support/test_support.h"

#include "support/sim_model.h"

#define KEYS 60

typedef struct OracleRow {
    bool    is_there;
    int64_t v;
} OracleRow;

typedef struct Oracle {
    OracleRow rows[KEYS]; /* by id */
} Oracle;

typedef struct Run {
    World    *world;
    Actor     actor;
    SimTable *table;
    Oracle    now;
    Rng      *rng;
    bool      v_is_unique;
} Run;

/* --- statements, on both --- */

static bool v_is_taken(const Run *run, int64_t v, int64_t except)
{
    for (int64_t id = 0; run->v_is_unique && id < KEYS; id++)
        if (id != except && run->now.rows[id].is_there && run->now.rows[id].v == v) return true;
    return false;
}

static void insert_one(Run *run, SimTxn *txn)
{
    SimError error = SIM_ERROR_INIT;
    int64_t  id = (int64_t)rng_below(run->rng, KEYS), v = (int64_t)rng_below(run->rng, 200);
    bool     has_id = run->now.rows[id].is_there, has_v = v_is_taken(run, v, id);
    bool     ok = try_insert(txn, run->table, (TestRow){id, v, NULL}, &error);

    assert_int_equal(ok, !has_id && !has_v);
    if (!ok) assert_true(error.number == 2627 || (error.number == 2601 && has_v));
    if (ok) run->now.rows[id] = (OracleRow){true, v};
}

static void delete_some(Run *run, SimTxn *txn)
{
    int64_t low = (int64_t)rng_below(run->rng, KEYS), count = (int64_t)rng_below(run->rng, 4);
    int64_t high = MIN(low + count, KEYS - 1);

    do_delete(txn, run->table, low, high);
    for (int64_t id = low; id <= high; id++)
        run->now.rows[id].is_there = false;
}

/* id = id + move, v = v + add over a range: fails as a whole or not at all. */
static void update_some(Run *run, SimTxn *txn)
{
    SimError error = SIM_ERROR_INIT;
    int64_t  low   = (int64_t)rng_below(run->rng, KEYS - 12) + 5,
            high   = low + (int64_t)rng_below(run->rng, 4);
    int64_t move   = rng_below(run->rng, 2) ? 0 : rng_between(run->rng, -3, 3);
    int64_t add    = rng_between(run->rng, -2, 2);
    Oracle  after  = run->now;
    bool    fits   = true;

    for (int64_t id = low; id <= high; id++)
        after.rows[id].is_there = false;
    for (int64_t id = low; id <= high; id++) {
        if (!run->now.rows[id].is_there) continue;
        fits &= !after.rows[id + move].is_there;
        after.rows[id + move] = (OracleRow){true, run->now.rows[id].v + add};
    }
    for (int64_t i = 0; run->v_is_unique && i < KEYS; i++)
        for (int64_t j = 0; j < i; j++)
            fits &= !(after.rows[i].is_there && after.rows[j].is_there &&
                      after.rows[i].v == after.rows[j].v);
    bool ok = try_update(txn, run->table, low, high, move, add, &error);
    assert_int_equal(ok, fits);
    if (ok) run->now = after;
}

/* --- comparing --- */

static void append_oracle_row(Buf *text, const Oracle *oracle, int64_t id)
{
    if (text->len > 0) buf_append_char(text, ' ');
    buf_printf(text, "%d:%d:-", (int)id, (int)oracle->rows[id].v);
}

/* Rows with v in [low, high] in the order of (v, id), and the other way round. */
static Str oracle_by_v(const Oracle *oracle, Arena *arena, int64_t low, int64_t high,
                       bool backwards)
{
    Buf text = buf_new(arena, 0);

    for (int64_t step = 0; step <= high - low; step++) {
        int64_t v = backwards ? high - step : low + step;
        for (int64_t i = 0; i < KEYS; i++) {
            int64_t id = backwards ? KEYS - 1 - i : i;
            if (oracle->rows[id].is_there && oracle->rows[id].v == v)
                append_oracle_row(&text, oracle, id);
        }
    }
    return buf_str(&text);
}

static Str oracle_by_id(const Oracle *oracle, Arena *arena, int64_t low, int64_t high,
                        bool backwards)
{
    Buf text = buf_new(arena, 0);

    for (int64_t step = 0; step <= high - low; step++) {
        int64_t id = backwards ? high - step : low + step;
        if (id < KEYS && oracle->rows[id].is_there) append_oracle_row(&text, oracle, id);
    }
    return buf_str(&text);
}

static void compare_range(Run *run, SimTxn *txn)
{
    Arena   *arena = arena_new();
    SimError error = SIM_ERROR_INIT;
    bool     by_v = rng_below(run->rng, 2), backwards = rng_below(run->rng, 2);
    int64_t  low   = (int64_t)rng_below(run->rng, 100) - 10,
            high   = low + (int64_t)rng_below(run->rng, 80);
    SimRange range = {.index     = sim_table_info(run->table)->indexes[by_v],
                      .low       = {true, true, sim_int(low, SIM_INT)},
                      .high      = {true, true, sim_int(high, SIM_INT)},
                      .backwards = backwards};
    Str      got;

    assert_sim(try_read(txn, run->table,
                        (ReadSpec){.range = &range, .isolation = SIM_READ_COMMITTED}, arena, &got,
                        &error),
               &error);
    Str want = by_v ? oracle_by_v(&run->now, arena, low, high, backwards)
                    : oracle_by_id(&run->now, arena, MAX(low, 0), high, backwards);
    if (!str_equal(want, got)) fail_msg("want %.*s\ngot %.*s", STR_ARG(want), STR_ARG(got));
    arena_close(arena);
}

static void run_transaction(Run *run)
{
    SimTxn  *txn    = actor_begin(&run->actor);
    Oracle   before = run->now, saved = run->now;
    uint64_t mark  = sim_txn_mark(txn);
    int      steps = (int)rng_below(run->rng, 12) + 1;

    for (int i = 0; i < steps; i++) {
        switch (rng_below(run->rng, 8)) {
        case 0:
        case 1: insert_one(run, txn); break;
        case 2: delete_some(run, txn); break;
        case 3:
        case 4: update_some(run, txn); break;
        case 5:
            mark  = sim_txn_mark(txn);
            saved = run->now;
            break;
        case 6:
            sim_txn_undo_to(txn, mark);
            run->now = saved;
            break;
        default: compare_range(run, txn); break;
        }
    }
    if (rng_below(run->rng, 3) == 0) {
        sim_txn_rollback(txn);
        run->now = before;
    } else {
        (void)actor_commit(txn);
    }
}

static int64_t oracle_count(const Oracle *oracle)
{
    int64_t count = 0;
    for (size_t id = 0; id < KEYS; id++)
        count += oracle->rows[id].is_there;
    return count;
}

static void compare_with_array(bool long_key)
{
    FOR_EACH_SEED (seed, 60) {
        Run run = {
            .world = world_simulated(seed), .rng = rng_new(seed), .v_is_unique = seed % 2 == 0};
        actor_open(&run.actor, run.world, 51);
        run.table = make_table(
            &run.actor, "t",
            (TestTable){.by_v = true, .by_v_unique = run.v_is_unique, .long_key = long_key});
        for (int i = 0; i < 60; i++) {
            run_transaction(&run);
            SimTxn *txn = actor_begin(&run.actor);
            compare_range(&run, txn);
            sim_txn_rollback(txn);
            assert_int_equal(sim_table_row_count(run.table), oracle_count(&run.now));
        }
        actor_close(&run.actor);
        rng_close(run.rng);
        world_close(run.world);
    }
}

static void a_table_agrees_with_an_array(void **state)
{
    (void)state;
    compare_with_array(false);
}

static void a_table_of_long_keys_agrees_with_an_array(void **state)
{
    (void)state;
    compare_with_array(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(a_table_agrees_with_an_array),
        property_test(a_table_of_long_keys_agrees_with_an_array),
    };
    return RUN_TESTS(tests);
}
