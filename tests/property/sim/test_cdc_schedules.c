/* Random transactions of several sessions, with capture between them, in orders that the seed
 * decides: the change rows always rebuild the table, and the same seed gives the same change rows,
 * LSNs included. */
#include "support/test_support.h"

#include "support/sim_model.h"

#define WRITERS 4
#define KEYS    12
#define ROUNDS  12

typedef struct Crowd {
    World    *world;
    SimTable *table;
    int       running;
    int       deadlocks;
} Crowd;

typedef struct Writer {
    Crowd   *crowd;
    Actor    actor;
    uint64_t seed;
} Writer;

static bool write_row(SimTxn *txn, SimTable *table, Rng *rng, SimError *error)
{
    int64_t id = (int64_t)rng_below(rng, KEYS);

    switch (rng_below(rng, 4)) {
    case 0:
    case 1:
        return try_insert(txn, table, (TestRow){id, (int64_t)rng_below(rng, 100), NULL}, error) ||
               error->number == 2627;
    case 2: return try_delete(txn, table, id, id, error);
    default: break;
    }
    return try_update(txn, table, id, id + (int64_t)rng_below(rng, 3), (int64_t)rng_below(rng, 2),
                      1, error) ||
           error->number == 2627;
}

static void run_writer(void *arg)
{
    Writer *writer = arg;
    Crowd  *crowd  = writer->crowd;
    Sched  *sched  = crowd->world->sched;
    Rng    *rng    = rng_new(writer->seed);

    for (int round = 0; round < ROUNDS; round++) {
        SimError error = SIM_ERROR_INIT;
        SimTxn  *txn   = actor_begin(&writer->actor);
        bool     ok    = true;
        for (uint64_t i = rng_below(rng, 4) + 1; ok && i > 0; i--) {
            sched_point(sched, "write");
            ok = write_row(txn, crowd->table, rng, &error);
        }
        sched_point(sched, "end");
        sim_txn_statement_end(txn);
        if (ok && rng_below(rng, 5) != 0) {
            assert_sim(sim_txn_commit(txn, NULL, &error), &error);
        } else {
            sim_txn_rollback(txn);
            if (!ok) assert_int_equal(error.number, 1205);
            crowd->deadlocks += !ok;
        }
    }
    rng_close(rng);
    crowd->running--;
}

static void run_capture(void *arg)
{
    Crowd *crowd = arg;

    while (crowd->running > 0) {
        SimError error = SIM_ERROR_INIT;
        for (int i = 0; i < 7; i++)
            sched_point(crowd->world->sched, "capture");
        assert_sim(sim_cdc_scan_now(crowd->world->database, NULL, NULL, &error), &error);
    }
}

/* Applies "operation:command:id:v:s" in order; the text of what is left, as the table reads. */
static Str rebuild(Str changes, Arena *arena)
{
    bool    is_there[KEYS + 4] = {false};
    int64_t v[KEYS + 4]        = {0};
    Buf     text               = buf_new(arena, 0);

    for (Str rest = changes, row; changes.len > 0 && str_split_next(&rest, ' ', &row);) {
        Str     field[5];
        int64_t operation, id = 0, value = 0;
        for (size_t i = 0; i < 5; i++)
            assert_true(str_split_next(&row, ':', &field[i]));
        assert_true(str_parse_i64(field[0], &operation) && str_parse_i64(field[2], &id) &&
                    str_parse_i64(field[3], &value));
        bool is_before = operation == 1 || operation == 3;
        if (is_before) { /* a before-image is what is there */
            assert_true(is_there[id]);
            assert_int_equal(v[id], value);
        }
        is_there[id] = !is_before;
        v[id]        = value;
    }
    for (int id = 0; id < KEYS + 4; id++)
        if (is_there[id]) buf_printf(&text, "%s%d:%d:-", text.len > 0 ? " " : "", id, (int)v[id]);
    return buf_str(&text);
}

/* A whole run; what it leaves in the change table and the mapping, in `arena`. */
static Str run(uint64_t seed, Arena *arena, int *deadlocks_out)
{
    Crowd  crowd = {.world = world_simulated(seed), .running = WRITERS};
    Actor  actor;
    Writer writers[WRITERS];
    Task  *tasks[WRITERS];
    Sched *sched = crowd.world->sched;
    Buf    text  = buf_new(arena, 0);

    actor_open(&actor, crowd.world, 51);
    crowd.table = make_table(&actor, "t", (TestTable){.by_v = seed % 2 == 0});
    enable_cdc(&actor);
    (void)enable_table(&actor, "t", "ci");
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (Writer){.crowd = &crowd, .seed = seed * 100 + i};
        actor_open(&writers[i].actor, crowd.world, 60 + (int32_t)i);
        tasks[i] = sched_spawn(sched, "writer", run_writer, &writers[i]);
    }
    Task *capture = sched_spawn(sched, "capture", run_capture, &crowd);
    for (size_t i = 0; i < WRITERS; i++) {
        sched_join(sched, tasks[i]);
        actor_close(&writers[i].actor);
    }
    sched_join(sched, capture);
    (void)scan_log(crowd.world);

    Str want = read_table(crowd.world, crowd.table, (ReadSpec){.range = NULL});
    Str got  = rebuild(read_changes(crowd.world, "ci"), crowd.world->arena);
    if (!str_equal(want, got)) fail_msg("want %.*s\ngot %.*s", STR_ARG(want), STR_ARG(got));
    buf_append(&text,
               read_table(crowd.world, change_table(crowd.world, "ci"), (ReadSpec){.range = NULL}));
    buf_append(&text, read_table(crowd.world, sim_cdc_mapping_table(crowd.world->database),
                                 (ReadSpec){.range = NULL}));
    *deadlocks_out += crowd.deadlocks;
    actor_close(&actor);
    world_close(crowd.world);
    return buf_str(&text);
}

static void changes_rebuild_the_table_under_every_schedule(void **state)
{
    int deadlocks = 0;
    (void)state;

    FOR_EACH_SEED (seed, 60) {
        Arena *arena = arena_new();
        Str    first = run(seed, arena, &deadlocks);
        Str    again = run(seed, arena, &deadlocks);
        assert_true(str_equal(first, again));
        arena_close(arena);
    }
    (void)fprintf(stderr, "# %d deadlocks\n", deadlocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(changes_rebuild_the_table_under_every_schedule),
    };
    return RUN_TESTS(tests);
}
