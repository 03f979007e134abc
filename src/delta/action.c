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

static int64_t i64_of(JsonText value, int64_t fallback)
{
    int64_t number;
    return json_text_i64(value, &number) ? number : fallback;
}

static bool bool_of(JsonText value, bool fallback)
{
    bool truth;
    return json_text_bool(value, &truth) ? truth : fallback;
}

/* storageType + pathOrInlineDv, and the offset behind an @ (1.7). */
static Str dv_id_of(JsonText dv, Arena *arena)
{
    if (!is_present(dv)) return STR_EMPTY;

    Str     type = json_text_str(json_text_find(dv, "storageType"), arena);
    Str     path = json_text_str(json_text_find(dv, "pathOrInlineDv"), arena);
    int64_t offset;
    if (json_text_i64(json_text_find(dv, "offset"), &offset))
        return str_printf(arena, "%.*s%.*s@%lld", STR_ARG(type), STR_ARG(path), (long long)offset);
    return str_printf(arena, "%.*s%.*s", STR_ARG(type), STR_ARG(path));
}

Str action_dv_id(JsonText body, Arena *arena)
{
    return dv_id_of(json_text_find(body, "deletionVector"), arena);
}

/* Members as text, without null and empty ones. */
static Str join_members(const Str *names, const JsonText *values, size_t count, Arena *arena)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < count; i++) {
        if (!is_present(values[i]) || str_equal(values[i].text, STR("{}"))) continue;
        buf_append(&buf, buf.len > 0 ? STR(",\"") : STR("\""));
        buf_append(&buf, names[i]);
        buf_append(&buf, STR("\":"));
        buf_append(&buf, values[i].text);
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
    count = i64_of(json_text_find(object, "numRecords"), -1);
    return count < 0 ? -1 : count;
}

static const char *parse_add(JsonText body, Arena *arena, AddAction *out)
{
    enum { PATH, SIZE, MODIFIED, DATA_CHANGE, STATS, KEPT, VECTOR = KEPT + 2, COUNT = KEPT + 6 };
    const Str names[COUNT] = {
        STR("path"),
        STR("size"),
        STR("modificationTime"),
        STR("dataChange"),
        STR("stats"),
        STR("partitionValues"),
        STR("tags"),
        STR("deletionVector"),
        STR("baseRowId"),
        STR("defaultRowCommitVersion"),
        STR("clusteringProvider"),
    };
    JsonText values[COUNT];

    json_text_pick(body, names, COUNT, values);
    *out = (AddAction){
        .path        = json_text_str(values[PATH], arena),
        .dv_id       = dv_id_of(values[VECTOR], arena),
        .size_bytes  = i64_of(values[SIZE], -1),
        .modified_ms = i64_of(values[MODIFIED], 0),
        .data_change = bool_of(values[DATA_CHANGE], true),
        .stats       = json_text_str(values[STATS], arena),
        .extra       = join_members(names + KEPT, values + KEPT, COUNT - KEPT, arena),
    };
    out->row_count = stats_row_count(out->stats);
    if (out->path.len == 0) return "an add without a path";
    if (out->size_bytes < 0) return "an add without a size";
    return NULL;
}

static const char *parse_remove(JsonText body, Arena *arena, RemoveAction *out)
{
    enum { PATH, DELETED, DATA_CHANGE, KEPT, VECTOR = KEPT + 3, COUNT = KEPT + 6 };
    const Str names[COUNT] = {
        STR("path"),
        STR("deletionTimestamp"),
        STR("dataChange"),
        STR("extendedFileMetadata"),
        STR("partitionValues"),
        STR("size"),
        STR("deletionVector"),
        STR("baseRowId"),
        STR("defaultRowCommitVersion"),
    };
    JsonText values[COUNT];

    json_text_pick(body, names, COUNT, values);
    *out = (RemoveAction){
        .path        = json_text_str(values[PATH], arena),
        .dv_id       = dv_id_of(values[VECTOR], arena),
        .deletion_ms = i64_of(values[DELETED], 0),
        .data_change = bool_of(values[DATA_CHANGE], true),
        .members     = join_members(names + KEPT, values + KEPT, COUNT - KEPT, arena),
    };
    return out->path.len == 0 ? "a remove without a path" : NULL;
}

static const char *parse_txn(JsonText body, Arena *arena, TxnAction *out)
{
    JsonText app_id = json_text_find(body, "appId");

    *out = (TxnAction){.app_id          = json_text_str(app_id, arena),
                       .last_updated_ms = i64_of(json_text_find(body, "lastUpdated"), -1)};
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
        .is_removed    = bool_of(json_text_find(body, "removed"), false),
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
        .timestamp_ms    = i64_of(json_text_find(body, "timestamp"), -1),
        .in_commit_ms    = i64_of(json_text_find(body, "inCommitTimestamp"), -1),
        .operation       = json_text_str(json_text_find(body, "operation"), arena),
        .user_metadata   = json_text_str(json_text_find(body, "userMetadata"), arena),
        .engine_info     = json_text_str(json_text_find(body, "engineInfo"), arena),
        .txn_id          = json_text_str(json_text_find(body, "txnId"), arena),
        .parameters      = raw_object(body, "operationParameters"),
        .metrics         = raw_object(body, "operationMetrics"),
        .is_blind_append = bool_of(json_text_find(body, "isBlindAppend"), false),
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
                return err_set(err, ERR_DAMAGED,
                               "DELTA-L09 %.*s: line %zu is not UTF-8 (from byte %zu of the file)",
                               STR_ARG(reader->file), reader->line, reader->offset);
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
