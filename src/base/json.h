/* json.h - writing JSON text in the two spacings the state needs (state.md 1). Reading is jansson's
 * job.
 *
 * The peer library writes JSON through Python's json.dumps: ", " and ": " by default, "," and
 * ":" for micro-batch commits, and everything outside ASCII as \uXXXX (surrogate pairs above the
 * BMP). */
#ifndef TIDELAKE_BASE_JSON_H
#define TIDELAKE_BASE_JSON_H

#include "base/buf.h"

typedef struct JsonWriter {
    Buf *buf;
    bool spaced;      /* ", " and ": " */
    bool ascii;       /* escape everything outside ASCII */
    bool needs_comma; /* internal */
} JsonWriter;

JsonWriter json_writer(Buf *buf, bool spaced, bool ascii);

void json_object_begin(JsonWriter *json);
void json_object_end(JsonWriter *json);
void json_array_begin(JsonWriter *json);
void json_array_end(JsonWriter *json);
void json_key(JsonWriter *json, Str key);
void json_str(JsonWriter *json, Str value);
void json_i64(JsonWriter *json, int64_t value);
/* shortest text that reads back; NaN and infinities as null */
void json_double(JsonWriter *json, double value);
void json_bool(JsonWriter *json, bool value);
void json_null_value(JsonWriter *json); /* jansson has a json_null of its own */
/* text that is JSON already, e.g. a number kept as it was */
void json_raw(JsonWriter *json, Str text);
/* Shorthands for members of an object. */
void json_member_str(JsonWriter *json, const char *key, Str value);
void json_member_i64(JsonWriter *json, const char *key, int64_t value);
void json_member_double(JsonWriter *json, const char *key, double value);
void json_member_bool(JsonWriter *json, const char *key, bool value);
void json_member_null(JsonWriter *json, const char *key);

/* Shortest decimal text that reads back as the same double, in Python's repr form ("0.1",
 * "1e+300", "5.0"). */
size_t double_format_shortest(double value, char out[32]);

#endif
