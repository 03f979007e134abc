/* A backfill where every request takes a fifth of a second on its way: how many it sends, and what becomes of a request
 * for several chunks when one of them fails (algorithms.md 4.11, 1.14 of the queries). */
#include "support/test_support.h"

#include "support/backfill.h"

#define LATENCY_MS 200

static Process *open_far(World *world)
{
    Process *process = process_open(world, "far");

    sim_sql_driver_set_link(process->sql, world_clock(world), LATENCY_MS, LATENCY_MS);
    return process;
}

static BackfillResult run_far(World *world, const BackfillOptions *options, Process **process_out)
{
    BackfillResult result;

    *process_out = open_far(world);
    assert_ok(process_backfill(*process_out, options, &result), &(*process_out)->err);
    assert_int_equal(result.state, BACKFILL_DONE);
    return result;
}

static int chunk_requests(Process *process)
{
    return sim_sql_driver_statements(process->sql, "[note] FROM [dbo].[orders] AS t");
}

static void assert_each_row_once(World *world, int rows)
{
    assert_rows(world,
                str_c(world_arena(world), str_printf(world_arena(world), "%d|%d\n", rows, rows)),
                "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "} WHERE _operation = 0");
    assert_chunks_recorded(world);
    assert_chunk_rows_counted(world);
    assert_silver_follows(world);
}

/* The first wave is a round, and nothing is known of the link; then all of a connection's chunks go in one request. */
static void chunks_of_a_connection_are_asked_for_together(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process;

    options.target_wave_seconds = 300;
    shop_open_snapshot(world, 24);
    BackfillResult result = run_far(world, &options, &process);
    assert_int_equal(result.waves, 2);
    assert_int_equal(result.chunks_done, 12);
    assert_int_equal(chunk_requests(process), 2 + 2);
    process_close(process);
    assert_each_row_once(world, 24);
    world_close(world);
}

/* Without a link there is nothing to win: every chunk is a request, as it always was. */
static void near_by_each_is_a_request(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = process_open(world, "near");
    BackfillResult  result;

    options.target_wave_seconds = 300;
    shop_open_snapshot(world, 24);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(chunk_requests(process), 12);
    process_close(process);
    assert_each_row_once(world, 24);
    world_close(world);
}

/* Ten waves of a round: what a connection reads of the last nine goes in two requests, and no round trip is between them. */
static void waves_follow_each_other_within_a_request(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(10, 2);
    Process        *process;

    options.target_wave_seconds = 0; /* every round is a wave */
    shop_open_snapshot(world, 200);
    BackfillResult result = run_far(world, &options, &process);
    assert_int_equal(result.waves, 10);
    assert_int_equal(chunk_requests(process),
                     2 + 2 * 2); /* a round trip is a fiftieth of five chunks */
    /* a stamp is one request (the first one's is three in one), and so is what is asked when a wave is in */
    assert_int_equal(sim_sql_driver_statements(process->sql, "m.start_lsn <= CONVERT"), 0);
    process_close(process);
    /* a row takes as long as a round trip, and each connection reads 90 of them until the last wave begins */
    assert_rows(
        world, "true\n",
        "SELECT max(s) - min(s) < 100 * %d FROM (SELECT epoch_ms(started_at) AS s FROM {" FACTS
        "} WHERE event = 'snapshot_chunk')",
        LATENCY_MS);
    assert_each_row_once(world, 200);
    world_close(world);
}

static void sleep_before_stamp(void *arg, Str sql)
{
    if (str_find(sql, STR("fn_cdc_get_max_lsn"), 0) >= 0)
        clock_sleep_ms(world_clock(arg), 10000, NULL);
}

/* The stamp of each wave comes long after the last row of the one before: no connection keeps what it asked for ahead, and
 * each asks again. */
static void nothing_stands_half_sent_while_the_source_is_slow(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(10, 2);
    Process        *process = open_far(world);
    BackfillResult  result;

    options.target_wave_seconds = 0;
    shop_open_snapshot(world, 200);
    sim_sql_driver_set_hook(process->sql, sleep_before_stamp, world);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.waves, 10);
    assert_int_equal(chunk_requests(process), 2 * 10);
    process_close(process);
    assert_each_row_once(world, 200);
    world_close(world);
}

/* Six chunks of 20 words; in a plan of theirs the last end is open, and the last wave looks for it. */
static World *open_words(void **state)
{
    World *world = world_open(state, 1);

    world_create(world, "orders", "id varchar(8) NOT NULL PRIMARY KEY, note varchar(20) NULL");
    world_commit(world, "INSERT INTO dbo.orders SELECT CONCAT('k', value), 'n' FROM "
                        "GENERATE_SERIES(100, 219)");
    (void)shop_run_chunked(world);
    return world;
}

/* The last wave looks for the first key above MAX. Who inserted that may hold it, and wait for a row of the table: so
 * the rest of a request is given up first. Of six chunks the wave behind the first one's asks for chunk 4 ahead. */
static void nothing_stands_half_sent_while_the_last_end_is_looked_for(void **state)
{
    World          *world   = open_words(state);
    BackfillOptions options = shop_backfill(20, 2);
    Process        *process;

    options.target_wave_seconds = 0;
    BackfillResult result       = run_far(world, &options, &process);
    assert_int_equal(result.waves, 3);
    assert_int_equal(chunk_requests(process), 2 + 2 + 2);
    process_close(process);
    assert_each_row_once(world, 120);
    world_close(world);
}

/* The last wave that a call may read asks for nothing behind it. */
static void nothing_is_asked_for_behind_the_last_wave_of_a_call(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = open_far(world);
    BackfillResult  result;

    options.target_wave_seconds = 0;
    options.max_waves           = OPT_I64(2);
    shop_open_snapshot(world, 40);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(result.waves, 2);
    assert_int_equal(sim_sql_driver_statements(process->sql, "t.[id] >= 8"), 0);
    process_close(process);
    options.max_waves = (OptI64){.is_set = false};
    (void)world_backfill(world, &options);
    assert_each_row_once(world, 40);
    world_close(world);
}

/* A writer that changes every row when the log's end is asked for the n-th time, as the stamp of a wave is. */
typedef struct Writer {
    World *world;
    int    at, asked;
} Writer;

static void change_all_rows(void *arg, Str sql)
{
    Writer *writer = arg;

    if (str_find(sql, STR("fn_cdc_get_max_lsn"), 0) < 0 || writer->asked++ != writer->at) return;
    world_exec(writer->world, "UPDATE dbo.orders SET note = 'changed'");
    world_exec(writer->world, "UPDATE dbo.orders SET note = 'once more' WHERE id = 0");
    world_scan(writer->world);
}

/* When its stamp is asked for, rows of a wave may have been on their way for long. */
static void rows_that_were_asked_ahead_have_a_stamp_as_old(void **state)
{
    for (int at = 0; at < 12; at++) {
        World          *world   = shop_open(state, 1);
        BackfillOptions options = shop_backfill(10, 2);
        Writer          writer  = {.world = world, .at = at};
        Process        *process = open_far(world);
        BackfillResult  result;

        options.target_wave_seconds = 0;
        shop_open_snapshot(world, 120);
        sim_sql_driver_set_hook(process->sql, change_all_rows, &writer);
        assert_ok(process_backfill(process, &options, &result), &process->err);
        assert_int_equal(result.state, BACKFILL_DONE);
        assert_true(writer.asked > writer.at);
        process_close(process);
        assert_each_row_once(world, 120);
        world_close(world);
    }
}

/* --- failures --- */

typedef struct Blocker {
    World *world;
    int    asked; /* requests for the chunk that is held */
} Blocker;

/* A writer holds a row of chunk 6, 12 <= id < 14; it lets go when the chunk is asked for again. */
static void let_go_when_asked_again(void *arg, Str sql)
{
    Blocker *blocker = arg;

    if (str_find(sql, STR("t.[id] >= 12 AND t.[id] < 14"), 0) < 0) return;
    if (blocker->asked++ == 1) world_exec(blocker->world, "ROLLBACK");
}

/* The plan is made and the first wave read; then a writer holds a row of chunk 6. */
static World *open_with_held_row(void **state, int id, BackfillOptions *options)
{
    World *world = shop_open(state, 1);

    *options                               = shop_backfill(2, 2);
    options->target_wave_seconds           = 300;
    options->stream.source.lock_timeout_ms = 0;
    options->max_waves                     = OPT_I64(1);
    shop_open_snapshot(world, 24);
    (void)world_backfill(world, options);
    options->max_waves = (OptI64){.is_set = false};
    world_exec(world, "BEGIN TRAN; UPDATE dbo.orders SET note = 'held' WHERE id = %d", id);
    return world;
}

static void a_chunk_that_fails_in_a_request_is_asked_for_again_by_itself(void **state)
{
    BackfillOptions options;
    World          *world   = open_with_held_row(state, 12, &options);
    Blocker         blocker = {.world = world};
    Process        *process = open_far(world);
    BackfillResult  result;

    sim_sql_driver_set_hook(process->sql, let_go_when_asked_again, &blocker);
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(result.waves, 2);  /* a round, then the rest */
    assert_int_equal(blocker.asked, 2); /* in the request of its connection, then by itself */
    /* the one ahead of it in that request was read once, those behind it go one by one */
    assert_int_equal(sim_sql_driver_statements(process->sql, "t.[id] >= 8 AND t.[id] < 10"), 1);
    assert_int_equal(sim_sql_driver_statements(process->sql, "t.[id] >= 16 AND t.[id] < 18"), 2);
    assert_int_equal(sim_sql_driver_statements(process->sql, "t.[id] >= 20 AND t.[id] < 22"), 2);
    assert_int_equal(chunk_requests(process), 2 + 2 + 3);
    assert_int_equal(world_line_count(world, "the source failed, trying again"), 1);
    process_close(process);
    assert_each_row_once(world, 24);
    world_close(world);
}

/* Four attempts in all; then the error names the chunk, and nothing of the wave is in. What was read ahead of the chunk
 * stays when no row of it had come; else its rows cannot be told from the others any more, and all are read again. */
static void one_that_stays_locked_ends_the_wave(void **state)
{
    for (int id = 12; id <= 13; id++) {
        BackfillOptions options;
        World          *world   = open_with_held_row(state, id, &options);
        Process        *process = open_far(world);
        BackfillResult  result;

        assert_false(process_backfill(process, &options, &result));
        assert_err(&process->err, ERR_LOCK_TIMEOUT, "chunk 6 of wave 2");
        assert_int_equal(sim_sql_driver_statements(process->sql, "t.[id] >= 12 AND t.[id] < 14"),
                         4);
        assert_int_equal(sim_sql_driver_statements(process->sql, "t.[id] >= 8 AND t.[id] < 10"),
                         id == 12 ? 1 : 4);
        assert_int_equal(world_line_count(world, "the source failed, trying again"), 3);
        assert_int_equal(world_line_count(world, "the source failed for the last time"), 1);
        process_close(process);
        assert_rows(world, "8\n", "SELECT count(*) FROM {" BRONZE "} WHERE _operation = 0");
        world_exec(world, "ROLLBACK");
        (void)world_backfill(world, &options);
        assert_each_row_once(world, 24);
        world_close(world);
    }
}

static void sleep_before_chunk_4(void *arg, Str sql)
{
    if (str_find(sql, STR("t.[id] >= 8 AND t.[id] < 10"), 0) >= 0)
        clock_sleep_ms(world_clock(arg), 5000, NULL);
}

/* While one connection asks for its chunk of wave 1 again and again, the other one is through with that wave and does the
 * same in the next, which nobody wants once the first has given up. */
static void a_wave_behind_one_that_failed_is_not_asked_for_again(void **state)
{
    for (unsigned seed = 1; seed <= 5; seed++) {
        World          *world   = shop_open(state, seed);
        BackfillOptions options = shop_backfill(2, 2);
        Process        *process = open_far(world);
        BackfillResult  result;

        options.target_wave_seconds = 0;
        shop_open_snapshot(world, 24);
        for (int i = 0; i < 2; i++)
            sim_sql_driver_add_fault(process->sql,
                                     &(SimSqlFault){.expect   = i ? "t.[id] >= 6 AND t.[id] < 8"
                                                                  : "t.[id] >= 8 AND t.[id] < 10",
                                                    .times    = 100,
                                                    .sqlstate = "08S01"});
        sim_sql_driver_set_hook(process->sql, sleep_before_chunk_4, world);
        assert_false(process_backfill(process, &options, &result));
        assert_err(&process->err, ERR_SOURCE, "chunk 3 of wave 1");
        assert_true(world_line_count(world, "the source failed, trying again") > 3);
        assert_int_equal(world_line_count(world, "the source failed for the last time"), 1);
        process_close(process);
        (void)world_backfill(world, &options);
        assert_each_row_once(world, 24);
        world_close(world);
    }
}

static void pause_at_a_chunk(void *arg, Str sql)
{
    Err err = ERR_INIT;

    if (is_chunk_read(sql))
        assert_ok(store_replace(world_store(arg), STR(CHECKPOINT "/_tidelake/pause"),
                                str_bytes(STR("")), &err),
                  &err);
}

/* The pause is seen when one connection is through with the wave; then the other one fails, and that is how it ended. */
static void a_wave_that_failed_is_no_pause(void **state)
{
    BackfillOptions options;
    World          *world   = open_with_held_row(state, 7, &options);
    Process        *process = open_far(world);
    BackfillResult  result;
    Err             err = ERR_INIT;

    options.target_wave_seconds = 0;
    sim_sql_driver_set_hook(process->sql, pause_at_a_chunk, world);
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_LOCK_TIMEOUT, "chunk 3 of wave 1");
    assert_int_equal(result.state, BACKFILL_RUNNING);
    assert_int_equal(result.reason.len, 0);
    process_close(process);
    world_exec(world, "ROLLBACK");
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/_tidelake/pause"), &err), &err);
    (void)world_backfill(world, &options);
    assert_each_row_once(world, 24);
    world_close(world);
}

/* What was read counts; a wave that is not in does not. */
static void a_wave_whose_commit_failed_is_not_counted(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = open_far(world);
    BackfillResult  result;

    options.target_wave_seconds = 0;
    shop_open_snapshot(world, 24);
    process->plan = (FaultPlan){
        .fail_at_step = 1, .crash = true, .only_path_containing = STR(BRONZE_COMMIT(2))};
    assert_false(process_backfill(process, &options, &result));
    assert_true(process->plan.has_crashed);
    assert_int_equal(result.waves, 1);
    assert_int_equal(result.chunks_done, 2);
    process_close(process);
    (void)world_backfill(world, &options);
    assert_each_row_once(world, 24);
    world_close(world);
}

/* What fails before a row of it was asked for. */
static void what_fails_between_two_waves_names_the_next_one(void **state)
{
    World          *world   = open_words(state);
    BackfillOptions options = shop_backfill(20, 2);
    Process        *process = open_far(world);
    BackfillResult  result;

    options.target_wave_seconds = 0;
    (void)world_backfill_waves(world, &options, 1);
    sim_sql_driver_add_fault(
        process->sql,
        &(SimSqlFault){.expect = "ROWS FETCH NEXT 1", .times = 10, .sqlstate = "42000"});
    assert_false(process_backfill(process, &options, &result));
    assert_err(&process->err, ERR_QUERY, "backfill: wave 2: ");
    assert_int_equal(result.waves, 1);
    process_close(process);
    (void)world_backfill(world, &options);
    assert_each_row_once(world, 120);
    world_close(world);
}

/* What a wave was told to leave to those behind it, itself among them, the first time it was told of. */
typedef struct Left {
    int64_t rows[6];
} Left;

static void note_left(void *arg, const Progress *progress)
{
    Left *left = arg;

    if (left->rows[progress->chunks->wave] == 0)
        left->rows[progress->chunks->wave] = progress->chunks->rows_left;
}

/* A wave begins when the one before it is not read yet, and is told of when it is. */
static void progress_leaves_out_the_wave_that_commits(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = open_far(world);
    Left            left    = {{0}};
    BackfillResult  result;

    options.target_wave_seconds = 0;
    shop_open_snapshot(world, 24);
    process->env.on_progress     = note_left;
    process->env.on_progress_arg = &left;
    assert_ok(process_backfill(process, &options, &result), &process->err);
    for (int64_t wave = 0; wave < 6; wave++)
        assert_int_equal(left.rows[wave], 24 - 4 * wave);
    process_close(process);
    world_close(world);
}

/* What who shows progress was told last. */
typedef struct Told {
    int  times;
    bool was_over;
} Told;

static void note_progress(void *arg, const Progress *progress)
{
    Told *told = arg;

    told->times++;
    told->was_over = progress->is_over;
}

/* The other connection is in the middle of its rows: a line drawn for them would stand there for good. */
static void who_shows_progress_is_told_last_that_a_wave_that_failed_is_over(void **state)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        World          *world   = shop_open(state, seed);
        BackfillOptions options = shop_backfill(2, 2);
        Process        *process;
        BackfillResult  result;
        Told            told = {.times = 0};

        shop_open_snapshot(world, 24);
        process                      = process_open(world, "watched");
        process->env.on_progress     = note_progress;
        process->env.on_progress_arg = &told;
        sim_sql_driver_add_fault(
            process->sql,
            &(SimSqlFault){.expect = "AS t WHERE t.[id] < 2", .times = 1, .sqlstate = "42000"});
        assert_false(process_backfill(process, &options, &result));
        assert_true(told.times > 0);
        assert_true(told.was_over);
        process_close(process);
        world_close(world);
    }
}

/* A kept connection that had died unseen: the whole request goes to a new one, and nobody is warned. */
static void a_kept_connection_that_died_takes_no_chunk_with_it(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);
    Process        *process = open_far(world);
    BackfillResult  result;

    options.target_wave_seconds = 300;
    shop_open_snapshot(world, 24);
    sim_sql_driver_add_fault(process->sql, &(SimSqlFault){.expect = "t.[id] >= 12 AND t.[id] < 14",
                                                          .times  = 1,
                                                          .sqlstate = "08S01",
                                                          .kills    = true});
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(result.state, BACKFILL_DONE);
    assert_int_equal(chunk_requests(process), 2 + 2 + 1);
    assert_int_equal(world_line_count(world, "the source failed"), 0);
    process_close(process);
    assert_each_row_once(world, 24);
    world_close(world);
}

/* The process dies at every step of a call that reads several chunks a request. */
static void it_may_die_anywhere(void **state)
{
    for (unsigned step = 5; step < 400; step += 37) {
        World          *world   = shop_open(state, step);
        BackfillOptions options = shop_backfill(2, 2);
        Process        *process;
        BackfillResult  result;

        options.target_wave_seconds = 300;
        shop_open_snapshot(world, 24);
        process       = open_far(world);
        process->plan = (FaultPlan){.fail_at_step = step, .crash = true};
        (void)process_backfill(process, &options, &result);
        process_close(process);
        (void)run_far(world, &options, &process);
        process_close(process);
        assert_each_row_once(world, 24);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_a_connection_are_asked_for_together),
        cmocka_unit_test(near_by_each_is_a_request),
        cmocka_unit_test(waves_follow_each_other_within_a_request),
        cmocka_unit_test(nothing_stands_half_sent_while_the_source_is_slow),
        cmocka_unit_test(nothing_stands_half_sent_while_the_last_end_is_looked_for),
        cmocka_unit_test(nothing_is_asked_for_behind_the_last_wave_of_a_call),
        cmocka_unit_test(rows_that_were_asked_ahead_have_a_stamp_as_old),
        cmocka_unit_test(a_chunk_that_fails_in_a_request_is_asked_for_again_by_itself),
        cmocka_unit_test(one_that_stays_locked_ends_the_wave),
        cmocka_unit_test(a_wave_behind_one_that_failed_is_not_asked_for_again),
        cmocka_unit_test(a_wave_that_failed_is_no_pause),
        cmocka_unit_test(a_wave_whose_commit_failed_is_not_counted),
        cmocka_unit_test(what_fails_between_two_waves_names_the_next_one),
        cmocka_unit_test(progress_leaves_out_the_wave_that_commits),
        cmocka_unit_test(who_shows_progress_is_told_last_that_a_wave_that_failed_is_over),
        cmocka_unit_test(a_kept_connection_that_died_takes_no_chunk_with_it),
        cmocka_unit_test(it_may_die_anywhere),
    };

    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
