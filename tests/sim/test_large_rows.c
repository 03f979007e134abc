/* Rows with data files of their own (decision 0021): a death at every step of whatever writes them, or what they are
 * read for. Nothing is lost, nothing is there twice, and no file stays. */
#include "support/test_support.h"

#include "support/backfill.h"
#include "support/story.h"

#include "delta/maintain.h"
#include "engine/compact.h"
#include "engine/seed.h"

#define LEAST_BYTES 1000
#define COLUMNS     "id int NOT NULL PRIMARY KEY, note varchar(8000) NULL"
#define COPY        "copies/orders"

/* A long text for every third id, which tells which id it is; in T-SQL and for libduckdb. */
#define NOTE_OF(id)                                                                               \
    "CASE WHEN " id " %% 3 = 0 THEN REPLICATE(CONVERT(varchar(9), " id ") + ',', 1200) ELSE 'n' " \
    "END"
#define IS_NOTE_OF_ID "note = CASE WHEN id %% 3 = 0 THEN repeat(id || ',', 1200) ELSE 'n' END"

typedef struct Large {
    Story           story;
    StreamOptions   stream;
    BackfillOptions backfill;
    ApplyOptions    apply;
    bool            is_chunked, is_applied;
    bool            is_compacted; /* files hold more than one large row */
    Lsn             start;
} Large;

static void insert(World *world, int from, int to)
{
    world_commit(world,
                 "INSERT INTO dbo.orders SELECT value, " NOTE_OF("value") " FROM "
                                                                          "GENERATE_SERIES(%d, %d)",
                 from, to);
}

/* Rows 0 to 8; 0, 3 and 6 are large. */
static Large *open_large(void **state)
{
    World *world = world_open(state, 1);
    Large *all   = ARENA_NEW(world_arena(world), Large);

    world_set_large_rows(world, LEAST_BYTES);
    world_create(world, "orders", COLUMNS);
    *all = (Large){.story    = {.world = world},
                   .stream   = shop_bootstrap(),
                   .backfill = shop_backfill(2, 2),
                   .apply    = shop_apply()};
    insert(world, 0, 8);
    all->start = world_max_lsn(world);
    return all;
}

/* Both images of what was large and is again, one that goes, two that come, one that becomes small by a new key. */
static void change(World *world)
{
    world_commit(world, "UPDATE dbo.orders SET id = 12, note = " NOTE_OF("12") " WHERE id = 3");
    world_commit(world, "DELETE FROM dbo.orders WHERE id IN (1, 6)");
    world_commit(world, "UPDATE dbo.orders SET id = 13, note = 'n' WHERE id = 0");
    insert(world, 14, 18);
}

static Story *open_snapshot(void **state)
{
    Large *all = open_large(state);

    all->stream.source.num_partitions = 2;
    return &all->story;
}

static Story *open_batch(void **state)
{
    Large *all = open_large(state);

    (void)world_stream(all->story.world, &all->stream);
    change(all->story.world);
    return &all->story;
}

static Story *open_merge(void **state)
{
    Large *all = open_large(state);

    all->is_applied = true;
    (void)world_stream(all->story.world, &all->stream);
    (void)world_apply(all->story.world, &all->apply);
    change(all->story.world);
    (void)world_stream(all->story.world, &all->stream);
    return &all->story;
}

/* The same, in which files of silver are written anew. */
static Story *open_rewrite(void **state)
{
    Large *all = (Large *)open_merge(state);

    all->apply.deletion_vectors = false;
    return &all->story;
}

static Story *open_wave(void **state)
{
    Large *all = open_large(state);

    all->is_chunked = all->is_applied = true;
    all->stream                       = shop_chunked();
    (void)world_stream(all->story.world, &all->stream);
    change(all->story.world);
    return &all->story;
}

static void write_copy(World *world)
{
    static const Column columns[] = {{.name = {"id", 2}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"note", 4}, .type = {.kind = TYPE_STRING}}};
    Arena              *arena     = world_arena(world);
    Schema              schema    = {columns, COUNT_OF(columns)};
    RowBuilder         *rows      = row_builder_new(arena, &schema);
    DeltaCreate         spec      = {.schema = schema, .description = STR_EMPTY};
    DeltaAppend         append    = {.purpose = STR("test")};
    DeltaTable         *table     = NULL;
    DeltaOutcome        outcome;
    Err                 err = ERR_INIT;

    for (int id = 0; id < 9; id++) {
        Buf note = buf_new(arena, 0);
        for (int i = 0; i < (id % 3 ? 0 : 1200); i++)
            buf_printf(&note, "%d,", id);
        row_builder_begin(rows);
        row_builder_set_i64(rows, 0, id);
        row_builder_set_str(rows, 1, id % 3 ? STR("n") : buf_str(&note));
        if (id != 4 && id != 8)
            continue; /* a file ends; in neither order does a large row end each */
        RowBlock block = row_builder_block(rows);
        append.rows    = row_stream_of_block(arena, &schema, &block);
        if (id == 4)
            assert_ok(delta_table_create(world_delta(world), STR(COPY), &spec, &table, NULL, &err),
                      &err);
        assert_ok(delta_table_append(table, &append, &outcome, NULL, &err), &err);
        rows = row_builder_new(arena, &schema);
    }
    delta_table_close(table);
}

static Story *open_seed(void **state)
{
    Large *all = open_large(state);

    all->is_compacted = true; /* the copy's rows come in libduckdb's blocks */
    write_copy(all->story.world);
    return &all->story;
}

static Story *open_compaction(void **state)
{
    Large *all = (Large *)open_batch(state);

    all->is_compacted = true;
    (void)world_stream(all->story.world, &all->stream);
    return &all->story;
}

/* --- what is told --- */

static bool tell_stream(Story *story, size_t part, Process *process)
{
    (void)part;
    return process_stream(process, &((Large *)story)->stream);
}

static bool tell_backfill(Story *story, size_t part, Process *process)
{
    BackfillResult result;

    (void)part;
    return process_backfill(process, &((Large *)story)->backfill, &result);
}

static bool tell_apply(Story *story, size_t part, Process *process)
{
    (void)part;
    return process_apply(process, &((Large *)story)->apply);
}

static bool tell_seed(Story *story, size_t part, Process *process)
{
    Large         *all  = (Large *)story;
    SeedOptions    seed = {.from = STR(COPY), .as_of_lsn = all->start};
    SnapshotResult result;

    (void)part;
    process->err = ERR_INIT;
    process->ok  = seed_run(&process->env, &all->stream, &seed, &result, &process->err);
    return process->ok;
}

static bool tell_optimize(Story *story, size_t part, Process *process)
{
    DeltaOptimize  options = {.purpose = STR("compact")};
    DeltaOptimized done;
    DeltaTable    *table = NULL;

    (void)story, (void)part;
    process->err = ERR_INIT;
    process->ok  = delta_table_open(&process->delta, STR(BRONZE), &table, &process->err) &&
                  delta_table_optimize(table, &options, &done, &process->err);
    delta_table_close(table);
    return process->ok;
}

/* The compaction that runs next to a stream, in its process: while batches come and once they are in. */
static bool tell_beside(Story *story, size_t part, Process *process)
{
    static const CompactTable tables[]  = {{{BRONZE, sizeof BRONZE - 1}, 1}};
    Large                    *all       = (Large *)story;
    StreamOptions             stream    = all->stream;
    Compactor                *compactor = compactor_start(&process->env, tables, 1);

    (void)part;
    all->is_compacted            = true;
    stream.max_commits_per_batch = 1;
    bool ok                      = process_stream(process, &stream);
    compactor_stop(compactor, ok);
    return ok;
}

/* --- what must hold --- */

/* Files of bronze that hold one row, a large one. */
static int64_t count_large_files(World *world)
{
    DeltaTable      *table = NULL;
    Err              err   = ERR_INIT;
    const DeltaFile *file;
    int64_t          count = 0;

    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    for (size_t at = 0; delta_table_next_file(table, &at, &file);) {
        DeltaBounds bounds;

        if (!delta_file_find_bounds(table, file, STR("note"), world_arena(world), &bounds))
            continue;
        assert_true(bounds.min.len <= 40); /* a log does not hold such values */
        assert_true(bounds.max.len <= 40);
        count += file->row_count == 1 && bounds.min.len > 1;
    }
    delta_table_close(table);
    return count;
}

/* After a vacuum nothing is there but what the table names: no file of a run that died, nor its folder. */
static void assert_nothing_is_left(World *world, const char *path)
{
    DeltaTable   *table   = NULL;
    DeltaVacuum   options = {.retention_us = 0, .allow_short = true};
    DeltaVacuumed done;
    StoreList     list;
    StoreDeadRuns runs;
    int64_t       held;
    size_t        data_files = 0;
    Err           err        = ERR_INIT;

    assert_ok(delta_table_open(world_delta(world), str_from_c(path), &table, &err), &err);
    assert_ok(delta_table_vacuum(table, &options, world_arena(world), &done, &err), &err);
    assert_ok(store_list_after(world_store(world), str_from_c(path), STR_EMPTY, world_arena(world),
                               &list, &err),
              &err);
    for (size_t i = 0; i < list.count; i++)
        data_files += str_ends_with(list.entries[i].name, STR(".parquet"));
    assert_int_equal(data_files, delta_table_get_file_count(table));
    assert_ok(store_staging_sweep(world_store(world), str_from_c(path), true, world_arena(world),
                                  &runs, &held, &err),
              &err);
    assert_int_equal(runs.count, 0);
    assert_int_equal(held, 0);
    delta_table_close(table);
}

/* Each note is that of its row, and a large row is alone in its file. */
static void assert_notes_are_right(const Large *all)
{
    World  *world = all->story.world;
    Str     rows  = world_rows(world,
                               "SELECT count(*) FILTER (NOT (" IS_NOTE_OF_ID ")), count(*) FILTER "
                                    "(length(note) > 1) FROM {" BRONZE "}");
    int64_t files = count_large_files(world);
    Str     want  = str_printf(world_arena(world), "0|%lld\n", (long long)files);

    if (all->is_compacted) /* those that came after it alone are */
        assert_true(str_starts_with(rows, STR("0|")));
    else
        assert_str_is(rows, str_c(world_arena(world), want));
}

static void assert_nobody_can_tell(Story *story)
{
    Large *all   = (Large *)story;
    World *world = story->world;

    if (all->is_chunked)
        assert_int_equal(world_backfill(world, &all->backfill).state, BACKFILL_DONE);
    (void)world_stream(world, &all->stream);
    if (all->is_applied) {
        (void)world_apply(world, &all->apply);
        assert_silver_is_source(world, "orders", "id, note");
    }
    assert_bronze_is_complete(world, "orders", all->start);
    if (all->is_chunked) {
        assert_chunk_rows_counted(world);
        assert_chunks_recorded(world);
    } else {
        assert_rows(world, "9|9\n",
                    "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "} WHERE _operation = 0");
    }
    assert_notes_are_right(all);
    assert_facts_once(world);
    assert_logs_readable(world);
    world_pass_minutes(world, 2);
    assert_nothing_is_left(world, BRONZE);
    if (all->is_applied) assert_nothing_is_left(world, SILVER);
}

/* At some steps before their effect, at others after it: one in 23 of both, which ones the seed tells. All of them
 * take a minute: TIDELAKE_STRIDE=1. */
static void die_everywhere(void **state, const StoryPlot *plot, uint64_t steps_least)
{
    uint64_t steps  = story_count_steps(plot, state);
    uint64_t stride = test_env_number("TIDELAKE_STRIDE", 23);
    uint64_t first  = test_env_number("TIDELAKE_SEED", 0) % stride;

    assert_true(steps >= steps_least);
    for (uint64_t step = 1; step <= steps; step++)
        for (int after = 0; after <= 1; after++) {
            FaultPlan death = {.fail_at_step = step, .after_effect = after == 1, .crash = true};
            Story    *story;

            if ((step * 2 + (uint64_t)after) % stride != first) continue;
            story = story_begin_dying(plot, state, death);
            story_rerun(plot, story, &death);
            world_close(story->world);
        }
}

#define DIE_EVERYWHERE(state, steps_least, open_story, tell_part) \
    die_everywhere((state),                                       \
                   &(StoryPlot){.open  = (open_story),            \
                                .parts = 1,                       \
                                .tell  = (tell_part),             \
                                .check = assert_nobody_can_tell}, \
                   (steps_least))

static void a_death_in_a_snapshot_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 20, open_snapshot, tell_stream);
}

static void a_death_in_a_batch_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 15, open_batch, tell_stream);
}

static void a_death_in_waves_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 30, open_wave, tell_backfill);
}

static void a_death_in_a_merge_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 8, open_merge, tell_apply);
    DIE_EVERYWHERE(state, 8, open_rewrite, tell_apply);
}

static void a_death_in_a_compaction_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 3, open_compaction, tell_optimize);
}

static void a_death_in_a_compaction_beside_batches_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 20, open_batch, tell_beside);
}

static void a_death_in_a_seed_leaves_no_trace(void **state)
{
    DIE_EVERYWHERE(state, 8, open_seed, tell_seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_death_in_a_snapshot_leaves_no_trace),
        cmocka_unit_test(a_death_in_a_batch_leaves_no_trace),
        cmocka_unit_test(a_death_in_waves_leaves_no_trace),
        cmocka_unit_test(a_death_in_a_merge_leaves_no_trace),
        cmocka_unit_test(a_death_in_a_compaction_leaves_no_trace),
        cmocka_unit_test(a_death_in_a_compaction_beside_batches_leaves_no_trace),
        cmocka_unit_test(a_death_in_a_seed_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
