/* table_optimize.c - `tidelake table optimize`: large files of small ones. */
#include "cli/table.h"

static bool read_target(const Invocation *invocation, int64_t *out, Err *err)
{
    Str text = invocation->flags[FLAG_TARGET_SIZE];

    *out = 0;
    if (!text.ptr || (parse_size_bytes(text, out) && *out > 0)) return true;
    return err_set(err, ERR_USAGE, "--target-size is \"%.*s\"; allowed: a size: 64MB, 1GB",
                   STR_ARG(text));
}

typedef LIST(Str) Names;

static bool read_sort(const Invocation *invocation, Names *out, Err *err)
{
    Str rest = invocation->flags[FLAG_SORT], name;

    *out = (Names){0};
    if (!rest.ptr) return true;
    while (str_split_next(&rest, ',', &name))
        if (str_trim(name).len) *LIST_PUSH(invocation->arena, out) = str_trim(name);
    return out->count > 0 || err_set(err, ERR_USAGE, "--sort needs one or more columns: a,b");
}

static bool print_result(const TableCall *call, const DeltaOptimized *result, Err *err)
{
    static const Column columns[] = {{.name = {"version", 7}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"commits", 7}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"files_removed", 13}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"bytes_removed", 13}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"files_added", 11}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"bytes_added", 11}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"groups_dropped", 14}, .type = {.kind = TYPE_LONG}}};
    const Schema        schema    = {.columns = columns, .column_count = COUNT_OF(columns)};
    RowBuilder         *builder   = row_builder_new(call->invocation->arena, &schema);

    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, delta_table_get_version(call->table));
    row_builder_set_i64(builder, 1, result->commit_count);
    row_builder_set_i64(builder, 2, result->removed_count);
    row_builder_set_i64(builder, 3, result->removed_bytes);
    row_builder_set_i64(builder, 4, result->added_count);
    row_builder_set_i64(builder, 5, result->added_bytes);
    row_builder_set_i64(builder, 6, result->dropped_count);
    return table_print(call, &schema, builder, err);
}

bool table_optimize(TableCall *call, Err *err)
{
    TableProgress  progress;
    DeltaOptimize  options = {.purpose = STR("optimize")};
    DeltaOptimized result;
    Names          sort;

    if (!read_target(call->invocation, &options.target_bytes, err) ||
        !read_sort(call->invocation, &sort, err))
        return false;
    options.sort_columns = sort.items;
    options.sort_count   = sort.count;
    options.progress     = table_progress_begin(&progress, call);
    bool ok              = delta_table_optimize(call->table, &options, &result, err);
    table_progress_end(&progress);
    return ok && print_result(call, &result, err);
}
