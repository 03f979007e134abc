/* Changes that cleanup took, and a stream that is told to go on (algorithms.md 2.5, 5.7). */
#include "support/test_support.h"

#include "base/buf.h"
#include "support/shop.h"

static StreamOptions skipping_from(Lsn start)
{
    StreamOptions options = shop_stream_from(start);

    options.skips_lost_changes = true;
    return options;
}

/* What the facts say of skips: from, to, certain, as places in `lsns`. */
static Str skips(World *world)
{
    return world_rows(
        world,
        "SELECT batch_id, \"rows\", j->>'from', j->>'to', j->>'certain', min_lsn = (j->>'to') "
        "AND max_lsn = min_lsn AND end_lsn = min_lsn FROM (SELECT *, detail::JSON AS j FROM "
        "{" FACTS "} WHERE event = 'data_skipped') ORDER BY batch_id, min_lsn");
}

static Str skip_text(World *world, int batch_id, Lsn from, Lsn to, const char *certain)
{
    return str_printf(world_arena(world), "%d|0|%s|%s|%s|true\n", batch_id, lsn_format(from).text,
                      lsn_format(to).text, certain);
}

/* T2.9: commits 0 to 9, cleanup up to 6, batches of two commits that start at commit 0. */
static void what_is_left_is_read_and_the_gap_is_recorded(void **state)
{
    for (int with_other = 0; with_other <= 1; with_other++) {
        World        *world = shop_open(state, 1);
        Lsn           lsns[10];
        StreamOptions options;
        Process      *process;

        if (with_other) {
            world_create(world, "other", "id int NOT NULL PRIMARY KEY");
            world_commit(world, "INSERT INTO dbo.other VALUES (1)");
        }
        for (int i = 0; i < 10; i++)
            lsns[i] = shop_insert(world, i);
        options                       = skipping_from(lsns[0]);
        options.max_commits_per_batch = 2;
        /* Cleanup of one instance leaves the mapping alone while another holds it. */
        world_exec(world,
                   "EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_orders', "
                   "@low_water_mark = %s",
                   lsn_format(lsns[6]).text);
        process = process_open(world, "stream");
        assert_ok(process_stream(process, &options), &process->err);
        process_close(process);
        assert_bronze_ids(world, "6 7 8 9");
        assert_facts_once(world);
        assert_logs_readable(world);

        Str first = lsn_str(world_arena(world), lsns[6]);
        Str last  = lsn_str(world_arena(world), with_other ? lsns[6] : lsns[7]);
        assert_str_is(world_rows(world, "SELECT min_lsn, end_lsn, \"rows\" FROM {" FACTS
                                        "} WHERE event IS "
                                        "NULL AND \"rows\" > 0 ORDER BY batch_id LIMIT 1"),
                      str_c(world_arena(world),
                            str_printf(world_arena(world), "%.*s|%.*s|%d\n", STR_ARG(first),
                                       STR_ARG(last), with_other ? 1 : 2)));
        /* The time of the start is known where its mapping row was left. */
        assert_rows(world, with_other ? "3|true|true\n" : "1|-|true\n",
                    "SELECT count(*), bool_and(lost_to_ts >= lost_from_ts), "
                    "bool_and((detail::JSON->>'certain')::BOOLEAN) FROM {" FACTS
                    "} WHERE event = 'data_skipped'");
        assert_true(world_line_count(world, "changes are skipped") > 0);
        world_close(world);
    }
}

static void a_skip_tells_its_gap(void **state) /* 5.7 */
{
    World        *world   = shop_open(state, 1);
    Lsn           c1      = shop_insert(world, 1), c4;
    StreamOptions options = skipping_from(c1);
    Lsn           next;

    (void)world_stream(world, &options);
    Lsn c2 = shop_insert(world, 2);
    (void)shop_insert(world, 3);
    c4   = shop_insert(world, 4);
    next = lsn_increment(c1);
    world_cleanup(world, c4);
    (void)world_stream(world, &options);
    (void)c2;
    assert_str_is(skips(world), str_c(world_arena(world), skip_text(world, 1, next, c4, "true")));
    assert_rows(world, "3\n",
                "SELECT date_diff('minute', lost_from_ts, lost_to_ts) FROM {" FACTS
                "} WHERE event = 'data_skipped'");
    assert_bronze_ids(world, "4");
    /* One that fails on loss is not affected by the gap behind it. */
    options.skips_lost_changes = false;
    (void)shop_insert(world, 5);
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "4 5");
    assert_facts_once(world);
    world_close(world);
}

typedef struct Trap {
    World *world;
    Lsn    low_water_mark;
    bool   is_sprung;
} Trap;

static void spring_cleanup(void *arg, Str sql)
{
    Trap *trap = arg;

    if (trap->is_sprung || str_find(sql, STR("AS [__$commit_time]"), 0) < 0) return;
    trap->is_sprung = true;
    world_cleanup(trap->world, trap->low_water_mark);
}

/* T5.12: cleanup between plan and read; then the same batch again after a crash. */
static void what_cleanup_may_have_taken_during_the_read_is_recorded_once(void **state)
{
    static const char *const crashes[] = {NULL, BRONZE "/part-", FACTS "/_delta_log/", "commits/1"};

    for (size_t i = 0; i < COUNT_OF(crashes); i++) {
        World        *world   = shop_open(state, 1);
        Lsn           c1      = shop_insert(world, 1);
        StreamOptions options = skipping_from(c1);
        Process      *process;
        Trap          trap = {.world = world};

        (void)world_stream(world, &options);
        process = process_open(world, "stream");
        (void)shop_insert(world, 2);
        trap.low_water_mark = shop_insert(world, 3);
        (void)shop_insert(world, 4);
        if (crashes[i])
            process->plan = (FaultPlan){
                .fail_at_step = 1, .crash = true, .only_path_containing = str_from_c(crashes[i])};
        sim_sql_driver_set_hook(process->sql, spring_cleanup, &trap);
        assert_int_equal(process_stream(process, &options), crashes[i] == NULL);
        assert_true(trap.is_sprung);
        process_close(process);
        (void)world_stream(world, &options);
        assert_bronze_ids(world, "3 4");
        assert_rows(world, "1|2\n",
                    "SELECT batch_id, \"rows\" FROM {" FACTS
                    "} WHERE event IS NULL AND batch_id > 0");
        /* Nothing of the first attempt is left when it died before its rows were in: the second
         * planned around the gap, and is certain. */
        bool        is_certain = crashes[i] && i == 1;
        const char *certain    = is_certain ? "true" : "false";
        assert_str_is(skips(world),
                      str_c(world_arena(world),
                            skip_text(world, 1, lsn_increment(c1), trap.low_water_mark, certain)));
        assert_facts_once(world);
        world_close(world);
    }
}

static void a_batch_that_was_read_whole_has_no_skip(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = skipping_from(shop_insert(world, 1));

    (void)shop_insert(world, 2);
    shop_crash_at(world, &options, "commits/0", false);
    (void)world_stream(world, &options);
    (void)shop_insert(world, 3);
    (void)world_stream(world, &options);
    assert_rows(world, "", "SELECT 1 FROM {" FACTS "} WHERE event IS NOT NULL");
    assert_bronze_ids(world, "2 3");
    world_close(world);
}

static void nothing_after_the_start_cannot_be_lost(void **state) /* T5.7 */
{
    World        *world   = world_open(state, 1);
    StreamOptions options = world_stream_options();

    /* Capture has not reached the instance: min_lsn is unset, and nothing is after the start. */
    world_exec(world, "CREATE TABLE dbo.orders (" SHOP_COLUMNS ")");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL");
    options.starting       = START_LSN;
    options.starting_given = true;
    options.starting_lsn   = world_max_lsn(world);
    (void)world_stream(world, &options);
    (void)world_stream(world, &options);
    assert_rows(world, "0|0\n", "SELECT batch_id, \"rows\" FROM {" FACTS "}");
    world_close(world);
}

static void a_whole_batch_that_is_gone_is_an_empty_batch(void **state) /* 2.4: no empty piece */
{
    World        *world   = shop_open(state, 1);
    Lsn           c1      = shop_insert(world, 1);
    StreamOptions options = skipping_from(c1);
    Process      *process = process_open(world, "stream");

    Lsn c2                        = shop_insert(world, 2);
    options.max_commits_per_batch = 1;
    options.max_batches           = 1;
    /* Planned up to c2, and dead; then cleanup passes c2. */
    process->plan = (FaultPlan){.fail_at_step         = 1,
                                .crash                = true,
                                .after_effect         = true,
                                .only_path_containing = STR("offsets/0")};
    assert_false(process_stream(process, &options));
    process_close(process);
    Lsn c3 = shop_insert(world, 3);
    world_cleanup(world, c3);
    (void)world_stream(world, &options);
    assert_int_equal(world_version(world, BRONZE), -1);
    assert_rows(world, "0|0|-|-|-\n",
                "SELECT batch_id, \"rows\", read_mb, end_lsn, detail FROM {" FACTS
                "} WHERE event IS NULL");
    assert_str_is(skips(world),
                  str_c(world_arena(world), skip_text(world, 0, lsn_increment(c1), c3, "true")));
    options.max_batches = 0;
    (void)world_stream(world, &options);
    assert_bronze_ids(world, "3");
    (void)c2;
    world_close(world);
}

/* --- by seed --- */

/* Cleanup to some commit, right before a statement of a run. */
typedef struct Sweeper {
    World *world;
    Rng   *rng;
    Lsn    lsns[64];
    int    count;
    int    low; /* swept so far */
    bool   is_armed;
} Sweeper;

static void sweep(Sweeper *sweeper)
{
    if (sweeper->low >= sweeper->count) return;
    sweeper->low += (int)rng_below(sweeper->rng, (uint64_t)(sweeper->count - sweeper->low));
    world_cleanup(sweeper->world, sweeper->lsns[sweeper->low]);
}

static void sweep_now_and_then(void *arg, Str sql)
{
    Sweeper *sweeper = arg;

    if (!sweeper->is_armed || rng_below(sweeper->rng, 12) > 0 ||
        str_find(sql, STR("sp_cdc_cleanup"), 0) >= 0)
        return;
    sweeper->is_armed = false;
    sweep(sweeper);
}

static void run_under_faults(World *world, Sweeper *sweeper, StreamOptions *options)
{
    Rng     *rng     = sweeper->rng;
    Process *process = process_open(world, "run");

    if (rng_below(rng, 3) > 0)
        process->plan = (FaultPlan){.fail_at_step = 1 + rng_below(rng, 40),
                                    .after_effect = rng_below(rng, 2) == 0,
                                    .crash        = rng_below(rng, 3) > 0};
    options->max_commits_per_batch = (int64_t)rng_below(rng, 4);
    sweeper->is_armed              = rng_below(rng, 2) == 0;
    sim_sql_driver_set_hook(process->sql, sweep_now_and_then, sweeper);
    if (!process_stream(process, options) && process->err.code != ERR_STORE &&
        process->err.code != ERR_SOURCE && process->err.code != ERR_FAILED)
        assert_ok(false, &process->err);
    process_close(process);
}

/* Whatever is purged and whatever dies: each change is in bronze once, or in a gap that the facts
 * tell. */
static void what_is_missing_is_in_a_recorded_gap(void **state)
{
    FOR_EACH_SEED (seed, 12) {
        World        *world   = shop_open(state, seed);
        Buf           all     = buf_new(world_arena(world), 0);
        Sweeper       sweeper = {.world = world, .rng = rng_new(seed * 31 + 5)};
        StreamOptions options = skipping_from(world_max_lsn(world));

        for (int round = 0; round < 8; round++) {
            for (uint64_t i = rng_below(sweeper.rng, 4); i > 0 && sweeper.count < 64; i--) {
                sweeper.lsns[sweeper.count] = shop_insert(world, sweeper.count);
                sweeper.count++;
            }
            if (rng_below(sweeper.rng, 3) == 0) sweep(&sweeper);
            run_under_faults(world, &sweeper, &options);
        }
        sweeper.lsns[sweeper.count] = shop_insert(world, sweeper.count);
        (void)world_stream(world, &options);
        assert_rows(world, "", "SELECT id FROM {" BRONZE "} GROUP BY id HAVING count(*) > 1");
        for (int i = 0; i <= sweeper.count; i++)
            buf_printf(&all, "%s(%d, '%s')", i ? ", " : "", i, lsn_format(sweeper.lsns[i]).text);
        assert_rows(world, "",
                    "SELECT a.* FROM (VALUES %.*s) AS a (id, lsn) WHERE NOT EXISTS (FROM {" BRONZE
                    "} AS b WHERE b.id = a.id AND b._start_lsn = a.lsn) AND NOT EXISTS (FROM "
                    "{" FACTS
                    "} AS f WHERE event = 'data_skipped' AND (f.detail::JSON->>'from') <= "
                    "a.lsn AND a.lsn < (f.detail::JSON->>'to'))",
                    STR_ARG(buf_str(&all)));
        assert_facts_once(world);
        assert_logs_readable(world);
        rng_close(sweeper.rng);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_read_and_the_gap_is_recorded),
        cmocka_unit_test(a_skip_tells_its_gap),
        cmocka_unit_test(what_cleanup_may_have_taken_during_the_read_is_recorded_once),
        cmocka_unit_test(a_batch_that_was_read_whole_has_no_skip),
        cmocka_unit_test(nothing_after_the_start_cannot_be_lost),
        cmocka_unit_test(a_whole_batch_that_is_gone_is_an_empty_batch),
        property_test(what_is_missing_is_in_a_recorded_gap),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
