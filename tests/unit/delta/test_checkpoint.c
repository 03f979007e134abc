/* Checkpoints (delta.md 2.13): what they hold, when they come, and that nobody is led astray by
 * them. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#define HEADER                                                                                     \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":["            \
    "\"timestampNtz\"],\"writerFeatures\":[\"timestampNtz\",\"domainMetadata\",\"appendOnly\"]}}"  \
    "\n"                                                                                           \
    "{\"metaData\":{\"id\":\"the id\",\"name\":\"n\",\"description\":\"d "                         \
    "\\\"q\\\"\",\"format\":{\"provider\":\"parquet\",\"options\":{\"o\":\"1\"}},"                 \
    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\","    \
    "\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{\\\"comment\\\":\\\"x\\\"}" \
    "}]}\","                                                                                       \
    "\"partitionColumns\":[],\"configuration\":{%s},\"createdTime\":17}}\n"

#define EVERYTHING                                                                                 \
    "{\"txn\":{\"appId\":\"a\",\"version\":3,\"lastUpdated\":5}}\n{\"txn\":{\"appId\":\"b\","      \
    "\"version\":4}}\n"                                                                            \
    "{\"domainMetadata\":{\"domain\":\"kept\",\"configuration\":\"{\\\"k\\\":1}\",\"removed\":"    \
    "false}}\n"                                                                                    \
    "{\"domainMetadata\":{\"domain\":\"gone\",\"configuration\":\"\",\"removed\":false}}\n"        \
    "{\"add\":{\"path\":\"full%20one\",\"partitionValues\":{\"p\":\"1\",\"q\":null},\"size\":12,"  \
    "\"modificationTime\":34,\"dataChange\":true,\"tags\":{\"t\":\"v\"},"                          \
    "\"baseRowId\":5,\"defaultRowCommitVersion\":6,\"clusteringProvider\":\"liquid\",\"stats\":"   \
    "\"{\\\"numRecords\\\":2,\\\"minValues\\\":{\\\"id\\\":12345678901234567890123456.1234567890}" \
    "}\"}}\n"                                                                                      \
    "{\"add\":{\"path\":\"bare\",\"partitionValues\":{},\"size\":1,\"modificationTime\":2,"        \
    "\"dataChange\":false}}\n"                                                                     \
    "{\"add\":{\"path\":\"old\",\"partitionValues\":{},\"size\":1,\"modificationTime\":2,"         \
    "\"dataChange\":true}}\n"                                                                      \
    "{\"add\":{\"path\":\"ancient\",\"partitionValues\":{},\"size\":1,\"modificationTime\":2,"     \
    "\"dataChange\":true}}\n"

#define REMOVALS                                                                                  \
    "{\"domainMetadata\":{\"domain\":\"gone\",\"configuration\":\"\",\"removed\":true}}\n"        \
    "{\"remove\":{\"path\":\"old\",\"deletionTimestamp\":1767225000000,\"dataChange\":true,"      \
    "\"extendedFileMetadata\":true,\"partitionValues\":{\"p\":\"1\"},\"size\":1,\"tags\":{\"x\":" \
    "\"y\"},\"stats\":\"{}\"}}\n"                                                                 \
    "{\"remove\":{\"path\":\"ancient\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"

static DeltaTable *table_with_everything(World *world, const char *configuration)
{
    put_commit(world, "t", 0,
               str_printf(world->arena, "%.*s%s%s", (int)(strstr(HEADER, "%s") - HEADER), HEADER,
                          configuration, strstr(HEADER, "%s") + 2)
                   .ptr);
    put_commit(world, "t", 1, EVERYTHING);
    put_commit(world, "t", 2, REMOVALS);
    return open_table(world, "t");
}

/* Every line of the checkpoint, sorted, as JSON. */
static Str checkpoint_lines(World *world, int64_t version)
{
    Arena       *arena   = world->arena;
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    Str          local;
    Buf          buf = buf_new(arena, 0);
    assert_ok(
        store_fetch_local(world->store,
                          str_from_c(log_path(world, "t", log_name_checkpoint(arena, version).ptr)),
                          arena, &local, &world->err),
        &world->err);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(duck_checkpoint_read(session, &local, 1, arena, &rows, &world->err), &world->err);
    while (row_stream_next(rows, &block, &world->err) && block.row_count > 0)
        for (size_t i = 0; i < block.row_count; i++) {
            buf_append(&buf, column_str(&block.columns[0], i));
            buf_append_char(&buf, '\n');
        }
    row_stream_close(rows);
    duck_session_close(session);
    return buf_str(&buf);
}

/* The text that a query over a checkpoint's file gives; `select` without FROM. */
static Str ask(World *world, int64_t version, const char *select)
{
    Arena       *arena   = world->arena;
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block;
    Str          local;
    assert_ok(
        store_fetch_local(world->store,
                          str_from_c(log_path(world, "t", log_name_checkpoint(arena, version).ptr)),
                          arena, &local, &world->err),
        &world->err);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    Str sql = str_printf(arena, "%s FROM read_parquet(%.*s)", select,
                         STR_ARG(duck_quote_literal(arena, local)));
    assert_ok(duck_query(session, sql, arena, &rows, &world->err), &world->err);
    assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
    assert_int_equal(block.row_count, 1);
    Str text = str_copy(arena, column_str(&block.columns[0], 0));
    row_stream_close(rows);
    duck_session_close(session);
    return text;
}

static void assert_has(Str text, const char *piece)
{
    if (str_find(text, str_from_c(piece), 0) < 0) fail_msg("no %s in\n%.*s", piece, STR_ARG(text));
}

static void assert_lacks(Str text, const char *piece)
{
    if (str_find(text, str_from_c(piece), 0) >= 0) fail_msg("%s in\n%.*s", piece, STR_ARG(text));
}

static void every_kind_of_action_survives(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "\"k\":\"v\"");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    Str lines = checkpoint_lines(world, 2);
    assert_has(lines, "\"minReaderVersion\":3");
    assert_has(lines, "\"readerFeatures\":[\"timestampNtz\"]");
    assert_has(lines, "\"description\":\"d \\\"q\\\"\"");
    assert_has(lines, "\"createdTime\":17");
    assert_has(lines, "\"appId\":\"a\",\"version\":3,\"lastUpdated\":5");
    assert_has(lines, "\"appId\":\"b\",\"version\":4");
    assert_has(lines, "\"domain\":\"kept\"");
    assert_lacks(lines, "\"gone\"");
    assert_has(lines, "12345678901234567890123456.1234567890");
    assert_has(lines,
               "\"baseRowId\":5,\"defaultRowCommitVersion\":6,\"clusteringProvider\":\"liquid\"");
    assert_has(lines, "\"path\":\"old\",\"deletionTimestamp\":1767225000000,\"dataChange\":false,"
                      "\"extendedFileMetadata\":true");
    assert_lacks(lines, "ancient"); /* its tombstone has expired */
    assert_lacks(lines, "\"x\":\"y\"");
    assert_lacks(lines, "commitInfo");
    assert_str_is(
        read_text(world, "t/_delta_log/_last_checkpoint"),
        str_printf(world->arena,
                   "{\"version\":2,\"size\":8,\"sizeInBytes\":%lld,\"numOfAddFiles\":2}",
                   (long long)read_text(
                       world, log_path(world, "t", log_name_checkpoint(world->arena, 2).ptr))
                       .len)
            .ptr);

    /* opened from it alone, the table is the same, and so is its next checkpoint */
    for (int64_t version = 0; version <= 2; version++)
        assert_ok(
            store_remove(world->store, str_from_c(commit_path(world, "t", version)), &world->err),
            &world->err);
    DeltaTable *again = open_table(world, "t");
    int64_t     txn;
    assert_int_equal(delta_table_get_version(again), 2);
    assert_int_equal(delta_table_get_file_count(again), 2);
    assert_true(delta_table_find_txn(again, STR("b"), &txn));
    assert_int_equal(txn, 4);
    assert_str_is(delta_table_get_description(again), "d \"q\"");
    assert_str_is(delta_table_get_schema(again)->columns[0].comment, "x");
    put_commit(world, "t", 3, "{\"commitInfo\":{}}\n");
    assert_ok(delta_table_refresh(again, &world->err), &world->err);
    assert_ok(delta_table_checkpoint(again, &world->err), &world->err);
    assert_true(str_equal(checkpoint_lines(world, 3), lines));
    delta_table_close(again);
    delta_table_close(table);
    world_close(world);
}

static void a_checkpoint_that_is_there_is_kept(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    Str first = read_text(world, log_path(world, "t", log_name_checkpoint(world->arena, 2).ptr));
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_true(str_equal(
        read_text(world, log_path(world, "t", log_name_checkpoint(world->arena, 2).ptr)), first));
    delta_table_close(table);
    world_close(world);
}

static void the_hint_never_moves_back(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "");
    put_text(world, "t/_delta_log/_last_checkpoint", "{\"version\":9,\"size\":1}");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_str_is(read_text(world, "t/_delta_log/_last_checkpoint"), "{\"version\":9,\"size\":1}");
    delta_table_close(table);
    world_close(world);
}

/* 2.10: Hadoop verifies these, and a stale one makes the checkpoint unreadable to it. */
static void stale_checksums_of_hadoop_go_first(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "");
    put_text(world, "t/_delta_log/.00000000000000000002.checkpoint.parquet.crc", "stale");
    put_text(world, "t/_delta_log/._last_checkpoint.crc", "stale");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_false(file_exists(world, "t/_delta_log/.00000000000000000002.checkpoint.parquet.crc"));
    assert_false(file_exists(world, "t/_delta_log/._last_checkpoint.crc"));
    delta_table_close(table);
    world_close(world);
}

static void the_interval_is_the_owners(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "\"delta.checkpointInterval\":\"3\"");
    DeltaTxn    txn   = {STR("a"), 100};
    for (int64_t version = 3; version <= 9; version++) {
        DeltaCommit  commit = {.operation       = STR("WRITE"),
                               .txn             = &txn,
                               .is_blind_append = true,
                               .user_metadata   = STR_EMPTY};
        DeltaOutcome outcome;
        txn.version++;
        assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
        assert_int_equal(outcome, DELTA_WRITTEN);
        assert_int_equal(
            file_exists(world,
                        log_path(world, "t", log_name_checkpoint(world->arena, version).ptr)),
            version % 3 == 0);
    }
    delta_table_close(table);
    world_close(world);
}

/* Other writers may leave theirs out. */
static void a_log_without_checkpoints_gets_one(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "");
    for (int64_t version = 3; version <= 22; version++)
        put_commit(world, "t", version, "{\"commitInfo\":{}}\n");
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    DeltaTxn     txn    = {STR("a"), 100};
    DeltaCommit  commit = {.operation       = STR("WRITE"),
                           .txn             = &txn,
                           .is_blind_append = true,
                           .user_metadata   = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_true(
        file_exists(world, log_path(world, "t", log_name_checkpoint(world->arena, 23).ptr)));
    txn.version++;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_false(
        file_exists(world, log_path(world, "t", log_name_checkpoint(world->arena, 24).ptr)));
    delta_table_close(table);
    world_close(world);
}

static void statistics_are_left_out_or_refused_as_the_table_says(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world,
                                              "\"delta.checkpoint.writeStatsAsJson\":\"false\"");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_str_is(
        ask(world, 2, "SELECT count(add.stats) || ' ' || max(add.stats_parsed.numRecords)"), "0 2");
    delta_table_close(table);
    world_close(world);
    world = world_new(state);
    table = table_with_everything(world, "\"delta.checkpoint.writeStatsAsJson\":\"false\","
                                         "\"delta.checkpoint.writeStatsAsStruct\":\"false\"");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_lacks(checkpoint_lines(world, 2), "stats");
    delta_table_close(table);
    world_close(world);
}

/* Values keep every digit, and each is of its column's type. */
static void statistics_are_typed_when_the_owner_says_so(void **state)
{
    World       *world     = world_new(state);
    const Column columns[] = {
        {STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
        {STR("we\"ird.name"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY},
        {STR("d"), DECIMAL_TYPE(38, 10), STR_EMPTY},
        {STR("day"), COLUMN_TYPE(TYPE_DATE), STR_EMPTY},
        {STR("at"), COLUMN_TYPE(TYPE_TIMESTAMP), STR_EMPTY},
        {STR("local"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY},
        {STR("f"), COLUMN_TYPE(TYPE_DOUBLE), STR_EMPTY},
        {STR("flag"), COLUMN_TYPE(TYPE_BOOLEAN), STR_EMPTY},
        {STR("bytes"), COLUMN_TYPE(TYPE_BINARY), STR_EMPTY},
        {STR("s"), COLUMN_TYPE(TYPE_SHORT), STR_EMPTY},
    };
    DeltaTable *table = NULL;
    DeltaCreate spec  = {.schema      = {.columns = columns, .column_count = COUNT_OF(columns)},
                         .description = STR_EMPTY};
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    Str       raw = table_header(table)->metadata_raw;
    ptrdiff_t at  = str_find(raw, STR("\"configuration\":{"), 0) +
                   (ptrdiff_t)strlen("\"configuration\":{");
    const char *adds =
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"stats\":\"{\\\"numRecords"
        "\\\":7,\\\"tightBounds\\\":true,\\\"minValues\\\":{\\\"id\\\":-9223372036854775808,"
        "\\\"we\\\\\\\"ird.name\\\":\\\"it's \\\\u00e9\\\",\\\"d\\\":"
        "-9999999999999999999999999999.9999999999,\\\"day\\\":\\\"0001-01-01\\\",\\\"at\\\":"
        "\\\"2020-01-31T23:59:59.123Z\\\",\\\"local\\\":\\\"2020-01-31T23:59:59.123\\\","
        "\\\"f\\\":1e+300,\\\"s\\\":99999,\\\"gone\\\":1},\\\"maxValues\\\":{\\\"d\\\":"
        "12345678901234567890123456.1234567890},\\\"nullCount\\\":{\\\"id\\\":0,\\\"flag\\\":3}}\"}"
        "}\n"
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{},\"size\":1}}\n"
        "{\"add\":{\"path\":\"c\",\"partitionValues\":{},\"size\":1,\"stats\":\"no json\"}}\n";
    put_commit_str(
        world, "t", 1,
        str_printf(world->arena,
                   "{\"metaData\":%.*s\"delta.checkpoint.writeStatsAsStruct\":\"true\"%.*s}"
                   "\n%s",
                   STR_ARG(str_slice(raw, 0, (size_t)at)),
                   STR_ARG(str_slice(raw, (size_t)at, raw.len)), adds));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    assert_str_is(
        ask(world, 1, "SELECT typeof(first(add.stats_parsed.minValues))"),
        "STRUCT(id BIGINT, \"we\"\"ird.name\" VARCHAR, d DECIMAL(38,10), \"day\" DATE, \"at\" "
        "TIMESTAMP WITH TIME ZONE, \"local\" TIMESTAMP, f DOUBLE, s SMALLINT)");
    assert_str_is(ask(world, 1,
                      "SELECT first(add.stats_parsed.minValues::VARCHAR) FILTER (add.path "
                      "= 'a')"),
                  "{'id': -9223372036854775808, 'we\"ird.name': 'it\\'s \xC3\xA9', 'd': "
                  "-9999999999999999999999999999.9999999999, 'day': 0001-01-01, 'at': '2020-01-31 "
                  "23:59:59.123+00', 'local': '2020-01-31 23:59:59.123', 'f': 1e+300, 's': NULL}");
    assert_str_is(ask(world, 1,
                      "SELECT first(add.stats_parsed.maxValues.d::VARCHAR) FILTER (add.path "
                      "= 'a')"),
                  "12345678901234567890123456.1234567890");
    assert_str_is(ask(world, 1,
                      "SELECT first(add.stats_parsed.nullCount::VARCHAR) FILTER (add.path "
                      "= 'a')"),
                  "{'id': 0, 'we\"ird.name': NULL, 'd': NULL, 'day': NULL, 'at': NULL, 'local': "
                  "NULL, 'f': NULL, 'flag': 3, 'bytes': NULL, 's': NULL}");
    assert_str_is(ask(world, 1,
                      "SELECT count(add.stats_parsed) || ' ' || count(add) || ' ' || "
                      "bool_and(add.stats_parsed.tightBounds) || ' ' || count(add.stats)"),
                  "1 3 true 2");
    delta_table_close(table);
    world_close(world);
}

/* With typed statistics alone, what is known of files survives a checkpoint, and the next one. */
static void typed_statistics_are_read_back(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    Str         raw   = table_header(table)->metadata_raw;
    ptrdiff_t   at    = str_find(raw, STR("\"configuration\":{"), 0) +
                   (ptrdiff_t)strlen("\"configuration\":{");
    put_commit_str(
        world, "t", 1,
        str_printf(world->arena,
                   "{\"metaData\":%.*s\"delta.checkpoint.writeStatsAsJson\":\"false\",%.*s}\n",
                   STR_ARG(str_slice(raw, 0, (size_t)at)),
                   STR_ARG(str_slice(raw, (size_t)at, raw.len))));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    append_rows(world, table, 17, 25);
    for (int round = 0; round < 2; round++) {
        const DeltaFile *file;
        DeltaBounds      bounds;
        size_t           next = 0;
        assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
        delta_table_close(table);
        table = open_table(world, "t");
        assert_int_equal(table->checkpoint_version, 2 + round);
        assert_true(delta_table_next_file(table, &next, &file));
        assert_int_equal(file->row_count, 25);
        assert_true(delta_file_find_bounds(table, file, STR("id"), world->arena, &bounds));
        assert_str_is(bounds.min, "17");
        assert_str_is(bounds.max, "41");
        assert_int_equal(bounds.null_count, 0);
        assert_true(delta_file_find_bounds(table, file, STR("name"), world->arena, &bounds));
        assert_str_is(bounds.min, "name 17");
        assert_str_is(bounds.max, "name 41");
        assert_true(delta_file_find_bounds(table, file, STR("at"), world->arena, &bounds));
        assert_true(str_starts_with(bounds.min, STR("2026-01-01T00:00:17.123")));
        if (round == 0) {
            put_commit(world, "t", 3, "{\"commitInfo\":{}}\n");
            assert_ok(delta_table_refresh(table, &world->err), &world->err);
        }
    }
    delta_table_close(table);
    world_close(world);
}

static void expired_transactions_are_dropped_when_the_owner_says_so(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(
        world, "\"delta.setTransactionRetentionDuration\":\"interval 90 days\"");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    Str lines = checkpoint_lines(world, 2);
    assert_lacks(lines, "\"appId\":\"a\"");
    assert_has(lines, "\"appId\":\"b\"");
    delta_table_close(table);
    world_close(world);
}

static void a_protected_old_version_is_not_checkpointed(void **state)
{
    World      *world = world_new(state);
    DeltaTable *old   = NULL;
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":["
               "\"checkpointProtection\"]}}\n{\"metaData\":{\"id\":\"x\",\"schemaString\":\"{"
               "\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"}]}\"}}\n");
    put_commit(world, "t", 1, "{\"commitInfo\":{}}\n");
    assert_ok(delta_table_open_version(&world->context, STR("t"), 0, &old, &world->err),
              &world->err);
    assert_false(delta_table_checkpoint(old, &world->err));
    assert_err(&world->err, ERR_UNSUPPORTED, "\"checkpointProtection\" keeps old versions");
    delta_table_close(old);
    old = open_table(world, "t");
    assert_ok(delta_table_checkpoint(old, &world->err), &world->err);
    delta_table_close(old);
    world_close(world);
}

/* A commit is a commit, also when its checkpoint fails. */
static void a_failure_of_the_checkpoint_is_only_logged(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = table_with_everything(world, "\"delta.checkpointInterval\":\"1\"");
    FaultPlan   plan  = {
           .fail_at_step = 1, .error_errno = 28, .only_path_containing = STR(".checkpoint.parquet")};
    world->context.store = store_fault_new(world->store, &plan);
    DeltaTxn     txn     = {STR("a"), 100};
    DeltaCommit  commit  = {.operation       = STR("WRITE"),
                            .txn             = &txn,
                            .is_blind_append = true,
                            .user_metadata   = STR_EMPTY};
    DeltaOutcome outcome;
    int64_t      version;
    assert_ok(delta_table_commit(table, &commit, &outcome, &version, &world->err), &world->err);
    assert_int_equal(version, 3);
    assert_int_equal(world->err.code, ERR_NONE);
    assert_int_equal(world->lines.warning_count, 1);
    assert_non_null(strstr(world->lines.last, "a checkpoint could not be written"));
    assert_int_equal(count_files(world, "t/_delta_log"), 4);
    delta_table_close(table);
    store_close(world->context.store);
    world_close(world);
}

/* Long statistics and schemas, more rows than a row group has. */
static void a_large_state_comes_back_whole(void **state)
{
    World        *world = world_new(state);
    Buf           buf   = buf_new(world->arena, 0);
    const int64_t count = 30000;
    buf_printf(&buf, "%.*s%s", (int)(strstr(HEADER, "%s") - HEADER), HEADER,
               strstr(HEADER, "%s") + 2);
    for (int64_t i = 0; i < count; i++) {
        buf_printf(
            &buf,
            "{\"add\":{\"path\":\"f%lld\",\"partitionValues\":{},\"size\":%lld,"
            "\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":%lld}",
            (long long)i, (long long)i + 1, (long long)i);
        for (int pad = 0; i % 1000 == 0 && pad < 3000; pad++)
            buf_append_c(&buf, "                                ");
        buf_append_c(&buf, "\"}}\n");
    }
    put_commit_str(world, "t", 0, buf_str(&buf));
    DeltaTable *table = open_table(world, "t");
    assert_ok(delta_table_checkpoint(table, &world->err), &world->err);
    delta_table_close(table);
    assert_ok(store_remove(world->store, str_from_c(commit_path(world, "t", 0)), &world->err),
              &world->err);
    table = open_table(world, "t");
    assert_int_equal(delta_table_get_file_count(table), count);
    const DeltaFile *file;
    int64_t          rows = 0, bytes = 0;
    for (size_t at = 0; delta_table_next_file(table, &at, &file);) {
        rows += file->row_count;
        bytes += file->size_bytes;
    }
    assert_int_equal(rows, count * (count - 1) / 2);
    assert_int_equal(bytes, count * (count + 1) / 2);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_action_survives),
        cmocka_unit_test(a_checkpoint_that_is_there_is_kept),
        cmocka_unit_test(the_hint_never_moves_back),
        cmocka_unit_test(stale_checksums_of_hadoop_go_first),
        cmocka_unit_test(the_interval_is_the_owners),
        cmocka_unit_test(a_log_without_checkpoints_gets_one),
        cmocka_unit_test(statistics_are_left_out_or_refused_as_the_table_says),
        cmocka_unit_test(statistics_are_typed_when_the_owner_says_so),
        cmocka_unit_test(typed_statistics_are_read_back),
        cmocka_unit_test(expired_transactions_are_dropped_when_the_owner_says_so),
        cmocka_unit_test(a_protected_old_version_is_not_checkpointed),
        cmocka_unit_test(a_failure_of_the_checkpoint_is_only_logged),
        cmocka_unit_test(a_large_state_comes_back_whole),
    };
    return RUN_DELTA_TESTS(tests);
}
