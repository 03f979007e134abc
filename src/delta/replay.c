/* The state of a version: what replaying actions leaves (delta.md 1.7). */
#include "delta/delta_internal.h"

#include <string.h>

#define RETENTION_US_DEFAULT (INT64_C(7) * 86400 * 1000000)

Str block_str(Str text)
{
    if (text.len == 0) return STR_EMPTY;
    char *copy = mem_alloc(text.len);
    memcpy(copy, text.ptr, text.len);
    return (Str){copy, text.len};
}

void block_free(Str text)
{
    if (text.len > 0) mem_free((void *)(uintptr_t)text.ptr);
}

LogState *log_state_new(void)
{
    LogState *state     = mem_alloc(sizeof *state);
    state->version      = NO_VERSION;
    state->in_commit_ms = -1;
    state->scratch      = arena_new();
    state->protocol_raw = state->metadata_raw = STR_EMPTY;
    state->files                              = file_set_new();
    state->forms                              = stats_forms_new();
    state->packer                             = stats_packer(state->forms, state->scratch);
    state->tombstones                         = map_new();
    state->txns                               = map_new();
    state->domains                            = map_new();
    return state;
}

static void close_map(Map *map)
{
    Str   key;
    void *value;
    for (size_t at = 0; map_next(map, &at, &key, &value);)
        mem_free(value);
    map_close(map);
}

void log_state_close(LogState *state)
{
    if (!state) return;
    file_set_close(state->files);
    stats_forms_close(state->forms);
    close_map(state->tombstones);
    close_map(state->txns);
    close_map(state->domains);
    block_free(state->protocol_raw);
    block_free(state->metadata_raw);
    header_close(state->header);
    arena_close(state->scratch);
    mem_free(state);
}

/* Strings of an entry stand behind it in one block. */
static Str place_str(char **at, Str text)
{
    Str placed = {*at, text.len};
    if (text.len > 0) memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return placed;
}

/* A path with its deletion vector's id behind a NUL byte, which no path holds. */
static size_t key_len(Str path, Str dv_id)
{
    return path.len + (dv_id.len > 0 ? 1 + dv_id.len : 0);
}

static Str place_key(char **at, Str path, Str dv_id)
{
    Str key = {*at, key_len(path, dv_id)};
    (void)place_str(at, path);
    if (dv_id.len > 0) {
        *(*at)++ = '\0';
        (void)place_str(at, dv_id);
    }
    return key;
}

Str log_state_key(Arena *arena, Str path, Str dv_id)
{
    if (dv_id.len == 0) return path;
    char *text = arena_alloc(arena, key_len(path, dv_id));
    char *at   = text;
    return place_key(&at, path, dv_id);
}

LiveFile *log_state_make_file(LogState *state, StatsPacker *packer, const AddAction *add)
{
    const StatsForm *form     = stats_pack(packer, add->stats);
    Str              values   = buf_str(&packer->values);
    size_t           text_len = key_len(add->path, add->dv_id) + values.len + add->extra.len;
    LiveFile        *live     = file_set_alloc(state->files, sizeof *live + text_len);
    char            *at       = (char *)(live + 1);
    Str              key      = place_key(&at, add->path, add->dv_id);

    live->key_len = (uint32_t)key.len;
    live->has_dv  = add->dv_id.len > 0;
    live->file    = (DeltaFile){
           .path          = str_slice(key, 0, add->path.len),
           .size_bytes    = add->size_bytes,
           .modified_ms   = add->modified_ms,
           .row_count     = add->row_count,
           .stats_form    = form,
           .stats_values  = place_str(&at, values).ptr,
           .extra_members = place_str(&at, add->extra),
    };
    return live;
}

Str delta_file_get_stats(const DeltaFile *file, Arena *arena)
{
    return stats_unpack(file->stats_form, file->stats_values, arena);
}

void log_state_put_file(LogState *state, LiveFile *live)
{
    if (map_count(state->tombstones) > 0)
        mem_free(map_remove(state->tombstones, live_file_key(live)));
    file_set_free(file_set_put(state->files, live));
    state->has_dv = state->has_dv || live->has_dv;
}

void log_state_add(LogState *state, const AddAction *add)
{
    log_state_put_file(state, log_state_make_file(state, &state->packer, add));
}

static bool is_plain_path(Str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c     = path.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c != '\0' && strchr("-._/=", c));
        if (!plain) return false;
    }
    return true;
}

/* A remove that matches nothing byte for byte: another writer may have written the path
 * differently, encoded otherwise or with a scheme. */
static LiveFile *find_canonical(LogState *state, const RemoveAction *remove)
{
    Arena    *arena = arena_new(), *scratch = arena_new();
    Str       path  = delta_path_canonical(arena, remove->path);
    Str       want  = log_state_key(arena, path, remove->dv_id);
    LiveFile *found = NULL;
    LiveFile *live;

    for (size_t at = 0; !found && (live = file_set_next(state->files, &at));) {
        Str key = live_file_key(live);
        Str dv  = str_slice(key, live->file.path.len + 1, key.len);
        if (is_plain_path(live->file.path) && is_plain_path(remove->path)) continue;
        arena_reset(scratch);
        path = delta_path_canonical(scratch, live->file.path);
        if (str_equal(log_state_key(scratch, path, dv), want)) found = live;
    }
    arena_close(scratch);
    arena_close(arena);
    return found;
}

static void put_tombstone(LogState *state, const RemoveAction *remove)
{
    size_t     text_len = key_len(remove->path, remove->dv_id) + remove->members.len;
    Tombstone *stone    = mem_alloc(sizeof *stone + text_len);
    char      *at       = (char *)(stone + 1);

    stone->key         = place_key(&at, remove->path, remove->dv_id);
    stone->path        = str_slice(stone->key, 0, remove->path.len);
    stone->deletion_ms = remove->deletion_ms;
    stone->members     = place_str(&at, remove->members);
    mem_free(map_put(state->tombstones, stone->key, stone));
}

static void apply_remove(LogState *state, const LogPlace *place, const RemoveAction *remove)
{
    Arena    *arena = remove->dv_id.len > 0 ? arena_new() : NULL;
    LiveFile *live  = file_set_remove(state->files,
                                      log_state_key(arena, remove->path, remove->dv_id));

    arena_close(arena);
    if (!live && (!is_plain_path(remove->path) || str_starts_with(remove->path, STR("/")))) {
        live = find_canonical(state, remove);
        if (live) {
            log_warn(place->context->log, "delta", "a remove wrote the path of its file otherwise",
                     LOG_STR("table", place->path), LOG_STR("file", live->file.path),
                     LOG_STR("remove", remove->path));
            (void)file_set_remove(state->files, live_file_key(live));
        }
    }
    file_set_free(live);
    put_tombstone(state, remove);
}

static void apply_txn(LogState *state, const TxnAction *txn)
{
    TxnEntry *entry        = mem_alloc(sizeof *entry + txn->app_id.len);
    char     *at           = (char *)(entry + 1);
    entry->app_id          = place_str(&at, txn->app_id);
    entry->version         = txn->version;
    entry->last_updated_ms = txn->last_updated_ms;
    mem_free(map_put(state->txns, entry->app_id, entry));
}

static void apply_domain(LogState *state, const DomainAction *domain)
{
    if (domain->is_removed) {
        mem_free(map_remove(state->domains, domain->domain));
        return;
    }
    DomainEntry *entry = mem_alloc(sizeof *entry + domain->domain.len + domain->configuration.len);
    char        *at    = (char *)(entry + 1);
    entry->domain      = place_str(&at, domain->domain);
    entry->configuration = place_str(&at, domain->configuration);
    mem_free(map_put(state->domains, entry->domain, entry));
}

static void replace_block(Str *block, Str text)
{
    block_free(*block);
    *block = block_str(text);
}

void log_state_apply(LogState *state, const LogPlace *place, const Action *action)
{
    switch (action->kind) {
    case ACTION_ADD: log_state_add(state, &action->add); break;
    case ACTION_REMOVE: apply_remove(state, place, &action->remove); break;
    case ACTION_TXN: apply_txn(state, &action->txn); break;
    case ACTION_DOMAIN: apply_domain(state, &action->domain); break;
    case ACTION_METADATA: replace_block(&state->metadata_raw, action->body.text); break;
    case ACTION_PROTOCOL: replace_block(&state->protocol_raw, action->body.text); break;
    case ACTION_COMMIT_INFO: state->in_commit_ms = action->commit_info.in_commit_ms; break;
    case ACTION_CDC:
    case ACTION_CHECKPOINT_METADATA:
    case ACTION_SIDECAR:
    case ACTION_ADAPTIVE: break;
    }
}

/* --- one commit, all of it or nothing --- */

typedef struct CommitActions {
    LIST(Action) list;
    Str        protocol_raw, metadata_raw; /* empty: the commit has none */
    LogChanges changes;
} CommitActions;

static bool note_action(CommitActions *actions, const Action *action, Str file, Err *err)
{
    switch (action->kind) {
    case ACTION_ADD: actions->changes.has_data_adds |= action->add.data_change; break;
    case ACTION_REMOVE:
        actions->changes.has_data_removes |= action->remove.data_change;
        actions->changes.has_rearranged |= !action->remove.data_change;
        break;
    case ACTION_METADATA:
        actions->changes.has_metadata = true;
        actions->metadata_raw         = action->body.text;
        break;
    case ACTION_PROTOCOL:
        actions->changes.has_protocol = true;
        actions->protocol_raw         = action->body.text;
        break;
    case ACTION_ADAPTIVE:
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-P10 %.*s: the table uses adaptive metadata (reader feature "
                       "\"adaptiveMetadata-preview\"), which is not supported; nothing was read",
                       STR_ARG(file));
    case ACTION_TXN:
    case ACTION_DOMAIN:
    case ACTION_COMMIT_INFO:
    case ACTION_CDC:
    case ACTION_CHECKPOINT_METADATA:
    case ACTION_SIDECAR: break;
    }
    return true;
}

static bool parse_commit(Str text, Str file, Arena *arena, CommitActions *out, Err *err)
{
    ActionReader reader = action_reader(text, file, arena);
    bool         found;
    Action       action;

    if (str_trim(text).len == 0)
        return err_set(err, ERR_DAMAGED, "DELTA-L09 %.*s: the commit is empty", STR_ARG(file));
    for (;;) {
        if (!action_next(&reader, &found, &action, err)) return false;
        if (!found) return true;
        if (!note_action(out, &action, file, err)) return false;
        *LIST_PUSH(arena, &out->list) = action;
    }
}

static void add_domains(LogChanges *changes, const CommitActions *actions)
{
    for (size_t i = 0; changes->arena && i < actions->list.count; i++) {
        const Action *action = &actions->list.items[i];
        if (action->kind == ACTION_DOMAIN)
            *LIST_PUSH(changes->arena, &changes->domains) = str_copy(changes->arena,
                                                                     action->domain.domain);
    }
}

static void add_changes(LogChanges *changes, const LogChanges *more)
{
    changes->commit_count++;
    changes->has_data_adds |= more->has_data_adds;
    changes->has_data_removes |= more->has_data_removes;
    changes->has_rearranged |= more->has_rearranged;
    changes->has_metadata |= more->has_metadata;
    changes->has_protocol |= more->has_protocol;
    changes->has_lowered_protocol |= more->has_lowered_protocol;
}

/* The header after the commit, if it changes it and somebody wants to know now. */
static bool next_header(const LogState *state, const LogPlace *place, int64_t version,
                        const CommitActions *actions, Header **out, Err *err)
{
    if (actions->protocol_raw.len == 0 && actions->metadata_raw.len == 0) return true;
    Str protocol = actions->protocol_raw.len ? actions->protocol_raw : state->protocol_raw;
    Str metadata = actions->metadata_raw.len ? actions->metadata_raw : state->metadata_raw;
    if (!header_new(place, version, protocol, metadata, out, err)) return false;
    if (header_check_read(place, version, *out, err)) return true;
    header_close(*out);
    return false;
}

void log_prefer_protocol_error(const LogPlace *place, int64_t version, Str protocol_raw, Err *err)
{
    Arena   *arena  = arena_new();
    Err      judged = ERR_INIT;
    Protocol protocol;
    JsonText body;
    size_t   bad_at;

    if (err->code == ERR_DAMAGED && json_text_parse(protocol_raw, &body, &bad_at) &&
        protocol_parse(body, arena, &protocol) &&
        !protocol_check_read(place, version, &protocol, &judged))
        err_copy(err, &judged);
    arena_close(arena);
}

/* --- deletion vectors --- */

/* Whether a log that adds deletion vectors has the feature in its protocol: without it other
 * readers bring the deleted rows back, so nobody can say what the table holds. */
static bool check_vector(const LogState *state, const LogPlace *place, const LiveFile *live,
                         Err *err)
{
    if (file_set_has_twin(state->files, live))
        return err_set(err, ERR_DAMAGED,
                       "DELTA-L05 corrupt log of table %.*s v%lld: %.*s is live twice",
                       STR_ARG(place->path), (long long)state->version, STR_ARG(live->file.path));
    if (!live->has_dv ||
        str_list_has(&state->header->protocol.reader_features, STR("deletionVectors")))
        return true;
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-P03 table %.*s v%lld: malformed protocol, it lacks the reader feature "
                   "\"deletionVectors\" and file %.*s has one; nothing was read",
                   STR_ARG(place->path), (long long)state->version, STR_ARG(live->file.path));
}

static bool check_vectors(const LogState *state, const LogPlace *place, Err *err)
{
    const LiveFile *live;

    for (size_t at = 0; (live = file_set_next(state->files, &at));)
        if (!check_vector(state, place, live, err)) return false;
    return true;
}

/* Of the files that one commit added; of all when it changed the protocol. */
static bool check_new_vectors(const LogState *state, const LogPlace *place,
                              const CommitActions *actions, Arena *arena, Err *err)
{
    if (!state->has_dv || !state->header) return true; /* log_state_finish looks at all of them */
    if (actions->protocol_raw.len > 0) return check_vectors(state, place, err);
    for (size_t i = 0; i < actions->list.count; i++) {
        const Action *action = &actions->list.items[i];
        if (action->kind != ACTION_ADD) continue;
        const LiveFile *live = file_set_find(
            state->files, log_state_key(arena, action->add.path, action->add.dv_id));
        if (live && !check_vector(state, place, live, err)) return false;
    }
    return true;
}

bool log_state_apply_commit(LogState *state, const LogPlace *place, int64_t version, Str text,
                            Str file, bool check, LogChanges *changes, Err *err)
{
    Arena        *arena   = arena_new();
    CommitActions actions = {.protocol_raw = STR_EMPTY, .metadata_raw = STR_EMPTY};
    Header       *header  = NULL;

    bool ok = parse_commit(text, file, arena, &actions, err) &&
              (!check || next_header(state, place, version, &actions, &header, err));
    if (ok) {
        state->in_commit_ms = -1;
        for (size_t i = 0; i < actions.list.count; i++)
            log_state_apply(state, place, &actions.list.items[i]);
        state->version                       = version;
        actions.changes.has_lowered_protocol = header && state->header &&
                                               protocol_is_lower(&state->header->protocol,
                                                                 &header->protocol);
        if (changes) {
            add_changes(changes, &actions.changes);
            add_domains(changes, &actions);
        }
        if (header) {
            header_close(state->header);
            state->header = header;
        }
        ok = !check || check_new_vectors(state, place, &actions, arena, err);
    } else {
        Str protocol = actions.protocol_raw.len ? actions.protocol_raw : state->protocol_raw;
        log_prefer_protocol_error(place, version, protocol, err);
    }
    arena_close(arena);
    return ok;
}

/* --- the finished state --- */

bool log_state_finish(LogState *state, const LogPlace *place, Err *err)
{
    const char *missing = state->protocol_raw.len == 0   ? "protocol"
                          : state->metadata_raw.len == 0 ? "metaData"
                                                         : NULL;
    if (missing)
        return err_set(err, ERR_DAMAGED, "DELTA-L06 the log of table %.*s v%lld has no %s action",
                       STR_ARG(place->path), (long long)state->version, missing);
    header_close(state->header);
    state->header = NULL;
    if (!header_new(place, state->version, state->protocol_raw, state->metadata_raw, &state->header,
                    err))
        return false;
    if (!header_check_read(place, state->version, state->header, err)) return false;
    if (str_list_has(&state->header->protocol.writer_features, STR("coordinatedCommits-preview")))
        log_warn(place->context->log, "delta",
                 "the table's commits go through a coordinator; this view may be stale",
                 LOG_STR("table", place->path), LOG_I64("version", state->version));
    return !state->has_dv || check_vectors(state, place, err);
}

void log_state_drop_expired(LogState *state, int64_t now_ms)
{
    int64_t retention_us = header_property_interval_us(
        state->header, "delta.deletedFileRetentionDuration", RETENTION_US_DEFAULT);
    int64_t cutoff_ms = now_ms - retention_us / 1000;
    Str     key;
    void   *value;

    for (size_t at = 0; map_next(state->tombstones, &at, &key, &value);) {
        Tombstone *stone = value;
        if (stone->deletion_ms > cutoff_ms) continue;
        (void)map_remove(state->tombstones, key);
        mem_free(stone);
    }
}
