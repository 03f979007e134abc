/* command.h - the commands as data: their names, the options they take, what runs them (cli.md). */
#ifndef TIDELAKE_CLI_COMMAND_H
#define TIDELAKE_CLI_COMMAND_H

#include "base/list.h"
#include "base/log.h"
#include "cli/config.h"

/* Options that are no settings of the file. */
typedef enum FlagId {
    FLAG_HELP,
    FLAG_CONFIG,
    FLAG_JSON,
    FLAG_LOG_LEVEL,
    FLAG_LOG_FORMAT,
    FLAG_NO_PROGRESS,
    FLAG_MAX_BATCHES,
    FLAG_VERSION,
    FLAG_AS_OF,
    FLAG_TARGET_SIZE,
    FLAG_SORT,
    FLAG_RETENTION,
    FLAG_DRY_RUN,
    FLAG_ALLOW_SHORT_RETENTION,
    FLAG_MAX_WAVES,
    FLAG_MAX_SECONDS,
    FLAG_REQUIRE_DONE,
    FLAG_UNTIL,
    FLAG_RESNAPSHOT,
    FLAG_FROM,
    FLAG_AS_OF_COMMIT,
    FLAG_ALLOW_MISSING_COLUMNS,
    FLAG_RESEED,
    FLAG_COUNT
} FlagId;

typedef struct FlagSpec {
    FlagId      id;
    const char *name;  /* "--json" */
    const char *value; /* NULL: takes none; else its name in the help */
    const char *help;
} FlagSpec;

typedef struct Invocation Invocation;
typedef struct Command {
    const char      *name;
    const char      *synopsis; /* what follows the name */
    const char      *help;     /* one line */
    const char      *more;     /* examples; a paragraph */
    const SettingId *settings; /* accepted as options */
    size_t           setting_count;
    const FlagId    *flags; /* besides those every command has */
    size_t           flag_count;
    bool (*run)(Invocation *invocation, Err *err);
} Command;

/* A command line, parsed. */
struct Invocation {
    Arena         *arena;
    const Command *command;
    Settings       options;           /* as given on the command line */
    Str            flags[FLAG_COUNT]; /* ptr NULL: not given */
    LIST(Str) arguments;
    Config    config;
    LogLevel  log_level;
    LogFormat log_format;
    bool      json;
    int       exit_status; /* set by the command when a signal decides it; else by the error */
};

const Command *command_find(Str name);
const Command *command_list(size_t *count_out);

/* Parses the words after the command's name, then the configuration file. ERR_USAGE, ERR_CONFIG. */
bool command_parse(int argc, char **argv, Invocation *invocation, Err *err) MUST_CHECK;
/* Help texts, on stdout. */
void        command_print_help(const Command *command);
void        command_print_overview(void);
const char *command_flag_name(FlagId flag); /* "--json" */
bool        invocation_has(const Invocation *invocation, FlagId flag);

bool cmd_stream(Invocation *invocation, Err *err);
bool cmd_snapshot(Invocation *invocation, Err *err);
bool cmd_seed(Invocation *invocation, Err *err);
bool cmd_backfill(Invocation *invocation, Err *err);
bool cmd_apply(Invocation *invocation, Err *err);
bool cmd_verdict(Invocation *invocation, Err *err);
bool cmd_table(Invocation *invocation, Err *err);

#endif
