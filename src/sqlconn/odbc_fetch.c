/* odbc_fetch.c - rows of a result as blocks. Bound columns come in whole blocks; a statement with
 * long columns comes row by row, its bound cells staged, its long ones (odbc_long.c) read in column
 * order (sqlserver.md 1.2). */
#include "sqlconn/odbc_internal.h"

#include <string.h>

void odbc_result_fail(OdbcResult *result, const Err *err)
{
    result->has_failed = true;
    result->is_refused = odbc_is_server_number(err->native);
}

#define CANCEL_SILENCE_S 30 /* also where a statement may wait for ever: a cancel need not */

/* The server has said how it ended, so the connection is worth keeping. Its word on the cancel is
 * waited for like any answer. FreeTDS cancels when the statement is closed; its SQLCancel gives back
 * a lock that it does not hold where nothing is left (1.3.17). */
static void cancel_refused(OdbcResult *result)
{
    OdbcConn *conn  = result->conn;
    int64_t   limit = conn->base.silence_timeout_s;

    if (limit <= 0 || limit > CANCEL_SILENCE_S)
        sqlconn_set_silence_timeout(&conn->base, CANCEL_SILENCE_S);
    int handle = odbc_block_begin(conn, result->stmt);
    if (conn->family == DRIVER_FREETDS)
        (void)SQLFreeStmt(result->stmt, SQL_CLOSE);
    else
        (void)SQLCancel(result->stmt);
    odbc_block_end(conn, handle);
    sqlconn_set_silence_timeout(&conn->base, limit);
}

void odbc_result_close(RowStream *stream)
{
    OdbcResult *result = (OdbcResult *)stream;

    if (result->stmt) {
        bool is_left = !result->at_end || result->has_failed;
        if (is_left && result->is_refused)
            cancel_refused(result);
        else if (is_left)
            odbc_conn_abandon(result->conn, result->stmt);
        SQLFreeHandle(SQL_HANDLE_STMT, result->stmt);
    }
    result->conn->has_result = false;
    mem_free(result->value.bytes);
    arena_close(result->block_arena);
    arena_close(result->arena); /* the result lives in it */
}

/* After the last row: what follows is skipped, so that a late error is seen. A connection that died
 * is no end. */
static bool drain(OdbcResult *result, Err *err)
{
    bool has_columns = true;

    result->at_end = true;
    while (has_columns)
        if (!odbc_more_results(result, &has_columns, err)) return false;
    return odbc_check_alive(result->conn, err);
}

static bool check_row_status(OdbcResult *result, Err *err)
{
    for (size_t i = 0; i < result->rows_fetched; i++)
        if (result->row_status[i] == SQL_ROW_ERROR)
            return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn,
                             "a row of the result cannot be read", err);
    return true;
}

/* One SQLFetch. At the end rows_fetched is 0. */
static bool fetch(OdbcResult *result, Err *err)
{
    result->rows_fetched = 0;
    SQLRETURN rc         = SQLFetch(result->stmt);

    if (!odbc_check(rc, result, "reading the rows failed", err)) return false;
    if (rc == SQL_NO_DATA) {
        result->rows_fetched = 0;
        result->is_between   = result->has_more;
        return result->has_more || drain(result, err);
    }
    return rc == SQL_SUCCESS || check_row_status(result, err);
}

/* --- long columns --- */

/* A short column behind a long one is read the same way, into its cell. */
static bool read_short(OdbcResult *result, size_t index, size_t row, Err *err)
{
    OdbcColumn *column = &result->columns[index];
    uint8_t    *cell   = column->cells + row * column->cell_bytes;

    if (odbc_is_ok(SQLGetData(result->stmt, (SQLUSMALLINT)(index + 1), column->c_type, cell,
                              (SQLLEN)column->cell_bytes, &column->lengths[row])))
        return true;
    return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "reading a value failed", err);
}

static bool read_row(OdbcResult *result, size_t row, Err *err)
{
    bool seen_long = false;

    for (size_t i = 0; i < result->column_count; i++) {
        OdbcColumn *column = &result->columns[i];

        seen_long = seen_long || column->is_long;
        if (column->is_long) {
            if (!odbc_read_long(result, i, row, err)) return false;
        } else if (seen_long) {
            if (!read_short(result, i, row, err)) return false;
        } else {
            memcpy(column->cells + row * column->cell_bytes, column->stage, column->cell_bytes);
            column->lengths[row] = *column->stage_length;
        }
    }
    return true;
}

static bool fetch_rows_with_long(OdbcResult *result, size_t *row_count_out, Err *err)
{
    size_t row = 0;

    result->own_bytes = 0;
    while (row < result->row_capacity &&
           arena_used(result->block_arena) + result->own_bytes < result->block_bytes) {
        if (!fetch(result, err)) return false;
        if (result->rows_fetched == 0) break;
        if (!read_row(result, row, err)) return false;
        row++;
    }
    *row_count_out = row;
    return true;
}

/* --- blocks --- */

static const uint64_t *long_validity(const OdbcColumn *column, size_t row_count, Arena *arena)
{
    uint64_t *bits = ARENA_ARRAY(arena, uint64_t, row_count / 64 + 1);

    for (size_t i = 0; i < row_count; i++)
        if (column->lengths[i] != SQL_NULL_DATA) bits[i / 64] |= (uint64_t)1 << (i % 64);
    return bits;
}

static bool decode_block(OdbcResult *result, size_t row_count, RowBlock *out, Err *err)
{
    for (size_t i = 0; i < result->column_count; i++) {
        OdbcColumn *column = &result->columns[i];

        if (column->is_long)
            result->vectors[i] = (ColumnVector){
                column->type, column->strs, long_validity(column, row_count, result->block_arena)};
        else if (!odbc_decode(column, row_count, result->block_arena, &result->vectors[i], err))
            return err_context(err, "column %.*s",
                               STR_ARG(result->base.stream.schema.columns[i].name));
    }
    *out = (RowBlock){result->vectors, result->column_count, row_count};
    return true;
}

static bool stopped(Err *err)
{
    return err_set(err, ERR_CANCELLED, "the statement was stopped on request");
}

bool odbc_result_next(RowStream *stream, RowBlock *out, Err *err)
{
    OdbcResult *result    = (OdbcResult *)stream;
    OdbcConn   *conn      = result->conn;
    size_t      row_count = 0;
    bool        ok;

    *out = (RowBlock){.columns = result->vectors, .column_count = result->column_count};
    if (result->at_end || result->is_between) return true;
    if (atomic_load(&conn->is_cancelled)) return stopped(err);
    arena_reset(result->block_arena);
    int handle = odbc_block_begin(conn, result->stmt);
    if (result->has_long) {
        ok = fetch_rows_with_long(result, &row_count, err);
    } else {
        ok        = fetch(result, err);
        row_count = result->rows_fetched;
        /* FreeTDS has seen the end with such a block, and told what failed; asked again, it would wait for the next
         * result. Microsoft's gives the rows ahead of an error, which it tells when it is asked again (18.6). */
        if (conn->family == DRIVER_FREETDS && row_count < result->row_capacity)
            result->is_between = result->has_more;
    }
    odbc_block_end(conn, handle);
    if (!ok) odbc_result_fail(result, err);
    /* A stopped statement may look like one that came to its end. */
    if (ok && atomic_load(&conn->is_cancelled)) return stopped(err);
    return ok && (row_count == 0 || decode_block(result, row_count, out, err));
}

void odbc_result_release(RowStream *stream)
{
    arena_reset(((OdbcResult *)stream)->block_arena);
}

bool odbc_result_next_result(SqlResult *base, bool *has_out, Err *err)
{
    OdbcResult *result = (OdbcResult *)base;
    OdbcConn   *conn   = result->conn;
    bool        ok;

    *has_out = false;
    if (result->at_end) return true;
    if (atomic_load(&conn->is_cancelled)) return stopped(err);
    int handle = odbc_block_begin(conn, result->stmt);
    ok         = odbc_more_results(result, has_out, err);
    odbc_block_end(conn, handle);
    if (!ok) odbc_result_fail(result, err);
    if (ok && atomic_load(&conn->is_cancelled)) return stopped(err);
    if (!ok) return false;
    result->is_between = false;
    result->at_end     = !*has_out;
    return *has_out ? odbc_result_bind_next(result, err) : odbc_check_alive(conn, err);
}
