/* fake_sqlconn.c - scripted answers as result streams. */
#include "support/fake_sqlconn.h"

#include "base/clock.h"
#include "base/list.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct FakeServer {
    SqlDriver         base;
    Arena            *arena;
    const FakeAnswer *answers;
    size_t            answer_count;
    int              *used;
    size_t            block_rows;
    int               connections, open_connections;
    LIST(FakeCall) calls;
};

typedef struct FakeConn {
    SqlConn     base;
    FakeServer *server;
    int         number;
    bool        is_dead;
    bool        has_result;
} FakeConn;

typedef struct FakeResult {
    SqlResult         base;
    Arena            *arena;
    FakeConn         *conn;   /* NULL: stands alone */
    const FakeAnswer *answer; /* NULL: no error at the end */
    Str               rest;   /* rows not handed out */
    size_t            block_rows;
    Arena            *block_arena;
    int               rows_out;
} FakeResult;

/* --- values --- */

static Schema parse_columns(Arena *arena, const char *text)
{
    Str rest = str_from_c(text ? text : "");
    Str part;
    LIST(Column) columns = {0};

    while (rest.len > 0) {
        /* commas inside DECIMAL(10,2) are not separators */
        size_t end = 0, depth = 0;
        for (; end < rest.len && (rest.ptr[end] != ',' || depth > 0); end++)
            depth += rest.ptr[end] == '(' ? 1 : rest.ptr[end] == ')' ? (size_t)-1 : 0;
        part = str_trim(str_slice(rest, 0, end));
        rest = str_slice(rest, end + 1, rest.len);

        ptrdiff_t blank  = str_find_last_char(part, ' ');
        Column   *column = LIST_PUSH(arena, &columns);
        assert(blank > 0);
        column->name = str_slice(part, 0, (size_t)blank);
        bool is_type = column_type_parse_sql(str_slice(part, (size_t)blank + 1, part.len),
                                             &column->type);
        assert(is_type);
    }
    return (Schema){columns.items, columns.count};
}

static void set_value(RowBuilder *builder, Arena *arena, size_t index, ColumnType type, Str text)
{
    int64_t number = 0;
    double  real   = 0;
    Int128  decimal;
    Bytes   bytes;
    bool    is_value = true;

    if (str_equal_c(text, "NULL")) return;
    switch (type.kind) {
    case TYPE_BOOLEAN:
        row_builder_set_i64(builder, index, str_equal_c(text, "true") || str_equal_c(text, "1"));
        break;
    case TYPE_SHORT:
    case TYPE_INTEGER:
    case TYPE_LONG:
        is_value = str_parse_i64(text, &number);
        row_builder_set_i64(builder, index, number);
        break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        is_value = str_parse_double(text, &real);
        row_builder_set_double(builder, index, real);
        break;
    case TYPE_DECIMAL:
        is_value = decimal_parse(text, type.precision, type.scale, &decimal);
        if (is_value) row_builder_set_decimal(builder, index, decimal);
        break;
    case TYPE_DATE:
        is_value = time_parse(str_printf(arena, "%.*sT00:00:00", STR_ARG(text)), &number);
        row_builder_set_i64(builder, index, number / ((int64_t)86400 * 1000000));
        break;
    case TYPE_TIMESTAMP:
    case TYPE_TIMESTAMP_NTZ:
        is_value = time_parse(text, &number);
        row_builder_set_i64(builder, index, number);
        break;
    case TYPE_STRING: row_builder_set_str(builder, index, text); break;
    case TYPE_BINARY:
        is_value = str_starts_with(text, STR("0x")) &&
                   hex_decode(arena, str_slice(text, 2, text.len), &bytes);
        if (is_value) row_builder_set_str(builder, index, bytes_str(bytes));
        break;
    case TYPE_NESTED: break;
    }
    assert(is_value);
}

static void add_row(RowBuilder *builder, Arena *arena, const Schema *schema, Str line)
{
    Str    value;
    size_t index = 0;

    row_builder_begin(builder);
    while (index < schema->column_count && str_split_next(&line, '|', &value)) {
        set_value(builder, arena, index, schema->columns[index].type, value);
        index++;
    }
    assert(index == schema->column_count);
}

/* --- results --- */

static bool fake_error(const FakeAnswer *answer, Err *err)
{
    err_set(err, answer->code, "%s", answer->message ? answer->message : "scripted");
    err->native = answer->native;
    snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", answer->sqlstate ? answer->sqlstate : "");
    return false;
}

static bool fake_next(RowStream *stream, RowBlock *out, Err *err)
{
    FakeResult *result = (FakeResult *)stream;
    Str         line;
    size_t      count = 0;

    *out = (RowBlock){0};
    arena_reset(result->block_arena);
    if (result->conn && result->conn->is_dead)
        return err_set(err, ERR_SOURCE, "the connection is dead");

    RowBuilder *builder = row_builder_new(result->block_arena, &stream->schema);
    while (result->rest.len > 0 && count < result->block_rows) {
        if (result->answer && result->answer->code != ERR_NONE &&
            result->rows_out >= result->answer->fail_after_rows)
            break;
        str_split_next(&result->rest, '\n', &line);
        add_row(builder, result->block_arena, &stream->schema, line);
        result->rows_out++;
        count++;
    }
    if (count == 0 && result->answer && result->answer->code != ERR_NONE) {
        if (result->answer->kills) result->conn->is_dead = true;
        return fake_error(result->answer, err);
    }
    *out = row_builder_block(builder);
    return true;
}

static void fake_result_close(RowStream *stream)
{
    FakeResult *result = (FakeResult *)stream;

    if (result->conn) result->conn->has_result = false;
    arena_close(result->block_arena);
    arena_close(result->arena);
}

static FakeResult *result_new(const char *columns, const char *rows, size_t block_rows)
{
    Arena      *arena  = arena_new();
    FakeResult *result = ARENA_NEW(arena, FakeResult);

    result->base.stream = (RowStream){
        .schema = parse_columns(arena, columns), .next = fake_next, .close = fake_result_close};
    result->arena       = arena;
    result->block_arena = arena_new();
    result->rest        = str_from_c(rows ? rows : "");
    result->block_rows  = block_rows ? block_rows : 10000;
    return result;
}

SqlResult *fake_result_new(const char *columns, const char *rows, size_t block_rows)
{
    return &result_new(columns, rows, block_rows)->base;
}

/* --- connections --- */

static const FakeAnswer *find_answer(FakeServer *server, Str text)
{
    for (size_t i = 0; i < server->answer_count; i++) {
        const FakeAnswer *answer = &server->answers[i];
        if (answer->times > 0 && server->used[i] >= answer->times) continue;
        if (str_find(text, str_from_c(answer->expect), 0) < 0) continue;
        server->used[i]++;
        return answer;
    }
    return NULL;
}

static void record_call(FakeConn *conn, const SqlQuery *query)
{
    FakeServer *server = conn->server;
    FakeCall   *call   = LIST_PUSH(server->arena, &server->calls);
    Str        *params = ARENA_ARRAY(server->arena, Str, query->param_count + 1);

    for (size_t i = 0; i < query->param_count; i++)
        params[i] = str_copy(server->arena,
                             query->params[i].is_null ? STR("NULL") : query->params[i].text);
    *call = (FakeCall){conn->number, str_copy(server->arena, query->text), params,
                       query->param_count};
}

static bool fake_query(SqlConn *base, const SqlQuery *query, SqlResult **out, Err *err)
{
    FakeConn *conn = (FakeConn *)base;

    if (conn->is_dead) return err_set(err, ERR_SOURCE, "the connection is dead");
    assert(!conn->has_result); /* one result at a time, as the real one */
    record_call(conn, query);

    const FakeAnswer *answer = find_answer(conn->server, query->text);
    if (!answer)
        return err_set(err, ERR_INTERNAL, "no answer is scripted for: %.*s", STR_ARG(query->text));
    if (answer->code != ERR_NONE && answer->fail_after_rows == 0) {
        conn->is_dead = answer->kills;
        return fake_error(answer, err);
    }
    FakeResult *result = result_new(answer->columns, answer->rows,
                                    conn->server->block_rows ? conn->server->block_rows
                                                             : (size_t)query->fetch_rows);
    result->conn       = conn;
    result->answer     = answer;
    conn->has_result   = true;
    *out               = &result->base;
    return true;
}

static void fake_cancel(SqlConn *base)
{
    (void)base;
}

static bool fake_is_dead(SqlConn *base)
{
    return ((FakeConn *)base)->is_dead;
}

static void fake_conn_close(SqlConn *base)
{
    FakeConn *conn = (FakeConn *)base;

    assert(!conn->has_result);
    conn->server->open_connections--;
    mem_free(conn);
}

static bool fake_connect(SqlDriver *base, Str connection, int64_t login_timeout_s, SqlConn **out,
                         Err *err)
{
    FakeServer       *server = (FakeServer *)base;
    const FakeAnswer *answer = find_answer(server, STR(FAKE_CONNECT));

    (void)connection;
    (void)login_timeout_s;
    if (answer && answer->code != ERR_NONE) return fake_error(answer, err);

    FakeConn *conn = mem_alloc(sizeof(*conn));
    conn->base     = (SqlConn){.query   = fake_query,
                               .cancel  = fake_cancel,
                               .is_dead = fake_is_dead,
                               .close   = fake_conn_close};
    conn->server   = server;
    conn->number   = ++server->connections;
    server->open_connections++;
    *out = &conn->base;
    return true;
}

static void fake_driver_close(SqlDriver *base)
{
    (void)base;
}

FakeServer *fake_server_new(Arena *arena, const FakeAnswer *answers, size_t answer_count)
{
    FakeServer *server = ARENA_NEW(arena, FakeServer);

    server->base         = (SqlDriver){.connect = fake_connect, .close = fake_driver_close};
    server->arena        = arena;
    server->answers      = answers;
    server->answer_count = answer_count;
    server->used         = ARENA_ARRAY(arena, int, answer_count + 1);
    return server;
}

SqlDriver *fake_server_driver(FakeServer *server)
{
    return &server->base;
}

void fake_server_set_block_rows(FakeServer *server, size_t rows)
{
    server->block_rows = rows;
}

int fake_server_connections(const FakeServer *server)
{
    return server->connections;
}

int fake_server_open_connections(const FakeServer *server)
{
    return server->open_connections;
}

size_t fake_server_call_count(const FakeServer *server, const char *substring)
{
    size_t count = 0;

    for (size_t i = 0; i < server->calls.count; i++)
        count += str_find(server->calls.items[i].sql, str_from_c(substring), 0) >= 0;
    return count;
}

const FakeCall *fake_server_call(const FakeServer *server, const char *substring, size_t n)
{
    for (size_t i = 0; i < server->calls.count; i++)
        if (str_find(server->calls.items[i].sql, str_from_c(substring), 0) >= 0 && n-- == 0)
            return &server->calls.items[i];
    return NULL;
}
