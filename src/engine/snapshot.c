/* snapshot.c - full snapshots, by themselves or as the bootstrap (algorithms.md 3.1 to 3.4). */
#include "engine/snapshot.h"

#include "base/limits.h"
#include "engine/chunked_open.h"
#include "engine/family.h"
#include "engine/plan_parts.h"
#include "engine/read_parallel.h"
#include "engine/snapshot_call.h"
#include "types/sink_id.h"

bool snapshot_stamp(Mssql *mssql, const CaptureInstance *instance, Offset *out, Err *err)
{
    bool is_null, ok;
    Lsn  below_start = LSN_ZERO;

    *out = (Offset){.lsn = LSN_ZERO};
    if (!mssql_ask_newest_ahead(mssql, instance->has_start_lsn ? instance->start_lsn : LSN_ZERO,
                                err) ||
        !mssql_max_lsn(mssql, &out->lsn, &is_null, err))
        return false;
    if (instance->has_start_lsn &&
        !mssql_previous_lsn(mssql, instance->start_lsn, &below_start, err))
        return false;
    out->lsn = lsn_max(out->lsn, below_start);
    ok       = mssql_commit_time(mssql, out->lsn, &out->commit_ts, err);
    mssql_forget_ahead(mssql);
    return ok;
}

/* --- facts rows --- */

FactsRow snapshot_event_row(Str sink_id, Str target, Str event, const Offset *at)
{
    FactsRow row = facts_event_row(event, at->lsn, at->commit_ts);

    row.app_id = sink_id;
    row.target = target;
    return row;
}

SnapshotCost snapshot_cost(Env *env, int64_t started_us, int64_t rows)
{
    return (SnapshotCost){
        .rows        = OPT_I64(rows),
        .started_at  = OPT_TIME(started_us),
        .duration_ms = OPT_I64((clock_utc_us(env->clock) - started_us + 500) / 1000)};
}

/* Skipped when an earlier run wrote it. */
bool snapshot_write_bootstrap(Facts *facts, const StreamOptions *options, const Offset *at,
                              const SnapshotCost *cost, Err *err)
{
    FactsRow row = snapshot_event_row(options->app_id, options->bronze.label, STR(EVENT_BOOTSTRAP),
                                      at);
    DeltaOutcome outcome;

    if (!facts) return true;
    row.rows        = cost->rows;
    row.started_at  = cost->started_at;
    row.duration_ms = cost->duration_ms;
    return facts_append_event(facts, options->app_id, 0, &row, &outcome, err);
}

static bool write_open_event(Facts *facts, const StreamOptions *options, const Offset *at, Err *err)
{
    Arena       *scratch = arena_new();
    FactsRow     row     = snapshot_event_row(options->app_id, options->bronze.label,
                                              STR(EVENT_SNAPSHOT_OPEN), at);
    DeltaOutcome outcome;
    bool         ok;

    row.detail = payload_full_open(scratch, 0);
    ok         = facts_append_event(facts, options->app_id, -1, &row, &outcome, err);
    arena_close(scratch);
    return ok;
}

/* The open row, then a look whether a chunked one came in between: ours holds no mode then. */
static bool open_full(Mssql *mssql, const CaptureTable *table, Facts *facts,
                      const StreamOptions *options, const Offset *at, Err *err)
{
    Arena *scratch = arena_new();
    Family now;
    bool   ok = !facts ||
              (write_open_event(facts, options, at, err) &&
               family_read(facts, options->bronze.label, options->app_id, scratch, &now, err) &&
               (family_check_mode(&now, SNAPSHOT_FULL, mssql, table, options->bronze.label, err) ||
                err_context(err, "another run came first")));

    arena_close(scratch);
    return ok;
}

/* --- taking one --- */

/* A full snapshot on its way: of what, and into what. */
typedef struct SnapshotRead {
    Env                 *env;
    Mssql               *mssql;
    const CaptureTable  *table;
    const Schema        *captured;
    const StreamOptions *options;
    Bronze              *bronze;
    Facts               *facts; /* NULL: none */
    Str                  purpose;
    const Str           *names; /* of the instances, the configured one first */
    size_t               name_count;
    bool                 takes_another; /* also next to one that is there */
    TableCut             cut;
    PartPlan             plan;
    int64_t             *row_counts;
    Offset               stamp;
    bool                 was_taken; /* another run came first: the stamp is its */
    SnapshotCost         cost;
} SnapshotRead;

/* What rows are stamped with: the configured spelling, or the table's newest instance once that is gone. */
static Str instance_name(const SnapshotRead *read)
{
    const CaptureTable *table = read->table;

    return table->configured_is_gone ? table->instances[table->configured].name
                                     : read->options->capture_instance;
}

static bool open_part(void *arg, size_t index, Arena *arena, RowStream **out, Err *err)
{
    SnapshotRead   *read = arg;
    const PartPlan *plan = &read->plan;
    TableRead       part = {.table   = read->table,
                            .cut     = &read->cut,
                            .lo      = index > 0 ? plan->bounds[index - 1] : NULL,
                            .hi      = index + 1 < plan->part_count ? plan->bounds[index] : NULL,
                            .columns = read->captured,
                            .instance_name = instance_name(read),
                            .stamp         = read->stamp,
                            .snapshot      = read->stamp.lsn};

    (void)arena;
    return mssql_read_table(read->mssql, &part, &read->row_counts[index], out, err);
}

static bool plan_read(SnapshotRead *read, Arena *arena, Err *err)
{
    const StreamOptions *options = read->options;
    Cutter              *cutter;
    CutSource            source;
    bool                 ok;

    if (!mssql_cut_table(read->table, options->snapshot_keys, options->snapshot_key_count, arena,
                         &read->cut, err))
        return false;
    cutter = cutter_new(arena, read->mssql, read->table, &read->cut);
    cutter_ignore_isolation(cutter);
    source = cut_source_of_cutter(cutter);
    ok     = plan_parts(&source, &read->cut, MIN(options->source.num_partitions, LIMIT_PARTITIONS),
                        arena, &read->plan, err);
    cutter_close(cutter);
    return ok;
}

static bool append(SnapshotRead *read, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                   Arena *scratch, Err *err)
{
    if (read->takes_another)
        return bronze_append_snapshot(read->bronze, writer, adds, count, read->names[0],
                                      &read->stamp, err);
    return bronze_append_first_snapshot(read->bronze, writer, adds, count, read->names,
                                        read->name_count, (OptLsn){0},
                                        payload_snapshot(scratch, read->names[0], &read->stamp),
                                        &read->stamp, &read->was_taken, err);
}

static bool read_and_append(SnapshotRead *read, int64_t *rows_out, Err *err)
{
    bool                 ok      = false;
    Arena               *arena   = arena_new();
    DeltaWriter         *writer  = NULL;
    const StreamOptions *options = read->options;
    DeltaAdds            adds;
    ReadParts            parts = {.method     = "read table",
                                  .what       = "snapshot",
                                  .name       = options->capture_instance,
                                  .open       = open_part,
                                  .arg        = read,
                                  .partitions = options->source.num_partitions};

    if (!plan_read(read, arena, err)) goto done;
    read->row_counts = ARENA_ARRAY(arena, int64_t, read->plan.part_count);
    parts.count      = read->plan.part_count;
    if (!bronze_prepare(read->bronze, read->captured, options->source.include_command_id, err))
        goto done;
    if (!bronze_writer_open(read->bronze, read->purpose, &writer, err)) goto done;
    parts.writer = writer;
    if (!read_parts(read->env, read->mssql, &parts, arena, &adds, err)) goto done;
    *rows_out = read_parts_rows(&adds);
    ok        = append(read, writer, adds.items, adds.count, arena, err);
done:
    delta_writer_close(writer);
    arena_close(arena);
    return ok;
}

/* The stamp, the read, one append (3.3). */
static bool take_snapshot(SnapshotRead *read, Err *err)
{
    Env    *env    = read->env;
    Str     stream = read->options->capture_instance;
    int64_t rows   = 0, started_us;

    if (!snapshot_stamp(read->mssql, &read->table->instances[read->table->configured], &read->stamp,
                        err))
        return false;
    started_us = clock_utc_us(env->clock);
    log_info(env->log, "snapshot", "snapshot started", LOG_STR("stream", stream),
             LOG_LSN("lsn", read->stamp.lsn));
    if (!read_and_append(read, &rows, err)) return false;
    if (read->was_taken) {
        log_warn(env->log, "snapshot", "another run took the snapshot first, its is used",
                 LOG_STR("stream", stream), LOG_LSN("lsn", read->stamp.lsn));
        return true;
    }
    read->cost = snapshot_cost(env, started_us, rows);
    log_info(env->log, "snapshot", "snapshot taken", LOG_STR("stream", stream),
             LOG_LSN("lsn", read->stamp.lsn), LOG_I64("rows", rows),
             LOG_I64("duration_ms", read->cost.duration_ms.value));
    return true;
}

/* --- the bootstrap --- */

/* The open row, the snapshot, the event (3.4 step 5). */
static bool open_and_take(SnapshotRead *read, Offset *out, Err *err)
{
    Offset opened;

    if (!snapshot_stamp(read->mssql, &read->table->instances[read->table->configured], &opened,
                        err))
        return false;
    if (!open_full(read->mssql, read->table, read->facts, read->options, &opened, err) ||
        !take_snapshot(read, err))
        return false;
    *out = read->stamp;
    return snapshot_write_bootstrap(read->facts, read->options, out, &read->cost, err);
}

/* A chunked run starts at S of what it opens, and reads nothing. */
static bool open_or_take(SnapshotRead *read, const Family *family, Offset *out, Err *err)
{
    const StreamOptions *options = read->options;
    const SnapshotOpen  *open    = family_find_reusable(family, options->app_id);
    const SnapshotDone  *empty   = family_find_empty(family, options->app_id);
    bool                 is_purged;

    if (open && !open->is_full) {
        *out = open->at;
        return true;
    }
    if (empty) {
        *out = empty->at;
        return true;
    }
    if (!options->snapshot_chunked) return open_and_take(read, out, err);
    if (open && family_is_done(family, open->at.lsn)) {
        *out = open->at;
        return true;
    }
    if (open) {
        if (!snapshot_is_purged(read->mssql, read->table, open->at.lsn, &is_purged, NULL, err))
            return false;
        if (!is_purged)
            return family_check_mode(family, SNAPSHOT_CHUNKED, read->mssql, read->table,
                                     options->bronze.label, err);
    }
    return chunked_open(read->env, read->mssql, options, read->table, read->facts, options->app_id,
                        0, out, err);
}

const Str *snapshot_names(const StreamOptions *options, const CaptureTable *table, Arena *arena,
                          size_t *count_out)
{
    Str *names = ARENA_ARRAY(arena, Str, table->instance_count + 1);

    names[0] = options->capture_instance;
    for (size_t i = 0; i < table->instance_count; i++)
        names[i + 1] = table->instances[i].name;
    *count_out = table->instance_count + 1;
    return names;
}

bool snapshot_bootstrap(Env *env, Mssql *mssql, const StreamOptions *options,
                        const CaptureTable *table, const Schema *captured, Bronze *bronze,
                        Facts *facts, Offset *out, Err *err)
{
    Arena       *scratch = arena_new();
    SnapshotMode mode    = options->snapshot_chunked ? SNAPSHOT_CHUNKED : SNAPSHOT_FULL;
    SnapshotRead read    = {.env      = env,
                            .mssql    = mssql,
                            .table    = table,
                            .captured = captured,
                            .options  = options,
                            .bronze   = bronze,
                            .facts    = facts,
                            .purpose  = str_printf(scratch, "stream.%.*s", STR_ARG(options->app_id))};
    Family       family;
    bool         found = false, ok = false;

    read.names = snapshot_names(options, table, scratch, &read.name_count);
    if (!family_read(facts, options->bronze.label, options->app_id, scratch, &family, err))
        goto done;
    if (!family_check_mode(&family, mode, mssql, table, options->bronze.label, err)) goto done;
    if (!bronze_find_snapshot(bronze, read.names, read.name_count, (OptLsn){0}, &found, out, err))
        goto done;
    if (found &&
        options->snapshot_chunked) /* backfill would find nothing to read, and not say why */
        log_info(env->log, "snapshot",
                 "bronze holds a whole snapshot already, no chunked one is opened",
                 LOG_STR("stream", options->capture_instance), LOG_LSN("lsn", out->lsn));
    ok = found ? snapshot_write_bootstrap(facts, options, out, &(SnapshotCost){0}, err)
               : open_or_take(&read, &family, out, err);
done:
    arena_close(scratch);
    return ok || err_context(err, "bootstrap");
}

/* --- by itself --- */

/* A whole one, else a chunked one, whose rows tell S but not its time. */
static bool find_any(const SnapshotCall *call, bool *found, Offset *out, Err *err)
{
    const SnapshotFilter any = {.with_chunks = true};

    if (!bronze_find_snapshot(call->stream.bronze, call->names, call->name_count, (OptLsn){0},
                              found, out, err))
        return false;
    if (*found) return true;
    if (!bronze_find_snapshot_where(call->stream.bronze, call->names, call->name_count, &any, found,
                                    out, err))
        return false;
    return !*found || mssql_commit_time(call->stream.mssql, out->lsn, &out->commit_ts, err);
}

static bool find_or_take(SnapshotCall *call, bool takes_another, SnapshotResult *out, Err *err)
{
    const StreamOptions *options = call->stream.options;
    SnapshotRead         read    = {.env           = call->stream.env,
                                    .mssql         = call->stream.mssql,
                                    .table         = &call->stream.table,
                                    .captured      = &call->stream.captured,
                                    .options       = options,
                                    .bronze        = call->stream.bronze,
                                    .purpose       = str_printf(call->stream.arena, "snapshot.%.*s",
                                                                STR_ARG(options->capture_instance)),
                                    .names         = call->names,
                                    .name_count    = call->name_count,
                                    .takes_another = takes_another};
    bool                 found   = false;

    if (!family_check_mode(&call->family, SNAPSHOT_FULL, read.mssql, read.table,
                           options->bronze.label, err))
        return false;
    if (!takes_another && !find_any(call, &found, &read.stamp, err)) return false;
    if (found)
        log_info(read.env->log, "snapshot", "bronze holds a snapshot already, nothing was read",
                 LOG_STR("stream", options->capture_instance), LOG_LSN("lsn", read.stamp.lsn));
    else if (!take_snapshot(&read, err))
        return false;
    *out = (SnapshotResult){
        .lsn = OPT_LSN(read.stamp.lsn), .commit_ts = read.stamp.commit_ts, .rows = read.cost.rows};
    return true;
}

bool snapshot_run(Env *env, const StreamOptions *options, bool takes_another, SnapshotResult *out,
                  Err *err)
{
    SnapshotCall call;
    bool         ok;

    *out = (SnapshotResult){0};
    ok   = snapshot_call_open(env, options, &call, err) &&
         find_or_take(&call, takes_another, out, err);
    snapshot_call_close(&call);
    return ok || err_context(err, "%.*s", STR_ARG(options->capture_instance));
}
