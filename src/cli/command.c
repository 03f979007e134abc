/* command.c - the tables of commands and options, and the parser of a command line. */
#include "cli/command.h"

#include "cli/nearest.h"

#include <stdio.h>
#include <string.h>

static const FlagSpec flag_specs[FLAG_COUNT] = {
    {FLAG_HELP, "--help", NULL, "show this help (also -h)"},
    {FLAG_CONFIG, "--config", "FILE",
     "configuration file (also -c; default tidelake.yaml when it exists)"},
    {FLAG_JSON, "--json", NULL, "print the result as one JSON object, on the last line of stdout"},
    {FLAG_LOG_LEVEL, "--log-level", "LEVEL", "error, warn, info, debug or trace (default info)"},
    {FLAG_LOG_FORMAT, "--log-format", "FORMAT", "text or json (default text)"},
    {FLAG_NO_PROGRESS, "--no-progress", NULL, "no progress line"},
    {FLAG_MAX_BATCHES, "--max-batches", "N", "stop after N batches (default: no limit)"},
    {FLAG_VERSION, "--version", "N", "look at version N of the table"},
    {FLAG_AS_OF, "--as-of", "TIME", "look at the table as of a time, UTC: 2026-09-28T13:55:00"},
    {FLAG_TARGET_SIZE, "--target-size", "SIZE",
     "optimize: size of the files that small ones become (default 256MiB)"},
    {FLAG_SORT, "--sort", "COLUMNS",
     "optimize: order the rows of a new file by these columns, a,b (default: they keep their "
     "order)"},
    {FLAG_RETENTION, "--retention", "TIME",
     "vacuum: spare files that were live in this last time (default: the table's own, else 7d)"},
    {FLAG_DRY_RUN, "--dry-run", NULL, "list what would be removed, and remove nothing"},
    {FLAG_ALLOW_SHORT_RETENTION, "--allow-short-retention", NULL,
     "vacuum: accept a retention below the table's own or below 7d"},
    {FLAG_MAX_WAVES, "--max-waves", "N",
     "start at most N waves; 0: only tell how far it is (default: no limit)"},
    {FLAG_MAX_SECONDS, "--max-seconds", "N", "start no wave after N seconds (default: no limit)"},
    {FLAG_REQUIRE_DONE, "--require-done", NULL,
     "exit with 6 when a snapshot is not complete at the end"},
    {FLAG_UNTIL, "--until", "TIME",
     "check: the end of the period asked about, UTC unless it has a zone: 2026-09-28T15:00:00 or "
     "2026-09-28T17:00:00+02:00"},
    {FLAG_RESNAPSHOT, "--resnapshot", NULL,
     "take a snapshot even where bronze holds one: silver is then rebuilt from the new one"},
    {FLAG_FROM, "--from", "PATH",
     "the copy: the folder of a Delta table, or Parquet or CSV files, which a pattern may name "
     "(quoted: 'copy/*.parquet'); taken as it stands, without lake.root"},
    {FLAG_AS_OF_COMMIT, "--as-of", "TIME|LSN",
     "when the copy began to be read, UTC (2026-09-28T13:55:00) or with an offset, or an LSN "
     "(0x...) recorded before: every commit up to it must be in the copy"},
    {FLAG_ALLOW_MISSING_COLUMNS, "--allow-missing-columns", NULL,
     "captured columns that the copy lacks become NULL, but those of the key"},
    {FLAG_RESEED, "--reseed", NULL,
     "append the copy next to an older snapshot: silver is then rebuilt from the copy"},
};

static const FlagId common_flags[] = {FLAG_HELP,      FLAG_CONFIG,     FLAG_JSON,
                                      FLAG_LOG_LEVEL, FLAG_LOG_FORMAT, FLAG_NO_PROGRESS};

static const SettingId stream_settings[] = {SET_CONNECTION,
                                            SET_TIME_ZONE,
                                            SET_CONNECT_TIMEOUT,
                                            SET_SILENCE_TIMEOUT,
                                            SET_LOCK_TIMEOUT_MS,
                                            SET_NUM_PARTITIONS,
                                            SET_FETCH_ROWS,
                                            SET_ROOT,
                                            SET_FACTS,
                                            SET_CONTROL,
                                            SET_COMPRESSION,
                                            SET_MEMORY_LIMIT,
                                            SET_CAPTURE_INSTANCE,
                                            SET_BRONZE,
                                            SET_APP_ID,
                                            SET_CHECKPOINT,
                                            SET_LIBRARY_METRICS,
                                            SET_TRIGGER,
                                            SET_INTERVAL,
                                            SET_POLL_INTERVAL,
                                            SET_MAX_COMMITS_PER_BATCH,
                                            SET_BOOTSTRAP,
                                            SET_SNAPSHOT,
                                            SET_PLANS,
                                            SET_ON_DATA_LOSS,
                                            SET_SNAPSHOT_ON_SWITCH,
                                            SET_FAIL_ON_DATA_LOSS,
                                            SET_SCHEMA_CHANGE_POLICY,
                                            SET_STARTING_LSN,
                                            SET_ISOLATION,
                                            SET_GRANULARITY,
                                            SET_INCLUDE_COMMAND_ID,
                                            SET_COLUMNS,
                                            SET_COMPACT_FACTS,
                                            SET_COMPACT_BRONZE,
                                            SET_LOG_RETENTION,
                                            SET_SNAPSHOT_KEYS};
static const FlagId    stream_flags[]    = {FLAG_MAX_BATCHES};
static const SettingId apply_settings[]  = {
     SET_CONNECTION,   SET_CONNECT_TIMEOUT, SET_SILENCE_TIMEOUT,
     SET_ROOT,         SET_FACTS,           SET_CONTROL,
     SET_COMPRESSION,  SET_MEMORY_LIMIT,    SET_CAPTURE_INSTANCE,
     SET_BRONZE,       SET_PLANS,           SET_SILVER,
     SET_KEYS,         SET_GRANULARITY,     SET_DELETION_VECTORS,
     SET_LOG_RETENTION};
static const SettingId backfill_settings[] = {SET_CONNECTION,
                                              SET_TIME_ZONE,
                                              SET_CONNECT_TIMEOUT,
                                              SET_SILENCE_TIMEOUT,
                                              SET_LOCK_TIMEOUT_MS,
                                              SET_NUM_PARTITIONS,
                                              SET_FETCH_ROWS,
                                              SET_ROOT,
                                              SET_FACTS,
                                              SET_COMPRESSION,
                                              SET_MEMORY_LIMIT,
                                              SET_CAPTURE_INSTANCE,
                                              SET_BRONZE,
                                              SET_APP_ID,
                                              SET_CHECKPOINT,
                                              SET_ISOLATION,
                                              SET_CHUNK_ROWS,
                                              SET_TARGET_WAVE_SECONDS,
                                              SET_PLANS,
                                              SET_MIN_HEADROOM_HOURS,
                                              SET_INCLUDE_COMMAND_ID,
                                              SET_COLUMNS,
                                              SET_LOG_RETENTION,
                                              SET_SNAPSHOT_KEYS};
static const FlagId    backfill_flags[]    = {FLAG_MAX_WAVES, FLAG_MAX_SECONDS, FLAG_REQUIRE_DONE};
static const SettingId verdict_settings[]  = {
     SET_ROOT,        SET_CONTROL,      SET_FACTS,        SET_CAPTURE_INSTANCE,
     SET_BRONZE,      SET_SILVER,       SET_CHECKPOINT,   SET_GRANULARITY,
     SET_COMPRESSION, SET_MEMORY_LIMIT, SET_LOG_RETENTION};
static const FlagId    verdict_flags[]     = {FLAG_UNTIL};
static const SettingId snapshot_settings[] = {
    SET_CONNECTION,      SET_TIME_ZONE,      SET_CONNECT_TIMEOUT, SET_SILENCE_TIMEOUT,
    SET_LOCK_TIMEOUT_MS, SET_NUM_PARTITIONS, SET_FETCH_ROWS,      SET_ROOT,
    SET_FACTS,           SET_COMPRESSION,    SET_MEMORY_LIMIT,    SET_CAPTURE_INSTANCE,
    SET_BRONZE,          SET_APP_ID,         SET_ISOLATION,       SET_INCLUDE_COMMAND_ID,
    SET_COLUMNS,         SET_LOG_RETENTION,  SET_SNAPSHOT_KEYS};
static const FlagId    snapshot_flags[] = {FLAG_RESNAPSHOT};
static const SettingId seed_settings[]  = {SET_CONNECTION,
                                           SET_TIME_ZONE,
                                           SET_CONNECT_TIMEOUT,
                                           SET_SILENCE_TIMEOUT,
                                           SET_NUM_PARTITIONS,
                                           SET_ROOT,
                                           SET_FACTS,
                                           SET_COMPRESSION,
                                           SET_MEMORY_LIMIT,
                                           SET_CAPTURE_INSTANCE,
                                           SET_BRONZE,
                                           SET_APP_ID,
                                           SET_INCLUDE_COMMAND_ID,
                                           SET_COLUMNS,
                                           SET_LOG_RETENTION};
static const FlagId    seed_flags[]     = {FLAG_FROM, FLAG_AS_OF_COMMIT, FLAG_ALLOW_MISSING_COLUMNS,
                                           FLAG_RESEED};
static const SettingId table_settings[] = {SET_MEMORY_LIMIT, SET_LOG_RETENTION};
static const FlagId    table_flags[]    = {
          FLAG_VERSION,   FLAG_AS_OF,   FLAG_TARGET_SIZE,          FLAG_SORT,
          FLAG_RETENTION, FLAG_DRY_RUN, FLAG_ALLOW_SHORT_RETENTION};

static const Command commands[] = {
    {"stream", "[CAPTURE_INSTANCE...]", "append changes to bronze",
     "Without names every stream of the configuration file runs, side by side. Killed at any\n"
     "moment it resumes where it was.\n\n"
     "Examples:\n"
     "  tidelake stream dbo_orders --trigger available-now\n"
     "  tidelake stream --connection "
     "\"Driver=FreeTDS;Server=db,1433;Database=shop;UID=cdc;PWD=...\" --capture-instance "
     "dbo_orders \\\n"
     "    --bronze lake/bronze/orders --app-id orders-v1 --checkpoint ckpt/orders --facts "
     "lake/ops/facts --bootstrap\n",
     stream_settings, COUNT_OF(stream_settings), stream_flags, COUNT_OF(stream_flags), cmd_stream},
    {"snapshot", "CAPTURE_INSTANCE", "append one full snapshot, or find the one that is there",
     "Reads the whole table into bronze, in one commit, and prints the LSN it is stamped with:\n"
     "a stream takes it as its --starting-lsn. A snapshot that bronze holds already is found\n"
     "and nothing is read; a chunked one counts. `stream --bootstrap` does this by itself.\n\n"
     "Examples:\n"
     "  tidelake snapshot dbo_orders\n"
     "  tidelake snapshot dbo_orders --resnapshot --json\n",
     snapshot_settings, COUNT_OF(snapshot_settings), snapshot_flags, COUNT_OF(snapshot_flags),
     cmd_snapshot},
    {"seed", "CAPTURE_INSTANCE", "append a copy you already have as the snapshot",
     "Columns are matched ignoring case, others dropped, values cast to bronze's types;\n"
     "nothing is committed when one cannot be. `stream --bootstrap` then starts from the seed.\n"
     "A rerun writes nothing twice.\n\n"
     "Examples:\n"
     "  tidelake seed dbo_orders --from backup/orders --as-of 2026-09-28T13:55:00\n"
     "  tidelake seed dbo_orders --from 'export/*.parquet' --as-of 0x0000002A000001F00003\n",
     seed_settings, COUNT_OF(seed_settings), seed_flags, COUNT_OF(seed_flags), cmd_seed},
    {"backfill", "[CAPTURE_INSTANCE...]", "read the open chunked snapshot, in waves",
     "The stream opens it (`--bootstrap --snapshot chunked`) and goes on meanwhile. Killed at\n"
     "any moment it resumes behind the last wave that is in. A file `pause` in the folder\n"
     "_tidelake of the stream's checkpoint stops it before its next wave. Run one backfill per\n"
     "stream.\n\n"
     "Examples:\n"
     "  tidelake backfill\n"
     "  tidelake backfill dbo_orders --max-seconds 3600 --require-done\n",
     backfill_settings, COUNT_OF(backfill_settings), backfill_flags, COUNT_OF(backfill_flags),
     cmd_backfill},
    {"apply", "[CAPTURE_INSTANCE...]", "bring silver up to bronze",
     "Without names every stream of the configuration file that has `silver`, one after the\n"
     "other. The source is asked for the key.\n\n"
     "Examples:\n"
     "  tidelake apply\n"
     "  tidelake apply dbo_orders --keys order_id --json\n",
     apply_settings, COUNT_OF(apply_settings), NULL, 0, cmd_apply},
    {"verdict", "show|advance|check [TABLE...]",
     "look at the verdict of tables, move it, gate on it",
     "TABLE is a bronze or silver as the configuration file names it, a capture instance (both\n"
     "of its tables), or any name that control holds; without one, every table of the file.\n"
     "show prints the verdict and its age. check exits with 0 when every period that ends at\n"
     "--until or before is complete, with 6 when not. advance moves it without a stream or an\n"
     "apply: a bronze's to the end of the last committed batch of its checkpoint, a silver's\n"
     "to the newest change it has applied.\n\n"
     "Examples:\n"
     "  tidelake verdict show\n"
     "  tidelake verdict check silver/orders --until 2026-09-28T15:00:00 && run-the-report\n",
     verdict_settings, COUNT_OF(verdict_settings), verdict_flags, COUNT_OF(verdict_flags),
     cmd_verdict},
    {"table", "schema|history|files|cat|optimize|vacuum|checkpoint PATH, table sql PATH QUERY",
     "look into a Delta table and maintain it",
     "PATH is taken as it stands: lake.root of the configuration file is not put before it.\n"
     "schema, history, files, cat and sql take --version and --as-of; in QUERY, which is\n"
     "DuckDB's dialect, the table is t. optimize makes large files of small ones, without\n"
     "deleted rows; vacuum removes files that no version needs any more; checkpoint writes one\n"
     "at the newest version. Printed values are cut at 80 characters; --json has all of them.\n\n"
     "Examples:\n"
     "  tidelake table history lake/bronze/orders\n"
     "  tidelake table sql lake/silver/orders \"SELECT status, count(*) FROM t GROUP BY ALL\"\n"
     "  tidelake table cat lake/silver/orders --as-of 2026-09-28T13:55:00\n"
     "  tidelake table optimize lake/bronze/orders --target-size 128MB\n"
     "  tidelake table vacuum lake/silver/orders --dry-run\n",
     table_settings, COUNT_OF(table_settings), table_flags, COUNT_OF(table_flags), cmd_table},
};

const Command *command_list(size_t *count_out)
{
    *count_out = COUNT_OF(commands);
    return commands;
}

const Command *command_find(Str name)
{
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (str_equal_c(name, commands[i].name)) return &commands[i];
    return NULL;
}

const char *command_flag_name(FlagId flag)
{
    return flag_specs[flag].name;
}

bool invocation_has(const Invocation *invocation, FlagId flag)
{
    return invocation->flags[flag].ptr != NULL;
}

/* --- parsing --- */

typedef struct Words {
    char **argv;
    int    argc;
    int    at;
} Words;

static bool takes_flag(const Command *command, FlagId id)
{
    for (size_t i = 0; i < COUNT_OF(common_flags); i++)
        if (common_flags[i] == id) return true;
    for (size_t i = 0; i < command->flag_count; i++)
        if (command->flags[i] == id) return true;
    return false;
}

static int find_flag(const Command *command, Str name)
{
    if (str_equal_c(name, "-h")) return FLAG_HELP;
    if (str_equal_c(name, "-c")) return FLAG_CONFIG;
    for (int i = 0; i < FLAG_COUNT; i++)
        if (str_equal_c(name, flag_specs[i].name) && takes_flag(command, (FlagId)i)) return i;
    return -1;
}

static int find_setting(const Command *command, Str name)
{
    int id = str_starts_with(name, STR("--")) ? setting_find(str_slice(name, 2, name.len), true)
                                              : -1;

    for (size_t i = 0; id >= 0 && i < command->setting_count; i++)
        if (command->settings[i] == (SettingId)id) return id;
    return -1;
}

static bool unknown_option(const Command *command, Str name, Err *err)
{
    Nearest nearest = nearest_to(name);
    char    option[80];

    if (str_starts_with(name, STR("--")) && setting_find(str_slice(name, 2, name.len), true) >= 0)
        return err_set(err, ERR_USAGE,
                       "unknown option %.*s: `tidelake %s` does not take it; it may stand in the "
                       "configuration file",
                       STR_ARG(name), command->name);
    for (size_t i = 0; i < command->setting_count; i++) {
        (void)snprintf(option, sizeof option, "--%s", setting_spec(command->settings[i])->key);
        nearest_offer(&nearest, str_from_c(option));
        if (nearest.best.ptr == option)
            nearest.best = str_from_c(
                setting_spec(command->settings[i])->key); /* `option` does not last */
    }
    for (int i = 0; i < FLAG_COUNT; i++)
        if (takes_flag(command, (FlagId)i)) nearest_offer(&nearest, str_from_c(flag_specs[i].name));
    if (!nearest.best.len)
        return err_set(err, ERR_USAGE, "unknown option %.*s; `tidelake %s --help` lists them",
                       STR_ARG(name), command->name);
    (void)snprintf(option, sizeof option, "%s%.*s",
                   str_starts_with(nearest.best, STR("--")) ? "" : "--", STR_ARG(nearest.best));
    for (char *c = option + 2; *c; c++)
        if (*c == '_') *c = '-';
    return err_set(err, ERR_USAGE, "unknown option %.*s; did you mean %s?", STR_ARG(name), option);
}

/* The value behind `=`, or the next word. */
static bool take_value(Words *words, Str name, Str inline_value, Str *out, Err *err)
{
    if (inline_value.ptr) {
        *out = inline_value;
        return true;
    }
    if (words->at + 1 >= words->argc)
        return err_set(err, ERR_USAGE, "option %.*s needs a value", STR_ARG(name));
    *out = str_from_c(words->argv[++words->at]);
    return true;
}

static void split_list(Arena *arena, SettingValue *value)
{
    LIST(Str) items = {0};
    Str rest        = value->text, item;

    while (str_split_next(&rest, ',', &item))
        if (str_trim(item).len) *LIST_PUSH(arena, &items) = str_trim(item);
    value->items      = items.items;
    value->item_count = items.count;
}

/* Which of two values was meant is not ours to guess. A switch without a value may stand there again. */
static bool refuse_second(Str name, bool is_list, Err *err)
{
    return err_set(err, ERR_USAGE, "option %.*s is given twice: give it once%s", STR_ARG(name),
                   is_list ? ", its names separated by commas" : "");
}

/* A switch such as --bootstrap stands for true; --bootstrap=false takes it back. A word behind it would
 * be taken for a stream's name. */
static bool take_switch(const Words *words, Str name, Str inline_value, Str *out, Err *err)
{
    Str  next = words->at + 1 < words->argc ? str_from_c(words->argv[words->at + 1]) : STR_EMPTY;
    bool value;

    *out = inline_value.ptr ? inline_value : STR("true");
    return inline_value.ptr || !parse_bool(next, &value) ||
           err_set(err, ERR_USAGE, "option %.*s takes its value after an equals sign: %.*s=%.*s",
                   STR_ARG(name), STR_ARG(name), STR_ARG(next));
}

static bool set_setting(Invocation *invocation, SettingId id, Words *words, Str name,
                        Str inline_value, Err *err)
{
    SettingValue *value = &invocation->options.values[id];

    if (value->origin.ptr) return refuse_second(name, setting_spec(id)->type == SETTING_LIST, err);
    *value = (SettingValue){.is_set = true, .origin = name};
    if (!(setting_spec(id)->type == SETTING_BOOL
              ? take_switch(words, name, inline_value, &value->text, err)
              : take_value(words, name, inline_value, &value->text, err)))
        return false;
    if (setting_spec(id)->type == SETTING_LIST) split_list(invocation->arena, value);
    if (value->text.len ==
        0) { /* an empty option counts as absent: a blank LSN must not mean "from the beginning" */
        *value = (SettingValue){.is_set = false, .origin = name};
        return true;
    }
    return setting_check(id, value, err);
}

static bool parse_option(Invocation *invocation, Words *words, Str word, Err *err)
{
    ptrdiff_t equals       = str_starts_with(word, STR("--")) ? str_find_char(word, '=', 0) : -1;
    Str       name         = equals < 0 ? word : str_slice(word, 0, (size_t)equals);
    Str       inline_value = equals < 0 ? (Str){0} : str_slice(word, (size_t)equals + 1, word.len);
    int       flag         = find_flag(invocation->command, name);
    int       setting      = flag < 0 ? find_setting(invocation->command, name) : -1;

    if (setting >= 0)
        return set_setting(invocation, (SettingId)setting, words, name, inline_value, err);
    if (flag < 0) return unknown_option(invocation->command, name, err);
    if (flag == FLAG_FROM && invocation_has(invocation, FLAG_FROM))
        return err_set(err, ERR_USAGE,
                       "--from is given twice; one pattern names several files, quoted from the "
                       "shell: --from 'copy/*.parquet'");
    if (flag_specs[flag].value && invocation->flags[flag].ptr)
        return refuse_second(str_from_c(flag_specs[flag].name), false, err);
    if (flag_specs[flag].value)
        return take_value(words, name, inline_value, &invocation->flags[flag], err);
    if (inline_value.ptr)
        return err_set(err, ERR_USAGE, "option %.*s takes no value", STR_ARG(name));
    invocation->flags[flag] = STR("true");
    return true;
}

static bool read_common(Invocation *invocation, Err *err)
{
    Str level = invocation->flags[FLAG_LOG_LEVEL], format = invocation->flags[FLAG_LOG_FORMAT];

    invocation->json      = invocation_has(invocation, FLAG_JSON);
    invocation->log_level = LOG_INFO;
    if (level.ptr && !log_level_parse(level, &invocation->log_level))
        return err_set(err, ERR_USAGE,
                       "--log-level is \"%.*s\"; allowed: error, warn, info, debug, trace",
                       STR_ARG(level));
    if (format.ptr && !str_equal_c(format, "json") && !str_equal_c(format, "text"))
        return err_set(err, ERR_USAGE, "--log-format is \"%.*s\"; allowed: text, json",
                       STR_ARG(format));
    invocation->log_format = format.ptr && str_equal_c(format, "json") ? LOG_FORMAT_JSON
                                                                       : LOG_FORMAT_TEXT;
    return true;
}

bool command_parse(int argc, char **argv, Invocation *invocation, Err *err)
{
    Words words          = {.argv = argv, .argc = argc};
    bool  only_arguments = false;

    for (; words.at < argc; words.at++) {
        Str word = str_from_c(argv[words.at]);
        if (!only_arguments && str_equal_c(word, "--")) {
            only_arguments = true;
        } else if (!only_arguments && word.len > 1 && word.ptr[0] == '-') {
            if (!parse_option(invocation, &words, word, err)) return false;
        } else {
            *LIST_PUSH(invocation->arena, &invocation->arguments) = word;
        }
    }
    return read_common(invocation, err);
}

/* --- help --- */

/* What stands for an option's value. */
static const char *value_word(SettingType type)
{
    switch (type) {
    case SETTING_BOOL: return "";
    case SETTING_INTEGER:
    case SETTING_DECIMAL: return " N";
    case SETTING_DURATION: return " TIME";
    case SETTING_SIZE: return " SIZE";
    case SETTING_TABLE: return " PATH";
    case SETTING_LIST: return " A,B";
    case SETTING_LSN: return " LSN";
    case SETTING_COLUMNS: return " COLUMNS";
    case SETTING_TEXT:
    case SETTING_CHOICE: return " VALUE";
    }
    return " VALUE";
}

static void print_setting(SettingId id)
{
    const SettingSpec *spec = setting_spec(id);
    char               option[80];
    size_t             name_len;

    (void)snprintf(option, sizeof option, "--%s%s", spec->key, value_word(spec->type));
    for (name_len = 2; option[name_len] && option[name_len] != ' '; name_len++)
        if (option[name_len] == '_') option[name_len] = '-';
    printf("  %-32s %s", option, spec->help);
    if (spec->type == SETTING_CHOICE) printf(" (%s)", spec->values);
    if (spec->default_text && spec->default_text[0]) printf("; default %s", spec->default_text);
    if (spec->type == SETTING_BOOL && strcmp(spec->default_text, "true") == 0)
        printf(", %.*s=false takes it back", (int)name_len, option);
    printf("\n");
}

static void print_flag(FlagId id)
{
    char option[80];

    (void)snprintf(option, sizeof option, "%s%s%s", flag_specs[id].name,
                   flag_specs[id].value ? " " : "",
                   flag_specs[id].value ? flag_specs[id].value : "");
    printf("  %-32s %s\n", option, flag_specs[id].help);
}

void command_print_help(const Command *command)
{
    printf("tidelake %s %s\n\n%c%s.\n\nOptions (they override the configuration file; "
           "times are 100ms, 10s, 5m, 2h, 30d, sizes 512MB, 1GB):\n",
           command->name, command->synopsis, command->help[0] - 'a' + 'A', command->help + 1);
    for (size_t i = 0; i < command->setting_count; i++)
        print_setting(command->settings[i]);
    for (size_t i = 0; i < command->flag_count; i++)
        print_flag(command->flags[i]);
    for (size_t i = 0; i < COUNT_OF(common_flags); i++)
        print_flag(common_flags[i]);
    printf("\n%s", command->more);
}

void command_print_overview(void)
{
    printf("tidelake replicates SQL Server tables into Delta Lake.\n\ntidelake COMMAND [options] "
           "[ARGUMENTS]\n\n");
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    printf("\n  --version  print the versions of tidelake and its libraries\n  --help     show "
           "this help; `tidelake COMMAND --help` shows a command's\n\n"
           "Exit status: 0 done, 1 failed, 2 wrong usage or configuration, 3 data loss, 4 schema "
           "changed, 5 permission missing,\n"
           "6 not there yet, 7 difference found, 130 or 143 stopped by a signal.\n");
}
