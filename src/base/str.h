/* str.h - borrowed text and bytes, and the arena strings made of them.
 *
 * A Str is a pointer and a length, UTF-8 by convention, not terminated (arena-made ones have a
 * NUL behind them that does not count). It owns nothing: whoever made the memory says how long
 * it lives. */
#ifndef TIDELAKE_BASE_STR_H
#define TIDELAKE_BASE_STR_H

#include "base/macros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

typedef struct Str {
    const char *ptr;
    size_t      len;
} Str;

typedef struct Bytes {
    const uint8_t *ptr;
    size_t         len;
} Bytes;

#define STR(literal) ((Str){(literal), sizeof(literal) - 1})
/* The same for static tables, where C wants a constant. */
/* clang-format off */
#define STR_INIT(literal) {(literal), sizeof(literal) - 1}
/* clang-format on */
#define STR_EMPTY    ((Str){"", 0})
#define STR_ARG(str) (int)(str).len, (str).len ? (str).ptr : "" /* for "%.*s" */

Str   str_from_c(const char *text); /* NULL gives an empty Str with ptr NULL */
Bytes str_bytes(Str str);
Str   bytes_str(Bytes bytes);
bool  str_is_empty(Str str);
bool  str_equal(Str left, Str right);
bool  str_equal_c(Str left, const char *right);
/* ASCII letters fold, every other byte compares as it is. */
bool str_equal_ignoring_case(Str left, Str right);
int  str_compare(Str left, Str right); /* bytewise: -1, 0 or 1 */
bool str_starts_with(Str str, Str prefix);
bool str_ends_with(Str str, Str suffix);
/* Index of the first occurrence at or after `from`, or -1. */
ptrdiff_t str_find(Str str, Str needle, size_t from);
ptrdiff_t str_find_char(Str str, char c, size_t from);
ptrdiff_t str_find_last_char(Str str, char c);
Str       str_slice(Str str, size_t from, size_t to); /* clamps both ends */
Str       str_trim(Str str);                          /* blanks, tabs, CR, LF at both ends */
/* Cuts the part before `separator` off the front of `*rest`; false when `*rest` was used up (ptr
 * NULL). */
bool str_split_next(Str *rest, char separator, Str *part_out);

Str         str_copy(Arena *arena, Str str);
Str         str_printf(Arena *arena, const char *fmt, ...) PRINTF(2, 3);
Str         str_lower_ascii(Arena *arena, Str str);
const char *str_c(Arena *arena, Str str); /* NUL-terminated copy */

/* Whole text is a number in range, with an optional '-'; no blanks, no '+'. */
bool str_parse_i64(Str str, int64_t *out) MUST_CHECK;
bool str_parse_u64(Str str, uint64_t *out) MUST_CHECK;
bool str_parse_double(Str str, double *out) MUST_CHECK;

uint64_t str_hash(Str str); /* stable for one process and one build, not for disk */

/* UTF-8. */
bool utf8_is_valid(Str str); /* no surrogates, no overlong forms, at most U+10FFFF */
/* Decodes one code point at `*at` and moves on; malformed bytes give U+FFFD and move by one. */
uint32_t utf8_next(Str str, size_t *at);
size_t utf8_encode(uint32_t code_point, char out[4]); /* bytes written; surrogates become U+FFFD */
/* UTF-16LE to UTF-8: lone surrogates become U+FFFD. `out` needs 3 bytes per unit. Returns the
 * bytes written. */
size_t utf16le_to_utf8(const uint8_t *utf16, size_t unit_count, char *out);
/* UTF-8 to UTF-16LE: malformed bytes become U+FFFD. `out` needs 2 bytes per byte. Returns the
 * units written. */
size_t utf8_to_utf16le(Str str, uint8_t *out);

/* Lower- or upper-case hex. */
Str hex_encode(Arena *arena, Bytes bytes, bool upper);
int hex_digit_value(char c); /* -1 if it is none */
/* even length, any case, no prefix */
bool hex_decode(Arena *arena, Str hex, Bytes *out) MUST_CHECK;

#endif
