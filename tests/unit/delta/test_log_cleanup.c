/* Log cleanup (delta.md 2.14): every rule of what stays, and that every version it leaves opens. */
#include "support/test_support.h"

#include "delta/maintain.h"
#include "unit/delta/delta_test.h"

#define DAY_US (INT64_C(86400) * 1000000)

/* A table with a commit a day and a checkpoint every fifth; ends at noon of the last. */
static DeltaTable *table_of_days(World *world, int64_t days)
{
    world->clock.us   = TEST_UTC_US / DAY_US * DAY_US + DAY_US / 2;
    DeltaTable *table = create_table(world, "t");
    for (int64_t day = 1; day <= days; day++) {
        world->clock.us += DAY_US;
        put_commit_str(world, "t", day,
                       str_printf(world->arena,
                                  "{\"commitInfo\":{\"operation\":\"WRITE\"}}\n{\"txn\":{\"appId\":"
                                  "\"a\",\"version\":%lld}}\n",
                                  (long long)day));
        assert_ok(delta_table_refresh(table, &world->err), &world->err);
        if (day % 5 == 0) assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    }
    return table;
}

static int64_t clean(World *world, DeltaTable *table)
{
    int64_t removed;
    assert_ok(delta_table_clean_log(table, &removed, &world->err), &world->err);
    return removed;
}

static bool has_log(World *world, const char *name)
{
    return file_exists(world, log_path(world, "t", name));
}

static const char *v(World *world, int64_t version, const char *suffix)
{
    return str_printf(world->arena, "%020lld%s", (long long)version, suffix).ptr;
}

static bool opens(World *world, int64_t version)
{
    DeltaTable *table = NULL;
    Err         err   = ERR_INIT;
    bool        ok    = delta_table_open_version(&world->context, STR("t"), version, &table, &err);
    delta_table_close(table);
    if (!ok) assert_err(&err, ERR_NOT_FOUND, "DELTA-L03");
    return ok;
}

/* 50 days: the cutoff is midnight of day 20, so the newest commit not later is 19's, and what it
 * starts from is checkpoint 15. */
static void what_the_retention_needs_stays(void **state)
{
    World            *world    = world_new(state);
    DeltaTable       *table    = table_of_days(world, 50);
    const char *const others[] = {"00000000000000000003.crc",
                                  "00000000000000000017.crc",
                                  "00000000000000000002.00000000000000000004.compacted.json",
                                  "00000000000000000015.00000000000000000018.compacted.json",
                                  "00000000000000000016.00000000000000000018.compacted.json",
                                  ".00000000000000000003.json.crc",
                                  ".00000000000000000010.checkpoint.parquet.crc",
                                  ".00000000000000000017.json.crc",
                                  "00000000000000000003.unknown",
                                  "_last_vacuum_info",
                                  "_staged_commits/00000000000000000003.x.json",
                                  "00000000000000000008.checkpoint.0000000001.0000000002.parquet"};
    const bool        stays[]  = {false, true, false, false, true, false,
                                  false, true, true,  true,  true, false};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        put_text(world, log_path(world, "t", others[i]), "x");
    assert_int_equal(clean(world, table), 15 + 2 + 6);
    for (int64_t version = 0; version <= 50; version++) {
        assert_int_equal(has_log(world, v(world, version, ".json")), version >= 15);
        assert_int_equal(opens(world, version), version >= 15);
        if (version > 0 && version % 5 == 0)
            assert_int_equal(has_log(world, v(world, version, ".checkpoint.parquet")),
                             version >= 15);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (has_log(world, others[i]) != stays[i]) fail_msg("%s", others[i]);
    assert_int_equal(clean(world, table), 0);
    delta_table_close(table);
    world_close(world);
}

static void the_table_and_its_owner_have_a_say(void **state)
{
    const struct {
        const char *configuration, *feature;
        int64_t     context_days, first_left;
    } cases[] = {
        {"", "", 0, 15},
        {"", "", 10, 35},
        {"\"delta.logRetentionDuration\":\"interval 20 days\"", "", 10, 25},
        {"\"delta.logRetentionDuration\":\"interval 60 days\"", "", 10, 0},
        {"\"delta.enableExpiredLogCleanup\":\"false\"", "", 0, 0},
        {"", ",\"checkpointProtection\"", 0, 0},
        {"", ",\"aFeatureOfTomorrow\"", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World      *world = world_new(state);
        DeltaTable *table = table_of_days(world, 49);
        world->clock.us += DAY_US;
        Str       metadata = table_header(table)->metadata_raw;
        ptrdiff_t at       = str_find(metadata, STR("\"configuration\":{"), 0);
        size_t    end      = (size_t)at + strlen("\"configuration\":{");
        put_commit_str(
            world, "t", 50,
            str_printf(
                world->arena,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                "\"readerFeatures\":[\"timestampNtz\"],\"writerFeatures\":[\"timestampNtz\"%s"
                "]}}\n{\"metaData\":%.*s%s%s%.*s}\n",
                cases[i].feature, STR_ARG(str_slice(metadata, 0, end)), cases[i].configuration,
                cases[i].configuration[0] ? "," : "",
                STR_ARG(str_slice(metadata, end, metadata.len))));
        assert_ok(delta_table_refresh(table, &world->err), &world->err);
        world->context.log_retention_us = cases[i].context_days * DAY_US;
        int64_t removed                 = clean(world, table);
        if ((removed == 0) != (cases[i].first_left == 0)) fail_msg("case %zu", i);
        for (int64_t version = 0; version <= 50; version++)
            if (has_log(world, v(world, version, ".json")) != (version >= cases[i].first_left))
                fail_msg("case %zu, version %lld", i, (long long)version);
        delta_table_close(table);
        world_close(world);
    }
}

/* Without a checkpoint old enough nothing goes, however old the commits are. */
static void only_a_sound_checkpoint_lets_commits_go(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    int64_t     removed;
    for (int64_t day = 1; day <= 60; day++) {
        put_commit(world, "t", day, "{\"commitInfo\":{}}\n");
        world->clock.us += DAY_US;
    }
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_int_equal(clean(world, table), 0);
    /* one that is there and damaged */
    put_text(world, log_path(world, "t", "00000000000000000020.checkpoint.parquet"),
             "PAR1 no PAR1");
    assert_false(delta_table_clean_log(table, &removed, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "checkpoint 20 of table t");
    assert_int_equal(removed, 0);
    assert_true(has_log(world, "00000000000000000000.json"));
    delta_table_close(table);
    world_close(world);
}

static void commits_that_carry_their_time_are_believed(void **state)
{
    World      *world    = world_new(state);
    DeltaTable *table    = create_table(world, "t");
    Str         metadata = table_header(table)->metadata_raw;
    ptrdiff_t   at       = str_find(metadata, STR("\"configuration\":{"), 0);
    size_t      end      = (size_t)at + strlen("\"configuration\":{");
    world->clock.us += 60 * DAY_US; /* the files are as young as can be */
    for (int64_t day = 1; day <= 50; day++) {
        Str line = str_printf(world->arena, "{\"commitInfo\":{\"inCommitTimestamp\":%lld}}\n",
                              (long long)((TEST_UTC_US + day * DAY_US) / 1000));
        if (day == 1)
            line = str_printf(
                world->arena,
                "%.*s{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                "\"readerFeatures\":[\"timestampNtz\"],\"writerFeatures\":[\"timestampNtz\","
                "\"inCommitTimestamp\"]}}\n{\"metaData\":%.*s\"delta.enableInCommitTimestamps\":"
                "\"true\",\"delta.inCommitTimestampEnablementVersion\":\"1\",\"delta."
                "inCommitTimestampEnablementTimestamp\":\"%lld\",%.*s}\n",
                STR_ARG(line), STR_ARG(str_slice(metadata, 0, end)),
                (long long)((TEST_UTC_US + DAY_US) / 1000),
                STR_ARG(str_slice(metadata, end, metadata.len)));
        put_commit_str(world, "t", day, line);
        assert_ok(delta_table_refresh(table, &world->err), &world->err);
        if (day % 10 == 0) assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    }
    /* now - 30 days is commit 30's time, and its midnight before it */
    assert_true(clean(world, table) > 0);
    assert_false(has_log(world, "00000000000000000019.json"));
    assert_true(has_log(world, "00000000000000000020.json"));
    assert_true(opens(world, 20));
    delta_table_close(table);
    world_close(world);
}

static void sidecars_that_no_checkpoint_names_go_a_day_later(void **state)
{
    World            *world   = world_new(state);
    DeltaTable       *table   = table_of_days(world, 40);
    const char *const names[] = {"used.parquet", "of a cleaned one.parquet", "lost.parquet"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        put_text(world, str_printf(world->arena, "t/_delta_log/_sidecars/%s", names[i]).ptr, "x");
    put_text(world,
             log_path(world, "t",
                      "00000000000000000003.checkpoint.01234567-89ab-cdef-0123-456789abcdef.json"),
             "{\"checkpointMetadata\":{\"version\":3}}\n{\"sidecar\":{\"path\":"
             "\"of%20a%20cleaned%20one.parquet\",\"sizeInBytes\":1}}\n");
    put_text(world,
             log_path(world, "t",
                      "00000000000000000033.checkpoint.01234567-89ab-cdef-0123-456789abcdef.json"),
             "{\"checkpointMetadata\":{\"version\":33}}\n{\"sidecar\":{\"path\":\"used.parquet\","
             "\"sizeInBytes\":1}}\n");
    assert_true(clean(world, table) > 0);
    assert_int_equal(count_files(world, "t/_delta_log/_sidecars"), 3);
    world->clock.us += DAY_US + 1;
    put_text(world, "t/_delta_log/_sidecars/young.parquet", "x");
    assert_true(clean(world, table) >= 2);
    assert_true(file_exists(world, "t/_delta_log/_sidecars/used.parquet"));
    assert_true(file_exists(world, "t/_delta_log/_sidecars/young.parquet"));
    assert_int_equal(count_files(world, "t/_delta_log/_sidecars"), 2);
    delta_table_close(table);
    world_close(world);
}

/* It comes by itself after a checkpoint, once a day. */
static void a_commit_that_makes_a_checkpoint_cleans_up(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_of_days(world, 49);
    append_rows(world, table, 0, 3); /* version 50 */
    assert_true(has_log(world, "00000000000000000050.checkpoint.parquet"));
    assert_false(has_log(world, "00000000000000000014.json"));
    assert_true(has_log(world, "00000000000000000015.json"));
    put_text(world, log_path(world, "t", "00000000000000000001.crc"), "x");
    for (int64_t i = 0; i < 10; i++)
        append_rows(world, table, 0, 3);
    assert_true(has_log(world, "00000000000000000060.checkpoint.parquet"));
    assert_true(has_log(world, "00000000000000000001.crc"));
    world->clock.us += DAY_US;
    for (int64_t i = 0; i < 10; i++)
        append_rows(world, table, 0, 3);
    assert_false(has_log(world, "00000000000000000001.crc"));
    assert_int_equal(world->lines.warning_count, 0);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_retention_needs_stays),
        cmocka_unit_test(the_table_and_its_owner_have_a_say),
        cmocka_unit_test(only_a_sound_checkpoint_lets_commits_go),
        cmocka_unit_test(commits_that_carry_their_time_are_believed),
        cmocka_unit_test(sidecars_that_no_checkpoint_names_go_a_day_later),
        cmocka_unit_test(a_commit_that_makes_a_checkpoint_cleans_up),
    };
    return RUN_DELTA_TESTS(tests);
}
