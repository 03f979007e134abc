/* The lines of a commit (delta.md 1.5). Unknown keys and fields are no error; a line that is not
 * JSON, or an action without what it cannot do without, is. */
#include "delta/delta_internal.h"

#include <string.h>

typedef struct ActionName {
    const char *name;
    ActionKind  kind;
} ActionName;

ActionReader action_reader(Str text, Str file, Arena *arena)
{
    if (str_starts_with(text, STR("\xEF\xBB\xBF"))) text = str_slice(text, 3, text.len);
    return (ActionReader){.rest = text, .file = file, .arena = arena};
}

static bool find_kind(Str raw_key, ActionKind *out)
{
    const ActionName names[] = {
        {"add", ACTION_ADD},
        {"remove", ACTION_REMOVE},
        {"metaData", ACTION_METADATA},
        {"protocol", ACTION_PROTOCOL},
        {"txn", ACTION_TXN},
        {"domainMetadata", ACTION_DOMAIN},
        {"commitInfo", ACTION_COMMIT_INFO},
        {"cdc", ACTION_CDC},
        {"checkpointMetadata", ACTION_CHECKPOINT_METADATA},
        {"sidecar", ACTION_SIDECAR},
        {"checkpoint", ACTION_ADAPTIVE},
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (!json_text_key_equals(raw_key, str_from_c(names[i].name))) continue;
        *out = names[i].kind;
        return true;
    }
    return false;
}

/* A member's value when it is there and not null. */
static bool is_present(JsonText value)
{
    return value.kind != JSON_TEXT_NONE && value.kind != JSON_TEXT_NULL;
}

static int64_t i64_or(JsonText object, const char *key, int64_t fallback)
{
    int64_t value;
    return json_text_i64(json_text_find(object, key), &value) ? value : fallback;
}

static bool bool_or(JsonText object, const char *key, bool fallback)
{
    bool value;
    return json_text_bool(json_text_find(object, key), &value) ? value : fallback;
}

/* storageType + pathOrInlineDv, and the offset behind an @ (1.7). */
Str action_dv_id(JsonText body, Arena *arena)
{
    JsonText dv = json_text_find(body, "deletionVector");
    if (!is_present(dv)) return STR_EMPTY;

    Str     type = json_text_str(json_text_find(dv, "storageType"), arena);
    Str     path = json_text_str(json_text_find(dv, "pathOrInlineDv"), arena);
    int64_t offset;
    if (json_text_i64(json_text_find(dv, "offset"), &offset))
        return str_printf(arena, "%.*s%.*s@%lld", STR_ARG(type), STR_ARG(path), (long long)offset);
    return str_printf(arena, "%.*s%.*s", STR_ARG(type), STR_ARG(path));
}

/* The members of `body` that `names` lists, as text, without null and empty ones. */
static Str collect_members(JsonText body, const char *const *names, size_t name_count, Arena *arena)
{
    Buf      buf = buf_new(arena, 0);
    Str      key;
    JsonText value;

    for (size_t at = 0; json_text_next_member(body, &at, &key, &value);) {
        if (!is_present(value) || str_equal(value.text, STR("{}"))) continue;
        for (size_t i = 0; i < name_count; i++) {
            if (!json_text_key_equals(key, str_from_c(names[i]))) continue;
            if (buf.len > 0) buf_append_char(&buf, ',');
            buf_printf(&buf, "\"%s\":", names[i]);
            buf_append(&buf, value.text);
            break;
        }
    }
    return buf_str(&buf);
}

int64_t stats_row_count(Str stats)
{
    const Str usual = STR("{\"numRecords\":");
    JsonText  object;
    size_t    bad_at;
    int64_t   count;

    if (str_starts_with(stats, usual)) { /* nearly every writer's: no need to check the rest */
        size_t end = usual.len;
        while (end < stats.len && stats.ptr[end] >= '0' && stats.ptr[end] <= '9')
            end++;
        bool ends = end < stats.len && (stats.ptr[end] == ',' || stats.ptr[end] == '}');
        return ends && str_parse_i64(str_slice(stats, usual.len, end), &count) ? count : -1;
    }
    if (stats.len == 0 || !json_text_parse(stats, &object, &bad_at)) return -1;
    count = i64_or(object, "numRecords", -1);
    return count < 0 ? -1 : count;
}

static const char *parse_add(JsonText body, Arena *arena, AddAction *out)
{
    const char *const kept[] = {"partitionValues",         "tags",
                                "deletionVector",          "baseRowId",
                                "defaultRowCommitVersion", "clusteringProvider"};

    *out = (AddAction){
        .path        = json_text_str(json_text_find(body, "path"), arena),
        .dv_id       = action_dv_id(body, arena),
        .size_bytes  = i64_or(body, "size", -1),
        .modified_ms = i64_or(body, "modificationTime", 0),
        .data_change = bool_or(body, "dataChange", true),
        .stats       = json_text_str(json_text_find(body, "stats"), arena),
        .extra       = collect_members(body, kept, COUNT_OF(kept), arena),
    };
    out->row_count = stats_row_count(out->stats);
    if (out->path.len == 0) return "an add without a path";
    if (out->size_bytes < 0) return "an add without a size";
    return NULL;
}

static const char *parse_remove(JsonText body, Arena *arena, RemoveAction *out)
{
    const char *const kept[] = {
        "extendedFileMetadata", "partitionValues", "size",
        "deletionVector",       "baseRowId",       "defaultRowCommitVersion"};

    *out = (RemoveAction){
        .path        = json_text_str(json_text_find(body, "path"), arena),
        .dv_id       = action_dv_id(body, arena),
        .deletion_ms = i64_or(body, "deletionTimestamp", 0),
        .data_change = bool_or(body, "dataChange", true),
        .members     = collect_members(body, kept, COUNT_OF(kept), arena),
    };
    return out->path.len == 0 ? "a remove without a path" : NULL;
}

static const char *parse_txn(JsonText body, Arena *arena, TxnAction *out)
{
    JsonText app_id = json_text_find(body, "appId");

    *out = (TxnAction){.app_id          = json_text_str(app_id, arena),
                       .last_updated_ms = i64_or(body, "lastUpdated", -1)};
    if (app_id.kind != JSON_TEXT_STRING) return "a txn without an appId";
    if (!json_text_i64(json_text_find(body, "version"), &out->version))
        return "a txn without a version";
    return NULL;
}

static const char *parse_domain(JsonText body, Arena *arena, DomainAction *out)
{
    *out = (DomainAction){
        .domain        = json_text_str(json_text_find(body, "domain"), arena),
        .configuration = json_text_str(json_text_find(body, "configuration"), arena),
        .is_removed    = bool_or(body, "removed", false),
    };
    return out->domain.len == 0 ? "a domainMetadata without a domain" : NULL;
}

static Str raw_object(JsonText body, const char *key)
{
    JsonText value = json_text_find(body, key);
    return is_present(value) ? value.text : STR("{}");
}

static void parse_commit_info(JsonText body, Arena *arena, CommitInfo *out)
{
    *out = (CommitInfo){
        .timestamp_ms    = i64_or(body, "timestamp", -1),
        .in_commit_ms    = i64_or(body, "inCommitTimestamp", -1),
        .operation       = json_text_str(json_text_find(body, "operation"), arena),
        .user_metadata   = json_text_str(json_text_find(body, "userMetadata"), arena),
        .engine_info     = json_text_str(json_text_find(body, "engineInfo"), arena),
        .txn_id          = json_text_str(json_text_find(body, "txnId"), arena),
        .parameters      = raw_object(body, "operationParameters"),
        .metrics         = raw_object(body, "operationMetrics"),
        .is_blind_append = bool_or(body, "isBlindAppend", false),
    };
}

/* NULL, or what is wrong. */
static const char *parse_body(ActionKind kind, JsonText body, Arena *arena, Action *out)
{
    *out = (Action){.kind = kind};
    switch (kind) {
    case ACTION_ADD: return parse_add(body, arena, &out->add);
    case ACTION_REMOVE: return parse_remove(body, arena, &out->remove);
    case ACTION_TXN: return parse_txn(body, arena, &out->txn);
    case ACTION_DOMAIN: return parse_domain(body, arena, &out->domain);
    case ACTION_COMMIT_INFO: parse_commit_info(body, arena, &out->commit_info); return NULL;
    case ACTION_METADATA:
    case ACTION_PROTOCOL:
    case ACTION_CDC:
    case ACTION_CHECKPOINT_METADATA:
    case ACTION_SIDECAR:
    case ACTION_ADAPTIVE: out->body = body; return NULL;
    }
    return NULL;
}

/* The next line that is not blank becomes the reader's object. */
static bool next_line(ActionReader *reader, bool *found_out, Err *err)
{
    Str    line;
    size_t bad_at;

    *found_out = false;
    while (reader->rest.len > 0) {
        const char *end = memchr(reader->rest.ptr, '\n', reader->rest.len);
        size_t      len = end ? (size_t)(end - reader->rest.ptr) : reader->rest.len;

        line         = str_slice(reader->rest, 0, len);
        reader->rest = str_slice(reader->rest, len + (end != NULL), reader->rest.len);
        reader->line++;
        if (str_trim(line).len > 0) {
            if (!utf8_is_valid(line))
                return err_set(err, ERR_DAMAGED, "DELTA-L09 %.*s: line %zu is not UTF-8",
                               STR_ARG(reader->file), reader->line);
            if (!json_text_parse(line, &reader->object, &bad_at) ||
                reader->object.kind != JSON_TEXT_OBJECT)
                return err_set(err, ERR_DAMAGED,
                               "DELTA-L09 %.*s: line %zu is no JSON object (byte %zu of the file)",
                               STR_ARG(reader->file), reader->line, reader->offset + bad_at);
            reader->at = 0;
            *found_out = reader->has_object = true;
            reader->offset += len + 1;
            return true;
        }
        reader->offset += len + 1;
    }
    return true;
}

bool action_next(ActionReader *reader, bool *found_out, Action *out, Err *err)
{
    Str        key;
    JsonText   value;
    ActionKind kind;

    for (;;) {
        while (reader->has_object &&
               json_text_next_member(reader->object, &reader->at, &key, &value)) {
            if (!find_kind(key, &kind) || value.kind == JSON_TEXT_NULL) continue;

            const char *wrong = value.kind != JSON_TEXT_OBJECT
                                    ? "an action that is no object"
                                    : parse_body(kind, value, reader->arena, out);
            if (wrong)
                return err_set(err, ERR_DAMAGED, "DELTA-L09 %.*s: line %zu has %s",
                               STR_ARG(reader->file), reader->line, wrong);
            return *found_out = true;
        }
        reader->has_object = false;
        if (!next_line(reader, found_out, err)) return false;
        if (!*found_out) return true;
    }
}
