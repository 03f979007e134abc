/* mssql_rows.c - small results, read by column name. */
#include "source/mssql_internal.h"

#define SMALL_FETCH_ROWS 256

bool mssql_rows_on(SqlConn *conn, Str text, const SqlParam *params, size_t param_count,
                   size_t limit, Arena *arena, Rows *out, Err *err)
{
    SqlQuery query = {
        .text = text, .params = params, .param_count = param_count, .fetch_rows = SMALL_FETCH_ROWS};

    return mssql_answer_on(conn, &query, limit, arena, out, err);
}

bool mssql_answer_on(SqlConn *conn, const SqlQuery *question, size_t limit, Arena *arena, Rows *out,
                     Err *err)
{
    *out = (Rows){0};
    return sqlconn_fetch_all(conn, question, limit, arena, &out->schema, &out->block, err);
}

SqlQuery mssql_question(Arena *arena, Str text, const SqlParam *params, size_t param_count)
{
    SqlParam *copies = ARENA_ARRAY(arena, SqlParam, param_count + 1);

    for (size_t i = 0; i < param_count; i++)
        copies[i] = params[i];
    return (SqlQuery){
        .text = text, .params = copies, .param_count = param_count, .fetch_rows = SMALL_FETCH_ROWS};
}

void questions_add(Questions *questions, SqlQuery question)
{
    if (questions->count < MSSQL_QUESTIONS_MAX) questions->items[questions->count++] = question;
}

bool mssql_ask_ahead_on(SqlConn *conn, const Questions *questions, Err *err)
{
    return sqlconn_ask_ahead(conn, questions->items, questions->count, ROWS_LIMIT, err);
}

typedef struct AskCall {
    Str             text;
    const SqlParam *params;
    size_t          param_count;
    size_t          limit;
    Arena          *arena;
    Rows           *out;
} AskCall;

static bool call_ask(Mssql *mssql, void *arg, Err *err)
{
    AskCall *call = arg;

    return mssql_rows_on(mssql->meta, call->text, call->params, call->param_count, call->limit,
                         call->arena, call->out, err);
}

bool mssql_ask(Mssql *mssql, const char *method, Str text, const SqlParam *params,
               size_t param_count, size_t limit, Arena *arena, Rows *out, Err *err)
{
    AskCall call = {text, params, param_count, limit, arena, out};

    return mssql_retry(mssql, method, call_ask, &call, err);
}

bool rows_find(const Rows *rows, const char *name, size_t *index_out, Err *err)
{
    ptrdiff_t at = schema_find(&rows->schema, str_from_c(name));

    if (at < 0) return err_set(err, ERR_QUERY, "the server's answer has no column %s", name);
    *index_out = (size_t)at;
    return true;
}

bool rows_is_null(const Rows *rows, size_t row, size_t column)
{
    return column_is_null(&rows->block.columns[column], row);
}

Str rows_str(const Rows *rows, size_t row, size_t column)
{
    const ColumnVector *vector = &rows->block.columns[column];

    if (column_is_null(vector, row) || !column_type_is_text(vector->type)) return STR_EMPTY;
    return column_str(vector, row);
}

int64_t rows_i64(const Rows *rows, size_t row, size_t column, int64_t or_null)
{
    const ColumnVector *vector = &rows->block.columns[column];

    if (column_is_null(vector, row)) return or_null;
    switch (vector->type.kind) {
    case TYPE_BOOLEAN: return column_bool(vector, row) ? 1 : 0;
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
    case TYPE_DATE:
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ: return column_i64(vector, row);
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
    case TYPE_DECIMAL:
    case TYPE_STRING:
    case TYPE_BINARY:
    case TYPE_NESTED: break;
    }
    return or_null;
}

bool rows_lsn(const Rows *rows, size_t row, size_t column, Lsn *out, bool *is_null_out, Err *err)
{
    const ColumnVector *vector = &rows->block.columns[column];
    bool                ok     = false;

    *out         = LSN_ZERO;
    *is_null_out = column_is_null(vector, row);
    if (*is_null_out) return true;
    if (vector->type.kind == TYPE_BINARY)
        ok = lsn_from_bytes(str_bytes(column_str(vector, row)), out);
    if (vector->type.kind == TYPE_STRING) {
        Str text = column_str(vector, row);
        ok       = text.len == LSN_TEXT_CHARS && lsn_parse(text, out);
    }
    return ok || err_set(err, ERR_QUERY, "the server gave an LSN of another length than 10 bytes");
}

SqlParam param_str(Str text)
{
    return (SqlParam){.text = text};
}

SqlParam param_lsn(Arena *arena, Lsn lsn)
{
    return (SqlParam){.text = lsn_str(arena, lsn)};
}
