/* apply.c - one call of apply: reads in the order of algorithms.md 7.1, merges, then records the
 * position, then moves the verdict. */
#include "engine/apply.h"

#include "base/buf.h"
#include "base/list.h"

#include "engine/apply_files.h"
#include "engine/apply_internal.h"
#include "state/bronze.h"
#include "state/facts.h"
#include "state/silver.h"

#define MERGE_ATTEMPTS 10

typedef struct Apply {
    Env                *env;
    const ApplyOptions *options;
    ApplyResult        *result;
    Arena              *arena;
    Control            *control;
    Facts              *facts; /* NULL: none */
    Bronze             *bronze;
    DeltaTable         *silver;
    DuckSession        *session;
    ControlRow          bronze_row, silver_row; /* as read before bronze was pinned */
    Schema              bronze_schema;
    ApplyPlan           plan;
    ApplySql            sql;
    Str     changes; /* SELECT of the rows to apply; empty: there are no files of them */
    OptLsn  newest;  /* newest change among them */
    bool    has_rows;
    int64_t began_ns; /* for progress */
} Apply;

/* One step of the call, on the progress line; `file_total` 0: not by files. */
static void tell(const Apply *apply, const char *what, size_t files_done, size_t file_total)
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

/* Newest completion and newest chunked open in the facts; refuses an open one, whose waves this
 * version cannot apply. */
static bool find_completed(Apply *apply, OptLsn *completed, OptLsn *opened, Err *err)
{
    FactsRow *rows;
    size_t    count;

    *completed = *opened = (OptLsn){0};
    if (!apply->facts) return true;
    if (!facts_find_snapshots(apply->facts, apply->options->bronze.label, STR_EMPTY, apply->arena,
                              &rows, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        OpenDetail detail;
        if (!str_equal_c(rows[i].event, EVENT_SNAPSHOT_OPEN)) {
            *completed = newer_of(*completed, rows[i].max_lsn);
            continue;
        }
        (void)payload_parse_open(rows[i].detail, &detail);
        if (!detail.is_full) *opened = newer_of(*opened, rows[i].max_lsn);
    }
    if (opened->is_set && (!completed->is_set || lsn_compare(opened->lsn, completed->lsn) > 0))
        return err_set(err, ERR_UNSUPPORTED,
                       "a chunked snapshot at %s of %.*s is open and this version cannot apply its "
                       "waves; finish it with mssql-cdc-pyspark's backfill, or let "
                       "its silver job run",
                       lsn_format(opened->lsn).text, STR_ARG(apply->options->bronze.label));
    return true;
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

/* Files of bronze that may hold rows to apply. */
static const DeltaFile **bronze_files(Apply *apply, DeltaTable *table, size_t *count_out)
{
    const DeltaFile **files = ARENA_ARRAY(apply->arena, const DeltaFile *,
                                          delta_table_get_file_count(table) + 1);
    const DeltaFile  *file;
    Str               zero  = STR("0");
    LsnText           after = lsn_format(apply->plan.after.lsn);
    Str               low   = str_from_c(after.text);

    *count_out = 0;
    for (size_t at = 0; delta_table_next_file(table, &at, &file);) {
        bool may = !apply->plan.after.is_set ||
                   delta_file_may_hold_range(table, file, STR("_start_lsn"), &low, false, NULL,
                                             false);
        if (!may && apply->plan.with_snapshot_rows)
            may = delta_file_may_hold_range(table, file, STR("_operation"), &zero, true, &zero,
                                            true);
        if (may) files[(*count_out)++] = file;
    }
    return files;
}

static bool pin_bronze(Apply *apply, Err *err)
{
    /* NULL in a table that is older than the column. */
    static const Column column   = {.name = {"_snapshot", 9}, .type = {.kind = TYPE_STRING}};
    const Schema        snapshot = {.columns = &column, .column_count = 1};
    Schema              columns;
    DeltaTable         *table = bronze_get_table(apply->bronze);
    const DeltaFile   **files;
    size_t              count;
    Str                 scan;

    apply->bronze_schema = schema_copy(apply->arena, delta_table_get_schema(table));
    if (!check_keys(apply, err)) return false;
    files = bronze_files(apply, table, &count);
    if (count == 0) return true;
    columns = schema_merge(apply->arena, &apply->bronze_schema, &snapshot);
    if (!delta_scan_sql(table, files, count, &columns, false, apply->arena, &scan, err))
        return false;
    apply->changes = apply_sql_select_changes(&apply->sql, scan, &apply->bronze_schema,
                                              &apply->plan);
    return true;
}

/* Everything that is read before anything is decided: control, facts, then bronze pinned last. */
static bool read_state(Apply *apply, Err *err)
{
    Env   *env = apply->env;
    OptLsn completed, opened, whole = {0};
    Offset at;
    bool   found;

    if (!read_control(apply, err)) return false;
    if (!delta_table_exists(env->delta, apply->options->bronze.path, &apply->result->bronze_found,
                            NULL, err))
        return false;
    if (!apply->result->bronze_found) return true;
    if (!forget_lost_silver(apply, err)) return false;
    if (apply->options->facts.path.len &&
        !facts_open(env->delta, &apply->options->facts, &apply->facts, err))
        return false;
    if (!find_completed(apply, &completed, &opened, err)) return false;
    if (!warn_unknown_target(apply, err)) return false;
    if (!bronze_open(env->delta, &apply->options->bronze, &apply->bronze, err)) return false;
    if (!bronze_find_snapshot(apply->bronze, apply->options->instances,
                              apply->options->instance_count, apply->silver_row.snapshot_lsn,
                              &found, &at, err))
        return false;
    if (!opened.is_set && !refuse_unannounced_chunks(apply, err)) return false;
    if (found) whole = OPT_LSN(at.lsn);
    apply->plan = plan_apply(completed, whole, &apply->silver_row);
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
    tell(apply, "apply: reading changes", 0, 0);
    for (size_t i = 0; i < apply->options->instance_count; i++) {
        Str name = duck_quote_literal(apply->arena, apply->options->instances[i]);
        buf_printf(&names, "%slower(%.*s)", i ? ", " : "", STR_ARG(name));
    }
    if (!duck_query(
            apply->session,
            str_printf(
                apply->arena,
                "SELECT max(_start_lsn) FILTER (_operation <> 0), any_value(_capture_instance) "
                "FILTER (lower(_capture_instance) NOT IN (%.*s)), count(*) "
                "FROM (%.*s)",
                STR_ARG(buf_str(&names)), STR_ARG(apply->changes)),
            apply->arena, &rows, err))
        goto done;
    if (!row_stream_next(rows, &block, err)) goto done;
    if (!column_is_null(&block.columns[1], 0)) {
        err_set(err, ERR_STATE,
                "%.*s holds rows of capture instance %.*s, which is not of this table; name the "
                "configuration's stream that wrote them",
                STR_ARG(apply->options->bronze.label), STR_ARG(column_str(&block.columns[1], 0)));
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

/* Silver's columns, with those bronze gained at the end. */
static bool prepare_silver(Apply *apply, Err *err)
{
    Schema  wanted = silver_schema_of_bronze(apply->arena, &apply->bronze_schema);
    Schema *merged = ARENA_NEW(apply->arena, Schema);

    if (!silver_open_or_create(apply->env->delta, &apply->options->silver, &apply->bronze_schema,
                               &apply->silver, err))
        return false;
    *merged = schema_merge(apply->arena, delta_table_get_schema(apply->silver), &wanted);
    *merged = schema_copy(apply->arena, merged);
    if (merged->column_count > delta_table_get_schema(apply->silver)->column_count) {
        DeltaCommit  commit = {.operation = STR("ADD COLUMNS"), .schema = merged};
        DeltaOutcome outcome;
        if (!delta_table_commit(apply->silver, &commit, &outcome, NULL, err)) return false;
    }
    apply->sql = (ApplySql){.arena     = apply->arena,
                            .keys      = apply->options->keys,
                            .key_count = apply->options->key_count,
                            .silver    = merged};
    return true;
}

typedef struct Merge {
    Apply       *apply;
    Arena       *arena;
    DeltaWriter *writer;
    LIST(DeltaAdd) adds;
    const DeltaFile **touched;
    size_t            touched_count;
    int64_t           rows_written, rows_deleted;
} Merge;

static bool write_query(Merge *merge, Str select, Err *err)
{
    DeltaAdd add = {0};

    if (!delta_writer_write_query(merge->writer, merge->apply->session, select, merge->arena, &add,
                                  err))
        return false;
    if (add.row_count > 0) *LIST_PUSH(merge->arena, &merge->adds) = add;
    return true;
}

/* The files with a row that goes, among the candidates. */
static bool find_touched(Merge *merge, const DeltaFile **candidates, size_t count, Err *err)
{
    RowStream *rows = NULL;
    RowBlock   block;
    bool       ok = false;

    merge->touched = ARENA_ARRAY(merge->arena, const DeltaFile *, count + 1);
    if (!duck_query(merge->apply->session,
                    STR("SELECT DISTINCT \"__$file\" FROM hit WHERE \"__$newer\" ORDER BY 1"),
                    merge->arena, &rows, err))
        goto done;
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++) {
            Str path = column_str(&block.columns[0], i);
            for (size_t c = 0; c < count; c++)
                if (str_equal(candidates[c]->path, path))
                    merge->touched[merge->touched_count++] = candidates[c];
        }
    }
    ok = true;
done:
    row_stream_close(rows);
    return ok;
}

static bool count_rows(Merge *merge, Err *err)
{
    DuckSession *session = merge->apply->session;

    return duck_query_i64(
               session,
               STR("SELECT count(*) FROM chg AS c WHERE c.\"__$operation\" NOT IN (1, 3) AND NOT "
                   "EXISTS (SELECT 1 FROM hit AS h WHERE h.\"__$id\" = c.\"__$id\" AND NOT "
                   "h.\"__$newer\")"),
               &merge->rows_written, NULL, err) &&
           duck_query_i64(session,
                          STR("SELECT count(*) FROM hit AS h WHERE h.\"__$newer\" AND "
                              "(h.\"__$id\" IS NULL OR h.\"__$operation\" IN (1, 3))"),
                          &merge->rows_deleted, NULL, err);
}

/* Silver holds files: find what the changes meet, rewrite those files, add the new rows. */
static bool merge_into_files(Merge *merge, Err *err)
{
    Apply            *apply = merge->apply;
    const DeltaFile **files;
    size_t            count;
    int64_t           null_keys;
    Str               scan;
    bool              rebuild = apply->plan.with_snapshot_rows || apply->plan.rebuild;

    tell(apply, "apply: matching keys", 0, 0);
    if (!duck_execute(apply->session,
                      apply_sql_make_chg(&apply->sql, apply->changes, &apply->bronze_schema), NULL,
                      err))
        return false;
    if (!duck_query_i64(apply->session, apply_sql_has_null_keys(&apply->sql), &null_keys, NULL,
                        err))
        return false;
    if (rebuild) {
        files = ARENA_ARRAY(merge->arena, const DeltaFile *,
                            delta_table_get_file_count(apply->silver) + 1);
        count = 0;
        for (size_t at = 0; delta_table_next_file(apply->silver, &at, &files[count]);)
            count++;
    } else if (!apply_find_candidates(apply->silver, apply->session, &apply->sql, merge->arena,
                                      &files, &count, err)) {
        return false;
    }
    if (!delta_scan_sql(apply->silver, files, count, NULL, true, merge->arena, &scan, err))
        return false;
    if (!duck_execute(apply->session, apply_sql_make_hit(&apply->sql, scan, null_keys > 0, rebuild),
                      NULL, err))
        return false;
    if (!find_touched(merge, files, count, err) || !count_rows(merge, err)) return false;
    for (size_t i = 0; i < merge->touched_count; i++) {
        tell(apply, "apply: rewriting", i, merge->touched_count);
        if (!delta_scan_sql(apply->silver, &merge->touched[i], 1, NULL, true, merge->arena, &scan,
                            err))
            return false;
        if (!write_query(merge, apply_sql_rewrite(&apply->sql, scan, merge->touched[i]->path), err))
            return false;
    }
    tell(apply, "apply: adding rows", 0, 0);
    return write_query(merge, apply_sql_inserts(&apply->sql), err);
}

/* Silver holds no row: its first content streams straight from bronze. */
static bool fill(Merge *merge, Err *err)
{
    Apply *apply = merge->apply;

    tell(apply, "apply: filling", 0, 0);
    if (!write_query(merge, apply_sql_fill(&apply->sql, apply->changes, &apply->bronze_schema),
                     err))
        return false;
    merge->rows_written = merge->adds.count ? merge->adds.items[0].row_count : 0;
    return true;
}

static bool commit_merge(Merge *merge, Err *err)
{
    Apply       *apply = merge->apply;
    DeltaOutcome outcome;
    DeltaPair    metrics[] = {{STR("numTargetRowsInserted"),
                               str_printf(merge->arena, "%lld", (long long)merge->rows_written)},
                              {STR("numTargetRowsDeleted"),
                               str_printf(merge->arena, "%lld", (long long)merge->rows_deleted)}};
    DeltaCommit  commit    = {.operation        = STR("MERGE"),
                              .adds             = merge->adds.items,
                              .add_count        = merge->adds.count,
                              .removes          = merge->touched,
                              .remove_count     = merge->touched_count,
                              .read_whole_table = true,
                              .metrics          = metrics,
                              .metric_count     = COUNT_OF(metrics)};

    if (merge->adds.count == 0 && merge->touched_count == 0) return true;
    if (!delta_writer_publish(merge->writer, merge->adds.items, merge->adds.count, err))
        return false;
    return delta_table_commit(apply->silver, &commit, &outcome, NULL, err);
}

static bool merge_once(Apply *apply, Err *err)
{
    Merge merge = {.apply = apply, .arena = arena_new()};
    bool  ok    = delta_writer_open(apply->silver, STR("apply"), NULL, &merge.writer, err);

    for (size_t i = 0; ok && i < apply->options->key_count; i++)
        delta_writer_index_column(merge.writer, apply->options->keys[i]);
    if (ok && delta_table_get_file_count(apply->silver) == 0)
        ok = fill(&merge, err);
    else if (ok)
        ok = merge_into_files(&merge, err);
    ok = ok && commit_merge(&merge, err);
    if (ok) {
        apply->result->rows_written = merge.rows_written;
        apply->result->rows_deleted = merge.rows_deleted;
    }
    delta_writer_close(merge.writer);
    arena_close(merge.arena);
    return ok;
}

/* Another writer of silver makes the match run again on what it left. */
static bool merge(Apply *apply, Err *err)
{
    bool is_needed = apply->has_rows || apply->plan.with_snapshot_rows;

    if (!is_needed || (apply->changes.len == 0 && delta_table_get_file_count(apply->silver) == 0))
        return true;
    if (apply->changes.len == 0) { /* the snapshot of an emptied table: every row goes */
        const Schema    *schema = &apply->bronze_schema;
        DeltaTable      *table  = bronze_get_table(apply->bronze);
        Str              scan;
        const DeltaFile *none = NULL;
        if (!delta_scan_sql(table, &none, 0, NULL, false, apply->arena, &scan, err)) return false;
        apply->changes = apply_sql_select_changes(&apply->sql, scan, schema, &apply->plan);
    }
    if (!apply_check_types(&apply->sql, apply->session, apply->changes, &apply->bronze_schema, err))
        return false;
    for (int attempt = 1;; attempt++) {
        Err why = ERR_INIT;
        if (merge_once(apply, &why)) break;
        if (why.code != ERR_CONFLICT || attempt == MERGE_ATTEMPTS) return err_copy(err, &why);
        log_warn(apply->env->log, "apply", "another writer changed silver, matching again",
                 LOG_STR("silver", apply->options->silver.label), LOG_I64("attempt", attempt));
    }
    apply->result->rebuilt = apply->plan.rebuild &&
                             (apply->plan.snapshot.is_set || apply->has_rows);
    return true;
}

/* --- position and verdict --- */

static bool record(Apply *apply, Err *err)
{
    const ControlRow *row = &apply->silver_row;
    OptLsn applied  = newer_of(newer_of(row->applied_lsn, apply->plan.snapshot), apply->newest);
    OptLsn snapshot = apply->plan.rebuild ? apply->plan.snapshot : row->snapshot_lsn;
    Offset end      = {.lsn       = apply->bronze_row.end_lsn.lsn,
                       .commit_ts = apply->bronze_row.end_commit_ts};

    apply->result->applied_lsn = applied;
    if (!control_set_position(apply->control, apply->options->silver.label, applied, snapshot,
                              (OptLsn){0}, (OptI64){0}, err))
        return false;
    if (!apply->facts) {
        log_warn(apply->env->log, "apply", "without facts silver's verdict is not advanced",
                 LOG_STR("silver", apply->options->silver.label));
        return true;
    }
    if (!apply->bronze_row.end_lsn.is_set) return true;
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
    if (!prepare_silver(apply, err)) return false;
    if (!duck_session_open(apply->env->duck, &apply->session, err)) return false;
    if (!look_at_changes(apply, err) || !merge(apply, err) || !record(apply, err)) return false;
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
