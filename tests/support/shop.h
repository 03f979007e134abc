/* shop.h - the table most simulated tests work on. Include test_support.h first. */
#ifndef TIDELAKE_SUPPORT_SHOP_H
#define TIDELAKE_SUPPORT_SHOP_H

#include "support/world.h"

#define SHOP_COLUMNS "id int NOT NULL PRIMARY KEY, note varchar(20) NULL"

/* dbo.orders with CDC on it, empty. */
UNUSED static World *shop_open(void **state, uint64_t seed)
{
    World *world = world_open(state, seed);

    world_create(world, "orders", SHOP_COLUMNS);
    return world;
}

UNUSED static Lsn shop_insert(World *world, int id)
{
    return world_commit(world, "INSERT INTO dbo.orders VALUES (%d, 'n%d')", id, id);
}

/* A stream that starts right after `start`. */
UNUSED static StreamOptions shop_stream_from(Lsn start)
{
    StreamOptions options = world_stream_options();

    options.starting       = START_LSN;
    options.starting_given = true;
    options.starting_lsn   = start;
    return options;
}

UNUSED static StreamOptions shop_bootstrap(void)
{
    StreamOptions options = world_stream_options();

    options.bootstrap = true;
    return options;
}

UNUSED static ApplyOptions shop_apply(void)
{
    static const Str keys[] = {{"id", 2}};

    return world_apply_options(keys, 1);
}

/* Ids of changes in bronze, in the order of the log. */
UNUSED static Str shop_bronze_ids(World *world)
{
    return world_rows(world,
                      "SELECT coalesce(string_agg(id::VARCHAR, ' ' ORDER BY _start_lsn, "
                      "_command_id, _operation), '') FROM {" BRONZE "} WHERE _operation <> 0");
}

/* A run that dies at the first step whose path holds `path`, before or after its effect. */
UNUSED static void shop_crash_at(World *world, const StreamOptions *options, const char *path,
                                 bool after_effect)
{
    Process *process = process_open(world, "dying");

    process->plan = (FaultPlan){.fail_at_step         = 1,
                                .crash                = true,
                                .after_effect         = after_effect,
                                .only_path_containing = str_from_c(path)};
    assert_false(process_stream(process, options));
    assert_true(process->plan.has_crashed);
    process_close(process);
}

#define assert_bronze_ids(world, want) \
    test_assert_str(shop_bronze_ids(world), want "\n", __FILE__, __LINE__)

#endif
