/* cursor.c - server cursors over procedure calls, as drivers open them (sqlserver.md 2.6). A cursor is the result of
 * its SELECT, kept: read-only, and static whatever was asked for; the type that it is goes back to the caller. */
#include "sim/session/prepared.h"

#include <stdio.h>

#define FIRST_HANDLE     180150003
#define ROWS_IF_NOT_SAID 20
#define ROW_IS_THERE     1

enum { /* scroll options */
       SCROLL_KEYSET        = 0x0001,
       SCROLL_DYNAMIC       = 0x0002,
       SCROLL_FORWARD_ONLY  = 0x0004,
       SCROLL_STATIC        = 0x0008,
       SCROLL_FAST_FORWARD  = 0x0010,
       SCROLL_PARAMETERIZED = 0x1000,
       SCROLL_AUTO_FETCH    = 0x2000,
       SCROLL_AUTO_CLOSE    = 0x4000,
};
enum { CONCURRENCY_READ_ONLY = 1, CONCURRENCY_KINDS = 0xF, CONCURRENCY_ALLOW_DIRECT = 0x2000 };
enum { /* ways to fetch */
       FETCH_FIRST         = 0x001,
       FETCH_NEXT          = 0x002,
       FETCH_PREV          = 0x004,
       FETCH_LAST          = 0x008,
       FETCH_ABSOLUTE      = 0x010,
       FETCH_RELATIVE      = 0x020,
       FETCH_REFRESH       = 0x080,
       FETCH_INFO          = 0x100,
       FETCH_PREV_NOADJUST = 0x200,
};

typedef struct Cursor {
    int32_t          handle;
    Arena           *arena;
    SimResultColumn *columns; /* with ROWSTAT at the end */
    size_t           column_count;
    LIST(SimValue *) rows;
    int64_t scroll; /* the option it was opened with */
    int64_t first;  /* of the rows fetched last, counted from 1; 0: before all, count + 1: behind */
    int64_t size;   /* how many those are */
    Str     name;
} Cursor;

/* --- the cursors of a session --- */

static Str handle_key(Arena *arena, int64_t handle)
{
    return str_printf(arena, "%lld", (long long)handle);
}

static void free_cursor(Cursor *cursor)
{
    if (cursor) arena_close(cursor->arena);
}

void session_drop_cursors(SimSession *session)
{
    size_t at = 0;
    Str    key;
    void  *value = NULL;

    if (!session->cursors) return;
    while (map_next(session->cursors, &at, &key, &value))
        free_cursor(value);
    map_close(session->cursors);
    session->cursors = NULL;
}

static Cursor *find_cursor(ProcCall *call)
{
    int64_t handle = 0;

    if (!proc_i64(call, 0, &handle)) return NULL;
    Cursor *cursor = call->session->cursors
                         ? map_find(call->session->cursors, handle_key(call->arena, handle))
                         : NULL;
    if (!cursor)
        sim_error(call->error, 16909,
                  "%.*s: The cursor identifier value provided (%llx) is not valid.",
                  STR_ARG(call->name), (unsigned long long)handle);
    return cursor;
}

static void remove_cursor(ProcCall *call, const Cursor *cursor)
{
    free_cursor(map_remove(call->session->cursors, handle_key(call->arena, cursor->handle)));
}

/* --- a SELECT into a cursor --- */

typedef struct Keeper { /* where its rows go; all else goes on */
    SimSink  sink;      /* first */
    SimSink *outer;
    Cursor  *cursor;
    bool     has_columns;
} Keeper;

static bool keep_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    Keeper *keeper = (Keeper *)sink;
    Cursor *cursor = keeper->cursor;

    keeper->has_columns  = true;
    cursor->columns      = ARENA_ARRAY(cursor->arena, SimResultColumn, count + 1);
    cursor->column_count = count + 1;
    for (size_t i = 0; i < count; i++) {
        cursor->columns[i]      = columns[i];
        cursor->columns[i].name = str_copy(cursor->arena, columns[i].name);
    }
    cursor->columns[count] = (SimResultColumn){
        .name = STR("ROWSTAT"), .type = sim_type(SIM_INT), .is_hidden = true};
    return true;
}

static bool keep_row(SimSink *sink, const SimValue *values, size_t count)
{
    Cursor   *cursor = ((Keeper *)sink)->cursor;
    SimValue *row    = ARENA_ARRAY(cursor->arena, SimValue, count + 1);

    for (size_t i = 0; i < count; i++)
        row[i] = value_copy(cursor->arena, &values[i]);
    row[count]                               = value_int(ROW_IS_THERE);
    *LIST_PUSH(cursor->arena, &cursor->rows) = row;
    return true;
}

static bool pass_message(SimSink *sink, const SimError *message)
{
    SimSink *outer = ((Keeper *)sink)->outer;

    return outer->message(outer, message);
}

static bool swallow_done(SimSink *sink, const SimDone *done)
{
    (void)sink;
    (void)done;
    return true;
}

static bool pass_env(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    SimSink *outer = ((Keeper *)sink)->outer;

    return !outer->env_change || outer->env_change(outer, kind, new_value, old_value);
}

/* What a cursor can be opened on: one SELECT that gives rows. */
static bool is_one_select(const StmtList *stmts)
{
    if (stmts->count != 1 || stmts->items[0]->kind != STMT_SELECT) return false;
    const Select *select = stmts->items[0]->select;
    return select->into.name.len == 0 &&
           (select->items.count == 0 || str_is_empty(select->items.items[0].assign_to));
}

static Cursor *new_cursor(SimSession *session, int64_t scroll)
{
    Arena  *arena  = arena_new();
    Cursor *cursor = ARENA_NEW(arena, Cursor);

    if (!session->cursors) session->cursors = map_new();
    if (session->next_cursor == 0) session->next_cursor = FIRST_HANDLE;
    *cursor = (Cursor){.arena = arena, .scroll = scroll, .handle = session->next_cursor};
    session->next_cursor += 2;
    return cursor;
}

static bool is_forward_only(const Cursor *cursor)
{
    return cursor->scroll & (SCROLL_FORWARD_ONLY | SCROLL_FAST_FORWARD);
}

/* Rows `first`, `first` + 1, ... of the result, counted from 1. */
static bool send_range(ProcCall *call, const Cursor *cursor, int64_t first, int64_t count)
{
    SimSession *session = call->session;

    if (!session_send_columns(session, cursor->columns, cursor->column_count))
        return session_alive(session, call->error);
    for (int64_t i = 0; i < count; i++)
        if (!session_send_row(session, cursor->rows.items[first - 1 + i], cursor->column_count) ||
            !session_alive(session, call->error))
            return session_alive(session, call->error);
    return proc_done(call, count);
}

static bool send_rows(ProcCall *call, const Cursor *cursor)
{
    return send_range(call, cursor, cursor->first, cursor->size);
}

/* Where the arguments of an opening procedure stand. */
typedef struct OpenArgs {
    size_t cursor, scroll, concurrency, row_count, first_value;
} OpenArgs;

static void set_output(ProcCall *call, size_t index, int64_t number)
{
    SimValue value = value_int(number);

    if (index < call->count) proc_set_output(call, index, &value);
}

static bool read_number(ProcCall *call, size_t index, int64_t *out)
{
    return index >= call->count || proc_i64(call, index, out);
}

static bool finish_open(ProcCall *call, const OpenArgs *args, Cursor *cursor)
{
    SimSession *session   = call->session;
    int64_t     row_count = (int64_t)cursor->rows.count, handle = cursor->handle;
    int64_t     wanted = 0;

    if (cursor->scroll & SCROLL_AUTO_FETCH) {
        if (!read_number(call, args->row_count, &wanted)) return false;
        cursor->first = 1;
        cursor->size  = MIN(wanted > 0 ? wanted : ROWS_IF_NOT_SAID, row_count);
    }
    map_put(session->cursors, handle_key(cursor->arena, handle), cursor);
    if (!send_rows(call, cursor)) return false;
    if ((cursor->scroll & SCROLL_AUTO_FETCH) && (cursor->scroll & SCROLL_AUTO_CLOSE) &&
        cursor->size == row_count) {
        handle = 0;
        remove_cursor(call, cursor);
        cursor = NULL;
    }
    set_output(call, args->cursor, handle);
    set_output(call, args->concurrency, CONCURRENCY_READ_ONLY);
    set_output(call, args->row_count,
               cursor && !is_forward_only(cursor) ? row_count
               : cursor                           ? -1
                                                  : row_count);
    if (cursor)
        set_output(call, args->scroll,
                   is_forward_only(cursor)
                       ? cursor->scroll & (SCROLL_FORWARD_ONLY | SCROLL_FAST_FORWARD)
                       : SCROLL_STATIC);
    return true;
}

static bool not_declared(ProcCall *call)
{
    SimError error = SIM_ERROR_INIT;

    if (call->flow == FLOW_CLOSE || call->flow == FLOW_THROWN) return true;
    (void)sim_error(&error, 16945, "The cursor was not declared.");
    error.state = 2;
    error.line  = 1;
    (void)snprintf(error.procedure, sizeof error.procedure, "%.*s", STR_ARG(call->name));
    session_send_message(call->session, &error);
    *call->error = error;
    call->status = 16945;
    return session_alive(call->session, call->error);
}

/* Not a SELECT: it runs as it is and gives what it gives. */
static bool run_direct(ProcCall *call, const OpenArgs *args, const StmtList *stmts, Str definitions,
                       int64_t concurrency)
{
    if (!(concurrency & CONCURRENCY_ALLOW_DIRECT))
        return sim_error(call->error, 16937,
                         "A server cursor is not allowed on a remote stored procedure or stored "
                         "procedure with more than one SELECT statement. Use a default result set "
                         "or client cursor.");
    session_send_info(call->session, 16954, 10, 1, 1, "Executing SQL directly; no cursor.");
    set_output(call, args->cursor, 0);
    set_output(call, args->row_count, -1);
    return prepared_run(call, stmts, definitions, args->first_value);
}

static bool open_cursor(ProcCall *call, const OpenArgs *args, const StmtList *stmts,
                        Str definitions)
{
    SimSession *session = call->session;
    int64_t     scroll = SCROLL_FAST_FORWARD, concurrency = CONCURRENCY_READ_ONLY;

    if (!read_number(call, args->scroll, &scroll) ||
        !read_number(call, args->concurrency, &concurrency))
        return false;
    if (!is_one_select(stmts)) return run_direct(call, args, stmts, definitions, concurrency);
    Cursor *cursor = new_cursor(session, scroll);
    Keeper  keeper = {.sink   = {.columns    = keep_columns,
                                 .row        = keep_row,
                                 .message    = pass_message,
                                 .done       = swallow_done,
                                 .env_change = pass_env},
                      .outer  = session->sink,
                      .cursor = cursor};
    session->sink  = &keeper.sink;
    bool ok        = prepared_run(call, stmts, definitions, args->first_value);
    session->sink  = keeper.outer;
    if (!ok || !keeper.has_columns || call->flow != FLOW_NEXT) {
        free_cursor(cursor);
        set_output(call, args->cursor, 0);
        return ok && not_declared(call);
    }
    return finish_open(call, args, cursor);
}

static bool sp_cursoropen(ProcCall *call)
{
    static const OpenArgs args = {0, 2, 3, 4, 6};
    Str                   text, definitions = STR_EMPTY;
    StmtList              stmts;

    if (!prepared_text(call, 1, "@stmt", &text)) return false;
    if (call->count > 5) (void)proc_text(call, 5, &definitions);
    if (!prepared_parse(call, text, call->arena, &stmts)) return false;
    return open_cursor(call, &args, &stmts, definitions);
}

/* --- prepared ones --- */

static bool sp_cursorprepare(ProcCall *call)
{
    Str       definitions, text;
    Prepared *prepared;

    (void)proc_text(call, 1, &definitions);
    if (!prepared_text(call, 2, "@stmt", &text)) return false;
    prepared = prepared_make(call, definitions, text);
    if (!prepared) return false;
    set_output(call, 0, prepared->handle);
    call->args[0].is_output = true;
    return true;
}

static bool sp_cursorexecute(ProcCall *call)
{
    static const OpenArgs args     = {1, 2, 3, 4, 5};
    const Prepared       *prepared = prepared_find(call, 0);

    return prepared && open_cursor(call, &args, &prepared->stmts, prepared->definitions);
}

static bool sp_cursorprepexec(ProcCall *call)
{
    static const OpenArgs args = {1, 4, 5, 6, 7};
    Str                   definitions, text;

    (void)proc_text(call, 2, &definitions);
    if (!prepared_text(call, 3, "@stmt", &text)) return false;
    if (!prepared_replace(call, 0)) return false;
    const Prepared *prepared = prepared_make(call, definitions, text);
    if (!prepared) return false;
    set_output(call, 0, prepared->handle);
    call->args[0].is_output = true;
    return open_cursor(call, &args, &prepared->stmts, prepared->definitions);
}

static bool sp_cursorunprepare(ProcCall *call)
{
    Prepared *prepared = prepared_find(call, 0);

    if (prepared) prepared_drop(call, prepared);
    return prepared != NULL;
}

/* --- fetching --- */

static const char *fetch_name(int64_t kind)
{
    switch (kind) {
    case FETCH_FIRST: return "FIRST";
    case FETCH_PREV:
    case FETCH_PREV_NOADJUST: return "PREVIOUS";
    case FETCH_LAST: return "LAST";
    case FETCH_ABSOLUTE: return "ABSOLUTE";
    case FETCH_RELATIVE: return "RELATIVE";
    default: return "";
    }
}

/* Rows from `first` on. In front of all of them there is none; a block that begins there and reaches in becomes the first
 * one, which the return status 2 tells. */
static void move_to(ProcCall *call, Cursor *cursor, int64_t first, int64_t rows, bool adjusts)
{
    int64_t count = (int64_t)cursor->rows.count;

    if (first < 1 && first + rows > 1) {
        if (!adjusts) rows = first + rows - 1;
        if (adjusts) call->status = 2;
        first = 1;
    }
    cursor->first = MIN(MAX(first, 0), count + 1);
    cursor->size  = first < 1 || first > count ? 0 : MIN(rows, count - first + 1);
}

static bool fetch(ProcCall *call, Cursor *cursor, int64_t kind, int64_t row, int64_t rows)
{
    int64_t count = (int64_t)cursor->rows.count;

    switch (kind) {
    case FETCH_FIRST:
        cursor->first = cursor->size = 0;
        if (rows > 0) move_to(call, cursor, 1, rows, false);
        return true;
    case FETCH_NEXT:
        move_to(call, cursor, cursor->first + MAX(cursor->size, cursor->first == 0), rows, false);
        return true;
    case FETCH_PREV:
        move_to(call, cursor, cursor->first - rows, rows, cursor->first > 1);
        return true;
    case FETCH_PREV_NOADJUST: move_to(call, cursor, cursor->first - rows, rows, false); return true;
    case FETCH_LAST:
        move_to(call, cursor, rows > 0 ? MAX(count - rows + 1, 1) : count + 1, rows, false);
        return true;
    case FETCH_ABSOLUTE:
        move_to(call, cursor, row >= 0 ? row : count + row + 1, row == 0 ? 0 : rows, true);
        return true;
    case FETCH_RELATIVE: move_to(call, cursor, cursor->first + row, rows, true); return true;
    case FETCH_REFRESH: return true;
    default: break;
    }
    return sim_error(call->error, 16902, "%.*s: The value of the parameter 'fetchtype' is invalid.",
                     STR_ARG(call->name));
}

static bool sp_cursorfetch(ProcCall *call)
{
    Cursor *cursor = find_cursor(call);
    int64_t kind = FETCH_NEXT, row = 0, rows = ROWS_IF_NOT_SAID;

    if (!cursor || !read_number(call, 1, &kind)) return false;
    if (kind == FETCH_INFO) {
        set_output(call, 2, MIN(cursor->first, (int64_t)cursor->rows.count));
        set_output(call, 3, is_forward_only(cursor) ? -1 : (int64_t)cursor->rows.count);
        return true;
    }
    if (!read_number(call, 2, &row) || !read_number(call, 3, &rows)) return false;
    if (is_forward_only(cursor) && kind != FETCH_NEXT && kind != FETCH_REFRESH && *fetch_name(kind))
        return sim_error(call->error, 16911,
                         "%.*s: The fetch type FETCH_%s cannot be used with forward only cursors.",
                         STR_ARG(call->name), fetch_name(kind));
    if (rows < 0)
        return sim_error(call->error, 16902, "%.*s: The value of the parameter 'nrows' is invalid.",
                         STR_ARG(call->name));
    return fetch(call, cursor, kind, row, rows) && send_rows(call, cursor);
}

/* --- the rest --- */

static bool sp_cursorclose(ProcCall *call)
{
    int64_t handle = 0;

    if (!proc_i64(call, 0, &handle)) return false;
    if (handle == -1) {
        session_drop_cursors(call->session);
        return true;
    }
    Cursor *cursor = find_cursor(call);
    if (cursor) remove_cursor(call, cursor);
    return cursor != NULL;
}

static bool sp_cursoroption(ProcCall *call)
{
    enum { OPTION_NAME = 2, OPTION_SCROLL = 4, OPTION_CONCURRENCY = 5, OPTION_ROW_COUNT = 6 };
    Cursor *cursor = find_cursor(call);
    int64_t option = 0;
    Str     name;

    if (!cursor || !read_number(call, 1, &option)) return false;
    if (option == OPTION_NAME && proc_text(call, 2, &name))
        cursor->name = str_copy(cursor->arena, name);
    if (option == OPTION_SCROLL)
        set_output(call, 2, is_forward_only(cursor) ? cursor->scroll & 0xFF : SCROLL_STATIC);
    if (option == OPTION_CONCURRENCY) set_output(call, 2, CONCURRENCY_READ_ONLY);
    if (option == OPTION_ROW_COUNT) set_output(call, 2, (int64_t)cursor->rows.count);
    return true;
}

static bool sp_cursor(ProcCall *call)
{
    enum { CHANGE_UPDATE = 1, CHANGE_DELETE = 2, CHANGE_INSERT = 4, ROW_REFRESH = 8 };
    Cursor *cursor = find_cursor(call);
    int64_t what = 0, row = 0;

    if (!cursor || !read_number(call, 1, &what) || !read_number(call, 2, &row)) return false;
    if (what & (CHANGE_UPDATE | CHANGE_DELETE | CHANGE_INSERT))
        return sim_error(call->error, 16929, "The cursor is READ ONLY.");
    if (row < 0 || row > cursor->size)
        return sim_error(call->error, 16902,
                         "%.*s: The value of the parameter 'rownum' is invalid.",
                         STR_ARG(call->name));
    if (!(what & ROW_REFRESH)) return true; /* a position or a lock: nothing to see */
    return row == 0 ? send_rows(call, cursor)
                    : send_range(call, cursor, cursor->first + row - 1, 1);
}

const ProcEntry cursor_procs[] = {
    {"sp_cursor", sp_cursor, "*"},
    {"sp_cursoropen", sp_cursoropen, "*"},
    {"sp_cursorfetch", sp_cursorfetch, "*"},
    {"sp_cursorclose", sp_cursorclose, "*"},
    {"sp_cursoroption", sp_cursoroption, "*"},
    {"sp_cursorprepare", sp_cursorprepare, "*"},
    {"sp_cursorexecute", sp_cursorexecute, "*"},
    {"sp_cursorprepexec", sp_cursorprepexec, "*"},
    {"sp_cursorunprepare", sp_cursorunprepare, "*"},
    {NULL, NULL, NULL},
};
