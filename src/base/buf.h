/* buf.h - bytes that grow inside an arena, up to a stated limit. */
#ifndef TIDELAKE_BASE_BUF_H
#define TIDELAKE_BASE_BUF_H

#include "base/arena.h"
#include "base/macros.h"
#include "base/str.h"

#include <stdbool.h>

typedef struct Buf {
    Arena *arena;
    char  *ptr;
    size_t len;
    size_t capacity;
    size_t limit; /* bytes; appending past it sets `overflow` and drops the rest */
    bool   overflow;
} Buf;

Buf  buf_new(Arena *arena, size_t limit); /* limit 0: base/limits.h's LIMIT_BUF_BYTES */
void buf_append(Buf *buf, Str str);
void buf_append_c(Buf *buf, const char *text);
void buf_append_char(Buf *buf, char c);
void buf_append_bytes(Buf *buf, const void *bytes, size_t len);
void buf_printf(Buf *buf, const char *fmt, ...) PRINTF(2, 3);
/* Room for `len` more bytes, to be written by the caller and counted by buf_advance; NULL past
 * the limit. */
char *buf_reserve(Buf *buf, size_t len);
void  buf_advance(Buf *buf, size_t len);
void  buf_clear(Buf *buf);
Str   buf_str(const Buf *buf); /* valid until the next append */

#endif
