/* Appends, deletions by vector, optimize, checkpoints, log cleanup and vacuum in any order, while
 * days go by: the newest version always has the rows that a plain set has; a version that was the
 * newest within the retention is whole; an older one has its rows or says that it is gone. */
#include "support/test_support.h"

#include "delta/maintain.h"
#include "unit/delta/delta_test.h"

#define DAY_US   (INT64_C(86400) * 1000000)
#define STEPS    24
#define IDS_MOST 2000
#define KEPT_US  (7 * DAY_US) /* what vacuum promises; the log is kept longer */
#define VERSIONS 300

typedef struct Model {
    bool    is_live[IDS_MOST];
    int64_t next_id;
    /* per version the rows it had, and when it stopped to be the newest (0: it is) */
    int64_t hash[VERSIONS], replaced_us[VERSIONS];
    int64_t version; /* noted so far */
} Model;

#define LOOK "SELECT CAST(count(*) * 1000003 + coalesce(sum(id * id), 0) AS BIGINT) FROM %s"

static int64_t expected(const Model *model)
{
    int64_t count = 0, sum = 0;
    for (int64_t id = 0; id < model->next_id; id++)
        if (model->is_live[id]) {
            count++;
            sum += id * id;
        }
    return count * 1000003 + sum;
}

/* Whatever versions came since the last note have the rows of now: only the last one may differ
 * from those before it, and it comes alone. */
static void note_versions(World *world, Model *model, const DeltaTable *table)
{
    int64_t newest = delta_table_get_version(table);
    assert_true(newest < VERSIONS);
    for (; model->version < newest; model->version++) {
        if (model->version >= 0) model->replaced_us[model->version] = world->clock.us;
        model->hash[model->version + 1] = expected(model);
    }
}

static void append(World *world, Model *model, DeltaTable *table, Rng *rng)
{
    int64_t count = 1 + (int64_t)rng_below(rng, 30);
    append_rows(world, table, model->next_id, count);
    for (int64_t i = 0; i < count; i++)
        model->is_live[model->next_id++] = true;
}

/* Some rows of the first file that has any; ids are found by place. */
static void delete_some(World *world, Model *model, DeltaTable *table, Rng *rng)
{
    const DeltaFile *file;
    DeltaWriter     *writer  = NULL;
    DuckSession     *session = NULL;
    RowStream       *rows    = NULL;
    RowBlock         block;
    DeltaOutcome     outcome;
    Str              scan;
    size_t           at    = 0;
    RowSet           set   = row_set_begin(world->arena);
    size_t           count = 0;

    for (size_t skip = rng_below(rng, 3) + 1; skip > 0; skip--)
        if (!delta_table_next_file(table, &at, &file)) return;
    assert_ok(delta_scan_sql(table, &file, 1, NULL, true, world->arena, &scan, &world->err),
              &world->err);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    Str sql = str_printf(world->arena, "SELECT id, \"__$row\" FROM %.*s ORDER BY \"__$row\"",
                         STR_ARG(scan));
    assert_ok(duck_query(session, sql, world->arena, &rows, &world->err), &world->err);
    while (row_stream_next(rows, &block, &world->err) && block.row_count > 0)
        for (size_t i = 0; i < block.row_count; i++) {
            uint64_t place = (uint64_t)column_i64(&block.columns[1], i);
            if (rng_below(rng, 3) > 0) continue;
            row_set_add(&set, place, place);
            model->is_live[column_i64(&block.columns[0], i)] = false;
            count++;
        }
    row_stream_close(rows);
    duck_session_close(session);
    row_set_end(&set);
    if (count == 0) return;
    DeltaDeletion deletion = {.file = file, .rows = &set};
    DeltaCommit commit = {.operation = STR("DELETE"), .deletions = &deletion, .deletion_count = 1};
    assert_ok(delta_writer_open(table, STR("delete"), NULL, &writer, &world->err), &world->err);
    assert_ok(delta_writer_delete_rows(writer, &deletion, 1, world->arena, &world->err),
              &world->err);
    assert_ok(delta_writer_publish(writer, NULL, 0, &world->err), &world->err);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
}

static void optimize(World *world, DeltaTable *table, Rng *rng)
{
    const Str      by[]    = {STR("name")};
    DeltaOptimize  options = {.target_bytes = rng_below(rng, 2) ? 4000 : 0,
                              .sort_columns = by,
                              .sort_count   = rng_below(rng, 3) == 0,
                              .purpose      = STR("optimize")};
    DeltaOptimized out;
    assert_ok(delta_table_optimize(table, &options, &out, &world->err), &world->err);
}

static void vacuum(World *world, DeltaTable *table)
{
    DeltaVacuum   options = {.retention_us = DELTA_TABLE_RETENTION};
    DeltaVacuumed out;
    assert_ok(delta_table_vacuum(table, &options, world->arena, &out, &world->err), &world->err);
}

/* Files of a writer that died between publishing and its commit. */
static void leave_garbage(World *world, Rng *rng)
{
    put_text(world,
             str_printf(world->arena, "t/part-%llu.parquet", (unsigned long long)rng_u64(rng)).ptr,
             "garbage");
}

static void check_version(World *world, const Model *model, int64_t version)
{
    DeltaTable *table   = NULL;
    Err         err     = ERR_INIT;
    Str         scan    = STR_EMPTY;
    bool        is_kept = model->replaced_us[version] == 0 ||
                   world->clock.us - model->replaced_us[version] < KEPT_US;
    bool ok = delta_table_open_version(&world->context, STR("t"), version, &table, &err) &&
              delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &scan, &err);

    if (ok)
        assert_int_equal(query_table(world, table, LOOK), model->hash[version]);
    else if (is_kept || (err.code != ERR_NOT_FOUND && err.code != ERR_DAMAGED) ||
             (!strstr(err.message, "DELTA-L03") && !strstr(err.message, "DELTA-L08")))
        fail_msg("version %lld: %s", (long long)version, err.message);
    delta_table_close(table);
}

static void step(World *world, Model *model, DeltaTable *table, Rng *rng)
{
    int64_t removed;

    switch (rng_below(rng, 10)) {
    case 0:
    case 1:
    case 2: append(world, model, table, rng); break;
    case 3:
    case 4: delete_some(world, model, table, rng); break;
    case 5: optimize(world, table, rng); break;
    case 6: vacuum(world, table); break;
    case 7: assert_ok(delta_table_checkpoint(table, &world->err), &world->err); break;
    case 8: assert_ok(delta_table_clean_log(table, &removed, &world->err), &world->err); break;
    default: leave_garbage(world, rng); break;
    }
    note_versions(world, model, table);
    world->clock.us += (int64_t)rng_below(rng, 5) * DAY_US + (int64_t)rng_below(rng, 100000000);
}

static DeltaTable *create_vectors(World *world)
{
    DeltaTable   *table    = NULL;
    DeltaProperty property = {STR("delta.enableDeletionVectors"), STR("true")};
    DeltaCreate   spec     = {.schema         = test_schema(world->arena),
                              .description    = STR_EMPTY,
                              .properties     = &property,
                              .property_count = 1};
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    return table;
}

static void every_version_within_the_retention_keeps_its_rows(void **state)
{
    FOR_EACH_SEED (seed, 10) {
        World *world         = world_of(*state, seed);
        Rng   *rng           = rng_new(seed + 1000);
        Model *model         = mem_alloc(sizeof *model);
        world->store         = store_memory_new(&world->clock.base, NULL);
        world->context.store = world->store;
        DeltaTable *table    = create_vectors(world);
        model->version       = -1;
        note_versions(world, model, table);
        for (int i = 0; i < STEPS; i++) {
            step(world, model, table, rng);
            assert_int_equal(query_table(world, table, LOOK), expected(model));
            check_version(world, model, (int64_t)rng_below(rng, (uint64_t)model->version + 1));
        }
        for (int64_t version = 0; version <= model->version; version++)
            check_version(world, model, version);
        assert_int_equal(world->lines.warning_count, 0);
        delta_table_close(table);
        mem_free(model);
        rng_close(rng);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(every_version_within_the_retention_keeps_its_rows),
    };
    return RUN_DELTA_TESTS(tests);
}
