/* main.c - tidesim: finds the command, runs it, says how it went. */
#include "sim/cli/options.h"

#include <stdio.h>

static int fail(const char *text)
{
    (void)fprintf(stderr, "tidesim: %s\n", text);
    return 2;
}

static int run(CliCommand command, int argc, char **argv)
{
    Arena     *arena = arena_new();
    CliOptions options;
    Err        err = ERR_INIT;
    int        status;

    if (!cli_options_parse(command, argc, argv, arena, &options, &err)) {
        status = fail(err.message);
    } else if (options.wants_help) {
        cli_print_help(command);
        status = 0;
    } else {
        status = command == CLI_SERVE ? cli_serve(&options) : cli_exec(&options);
    }
    arena_close(arena);
    return status;
}

static int unknown_command(Str name)
{
    CliNearest nearest = cli_nearest(name);
    char       text[300];

    cli_nearest_offer(&nearest, STR("serve"));
    cli_nearest_offer(&nearest, STR("exec"));
    if (nearest.best.len)
        (void)snprintf(text, sizeof text, "unknown command %.*s; did you mean %.*s?", STR_ARG(name),
                       STR_ARG(nearest.best));
    else
        (void)snprintf(text, sizeof text, "unknown command %.*s; `tidesim --help` lists them",
                       STR_ARG(name));
    return fail(text);
}

int main(int argc, char **argv)
{
    Str name = argc > 1 ? str_from_c(argv[1]) : STR_EMPTY;

    if (str_equal_c(name, "serve")) return run(CLI_SERVE, argc - 2, argv + 2);
    if (str_equal_c(name, "exec")) return run(CLI_EXEC, argc - 2, argv + 2);
    if (str_equal_c(name, "--version")) {
        printf("tidesim %s\n", cli_version());
        return 0;
    }
    if (str_equal_c(name, "--help") || str_equal_c(name, "-h") || str_equal_c(name, "help")) {
        cli_print_overview();
        return 0;
    }
    if (name.len) return unknown_command(name);
    cli_print_overview();
    return 2;
}
