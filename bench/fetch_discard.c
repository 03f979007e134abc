/* fetch_discard.c - the limit tidelake is measured against: fetches the change rows of a capture
 * instance through the same driver in the same blocks, and throws them away.
 *
 * fetch-discard CONNECTION CAPTURE_INSTANCE
 *
 * Prints "rows N bytes M wall_s W blocked_s B": how long the read took, and how long of that the server
 * waited for this client to take what it had sent, as tidesim.stats says. */
#define _POSIX_C_SOURCE 200809L
#include <sql.h>
#include <sqlext.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUDGET_BYTES (8 << 20) /* as tidelake: 8 MiB of bound buffers, at most 10,000 rows */
#define MOST_ROWS    10000
#define MOST_COLUMNS 64

static void check(SQLRETURN code, SQLSMALLINT kind, SQLHANDLE handle, const char *what)
{
    SQLCHAR     state[6] = "", text[512] = "";
    SQLINTEGER  native = 0;
    SQLSMALLINT len;

    if (SQL_SUCCEEDED(code) || code == SQL_NO_DATA) return;
    (void)SQLGetDiagRec(kind, handle, 1, state, &native, text, sizeof text, &len);
    (void)fprintf(stderr, "fetch-discard: %s: %s %d %s\n", what, (char *)state, (int)native,
                  (char *)text);
    exit(1);
}

typedef struct Bound {
    SQLSMALLINT c_type;
    SQLLEN      width;
    uint8_t    *data;
    SQLLEN     *lengths;
} Bound;

static void describe(SQLHSTMT statement, SQLUSMALLINT column, Bound *out)
{
    SQLCHAR     name[256];
    SQLSMALLINT name_len, type, digits, nullable;
    SQLULEN     size;

    check(SQLDescribeCol(statement, column, name, sizeof name, &name_len, &type, &size, &digits,
                         &nullable),
          SQL_HANDLE_STMT, statement, "describe");
    switch (type) {
    case SQL_BIT: *out = (Bound){.c_type = SQL_C_BIT, .width = 1}; break;
    case SQL_TINYINT:
    case SQL_SMALLINT:
    case SQL_INTEGER: *out = (Bound){.c_type = SQL_C_SLONG, .width = 4}; break;
    case SQL_BIGINT: *out = (Bound){.c_type = SQL_C_SBIGINT, .width = 8}; break;
    case SQL_REAL:
    case SQL_FLOAT:
    case SQL_DOUBLE: *out = (Bound){.c_type = SQL_C_DOUBLE, .width = 8}; break;
    case SQL_TYPE_DATE:
        *out = (Bound){.c_type = SQL_C_TYPE_DATE, .width = sizeof(SQL_DATE_STRUCT)};
        break;
    case SQL_TYPE_TIMESTAMP:
        *out = (Bound){.c_type = SQL_C_TYPE_TIMESTAMP, .width = sizeof(SQL_TIMESTAMP_STRUCT)};
        break;
    case SQL_GUID: *out = (Bound){.c_type = SQL_C_GUID, .width = sizeof(SQLGUID)}; break;
    case SQL_BINARY:
    case SQL_VARBINARY: *out = (Bound){.c_type = SQL_C_BINARY, .width = (SQLLEN)size}; break;
    case SQL_DECIMAL:
    case SQL_NUMERIC: *out = (Bound){.c_type = SQL_C_CHAR, .width = (SQLLEN)size + 4}; break;
    default: *out = (Bound){.c_type = SQL_C_WCHAR, .width = (SQLLEN)(size + 1) * 2}; break;
    }
}

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What the server has spent waiting for this connection so far. */
static double blocked_s(SQLHDBC connection)
{
    SQLHSTMT statement;
    SQLCHAR  scope[16], question[] = "EXEC tidesim.stats";
    SQLLEN   len;
    int64_t  blocked_ns = 0, total_ns = 0;

    check(SQLAllocHandle(SQL_HANDLE_STMT, connection, &statement), SQL_HANDLE_DBC, connection,
          "statement");
    check(SQLExecDirect(statement, question, SQL_NTS), SQL_HANDLE_STMT, statement, "stats");
    while (SQLFetch(statement) == SQL_SUCCESS) {
        check(SQLGetData(statement, 1, SQL_C_CHAR, scope, sizeof scope, &len), SQL_HANDLE_STMT,
              statement, "stats");
        check(SQLGetData(statement, 8, SQL_C_SBIGINT, &blocked_ns, sizeof blocked_ns, &len),
              SQL_HANDLE_STMT, statement, "stats");
        if (strcmp((char *)scope, "total") == 0) total_ns = blocked_ns;
    }
    (void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
    return 1e-9 * (double)total_ns;
}

int main(int argc, char **argv)
{
    SQLHENV            environment;
    SQLHDBC            connection;
    SQLHSTMT           statement;
    SQLSMALLINT        columns;
    SQLULEN            fetched = 0;
    Bound              bound[MOST_COLUMNS];
    unsigned long long rows = 0, row_bytes = 0;
    char               sql[2048];

    if (argc != 3) return 2;
    (void)snprintf(sql, sizeof sql,
                   "SELECT c.*, m.tran_end_time FROM cdc.[%s_CT] AS c INNER JOIN "
                   "cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn] "
                   "ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]",
                   argv[2]);
    check(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment), SQL_HANDLE_ENV, NULL,
          "environment");
    check(SQLSetEnvAttr(environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0),
          SQL_HANDLE_ENV, environment, "version");
    check(SQLAllocHandle(SQL_HANDLE_DBC, environment, &connection), SQL_HANDLE_ENV, environment,
          "connection");
    check(SQLDriverConnect(connection, NULL, (SQLCHAR *)argv[1], SQL_NTS, NULL, 0, NULL,
                           SQL_DRIVER_NOPROMPT),
          SQL_HANDLE_DBC, connection, "connect");
    check(SQLAllocHandle(SQL_HANDLE_STMT, connection, &statement), SQL_HANDLE_DBC, connection,
          "statement");
    double began_s = now_s();
    check(SQLExecDirect(statement, (SQLCHAR *)sql, SQL_NTS), SQL_HANDLE_STMT, statement, "query");
    check(SQLNumResultCols(statement, &columns), SQL_HANDLE_STMT, statement, "columns");
    for (SQLSMALLINT c = 0; c < columns && c < MOST_COLUMNS; c++) {
        describe(statement, (SQLUSMALLINT)(c + 1), &bound[c]);
        row_bytes += (unsigned long long)bound[c].width + sizeof(SQLLEN);
    }
    SQLULEN block = (SQLULEN)(BUDGET_BYTES / row_bytes);
    if (block > MOST_ROWS) block = MOST_ROWS;
    check(SQLSetStmtAttr(statement, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)block, 0), SQL_HANDLE_STMT,
          statement, "block");
    check(SQLSetStmtAttr(statement, SQL_ATTR_ROWS_FETCHED_PTR, &fetched, 0), SQL_HANDLE_STMT,
          statement, "count");
    for (SQLSMALLINT c = 0; c < columns && c < MOST_COLUMNS; c++) {
        bound[c].data    = malloc((size_t)bound[c].width * block);
        bound[c].lengths = malloc(sizeof(SQLLEN) * block);
        check(SQLBindCol(statement, (SQLUSMALLINT)(c + 1), bound[c].c_type, bound[c].data,
                         bound[c].width, bound[c].lengths),
              SQL_HANDLE_STMT, statement, "bind");
    }
    for (;;) {
        SQLRETURN code = SQLFetch(statement);
        check(code, SQL_HANDLE_STMT, statement, "fetch");
        if (code == SQL_NO_DATA) break;
        rows += fetched;
    }
    double wall_s = now_s() - began_s;
    (void)SQLFreeHandle(SQL_HANDLE_STMT, statement);
    printf("rows %llu bytes %llu wall_s %.6f blocked_s %.6f\n", rows, rows * row_bytes, wall_s,
           blocked_s(connection));
    return 0;
}
