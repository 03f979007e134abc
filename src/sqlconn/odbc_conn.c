/* odbc_conn.c - statements: parameters, execution, and the way to the first result that has
 * columns. */
#include "sqlconn/odbc_internal.h"

#include <stdio.h>
#include <string.h>

bool odbc_conn_is_dead(SqlConn *base)
{
    OdbcConn   *conn = (OdbcConn *)base;
    SQLUINTEGER dead = SQL_CD_FALSE;

    if (!conn->is_connected || conn->is_abandoned || atomic_load(&conn->is_silent) ||
        atomic_load(&conn->is_cancelled) || atomic_load(&conn->is_cut))
        return true;
    if (!odbc_is_ok(SQLGetConnectAttrW(conn->dbc, SQL_ATTR_CONNECTION_DEAD, &dead, 0, NULL)))
        return true;
    return dead == SQL_CD_TRUE;
}

bool odbc_set_silent(const OdbcConn *conn, const char *what, Err *err)
{
    err_set(err, ERR_SOURCE, "%s: the server said nothing for %lld seconds", what,
            (long long)conn->base.silence_timeout_s);
    (void)snprintf(err->sqlstate, sizeof(err->sqlstate), "HYT00");
    return false;
}

bool odbc_check_alive(OdbcConn *conn, Err *err)
{
    if (atomic_load(&conn->is_silent))
        return odbc_set_silent(conn, "reading the answer failed", err);
    return !odbc_conn_is_dead(&conn->base) ||
           err_set(err, ERR_SOURCE, "the connection broke while rows were read");
}

static void wake_conn(void *arg)
{
    odbc_conn_stop(arg);
}

int odbc_block_begin(OdbcConn *conn, SQLHSTMT stmt)
{
    pthread_mutex_lock(&conn->lock);
    conn->is_blocked       = true;
    conn->running          = stmt;
    conn->running_since_ns = clock_monotonic_ns(conn->driver->clock);
    conn->silence_ns_max   = MAX(conn->base.silence_timeout_s, 0) * 1000000000;
    pthread_mutex_unlock(&conn->lock);
    return conn->driver->cancel ? cancel_register(conn->driver->cancel, wake_conn, conn) : -1;
}

void odbc_block_end(OdbcConn *conn, int handle)
{
    if (conn->driver->cancel) cancel_unregister(conn->driver->cancel, handle);
    pthread_mutex_lock(&conn->lock);
    conn->is_blocked = false;
    conn->running    = NULL;
    pthread_mutex_unlock(&conn->lock);
}

/* Unicode text of a size class, so that the server's plan cache sees few kinds of a statement
 * (sqlserver.md 1.2). */
static SQLULEN declared_units(size_t unit_count)
{
    if (unit_count <= 128) return 128;
    return unit_count <= 4000 ? 4000 : unit_count;
}

static bool bind_params(OdbcResult *result, const SqlQuery *query, Err *err)
{
    SQLLEN *lengths = ARENA_ARRAY(result->arena, SQLLEN, query->param_count + 1);

    for (size_t i = 0; i < query->param_count; i++) {
        const SqlParam *param = &query->params[i];
        size_t          units = 0;
        SQLWCHAR       *text  = odbc_utf16(result->arena, param->is_null ? STR_EMPTY : param->text,
                                           &units);

        lengths[i]   = param->is_null ? SQL_NULL_DATA : (SQLLEN)(units * sizeof(SQLWCHAR));
        SQLRETURN rc = SQLBindParameter(result->stmt, (SQLUSMALLINT)(i + 1), SQL_PARAM_INPUT,
                                        SQL_C_WCHAR, SQL_WVARCHAR, declared_units(units), 0, text,
                                        (SQLLEN)((units + 1) * sizeof(SQLWCHAR)), &lengths[i]);
        if (!odbc_is_ok(rc))
            return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "a parameter was refused",
                             err);
    }
    return true;
}

static bool count_columns(OdbcResult *result, bool *has_columns_out, Err *err)
{
    SQLSMALLINT count = 0;

    if (!odbc_is_ok(SQLNumResultCols(result->stmt, &count)))
        return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "the statement failed", err);
    *has_columns_out = count > 0;
    return true;
}

bool odbc_more_results(OdbcResult *result, bool *has_columns_out, Err *err)
{
    for (*has_columns_out = false; !*has_columns_out;) {
        SQLRETURN rc = SQLMoreResults(result->stmt);
        if (!odbc_check(rc, result, "the statement failed", err)) return false;
        if (rc == SQL_NO_DATA) return true;
        if (!count_columns(result, has_columns_out, err)) return false;
    }
    return true;
}

/* Runs the statement and stops at its first result with columns. */
static bool execute(OdbcResult *result, const SqlQuery *query, bool *has_columns_out, Err *err)
{
    size_t    units;
    SQLWCHAR *text = odbc_utf16(result->arena, query->text, &units);
    SQLRETURN rc   = SQLExecDirectW(result->stmt, text, (SQLINTEGER)units);

    *has_columns_out = false;
    if (!odbc_check(rc, result, "the statement failed", err)) return false;
    if (rc != SQL_NO_DATA && !count_columns(result, has_columns_out, err)) return false;
    return *has_columns_out || odbc_more_results(result, has_columns_out, err);
}

/* Where the socket is not known, the driver's own limit is all there is: FreeTDS cancels after it and
 * gives up after as long again; Microsoft's may wait two minutes more (measured with 1.3.17, 18.6). */
static void limit_silence(OdbcResult *result)
{
    OdbcConn *conn    = result->conn;
    int64_t   seconds = conn->base.silence_timeout_s;

    if (seconds <= 0 || conn->socket.own >= 0) return; /* odbc_watch.c sees to it */
    if (conn->family == DRIVER_FREETDS) seconds = (seconds + 1) / 2;
    (void)SQLSetStmtAttrW(result->stmt, SQL_ATTR_QUERY_TIMEOUT, (SQLPOINTER)(uintptr_t)seconds, 0);
}

static OdbcResult *result_new(OdbcConn *conn, const SqlQuery *query)
{
    Arena      *arena  = arena_new();
    OdbcResult *result = ARENA_NEW(arena, OdbcResult);

    result->base.stream.next    = odbc_result_next;
    result->base.stream.close   = odbc_result_close;
    result->base.stream.release = odbc_result_release;
    result->arena               = arena;
    result->block_arena         = arena_new();
    result->conn                = conn;
    result->has_more            = query->has_more;
    result->wanted              = (SqlQuery){.expect      = query->expect,
                                             .fetch_rows  = query->fetch_rows,
                                             .fetch_bytes = query->fetch_bytes};
    if (query->has_more) result->base.next_result = odbc_result_next_result;
    return result;
}

bool odbc_conn_query(SqlConn *base, const SqlQuery *query, SqlResult **out, Err *err)
{
    OdbcConn   *conn   = (OdbcConn *)base;
    OdbcResult *result = NULL;
    bool        ok     = false;

    if (conn->has_result)
        return err_set(err, ERR_INTERNAL,
                       "a second statement was started on a connection that is being read");
    if (conn->driver->cancel && !cancel_check(conn->driver->cancel, err)) return false;
    log_trace(conn->driver->log, "sqlconn", "statement sent", LOG_STR("sql", query->text),
              LOG_I64("params", query->param_count));

    result           = result_new(conn, query);
    conn->has_result = true;
    atomic_store(&conn->is_cancelled, false);
    if (!odbc_is_ok(SQLAllocHandle(SQL_HANDLE_STMT, conn->dbc, &result->stmt))) {
        odbc_fail(SQL_HANDLE_DBC, conn->dbc, conn, "the driver gave no statement", err);
    } else if (bind_params(result, query, err)) {
        bool has_columns = false;
        limit_silence(result);
        int handle = odbc_block_begin(conn, result->stmt);
        ok         = execute(result, query, &has_columns, err);
        odbc_block_end(conn, handle);
        if (!ok) odbc_result_fail(result, err);
        if (ok && atomic_load(&conn->is_cancelled))
            ok = err_set(err, ERR_CANCELLED, "the statement was stopped on request");
        if (ok && !has_columns) ok = odbc_check_alive(conn, err); /* nothing may be a cut-off */
        result->at_end = !has_columns;
        if (ok && has_columns) ok = odbc_result_bind(result, query, err);
    }
    if (ok)
        *out = &result->base;
    else
        odbc_result_close(&result->base.stream);
    return ok;
}
