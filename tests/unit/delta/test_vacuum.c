/* VACUUM (delta.md 2.17): every rule of what stays, and that the rest goes. */
#include "support/test_support.h"

#include "delta/maintain.h"
#include "unit/delta/delta_test.h"

#include <sys/stat.h>
#include <unistd.h>

#define DAY_US (INT64_C(86400) * 1000000)
#define T_MS   (TEST_UTC_US / 1000)

#define HEADER(configuration)                                                              \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["    \
    "\"deletionVectors\"],\"writerFeatures\":[\"deletionVectors\"]}}\n"                    \
    "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"type\\\":\\\"struct\\\","         \
    "\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\",\"format\":{" \
    "\"provider\":\"parquet\"},\"partitionColumns\":[],\"configuration\":{" configuration "}}}\n"

#define ADD(path) "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":1}}\n"
#define ADD_WITH_VECTOR(path, type, vector)                                                 \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":1,\"stats\":"          \
    "\"{\\\"numRecords\\\":9}\",\"deletionVector\":{\"storageType\":\"" type                \
    "\",\"pathOrInlineDv\":\"" vector "\",\"offset\":1,\"sizeInBytes\":34,\"cardinality\":" \
    "1}}}\n"
/* of tombstones */
#define UUID_VECTOR "ab^-aqEH.-t@S}K{vb[*k^"
#define UUID_PATH   "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"

static void put_file(World *world, const char *path)
{
    put_text(world, str_printf(world->arena, "t/%s", path).ptr, "12345");
}

static bool has(World *world, const char *path)
{
    return file_exists(world, str_printf(world->arena, "t/%s", path).ptr);
}

static void put_header(World *world, const char *lines)
{
    put_commit(world, "t", 0, lines);
}

static bool try_vacuum(World *world, DeltaVacuum options, DeltaVacuumed *out)
{
    DeltaTable *table = open_table(world, "t");
    bool        ok    = delta_table_vacuum(table, &options, world->arena, out, &world->err);
    delta_table_close(table);
    return ok;
}

static DeltaVacuumed vacuum(World *world, DeltaVacuum options)
{
    DeltaVacuumed out;
    assert_ok(try_vacuum(world, options, &out), &world->err);
    return out;
}

static Str remove_line(World *world, const char *path, int64_t deleted_ms, const char *more)
{
    return str_printf(world->arena,
                      "{\"remove\":{\"path\":\"%s\",\"deletionTimestamp\":%lld,\"dataChange\":true"
                      "%s}}\n",
                      path, (long long)deleted_ms, more);
}

static const DeltaVacuum own = {.retention_us = DELTA_TABLE_RETENTION};

static void only_what_nobody_names_and_is_old_goes(void **state)
{
    World *world = world_new(state);
    put_header(world, HEADER(""));
    const char *const files[] = {
        "live.parquet",        "sp ace%.parquet",  "dir/deep/live.parquet",
        "gone.parquet",        "recent.parquet",   "never.parquet",
        "dir/garbage.parquet", "_hidden.parquet",  ".hidden.parquet",
        "_dir/x.parquet",      "dir/_x/y.parquet", "_change_data/cdc.parquet",
        "_delta_index/i.bin",  "raw%20.parquet",   "absolute.parquet",
        "dir/dotted.parquet",
    };
    for (size_t i = 0; i < COUNT_OF(files); i++)
        put_file(world, files[i]);
    put_commit(world, "t", 1,
               ADD("live.parquet") ADD("sp%20ace%25.parquet") ADD("dir/deep/live.parquet")
                   ADD("gone.parquet") ADD("recent.parquet") ADD("raw%20.parquet")
                       ADD("file:///elsewhere/t/absolute.parquet") ADD("./dir//dotted.parquet"));
    world->clock.us += 10 * DAY_US;
    int64_t now_ms = world->clock.us / 1000;
    put_commit_str(
        world, "t", 2,
        str_printf(world->arena, "%.*s%.*s",
                   STR_ARG(remove_line(world, "gone.parquet", now_ms - 7 * 86400000 - 1, "")),
                   STR_ARG(remove_line(world, "recent.parquet", now_ms - 7 * 86400000 + 1, ""))));
    put_file(world, "young.parquet");
    DeltaVacuum dry   = own;
    dry.dry_run       = true;
    DeltaVacuumed out = vacuum(world, dry);
    assert_int_equal(out.count, 5);
    assert_int_equal(out.size_bytes, 25);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        assert_true(has(world, files[i]));
    out = vacuum(world, own);
    assert_int_equal(out.count, 5);
    assert_int_equal(out.file_count, 5);
    assert_int_equal(out.cutoff_us, world->clock.us - 7 * DAY_US);
    const char *const went[] = {"gone.parquet", "never.parquet", "dir/garbage.parquet",
                                "_change_data/cdc.parquet", "_delta_index/i.bin"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        bool is_gone = false;
        for (size_t j = 0; j < COUNT_OF(went); j++)
            is_gone = is_gone || strcmp(files[i], went[j]) == 0;
        if (has(world, files[i]) == is_gone) fail_msg("%s", files[i]);
    }
    assert_true(has(world, "young.parquet"));
    assert_int_equal(vacuum(world, own).count, 0);
    assert_int_equal(count_files(world, "t/_delta_log"), 3);
    world_close(world);
}

static void the_table_decides_how_long_and_less_needs_to_be_said_twice(void **state)
{
    World        *world = world_new(state);
    DeltaVacuumed out;
    put_header(world, HEADER("\"delta.deletedFileRetentionDuration\":\"interval 30 days\""));
    put_file(world, "a.parquet");
    world->clock.us += 10 * DAY_US;
    assert_int_equal(vacuum(world, own).count, 0);
    assert_false(try_vacuum(world, (DeltaVacuum){.retention_us = 29 * DAY_US}, &out));
    assert_err(&world->err, ERR_STATE, "a retention of 29 days is below 30 days");
    assert_err(&world->err, ERR_STATE, "--allow-short-retention");
    assert_int_equal(
        vacuum(world, (DeltaVacuum){.retention_us = 9 * DAY_US, .dry_run = true}).count, 1);
    assert_true(has(world, "a.parquet"));
    /* somebody who writes holds a staging folder; a week protects what it has not committed */
    StoreStaging *staging = NULL;
    assert_ok(store_staging_open(world->store, STR("t"), STR("stream"), world->context.rng,
                                 &staging, &world->err),
              &world->err);
    assert_false(
        try_vacuum(world, (DeltaVacuum){.retention_us = DAY_US, .allow_short = true}, &out));
    assert_err(&world->err, ERR_STATE, "a run is writing to it");
    assert_true(has(world, "a.parquet"));
    assert_int_equal(
        vacuum(world, (DeltaVacuum){.retention_us = 9 * DAY_US, .allow_short = true}).count, 1);
    assert_false(has(world, "a.parquet"));
    store_staging_close(staging);
    world_close(world);
}

static void a_week_is_the_least_even_where_the_table_says_less(void **state)
{
    World        *world = world_new(state);
    DeltaVacuumed out;
    put_header(world, HEADER("\"delta.deletedFileRetentionDuration\":\"interval 1 hours\""));
    put_file(world, "a.parquet");
    world->clock.us += DAY_US;
    assert_false(try_vacuum(world, (DeltaVacuum){.retention_us = 6 * DAY_US}, &out));
    assert_err(&world->err, ERR_STATE, "is below 7 days");
    assert_int_equal(vacuum(world, own).count, 1); /* its owner set it */
    world_close(world);
}

/* Tombstones as old as that left the checkpoint, and the commits still have them. */
static void a_longer_retention_reads_the_commits(void **state)
{
    World      *world = world_new(state);
    DeltaVacuum month = {.retention_us = 30 * DAY_US};
    put_header(world, HEADER(""));
    put_file(world, "a.parquet");
    put_commit(world, "t", 1, ADD("a.parquet"));
    world->clock.us += 40 * DAY_US;
    put_commit_str(world, "t", 2, remove_line(world, "a.parquet", world->clock.us / 1000, ""));
    world->clock.us += 20 * DAY_US;
    DeltaTable *table = open_table(world, "t");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_int_equal(map_count(table->state->tombstones), 0);
    delta_table_close(table);
    assert_int_equal(vacuum(world, month).count, 0);
    world->clock.us += 11 * DAY_US;
    assert_int_equal(vacuum(world, month).count, 1);
    world_close(world);
}

static void deletion_vectors_of_live_and_recent_files_stay(void **state)
{
    World *world = world_new(state);
    put_header(world, HEADER(""));
    put_file(world, UUID_PATH);
    put_file(world, "vectors/p.bin");
    put_file(world, "deletion_vector_00000000-0000-0000-0000-000000000000.bin");
    put_file(world, "a.parquet");
    put_file(world, "b.parquet");
    put_file(world, "c.parquet");
    put_commit(world, "t", 1,
               ADD_WITH_VECTOR("a.parquet", "u", UUID_VECTOR)
                   ADD_WITH_VECTOR("b.parquet", "p", "file:/lake/t/vectors/p.bin") ADD_WITH_VECTOR(
                       "c.parquet", "i", "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"));
    world->clock.us += 10 * DAY_US;
    DeltaVacuumed out = vacuum(world, own);
    assert_int_equal(out.count, 1);
    assert_str_is(out.items[0].path, "deletion_vector_00000000-0000-0000-0000-000000000000.bin");
    put_commit_str(world, "t", 2,
                   remove_line(world, "a.parquet", world->clock.us / 1000,
                               ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":"
                               "\"" UUID_VECTOR "\",\"offset\":1,\"sizeInBytes\":34,"
                               "\"cardinality\":1}"));
    world->clock.us += 6 * DAY_US;
    assert_int_equal(vacuum(world, own).count, 0);
    world->clock.us += 2 * DAY_US;
    assert_int_equal(vacuum(world, own).count, 2);
    assert_false(has(world, UUID_PATH));
    assert_true(has(world, "vectors/p.bin"));
    /* what cannot be understood might be anywhere */
    put_commit(world, "t", 3, ADD_WITH_VECTOR("d.parquet", "z", "what"));
    put_file(world, "old.parquet");
    world->clock.us += 10 * DAY_US;
    assert_false(try_vacuum(world, own, &out));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-D03");
    assert_true(has(world, "old.parquet"));
    world_close(world);
}

static void tables_in_a_table_and_iceberg_metadata_are_left_alone(void **state)
{
    World *world = world_new(state);
    put_header(world, HEADER("\"delta.universalFormat.enabledFormats\":\"iceberg\""));
    put_file(world, "metadata/v1.metadata.json");
    put_file(world, "dir/metadata/x.parquet");
    put_file(world, "inner/part.parquet");
    put_file(world, "inner/_delta_log/00000000000000000000.json");
    world->clock.us += 10 * DAY_US;
    DeltaVacuumed out = vacuum(world, own);
    assert_int_equal(out.count, 1);
    assert_str_is(out.items[0].path, "dir/metadata/x.parquet");
    assert_int_equal(world->lines.warning_count, 1);
    world_close(world);
}

static void what_dead_runs_staged_goes(void **state)
{
    World        *world = world_new(state);
    StoreStaging *dead  = NULL;
    Str           local;
    put_header(world, HEADER(""));
    assert_ok(store_staging_open(world->store, STR("t"), STR("apply"), world->context.rng, &dead,
                                 &world->err),
              &world->err);
    assert_ok(store_staging_file(dead, STR("x"), world->arena, &local, &world->err), &world->err);
    FILE *file = fopen(str_c(world->arena, local), "wb");
    assert_int_equal(fwrite("abc", 1, 3, file), 3);
    assert_int_equal(fclose(file), 0);
    DeltaVacuum dry = own;
    dry.dry_run     = true;
    assert_int_equal(vacuum(world, dry).count, 0); /* it lives */
    store_staging_abandon(dead);
    assert_int_equal(vacuum(world, dry).count, 1);
    DeltaVacuumed out = vacuum(world, own);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.size_bytes, 3);
    assert_true(str_starts_with(out.items[0].path, STR("_tidelake_staging/apply/")));
    assert_int_equal(vacuum(world, own).count, 0);
    world_close(world);
}

/* A commit between the listing and the removal makes its file live. */
typedef struct Interloper {
    World *world;
    bool   is_done;
} Interloper;

static void commit_during_listing(void *arg, const char *what, const char *unit, int64_t done,
                                  int64_t total)
{
    Interloper *interloper = arg;
    (void)what, (void)unit, (void)done, (void)total;
    if (interloper->is_done) return;
    interloper->is_done = true;
    put_commit(interloper->world, "t", 1, ADD("late.parquet"));
}

static void a_file_that_is_committed_meanwhile_stays(void **state)
{
    World      *world      = world_new(state);
    Interloper  interloper = {.world = world};
    DeltaVacuum options    = own;
    options.progress       = (DeltaProgress){commit_during_listing, &interloper};
    put_header(world, HEADER(""));
    put_file(world, "late.parquet");
    world->clock.us += 10 * DAY_US;
    assert_int_equal(vacuum(world, options).count, 0);
    assert_true(interloper.is_done);
    assert_true(has(world, "late.parquet"));
    world_close(world);
}

static void a_protocol_that_cannot_be_written_stops_it(void **state)
{
    World        *world = world_new(state);
    DeltaVacuumed out;
    put_header(world, HEADER("\"delta.constraints.c\":\"id > 0\""));
    put_file(world, "a.parquet");
    world->clock.us += 10 * DAY_US;
    assert_false(try_vacuum(world, own, &out));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-W03");
    assert_true(has(world, "a.parquet"));
    world_close(world);
}

static void make_old(World *world, const char *path)
{
    struct timespec times[2] = {{.tv_sec = TEST_UTC_US / 1000000},
                                {.tv_sec = TEST_UTC_US / 1000000}};
    const char     *full     = str_printf(world->arena, "%s/t/%s", world->folder, path).ptr;
    assert_int_equal(utimensat(AT_FDCWD, full, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void links_are_not_followed_and_empty_folders_go(void **state)
{
    World *world = world_new_local(state);
    put_header(world, HEADER(""));
    put_text(world, "outside/x.parquet", "x");
    put_file(world, "a/b/c.parquet");
    put_file(world, "full/live.parquet");
    put_commit(world, "t", 1, ADD("full/live.parquet"));
    const char *outside = str_printf(world->arena, "%s/outside", world->folder).ptr;
    assert_int_equal(symlink(outside, str_printf(world->arena, "%s/t/link", world->folder).ptr), 0);
    assert_int_equal(symlink(str_printf(world->arena, "%s/x.parquet", outside).ptr,
                             str_printf(world->arena, "%s/t/l.parquet", world->folder).ptr),
                     0);
    const char *const all[] = {"a/b/c.parquet",     "a/b",  "a",
                               "full/live.parquet", "full", "l.parquet"};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        make_old(world, all[i]);
    world->clock.us += 10 * DAY_US;
    DeltaVacuumed out = vacuum(world, own);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.directory_count, 2);
    assert_true(has(world, "full/live.parquet"));
    assert_true(has(world, "l.parquet"));
    assert_true(file_exists(world, "outside/x.parquet"));
    assert_int_equal(access(str_printf(world->arena, "%s/t/a", world->folder).ptr, F_OK), -1);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_nobody_names_and_is_old_goes),
        cmocka_unit_test(the_table_decides_how_long_and_less_needs_to_be_said_twice),
        cmocka_unit_test(a_week_is_the_least_even_where_the_table_says_less),
        cmocka_unit_test(a_longer_retention_reads_the_commits),
        cmocka_unit_test(deletion_vectors_of_live_and_recent_files_stay),
        cmocka_unit_test(tables_in_a_table_and_iceberg_metadata_are_left_alone),
        cmocka_unit_test(what_dead_runs_staged_goes),
        cmocka_unit_test(a_file_that_is_committed_meanwhile_stays),
        cmocka_unit_test(a_protocol_that_cannot_be_written_stops_it),
        cmocka_unit_test(links_are_not_followed_and_empty_folders_go),
    };
    return RUN_DELTA_TESTS(tests);
}
