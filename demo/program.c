/* program.c - options and the connection of the demo's small programs. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Str program_option(int argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return str_from_c(argv[i + 1]);
    if (fallback) return str_from_c(fallback);
    (void)fprintf(stderr, "%s: option %s is missing\n", argv[0], name);
    exit(2);
}

int64_t program_number(int argc, char **argv, const char *name, const char *fallback)
{
    Str     text = program_option(argc, argv, name, fallback);
    int64_t number;

    if (str_parse_i64(text, &number)) return number;
    (void)fprintf(stderr, "%s: %s is \"%.*s\", not a whole number\n", argv[0], name, STR_ARG(text));
    exit(2);
}

bool program_open(Program *program, const char *name, Str connection, Err *err)
{
    *program         = (Program){.arena = arena_new(), .name = name};
    program->cancel  = cancel_new();
    program->signals = signal_watch_new(program->cancel, 0);
    program->clock   = clock_new_real();
    program->log     = log_new_stderr(program->clock, LOG_WARN, LOG_FORMAT_TEXT);
    return sqldriver_odbc_open(program->log, program->cancel, STR("/tmp"), &program->driver, err) &&
           sqldriver_connect(program->driver, connection, 30, &program->conn, err);
}

void program_close(Program *program)
{
    sqlconn_close(program->conn);
    sqldriver_close(program->driver);
    log_close(program->log);
    clock_close(program->clock);
    signal_watch_close(program->signals);
    cancel_close(program->cancel);
    arena_close(program->arena);
}

int program_fail(const Program *program, const Err *err)
{
    char text[1800];

    err_format(err, text, sizeof text);
    (void)fprintf(stderr, "%s: %s\n", program->name, text);
    return 1;
}
