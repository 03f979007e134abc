/* Any bytes as an offset of a checkpoint: what is accepted is written the same way for ever. */
#include "base/arena.h"
#include "types/offset.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Err    err = ERR_INIT;
    Offset offset;
    Offset back;

    if (!offset_parse_json((Str){(const char *)data, size}, &offset, &err)) {
        assert(err.code == ERR_DAMAGED);
        assert(utf8_is_valid(str_from_c(err.message)));
        return 0;
    }
    Arena *arena       = arena_new();
    Str    text        = offset_format_json(arena, &offset);
    bool   is_accepted = offset_parse_json(text, &back, &err);
    assert(is_accepted);
    assert(str_equal(text, offset_format_json(arena, &back)));
    arena_close(arena);
    return 0;
}
