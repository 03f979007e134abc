/* watch.c - what tests look at: statistics and the trace of requests. */
#include "sim/session/front_internal.h"

#include <errno.h>
#include <string.h>

#define TRACE_LINES_MOST 100000 /* kept in memory */

/* --- stats --- */

static void put_stats(const SimSession *session, SimStats stats[2])
{
    stats[0] = sim_session_stats(session, true);
    stats[1] = sim_session_stats(session, false);
}

bool control_stats(ProcCall *call)
{
    static const ResultSpec specs[] = {
        {"scope", "varchar(10)"}, {"rows_examined", "bigint"}, {"rows_returned", "bigint"},
        {"seeks", "bigint"},      {"scans", "bigint"},         {"lock_waits", "bigint"},
        {"bytes_sent", "bigint"}, {"blocked_ns", "bigint"},    {"statements", "bigint"}};
    Front   *front = call->session->front;
    int64_t  id    = call->session->id;
    SimStats stats[2];
    bool     found = false;

    if (!proc_i64(call, 0, &id) || (id != call->session->id && !control_need_sysadmin(call)))
        return false;
    front_lock(front); /* a session in the list does not end */
    for (SimSession *session = front->sessions; session && !found; session = session->next) {
        found = session->id == id;
        if (found) put_stats(session, stats);
    }
    front_unlock(front);
    if (!found)
        return sim_error(call->error, 6106, "Process ID %lld is not an active process ID.",
                         (long long)id);
    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < 2; i++) {
        SimValue row[] = {value_text(call->arena, i ? STR("total") : STR("last")),
                          value_bigint(stats[i].rows_examined),
                          value_bigint(stats[i].rows_returned),
                          value_bigint(stats[i].seeks),
                          value_bigint(stats[i].scans),
                          value_bigint(stats[i].lock_waits),
                          value_bigint(stats[i].bytes_sent),
                          value_bigint(stats[i].blocked_ns),
                          value_bigint(stats[i].statements)};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
    }
    return proc_done(call, 2);
}

/* --- the trace --- */

static void put_one_line(Buf *buf, Str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\n')
            buf_append_c(buf, "\\n");
        else if (c == '\r')
            buf_append_c(buf, "\\r");
        else if (c == '\\')
            buf_append_c(buf, "\\\\");
        else
            buf_append_char(buf, c);
    }
}

static void put_value(Buf *buf, Arena *arena, const SimValue *value)
{
    if (value->is_null) {
        buf_append_c(buf, "NULL");
    } else if (sim_type_is_binary(value->type.kind)) {
        buf_printf(buf, "0x%.*s", STR_ARG(hex_encode(arena, value->bytes, true)));
    } else if (sim_type_is_number(value->type.kind)) {
        buf_append(buf, sim_value_text(arena, value));
    } else {
        buf_append_char(buf, '\'');
        put_one_line(buf, sim_value_text(arena, value));
        buf_append_char(buf, '\'');
    }
}

void control_trace(SimSession *session, Str text, const ProcArg *args, size_t count)
{
    Arena *arena = session->request_arena;
    Buf    line  = buf_new(arena, 0);

    session->traced = STR_EMPTY;
    if (!atomic_load(&session->front->traces) || session->is_aside) return;
    buf_printf(&line, "%d: ", session->id);
    put_one_line(&line, text);
    for (size_t i = 0; i < count; i++) {
        buf_append_c(&line, i ? ", " : " ");
        if (!str_is_empty(args[i].name)) buf_printf(&line, "%.*s=", STR_ARG(args[i].name));
        put_value(&line, arena, &args[i].value);
        if (args[i].is_output) buf_append_c(&line, " output");
    }
    session->traced          = buf_str(&line);
    session->traced_rows     = atomic_load(&session->stats.rows_returned);
    session->traced_examined = atomic_load(&session->stats.rows_examined);
    session->traced_error    = 0;
}

static void keep_line(Front *front, Str line)
{
    front_lock(front);
    if (front->trace_file) {
        (void)fprintf(front->trace_file, "%.*s\n", STR_ARG(line));
        (void)fflush(front->trace_file);
    } else if (front->trace.count < TRACE_LINES_MOST) {
        *LIST_PUSH(front->arena, &front->trace) = str_copy(front->arena, line);
    }
    front_unlock(front);
}

void control_trace_end(SimSession *session)
{
    int64_t rows     = atomic_load(&session->stats.rows_returned) - session->traced_rows;
    int64_t examined = atomic_load(&session->stats.rows_examined) - session->traced_examined;
    Buf     line     = buf_new(session->request_arena, 0);

    if (str_is_empty(session->traced)) return;
    buf_append(&line, session->traced);
    buf_printf(&line, " -> %lld row%s", (long long)rows, rows == 1 ? "" : "s");
    if (examined > 0) buf_printf(&line, ", %lld examined", (long long)examined);
    if (session->traced_error != 0) buf_printf(&line, ", error %d", session->traced_error);
    keep_line(session->front, buf_str(&line));
}

static void close_file(Front *front)
{
    if (front->trace_file) (void)fclose(front->trace_file);
    front->trace_file = NULL;
}

bool sim_control_trace(SimServer *server, Str path, SimError *error)
{
    Front *front = front_of(server);
    Arena *arena = arena_new();
    FILE  *file  = str_is_empty(path) ? NULL : fopen(str_c(arena, path), "we");
    int    code  = errno;

    arena_close(arena);
    if (!str_is_empty(path) && !file)
        return sim_error(error, 50000, "The trace %.*s cannot be written: %s.", STR_ARG(path),
                         strerror(code)); // NOLINT(concurrency-mt-unsafe)
    front_lock(front);
    close_file(front);
    front->trace_file = file;
    atomic_store(&front->traces, file != NULL);
    front_unlock(front);
    return true;
}

static bool list_trace(ProcCall *call)
{
    static const ResultSpec specs[] = {{"line", "nvarchar(max)"}};
    Front                  *front   = call->session->front;
    Str                    *lines;
    size_t                  count;

    front_lock(front);
    count = front->trace.count;
    lines = ARENA_ARRAY(call->arena, Str, count + 1);
    for (size_t i = 0; i < count; i++)
        lines[i] = front->trace.items[i];
    front_unlock(front);
    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < count; i++) {
        SimValue row[] = {value_text(call->arena, lines[i])};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
    }
    return proc_done(call, (int64_t)count);
}

bool control_trace_proc(ProcCall *call)
{
    SimServer *server = call->session->server;
    Front     *front  = call->session->front;
    Str        mode, path;

    if (!control_need_sysadmin(call)) return false;
    if (proc_text(call, 1, &path)) return sim_control_trace(server, path, call->error);
    if (!proc_text(call, 0, &mode)) return list_trace(call);
    if (sim_name_equal(mode, STR("off"))) return sim_control_trace(server, STR_EMPTY, call->error);
    if (!sim_name_equal(mode, STR("on")))
        return sim_error(call->error, 50000, "A trace is on or off, or goes to @file.");
    atomic_store(&front->traces, true);
    return true;
}
