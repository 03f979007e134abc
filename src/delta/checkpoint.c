/* Checkpoints (delta.md 2.13): the state of a version as one Parquet file, checked by reading it
 * back before it gets its name, and only then announced. */
#include "delta/delta_internal.h"
#include "delta/log_cleanup.h"
#include "delta/maintain.h"
#include "delta/typed_stats.h"

#include <errno.h>
#include <stdio.h>

#define INTERVAL_DEFAULT 10
#define FLUSH_BYTES      ((size_t)1 << 20)

typedef struct Counts {
    int64_t actions, adds, protocols, metadatas;
} Counts;

/* Lines on their way to the file that libduckdb reads. */
typedef struct LineFile {
    FILE  *file;
    Arena *arena;
    Buf    buf;
    Counts counts;
    bool   failed;
} LineFile;

static void flush_lines(LineFile *lines)
{
    if (lines->buf.overflow) lines->failed = true;
    if (fwrite(lines->buf.ptr ? lines->buf.ptr : "", 1, lines->buf.len, lines->file) !=
        lines->buf.len)
        lines->failed = true;
    arena_reset(lines->arena);
    lines->buf = buf_new(lines->arena, 0);
}

static void end_line(LineFile *lines)
{
    lines->counts.actions++;
    if (lines->buf.len >= FLUSH_BYTES) flush_lines(lines);
}

static void write_raw(LineFile *lines, const char *action, Str body)
{
    commit_write_raw(&lines->buf, action, body);
    end_line(lines);
}

static void write_members(Buf *buf, Str members, bool needs_partitions)
{
    if (members.len > 0) buf_append_char(buf, ',');
    buf_append(buf, members);
    JsonText object = {.kind = JSON_TEXT_OBJECT,
                       .text = str_printf(buf->arena, "{%.*s}", STR_ARG(members))};
    if (needs_partitions && json_text_find(object, "partitionValues").kind == JSON_TEXT_NONE)
        buf_append_c(buf, ",\"partitionValues\":{}");
}

static void write_add(LineFile *lines, const DeltaFile *file, bool with_stats, const Schema *typed)
{
    JsonWriter json  = json_writer(&lines->buf, false, false);
    Str        stats = with_stats || typed ? delta_file_get_stats(file, lines->arena) : STR_EMPTY;

    json_object_begin(&json);
    json_key(&json, STR("add"));
    json_object_begin(&json);
    json_member_str(&json, "path", file->path);
    json_member_i64(&json, "size", file->size_bytes);
    json_member_i64(&json, "modificationTime", file->modified_ms);
    json_member_bool(&json, "dataChange", false);
    if (with_stats && stats.len > 0) json_member_str(&json, "stats", stats);
    write_members(&lines->buf, file->extra_members, true);
    buf_append_char(&lines->buf, '}');
    if (typed && stats.len > 0) typed_stats_write(&lines->buf, stats, typed, lines->arena);
    buf_append_c(&lines->buf, "}\n");
    lines->counts.adds++;
    end_line(lines);
}

static void write_remove(LineFile *lines, const Tombstone *stone)
{
    JsonWriter json = json_writer(&lines->buf, false, false);

    json_object_begin(&json);
    json_key(&json, STR("remove"));
    json_object_begin(&json);
    json_member_str(&json, "path", stone->path);
    json_member_i64(&json, "deletionTimestamp", stone->deletion_ms);
    json_member_bool(&json, "dataChange", false);
    write_members(&lines->buf, stone->members, false);
    buf_append_c(&lines->buf, "}}\n");
    end_line(lines);
}

static void write_txn(LineFile *lines, const TxnEntry *txn)
{
    JsonWriter json = json_writer(&lines->buf, false, false);

    json_object_begin(&json);
    json_key(&json, STR("txn"));
    json_object_begin(&json);
    json_member_str(&json, "appId", txn->app_id);
    json_member_i64(&json, "version", txn->version);
    if (txn->last_updated_ms >= 0) json_member_i64(&json, "lastUpdated", txn->last_updated_ms);
    json_object_end(&json);
    json_object_end(&json);
    buf_append_char(&lines->buf, '\n');
    end_line(lines);
}

static void write_domain(LineFile *lines, const DomainEntry *domain)
{
    JsonWriter json = json_writer(&lines->buf, false, false);

    json_object_begin(&json);
    json_key(&json, STR("domainMetadata"));
    json_object_begin(&json);
    json_member_str(&json, "domain", domain->domain);
    json_member_str(&json, "configuration", domain->configuration);
    json_member_bool(&json, "removed", false);
    json_object_end(&json);
    json_object_end(&json);
    buf_append_char(&lines->buf, '\n');
    end_line(lines);
}

static void write_txns(LineFile *lines, const DeltaTable *table, int64_t now_ms)
{
    int64_t retention_us = header_property_interval_us(table_header(table),
                                                       "delta.setTransactionRetentionDuration", -1);
    Str     key;
    void   *value;

    for (size_t at = 0; map_next(table->state->txns, &at, &key, &value);) {
        const TxnEntry *txn        = value;
        bool            is_expired = retention_us >= 0 && txn->last_updated_ms >= 0 &&
                          txn->last_updated_ms < now_ms - retention_us / 1000;
        if (!is_expired) write_txn(lines, txn);
    }
}

static bool says(const Header *header, const char *key, const char *value)
{
    Str text;
    return header_find_property(header, str_from_c(key), &text) &&
           str_equal_ignoring_case(text, str_from_c(value));
}

static bool wants_json_stats(const DeltaTable *table)
{
    return !says(table_header(table), "delta.checkpoint.writeStatsAsJson", "false");
}

/* The columns of typed statistics, as files name them; NULL: the table does not ask for any. Who
 * switches the texts off and says nothing of types goes by an engine that writes these by default:
 * without either, statistics would be lost. */
static const Schema *typed_columns(const DeltaTable *table)
{
    const Header *header = table_header(table);
    const char   *key    = "delta.checkpoint.writeStatsAsStruct";

    if (says(header, key, "true") || (!wants_json_stats(table) && !says(header, key, "false")))
        return &header->metadata.mapping.stored;
    return NULL;
}

static void write_state(LineFile *lines, const DeltaTable *table, int64_t now_ms)
{
    const LogState *state = table->state;
    const LiveFile *live;
    Str             key;
    void           *value;

    bool with_stats = wants_json_stats(table);

    write_raw(lines, "protocol", table_header(table)->protocol_raw);
    write_raw(lines, "metaData", table_header(table)->metadata_raw);
    write_txns(lines, table, now_ms);
    for (size_t at = 0; map_next(state->domains, &at, &key, &value);)
        write_domain(lines, value);
    for (size_t at = 0; map_next(state->tombstones, &at, &key, &value);)
        write_remove(lines, value);
    for (size_t at = 0; (live = file_set_next(state->files, &at));)
        write_add(lines, &live->file, with_stats, typed_columns(table));
}

static bool write_lines(const DeltaTable *table, Str local, int64_t now_ms, Counts *out, Err *err)
{
    Arena   *arena = arena_new();
    LineFile lines = {
        .file = fopen(str_c(arena, local), "wb"), .arena = arena, .buf = buf_new(arena, 0)};

    if (!lines.file) {
        arena_close(arena);
        return err_set_errno(err, ERR_STORE, errno, "%.*s", STR_ARG(local));
    }
    write_state(&lines, table, now_ms);
    flush_lines(&lines);
    int  error = errno;
    bool ok    = !lines.failed;
    if (fclose(lines.file) != 0) {
        error = errno;
        ok    = false;
    }
    *out = lines.counts;
    arena_close(arena);
    return ok || err_set_errno(err, ERR_STORE, error, "%.*s", STR_ARG(local));
}

/* --- checking --- */

static bool count_row(Str line, Arena *arena, Counts *counts, Err *err)
{
    ActionReader reader = action_reader(line, STR("the new checkpoint"), arena);
    bool         found;
    Action       action;

    for (;;) {
        if (!action_next(&reader, &found, &action, err)) return false;
        if (!found) return true;
        counts->actions++;
        counts->adds += action.kind == ACTION_ADD;
        counts->protocols += action.kind == ACTION_PROTOCOL;
        counts->metadatas += action.kind == ACTION_METADATA;
    }
}

static bool count_rows(RowStream *rows, Counts *counts, Err *err)
{
    Arena   *arena = arena_new();
    RowBlock block;
    bool     ok;

    while ((ok = row_stream_next(rows, &block, err)) && block.row_count > 0) {
        for (size_t i = 0; ok && i < block.row_count; i++) {
            arena_reset(arena);
            ok = column_is_null(&block.columns[0], i) ||
                 count_row(column_str(&block.columns[0], i), arena, counts, err);
        }
        if (!ok) break;
    }
    arena_close(arena);
    return ok;
}

static bool verify(const DeltaTable *table, Str local, const Counts *want, Err *err)
{
    Arena       *arena   = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    Counts       got     = {0};

    bool ok = duck_session_open(table->context->duck, &session, err) &&
              duck_checkpoint_read(session, &local, 1, arena, &rows, err) &&
              count_rows(rows, &got, err);
    if (ok && (got.actions != want->actions || got.adds != want->adds || got.protocols != 1 ||
               got.metadatas != 1))
        ok = err_set(
            err, ERR_DAMAGED,
            "it reads back as %lld actions with %lld files, and %lld with %lld were written",
            (long long)got.actions, (long long)got.adds, (long long)want->actions,
            (long long)want->adds);
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(arena);
    return ok;
}

/* --- publishing --- */

static bool announce(const DeltaTable *table, int64_t version, const Counts *counts,
                     int64_t size_bytes, Arena *arena, Err *err)
{
    LastCheckpoint hint;
    Buf            buf  = buf_new(arena, 0);
    JsonWriter     json = json_writer(&buf, false, false);

    if (last_checkpoint_read(&table->place, arena, &hint, err) && hint.version > version)
        return true; /* never back */
    if (err->code != ERR_NONE) return false;
    json_object_begin(&json);
    json_member_i64(&json, "version", version);
    json_member_i64(&json, "size", counts->actions);
    json_member_i64(&json, "sizeInBytes", size_bytes);
    json_member_i64(&json, "numOfAddFiles", counts->adds);
    json_object_end(&json);
    Str path = store_join(arena, table->place.log_path, STR("_last_checkpoint"));
    return store_replace(table->context->store, path, str_bytes(buf_str(&buf)), err);
}

/* One that is there already, of another writer or from a run that died before it announced it. */
static bool announce_found(const DeltaTable *table, Arena *arena, Err *err)
{
    Str            path    = store_join(arena, table->place.log_path,
                                        log_name_checkpoint(arena, table->state->version));
    DuckSession   *session = NULL;
    RowStream     *rows    = NULL;
    Counts         counts  = {0};
    LastCheckpoint hint;
    StoreEntry     entry;
    Str            local;

    if (last_checkpoint_read(&table->place, arena, &hint, err) &&
        hint.version >= table->state->version)
        return true;
    if (err->code != ERR_NONE) return false;
    bool ok = store_stat(table->context->store, path, &entry, err) &&
              store_fetch_local(table->context->store, path, arena, &local, err) &&
              duck_session_open(table->context->duck, &session, err) &&
              duck_checkpoint_read(session, &local, 1, arena, &rows, err) &&
              count_rows(rows, &counts, err);
    row_stream_close(rows);
    duck_session_close(session);
    if (ok && (counts.protocols != 1 || counts.metadatas != 1))
        return err_set(err, ERR_DAMAGED,
                       "%.*s is there and is no whole checkpoint; remove it and run this again",
                       STR_ARG(path));
    counts.adds = (int64_t)file_set_count(table->state->files); /* with those of sidecars */
    return ok && announce(table, table->state->version, &counts, entry.size_bytes, arena, err);
}

/* A file of no bytes is as good as absent (1.1), but in the way. */
static bool remove_empty(const DeltaTable *table, Str path, Err *err)
{
    StoreEntry entry;

    if (store_stat(table->context->store, path, &entry, err))
        return entry.size_bytes > 0 || store_remove(table->context->store, path, err);
    if (err->code != ERR_NOT_FOUND) return false;
    err_clear(err);
    return true;
}

static bool write_checkpoint(DeltaTable *table, StoreStaging *staging, Arena *arena, Err *err)
{
    int64_t    version = table->state->version;
    int64_t    now_ms  = clock_utc_us(table->context->clock) / 1000;
    Str        name    = log_name_checkpoint(arena, version);
    Str        path    = store_join(arena, table->place.log_path, name);
    Str        lines = STR_EMPTY, parquet = STR_EMPTY;
    Counts     counts = {0};
    StoreEntry entry;

    log_state_drop_expired(table->state, now_ms);
    if (!store_staging_file(staging, STR("actions.json"), arena, &lines, err)) return false;
    if (!store_staging_file(staging, name, arena, &parquet, err)) return false;
    if (!write_lines(table, lines, now_ms, &counts, err)) return false;
    if (!duck_checkpoint_write_typed(table->context->duck, lines, parquet, typed_columns(table),
                                     NULL, err))
        return false;
    if (!verify(table, parquet, &counts, err)) return false;
    /* a checksum that Hadoop left beside an older file of this name would make ours unreadable
     * to it (2.10) */
    Str stale = store_join(arena, table->place.log_path,
                           str_printf(arena, ".%.*s.crc", STR_ARG(name)));
    if (!store_remove(table->context->store, stale, err) || !remove_empty(table, path, err))
        return false;
    if (!store_staging_publish(staging, name, path, &entry, err)) {
        if (err->code != ERR_CONFLICT) return false;
        err_clear(err); /* another writer's, of the same state */
        table->checkpoint_version = version;
        return true;
    }
    table->checkpoint_version = version;
    return announce(table, version, &counts, entry.size_bytes, arena, err);
}

/* Under checkpointProtection a version that is not the newest keeps the checkpoints it has (1.8). */
static bool may_checkpoint_old_version(const DeltaTable *table, Err *err)
{
    const Str  feature = STR("checkpointProtection");
    StoreEntry entry;

    if (!str_list_has(&table_header(table)->protocol.writer_features, feature)) return true;
    Arena *arena  = arena_new();
    Str    next   = store_join(arena, table->place.log_path,
                               log_name_commit(arena, table->state->version + 1));
    bool   is_old = store_stat(table->context->store, next, &entry, err);
    arena_close(arena);
    if (is_old)
        return err_set(err, ERR_UNSUPPORTED,
                       "table %.*s: \"checkpointProtection\" keeps old versions from being "
                       "checkpointed anew",
                       STR_ARG(table->place.path));
    if (err->code != ERR_NOT_FOUND) return false;
    err_clear(err);
    return true;
}

/* DELTA-P.. never come up here: the table was opened. */
static bool can_checkpoint(const DeltaTable *table, Err *err)
{
    if (!delta_table_check_writable(table, DELTA_APPENDS, err)) return false;
    return may_checkpoint_old_version(table, err);
}

static bool checkpoint_is_there(const DeltaTable *table, Arena *arena, bool *there_out, Err *err)
{
    StoreEntry entry;
    Str        path = store_join(arena, table->place.log_path,
                                 log_name_checkpoint(arena, table->state->version));

    *there_out = store_stat(table->context->store, path, &entry, err) && entry.size_bytes > 0;
    if (*there_out || err->code == ERR_NOT_FOUND || err->code == ERR_NONE) {
        err_clear(err);
        return true;
    }
    return false;
}

bool delta_table_write_checkpoint(DeltaTable *table, bool *written_out, Err *err)
{
    Arena        *arena   = arena_new();
    StoreStaging *staging = NULL;
    bool          there   = false;

    bool ok = can_checkpoint(table, err) && checkpoint_is_there(table, arena, &there, err);
    if (ok && there) ok = announce_found(table, arena, err);
    if (ok && !there)
        ok = store_staging_open(table->context->store, table->place.path, STR("checkpoint"),
                                table->context->rng, &staging, err) &&
             write_checkpoint(table, staging, arena, err);
    store_staging_close(staging);
    arena_close(arena);
    if (ok) *written_out = !there;
    return ok || err_context(err, "checkpoint %lld of table %.*s", (long long)table->state->version,
                             STR_ARG(table->place.path));
}

bool delta_table_checkpoint(DeltaTable *table, Err *err)
{
    bool written;
    return delta_table_write_checkpoint(table, &written, err);
}

/* Others may have checkpointed since we looked. */
static bool is_behind(DeltaTable *table, int64_t interval)
{
    if (table->state->version - table->checkpoint_version <= 2 * interval) return false;

    Arena         *arena   = arena_new();
    Err            ignored = ERR_INIT;
    LastCheckpoint hint;
    if (last_checkpoint_read(&table->place, arena, &hint, &ignored))
        table->checkpoint_version = MAX(table->checkpoint_version, hint.version);
    arena_close(arena);
    return table->state->version - table->checkpoint_version > 2 * interval;
}

void checkpoint_when_due(DeltaTable *table, bool is_forced)
{
    int64_t interval = header_property_i64(table_header(table), "delta.checkpointInterval",
                                           INTERVAL_DEFAULT);
    int64_t version  = table->state->version;
    Err     err      = ERR_INIT;

    if (interval < 1) interval = INTERVAL_DEFAULT;
    if (version <= 0 || (!is_forced && version % interval != 0 && !is_behind(table, interval)))
        return;
    if (delta_table_checkpoint(table, &err)) {
        log_debug(table->context->log, "delta", "checkpoint written",
                  LOG_STR("table", table->place.path), LOG_I64("version", version));
        log_clean_when_due(table);
        return;
    }
    char text[512];
    err_format(&err, text, sizeof text);
    log_warn(table->context->log, "delta", "a checkpoint could not be written",
             LOG_STR("table", table->place.path), LOG_I64("version", version),
             LOG_TEXT("error", text));
}
