/* result.c - what a session says: columns, rows, messages, and the end of each statement. */
#include "sim/session/front_internal.h"

#include <stdarg.h>
#include <stdio.h>

bool session_alive(SimSession *session, SimError *error)
{
    if (session->watch.has_pending) {
        *error                     = session->watch.pending;
        session->watch.has_pending = false;
        return false;
    }
    if (atomic_load(&session->waiter.killed)) {
        sim_error(error, 596,
                  "Cannot continue the execution because the session is in the kill state.");
        error->severity = 21;
        return false;
    }
    if (atomic_load(&session->waiter.attention)) {
        sim_error(error, SIM_ATTENTION, "Operation cancelled by user.");
        error->ends_batch = true;
        return false;
    }
    if (session->sink_failed) {
        sim_error(error, SIM_ATTENTION, "The client is gone.");
        error->ends_batch = true;
        return false;
    }
    return true;
}

static bool noted(SimSession *session, bool ok)
{
    if (!ok) session->sink_failed = true;
    return ok;
}

bool session_send_columns(SimSession *session, const SimResultColumn *columns, size_t count)
{
    session->columns_sent = true;
    return noted(session, session->sink->columns(session->sink, columns, count));
}

static void count_row(SimSession *session)
{
    stat_add(&session->stats.rows_returned, 1);
    stat_add(&session->statement_stats.rows_returned, 1);
}

/* By a fault that waits for rows, or one that slows them. */
static bool is_watched(const SimSession *session)
{
    return session->watch.is_armed || session->watch.row_pace_ns > 0;
}

static bool goes_on(const SimSession *session)
{
    return !session->watch.has_pending && !session->sink_failed &&
           !atomic_load(&session->waiter.killed) && !atomic_load(&session->waiter.attention);
}

bool session_send_row(SimSession *session, const SimValue *values, size_t count)
{
    count_row(session);
    if (!is_watched(session))
        return noted(session, session->sink->row(session->sink, values, count));
    control_rows(session, true);
    if (!noted(session, session->sink->row(session->sink, values, count))) return false;
    control_rows(session, false);
    return goes_on(session);
}

bool session_send_wires(SimSession *session, const Bytes *wires, const SimValue *values,
                        size_t count)
{
    count_row(session);
    if (!is_watched(session))
        return noted(session, session->sink->wire_row(session->sink, wires, values, count));
    control_rows(session, true);
    if (!noted(session, session->sink->wire_row(session->sink, wires, values, count))) return false;
    control_rows(session, false);
    return goes_on(session);
}

bool session_send_message(SimSession *session, const SimError *message)
{
    if (message->severity > 10 && session->traced_error == 0)
        session->traced_error = message->number;
    return session->sink_failed ? false
                                : noted(session, session->sink->message(session->sink, message));
}

bool session_send_info(SimSession *session, int32_t number, int severity, int state, int32_t line,
                       const char *fmt, ...)
{
    SimError message = {
        .number = number, .severity = (uint8_t)severity, .state = (uint8_t)state, .line = line};
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(message.message, sizeof message.message, fmt, args);
    va_end(args);
    return session_send_message(session, &message);
}

bool session_send_done(SimSession *session, uint16_t command, bool has_count, int64_t count,
                       bool has_error)
{
    SimDone done = {.kind      = session->frame && session->frame->in_procedure ? SIM_DONE_IN_PROC
                                                                                : SIM_DONE_STATEMENT,
                    .has_count = has_count,
                    .has_error = has_error,
                    .in_transaction = session->tran_count > 0,
                    .command        = command,
                    .row_count      = has_count ? count : 0};

    return session->sink_failed ? false : noted(session, session->sink->done(session->sink, &done));
}

/* --- values and result sets of our own procedures --- */
SimValue value_text(Arena *arena, Str utf8)
{
    return sim_nvarchar(arena, utf8);
}

SimValue value_int(int64_t value)
{
    return sim_int(value, SIM_INT);
}

SimValue value_bigint(int64_t value)
{
    return sim_int(value, SIM_BIGINT);
}

SimValue value_bit(bool value)
{
    return sim_int(value, SIM_BIT);
}

SimValue value_null(void)
{
    return sim_null(sim_type(SIM_INT));
}

SimValue value_lsn(Arena *arena, Lsn lsn)
{
    Str bytes = str_copy(arena, (Str){(const char *)lsn.bytes, LSN_BYTES});
    return sim_binary(str_bytes(bytes), LSN_BYTES);
}

SimValue value_datetime(int64_t local_us)
{
    return sim_datetime_from_us(local_us);
}

bool proc_columns(ProcCall *call, const ResultSpec *specs, size_t count)
{
    SimResultColumn *columns = ARENA_ARRAY(call->arena, SimResultColumn, count + 1);

    for (size_t i = 0; i < count; i++) {
        columns[i].name        = str_from_c(specs[i].name);
        columns[i].is_nullable = true;
        if (!sim_type_parse(str_from_c(specs[i].type), &columns[i].type))
            return sim_not_supported(call->error, "the type %s", specs[i].type);
    }
    call->types = columns;
    return session_send_columns(call->session, columns, count) ||
           session_alive(call->session, call->error);
}

bool proc_row(ProcCall *call, const SimValue *values, size_t count)
{
    SimValue *row = ARENA_ARRAY(call->arena, SimValue, count + 1);

    for (size_t i = 0; i < count; i++)
        if (values[i].is_null)
            row[i] = sim_null(call->types[i].type);
        else if (!sim_convert(&values[i], &call->types[i].type, 0, false, call->arena, &row[i],
                              call->error))
            return false;
    return session_send_row(call->session, row, count) || session_alive(call->session, call->error);
}

bool proc_done(ProcCall *call, int64_t row_count)
{
    call->session->row_count = row_count;
    return session_send_done(call->session, 193, true, row_count, false) ||
           session_alive(call->session, call->error);
}
