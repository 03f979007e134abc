/* sqlconn.h - a connection to SQL Server: text and parameters in, row blocks out
 * (sqlserver.md 1.1, 1.2).
 *
 * Implemented by unixODBC with any driver (odbc_*.c), and in tests by a tidesim session in-process.
 * A driver is opened once and opens connections; a connection belongs to one thread, except
 * sqlconn_cancel.
 *
 * Errors carry SQLSTATE and SQL Server's native number as the driver gave them; `code` is a first
 * guess by the table of sqlserver.md 1.13: ERR_SOURCE (transient), ERR_LOGIN, ERR_PERMISSION,
 * ERR_LOCK_TIMEOUT, ERR_SOURCE_STATE, ERR_CANCELLED, ERR_QUERY (everything else). */
#ifndef TIDELAKE_SQLCONN_SQLCONN_H
#define TIDELAKE_SQLCONN_SQLCONN_H

#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "types/row_block.h"

typedef struct SqlDriver SqlDriver;
typedef struct SqlConn   SqlConn;
typedef struct SqlResult SqlResult;
typedef struct SqlPool   SqlPool;
typedef struct SqlAhead  SqlAhead;

/* A type of SQL Server as a result column or captured column has it. */
typedef enum SqlTypeKind {
    SQL_TYPE_BIT,
    SQL_TYPE_TINYINT,
    SQL_TYPE_SMALLINT,
    SQL_TYPE_INT,
    SQL_TYPE_BIGINT,
    SQL_TYPE_REAL,
    SQL_TYPE_FLOAT,
    SQL_TYPE_DECIMAL,
    SQL_TYPE_MONEY,
    SQL_TYPE_SMALLMONEY,
    SQL_TYPE_DATE,
    SQL_TYPE_TIME,
    SQL_TYPE_DATETIME,
    SQL_TYPE_SMALLDATETIME,
    SQL_TYPE_DATETIME2,
    SQL_TYPE_DATETIMEOFFSET,
    SQL_TYPE_CHAR,
    SQL_TYPE_VARCHAR,
    SQL_TYPE_NCHAR,
    SQL_TYPE_NVARCHAR,
    SQL_TYPE_TEXT,
    SQL_TYPE_NTEXT,
    SQL_TYPE_XML,
    SQL_TYPE_BINARY,
    SQL_TYPE_VARBINARY,
    SQL_TYPE_IMAGE,
    SQL_TYPE_ROWVERSION,
    SQL_TYPE_UNIQUEIDENTIFIER,
    SQL_TYPE_OTHER,
} SqlTypeKind;

/* A parameter. All are Unicode text; the T-SQL converts (sqlserver.md 1.2). */
typedef struct SqlParam {
    Str  text;
    bool is_null;
} SqlParam;

typedef struct SqlQuery {
    Str             text; /* T-SQL with '?' for parameters */
    const SqlParam *params;
    size_t          param_count;
    int64_t         fetch_rows;  /* most rows a block holds; 0: 10,000 */
    int64_t         fetch_bytes; /* budget of the bound buffers; 0: 8 MiB */
    /* What the columns really are, by result name, where the driver cannot tell: uniqueidentifier
     * sent as text, a rowversion ... may be NULL. The block's types otherwise follow state.md 6.1:
     * bit BOOLEAN; tinyint, smallint SHORT; int INTEGER; bigint LONG; real FLOAT; float DOUBLE;
     * decimal, money DECIMAL; date DATE; datetime (rounded to the millisecond), smalldatetime,
     * datetime2 (cut to the microsecond) TIMESTAMP_NTZ; datetimeoffset TIMESTAMP; uniqueidentifier
     * STRING in upper case; time STRING of nine digits; char types STRING; binary types BINARY. */
    const Schema *expect; /* values are converted to these types when wider; ERR_SCHEMA_CHANGED when
                             they do not fit. May be NULL */
    bool
        has_more; /* results behind the first are wanted: sqlresult_next_result. `expect` must live as long */
} SqlQuery;

struct SqlDriver {
    /* `connection` is the user's string; `secret` values in it never reach a log. */
    bool (*connect)(SqlDriver *driver, Str connection, int64_t login_timeout_s, SqlConn **out,
                    Err *err);
    void (*close)(SqlDriver *driver);
    SqlPool *pool; /* sqldriver_keep_connections; NULL: nothing is kept */
};

struct SqlConn {
    bool (*query)(SqlConn *conn, const SqlQuery *query, SqlResult **out, Err *err);
    void (*cancel)(SqlConn *conn);
    bool (*is_dead)(SqlConn *conn);
    void (*close)(SqlConn *conn);
    int64_t   silence_timeout_s; /* sqlconn_set_silence_timeout */
    bool      can_join;          /* several statements in one request, a result each */
    int       open_results;
    bool      has_failed; /* a statement failed, or was left before its end */
    bool      is_reused;  /* it was kept for a while: it may be dead without knowing */
    SqlAhead *ahead;      /* sqlconn_ask_ahead; NULL: nothing */
};

struct SqlResult {
    RowStream          stream; /* schema: block types; next, close as for any stream */
    const SqlTypeKind *sql_types;
    SqlConn           *conn; /* set by sqlconn_query */
    /* Of a query with has_more, once its rows are at their end: the next result that has columns,
     * with its schema in `stream`; `*has_out` false: there is none. */
    bool (*next_result)(SqlResult *result, bool *has_out, Err *err);
    bool is_at_end;
};

/* Opens a connection: autocommit, forward-only; SET TEXTSIZE and DEADLOCK_PRIORITY LOW are sent
 * (sqlserver.md 1.1). */
bool sqldriver_connect(SqlDriver *driver, Str connection, int64_t login_timeout_s, SqlConn **out,
                       Err *err) MUST_CHECK;
void sqldriver_close(SqlDriver *driver); /* accepts NULL; closes what it keeps */

/* --- keeping connections --- */
#define SQL_POOL_CONNECTIONS_MAX 64
/* From now on connections that are given back are kept for `idle_ms_max` at most. Any thread may
 * take and give. Call it once, before the first connection. */
void sqldriver_keep_connections(SqlDriver *driver, Clock *clock, int64_t idle_ms_max);
/* A kept connection of that string, as it was after its login; NULL: there is none. */
SqlConn *sqldriver_take_kept(SqlDriver *driver, Str connection);
/* Keeps the connection if it is clean (no failure, every result read to its end), else closes it.
 * Whoever changed the session's settings closes it instead. Accepts NULL. */
void sqldriver_give_back(SqlDriver *driver, Str connection, SqlConn *conn);
/* Closes the kept ones of that string, and of those that begin with it (whoever keeps one with other settings adds
 * them to its string): when one of them is found dead, they all may be. */
void sqldriver_close_kept(SqlDriver *driver, Str connection);
/* Closes those that have been idle for too long. */
void sqldriver_close_idle(SqlDriver *driver);

/* Runs a statement to its first result that has columns. A statement without any gives a stream
 * without columns or rows. */
bool sqlconn_query(SqlConn *conn, const SqlQuery *query, SqlResult **out, Err *err) MUST_CHECK;
/* A block, or row_count 0 at the end: the statement was drained, so a late error was seen. */
bool sqlresult_next(SqlResult *result, RowBlock *out, Err *err) MUST_CHECK;
bool sqlresult_next_result(SqlResult *result, bool *has_out, Err *err) MUST_CHECK;
void sqlresult_close(SqlResult *result); /* accepts NULL; rows left unread take the connection with
                                            them, so that nobody waits for the server */
/* Stops the running statement from any thread; the caller of query or next gets ERR_CANCELLED. The
 * connection may be dead afterwards. */
void sqlconn_cancel(SqlConn *conn);
bool sqlconn_is_dead(SqlConn *conn);
/* From the next statement on: seconds without a byte from the server after which a call gives up
 * with ERR_SOURCE, and the connection with it; 0 (the default): it waits for ever. Rows that keep
 * coming are never cut off. */
void sqlconn_set_silence_timeout(SqlConn *conn, int64_t seconds);
void sqlconn_close(SqlConn *conn); /* accepts NULL */

/* Runs without looking at rows. */
bool sqlconn_execute(SqlConn *conn, Str text, Err *err) MUST_CHECK;
/* The rows of a small result, at most `limit` (ERR_LIMIT past it), copied into `arena`. */
bool sqlconn_fetch_all(SqlConn *conn, const SqlQuery *query, size_t limit, Arena *arena,
                       Schema *schema_out, RowBlock *out, Err *err) MUST_CHECK;

/* --- several questions at once --- */
typedef struct SqlAnswer {
    Schema   schema;
    RowBlock block;
} SqlAnswer;
/* Small results as sqlconn_fetch_all gives them, of statements that give one each: in one request
 * where the connection can do that. They run in this order. When that fails by anything but the
 * connection, each runs by itself, and the first error is that of the first that fails. */
bool sqlconn_fetch_many(SqlConn *conn, const SqlQuery *queries, size_t count, size_t limit,
                        Arena *arena, SqlAnswer *answers, Err *err) MUST_CHECK;
/* Asks in one request what is asked one by one afterwards: each of these statements, with these
 * parameters, then finds its answer here, once. Where that cannot be done nothing is asked, and
 * nothing is wrong: each statement runs in its turn. False when the connection broke. What is here
 * grows old: forget it when the statements have been asked. */
bool sqlconn_ask_ahead(SqlConn *conn, const SqlQuery *queries, size_t count, size_t limit,
                       Err *err) MUST_CHECK;
void sqlconn_forget_ahead(SqlConn *conn);

/* unixODBC. The driver is the one that the connection string names. `cancel` (may be NULL)
 * interrupts whatever blocks. `scratch_directory` is where a private freetds.conf goes when a
 * verified connection needs one. */
bool sqldriver_odbc_open(Log *log, Cancel *cancel, Str scratch_directory, SqlDriver **out,
                         Err *err) MUST_CHECK;

/* The type of that name, any case: "nvarchar", "timestamp" (rowversion), "int identity";
 * SQL_TYPE_OTHER for what is not known. */
SqlTypeKind sql_type_kind(Str name);
/* The type its values have in a block (above); false for SQL_TYPE_OTHER and a decimal out of range.
 */
bool sql_type_to_column_type(SqlTypeKind kind, uint8_t precision, uint8_t scale, ColumnType *out);

/* Classifies by native number, then SQLSTATE (sqlserver.md 1.13); native 0: no number of the
 * server. */
ErrCode sql_error_classify(int32_t native, const char *sqlstate);
/* The connection string with the values of PWD, Password and the like starred out. */
Str sql_connection_redact(Arena *arena, Str connection);

#endif
