/* stream.c - a run of a stream: its start, its triggers, its end
 * (algorithms.md 2.2, 2.3, 2.10, 2.12). One batch is batch.c's. */
#include "engine/stream.h"

#include "engine/plan_batch.h"
#include "engine/snapshot.h"
#include "engine/stream_internal.h"
#include "types/sink_id.h"

/* --- what the source offers --- */

/* Following a second instance is not built yet; reading past its start would lose what only it
 * captures. */
bool stream_check_instances(const CaptureTable *table, Err *err)
{
    const CaptureInstance *newer = &table->instances[table->instance_count - 1];

    if (table->instance_count == 1) return true;
    return err_set(err, ERR_SCHEMA_CHANGED,
                   "table %.*s.%.*s has a second capture instance, %.*s, from LSN %s on; this "
                   "version cannot follow it: disable the one you do not want to read",
                   STR_ARG(newer->source_schema), STR_ARG(newer->source_table),
                   STR_ARG(newer->name), lsn_format(newer->start_lsn).text);
}

bool stream_find_table(Stream *stream, Err *err)
{
    return mssql_find_table(stream->mssql, stream->options->capture_instance, stream->arena,
                            &stream->table, err) &&
           stream_check_instances(&stream->table, err) && stream_choose_columns(stream, err);
}

static bool check_grant(Stream *stream, Err *err)
{
    bool can;
    Str  grant;

    if (!mssql_can_read_changes(stream->mssql, &stream->table.instances[0], stream->arena, &can,
                                &grant, err))
        return false;
    return can || err_set(err, ERR_PERMISSION,
                          "the login may not read the change table of %.*s: run %.*s (each capture "
                          "instance has its own change table)",
                          STR_ARG(stream->table.instances[0].name), STR_ARG(grant));
}

/* --- where to start --- */

static bool start_earliest(Stream *stream, Lsn *out, Err *err)
{
    const CaptureInstance *oldest = &stream->table.instances[0];
    Lsn                    low;
    bool                   is_set;

    if (!mssql_min_lsn(stream->mssql, oldest->name, &low, &is_set, err)) return false;
    if (!is_set && !oldest->has_start_lsn)
        return err_set(err, ERR_SOURCE_STATE,
                       "capture instance %.*s has no start LSN yet; retry once the capture job ran",
                       STR_ARG(oldest->name));
    return mssql_previous_lsn(stream->mssql, is_set ? low : oldest->start_lsn, out, err);
}

/* The configured start (2.2), or the live generation's. */
static bool find_start(Stream *stream, Offset *out, Err *err)
{
    const StreamOptions *options = stream->options;

    if (checkpoint_has_generation_start(stream->checkpoint, out)) return true;
    if (options->bootstrap) {
        *out = stream->bootstrap_start;
        return true;
    }
    switch (options->starting) {
    case START_EARLIEST:
        if (!start_earliest(stream, &out->lsn, err)) return false;
        break;
    case START_LATEST:
        if (!snapshot_stamp(stream->mssql, &stream->table.instances[0], out, err)) return false;
        if (lsn_is_zero(out->lsn))
            return err_set(err, ERR_SOURCE_STATE,
                           "nothing is captured yet, so there is no latest position; is SQL Server "
                           "Agent running? Retry once the capture job ran");
        break;
    case START_LSN: out->lsn = options->starting_lsn; break;
    }
    return mssql_commit_time(stream->mssql, out->lsn, &out->commit_ts, err);
}

/* The position from the checkpoint; a new one begins at the configured start. A planned batch 0
 * keeps the start it was planned with: an edited option must not move it. */
static bool find_position(Stream *stream, Err *err)
{
    if (checkpoint_find_committed(stream->checkpoint, &(int64_t){0}, &stream->position))
        return true;
    if (checkpoint_find_start(stream->checkpoint, &stream->position)) return true;
    return find_start(stream, &stream->position, err);
}

/* Sets the next batch from the checkpoint. A new batch must be newer than every batch of ours in
 * bronze and the facts: their txn would skip it, and its rows would be lost (2.11). Only a planned
 * one may be in already. Before a snapshot is taken, which would be for nothing. */
static bool check_rewind(Stream *stream, Err *err)
{
    int64_t committed;
    bool    is_planned = checkpoint_find_planned(stream->checkpoint, &(int64_t){0}, &(Offset){0});
    OptI64  last       = {0};
    int64_t in_bronze;

    stream->next_batch = 0;
    if (checkpoint_find_committed(stream->checkpoint, &committed, &(Offset){0}))
        stream->next_batch = committed + 1;
    if (stream->facts && !facts_find_last_batch(stream->facts, stream->sink_id, &last, err))
        return false;
    if (bronze_find_last_batch(stream->bronze, stream->sink_id, &in_bronze) &&
        (!last.is_set || in_bronze > last.value))
        last = OPT_I64(in_bronze);
    if (!last.is_set || last.value < stream->next_batch + is_planned) return true;
    if (!checkpoint_has_metadata(stream->checkpoint))
        return err_set(err, ERR_STATE,
                       "the tables hold batch %lld of app_id %.*s, but there is no checkpoint at "
                       "%.*s: either the path leads elsewhere than when they were written (another "
                       "folder, machine or mount), or it was deleted; name the one that belongs to "
                       "them or restore it, else use a new app_id with a new checkpoint",
                       (long long)last.value, STR_ARG(stream->sink_id),
                       STR_ARG(checkpoint_get_path(stream->checkpoint)));
    return err_set(err, ERR_STATE,
                   "the tables hold batch %lld of app_id %.*s, but this run starts at batch %lld: "
                   "the checkpoint %.*s was deleted or rewound (or another run is using it), and "
                   "every write up to batch %lld would be skipped; restore the checkpoint, or use "
                   "a new app_id with a new checkpoint",
                   (long long)last.value, STR_ARG(stream->sink_id), (long long)stream->next_batch,
                   STR_ARG(stream->options->checkpoint), (long long)last.value);
}

/* --- opening and closing --- */

static bool open_source(Stream *stream, Err *err)
{
    MssqlOptions options = source_mssql_options(stream->env, &stream->options->source,
                                                stream->options->capture_instance);

    return mssql_open(&options, &stream->mssql, err) && stream_find_table(stream, err) &&
           check_grant(stream, err);
}

#define OTHER_NAMES_MOST 16

bool stream_check_bronze(Stream *stream, Err *err)
{
    const CaptureTable *table = &stream->table;
    Str                *names = ARENA_ARRAY(stream->arena, Str, table->instance_count + 1);
    Str                *others, instance;
    size_t              count;
    SourceTable         other;

    for (size_t i = 0; i < table->instance_count; i++)
        names[i] = table->instances[i].name;
    names[table->instance_count] = stream->options->capture_instance;
    bronze_find_others(stream->bronze, names, table->instance_count + 1, OTHER_NAMES_MOST,
                       stream->arena, &others, &count);
    if (!mssql_find_other_table(stream->mssql, table, others, count, stream->arena, &instance,
                                &other, err))
        return false;
    if (instance.len)
        return err_set(
            err, ERR_STATE,
            "bronze table %.*s holds changes of capture instance %.*s, which is of table "
            "%.*s.%.*s, and this stream reads %.*s.%.*s: a bronze table is of one source "
            "table; give the stream another path",
            STR_ARG(stream->options->bronze.label), STR_ARG(instance), STR_ARG(other.schema),
            STR_ARG(other.name), STR_ARG(table->instances[0].source_schema),
            STR_ARG(table->instances[0].source_table));
    return bronze_check(stream->bronze, &stream->captured,
                        stream->options->source.include_command_id, err);
}

static bool open_state(Stream *stream, Err *err)
{
    Env                 *env     = stream->env;
    const StreamOptions *options = stream->options;

    if (!checkpoint_open(env->store, env->clock, env->rng, options->checkpoint, &stream->checkpoint,
                         err))
        return false;
    stream->generation = checkpoint_get_generation(stream->checkpoint);
    stream->sink_id    = sink_id_for_generation(stream->arena, options->app_id, stream->generation);
    stream->result->generation = stream->generation;
    if (!bronze_open(env->delta, &options->bronze, &stream->bronze, err) ||
        !stream_check_bronze(stream, err))
        return false;
    if (options->facts.path.len && !facts_open(env->delta, &options->facts, &stream->facts, err))
        return false;
    return options->control.path.len == 0 ||
           verdict_tracker_start(env, &options->control, options->bronze.label,
                                 options->granularity, &stream->verdict, err);
}

static bool bootstrap(Stream *stream, Err *err)
{
    if (!stream->options->bootstrap || stream->generation > 0) return true;
    if (!snapshot_bootstrap(stream->env, stream->mssql, stream->options, &stream->table,
                            &stream->captured, stream->bronze, stream->facts,
                            &stream->bootstrap_start, err))
        return false;
    stream->result->snapshot = OPT_LSN(stream->bootstrap_start.lsn);
    return true;
}

static void close_stream(Stream *stream)
{
    verdict_tracker_stop(stream->verdict);
    facts_close(stream->facts);
    bronze_close(stream->bronze);
    checkpoint_close(stream->checkpoint);
    mssql_close(stream->mssql);
    arena_close(stream->arena);
}

/* --- the loop --- */

/* A position that capture has not reached yet, though it had reached the instance: this is another
 * database, or an older copy of it, whose changes up to the position would never be read. */
static void warn_of_older_source(Stream *stream, Lsn newest)
{
    const CaptureInstance *instance = &stream->table.instances[0];
    Lsn                    position = stream->position.lsn;

    if (lsn_compare(newest, position) >= 0 || !instance->has_start_lsn ||
        lsn_compare(position, instance->start_lsn) < 0)
        return;
    stream_warn(stream,
                str_printf(stream->arena,
                           "the position %s is above %s, the newest LSN captured: is this the "
                           "database the stream began on, or was it restored from an older copy? "
                           "What is captured up to the position is not read",
                           lsn_format(position).text, lsn_format(newest).text));
}

/* The end of the next batch; `has_work` false when idle. Batch 0 of a new checkpoint always runs
 * (2.1). */
static bool plan_end(Stream *stream, bool *has_work, Offset *end, Err *err)
{
    const StreamOptions *options = stream->options;
    Lsn                  upper   = stream->target;
    bool                 is_null;
    OptLsn               nth = {0};

    *end = stream->position;
    if (!stream->has_target && !mssql_max_lsn(stream->mssql, &upper, &is_null, err)) return false;
    *has_work = plan_batch_end(stream->position.lsn, upper, nth, &end->lsn);
    if (!*has_work) {
        warn_of_older_source(stream, upper);
        *has_work = stream->next_batch == 0;
        return true;
    }
    if (options->max_commits_per_batch > 0) {
        if (!mssql_ask_end_ahead(stream->mssql, stream->position.lsn,
                                 options->max_commits_per_batch, err))
            return false;
        if (!mssql_nth_commit(stream->mssql, stream->position.lsn, options->max_commits_per_batch,
                              &nth.lsn, &nth.is_set, err))
            return false;
        (void)plan_batch_end(stream->position.lsn, upper, nth, &end->lsn);
    }
    if (!stream_refresh_clock(stream, err)) return false;
    if (!stream_ask_ahead(stream, end->lsn, true, err)) return false;
    return mssql_commit_time(stream->mssql, end->lsn, &end->commit_ts, err);
}

/* Runs the planned batch again, or plans and runs the next one. */
static bool plan_and_run(Stream *stream, bool *did_work, Err *err)
{
    Offset  end;
    int64_t planned;
    bool    is_replay = checkpoint_find_planned(stream->checkpoint, &planned, &end);

    *did_work = is_replay;
    if (is_replay) {
        if (!stream_refresh_clock(stream, err) || !stream_ask_ahead(stream, end.lsn, false, err))
            return false;
    } else {
        if (!plan_end(stream, did_work, &end, err)) return false;
        if (!*did_work) return true;
        if (stream->next_batch == 0 &&
            !checkpoint_begin(stream->checkpoint, &stream->position, err))
            return false;
        if (!checkpoint_plan(stream->checkpoint, stream->next_batch, &end, err)) return false;
    }
    if (!stream_run_batch(stream, &end, is_replay, err))
        return err_context(err, "batch %lld", (long long)stream->next_batch);
    stream->position = end;
    stream->next_batch++;
    return true;
}

static bool step(Stream *stream, bool *did_work, Err *err)
{
    bool ok = plan_and_run(stream, did_work, err);

    mssql_forget_ahead(stream->mssql);
    return ok;
}

/* Waits before the next look; false when the trigger is done. `began_ns`: when this step began. */
static bool wait_for_trigger(Stream *stream, bool did_work, int64_t began_ns)
{
    const StreamOptions *options = stream->options;
    Clock               *clock   = stream->env->clock;

    switch (options->trigger) {
    case TRIGGER_AVAILABLE_NOW:
        return did_work && lsn_compare(stream->position.lsn, stream->target) < 0;
    case TRIGGER_INTERVAL:
        clock->sleep_until(clock, began_ns + options->interval_ms * 1000000, stream->env->cancel);
        return true;
    case TRIGGER_CONTINUOUS:
        if (!did_work) clock_sleep_ms(clock, options->poll_interval_ms, stream->env->cancel);
        return true;
    }
    return false;
}

static bool fix_target(Stream *stream, Err *err)
{
    bool is_null;

    stream->has_target = stream->options->trigger == TRIGGER_AVAILABLE_NOW;
    return !stream->has_target || mssql_max_lsn(stream->mssql, &stream->target, &is_null, err);
}

static bool run_loop(Stream *stream, Err *err)
{
    for (;;) {
        int64_t began_ns = clock_monotonic_ns(stream->env->clock);
        bool    did_work;

        if (!cancel_check(stream->env->cancel, err)) return false;
        if (!step(stream, &did_work, err)) return false;
        if (stream->options->max_batches > 0 &&
            stream->result->batches >= stream->options->max_batches)
            return true;
        if (!wait_for_trigger(stream, did_work, began_ns)) return true;
    }
}

bool stream_run(Env *env, const StreamOptions *options, StreamResult *out, Err *err)
{
    Stream stream = {.env = env, .options = options, .result = out, .arena = arena_new()};
    bool   ok;

    *out = (StreamResult){0};
    ok   = open_source(&stream, err) && open_state(&stream, err) && check_rewind(&stream, err) &&
         bootstrap(&stream, err) && find_position(&stream, err) && fix_target(&stream, err);
    if (ok) {
        out->start_lsn = out->end_lsn = OPT_LSN(stream.position.lsn);
        out->end_commit_ts            = stream.position.commit_ts;
        if (stream.next_batch >
            0) /* a run that died behind its last commit left the verdict behind */
            verdict_tracker_offer(stream.verdict, &stream.position);
        if (options->on_started) options->on_started(options->on_started_arg);
        ok                 = run_loop(&stream, err);
        out->end_lsn       = OPT_LSN(stream.position.lsn);
        out->end_commit_ts = stream.position.commit_ts;
    }
    close_stream(&stream);
    return ok || err_context(err, "%.*s", STR_ARG(options->capture_instance));
}
