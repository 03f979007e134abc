/* Any text as the statistics of a file: packed it comes back, and what is read of it never proves
 * that a file lacks what any file may hold: a range open on both sides. */
#include "delta/delta_internal.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* clang-format off */
#define FIELD(name, type) \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{}}"
#define SCHEMA                                                                           \
    "{\"type\":\"struct\",\"fields\":["                                                \
    FIELD("i", "integer") "," FIELD("l", "long") "," FIELD("f", "float") ","             \
    FIELD("d", "double") "," FIELD("n", "decimal(38,10)") "," FIELD("s", "string") ","   \
    FIELD("t", "timestamp") "," FIELD("w", "timestamp_ntz") "," FIELD("day", "date") "," \
    FIELD("b", "boolean") "]}"
/* clang-format on */

static void drop_line(void *arg, LogLevel level, Str line)
{
    (void)arg;
    (void)level;
    (void)line;
}

static Str header_lines(Arena *arena)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);

    buf_append_c(
        &buf,
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":"
        "[\"timestampNtz\"],\"writerFeatures\":[\"timestampNtz\"]}}\n"
        "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":");
    json_str(&json, STR(SCHEMA));
    buf_append_c(&buf, ",\"partitionColumns\":[],\"configuration\":{}}}\n");
    return buf_str(&buf);
}

static void ask(const DeltaTable *table, const DeltaFile *file, Arena *arena)
{
    const Schema *schema = delta_table_get_schema(table);
    const Str     one    = STR("1");

    for (size_t i = 0; i < schema->column_count; i++) {
        Str         name = schema->columns[i].name;
        DeltaBounds bounds;
        if (delta_file_find_bounds(table, file, name, arena, &bounds))
            assert(bounds.null_count >= -1);
        assert(delta_file_may_hold_range(table, file, name, NULL, false, NULL, false) ||
               file->row_count == 0 || bounds.null_count >= 0);
        (void)delta_file_may_hold_range(table, file, name, &one, true, NULL, false);
        (void)delta_file_may_hold_range(table, file, name, NULL, false, &one, false);
        (void)delta_file_may_hold_null(table, file, name);
    }
}

static void pack(Str text, Arena *arena)
{
    StatsForms *forms  = stats_forms_new();
    StatsPacker packer = stats_packer(forms, arena);

    for (int round = 0; round < 2; round++) { /* of a new form, and of a known one */
        const StatsForm *form = stats_pack(&packer, text);
        assert(str_equal(stats_unpack(form, buf_str(&packer.values).ptr, arena), text));
    }
    stats_forms_close(forms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena       *arena   = arena_new();
    Str          text    = str_copy(arena, bytes_str((Bytes){data, size}));
    Clock       *clock   = clock_new_real();
    DeltaContext context = {.clock = clock,
                            .log   = log_new(clock, LOG_ERROR, LOG_FORMAT_TEXT, drop_line, NULL)};
    DeltaTable   table   = {
            .context = &context,
            .place   = {.context = &context, .path = STR("t"), .log_path = STR("t/_delta_log")},
            .state   = log_state_new()};
    AddAction add = {.path = STR("f"), .dv_id = STR_EMPTY, .stats = text, .extra = STR_EMPTY};
    Err       err = ERR_INIT;
    size_t    at  = 0;

    pack(text, arena);
    bool ok = log_state_apply_commit(table.state, &table.place, 0, header_lines(arena), STR("file"),
                                     true, NULL, &err);
    assert(ok);
    add.row_count = stats_row_count(text);
    log_state_add(table.state, &add);
    ask(&table, &file_set_next(table.state->files, &at)->file, arena);
    log_state_close(table.state);
    log_close(context.log);
    clock_close(clock);
    arena_close(arena);
    return 0;
}
