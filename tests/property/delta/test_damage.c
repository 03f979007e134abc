/* Files of the log that bytes were changed in, cut off or doubled: never a crash, never fewer files
 * than there are. With the commits at hand the table opens as it is; without them it opens with
 * every file, or is refused and the message names the file (delta.md 1.2, 1.4, 1.5). */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define CHECKPOINT 10
#define VERSIONS   13
#define PER_COMMIT 40

static void put_header(World *world, Buf *buf)
{
    (void)world;
    buf_append_c(buf, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,"
                      "\"writerFeatures\":[\"domainMetadata\"]}}\n"
                      "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\"},"
                      "\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"s\\\",\\\"type\\\":"
                      "\\\"string\\\"}]}\",\"partitionColumns\":[],\"configuration\":{}}}\n");
}

static Str commit_text(World *world, int64_t version)
{
    Buf buf = buf_new(world->arena, 0);

    if (version == 0) put_header(world, &buf);
    buf_printf(&buf, "{\"txn\":{\"appId\":\"a\",\"version\":%lld}}\n", (long long)version);
    for (int i = 0; i < PER_COMMIT; i++)
        buf_printf(&buf,
                   "{\"add\":{\"path\":\"f-%lld-%d\",\"partitionValues\":{%s},\"size\":%d,"
                   "\"modificationTime\":7,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":%d}"
                   "\"%s}}\n",
                   (long long)version, i, i % 3 == 0 ? "\"p\":\"v\"" : "", 100 + i, i,
                   i % 5 == 0 ? ",\"tags\":{\"t\":\"w\"}" : "");
    if (version > 0)
        buf_printf(
            &buf,
            "{\"remove\":{\"path\":\"f-%lld-1\",\"deletionTimestamp\":%lld,\"dataChange\":true}}\n",
            (long long)version - 1, (long long)(TEST_UTC_US / 1000));
    return buf_str(&buf);
}

/* A table of 13 commits with a checkpoint at 10; *checkpoint_out gets its bytes. */
static World *world_with_checkpoint(void **state, Str *checkpoint_out)
{
    World *world = world_new(state);

    for (int64_t version = 0; version < VERSIONS; version++)
        put_commit_str(world, "t", version, commit_text(world, version));
    DeltaTable *table = NULL;
    assert_ok(delta_table_open_version(&world->context, STR("t"), CHECKPOINT, &table, &world->err),
              &world->err);
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    delta_table_close(table);
    *checkpoint_out = read_text(
        world, log_path(world, "t", log_name_checkpoint(world->arena, CHECKPOINT).ptr));
    return world;
}

/* Some bytes changed, a range of zeros, a piece that stands somewhere else too, or an end too soon. */
static Str damage(Rng *rng, Str text, Arena *arena)
{
    Str    copy  = str_copy(arena, text);
    char  *bytes = (char *)(uintptr_t)copy.ptr;
    size_t at = (size_t)rng_below(rng, text.len), to = (size_t)rng_below(rng, text.len);
    size_t len = MIN((size_t)rng_between(rng, 1, 64), text.len - MAX(at, to));

    switch (rng_below(rng, 6)) {
    case 0: return str_slice(copy, 0, at);
    case 1: memset(bytes + at, 0, len); break;
    case 2: memmove(bytes + to, text.ptr + at, len); break;
    case 3: /* near the end, where Parquet has its footer */
        bytes[text.len - 1 - (size_t)rng_below(rng, MIN(text.len, 4000))] ^= (char)(1 << rng_below(
                                                                                        rng, 8));
        break;
    default:
        for (int64_t i = rng_between(rng, 1, 4); i > 0; i--)
            bytes[rng_below(rng, text.len)] ^= (char)rng_between(rng, 1, 255);
    }
    return copy;
}

static void put_damaged(World *world, const char *path, Str text)
{
    assert_ok(store_replace(world->store, str_from_c(path), str_bytes(text), &world->err),
              &world->err);
}

#define FILES_LEFT (VERSIONS * PER_COMMIT - (VERSIONS - 1))

static void a_damaged_checkpoint_costs_no_file(void **state)
{
    Str         good;
    World      *world = world_with_checkpoint(state, &good);
    const char *path  = log_path(world, "t", log_name_checkpoint(world->arena, CHECKPOINT).ptr);
    int         used  = 0;

    FOR_EACH_SEED (seed, 40) {
        Rng        *rng   = rng_new(seed);
        Arena      *arena = arena_new();
        DeltaTable *table = NULL;
        put_damaged(world, path, damage(rng, good, arena));
        if (delta_table_open(&world->context, STR("t"), &table, &world->err)) {
            assert_int_equal(delta_table_get_version(table), VERSIONS - 1);
            assert_int_equal(delta_table_get_file_count(table), FILES_LEFT);
            used += table->checkpoint_version == CHECKPOINT;
            delta_table_close(table);
        } else { /* a changed number may be a protocol of the future, for all that anybody knows */
            assert_err(&world->err, ERR_UNSUPPORTED, "table t v12");
        }
        arena_close(arena);
        rng_close(rng);
    }
    print_message("# %d damaged checkpoints were read as if they were whole\n", used);
    world_close(world);
}

static void without_commits_damage_is_told(void **state)
{
    Str         good;
    World      *world = world_with_checkpoint(state, &good);
    const char *path  = log_path(world, "t", log_name_checkpoint(world->arena, CHECKPOINT).ptr);

    for (int64_t version = 0; version <= CHECKPOINT; version++)
        assert_ok(
            store_remove(world->store, str_from_c(commit_path(world, "t", version)), &world->err),
            &world->err);
    FOR_EACH_SEED (seed, 40) {
        Rng        *rng   = rng_new(seed);
        Arena      *arena = arena_new();
        DeltaTable *table = NULL;
        char        text[2000];
        put_damaged(world, path, damage(rng, good, arena));
        if (delta_table_open(&world->context, STR("t"), &table, &world->err)) {
            assert_int_equal(delta_table_get_version(table), VERSIONS - 1);
            assert_int_equal(delta_table_get_file_count(table), FILES_LEFT);
            delta_table_close(table);
        } else {
            err_format(&world->err, text, sizeof text);
            bool is_told = world->err.code == ERR_DAMAGED || world->err.code == ERR_UNSUPPORTED;
            if (!is_told || !strstr(text, "t"))
                fail_msg("%s: %s", err_code_name(world->err.code), text);
            if (world->err.code == ERR_DAMAGED && !strstr(text, "0000010.checkpoint.parquet") &&
                !strstr(text, "checkpoint 10") && !strstr(text, "DELTA-L"))
                fail_msg("no file in: %s", text);
            err_clear(&world->err);
        }
        arena_close(arena);
        rng_close(rng);
    }
    world_close(world);
}

/* A commit is the only truth: what JSON does not tell as damage must still be a commit. */
static void a_damaged_commit_is_told_or_is_a_commit(void **state)
{
    Str         good;
    World      *world = world_with_checkpoint(state, &good);
    const char *path  = commit_path(world, "t", VERSIONS - 1);

    good = read_text(world, path);
    FOR_EACH_SEED (seed, 400) {
        Rng        *rng   = rng_new(seed);
        Arena      *arena = arena_new();
        DeltaTable *table = NULL;
        char        text[2000];
        put_damaged(world, path, damage(rng, good, arena));
        if (delta_table_open(&world->context, STR("t"), &table, &world->err)) {
            assert_int_equal(delta_table_get_version(table), VERSIONS - 1);
            delta_table_close(table);
        } else {
            err_format(&world->err, text, sizeof text);
            if (world->err.code != ERR_DAMAGED && world->err.code != ERR_UNSUPPORTED)
                fail_msg("%s: %s", err_code_name(world->err.code), text);
            if (strstr(text, "DELTA-L09") && !strstr(text, path)) fail_msg("no file in: %s", text);
            err_clear(&world->err);
        }
        arena_close(arena);
        rng_close(rng);
    }
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(a_damaged_checkpoint_costs_no_file),
        property_test(without_commits_damage_is_told),
        property_test(a_damaged_commit_is_told_or_is_a_commit),
    };
    return RUN_DELTA_TESTS(tests);
}
