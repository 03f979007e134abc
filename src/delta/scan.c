/* Rows of live files as SQL (delta.md 1.13, 5.6). */
#include "delta/delta_internal.h"

typedef struct ScanPlan {
    const DeltaFile **files;
    Str              *locals;
    size_t            count;
} ScanPlan;

static bool fetch_one(const DeltaTable *table, const DeltaFile *file, Arena *arena, Str *local_out,
                      Err *err)
{
    Str path;

    if (!delta_path_resolve(table->place.path, file->path, arena, &path, err)) return false;
    if (store_fetch_local(table->context->store, path, arena, local_out, err)) return true;
    if (err->code != ERR_NOT_FOUND)
        return err_context(err, "table %.*s", STR_ARG(table->place.path));
    return err_set(
        err, ERR_DAMAGED,
        "DELTA-L08 table %.*s: version %lld is no longer complete: %.*s was removed by VACUUM",
        STR_ARG(table->place.path), (long long)table->state->version, STR_ARG(path));
}

static bool fetch_files(const DeltaTable *table, const DeltaFile *const *files, size_t file_count,
                        Arena *arena, ScanPlan *out, Err *err)
{
    size_t           count = files ? file_count : delta_table_get_file_count(table);
    const DeltaFile *file;

    *out = (ScanPlan){.files  = ARENA_ARRAY(arena, const DeltaFile *, count + 1),
                      .locals = ARENA_ARRAY(arena, Str, count + 1)};
    if (files)
        for (size_t i = 0; i < count; i++)
            out->files[i] = files[i];
    else
        for (size_t at = 0, i = 0; delta_table_next_file(table, &at, &file); i++)
            out->files[i] = file;
    for (; out->count < count; out->count++)
        if (!fetch_one(table, out->files[out->count], arena, &out->locals[out->count], err))
            return false;
    return true;
}

/* The columns to read from the files: those asked for that the table has, with the table's
 * types. */
static Schema stored_columns(const Schema *table_schema, const Schema *wanted, Arena *arena)
{
    Column *columns = ARENA_ARRAY(arena, Column, wanted->column_count + 1);
    size_t  count   = 0;

    for (size_t i = 0; i < wanted->column_count; i++) {
        ptrdiff_t index = schema_find(table_schema, wanted->columns[i].name);
        if (index >= 0) columns[count++] = table_schema->columns[index];
    }
    if (count == 0)
        columns[count++] = table_schema->columns[0]; /* rows are counted by some column */
    return (Schema){.columns = columns, .column_count = count};
}

static void append_column(Buf *sql, const Schema *table_schema, const Column *wanted, Arena *arena)
{
    ptrdiff_t index = schema_find(table_schema, wanted->name);
    Str       name  = duck_quote_identifier(arena, wanted->name);
    Str       type  = duck_type_name(arena, wanted->type);

    if (index < 0) {
        buf_printf(sql, "CAST(NULL AS %.*s) AS %.*s", STR_ARG(type), STR_ARG(name));
        return;
    }
    const Column *stored = &table_schema->columns[index];
    Str           source = duck_quote_identifier(arena, stored->name);
    if (column_type_equal(stored->type, wanted->type))
        buf_printf(sql, "f.%.*s AS %.*s", STR_ARG(source), STR_ARG(name));
    else
        buf_printf(sql, "CAST(f.%.*s AS %.*s) AS %.*s", STR_ARG(source), STR_ARG(type),
                   STR_ARG(name));
}

/* Local names back to the paths of their adds, by a join that the files' rows meet last. */
static void append_paths(Buf *sql, const ScanPlan *plan, Arena *arena)
{
    buf_append_c(sql, " JOIN (VALUES ");
    for (size_t i = 0; i < plan->count; i++)
        buf_printf(sql, "%s(%.*s, %.*s)", i > 0 ? ", " : "",
                   STR_ARG(duck_quote_literal(arena, plan->locals[i])),
                   STR_ARG(duck_quote_literal(arena, plan->files[i]->path)));
    buf_append_c(sql, ") p(local, path) ON f.filename = p.local");
}

static void append_position(Buf *sql, const ScanPlan *plan, Arena *arena)
{
    if (plan->count == 0) {
        buf_append_c(sql,
                     ", CAST(NULL AS VARCHAR) AS \"__$file\", CAST(NULL AS BIGINT) AS \"__$row\"");
    } else if (plan->count == 1) {
        buf_printf(sql, ", %.*s AS \"__$file\", f.file_row_number AS \"__$row\"",
                   STR_ARG(duck_quote_literal(arena, plan->files[0]->path)));
    } else {
        buf_append_c(sql, ", p.path AS \"__$file\", f.file_row_number AS \"__$row\"");
    }
}

bool delta_scan_sql(DeltaTable *table, const DeltaFile *const *files, size_t file_count,
                    const Schema *columns, bool with_position, Arena *arena, Str *sql_out, Err *err)
{
    const Schema *table_schema = delta_table_get_schema(table);
    const Schema *wanted       = columns ? columns : table_schema;
    Buf           sql          = buf_new(arena, 0);
    ScanPlan      plan;

    if (!fetch_files(table, files, file_count, arena, &plan, err)) return false;
    Schema stored = stored_columns(table_schema, wanted, arena);
    buf_append_c(&sql, "(SELECT ");
    for (size_t i = 0; i < wanted->column_count; i++) {
        if (i > 0) buf_append_c(&sql, ", ");
        append_column(&sql, table_schema, &wanted->columns[i], arena);
    }
    if (with_position) append_position(&sql, &plan, arena);
    buf_append_c(&sql, " FROM ");
    buf_append(&sql, duck_read_parquet_sql(arena, plan.locals, plan.count, &stored));
    buf_append_c(&sql, " f");
    if (with_position && plan.count > 1) append_paths(&sql, &plan, arena);
    buf_append_char(&sql, ')');
    *sql_out = buf_str(&sql);
    return true;
}
