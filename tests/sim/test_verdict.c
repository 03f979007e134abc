/* The verdict next to a running stream, looked at, and moved by hand (algorithms.md 8). */
#include "support/test_support.h"

#include "engine/verdict.h"
#include "support/backfill.h"

#define HOUR_US INT64_C(3600000000)

/* Minutes of the world's first day. */
static void pass_until(World *world, int hour, int minute)
{
    int64_t want_us = WORLD_START_US + (hour * 60 + minute) * INT64_C(60000000);
    int64_t now_us  = clock_utc_us(world_clock(world));

    assert_true(now_us <= want_us);
    clock_sleep_ms(world_clock(world), (want_us - now_us) / 1000, NULL);
}

static void commit_at(World *world, int hour, int minute, int id)
{
    pass_until(world, hour, minute);
    world_exec(world, "INSERT INTO dbo.orders VALUES (%d, 'n%d')", id, id);
    world_scan(world);
    clock_sleep_ms(world_clock(world), 20000, NULL); /* a running stream reads it meanwhile */
}

static Str verdict_of(World *world, const char *table)
{
    return world_rows(world,
                      "SELECT strftime(finalized_until, '%%H:%%M') FROM {" CONTROL
                      "} WHERE table_name = '%s'",
                      table);
}

static StreamOptions continuous(World *world)
{
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    options.trigger = TRIGGER_CONTINUOUS;
    return options;
}

static VerdictOptions verdict_options(void)
{
    return (VerdictOptions){.control     = {STR(CONTROL), STR(CONTROL)},
                            .bronze      = {STR(BRONZE), STR(BRONZE)},
                            .silver      = {STR(SILVER), STR(SILVER)},
                            .facts       = {STR(FACTS), STR(FACTS)},
                            .checkpoint  = STR(CHECKPOINT),
                            .granularity = GRANULARITY_HOUR};
}

typedef bool Advance(Env *env, const VerdictOptions *options, VerdictState *out, Err *err);

static VerdictState advance(World *world, Advance *call, const VerdictOptions *options)
{
    Process     *process = process_open(world, "verdict");
    VerdictState state;

    assert_ok(call(&process->env, options, &state, &process->err), &process->err);
    process_close(process);
    return state;
}

static VerdictState look(World *world, const char *table)
{
    Process     *process = process_open(world, "verdict");
    TableRef     control = {STR(CONTROL), STR(CONTROL)};
    VerdictState state;

    assert_ok(verdict_read(&process->env, &control, str_from_c(table), &state, &process->err),
              &process->err);
    process_close(process);
    return state;
}

static void a_running_stream_moves_it_without_being_asked(void **state) /* T8.3 */
{
    World         *world   = shop_open(state, 1);
    StreamOptions  options = continuous(world);
    Process       *process = process_open(world, "stream");
    VerdictOptions other   = verdict_options();

    process_spawn_stream(process, &options);
    for (int hour = 13; hour <= 15; hour++)
        commit_at(world, hour, 50, hour);
    assert_str_is(verdict_of(world, BRONZE), "15:00\n");
    commit_at(world, 16, 50, 16);
    assert_str_is(verdict_of(world, BRONZE), "16:00\n");
    cancel_request(process->cancel);
    process_join(process);
    process_close(process);

    other.bronze.label = STR("a new name"); /* the finished run's checkpoint says how far it came */
    VerdictState moved = advance(world, verdict_advance_bronze, &other);
    assert_int_equal(moved.row.finalized_until.utc_us, WORLD_START_US + 16 * HOUR_US);
    assert_str_is(verdict_of(world, "a new name"), "16:00\n");
    world_close(world);
}

static void a_failure_is_logged_once_and_the_next_end_tries_again(void **state) /* T8.4 */
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = continuous(world);
    Process      *process;

    (void)look(world, BRONZE); /* creates nothing */
    assert_int_equal(world_version(world, CONTROL), -1);
    commit_at(world, 1, 50, 1);
    process       = process_open(world, "stream");
    process->plan = (FaultPlan){.fail_at_step = 1, .only_path_containing = STR(CONTROL "/part-")};
    process_spawn_stream(process, &options);
    commit_at(world, 2, 50, 2);
    assert_int_equal(world_line_count(world, "ERROR verdict verdict not advanced"), 1);
    commit_at(world, 3, 50, 3);
    commit_at(world, 3, 55, 4);
    commit_at(world, 3, 58, 5);
    assert_str_is(verdict_of(world, BRONZE), "03:00\n");
    cancel_request(process->cancel);
    process_join(process);
    assert_int_equal(process->err.code, ERR_CANCELLED); /* nothing else ended the stream */
    process_close(process);
    assert_int_equal(world_line_count(world, "ERROR verdict verdict not advanced"), 1);
    assert_int_equal(world_line_count(world, "verdict still not advanced"), 0);
    assert_bronze_ids(world, "1 2 3 4 5");
    /* 0 makes it; 2:00 and 3:00 are a commit each, and so many ends within an hour are none */
    assert_int_equal(world_version(world, CONTROL), 2);
    world_close(world);
}

static void two_runs_that_end_together_both_write_theirs(void **state) /* T8.5 */
{
    World        *world = shop_open(state, 1);
    StreamOptions left  = shop_bootstrap(), right;
    Process      *pair[2];

    world_create(world, "items", SHOP_COLUMNS);
    commit_at(world, 7, 10, 1);
    right                  = left;
    right.capture_instance = STR("dbo_items");
    right.app_id           = STR("items-v1");
    right.checkpoint       = STR("checkpoints/items");
    right.bronze.label = right.bronze.path = STR("lake/bronze/items");
    for (int i = 0; i < 2; i++) {
        pair[i] = process_open(world, i ? "right" : "left");
        process_spawn_stream(pair[i], i ? &right : &left);
    }
    for (int i = 0; i < 2; i++) {
        process_join(pair[i]);
        assert_ok(pair[i]->ok, &pair[i]->err);
        process_close(pair[i]);
    }
    assert_rows(world, "lake/bronze/items|07:00\nlake/bronze/orders|07:00\n",
                "SELECT table_name, strftime(finalized_until, '%%H:%%M') FROM {" CONTROL
                "} ORDER BY table_name");
    world_close(world);
}

/* The run dies behind its last commit: the next one, which finds nothing to read, moves the verdict. */
static void a_run_without_news_catches_up_what_a_dead_one_left(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Process      *process;

    commit_at(world, 1, 50, 1);
    (void)world_stream(world, &options);
    assert_str_is(verdict_of(world, BRONZE), "01:00\n");
    commit_at(world, 2, 50, 2);
    process       = process_open(world, "dying");
    process->plan = (FaultPlan){
        .fail_at_step = 1, .crash = true, .only_path_containing = STR(CONTROL "/_delta_log/")};
    (void)process_stream(process, &options); /* whose verdict fails nobody */
    assert_true(process->plan.has_crashed);
    process_close(process);
    assert_str_is(verdict_of(world, BRONZE), "01:00\n");
    (void)world_stream(world, &options);
    assert_str_is(verdict_of(world, BRONZE), "02:00\n");
    assert_facts_once(world);
    world_close(world);
}

static Control *open_control(World *world)
{
    TableRef ref     = {STR(CONTROL), STR(CONTROL)};
    Control *control = NULL;
    Err      err     = ERR_INIT;

    assert_ok(control_open(world_delta(world), &ref, &control, &err), &err);
    return control;
}

static void advance_to(World *world, Control *control, const char *table, int hour, int minute)
{
    Offset end = {.lsn       = world_max_lsn(world),
                  .commit_ts = OPT_TIME(WORLD_START_US + (hour * 60 + minute) * INT64_C(60000000))};
    Err    err = ERR_INIT;

    assert_ok(control_advance(control, str_from_c(table), &end, GRANULARITY_HOUR, NULL, &err),
              &err);
}

static void its_ages_are_those_of_now(void **state) /* T8.6 */
{
    World   *world   = shop_open(state, 1);
    Control *control = open_control(world);
    Lsn      open    = shop_insert(world, 1);
    OptLsn   none    = {.is_set = false};
    Err      err     = ERR_INIT;

    pass_until(world, 15, 20);
    advance_to(world, control, SILVER, 15, 10);
    assert_ok(control_set_position(control, STR(SILVER), none, none, OPT_LSN(open),
                                   (OptI64){.is_set = false}, &err),
              &err);
    pass_until(world, 16, 30);
    VerdictState silver = look(world, SILVER), nobody = look(world, "nobody");
    assert_int_equal(silver.verdict_age_s.value, 5400);
    assert_int_equal(silver.move_age_s.value, 4200);
    assert_true(silver.row.open_snapshot_lsn.is_set);
    assert_true(lsn_equal(silver.row.open_snapshot_lsn.lsn, open));
    assert_false(nobody.row.exists || nobody.row.finalized_until.is_set ||
                 nobody.row.updated_at.is_set || nobody.row.end_lsn.is_set ||
                 nobody.row.open_snapshot_lsn.is_set);
    assert_false(nobody.verdict_age_s.is_set || nobody.move_age_s.is_set);
    control_close(control);
    world_close(world);
}

static void a_period_is_final_when_it_ends_at_the_verdict(void **state) /* T8.1 */
{
    World   *world   = shop_open(state, 1);
    Control *control = open_control(world);

    assert_false(verdict_is_final(&(VerdictState){.row = {.exists = false}}, 0));
    advance_to(world, control, BRONZE, 15, 10);
    advance_to(world, control, BRONZE, 14, 10); /* an older end leaves it */
    VerdictState found = look(world, BRONZE);
    assert_true(verdict_is_final(&found, WORLD_START_US + 15 * HOUR_US));
    assert_false(verdict_is_final(&found, WORLD_START_US + 15 * HOUR_US + 1));
    assert_false(verdict_is_final(&found, WORLD_START_US + 16 * HOUR_US));
    control_close(control);
    world_close(world);
}

/* Another writer of control comes first, so many times. */
typedef struct Rival {
    World   *world;
    Control *control;
    int      wins, times;
} Rival;

static void come_first(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;

    (void)step;
    if (rival->wins >= rival->times || strcmp(operation, "put_new") != 0 ||
        str_find(path, STR(CONTROL "/_delta_log/"), 0) < 0)
        return;
    rival->wins++;
    advance_to(rival->world, rival->control, "rival", rival->wins, 0);
}

static void a_lost_race_is_tried_again_for_a_minute(void **state)
{
    for (int is_hopeless = 0; is_hopeless <= 1; is_hopeless++) {
        World   *world   = shop_open(state, 1);
        Process *process = process_open(world, "loser");
        Rival    rival   = {.world = world, .control = open_control(world), .times = 4};
        TableRef ref     = {STR(CONTROL), STR(CONTROL)};
        Control *control = NULL;
        Offset end = {.lsn = world_max_lsn(world), .commit_ts = OPT_TIME(WORLD_START_US + HOUR_US)};
        int64_t began_ns;

        if (is_hopeless) rival.times = 10000;
        assert_ok(control_open(&process->delta, &ref, &control, &process->err), &process->err);
        process->plan   = (FaultPlan){.on_step = come_first, .on_step_arg = &rival};
        began_ns        = clock_monotonic_ns(world_clock(world));
        bool    ok      = control_advance(control, STR(BRONZE), &end, GRANULARITY_HOUR, NULL,
                                          &process->err);
        int64_t took_ms = (clock_monotonic_ns(world_clock(world)) - began_ns) / 1000000;
        if (is_hopeless) {
            assert_false(ok);
            assert_int_equal(process->err.code, ERR_CONFLICT);
            assert_in_range(took_ms, 50000, 60500);
            assert_in_range(rival.wins, 8, 40); /* waits double from 0.5 s up to 10 s */
        } else {
            assert_ok(ok, &process->err);
            assert_int_equal(rival.wins, 4);
            assert_str_is(verdict_of(world, BRONZE), "01:00\n");
            assert_str_is(verdict_of(world, "rival"), "04:00\n");
        }
        control_close(control);
        control_close(rival.control);
        process_close(process);
        world_close(world);
    }
}

static void silvers_verdict_moves_to_what_it_has_applied(void **state)
{
    World         *world   = shop_open(state, 1);
    StreamOptions  stream  = shop_stream_from(world_max_lsn(world));
    ApplyOptions   apply   = shop_apply();
    VerdictOptions options = verdict_options();
    Process       *process;

    assert_false(advance(world, verdict_advance_silver, &options).row.exists);
    commit_at(world, 1, 50, 1);
    (void)world_stream(world, &stream);
    commit_at(world, 2, 50, 2);
    (void)world_stream(world, &stream);
    process       = process_open(world, "dying"); /* between the position and the verdict */
    process->plan = (FaultPlan){
        .fail_at_step = 2, .crash = true, .only_path_containing = STR(CONTROL "/_delta_log/")};
    assert_false(process_apply(process, &apply));
    process_close(process);
    assert_str_is(verdict_of(world, SILVER), "-\n");
    commit_at(world, 3, 50, 3); /* in bronze, not in silver */
    (void)world_stream(world, &stream);
    assert_int_equal(advance(world, verdict_advance_silver, &options).row.finalized_until.utc_us,
                     WORLD_START_US + 2 * HOUR_US);
    options.facts = (TableRef){.label = STR_EMPTY};
    commit_at(world, 4, 50, 4);
    (void)world_stream(world, &stream);
    (void)world_apply(world, &apply);
    assert_str_is(verdict_of(world, SILVER), "04:00\n");
    assert_int_equal(advance(world, verdict_advance_silver, &options).row.finalized_until.utc_us,
                     WORLD_START_US + 4 * HOUR_US);
    world_close(world);
}

static void silvers_verdict_is_held_until_the_snapshot_is_in_it(void **state)
{
    World          *world   = shop_open(state, 1);
    StreamOptions   stream  = shop_chunked();
    BackfillOptions waves   = shop_backfill(2, 1);
    ApplyOptions    apply   = shop_apply();
    VerdictOptions  options = verdict_options();

    commit_at(world, 1, 10, 1);
    (void)world_stream(world, &stream);
    commit_at(world, 2, 50, 2);
    (void)world_stream(world, &stream);
    (void)world_apply(world, &apply);
    assert_false(advance(world, verdict_advance_silver, &options).row.finalized_until.is_set);
    (void)world_backfill(world, &waves); /* complete, and not in silver yet */
    assert_false(advance(world, verdict_advance_silver, &options).row.finalized_until.is_set);
    assert_int_equal(world_line_count(world, "verdict stays where it is"), 2);
    (void)world_apply(world, &apply);
    assert_str_is(verdict_of(world, SILVER), "02:00\n");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_stream_moves_it_without_being_asked),
        cmocka_unit_test(a_failure_is_logged_once_and_the_next_end_tries_again),
        cmocka_unit_test(two_runs_that_end_together_both_write_theirs),
        cmocka_unit_test(a_run_without_news_catches_up_what_a_dead_one_left),
        cmocka_unit_test(its_ages_are_those_of_now),
        cmocka_unit_test(a_period_is_final_when_it_ends_at_the_verdict),
        cmocka_unit_test(a_lost_race_is_tried_again_for_a_minute),
        cmocka_unit_test(silvers_verdict_moves_to_what_it_has_applied),
        cmocka_unit_test(silvers_verdict_is_held_until_the_snapshot_is_in_it),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
