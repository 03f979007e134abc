/* Checkpoints: every action there and back, the shape of the file, and files of other writers
 * (delta.md 1.4, 2.13). */
#include "duck_test.h"

#include "duck/duck_checkpoint.h"

#include <jansson.h>

static Str write_text(DuckWorld *world, const char *name, Str text)
{
    Str path = path_in(world, name);
    int fd   = open(path.ptr, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text.ptr, text.len), (ssize_t)text.len);
    assert_int_equal(close(fd), 0);
    return path;
}

/* The actions of a checkpoint, a line each. */
static Str read_actions(DuckWorld *world, const Str *paths, size_t count)
{
    RowStream *rows = NULL;
    RowBlock   block;
    Buf        text = buf_new(world->arena, 0);

    assert_ok(duck_checkpoint_read(world->session, paths, count, world->arena, &rows, &world->err),
              &world->err);
    assert_int_equal(rows->schema.column_count, 1);
    assert_str_is(rows->schema.columns[0].name, "action");
    do {
        assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
        for (size_t i = 0; i < block.row_count; i++) {
            buf_append(&text, column_str(&block.columns[0], i));
            buf_append_char(&text, '\n');
        }
    } while (block.row_count > 0);
    row_stream_close(rows);
    return buf_str(&text);
}

static Str round_trip(DuckWorld *world, Str ndjson, int64_t want_rows)
{
    Str     json    = write_text(world, "actions.json", ndjson);
    Str     parquet = path_in(world, "00.checkpoint.parquet");
    int64_t count   = 0;

    (void)unlink(parquet.ptr);
    assert_ok(duck_checkpoint_write(world->duck, json, parquet, &count, &world->err), &world->err);
    assert_int_equal(count, want_rows);
    return read_actions(world, &parquet, 1);
}

/* Line by line the same value, absent and present members included. */
static void assert_same_actions(Str got, Str want)
{
    Str got_line, want_line;
    while (str_split_next(&want, '\n', &want_line) && want_line.len > 0) {
        assert_true(str_split_next(&got, '\n', &got_line));
        json_t *left  = json_loadb(got_line.ptr, got_line.len, JSON_REJECT_DUPLICATES, NULL);
        json_t *right = json_loadb(want_line.ptr, want_line.len, JSON_REJECT_DUPLICATES, NULL);
        if (!left || !right || !json_equal(left, right))
            fail_msg("want %.*s\n got %.*s", STR_ARG(want_line), STR_ARG(got_line));
        json_decref(left);
        json_decref(right);
    }
    assert_int_equal(got.len, 0);
}

static void every_action_comes_back(void **state)
{
    DuckWorld *world = *state;
    Str        all   = STR(
                 "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["
                          "\"timestampNtz\"],\"writerFeatures\":[\"timestampNtz\",\"appendOnly\",\"invariants\"]}}\n"
                          "{\"metaData\":{\"id\":\"0e64a1a0-0000-4000-8000-000000000000\",\"description\":\"d\","
                          "\"format\":{\"provider\":\"parquet\",\"options\":{}},"
                          "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":"
                          "\\\"\xC3\xA9\\\\n\\\"}]}\",\"partitionColumns\":[],\"configuration\":{\"delta."
                          "checkpointInterval\":\"10\",\"k\":\"\"},\"createdTime\":1700000000000}}\n"
                          "{\"txn\":{\"appId\":\"stream.orders-v1\",\"version\":41,\"lastUpdated\":1700000000001}}\n"
                          "{\"txn\":{\"appId\":\"no time\",\"version\":0}}\n"
                          "{\"domainMetadata\":{\"domain\":\"delta.x\",\"configuration\":\"{\\\"a\\\":1}\","
                          "\"removed\":false}}\n"
                          "{\"add\":{\"path\":\"part-00000.parquet\",\"partitionValues\":{},\"size\":123,"
                          "\"modificationTime\":1700000000002,\"dataChange\":false,"
                          "\"stats\":\"{\\\"numRecords\\\":3,\\\"minValues\\\":{\\\"d\\\":12345678901234567890123456."
                          "1234567890,\\\"s\\\":\\\"\\\\u00e9 \\\\\\\"\\\"}}\"}}\n"
                          "{\"add\":{\"path\":\"p%3D1/"
                          "part-00001.parquet\",\"partitionValues\":{\"p\":\"1\",\"q\":null},\"size\":"
                          "9223372036854775807,\"modificationTime\":0,\"dataChange\":false,"
                          "\"tags\":{\"t\":\"v\",\"\xF0\x9F\x90\xA2\":\"\"},\"deletionVector\":{\"storageType\":"
                          "\"u\",\"pathOrInlineDv\":\"ab^-aqEH.-t@S}K{vb[*k^\",\"offset\":4,\"sizeInBytes\":40,"
                          "\"cardinality\":6},"
                          "\"baseRowId\":4071,\"defaultRowCommitVersion\":41,\"clusteringProvider\":\"liquid\"}}\n"
                          "{\"add\":{\"path\":\"inline.parquet\",\"partitionValues\":{},\"size\":1,"
                          "\"modificationTime\":1,\"dataChange\":true,"
                          "\"deletionVector\":{\"storageType\":\"i\",\"pathOrInlineDv\":\"wi5b="
                          "000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L\",\"sizeInBytes\":40,\"cardinality\":6}}}\n"
                          "{\"remove\":{\"path\":\"gone.parquet\",\"deletionTimestamp\":1700000000003,\"dataChange\":"
                          "true,\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":5}}\n"
                          "{\"remove\":{\"path\":\"old.parquet\",\"dataChange\":false}}\n");
    assert_same_actions(round_trip(world, all, 10), all);
}

static void absent_and_null_members_are_left_out_and_empty_ones_stay(void **state)
{
    DuckWorld *world = *state;
    Str        given = STR(
               "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"tags\":null,\"stats\":null,"
                      "\"deletionVector\":null}}\n"
                      "{\"add\":{\"path\":\"\",\"partitionValues\":null,\"stats\":\"\",\"tags\":{}}}\n"
                      "{\"txn\":{}}\n"
                      "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2,\"readerFeatures\":[]}}\n"
                      "{\"metaData\":{\"id\":\"x\",\"name\":null,\"format\":{\"provider\":\"parquet\"},"
                      "\"partitionColumns\":[\"a\",null,\"b\"]}}\n");
    Str want = STR(
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1}}\n"
        "{\"add\":{\"path\":\"\",\"tags\":{},\"stats\":\"\"}}\n"
        "{\"txn\":{}}\n"
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2,\"readerFeatures\":[]}}\n"
        "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\"},\"partitionColumns\":["
        "\"a\",null,\"b\"]}}\n");
    Str got = round_trip(world, given, 5);
    assert_str_is(got, want.ptr);
}

/* Letter by letter what the commit had: numbers that a double would spoil, escapes, blanks. */
static void stats_text_is_not_touched(void **state)
{
    DuckWorld *world = *state;
    Str        stats = STR("{ \"numRecords\" : 1 "
                                  ",\"maxValues\":{\"d\":12345678901234567890123456.1234567890,\"e\":1e+300,"
                                  "\"s\":\"tab\\t quote\\\" \\u0000 \\ud83d\\udc22 "
                                  "\xF0\x9F\x90\xA2\",\"t\":\"2020-01-31T23:59:59.123Z\"}}");
    json_t    *add = json_pack("{s:{s:s,s:s%}}", "add", "path", "a", "stats", stats.ptr, stats.len);
    char      *line = json_dumps(add, JSON_COMPACT);
    Str        got  = round_trip(world, str_from_c(line), 1);
    json_t    *back = json_loadb(got.ptr, got.len - 1, 0, NULL);

    assert_non_null(back);
    assert_str_is(stats, json_string_value(json_object_get(json_object_get(back, "add"), "stats")));
    json_decref(add);
    json_decref(back);
    free(line);
}

static void the_file_has_the_shape_spark_expects(void **state)
{
    DuckWorld *world = *state;
    Str        path  = path_in(world, "00.checkpoint.parquet");

    (void)round_trip(world, STR("{\"txn\":{\"appId\":\"a\",\"version\":1}}\n"), 1);
    Str text = query_text(
        world,
        str_printf(
            world->arena,
            "SELECT name, coalesce(type, '-'), repetition_type, coalesce(converted_type, '-') "
            "FROM parquet_schema('%.*s') OFFSET 1",
            STR_ARG(path)));
    assert_true(str_starts_with(
        text,
        STR("txn|-|OPTIONAL|-\nappId|BYTE_ARRAY|OPTIONAL|UTF8\nversion|INT64|OPTIONAL|INT_64\n"
            "lastUpdated|INT64|OPTIONAL|INT_64\nadd|-|OPTIONAL|-\npath|BYTE_ARRAY|OPTIONAL|UTF8\n"
            "partitionValues|-|OPTIONAL|MAP\nkey_value|-|REPEATED|-\nkey|BYTE_ARRAY|REQUIRED|UTF8\n"
            "value|BYTE_ARRAY|OPTIONAL|UTF8\nsize|INT64|OPTIONAL|INT_64\n")));
    assert_true(str_find(text,
                         STR("partitionColumns|-|OPTIONAL|LIST\nlist|-|REPEATED|-\nelement|BYTE_"
                             "ARRAY|OPTIONAL|UTF8\n"),
                         0) > 0);
    assert_true(str_find(text,
                         STR("offset|INT32|OPTIONAL|INT_32\nsizeInBytes|INT32|OPTIONAL|INT_"
                             "32\ncardinality|INT64|OPTIONAL|INT_64\n"),
                         0) > 0);
    assert_true(str_find(text, STR("stats|BYTE_ARRAY|OPTIONAL|UTF8\nremove|-|OPTIONAL|-\n"), 0) >
                0);
    assert_true(str_find(text, STR("checkpointMetadata"), 0) < 0);
    Str top = query_text(
        world, str_printf(world->arena, "SELECT column_name FROM (DESCRIBE SELECT * FROM '%.*s')",
                          STR_ARG(path)));
    assert_str_is(top, "txn\nadd\nremove\nmetaData\nprotocol\ndomainMetadata\n");
    assert_query(world,
                 str_printf(world->arena,
                            "SELECT DISTINCT compression FROM parquet_metadata('%.*s')",
                            STR_ARG(path)),
                 "SNAPPY\n");
}

static void many_actions_and_several_files_are_read(void **state)
{
    DuckWorld *world = *state;
    Str        paths[2];
    int64_t    count;

    for (size_t file = 0; file < 2; file++) {
        Buf text = buf_new(world->arena, 0);
        for (size_t i = 0; i < 5000; i++)
            buf_printf(&text,
                       "{\"add\":{\"path\":\"part-%zu-%05zu\",\"partitionValues\":{\"p\":\"%zu\"},"
                       "\"size\":%zu,\"stats\":\"{\\\"numRecords\\\":%zu}\"}}\n",
                       file, i, i % 7, i, i);
        Str json    = write_text(world, file == 0 ? "a.json" : "b.json", buf_str(&text));
        paths[file] = path_in(world, file == 0 ? "a.parquet" : "b.parquet");
        assert_ok(duck_checkpoint_write(world->duck, json, paths[file], &count, &world->err),
                  &world->err);
        assert_int_equal(count, 5000);
    }
    Str    text  = read_actions(world, paths, 2), line;
    size_t lines = 0;
    while (str_split_next(&text, '\n', &line) && line.len > 0)
        lines++;
    assert_int_equal(lines, 10000);
}

/* V2 checkpoints, old ones and other engines' (1.4): missing columns and members are NULL, unknown
 * ones are dropped. */
static void checkpoints_of_other_writers_are_read(void **state)
{
    DuckWorld *world = *state;
    Str        path  = path_in(world, "foreign.parquet");
    Str        sql   = str_printf(
                 world->arena,
                 "COPY (SELECT CASE WHEN i = 0 THEN {'path': 'a', 'partitionValues': MAP{'p': "
                          "NULL::VARCHAR}, 'size': 5::BIGINT, 'modificationTime': 6::BIGINT, "
                          "'dataChange': false, 'deletionVector': {'storageType': 'u', 'pathOrInlineDv': 'x', "
                          "'offset': 1::INTEGER, 'sizeInBytes': 2::INTEGER, "
                          "'cardinality': 3::BIGINT, 'maxRowIndex': 9::BIGINT}, 'partitionValues_parsed': {'p': "
                          "NULL::DATE}, "
                          "'stats_parsed': {'minValues': {'d': 1.5::DECIMAL(10,2)}, 'numRecords': 77::BIGINT, "
                          "'tightBounds': true}} END AS add, "
                          "CASE WHEN i = 1 THEN {'version': 10::BIGINT, 'tags': NULL::MAP(VARCHAR, VARCHAR)} END AS "
                          "\"checkpointMetadata\", "
                          "CASE WHEN i = 2 THEN {'path': 's.parquet', 'sizeInBytes': 8::BIGINT, 'modificationTime': "
                          "9::BIGINT, 'tags': MAP{'k': 'v'}} END AS sidecar, "
                          "CASE WHEN i = 3 THEN {'minReaderVersion': 1::INTEGER, 'minWriterVersion': 2::INTEGER} END "
                          "AS protocol, "
                          "CASE WHEN i = 4 THEN {'what': 1} END AS \"fromTheFuture\" "
                          "FROM range(5) AS r(i)) TO '%.*s' (FORMAT parquet)",
                 STR_ARG(path));
    assert_ok(duck_execute(world->session, sql, NULL, &world->err), &world->err);
    assert_str_is(read_actions(world, &path, 1),
                  "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":null},\"size\":5,"
                  "\"modificationTime\":6,\"dataChange\":false,"
                  "\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"x\",\"offset\":1,"
                  "\"sizeInBytes\":2,\"cardinality\":3},"
                  "\"stats\":\"{\\\"numRecords\\\":77}\"}}\n"
                  "{\"checkpointMetadata\":{\"version\":10}}\n"
                  "{\"sidecar\":{\"path\":\"s.parquet\",\"sizeInBytes\":8,\"modificationTime\":9,"
                  "\"tags\":{\"k\":\"v\"}}}\n"
                  "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n");
}

static void parsed_statistics_do_not_replace_text(void **state)
{
    DuckWorld *world = *state;
    Str        path  = path_in(world, "both.parquet");
    Str        sql   = str_printf(
                 world->arena,
                 "COPY (SELECT unnest([{'path': 'a', 'stats': '{\"numRecords\":1}', 'stats_parsed': "
                          "{'numRecords': 2::BIGINT}}, "
                          "{'path': 'b', 'stats': NULL, 'stats_parsed': {'numRecords': 2::BIGINT}}, "
                          "{'path': 'c', 'stats': NULL, 'stats_parsed': {'numRecords': NULL::BIGINT}}, "
                          "{'path': 'd', 'stats': NULL, 'stats_parsed': NULL}]) AS add) TO '%.*s' (FORMAT parquet)",
                 STR_ARG(path));
    assert_ok(duck_execute(world->session, sql, NULL, &world->err), &world->err);
    assert_str_is(read_actions(world, &path, 1),
                  "{\"add\":{\"path\":\"a\",\"stats\":\"{\\\"numRecords\\\":1}\"}}\n"
                  "{\"add\":{\"path\":\"b\",\"stats\":\"{\\\"numRecords\\\":2}\"}}\n"
                  "{\"add\":{\"path\":\"c\"}}\n"
                  "{\"add\":{\"path\":\"d\"}}\n");
}

static void a_damaged_checkpoint_is_an_error(void **state)
{
    DuckWorld *world = *state;
    RowStream *rows  = NULL;
    Str        path  = write_text(world, "bad.parquet", STR("PAR1 this is no Parquet file PAR1"));

    assert_false(duck_checkpoint_read(world->session, &path, 1, world->arena, &rows, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "reading a checkpoint");
    path = path_in(world, "absent.parquet");
    assert_false(duck_checkpoint_read(world->session, &path, 1, world->arena, &rows, &world->err));
    assert_err(&world->err, ERR_STORE, "absent.parquet");
    assert_int_equal(world->err.native, ENOENT);
    assert_query(world, STR("SELECT 1"), "1\n");
}

static void wrong_json_makes_no_checkpoint(void **state)
{
    DuckWorld  *world   = *state;
    Str         parquet = path_in(world, "c.parquet");
    const char *wrong[] = {"{\"txn\":{\"appId\":\"a\",\"version\":1}}\n{\"txn\":",
                           "{\"add\":{\"path\":\"a\",\"size\":\"many\"}}\n"};

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        Str json = write_text(world, "wrong.json", str_from_c(wrong[i]));
        assert_false(duck_checkpoint_write(world->duck, json, parquet, NULL, &world->err));
        assert_err(&world->err, ERR_QUERY_ENGINE, "writing a checkpoint");
        assert_false(file_exists(parquet));
    }
}

/* A single action of megabytes: a schema of thousands of commented columns. */
static void long_actions_fit(void **state)
{
    DuckWorld *world = *state;
    Buf        text  = buf_new(world->arena, 0);

    buf_append_c(&text, "{\"metaData\":{\"id\":\"x\",\"schemaString\":\"");
    for (size_t i = 0; i < 3000000; i++)
        buf_append_c(&text, "0123456789");
    buf_append_c(&text, "\"}}\n{\"txn\":{\"appId\":\"a\",\"version\":1}}\n");
    Str got = round_trip(world, buf_str(&text), 2);
    assert_int_equal(got.len, text.len); /* in whatever order */
    assert_true(str_find(got, str_slice(buf_str(&text), 0, 30000000), 0) >= 0);
    assert_true(str_find(got, STR("{\"txn\":{\"appId\":\"a\",\"version\":1}}\n"), 0) >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(every_action_comes_back),
        duck_test(absent_and_null_members_are_left_out_and_empty_ones_stay),
        duck_test(stats_text_is_not_touched),
        duck_test(the_file_has_the_shape_spark_expects),
        duck_test(many_actions_and_several_files_are_read),
        duck_test(checkpoints_of_other_writers_are_read),
        duck_test(parsed_statistics_do_not_replace_text),
        duck_test(a_damaged_checkpoint_is_an_error),
        duck_test(wrong_json_makes_no_checkpoint),
        duck_test(long_actions_fit),
    };
    return RUN_TESTS(tests);
}
