/* proc.c - procedures by name: finding them, their arguments, EXEC. */
#include "sim/catalog/catalog_internal.h"
#include "sim/session/session_internal.h"

#include <string.h>

static const ProcEntry *find_in(const ProcEntry *entries, Str name)
{
    for (; entries->name; entries++)
        if (sim_name_equal(str_from_c(entries->name), name)) return entries;
    return NULL;
}

const ProcEntry *proc_find(SimSession *session, const ObjectName *name)
{
    const ProcEntry *found = NULL;

    if (sim_name_equal(name->schema, STR("tidesim"))) return find_in(control_procs, name->name);
    if (!str_is_empty(name->schema) && !sim_name_equal(name->schema, STR("sys")) &&
        !sim_name_equal(name->schema, STR("dbo")))
        return NULL;
    found = find_in(session_procs, name->name);
    if (!found) found = find_in(cursor_procs, name->name);
    if (!found) found = find_in(cdc_procs, name->name);
    if (!found) found = find_in(cdc_job_procs, name->name);
    if (!found) found = find_in(config_procs, name->name);
    if (!found) found = find_in(catalog_procs, name->name);
    if (!found) found = find_in(text_procs, name->name);
    bool is_new = found && str_equal_c(str_from_c(found->name), "sp_columns_170");
    return is_new && front_version(session) < 2025 ? NULL : found;
}

bool proc_unknown(ProcCall *call, const ObjectName *name, Str text)
{
    bool is_system = str_is_empty(name->schema) || sim_name_equal(name->schema, STR("sys")) ||
                     sim_name_equal(name->schema, STR("dbo"));
    bool is_newer = sim_name_equal(name->name, STR("sp_columns_170")); /* than the server says */

    if (is_system && !is_newer &&
        (sim_name_equal(name->database, STR("msdb")) ||
         system_name_is_known(call->arena, name->name)))
        return sim_not_supported(call->error, "the procedure %.*s", STR_ARG(name->name));
    return sim_error(call->error, 2812, "Could not find stored procedure '%.*s'.", STR_ARG(text));
}

static size_t parameter_count(const ProcEntry *entry)
{
    size_t count = *entry->parameters != '\0';

    for (const char *at = entry->parameters; *at; at++)
        count += *at == ',';
    return count;
}

static Str parameter_name(Str parameter)
{
    ptrdiff_t space = str_find_char(parameter, ' ', 0);
    return space < 0 ? parameter : str_slice(parameter, 0, (size_t)space);
}

static ptrdiff_t parameter_index(const ProcEntry *entry, Str name)
{
    Str       rest = str_from_c(entry->parameters), part;
    ptrdiff_t at   = 0;

    if (name.len > 0 && name.ptr[0] == '@') name = str_slice(name, 1, name.len);
    for (; str_split_next(&rest, ',', &part); at++)
        if (sim_name_equal(parameter_name(part), name)) return at;
    return -1;
}

/* Puts args in the order of `parameters`; 8144, 8145. */
static bool proc_bind_args(ProcCall *call, const ProcEntry *entry)
{
    size_t   count = parameter_count(entry);
    ProcArg *args  = ARENA_ARRAY(call->arena, ProcArg, count + 1);

    for (size_t i = 0; i < count; i++)
        args[i] = (ProcArg){.value = value_null(), .is_default = true};
    for (size_t i = 0; i < call->count; i++) {
        ptrdiff_t at = str_is_empty(call->args[i].name)
                           ? (ptrdiff_t)i
                           : parameter_index(entry, call->args[i].name);
        if (at < 0)
            return sim_error(call->error, 8145, "%.*s is not a parameter for procedure %s.",
                             STR_ARG(call->args[i].name), entry->name);
        if ((size_t)at >= count)
            return sim_error(call->error, 8144,
                             "Procedure or function %s has too many arguments specified.",
                             entry->name);
        args[at] = call->args[i];
    }
    call->args  = args;
    call->count = count;
    return true;
}

bool proc_bind_args_unless_open(ProcCall *call, const ProcEntry *entry)
{
    return str_equal_c(str_from_c(entry->parameters), "*") || proc_bind_args(call, entry);
}

const SimValue *proc_arg(const ProcCall *call, size_t index)
{
    return index < call->count && !call->args[index].is_default ? &call->args[index].value : NULL;
}

bool proc_text(ProcCall *call, size_t index, Str *out)
{
    const SimValue *value = proc_arg(call, index);

    *out = STR_EMPTY;
    if (!value || value->is_null) return false;
    *out = sim_value_text(call->arena, value);
    return true;
}

bool proc_i64(ProcCall *call, size_t index, int64_t *out)
{
    const SimValue *value = proc_arg(call, index);
    SimType         type  = sim_type(SIM_BIGINT);
    SimValue        number;

    if (!value || value->is_null) return true;
    if (!sim_convert(value, &type, 0, true, call->arena, &number, call->error)) return false;
    *out = number.i64;
    return true;
}

void proc_set_output(ProcCall *call, size_t index, const SimValue *value)
{
    call->args[index].value = value_copy(call->arena, value);
}

/* --- procedures that are text of ours --- */
static bool declare_argument(ProcCall *call, Str parameter, size_t index)
{
    Frame          *frame = call->session->frame;
    Str             name  = parameter_name(parameter);
    const SimValue *value = proc_arg(call, index);
    SimType         type  = sim_type_sized(SIM_NVARCHAR, 8000);
    SimValue        converted;

    if (name.len < parameter.len &&
        !sim_type_parse(str_slice(parameter, name.len + 1, parameter.len), &type))
        return sim_not_supported(call->error, "the type of %.*s", STR_ARG(parameter));
    Variable *variable = frame_declare(frame, str_printf(frame->arena, "@%.*s", STR_ARG(name)),
                                       &type);
    if (!value || value->is_null) return true;
    if (!sim_convert(value, &type, 0, true, call->arena, &converted, call->error)) return false;
    variable_set(variable, &converted);
    return true;
}

bool proc_text_run(ProcCall *call)
{
    SimSession *session = call->session;
    StmtList    stmts   = {0};
    Str         rest    = str_from_c(call->entry->parameters), part;
    bool        ok      = true;

    frame_push(session, true);
    for (size_t i = 0; ok && str_split_next(&rest, ',', &part); i++)
        ok = declare_argument(call, part, i);
    ok = ok &&
         sim_parse(proc_text_of(call->entry), true, session->frame->arena, &stmts, call->error);
    if (ok) {
        call->flow = run_statements(session, &stmts);
        if (call->flow == FLOW_RETURN) call->flow = FLOW_NEXT;
        const Variable *status = frame_find(session->frame, STR("@status")); /* if it has one */
        if (status && !status->value.is_null) call->status = (int32_t)status->value.i64;
    }
    frame_pop(session);
    return ok;
}

/* --- EXEC --- */
static Flow exec_text(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error,
                      bool *failed)
{
    SimValue value;

    if (!run_expression(session, stmt->expr, arena, &value, error)) {
        *failed = true;
        return FLOW_NEXT;
    }
    if (value.is_null) return FLOW_NEXT;
    SessionOptions options  = session->options;
    size_t         contexts = session->contexts.count;
    frame_push(session, true);
    Flow flow = run_text(session, sim_value_text(arena, &value));
    frame_pop(session);
    context_revert_to(session, contexts);
    session->options = options;
    session_use_options(session);
    if (flow == FLOW_END && session->scope_ended) flow = FLOW_NEXT;
    return flow == FLOW_RETURN ? FLOW_NEXT : flow;
}

static bool exec_args(SimSession *session, const Stmt *stmt, ProcCall *call)
{
    call->args  = ARENA_ARRAY(call->arena, ProcArg, stmt->exec_args.count + 1);
    call->count = stmt->exec_args.count;
    for (size_t i = 0; i < call->count; i++) {
        const ExecArg *from = &stmt->exec_args.items[i];
        ProcArg       *arg  = &call->args[i];
        arg->name           = from->name;
        arg->is_output      = from->is_output;
        if (from->value->kind == EXPR_DEFAULT) {
            arg->is_default = true;
            continue;
        }
        if (from->is_output && from->value->kind == EXPR_VARIABLE) arg->target = from->value->text;
        if (!run_expression(session, from->value, call->arena, &arg->value, call->error))
            return false;
    }
    return true;
}

static bool store_variable(SimSession *session, Str name, const SimValue *value, Arena *arena,
                           SimError *error)
{
    Variable *variable = frame_find(session->frame, name);
    SimValue  stored;

    if (!variable)
        return sim_error(error, 137, "Must declare the scalar variable \"%.*s\".", STR_ARG(name));
    stored = sim_null(variable->type);
    if (!value->is_null && !sim_convert(value, &variable->type, 0, true, arena, &stored, error))
        return false;
    variable_set(variable, &stored);
    return true;
}

static bool exec_outputs(SimSession *session, const ProcCall *call)
{
    for (size_t i = 0; i < call->count; i++)
        if (call->args[i].is_output && !str_is_empty(call->args[i].target) &&
            !store_variable(session, call->args[i].target, &call->args[i].value, call->arena,
                            call->error))
            return false;
    return true;
}

static bool is_control(const ProcEntry *entry)
{
    for (const ProcEntry *control = control_procs; control->name; control++)
        if (control == entry) return true;
    return false;
}

bool proc_run(ProcCall *call, const ProcEntry *entry)
{
    SimSession *session = call->session;

    if (session->proc_depth >= 32)
        return sim_error(call->error, 217,
                         "Maximum stored procedure, function, trigger, or view nesting level "
                         "exceeded (limit 32).");
    session->proc_depth++;
    call->flow  = FLOW_NEXT;
    call->entry = entry;
    if (is_control(entry)) session->io_is_aside = true;
    bool ok = entry->run(call);
    session->proc_depth--;
    if (!ok && call->error->number != 0 && call->error->procedure[0] == '\0') {
        Str name = str_from_c(entry->name);
        memcpy(call->error->procedure, name.ptr, MIN(name.len, sizeof call->error->procedure - 1));
        if (call->error->line == 0) call->error->line = 1;
    }
    return ok;
}

Flow run_exec(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
              SimError *error, bool *failed)
{
    ObjectName name = stmt->object;

    (void)result;
    if (stmt->kind == STMT_EXEC_TEXT) return exec_text(session, stmt, arena, error, failed);
    if (name.name.len > 0 && name.name.ptr[0] == '@') {
        Variable *variable = frame_find(session->frame, name.name);
        name.name = variable && !variable->value.is_null ? sim_value_text(arena, &variable->value)
                                                         : name.name;
        ptrdiff_t dot = str_find_last_char(name.name, '.');
        if (dot >= 0) {
            name.schema = str_slice(name.name, 0, (size_t)dot);
            name.name   = str_slice(name.name, (size_t)dot + 1, name.name.len);
        }
    }
    const ProcEntry *entry  = proc_find(session, &name);
    const SimModule *module = entry ? NULL : module_find(session, &name);
    ProcCall         call = {.session = session, .arena = arena, .name = name.name, .error = error};
    SimDatabase     *database = session->database;
    Str              user     = session->user;
    *failed                   = true;
    if (!entry && !module) {
        (void)proc_unknown(&call, &name,
                           str_printf(arena, "%.*s%s%.*s", STR_ARG(name.schema),
                                      name.schema.len ? "." : "", STR_ARG(name.name)));
        return FLOW_NEXT;
    }
    if (!exec_args(session, stmt, &call)) return FLOW_NEXT;
    if (!str_is_empty(name.database) && !sim_name_equal(name.schema, STR("tidesim")) &&
        !session_use_database(session, name.database, error))
        return FLOW_NEXT;
    SessionOptions options = session->options;
    bool           ok      = module || proc_bind_args_unless_open(&call, entry);
    if (module) {
        ok = module_call(&call, module);
    } else {
        frame_push(session, true);
        ok = ok && proc_run(&call, entry);
        frame_pop(session);
    }
    session->options = options;
    session_use_options(session);
    if (!str_is_empty(name.database)) {
        session->database = database;
        session->user     = user;
    }
    if (ok && call.flow == FLOW_NEXT) ok = exec_outputs(session, &call);
    if (ok && call.flow == FLOW_NEXT && !str_is_empty(stmt->variable)) {
        SimValue status = value_int(call.status);
        ok              = store_variable(session, stmt->variable, &status, arena, error);
    }
    *failed = !ok;
    if (!ok || call.flow == FLOW_THROWN || call.flow == FLOW_CLOSE || session->sink_failed ||
        (module && call.flow == FLOW_END))
        return call.flow;
    SimDone done = {.kind    = session->frame->in_procedure ? SIM_DONE_IN_PROC : SIM_DONE_PROC,
                    .command = 224,
                    .in_transaction = session->tran_count > 0};
    if (!session->frame->in_procedure && session->sink->return_status)
        session->sink_failed |= !session->sink->return_status(session->sink, call.status);
    session->sink_failed |= !session->sink->done(session->sink, &done);
    return call.flow;
}
