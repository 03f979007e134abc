/* utf16_cells.c - a bound column of UTF-16 becomes Strs: the one conversion and the one copy that
 * text goes through. */
#include "sqlconn/sqlconn_internal.h"

const Str *utf16_cells_to_str(Arena *arena, const uint8_t *cells, size_t stride,
                              const int64_t *length_bytes, size_t row_count)
{
    Str   *strs       = arena_alloc_uninit(arena, (row_count + 1) * sizeof(Str));
    size_t unit_count = 0;

    for (size_t i = 0; i < row_count; i++)
        unit_count += length_bytes[i] > 0 ? (size_t)length_bytes[i] / 2 : 0;

    char *next = arena_alloc_uninit(arena,
                                    unit_count * 3 + 1); /* a unit is at most 3 bytes of UTF-8 */
    for (size_t i = 0; i < row_count; i++) {
        if (length_bytes[i] < 0) {
            strs[i] = (Str){NULL, 0};
            continue;
        }
        size_t len = utf16le_to_utf8(cells + i * stride, (size_t)length_bytes[i] / 2, next);
        strs[i]    = (Str){next, len};
        next += len;
    }
    return strs;
}
