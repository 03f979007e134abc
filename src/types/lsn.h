/* lsn.h - SQL Server's 10-byte log position (algorithms.md 0.2).
 *
 * Text is `0x` and 20 upper-case hex digits; text order, byte order and log order are the same.
 * The zero LSN stands for "before everything". A small value: copy it. */
#ifndef TIDELAKE_TYPES_LSN_H
#define TIDELAKE_TYPES_LSN_H

#include "base/log.h"
#include "base/str.h"

#define LSN_BYTES      10
#define LSN_TEXT_CHARS 22

typedef struct Lsn {
    uint8_t bytes[LSN_BYTES];
} Lsn;

typedef struct LsnText {
    char text[LSN_TEXT_CHARS + 1];
} LsnText;

#define LSN_ZERO ((Lsn){{0}})

/* Surrounding blanks, an optional 0x or 0X, any case, 1 to 20 digits (padded on the left with
 * zeros). Anything else is false, an empty text and a bare 0x too. */
bool    lsn_parse(Str text, Lsn *out) MUST_CHECK;
bool    lsn_from_bytes(Bytes bytes, Lsn *out) MUST_CHECK; /* exactly 10 */
LsnText lsn_format(Lsn lsn);
Str     lsn_str(Arena *arena, Lsn lsn);
int     lsn_compare(Lsn left, Lsn right);
bool    lsn_equal(Lsn left, Lsn right);
bool    lsn_is_zero(Lsn lsn);
Lsn     lsn_max(Lsn left, Lsn right);
Lsn     lsn_min(Lsn left, Lsn right);
Lsn     lsn_increment(Lsn lsn); /* as an 80-bit number; the largest stays */
Lsn     lsn_decrement(Lsn lsn); /* zero stays zero */

#define LOG_LSN(name, lsn) LOG_TEXT(name, lsn_format(lsn).text)

#endif
