/* odbc_diag.c - diagnostic records into an Err, and text to and from UTF-16. */
#include "sqlconn/odbc_internal.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#define MAX_RECORDS 1000 /* of one call; SQL Server sends a few */
#define MAX_SHOWN   10

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
bool odbc_is_server_number(int32_t native)
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

/* FreeTDS tells of a broken connection (20003, 20004, 20006, 20017, 20020) with SQLSTATE 01000. */
static bool is_broken(const DiagRecord *record)
{
    return record->native >= 20003 && record->native <= 20020;
}

static bool is_warning(const DiagRecord *record)
{
    if (is_broken(record)) return false;
    return strncmp(record->sqlstate, "01", 2) == 0 || strncmp(record->sqlstate, "00", 2) == 0;
}

/* A database that cannot be opened (4060, which may pass) also fails the login, and FreeTDS shows
 * that 18456 first; alone it is a wrong password, which does not pass. */
static bool is_reason_of(const DiagRecord *record, const DiagRecord *than)
{
    return record->native == 4060 && than->native == 18456;
}

/* The record that tells most: an error before a warning, one with a server's number before the
 * rest. */
static bool is_better(const DiagRecord *record, const DiagRecord *than)
{
    if (is_reason_of(record, than)) return true;
    if (is_warning(record) != is_warning(than)) return is_warning(than);
    return odbc_is_server_number(record->native) && !odbc_is_server_number(than->native);
}

bool odbc_check(SQLRETURN rc, OdbcResult *result, const char *what, Err *err)
{
    Arena     *scratch;
    DiagRecord record;
    bool       ok = true;

    if (rc == SQL_SUCCESS) return true;
    if (rc != SQL_SUCCESS_WITH_INFO && rc != SQL_NO_DATA)
        return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, what, err);
    scratch = arena_new();
    for (SQLSMALLINT i = 1;
         ok && i <= MAX_RECORDS && read_record(SQL_HANDLE_STMT, result->stmt, i, scratch, &record);
         i++)
        ok = is_warning(&record);
    arena_close(scratch);
    return ok || odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, what, err);
}

bool odbc_fail(SQLSMALLINT handle_type, SQLHANDLE handle, OdbcConn *conn, const char *what,
               Err *err)
{
    Arena     *scratch = arena_new();
    Buf        buf     = buf_new(scratch, 0);
    DiagRecord record  = {0};
    DiagRecord chosen  = {0};

    for (SQLSMALLINT i = 1;
         i <= MAX_RECORDS && read_record(handle_type, handle, i, scratch, &record); i++) {
        if (i == 1 || is_better(&record, &chosen)) chosen = record;
        Str text = without_producers(record.message);
        if (i > MAX_SHOWN || (text.len > 0 && str_find(buf_str(&buf), text, 0) >= 0)) continue;
        if (buf.len > 0 && buf.ptr[buf.len - 1] == '.') buf.len--;
        if (buf.len > 0) buf_append_c(&buf, "; ");
        buf_append(&buf, text);
    }
    if (conn && atomic_load(&conn->is_cancelled)) {
        err_set(err, ERR_CANCELLED, "the statement was stopped on request");
    } else if (conn && atomic_load(&conn->is_silent)) {
        (void)odbc_set_silent(conn, what, err);
    } else {
        int32_t number  = odbc_is_server_number(chosen.native) ? chosen.native : 0;
        ErrCode code    = sql_error_classify(number, chosen.sqlstate);
        bool    is_dead = conn && conn->is_connected && odbc_conn_is_dead(&conn->base);
        if (is_dead && code == ERR_QUERY) code = ERR_SOURCE;
        if (is_dead && str_equal_c(buf_str(&buf), "Unknown error")) buf.len = 0; /* FreeTDS's */
        if (buf.len == 0)
            buf_append_c(&buf, is_dead ? "the connection broke" : "the driver gave no reason");
        err_set(err, code, "%s: %.*s", what, STR_ARG(buf_str(&buf)));
        err->native = chosen.native;
        snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", chosen.sqlstate);
    }
    arena_close(scratch);
    return false;
}
