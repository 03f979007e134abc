/* statement.c - statements one after the other: control flow, errors and what they end (sqlserver.md 2.5), SELECT. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <string.h>

/* --- expressions by themselves --- */
static bool run_node(SimSession *session, const Expr *expr, bool predicate, Arena *arena,
                     SimValue *out, Truth *truth_out, SimError *error)
{
    Exec    exec;
    Arena  *scratch = arena_new();
    Binder *binder  = binder_new(session, scratch, error);
    Node   *node    = NULL;
    bool    ok      = false;

    session_statement_begin(session);
    exec_begin(&exec, session, scratch, error);
    if (!(predicate ? bind_predicate(binder, NULL, expr, &node)
                    : bind_expr(binder, NULL, expr, &node)))
        goto done;
    if (!binder_check_permissions(binder)) goto done;
    binder_start(binder, &exec);
    if (predicate) {
        *truth_out = node->test(node, &exec);
        ok         = *truth_out != TRUTH_ERROR;
    } else {
        const SimValue *value = node_eval(node, &exec);
        if (value) *out = value_copy(arena, value);
        ok = value != NULL;
    }
done:
    exec_end(&exec);
    if (!session_statement_end(session, ok, error)) ok = false;
    if (!ok && error->line == 0) error->line = expr->line;
    arena_close(scratch);
    return ok;
}

bool run_expression(SimSession *session, const Expr *expr, Arena *arena, SimValue *out,
                    SimError *error)
{
    if (expr->kind == EXPR_LITERAL && !sim_database_collation(session->database)) {
        *out = expr->value;
        return true;
    }
    return run_node(session, expr, false, arena, out, NULL, error);
}

bool run_condition(SimSession *session, const Expr *expr, bool *out, SimError *error)
{
    Truth truth = TRUTH_UNKNOWN;

    if (!run_node(session, expr, true, NULL, NULL, &truth, error)) return false;
    *out = truth == TRUTH_TRUE;
    return true;
}

/* --- errors --- */
static bool is_of_compiling(const Stmt *stmt, const SimError *error)
{
    if (error->ends_scope) return true;
    if (stmt && (stmt->kind == STMT_THROW || stmt->kind == STMT_RAISERROR ||
                 stmt->kind == STMT_EXEC || stmt->kind == STMT_EXEC_TEXT))
        return false;
    return sim_error_is_of_compiling(error->number);
}

/* A TRY sees what its own text's compilation could not have found out before, and everything of the texts it calls. */
static bool is_in_try(const SimSession *session, bool compiling)
{
    const Frame *frame = session->frame;

    for (frame = compiling && frame ? frame->outer : frame; frame; frame = frame->outer)
        if (frame->try_depth > 0) return true;
    return false;
}

static void place_error(SimSession *session, const Stmt *stmt, SimError *error)
{
    Frame  *frame = session->frame;
    int32_t line  = error->line;

    if (error->of_2025 != NULL && sim_server_version(session->server) >= 2025) {
        (void)sim_not_supported(error, "%s", error->of_2025);
        error->line = line;
    }
    if (!stmt || stmt->kind != STMT_THROW) session_translate(session, error);
    if (error->line == 0 && error->procedure[0] == '\0') error->line = stmt ? stmt->line : 1;
    if (!frame || error->severity <= 10) return;
    frame->worst  = MAX(frame->worst, error->severity - 10);
    bool rethrown = stmt && stmt->kind == STMT_THROW && stmt->args.count == 0;
    if (frame->module && error->procedure[0] == '\0' && !rethrown) {
        Str name = frame->module->name;
        memcpy(error->procedure, name.ptr, MIN(name.len, sizeof error->procedure - 1));
    }
}

bool session_is_in_try(const SimSession *session)
{
    for (const Frame *frame = session->frame; frame; frame = frame->outer)
        if (frame->try_depth > 0) return true;
    return false;
}

Flow run_failed(SimSession *session, const Stmt *stmt, SimError *error, uint16_t command,
                bool is_dml)
{
    bool compiling = is_of_compiling(stmt, error);

    place_error(session, stmt, error);
    session->last_error  = error->number;
    session->row_count   = 0;
    session->scope_ended = false;
    if (error->number == SIM_ATTENTION) return FLOW_END;
    if (error->rolls_back) session_abandon(session);
    if (is_in_try(session, compiling) && error->severity < 20) {
        if (session->tran_count > 0 &&
            (session->options.xact_abort || (error->ends_batch && !compiling)))
            session->doomed = true;
        session->caught            = *error;
        session->caught.ends_scope = compiling;
        session->caught_frame      = session->frame;
        session->has_caught        = true;
        return FLOW_THROWN;
    }
    session_send_message(session, error);
    if (error->severity >= 20) return FLOW_CLOSE;
    bool ends            = error->ends_batch;
    session->scope_ended = ends && compiling;
    if (session->options.xact_abort && error->severity > 10 &&
        !(stmt && stmt->kind == STMT_RAISERROR)) {
        session_abandon(session);
        ends                 = true;
        session->scope_ended = false;
    }
    if (is_dml && !ends)
        session_send_info(session, 3621, 0, 0, error->line, "The statement has been terminated.");
    session_send_done(session, command, false, 0, true);
    return ends ? FLOW_END : FLOW_NEXT;
}

/* --- SELECT --- */
typedef struct SinkTarget {
    RowTarget   target;
    SimSession *session;
    int64_t     limit; /* SET ROWCOUNT */
} SinkTarget;

static bool sink_row(RowTarget *target, Exec *exec, const SimValue *values, size_t count)
{
    return session_send_row(((SinkTarget *)target)->session, values, count) ||
           session_alive(exec->session, exec->error);
}

static bool sink_wires(RowTarget *target, Exec *exec, const Bytes *wires, const SimValue *values,
                       size_t count)
{
    return session_send_wires(((SinkTarget *)target)->session, wires, values, count) ||
           session_alive(exec->session, exec->error);
}

typedef struct AssignTarget {
    RowTarget   target;
    SelectPlan *plan;
} AssignTarget;

static bool assign_row(RowTarget *target, Exec *exec, const SimValue *values, size_t count)
{
    const SelectPlan *plan = ((AssignTarget *)target)->plan;

    for (size_t i = 0; i < count; i++) {
        Variable *variable = frame_find(exec->session->frame, plan->outs[i].assign_to);
        SimValue  value;
        if (!variable)
            return sim_error(exec->error, 137, "Must declare the scalar variable \"%.*s\".",
                             STR_ARG(plan->outs[i].assign_to));
        if (!value_store(exec, &values[i], &variable->type, exec->scratch, &value)) return false;
        variable_set(variable, &value);
    }
    return true;
}

void select_columns(const SelectPlan *plan, SimResultColumn *columns)
{
    for (size_t i = 0; i < plan->out_count; i++) {
        const OutColumn *out = &plan->outs[i];
        columns[i]           = (SimResultColumn){.name        = out->name,
                                                 .type        = out->node->type,
                                                 .is_nullable = out->is_nullable,
                                                 .is_identity = out->is_identity,
                                                 .is_computed = out->is_computed};
        if (sim_type_is_text(columns[i].type.kind) && !columns[i].type.collation)
            columns[i].type.collation = sim_collation_default();
        columns[i].is_case_sensitive = sim_type_is_text(columns[i].type.kind) &&
                                       sim_collation_is_case_sensitive(columns[i].type.collation);
    }
}

Op *row_limit(const SimSession *session, Op *op, Arena *arena)
{
    if (session->options.row_limit <= 0) return op;
    SimValue  rows  = sim_int(session->options.row_limit, SIM_BIGINT);
    LimitSpec limit = {.top = node_const(arena, &rows, 0)};
    return op_limit(arena, op, &limit);
}

bool run_select(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error)
{
    Exec        exec;
    Binder     *binder = binder_new(session, arena, error);
    SelectPlan *plan   = NULL;
    bool        ok     = false;

    if (stmt->select->into.name.len > 0)
        return run_select_into(session, stmt, arena, result, error);
    exec_begin(&exec, session, arena, error);
    if (!bind_select(binder, NULL, stmt->select, &plan)) goto done;
    if (!binder_check_permissions(binder)) goto done;
    plan->op = row_limit(session, plan->op, arena);
    if (plan->assigns) {
        AssignTarget target = {.target = {.row = assign_row}, .plan = plan};
        binder_start(binder, &exec);
        ok = select_run(&exec, plan, &target.target, &result->count);
    } else {
        SinkTarget       target  = {.target = {.row = sink_row}, .session = session};
        SimResultColumn *columns = ARENA_ARRAY(arena, SimResultColumn, plan->out_count + 1);
        select_columns(plan, columns);
        if (session->sink->wire_row != NULL) target.target.wires = sink_wires;
        binder_start(binder, &exec);
        if (!session_send_columns(session, columns, plan->out_count) &&
            !session_alive(session, error))
            goto done;
        ok = session->options.fmtonly || select_run(&exec, plan, &target.target, &result->count);
    }
    result->has_count = true;
done:
    exec_end(&exec);
    return ok;
}

/* --- statements that run inside a transaction of their own --- */
typedef bool (*DataRun)(SimSession *session, const Stmt *stmt, Arena *arena,
                        StatementResult *result, SimError *error);

static DataRun data_run(StmtKind kind, uint16_t *command, bool *is_dml)
{
    *is_dml = false;
    switch (kind) {
    case STMT_SELECT: *command = 193; return run_select;
    case STMT_INSERT:
        *command = 195;
        *is_dml  = true;
        return run_insert;
    case STMT_INSERT_BULK:
        *command = 195;
        *is_dml  = true;
        return run_insert_bulk;
    case STMT_DELETE:
        *command = 196;
        *is_dml  = true;
        return run_delete;
    case STMT_UPDATE:
        *command = 197;
        *is_dml  = true;
        return run_update;
    case STMT_TRUNCATE: *command = 253; return run_ddl;
    case STMT_CREATE_TABLE: *command = 198; return run_ddl;
    case STMT_CREATE_INDEX: *command = 222; return run_ddl;
    case STMT_DROP_TABLE: *command = 199; return run_ddl;
    case STMT_ALTER_TABLE: *command = 216; return run_ddl;
    case STMT_DROP_INDEX:
    case STMT_CREATE_SCHEMA:
    case STMT_DROP_SCHEMA:
    case STMT_CREATE_DATABASE:
    case STMT_DROP_DATABASE:
    case STMT_ALTER_DATABASE: *command = 253; return run_ddl;
    case STMT_CREATE_LOGIN:
    case STMT_CREATE_USER:
    case STMT_CREATE_ROLE:
    case STMT_ALTER_ROLE:
    case STMT_DROP_PRINCIPAL:
    case STMT_ALTER_LOGIN:
    case STMT_GRANT: *command = 253; return run_principal;
    case STMT_CREATE_MODULE:
    case STMT_DROP_MODULE: *command = 253; return run_module;
    case STMT_MERGE:
        *command = 279;
        *is_dml  = true;
        return run_merge;
    case STMT_EXECUTE_AS:
    case STMT_REVERT:
    case STMT_DECLARE_CURSOR:
    case STMT_OPEN_CURSOR:
    case STMT_FETCH:
    case STMT_CLOSE_CURSOR:
    case STMT_DEALLOCATE:
    case STMT_USE:
    case STMT_DECLARE:
    case STMT_SET_VARIABLE:
    case STMT_SET_OPTION:
    case STMT_IF:
    case STMT_WHILE:
    case STMT_BLOCK:
    case STMT_BREAK:
    case STMT_CONTINUE:
    case STMT_RETURN:
    case STMT_WAITFOR:
    case STMT_PRINT:
    case STMT_RAISERROR:
    case STMT_THROW:
    case STMT_TRY:
    case STMT_EXEC:
    case STMT_EXEC_TEXT:
    case STMT_BEGIN_TRAN:
    case STMT_COMMIT:
    case STMT_ROLLBACK:
    case STMT_SAVE_TRAN:
    case STMT_KILL:
    case STMT_CHECKPOINT:
    case STMT_DBCC:
    case STMT_NOTHING: break;
    }
    return NULL;
}

static bool is_temporary_name(Str name)
{
    return name.len > 0 && (name.ptr[0] == '#' || name.ptr[0] == '@');
}

/* A secondary is only read; metadata has no versions, so SNAPSHOT transactions leave it alone. */
static bool may_run(SimSession *session, const Stmt *stmt, SimError *error)
{
    bool changes_tables = stmt->kind == STMT_ALTER_TABLE || stmt->kind == STMT_CREATE_INDEX ||
                          stmt->kind == STMT_DROP_INDEX;

    if (stmt->kind == STMT_SELECT || is_temporary_name(stmt->object.name)) return true;
    if (!session_may_write(session, error)) return false;
    if (!changes_tables || session->tran_count == 0 || session->options.isolation != SIM_SNAPSHOT)
        return true;
    return sim_error(error, 3964,
                     "Transaction failed because this DDL statement is not allowed inside a "
                     "snapshot isolation transaction. Since metadata is not versioned, a metadata "
                     "change can lead to inconsistency if mixed within snapshot isolation.");
}

static Flow run_data(SimSession *session, const Stmt *stmt, DataRun run, uint16_t command,
                     bool is_dml)
{
    Arena          *arena;
    StatementResult result = {.command = command};
    SimError        error  = SIM_ERROR_INIT;
    Flow            flow   = FLOW_NEXT;

    if (session->options.fmtonly && stmt->kind != STMT_SELECT)
        return FLOW_NEXT; /* described, not run */
    arena = arena_new();
    if (session->options.implicit_transactions && session->tran_count == 0 &&
        !(stmt->kind == STMT_SELECT && !stmt->select->from))
        session_begin(session, STR_EMPTY);
    session_stats_begin(session);
    session->columns_sent = false;
    stat_add(&session->stats.statements, 1);
    session_statement_begin(session);
    bool doomed = session->doomed && stmt->kind != STMT_SELECT;
    bool ok     = control_statement(session, stmt, &error) && session_alive(session, &error) &&
              may_run(session, stmt, &error);
    if (ok && doomed)
        ok = sim_error(&error, 3930,
                       "The current transaction cannot be committed and cannot support operations "
                       "that write to the log file. Roll back the "
                       "transaction.");
    ok = ok && run(session, stmt, arena, &result, &error);
    if (!session_statement_end(session, ok, &error)) ok = false;
    if (!ok) {
        if (stmt->kind == STMT_INSERT_BULK && !session->bulk_source) is_dml = false;
        flow = run_failed(session, stmt, &error, command, is_dml);
    } else {
        session->last_error = 0;
        session->row_count  = result.count;
        bool silent = result.is_silent || (session->options.nocount && !session->columns_sent);
        if (!silent)
            session_send_done(session, command, result.has_count && !session->options.nocount,
                              result.count, false);
    }
    arena_close(arena);
    return session->sink_failed ? FLOW_CLOSE : flow;
}

/* --- small statements --- */
static bool run_declare(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    for (size_t i = 0; i < stmt->variables.count; i++) {
        const VariableDef *def = &stmt->variables.items[i];
        if (def->is_table) {
            if (!run_declare_table(session, def, arena, error)) return false;
            continue;
        }
        SimValue  value    = sim_null(def->type), stored;
        Variable *variable = frame_find(session->frame, def->name);
        if (def->value && !run_expression(session, def->value, arena, &value, error)) return false;
        SimType type = def->type;
        if (sim_type_is_text(type.kind)) type.collation = sim_database_collation(session->database);
        if (!variable)
            variable = frame_declare(session->frame, def->name,
                                     &type);       /* again inside a loop: the same one */
        variable->type.collation = type.collation; /* it may have been described before a USE */
        if (!def->value) continue;
        stored = sim_null(def->type);
        if (!value.is_null && !session_convert(session, &value, &type, arena, &stored, error))
            return false;
        variable_set(variable, &stored);
    }
    return true;
}

static bool run_set_variable(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    Variable *variable = frame_find(session->frame, stmt->variable);
    SimValue  value, stored;

    if (!variable)
        return sim_error(error, 137, "Must declare the scalar variable \"%.*s\".",
                         STR_ARG(stmt->variable));
    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    stored = sim_null(variable->type);
    if (!value.is_null && !session_convert(session, &value, &variable->type, arena, &stored, error))
        return false;
    variable_set(variable, &stored);
    return true;
}

static bool run_wait(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value, time;
    SimType  type = sim_type_time(SIM_TIME, 7);

    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    if (value.is_null) return true;
    if (!sim_convert(&value, &type, 0, true, arena, &time, error))
        return sim_error(error, 148,
                         "Incorrect time syntax in time string '%.*s' used with WAITFOR.",
                         STR_ARG(sim_value_text(arena, &value)));
    int64_t us = time.time.ticks / 10;
    if (stmt->words.count > 0 && str_equal_ignoring_case(stmt->words.items[0], STR("TIME"))) {
        int64_t now = sim_server_local_us(session->server) % 86400000000;
        us          = us >= now ? us - now : us + 86400000000 - now;
    }
    return session_sleep(session, us, error);
}

static bool run_kill(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value;

    if (!session->login.is_sysadmin)
        return sim_error(error, 6102, "User does not have permission to use the KILL statement.");
    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    if (value.i64 == session->id)
        return sim_error(error, 6104, "Cannot use KILL to kill your own process.");
    if (!session_kill(session->front, (int32_t)value.i64))
        return sim_error(error, 6106, "Process ID %lld is not an active process ID.",
                         (long long)value.i64);
    return true;
}

static bool run_dbcc(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value;
    Str      command = stmt->words.count > 0 ? stmt->words.items[0] : STR_EMPTY;
    bool     on      = str_equal_ignoring_case(command, STR("TRACEON"));

    if (!on && !str_equal_ignoring_case(command, STR("TRACEOFF")))
        return sim_not_supported(error, "DBCC %.*s", STR_ARG(command));
    for (size_t i = 0; i < stmt->args.count; i++) {
        if (!run_expression(session, stmt->args.items[i], arena, &value, error)) return false;
        if (value.i64 > 0) sim_server_set_trace_flag(session->server, (int)value.i64, on);
    }
    return true;
}

static bool run_use(SimSession *session, const Stmt *stmt, SimError *error)
{
    Str old  = sim_database_name(session->database),
        name = str_is_empty(stmt->object.name) ? stmt->name : stmt->object.name;

    if (!session_use_database(session, name, error)) return false;
    Str now = sim_database_name(session->database);
    if (session->sink->env_change)
        session->sink_failed |= !session->sink->env_change(session->sink, SIM_ENV_DATABASE,
                                                           str_bytes(now), str_bytes(old));
    session_send_info(session, 5701, 0, 2, stmt->line, "Changed database context to '%.*s'.",
                      STR_ARG(now));
    return true;
}

static bool run_return(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value;

    if (!stmt->expr) return true;
    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    SimType  type   = sim_type(SIM_INT);
    SimValue status = sim_null(type);
    if (!value.is_null && !sim_convert(&value, &type, 0, true, arena, &status, error)) return false;
    if (status.is_null && session->frame->module)
        session_send_info(session, 282, 0, 0, stmt->line,
                          "The '%.*s' procedure attempted to return a status of NULL, which is "
                          "not allowed. A status of 0 will be returned instead.",
                          STR_ARG(session->frame->module->name));
    session->frame->has_status    = true;
    session->frame->return_status = status.is_null ? 0 : (int32_t)status.i64;
    return true;
}

/* Of a transaction or a savepoint: 32 characters count. */
static bool transaction_name(SimSession *session, const Stmt *stmt, Str *out, SimError *error)
{
    *out = stmt->name;
    if (str_is_empty(stmt->variable)) return true;
    const Variable *variable = frame_find(session->frame, stmt->variable);
    if (!variable)
        return sim_error(error, 137, "Must declare the scalar variable \"%.*s\".",
                         STR_ARG(stmt->variable));
    *out = variable->value.is_null ? STR_EMPTY
                                   : sim_value_text(session->request_arena, &variable->value);
    return true;
}

static bool run_transaction(SimSession *session, const Stmt *stmt, SimError *error)
{
    Str name;

    if (!transaction_name(session, stmt, &name, error)) return false;
    switch ((int)stmt->kind) { /* the four that come here */
    case STMT_COMMIT: return session_commit(session, error);
    case STMT_ROLLBACK: return session_rollback(session, name, error);
    case STMT_SAVE_TRAN: return session_save(session, name, error);
    default: break;
    }
    if (session->options.implicit_transactions && session->tran_count == 0)
        (void)session_begin(session, STR_EMPTY); /* it opens one like any other statement */
    return session_begin(session, name);
}

static bool run_small(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    switch (stmt->kind) {
    case STMT_USE: return run_use(session, stmt, error);
    case STMT_DECLARE: return run_declare(session, stmt, arena, error);
    case STMT_SET_VARIABLE: return run_set_variable(session, stmt, arena, error);
    case STMT_SET_OPTION: return run_set_option(session, stmt, arena, error);
    case STMT_WAITFOR: return run_wait(session, stmt, arena, error);
    case STMT_PRINT: return run_print(session, stmt, arena, error);
    case STMT_RAISERROR: return run_raiserror(session, stmt, arena, error);
    case STMT_THROW: return run_throw(session, stmt, arena, error);
    case STMT_RETURN: return run_return(session, stmt, arena, error);
    case STMT_BEGIN_TRAN:
    case STMT_COMMIT:
    case STMT_ROLLBACK:
    case STMT_SAVE_TRAN: return run_transaction(session, stmt, error);
    case STMT_EXECUTE_AS:
    case STMT_REVERT: return run_context(session, stmt, arena, error);
    case STMT_KILL: return run_kill(session, stmt, arena, error);
    case STMT_DBCC: return run_dbcc(session, stmt, arena, error);
    case STMT_CHECKPOINT: return true;
    case STMT_NOTHING: return stmt->words.count == 0 || session_reconfigure(session, error);
    case STMT_SELECT:
    case STMT_INSERT:
    case STMT_INSERT_BULK:
    case STMT_UPDATE:
    case STMT_DELETE:
    case STMT_TRUNCATE:
    case STMT_CREATE_TABLE:
    case STMT_ALTER_TABLE:
    case STMT_DROP_TABLE:
    case STMT_CREATE_INDEX:
    case STMT_DROP_INDEX:
    case STMT_CREATE_SCHEMA:
    case STMT_DROP_SCHEMA:
    case STMT_CREATE_DATABASE:
    case STMT_DROP_DATABASE:
    case STMT_ALTER_DATABASE:
    case STMT_IF:
    case STMT_WHILE:
    case STMT_BLOCK:
    case STMT_BREAK:
    case STMT_CONTINUE:
    case STMT_TRY:
    case STMT_EXEC:
    case STMT_EXEC_TEXT:
    case STMT_CREATE_LOGIN:
    case STMT_CREATE_USER:
    case STMT_CREATE_ROLE:
    case STMT_ALTER_ROLE:
    case STMT_DROP_PRINCIPAL:
    case STMT_ALTER_LOGIN:
    case STMT_CREATE_MODULE:
    case STMT_DROP_MODULE:
    case STMT_MERGE:
    case STMT_DECLARE_CURSOR:
    case STMT_OPEN_CURSOR:
    case STMT_FETCH:
    case STMT_CLOSE_CURSOR:
    case STMT_DEALLOCATE:
    case STMT_GRANT: break;
    }
    return sim_not_supported(error, "this statement");
}

/* freebcp reads the columns of "SET FMTONLY ON select ... SET FMTONLY OFF" after its end, and forgets them at another DONE. */
static bool is_fmtonly(const Stmt *stmt)
{
    return stmt->kind == STMT_SET_OPTION && stmt->words.count > 0 &&
           str_equal_c(stmt->words.items[0], "FMTONLY");
}

/* What a DONE without a count names: every statement but declarations sends one. False: none. */
static bool small_command(StmtKind kind, uint16_t *command_out)
{
    *command_out = kind == STMT_BEGIN_TRAN   ? 212
                   : kind == STMT_COMMIT     ? 213
                   : kind == STMT_ROLLBACK   ? 210
                   : kind == STMT_SAVE_TRAN  ? 214
                   : kind == STMT_SET_OPTION ? 190
                                             : 0;
    return *command_out != 0 || kind == STMT_PRINT || kind == STMT_RAISERROR ||
           kind == STMT_SET_VARIABLE || kind == STMT_WAITFOR || kind == STMT_USE;
}

static Flow run_simple(SimSession *session, const Stmt *stmt)
{
    Arena   *arena        = arena_new();
    SimError error        = SIM_ERROR_INIT;
    Flow     flow         = FLOW_NEXT;
    uint16_t command      = 0;
    bool     sends_done   = small_command(stmt->kind, &command);
    bool     keeps_counts = stmt->kind == STMT_DECLARE || stmt->kind == STMT_PRINT ||
                        stmt->kind == STMT_RETURN || stmt->kind == STMT_SET_OPTION ||
                        stmt->kind == STMT_USE;

    stat_add(&session->stats.statements, 1);
    bool ok = control_statement(session, stmt, &error) && session_alive(session, &error) &&
              run_small(session, stmt, arena, &error);
    if (!ok) {
        flow = run_failed(session, stmt, &error, command, false);
    } else {
        session->last_error = 0;
        if (stmt->kind == STMT_SET_VARIABLE) session->row_count = 1;
        if (!keeps_counts && stmt->kind != STMT_SET_VARIABLE) session->row_count = 0;
        if (sends_done && !session->options.nocount && !is_fmtonly(stmt))
            session_send_done(session, command, false, 0, false);
        if (stmt->kind == STMT_RETURN) flow = FLOW_RETURN;
    }
    arena_close(arena);
    return session->sink_failed ? FLOW_CLOSE : flow;
}

/* --- control flow --- */
/* Each evaluation of a condition is a statement to the client. */
static void send_condition_done(SimSession *session)
{
    if (!session->options.nocount) session_send_done(session, 193, false, 0, false);
}

static Flow run_if(SimSession *session, const Stmt *stmt)
{
    SimError error = SIM_ERROR_INIT;
    bool     holds = false;

    if (!run_condition(session, stmt->expr, &holds, &error))
        return run_failed(session, stmt, &error, 193, false);
    send_condition_done(session);
    const Stmt *branch = holds ? stmt->then_branch : stmt->else_branch;
    return branch ? run_statement(session, branch) : FLOW_NEXT;
}

static Flow run_while(SimSession *session, const Stmt *stmt)
{
    for (;;) {
        SimError error = SIM_ERROR_INIT;
        bool     holds = false;
        if (!session_alive(session, &error) || !run_condition(session, stmt->expr, &holds, &error))
            return run_failed(session, stmt, &error, 193, false);
        send_condition_done(session);
        if (!holds) return FLOW_NEXT;
        Flow flow = run_statement(session, stmt->then_branch);
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (flow != FLOW_NEXT && flow != FLOW_CONTINUE) return flow;
    }
}

static Flow run_try(SimSession *session, const Stmt *stmt)
{
    SimError before     = session->caught; /* what an outer CATCH is about */
    bool     had_caught = session->has_caught;

    session->frame->try_depth++;
    Flow flow = run_statement(session, stmt->then_branch);
    session->frame->try_depth--;
    if (flow != FLOW_THROWN) return flow;
    if (session->caught.ends_scope && session->caught_frame == session->frame)
        return flow; /* an outer text's TRY is meant */
    flow = stmt->else_branch ? run_statement(session, stmt->else_branch) : FLOW_NEXT;
    if (flow != FLOW_THROWN) {
        session->has_caught = had_caught;
        session->caught     = before;
    }
    return flow;
}

static Flow run_procedure(SimSession *session, const Stmt *stmt)
{
    Arena          *arena  = arena_new();
    StatementResult result = {.command = 224};
    SimError        error  = SIM_ERROR_INIT;
    bool            failed = false;
    Flow            flow   = FLOW_NEXT;

    stat_add(&session->stats.statements, 1);
    if (!control_statement(session, stmt, &error) || !session_alive(session, &error))
        failed = true;
    else
        flow = run_exec(session, stmt, arena, &result, &error, &failed);
    if (failed)
        flow = run_failed(session, stmt, &error, 224, false);
    else if (flow == FLOW_RETURN)
        flow = FLOW_NEXT;
    arena_close(arena);
    return session->sink_failed ? FLOW_CLOSE : flow;
}

static Flow run_cursor_statement(SimSession *session, const Stmt *stmt)
{
    Arena          *arena  = arena_new();
    StatementResult result = {.command = 193};
    SimError        error  = SIM_ERROR_INIT;
    Flow            flow   = FLOW_NEXT;

    session->stats.statements++;
    session->columns_sent = false;
    bool ok = control_statement(session, stmt, &error) && session_alive(session, &error) &&
              run_cursor(session, stmt, arena, &result, &error);
    if (!ok) {
        flow = run_failed(session, stmt, &error, 193, false);
    } else {
        session->last_error = 0;
        if (stmt->kind == STMT_FETCH) session->row_count = result.count;
        if (!result.is_silent || !session->options.nocount)
            session_send_done(session, 193, !result.is_silent && !session->options.nocount,
                              result.count, false);
    }
    arena_close(arena);
    return session->sink_failed ? FLOW_CLOSE : flow;
}

/* As sys.dm_exec_requests names it. */
static const char *command_of(StmtKind kind)
{
    switch ((int)kind) { /* the rest are told apart by nobody */
    case STMT_INSERT: return "INSERT";
    case STMT_UPDATE: return "UPDATE";
    case STMT_DELETE: return "DELETE";
    case STMT_TRUNCATE: return "TRUNCATE TABLE";
    case STMT_CREATE_TABLE: return "CREATE TABLE";
    case STMT_ALTER_TABLE: return "ALTER TABLE";
    case STMT_DROP_TABLE: return "DROP TABLE";
    case STMT_CREATE_INDEX: return "CREATE INDEX";
    case STMT_DROP_INDEX: return "DROP INDEX";
    case STMT_ALTER_DATABASE: return "ALTER DATABASE";
    case STMT_COMMIT: return "COMMIT TRANSACTION";
    case STMT_ROLLBACK: return "ROLLBACK TRANSACTION";
    case STMT_WAITFOR: return "WAITFOR";
    case STMT_EXEC:
    case STMT_EXEC_TEXT: return "EXECUTE";
    case STMT_KILL: return "KILL";
    default: return "SELECT";
    }
}

Flow run_statement(SimSession *session, const Stmt *stmt)
{
    uint16_t    command = 0;
    bool        is_dml  = false;
    const Stmt *outer   = session->stmt;
    Flow        flow    = FLOW_NEXT;

    session->stmt = stmt;
    atomic_store_explicit(&session->public.command, command_of(stmt->kind), memory_order_relaxed);
    session_publish(session, true);
    DataRun run = data_run(stmt->kind, &command, &is_dml);
    if (run) {
        flow = run_data(session, stmt, run, command, is_dml);
    } else {
        switch (stmt->kind) {
        case STMT_IF: flow = run_if(session, stmt); break;
        case STMT_WHILE: flow = run_while(session, stmt); break;
        case STMT_BLOCK: flow = run_statements(session, &stmt->body); break;
        case STMT_TRY: flow = run_try(session, stmt); break;
        case STMT_BREAK: flow = FLOW_BREAK; break;
        case STMT_CONTINUE: flow = FLOW_CONTINUE; break;
        case STMT_EXEC:
        case STMT_EXEC_TEXT: flow = run_procedure(session, stmt); break;
        case STMT_DECLARE_CURSOR:
        case STMT_OPEN_CURSOR:
        case STMT_FETCH:
        case STMT_CLOSE_CURSOR:
        case STMT_DEALLOCATE: flow = run_cursor_statement(session, stmt); break;
        case STMT_SELECT:
        case STMT_INSERT:
        case STMT_INSERT_BULK:
        case STMT_UPDATE:
        case STMT_DELETE:
        case STMT_TRUNCATE:
        case STMT_CREATE_TABLE:
        case STMT_ALTER_TABLE:
        case STMT_DROP_TABLE:
        case STMT_CREATE_INDEX:
        case STMT_DROP_INDEX:
        case STMT_CREATE_SCHEMA:
        case STMT_DROP_SCHEMA:
        case STMT_CREATE_DATABASE:
        case STMT_DROP_DATABASE:
        case STMT_ALTER_DATABASE:
        case STMT_USE:
        case STMT_DECLARE:
        case STMT_SET_VARIABLE:
        case STMT_SET_OPTION:
        case STMT_RETURN:
        case STMT_WAITFOR:
        case STMT_PRINT:
        case STMT_RAISERROR:
        case STMT_THROW:
        case STMT_BEGIN_TRAN:
        case STMT_COMMIT:
        case STMT_ROLLBACK:
        case STMT_SAVE_TRAN:
        case STMT_CREATE_LOGIN:
        case STMT_CREATE_USER:
        case STMT_CREATE_ROLE:
        case STMT_ALTER_ROLE:
        case STMT_DROP_PRINCIPAL:
        case STMT_ALTER_LOGIN:
        case STMT_EXECUTE_AS:
        case STMT_REVERT:
        case STMT_CREATE_MODULE:
        case STMT_DROP_MODULE:
        case STMT_MERGE:
        case STMT_GRANT:
        case STMT_KILL:
        case STMT_CHECKPOINT:
        case STMT_DBCC:
        case STMT_NOTHING: flow = run_simple(session, stmt); break;
        }
    }
    session->stmt = outer;
    return flow;
}

Flow run_statements(SimSession *session, const StmtList *stmts)
{
    for (size_t i = 0; i < stmts->count; i++) {
        Flow flow = run_statement(session, stmts->items[i]);
        if (flow != FLOW_NEXT) return flow;
    }
    return FLOW_NEXT;
}
