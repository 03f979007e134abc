/* Statistics as text, value by value, for libduckdb to cast: its own JSON functions would take
 * decimals through floating point. */
#include "delta/typed_stats.h"

#include "base/json.h"
#include "delta/json_text.h"
#include "duck/duck_checkpoint.h"

static void write_bounds(JsonWriter *json, const char *key, JsonText values, const Schema *stored,
                         Arena *scratch)
{
    Str      raw;
    JsonText value;

    json_key(json, str_from_c(key));
    json_object_begin(json);
    for (size_t at = 0; json_text_next_member(values, &at, &raw, &value);) {
        ptrdiff_t column = schema_find(stored, json_text_unescape(raw, scratch));
        if (column < 0 || !duck_checkpoint_has_bounds(stored->columns[column].type)) continue;
        if (value.kind != JSON_TEXT_STRING && value.kind != JSON_TEXT_NUMBER) continue;
        json_key(json, str_printf(scratch, "c%td", column));
        json_str(json, value.kind == JSON_TEXT_STRING ? json_text_str(value, scratch) : value.text);
    }
    json_object_end(json);
}

static void write_nulls(JsonWriter *json, JsonText values, const Schema *stored, Arena *scratch)
{
    Str      raw;
    JsonText value;
    int64_t  count;

    json_key(json, STR("nulls"));
    json_object_begin(json);
    for (size_t at = 0; json_text_next_member(values, &at, &raw, &value);) {
        ptrdiff_t column = schema_find(stored, json_text_unescape(raw, scratch));
        if (column < 0 || !json_text_i64(value, &count)) continue;
        json_key(json, str_printf(scratch, "c%td", column));
        json_i64(json, count);
    }
    json_object_end(json);
}

void typed_stats_write(Buf *buf, Str stats, const Schema *stored, Arena *scratch)
{
    JsonText   object;
    size_t     bad_at;
    int64_t    count;
    bool       is_tight;
    JsonWriter json = json_writer(buf, false, false);

    if (!json_text_parse(stats, &object, &bad_at) || object.kind != JSON_TEXT_OBJECT) return;
    buf_append_c(buf, ",\"parsed\":");
    json_object_begin(&json);
    if (json_text_i64(json_text_find(object, "numRecords"), &count))
        json_member_i64(&json, "numRecords", count);
    if (json_text_bool(json_text_find(object, "tightBounds"), &is_tight))
        json_member_bool(&json, "tightBounds", is_tight);
    write_bounds(&json, "min", json_text_find(object, "minValues"), stored, scratch);
    write_bounds(&json, "max", json_text_find(object, "maxValues"), stored, scratch);
    write_nulls(&json, json_text_find(object, "nullCount"), stored, scratch);
    json_object_end(&json);
}
