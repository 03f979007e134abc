/* snapshot_outcome.c - one stream, one snapshot, {lsn, commit_ts, rows}. */
#include "cli/snapshot_outcome.h"

#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/template.h"
#include "cli/wire.h"

static void write_result(JsonWriter *json, const void *arg)
{
    const SnapshotResult *result = arg;

    json_object_begin(json);
    json_member_lsn(json, "lsn", result->lsn);
    json_member_time(json, "commit_ts", result->commit_ts);
    if (result->rows.is_set)
        json_member_i64(json, "rows", result->rows.value);
    else
        json_member_null(json, "rows");
    json_object_end(json);
}

static Str describe(Arena *arena, const Outcome *outcome)
{
    const SnapshotResult *result = outcome->result;
    LsnText               lsn    = lsn_format(result->lsn.lsn);

    if (!result->lsn.is_set)
        return str_printf(arena, "%.*s: %s", STR_ARG(outcome->name),
                          outcome->err.code == ERR_CANCELLED ? "stopped" : "failed");
    if (!result->rows.is_set)
        return str_printf(arena, "%.*s: a snapshot at %s is there, nothing was written",
                          STR_ARG(outcome->name), lsn.text);
    return str_printf(arena, "%.*s: %lld row%s at %s", STR_ARG(outcome->name),
                      (long long)result->rows.value, result->rows.value == 1 ? "" : "s", lsn.text);
}

bool snapshot_command_run(Invocation *invocation, SnapshotWork work, void *arg, Err *err)
{
    static const OutcomeForm form = {.write = write_result, .describe = describe};
    ChosenStream            *chosen;
    StreamOptions            options;
    SnapshotResult           result  = {.lsn = {.is_set = false}};
    Outcome                  outcome = {.err = ERR_INIT, .result = &result};
    Wire                     wire;
    bool                     ok;

    if (!choose_stream(invocation, &chosen, err)) return false;
    if (!table_options_from_settings(&chosen->settings, invocation->arena, &options, err))
        return err_context(err, "%.*s", STR_ARG(chosen->name));
    outcome.name = chosen->name;
    ok           = wire_open(invocation, &chosen->settings, true, &wire, err) &&
         template_fill(chosen, 1, &wire.env, invocation->arena, err) &&
         table_options_from_settings(&chosen->settings, invocation->arena, &options, err);
    if (ok) {
        outcome.ok = work(&wire.env, &options, arg, &result, &outcome.err);
        ok         = outcomes_finish(&outcome, 1, &form, invocation->json, err);
    }
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
