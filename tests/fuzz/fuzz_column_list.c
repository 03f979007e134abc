/* Any bytes as the `columns` option: what is accepted is read the same when it is written out
 * again. */
#include "base/buf.h"
#include "types/column_list.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Str write_out(Arena *arena, const Schema *schema)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < schema->column_count; i++) {
        Str name = schema->columns[i].name;

        buf_append_c(&buf, i ? ", `" : "`");
        for (size_t k = 0; k < name.len; k++) {
            if (name.ptr[k] == '`') buf_append_char(&buf, '`');
            buf_append_char(&buf, name.ptr[k]);
        }
        buf_append_c(&buf, "` ");
        buf_append(&buf, column_type_sql_name(arena, schema->columns[i].type));
    }
    return buf_str(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new();
    Schema schema, again;
    Err    err = ERR_INIT;

    if (column_list_parse((Str){(const char *)data, size}, arena, &schema, &err)) {
        bool is_accepted = column_list_parse(write_out(arena, &schema), arena, &again, &err);
        assert(is_accepted);
        assert(schema_equal(&schema, &again));
    } else {
        assert(err.code == ERR_USAGE);
    }
    arena_close(arena);
    return 0;
}
