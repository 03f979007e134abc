/* Rows of several files as one stream, in order (delta.md 2.16). */
#include "delta/optimize.h"

#include "delta/large_rows.h"

/* A file that may have several row groups is read by several threads, whose rows come as they
 * will; its rows are sorted by their place then. */
#define SURELY_ONE_GROUP_BYTES (INT64_C(2) << 20)
#define SURELY_ONE_GROUP_ROWS  2048
/* A page tells its length in 31 bits, and holds what comes before a value in the row group too. */
#define SHARING_BYTES_MAX (UINT64_C(1) << 30)

typedef struct FilesRows {
    RowStream               base;
    DeltaTable             *table;
    DuckSession            *session;
    const DeltaFile *const *files;
    size_t                  file_count, next_file;
    Arena                  *arena; /* of the file that is open */
    RowStream              *open;
} FilesRows;

static Str select_sql(const FilesRows *rows, const DeltaFile *file, Str scan)
{
    const Schema *schema = &rows->base.schema;
    Buf           sql    = buf_new(rows->arena, 0);

    for (size_t i = 0; i < schema->column_count; i++)
        buf_printf(&sql, "%s%.*s", i == 0 ? "SELECT " : ", ",
                   STR_ARG(duck_quote_identifier(rows->arena, schema->columns[i].name)));
    buf_printf(&sql, " FROM %.*s", STR_ARG(scan));
    if (file->row_count != 1 && (file->size_bytes > SURELY_ONE_GROUP_BYTES || file->row_count < 0 ||
                                 file->row_count > SURELY_ONE_GROUP_ROWS))
        buf_append_c(&sql, " ORDER BY \"__$row\"");
    return buf_str(&sql);
}

static bool open_next(FilesRows *rows, Err *err)
{
    const DeltaFile *file = rows->files[rows->next_file++];
    Str              scan;

    arena_reset(rows->arena);
    return log_check_cancel(rows->table->context, err) &&
           delta_scan_sql(rows->table, &file, 1, NULL, true, rows->arena, &scan, err) &&
           duck_query(rows->session, select_sql(rows, file, scan), rows->arena, &rows->open, err);
}

bool rows_may_share_pages(const RowBlock *block)
{
    for (size_t i = 0; i < block->column_count; i++) {
        const ColumnVector *column = &block->columns[i];

        if (!column_type_is_text(column->type) ||
            column_size_bytes(column, block->row_count) < SHARING_BYTES_MAX)
            continue;
        for (size_t row = 0; row < block->row_count; row++)
            if (!column_is_null(column, row) && column_str(column, row).len >= SHARING_BYTES_MAX)
                return false;
    }
    return true;
}

static bool next_rows(RowStream *stream, RowBlock *out, Err *err)
{
    FilesRows *rows = (FilesRows *)stream;

    for (;;) {
        if (!rows->open) {
            *out = (RowBlock){0};
            if (rows->next_file == rows->file_count) return true;
            if (!open_next(rows, err)) return false;
        }
        if (!row_stream_next(rows->open, out, err)) return false;
        if (out->row_count > 0)
            return rows_may_share_pages(out) ||
                   err_set(err, ERR_LIMIT, "%.*s holds a value that must have a file of its own",
                           STR_ARG(rows->files[rows->next_file - 1]->path));
        row_stream_close(rows->open);
        rows->open = NULL;
    }
}

static void close_rows(RowStream *stream)
{
    FilesRows *rows = (FilesRows *)stream;

    row_stream_close(rows->open);
    arena_close(rows->arena);
    rows->open  = NULL;
    rows->arena = NULL;
}

RowStream *files_rows_open(DeltaTable *table, DuckSession *session, const DeltaFile *const *files,
                           size_t file_count, Arena *arena)
{
    FilesRows *rows = ARENA_NEW(arena, FilesRows);

    *rows = (FilesRows){.base       = {.schema = schema_copy(arena, delta_table_get_schema(table)),
                                       .next   = next_rows,
                                       .close  = close_rows},
                        .table      = table,
                        .session    = session,
                        .files      = files,
                        .file_count = file_count,
                        .arena      = arena_new()};
    return &rows->base;
}

/* --- large values --- */

/* Our row groups end at half of that, so a column's pages are larger only with a large value among them. */
static bool is_large(DeltaTable *table, DuckSession *session, const DeltaFile *file, Arena *arena,
                     bool *out, Err *err)
{
    int64_t bytes;
    Str     path, local;

    if (!delta_path_resolve(table->place.path, file->path, arena, &path, err) ||
        !store_fetch_local(table->context->store, path, arena, &local, err))
        return false;
    Str sql = str_printf(
        arena,
        "SELECT coalesce(max(total_uncompressed_size), 0)::BIGINT FROM parquet_metadata(%.*s)",
        STR_ARG(duck_quote_literal(arena, local)));
    if (!duck_query_i64(session, sql, &bytes, NULL, err)) return false;
    *out = bytes >= (int64_t)LARGE_ROW_BYTES;
    return true;
}

bool files_find_large(DeltaTable *table, DuckSession *session, const DeltaFile *const *files,
                      size_t file_count, bool *large_out, Err *err)
{
    Arena *scratch = arena_new();
    bool   ok      = true;

    for (size_t i = 0; ok && i < file_count; i++)
        ok = is_large(table, session, files[i], scratch, &large_out[i], err);
    arena_close(scratch);
    return ok;
}
