/* sqlconn.c - calls through to whatever implements the connection, and the two shorthands for small
 * results. */
#include "sqlconn/sqlconn_internal.h"

#include <assert.h>
#include <string.h>

bool sqldriver_connect(SqlDriver *driver, Str connection, int64_t login_timeout_s, SqlConn **out,
                       Err *err)
{
    *out = NULL;
    return driver->connect(driver, connection, login_timeout_s, out, err);
}

void sqldriver_close(SqlDriver *driver)
{
    if (!driver) return;
    sql_pool_close(driver->pool);
    driver->close(driver);
}

bool sqlconn_query(SqlConn *conn, const SqlQuery *query, SqlResult **out, Err *err)
{
    *out = NULL;
    if (!sql_take_ahead(conn, query, out) && !conn->query(conn, query, out, err)) {
        conn->has_failed = true;
        return false;
    }
    (*out)->conn = conn;
    conn->open_results++;
    return true;
}

bool sqlresult_next(SqlResult *result, RowBlock *out, Err *err)
{
    if (!row_stream_next(&result->stream, out, err)) {
        if (result->conn) result->conn->has_failed = true;
        return false;
    }
    result->is_at_end = out->row_count == 0 && !result->next_result;
    return true;
}

bool sqlresult_next_result(SqlResult *result, bool *has_out, Err *err)
{
    *has_out = false;
    if (!result->next_result) return true;
    if (!result->next_result(result, has_out, err)) {
        if (result->conn) result->conn->has_failed = true;
        return false;
    }
    result->is_at_end = !*has_out;
    return true;
}

void sqlresult_close(SqlResult *result)
{
    if (!result) return;
    if (result->conn) {
        result->conn->open_results--;
        if (!result->is_at_end) result->conn->has_failed = true;
    }
    row_stream_close(&result->stream);
}

void sqlconn_cancel(SqlConn *conn)
{
    conn->cancel(conn);
}

bool sqlconn_is_dead(SqlConn *conn)
{
    return conn->is_dead(conn);
}

void sqlconn_set_silence_timeout(SqlConn *conn, int64_t seconds)
{
    conn->silence_timeout_s = seconds;
}

void sqlconn_close(SqlConn *conn)
{
    if (!conn) return;
    sqlconn_forget_ahead(conn);
    conn->close(conn);
}

bool sqlconn_execute(SqlConn *conn, Str text, Err *err)
{
    SqlQuery   query  = {.text = text, .fetch_rows = 16};
    SqlResult *result = NULL;
    RowBlock   block  = {0};
    bool       ok     = false;

    if (!sqlconn_query(conn, &query, &result, err)) return false;
    do {
        if (!sqlresult_next(result, &block, err)) goto done;
    } while (block.row_count > 0);
    ok = true;
done:
    sqlresult_close(result);
    return ok;
}

/* One column of a result that is put together from blocks. */
typedef struct GatheredColumn {
    uint8_t  *data;
    uint64_t *validity;
    size_t    width;
    bool      is_text;
} GatheredColumn;

typedef struct Gathered {
    Arena          *arena;
    GatheredColumn *columns;
    size_t          column_count;
    size_t          row_count;
    size_t          capacity;
} Gathered;

static void gathered_grow(Gathered *gathered, size_t row_count)
{
    size_t capacity = MAX(row_count, gathered->capacity ? gathered->capacity * 2 : 16);

    if (row_count <= gathered->capacity) return;
    for (size_t i = 0; i < gathered->column_count; i++) {
        GatheredColumn *column   = &gathered->columns[i];
        uint8_t        *data     = arena_alloc_array(gathered->arena, capacity, column->width);
        uint64_t       *validity = ARENA_ARRAY(gathered->arena, uint64_t, capacity / 64 + 1);

        if (gathered->row_count) {
            memcpy(data, column->data, gathered->row_count * column->width);
            memcpy(validity, column->validity, (gathered->row_count / 64 + 1) * sizeof(*validity));
        }
        column->data     = data;
        column->validity = validity;
    }
    gathered->capacity = capacity;
}

static void gathered_append(Gathered *gathered, const RowBlock *block)
{
    size_t first = gathered->row_count;

    assert(block->column_count == gathered->column_count);
    gathered_grow(gathered, first + block->row_count);
    for (size_t i = 0; i < block->column_count; i++) {
        GatheredColumn     *column = &gathered->columns[i];
        const ColumnVector *from   = &block->columns[i];

        if (!column->is_text)
            memcpy(column->data + first * column->width, from->data,
                   block->row_count * column->width);
        for (size_t row = 0; row < block->row_count; row++) {
            size_t at = first + row;
            if (column_is_null(from, row)) continue;
            column->validity[at / 64] |= (uint64_t)1 << (at % 64);
            if (column->is_text)
                ((Str *)(void *)column->data)[at] = str_copy(gathered->arena,
                                                             column_str(from, row));
        }
    }
    gathered->row_count += block->row_count;
}

static void gathered_finish(const Gathered *gathered, const Schema *schema, RowBlock *out)
{
    ColumnVector *vectors = ARENA_ARRAY(gathered->arena, ColumnVector, gathered->column_count + 1);

    for (size_t i = 0; i < gathered->column_count; i++)
        vectors[i] = (ColumnVector){schema->columns[i].type, gathered->columns[i].data,
                                    gathered->columns[i].validity};
    *out = (RowBlock){vectors, gathered->column_count, gathered->row_count};
}

bool sql_gather(SqlResult *result, size_t limit, Arena *arena, Schema *schema_out, RowBlock *out,
                Err *err)
{
    RowBlock block    = {0};
    Schema   schema   = schema_copy(arena, &result->stream.schema);
    Gathered gathered = {.arena = arena, .column_count = schema.column_count};

    *out             = (RowBlock){0};
    gathered.columns = ARENA_ARRAY(arena, GatheredColumn, schema.column_count + 1);
    for (size_t i = 0; i < schema.column_count; i++) {
        gathered.columns[i].width   = column_type_width(schema.columns[i].type);
        gathered.columns[i].is_text = column_type_is_text(schema.columns[i].type);
    }
    for (;;) {
        if (!sqlresult_next(result, &block, err)) return false;
        if (block.row_count == 0) break;
        if (block.row_count > limit - gathered.row_count)
            return err_set(err, ERR_LIMIT,
                           "the source answered with more than %zu rows where fewer are expected",
                           limit);
        gathered_append(&gathered, &block);
    }
    gathered_finish(&gathered, &schema, out);
    if (schema_out) *schema_out = schema;
    return true;
}

bool sqlconn_fetch_all(SqlConn *conn, const SqlQuery *query, size_t limit, Arena *arena,
                       Schema *schema_out, RowBlock *out, Err *err)
{
    SqlResult *result = NULL;
    bool       ok;

    *out = (RowBlock){0};
    if (!sqlconn_query(conn, query, &result, err)) return false;
    ok = sql_gather(result, limit, arena, schema_out, out, err);
    sqlresult_close(result);
    return ok;
}
