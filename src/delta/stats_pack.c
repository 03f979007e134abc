/* A text is cut into pieces of form and values: a value follows a colon, up to its closing quote or
 * to a comma or bracket. What is cut where does not depend on the text being JSON, so nothing can be
 * lost; only how small it gets depends on it. */
#include "delta/stats_pack.h"

#include "base/list.h"
#include "base/map.h"

#include <string.h>

#define FORMS_MAX   4096 /* of one table; texts of more forms are one value each */
#define PIECES_MAX  4096 /* of one form */
#define RAW_BIT     1u
#define HEADER_BITS 7

struct StatsForm {
    Str    key; /* the pieces, each behind its length */
    Str   *pieces;
    size_t piece_count; /* one more than values; at least 2 */
};

struct StatsForms {
    Arena     *arena; /* the forms live as long as the set */
    Map       *by_key;
    StatsForm *last; /* what the next text most likely has */
    StatsForm *whole;
};

static const char SIGNS[16] = {'0', '1', '2', '3', '4', '5', '6', '7',
                               '8', '9', '-', ':', '.', 'T', 'Z', 'E'};

/* 1 + the place in SIGNS, 0: none. */
static const unsigned char SIGN_OF[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['-'] = 11, [':'] = 12, ['.'] = 13, ['T'] = 14, ['Z'] = 15, ['E'] = 16};

static unsigned sign_of(char c)
{
    return SIGN_OF[(unsigned char)c];
}

static StatsForm *form_new(StatsForms *forms, const Str *pieces, size_t count, Str key)
{
    StatsForm *form   = ARENA_NEW(forms->arena, StatsForm);
    form->key         = str_copy(forms->arena, key);
    form->pieces      = ARENA_ARRAY(forms->arena, Str, count);
    form->piece_count = count;
    for (size_t i = 0; i < count; i++)
        form->pieces[i] = str_copy(forms->arena, pieces[i]);
    return form;
}

StatsForms *stats_forms_new(void)
{
    StatsForms *forms     = mem_alloc(sizeof *forms);
    const Str   nothing[] = {STR_EMPTY, STR_EMPTY};

    forms->arena  = arena_new();
    forms->by_key = map_new();
    forms->whole  = form_new(forms, nothing, 2, STR_EMPTY);
    return forms;
}

void stats_forms_close(StatsForms *forms)
{
    if (!forms) return;
    map_close(forms->by_key);
    arena_close(forms->arena);
    mem_free(forms);
}

/* --- cutting --- */

/* The end of the value at `at`, which a quote opened or not. */
static size_t value_end(Str text, size_t at, bool is_quoted)
{
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (is_quoted) {
            if (c == '"') return at;
            if (c == '\\' && at + 1 < text.len) at++;
        } else if (c == ',' || c == '}' || c == ']') {
            return at;
        }
    }
    return text.len;
}

/* Past the closing quote of a key whose opening quote stands before `at`. */
static size_t key_end(Str text, size_t at)
{
    size_t end = value_end(text, at, true);
    return end < text.len ? end + 1 : end;
}

/* Where the next value starts, or the end of the text. */
static size_t next_value(Str text, size_t at, bool *is_quoted)
{
    while (at < text.len) {
        char c = text.ptr[at++];
        if (c == '"') at = key_end(text, at);
        if (c != ':' || at >= text.len || text.ptr[at] == '{' || text.ptr[at] == '[') continue;
        *is_quoted = text.ptr[at] == '"';
        return at + *is_quoted;
    }
    return text.len;
}

typedef LIST(Str) Pieces;

/* Pieces and values by turns, a piece first and last. */
static void cut(Str text, Arena *arena, Pieces *pieces, Pieces *values)
{
    size_t piece = 0, at = 0;

    for (;;) {
        bool   is_quoted          = false;
        size_t start              = next_value(text, at, &is_quoted);
        *LIST_PUSH(arena, pieces) = str_slice(text, piece, start);
        if (start >= text.len) return;
        piece                     = value_end(text, start, is_quoted);
        *LIST_PUSH(arena, values) = str_slice(text, start, piece);
        at                        = is_quoted ? MIN(piece + 1, text.len) : piece;
    }
}

/* --- values --- */

static void put_header(Buf *out, size_t len, unsigned raw)
{
    size_t header = len << 1 | raw;

    for (; header >= 1u << HEADER_BITS; header >>= HEADER_BITS)
        buf_append_char(out, (char)(header | 1u << HEADER_BITS));
    buf_append_char(out, (char)header);
}

static size_t get_header(const char **at)
{
    size_t header = 0;

    for (unsigned shift = 0;; shift += HEADER_BITS) {
        unsigned char byte = (unsigned char)*(*at)++;
        header |= (size_t)(byte & ((1u << HEADER_BITS) - 1)) << shift;
        if (!(byte >> HEADER_BITS)) return header;
    }
}

static bool is_of_signs(Str value)
{
    for (size_t i = 0; i < value.len; i++)
        if (!sign_of(value.ptr[i])) return false;
    return true;
}

static void put_value(Buf *out, Str value)
{
    bool is_raw = !is_of_signs(value);

    put_header(out, value.len, is_raw);
    if (is_raw) {
        buf_append(out, value);
        return;
    }
    size_t bytes = (value.len + 1) / 2;
    char  *to    = buf_reserve(out, bytes);
    for (size_t i = 0; to && i < value.len; i += 2) {
        unsigned low  = sign_of(value.ptr[i]) - 1;
        unsigned high = i + 1 < value.len ? sign_of(value.ptr[i + 1]) - 1 : 0;
        to[i / 2]     = (char)(low | high << 4);
    }
    if (to) buf_advance(out, bytes);
}

static void get_value(Buf *out, const char **at)
{
    size_t header = get_header(at), len = header >> 1;

    if (header & RAW_BIT) {
        buf_append(out, (Str){*at, len});
        *at += len;
        return;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned pair = (unsigned char)(*at)[i / 2];
        buf_append_char(out, SIGNS[i % 2 ? pair >> 4 : pair & 15]);
    }
    *at += (len + 1) / 2;
}

/* --- packing --- */

/* Most texts have the form of the one before. False: this one does not, and nothing was put. */
static bool put_values_of(const StatsForm *form, Str text, Buf *values)
{
    size_t before = values->len, at = 0;

    for (size_t i = 0; i < form->piece_count; i++) {
        Str piece = form->pieces[i];
        if (text.len - at < piece.len || memcmp(text.ptr + at, piece.ptr, piece.len) != 0) break;
        at += piece.len;
        if (i + 1 == form->piece_count) {
            if (at == text.len) return true;
            break;
        }
        size_t end = value_end(text, at, piece.len > 0 && piece.ptr[piece.len - 1] == '"');
        put_value(values, str_slice(text, at, end));
        at = end;
    }
    values->len = before;
    return false;
}

static Str form_key(const Pieces *pieces, Arena *arena)
{
    Buf key = buf_new(arena, 0);

    for (size_t i = 0; i < pieces->count; i++) {
        put_header(&key, pieces->items[i].len, 0);
        buf_append(&key, pieces->items[i]);
    }
    return buf_str(&key);
}

/* NULL: one form more would be too many. */
static StatsForm *find_form(StatsForms *forms, const Pieces *pieces, Arena *arena)
{
    Str        key  = form_key(pieces, arena);
    StatsForm *form = map_find(forms->by_key, key);

    if (form) return form;
    if (map_count(forms->by_key) >= FORMS_MAX || pieces->count > PIECES_MAX) return NULL;
    form = form_new(forms, pieces->items, pieces->count, key);
    (void)map_put(forms->by_key, form->key, form);
    return form;
}

const StatsForm *stats_pack(StatsForms *forms, Str text, Buf *values)
{
    if (text.len == 0) return NULL;
    if (forms->last && put_values_of(forms->last, text, values)) return forms->last;

    Arena *arena  = arena_new();
    Pieces pieces = {0}, found = {0};
    cut(text, arena, &pieces, &found);
    StatsForm *form = find_form(forms, &pieces, arena);
    if (form) {
        for (size_t i = 0; i < found.count; i++)
            put_value(values, found.items[i]);
        forms->last = form;
    } else {
        form = forms->whole;
        put_value(values, text);
    }
    arena_close(arena);
    return form;
}

Str stats_unpack(const StatsForm *form, const char *values, Arena *arena)
{
    Buf text = buf_new(arena, 0);

    if (!form) return STR_EMPTY;
    for (size_t i = 0; i < form->piece_count; i++) {
        if (i > 0) get_value(&text, &values);
        buf_append(&text, form->pieces[i]);
    }
    return buf_str(&text);
}
