/* The texts of a Delta log. The first byte says which: a commit (c), `_last_checkpoint` (l), a
 * schema (s), a file's path (p), statistics (t), a name in the log (n), an interval (i). */
#include "delta/delta_internal.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop_line(void *arg, LogLevel level, Str line)
{
    (void)arg;
    (void)level;
    (void)line;
}

static void replay(Str text, Arena *arena)
{
    Clock       *clock   = clock_new_real();
    DeltaContext context = {.clock = clock,
                            .log   = log_new(clock, LOG_ERROR, LOG_FORMAT_TEXT, drop_line, NULL)};
    LogPlace     place   = {.context = &context, .path = STR("t"), .log_path = STR("t/_delta_log")};
    LogState    *state   = log_state_new();
    Err          err     = ERR_INIT;

    for (int64_t version = 0; version < 2;
         version++) /* twice: what is there already must do no harm */
        if (!log_state_apply_commit(state, &place, version, text, STR("file"), version > 0, NULL,
                                    &err))
            err_clear(&err); /* refused is fine */
    if (log_state_finish(state, &place, &err)) {
        Str out;
        if (!header_check_write(&place, 1, state->header, DELTA_CHANGES, &err)) err_clear(&err);
        assert(delta_path_resolve(STR("t"), STR("a"), arena, &out, &err));
    }
    log_state_close(state);
    log_close(context.log);
    clock_close(clock);
}

static void read_schema(Str text, Arena *arena)
{
    Field       *fields;
    Schema       schema;
    Err          err    = ERR_INIT;
    Column       column = {STR("added"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    SchemaChange change = {.added = {&column, 1}, .mapping = &(ColumnMapping){0}};

    if (!utf8_is_valid(text) || !schema_string_parse(text, arena, &fields, &schema, &err)) return;
    Schema        before   = schema;
    ColumnChange *comments = ARENA_ARRAY(arena, ColumnChange, schema.column_count + 1);
    for (size_t i = 0; i < schema.column_count; i++)
        comments[i].comment = i % 2 ? STR("says \"so\"") : STR_EMPTY;
    change.columns = comments;
    Str longer     = schema_string_change(arena, text, &change);
    assert(schema_string_parse(longer, arena, &fields, &schema, &err));
    assert(schema.column_count == before.column_count + 1);
    for (size_t i = 0; i < before.column_count; i++) {
        assert(str_equal(schema.columns[i].name, before.columns[i].name));
        assert(column_type_equal(schema.columns[i].type, before.columns[i].type));
        assert(str_equal(schema.columns[i].comment, comments[i].comment));
    }
}

static void read_statistics(Str text, Arena *arena)
{
    JsonText object;
    size_t   bad_at;
    int64_t  count = stats_row_count(text);

    assert(count >= -1);
    if (json_text_parse(text, &object, &bad_at)) (void)last_checkpoint_canonical(object, arena);
}

static void read_path(Str text, Arena *arena)
{
    Err err = ERR_INIT;
    Str out;
    assert(str_equal(delta_path_decode(arena, delta_path_encode(arena, text)), text));
    if (!delta_path_resolve(STR("t"), text, arena, &out, &err)) err_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;

    Arena  *arena = arena_new();
    Str     text  = str_copy(arena, bytes_str((Bytes){data + 1, size - 1}));
    int64_t us;
    switch (data[0]) {
    case 'c': replay(text, arena); break;
    case 's': read_schema(text, arena); break;
    case 'p': read_path(text, arena); break;
    case 'n': (void)log_name_parse(text); break;
    case 'i': (void)!delta_interval_parse(text, &us); break;
    default: read_statistics(text, arena); break;
    }
    arena_close(arena);
    return 0;
}
