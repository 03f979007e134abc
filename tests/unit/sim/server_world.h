/* server_world.h - a server on a socket for one test: what it takes to make it, and its end. */
#ifndef TIDESIM_TEST_SERVER_WORLD_H
#define TIDESIM_TEST_SERVER_WORLD_H

#include "unit/sim/server_client.h"

#include "sim/server/server.h"

typedef struct World {
    Clock       *clock;
    Sched       *sched;
    Rng         *rng;
    SimServer   *server;
    SimListener *listener;
    int          port;
} World;

UNUSED static void open_listener(World *world)
{
    SimListenOptions options = {.address = STR("127.0.0.1:0")};
    Err              err     = ERR_INIT;
    int64_t          port;
    Str              address;

    assert_ok(sim_listener_open(world->server, &options, &world->listener, &err), &err);
    address = sim_listener_address(world->listener);
    assert_true(str_parse_i64(str_slice(address, 10, address.len), &port));
    world->port = (int)port;
}

UNUSED static int open_world(void **state)
{
    World     *world   = mem_alloc(sizeof *world);
    SimOptions options = {
        .seed = 7, .capture_interval_ms = -1, .login = STR("sa"), .password = STR("Tide.Sim.1")};
    SimError error = SIM_ERROR_INIT;

    options.clock = world->clock = clock_new_real();
    options.sched = world->sched = sched_new_real();
    options.rng = world->rng = rng_new(7);
    if (!sim_server_open(&options, &world->server, &error)) fail_msg("%s", error.message);
    if (!sim_create_database(world->server, STR("shop"), &error)) fail_msg("%s", error.message);
    open_listener(world);
    *state = world;
    return 0;
}

UNUSED static int close_world(void **state)
{
    World *world = *state;

    sim_listener_close(world->listener);
    sim_server_close(world->server);
    rng_close(world->rng);
    sched_close(world->sched);
    clock_close(world->clock);
    mem_free(world);
    return 0;
}

UNUSED static int64_t now_ms(const World *world)
{
    return clock_monotonic_ns(world->clock) / 1000000;
}

UNUSED static Client *connected(const World *world)
{
    Client *client = client_connect(world->port);

    assert_non_null(client);
    return client;
}

/* Somebody new can still log in and ask. */
UNUSED static void assert_server_is_well(const World *world)
{
    Client *client = connected(world);

    assert_int_equal(client_number(client, "SELECT 42"), 42);
    client_close(client);
}

/* Sessions besides the one that asks. */
UNUSED static int64_t others(Client *client)
{
    return client_number(client, "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE "
                                 "is_user_process = 1 AND session_id <> @@SPID");
}

UNUSED static bool others_go_away(const World *world, Client *client)
{
    int64_t until = now_ms(world) + 5000;

    while (now_ms(world) < until) {
        if (others(client) == 0) return true;
        clock_sleep_ms(world->clock, 10, NULL);
    }
    return false;
}

#endif
