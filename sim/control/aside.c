/* aside.c - sessions of the server's own: what hooks, gates and faults run in. */
#include "sim/session/front_internal.h"

typedef struct AsideSink {
    SimSink  sink; /* first */
    SimError error;
} AsideSink;

static bool on_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    (void)sink, (void)columns, (void)count;
    return true;
}

static bool on_row(SimSink *sink, const SimValue *values, size_t count)
{
    (void)sink, (void)values, (void)count;
    return true;
}

static bool on_message(SimSink *sink, const SimError *message)
{
    AsideSink *aside = (AsideSink *)sink;

    if (message->severity > 10 && aside->error.number == 0) aside->error = *message;
    return true;
}

static bool on_done(SimSink *sink, const SimDone *done)
{
    (void)sink, (void)done;
    return true;
}

SimSession *aside_open(Front *front, Str database, SimError *error)
{
    SimLoginRequest login   = {.user     = front->login,
                               .password = front->password,
                               .database = database,
                               .app_name = STR("tidesim"),
                               .odbc     = true};
    SimSession     *session = NULL;

    login.is_aside = true;
    return sim_session_open(front->server, &login, &session, error) ? session : NULL;
}

void aside_close(SimSession *session)
{
    sim_session_close(session);
}

bool aside_run(Front *front, SimSession *caller, Str database, Str sql, SimError *error)
{
    AsideSink sink = {
        .sink = {.columns = on_columns, .row = on_row, .message = on_message, .done = on_done}};
    SimSession *session = aside_open(front, database, error);
    bool        ok;

    if (!session) return false;
    if (caller) sim_waiter_set_inner(front->server, &caller->waiter, &session->waiter);
    ok = sim_session_batch(session, sql, &sink.sink) && sink.error.number == 0;
    if (caller) sim_waiter_set_inner(front->server, &caller->waiter, NULL);
    aside_close(session);
    if (ok) return true;
    if (sink.error.number == 0)
        return sim_error(error, 50000, "The text that a control runs ended its session.");
    *error = sink.error;
    return false;
}
