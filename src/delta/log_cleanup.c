/* Log cleanup (delta.md 2.14): what lies before the newest checkpoint that the retention still needs
 * goes, in an order that leaves a readable table wherever it is interrupted: commits from the oldest
 * on, then checkpoints, then what belonged to them. */
#include "delta/log_cleanup.h"

#include "delta/maintain.h"

#define DAY_MS                (INT64_C(86400) * 1000)
#define LOG_RETENTION_DEFAULT (INT64_C(30) * 86400 * 1000000)

/* A name in the log that cleanup may touch. */
typedef enum OldKind {
    OLD_COMMIT,
    OLD_CHECKPOINT,
    OLD_CHECKSUM,   /* V20.crc */
    OLD_COMPACTION, /* V20.V20.compacted.json */
    OLD_SIBLING,    /* .<one of these>.crc, Hadoop's */
    OLD_KIND_COUNT,
    OLD_NONE
} OldKind;

typedef struct Cleanup {
    DeltaTable *table;
    Arena      *arena;
    Store      *store;
    StoreList   list;
    int64_t     checkpoint_version; /* what is older goes */
    int64_t     removed_count;
} Cleanup;

/* --- names --- */

static bool cut_version(Str *rest, int64_t *out)
{
    Str digits = str_slice(*rest, 0, LOG_VERSION_DIGITS);

    for (size_t i = 0; i < digits.len; i++)
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') return false;
    if (digits.len < LOG_VERSION_DIGITS || !str_parse_i64(digits, out)) return false;
    *rest = str_slice(*rest, LOG_VERSION_DIGITS, rest->len);
    return true;
}

static OldKind classify(Str name, int64_t *version_out)
{
    LogName parsed = log_name_parse(name);
    Str     rest   = name;
    int64_t last;

    *version_out = parsed.version;
    if (parsed.kind == LOG_FILE_COMMIT) return OLD_COMMIT;
    if (parsed.kind != LOG_FILE_OTHER) return OLD_CHECKPOINT;
    if (!cut_version(&rest, version_out)) return OLD_NONE;
    if (str_equal(rest, STR(".crc"))) return OLD_CHECKSUM;
    if (!str_starts_with(rest, STR("."))) return OLD_NONE;
    rest = str_slice(rest, 1, rest.len);
    return cut_version(&rest, &last) && str_equal(rest, STR(".compacted.json")) ? OLD_COMPACTION
                                                                                : OLD_NONE;
}

/* Hadoop's checksum of a file is part of it, and goes after it. */
static OldKind classify_any(Str name, int64_t *version_out)
{
    if (!str_starts_with(name, STR(".")) || !str_ends_with(name, STR(".crc")))
        return classify(name, version_out);
    return classify(str_slice(name, 1, name.len - 4), version_out) == OLD_NONE ? OLD_NONE
                                                                               : OLD_SIBLING;
}

/* --- may it run, and how far --- */

/* Readers of the versions in between rely on what is there. */
static bool is_wanted(const DeltaTable *table)
{
    Str  enabled;
    Err  ignored = ERR_INIT;
    bool is_off  = header_find_property(table_header(table), STR("delta.enableExpiredLogCleanup"),
                                        &enabled) &&
                  str_equal_ignoring_case(enabled, STR("false"));

    return !is_off &&
           !str_list_has(&table_header(table)->protocol.writer_features,
                         STR("checkpointProtection")) &&
           delta_table_check_writable(table, DELTA_APPENDS, &ignored);
}

/* Midnight before the retention began, so a day's second run finds nothing more to do. */
static int64_t cutoff_ms(const DeltaTable *table)
{
    int64_t fallback = table->context->log_retention_us > 0 ? table->context->log_retention_us
                                                            : LOG_RETENTION_DEFAULT;
    int64_t kept_us = header_property_interval_us(table_header(table), "delta.logRetentionDuration",
                                                  fallback);
    int64_t at_ms   = clock_utc_us(table->context->clock) / 1000 - kept_us / 1000;

    return at_ms >= 0 ? at_ms / DAY_MS * DAY_MS : 0;
}

/* The newest complete checkpoint that the oldest kept commits can start from; NO_VERSION: none. */
static bool find_checkpoint(Cleanup *cleanup, Err *err)
{
    const LogPlace *place = &cleanup->table->place;
    CommitFile      commit, oldest;
    LogSegment      segment;

    cleanup->checkpoint_version = NO_VERSION;
    if (!log_find_as_of(cleanup->table, cutoff_ms(cleanup->table), &commit, &oldest, err))
        return false;
    if (commit.version == NO_VERSION) return true;
    if (!segment_find(place, commit.version, INT64_MAX, cleanup->arena, &segment, err)) {
        if (err->code != ERR_NOT_FOUND) return false;
        err_clear(err); /* an older cleanup ended in between */
        return true;
    }
    cleanup->checkpoint_version = segment.checkpoint_version;
    return true;
}

/* --- removing --- */

static bool is_old(const Cleanup *cleanup, OldKind kind, Str name)
{
    int64_t version;
    OldKind is = classify_any(name, &version);

    if (is != kind || version > cleanup->checkpoint_version) return false;
    return version < cleanup->checkpoint_version || is == OLD_COMPACTION;
}

static bool has_old(const Cleanup *cleanup)
{
    for (size_t i = 0; i < cleanup->list.count; i++)
        for (int kind = 0; kind < OLD_KIND_COUNT; kind++)
            if (is_old(cleanup, (OldKind)kind, cleanup->list.entries[i].name)) return true;
    return false;
}

/* The checkpoint will be the oldest that is left, so it must be sound. */
static bool check_sound(const Cleanup *cleanup, Err *err)
{
    const LogPlace *place = &cleanup->table->place;
    LogState       *state = log_state_new();
    LogSegment      segment;

    bool ok = segment_find(place, cleanup->checkpoint_version, INT64_MAX, cleanup->arena, &segment,
                           err) &&
              checkpoint_load(state, place, &segment, err) && log_state_finish(state, place, err);
    log_state_close(state);
    return ok;
}

static bool remove_kind(Cleanup *cleanup, OldKind kind, Err *err)
{
    for (size_t i = 0; i < cleanup->list.count; i++) {
        Str name = cleanup->list.entries[i].name;
        if (!is_old(cleanup, kind, name)) continue;
        if (!log_check_cancel(cleanup->table->context, err) ||
            !store_remove(cleanup->store,
                          store_join(cleanup->arena, cleanup->table->place.log_path, name), err))
            return false;
        cleanup->removed_count++;
    }
    return true;
}

/* --- sidecars of checkpoints that are gone --- */

static bool note_sidecars(Str text, Str file, Arena *arena, Map *names, Err *err)
{
    ActionReader reader = action_reader(text, file, arena);
    bool         found;
    Action       action;

    for (;;) {
        if (!action_next(&reader, &found, &action, err)) return false;
        if (!found) return true;
        if (action.kind != ACTION_SIDECAR) continue;
        Str       path  = delta_path_decode(arena,
                                            json_text_str(json_text_find(action.body, "path"), arena));
        ptrdiff_t slash = str_find_last_char(path, '/');
        (void)map_put(names, str_slice(path, (size_t)(slash + 1), path.len), names);
    }
}

static bool note_rows(RowStream *rows, Str file, Arena *arena, Map *names, Err *err)
{
    RowBlock block;

    for (;;) {
        if (!row_stream_next(rows, &block, err)) return false;
        if (block.row_count == 0) return true;
        for (size_t i = 0; i < block.row_count; i++)
            if (!note_sidecars(str_copy(arena, column_str(&block.columns[0], i)), file, arena,
                               names, err))
                return false;
    }
}

static bool note_parquet(Cleanup *cleanup, Str path, Map *names, Err *err)
{
    DuckSession    *session = NULL;
    DuckCheckpoint *file    = NULL;
    RowStream      *rows    = NULL;
    Arena          *scratch = arena_new();
    Str             local;

    bool ok = store_fetch_local(cleanup->store, path, scratch, &local, err) &&
              duck_session_open(cleanup->table->context->duck, &session, err) &&
              duck_checkpoint_open(session, local, scratch, &file, err) &&
              duck_checkpoint_rest(file, scratch, &rows, err) &&
              (!rows || note_rows(rows, path, cleanup->arena, names, err));
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok;
}

static bool note_checkpoint(Cleanup *cleanup, Str name, Map *names, Err *err)
{
    Str   path = store_join(cleanup->arena, cleanup->table->place.log_path, name);
    Bytes bytes;

    if (!log_name_parse(name).is_json) return note_parquet(cleanup, path, names, err);
    return store_read(cleanup->store, path, LIMIT_LOG_FILE_BYTES, cleanup->arena, &bytes, err) &&
           note_sidecars(bytes_str(bytes), path, cleanup->arena, names, err);
}

/* Those of every checkpoint that is left. When one cannot be read, nobody knows what it needs. */
static bool note_all_sidecars(Cleanup *cleanup, Map *names, Err *err)
{
    StoreList left;
    int64_t   version;

    if (!store_list_after(cleanup->store, cleanup->table->place.log_path, STR_EMPTY, cleanup->arena,
                          &left, err))
        return false;
    for (size_t i = 0; i < left.count; i++)
        if (classify(left.entries[i].name, &version) == OLD_CHECKPOINT &&
            left.entries[i].size_bytes > 0 &&
            !note_checkpoint(cleanup, left.entries[i].name, names, err))
            return false;
    return true;
}

static bool remove_sidecars(Cleanup *cleanup, Err *err)
{
    Str       folder = store_join(cleanup->arena, cleanup->table->place.log_path, STR("_sidecars"));
    int64_t   young_us = clock_utc_us(cleanup->table->context->clock) - DAY_MS * 1000;
    Map      *names    = NULL;
    StoreList list;
    bool      ok = store_list_after(cleanup->store, folder, STR_EMPTY, cleanup->arena, &list, err);

    for (size_t i = 0; ok && i < list.count; i++) {
        const StoreEntry *entry = &list.entries[i];
        if (entry->modified_utc_us >= young_us) continue;
        if (!names) {
            names = map_new();
            ok    = note_all_sidecars(cleanup, names, err);
        }
        if (!ok || map_find(names, entry->name)) continue;
        ok = store_remove(cleanup->store, store_join(cleanup->arena, folder, entry->name), err);
        cleanup->removed_count += ok;
    }
    map_close(names);
    return ok;
}

/* --- the whole --- */

static bool run(Cleanup *cleanup, Err *err)
{
    if (!find_checkpoint(cleanup, err)) return false;
    if (cleanup->checkpoint_version != NO_VERSION) {
        if (!store_list_after(cleanup->store, cleanup->table->place.log_path, STR_EMPTY,
                              cleanup->arena, &cleanup->list, err))
            return false;
        if (has_old(cleanup) && !check_sound(cleanup, err)) return false;
        for (int kind = 0; kind < OLD_KIND_COUNT; kind++)
            if (!remove_kind(cleanup, (OldKind)kind, err)) return false;
    }
    return remove_sidecars(cleanup, err);
}

bool delta_table_clean_log(DeltaTable *table, int64_t *removed_out, Err *err)
{
    Cleanup cleanup = {.table = table, .arena = arena_new(), .store = table->context->store};

    bool ok      = !is_wanted(table) || run(&cleanup, err);
    *removed_out = cleanup.removed_count;
    arena_close(cleanup.arena);
    return ok || err_context(err, "log cleanup of table %.*s", STR_ARG(table->place.path));
}

void log_clean_when_due(DeltaTable *table)
{
    int64_t today   = clock_utc_us(table->context->clock) / 1000 / DAY_MS;
    int64_t removed = 0;
    Err     err     = ERR_INIT;
    char    text[512];

    if (table->cleaned_day == today) return;
    table->cleaned_day = today;
    if (!delta_table_clean_log(table, &removed, &err)) {
        err_format(&err, text, sizeof text);
        log_warn(table->context->log, "delta", "the log could not be cleaned up",
                 LOG_STR("table", table->place.path), LOG_TEXT("error", text));
    } else if (removed > 0) {
        log_info(table->context->log, "delta", "old log files were removed",
                 LOG_STR("table", table->place.path), LOG_I64("files", removed));
    }
}
