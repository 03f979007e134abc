/* table_history.c - `tidelake table history`: the commits, newest first. */
#include "cli/table.h"

bool table_history(TableCall *call, Err *err)
{
    static const Column columns[] = {
        {.name = {"version", 7}, .type = {.kind = TYPE_LONG}},
        {.name = {"timestamp", 9}, .type = {.kind = TYPE_TIMESTAMP}},
        {.name = {"operation", 9}, .type = {.kind = TYPE_STRING}},
        {.name = {"engine_info", 11}, .type = {.kind = TYPE_STRING}},
        {.name = {"metrics", 7}, .type = {.kind = TYPE_STRING}},
        {.name = {"user_metadata", 13}, .type = {.kind = TYPE_STRING}}};
    const Schema       schema  = {.columns = columns, .column_count = COUNT_OF(columns)};
    Arena             *arena   = call->invocation->arena;
    RowBuilder        *builder = row_builder_new(arena, &schema);
    DeltaHistoryEntry *entries;
    size_t             count;

    if (!delta_table_history(&call->wire->delta, call->path, 0,
                             delta_table_get_version(call->table), arena, &entries, &count, err))
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
    return table_print(call, &schema, builder, err);
}
