/* setting.h - every key of the configuration file, which are the options of the commands too: one
 * table, from which the file is checked, the options are parsed and the help is printed (cli.md). */
#ifndef TIDELAKE_CLI_SETTING_H
#define TIDELAKE_CLI_SETTING_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Where a key stands in the file. A stream key may also stand in `defaults`. */
typedef enum Section { SECTION_SOURCE, SECTION_LAKE, SECTION_STREAM } Section;

typedef enum SettingType {
    SETTING_TEXT,
    SETTING_CHOICE,  /* one of `values`, separated by | */
    SETTING_BOOL,    /* true false yes no y n 1 0, any case */
    SETTING_INTEGER, /* a whole number, at least `least`; "null" or "auto" where `values` names it */
    SETTING_DECIMAL,  /* the same with decimals: 0.05 */
    SETTING_DURATION, /* 100ms, 10s, 5m, 2h, 30d */
    SETTING_SIZE,     /* bytes: 512MB, 1GB */
    SETTING_TABLE,    /* a path, or {path: ..., label: ...} */
    SETTING_LIST,     /* names: [a, b] in the file, a,b as an option */
    SETTING_LSN,      /* earliest, latest or 0x... */
    SETTING_COLUMNS,  /* "id BIGINT, name STRING" */
} SettingType;

/* clang-format off */
#define SETTINGS(X) /* id                 key                        section         type              default        least values                          help */ \
    X(CONNECTION,               "connection",               SECTION_SOURCE, SETTING_TEXT,     NULL,          0, NULL,                            "ODBC connection string of the source") \
    X(TIME_ZONE,                "time_zone",                SECTION_SOURCE, SETTING_TEXT,     "auto",        0, NULL,                            "zone of the server's clock: auto, UTC or a Windows zone name") \
    X(CONNECT_TIMEOUT,          "connect_timeout",          SECTION_SOURCE, SETTING_INTEGER,  "30",          0, NULL,                            "seconds a login may take") \
    X(SILENCE_TIMEOUT,          "silence_timeout",          SECTION_SOURCE, SETTING_INTEGER,  "300",         0, NULL,                            "seconds without a word from the server, until a question or a read of changes counts as failed; 0: for ever") \
    X(LOCK_TIMEOUT_MS,          "lock_timeout_ms",          SECTION_SOURCE, SETTING_INTEGER,  "null",        0, "null",                          "milliseconds a read of the table waits for a lock; null: for ever") \
    X(NUM_PARTITIONS,           "num_partitions",           SECTION_SOURCE, SETTING_INTEGER,  "auto",        1, "auto",                          "connections a batch or snapshot may use; auto: the cores, at most 8") \
    X(FETCH_ROWS,               "fetch_rows",               SECTION_SOURCE, SETTING_INTEGER,  "10000",       1, NULL,                            "most rows one fetch asks for, within a buffer of 8 MiB") \
    X(ROOT,                     "root",                     SECTION_LAKE,   SETTING_TEXT,     "",            0, NULL,                            "folder that relative paths of tables and checkpoints start in") \
    X(FACTS,                    "facts",                    SECTION_LAKE,   SETTING_TABLE,    NULL,          0, NULL,                            "table that records what happened") \
    X(CONTROL,                  "control",                  SECTION_LAKE,   SETTING_TABLE,    NULL,          0, NULL,                            "table of verdicts and positions") \
    X(RECONCILE_REPORT,         "reconcile_report",         SECTION_LAKE,   SETTING_TABLE,    NULL,          0, NULL,                            "table of differences found (not used yet)") \
    X(COMPRESSION,              "compression",              SECTION_LAKE,   SETTING_CHOICE,   "zstd",        0, "snappy|zstd|none",              "codec of data files but the smallest") \
    X(MEMORY_LIMIT,             "memory_limit",             SECTION_LAKE,   SETTING_SIZE,     "1GB",         0, NULL,                            "memory libduckdb may use") \
    X(CAPTURE_INSTANCE,         "capture_instance",         SECTION_STREAM, SETTING_TEXT,     NULL,          0, NULL,                            "CDC capture instance, for example dbo_orders") \
    X(BRONZE,                   "bronze",                   SECTION_STREAM, SETTING_TABLE,    NULL,          0, NULL,                            "table that changes are appended to") \
    X(SILVER,                   "silver",                   SECTION_STREAM, SETTING_TABLE,    NULL,          0, NULL,                            "table of current rows") \
    X(APP_ID,                   "app_id",                   SECTION_STREAM, SETTING_TEXT,     NULL,          0, NULL,                            "name of the stream in its tables; never change it for a checkpoint") \
    X(CHECKPOINT,               "checkpoint",               SECTION_STREAM, SETTING_TEXT,     NULL,          0, NULL,                            "folder of the stream's position") \
    X(LIBRARY_METRICS,          "library_metrics",          SECTION_STREAM, SETTING_TEXT,     NULL,          0, NULL,                            "metricsPath that mssql-cdc-pyspark ran with, whose waiting events come with the first batch") \
    X(TRIGGER,                  "trigger",                  SECTION_STREAM, SETTING_CHOICE,   "continuous",  0, "available-now|interval|continuous", "when batches run") \
    X(INTERVAL,                 "interval",                 SECTION_STREAM, SETTING_DURATION, "10s",         0, NULL,                            "time between two batches of trigger interval") \
    X(POLL_INTERVAL,            "poll_interval",            SECTION_STREAM, SETTING_DURATION, "100ms",       100, NULL,                          "time between two looks at an idle source, at least 100ms") \
    X(MAX_COMMITS_PER_BATCH,    "max_commits_per_batch",    SECTION_STREAM, SETTING_INTEGER,  "null",        1, "null",                          "commits of the database one batch may hold; null: no limit") \
    X(BOOTSTRAP,                "bootstrap",                SECTION_STREAM, SETTING_BOOL,     "false",       0, NULL,                            "take a snapshot of the table before its first batch") \
    X(SNAPSHOT,                 "snapshot",                 SECTION_STREAM, SETTING_CHOICE,   "full",        0, "full|chunked",                  "how the snapshot is taken: whole, before the first batch, or in chunks that backfill reads next to the stream") \
    X(ON_DATA_LOSS,             "on_data_loss",             SECTION_STREAM, SETTING_CHOICE,   "fail",        0, "fail|resnapshot",               "what a purge of unread changes does (resnapshot: not in this version)") \
    X(RESNAPSHOT_INTERVAL_DAYS, "resnapshot_interval_days", SECTION_STREAM, SETTING_INTEGER,  "7",           0, NULL,                            "fewest days between two re-snapshots (not used yet)") \
    X(SNAPSHOT_ON_SWITCH,       "snapshot_on_switch",       SECTION_STREAM, SETTING_BOOL,     "false",       0, NULL,                            "snapshot after a switch of capture instances (not in this version)") \
    X(FAIL_ON_DATA_LOSS,        "fail_on_data_loss",        SECTION_STREAM, SETTING_BOOL,     "true",        0, NULL,                            "stop when changes are gone; false: record the gap and go on") \
    X(SCHEMA_CHANGE_POLICY,     "schema_change_policy",     SECTION_STREAM, SETTING_CHOICE,   "classify",    0, "classify|fail",                 "what DDL on the table does") \
    X(STARTING_LSN,             "starting_lsn",             SECTION_STREAM, SETTING_LSN,      "earliest",    0, NULL,                            "earliest, latest or 0x..., which counts as processed") \
    X(ISOLATION,                "isolation",                SECTION_STREAM, SETTING_CHOICE,   "readCommitted", 0, "readCommitted|snapshot",      "isolation of reads of the table itself; never uncommitted rows") \
    X(CHUNK_ROWS,               "chunk_rows",               SECTION_STREAM, SETTING_INTEGER,  "1000000",     1, NULL,                            "rows of a chunk, when the snapshot is planned") \
    X(TARGET_WAVE_SECONDS,      "target_wave_seconds",      SECTION_STREAM, SETTING_DECIMAL,  "300",         0, NULL,                            "seconds a wave of chunks should take; 0: one chunk per connection") \
    X(MIN_HEADROOM_HOURS,       "min_headroom_hours",       SECTION_STREAM, SETTING_DECIMAL,  "null",        0, "null",                          "hours between the stream and the retention below which no wave starts; null: any") \
    X(GRANULARITY,              "granularity",              SECTION_STREAM, SETTING_CHOICE,   "hour",        0, "minute|hour|day",               "periods of the verdict") \
    X(INCLUDE_COMMAND_ID,       "include_command_id",       SECTION_STREAM, SETTING_BOOL,     "true",        0, NULL,                            "read __$command_id; false for servers that lack it") \
    X(COLUMNS,                  "columns",                  SECTION_STREAM, SETTING_COLUMNS,  NULL,          0, NULL,                            "columns to read, with their types (id BIGINT, name STRING); else every captured one") \
    X(SNAPSHOT_KEYS,            "snapshot_keys",            SECTION_STREAM, SETTING_LIST,     NULL,          0, NULL,                            "columns a snapshot is cut on, instead of the unique index") \
    X(KEYS,                     "keys",                     SECTION_STREAM, SETTING_LIST,     NULL,          0, NULL,                            "key columns of silver, instead of the unique index") \
    X(DELETION_VECTORS,         "deletion_vectors",         SECTION_STREAM, SETTING_BOOL,     "true",        0, NULL,                            "silver tables made here lose rows by deletion vector; false: files are written anew, for readers that know no vectors") \
    X(PLANS,                    "plans",                    SECTION_STREAM, SETTING_TABLE,    NULL,          0, NULL,                            "table of chunk plans, with key values; else next to bronze") \
    X(COMPACT_FACTS,            "compact_facts",            SECTION_STREAM, SETTING_INTEGER,  "1000",        0, NULL,                            "commits between automatic compactions of facts; 0: never") \
    X(COMPACT_BRONZE,           "compact_bronze",           SECTION_STREAM, SETTING_INTEGER,  "1000",        0, NULL,                            "commits between automatic compactions of bronze; 0: never") \
    X(LOG_RETENTION,            "log_retention",            SECTION_STREAM, SETTING_DURATION, "30d",         0, NULL,                            "age from which Delta log files may go, in tables without delta.logRetentionDuration")
/* clang-format on */

typedef enum SettingId {
#define X(id, key, section, type, default_text, least, values, help) SET_##id,
    SETTINGS(X)
#undef X
        SETTING_COUNT
} SettingId;

typedef struct SettingSpec {
    const char *key; /* as in the file; the option is --key with '-' for '_' */
    Section     section;
    SettingType type;
    const char *default_text; /* NULL: none */
    int64_t     least;        /* of a number; of a duration in milliseconds */
    const char *values;       /* of a choice; words a number may be instead */
    const char *help;
} SettingSpec;

const SettingSpec *setting_spec(SettingId id);
/* -1 if there is none. `allow_dashes`: an option's spelling. */
int setting_find(Str key, bool allow_dashes);
/* The key of the table that is most like `key`, for "did you mean". */
Str setting_nearest(Str key, int section); /* section -1: any */

/* A value as somebody gave it. */
typedef struct SettingValue {
    bool       is_set;
    Str        text;
    Str        label; /* of a table; empty: the text */
    const Str *items; /* of a list */
    size_t     item_count;
    Str        origin; /* for messages: "tidelake.yaml:12" or "--interval" */
} SettingValue;

typedef struct Settings {
    SettingValue values[SETTING_COUNT];
} Settings;

/* ERR_CONFIG (or ERR_USAGE for an option) naming origin, key and allowed values. */
bool setting_check(SettingId id, const SettingValue *value, Err *err) MUST_CHECK;

/* Reads of checked settings. An unset one takes its default. */
Str     settings_text(const Settings *settings, SettingId id);
bool    settings_bool(const Settings *settings, SettingId id);
int64_t settings_integer(const Settings *settings, SettingId id,
                         int64_t when_word); /* `when_word`: for null and auto */
double  settings_decimal(const Settings *settings, SettingId id, double when_word);
int64_t settings_duration_ms(const Settings *settings, SettingId id);
int64_t settings_size_bytes(const Settings *settings, SettingId id);
bool    settings_is_given(const Settings *settings, SettingId id);

/* From 0 on; not "-0", "nan" or "inf". */
bool parse_decimal(Str text, double *out) MUST_CHECK;
bool parse_bool(Str text, bool *out) MUST_CHECK;
bool parse_duration_ms(Str text, int64_t *out) MUST_CHECK;
bool parse_size_bytes(Str text, int64_t *out) MUST_CHECK;

#endif
