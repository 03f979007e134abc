/* Which files of a log lead to a version (delta.md 1.2, 1.3; test 4 of 7), with everything that
 * other writers and crashes leave there. */
#include "support/test_support.h"

#include "delta/md5.h"
#include "unit/delta/delta_test.h"

#define PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
#define METADATA                                                                                   \
    "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" \
    "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\",\"configuration\":{}}}\n"

static const char *add_line(World *world, const char *path)
{
    return str_printf(world->arena,
                      "{\"add\":{\"path\":\"%s\",\"partitionValues\":{},\"size\":1,"
                      "\"modificationTime\":1,\"dataChange\":true}}\n",
                      path)
        .ptr;
}

static bool try_open(World *world, int64_t version, DeltaTable **out)
{
    *out = NULL;
    if (version == NO_VERSION) return delta_table_open(&world->context, STR("t"), out, &world->err);
    return delta_table_open_version(&world->context, STR("t"), version, out, &world->err);
}

static void assert_opens(World *world, int64_t target, int64_t version, size_t files)
{
    DeltaTable *table;
    assert_ok(try_open(world, target, &table), &world->err);
    assert_int_equal(delta_table_get_version(table), version);
    assert_int_equal(delta_table_get_file_count(table), files);
    delta_table_close(table);
}

static void assert_refused(World *world, int64_t target, ErrCode code, const char *message)
{
    DeltaTable *table;
    if (try_open(world, target, &table))
        fail_msg("opened at version %lld", (long long)delta_table_get_version(table));
    assert_err(&world->err, code, message);
    err_clear(&world->err);
}

static void remove_log(World *world, const char *name)
{
    assert_ok(store_remove(world->store, str_from_c(log_path(world, "t", name)), &world->err),
              &world->err);
}

static void replace_log(World *world, const char *name, const char *text)
{
    assert_ok(store_replace(world->store, str_from_c(log_path(world, "t", name)),
                            str_bytes(str_from_c(text)), &world->err),
              &world->err);
}

/* 25 versions, checkpoints at 10 and 20. */
static World *world_with_25(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    for (int64_t i = 1; i <= 25; i++)
        append_rows(world, table, i, 1);
    delta_table_close(table);
    return world;
}

static void every_version_opens(void **state)
{
    World *world = world_with_25(state);
    for (int64_t version = 0; version <= 25; version++)
        assert_opens(world, version, version, (size_t)version);
    assert_opens(world, NO_VERSION, 25, 25);
    assert_refused(world, 26, ERR_NOT_FOUND,
                   "DELTA-L04 table t: version 26 does not exist yet; the newest is 25");
    assert_refused(world, -2, ERR_NOT_FOUND, "DELTA-L03");
    world_close(world);
}

static void old_commits_may_be_gone(void **state)
{
    World *world = world_with_25(state);
    for (int64_t version = 0; version < 12; version++)
        remove_log(world, log_name_commit(world->arena, version).ptr);
    assert_opens(world, NO_VERSION, 25, 25);
    assert_opens(world, 10, 10, 10); /* the checkpoint alone: its commit is gone */
    assert_opens(world, 20, 20, 20);
    assert_refused(world, 9, ERR_NOT_FOUND,
                   "DELTA-L03 table t: version 9 is not available; available: 10..25");
    assert_refused(world, 11, ERR_DAMAGED,
                   "DELTA-L02 table t: commit 11 is missing between checkpoint 10 and version 11");
    assert_refused(world, 15, ERR_DAMAGED, "DELTA-L02");
    world_close(world);
}

static void a_hole_is_no_shorter_log(void **state)
{
    World *world = world_with_25(state);
    remove_log(world, log_name_commit(world->arena, 23).ptr);
    assert_refused(world, NO_VERSION, ERR_DAMAGED,
                   "DELTA-L02 table t: commit 23 is missing between checkpoint 20 and version 25");
    assert_opens(world, 22, 22, 22);
    assert_refused(world, 24, ERR_DAMAGED, "DELTA-L02 table t: commit 23");
    world_close(world);
}

static void without_a_checkpoint_the_log_starts_at_0(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 1, PROTOCOL METADATA);
    put_commit(world, "t", 2, add_line(world, "f"));
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "DELTA-L02 table t: commit 0 is missing");
    world_close(world);
}

static void nothing_there_is_no_table(void **state)
{
    World *world = world_new(state);
    assert_refused(world, NO_VERSION, ERR_NOT_FOUND, "DELTA-L01 not a Delta table: t");
    put_text(world, "t/_delta_log/_last_checkpoint", "{\"version\":3,\"size\":1}");
    put_text(world, "t/_delta_log/00000000000000000003.crc", "{}");
    assert_refused(world, NO_VERSION, ERR_NOT_FOUND, "DELTA-L01");
    world_close(world);
}

/* Whatever the hint says, the answer is the same. */
static void a_hint_is_only_a_hint(void **state)
{
    const char *const hints[] = {"",
                                 "{",
                                 "{\"version\":20,\"size\":2",
                                 "null",
                                 "[]",
                                 "{\"version\":\"20\"}",
                                 "{\"size\":3}",
                                 "{\"version\":-1}",
                                 "{\"version\":99}",
                                 "{\"version\":19}",
                                 "{\"version\":7,\"parts\":3}",
                                 "{\"version\":10,\"parts\":1}",
                                 "{\"version\":20}",
                                 "\xFF\xFE",
                                 "{\"version\":20,\"checksum\":\"00\"}"};
    World            *world   = world_with_25(state);
    for (size_t i = 0; i < COUNT_OF(hints); i++) {
        replace_log(world, "_last_checkpoint", hints[i]);
        assert_opens(world, NO_VERSION, 25, 25);
        assert_opens(world, 12, 12, 12);
    }
    remove_log(world, "_last_checkpoint");
    assert_opens(world, NO_VERSION, 25, 25);
    world_close(world);
}

static void a_hint_to_a_deleted_checkpoint_costs_a_listing(void **state)
{
    World *world = world_with_25(state);
    remove_log(world, "00000000000000000020.checkpoint.parquet");
    assert_opens(world, NO_VERSION, 25, 25);
    remove_log(world, "00000000000000000010.checkpoint.parquet");
    assert_opens(world, NO_VERSION, 25, 25);
    world_close(world);
}

static void adaptive_metadata_is_refused_by_its_hint(void **state)
{
    World *world = world_with_25(state);
    replace_log(world, "_last_checkpoint",
                "{\"version\":20,\"checkpointType\":\"AdaptiveMetadataTree\"}");
    assert_refused(world, NO_VERSION, ERR_UNSUPPORTED,
                   "DELTA-P10 table t: t/_delta_log/_last_checkpoint announces adaptive metadata");
    replace_log(world, "_last_checkpoint", "{\"version\":20,\"amtCheckpoint\":{}}");
    assert_refused(world, NO_VERSION, ERR_UNSUPPORTED, "DELTA-P10");
    remove_log(world, "_last_checkpoint");
    put_commit(world, "t", 26, "{\"checkpoint\":{}}\n");
    assert_refused(world, NO_VERSION, ERR_UNSUPPORTED, "DELTA-P10");
    world_close(world);
}

static void the_hints_checksum_is_the_protocols(void **state)
{
    Arena   *arena = arena_new();
    JsonText object;
    size_t   bad_at;
    uint8_t  digest[MD5_BYTES];
    (void)state;
    assert_true(json_text_parse(
        STR("{\"k0\":\"'v 0'\", \"checksum\": \"adsaskfljadfkjadfkj\", \"k1\":{\"k2\": 2, \"k3\": "
            "[\"v3\", [1, 2], {\"k4\": \"v4\", \"k5\": [\"v5\", \"v6\", \"v7\"]}]}}"),
        &object, &bad_at));
    Str canonical = last_checkpoint_canonical(object, arena);
    assert_str_is(canonical, "\"k0\"=\"%27v%200%27\",\"k1\"+\"k2\"=2,\"k1\"+\"k3\"+0=\"v3\",\"k1\"+"
                             "\"k3\"+1+0=1,\"k1\"+\"k3\"+1+1=2,\"k1\"+\"k3\"+2+\"k4\"=\"v4\","
                             "\"k1\"+\"k3\"+2+\"k5\"+0=\"v5\",\"k1\"+\"k3\"+2+\"k5\"+1=\"v6\","
                             "\"k1\"+\"k3\"+2+\"k5\"+2=\"v7\"");
    md5_digest(str_bytes(canonical), digest);
    assert_str_is(hex_encode(arena, (Bytes){digest, MD5_BYTES}, false),
                  "6a92d155a59bf2eecbd4b4ec7fd1f875");
    /* whatever the order of the members is */
    assert_true(json_text_parse(STR("{\"k1\":{\"k3\": [\"v3\", [1, 2], {\"k5\": [\"v5\", \"v6\", "
                                    "\"v7\"], \"k4\": \"v4\"}], "
                                    "\"k2\": 2}, \"checksum\": \"other\", \"k0\":\"'v 0'\"}"),
                                &object, &bad_at));
    assert_str_is(last_checkpoint_canonical(object, arena), str_c(arena, canonical));
    const struct {
        const char *text, *hex;
    } vectors[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
        {"1234567890123456789012345678901234567890123456789012345",
         "c9ccf168914a1bcfc3229f1948e67da0"},
        {"12345678901234567890123456789012345678901234567890123456",
         "49f193adce178490e34d1b3a4ec0064c"},
        {"1234567890123456789012345678901234567890123456789012345678901234",
         "eb6c4179c0a7c82cc2828c1e6338e165"}};
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        md5_digest(str_bytes(str_from_c(vectors[i].text)), digest);
        assert_str_is(hex_encode(arena, (Bytes){digest, MD5_BYTES}, false), vectors[i].hex);
    }
    arena_close(arena);
}

/* With a good checksum the hint is used, which shows in a log whose older part is gone for the
 * listing but not for it. */
static void a_good_checksum_lets_the_hint_be_used(void **state)
{
    World   *world = world_with_25(state);
    LogPlace place = {
        .context = &world->context, .path = STR("t"), .log_path = STR("t/_delta_log")};
    LastCheckpoint hint;
    JsonText       object;
    size_t         bad_at;
    uint8_t        digest[MD5_BYTES];
    const Str      text = STR("{\"version\":20,\"size\":-1}");
    assert_true(json_text_parse(text, &object, &bad_at));
    md5_digest(str_bytes(last_checkpoint_canonical(object, world->arena)), digest);
    replace_log(world, "_last_checkpoint",
                str_printf(world->arena, "{\"version\":20,\"checksum\":\"%s\",\"size\":-1}",
                           hex_encode(world->arena, (Bytes){digest, MD5_BYTES}, true).ptr)
                    .ptr);
    assert_true(last_checkpoint_read(&place, world->arena, &hint, &world->err));
    assert_int_equal(hint.version, 20);
    replace_log(world, "_last_checkpoint",
                str_printf(world->arena, "{\"version\":21,\"checksum\":\"%s\",\"size\":-1}",
                           hex_encode(world->arena, (Bytes){digest, MD5_BYTES}, true).ptr)
                    .ptr);
    assert_false(last_checkpoint_read(&place, world->arena, &hint, &world->err));
    assert_int_equal(world->err.code, ERR_NONE);
    world_close(world);
}

static void empty_files_are_absent_or_damage(void **state)
{
    World *world = world_with_25(state);
    replace_log(world, "00000000000000000020.checkpoint.parquet", "");
    assert_opens(world, NO_VERSION, 25, 25);
    put_text(world, "t/_delta_log/00000000000000000025.checkpoint.parquet", "");
    assert_opens(world, NO_VERSION, 25, 25);
    replace_log(world, "00000000000000000024.json", "");
    assert_refused(world, NO_VERSION, ERR_DAMAGED,
                   "DELTA-L09 t/_delta_log/00000000000000000024.json: the commit is empty");
    world_close(world);
}

static void a_torn_commit_names_file_line_and_byte(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0, PROTOCOL METADATA);
    put_commit(world, "t", 1, "{\"add\":{\"path\":\"f\",\"size\":1}}\n{\"add\":{\"pa");
    assert_refused(world, NO_VERSION, ERR_DAMAGED,
                   "DELTA-L09 t/_delta_log/00000000000000000001.json: line 2 is no JSON object "
                   "(byte 41 of the file)");
    replace_log(world, "00000000000000000001.json", "{\"add\":{\"size\":1}}\n");
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "line 1 has an add without a path");
    replace_log(world, "00000000000000000001.json",
                "{\"txn\":{\"appId\":\"a\",\"version\":1.5}}\n");
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "line 1 has a txn without a version");
    replace_log(world, "00000000000000000001.json", "{\"add\":{\"path\":\"f\xFF\",\"size\":1}}\n");
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "line 1 is not UTF-8");
    replace_log(world, "00000000000000000001.json", "{\"remove\":[]}\n");
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "line 1 has an action that is no object");
    /* what the protocol tells us to pass over */
    replace_log(world, "00000000000000000001.json",
                "\xEF\xBB\xBF{\"add\":{\"path\":\"f\",\"size\":1,\"modificationTime\":1,"
                "\"dataChange\":true,\"deletionVector\":null,\"x\":1e999}}\r\n\n  \n"
                "{\"unheard\":7}\n{\"add\":null,\"txn\":{\"appId\":\"a\",\"version\":3,"
                "\"lastUpdated\":null}}");
    DeltaTable *table = open_table(world, "t");
    int64_t     version;
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_true(delta_table_find_txn(table, STR("a"), &version));
    assert_int_equal(version, 3);
    delta_table_close(table);
    world_close(world);
}

/* 1.6: they save nothing, and are passed over, whatever is in them; so is what is not ours. */
static void log_compaction_files_are_not_read(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0, PROTOCOL METADATA);
    for (int64_t version = 1; version <= 4; version++)
        put_commit_str(world, "t", version,
                       str_printf(world->arena, "{\"add\":{\"path\":\"f%lld\",\"size\":1}}\n",
                                  (long long)version));
    put_text(world,
             log_path(world, "t", "00000000000000000001.00000000000000000003.compacted.json"),
             "no JSON");
    put_text(world,
             log_path(world, "t", "00000000000000000002.00000000000000000009.compacted.json"),
             "{\"add\":{\"path\":\"other\",\"size\":1}}\n");
    put_text(world, log_path(world, "t", "00000000000000000004.crc"), "");
    assert_opens(world, NO_VERSION, 4, 4);
    world_close(world);
}

/* 1.5: texts stay as they are, whatever a JSON library would make of them. */
static void odd_numbers_and_letters_survive(void **state)
{
    static const char stats[] =
        "{\"numRecords\":1,\"minValues\":{\"n\":"
        "12345678901234567890123456789012345678,\"r\":1e999,\"s\":\"a\\u0000b\"}}";
    World     *world = world_new(state);
    Buf        line  = buf_new(world->arena, 0);
    JsonWriter json  = json_writer(&line, false, false);
    buf_append_c(&line, PROTOCOL METADATA "{\"add\":{\"path\":\"f\",\"size\":1,\"stats\":");
    json_str(&json, str_from_c(stats));
    buf_append_c(&line, ",\"tags\":{\"t\":\"x\\u0000y\",\"u\":\"\\ud83d\\ude00\"}}}");
    put_commit_str(world, "t", 0, buf_str(&line));
    for (int round = 0; round < 2; round++) { /* from the commit, then from a checkpoint */
        DeltaTable      *table = open_table(world, "t");
        size_t           at    = 0;
        const DeltaFile *file;
        assert_true(delta_table_next_file(table, &at, &file));
        assert_str_is(delta_file_get_stats(file, world->arena), stats);
        assert_true(str_find(file->extra_members, STR("x\\u0000y"), 0) > 0);
        assert_int_equal(file->row_count, 1);
        if (round == 0) assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
        if (round == 1) assert_int_equal(table->checkpoint_version, 0);
        delta_table_close(table);
    }
    world_close(world);
}

static void a_log_without_its_header_is_damaged(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0, METADATA);
    assert_refused(world, NO_VERSION, ERR_DAMAGED,
                   "DELTA-L06 the log of table t v0 has no protocol action");
    put_commit(world, "t", 1, PROTOCOL);
    assert_opens(world, NO_VERSION, 1, 0);
    world_close(world);
    world = world_new(state);
    put_commit(world, "t", 0, PROTOCOL);
    assert_refused(world, NO_VERSION, ERR_DAMAGED,
                   "DELTA-L06 the log of table t v0 has no metaData action");
    put_commit(world, "t", 1, "{\"metaData\":{\"id\":\"x\",\"configuration\":{}}}");
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "DELTA-L06 its metaData has no schemaString");
    world_close(world);
}

static Str local_of(World *world, const char *path)
{
    Str local;
    assert_ok(store_fetch_local(world->store, str_from_c(path), world->arena, &local, &world->err),
              &world->err);
    return local;
}

static void copy_file(World *world, const char *from, const char *to)
{
    Str data = read_text(world, from);
    assert_ok(store_put_new(world->store, str_from_c(to), str_bytes(data), &world->err),
              &world->err);
}

/* The rows of a checkpoint in two files, as multi-part writers have them. */
static void split_checkpoint(World *world, int64_t version)
{
    Arena       *arena   = world->arena;
    DuckSession *session = NULL;
    Str local = local_of(world, log_path(world, "t", log_name_checkpoint(arena, version).ptr));
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    for (int part = 1; part <= 2; part++) {
        const char *file =
            str_printf(arena, "/tmp/tidelake-part-%d-%lld.parquet", part, (long long)getpid()).ptr;
        Str sql = str_printf(arena,
                             "COPY (SELECT * FROM read_parquet('%s') WHERE (file_row_number %% 2) "
                             "= %d) TO '%s' (FORMAT parquet)",
                             local.ptr, part - 1, file);
        assert_ok(duck_execute(session, sql, NULL, &world->err), &world->err);
        Store *disk = store_local_new(STR_EMPTY);
        Bytes  bytes;
        assert_ok(store_read(disk, str_from_c(file), 1 << 24, arena, &bytes, &world->err),
                  &world->err);
        store_close(disk);
        (void)unlink(file);
        const char *name = str_printf(arena, "%020lld.checkpoint.%010d.0000000002.parquet",
                                      (long long)version, part)
                               .ptr;
        assert_ok(
            store_put_new(world->store, str_from_c(log_path(world, "t", name)), bytes, &world->err),
            &world->err);
    }
    duck_session_close(session);
}

static void a_multi_part_checkpoint_counts_when_it_is_whole(void **state)
{
    World *world = world_with_25(state);
    split_checkpoint(world, 20);
    remove_log(world, "00000000000000000020.checkpoint.parquet");
    for (int64_t version = 0; version <= 20; version++)
        remove_log(world, log_name_commit(world->arena, version).ptr);
    assert_opens(world, NO_VERSION, 25, 25);
    assert_opens(world, 20, 20, 20);
    /* parts of another division beside it change nothing */
    copy_file(
        world,
        log_path(world, "t", "00000000000000000020.checkpoint.0000000001.0000000002.parquet"),
        log_path(world, "t", "00000000000000000020.checkpoint.0000000001.0000000003.parquet"));
    assert_opens(world, NO_VERSION, 25, 25);
    remove_log(world, "00000000000000000020.checkpoint.0000000002.0000000002.parquet");
    assert_refused(world, NO_VERSION, ERR_DAMAGED,
                   "DELTA-L02 table t: commit 11 is missing between checkpoint 10 and version 25");
    world_close(world);
}

static void of_two_checkpoints_at_a_version_either_will_do(void **state)
{
    World *world = world_with_25(state);
    copy_file(
        world, log_path(world, "t", "00000000000000000020.checkpoint.parquet"),
        log_path(world, "t",
                 "00000000000000000020.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"));
    for (int64_t version = 0; version <= 20; version++)
        remove_log(world, log_name_commit(world->arena, version).ptr);
    assert_opens(world, NO_VERSION, 25, 25);
    remove_log(world, "00000000000000000020.checkpoint.parquet");
    assert_opens(world, NO_VERSION, 25, 25);
    world_close(world);
}

static void a_checkpoint_of_json_lines_is_read(void **state)
{
    World *world = world_new(state);
    put_text(
        world,
        "t/_delta_log/00000000000000000007.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        str_printf(world->arena, "%s%s%s{\"checkpointMetadata\":{\"version\":7}}\n", PROTOCOL,
                   METADATA, add_line(world, "f"))
            .ptr);
    assert_opens(world, NO_VERSION, 7, 1);
    put_commit(world, "t", 8, add_line(world, "g"));
    assert_opens(world, NO_VERSION, 8, 2);
    world_close(world);
}

static void a_damaged_checkpoint_is_passed_over(void **state)
{
    World *world = world_with_25(state);
    replace_log(world, "00000000000000000020.checkpoint.parquet", "PAR1 this is no Parquet PAR1");
    assert_opens(world, NO_VERSION, 25, 25);
    assert_true(world->lines.warning_count > 0);
    assert_non_null(strstr(world->lines.last, "a damaged checkpoint was passed over"));
    replace_log(world, "00000000000000000010.checkpoint.parquet", "x");
    assert_opens(world, NO_VERSION, 25, 25); /* from 0 */
    remove_log(world, "00000000000000000003.json");
    assert_refused(world, NO_VERSION, ERR_DAMAGED, "table t: its checkpoint 10 is damaged (");
    world_close(world);
}

/* Readers of a later protocol may find other things in the log: the protocol's message is the
 * one that helps. */
static void an_unknown_protocol_explains_lines_that_cannot_be_read(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":4,\"minWriterVersion\":8}}\n" METADATA
               "{\"add\":{\"where\":\"elsewhere\"}}\n");
    assert_refused(world, NO_VERSION, ERR_UNSUPPORTED, "DELTA-P01");
    put_commit(world, "t", 1, "{\"add\":{\"where\":\"elsewhere\"}}\n");
    assert_refused(world, NO_VERSION, ERR_UNSUPPORTED, "DELTA-P01");
    world_close(world);
}

/* A listing that misses a commit written while it ran, and shows the one after it. */
typedef struct LossyStore {
    Store  base;
    Store *inner;
    Str    hidden;
} LossyStore;

static bool lossy_list(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                       Err *err)
{
    LossyStore *lossy = (LossyStore *)store;
    size_t      kept  = 0;
    if (!store_list_after(lossy->inner, directory, after, arena, out, err)) return false;
    for (size_t i = 0; i < out->count; i++)
        if (!str_equal(out->entries[i].name, lossy->hidden)) out->entries[kept++] = out->entries[i];
    out->count = kept;
    return true;
}

static bool lossy_read(Store *store, Str path, size_t limit, Arena *arena, Bytes *out, Err *err)
{
    return store_read(((LossyStore *)store)->inner, path, limit, arena, out, err);
}

static bool lossy_stat(Store *store, Str path, StoreEntry *out, Err *err)
{
    return store_stat(((LossyStore *)store)->inner, path, out, err);
}

static bool lossy_fetch(Store *store, Str path, Arena *arena, Str *out, Err *err)
{
    return store_fetch_local(((LossyStore *)store)->inner, path, arena, out, err);
}

static void a_listing_that_missed_a_commit_is_no_hole(void **state)
{
    World     *world     = world_with_25(state);
    LossyStore lossy     = {.base   = {.list_after  = lossy_list,
                                       .read        = lossy_read,
                                       .stat        = lossy_stat,
                                       .fetch_local = lossy_fetch},
                            .inner  = world->store,
                            .hidden = STR("00000000000000000023.json")};
    world->context.store = &lossy.base;
    assert_opens(world, NO_VERSION, 25, 25);
    world->context.store = world->store;
    world_close(world);
}

/* Another engine's cleanup between the listing and the reading. */
static bool cleaning_list(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                          Err *err)
{
    LossyStore *lossy = (LossyStore *)store;
    if (!store_list_after(lossy->inner, directory, after, arena, out, err)) return false;
    if (lossy->hidden.len == 0) return true;
    lossy->hidden = STR_EMPTY;
    for (int64_t version = 10; version < 20; version++)
        if (!store_remove(lossy->inner,
                          store_join(arena, directory, log_name_commit(arena, version)), err))
            return false;
    return store_remove(lossy->inner, store_join(arena, directory, log_name_checkpoint(arena, 10)),
                        err);
}

static void a_cleanup_while_we_read_is_only_a_second_look(void **state)
{
    World *world = world_with_25(state);
    remove_log(world, "_last_checkpoint");
    Str saved = read_text(world, log_path(world, "t", "00000000000000000020.checkpoint.parquet"));
    remove_log(world, "00000000000000000020.checkpoint.parquet");
    LossyStore lossy     = {.base   = {.list_after  = cleaning_list,
                                       .read        = lossy_read,
                                       .stat        = lossy_stat,
                                       .fetch_local = lossy_fetch},
                            .inner  = world->store,
                            .hidden = STR("once")};
    world->context.store = &lossy.base;
    /* the listing showed checkpoint 10; what is there now is checkpoint 20 */
    assert_ok(store_put_new(
                  world->store,
                  str_from_c(log_path(
                      world, "t", "00000000000000000020.checkpoint.0000000001.0000000001.parquet")),
                  str_bytes(saved), &world->err),
              &world->err);
    lossy.hidden = STR("once");
    assert_opens(world, NO_VERSION, 25, 25);
    world->context.store = world->store;
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_opens),
        cmocka_unit_test(old_commits_may_be_gone),
        cmocka_unit_test(a_hole_is_no_shorter_log),
        cmocka_unit_test(without_a_checkpoint_the_log_starts_at_0),
        cmocka_unit_test(nothing_there_is_no_table),
        cmocka_unit_test(a_hint_is_only_a_hint),
        cmocka_unit_test(a_hint_to_a_deleted_checkpoint_costs_a_listing),
        cmocka_unit_test(adaptive_metadata_is_refused_by_its_hint),
        cmocka_unit_test(the_hints_checksum_is_the_protocols),
        cmocka_unit_test(a_good_checksum_lets_the_hint_be_used),
        cmocka_unit_test(empty_files_are_absent_or_damage),
        cmocka_unit_test(a_torn_commit_names_file_line_and_byte),
        cmocka_unit_test(log_compaction_files_are_not_read),
        cmocka_unit_test(odd_numbers_and_letters_survive),
        cmocka_unit_test(a_log_without_its_header_is_damaged),
        cmocka_unit_test(a_multi_part_checkpoint_counts_when_it_is_whole),
        cmocka_unit_test(of_two_checkpoints_at_a_version_either_will_do),
        cmocka_unit_test(a_checkpoint_of_json_lines_is_read),
        cmocka_unit_test(a_damaged_checkpoint_is_passed_over),
        cmocka_unit_test(an_unknown_protocol_explains_lines_that_cannot_be_read),
        cmocka_unit_test(a_listing_that_missed_a_commit_is_no_hole),
        cmocka_unit_test(a_cleanup_while_we_read_is_only_a_second_look),
    };
    return RUN_DELTA_TESTS(tests);
}
