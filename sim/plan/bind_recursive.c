/* bind_recursive.c - a common table that names itself: anchor queries, then recursive members, all joined by UNION ALL. Inside a member its name stands for
 * one row, the one whose followers are looked for. */
#include "sim/plan/bind_internal.h"

typedef LIST(const Select *) SelectList;

/* --- does a query name the table? --- */
static bool select_names(const Select *select, Str name);

static bool expr_names(const Expr *expr, Str name)
{
    if (!expr) return false;
    if (expr->select && select_names(expr->select, name)) return true;
    for (size_t i = 0; i < expr->args.count; i++)
        if (expr_names(expr->args.items[i], name)) return true;
    return expr_names(expr->operand, name) || expr_names(expr->otherwise, name);
}

static bool source_names(const Source *source, Str name)
{
    if (!source) return false;
    switch (source->kind) {
    case SOURCE_TABLE:
        return str_is_empty(source->name.schema) && str_is_empty(source->name.database) &&
               sim_name_equal(source->name.name, name);
    case SOURCE_SELECT: return select_names(source->select, name);
    case SOURCE_JOIN:
        return source_names(source->left, name) || source_names(source->right, name) ||
               expr_names(source->on, name);
    case SOURCE_FUNCTION:
    case SOURCE_VALUES:
    case SOURCE_VARIABLE: break;
    }
    return false;
}

static bool select_names(const Select *select, Str name)
{
    if (!select) return false;
    if (select->left) return select_names(select->left, name) || select_names(select->right, name);
    if (source_names(select->from, name) || expr_names(select->where, name) ||
        expr_names(select->having, name))
        return true;
    for (size_t i = 0; i < select->items.count; i++)
        if (expr_names(select->items.items[i].expr, name)) return true;
    return false;
}

bool cte_is_recursive(const CommonTable *table)
{
    return select_names(table->select, table->name);
}

/* --- the parts --- */
static bool split_parts(Binder *binder, const Select *select, Str name, SelectList *out)
{
    if (select->left && select->set_op == SET_UNION_ALL && select->with.count == 0)
        return split_parts(binder, select->left, name, out) &&
               split_parts(binder, select->right, name, out);
    if (select->left && select_names(select, name))
        return binder_error(binder, select->line, 252,
                            "Recursive common table expression '%.*s' does not contain a "
                            "top-level UNION ALL operator.",
                            STR_ARG(name));
    *LIST_PUSH(binder->arena, out) = select;
    return true;
}

static bool member_forbids(Binder *binder, const Select *select, Str name, const char **what_out,
                           int32_t *number_out)
{
    bool has_aggregate = false;

    (void)binder;
    (void)name;
    for (size_t i = 0; i < select->items.count; i++)
        has_aggregate |= expr_has_aggregate(select->items.items[i].expr);
    *number_out = select->distinct                                                ? 460
                  : select->top || select->offset                                 ? 461
                  : select->group_by.count > 0 || select->having || has_aggregate ? 467
                                                                                  : 0;
    *what_out   = *number_out == 460   ? "DISTINCT operator is"
                  : *number_out == 461 ? "TOP or OFFSET operator is"
                                       : "GROUP BY, HAVING, or aggregate functions are";
    return *number_out != 0;
}

static bool has_outer_join_to(const Source *source, Str name)
{
    if (!source || source->kind != SOURCE_JOIN) return false;
    if ((source->join == JOIN_LEFT || source->join == JOIN_OUTER_APPLY) &&
        source_names(source->right, name))
        return true;
    if (source->join == JOIN_RIGHT && source_names(source->left, name)) return true;
    if (source->join == JOIN_FULL && source_names(source, name)) return true;
    return has_outer_join_to(source->left, name) || has_outer_join_to(source->right, name);
}

static bool check_member(Binder *binder, const Select *select, Str name)
{
    const char *what   = NULL;
    int32_t     number = 0;

    if (member_forbids(binder, select, name, &what, &number))
        return binder_error(binder, select->line, number,
                            "%s not allowed in the recursive part of a recursive common table "
                            "expression '%.*s'.",
                            what, STR_ARG(name));
    if (has_outer_join_to(select->from, name))
        return binder_error(binder, select->line, 462,
                            "Outer join is not allowed in the recursive part of a recursive "
                            "common table expression '%.*s'.",
                            STR_ARG(name));
    return true;
}

/* --- binding --- */
typedef struct Recursion {
    const CommonTable *table;
    SelectList         parts;
    LIST(SelectPlan *) plans;
    size_t   anchor_count;
    SlotList slots, row_slots;
} Recursion;

static bool bind_parts(Binder *binder, Recursion *recursion, CteFrame *frame, bool anchors)
{
    Str name = recursion->table->name;

    for (size_t i = 0; i < recursion->parts.count; i++) {
        const Select *part      = recursion->parts.items[i];
        bool          recursive = select_names(part, name);
        SelectPlan   *plan      = NULL;
        if (recursive == anchors) continue;
        if (recursive && !check_member(binder, part, name)) return false;
        CteFrame *saved = binder->ctes;
        binder->ctes    = anchors ? frame->outer : frame;
        bool ok         = bind_select(binder, scope_new(binder, NULL), part, &plan);
        binder->ctes    = saved;
        if (!ok) return false;
        *LIST_PUSH(binder->arena, &recursion->plans) = plan;
        recursion->anchor_count += anchors;
    }
    return true;
}

static bool is_same_type(const SimType *left, const SimType *right)
{
    if (left->kind != right->kind) return false;
    if (left->kind == SIM_DECIMAL)
        return left->precision == right->precision && left->scale == right->scale;
    bool is_sized = sim_type_is_text(left->kind) || sim_type_is_binary(left->kind);
    return is_sized ? left->length == right->length
                    : !sim_type_is_time(left->kind) || left->scale == right->scale;
}

/* The columns have the anchor's types, and a member must give exactly these (240). */
static bool check_types(Binder *binder, const Recursion *recursion)
{
    const SelectPlan *first = recursion->plans.items[0];

    for (size_t p = recursion->anchor_count; p < recursion->plans.count; p++) {
        const SelectPlan *plan = recursion->plans.items[p];
        if (plan->out_count != first->out_count)
            return binder_error(binder, recursion->table->select->line, 205,
                                "All queries combined using a UNION, INTERSECT or EXCEPT operator "
                                "must have an equal number of expressions in their target lists.");
        for (size_t c = 0; c < first->out_count; c++) {
            const SimType *left = &first->outs[c].node->type, *right = &plan->outs[c].node->type;
            if (is_same_type(left, right)) continue;
            Str column = recursion->table->columns.count > c ? recursion->table->columns.items[c]
                                                             : first->outs[c].name;
            return binder_error(binder, recursion->table->select->line, 240,
                                "Types don't match between the anchor and the recursive part in "
                                "column \"%.*s\" of recursive query \"%.*s\".",
                                STR_ARG(column), STR_ARG(recursion->table->name));
        }
    }
    return true;
}

static void make_branches(Binder *binder, const Recursion *recursion, UnionBranches *anchors,
                          UnionBranches *members)
{
    for (size_t p = 0; p < recursion->plans.count; p++) {
        const SelectPlan *plan   = recursion->plans.items[p];
        UnionBranch      *branch = LIST_PUSH(binder->arena,
                                        p < recursion->anchor_count ? anchors : members);
        branch->op               = plan->op;
        for (size_t c = 0; c < plan->out_count; c++)
            *LIST_PUSH(binder->arena, &branch->assigns) = (Assign){recursion->slots.items[c],
                                                                   plan->outs[c].node};
    }
}

/* Several anchors agree on types as UNION ALL has them. */
static bool unify_anchors(Binder *binder, Recursion *recursion)
{
    Node **nodes = ARENA_ARRAY(binder->arena, Node *, recursion->anchor_count + 1);

    for (size_t c = 0; c < recursion->plans.items[0]->out_count; c++) {
        for (size_t p = 0; p < recursion->anchor_count; p++) {
            if (recursion->plans.items[p]->out_count != recursion->plans.items[0]->out_count)
                return binder_error(
                    binder, recursion->table->select->line, 205,
                    "All queries combined using a UNION, INTERSECT or EXCEPT operator must have "
                    "an equal number of expressions in their target lists.");
            nodes[p] = recursion->plans.items[p]->outs[c].node;
        }
        if (!bind_unify(binder, nodes, recursion->anchor_count, recursion->table->select->line))
            return false;
        for (size_t p = 0; p < recursion->anchor_count; p++)
            recursion->plans.items[p]->outs[c].node = nodes[p];
    }
    return true;
}

/* What the table's name stands for inside its members: the columns of the row that is followed. */
BoundSource *bind_recursive_row(Binder *binder, QueryScope *scope, CteFrame *frame, Str alias,
                                int32_t line)
{
    const SelectPlan *shape  = frame->shape;
    SelectPlan       *query  = ARENA_NEW(binder->arena, SelectPlan);
    BoundSource      *source = scope_add(binder, scope, BOUND_DERIVED,
                                    str_is_empty(alias) ? frame->table->name : alias, line);

    if (!source) return NULL;
    query->op            = op_single_row(binder->arena);
    query->outs          = shape->outs;
    query->out_count     = shape->out_count;
    source->query        = query;
    source->query_scope  = scope_new(binder, NULL);
    source->columns      = ARENA_ARRAY(binder->arena, BoundColumn, shape->out_count + 1);
    source->column_count = shape->out_count;
    for (size_t i = 0; i < shape->out_count; i++)
        source->columns[i] = (BoundColumn){.name        = shape->outs[i].name,
                                           .type        = shape->outs[i].node->type,
                                           .is_nullable = true,
                                           .slot        = shape->outs[i].node->slot,
                                           .ordinal     = i};
    return source;
}

bool bind_recursive(Binder *binder, const CommonTable *table, CteFrame *frame, SelectPlan **out)
{
    Recursion     recursion = {.table = table};
    UnionBranches anchors = {0}, members = {0};
    SelectPlan   *shape = ARENA_NEW(binder->arena, SelectPlan);
    SelectPlan   *plan  = ARENA_NEW(binder->arena, SelectPlan);

    if (!split_parts(binder, table->select, table->name, &recursion.parts) ||
        !bind_parts(binder, &recursion, frame, true))
        return false;
    if (recursion.anchor_count == 0)
        return binder_error(binder, table->select->line, 246,
                            "No anchor member was specified for recursive query \"%.*s\".",
                            STR_ARG(table->name));
    if (!unify_anchors(binder, &recursion)) return false;
    const SelectPlan *first = recursion.plans.items[0];
    if (table->columns.count > 0 && table->columns.count != first->out_count)
        return binder_error(
            binder, table->select->line, table->columns.count < first->out_count ? 8158 : 8159,
            "'%.*s' has %s columns than were specified in the column list.", STR_ARG(table->name),
            table->columns.count < first->out_count ? "more" : "fewer");
    shape->out_count = plan->out_count = first->out_count;
    shape->outs = ARENA_ARRAY(binder->arena, OutColumn, first->out_count + 1);
    plan->outs  = ARENA_ARRAY(binder->arena, OutColumn, first->out_count + 1);
    for (size_t c = 0; c < first->out_count; c++) {
        const Node *node = first->outs[c].node;
        Str         name = table->columns.count > 0 ? table->columns.items[c] : first->outs[c].name;
        int         slot = binder_slot(binder), row_slot = binder_slot(binder);
        *LIST_PUSH(binder->arena, &recursion.slots)     = slot;
        *LIST_PUSH(binder->arena, &recursion.row_slots) = row_slot;
        shape->outs[c]                      = (OutColumn){.name = name, .is_nullable = true};
        plan->outs[c]                       = (OutColumn){.name = name, .is_nullable = true};
        shape->outs[c].node                 = node_slot(binder->arena, row_slot, node->type, true);
        plan->outs[c].node                  = node_slot(binder->arena, slot, node->type, true);
        shape->outs[c].node->collation_rank = plan->outs[c].node->collation_rank =
            node->collation_rank;
    }
    frame->shape = shape;
    bool ok      = bind_parts(binder, &recursion, frame, false) && check_types(binder, &recursion);
    frame->shape = NULL;
    if (!ok) return false;
    make_branches(binder, &recursion, &anchors, &members);
    plan->op = op_recursive(binder->arena, &anchors, &members, &recursion.slots,
                            &recursion.row_slots, binder->recursion_limit);
    *out     = plan;
    return true;
}
