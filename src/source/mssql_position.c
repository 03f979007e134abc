/* mssql_position.c - where the log is: largest and smallest LSN, neighbours, commits (Q06 to Q10,
 * Q14, Q15). */
#include "source/mssql_internal.h"

SqlQuery mssql_max_lsn_question(Arena *arena)
{
    return mssql_question(
        arena, STR("SELECT CONVERT(char(22), sys.fn_cdc_get_max_lsn(), 1) AS max_lsn;"), NULL, 0);
}

SqlQuery mssql_min_lsn_question(Arena *arena, Str capture_instance)
{
    return mssql_question(arena,
                          STR("SELECT CONVERT(char(22), sys.fn_cdc_get_min_lsn(?), 1) AS min_lsn;"),
                          (SqlParam[]){param_str(capture_instance)}, 1);
}

SqlQuery mssql_next_lsn_question(Arena *arena, Lsn lsn)
{
    return mssql_question(
        arena,
        STR("SELECT CONVERT(char(22), sys.fn_cdc_increment_lsn(CONVERT(binary(10), ?, 1)), 1) AS "
            "lsn;"),
        (SqlParam[]){param_lsn(arena, lsn)}, 1);
}

SqlQuery mssql_previous_lsn_question(Arena *arena, Lsn lsn)
{
    return mssql_question(
        arena,
        STR("SELECT CONVERT(char(22), sys.fn_cdc_decrement_lsn(CONVERT(binary(10), ?, 1)), 1) AS "
            "lsn;"),
        (SqlParam[]){param_lsn(arena, lsn)}, 1);
}

/* One LSN as text; closes `scratch`, which holds the question. */
static bool ask_lsn_on(SqlConn *conn, SqlQuery question, Arena *scratch, Lsn *out,
                       bool *is_null_out, Err *err)
{
    Rows rows = {0};
    bool ok   = mssql_answer_on(conn, &question, 1, scratch, &rows, err);

    *out         = LSN_ZERO;
    *is_null_out = true;
    if (ok && rows.block.row_count == 1 && rows.block.column_count >= 1)
        ok = rows_lsn(&rows, 0, 0, out, is_null_out, err);
    arena_close(scratch);
    return ok;
}

bool mssql_max_lsn_on(SqlConn *conn, Lsn *out, bool *is_null_out, Err *err)
{
    Arena *scratch = arena_new();

    return ask_lsn_on(conn, mssql_max_lsn_question(scratch), scratch, out, is_null_out, err);
}

bool mssql_min_lsn_on(SqlConn *conn, Str capture_instance, Lsn *out, bool *is_set_out, Err *err)
{
    Arena *scratch = arena_new();
    bool   is_null;

    if (!ask_lsn_on(conn, mssql_min_lsn_question(scratch, capture_instance), scratch, out, &is_null,
                    err))
        return false;
    *is_set_out = !is_null && !lsn_is_zero(*out);
    return true;
}

typedef struct LsnCall {
    Str   capture_instance;
    Lsn   lsn;
    Lsn  *out;
    bool *flag;
} LsnCall;

static bool call_max_lsn(Mssql *mssql, void *arg, Err *err)
{
    LsnCall *call = arg;

    return mssql_max_lsn_on(mssql->meta, call->out, call->flag, err);
}

bool mssql_max_lsn(Mssql *mssql, Lsn *out, bool *is_null_out, Err *err)
{
    LsnCall call = {.out = out, .flag = is_null_out};

    return mssql_retry(mssql, "max_lsn", call_max_lsn, &call, err);
}

static bool call_min_lsn(Mssql *mssql, void *arg, Err *err)
{
    LsnCall *call = arg;

    return mssql_min_lsn_on(mssql->meta, call->capture_instance, call->out, call->flag, err);
}

bool mssql_min_lsn(Mssql *mssql, Str capture_instance, Lsn *out, bool *is_set_out, Err *err)
{
    LsnCall call = {.capture_instance = capture_instance, .out = out, .flag = is_set_out};

    return mssql_retry(mssql, "min_lsn", call_min_lsn, &call, err);
}

/* --- neighbours (Q08, Q09) --- */

typedef struct NeighbourCall {
    SqlQuery (*question)(Arena *arena, Lsn lsn);
    Lsn  lsn;
    Lsn *out;
} NeighbourCall;

static bool call_neighbour(Mssql *mssql, void *arg, Err *err)
{
    NeighbourCall *call    = arg;
    Arena         *scratch = arena_new();
    bool           is_null;
    bool ok = ask_lsn_on(mssql->meta, call->question(scratch, call->lsn), scratch, call->out,
                         &is_null, err);

    if (ok && is_null) ok = err_set(err, ERR_QUERY, "the server knows no neighbour of an LSN");
    return ok;
}

bool mssql_next_lsn(Mssql *mssql, Lsn lsn, Lsn *out, Err *err)
{
    NeighbourCall call = {mssql_next_lsn_question, lsn, out};

    return mssql_retry(mssql, "next_lsn", call_neighbour, &call, err);
}

bool mssql_previous_lsn(Mssql *mssql, Lsn lsn, Lsn *out, Err *err)
{
    NeighbourCall call = {mssql_previous_lsn_question, lsn, out};

    if (lsn_is_zero(lsn)) { /* decrement of ZERO is ZERO (algorithms.md 0.2) */
        *out = LSN_ZERO;
        return true;
    }
    if (!lsn_equal(mssql->neighbour_of, lsn)) { /* arithmetic: the answer never changes */
        if (!mssql_retry(mssql, "previous_lsn", call_neighbour, &call, err)) return false;
        mssql->neighbour_of = lsn;
        mssql->neighbour    = *out;
    }
    *out = mssql->neighbour;
    return true;
}

/* --- commits (Q10) --- */

SqlQuery mssql_commit_question(Arena *arena, Lsn lsn)
{
    return mssql_question(arena,
                          STR("SELECT TOP (1) m.start_lsn, m.tran_end_time\n"
                              "FROM cdc.lsn_time_mapping AS m\n"
                              "WHERE m.start_lsn <= CONVERT(binary(10), ?, 1)\n"
                              "ORDER BY m.start_lsn DESC;"),
                          (SqlParam[]){param_lsn(arena, lsn)}, 1);
}

void questions_add_commit_time(Questions *questions, Arena *arena, const ServerClock *clock,
                               Lsn lsn)
{
    questions_add(questions, mssql_commit_question(arena, lsn));
    if (clock->kind == SERVER_CLOCK_ZONE)
        questions_add(questions, mssql_range_offsets_question(arena, clock, lsn, lsn));
}

static bool read_commit(SqlConn *conn, Lsn lsn, Arena *scratch, Lsn *commit_out,
                        int64_t *local_us_out, bool *found_out, Err *err)
{
    SqlQuery question = mssql_commit_question(scratch, lsn);
    Rows     rows     = {0};
    bool     is_null;

    *found_out = false;
    if (!mssql_answer_on(conn, &question, 1, scratch, &rows, err)) return false;
    if (rows.block.row_count == 0) return true;
    if (!rows_lsn(&rows, 0, 0, commit_out, &is_null, err)) return false;
    *found_out = !is_null && !rows_is_null(&rows, 0, 1); /* an entry without a time tells nothing */
    *local_us_out = rows_i64(&rows, 0, 1, 0);
    return true;
}

static bool utc_of_commit(SqlConn *conn, const ServerClock *clock, Lsn commit, int64_t local_us,
                          OptTime *out, Err *err)
{
    Arena     *scratch = arena_new();
    RangeClock range   = {0};
    size_t     at      = 0;
    bool       ok      = mssql_range_clock_on(conn, clock, commit, commit, scratch, &range, err);

    if (ok && range.run_count > 0)
        *out = (OptTime){true, range_clock_to_utc(&range, commit, local_us, &at)};
    arena_close(scratch);
    return ok;
}

bool mssql_commit_before_on(SqlConn *conn, const ServerClock *clock, Lsn lsn, Lsn *commit_out,
                            OptTime *time_out, bool *found_out, Err *err)
{
    Arena  *scratch  = arena_new();
    int64_t local_us = 0;
    bool    ok       = read_commit(conn, lsn, scratch, commit_out, &local_us, found_out, err);

    *time_out = (OptTime){0};
    if (ok && *found_out) ok = utc_of_commit(conn, clock, *commit_out, local_us, time_out, err);
    arena_close(scratch);
    return ok;
}

SqlQuery mssql_newest_commit_question(Arena *arena)
{
    return mssql_question(arena,
                          STR("SELECT TOP (1) m.start_lsn, m.tran_end_time\n"
                              "FROM cdc.lsn_time_mapping AS m\n"
                              "WHERE m.start_lsn <= sys.fn_cdc_get_max_lsn()\n"
                              "ORDER BY m.start_lsn DESC;"),
                          NULL, 0);
}

bool mssql_keep_newest_commit(Mssql *mssql, Err *err)
{
    Arena   *scratch  = arena_new();
    SqlQuery question = mssql_newest_commit_question(scratch);
    Rows     rows     = {0};
    bool     is_null  = true;
    Lsn      commit   = LSN_ZERO;
    bool     ok       = mssql_answer_on(mssql->meta, &question, 1, scratch, &rows, err);

    if (ok && rows.block.row_count > 0) ok = rows_lsn(&rows, 0, 0, &commit, &is_null, err);
    if (ok && !is_null && !rows_is_null(&rows, 0, 1)) {
        mssql->newest_commit   = commit;
        mssql->newest_local_us = rows_i64(&rows, 0, 1, 0);
    }
    arena_close(scratch);
    return ok;
}

typedef struct CommitCall {
    Lsn      lsn;
    Lsn      commit;
    OptTime *out;
    bool     found;
} CommitCall;

static bool call_commit_before(Mssql *mssql, void *arg, Err *err)
{
    CommitCall *call = arg;

    if (!lsn_is_zero(call->lsn) && lsn_equal(call->lsn, mssql->newest_commit)) {
        call->commit = call->lsn;
        call->found  = true;
        *call->out   = (OptTime){0};
        return utc_of_commit(mssql->meta, &mssql->clock, call->lsn, mssql->newest_local_us,
                             call->out, err);
    }
    return mssql_commit_before_on(mssql->meta, &mssql->clock, call->lsn, &call->commit, call->out,
                                  &call->found, err);
}

bool mssql_commit_time_at_or_before(Mssql *mssql, Lsn lsn, OptTime *out, Err *err)
{
    CommitCall call = {.lsn = lsn, .out = out};

    return mssql_retry(mssql, "commit_time", call_commit_before, &call, err);
}

bool mssql_commit_time(Mssql *mssql, Lsn lsn, OptTime *out, Err *err)
{
    CommitCall call = {.lsn = lsn, .out = out};

    if (!mssql_retry(mssql, "commit_time", call_commit_before, &call, err)) return false;
    if (!call.found || !lsn_equal(call.commit, lsn)) *out = (OptTime){0};
    return true;
}

/* --- the n-th commit (Q14) --- */

SqlQuery mssql_nth_commit_question(Arena *arena, Lsn after, int64_t n)
{
    return mssql_question(
        arena,
        str_printf(
            arena,
            "SELECT CONVERT(char(22), MAX(c.start_lsn), 1) AS end_lsn, COUNT(*) AS commits\n"
            "FROM (SELECT TOP (%lld) m.start_lsn FROM cdc.lsn_time_mapping AS m\n"
            "      WHERE m.start_lsn > CONVERT(binary(10), ?, 1) ORDER BY m.start_lsn) AS c;",
            (long long)MAX(n, 1)),
        (SqlParam[]){param_lsn(arena, after)}, 1);
}

typedef struct NthCall {
    Lsn     after;
    int64_t n;
    Lsn    *out;
    bool   *is_set;
} NthCall;

static bool call_nth(Mssql *mssql, void *arg, Err *err)
{
    NthCall *call    = arg;
    Arena   *scratch = arena_new();
    bool     is_null = true;
    bool     ok = ask_lsn_on(mssql->meta, mssql_nth_commit_question(scratch, call->after, call->n),
                             scratch, call->out, &is_null, err);

    *call->is_set = !is_null;
    return ok;
}

bool mssql_nth_commit(Mssql *mssql, Lsn after, int64_t n, Lsn *out, bool *is_set_out, Err *err)
{
    NthCall call = {.after = after, .n = n, .out = out, .is_set = is_set_out};

    return mssql_retry(mssql, "nth_commit", call_nth, &call, err);
}

/* --- split points (Q15) --- */

SqlQuery mssql_split_question(Arena *arena, Str capture_instance, Lsn from, Lsn to, int64_t tiles)
{
    Str text = str_printf(
        arena,
        "WITH r AS (SELECT c.[__$start_lsn] AS l, NTILE(%lld) OVER (ORDER BY c.[__$start_lsn]) AS "
        "tile\n"
        "           FROM %s AS c\n"
        "           WHERE c.[__$start_lsn] >= CONVERT(binary(10), ?, 1)\n"
        "             AND c.[__$start_lsn] <= CONVERT(binary(10), ?, 1))\n"
        "SELECT CONVERT(char(22), MAX(r.l), 1) AS last_lsn,\n"
        "       CONVERT(char(22), sys.fn_cdc_increment_lsn(MAX(r.l)), 1) AS next_lsn,\n"
        "       COUNT_BIG(*) AS row_count\n"
        "FROM r GROUP BY r.tile ORDER BY MAX(r.l);",
        (long long)MAX(tiles, 1), str_c(arena, mssql_change_table(arena, capture_instance)));

    return mssql_question(arena, text, (SqlParam[]){param_lsn(arena, from), param_lsn(arena, to)},
                          2);
}

static bool read_tiles(const Rows *rows, Arena *arena, SplitTile **out, size_t *count_out, Err *err)
{
    SplitTile *tiles = ARENA_ARRAY(arena, SplitTile, rows->block.row_count + 1);

    for (size_t i = 0; i < rows->block.row_count; i++) {
        bool last_is_null, next_is_null;
        if (!rows_lsn(rows, i, 0, &tiles[i].last_lsn, &last_is_null, err) ||
            !rows_lsn(rows, i, 1, &tiles[i].next_lsn, &next_is_null, err))
            return false;
        if (last_is_null || next_is_null)
            return err_set(err, ERR_QUERY, "the server gave a split point without an LSN");
        tiles[i].row_count = rows_i64(rows, i, 2, 0);
    }
    *out       = tiles;
    *count_out = rows->block.row_count;
    return true;
}

bool mssql_split_tiles(Mssql *mssql, Str capture_instance, Lsn from, Lsn to, int64_t tiles,
                       Arena *arena, SplitTile **out, size_t *count_out, Err *err)
{
    Arena *scratch = arena_new();
    Rows   rows    = {0};
    bool   ok      = mssql_check_capture_instance(capture_instance, err);

    if (ok) {
        SqlQuery question = mssql_split_question(scratch, capture_instance, from, to, tiles);
        ok = mssql_ask(mssql, "split_tiles", question.text, question.params, question.param_count,
                       ROWS_LIMIT, scratch, &rows, err);
        if (!ok) mssql_explain_change_error(mssql, mssql->meta, capture_instance, err);
    }
    ok = ok && read_tiles(&rows, arena, out, count_out, err);
    arena_close(scratch);
    return ok;
}

/* --- whether there is any --- */

SqlQuery mssql_existence_question(Arena *arena, Str capture_instance, Lsn from, Lsn to)
{
    Str text = str_printf(arena,
                          "SELECT TOP (1) CONVERT(char(22), c.[__$start_lsn], 1) AS first_lsn\n"
                          "FROM %s AS c\n"
                          "WHERE c.[__$start_lsn] >= CONVERT(binary(10), ?, 1)\n"
                          "  AND c.[__$start_lsn] <= CONVERT(binary(10), ?, 1)\n"
                          "ORDER BY c.[__$start_lsn];",
                          str_c(arena, mssql_change_table(arena, capture_instance)));

    return mssql_question(arena, text, (SqlParam[]){param_lsn(arena, from), param_lsn(arena, to)},
                          2);
}

bool mssql_has_changes(Mssql *mssql, Str capture_instance, Lsn from, Lsn to, bool *out, Err *err)
{
    Arena *scratch = arena_new();
    Rows   rows    = {0};
    bool   ok      = mssql_check_capture_instance(capture_instance, err);

    *out = false;
    if (ok) {
        SqlQuery question = mssql_existence_question(scratch, capture_instance, from, to);
        ok = mssql_ask(mssql, "has_changes", question.text, question.params, question.param_count,
                       1, scratch, &rows, err);
        if (!ok) mssql_explain_change_error(mssql, mssql->meta, capture_instance, err);
    }
    if (ok) *out = rows.block.row_count > 0;
    arena_close(scratch);
    return ok;
}
