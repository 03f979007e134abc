/* table_vacuum.c - `tidelake table vacuum`: removes files that no version needs any more. */
#include "cli/table.h"

static bool read_retention(const Invocation *invocation, int64_t *us_out, Err *err)
{
    Str     text = invocation->flags[FLAG_RETENTION];
    int64_t ms;

    *us_out = DELTA_TABLE_RETENTION;
    if (!text.ptr) return true;
    if (!parse_duration_ms(text, &ms) || ms > INT64_MAX / 1000)
        return err_set(err, ERR_USAGE, "--retention is \"%.*s\"; allowed: a time: 12h, 7d, 30d",
                       STR_ARG(text));
    *us_out = ms * 1000;
    return true;
}

/* What would go, one line each. */
static bool print_list(const TableCall *call, const DeltaVacuumed *vacuumed, Err *err)
{
    static const Column columns[] = {{.name = {"path", 4}, .type = {.kind = TYPE_STRING}},
                                     {.name = {"files", 5}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"size_bytes", 10}, .type = {.kind = TYPE_LONG}},
                                     {.name = {"modified", 8}, .type = {.kind = TYPE_TIMESTAMP}}};
    const Schema        schema    = {.columns = columns, .column_count = COUNT_OF(columns)};
    RowBuilder         *builder   = row_builder_new(call->invocation->arena, &schema);

    for (size_t i = 0; i < vacuumed->count; i++) {
        const DeltaGarbage *item = &vacuumed->items[i];
        row_builder_begin(builder);
        row_builder_set_str(builder, 0, item->path);
        row_builder_set_i64(builder, 1, item->file_count);
        row_builder_set_i64(builder, 2, item->size_bytes);
        if (item->modified_ms >= 0) row_builder_set_i64(builder, 3, item->modified_ms * 1000);
    }
    return table_print(call, &schema, builder, err);
}

static bool print_sum(const TableCall *call, const DeltaVacuumed *vacuumed, Err *err)
{
    static const Column columns[] = {
        {.name = {"files", 5}, .type = {.kind = TYPE_LONG}},
        {.name = {"size_bytes", 10}, .type = {.kind = TYPE_LONG}},
        {.name = {"directories", 11}, .type = {.kind = TYPE_LONG}},
        {.name = {"older_than", 10}, .type = {.kind = TYPE_TIMESTAMP}}};
    const Schema schema  = {.columns = columns, .column_count = COUNT_OF(columns)};
    RowBuilder  *builder = row_builder_new(call->invocation->arena, &schema);

    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, vacuumed->file_count);
    row_builder_set_i64(builder, 1, vacuumed->size_bytes);
    row_builder_set_i64(builder, 2, vacuumed->directory_count);
    row_builder_set_i64(builder, 3, vacuumed->cutoff_us);
    return table_print(call, &schema, builder, err);
}

bool table_vacuum(TableCall *call, Err *err)
{
    TableProgress progress;
    DeltaVacuum   options = {
          .allow_short = invocation_has(call->invocation, FLAG_ALLOW_SHORT_RETENTION),
          .dry_run     = invocation_has(call->invocation, FLAG_DRY_RUN),
    };
    DeltaVacuumed vacuumed;

    if (!read_retention(call->invocation, &options.retention_us, err)) return false;
    options.progress = table_progress_begin(&progress, call);
    bool ok = delta_table_vacuum(call->table, &options, call->invocation->arena, &vacuumed, err);
    table_progress_end(&progress);
    if (!ok) return false;
    log_info(call->wire->env.log, "table",
             options.dry_run ? "vacuum would remove" : "vacuum removed",
             LOG_STR("table", call->path), LOG_I64("files", vacuumed.file_count),
             LOG_I64("size_bytes", vacuumed.size_bytes));
    return options.dry_run ? print_list(call, &vacuumed, err) : print_sum(call, &vacuumed, err);
}
