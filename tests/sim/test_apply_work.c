/* What apply reads and writes follows what changed, not what is there: bytes of data files, counted at the store. */
#include "support/test_support.h"

#include "base/list.h"
#include "support/backfill.h"

/* Bytes of data files of bronze and silver that a call fetched and published. */
typedef struct Meter {
    World *world;
    LIST(Str) written;
    int64_t bronze_bytes, silver_bytes, written_bytes;
    size_t  silver_files;
} Meter;

static int64_t size_of(World *world, Str path)
{
    StoreEntry entry;
    Err        err = ERR_INIT;

    assert_ok(store_stat(world_store(world), path, &entry, &err), &err);
    return entry.size_bytes;
}

static void measure(void *arg, uint64_t step, const char *operation, Str path)
{
    Meter *meter     = arg;
    bool   is_bronze = str_starts_with(path, STR(BRONZE "/"));

    (void)step;
    if (!str_ends_with(path, STR(".parquet")) || str_find(path, STR("/_delta_log/"), 0) >= 0 ||
        (!is_bronze && !str_starts_with(path, STR(SILVER "/"))))
        return;
    if (strcmp(operation, "staging_publish") == 0) {
        Arena *arena = world_arena(meter->world);

        *LIST_PUSH(arena, &meter->written) = str_copy(arena, path);
    } else if (strcmp(operation, "fetch_local") == 0) {
        *(is_bronze ? &meter->bronze_bytes : &meter->silver_bytes) += size_of(meter->world, path);
        meter->silver_files += !is_bronze;
    }
}

static ApplyResult apply_measured(World *world, Meter *meter)
{
    Process     *process = process_open(world, "apply");
    ApplyOptions options = shop_apply();
    ApplyResult  result;

    *meter        = (Meter){.world = world};
    process->plan = (FaultPlan){.count_reads = true, .on_step = measure, .on_step_arg = meter};
    assert_ok(process_apply(process, &options), &process->err);
    result = process->apply;
    process_close(process);
    for (size_t i = 0; i < meter->written.count; i++)
        meter->written_bytes += size_of(world, meter->written.items[i]);
    return result;
}

#define ROWS_A_WAVE 208 /* 16 slices of 13 keys each: chunks of equal size */

/* 15 waves, or TIDELAKE_WAVES. The first fills an empty silver; each of the others appends as many
 * rows behind what is there. */
static void a_wave_costs_what_the_first_one_did(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(ROWS_A_WAVE, 1);
    const char     *wanted  = getenv("TIDELAKE_WAVES");
    int64_t         waves = 15, read_first = 0, written_first = 0;
    Meter           meter;

    if (wanted) assert_true(str_parse_i64(str_from_c(wanted), &waves) && waves > 1);
    world_commit(world,
                 "INSERT INTO dbo.orders SELECT value, 'some text' FROM GENERATE_SERIES(0, %d)",
                 (int)(waves * ROWS_A_WAVE) - 1);
    (void)shop_run_chunked(world);
    for (int wave = 1; wave <= waves; wave++) {
        assert_int_equal(world_backfill_waves(world, &options, 1).chunks_done, wave);
        if (wave == waves) break; /* the snapshot is complete: below */
        ApplyResult result = apply_measured(world, &meter);
        assert_int_equal(result.waves_applied, 1);
        assert_int_equal(result.rows_written, ROWS_A_WAVE);
        assert_int_equal(meter.silver_files,
                         0); /* no file of silver has its keys: a plain append */
        if (wave == 1) {
            read_first    = meter.bronze_bytes;
            written_first = meter.written_bytes;
            assert_true(read_first > 0 && written_first > 0);
        }
        /* larger numbers take a few bytes more */
        if (meter.bronze_bytes > read_first * 21 / 20 ||
            meter.written_bytes > written_first * 21 / 20)
            fail_msg("wave %d: %lld read, %lld written; the first: %lld, %lld", wave,
                     (long long)meter.bronze_bytes, (long long)meter.written_bytes,
                     (long long)read_first, (long long)written_first);
    }
    /* all rows but the last wave's are right already */
    ApplyResult result = apply_measured(world, &meter);
    assert_true(result.rebuilt);
    assert_int_equal(result.rows_written, ROWS_A_WAVE);
    assert_int_equal(meter.written.count, 1);
    assert_true(meter.written_bytes <= written_first * 21 / 20);
    assert_silver_is_source(world, "orders", "id, note");
    (void)apply_measured(world, &meter); /* nothing is new */
    assert_int_equal(meter.bronze_bytes + meter.silver_bytes + meter.written_bytes, 0);
    world_close(world);
}

/* Without a snapshot: what lies behind the position is not opened again. */
static void a_batch_costs_what_it_holds(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    int64_t       first   = 0;
    Meter         meter;

    world_commit(world,
                 "INSERT INTO dbo.orders SELECT value, 'some text' FROM GENERATE_SERIES(1, 5000)");
    (void)world_stream(world, &options);
    (void)apply_measured(world, &meter);
    assert_true(meter.bronze_bytes > 10000);
    for (int batch = 0; batch < 10; batch++) {
        (void)shop_insert(world, 6000 + batch);
        (void)world_stream(world, &options);
        assert_int_equal(apply_measured(world, &meter).rows_written, 1);
        assert_int_equal(meter.silver_files, 0);
        if (batch == 0) first = meter.bronze_bytes;
        assert_in_range(meter.bronze_bytes, 1, first * 21 / 20);
    }
    world_close(world);
}

static Str silver_files(World *world)
{
    DeltaTable      *table = NULL;
    const DeltaFile *file;
    Err              err   = ERR_INIT;
    Str              paths = STR_EMPTY;

    assert_ok(delta_table_open(world_delta(world), STR(SILVER), &table, &err), &err);
    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        paths = str_printf(world_arena(world), "%.*s%.*s\n", STR_ARG(paths), STR_ARG(file->path));
    delta_table_close(table);
    return paths;
}

/* What an earlier silver holds above the snapshot's greatest key goes at the end, with its file; the files of the
 * waves stay as they are. */
static void a_rebuild_touches_what_is_wrong(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(20, 1);
    StreamOptions   early   = shop_stream_from(world_max_lsn(world));
    ApplyOptions    apply   = shop_apply();
    size_t          kept = 0, gone = 0, waves = 0;
    Str             before, after, path;
    Meter           meter;

    early.app_id     = STR("early-v1");
    early.checkpoint = STR("checkpoints/early");
    world_commit(world,
                 "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1000, 1019)");
    (void)world_stream(world, &early);
    (void)world_apply(world, &apply);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 1019"); /* which no stream reads */
    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'b' FROM GENERATE_SERIES(0, 99)");
    (void)shop_run_chunked(world);
    for (before = STR_EMPTY; world_backfill_waves(world, &options, 1).state != BACKFILL_DONE;
         waves++) {
        (void)world_apply(world, &apply);
        before = silver_files(world);
    }
    assert_true(waves >= 4);
    assert_true(apply_measured(world, &meter).rebuilt);
    assert_silver_is_source(world, "orders", "id, note");
    after = silver_files(world);
    while (str_split_next(&before, '\n', &path) && path.len)
        *(str_find(after, path, 0) >= 0 ? &kept : &gone) += 1;
    assert_int_equal(kept, waves);
    assert_int_equal(gone, 1);
    assert_int_equal(meter.written.count, 1);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_costs_what_the_first_one_did),
        cmocka_unit_test(a_batch_costs_what_it_holds),
        cmocka_unit_test(a_rebuild_touches_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
