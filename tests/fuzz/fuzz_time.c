/* Any bytes as the text of a time: what is accepted lies in years 1 to 9999 and reads back. */
#include "base/arena.h"
#include "base/clock.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t utc_us = 0;
    int64_t back   = 0;

    if (!time_parse((Str){(const char *)data, size}, &utc_us)) return 0;
    Arena *arena       = arena_new();
    bool   is_accepted = time_parse(time_format_us(arena, utc_us), &back);
    assert(is_accepted);
    assert(utc_us == back);
    arena_close(arena);
    return 0;
}
