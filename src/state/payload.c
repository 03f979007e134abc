/* payload.c - JSON texts in commits and facts: written byte by byte, read through jansson. */
#include "state/payload.h"

#include "base/json.h"

#include <jansson.h>
#include <string.h>

#define PAYLOAD_LIMIT_BYTES ((size_t)1 << 20)

static void member_lsn(JsonWriter *json, const char *key, OptLsn lsn)
{
    if (lsn.is_set)
        json_member_str(json, key, str_from_c(lsn_format(lsn.lsn).text));
    else
        json_member_null(json, key);
}

static void member_time(JsonWriter *json, Arena *arena, const char *key, OptTime time)
{
    if (time.is_set)
        json_member_str(json, key, time_format_ms(arena, time.utc_us));
    else
        json_member_null(json, key);
}

Str payload_batch(Arena *arena, const BatchCounts *counts, int64_t batch_id, Str sink_id)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, false, true);

    json_object_begin(&json);
    json_member_i64(&json, "rows", counts->rows);
    member_lsn(&json, "min_lsn", counts->min_lsn);
    member_lsn(&json, "max_lsn", counts->max_lsn);
    member_time(&json, arena, "min_commit_ts", counts->min_commit_ts);
    member_time(&json, arena, "max_commit_ts", counts->max_commit_ts);
    json_member_i64(&json, "deletes", counts->deletes);
    json_member_i64(&json, "inserts", counts->inserts);
    json_member_i64(&json, "updates", counts->updates);
    json_member_i64(&json, "batch_id", batch_id);
    json_member_str(&json, "app_id", sink_id);
    json_object_end(&json);
    return buf_str(&buf);
}

/* --- reading --- */

static bool get_i64(const json_t *object, const char *key, int64_t *out)
{
    json_t *value = json_object_get(object, key);

    if (!json_is_integer(value)) return false;
    *out = json_integer_value(value);
    return true;
}

static Str get_str(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_string(value) ? (Str){json_string_value(value), json_string_length(value)}
                                 : STR_EMPTY;
}

/* NULL or absent is unset; a text that is no LSN makes the whole payload unusable. */
static bool get_lsn(const json_t *object, const char *key, OptLsn *out)
{
    Str text = get_str(object, key);

    *out = (OptLsn){.is_set = false};
    if (str_is_empty(text)) return true;
    out->is_set = lsn_parse(text, &out->lsn);
    return out->is_set;
}

static bool get_time(const json_t *object, const char *key, OptTime *out)
{
    Str text = get_str(object, key);

    *out = (OptTime){.is_set = false};
    if (str_is_empty(text)) return true;
    out->is_set = time_parse(text, &out->utc_us);
    return out->is_set;
}

bool payload_parse_batch(Str text, Str sink_id, int64_t batch_id, BatchCounts *out)
{
    json_t *object   = str_is_empty(text) ? NULL
                                          : json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, NULL);
    int64_t found_id = -1;
    bool    ok;

    *out = (BatchCounts){0};
    ok = json_is_object(object) && get_i64(object, "batch_id", &found_id) && found_id == batch_id &&
         str_equal(get_str(object, "app_id"), sink_id) && get_i64(object, "rows", &out->rows) &&
         get_i64(object, "deletes", &out->deletes) && get_i64(object, "inserts", &out->inserts) &&
         get_i64(object, "updates", &out->updates) && get_lsn(object, "min_lsn", &out->min_lsn) &&
         get_lsn(object, "max_lsn", &out->max_lsn) &&
         get_time(object, "min_commit_ts", &out->min_commit_ts) &&
         get_time(object, "max_commit_ts", &out->max_commit_ts);
    json_decref(object);
    return ok;
}

static Str whole_payload(Arena *arena, const char *kind, Str capture_instance, const Offset *at)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    json_member_str(&json, kind, capture_instance);
    json_member_str(&json, "lsn", lsn_str(arena, at->lsn));
    json_member_str(&json, "commit_ts",
                    at->commit_ts.is_set ? time_format_ms(arena, at->commit_ts.utc_us) : STR_EMPTY);
    json_object_end(&json);
    return buf_str(&buf);
}

Str payload_snapshot(Arena *arena, Str capture_instance, const Offset *at)
{
    return whole_payload(arena, "snapshot", capture_instance, at);
}

Str payload_seed(Arena *arena, Str capture_instance, const Offset *at)
{
    return whole_payload(arena, "seed", capture_instance, at);
}

Str payload_full_open(Arena *arena, int64_t generation)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    json_member_str(&json, "mode", STR("full"));
    json_member_str(&json, "kind", STR("bootstrap"));
    json_member_i64(&json, "generation", generation);
    json_member_null(&json, "lost_from_ts");
    json_member_null(&json, "lost_to_ts");
    json_object_end(&json);
    return buf_str(&buf);
}

bool payload_parse_open(Str text, OpenDetail *out)
{
    json_t *object = str_is_empty(text) ? NULL
                                        : json_loadb(text.ptr, text.len, JSON_ALLOW_NUL, NULL);
    bool    ok     = json_is_object(object);
    int64_t generation;

    *out = (OpenDetail){.is_full = ok && str_equal_c(get_str(object, "mode"), "full")};
    if (ok && get_i64(object, "generation", &generation)) out->generation = OPT_I64(generation);
    if (ok && json_object_get(object, "kind"))
        out->is_resnapshot = str_equal_c(get_str(object, "kind"), "resnapshot");
    else
        out->is_resnapshot = out->generation.is_set && out->generation.value > 0;
    json_decref(object);
    return ok;
}

Str payload_skip(Arena *arena, Lsn from, Lsn to, Str reason)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    json_member_str(&json, "from", lsn_str(arena, from));
    json_member_str(&json, "to", lsn_str(arena, to));
    json_member_bool(&json, "certain", reason.len == 0);
    if (reason.len) json_member_str(&json, "reason", reason);
    json_object_end(&json);
    return buf_str(&buf);
}

bool payload_has_key_values(Str event, Str detail)
{
    static const struct {
        const char *event, *first, *second;
    } moved[]      = {{"snapshot_open", "keys", "plan"},
                      {"snapshot_plan", "chunks", "chunks"},
                      {"snapshot_chunk", "lo", "hi"}};
    json_t *object = str_is_empty(detail)
                         ? NULL
                         : json_loadb(detail.ptr, detail.len, JSON_ALLOW_NUL, NULL);
    bool    found  = false;

    for (size_t i = 0; object && i < COUNT_OF(moved); i++)
        if (str_equal_c(event, moved[i].event))
            found = json_object_get(object, moved[i].first) ||
                    json_object_get(object, moved[i].second);
    json_decref(object);
    return found;
}

Str payload_warnings(Arena *arena, const Str *warnings, size_t count)
{
    Buf        buf;
    JsonWriter json;

    if (count == 0) return STR_EMPTY;
    buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    json = json_writer(&buf, true, true);
    json_object_begin(&json);
    json_key(&json, STR("warnings"));
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++)
        json_str(&json, warnings[i]);
    json_array_end(&json);
    json_object_end(&json);
    return buf_str(&buf);
}
