/* Checkpoints of V2 with their sidecars, and what is wrong with those that are damaged (delta.md
 * 1.4): the file is named, and no row is lost without a word. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define PROTOCOL                                                                        \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[" \
    "\"v2Checkpoint\"],\"writerFeatures\":[\"v2Checkpoint\",\"domainMetadata\"]}}\n"
#define METADATA                                                                                   \
    "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" \
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\",\"configuration\":{}}}\n"
#define ADD(path)                                                                               \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1," \
    "\"dataChange\":false,\"stats\":\"{\\\"numRecords\\\":3}\"}}\n"
#define MARK "{\"checkpointMetadata\":{\"version\":7}}\n"
#define TOP  "00000000000000000007.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
#define HEAD PROTOCOL METADATA MARK

/* A sidecar of these actions, as Parquet; its size. */
static int64_t put_sidecar(World *world, const char *name, const char *lines)
{
    Str        json = str_printf(world->arena, "%s/sidecar.ndjson", world->folder);
    Str        path = str_printf(world->arena, "t/_delta_log/_sidecars/%s", name);
    Str        made = str_printf(world->arena, "%s/made.parquet", world->folder);
    StoreEntry entry;
    Bytes      bytes;

    assert_ok(store_replace(world->store, STR("sidecar.ndjson"), str_bytes(str_from_c(lines)),
                            &world->err),
              &world->err);
    assert_ok(duck_checkpoint_write(world->context.duck, json, made, NULL, &world->err),
              &world->err);
    assert_ok(
        store_read(world->store, STR("made.parquet"), 1 << 20, world->arena, &bytes, &world->err),
        &world->err);
    assert_ok(store_replace(world->store, path, bytes, &world->err), &world->err);
    assert_ok(store_remove(world->store, STR("made.parquet"), &world->err), &world->err);
    assert_ok(store_stat(world->store, path, &entry, &world->err), &world->err);
    return entry.size_bytes;
}

static const char *sidecar_line(World *world, const char *path, int64_t size)
{
    return str_printf(world->arena,
                      "{\"sidecar\":{\"path\":\"%s\",\"sizeInBytes\":%lld,"
                      "\"modificationTime\":1}}\n",
                      path, (long long)size)
        .ptr;
}

static const char *join(World *world, const char *left, const char *right)
{
    return str_printf(world->arena, "%s%s", left, right).ptr;
}

/* A table of two files, each in a sidecar; a commit after it adds a third. */
static World *world_with_sidecars(void **state)
{
    World      *world    = world_new_local(state);
    int64_t     one      = put_sidecar(world, "one 1.parquet",
                                       ADD("a") "{\"remove\":{\"path\":\"gone\",\"deletionTimestamp\":"
                                                         "9000000000000,\"dataChange\":false}}\n");
    int64_t     two      = put_sidecar(world, "two.parquet", ADD("b"));
    const char *sidecars = join(world, sidecar_line(world, "one%201.parquet", one),
                                sidecar_line(world, "two.parquet", two));
    put_text(world, log_path(world, "t", TOP), join(world, HEAD, sidecars));
    put_commit(world, "t", 8, ADD("c"));
    return world;
}

/* The checkpoint's text is replaced, or what it names was changed: no commits stand in for it. */
static void assert_damaged(World *world, const char *top, const char *message)
{
    DeltaTable *table = NULL;
    if (top)
        assert_ok(store_replace(world->store, str_from_c(log_path(world, "t", TOP)),
                                str_bytes(str_from_c(top)), &world->err),
                  &world->err);
    if (delta_table_open(&world->context, STR("t"), &table, &world->err))
        fail_msg("opened with %zu files, but: %s", delta_table_get_file_count(table), message);
    assert_int_equal(world->err.code, ERR_DAMAGED);
    char text[2000];
    err_format(&world->err, text, sizeof text);
    if (!strstr(text, message)) fail_msg("want %s\n got %s", message, text);
    err_clear(&world->err);
}

static void sidecars_are_read(void **state)
{
    World      *world = world_with_sidecars(state);
    DeltaTable *table = open_table(world, "t");

    assert_int_equal(delta_table_get_version(table), 8);
    assert_int_equal(delta_table_get_file_count(table), 3);
    assert_non_null(file_set_find(table->state->files, STR("a")));
    assert_int_equal(file_set_find(table->state->files, STR("b"))->file.row_count, 3);
    assert_non_null(map_find(table->state->tombstones, STR("gone")));
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err); /* a classic one */
    delta_table_close(table);
    table = open_table(world, "t");
    assert_int_equal(table->checkpoint_version, 8);
    assert_int_equal(delta_table_get_file_count(table), 3);
    delta_table_close(table);
    world_close(world);
}

static void a_missing_sidecar_is_named(void **state)
{
    World *world = world_with_sidecars(state);
    assert_ok(store_remove(world->store, STR("t/_delta_log/_sidecars/two.parquet"), &world->err),
              &world->err);
    assert_damaged(world, NULL, "its sidecar t/_delta_log/_sidecars/two.parquet is missing");
    world_close(world);
}

static void commits_stand_in_for_a_missing_sidecar(void **state)
{
    World *world = world_with_sidecars(state);
    assert_ok(store_remove(world->store, STR("t/_delta_log/_sidecars/two.parquet"), &world->err),
              &world->err);
    put_commit(world, "t", 0, PROTOCOL METADATA);
    for (int64_t version = 1; version < 8; version++)
        put_commit_str(world, "t", version,
                       str_printf(world->arena, ADD("f%lld"), (long long)version));
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(delta_table_get_file_count(table), 8);
    assert_non_null(strstr(world->lines.last, "a damaged checkpoint was passed over"));
    delta_table_close(table);
    world_close(world);
}

static void a_sidecar_of_another_size_is_named(void **state)
{
    World *world = world_with_sidecars(state);
    put_sidecar(world, "two.parquet", ADD("b") ADD("b2 with a longer name"));
    assert_damaged(world, NULL, "_sidecars/two.parquet has ");
    world_close(world);
}

static void a_sidecar_that_is_no_parquet_is_named(void **state)
{
    World *world = world_with_sidecars(state);
    put_text(world, "t/_delta_log/_sidecars/three.parquet", "PAR1 no more PAR1");
    assert_damaged(world, join(world, HEAD, sidecar_line(world, "three.parquet", 17)),
                   "_sidecars/three.parquet");
    world_close(world);
}

static void parts_that_do_not_fit_are_damage(void **state)
{
    World      *world = world_with_sidecars(state);
    int64_t     size  = put_sidecar(world, "s.parquet", ADD("b"));
    const char *line  = sidecar_line(world, "s.parquet", size);

    assert_damaged(world, join(world, HEAD MARK, line), "two checkpointMetadata");
    assert_damaged(world, join(world, HEAD ADD("x"), line), "files of its own besides");
    assert_damaged(world, join(world, PROTOCOL METADATA, line), "no checkpointMetadata");
    assert_damaged(world, PROTOCOL METADATA "{\"checkpointMetadata\":{\"version\":6}}\n",
                   "names another version");
    assert_damaged(world, HEAD "{\"sidecar\":{\"sizeInBytes\":1}}\n", "a sidecar without a path");
    size = put_sidecar(world, "s.parquet", ADD("b") PROTOCOL);
    assert_damaged(world, join(world, HEAD, sidecar_line(world, "s.parquet", size)),
                   "an action that is no add and no remove");
    world_close(world);
}

static void a_cut_checkpoint_names_file_line_and_byte(void **state)
{
    World *world = world_with_sidecars(state);
    assert_damaged(world, HEAD "{\"add\":{\"path\":\"f\",\"size\":1",
                   TOP ": line 4 is no JSON object (byte ");
    assert_damaged(world, HEAD "{\"add\":{\"size\":1}}\n",
                   TOP ": line 4 has an add without a path");
    world_close(world);
}

/* A classic checkpoint whose row lacks what an add cannot do without. */
static void a_broken_row_is_named(void **state)
{
    World  *world = world_with_sidecars(state);
    int64_t size  = put_sidecar(world, "s.parquet",
                                ADD("a") "{\"add\":{\"path\":\"b\",\"modificationTime\":1}}\n");
    assert_damaged(world, join(world, HEAD, sidecar_line(world, "s.parquet", size)),
                   "_sidecars/s.parquet: row 1 has an add without a size");
    size = put_sidecar(world, "s.parquet", ADD("a") "{\"add\":{\"size\":1}}\n");
    assert_damaged(world, join(world, HEAD, sidecar_line(world, "s.parquet", size)),
                   "_sidecars/s.parquet: row 1 has an add without a path");
    size = put_sidecar(world, "s.parquet", "{\"remove\":{\"deletionTimestamp\":1}}\n");
    assert_damaged(world, join(world, HEAD, sidecar_line(world, "s.parquet", size)),
                   "_sidecars/s.parquet row 0: line 1 has a remove without a path");
    world_close(world);
}

static void members_that_we_do_not_write_are_carried(void **state)
{
    World      *world = world_with_sidecars(state);
    const char *kept  = "\"tags\":{\"t\":\"v \\\"q\\\"\"},\"baseRowId\":5,"
                        "\"defaultRowCommitVersion\":6,\"clusteringProvider\":\"liquid\"";
    const char *line  = str_printf(world->arena,
                                   "{\"add\":{\"path\":\"k\",\"size\":1,\"modificationTime\":1,"
                                    "\"partitionValues\":{},%s}}\n",
                                   kept)
                           .ptr;
    int64_t     size = put_sidecar(world, "s.parquet", join(world, ADD("a"), line));
    const char *top  = join(world, HEAD, sidecar_line(world, "s.parquet", size));
    assert_ok(store_replace(world->store, str_from_c(log_path(world, "t", TOP)),
                            str_bytes(str_from_c(top)), &world->err),
              &world->err);
    DeltaTable *table = open_table(world, "t");
    assert_str_is(file_set_find(table->state->files, STR("k"))->file.extra_members, kept);
    assert_str_is(file_set_find(table->state->files, STR("a"))->file.extra_members, "");
    delta_table_close(table);
    world_close(world);
}

static void a_hint_that_counts_more_files_is_told(void **state)
{
    World *world = world_with_sidecars(state);
    put_text(world, log_path(world, "t", "_last_checkpoint"),
             "{\"version\":7,\"size\":9,\"numOfAddFiles\":3}");
    DeltaTable *table = open_table(world, "t");
    assert_int_equal(delta_table_get_file_count(table), 3);
    assert_non_null(strstr(world->lines.last, "counts another number of files"));
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sidecars_are_read),
        cmocka_unit_test(a_missing_sidecar_is_named),
        cmocka_unit_test(commits_stand_in_for_a_missing_sidecar),
        cmocka_unit_test(a_sidecar_of_another_size_is_named),
        cmocka_unit_test(a_sidecar_that_is_no_parquet_is_named),
        cmocka_unit_test(parts_that_do_not_fit_are_damage),
        cmocka_unit_test(a_cut_checkpoint_names_file_line_and_byte),
        cmocka_unit_test(a_broken_row_is_named),
        cmocka_unit_test(members_that_we_do_not_write_are_carried),
        cmocka_unit_test(a_hint_that_counts_more_files_is_told),
    };
    return RUN_DELTA_TESTS(tests);
}
