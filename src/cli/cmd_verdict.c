/* cmd_verdict.c - `tidelake verdict`: up to when tables are complete, table by table. */
#include "cli/nearest.h"
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/template.h"
#include "cli/wire.h"

typedef enum Action { ACTION_SHOW, ACTION_ADVANCE, ACTION_CHECK } Action;
static const char *const action_names[] = {"show", "advance", "check"};

typedef enum TableRole { ROLE_BRONZE, ROLE_SILVER, ROLE_OTHER } TableRole;

/* A table that was asked for. */
typedef struct Tracked {
    Str                   name; /* as control holds it */
    TableRole             role;
    Str                   granularity; /* empty: unknown */
    const VerdictOptions *options;
    VerdictState          state;
    Action                action;
    int64_t               until_us;
} Tracked;

typedef struct TableList {
    LIST(Tracked) items;
    const VerdictOptions *options; /* of each stream; at [stream_count] those of no stream */
    const ChosenStream   *streams;
    size_t                stream_count;
    Settings              shared; /* of no stream */
    Arena                *arena;
} TableList;

/* --- results --- */

static bool is_final(const Tracked *tracked)
{
    return verdict_is_final(&tracked->state, tracked->until_us);
}

static void member_age(JsonWriter *json, const char *key, OptI64 age)
{
    if (age.is_set)
        json_member_i64(json, key, age.value);
    else
        json_member_null(json, key);
}

static void write_result(JsonWriter *json, const void *arg)
{
    const Tracked    *tracked = arg;
    const ControlRow *row     = &tracked->state.row;

    json_object_begin(json);
    json_member_str(json, "table_name", tracked->name);
    json_member_time(json, "finalized_until", row->finalized_until);
    json_member_lsn(json, "end_lsn", row->end_lsn);
    json_member_time(json, "end_commit_ts", row->end_commit_ts);
    if (tracked->granularity.len)
        json_member_str(json, "granularity", tracked->granularity);
    else
        json_member_null(json, "granularity");
    json_member_time(json, "updated_at", row->updated_at);
    member_age(json, "verdict_age_s", tracked->state.verdict_age_s);
    member_age(json, "move_age_s", tracked->state.move_age_s);
    json_member_lsn(json, "open_snapshot_lsn", row->open_snapshot_lsn);
    if (tracked->action == ACTION_CHECK) {
        json_member_time(json, "until", OPT_TIME(tracked->until_us));
        json_member_bool(json, "final", is_final(tracked));
    }
    json_object_end(json);
}

static Str describe_hold(Arena *arena, const Tracked *tracked)
{
    OptLsn open = tracked->state.row.open_snapshot_lsn;

    if (!open.is_set) return STR_EMPTY;
    return str_printf(arena, "; held by the open snapshot %s", lsn_format(open.lsn).text);
}

static Str describe_state(Arena *arena, const Tracked *tracked)
{
    const VerdictState *state = &tracked->state;

    if (!state->row.finalized_until.is_set) return STR("no verdict yet");
    return str_printf(arena, "complete until %.*s",
                      STR_ARG(time_format_ms(arena, state->row.finalized_until.utc_us)));
}

static Str describe(Arena *arena, const Outcome *outcome)
{
    const Tracked      *tracked = outcome->result;
    const VerdictState *state   = &tracked->state;
    Str                 text    = describe_state(arena, tracked);
    Str                 hold    = describe_hold(arena, tracked);

    if (tracked->action == ACTION_CHECK)
        return str_printf(arena, "%.*s: %s at %.*s, %.*s%.*s", STR_ARG(tracked->name),
                          is_final(tracked) ? "final" : "not final",
                          STR_ARG(time_format_ms(arena, tracked->until_us)), STR_ARG(text),
                          STR_ARG(hold));
    if (!state->verdict_age_s.is_set || !state->move_age_s.is_set)
        return str_printf(arena, "%.*s: %.*s%.*s", STR_ARG(tracked->name), STR_ARG(text),
                          STR_ARG(hold));
    return str_printf(arena, "%.*s: %.*s, %lld s ago; moved %lld s ago%.*s", STR_ARG(tracked->name),
                      STR_ARG(text), (long long)state->verdict_age_s.value,
                      (long long)state->move_age_s.value, STR_ARG(hold));
}

/* --- which tables --- */

static void add_table(TableList *list, Str name, TableRole role, size_t stream)
{
    const Settings *settings = stream < list->stream_count ? &list->streams[stream].settings
                                                           : &list->shared;
    bool            is_known = role != ROLE_OTHER || settings_is_given(settings, SET_GRANULARITY);

    for (size_t i = 0; i < list->items.count; i++) /* named twice */
        if (str_equal(list->items.items[i].name, name)) return;
    *LIST_PUSH(list->arena, &list->items) = (Tracked){
        .name        = name,
        .role        = role,
        .granularity = is_known ? settings_text(settings, SET_GRANULARITY) : STR_EMPTY,
        .options     = &list->options[stream]};
}

static void add_stream(TableList *list, size_t stream)
{
    const VerdictOptions *options = &list->options[stream];

    if (options->bronze.label.len) add_table(list, options->bronze.label, ROLE_BRONZE, stream);
    if (options->silver.label.len) add_table(list, options->silver.label, ROLE_SILVER, stream);
}

static bool names_table(const TableRef *ref, Str text, Str name)
{
    return ref->label.len > 0 && (str_equal(ref->label, name) || str_equal(text, name));
}

static void add_named(TableList *list, Str name)
{
    for (size_t i = 0; i < list->stream_count; i++) {
        const VerdictOptions *options  = &list->options[i];
        const Settings       *settings = &list->streams[i].settings;

        if (names_table(&options->bronze, settings_text(settings, SET_BRONZE), name)) {
            add_table(list, options->bronze.label, ROLE_BRONZE, i);
            return;
        }
        if (names_table(&options->silver, settings_text(settings, SET_SILVER), name)) {
            add_table(list, options->silver.label, ROLE_SILVER, i);
            return;
        }
    }
    for (size_t i = 0; i < list->stream_count; i++)
        if (str_equal(list->streams[i].name, name)) {
            add_stream(list, i);
            return;
        }
    add_table(list, name, ROLE_OTHER, list->stream_count);
}

/* Without streams: whatever control holds. */
static bool add_control_rows(TableList *list, Env *env, Err *err)
{
    const TableRef *ref     = &list->options[list->stream_count].control;
    Control        *control = NULL;
    Str            *names;
    size_t          count = 0;
    bool            ok    = control_open_if_exists(env->delta, ref, &control, err) &&
              (!control || control_list(control, list->arena, &names, &count, err));

    for (size_t i = 0; ok && i < count; i++)
        add_table(list, names[i], ROLE_OTHER, list->stream_count);
    if (ok && count == 0)
        ok = err_set(err, ERR_USAGE,
                     "no table is named, the configuration file has none, and %s %.*s: name a "
                     "bronze or silver table",
                     control ? "nothing is in control table" : "there is no control table at",
                     STR_ARG(ref->path));
    control_close(control);
    return ok;
}

static bool list_tables(TableList *list, const Str *names, size_t count, Env *env, Err *err)
{
    for (size_t i = 0; i < count; i++)
        add_named(list, names[i]);
    if (count > 0) return true;
    for (size_t i = 0; i < list->stream_count; i++)
        add_stream(list, i);
    if (list->stream_count == 0) return add_control_rows(list, env, err);
    return list->items.count > 0 ||
           err_set(err, ERR_USAGE,
                   "no table is named, and no stream of the configuration file has a bronze or "
                   "silver");
}

/* --- the streams --- */

/* Every stream of the file, the one that --capture-instance names, or the one that options describe. */
static bool find_streams(Invocation *invocation, ChosenStream **out, size_t *count_out, Err *err)
{
    const SettingValue *options = invocation->options.values;
    bool                is_described;

    *out       = ARENA_NEW(invocation->arena, ChosenStream);
    *count_out = 0;
    invocation->arguments.count =
        0; /* they are tables, which choose_streams would take for streams */
    is_described = options[SET_BRONZE].is_set || options[SET_SILVER].is_set;
    if (invocation->config.stream_count || options[SET_CAPTURE_INSTANCE].is_set)
        return choose_streams(invocation, out, count_out, err);
    if (!is_described) return true;
    (*out)->settings = config_stream(&invocation->config, 0, &invocation->options);
    *count_out       = 1;
    return true;
}

static bool read_options(TableList *list, Err *err)
{
    VerdictOptions *options = ARENA_ARRAY(list->arena, VerdictOptions, list->stream_count + 1);

    list->options = options;
    for (size_t i = 0; i < list->stream_count; i++)
        if (!verdict_options_from_settings(&list->streams[i].settings, list->arena, &options[i],
                                           err))
            return list->streams[i].name.len
                       ? err_context(err, "%.*s", STR_ARG(list->streams[i].name))
                       : false;
    return verdict_options_from_settings(&list->shared, list->arena, &options[list->stream_count],
                                         err);
}

/* --- actions --- */

static bool advance_table(Env *env, Tracked *tracked, Err *err)
{
    const VerdictOptions *options = tracked->options;
    const char           *missing = NULL;

    if (tracked->role == ROLE_OTHER)
        return err_set(
            err, ERR_USAGE,
            "no stream writes %.*s: to advance a verdict its stream has to be known; "
            "name it in a configuration file, or give --bronze and --checkpoint, for a silver "
            "--bronze and --silver",
            STR_ARG(tracked->name));
    if (!options->bronze.label.len)
        missing = "--bronze";
    else if (tracked->role == ROLE_BRONZE && !options->checkpoint.len)
        missing = "--checkpoint";
    if (missing)
        return err_set(err, ERR_USAGE, "%.*s: advance needs %s", STR_ARG(tracked->name), missing);
    return tracked->role == ROLE_BRONZE
               ? verdict_advance_bronze(env, options, &tracked->state, err)
               : verdict_advance_silver(env, options, &tracked->state, err);
}

static bool act(Env *env, Tracked *tracked, Err *err)
{
    if (!cancel_check(env->cancel, err)) return false;
    if (tracked->action == ACTION_ADVANCE) return advance_table(env, tracked, err);
    if (!verdict_read(env, &tracked->options->control, tracked->name, &tracked->state, err))
        return false;
    if (tracked->role == ROLE_OTHER && !tracked->state.row.exists)
        log_warn(env->log, "verdict",
                 "neither control nor the configuration has a table of this name",
                 LOG_STR("table", tracked->name));
    return true;
}

/* 6 when one of them is not final. */
static bool demand_final(const Tracked *tables, size_t count, Arena *arena, Err *err)
{
    for (size_t i = 0; i < count; i++) {
        const Tracked *tracked = &tables[i];

        if (is_final(tracked)) continue;
        return err_set(err, ERR_NOT_YET, "%.*s is not final at %.*s: %.*s%.*s",
                       STR_ARG(tracked->name), STR_ARG(time_format_ms(arena, tracked->until_us)),
                       STR_ARG(describe_state(arena, tracked)),
                       STR_ARG(describe_hold(arena, tracked)));
    }
    return true;
}

static bool act_on_all(TableList *list, Wire *wire, Action action, int64_t until_us,
                       Invocation *invocation, Err *err)
{
    static const OutcomeForm form     = {.write = write_result, .describe = describe};
    size_t                   count    = list->items.count;
    Outcome                 *outcomes = ARENA_ARRAY(list->arena, Outcome, count);

    for (size_t i = 0; i < count; i++) {
        Tracked *tracked  = &list->items.items[i];
        Outcome *outcome  = &outcomes[i];
        tracked->action   = action;
        tracked->until_us = until_us;
        *outcome          = (Outcome){.name = tracked->name, .err = ERR_INIT};
        outcome->ok       = act(&wire->env, tracked, &outcome->err);
        if (outcome->ok) outcome->result = tracked;
        outcome_log_failure(outcome, count, wire->env.log, "verdict");
    }
    return outcomes_finish(outcomes, count, &form, invocation->json, err) &&
           (action != ACTION_CHECK || demand_final(list->items.items, count, list->arena, err));
}

static bool find_action(const Invocation *invocation, Action *out, Err *err)
{
    Str     name    = invocation->arguments.count ? invocation->arguments.items[0] : STR_EMPTY;
    Nearest nearest = nearest_to(name);

    for (size_t i = 0; i < COUNT_OF(action_names); i++) {
        nearest_offer(&nearest, str_from_c(action_names[i]));
        if (!str_equal_c(name, action_names[i])) continue;
        *out = (Action)i;
        return true;
    }
    if (nearest.best.len && name.len)
        return err_set(err, ERR_USAGE, "unknown action %.*s; did you mean %.*s?", STR_ARG(name),
                       STR_ARG(nearest.best));
    return err_set(err, ERR_USAGE, "usage: tidelake verdict show|advance|check [TABLE...]");
}

static bool read_until(const Invocation *invocation, Action action, int64_t *out, Err *err)
{
    Str text = invocation->flags[FLAG_UNTIL];

    if (action != ACTION_CHECK)
        return !text.ptr ||
               err_set(err, ERR_USAGE, "verdict %s has no option --until", action_names[action]);
    if (!text.ptr)
        return err_set(err, ERR_USAGE,
                       "verdict check needs --until TIME, the end of the period "
                       "asked about");
    return time_parse(text, out) ||
           err_set(err, ERR_USAGE,
                   "--until is \"%.*s\"; allowed: a time such as 2026-09-28T15:00:00, UTC, or "
                   "2026-09-28T17:00:00+02:00",
                   STR_ARG(text));
}

bool cmd_verdict(Invocation *invocation, Err *err)
{
    Arena        *arena    = invocation->arena;
    int64_t       until_us = 0;
    TableList     list     = {.arena = arena};
    ChosenStream *streams;
    Action        action = ACTION_SHOW;
    Str          *names;
    size_t        count;
    Wire          wire;
    bool          ok;

    if (!find_action(invocation, &action, err) || !read_until(invocation, action, &until_us, err))
        return false;
    count = invocation->arguments.count - 1;
    names = ARENA_ARRAY(arena, Str, count + 1);
    for (size_t i = 0; i < count; i++)
        names[i] = invocation->arguments.items[i + 1];
    list.shared = config_stream(&invocation->config, SIZE_MAX, &invocation->options);
    if (!find_streams(invocation, &streams, &list.stream_count, err)) return false;
    list.streams = streams;
    if (!read_options(&list, err)) return false;
    ok = wire_open(invocation, &list.shared, template_needs_source(streams, list.stream_count),
                   &wire, err) &&
         (list.stream_count == 0 ||
          template_fill(streams, list.stream_count, &wire.env, arena, err)) &&
         read_options(&list, err) && list_tables(&list, names, count, &wire.env, err) &&
         act_on_all(&list, &wire, action, until_us, invocation, err);
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
