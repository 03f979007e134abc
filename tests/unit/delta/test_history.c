/* Who committed what and when (delta.md 1.14, 2.18), and time travel by it. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define HEADER(configuration)                                                                   \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":["         \
    "\"inCommitTimestamp\"]}}\n"                                                                \
    "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{\\\"fields\\\":[{\\\"name\\\":\\\"id\\\"," \
    "\\\"type\\\":\\\"long\\\"}]}\",\"configuration\":{" configuration "}}}\n"

static void a_history_is_newest_first_and_keeps_texts(void **state)
{
    World             *world = world_new(state);
    DeltaHistoryEntry *entries;
    size_t             count;
    put_commit(world, "t", 0,
               HEADER("") "{\"commitInfo\":{\"timestamp\":5,\"operation\":\"CREATE "
                          "TABLE\",\"operationParameters\":{\"a\" : "
                          "[1.50]},\"engineInfo\":\"e\",\"isBlindAppend\":true}}\n");
    put_commit(world, "t", 1, "{\"add\":{\"path\":\"f\",\"size\":1}}\n");
    put_commit(world, "t", 2,
               "{\"commitInfo\":{\"timestamp\":7,\"operation\":\"WRITE\",\"operationMetrics\":{"
               "\"n\":\"1\"},\"userMetadata\":\"{\\\"k\\\":\\\"\\u00e9\\\"}\"}}\n");
    assert_ok(delta_table_history(&world->context, STR("t"), 0, -1, world->arena, &entries, &count,
                                  &world->err),
              &world->err);
    assert_int_equal(count, 3);
    assert_int_equal(entries[0].version, 2);
    assert_str_is(entries[0].user_metadata, "{\"k\":\"\xC3\xA9\"}");
    assert_str_is(entries[0].metrics_json, "{\"n\":\"1\"}");
    assert_false(entries[0].is_blind_append);
    assert_int_equal(entries[1].timestamp_ms, -1);
    assert_str_is(entries[1].operation, "");
    assert_int_equal(entries[2].timestamp_ms, 5);
    assert_str_is(entries[2].parameters_json, "{\"a\" : [1.50]}");
    assert_str_is(entries[2].engine_info, "e");
    assert_true(entries[2].is_blind_append);
    assert_ok(delta_table_history(&world->context, STR("t"), 1, 1, world->arena, &entries, &count,
                                  &world->err),
              &world->err);
    assert_int_equal(count, 1);
    assert_int_equal(entries[0].version, 1);
    assert_false(delta_table_history(&world->context, STR("nowhere"), 0, -1, world->arena, &entries,
                                     &count, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "DELTA-L01 not a Delta table: nowhere");
    put_commit(world, "t", 3, "{\"commitInfo\":");
    assert_false(delta_table_history(&world->context, STR("t"), 0, -1, world->arena, &entries,
                                     &count, &world->err));
    assert_err(&world->err, ERR_DAMAGED, "00000000000000000003.json: line 1");
    world_close(world);
}

static void user_metadata_is_found_newest_first(void **state)
{
    World  *world = world_new(state);
    int64_t version;
    put_commit(world, "t", 0, HEADER(""));
    for (int64_t i = 1; i <= 5; i++)
        put_commit(world, "t", i,
                   str_printf(world->arena,
                              "{\"txn\":{\"appId\":\"a\",\"version\":1}}\n{\"commitInfo\":{"
                              "\"userMetadata\":\"m%lld\"}}\n",
                              (long long)(i % 3))
                       .ptr);
    assert_ok(delta_table_find_user_metadata(&world->context, STR("t"), 0, STR("m1"), &version,
                                             &world->err),
              &world->err);
    assert_int_equal(version, 4);
    assert_ok(delta_table_find_user_metadata(&world->context, STR("t"), 3, STR("m0"), &version,
                                             &world->err),
              &world->err);
    assert_int_equal(version, -1);
    assert_ok(delta_table_find_user_metadata(&world->context, STR("t"), -1, STR("m0"), &version,
                                             &world->err),
              &world->err);
    assert_int_equal(version, 3);
    assert_ok(delta_table_find_user_metadata(&world->context, STR("t"), -1, STR("m"), &version,
                                             &world->err),
              &world->err);
    assert_int_equal(version, -1);
    world_close(world);
}

static int64_t version_as_of(World *world, int64_t utc_us)
{
    DeltaTable *table = NULL;
    if (!delta_table_open_as_of(&world->context, STR("t"), utc_us, &table, &world->err)) return -1;
    int64_t version = delta_table_get_version(table);
    delta_table_close(table);
    return version;
}

static void a_time_finds_the_version_that_stood_then(void **state)
{
    World *world = world_new(state);
    for (int64_t i = 0; i < 4; i++) {
        put_commit(world, "t", i, i == 0 ? HEADER("") : "{\"commitInfo\":{}}\n");
        world->clock.us += 1000000;
    }
    const int64_t start_ms = TEST_UTC_US / 1000;
    assert_int_equal(version_as_of(world, start_ms * 1000 - 1), -1);
    assert_err(&world->err, ERR_NOT_FOUND,
               "DELTA-L03 table t: no version that is left was committed at that time or before");
    err_clear(&world->err);
    assert_int_equal(version_as_of(world, start_ms * 1000), 0);
    assert_int_equal(version_as_of(world, start_ms * 1000 + 1999999), 1);
    assert_int_equal(version_as_of(world, start_ms * 1000 + 2000000), 2);
    assert_int_equal(version_as_of(world, INT64_C(1) << 60), 3);
    /* two commits in a millisecond still follow one another */
    put_commit(world, "t", 4, "{\"commitInfo\":{}}\n");
    put_commit(world, "t", 5, "{\"commitInfo\":{}}\n");
    assert_int_equal(version_as_of(world, world->clock.us), 4);
    assert_int_equal(version_as_of(world, world->clock.us + 1000), 5);
    world_close(world);
}

static void commits_that_carry_their_time_are_believed(void **state)
{
    World *world = world_new(state);
    put_commit(world, "t", 0, HEADER(""));
    put_commit(world, "t", 1,
               "{\"commitInfo\":{\"inCommitTimestamp\":1767225601000}}\n" HEADER(
                   "\"delta.enableInCommitTimestamps\":\"true\",\"delta."
                   "inCommitTimestampEnablementVersion\":\"1\""));
    put_commit(world, "t", 2,
               "{\"commitInfo\":{\"inCommitTimestamp\":1767225609000,\"timestamp\":17}}\n");
    DeltaHistoryEntry *entries;
    size_t             count;
    assert_ok(delta_table_history(&world->context, STR("t"), 1, 2, world->arena, &entries, &count,
                                  &world->err),
              &world->err);
    assert_int_equal(count, 2);
    assert_int_equal(entries[0].timestamp_ms, 1767225609000);
    assert_int_equal(entries[1].timestamp_ms, 1767225601000);
    assert_int_equal(version_as_of(world, TEST_UTC_US), 0);
    assert_int_equal(version_as_of(world, INT64_C(1767225601000000)), 1);
    assert_int_equal(version_as_of(world, INT64_C(1767225608999999)), 1);
    assert_int_equal(version_as_of(world, INT64_C(1767225609000000)), 2);
    put_commit(world, "t", 3, "{\"commitInfo\":{}}\n");
    assert_int_equal(version_as_of(world, INT64_C(1767225609000000)), -1);
    assert_err(&world->err, ERR_DAMAGED, "table t: commit 3 has no inCommitTimestamp");
    world_close(world);
}

/* The protocol of the version that is wanted counts, not that of the newest. */
static void a_version_from_before_a_feature_of_tomorrow_is_seen(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = NULL;
    put_commit(world, "t", 0, HEADER(""));
    world->clock.us += 1000000;
    put_commit(world, "t", 1,
               "{\"commitInfo\":{\"inCommitTimestamp\":1767225609000}}\n"
               "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
               "\"ofTomorrow\"],\"writerFeatures\":[\"ofTomorrow\"]}}\n");
    assert_false(delta_table_open(&world->context, STR("t"), &table, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-P10");
    err_clear(&world->err);
    assert_int_equal(version_as_of(world, TEST_UTC_US), 0);
    assert_int_equal(version_as_of(world, INT64_C(1767225608999999)), 0);
    assert_int_equal(version_as_of(world, INT64_C(1767225609000000)), -1);
    assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-P10");
    err_clear(&world->err);
    assert_ok(delta_table_open_version(&world->context, STR("t"), 0, &table, &world->err),
              &world->err);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_history_is_newest_first_and_keeps_texts),
        cmocka_unit_test(user_metadata_is_found_newest_first),
        cmocka_unit_test(a_time_finds_the_version_that_stood_then),
        cmocka_unit_test(commits_that_carry_their_time_are_believed),
        cmocka_unit_test(a_version_from_before_a_feature_of_tomorrow_is_seen),
    };
    return RUN_DELTA_TESTS(tests);
}
