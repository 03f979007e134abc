/* backfill.c - one call: what is there, then wave after wave; one is read while the one before it commits. */
#include "engine/backfill_internal.h"

#include "engine/backfill_plan.h"
#include "engine/plan_wave.h"
#include "engine/snapshot.h"

#include <math.h>

const char *backfill_state_name(BackfillState state)
{
    static const char *const names[] = {[BACKFILL_NO_SNAPSHOT]      = "no_snapshot",
                                        [BACKFILL_RUNNING]          = "running",
                                        [BACKFILL_PAUSED]           = "paused",
                                        [BACKFILL_WAITING_HEADROOM] = "waiting_headroom",
                                        [BACKFILL_WAITING_METRICS]  = "waiting_metrics",
                                        [BACKFILL_DONE]             = "done"};

    return names[state];
}

bool backfill_is_paused(BackfillState state)
{
    return state != BACKFILL_RUNNING && state != BACKFILL_DONE;
}

/* --- opening and closing --- */

static bool open_mssql(const Backfill *backfill, Mssql **out, Err *err)
{
    const StreamOptions *stream  = &backfill->options->stream;
    MssqlOptions         options = source_mssql_options(backfill->env, &stream->source,
                                                        stream->capture_instance);

    return mssql_open(&options, out, err);
}

static void run_open_times(void *arg)
{
    Backfill *backfill = arg;
    Err       ignored  = ERR_INIT; /* whoever wants it tries again, and tells */

    if (!open_mssql(backfill, &backfill->times, &ignored)) {
        err_clear(&ignored);
        backfill->times = NULL;
    }
}

static void run_connect_lane(void *arg)
{
    Backfill *backfill = arg;
    Err       ignored  = ERR_INIT; /* so does this one */

    if (!mssql_connect_ahead(backfill->mssql, &ignored)) err_clear(&ignored);
}

void backfill_connect_ahead(Backfill *backfill)
{
    int64_t lanes = backfill->state.is_planned ? 0 : backfill->context.connections;

    if (backfill->has_connected) return;
    backfill->has_connected = true;
    backfill->opening_times = sched_spawn(backfill->env->sched, "connect", run_open_times,
                                          backfill);
    backfill->opening_lanes = ARENA_ARRAY(backfill->arena, Task *, (size_t)lanes + 1);
    for (int64_t i = 0; i < lanes; i++)
        backfill->opening_lanes[i] = sched_spawn(backfill->env->sched, "connect", run_connect_lane,
                                                 backfill);
}

void backfill_await_lanes(Backfill *backfill)
{
    for (Task **task = backfill->opening_lanes; task && *task; task++)
        sched_join(backfill->env->sched, *task);
    backfill->opening_lanes = NULL;
}

static void await_times(Backfill *backfill)
{
    sched_join(backfill->env->sched, backfill->opening_times);
    backfill->opening_times = NULL;
}

/* Of the committing task: the other's connection is busy. */
static bool open_times(void *arg, Mssql **out, Err *err)
{
    Backfill *backfill = arg;

    await_times(backfill);
    if (!backfill->times && !open_mssql(backfill, &backfill->times, err)) return false;
    *out = backfill->times;
    return true;
}

static bool open_source(Backfill *backfill, Err *err)
{
    if (!open_mssql(backfill, &backfill->mssql, err)) return false;
    backfill->stream = (Stream){.env     = backfill->env,
                                .options = &backfill->options->stream,
                                .arena   = backfill->arena,
                                .mssql   = backfill->mssql};
    return stream_find_table(&backfill->stream, err);
}

static bool open_state(Backfill *backfill, Err *err)
{
    const StreamOptions *options = &backfill->options->stream;
    DeltaContext        *delta   = backfill->env->delta;

    backfill->plans_ref = options->plans.path.len
                              ? options->plans
                              : plans_ref_of_bronze(backfill->arena, &options->bronze);
    if (options->facts.path.len == 0)
        return err_set(
            err, ERR_USAGE,
            "a chunked snapshot is kept in the facts table: name one (--facts, lake.facts)");
    if (!facts_open_if_exists(delta, &options->facts, &backfill->facts, err) ||
        !facts_open_if_exists(delta, &options->facts, &backfill->commit_facts, err))
        return false;
    if (!family_read(backfill->facts, options->bronze.label, options->app_id, backfill->arena,
                     &backfill->family, err))
        return false;
    if (!family_check_mode(&backfill->family, SNAPSHOT_CHUNKED, backfill->mssql,
                           &backfill->stream.table, options->bronze.label, err))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!bronze_open(delta, &options->bronze, &backfill->bronze[i], err)) return false;
    return bronze_check(backfill->bronze[0], &backfill->stream.captured,
                        options->source.include_command_id, err);
}

static void close_all(Backfill *backfill)
{
    staged_waves_close(backfill->staged,
                       backfill->last_is_recorded ? INT64_MAX : backfill->next_commit);
    wave_lanes_close(backfill->context.lanes);
    cutter_close(backfill->cutter);
    for (size_t i = 0; i < 2; i++)
        bronze_close(backfill->bronze[i]);
    plans_close(backfill->commit_plans);
    facts_close(backfill->commit_facts);
    plans_close(backfill->plans);
    facts_close(backfill->facts);
    await_times(backfill);
    backfill_await_lanes(backfill);
    mssql_close(backfill->times);
    mssql_close(backfill->mssql);
    arena_close(backfill->arena);
}

/* --- what is there --- */

static bool same_keys(const ChunkedOpen *opened, const TableCut *cut)
{
    if (opened->key_count != cut->column_count) return false;
    for (size_t i = 0; i < cut->column_count; i++)
        if (!str_equal_ignoring_case(opened->keys[i], cut->names[i])) return false;
    return true;
}

static Str name_list(Arena *arena, const Str *names, size_t count)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s%.*s", i ? ", " : "", STR_ARG(names[i]));
    return count ? buf_str(&buf) : STR("none");
}

/* The columns the open was cut on decide; this run's options must name the same. */
static bool check_keys(Backfill *backfill, Err *err)
{
    const StreamOptions *options = &backfill->options->stream;
    const ChunkedOpen   *opened  = &backfill->state.opened;

    if (!mssql_cut_table(&backfill->stream.table, options->snapshot_keys,
                         options->snapshot_key_count, backfill->arena, &backfill->cut, err))
        return false;
    if (!same_keys(opened, &backfill->cut))
        return err_set(
            err, ERR_STATE,
            "%.*s: snapshot %s was opened cut on %.*s, and this run would cut on %.*s: set "
            "snapshot_keys to the columns it was opened with, or take a new snapshot",
            STR_ARG(options->bronze.label), lsn_format(backfill->state.open->at.lsn).text,
            STR_ARG(name_list(backfill->arena, opened->keys, opened->key_count)),
            STR_ARG(name_list(backfill->arena, backfill->cut.names, backfill->cut.column_count)));
    return opened->key_count == 0 ||
           mssql_cut_table(&backfill->stream.table, opened->keys, opened->key_count,
                           backfill->arena, &backfill->cut, err);
}

static double or_nan(OptDouble value)
{
    return value.is_set ? value.value : NAN;
}

static void note_recorded(Backfill *backfill)
{
    const ChunkState    *state = &backfill->state;
    const RecordedChunk *last  = chunk_state_last(state);

    backfill->rows_recorded  = 0;
    backfill->measured.count = 0;
    for (size_t i = 0; i < state->recorded_count; i++) {
        backfill->rows_recorded += state->recorded[i].rows.is_set ? state->recorded[i].rows.value
                                                                  : 0;
        backfill->newest_stamp = lsn_max(backfill->newest_stamp, state->recorded[i].stamp);
        if (state->recorded[i].rows.is_set)
            backfill_note_chunk(backfill, state->recorded[i].wave, state->recorded[i].rows.value,
                                or_nan(state->recorded[i].read_seconds),
                                or_nan(state->recorded[i].read_mb));
    }
    backfill->next_chunk          = last ? last->chunk + 1 : 0;
    backfill->next_wave           = last ? last->wave + 1 : 0;
    backfill->next_commit         = backfill->next_wave;
    backfill->chunks_read         = backfill->next_chunk;
    backfill->last_is_recorded    = last && last->is_last;
    backfill->result->chunks_done = (int64_t)state->recorded_count;
    if (state->is_planned)
        backfill->result->chunks_total = OPT_I64((int64_t)state->plan.chunk_count);
}

/* The pace of the last wave recorded: its time over its rounds. */
static void find_pace(Backfill *backfill)
{
    const ChunkState    *state = &backfill->state;
    const RecordedChunk *last  = chunk_state_last(state);
    int64_t              count = 0;

    if (!last || !last->duration_ms.is_set) return;
    for (size_t i = 0; i < state->recorded_count; i++)
        count += state->recorded[i].wave == last->wave;
    backfill->pace = plan_wave_pace((double)last->duration_ms.value / 1000, count,
                                    backfill->context.connections);
}

static bool read_state(Backfill *backfill, const SnapshotOpen *open, Err *err)
{
    const StreamOptions *options = &backfill->options->stream;

    if (!plans_open_if_exists(backfill->env->delta, &backfill->plans_ref, &backfill->plans, err))
        return false;
    return chunk_state_read(backfill->facts, backfill->plans, &backfill->plans_ref,
                            options->bronze.label, options->app_id, open, backfill->arena,
                            &backfill->state, err);
}

static void fill_context(Backfill *backfill)
{
    const StreamOptions   *options = &backfill->options->stream;
    const CaptureInstance *named =
        &backfill->stream.table.instances[backfill->stream.table.configured];

    backfill->context = (WaveContext){
        .env                 = backfill->env,
        .options             = options,
        .mssql               = backfill->mssql,
        .table               = &backfill->stream.table,
        .cut                 = &backfill->cut,
        .captured            = &backfill->stream.captured,
        .state               = &backfill->state,
        .instance_name       = backfill->stream.table.configured_is_gone ? named->name
                                                                         : options->capture_instance,
        .key                 = str_printf(backfill->arena, "%.*s#snap.%s", STR_ARG(options->app_id),
                                          lsn_format(backfill->state.open->at.lsn).text),
        .connections         = MAX(options->source.num_partitions, 1),
        .lanes               = wave_lanes_new(backfill->env->sched,
                                              (size_t)MAX(options->source.num_partitions, 1), backfill->arena),
        .facts               = backfill->commit_facts,
        .on_last_request     = backfill_stamp_ahead,
        .on_last_request_arg = backfill,
        .open_times          = open_times,
        .open_times_arg      = backfill,
    };
}

static bool must_stop_planning(void *arg, bool *out, Err *err)
{
    Backfill *backfill = arg;

    *out = backfill_is_out_of_time(backfill);
    return cancel_check(backfill->env->cancel, err) &&
           (*out || backfill_check_pause(backfill, out, err));
}

/* The committing task's view of the plans table; none for a snapshot that finishes in the facts. */
static bool open_commit_plans(Backfill *backfill, Err *err)
{
    if (backfill->state.is_in_facts || !backfill->state.is_planned) return true;
    if (!plans_open(backfill->env->delta, &backfill->plans_ref, &backfill->commit_plans, err))
        return false;
    backfill->context.plans = backfill->commit_plans;
    return true;
}

bool backfill_make_plan(Backfill *backfill, bool *is_planned, Err *err)
{
    BackfillPlan plan = {.env        = backfill->env,
                         .options    = &backfill->options->stream,
                         .chunk_rows = backfill->options->chunk_rows,
                         .facts      = backfill->facts,
                         .plans_ref  = &backfill->plans_ref,
                         .plans      = &backfill->plans,
                         .cut        = &backfill->cut,
                         .cutter     = backfill->cutter,
                         .must_stop  = must_stop_planning,
                         .arg        = backfill};

    if (!backfill_plan(&plan, &backfill->state, backfill->arena, is_planned, err)) return false;
    if (!*is_planned) return true;
    note_recorded(backfill);
    return open_commit_plans(backfill, err);
}

static bool complete(Backfill *backfill, Err *err)
{
    const SnapshotOpen  *open    = backfill->state.open;
    const ChunkedOpen   *opened  = &backfill->state.opened;
    const StreamOptions *options = &backfill->options->stream;
    Str event = opened->is_resnapshot && !opened->switch_batch_id.is_set ? STR(EVENT_RESNAPSHOT)
                                                                         : STR(EVENT_BOOTSTRAP);
    FactsRow     row = snapshot_event_row(open->sink_id, options->bronze.label, event, &open->at);
    int64_t      now = clock_utc_us(backfill->env->clock);
    Str          key = opened->switch_batch_id.is_set
                           ? str_printf(backfill->arena, "%.*s#snapdone.%s", STR_ARG(options->app_id),
                                        lsn_format(open->at.lsn).text)
                           : str_printf(backfill->arena, "%.*s#events", STR_ARG(options->app_id));
    int64_t      version = opened->switch_batch_id.is_set || !opened->generation.is_set
                               ? 0
                               : opened->generation.value;
    DeltaOutcome outcome;

    row.rows         = OPT_I64(backfill->rows_recorded);
    row.started_at   = open->written_at;
    row.lost_from_ts = opened->lost_from_ts;
    row.lost_to_ts   = opened->lost_to_ts;
    if (open->written_at.is_set)
        row.duration_ms = OPT_I64((now - open->written_at.utc_us + 500) / 1000);
    row.detail = payload_chunks_done(backfill->arena, open->at.lsn, backfill->result->chunks_done,
                                     backfill->rows_recorded, backfill->newest_stamp);
    backfill->result->state = BACKFILL_DONE;
    return facts_append_once(backfill->facts, key, version, &row, 1, &outcome, err);
}

/* --- the call --- */

/* The snapshot is complete: what a call that died left of it is of no use. */
static bool remove_staged(Backfill *backfill, Err *err)
{
    WaveContext   context = {.options = &backfill->options->stream};
    DeltaStaged **found;
    size_t        count;

    if (!bronze_take_staged(backfill->bronze[0], wave_purpose(&context, backfill->arena),
                            backfill->arena, &found, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        delta_staged_drop(found[i]);
    return true;
}

static void tell_no_snapshot(Backfill *backfill)
{
    const StreamOptions *options = &backfill->options->stream;
    const SnapshotDone  *whole   = family_find_done(&backfill->family);
    Arena               *arena   = backfill->result_arena;
    Str                  advice  = STR("run the stream with --bootstrap --snapshot chunked");

    if (whole)
        advice = str_printf(arena,
                            "bronze has the whole table as of LSN %s, nothing is left to read",
                            lsn_format(whole->at.lsn).text);
    backfill_pause_for(
        backfill, BACKFILL_NO_SNAPSHOT,
        str_printf(arena, "no chunked snapshot of %.*s was opened for app_id %.*s: %.*s",
                   STR_ARG(options->bronze.label), STR_ARG(options->app_id), STR_ARG(advice)));
}

static bool run(Backfill *backfill, Err *err)
{
    const SnapshotOpen *open = family_find_chunked(&backfill->family);
    Err                 late = ERR_INIT;

    if (!open) {
        tell_no_snapshot(backfill);
        return true;
    }
    backfill->result->snapshot = OPT_LSN(open->at.lsn);
    if (!read_state(backfill, open, err)) return false;
    note_recorded(backfill);
    if (family_is_done(&backfill->family, open->at.lsn)) {
        backfill->result->state        = BACKFILL_DONE;
        backfill->result->chunks_total = OPT_I64(backfill->result->chunks_done);
        return remove_staged(backfill, err);
    }
    if (!check_keys(backfill, err)) return false;
    backfill->cutter = cutter_new(backfill->arena, backfill->mssql, &backfill->stream.table,
                                  &backfill->cut);
    fill_context(backfill);
    if (!open_commit_plans(backfill, err)) return false;
    if (backfill->state.is_planned &&
        backfill->state.plan.chunk_rows != backfill->options->chunk_rows)
        log_warn(backfill->env->log, "backfill", "the snapshot was planned with another chunk_rows",
                 LOG_STR("stream", backfill->options->stream.capture_instance),
                 LOG_LSN("lsn", open->at.lsn),
                 LOG_I64("planned_with", backfill->state.plan.chunk_rows),
                 LOG_I64("asked_for", backfill->options->chunk_rows));
    find_pace(backfill);
    if (!staged_waves_take(&backfill->context, backfill->bronze[0], backfill->arena,
                           &backfill->staged, err))
        return false;
    if (!backfill_run_waves(backfill, err)) { /* the first error counts */
        if (!backfill_end_commit(backfill, &late)) err_clear(&late);
        return false;
    }
    if (backfill->last_is_recorded) return complete(backfill, err);
    return true;
}

bool backfill_run(Env *env, const BackfillOptions *options, Arena *arena, BackfillResult *out,
                  Err *err)
{
    Backfill backfill = {.env          = env,
                         .options      = options,
                         .result       = out,
                         .arena        = arena_new(),
                         .result_arena = arena,
                         .began_ns     = clock_monotonic_ns(env->clock)};
    bool     ok;

    *out = (BackfillResult){.state = BACKFILL_RUNNING};
    ok   = open_source(&backfill, err) && open_state(&backfill, err) && run(&backfill, err);
    close_all(&backfill);
    return ok || err_context(err, "%.*s: backfill", STR_ARG(options->stream.capture_instance));
}
