/* odbc_internal.h - what the files that talk to unixODBC share. They alone see sql.h.
 *
 * All calls that carry text are the W functions: UTF-16 both ways, so no locale plays a part. */
#ifndef TIDELAKE_SQLCONN_ODBC_INTERNAL_H
#define TIDELAKE_SQLCONN_ODBC_INTERNAL_H

#include "base/clock.h"
#include "sqlconn/sqlconn_internal.h"

#include <pthread.h>
#include <stdatomic.h>

#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>

/* sql.h's macros of these names would hide SqlTypeKind's. What it makes of them goes too: it would
 * silently take our numbers. */
#undef SQL_TYPE_DATE
#undef SQL_TYPE_TIME
#undef SQL_C_TYPE_DATE
#undef SQL_C_TYPE_TIME
#define ODBC_C_TYPE_DATE 91

_Static_assert(sizeof(SQLWCHAR) == 2, "unixODBC with 2-byte SQLWCHAR is expected");
_Static_assert(sizeof(SQLLEN) == 8, "64-bit ODBC is expected");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "UTF-16 of the driver is read as little-endian");

typedef struct OdbcConn OdbcConn;

typedef struct OdbcDriver {
    SqlDriver       base;
    Arena          *arena;
    SQLHENV         env;
    Log            *log;
    Cancel         *cancel;
    Str             scratch_directory;
    pthread_mutex_t lock; /* guards what follows */
    Arena          *conf_arena;
    Str             conf_text; /* of the private freetds.conf; empty: none written */
    Str             conf_path;
    OdbcConn       *conns;     /* every one that is open */
    pthread_mutex_t find_lock; /* one at a time looks for its socket; taken before `lock` */
    Clock          *clock;
    pthread_t       watch; /* odbc_watch.c */
    bool            is_watched;
    Cancel         *watch_stop;
} OdbcDriver;

/* A connection's socket. The driver's own descriptor is not ours to use: it may be closed at any
 * time. */
typedef struct OdbcSocket {
    int      own;   /* our duplicate; -1: the socket is not known */
    uint64_t inode; /* the same whatever descriptor leads to it */
} OdbcSocket;

struct OdbcConn {
    SqlConn         base;
    OdbcDriver     *driver;
    SQLHDBC         dbc;
    DriverFamily    family;
    bool            is_connected;
    bool            is_abandoned; /* with rows unread: good for nothing more */
    OdbcSocket      socket;
    uint16_t        port;         /* of the server, 0: not known */
    bool            has_result;   /* one result at a time: no MARS */
    atomic_bool     is_cancelled; /* since the running statement began */
    atomic_bool     is_cut;       /* its socket was shut */
    pthread_mutex_t lock;         /* guards what follows, and `socket` */
    bool            is_blocked;   /* in a call */
    SQLHSTMT        running;      /* the statement of that call, NULL: it is the login */
    int64_t         running_since_ns, silence_ns_max; /* 0: it may wait for ever */
    atomic_bool     is_silent; /* it was cut off because the server said nothing */
    OdbcConn       *next;      /* of the driver's */
};

/* A call that may block: sqlconn_cancel and the driver's Cancel reach `stmt` in between; NULL: it is
 * the login. */
int  odbc_block_begin(OdbcConn *conn, SQLHSTMT stmt);
void odbc_block_end(OdbcConn *conn, int handle);

/* A number of the server's, not of FreeTDS's own library. */
bool odbc_is_server_number(int32_t native);
bool odbc_is_ok(SQLRETURN rc); /* SQL_SUCCESS or SQL_SUCCESS_WITH_INFO */
/* All diagnostic records of a handle into `err`; false always. `conn` may be NULL. */
bool odbc_fail(SQLSMALLINT handle_type, SQLHANDLE handle, OdbcConn *conn, const char *what,
               Err *err);
/* ERR_SOURCE: it was cut off because the server said nothing. False always. */
bool odbc_set_silent(const OdbcConn *conn, const char *what, Err *err);
/* An answer that ended may have been broken off: false when the connection is dead. */
bool odbc_check_alive(OdbcConn *conn, Err *err);
bool odbc_conn_query(SqlConn *base, const SqlQuery *query, SqlResult **out, Err *err);
bool odbc_conn_is_dead(SqlConn *base);

/* --- sockets --- */
/* Runs the first statement of a new connection, and finds its socket meanwhile. */
bool odbc_conn_run_first(OdbcConn *conn, Str first, Err *err);
/* A network that has gone is noticed within about a minute. */
void odbc_conn_keep_alive(OdbcConn *conn);
/* A duplicate of the driver's descriptor is kept from now on. Where there can be none the socket
 * stays unknown. */
void odbc_conn_keep_socket(OdbcConn *conn, int fd);
/* Before the driver closes its own: only the last one that is closed tells the server. */
void odbc_conn_drop_socket(OdbcConn *conn);
/* Whatever call of the connection waits comes back, whether the server answers or not. */
void odbc_conn_cut(OdbcConn *conn);
/* The process is to stop. A connection whose socket is not known (yet) takes every other one to the
 * same port with it. */
void odbc_conn_stop(OdbcConn *conn);
/* What is left of `stmt` is not wanted: nobody waits for the server to hear of it. The connection
 * is dead afterwards. */
void odbc_conn_abandon(OdbcConn *conn, SQLHSTMT stmt);

/* Milliseconds since the last byte came; false where the system does not tell. */
bool odbc_socket_silence_ms(const OdbcSocket *open, int64_t *out);
/* A thread that cuts off connections whose server has said nothing for their silence_timeout_s
 * while a call waited for it. */
bool odbc_watch_start(OdbcDriver *driver, Err *err) MUST_CHECK;
void odbc_watch_stop(OdbcDriver *driver);

/* UTF-16 with a terminator; `*unit_count_out` without it. */
SQLWCHAR *odbc_utf16(Arena *arena, Str text, size_t *unit_count_out);
Str       odbc_utf8(Arena *arena, const SQLWCHAR *text, size_t unit_count);

/* --- a result --- */

/* False with `err` set when the call failed, and also when it "succeeded with information" that is
 * an error: that is how both drivers tell of an error behind the rows of a block (a deadlock, a
 * killed session). SQL_NO_DATA is no failure. */
typedef struct OdbcResult OdbcResult;
bool                      odbc_check(SQLRETURN rc, OdbcResult *result, const char *what, Err *err);

/* How a bound column becomes a vector of its block. */
typedef enum Decode {
    DECODE_DIRECT,  /* the bound array is the vector's */
    DECODE_NUMERIC, /* SQL_NUMERIC_STRUCT, its own scale in it, to a decimal of the wanted width */
    DECODE_MONEY,   /* 8 bytes, the upper half first, or 4: ten-thousandths */
    DECODE_DECIMAL_TEXT, /* ASCII digits to a decimal */
    DECODE_I64,          /* int64_t to a narrower integer or a decimal, checked */
    DECODE_DATE,
    DECODE_TIMESTAMP, /* to microseconds */
    DECODE_DATETIME,  /* to microseconds, rounded to the millisecond */
    DECODE_GUID,
    DECODE_TIME,           /* text of the driver to nine digits */
    DECODE_DATETIMEOFFSET, /* text of the driver to an instant */
    DECODE_TEXT,
    DECODE_BINARY,
} Decode;

typedef struct OdbcColumn {
    SqlTypeKind kind;
    bool        is_long; /* read with SQLGetData, after the bound columns */
    Decode      decode;
    SQLSMALLINT c_type;
    size_t      cell_bytes; /* of one row in `cells` */
    size_t      size;       /* as described: characters, bytes or digits */
    uint8_t     scale;      /* of a decimal as the server has it */
    uint8_t     precision;
    ColumnType  type;  /* in the block */
    uint8_t    *cells; /* row_capacity of them */
    SQLLEN     *lengths;
    uint8_t    *stage; /* where the driver writes when rows come one by one, else `cells` */
    SQLLEN     *stage_length;
    Str        *strs; /* values of a long column */
} OdbcColumn;

/* A long value while it is read. */
typedef struct LongValue {
    char  *bytes;
    size_t len, capacity;
} LongValue;

struct OdbcResult {
    SqlResult     base;
    OdbcConn     *conn;
    SQLHSTMT      stmt;
    Arena        *arena;       /* the result's */
    Arena        *block_arena; /* reset per block */
    OdbcColumn   *columns;
    size_t        column_count;
    ColumnVector *vectors;
    size_t        row_capacity;
    size_t        block_bytes; /* of long values, before a block is handed on */
    size_t        own_bytes;   /* of the block's values that are not in its arena */
    LongValue     value;
    SQLWCHAR     *piece; /* where text comes to; NULL until a long value is read */
    bool          has_long;
    bool          at_end;
    bool          has_more; /* results behind this one are wanted */
    SqlQuery      wanted;   /* of each result: expect, fetch_rows, fetch_bytes; nothing else */
    bool    is_between;     /* the rows of one result have ended, the next one was not asked for */
    bool    has_failed;
    bool    is_refused; /* with an error that the server told, and nothing behind it */
    SQLULEN rows_fetched;
    SQLUSMALLINT *row_status;
};

/* Describes the columns, binds them within the byte budget. */
bool odbc_result_bind(OdbcResult *result, const SqlQuery *query, Err *err);
/* The next result: the buffers of the one before stay bound when it has the same columns. */
bool odbc_result_bind_next(OdbcResult *result, Err *err);
bool odbc_result_next(RowStream *stream, RowBlock *out, Err *err);
void odbc_result_close(RowStream *stream);
void odbc_result_release(RowStream *stream);
/* A call failed: what that says of the connection. */
void odbc_result_fail(OdbcResult *result, const Err *err);
/* Moves to the first result that has columns; `*has_columns_out` false at the end of them all. */
bool odbc_more_results(OdbcResult *result, bool *has_columns_out, Err *err);

/* SqlResult.next_result. */
bool odbc_result_next_result(SqlResult *base, bool *has_out, Err *err);

/* Turns `row_count` bound cells of a column into a vector. */
bool odbc_decode(const OdbcColumn *column, size_t row_count, Arena *arena, ColumnVector *out,
                 Err *err);

/* The long value of a row into its column; the block owns it. */
bool odbc_read_long(OdbcResult *result, size_t index, size_t row, Err *err);

#endif
