/* OPTIMIZE (delta.md 2.16): the same rows in fewer files, whatever other writers do meanwhile. */
#include "support/test_support.h"

#include "delta/maintain.h"
#include "unit/delta/delta_test.h"

#define HASH "SELECT CAST(bit_xor(hash(id, name, \"at\")) % 1000000007 AS BIGINT) FROM %s"

static DeltaOptimized optimize(World *world, DeltaTable *table, const DeltaOptimize *options)
{
    DeltaOptimized out;
    assert_ok(delta_table_optimize(table, options, &out, &world->err), &world->err);
    return out;
}

static const DeltaOptimize plain = {.purpose = {"optimize", 8}};

/* `count` files of ten rows each. */
static DeltaTable *table_of_files(World *world, int64_t count)
{
    DeltaTable *table = create_table(world, "t");
    for (int64_t i = 0; i < count; i++)
        append_rows(world, table, i * 10, 10);
    return table;
}

static void small_files_become_one_with_the_same_rows_in_their_order(void **state)
{
    World         *world  = world_new(state);
    DeltaTable    *table  = table_of_files(world, 12);
    int64_t        before = query_table(world, table, HASH);
    DeltaOptimized out    = optimize(world, table, &plain);
    assert_int_equal(out.commit_count, 1);
    assert_int_equal(out.removed_count, 12);
    assert_int_equal(out.added_count, 1);
    assert_int_equal(delta_table_get_version(table), 13);
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_int_equal(count_rows(world, table), 120);
    assert_int_equal(query_table(world, table, HASH), before);
    assert_int_equal(query_table(world, table, "SELECT count(*) FROM %s WHERE id <> \"__$row\""),
                     0);
    Str text = read_text(world, commit_path(world, "t", 13));
    assert_true(str_find(text, STR("\"dataChange\":true"), 0) < 0);
    assert_true(str_find(text, STR("\"operation\":\"OPTIMIZE\""), 0) > 0);
    assert_true(str_find(text, STR("\"numRemovedFiles\":\"12\""), 0) > 0);
    assert_true(str_find(text, STR("\\\"minValues\\\":{\\\"id\\\":0"), 0) > 0);
    out = optimize(world, table, &plain); /* one file is not worth it */
    assert_int_equal(out.commit_count, 0);
    assert_int_equal(delta_table_get_version(table), 13);
    delta_table_close(table);
    table = open_table(world, "t");
    assert_int_equal(query_table(world, table, HASH), before);
    delta_table_close(table);
    assert_ok(delta_table_open_version(&world->context, STR("t"), 12, &table, &world->err),
              &world->err);
    assert_int_equal(query_table(world, table, HASH), before);
    delta_table_close(table);
    world_close(world);
}

/* Several row groups are read by several threads at once. */
static void rows_of_large_files_keep_their_order(void **state)
{
    const int64_t rows  = 260000;
    World        *world = world_new(state);
    DeltaTable   *table = create_table(world, "t");
    for (int64_t i = 0; i < 2; i++)
        append_rows(world, table, i * rows, rows);
    assert_int_equal(optimize(world, table, &plain).removed_count, 2);
    assert_int_equal(count_rows(world, table), 2 * rows);
    assert_int_equal(query_table(world, table, "SELECT count(*) FROM %s WHERE id <> \"__$row\""),
                     0);
    delta_table_close(table);
    world_close(world);
}

static void the_target_and_the_least_number_of_files_are_kept_to(void **state)
{
    World           *world = world_new(state);
    DeltaTable      *table = table_of_files(world, 20);
    const DeltaFile *file;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    DeltaOptimize few = plain, target = plain;
    few.files_least     = 21;
    target.target_bytes = 2 * file->size_bytes + 100;
    assert_int_equal(optimize(world, table, &few).commit_count, 0);
    int64_t        before = query_table(world, table, HASH);
    DeltaOptimized out    = optimize(world, table, &target);
    assert_int_equal(out.commit_count, 2); /* of eight groups and of two */
    assert_int_equal(out.added_count, 10);
    assert_int_equal(query_table(world, table, HASH), before);
    delta_table_close(table);
    world_close(world);
}

static void rows_are_sorted_when_asked(void **state)
{
    World         *world  = world_new(state);
    DeltaTable    *table  = create_table(world, "t");
    const Str      by[]   = {STR("name"), STR("id")};
    DeltaOptimize  sorted = plain, unknown = plain;
    DeltaOptimized out;
    const Str      nobody[] = {STR("nobody")};
    sorted.sort_columns     = by;
    sorted.sort_count       = 2;
    unknown.sort_columns    = nobody;
    unknown.sort_count      = 1;
    for (int64_t i = 5; i-- > 0;)
        append_rows(world, table, i * 10, 10);
    assert_false(delta_table_optimize(table, &unknown, &out, &world->err));
    assert_err(&world->err, ERR_USAGE, "no column nobody");
    int64_t before = query_table(world, table, HASH);
    assert_int_equal(optimize(world, table, &sorted).added_count, 1);
    assert_int_equal(query_table(world, table, HASH), before);
    assert_int_equal(query_table(world, table,
                                 "SELECT count(*) FROM (SELECT name, lag(name) OVER (ORDER BY "
                                 "\"__$row\") AS before FROM %s) WHERE before > name"),
                     0);
    delta_table_close(table);
    world_close(world);
}

/* Deletes the rows of a live file at these positions, as another writer would: a vector of six. */
static void delete_six(World *world, DeltaTable *table, const DeltaFile *file)
{
    put_commit_str(
        world, "t", delta_table_get_version(table) + 1,
        str_printf(
            world->arena,
            "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
            "\"readerFeatures\":[\"timestampNtz\",\"deletionVectors\"],\"writerFeatures\":["
            "\"timestampNtz\",\"deletionVectors\"]}}\n"
            "{\"remove\":{\"path\":\"%.*s\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"
            "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":%lld,"
            "\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":%lld}"
            "\",\"deletionVector\":{\"storageType\":\"i\",\"pathOrInlineDv\":"
            "\"^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L\",\"sizeInBytes\":44,"
            "\"cardinality\":6}}}\n",
            STR_ARG(file->path), STR_ARG(file->path), (long long)file->size_bytes,
            (long long)file->row_count));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
}

static void deleted_rows_go_and_their_vectors_with_them(void **state)
{
    World           *world = world_new(state);
    DeltaTable      *table = create_table(world, "t");
    const DeltaFile *file;
    size_t           at = 0;
    append_rows(world, table, 0, 40);
    assert_true(delta_table_next_file(table, &at, &file));
    delete_six(world, table, file);
    assert_int_equal(count_rows(world, table), 34);
    int64_t before = query_table(world, table, HASH);
    assert_int_equal(optimize(world, table, &plain).removed_count, 1);
    assert_int_equal(count_rows(world, table), 34);
    assert_int_equal(query_table(world, table, HASH), before);
    at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    assert_int_equal(file->row_count, 34);
    assert_int_equal(file->extra_members.len, 0);
    Str text = read_text(world, commit_path(world, "t", 3));
    assert_true(str_find(text, STR("\"deletionVector\":{\"storageType\":\"i\""), 0) > 0);
    assert_true(str_find(text, STR("\\\"tightBounds\\\":true"), 0) > 0);
    delta_table_close(table);
    world_close(world);
}

/* The metaData action of the table with one property more. */
static Str metadata_with(World *world, const DeltaTable *table, const char *key, const char *value)
{
    const Str here = STR("\"configuration\":{");
    Str       raw  = table_header(table)->metadata_raw;
    ptrdiff_t at   = str_find(raw, here, 0);
    assert_true(at > 0);
    size_t end = (size_t)at + here.len;
    return str_printf(world->arena, "{\"metaData\":%.*s\"%s\":\"%s\",%.*s}\n",
                      STR_ARG(str_slice(raw, 0, end)), key, value,
                      STR_ARG(str_slice(raw, end, raw.len)));
}

/* Another writer, at the moment when the files are being read. */
typedef struct Meddler {
    World *world;
    int    kind; /* 0: appends, 1: removes a file of the second group, 2: changes a property */
    bool   is_done;
} Meddler;

static void meddle(void *arg, const char *what, const char *unit, int64_t done, int64_t total)
{
    Meddler *meddler = arg;
    World   *world   = meddler->world;
    (void)what, (void)unit, (void)total;
    if (done == 0 || meddler->is_done) return;
    meddler->is_done       = true;
    DeltaTable      *other = open_table(world, "t");
    Buf              buf   = buf_new(world->arena, 0);
    const DeltaFile *file;
    if (meddler->kind == 0) append_rows(world, other, 1000, 10);
    for (size_t at = 0, i = 0; delta_table_next_file(other, &at, &file); i++)
        if (i == 3)
            buf_printf(&buf,
                       "{\"remove\":{\"path\":\"%.*s\",\"deletionTimestamp\":%lld,\"dataChange\":"
                       "true}}\n",
                       STR_ARG(file->path), (long long)(world->clock.us / 1000));
    if (meddler->kind == 2) {
        buf_clear(&buf);
        buf_append(&buf, metadata_with(world, other, "x", "y"));
    }
    if (meddler->kind > 0)
        put_commit_str(world, "t", delta_table_get_version(other) + 1, buf_str(&buf));
    delta_table_close(other);
}

static DeltaOptimize meddled(Meddler *meddler, const DeltaTable *table)
{
    const DeltaFile *file;
    size_t           at      = 0;
    DeltaOptimize    options = plain;
    assert_true(delta_table_next_file(table, &at, &file));
    options.target_bytes = 2 * file->size_bytes + 100; /* groups of two */
    options.progress     = (DeltaProgress){meddle, meddler};
    return options;
}

static void an_append_meanwhile_changes_nothing(void **state)
{
    World         *world   = world_new(state);
    DeltaTable    *table   = table_of_files(world, 6);
    Meddler        meddler = {.world = world, .kind = 0};
    DeltaOptimize  options = meddled(&meddler, table);
    DeltaOptimized out     = optimize(world, table, &options);
    assert_int_equal(out.added_count, 3);
    assert_int_equal(out.dropped_count, 0);
    assert_int_equal(delta_table_get_file_count(table), 4);
    assert_int_equal(count_rows(world, table), 70);
    delta_table_close(table);
    world_close(world);
}

static void a_group_that_another_writer_touched_is_dropped_alone(void **state)
{
    World         *world   = world_new(state);
    DeltaTable    *table   = table_of_files(world, 6);
    Meddler        meddler = {.world = world, .kind = 1};
    DeltaOptimize  options = meddled(&meddler, table);
    DeltaOptimized out     = optimize(world, table, &options);
    assert_int_equal(out.added_count, 2);
    assert_int_equal(out.dropped_count, 1);
    assert_int_equal(delta_table_get_file_count(table),
                     3); /* two new ones, and one of the dropped */
    assert_int_equal(count_rows(world, table), 50);
    assert_int_equal(count_files(world, "t"), 8); /* what was made of the dropped group is gone */
    delta_table_close(table);
    world_close(world);
}

static void changed_metadata_ends_the_run(void **state)
{
    World         *world   = world_new(state);
    DeltaTable    *table   = table_of_files(world, 6);
    Meddler        meddler = {.world = world, .kind = 2};
    DeltaOptimize  options = meddled(&meddler, table);
    DeltaOptimized out;
    assert_false(delta_table_optimize(table, &options, &out, &world->err));
    assert_err(&world->err, ERR_CONFLICT, "changed the table's metadata");
    assert_int_equal(out.commit_count, 0);
    assert_int_equal(count_files(world, "t"), 6);
    assert_int_equal(delta_table_get_file_count(table), 6);
    assert_int_equal(optimize(world, table, &plain).added_count, 1);
    delta_table_close(table);
    world_close(world);
}

static void set_header(World *world, DeltaTable *table, const char *key, const char *value,
                       const char *more)
{
    put_commit_str(
        world, "t", delta_table_get_version(table) + 1,
        str_printf(world->arena, "%.*s%s", STR_ARG(metadata_with(world, table, key, value)), more));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
}

static void append_only_tables_and_those_with_a_feed_may_be_optimized(void **state)
{
    const char *const keys[] = {"delta.appendOnly", "delta.enableChangeDataFeed"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        World      *world = world_new(state);
        DeltaTable *table = table_of_files(world, 3);
        set_header(world, table, keys[i], "true", "");
        assert_int_equal(optimize(world, table, &plain).removed_count, 3);
        assert_int_equal(count_rows(world, table), 30);
        delta_table_close(table);
        world_close(world);
    }
}

static void clustered_tables_and_those_that_track_rows_are_left_alone(void **state)
{
    World         *world = world_new(state);
    DeltaTable    *table = table_of_files(world, 3);
    DeltaOptimized out;
    set_header(world, table, "x", "y",
               "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":\"{}\","
               "\"removed\":false}}\n");
    assert_int_equal(optimize(world, table, &plain).commit_count, 0);
    assert_int_equal(world->lines.warning_count, 1);
    delta_table_close(table);
    world_close(world);

    world = world_new(state);
    table = table_of_files(world, 3);
    set_header(world, table, "delta.enableRowTracking", "true", "");
    assert_false(delta_table_optimize(table, &plain, &out, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-W08");
    assert_int_equal(delta_table_get_file_count(table), 3);
    delta_table_close(table);
    world_close(world);
}

/* The log and a file disagree: rewriting would make the loss final. */
static void files_with_other_row_counts_are_not_rewritten(void **state)
{
    World           *world = world_new(state);
    DeltaTable      *table = table_of_files(world, 2);
    const DeltaFile *file;
    DeltaOptimized   out;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    put_commit_str(world, "t", 3,
                   str_printf(world->arena,
                              "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":%lld,"
                              "\"modificationTime\":1,\"dataChange\":false,\"stats\":"
                              "\"{\\\"numRecords\\\":11}\"}}\n",
                              STR_ARG(file->path), (long long)file->size_bytes));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_false(delta_table_optimize(table, &plain, &out, &world->err));
    assert_err(&world->err, ERR_DAMAGED, "DELTA-L11 table t: 2 files");
    assert_err(&world->err, ERR_DAMAGED, "have 20 rows, 21 in the log");
    assert_int_equal(count_files(world, "t"), 2);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files_become_one_with_the_same_rows_in_their_order),
        cmocka_unit_test(rows_of_large_files_keep_their_order),
        cmocka_unit_test(the_target_and_the_least_number_of_files_are_kept_to),
        cmocka_unit_test(rows_are_sorted_when_asked),
        cmocka_unit_test(deleted_rows_go_and_their_vectors_with_them),
        cmocka_unit_test(an_append_meanwhile_changes_nothing),
        cmocka_unit_test(a_group_that_another_writer_touched_is_dropped_alone),
        cmocka_unit_test(changed_metadata_ends_the_run),
        cmocka_unit_test(append_only_tables_and_those_with_a_feed_may_be_optimized),
        cmocka_unit_test(clustered_tables_and_those_that_track_rows_are_left_alone),
        cmocka_unit_test(files_with_other_row_counts_are_not_rewritten),
    };
    return RUN_DELTA_TESTS(tests);
}
