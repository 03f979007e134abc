/* Silver while a chunked snapshot is open (algorithms.md 7.3, 7.5 to 7.7). */
#include "support/test_support.h"

#include "support/backfill.h"

static ApplyResult run_apply(World *world)
{
    ApplyOptions apply = shop_apply();

    return world_apply(world, &apply);
}

static Str position(World *world)
{
    return world_rows(
        world, "SELECT snapshot_lsn IS NOT NULL, open_snapshot_lsn IS NOT NULL, snapshot_wave, "
               "finalized_until IS NOT NULL FROM {" CONTROL "} WHERE table_name = '" SILVER "'");
}

static void waves_are_applied_as_they_come(void **state) /* T7.7, T7.19 */
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(3, 1);
    ApplyResult     applied;

    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1, 8)");
    (void)shop_run_chunked(world);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 2");
    world_commit(world, "INSERT INTO dbo.orders VALUES (10, 'a')");
    (void)shop_run_chunked(world);
    applied = run_apply(world);
    assert_int_equal(applied.waves_applied, 0);
    assert_str_is(shop_silver(world), "10:a\n");
    assert_str_is(position(world), "false|true|-|false\n");

    BackfillResult wave = world_backfill_waves(world, &options,
                                               1); /* [-,5); [5,8) and [8,9) are left */
    assert_int_equal(wave.chunks_done, 1);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 5");
    world_commit(world, "UPDATE dbo.orders SET note = 'b' WHERE id = 4");
    (void)shop_run_chunked(world);
    applied = run_apply(world);
    assert_int_equal(applied.waves_applied, 1);
    assert_str_is(shop_silver(world), "1:a 3:a 4:b 10:a\n"); /* 2 and 5 are not brought back */
    assert_str_is(position(world), "false|true|0|false\n");
    assert_int_equal(run_apply(world).waves_applied, 0);

    wave = world_backfill_waves(world, &options, 1);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 1");
    world_commit(world, "UPDATE dbo.orders SET id = 66 WHERE id = 6");
    (void)shop_run_chunked(world);
    applied = run_apply(world);
    assert_str_is(shop_silver(world), "3:a 4:b 7:a 10:a 66:a\n");
    (void)world_backfill(world, &options);
    applied = run_apply(world);
    assert_true(applied.rebuilt);
    assert_silver_is_source(world, "orders", "id, note");
    assert_str_is(position(world), "true|false|-|true\n");
    world_close(world);
}

/* What an earlier silver held and the source no longer has goes with its chunk, by the chunk's range. */
static void lack_keys(void **state, const Str *key)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 1);
    StreamOptions   early   = shop_stream_from(world_max_lsn(world));
    ApplyOptions    apply   = world_apply_options(key, 1);

    /* silver 1 to 6 from changes alone, under another checkpoint and app_id */
    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1, 6)");
    early.app_id     = STR("early-v1");
    early.checkpoint = STR("checkpoints/early");
    (void)world_stream(world, &early);
    (void)world_apply(world, &apply);
    assert_str_is(shop_silver(world), "1:a 2:a 3:a 4:a 5:a 6:a\n");
    /* 2 and 6 go while nobody reads: their deletes are before the S of the snapshot */
    world_commit(world, "DELETE FROM dbo.orders WHERE id IN (2, 6)");
    (void)shop_run_chunked(world);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 4");
    world_commit(world, "INSERT INTO dbo.orders VALUES (4, 'new')");
    (void)shop_run_chunked(world);
    (void)world_backfill_waves(world, &options, 1);
    (void)world_apply(world, &apply);
    assert_str_is(shop_silver(world),
                  "1:a 3:a 4:new 5:a 6:a\n"); /* 2 went, 6 is in a chunk to come */
    options.max_waves = (OptI64){.is_set = false};
    (void)world_backfill(world, &options);
    assert_true(world_apply(world, &apply).rebuilt); /* no row can have moved */
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

static void keys_that_a_chunk_lacks_go_with_it(void **state) /* T7.14 */
{
    static const Str names[] = {{"id", 2}, {"ID", 2}}; /* a name is one in any case */

    for (size_t i = 0; i < COUNT_OF(names); i++)
        lack_keys(state, &names[i]);
}

/* The wave was read before the delete and is recorded after it was applied: its row is not brought back. */
static void a_late_wave_does_not_undo_what_is_applied(void **state)
{
    World          *world   = shop_open(state, 1);
    BackfillOptions options = shop_backfill(2, 1);

    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1, 8)");
    (void)shop_run_chunked(world);
    backfill_crash_at(world, &options, BRONZE "/_delta_log/00000000000000000001.json", 1, true);
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 2");
    world_commit(world, "UPDATE dbo.orders SET note = 'b' WHERE id = 1");
    (void)shop_run_chunked(world);
    (void)run_apply(world);
    assert_str_is(shop_silver(world), "1:b\n");
    (void)world_backfill_waves(world, &options,
                               2); /* one is found in bronze and recorded, the next is read */
    ApplyResult applied = run_apply(world);
    assert_false(applied.rebuilt);
    assert_int_equal(applied.waves_applied, 2);
    assert_rows(world, "0\n", "SELECT count(*) FROM {" SILVER "} WHERE id = 2");
    assert_rows(world, "b\n", "SELECT note FROM {" SILVER "} WHERE id = 1");
    world_close(world);
}

/* Cut on `area`, which a row changes while its key stays: between two waves it goes from a range still to be read to one
 * that was. No chunk has it. */
static World *open_with_moved_row(void **state, StreamOptions *stream, OptTime *verdict_out)
{
    static const Str area[]  = {{"area", 4}};
    World           *world   = world_open(state, 1);
    BackfillOptions  options = shop_backfill(2, 1);

    world_create(world, "orders", "id int NOT NULL PRIMARY KEY, area int NOT NULL");
    StreamOptions early = shop_stream_from(world_max_lsn(world));
    world_commit(world, "INSERT INTO dbo.orders SELECT value, value FROM GENERATE_SERIES(1, 6)");
    early.app_id     = STR("early-v1");
    early.checkpoint = STR("checkpoints/early");
    (void)world_stream(world, &early);
    *verdict_out = run_apply(world).finalized_until; /* 1 to 6 from changes alone */
    world_pass_minutes(world, 70);
    *stream               = shop_chunked();
    stream->snapshot_keys = options.stream.snapshot_keys = area;
    stream->snapshot_key_count = options.stream.snapshot_key_count = 1;
    (void)world_stream(world, stream);
    (void)world_backfill_waves(world, &options, 1);
    world_commit(world, "UPDATE dbo.orders SET area = 0 WHERE id = 6");
    (void)world_backfill(world, &options);
    assert_rows(world, "0|true\n",
                "SELECT count(*) FILTER (id = 6 AND _operation = 0), count(DISTINCT _chunk) > 1 "
                "FROM {" BRONZE "}");
    return world;
}

static void assert_held(World *world, OptTime verdict)
{
    ApplyResult held = run_apply(world);

    assert_false(held.rebuilt);
    assert_int_equal(held.finalized_until.utc_us, verdict.utc_us);
    assert_rows(world, "1 2 3 4 5 6\n",
                "SELECT string_agg(id::VARCHAR, ' ' ORDER BY id) FROM {" SILVER "}");
}

/* Silver keeps its verdict, and what an earlier silver held of the row, until its change came. */
static void a_row_that_moves_between_chunks_is_waited_for(void **state)
{
    StreamOptions stream;
    OptTime       verdict;
    World        *world = open_with_moved_row(state, &stream, &verdict);

    for (int i = 0; i < 2; i++) {
        assert_held(world, verdict);
        assert_str_is(position(world), "false|true|2|true\n");
    }
    assert_int_equal(world_line_count(world, "from chunk to chunk"), 2);
    /* the change comes; the source is quiet, and its clock may be a minute off this one */
    (void)world_stream(world, &stream);
    assert_false(run_apply(world).rebuilt);
    assert_silver_is_source(world, "orders", "id, area");
    world_pass_minutes(world, 3);
    world_idle(world);
    (void)world_stream(world, &stream);
    ApplyResult rebuilt = run_apply(world);
    assert_true(rebuilt.rebuilt);
    assert_true(rebuilt.finalized_until.utc_us > verdict.utc_us);
    assert_silver_is_source(world, "orders", "id, area");
    assert_str_is(position(world), "true|false|-|true\n");
    world_close(world);
}

/* The next snapshot is opened before the change came, by a stream that begins there: that one is what brings the row. */
static void a_row_that_moved_waits_for_the_next_snapshot_too(void **state)
{
    StreamOptions   stream;
    BackfillOptions options = shop_backfill(2, 1);
    OptTime         verdict;
    World          *world = open_with_moved_row(state, &stream, &verdict);

    stream.app_id     = STR("again-v1");
    stream.checkpoint = STR("checkpoints/again");
    (void)world_stream(world, &stream);
    assert_held(world, verdict);
    options.stream = stream;
    (void)world_backfill(world, &options);
    world_pass_minutes(world, 3);
    world_idle(world);
    (void)world_stream(world, &stream);
    assert_true(run_apply(world).rebuilt);
    assert_silver_is_source(world, "orders", "id, area");
    world_close(world);
}

/* Others go on before the n-th look of an apply at a table: a batch with its verdict, and a wave while there is one. */
typedef struct Landing {
    World          *world;
    BackfillOptions options;
    int             looks, at;
} Landing;

static void land(void *arg, uint64_t step, const char *operation, Str path)
{
    Landing *landing = arg;

    (void)step, (void)path;
    if (!str_equal_c(str_from_c(operation), "list_after") || ++landing->looks != landing->at)
        return;
    world_pass_minutes(landing->world, 120);
    world_commit(landing->world, "DELETE FROM dbo.orders WHERE id = 2");
    world_commit(landing->world, "INSERT INTO dbo.orders VALUES (20, 'a')");
    (void)world_backfill_waves(landing->world, &landing->options, 1);
    (void)shop_run_chunked(landing->world);
}

/* An apply next to which that happens at look `at`, of a table of 1 to 8 with one wave of three rows or, complete, with all. */
static World *apply_beside(void **state, int at, bool is_complete, bool *came)
{
    World       *world   = shop_open(state, 1);
    Landing      landing = {.world = world, .options = shop_backfill(3, 1), .at = at};
    ApplyOptions apply   = shop_apply();
    Process     *process;

    world_commit(world, "INSERT INTO dbo.orders SELECT value, 'a' FROM GENERATE_SERIES(1, 8)");
    (void)shop_run_chunked(world);
    (void)world_backfill_waves(world, &landing.options, is_complete ? 10 : 1);
    (void)run_apply(world);
    process       = process_open(world, "apply");
    process->plan = (FaultPlan){.count_reads = true, .on_step = land, .on_step_arg = &landing};
    assert_ok(process_apply(process, &apply), &process->err);
    process_close(process);
    *came = landing.looks >= at;
    return world;
}

/* Wherever it comes between the reads: what this call has not read the next one applies. */
static void what_lands_between_the_reads_is_not_lost(void **state) /* T7.1 */
{
    bool came = true;

    for (int at = 1; came; at++) {
        World *world = apply_beside(state, at, false, &came);

        if (came) {
            (void)run_apply(world);
            assert_str_is(shop_silver(world), "1:a 3:a 4:a 5:a 6:a 20:a\n");
            assert_str_is(position(world), "false|true|1|false\n");
        }
        world_close(world);
        assert_true(came || at > 3);
    }
    came = true;
    for (int at = 1; came; at++) {
        World *world = apply_beside(state, at, true, &came);

        if (came) {
            /* who takes the verdict of the batch has its rows */
            assert_rows(world, "true\n",
                        "SELECT (SELECT count(*) FROM {" SILVER
                        "} WHERE id = 20) = 1 OR (SELECT count(DISTINCT finalized_until) FROM "
                        "{" CONTROL "}) = 2");
            (void)run_apply(world);
            assert_silver_is_source(world, "orders", "id, note");
            assert_rows(world, "1\n", "SELECT count(DISTINCT finalized_until) FROM {" CONTROL "}");
        }
        world_close(world);
        assert_true(came || at > 3);
    }
}

/* Random changes, with stream, waves and apply in any order; at the end silver is the source, and on the way no row of
 * it is one the source does not have. */
static void silver_is_never_wrong_on_the_way(void **state)
{
    FOR_EACH_SEED (seed, 25) {
        World          *world   = shop_open(state, seed);
        Rng            *rng     = world_rng(world);
        BackfillOptions options = shop_backfill(1 + (int64_t)rng_below(rng, 4),
                                                1 + (int64_t)rng_below(rng, 3));
        bool            done    = false;

        world_commit(world,
                     "INSERT INTO dbo.orders SELECT value * 2, 'a' FROM GENERATE_SERIES(1, 12)");
        (void)shop_run_chunked(world);
        while (!done) {
            int id = (int)rng_below(rng, 28);

            switch (rng_below(rng, 7)) {
            case 0: world_commit(world, "DELETE FROM dbo.orders WHERE id = %d", id); break;
            case 1:
                world_commit(world, "UPDATE dbo.orders SET note = 'u%d' WHERE id = %d",
                             (int)rng_below(rng, 99), id);
                break;
            case 2:
                world_commit(world,
                             "INSERT INTO dbo.orders SELECT %d, 'i' WHERE NOT EXISTS (SELECT 1 "
                             "FROM dbo.orders WHERE id = %d)",
                             id, id);
                break;
            case 3:
                world_commit(world,
                             "UPDATE dbo.orders SET id = %d WHERE id = %d AND NOT EXISTS (SELECT 1 "
                             "FROM dbo.orders AS o WHERE o.id = %d)",
                             id + 1, id, id + 1);
                break;
            case 4: done = world_backfill_waves(world, &options, 1).state == BACKFILL_DONE; break;
            case 5: (void)shop_run_chunked(world); break;
            default: {
                (void)shop_run_chunked(world);
                (void)run_apply(world);
                Str rows = world_rows(world,
                                      "SELECT id || ':' || note FROM {" SILVER "} ORDER BY id"),
                    line;
                Str source = world_source_rows(world,
                                               "SELECT CONCAT(id, ':', note) FROM dbo.orders");
                if (str_equal_c(rows, "no table\n")) break;
                while (str_split_next(&rows, '\n', &line) && line.len > 0)
                    assert_true(str_find(source,
                                         str_printf(world_arena(world), "%.*s\n", STR_ARG(line)),
                                         0) >= 0);
                break;
            }
            }
        }
        (void)shop_run_chunked(world);
        (void)run_apply(world);
        assert_silver_is_source(world, "orders", "id, note");
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_are_applied_as_they_come),
        cmocka_unit_test(keys_that_a_chunk_lacks_go_with_it),
        cmocka_unit_test(a_late_wave_does_not_undo_what_is_applied),
        cmocka_unit_test(what_lands_between_the_reads_is_not_lost),
        cmocka_unit_test(a_row_that_moves_between_chunks_is_waited_for),
        cmocka_unit_test(a_row_that_moved_waits_for_the_next_snapshot_too),
        property_test(silver_is_never_wrong_on_the_way),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
