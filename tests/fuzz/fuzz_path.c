/* Any bytes as a path in an action, a name in the log, a component of a store's path: a path stays
 * inside of its table or is refused, and what is encoded comes back. */
#include "delta/delta_internal.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No component may lead out of the folder again. */
static bool has_parent_step(Str path)
{
    Str part;

    while (str_split_next(&path, '/', &part))
        if (str_equal_c(part, "..")) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena  *arena   = arena_new();
    Str     text    = str_copy(arena, bytes_str((Bytes){data, size}));
    Str     decoded = delta_path_decode(arena, text);
    Str     encoded = delta_path_encode(arena, text);
    Err     err     = ERR_INIT;
    LogName name    = log_name_parse(text);
    Str     path;

    assert(str_equal(delta_path_decode(arena, encoded), text));
    assert(decoded.len <= text.len);
    if (delta_path_resolve(STR("lake/t"), text, arena, &path, &err)) {
        bool is_inside   = str_starts_with(path, STR("lake/t"));
        bool is_absolute = path.len > 0 && path.ptr[0] == '/';
        assert((is_inside || is_absolute) && !has_parent_step(path));
    } else {
        assert(err.code == ERR_UNSUPPORTED || err.code == ERR_DAMAGED);
    }
    if (name.kind == LOG_FILE_COMMIT) assert(str_equal(log_name_commit(arena, name.version), text));
    if (name.kind == LOG_FILE_CHECKPOINT)
        assert(str_equal(log_name_checkpoint(arena, name.version), text));
    if (name.kind != LOG_FILE_OTHER) assert(name.version >= 0);
    if (name.kind == LOG_FILE_CHECKPOINT_PART)
        assert(name.part >= 1 && name.part <= name.part_count);
    assert(str_find_char(store_encode_component(arena, text), '/', 0) < 0);
    arena_close(arena);
    return 0;
}
