/* backfill.h - chunked snapshots of the shop's table on simulated time. Include test_support.h first. */
#ifndef TIDELAKE_SUPPORT_BACKFILL_H
#define TIDELAKE_SUPPORT_BACKFILL_H

#include "engine/backfill.h"
#include "support/shop.h"

#define PLANS BRONZE "_snapshot_plans"

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
