/* tds_cursor.c - checked reads of bytes from the wire. */
#include "tds/tds.h"

static const uint8_t zeros[8];

TdsCursor tds_cursor(Bytes bytes)
{
    return (TdsCursor){.ptr = bytes.len ? bytes.ptr : zeros, .len = bytes.len};
}

size_t tds_left(const TdsCursor *cursor)
{
    return cursor->failed ? 0 : cursor->len - cursor->at;
}

static const uint8_t *take(TdsCursor *cursor, size_t len)
{
    const uint8_t *from = cursor->ptr + cursor->at;

    if (cursor->failed || len > cursor->len - cursor->at) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += len;
    return from;
}

static inline uint64_t little(TdsCursor *cursor, size_t len)
{
    const uint8_t *from  = take(cursor, len);
    uint64_t       value = 0;

    if (!from) return 0;
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

uint8_t tds_get_u8(TdsCursor *cursor)
{
    return (uint8_t)little(cursor, 1);
}

uint16_t tds_get_u16(TdsCursor *cursor)
{
    return (uint16_t)little(cursor, 2);
}

uint32_t tds_get_u32(TdsCursor *cursor)
{
    return (uint32_t)little(cursor, 4);
}

uint64_t tds_get_u64(TdsCursor *cursor)
{
    return little(cursor, 8);
}

uint16_t tds_get_u16_be(TdsCursor *cursor)
{
    uint16_t value = tds_get_u16(cursor);

    return (uint16_t)(value >> 8 | value << 8);
}

uint32_t tds_get_u32_be(TdsCursor *cursor)
{
    return __builtin_bswap32(tds_get_u32(cursor));
}

Bytes tds_get_bytes(TdsCursor *cursor, size_t len)
{
    const uint8_t *from = take(cursor, len);

    return from ? (Bytes){from, len} : (Bytes){zeros, 0};
}

Str tds_get_text(TdsCursor *cursor, size_t unit_count, Arena *arena)
{
    Bytes utf16 = tds_get_bytes(cursor, unit_count * 2);
    char *utf8;

    if (utf16.len == 0) return STR_EMPTY;
    utf8 = arena_alloc_uninit(arena, unit_count * 3 + 1);
    return (Str){utf8, utf16le_to_utf8(utf16.ptr, unit_count, utf8)};
}
