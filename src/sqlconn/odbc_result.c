/* odbc_result.c - the columns of a result: what they are, what they become, and how they are bound
 * within the byte budget. */
#include "sqlconn/odbc_internal.h"

#include <string.h>

#define DEFAULT_FETCH_ROWS  10000
#define DEFAULT_FETCH_BYTES ((int64_t)8 << 20)
#define MIN_FETCH_ROWS      16
#define DECIMAL_TEXT_BYTES  48 /* 38 digits, sign, point, terminator */
#define TIME_TEXT_BYTES     ((size_t)80)
#define OFFSET_TEXT_BYTES   ((size_t)128)
#define BOUND_BYTES_MAX     8000 /* declared sizes up to this are bound (sqlserver.md 1.2) */

#define SQL_SS_XML             (-152)
#define SQL_SS_TIME2           (-154)
#define SQL_SS_TIMESTAMPOFFSET (-155)

/* The ODBC type, for a driver that gives no type name. */
static SqlTypeKind kind_of_odbc_type(SQLSMALLINT type)
{
    switch (type) {
    case SQL_BIT: return SQL_TYPE_BIT;
    case SQL_TINYINT: return SQL_TYPE_TINYINT;
    case SQL_SMALLINT: return SQL_TYPE_SMALLINT;
    case SQL_INTEGER: return SQL_TYPE_INT;
    case SQL_BIGINT: return SQL_TYPE_BIGINT;
    case SQL_REAL: return SQL_TYPE_REAL;
    case SQL_FLOAT:
    case SQL_DOUBLE: return SQL_TYPE_FLOAT;
    case SQL_DECIMAL:
    case SQL_NUMERIC: return SQL_TYPE_DECIMAL;
    case 9: /* SQL_DATE */
    case 91: return SQL_TYPE_DATE;
    case 11: /* SQL_TIMESTAMP */
    case SQL_TYPE_TIMESTAMP: return SQL_TYPE_DATETIME2;
    case SQL_SS_TIME2: return SQL_TYPE_TIME;
    case SQL_SS_TIMESTAMPOFFSET: return SQL_TYPE_DATETIMEOFFSET;
    case SQL_CHAR: return SQL_TYPE_CHAR;
    case SQL_VARCHAR: return SQL_TYPE_VARCHAR;
    case SQL_LONGVARCHAR: return SQL_TYPE_TEXT;
    case SQL_WCHAR: return SQL_TYPE_NCHAR;
    case SQL_WVARCHAR: return SQL_TYPE_NVARCHAR;
    case SQL_WLONGVARCHAR: return SQL_TYPE_NTEXT;
    case SQL_SS_XML: return SQL_TYPE_XML;
    case SQL_BINARY: return SQL_TYPE_BINARY;
    case SQL_VARBINARY: return SQL_TYPE_VARBINARY;
    case SQL_LONGVARBINARY: return SQL_TYPE_IMAGE;
    case SQL_GUID: return SQL_TYPE_UNIQUEIDENTIFIER;
    default: return SQL_TYPE_OTHER;
    }
}

typedef struct Described {
    Str         name;
    SqlTypeKind kind;
    size_t      size; /* characters, bytes or digits */
    uint8_t     scale;
} Described;

static bool describe(OdbcResult *result, SQLUSMALLINT number, Described *out, Err *err)
{
    SQLWCHAR    name[256], type_name[128];
    SQLSMALLINT name_len = 0, odbc_type = 0, digits = 0, nullable = 0, type_len = 0;
    SQLULEN     size = 0;
    SQLHSTMT    stmt = result->stmt;

    if (!odbc_is_ok(SQLDescribeColW(stmt, number, name, COUNT_OF(name), &name_len, &odbc_type,
                                    &size, &digits, &nullable)))
        return odbc_fail(SQL_HANDLE_STMT, stmt, result->conn,
                         "a column of the result cannot be described", err);
    out->name  = odbc_utf8(result->arena, name, MIN((size_t)MAX(name_len, 0), COUNT_OF(name) - 1));
    out->size  = size;
    out->scale = (uint8_t)(digits < 0 ? 0 : MIN(digits, 38));
    out->kind  = SQL_TYPE_OTHER;
    if (odbc_is_ok(SQLColAttributeW(stmt, number, SQL_DESC_TYPE_NAME, type_name, sizeof(type_name),
                                    &type_len, NULL)) &&
        type_len > 0)
        out->kind = sql_type_kind(odbc_utf8(result->arena, type_name,
                                            MIN((size_t)type_len / 2, COUNT_OF(type_name) - 1)));
    if (out->kind == SQL_TYPE_OTHER) out->kind = kind_of_odbc_type(odbc_type);
    return true;
}

static bool is_long_kind(const Described *described)
{
    switch (described->kind) {
    case SQL_TYPE_TEXT:
    case SQL_TYPE_NTEXT:
    case SQL_TYPE_XML:
    case SQL_TYPE_IMAGE: return true;
    case SQL_TYPE_CHAR:
    case SQL_TYPE_VARCHAR:
    case SQL_TYPE_NCHAR:
    case SQL_TYPE_NVARCHAR:
    case SQL_TYPE_BINARY:
    case SQL_TYPE_VARBINARY: return described->size == 0 || described->size > BOUND_BYTES_MAX;
    default: return false;
    }
}

static void bind_as(OdbcColumn *column, Decode decode, SQLSMALLINT c_type, size_t cell_bytes)
{
    column->decode     = decode;
    column->c_type     = c_type;
    column->cell_bytes = cell_bytes;
}

static bool is_integer_kind(SqlTypeKind kind)
{
    return kind == SQL_TYPE_TINYINT || kind == SQL_TYPE_SMALLINT || kind == SQL_TYPE_INT ||
           kind == SQL_TYPE_BIGINT;
}

/* An integer, as the type wanted of it. What may not fit is fetched wide and checked. */
static void plan_integer(OdbcColumn *column)
{
    ColumnType own;
    bool       is_wide = sql_type_to_column_type(column->kind, 0, 0, &own) &&
                   own.kind <= column->type.kind;

    if (column->type.kind == TYPE_DOUBLE)
        bind_as(column, DECODE_DIRECT, SQL_C_DOUBLE, 8);
    else if (column->type.kind == TYPE_LONG)
        bind_as(column, DECODE_DIRECT, SQL_C_SBIGINT, 8);
    else if (column->type.kind == TYPE_INTEGER && is_wide)
        bind_as(column, DECODE_DIRECT, SQL_C_SLONG, 4);
    else if (column->type.kind == TYPE_SHORT && is_wide)
        bind_as(column, DECODE_DIRECT, SQL_C_SSHORT, 2);
    else
        bind_as(column, DECODE_I64, SQL_C_SBIGINT, 8);
}

/* As SQL_C_BINARY both drivers hand over what they hold: a SQL_NUMERIC_STRUCT with its own
 * precision and scale, and money's own bytes. That is exact and the fastest. As SQL_C_NUMERIC
 * FreeTDS drops the fraction, whatever the descriptor says (measured with 1.3.17). Other drivers
 * are asked for text. */
static void plan_decimal(OdbcColumn *column, DriverFamily family)
{
    if (family == DRIVER_OTHER)
        bind_as(column, DECODE_DECIMAL_TEXT, SQL_C_CHAR, DECIMAL_TEXT_BYTES);
    else if (column->kind == SQL_TYPE_DECIMAL)
        bind_as(column, DECODE_NUMERIC, SQL_C_BINARY, sizeof(SQL_NUMERIC_STRUCT));
    else
        bind_as(column, DECODE_MONEY, SQL_C_BINARY, 8);
}

static void plan_cells(OdbcColumn *column, size_t size, DriverFamily family)
{
    switch (column->kind) {
    case SQL_TYPE_BIT: bind_as(column, DECODE_DIRECT, SQL_C_BIT, 1); break;
    case SQL_TYPE_TINYINT:
    case SQL_TYPE_SMALLINT:
    case SQL_TYPE_INT:
    case SQL_TYPE_BIGINT: plan_integer(column); break;
    case SQL_TYPE_REAL:
    case SQL_TYPE_FLOAT:
        if (column->type.kind == TYPE_FLOAT)
            bind_as(column, DECODE_DIRECT, SQL_C_FLOAT, 4);
        else
            bind_as(column, DECODE_DIRECT, SQL_C_DOUBLE, 8);
        break;
    case SQL_TYPE_DECIMAL:
    case SQL_TYPE_MONEY:
    case SQL_TYPE_SMALLMONEY: plan_decimal(column, family); break;
    case SQL_TYPE_DATE:
        if (column->type.kind == TYPE_DATE)
            bind_as(column, DECODE_DATE, ODBC_C_TYPE_DATE, sizeof(SQL_DATE_STRUCT));
        else
            bind_as(column, DECODE_TIMESTAMP, SQL_C_TYPE_TIMESTAMP, sizeof(SQL_TIMESTAMP_STRUCT));
        break;
    case SQL_TYPE_DATETIME:
        bind_as(column, DECODE_DATETIME, SQL_C_TYPE_TIMESTAMP, sizeof(SQL_TIMESTAMP_STRUCT));
        break;
    case SQL_TYPE_SMALLDATETIME:
    case SQL_TYPE_DATETIME2:
        bind_as(column, DECODE_TIMESTAMP, SQL_C_TYPE_TIMESTAMP, sizeof(SQL_TIMESTAMP_STRUCT));
        break;
    case SQL_TYPE_TIME: bind_as(column, DECODE_TIME, SQL_C_WCHAR, TIME_TEXT_BYTES); break;
    case SQL_TYPE_DATETIMEOFFSET:
        bind_as(column, DECODE_DATETIMEOFFSET, SQL_C_WCHAR, OFFSET_TEXT_BYTES);
        break;
    case SQL_TYPE_UNIQUEIDENTIFIER:
        bind_as(column, DECODE_GUID, SQL_C_GUID, sizeof(SQLGUID));
        break;
    case SQL_TYPE_CHAR:
    case SQL_TYPE_VARCHAR:
    case SQL_TYPE_NCHAR:
    case SQL_TYPE_NVARCHAR:
    case SQL_TYPE_TEXT:
    case SQL_TYPE_NTEXT:
    case SQL_TYPE_XML:
    case SQL_TYPE_OTHER:
        bind_as(column, DECODE_TEXT, SQL_C_WCHAR, (size + 1) * sizeof(SQLWCHAR));
        break;
    case SQL_TYPE_BINARY:
    case SQL_TYPE_VARBINARY:
    case SQL_TYPE_IMAGE:
    case SQL_TYPE_ROWVERSION: bind_as(column, DECODE_BINARY, SQL_C_BINARY, MAX(size, 8)); break;
    }
    if (column->is_long) column->cell_bytes = 0;
}

static bool is_integer_type(ColumnType type)
{
    return type.kind == TYPE_SHORT || type.kind == TYPE_INTEGER || type.kind == TYPE_LONG ||
           type.kind == TYPE_DECIMAL;
}

/* The block's type of a column: its own, or the wider one that is expected. */
static bool plan_type(OdbcColumn *column, const Described *described, const Schema *expect,
                      Err *err)
{
    ptrdiff_t at = expect ? schema_find(expect, described->name) : -1;

    if (!sql_type_to_column_type(column->kind, column->precision, column->scale, &column->type))
        return err_set(err, ERR_UNSUPPORTED, "column %.*s has a type that cannot be read",
                       STR_ARG(described->name));
    if (at < 0 || column_type_equal(column->type, expect->columns[at].type)) return true;
    if (is_integer_kind(column->kind) && is_integer_type(expect->columns[at].type)) {
        column->type = expect->columns[at].type; /* value by value */
        return true;
    }
    if (column_type_fits(column->type, column->kind == SQL_TYPE_TINYINT,
                         expect->columns[at].type)) {
        column->type = expect->columns[at].type;
        return true;
    }
    Arena *scratch = arena_new();
    err_set(err, ERR_SCHEMA_CHANGED, "column %.*s comes as %.*s, which does not fit %.*s",
            STR_ARG(described->name), STR_ARG(column_type_sql_name(scratch, column->type)),
            STR_ARG(column_type_sql_name(scratch, expect->columns[at].type)));
    arena_close(scratch);
    return false;
}

static bool plan_columns(OdbcResult *result, const SqlQuery *query, Err *err)
{
    Column      *schema = ARENA_ARRAY(result->arena, Column, result->column_count + 1);
    SqlTypeKind *kinds  = ARENA_ARRAY(result->arena, SqlTypeKind, result->column_count + 1);

    for (size_t i = 0; i < result->column_count; i++) {
        OdbcColumn *column    = &result->columns[i];
        Described   described = {0};

        if (!describe(result, (SQLUSMALLINT)(i + 1), &described, err)) return false;
        column->kind      = described.kind;
        column->size      = described.size;
        column->precision = (uint8_t)MIN(described.size, 255);
        column->scale     = described.scale;
        if (column->kind == SQL_TYPE_MONEY && described.size == 10) /* FreeTDS calls both money */
            described.kind = column->kind = SQL_TYPE_SMALLMONEY;
        if (!plan_type(column, &described, query->expect, err)) return false;
        /* Only columns ahead of the first long one are bound: SQLGetData goes in column order
         * (sqlserver.md 1.2). */
        column->is_long = is_long_kind(&described);
        plan_cells(column, described.size, result->conn->family);
        if (column->is_long) result->has_long = true;
        schema[i] = (Column){.name = described.name, .type = column->type, .comment = STR_EMPTY};
        kinds[i]  = described.kind;
    }
    result->base.stream.schema = (Schema){schema, result->column_count};
    result->base.sql_types     = kinds;
    return true;
}

static void plan_rows(OdbcResult *result, const SqlQuery *query)
{
    int64_t rows   = query->fetch_rows > 0 ? query->fetch_rows : DEFAULT_FETCH_ROWS;
    int64_t budget = query->fetch_bytes > 0 ? query->fetch_bytes : DEFAULT_FETCH_BYTES;
    int64_t size   = 1; /* so that it cannot be 0 */

    for (size_t i = 0; i < result->column_count; i++)
        size += (int64_t)(result->columns[i].cell_bytes + sizeof(SQLLEN));
    result->row_capacity = (size_t)MIN(rows, MAX(MIN_FETCH_ROWS, budget / size));
    result->block_bytes  = (size_t)budget;
}

static void allocate_column(OdbcResult *result, OdbcColumn *column)
{
    size_t rows = result->row_capacity;

    column->cells        = arena_alloc_uninit(result->arena, rows * column->cell_bytes + 8);
    column->lengths      = ARENA_ARRAY(result->arena, SQLLEN, rows);
    column->stage        = column->cells;
    column->stage_length = column->lengths;
    if (!result->has_long) return;
    column->stage        = arena_alloc(result->arena, column->cell_bytes + 8);
    column->stage_length = ARENA_NEW(result->arena, SQLLEN);
    if (column->is_long) column->strs = ARENA_ARRAY(result->arena, Str, rows);
}

static bool bind_columns(OdbcResult *result, Err *err)
{
    SQLULEN rows      = result->has_long ? 1 : result->row_capacity;
    bool    seen_long = false;

    if (!odbc_is_ok(SQLSetStmtAttrW(result->stmt, SQL_ATTR_ROW_ARRAY_SIZE, (SQLPOINTER)rows, 0)) ||
        !odbc_is_ok(
            SQLSetStmtAttrW(result->stmt, SQL_ATTR_ROWS_FETCHED_PTR, &result->rows_fetched, 0)) ||
        !odbc_is_ok(SQLSetStmtAttrW(result->stmt, SQL_ATTR_ROW_STATUS_PTR, result->row_status, 0)))
        return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn,
                         "the driver cannot fetch blocks of rows", err);
    for (size_t i = 0; i < result->column_count; i++) {
        OdbcColumn *column = &result->columns[i];
        bool        ok;

        seen_long = seen_long || column->is_long;
        if (seen_long) continue;
        ok = odbc_is_ok(SQLBindCol(result->stmt, (SQLUSMALLINT)(i + 1), column->c_type,
                                   column->stage, (SQLLEN)column->cell_bytes,
                                   column->stage_length));
        if (!ok)
            return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn,
                             "a column of the result cannot be bound", err);
    }
    return true;
}

bool odbc_result_bind(OdbcResult *result, const SqlQuery *query, Err *err)
{
    SQLSMALLINT count = 0;

    if (!odbc_is_ok(SQLNumResultCols(result->stmt, &count)) || count <= 0)
        return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "the result has no columns",
                         err);
    result->column_count = (size_t)count;
    result->columns      = ARENA_ARRAY(result->arena, OdbcColumn, result->column_count);
    result->vectors      = ARENA_ARRAY(result->arena, ColumnVector, result->column_count);
    if (!plan_columns(result, query, err)) return false;
    plan_rows(result, query);
    result->row_status = ARENA_ARRAY(result->arena, SQLUSMALLINT, result->row_capacity);
    for (size_t i = 0; i < result->column_count; i++)
        allocate_column(result, &result->columns[i]);
    return bind_columns(result, err);
}

static bool has_same_columns(OdbcResult *result, bool *same_out, Err *err)
{
    SQLSMALLINT count = 0;

    *same_out = false;
    if (!odbc_is_ok(SQLNumResultCols(result->stmt, &count)) || count <= 0)
        return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "the result has no columns",
                         err);
    if ((size_t)count != result->column_count) return true;
    for (size_t i = 0; i < result->column_count; i++) {
        const OdbcColumn *column    = &result->columns[i];
        Described         described = {0};

        if (!describe(result, (SQLUSMALLINT)(i + 1), &described, err)) return false;
        if (described.kind == SQL_TYPE_MONEY && described.size == 10)
            described.kind = SQL_TYPE_SMALLMONEY;
        if (described.kind != column->kind || described.size != column->size ||
            described.scale != column->scale ||
            !str_equal(described.name, result->base.stream.schema.columns[i].name))
            return true;
    }
    *same_out = true;
    return true;
}

bool odbc_result_bind_next(OdbcResult *result, Err *err)
{
    bool is_same;

    if (!has_same_columns(result, &is_same, err)) return false;
    if (is_same) return true;
    if (!odbc_is_ok(SQLFreeStmt(result->stmt, SQL_UNBIND)))
        return odbc_fail(SQL_HANDLE_STMT, result->stmt, result->conn, "the next result failed",
                         err);
    result->has_long = false;
    return odbc_result_bind(result, &result->wanted, err);
}
