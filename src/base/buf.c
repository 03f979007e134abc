/* buf.c - bytes that grow inside an arena. */
#include "base/buf.h"

#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BUF_BYTES_MIN 64

Buf buf_new(Arena *arena, size_t limit)
{
    return (Buf){.arena = arena, .limit = limit ? limit : LIMIT_BUF_BYTES};
}

/* `len` more bytes fit below the limit: the caller has seen to it. One byte past `capacity` is
 * ours, for vsnprintf's NUL. */
static void grow(Buf *buf, size_t len)
{
    size_t capacity = MAX(buf->len + len, BUF_BYTES_MIN);

    /* Doubled, or all of it: a step as long as what is appended would copy everything each time. */
    capacity = buf->capacity <= buf->limit / 2 ? MAX(capacity, buf->capacity * 2) : buf->limit;
    capacity = MIN(capacity, buf->limit);
    if (buf->ptr != NULL && arena_extend(buf->arena, buf->ptr, buf->capacity + 1, capacity + 1)) {
        buf->capacity = capacity;
        return;
    }

    char *moved = arena_alloc_uninit(buf->arena, capacity + 1);
    if (buf->ptr != NULL) memcpy(moved, buf->ptr, buf->len);
    buf->ptr      = moved;
    buf->capacity = capacity;
}

void buf_append_bytes(Buf *buf, const void *bytes, size_t len)
{
    if (buf->overflow) return;
    if (len > buf->limit - buf->len) {
        len           = buf->limit - buf->len;
        buf->overflow = true;
    }
    if (len == 0) return;
    if (len > buf->capacity - buf->len) grow(buf, len);
    memcpy(buf->ptr + buf->len, bytes, len);
    buf->len += len;
}

void buf_append(Buf *buf, Str str)
{
    buf_append_bytes(buf, str.ptr, str.len);
}

void buf_append_c(Buf *buf, const char *text)
{
    buf_append(buf, str_from_c(text));
}

void buf_append_char(Buf *buf, char c)
{
    if (buf->len < buf->capacity && !buf->overflow)
        buf->ptr[buf->len++] = c;
    else
        buf_append_bytes(buf, &c, 1);
}

void buf_printf(Buf *buf, const char *fmt, ...)
{
    va_list args;

    if (buf->overflow) return;
    if (buf->ptr == NULL) grow(buf, 0);
    size_t room = buf->capacity - buf->len;
    va_start(args, fmt);
    int len = vsnprintf(buf->ptr + buf->len, room + 1, fmt, args);
    va_end(args);
    if (len < 0) return;

    if ((size_t)len > room) {
        if ((size_t)len > buf->limit - buf->len) buf->overflow = true;
        size_t fits = buf->overflow ? buf->limit - buf->len : (size_t)len;
        if (fits > room) grow(buf, fits);
        va_start(args, fmt);
        (void)vsnprintf(buf->ptr + buf->len, fits + 1, fmt, args);
        va_end(args);
        len = (int)fits;
    }
    buf->len += (size_t)len;
}

char *buf_reserve(Buf *buf, size_t len)
{
    if (buf->overflow) return NULL;
    if (len > buf->limit - buf->len) {
        buf->overflow = true;
        return NULL;
    }
    if (buf->ptr == NULL || len > buf->capacity - buf->len) grow(buf, len);
    return buf->ptr + buf->len;
}

void buf_advance(Buf *buf, size_t len)
{
    buf->len += MIN(len, buf->capacity - buf->len);
}

void buf_clear(Buf *buf)
{
    buf->len      = 0;
    buf->overflow = false;
}

Str buf_str(const Buf *buf)
{
    return buf->len ? (Str){buf->ptr, buf->len} : STR_EMPTY;
}
