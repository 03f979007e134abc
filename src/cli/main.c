/* main.c - tidelake: finds the command, reads the configuration, runs it, says how it went. */
#include "cli/command.h"
#include "cli/nearest.h"
#include "cli/version.h"
#include "duck/duck.h"
#include "store/store.h"

#include <stdio.h>

#define DEFAULT_CONFIG "tidelake.yaml"

static int fail(const Err *err, int status)
{
    char text[ERR_TEXT_BYTES];

    err_format(err, text, sizeof text);
    (void)fprintf(stderr, "tidelake: %s\n", text);
    return status;
}

static int print_version(void)
{
    printf("tidelake %s (libduckdb %s, ODBC manager unixODBC)\n", TIDELAKE_VERSION, duck_version());
    return 0;
}

static int unknown_command(Str name)
{
    Nearest        nearest = nearest_to(name);
    size_t         count;
    const Command *commands = command_list(&count);

    for (size_t i = 0; i < count; i++)
        nearest_offer(&nearest, str_from_c(commands[i].name));
    (void)fprintf(stderr, "tidelake: unknown command %.*s", STR_ARG(name));
    if (nearest.best.len) (void)fprintf(stderr, "; did you mean %.*s?", STR_ARG(nearest.best));
    (void)fprintf(stderr, "%s\n`tidelake --help` lists the commands\n",
                  str_starts_with(name, STR("-")) ? ": options stand behind the command" : "");
    return 2;
}

/* The file that was named, else tidelake.yaml when it exists. */
static bool read_config(Invocation *invocation, Err *err)
{
    const Command *command = invocation->command;
    Str            path    = invocation->flags[FLAG_CONFIG];
    Store         *files;
    StoreEntry     entry;
    Err            why = ERR_INIT;
    bool           exists;

    if (!path.ptr) {
        path   = STR(DEFAULT_CONFIG);
        files  = store_local_new(STR_EMPTY);
        exists = store_stat(files, path, &entry, &why);
        store_close(files);
        if (!exists) return true;
    }
    return config_read(path, command->settings, command->setting_count, invocation->arena,
                       &invocation->config, err);
}

static int run_command(const Command *command, int argc, char **argv)
{
    Invocation invocation = {.arena = arena_new(), .command = command, .exit_status = -1};
    Err        err        = ERR_INIT;
    int        status     = 0;

    if (!command_parse(argc, argv, &invocation, &err)) {
        status = fail(&err, err_exit_status(err.code));
    } else if (invocation_has(&invocation, FLAG_HELP)) {
        command_print_help(command);
    } else if (!read_config(&invocation, &err) || !command->run(&invocation, &err)) {
        status = fail(&err, invocation.exit_status > 0 ? invocation.exit_status
                                                       : err_exit_status(err.code));
    }
    arena_close(invocation.arena);
    return status;
}

int main(int argc, char **argv)
{
    Str            name    = argc > 1 ? str_from_c(argv[1]) : STR_EMPTY;
    const Command *command = command_find(name);

    mem_return_large_blocks();
    if (command) return run_command(command, argc - 2, argv + 2);
    if (str_equal_c(name, "help") && argc > 2) {
        command = command_find(str_from_c(argv[2]));
        if (!command) return unknown_command(str_from_c(argv[2]));
        command_print_help(command);
        return 0;
    }
    if (str_equal_c(name, "--version")) return print_version();
    if (str_equal_c(name, "--help") || str_equal_c(name, "-h") || str_equal_c(name, "help")) {
        command_print_overview();
        return 0;
    }
    if (name.len) return unknown_command(name);
    command_print_overview();
    return 2;
}
