/* sqlconn_internal.h - what the files of sqlconn/ share and ODBC has no part in: connection
 * strings, type names, text cells. */
#ifndef TIDELAKE_SQLCONN_INTERNAL_H
#define TIDELAKE_SQLCONN_INTERNAL_H

#include "sqlconn/sqlconn.h"

/* --- connection strings (sqlserver.md 1.1 rule 9) --- */
typedef struct ConnectionPart {
    Str keyword;
    Str value; /* without braces */
    Str text;  /* keyword=value as it was written */
} ConnectionPart;

typedef struct ConnectionString {
    ConnectionPart *parts;
    size_t          part_count;
} ConnectionString;

/* Splits "keyword=value;..."; a value in braces may hold anything, "}}" standing for "}".
 * ERR_CONFIG without the text, which may hold secrets. */
bool connection_parse(Arena *arena, Str text, ConnectionString *out, Err *err) MUST_CHECK;
/* The value of the first part with that keyword (ignoring case), ptr NULL when there is none. */
Str connection_find(const ConnectionString *connection, const char *keyword);
/* keyword=value, the value in braces when it needs them. */
Str connection_format_part(Arena *arena, const char *keyword, Str value);

typedef enum DriverFamily { DRIVER_FREETDS, DRIVER_MICROSOFT, DRIVER_OTHER } DriverFamily;

/* By a driver's name or the path of its library. */
DriverFamily driver_family(Str name);

/* How the driver wants to be asked. */
typedef struct ConnectionPlan {
    Str  text;          /* for SQLDriverConnect */
    bool needs_section; /* FreeTDS, verified: `section` must be in the freetds.conf that FREETDSCONF
                           names */
    Str  section_name;
    Str  section;  /* with its [name] line */
    uint16_t port; /* of the server; 0: the string does not tell (a DSN, an instance's name) */
} ConnectionPlan;

/* ERR_CONFIG names keyword, driver and way out when the driver cannot give what is asked for. */
bool connection_plan(Arena *arena, const ConnectionString *connection, DriverFamily family,
                     ConnectionPlan *out, Err *err) MUST_CHECK;

/* --- kept connections --- */
void sql_pool_close(SqlPool *pool); /* accepts NULL */

/* --- several questions --- */
/* The answer to a statement that was asked ahead, as its result. */
bool sql_take_ahead(SqlConn *conn, const SqlQuery *query, SqlResult **out);
/* The rows that are left of a result, at most `limit`. */
bool sql_gather(SqlResult *result, size_t limit, Arena *arena, Schema *schema_out, RowBlock *out,
                Err *err) MUST_CHECK;

/* --- cells --- */
/* Converts `row_count` cells of UTF-16 (little-endian), `stride` bytes apart, into UTF-8 Strs; a
 * negative length is NULL and gives {NULL, 0}. All bytes go into one piece of `arena`. */
const Str *utf16_cells_to_str(Arena *arena, const uint8_t *cells, size_t stride,
                              const int64_t *length_bytes, size_t row_count);

/* --- errors --- */
/* Numbers whose messages quote values of rows (style.md 4: never a key value). */
bool sql_error_quotes_values(int32_t native);
/* The text without what stands between its first and last quote or parenthesis: a value may hold
 * quotes itself. */
Str sql_error_strip_values(Arena *arena, Str message);

#endif
