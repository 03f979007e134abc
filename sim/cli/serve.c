/* serve.c - tidesim serve: a server on a socket, until a signal comes. */
#include "sim/capture/load.h"
#include "sim/cli/run.h"
#include "sim/cli/tls.h"
#include "sim/server/server.h"

#include <stdio.h>

static bool run_init(CliWorld *world, CliOptions *options, Err *err)
{
    Printer  *printer = printer_new(stderr, stderr, PRINTER_QUIET);
    CliTarget target  = {.cancel = world->cancel};
    bool      ok      = cli_world_open_session(world, options, &target.session, err);

    for (size_t i = 0; ok && i < options->init.count; i++) {
        Script script;
        ok = script_read(options->init.items[i], options->arena, &script, err) &&
             cli_run_script(&target, &script, printer, false, err);
    }
    sim_session_close(target.session);
    printer_close(printer);
    return ok;
}

static bool load_folder(CliWorld *world, const CliOptions *options, Err *err)
{
    SimError error = SIM_ERROR_INIT;

    if (options->load.len == 0 ||
        sim_load_folder(sim_server_find_database(world->server, options->database), options->load,
                        &error))
        return true;
    (void)err_set(err, ERR_FAILED, "--load: %s", error.message);
    err->native = error.number;
    return false;
}

static bool announce(const SimListener *listener, Err *err)
{
    Str address = sim_listener_address(listener);

    printf("tidesim ready %.*s\n", STR_ARG(address));
    return fflush(stdout) == 0 || err_set(err, ERR_FAILED, "the standard output cannot be written");
}

static void wait_for_a_signal(CliWorld *world)
{
    while (!cancel_is_requested(world->cancel))
        clock_sleep_ms(world->clock, INT64_C(3600000), world->cancel);
}

int cli_serve(CliOptions *options)
{
    CliWorld         world;
    CliTls           tls;
    SimListener     *listener = NULL;
    SimListenOptions listen   = {.address             = options->listen,
                                 .requires_encryption = options->requires_encryption};
    Err              err      = ERR_INIT;
    int              status;

    cli_world_open(&world, options);
    listen.log = world.log;
    if (!options->has_seed)
        (void)fprintf(stderr, "tidesim: --seed %llu\n", (unsigned long long)world.seed);
    if (cli_tls_open(&tls, options, &err)) listen.tls = tls.tls;
    if (err.code == ERR_NONE && cli_world_open_server(&world, options, &err) &&
        load_folder(&world, options, &err) &&
        (options->init.count == 0 || run_init(&world, options, &err)) &&
        sim_listener_open(world.server, &listen, &listener, &err) && announce(listener, &err))
        wait_for_a_signal(&world);
    status = cli_world_status(&world, &err);
    sim_listener_close(listener);
    cli_tls_close(&tls);
    cli_world_close(&world);
    return status;
}
