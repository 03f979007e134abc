/* How collations order text (sqlserver.md 2.11). Comparison and sort keys read the same weights, so
 * that they cannot disagree: a Walk gives the weights of a text one by one.
 *
 * Windows order has levels: letters, then accents, then case, then hyphens and apostrophes, each
 * asked only when all before it are equal. The orders of SQL_ collations (varchar) and of the
 * binary ones have one level of single characters, in which some characters stand below the blank,
 * so the padding of the shorter text matters. */
#include "sim/value/collation_internal.h"

#include "base/buf.h"

#include <string.h>

/* --- weights of single characters, Windows --- */
typedef struct Weight {
    uint32_t primary;
    uint8_t  accent;
    uint8_t  is_upper;
} Weight;

static uint32_t turkish_weight(uint32_t point, uint32_t weight)
{
    enum { OWN = 4 << 16 }; /* behind the plain letter, before the next */

    switch (point) {
    case 'I': return (collation_weight('i') | 1U) - OWN;
    case 0x0131: return collation_weight('i') - OWN;
    case 0x0130: return collation_weight('i') | 1U;
    case 0x00E7: return collation_weight('c') + OWN;
    case 0x00C7: return collation_weight('C') + OWN;
    case 0x011F: return collation_weight('g') + OWN;
    case 0x011E: return collation_weight('G') + OWN;
    case 0x00F6: return collation_weight('o') + OWN;
    case 0x00D6: return collation_weight('O') + OWN;
    case 0x015F: return collation_weight('s') + OWN;
    case 0x015E: return collation_weight('S') + OWN;
    case 0x00FC: return collation_weight('u') + OWN;
    case 0x00DC: return collation_weight('U') + OWN;
    default: return weight;
    }
}

static Weight weight_of(const SimCollation *collation, uint32_t point)
{
    uint32_t packed = collation_weight(point);

    if (collation->is_turkish && point >= 'I') packed = turkish_weight(point, packed);
    Weight weight = {packed >> 16, (uint8_t)(packed >> 8), (uint8_t)packed};
    if (weight.primary == 0xE000) weight.primary = 0x10000 + point;
    return weight;
}

/* Second letter of the characters that count as two, 0 for others; *first becomes the first. */
static uint32_t expand(uint32_t *first)
{
    switch (*first) {
    case 0x00DF: *first = 's'; return 's';
    case 0x00E6: *first = 'a'; return 'e';
    case 0x00C6: *first = 'A'; return 'E';
    case 0x0153: *first = 'o'; return 'e';
    case 0x0152: *first = 'O'; return 'E';
    default: return 0;
    }
}

typedef struct Walk {
    const SimCollation *collation;
    Bytes               text;
    size_t              at;
    bool                unicode;
    uint32_t            pending; /* second letter of an expansion */
} Walk;

static Walk walk_start(const SimCollation *collation, bool unicode, Bytes text)
{
    return (Walk){
        collation, {text.ptr, collation_trimmed(collation, unicode, text)}, 0, unicode, 0};
}

static bool walk_point(Walk *walk, uint32_t *point_out)
{
    if (walk->pending != 0) {
        *point_out    = walk->pending;
        walk->pending = 0;
        return true;
    }
    if (walk->at >= walk->text.len) return false;
    *point_out = collation_next(walk->collation, walk->unicode, walk->text, &walk->at);
    if (*point_out >= 0x80) walk->pending = expand(point_out);
    return true;
}

typedef enum Level { LEVEL_LETTER, LEVEL_ACCENT, LEVEL_CASE, LEVEL_HYPHEN } Level;

/* A combining mark right behind a plain letter makes one with an accent, as the composed character
 * is. */
static uint32_t take_mark(Walk *walk)
{
    Walk     ahead = *walk;
    uint32_t point = 0;

    if (!walk_point(&ahead, &point)) return 0;
    Weight weight = weight_of(walk->collation, point);
    if (weight.primary != 0) return 0;
    *walk = ahead;
    return weight.accent;
}

/* The next weight of a level; 0 at the end. Accents and case: 1 stands for plain. */
static uint32_t walk_next(Walk *walk, Level level, uint32_t *position)
{
    uint32_t point = 0;

    while (walk_point(walk, &point)) {
        Weight weight = weight_of(walk->collation, point);
        switch (level) {
        case LEVEL_LETTER:
            if (weight.primary > 1) return weight.primary;
            break;
        case LEVEL_ACCENT:
            if (weight.primary == 1) break;
            if (weight.accent == 0) weight.accent = (uint8_t)take_mark(walk);
            return weight.accent + 1U;
        case LEVEL_CASE:
            if (weight.primary > 1) return weight.is_upper + 1U;
            break;
        case LEVEL_HYPHEN:
            if (weight.primary == 1) return weight.accent;
            if (weight.primary > 1) (*position)++;
            break;
        }
    }
    return 0;
}

static int compare_level(const SimCollation *collation, bool unicode, Bytes left, Bytes right,
                         Level level)
{
    Walk     left_walk      = walk_start(collation, unicode, left);
    Walk     right_walk     = walk_start(collation, unicode, right);
    uint32_t left_position  = 0;
    uint32_t right_position = 0;
    /* The end of the shorter text counts as plain. */
    uint32_t end = level == LEVEL_ACCENT || level == LEVEL_CASE ? 1 : 0;

    for (;;) {
        uint32_t left_weight  = walk_next(&left_walk, level, &left_position);
        uint32_t right_weight = walk_next(&right_walk, level, &right_position);
        if (left_weight == 0 && right_weight == 0) return 0;
        if (level == LEVEL_HYPHEN && left_weight != 0 && right_weight != 0 &&
            left_position != right_position)
            return left_position < right_position ? -1 : 1;
        if (left_weight == 0) left_weight = end;
        if (right_weight == 0) right_weight = end;
        if (left_weight != right_weight) return left_weight < right_weight ? -1 : 1;
    }
}

static int compare_windows(const SimCollation *collation, bool unicode, Bytes left, Bytes right)
{
    int order = compare_level(collation, unicode, left, right, LEVEL_LETTER);

    if (order == 0 && !collation->ignores_accents)
        order = compare_level(collation, unicode, left, right, LEVEL_ACCENT);
    if (order == 0 && !collation->ignores_case)
        order = compare_level(collation, unicode, left, right, LEVEL_CASE);
    if (order == 0) order = compare_level(collation, unicode, left, right, LEVEL_HYPHEN);
    return order;
}

static void append_u16(Buf *out, uint32_t value)
{
    uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
    buf_append_bytes(out, bytes, sizeof bytes);
}

static void append_u32(Buf *out, uint32_t value)
{
    append_u16(out, value >> 16);
    append_u16(out, value);
}

/* Letters: two bytes each, three for those outside the table; the end is below all of them. */
static void key_letters(const SimCollation *collation, bool unicode, Bytes text, Buf *out)
{
    Walk     walk     = walk_start(collation, unicode, text);
    uint32_t position = 0;
    uint32_t weight   = 0;

    while ((weight = walk_next(&walk, LEVEL_LETTER, &position)) != 0) {
        if (weight < 0x10000) {
            append_u16(out, weight);
        } else {
            uint32_t point = weight - 0x10000;
            buf_append_char(out, (char)(uint8_t)(0xE0 + (point >> 16)));
            append_u16(out, point);
        }
    }
    append_u16(out, 0);
}

/* Accents or case: a byte each, the plain ones at the end left out. */
static void key_marks(const SimCollation *collation, bool unicode, Bytes text, Level level,
                      Buf *out)
{
    Walk     walk     = walk_start(collation, unicode, text);
    uint32_t position = 0;
    uint32_t weight   = 0;
    size_t   plain    = 0;

    while ((weight = walk_next(&walk, level, &position)) != 0) {
        if (weight == 1) {
            plain++;
            continue;
        }
        for (; plain > 0; plain--)
            buf_append_char(out, 1);
        buf_append_char(out, (char)(uint8_t)weight);
    }
    buf_append_char(out, 0);
}

static void key_hyphens(const SimCollation *collation, bool unicode, Bytes text, Buf *out)
{
    Walk     walk     = walk_start(collation, unicode, text);
    uint32_t position = 0;
    uint32_t weight   = 0;

    while ((weight = walk_next(&walk, LEVEL_HYPHEN, &position)) != 0) {
        buf_append_char(out, 1);
        append_u32(out, position);
        buf_append_char(out, (char)(uint8_t)weight);
    }
    buf_append_char(out, 0);
}

/* --- one level: SQL_ and binary --- */
typedef struct Units { /* a text as numbers; `pad` stands for the blanks behind it */
    Bytes          text;
    const uint8_t *ranks; /* varchar under SQL_; NULL: bytes */
    bool           unicode, bytewise;
    uint32_t       pad;
} Units;

static Units units_of(const SimCollation *collation, bool unicode, Bytes text)
{
    Units units = {.text    = {text.ptr, collation_trimmed(collation, unicode, text)},
                   .unicode = unicode,
                   .pad     = ' '};

    if (collation->order == ORDER_SQL)
        units.ranks = code_page_sql_ranks(collation->code_page, collation->ignores_accents);
    if (units.ranks != NULL) units.pad = units.ranks[' '];
    units.bytewise = unicode && collation->order == ORDER_BIN;
    return units;
}

/* The number at *at. The first of _BIN's is a UTF-16 unit, the others are its two bytes as they are
 * stored. */
static uint32_t units_next(const Units *units, size_t *at)
{
    if (!units->unicode) {
        uint8_t byte = units->text.ptr[(*at)++];
        return units->ranks != NULL ? units->ranks[byte] : byte;
    }
    if (!units->bytewise) return collation_next(NULL, true, units->text, at);
    uint32_t low   = units->text.ptr[*at];
    uint32_t high  = *at + 1 < units->text.len ? units->text.ptr[*at + 1] : 0;
    bool     first = *at == 0;
    *at += 2;
    return first ? high << 8 | low : low << 8 | high;
}

/* What stands for the blanks behind the end, at an index. */
static uint32_t units_pad(const Units *units, size_t at)
{
    return units->bytewise && at > 0 ? units->pad << 8 : units->pad;
}

static int compare_units(const Units *left, const Units *right)
{
    size_t left_at  = 0;
    size_t right_at = 0;

    while (left_at < left->text.len || right_at < right->text.len) {
        uint32_t pad          = units_pad(left, MAX(left_at, right_at));
        uint32_t left_number  = left_at < left->text.len ? units_next(left, &left_at) : pad;
        uint32_t right_number = right_at < right->text.len ? units_next(right, &right_at) : pad;
        if (left_number != right_number) return left_number < right_number ? -1 : 1;
    }
    return 0;
}

static bool is_upper_at(const SimCollation *collation, Bytes text, size_t at)
{
    return weight_of(collation, collation_next(collation, false, text, &at)).is_upper != 0;
}

/* Upper case first, as the case-sensitive SQL_ collations have it. The texts are as long as each
 * other. */
static int compare_sql_case(const SimCollation *collation, Bytes left, Bytes right)
{
    for (size_t i = 0; i < left.len && i < right.len; i++) {
        bool left_upper  = is_upper_at(collation, left, i);
        bool right_upper = is_upper_at(collation, right, i);
        if (left_upper != right_upper) return left_upper ? -1 : 1;
    }
    return 0;
}

static void append_number(Buf *out, uint32_t number, bool wide)
{
    if (wide) {
        buf_append_char(out, (char)(uint8_t)(number >> 16));
        append_u16(out, number);
    } else if (number < 0xFF) {
        buf_append_char(out, (char)(uint8_t)number);
    } else {
        buf_append_char(out, (char)(uint8_t)0xFF);
        buf_append_char(out, (char)(uint8_t)(number - 0xFF));
    }
}

/* A key whose byte order is that of padded texts. Where blanks begin, the text is as good as ended,
 * and what comes after the run decides whether it is below or above the end: so a run followed by
 * something below the blank comes first, the longer the later; then the end; then a run followed by
 * something above, the longer the earlier. */
static void key_units(const Units *units, Buf *out)
{
    size_t at = 0;

    while (at < units->text.len) {
        uint32_t pad    = units_pad(units, at);
        uint32_t number = units_next(units, &at);
        if (number != pad) {
            append_number(out, number < pad ? number : number + 2, units->unicode);
            continue;
        }
        uint32_t run = 1;
        uint32_t after;
        size_t   after_at = at;
        while ((after = units_next(units, &after_at)) ==
               units_pad(units, at)) { /* trimmed: something follows */
            run++;
            at = after_at;
        }
        bool below = after < units_pad(units, at);
        append_number(out, below ? pad : pad + 2, units->unicode);
        append_u32(out, below ? run : ~run);
    }
    append_number(out, units_pad(units, at) + 1, units->unicode);
}

static bool has_one_level(const SimCollation *collation, bool unicode)
{
    return collation->order == ORDER_BIN || collation->order == ORDER_BIN2 ||
           (collation->order == ORDER_SQL && !unicode);
}

int sim_text_compare(const SimCollation *collation, bool unicode, Bytes left, Bytes right)
{
    const SimCollation *with = collation != NULL ? collation : sim_collation_default();

    if (left.len == right.len && (left.len == 0 || memcmp(left.ptr, right.ptr, left.len) == 0))
        return 0;
    if (!has_one_level(with, unicode)) return compare_windows(with, unicode, left, right);
    Units left_units  = units_of(with, unicode, left);
    Units right_units = units_of(with, unicode, right);
    int   order       = compare_units(&left_units, &right_units);
    if (order == 0 && with->order == ORDER_SQL && !with->ignores_case)
        order = compare_sql_case(with, left_units.text, right_units.text);
    return order;
}

void collation_sort_key(const SimCollation *collation, bool unicode, Bytes text, Buf *out)
{
    const SimCollation *with = collation != NULL ? collation : sim_collation_default();

    if (!has_one_level(with, unicode)) {
        key_letters(with, unicode, text, out);
        if (!with->ignores_accents) key_marks(with, unicode, text, LEVEL_ACCENT, out);
        if (!with->ignores_case) key_marks(with, unicode, text, LEVEL_CASE, out);
        key_hyphens(with, unicode, text, out);
        return;
    }
    Units units = units_of(with, unicode, text);
    key_units(&units, out);
    if (with->order != ORDER_SQL || with->ignores_case) return;
    for (size_t i = 0; i < units.text.len; i++)
        buf_append_char(out, is_upper_at(with, units.text, i) ? 1 : 2);
    buf_append_char(out, 0);
}

/* --- single characters, for LIKE and searches --- */
uint64_t sim_text_fold(const SimCollation *collation, bool unicode, uint32_t point)
{
    const SimCollation *with = collation != NULL ? collation : sim_collation_default();

    if (with->order == ORDER_BIN || with->order == ORDER_BIN2) return point;
    (void)unicode;
    Weight   weight = weight_of(with, point);
    uint64_t folded = (uint64_t)weight.primary << 16;
    if (weight.primary <= 1 || !with->ignores_accents) folded |= (uint64_t)weight.accent << 8;
    if (!with->ignores_case) folded |= weight.is_upper;
    return folded;
}
