/* table_schema.c - `tidelake table schema`: the columns. */
#include "cli/table.h"

bool table_schema(TableCall *call, Err *err)
{
    static const Column columns[] = {{.name = {"column", 6}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"type", 4}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"comment", 7}, .type = {.kind = TYPE_STRING}}};
    const Schema        schema    = {.columns = columns, .column_count = COUNT_OF(columns)};
    const Schema       *table     = delta_table_get_schema(call->table);
    Arena              *arena     = call->invocation->arena;
    RowBuilder         *builder   = row_builder_new(arena, &schema);

    for (size_t i = 0; i < table->column_count; i++) {
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, table->columns[i].name);
        row_builder_set_str(builder, 1, column_type_sql_name(arena, table->columns[i].type));
        row_builder_set_str(builder, 2, table->columns[i].comment);
    }
    return table_print(call, &schema, builder, err);
}
