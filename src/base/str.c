/* str.c - borrowed text. UTF-8 and UTF-16 are in utf.c. */
#include "base/str.h"

#include "base/arena.h"
#include "base/base_internal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

Str str_from_c(const char *text)
{
    return (Str){text, text ? strlen(text) : 0};
}

Bytes str_bytes(Str str)
{
    return (Bytes){(const uint8_t *)str.ptr, str.len};
}

Str bytes_str(Bytes bytes)
{
    return (Str){(const char *)bytes.ptr, bytes.len};
}

bool str_is_empty(Str str)
{
    return str.len == 0;
}

bool str_equal(Str left, Str right)
{
    return left.len == right.len && (left.len == 0 || memcmp(left.ptr, right.ptr, left.len) == 0);
}

bool str_equal_c(Str left, const char *right)
{
    return str_equal(left, str_from_c(right));
}

static char lower_ascii(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_equal_ignoring_case(Str left, Str right)
{
    if (left.len != right.len) return false;
    for (size_t i = 0; i < left.len; i++)
        if (lower_ascii(left.ptr[i]) != lower_ascii(right.ptr[i])) return false;
    return true;
}

int str_compare(Str left, Str right)
{
    size_t len   = MIN(left.len, right.len);
    int    order = len ? memcmp(left.ptr, right.ptr, len) : 0;

    if (order == 0) return (left.len > right.len) - (left.len < right.len);
    return order < 0 ? -1 : 1;
}

bool str_starts_with(Str str, Str prefix)
{
    return str.len >= prefix.len && str_equal((Str){str.ptr, prefix.len}, prefix);
}

bool str_ends_with(Str str, Str suffix)
{
    return str.len >= suffix.len &&
           str_equal(str_slice(str, str.len - suffix.len, str.len), suffix);
}

ptrdiff_t str_find(Str str, Str needle, size_t from)
{
    if (needle.len == 0) return from <= str.len ? (ptrdiff_t)from : -1;
    while (from < str.len && str.len - from >= needle.len) {
        size_t      room  = str.len - from - needle.len + 1; /* places where it can begin */
        const char *first = memchr(str.ptr + from, needle.ptr[0], room);
        if (first == NULL) return -1;
        if (memcmp(first, needle.ptr, needle.len) == 0) return first - str.ptr;
        from = (size_t)(first - str.ptr) + 1;
    }
    return -1;
}

ptrdiff_t str_find_char(Str str, char c, size_t from)
{
    if (from >= str.len) return -1;
    const char *at = memchr(str.ptr + from, c, str.len - from);
    return at ? at - str.ptr : -1;
}

ptrdiff_t str_find_last_char(Str str, char c)
{
    for (size_t i = str.len; i > 0; i--)
        if (str.ptr[i - 1] == c) return (ptrdiff_t)(i - 1);
    return -1;
}

Str str_slice(Str str, size_t from, size_t to)
{
    to   = MIN(to, str.len);
    from = MIN(from, to);
    return str.ptr ? (Str){str.ptr + from, to - from} : (Str){NULL, 0};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

Str str_trim(Str str)
{
    size_t from = 0;
    size_t to   = str.len;

    while (from < to && is_blank(str.ptr[from]))
        from++;
    while (to > from && is_blank(str.ptr[to - 1]))
        to--;
    return str_slice(str, from, to);
}

bool str_split_next(Str *rest, char separator, Str *part_out)
{
    if (rest->ptr == NULL) return false;
    ptrdiff_t at = str_find_char(*rest, separator, 0);
    if (at < 0) {
        *part_out = *rest;
        *rest     = (Str){NULL, 0};
    } else {
        *part_out = str_slice(*rest, 0, (size_t)at);
        *rest     = str_slice(*rest, (size_t)at + 1, rest->len);
    }
    return true;
}

/* ---- made in an arena, with a NUL behind ---- */

Str str_copy(Arena *arena, Str str)
{
    char *copy = arena_alloc_uninit(arena, str.len + 1);

    if (str.len > 0) memcpy(copy, str.ptr, str.len);
    copy[str.len] = '\0';
    return (Str){copy, str.len};
}

Str str_printf(Arena *arena, const char *fmt, ...)
{
    char    small[256];
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (len < 0) return STR_EMPTY;
    if ((size_t)len < sizeof small) return str_copy(arena, (Str){small, (size_t)len});

    char *text = arena_alloc_uninit(arena, (size_t)len + 1);
    va_start(args, fmt);
    (void)vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    return (Str){text, (size_t)len};
}

Str str_lower_ascii(Arena *arena, Str str)
{
    char *lower = arena_alloc_uninit(arena, str.len + 1);

    for (size_t i = 0; i < str.len; i++)
        lower[i] = lower_ascii(str.ptr[i]);
    lower[str.len] = '\0';
    return (Str){lower, str.len};
}

const char *str_c(Arena *arena, Str str)
{
    return str_copy(arena, str).ptr;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool str_parse_u64(Str str, uint64_t *out)
{
    uint64_t value = 0;

    if (str.len == 0) return false;
    for (size_t i = 0; i < str.len; i++) {
        if (!is_digit(str.ptr[i])) return false;
        uint64_t digit = (uint64_t)(str.ptr[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool str_parse_i64(Str str, int64_t *out)
{
    uint64_t magnitude;
    bool     negative = str.len > 0 && str.ptr[0] == '-';

    if (!str_parse_u64(negative ? str_slice(str, 1, str.len) : str, &magnitude)) return false;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return false;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

static size_t skip_digits(Str str, size_t at)
{
    while (at < str.len && is_digit(str.ptr[at]))
        at++;
    return at;
}

/* -?digits(.digits)?([eE][+-]?digits)?: strtod takes more than we want (blanks, hex, "inf"). */
static bool is_decimal_number(Str str)
{
    size_t at  = str.len > 0 && str.ptr[0] == '-' ? 1 : 0;
    size_t end = skip_digits(str, at);

    if (end == at) return false;
    if (end < str.len && str.ptr[end] == '.') {
        at  = end + 1;
        end = skip_digits(str, at);
        if (end == at) return false;
    }
    if (end < str.len && (str.ptr[end] == 'e' || str.ptr[end] == 'E')) {
        at = end + 1;
        if (at < str.len && (str.ptr[at] == '+' || str.ptr[at] == '-')) at++;
        end = skip_digits(str, at);
        if (end == at) return false;
    }
    return end == str.len;
}

bool str_parse_double(Str str, double *out)
{
    char  small[64];
    char *text = small;

    if (!is_decimal_number(str)) return false;
    if (str.len >= sizeof small) text = mem_alloc(str.len + 1);
    memcpy(text, str.ptr, str.len);
    text[str.len] = '\0';
    double value  = strtod(text, NULL);
    if (text != small) mem_free(text);

    if (!isfinite(value)) return false;
    *out = value;
    return true;
}

/* ---- hashing and hex ---- */

uint64_t str_hash(Str str)
{
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t       hash   = str.len * factor;
    size_t         at     = 0;

    for (; str.len - at >= 8; at += 8) {
        hash = (hash ^ load_u64(str.ptr + at)) * factor;
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    if (at < str.len) memcpy(&tail, str.ptr + at, str.len - at);
    hash = (hash ^ tail) * factor;
    return hash ^ (hash >> 29);
}

Str hex_encode(Arena *arena, Bytes bytes, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

    if (bytes.len > (SIZE_MAX - 1) / 2) base_fatal("out of memory");
    char *text = arena_alloc_uninit(arena, 2 * bytes.len + 1);
    for (size_t i = 0; i < bytes.len; i++) {
        text[2 * i]     = digits[bytes.ptr[i] >> 4];
        text[2 * i + 1] = digits[bytes.ptr[i] & 0xF];
    }
    text[2 * bytes.len] = '\0';
    return (Str){text, 2 * bytes.len};
}

int hex_digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool hex_decode(Arena *arena, Str hex, Bytes *out)
{
    if (hex.len % 2 != 0) return false;
    uint8_t *bytes = arena_alloc_uninit(arena, hex.len / 2);
    for (size_t i = 0; i < hex.len / 2; i++) {
        int high = hex_digit_value(hex.ptr[2 * i]);
        int low  = hex_digit_value(hex.ptr[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    *out = (Bytes){bytes, hex.len / 2};
    return true;
}
