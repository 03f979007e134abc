/* A call of backfill: its waves, its limits, what stops it (algorithms.md 4.9 to 4.12, 4.16). */
#include "support/test_support.h"

#include "base/buf.h"
#include "base/list.h"
#include "support/backfill.h"

#include <errno.h>

static void waves_are_read_until_the_snapshot_is_done(void **state) /* T4.3, T4.23, T4.41 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   stream  = shop_chunked();
    BackfillOptions options = shop_backfill(2, 2);
    ApplyOptions    apply   = shop_apply();
    BackfillResult  result;

    shop_fill(world, 0, 8);
    StreamResult started = world_stream(world, &stream);
    assert_int_equal(world_version(world, BRONZE), -1); /* nothing of the table was read */
    StreamResult again = world_stream(world, &stream);
    assert_true(lsn_equal(started.snapshot.lsn, again.snapshot.lsn));
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_open'");
    assert_rows(world, "int|0|7|8\n",
                "SELECT json_extract_string(detail, '$.plan.kind'), json_extract(detail, "
                "'$.plan.lo'), json_extract(detail, '$.plan.hi'), json_extract(detail, "
                "'$.plan.rows') FROM {" PLANS "}");
    options.max_waves = OPT_I64(0);
    result            = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_RUNNING);
    assert_int_equal(result.chunks_done, 0);
    assert_false(result.chunks_total.is_set);
    assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_plan'");
    options.max_waves = OPT_I64(1);
    result            = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_RUNNING);
    assert_int_equal(result.chunks_done, 2);
    assert_int_equal(result.chunks_total.value, 4);
    world_commit(world, "UPDATE dbo.orders SET note = 'late' WHERE id = 1");
    world_commit(world, "DELETE dbo.orders WHERE id = 6");
    (void)world_stream(world, &stream);
    result = world_backfill(world, &options); /* one wave again, and then it is complete */
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.waves, 1);
    assert_int_equal(result.chunks_done, 4);
    assert_int_equal(result.chunks_total.value, 4);
    assert_rows(world, "3\n",
                "SELECT string_agg(json_extract(detail, '$.chunk'), ' ') FROM {" FACTS
                "} WHERE event = 'snapshot_chunk' AND json_extract(detail, '$.last') = 'true'");
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n3|1|6|8|1\n");
    int64_t version = world_version(world, BRONZE);
    result          = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(world_version(world, BRONZE), version);
    assert_rows(world, "bootstrap|7\n",
                "SELECT event, \"rows\" FROM {" FACTS "} WHERE event = 'bootstrap'");
    stream.snapshot_chunked = false; /* a full run finds it and reads nothing */
    again                   = world_stream(world, &stream);
    assert_true(lsn_equal(started.snapshot.lsn, again.snapshot.lsn));
    assert_int_equal(world_version(world, BRONZE), version);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

static void key_values_stay_out_of_the_facts(void **state) /* T4.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    shop_fill(world, 777100, 6);
    (void)shop_run_chunked(world);
    assert_backfill_done(world, &options, 6);
    assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "} WHERE contains(detail, '7771')");
    assert_rows(world, "id|777100|777105|3|777102\n",
                "SELECT max(json_extract_string(detail, '$.keys[0]')) FILTER (event = "
                "'snapshot_open'), max(json_extract(detail, '$.plan.lo')) FILTER (event = "
                "'snapshot_open'), max(json_extract(detail, '$.plan.hi')) FILTER (event = "
                "'snapshot_open'), max(json_array_length(detail, '$.chunks')) FILTER (event = "
                "'snapshot_plan'), max(json_extract(detail, '$.chunks[0][1]')) FILTER (event = "
                "'snapshot_plan') FROM {" PLANS "}");
    assert_str_is(shop_chunks(world), "0|0|-|777102|2\n1|0|777102|777104|2\n2|1|777104|777106|2\n");
    world_close(world);
}

static void lose_newest_plans_rows(World *world, const char *commit)
{
    Err err = ERR_INIT;

    assert_ok(store_remove(world_store(world), str_from_c(commit), &err), &err);
}

/* A range without its bounds is never read as the whole table. */
static void a_missing_plans_row_is_named(void **state) /* T4.1, T12.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    ApplyOptions    apply   = shop_apply();
    Process        *process;
    BackfillResult  result;

    shop_open_snapshot(world, 6);
    backfill_crash_at(world, &options, FACTS_COMMIT(3), 1, true);
    lose_newest_plans_rows(world, PLANS_COMMIT(2));
    process = process_open(world, "backfill");
    assert_false(process_backfill(process, &options, &result));
    static const char *const parts[] = {PLANS, "snapshot_plan", "restore the table"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_err(&process->err, ERR_STATE, parts[i]);
    assert_err(&process->err, ERR_STATE, lsn_format(result.snapshot.lsn).text);
    process_close(process);
    world_close(world);

    for (int applied_before = 0; applied_before <= 1; applied_before++) {
        world             = shop_open(state, 1);
        options           = shop_backfill(2, 2);
        options.max_waves = OPT_I64(1);
        shop_open_snapshot(world, 6);
        (void)world_backfill(world, &options);
        if (applied_before) (void)world_apply(world, &apply);
        lose_newest_plans_rows(world, PLANS_COMMIT(3));
        process = process_open(world, "apply");
        assert_false(process_apply(process, &apply));
        static const char *const chunk_parts[] = {PLANS, "snapshot_chunk", "of wave 0"};
        for (size_t i = 0; i < COUNT_OF(chunk_parts); i++)
            assert_err(&process->err, ERR_STATE, chunk_parts[i]);
        process_close(process);
        options.max_waves = (OptI64){.is_set = false};
        assert_backfill_done(world, &options, 6); /* it needs no bounds of what is recorded */
        assert_silver_follows(world);
        world_close(world);
    }
}

static void pause_at_a_read(void *arg, Str sql)
{
    Err err = ERR_INIT;

    if (is_chunk_read(sql))
        assert_ok(store_replace(world_store(arg), STR(CHECKPOINT "/_tidelake/pause"),
                                str_bytes(STR("")), &err),
                  &err);
}

static void a_pause_file_holds_the_next_wave(void **state) /* T4.56 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Err             err     = ERR_INIT;
    BackfillResult  result;

    shop_open_snapshot(world, 6);
    assert_ok(store_replace(world_store(world), STR(CHECKPOINT "/_tidelake/pause"),
                            str_bytes(STR("")), &err),
              &err);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_PAUSED);
    assert_false(result.chunks_total.is_set);
    assert_true(str_find(result.reason, STR("_tidelake/pause"), 0) >= 0);
    assert_int_equal(world_version(world, BRONZE), -1);
    assert_rows(world, "0\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_plan'");
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/_tidelake/pause"), &err), &err);

    Process *process = process_open(world, "paused"); /* while wave 0 is read */
    sim_sql_driver_set_hook(process->sql, pause_at_a_read, world);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    process_close(process);
    assert_int_equal(result.state, BACKFILL_PAUSED);
    assert_int_equal(result.chunks_done, 2);
    assert_int_equal(result.chunks_total.value, 3);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n");
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/_tidelake/pause"), &err), &err);
    assert_backfill_done(world, &options, 6);
    assert_str_is(shop_chunks(world), "0|0|-|2|2\n1|0|2|4|2\n2|1|4|6|2\n");
    world_close(world);
}

/* Something of that name that cannot be looked at: nobody can tell what was meant, and nothing is begun. */
static void a_pause_file_that_cannot_be_looked_at_starts_nothing(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "blind");
    BackfillResult  result;

    shop_open_snapshot(world, 6);
    process->plan = (FaultPlan){.count_reads          = true,
                                .fail_at_step         = 1,
                                .error_errno          = EACCES,
                                .only_path_containing = STR("_tidelake/pause")};
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_STORE, CHECKPOINT "/_tidelake/pause");
    assert_err(&process->err, ERR_STORE, "a file of this name pauses, none goes on");
    assert_false(result.chunks_total.is_set);
    assert_int_equal(world_version(world, BRONZE), -1);
    assert_rows(world, "snapshot_open\n", "SELECT event FROM {" PLANS "}");
    process->plan = (FaultPlan){0};
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(result.state, BACKFILL_DONE);
    process_close(process);
    world_close(world);
}

/* Whoever runs the stream once more, as one without a snapshot is told to, gets no chunked one. */
static void a_table_that_was_read_whole_is_not_advised_to_be_read(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    StreamOptions   whole   = shop_bootstrap();
    BackfillResult  result;

    shop_fill(world, 0, 6);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_NO_SNAPSHOT);
    assert_true(str_find(result.reason, STR("--bootstrap --snapshot chunked"), 0) >= 0);
    (void)world_stream(world, &whole);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_NO_SNAPSHOT);
    assert_int_equal(str_find(result.reason, STR("--bootstrap"), 0), -1);
    assert_true(str_find(result.reason, STR("bronze has the whole table as of LSN"), 0) >= 0);
    world_close(world);
}

static void the_retention_is_kept_at_a_distance(void **state) /* T4.28 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    StreamOptions   stream  = shop_chunked();
    BackfillResult  result;

    options.min_headroom_hours = OPT_DOUBLE(1);
    result                     = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_NO_SNAPSHOT);
    assert_true(backfill_is_paused(result.state));
    assert_true(str_find(result.reason, STR(BRONZE), 0) >= 0);
    assert_true(str_find(result.reason, STR(APP_ID), 0) >= 0);
    shop_open_snapshot(world, 6);
    result = world_backfill(world, &options); /* batch 0 had no ranges */
    assert_int_equal(result.state, BACKFILL_WAITING_METRICS);
    assert_true(backfill_is_paused(result.state));
    assert_true(str_find(result.reason, STR(APP_ID), 0) >= 0);
    shop_fill(world, 100, 1);
    shop_fill(world, 101, 1);
    (void)world_stream(world, &stream);
    assert_rows(world, "0.05\n",
                "SELECT retention_headroom_hours FROM {" FACTS
                "} WHERE event IS NULL ORDER BY batch_id DESC LIMIT 1");
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_WAITING_HEADROOM);
    assert_true(str_find(result.reason, STR("0.05 in a row 0.00 hours old"), 0) >= 0);
    assert_true(str_find(result.reason, STR("min_headroom_hours is 1.00"), 0) >= 0);
    assert_false(result.chunks_total.is_set);
    options.min_headroom_hours = OPT_DOUBLE(0.01);
    options.max_waves          = OPT_I64(1);
    result                     = world_backfill(world, &options); /* at the time of the row */
    assert_int_equal(result.state, BACKFILL_RUNNING);
    options.max_waves = (OptI64){.is_set = false};
    world_pass_minutes(world, 60);
    result = world_backfill(world, &options);
    assert_int_equal(result.state, BACKFILL_WAITING_HEADROOM); /* the row is too old to go by */
    assert_int_equal(result.chunks_done, 2);
    assert_true(str_find(result.reason, STR("row 1.00 hours old"), 0) >= 0);
    shop_fill(world, 102, 1);
    (void)world_stream(world, &stream);
    assert_backfill_done(world, &options, 6);
    world_close(world);
}

/* --- a clock behind --- */

typedef struct LateClock {
    Clock  clock;
    Clock *of;
} LateClock;

static int64_t late_utc_us(Clock *clock)
{
    return clock_utc_us(((LateClock *)clock)->of) - INT64_C(2) * 3600000000;
}

static int64_t late_monotonic_ns(Clock *clock)
{
    return clock_monotonic_ns(((LateClock *)clock)->of);
}

static void late_sleep_until(Clock *clock, int64_t monotonic_ns, Cancel *cancel)
{
    Clock *of = ((LateClock *)clock)->of;

    of->sleep_until(of, monotonic_ns, cancel);
}

/* The stream's machine is two hours ahead of the backfill's: its row is not "minus two hours old". */
static void a_clock_behind_adds_no_headroom(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "late");
    LateClock       late    = {
                 .clock = {late_utc_us, late_monotonic_ns, late_sleep_until, NULL},
                 .of    = process->env.clock,
    };
    BackfillResult result;

    shop_open_snapshot(world, 6);
    shop_fill(world, 100, 1);
    shop_fill(world, 101, 1);
    (void)shop_run_chunked(world);
    assert_rows(world, "0.05\n",
                "SELECT retention_headroom_hours FROM {" FACTS
                "} WHERE event IS NULL ORDER BY batch_id DESC LIMIT 1");
    options.min_headroom_hours = OPT_DOUBLE(1);
    process->env.clock         = &late.clock;
    assert_ok(process_backfill(process, &options, &result), &process->err);
    process->env.clock = late.of;
    process_close(process);
    assert_int_equal(result.state, BACKFILL_WAITING_HEADROOM);
    assert_true(str_find(result.reason, STR("0.05 hours of headroom are left"), 0) >= 0);
    world_close(world);
}

/* --- waves --- */

/* The table is another one, or the server lags behind: the LSNs of its log end below S. */
static void a_stamp_below_the_snapshot_stops_the_call(void **state) /* T4.22, T12.1 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "backfill");
    BackfillResult  result;

    world_exec(world, "CREATE DATABASE behind");
    world_exec(world, "USE behind; EXEC sys.sp_cdc_enable_db");
    world_exec(world, "CREATE TABLE dbo.orders (" SHOP_COLUMNS ")");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL");
    world_exec(world, "INSERT INTO dbo.orders VALUES (1, 'a')");
    world_exec(world, "EXEC sys.sp_cdc_scan");
    Str behind = str_trim(
        world_source_rows(world, "SELECT CONVERT(varchar(22), sys.fn_cdc_get_max_lsn(), 1)"));
    world_exec(world, "USE shop");
    for (int i = 0; i < 20; i++)
        shop_fill(world, 100 + i, 1);
    shop_open_snapshot(world, 6);
    int64_t facts                    = world_version(world, FACTS);
    options.stream.source.connection = STR("UID=sa;PWD=pw;DATABASE=behind");
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_SOURCE_STATE, str_c(world_arena(world), behind));
    assert_err(&process->err, ERR_SOURCE_STATE, lsn_format(result.snapshot.lsn).text);
    assert_err(&process->err, ERR_SOURCE_STATE, "readable secondary");
    assert_err(&process->err, ERR_SOURCE_STATE, "another database");
    assert_int_equal(world_version(world, FACTS), facts + 1); /* the plan, by then */
    assert_int_equal(world_version(world, BRONZE), -1);
    sqldriver_close_kept(process->sql, options.stream.source.connection);
    process_close(process);
    world_close(world);
}

typedef struct Reads {
    World  *world;
    int64_t seconds; /* that each takes */
    LIST(Str) texts;
} Reads;

static void watch_read(void *arg, Str sql)
{
    Reads *reads = arg;
    Clock *clock = world_clock(reads->world);

    if (!is_chunk_read(sql)) return;
    *LIST_PUSH(world_arena(reads->world), &reads->texts) = str_copy(world_arena(reads->world), sql);
    clock->sleep_until(clock, clock_monotonic_ns(clock) + reads->seconds * INT64_C(1000000000),
                       NULL);
}

/* One wave whose reads take so many seconds each. */
static BackfillResult one_wave(World *world, BackfillOptions options, Reads *reads)
{
    Process       *process = process_open(world, "backfill");
    BackfillResult result;

    options.max_waves  = OPT_I64(1);
    reads->world       = world;
    reads->texts.count = 0;
    sim_sql_driver_set_hook(process->sql, watch_read, reads);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    process_close(process);
    return result;
}

/* "4-6\n5-7\n": the chunks of bronze's newest files, one file a line. */
static Str chunks_of_files(World *world, size_t count)
{
    Buf              buf   = buf_new(world_arena(world), 0);
    DeltaTable      *table = NULL;
    Err              err   = ERR_INIT;
    const DeltaFile *file;
    LIST(Str) lines = {0};

    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    for (size_t at = 0; delta_table_next_file(table, &at, &file);) {
        DeltaBounds bounds;
        assert_true(
            delta_file_find_bounds(table, file, STR("_chunk"), world_arena(world), &bounds));
        *LIST_PUSH(world_arena(world), &lines) = str_printf(
            world_arena(world), "%.*s-%.*s", STR_ARG(bounds.min), STR_ARG(bounds.max));
    }
    delta_table_close(table);
    assert_int_equal(lines.count, count);
    for (size_t i = count - 2; i < count; i++)
        buf_printf(&buf, "%.*s\n", STR_ARG(lines.items[i]));
    return buf_str(&buf);
}

static size_t read_at(const Reads *reads, const char *part)
{
    for (size_t i = 0; i < reads->texts.count; i++)
        if (str_find(reads->texts.items[i], str_from_c(part), 0) >= 0) return i;
    fail_msg("no chunk was read with %s", part);
    return 0;
}

/* A wave takes the rounds that the last one's pace and what is left of the call's time allow; each connection reads
 * every N-th chunk of it, one after the other, into one file. */
static void a_wave_is_as_wide_as_its_time_allows(void **state) /* T4.25, T4.26 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(1, 2);
    Reads           slow = {.seconds = 1000}, half = {.seconds = 500};

    shop_open_snapshot(world, 12);
    options.target_wave_seconds = 0;
    assert_int_equal(one_wave(world, options, &slow).chunks_done, 2);
    assert_int_equal(one_wave(world, options, &slow).chunks_done, 4);
    options.target_wave_seconds = 2500; /* 2.5 rounds of 1000 s */
    assert_int_equal(one_wave(world, options, &half).chunks_done, 8);
    assert_int_equal(half.texts.count, 4);
    assert_true(read_at(&half, "t.[id] >= 4") < 2); /* side by side first ... */
    assert_true(read_at(&half, "t.[id] >= 5") < 2);
    assert_true(read_at(&half, "t.[id] >= 6") >= 2); /* ... then the next of each */
    assert_true(read_at(&half, "t.[id] >= 7") >= 2);
    Str files = chunks_of_files(world, 6);
    assert_true(str_equal_c(files, "4-6\n5-7\n") || str_equal_c(files, "5-7\n4-6\n"));
    assert_rows(
        world, "1000|1000|1000\n",
        "SELECT max(duration_ms) FILTER (json_extract(detail, '$.wave') = '0') // 1000, "
        "max(duration_ms) FILTER (json_extract(detail, '$.wave') = '1') // 1000, "
        "max(duration_ms) FILTER (json_extract(detail, '$.wave') = '2') // 1000 FROM {" FACTS
        "} WHERE event = 'snapshot_chunk'");
    options.max_seconds = OPT_DOUBLE(700); /* one round of 500 s, though the target would take 5 */
    assert_int_equal(one_wave(world, options, &half).chunks_done, 10);
    options.max_seconds = (OptDouble){.is_set = false};
    assert_backfill_done(world, &options, 12);
    world_close(world);
}

static void change_before_a_read(void *arg, Str sql)
{
    World *world = arg;

    if (!is_chunk_read(sql)) return;
    world_exec(world, "UPDATE dbo.orders SET note = CONCAT(note, 'x') WHERE id IN (1, 3)");
    world_exec(world, "INSERT INTO dbo.orders SELECT 2, 'back' WHERE NOT EXISTS (SELECT 1 FROM "
                      "dbo.orders WHERE id = 2)");
}

/* A commit between the stamp and the read: the chunk has what it did, under a stamp below it, and the stream has it as
 * well, so that it only replays. */
static void what_is_committed_behind_the_stamp_only_replays(void **state) /* T4.27 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(4, 1);
    Process        *process = process_open(world, "backfill");
    BackfillResult  result;

    shop_open_snapshot(world, 4);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 2");
    Str stamp = lsn_str(world_arena(world), world_max_lsn(world));
    sim_sql_driver_set_hook(process->sql, change_before_a_read, world);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    process_close(process);
    assert_int_equal(result.state, BACKFILL_DONE);
    world_scan(world);
    (void)shop_run_chunked(world);
    assert_rows(world, "0|n0\n1|n1x\n2|back\n3|n3x\n",
                "SELECT id, note FROM {" BRONZE
                "} WHERE _operation = 0 AND _start_lsn = '%s' ORDER "
                "BY id",
                str_c(world_arena(world), stamp));
    assert_rows(world, "4|n1x|true\n2|back|true\n4|n3x|true\n",
                "SELECT _operation, note, _start_lsn > '%s' FROM {" BRONZE
                "} WHERE _operation IN (2, 4) ORDER BY id",
                str_c(world_arena(world), stamp));
    assert_silver_follows(world);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_are_read_until_the_snapshot_is_done),
        cmocka_unit_test(key_values_stay_out_of_the_facts),
        cmocka_unit_test(a_missing_plans_row_is_named),
        cmocka_unit_test(a_stamp_below_the_snapshot_stops_the_call),
        cmocka_unit_test(a_wave_is_as_wide_as_its_time_allows),
        cmocka_unit_test(what_is_committed_behind_the_stamp_only_replays),
        cmocka_unit_test(a_pause_file_holds_the_next_wave),
        cmocka_unit_test(a_pause_file_that_cannot_be_looked_at_starts_nothing),
        cmocka_unit_test(a_table_that_was_read_whole_is_not_advised_to_be_read),
        cmocka_unit_test(the_retention_is_kept_at_a_distance),
        cmocka_unit_test(a_clock_behind_adds_no_headroom),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
