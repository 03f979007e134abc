/* table_checkpoint.c - `tidelake table checkpoint`: one at the newest version, and log files past
 * their time go. */
#include "cli/table.h"

bool table_checkpoint(TableCall *call, Err *err)
{
    static const Column columns[] = {
        {.name = {"version", 7}, .type = {.kind = TYPE_LONG}},
        {.name = {"files", 5}, .type = {.kind = TYPE_LONG}},
        {.name = {"written", 7}, .type = {.kind = TYPE_BOOLEAN}},
        {.name = {"log_files_removed", 17}, .type = {.kind = TYPE_LONG}}};
    const Schema schema  = {.columns = columns, .column_count = COUNT_OF(columns)};
    RowBuilder  *builder = row_builder_new(call->invocation->arena, &schema);
    bool         written;
    int64_t      removed;

    if (!delta_table_write_checkpoint(call->table, &written, err)) return false;
    if (!delta_table_clean_log(call->table, &removed, err)) return false;
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, delta_table_get_version(call->table));
    row_builder_set_i64(builder, 1, (int64_t)delta_table_get_file_count(call->table));
    row_builder_set_i64(builder, 2, written);
    row_builder_set_i64(builder, 3, removed);
    return table_print(call, &schema, builder, err);
}
