/* options.h - the command lines of tidesim (cli.md): the options as data, so that parsing and help cannot
 * drift apart. */
#ifndef TIDESIM_CLI_OPTIONS_H
#define TIDESIM_CLI_OPTIONS_H

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "sim/model/knob.h"

typedef enum CliCommand { CLI_SERVE = 1, CLI_EXEC = 2 } CliCommand;

typedef struct CliKnob {
    SimKnob knob;
    int64_t value;
} CliKnob;

typedef struct CliOptions {
    Arena     *arena;
    CliCommand command;
    bool       wants_help;
    LIST(Str) files; /* of exec */
    LIST(Str) init;  /* of serve */
    Str      load;   /* of serve; empty: none */
    Str      listen;
    Str      tls_certificate, tls_key; /* files; ptr NULL: a certificate that signs itself */
    Str      server;                   /* exec: ptr NULL without one */
    Str      database;                 /* ptr NULL: none */
    Str      login, password;
    int64_t  capture_interval_ms; /* -1: manual */
    int64_t  idle_entry_ms;
    int64_t  retention_minutes;
    Str      time_zone;
    int      server_version;
    uint64_t seed;
    bool     has_seed;
    bool     has_virtual_clock;
    int64_t  latency_ms, jitter_ms;
    int64_t  bandwidth;
    Str      trace; /* ptr NULL: none */
    LIST(CliKnob) knobs;
    bool      json;
    bool      keeps_going;
    bool      has_tls; /* offers it */
    bool      requires_encryption;
    LogLevel  log_level;
    LogFormat log_format;
} CliOptions;

/* The words behind the command's name. ERR_USAGE. */
bool cli_options_parse(CliCommand command, int argc, char **argv, Arena *arena, CliOptions *out,
                       Err *err) MUST_CHECK;
/* On stdout. */
void cli_print_help(CliCommand command);
void cli_print_overview(void);

/* "did you mean": starts with the word that was given, is offered others, and keeps the most similar one in
 * `best` (empty when none is similar). */
typedef struct CliNearest {
    Str    wanted;
    Str    best;
    size_t distance;
} CliNearest;
CliNearest cli_nearest(Str wanted);
void       cli_nearest_offer(CliNearest *nearest, Str candidate);

const char *cli_version(void); /* "0.1.0" */

/* The commands. Their exit statuses. */
int cli_serve(CliOptions *options);
int cli_exec(CliOptions *options);

#endif
