/* Text turned into every type, and each result into text again; LIKE with the second half as its
 * pattern. The first byte is the style, the second the collation. */
#include "base/arena.h"
#include "base/buf.h"
#include "sim/function/function.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert(const SimValue *text, const SimType *to, int style, Arena *arena)
{
    SimType  back  = sim_type_sized(SIM_NVARCHAR, -1);
    SimValue value = {0};
    SimValue shown = {0};
    SimError error = SIM_ERROR_INIT;
    Buf      key   = buf_new(arena, 0);

    if (!sim_convert(text, to, style, false, arena, &value, &error)) {
        assert(error.number > 0);
        return;
    }
    assert(sim_compare_same(&value, &value) == 0);
    sim_sort_key(&value, false, &key);
    if (sim_type_is_lob(to->kind) || to->kind == SIM_XML) return;
    assert(sim_convert(&value, &back, 0, false, arena, &shown, &error));
}

static const SimCollation *pick_collation(uint8_t number)
{
    const SimCollation *found = NULL;
    size_t              at    = 0;

    for (int i = 0; i <= number; i++) {
        const SimCollation *next = sim_collation_next(&at);
        if (next == NULL) break;
        found = next;
    }
    return found;
}

static void match(const SimValue *text, size_t split, Arena *arena)
{
    SimValue subject = *text;
    SimValue pattern = *text;
    bool     matches = false;
    SimError error   = SIM_ERROR_INIT;

    subject.bytes.len = split;
    pattern.bytes     = (Bytes){text->bytes.ptr + split, text->bytes.len - split};
    assert(sim_like(&subject, &pattern, NULL, NULL, arena, &matches, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 2000) return 0;
    Arena   *arena = arena_new();
    bool     wide  = data[1] >= 128;
    size_t   len   = size - 2 - (wide ? (size - 2) % 2 : 0);
    SimValue text  = {.type  = sim_type_sized(wide ? SIM_NVARCHAR : SIM_VARCHAR, -1),
                      .bytes = {data + 2, len}};

    text.type.collation = pick_collation(data[1] & 127);
    for (int kind = 0; kind < SIM_VARIANT; kind++) {
        SimType to = sim_type((SimTypeKind)kind);
        if (sim_type_is_text((SimTypeKind)kind) || kind == SIM_BINARY || kind == SIM_VARBINARY)
            to = sim_type_sized((SimTypeKind)kind, 20);
        if (kind == SIM_DECIMAL) to = sim_type_decimal(38, data[0] % 39);
        convert(&text, &to, data[0] & 127, arena);
    }
    match(&text, len / 4 * 2, arena);
    arena_close(arena);
    return 0;
}
