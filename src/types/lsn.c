/* lsn.c - LSNs as bytes, text and 80-bit numbers. */
#include "types/lsn.h"

#include <string.h>

#define LSN_DIGITS ((size_t)2 * LSN_BYTES)

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r'); /* what Python's strip() takes off, in ASCII */
}

static Str strip(Str text)
{
    size_t from = 0;
    size_t to   = text.len;

    while (from < to && is_blank(text.ptr[from]))
        from++;
    while (to > from && is_blank(text.ptr[to - 1]))
        to--;
    return str_slice(text, from, to);
}

bool lsn_parse(Str text, Lsn *out)
{
    Str digits = strip(text);
    Lsn lsn    = LSN_ZERO;

    if (str_starts_with(digits, STR("0x")) || str_starts_with(digits, STR("0X")))
        digits = str_slice(digits, 2, digits.len);
    if (digits.len == 0 || digits.len > LSN_DIGITS) return false;

    for (size_t i = 0; i < digits.len; i++) {
        int value = hex_digit_value(
            digits.ptr[digits.len - 1 - i]); /* the last digit is the lowest */
        size_t at = LSN_BYTES - 1 - i / 2;
        if (value < 0) return false;
        lsn.bytes[at] = (uint8_t)(lsn.bytes[at] | value << (i % 2 ? 4 : 0));
    }
    *out = lsn;
    return true;
}

bool lsn_from_bytes(Bytes bytes, Lsn *out)
{
    if (bytes.len != LSN_BYTES) return false;
    memcpy(out->bytes, bytes.ptr, LSN_BYTES);
    return true;
}

LsnText lsn_format(Lsn lsn)
{
    const char *digits = "0123456789ABCDEF";
    LsnText     out    = {.text = "0x"};

    for (size_t i = 0; i < LSN_BYTES; i++) {
        out.text[2 + 2 * i] = digits[lsn.bytes[i] >> 4];
        out.text[3 + 2 * i] = digits[lsn.bytes[i] & 0xF];
    }
    return out;
}

Str lsn_str(Arena *arena, Lsn lsn)
{
    return str_copy(arena, (Str){lsn_format(lsn).text, LSN_TEXT_CHARS});
}

int lsn_compare(Lsn left, Lsn right)
{
    int order = memcmp(left.bytes, right.bytes, LSN_BYTES);
    return (order > 0) - (order < 0);
}

bool lsn_equal(Lsn left, Lsn right)
{
    return lsn_compare(left, right) == 0;
}

bool lsn_is_zero(Lsn lsn)
{
    return lsn_equal(lsn, LSN_ZERO);
}

Lsn lsn_max(Lsn left, Lsn right)
{
    return lsn_compare(left, right) >= 0 ? left : right;
}

Lsn lsn_min(Lsn left, Lsn right)
{
    return lsn_compare(left, right) <= 0 ? left : right;
}

Lsn lsn_increment(Lsn lsn)
{
    Lsn next = lsn;

    for (size_t i = LSN_BYTES; i > 0; i--)
        if (++next.bytes[i - 1] != 0) return next;
    return lsn; /* the carry left the number */
}

Lsn lsn_decrement(Lsn lsn)
{
    Lsn before = lsn;

    for (size_t i = LSN_BYTES; i > 0; i--)
        if (before.bytes[i - 1]-- != 0) return before;
    return lsn;
}
