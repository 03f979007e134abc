/* chunked_open.c - the plans row first, then the facts row that announces it. */
#include "engine/chunked_open.h"

#include "engine/bound_json.h"
#include "engine/cut_source.h"
#include "engine/snapshot.h"
#include "state/plans.h"

/* MIN and MAX come after S, so that what is inserted later lies in the stream. */
static bool read_extent(Cutter *cutter, const TableCut *cut, Arena *arena, SnapshotExtent *out,
                        Err *err)
{
    KeyInterval    whole  = {.has_from = false};
    KeyExtent      extent = {.is_found = false};
    const KeyPart *last   = NULL;

    *out = (SnapshotExtent){.max = BOUND_OPEN};
    if (!cut->can_bound) return true;
    if (cut->is_integer) {
        if (!cutter_find_extents(cutter, &whole, 1, &extent, err)) return false;
        if (!extent.is_found) return true;
        *out = (SnapshotExtent){
            .is_integer = true, .lo = extent.min, .hi = extent.max, .max = BOUND_OPEN};
        return cutter_estimate_rows(cutter, &out->row_estimate, err);
    }
    if (!cutter_find_last(cutter, arena, &last, err)) return false;
    if (last && (cut->column_count > 1 || !last[0].is_null))
        out->max = bound_to_json(arena, cut, last);
    return true;
}

static void warn_of_one_chunk(const Env *env, const StreamOptions *options, const TableCut *cut)
{
    log_warn(env->log, "snapshot", "the table will be read as one chunk",
             LOG_STR("stream", options->capture_instance), LOG_STR("why", cut->why_not),
             LOG_TEXT("way_out", "name columns to cut it along in snapshot_keys"));
}

static bool write_plans_row(Env *env, const StreamOptions *options, const ChunkedOpen *open,
                            Lsn snapshot, Arena *scratch, Err *err)
{
    TableRef     ref    = options->plans.path.len ? options->plans
                                                  : plans_ref_of_bronze(scratch, &options->bronze);
    Plans       *plans  = NULL;
    Str          detail = payload_chunked_open(scratch, open, true);
    DeltaOutcome outcome;
    bool         ok = plans_open(env->delta, &ref, &plans, err) &&
              plans_append_once(plans,
                                str_printf(scratch, "%.*s#snapopen.%s", STR_ARG(options->app_id),
                                           lsn_format(snapshot).text),
                                0, snapshot, STR(EVENT_SNAPSHOT_OPEN), &detail, 1, &outcome, err);

    plans_close(plans);
    return ok;
}

/* The row that counts is the stored one, whoever wrote it. */
static bool read_back(Facts *facts, const StreamOptions *options, Str sink_id, Arena *scratch,
                      Offset *out, Err *err)
{
    Family              family;
    const SnapshotOpen *open;

    if (!family_read(facts, options->bronze.label, options->app_id, scratch, &family, err))
        return false;
    open = family_find_reusable(&family, sink_id);
    if (!open || open->is_full)
        return err_set(err, ERR_INTERNAL, "the open row just written is not in the facts");
    *out = open->at;
    return true;
}

bool chunked_open(Env *env, Mssql *mssql, const StreamOptions *options, const CaptureTable *table,
                  Facts *facts, Str sink_id, int64_t generation, Offset *out, Err *err)
{
    Arena       *scratch = arena_new();
    Cutter      *cutter  = NULL;
    ChunkedOpen  open    = {.generation = OPT_I64(generation), .has_bounds = true};
    Offset       at;
    TableCut     cut;
    bool         ok = false;
    DeltaOutcome outcome;

    if (!snapshot_stamp(mssql, &table->instances[table->configured], &at, err)) goto done;
    if (!mssql_cut_table(table, options->snapshot_keys, options->snapshot_key_count, scratch, &cut,
                         err))
        goto done;
    if (cut.why_refused.len) {
        err_set(err, ERR_USAGE, "snapshot_keys: %.*s", STR_ARG(cut.why_refused));
        goto done;
    }
    cutter = cutter_new(scratch, mssql, table, &cut);
    if (!read_extent(cutter, &cut, scratch, &open.extent, err)) goto done;
    if (!cut.can_bound) warn_of_one_chunk(env, options, &cut);
    open.keys      = cut.names;
    open.key_count = cut.column_count;
    if (!write_plans_row(env, options, &open, at.lsn, scratch, err)) goto done;
    FactsRow row = snapshot_event_row(sink_id, options->bronze.label, STR(EVENT_SNAPSHOT_OPEN),
                                      &at);
    row.detail   = payload_chunked_open(scratch, &open, false);
    if (!facts_append_once(facts, str_printf(scratch, "%.*s#snapshots", STR_ARG(options->app_id)),
                           generation, &row, 1, &outcome, err))
        goto done;
    if (!read_back(facts, options, sink_id, scratch, out, err)) goto done;
    log_info(env->log, "snapshot", "chunked snapshot opened",
             LOG_STR("stream", options->capture_instance), LOG_LSN("lsn", out->lsn));
    ok = true;
done:
    cutter_close(cutter);
    arena_close(scratch);
    return ok;
}
