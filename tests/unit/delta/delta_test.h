/* delta_test.h - a table, and all it stands on, for the tests of delta/. Include test_support.h
 * first.
 *
 * The clock stands still but for sleeping, so the same test gives the same log. */
#ifndef TIDELAKE_DELTA_TEST_H
#define TIDELAKE_DELTA_TEST_H

#include "delta/delta_internal.h"

#define TEST_UTC_US INT64_C(1767225600123456) /* 2026-01-01T00:00:00.123456Z */

typedef struct TestClock {
    Clock   base;
    int64_t us;
    int64_t slept_ns; /* in all */
} TestClock;

UNUSED static int64_t test_clock_utc_us(Clock *clock)
{
    return ((TestClock *)clock)->us;
}

UNUSED static int64_t test_clock_monotonic_ns(Clock *clock)
{
    return ((TestClock *)clock)->us * 1000;
}

UNUSED static void test_clock_sleep_until(Clock *clock, int64_t monotonic_ns, Cancel *cancel)
{
    TestClock *test = (TestClock *)clock;
    (void)cancel;
    if (monotonic_ns <= test->us * 1000) return;
    test->slept_ns += monotonic_ns - test->us * 1000;
    test->us = (monotonic_ns + 999) / 1000;
}

UNUSED static void test_clock_close(Clock *clock)
{
    (void)clock;
}

/* The lines of the log that were warnings or worse, counted. */
typedef struct TestLog {
    int  warning_count;
    char last[1024];
} TestLog;

UNUSED static void test_log_sink(void *arg, LogLevel level, Str line)
{
    TestLog *log = arg;
    if (level > LOG_WARN) return;
    log->warning_count++;
    (void)snprintf(log->last, sizeof log->last, "%.*s", STR_ARG(line));
}

typedef struct World {
    Arena       *arena;
    TestClock    clock;
    TestLog      lines;
    Store       *store;  /* what the context uses */
    Store       *inner;  /* behind faults, or NULL */
    const char  *folder; /* of a local store, or NULL */
    DeltaContext context;
    Err          err;
} World;

/* libduckdb takes a moment to open: one for the program. */
UNUSED static int duck_setup(void **state)
{
    Err         err     = ERR_INIT;
    Duck       *duck    = NULL;
    DuckOptions options = {
        .memory_limit_bytes = INT64_C(1) << 30, .threads = 2, .temp_directory = STR("/tmp")};
    if (!duck_open(&options, &duck, &err)) return -1;
    *state = duck;
    return 0;
}

UNUSED static int duck_teardown(void **state)
{
    duck_close(*state);
    return 0;
}

#define RUN_DELTA_TESTS(tests) cmocka_run_group_tests(tests, duck_setup, duck_teardown)

UNUSED static World *world_of(Duck *duck, uint64_t seed)
{
    Arena *arena = arena_new();
    World *world = ARENA_NEW(arena, World);

    world->arena       = arena;
    world->err         = ERR_INIT;
    world->clock       = (TestClock){.base = {.utc_us       = test_clock_utc_us,
                                              .monotonic_ns = test_clock_monotonic_ns,
                                              .sleep_until  = test_clock_sleep_until,
                                              .close        = test_clock_close},
                                     .us   = TEST_UTC_US};
    world->context     = (DeltaContext){.clock       = &world->clock.base,
                                        .rng         = rng_new(seed),
                                        .duck        = duck,
                                        .engine_info = STR("tidelake/test"),
                                        .compression = DUCK_ZSTD};
    world->context.log = log_new(&world->clock.base, LOG_WARN, LOG_FORMAT_TEXT, test_log_sink,
                                 &world->lines);
    return world;
}

/* In memory. */
UNUSED static World *world_new(void **state)
{
    World *world         = world_of(*state, 1);
    world->store         = store_memory_new(&world->clock.base, NULL);
    world->context.store = world->store;
    return world;
}

/* On disk, in a folder that goes with the world. */
UNUSED static World *world_new_local(void **state)
{
    World *world         = world_of(*state, 1);
    world->folder        = test_dir_new(world->arena);
    world->store         = store_local_new(str_from_c(world->folder));
    world->context.store = world->store;
    return world;
}

UNUSED static void world_close(World *world)
{
    if (world->inner) store_close(world->inner);
    store_close(world->store);
    log_close(world->context.log);
    rng_close(world->context.rng);
    test_dir_remove(world->folder);
    arena_close(world->arena);
}

static void close_faulty(void *store)
{
    store_close(store);
}

/* The world's calls go through the plan until its context gets another store. A table may keep a staging of this one,
 * so it lives as long as the world. */
UNUSED static void world_use_plan(World *world, FaultPlan *plan)
{
    world->context.store = store_fault_new(world->store, plan);
    arena_at_end(world->arena, close_faulty, world->context.store);
}

/* --- files --- */

UNUSED static void put_text(World *world, const char *path, const char *text)
{
    assert_ok(
        store_put_new(world->store, str_from_c(path), str_bytes(str_from_c(text)), &world->err),
        &world->err);
}

UNUSED static Str read_text(World *world, const char *path)
{
    Bytes bytes;
    assert_ok(
        store_read(world->store, str_from_c(path), 1 << 28, world->arena, &bytes, &world->err),
        &world->err);
    return bytes_str(bytes);
}

UNUSED static bool file_exists(World *world, const char *path)
{
    StoreEntry entry;
    Err        err = ERR_INIT;
    return store_stat(world->store, str_from_c(path), &entry, &err);
}

UNUSED static const char *log_path(World *world, const char *table, const char *name)
{
    return str_printf(world->arena, "%s/_delta_log/%s", table, name).ptr;
}

UNUSED static const char *commit_path(World *world, const char *table, int64_t version)
{
    return log_path(world, table, log_name_commit(world->arena, version).ptr);
}

/* A commit of one line or more, as another writer might have made it. */
UNUSED static void put_commit(World *world, const char *table, int64_t version, const char *lines)
{
    put_text(world, commit_path(world, table, version), lines);
}

UNUSED static void put_commit_str(World *world, const char *table, int64_t version, Str lines)
{
    assert_ok(store_put_new(world->store, str_from_c(commit_path(world, table, version)),
                            str_bytes(lines), &world->err),
              &world->err);
}

UNUSED static size_t count_files(World *world, const char *directory)
{
    StoreList list;
    assert_ok(store_list_after(world->store, str_from_c(directory), STR_EMPTY, world->arena, &list,
                               &world->err),
              &world->err);
    return list.count;
}

/* --- a small table --- */

#define TEST_COLUMNS 3

UNUSED static Schema test_schema(Arena *arena)
{
    Column *columns = ARENA_ARRAY(arena, Column, TEST_COLUMNS);
    columns[0]      = (Column){STR("id"), COLUMN_TYPE(TYPE_LONG), STR("the key")};
    columns[1]      = (Column){STR("name"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY};
    columns[2]      = (Column){STR("at"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY};
    return (Schema){.columns = columns, .column_count = TEST_COLUMNS};
}

UNUSED static DeltaTable *create_table(World *world, const char *path)
{
    DeltaTable   *table    = NULL;
    bool          created  = false;
    DeltaProperty property = {STR("mssql_cdc.schema_version"), STR("1")};
    DeltaCreate   spec     = {.schema         = test_schema(world->arena),
                              .description    = STR("a test"),
                              .properties     = &property,
                              .property_count = 1};
    assert_ok(
        delta_table_create(&world->context, str_from_c(path), &spec, &table, &created, &world->err),
        &world->err);
    assert_true(created);
    return table;
}

/* The same columns; rows of it may be deleted by vector. */
UNUSED static DeltaTable *create_vector_table(World *world, const char *path)
{
    DeltaTable   *table    = NULL;
    DeltaProperty property = {STR("delta.enableDeletionVectors"), STR("true")};
    DeltaCreate   spec     = {
              .schema = test_schema(world->arena), .properties = &property, .property_count = 1};
    assert_ok(
        delta_table_create(&world->context, str_from_c(path), &spec, &table, NULL, &world->err),
        &world->err);
    assert_true(delta_table_takes_vectors(table));
    return table;
}

UNUSED static DeltaTable *open_table(World *world, const char *path)
{
    DeltaTable *table = NULL;
    assert_ok(delta_table_open(&world->context, str_from_c(path), &table, &world->err),
              &world->err);
    return table;
}

/* Rows with ids from `from` on. */
UNUSED static RowStream *test_rows(Arena *arena, int64_t from, int64_t count)
{
    Schema *schema      = ARENA_NEW(arena, Schema);
    *schema             = test_schema(arena);
    RowBuilder *builder = row_builder_new(arena, schema);
    RowBlock   *block   = ARENA_NEW(arena, RowBlock);

    for (int64_t id = from; id < from + count; id++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, id);
        row_builder_set_str(builder, 1, str_printf(arena, "name %lld", (long long)id));
        row_builder_set_i64(builder, 2, TEST_UTC_US + id * 1000000);
    }
    *block = row_builder_block(builder);
    return row_stream_of_block(arena, schema, block);
}

UNUSED static bool try_append(World *world, DeltaTable *table, int64_t from, int64_t count,
                              const DeltaTxn *txn, DeltaOutcome *out)
{
    Arena      *arena  = arena_new();
    DeltaAppend append = {.rows          = test_rows(arena, from, count),
                          .txn           = txn,
                          .purpose       = STR("test"),
                          .user_metadata = STR_EMPTY};
    bool        ok     = delta_table_append(table, &append, out, NULL, &world->err);
    arena_close(arena);
    return ok;
}

UNUSED static void append_rows(World *world, DeltaTable *table, int64_t from, int64_t count)
{
    DeltaOutcome outcome;
    assert_ok(try_append(world, table, from, count, NULL, &outcome), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
}

/* A number that a query over the table's rows gives; `%s` in the format stands for the scan. */
UNUSED static int64_t query_table(World *world, DeltaTable *table, const char *format)
{
    Arena       *arena   = arena_new();
    DuckSession *session = NULL;
    Str          scan;
    int64_t      number = 0;
    const char  *at     = strstr(format, "%s");

    assert_ok(delta_scan_sql(table, NULL, 0, NULL, true, arena, &scan, &world->err), &world->err);
    Str sql = str_printf(arena, "%.*s%.*s%s", (int)(at - format), format, STR_ARG(scan), at + 2);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(duck_query_i64(session, sql, &number, NULL, &world->err), &world->err);
    duck_session_close(session);
    arena_close(arena);
    return number;
}

UNUSED static int64_t count_rows(World *world, DeltaTable *table)
{
    return query_table(world, table, "SELECT count(*) FROM %s");
}

#endif
