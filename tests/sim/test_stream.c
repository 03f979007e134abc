#include "support/test_support.h"

#include "support/shop.h"

static void a_start_at_the_newest_commit_writes_facts_alone(void **state) /* T2.1 */
{
    World        *world   = shop_open(state, 1);
    Lsn           start   = shop_insert(world, 1);
    StreamOptions options = shop_stream_from(start);

    (void)world_stream(world, &options);
    assert_rows(world, "0|0|-|-\n",
                "SELECT batch_id, \"rows\", end_lsn, read_seconds FROM {" FACTS "}");
    assert_int_equal(world_version(world, BRONZE), -1);
    int64_t version = world_version(world, FACTS);
    (void)world_stream(world, &options);
    assert_int_equal(world_version(world, FACTS), version);

    world_pass_minutes(world, 10);
    world_idle(world);
    (void)world_stream(world, &options);
    assert_str_is(world_rows(world, "SELECT \"rows\", end_lsn FROM {" FACTS "} WHERE batch_id = 1"),
                  str_c(world_arena(world), str_printf(world_arena(world), "0|%s\n",
                                                       lsn_format(world_max_lsn(world)).text)));
    assert_int_equal(world_version(world, BRONZE), -1);
    world_close(world);
}

static void a_start_lsn_is_taken_as_processed(void **state) /* T2.2 */
{
    World        *world = shop_open(state, 1);
    Lsn           lsns[5];
    StreamOptions options;

    for (int i = 0; i < 5; i++)
        lsns[i] = shop_insert(world, i);
    options = shop_stream_from(lsns[1]);
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "2 3 4");
    assert_bronze_is_complete(world, "orders", lsns[1]);
    world_close(world);
}

static void admission_counts_commits(void **state) /* T2.3 */
{
    World        *world   = shop_open(state, 1);
    Lsn           start   = world_max_lsn(world);
    StreamOptions options = shop_stream_from(start);

    for (int i = 0; i < 10; i++)
        world_commit(world, "INSERT INTO dbo.orders VALUES (%d, 'a'), (%d, 'b'), (%d, 'c')", 3 * i,
                     3 * i + 1, 3 * i + 2);
    options.max_commits_per_batch = 4;
    (void)world_stream(world, &options);
    assert_rows(world, "0|12\n1|12\n2|6\n",
                "SELECT batch_id, \"rows\" FROM {" FACTS "} ORDER BY batch_id");
    assert_facts_once(world);
    world_close(world);
}

static void admission_counts_commits_of_the_whole_database(void **state) /* T2.4, T11.3, T8.2 */
{
    World        *world = shop_open(state, 1);
    Lsn           start;
    StreamOptions options;

    world_create(world, "other", "id int NOT NULL PRIMARY KEY");
    start = world_max_lsn(world);
    world_pass_minutes(world, 70 * 60);
    world_idle(world);
    (void)shop_insert(world, 1);
    world_commit(world, "INSERT INTO dbo.other VALUES (1)");
    world_pass_minutes(world, 10);
    world_idle(world);
    (void)shop_insert(world, 2);
    world_commit(world, "INSERT INTO dbo.other VALUES (2)");
    options                       = shop_stream_from(start);
    options.max_commits_per_batch = 2;
    (void)world_stream(world, &options);
    assert_rows(world, "0|1\n1|0\n2|1\n",
                "SELECT batch_id, \"rows\" FROM {" FACTS "} ORDER BY batch_id");
    assert_rows(world, "-|-|0.0\n",
                "SELECT min_lsn, max_commit_ts, read_mb FROM {" FACTS "} WHERE batch_id = 1");
    world_close(world);
}

static void headroom_and_lags_are_measured_from_the_position(void **state) /* T11.3 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;
    Lsn           start;

    /* The instance's low end is 70 h before the first commit; 0, 10, 15, 20, 30 min follow. */
    world_create(world, "orders", SHOP_COLUMNS);
    world_create(world, "other", "id int NOT NULL PRIMARY KEY");
    start = world_max_lsn(world);
    world_pass_minutes(world, 70 * 60 - 1);
    (void)shop_insert(world, 1);
    world_pass_minutes(world, 9);
    world_commit(world, "INSERT INTO dbo.other VALUES (1)");
    world_pass_minutes(world, 5);
    world_idle(world);
    world_pass_minutes(world, 4);
    (void)shop_insert(world, 2);
    world_pass_minutes(world, 9);
    world_commit(world, "INSERT INTO dbo.other VALUES (2)");
    options                       = shop_stream_from(start);
    options.max_commits_per_batch = 2;
    (void)world_stream(world, &options);
    assert_str_is(world_rows(world,
                             "SELECT batch_id, \"rows\", source_max_commit_ts = (SELECT "
                             "max(end_commit_ts) FROM {" FACTS "}), ingestion_lag_seconds, "
                             "date_diff('minute', retention_watermark_ts, end_commit_ts) / 60.0 - "
                             "retention_headroom_hours BETWEEN -0.006 AND 0.006 FROM {" FACTS
                             "} ORDER BY batch_id"),
                  "0|1|true|1200.0|true\n1|1|true|600.0|true\n2|0|true|0.0|true\n");
    world_close(world);
}

static void lags_shrink_as_the_stream_catches_up(void **state) /* T11.2 */
{
    World        *world = shop_open(state, 1);
    StreamOptions options;
    Lsn           start = world_max_lsn(world);

    for (int i = 0; i < 3; i++)
        (void)shop_insert(world, i);
    options                       = shop_stream_from(start);
    options.max_commits_per_batch = 2;
    (void)world_stream(world, &options);
    assert_rows(world, "0|60.0|0.0\n1|0.0|0.0\n",
                "SELECT batch_id, ingestion_lag_seconds, capture_lag_seconds FROM {" FACTS
                "} ORDER BY batch_id");
    world_close(world);
}

static void refuse(World *world, const StreamOptions *options, ErrCode code, const char *text)
{
    Process *process = process_open(world, "refused");

    assert_false(process_stream(process, options));
    assert_err(&process->err, code, text);
    process_close(process);
}

static void changes_cleaned_up_before_the_batch_are_a_loss(void **state) /* T2.8 */
{
    World        *world   = shop_open(state, 1);
    Lsn           c1      = shop_insert(world, 1);
    StreamOptions options = shop_stream_from(c1);

    (void)world_stream(world, &options);
    (void)shop_insert(world, 2);
    Lsn     c3      = shop_insert(world, 3);
    int64_t version = world_version(world, BRONZE);
    world_cleanup(world, c3);
    refuse(world, &options, ERR_DATA_LOSS, "--bootstrap with a new bronze table");
    refuse(world, &options, ERR_DATA_LOSS, lsn_format(c3).text);
    refuse(world, &options, ERR_DATA_LOSS, "retention");
    refuse(world, &options, ERR_DATA_LOSS, "dbo_orders");
    assert_int_equal(world_version(world, BRONZE), version);
    world_close(world);
}

typedef struct Trap {
    World      *world;
    const char *expect;
    Lsn         low_water_mark;
    bool        is_sprung;
} Trap;

static void spring_cleanup(void *arg, Str sql)
{
    Trap *trap = arg;

    if (trap->is_sprung || str_find(sql, str_from_c(trap->expect), 0) < 0) return;
    trap->is_sprung = true;
    world_cleanup(trap->world, trap->low_water_mark);
}

static void changes_cleaned_up_before_the_read_are_a_loss(void **state) /* T2.8 */
{
    World        *world   = shop_open(state, 1);
    Lsn           c1      = shop_insert(world, 1);
    StreamOptions options = shop_stream_from(c1);
    Process      *process;
    Trap          trap = {.world = world, .expect = "AS [__$commit_time]"};

    (void)shop_insert(world, 2);
    trap.low_water_mark = shop_insert(world, 3);
    process             = process_open(world, "stream");
    sim_sql_driver_set_hook(process->sql, spring_cleanup, &trap);
    assert_false(process_stream(process, &options));
    assert_true(trap.is_sprung);
    assert_err(&process->err, ERR_DATA_LOSS, lsn_format(trap.low_water_mark).text);
    assert_err(&process->err, ERR_DATA_LOSS, "--bootstrap with a new bronze table");
    process_close(process);
    assert_rows(world, "", "SELECT 1 FROM {" BRONZE "}");
    world_close(world);
}

static void cleanup_of_what_was_read_is_no_loss(void **state) /* T2.8 */
{
    World        *world   = shop_open(state, 1);
    Lsn           c1      = shop_insert(world, 1);
    StreamOptions options = shop_stream_from(c1);

    Lsn c2 = shop_insert(world, 2);
    (void)world_stream(world, &options);
    world_cleanup(world, c2);
    (void)world_stream(world, &options); /* nothing new: no ranges, no guard */
    (void)shop_insert(world, 3);
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "2 3");
    world_close(world);
}

static void a_batch_written_twice_is_there_once(void **state) /* T2.10, T2.11 */
{
    static const char *const steps[] = {FACTS "/_delta_log/", "commits/1"};

    for (size_t i = 0; i < COUNT_OF(steps); i++)
        for (int after = 0; after <= 1; after++) {
            World        *world   = shop_open(state, 1);
            Lsn           start   = shop_insert(world, 1);
            StreamOptions options = shop_stream_from(start);

            (void)world_stream(world, &options);
            (void)shop_insert(world, 2);
            shop_crash_at(world, &options, steps[i], after);
            int64_t version = world_version(world, BRONZE);
            (void)world_stream(world, &options);
            assert_int_equal(world_version(world, BRONZE), version);
            assert_rows(world, "1|1|1|true\n",
                        "SELECT batch_id, \"rows\", inserts, min_lsn = max_lsn AND max_lsn = "
                        "end_lsn FROM {" FACTS "} WHERE batch_id = 1");
            assert_bronze_ids(world, "2");
            (void)shop_insert(world, 3);
            (void)world_stream(world, &options);
            assert_bronze_ids(world, "2 3");
            assert_facts_once(world);
            assert_logs_readable(world);
            world_close(world);
        }
}

static void warnings_of_a_replay_stand_in_the_next_row(void **state) /* T2.13 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, twice AS (id * 2)");
    options = shop_stream_from(world_max_lsn(world));
    (void)world_stream(world, &options); /* batch 0 has no range: its warning waits */
    assert_rows(world, "0|-\n", "SELECT batch_id, detail FROM {" FACTS "}");
    world_commit(world, "INSERT INTO dbo.orders (id) VALUES (1)");
    shop_crash_at(world, &options, "commits/1", false);
    world_commit(world, "INSERT INTO dbo.orders (id) VALUES (2)");
    (void)world_stream(world, &options); /* replays 1, which is in the facts, then runs 2 */
    assert_rows(world, "0|-\n1|true\n2|true\n",
                "SELECT batch_id, contains(detail, 'computed columns') FROM {" FACTS
                "} WHERE event IS NULL ORDER BY batch_id");
    world_close(world);
}

static void commits_after_the_start_wait_for_the_next_run(void **state) /* T2.14 */
{
    for (int64_t commits_per_batch = 0; commits_per_batch <= 1; commits_per_batch++) {
        World        *world   = shop_open(state, 1);
        StreamOptions options = shop_stream_from(world_max_lsn(world));
        Process      *process = process_open(world, "stream");

        (void)shop_insert(world, 1);
        Lsn second                    = shop_insert(world, 2);
        options.max_commits_per_batch = commits_per_batch;
        process->plan                 = (FaultPlan){.only_path_containing = STR("offsets/0")};
        process_spawn_stream(process, &options);
        while (process->plan.step_count == 0) /* the first batch is planned */
            clock_sleep_ms(world_clock(world), 0, NULL), sched_point(world_sched(world), "test");
        (void)shop_insert(world, 3);
        process_join(process);
        assert_ok(process->ok, &process->err);
        assert_true(lsn_equal(process->stream.end_lsn.lsn, second));
        process_close(process);
        assert_bronze_ids(world, "1 2");
        world_close(world);
    }
}

static void a_rewound_checkpoint_is_refused(void **state) /* T2.15 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world)), elsewhere;

    for (int i = 0; i < 3; i++) {
        (void)shop_insert(world, i);
        (void)world_stream(world, &options);
    }
    elsewhere            = options;
    elsewhere.checkpoint = STR("checkpoints/fresh");
    refuse(world, &elsewhere, ERR_STATE, APP_ID);
    refuse(world, &elsewhere, ERR_STATE, "batch 2");
    refuse(world, &elsewhere, ERR_STATE, "new app_id");
    assert_bronze_ids(world, "0 1 2");

    Err err = ERR_INIT; /* a run that starts at 2 passes: it replays what is in */
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/commits/2"), &err), &err);
    int64_t bronze = world_version(world, BRONZE), facts = world_version(world, FACTS);
    (void)world_stream(world, &options);
    assert_int_equal(world_version(world, BRONZE), bronze);
    assert_int_equal(world_version(world, FACTS), facts);
    world_close(world);
}

/* Batches 0 to 2, the checkpoint taken back to `batch_id` as a copy from then would have it. */
static World *rewind_to(void **state, int batch_id, const StreamOptions *without_facts)
{
    World *world = shop_open(state, 1);
    Err    err   = ERR_INIT;

    for (int i = 0; i < 3; i++) {
        (void)shop_insert(world, i);
        (void)world_stream(world, without_facts);
    }
    for (int i = batch_id + 1; i < 3; i++) {
        Arena *arena = world_arena(world);
        assert_ok(
            store_remove(world_store(world), str_printf(arena, CHECKPOINT "/commits/%d", i), &err),
            &err);
        assert_ok(
            store_remove(world_store(world), str_printf(arena, CHECKPOINT "/offsets/%d", i), &err),
            &err);
    }
    (void)shop_insert(world, 3);
    return world;
}

static void a_checkpoint_one_batch_behind_is_refused(void **state)
{
    for (int with_facts = 0; with_facts <= 1; with_facts++)
        for (int batch_id = 0; batch_id < 2; batch_id++) {
            StreamOptions options = world_stream_options();
            if (!with_facts) options.facts = options.control = (TableRef){0};
            World *world = rewind_to(state, batch_id, &options);
            /* Twice: the first must not leave a plan that makes the second a replay. */
            refuse(world, &options, ERR_STATE, "hold batch 2");
            refuse(world, &options, ERR_STATE, "hold batch 2");
            assert_bronze_ids(world, "0 1 2");
            world_close(world);
        }
}

/* Another stream, which gets further, runs when this one is about to write its rows. */
typedef struct Rival {
    World               *world;
    const StreamOptions *options;
    bool                 has_come;
} Rival;

static void overtake(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;

    (void)step, (void)operation;
    if (rival->has_come || str_find(path, STR(BRONZE "/part-"), 0) < 0) return;
    rival->has_come = true;
    (void)shop_insert(rival->world, 2);
    (void)world_stream(rival->world, rival->options);
}

static void two_streams_of_one_app_id_skip_nothing(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = world_stream_options(), other = options;
    Process      *process = process_open(world, "first");
    Rival         rival   = {.world = world, .options = &other};

    other.checkpoint = STR("checkpoints/other");
    (void)shop_insert(world, 1);
    process->plan = (FaultPlan){.on_step = overtake, .on_step_arg = &rival};
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_STATE, "new app_id");
    assert_true(rival.has_come);
    process_close(process);
    refuse(world, &options, ERR_STATE, "another run wrote it"); /* and so does its replay */
    assert_bronze_ids(world, "1 2");
    world_close(world);
}

/* Another run's bootstrap, from its start to its end, while this one is about to commit. */
typedef struct Bootstrapper {
    World      *world;
    const char *path;
    bool        has_come;
} Bootstrapper;

static void bootstrap_first(void *arg, uint64_t step, const char *operation, Str path)
{
    Bootstrapper *rival   = arg;
    StreamOptions options = world_stream_options();

    (void)step, (void)operation;
    if (rival->has_come || str_find(path, str_from_c(rival->path), 0) < 0) return;
    rival->has_come    = true;
    options.bootstrap  = true;
    options.app_id     = STR("rival");
    options.checkpoint = STR("checkpoints/rival");
    (void)shop_insert(rival->world, 3);
    (void)world_stream(rival->world, &options);
}

static void of_two_bootstraps_one_is_kept(void **state)
{
    static const char *const paths[] = {BRONZE "/part-", BRONZE "/_delta_log/"};

    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        World        *world   = shop_open(state, 1);
        StreamOptions options = world_stream_options();
        Process      *process = process_open(world, "late");
        Bootstrapper  rival   = {.world = world, .path = paths[i]};

        options.bootstrap = true;
        (void)shop_insert(world, 1);
        (void)shop_insert(world, 2);
        process->plan = (FaultPlan){.on_step = bootstrap_first, .on_step_arg = &rival};
        assert_ok(process_stream(process, &options), &process->err);
        assert_true(rival.has_come);
        process_close(process);
        assert_rows(world, "1|n1\n2|n2\n3|n3\n",
                    "SELECT id, note FROM {" BRONZE "} WHERE _operation = 0 ORDER BY id");
        assert_rows(world, "1\n", "SELECT count(DISTINCT _snapshot) FROM {" BRONZE "}");
        assert_rows(world, "1\n",
                    "SELECT count(DISTINCT max_lsn) FROM {" FACTS "} WHERE event = 'bootstrap'");
        world_close(world);
    }
}

/* The source was restored from an older copy, or is another one. */
static void a_position_above_what_is_captured_is_a_warning(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    (void)world_stream(world, &options);
    assert_int_equal(world_line_count(world, "is above"), 0);
    options.starting_lsn.bytes[0] = 1;
    options.checkpoint            = STR("checkpoints/elsewhere");
    options.app_id                = STR("elsewhere");
    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    assert_int_equal(world_line_count(world, "older copy"), 1);
    world_close(world);
}

/* Commits c2 to c5 as batch 1, then a crash at `path`. */
static void crash_in_a_batch(World *world, const StreamOptions *options, Lsn *lsns,
                             const char *path)
{
    (void)world_stream(world, options);
    for (int i = 2; i <= 5; i++)
        lsns[i] = shop_insert(world, i);
    shop_crash_at(world, options, path, false);
}

static void a_batch_that_is_in_bronze_cannot_be_lost(void **state) /* T2.16 */
{
    for (int up_to = 4; up_to <= 6; up_to += 2) {
        World        *world   = shop_open(state, 1);
        StreamOptions options = shop_stream_from(shop_insert(world, 1));
        Lsn           lsns[7];

        crash_in_a_batch(world, &options, lsns, FACTS "/_delta_log/");
        lsns[6] = shop_insert(world, 6);
        if (up_to == 6) (void)shop_insert(world, 7);
        world_cleanup(world, up_to == 6 ? world_max_lsn(world) : lsns[4]);
        if (up_to == 4)
            (void)world_stream(world, &options);
        else
            refuse(world, &options, ERR_DATA_LOSS, "dbo_orders"); /* of the next batch */
        assert_str_is(world_rows(world, "SELECT batch_id, \"rows\", inserts, end_lsn, read_seconds "
                                        "FROM {" FACTS "} WHERE batch_id = 1"),
                      str_c(world_arena(world), str_printf(world_arena(world), "1|4|4|%s|-\n",
                                                           lsn_format(lsns[5]).text)));
        if (up_to == 4)
            assert_bronze_ids(world, "2 3 4 5 6");
        else
            assert_bronze_ids(world, "2 3 4 5");
        assert_facts_once(world);
        world_close(world);
    }
}

static void a_batch_that_is_not_in_bronze_can_be_lost(void **state) /* T2.16 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(shop_insert(world, 1));
    Lsn           lsns[7];

    crash_in_a_batch(world, &options, lsns, BRONZE "/_delta_log/");
    world_cleanup(world, lsns[4]);
    refuse(world, &options, ERR_DATA_LOSS, "--bootstrap with a new bronze table");
    world_close(world);
}

static void earliest_on_an_instance_capture_has_not_reached(void **state) /* T2.18 */
{
    World        *world   = world_open(state, 1);
    StreamOptions options = world_stream_options();

    world_exec(world, "CREATE TABLE dbo.orders (" SHOP_COLUMNS ")");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL");
    (void)world_stream(world, &options); /* nothing captured yet */
    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "1");
    assert_facts_once(world);
    world_close(world);
}

static void planning_is_tried_again_on_new_connections(void **state) /* T0.4 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process = process_open(world, "stream");

    (void)shop_insert(world, 1);
    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = "fn_cdc_get_max_lsn",
                                                          .times    = 2,
                                                          .sqlstate = "08S01",
                                                          .kills    = true});
    int64_t before_us = clock_utc_us(world_clock(world));
    assert_ok(process_stream(process, &options), &process->err);
    assert_int_equal(world_line_count(world, "WARN source"), 2);
    assert_int_equal(sim_sql_driver_connections(process->sql), 4); /* meta thrice, one range */
    int64_t waited_ms = (clock_utc_us(world_clock(world)) - before_us) / 1000;
    assert_in_range(waited_ms, 3000, 6000); /* 1-2 s, then 2-4 s */
    process_close(process);
    assert_bronze_ids(world, "1");
    world_close(world);
}

static void planning_gives_up_after_the_third_retry(void **state) /* T0.4 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process = process_open(world, "stream");

    sim_sql_driver_add_fault(
        process->sql,
        &(SimSqlFault){.expect = "fn_cdc_get_max_lsn", .times = 4, .sqlstate = "08S01"});
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_SOURCE, "planned by the test");
    assert_int_equal(world_line_count(world, "WARN source"), 3);
    assert_int_equal(
        world_line_count(world, "ERROR source the source failed for the last time, giving up"), 1);
    assert_int_equal(world_line_count(world, "method=max_lsn attempts=4"), 1);
    process_close(process);
    process = process_open(world, "refused");
    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = SIM_SQL_CONNECT,
                                                          .times    = 1,
                                                          .native   = 18456,
                                                          .sqlstate = "28000"});
    assert_false(process_stream(process, &options));
    assert_err(&process->err, ERR_LOGIN, "");
    assert_int_equal(world_line_count(world, "WARN source"), 3); /* at once */
    process_close(process);
    world_close(world);
}

static void a_range_read_is_tried_again_and_its_rows_come_once(void **state) /* 0.5 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process = process_open(world, "stream");

    (void)shop_insert(world, 1);
    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = "AS [__$commit_time]",
                                                          .times    = 2,
                                                          .native   = 1205,
                                                          .sqlstate = "40001"});
    assert_ok(process_stream(process, &options), &process->err);
    process_close(process);
    assert_bronze_ids(world, "1");
    assert_facts_once(world);
    assert_logs_readable(world);
    world_close(world);
}

typedef struct Told {
    int64_t done, total, bytes; /* at the end of the last step that ended */
    int64_t end_count;
    int64_t most; /* rows of a step that went on */
} Told;

static void note_progress(void *arg, const Progress *progress)
{
    Told *told = arg;

    if (!progress->is_over) {
        told->most = MAX(told->most, progress->done);
        return;
    }
    *told = (Told){.done      = progress->done,
                   .total     = progress->total,
                   .bytes     = progress->bytes,
                   .end_count = told->end_count + 1,
                   .most      = told->most};
}

static void progress_counts_a_row_once_and_ends_with_its_step(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process = process_open(world, "stream");
    Told          told    = {0};

    for (int i = 1; i <= 12; i++)
        (void)shop_insert(world, i);
    options.source.num_partitions = 3;
    process->env.on_progress      = note_progress;
    process->env.on_progress_arg  = &told;
    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect   = "AS [__$commit_time]",
                                                          .times    = 1,
                                                          .native   = 1205,
                                                          .sqlstate = "40001"});
    assert_ok(process_stream(process, &options), &process->err);
    assert_int_equal(told.end_count, 1);
    assert_int_equal(told.done, 12);
    assert_int_equal(told.total, 12);
    assert_int_equal(told.most, 12);
    assert_true(told.bytes > 12 * 4);
    process_close(process);
    world_close(world);
}

static void a_second_instance_ends_the_stream(void **state) /* first light; 6.4 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL, @capture_instance = N'dbo_orders_v2'");
    (void)shop_insert(world, 2);
    refuse(world, &options, ERR_SCHEMA_CHANGED, "dbo_orders_v2");
    assert_bronze_ids(world, "1");
    world_close(world);
}

static void a_type_change_is_met_before_anything_is_read(void **state) /* 6.2 */
{
    World        *world = world_open(state, 1);
    StreamOptions options;
    Process      *process;

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, amount decimal(9,2) NULL");
    options         = shop_stream_from(world_max_lsn(world));
    options.trigger = TRIGGER_CONTINUOUS;
    process         = process_open(world, "stream");
    process_spawn_stream(process, &options);
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 1.5)");
    world_pass_minutes(world, 1);
    world_commit(world, "ALTER TABLE dbo.orders ALTER COLUMN amount decimal(18,4) NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 2.25)");
    process_join(process);
    assert_false(process->ok);
    assert_err(&process->err, ERR_SCHEMA_CHANGED, "amount");
    assert_err(&process->err, ERR_SCHEMA_CHANGED, "decimal(18,4)");
    process_close(process);
    assert_bronze_ids(world, "1");
    world_close(world);
}

static void an_added_column_is_an_event(void **state) /* 6.2 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    world_commit(world, "ALTER TABLE dbo.orders ADD extra int NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 'b', 7)");
    options.schema_change_fails = true;
    refuse(world, &options, ERR_SCHEMA_CHANGED, "classify");
    options.schema_change_fails = false;
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "1 2");
    assert_rows(
        world, "1|0|true|true\n",
        "SELECT batch_id, \"rows\", contains(detail, 'ADD extra'), min_lsn = end_lsn FROM {" FACTS
        "} WHERE event = 'schema_change'");
    assert_facts_once(world);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_start_at_the_newest_commit_writes_facts_alone),
        cmocka_unit_test(a_start_lsn_is_taken_as_processed),
        cmocka_unit_test(admission_counts_commits),
        cmocka_unit_test(admission_counts_commits_of_the_whole_database),
        cmocka_unit_test(headroom_and_lags_are_measured_from_the_position),
        cmocka_unit_test(lags_shrink_as_the_stream_catches_up),
        cmocka_unit_test(changes_cleaned_up_before_the_batch_are_a_loss),
        cmocka_unit_test(changes_cleaned_up_before_the_read_are_a_loss),
        cmocka_unit_test(cleanup_of_what_was_read_is_no_loss),
        cmocka_unit_test(a_batch_written_twice_is_there_once),
        cmocka_unit_test(warnings_of_a_replay_stand_in_the_next_row),
        cmocka_unit_test(commits_after_the_start_wait_for_the_next_run),
        cmocka_unit_test(a_rewound_checkpoint_is_refused),
        cmocka_unit_test(a_checkpoint_one_batch_behind_is_refused),
        cmocka_unit_test(two_streams_of_one_app_id_skip_nothing),
        cmocka_unit_test(of_two_bootstraps_one_is_kept),
        cmocka_unit_test(a_position_above_what_is_captured_is_a_warning),
        cmocka_unit_test(a_batch_that_is_in_bronze_cannot_be_lost),
        cmocka_unit_test(a_batch_that_is_not_in_bronze_can_be_lost),
        cmocka_unit_test(earliest_on_an_instance_capture_has_not_reached),
        cmocka_unit_test(planning_is_tried_again_on_new_connections),
        cmocka_unit_test(planning_gives_up_after_the_third_retry),
        cmocka_unit_test(a_range_read_is_tried_again_and_its_rows_come_once),
        cmocka_unit_test(progress_counts_a_row_once_and_ends_with_its_step),
        cmocka_unit_test(a_second_instance_ends_the_stream),
        cmocka_unit_test(a_type_change_is_met_before_anything_is_read),
        cmocka_unit_test(an_added_column_is_an_event),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
