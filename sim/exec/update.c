/* update.c - UPDATE and DELETE. The rows are found first, all of them, and changed after in one call: a statement never meets its own rows, and the
 * model sees how many it changes at once. */
#include "sim/exec/change_internal.h"

typedef struct Update {
    Change       change;
    BoundSource *source; /* the target in FROM */
    Op          *op;
    Node       **values; /* per ordinal: what it becomes; NULL: stays */
    NodeList     variable_values;
    LIST(Str) variables;
    LIST(SimChange) changes;
    LIST(SimValue *) tuples; /* of the joined rows, for OUTPUT */
    KeyTable seen;
    bool     is_delete;
} Update;

static BoundSource *find_target(Update *update, QueryScope *scope)
{
    const Stmt *stmt = update->change.stmt;

    for (size_t i = 0; i < scope->sources.count; i++) {
        BoundSource *source = scope->sources.items[i];
        if (source->kind == BOUND_TABLE && str_is_empty(stmt->object.schema) &&
            sim_name_equal(source->alias, stmt->object.name))
            return source;
    }
    for (size_t i = 0; i < scope->sources.count; i++) {
        BoundSource *source = scope->sources.items[i];
        if (source->kind == BOUND_TABLE && source->table == update->change.target.table)
            return source;
    }
    return NULL;
}

static bool bind_scope(Update *update, QueryScope *scope)
{
    Change     *change = &update->change;
    const Stmt *stmt   = change->stmt;
    Source     *only   = ARENA_NEW(change->arena, Source);

    *only = (Source){.kind  = stmt->object.name.ptr[0] == '@' ? SOURCE_VARIABLE : SOURCE_TABLE,
                     .line  = stmt->line,
                     .name  = stmt->object,
                     .hints = stmt->hints};
    if (!bind_from(change->binder, scope, stmt->from ? stmt->from : only, &scope->tree))
        return false;
    if (stmt->from && str_is_empty(stmt->object.schema))
        update->source = find_target(update, scope); /* an alias wins over a table's name */
    if (!update->source || !update->source->table) {
        if (!change_target(change, &stmt->object, &change->target)) return false;
        update->source = find_target(update, scope);
        if (!update->source)
            return binder_error(change->binder, stmt->line, 208, "Invalid object name '%.*s'.",
                                STR_ARG(stmt->object.name));
    }
    BoundSource *source = update->source;
    change->target      = (Target){.database    = source->database,
                                   .table       = source->table,
                                   .info        = source->info,
                                   .schema      = source->schema,
                                   .name        = source->name,
                                   .is_variable = source->is_table_variable};
    if (source->has_isolation && source->isolation == SIM_READ_UNCOMMITTED)
        return binder_error(change->binder, stmt->line, 1065,
                            "The NOLOCK and READUNCOMMITTED lock hints are not allowed for target "
                            "tables of INSERT, UPDATE, DELETE or MERGE statements.");
    source->row_slot   = binder_slot(change->binder);
    source->for_update = true;
    return true;
}

static bool check_assigned(Change *change, ptrdiff_t ordinal, const Assignment *assignment,
                           int32_t line, Node *const *values)
{
    if (ordinal < 0)
        return binder_error(change->binder, line, 207, "Invalid column name '%.*s'.",
                            STR_ARG(assignment->column));
    const SimColumn *column = &change->target.info->columns[ordinal];
    if (column->is_computed)
        return binder_error(change->binder, line, 271,
                            "The column \"%.*s\" cannot be modified because it is either a "
                            "computed column or is "
                            "the result of a UNION operator.",
                            STR_ARG(column->name));
    if (column->is_identity)
        return binder_error(change->binder, line, 8102, "Cannot update identity column '%.*s'.",
                            STR_ARG(column->name));
    if (column->type.kind == SIM_ROWVERSION)
        return binder_error(change->binder, line, 272, "Cannot update a timestamp column.");
    if (values[ordinal])
        return binder_error(change->binder, line, 264,
                            "The column name '%.*s' is specified more than once in the SET "
                            "clause or column list "
                            "of an INSERT. A column cannot be assigned more than one value "
                            "in the same clause.",
                            STR_ARG(column->name));
    return true;
}

bool change_bind_assignment(Change *change, QueryScope *scope, const Assignment *assignment,
                            int32_t line, Node **values, Node **out, Str *column_out)
{
    const SimTableInfo *info    = change->target.info;
    ptrdiff_t           ordinal = -1;

    *out        = NULL;
    *column_out = STR_EMPTY;
    if (!str_is_empty(assignment->column)) {
        ordinal = sim_table_find_column(change->target.table, assignment->column);
        if (!check_assigned(change, ordinal, assignment, line, values)) return false;
        *column_out = info->columns[ordinal].name;
    }
    if (assignment->expr->kind == EXPR_DEFAULT && ordinal >= 0) {
        *out = change->target.defaults[ordinal];
        if (!*out) {
            SimValue null = sim_null(info->columns[ordinal].type);
            *out          = node_const(change->arena, &null, line);
        }
    } else if (!bind_expr(change->binder, scope, assignment->expr, out)) {
        return false;
    }
    if (ordinal >= 0) values[ordinal] = *out;
    return true;
}

static bool bind_assignments(Update *update, QueryScope *scope)
{
    Change *change  = &update->change;
    Str    *columns = ARENA_ARRAY(change->arena, Str, change->stmt->assignments.count + 1);
    size_t  count   = 0;

    update->values = ARENA_ARRAY(change->arena, Node *, change->target.info->column_count + 1);
    for (size_t i = 0; i < change->stmt->assignments.count; i++) {
        const Assignment *assignment = &change->stmt->assignments.items[i];
        Node             *node       = NULL;
        Str               column;
        if (!change_bind_assignment(change, scope, assignment, change->stmt->line, update->values,
                                    &node, &column))
            return false;
        if (!str_is_empty(column)) columns[count++] = column;
        if (str_is_empty(assignment->variable)) continue;
        *LIST_PUSH(change->arena, &update->variables)       = assignment->variable;
        *LIST_PUSH(change->arena, &update->variable_values) = node;
    }
    binder_use(change->binder, update->source, SIM_PERM_UPDATE, columns, count);
    return true;
}

static bool plan_update(Update *update, QueryScope *scope)
{
    Change   *change = &update->change;
    FromPlan  from   = {.scope = scope, .tree = scope->tree};
    Node     *where  = NULL;
    LimitSpec limit  = {0};

    if (change->stmt->where && !bind_predicate(change->binder, scope, change->stmt->where, &where))
        return false;
    if (change->stmt->top && !bind_expr(change->binder, NULL, change->stmt->top, &limit.top))
        return false;
    if (where) split_and(change->arena, where, &from.where);
    from.limit = limit.top;
    if (!plan_from(change->binder, &from, &update->op)) return false;
    if (limit.top) update->op = op_limit(change->arena, update->op, &limit);
    update->op = row_limit(change->session, update->op, change->arena);
    return true;
}

bool change_new_values(Change *change, Node *const *values, const SimRow *row, SimValue **out)
{
    const SimTableInfo *info = change->target.info;
    SimValue           *made = ARENA_ARRAY(change->arena, SimValue, info->column_count + 1);

    for (size_t i = 0; i < info->column_count; i++) {
        if (values[i]) {
            const SimValue *value = node_eval(values[i], &change->exec);
            if (!value || !change_store(change, &change->target, i, value, change->arena, &made[i]))
                return false;
            made[i] = value_copy(change->arena, &made[i]);
        } else {
            sim_row_value(change->target.table, row, i, &made[i]);
        }
        if (info->columns[i].type.kind == SIM_ROWVERSION) made[i] = sim_null(info->columns[i].type);
    }
    *out = made;
    return change_complete_row(change, &change->target, made, change->arena);
}

static bool set_variables(Update *update)
{
    Change *change = &update->change;

    for (size_t i = 0; i < update->variables.count; i++) {
        Variable       *variable = frame_find(change->session->frame, update->variables.items[i]);
        const SimValue *value    = node_eval(update->variable_values.items[i], &change->exec);
        SimValue        stored;
        if (!value) return false;
        if (!variable)
            return sim_error(change->error, 137, "Must declare the scalar variable \"%.*s\".",
                             STR_ARG(update->variables.items[i]));
        if (!value_store(&change->exec, value, &variable->type, change->row_arena, &stored))
            return false;
        variable_set(variable, &stored);
    }
    return true;
}

static bool collect(Update *update)
{
    Change *change  = &update->change;
    Arena  *scratch = exec_arena(&change->exec);
    Pull    pull;

    key_table_init(&update->seen, change->arena);
    if (!op_open(update->op, &change->exec)) return false;
    while ((pull = op_next(update->op, &change->exec)) == PULL_ROW) {
        const SimValue *slot   = &change->exec.slots[update->source->row_slot];
        bool            is_new = true;
        if (slot->is_null) continue; /* the outer side of a join without a row */
        const SimRow *row = (const SimRow *)(intptr_t)slot->i64;
        if (change->stmt->from && change->stmt->from->kind == SOURCE_JOIN)
            key_table_add(&update->seen, (Str){(const char *)&slot->i64, sizeof slot->i64},
                          &is_new);
        if (!is_new) continue;
        arena_reset(scratch);
        change->exec.scratch = scratch;
        SimValue *values     = NULL;
        if (!update->is_delete &&
            (!set_variables(update) || !change_new_values(change, update->values, row, &values)))
            return false;
        *LIST_PUSH(change->arena, &update->changes) = (SimChange){row, values};
        if (change->outputs.count > 0 && change->stmt->from) /* OUTPUT may name other tables */
            *LIST_PUSH(change->arena, &update->tuples) = tuple_save(change->arena, &change->exec,
                                                                    &update->op->slots);
    }
    op_close(update->op, &change->exec);
    return pull == PULL_END;
}

static bool send_outputs(Update *update)
{
    Change             *change = &update->change;
    const SimTableInfo *info   = change->target.info;
    SimValue           *old    = ARENA_ARRAY(change->arena, SimValue, info->column_count + 1);

    if (change->outputs.count == 0) return true;
    if (!change_send_header(change)) return false;
    for (size_t r = 0; r < update->changes.count; r++) {
        arena_reset(change->row_arena);
        if (update->tuples.count > 0)
            tuple_restore(&change->exec, &update->op->slots, update->tuples.items[r]);
        for (size_t i = 0; i < info->column_count; i++)
            sim_row_value(change->target.table, update->changes.items[r].row, i, &old[i]);
        if (change->deleted) change_fill_slots(change, change->deleted, old);
        if (!update->is_delete)
            change_fill_slots(change, change->target.row, update->changes.items[r].values);
        if (!change_send_row(change)) return false;
    }
    return true;
}

static bool run_change(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                       SimError *error, bool is_delete)
{
    Update     *update = ARENA_NEW(arena, Update);
    Change     *change = &update->change;
    QueryScope *scope  = NULL;
    bool        ok     = false;

    update->is_delete = is_delete;
    change_begin(change, session, stmt, arena, error);
    scope = scope_new(change->binder, NULL);
    if (!bind_scope(update, scope) || !change_bind_computed(change, &change->target)) goto done;
    if (change->target.info->is_system && !session->is_aside &&
        !(is_delete && session_is_owner(session))) {
        (void)binder_error(change->binder, stmt->line, 259,
                           "Ad hoc updates to system catalogs are not allowed.");
        goto done;
    }
    if (is_delete)
        binder_use(change->binder, update->source, SIM_PERM_DELETE, NULL, 0);
    else if (!bind_assignments(update, scope))
        goto done;
    if (!change_bind_output(change, stmt->from ? scope : NULL, !is_delete, true) ||
        !plan_update(update, scope))
        goto done;
    if (!binder_check_permissions(change->binder)) goto done;
    binder_start(change->binder, &change->exec);
    if (change->target.is_variable) (void)change_txn(change, &change->target);
    if (!collect(update)) goto done;
    SimTxn *txn = change_txn(change, &change->target);
    if (update->changes.count > 0) {
        ok = is_delete ? sim_delete(txn, change->target.table, update->changes.items,
                                    update->changes.count, error)
                       : sim_update(txn, change->target.table, update->changes.items,
                                    update->changes.count, error);
        ok = ok && (is_delete || change_check_references(change, &change->target)) &&
             change_check_referrers(change, &change->target, update->changes.items,
                                    update->changes.count);
        if (!ok) goto done;
    }
    ok                = send_outputs(update);
    result->has_count = true;
    result->count     = (int64_t)update->changes.count;
done:
    exec_end(&change->exec);
    return ok;
}

bool run_update(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error)
{
    return run_change(session, stmt, arena, result, error, false);
}

bool run_delete(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error)
{
    return run_change(session, stmt, arena, result, error, true);
}
