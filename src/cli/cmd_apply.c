/* cmd_apply.c - `tidelake apply`: silver of one or many streams, one after the other. */
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/template.h"
#include "cli/wire.h"

typedef struct Applying {
    const Settings *settings;
    ApplyOptions    options;
    ApplyResult     result;
} Applying;

static void write_result(JsonWriter *json, const void *arg)
{
    const ApplyResult *result = arg;

    json_object_begin(json);
    json_member_bool(json, "rebuilt", result->rebuilt);
    json_member_lsn(json, "applied_lsn", result->applied_lsn);
    json_member_time(json, "finalized_until", result->finalized_until);
    json_member_i64(json, "rows_written", result->rows_written);
    json_member_i64(json, "rows_deleted", result->rows_deleted);
    json_member_i64(json, "waves_applied", result->waves_applied);
    json_member_bool(json, "bronze_found", result->bronze_found);
    json_object_end(json);
}

static Str describe(Arena *arena, const Outcome *outcome)
{
    const ApplyResult *result   = outcome->result;
    LsnText            position = lsn_format(result->applied_lsn.lsn);

    if (!result->bronze_found)
        return str_printf(arena, "%.*s: no bronze table yet", STR_ARG(outcome->name));
    Str waves = result->waves_applied == 0 ? STR_EMPTY
                                           : str_printf(arena, ", %lld wave%s of the open snapshot",
                                                        (long long)result->waves_applied,
                                                        result->waves_applied == 1 ? "" : "s");
    return str_printf(
        arena, "%.*s: %lld row%s written, %lld deleted%.*s, %s%s%s", STR_ARG(outcome->name),
        (long long)result->rows_written, result->rows_written == 1 ? "" : "s",
        (long long)result->rows_deleted, STR_ARG(waves),
        result->applied_lsn.is_set ? "applied up to " : "no change applied yet",
        result->applied_lsn.is_set ? position.text : "", result->rebuilt ? " (rebuilt)" : "");
}

static bool apply_one(Env *env, Str name, Applying *applying, Arena *arena, Err *err)
{
    const SettingValue *keys   = &applying->settings->values[SET_KEYS];
    SourceOptions       source = source_options_from_settings(applying->settings);

    return cancel_check(env->cancel, err) &&
           apply_resolve(env, &source, name, keys->items, keys->item_count, arena,
                         &applying->options, err) &&
           apply_run(env, &applying->options, &applying->result, err);
}

/* Streams of the file without silver are followed into bronze alone; a name asks for its own. */
static bool leave_out_bronze_only(const Invocation *invocation, ChosenStream *chosen, size_t *count,
                                  Err *err)
{
    size_t kept = 0;

    if (invocation->arguments.count) return true;
    for (size_t i = 0; i < *count; i++)
        if (settings_text(&chosen[i].settings, SET_SILVER).len) chosen[kept++] = chosen[i];
    *count = kept;
    return kept > 0 ||
           err_set(err, ERR_USAGE, "no stream of %.*s has `silver`, so there is nothing to apply",
                   STR_ARG(invocation->config.path));
}

static bool read_options(const ChosenStream *chosen, Applying *applying, size_t count, Arena *arena,
                         Err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!apply_options_from_settings(&chosen[i].settings, arena, &applying[i].options, err))
            return err_context(err, "%.*s", STR_ARG(chosen[i].name));
    return true;
}

bool cmd_apply(Invocation *invocation, Err *err)
{
    static const OutcomeForm form  = {.write = write_result, .describe = describe};
    Arena                   *arena = invocation->arena;
    ChosenStream            *chosen;
    Applying                *applying;
    Outcome                 *outcomes;
    size_t                   count;
    Wire                     wire;
    bool                     ok;

    if (!choose_streams(invocation, &chosen, &count, err) ||
        !leave_out_bronze_only(invocation, chosen, &count, err))
        return false;
    applying = ARENA_ARRAY(arena, Applying, count);
    outcomes = ARENA_ARRAY(arena, Outcome, count);
    for (size_t i = 0; i < count; i++) {
        applying[i].settings = &chosen[i].settings;
        outcomes[i].name     = chosen[i].name;
    }
    if (!read_options(chosen, applying, count, arena, err)) return false;
    ok = wire_open(invocation, &chosen[0].settings, true, &wire, err) &&
         template_fill(chosen, count, &wire.env, arena, err) &&
         read_options(chosen, applying, count, arena, err);
    for (size_t i = 0; ok && i < count; i++) {
        Outcome *outcome = &outcomes[i];
        outcome->ok      = apply_one(&wire.env, outcome->name, &applying[i], arena, &outcome->err);
        if (outcome->ok) outcome->result = &applying[i].result; /* half of one would mislead */
        outcome_log_failure(outcome, count, wire.env.log, "apply");
    }
    ok                      = ok && outcomes_finish(outcomes, count, &form, invocation->json, err);
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
