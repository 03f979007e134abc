/* table_files.c - `tidelake table files`: the data files of a version. */
#include "cli/table.h"

bool table_files(TableCall *call, Err *err)
{
    static const Column columns[] = {{.name = {"path", 4}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"size_bytes", 10}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"rows", 4}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"modified", 8}, .type = {.kind = TYPE_TIMESTAMP}}};
    const Schema        schema    = {.columns = columns, .column_count = COUNT_OF(columns)};
    RowBuilder         *builder   = row_builder_new(call->invocation->arena, &schema);
    const DeltaFile    *file;

    for (size_t at = 0; delta_table_next_file(call->table, &at, &file);) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, delta_file_get_name(file, call->invocation->arena));
        row_builder_set_i64(builder, 1, file->size_bytes);
        int64_t row_count = delta_file_count_rows(file);
        if (row_count >= 0) row_builder_set_i64(builder, 2, row_count);
        row_builder_set_i64(builder, 3, file->modified_ms * 1000);
    }
    return table_print(call, &schema, builder, err);
}
