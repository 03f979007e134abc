/* bind_select.c - a SELECT from its clauses to operators: FROM and WHERE, groups, windows, DISTINCT, ORDER BY, TOP; and set operations. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <assert.h>

typedef LIST(SelectPlan *) PlanList;

/* One SELECT while it is bound. */
typedef struct Build {
    Binder       *binder;
    QueryScope   *scope;
    const Select *select;
    Op           *op;
    OutList       outs;
    SortItems     order;
    LimitSpec     limit;
    bool          is_grouped;
} Build;

static Str item_name(const SelectItem *item)
{
    if (!str_is_empty(item->alias)) return item->alias;
    if (item->expr->kind == EXPR_COLUMN)
        return item->expr->parts.items[item->expr->parts.count - 1];
    return STR_EMPTY;
}

static bool bind_items(Build *build)
{
    const Select *select = build->select;

    for (size_t i = 0; i < select->items.count; i++) {
        const SelectItem *item = &select->items.items[i];
        if (item->expr->kind == EXPR_STAR) {
            if (!bind_star(build->binder, build->scope, item->expr, &build->outs)) return false;
            continue;
        }
        OutColumn out = {.name = item_name(item), .assign_to = item->assign_to};
        if (!bind_expr(build->binder, build->scope, item->expr, &out.node)) return false;
        out.is_nullable = out.node->is_nullable;
        if (out.node->kind == NODE_SLOT && out.node->source)
            for (size_t c = 0; c < out.node->source->column_count; c++)
                if (out.node->source->columns[c].slot == out.node->slot) {
                    out.is_identity = out.node->source->columns[c].is_identity;
                    out.is_computed = out.node->source->columns[c].is_computed;
                }
        *LIST_PUSH(build->binder->arena, &build->outs) = out;
    }
    return true;
}

/* "t.c" behind a UNION: the output that the first SELECT makes of a column it names so; -1: none. */
static ptrdiff_t find_qualified(const Select *select, const Expr *name)
{
    while (select->left)
        select = select->left;
    for (size_t i = 0; i < select->items.count; i++) {
        const Expr *item = select->items.items[i].expr;
        if (item->kind == EXPR_STAR) return -1; /* what follows has no place of its own */
        bool is_same = item->kind == EXPR_COLUMN && item->parts.count == name->parts.count;
        for (size_t part = 0; is_same && part < name->parts.count; part++)
            is_same = sim_name_equal(item->parts.items[part], name->parts.items[part]);
        if (is_same) return (ptrdiff_t)i;
    }
    return -1;
}

static ptrdiff_t find_output(const Build *build, const Expr *expr)
{
    if (expr->kind == EXPR_COLUMN && expr->parts.count == 1)
        for (size_t i = 0; i < build->outs.count; i++)
            if (sim_name_equal(build->outs.items[i].name, expr->parts.items[0]))
                return (ptrdiff_t)i;
    return -1;
}

/* An integer with its sign. One that no int holds is a decimal. */
static bool is_position(const Expr *expr, int64_t *out)
{
    bool is_negative = expr->kind == EXPR_UNARY && expr->op == '-';
    if (is_negative) expr = expr->args.items[0];
    if (expr->kind != EXPR_LITERAL || expr->value.is_null ||
        !sim_type_is_integer(expr->value.type.kind))
        return false;
    *out = is_negative ? -expr->value.i64 : expr->value.i64;
    return true;
}

/* Literals, and what operators make of them. */
static bool is_constant(const Expr *expr)
{
    if (expr->kind == EXPR_LITERAL) return true;
    if (expr->kind != EXPR_UNARY && expr->kind != EXPR_BINARY) return false;
    for (size_t i = 0; i < expr->args.count; i++)
        if (!is_constant(expr->args.items[i])) return false;
    return true;
}

/* ORDER BY: a position, the name of an output, maybe under another collation, or an expression. */
static bool bind_order_item(Build *build, size_t index, bool outputs_only, SortItem *out)
{
    Binder          *binder   = build->binder;
    const OrderItem *item     = &build->select->order_by.items[index];
    const Expr      *expr     = item->expr;
    int64_t          position = 0;

    out->descending = item->descending;
    if (is_position(expr, &position)) {
        if (position < 1 || (uint64_t)position > build->outs.count)
            return binder_error(binder, expr->line, 108,
                                "The ORDER BY position number %lld is out of range of the number "
                                "of items in the select list.",
                                (long long)position);
        out->node = build->outs.items[position - 1].node;
        return true;
    }
    if (is_constant(expr))
        return binder_error(binder, expr->line, 408,
                            "A constant expression was encountered in the ORDER BY list, position "
                            "%zu.",
                            index + 1);
    ptrdiff_t output = find_output(build, expr);
    if (output >= 0) {
        out->node = build->outs.items[output].node;
        return true;
    }
    if (expr->kind == EXPR_COLLATE && !build->select->distinct &&
        (output = find_output(build, expr->args.items[0])) >= 0)
        return bind_collation_of(binder, expr, build->outs.items[output].node, &out->node);
    if (build->select->left) { /* a set operation has only its outputs */
        ptrdiff_t at = expr->kind == EXPR_COLUMN ? find_qualified(build->select, expr) : -1;
        if (at >= 0) {
            out->node = build->outs.items[at].node;
            return true;
        }
        return binder_error(binder, expr->line, 104,
                            "ORDER BY items must appear in the select list if the statement "
                            "contains a UNION, INTERSECT or EXCEPT operator.");
    }
    if (!bind_expr(binder, build->scope, expr, &out->node)) return false;
    if (!outputs_only) return true;
    for (size_t i = 0; i < build->outs.count; i++)
        if (node_same(build->outs.items[i].node, out->node)) {
            out->node = build->outs.items[i].node;
            return true;
        }
    return binder_error(
        binder, expr->line, 145,
        "ORDER BY items must appear in the select list if SELECT DISTINCT is specified.");
}

static bool bind_order(Build *build)
{
    for (size_t i = 0; i < build->select->order_by.count; i++) {
        SortItem item = {NULL, false};
        if (!bind_order_item(build, i, build->select->distinct, &item)) return false;
        assert(item.node);
        if (sim_type_is_lob(item.node->type.kind))
            return binder_error(build->binder, build->select->order_by.items[i].expr->line, 306,
                                "The text, ntext, and image data types cannot be compared or "
                                "sorted, except when using IS NULL or LIKE operator.");
        *LIST_PUSH(build->binder->arena, &build->order) = item;
    }
    return true;
}

static bool is_whole(const Node *percent)
{
    return percent->kind == NODE_CONST && sim_type_is_integer(percent->value.type.kind) &&
           !percent->value.is_null && percent->value.i64 == 100;
}

static bool bind_limit(Build *build)
{
    const Select *select = build->select;

    if (select->top && !bind_expr(build->binder, NULL, select->top, &build->limit.top))
        return false;
    if (select->offset && !bind_expr(build->binder, NULL, select->offset, &build->limit.offset))
        return false;
    if (select->fetch && !bind_expr(build->binder, NULL, select->fetch, &build->limit.fetch))
        return false;
    build->limit.with_ties = select->top_with_ties;
    build->limit.percent   = select->top_percent;
    if (build->limit.percent && is_whole(build->limit.top)) /* as views are made to keep ORDER BY */
        build->limit = (LimitSpec){.top = NULL};
    if (select->top_with_ties && select->order_by.count == 0)
        return binder_error(
            build->binder, select->line, 1062,
            "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause.");
    return true;
}

static bool has_limit(const Build *build)
{
    return build->limit.top || build->limit.offset || build->limit.fetch;
}

/* --- GROUP BY --- */
static bool bind_groups(Build *build)
{
    Binder       *binder = build->binder;
    QueryScope   *scope  = build->scope;
    const Select *select = build->select;

    build->is_grouped = select->group_by.count > 0 || select->having != NULL;
    for (size_t i = 0; i < select->items.count && !build->is_grouped; i++)
        build->is_grouped = expr_has_aggregate(select->items.items[i].expr);
    for (size_t i = 0; i < select->order_by.count && !build->is_grouped; i++)
        build->is_grouped = expr_has_aggregate(select->order_by.items[i].expr);
    if (!build->is_grouped) return true;
    for (size_t i = 0; i < select->group_by.count; i++) {
        Node *node = NULL;
        if (expr_has_aggregate(select->group_by.items[i]))
            return binder_error(binder, select->line, 144,
                                "Cannot use an aggregate or a subquery in an expression used for "
                                "the group by list of a GROUP BY clause.");
        if (!bind_expr(binder, scope, select->group_by.items[i], &node)) return false;
        if (node->kind == NODE_CONST || node->kind == NODE_VARIABLE)
            return binder_error(binder, select->line, 164,
                                "Each GROUP BY expression must contain at least one column that "
                                "is not an outer reference.");
        if (sim_type_is_lob(node->type.kind))
            return binder_error(binder, select->line, 306,
                                "The text, ntext, and image data types cannot be compared or "
                                "sorted, except when using IS NULL or LIKE operator.");
        *LIST_PUSH(binder->arena, &scope->group_exprs) = select->group_by.items[i];
        *LIST_PUSH(binder->arena, &scope->group_nodes) = node;
        *LIST_PUSH(binder->arena, &scope->group_slots) = binder_slot(binder);
    }
    scope->is_grouped = true;
    return true;
}

/* One MIN or MAX of a column, alone: the first row of an order, when an index has it. */
static bool is_single_extreme(const Build *build)
{
    const QueryScope *scope = build->scope;

    if (!build->is_grouped || scope->group_nodes.count > 0 || scope->aggregates.count != 1)
        return false;
    const AggregateCall *call = scope->aggregates.items[0];
    return (call->function->kind == SIM_MIN || call->function->kind == SIM_MAX) &&
           call->arg->kind == NODE_SLOT && call->arg->source &&
           call->arg->source->kind == BOUND_TABLE && call->arg->source->scope == scope;
}

static Node *constant_one(Binder *binder)
{
    SimValue one = sim_int(1, SIM_INT);
    return node_const(binder->arena, &one, 0);
}

static bool plan_input(Build *build, Node *where)
{
    Binder   *binder  = build->binder;
    FromPlan *from    = ARENA_NEW(binder->arena, FromPlan);
    bool      extreme = is_single_extreme(build);

    from->scope = build->scope;
    from->tree  = build->scope->tree;
    if (where) split_and(binder->arena, where, &from->where);
    if (extreme) {
        SortItem item       = {.node       = build->scope->aggregates.items[0]->arg,
                               .descending = build->scope->aggregates.items[0]->function->kind ==
                                             SIM_MAX};
        Node    *not_null   = node_new(binder->arena, NODE_IS_NULL, sim_type(SIM_BIT), 0);
        not_null->test      = test_is_null;
        not_null->negated   = true;
        not_null->args      = ARENA_ARRAY(binder->arena, Node *, 1);
        not_null->args[0]   = item.node;
        not_null->arg_count = 1;
        *LIST_PUSH(binder->arena, &from->wanted) = item;
        *LIST_PUSH(binder->arena, &from->where)  = not_null;
        from->limit                              = constant_one(binder);
        if (!plan_from(binder, from, &build->op)) return false;
        if (op_has_order(build->op, &from->wanted)) {
            LimitSpec first = {.top = from->limit};
            build->op       = op_limit(binder->arena, build->op, &first);
        }
        return true;
    }
    if (build->is_grouped) {
        for (size_t i = 0; i < build->scope->group_nodes.count; i++)
            *LIST_PUSH(binder->arena,
                       &from->wanted) = (SortItem){build->scope->group_nodes.items[i], false};
    } else if (build->scope->windows.count > 0) {
        const WindowCall *call = build->scope->windows.items[0];
        for (size_t i = 0; i < call->partition.count; i++)
            *LIST_PUSH(binder->arena, &from->wanted) = (SortItem){call->partition.items[i], false};
        for (size_t i = 0; i < call->order.count; i++)
            *LIST_PUSH(binder->arena, &from->wanted) = call->order.items[i];
    } else {
        from->wanted = build->order;
        if (!build->select->distinct)
            from->limit = build->limit.percent ? NULL
                          : build->limit.top   ? build->limit.top
                                               : build->limit.fetch;
    }
    return plan_from(binder, from, &build->op);
}

static void plan_groups(Build *build, Node *having)
{
    Binder     *binder = build->binder;
    QueryScope *scope  = build->scope;
    SortItems   keys   = {0};

    if (!build->is_grouped) return;
    for (size_t i = 0; i < scope->group_nodes.count; i++)
        *LIST_PUSH(binder->arena, &keys) = (SortItem){scope->group_nodes.items[i], false};
    build->op = op_group(binder->arena, build->op, &scope->group_nodes, &scope->group_slots,
                         scope->aggregates.items, scope->aggregates.count,
                         scope->group_nodes.count == 0,
                         keys.count > 0 && op_has_order(build->op, &keys));
    if (having) build->op = op_filter(binder->arena, build->op, having);
}

/* --- windows --- */
static bool same_window(const WindowCall *left, const WindowCall *right)
{
    if (left->partition.count != right->partition.count || left->order.count != right->order.count)
        return false;
    for (size_t i = 0; i < left->partition.count; i++)
        if (!node_same(left->partition.items[i], right->partition.items[i])) return false;
    for (size_t i = 0; i < left->order.count; i++)
        if (left->order.items[i].descending != right->order.items[i].descending ||
            !node_same(left->order.items[i].node, right->order.items[i].node))
            return false;
    return true;
}

static void plan_windows(Build *build)
{
    Arena *arena = build->binder->arena;
    size_t count = build->scope->windows.count;
    bool  *done  = ARENA_ARRAY(arena, bool, count + 1);

    for (size_t i = 0; i < count; i++) {
        WindowCall *first        = build->scope->windows.items[i];
        SortItems   sort         = {0};
        LIST(WindowCall *) calls = {0};
        if (done[i]) continue;
        for (size_t k = i; k < count; k++) {
            if (!same_window(first, build->scope->windows.items[k])) continue;
            done[k]                   = true;
            *LIST_PUSH(arena, &calls) = build->scope->windows.items[k];
        }
        for (size_t p = 0; p < first->partition.count; p++)
            *LIST_PUSH(arena, &sort) = (SortItem){first->partition.items[p], false};
        for (size_t o = 0; o < first->order.count; o++)
            *LIST_PUSH(arena, &sort) = first->order.items[o];
        if (sort.count > 0 && !op_has_order(build->op, &sort))
            build->op = op_sort(arena, build->op, &sort);
        build->op = op_window(arena, build->op, &first->partition, &first->order, calls.items,
                              calls.count);
    }
}

/* --- the rest --- */
static bool check_distinct(Build *build)
{
    for (size_t i = 0; build->select->distinct && i < build->outs.count; i++) {
        const SimType *type = &build->outs.items[i].node->type;
        if (sim_type_is_lob(type->kind))
            return binder_error(build->binder, build->select->line, 421,
                                "The %s data type cannot be selected as DISTINCT because it is "
                                "not comparable.",
                                sim_type_word(type));
    }
    return true;
}

static void plan_distinct(Build *build)
{
    Binder    *binder  = build->binder;
    AssignList assigns = {0};
    NodeList   keys    = {0};

    if (!build->select->distinct) return;
    for (size_t i = 0; i < build->outs.count;
         i++) { /* outputs become slots, so that rows behind this are the outputs alone */
        OutColumn *out  = &build->outs.items[i];
        Node      *node = out->node;
        if (node->kind != NODE_SLOT) {
            int slot                            = binder_slot(binder);
            *LIST_PUSH(binder->arena, &assigns) = (Assign){slot, node};
            out->node = node_slot(binder->arena, slot, node->type, node->is_nullable);
            out->node->collation_rank = node->collation_rank;
            for (size_t o = 0; o < build->order.count; o++)
                if (build->order.items[o].node == node) build->order.items[o].node = out->node;
        }
        *LIST_PUSH(binder->arena, &keys) = out->node;
    }
    if (assigns.count > 0) build->op = op_compute(binder->arena, build->op, &assigns, true);
    build->op = op_distinct(binder->arena, build->op, &keys);
}

static void plan_order_and_limit(Build *build)
{
    static const SortItems none  = {.count = 0};
    Arena                 *arena = build->binder->arena;

    if (build->order.count > 0 && !op_has_order(build->op, &build->order)) {
        build->op = op_sort(arena, build->op, &build->order);
        if (build->limit.top && !build->limit.with_ties && !build->limit.percent)
            op_sort_set_limit(build->op, build->limit.top, NULL);
        if (build->limit.fetch)
            op_sort_set_limit(build->op, build->limit.fetch, build->limit.offset);
    } else if (build->limit.percent) {
        build->op = op_sort(arena, build->op, &none); /* which counts its rows */
    }
    if (!has_limit(build)) return;
    build->limit.ties = build->order;
    build->op         = op_limit(arena, build->op, &build->limit);
}

static bool finish(Build *build, SelectPlan **out)
{
    SelectPlan *plan     = ARENA_NEW(build->binder->arena, SelectPlan);
    size_t      assigned = 0;

    plan->op        = build->op;
    plan->outs      = build->outs.items;
    plan->out_count = build->outs.count;
    for (size_t i = 0; i < plan->out_count; i++)
        assigned += !str_is_empty(plan->outs[i].assign_to);
    if (assigned > 0 && assigned < plan->out_count)
        return binder_error(build->binder, build->select->line, 141,
                            "A SELECT statement that assigns a value to a variable must not be "
                            "combined with data-retrieval operations.");
    plan->assigns = assigned > 0;
    *out          = plan;
    return true;
}

static bool bind_simple(Binder *binder, QueryScope *outer, const Select *select, SelectPlan **out)
{
    Build       build = {.binder = binder, .select = select, .scope = scope_new(binder, outer)};
    QueryScope *scope = build.scope;
    Node       *where = NULL, *having = NULL;

    if (select->from && !bind_from(binder, scope, select->from, &scope->tree)) return false;
    if (select->where && !bind_predicate(binder, scope, select->where, &where)) return false;
    if (!bind_groups(&build)) return false;
    scope->phase             = PHASE_OUTPUT;
    scope->allows_aggregates = true;
    if (select->having && !bind_predicate(binder, scope, select->having, &having)) return false;
    scope->allows_windows = true;
    if (!bind_items(&build) || !check_distinct(&build) || !bind_order(&build) ||
        !bind_limit(&build))
        return false;
    if (!plan_input(&build, where)) return false;
    plan_groups(&build, having);
    plan_windows(&build);
    plan_distinct(&build);
    plan_order_and_limit(&build);
    return finish(&build, out);
}

/* --- set operations --- */
static bool flatten_union(Binder *binder, QueryScope *outer, const Select *select, PlanList *plans)
{
    SelectPlan *plan = NULL;

    if (select->left && select->set_op == SET_UNION_ALL && select->order_by.count == 0 &&
        !select->offset && select->with.count == 0)
        return flatten_union(binder, outer, select->left, plans) &&
               flatten_union(binder, outer, select->right, plans);
    if (!bind_select(binder, outer, select, &plan)) return false;
    *LIST_PUSH(binder->arena, plans) = plan;
    return true;
}

static bool unify_branches(Binder *binder, const Select *select, PlanList *plans, OutList *outs,
                           UnionBranches *branches, SlotList *slots)
{
    size_t columns = plans->items[0]->out_count;
    Node **nodes   = ARENA_ARRAY(binder->arena, Node *, plans->count + 1);

    for (size_t p = 0; p < plans->count; p++) {
        if (plans->items[p]->out_count != columns)
            return binder_error(binder, select->line, 205,
                                "All queries combined using a UNION, INTERSECT or EXCEPT operator "
                                "must have an equal number of expressions in their target lists.");
        LIST_PUSH(binder->arena, branches)->op = plans->items[p]->op;
    }
    for (size_t c = 0; c < columns; c++) {
        bool nullable = false;
        for (size_t p = 0; p < plans->count; p++)
            nodes[p] = plans->items[p]->outs[c].node;
        if (!bind_unify(binder, nodes, plans->count, select->line)) return false;
        int slot                         = binder_slot(binder);
        *LIST_PUSH(binder->arena, slots) = slot;
        for (size_t p = 0; p < plans->count; p++) {
            *LIST_PUSH(binder->arena, &branches->items[p].assigns) = (Assign){slot, nodes[p]};
            nullable |= nodes[p]->is_nullable;
        }
        OutColumn out            = {.name = plans->items[0]->outs[c].name, .is_nullable = nullable};
        out.node                 = node_slot(binder->arena, slot, nodes[0]->type, nullable);
        out.node->collation_rank = nodes[0]->collation_rank;
        *LIST_PUSH(binder->arena, outs) = out;
    }
    return true;
}

static void out_nodes(Binder *binder, const OutList *outs, NodeList *nodes)
{
    for (size_t i = 0; i < outs->count; i++)
        *LIST_PUSH(binder->arena, nodes) = outs->items[i].node;
}

static bool bind_set(Binder *binder, QueryScope *outer, const Select *select, SelectPlan **out)
{
    Build         build = {.binder = binder, .select = select, .scope = scope_new(binder, outer)};
    PlanList      plans = {0};
    UnionBranches branches = {0};
    SlotList      slots    = {0};
    NodeList      keys     = {0};

    if (!flatten_union(binder, outer, select->left, &plans)) return false;
    bool is_all = select->set_op == SET_UNION_ALL;
    if (!is_all && plans.count > 1) { /* a UNION ALL chain under another operation: one branch */
        plans.count      = 0;
        SelectPlan *left = NULL;
        if (!bind_select(binder, outer, select->left, &left)) return false;
        *LIST_PUSH(binder->arena, &plans) = left;
    }
    if (is_all) {
        if (!flatten_union(binder, outer, select->right, &plans)) return false;
    } else {
        SelectPlan *right = NULL;
        if (!bind_select(binder, outer, select->right, &right)) return false;
        *LIST_PUSH(binder->arena, &plans) = right;
    }
    if (!unify_branches(binder, select, &plans, &build.outs, &branches, &slots)) return false;
    assert(branches.count >= 2 && branches.items);
    if (select->set_op == SET_UNION || select->set_op == SET_UNION_ALL) {
        build.op = op_union_all(binder->arena, &branches, &slots);
        out_nodes(binder, &build.outs, &keys);
        if (select->set_op == SET_UNION) build.op = op_distinct(binder->arena, build.op, &keys);
    } else { /* both sides write the same slots, one after the other */
        UnionBranches left = {0}, right = {0};
        *LIST_PUSH(binder->arena, &left)  = branches.items[0];
        *LIST_PUSH(binder->arena, &right) = branches.items[1];
        out_nodes(binder, &build.outs, &keys);
        build.op = op_set_except(binder->arena, op_union_all(binder->arena, &left, &slots),
                                 op_union_all(binder->arena, &right, &slots), &keys, &keys,
                                 select->set_op == SET_INTERSECT);
    }
    if (!bind_order(&build) || !bind_limit(&build)) return false;
    plan_order_and_limit(&build);
    return finish(&build, out);
}

bool bind_select(Binder *binder, QueryScope *outer, const Select *select, SelectPlan **out)
{
    CteFrame *saved = binder->ctes;
    bool      ok    = false;

    if (++binder->depth > 400) {
        (void)binder_error(binder, select->line, 8631,
                           "Internal error: Server stack limit has been reached.");
        return false;
    }
    for (size_t i = 0; i < select->with.count; i++) {
        CteFrame *frame = ARENA_NEW(binder->arena, CteFrame);
        frame->table    = &select->with.items[i];
        frame->outer    = binder->ctes;
        binder->ctes    = frame;
    }
    for (size_t i = 0; i + 1 < select->options.count; i++)
        if (str_equal_c(select->options.items[i], "MAXRECURSION") &&
            (!str_parse_i64(select->options.items[i + 1], &binder->recursion_limit) ||
             binder->recursion_limit > 32767))
            return binder_error(binder, select->line, 310,
                                "The value %.*s specified for the MAXRECURSION option exceeds the "
                                "allowed maximum of 32767.",
                                STR_ARG(select->options.items[i + 1]));
    ok           = select->left ? bind_set(binder, outer, select, out)
                                : bind_simple(binder, outer, select, out);
    binder->ctes = saved;
    binder->depth--;
    return ok;
}
