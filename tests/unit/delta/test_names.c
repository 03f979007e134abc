/* Names in the log, paths of data files, intervals. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

static LogFileKind kind_of(const char *name)
{
    return log_name_parse(str_from_c(name)).kind;
}

static void log_names_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(kind_of("00000000000000000012.json"), LOG_FILE_COMMIT);
    assert_int_equal(log_name_parse(STR("00000000000000000012.json")).version, 12);
    assert_int_equal(kind_of("00000000000000000010.checkpoint.parquet"), LOG_FILE_CHECKPOINT);
    LogName part = log_name_parse(
        STR("00000000000000000010.checkpoint.0000000002.0000000003.parquet"));
    assert_int_equal(part.kind, LOG_FILE_CHECKPOINT_PART);
    assert_int_equal(part.part, 2);
    assert_int_equal(part.part_count, 3);
    LogName uuid = log_name_parse(
        STR("00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"));
    assert_int_equal(uuid.kind, LOG_FILE_CHECKPOINT_UUID);
    assert_true(uuid.is_json);
    assert_int_equal(
        kind_of("00000000000000000010.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"),
        LOG_FILE_CHECKPOINT_UUID);
}

static void what_is_not_ours_to_read_is_passed_over(void **state)
{
    const char *const names[] = {"_last_checkpoint",
                                 "00000000000000000012.crc",
                                 "00000000000000000012.json.tmp",
                                 ".00000000000000000012.json.crc",
                                 "0000000000000000012.json",
                                 "000000000000000000012.json",
                                 "99999999999999999999.json",
                                 "00000000000000000001.00000000000000000009.compacted.json",
                                 "00000000000000000010.checkpoint.0000000004.0000000003.parquet",
                                 "00000000000000000010.checkpoint.0000000000.0000000003.parquet",
                                 "00000000000000000010.checkpoint.x.parquet",
                                 "0000000000000000001x.json",
                                 "",
                                 "_staged_commits",
                                 "-0000000000000000001.json"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (kind_of(names[i]) != LOG_FILE_OTHER) fail_msg("%s", names[i]);
}

static void paths_are_encoded_once_and_decoded_once(void **state)
{
    Arena *arena = arena_new();
    (void)state;
    assert_str_is(delta_path_encode(arena, STR("a/b=c@d!$&'()*+,-._~9Z")),
                  "a/b=c@d!$&'()*+,-._~9Z");
    assert_str_is(
        delta_path_encode(arena, STR("a:b;c d%e\"f<g>h#i?j[k]l^m`n{o|p}q\\r\x7Fs\x01t\xC3\xA9")),
        "a%3Ab%3Bc%20d%25e%22f%3Cg%3Eh%23i%3Fj%5Bk%5Dl%5Em%60n%7Bo%7Cp%7Dq%5Cr%7Fs%01t%C3%A9");
    assert_str_is(delta_path_decode(arena, STR("a%2520b%C3%a9")), "a%20b\xC3\xA9");
    assert_str_is(delta_path_decode(arena, STR("100%")), "100%");
    assert_str_is(delta_path_decode(arena, STR("%zz%4")), "%zz%4");
    FOR_EACH_SEED (seed, 500) {
        Rng   *rng = rng_new(seed);
        char   bytes[40];
        size_t len = (size_t)rng_below(rng, sizeof bytes);
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)rng_below(rng, 256);
        Str text = {bytes, len};
        assert_true(str_equal(delta_path_decode(arena, delta_path_encode(arena, text)), text));
        rng_close(rng);
    }
    arena_close(arena);
}

static void a_file_is_found_in_its_table_and_nowhere_else(void **state)
{
    Arena *arena = arena_new();
    Err    err   = ERR_INIT;
    Str    out;
    (void)state;
    assert_ok(delta_path_resolve(STR("lake/t"), STR("x%3D3/part%20one.parquet"), arena, &out, &err),
              &err);
    assert_str_is(out, "lake/t/x=3/part one.parquet");
    assert_ok(
        delta_path_resolve(STR("lake/t"), STR("file:///data/a%20b.parquet"), arena, &out, &err),
        &err);
    assert_str_is(out, "/data/a b.parquet");
    assert_ok(delta_path_resolve(STR("lake/t"), STR("file:/data/a.parquet"), arena, &out, &err),
              &err);
    assert_str_is(out, "/data/a.parquet");
    assert_ok(delta_path_resolve(STR("lake/t"), STR("/data/a.parquet"), arena, &out, &err), &err);
    assert_str_is(out, "/data/a.parquet");
    assert_false(
        delta_path_resolve(STR("lake/t"), STR("s3://bucket/a.parquet"), arena, &out, &err));
    assert_err(&err, ERR_UNSUPPORTED, "DELTA-L07 lake/t: file s3://bucket/a.parquet");
    assert_false(
        delta_path_resolve(STR("lake/t"), STR("a/%2e%2e/%2e%2e/b.parquet"), arena, &out, &err));
    assert_err(&err, ERR_UNSUPPORTED, "DELTA-L07");
    assert_false(delta_path_resolve(STR("lake/t"), STR("a%00b"), arena, &out, &err));
    assert_err(&err, ERR_UNSUPPORTED, "DELTA-L07");
    arena_close(arena);
}

static void intervals_are_read_as_spark_writes_them(void **state)
{
    int64_t us = 0;
    (void)state;
    assert_true(delta_interval_parse(STR("interval 1 week"), &us));
    assert_int_equal(us, INT64_C(604800000000));
    assert_true(delta_interval_parse(STR(" INTERVAL 30 Days "), &us));
    assert_int_equal(us, INT64_C(30) * 86400 * 1000000);
    assert_true(delta_interval_parse(
        STR("2 hours 3 minutes 4 seconds 5 milliseconds 6 microseconds"), &us));
    assert_int_equal(us, INT64_C(7384005006));
    assert_false(delta_interval_parse(STR("interval 1 month"), &us));
    assert_false(delta_interval_parse(STR("interval"), &us));
    assert_false(delta_interval_parse(STR("7"), &us));
    assert_false(delta_interval_parse(STR("days 7"), &us));
    assert_false(delta_interval_parse(STR("9223372036854775807 weeks"), &us));
    assert_false(delta_interval_parse(STR(""), &us));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_names_are_told_apart),
        cmocka_unit_test(what_is_not_ours_to_read_is_passed_over),
        property_test(paths_are_encoded_once_and_decoded_once),
        cmocka_unit_test(a_file_is_found_in_its_table_and_nowhere_else),
        cmocka_unit_test(intervals_are_read_as_spark_writes_them),
    };
    return RUN_TESTS(tests);
}
