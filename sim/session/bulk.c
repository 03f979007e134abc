/* bulk.c - between an INSERT BULK and the message that brings its rows. */
#include "sim/session/session_internal.h"

struct Bulk {
    Arena   *arena;
    StmtList stmts; /* the one */
};

void session_forget_bulk(SimSession *session)
{
    if (session->bulk) arena_close(session->bulk->arena);
    session->bulk = NULL;
}

bool session_announce_bulk(SimSession *session, const Stmt *stmt, SimError *error)
{
    Arena *arena = arena_new();
    Bulk  *bulk  = ARENA_NEW(arena, Bulk);

    *bulk = (Bulk){.arena = arena};
    if (!sim_parse(str_copy(arena, stmt->source), session->options.quoted_identifier, arena,
                   &bulk->stmts, error)) {
        arena_close(arena);
        return false;
    }
    session_forget_bulk(session);
    session->bulk = bulk;
    return true;
}

bool sim_session_expects_bulk(const SimSession *session)
{
    return session->bulk != NULL;
}

bool sim_session_bulk(SimSession *session, SimBulkSource *source, SimSink *sink)
{
    Bulk *bulk = session->bulk;

    session->bulk = NULL;
    request_begin(session, sink);
    frame_push(session, false);
    session->bulk_source = source;
    Flow flow            = run_statements(session, &bulk->stmts);
    session->bulk_source = NULL;
    bool alive           = request_end(session, flow);
    arena_close(bulk->arena);
    return alive;
}
