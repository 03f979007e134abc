/* What a commit changes in the header beside columns: comments, description, properties, the
 * protocol these need; and in-commit timestamps (delta.md 2.6, 2.9). */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define LEGACY_TABLE(reader, writer)                                                               \
    "{\"protocol\":{\"minReaderVersion\":" #reader ",\"minWriterVersion\":" #writer "}}\n"         \
    "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{"       \
    "\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"metadata\\\":{}}]}\"," \
    "\"configuration\":{}}}\n"

static bool try_property(World *world, DeltaTable *table, const char *key, const char *value,
                         DeltaOutcome *out)
{
    DeltaProperty property = {str_from_c(key), str_from_c(value)};
    DeltaCommit   commit   = {.operation          = STR("SET TBLPROPERTIES"),
                              .set_properties     = &property,
                              .set_property_count = 1,
                              .user_metadata      = STR_EMPTY};
    return delta_table_commit(table, &commit, out, NULL, &world->err);
}

static void set_property(World *world, DeltaTable *table, const char *key, const char *value)
{
    DeltaOutcome outcome;
    assert_ok(try_property(world, table, key, value, &outcome), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
}

static Str newest_text(World *world, const DeltaTable *table)
{
    return read_text(world, commit_path(world, "t", delta_table_get_version(table)));
}

static bool newest_has(World *world, const DeltaTable *table, const char *text)
{
    return str_find(newest_text(world, table), str_from_c(text), 0) >= 0;
}

/* --- comments and description --- */

static void comments_are_set_once_and_nothing_else_changes(void **state)
{
    World       *world     = world_new(state);
    DeltaTable  *table     = create_table(world, "t");
    Column       columns[] = {{STR("ID"), COLUMN_TYPE(TYPE_STRING), STR("of the \"order\"")},
                              {STR("gone"), COLUMN_TYPE(TYPE_LONG), STR("nobody has it")},
                              {STR("at"), COLUMN_TYPE(TYPE_LONG), STR("when")}};
    Schema       comments  = {columns, COUNT_OF(columns)};
    DeltaOutcome outcome;
    DeltaCommit  commit = {.operation     = STR("CHANGE COLUMN"),
                           .comments      = &comments,
                           .description   = STR("another"),
                           .user_metadata = STR_EMPTY};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    const Schema *schema = delta_table_get_schema(table);
    assert_int_equal(schema->column_count, TEST_COLUMNS);
    assert_str_is(schema->columns[0].name, "id");
    assert_true(column_type_equal(schema->columns[0].type, COLUMN_TYPE(TYPE_LONG)));
    assert_str_is(schema->columns[0].comment, "of the \"order\"");
    assert_str_is(schema->columns[1].comment, "");
    assert_str_is(schema->columns[2].comment, "when");
    assert_str_is(delta_table_get_description(table), "another");
    assert_false(newest_has(world, table, "\"protocol\""));
    /* once more: nothing to do */
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_SKIPPED);
    /* and taken away */
    columns[0].comment = STR_EMPTY;
    commit.description = STR_EMPTY;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
    assert_str_is(delta_table_get_schema(table)->columns[0].comment, "");
    assert_str_is(delta_table_get_description(table), "");
    assert_false(newest_has(world, table, "description"));
    delta_table_close(table);
    world_close(world);
}

static void what_a_field_says_besides_survives_a_new_comment(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n{\"metaData\":{"
               "\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"id\\\","
               "\\\"type\\\":\\\"long\\\",\\\"nullable\\\":false,\\\"metadata\\\":{"
               "\\\"comment\\\":\\\"old\\\",\\\"odd\\\":1.0e2}} , {\\\"name\\\":\\\"s\\\","
               "\\\"type\\\":\\\"string\\\"}]}\",\"configuration\":{}}}\n");
    DeltaTable  *table     = open_table(world, "t");
    Column       columns[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR("new")},
                              {STR("s"), COLUMN_TYPE(TYPE_LONG), STR("text")}};
    Schema       comments  = {columns, 2};
    DeltaCommit  commit    = {.comments = &comments, .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_true(
        newest_has(world, table,
                   "{\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","
                   "\\\"nullable\\\":false,\\\"metadata\\\":{\\\"comment\\\":\\\"new\\\","
                   "\\\"odd\\\":1.0e2}} , {\\\"name\\\":\\\"s\\\",\\\"type\\\":\\\"string\\\","
                   "\\\"metadata\\\":{\\\"comment\\\":\\\"text\\\"}}]}"));
    delta_table_close(table);
    world_close(world);
}

/* --- properties that need a feature --- */

static void a_property_brings_its_feature_and_what_the_old_version_implied(void **state)
{
    static const struct {
        const char *lines, *key, *protocol; /* NULL: as it was */
    } cases[] = {
        {LEGACY_TABLE(1, 2), "delta.enableTypeWidening",
         "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
         "\"typeWidening\"],\"writerFeatures\":[\"typeWidening\",\"appendOnly\",\"invariants\"]}}"},
        {LEGACY_TABLE(1, 1), "delta.enableDeletionVectors",
         "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
         "\"deletionVectors\"],\"writerFeatures\":[\"deletionVectors\"]}}"},
        {LEGACY_TABLE(1, 4), "delta.enableInCommitTimestamps",
         "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":["
         "\"inCommitTimestamp\",\"appendOnly\",\"invariants\",\"checkConstraints\","
         "\"changeDataFeed\",\"generatedColumns\"]}}"},
        /* reader version 2 stays, with the feature it implied listed for writers */
        {LEGACY_TABLE(2, 6), "delta.enableInCommitTimestamps",
         "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":7,\"writerFeatures\":["
         "\"inCommitTimestamp\",\"appendOnly\",\"invariants\",\"checkConstraints\","
         "\"changeDataFeed\",\"generatedColumns\",\"columnMapping\",\"identityColumns\"]}}"},
        {LEGACY_TABLE(2, 5), "delta.enableDeletionVectors",
         "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
         "\"deletionVectors\",\"columnMapping\"],\"writerFeatures\":[\"deletionVectors\","
         "\"appendOnly\",\"invariants\",\"checkConstraints\",\"changeDataFeed\","
         "\"generatedColumns\",\"columnMapping\"]}}"},
        {LEGACY_TABLE(1, 2), "delta.checkpointInterval", NULL},
        {LEGACY_TABLE(1, 2), "owner.key", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World *world = world_new(state);
        put_commit(world, "t", 0, cases[i].lines);
        DeltaTable *table = open_table(world, "t");
        set_property(world, table, cases[i].key, "true");
        if (cases[i].protocol && !newest_has(world, table, cases[i].protocol))
            fail_msg("%s: %.*s", cases[i].key, STR_ARG(newest_text(world, table)));
        if (!cases[i].protocol) assert_false(newest_has(world, table, "\"protocol\""));
        DeltaOutcome outcome; /* it is there: no second time */
        assert_ok(try_property(world, table, cases[i].key, "true", &outcome), &world->err);
        assert_int_equal(outcome, DELTA_SKIPPED);
        delta_table_close(table);
        table = open_table(world, "t");
        assert_ok(delta_table_check_writable(table, DELTA_APPENDS, &world->err), &world->err);
        delta_table_close(table);
        world_close(world);
    }
}

static void a_feature_that_is_there_is_not_added_again(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    set_property(world, table, "delta.enableTypeWidening", "true");
    assert_true(newest_has(world, table,
                           "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                           "\"readerFeatures\":[\"typeWidening\",\"timestampNtz\"],"
                           "\"writerFeatures\":[\"typeWidening\",\"timestampNtz\",\"invariants\","
                           "\"appendOnly\"]}}"));
    set_property(world, table, "delta.enableTypeWidening", "false"); /* keeps the feature */
    assert_false(newest_has(world, table, "\"protocol\""));
    set_property(world, table, "delta.enableTypeWidening", "true");
    assert_false(newest_has(world, table, "\"protocol\""));
    delta_table_close(table);
    world_close(world);
}

/* The feed's own columns would collide. */
static void names_that_the_change_feed_reserves_are_refused_with_it(void **state)
{
    static const char *const names[] = {"_change_type", "_COMMIT_VERSION", "_commit_timestamp"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (int has_feed = 0; has_feed <= 1; has_feed++) {
            World *world = world_new(state);
            put_commit(
                world, "t", 0,
                str_printf(world->arena,
                           "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}\n"
                           "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[{"
                           "\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\","
                           "\"configuration\":{\"delta.enableChangeDataFeed\":\"%s\"}}}\n",
                           has_feed ? "true" : "false")
                    .ptr);
            DeltaTable *table  = open_table(world, "t");
            Column      column = {str_from_c(names[i]), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
            Schema      schema = {&column, 1};
            bool        ok     = delta_table_check_schema(table, &schema, false, &world->err);
            assert_int_equal(ok, !has_feed);
            if (has_feed)
                assert_err(&world->err, ERR_SCHEMA_CHANGED,
                           "has a name that the table's change data feed reserves");
            delta_table_close(table);
            world_close(world);
        }
}

/* --- in-commit timestamps --- */

static int64_t in_commit_ms(World *world, const DeltaTable *table, int64_t version)
{
    int64_t ms = -1;
    assert_ok(log_read_in_commit_ms(&table->place, version, &ms, &world->err), &world->err);
    return ms;
}

static void a_table_made_with_them_has_them_from_the_start(void **state)
{
    World        *world    = world_new(state);
    DeltaProperty property = {STR("delta.enableInCommitTimestamps"), STR("true")};
    Column        column   = {STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    DeltaCreate   spec     = {.schema         = {&column, 1},
                              .description    = STR_EMPTY,
                              .properties     = &property,
                              .property_count = 1};
    DeltaTable   *table;
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    assert_true(str_starts_with(newest_text(world, table),
                                STR("{\"commitInfo\":{\"inCommitTimestamp\":1767225600123,")));
    assert_true(newest_has(world, table,
                           "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,"
                           "\"writerFeatures\":[\"inCommitTimestamp\",\"invariants\","
                           "\"appendOnly\"]}}"));
    assert_false(newest_has(world, table, "Enablement"));
    set_property(world, table, "a", "1"); /* the clock stands still: one more each time */
    assert_int_equal(in_commit_ms(world, table, 1), 1767225600124);
    delta_table_close(table);
    table = open_table(world, "t");
    world->clock.us -= 3600 * INT64_C(1000000); /* and never back */
    set_property(world, table, "a", "2");
    assert_int_equal(in_commit_ms(world, table, 2), 1767225600125);
    world->clock.us += 7200 * INT64_C(1000000);
    set_property(world, table, "a", "3");
    assert_int_equal(in_commit_ms(world, table, 3), 1767225600123 + 3600000);
    /* from a checkpoint: the time before is read from its commit */
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    delta_table_close(table);
    for (int64_t version = 0; version < 3; version++)
        assert_ok(
            store_remove(world->store, str_from_c(commit_path(world, "t", version)), &world->err),
            &world->err);
    table           = open_table(world, "t");
    world->clock.us = TEST_UTC_US;
    set_property(world, table, "a", "4");
    assert_int_equal(in_commit_ms(world, table, 4), 1767225600123 + 3600001);
    delta_table_close(table);
    world_close(world);
}

typedef struct Racer {
    World      *world;
    const char *lines;
    int         left;
} Racer;

static void race(void *arg, uint64_t step, const char *operation, Str path)
{
    Racer *racer = arg;
    (void)step;
    if (racer->left == 0 || strcmp(operation, "put_new") != 0 ||
        str_find(path, STR("_delta_log/"), 0) < 0)
        return;
    racer->left--;
    assert_ok(store_put_new(racer->world->store, path, str_bytes(str_from_c(racer->lines)),
                            &racer->world->err),
              &racer->world->err);
}

/* A change that loses the race is made again, of what the winner left. */
static void a_change_is_applied_to_what_the_winner_left(void **state)
{
    World       *world = world_new(state);
    DeltaTable  *table = create_table(world, "t");
    Racer        racer = {.world = world, .left = 1};
    FaultPlan    plan = {.on_step = race, .on_step_arg = &racer, .only_path_containing = STR_EMPTY};
    SchemaChange none = {.mapping = &table_header(table)->metadata.mapping};
    DeltaProperty property = {STR("theirs"), STR("1")};
    Str metadata = metadata_change(world->arena, &table_header(table)->metadata, &none, &property,
                                   1, STR("their description"));
    racer.lines  = str_printf(world->arena,
                              "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                               "\"readerFeatures\":[\"timestampNtz\",\"deletionVectors\"],"
                               "\"writerFeatures\":[\"timestampNtz\",\"deletionVectors\","
                               "\"invariants\",\"appendOnly\"]}}\n"
                               "{\"metaData\":%.*s}\n",
                              STR_ARG(metadata))
                      .ptr;
    world_use_plan(world, &plan);
    set_property(world, table, "delta.enableTypeWidening", "true");
    assert_int_equal(delta_table_get_version(table), 2);
    Str value;
    assert_true(delta_table_find_property(table, STR("theirs"), &value));
    assert_true(delta_table_find_property(table, STR("delta.enableTypeWidening"), &value));
    assert_str_is(delta_table_get_description(table), "their description");
    assert_true(newest_has(world, table,
                           "\"readerFeatures\":[\"typeWidening\",\"timestampNtz\","
                           "\"deletionVectors\"],\"writerFeatures\":[\"typeWidening\","
                           "\"timestampNtz\",\"deletionVectors\",\"invariants\",\"appendOnly\"]"));
    world->context.store = world->store;
    delta_table_close(table);
    world_close(world);
}

/* Switched on later: its version and time stand in the properties, and move when the race is lost. */
static void switching_them_on_records_version_and_time(void **state)
{
    for (int races = 0; races <= 2; races++) {
        World      *world = world_new(state);
        DeltaTable *table = create_table(world, "t");
        Racer       racer = {
                  .world = world, .lines = "{\"commitInfo\":{\"timestamp\":1}}\n", .left = races};
        FaultPlan plan = {
            .on_step = race, .on_step_arg = &racer, .only_path_containing = STR_EMPTY};
        world->clock.us -= INT64_C(1000000); /* the files are younger than our clock says */
        world_use_plan(world, &plan);
        set_property(world, table, "delta.enableInCommitTimestamps", "true");
        int64_t version = delta_table_get_version(table);
        assert_int_equal(version, 1 + races);
        int64_t    ms = in_commit_ms(world, table, version);
        StoreEntry before;
        assert_ok(store_stat(world->store, str_from_c(commit_path(world, "t", version - 1)),
                             &before, &world->err),
                  &world->err);
        assert_true(ms > before.modified_utc_us / 1000);
        assert_true(newest_has(world, table,
                               str_printf(world->arena,
                                          "\"delta.enableInCommitTimestamps\":\"true\","
                                          "\"delta.inCommitTimestampEnablementVersion\":\"%d\","
                                          "\"delta.inCommitTimestampEnablementTimestamp\":\"%lld\"",
                                          1 + races, (long long)ms)
                                   .ptr));
        set_property(world, table, "a", "1");
        assert_true(in_commit_ms(world, table, version + 1) > ms);
        delta_table_close(table);
        world_close(world);
    }
}

static void they_are_recomputed_when_a_race_is_lost(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    set_property(world, table, "delta.enableInCommitTimestamps", "true");
    Racer     racer = {.world = world,
                       .lines = "{\"commitInfo\":{\"inCommitTimestamp\":1999999999999}}\n",
                       .left  = 1};
    FaultPlan plan  = {.on_step = race, .on_step_arg = &racer, .only_path_containing = STR_EMPTY};
    world_use_plan(world, &plan);
    append_rows(world, table, 1, 1);
    assert_int_equal(delta_table_get_version(table), 3);
    assert_int_equal(in_commit_ms(world, table, 3), INT64_C(2000000000000));
    world->context.store = world->store;
    delta_table_close(table);
    world_close(world);
}

/* Off again, and on again: the properties say from when on. */
static void switched_off_and_on_again_they_begin_anew(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    set_property(world, table, "delta.enableInCommitTimestamps", "true");
    set_property(world, table, "delta.enableInCommitTimestamps", "false");
    assert_false(newest_has(world, table, "\"inCommitTimestamp\":"));
    append_rows(world, table, 1, 1);
    assert_false(newest_has(world, table, "\"inCommitTimestamp\":"));
    set_property(world, table, "delta.enableInCommitTimestamps", "true");
    assert_true(newest_has(world, table, "\"inCommitTimestamp\":"));
    assert_true(newest_has(world, table, "\"delta.inCommitTimestampEnablementVersion\":\"4\""));
    append_rows(world, table, 2, 1);
    assert_true(newest_has(world, table, "\"inCommitTimestamp\":"));
    assert_int_equal(count_rows(world, table), 2);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_are_set_once_and_nothing_else_changes),
        cmocka_unit_test(what_a_field_says_besides_survives_a_new_comment),
        cmocka_unit_test(a_property_brings_its_feature_and_what_the_old_version_implied),
        cmocka_unit_test(a_feature_that_is_there_is_not_added_again),
        cmocka_unit_test(names_that_the_change_feed_reserves_are_refused_with_it),
        cmocka_unit_test(a_table_made_with_them_has_them_from_the_start),
        cmocka_unit_test(a_change_is_applied_to_what_the_winner_left),
        cmocka_unit_test(switching_them_on_records_version_and_time),
        cmocka_unit_test(they_are_recomputed_when_a_race_is_lost),
        cmocka_unit_test(switched_off_and_on_again_they_begin_anew),
    };
    return RUN_DELTA_TESTS(tests);
}
