/* cmd_stream.c - `tidelake stream`: one or many streams side by side, each in a task of its own. */
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/template.h"
#include "cli/wire.h"
#include "engine/streams.h"

static void write_result(JsonWriter *json, const void *arg)
{
    const StreamResult *result = arg;

    json_object_begin(json);
    json_member_i64(json, "batches", result->batches);
    json_member_i64(json, "rows", result->rows);
    json_member_lsn(json, "start_lsn", result->start_lsn);
    json_member_lsn(json, "end_lsn", result->end_lsn);
    json_member_time(json, "end_commit_ts", result->end_commit_ts);
    json_member_i64(json, "generation", result->generation);
    json_member_lsn(json, "snapshot", result->snapshot);
    json_object_end(json);
}

static Str describe(Arena *arena, const Outcome *outcome)
{
    const StreamResult *result   = outcome->result;
    LsnText             position = lsn_format(result->end_lsn.lsn);

    return str_printf(arena, "%.*s: %lld batch%s, %lld row%s, position %s%s",
                      STR_ARG(outcome->name), (long long)result->batches,
                      result->batches == 1 ? "" : "es", (long long)result->rows,
                      result->rows == 1 ? "" : "s", result->end_lsn.is_set ? position.text : "none",
                      outcome->ok                          ? ""
                      : outcome->err.code == ERR_CANCELLED ? " (stopped)"
                                                           : " (failed)");
}

static bool read_max_batches(const Invocation *invocation, int64_t *out, Err *err)
{
    Str text = invocation->flags[FLAG_MAX_BATCHES];

    *out = 0;
    if (!text.ptr) return true;
    return (str_parse_i64(text, out) && *out > 0) ||
           err_set(err, ERR_USAGE, "--max-batches is \"%.*s\"; allowed: a whole number from 1 on",
                   STR_ARG(text));
}

static bool read_options(const ChosenStream *chosen, StreamRun *runs, size_t count,
                         int64_t max_batches, Arena *arena, Err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!stream_options_from_settings(&chosen[i].settings, arena, &runs[i].options, err))
            return err_context(err, "%.*s", STR_ARG(chosen[i].name));
        runs[i].options.max_batches = max_batches;
    }
    return true;
}

static void take_outcomes(const ChosenStream *chosen, const StreamRun *runs, size_t count,
                          Outcome *outcomes)
{
    for (size_t i = 0; i < count; i++)
        outcomes[i] = (Outcome){.name   = chosen[i].name,
                                .ok     = runs[i].ok,
                                .err    = runs[i].err,
                                .result = runs[i].was_run ? &runs[i].result : NULL};
}

bool cmd_stream(Invocation *invocation, Err *err)
{
    static const OutcomeForm form  = {.write = write_result, .describe = describe};
    Arena                   *arena = invocation->arena;
    ChosenStream            *chosen;
    StreamRun               *runs;
    Outcome                 *outcomes;
    size_t                   count;
    int64_t                  max_batches;
    Wire                     wire;
    bool                     ok;

    if (!choose_streams(invocation, &chosen, &count, err) ||
        !read_max_batches(invocation, &max_batches, err))
        return false;
    runs     = ARENA_ARRAY(arena, StreamRun, count);
    outcomes = ARENA_ARRAY(arena, Outcome, count);
    if (!read_options(chosen, runs, count, max_batches, arena, err)) return false;
    ok = wire_open(invocation, &chosen[0].settings, true, &wire, err) &&
         template_fill(chosen, count, &wire.env, arena, err) &&
         read_options(chosen, runs, count, max_batches, arena, err);
    if (ok) {
        streams_run(&wire.env, runs, count);
        take_outcomes(chosen, runs, count, outcomes);
        ok = outcomes_finish(outcomes, count, &form, invocation->json, err);
    }
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
