/* Reading a checkpoint (delta.md 1.4): classic, in parts, or V2 with its sidecars. Whatever does
 * not fit together is damage, and names the file and the row or line: a checkpoint that is taken for
 * less than it held would lose rows. */
#include "delta/delta_internal.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define LOOK_AHEAD 16 /* rows whose places are fetched from memory meanwhile */

typedef struct Sidecar {
    Str     path;       /* as it stands */
    int64_t size_bytes; /* -1: it does not say */
} Sidecar;

typedef struct Loading {
    LogState       *state;
    const LogPlace *place;
    int64_t         version;
    Arena          *arena; /* of the whole load */
    Str             file;  /* being read */
    bool            is_sidecar;
    bool            has_metadata; /* checkpointMetadata: content of V2 */
    int64_t         add_count, file_action_count;
    LIST(Sidecar) sidecars;
} Loading;

static bool fail(const Loading *loading, Err *err, const char *what)
{
    return err_set(err, ERR_DAMAGED, "DELTA-L10 %.*s: %s", STR_ARG(loading->file), what);
}

/* --- single actions --- */

static bool note_metadata(Loading *loading, JsonText body, Err *err)
{
    int64_t version;

    if (!json_text_i64(json_text_find(body, "version"), &version) || version != loading->version)
        return fail(loading, err, "its checkpointMetadata names another version than its name");
    if (loading->has_metadata) return fail(loading, err, "it has two checkpointMetadata actions");
    loading->has_metadata = true;
    return true;
}

static bool note_sidecar(Loading *loading, JsonText body, Err *err)
{
    Str path = json_text_str(json_text_find(body, "path"), loading->arena);

    if (path.len == 0) return fail(loading, err, "it has a sidecar without a path");
    Sidecar *sidecar = LIST_PUSH(loading->arena, &loading->sidecars);
    sidecar->path    = str_copy(loading->arena, path);
    if (!json_text_i64(json_text_find(body, "sizeInBytes"), &sidecar->size_bytes))
        sidecar->size_bytes = -1;
    return true;
}

static bool apply_action(Loading *loading, const Action *action, Err *err)
{
    bool is_file_action = action->kind == ACTION_ADD || action->kind == ACTION_REMOVE;

    if (loading->is_sidecar && !is_file_action)
        return fail(loading, err, "a sidecar holds an action that is no add and no remove");
    loading->file_action_count += is_file_action && !loading->is_sidecar;
    loading->add_count += action->kind == ACTION_ADD;
    if (action->kind == ACTION_CHECKPOINT_METADATA)
        return note_metadata(loading, action->body, err);
    if (action->kind == ACTION_SIDECAR) return note_sidecar(loading, action->body, err);
    log_state_apply(loading->state, loading->place, action);
    return true;
}

static bool apply_lines(Loading *loading, Str text, Str name, Arena *arena, Err *err)
{
    ActionReader reader = action_reader(text, name, arena);
    bool         found;
    Action       action;

    for (;;) {
        if (!action_next(&reader, &found, &action, err)) return false;
        if (!found) return true;
        if (!apply_action(loading, &action, err)) return false;
    }
}

static bool load_json(Loading *loading, Str path, Err *err)
{
    Arena *arena = arena_new();
    Bytes  bytes;
    bool ok = store_read(loading->place->context->store, path, LIMIT_LOG_FILE_BYTES, arena, &bytes,
                         err) &&
              apply_lines(loading, bytes_str(bytes), path, arena, err);
    arena_close(arena);
    return ok;
}

/* --- Parquet --- */

/* Each row that is given is an action; *count_out gets how many they are. */
static bool apply_rest(Loading *loading, RowStream *rows, int64_t *count_out, Err *err)
{
    Arena   *arena = arena_new();
    RowBlock block;
    bool     ok;

    while ((ok = row_stream_next(rows, &block, err)) && block.row_count > 0) {
        for (size_t i = 0; ok && i < block.row_count; i++) {
            arena_reset(arena);
            Str name = str_printf(arena, "%.*s row %lld", STR_ARG(loading->file),
                                  (long long)column_i64(&block.columns[1], i));
            ok       = apply_lines(loading, column_str(&block.columns[0], i), name, arena, err);
        }
        if (!ok) break;
        *count_out += (int64_t)block.row_count;
    }
    arena_close(arena);
    return ok;
}

static Str str_or_empty(const ColumnVector *column, size_t row)
{
    return column_is_null(column, row) ? STR_EMPTY : column_str(column, row);
}

static int64_t i64_or(const ColumnVector *column, size_t row, int64_t fallback)
{
    return column_is_null(column, row) ? fallback : column_i64(column, row);
}

static bool fail_row(const Loading *loading, const RowBlock *block, size_t row, const char *what,
                     Err *err)
{
    return err_set(err, ERR_DAMAGED, "DELTA-L09 %.*s: row %lld has %s", STR_ARG(loading->file),
                   (long long)column_i64(&block->columns[DUCK_ADD_ROW], row), what);
}

/* Extra members came out of a vector, so they are JSON. */
static Str dv_id_of_extra(Str extra, Arena *arena)
{
    JsonText body = {.kind = JSON_TEXT_OBJECT, .text = str_printf(arena, "{%.*s}", STR_ARG(extra))};
    return action_dv_id(body, arena);
}

/* --- adds: made on several threads, put in their order by the one that loads --- */

/* The files of a block. */
typedef struct AddPart {
    int64_t   first_row;
    size_t    count;
    LiveFile *files[];
} AddPart;

typedef struct AddParts {
    Loading        *loading;
    pthread_mutex_t lock; /* guards what follows */
    AddPart       **items;
    size_t          count, capacity;
} AddParts;

static void keep_part(AddParts *parts, AddPart *part)
{
    (void)pthread_mutex_lock(&parts->lock);
    if (parts->count == parts->capacity) {
        parts->capacity = MAX(2 * parts->capacity, 64);
        parts->items    = mem_realloc(parts->items, parts->capacity * sizeof *parts->items);
    }
    parts->items[parts->count++] = part;
    (void)pthread_mutex_unlock(&parts->lock);
}

/* *out NULL: the row is another action's. */
static bool make_file(const Loading *loading, const RowBlock *block, size_t row,
                      StatsPacker *packer, Arena *arena, LiveFile **out, Err *err)
{
    const ColumnVector *columns = block->columns;
    AddAction           add     = {
                      .path        = str_or_empty(&columns[DUCK_ADD_PATH], row),
                      .dv_id       = STR_EMPTY,
                      .size_bytes  = i64_or(&columns[DUCK_ADD_SIZE], row, -1),
                      .modified_ms = i64_or(&columns[DUCK_ADD_MODIFIED], row, 0),
                      .stats       = str_or_empty(&columns[DUCK_ADD_STATS], row),
                      .extra       = column_str(&columns[DUCK_ADD_EXTRA], row),
    };

    *out = NULL;
    if (add.path.len == 0) {
        bool is_other = column_is_null(&columns[DUCK_ADD_SIZE], row) &&
                        column_is_null(&columns[DUCK_ADD_PATH], row) &&
                        column_is_null(&columns[DUCK_ADD_MODIFIED], row);
        return is_other || fail_row(loading, block, row, "an add without a path", err);
    }
    if (add.size_bytes < 0) return fail_row(loading, block, row, "an add without a size", err);
    add.row_count = stats_row_count(add.stats);
    if (add.extra.len > 0) add.dv_id = dv_id_of_extra(add.extra, arena);
    *out = log_state_make_file(loading->state, packer, &add);
    return true;
}

static bool take_adds(void *arg, const RowBlock *block, Err *err)
{
    AddParts   *parts  = arg;
    Arena      *arena  = arena_new();
    StatsPacker packer = stats_packer(parts->loading->state->forms, arena);
    AddPart    *part   = mem_alloc(sizeof *part + block->row_count * sizeof part->files[0]);
    bool        ok     = true;

    part->first_row = column_i64(&block->columns[DUCK_ADD_ROW], 0);
    for (size_t i = 0; ok && i < block->row_count; i++) {
        LiveFile *live;
        ok = make_file(parts->loading, block, i, &packer, arena, &live, err);
        if (ok && live) part->files[part->count++] = live;
    }
    keep_part(parts, part); /* also what was made before an error is freed with the others */
    arena_close(arena);
    return ok;
}

static int compare_parts(const void *left, const void *right)
{
    int64_t a = (*(AddPart *const *)left)->first_row, b = (*(AddPart *const *)right)->first_row;
    return (a > b) - (a < b);
}

static void put_part(LogState *state, const AddPart *part)
{
    for (size_t i = 0; i < part->count; i++) {
        if (i + LOOK_AHEAD < part->count)
            file_set_expect(state->files, live_file_key(part->files[i + LOOK_AHEAD]));
        log_state_put_file(state, part->files[i]);
    }
}

static void put_parts(Loading *loading, AddParts *parts)
{
    if (parts->count > 1) qsort(parts->items, parts->count, sizeof parts->items[0], compare_parts);
    for (size_t i = 0; i < parts->count; i++) {
        put_part(loading->state, parts->items[i]);
        loading->add_count += (int64_t)parts->items[i]->count;
        if (!loading->is_sidecar) loading->file_action_count += (int64_t)parts->items[i]->count;
    }
}

static void free_parts(AddParts *parts, bool with_files)
{
    for (size_t i = 0; i < parts->count; i++) {
        for (size_t j = 0; with_files && j < parts->items[i]->count; j++)
            file_set_free(parts->items[i]->files[j]);
        mem_free(parts->items[i]);
    }
    mem_free(parts->items);
    (void)pthread_mutex_destroy(&parts->lock);
}

static bool read_adds(Loading *loading, DuckCheckpoint *file, Err *err)
{
    AddParts parts  = {.loading = loading};
    int64_t  want   = duck_checkpoint_count_adds(file);
    int64_t  before = loading->add_count;
    int      failed = pthread_mutex_init(&parts.lock, NULL);

    assert(failed == 0);
    bool ok = duck_checkpoint_take_adds(file, take_adds, &parts, err);
    if (ok) {
        if (want > 0)
            file_set_reserve(loading->state->files,
                             file_set_count(loading->state->files) + (size_t)want);
        put_parts(loading, &parts);
    }
    free_parts(&parts, !ok);
    if (ok && want >= 0 && loading->add_count - before != want)
        return err_set(
            err, ERR_DAMAGED, "DELTA-L10 %.*s: its footer counts %lld adds, its rows %lld",
            STR_ARG(loading->file), (long long)want, (long long)(loading->add_count - before));
    return ok;
}

/* Columns that have no values, as the footer says, are not read at all. A row without any action
 * shows a footer that is wrong about them: what was in it would be lost. */
static bool check_row_count(const Loading *loading, const DuckCheckpoint *file, int64_t found,
                            Err *err)
{
    int64_t want = duck_checkpoint_count_rows(file);
    return want < 0 || want == found ||
           err_set(err, ERR_DAMAGED, "DELTA-L10 %.*s: it has %lld rows, and %lld actions in them",
                   STR_ARG(loading->file), (long long)want, (long long)found);
}

static bool read_parquet(Loading *loading, DuckSession *session, Str local, Arena *arena, Err *err)
{
    DuckCheckpoint *file        = NULL;
    RowStream      *rows        = NULL;
    int64_t         other_count = 0, before = loading->add_count;

    if (!duck_checkpoint_open(session, local, arena, &file, err)) return false;
    if (!duck_checkpoint_rest(file, arena, &rows, err)) return false;
    bool ok = !rows || apply_rest(loading, rows, &other_count, err);
    row_stream_close(rows);
    return ok && read_adds(loading, file, err) &&
           check_row_count(loading, file, loading->add_count - before + other_count, err);
}

static bool load_parquet(Loading *loading, Str path, Err *err)
{
    DeltaContext *context = loading->place->context;
    Arena        *arena   = arena_new();
    DuckSession  *session = NULL;
    Str           local;

    bool ok = store_fetch_local(context->store, path, arena, &local, err) &&
              duck_session_open(context->duck, &session, err) &&
              read_parquet(loading, session, local, arena, err);
    duck_session_close(session);
    arena_close(arena);
    return ok || err_context(err, "%.*s", STR_ARG(path));
}

/* --- the checkpoint --- */

static bool load_sidecar(Loading *loading, const Sidecar *sidecar, Err *err)
{
    Str        folder = store_join(loading->arena, loading->place->log_path, STR("_sidecars"));
    StoreEntry entry;
    Str        path;

    if (!delta_path_resolve(folder, sidecar->path, loading->arena, &path, err)) return false;
    if (!store_stat(loading->place->context->store, path, &entry, err)) {
        if (err->code == ERR_NOT_FOUND)
            err_set(err, ERR_NOT_FOUND, "DELTA-L10 %.*s: its sidecar %.*s is missing",
                    STR_ARG(loading->file), STR_ARG(path));
        return false;
    }
    if (sidecar->size_bytes >= 0 && entry.size_bytes != sidecar->size_bytes)
        return err_set(err, ERR_DAMAGED,
                       "DELTA-L10 %.*s: its sidecar %.*s has %lld bytes instead of %lld",
                       STR_ARG(loading->file), STR_ARG(path), (long long)entry.size_bytes,
                       (long long)sidecar->size_bytes);
    Str top       = loading->file;
    loading->file = path;
    bool ok       = load_parquet(loading, path, err);
    loading->file = ok ? top : loading->file;
    return ok;
}

static bool load_sidecars(Loading *loading, Err *err)
{
    if (loading->sidecars.count == 0) return true;
    if (!loading->has_metadata)
        return fail(loading, err, "it has sidecars and no checkpointMetadata");
    if (loading->file_action_count > 0)
        return fail(loading, err, "it has sidecars, and files of its own besides");
    loading->is_sidecar = true;
    for (size_t i = 0; i < loading->sidecars.count; i++)
        if (!load_sidecar(loading, &loading->sidecars.items[i], err)) return false;
    return true;
}

static bool load_files(Loading *loading, const LogSegment *segment, Err *err)
{
    for (size_t i = 0; i < segment->checkpoint_count; i++) {
        Str path      = store_join(loading->arena, loading->place->log_path,
                                   segment->checkpoint_names[i]);
        loading->file = path;
        if (!log_check_cancel(loading->place->context, err)) return false;
        if (segment->checkpoint_is_json ? !load_json(loading, path, err)
                                        : !load_parquet(loading, path, err))
            return false;
    }
    return load_sidecars(loading, err);
}

/* A checkpoint is reconciled: it has no file twice, and none that it removes. */
static bool check_distinct(const Loading *loading, Err *err)
{
    int64_t held = (int64_t)file_set_count(loading->state->files);
    return held == loading->add_count ||
           err_set(err, ERR_DAMAGED, "DELTA-L10 %.*s: it has %lld adds, and %lld files in them",
                   STR_ARG(loading->file), (long long)loading->add_count, (long long)held);
}

/* The hint is advice (1.3): a writer that counts otherwise must not cost us the table. */
static void compare_with_hint(const Loading *loading, const LogSegment *segment)
{
    if (segment->hinted_adds < 0 || segment->hinted_adds == loading->add_count) return;
    log_warn(loading->place->context->log, "delta",
             "_last_checkpoint counts another number of files than its checkpoint holds",
             LOG_STR("table", loading->place->path), LOG_I64("version", loading->version),
             LOG_I64("announced", segment->hinted_adds), LOG_I64("held", loading->add_count));
}

bool checkpoint_load(LogState *state, const LogPlace *place, const LogSegment *segment, Err *err)
{
    if (segment->checkpoint_version == NO_VERSION) return true;

    Loading loading = {.state   = state,
                       .place   = place,
                       .version = segment->checkpoint_version,
                       .arena   = arena_new()};
    bool    ok      = load_files(&loading, segment, err) && check_distinct(&loading, err);
    if (ok) compare_with_hint(&loading, segment);
    state->version = segment->checkpoint_version;
    if (!ok)
        err_context(err, "checkpoint %lld of table %.*s", (long long)segment->checkpoint_version,
                    STR_ARG(place->path));
    arena_close(loading.arena);
    return ok;
}
