/* Two calls of one stream at the same time (algorithms.md 4.8, 4.13): one is what is documented, and two must not lose
 * or hide anything. */
#include "support/test_support.h"

#include "support/backfill.h"

/* What somebody else does before a step of a call: another call, which may die on its way. */
typedef struct Rival {
    World          *world;
    BackfillOptions options;
    const char     *change; /* at the source first; NULL: none */
    const char     *dies_at;
    bool            has_run;
    BackfillResult  result;
} Rival;

static void let_rival_run(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;

    (void)step, (void)operation, (void)path;
    if (rival->has_run) return;
    rival->has_run = true;
    if (rival->change) world_commit(rival->world, "%s", rival->change);
    if (rival->dies_at)
        backfill_crash_at(rival->world, &rival->options, rival->dies_at, 1, false);
    else
        rival->result = world_backfill(rival->world, &rival->options);
}

/* A call before whose first step at `path` the rival does what it does. */
static BackfillResult backfill_beside(World *world, const BackfillOptions *options, Rival *rival,
                                      const char *path)
{
    Process       *process = process_open(world, "beside");
    BackfillResult result;

    rival->world  = world;
    process->plan = (FaultPlan){
        .only_path_containing = str_from_c(path), .on_step = let_rival_run, .on_step_arg = rival};
    assert_ok(process_backfill(process, options, &result), &process->err);
    assert_true(rival->has_run);
    process_close(process);
    return result;
}

/* To the end, whoever was in whose way. */
static void assert_ends_well(World *world, const BackfillOptions *options)
{
    assert_int_equal(world_backfill(world, options).state, BACKFILL_DONE);
    assert_chunks_recorded(world);
    assert_silver_follows(world);
}

/* --- a plan --- */

static void two_plans_are_one(void **state) /* T4.19 */
{
    static const char *const steps[] = {PLANS_COMMIT(2), FACTS_COMMIT(3)};

    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        World          *world   = shop_open(state, 1);
        BackfillOptions options = shop_backfill(2, 2);
        Rival           rival   = {.options = shop_backfill(3, 2)};

        shop_open_snapshot(world, 6);
        options.max_waves       = OPT_I64(1);
        rival.options.max_waves = OPT_I64(1);
        BackfillResult result   = backfill_beside(world, &options, &rival, steps[i]);
        /* the rival's 2 chunks of 3 rows when it was first, else the 3 chunks of 2 rows */
        int64_t chunks = i == 0 ? 2 : 3;
        assert_int_equal(result.chunks_total.value, chunks);
        assert_int_equal(rival.result.chunks_total.value, chunks);
        assert_rows(world, i == 0 ? "2|3\n" : "3|2\n",
                    "SELECT json_extract(detail, '$.chunk_count')::INT, json_extract(detail, "
                    "'$.chunk_rows')::INT FROM {" FACTS "} WHERE event = 'snapshot_plan'");
        assert_rows(world, i == 0 ? "2\n" : "3\n",
                    "SELECT json_array_length(detail, '$.chunks') FROM {" PLANS
                    "} WHERE event = 'snapshot_plan'");
        assert_ends_well(world, &options);
        assert_chunk_rows_counted(world);
        world_close(world);
    }
}

/* --- a wave --- */

/* 8 chunks of one row each are planned; those of 0 to 3 are empty by now. */
static World *open_with_empty_chunks(void **state, int left_from)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(1, 4);

    shop_open_snapshot(world, 8);
    backfill_crash_at(world, &options, FACTS_COMMIT(3), 1, true); /* planned, no more */
    if (left_from > 0) world_commit(world, "DELETE FROM dbo.orders WHERE id < %d", left_from);
    return world;
}

static const char *chunks_of_wave_0(World *world)
{
    return str_c(world_arena(world),
                 world_rows(world,
                            "SELECT string_agg(json_extract(detail, '$.chunk'), ' ' ORDER BY "
                            "json_extract(detail, '$.chunk')::INT) FROM {" FACTS
                            "} WHERE event = 'snapshot_chunk' AND json_extract(detail, '$.wave') "
                            "= '0'"));
}

#define ROWS_COME_BACK "INSERT INTO dbo.orders VALUES (0, 'again'), (1, 'again')"

/* One call finds chunks 0 to 3 empty, the other finds rows in 0 and 1, which are all it reads: whoever records the wave
 * first says what it holds, and both go on behind that. */
static void the_first_to_record_a_wave_counts(void **state) /* T4.54 */
{
    static const struct {
        const char *step;    /* where the one with an empty wave is overtaken */
        const char *change;  /* before the other reads */
        const char *dies_at; /* of the other */
        const char *wave_0;  /* what it is in the facts */
    } cases[] = {
        {PLANS_COMMIT(3), ROWS_COME_BACK, NULL, "0 1\n"}, /* it has the facts */
        {PLANS_COMMIT(3), ROWS_COME_BACK, FACTS_COMMIT(4),
         "0 1\n"}, /* it has rows and plans, and dies */
        {PLANS_COMMIT(3), ROWS_COME_BACK, PLANS_COMMIT(3), "0 1 2 3\n"}, /* it has rows */
        {FACTS_COMMIT(4), ROWS_COME_BACK, NULL, "0 1 2 3\n"}, /* it sees what was announced */
        {PLANS_COMMIT(3), NULL, FACTS_COMMIT(4),
         "0 1 2 3\n"}, /* it announced two empty ones, and dies */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World          *world   = open_with_empty_chunks(state, 4);
        BackfillOptions options = shop_backfill(1, 4);
        Rival           rival   = {
                        .options = shop_backfill(1, 2), .change = cases[i].change, .dies_at = cases[i].dies_at};

        rival.options.max_waves = OPT_I64(1);
        (void)backfill_beside(world, &options, &rival, cases[i].step);
        test_assert_str(str_from_c(chunks_of_wave_0(world)), cases[i].wave_0, __FILE__, __LINE__);
        assert_ends_well(world, &options);
        world_close(world);
    }
}

/* The other way round: the one with rows is overtaken by the one without. */
static void an_empty_wave_may_be_first(void **state) /* T4.54 */
{
    World          *world   = open_with_empty_chunks(state, 0);
    BackfillOptions options = shop_backfill(1, 2);
    Rival rival = {.options = shop_backfill(1, 4), .change = "DELETE FROM dbo.orders WHERE id < 4"};

    rival.options.max_waves = OPT_I64(1);
    (void)backfill_beside(world, &options, &rival, BRONZE_COMMIT(1));
    assert_int_equal(rival.result.chunks_done, 4);
    assert_string_equal(chunks_of_wave_0(world), "0 1 2 3\n");
    assert_ends_well(world, &options);
    world_close(world);
}

/* Both find rows, and the narrower one is in bronze first: what the wider one read besides is not there, and is read
 * again. */
static void a_skipped_append_takes_the_others_chunks(void **state) /* T4.54 */
{
    static const char *const dies_at[] = {PLANS_COMMIT(3), FACTS_COMMIT(4), NULL};

    for (size_t i = 0; i < COUNT_OF(dies_at); i++) {
        World          *world   = open_with_empty_chunks(state, 0);
        BackfillOptions options = shop_backfill(1, 4);
        Rival           rival   = {.options = shop_backfill(1, 2), .dies_at = dies_at[i]};

        rival.options.max_waves = OPT_I64(1);
        (void)backfill_beside(world, &options, &rival, BRONZE_COMMIT(1));
        assert_string_equal(chunks_of_wave_0(world), "0 1\n");
        assert_ends_well(world, &options);
        assert_chunk_rows_counted(world);
        world_close(world);
    }
}

/* --- any order --- */

static void whatever_the_order_nothing_is_lost(void **state) /* T4.54 */
{
    FOR_EACH_SEED (seed, 12) {
        World          *world = shop_open(state, seed);
        Rng            *rng   = world_rng(world);
        BackfillOptions options[2];
        BackfillCall    calls[2];

        shop_open_snapshot(world, 12);
        for (size_t i = 0; i < 2; i++)
            options[i] = shop_backfill(1 + (int64_t)rng_below(rng, 3),
                                       1 + (int64_t)rng_below(rng, 4));
        backfill_call_start(&calls[0], world, "one", &options[0]);
        backfill_call_start(&calls[1], world, "two", &options[1]);
        for (int i = 0; i < 6; i++) {
            int id = (int)rng_below(rng, 12);
            if (rng_below(rng, 2))
                world_commit(world, "DELETE FROM dbo.orders WHERE id BETWEEN %d AND %d", id,
                             id + 3);
            else
                world_commit(world,
                             "INSERT INTO dbo.orders SELECT value, 'i' FROM GENERATE_SERIES(%d, "
                             "%d) WHERE NOT EXISTS (SELECT 1 FROM dbo.orders WHERE id = value)",
                             id, id + 2);
        }
        assert_int_equal(backfill_call_end(&calls[0]).state, BACKFILL_DONE);
        assert_int_equal(backfill_call_end(&calls[1]).state, BACKFILL_DONE);
        assert_ends_well(world, &options[0]);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_plans_are_one),
        cmocka_unit_test(the_first_to_record_a_wave_counts),
        cmocka_unit_test(an_empty_wave_may_be_first),
        cmocka_unit_test(a_skipped_append_takes_the_others_chunks),
        property_test(whatever_the_order_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
