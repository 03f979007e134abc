/* One pass that checks, then walks that trust what was checked. */
#include "delta/json_text.h"

#include "base/buf.h"

#include <assert.h>
#include <string.h>

#define MAX_DEPTH 200

typedef struct Scan {
    const char *ptr;
    size_t      len;
    size_t      at;
    int         depth;
} Scan;

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static void scan_blanks(Scan *scan)
{
    while (scan->at < scan->len && is_blank(scan->ptr[scan->at]))
        scan->at++;
}

static bool scan_char(Scan *scan, char c)
{
    if (scan->at >= scan->len || scan->ptr[scan->at] != c) return false;
    scan->at++;
    return true;
}

static bool scan_word(Scan *scan, const char *word)
{
    for (; *word; word++)
        if (!scan_char(scan, *word)) return false;
    return true;
}

static bool scan_escape(Scan *scan)
{
    if (scan->at >= scan->len) return false;
    if (scan_char(scan, 'u')) {
        for (int i = 0; i < 4; i++, scan->at++)
            if (scan->at >= scan->len || hex_value(scan->ptr[scan->at]) < 0) return false;
        return true;
    }
    if (!strchr("\"\\/bfnrt", scan->ptr[scan->at]) || scan->ptr[scan->at] == '\0') return false;
    scan->at++;
    return true;
}

static bool scan_string(Scan *scan)
{
    if (!scan_char(scan, '"')) return false;
    while (scan->at < scan->len) {
        unsigned char c = (unsigned char)scan->ptr[scan->at];
        if (c < 0x20) return false;
        scan->at++;
        if (c == '"') return true;
        if (c == '\\' && !scan_escape(scan)) return false;
    }
    return false;
}

static bool scan_digits(Scan *scan)
{
    size_t start = scan->at;
    while (scan->at < scan->len && is_digit(scan->ptr[scan->at]))
        scan->at++;
    return scan->at > start;
}

static bool scan_number(Scan *scan)
{
    (void)scan_char(scan, '-');
    if (!scan_char(scan, '0') && !scan_digits(scan)) return false;
    if (scan_char(scan, '.') && !scan_digits(scan)) return false;
    if (scan_char(scan, 'e') || scan_char(scan, 'E')) {
        if (!scan_char(scan, '-')) (void)scan_char(scan, '+');
        if (!scan_digits(scan)) return false;
    }
    return true;
}

static bool scan_value(Scan *scan);

static bool scan_member(Scan *scan)
{
    scan_blanks(scan);
    if (!scan_string(scan)) return false;
    scan_blanks(scan);
    return scan_char(scan, ':') && scan_value(scan);
}

static bool scan_container(Scan *scan, char close, bool (*scan_one)(Scan *scan))
{
    if (++scan->depth > MAX_DEPTH) return false;
    scan->at++;
    scan_blanks(scan);
    if (!scan_char(scan, close)) {
        do {
            if (!scan_one(scan)) return false;
            scan_blanks(scan);
        } while (scan_char(scan, ','));
        if (!scan_char(scan, close)) return false;
    }
    scan->depth--;
    return true;
}

static bool scan_value(Scan *scan)
{
    scan_blanks(scan);
    if (scan->at >= scan->len) return false;
    switch (scan->ptr[scan->at]) {
    case '{': return scan_container(scan, '}', scan_member);
    case '[': return scan_container(scan, ']', scan_value);
    case '"': return scan_string(scan);
    case 't': return scan_word(scan, "true");
    case 'f': return scan_word(scan, "false");
    case 'n': return scan_word(scan, "null");
    default: return scan_number(scan);
    }
}

static JsonTextKind kind_of(char first)
{
    switch (first) {
    case '{': return JSON_TEXT_OBJECT;
    case '[': return JSON_TEXT_ARRAY;
    case '"': return JSON_TEXT_STRING;
    case 't':
    case 'f': return JSON_TEXT_BOOL;
    case 'n': return JSON_TEXT_NULL;
    default: return JSON_TEXT_NUMBER;
    }
}

bool json_text_parse(Str text, JsonText *out, size_t *bad_at)
{
    Scan scan = {.ptr = text.ptr, .len = text.len};

    scan_blanks(&scan);
    size_t start = scan.at;
    bool   ok    = scan_value(&scan);
    size_t end   = scan.at;
    if (ok) {
        scan_blanks(&scan);
        ok = scan.at == scan.len;
    }
    *bad_at = scan.at;
    if (!ok) return false;
    *out = (JsonText){.kind = kind_of(text.ptr[start]), .text = str_slice(text, start, end)};
    return true;
}

/* Past the closing quote of the string whose opening quote stands at `at`. */
static size_t skip_string(Str text, size_t at)
{
    for (at++;; at++) {
        const char *quote = memchr(text.ptr + at, '"', text.len - at);
        size_t      end   = (size_t)(quote - text.ptr);
        size_t      from  = end; /* back over the backslashes before it: an odd number escapes it */
        while (from > at && text.ptr[from - 1] == '\\')
            from--;
        if ((end - from) % 2 == 0) return end + 1;
        at = end;
    }
}

static size_t skip_container(Str text, size_t at)
{
    size_t depth = 0;
    for (;;) {
        switch (text.ptr[at]) {
        case '"': at = skip_string(text, at); continue;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']':
            if (--depth == 0) return at + 1;
            break;
        default: break;
        }
        at++;
    }
}

static size_t skip_value(Str text, size_t at)
{
    switch (text.ptr[at]) {
    case '"': return skip_string(text, at);
    case '{':
    case '[': return skip_container(text, at);
    default:
        while (at < text.len && !is_blank(text.ptr[at]) && !strchr(",]}", text.ptr[at]))
            at++;
        return at;
    }
}

static size_t skip_blanks(Str text, size_t at)
{
    while (is_blank(text.ptr[at]))
        at++;
    return at;
}

static JsonText value_at(Str text, size_t *at)
{
    size_t start = *at;
    *at          = skip_value(text, start);
    return (JsonText){.kind = kind_of(text.ptr[start]), .text = str_slice(text, start, *at)};
}

/* Moves to the next element of a container; false at its end. */
static bool next_element(Str text, size_t *at)
{
    *at = skip_blanks(text, *at == 0 ? 1 : *at);
    if (text.ptr[*at] == ',') *at = skip_blanks(text, *at + 1);
    return text.ptr[*at] != '}' && text.ptr[*at] != ']';
}

bool json_text_next_member(JsonText object, size_t *at, Str *key_out, JsonText *value_out)
{
    if (object.kind != JSON_TEXT_OBJECT || !next_element(object.text, at)) return false;

    size_t key_end = skip_string(object.text, *at);
    *key_out       = str_slice(object.text, *at + 1, key_end - 1);
    *at            = skip_blanks(object.text, key_end);
    assert(object.text.ptr[*at] == ':');
    *at        = skip_blanks(object.text, *at + 1);
    *value_out = value_at(object.text, at);
    return true;
}

bool json_text_next_item(JsonText array, size_t *at, JsonText *value_out)
{
    if (array.kind != JSON_TEXT_ARRAY || !next_element(array.text, at)) return false;
    *value_out = value_at(array.text, at);
    return true;
}

void json_text_pick(JsonText object, const Str *names, size_t count, JsonText *values_out)
{
    JsonText value;
    Str      raw;

    for (size_t i = 0; i < count; i++)
        values_out[i] = (JsonText){.kind = JSON_TEXT_NONE, .text = STR_EMPTY};
    for (size_t at = 0; json_text_next_member(object, &at, &raw, &value);)
        for (size_t i = 0; i < count; i++)
            if (json_text_key_equals(raw, names[i])) {
                values_out[i] = value;
                break;
            }
}

JsonText json_text_find_str(JsonText object, Str key)
{
    JsonText found = {.kind = JSON_TEXT_NONE, .text = STR_EMPTY};
    JsonText value;
    Str      raw;

    for (size_t at = 0; json_text_next_member(object, &at, &raw, &value);)
        if (json_text_key_equals(raw, key)) found = value;
    return found;
}

JsonText json_text_find(JsonText object, const char *key)
{
    return json_text_find_str(object, str_from_c(key));
}

static uint32_t read_hex4(Str raw, size_t at)
{
    uint32_t unit = 0;
    for (size_t i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)hex_value(raw.ptr[at + i]);
    return unit;
}

/* `*at` stands behind `\u`; takes the low surrogate behind a high one too. */
static uint32_t read_unicode_escape(Str raw, size_t *at)
{
    uint32_t unit = read_hex4(raw, *at);
    *at += 4;
    if (unit >= 0xD800 && unit < 0xDC00 && *at + 6 <= raw.len && raw.ptr[*at] == '\\' &&
        raw.ptr[*at + 1] == 'u') {
        uint32_t low = read_hex4(raw, *at + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            *at += 6;
            return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return unit;
}

/* The bytes that the next character or escape stands for. */
static size_t unescape_next(Str raw, size_t *at, char out[4])
{
    char c = raw.ptr[(*at)++];
    if (c != '\\') {
        out[0] = c;
        return 1;
    }
    c = raw.ptr[(*at)++];
    switch (c) {
    case 'u': return utf8_encode(read_unicode_escape(raw, at), out);
    case 'b': out[0] = '\b'; return 1;
    case 'f': out[0] = '\f'; return 1;
    case 'n': out[0] = '\n'; return 1;
    case 'r': out[0] = '\r'; return 1;
    case 't': out[0] = '\t'; return 1;
    default: out[0] = c; return 1;
    }
}

bool json_text_key_equals(Str raw_key, Str name)
{
    if (str_find_char(raw_key, '\\', 0) < 0) return str_equal(raw_key, name);

    size_t matched = 0;
    for (size_t at = 0; at < raw_key.len;) {
        char   bytes[4];
        size_t count = unescape_next(raw_key, &at, bytes);
        if (matched + count > name.len || memcmp(name.ptr + matched, bytes, count) != 0)
            return false;
        matched += count;
    }
    return matched == name.len;
}

Str json_text_unescape(Str raw, Arena *arena)
{
    if (str_find_char(raw, '\\', 0) < 0) return raw;

    char  *out = arena_alloc_uninit(arena, raw.len + 1);
    size_t len = 0;
    for (size_t at = 0; at < raw.len;) {
        const char *escape = memchr(raw.ptr + at, '\\', raw.len - at);
        size_t      plain  = escape ? (size_t)(escape - raw.ptr) - at : raw.len - at;
        memcpy(out + len, raw.ptr + at, plain);
        at += plain;
        len += plain;
        if (escape) len += unescape_next(raw, &at, out + len);
    }
    out[len] = '\0';
    return (Str){out, len};
}

Str json_text_str(JsonText value, Arena *arena)
{
    if (value.kind != JSON_TEXT_STRING) return (Str){NULL, 0};
    return json_text_unescape(str_slice(value.text, 1, value.text.len - 1), arena);
}

bool json_text_i64(JsonText value, int64_t *out)
{
    return value.kind == JSON_TEXT_NUMBER && str_parse_i64(value.text, out);
}

bool json_text_bool(JsonText value, bool *out)
{
    if (value.kind != JSON_TEXT_BOOL) return false;
    *out = value.text.ptr[0] == 't';
    return true;
}
