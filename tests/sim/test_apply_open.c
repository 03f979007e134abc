/* Silver next to a backfill: what is recorded while apply reads, snapshots of the shape before the plans table, keys
 * whose bounds the server rounds (algorithms.md 4.2, 4.3, 4.18). */
#include "support/test_support.h"

#include "state/payload_chunks.h"
#include "support/backfill.h"

/* A wave is recorded as soon as the plans are looked at: the facts were read before. */
typedef struct Intruder {
    World                 *world;
    const BackfillOptions *options;
    bool                   has_come;
} Intruder;

static void record_a_wave(void *arg, uint64_t step, const char *operation, Str path)
{
    Intruder *intruder = arg;

    (void)step, (void)operation;
    if (intruder->has_come || str_find(path, STR(PLANS), 0) < 0) return;
    intruder->has_come = true;
    (void)world_backfill_waves(intruder->world, intruder->options, 1);
}

static void a_wave_recorded_between_facts_and_plans_waits(void **state) /* T4.2 */
{
    World          *world    = shop_open(state, 1);
    BackfillOptions options  = shop_backfill(2, 1);
    ApplyOptions    apply    = shop_apply();
    Process        *process  = process_open(world, "apply");
    Intruder        intruder = {.world = world, .options = &options};

    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1, 6)");
    (void)shop_run_chunked(world);
    (void)world_backfill_waves(world, &options, 1);
    process->plan = (FaultPlan){
        .count_reads = true, .on_step = record_a_wave, .on_step_arg = &intruder};
    assert_ok(process_apply(process, &apply), &process->err);
    assert_true(intruder.has_come);
    assert_int_equal(process->apply.waves_applied, 1);
    process_close(process);
    assert_str_is(shop_silver(world), "1:a 2:a\n");
    assert_rows(world, "0\n",
                "SELECT snapshot_wave FROM {" CONTROL "} WHERE table_name = '" SILVER "'");
    assert_int_equal(world_apply(world, &apply).waves_applied, 1);
    assert_str_is(shop_silver(world), "1:a 2:a 3:a 4:a\n");
    world_close(world);
}

/* The open as releases before the plans table wrote it: keys and extent stand in the facts. */
static void open_in_the_old_shape(World *world, int64_t lo, int64_t hi)
{
    static const Str keys[] = {{"id", 2}};
    TableRef         ref    = {STR(FACTS), STR(FACTS)};
    OptLsn           lsn    = OPT_LSN(world_max_lsn(world));
    ChunkedOpen      open   = {.generation = OPT_I64(0),
                               .has_bounds = true,
                               .keys       = keys,
                               .key_count  = 1,
                               .extent = {.is_integer = true, .lo = lo, .hi = hi, .row_estimate = 8}};
    FactsRow         row    = {.app_id  = STR(APP_ID),
                               .event   = STR(EVENT_SNAPSHOT_OPEN),
                               .min_lsn = lsn,
                               .max_lsn = lsn,
                               .target  = STR(BRONZE),
                               .detail  = payload_chunked_open(world_arena(world), &open, true)};
    Facts           *facts  = NULL;
    DeltaOutcome     outcome;
    Err              err = ERR_INIT;

    assert_ok(facts_open(world_delta(world), &ref, &facts, &err), &err);
    assert_ok(facts_append_once(facts, STR(APP_ID "#snapshots"), 0, &row, 1, &outcome, &err), &err);
    facts_close(facts);
}

static void a_snapshot_of_the_old_shape_finishes_in_it(void **state) /* T4.44, T7.18 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 1);
    StreamOptions   early   = shop_stream_from(world_max_lsn(world));
    ApplyOptions    apply   = shop_apply();

    early.app_id     = STR("early-v1");
    early.checkpoint = STR("checkpoints/early");
    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1, 8)");
    (void)world_stream(world, &early);
    (void)world_apply(world, &apply);
    world_commit(world, "DELETE FROM dbo.orders WHERE id IN (2, 5)"); /* which no stream reads */
    open_in_the_old_shape(world, 1, 8);
    (void)shop_run_chunked(world);
    (void)world_backfill_waves(world, &options, 1);
    (void)world_apply(world, &apply);
    assert_str_is(shop_silver(world), "1:a 3:a 4:a 5:a 6:a 7:a 8:a\n"); /* 2 went with [-,4) */
    (void)world_backfill_waves(world, &options, 1);
    (void)world_apply(world, &apply);
    assert_str_is(shop_silver(world), "1:a 3:a 4:a 6:a 7:a 8:a\n"); /* 5 with the next chunk */
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
    assert_true(world_apply(world, &apply).rebuilt);
    assert_silver_is_source(world, "orders", "id, note");
    assert_int_equal(world_version(world, PLANS), -1);
    assert_rows(world, "1|true|true\n",
                "SELECT count(*) FILTER (event = 'snapshot_open'), bool_and(detail LIKE "
                "'%%\"lo\"%%') FILTER (event = 'snapshot_chunk'), bool_and(detail LIKE "
                "'%%\"chunks\"%%') FILTER (event = 'snapshot_plan') FROM {" FACTS "}");
    world_close(world);
}

/* Ticks are a third of a hundredth of a second: what the driver gives is the tick rounded to milliseconds, and bounds are
 * the same. Rows go from the table, and nothing but the chunks' ranges says so. */
static void datetime_keys_go_with_their_own_chunk(void **state) /* T4.55 */
{
    World          *world   = world_open(state, 1);
    BackfillOptions options = shop_backfill(1, 1);
    StreamOptions   early;
    ApplyOptions    apply = shop_apply();

    world_create(world, "orders", "id datetime NOT NULL PRIMARY KEY, note varchar(20) NULL");
    early            = shop_stream_from(world_max_lsn(world));
    early.app_id     = STR("early-v1");
    early.checkpoint = STR("checkpoints/early");
    world_commit(world, "INSERT INTO dbo.orders VALUES ('2026-01-03T00:00:00.003', 'a'), "
                        "('2026-01-03T00:00:00.007', 'b'), ('2026-01-03T00:00:00.010', 'c'), "
                        "('2026-01-03T00:00:00.013', 'd')");
    (void)world_stream(world, &early);
    (void)world_apply(world, &apply);
    (void)shop_run_chunked(world);
    (void)world_backfill_waves(world, &options, 1); /* [-,.007) */
    assert_rows(world, "-|.007\n.007|.010\n.010|-\n",
                "WITH c AS (SELECT unnest(json_extract(detail, '$.chunks[*]')) AS c FROM {" PLANS
                "} WHERE event = 'snapshot_plan') SELECT right(json_extract_string(c, '$[0]'), 4), "
                "right(json_extract_string(c, '$[1]'), 4) FROM c");
    world_commit(world, "DELETE FROM dbo.orders");
    (void)world_backfill_waves(world, &options, 1); /* [.007,.010) */
    (void)world_apply(world, &apply);
    assert_rows(world, "a c d\n", "SELECT string_agg(note, ' ' ORDER BY id) FROM {" SILVER "}");
    assert_int_equal(world_backfill_waves(world, &options, 1).state, BACKFILL_DONE);
    (void)shop_run_chunked(world);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wave_recorded_between_facts_and_plans_waits),
        cmocka_unit_test(a_snapshot_of_the_old_shape_finishes_in_it),
        cmocka_unit_test(datetime_keys_go_with_their_own_chunk),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
