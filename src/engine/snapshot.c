/* snapshot.c - full snapshots and the bootstrap (algorithms.md 3.1 to 3.4). */
#include "engine/snapshot.h"

#include "base/limits.h"
#include "engine/chunked_open.h"
#include "engine/family.h"
#include "engine/plan_parts.h"
#include "engine/read_parallel.h"
#include "types/sink_id.h"

bool snapshot_stamp(Mssql *mssql, const CaptureInstance *instance, Offset *out, Err *err)
{
    bool is_null;
    Lsn  below_start = LSN_ZERO;

    *out = (Offset){.lsn = LSN_ZERO};
    if (!mssql_max_lsn(mssql, &out->lsn, &is_null, err)) return false;
    if (instance->has_start_lsn &&
        !mssql_previous_lsn(mssql, instance->start_lsn, &below_start, err))
        return false;
    out->lsn = lsn_max(out->lsn, below_start);
    return mssql_commit_time(mssql, out->lsn, &out->commit_ts, err);
}

/* --- facts rows --- */

FactsRow snapshot_event_row(Str sink_id, Str target, Str event, const Offset *at)
{
    return (FactsRow){
        .app_id        = sink_id,
        .event         = event,
        .target        = target,
        .rows          = OPT_I64(0),
        .deletes       = OPT_I64(0),
        .inserts       = OPT_I64(0),
        .updates       = OPT_I64(0),
        .min_lsn       = OPT_LSN(at->lsn),
        .max_lsn       = OPT_LSN(at->lsn),
        .end_lsn       = OPT_LSN(at->lsn),
        .min_commit_ts = at->commit_ts,
        .max_commit_ts = at->commit_ts,
        .end_commit_ts = at->commit_ts,
    };
}

/* `read_rows` unset: nothing was read, the snapshot was found. Skipped when an earlier run wrote
 * it. */
static bool write_bootstrap_event(Facts *facts, const StreamOptions *options, const Offset *at,
                                  OptI64 read_rows, OptTime started_at, OptI64 duration_ms,
                                  Err *err)
{
    FactsRow row = snapshot_event_row(options->app_id, options->bronze.label, STR(EVENT_BOOTSTRAP),
                                      at);
    DeltaOutcome outcome;

    if (!facts) return true;
    row.rows        = read_rows;
    row.started_at  = started_at;
    row.duration_ms = duration_ms;
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

typedef struct SnapshotRead {
    Mssql               *mssql;
    const CaptureTable  *table;
    TableCut             cut;
    PartPlan             plan;
    const Schema        *captured;
    const StreamOptions *options;
    const Str           *names; /* of the instances, the configured one first */
    size_t               name_count;
    Offset              *stamp;
    bool                 was_taken; /* another run came first: the stamp is its */
    int64_t             *row_counts;
} SnapshotRead;

static bool open_part(void *arg, size_t index, Arena *arena, RowStream **out, Err *err)
{
    SnapshotRead   *read = arg;
    const PartPlan *plan = &read->plan;
    TableRead       part = {.table   = read->table,
                            .cut     = &read->cut,
                            .lo      = index > 0 ? plan->bounds[index - 1] : NULL,
                            .hi      = index + 1 < plan->part_count ? plan->bounds[index] : NULL,
                            .columns = read->captured,
                            .instance_name = read->options->capture_instance,
                            .stamp         = *read->stamp,
                            .snapshot      = read->stamp->lsn};

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

/* Keeps the adds that hold rows together at the front. */
static size_t drop_empty_adds(DeltaAdd *adds, size_t count, int64_t *rows_out)
{
    size_t kept = 0;

    *rows_out = 0;
    for (size_t i = 0; i < count; i++) {
        if (adds[i].row_count == 0) continue;
        *rows_out += adds[i].row_count;
        adds[kept++] = adds[i];
    }
    return kept;
}

static bool read_and_append(Env *env, SnapshotRead *read, Bronze *bronze, int64_t *rows_out,
                            Err *err)
{
    bool         ok     = false;
    Arena       *arena  = arena_new();
    DeltaWriter *writer = NULL;
    DeltaAdd    *adds;
    size_t       add_count;
    ReadParts    parts = {.method     = "read table",
                          .what       = "snapshot",
                          .name       = read->options->capture_instance,
                          .open       = open_part,
                          .arg        = read,
                          .partitions = read->options->source.num_partitions};

    if (!plan_read(read, arena, err)) goto done;
    read->row_counts = ARENA_ARRAY(arena, int64_t, read->plan.part_count);
    parts.count      = read->plan.part_count;
    if (!bronze_prepare(bronze, read->captured, read->options->source.include_command_id, err))
        goto done;
    if (!bronze_writer_open(
            bronze, str_printf(arena, "stream.%.*s", STR_ARG(read->options->app_id)), &writer, err))
        goto done;
    parts.writer = writer;
    if (!read_parts(env, read->mssql, &parts, arena, &adds, err)) goto done;
    add_count = drop_empty_adds(adds, read->plan.part_count, rows_out);
    ok        = bronze_append_first_snapshot(bronze, writer, adds, add_count, read->names,
                                             read->name_count, read->stamp, &read->was_taken, err);
done:
    delta_writer_close(writer);
    arena_close(arena);
    return ok;
}

/* A full snapshot: the open row, the stamp, the read, one append, the event (3.3, 3.4 step 5). */
static bool take_snapshot(Env *env, Mssql *mssql, const StreamOptions *options,
                          const CaptureTable *table, const Schema *captured, const Str *names,
                          size_t name_count, Bronze *bronze, Facts *facts, Offset *out, Err *err)
{
    const CaptureInstance *instance = &table->instances[table->configured];
    Offset                 opened;
    int64_t                rows = 0, started_us, duration_ms;
    SnapshotRead           read = {.mssql      = mssql,
                                   .table      = table,
                                   .captured   = captured,
                                   .options    = options,
                                   .names      = names,
                                   .name_count = name_count,
                                   .stamp      = out};

    if (!snapshot_stamp(mssql, instance, &opened, err)) return false;
    if (!open_full(mssql, table, facts, options, &opened, err)) return false;
    if (!snapshot_stamp(mssql, instance, out, err)) return false;
    started_us = clock_utc_us(env->clock);
    log_info(env->log, "snapshot", "snapshot started", LOG_STR("stream", options->capture_instance),
             LOG_LSN("lsn", out->lsn));
    if (!read_and_append(env, &read, bronze, &rows, err)) return false;
    if (read.was_taken) {
        log_warn(env->log, "snapshot", "another run took the snapshot first, its is used",
                 LOG_STR("stream", options->capture_instance), LOG_LSN("lsn", out->lsn));
        return write_bootstrap_event(facts, options, out, (OptI64){0}, (OptTime){0}, (OptI64){0},
                                     err);
    }
    duration_ms = (clock_utc_us(env->clock) - started_us + 500) / 1000;
    log_info(env->log, "snapshot", "snapshot taken", LOG_STR("stream", options->capture_instance),
             LOG_LSN("lsn", out->lsn), LOG_I64("rows", rows), LOG_I64("duration_ms", duration_ms));
    return write_bootstrap_event(facts, options, out, OPT_I64(rows), OPT_TIME(started_us),
                                 OPT_I64(duration_ms), err);
}

/* A chunked run starts at S of what it opens, and reads nothing. */
static bool open_or_take(Env *env, Mssql *mssql, const StreamOptions *options,
                         const CaptureTable *table, const Schema *captured, const Str *names,
                         size_t name_count, Bronze *bronze, Facts *facts, const Family *family,
                         Offset *out, Err *err)
{
    const SnapshotOpen *open  = family_find_reusable(family, options->app_id);
    const SnapshotDone *empty = family_find_empty(family, options->app_id);
    bool                is_purged;

    if (open && !open->is_full) {
        *out = open->at;
        return true;
    }
    if (empty) {
        *out = empty->at;
        return true;
    }
    if (!options->snapshot_chunked)
        return take_snapshot(env, mssql, options, table, captured, names, name_count, bronze, facts,
                             out, err);
    if (open && family_is_done(family, open->at.lsn)) {
        *out = open->at;
        return true;
    }
    if (open) {
        if (!snapshot_is_purged(mssql, table, open->at.lsn, &is_purged, err)) return false;
        if (!is_purged)
            return family_check_mode(family, SNAPSHOT_CHUNKED, mssql, table, options->bronze.label,
                                     err);
    }
    return chunked_open(env, mssql, options, table, facts, options->app_id, 0, out, err);
}

bool snapshot_bootstrap(Env *env, Mssql *mssql, const StreamOptions *options,
                        const CaptureTable *table, const Schema *captured, Bronze *bronze,
                        Facts *facts, Offset *out, Err *err)
{
    Arena       *scratch = arena_new();
    Str         *names   = ARENA_ARRAY(scratch, Str, table->instance_count + 1);
    SnapshotMode mode    = options->snapshot_chunked ? SNAPSHOT_CHUNKED : SNAPSHOT_FULL;
    Family       family;
    bool         found = false, ok = false;

    names[0] = options->capture_instance;
    for (size_t i = 0; i < table->instance_count; i++)
        names[i + 1] = table->instances[i].name;
    if (!family_read(facts, options->bronze.label, options->app_id, scratch, &family, err))
        goto done;
    if (!family_check_mode(&family, mode, mssql, table, options->bronze.label, err)) goto done;
    if (!bronze_find_snapshot(bronze, names, table->instance_count + 1, (OptLsn){0}, &found, out,
                              err))
        goto done;
    ok = found ? write_bootstrap_event(facts, options, out, (OptI64){0}, (OptTime){0}, (OptI64){0},
                                       err)
               : open_or_take(env, mssql, options, table, captured, names,
                              table->instance_count + 1, bronze, facts, &family, out, err);
done:
    arena_close(scratch);
    return ok || err_context(err, "bootstrap");
}
