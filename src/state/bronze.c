/* bronze.c - the append-only change log: its shape, its appends, the snapshots in it. */
#include "state/bronze_internal.h"

#include "state/silver.h"

#include "base/buf.h"
#include "base/list.h"

#define PREFIX_COLUMNS    6
#define SUFFIX_COLUMNS    3
#define SNAPSHOT_ATTEMPTS 10 /* others may append batches meanwhile */
#define HISTORY_PAGE      64 /* commits looked at together, newest first */

bool bronze_open(DeltaContext *context, const TableRef *ref, Bronze **out, Err *err)
{
    Arena  *arena  = arena_new();
    Bronze *bronze = ARENA_NEW(arena, Bronze);

    bronze->context = context;
    bronze->arena   = arena;
    bronze->ref     = (TableRef){.label = str_copy(arena, ref->label),
                                 .path  = str_copy(arena, ref->path)};
    if (!table_ref_open_if_exists(context, &bronze->ref, &bronze->table, err)) goto failed;
    if (!bronze->table) {
        bool exists, has_files;
        if (!delta_table_exists(context, bronze->ref.path, &exists, &has_files, err)) goto failed;
        if (!exists && has_files) {
            err_set(err, ERR_STATE,
                    "%.*s holds files that are no Delta table; name another path for bronze, or "
                    "empty it",
                    STR_ARG(ref->path));
            goto failed;
        }
    }
    *out = bronze;
    return true;
failed:
    bronze_close(bronze);
    *out = NULL;
    return err_context(err, "bronze table %.*s", STR_ARG(ref->label));
}

void bronze_close(Bronze *bronze)
{
    if (!bronze) return;
    delta_table_close(bronze->table);
    arena_close(bronze->arena);
}

DeltaTable *bronze_get_table(const Bronze *bronze)
{
    return bronze->table;
}

/* --- shape --- */

static Schema bronze_schema(Arena *arena, const Schema *captured, bool include_command_id)
{
    static const Column command_id = {
        .name    = {"_command_id", 11},
        .type    = {.kind = TYPE_INTEGER},
        .comment = {"Order of the statement inside its transaction, per capture instance", 67}};
    Column *columns = ARENA_ARRAY(arena, Column,
                                  PREFIX_COLUMNS + captured->column_count + SUFFIX_COLUMNS);
    size_t  count   = 0;

#define METADATA(text, kind, about) \
    columns[count++] = (Column){.name = STR(text), .type = COLUMN_TYPE(kind), .comment = STR(about)}
    METADATA("_capture_instance", TYPE_STRING, "Capture instance the row was read from");
    METADATA("_start_lsn", TYPE_STRING,
             "Commit LSN of the change; of a snapshot row the LSN recorded before its read");
    METADATA("_seqval", TYPE_STRING, "Position of the change in the log; NULL on snapshot rows");
    METADATA("_operation", TYPE_INTEGER,
             "1 delete, 2 insert, 3 update before, 4 update after, 0 row of a snapshot");
    if (include_command_id) columns[count++] = command_id;
    METADATA("_commit_ts", TYPE_TIMESTAMP_NTZ, "Commit time, UTC");
    for (size_t i = 0; i < captured->column_count; i++)
        columns[count++] = captured->columns[i];
    METADATA("_batch_id", TYPE_INTEGER, "Micro-batch that wrote the row; NULL on snapshot rows");
    METADATA("_snapshot", TYPE_STRING, "LSN of the snapshot the row belongs to; NULL on changes");
    METADATA("_chunk", TYPE_INTEGER, "Chunk of a chunked snapshot; NULL otherwise");
#undef METADATA
    return (Schema){.columns = columns, .column_count = count};
}

/* The table must be one of ours: other people's tables are not appended to. */
static bool check_is_bronze(const Bronze *bronze, const Schema *schema, Err *err)
{
    /* _snapshot and _chunk came later, and _command_id can be left out. */
    static const char *const needed[] = {"_capture_instance", "_start_lsn", "_seqval",
                                         "_operation",        "_commit_ts", "_batch_id"};

    for (size_t i = 0; i < COUNT_OF(needed); i++)
        if (schema_find(schema, str_from_c(needed[i])) < 0)
            return err_set(err, ERR_STATE,
                           "%.*s is a Delta table without column %s, so it is no bronze table; "
                           "name another path",
                           STR_ARG(bronze->ref.path), needed[i]);
    return true;
}

/* What the table lacks of `want`, or holds only after a widening: the columns that an append must
 * bring; none when it has all. */
static Schema missing_columns(const Schema *have, const Schema *want, Arena *arena)
{
    Schema  merged  = schema_merge(arena, have, want);
    Column *columns = ARENA_ARRAY(arena, Column, merged.column_count + 1);
    bool    is_more = merged.column_count > have->column_count;

    for (size_t i = 0; i < merged.column_count; i++) {
        ptrdiff_t at = schema_find(want, merged.columns[i].name);
        columns[i]   = merged.columns[i];
        if (at < 0 || column_type_fits(want->columns[at].type, false, columns[i].type)) continue;
        columns[i].type = want->columns[at].type;
        is_more         = true;
    }
    if (!is_more) return (Schema){0};
    return (Schema){.columns = columns, .column_count = merged.column_count};
}

static bool check_table(const Bronze *bronze, const Schema *want, Err *err)
{
    return check_is_bronze(bronze, delta_table_get_schema(bronze->table), err) &&
           delta_table_check_writable(bronze->table, DELTA_APPENDS, err) &&
           delta_table_check_schema(bronze->table, want, true, err);
}

bool bronze_check(const Bronze *bronze, const Schema *captured, bool include_command_id, Err *err)
{
    Arena *scratch = arena_new();
    Schema want    = bronze_schema(scratch, captured, include_command_id);
    bool   ok      = bronze->table ? check_table(bronze, &want, err)
                                   : delta_schema_check(bronze->context, &want, err);

    arena_close(scratch);
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

bool bronze_prepare(Bronze *bronze, const Schema *captured, bool include_command_id, Err *err)
{
    Arena *scratch = arena_new();
    Schema want    = bronze_schema(scratch, captured, include_command_id);
    bool   ok      = false;

    bronze->pending = (Schema){0};
    if (!bronze->table && !table_ref_open_or_create(
                              bronze->context, &bronze->ref, KIND_BRONZE, &want,
                              STR("Every change of the source table as it was read, append-only"),
                              &bronze->table, err))
        goto done;
    if (!check_table(bronze, &want, err)) goto done;
    if (!bronze->is_migrated &&
        !table_migrate(bronze->context, bronze->table, KIND_BRONZE, &want, err))
        goto done;
    bronze->is_migrated = true;
    Schema missing      = missing_columns(delta_table_get_schema(bronze->table), &want, scratch);
    if (missing.column_count) bronze->pending = schema_copy(bronze->arena, &missing);
    ok = true;
done:
    arena_close(scratch);
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

const Schema *bronze_pending_schema(const Bronze *bronze)
{
    return bronze->pending.column_count ? &bronze->pending : NULL;
}

bool bronze_writer_open(Bronze *bronze, Str purpose, DeltaWriter **out, Err *err)
{
    bool ok = delta_writer_open(bronze->table, purpose, bronze_pending_schema(bronze), out, err);

    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

void bronze_writer_finish(Bronze *bronze, DeltaWriter *writer)
{
    delta_writer_finish(writer, bronze->table);
}

/* --- appends --- */

/* `alone`: rows that others added since the table was read are a conflict. */
static bool commit_files(Bronze *bronze, const DeltaAdd *adds, size_t count, const DeltaTxn *txn,
                         Str user_metadata, bool alone, DeltaOutcome *out, Err *err)
{
    static const DeltaPair parameters[] = {{{"mode", 4}, {"Append", 6}},
                                           {{"partitionBy", 11}, {"[]", 2}}};
    DeltaCommit            commit       = {.operation        = STR("WRITE"),
                                           .parameters       = parameters,
                                           .parameter_count  = COUNT_OF(parameters),
                                           .user_metadata    = user_metadata,
                                           .txn              = txn,
                                           .adds             = adds,
                                           .add_count        = count,
                                           .schema           = bronze_pending_schema(bronze),
                                           .may_widen        = true,
                                           .is_blind_append  = bronze_pending_schema(bronze) == NULL,
                                           .read_whole_table = alone};
    bool                   ok = delta_table_commit(bronze->table, &commit, out, NULL, err);

    if (ok) bronze->pending = (Schema){0};
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

bool bronze_commit_rows(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                        const DeltaTxn *txn, Str user_metadata, DeltaOutcome *out, Err *err)
{
    return delta_writer_publish(writer, adds, count, err) &&
           commit_files(bronze, adds, count, txn, user_metadata, false, out, err);
}

bool bronze_append_batch(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                         Str sink_id, int64_t batch_id, const BatchCounts *counts,
                         DeltaOutcome *out, Err *err)
{
    Arena   *scratch = arena_new();
    DeltaTxn txn     = {.app_id = sink_id, .version = batch_id};
    bool     ok      = bronze_commit_rows(bronze, writer, adds, count, &txn,
                                          payload_batch(scratch, counts, batch_id, sink_id), out, err);

    arena_close(scratch);
    return ok;
}

bool bronze_find_commit(Bronze *bronze, BronzeCommitTest test, void *arg, bool *found, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = true;

    *found = false;
    for (int64_t to = delta_table_get_version(bronze->table); ok && to >= 0 && !*found;
         to -= HISTORY_PAGE) {
        DeltaHistoryEntry *entries;
        size_t             count = 0;

        arena_reset(scratch);
        ok = delta_table_history(bronze->context, bronze->ref.path, MAX(0, to - HISTORY_PAGE + 1),
                                 to, scratch, &entries, &count, err);
        for (size_t i = 0; ok && i < count && !*found; i++)
            *found = test(arg, entries[i].user_metadata);
        if (count == 0) break;
    }
    arena_close(scratch);
    return ok;
}

typedef struct BatchCommit {
    Str          sink_id;
    int64_t      batch_id;
    BatchCounts *counts;
} BatchCommit;

static bool is_of_batch(void *arg, Str user_metadata)
{
    BatchCommit *wanted = arg;

    return payload_parse_batch(user_metadata, wanted->sink_id, wanted->batch_id, wanted->counts);
}

/* --- whose rows --- */

static bool is_among(const Str *names, size_t count, Str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal_ignoring_case(names[i], name)) return true;
    return false;
}

static bool may_hold_any(const Bronze *bronze, const DeltaFile *file, const Str *names,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (delta_file_may_hold_range(bronze->table, file, STR("_capture_instance"), &names[i],
                                      true, &names[i], true))
            return true;
    return false;
}

void bronze_find_others(const Bronze *bronze, const Str *names, size_t name_count, size_t limit,
                        Arena *arena, Str **out, size_t *count_out)
{
    Arena           *scratch = arena_new();
    const DeltaFile *file;
    LIST(Str) found = {0};

    for (size_t at = 0; bronze->table && found.count < limit &&
                        delta_table_next_file(bronze->table, &at, &file);) {
        DeltaBounds bounds;
        if (may_hold_any(bronze, file, names, name_count)) continue;
        arena_reset(scratch);
        if (delta_file_find_bounds(bronze->table, file, STR("_capture_instance"), scratch,
                                   &bounds) &&
            bounds.min.ptr && !is_among(names, name_count, bounds.min) &&
            !is_among(found.items, found.count, bounds.min))
            *LIST_PUSH(arena, &found) = str_copy(arena, bounds.min);
    }
    arena_close(scratch);
    *out       = found.items;
    *count_out = found.count;
}

bool bronze_find_last_batch(const Bronze *bronze, Str sink_id, int64_t *out)
{
    return bronze->table && delta_table_find_txn(bronze->table, sink_id, out);
}

bool bronze_find_batch(Bronze *bronze, Str sink_id, int64_t batch_id, bool *is_in, bool *has_counts,
                       BatchCounts *counts, Err *err)
{
    int64_t version;
    bool    ok = true;

    *is_in = *has_counts = false;
    if (bronze->table) ok = delta_table_refresh(bronze->table, err);
    if (ok && bronze->table && delta_table_find_txn(bronze->table, sink_id, &version) &&
        version >= batch_id) {
        *is_in             = true;
        BatchCommit wanted = {.sink_id = sink_id, .batch_id = batch_id, .counts = counts};
        ok                 = bronze_find_commit(bronze, is_of_batch, &wanted, has_counts, err);
    }
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

bool bronze_append_snapshot(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                            Str capture_instance, const Offset *at, Err *err)
{
    Arena       *scratch;
    DeltaOutcome outcome;
    bool         ok;

    if (count == 0) return true;
    scratch = arena_new();
    ok      = bronze_commit_rows(bronze, writer, adds, count, NULL,
                                 payload_snapshot(scratch, capture_instance, at), &outcome, err);
    arena_close(scratch);
    return ok;
}

/* --- snapshots in it --- */

static Str instance_list(Arena *arena, const Str *instances, size_t count)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < count; i++) {
        Str quoted = duck_quote_literal(arena, instances[i]);
        buf_printf(&buf, "%slower(%.*s)", i ? ", " : "", STR_ARG(quoted));
    }
    return buf_str(&buf);
}

/* Files that may hold rows of a snapshot above `above`: statistics leave out those of pure changes
 * and those that are older. */
static size_t snapshot_files(DeltaTable *table, OptLsn above, bool is_whole, Arena *arena,
                             const DeltaFile ***out)
{
    const DeltaFile **files = ARENA_ARRAY(arena, const DeltaFile *,
                                          delta_table_get_file_count(table) + 1);
    const DeltaFile  *file;
    size_t            count = 0;
    Str               zero  = STR("0");
    LsnText           text  = lsn_format(above.lsn);
    Str               low   = str_from_c(text.text);

    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        if (delta_file_may_hold_range(table, file, STR("_operation"), &zero, true, &zero, true) &&
            (!is_whole || delta_file_may_hold_null(table, file, STR("_chunk"))) &&
            (!above.is_set ||
             delta_file_may_hold_range(table, file, STR("_start_lsn"), &low, false, NULL, false)))
            files[count++] = file;
    *out = files;
    return count;
}

static bool read_snapshot(const RowBlock *block, bool *found, Offset *out, Err *err)
{
    Str text;

    *found = block->row_count == 1 && !column_is_null(&block->columns[0], 0);
    if (!*found) return true;
    text = column_str(&block->columns[0], 0);
    if (!lsn_parse(text, &out->lsn))
        return err_set(err, ERR_DAMAGED, "a snapshot row's LSN is \"%.*s\"", STR_ARG(text));
    out->commit_ts = (OptTime){.is_set = !column_is_null(&block->columns[1], 0)};
    if (out->commit_ts.is_set) out->commit_ts.utc_us = column_i64(&block->columns[1], 0);
    return true;
}

/* What a query for snapshots reads; a table from before _snapshot and _chunk has them as NULL. */
static const Column snapshot_columns[] = {
    {.name = {"_capture_instance", 17}, .type = {.kind = TYPE_STRING}},
    {.name = {"_start_lsn", 10}, .type = {.kind = TYPE_STRING}},
    {.name = {"_operation", 10}, .type = {.kind = TYPE_INTEGER}},
    {.name = {"_commit_ts", 10}, .type = {.kind = TYPE_TIMESTAMP_NTZ}},
    {.name = {"_snapshot", 9}, .type = {.kind = TYPE_STRING}},
    {.name = {"_chunk", 6}, .type = {.kind = TYPE_INTEGER}},
};

bool bronze_open_query(Bronze *bronze, OptLsn above, const char *select, Str where,
                       const char *rest, SnapshotQuery *query, bool *is_empty, Err *err)
{
    const Schema      columns = {.columns      = snapshot_columns,
                                 .column_count = COUNT_OF(snapshot_columns)};
    const DeltaFile **files;
    size_t            file_count;
    Str               scan, sql;

    *is_empty = true;
    if (!bronze->table) return true;
    if (!check_is_bronze(bronze, delta_table_get_schema(bronze->table), err)) return false;
    file_count = snapshot_files(bronze->table, above, query->is_whole, query->arena, &files);
    if (file_count == 0) return true;
    *is_empty = false;
    if (!delta_scan_sql(bronze->table, files, file_count, &columns, false, query->arena, &scan,
                        err))
        return false;
    sql = str_printf(query->arena, "SELECT %s FROM (%.*s) AS b WHERE _operation = 0 AND %.*s%s",
                     select, STR_ARG(scan), STR_ARG(where), rest);
    return duck_session_open(bronze->context->duck, &query->session, err) &&
           duck_query(query->session, sql, query->arena, &query->rows, err);
}

void bronze_close_query(SnapshotQuery *query)
{
    row_stream_close(query->rows);
    duck_session_close(query->session);
    arena_close(query->arena);
}

static bool find_snapshot(Bronze *bronze, OptLsn above, bool is_whole, Str where, bool *found,
                          Offset *out, Err *err)
{
    SnapshotQuery query = {.is_whole = is_whole, .arena = arena_new()};
    RowBlock      block;
    bool          is_empty;
    bool          ok = (!bronze->table || delta_table_refresh(bronze->table, err)) &&
              bronze_open_query(bronze, above,
                                "coalesce(_snapshot, _start_lsn) AS lsn, max(_commit_ts)", where,
                                " GROUP BY lsn ORDER BY lsn DESC LIMIT 1", &query, &is_empty, err);

    *found = false;
    if (ok && !is_empty)
        ok = row_stream_next(query.rows, &block, err) && read_snapshot(&block, found, out, err);
    bronze_close_query(&query);
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

bool bronze_find_snapshot(Bronze *bronze, const Str *instances, size_t instance_count, OptLsn above,
                          bool *found, Offset *out, Err *err)
{
    Arena *scratch = arena_new();
    Str    where   = STR("_chunk IS NULL");

    if (instance_count > 0)
        where = str_printf(scratch, "_chunk IS NULL AND lower(_capture_instance) IN (%.*s)",
                           STR_ARG(instance_list(scratch, instances, instance_count)));
    bool ok = find_snapshot(bronze, above, true, where, found, out, err);
    arena_close(scratch);
    return ok;
}

bool bronze_find_snapshot_where(Bronze *bronze, const Str *instances, size_t instance_count,
                                const SnapshotFilter *filter, bool *found, Offset *out, Err *err)
{
    Arena *scratch = arena_new();
    Buf    where   = buf_new(scratch, 0);

    buf_printf(&where, "lower(_capture_instance) IN (%.*s)",
               STR_ARG(instance_list(scratch, instances, instance_count)));
    if (!filter->with_chunks) buf_append_c(&where, " AND _chunk IS NULL");
    if (filter->exactly.is_set)
        buf_printf(&where, " AND coalesce(_snapshot, _start_lsn) = '%s'",
                   lsn_format(filter->exactly.lsn).text);
    if (filter->until.is_set)
        buf_printf(&where, " AND _commit_ts <= make_timestamp(%lld)",
                   (long long)filter->until.utc_us);
    bool ok = find_snapshot(bronze, (OptLsn){0}, !filter->with_chunks, buf_str(&where), found, out,
                            err);
    arena_close(scratch);
    return ok;
}

bool bronze_append_first_snapshot(Bronze *bronze, DeltaWriter *writer, const DeltaAdd *adds,
                                  size_t count, const Str *instances, size_t instance_count,
                                  OptLsn above, Str user_metadata, Offset *at, bool *found,
                                  Err *err)
{
    DeltaOutcome outcome;
    bool         ok = delta_writer_publish(writer, adds, count, err);

    *found = false;
    for (int attempt = 1; ok; attempt++) {
        Err    why = ERR_INIT;
        Offset newest;

        ok = bronze_find_snapshot(bronze, instances, instance_count, above, found, &newest, err);
        *found = ok && *found && (!above.is_set || lsn_compare(newest.lsn, above.lsn) > 0);
        if (*found) *at = newest;
        if (!ok || *found || count == 0) break;
        if (commit_files(bronze, adds, count, NULL, user_metadata, true, &outcome, &why)) break;
        ok = (why.code == ERR_CONFLICT && attempt < SNAPSHOT_ATTEMPTS) || err_copy(err, &why);
    }
    return ok;
}

bool bronze_has_chunks(Bronze *bronze, OptLsn above, bool *out, Err *err)
{
    SnapshotQuery query = {.arena = arena_new()};
    RowBlock      block;
    bool          is_empty;
    Str           where;
    bool          ok;

    where = str_printf(query.arena, "_chunk IS NOT NULL AND coalesce(_snapshot, _start_lsn) > '%s'",
                       above.is_set ? lsn_format(above.lsn).text : "");
    ok    = bronze_open_query(bronze, above, "1", where, " LIMIT 1", &query, &is_empty, err);
    *out  = false;
    if (ok && !is_empty) {
        ok   = row_stream_next(query.rows, &block, err);
        *out = ok && block.row_count > 0;
    }
    bronze_close_query(&query);
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}

static bool read_commit_ts(Bronze *bronze, DuckSession *session, Lsn lsn, Arena *arena,
                           OptTime *out, Err *err)
{
    DeltaTable       *table   = bronze->table;
    const DeltaFile **files   = ARENA_ARRAY(arena, const DeltaFile *,
                                            delta_table_get_file_count(table) + 1);
    const Schema      columns = {.columns      = snapshot_columns,
                                 .column_count = COUNT_OF(snapshot_columns)};
    const DeltaFile  *file;
    size_t            count = 0;
    LsnText           text  = lsn_format(lsn);
    Str               exact = str_from_c(text.text), scan;
    RowStream        *rows  = NULL;
    RowBlock          block;

    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        if (delta_file_may_hold_range(table, file, STR("_start_lsn"), &exact, true, &exact, true))
            files[count++] = file;
    if (count == 0) return true;
    bool ok = delta_scan_sql(table, files, count, &columns, false, arena, &scan, err) &&
              duck_query(session,
                         str_printf(arena,
                                    "SELECT max(_commit_ts) FROM (%.*s) WHERE _start_lsn = '%s'",
                                    STR_ARG(scan), text.text),
                         arena, &rows, err) &&
              row_stream_next(rows, &block, err);
    if (ok && block.row_count == 1 && !column_is_null(&block.columns[0], 0))
        *out = OPT_TIME(column_i64(&block.columns[0], 0));
    row_stream_close(rows);
    return ok;
}

bool bronze_find_commit_ts(Bronze *bronze, Lsn lsn, OptTime *out, Err *err)
{
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    bool         ok      = true;

    *out = (OptTime){.is_set = false};
    if (bronze->table)
        ok = delta_table_refresh(bronze->table, err) &&
             check_is_bronze(bronze, delta_table_get_schema(bronze->table), err) &&
             duck_session_open(bronze->context->duck, &session, err) &&
             read_commit_ts(bronze, session, lsn, scratch, out, err);
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "bronze table %.*s", STR_ARG(bronze->ref.label));
}
