/* sim_model.h - a simulated server's model for tests: a world, its sessions, a small table, and
 * rows as short texts. Header-only; include it after test_support.h. */
#ifndef TIDELAKE_TEST_SIM_MODEL_H
#define TIDELAKE_TEST_SIM_MODEL_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/list.h"
#include "sim/capture/cdc.h"
#include "sim/model/model.h"

#define WORLD_START_US INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */

typedef struct World {
    Arena       *arena;
    Rng         *rng;
    Sched       *sched;
    Clock       *clock;
    SimServer   *server;
    SimDatabase *database; /* "shop" */
} World;

/* One session of tests: a waiter and its queue. */
typedef struct Actor {
    World    *world;
    SimWaiter waiter;
} Actor;

#define assert_sim(call, error) test_assert_sim((call), (error), #call, __FILE__, __LINE__)
#define assert_sim_error(call, error, number) \
    test_assert_sim_error((call), (error), (number), #call, __FILE__, __LINE__)

UNUSED static void test_assert_sim(bool ok, const SimError *error, const char *call,
                                   const char *file, int line)
{
    if (ok) return;
    print_error("%s: %d: %s\n", call, error->number, error->message);
    _fail(file, line);
}

UNUSED static void test_assert_sim_error(bool ok, SimError *error, int32_t number, const char *call,
                                         const char *file, int line)
{
    if (ok || error->number != number) {
        print_error("%s: want error %d, got %d: %s\n", call, number, ok ? 0 : error->number,
                    ok ? "" : error->message);
        _fail(file, line);
    }
    *error = SIM_ERROR_INIT;
}

typedef struct WorldOptions {
    uint64_t    seed;
    bool        simulated;
    const char *zone;                /* NULL: UTC */
    int64_t     capture_interval_ms; /* 0: manual */
    int64_t     retention_minutes;
    bool        command_id_per_statement;
} WorldOptions;

UNUSED static World *world_open(WorldOptions options)
{
    Arena   *arena = arena_new();
    World   *world = ARENA_NEW(arena, World);
    SimError error = SIM_ERROR_INIT;

    world->arena = arena;
    world->rng   = rng_new(options.seed);
    if (options.simulated) {
        world->sched = sched_new_simulated(options.seed, WORLD_START_US, &world->clock);
    } else {
        world->sched = sched_new_real();
        world->clock = clock_new_real();
    }
    SimModelOptions model = {
        .clock               = world->clock,
        .sched               = world->sched,
        .rng                 = world->rng,
        .time_zone           = str_from_c(options.zone != NULL ? options.zone : ""),
        .capture_interval_ms = options.capture_interval_ms > 0 ? options.capture_interval_ms : -1,
        .retention_minutes   = options.retention_minutes,
        .command_id_per_statement = options.command_id_per_statement,
    };
    assert_sim(sim_model_open(&model, &world->server, &error), &error);
    assert_sim(sim_create_database(world->server, STR("shop"), &error), &error);
    world->database = sim_server_find_database(world->server, STR("shop"));
    assert_non_null(world->database);
    return world;
}

UNUSED static World *world_simulated(uint64_t seed)
{
    return world_open((WorldOptions){.seed = seed, .simulated = true});
}

UNUSED static World *world_real(uint64_t seed)
{
    return world_open((WorldOptions){.seed = seed});
}

UNUSED static void world_close(World *world)
{
    bool simulated = sched_is_simulated(world->sched);

    sim_model_close(world->server);
    if (!simulated) clock_close(world->clock);
    sched_close(world->sched);
    rng_close(world->rng);
    arena_close(world->arena);
}

UNUSED static void actor_open(Actor *actor, World *world, int32_t session_id)
{
    actor->world  = world;
    actor->waiter = (SimWaiter){
        .session_id = session_id, .lock_timeout_ms = -1, .wake = queue_new(world->sched, 1)};
}

UNUSED static void actor_close(Actor *actor)
{
    queue_free(actor->waiter.wake);
}

UNUSED static SimTxn *actor_begin(Actor *actor)
{
    SimTxn *txn = sim_txn_begin(actor->world->database, &actor->waiter, SIM_READ_COMMITTED);
    sim_txn_statement_begin(txn);
    return txn;
}

UNUSED static Lsn actor_commit(SimTxn *txn)
{
    SimError error = SIM_ERROR_INIT;
    Lsn      lsn;

    sim_txn_statement_end(txn);
    assert_sim(sim_txn_commit(txn, &lsn, &error), &error);
    return lsn;
}

/* --- tables --- */

UNUSED static SimColumn test_column(const char *name, const char *type, bool is_nullable)
{
    SimColumn column = {.name = str_from_c(name), .is_nullable = is_nullable};
    assert_true(sim_type_parse(str_from_c(type), &column.type));
    return column;
}

/* dbo.<name>(id int not null, v int, s varchar(50)), with a clustered primary key on id unless
 * `heap`, and an index or a unique index "by_v" on v when asked. With `long_key` s is varbinary(25)
 * and in the key behind id, which is then so long that it stands in the rows alone. */
typedef struct TestTable {
    bool heap, by_v, by_v_unique, long_key;
} TestTable;

UNUSED static SimTable *make_table(Actor *actor, const char *name, TestTable options)
{
    SimColumn columns[] = {
        test_column("id", "int", false), test_column("v", "int", true),
        test_column("s", options.long_key ? "varbinary(25)" : "varchar(50)", true)};
    SimIndexColumn id[] = {{.column_id = 1}, {.column_id = 3}}, v = {.column_id = 2};
    SimIndex       indexes[2];
    size_t         index_count = 0;
    SimTable      *table       = NULL;
    SimError       error       = SIM_ERROR_INIT;

    if (!options.heap)
        indexes[index_count++] = (SimIndex){.name           = STR("PK_t"),
                                            .is_unique      = true,
                                            .is_clustered   = true,
                                            .is_primary_key = true,
                                            .columns        = id,
                                            .column_count   = options.long_key ? 2 : 1};
    if (options.by_v || options.by_v_unique)
        indexes[index_count++] = (SimIndex){.name         = STR("by_v"),
                                            .is_unique    = options.by_v_unique,
                                            .columns      = &v,
                                            .column_count = 1};
    SimTableSpec spec = {.schema       = STR("dbo"),
                         .name         = str_from_c(name),
                         .columns      = columns,
                         .column_count = COUNT_OF(columns),
                         .indexes      = indexes,
                         .index_count  = index_count};
    SimTxn      *txn  = actor_begin(actor);
    assert_sim(sim_create_table(txn, &spec, &table, &error), &error);
    (void)actor_commit(txn);
    return table;
}

typedef struct TestRow {
    int64_t     id, v;
    const char *s; /* NULL: NULL */
} TestRow;

UNUSED static void row_values(TestRow row, SimValue values[3])
{
    SimType text = sim_type(SIM_VARCHAR);
    text.length  = 50;
    values[0]    = sim_int(row.id, SIM_INT);
    values[1]    = sim_int(row.v, SIM_INT);
    values[2]    = sim_null(text);
    if (row.s != NULL) {
        values[2].is_null = false;
        values[2].bytes   = str_bytes(str_from_c(row.s));
    }
}

UNUSED static bool try_insert(SimTxn *txn, SimTable *table, TestRow row, SimError *error)
{
    SimValue values[4];

    row_values(row, values);
    values[3] = sim_int(7, SIM_BIGINT); /* for a column that a test has added */
    return sim_insert(txn, table, values, error);
}

UNUSED static void do_insert(SimTxn *txn, SimTable *table, TestRow row)
{
    SimError error = SIM_ERROR_INIT;
    assert_sim(try_insert(txn, table, row, &error), &error);
}

/* In a transaction of its own. */
UNUSED static Lsn put_row(Actor *actor, SimTable *table, TestRow row)
{
    SimTxn *txn = actor_begin(actor);
    do_insert(txn, table, row);
    return actor_commit(txn);
}

/* The rows whose id is in [low, high], locked for update, in the order of id. */
UNUSED static bool find_rows(SimTxn *txn, SimTable *table, int64_t low, int64_t high,
                             const SimRow **out, size_t *count_out, size_t max, SimError *error)
{
    SimRange       range   = {.low  = {true, true, sim_int(low, SIM_INT)},
                              .high = {true, true, sim_int(high, SIM_INT)}};
    SimScanOptions options = {.isolation = SIM_READ_COMMITTED, .for_update = true};
    SimScan       *scan    = NULL;
    bool           ok      = sim_scan_open(txn, table, &range, &options, &scan, error);

    *count_out = 0;
    while (ok) {
        const SimRow *const *rows  = NULL;
        size_t               count = 0;
        ok                         = sim_scan_next(scan, &rows, &count, error);
        if (!ok || count == 0) break;
        for (size_t i = 0; i < count && *count_out < max; i++)
            out[(*count_out)++] = rows[i];
    }
    sim_scan_close(scan);
    return ok;
}

/* UPDATE table SET id = id + move, v = v + add WHERE id BETWEEN low AND high */
UNUSED static bool try_update(SimTxn *txn, SimTable *table, int64_t low, int64_t high, int64_t move,
                              int64_t add, SimError *error)
{
    enum { MAX = 64 };
    const SimRow *rows[MAX];
    SimChange     changes[MAX];
    SimValue      values[MAX][3];
    size_t        count = 0;

    if (!find_rows(txn, table, low, high, rows, &count, MAX, error)) return false;
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < 3; c++)
            sim_row_value(table, rows[i], c, &values[i][c]);
        values[i][0].i64 += move;
        values[i][1].i64 += add;
        changes[i] = (SimChange){rows[i], values[i]};
    }
    return sim_update(txn, table, changes, count, error);
}

UNUSED static void do_update(SimTxn *txn, SimTable *table, int64_t low, int64_t high, int64_t move,
                             int64_t add)
{
    SimError error = SIM_ERROR_INIT;
    assert_sim(try_update(txn, table, low, high, move, add, &error), &error);
}

UNUSED static bool try_delete(SimTxn *txn, SimTable *table, int64_t low, int64_t high,
                              SimError *error)
{
    enum { MAX = 64 };
    const SimRow *rows[MAX];
    SimChange     changes[MAX];
    size_t        count = 0;

    if (!find_rows(txn, table, low, high, rows, &count, MAX, error)) return false;
    for (size_t i = 0; i < count; i++)
        changes[i] = (SimChange){rows[i], NULL};
    return sim_delete(txn, table, changes, count, error);
}

UNUSED static void do_delete(SimTxn *txn, SimTable *table, int64_t low, int64_t high)
{
    SimError error = SIM_ERROR_INIT;
    assert_sim(try_delete(txn, table, low, high, &error), &error);
}

/* --- rows as text --- */

UNUSED static void append_value(Buf *out, Arena *arena, const SimValue *value)
{
    if (value->is_null) {
        buf_append_char(out, '-');
    } else if (value->type.kind == SIM_BINARY || value->type.kind == SIM_VARBINARY) {
        buf_append(out, hex_encode(arena, value->bytes, true));
    } else {
        buf_append(out, sim_value_text(arena, value));
    }
}

/* Reads a range as "1:10:a 2:20:b": the columns from `first` to `last`, rows apart by blanks. */
typedef struct ReadSpec {
    const SimRange *range;
    SimIsolation    isolation;
    bool            read_past;
    size_t          first, last; /* both 0: all columns */
} ReadSpec;

UNUSED static bool try_read(SimTxn *txn, SimTable *table, ReadSpec spec, Arena *arena, Str *out,
                            SimError *error)
{
    SimScanOptions options = {.isolation = spec.isolation, .read_past = spec.read_past};
    SimScan       *scan    = NULL;
    Buf            text    = buf_new(arena, 0);
    size_t         last    = spec.last > 0 ? spec.last : sim_table_info(table)->column_count - 1;
    bool           ok      = sim_scan_open(txn, table, spec.range, &options, &scan, error);

    while (ok) {
        const SimRow *const *rows  = NULL;
        size_t               count = 0;
        ok                         = sim_scan_next(scan, &rows, &count, error);
        if (!ok || count == 0) break;
        for (size_t i = 0; i < count; i++) {
            if (text.len > 0) buf_append_char(&text, ' ');
            for (size_t c = spec.first; c <= last; c++) {
                SimValue value;
                sim_row_value(table, rows[i], c, &value);
                if (c > spec.first) buf_append_char(&text, ':');
                append_value(&text, arena, &value);
            }
        }
    }
    sim_scan_close(scan);
    *out = buf_str(&text);
    return ok;
}

/* Committed rows, by a session of its own. */
UNUSED static Str read_table(World *world, SimTable *table, ReadSpec spec)
{
    Actor    reader;
    SimError error = SIM_ERROR_INIT;
    Str      text;

    actor_open(&reader, world, 99);
    SimTxn *txn = actor_begin(&reader);
    if (spec.isolation == SIM_READ_UNCOMMITTED) spec.isolation = SIM_READ_COMMITTED;
    assert_sim(try_read(txn, table, spec, world->arena, &text, &error), &error);
    sim_txn_rollback(txn);
    actor_close(&reader);
    return text;
}

#define assert_rows(world, table, text) \
    assert_str_is(read_table((world), (table), (ReadSpec){.range = NULL}), (text))

/* --- CDC --- */

UNUSED static void enable_cdc(Actor *actor)
{
    SimError error = SIM_ERROR_INIT;
    SimTxn  *txn   = actor_begin(actor);

    assert_sim(sim_cdc_enable_database(txn, &error), &error);
    (void)actor_commit(txn);
}

UNUSED static Lsn enable_table(Actor *actor, const char *table, const char *instance)
{
    SimError       error = SIM_ERROR_INIT;
    SimEnableTable args  = {.source_schema    = STR("dbo"),
                            .source_name      = str_from_c(table),
                            .capture_instance = str_from_c(instance)};
    SimTxn        *txn   = actor_begin(actor);

    assert_sim(sim_cdc_enable_table(txn, &args, &error), &error);
    return actor_commit(txn);
}

UNUSED static int64_t scan_log(World *world)
{
    SimError error = SIM_ERROR_INIT;
    int64_t  rows  = 0;

    assert_sim(sim_cdc_scan_now(world->database, NULL, &rows, &error), &error);
    return rows;
}

UNUSED static SimTable *change_table(World *world, const char *instance)
{
    SimTable *table = sim_database_find_table(world->database, STR("cdc"),
                                              str_printf(world->arena, "%s_CT", instance));
    assert_non_null(table);
    return table;
}

/* The change rows of an instance as "operation:command id:captured values", in their order. */
UNUSED static Str read_changes(World *world, const char *instance)
{
    SimTable                   *table = change_table(world, instance);
    const SimTableInfo         *info  = sim_table_info(table);
    Actor                       reader;
    SimError                    error   = SIM_ERROR_INIT;
    SimScan                    *scan    = NULL;
    Buf                         text    = buf_new(world->arena, 0);
    static const SimScanOptions options = {.isolation = SIM_READ_COMMITTED};

    actor_open(&reader, world, 98);
    SimTxn *txn = actor_begin(&reader);
    assert_sim(sim_scan_open(txn, table, NULL, &options, &scan, &error), &error);
    for (;;) {
        const SimRow *const *rows  = NULL;
        size_t               count = 0;
        assert_sim(sim_scan_next(scan, &rows, &count, &error), &error);
        if (count == 0) break;
        for (size_t i = 0; i < count; i++) {
            SimValue value;
            if (text.len > 0) buf_append_char(&text, ' ');
            sim_row_value(table, rows[i], 3, &value);
            append_value(&text, world->arena, &value);
            buf_append_char(&text, ':');
            sim_row_value(table, rows[i], info->column_count - 1, &value);
            append_value(&text, world->arena, &value);
            for (size_t c = 5; c + 1 < info->column_count; c++) {
                buf_append_char(&text, ':');
                sim_row_value(table, rows[i], c, &value);
                append_value(&text, world->arena, &value);
            }
        }
    }
    sim_scan_close(scan);
    sim_txn_rollback(txn);
    actor_close(&reader);
    return buf_str(&text);
}

#define assert_changes(world, instance, text) \
    assert_str_is(read_changes((world), (instance)), (text))

#endif
