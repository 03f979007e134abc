/* json_text.h - reading JSON without changing a byte of it (delta.md 1.5).
 *
 * The log's JSON comes from many writers, and much of it has to be handed on exactly as it
 * stands: statistics with 38-digit numbers, metadata with keys we do not know. A parser that
 * builds values loses digits and refuses numbers that do not fit, so this one checks a text once
 * and then walks it: every value is a slice of the original. */
#ifndef TIDELAKE_DELTA_JSON_TEXT_H
#define TIDELAKE_DELTA_JSON_TEXT_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum JsonTextKind {
    JSON_TEXT_NONE, /* no value: a member that is absent */
    JSON_TEXT_NULL,
    JSON_TEXT_BOOL,
    JSON_TEXT_NUMBER,
    JSON_TEXT_STRING,
    JSON_TEXT_ARRAY,
    JSON_TEXT_OBJECT,
} JsonTextKind;

/* A checked value, or a part of one: quotes and brackets included. */
typedef struct JsonText {
    JsonTextKind kind;
    Str          text;
} JsonText;

/* The whole of `text` is one JSON value (RFC 8259; blanks around it allowed, nesting to 200). On
 * false `*bad_at` is the offset of the first byte that cannot be. The value borrows `text`. Does
 * not check UTF-8: utf8_is_valid does. */
bool json_text_parse(Str text, JsonText *out, size_t *bad_at) MUST_CHECK;

/* for (size_t at = 0; json_text_next_member(object, &at, &key, &value);) `key` is raw: without
 * quotes, escapes as they stand. */
bool json_text_next_member(JsonText object, size_t *at, Str *key_out, JsonText *value_out);
bool json_text_next_item(JsonText array, size_t *at, JsonText *value_out);
/* The last member of that name, as most parsers have it; kind NONE if there is none or `object`
 * is no object. */
JsonText json_text_find(JsonText object, const char *key);
JsonText json_text_find_str(JsonText object, Str key);
/* Several members in one walk: `values_out[i]` is the one called `names[i]`. */
void json_text_pick(JsonText object, const Str *names, size_t count, JsonText *values_out);
/* A raw key stands for that name. */
bool json_text_key_equals(Str raw_key, Str name);

/* The content of a string, unescaped: a slice when nothing was escaped, else in `arena`. Lone
 * surrogates become U+FFFD. Anything but a string gives a Str with ptr NULL. */
Str json_text_str(JsonText value, Arena *arena);
Str json_text_unescape(Str raw, Arena *arena);
/* A number without fraction and exponent that fits. */
bool json_text_i64(JsonText value, int64_t *out) MUST_CHECK;
bool json_text_bool(JsonText value, bool *out) MUST_CHECK;

#endif
