/* odbc_long.c - long values: read with SQLGetData piece by piece, text turned into UTF-8 on the way,
 * so that a value is held once, as it will be handed out. */
#include "sqlconn/odbc_internal.h"

#include "base/limits.h"

#include <string.h>

#define PIECE_BYTES ((size_t)32 << 10)
#define PIECE_UNITS (PIECE_BYTES / sizeof(SQLWCHAR))
#define OWN_BYTES   ((size_t)1 << 20) /* from here on a value keeps the memory it grew in */

/* Room for `more` bytes. Large blocks grow by moving pages, not bytes; what is not written takes no
 * memory. */
static void reserve(LongValue *value, size_t more)
{
    if (more <= value->capacity - value->len) return;
    value->capacity = MAX(value->capacity * 2, value->len + more);
    value->bytes    = mem_realloc(value->bytes, value->capacity);
}

static bool check_length(const LongValue *value, Err *err)
{
    return value->len <= LIMIT_VALUE_BYTES ||
           err_set(err, ERR_LIMIT,
                   "a value is longer than %d MiB as UTF-8 or bytes, the most that a data file can "
                   "hold; leave the column out",
                   LIMIT_VALUE_MIB);
}

typedef enum Piece { PIECE_MORE, PIECE_LAST, PIECE_NULL, PIECE_NONE, PIECE_FAILED } Piece;

/* One SQLGetData into `room`, `size` bytes of it. `terminator`: what the driver puts behind. */
static Piece get_piece(OdbcResult *result, size_t index, void *room, size_t size, size_t terminator,
                       size_t *got_out, Err *err)
{
    SQLLEN    length = 0;
    SQLRETURN rc     = SQLGetData(result->stmt, (SQLUSMALLINT)(index + 1),
                                  result->columns[index].c_type, room, (SQLLEN)size, &length);

    *got_out = 0;
    if (rc == SQL_NO_DATA) return PIECE_NONE;
    if (!odbc_is_ok(rc)) {
        odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "reading a long value failed", err);
        return PIECE_FAILED;
    }
    if (length == SQL_NULL_DATA) return PIECE_NULL;
    *got_out = rc == SQL_SUCCESS ? (size_t)length : size - terminator;
    return rc == SQL_SUCCESS ? PIECE_LAST : PIECE_MORE;
}

static bool is_high_surrogate(SQLWCHAR unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

/* The first half of a pair waits for the next piece. */
static bool append_units(LongValue *value, SQLWCHAR *units, size_t count, bool is_last,
                         size_t *carried, Err *err)
{
    size_t now = count - (!is_last && count > 0 && is_high_surrogate(units[count - 1]));

    reserve(value, now * 3);
    value->len += utf16le_to_utf8((const uint8_t *)units, now, value->bytes + value->len);
    *carried = count - now;
    if (*carried) units[0] = units[now];
    return check_length(value, err);
}

static bool read_text(OdbcResult *result, size_t index, bool *is_null_out, Err *err)
{
    SQLWCHAR *units   = result->piece;
    size_t    carried = 0, got;

    for (;;) {
        Piece piece = get_piece(result, index, units + carried, PIECE_BYTES, sizeof(SQLWCHAR), &got,
                                err);
        if (piece == PIECE_FAILED) return false;
        *is_null_out = piece == PIECE_NULL;
        if (*is_null_out) return true;
        if (!append_units(&result->value, units, carried + got / sizeof(SQLWCHAR),
                          piece != PIECE_MORE, &carried, err))
            return false;
        if (piece != PIECE_MORE) return true;
    }
}

static bool read_bytes(OdbcResult *result, size_t index, bool *is_null_out, Err *err)
{
    LongValue *value = &result->value;
    size_t     got;

    for (;;) {
        reserve(value, PIECE_BYTES);
        Piece piece = get_piece(result, index, value->bytes + value->len, PIECE_BYTES, 0, &got,
                                err);
        if (piece == PIECE_FAILED) return false;
        *is_null_out = piece == PIECE_NULL;
        if (*is_null_out) return true;
        value->len += got;
        if (!check_length(value, err)) return false;
        if (piece != PIECE_MORE) return true;
    }
}

/* Lives as long as the block. */
static Str keep(OdbcResult *result)
{
    LongValue *value = &result->value;
    char      *bytes;

    if (value->len < OWN_BYTES) {
        bytes = arena_alloc_uninit(result->block_arena, value->len + 1);
        if (value->len) memcpy(bytes, value->bytes, value->len);
        return (Str){bytes, value->len};
    }
    bytes = mem_realloc(value->bytes, value->len);
    arena_at_end(result->block_arena, mem_free, bytes);
    result->own_bytes += value->len;
    *value = (LongValue){.len = value->len};
    return (Str){bytes, value->len};
}

bool odbc_read_long(OdbcResult *result, size_t index, size_t row, Err *err)
{
    OdbcColumn *column  = &result->columns[index];
    bool        is_text = column->decode == DECODE_TEXT;
    bool        is_null;

    if (!result->piece) result->piece = ARENA_ARRAY(result->arena, SQLWCHAR, PIECE_UNITS + 1);
    result->value.len = 0;
    if (is_text ? !read_text(result, index, &is_null, err)
                : !read_bytes(result, index, &is_null, err))
        return err_context(err, "column %.*s",
                           STR_ARG(result->base.stream.schema.columns[index].name));
    column->lengths[row] = is_null ? SQL_NULL_DATA : (SQLLEN)result->value.len;
    column->strs[row]    = is_null ? (Str){NULL, 0} : keep(result);
    return true;
}
