/* apply_merge.c - the changes merged into silver (algorithms.md 7.4, delta.md 2.8): the rows that
 * the changes meet are found first; a file that loses few of them loses them by vector, any other is
 * written anew; what is new goes into a file of its own. */
#include "engine/apply_files.h"
#include "engine/apply_internal.h"
#include "engine/apply_waves.h"
#include "state/silver.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"

#include <assert.h>

#define MERGE_ATTEMPTS 10
#define VECTOR_PERCENT_MAX \
    20 /* of a file's rows, deleted before or now; more: it is written anew */

/* Silver's columns, with those bronze gained at the end. */
static bool widen_silver(Apply *apply, Err *err)
{
    Schema  wanted = silver_schema_of_bronze(apply->arena, &apply->bronze_schema);
    Schema *merged = ARENA_NEW(apply->arena, Schema);

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

bool apply_open_silver(Apply *apply, Err *err)
{
    return silver_open_or_create(apply->env->delta, &apply->options->silver, &apply->bronze_schema,
                                 apply->options->deletion_vectors, &apply->silver, err) &&
           widen_silver(apply, err);
}

/* A file with rows that go. */
typedef struct Touched {
    const DeltaFile *file;
    int64_t          hit_count;
} Touched;

typedef struct MergeCounts {
    int64_t source, inserted, updated, deleted, hits, doubled;
} MergeCounts;

/* What an attempt leaves to the next one: the changed rows by key, and the file of new rows, which is
 * taken again when the next finds the same rows new (delta.md 2.11). */
typedef struct Kept {
    size_t   column_count; /* silver's when chg was made; 0: it is not */
    bool     has_inserts;
    DeltaAdd inserts; /* published; the ids of its rows are in the temp table `kept` */
} Kept;

typedef struct Merge {
    Apply       *apply;
    Kept        *kept;
    Arena       *arena;
    DeltaWriter *writer;
    int64_t      began_ns;
    LIST(DeltaAdd) adds;
    bool              has_inserts; /* as the last of them */
    bool              is_reused;   /* it is kept->inserts */
    Touched          *touched;
    size_t            touched_count;
    const DeltaFile **rewritten;
    size_t            rewritten_count;
    DeltaDeletion    *deletions; /* of the other touched files */
    size_t            deletion_count;
    MergeCounts       counts;
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

/* --- what the changes meet --- */

/* The files with a row that goes, among the candidates. */
static bool find_touched(Merge *merge, const DeltaFile **candidates, size_t count, Err *err)
{
    RowStream *rows    = NULL;
    Map       *by_path = map_new();
    RowBlock   block;
    bool       ok = false;

    for (size_t i = 0; i < count; i++) {
        Touched *touched = ARENA_NEW(merge->arena, Touched);
        touched->file    = candidates[i];
        (void)map_put(by_path, candidates[i]->path, touched);
    }
    merge->touched = ARENA_ARRAY(merge->arena, Touched, count + 1);
    if (!duck_query(merge->apply->session,
                    STR("SELECT \"__$file\", count(*) FROM hit WHERE \"__$newer\" GROUP BY 1 ORDER "
                        "BY 1"),
                    merge->arena, &rows, err))
        goto done;
    for (;;) {
        if (!row_stream_next(rows, &block, err)) goto done;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++) {
            Touched *touched   = map_find(by_path, column_str(&block.columns[0], i));
            touched->hit_count = column_i64(&block.columns[1], i);
            merge->touched[merge->touched_count++] = *touched;
        }
    }
    ok = true;
done:
    row_stream_close(rows);
    map_close(by_path);
    return ok;
}

static bool count_rows(Merge *merge, Err *err)
{
    const struct {
        const char *sql;
        int64_t    *count;
    } questions[] = {
        {"SELECT count(*) FROM chg", &merge->counts.source},
        {"SELECT count(*) FROM chg AS c WHERE c.\"__$operation\" NOT IN (1, 3) AND NOT EXISTS "
         "(SELECT 1 FROM hit AS h WHERE h.\"__$id\" = c.\"__$id\")",
         &merge->counts.inserted},
        {"SELECT count(*) FROM chg AS c JOIN home ON home.id = c.\"__$id\" WHERE "
         "c.\"__$operation\" NOT IN (1, 3) AND home.newer",
         &merge->counts.updated},
        {"SELECT count(*) FROM hit AS h WHERE h.\"__$newer\" AND (h.\"__$id\" IS NULL OR "
         "h.\"__$operation\" IN (1, 3))",
         &merge->counts.deleted},
        {"SELECT count(*) FROM hit AS h WHERE h.\"__$newer\"", &merge->counts.hits},
        {"SELECT count(*) FROM (SELECT 1 FROM hit AS h WHERE h.\"__$id\" IS NOT NULL GROUP BY "
         "h.\"__$id\" HAVING count(*) > 1)",
         &merge->counts.doubled},
    };
    for (size_t i = 0; i < COUNT_OF(questions); i++)
        if (!duck_query_i64(merge->apply->session, str_from_c(questions[i].sql), questions[i].count,
                            NULL, err))
            return false;
    if (merge->counts.doubled > 0)
        log_warn(merge->apply->env->log, "apply",
                 "silver has several rows of one key; the older ones go",
                 LOG_STR("silver", merge->apply->options->silver.label),
                 LOG_I64("keys", merge->counts.doubled));
    return true;
}

/* Files that may hold a changed key; in a rebuild all. */
static bool find_candidates(Merge *merge, bool rebuild, const DeltaFile ***out, size_t *count_out,
                            Err *err)
{
    Apply *apply = merge->apply;

    if (!rebuild)
        return apply_find_candidates(apply->silver, apply->session, &apply->sql, merge->arena, out,
                                     count_out, err);
    *out       = ARENA_ARRAY(merge->arena, const DeltaFile *,
                             delta_table_get_file_count(apply->silver) + 1);
    *count_out = 0;
    for (size_t at = 0; delta_table_next_file(apply->silver, &at, &(*out)[*count_out]);)
        (*count_out)++;
    return true;
}

static bool make_changes(Merge *merge, Err *err)
{
    Apply *apply = merge->apply;
    Kept  *kept  = merge->kept;

    if (kept->column_count == apply->sql.silver->column_count) return true;
    kept->column_count = 0;
    Str make_chg       = apply_sql_make_chg(&apply->sql, apply->changes, &apply->bronze_schema);
    if (!duck_execute(apply->session, make_chg, NULL, err)) return false;
    if (kept->has_inserts) { /* its rows lack a column, and ids are given anew */
        delta_writer_discard(merge->writer, apply->silver, &kept->inserts, 1);
        kept->has_inserts = false;
    }
    kept->column_count = apply->sql.silver->column_count;
    return true;
}

static bool match(Merge *merge, Err *err)
{
    Apply            *apply   = merge->apply;
    DuckSession      *session = apply->session;
    bool              rebuild = apply->plan.with_snapshot_rows || apply->plan.rebuild;
    const DeltaFile **files;
    size_t            count;
    int64_t           null_keys;
    Str               scan;

    apply_tell(apply, "apply: matching keys", 0, 0);
    if (!make_changes(merge, err) ||
        !duck_query_i64(session, apply_sql_has_null_keys(&apply->sql), &null_keys, NULL, err) ||
        !find_candidates(merge, rebuild, &files, &count, err) ||
        !delta_scan_sql(apply->silver, files, count, NULL, true, merge->arena, &scan, err))
        return false;
    Str make_hit = apply_sql_make_hit(&apply->sql, scan, null_keys > 0, rebuild);
    return duck_execute(session, make_hit, NULL, err) && find_touched(merge, files, count, err);
}

/* --- rows that go --- */

static bool goes_by_vector(const Merge *merge, const Touched *touched)
{
    int64_t rows = touched->file->row_count;
    int64_t left = delta_file_count_rows(touched->file);

    return delta_table_takes_vectors(merge->apply->silver) && rows > 0 && left >= 0 &&
           (rows - left + touched->hit_count) * 100 <= rows * VECTOR_PERCENT_MAX;
}

static bool choose_ways(Merge *merge, Err *err)
{
    DuckSession *session = merge->apply->session;

    merge->rewritten = ARENA_ARRAY(merge->arena, const DeltaFile *, merge->touched_count + 1);
    merge->deletions = ARENA_ARRAY(merge->arena, DeltaDeletion, merge->touched_count + 1);
    for (size_t i = 0; i < merge->touched_count; i++) {
        const Touched *touched = &merge->touched[i];
        if (goes_by_vector(merge, touched))
            merge->deletions[merge->deletion_count++].file = touched->file;
        else
            merge->rewritten[merge->rewritten_count++] = touched->file;
    }
    return duck_execute(session,
                        apply_sql_make_rewritten(&merge->apply->sql, merge->rewritten,
                                                 merge->rewritten_count),
                        NULL, err) &&
           duck_execute(session, apply_sql_make_home(), NULL, err);
}

/* Rows come by file, in the order of the deletions, and grow within one. */
static bool collect_deletions(Merge *merge, RowStream *rows, Err *err)
{
    RowSet  *set = NULL;
    RowBlock block;
    size_t   at = 0;

    for (;;) {
        if (!row_stream_next(rows, &block, err)) return false;
        if (block.row_count == 0) break;
        for (size_t i = 0; i < block.row_count; i++) {
            Str      path = column_str(&block.columns[0], i);
            uint64_t row  = (uint64_t)column_i64(&block.columns[1], i);
            if (!set || !str_equal(merge->deletions[at].file->path, path)) {
                if (set) {
                    row_set_end(set);
                    at++;
                }
                assert(at < merge->deletion_count);
                assert(str_equal(merge->deletions[at].file->path, path));
                set                       = ARENA_NEW(merge->arena, RowSet);
                *set                      = row_set_begin(merge->arena);
                merge->deletions[at].rows = set;
            }
            row_set_add(set, row, row);
        }
    }
    if (set) row_set_end(set);
    return true;
}

static bool delete_by_vector(Merge *merge, Err *err)
{
    RowStream *rows = NULL;

    if (merge->deletion_count == 0) return true;
    apply_tell(merge->apply, "apply: deleting rows", 0, 0);
    bool ok = duck_query(merge->apply->session,
                         STR("SELECT DISTINCT \"__$file\", \"__$row\" FROM hit WHERE \"__$newer\" "
                             "AND \"__$file\" NOT IN (SELECT path FROM rewritten) ORDER BY 1, 2"),
                         merge->arena, &rows, err) &&
              collect_deletions(merge, rows, err);
    row_stream_close(rows);
    return ok && delta_writer_delete_rows(merge->writer, merge->deletions, merge->deletion_count,
                                          merge->arena, err);
}

static bool rewrite_files(Merge *merge, Err *err)
{
    Apply *apply = merge->apply;
    Str    scan;

    for (size_t i = 0; i < merge->rewritten_count; i++) {
        const DeltaFile *file = merge->rewritten[i];
        apply_tell(apply, "apply: rewriting", i, merge->rewritten_count);
        if (!delta_scan_sql(apply->silver, &file, 1, NULL, true, merge->arena, &scan, err) ||
            !write_query(merge, apply_sql_rewrite(&apply->sql, scan, file->path), err))
            return false;
    }
    return true;
}

/* --- rows that come --- */

/* Whether the rows that are new now are those of the kept file. */
static bool find_kept(Merge *merge, bool *same_out, Err *err)
{
    int64_t differing = 1;
    bool    ok        = !merge->kept->has_inserts ||
              duck_query_i64(
                  merge->apply->session,
                  STR("SELECT count(*) FROM ((SELECT id FROM fresh EXCEPT SELECT id FROM "
                      "kept) UNION ALL (SELECT id FROM kept EXCEPT SELECT id FROM "
                      "fresh))"),
                  &differing, NULL, err);
    *same_out = differing == 0;
    return ok;
}

static bool write_inserts(Merge *merge, Err *err)
{
    Apply *apply  = merge->apply;
    Kept  *kept   = merge->kept;
    size_t before = merge->adds.count;

    apply_tell(apply, "apply: adding rows", 0, 0);
    if (!duck_execute(apply->session, apply_sql_make_fresh(), NULL, err) ||
        !find_kept(merge, &merge->is_reused, err))
        return false;
    if (merge->is_reused) {
        *LIST_PUSH(merge->arena, &merge->adds) = kept->inserts;
    } else {
        if (kept->has_inserts)
            delta_writer_discard(merge->writer, apply->silver, &kept->inserts, 1);
        kept->has_inserts = false;
        if (!write_query(merge, apply_sql_inserts(&apply->sql), err)) return false;
    }
    merge->has_inserts = merge->adds.count > before;
    return true;
}

/* A winner came first: what only this attempt can use is removed. */
static void keep_for_next(Merge *merge)
{
    Apply *apply = merge->apply;
    Kept  *kept  = merge->kept;
    Err    err   = ERR_INIT;
    size_t own   = merge->adds.count - merge->has_inserts;

    delta_writer_discard(merge->writer, apply->silver, merge->adds.items, own);
    if (!merge->has_inserts || merge->is_reused) return;
    const DeltaAdd *add = &merge->adds.items[own];
    kept->has_inserts   = duck_execute(
          apply->session, STR("CREATE OR REPLACE TEMP TABLE kept AS SELECT id FROM fresh"), NULL,
          &err);
    if (kept->has_inserts)
        kept->inserts = delta_add_copy(apply->arena, add);
    else
        delta_writer_discard(merge->writer, apply->silver, add, 1);
}

/* Silver holds files: find what the changes meet, take it away, add the new rows. */
static bool merge_into_files(Merge *merge, Err *err)
{
    if (!match(merge, err) || !choose_ways(merge, err) || !count_rows(merge, err) ||
        !delete_by_vector(merge, err) || !rewrite_files(merge, err))
        return false;
    return write_inserts(merge, err);
}

/* Silver holds no row: its first content streams straight from bronze. */
static bool fill(Merge *merge, Err *err)
{
    Apply *apply = merge->apply;

    apply_tell(apply, "apply: filling", 0, 0);
    if (!write_query(merge, apply_sql_fill(&apply->sql, apply->changes, &apply->bronze_schema),
                     err))
        return false;
    merge->counts.inserted = merge->adds.count ? merge->adds.items[0].row_count : 0;
    merge->counts.source   = merge->counts.inserted;
    return true;
}

/* --- the commit --- */

#define METRICS_MAX 16

typedef struct Metrics {
    DeltaPair pairs[METRICS_MAX];
    size_t    count;
    Arena    *arena;
} Metrics;

static void add_metric(Metrics *metrics, const char *name, int64_t value)
{
    metrics->pairs[metrics->count++] = (DeltaPair){
        str_from_c(name), str_printf(metrics->arena, "%lld", (long long)value)};
}

static void add_file_metrics(Metrics *metrics, const Merge *merge)
{
    int64_t removed = (int64_t)merge->rewritten_count, added = 0, updated = 0, vectors_removed = 0;

    for (size_t i = 0; i < merge->rewritten_count; i++)
        vectors_removed += delta_file_has_vector(merge->rewritten[i]);
    for (size_t i = 0; i < merge->deletion_count; i++) {
        const DeltaDeletion *deletion = &merge->deletions[i];
        bool                 is_whole = deletion->vector.len == 0;
        removed += is_whole;
        added += !is_whole && !deletion->had_vector;
        updated += !is_whole && deletion->had_vector;
        vectors_removed += is_whole && deletion->had_vector;
    }
    add_metric(metrics, "numTargetFilesAdded", (int64_t)merge->adds.count);
    add_metric(metrics, "numTargetFilesRemoved", removed);
    add_metric(metrics, "numTargetDeletionVectorsAdded", added);
    add_metric(metrics, "numTargetDeletionVectorsUpdated", updated);
    add_metric(metrics, "numTargetDeletionVectorsRemoved", vectors_removed);
}

/* Spark's names (delta.md 2.5). */
static void fill_metrics(Metrics *metrics, const Merge *merge)
{
    const MergeCounts *counts = &merge->counts;
    int64_t            output = 0;
    int64_t            now_ns = clock_monotonic_ns(merge->apply->env->clock);

    for (size_t i = 0; i < merge->adds.count; i++)
        output += merge->adds.items[i].row_count;
    add_metric(metrics, "numSourceRows", counts->source);
    add_metric(metrics, "numTargetRowsInserted", counts->inserted);
    add_metric(metrics, "numTargetRowsUpdated", counts->updated);
    add_metric(metrics, "numTargetRowsDeleted", counts->hits - counts->updated);
    add_metric(metrics, "numTargetRowsCopied", output - counts->inserted - counts->updated);
    add_metric(metrics, "numOutputRows", output);
    add_file_metrics(metrics, merge);
    add_metric(metrics, "executionTimeMs", (now_ns - merge->began_ns) / 1000000);
}

static bool commit_merge(Merge *merge, Err *err)
{
    Apply       *apply   = merge->apply;
    Metrics      metrics = {.arena = merge->arena};
    DeltaOutcome outcome;

    if (merge->adds.count == 0 && merge->touched_count == 0) return true;
    fill_metrics(&metrics, merge);
    DeltaCommit commit = {.operation        = STR("MERGE"),
                          .adds             = merge->adds.items,
                          .add_count        = merge->adds.count,
                          .removes          = merge->rewritten,
                          .remove_count     = merge->rewritten_count,
                          .deletions        = merge->deletions,
                          .deletion_count   = merge->deletion_count,
                          .read_whole_table = true,
                          .metrics          = metrics.pairs,
                          .metric_count     = metrics.count};
    if (!delta_writer_publish(merge->writer, merge->adds.items,
                              merge->adds.count - merge->is_reused, err))
        return false;
    if (delta_table_commit(apply->silver, &commit, &outcome, NULL, err)) return true;
    if (err->code == ERR_CONFLICT) keep_for_next(merge);
    return false;
}

static bool merge_once(Apply *apply, Kept *kept, Err *err)
{
    Merge merge = {.apply    = apply,
                   .kept     = kept,
                   .arena    = arena_new(),
                   .began_ns = clock_monotonic_ns(apply->env->clock)};
    bool  ok    = delta_writer_open(apply->silver, STR("apply"), NULL, &merge.writer, err);

    for (size_t i = 0; ok && i < apply->options->key_count; i++)
        delta_writer_index_column(merge.writer, apply->options->keys[i]);
    if (ok && delta_table_get_file_count(apply->silver) == 0)
        ok = fill(&merge, err);
    else if (ok)
        ok = merge_into_files(&merge, err);
    ok = ok && commit_merge(&merge, err);
    if (ok) {
        apply->result->rows_written = merge.counts.inserted + merge.counts.updated;
        apply->result->rows_deleted = merge.counts.deleted;
    }
    delta_writer_close(merge.writer);
    arena_close(merge.arena);
    return ok;
}

static bool warn_of_merged_keys(Apply *apply, Err *err)
{
    int64_t count;

    if (!apply_count_merged_keys(&apply->sql, apply->session, apply->changes, &apply->bronze_schema,
                                 &count, err))
        return false;
    if (count > 0)
        log_warn(apply->env->log, "apply",
                 "rows have keys that differ below the microsecond alone: silver holds the newest "
                 "of each",
                 LOG_STR("silver", apply->options->silver.label), LOG_I64("rows", count));
    return true;
}

bool apply_merge(Apply *apply, Err *err)
{
    bool is_needed = apply->has_rows || apply->plan.with_snapshot_rows;
    Kept kept      = {.column_count = 0};

    if (!is_needed || (apply->changes.len == 0 && delta_table_get_file_count(apply->silver) == 0))
        return true;
    if (apply->changes.len == 0) { /* the snapshot of an emptied table: every row goes */
        const DeltaFile *none = NULL;
        Str              scan;

        if (!delta_scan_sql(bronze_get_table(apply->bronze), &none, 0, NULL, false, apply->arena,
                            &scan, err))
            return false;
        apply->changes = apply_sql_select_changes(&apply->sql, scan, &apply->plan);
    }
    if (!apply_check_types(&apply->sql, apply->session, apply->changes, &apply->bronze_schema,
                           err) ||
        !warn_of_merged_keys(apply, err))
        return false;
    for (int attempt = 1;; attempt++) {
        Err why = ERR_INIT;
        /* whoever came first may have changed the columns too, and which rows a chunk makes go */
        if (attempt > 1 && apply->waves.chunk_count > 0) kept.column_count = 0;
        if ((attempt == 1 || (widen_silver(apply, &why) && apply_find_stale(apply, &why))) &&
            merge_once(apply, &kept, &why))
            break;
        if (why.code != ERR_CONFLICT || attempt == MERGE_ATTEMPTS) return err_copy(err, &why);
        log_warn(apply->env->log, "apply", "another writer changed silver, matching again",
                 LOG_STR("silver", apply->options->silver.label), LOG_I64("attempt", attempt));
    }
    apply->result->rebuilt = apply->plan.rebuild &&
                             (apply->plan.snapshot.is_set || apply->has_rows);
    return true;
}
