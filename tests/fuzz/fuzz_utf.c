/* Any bytes as UTF-8 and as UTF-16LE: both come out as valid text, and valid text comes back. */
#include "base/arena.h"
#include "base/str.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str      text  = {(const char *)data, size};
    uint8_t *utf16 = mem_alloc(2 * size);
    char    *utf8  = mem_alloc(3 * size);
    size_t   units = utf8_to_utf16le(text, utf16);
    Str      back  = {utf8, utf16le_to_utf8(utf16, units, utf8)};

    assert(utf8_is_valid(back));
    assert(utf8_is_valid(text) == str_equal(text, back));

    Str read = {utf8, utf16le_to_utf8(data, size / 2, utf8)};
    assert(read.len <= 3 * (size / 2));
    assert(utf8_is_valid(read));
    mem_free(utf8);
    mem_free(utf16);
    return 0;
}
