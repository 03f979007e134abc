/* odbc_diag.c - diagnostic records into an Err, and text to and from UTF-16. */
#include "sqlconn/odbc_internal.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#define MAX_RECORDS 20 /* a runaway list of messages is cut, the first ones tell */

bool odbc_is_ok(SQLRETURN rc)
{
    return rc == SQL_SUCCESS || rc == SQL_SUCCESS_WITH_INFO;
}

SQLWCHAR *odbc_utf16(Arena *arena, Str text, size_t *unit_count_out)
{
    SQLWCHAR *units = arena_alloc(arena, (text.len + 1) * sizeof(SQLWCHAR));

    *unit_count_out        = utf8_to_utf16le(text, (uint8_t *)units);
    units[*unit_count_out] = 0;
    return units;
}

Str odbc_utf8(Arena *arena, const SQLWCHAR *text, size_t unit_count)
{
    char  *out = arena_alloc(arena, unit_count * 3 + 1);
    size_t len = utf16le_to_utf8((const uint8_t *)text, unit_count, out);

    return (Str){out, len};
}

typedef struct DiagRecord {
    char    sqlstate[6];
    int32_t native;
    Str     message;
} DiagRecord;

static bool read_record(SQLSMALLINT handle_type, SQLHANDLE handle, SQLSMALLINT number, Arena *arena,
                        DiagRecord *out)
{
    SQLWCHAR    state[6] = {0};
    SQLWCHAR    text[2048];
    SQLINTEGER  native = 0;
    SQLSMALLINT len    = 0;

    if (!odbc_is_ok(SQLGetDiagRecW(handle_type, handle, number, state, &native, text,
                                   COUNT_OF(text), &len)))
        return false;
    for (size_t i = 0; i < 5; i++)
        out->sqlstate[i] = (char)(state[i] < 0x80 ? state[i] : '?');
    out->sqlstate[5] = 0;
    out->native      = native;

    size_t units = len < 0 ? 0 : MIN((size_t)len, COUNT_OF(text) - 1);
    out->message = str_trim(odbc_utf8(arena, text, units));
    if (sql_error_quotes_values(native)) out->message = sql_error_strip_values(arena, out->message);
    return true;
}

/* Numbers of FreeTDS's own client library; a server's messages are told apart by them. */
static bool is_server_number(int32_t native)
{
    return native > 0 && (native < 20000 || native > 20999);
}

/* "[FreeTDS][SQL Server]Invalid object name" without its producers. */
static Str without_producers(Str message)
{
    while (message.len > 0 && message.ptr[0] == '[') {
        ptrdiff_t end = str_find_char(message, ']', 0);
        if (end < 0) break;
        message = str_slice(message, (size_t)end + 1, message.len);
    }
    return str_trim(message);
}

bool odbc_fail(SQLSMALLINT handle_type, SQLHANDLE handle, OdbcConn *conn, const char *what,
               Err *err)
{
    Arena     *scratch = arena_new();
    Buf        buf     = buf_new(scratch, 0);
    DiagRecord record  = {0};
    DiagRecord chosen  = {0}; /* the first with a server's number, else the first */

    for (SQLSMALLINT i = 1;
         i <= MAX_RECORDS && read_record(handle_type, handle, i, scratch, &record); i++) {
        if (i == 1 || (!is_server_number(chosen.native) && is_server_number(record.native)))
            chosen = record;
        Str text = without_producers(record.message);
        if (str_find(buf_str(&buf), text, 0) >= 0 && text.len > 0) continue;
        if (buf.len > 0) buf_append_c(&buf, "; ");
        buf_append(&buf, text);
    }
    if (conn && atomic_load(&conn->is_cancelled)) {
        err_set(err, ERR_CANCELLED, "the statement was stopped on request");
    } else {
        int32_t number  = is_server_number(chosen.native) ? chosen.native : 0;
        ErrCode code    = sql_error_classify(number, chosen.sqlstate);
        bool    is_dead = conn && conn->is_connected && odbc_conn_is_dead(&conn->base);
        if (is_dead && code == ERR_QUERY) code = ERR_SOURCE;
        if (buf.len == 0)
            buf_append_c(&buf, is_dead ? "the connection broke" : "the driver gave no reason");
        err_set(err, code, "%s: %.*s", what, STR_ARG(buf_str(&buf)));
        err->native = chosen.native;
        snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", chosen.sqlstate);
    }
    arena_close(scratch);
    return false;
}
