/* node.c - values of expressions: constants, slots, variables, arithmetic, CASE, conversions, subqueries. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <assert.h>
#include <string.h>

Node *node_new(Arena *arena, NodeKind kind, SimType type, int32_t line)
{
    Node *node = ARENA_NEW(arena, Node);

    node->kind        = kind;
    node->type        = type;
    node->is_nullable = true;
    node->line        = line;
    node->slot        = -1;
    return node;
}

Node *node_const(Arena *arena, const SimValue *value, int32_t line)
{
    Node *node = node_new(arena, NODE_CONST, value->type, line);

    node->eval        = eval_const;
    node->value       = *value;
    node->is_nullable = value->is_null;
    return node;
}

Node *node_slot(Arena *arena, int slot, SimType type, bool is_nullable)
{
    Node *node = node_new(arena, NODE_SLOT, type, 0);

    node->eval           = eval_slot;
    node->slot           = slot;
    node->is_nullable    = is_nullable;
    node->collation_rank = 1;
    return node;
}

static bool same_type(const SimType *left, const SimType *right)
{
    return left->kind == right->kind && left->precision == right->precision &&
           left->scale == right->scale && left->is_numeric == right->is_numeric &&
           left->length == right->length &&
           (left->collation ? left->collation : sim_collation_default()) ==
               (right->collation ? right->collation : sim_collation_default());
}

Node *node_convert(Arena *arena, Node *node, const SimType *type)
{
    if (same_type(&node->type, type) && node->type.kind != SIM_VARIANT) return node;

    Node *convert           = node_new(arena, NODE_CALL, *type, node->line);
    convert->eval           = eval_convert;
    convert->args           = ARENA_ARRAY(arena, Node *, 1);
    convert->args[0]        = node;
    convert->arg_count      = 1;
    convert->is_nullable    = node->is_nullable;
    convert->collation_rank = node->collation_rank;
    convert->style          = -1; /* implicit */
    return convert;
}

Node *node_compare(Arena *arena, CompareOp op, Node *left, Node *right)
{
    Node *node = node_new(arena, NODE_COMPARE, sim_type(SIM_BIT), left->line);

    node->test      = test_compare;
    node->compare   = op;
    node->args      = ARENA_ARRAY(arena, Node *, 2);
    node->args[0]   = left;
    node->args[1]   = right;
    node->arg_count = 2;
    return node;
}

Node *node_and(Arena *arena, Node *left, Node *right)
{
    if (!left) return right;
    if (!right) return left;

    Node *node      = node_new(arena, NODE_AND, sim_type(SIM_BIT), left->line);
    node->test      = test_and;
    node->args      = ARENA_ARRAY(arena, Node *, 2);
    node->args[0]   = left;
    node->args[1]   = right;
    node->arg_count = 2;
    return node;
}

bool node_is_constant(const Node *node)
{
    if (node->kind == NODE_SLOT || node->is_volatile || node->query) return false;
    for (size_t i = 0; i < node->arg_count; i++)
        if (node->args[i] && !node_is_constant(node->args[i])) return false;
    return true;
}

bool node_same(const Node *left, const Node *right)
{
    if (left == right) return true;
    if (left->kind != right->kind || left->arg_count != right->arg_count) return false;
    if (left->is_volatile || right->is_volatile || left->query || right->query) return false;
    if (left->eval != right->eval || left->test != right->test || left->slot != right->slot)
        return false;
    if (left->op != right->op || left->compare != right->compare || left->style != right->style)
        return false;
    if (left->function != right->function || left->negated != right->negated) return false;
    if (!str_equal_ignoring_case(left->text, right->text) || !same_type(&left->type, &right->type))
        return false;
    if (left->kind == NODE_CONST) {
        if (left->value.is_null || right->value.is_null)
            return left->value.is_null && right->value.is_null;
        return left->value.type.kind == right->value.type.kind &&
               sim_compare_same(&left->value, &right->value) == 0;
    }
    for (size_t i = 0; i < left->arg_count; i++) {
        if (!left->args[i] != !right->args[i]) return false;
        if (left->args[i] && !node_same(left->args[i], right->args[i])) return false;
    }
    return true;
}

static const SimValue *eval_once(Node *node, Exec *exec)
{
    if (node->is_once_done) return &node->value;

    const SimValue *value = node_eval(node->args[0], exec);
    if (!value) return NULL;
    node->value        = value_copy(exec->arena, value);
    node->is_once_done = true;
    return &node->value;
}

Node *node_fold_constants(Arena *arena, Node *node)
{
    if (node->kind == NODE_CONST || node->kind == NODE_SLOT || node->kind == NODE_VARIABLE)
        return node;
    if (node->eval && node->eval != eval_once && node_is_constant(node)) {
        Node *once           = node_new(arena, NODE_CALL, node->type, node->line);
        once->eval           = eval_once;
        once->args           = ARENA_ARRAY(arena, Node *, 1);
        once->args[0]        = node;
        once->arg_count      = 1;
        once->is_nullable    = node->is_nullable;
        once->collation_rank = node->collation_rank;
        return once;
    }
    for (size_t i = 0; i < node->arg_count; i++)
        if (node->args[i]) node->args[i] = node_fold_constants(arena, node->args[i]);
    return node;
}

SimValue value_copy(Arena *arena, const SimValue *value)
{
    SimValue copy = *value;

    if (value->is_null || value->type.kind < SIM_CHAR) return copy;
    uint8_t *bytes = arena_alloc_uninit(arena, value->bytes.len ? value->bytes.len : 1);
    if (value->bytes.len) memcpy(bytes, value->bytes.ptr, value->bytes.len);
    copy.bytes.ptr = bytes;
    return copy;
}

bool value_store(Exec *exec, const SimValue *value, const SimType *type, Arena *arena,
                 SimValue *out)
{
    if (value->is_null) {
        *out = sim_null(*type);
        return true;
    }
    return session_convert(exec->session, value, type, arena, out, exec->error);
}

const SimValue *eval_const(Node *node, Exec *exec)
{
    (void)exec;
    return &node->value;
}

const SimValue *eval_slot(Node *node, Exec *exec)
{
    return exec_slot(exec, node->slot);
}

const SimValue *eval_variable(Node *node, Exec *exec)
{
    Variable *variable = frame_find(exec->session->frame, node->text);

    if (!variable) {
        sim_error(exec->error, 137, "Must declare the scalar variable \"%.*s\".",
                  STR_ARG(node->text));
        return NULL;
    }
    return &variable->value;
}

const SimValue *eval_convert(Node *node, Exec *exec)
{
    const SimValue *value    = node_eval(node->args[0], exec);
    bool            implicit = node->style == -1;
    int             style    = implicit ? 0 : node->style;

    if (!value) return NULL;
    if (node->arg_count > 1) { /* a style that is an expression */
        const SimValue *given = node_eval(node->args[1], exec);
        SimValue        number;
        SimType         int_type = sim_type(SIM_INT);
        if (!given) return NULL;
        if (given->is_null) {
            node->value = sim_null(node->type);
            return &node->value;
        }
        if (!sim_convert(given, &int_type, 0, true, exec->scratch, &number, exec->error))
            return NULL;
        style = (int)number.i64;
    }
    if (style == 0) style = session_date_style(exec->session, &value->type, &node->type);
    if (value->is_null) {
        node->value = sim_null(node->type);
        return &node->value;
    }
    if (sim_convert(value, &node->type, style, implicit, exec->scratch, &node->value, exec->error))
        return &node->value;
    if (!node->is_try && !str_is_empty(node->text)) {
        Str text     = sim_value_text(exec->scratch, value);
        *exec->error = SIM_ERROR_INIT;
        sim_error(exec->error, 9819,
                  "Error converting string value '%.*s' into data type %s using culture '%.*s'.",
                  STR_ARG(text), sim_type_word(&node->type), STR_ARG(node->text));
    }
    if (!node->is_try) return NULL;
    *exec->error = SIM_ERROR_INIT;
    node->value  = sim_null(node->type);
    return &node->value;
}

const SimValue *eval_arithmetic(Node *node, Exec *exec)
{
    const SimValue *left = node_eval(node->args[0], exec);
    if (!left) return NULL;
    const SimValue *right = node_eval(node->args[1], exec);
    if (!right) return NULL;
    if (left->is_null || right->is_null) {
        node->value = sim_null(node->type);
        return &node->value;
    }
    return sim_arithmetic(node->op, left, right, exec->scratch, &node->value, exec->error)
               ? &node->value
               : NULL;
}

const SimValue *eval_negate(Node *node, Exec *exec)
{
    const SimValue *value = node_eval(node->args[0], exec);

    if (!value) return NULL;
    return sim_negate(value, exec->scratch, &node->value, exec->error) ? &node->value : NULL;
}

const SimValue *eval_complement(Node *node, Exec *exec)
{
    const SimValue *value = node_eval(node->args[0], exec);

    if (!value) return NULL;
    node->value = *value;
    if (!value->is_null)
        node->value.i64 = value->type.kind == SIM_BIT       ? !value->i64
                          : value->type.kind == SIM_TINYINT ? (~value->i64 & 0xFF)
                                                            : ~value->i64;
    return &node->value;
}

const SimValue *eval_case(Node *node, Exec *exec)
{
    size_t i = 0;

    for (; i + 1 < node->arg_count; i += 2) {
        Truth truth = node->args[i]->test(node->args[i], exec);
        if (truth == TRUTH_ERROR) return NULL;
        if (truth == TRUTH_TRUE) return node_eval(node->args[i + 1], exec);
    }
    if (i < node->arg_count) return node_eval(node->args[i], exec);
    node->value = sim_null(node->type);
    return &node->value;
}

const SimValue *eval_coalesce(Node *node, Exec *exec)
{
    for (size_t i = 0; i < node->arg_count; i++) {
        const SimValue *value = node_eval(node->args[i], exec);
        if (!value || !value->is_null) return value;
    }
    node->value = sim_null(node->type);
    return &node->value;
}

const SimValue *eval_null_if(Node *node, Exec *exec)
{
    Truth truth = node->args[0]->test(node->args[0],
                                      exec); /* args[0]: left = right; args[1]: left */

    if (truth == TRUTH_ERROR) return NULL;
    if (truth != TRUTH_TRUE) return node_eval(node->args[1], exec);
    node->value = sim_null(node->type);
    return &node->value;
}

const SimValue *eval_collate(Node *node, Exec *exec)
{
    const SimValue *value = node_eval(node->args[0], exec);

    if (!value) return NULL;
    if (!value->is_null && !sim_type_is_unicode(value->type.kind) &&
        (value->type.collation ? value->type.collation : sim_collation_default()) !=
            node->type.collation) {
        if (!sim_convert(value, &node->type, 0, true, exec->scratch, &node->value, exec->error))
            return NULL;
    } else {
        node->value = *value;
    }
    node->value.type.collation = node->type.collation;
    return &node->value;
}

const SimValue *eval_subquery(Node *node, Exec *exec)
{
    SelectPlan     *query     = node->query;
    const SimValue *found     = NULL;
    bool            cacheable = node->query_scope->outer_refs.count == 0 && !node->is_volatile;
    Arena          *scratch   = exec->scratch;

    if (cacheable && node->is_once_done) return &node->value;
    node->value = sim_null(node->type);
    if (!op_open(query->op, exec)) return NULL;
    Pull pull = op_next(query->op, exec);
    if (pull == PULL_ROW) {
        found = node_eval(query->outs[0].node, exec);
        if (found) {
            node->value = value_copy(cacheable ? exec->arena : scratch, found);
            pull        = op_next(query->op, exec);
            if (pull == PULL_ROW) {
                sim_error(exec->error, 512,
                          "Subquery returned more than 1 value. This is not permitted when the "
                          "subquery follows =, !=, <, <= , >, >= "
                          "or when the subquery is used as an expression.");
                pull = PULL_ERROR;
            }
        } else {
            pull = PULL_ERROR;
        }
    }
    op_close(query->op, exec);
    exec->scratch = scratch;
    if (pull == PULL_ERROR) return NULL;
    node->is_once_done = cacheable;
    return &node->value;
}
