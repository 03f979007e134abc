/* A copy in a snapshot's place, and a snapshot by itself (algorithms.md 3.3, 3.5). */
#include "support/test_support.h"

#include "support/backfill.h"

#include "engine/seed.h"

#define COPY "copies/orders"

/* A Delta table of some rows, "ids" "notes" as in SHOP_COLUMNS; one file a call. */
static void write_copy(World *world, int from, int count)
{
    static const Column columns[] = {
        {.name = {"ID", 2}, .type = {.kind = TYPE_LONG}},
        {.name = {"extra", 5}, .type = {.kind = TYPE_STRING}},
        {.name = {"Note", 4}, .type = {.kind = TYPE_STRING}},
    };
    Arena       *arena  = world_arena(world);
    Schema       schema = {columns, COUNT_OF(columns)};
    RowBuilder  *rows   = row_builder_new(arena, &schema);
    DeltaTable  *table  = NULL;
    Err          err    = ERR_INIT;
    DeltaCreate  spec   = {.schema = schema, .description = STR_EMPTY};
    DeltaAppend  append = {.purpose = STR("test")};
    DeltaOutcome outcome;

    for (int i = from; i < from + count; i++) {
        row_builder_begin(rows);
        row_builder_set_i64(rows, 0, i);
        row_builder_set_str(rows, 1, STR("dropped"));
        row_builder_set_str(rows, 2, str_printf(arena, "n%d", i));
    }
    RowBlock block = row_builder_block(rows);
    append.rows    = row_stream_of_block(arena, &schema, &block);
    assert_ok(delta_table_create(world_delta(world), STR(COPY), &spec, &table, NULL, &err), &err);
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &err), &err);
    delta_table_close(table);
}

static StreamOptions seed_stream(void)
{
    StreamOptions options = shop_bootstrap();

    options.source.num_partitions = 2;
    return options;
}

static SeedOptions at_lsn(Lsn lsn)
{
    return (SeedOptions){.from = STR(COPY), .as_of_lsn = lsn};
}

static SeedOptions at_time(int64_t utc_us)
{
    return (SeedOptions){.from = STR(COPY), .as_of = OPT_TIME(utc_us)};
}

static bool process_seed(Process *process, const SeedOptions *seed, SnapshotResult *out)
{
    StreamOptions options = seed_stream();

    process->err = ERR_INIT;
    process->ok  = seed_run(&process->env, &options, seed, out, &process->err);
    return process->ok;
}

static SnapshotResult world_seed(World *world, const SeedOptions *seed)
{
    Process       *process = process_open(world, "seed");
    SnapshotResult result;

    assert_ok(process_seed(process, seed, &result), &process->err);
    process_close(process);
    return result;
}

#define assert_refused(world, seed, code, ...) \
    assert_refused_at((world), (seed), (code), (const char *[]){__VA_ARGS__, NULL})

/* Refused with every text, and nothing was written. */
static void assert_refused_at(World *world, const SeedOptions *seed, ErrCode code,
                              const char *const *texts)
{
    Process       *process = process_open(world, "refused");
    Str            before  = str_copy(world_arena(world), world_store_text(world));
    SnapshotResult result;

    assert_false(process_seed(process, seed, &result));
    for (size_t i = 0; texts[i]; i++)
        assert_err(&process->err, code, texts[i]);
    process_close(process);
    assert_str_is(world_store_text(world), str_c(world_arena(world), before));
}

static bool process_snapshot(Process *process, bool takes_another, SnapshotResult *out)
{
    StreamOptions options = seed_stream();

    process->err = ERR_INIT;
    process->ok  = snapshot_run(&process->env, &options, takes_another, out, &process->err);
    return process->ok;
}

static SnapshotResult world_snapshot(World *world, bool takes_another)
{
    Process       *process = process_open(world, "snapshot");
    SnapshotResult result;

    assert_ok(process_snapshot(process, takes_another, &result), &process->err);
    process_close(process);
    return result;
}

static Str events(World *world)
{
    return world_rows(world, "SELECT event, \"rows\", max_lsn, started_at IS NOT NULL FROM {" FACTS
                             "} WHERE event IS NOT NULL ORDER BY written_at, event DESC");
}

static const char *text_of(World *world, const char *fmt, Lsn lsn)
{
    Buf buf = buf_new(world_arena(world), 0);

    for (; *fmt; fmt++)
        if (*fmt == '@')
            buf_append_c(&buf, lsn_format(lsn).text);
        else
            buf_append_char(&buf, *fmt);
    return str_c(world_arena(world), buf_str(&buf));
}

/* --- seed --- */

static void a_copy_is_the_snapshot_as_of_its_time(void **state) /* T3.7 */
{
    World        *world  = shop_open(state, 1);
    StreamOptions stream = seed_stream();
    ApplyOptions  apply  = shop_apply();
    Lsn           lsns[8];

    for (int i = 0; i < 8; i++)
        lsns[i] = shop_insert(world, i);
    world_commit(world, "UPDATE dbo.orders SET note = 'late' WHERE id = 2");
    write_copy(world, 0, 3);
    write_copy(world, 3, 2);
    OptTime commit = {.is_set = true};
    assert_true(time_parse(
        str_trim(world_source_rows(world,
                                   "SELECT CONVERT(varchar(23), tran_end_time, 126) FROM "
                                   "cdc.lsn_time_mapping WHERE start_lsn = CONVERT(binary(10), "
                                   "'%s', 1)",
                                   lsn_format(lsns[4]).text)),
        &commit.utc_us));
    SeedOptions    seed  = at_time(commit.utc_us + 30 * 1000000);
    SnapshotResult first = world_seed(world, &seed);
    assert_true(lsn_equal(first.lsn.lsn, lsns[4]));
    assert_int_equal(first.commit_ts.utc_us, commit.utc_us);
    assert_int_equal(first.rows.value, 5);
    assert_rows(world, text_of(world, "5|@|@|dbo_orders|0|1|0|0|0\n", lsns[4]),
                "SELECT count(*), min(_start_lsn), max(_snapshot), max(_capture_instance), "
                "max(_operation), count(DISTINCT _commit_ts), count(_seqval), count(_batch_id), "
                "count(_chunk) FROM {" BRONZE "}");
    int64_t        version = world_version(world, BRONZE);
    SnapshotResult again   = world_seed(world, &seed);
    assert_true(lsn_equal(again.lsn.lsn, lsns[4]));
    assert_int_equal(again.commit_ts.utc_us, commit.utc_us);
    assert_false(again.rows.is_set);
    seed = at_lsn(lsns[4]);
    (void)world_seed(world, &seed);
    seed = at_lsn(lsns[3]);
    assert_refused(world, &seed, ERR_STATE, lsn_format(lsns[3]).text, lsn_format(lsns[4]).text,
                   "--reseed");
    assert_int_equal(world_version(world, BRONZE), version);
    assert_str_is(events(world), text_of(world, "bootstrap|5|@|true\n", lsns[4]));
    StreamResult streamed = world_stream(world, &stream);
    assert_true(lsn_equal(streamed.snapshot.lsn, lsns[4]));
    assert_bronze_ids(world, "5 6 7 2 2");
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_str_is(events(world), text_of(world, "bootstrap|5|@|true\n", lsns[4]));
    world_cleanup(world, lsns[7]); /* the time's commit is gone from the mapping */
    seed  = at_time(commit.utc_us + 30 * 1000000);
    again = world_seed(world, &seed);
    assert_true(lsn_equal(again.lsn.lsn, lsns[4]));
    seed.reseeds = true;
    assert_refused(world, &seed, ERR_DATA_LOSS, "at or before", "older than");
    world_close(world);
}

static void what_would_lose_changes_is_refused(void **state) /* T3.8 */
{
    World      *world = shop_open(state, 1);
    SeedOptions seed;
    Lsn         lsns[5];

    for (int i = 0; i < 5; i++)
        lsns[i] = shop_insert(world, i);
    write_copy(world, 0, 1);
    seed = at_time(WORLD_START_US - INT64_C(86400) * 1000000);
    assert_refused(world, &seed, ERR_DATA_LOSS, "2026-12-07", "older than");
    seed = at_lsn(lsn_increment(lsns[4]));
    assert_refused(world, &seed, ERR_STATE, lsn_format(lsn_increment(lsns[4])).text,
                   "not recorded yet");
    world_cleanup(world, lsns[3]);
    seed = at_lsn(lsns[1]);
    assert_refused(world, &seed, ERR_DATA_LOSS, lsn_format(lsns[1]).text, lsn_format(lsns[3]).text,
                   "older than the retention", "newer copy");
    world_exec(world, "CREATE TABLE dbo.other (id int NOT NULL PRIMARY KEY, more int)");
    world_create(world, "wide",
                 "id int NOT NULL PRIMARY KEY, note varchar(20) NULL, more int, last date");
    StreamOptions  wide    = seed_stream();
    Process       *process = process_open(world, "wide");
    SnapshotResult result;
    wide.capture_instance = STR("dbo_wide");
    wide.bronze           = (TableRef){STR("lake/bronze/wide"), STR("lake/bronze/wide")};
    seed                  = at_lsn(world_max_lsn(world));
    assert_false(seed_run(&process->env, &wide, &seed, &result, &process->err));
    assert_err(&process->err, ERR_STATE, "more, last");
    assert_err(&process->err, ERR_STATE, "--allow-missing-columns");
    wide.app_id = STR_EMPTY;
    assert_false(seed_run(&process->env, &wide, &seed, &result, &process->err));
    assert_err(&process->err, ERR_USAGE, "app_id");
    assert_false(snapshot_run(&process->env, &wide, false, &result, &process->err));
    assert_err(&process->err, ERR_USAGE, "app_id");
    assert_int_equal(world_version(world, "lake/bronze/wide"), -1);
    assert_int_equal(world_version(world, FACTS), -1);
    wide.app_id                 = STR(APP_ID);
    seed.allows_missing_columns = true;
    assert_ok(seed_run(&process->env, &wide, &seed, &result, &process->err), &process->err);
    process_close(process);
    assert_rows(world, "0|n0|-|-\n", "SELECT id, note, more, last FROM {lake/bronze/wide}");
    seed = at_lsn(lsns[3]); /* the next change is still there */
    assert_int_equal(world_seed(world, &seed).rows.value, 1);
    world_close(world);
}

/* Nothing of a stream's own snapshot may be open, and it says how to finish that. */
static void next_to_an_open_snapshot_there_is_no_other(void **state) /* T4.36b, T4.37 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   chunked = shop_chunked(), full = shop_bootstrap();
    BackfillOptions options = shop_backfill(1, 1);
    SnapshotResult  result;

    for (int i = 0; i < 4; i++)
        (void)shop_insert(world, i);
    write_copy(world, 0, 4);
    Lsn         opened = world_stream(world, &chunked).snapshot.lsn;
    SeedOptions seed   = at_lsn(world_max_lsn(world));
    for (int waves = 0; waves < 2; waves++) {
        Process *process = process_open(world, "other");
        assert_refused(world, &seed, ERR_STATE, lsn_format(opened).text, "generation 0",
                       "backfill run until it is done");
        assert_false(process_snapshot(process, true, &result));
        assert_err(&process->err, ERR_STATE, lsn_format(opened).text);
        assert_err(&process->err, ERR_STATE, "generation 0");
        assert_err(&process->err, ERR_STATE, "backfill run until it is done");
        assert_false(process_stream(process, &full));
        assert_err(&process->err, ERR_STATE, lsn_format(opened).text);
        assert_err(&process->err, ERR_STATE, "backfill run until it is done");
        process_close(process);
        options.max_waves = OPT_I64(1);
        (void)world_backfill(world, &options);
    }
    options.max_waves = (OptI64){.is_set = false};
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);

    result = world_snapshot(world, false); /* it is found, at its S and S's time */
    assert_true(lsn_equal(result.lsn.lsn, opened));
    assert_true(result.commit_ts.is_set);
    assert_false(result.rows.is_set);
    assert_refused(world, &seed, ERR_STATE, lsn_format(opened).text, "--reseed");
    (void)shop_insert(world, 9);
    seed         = at_lsn(world_max_lsn(world));
    seed.reseeds = true;
    assert_int_equal(world_seed(world, &seed).rows.value, 4);
    world_close(world);
}

static void a_full_snapshot_that_died_holds_seeds_off(void **state) /* T4.37 */
{
    World        *world = shop_open(state, 1);
    StreamOptions full  = shop_bootstrap();

    (void)shop_insert(world, 0);
    write_copy(world, 0, 1);
    shop_crash_at(world, &full, BRONZE "/part-", false);
    SeedOptions seed = at_lsn(world_max_lsn(world));
    assert_refused(world, &seed, ERR_STATE, "a full snapshot at LSN", "rerun the stream",
                   "cleanup has passed");
    (void)world_snapshot(world, false); /* the same mode */
    (void)world_stream(world, &full);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" BRONZE "} WHERE _operation = 0");
    world_close(world);
}

static void a_reseed_is_newer_than_what_is_there(void **state)
{
    World        *world  = shop_open(state, 1);
    StreamOptions stream = seed_stream();
    ApplyOptions  apply  = shop_apply();
    Lsn           lsns[4];

    for (int i = 0; i < 4; i++)
        lsns[i] = shop_insert(world, i);
    write_copy(world, 0, 2);
    SeedOptions seed = at_lsn(lsns[1]);
    (void)world_seed(world, &seed);
    write_copy(world, 2, 2);
    seed         = at_lsn(lsns[0]);
    seed.reseeds = true;
    assert_refused(world, &seed, ERR_STATE, lsn_format(lsns[0]).text, lsn_format(lsns[1]).text);
    seed = at_lsn(lsns[3]);
    assert_refused(world, &seed, ERR_STATE, lsn_format(lsns[1]).text);
    seed.reseeds = true;
    assert_int_equal(world_seed(world, &seed).rows.value, 4);
    assert_false(world_seed(world, &seed).rows.is_set);
    seed = at_lsn(lsns[1]); /* the first one, below a newer */
    assert_true(lsn_equal(world_seed(world, &seed).lsn.lsn, lsns[1]));
    assert_str_is(events(world), text_of(world, "bootstrap|2|@|true\n", lsns[1]));
    StreamResult streamed = world_stream(world, &stream);
    assert_true(lsn_equal(streamed.snapshot.lsn, lsns[3]));
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

/* A copy whose columns have other names in its files, and a log of changes, which is none. */
static void a_mapped_copy_is_read_and_a_log_is_not(void **state)
{
    World         *world   = world_open(state, 1);
    StreamOptions  options = seed_stream(), first = seed_stream();
    ApplyOptions   apply = shop_apply();
    SeedOptions    seed  = {.from = STR(SILVER)};
    Process       *process;
    SnapshotResult result;

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, [a,b c] varchar(20) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'x'), (2, NULL), (3, 'z')");
    (void)world_stream(world, &first);
    (void)world_apply(world, &apply);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 3");
    (void)world_stream(world, &first);
    (void)world_apply(world, &apply);
    seed.as_of_lsn = world_max_lsn(world);
    options.bronze = (TableRef){STR("lake/bronze/second"), STR("lake/bronze/second")};
    options.facts  = (TableRef){STR_EMPTY, STR_EMPTY};
    process        = process_open(world, "seed");
    assert_ok(seed_run(&process->env, &options, &seed, &result, &process->err), &process->err);
    assert_rows(world, "1|x\n2|-\n", "SELECT id, \"a,b c\" FROM {lake/bronze/second} ORDER BY id");
    seed.from      = STR(BRONZE);
    options.bronze = (TableRef){STR("lake/bronze/third"), STR("lake/bronze/third")};
    assert_false(seed_run(&process->env, &options, &seed, &result, &process->err));
    assert_err(&process->err, ERR_STATE, "log of changes");
    process_close(process);
    world_close(world);
}

static void an_empty_copy_is_told_by_its_event(void **state)
{
    World        *world  = shop_open(state, 1);
    StreamOptions stream = seed_stream();
    ApplyOptions  apply  = shop_apply();
    Lsn           first  = shop_insert(world, 1);

    world_commit(world, "DELETE FROM dbo.orders");
    Lsn empty = world_max_lsn(world);
    write_copy(world, 0, 0);
    SeedOptions seed = at_lsn(empty);
    assert_int_equal(world_seed(world, &seed).rows.value, 0);
    assert_false(world_seed(world, &seed).rows.is_set);
    assert_str_is(events(world), text_of(world, "bootstrap|0|@|true\n", empty));
    seed = at_lsn(first);
    assert_refused(world, &seed, ERR_STATE, lsn_format(empty).text);
    (void)shop_insert(world, 2);
    StreamResult streamed = world_stream(world, &stream);
    assert_true(lsn_equal(streamed.snapshot.lsn, empty));
    assert_bronze_ids(world, "2");
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

/* --- snapshot --- */

static void a_snapshot_is_found_whatever_the_names_case(void **state) /* T3.4 */
{
    World         *world   = shop_open(state, 1);
    StreamOptions  options = seed_stream();
    Process       *process;
    SnapshotResult result;

    (void)shop_insert(world, 1);
    StreamResult first = world_stream(world, &options);
    (void)shop_insert(world, 2);
    (void)shop_insert(world, 3);
    (void)world_stream(world, &options);
    int64_t version          = world_version(world, BRONZE);
    options.capture_instance = STR("DBO_Orders");
    process                  = process_open(world, "snapshot");
    assert_ok(snapshot_run(&process->env, &options, false, &result, &process->err), &process->err);
    process_close(process);
    assert_true(lsn_equal(result.lsn.lsn, first.snapshot.lsn));
    assert_true(result.commit_ts.is_set);
    assert_false(result.rows.is_set);
    assert_int_equal(world_version(world, BRONZE), version);
    result = world_snapshot(world, true);
    assert_true(lsn_equal(result.lsn.lsn, world_max_lsn(world)));
    assert_int_equal(result.rows.value, 3);
    assert_str_is(world_rows(world, "SELECT event FROM {" FACTS "} WHERE event IS NOT NULL"),
                  "snapshot_open\nbootstrap\n");
    ApplyOptions apply = shop_apply();
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

/* Each partition's rows and first key, in the order of the key: a file of bronze each. */
static Str partitions_of(World *world, const char *path)
{
    DeltaContext *delta   = world_delta(world);
    Arena        *arena   = world_arena(world);
    DeltaTable   *table   = NULL;
    DuckSession  *session = NULL;
    RowStream    *rows    = NULL;
    RowBlock      block;
    Buf           text = buf_new(arena, 0);
    Str           scan, sql;
    Err           err = ERR_INIT;

    assert_ok(delta_table_open(delta, str_from_c(path), &table, &err), &err);
    assert_ok(delta_scan_sql(table, NULL, 0, NULL, true, arena, &scan, &err), &err);
    sql = str_printf(
        arena,
        "SELECT count(*) || ' ' || arg_min(key, n) FROM (SELECT \"__$file\" AS file, "
        "coalesce(a::VARCHAR, '-') || ',' || coalesce(b, '-') AS key, row_number() OVER "
        "(ORDER BY a NULLS FIRST, b NULLS FIRST) AS n FROM %.*s) GROUP BY file ORDER BY "
        "min(n)",
        STR_ARG(scan));
    assert_ok(duck_session_open(delta->duck, &session, &err), &err);
    assert_ok(duck_query(session, sql, arena, &rows, &err), &err);
    for (;;) {
        assert_ok(row_stream_next(rows, &block, &err), &err);
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++)
            buf_printf(&text, "%.*s\n", STR_ARG(column_str(&block.columns[0], i)));
    }
    row_stream_close(rows);
    duck_session_close(session);
    delta_table_close(table);
    return buf_str(&text);
}

static void keys_with_nulls_are_cut_into_tiles(void **state) /* T3.3 */
{
    static const Str keys[]  = {{"a", 1}, {"b", 1}};
    World           *world   = world_open(state, 1);
    StreamOptions    options = seed_stream();
    SnapshotResult   result;

    world_create(world, "pairs", "k int NOT NULL PRIMARY KEY, a int NULL, b varchar(5) NULL");
    world_commit(world, "INSERT INTO dbo.pairs VALUES (1, NULL, NULL), (2, NULL, 'x'), (3, NULL, "
                        "'y'), (4, 1, NULL), (5, 1, 'a'), (6, 1, 'b'), (7, 2, NULL), (8, 2, 'b')");
    options.capture_instance   = STR("dbo_pairs");
    options.facts              = (TableRef){STR_EMPTY, STR_EMPTY};
    options.snapshot_keys      = keys;
    options.snapshot_key_count = 2;
    for (int many = 0; many <= 1; many++) {
        Process *process = process_open(world, "snapshot");
        Str      path    = many ? STR("lake/many") : STR("lake/five");

        options.bronze                = (TableRef){path, path};
        options.source.num_partitions = many ? 20 : 5;
        assert_ok(snapshot_run(&process->env, &options, false, &result, &process->err),
                  &process->err);
        assert_int_equal(result.rows.value, 8);
        process_close(process);
        assert_str_is(partitions_of(world, path.ptr),
                      many ? "1 -,-\n1 -,x\n1 -,y\n1 1,-\n1 1,a\n1 1,b\n1 2,-\n1 2,b\n"
                           : "2 -,-\n2 -,y\n2 1,a\n1 2,-\n1 2,b\n");
    }
    world_close(world);
}

/* --- deaths --- */

typedef struct Story {
    World *world;
    Lsn    as_of;
} Story;

static Story story_open(void **state)
{
    Story story = {.world = shop_open(state, 1)};

    world_commit(story.world, "INSERT INTO dbo.orders VALUES (0, 'n0'), (1, 'n1'), (2, 'n2')");
    story.as_of = world_max_lsn(story.world);
    write_copy(story.world, 0, 2);
    write_copy(story.world, 2, 1);
    world_commit(story.world, "UPDATE dbo.orders SET note = 'late' WHERE id = 1");
    return story;
}

static bool story_run(const Story *story, Process *process, bool seeds)
{
    SeedOptions    seed = at_lsn(story->as_of);
    SnapshotResult result;

    return seeds ? process_seed(process, &seed, &result)
                 : process_snapshot(process, false, &result);
}

static void assert_nobody_can_tell(const Story *story, bool seeds)
{
    World        *world  = story->world;
    StreamOptions stream = seed_stream();
    ApplyOptions  apply  = shop_apply();

    assert_rows(world, "3|3|1\n",
                "SELECT count(*), count(DISTINCT id), count(DISTINCT _snapshot) "
                "FROM {" BRONZE "}");
    if (seeds)
        assert_rows(world, "bootstrap|1\n", "SELECT event, count(*) FROM {" FACTS "} GROUP BY 1");
    (void)world_stream(world, &stream);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_rows(world, "3\n", "SELECT count(*) FROM {" BRONZE "} WHERE _operation = 0");
    assert_facts_once(world);
    assert_logs_readable(world);
}

/* At every step of the store, before and after its effect; `kills`: the process dies of it. */
static void break_at_any_step(void **state, bool seeds, bool kills)
{
    Story    story   = story_open(state);
    Process *process = process_open(story.world, "whole");

    assert_ok(story_run(&story, process, seeds), &process->err);
    uint64_t steps = process->plan.step_count;
    process_close(process);
    assert_nobody_can_tell(&story, seeds);
    world_close(story.world);
    assert_true(steps >= (seeds ? 8 : 5));
    for (uint64_t step = 1; step <= steps; step++)
        for (int after = 0; after <= 1; after++) {
            story         = story_open(state);
            process       = process_open(story.world, "breaking");
            process->plan = (FaultPlan){
                .fail_at_step = step, .after_effect = after == 1, .crash = kills};
            (void)story_run(&story, process, seeds);
            process_close(process);
            process = process_open(story.world, "rerun");
            if (!story_run(&story, process, seeds)) {
                print_error("# step %llu, after %d\n", (unsigned long long)step, after);
                assert_ok(false, &process->err);
            }
            process_close(process);
            assert_nobody_can_tell(&story, seeds);
            world_close(story.world);
        }
}

static void a_seed_that_dies_at_any_step_leaves_no_trace(void **state) /* state.md 16.9 */
{
    break_at_any_step(state, true, true);
}

static void a_snapshot_that_dies_at_any_step_leaves_no_trace(void **state)
{
    break_at_any_step(state, false, true);
}

static void a_failure_that_passes_is_survived_too(void **state)
{
    break_at_any_step(state, true, false);
    break_at_any_step(state, false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_snapshot_as_of_its_time),
        cmocka_unit_test(what_would_lose_changes_is_refused),
        cmocka_unit_test(next_to_an_open_snapshot_there_is_no_other),
        cmocka_unit_test(a_full_snapshot_that_died_holds_seeds_off),
        cmocka_unit_test(a_reseed_is_newer_than_what_is_there),
        cmocka_unit_test(a_mapped_copy_is_read_and_a_log_is_not),
        cmocka_unit_test(an_empty_copy_is_told_by_its_event),
        cmocka_unit_test(a_snapshot_is_found_whatever_the_names_case),
        cmocka_unit_test(keys_with_nulls_are_cut_into_tiles),
        cmocka_unit_test(a_seed_that_dies_at_any_step_leaves_no_trace),
        cmocka_unit_test(a_snapshot_that_dies_at_any_step_leaves_no_trace),
        cmocka_unit_test(a_failure_that_passes_is_survived_too),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
