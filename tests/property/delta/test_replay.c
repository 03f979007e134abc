/* Random histories: replaying every commit gives what a checkpoint and its tail give, and what a
 * naive model gives (delta.md 1.7; test 5 of 7). */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define PATHS    12
#define VERSIONS 30

/* The model: per path, what is live with which deletion vector, and what is a tombstone. */
typedef struct ModelFile {
    bool    is_live;
    int64_t number;               /* of the action that made it so */
    int64_t vector;               /* 0: none */
    int64_t stones[VERSIONS + 1]; /* by vector: the number of the remove, 0: none */
} ModelFile;

typedef struct Model {
    ModelFile files[PATHS];
    int64_t   txns[3];
    int64_t   domains[3]; /* 0: none */
    int64_t   property;
} Model;

static Str path_of(Arena *arena, size_t index)
{
    const char *const odd[] = {"a%20b", "x=1/f", "p%25q", "\xC3\xBC"};
    return index < COUNT_OF(odd) ? str_from_c(odd[index]) : str_printf(arena, "part-%zu", index);
}

#define VECTOR_PATH "ab^-aqEH.-t@S}K{vb[*k^"

static void write_vector(Buf *buf, int64_t vector)
{
    if (vector > 0)
        buf_printf(buf,
                   ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"" VECTOR_PATH
                   "\",\"offset\":%lld,\"sizeInBytes\":9,\"cardinality\":1}",
                   (long long)vector);
}

static Str key_of(Arena *arena, Str path, int64_t vector)
{
    Str id = vector > 0 ? str_printf(arena, "u" VECTOR_PATH "@%lld", (long long)vector) : STR_EMPTY;
    return log_state_key(arena, path, id);
}

static void write_add(Buf *buf, Rng *rng, Str path, int64_t number, int64_t vector)
{
    buf_printf(buf,
               "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{%s},\"size\":%lld,"
               "\"modificationTime\":%lld,\"dataChange\":%s",
               STR_ARG(path), rng_below(rng, 2) ? "\"p\":\"v\\n\"" : "", (long long)number,
               (long long)number * 2, rng_below(rng, 2) ? "true" : "false");
    write_vector(buf, vector);
    if (rng_below(rng, 4) == 0) buf_printf(buf, ",\"tags\":{\"t\":\"%lld\"}", (long long)number);
    if (rng_below(rng, 4) == 0)
        buf_printf(buf, ",\"baseRowId\":%lld,\"defaultRowCommitVersion\":1", (long long)number);
    if (rng_below(rng, 4) == 0) buf_append_c(buf, ",\"clusteringProvider\":\"c\"");
    if (rng_below(rng, 3) > 0)
        buf_printf(buf,
                   ",\"stats\":\"{\\\"numRecords\\\":%lld,\\\"minValues\\\":{\\\"s\\\":"
                   "\\\"\\\\\\\"\\u00e9\\\"}}\"",
                   (long long)number);
    buf_append_c(buf, "}}\n");
}

static int64_t deletion_ms(int64_t number)
{
    return TEST_UTC_US / 1000 - number; /* recent: a checkpoint keeps it */
}

static void write_remove(Buf *buf, Str path, int64_t number, int64_t vector)
{
    buf_printf(buf,
               "{\"remove\":{\"path\":\"%.*s\",\"deletionTimestamp\":%lld,\"dataChange\":true,"
               "\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":%lld",
               STR_ARG(path), (long long)deletion_ms(number), (long long)number);
    write_vector(buf, vector);
    buf_append_c(buf, "}}\n");
}

static void write_header(Buf *buf, const Model *model)
{
    buf_printf(buf,
               "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},"
               "\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"s\\\",\\\"type\\\":"
               "\\\"string\\\"}]}\","
               "\"partitionColumns\":[],\"configuration\":{\"k\":\"%lld\"},\"createdTime\":1}}\n",
               (long long)model->property);
}

/* Another vector for a live file: the file is removed with the one it had and added with the new
 * one, in either order. */
static void change_vector(Buf *buf, Rng *rng, Str path, ModelFile *file, int64_t number,
                          int64_t vector)
{
    bool removes_first = rng_below(rng, 2);

    if (removes_first) write_remove(buf, path, number, file->vector);
    write_add(buf, rng, path, number, vector);
    if (!removes_first) write_remove(buf, path, number, file->vector);
    file->stones[file->vector] = number;
    file->stones[vector]       = 0;
    file->vector               = vector;
    file->number               = number;
}

static void change_file(Buf *buf, Rng *rng, Str path, ModelFile *file, int64_t number,
                        int64_t version)
{
    uint64_t choice = rng_below(rng, 5);

    if (file->is_live && choice == 1 && file->vector != version) {
        change_vector(buf, rng, path, file, number, version);
    } else if (!file->is_live || choice == 0) { /* once more replaces what the log says of it */
        if (!file->is_live) file->vector = rng_below(rng, 3) == 0 ? version : 0;
        write_add(buf, rng, path, number, file->vector);
        file->is_live              = true;
        file->stones[file->vector] = 0;
        file->number               = number;
    } else {
        write_remove(buf, path, number, file->vector);
        file->is_live              = false;
        file->stones[file->vector] = number;
    }
}

static void gen_commit(Buf *buf, Rng *rng, Arena *arena, Model *model, int64_t version)
{
    if (version == 0)
        buf_append_c(buf, "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                          "\"readerFeatures\":[\"deletionVectors\"],\"writerFeatures\":["
                          "\"deletionVectors\",\"domainMetadata\"]}}\n");
    if (version == 0 || rng_below(rng, 10) == 0) {
        model->property = version;
        write_header(buf, model);
    }
    for (size_t i = 0; i < PATHS; i++) {
        if (rng_below(rng, 3) == 0)
            change_file(buf, rng, path_of(arena, i), &model->files[i], version * 100 + (int64_t)i,
                        version);
    }
    for (int i = 0; i < 3; i++) {
        if (rng_below(rng, 4) == 0) {
            model->txns[i] = version + 1;
            buf_printf(buf,
                       "{\"txn\":{\"appId\":\"app %d\",\"version\":%lld,\"lastUpdated\":%lld}}\n",
                       i, (long long)version + 1, (long long)version);
        }
        if (rng_below(rng, 6) == 0) {
            bool removes      = model->domains[i] > 0 && rng_below(rng, 2);
            model->domains[i] = removes ? 0 : version + 1;
            buf_printf(buf,
                       "{\"domainMetadata\":{\"domain\":\"d%d\",\"configuration\":\"{\\\"v\\\":%"
                       "lld}\",\"removed\":%s}}\n",
                       i, (long long)version + 1, removes ? "true" : "false");
        }
    }
    buf_append_c(buf, "{\"commitInfo\":{\"operation\":\"TEST\"}}\n");
}

/* --- comparing --- */

static int compare_lines(const void *left, const void *right)
{
    return str_compare(*(const Str *)left, *(const Str *)right);
}

static Str sorted(Arena *arena, Str *lines, size_t count)
{
    Buf buf = buf_new(arena, 0);
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        buf_append(&buf, lines[i]);
        buf_append_char(&buf, '\n');
    }
    return buf_str(&buf);
}

/* All of a state as text that does not depend on the order of its maps. */
static Str dump(const DeltaTable *table, Arena *arena)
{
    const LogState *state = table->state;
    Str             lines[400];
    size_t          count = 0;
    Str             key, value;
    const LiveFile *live;
    void           *entry;
    for (size_t at = 0; (live = file_set_next(state->files, &at));) {
        const DeltaFile *file = &live->file;
        lines[count++]        = str_printf(
                   arena, "live %.*s %lld %lld %lld %.*s %.*s", STR_ARG(file->path),
                   (long long)file->size_bytes, (long long)file->modified_ms, (long long)file->row_count,
                   STR_ARG(delta_file_get_stats(file, arena)), STR_ARG(file->extra_members));
    }
    for (size_t at = 0; map_next(state->tombstones, &at, &key, &entry);)
        lines[count++] = str_printf(
            arena, "stone %.*s %lld %.*s", STR_ARG(((Tombstone *)entry)->path),
            (long long)((Tombstone *)entry)->deletion_ms, STR_ARG(((Tombstone *)entry)->members));
    for (size_t at = 0; map_next(state->txns, &at, &key, &entry);)
        lines[count++] = str_printf(arena, "txn %.*s %lld %lld", STR_ARG(key),
                                    (long long)((TxnEntry *)entry)->version,
                                    (long long)((TxnEntry *)entry)->last_updated_ms);
    for (size_t at = 0; map_next(state->domains, &at, &key, &entry);)
        lines[count++] = str_printf(arena, "domain %.*s %.*s", STR_ARG(key),
                                    STR_ARG(((DomainEntry *)entry)->configuration));
    assert_true(delta_table_find_property(table, STR("k"), &value));
    lines[count++] = str_printf(arena, "k %.*s", STR_ARG(value));
    return sorted(arena, lines, count);
}

static void assert_is_model(const DeltaTable *table, const Model *model, Arena *arena)
{
    size_t live = 0, stones = 0;
    Str    value;
    for (size_t i = 0; i < PATHS; i++) {
        const ModelFile *want = &model->files[i];
        for (int64_t vector = 0; vector <= VERSIONS; vector++) {
            Str              key   = key_of(arena, path_of(arena, i), vector);
            const LiveFile  *file  = file_set_find(table->state->files, key);
            const Tombstone *stone = map_find(table->state->tombstones, key);
            assert_int_equal(file != NULL, want->is_live && want->vector == vector);
            assert_int_equal(stone != NULL, want->stones[vector] > 0);
            if (file) assert_int_equal(file->file.size_bytes, want->number);
            if (stone) assert_int_equal(stone->deletion_ms, deletion_ms(want->stones[vector]));
            live += file != NULL;
            stones += stone != NULL;
        }
    }
    assert_int_equal(delta_table_get_file_count(table), live);
    assert_int_equal(map_count(table->state->tombstones), stones);
    for (int i = 0; i < 3; i++) {
        int64_t txn = 0;
        (void)delta_table_find_txn(table, str_printf(arena, "app %d", i), &txn);
        assert_int_equal(txn, model->txns[i]);
        const DomainEntry *domain = map_find(table->state->domains, str_printf(arena, "d%d", i));
        assert_int_equal(domain != NULL, model->domains[i] > 0);
        if (domain)
            assert_true(str_equal(domain->configuration,
                                  str_printf(arena, "{\"v\":%lld}", (long long)model->domains[i])));
    }
    assert_true(delta_table_find_property(table, STR("k"), &value));
    assert_true(str_equal(value, str_printf(arena, "%lld", (long long)model->property)));
}

static DeltaTable *open_version(World *world, const char *path, int64_t version)
{
    DeltaTable *table = NULL;
    assert_ok(
        delta_table_open_version(&world->context, str_from_c(path), version, &table, &world->err),
        &world->err);
    return table;
}

static void replay_does_not_depend_on_checkpoints(void **state)
{
    FOR_EACH_SEED (seed, 12) {
        World      *world = world_new(state);
        Rng        *rng   = rng_new(seed);
        Model       model = {0};
        Model       models[VERSIONS];
        DeltaTable *watch = NULL; /* refreshed commit by commit */
        for (int64_t version = 0; version < VERSIONS; version++) {
            Buf buf = buf_new(world->arena, 0);
            gen_commit(&buf, rng, world->arena, &model, version);
            models[version] = model;
            put_commit_str(world, "with", version, buf_str(&buf));
            put_commit_str(world, "without", version, buf_str(&buf));
            if (!watch) watch = open_table(world, "without");
            assert_ok(delta_table_refresh(watch, &world->err), &world->err);
            assert_is_model(watch, &model, world->arena);
            if (version > 0 && rng_below(rng, 6) == 0) {
                DeltaTable *table = open_table(world, "with");
                assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
                delta_table_close(table);
            }
        }
        delta_table_close(watch);
        for (int64_t version = 0; version < VERSIONS; version++) {
            DeltaTable *left  = open_version(world, "with", version),
                       *right = open_version(world, "without", version);
            Str got = dump(left, world->arena), want = dump(right, world->arena);
            if (!str_equal(got, want))
                fail_msg("version %lld\n%.*s\nreplayed\n%.*s", (long long)version, STR_ARG(got),
                         STR_ARG(want));
            assert_is_model(left, &models[version], world->arena);
            delta_table_close(left);
            delta_table_close(right);
        }
        rng_close(rng);
        world_close(world);
    }
}

/* A file with one deletion vector after another: the key is path and vector, and the order of
 * lines in a commit carries no meaning. */
static void deletion_vectors_are_part_of_a_files_name(void **state)
{
    FOR_EACH_SEED (seed, 200) {
        World    *world = world_new(state);
        Rng      *rng   = rng_new(seed);
        LogState *log   = log_state_new();
        LogPlace  place = {
             .context = &world->context, .path = STR("t"), .log_path = STR("t/_delta_log")};
        int64_t vector[PATHS]; /* -1: no file, 0: no vector */
        for (size_t i = 0; i < PATHS; i++)
            vector[i] = -1;
        for (int64_t version = 0; version < 40; version++) {
            size_t  i        = (size_t)rng_below(rng, PATHS);
            int64_t next     = rng_below(rng, 4) == 0 ? -1 : vector[i] + 1;
            Buf     lines[2] = {buf_new(world->arena, 0), buf_new(world->arena, 0)};
            if (vector[i] < 0 && next < 0) continue;
            if (vector[i] >= 0) {
                buf_printf(&lines[0], "{\"remove\":{\"path\":\"f%zu\",\"dataChange\":true", i);
                if (vector[i] > 0)
                    buf_append(
                        &lines[0],
                        str_printf(world->arena,
                                   ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":"
                                   "\"ab^-aqEH.-t@S}K{vb[*k^\",\"offset\":%lld}",
                                   (long long)vector[i]));
                buf_append_c(&lines[0], "}}\n");
            }
            if (next >= 0) {
                buf_printf(&lines[1], "{\"add\":{\"path\":\"f%zu\",\"size\":1", i);
                if (next > 0)
                    buf_append(
                        &lines[1],
                        str_printf(world->arena,
                                   ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":"
                                   "\"ab^-aqEH.-t@S}K{vb[*k^\",\"offset\":%lld,\"cardinality\":2}",
                                   (long long)next));
                buf_append_c(&lines[1], "}}\n");
            }
            bool flips = rng_below(rng, 2);
            Str  text  = str_printf(world->arena, "%.*s%.*s", STR_ARG(buf_str(&lines[flips])),
                                    STR_ARG(buf_str(&lines[!flips])));
            assert_ok(log_state_apply_commit(log, &place, version, text, STR("file"), false, NULL,
                                             &world->err),
                      &world->err);
            vector[i]   = next;
            size_t live = 0;
            for (size_t j = 0; j < PATHS; j++) {
                Str id  = vector[j] > 0 ? str_printf(world->arena, "uab^-aqEH.-t@S}K{vb[*k^@%lld",
                                                     (long long)vector[j])
                                        : STR_EMPTY;
                Str key = log_state_key(world->arena, str_printf(world->arena, "f%zu", j), id);
                assert_int_equal(file_set_find(log->files, key) != NULL, vector[j] >= 0);
                live += vector[j] >= 0;
            }
            assert_int_equal(file_set_count(log->files), live);
        }
        log_state_close(log);
        rng_close(rng);
        world_close(world);
    }
}

static void a_path_that_is_live_twice_is_a_corrupt_log(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n{\"metaData\":{"
               "\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"s\\\","
               "\\\"type\\\":\\\"string\\\"}]}\"}}\n"
               "{\"add\":{\"path\":\"f\",\"size\":1}}\n{\"add\":{\"path\":\"f\",\"size\":1,"
               "\"deletionVector\":{\"storageType\":\"i\",\"pathOrInlineDv\":\"x\"}}}\n");
    DeltaTable *table = NULL;
    assert_false(delta_table_open(&world->context, STR("t"), &table, &world->err));
    assert_err(&world->err, ERR_DAMAGED, "DELTA-L05 corrupt log of table t v0: f is live twice");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(replay_does_not_depend_on_checkpoints),
        property_test(deletion_vectors_are_part_of_a_files_name),
        cmocka_unit_test(a_path_that_is_live_twice_is_a_corrupt_log),
    };
    return RUN_DELTA_TESTS(tests);
}
