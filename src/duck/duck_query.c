/* duck_query.c - sessions of the query instance: statements, queries whose rows are pulled, and
 * COPY of a query. */
#include "duck/duck_internal.h"

#include <assert.h>

bool duck_session_open(Duck *duck, DuckSession **out, Err *err)
{
    DuckSession *session = mem_alloc(sizeof(DuckSession));

    if (!duck_connect(duck, INSTANCE_QUERY, &session->connection, err)) {
        mem_free(session);
        return false;
    }
    *out = session;
    return true;
}

void duck_session_close(DuckSession *session)
{
    if (!session) return;
    assert(!session->has_stream);
    duck_disconnect(&session->connection);
    mem_free(session);
}

/* --- statements --- */

static bool run_extracted(DuckSession *session, duckdb_extracted_statements statements, idx_t at,
                          int64_t *changed_out, Err *err)
{
    duckdb_prepared_statement statement = NULL;
    duckdb_result             result    = {0};
    bool                      ok        = true;

    if (duckdb_prepare_extracted_statement(session->connection.raw, statements, at, &statement) !=
        DuckDBSuccess)
        ok = duck_set_err(err, duckdb_prepare_error(statement));
    ok = ok && duck_run_prepared(&session->connection, statement, false, &result, err);
    if (ok && changed_out) *changed_out = (int64_t)duckdb_rows_changed(&result);
    duckdb_destroy_result(&result);
    duckdb_destroy_prepare(&statement);
    return ok;
}

bool duck_execute(DuckSession *session, Str sql, int64_t *changed_out, Err *err)
{
    duckdb_extracted_statements statements = NULL;
    Arena                      *scratch    = arena_new();

    assert(!session->has_stream);
    if (changed_out) *changed_out = 0;
    idx_t count = duckdb_extract_statements(session->connection.raw, str_c(scratch, sql),
                                            &statements);
    bool  ok    = true;
    if (count == 0) {
        const char *message = duckdb_extract_statements_error(statements);
        ok                  = !message || duck_set_err(err, message);
    }
    for (idx_t i = 0; i < count && ok; i++)
        ok = run_extracted(session, statements, i, changed_out, err);
    duckdb_destroy_extracted(&statements);
    arena_close(scratch);
    return ok;
}

/* --- queries --- */

typedef struct QueryStream {
    RowStream         base;
    DuckSession      *session;
    duckdb_result     result;
    duckdb_data_chunk chunk; /* what the last block points into */
    bool              is_done;
    Arena            *block_arena;
} QueryStream;

static bool query_next(RowStream *stream, RowBlock *out, Err *err)
{
    QueryStream  *query  = (QueryStream *)stream;
    const Schema *schema = &stream->schema;

    *out = (RowBlock){0};
    duckdb_destroy_data_chunk(&query->chunk);
    arena_reset(query->block_arena);
    if (query->is_done) return true; /* libduckdb must not be asked again */
    if (!duck_fetch(&query->result, &query->chunk, err)) return false;
    query->is_done = !query->chunk;
    if (query->is_done) return true;
    size_t        row_count = (size_t)duckdb_data_chunk_get_size(query->chunk);
    ColumnVector *columns   = ARENA_ARRAY(query->block_arena, ColumnVector, schema->column_count);
    for (size_t i = 0; i < schema->column_count; i++) {
        const Column *column = &schema->columns[i];
        duckdb_vector vector = duckdb_data_chunk_get_vector(query->chunk, i);

        if (!duck_nested_is_sound(vector, column->type, row_count))
            return err_set(
                err, ERR_DAMAGED,
                "a data file holds lists or maps of column %.*s that reach past its values",
                STR_ARG(column->name));
        columns[i] = duck_column_of_vector(query->block_arena, vector, column->type, row_count);
    }
    *out = (RowBlock){
        .columns = columns, .column_count = schema->column_count, .row_count = row_count};
    return true;
}

static void query_close(RowStream *stream)
{
    QueryStream *query = (QueryStream *)stream;
    if (!query->session) return;
    duckdb_destroy_data_chunk(&query->chunk);
    duckdb_destroy_result(&query->result);
    arena_close(query->block_arena);
    query->session->has_stream = false;
    query->session             = NULL;
}

Str duck_substitute_type(duckdb_logical_type logical)
{
    ColumnType type;

    switch (duckdb_get_type_id(logical)) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_UTINYINT: return STR("SMALLINT");
    case DUCKDB_TYPE_USMALLINT: return STR("INTEGER");
    case DUCKDB_TYPE_UINTEGER: return STR("BIGINT");
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS: return STR("TIMESTAMP");
    default:
        return duck_column_type(logical, &type) ? STR_EMPTY
                                                : STR("VARCHAR"); /* an enum of libduckdb's */
    }
}

/* What a column is cast to; an empty name when it stays as it is. */
static Str cast_type(duckdb_logical_type logical, Arena *arena)
{
    switch (duckdb_get_type_id(logical)) {
    case DUCKDB_TYPE_LIST:
    case DUCKDB_TYPE_ARRAY:
    case DUCKDB_TYPE_MAP:
    case DUCKDB_TYPE_STRUCT: return duck_nested_cast_type(arena, logical);
    default: return duck_substitute_type(logical); /* an enum of libduckdb's */
    }
}

static Str statement_column_name(duckdb_prepared_statement statement, idx_t at, Arena *arena)
{
    const char *name = duckdb_prepared_statement_column_name(statement, at);
    Str         copy = str_copy(arena, str_from_c(name ? name : ""));
    duckdb_free((void *)(uintptr_t)name);
    return copy;
}

/* The query once more, with casts around columns of foreign types; an empty Str when there are
 * none. */
static Str with_casts(duckdb_prepared_statement statement, Str sql, Arena *arena)
{
    idx_t count        = duckdb_prepared_statement_column_count(statement);
    bool  needs_a_cast = false;
    Buf   out          = buf_new(arena, 0);

    buf_append_c(&out, "SELECT ");
    for (idx_t i = 0; i < count; i++) {
        duckdb_logical_type logical = duckdb_prepared_statement_column_logical_type(statement, i);
        Str                 target  = cast_type(logical, arena);
        duckdb_destroy_logical_type(&logical);
        needs_a_cast |= target.len > 0;
        if (target.len > 0)
            buf_printf(&out, "%sCAST(c%zu AS %.*s) AS ", i > 0 ? ", " : "", (size_t)i,
                       STR_ARG(target));
        else
            buf_printf(&out, "%sc%zu AS ", i > 0 ? ", " : "", (size_t)i);
        duck_append_identifier(&out, statement_column_name(statement, i, arena));
    }
    sql = str_trim(sql);
    while (sql.len > 0 && sql.ptr[sql.len - 1] == ';')
        sql = str_trim(str_slice(sql, 0, sql.len - 1));
    buf_printf(&out, " FROM (%.*s\n) AS q(", STR_ARG(sql));
    for (idx_t i = 0; i < count; i++)
        buf_printf(&out, "%sc%zu", i > 0 ? ", " : "", (size_t)i);
    buf_append_c(&out, ")");
    return needs_a_cast ? buf_str(&out) : STR_EMPTY;
}

static bool prepare_with_casts(DuckSession *session, Str sql, Arena *arena,
                               duckdb_prepared_statement *out, Err *err)
{
    if (!duck_prepare_sql(&session->connection, sql, out, err)) return false;
    Str casted = with_casts(*out, sql, arena);
    if (casted.len == 0) return true;
    duckdb_destroy_prepare(out);
    return duck_prepare_sql(&session->connection, casted, out, err);
}

static Schema statement_schema(duckdb_prepared_statement statement, Arena *arena)
{
    size_t  count   = (size_t)duckdb_prepared_statement_column_count(statement);
    Column *columns = ARENA_ARRAY(arena, Column, count);

    for (size_t i = 0; i < count; i++) {
        duckdb_logical_type logical = duckdb_prepared_statement_column_logical_type(statement, i);
        bool                is_ours = duck_nested_column_type(arena, logical, 0, &columns[i].type);
        assert(is_ours);
        duckdb_destroy_logical_type(&logical);
        columns[i].name    = statement_column_name(statement, i, arena);
        columns[i].comment = STR_EMPTY;
    }
    return (Schema){.columns = columns, .column_count = count};
}

bool duck_query(DuckSession *session, Str sql, Arena *arena, RowStream **out, Err *err)
{
    duckdb_prepared_statement statement = NULL;
    QueryStream              *query     = ARENA_NEW(arena, QueryStream);

    assert(!session->has_stream);
    if (!prepare_with_casts(session, sql, arena, &statement, err)) return false;
    query->base = (RowStream){
        .schema = statement_schema(statement, arena), .next = query_next, .close = query_close};
    bool ok = duck_run_prepared(&session->connection, statement, true, &query->result, err);
    duckdb_destroy_prepare(&statement);
    if (!ok) {
        duckdb_destroy_result(&query->result);
        return false;
    }
    query->session      = session;
    query->block_arena  = arena_new();
    session->has_stream = true;
    *out                = &query->base;
    return true;
}

/* --- one number --- */

static bool number_of_column(const ColumnVector *column, int64_t *out)
{
    switch (column->type.kind) {
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ: *out = column_i64(column, 0); return true;
    case TYPE_BOOLEAN: *out = column_bool(column, 0); return true;
    case TYPE_STRING: return str_parse_i64(column_str(column, 0), out); /* a HUGEINT */
    case TYPE_DECIMAL:
        return column->type.scale == 0 && int128_to_i64(column_decimal(column, 0), out);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_BINARY:
    case TYPE_NESTED: break;
    }
    return false;
}

static bool read_one_number(RowStream *rows, int64_t *out, bool *is_null_out, Err *err)
{
    RowBlock block, rest;

    if (!row_stream_next(rows, &block, err)) return false;
    if (block.row_count != 1 || block.column_count != 1)
        return err_set(err, ERR_QUERY_ENGINE, "the query did not give one row with one column");
    bool is_null = column_is_null(&block.columns[0], 0);
    if (is_null && !is_null_out)
        return err_set(err, ERR_QUERY_ENGINE, "the query gave NULL instead of a number");
    if (is_null_out) *is_null_out = is_null;
    *out = 0;
    if (!is_null && !number_of_column(&block.columns[0], out))
        return err_set(err, ERR_QUERY_ENGINE, "the query gave no 64-bit number");
    if (!row_stream_next(rows, &rest, err)) return false;
    return rest.row_count == 0 ||
           err_set(err, ERR_QUERY_ENGINE, "the query gave more than one row");
}

bool duck_query_i64(DuckSession *session, Str sql, int64_t *out, bool *is_null_out, Err *err)
{
    Arena     *scratch = arena_new();
    RowStream *rows    = NULL;
    bool       ok      = duck_query(session, sql, scratch, &rows, err) &&
              read_one_number(rows, out, is_null_out, err);

    row_stream_close(rows);
    arena_close(scratch);
    return ok;
}

/* --- COPY of a query --- */

/* A query of more columns would lose them without a word, so they are counted first. */
static bool check_column_count(DuckSession *session, Str select_sql, const Schema *schema, Err *err)
{
    duckdb_prepared_statement statement = NULL;

    if (!duck_prepare_sql(&session->connection, select_sql, &statement, err)) return false;
    size_t count = (size_t)duckdb_prepared_statement_column_count(statement);
    duckdb_destroy_prepare(&statement);
    return count == schema->column_count ||
           err_set(err, ERR_QUERY_ENGINE, "the query has %zu columns, the table %zu", count,
                   schema->column_count);
}

static void append_output_column(Buf *sql, Arena *arena, const Column *column, size_t at)
{
    Str         type     = duck_type_name(arena, column->type);
    bool        is_float = column->type.kind == TYPE_FLOAT || column->type.kind == TYPE_DOUBLE;
    const char *plus     = is_float ? " + 0.0" : ""; /* no negative zero, delta.md 3.3.8 */

    if (is_float)
        buf_printf(sql, "CAST(CAST(c%zu AS %.*s)%s AS %.*s) AS ", at, STR_ARG(type), plus,
                   STR_ARG(type));
    else
        buf_printf(sql, "CAST(c%zu AS %.*s) AS ", at, STR_ARG(type));
    duck_append_identifier(sql, column->name);
}

static Str copy_query_sql(Arena *arena, Str select_sql, const Schema *schema, Str local_path,
                          const DuckWriteOptions *options)
{
    Buf sql = buf_new(arena, 0);

    buf_append_c(&sql, "COPY (SELECT ");
    for (size_t i = 0; i < schema->column_count; i++) {
        if (i > 0) buf_append_c(&sql, ", ");
        append_output_column(&sql, arena, &schema->columns[i], i);
    }
    buf_append_c(&sql, " FROM (");
    buf_append(&sql, select_sql);
    buf_append_c(&sql, "\n) AS q(");
    for (size_t i = 0; i < schema->column_count; i++)
        buf_printf(&sql, "%sc%zu", i > 0 ? ", " : "", i);
    buf_append_c(&sql, ")) TO ");
    duck_append_literal(&sql, local_path);
    buf_append_char(&sql, ' ');
    duck_append_copy_options(&sql, schema, options);
    return buf_str(&sql);
}

bool duck_copy_query(DuckSession *session, Str select_sql, const Schema *schema, Str local_path,
                     const DuckWriteOptions *options, Arena *arena, DuckFile *out, Err *err)
{
    duckdb_result result  = {0};
    Arena        *scratch = arena_new();

    assert(!session->has_stream);
    *out    = (DuckFile){0};
    bool ok = check_column_count(session, select_sql, schema, err);
    if (ok) {
        Str sql = copy_query_sql(scratch, select_sql, schema, local_path, options);
        ok      = duck_run_sql(&session->connection, sql, false, &result, err) &&
             duck_read_copy_stats(&session->connection, &result, schema, local_path, false, arena,
                                  out, err);
        if (!ok) duck_discard_file(local_path);
    }
    duckdb_destroy_result(&result);
    arena_close(scratch);
    return ok;
}
