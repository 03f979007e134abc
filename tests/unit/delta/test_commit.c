/* Commits and the races they may lose (delta.md 2.5, 2.9 to 2.12; algorithms.md 0.3). */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#include <errno.h>

/* Another writer, who gets in right before our commit. */
typedef struct Rival {
    World      *world;
    FaultPlan   plan;
    const char *lines; /* of its commit; NULL: it stays away */
    int         times; /* how often it wins */
    int64_t     version;
    int         met_count;
} Rival;

static void rival_step(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;
    (void)step;
    if (!rival->lines || rival->times == 0 || strcmp(operation, "put_new") != 0 ||
        str_find(path, STR("_delta_log/"), 0) < 0)
        return;
    rival->times--;
    rival->met_count++;
    assert_ok(store_put_new(rival->world->store, path, str_bytes(str_from_c(rival->lines)),
                            &rival->world->err),
              &rival->world->err);
    rival->version = log_name_parse(
                         str_slice(path, (size_t)str_find_last_char(path, '/') + 1, path.len))
                         .version;
}

/* The rival's commits go into the world's store; ours come through the plan. */
static Rival *rival_new(World *world)
{
    Rival *rival = ARENA_NEW(world->arena, Rival);
    *rival       = (Rival){.world = world, .times = 1};
    rival->plan  = (FaultPlan){
         .on_step = rival_step, .on_step_arg = rival, .only_path_containing = STR_EMPTY};
    world_use_plan(world, &rival->plan);
    return rival;
}

static void rival_close(Rival *rival)
{
    rival->world->context.store = rival->world->store;
}

static int64_t newest_version(World *world)
{
    DeltaTable *table   = open_table(world, "t");
    int64_t     version = delta_table_get_version(table);
    delta_table_close(table);
    return version;
}

#define ADD(path, change)        \
    "{\"add\":{\"path\":\"" path \
    "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":" change "}}\n"
#define REMOVE(path, change) \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":1,\"dataChange\":" change "}}\n"

#define METADATA(fields)                                                                          \
    "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":" \
    "[" fields "]}\",\"configuration\":{}}}\n"
#define FIELD(name, type)                                   \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"" type \
    "\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}"

static const DeltaFile *first_file(const DeltaTable *table)
{
    const DeltaFile *file;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    return file;
}

/* T0.3 */
static void an_append_is_skipped_when_its_txn_is_recorded(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    DeltaTxn     txn   = {STR("a"), 5};
    DeltaOutcome outcome;
    int64_t      version;

    assert_ok(try_append(world, table, 1, 1, &txn, &outcome), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    for (int64_t again = 5; again >= 4; again--) {
        txn.version = again;
        assert_ok(try_append(world, table, 2, 1, &txn, &outcome), &world->err);
        assert_int_equal(outcome, DELTA_SKIPPED);
    }
    assert_int_equal(newest_version(world), 1);
    assert_int_equal(count_files(world, "t"), 1);
    txn.version = 6;
    assert_ok(try_append(world, table, 3, 1, &txn, &outcome), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    assert_true(delta_table_find_txn(table, STR("a"), &version));
    assert_int_equal(version, 6);
    assert_false(delta_table_find_txn(table, STR("b"), &version));
    delta_table_close(table);
    world_close(world);
}

/* T0.3: the search starts after the version that was read, whoever committed in between. */
static void an_own_commit_is_found_by_its_user_metadata(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    Rival       *rival = rival_new(world);
    int64_t      read  = delta_table_get_version(table);
    int64_t      version;
    DeltaOutcome outcome;
    rival->lines       = "{\"commitInfo\":{\"userMetadata\":\"mine?\"}}\n" ADD("rival", "true");
    DeltaAppend append = {.rows          = test_rows(world->arena, 1, 1),
                          .user_metadata = STR("mine"),
                          .purpose       = STR("test")};
    assert_ok(delta_table_append(table, &append, &outcome, &version, &world->err), &world->err);
    assert_int_equal(version, 2);
    append_rows(world, table, 2, 1);
    assert_ok(delta_table_find_user_metadata(&world->context, STR("t"), read, STR("mine"), &version,
                                             &world->err),
              &world->err);
    assert_int_equal(version, 2);
    assert_ok(delta_table_find_user_metadata(&world->context, STR("t"), 2, STR("mine"), &version,
                                             &world->err),
              &world->err);
    assert_int_equal(version, -1);
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

static void a_blind_append_goes_behind_its_winner(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    Rival      *rival = rival_new(world);
    rival->lines      = "{\"commitInfo\":{}}\n" ADD("rival", "true");
    rival->times      = 3;
    append_rows(world, table, 1, 1);
    assert_int_equal(delta_table_get_version(table), 4);
    assert_int_equal(delta_table_get_file_count(table), 2);
    assert_true(world->clock.slept_ns > 0);
    Str text = read_text(world, commit_path(world, "t", 4));
    assert_true(str_find(text, STR("\"readVersion\":3,"), 0) > 0);
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

/* 2.11: the txn moved under us. */
static void a_txn_that_moved_to_ours_skips_the_append(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    Rival       *rival = rival_new(world);
    DeltaTxn     txn   = {STR("orders-v1"), 7};
    DeltaOutcome outcome;
    rival->lines = "{\"txn\":{\"appId\":\"orders-v1\",\"version\":7}}\n" ADD("rival", "true");
    assert_ok(try_append(world, table, 1, 1, &txn, &outcome), &world->err);
    assert_int_equal(outcome, DELTA_SKIPPED);
    assert_int_equal(newest_version(world), 1);
    assert_int_equal(count_files(world, "t"), 0); /* our file, which nobody names, is gone */
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

static void a_txn_that_moved_to_less_is_an_ordinary_conflict(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    Rival       *rival = rival_new(world);
    DeltaTxn     txn   = {STR("orders-v1"), 7};
    DeltaOutcome outcome;
    rival->lines = "{\"txn\":{\"appId\":\"orders-v1\",\"version\":6}}\n" ADD("rival", "true");
    assert_ok(try_append(world, table, 1, 1, &txn, &outcome), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    assert_int_equal(newest_version(world), 2);
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

/* --- rewrites --- */

typedef struct RewriteCase {
    const char *lines; /* %s: the file that we remove */
    bool        whole_passes, removes_pass;
} RewriteCase;

static void a_rewrite_is_computed_again_when_its_ground_moved(void **state)
{
    const RewriteCase cases[] = {
        {ADD("rival", "true"), false, true},
        {"{\"commitInfo\":{\"isBlindAppend\":true}}\n" ADD("rival", "true"), false, true},
        {REMOVE("%s", "true"), false, false},
        {REMOVE("%s", "false") ADD("moved", "false"), false, false},
        {REMOVE("other", "false") ADD("moved", "false"), true, true},
        {REMOVE("other", "true"), false, true},
        {"{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"id\\\","
         "\\\"type\\\":\\\"long\\\"}]}\",\"configuration\":{}}}\n",
         false, false},
        {"{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
         "\"timestampNtz\"],\"writerFeatures\":[\"timestampNtz\",\"domainMetadata\"]}}\n",
         false, false},
        {"{\"txn\":{\"appId\":\"x\",\"version\":1}}\n", true, true},
        {"{\"commitInfo\":{\"operation\":\"VACUUM END\"}}\n", true, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int whole = 0; whole <= 1; whole++) {
            World      *world = world_new(state);
            DeltaTable *table = create_table(world, "t");
            append_rows(world, table, 1, 3);
            const DeltaFile *file  = first_file(table);
            Rival           *rival = rival_new(world);
            const char      *at    = strstr(cases[i].lines, "%s");
            rival->lines = at ? str_printf(world->arena, "%.*s%.*s%s", (int)(at - cases[i].lines),
                                           cases[i].lines, STR_ARG(file->path), at + 2)
                                    .ptr
                              : cases[i].lines;
            DeltaCommit  commit = {.operation        = STR("MERGE"),
                                   .removes          = &file,
                                   .remove_count     = 1,
                                   .read_whole_table = whole,
                                   .user_metadata    = STR_EMPTY};
            DeltaOutcome outcome;
            bool         ok = delta_table_commit(table, &commit, &outcome, NULL, &world->err);
            if (ok != (whole ? cases[i].whole_passes : cases[i].removes_pass))
                fail_msg("%s, %s: %s", whole ? "whole table" : "one file", rival->lines,
                         ok ? "passed" : world->err.message);
            if (!ok) {
                assert_err(&world->err, ERR_CONFLICT, "table t");
                assert_int_equal(newest_version(world), 2);
            }
            assert_int_equal(rival->met_count, 1);
            assert_int_equal(delta_table_get_version(table), ok ? 3 : 2); /* refreshed either way */
            rival_close(rival);
            delta_table_close(table);
            world_close(world);
        }
}

/* --- the same rows in other files --- */

typedef struct Rearrangement {
    Str          key; /* of the file that goes */
    DeltaWriter *writer;
    DeltaAdd     add;
} Rearrangement;

/* The table's first file, copied into another. */
static Rearrangement rearrange_first(World *world, DeltaTable *table)
{
    Rearrangement    out     = {.key = delta_file_key(first_file(table), world->arena)};
    const DeltaFile *file    = first_file(table);
    DuckSession     *session = NULL;
    Str              scan;

    assert_ok(delta_scan_sql(table, &file, 1, NULL, false, world->arena, &scan, &world->err),
              &world->err);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(delta_writer_open(table, STR("optimize"), NULL, &out.writer, &world->err),
              &world->err);
    assert_ok(
        delta_writer_write_query(out.writer, session,
                                 str_printf(world->arena, "SELECT * FROM %.*s", STR_ARG(scan)),
                                 world->arena, &out.add, &world->err),
        &world->err);
    assert_ok(delta_writer_publish(out.writer, &out.add, 1, &world->err), &world->err);
    duck_session_close(session);
    return out;
}

static bool try_rearrange(World *world, DeltaTable *table, const Rearrangement *change)
{
    const DeltaFile *file   = delta_table_find_file(table, change->key);
    DeltaCommit      commit = {.operation    = STR("OPTIMIZE"),
                               .removes      = &file,
                               .remove_count = 1,
                               .adds         = &change->add,
                               .add_count    = 1,
                               .rearranges   = true};
    DeltaOutcome     outcome;

    assert_non_null(file);
    return delta_table_commit(table, &commit, &outcome, NULL, &world->err);
}

static void a_rearrangement_says_that_no_data_changed(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 1, 3);
    int64_t       sum    = query_table(world, table, "SELECT CAST(sum(id) AS BIGINT) FROM %s");
    Rearrangement change = rearrange_first(world, table);
    assert_ok(try_rearrange(world, table, &change), &world->err);
    Str text = read_text(world, commit_path(world, "t", 2));
    assert_int_equal(str_find(text, STR("\"dataChange\":true"), 0), -1);
    assert_true(str_find(text, STR("{\"remove\":{"), 0) > 0);
    assert_true(str_find(text, STR("\"isBlindAppend\":false"), 0) > 0);
    assert_int_equal(query_table(world, table, "SELECT CAST(sum(id) AS BIGINT) FROM %s"), sum);
    assert_null(delta_table_find_file(table, change.key));
    delta_writer_close(change.writer);
    delta_table_close(table);
    world_close(world);
}

/* A table that takes appends alone, or tells its changes, takes the same rows in other files. */
static void a_table_that_takes_appends_alone_can_be_rearranged(void **state)
{
    const char *const protocols[] = {"appendOnly", "changeDataFeed"};
    const char *const keys[]      = {"delta.appendOnly", "delta.enableChangeDataFeed"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        World *world = world_new(state);
        put_commit_str(
            world, "t", 0,
            str_printf(
                world->arena,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                "\"readerFeatures\":[\"timestampNtz\"],\"writerFeatures\":["
                "\"timestampNtz\",\"%s\"]}}\n{\"metaData\":{\"id\":\"x\","
                "\"schemaString\":\"{\\\"fields\\\":[" FIELD("id", "long") "," FIELD(
                    "name",
                    "string") "," FIELD("at",
                                        "timestamp_ntz") "]}\","
                                                         "\"configuration\":{\"%s\":\"true\"}}}\n",
                protocols[i], keys[i]));
        DeltaTable *table = open_table(world, "t");
        append_rows(world, table, 1, 3);
        const DeltaFile *file   = first_file(table);
        DeltaCommit      commit = {.operation = STR("MERGE"), .removes = &file, .remove_count = 1};
        DeltaOutcome     outcome;
        assert_false(delta_table_commit(table, &commit, &outcome, NULL, &world->err));
        assert_err(&world->err, ERR_UNSUPPORTED, i == 0 ? "DELTA-W01" : "DELTA-W11");
        err_clear(&world->err);
        Rearrangement change = rearrange_first(world, table);
        assert_ok(try_rearrange(world, table, &change), &world->err);
        assert_int_equal(count_rows(world, table), 3);
        delta_writer_close(change.writer);
        delta_table_close(table);
        world_close(world);
    }
}

static void a_file_that_is_not_live_is_not_removed(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 1, 3);
    DeltaFile        stranger = *first_file(table);
    const DeltaFile *file     = &stranger;
    stranger.path             = STR("stranger");
    DeltaCommit commit        = {
               .operation = STR("MERGE"), .removes = &file, .remove_count = 1, .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_false(delta_table_commit(table, &commit, &outcome, NULL, &world->err));
    assert_err(&world->err, ERR_CONFLICT, "stranger");
    assert_int_equal(newest_version(world), 1);
    delta_table_close(table);
    world_close(world);
}

/* Path, deletion vector and row ids come from the add, byte by byte. */
static void a_remove_copies_what_its_add_said(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    put_commit(world, "t", 1,
               "{\"add\":{\"path\":\"a%20b%2f\\u00e9.parquet\",\"partitionValues\":{\"p\":\"1\\/"
               "2\"},\"size\":12,\"modificationTime\":1,\"dataChange\":true,"
               "\"tags\":{\"k\":\"v\"},\"baseRowId\":4,\"defaultRowCommitVersion\":1,\"stats\":\"{"
               "\\\"numRecords\\\":1}\"}}\n");
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    const DeltaFile *file   = first_file(table);
    DeltaCommit      commit = {.operation     = STR("DELETE"),
                               .removes       = &file,
                               .remove_count  = 1,
                               .user_metadata = STR_EMPTY};
    DeltaOutcome     outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_true(
        str_find(read_text(world, commit_path(world, "t", 2)),
                 STR("{\"remove\":{\"path\":\"a%20b%2f\xC3\xA9.parquet\",\"deletionTimestamp\":"
                     "1767225600123,\"dataChange\":true,\"extendedFileMetadata\":true,"
                     "\"partitionValues\":{\"p\":\"1\\/"
                     "2\"},\"size\":12,\"baseRowId\":4,\"defaultRowCommitVersion\":1}}\n"),
                 0) > 0);
    assert_int_equal(delta_table_get_file_count(table), 0);
    delta_table_close(table);
    world_close(world);
}

/* Another writer's remove in another encoding still removes, and is told. */
static void a_remove_in_another_encoding_finds_its_file(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    put_commit(world, "t", 1,
               ADD("a%20b.parquet", "true") ADD("c d.parquet", "true") ADD("e.parquet", "true"));
    put_commit(world, "t", 2,
               "{\"remove\":{\"path\":\"a "
               "b.parquet\",\"dataChange\":true}}\n{\"remove\":{\"path\":\"c%20d.parquet\","
               "\"dataChange\":true}}\n");
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_int_equal(world->lines.warning_count, 2);
    delta_table_close(table);
    world_close(world);
}

/* One file, as a path and as a URI, whichever of the two the add has. */
static void a_remove_with_a_scheme_finds_its_file(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    put_commit(world, "t", 1,
               ADD("/some/with%20space/p", "true") ADD("file:///some/b", "true")
                   ADD("file:/some/c", "true") ADD("s3://some/d", "true"));
    put_commit(world, "t", 2,
               "{\"remove\":{\"path\":\"file:///some/with%20space/p\",\"dataChange\":true}}\n"
               "{\"remove\":{\"path\":\"/some/b\",\"dataChange\":true}}\n"
               "{\"remove\":{\"path\":\"file:///some/c\",\"dataChange\":true}}\n"
               "{\"remove\":{\"path\":\"/some/d\",\"dataChange\":true}}\n");
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_int_equal(world->lines.warning_count, 3);
    delta_table_close(table);
    world_close(world);
}

/* --- the schema under an append --- */

static void an_append_survives_a_column_that_is_added(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    Rival      *rival = rival_new(world);
    rival->lines      = METADATA(FIELD("id", "long") "," FIELD("name", "string") "," FIELD(
             "at", "timestamp_ntz") "," FIELD("more", "date"));
    append_rows(world, table, 1, 2);
    assert_int_equal(delta_table_get_version(table), 2);
    assert_int_equal(delta_table_get_schema(table)->column_count, 4);
    assert_int_equal(query_table(world, table, "SELECT count(*) FROM %s WHERE more IS NULL"), 2);
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

static void an_append_stops_at_a_column_that_is_not_what_it_was(void **state)
{
    const char *const rivals[] = {METADATA(FIELD("id", "string") "," FIELD(
                                      "name", "string") "," FIELD("at", "timestamp_ntz")),
                                  METADATA(FIELD("id", "long"))};
    for (size_t i = 0; i < COUNT_OF(rivals); i++) {
        World       *world = world_new(state);
        DeltaTable  *table = create_table(world, "t");
        Rival       *rival = rival_new(world);
        DeltaOutcome outcome;
        rival->lines = rivals[i];
        assert_false(try_append(world, table, 1, 1, NULL, &outcome));
        assert_err(&world->err, ERR_CONFLICT,
                   i == 0 ? "and changed column id" : "and changed column name");
        assert_int_equal(newest_version(world), 1);
        rival_close(rival);
        delta_table_close(table);
        world_close(world);
    }
}

static bool try_schema(World *world, DeltaTable *table, Str name, ColumnType type,
                       DeltaOutcome *out)
{
    Column      column = {name, type, STR_EMPTY};
    Schema      schema = {&column, 1};
    DeltaCommit commit = {
        .operation = STR("ADD COLUMNS"), .schema = &schema, .user_metadata = STR_EMPTY};
    return delta_table_commit(table, &commit, out, NULL, &world->err);
}

static void a_column_that_a_winner_added_is_not_added_again(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    Rival       *rival = rival_new(world);
    DeltaOutcome outcome;
    rival->lines = METADATA(FIELD("id", "long") "," FIELD("name", "string") "," FIELD(
        "at", "timestamp_ntz") "," FIELD("MORE", "date"));
    assert_ok(try_schema(world, table, STR("more"), COLUMN_TYPE(TYPE_DATE), &outcome), &world->err);
    assert_int_equal(outcome, DELTA_SKIPPED);
    assert_int_equal(newest_version(world), 1);
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

static void what_a_table_cannot_become_is_refused_before_anything_is_written(void **state)
{
    World        *world = world_new(state);
    DeltaTable   *table = create_table(world, "t");
    DeltaOutcome  outcome;
    DeltaProperty property = {STR("delta.enableChangeDataFeed"), STR("true")};
    assert_false(try_schema(world, table, STR("NAME"), COLUMN_TYPE(TYPE_LONG), &outcome));
    assert_err(&world->err, ERR_SCHEMA_CHANGED,
               "table t: column name has type STRING, which does not hold the new type BIGINT");
    assert_false(try_schema(world, table, STR("Order Id"), COLUMN_TYPE(TYPE_LONG), &outcome));
    assert_err(&world->err, ERR_SCHEMA_CHANGED, "the new column Order Id has a character");
    assert_err(&world->err, ERR_SCHEMA_CHANGED,
               "ALTER TABLE delta.`t` SET TBLPROPERTIES ('delta.columnMapping.mode'='name'");
    DeltaCommit commit = {.operation          = STR("SET TBLPROPERTIES"),
                          .set_properties     = &property,
                          .set_property_count = 1,
                          .user_metadata      = STR_EMPTY};
    assert_false(delta_table_commit(table, &commit, &outcome, NULL, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "delta.enableChangeDataFeed=true");
    assert_int_equal(newest_version(world), 0);
    delta_table_close(table);
    world_close(world);
}

/* A metadata change makes readers look for the new schema: a checkpoint shows it to them (2.9). */
static void a_schema_change_brings_a_checkpoint(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    DeltaOutcome outcome;
    assert_ok(try_schema(world, table, STR("more"), DECIMAL_TYPE(38, 10), &outcome), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    assert_true(
        file_exists(world, log_path(world, "t", "00000000000000000001.checkpoint.parquet")));
    delta_table_close(table);
    world_close(world);
}

/* --- giving up, and answers that were lost --- */

static void after_twenty_lost_races_the_commit_gives_up(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    Rival       *rival = rival_new(world);
    DeltaOutcome outcome;
    rival->lines = "{\"commitInfo\":{}}\n" ADD("rival", "true");
    rival->times = 1000;
    assert_false(try_append(world, table, 1, 1, NULL, &outcome));
    assert_err(&world->err, ERR_CONFLICT, "other writers committed first 20 times in a row");
    assert_int_equal(rival->met_count, 20);
    /* the first two are no news */
    assert_int_equal(world->lines.warning_count, 18);
    assert_non_null(strstr(world->lines.last, "another writer committed first"));
    /* full jitter: 50 ms doubling to 5 s, nineteen times */
    assert_true(world->clock.slept_ns > 0);
    assert_true(world->clock.slept_ns <
                INT64_C(1000000) * (50 + 100 + 200 + 400 + 800 + 1600 + 3200 + 12 * 5000));
    rival->times = 0;
    append_rows(world, table, 1, 1);
    assert_int_equal(delta_table_get_version(table), 21);
    rival_close(rival);
    delta_table_close(table);
    world_close(world);
}

/* The commit landed and the answer was lost: it is found by its txnId, not written twice. */
static void a_lost_answer_is_settled_by_reading_the_log(void **state)
{
    for (int after = 0; after <= 1; after++) {
        World      *world = world_new(state);
        DeltaTable *table = create_table(world, "t");
        FaultPlan   plan  = {
               .fail_at_step = 1, .after_effect = after, .only_path_containing = STR("_delta_log/")};
        world_use_plan(world, &plan);
        append_rows(world, table, 1, 1);
        assert_int_equal(delta_table_get_version(table), 1);
        assert_int_equal(newest_version(world), 1);
        assert_int_equal(plan.step_count, after ? 1 : 2);
        world->context.store = world->store;
        delta_table_close(table);
        world_close(world);
    }
}

static void a_machine_that_cannot_write_is_not_asked_again(void **state)
{
    const int errors[] = {ENOSPC, EROFS, EACCES, EDQUOT};
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        World       *world = world_new(state);
        DeltaTable  *table = create_table(world, "t");
        FaultPlan    plan  = {.fail_at_step         = 1,
                              .error_errno          = errors[i],
                              .only_path_containing = STR("_delta_log/")};
        DeltaOutcome outcome;
        world_use_plan(world, &plan);
        assert_false(try_append(world, table, 1, 1, NULL, &outcome));
        assert_int_equal(world->err.code, ERR_STORE);
        assert_int_equal(world->err.native, errors[i]);
        assert_int_equal(plan.step_count, 1);
        assert_int_equal(world->clock.slept_ns, 0);
        world->context.store = world->store;
        append_rows(world, table, 1, 1);
        assert_int_equal(newest_version(world), 1);
        delta_table_close(table);
        world_close(world);
    }
}

static void nothing_to_append_is_no_commit(void **state)
{
    World       *world  = world_new(state);
    DeltaTable  *table  = create_table(world, "t");
    Schema       schema = test_schema(world->arena);
    DeltaTxn     txn    = {STR("a"), 1};
    DeltaAppend  append = {.rows          = row_stream_empty(world->arena, &schema),
                           .txn           = &txn,
                           .purpose       = STR("test"),
                           .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_SKIPPED);
    assert_int_equal(newest_version(world), 0);
    assert_int_equal(count_files(world, "t"), 0);
    delta_table_close(table);
    world_close(world);
}

/* 2.6 */
static void in_commit_timestamps_grow_with_every_commit(void **state)
{
    World *world = world_new(state);
    put_commit(
        world, "t", 0,
        "{\"commitInfo\":{\"inCommitTimestamp\":1767225700000}}\n"
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
        "\"timestampNtz\"],\"writerFeatures\":[\"inCommitTimestamp\",\"timestampNtz\"]}}\n"
        "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[" FIELD(
            "id",
            "long") "," FIELD("name",
                              "string") "," FIELD("at",
                                                  "timestamp_ntz") "]}\","
                                                                   "\"configuration\":{\"delta."
                                                                   "enableInCommitTimestamps\":"
                                                                   "\"true\"}}}\n");
    DeltaTable *table = open_table(world, "t");
    append_rows(world, table, 1, 1); /* the clock is behind the last commit */
    assert_true(str_starts_with(
        read_text(world, commit_path(world, "t", 1)),
        STR("{\"commitInfo\":{\"inCommitTimestamp\":1767225700001,\"timestamp\":1767225600123,")));
    world->clock.us += INT64_C(3600) * 1000000;
    append_rows(world, table, 2, 1);
    assert_true(str_starts_with(read_text(world, commit_path(world, "t", 2)),
                                STR("{\"commitInfo\":{\"inCommitTimestamp\":1767229200123,")));
    for (int64_t version = 3; version <= 10; version++)
        append_rows(world, table, version, 1);
    delta_table_close(table);
    table = open_table(world,
                       "t"); /* from the checkpoint: the last time is in the commit file alone */
    append_rows(world, table, 11, 1);
    assert_true(str_starts_with(read_text(world, commit_path(world, "t", 11)),
                                STR("{\"commitInfo\":{\"inCommitTimestamp\":1767229200132,")));
    delta_table_close(table);
    world_close(world);
}

/* Refreshing for weeks: what others removed is not kept (memory is that of what lives). */
static void a_table_that_is_refreshed_for_long_forgets_what_is_gone(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    DeltaTable *watch = open_table(world, "t");
    for (int64_t i = 1; i <= 400; i++) {
        DeltaTxn txn = {STR("app"), i};
        Buf      buf = buf_new(world->arena, 0);
        commit_write_txn(&buf, &txn, 1);
        buf_printf(&buf,
                   "{\"add\":{\"path\":\"f%lld\",\"size\":1,\"modificationTime\":1,\"dataChange\":"
                   "true}}\n",
                   (long long)i);
        if (i > 1)
            buf_printf(
                &buf,
                "{\"remove\":{\"path\":\"f%lld\",\"deletionTimestamp\":1,\"dataChange\":true}}\n",
                (long long)(i - 1));
        put_commit_str(world, "t", i, buf_str(&buf));
        assert_ok(delta_table_refresh(watch, &world->err), &world->err);
        log_state_drop_expired(watch->state, TEST_UTC_US / 1000);
        assert_int_equal(delta_table_get_file_count(watch), 1);
        assert_int_equal(map_count(watch->state->tombstones), 0);
        assert_int_equal(map_count(watch->state->txns), 1);
    }
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(delta_table_get_version(table), 400);
    delta_table_close(watch);
    delta_table_close(table);
    world_close(world);
}

static void a_short_memory_for_transactions_is_warned_of_once(void **state)
{
    World        *world    = world_new(state);
    DeltaTable   *table    = create_table(world, "t");
    DeltaProperty property = {STR("delta.setTransactionRetentionDuration"),
                              STR("interval 30 days")};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1,
                              .user_metadata      = STR_EMPTY};
    DeltaOutcome  outcome;
    DeltaTxn      txn = {STR("a"), 1};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    append_rows(world, table, 1, 1);
    assert_int_equal(world->lines.warning_count, 0);
    for (; txn.version <= 3; txn.version++)
        assert_ok(try_append(world, table, 1, 1, &txn, &outcome), &world->err);
    assert_int_equal(world->lines.warning_count, 1);
    assert_non_null(strstr(world->lines.last, "is below 90 days"));
    delta_table_close(table);
    world_close(world);
}

/* Cleanup took the commits right after ours: the next one never comes into sight, and must not
 * be written by us. */
static void a_table_overtaken_by_cleanup_reads_the_newest_checkpoint(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    DeltaTable *stale = open_table(world, "t");
    for (int64_t i = 1; i <= 12; i++)
        append_rows(world, table, i, 1);
    for (int64_t version = 0; version < 10; version++)
        assert_ok(
            store_remove(world->store, str_from_c(commit_path(world, "t", version)), &world->err),
            &world->err);
    world->clock.us += INT64_C(2) * 3600 * 1000000;
    assert_ok(delta_table_refresh(stale, &world->err), &world->err);
    assert_int_equal(delta_table_get_version(stale), 12);
    assert_int_equal(delta_table_get_file_count(stale), 12);
    delta_table_close(stale);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_append_is_skipped_when_its_txn_is_recorded),
        cmocka_unit_test(an_own_commit_is_found_by_its_user_metadata),
        cmocka_unit_test(a_blind_append_goes_behind_its_winner),
        cmocka_unit_test(a_txn_that_moved_to_ours_skips_the_append),
        cmocka_unit_test(a_txn_that_moved_to_less_is_an_ordinary_conflict),
        cmocka_unit_test(a_rewrite_is_computed_again_when_its_ground_moved),
        cmocka_unit_test(a_rearrangement_says_that_no_data_changed),
        cmocka_unit_test(a_table_that_takes_appends_alone_can_be_rearranged),
        cmocka_unit_test(a_file_that_is_not_live_is_not_removed),
        cmocka_unit_test(a_remove_copies_what_its_add_said),
        cmocka_unit_test(a_remove_in_another_encoding_finds_its_file),
        cmocka_unit_test(a_remove_with_a_scheme_finds_its_file),
        cmocka_unit_test(an_append_survives_a_column_that_is_added),
        cmocka_unit_test(an_append_stops_at_a_column_that_is_not_what_it_was),
        cmocka_unit_test(a_column_that_a_winner_added_is_not_added_again),
        cmocka_unit_test(what_a_table_cannot_become_is_refused_before_anything_is_written),
        cmocka_unit_test(a_schema_change_brings_a_checkpoint),
        cmocka_unit_test(after_twenty_lost_races_the_commit_gives_up),
        cmocka_unit_test(a_lost_answer_is_settled_by_reading_the_log),
        cmocka_unit_test(a_machine_that_cannot_write_is_not_asked_again),
        cmocka_unit_test(nothing_to_append_is_no_commit),
        cmocka_unit_test(in_commit_timestamps_grow_with_every_commit),
        cmocka_unit_test(a_table_that_is_refreshed_for_long_forgets_what_is_gone),
        cmocka_unit_test(a_short_memory_for_transactions_is_warned_of_once),
        cmocka_unit_test(a_table_overtaken_by_cleanup_reads_the_newest_checkpoint),
    };
    return RUN_DELTA_TESTS(tests);
}
