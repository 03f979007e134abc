/* T-SQL as a client may send it, right or wrong: the parser neither breaks nor hangs, an error has
 * a number and a line of the text, and a statement that was read has its own text inside the
 * batch. */
#include "base/arena.h"
#include "sim/parse/ast.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int32_t count_lines(Str text)
{
    int32_t lines = 1;

    for (size_t i = 0; i < text.len; i++)
        lines += text.ptr[i] == '\n' ? 1 : 0;
    return lines;
}

static void parse(Str batch, bool quoted_identifier)
{
    Arena   *arena = arena_new();
    StmtList list  = {0};
    SimError error = SIM_ERROR_INIT;

    if (sim_parse(batch, quoted_identifier, arena, &list, &error)) {
        for (size_t i = 0; i < list.count; i++) {
            Str source = list.items[i]->source;
            assert(source.len == 0 ||
                   (source.ptr >= batch.ptr && source.ptr + source.len <= batch.ptr + batch.len));
        }
    } else {
        assert(error.number > 0);
        assert(error.line >= 1 && error.line <= count_lines(batch));
        assert(error.message[0] != '\0');
    }
    arena_close(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Str batch = {size > 0 ? (const char *)data : "", size};

    parse(batch, true);
    parse(batch, false);
    return 0;
}
