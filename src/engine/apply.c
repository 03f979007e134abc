/* apply.c - one call of apply: reads in the order of algorithms.md 7.1, merges, then records the
 * position, then moves the verdict. */
#include "engine/apply.h"

#include "base/buf.h"

#include "engine/apply_internal.h"
#include "engine/apply_waves.h"
#include "state/bronze.h"
#include "state/facts.h"

void apply_tell(const Apply *apply, const char *what, size_t files_done, size_t file_total)
{
    Progress progress = {.name     = apply->options->silver.label,
                         .what     = what,
                         .unit     = "files",
                         .done     = (int64_t)files_done,
                         .total    = (int64_t)file_total,
                         .began_ns = apply->began_ns};

    if (apply->env->on_progress) apply->env->on_progress(apply->env->on_progress_arg, &progress);
}

static void tell_end(const Apply *apply)
{
    Progress progress = {.name = apply->options->silver.label, .what = "apply", .is_over = true};

    if (apply->env->on_progress) apply->env->on_progress(apply->env->on_progress_arg, &progress);
}

/* --- deciding --- */

static OptLsn newer_of(OptLsn left, OptLsn right)
{
    if (!left.is_set || (right.is_set && lsn_compare(right.lsn, left.lsn) > 0)) return right;
    return left;
}

ApplyPlan plan_apply(OptLsn completed, OptLsn whole, const ControlRow *row)
{
    ApplyPlan plan     = {.snapshot = newer_of(newer_of(completed, whole), row->snapshot_lsn)};
    bool      is_first = !row->applied_lsn.is_set && !row->open_snapshot_lsn.is_set;
    bool      is_newer = plan.snapshot.is_set &&
                    (!row->snapshot_lsn.is_set ||
                     lsn_compare(plan.snapshot.lsn, row->snapshot_lsn.lsn) > 0);

    plan.rebuild            = is_first || is_newer;
    plan.with_snapshot_rows = plan.rebuild && plan.snapshot.is_set;
    plan.after              = plan.with_snapshot_rows ? plan.snapshot
                              : plan.rebuild          ? (OptLsn){0}
                                                      : row->applied_lsn;
    return plan;
}

/* Whether the facts have rows of this bronze; when not, whose they have, as a text. */
static bool list_targets(Apply *apply, bool *is_known, Str *out, Err *err)
{
    Str   *targets;
    size_t count;
    Buf    list = buf_new(apply->arena, 0);

    if (!facts_find_targets(apply->facts, apply->options->bronze.label, 50, apply->arena, is_known,
                            &targets, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        buf_printf(&list, "%s%.*s", i ? ", " : "", STR_ARG(targets[i]));
    *out = buf_str(&list);
    return true;
}

/* Chunks that no open announces: their facts are missing, or stand under another name (7.2). */
static bool refuse_unannounced_chunks(Apply *apply, Err *err)
{
    bool has_chunks, is_known;
    Str  targets = STR_EMPTY;

    if (!bronze_has_chunks(apply->bronze, apply->silver_row.snapshot_lsn, &has_chunks, err))
        return false;
    if (!has_chunks) return true;
    if (!apply->facts)
        return err_set(err, ERR_STATE,
                       "%.*s holds rows of a chunked snapshot: pass the facts table, which tells "
                       "whether it is complete",
                       STR_ARG(apply->options->bronze.label));
    if (!list_targets(apply, &is_known, &targets, err)) return false;
    return err_set(err, ERR_STATE,
                   "%.*s holds rows of a chunked snapshot and the facts %.*s have no open of one "
                   "for that name; their targets: %.*s",
                   STR_ARG(apply->options->bronze.label), STR_ARG(apply->options->facts.label),
                   STR_ARG(targets));
}

/* Facts without any row for this name are usually another spelling of it. */
static bool warn_unknown_target(Apply *apply, Err *err)
{
    bool is_known;
    Str  targets;

    if (!apply->facts) return true;
    if (!list_targets(apply, &is_known, &targets, err)) return false;
    if (is_known) return true;
    log_warn(apply->env->log, "apply", "the facts have no row for this bronze name",
             LOG_STR("bronze", apply->options->bronze.label), LOG_STR("targets", targets));
    return true;
}

/* --- the reads, in order (7.1) --- */

static bool read_control(Apply *apply, Err *err)
{
    return control_open(apply->env->delta, &apply->options->control, &apply->control, err) &&
           control_read(apply->control, apply->options->bronze.label, &apply->bronze_row, err) &&
           control_read(apply->control, apply->options->silver.label, &apply->silver_row, err);
}

/* A position without its table says that rows are applied which are nowhere: it is forgotten,
 * before silver is made again, and everything is applied anew. */
static bool forget_lost_silver(Apply *apply, Err *err)
{
    ControlRow *row = &apply->silver_row;
    bool        exists;

    if (!row->applied_lsn.is_set && !row->snapshot_lsn.is_set && !row->open_snapshot_lsn.is_set)
        return true;
    if (!delta_table_exists(apply->env->delta, apply->options->silver.path, &exists, NULL, err))
        return false;
    if (exists) return true;
    log_warn(apply->env->log, "apply", "silver is gone and is built again from bronze",
             LOG_STR("silver", apply->options->silver.label));
    row->applied_lsn = row->snapshot_lsn = row->open_snapshot_lsn = (OptLsn){0};
    row->snapshot_wave                                            = (OptI64){0};
    return control_set_position(apply->control, apply->options->silver.label, (OptLsn){0},
                                (OptLsn){0}, (OptLsn){0}, (OptI64){0}, err);
}

static bool check_keys(Apply *apply, Err *err)
{
    for (size_t i = 0; i < apply->options->key_count; i++)
        if (schema_find(&apply->bronze_schema, apply->options->keys[i]) < 0)
            return err_set(err, ERR_CONFIG, "key column %.*s is not in bronze table %.*s",
                           STR_ARG(apply->options->keys[i]), STR_ARG(apply->options->bronze.label));
    if (schema_find(&apply->bronze_schema, STR("_command_id")) < 0)
        log_warn(apply->env->log, "apply",
                 "bronze has no _command_id, changes of one commit are ordered by _seqval alone",
                 LOG_STR("bronze", apply->options->bronze.label));
    return true;
}

/* Whether a file may hold a row whose column is in [low, high]; NULL: open. */
static bool may_hold(DeltaTable *table, const DeltaFile *file, const char *column, const Str *low,
                     const Str *high)
{
    return delta_file_may_hold_range(table, file, str_from_c(column), low, true, high, true);
}

/* A change behind `after`; unset: any. */
static bool may_hold_changes(DeltaTable *table, const DeltaFile *file, OptLsn after)
{
    LsnText text = lsn_format(after.lsn);
    Str     low = str_from_c(text.text), first = STR("1");

    return may_hold(table, file, "_operation", &first, NULL) &&
           (!after.is_set ||
            delta_file_may_hold_range(table, file, STR("_start_lsn"), &low, false, NULL, false));
}

/* A row of this snapshot; one from before `_snapshot` was there names its own LSN. */
static bool may_hold_snapshot(DeltaTable *table, const DeltaFile *file, Lsn snapshot)
{
    LsnText text = lsn_format(snapshot);
    Str     lsn = str_from_c(text.text), zero = STR("0");

    return may_hold(table, file, "_operation", &zero, &zero) &&
           (may_hold(table, file, "_snapshot", &lsn, &lsn) ||
            (delta_file_may_hold_null(table, file, STR("_snapshot")) &&
             may_hold(table, file, "_start_lsn", &lsn, &lsn)));
}

/* Rows of the new chunks, or a change of their keys that a chunk's row must not outrank. */
static bool may_hold_waves(DeltaTable *table, const DeltaFile *file, const ApplyWaves *waves,
                           Arena *arena)
{
    LsnText oldest = lsn_format(lsn_max(waves->oldest_stamp, waves->snapshot));
    Str     low = str_from_c(oldest.text), one = STR("1");
    int64_t first = waves->chunks[0].chunk, last = first;

    for (size_t i = 1; i < waves->chunk_count; i++) {
        first = MIN(first, waves->chunks[i].chunk);
        last  = MAX(last, waves->chunks[i].chunk);
    }
    Str first_text = str_printf(arena, "%lld", (long long)first);
    Str last_text  = str_printf(arena, "%lld", (long long)last);
    return (may_hold_snapshot(table, file, waves->snapshot) &&
            may_hold(table, file, "_chunk", &first_text, &last_text)) ||
           (may_hold(table, file, "_operation", &one, NULL) &&
            may_hold(table, file, "_start_lsn", &low, NULL));
}

/* Files of bronze that may hold rows to apply, by their statistics. */
static const DeltaFile **bronze_files(Apply *apply, DeltaTable *table, size_t *count_out)
{
    const DeltaFile **files = ARENA_ARRAY(apply->arena, const DeltaFile *,
                                          delta_table_get_file_count(table) + 1);
    const DeltaFile  *file;

    *count_out = 0;
    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        if (may_hold_changes(table, file, apply->plan.after) ||
            (apply->plan.with_snapshot_rows &&
             may_hold_snapshot(table, file, apply->plan.snapshot.lsn)) ||
            (apply->waves.chunk_count > 0 &&
             may_hold_waves(table, file, &apply->waves, apply->arena)))
            files[(*count_out)++] = file;
    return files;
}

static bool pin_bronze(Apply *apply, Err *err)
{
    /* NULL in a table that is older than the column. */
    static const Column added[]  = {{.name = {"_snapshot", 9}, .type = {.kind = TYPE_STRING}},
                                    {.name = {"_chunk", 6}, .type = {.kind = TYPE_INTEGER}}};
    const Schema        snapshot = {.columns = added, .column_count = COUNT_OF(added)};
    Schema              columns;
    DeltaTable         *table = bronze_get_table(apply->bronze);
    const DeltaFile   **files;
    size_t              count;
    Str                 scan;

    apply->bronze_schema = schema_copy(apply->arena, delta_table_get_schema(table));
    if (!check_keys(apply, err)) return false;
    files = bronze_files(apply, table, &count);
    if (count == 0 && apply->waves.chunk_count == 0) return true;
    columns = schema_merge(apply->arena, &apply->bronze_schema, &snapshot);
    if (!delta_scan_sql(table, files, count, &columns, false, apply->arena, &scan, err))
        return false;
    apply->changes = apply_sql_select_changes(&apply->sql, scan, &apply->plan);
    if (apply->waves.chunk_count == 0) return true;
    apply->chunk_rows = apply_sql_select_chunks(&apply->sql, scan, &apply->waves);
    apply->changes    = apply_sql_add_waves(&apply->sql, apply->changes, scan, apply->chunk_rows,
                                            &apply->bronze_schema, &apply->plan, &apply->waves);
    return true;
}

/* Everything that is read before anything is decided: control, facts, then bronze pinned last. */
static bool read_state(Apply *apply, Err *err)
{
    Env      *env = apply->env;
    Announced announced;
    OptLsn    whole = {0};
    Offset    at;
    bool      found;

    if (!read_control(apply, err)) return false;
    if (!delta_table_exists(env->delta, apply->options->bronze.path, &apply->result->bronze_found,
                            NULL, err))
        return false;
    if (!apply->result->bronze_found) return true;
    if (!forget_lost_silver(apply, err)) return false;
    if (apply->options->facts.path.len &&
        !facts_open(env->delta, &apply->options->facts, &apply->facts, err))
        return false;
    if (!announced_read(apply->facts, apply->options->bronze.label, apply->arena, &announced, err))
        return false;
    if (!warn_unknown_target(apply, err) || !apply_hold_moving_rows(apply, &announced, err))
        return false;
    if (announced_is_open(&announced) && !apply_read_waves(apply, announced.opened, err))
        return false;
    if (!bronze_open(env->delta, &apply->options->bronze, &apply->bronze, err)) return false;
    if (!bronze_find_snapshot(apply->bronze, apply->options->instances,
                              apply->options->instance_count, apply->silver_row.snapshot_lsn,
                              &found, &at, err))
        return false;
    if (!announced.opened && !refuse_unannounced_chunks(apply, err)) return false;
    if (found) whole = OPT_LSN(at.lsn);
    apply->plan = plan_apply(announced.completed, whole, &apply->silver_row);
    apply_choose_waves(apply);
    return pin_bronze(apply, err);
}

/* --- merging --- */

/* A row of another capture instance is never skipped: it would leave silver wrong. Also finds the
 * newest change. */
static bool look_at_changes(Apply *apply, Err *err)
{
    RowStream *rows = NULL;
    RowBlock   block;
    Buf        names = buf_new(apply->arena, 0);
    bool       ok    = false;

    if (apply->changes.len == 0) return true;
    apply_tell(apply, "apply: reading changes", 0, 0);
    for (size_t i = 0; i < apply->options->instance_count; i++) {
        Str name = duck_quote_literal(apply->arena, apply->options->instances[i]);
        buf_printf(&names, "%slower(%.*s)", i ? ", " : "", STR_ARG(name));
    }
    if (!duck_query(apply->session,
                    str_printf(apply->arena,
                               "SELECT max(_start_lsn) FILTER (_operation <> 0 AND "
                               "_capture_instance IS NOT NULL), "
                               "any_value(_capture_instance) "
                               "FILTER (lower(_capture_instance) NOT IN (%.*s)), count(*) "
                               "FROM (%.*s)",
                               STR_ARG(buf_str(&names)), STR_ARG(apply->changes)),
                    apply->arena, &rows, err))
        goto done;
    if (!row_stream_next(rows, &block, err)) goto done;
    if (!column_is_null(&block.columns[1], 0)) {
        err_set(err, ERR_STATE,
                "%.*s holds rows of capture instance %.*s, and this call is for %.*s, whose table "
                "has no such instance; name the stream that wrote them (its capture instance and "
                "connection)",
                STR_ARG(apply->options->bronze.label), STR_ARG(column_str(&block.columns[1], 0)),
                STR_ARG(apply->options->instances[apply->options->instance_count - 1]));
        goto done;
    }
    apply->has_rows      = column_i64(&block.columns[2], 0) > 0;
    apply->newest.is_set = !column_is_null(&block.columns[0], 0);
    ok = !apply->newest.is_set || lsn_parse(column_str(&block.columns[0], 0), &apply->newest.lsn) ||
         err_set(err, ERR_DAMAGED, "bronze holds a _start_lsn that is no LSN");
done:
    row_stream_close(rows);
    return ok;
}

/* --- position and verdict --- */

static bool record(Apply *apply, Err *err)
{
    const ControlRow *row = &apply->silver_row;
    OptLsn applied  = newer_of(newer_of(row->applied_lsn, apply->plan.snapshot), apply->newest);
    OptLsn snapshot = apply->plan.rebuild ? apply->plan.snapshot : row->snapshot_lsn;
    Offset end      = {.lsn       = apply->bronze_row.end_lsn.lsn,
                       .commit_ts = apply->bronze_row.end_commit_ts};

    OptLsn open = apply->waves.is_open ? OPT_LSN(apply->waves.snapshot) : (OptLsn){0};

    apply->result->applied_lsn = applied;
    if (!control_set_position(apply->control, apply->options->silver.label, applied, snapshot, open,
                              apply->waves.newest_wave, err))
        return false;
    if (!apply->facts) {
        log_warn(apply->env->log, "apply", "without facts silver's verdict is not advanced",
                 LOG_STR("silver", apply->options->silver.label));
        return true;
    }
    if (!apply->bronze_row.end_lsn.is_set || apply->waves.is_open) return true;
    return control_advance(apply->control, apply->options->silver.label, &end,
                           apply->options->granularity, &apply->result->finalized_until, err);
}

static bool run(Apply *apply, Err *err)
{
    if (!read_state(apply, err)) return false;
    apply->result->applied_lsn     = apply->silver_row.applied_lsn;
    apply->result->finalized_until = apply->silver_row.finalized_until;
    if (!apply->result->bronze_found) {
        log_warn(
            apply->env->log, "apply",
            "no bronze table yet: before the first batch that is expected, else the name is wrong",
            LOG_STR("bronze", apply->options->bronze.label));
        return true;
    }
    if (!apply_open_silver(apply, err)) return false;
    if (!duck_session_open(apply->env->duck, &apply->session, err)) return false;
    if (!apply_find_stale(apply, err) || !look_at_changes(apply, err) || !apply_merge(apply, err) ||
        !record(apply, err))
        return false;
    log_info(apply->env->log, "apply", "silver is up to bronze",
             LOG_STR("silver", apply->options->silver.label),
             LOG_TEXT("applied_lsn", apply->result->applied_lsn.is_set
                                         ? lsn_format(apply->result->applied_lsn.lsn).text
                                         : "none"),
             LOG_I64("rows_written", apply->result->rows_written),
             LOG_I64("rows_deleted", apply->result->rows_deleted),
             LOG_BOOL("rebuilt", apply->result->rebuilt));
    return true;
}

bool apply_run(Env *env, const ApplyOptions *options, ApplyResult *out, Err *err)
{
    Apply apply = {.env = env, .options = options, .result = out, .arena = arena_new()};
    bool  ok;

    *out      = (ApplyResult){.bronze_found = false};
    apply.sql = (ApplySql){
        .arena = apply.arena, .keys = options->keys, .key_count = options->key_count};
    if (env->on_progress) apply.began_ns = clock_monotonic_ns(env->clock);
    ok = run(&apply, err);
    tell_end(&apply);
    duck_session_close(apply.session);
    delta_table_close(apply.silver);
    bronze_close(apply.bronze);
    facts_close(apply.facts);
    control_close(apply.control);
    arena_close(apply.arena);
    return ok || err_context(err, "apply %.*s", STR_ARG(options->silver.label));
}
