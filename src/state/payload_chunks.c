/* payload_chunks.c - written member by member; read by slices, so that a bound keeps its bytes. */
#include "state/payload_chunks.h"

#include "base/json.h"
#include "base/list.h"
#include "delta/json_text.h"

#include <math.h>

#define PAYLOAD_LIMIT_BYTES ((size_t)256 << 20) /* a plan of millions of chunks */

/* --- writing --- */

static void member_lsn(JsonWriter *json, Arena *arena, const char *key, Lsn lsn)
{
    json_member_str(json, key, lsn_str(arena, lsn));
}

static void member_time(JsonWriter *json, Arena *arena, const char *key, OptTime time)
{
    if (time.is_set)
        json_member_str(json, key, time_format_ms(arena, time.utc_us));
    else
        json_member_null(json, key);
}

static void member_raw(JsonWriter *json, const char *key, Str text)
{
    json_key(json, str_from_c(key));
    json_raw(json, text);
}

static void member_double(JsonWriter *json, const char *key, double value)
{
    if (isnan(value))
        json_member_null(json, key);
    else
        json_member_double(json, key, value);
}

static void member_keys(JsonWriter *json, const Str *keys, size_t count)
{
    json_key(json, STR("keys"));
    json_array_begin(json);
    for (size_t i = 0; i < count; i++)
        json_str(json, keys[i]);
    json_array_end(json);
}

static Str kind_name(bool is_integer)
{
    return is_integer ? STR("int") : STR("keyset");
}

static void member_extent(JsonWriter *json, const SnapshotExtent *extent)
{
    json_key(json, STR("plan"));
    json_object_begin(json);
    json_member_str(json, "kind", kind_name(extent->is_integer));
    if (extent->is_integer) {
        json_member_i64(json, "lo", extent->lo);
        json_member_i64(json, "hi", extent->hi);
        json_member_i64(json, "rows", extent->row_estimate);
    } else {
        member_raw(json, "max", extent->max);
    }
    json_object_end(json);
}

Str payload_chunked_open(Arena *arena, const ChunkedOpen *open, bool with_bounds)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    json_member_str(&json, "mode", STR("chunked"));
    json_member_str(&json, "kind", open->is_resnapshot ? STR("resnapshot") : STR("bootstrap"));
    if (open->generation.is_set)
        json_member_i64(&json, "generation", open->generation.value);
    else
        json_member_null(&json, "generation");
    member_time(&json, arena, "lost_from_ts", open->lost_from_ts);
    member_time(&json, arena, "lost_to_ts", open->lost_to_ts);
    if (open->switch_batch_id.is_set)
        json_member_i64(&json, "switch_batch_id", open->switch_batch_id.value);
    if (with_bounds) {
        member_keys(&json, open->keys, open->key_count);
        member_extent(&json, &open->extent);
    }
    json_object_end(&json);
    return buf_str(&buf);
}

Str payload_chunk_plan(Arena *arena, const ChunkPlanPayload *plan, bool with_bounds)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    member_lsn(&json, arena, "snapshot", plan->snapshot);
    json_member_str(&json, "kind", kind_name(plan->is_integer));
    member_keys(&json, plan->keys, plan->key_count);
    json_member_i64(&json, "chunk_rows", plan->chunk_rows);
    if (with_bounds) {
        json_key(&json, STR("chunks"));
        json_array_begin(&json);
        for (size_t i = 0; i < plan->chunk_count; i++) {
            json_array_begin(&json);
            json_raw(&json, plan->chunks[i].lo);
            json_raw(&json, plan->chunks[i].hi);
            json_array_end(&json);
        }
        json_array_end(&json);
    }
    json_member_i64(&json, "chunk_count", (int64_t)plan->chunk_count);
    json_object_end(&json);
    return buf_str(&buf);
}

Str payload_chunk(Arena *arena, const ChunkPayload *chunk, bool with_bounds)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    member_lsn(&json, arena, "snapshot", chunk->snapshot.lsn);
    json_member_i64(&json, "wave", chunk->wave);
    json_member_i64(&json, "chunk", chunk->chunk);
    if (with_bounds) {
        member_raw(&json, "lo", chunk->bounds.lo);
        member_raw(&json, "hi", chunk->bounds.hi);
    }
    json_member_bool(&json, "last", chunk->is_last);
    json_object_end(&json);
    return buf_str(&buf);
}

Str payload_chunks_done(Arena *arena, Lsn snapshot, int64_t chunks, int64_t rows, Lsn last_lsn)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    member_lsn(&json, arena, "snapshot", snapshot);
    json_member_i64(&json, "chunks", chunks);
    json_member_i64(&json, "rows", rows);
    member_lsn(&json, arena, "last_lsn", last_lsn);
    json_object_end(&json);
    return buf_str(&buf);
}

static void write_tag_chunk(JsonWriter *json, Arena *arena, const TagChunk *chunk)
{
    json_object_begin(json);
    json_member_i64(json, "chunk", chunk->chunk);
    member_raw(json, "lo", chunk->bounds.lo);
    member_raw(json, "hi", chunk->bounds.hi);
    json_member_bool(json, "last", chunk->is_last);
    if (chunk->rows.is_set)
        json_member_i64(json, "rows", chunk->rows.value);
    else
        json_member_null(json, "rows");
    if (chunk->high_lsn.is_set)
        member_lsn(json, arena, "high_lsn", chunk->high_lsn.lsn);
    else
        json_member_null(json, "high_lsn");
    member_double(json, "read_seconds", chunk->read_seconds);
    member_double(json, "read_mb", chunk->read_mb);
    json_object_end(json);
}

Str payload_wave_tag(Arena *arena, const WaveTag *tag)
{
    Buf        buf  = buf_new(arena, PAYLOAD_LIMIT_BYTES);
    JsonWriter json = json_writer(&buf, true, true);

    json_object_begin(&json);
    json_member_str(&json, "backfill", tag->key);
    json_member_i64(&json, "wave", tag->wave);
    member_lsn(&json, arena, "lsn", tag->stamp);
    json_member_str(&json, "attempt", tag->attempt);
    json_key(&json, STR("chunks"));
    json_array_begin(&json);
    for (size_t i = 0; i < tag->chunk_count; i++)
        write_tag_chunk(&json, arena, &tag->chunks[i]);
    json_array_end(&json);
    json_object_end(&json);
    return buf_str(&buf);
}

/* --- reading --- */

static bool parse_object(Str text, JsonText *out)
{
    size_t bad_at;

    return json_text_parse(text, out, &bad_at) && out->kind == JSON_TEXT_OBJECT;
}

static bool get_i64(JsonText object, const char *key, int64_t *out)
{
    return json_text_i64(json_text_find(object, key), out);
}

static OptI64 find_i64(JsonText object, const char *key)
{
    int64_t value;

    return get_i64(object, key, &value) ? OPT_I64(value) : (OptI64){.is_set = false};
}

static bool get_lsn(JsonText object, const char *key, Arena *arena, Lsn *out)
{
    JsonText value = json_text_find(object, key);

    return value.kind == JSON_TEXT_STRING && lsn_parse(json_text_str(value, arena), out);
}

static OptTime find_time(JsonText object, const char *key, Arena *arena)
{
    JsonText value = json_text_find(object, key);
    OptTime  time  = {.is_set = false};

    if (value.kind == JSON_TEXT_STRING)
        time.is_set = time_parse(json_text_str(value, arena), &time.utc_us);
    return time;
}

static bool find_bool(JsonText object, const char *key)
{
    bool value;

    return json_text_bool(json_text_find(object, key), &value) && value;
}

static double find_double(JsonText object, const char *key)
{
    JsonText value = json_text_find(object, key);
    double   number;

    return value.kind == JSON_TEXT_NUMBER && str_parse_double(value.text, &number) ? number : NAN;
}

static bool is_text(JsonText object, const char *key, const char *want, Arena *arena)
{
    JsonText value = json_text_find(object, key);

    return value.kind == JSON_TEXT_STRING && str_equal_c(json_text_str(value, arena), want);
}

static bool get_keys(JsonText object, Arena *arena, const Str **out, size_t *count_out)
{
    JsonText array = json_text_find(object, "keys"), item;
    LIST(Str) keys = {0};

    if (array.kind != JSON_TEXT_ARRAY) return false;
    for (size_t at = 0; json_text_next_item(array, &at, &item);) {
        if (item.kind != JSON_TEXT_STRING) return false;
        *LIST_PUSH(arena, &keys) = json_text_str(item, arena);
    }
    *out       = keys.items;
    *count_out = keys.count;
    return true;
}

/* An absent bound is damage, never an open one. */
static bool get_bounds(JsonText object, ChunkBounds *out)
{
    JsonText lo = json_text_find(object, "lo"), hi = json_text_find(object, "hi");

    *out = (ChunkBounds){lo.text, hi.text};
    return lo.kind != JSON_TEXT_NONE && hi.kind != JSON_TEXT_NONE;
}

static bool get_extent(JsonText object, Arena *arena, SnapshotExtent *out)
{
    JsonText extent = json_text_find(object, "plan");

    *out = (SnapshotExtent){.is_integer = is_text(extent, "kind", "int", arena), .max = BOUND_OPEN};
    if (extent.kind != JSON_TEXT_OBJECT) return false;
    if (out->is_integer)
        return get_i64(extent, "lo", &out->lo) && get_i64(extent, "hi", &out->hi) &&
               get_i64(extent, "rows", &out->row_estimate);
    JsonText max = json_text_find(extent, "max");
    if (max.kind == JSON_TEXT_NONE) return false;
    out->max = max.text;
    return true;
}

bool payload_parse_chunked_open(Str text, Arena *arena, ChunkedOpen *out)
{
    JsonText object;

    *out = (ChunkedOpen){.extent.max = BOUND_OPEN};
    if (!parse_object(text, &object) || is_text(object, "mode", "full", arena)) return false;
    out->generation = find_i64(object, "generation");
    if (json_text_find(object, "kind").kind == JSON_TEXT_NONE)
        out->is_resnapshot = out->generation.is_set && out->generation.value > 0;
    else
        out->is_resnapshot = is_text(object, "kind", "resnapshot", arena);
    out->lost_from_ts    = find_time(object, "lost_from_ts", arena);
    out->lost_to_ts      = find_time(object, "lost_to_ts", arena);
    out->switch_batch_id = find_i64(object, "switch_batch_id");
    out->has_bounds      = json_text_find(object, "keys").kind != JSON_TEXT_NONE ||
                      json_text_find(object, "plan").kind != JSON_TEXT_NONE;
    return !out->has_bounds || (get_keys(object, arena, &out->keys, &out->key_count) &&
                                get_extent(object, arena, &out->extent));
}

static bool get_chunks(JsonText array, Arena *arena, ChunkPlanPayload *out)
{
    LIST(ChunkBounds) chunks = {0};
    JsonText pair, item;

    if (array.kind != JSON_TEXT_ARRAY) return false;
    for (size_t at = 0; json_text_next_item(array, &at, &pair);) {
        Str    ends[2];
        size_t n = 0;

        if (pair.kind != JSON_TEXT_ARRAY) return false;
        for (size_t in = 0; json_text_next_item(pair, &in, &item); n++) {
            if (n == 2) return false;
            ends[n] = item.text;
        }
        if (n != 2) return false;
        *LIST_PUSH(arena, &chunks) = (ChunkBounds){ends[0], ends[1]};
    }
    out->chunks      = chunks.items;
    out->chunk_count = chunks.count;
    return chunks.count > 0;
}

bool payload_parse_chunk_plan(Str text, Arena *arena, ChunkPlanPayload *out)
{
    JsonText object, chunks;
    int64_t  count = -1;

    *out = (ChunkPlanPayload){0};
    if (!parse_object(text, &object) || !get_lsn(object, "snapshot", arena, &out->snapshot) ||
        !get_keys(object, arena, &out->keys, &out->key_count) ||
        !get_i64(object, "chunk_rows", &out->chunk_rows))
        return false;
    out->is_integer = is_text(object, "kind", "int", arena);
    chunks          = json_text_find(object, "chunks");
    out->has_bounds = chunks.kind != JSON_TEXT_NONE;
    if (out->has_bounds) return get_chunks(chunks, arena, out);
    if (!get_i64(object, "chunk_count", &count) || count < 1) return false;
    out->chunk_count = (size_t)count;
    return true;
}

bool payload_parse_chunk(Str text, Arena *arena, ChunkPayload *out)
{
    JsonText object;

    *out = (ChunkPayload){.bounds = {BOUND_OPEN, BOUND_OPEN}};
    if (!parse_object(text, &object) || !get_i64(object, "wave", &out->wave) ||
        !get_i64(object, "chunk", &out->chunk))
        return false;
    out->snapshot.is_set = get_lsn(object, "snapshot", arena, &out->snapshot.lsn);
    out->is_last         = find_bool(object, "last");
    out->has_bounds      = json_text_find(object, "lo").kind != JSON_TEXT_NONE ||
                      json_text_find(object, "hi").kind != JSON_TEXT_NONE;
    return !out->has_bounds || get_bounds(object, &out->bounds);
}

static bool get_tag_chunk(JsonText object, Arena *arena, TagChunk *out)
{
    if (object.kind != JSON_TEXT_OBJECT || !get_i64(object, "chunk", &out->chunk) ||
        !get_bounds(object, &out->bounds))
        return false;
    out->is_last         = find_bool(object, "last");
    out->rows            = find_i64(object, "rows");
    out->high_lsn.is_set = get_lsn(object, "high_lsn", arena, &out->high_lsn.lsn);
    out->read_seconds    = find_double(object, "read_seconds");
    out->read_mb         = find_double(object, "read_mb");
    return true;
}

bool payload_parse_wave_tag(Str text, Arena *arena, WaveTag *out)
{
    LIST(TagChunk) chunks = {0};
    JsonText object, array, item;

    *out = (WaveTag){0};
    if (!parse_object(text, &object)) return false;
    out->key     = json_text_str(json_text_find(object, "backfill"), arena);
    out->attempt = json_text_str(json_text_find(object, "attempt"), arena);
    array        = json_text_find(object, "chunks");
    if (!out->key.ptr || !out->attempt.ptr || array.kind != JSON_TEXT_ARRAY ||
        !get_i64(object, "wave", &out->wave) || !get_lsn(object, "lsn", arena, &out->stamp))
        return false;
    for (size_t at = 0; json_text_next_item(array, &at, &item);)
        if (!get_tag_chunk(item, arena, LIST_PUSH(arena, &chunks))) return false;
    out->chunks      = chunks.items;
    out->chunk_count = chunks.count;
    return true;
}
