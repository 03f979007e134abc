/* mssql_cutter.c - questions about a table's key (Q24 to Q28), on a connection of their own. */
#include "source/mssql_cut_internal.h"

#include "base/list.h"

#include <assert.h>
#include <stdlib.h>

#define QUESTIONS_PER_STATEMENT 100 /* branches of a UNION ALL: far below what a server compiles */

struct Cutter {
    Mssql              *mssql;
    const CaptureTable *table;
    const TableCut     *cut;
    SqlConn            *conn;           /* a `keys` connection, for nothing else */
    bool                with_isolation; /* extents and counts too */
};

Cutter *cutter_new(Arena *arena, Mssql *mssql, const CaptureTable *table, const TableCut *cut)
{
    Cutter *cutter = ARENA_NEW(arena, Cutter);

    *cutter = (Cutter){.mssql = mssql, .table = table, .cut = cut, .with_isolation = true};
    return cutter;
}

void cutter_ignore_isolation(Cutter *cutter)
{
    cutter->with_isolation = false;
}

void cutter_close(Cutter *cutter)
{
    if (!cutter) return;
    sqlconn_close(cutter->conn);
    cutter->conn = NULL;
}

/* --- one question --- */

typedef struct Question {
    Cutter         *cutter;
    Str             text;
    const SqlParam *params;
    size_t          param_count, limit;
    Arena          *arena;
    Rows           *rows;
} Question;

static bool ask_once(Mssql *mssql, void *arg, Err *err)
{
    Question *question = arg;
    Cutter   *cutter   = question->cutter;

    if (!cutter->conn && !mssql_connect(mssql, CONN_KEYS, &cutter->conn, err)) return false;
    if (mssql_rows_on(cutter->conn, question->text, question->params, question->param_count,
                      question->limit, question->arena, question->rows, err))
        return true;
    sqlconn_close(cutter->conn); /* whatever it was: the next attempt begins on a new one */
    cutter->conn = NULL;
    return mssql_explain_table_error(mssql, table_newest(cutter->table)->source_schema,
                                     table_newest(cutter->table)->source_table, err);
}

static bool ask(Cutter *cutter, const char *method, Str text, const SqlParam *params,
                size_t param_count, size_t limit, Arena *arena, Rows *out, Err *err)
{
    Question question = {cutter, text, params, param_count, limit, arena, out};

    *out = (Rows){0};
    return mssql_retry(cutter->mssql, method, ask_once, &question, err);
}

/* --- an integer key --- */

/* " AND t.[k] >= 5 AND t.[k] < 9": literals, for the index to seek on. An end at or past bigint's own, as a grid's
 * first and last line may be, leaves no key out. */
static void append_interval(Buf *buf, const char *key, const KeyInterval *interval)
{
    assert(!interval->has_from || interval->from <= INT64_MAX);
    if (interval->has_from && interval->from > INT64_MIN)
        buf_printf(buf, " AND t.%s >= %lld", key, (long long)interval->from);
    if (interval->has_hi && interval->hi <= INT64_MAX)
        buf_printf(buf, " AND t.%s < %lld", key, (long long)interval->hi);
}

static void append_extent(Buf *buf, const char *key, const char *table, size_t index,
                          const void *arg)
{
    const KeyInterval *interval = (const KeyInterval *)arg + index;

    buf_printf(buf,
               "SELECT %zu AS i, a.k AS key_min, z.k AS key_max\n"
               "FROM (SELECT TOP (1) t.%s AS k FROM %s AS t WHERE t.%s IS NOT NULL",
               index, key, table, key);
    append_interval(buf, key, interval);
    buf_printf(buf,
               " ORDER BY t.%s) AS a\nCROSS JOIN\n"
               "     (SELECT TOP (1) t.%s AS k FROM %s AS t WHERE t.%s IS NOT NULL",
               key, key, table, key);
    append_interval(buf, key, interval);
    buf_printf(buf, " ORDER BY t.%s DESC) AS z", key);
}

/* One statement with a question for each of `count` intervals, whose number is the first column of
 * their rows. */
typedef struct UnionOfQuestions {
    const char *name;
    size_t      count;
    size_t      rows_max;
    void (*append)(Buf *buf, const char *key, const char *table, size_t index, const void *arg);
    const void *arg;
} UnionOfQuestions;

static bool ask_each(Cutter *cutter, const UnionOfQuestions *questions, Arena *scratch, Rows *out,
                     Err *err)
{
    const char *key = str_c(scratch, mssql_quote(scratch, cutter->cut->columns[0].name));
    Buf         buf = buf_new(scratch, 0);
    Str         table;

    if (!table_name(cutter->table, scratch, &table, err)) return false;
    append_read_prefix(cutter->mssql, cutter->with_isolation, &buf);
    for (size_t i = 0; i < questions->count; i++) {
        if (i > 0) buf_append_c(&buf, "\nUNION ALL ");
        questions->append(&buf, key, str_c(scratch, table), i, questions->arg);
    }
    buf_append_char(&buf, ';');
    if (!ask(cutter, questions->name, buf_str(&buf), NULL, 0, questions->rows_max, scratch, out,
             err))
        return false;
    for (size_t row = 0; row < out->block.row_count; row++) {
        int64_t i = rows_i64(out, row, 0, -1);

        if (i < 0 || (size_t)i >= questions->count)
            return err_set(err, ERR_QUERY, "%s: the server answered a question that was not asked",
                           questions->name);
    }
    return true;
}

static bool find_some_extents(Cutter *cutter, const KeyInterval *intervals, size_t count,
                              Arena *scratch, KeyExtent *out, Err *err)
{
    UnionOfQuestions questions = {"find extents", count, count, append_extent, intervals};
    Rows             rows;

    if (!ask_each(cutter, &questions, scratch, &rows, err)) return false;
    for (size_t row = 0; row < rows.block.row_count; row++)
        out[rows_i64(&rows, row, 0, 0)] = (KeyExtent){true, rows_i64(&rows, row, 1, 0),
                                                      rows_i64(&rows, row, 2, 0)};
    return true;
}

bool cutter_find_extents(Cutter *cutter, const KeyInterval *intervals, size_t count, KeyExtent *out,
                         Err *err)
{
    bool ok = true;

    assert(cutter->cut->is_integer);
    for (size_t i = 0; i < count; i++)
        out[i] = (KeyExtent){.is_found = false};
    for (size_t at = 0; ok && at < count; at += QUESTIONS_PER_STATEMENT) {
        Arena *scratch = arena_new();

        ok = find_some_extents(cutter, intervals + at, MIN(count - at, QUESTIONS_PER_STATEMENT),
                               scratch, out + at, err);
        arena_close(scratch);
    }
    return ok;
}

/* T-SQL's / goes towards zero and % takes the dividend's sign: the correction makes it a floor. */
static void append_grid(Buf *buf, const char *key, const char *table, size_t index, const void *arg)
{
    const SliceGrid *grid  = (const SliceGrid *)arg + index;
    long long        width = (long long)grid->width;

    buf_printf(buf,
               "SELECT %zu AS i, x.b, COUNT_BIG(*) AS n\n"
               "FROM (SELECT q.o / CAST(%lld AS bigint) - IIF(q.o %% CAST(%lld AS bigint) < 0, 1, "
               "0) AS b\n"
               "      FROM (SELECT CAST(t.%s AS bigint) AS o FROM %s AS t WHERE t.%s IS NOT NULL",
               index, width, width, key, table, key);
    append_interval(buf, key, &grid->interval);
    buf_append_c(buf, ") AS q) AS x\nGROUP BY x.b");
}

static int compare_slices(const void *left, const void *right)
{
    int64_t a = ((const SliceCount *)left)->index, b = ((const SliceCount *)right)->index;

    return (a > b) - (a < b);
}

static bool count_some_slices(Cutter *cutter, const SliceGrid *grids, size_t count, Arena *scratch,
                              Arena *arena, SliceCounts *out, Err *err)
{
    UnionOfQuestions questions = {"count slices", count, ROWS_LIMIT, append_grid, grids};
    size_t          *filled    = ARENA_ARRAY(scratch, size_t, count);
    Rows             rows;

    if (!ask_each(cutter, &questions, scratch, &rows, err)) return false;
    for (size_t row = 0; row < rows.block.row_count; row++)
        out[rows_i64(&rows, row, 0, 0)].count++;
    for (size_t i = 0; i < count; i++)
        out[i].items = ARENA_ARRAY(arena, SliceCount, out[i].count + 1);
    for (size_t row = 0; row < rows.block.row_count; row++) {
        size_t i = (size_t)rows_i64(&rows, row, 0, 0);

        out[i].items[filled[i]++] = (SliceCount){rows_i64(&rows, row, 1, 0),
                                                 rows_i64(&rows, row, 2, 0)};
    }
    for (size_t i = 0; i < count; i++)
        qsort(out[i].items, out[i].count, sizeof(SliceCount), compare_slices);
    return true;
}

bool cutter_count_slices(Cutter *cutter, const SliceGrid *grids, size_t count, Arena *arena,
                         SliceCounts *out, Err *err)
{
    bool ok = true;

    assert(cutter->cut->is_integer);
    for (size_t i = 0; i < count; i++)
        out[i] = (SliceCounts){.count = 0};
    for (size_t at = 0; ok && at < count; at += QUESTIONS_PER_STATEMENT) {
        Arena *scratch = arena_new();

        ok = count_some_slices(cutter, grids + at, MIN(count - at, QUESTIONS_PER_STATEMENT),
                               scratch, arena, out + at, err);
        arena_close(scratch);
    }
    return ok;
}

/* --- any key --- */

bool cutter_estimate_rows(Cutter *cutter, int64_t *rows_out, Err *err) /* Q25 */
{
    Arena   *scratch = arena_new();
    Rows     rows;
    SqlParam param;
    Str      table;
    size_t   at;
    bool     ok = false;

    *rows_out = 0;
    if (!table_name(cutter->table, scratch, &table, err)) goto done;
    param = param_str(table);
    ok    = ask(cutter, "estimate rows", STR("EXEC sys.sp_spaceused @objname = ?;"), &param, 1, 16,
                scratch, &rows, err);
    if (!ok && err->native == 15009) { /* not visible: nothing is known */
        err_clear(err);
        ok = true;
        goto done;
    }
    if (!ok || rows.block.row_count == 0) goto done;
    ok = rows_find(&rows, "rows", &at, err);
    if (ok && !str_parse_i64(str_trim(rows_str(&rows, 0, at)), rows_out))
        *rows_out = rows_i64(&rows, 0, at, 0);
done:
    arena_close(scratch);
    return ok;
}

static void append_columns(Buf *buf, const TableCut *cut, const char *alias, const char *order)
{
    for (size_t i = 0; i < cut->column_count; i++) {
        buf_printf(buf, "%s%s.", i ? ", " : "", alias);
        buf_append_identifier(buf, cut->columns[i].name);
        buf_append_c(buf, order);
    }
}

/* The key in the answer's only row; NULL without one. */
static bool take_key(const Cutter *cutter, const Rows *rows, Arena *arena, const KeyPart **out,
                     Err *err)
{
    size_t   count = cutter->cut->column_count;
    KeyPart *parts;

    *out = NULL;
    if (rows->block.row_count == 0) return true;
    if (rows->block.column_count != count)
        return err_set(err, ERR_QUERY, "the server's answer has other columns than the key");
    parts = ARENA_ARRAY(arena, KeyPart, count);
    for (size_t i = 0; i < count; i++)
        parts[i] = key_format_part(arena, cutter->cut->columns[i].sql_type, &rows->block.columns[i],
                                   0);
    *out = parts;
    return true;
}

bool cutter_find_last(Cutter *cutter, Arena *arena, const KeyPart **out, Err *err) /* Q27 */
{
    Arena *scratch = arena_new();
    Buf    buf     = buf_new(scratch, 0);
    Rows   rows;
    Str    table;
    bool   ok = table_name(cutter->table, scratch, &table, err);

    if (ok) {
        append_read_prefix(cutter->mssql, true, &buf);
        buf_append_c(&buf, "SELECT TOP (1) ");
        append_columns(&buf, cutter->cut, "t", "");
        buf_printf(&buf, " FROM %.*s AS t ORDER BY ", STR_ARG(table));
        append_columns(&buf, cutter->cut, "t", " DESC");
        buf_append_char(&buf, ';');
        ok = ask(cutter, "find last key", buf_str(&buf), NULL, 0, 1, scratch, &rows, err) &&
             take_key(cutter, &rows, arena, out, err);
    }
    arena_close(scratch);
    return ok;
}

/* Q28: each piece's seek stops after n + 1 keys, so the range is never read. */
static bool seek_text(const Cutter *cutter, const KeyPart *lo, const KeyPart *hi, int64_t n,
                      Arena *scratch, Str *text_out, KeyParams *params, Err *err)
{
    const TableCut *cut    = cutter->cut;
    KeyPieces       pieces = key_pieces(scratch, cut->column_count, lo, hi);
    Buf             buf    = buf_new(scratch, 0);
    Str             table;

    if (!table_name(cutter->table, scratch, &table, err)) return false;
    append_read_prefix(cutter->mssql, true, &buf);
    buf_append_c(&buf, "SELECT ");
    append_columns(&buf, cut, "u", "");
    buf_append_c(&buf, "\nFROM (");
    for (size_t i = 0; i < pieces.piece_count; i++) {
        const KeyPiece *piece = &pieces.pieces[i];

        buf_printf(&buf, "%sSELECT p.* FROM (SELECT TOP (%lld) ", i ? "\n  UNION ALL " : "",
                   (long long)n + 1);
        append_columns(&buf, cut, "t", "");
        buf_printf(&buf, " FROM %.*s AS t", STR_ARG(table));
        if (piece->term_count > 0 || piece->has_residual) buf_append_c(&buf, " WHERE ");
        if (!key_piece_where(scratch, piece, cut->columns, cut->column_count, lo, hi, &buf, params,
                             err))
            return false;
        buf_append_c(&buf, " ORDER BY ");
        append_columns(&buf, cut, "t", "");
        buf_append_c(&buf, ") AS p");
    }
    buf_append_c(&buf, ") AS u\nORDER BY ");
    append_columns(&buf, cut, "u", "");
    buf_printf(&buf, " OFFSET %lld ROWS FETCH NEXT 1 ROWS ONLY;", (long long)n);
    *text_out = buf_str(&buf);
    return true;
}

bool cutter_seek(Cutter *cutter, const KeyPart *lo, const KeyPart *hi, int64_t n, Arena *arena,
                 const KeyPart **out, Err *err)
{
    Arena    *scratch = arena_new();
    KeyParams params  = {0};
    Rows      rows;
    Str       text;
    bool      ok;

    assert(cutter->cut->can_bound);
    assert(n >= 0);
    ok = seek_text(cutter, lo, hi, n, scratch, &text, &params, err) &&
         ask(cutter, "seek key", text, params.items, params.count, 1, scratch, &rows, err) &&
         take_key(cutter, &rows, arena, out, err);
    arena_close(scratch);
    return ok;
}
