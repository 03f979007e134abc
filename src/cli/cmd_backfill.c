/* cmd_backfill.c - `tidelake backfill`: reads the open chunked snapshot of each stream, one stream after the
 * other. */
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/template.h"
#include "cli/wire.h"
#include "engine/backfill.h"

static void write_result(JsonWriter *json, const void *arg)
{
    const BackfillResult *result = arg;

    json_object_begin(json);
    json_member_lsn(json, "snapshot", result->snapshot);
    json_member_i64(json, "chunks_done", result->chunks_done);
    if (result->chunks_total.is_set)
        json_member_i64(json, "chunks_total", result->chunks_total.value);
    else
        json_member_null(json, "chunks_total");
    json_member_bool(json, "done", result->state == BACKFILL_DONE);
    json_member_bool(json, "paused", backfill_is_paused(result->state));
    json_member_str(json, "state", str_from_c(backfill_state_name(result->state)));
    if (result->reason.len)
        json_member_str(json, "reason", result->reason);
    else
        json_member_null(json, "reason");
    json_member_i64(json, "rows", result->rows);
    json_member_i64(json, "waves", result->waves);
    json_object_end(json);
}

static Str describe(Arena *arena, const Outcome *outcome)
{
    const BackfillResult *result = outcome->result;
    Str                   total  = result->chunks_total.is_set
                                       ? str_printf(arena, "%lld", (long long)result->chunks_total.value)
                                       : STR("?");

    if (!outcome->ok && !result->snapshot.is_set)
        return str_printf(arena, "%.*s: %s", STR_ARG(outcome->name),
                          outcome->err.code == ERR_CANCELLED ? "stopped" : "failed");
    if (result->state == BACKFILL_NO_SNAPSHOT) /* nothing is there to be counted */
        return str_printf(arena, "%.*s: %s: %.*s", STR_ARG(outcome->name),
                          backfill_state_name(result->state), STR_ARG(result->reason));
    return str_printf(arena, "%.*s: %s, %lld of %.*s chunks, %lld rows in %lld wave%s%s%.*s%s",
                      STR_ARG(outcome->name), backfill_state_name(result->state),
                      (long long)result->chunks_done, STR_ARG(total), (long long)result->rows,
                      (long long)result->waves, result->waves == 1 ? "" : "s",
                      result->reason.len ? ": " : "", STR_ARG(result->reason),
                      outcome->ok                          ? ""
                      : outcome->err.code == ERR_CANCELLED ? " (stopped)"
                                                           : " (failed)");
}

/* A limit of the call that is no setting of the file. */
static bool read_limit(const Invocation *invocation, FlagId flag, OptI64 *out, Err *err)
{
    Str text = invocation->flags[flag];

    *out = (OptI64){.is_set = false};
    if (!text.ptr) return true;
    out->is_set = str_parse_i64(text, &out->value) && out->value >= 0;
    return out->is_set ||
           err_set(err, ERR_USAGE, "%s is \"%.*s\"; allowed: a whole number from 0 on",
                   command_flag_name(flag), STR_ARG(text));
}

static bool read_seconds(const Invocation *invocation, OptDouble *out, Err *err)
{
    Str text = invocation->flags[FLAG_MAX_SECONDS];

    *out = (OptDouble){.is_set = false};
    if (!text.ptr) return true;
    out->is_set = parse_decimal(text, &out->value);
    return out->is_set || err_set(err, ERR_USAGE,
                                  "--max-seconds is \"%.*s\"; allowed: a number from 0 on, "
                                  "decimals too",
                                  STR_ARG(text));
}

static bool read_stream_options(const Invocation *invocation, const Settings *settings,
                                BackfillOptions *out, Err *err)
{
    *out = (BackfillOptions){
        .chunk_rows          = settings_integer(settings, SET_CHUNK_ROWS, 1000000),
        .target_wave_seconds = settings_decimal(settings, SET_TARGET_WAVE_SECONDS, 300)};
    double headroom = settings_decimal(settings, SET_MIN_HEADROOM_HOURS, -1);
    if (headroom >= 0) out->min_headroom_hours = OPT_DOUBLE(headroom);
    if (!read_limit(invocation, FLAG_MAX_WAVES, &out->max_waves, err) ||
        !read_seconds(invocation, &out->max_seconds, err))
        return false;
    return stream_options_from_settings(settings, invocation->arena, &out->stream, err);
}

static bool read_options(const Invocation *invocation, const ChosenStream *chosen, size_t count,
                         BackfillOptions *out, Err *err)
{
    for (size_t i = 0; i < count; i++)
        if (!read_stream_options(invocation, &chosen[i].settings, &out[i], err))
            return err_context(err, "%.*s", STR_ARG(chosen[i].name));
    return true;
}

/* Names the first snapshot that is not complete; that of a stream that has none to read is not. */
static bool check_done(const Outcome *outcomes, const BackfillResult *results, size_t count,
                       Arena *arena, Err *err)
{
    for (size_t i = 0; i < count; i++) {
        const BackfillResult *result = &results[i];
        Str                   why    = result->reason;

        if (result->state == BACKFILL_DONE) continue;
        if (why.len == 0 && !result->chunks_total.is_set) why = STR("it is not planned yet");
        if (why.len == 0)
            why = str_printf(arena, "%lld of %lld chunks are in", (long long)result->chunks_done,
                             (long long)result->chunks_total.value);
        return err_set(err, ERR_NOT_YET, "--require-done: %.*s is not complete: %.*s",
                       STR_ARG(outcomes[i].name), STR_ARG(why));
    }
    return true;
}

bool cmd_backfill(Invocation *invocation, Err *err)
{
    static const OutcomeForm form = {.write = write_result, .describe = describe};
    ChosenStream            *chosen;
    BackfillOptions         *options;
    BackfillResult          *results;
    Outcome                 *outcomes;
    size_t                   count;
    Wire                     wire;
    bool                     ok;

    if (!choose_streams(invocation, &chosen, &count, err)) return false;
    options  = ARENA_ARRAY(invocation->arena, BackfillOptions, count);
    results  = ARENA_ARRAY(invocation->arena, BackfillResult, count);
    outcomes = ARENA_ARRAY(invocation->arena, Outcome, count);
    if (!read_options(invocation, chosen, count, options, err)) return false;
    ok = wire_open(invocation, &chosen[0].settings, true, &wire, err) &&
         template_fill(chosen, count, &wire.env, invocation->arena, err) &&
         read_options(invocation, chosen, count, options, err);
    for (size_t i = 0; ok && i < count; i++) {
        Outcome *outcome = &outcomes[i];

        *outcome    = (Outcome){.name = chosen[i].name, .err = ERR_INIT, .result = &results[i]};
        outcome->ok = backfill_run(&wire.env, &options[i], invocation->arena, &results[i],
                                   &outcome->err);
        outcome_log_failure(outcome, count, wire.env.log, "backfill");
    }
    ok = ok && outcomes_finish(outcomes, count, &form, invocation->json, err);
    if (ok && invocation_has(invocation, FLAG_REQUIRE_DONE))
        ok = check_done(outcomes, results, count, invocation->arena, err);
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
