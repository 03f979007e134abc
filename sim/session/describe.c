/* describe.c - what a text would return and which parameters it needs, without running it: for SQLDescribeParam, SQLPrepare and their kin. */
#include "sim/plan/bind_internal.h"

static const Stmt *first_select(const StmtList *stmts)
{
    for (size_t i = 0; i < stmts->count; i++) {
        const Stmt *stmt = stmts->items[i];
        if (stmt->kind == STMT_SELECT && stmt->select->into.name.len == 0) return stmt;
        if (stmt->kind == STMT_BLOCK) {
            const Stmt *inner = first_select(&stmt->body);
            if (inner) return inner;
        }
    }
    return NULL;
}

bool describe_statements(SimSession *session, const StmtList *stmts, Arena *arena,
                         SimResultColumn **columns_out, size_t *count_out, SimError *error)
{
    const Stmt *stmt = first_select(stmts);
    SelectPlan *plan = NULL;

    *count_out = 0;
    if (!stmt) return true;
    for (size_t i = 0; i < stmts->count; i++) /* its variables may be declared on the way */
        for (size_t v = 0;
             stmts->items[i]->kind == STMT_DECLARE && v < stmts->items[i]->variables.count; v++) {
            const VariableDef *def = &stmts->items[i]->variables.items[v];
            if (!def->is_table && !frame_find(session->frame, def->name))
                frame_declare(session->frame, def->name, &def->type);
        }
    Binder *binder = binder_new(session, arena, error);
    if (!bind_select(binder, NULL, stmt->select, &plan) || !binder_check_permissions(binder))
        return false;
    if (plan->assigns) return true;
    *columns_out = ARENA_ARRAY(arena, SimResultColumn, plan->out_count + 1);
    *count_out   = plan->out_count;
    select_columns(plan, *columns_out);
    return true;
}

/* --- parameters --- */
static bool describe_insert(Binder *binder, const Stmt *stmt)
{
    SimDatabase *database = NULL;
    SimTable    *table    = NULL;
    Str          schema;

    if (!bind_table_name(binder, &stmt->object, &database, &table, &schema)) return false;
    const SimTableInfo *info = sim_table_info(table);
    for (size_t i = 0; i < stmt->columns.count; i++)
        if (sim_table_find_column(table, stmt->columns.items[i]) < 0)
            return binder_error(binder, stmt->line, 207, "Invalid column name '%.*s'.",
                                STR_ARG(stmt->columns.items[i]));
    for (size_t r = 0; r < stmt->rows.count; r++) {
        size_t next = 0;
        for (size_t c = 0; c < stmt->rows.items[r].count; c++) {
            Node     *node    = NULL;
            ptrdiff_t ordinal = -1;
            if (stmt->columns.count > 0) {
                if (c < stmt->columns.count)
                    ordinal = sim_table_find_column(table, stmt->columns.items[c]);
            } else {
                while (next < info->column_count &&
                       (info->columns[next].is_identity || info->columns[next].is_computed))
                    next++;
                if (next < info->column_count) ordinal = (ptrdiff_t)next++;
            }
            if (stmt->rows.items[r].items[c]->kind == EXPR_DEFAULT) continue;
            if (!bind_expr(binder, NULL, stmt->rows.items[r].items[c], &node)) return false;
            if (ordinal >= 0) bind_suggest(binder, node, &info->columns[ordinal].type);
        }
    }
    SelectPlan *plan = NULL;
    return !stmt->select || bind_select(binder, NULL, stmt->select, &plan);
}

static bool describe_change(Binder *binder, const Stmt *stmt)
{
    QueryScope *scope = scope_new(binder, NULL);
    Source      only  = {.kind = SOURCE_TABLE, .line = stmt->line, .name = stmt->object};
    Node       *node  = NULL;

    if (!bind_from(binder, scope, stmt->from ? stmt->from : &only, &scope->tree)) return false;
    for (size_t i = 0; i < stmt->assignments.count; i++) {
        const Assignment *assignment = &stmt->assignments.items[i];
        if (assignment->expr->kind == EXPR_DEFAULT) continue;
        if (!bind_expr(binder, scope, assignment->expr, &node)) return false;
        for (size_t s = 0; s < scope->sources.count; s++)
            for (size_t c = 0; c < scope->sources.items[s]->column_count; c++)
                if (sim_name_equal(scope->sources.items[s]->columns[c].name, assignment->column))
                    bind_suggest(binder, node, &scope->sources.items[s]->columns[c].type);
    }
    if (stmt->top) {
        SimType bigint = sim_type(SIM_BIGINT);
        if (!bind_expr(binder, NULL, stmt->top, &node)) return false;
        bind_suggest(binder, node, &bigint);
    }
    return !stmt->where || bind_predicate(binder, scope, stmt->where, &node);
}

static bool describe_exec(Binder *binder, const Stmt *stmt)
{
    Node *node = NULL;

    for (size_t i = 0; i < stmt->exec_args.count; i++)
        if (stmt->exec_args.items[i].value->kind != EXPR_DEFAULT &&
            !bind_expr(binder, NULL, stmt->exec_args.items[i].value, &node))
            return false;
    return true;
}

static bool describe_body(Binder *binder, const StmtList *body);

static bool describe_declare(Binder *binder, const Stmt *stmt)
{
    Node *node = NULL;

    for (size_t i = 0; i < stmt->variables.count; i++) {
        const VariableDef *def = &stmt->variables.items[i];
        if (def->value) {
            if (!bind_expr(binder, NULL, def->value, &node)) return false;
            bind_suggest(binder, node, &def->type);
        }
        if (!def->is_table && !frame_find(binder->session->frame, def->name))
            frame_declare(binder->session->frame, def->name, &def->type);
    }
    return true;
}

static bool describe_statement(Binder *binder, const Stmt *stmt)
{
    SelectPlan *plan = NULL;
    Node       *node = NULL;

    switch ((int)stmt->kind) { /* what else there is names no columns */
    case STMT_SELECT: return bind_select(binder, NULL, stmt->select, &plan);
    case STMT_INSERT: return describe_insert(binder, stmt);
    case STMT_UPDATE:
    case STMT_DELETE: return describe_change(binder, stmt);
    case STMT_EXEC: return describe_exec(binder, stmt);
    case STMT_DECLARE: return describe_declare(binder, stmt);
    case STMT_BLOCK: return describe_body(binder, &stmt->body);
    case STMT_TRY:
        return describe_statement(binder, stmt->then_branch) &&
               (!stmt->else_branch || describe_statement(binder, stmt->else_branch));
    case STMT_IF:
    case STMT_WHILE:
        return bind_predicate(binder, NULL, stmt->expr, &node) &&
               describe_statement(binder, stmt->then_branch) &&
               (!stmt->else_branch || describe_statement(binder, stmt->else_branch));
    case STMT_SET_VARIABLE:
    case STMT_PRINT:
    case STMT_RETURN:
    case STMT_EXEC_TEXT: return !stmt->expr || bind_expr(binder, NULL, stmt->expr, &node);
    default: return true;
    }
}

/* --- names that do not bind, before anything runs --- */
static bool is_name_error(int32_t number)
{
    static const int32_t numbers[] = {104,  107,  108,  130,  137,  145,  147,  164,   195,  205,
                                      207,  209,  305,  306,  421,  468,  1011, 4104,  4108, 4112,
                                      4194, 8117, 8120, 8155, 8156, 8158, 8159, 10752, 10756};

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] == number) return true;
    return false;
}

/* A statement whose table does not exist yet is looked at when it runs; so is everything behind a USE. */
static bool check_list(SimSession *session, const StmtList *stmts, Arena *arena, SimError *error)
{
    for (size_t i = 0; i < stmts->count; i++) {
        const Stmt *stmt = stmts->items[i];
        if (stmt->kind == STMT_USE) return true;
        if (stmt->kind == STMT_BLOCK) {
            if (!check_list(session, &stmt->body, arena, error)) return false;
            continue;
        }
        Binder *binder = binder_new(session, arena, error);
        if (!describe_statement(binder, stmt) && is_name_error(error->number)) return false;
        *error = SIM_ERROR_INIT;
    }
    return true;
}

bool describe_check_body(SimSession *session, const StmtList *stmts, SimError *error)
{
    Arena *arena = arena_new();
    bool   ok    = check_list(session, stmts, arena, error);
    arena_close(arena);
    return ok;
}

bool describe_check_names(SimSession *session, const StmtList *stmts, SimError *error)
{
    if (stmts->count == 0 || (stmts->count == 1 && stmts->items[0]->kind <= STMT_SET_OPTION))
        return true;
    return describe_check_body(session, stmts, error);
}

/* A block binds statement by statement: one that names a table made before it in the block does not hide the others' errors. */
static bool describe_body(Binder *binder, const StmtList *body)
{
    for (size_t i = 0; i < body->count; i++) {
        if (describe_statement(binder, body->items[i])) continue;
        if (binder->undeclared || is_name_error(binder->error->number)) return false;
        *binder->error = SIM_ERROR_INIT;
    }
    return true;
}

bool describe_undeclared(SimSession *session, Str text, Arena *arena, UndeclaredList *out,
                         SimError *error)
{
    StmtList stmts = {0};

    if (!sim_parse(text, session->options.quoted_identifier, arena, &stmts, error)) return false;
    for (size_t i = 0; i < stmts.count; i++) {
        Binder *binder     = binder_new(session, arena, error);
        binder->undeclared = out;
        if (!describe_statement(binder, stmts.items[i])) return false;
    }
    return true;
}
