/* predicate.c - predicates, in three-valued logic. */
#include "sim/function/function.h"
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

static Truth truth_of_order(CompareOp op, int order)
{
    switch (op) {
    case CMP_EQ: return order == 0;
    case CMP_NE: return order != 0;
    case CMP_LT: return order < 0;
    case CMP_LE: return order <= 0;
    case CMP_GT: return order > 0;
    case CMP_GE: return order >= 0;
    }
    return TRUTH_UNKNOWN;
}

Truth value_compare_truth(CompareOp op, const SimValue *left, const SimValue *right,
                          SimError *error)
{
    int order = 0;

    if (left->is_null || right->is_null) return TRUTH_UNKNOWN;
    if (left->type.kind >= SIM_BIT && left->type.kind <= SIM_BIGINT &&
        right->type.kind >= SIM_BIT && right->type.kind <= SIM_BIGINT)
        order = left->i64 < right->i64 ? -1 : left->i64 > right->i64;
    else if (!sim_compare(left, right, &order, error))
        return TRUTH_ERROR;
    return truth_of_order(op, order);
}

Truth test_compare(Node *node, Exec *exec)
{
    const SimValue *left = node_eval(node->args[0], exec);
    if (!left) return TRUTH_ERROR;
    const SimValue *right = node_eval(node->args[1], exec);
    if (!right) return TRUTH_ERROR;
    return value_compare_truth(node->compare, left, right, exec->error);
}

Truth test_and(Node *node, Exec *exec)
{
    Truth left = node->args[0]->test(node->args[0], exec);
    if (left == TRUTH_FALSE || left == TRUTH_ERROR) return left;
    Truth right = node->args[1]->test(node->args[1], exec);
    if (right == TRUTH_FALSE || right == TRUTH_ERROR) return right;
    return left == TRUTH_TRUE && right == TRUTH_TRUE ? TRUTH_TRUE : TRUTH_UNKNOWN;
}

Truth test_or(Node *node, Exec *exec)
{
    Truth left = node->args[0]->test(node->args[0], exec);
    if (left == TRUTH_TRUE || left == TRUTH_ERROR) return left;
    Truth right = node->args[1]->test(node->args[1], exec);
    if (right == TRUTH_TRUE || right == TRUTH_ERROR) return right;
    return left == TRUTH_FALSE && right == TRUTH_FALSE ? TRUTH_FALSE : TRUTH_UNKNOWN;
}

static Truth truth_not(Truth truth)
{
    return truth == TRUTH_TRUE ? TRUTH_FALSE : truth == TRUTH_FALSE ? TRUTH_TRUE : truth;
}

Truth test_not(Node *node, Exec *exec)
{
    return truth_not(node->args[0]->test(node->args[0], exec));
}

Truth test_is_null(Node *node, Exec *exec)
{
    const SimValue *value = node_eval(node->args[0], exec);

    if (!value) return TRUTH_ERROR;
    return value->is_null != node->negated;
}

Truth test_in_list(Node *node, Exec *exec)
{
    bool            has_unknown = false;
    const SimValue *value       = node_eval(node->args[0], exec);

    if (!value) return TRUTH_ERROR;
    for (size_t i = 1; i < node->arg_count; i++) {
        const SimValue *item = node_eval(node->args[i], exec);
        if (!item) return TRUTH_ERROR;
        Truth truth = value_compare_truth(CMP_EQ, value, item, exec->error);
        if (truth == TRUTH_ERROR) return truth;
        if (truth == TRUTH_TRUE) return node->negated ? TRUTH_FALSE : TRUTH_TRUE;
        has_unknown |= truth == TRUTH_UNKNOWN;
    }
    if (has_unknown) return TRUTH_UNKNOWN;
    return node->negated ? TRUTH_TRUE : TRUTH_FALSE;
}

/* The rows of an uncorrelated IN (SELECT ...), kept once: keys of equal bytes for equal values. */
typedef struct InSet {
    KeyTable keys;
    bool     has_null;
} InSet;

static InSet *in_set_build(Node *node, Exec *exec)
{
    SelectPlan *query   = node->query;
    InSet      *set     = ARENA_NEW(exec->arena, InSet);
    Buf         key     = buf_new(exec->arena, 0);
    Arena      *scratch = exec->scratch;
    Pull        pull    = PULL_ERROR;

    key_table_init(&set->keys, exec->arena);
    if (!op_open(query->op, exec)) return NULL;
    while ((pull = op_next(query->op, exec)) == PULL_ROW) {
        bool has_null = false;
        buf_clear(&key);
        if (!key_of_nodes(exec, &query->outs[0].node, 1, &key, &has_null)) {
            pull = PULL_ERROR;
            break;
        }
        if (has_null)
            set->has_null = true;
        else
            key_table_add(&set->keys, buf_str(&key), NULL);
    }
    op_close(query->op, exec);
    exec->scratch = scratch;
    return pull == PULL_ERROR ? NULL : set;
}

/* The value and the query's column have been brought to one type by the binder. */
Truth test_in_query(Node *node, Exec *exec)
{
    bool   found = false, has_null = false, value_is_null = false;
    InSet *set = node->state;

    if (!set || !node->is_once_done || node->query_scope->outer_refs.count > 0) {
        set = in_set_build(node, exec);
        if (!set) return TRUTH_ERROR;
        node->state        = set;
        node->is_once_done = true;
    }
    Buf key = buf_new(exec->scratch, 0);
    if (!key_of_nodes(exec, &node->args[0], 1, &key, &value_is_null)) return TRUTH_ERROR;
    has_null = set->has_null;
    if (set->keys.count == 0 && !has_null) return node->negated ? TRUTH_TRUE : TRUTH_FALSE;
    if (value_is_null) return TRUTH_UNKNOWN;
    found = key_table_find(&set->keys, buf_str(&key)) != NULL;
    if (found) return node->negated ? TRUTH_FALSE : TRUTH_TRUE;
    if (has_null) return TRUTH_UNKNOWN;
    return node->negated ? TRUTH_TRUE : TRUTH_FALSE;
}

Truth test_exists(Node *node, Exec *exec)
{
    Arena *scratch   = exec->scratch;
    bool   cacheable = node->query_scope->outer_refs.count == 0;

    if (cacheable && node->is_once_done) return (Truth)node->style;
    if (!op_open(node->query->op, exec)) return TRUTH_ERROR;
    Pull pull = op_next(node->query->op, exec);
    op_close(node->query->op, exec);
    exec->scratch = scratch;
    if (pull == PULL_ERROR) return TRUTH_ERROR;
    node->style        = pull == PULL_ROW;
    node->is_once_done = cacheable;
    return (Truth)node->style;
}

Truth test_quantified(Node *node, Exec *exec)
{
    Arena          *scratch     = exec->scratch;
    SelectPlan     *query       = node->query;
    bool            has_unknown = false, decided = false;
    const SimValue *left = node_eval(node->args[0], exec);
    Pull            pull;

    if (!left) return TRUTH_ERROR;
    SimValue value = value_copy(scratch, left);
    if (!op_open(query->op, exec)) return TRUTH_ERROR;
    while ((pull = op_next(query->op, exec)) == PULL_ROW && !decided) {
        const SimValue *right = node_eval(query->outs[0].node, exec);
        Truth truth = right ? value_compare_truth(node->compare, &value, right, exec->error)
                            : TRUTH_ERROR;
        if (truth == TRUTH_ERROR) {
            pull = PULL_ERROR;
            break;
        }
        has_unknown |= truth == TRUTH_UNKNOWN;
        decided = node->negated ? truth == TRUTH_FALSE : truth == TRUTH_TRUE; /* negated: ALL */
    }
    op_close(query->op, exec);
    exec->scratch = scratch;
    if (pull == PULL_ERROR) return TRUTH_ERROR;
    if (decided) return node->negated ? TRUTH_FALSE : TRUTH_TRUE;
    if (has_unknown) return TRUTH_UNKNOWN;
    return node->negated ? TRUTH_TRUE : TRUTH_FALSE;
}

Truth test_like(Node *node, Exec *exec)
{
    SimValue values[3];
    bool     matches = false;

    for (size_t i = 0; i < node->arg_count; i++) {
        const SimValue *value = node_eval(node->args[i], exec);
        if (!value) return TRUTH_ERROR;
        if (value->is_null) return TRUTH_UNKNOWN;
        values[i] = *value;
    }
    if (!sim_like(&values[0], &values[1], node->arg_count > 2 ? &values[2] : NULL, NULL,
                  exec->scratch, &matches, exec->error))
        return TRUTH_ERROR;
    return matches != node->negated;
}
