/* exec.c - tidesim exec: scripts on a server, or in memory. */
#include "sim/cli/run.h"

#include <stdio.h>

static bool open_target(CliWorld *world, CliOptions *options, CliTarget *target, Err *err)
{
    target->cancel = world->cancel;
    if (options->server.ptr)
        return sql_client_open(options->server, options->login, options->password,
                               options->database, &target->client, err);
    return cli_world_open_server(world, options, err) &&
           cli_world_open_session(world, options, &target->session, err);
}

static bool run_files(const CliTarget *target, const CliOptions *options, Printer *printer,
                      Err *err)
{
    bool ok = true;

    for (size_t i = 0; i < options->files.count && (ok || options->keeps_going); i++) {
        Err    failure = ERR_INIT;
        Script script;
        if (script_read(options->files.items[i], options->arena, &script, &failure) &&
            cli_run_script(target, &script, printer, options->keeps_going, &failure))
            continue;
        if (ok)
            (void)err_copy(err, &failure);
        else
            cli_print_error(&failure); /* of a file after the first that failed */
        ok = false;
        if (cancel_is_requested(target->cancel)) break;
    }
    return ok;
}

int cli_exec(CliOptions *options)
{
    CliWorld  world;
    CliTarget target  = {0};
    Printer  *printer = printer_new(stdout, stderr, options->json ? PRINTER_JSON : PRINTER_TEXT);
    Err       err     = ERR_INIT;
    int       status;

    cli_world_open(&world, options);
    if (open_target(&world, options, &target, &err) && run_files(&target, options, printer, &err) &&
        fflush(stdout) != 0)
        (void)err_set(&err, ERR_FAILED, "the standard output cannot be written");
    printer_finish_json(printer, err.code != ERR_NONE);
    printer_close(printer);
    sim_session_close(target.session);
    sql_client_close(target.client);
    status = cli_world_status(&world, &err);
    cli_world_close(&world);
    return status;
}
