/* request.c - what a client asks for: batches, remote procedure calls, transaction requests, resets. */
#include "sim/session/front_internal.h"

#include <string.h>

/* --- around every request --- */
void request_begin(SimSession *session, SimSink *sink)
{
    if (!session->is_aside) turn_take(session->waiter.turns, session->waiter.turn);
    session_forget_bulk(session);
    session->sink          = sink;
    session->sink_failed   = atomic_load(&session->is_gone);
    session->request_arena = arena_new();
    session->request_us    = sim_server_local_us(session->server);
    session->watch         = (RowWatch){.is_armed = false};
    session->io_is_aside   = false;
    session_publish(session, true);
}

static void end_doomed(SimSession *session)
{
    if (!session->doomed || session->tran_count == 0) return;
    SimError error = SIM_ERROR_INIT;
    sim_error(&error, 3998,
              "Uncommittable transaction is detected at the end of the batch. The transaction is "
              "rolled back.");
    error.line = 1;
    session_abandon(session);
    session_send_message(session, &error);
}

bool request_end(SimSession *session, Flow flow)
{
    bool alive = flow != FLOW_CLOSE && !session->sink_failed;

    while (session->frame && session->frame->outer)
        frame_pop(session);
    session->statement_depth = 0;
    session->inserts_exec    = false;
    session->has_caught      = false;
    session->proc_depth      = 0;
    if (alive) end_doomed(session);
    if (atomic_load(&session->waiter.killed)) {
        SimError error = SIM_ERROR_INIT;
        sim_error(&error, 596,
                  "Cannot continue the execution because the session is in the kill state.");
        error.severity = 21;
        if (alive) session_send_message(session, &error);
        session_abandon(session);
        alive = false;
    }
    if (atomic_exchange(&session->waiter.attention, false) && !session->sink_failed) {
        SimDone done = {.kind           = SIM_DONE_STATEMENT,
                        .is_attention   = true,
                        .in_transaction = session->tran_count > 0};
        if (session->options.xact_abort) session_abandon(session);
        alive = session->sink->done(session->sink, &done) && alive;
    }
    if (session->close_wanted || session->ends_after) alive = false;
    session_publish(session, false);
    control_trace_end(session);
    arena_close(session->request_arena);
    session->request_arena = NULL;
    session->sink          = NULL;
    if (!session->is_aside) turn_give(session->waiter.turns, session->waiter.turn);
    return alive;
}

Flow run_text(SimSession *session, Str sql)
{
    StmtList stmts = {0};
    SimError error = SIM_ERROR_INIT;
    Arena   *arena = session->frame->arena;

    if (!sim_parse(str_copy(arena, sql), session->options.quoted_identifier, arena, &stmts,
                   &error)) {
        error.ends_batch = error.ends_scope = true;
        return run_failed(session, NULL, &error, 253, false);
    }
    if (!describe_check_names(session, &stmts, &error)) {
        error.ends_batch = error.ends_scope = true;
        return run_failed(session, NULL, &error, 253, false);
    }
    return run_statements(session, &stmts);
}

bool sim_session_batch(SimSession *session, Str sql, SimSink *sink)
{
    Flow flow;

    request_begin(session, sink);
    frame_push(session, false);
    control_trace(session, sql, NULL, 0);
    flow = run_text(session, sql);
    return request_end(session, flow);
}

/* --- remote procedure calls --- */
static const char *const proc_ids[] = {NULL,
                                       "sp_cursor",
                                       "sp_cursoropen",
                                       "sp_cursorprepare",
                                       "sp_cursorexecute",
                                       "sp_cursorprepexec",
                                       "sp_cursorunprepare",
                                       "sp_cursorfetch",
                                       "sp_cursoroption",
                                       "sp_cursorclose",
                                       "sp_executesql",
                                       "sp_prepare",
                                       "sp_execute",
                                       "sp_prepexec",
                                       "sp_prepexecrpc",
                                       "sp_unprepare"};

/* "[db].[sys].sp_columns", "..sp_columns", "sp_columns;1" */
static ObjectName split_name(Arena *arena, Str text)
{
    ObjectName name    = name_split(arena, text);
    ptrdiff_t  version = str_find_char(name.name, ';', 0);

    if (version >= 0) name.name = str_slice(name.name, 0, (size_t)version);
    return name;
}

/* An output has the type of the client's parameter, whatever the procedure declares. */
static bool output_of(SimSession *session, const ProcCall *call, const ProcArg *arg, SimValue *out)
{
    SimError error = SIM_ERROR_INIT;

    *out = sim_null(arg->declared);
    if (arg->value.is_null ||
        sim_convert(&arg->value, &arg->declared, 0, true, call->arena, out, &error))
        return true;
    error.line = 1;
    session_send_message(session, &error);
    if (call->error->number == 0) *call->error = error;
    *out = sim_null(arg->declared);
    return !session->sink_failed;
}

static bool send_outputs(SimSession *session, const ProcCall *call)
{
    SimSink *sink = session->sink;
    SimValue value;
    bool     ok = !sink->return_status || sink->return_status(sink, call->status);

    for (size_t i = 0; ok && i < call->count; i++)
        if (call->args[i].is_output && sink->return_value)
            ok = output_of(session, call, &call->args[i], &value) &&
                 sink->return_value(sink, call->args[i].name, &value);
    SimDone done = {.kind           = SIM_DONE_PROC,
                    .command        = 224,
                    .in_transaction = session->tran_count > 0,
                    .has_error      = call->error->number != 0};
    ok           = ok && sink->done(sink, &done);
    if (!ok) session->sink_failed = true;
    return ok;
}

#define PARAMETERS_MOST 2100

static Flow run_rpc(SimSession *session, ProcCall *call, const ObjectName *name)
{
    const ProcEntry *entry    = proc_find(session, name);
    const SimModule *module   = entry ? NULL : module_find(session, name);
    SimDatabase     *database = session->database;
    Str              user     = session->user;
    bool             ok       = false;

    if (call->count > PARAMETERS_MOST) {
        sim_error(call->error, 8003,
                  "The incoming request has too many parameters. The server supports a maximum of "
                  "%d parameters. Reduce the number of parameters and resend the request.",
                  PARAMETERS_MOST);
    } else if (!entry && !module) {
        (void)proc_unknown(call, name, call->name);
    } else {
        SessionOptions options = session->options;
        ok = str_is_empty(name->database) || sim_name_equal(name->schema, STR("tidesim")) ||
             session_use_database(session, name->database, call->error);
        ok = ok && control_call(session, name, call->name, call->error);
        if (ok && module)
            ok = module_call(call, module);
        else
            ok = ok && proc_bind_args_unless_open(call, entry) && proc_run(call, entry);
        if (module || entry->run != session_reset_proc) session->options = options;
        session_use_options(session);
        if (!str_is_empty(name->database)) {
            session->database = database;
            session->user     = user;
        }
    }
    if (!ok) return run_failed(session, NULL, call->error, 224, false);
    return call->flow;
}

bool sim_session_rpc(SimSession *session, uint16_t proc_id, Str name, const SimParameter *params,
                     size_t count, SimSink *sink)
{
    SimError error = SIM_ERROR_INIT;

    request_begin(session, sink);
    Arena   *arena = session->request_arena;
    ProcCall call  = {
         .session = session, .arena = arena, .name = name, .error = &error, .count = count};
    if (proc_id > 0 && proc_id < COUNT_OF(proc_ids)) call.name = str_from_c(proc_ids[proc_id]);
    call.args = ARENA_ARRAY(arena, ProcArg, count + 1);
    for (size_t i = 0; i < count; i++) {
        Str parameter = params[i].name;
        if (parameter.len > 0 && parameter.ptr[0] != '@')
            parameter = str_printf(arena, "@%.*s",
                                   STR_ARG(parameter)); /* tiberius leaves the @ out */
        call.args[i] = (ProcArg){.name       = parameter,
                                 .value      = params[i].value,
                                 .is_output  = params[i].is_output,
                                 .is_default = params[i].is_default,
                                 .declared   = params[i].value.type};
    }
    ObjectName object = split_name(arena, call.name);
    frame_push(session, true);
    control_trace(session, call.name, call.args, count);
    Flow flow = run_rpc(session, &call, &object);
    if (flow != FLOW_CLOSE && !session->sink_failed && !atomic_load(&session->waiter.attention))
        (void)send_outputs(session, &call);
    return request_end(session, flow);
}

/* --- transaction manager requests --- */
static bool tm_run(SimSession *session, SimTmRequest request, Str name, int isolation,
                   SimError *error)
{
    static const SimIsolation levels[] = {SIM_READ_COMMITTED, SIM_READ_UNCOMMITTED,
                                          SIM_READ_COMMITTED, SIM_REPEATABLE_READ,
                                          SIM_SERIALIZABLE,   SIM_SNAPSHOT};

    switch (request) {
    case SIM_TM_BEGIN:
        if (isolation > 0 && isolation < (int)COUNT_OF(levels))
            session->options.isolation = levels[isolation];
        return session_begin(session, name);
    case SIM_TM_COMMIT: return session_commit(session, error);
    case SIM_TM_ROLLBACK: return session_rollback(session, name, error);
    case SIM_TM_SAVE: return session_save(session, name, error);
    }
    return sim_not_supported(error, "this transaction manager request");
}

static Str tm_name(SimTmRequest request)
{
    switch (request) {
    case SIM_TM_BEGIN: return STR("begin transaction (request)");
    case SIM_TM_COMMIT: return STR("commit (request)");
    case SIM_TM_ROLLBACK: return STR("rollback (request)");
    case SIM_TM_SAVE: break;
    }
    return STR("save transaction (request)");
}

bool sim_session_transaction_request(SimSession *session, SimTmRequest request, Str name,
                                     int isolation, bool begin_next, int next_isolation,
                                     SimSink *sink)
{
    SimError error = SIM_ERROR_INIT;
    Flow     flow  = FLOW_NEXT;

    request_begin(session, sink);
    frame_push(session, false);
    control_trace(session, tm_name(request), NULL, 0);
    bool ok = tm_run(session, request, name, isolation, &error);
    if (ok && begin_next) ok = tm_run(session, SIM_TM_BEGIN, STR_EMPTY, next_isolation, &error);
    if (ok)
        session_send_done(session,
                          request == SIM_TM_BEGIN      ? 212
                          : request == SIM_TM_COMMIT   ? 213
                          : request == SIM_TM_ROLLBACK ? 210
                                                       : 214,
                          false, 0, false);
    else
        flow = run_failed(session, NULL, &error, 253, false);
    return request_end(session, flow);
}

/* --- reset --- */
static void reset_state(SimSession *session, bool keep_transaction)
{
    SimIsolation isolation = session->options.isolation;
    SimError     ignored   = SIM_ERROR_INIT;

    if (!keep_transaction) session_abandon(session);
    session->options           = session->login_options;
    session->options.isolation = isolation; /* not reset (2.7) */
    session_use_options(session);
    session_drop_prepared(session);
    session_drop_cursors(session);
    context_revert_to(session, 0);
    cursors_free(&session->sql_cursors);
    session->fetch_status = -1;
    session_drop_temps(session, NULL);
    session->identity_insert = NULL;
    session->scope_identity = session->identity = sim_null(sim_type_numeric(38, 0));
    map_close(session->context);
    session->context = map_new();
    if (session->database != session->login_database &&
        !session_use_database(session, sim_database_name(session->login_database), &ignored))
        session->close_wanted = true;
}

void sim_session_reset(SimSession *session, bool keep_transaction, SimSink *sink)
{
    Bytes    none  = {NULL, 0};
    SimSink *outer = session->sink;

    session->sink = NULL; /* the transaction's end is part of the reset, nothing to tell */
    reset_state(session, keep_transaction);
    session->sink = outer;
    if (sink && sink->env_change)
        session->sink_failed |= !sink->env_change(sink, SIM_ENV_RESET, none, none);
}

/* A client that calls it by name learns of its transaction's end as of any other: what it sends next names the transaction it is in. */
bool session_reset_proc(ProcCall *call)
{
    session_abandon(call->session);
    sim_session_reset(call->session, false, call->session->sink);
    return true;
}
