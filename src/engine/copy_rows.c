/* copy_rows.c - one query a file: the casts, and in a last column which of them did not fit. */
#include "engine/copy_rows.h"

#include "base/buf.h"
#include "engine/copy_cast.h"
#include "state/silver.h"

#define METADATA_COUNT 5 /* what every row of a snapshot has of them, beside NULL */
#define BAD_COLUMN     "__$bad"

/* --- columns --- */

static const CapturedColumn *find_captured(const CopyReading *reading, size_t column)
{
    return capture_find_column(reading->instance, reading->captured->columns[column].name);
}

/* CDC has no values of computed columns, so a copy's do not count. */
static bool is_computed(const CopyReading *reading, size_t column)
{
    const CapturedColumn *captured = find_captured(reading, column);

    return captured && captured->is_computed;
}

static bool cast_column(const CopyReading *reading, size_t column, const CopyColumn *found,
                        Arena *arena, CopyCast *out, Err *err)
{
    const Column         *want     = &reading->captured->columns[column];
    const CapturedColumn *captured = find_captured(reading, column);

    if (found->source.len == 0 || is_computed(reading, column)) {
        *out = (CopyCast){.value = str_printf(arena, "CAST(NULL AS %.*s)",
                                              STR_ARG(duck_type_name(arena, want->type))),
                          .bad   = STR_EMPTY};
        return true;
    }
    return copy_cast_sql(arena, found->source, found->type, want->type,
                         captured ? captured->sql_type : SQL_TYPE_OTHER, out) ||
           err_set(
               err, ERR_STATE,
               "column %.*s is %.*s in the copy, whose values are not cast to %.*s: write the copy "
               "with that type, or as text",
               STR_ARG(want->name), STR_ARG(str_slice(found->type, 0, 80)),
               STR_ARG(column_type_sql_name(arena, want->type)));
}

static bool is_of_key(const CopyReading *reading, Str name)
{
    const CaptureInstance *instance = reading->instance;

    for (size_t i = 0; i < instance->key_column_count; i++)
        if (str_equal_ignoring_case(instance->key_columns[i], name)) return true;
    return false;
}

/* Captured columns that the copy lacks, with commas; those of the key alone. */
static Str missing_names(const CopyReading *reading, const CopyColumn *columns, bool of_key,
                         Arena *scratch)
{
    Buf names = buf_new(scratch, 0);

    for (size_t i = 0; i < reading->captured->column_count && names.len < 600; i++) {
        Str name = reading->captured->columns[i].name;

        if (columns[i].source.len == 0 && !is_computed(reading, i) &&
            (!of_key || is_of_key(reading, name)))
            buf_printf(&names, "%s%.*s", names.len ? ", " : "", STR_ARG(name));
    }
    return buf_str(&names);
}

/* Rows whose key is NULL would fall on each other in silver, and no change would ever meet them. */
static bool check_missing(const CopyReading *reading, const CopyColumn *columns, Arena *scratch,
                          Err *err)
{
    Str of_key = missing_names(reading, columns, true, scratch);
    Str names  = missing_names(reading, columns, false, scratch);

    if (reading->allows_missing && of_key.len > 0)
        return err_set(err, ERR_STATE,
                       "the copy lacks columns of the key of %.*s: %.*s; --allow-missing-columns "
                       "is for others: without its key no row can be told from another",
                       STR_ARG(reading->instance_name), STR_ARG(of_key));
    return reading->allows_missing || names.len == 0 ||
           err_set(err, ERR_STATE,
                   "the copy lacks captured columns of %.*s: %.*s; with --allow-missing-columns "
                   "%s NULL",
                   STR_ARG(reading->instance_name), STR_ARG(names),
                   of_key.len > 0 ? "those that are not of its key become" : "they become");
}

static bool check_file(CopyReading *reading, size_t file, Arena *scratch, Err *err)
{
    CopyColumn *columns;
    Str         relation;
    bool        ok = copy_match_columns(reading->copy, file, reading->captured, scratch, &columns,
                                        &relation, err);

    if (!ok) return false;
    ok = check_missing(reading, columns, scratch, err);
    for (size_t i = 0; ok && i < reading->captured->column_count; i++) {
        CopyCast cast;
        ok = cast_column(reading, i, &columns[i], scratch, &cast, err);
    }
    return ok || err_context(err, "%.*s", STR_ARG(reading->copy->files[file].path));
}

bool copy_check_files(CopyReading *reading, Err *err)
{
    const Copy *copy    = reading->copy;
    size_t      count   = copy->table ? MIN(copy->file_count, (size_t)1) : copy->file_count;
    Arena      *scratch = arena_new();
    bool        ok      = true;

    for (size_t i = 0; ok && i < count; i++) { /* all files of a Delta table have its columns */
        arena_reset(scratch);
        ok = cancel_check(copy->env->cancel, err) && check_file(reading, i, scratch, err);
    }
    arena_close(scratch);
    return ok;
}

/* --- rows --- */

typedef struct CopyRows {
    RowStream    base;
    CopyReading *reading;
    size_t       at, end;    /* files */
    Arena       *file_arena; /* of the one being read */
    DuckSession *session;
    RowStream   *rows; /* NULL: no file is open */
} CopyRows;

static Schema row_schema(const CopyReading *reading, Arena *arena)
{
    const Schema *captured = reading->captured;
    Column       *columns  = ARENA_ARRAY(arena, Column, METADATA_COUNT + captured->column_count);
    size_t        count    = 0;

    columns[count++] = (Column){.name = STR("_capture_instance"), .type = COLUMN_TYPE(TYPE_STRING)};
    columns[count++] = (Column){.name = STR("_start_lsn"), .type = COLUMN_TYPE(TYPE_STRING)};
    columns[count++] = (Column){.name = STR("_operation"), .type = COLUMN_TYPE(TYPE_INTEGER)};
    columns[count++] = (Column){.name = STR("_commit_ts"), .type = COLUMN_TYPE(TYPE_TIMESTAMP_NTZ)};
    columns[count++] = (Column){.name = STR("_snapshot"), .type = COLUMN_TYPE(TYPE_STRING)};
    for (size_t i = 0; i < captured->column_count; i++)
        columns[count++] = captured->columns[i];
    return (Schema){.columns = columns, .column_count = count};
}

static void append_metadata(Buf *sql, const CopyReading *reading, Arena *arena)
{
    LsnText lsn  = lsn_format(reading->stamp.lsn);
    Str     name = duck_quote_literal(arena, reading->instance_name);

    buf_printf(sql, "SELECT %.*s, '%s', 0, ", STR_ARG(name), lsn.text);
    if (reading->stamp.commit_ts.is_set)
        buf_printf(sql, "make_timestamp(%lld)", (long long)reading->stamp.commit_ts.utc_us);
    else
        buf_append_c(sql, "CAST(NULL AS TIMESTAMP)");
    buf_printf(sql, ", '%s'", lsn.text);
}

/* The metadata, the values, and the number of the first column that does not fit. */
static bool build_query(const CopyReading *reading, const CopyColumn *columns, Str relation,
                        Arena *arena, Str *out, Err *err)
{
    Buf sql = buf_new(arena, 0), bad = buf_new(arena, 0);

    append_metadata(&sql, reading, arena);
    for (size_t i = 0; i < reading->captured->column_count; i++) {
        CopyCast cast;
        if (!cast_column(reading, i, &columns[i], arena, &cast, err)) return false;
        buf_append_c(&sql, ", ");
        buf_append(&sql, cast.value);
        if (cast.bad.len) buf_printf(&bad, " WHEN %.*s THEN %zu", STR_ARG(cast.bad), i);
    }
    if (bad.len)
        buf_printf(&sql, ", CAST(CASE%.*s END AS INTEGER)", STR_ARG(buf_str(&bad)));
    else
        buf_append_c(&sql, ", CAST(NULL AS INTEGER)");
    buf_printf(&sql, " AS \"" BAD_COLUMN "\" FROM %.*s AS f", STR_ARG(relation));
    if (sql.overflow || bad.overflow)
        return err_set(err, ERR_LIMIT, "its columns are more than one query may name");
    *out = buf_str(&sql);
    return true;
}

static bool open_file(CopyRows *rows, Err *err)
{
    CopyReading *reading = rows->reading;
    Copy        *copy    = reading->copy;
    CopyColumn  *columns;
    Str          relation, sql;

    arena_reset(rows->file_arena);
    return copy_match_columns(copy, rows->at, reading->captured, rows->file_arena, &columns,
                              &relation, err) &&
           build_query(reading, columns, relation, rows->file_arena, &sql, err) &&
           (rows->session || duck_session_open(copy->env->duck, &rows->session, err)) &&
           duck_query(rows->session, sql, rows->file_arena, &rows->rows, err);
}

static bool check_values(const CopyRows *rows, const RowBlock *block, Err *err)
{
    const CopyReading  *reading = rows->reading;
    const ColumnVector *bad     = &block->columns[block->column_count - 1];

    for (size_t i = 0; i < block->row_count; i++) {
        const Column *column;
        Arena        *scratch;

        if (column_is_null(bad, i)) continue;
        column  = &reading->captured->columns[column_i64(bad, i)];
        scratch = arena_new();
        err_set(err, ERR_STATE,
                "a value of column %.*s cannot be cast to %.*s without changing it; mend the copy, "
                "and run again: nothing was appended",
                STR_ARG(column->name), STR_ARG(column_type_sql_name(scratch, column->type)));
        arena_close(scratch);
        return false;
    }
    return true;
}

static bool next_block(CopyRows *rows, RowBlock *out, Err *err)
{
    for (; rows->at < rows->end; rows->at++) {
        if (!rows->rows && !open_file(rows, err)) return false;
        if (!row_stream_next(rows->rows, out, err)) return false;
        if (out->row_count > 0) return check_values(rows, out, err);
        row_stream_close(rows->rows);
        rows->rows = NULL;
    }
    *out = (RowBlock){.row_count = 0};
    return true;
}

static bool rows_next(RowStream *stream, RowBlock *out, Err *err)
{
    CopyRows *rows = (CopyRows *)stream;

    if (next_block(rows, out, err)) {
        if (out->row_count > 0) out->column_count = stream->schema.column_count;
        return true;
    }
    const CopyFile *file = &rows->reading->copy->files[rows->at];
    copy_explain_error(file, err);
    return err_context(err, "%.*s", STR_ARG(file->path));
}

static void rows_close(RowStream *stream)
{
    CopyRows *rows = (CopyRows *)stream;

    row_stream_close(rows->rows);
    duck_session_close(rows->session);
    arena_close(rows->file_arena);
}

bool copy_rows_open(CopyReading *reading, size_t from, size_t to, Arena *arena, RowStream **out,
                    Err *err)
{
    CopyRows *rows = ARENA_NEW(arena, CopyRows);

    (void)err;
    *rows = (CopyRows){
        .base    = {.schema = row_schema(reading, arena), .next = rows_next, .close = rows_close},
        .reading = reading,
        .at      = from,
        .end     = to,
        .file_arena = arena_new()};
    *out = &rows->base;
    return true;
}
