/* Every store call of create, append, rewrite, checkpoint, optimize, vacuum and log cleanup
 * fails once, before and after its
 * effect, alone or as the end of the process: the table opens at the old or the new version,
 * never another, and a rerun finishes (test 6 of delta.md 7). */
#include "support/test_support.h"

#include "delta/maintain.h"
#include "unit/delta/delta_test.h"

#include <errno.h>

typedef struct Scenario {
    const char *name;
    int64_t     versions_before; /* -1: no table */
    /* Opens the table through the context and does its one thing. Running it again must change
     * nothing that it changed already. */
    bool (*run)(World *world, Err *err);
    int64_t row_count_before, row_count_after;
    int64_t new_versions; /* the fewest that a run makes */
    /* More than `versions_before` appends of ten rows; NULL: nothing. */
    void (*prepare)(World *world);
    /* What a finished run leaves besides rows; NULL: nothing. */
    void (*check)(World *world);
    bool drops_versions; /* older ones than the newest */
} Scenario;

static bool run_create(World *world, Err *err)
{
    DeltaTable *table = NULL;
    DeltaCreate spec  = {.schema = test_schema(world->arena), .description = STR_EMPTY};
    bool        ok    = delta_table_create(&world->context, STR("t"), &spec, &table, NULL, err);
    delta_table_close(table);
    return ok;
}

static bool run_append(World *world, Err *err)
{
    DeltaTable  *table  = NULL;
    DeltaTxn     txn    = {STR("app"), 1000};
    DeltaAppend  append = {.rows          = test_rows(world->arena, 1000, 7),
                           .txn           = &txn,
                           .user_metadata = STR("mine"),
                           .purpose       = STR("append")};
    DeltaOutcome outcome;
    bool         ok = delta_table_open(&world->context, STR("t"), &table, err) &&
              delta_table_append(table, &append, &outcome, NULL, err);
    delta_table_close(table);
    return ok;
}

static bool rewrite_odd(World *world, DeltaTable *table, DuckSession *session, DeltaWriter *writer,
                        Err *err)
{
    Str              scan;
    DeltaAdd         add;
    const DeltaFile *removes[32];
    const DeltaFile *file;
    size_t           count = 0;
    DeltaOutcome     outcome;

    if (!delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &scan, err)) return false;
    Str sql = str_printf(world->arena, "SELECT * FROM %.*s WHERE id %% 2 = 1", STR_ARG(scan));
    if (!delta_writer_write_query(writer, session, sql, world->arena, &add, err)) return false;
    if (!delta_writer_publish(writer, &add, 1, err)) return false;
    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        removes[count++] = file;
    DeltaCommit commit = {.operation        = STR("MERGE"),
                          .adds             = &add,
                          .add_count        = 1,
                          .removes          = removes,
                          .remove_count     = count,
                          .read_whole_table = true,
                          .user_metadata    = STR_EMPTY};
    return delta_table_commit(table, &commit, &outcome, NULL, err);
}

static bool run_rewrite(World *world, Err *err)
{
    DeltaTable  *table   = NULL;
    DeltaWriter *writer  = NULL;
    DuckSession *session = NULL;
    bool         ok      = delta_table_open(&world->context, STR("t"), &table, err) &&
              duck_session_open(world->context.duck, &session, err) &&
              delta_writer_open(table, STR("apply"), NULL, &writer, err) &&
              rewrite_odd(world, table, session, writer, err);
    delta_writer_close(writer);
    duck_session_close(session);
    delta_table_close(table);
    return ok;
}

/* The even rows of every file. */
static bool delete_even(World *world, DeltaTable *table, DeltaWriter *writer, Err *err)
{
    DeltaDeletion    deletions[32];
    const DeltaFile *file;
    size_t           count = 0;
    DeltaOutcome     outcome;

    for (size_t at = 0; delta_table_next_file(table, &at, &file); count++) {
        RowSet *rows = ARENA_NEW(world->arena, RowSet);
        *rows        = row_set_begin(world->arena);
        for (uint64_t row = 0; row < (uint64_t)file->row_count; row += 2)
            row_set_add(rows, row, row);
        row_set_end(rows);
        deletions[count] = (DeltaDeletion){.file = file, .rows = rows};
    }
    DeltaCommit commit = {
        .operation = STR("DELETE"), .deletions = deletions, .deletion_count = count};
    return delta_writer_delete_rows(writer, deletions, count, world->arena, err) &&
           delta_writer_publish(writer, NULL, 0, err) &&
           delta_table_commit(table, &commit, &outcome, NULL, err);
}

static bool run_delete(World *world, Err *err)
{
    DeltaTable  *table  = NULL;
    DeltaWriter *writer = NULL;
    bool         ok     = delta_table_open(&world->context, STR("t"), &table, err) &&
              delta_writer_open(table, STR("apply"), NULL, &writer, err) &&
              delete_even(world, table, writer, err);
    delta_writer_close(writer);
    delta_table_close(table);
    return ok;
}

static bool run_checkpoint(World *world, Err *err)
{
    DeltaTable *table = NULL;
    bool        ok    = delta_table_open(&world->context, STR("t"), &table, err) &&
              delta_table_checkpoint(table, err);
    delta_table_close(table);
    return ok;
}

static void check_checkpoint(World *world)
{
    assert_true(
        file_exists(world, log_path(world, "t", "00000000000000000004.checkpoint.parquet")));
}

static bool run_optimize(World *world, Err *err)
{
    DeltaTable    *table   = NULL;
    DeltaOptimize  options = {.purpose = STR("optimize")};
    DeltaOptimized result;
    bool           ok = delta_table_open(&world->context, STR("t"), &table, err) &&
              delta_table_optimize(table, &options, &result, err);
    delta_table_close(table);
    return ok;
}

static void check_optimized(World *world)
{
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(delta_table_get_file_count(table), 1);
    delta_table_close(table);
}

/* Files of no version, some of them in a folder. */
static void put_garbage(World *world)
{
    const char *const names[] = {"t/a.parquet", "t/b.parquet", "t/deletion_vector_x.bin"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        put_text(world, names[i], "garbage");
}

static bool run_vacuum(World *world, Err *err)
{
    const int64_t day_us  = INT64_C(86400) * 1000000;
    DeltaTable   *table   = NULL;
    DeltaVacuum   options = {.retention_us = DELTA_TABLE_RETENTION};
    DeltaVacuumed result;
    int64_t       now = world->clock.us;

    world->clock.us = TEST_UTC_US + 8 * day_us;
    bool ok         = delta_table_open(&world->context, STR("t"), &table, err) &&
              delta_table_vacuum(table, &options, world->arena, &result, err);
    world->clock.us = now;
    delta_table_close(table);
    return ok;
}

static void check_vacuumed(World *world)
{
    assert_int_equal(count_files(world, "t"), 3);
}

/* A checkpoint at the newest version, so that everything before it may go. */
static void put_checkpoint(World *world)
{
    DeltaTable *table = open_table(world, "t");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    delta_table_close(table);
}

static bool run_clean_log(World *world, Err *err)
{
    const int64_t day_us = INT64_C(86400) * 1000000;
    DeltaTable   *table  = NULL;
    int64_t       now    = world->clock.us, removed;

    world->clock.us = TEST_UTC_US + 40 * day_us;
    bool ok         = delta_table_open(&world->context, STR("t"), &table, err) &&
              delta_table_clean_log(table, &removed, err);
    world->clock.us = now;
    delta_table_close(table);
    return ok;
}

static void check_cleaned(World *world)
{
    assert_int_equal(count_files(world, "t/_delta_log"), 3); /* commit, checkpoint, hint */
}

static const Scenario scenarios[] = {
    {"create", -1, run_create, 0, 0, 1, NULL, NULL, false},
    {"append", 3, run_append, 30, 37, 1, NULL, NULL, false},
    {"append with a checkpoint", 9, run_append, 90, 97, 1, NULL, NULL, false}, /* the tenth */
    {"rewrite", 3, run_rewrite, 30, 15, 1, NULL, NULL, false},
    {"rewrite with a checkpoint", 9, run_rewrite, 90, 45, 1, NULL, NULL, false},
    {"checkpoint", 4, run_checkpoint, 40, 40, 0, NULL, check_checkpoint, false},
    {"optimize", 4, run_optimize, 40, 40, 1, NULL, check_optimized, false},
    {"vacuum", 3, run_vacuum, 30, 30, 0, put_garbage, check_vacuumed, false},
    {"log cleanup", 6, run_clean_log, 60, 60, 0, put_checkpoint, check_cleaned, true},
    {"delete by vector", 3, run_delete, 30, 15, 1, NULL, NULL, false},
};

static World *base_world(void **state, const Scenario *scenario)
{
    World *world = world_new(state);
    if (scenario->versions_before < 0) return world;
    DeltaTable *table = scenario->run == run_delete ? create_vector_table(world, "t")
                                                    : create_table(world, "t");
    for (int64_t i = 1; i <= scenario->versions_before; i++)
        append_rows(world, table, i * 10, 10);
    delta_table_close(table);
    if (scenario->prepare) scenario->prepare(world);
    return world;
}

static void copy_folder(World *from, World *to, const char *folder)
{
    StoreList list;
    assert_ok(
        store_list_after(from->store, str_from_c(folder), STR_EMPTY, to->arena, &list, &to->err),
        &to->err);
    for (size_t i = 0; i < list.count; i++) {
        Str   path = store_join(to->arena, str_from_c(folder), list.entries[i].name);
        Bytes data;
        assert_ok(store_read(from->store, path, 1 << 28, to->arena, &data, &to->err), &to->err);
        assert_ok(store_put_new(to->store, path, data, &to->err), &to->err);
    }
}

static World *world_copy(void **state, World *base)
{
    World *world = world_new(state);
    rng_close(world->context.rng);
    world->context.rng = rng_new(2); /* file names of its own */
    copy_folder(base, world, "t");
    copy_folder(base, world, "t/_delta_log");
    return world;
}

/* Every version opens, and its files are there. */
static void assert_versions_whole(World *world, const Scenario *scenario, int64_t last)
{
    for (int64_t version = 0; version <= last; version++) {
        DeltaTable *table = NULL;
        Str         sql;
        bool ok = delta_table_open_version(&world->context, STR("t"), version, &table, &world->err);
        if (!ok && scenario->drops_versions && version < last) {
            assert_err(&world->err, ERR_NOT_FOUND, "DELTA-L03");
            err_clear(&world->err);
            continue;
        }
        assert_ok(ok, &world->err);
        assert_ok(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &sql, &world->err),
                  &world->err);
        delta_table_close(table);
    }
}

/* What a reader sees: an old or the new version, each complete. */
static void assert_old_or_new(World *world, const Scenario *scenario, const char *when)
{
    DeltaTable *table = NULL;
    bool        ok    = delta_table_open(&world->context, STR("t"), &table, &world->err);
    if (!ok && scenario->versions_before < 0) {
        assert_err(&world->err, ERR_NOT_FOUND, "DELTA-L01");
        err_clear(&world->err);
        return;
    }
    assert_ok(ok, &world->err);
    int64_t version = delta_table_get_version(table);
    int64_t rows    = count_rows(world, table);
    int64_t last    = scenario->versions_before + scenario->new_versions;
    bool    is_old  = version == scenario->versions_before && rows == scenario->row_count_before;
    bool    is_new  = version >= last &&
                  rows == scenario->row_count_after; /* a rewrite that runs again makes one more */
    if (!is_old && !is_new)
        fail_msg("%s, %s: version %lld with %lld rows", scenario->name, when, (long long)version,
                 (long long)rows);
    delta_table_close(table);
    assert_versions_whole(world, scenario, version);
}

/* The rows that the log announces; that they are there was looked at before. */
static void assert_finished(World *world, const Scenario *scenario)
{
    DeltaTable      *table = open_table(world, "t");
    const DeltaFile *file;
    int64_t          rows = 0;
    Str              sql;

    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        rows += delta_file_count_rows(file);
    assert_int_equal(rows, scenario->row_count_after);
    assert_ok(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &sql, &world->err),
              &world->err);
    delta_table_close(table);
    if (scenario->check) scenario->check(world);
}

static uint64_t count_steps(void **state, World *base, const Scenario *scenario, bool count_reads)
{
    World    *world      = world_copy(state, base);
    FaultPlan plan       = {.count_reads = count_reads, .only_path_containing = STR_EMPTY};
    world->context.store = store_fault_new(world->store, &plan);
    assert_ok(scenario->run(world, &world->err), &world->err);
    store_close(world->context.store);
    world_close(world);
    return plan.step_count;
}

/* Returns whether the call itself said that it succeeded. */
static bool fail_once(void **state, World *base, const Scenario *scenario, FaultPlan plan)
{
    World *world = world_copy(state, base);
    Err    err   = ERR_INIT;
    char   when[100];
    world->context.store = store_fault_new(world->store, &plan);
    bool ok              = scenario->run(world, &err);
    (void)snprintf(when, sizeof when, "step %llu %s, %s", (unsigned long long)plan.fail_at_step,
                   plan.after_effect ? "after" : "before", plan.crash ? "crash" : "one failure");
    if (!ok && err.message[0] == '\0') fail_msg("%s, %s: no message", scenario->name, when);
    store_close(world->context.store);
    world->context.store = world->store;
    assert_old_or_new(world, scenario, when);
    if (ok && !plan.crash) assert_finished(world, scenario);
    assert_ok(scenario->run(world, &world->err), &world->err);
    assert_finished(world, scenario);
    world_close(world);
    return ok;
}

static void check_scenario(void **state, const Scenario *scenario)
{
    World *base = base_world(state, scenario);
    for (int reads = 0; reads <= 1; reads++) {
        uint64_t steps = count_steps(state, base, scenario, reads);
        assert_true(steps > 0);
        for (uint64_t step = 1; step <= steps; step++)
            for (int after = 0; after <= (reads ? 0 : 1); after++)
                for (int crash = 0; crash <= (reads ? 0 : 1);
                     crash++) /* a crash at a read is one before the next step */
                    (void)fail_once(state, base, scenario,
                                    (FaultPlan){.fail_at_step         = step,
                                                .after_effect         = after,
                                                .crash                = crash,
                                                .count_reads          = reads,
                                                .only_path_containing = STR_EMPTY});
    }
    world_close(base);
}

static void create_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[0]);
}
static void append_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[1]);
}
static void append_at_a_checkpoint_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[2]);
}
static void rewrite_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[3]);
}
static void rewrite_at_a_checkpoint_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[4]);
}
static void checkpoint_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[5]);
}
static void optimize_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[6]);
}
static void vacuum_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[7]);
}

static void log_cleanup_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[8]);
}

static void deleting_rows_survives_a_failure_of_every_step(void **state)
{
    check_scenario(state, &scenarios[9]);
}

/* ENOSPC and EROFS from one step on: a clear message, nothing half-written, and the next run
 * works. */
static void a_full_or_read_only_disk_leaves_the_table_as_it_was(void **state)
{
    const int errors[] = {ENOSPC, EROFS};
    for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
        World   *base  = base_world(state, &scenarios[i]);
        uint64_t steps = count_steps(state, base, &scenarios[i], false);
        for (uint64_t step = 1; step <= steps * COUNT_OF(errors); step++)
            (void)fail_once(state, base, &scenarios[i],
                            (FaultPlan){.fail_at_step         = (step + 1) / COUNT_OF(errors),
                                        .crash                = true,
                                        .error_errno          = errors[step % COUNT_OF(errors)],
                                        .only_path_containing = STR_EMPTY});
        world_close(base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_survives_a_failure_of_every_step),
        cmocka_unit_test(append_survives_a_failure_of_every_step),
        cmocka_unit_test(append_at_a_checkpoint_survives_a_failure_of_every_step),
        cmocka_unit_test(rewrite_survives_a_failure_of_every_step),
        cmocka_unit_test(rewrite_at_a_checkpoint_survives_a_failure_of_every_step),
        cmocka_unit_test(checkpoint_survives_a_failure_of_every_step),
        cmocka_unit_test(optimize_survives_a_failure_of_every_step),
        cmocka_unit_test(vacuum_survives_a_failure_of_every_step),
        cmocka_unit_test(log_cleanup_survives_a_failure_of_every_step),
        cmocka_unit_test(deleting_rows_survives_a_failure_of_every_step),
        cmocka_unit_test(a_full_or_read_only_disk_leaves_the_table_as_it_was),
    };
    return RUN_DELTA_TESTS(tests);
}
