/* Commits (delta.md 2.5, 2.9 to 2.12): decide against the newest state, put if absent, and when
 * another writer was first, read what it did before deciding again. */
#include "delta/conflict.h"
#include "delta/header_change.h"

typedef struct CommitRun {
    DeltaTable        *table;
    const DeltaCommit *commit;
    Arena             *kept;    /* for the whole call */
    Arena             *scratch; /* per attempt */
    /* The files removed, then those whose rows are deleted. Copies: a refresh frees the files that
     * others removed. */
    DeltaFile   *removes;
    Str         *remove_keys;
    size_t       remove_count;
    HeaderChange change;
    InCommit     in_commit;
    int64_t      now_ms;
} CommitRun;

static bool is_rewrite(const DeltaCommit *commit)
{
    return commit->remove_count > 0 || commit->deletion_count > 0 || commit->read_whole_table;
}

static DeltaWriteKind write_kind(const DeltaCommit *commit)
{
    if (commit->remove_count + commit->deletion_count == 0) return DELTA_APPENDS;
    return commit->rearranges ? DELTA_REARRANGES : DELTA_CHANGES;
}

static void copy_removes(CommitRun *run)
{
    const DeltaCommit *commit = run->commit;

    run->remove_count = commit->remove_count + commit->deletion_count;
    run->removes      = ARENA_ARRAY(run->kept, DeltaFile, run->remove_count + 1);
    run->remove_keys  = ARENA_ARRAY(run->kept, Str, run->remove_count + 1);
    for (size_t i = 0; i < run->remove_count; i++) {
        DeltaFile *copy     = &run->removes[i];
        *copy               = i < commit->remove_count ? *commit->removes[i]
                                                       : *commit->deletions[i - commit->remove_count].file;
        copy->path          = str_copy(run->kept, copy->path);
        copy->extra_members = str_copy(run->kept, copy->extra_members);
        copy->stats_form    = NULL;
        run->remove_keys[i] = delta_file_key(copy, run->kept);
    }
}

/* --- may it be committed now? --- */

static bool is_recorded(const DeltaTable *table, const DeltaTxn *txn)
{
    int64_t version;
    return txn && delta_table_find_txn(table, txn->app_id, &version) && version >= txn->version;
}

static bool fail_conflict(const DeltaTable *table, const char *what, Str name, Err *err)
{
    return conflict_fail(&table->place, table->state->version, what, name, err);
}

/* The path of a file of ours that is not there any more, as we know it; ptr NULL: all are. */
static Str find_lost_file(const CommitRun *run)
{
    for (size_t i = 0; i < run->remove_count; i++)
        if (!file_set_find(run->table->state->files, run->remove_keys[i]))
            return run->removes[i].path;
    return (Str){NULL, 0};
}

/* The files were written for a schema that the table may have left since. */
static bool check_add_schema(const CommitRun *run, const DeltaAdd *add, Err *err)
{
    for (size_t i = 0; add->schema && i < add->schema->column_count; i++) {
        const HeaderChange *now   = &run->change;
        const Column       *wrote = &add->schema->columns[i];
        ptrdiff_t           index = schema_find(&now->schema, wrote->name);
        if (index < 0 || !column_type_equal(now->schema.columns[index].type, wrote->type) ||
            (add->mapping && !mapping_same_column(add->mapping, i, &now->mapping, (size_t)index)))
            return fail_conflict(run->table, "and changed column", wrote->name, err);
    }
    return true;
}

/* Files written before the table was clustered may lack bounds that its readers count on. */
static bool check_add_bounds(const CommitRun *run, const DeltaAdd *add, Err *err)
{
    if (!add->schema || add->has_all_bounds ||
        !map_find(run->table->state->domains, STR("delta.clustering")))
        return true;
    return fail_conflict(run->table, "and clustered the table", STR_EMPTY, err);
}

static bool check_domains(const CommitRun *run, Err *err)
{
    for (size_t i = 0; i < run->commit->domain_count; i++)
        if (str_starts_with(run->commit->domains[i].name, STR("delta.")))
            return err_set(err, ERR_UNSUPPORTED,
                           "table %.*s: domain %.*s is Delta's own; nothing was written",
                           STR_ARG(run->table->place.path), STR_ARG(run->commit->domains[i].name));
    return true;
}

static bool check_attempt(CommitRun *run, Err *err)
{
    DeltaTable *table = run->table;

    if (!delta_table_check_writable(table, write_kind(run->commit), err)) return false;
    if (!conflict_check(&table->place, table->state->version, run->commit, &(LogChanges){0},
                        find_lost_file(run), err))
        return false;
    if (!check_domains(run, err)) return false;
    if (run->commit->deletion_count > 0 && !delta_table_takes_vectors(table))
        return fail_conflict(table, "and turned deletion vectors off", STR_EMPTY, err);
    run->now_ms = clock_utc_us(table->context->clock) / 1000;
    if (!in_commit_plan(table, run->commit, run->now_ms, &run->in_commit, err)) return false;
    if (!header_change_plan(&table->place, table_header(table), run->commit,
                            table->state->version + 1, &run->in_commit, run->scratch, &run->change,
                            err))
        return false;
    for (size_t i = 0; i < run->commit->add_count; i++)
        if (!check_add_schema(run, &run->commit->adds[i], err) ||
            !check_add_bounds(run, &run->commit->adds[i], err))
            return false;
    return true;
}

static bool has_nothing_to_do(const CommitRun *run)
{
    const DeltaCommit *commit = run->commit;
    size_t             adds   = 0;
    for (size_t i = 0; i < commit->add_count; i++)
        adds += commit->adds[i].row_count != 0;
    return adds == 0 && run->remove_count == 0 && !commit->txn && run->change.metadata.len == 0 &&
           commit->domain_count == 0 && !commit->is_log_entry;
}

/* --- the text --- */

static bool is_write(const DeltaCommit *commit)
{
    return commit->operation.len == 0 || str_equal(commit->operation, STR("WRITE"));
}

static void fill_write_defaults(const DeltaCommit *commit, CommitHead *head, Arena *arena)
{
    int64_t files = 0, rows = 0, bytes = 0;

    for (size_t i = 0; i < commit->add_count; i++) {
        files += commit->adds[i].row_count != 0;
        rows += commit->adds[i].row_count;
        bytes += commit->adds[i].row_count != 0 ? commit->adds[i].size_bytes : 0;
    }
    if (head->parameter_count == 0) {
        DeltaPair *pairs      = ARENA_ARRAY(arena, DeltaPair, 2);
        pairs[0]              = (DeltaPair){STR("mode"), STR("Append")};
        pairs[1]              = (DeltaPair){STR("partitionBy"), STR("[]")};
        head->parameters      = pairs;
        head->parameter_count = 2;
    }
    if (head->metric_count == 0) {
        DeltaPair *pairs = ARENA_ARRAY(arena, DeltaPair, 3);
        pairs[0] = (DeltaPair){STR("numFiles"), str_printf(arena, "%lld", (long long)files)};
        pairs[1] = (DeltaPair){STR("numOutputRows"), str_printf(arena, "%lld", (long long)rows)};
        pairs[2] = (DeltaPair){STR("numOutputBytes"), str_printf(arena, "%lld", (long long)bytes)};
        head->metrics      = pairs;
        head->metric_count = 3;
    }
}

static bool build_text(CommitRun *run, Str txn_id, Str *out, Err *err)
{
    const DeltaCommit *commit = run->commit;
    DeltaTable        *table  = run->table;
    int64_t            now_ms = run->now_ms;
    Buf                buf    = buf_new(run->scratch, LIMIT_LOG_FILE_BYTES);
    CommitHead         head   = {
                  .version         = table->state->version + 1,
                  .now_ms          = now_ms,
                  .in_commit_ms    = run->in_commit.ms,
                  .operation       = commit->operation.len ? commit->operation : STR("WRITE"),
                  .parameters      = commit->parameters,
                  .parameter_count = commit->parameter_count,
                  .metrics         = commit->metrics,
                  .metric_count    = commit->metric_count,
                  .user_metadata   = commit->user_metadata,
                  .txn_id          = txn_id,
                  .is_blind_append = commit->is_blind_append && !is_rewrite(commit),
    };

    if (is_write(commit)) fill_write_defaults(commit, &head, run->scratch);
    commit_write_info(&buf, table->context, &head);
    if (run->change.protocol.len > 0) commit_write_raw(&buf, "protocol", run->change.protocol);
    if (run->change.metadata.len > 0) commit_write_raw(&buf, "metaData", run->change.metadata);
    if (commit->txn) commit_write_txn(&buf, commit->txn, now_ms);
    for (size_t i = 0; i < commit->domain_count; i++)
        commit_write_domain(&buf, &commit->domains[i]);
    for (size_t i = 0; i < run->remove_count; i++)
        commit_write_remove(&buf, &run->removes[i], now_ms, !commit->rearranges);
    for (size_t i = 0; i < commit->add_count; i++)
        if (commit->adds[i].row_count != 0)
            commit_write_add(&buf, &commit->adds[i], !commit->rearranges);
    for (size_t i = 0; i < commit->deletion_count; i++)
        if (commit->deletions[i].vector.len > 0)
            commit_write_vector(&buf, &run->removes[commit->remove_count + i],
                                &commit->deletions[i]);
    if (buf.overflow)
        return err_set(err, ERR_LIMIT, "table %.*s: a commit of more than %zu bytes",
                       STR_ARG(table->place.path), (size_t)LIMIT_LOG_FILE_BYTES);
    *out = buf_str(&buf);
    return true;
}

/* --- the loop --- */

/* The commit is in the log whatever happens here; a state that could not follow is brought up by
 * the next refresh. */
static void follow_own_commit(CommitRun *run, Str text)
{
    DeltaTable *table = run->table;
    Err         err   = ERR_INIT;
    int64_t     next  = table->state->version + 1;
    Str         file  = log_name_commit(run->scratch, next);

    if (log_state_apply_commit(table->state, &table->place, next, text, file, true, NULL, &err))
        return;
    log_warn(table->context->log, "delta", "an own commit could not be followed",
             LOG_STR("table", table->place.path), LOG_I64("version", next),
             LOG_TEXT("error", err.message));
}

typedef enum AttemptResult {
    ATTEMPT_WRITTEN,
    ATTEMPT_SKIPPED,
    ATTEMPT_FAILED,
    ATTEMPT_AGAIN
} AttemptResult;

/* The owner may have transactions forgotten before a rerun would look for them (2.12). */
static void warn_of_short_retention(CommitRun *run)
{
    const int64_t quarter_us = INT64_C(90) * 86400 * 1000000;
    DeltaTable   *table      = run->table;

    if (!run->commit->txn || table->has_warned) return;
    int64_t kept_us = header_property_interval_us(
        table_header(table), "delta.setTransactionRetentionDuration", quarter_us);
    if (kept_us >= quarter_us) return;
    table->has_warned = true;
    log_warn(table->context->log, "delta",
             "delta.setTransactionRetentionDuration is below 90 days; a late rerun may write twice",
             LOG_STR("table", table->place.path));
}

/* The stored version moved since we read it: the next attempt decides again (2.11). */
static void log_moved_txn(const CommitRun *run, int64_t before)
{
    const DeltaTxn *txn = run->commit->txn;
    int64_t         now = NO_VERSION;

    if (!txn || !delta_table_find_txn(run->table, txn->app_id, &now) || now == before) return;
    log_info(run->table->context->log, "delta", "DELTA-C03 a txn moved under a commit",
             LOG_STR("table", run->table->place.path), LOG_STR("app_id", txn->app_id),
             LOG_I64("ours", txn->version), LOG_I64("recorded", now));
}

static AttemptResult attempt_once(CommitRun *run, Err *err)
{
    DeltaTable *table   = run->table;
    LogChanges  changes = {.arena = run->scratch};
    int64_t     before  = NO_VERSION; /* of our txn's appId */
    PutOutcome  outcome;
    Str         text = STR_EMPTY;

    arena_reset(run->scratch);
    if (is_recorded(table, run->commit->txn)) return ATTEMPT_SKIPPED;
    if (!check_attempt(run, err)) return ATTEMPT_FAILED;
    if (has_nothing_to_do(run)) return ATTEMPT_SKIPPED;
    Str txn_id = rng_uuid4(table->context->rng, run->scratch);
    if (!build_text(run, txn_id, &text, err)) return ATTEMPT_FAILED;
    if (!log_put_commit(&table->place, table->state->version + 1, text, txn_id, &outcome, err))
        return ATTEMPT_FAILED;
    if (outcome == PUT_DONE) {
        follow_own_commit(run, text);
        return ATTEMPT_WRITTEN;
    }
    if (run->commit->txn) (void)delta_table_find_txn(table, run->commit->txn->app_id, &before);
    if (!table_refresh(table, &changes, err) ||
        !conflict_check(&table->place, table->state->version, run->commit, &changes,
                        find_lost_file(run), err))
        return ATTEMPT_FAILED;
    log_moved_txn(run, before);
    return ATTEMPT_AGAIN;
}

static AttemptResult commit_loop(CommitRun *run, Err *err)
{
    DeltaTable *table = run->table;

    for (int attempt = 1; attempt <= COMMIT_ATTEMPTS; attempt++) {
        AttemptResult result = attempt_once(run, err);
        if (result != ATTEMPT_AGAIN) return result;
        /* Streams share facts and control, so to lose a race or two is how they take turns. */
        log_at(table->context->log, attempt <= COMMIT_QUIET_ATTEMPTS ? LOG_DEBUG : LOG_WARN,
               "delta", "another writer committed first", LOG_STR("table", table->place.path),
               LOG_I64("version", table->state->version), LOG_I64("attempt", attempt));
        if (attempt == 1 && table->context->turn) continue; /* who won waits no more */
        if (attempt < COMMIT_ATTEMPTS && !log_back_off(table->context, attempt, err))
            return ATTEMPT_FAILED;
    }
    err_set(err, ERR_CONFLICT, "other writers committed first %d times in a row", COMMIT_ATTEMPTS);
    return ATTEMPT_FAILED;
}

static AttemptResult commit_in_turn(CommitRun *run, Err *err)
{
    Queue        *turn     = run->table->context->turn;
    void         *item     = NULL;
    bool          has_turn = turn && queue_pop(turn, -1, &item);
    AttemptResult result   = commit_loop(run, err);

    if (has_turn) (void)queue_push(turn, item);
    return result;
}

bool delta_table_commit(DeltaTable *table, const DeltaCommit *commit, DeltaOutcome *out,
                        int64_t *version_out, Err *err)
{
    CommitRun run = {.table = table, .commit = commit, .kept = arena_new(), .scratch = arena_new()};

    copy_removes(&run);
    warn_of_short_retention(&run);
    AttemptResult result = commit_in_turn(&run, err);
    bool          ok     = result == ATTEMPT_WRITTEN || result == ATTEMPT_SKIPPED;
    if (ok) {
        *out = result == ATTEMPT_WRITTEN ? DELTA_WRITTEN : DELTA_SKIPPED;
        if (version_out) *version_out = table->state->version;
        err_clear(err);
    }
    bool changes_header = run.change.metadata.len > 0;
    arena_close(run.scratch);
    arena_close(run.kept);
    if (result == ATTEMPT_WRITTEN) checkpoint_when_due(table, changes_header);
    return ok || err_context(err, "commit to table %.*s", STR_ARG(table->place.path));
}

/* --- small appends --- */

void table_remove_unused(DeltaTable *table, const DeltaAdd *add)
{
    Arena *arena   = arena_new();
    Err    ignored = ERR_INIT;
    Str    path    = store_join(arena, table->place.path, delta_path_decode(arena, add->path));

    if (!file_set_find(table->state->files, add->path) &&
        !map_find(table->state->tombstones, add->path))
        if (!store_remove(table->context->store, path, &ignored))
            log_debug(table->context->log, "delta", "an unused file was left",
                      LOG_STR("file", path));
    arena_close(arena);
}

static bool append_file(DeltaTable *table, const DeltaAppend *append, DeltaWriter *writer,
                        Arena *arena, DeltaOutcome *out, int64_t *version_out, Err *err)
{
    DeltaAdd add;

    if (!delta_writer_write(writer, append->rows, arena, &add, err)) return false;
    if (add.row_count == 0) {
        *out = DELTA_SKIPPED;
        if (version_out) *version_out = table->state->version;
        return true;
    }
    if (!delta_writer_publish(writer, &add, 1, err)) return false;
    DeltaCommit commit = {.user_metadata   = append->user_metadata,
                          .txn             = append->txn,
                          .adds            = &add,
                          .add_count       = 1,
                          .is_blind_append = true};
    bool        ok     = delta_table_commit(table, &commit, out, version_out, err);
    if (ok && *out == DELTA_SKIPPED) table_remove_unused(table, &add);
    return ok;
}

bool delta_table_append(DeltaTable *table, const DeltaAppend *append, DeltaOutcome *out,
                        int64_t *version_out, Err *err)
{
    DeltaWriter *writer = NULL;

    if (is_recorded(table, append->txn)) {
        *out = DELTA_SKIPPED;
        if (version_out) *version_out = table->state->version;
        return true;
    }
    if (!delta_writer_open(table, append->purpose, NULL, &writer, err)) return false;
    Arena *arena = arena_new();
    bool   ok    = append_file(table, append, writer, arena, out, version_out, err);
    arena_close(arena);
    delta_writer_finish(writer, table);
    return ok;
}
