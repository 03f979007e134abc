/* copy_files.c - files by their names' endings, columns by their headers. CSV is never guessed at: one dialect, text
 * columns, and a row that does not fit is an error. */
#include "engine/copy_files.h"

#include "base/list.h"

#include <stdio.h>
#include <string.h>

/* --- which files --- */

static bool has_ending(Str path, const char *const *endings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        Str ending = str_from_c(endings[i]);
        if (path.len > ending.len &&
            str_equal_ignoring_case(str_slice(path, path.len - ending.len, path.len), ending))
            return true;
    }
    return false;
}

static bool find_format(Str path, CopyFormat *out)
{
    static const char *const parquet[] = {".parquet", ".parq", ".pq"};
    static const char *const csv[]     = {".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz"};

    *out = COPY_FILE_PARQUET;
    if (has_ending(path, parquet, COUNT_OF(parquet))) return true;
    *out = COPY_FILE_CSV;
    return has_ending(path, csv, COUNT_OF(csv));
}

static bool add_delta_files(Copy *copy, Arena *arena, Err *err)
{
    const DeltaFile *file;

    if (!delta_table_open(copy->env->delta, copy->path, &copy->table, err)) return false;
    copy->turn = queue_new(copy->env->sched, 1);
    (void)queue_push(copy->turn, copy);
    copy->files = ARENA_ARRAY(arena, CopyFile, delta_table_get_file_count(copy->table) + 1);
    for (size_t at = 0; delta_table_next_file(copy->table, &at, &file);)
        copy->files[copy->file_count++] = (CopyFile){.format     = COPY_FILE_DELTA,
                                                     .path       = copy->path,
                                                     .delta      = file,
                                                     .size_bytes = file->size_bytes,
                                                     .row_count  = delta_file_count_rows(file)};
    if (copy->file_count == 0) /* it still has columns */
        copy->files[copy->file_count++] = (CopyFile){.format = COPY_FILE_DELTA, .path = copy->path};
    return true;
}

static bool is_within(Str path, Str folder)
{
    return str_starts_with(path, folder) && (path.len == folder.len || path.ptr[folder.len] == '/');
}

/* A Delta table's files are not its rows: some are gone, some have lost rows. */
static bool refuse_delta_folder(Copy *copy, Str path, Str *checked, Arena *scratch, Err *err)
{
    ptrdiff_t slash = str_find_last_char(path, '/');
    Str       folder;
    bool      exists;

    for (folder = str_slice(path, 0, (size_t)MAX(slash, 0)); folder.len > 0;
         folder = str_slice(folder, 0, (size_t)MAX(str_find_last_char(folder, '/'), 0))) {
        if (is_within(*checked, folder)) break; /* so are those above it */
        if (!delta_table_exists(copy->env->delta, folder, &exists, NULL, err)) return false;
        if (exists)
            return err_set(err, ERR_STATE,
                           "%.*s is a file of the Delta table %.*s, some of whose files may be "
                           "gone or have lost rows: name the table's folder",
                           STR_ARG(path), STR_ARG(folder));
    }
    if (slash > 0) *checked = str_copy(scratch, str_slice(path, 0, (size_t)slash));
    return true;
}

static bool no_file(const Copy *copy, Err *err)
{
    Str        path = copy->path;
    CopyFormat format;
    bool       is_folder = !find_format(path, &format); /* as far as its name tells */

    return err_set(err, ERR_STATE,
                   "no file is called %.*s, and no Delta table is there; name a Delta table's "
                   "folder, or files, of a folder for example as '%.*s/*.parquet'",
                   STR_ARG(path), STR_ARG(is_folder ? path : STR("FOLDER")));
}

static bool add_file(Copy *copy, Str path, int64_t size_bytes, Str *checked, Arena *arena, Err *err)
{
    CopyFile *file = &copy->files[copy->file_count];

    *file = (CopyFile){.path = str_copy(arena, path), .size_bytes = size_bytes, .row_count = -1};
    if (!find_format(path, &file->format))
        return err_set(err, ERR_STATE,
                       "%.*s: a file's name must end in .parquet, or in .csv or .tsv (which may "
                       "be compressed: .csv.gz)",
                       STR_ARG(path));
    copy->file_count++;
    return refuse_delta_folder(copy, path, checked, arena, err);
}

typedef struct Found {
    Str     path;
    int64_t size_bytes;
} Found;
typedef LIST(Found) FoundFiles;

static bool take_found(RowStream *rows, Arena *arena, FoundFiles *found, Err *err)
{
    RowBlock block;

    for (;;) {
        if (!row_stream_next(rows, &block, err)) return false;
        if (block.row_count == 0) return true;
        for (size_t i = 0; i < block.row_count; i++)
            *LIST_PUSH(arena, found) = (Found){str_copy(arena, column_str(&block.columns[0], i)),
                                               column_i64(&block.columns[1], i)};
    }
}

/* `is_file`: the path as it stands is one, whatever it would mean as a pattern. */
static bool find_files(const Copy *copy, bool is_file, Arena *arena, FoundFiles *found, Err *err)
{
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    Str          pattern = is_file ? duck_quote_path(arena, copy->path)
                                   : duck_quote_literal(arena, copy->path);
    Str  sql = str_printf(arena, "SELECT filename, size FROM read_blob(%.*s) ORDER BY filename",
                          STR_ARG(pattern));
    bool ok  = duck_session_open(copy->env->duck, &session, err) &&
              duck_query(session, sql, arena, &rows, err) && take_found(rows, arena, found, err);

    row_stream_close(rows);
    duck_session_close(session);
    return ok;
}

static bool add_files(Copy *copy, bool is_file, Arena *arena, Err *err)
{
    FoundFiles found   = {0};
    Str        checked = STR_EMPTY;

    if (!find_files(copy, is_file, arena, &found, err)) return false;
    if (found.count == 0) return no_file(copy, err);
    copy->files = ARENA_ARRAY(arena, CopyFile, found.count);
    for (size_t i = 0; i < found.count; i++)
        if (!add_file(copy, found.items[i].path, found.items[i].size_bytes, &checked, arena, err))
            return false;
    return true;
}

bool copy_open(Env *env, Str path, Arena *arena, Copy *out, Err *err)
{
    StoreEntry entry;
    Err        no_file = ERR_INIT;
    bool       exists  = false, is_file;

    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    *out    = (Copy){.env = env, .path = path};
    is_file = store_stat(env->store, path, &entry, &no_file);
    return (is_file || delta_table_exists(env->delta, path, &exists, NULL, err)) &&
           (exists ? add_delta_files(out, arena, err) : add_files(out, is_file, arena, err));
}

void copy_close(Copy *copy)
{
    delta_table_close(copy->table);
    if (copy->turn) queue_free(copy->turn);
}

/* --- what columns a file has --- */

typedef struct FileColumn {
    Str name;  /* as the file has it */
    Str field; /* as the relation calls it */
    Str type;
} FileColumn;
typedef LIST(FileColumn) FileColumns;

/* Text columns of a query, a callback a row. */
typedef void (*TakeRow)(void *arg, const RowBlock *block, size_t row);
static bool ask(const Copy *copy, Str sql, TakeRow take, void *arg, Err *err)
{
    Arena       *scratch = arena_new();
    DuckSession *session = NULL;
    RowStream   *rows    = NULL;
    RowBlock     block   = {.row_count = 1};
    bool         ok      = duck_session_open(copy->env->duck, &session, err) &&
              duck_query(session, sql, scratch, &rows, err);

    while (ok && block.row_count > 0) {
        ok = row_stream_next(rows, &block, err);
        for (size_t i = 0; ok && i < block.row_count; i++)
            take(arg, &block, i);
    }
    row_stream_close(rows);
    duck_session_close(session);
    arena_close(scratch);
    return ok;
}

typedef struct Taking {
    Arena       *arena;
    FileColumns *columns;
    size_t       count;  /* rows so far */
    int64_t      nested; /* rows to come that are fields within a column */
    int64_t      number;
    Str          text;
} Taking;

/* Of the tree in depth-first order: the root's children are the columns. */
static void take_tree(void *arg, const RowBlock *block, size_t row)
{
    Taking *taking   = arg;
    bool    is_leaf  = column_is_null(&block->columns[1], row);
    int64_t children = is_leaf ? 0 : column_i64(&block->columns[1], row);

    if (taking->count++ == 0) return; /* the root */
    if (taking->nested > 0) {
        taking->nested += children - 1;
        return;
    }
    taking->nested                             = children;
    *LIST_PUSH(taking->arena, taking->columns) = (FileColumn){
        .name = str_copy(taking->arena, column_str(&block->columns[0], row))};
}

static void take_type(void *arg, const RowBlock *block, size_t row)
{
    Taking     *taking = arg;
    FileColumn *column;

    if (taking->count >= taking->columns->count) return;
    column        = &taking->columns->items[taking->count++];
    column->field = str_copy(taking->arena, column_str(&block->columns[0], row));
    column->type  = str_copy(taking->arena, column_str(&block->columns[1], row));
}

static void take_number(void *arg, const RowBlock *block, size_t row)
{
    Taking *taking = arg;

    taking->number = column_i64(&block->columns[0], row);
}

static void take_text(void *arg, const RowBlock *block, size_t row)
{
    Taking *taking = arg;

    taking->count++;
    if (!column_is_null(&block->columns[0], row))
        taking->text = str_copy(taking->arena, column_str(&block->columns[0], row));
}

/* libduckdb renames what differs in case alone, so names are taken from the file's own schema. */
static bool read_parquet_columns(const Copy *copy, CopyFile *file, Arena *arena,
                                 FileColumns *columns, Str *relation_out, Err *err)
{
    Str    path  = duck_quote_path(arena, file->path);
    Taking names = {.arena = arena, .columns = columns};
    Taking types = names, rows = names;
    Str  relation = str_printf(arena, "read_parquet(%.*s, hive_partitioning=false)", STR_ARG(path));
    bool ok       = ask(copy,
                        str_printf(arena, "SELECT name, num_children::BIGINT FROM parquet_schema(%.*s)",
                                   STR_ARG(path)),
                        take_tree, &names, err) &&
              ask(copy,
                  str_printf(arena,
                             "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM %.*s)",
                             STR_ARG(relation)),
                  take_type, &types, err) &&
              ask(copy,
                  str_printf(arena, "SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(%.*s)",
                             STR_ARG(path)),
                  take_number, &rows, err);

    file->row_count = rows.number;
    *relation_out   = relation;
    if (ok && types.count != columns->count)
        ok = err_set(err, ERR_DAMAGED, "its schema and its columns do not agree");
    return ok;
}

/* --- CSV --- */

/* A field of a header, at most quoted. */
static Str take_field(Str *rest, char delimiter, Arena *arena)
{
    Buf    field     = buf_new(arena, 0);
    bool   is_quoted = rest->len > 0 && rest->ptr[0] == '"';
    size_t at        = is_quoted;

    for (; at < rest->len; at++) {
        char c = rest->ptr[at];
        if (is_quoted && c == '"') {
            if (at + 1 < rest->len && rest->ptr[at + 1] == '"')
                at++;
            else
                is_quoted = false;
            if (!is_quoted) continue;
        } else if (!is_quoted && c == delimiter) {
            break;
        }
        buf_append_char(&field, c);
    }
    *rest = at < rest->len ? str_slice(*rest, at + 1, rest->len) : (Str){NULL, 0};
    return str_trim(buf_str(&field));
}

static void split_header(Str header, char delimiter, Arena *arena, FileColumns *columns)
{
    *columns = (FileColumns){0};
    for (Str rest = header; rest.ptr;) {
        Str field = str_printf(arena, "c%zu", columns->count);
        Str name  = take_field(&rest, delimiter, arena);

        *LIST_PUSH(arena,
                   columns) = (FileColumn){.name = name, .field = field, .type = STR("VARCHAR")};
    }
}

static size_t count_known(const FileColumns *columns, const Schema *captured)
{
    size_t known = 0;

    for (size_t i = 0; i < columns->count; i++)
        known += schema_find(captured, columns->items[i].name) >= 0;
    return known;
}

/* The delimiter under which the header names most of the captured columns. */
static char split_by_best(Str header, const Schema *captured, Arena *arena, FileColumns *columns)
{
    static const char delimiters[] = {',', ';', '\t', '|'};
    char              best         = delimiters[0];
    size_t            best_known   = 0;

    for (size_t i = 0; i < COUNT_OF(delimiters); i++) {
        split_header(header, delimiters[i], arena, columns);
        size_t known = count_known(columns, captured);
        if (known <= best_known) continue;
        best       = delimiters[i];
        best_known = known;
    }
    split_header(header, best, arena, columns);
    return best;
}

static bool read_csv_columns(const Copy *copy, const CopyFile *file, const Schema *captured,
                             Arena *arena, FileColumns *columns, Str *relation_out, Err *err)
{
    Str    path   = duck_quote_path(arena, file->path);
    Taking header = {.arena = arena, .text = STR_EMPTY};
    Buf    sql    = buf_new(arena, 0);

    if (!ask(copy,
             str_printf(arena,
                        "SELECT line FROM read_csv(%.*s, auto_detect=false, header=false, "
                        "delim='\x01', quote='', escape='', strict_mode=false, columns={'line': "
                        "'VARCHAR'}) LIMIT 1",
                        STR_ARG(path)),
             take_text, &header, err))
        return false;
    if (header.text.len == 0)
        return err_set(err, ERR_STATE, "its first line must name the columns");
    char delimiter = split_by_best(header.text, captured, arena, columns);
    buf_printf(&sql,
               "read_csv(%.*s, auto_detect=false, header=true, delim='%c', quote='\"', "
               "escape='\"', nullstr='', allow_quoted_nulls=false, columns={",
               STR_ARG(path), delimiter);
    for (size_t i = 0; i < columns->count; i++)
        buf_printf(&sql, "%s'c%zu': 'VARCHAR'", i ? ", " : "", i);
    buf_append_c(&sql, "})");
    *relation_out = buf_str(&sql);
    return true;
}

/* --- Delta --- */

/* Only what is wanted: other columns may be of types that cannot be read. */
static bool scan_delta(const Copy *copy, const CopyFile *file, const Schema *captured,
                       const FileColumns *columns, Arena *arena, Str *relation_out, Err *err)
{
    Column *wanted = ARENA_ARRAY(arena, Column, columns->count + 1);
    Schema  read   = {.columns = wanted};
    void   *turn;

    for (size_t i = 0; i < columns->count; i++)
        if (schema_find(captured, columns->items[i].name) >= 0)
            wanted[read.column_count++] = delta_table_get_schema(copy->table)->columns[i];
    if (!queue_pop(copy->turn, -1, &turn)) return err_set(err, ERR_CANCELLED, "stopped on request");
    bool ok = delta_scan_sql(copy->table, file->delta ? &file->delta : NULL, file->delta != NULL,
                             &read, false, arena, relation_out, err);
    (void)queue_push(copy->turn, turn);
    return ok;
}

static bool read_delta_columns(const Copy *copy, const CopyFile *file, const Schema *captured,
                               Arena *arena, FileColumns *columns, Str *relation_out, Err *err)
{
    const Schema *schema = delta_table_get_schema(copy->table);

    for (size_t i = 0; i < schema->column_count; i++)
        *LIST_PUSH(arena,
                   columns) = (FileColumn){.name  = schema->columns[i].name,
                                           .field = schema->columns[i].name,
                                           .type  = duck_type_name(arena, schema->columns[i].type)};
    return scan_delta(copy, file, captured, columns, arena, relation_out, err);
}

/* --- matching --- */

/* Bronze has a row for each change, and no row is the one that stands. */
static bool check_is_no_log(const FileColumns *columns, Err *err)
{
    bool has_operation = false, has_position = false;

    for (size_t i = 0; i < columns->count; i++) {
        has_operation |= str_equal_c(columns->items[i].name, "_operation");
        has_position |= str_equal_c(columns->items[i].name, "_seqval");
    }
    return !has_operation || !has_position ||
           err_set(err, ERR_STATE,
                   "it is a log of changes (it has the columns _operation and _seqval), no copy of "
                   "the table: name its silver");
}

static bool refuse_twins(const FileColumn *first, const FileColumn *second, Err *err)
{
    return err_set(err, ERR_STATE,
                   "it has a column %.*s and a column %.*s, and names are matched ignoring case: "
                   "leave one out or rename it",
                   STR_ARG(first->name), STR_ARG(second->name));
}

static bool match(const FileColumns *columns, Str name, Arena *arena, CopyColumn *out, Err *err)
{
    const FileColumn *found = NULL;

    *out = (CopyColumn){.source = STR_EMPTY, .type = STR_EMPTY};
    for (size_t i = 0; i < columns->count; i++) {
        const FileColumn *column = &columns->items[i];
        if (!str_equal_ignoring_case(column->name, name)) continue;
        if (found) return refuse_twins(found, column, err);
        found = column;
    }
    if (found)
        *out = (CopyColumn){
            .source = str_printf(arena, "f.%.*s",
                                 STR_ARG(duck_quote_identifier(arena, found->field))),
            .type   = found->type};
    return true;
}

bool copy_match_columns(Copy *copy, size_t file_index, const Schema *captured, Arena *arena,
                        CopyColumn **out, Str *relation_out, Err *err)
{
    CopyFile   *file    = &copy->files[file_index];
    FileColumns columns = {0};
    bool        ok      = false;

    *out = ARENA_ARRAY(arena, CopyColumn, captured->column_count + 1);
    switch (file->format) {
    case COPY_FILE_DELTA:
        ok = read_delta_columns(copy, file, captured, arena, &columns, relation_out, err);
        break;
    case COPY_FILE_PARQUET:
        ok = read_parquet_columns(copy, file, arena, &columns, relation_out, err);
        break;
    case COPY_FILE_CSV:
        ok = read_csv_columns(copy, file, captured, arena, &columns, relation_out, err);
        break;
    }
    if (!ok) copy_explain_error(file, err);
    ok = ok && check_is_no_log(&columns, err);
    for (size_t i = 0; ok && i < captured->column_count; i++)
        ok = match(&columns, captured->columns[i].name, arena, &(*out)[i], err);
    return ok || err_context(err, "%.*s", STR_ARG(file->path));
}

/* --- what libduckdb says --- */

static bool explain_csv(Str message, Err *err)
{
    static const struct {
        const char *theirs, *ours;
    } reasons[] = {
        {"Expected Number of Columns", "has more or fewer fields than the header"},
        {"unterminated quote", "has a quote that does not end"},
        {"Invalid unicode", "is not UTF-8"},
        {"not utf-8", "is not UTF-8"},
        {"Maximum line size", "is longer than 2 MB: write Parquet files instead"},
    };
    ptrdiff_t   line = str_find(message, STR("CSV Error on Line: "), 0);
    const char *why  = "cannot be read: CSV is wanted as RFC 4180 has it, UTF-8, lines below 2 MB";
    Str         digits;
    size_t      count = 0;

    if (str_find(message, STR("state machine"), 0) >= 0)
        return err_set(err, ERR_STATE,
                       "it is not CSV as RFC 4180 has it: line ends of two kinds, or a quote that "
                       "does not end") ||
               true;
    if (line < 0) return false;
    for (size_t i = 0; i < COUNT_OF(reasons); i++)
        if (str_find(message, str_from_c(reasons[i].theirs), 0) >= 0) {
            why = reasons[i].ours;
            break;
        }
    digits = str_slice(message, (size_t)line + 19, message.len);
    while (count < digits.len && digits.ptr[count] >= '0' && digits.ptr[count] <= '9')
        count++;
    char number[24];
    (void)snprintf(number, sizeof number, "%.*s", (int)MIN(count, sizeof number - 1), digits.ptr);
    return err_set(err, ERR_STATE, "line %s %s", number, why) || true;
}

void copy_explain_error(const CopyFile *file, Err *err)
{
    static const char *const quoting[] = {"Original Line", " value \"", "Could not convert",
                                          "Invalid string encoding", "could not convert"};
    Str                      message   = str_from_c(err->message);
    size_t                   length;

    if (err->code != ERR_QUERY_ENGINE && err->code != ERR_STORE) return;
    if (file->format == COPY_FILE_CSV && explain_csv(message, err)) return;
    for (size_t i = 0; i < COUNT_OF(quoting); i++) {
        ptrdiff_t at = str_find(message, str_from_c(quoting[i]), 0);
        if (at >= 0) err->message[at] = '\0';
    }
    if (file->format != COPY_FILE_PARQUET || err->code != ERR_QUERY_ENGINE) return;
    err->code = ERR_DAMAGED; /* no query of ours fails on a sound file */
    length    = strlen(err->message);
    (void)snprintf(err->message + length, sizeof err->message - length,
                   "; the file is damaged: write it anew, and run again: nothing was appended");
}
