/* cmd_stream.c - `tidelake stream`: one or many streams side by side, each in a task of its own. */
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/stream_settings.h"
#include "cli/template.h"
#include "cli/wire.h"
#include "engine/compact.h"
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
    LsnText             snapshot = lsn_format(result->snapshot.lsn);

    return str_printf(arena, "%.*s: %lld batch%s, %lld row%s of changes, position %s%s%s%s",
                      STR_ARG(outcome->name), (long long)result->batches,
                      result->batches == 1 ? "" : "es", (long long)result->rows,
                      result->rows == 1 ? "" : "s", result->end_lsn.is_set ? position.text : "none",
                      result->snapshot.is_set ? ", snapshot at " : "",
                      result->snapshot.is_set ? snapshot.text : "",
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

/* --- compaction --- */

typedef LIST(CompactTable) CompactTables;

/* The facts of many streams are one table. */
static void add_table(CompactTables *tables, Str path, int64_t commits, Arena *arena)
{
    if (path.len == 0 || commits == 0) return;
    for (size_t i = 0; i < tables->count; i++)
        if (str_equal(tables->items[i].path, path)) return;
    *LIST_PUSH(arena, tables) = (CompactTable){.path = path, .commits = commits};
}

static Compactor *start_compactor(Env *env, const ChosenStream *chosen, const StreamRun *runs,
                                  size_t count, Arena *arena)
{
    CompactTables tables = {0};

    for (size_t i = 0; i < count; i++) {
        const Settings *settings = &chosen[i].settings;
        add_table(&tables, runs[i].options.bronze.path,
                  settings_integer(settings, SET_COMPACT_BRONZE, 0), arena);
        add_table(&tables, runs[i].options.facts.path,
                  settings_integer(settings, SET_COMPACT_FACTS, 0), arena);
    }
    return compactor_start(env, tables.items, tables.count);
}

static bool all_went_well(const Outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!outcomes[i].ok) return false;
    return true;
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
    Compactor               *compactor;
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
        compactor = start_compactor(&wire.env, chosen, runs, count, arena);
        streams_run(&wire.env, runs, count);
        take_outcomes(chosen, runs, count, outcomes);
        compactor_stop(compactor, all_went_well(outcomes, count));
        ok = outcomes_finish(outcomes, count, &form, invocation->json, err);
    }
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
