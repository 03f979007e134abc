/* payload_staged.c - the wave's tag, and what no tag tells. */
#include "state/payload_staged.h"

#include "base/json.h"
#include "delta/json_text.h"

#define FORM INT64_C(1)

static void member_time(JsonWriter *json, const char *key, OptTime time)
{
    if (time.is_set)
        json_member_i64(json, key, time.utc_us);
    else
        json_member_null(json, key);
}

Str payload_staged(Arena *arena, const StagedWave *wave)
{
    Buf        buf  = buf_new(arena, (size_t)256 << 20);
    JsonWriter json = json_writer(&buf, false, false);

    json_object_begin(&json);
    json_member_i64(&json, "form", FORM);
    json_key(&json, STR("tag"));
    json_raw(&json, payload_wave_tag(arena, &wave->tag));
    member_time(&json, "stamp_us", wave->stamp_ts);
    json_member_i64(&json, "started_us", wave->started_us);
    json_member_i64(&json, "sealed_us", wave->sealed_us);
    json_member_str(&json, "read", wave->read);
    json_object_end(&json);
    return buf_str(&buf);
}

static bool get_time(JsonText object, const char *key, OptTime *out)
{
    JsonText value = json_text_find(object, key);

    out->is_set = json_text_i64(value, &out->utc_us);
    return out->is_set || value.kind == JSON_TEXT_NULL;
}

bool payload_parse_staged(Str text, Arena *arena, StagedWave *out)
{
    JsonText object;
    size_t   bad_at;
    int64_t  form;

    *out = (StagedWave){0};
    if (!json_text_parse(text, &object, &bad_at) ||
        !json_text_i64(json_text_find(object, "form"), &form) || form != FORM)
        return false;
    out->read = json_text_str(json_text_find(object, "read"), arena);
    return out->read.ptr &&
           payload_parse_wave_tag(json_text_find(object, "tag").text, arena, &out->tag) &&
           get_time(object, "stamp_us", &out->stamp_ts) &&
           json_text_i64(json_text_find(object, "started_us"), &out->started_us) &&
           json_text_i64(json_text_find(object, "sealed_us"), &out->sealed_us);
}
