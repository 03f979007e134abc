/* sink_id.c - names of generations. */
#include "types/sink_id.h"

#include "base/arena.h"

#include <assert.h>

Str sink_id_for_generation(Arena *arena, Str app_id, int64_t generation)
{
    assert(generation >= 0);
    if (generation == 0) return str_copy(arena, app_id);
    return str_printf(arena, "%.*s.g%lld", STR_ARG(app_id), (long long)generation);
}

bool sink_id_is_of_family(Str sink_id, Str app_id)
{
    if (!str_starts_with(sink_id, app_id)) return false;
    Str rest = str_slice(sink_id, app_id.len, sink_id.len);
    if (rest.len == 0) return true;
    if (!str_starts_with(rest, STR(".g")) || rest.len == 2) return false;
    for (size_t i = 2; i < rest.len; i++)
        if (rest.ptr[i] < '0' || rest.ptr[i] > '9') return false;
    return true;
}
