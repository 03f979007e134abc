/* utf.c - UTF-8 and UTF-16LE. Most text is ASCII, so each conversion tries eight characters at
 * once first. */
#include "base/str.h"

#include "base/base_internal.h"

#define REPLACEMENT 0xFFFDu

static const uint64_t not_ascii_bytes = 0x8080808080808080u;
#if BASE_LITTLE_ENDIAN
static const uint64_t not_ascii_units = 0xFF80FF80FF80FF80u;
#endif

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Length of the well-formed sequence at `bytes`, 0 if there is none; the table of Unicode's
 * section 3.9. */
static size_t sequence_length(const uint8_t *bytes, size_t len)
{
    uint8_t lead = bytes[0];

    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    if (len < 2 || !is_continuation(bytes[1])) return 0;
    if (lead < 0xE0) return 2;
    if (len < 3 || !is_continuation(bytes[2])) return 0;
    if (lead < 0xF0) {
        if (lead == 0xE0 && bytes[1] < 0xA0) return 0;  /* overlong */
        if (lead == 0xED && bytes[1] >= 0xA0) return 0; /* surrogates */
        return 3;
    }
    if (len < 4 || !is_continuation(bytes[3])) return 0;
    if (lead == 0xF0 && bytes[1] < 0x90) return 0;  /* overlong */
    if (lead == 0xF4 && bytes[1] >= 0x90) return 0; /* past U+10FFFF */
    return 4;
}

bool utf8_is_valid(Str str)
{
    const uint8_t *bytes = (const uint8_t *)str.ptr;
    size_t         at    = 0;

    while (at < str.len) {
        if (str.len - at >= 8 && (load_u64(bytes + at) & not_ascii_bytes) == 0) {
            at += 8;
            continue;
        }
        size_t len = sequence_length(bytes + at, str.len - at);
        if (len == 0) return false;
        at += len;
    }
    return true;
}

static uint32_t decode(const uint8_t *bytes, size_t len, size_t *at)
{
    const uint8_t *s = bytes + *at;
    size_t         n = sequence_length(s, len - *at);

    *at += n ? n : 1;
    switch (n) {
    case 1: return s[0];
    case 2: return (uint32_t)(s[0] & 0x1F) << 6 | (uint32_t)(s[1] & 0x3F);
    case 3:
        return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 |
               (uint32_t)(s[2] & 0x3F);
    case 4:
        return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 |
               (uint32_t)(s[2] & 0x3F) << 6 | (uint32_t)(s[3] & 0x3F);
    default: return REPLACEMENT;
    }
}

uint32_t utf8_next(Str str, size_t *at)
{
    return decode((const uint8_t *)str.ptr, str.len, at);
}

static inline size_t encode(uint32_t code_point, char *out)
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xC0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000))
        code_point = REPLACEMENT;
    if (code_point < 0x10000) {
        out[0] = (char)(0xE0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code_point & 0x3F));
    return 4;
}

size_t utf8_encode(uint32_t code_point, char out[4])
{
    return encode(code_point, out);
}

/* ---- UTF-16LE to UTF-8 ---- */

static uint32_t unit_at(const uint8_t *utf16, size_t index)
{
    return (uint32_t)utf16[2 * index] | (uint32_t)utf16[2 * index + 1] << 8;
}

#if BASE_LITTLE_ENDIAN
/* Four ASCII units in one word to four bytes in its lower half. */
static uint32_t narrow_four(uint64_t units)
{
    units = (units | units >> 8) & 0x0000FFFF0000FFFFu;
    return (uint32_t)(units | units >> 16);
}

/* Copies whole groups of eight ASCII units; returns how many units that were. */
static size_t copy_ascii_units(const uint8_t *utf16, size_t unit_count, char *out)
{
    size_t at = 0;

    while (unit_count - at >= 8) {
        uint64_t first  = load_u64(utf16 + 2 * at);
        uint64_t second = load_u64(utf16 + 2 * at + 8);
        if (((first | second) & not_ascii_units) != 0) break;
        uint64_t bytes = (uint64_t)narrow_four(second) << 32 | narrow_four(first);
        memcpy(out + at, &bytes, sizeof bytes);
        at += 8;
    }
    return at;
}
#else
static size_t copy_ascii_units(const uint8_t *utf16, size_t unit_count, char *out)
{
    (void)utf16, (void)unit_count, (void)out;
    return 0;
}
#endif

static inline uint32_t decode_utf16(const uint8_t *utf16, size_t unit_count, size_t *at)
{
    uint32_t unit = unit_at(utf16, (*at)++);

    if (unit < 0xD800 || unit >= 0xE000) return unit;
    if (unit >= 0xDC00 || *at == unit_count) return REPLACEMENT;
    uint32_t low = unit_at(utf16, *at);
    if (low < 0xDC00 || low >= 0xE000)
        return REPLACEMENT; /* and `low` is looked at again on its own */
    (*at)++;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

size_t utf16le_to_utf8(const uint8_t *utf16, size_t unit_count, char *out)
{
    size_t at  = 0;
    size_t len = 0;

    while (at < unit_count) {
        size_t ascii = copy_ascii_units(utf16 + 2 * at, unit_count - at, out + len);
        at += ascii;
        len += ascii;
        size_t stop = MIN(unit_count, at + 8); /* the group that is not plain, then try again */
        while (at < stop) {
            uint32_t unit = unit_at(utf16, at);
            if (unit < 0x80) {
                out[len++] = (char)unit;
                at++;
            } else {
                len += encode(decode_utf16(utf16, unit_count, &at), out + len);
            }
        }
    }
    return len;
}

/* ---- UTF-8 to UTF-16LE ---- */

static void put_unit(uint8_t *out, size_t index, uint32_t unit)
{
    out[2 * index]     = (uint8_t)unit;
    out[2 * index + 1] = (uint8_t)(unit >> 8);
}

#if BASE_LITTLE_ENDIAN
static uint64_t widen_four(uint32_t bytes)
{
    uint64_t units = bytes;

    units = (units | units << 16) & 0x0000FFFF0000FFFFu;
    return (units | units << 8) & 0x00FF00FF00FF00FFu;
}

/* Widens whole groups of eight ASCII bytes; returns how many bytes that were. */
static size_t widen_ascii(const uint8_t *bytes, size_t len, uint8_t *out)
{
    size_t at = 0;

    while (len - at >= 8) {
        uint64_t group = load_u64(bytes + at);
        if ((group & not_ascii_bytes) != 0) break;
        uint64_t first  = widen_four((uint32_t)group);
        uint64_t second = widen_four((uint32_t)(group >> 32));
        memcpy(out + 2 * at, &first, sizeof first);
        memcpy(out + 2 * at + 8, &second, sizeof second);
        at += 8;
    }
    return at;
}
#else
static size_t widen_ascii(const uint8_t *bytes, size_t len, uint8_t *out)
{
    (void)bytes, (void)len, (void)out;
    return 0;
}
#endif

size_t utf8_to_utf16le(Str str, uint8_t *out)
{
    const uint8_t *bytes = (const uint8_t *)str.ptr;
    size_t         at    = 0;
    size_t         count = 0;

    while (at < str.len) {
        size_t ascii = widen_ascii(bytes + at, str.len - at, out + 2 * count);
        at += ascii;
        count += ascii;
        size_t stop = MIN(str.len, at + 8);
        while (at < stop) {
            uint32_t code_point = decode(bytes, str.len, &at);
            if (code_point < 0x10000) {
                put_unit(out, count++, code_point);
            } else {
                put_unit(out, count++, 0xD800 + ((code_point - 0x10000) >> 10));
                put_unit(out, count++, 0xDC00 + (code_point & 0x3FF));
            }
        }
    }
    return count;
}
