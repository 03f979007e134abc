/* module.c - procedures and views: making and dropping them, calling procedures. What a module names is looked up when it runs; its tables are read
 * with the rights of its owner, who owns every table here. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <string.h>

static bool is_view(const Stmt *stmt)
{
    return str_equal_c(stmt->words.items[1], "VIEW");
}

/* --- CREATE and ALTER --- */
static bool check_body(SimSession *session, const Stmt *stmt, SimError *error)
{
    frame_push(session, true);
    for (size_t i = 0; i < stmt->variables.count; i++) {
        const VariableDef *parameter = &stmt->variables.items[i];
        frame_declare(session->frame, parameter->name, &parameter->type);
    }
    bool ok = describe_check_body(session, &stmt->then_branch->body, error);
    frame_pop(session);
    return ok;
}

/* A view has the columns its query had when it was made. */
static bool name_columns(SimSession *session, Stmt *stmt, Arena *kept, Arena *arena,
                         SimError *error)
{
    Binder     *binder = binder_new(session, arena, error);
    SelectPlan *plan   = NULL;

    binder->is_trusted = true;
    if (!bind_select(binder, NULL, stmt->select, &plan)) return false;
    if (stmt->columns.count > 0) {
        if (stmt->columns.count == plan->out_count) return true;
        return stmt->columns.count < plan->out_count
                   ? sim_error(error, 8158,
                               "'%.*s' has more columns than were specified in the column list.",
                               STR_ARG(stmt->object.name))
                   : sim_error(error, 8159,
                               "'%.*s' has fewer columns than were specified in the column list.",
                               STR_ARG(stmt->object.name));
    }
    for (size_t i = 0; i < plan->out_count; i++) {
        if (str_is_empty(plan->outs[i].name))
            return sim_error(error, 4511,
                             "Create View or Function failed because no column name was specified "
                             "for column %zu.",
                             i + 1);
        for (size_t k = 0; k < i; k++)
            if (sim_name_equal(plan->outs[k].name, plan->outs[i].name))
                return sim_error(error, 4506,
                                 "Column names in each view or function must be unique. Column "
                                 "name '%.*s' in view or function '%.*s' is specified more than "
                                 "once.",
                                 STR_ARG(plan->outs[i].name), STR_ARG(stmt->object.name));
        *LIST_PUSH(kept, &stmt->columns) = str_copy(kept, plan->outs[i].name);
    }
    return true;
}

static bool find_replaced(SimSession *session, const Stmt *stmt, const SimModule **out,
                          SimError *error)
{
    SimModuleKind    kind  = is_view(stmt) ? SIM_MODULE_VIEW : SIM_MODULE_PROCEDURE;
    const SimModule *found = sim_database_find_module(session->database, stmt->object.schema,
                                                      stmt->object.name);

    *out = NULL;
    if (str_equal_c(stmt->words.items[0], "CREATE")) return true;
    if (found && found->kind != kind)
        return sim_error(error, 2010,
                         "Cannot perform alter on '%.*s' because it is an incompatible object "
                         "type.",
                         STR_ARG(stmt->object.name));
    if (!found && str_equal_c(stmt->words.items[0], "ALTER"))
        return sim_error(error, 208, "Invalid object name '%.*s%s%.*s'.",
                         STR_ARG(stmt->object.schema), stmt->object.schema.len ? "." : "",
                         STR_ARG(stmt->object.name));
    *out = found;
    return true;
}

static bool create_module(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    const SimModule *replaced = NULL, *made = NULL;
    StmtList         stmts = {0};

    if (!str_is_empty(stmt->object.database))
        return sim_error(error, 166,
                         "'%s %s' does not allow specifying the database name as a prefix to the "
                         "object name.",
                         "CREATE/ALTER", is_view(stmt) ? "VIEW" : "PROCEDURE");
    if (stmt->object.name.ptr[0] == '#') return sim_not_supported(error, "a temporary procedure");
    if (!session_is_owner(session))
        return sim_error(error, 262, "CREATE %s permission denied in database '%.*s'.",
                         is_view(stmt) ? "VIEW" : "PROCEDURE",
                         STR_ARG(sim_database_name(session->database)));
    if (!find_replaced(session, stmt, &replaced, error)) return false;
    Arena *kept = arena_new();
    Str    text = str_copy(kept, stmt->source);
    if (!sim_parse(text, session->options.quoted_identifier, kept, &stmts, error)) {
        arena_close(kept);
        return false;
    }
    Stmt *tree = stmts.items[stmts.count - 1];
    bool  ok   = is_view(tree) ? name_columns(session, tree, kept, arena, error)
                               : check_body(session, tree, error);
    if (!ok) {
        Str name = stmt->object.name;
        memcpy(error->procedure, name.ptr, MIN(name.len, sizeof error->procedure - 1));
        arena_close(kept);
        return false;
    }
    SimModule spec = {.kind              = is_view(tree) ? SIM_MODULE_VIEW : SIM_MODULE_PROCEDURE,
                      .schema            = stmt->object.schema,
                      .name              = stmt->object.name,
                      .text              = text,
                      .tree              = tree,
                      .quoted_identifier = session->options.quoted_identifier};
    return sim_create_module(session_txn(session, session->database), &spec, kept, replaced, &made,
                             error);
}

static bool drop_module(SimSession *session, const Stmt *stmt, SimError *error)
{
    bool             view  = str_equal_c(stmt->words.items[0], "VIEW");
    const SimModule *found = sim_database_find_module(session->database, stmt->object.schema,
                                                      stmt->object.name);

    if (!found && stmt->if_exists) return true;
    if (!found || !session_is_owner(session))
        return sim_error(error, 3701,
                         "Cannot drop the %s '%.*s%s%.*s', because it does not exist or you do "
                         "not have permission.",
                         view ? "view" : "procedure", STR_ARG(stmt->object.schema),
                         stmt->object.schema.len ? "." : "", STR_ARG(stmt->object.name));
    if ((found->kind == SIM_MODULE_VIEW) != view)
        return sim_error(error, 3705,
                         "Cannot use DROP %s with '%.*s' because '%.*s' is a %s. Use DROP %s.",
                         view ? "VIEW" : "PROCEDURE", STR_ARG(found->name), STR_ARG(found->name),
                         view ? "procedure" : "view", view ? "PROCEDURE" : "VIEW");
    return sim_drop_module(session_txn(session, session->database), found, error);
}

bool run_module(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error)
{
    (void)result;
    return stmt->kind == STMT_CREATE_MODULE ? create_module(session, stmt, arena, error)
                                            : drop_module(session, stmt, error);
}

/* --- calling a procedure --- */
const SimModule *module_find(SimSession *session, const ObjectName *name)
{
    SimDatabase *database = session->database;

    if (!str_is_empty(name->database))
        database = sim_server_find_database(session->server, name->database);
    const SimModule *module = database
                                  ? sim_database_find_module(database, name->schema, name->name)
                                  : NULL;
    return module && module->kind == SIM_MODULE_PROCEDURE ? module : NULL;
}

typedef struct Actual { /* what a parameter got */
    ProcArg *arg;       /* NULL: its default */
} Actual;

static bool match_args(ProcCall *call, const SimModule *module, const Stmt *tree, Actual *actuals)
{
    for (size_t i = 0; i < call->count; i++) {
        ProcArg *arg = &call->args[i];
        size_t   at  = i;
        if (!str_is_empty(arg->name)) {
            for (at = 0; at < tree->variables.count &&
                         !sim_name_equal(tree->variables.items[at].name, arg->name);)
                at++;
            if (at == tree->variables.count)
                return sim_error(call->error, 8145, "%.*s is not a parameter for procedure %.*s.",
                                 STR_ARG(arg->name), STR_ARG(module->name));
        }
        if (at >= tree->variables.count)
            return tree->variables.count == 0
                       ? sim_error(call->error, 8146,
                                   "Procedure %.*s has no parameters and arguments were supplied.",
                                   STR_ARG(module->name))
                       : sim_error(call->error, 8144,
                                   "Procedure or function %.*s has too many arguments specified.",
                                   STR_ARG(module->name));
        const VariableDef *parameter = &tree->variables.items[at];
        if (actuals[at].arg)
            return sim_error(call->error, 8143, "Parameter '%.*s' was supplied multiple times.",
                             STR_ARG(parameter->name));
        if (arg->is_output && !parameter->is_output)
            return sim_error(call->error, 8162,
                             "The formal parameter \"%.*s\" was not declared as an OUTPUT "
                             "parameter, but the actual parameter passed in requested output.",
                             STR_ARG(parameter->name));
        actuals[at].arg = arg;
    }
    return true;
}

static bool declare_parameter(ProcCall *call, const SimModule *module, const VariableDef *parameter,
                              const ProcArg *arg)
{
    SimType type = parameter->type;
    if (sim_type_is_text(type.kind))
        type.collation = sim_database_collation(call->session->database);
    SimValue given = value_null(), value = sim_null(type);

    if (arg && !arg->is_default) {
        given = arg->value;
    } else if (!parameter->value) {
        return sim_error(call->error, 201,
                         "Procedure or function '%.*s' expects parameter '%.*s', which was not "
                         "supplied.",
                         STR_ARG(module->name), STR_ARG(parameter->name));
    } else if (!run_expression(call->session, parameter->value, call->arena, &given, call->error)) {
        return false;
    }
    Variable *variable = frame_declare(call->session->frame, parameter->name, &type);
    if (!given.is_null &&
        !session_convert(call->session, &given, &type, call->arena, &value, call->error)) {
        if (call->error->number == 245)
            sim_error(call->error, 8114, "Error converting data type %s to %s.",
                      sim_type_word(&given.type), sim_type_word(&parameter->type));
        return false;
    }
    variable_set(variable, &value);
    return true;
}

static void note_mismatch(SimSession *session, const SimModule *module, int before, Flow *flow)
{
    SimError error = SIM_ERROR_INIT;

    sim_error(&error, 266,
              "Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT "
              "statements. Previous count = %d, current count = %d.",
              before, session->tran_count);
    memcpy(error.procedure, module->name.ptr, MIN(module->name.len, sizeof error.procedure - 1));
    *flow = run_failed(session, session->stmt, &error, 224, false);
}

static bool call_body(ProcCall *call, const SimModule *module, const Stmt *tree)
{
    SimSession *session    = call->session;
    Actual     *actuals    = ARENA_ARRAY(call->arena, Actual, tree->variables.count + 1);
    int         tran_count = session->tran_count;
    bool        implicit   = session->options.implicit_transactions;

    if (!match_args(call, module, tree, actuals)) return false;
    for (size_t i = 0; i < tree->variables.count; i++)
        if (!declare_parameter(call, module, &tree->variables.items[i], actuals[i].arg))
            return false;
    session->frame->module             = module;
    session->options.quoted_identifier = module->quoted_identifier;
    Flow flow                          = run_statements(session, &tree->then_branch->body);
    if (flow == FLOW_RETURN || (flow == FLOW_END && session->scope_ended)) flow = FLOW_NEXT;
    if (flow == FLOW_NEXT && session->tran_count != tran_count && !implicit)
        note_mismatch(session, module, tran_count, &flow);
    call->flow   = flow;
    call->status = session->frame->has_status ? session->frame->return_status
                                              : -session->frame->worst;
    for (size_t i = 0; i < tree->variables.count; i++)
        if (actuals[i].arg && actuals[i].arg->is_output) {
            const Variable *variable = frame_find(session->frame, tree->variables.items[i].name);
            actuals[i].arg->value    = value_copy(call->arena, &variable->value);
            if (str_is_empty(actuals[i].arg->name))
                actuals[i].arg->name = tree->variables.items[i].name;
        }
    return true;
}

bool module_call(ProcCall *call, const SimModule *module)
{
    SimSession *session = call->session;
    Str         user;

    if (!session_user_in(session, session->database, &user) ||
        (!(session->frame && session->frame->module) &&
         !sim_has_module_permission(session->database, user, SIM_PERM_EXECUTE, module)))
        return sim_error(call->error, 229,
                         "The EXECUTE permission was denied on the object '%.*s', database "
                         "'%.*s', schema '%.*s'.",
                         STR_ARG(module->name), STR_ARG(sim_database_name(session->database)),
                         STR_ARG(module->schema));
    if (session->proc_depth >= 32)
        return sim_error(call->error, 217,
                         "Maximum stored procedure, function, trigger, or view nesting level "
                         "exceeded (limit 32).");
    size_t contexts = session->contexts.count;
    session->proc_depth++;
    frame_push(session, true);
    bool ok = call_body(call, module, module->tree);
    if (!ok && call->error->procedure[0] == '\0')
        memcpy(call->error->procedure, module->name.ptr,
               MIN(module->name.len, sizeof call->error->procedure - 1));
    frame_pop(session);
    session->proc_depth--;
    context_revert_to(session, contexts);
    return ok;
}
