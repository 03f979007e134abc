/* merge.c - MERGE. The source is joined to the target once, and each joined row takes the first clause that fits; target rows that nothing joined
 * come after, for WHEN NOT MATCHED BY SOURCE. All that is to be done is collected first, then done: deletes, updates, inserts. */
#include "sim/exec/change_internal.h"

typedef struct Clause { /* a WHEN, bound */
    const MergeClause *clause;
    Node              *condition;
    Node             **values; /* UPDATE, per ordinal; INSERT, per column given (NULL: DEFAULT) */
    InsertColumns      columns;
} Clause;

typedef struct Action {
    const Clause *clause;
    const SimRow *row;    /* NULL: an INSERT */
    SimValue     *values; /* NULL: a DELETE */
    bool         *given;  /* INSERT: which ordinals */
    SimValue     *tuple;  /* the joined row, for OUTPUT */
} Action;

typedef struct Merge {
    Change       change;
    Clause      *clauses;
    BoundSource *source;   /* the target, joined */
    BoundSource *unjoined; /* the target alone */
    Op          *op, *rest;
    KeyTable     matched; /* target rows that something joined */
    KeyTable     changed; /* target rows that are changed */
    LIST(Action) actions;
} Merge;

static bool has_clause(const Stmt *stmt, MergeWhen when)
{
    for (size_t i = 0; i < stmt->merge.count; i++)
        if (stmt->merge.items[i].when == when) return true;
    return false;
}

/* --- binding --- */
static Source *target_source(Merge *merge)
{
    const Stmt *stmt   = merge->change.stmt;
    Source     *source = ARENA_NEW(merge->change.arena, Source);

    *source = (Source){.kind  = stmt->object.name.ptr[0] == '@' ? SOURCE_VARIABLE : SOURCE_TABLE,
                       .line  = stmt->line,
                       .name  = stmt->object,
                       .alias = stmt->name,
                       .hints = stmt->hints};
    return source;
}

static BoundSource *last_source(QueryScope *scope)
{
    BoundSource *source = scope->sources.items[scope->sources.count - 1];

    return source->kind == BOUND_TABLE ? source : NULL;
}

static bool bind_join(Merge *merge, QueryScope *scope, QueryScope *alone)
{
    Change     *change = &merge->change;
    const Stmt *stmt   = change->stmt;
    Source     *join   = ARENA_NEW(change->arena, Source);

    *join = (Source){.kind  = SOURCE_JOIN,
                     .line  = stmt->line,
                     .join  = JOIN_LEFT,
                     .left  = stmt->from,
                     .right = target_source(merge),
                     .on    = stmt->where};
    if (!bind_from(change->binder, scope, join, &scope->tree) ||
        !bind_from(change->binder, alone, target_source(merge), &alone->tree))
        return false;
    merge->source   = last_source(scope);
    merge->unjoined = last_source(alone);
    if (!merge->source || !merge->unjoined)
        return binder_not_supported(change->binder, stmt->line, "MERGE into a view or a CTE");
    BoundSource *source         = merge->source;
    source->row_slot            = binder_slot(change->binder);
    source->for_update          = true;
    merge->unjoined->row_slot   = binder_slot(change->binder);
    merge->unjoined->for_update = true;
    change->target              = (Target){.database    = source->database,
                                           .table       = source->table,
                                           .info        = source->info,
                                           .schema      = source->schema,
                                           .name        = source->name,
                                           .is_variable = source->is_table_variable};
    return true;
}

static bool bind_update(Merge *merge, QueryScope *scope, Clause *out)
{
    Change            *change  = &merge->change;
    const MergeClause *clause  = out->clause;
    Str               *columns = ARENA_ARRAY(change->arena, Str, clause->assignments.count + 1);
    size_t             count   = 0;

    out->values = ARENA_ARRAY(change->arena, Node *, change->target.info->column_count + 1);
    for (size_t i = 0; i < clause->assignments.count; i++) {
        Node *node = NULL;
        if (!str_is_empty(clause->assignments.items[i].variable))
            return binder_not_supported(change->binder, clause->line, "a variable in MERGE's SET");
        if (!change_bind_assignment(change, scope, &clause->assignments.items[i], clause->line,
                                    out->values, &node, &columns[count]))
            return false;
        count++;
    }
    binder_use(change->binder, merge->source, SIM_PERM_UPDATE, columns, count);
    return true;
}

static bool bind_insert(Merge *merge, QueryScope *scope, Clause *out)
{
    Change            *change = &merge->change;
    const MergeClause *clause = out->clause;

    binder_use(change->binder, merge->source, SIM_PERM_INSERT, NULL, 0);
    if (!change_insert_columns(change, &change->target, &clause->columns, clause->line,
                               &out->columns))
        return false;
    if (clause->default_values) {
        out->columns.count = 0;
        return true;
    }
    if (clause->values.count != out->columns.count)
        return binder_error(change->binder, clause->line,
                            clause->values.count > out->columns.count ? 10710 : 10709,
                            "The number of values must match the number of columns of the INSERT "
                            "clause of a MERGE statement.");
    out->values = ARENA_ARRAY(change->arena, Node *, out->columns.count + 1);
    for (size_t i = 0; i < clause->values.count; i++)
        if (clause->values.items[i]->kind != EXPR_DEFAULT &&
            !bind_expr(change->binder, scope, clause->values.items[i], &out->values[i]))
            return false;
    return true;
}

static bool bind_clauses(Merge *merge, QueryScope *scope, QueryScope *alone)
{
    Change     *change = &merge->change;
    const Stmt *stmt   = change->stmt;

    merge->clauses = ARENA_ARRAY(change->arena, Clause, stmt->merge.count + 1);
    for (size_t i = 0; i < stmt->merge.count; i++) {
        Clause     *out  = &merge->clauses[i];
        QueryScope *used = stmt->merge.items[i].when == MERGE_NOT_MATCHED_BY_SOURCE ? alone : scope;
        out->clause      = &stmt->merge.items[i];
        if (out->clause->condition &&
            !bind_predicate(change->binder, used, out->clause->condition, &out->condition))
            return false;
        if (out->clause->action == STMT_UPDATE && !bind_update(merge, used, out)) return false;
        if (out->clause->action == STMT_INSERT && !bind_insert(merge, used, out)) return false;
        if (out->clause->action == STMT_DELETE)
            binder_use(change->binder, merge->source, SIM_PERM_DELETE, NULL, 0);
    }
    return true;
}

static bool plan(Merge *merge, QueryScope *scope, QueryScope *alone)
{
    FromPlan joined = {.scope = scope, .tree = scope->tree};
    FromPlan rest   = {.scope = alone, .tree = alone->tree};

    return plan_from(merge->change.binder, &joined, &merge->op) &&
           plan_from(merge->change.binder, &rest, &merge->rest);
}

/* --- collecting --- */
static bool make_insert(Merge *merge, const Clause *clause, Action *action)
{
    Change             *change = &merge->change;
    const SimTableInfo *info   = change->target.info;

    action->values = ARENA_ARRAY(change->arena, SimValue, info->column_count + 1);
    action->given  = ARENA_ARRAY(change->arena, bool, info->column_count + 1);
    for (size_t i = 0; i < clause->columns.count; i++) {
        size_t ordinal = clause->columns.ordinals[i];
        if (!clause->values[i]) continue;
        const SimValue *value = node_eval(clause->values[i], &change->exec);
        if (!value || !change_store(change, &change->target, ordinal, value, change->arena,
                                    &action->values[ordinal]))
            return false;
        action->values[ordinal] = value_copy(change->arena, &action->values[ordinal]);
        action->given[ordinal]  = true;
    }
    return true;
}

/* The first clause of its kind whose condition holds. */
static bool act(Merge *merge, MergeWhen when, const SimRow *row, const Op *op)
{
    Change     *change = &merge->change;
    const Stmt *stmt   = change->stmt;

    for (size_t i = 0; i < stmt->merge.count; i++) {
        const Clause *clause = &merge->clauses[i];
        Action        action = {.clause = clause, .row = row};
        bool          is_new = true;
        if (clause->clause->when != when) continue;
        if (clause->condition) {
            Truth truth = clause->condition->test(clause->condition, &change->exec);
            if (truth == TRUTH_ERROR) return false;
            if (truth != TRUTH_TRUE) continue;
        }
        if (row)
            key_table_add(&merge->changed, (Str){(const char *)&row, sizeof(const SimRow *)},
                          &is_new);
        if (!is_new)
            return sim_error(change->error, 8672,
                             "The MERGE statement attempted to UPDATE or DELETE the same row more "
                             "than once. This happens when a target row matches more than one "
                             "source row. A MERGE statement cannot UPDATE/DELETE the same row of "
                             "the target table multiple times. Refine the ON clause to ensure a "
                             "target row matches at most one source row, or use the GROUP BY "
                             "clause to group the source rows.");
        if (change->outputs.count > 0)
            action.tuple = tuple_save(change->arena, &change->exec, &op->slots);
        if (clause->clause->action == STMT_INSERT && !make_insert(merge, clause, &action))
            return false;
        if (clause->clause->action == STMT_UPDATE &&
            !change_new_values(change, clause->values, row, &action.values))
            return false;
        *LIST_PUSH(change->arena, &merge->actions) = action;
        return true;
    }
    return true;
}

static const SimRow *row_in(const Exec *exec, const BoundSource *source)
{
    const SimValue *slot = &exec->slots[source->row_slot];

    return slot->is_null ? NULL : (const SimRow *)(intptr_t)slot->i64;
}

static bool collect_joined(Merge *merge)
{
    Change *change  = &merge->change;
    Arena  *scratch = exec_arena(&change->exec);
    Pull    pull;

    if (!op_open(merge->op, &change->exec)) return false;
    while ((pull = op_next(merge->op, &change->exec)) == PULL_ROW) {
        const SimRow *row = row_in(&change->exec, merge->source);
        arena_reset(scratch);
        change->exec.scratch = scratch;
        if (row)
            key_table_add(&merge->matched, (Str){(const char *)&row, sizeof(const SimRow *)}, NULL);
        if (!act(merge, row ? MERGE_MATCHED : MERGE_NOT_MATCHED, row, merge->op)) return false;
    }
    op_close(merge->op, &change->exec);
    return pull == PULL_END;
}

static bool collect_rest(Merge *merge)
{
    Change *change  = &merge->change;
    Arena  *scratch = exec_arena(&change->exec);
    Pull    pull;

    if (!op_open(merge->rest, &change->exec)) return false;
    while ((pull = op_next(merge->rest, &change->exec)) == PULL_ROW) {
        const SimRow *row = row_in(&change->exec, merge->unjoined);
        Str           key = {(const char *)&row, sizeof(const SimRow *)};
        if (key_table_find(&merge->matched, key)) continue;
        arena_reset(scratch);
        change->exec.scratch = scratch;
        if (!act(merge, MERGE_NOT_MATCHED_BY_SOURCE, row, merge->rest)) return false;
    }
    op_close(merge->rest, &change->exec);
    return pull == PULL_END;
}

/* --- doing --- */
static bool apply_changes(Merge *merge, StmtKind kind)
{
    Change *change        = &merge->change;
    SimTxn *txn           = change_txn(change, &change->target);
    LIST(SimChange) picks = {0};

    for (size_t i = 0; i < merge->actions.count; i++) {
        const Action *action = &merge->actions.items[i];
        if (action->clause->clause->action == kind)
            *LIST_PUSH(change->arena, &picks) = (SimChange){action->row, action->values};
    }
    if (picks.count == 0) return true;
    return kind == STMT_DELETE
               ? sim_delete(txn, change->target.table, picks.items, picks.count, change->error)
               : sim_update_split(txn, change->target.table, picks.items, picks.count,
                                  change->error);
}

static bool apply_inserts(Merge *merge)
{
    Change *change = &merge->change;
    Target *target = &change->target;

    for (size_t i = 0; i < merge->actions.count; i++) {
        Action *action = &merge->actions.items[i];
        if (action->clause->clause->action != STMT_INSERT) continue;
        arena_reset(change->row_arena);
        if (!change_fill_rest(change, target, action->values, action->given) ||
            !change_complete_row(change, target, action->values, change->row_arena) ||
            !sim_insert(change_txn(change, target), target->table, action->values, change->error))
            return false;
        change_note_identity(change, target, &action->clause->columns, action->values);
        for (size_t c = 0; c < target->info->column_count; c++)
            action->values[c] = value_copy(change->arena, &action->values[c]);
    }
    return true;
}

static bool check_references(Merge *merge)
{
    Change *change        = &merge->change;
    LIST(SimChange) picks = {0};

    for (size_t i = 0; i < merge->actions.count; i++)
        if (merge->actions.items[i].row)
            *LIST_PUSH(change->arena, &picks) = (SimChange){merge->actions.items[i].row, NULL};
    return change_check_references(change, &change->target) &&
           change_check_referrers(change, &change->target, picks.items, picks.count);
}

static void fill_nulls(Change *change, BoundSource *source)
{
    for (size_t i = 0; i < source->column_count; i++) {
        SimValue null = sim_null(source->columns[i].type);
        exec_set_slot(&change->exec, source->columns[i].slot, &null);
    }
}

static bool send_outputs(Merge *merge)
{
    static const char *const names[] = {"INSERT", "UPDATE", "DELETE"};
    Change                  *change  = &merge->change;
    const SimTableInfo      *info    = change->target.info;
    SimValue                *old     = ARENA_ARRAY(change->arena, SimValue, info->column_count + 1);

    if (change->outputs.count == 0) return true;
    if (!change_send_header(change)) return false;
    for (size_t a = 0; a < merge->actions.count; a++) {
        const Action *action = &merge->actions.items[a];
        StmtKind      kind   = action->clause->clause->action;
        bool          alone  = action->clause->clause->when == MERGE_NOT_MATCHED_BY_SOURCE;
        arena_reset(change->row_arena);
        for (size_t i = 0; i < merge->op->slots.count; i++) /* columns of the source: none */
            exec_null_slot(&change->exec, merge->op->slots.items[i]);
        tuple_restore(&change->exec, alone ? &merge->rest->slots : &merge->op->slots,
                      action->tuple);
        for (size_t i = 0; action->row && i < info->column_count; i++)
            sim_row_value(change->target.table, action->row, i, &old[i]);
        if (change->deleted) {
            if (action->row)
                change_fill_slots(change, change->deleted, old);
            else
                fill_nulls(change, change->deleted);
        }
        if (action->values)
            change_fill_slots(change, change->target.row, action->values);
        else
            fill_nulls(change, change->target.row);
        change->exec.slots[change->action_slot] = sim_nvarchar(
            change->row_arena, str_from_c(names[kind == STMT_INSERT   ? 0
                                                : kind == STMT_UPDATE ? 1
                                                                      : 2]));
        if (!change_send_row(change)) return false;
    }
    return true;
}

bool run_merge(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
               SimError *error)
{
    Merge      *merge  = ARENA_NEW(arena, Merge);
    Change     *change = &merge->change;
    QueryScope *scope = NULL, *alone = NULL;
    bool        ok = false;

    if (stmt->top) return sim_not_supported(error, "TOP in MERGE");
    change_begin(change, session, stmt, arena, error);
    (void)binder_slot(change->binder); /* 0 stands for no slot */
    change->action_slot = binder_slot(change->binder);
    scope               = scope_new(change->binder, NULL);
    alone               = scope_new(change->binder, NULL);
    if (!bind_join(merge, scope, alone) || !change_bind_computed(change, &change->target))
        goto done;
    if (change->target.info->is_system && !session->is_aside) {
        (void)binder_error(change->binder, stmt->line, 259,
                           "Ad hoc updates to system catalogs are not allowed.");
        goto done;
    }
    if (!bind_clauses(merge, scope, alone) || !change_bind_output(change, scope, true, true) ||
        !plan(merge, scope, alone) || !binder_check_permissions(change->binder))
        goto done;
    binder_start(change->binder, &change->exec);
    (void)change_txn(change, &change->target);
    key_table_init(&merge->matched, arena);
    key_table_init(&merge->changed, arena);
    ok = collect_joined(merge) &&
         (!has_clause(stmt, MERGE_NOT_MATCHED_BY_SOURCE) || collect_rest(merge)) &&
         apply_changes(merge, STMT_DELETE) && apply_changes(merge, STMT_UPDATE) &&
         apply_inserts(merge) && check_references(merge) && send_outputs(merge);
    result->has_count = true;
    result->count     = (int64_t)merge->actions.count;
done:
    exec_end(&change->exec);
    return ok;
}
