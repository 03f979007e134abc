/* OPTIMIZE (delta.md 2.16): bins of small files become one file each, several bins a commit. A bin
 * whose files another writer touched is dropped, with the file that was made of it. */
#include "delta/optimize.h"

#include "delta/deletion_vector.h"
#include "delta/maintain.h"
#include "delta/plan_optimize.h"

#define BINS_PER_COMMIT 8

/* Files go by key: a refresh frees those that others removed. */
typedef struct OptimizeBin {
    Str     *keys;
    size_t   file_count;
    int64_t  size_bytes; /* of the files */
    DeltaAdd add;        /* what became of them; row_count 0: no row was left */
    bool     is_dropped;
} OptimizeBin;

typedef struct Optimize {
    DeltaTable          *table;
    const DeltaOptimize *options;
    Arena               *arena; /* of the call */
    DuckSession         *session;
    Str                  header; /* protocol and metadata as they were read */
    OptimizeBin         *bins;
    size_t               bin_count;
    int64_t              file_total, file_done;
    DeltaOptimized      *out;
} Optimize;

/* --- planning --- */

static int64_t deleted_rows(const DeltaFile *file)
{
    if (!delta_file_has_vector(file)) return 0;
    int64_t left = delta_file_count_rows(file);
    return left < 0 ? -1 : file->row_count - left;
}

static void take_bin(Optimize *run, OptimizeBin *bin, const PlanBin *planned,
                     const LiveFile *const *live)
{
    bin->file_count = planned->file_count;
    bin->keys       = ARENA_ARRAY(run->arena, Str, planned->file_count);
    for (size_t i = 0; i < planned->file_count; i++) {
        const LiveFile *file = live[planned->files[i]];
        bin->keys[i]         = str_copy(run->arena, live_file_key(file));
        bin->size_bytes += MAX(file->file.size_bytes, 0);
    }
    run->file_total += (int64_t)planned->file_count;
}

static void plan(Optimize *run)
{
    const FileSet   *set     = run->table->state->files;
    size_t           count   = file_set_count(set);
    Arena           *scratch = arena_new();
    PlanFile        *files   = ARENA_ARRAY(scratch, PlanFile, count + 1);
    const LiveFile **live    = ARENA_ARRAY(scratch, const LiveFile *, count + 1);

    for (size_t at = 0, i = 0; i < count; i++) {
        live[i]  = file_set_next(set, &at);
        files[i] = (PlanFile){.size_bytes    = live[i]->file.size_bytes,
                              .row_count     = live[i]->file.row_count,
                              .deleted_count = deleted_rows(&live[i]->file)};
    }
    int64_t      target  = run->options->target_bytes;
    OptimizePlan planned = plan_optimize(files, count,
                                         target > 0 ? target : DELTA_TARGET_BYTES_DEFAULT,
                                         run->options->files_least, scratch);
    run->bins            = ARENA_ARRAY(run->arena, OptimizeBin, planned.bin_count + 1);
    run->bin_count       = planned.bin_count;
    for (size_t i = 0; i < planned.bin_count; i++)
        take_bin(run, &run->bins[i], &planned.bins[i], live);
    arena_close(scratch);
}

/* --- one bin --- */

/* The live files of a bin; false: one is gone. */
static bool find_files(const Optimize *run, const OptimizeBin *bin, const DeltaFile **out)
{
    for (size_t i = 0; i < bin->file_count; i++) {
        const LiveFile *live = file_set_find(run->table->state->files, bin->keys[i]);
        if (!live) return false;
        out[i] = &live->file;
    }
    return true;
}

/* A column whose values are known of a file shall be known of the one that it becomes part of. */
static void keep_indexes(const Optimize *run, DeltaWriter *writer, const DeltaFile *file,
                         Arena *arena)
{
    const Schema *schema = delta_table_get_schema(run->table);
    DeltaBounds   bounds;

    for (size_t i = 0; i < schema->column_count; i++)
        if (delta_file_find_bounds(run->table, file, schema->columns[i].name, arena, &bounds))
            delta_writer_index_column(writer, schema->columns[i].name);
}

static bool write_sorted(Optimize *run, DeltaWriter *writer, const DeltaFile *const *files,
                         size_t file_count, Arena *arena, DeltaAdd *out, Err *err)
{
    Buf sql = buf_new(arena, 0);
    Str scan;

    if (!delta_scan_sql(run->table, files, file_count, NULL, false, arena, &scan, err))
        return false;
    buf_printf(&sql, "SELECT * FROM %.*s ORDER BY ", STR_ARG(scan));
    for (size_t i = 0; i < run->options->sort_count; i++)
        buf_printf(&sql, "%s%.*s", i > 0 ? ", " : "",
                   STR_ARG(duck_quote_identifier(arena, run->options->sort_columns[i])));
    return delta_writer_write_query(writer, run->session, buf_str(&sql), run->arena, out, err);
}

static bool write_in_order(Optimize *run, DeltaWriter *writer, const DeltaFile *const *files,
                           size_t file_count, Arena *arena, DeltaAdd *out, Err *err)
{
    RowStream *rows = files_rows_open(run->table, run->session, files, file_count, arena);
    bool       ok   = delta_writer_write(writer, rows, run->arena, out, err);

    row_stream_close(rows);
    return ok;
}

/* The rows that the log promises must be there: a rewrite that lost one would lose it for good. */
static bool check_rows(const Optimize *run, const DeltaFile *const *files, size_t file_count,
                       const DeltaAdd *add, Err *err)
{
    int64_t want = 0;

    for (size_t i = 0; i < file_count; i++) {
        int64_t rows = delta_file_count_rows(files[i]);
        if (rows < 0) return true;
        want += rows;
    }
    return add->row_count == want ||
           err_set(err, ERR_DAMAGED,
                   "DELTA-L11 table %.*s: %zu files from %.*s on have %lld rows, %lld in the log; "
                   "nothing was rewritten",
                   STR_ARG(run->table->place.path), file_count, STR_ARG(files[0]->path),
                   (long long)add->row_count, (long long)want);
}

static bool write_files(Optimize *run, OptimizeBin *bin, DeltaWriter *writer, Err *err)
{
    Arena            *scratch = arena_new();
    const DeltaFile **files   = ARENA_ARRAY(scratch, const DeltaFile *, bin->file_count + 1);
    bool              ok      = true;

    if (!find_files(run, bin, files)) {
        bin->is_dropped = true;
    } else {
        ok = run->options->sort_count > 0
                 ? write_sorted(run, writer, files, bin->file_count, scratch, &bin->add, err)
                 : write_in_order(run, writer, files, bin->file_count, scratch, &bin->add, err);
        ok = ok && check_rows(run, files, bin->file_count, &bin->add, err) &&
             delta_writer_publish(writer, &bin->add, 1, err);
    }
    arena_close(scratch);
    return ok;
}

/* The files of the bin without those that hold large values; one file alone is worth it for its deleted rows only. */
static void keep_others(OptimizeBin *bin, const DeltaFile *const *files, const bool *large)
{
    size_t kept = 0, last = 0;

    for (size_t i = 0; i < bin->file_count; i++) {
        if (large[i]) {
            bin->size_bytes -= MAX(files[i]->size_bytes, 0);
            continue;
        }
        last              = i;
        bin->keys[kept++] = bin->keys[i];
    }
    bin->file_count = kept;
    bin->is_dropped = kept == 0 || (kept == 1 && !delta_file_has_vector(files[last]));
}

/* Memory had no room for the bin, or a page has none for a value next to others. Where that may be for large values, which are best off in files of their own, their
 * files stay as they are; `*left_out` 0: there are none. */
static bool leave_large(Optimize *run, OptimizeBin *bin, size_t *left_out, Err *err)
{
    Arena            *scratch = arena_new();
    size_t            count   = bin->file_count;
    const DeltaFile **files   = ARENA_ARRAY(scratch, const DeltaFile *, count + 1);
    bool             *large   = ARENA_ARRAY(scratch, bool, count + 1);
    bool              ok      = true;

    *left_out = 0;
    if (find_files(run, bin, files)) {
        ok = files_find_large(run->table, run->session, files, count, large, err);
        for (size_t i = 0; ok && i < count; i++)
            *left_out += large[i];
        if (ok && *left_out > 0) keep_others(bin, files, large);
    }
    arena_close(scratch);
    return ok;
}

static bool write_bin(Optimize *run, OptimizeBin *bin, DeltaWriter *writer, Err *err)
{
    Err    ignored = ERR_INIT;
    size_t left;

    run->file_done += (int64_t)bin->file_count;
    if (write_files(run, bin, writer, err)) return true;
    if (err->code != ERR_LIMIT || !leave_large(run, bin, &left, &ignored) || left == 0)
        return false;
    log_info(run->table->context->log, "delta",
             "files with values too large to be put together were left as they are",
             LOG_STR("table", run->table->place.path), LOG_I64("files", left));
    err_clear(err);
    return bin->is_dropped || write_files(run, bin, writer, err);
}

/* --- committing --- */

static void drop_bin(Optimize *run, OptimizeBin *bin)
{
    bin->is_dropped = true;
    run->out->dropped_count++;
    if (bin->add.row_count > 0) table_remove_unused(run->table, &bin->add);
}

/* What the bins that are left want. */
typedef struct Rearrangement {
    LIST(const DeltaFile *) removes;
    LIST(DeltaAdd) adds;
    int64_t removed_bytes, added_bytes;
} Rearrangement;

static void gather(Optimize *run, OptimizeBin *bins, size_t count, Arena *arena, Rearrangement *out)
{
    *out = (Rearrangement){0};
    for (size_t b = 0; b < count; b++) {
        const DeltaFile **files = ARENA_ARRAY(arena, const DeltaFile *, bins[b].file_count);
        if (bins[b].is_dropped) continue;
        if (!find_files(run, &bins[b], files)) {
            drop_bin(run, &bins[b]);
            continue;
        }
        for (size_t i = 0; i < bins[b].file_count; i++)
            *LIST_PUSH(arena, &out->removes) = files[i];
        out->removed_bytes += bins[b].size_bytes;
        if (bins[b].add.row_count == 0) continue;
        *LIST_PUSH(arena, &out->adds) = bins[b].add;
        out->added_bytes += bins[b].add.size_bytes;
    }
}

static Str header_text(const DeltaTable *table, Arena *arena)
{
    return str_printf(arena, "%.*s\n%.*s", STR_ARG(table_header(table)->protocol_raw),
                      STR_ARG(table_header(table)->metadata_raw));
}

static bool commit_once(Optimize *run, const Rearrangement *what, Arena *arena, Err *err)
{
    Str       sorted = STR("[]");
    DeltaPair parameters[3], metrics[4];

    if (run->options->sort_count > 0) {
        Buf        buf  = buf_new(arena, 0);
        JsonWriter json = json_writer(&buf, false, false);
        json_array_begin(&json);
        for (size_t i = 0; i < run->options->sort_count; i++)
            json_str(&json, run->options->sort_columns[i]);
        json_array_end(&json);
        sorted = buf_str(&buf);
    }
    parameters[0] = (DeltaPair){STR("predicate"), STR("[]")};
    parameters[1] = (DeltaPair){STR("zOrderBy"), STR("[]")};
    parameters[2] = (DeltaPair){STR("sortedBy"), sorted};
    metrics[0]    = (DeltaPair){STR("numAddedFiles"), str_printf(arena, "%zu", what->adds.count)};
    metrics[1] = (DeltaPair){STR("numRemovedFiles"), str_printf(arena, "%zu", what->removes.count)};
    metrics[2] = (DeltaPair){STR("numAddedBytes"),
                             str_printf(arena, "%lld", (long long)what->added_bytes)};
    metrics[3] = (DeltaPair){STR("numRemovedBytes"),
                             str_printf(arena, "%lld", (long long)what->removed_bytes)};
    DeltaCommit  commit = {.operation       = STR("OPTIMIZE"),
                           .parameters      = parameters,
                           .parameter_count = COUNT_OF(parameters),
                           .metrics         = metrics,
                           .metric_count    = COUNT_OF(metrics),
                           .user_metadata   = STR_EMPTY,
                           .adds            = what->adds.items,
                           .add_count       = what->adds.count,
                           .removes         = what->removes.items,
                           .remove_count    = what->removes.count,
                           .rearranges      = true};
    DeltaOutcome outcome;
    return delta_table_commit(run->table, &commit, &outcome, NULL, err);
}

static void note_committed(DeltaOptimized *out, const Rearrangement *what)
{
    out->commit_count++;
    out->removed_count += (int64_t)what->removes.count;
    out->removed_bytes += what->removed_bytes;
    out->added_count += (int64_t)what->adds.count;
    out->added_bytes += what->added_bytes;
}

/* A conflict refreshes the table; then the bins it touched go, and the others try again. */
static bool commit_bins(Optimize *run, OptimizeBin *bins, size_t count, Err *err)
{
    for (int attempt = 1;; attempt++) {
        Arena        *scratch = arena_new();
        Rearrangement what;
        gather(run, bins, count, scratch, &what);
        bool is_done = what.removes.count == 0 || commit_once(run, &what, scratch, err);
        if (is_done && what.removes.count > 0) note_committed(run->out, &what);
        bool may_retry = !is_done && err->code == ERR_CONFLICT && attempt < COMMIT_ATTEMPTS &&
                         str_equal(header_text(run->table, scratch), run->header);
        arena_close(scratch);
        if (is_done) return true;
        if (!may_retry) return false;
        err_clear(err);
    }
}

/* A commit that failed may have landed after all, and then its files are in use. */
static void drop_after_failure(Optimize *run, OptimizeBin *bins, size_t count)
{
    Err ignored = ERR_INIT;

    if (!delta_table_refresh(run->table, &ignored)) return;
    for (size_t i = 0; i < count; i++)
        if (!bins[i].is_dropped) drop_bin(run, &bins[i]);
}

/* --- the whole --- */

static bool run_group(Optimize *run, OptimizeBin *bins, size_t count, Err *err)
{
    const DeltaProgress *progress = &run->options->progress;
    DeltaWriter         *writer   = NULL;
    Arena               *scratch  = arena_new();
    bool ok = delta_writer_open(run->table, run->options->purpose, NULL, &writer, err);

    const LiveFile *first = file_set_find(run->table->state->files, bins[0].keys[0]);
    if (ok && first) keep_indexes(run, writer, &first->file, scratch);
    for (size_t i = 0; ok && i < count; i++) {
        if (progress->show)
            progress->show(progress->arg, "optimize", "files", run->file_done, run->file_total);
        ok = log_check_cancel(run->table->context, err) && write_bin(run, &bins[i], writer, err);
    }
    ok = ok && commit_bins(run, bins, count, err);
    if (!ok) drop_after_failure(run, bins, count);
    delta_writer_close(writer);
    arena_close(scratch);
    return ok;
}

static bool check_sort_columns(const Optimize *run, Err *err)
{
    for (size_t i = 0; i < run->options->sort_count; i++)
        if (schema_find(delta_table_get_schema(run->table), run->options->sort_columns[i]) < 0)
            return err_set(err, ERR_USAGE, "table %.*s has no column %.*s to sort by",
                           STR_ARG(run->table->place.path), STR_ARG(run->options->sort_columns[i]));
    return true;
}

/* Its files are laid out by a rule that bin-packing would break. */
static bool is_clustered(const DeltaTable *table)
{
    return map_find(table->state->domains, STR("delta.clustering")) ||
           str_list_has(&table_header(table)->protocol.writer_features, STR("clustering"));
}

static bool run_all(Optimize *run, Err *err)
{
    DeltaTable *table = run->table;

    if (is_clustered(table)) {
        log_warn(table->context->log, "delta", "a clustered table is not optimized",
                 LOG_STR("table", table->place.path));
        return true;
    }
    if (!delta_table_check_writable(table, DELTA_REARRANGES, err) || !check_sort_columns(run, err))
        return false;
    run->header = header_text(table, run->arena);
    plan(run);
    if (run->bin_count == 0) return true;
    if (!duck_session_open(table->context->duck, &run->session, err)) return false;
    for (size_t at = 0; at < run->bin_count; at += BINS_PER_COMMIT)
        if (!run_group(run, run->bins + at, MIN(run->bin_count - at, BINS_PER_COMMIT), err))
            return false;
    return true;
}

bool delta_table_optimize(DeltaTable *table, const DeltaOptimize *options, DeltaOptimized *out,
                          Err *err)
{
    Optimize run = {.table = table, .options = options, .arena = arena_new(), .out = out};

    *out    = (DeltaOptimized){0};
    bool ok = run_all(&run, err);
    duck_session_close(run.session);
    arena_close(run.arena);
    return ok || err_context(err, "optimize of table %.*s", STR_ARG(table->place.path));
}
