/* sql_many.c - several small questions in one request, and answers that wait for their question.
 *
 * A request costs a round trip, however little it asks: on a long link that is what planning costs.
 * Whoever knows what will be asked next asks it ahead; the code that asks, one question after the
 * other, stays as it is and finds its answers there. */
#include "sqlconn/sqlconn_internal.h"

#include "base/buf.h"
#include "base/list.h"

#include <assert.h>

typedef struct KeptAnswer {
    Str             text;
    const SqlParam *params;
    size_t          param_count;
    Schema          schema;
    RowBlock        block;
    bool            is_taken;
} KeptAnswer;

struct SqlAhead {
    Arena *arena;
    LIST(KeptAnswer) answers;
};

/* --- one request --- */

static SqlQuery join(const SqlQuery *queries, size_t count, Arena *arena)
{
    Buf       text        = buf_new(arena, 0);
    size_t    param_count = 0;
    SqlParam *params;

    for (size_t i = 0; i < count; i++)
        param_count += queries[i].param_count;
    params      = ARENA_ARRAY(arena, SqlParam, param_count + 1);
    param_count = 0;
    for (size_t i = 0; i < count; i++) {
        buf_append(&text, queries[i].text);
        buf_append_char(&text, '\n');
        for (size_t p = 0; p < queries[i].param_count; p++)
            params[param_count++] = queries[i].params[p];
    }
    return (SqlQuery){.text        = buf_str(&text),
                      .params      = params,
                      .param_count = param_count,
                      .fetch_rows  = queries[0].fetch_rows,
                      .has_more    = true};
}

static bool fetch_joined(SqlConn *conn, const SqlQuery *queries, size_t count, size_t limit,
                         Arena *arena, SqlAnswer *answers, Err *err)
{
    Arena     *scratch = arena_new();
    SqlQuery   query   = join(queries, count, scratch);
    SqlResult *result  = NULL;
    bool       has_one = true, ok = false;

    if (!sqlconn_query(conn, &query, &result, err)) goto done;
    for (size_t i = 0; i < count && has_one; i++) {
        if (!sql_gather(result, limit, arena, &answers[i].schema, &answers[i].block, err))
            goto done;
        if (!sqlresult_next_result(result, &has_one, err)) goto done;
        if (has_one != (i + 1 < count)) {
            err_set(err, ERR_QUERY, "%zu questions in one request gave %s answers", count,
                    has_one ? "more" : "fewer");
            goto done;
        }
    }
    ok = true;
done:
    sqlresult_close(result);
    arena_close(scratch);
    return ok;
}

bool sqlconn_fetch_many(SqlConn *conn, const SqlQuery *queries, size_t count, size_t limit,
                        Arena *arena, SqlAnswer *answers, Err *err)
{
    if (conn->can_join && count > 1) {
        if (fetch_joined(conn, queries, count, limit, arena, answers, err)) return true;
        if (err->code == ERR_SOURCE || err->code == ERR_CANCELLED || sqlconn_is_dead(conn))
            return false;
        err_clear(err); /* which question it was, and what it means, shows when each is asked */
    }
    for (size_t i = 0; i < count; i++)
        if (!sqlconn_fetch_all(conn, &queries[i], limit, arena, &answers[i].schema,
                               &answers[i].block, err))
            return false;
    return true;
}

/* --- ahead --- */

void sqlconn_forget_ahead(SqlConn *conn)
{
    if (!conn->ahead) return;
    assert(conn->open_results == 0); /* it may be one of these */
    arena_close(conn->ahead->arena); /* it lives there */
    conn->ahead = NULL;
}

static const SqlParam *copy_params(Arena *arena, const SqlQuery *query)
{
    SqlParam *params = ARENA_ARRAY(arena, SqlParam, query->param_count + 1);

    for (size_t i = 0; i < query->param_count; i++)
        params[i] = (SqlParam){str_copy(arena, query->params[i].text), query->params[i].is_null};
    return params;
}

bool sqlconn_ask_ahead(SqlConn *conn, const SqlQuery *queries, size_t count, size_t limit, Err *err)
{
    Arena     *arena   = arena_new();
    SqlAhead  *ahead   = ARENA_NEW(arena, SqlAhead);
    SqlAnswer *answers = ARENA_ARRAY(arena, SqlAnswer, count + 1);

    sqlconn_forget_ahead(conn);
    if (!conn->can_join || count < 2) { /* nothing is won: each is asked in its turn */
        arena_close(arena);
        return true;
    }
    ahead->arena = arena;
    if (!fetch_joined(conn, queries, count, limit, arena, answers, err)) {
        bool is_over = err->code == ERR_SOURCE || err->code == ERR_CANCELLED ||
                       sqlconn_is_dead(conn);
        if (!is_over) err_clear(err); /* whose error it is shows when each is asked */
        arena_close(arena);
        return !is_over;
    }
    for (size_t i = 0; i < count; i++)
        *LIST_PUSH(arena, &ahead->answers) = (KeptAnswer){.text = str_copy(arena, queries[i].text),
                                                          .params = copy_params(arena, &queries[i]),
                                                          .param_count = queries[i].param_count,
                                                          .schema      = answers[i].schema,
                                                          .block       = answers[i].block};
    conn->ahead = ahead;
    return true;
}

static bool is_question(const KeptAnswer *answer, const SqlQuery *query)
{
    if (answer->is_taken || query->expect || query->param_count != answer->param_count ||
        !str_equal(query->text, answer->text))
        return false;
    for (size_t i = 0; i < query->param_count; i++)
        if (query->params[i].is_null != answer->params[i].is_null ||
            !str_equal(query->params[i].text, answer->params[i].text))
            return false;
    return true;
}

/* A result of one block that was read before; it lives with the answers. */
typedef struct KeptResult {
    SqlResult base;
    RowBlock  block;
} KeptResult;

static bool kept_next(RowStream *stream, RowBlock *out, Err *err)
{
    KeptResult *result = (KeptResult *)stream;

    (void)err;
    *out                    = result->block;
    result->block.row_count = 0;
    return true;
}

bool sql_take_ahead(SqlConn *conn, const SqlQuery *query, SqlResult **out)
{
    SqlAhead *ahead = conn->ahead;

    for (size_t i = 0; ahead && i < ahead->answers.count; i++) {
        KeptAnswer *answer = &ahead->answers.items[i];
        if (!is_question(answer, query)) continue;
        KeptResult *result  = ARENA_NEW(ahead->arena, KeptResult);
        answer->is_taken    = true;
        result->block       = answer->block;
        result->base.stream = (RowStream){.schema = answer->schema, .next = kept_next};
        *out                = &result->base;
        return true;
    }
    return false;
}
