/* Opening a table, moving it on, looking at it. */
#include "delta/delta_internal.h"

#include <string.h>

#define LOAD_TRIES      3 /* races with another engine's log cleanup (1.2, 7) */
#define RELIST_AFTER_NS (INT64_C(3600) * 1000000000) /* see table_refresh */
#define SWEEP_MIN       1024
#define VERSION_MAX     INT64_MAX

static bool read_commit(const LogPlace *place, int64_t version, Arena *arena, Str *path_out,
                        Bytes *out, Err *err)
{
    *path_out = store_join(arena, place->log_path, log_name_commit(arena, version));
    return store_read(place->context->store, *path_out, LIMIT_LOG_FILE_BYTES, arena, out, err);
}

/* --- loading --- */

static bool load_commits(LogState *state, const LogPlace *place, int64_t last, Err *err)
{
    Arena *arena = arena_new();
    bool   ok    = true;

    while (ok && state->version < last) {
        Str   path;
        Bytes bytes;
        arena_reset(arena);
        ok = log_check_cancel(place->context, err) &&
             read_commit(place, state->version + 1, arena, &path, &bytes, err) &&
             log_state_apply_commit(state, place, state->version + 1, bytes_str(bytes), path, false,
                                    NULL, err);
    }
    arena_close(arena);
    return ok;
}

/* A checkpoint holds the header it was written with: one that cannot be read is damage of the
 * checkpoint, before later commits replace it. What is merely not supported they may replace. */
static bool check_checkpoint_header(const LogState *state, const LogPlace *place, Err *err)
{
    Header *header = NULL;
    bool    is_ok  = state->protocol_raw.len > 0 && state->metadata_raw.len > 0;

    if (!is_ok)
        return err_set(err, ERR_DAMAGED, "DELTA-L06 checkpoint %lld of table %.*s has no %s action",
                       (long long)state->version, STR_ARG(place->path),
                       state->protocol_raw.len > 0 ? "metaData" : "protocol");
    is_ok = header_new(place, state->version, state->protocol_raw, state->metadata_raw, &header,
                       err);
    header_close(header);
    if (is_ok || err->code == ERR_DAMAGED)
        return is_ok || err_context(err, "checkpoint %lld", (long long)state->version);
    err_clear(err);
    return true;
}

typedef enum LoadResult { LOAD_DONE, LOAD_FAILED, LOAD_MOVED, LOAD_BAD_CHECKPOINT } LoadResult;

/* A damaged file, not a machine that is short of something. libduckdb tells of reading past the end
 * of a file as of any other trouble with it, but without the system's word for it. */
static bool is_damage(const Err *err)
{
    return err->code == ERR_QUERY_ENGINE || err->code == ERR_DAMAGED ||
           (err->code == ERR_STORE && err->native == 0 &&
            str_starts_with(str_from_c(err->message), STR("libduckdb: ")));
}

/* With `is_last_try` a file of the checkpoint that is not there was not removed by a cleanup that
 * left a newer one: it is missing. */
static LoadResult load_segment(const LogPlace *place, const LogSegment *segment, bool is_last_try,
                               LogState **out, Err *err)
{
    LogState  *state  = log_state_new();
    LoadResult result = LOAD_DONE;

    if (!checkpoint_load(state, place, segment, err) ||
        (segment->checkpoint_version != NO_VERSION &&
         !check_checkpoint_header(state, place, err))) {
        log_prefer_protocol_error(place, segment->checkpoint_version, state->protocol_raw, err);
        if (is_last_try && err->code == ERR_NOT_FOUND) err->code = ERR_DAMAGED;
        result = is_damage(err) ? LOAD_BAD_CHECKPOINT : LOAD_FAILED;
    } else if (!load_commits(state, place, segment->version, err) ||
               !log_state_finish(state, place, err)) {
        result = LOAD_FAILED;
    }
    if (result == LOAD_FAILED && err->code == ERR_NOT_FOUND) result = LOAD_MOVED;
    if (result == LOAD_DONE)
        *out = state;
    else
        log_state_close(state);
    return result;
}

static void warn_bad_checkpoint(const LogPlace *place, int64_t version, const Err *err)
{
    char text[256];
    err_format(err, text, sizeof text);
    log_warn(place->context->log, "delta", "a damaged checkpoint was passed over",
             LOG_STR("table", place->path), LOG_I64("version", version), LOG_TEXT("error", text));
}

/* What stood in for a damaged checkpoint is damaged, too. */
static void name_both(const LogPlace *place, int64_t version, const Err *first, Err *err)
{
    char checkpoint[200], other[200];

    err_format(first, checkpoint, sizeof checkpoint);
    err_format(err, other, sizeof other);
    err_clear(err);
    err_set(err, ERR_DAMAGED,
            "table %.*s: its checkpoint %lld is damaged (%s), and so is what came before it (%s)",
            STR_ARG(place->path), (long long)version, checkpoint, other);
}

/* One attempt: falls back to older checkpoints when one is damaged. */
static LoadResult load_once(const LogPlace *place, int64_t target, bool is_last_try, Arena *arena,
                            LogState **out, int64_t *checkpoint_out, Err *err)
{
    int64_t below     = VERSION_MAX;
    Err     first_bad = ERR_INIT;

    for (;;) {
        LogSegment segment;
        if (!segment_find(place, target, below, arena, &segment, err)) {
            if (first_bad.code != ERR_NONE && err->code == ERR_DAMAGED) {
                char text[400];
                err_format(&first_bad, text, sizeof text);
                err_set(err, ERR_DAMAGED,
                        "table %.*s: its checkpoint %lld is damaged (%s) and the commits before it "
                        "are gone",
                        STR_ARG(place->path), (long long)below, text);
            }
            return LOAD_FAILED;
        }
        LoadResult result = load_segment(place, &segment, is_last_try, out, err);
        if (result == LOAD_FAILED && err->code == ERR_DAMAGED && first_bad.code != ERR_NONE)
            name_both(place, below, &first_bad, err);
        if (result != LOAD_BAD_CHECKPOINT) {
            *checkpoint_out = segment.checkpoint_version;
            return result;
        }
        warn_bad_checkpoint(place, segment.checkpoint_version, err);
        if (first_bad.code == ERR_NONE) err_copy(&first_bad, err);
        below = segment.checkpoint_version;
        err_clear(err);
    }
}

static bool load(const LogPlace *place, int64_t target, LogState **out, int64_t *checkpoint_out,
                 Err *err)
{
    LoadResult result = LOAD_MOVED;

    for (int i = 0; i < LOAD_TRIES && result == LOAD_MOVED; i++) {
        Arena *arena = arena_new();
        err_clear(err);
        result = load_once(place, target, i + 1 == LOAD_TRIES, arena, out, checkpoint_out, err);
        arena_close(arena);
    }
    if (result == LOAD_DONE) return true;
    if (result == LOAD_MOVED) err->code = ERR_DAMAGED; /* listed three times, never there */
    return false;
}

/* --- opening --- */

static DeltaTable *table_new(DeltaContext *context, Str path)
{
    Arena      *arena = arena_new();
    DeltaTable *table = ARENA_NEW(arena, DeltaTable);

    table->context            = context;
    table->arena              = arena;
    table->place.context      = context;
    table->place.path         = str_copy(arena, path);
    table->place.log_path     = store_join(arena, table->place.path, STR("_delta_log"));
    table->checkpoint_version = NO_VERSION;
    return table;
}

static bool open_at(DeltaContext *context, Str path, int64_t version, DeltaTable **out, Err *err)
{
    DeltaTable *table = table_new(context, path);

    if (!load(&table->place, version, &table->state, &table->checkpoint_version, err)) {
        delta_table_close(table);
        return false;
    }
    table->listed_ns = clock_monotonic_ns(context->clock);
    *out             = table;
    return true;
}

bool delta_table_open(DeltaContext *context, Str path, DeltaTable **out, Err *err)
{
    return open_at(context, path, NO_VERSION, out, err);
}

bool delta_table_open_version(DeltaContext *context, Str path, int64_t version, DeltaTable **out,
                              Err *err)
{
    if (version < 0)
        return err_set(err, ERR_NOT_FOUND, "DELTA-L03 table %.*s: there is no version %lld",
                       STR_ARG(path), (long long)version);
    return open_at(context, path, version, out, err);
}

void table_drop_staging(DeltaTable *table)
{
    store_staging_close(table->kept.staging);
    arena_close(table->kept.arena);
    table->kept = (KeptStaging){.staging = NULL, .purpose = STR_EMPTY};
}

void delta_table_close(DeltaTable *table)
{
    if (!table) return;
    table_drop_staging(table);
    log_state_close(table->state);
    arena_close(table->arena);
}

static bool has_log(const StoreList *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (log_name_parse(list->entries[i].name).kind != LOG_FILE_OTHER) return true;
    return false;
}

static bool has_visible_file(const StoreList *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strchr("_.", list->entries[i].name.ptr[0])) return true;
    return false;
}

bool delta_table_exists(DeltaContext *context, Str path, bool *exists_out,
                        bool *has_other_files_out, Err *err)
{
    Arena    *arena = arena_new();
    StoreList list;
    bool      has_files = false;

    bool ok = store_list_after(context->store, store_join(arena, path, STR("_delta_log")),
                               STR_EMPTY, arena, &list, err);
    if (ok) *exists_out = has_log(&list);
    if (ok && !*exists_out) {
        ok        = store_list_after(context->store, path, STR_EMPTY, arena, &list, err);
        has_files = ok && has_visible_file(&list);
    }
    if (ok && has_other_files_out) *has_other_files_out = has_files;
    arena_close(arena);
    return ok || err_context(err, "table %.*s", STR_ARG(path));
}

/* --- moving on --- */

static bool reload(DeltaTable *table, LogChanges *changes, Err *err)
{
    LogState *state  = NULL;
    int64_t   before = table->state->version;

    if (!load(&table->place, NO_VERSION, &state, &table->checkpoint_version, err)) return false;
    table->listed_ns = clock_monotonic_ns(table->context->clock);
    if (state->version > before && changes) { /* by commits that nobody can read any more */
        changes->commit_count  = state->version - before;
        changes->has_data_adds = changes->has_data_removes = true;
        changes->has_metadata = changes->has_protocol = true;
        changes->has_rearranged = changes->may_have_any_domain = true;
        changes->has_lowered_protocol |= protocol_is_lower(&table_header(table)->protocol,
                                                           &state->header->protocol);
    }
    log_state_close(table->state);
    table->state = state;
    return true;
}

/* Cleanup may have removed the commits right after ours, and then the next one never comes into
 * sight: a listing now and then tells. */
static bool reload_when_overtaken(DeltaTable *table, LogChanges *changes, Err *err)
{
    if (clock_monotonic_ns(table->context->clock) - table->listed_ns < RELIST_AFTER_NS) return true;

    Arena     *arena = arena_new();
    LogSegment segment;
    bool       ok = segment_find(&table->place, NO_VERSION, VERSION_MAX, arena, &segment, err);
    if (ok) table->listed_ns = clock_monotonic_ns(table->context->clock);
    if (ok && segment.version > table->state->version) ok = reload(table, changes, err);
    arena_close(arena);
    return ok;
}

bool table_refresh(DeltaTable *table, LogChanges *changes, Err *err)
{
    Arena    *arena = arena_new();
    LogState *state = table->state;
    int64_t   start = state->version;
    bool      ok    = true;
    Str       path;
    Bytes     bytes;

    while (ok) {
        arena_reset(arena);
        ok = log_check_cancel(table->context, err);
        if (!ok) break;
        if (!read_commit(&table->place, state->version + 1, arena, &path, &bytes, err)) {
            ok = err->code == ERR_NOT_FOUND;
            break;
        }
        ok = log_state_apply_commit(state, &table->place, state->version + 1, bytes_str(bytes),
                                    path, true, changes, err);
    }
    arena_close(arena);
    if (map_count(state->tombstones) > state->sweep_at) {
        log_state_drop_expired(state, clock_utc_us(table->context->clock) / 1000);
        state->sweep_at = 2 * map_count(state->tombstones) + SWEEP_MIN;
    }
    if (!ok) return err_context(err, "table %.*s", STR_ARG(table->place.path));
    err_clear(err);
    return state->version > start || reload_when_overtaken(table, changes, err);
}

bool delta_table_refresh(DeltaTable *table, Err *err)
{
    return table_refresh(table, NULL, err);
}

/* --- looking --- */

const Header *table_header(const DeltaTable *table)
{
    return table->state->header;
}

Str delta_table_get_path(const DeltaTable *table)
{
    return table->place.path;
}

int64_t delta_table_get_version(const DeltaTable *table)
{
    return table->state->version;
}

const Schema *delta_table_get_schema(const DeltaTable *table)
{
    return &table_header(table)->metadata.schema;
}

Str delta_table_get_description(const DeltaTable *table)
{
    return table_header(table)->metadata.description;
}

bool delta_table_find_property(const DeltaTable *table, Str key, Str *value_out)
{
    return header_find_property(table_header(table), key, value_out);
}

size_t delta_table_get_file_count(const DeltaTable *table)
{
    return file_set_count(table->state->files);
}

bool delta_table_next_file(const DeltaTable *table, size_t *at, const DeltaFile **file_out)
{
    const LiveFile *live = file_set_next(table->state->files, at);
    if (!live) return false;
    *file_out = &live->file;
    return true;
}

Str delta_file_key(const DeltaFile *file, Arena *arena)
{
    JsonText extra = {.kind = JSON_TEXT_OBJECT,
                      .text = str_printf(arena, "{%.*s}", STR_ARG(file->extra_members))};
    return log_state_key(arena, str_copy(arena, file->path), action_dv_id(extra, arena));
}

const DeltaFile *delta_table_find_file(const DeltaTable *table, Str key)
{
    const LiveFile *live = file_set_find(table->state->files, key);
    return live ? &live->file : NULL;
}

Str delta_file_get_name(const DeltaFile *file, Arena *arena)
{
    return delta_path_decode(arena, file->path);
}

bool delta_table_find_txn(const DeltaTable *table, Str app_id, int64_t *version_out)
{
    const TxnEntry *entry = map_find(table->state->txns, app_id);
    if (!entry) return false;
    *version_out = entry->version;
    return true;
}

int32_t delta_table_get_min_reader_version(const DeltaTable *table)
{
    return (int32_t)table_header(table)->protocol.min_reader;
}

int32_t delta_table_get_min_writer_version(const DeltaTable *table)
{
    return (int32_t)table_header(table)->protocol.min_writer;
}

bool delta_table_takes_vectors(const DeltaTable *table)
{
    const Header *header = table_header(table);

    return str_list_has(&header->protocol.reader_features, STR("deletionVectors")) &&
           str_list_has(&header->protocol.writer_features, STR("deletionVectors")) &&
           header_property_is_true(header, "delta.enableDeletionVectors");
}

bool delta_table_check_writable(const DeltaTable *table, DeltaWriteKind kind, Err *err)
{
    return header_check_write(&table->place, table->state->version, table_header(table), kind, err);
}
