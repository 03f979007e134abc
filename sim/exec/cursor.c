/* cursor.c - T-SQL cursors. A cursor reads its rows when it opens and keeps them: what STATIC promises, and what FAST_FORWARD may do. Its variables
 * have the values they had when it was declared. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

typedef LIST(SimValue *) CursorRows;

struct SqlCursor {
    SqlCursor       *next;
    Str              name;
    Arena           *arena; /* the declaration */
    const Select    *select;
    Frame           *captured; /* the variables it was declared among */
    bool             scrolls, is_open;
    Arena           *rows_arena;
    SimResultColumn *columns;
    size_t           column_count;
    CursorRows       rows;
    int64_t          at; /* 1 is the first row; 0 before it */
};

static bool has_word(const Stmt *stmt, const char *word)
{
    for (size_t i = 0; i < stmt->words.count; i++)
        if (str_equal_c(stmt->words.items[i], word)) return true;
    return false;
}

/* --- names: a batch's or a procedure's own cursors, then the session's --- */
static SqlCursor **find_in(SqlCursor **list, Str name)
{
    for (; *list; list = &(*list)->next)
        if (sim_name_equal((*list)->name, name)) return list;
    return NULL;
}

static SqlCursor **find_cursor(SimSession *session, const Stmt *stmt)
{
    SqlCursor **found = has_word(stmt, "GLOBAL") ? NULL
                                                 : find_in(&session->frame->cursors, stmt->name);

    return found ? found : find_in(&session->sql_cursors, stmt->name);
}

static void close_rows(SqlCursor *cursor)
{
    arena_close(cursor->rows_arena);
    cursor->rows_arena = NULL;
    cursor->rows       = (CursorRows){0};
    cursor->is_open    = false;
}

void cursors_free(SqlCursor **list)
{
    while (*list) {
        SqlCursor *cursor = *list;
        *list             = cursor->next;
        close_rows(cursor);
        frame_free_variables(cursor->captured);
        arena_close(cursor->arena);
    }
}

/* --- DECLARE --- */
static Frame *capture_variables(SimSession *session, Arena *arena)
{
    Frame *frame = ARENA_NEW(arena, Frame);
    size_t at    = 0;
    Str    key;
    void  *found = NULL;

    frame->arena     = arena;
    frame->variables = map_new();
    while (map_next(session->frame->variables, &at, &key, &found)) {
        const Variable *from = found;
        Variable       *copy = frame_declare(frame, from->name, &from->type);
        copy->table          = from->table;
        variable_set(copy, &from->value);
    }
    return frame;
}

static bool declare_cursor(SimSession *session, const Stmt *stmt, SimError *error)
{
    bool        is_local = has_word(stmt, "LOCAL");
    SqlCursor **list     = is_local ? &session->frame->cursors : &session->sql_cursors;
    StmtList    stmts    = {0};

    if (find_in(list, stmt->name))
        return sim_error(error, 16915, "A cursor with the name '%.*s' already exists.",
                         STR_ARG(stmt->name));
    Arena     *arena  = arena_new();
    SqlCursor *cursor = ARENA_NEW(arena, SqlCursor);
    if (!sim_parse(str_copy(arena, stmt->source), session->options.quoted_identifier, arena, &stmts,
                   error)) {
        arena_close(arena);
        return false;
    }
    cursor->arena   = arena;
    cursor->name    = str_copy(arena, stmt->name);
    cursor->select  = stmts.items[0]->select;
    cursor->scrolls = has_word(stmt, "SCROLL") ||
                      (has_word(stmt, "STATIC") && !has_word(stmt, "FORWARD_ONLY"));
    cursor->captured = capture_variables(session, arena);
    cursor->next     = *list;
    *list            = cursor;
    return true;
}

/* --- OPEN --- */
typedef struct KeepTarget {
    RowTarget  target;
    SqlCursor *cursor;
} KeepTarget;

static bool keep_row(RowTarget *target, Exec *exec, const SimValue *values, size_t count)
{
    SqlCursor *cursor = ((KeepTarget *)target)->cursor;
    SimValue  *row    = ARENA_ARRAY(cursor->rows_arena, SimValue, count + 1);

    (void)exec;
    for (size_t i = 0; i < count; i++)
        row[i] = value_copy(cursor->rows_arena, &values[i]);
    *LIST_PUSH(cursor->rows_arena, &cursor->rows) = row;
    return true;
}

static bool read_rows(SimSession *session, SqlCursor *cursor, Arena *arena, SimError *error)
{
    Exec        exec;
    Binder     *binder = binder_new(session, arena, error);
    SelectPlan *plan   = NULL;
    KeepTarget  target = {.target = {.row = keep_row}, .cursor = cursor};
    int64_t     count  = 0;
    bool        ok     = false;

    exec_begin(&exec, session, arena, error);
    if (!bind_select(binder, NULL, cursor->select, &plan) || !binder_check_permissions(binder))
        goto done;
    if (plan->assigns) {
        ok = binder_error(binder, cursor->select->line, 1063,
                          "A cursor plan could not be generated for the given statement because "
                          "it assigns values to variables.");
        goto done;
    }
    cursor->columns      = ARENA_ARRAY(cursor->rows_arena, SimResultColumn, plan->out_count + 1);
    cursor->column_count = plan->out_count;
    select_columns(plan, cursor->columns);
    for (size_t i = 0; i < plan->out_count; i++)
        cursor->columns[i].name = str_copy(cursor->rows_arena, cursor->columns[i].name);
    binder_start(binder, &exec);
    ok = select_run(&exec, plan, &target.target, &count);
done:
    exec_end(&exec);
    return ok;
}

static bool open_cursor(SimSession *session, SqlCursor *cursor, Arena *arena, SimError *error)
{
    Map *own = session->frame->variables;

    if (cursor->is_open) return sim_error(error, 16905, "The cursor is already open.");
    cursor->rows_arena        = arena_new();
    cursor->at                = 0;
    session->frame->variables = cursor->captured->variables;
    session_statement_begin(session);
    bool ok = read_rows(session, cursor, arena, error);
    if (!session_statement_end(session, ok, error)) ok = false;
    session->frame->variables = own;
    if (!ok) close_rows(cursor);
    cursor->is_open      = ok;
    session->cursor_rows = ok ? (int64_t)cursor->rows.count : 0;
    return ok;
}

/* --- FETCH --- */
static bool move_to(SimSession *session, const Stmt *stmt, SqlCursor *cursor, Arena *arena,
                    SimError *error)
{
    int64_t  count = (int64_t)cursor->rows.count, to = cursor->at + 1;
    Str      place = stmt->words.items[0];
    SimValue value, number;
    SimType  type = sim_type(SIM_BIGINT);

    if (!str_equal_c(place, "NEXT") && !cursor->scrolls)
        return sim_error(error, 16911,
                         "fetch: The fetch type %.*s cannot be used with forward only cursors.",
                         STR_ARG(place));
    if (stmt->expr) {
        if (!run_expression(session, stmt->expr, arena, &value, error) ||
            !sim_convert(&value, &type, 0, true, arena, &number, error))
            return false;
        to = str_equal_c(place, "RELATIVE") ? cursor->at + number.i64
             : number.i64 >= 0              ? number.i64
                                            : count + 1 + number.i64;
    } else if (str_equal_c(place, "PRIOR")) {
        to = cursor->at - 1;
    } else if (str_equal_c(place, "FIRST")) {
        to = 1;
    } else if (str_equal_c(place, "LAST")) {
        to = MAX(count, 1);
    }
    cursor->at = MAX(MIN(to, count + 1), 0);
    return true;
}

static bool fetch_into(SimSession *session, const Stmt *stmt, const SimValue *row, Arena *arena,
                       SimError *error)
{
    for (size_t i = 0; i < stmt->into.count; i++) {
        Variable *variable = frame_find(session->frame, stmt->into.items[i]);
        if (!variable)
            return sim_error(error, 137, "Must declare the scalar variable \"%.*s\".",
                             STR_ARG(stmt->into.items[i]));
        if (!row) continue;
        SimValue stored = sim_null(variable->type);
        if (!row[i].is_null &&
            !sim_convert(&row[i], &variable->type, 0, true, arena, &stored, error))
            return false;
        variable_set(variable, &stored);
    }
    return true;
}

static bool fetch(SimSession *session, const Stmt *stmt, SqlCursor *cursor, Arena *arena,
                  StatementResult *result, SimError *error)
{
    session->fetch_status = -1;
    if (!cursor->is_open) return sim_error(error, 16917, "Cursor is not open.");
    if (stmt->into.count > 0 && stmt->into.count != cursor->column_count)
        return sim_error(error, 16924,
                         "Cursorfetch: The number of variables declared in the INTO list must "
                         "match that of selected columns.");
    if (!move_to(session, stmt, cursor, arena, error)) return false;
    bool            found = cursor->at >= 1 && cursor->at <= (int64_t)cursor->rows.count;
    const SimValue *row   = found ? cursor->rows.items[cursor->at - 1] : NULL;
    session->fetch_status = found ? 0 : -1;
    result->has_count     = true;
    result->count         = found;
    result->is_silent     = stmt->into.count > 0;
    if (stmt->into.count > 0) return fetch_into(session, stmt, row, arena, error);
    bool sent = session_send_columns(session, cursor->columns, cursor->column_count);
    if (sent && row) sent = session_send_row(session, row, cursor->column_count);
    return sent || session_alive(session, error);
}

bool run_cursor(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error)
{
    if (stmt->kind == STMT_DECLARE_CURSOR) {
        result->is_silent = true;
        return declare_cursor(session, stmt, error);
    }
    SqlCursor **found = find_cursor(session, stmt);
    if (!found)
        return sim_error(error, 16916, "A cursor with the name '%.*s' does not exist.",
                         STR_ARG(stmt->name));
    SqlCursor *cursor = *found;
    result->is_silent = true;
    if (stmt->kind == STMT_OPEN_CURSOR) return open_cursor(session, cursor, arena, error);
    if (stmt->kind == STMT_FETCH) return fetch(session, stmt, cursor, arena, result, error);
    if (stmt->kind == STMT_CLOSE_CURSOR) {
        if (!cursor->is_open) return sim_error(error, 16917, "Cursor is not open.");
        close_rows(cursor);
        return true;
    }
    *found       = cursor->next;
    cursor->next = NULL;
    cursors_free(&cursor);
    return true;
}
