/* The collations of sqlserver.md 2.11 by name, and text in and out of their code pages. How they order is in
 * collation_order.c. */
#include "sim/value/collation_internal.h"

#include <string.h>

enum { CP_UTF8 = 65001 };

/* The collations of one Windows locale: every mix of case and accents, and the binary ones. */
#define WINDOWS_LOCALE(prefix, lcid, page, version, turkish)                             \
    {prefix "_CI_AS", lcid, page, version, 0, ORDER_WINDOWS, true, false, turkish},      \
        {prefix "_CI_AI", lcid, page, version, 0, ORDER_WINDOWS, true, true, turkish},   \
        {prefix "_CS_AS", lcid, page, version, 0, ORDER_WINDOWS, false, false, turkish}, \
        {prefix "_CS_AI", lcid, page, version, 0, ORDER_WINDOWS, false, true, turkish},  \
        {prefix "_BIN", lcid, page, version, 0, ORDER_BIN, false, false, turkish},       \
    {                                                                                    \
        prefix "_BIN2", lcid, page, version, 0, ORDER_BIN2, false, false, turkish        \
    }
#define WINDOWS_SUPPLEMENTARY(prefix, suffix, lcid, page, version, turkish)                     \
    {prefix "_CI_AS" suffix, lcid, page, version, 0, ORDER_WINDOWS, true, false, turkish},      \
        {prefix "_CI_AI" suffix, lcid, page, version, 0, ORDER_WINDOWS, true, true, turkish},   \
        {prefix "_CS_AS" suffix, lcid, page, version, 0, ORDER_WINDOWS, false, false, turkish}, \
    {                                                                                           \
        prefix "_CS_AI" suffix, lcid, page, version, 0, ORDER_WINDOWS, false, true, turkish     \
    }
#define WINDOWS_100(prefix, lcid, page, turkish)                             \
    WINDOWS_LOCALE(prefix "_100", lcid, page, 2, turkish),                   \
        WINDOWS_SUPPLEMENTARY(prefix "_100", "_SC", lcid, page, 2, turkish), \
        WINDOWS_SUPPLEMENTARY(prefix "_100", "_SC_UTF8", lcid, CP_UTF8, 2, turkish)

/* clang-format off */
static const SimCollation collations[] = {
    /* The default comes first. */
    {"SQL_Latin1_General_CP1_CI_AS", 0x0409, 1252, 0, 52, ORDER_SQL, true, false, false},
    {"SQL_Latin1_General_CP1_CS_AS", 0x0409, 1252, 0, 51, ORDER_SQL, false, false, false},
    {"SQL_Latin1_General_CP1_CI_AI", 0x0409, 1252, 0, 54, ORDER_SQL, true, true, false},
    {"SQL_Latin1_General_CP1250_CS_AS", 0x0409, 1250, 0, 81, ORDER_SQL, false, false, false},
    {"SQL_Latin1_General_CP1250_CI_AS", 0x0409, 1250, 0, 82, ORDER_SQL, true, false, false},
    {"SQL_Latin1_General_CP1251_CS_AS", 0x0419, 1251, 0, 105, ORDER_SQL, false, false, false},
    {"SQL_Latin1_General_CP1251_CI_AS", 0x0419, 1251, 0, 106, ORDER_SQL, true, false, false},
    {"SQL_Latin1_General_CP1253_CS_AS", 0x0408, 1253, 0, 113, ORDER_SQL, false, false, false},
    {"SQL_Latin1_General_CP1253_CI_AS", 0x0408, 1253, 0, 114, ORDER_SQL, true, false, false},
    {"SQL_Latin1_General_CP1254_CS_AS", 0x041F, 1254, 0, 129, ORDER_SQL, false, false, true},
    {"SQL_Latin1_General_CP1254_CI_AS", 0x041F, 1254, 0, 130, ORDER_SQL, true, false, true},
    WINDOWS_LOCALE("Latin1_General", 0x0409, 1252, 0, false),
    WINDOWS_LOCALE("Greek", 0x0408, 1253, 0, false),
    WINDOWS_LOCALE("Turkish", 0x041F, 1254, 0, true),
    WINDOWS_LOCALE("Cyrillic_General", 0x0419, 1251, 0, false),
    WINDOWS_LOCALE("Polish", 0x0415, 1250, 0, false),
    WINDOWS_100("Latin1_General", 0x0409, 1252, false),
    WINDOWS_100("Greek", 0x0408, 1253, false),
    WINDOWS_100("Turkish", 0x041F, 1254, true),
    WINDOWS_100("Cyrillic_General", 0x0419, 1251, false),
    {"Latin1_General_100_BIN2_UTF8", 0x0409, CP_UTF8, 2, 0, ORDER_BIN2, false, false, false},
};
/* clang-format on */

const SimCollation *sim_collation_default(void)
{
    return &collations[0];
}

const SimCollation *sim_collation_find(Str name)
{
    for (size_t i = 0; i < COUNT_OF(collations); i++) {
        if (str_equal_ignoring_case(str_from_c(collations[i].name), name)) return &collations[i];
    }
    return NULL;
}

const SimCollation *sim_collation_next(size_t *at)
{
    if (*at >= COUNT_OF(collations)) return NULL;
    return &collations[(*at)++];
}

static const SimCollation *or_default(const SimCollation *collation)
{
    return collation != NULL ? collation : &collations[0];
}

Str sim_collation_name(const SimCollation *collation)
{
    return str_from_c(or_default(collation)->name);
}

/* LCID in 20 bits, then flags, then the version in four; the sort id is the fifth byte (2.9). */
void sim_collation_wire(const SimCollation *collation, uint8_t out[5])
{
    const SimCollation *from  = or_default(collation);
    uint32_t            flags = 0;

    if (from->order == ORDER_BIN) {
        flags = 1U << 24;
    } else if (from->order == ORDER_BIN2) {
        flags = 1U << 25;
    } else {
        flags = 1U << 22 | 1U << 23; /* kana and width */
        if (from->ignores_case) flags |= 1U << 20;
        if (from->ignores_accents) flags |= 1U << 21;
    }
    if (from->code_page == CP_UTF8) flags |= 1U << 26;
    uint32_t word = from->lcid | flags | (uint32_t)from->version << 28;
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(word >> (8 * i));
    out[4] = from->sort_id;
}

const SimCollation *sim_collation_of_wire(const uint8_t wire[5])
{
    for (size_t i = 0; i < COUNT_OF(collations); i++) {
        uint8_t bytes[5];

        sim_collation_wire(&collations[i], bytes);
        if (memcmp(bytes, wire, sizeof bytes) == 0) return &collations[i];
    }
    return sim_collation_default();
}

bool sim_collation_is_utf8(const SimCollation *collation)
{
    return or_default(collation)->code_page == CP_UTF8;
}

int sim_collation_code_page(const SimCollation *collation)
{
    return or_default(collation)->code_page;
}

uint32_t sim_collation_lcid(const SimCollation *collation)
{
    return or_default(collation)->lcid;
}

bool sim_collation_is_case_sensitive(const SimCollation *collation)
{
    return !or_default(collation)->ignores_case;
}

/* --- code points --- */
static uint32_t next_utf16(Bytes text, size_t *at)
{
    if (*at + 1 >= text.len) { /* half a unit: cannot happen in a value of ours */
        *at = text.len;
        return 0xFFFD;
    }
    uint32_t unit = (uint32_t)text.ptr[*at] | (uint32_t)text.ptr[*at + 1] << 8;
    *at += 2;
    if (unit < 0xD800 || unit > 0xDBFF || *at + 1 >= text.len) return unit;
    uint32_t low = (uint32_t)text.ptr[*at] | (uint32_t)text.ptr[*at + 1] << 8;
    if (low < 0xDC00 || low > 0xDFFF) return unit;
    *at += 2;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

/* A broken byte stands for a code point beyond Unicode, so that it equals itself alone. */
static uint32_t next_utf8(Bytes text, size_t *at)
{
    size_t   before = *at;
    Str      str    = {(const char *)text.ptr, text.len};
    uint32_t point  = utf8_next(str, at);

    if (point == 0xFFFD && *at == before + 1) return 0x110000U + text.ptr[before];
    return point;
}

uint32_t collation_next(const SimCollation *collation, bool unicode, Bytes text, size_t *at)
{
    if (unicode) return next_utf16(text, at);
    if (text.ptr[*at] < 0x80) return text.ptr[(*at)++];
    if (collation->code_page == CP_UTF8) return next_utf8(text, at);
    return code_page_upper_half(collation->code_page)[text.ptr[(*at)++] - 0x80];
}

size_t collation_trimmed(const SimCollation *collation, bool unicode, Bytes text)
{
    size_t len = text.len;

    (void)collation;
    if (unicode) {
        while (len >= 2 && text.ptr[len - 2] == ' ' && text.ptr[len - 1] == 0)
            len -= 2;
    } else {
        while (len >= 1 && text.ptr[len - 1] == ' ')
            len--;
    }
    return len;
}

/* --- UTF-8 in and out --- */
static Str code_page_to_utf8(Arena *arena, const SimCollation *collation, Bytes text)
{
    size_t ascii = 0;

    while (ascii < text.len && text.ptr[ascii] < 0x80)
        ascii++;
    if (ascii == text.len) return (Str){(const char *)text.ptr, text.len};
    const uint16_t *upper = code_page_upper_half(collation->code_page);
    char           *out   = (char *)arena_alloc_uninit(arena, text.len * 3 + 1);
    size_t          len   = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 0x80)
            out[len++] = (char)text.ptr[i];
        else
            len += utf8_encode(upper[text.ptr[i] - 0x80], &out[len]);
    }
    return (Str){out, len};
}

Str sim_text_to_utf8(Arena *arena, const SimCollation *collation, bool unicode, Bytes text)
{
    const SimCollation *from = or_default(collation);

    if (text.len == 0) return STR_EMPTY;
    if (unicode) {
        char *out = (char *)arena_alloc_uninit(arena, text.len / 2 * 3 + 1);
        return (Str){out, utf16le_to_utf8(text.ptr, text.len / 2, out)};
    }
    if (from->code_page == CP_UTF8) return (Str){(const char *)text.ptr, text.len};
    return code_page_to_utf8(arena, from, text);
}

static uint8_t collation_byte(const SimCollation *collation, uint32_t code_point)
{
    if (code_point < 0x80) return (uint8_t)code_point;
    const uint16_t *upper = code_page_upper_half(collation->code_page);
    if (code_point <= 0xFF && upper[code_point - 0x80] == code_point) return (uint8_t)code_point;
    for (unsigned i = 0; i < 128; i++) {
        if (upper[i] == code_point) return (uint8_t)(0x80 + i);
    }
    return '?';
}

Bytes sim_text_from_utf8(Arena *arena, const SimCollation *collation, bool unicode, Str utf8)
{
    const SimCollation *to = or_default(collation);

    if (unicode) {
        uint8_t *out = (uint8_t *)arena_alloc_uninit(arena, utf8.len * 2 + 2);
        return (Bytes){out, utf8_to_utf16le(utf8, out) * 2};
    }
    uint8_t *out = (uint8_t *)arena_alloc_uninit(arena, utf8.len + 1);
    size_t   len = 0;
    if (to->code_page == CP_UTF8) {
        if (utf8.len > 0) memcpy(out, utf8.ptr, utf8.len);
        return (Bytes){out, utf8.len};
    }
    for (size_t at = 0; at < utf8.len;) {
        if ((unsigned char)utf8.ptr[at] < 0x80) {
            out[len++] = (uint8_t)utf8.ptr[at++];
            continue;
        }
        uint32_t point = utf8_next(utf8, &at);
        if (point > 0xFFFF) out[len++] = '?'; /* a surrogate pair is two characters to the server */
        out[len++] = collation_byte(to, point);
    }
    return (Bytes){out, len};
}

static Bytes recode_unicode_to_page(Arena *arena, const SimCollation *to, Bytes text)
{
    uint8_t *out = (uint8_t *)arena_alloc_uninit(arena, text.len / 2 + 1);
    size_t   len = 0;

    for (size_t i = 0; i + 1 < text.len; i += 2)
        out[len++] = collation_byte(to, (uint32_t)text.ptr[i] | (uint32_t)text.ptr[i + 1] << 8);
    return (Bytes){out, len};
}

Bytes sim_text_recode(Arena *arena, const SimCollation *from, bool from_unicode,
                      const SimCollation *to, bool to_unicode, Bytes text)
{
    const SimCollation *source = or_default(from);
    const SimCollation *target = or_default(to);

    if (text.len == 0 || (from_unicode && to_unicode)) return text;
    if (!from_unicode && !to_unicode && source->code_page == target->code_page) return text;
    if (from_unicode && target->code_page != CP_UTF8)
        return recode_unicode_to_page(arena, target, text);
    if (to_unicode && source->code_page != CP_UTF8) {
        const uint16_t *upper = code_page_upper_half(source->code_page);
        uint8_t        *out   = (uint8_t *)arena_alloc_uninit(arena, text.len * 2);
        for (size_t i = 0; i < text.len; i++) {
            uint16_t unit  = text.ptr[i] < 0x80 ? text.ptr[i] : upper[text.ptr[i] - 0x80];
            out[i * 2]     = (uint8_t)(unit & 0xFF);
            out[i * 2 + 1] = (uint8_t)(unit >> 8);
        }
        return (Bytes){out, text.len * 2};
    }
    return sim_text_from_utf8(arena, target, to_unicode,
                              sim_text_to_utf8(arena, source, from_unicode, text));
}

/* --- case --- */
static uint32_t map_case(uint32_t point, bool upper, bool turkish)
{
    size_t         count = 0;
    const CaseRun *runs  = collation_case_runs(&count);

    if (turkish && (point == 'i' || point == 0x0130)) return upper ? 0x0130U : 'i';
    if (turkish && (point == 'I' || point == 0x0131)) return upper ? 'I' : 0x0131U;
    for (size_t i = 0; i < count; i++) {
        int64_t from = upper ? runs[i].from : (int64_t)runs[i].from + runs[i].delta;
        int64_t to   = upper ? runs[i].to : (int64_t)runs[i].to + runs[i].delta;
        if ((int64_t)point < from || (int64_t)point > to ||
            ((int64_t)point - from) % runs[i].step != 0)
            continue;
        return (uint32_t)((int64_t)point + (upper ? runs[i].delta : -(int64_t)runs[i].delta));
    }
    return point;
}

static uint8_t map_byte(const SimCollation *collation, uint8_t byte, bool upper)
{
    uint32_t point = byte < 0x80 ? byte : code_page_upper_half(collation->code_page)[byte - 0x80];
    uint32_t other = map_case(point, upper, collation->is_turkish);
    uint8_t  out   = collation_byte(collation, other);

    return out == '?' && other != '?' ? byte : out;
}

Bytes sim_text_case(Arena *arena, const SimCollation *collation, bool unicode, bool upper,
                    Bytes text)
{
    const SimCollation *with = or_default(collation);

    if (!unicode && with->code_page == CP_UTF8) {
        Bytes wide = sim_text_recode(arena, with, false, with, true, text);
        return sim_text_recode(arena, with, true, with, false,
                               sim_text_case(arena, with, true, upper, wide));
    }
    uint8_t *out = (uint8_t *)arena_alloc_uninit(arena, text.len + 1);
    for (size_t i = 0; !unicode && i < text.len; i++) {
        uint8_t c     = text.ptr[i];
        bool    plain = c < 0x80 && (!with->is_turkish || (c != 'i' && c != 'I'));
        if (plain && upper)
            out[i] = (uint8_t)(c >= 'a' && c <= 'z' ? c - 32 : c);
        else if (plain)
            out[i] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        else
            out[i] = map_byte(with, c, upper);
    }
    for (size_t i = 0; unicode && i + 1 < text.len; i += 2) {
        uint32_t mapped = map_case((uint32_t)text.ptr[i] | (uint32_t)text.ptr[i + 1] << 8, upper,
                                   with->is_turkish);
        out[i]          = (uint8_t)(mapped & 0xFF);
        out[i + 1]      = (uint8_t)(mapped >> 8);
    }
    return (Bytes){out, text.len};
}

static uint32_t fold_name(uint32_t point)
{
    if (point < 0x80) return point >= 'a' && point <= 'z' ? point - 32 : point;
    return map_case(point, true, false);
}

bool sim_name_equal(Str left, Str right)
{
    size_t left_at  = 0;
    size_t right_at = 0;

    while (left_at < left.len && right_at < right.len) {
        if (fold_name(utf8_next(left, &left_at)) != fold_name(utf8_next(right, &right_at)))
            return false;
    }
    return left_at == left.len && right_at == right.len;
}
