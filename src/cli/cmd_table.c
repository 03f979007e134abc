/* cmd_table.c - `tidelake table`: look into a Delta table without Spark. */
#include "cli/nearest.h"
#include "cli/output.h"
#include "cli/wire.h"

typedef struct Looking {
    Wire       *wire;
    Invocation *invocation;
    Str         path;
    DeltaTable *table;
} Looking;

typedef struct Action {
    const char *name;
    size_t      arguments; /* besides the action and the path */
    bool (*run)(Looking *looking, Err *err);
} Action;

static bool print_built(const Looking *looking, const Schema *schema, RowBuilder *builder, Err *err)
{
    RowBlock block = row_builder_block(builder);

    return output_rows(row_stream_of_block(looking->invocation->arena, schema, &block),
                       looking->invocation->json, err);
}

static bool show_schema(Looking *looking, Err *err)
{
    static const Column columns[] = {{.name = {"column", 6}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"type", 4}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"comment", 7}, .type = {.kind = TYPE_STRING}}};
    const Schema        schema    = {.columns = columns, .column_count = COUNT_OF(columns)};
    const Schema       *table     = delta_table_get_schema(looking->table);
    Arena              *arena     = looking->invocation->arena;
    RowBuilder         *builder   = row_builder_new(arena, &schema);

    for (size_t i = 0; i < table->column_count; i++) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, table->columns[i].name);
        row_builder_set_str(builder, 1, column_type_sql_name(arena, table->columns[i].type));
        row_builder_set_str(builder, 2, table->columns[i].comment);
    }
    return print_built(looking, &schema, builder, err);
}

static bool show_history(Looking *looking, Err *err)
{
    static const Column columns[] = {
        {.name = {"version", 7}, .type = {.kind = TYPE_LONG}},
        {.name = {"timestamp", 9}, .type = {.kind = TYPE_TIMESTAMP}},
        {.name = {"operation", 9}, .type = {.kind = TYPE_STRING}},
        {.name = {"engine_info", 11}, .type = {.kind = TYPE_STRING}},
        {.name = {"metrics", 7}, .type = {.kind = TYPE_STRING}},
        {.name = {"user_metadata", 13}, .type = {.kind = TYPE_STRING}}};
    const Schema       schema  = {.columns = columns, .column_count = COUNT_OF(columns)};
    Arena             *arena   = looking->invocation->arena;
    RowBuilder        *builder = row_builder_new(arena, &schema);
    DeltaHistoryEntry *entries;
    size_t             count;

    if (!delta_table_history(&looking->wire->delta, looking->path, 0,
                             delta_table_get_version(looking->table), arena, &entries, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, entries[i].version);
        if (entries[i].timestamp_ms >= 0)
            row_builder_set_i64(builder, 1, entries[i].timestamp_ms * 1000);
        row_builder_set_str(builder, 2, entries[i].operation);
        row_builder_set_str(builder, 3, entries[i].engine_info);
        row_builder_set_str(builder, 4, entries[i].metrics_json);
        if (entries[i].user_metadata.len) row_builder_set_str(builder, 5, entries[i].user_metadata);
    }
    return print_built(looking, &schema, builder, err);
}

static bool show_files(Looking *looking, Err *err)
{
    static const Column columns[] = {{.name = {"path", 4}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"size_bytes", 10}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"rows", 4}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"modified", 8}, .type = {.kind = TYPE_TIMESTAMP}}};
    const Schema        schema    = {.columns = columns, .column_count = COUNT_OF(columns)};
    RowBuilder         *builder   = row_builder_new(looking->invocation->arena, &schema);
    const DeltaFile    *file;

    for (size_t at = 0; delta_table_next_file(looking->table, &at, &file);) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, file->path);
        row_builder_set_i64(builder, 1, file->size_bytes);
        int64_t row_count = delta_file_count_rows(file);
        if (row_count >= 0) row_builder_set_i64(builder, 2, row_count);
        row_builder_set_i64(builder, 3, file->modified_ms * 1000);
    }
    return print_built(looking, &schema, builder, err);
}

/* Runs `select` with the table visible as `t`. */
static bool show_query(Looking *looking, Str select, Err *err)
{
    Arena       *arena   = looking->invocation->arena;
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    Str          scan;
    bool         ok = false;

    if (!duck_session_open(looking->wire->env.duck, &session, err)) goto done;
    if (!delta_scan_sql(looking->table, NULL, 0, NULL, false, arena, &scan, err)) goto done;
    if (!duck_execute(session, str_printf(arena, "CREATE TEMP VIEW t AS %.*s", STR_ARG(scan)), NULL,
                      err))
        goto done;
    if (!duck_query(session, select, arena, &rows, err)) goto done;
    ok = output_rows(rows, looking->invocation->json, err);
done:
    row_stream_close(rows);
    duck_session_close(session);
    return ok;
}

static bool show_rows(Looking *looking, Err *err)
{
    return show_query(looking, STR("SELECT * FROM t"), err);
}
static bool show_sql(Looking *looking, Err *err)
{
    return show_query(looking, looking->invocation->arguments.items[2], err);
}

static const Action actions[] = {{"schema", 0, show_schema},
                                 {"history", 0, show_history},
                                 {"files", 0, show_files},
                                 {"cat", 0, show_rows},
                                 {"sql", 1, show_sql}};

static const Action *find_action(const Invocation *invocation, Err *err)
{
    Str     name    = invocation->arguments.count ? invocation->arguments.items[0] : STR_EMPTY;
    Nearest nearest = nearest_to(name);

    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        nearest_offer(&nearest, str_from_c(actions[i].name));
        if (!str_equal_c(name, actions[i].name)) continue;
        if (invocation->arguments.count == 2 + actions[i].arguments) return &actions[i];
        (void)err_set(err, ERR_USAGE, "usage: tidelake table %s PATH%s", actions[i].name,
                      actions[i].arguments ? " QUERY" : "");
        return NULL;
    }
    if (nearest.best.len && name.len)
        (void)err_set(err, ERR_USAGE, "unknown action %.*s; did you mean %.*s?", STR_ARG(name),
                      STR_ARG(nearest.best));
    else
        (void)err_set(err, ERR_USAGE, "usage: tidelake table schema|history|files|cat|sql PATH");
    return NULL;
}

static bool open_table(Looking *looking, Err *err)
{
    DeltaContext *context = &looking->wire->delta;
    Str           version = looking->invocation->flags[FLAG_VERSION],
        as_of             = looking->invocation->flags[FLAG_AS_OF];
    int64_t number;

    if (version.ptr && as_of.ptr)
        return err_set(err, ERR_USAGE, "--version and --as-of exclude each other");
    if (version.ptr) {
        if (!str_parse_i64(version, &number) || number < 0)
            return err_set(err, ERR_USAGE,
                           "--version is \"%.*s\"; allowed: a whole number from 0 on",
                           STR_ARG(version));
        return delta_table_open_version(context, looking->path, number, &looking->table, err);
    }
    if (as_of.ptr) {
        if (!time_parse(as_of, &number))
            return err_set(err, ERR_USAGE,
                           "--as-of is \"%.*s\"; allowed: a time such as 2026-09-28T13:55:00, UTC",
                           STR_ARG(as_of));
        return delta_table_open_as_of(context, looking->path, number, &looking->table, err);
    }
    return delta_table_open(context, looking->path, &looking->table, err);
}

bool cmd_table(Invocation *invocation, Err *err)
{
    const Action *action   = find_action(invocation, err);
    Settings      settings = config_stream(&invocation->config, SIZE_MAX, &invocation->options);
    Wire          wire;
    Looking       looking = {.wire = &wire, .invocation = invocation};
    bool          ok;

    if (!action) return false;
    looking.path = invocation->arguments.items[1];
    ok = wire_open(invocation, &settings, false, &wire, err) && open_table(&looking, err) &&
         action->run(&looking, err);
    delta_table_close(looking.table);
    invocation->exit_status = wire_exit_status(&wire, err);
    wire_close(&wire);
    return ok;
}
