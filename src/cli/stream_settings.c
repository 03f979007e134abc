/* stream_settings.c - checks that need several settings at once. */
#include "cli/stream_settings.h"

#include "base/environment.h"
#include "base/limits.h"
#include "cli/nearest.h"
#include "cli/template.h"
#include "cli/wire.h"
#include "types/column_list.h"

#include <stdio.h>

#define DEFAULT_PARTITIONS_MOST 8

static bool require(const Settings *settings, SettingId id, const char *example, Err *err)
{
    char option[80];

    if (settings_text(settings, id).len) return true;
    (void)snprintf(option, sizeof option, "--%s", setting_spec(id)->key);
    for (char *c = option + 2; *c; c++)
        if (*c == '_') *c = '-';
    return err_set(err, ERR_USAGE, "%s is missing; give it in the configuration file or as %s %s",
                   setting_spec(id)->key, option, example);
}

static bool check_name(Str name, Err *err)
{
    size_t chars = 0;

    for (size_t at = 0; at < name.len; chars++) {
        uint32_t c = utf8_next(name, &at);
        if (c < 0x20 || c == 0x7f)
            return err_set(err, ERR_USAGE, "capture_instance holds a control character");
    }
    return chars <= LIMIT_CAPTURE_INSTANCE_CHARS ||
           err_set(err, ERR_USAGE,
                   "capture_instance is %zu characters long, at most %d are allowed: %.*s", chars,
                   LIMIT_CAPTURE_INSTANCE_CHARS, STR_ARG(name));
}

/* --- which streams --- */

static bool choose_one(Invocation *invocation, Str name, ChosenStream *out, Err *err)
{
    const Config *config  = &invocation->config;
    Nearest       nearest = nearest_to(name);

    for (size_t i = 0; i < config->stream_count; i++) {
        Str instance = config->streams[i].values[SET_CAPTURE_INSTANCE].text;
        nearest_offer(&nearest, instance);
        if (!str_equal(instance, name)) continue;
        *out = (ChosenStream){.name     = name,
                              .settings = config_stream(config, i, &invocation->options)};
        return true;
    }
    if (config->stream_count == 0) { /* no file: the options describe it */
        out->name                                  = name;
        out->settings                              = config_stream(config, 0, &invocation->options);
        out->settings.values[SET_CAPTURE_INSTANCE] = (SettingValue){
            .is_set = true, .text = name, .origin = STR("the command line")};
        return true;
    }
    if (nearest.best.len)
        return err_set(err, ERR_USAGE, "%.*s has no stream %.*s; did you mean %.*s?",
                       STR_ARG(config->path), STR_ARG(name), STR_ARG(nearest.best));
    return err_set(err, ERR_USAGE, "%.*s has no stream %.*s", STR_ARG(config->path), STR_ARG(name));
}

static bool choose_named(Invocation *invocation, ChosenStream *out, size_t *count_out, Err *err)
{
    for (size_t i = 0; i < invocation->arguments.count; i++) {
        Str name = invocation->arguments.items[i];

        for (size_t before = 0; before < i; before++)
            if (str_equal(out[before].name, name))
                return err_set(err, ERR_USAGE, "%.*s is named twice", STR_ARG(name));
        if (!choose_one(invocation, name, &out[(*count_out)++], err)) return false;
    }
    return true;
}

/* Two streams into one table or one checkpoint are a mistake, never a wish. */
static bool refuse_shared(const Invocation *invocation, size_t count, Err *err)
{
    static const SettingId own[] = {SET_BRONZE,     SET_SILVER, SET_APP_ID,
                                    SET_CHECKPOINT, SET_KEYS,   SET_SNAPSHOT_KEYS};

    for (size_t i = 0; count > 1 && i < COUNT_OF(own); i++) {
        const SettingValue *value = &invocation->options.values[own[i]];
        if (value->is_set && !template_tells_streams_apart(own[i], value->text))
            return err_set(err, ERR_USAGE,
                           "%.*s would hold for %zu streams; name the one that is meant",
                           STR_ARG(value->origin), count);
    }
    return true;
}

bool choose_streams(Invocation *invocation, ChosenStream **out, size_t *count_out, Err *err)
{
    Config *config = &invocation->config;
    Str     option = invocation->options.values[SET_CAPTURE_INSTANCE].text;

    *out       = ARENA_ARRAY(invocation->arena, ChosenStream,
                             MAX(invocation->arguments.count, config->stream_count) + 1);
    *count_out = 0;
    if (!template_check_defaults(config, err)) return false;
    if (option.len && invocation->arguments.count)
        return err_set(err, ERR_USAGE,
                       "name the stream as an argument or with --capture-instance, not both");
    if (option.len) *LIST_PUSH(invocation->arena, &invocation->arguments) = option;
    if (invocation->arguments.count)
        return choose_named(invocation, *out, count_out, err) &&
               refuse_shared(invocation, *count_out, err);
    for (size_t i = 0; i < config->stream_count; i++)
        (*out)[(*count_out)++] = (ChosenStream){
            .name     = config->streams[i].values[SET_CAPTURE_INSTANCE].text,
            .settings = config_stream(config, i, &invocation->options)};
    if (*count_out == 0)
        return err_set(err, ERR_USAGE,
                       "no stream is named: give --capture-instance (for example dbo_orders), or a "
                       "configuration file with streams");
    return refuse_shared(invocation, *count_out, err);
}

bool choose_stream(Invocation *invocation, ChosenStream **out, Err *err)
{
    size_t count;

    if (!choose_streams(invocation, out, &count, err)) return false;
    return count == 1 ||
           err_set(err, ERR_USAGE, "tidelake %s takes one capture instance at a time: name it",
                   invocation->command->name);
}

/* --- options --- */

static TableRef table_ref(const Settings *settings, SettingId id, Arena *arena)
{
    const SettingValue *value = &settings->values[id];
    Str                 text  = settings_text(settings, id);

    return (TableRef){.label = value->label.len ? value->label : text,
                      .path  = wire_lake_path(arena, settings, text)};
}

SourceOptions source_options_from_settings(const Settings *settings)
{
    return (SourceOptions){
        .connection        = settings_text(settings, SET_CONNECTION),
        .time_zone         = settings_text(settings, SET_TIME_ZONE),
        .connect_timeout_s = settings_integer(settings, SET_CONNECT_TIMEOUT, 30),
        .silence_timeout_s = settings_integer(settings, SET_SILENCE_TIMEOUT, 300),
        .lock_timeout_ms   = settings_integer(settings, SET_LOCK_TIMEOUT_MS, -1),
        .fetch_rows        = settings_integer(settings, SET_FETCH_ROWS, 10000),
        .num_partitions    = MIN(
               settings_integer(settings, SET_NUM_PARTITIONS,
                                MIN(environment_core_count(), DEFAULT_PARTITIONS_MOST)),
               LIMIT_PARTITIONS),
        .isolation_snapshot = str_equal_ignoring_case(settings_text(settings, SET_ISOLATION),
                                                      STR("snapshot")),
        .include_command_id = settings_bool(settings, SET_INCLUDE_COMMAND_ID),
    };
}

static bool is_chunked(const Settings *settings)
{
    return str_equal_ignoring_case(settings_text(settings, SET_SNAPSHOT), STR("chunked"));
}

/* Settings that undo each other. */
static bool refuse_contradictions(const Settings *settings, Err *err)
{
    bool resnapshots = str_equal_ignoring_case(settings_text(settings, SET_ON_DATA_LOSS),
                                               STR("resnapshot"));

    if (resnapshots && !settings_bool(settings, SET_FAIL_ON_DATA_LOSS))
        return err_set(err, ERR_USAGE,
                       "on_data_loss: resnapshot with fail_on_data_loss: false: a purge during the "
                       "run would be skipped, and the next run would not see the gap; leave "
                       "fail_on_data_loss out");
    if (is_chunked(settings) && settings_bool(settings, SET_BOOTSTRAP) &&
        !settings_text(settings, SET_FACTS).len)
        return err_set(
            err, ERR_USAGE,
            "snapshot: chunked is kept in the facts table: name one (--facts, lake.facts)");
    if (settings_bool(settings, SET_BOOTSTRAP) && settings_is_given(settings, SET_STARTING_LSN))
        return err_set(err, ERR_USAGE,
                       "bootstrap starts the stream at its snapshot's LSN, so starting_lsn has no "
                       "say; pass one or the other");
    return true;
}

/* What the format knows and this version cannot do yet stops before anything is read. */
static bool refuse_unbuilt(const Settings *settings, Err *err)
{
    if (str_equal_ignoring_case(settings_text(settings, SET_ON_DATA_LOSS), STR("resnapshot")))
        return err_set(err, ERR_USAGE,
                       "on_data_loss: resnapshot is not in this version; use on_data_loss: fail");
    if (settings_bool(settings, SET_SNAPSHOT_ON_SWITCH))
        return err_set(err, ERR_USAGE, "snapshot_on_switch is not in this version; leave it out");
    return true;
}

static void read_start(const Settings *settings, StreamOptions *out)
{
    Str text = settings_text(settings, SET_STARTING_LSN);

    out->starting_given = settings_is_given(settings, SET_STARTING_LSN);
    out->starting       = START_EARLIEST;
    if (str_equal_ignoring_case(text, STR("latest")))
        out->starting = START_LATEST;
    else if (lsn_parse(text, &out->starting_lsn))
        out->starting = START_LSN;
}

static Trigger read_trigger(const Settings *settings)
{
    Str text = settings_text(settings, SET_TRIGGER);

    if (str_equal_ignoring_case(text, STR("available-now"))) return TRIGGER_AVAILABLE_NOW;
    return str_equal_ignoring_case(text, STR("interval")) ? TRIGGER_INTERVAL : TRIGGER_CONTINUOUS;
}

/* What does not depend on how the stream runs. */
static bool read_table_options(const Settings *settings, Arena *arena, StreamOptions *out, Err *err)
{
    *out = (StreamOptions){
        .capture_instance   = settings_text(settings, SET_CAPTURE_INSTANCE),
        .source             = source_options_from_settings(settings),
        .bronze             = table_ref(settings, SET_BRONZE, arena),
        .facts              = table_ref(settings, SET_FACTS, arena),
        .app_id             = settings_text(settings, SET_APP_ID),
        .snapshot_keys      = settings->values[SET_SNAPSHOT_KEYS].items,
        .snapshot_key_count = settings->values[SET_SNAPSHOT_KEYS].item_count,
    };
    if (settings_is_given(settings, SET_COLUMNS) &&
        !column_list_parse(settings_text(settings, SET_COLUMNS), arena, &out->columns, err))
        return false;
    return check_name(out->capture_instance, err);
}

bool table_options_from_settings(const Settings *settings, Arena *arena, StreamOptions *out,
                                 Err *err)
{
    bool ok = require(settings, SET_CAPTURE_INSTANCE, "dbo_orders", err) &&
              require(settings, SET_CONNECTION, "\"Driver=FreeTDS;Server=...\"", err) &&
              require(settings, SET_BRONZE, "lake/bronze/orders", err);

    if (ok && settings_text(settings, SET_FACTS).len)
        ok = require(settings, SET_APP_ID, "orders-v1", err) ||
             err_context(err, "with facts the stream's name is needed, under which they are kept");
    return ok && read_table_options(settings, arena, out, err);
}

bool stream_options_from_settings(const Settings *settings, Arena *arena, StreamOptions *out,
                                  Err *err)
{
    bool ok = require(settings, SET_CAPTURE_INSTANCE, "dbo_orders", err) &&
              require(settings, SET_CONNECTION, "\"Driver=FreeTDS;Server=...\"", err) &&
              require(settings, SET_BRONZE, "lake/bronze/orders", err) &&
              require(settings, SET_APP_ID, "orders-v1", err) &&
              require(settings, SET_CHECKPOINT, "checkpoints/orders", err) &&
              refuse_contradictions(settings, err) && refuse_unbuilt(settings, err) &&
              read_table_options(settings, arena, out, err);

    if (!ok) return false;
    out->control    = table_ref(settings, SET_CONTROL, arena);
    out->plans      = table_ref(settings, SET_PLANS, arena);
    out->checkpoint = wire_lake_path(arena, settings, settings_text(settings, SET_CHECKPOINT));
    if (settings_is_given(settings, SET_LIBRARY_METRICS))
        out->library_metrics = wire_lake_path(arena, settings,
                                              settings_text(settings, SET_LIBRARY_METRICS));
    out->trigger               = read_trigger(settings);
    out->interval_ms           = settings_duration_ms(settings, SET_INTERVAL);
    out->poll_interval_ms      = settings_duration_ms(settings, SET_POLL_INTERVAL);
    out->max_commits_per_batch = settings_integer(settings, SET_MAX_COMMITS_PER_BATCH, 0);
    out->bootstrap             = settings_bool(settings, SET_BOOTSTRAP);
    out->snapshot_chunked      = is_chunked(settings);
    out->schema_change_fails   = str_equal_ignoring_case(
          settings_text(settings, SET_SCHEMA_CHANGE_POLICY), STR("fail"));
    out->skips_lost_changes = !settings_bool(settings, SET_FAIL_ON_DATA_LOSS);
    read_start(settings, out);
    return granularity_parse(settings_text(settings, SET_GRANULARITY), &out->granularity) ||
           err_set(err, ERR_INTERNAL, "unchecked granularity");
}

bool apply_options_from_settings(const Settings *settings, Arena *arena, ApplyOptions *out,
                                 Err *err)
{
    bool ok = require(settings, SET_CAPTURE_INSTANCE, "dbo_orders", err) &&
              require(settings, SET_CONNECTION, "\"Driver=FreeTDS;Server=...\"", err) &&
              require(settings, SET_BRONZE, "lake/bronze/orders", err) &&
              require(settings, SET_SILVER, "lake/silver/orders", err) &&
              require(settings, SET_CONTROL, "lake/ops/control", err) &&
              check_name(settings_text(settings, SET_CAPTURE_INSTANCE), err);

    if (!ok) return false;
    *out = (ApplyOptions){.bronze           = table_ref(settings, SET_BRONZE, arena),
                          .silver           = table_ref(settings, SET_SILVER, arena),
                          .control          = table_ref(settings, SET_CONTROL, arena),
                          .facts            = table_ref(settings, SET_FACTS, arena),
                          .plans            = table_ref(settings, SET_PLANS, arena),
                          .deletion_vectors = settings_bool(settings, SET_DELETION_VECTORS)};
    return granularity_parse(settings_text(settings, SET_GRANULARITY), &out->granularity) ||
           err_set(err, ERR_INTERNAL, "unchecked granularity");
}

bool verdict_options_from_settings(const Settings *settings, Arena *arena, VerdictOptions *out,
                                   Err *err)
{
    if (!require(settings, SET_CONTROL, "lake/ops/control", err)) return false;
    *out = (VerdictOptions){
        .control    = table_ref(settings, SET_CONTROL, arena),
        .bronze     = table_ref(settings, SET_BRONZE, arena),
        .silver     = table_ref(settings, SET_SILVER, arena),
        .facts      = table_ref(settings, SET_FACTS, arena),
        .checkpoint = settings_is_given(settings, SET_CHECKPOINT)
                          ? wire_lake_path(arena, settings, settings_text(settings, SET_CHECKPOINT))
                          : STR_EMPTY};
    return granularity_parse(settings_text(settings, SET_GRANULARITY), &out->granularity) ||
           err_set(err, ERR_INTERNAL, "unchecked granularity");
}
