/* A text is cut into pieces of form and values: a value follows a colon, up to its closing quote or
 * to a comma or bracket. What is cut where does not depend on the text being JSON, so nothing can be
 * lost; only how small it gets depends on it. */
#include "delta/stats_pack.h"

#include "base/list.h"
#include "base/map.h"

#include <assert.h>
#include <pthread.h>
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
    pthread_mutex_t lock;  /* guards what follows, but for `whole`; a form never changes */
    Arena          *arena; /* the forms live as long as the set */
    Map            *by_key;
    StatsForm      *whole;
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
    int failed    = pthread_mutex_init(&forms->lock, NULL);
    assert(failed == 0);
    return forms;
}

void stats_forms_close(StatsForms *forms)
{
    if (!forms) return;
    (void)pthread_mutex_destroy(&forms->lock);
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

/* Room for the values of a text: each is at most as long as it was, and its header, one byte and
 * another for each 64 of the value's and more, takes the place of the colon before it. */
static size_t room_for(size_t text_len)
{
    return 2 * text_len + 16;
}

static char *put_header(char *to, size_t len, unsigned raw)
{
    size_t header = len << 1 | raw;

    for (; header >= 1u << HEADER_BITS; header >>= HEADER_BITS)
        *to++ = (char)(header | 1u << HEADER_BITS);
    *to++ = (char)header;
    return to;
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

/* The first byte from `at` on that is no sign. */
static size_t signs_end(Str text, size_t at)
{
    while (at < text.len && sign_of(text.ptr[at]))
        at++;
    return at;
}

static char *put_raw(char *to, Str value)
{
    to = put_header(to, value.len, RAW_BIT);
    if (value.len > 0) memcpy(to, value.ptr, value.len);
    return to + value.len;
}

static char *put_signs(char *to, Str value)
{
    size_t i = 0;

    to = put_header(to, value.len, 0);
    for (; i + 1 < value.len; i += 2)
        *to++ = (char)((sign_of(value.ptr[i]) - 1) | (sign_of(value.ptr[i + 1]) - 1) << 4);
    if (i < value.len) *to++ = (char)(sign_of(value.ptr[i]) - 1);
    return to;
}

static char *put_value(char *to, Str value)
{
    bool is_of_signs = signs_end(value, 0) == value.len;
    return is_of_signs ? put_signs(to, value) : put_raw(to, value);
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

StatsPacker stats_packer(StatsForms *forms, Arena *arena)
{
    return (StatsPacker){.forms = forms, .values = buf_new(arena, 0)};
}

/* Most texts have the form of the one before. NULL: this one does not. */
static char *put_values_of(const StatsForm *form, Str text, char *to)
{
    size_t at = 0;

    for (size_t i = 0; i < form->piece_count; i++) {
        Str piece = form->pieces[i];
        if (text.len - at < piece.len || memcmp(text.ptr + at, piece.ptr, piece.len) != 0)
            return NULL;
        at += piece.len;
        if (i + 1 == form->piece_count) break;
        bool   is_quoted = piece.len > 0 && piece.ptr[piece.len - 1] == '"';
        size_t signs     = signs_end(text, at); /* none of them ends a value */
        size_t end       = value_end(text, signs, is_quoted);
        Str    value     = str_slice(text, at, end);
        to               = end == signs ? put_signs(to, value) : put_raw(to, value);
        at               = end;
    }
    return at == text.len ? to : NULL;
}

static Str form_key(const Pieces *pieces, Arena *arena)
{
    Buf key = buf_new(arena, 0);

    for (size_t i = 0; i < pieces->count; i++) {
        char header[16];
        buf_append_bytes(&key, header,
                         (size_t)(put_header(header, pieces->items[i].len, 0) - header));
        buf_append(&key, pieces->items[i]);
    }
    return buf_str(&key);
}

/* NULL: one form more would be too many. */
static StatsForm *find_form(StatsForms *forms, const Pieces *pieces, Arena *arena)
{
    Str key = form_key(pieces, arena);

    if (pieces->count > PIECES_MAX) return NULL;
    (void)pthread_mutex_lock(&forms->lock);
    StatsForm *form = map_find(forms->by_key, key);
    if (!form && map_count(forms->by_key) < FORMS_MAX) {
        form = form_new(forms, pieces->items, pieces->count, key);
        (void)map_put(forms->by_key, form->key, form);
    }
    (void)pthread_mutex_unlock(&forms->lock);
    return form;
}

/* A text of another form than the one before. */
static const StatsForm *pack_anew(StatsPacker *packer, Str text, char **to)
{
    Arena     *arena  = arena_new();
    Pieces     pieces = {0}, found = {0};
    StatsForm *form;

    cut(text, arena, &pieces, &found);
    form = find_form(packer->forms, &pieces, arena);
    if (form) {
        for (size_t i = 0; i < found.count; i++)
            *to = put_value(*to, found.items[i]);
        packer->last = form;
    } else {
        form = packer->forms->whole;
        *to  = put_value(*to, text);
    }
    arena_close(arena);
    return form;
}

const StatsForm *stats_pack(StatsPacker *packer, Str text)
{
    buf_clear(&packer->values);
    if (text.len == 0) return NULL;

    char *start = buf_reserve(&packer->values, room_for(text.len));
    if (!start) return NULL; /* longer than any text can be that was read */
    const StatsForm *form = packer->last;
    char            *end  = form ? put_values_of(form, text, start) : NULL;
    if (!end) {
        end  = start;
        form = pack_anew(packer, text, &end);
    }
    buf_advance(&packer->values, (size_t)(end - start));
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
