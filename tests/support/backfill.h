/* backfill.h - chunked snapshots of the shop's table on simulated time. Include test_support.h first. */
#ifndef TIDELAKE_SUPPORT_BACKFILL_H
#define TIDELAKE_SUPPORT_BACKFILL_H

#include "engine/backfill.h"
#include "support/shop.h"

#define PLANS BRONZE "_snapshot_plans"

/* The n-th file of bronze's log, for crashes at it; of the facts', the plans'. */
#define TABLE_COMMIT(table, n) table "/_delta_log/0000000000000000000" #n ".json"
#define BRONZE_COMMIT(n)       TABLE_COMMIT(BRONZE, n)
#define FACTS_COMMIT(n)        TABLE_COMMIT(FACTS, n)
#define PLANS_COMMIT(n)        TABLE_COMMIT(PLANS, n)

/* Rows `from` and the `count` - 1 behind it. */
UNUSED static void shop_fill(World *world, int from, int count)
{
    world_commit(world,
                 "INSERT INTO dbo.orders SELECT value, CONCAT('n', value) FROM "
                 "GENERATE_SERIES(%d, %d)",
                 from, from + count - 1);
}

UNUSED static StreamOptions shop_chunked(void)
{
    StreamOptions options = shop_bootstrap();

    options.snapshot_chunked = true;
    return options;
}

UNUSED static BackfillOptions shop_backfill(int64_t chunk_rows, int64_t connections)
{
    BackfillOptions options = {.stream = shop_chunked(), .chunk_rows = chunk_rows};

    options.stream.source.num_partitions = connections;
    return options;
}

/* As a process of its own; the result's reason lives as long as the world. */
UNUSED static bool process_backfill(Process *process, const BackfillOptions *options,
                                    BackfillResult *out)
{
    process->err = ERR_INIT;
    process->ok  = backfill_run(&process->env, options, world_arena(process->world), out,
                                &process->err);
    return process->ok;
}

/* A fresh process that must succeed. */
UNUSED static BackfillResult world_backfill(World *world, const BackfillOptions *options)
{
    Process       *process = process_open(world, "backfill");
    BackfillResult result;

    assert_ok(process_backfill(process, options, &result), &process->err);
    process_close(process);
    return result;
}

/* A call that starts at most so many waves. */
UNUSED static BackfillResult world_backfill_waves(World *world, const BackfillOptions *options,
                                                  int64_t waves)
{
    BackfillOptions few = *options;

    few.max_waves = OPT_I64(waves);
    return world_backfill(world, &few);
}

/* "1:n1 2:n2", silver as it stands. */
UNUSED static Str shop_silver(World *world)
{
    return world_rows(world,
                      "SELECT string_agg(id || ':' || note, ' ' ORDER BY id) FROM {" SILVER "}");
}

/* A stream that opens a chunked snapshot, or goes on behind one. */
UNUSED static StreamResult shop_run_chunked(World *world)
{
    StreamOptions stream = shop_chunked();

    return world_stream(world, &stream);
}

/* Rows 0 to count - 1, and a chunked snapshot of them opened. */
UNUSED static void shop_open_snapshot(World *world, int count)
{
    shop_fill(world, 0, count);
    (void)shop_run_chunked(world);
}

/* One more call completes the snapshot, and bronze holds so many rows of it, each once. */
UNUSED static void assert_backfill_done(World *world, const BackfillOptions *options, int64_t rows)
{
    BackfillResult result = world_backfill(world, options);

    assert_int_equal(result.state, BACKFILL_DONE);
    assert_rows(world,
                str_c(world_arena(world), str_printf(world_arena(world), "%lld|%lld\n",
                                                     (long long)rows, (long long)rows)),
                "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "} WHERE _operation = 0");
}

/* After the rest of the stream and an apply, silver is the table. */
UNUSED static void assert_silver_follows(World *world)
{
    ApplyOptions apply = shop_apply();

    (void)shop_run_chunked(world);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
}

/* Does a statement read rows of the table: a chunk, not a bound or a count? */
UNUSED static bool is_chunk_read(Str sql)
{
    return str_find(sql, STR("FROM [dbo].[orders] AS t"), 0) >= 0 &&
           str_find(sql, STR("GROUP BY x.b"), 0) < 0 &&
           str_find(sql, STR("ROWS FETCH NEXT 1"), 0) < 0 && str_find(sql, STR("DESC"), 0) < 0;
}

/* A call that dies at the n-th step whose path holds `path`, before or after its effect. */
UNUSED static void backfill_crash_at(World *world, const BackfillOptions *options, const char *path,
                                     uint64_t step, bool after_effect)
{
    Process       *process = process_open(world, "dying");
    BackfillResult result;

    process->plan = (FaultPlan){.fail_at_step         = step,
                                .crash                = true,
                                .after_effect         = after_effect,
                                .only_path_containing = str_from_c(path)};
    assert_false(process_backfill(process, options, &result));
    assert_true(process->plan.has_crashed);
    process_close(process);
}

/* A call as a task of its own, next to others. */
typedef struct BackfillCall {
    Process        *process;
    BackfillOptions options;
    BackfillResult  result;
    Task           *task;
} BackfillCall;

UNUSED static void backfill_call_run(void *arg)
{
    BackfillCall *call = arg;

    (void)process_backfill(call->process, &call->options, &call->result);
}

UNUSED static void backfill_call_start(BackfillCall *call, World *world, const char *name,
                                       const BackfillOptions *options)
{
    *call      = (BackfillCall){.process = process_open(world, name), .options = *options};
    call->task = sched_spawn(world_sched(world), name, backfill_call_run, call);
}

/* It must have succeeded. */
UNUSED static BackfillResult backfill_call_end(BackfillCall *call)
{
    sched_join(world_sched(call->process->world), call->task);
    assert_ok(call->process->ok, &call->process->err);
    process_close(call->process);
    return call->result;
}

/* Once the snapshot is complete: every chunk of the one plan has one facts row and its bounds in the plans, in waves
 * that never go back, the last one is told so, and the completion counts their rows. */
UNUSED static void assert_chunks_recorded(World *world)
{
    assert_rows(world, "1|1|1\n",
                "SELECT count(*) FILTER (event = 'snapshot_open'), count(*) FILTER (event = "
                "'snapshot_plan'), count(*) FILTER (event = 'bootstrap') FROM {" FACTS "}");
    assert_rows(
        world, "true|true|1\n",
        "WITH c AS (SELECT json_extract(detail, '$.chunk')::INT AS chunk, "
        "json_extract(detail, '$.wave')::INT AS wave, json_extract(detail, '$.last')::BOOL "
        "AS last FROM {" FACTS "} WHERE event = 'snapshot_chunk'), p AS (SELECT "
        "json_extract(detail, '$.chunk_count')::INT AS n FROM {" FACTS
        "} WHERE event = 'snapshot_plan') SELECT (SELECT count(*) = max(p.n) AND "
        "count(DISTINCT chunk) = max(p.n) FROM c, p), (SELECT coalesce(bool_and(a.wave <= b.wave), "
        "true) "
        "FROM c AS a, c AS b WHERE a.chunk < b.chunk), (SELECT count(*) FROM c WHERE last)");
    assert_rows(world, "true\n",
                "SELECT (SELECT sum(\"rows\") FROM {" FACTS "} WHERE event = 'snapshot_chunk') = "
                "(SELECT \"rows\" FROM {" FACTS "} WHERE event = 'bootstrap')");
    assert_rows(world, "0\n",
                "SELECT count(*) FROM {" FACTS "} AS f WHERE event = 'snapshot_chunk' AND NOT "
                "EXISTS (SELECT 1 FROM {" PLANS "} AS p WHERE p.event = f.event AND "
                "json_extract(p.detail, '$.chunk') = json_extract(f.detail, '$.chunk') AND "
                "json_extract(p.detail, '$.wave') = json_extract(f.detail, '$.wave'))");
}

/* No row of the snapshot is twice in bronze, and each chunk holds as many as its facts row says. */
UNUSED static void assert_chunk_rows_counted(World *world)
{
    assert_rows(world, "0\n",
                "SELECT count(*) FROM (SELECT id FROM {" BRONZE "} WHERE _operation = 0 GROUP BY "
                "id HAVING count(*) > 1)");
    assert_rows(world, "0\n",
                "SELECT count(*) FROM (SELECT json_extract(detail, '$.chunk')::INT AS c, \"rows\" "
                "AS n FROM {" FACTS "} WHERE event = 'snapshot_chunk') AS f LEFT JOIN (SELECT "
                "_chunk AS c, count(*) AS n FROM {" BRONZE
                "} WHERE _operation = 0 GROUP BY 1) AS b "
                "USING (c) WHERE f.n <> coalesce(b.n, 0)");
}

/* "0 w0 - 2\n1 w0 2 4\n": chunk, wave, bounds, of the facts completed from the plans. */
UNUSED static Str shop_chunks(World *world)
{
    return world_rows(
        world,
        "SELECT json_extract(f.detail, '$.chunk')::INT AS chunk, json_extract(f.detail, "
        "'$.wave')::INT AS wave, json_extract_string(p.detail, '$.lo'), "
        "json_extract_string(p.detail, '$.hi'), f.\"rows\" FROM {" FACTS "} AS f JOIN {" PLANS
        "} AS p ON p.event = f.event AND json_extract(p.detail, '$.chunk') = "
        "json_extract(f.detail, '$.chunk') AND json_extract(p.detail, '$.wave') = "
        "json_extract(f.detail, '$.wave') WHERE f.event = 'snapshot_chunk' ORDER BY 1, 2");
}

#endif
