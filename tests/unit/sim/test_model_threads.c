/* Eight threads at once: writers, readers of the tables and of the change tables, capture, cleanup.
 * Nothing may be lost, doubled or seen below an LSN that was announced; the thread sanitizer
 * watches. */
#include "support/test_support.h"

#include "support/sim_model.h"

#include <stdatomic.h>

#define WRITERS 3
#define KEYS    40

typedef struct Arena8 Arena8;

typedef struct Crowd {
    World      *world;
    SimTable   *t, *u; /* written alike; only the changes of t are cleaned */
    atomic_bool is_over;
    atomic_int  commits, deadlocks, probes, cleanups;
    atomic_int  problems;
    int         rounds; /* per writer */
} Crowd;

typedef struct Member {
    Crowd   *crowd;
    Actor    actor;
    uint64_t seed;
    Task    *task;
} Member;

static void problem(Crowd *crowd, const char *what, const SimError *error)
{
    if (atomic_fetch_add(&crowd->problems, 1) > 5) return;
    (void)fprintf(stderr, "# %s: %d %s\n", what, error != NULL ? error->number : 0,
                  error != NULL ? error->message : "");
}

/* --- writers --- */

static bool write_row(SimTxn *txn, SimTable *table, Rng *rng, int64_t id, SimError *error)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return try_insert(txn, table, (TestRow){id, (int64_t)rng_below(rng, 1000), "row"}, error) ||
               error->number == 2627;
    case 1: return try_delete(txn, table, id, id, error);
    case 2: return try_update(txn, table, id, id, 0, 1, error);
    default: break;
    }
    return try_update(txn, table, id, id + 2, (int64_t)rng_below(rng, 3) - 1, 1, error) ||
           error->number == 2627;
}

static void run_writer(void *arg)
{
    Member *member = arg;
    Crowd  *crowd  = member->crowd;
    Rng    *rng    = rng_new(member->seed);

    for (int round = 0; round < crowd->rounds; round++) {
        SimError error = SIM_ERROR_INIT;
        SimTxn  *txn   = actor_begin(&member->actor);
        bool     ok    = true;
        for (int i = 0; ok && i < 4; i++) {
            SimTable *table = rng_below(rng, 2) ? crowd->t : crowd->u;
            ok              = write_row(txn, table, rng, (int64_t)rng_below(rng, KEYS), &error);
        }
        sim_txn_statement_end(txn);
        if (ok && rng_below(rng, 10) != 0) {
            if (!sim_txn_commit(txn, NULL, &error)) problem(crowd, "commit", &error);
            atomic_fetch_add(&crowd->commits, 1);
            continue;
        }
        sim_txn_rollback(txn);
        if (!ok && error.number == 1205)
            atomic_fetch_add(&crowd->deadlocks, 1);
        else if (!ok)
            problem(crowd, "write", &error);
    }
    rng_close(rng);
}

/* --- readers --- */

static void run_reader(void *arg)
{
    Member *member = arg;
    Crowd  *crowd  = member->crowd;

    while (!atomic_load(&crowd->is_over)) {
        SimError error = SIM_ERROR_INIT;
        Arena   *arena = arena_new();
        SimTxn  *txn   = actor_begin(&member->actor);
        Str      text;
        SimRange by_v  = {.index = sim_table_info(crowd->t)->indexes[1],
                          .low   = {true, true, sim_int(500, SIM_INT)}};
        ReadSpec whole = {.isolation = member->seed % 2 ? SIM_READ_COMMITTED
                                                        : SIM_READ_UNCOMMITTED};
        ReadSpec range = {.isolation = SIM_READ_COMMITTED, .range = &by_v};
        if (!try_read(txn, crowd->u, whole, arena, &text, &error) ||
            !try_read(txn, crowd->t, range, arena, &text, &error))
            if (error.number != 1205) problem(crowd, "read", &error);
        sim_txn_rollback(txn);
        arena_close(arena);
    }
}

static int64_t count_changes(Member *member, Lsn limit, SimError *error)
{
    SimTable *table = change_table(member->crowd->world, "cu");
    SimRange range = {.high = {true, true, sim_binary((Bytes){limit.bytes, LSN_BYTES}, LSN_BYTES)}};
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED};
    SimTxn              *txn     = actor_begin(&member->actor);
    SimScan             *scan    = NULL;
    int64_t              total   = 0;
    size_t               count   = 1;
    const SimRow *const *rows;

    bool ok = sim_scan_open(txn, table, &range, &options, &scan, error);
    while (ok && count > 0) {
        ok = sim_scan_next(scan, &rows, &count, error);
        total += (int64_t)count;
    }
    sim_scan_close(scan);
    sim_txn_rollback(txn);
    return ok ? total : -1;
}

/* What is at or below an announced LSN stays as it is. */
static void run_prober(void *arg)
{
    Member *member = arg;
    Crowd  *crowd  = member->crowd;

    while (!atomic_load(&crowd->is_over)) {
        SimError error = SIM_ERROR_INIT;
        Lsn      lsn;
        if (!sim_cdc_max_lsn(crowd->world->database, &lsn)) continue;
        int64_t first = count_changes(member, lsn, &error);
        int64_t again = count_changes(member, lsn, &error);
        if (first < 0 || again < 0)
            problem(crowd, "probe", &error);
        else if (first != again)
            problem(crowd, "rows at or below max_lsn changed", NULL);
        atomic_fetch_add(&crowd->probes, 1);
    }
}

/* --- capture and cleanup --- */

static void run_capture(void *arg)
{
    Member *member = arg;

    while (!atomic_load(&member->crowd->is_over)) {
        SimError error = SIM_ERROR_INIT;
        if (!sim_cdc_scan_now(member->crowd->world->database, NULL, NULL, &error))
            problem(member->crowd, "scan", &error);
    }
}

static void run_cleanup(void *arg)
{
    Member      *member   = arg;
    Crowd       *crowd    = member->crowd;
    SimDatabase *database = crowd->world->database;

    while (!atomic_load(&crowd->is_over)) {
        SimError error = SIM_ERROR_INIT;
        Lsn      mark;
        if (sim_cdc_max_lsn(database, &mark) &&
            !sim_cdc_cleanup(database, STR("ct"), mark, 7, &error))
            problem(crowd, "cleanup", &error);
        if (!sim_cdc_idle_now(database, &error)) problem(crowd, "idle", &error);
        atomic_fetch_add(&crowd->cleanups, 1);
    }
}

/* --- the end: the changes of u rebuild u --- */

typedef struct Rebuilt {
    bool    is_there[KEYS + 8];
    int64_t v[KEYS + 8];
} Rebuilt;

static void rebuild(World *world, Rebuilt *out)
{
    SimTable            *table   = change_table(world, "cu");
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED};
    SimError             error   = SIM_ERROR_INIT;
    SimScan             *scan;
    size_t               count;
    const SimRow *const *rows;
    Actor                actor;

    actor_open(&actor, world, 70);
    SimTxn *txn = actor_begin(&actor);
    assert_sim(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    do {
        assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
        for (size_t i = 0; i < count; i++) {
            SimValue operation, id, v;
            sim_row_value(table, rows[i], 3, &operation);
            sim_row_value(table, rows[i], 5, &id);
            sim_row_value(table, rows[i], 6, &v);
            size_t at         = (size_t)(id.i64 + 2);
            bool   is_after   = operation.i64 == 2 || operation.i64 == 4;
            out->is_there[at] = is_after;
            out->v[at]        = v.i64;
        }
    } while (count > 0);
    sim_scan_close(scan);
    sim_txn_rollback(txn);
    actor_close(&actor);
}

static Str rebuilt_text(const Rebuilt *rebuilt, Arena *arena)
{
    Buf text = buf_new(arena, 0);
    for (size_t at = 0; at < COUNT_OF(rebuilt->v); at++)
        if (rebuilt->is_there[at])
            buf_printf(&text, "%s%d:%d", text.len > 0 ? " " : "", (int)at - 2, (int)rebuilt->v[at]);
    return buf_str(&text);
}

static void start(Crowd *crowd, Member *member, uint64_t number, TaskRun run)
{
    member->crowd = crowd;
    member->seed  = number;
    actor_open(&member->actor, crowd->world, 100 + (int32_t)number);
    member->task = sched_spawn(crowd->world->sched, "member", run, member);
}

static void finish(Member *member)
{
    sched_join(member->crowd->world->sched, member->task);
    actor_close(&member->actor);
}

static void nothing_is_lost_among_eight_threads(void **state)
{
    Crowd crowd = {.world = world_real(21), .rounds = (int)test_env_number("TIDELAKE_ROUNDS", 150)};
    Actor actor;
    Member  members[8];
    TaskRun others[] = {run_reader, run_reader, run_prober, run_capture, run_cleanup};
    (void)state;

    actor_open(&actor, crowd.world, 51);
    crowd.t = make_table(&actor, "t", (TestTable){.by_v = true});
    crowd.u = make_table(&actor, "u", (TestTable){.by_v = true});
    enable_cdc(&actor);
    (void)enable_table(&actor, "t", "ct");
    (void)enable_table(&actor, "u", "cu");
    for (uint64_t i = 0; i < 8; i++)
        start(&crowd, &members[i], i, i < WRITERS ? run_writer : others[i - WRITERS]);
    for (size_t i = 0; i < WRITERS; i++)
        finish(&members[i]);
    atomic_store(&crowd.is_over, true);
    for (size_t i = WRITERS; i < 8; i++)
        finish(&members[i]);

    Rebuilt rebuilt = {.is_there = {false}};
    (void)scan_log(crowd.world);
    rebuild(crowd.world, &rebuilt);
    Str want = read_table(crowd.world, crowd.u, (ReadSpec){.first = 0, .last = 1});
    Str got  = rebuilt_text(&rebuilt, crowd.world->arena);
    (void)fprintf(stderr, "# %d commits, %d deadlocks, %d probes, %d cleanups\n", crowd.commits,
                  crowd.deadlocks, crowd.probes, crowd.cleanups);
    assert_int_equal(crowd.problems, 0);
    assert_true(str_equal(want, got));
    actor_close(&actor);
    world_close(crowd.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_among_eight_threads),
    };
    return RUN_TESTS(tests);
}
