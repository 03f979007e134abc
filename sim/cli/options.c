/* options.c - the tables of options, and the parser of a command line. */
#include "sim/cli/options.h"

#include "sim/value/time_zone.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_LISTEN "127.0.0.1:14330"
#define DEFAULT_LOGIN  "sa:Tide.Sim.1"

typedef enum OptionId {
    OPTION_HELP,
    OPTION_LISTEN,
    OPTION_SERVER,
    OPTION_DATABASE,
    OPTION_LOGIN,
    OPTION_INIT,
    OPTION_LOAD,
    OPTION_TLS,
    OPTION_REQUIRE_ENCRYPTION,
    OPTION_CAPTURE_INTERVAL,
    OPTION_IDLE_ENTRY,
    OPTION_RETENTION,
    OPTION_TIME_ZONE,
    OPTION_SERVER_VERSION,
    OPTION_SEED,
    OPTION_CLOCK,
    OPTION_KNOB,
    OPTION_TRACE,
    OPTION_LATENCY,
    OPTION_JITTER,
    OPTION_BANDWIDTH,
    OPTION_KEEP_GOING,
    OPTION_JSON,
    OPTION_LOG_LEVEL,
    OPTION_LOG_FORMAT,
    OPTION_COUNT
} OptionId;

typedef struct OptionSpec {
    const char *name;
    const char *value; /* its name in the help; NULL: it takes none */
    unsigned    commands;
    const char *help;
} OptionSpec;

/* clang-format off */
#define BOTH (CLI_SERVE | CLI_EXEC)
static const OptionSpec specs[OPTION_COUNT] = {
    [OPTION_HELP]      = {"--help", NULL, BOTH, "show this help (also -h)"},
    [OPTION_LISTEN]    = {"--listen", "HOST:PORT", CLI_SERVE, "where clients connect; port 0 picks a free one (default " DEFAULT_LISTEN ")"},
    [OPTION_SERVER]    = {"--server", "HOST:PORT", CLI_EXEC, "run on this server (default: on a fresh one in memory, gone afterwards)"},
    [OPTION_DATABASE]  = {"--database", "NAME", BOTH, "create this database; with --server, use it"},
    [OPTION_LOGIN]     = {"--login", "USER:PASSWORD", BOTH, "the sysadmin's login, or with --server the one to use (default " DEFAULT_LOGIN ")"},
    [OPTION_INIT]      = {"--init", "FILE.sql", CLI_SERVE, "run this script before clients may connect; may be given again"},
    [OPTION_LOAD]      = {"--load", "DIR", CLI_SERVE, "fill the database of --database from this folder, before any --init"},
    [OPTION_TLS]       = {"--tls", "CERT,KEY", CLI_SERVE, "PEM files to encrypt with, or `self-signed`, or `none`: clients cannot encrypt (default self-signed)"},
    [OPTION_REQUIRE_ENCRYPTION] = {"--require-encryption", NULL, CLI_SERVE, "turn away clients that do not encrypt everything (default: as the client likes)"},
    [OPTION_CAPTURE_INTERVAL] = {"--capture-interval", "DURATION", BOTH, "how often CDC reads the log, or `manual`: only when told (default 5s; exec: manual)"},
    [OPTION_IDLE_ENTRY] = {"--idle-entry", "DURATION", BOTH, "after so long without a captured commit CDC notes the time (default 305s)"},
    [OPTION_RETENTION] = {"--retention", "DURATION", BOTH, "how long changes are kept, whole minutes (default 4320m)"},
    [OPTION_TIME_ZONE] = {"--time-zone", "NAME", BOTH, "the server's zone, by its Windows name (default UTC)"},
    [OPTION_SERVER_VERSION] = {"--server-version", "YEAR", BOTH, "2016, 2017, 2019, 2022 or 2025 (default 2022)"},
    [OPTION_SEED]      = {"--seed", "N", BOTH, "of all that is random: LSN steps, NEWID, ... (default: random, printed by serve)"},
    [OPTION_CLOCK]     = {"--clock", "CLOCK", BOTH, "real, or virtual: it moves only when told (default real)"},
    [OPTION_KNOB]      = {"--knob", "NAME=VALUE", BOTH, "a point on which SQL Servers differ; may be given again"},
    [OPTION_TRACE]     = {"--trace", "FILE", BOTH, "write every request and what came of it to this file"},
    [OPTION_LATENCY]   = {"--latency", "DURATION", CLI_SERVE, "wait so long before each response (default 0ms)"},
    [OPTION_JITTER]    = {"--jitter", "DURATION", CLI_SERVE, "and up to so much longer, by chance (default 0ms)"},
    [OPTION_BANDWIDTH] = {"--bandwidth", "N", CLI_SERVE, "bytes a second per connection, like a slow link; 0: no limit (default 0)"},
    [OPTION_KEEP_GOING] = {"--keep-going", NULL, CLI_EXEC, "go on with the next batch after an error (default: stop)"},
    [OPTION_JSON]      = {"--json", NULL, CLI_EXEC, "print results and messages as one JSON object, on the last line of stdout"},
    [OPTION_LOG_LEVEL] = {"--log-level", "LEVEL", BOTH, "error, warn, info, debug or trace (default info; exec: warn)"},
    [OPTION_LOG_FORMAT] = {"--log-format", "FORMAT", BOTH, "text or json (default text)"},
};
/* clang-format on */

/* --- did you mean --- */

#define LONGEST 64

static size_t edit_distance(Str left, Str right)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= right.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= left.len; i++) {
        size_t diagonal = row[0];
        row[0]          = i;
        for (size_t j = 1; j <= right.len; j++) {
            size_t above = row[j];
            size_t best  = diagonal + (left.ptr[i - 1] == right.ptr[j - 1] ? 0 : 1);
            row[j]       = MIN(MIN(best, above + 1), row[j - 1] + 1);
            diagonal     = above;
        }
    }
    return row[right.len];
}

CliNearest cli_nearest(Str wanted)
{
    return (CliNearest){.wanted = wanted, .best = STR_EMPTY, .distance = wanted.len / 2 + 2};
}

void cli_nearest_offer(CliNearest *nearest, Str candidate)
{
    size_t distance;

    if (nearest->wanted.len > LONGEST || candidate.len > LONGEST) return;
    distance = nearest->wanted.len > 0 && str_starts_with(candidate, nearest->wanted)
                   ? 1
                   : edit_distance(nearest->wanted, candidate);
    if (distance >= nearest->distance) return;
    nearest->distance = distance;
    nearest->best     = candidate;
}

/* --- values --- */

typedef struct Unit {
    const char *name;
    int64_t     ms;
} Unit;

static bool parse_duration_ms(Str text, int64_t *out)
{
    static const Unit units[] = {{"ms", 1},      {"s", 1000},    {"m", 60000},
                                 {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
    size_t            digits  = 0;
    int64_t           number;

    while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
        digits++;
    if (!str_parse_i64(str_slice(text, 0, digits), &number)) return false;
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (str_equal_c(str_slice(text, digits, text.len), units[i].name) &&
            number <= INT64_MAX / units[i].ms) {
            *out = number * units[i].ms;
            return true;
        }
    return false;
}

static bool bad_value(OptionId id, Str value, const char *allowed, Err *err)
{
    return err_set(err, ERR_USAGE, "%s is \"%.*s\"; allowed: %s", specs[id].name, STR_ARG(value),
                   allowed);
}

static bool set_duration(OptionId id, Str value, int64_t least_ms, int64_t *out, Err *err)
{
    return (parse_duration_ms(value, out) && *out >= least_ms) ||
           bad_value(id, value, "a number with its unit: ms, s, m, h or d, for example 5s", err);
}

static bool set_login(CliOptions *options, Str value, Err *err)
{
    ptrdiff_t colon = str_find_char(value, ':', 0);

    if (colon <= 0) return err_set(err, ERR_USAGE, "--login has no colon; allowed: USER:PASSWORD");
    options->login    = str_slice(value, 0, (size_t)colon);
    options->password = str_slice(value, (size_t)colon + 1, value.len);
    return true;
}

static bool set_address(OptionId id, Str value, Str *out, Err *err)
{
    ptrdiff_t colon = str_find_last_char(value, ':');
    uint64_t  port;

    *out = value;
    return (colon > 0 && str_parse_u64(str_slice(value, (size_t)colon + 1, value.len), &port) &&
            port <= 65535) ||
           bad_value(id, value, "HOST:PORT, for example 127.0.0.1:14330", err);
}

static bool set_retention(CliOptions *options, Str value, Err *err)
{
    int64_t ms = 0;

    if (!set_duration(OPTION_RETENTION, value, 60000, &ms, err)) return false;
    options->retention_minutes = ms / 60000;
    return ms % 60000 == 0 || bad_value(OPTION_RETENTION, value, "whole minutes", err);
}

static bool set_zone(CliOptions *options, Str value, Err *err)
{
    CliNearest     nearest = cli_nearest(value);
    const SimZone *zone;
    size_t         at = 0;

    options->time_zone = value;
    if (sim_zone_find(value)) return true;
    while (sim_zone_next(&at, &zone))
        cli_nearest_offer(&nearest, sim_zone_name(zone));
    if (!nearest.best.len)
        return bad_value(OPTION_TIME_ZONE, value, "a Windows zone name, for example \"UTC\"", err);
    return err_set(err, ERR_USAGE,
                   "--time-zone is \"%.*s\", which no zone is; did you mean \"%.*s\"?",
                   STR_ARG(value), STR_ARG(nearest.best));
}

static bool set_version(CliOptions *options, Str value, Err *err)
{
    int64_t year = 0;

    if (!str_parse_i64(value, &year) ||
        (year != 2016 && year != 2017 && year != 2019 && year != 2022 && year != 2025))
        return bad_value(OPTION_SERVER_VERSION, value, "2016, 2017, 2019, 2022, 2025", err);
    options->server_version = (int)year;
    return true;
}

static bool set_clock(CliOptions *options, Str value, Err *err)
{
    options->has_virtual_clock = str_equal_c(value, "virtual");
    return options->has_virtual_clock || str_equal_c(value, "real") ||
           bad_value(OPTION_CLOCK, value, "real, virtual", err);
}

static bool set_log_format(CliOptions *options, Str value, Err *err)
{
    options->log_format = str_equal_c(value, "json") ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT;
    return str_equal_c(value, "json") || str_equal_c(value, "text") ||
           bad_value(OPTION_LOG_FORMAT, value, "text, json", err);
}

static bool set_tls(CliOptions *options, Str value, Err *err)
{
    ptrdiff_t comma     = str_find_char(value, ',', 0);
    bool      has_files = comma > 0 && (size_t)comma + 1 < value.len;

    options->has_tls         = !str_equal_c(value, "none");
    options->tls_certificate = has_files ? str_slice(value, 0, (size_t)comma) : (Str){NULL, 0};
    options->tls_key = has_files ? str_slice(value, (size_t)comma + 1, value.len) : (Str){NULL, 0};
    return has_files || !options->has_tls || str_equal_c(value, "self-signed") ||
           bad_value(OPTION_TLS, value, "CERT,KEY (two PEM files), self-signed, none", err);
}

static bool set_knob(CliOptions *options, Str value, Err *err)
{
    ptrdiff_t  equals  = str_find_char(value, '=', 0);
    Str        name    = equals > 0 ? str_slice(value, 0, (size_t)equals) : value;
    CliNearest nearest = cli_nearest(name);
    CliKnob    knob;

    if (!sim_knob_find(name, &knob.knob)) {
        for (int i = 0; i < SIM_KNOB_COUNT; i++)
            cli_nearest_offer(&nearest, str_from_c(sim_knob_spec((SimKnob)i)->name));
        return err_set(
            err, ERR_USAGE, "--knob is \"%.*s\", which no knob is; did you mean \"%.*s\"?",
            STR_ARG(name),
            STR_ARG(nearest.best.len ? nearest.best : str_from_c(sim_knob_spec((SimKnob)0)->name)));
    }
    if (equals <= 0 ||
        !sim_knob_parse(knob.knob, str_slice(value, (size_t)equals + 1, value.len), &knob.value))
        return bad_value(OPTION_KNOB, value, sim_knob_spec(knob.knob)->values, err);
    *LIST_PUSH(options->arena, &options->knobs) = knob;
    return true;
}

static bool set_option(CliOptions *options, OptionId id, Str value, Err *err)
{
    switch (id) {
    case OPTION_HELP: options->wants_help = true; return true;
    case OPTION_LISTEN: return set_address(id, value, &options->listen, err);
    case OPTION_SERVER: return set_address(id, value, &options->server, err);
    case OPTION_DATABASE: options->database = value; return true;
    case OPTION_LOGIN: return set_login(options, value, err);
    case OPTION_INIT: *LIST_PUSH(options->arena, &options->init) = value; return true;
    case OPTION_LOAD: options->load = value; return true;
    case OPTION_TLS: return set_tls(options, value, err);
    case OPTION_REQUIRE_ENCRYPTION: options->requires_encryption = true; return true;
    case OPTION_CAPTURE_INTERVAL:
        options->capture_interval_ms = -1;
        return str_equal_c(value, "manual") ||
               set_duration(id, value, 1, &options->capture_interval_ms, err);
    case OPTION_IDLE_ENTRY: return set_duration(id, value, 1, &options->idle_entry_ms, err);
    case OPTION_RETENTION: return set_retention(options, value, err);
    case OPTION_TIME_ZONE: return set_zone(options, value, err);
    case OPTION_SERVER_VERSION: return set_version(options, value, err);
    case OPTION_SEED:
        options->has_seed = true;
        return str_parse_u64(value, &options->seed) || bad_value(id, value, "a whole number", err);
    case OPTION_CLOCK: return set_clock(options, value, err);
    case OPTION_LATENCY: return set_duration(id, value, 0, &options->latency_ms, err);
    case OPTION_JITTER: return set_duration(id, value, 0, &options->jitter_ms, err);
    case OPTION_KNOB: return set_knob(options, value, err);
    case OPTION_TRACE:
        options->trace = value;
        return value.len > 0 || bad_value(id, value, "a file", err);
    case OPTION_BANDWIDTH:
        return (str_parse_i64(value, &options->bandwidth) && options->bandwidth >= 0) ||
               bad_value(id, value, "bytes a second, a whole number", err);
    case OPTION_KEEP_GOING: options->keeps_going = true; return true;
    case OPTION_JSON: options->json = true; return true;
    case OPTION_LOG_LEVEL:
        return log_level_parse(value, &options->log_level) ||
               bad_value(id, value, "error, warn, info, debug, trace", err);
    case OPTION_LOG_FORMAT: return set_log_format(options, value, err);
    case OPTION_COUNT: break;
    }
    return true;
}

/* --- words --- */

static const char *command_name(CliCommand command)
{
    return command == CLI_SERVE ? "serve" : "exec";
}

static int find_option(CliCommand command, Str name)
{
    if (str_equal_c(name, "-h")) return OPTION_HELP;
    for (int i = 0; i < OPTION_COUNT; i++)
        if ((specs[i].commands & command) && str_equal_c(name, specs[i].name)) return i;
    return -1;
}

static bool unknown_option(CliCommand command, Str name, Err *err)
{
    CliNearest nearest = cli_nearest(name);

    for (int i = 0; i < OPTION_COUNT; i++)
        if (specs[i].commands & command) cli_nearest_offer(&nearest, str_from_c(specs[i].name));
    if (!nearest.best.len)
        return err_set(err, ERR_USAGE, "unknown option %.*s; `tidesim %s --help` lists them",
                       STR_ARG(name), command_name(command));
    return err_set(err, ERR_USAGE, "unknown option %.*s; did you mean %.*s?", STR_ARG(name),
                   STR_ARG(nearest.best));
}

typedef struct Words {
    char **argv;
    int    argc;
    int    at;
    bool   is_given[OPTION_COUNT];
} Words;

static bool may_be_given_again(OptionId id)
{
    return !specs[id].value || id == OPTION_INIT || id == OPTION_KNOB;
}

static bool parse_option(CliOptions *options, Words *words, Str word, Err *err)
{
    ptrdiff_t equals  = str_find_char(word, '=', 0);
    bool      inlined = equals > 0;
    Str       name    = inlined ? str_slice(word, 0, (size_t)equals) : word;
    Str       value   = inlined ? str_slice(word, (size_t)equals + 1, word.len) : STR_EMPTY;
    int       id      = find_option(options->command, name);

    if (id < 0) return unknown_option(options->command, name, err);
    if (!specs[id].value && inlined)
        return err_set(err, ERR_USAGE, "option %s takes no value", specs[id].name);
    if (words->is_given[id] && !may_be_given_again((OptionId)id))
        return err_set(err, ERR_USAGE, "option %s is given twice: give it once", specs[id].name);
    words->is_given[id] = true;
    if (specs[id].value && !inlined) {
        if (words->at + 1 >= words->argc)
            return err_set(err, ERR_USAGE, "option %s needs a value: %s", specs[id].name,
                           specs[id].value);
        value = str_from_c(words->argv[++words->at]);
    }
    return set_option(options, (OptionId)id, value, err);
}

static bool check_options(const CliOptions *options, Err *err)
{
    if (options->wants_help) return true;
    if (options->command == CLI_SERVE && options->files.count > 0)
        return err_set(err, ERR_USAGE,
                       "serve takes no arguments, but got \"%.*s\"; a script to run "
                       "first is --init FILE.sql",
                       STR_ARG(options->files.items[0]));
    if (options->load.len > 0 && options->database.len == 0)
        return err_set(err, ERR_USAGE, "--load needs --database: the database to fill");
    if (options->requires_encryption && !options->has_tls)
        return err_set(err, ERR_USAGE,
                       "--require-encryption with --tls none: nobody could connect; leave one out");
    if (options->command == CLI_EXEC && options->files.count == 0)
        return err_set(err, ERR_USAGE,
                       "exec needs a file: tidesim exec FILE..., where - is the standard input");
    return true;
}

bool cli_options_parse(CliCommand command, int argc, char **argv, Arena *arena, CliOptions *out,
                       Err *err)
{
    Words words     = {.argv = argv, .argc = argc};
    bool  only_args = false;

    *out = (CliOptions){.arena               = arena,
                        .command             = command,
                        .listen              = STR(DEFAULT_LISTEN),
                        .has_tls             = true,
                        .capture_interval_ms = command == CLI_EXEC ? -1 : 5000,
                        .idle_entry_ms       = 305000,
                        .retention_minutes   = 4320,
                        .time_zone           = STR("UTC"),
                        .server_version      = 2022,
                        .log_level           = command == CLI_EXEC ? LOG_WARN : LOG_INFO};
    if (!set_login(out, STR(DEFAULT_LOGIN), err)) return false;
    for (; words.at < words.argc; words.at++) {
        Str word = str_from_c(words.argv[words.at]);
        if (!only_args && str_equal_c(word, "--"))
            only_args = true;
        else if (only_args || str_equal_c(word, "-") || !str_starts_with(word, STR("-")))
            *LIST_PUSH(arena, &out->files) = word;
        else if (!parse_option(out, &words, word, err))
            return false;
    }
    return check_options(out, err);
}

/* --- help --- */

const char *cli_version(void)
{
    return TIDELAKE_VERSION;
}

static void print_options(CliCommand command)
{
    char left[64];

    printf("\nOptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!(specs[i].commands & command)) continue;
        (void)snprintf(left, sizeof left, "%s %s", specs[i].name,
                       specs[i].value ? specs[i].value : "");
        printf("  %-28s %s\n", left, specs[i].help);
    }
}

void cli_print_help(CliCommand command)
{
    if (command == CLI_SERVE) {
        printf("tidesim serve [options]\n\n"
               "Listens for SQL Server clients and prints `tidesim ready HOST:PORT` once they may "
               "connect.\nEverything is in memory and gone at the end.\n");
        print_options(command);
        printf("\nA DURATION is a number with its unit: ms, s, m, h or d.\n"
               "Clients log in by SQL Server authentication. The certificate is made anew at each "
               "start: TrustServerCertificate=yes,\nor trust the file that stderr names.\n"
               "Procedures of the schema tidesim, as EXEC tidesim.fault, make it fail, stop its "
               "clock and run its jobs:\ntidesim(1), docs/tidesim.md.\n"
               "Exit status: 1 when a script fails or the address is taken, 2 upon wrong usage, "
               "130 and 143 upon SIGINT and SIGTERM.\n");
        printf("\nExamples:\n"
               "  tidesim serve --database shop --init shop.sql\n"
               "  tidesim serve --listen 127.0.0.1:0 --capture-interval manual --seed 7\n"
               "  tidesim serve --tls server.pem,server.key --require-encryption\n");
        return;
    }
    printf("tidesim exec [options] FILE...\n\n"
           "Runs T-SQL scripts, their batches separated by GO, and prints what they give. `-` is "
           "the standard\ninput. Stops at the first error, with exit status 1.\n");
    print_options(command);
    printf("\nA DURATION is a number with its unit: ms, s, m, h or d.\n");
    printf(
        "\nExamples:\n"
        "  tidesim exec --database shop shop.sql\n"
        "  echo 'SELECT @@VERSION' | tidesim exec --server 127.0.0.1:14330 --login sa:Tide.Sim.1 "
        "-\n");
}

void cli_print_overview(void)
{
    printf("tidesim COMMAND [options]\n\n"
           "A simulated SQL Server with change data capture, for tests.\n\n"
           "Commands:\n"
           "  serve        listen for clients\n"
           "  exec FILE... run T-SQL scripts, on a server or in memory\n\n"
           "`tidesim COMMAND --help` shows the options of a command; `tidesim --version` the "
           "version.\n");
}
