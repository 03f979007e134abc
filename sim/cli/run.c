/* run.c - worlds and scripts. */
#include "sim/cli/run.h"

#include <stdio.h>

/* --- the world --- */

void cli_world_open(CliWorld *world, const CliOptions *options)
{
    Rng *entropy;

    *world         = (CliWorld){.seed = options->seed};
    world->cancel  = cancel_new();
    world->signals = signal_watch_new(world->cancel, 0);
    world->clock   = clock_new_real();
    world->sched   = sched_new_real();
    world->log     = log_new_stderr(world->clock, options->log_level, options->log_format);
    if (!options->has_seed) {
        entropy     = rng_new_from_entropy();
        world->seed = rng_u64(entropy) >> 32; /* short enough to be typed again */
        rng_close(entropy);
    }
    world->rng = rng_new(world->seed);
}

void cli_world_close(CliWorld *world)
{
    sim_server_close(world->server);
    rng_close(world->rng);
    log_close(world->log);
    sched_close(world->sched);
    clock_close(world->clock);
    signal_watch_close(world->signals);
    cancel_close(world->cancel);
}

void cli_print_error(const Err *err)
{
    char text[1800];

    err_format(err, text, sizeof text);
    (void)fprintf(stderr, "tidesim: %s\n", text);
}

int cli_world_status(const CliWorld *world, const Err *err)
{
    int signal = signal_watch_get(world->signals);

    if (signal) return 128 + signal;
    if (err->code == ERR_NONE) return 0;
    cli_print_error(err);
    return err_exit_status(err->code);
}

static bool failed(const SimError *error, const char *what, Err *err)
{
    (void)err_set(err, ERR_FAILED, "%s: %s", what, error->message);
    err->native = error->number;
    return false;
}

static bool set_controls(CliWorld *world, const CliOptions *options, SimError *error)
{
    SimLink link = {.rtt_ms      = options->latency_ms,
                    .jitter_ms   = options->jitter_ms,
                    .bytes_per_s = options->bandwidth};

    sim_control_link(world->server, STR("all"), &link);
    for (size_t i = 0; i < options->knobs.count; i++)
        sim_server_set_knob(world->server, options->knobs.items[i].knob,
                            options->knobs.items[i].value);
    sim_control_remember_start(world->server);
    if (options->has_virtual_clock)
        sim_control_clock_stop(world->server, clock_utc_us(world->clock));
    return !options->trace.ptr || sim_control_trace(world->server, options->trace, error);
}

bool cli_world_open_server(CliWorld *world, const CliOptions *options, Err *err)
{
    SimOptions server = {.clock               = world->clock,
                         .sched               = world->sched,
                         .rng                 = world->rng,
                         .seed                = world->seed,
                         .one_at_a_time       = options->has_virtual_clock,
                         .log                 = world->log,
                         .server_version      = options->server_version,
                         .time_zone           = options->time_zone,
                         .capture_interval_ms = options->capture_interval_ms,
                         .idle_entry_ms       = options->idle_entry_ms,
                         .retention_minutes   = options->retention_minutes,
                         .login               = options->login,
                         .password            = options->password};
    SimError   error  = SIM_ERROR_INIT;

    if (!sim_server_open(&server, &world->server, &error))
        return failed(&error, "the server cannot be opened", err);
    if (!set_controls(world, options, &error)) return failed(&error, "--trace", err);
    if (options->database.len > 0 && !sim_server_find_database(world->server, options->database) &&
        !sim_create_database(world->server, options->database, &error))
        return failed(&error, "--database", err);
    return true;
}

bool cli_world_open_session(CliWorld *world, const CliOptions *options, SimSession **out, Err *err)
{
    SimLoginRequest login = {.user     = options->login,
                             .password = options->password,
                             .database = options->database,
                             .app_name = STR("tidesim"),
                             .odbc     = true};
    SimError        error = SIM_ERROR_INIT;

    return sim_session_open(world->server, &login, out, &error) || failed(&error, "--login", err);
}

/* --- scripts --- */

static void stop_session(void *arg)
{
    sim_session_attention(arg);
}

/* The batch's own errors are the printer's; here: the connection is of no use any more. */
static bool run_batch(const CliTarget *target, Str text, Printer *printer, Err *err)
{
    SimSink *sink = printer_sink(printer);
    int      handle;
    bool     ok;

    handle = target->client ? cancel_register(target->cancel, sql_client_break, target->client)
                            : cancel_register(target->cancel, stop_session, target->session);
    if (target->client)
        ok = sql_client_batch(target->client, text, sink, err);
    else
        ok = sim_session_batch(target->session, text, sink) ||
             err_set(err, ERR_FAILED, "the session ended");
    cancel_unregister(target->cancel, handle);
    return ok;
}

static bool batch_failed(const Script *script, const ScriptBatch *batch, const SimError *error,
                         Err *err)
{
    (void)err_set(err, ERR_FAILED, "%s", error->message);
    err->native = error->number;
    return err_context(err, "%.*s:%d", STR_ARG(script->name),
                       batch->first_line + MAX(error->line, 1) - 1);
}

/* One batch, as often as its GO says. `*is_lost_out`: nothing more can run. */
static bool run_repeated(const CliTarget *target, const Script *script, const ScriptBatch *batch,
                         Printer *printer, bool *is_lost_out, Err *err)
{
    for (int64_t turn = 0; turn < batch->repeat; turn++) {
        Err  lost = ERR_INIT;
        bool ran;

        printer_begin_batch(printer, script->name, batch->first_line);
        ran = run_batch(target, batch->text, printer, &lost);
        printer_end_batch(printer);
        *is_lost_out = !ran || !cancel_check(target->cancel, &lost);
        if (printer_error(printer)->number)
            return batch_failed(script, batch, printer_error(printer), err);
        if (*is_lost_out) {
            (void)err_copy(err, &lost);
            return err_context(err, "%.*s:%d", STR_ARG(script->name), batch->first_line);
        }
    }
    return true;
}

bool cli_run_script(const CliTarget *target, const Script *script, Printer *printer,
                    bool keeps_going, Err *err)
{
    size_t failed = 0;

    for (size_t i = 0; i < script->batches.count; i++) {
        Err  failure = ERR_INIT;
        bool is_lost = false;

        if (run_repeated(target, script, &script->batches.items[i], printer, &is_lost, &failure))
            continue;
        if (is_lost || !keeps_going) return err_copy(err, &failure);
        cli_print_error(&failure); /* at once, beside its messages */
        failed++;
    }
    return failed == 0 || err_set(err, ERR_FAILED, "%.*s: %zu of %zu batches failed",
                                  STR_ARG(script->name), failed, script->batches.count);
}
