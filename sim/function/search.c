/* Looking for text in text, as the collation sees it: CHARINDEX, REPLACE, TRANSLATE, PATINDEX and
 * LIKE. Characters are compared by what they fold to. */
#include "sim/function/function_internal.h"

#include "base/buf.h"

#include <string.h>

/* --- folded text --- */
typedef struct Folded {
    const uint64_t *units;
    size_t          len;
} Folded;

/* A unit for each unit of the text, so that places agree; a surrogate pair folds in its halves. */
static Folded fold(Arena *arena, const Text *text, const SimCollation *collation)
{
    size_t    len   = text_len(text);
    uint64_t *units = (uint64_t *)arena_alloc_uninit(arena, (len + 1) * sizeof(uint64_t));

    for (size_t i = 0; i < len; i++) {
        uint32_t unit = text_unit(text, i);
        if (!text->wide && unit >= 0x80) {
            Text  one  = text_slice(text, i, i + 1);
            Bytes wide = sim_text_recode(arena, text->collation, false, collation, true, one.bytes);
            unit       = (uint32_t)wide.ptr[0] | (uint32_t)wide.ptr[1] << 8;
        }
        units[i] = sim_text_fold(collation, true, unit);
    }
    return (Folded){units, len};
}

/* The place of `part` at or after `from`, or -1. */
static ptrdiff_t find(Folded whole, Folded part, size_t from)
{
    for (size_t i = from; part.len <= whole.len && i <= whole.len - part.len; i++) {
        if (memcmp(whole.units + i, part.units, part.len * sizeof(uint64_t)) == 0)
            return (ptrdiff_t)i;
    }
    return -1;
}

static const SimCollation *common_collation(const Text *one, const Text *two)
{
    return one->collation != NULL ? one->collation : two->collation;
}

/* --- CHARINDEX, REPLACE, TRANSLATE --- */
static bool type_place(const Typing *typing, SimType *out)
{
    const SimType *text = &typing->args[1];

    *out = sim_type((sim_type_is_text(text->kind) || sim_type_is_lob(text->kind)) &&
                            text->length < 0
                        ? SIM_BIGINT
                        : SIM_INT);
    return true;
}

static bool call_charindex(const Call *call, SimValue *out)
{
    Text    part, text;
    int64_t start = 1;

    if (!text_arg(call, 0, &part) || !text_arg(call, 1, &text)) return false;
    if (call->count > 2 && !i64_arg(call, 2, &start)) return false;
    const SimCollation *collation = common_collation(&text, &part);
    Folded              whole     = fold(call->arena, &text, collation);
    size_t from = start < 1 ? 0 : (uint64_t)start > whole.len ? whole.len : (size_t)start - 1;
    if (text_len(&part) == 0) {
        out->i64 = 0;
        return true;
    }
    out->i64 = find(whole, fold(call->arena, &part, collation), from) + 1;
    return true;
}

static bool type_replace(const Typing *typing, SimType *out)
{
    bool wide = false;
    bool max  = false;

    for (size_t i = 0; i < 3; i++) {
        wide = wide || sim_type_is_unicode(typing->args[i].kind);
        max  = max || text_width(&typing->args[i]) < 0;
    }
    return type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR,
                      max    ? -1
                      : wide ? 4000
                             : 8000,
                      &typing->args[0], out);
}

static bool call_replace(const Call *call, SimValue *out)
{
    Text   text, old_part, new_part;
    Buf    buf  = text_buf(call);
    size_t from = 0;

    if (!text_arg(call, 0, &text) || !text_arg(call, 1, &old_part) || !text_arg(call, 2, &new_part))
        return false;
    text_widen(call, &text);
    text_widen(call, &new_part);
    text_widen(call, &old_part);
    const SimCollation *collation = common_collation(&text, &old_part);
    Folded              whole     = fold(call->arena, &text, collation);
    Folded              part      = fold(call->arena, &old_part, collation);
    for (ptrdiff_t at; part.len > 0 && (at = find(whole, part, from)) >= 0;
         from = (size_t)at + part.len) {
        if (new_part.bytes.len + (size_t)at - from > buf.limit - buf.len)
            return sim_value_too_long(call->error);
        Text before = text_slice(&text, from, (size_t)at);
        buf_append_bytes(&buf, before.bytes.ptr, before.bytes.len);
        buf_append_bytes(&buf, new_part.bytes.ptr, new_part.bytes.len);
    }
    Text rest = text_slice(&text, from, whole.len);
    buf_append_bytes(&buf, rest.bytes.ptr, rest.bytes.len);
    Text result = {{buf.len > 0 ? (const uint8_t *)buf.ptr : (const uint8_t *)"", buf.len},
                   text.collation,
                   true};
    return set_text(call, &result, out);
}

static bool call_translate(const Call *call, SimValue *out)
{
    Text text, from, to;

    if (!text_arg(call, 0, &text) || !text_arg(call, 1, &from) || !text_arg(call, 2, &to))
        return false;
    text_widen(call, &text);
    text_widen(call, &from);
    text_widen(call, &to);
    if (text_len(&from) != text_len(&to))
        return sim_error(call->error, 9828,
                         "The second and third arguments of the TRANSLATE built-in function must "
                         "contain an equal number of characters.");
    Folded   whole  = fold(call->arena, &text, text.collation);
    Folded   folded = fold(call->arena, &from, text.collation);
    uint8_t *bytes  = (uint8_t *)arena_alloc_uninit(call->arena, text.bytes.len + 1);
    if (text.bytes.len > 0) memcpy(bytes, text.bytes.ptr, text.bytes.len);
    for (size_t i = 0; i < whole.len; i++) {
        for (size_t j = 0; j < folded.len; j++) {
            if (whole.units[i] != folded.units[j]) continue;
            memcpy(bytes + i * 2, to.bytes.ptr + j * 2, 2);
            break;
        }
    }
    Text result = {{bytes, text.bytes.len}, text.collation, true};
    return set_text(call, &result, out);
}

/* --- LIKE --- */
typedef enum PieceKind { PIECE_UNIT, PIECE_ANY_ONE, PIECE_ANY_RUN, PIECE_SET } PieceKind;

typedef struct Piece {
    PieceKind kind;
    uint64_t  folded;     /* UNIT */
    size_t    start, end; /* SET: its inside in the pattern */
    bool      negated;
} Piece;

typedef struct Pattern {
    Text                text;
    const SimCollation *collation;
    Arena              *arena;
    uint32_t            escape; /* 0: none */
    Piece              *pieces;
    size_t              count;
} Pattern;

static bool is_escape(const Pattern *pattern, uint32_t unit)
{
    return pattern->escape != 0 && unit == pattern->escape;
}

/* The end of the set that begins behind '[' at `from`; false: it is never closed. */
static bool find_set_end(const Pattern *pattern, size_t from, size_t *end_out)
{
    size_t len = text_len(&pattern->text);

    for (size_t i = from; i < len; i++) {
        uint32_t unit = text_unit(&pattern->text, i);
        if (is_escape(pattern, unit)) {
            i++;
        } else if (unit == ']') { /* also the first: [] is a set of nothing */
            *end_out = i;
            return true;
        }
    }
    return false;
}

/* False: the pattern can match nothing (an open set). */
static bool compile(Pattern *pattern)
{
    size_t len      = text_len(&pattern->text);
    Folded folded   = fold(pattern->arena, &pattern->text, pattern->collation);
    pattern->pieces = ARENA_ARRAY(pattern->arena, Piece, len + 1);

    for (size_t i = 0; i < len; i++) {
        uint32_t unit  = text_unit(&pattern->text, i);
        Piece   *piece = &pattern->pieces[pattern->count++];
        if (is_escape(pattern, unit)) {
            if (++i >= len) return false;
            *piece = (Piece){.kind = PIECE_UNIT, .folded = folded.units[i]};
        } else if (unit == '%') {
            piece->kind = PIECE_ANY_RUN;
        } else if (unit == '_') {
            piece->kind = PIECE_ANY_ONE;
        } else if (unit == '[') {
            piece->kind    = PIECE_SET;
            piece->negated = i + 1 < len && text_unit(&pattern->text, i + 1) == '^';
            piece->start   = i + (piece->negated ? 2 : 1);
            if (!find_set_end(pattern, piece->start, &piece->end)) return false;
            i = piece->end;
        } else {
            *piece = (Piece){.kind = PIECE_UNIT, .folded = folded.units[i]};
        }
    }
    return true;
}

static int compare_units(const Pattern *pattern, const Text *left, size_t left_at,
                         const Text *right, size_t right_at)
{
    Text one = text_slice(left, left_at, left_at + 1);
    Text two = text_slice(right, right_at, right_at + 1);

    return sim_text_compare(pattern->collation, left->wide, one.bytes, two.bytes);
}

static bool set_matches(const Pattern *pattern, const Piece *piece, const Text *text, size_t at)
{
    const Text *set   = &pattern->text;
    bool        found = false;

    for (size_t i = piece->start; i < piece->end && !found; i++) {
        if (is_escape(pattern, text_unit(set, i)) && i + 1 < piece->end) i++;
        if (i + 2 < piece->end && text_unit(set, i + 1) == '-') {
            size_t last = i + 2;
            if (is_escape(pattern, text_unit(set, last)) && last + 1 < piece->end) last++;
            found = compare_units(pattern, text, at, set, i) >= 0 &&
                    compare_units(pattern, text, at, set, last) <= 0;
            i = last;
        } else {
            found = compare_units(pattern, text, at, set, i) == 0;
        }
    }
    return found != piece->negated;
}

static bool piece_matches(const Pattern *pattern, const Piece *piece, const Text *text,
                          Folded folded, size_t at)
{
    switch (piece->kind) {
    case PIECE_UNIT: return folded.units[at] == piece->folded;
    case PIECE_ANY_ONE: return true;
    case PIECE_SET: return set_matches(pattern, piece, text, at);
    case PIECE_ANY_RUN: break;
    }
    return false;
}

static bool only_blanks(const Text *text, size_t from)
{
    for (size_t i = from; i < text_len(text); i++) {
        if (text_unit(text, i) != ' ') return false;
    }
    return true;
}

/* From a place of the text on. A run of anything is tried shortest first; only the last one need be
 * taken up again. Blanks at the end of varchar text do not count when the pattern has ended;
 * `open_end`: nor does anything else. */
static bool matches_from(const Pattern *pattern, const Text *text, Folded folded, size_t at,
                         size_t piece, bool open_end)
{
    bool   has_run   = false;
    size_t run_piece = 0;
    size_t run_at    = 0;

    for (;;) {
        if (piece < pattern->count && pattern->pieces[piece].kind == PIECE_ANY_RUN) {
            has_run   = true;
            run_piece = ++piece;
            run_at    = at;
        } else if (piece == pattern->count &&
                   (open_end || at == folded.len || (!text->wide && only_blanks(text, at)))) {
            return true;
        } else if (piece < pattern->count && at < folded.len &&
                   piece_matches(pattern, &pattern->pieces[piece], text, folded, at)) {
            piece++;
            at++;
        } else if (has_run && run_at < folded.len) {
            piece = run_piece;
            at    = ++run_at;
        } else {
            return false;
        }
    }
}

static bool prepare(const Call *call, size_t text_index, size_t pattern_index,
                    const SimCollation *collation, Text *text, Pattern *pattern)
{
    if (!text_arg(call, text_index, text) || !text_arg(call, pattern_index, &pattern->text))
        return false;
    if (text->wide) text_widen(call, &pattern->text);
    if (pattern->text.wide) text_widen(call, text);
    if (!text->wide && text->collation != pattern->text.collation) {
        text_widen(call, text);
        text_widen(call, &pattern->text);
    }
    pattern->collation = collation != NULL ? collation : common_collation(text, &pattern->text);
    pattern->arena     = call->arena;
    return true;
}

bool sim_like(const SimValue *text, const SimValue *pattern, const SimValue *escape,
              const SimCollation *collation, Arena *scratch, bool *out, SimError *error)
{
    SimValue args[3] = {*text, *pattern};
    SimType  type    = sim_type(SIM_BIT);
    Call     call    = {NULL, &type, args, 3, scratch, error};
    Pattern  like    = {.count = 0};
    Text     subject, mark;

    if (!prepare(&call, 0, 1, collation, &subject, &like)) return false;
    if (escape != NULL) {
        args[2] = *escape;
        if (!text_arg(&call, 2, &mark)) return false;
        text_widen(&call, &mark);
        if (text_len(&mark) != 1)
            return sim_error(
                error, 506,
                "The invalid escape character \"%.*s\" was specified in a LIKE predicate.",
                STR_ARG(sim_text_to_utf8(scratch, NULL, true, mark.bytes)));
        like.escape = text_unit(&mark, 0);
    }
    *out = compile(&like) &&
           matches_from(&like, &subject, fold(scratch, &subject, like.collation), 0, 0, false);
    return true;
}

/* PATINDEX('%x%', text): where what is between the runs begins; without a run in front it must
 * begin the text. */
static bool call_patindex(const Call *call, SimValue *out)
{
    Text    text;
    Pattern pattern = {.count = 0};

    if (!prepare(call, 1, 0, NULL, &text, &pattern)) return false;
    out->i64 = 0;
    if (!compile(&pattern)) return true;
    Folded folded   = fold(call->arena, &text, pattern.collation);
    bool   open     = pattern.count > 0 && pattern.pieces[0].kind == PIECE_ANY_RUN;
    bool   open_end = pattern.count > 0 && pattern.pieces[pattern.count - 1].kind == PIECE_ANY_RUN;
    for (size_t at = 0; at <= folded.len && (open || at == 0); at++) {
        if (!matches_from(&pattern, &text, folded, at, open ? 1 : 0, open_end && pattern.count > 1))
            continue;
        out->i64 = (int64_t)at + 1;
        break;
    }
    if (out->i64 > (int64_t)folded.len) out->i64 = folded.len == 0 ? 0 : (int64_t)folded.len;
    return true;
}

static const SimFunction search_functions[] = {
    {"CHARINDEX", 2, 3, false, false, 0, type_place, call_charindex},
    {"PATINDEX", 2, 2, false, false, 0, type_place, call_patindex},
    {"REPLACE", 3, 3, false, false, 0, type_replace, call_replace},
    {"TRANSLATE", 3, 3, false, false, 0, type_of_text, call_translate},
};

const SimFunction *function_find_search(Str name)
{
    return function_find_among(search_functions, COUNT_OF(search_functions), name);
}
