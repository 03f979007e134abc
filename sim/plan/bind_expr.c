/* bind_expr.c - expressions: names become slots, operators get types, text gets one collation. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <assert.h>

static const SimCollation *collation_of(const Node *node)
{
    return node->type.collation ? node->type.collation : sim_collation_default();
}

static Node *with_collation(Binder *binder, Node *node, const SimCollation *collation)
{
    SimType type = node->type;

    type.collation = collation;
    if (sim_type_is_unicode(type.kind) ||
        collation_of(node) == collation) { /* the same bytes under another order */
        if (node->kind == NODE_SLOT || node->kind == NODE_VARIABLE ||
            collation_of(node) != collation) {
            if (collation_of(node) == collation) return node;
            Node *retag           = node_new(binder->arena, NODE_CALL, type, node->line);
            retag->eval           = eval_collate;
            retag->args           = ARENA_ARRAY(binder->arena, Node *, 1);
            *retag->args          = node;
            retag->arg_count      = 1;
            retag->is_nullable    = node->is_nullable;
            retag->collation_rank = node->collation_rank;
            return retag;
        }
        return node;
    }
    return node_convert(binder->arena, node, &type);
}

bool bind_same_collation(Binder *binder, Node **left, Node **right, int32_t line)
{
    if (!sim_type_is_text((*left)->type.kind) || !sim_type_is_text((*right)->type.kind))
        return true;
    if (collation_of(*left) == collation_of(*right)) return true;
    if ((*left)->collation_rank == (*right)->collation_rank && (*left)->collation_rank > 0)
        return binder_error(binder, line, 468,
                            "Cannot resolve the collation conflict between \"%.*s\" and \"%.*s\" "
                            "in the equal to operation.",
                            STR_ARG(sim_collation_name(collation_of(*right))),
                            STR_ARG(sim_collation_name(collation_of(*left))));
    if ((*left)->collation_rank >= (*right)->collation_rank)
        *right = with_collation(binder, *right, collation_of(*left));
    else
        *left = with_collation(binder, *left, collation_of(*right));
    return true;
}

bool bind_unify(Binder *binder, Node **nodes, size_t count, int32_t line)
{
    SimType type     = {0};
    bool    has_type = false;

    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->kind == NODE_CONST && nodes[i]->value.is_null)
            continue; /* a bare NULL takes any type */
        if (!has_type) {
            type     = nodes[i]->type;
            has_type = true;
            continue;
        }
        if (sim_type_is_text(type.kind) &&
            sim_type_is_text(nodes[i]->type.kind)) { /* the stronger collation wins */
            for (size_t k = 0; k < i; k++)
                if (sim_type_is_text(nodes[k]->type.kind) &&
                    !bind_same_collation(binder, &nodes[k], &nodes[i], line))
                    return false;
            for (size_t k = 0; k < i; k++)
                if (sim_type_is_text(nodes[k]->type.kind))
                    type.collation = nodes[k]->type.collation;
        }
        if (!sim_type_unify(&type, &nodes[i]->type, &type, binder->error)) {
            binder->error->line = line;
            return false;
        }
    }
    if (!has_type) type = nodes[0]->type;
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->kind == NODE_CONST && nodes[i]->value.is_null) {
            SimValue null = sim_null(type);
            nodes[i]      = node_const(binder->arena, &null, nodes[i]->line);
        }
        nodes[i] = node_convert(binder->arena, nodes[i], &type);
    }
    return true;
}

static Node *call_node(Binder *binder, const Expr *expr, const SimValue *(*eval)(Node *, Exec *),
                       SimType type, size_t arg_count)
{
    Node *node = node_new(binder->arena, NODE_CALL, type, expr->line);

    node->eval      = eval;
    node->args      = ARENA_ARRAY(binder->arena, Node *, arg_count + 1);
    node->arg_count = arg_count;
    return node;
}

/* --- describing parameters --- */
static Undeclared *find_undeclared(Binder *binder, Str name)
{
    for (size_t i = 0; i < binder->undeclared->count; i++)
        if (sim_name_equal(binder->undeclared->items[i].name, name))
            return &binder->undeclared->items[i];
    return NULL;
}

static bool bind_undeclared(Binder *binder, const Expr *expr, Node **out)
{
    Undeclared *found = find_undeclared(binder, expr->text);

    if (!found) {
        found  = LIST_PUSH(binder->arena, binder->undeclared);
        *found = (Undeclared){.name = expr->text, .type = sim_type_sized(SIM_NVARCHAR, 4000)};
    }
    Node *node = node_new(binder->arena, NODE_VARIABLE, found->type, expr->line);
    node->eval = eval_variable;
    node->text = expr->text;
    *out       = node;
    return true;
}

void bind_suggest(Binder *binder, const Node *unknown, const SimType *type)
{
    if (!binder->undeclared || unknown->kind != NODE_VARIABLE) return;
    Undeclared *found = find_undeclared(binder, unknown->text);
    if (!found || found->is_known) return;
    found->type     = *type;
    found->is_known = true;
}

static bool bind_variable(Binder *binder, const Expr *expr, Node **out)
{
    for (size_t i = 0; i < binder->substitutions.count; i++)
        if (sim_name_equal(binder->substitutions.items[i].name, expr->text)) {
            *out = binder->substitutions.items[i].node;
            return true;
        }
    Variable *variable = frame_find(binder->session->frame, expr->text);
    if (!variable && binder->undeclared) return bind_undeclared(binder, expr, out);
    if (!variable || variable->table)
        return binder_error(binder, expr->line, 137, "Must declare the scalar variable \"%.*s\".",
                            STR_ARG(expr->text));
    Node *node = node_new(binder->arena, NODE_VARIABLE, variable->type, expr->line);
    node->eval = eval_variable;
    node->text = expr->text;
    *out       = node;
    return true;
}

static bool bind_binary(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node   *left = NULL, *right = NULL;
    SimType type;

    if (!bind_expr(binder, scope, expr->args.items[0], &left) ||
        !bind_expr(binder, scope, expr->args.items[1], &right))
        return false;
    if (binder->undeclared) {
        bind_suggest(binder, left, &right->type);
        bind_suggest(binder, right, &left->type);
    }
    if (!bind_same_collation(binder, &left, &right, expr->line)) return false;
    if (!sim_arithmetic_type(expr->op, &left->type, &right->type, &type, binder->error)) {
        binder->error->line = expr->line;
        return false;
    }
    Node *node           = call_node(binder, expr, eval_arithmetic, type, 2);
    node->op             = expr->op;
    node->args[0]        = left;
    node->args[1]        = right;
    node->collation_rank = MAX(left->collation_rank, right->collation_rank);
    node->is_nullable    = left->is_nullable || right->is_nullable;
    *out                 = node;
    return true;
}

static bool bind_unary(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *arg = NULL;

    if (!bind_expr(binder, scope, expr->args.items[0], &arg)) return false;
    *out = arg;
    if (expr->op == '+') return true;
    if (expr->op == '-' && arg->kind == NODE_CONST) {
        SimValue value;
        if (!sim_negate(&arg->value, binder->arena, &value, binder->error)) {
            binder->error->line = expr->line;
            return false;
        }
        *out = node_const(binder->arena, &value, expr->line);
        return true;
    }
    if (expr->op == '~' && !sim_type_is_integer(arg->type.kind) && arg->type.kind != SIM_BIT)
        return binder_error(binder, expr->line, 8117,
                            "Operand data type %s is invalid for '~' operator.",
                            sim_type_word(&arg->type));
    SimType type = arg->type;
    if (expr->op == '-' && type.kind == SIM_TINYINT) type = sim_type(SIM_SMALLINT);
    Node *node = call_node(binder, expr, expr->op == '-' ? eval_negate : eval_complement, type, 1);
    node->args[0]     = arg;
    node->is_nullable = arg->is_nullable;
    *out              = node;
    return true;
}

static bool bind_case(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    size_t pairs = expr->args.count / 2, values = pairs + (expr->otherwise != NULL);
    Node **results = ARENA_ARRAY(binder->arena, Node *, values + 1);
    Node  *node    = call_node(binder, expr, eval_case, sim_type(SIM_INT),
                               pairs * 2 + (expr->otherwise != NULL));

    for (size_t i = 0; i < pairs; i++) {
        const Expr *when = expr->args.items[i * 2];
        Expr        test = {.kind = EXPR_COMPARE, .line = when->line, .compare = CMP_EQ};
        if (expr->operand) {
            *LIST_PUSH(binder->arena, &test.args) = expr->operand;
            *LIST_PUSH(binder->arena, &test.args) = expr->args.items[i * 2];
            when                                  = &test;
        }
        if (!bind_predicate(binder, scope, when, &node->args[i * 2])) return false;
        if (!bind_expr(binder, scope, expr->args.items[i * 2 + 1], &results[i])) return false;
    }
    if (expr->otherwise && !bind_expr(binder, scope, expr->otherwise, &results[pairs]))
        return false;
    if (!bind_unify(binder, results, values, expr->line)) return false;
    for (size_t i = 0; i < values; i++)
        node->args[i < pairs ? i * 2 + 1 : pairs * 2] = results[i];
    node->type           = results[0]->type;
    node->collation_rank = results[0]->collation_rank;
    *out                 = node;
    return true;
}

static const SimCollation *database_collation(const Binder *binder)
{
    const SimCollation *own = sim_database_collation(binder->session->database);
    return own ? own : sim_collation_default();
}

/* A text written down has the database's collation, and its code page. */
static void use_collation(Binder *binder, const Expr *expr, Node *node)
{
    const SimCollation *own = sim_database_collation(binder->session->database);

    if (!own || node->value.is_null || !sim_type_is_text(node->value.type.kind)) return;
    bool unicode = sim_type_is_unicode(node->value.type.kind);
    if (!unicode) node->value.bytes = sim_text_from_utf8(binder->arena, own, false, expr->text);
    node->value.type.collation = node->type.collation = own;
}

static bool bind_cast(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node   *arg = NULL, *style = NULL;
    SimType type = expr->type;

    if (!bind_expr(binder, scope, expr->args.items[0], &arg)) return false;
    if (expr->style && !bind_expr(binder, scope, expr->style, &style)) return false;
    if (!style) bind_suggest(binder, arg, &type);
    bool is_parse = !str_is_empty(expr->text); /* the culture of PARSE */
    if (is_parse && !sim_type_is_number(type.kind) && !sim_type_is_time(type.kind))
        return binder_error(binder, expr->line, 10761, "Invalid data type %s in function %s.",
                            sim_type_word(&type), expr->is_try ? "TRY_PARSE" : "PARSE");
    if (is_parse && !sim_type_is_text(arg->type.kind))
        return binder_error(
            binder, expr->line, 8116,
            "Argument data type %s is invalid for argument 1 of parse function.",
            arg->kind == NODE_CONST && arg->value.is_null ? "NULL" : sim_type_word(&arg->type));
    if (!(arg->kind == NODE_CONST && arg->value.is_null) &&
        !sim_convert_check(&arg->type, &type, false, binder->error)) {
        binder->error->line = expr->line;
        return false;
    }
    if (sim_type_is_text(type.kind) && !type.collation && arg->collation_rank > 0)
        type.collation = arg->type.collation;
    if (sim_type_is_text(type.kind) && !type.collation)
        type.collation = arg->type.kind == SIM_VARIANT /* its text brings its own */
                             ? database_collation(binder)
                             : sim_database_collation(binder->session->database);
    Node *node           = call_node(binder, expr, eval_convert, type, style ? 2 : 1);
    node->args[0]        = arg;
    node->args[1]        = style;
    node->is_try         = expr->is_try;
    node->text           = expr->text;
    node->is_nullable    = expr->is_try || arg->is_nullable;
    node->collation_rank = arg->collation_rank;
    if (style && style->kind == NODE_CONST && style->value.type.kind == SIM_INT &&
        !style->value.is_null) {
        node->style     = (int)style->value.i64;
        node->arg_count = 1;
    }
    *out = node;
    return true;
}

static bool bind_subquery(Binder *binder, QueryScope *scope, const Expr *expr, Node *node)
{
    node->query_scope = scope_new(binder, scope);
    if (!bind_select(binder, node->query_scope, expr->select, &node->query)) return false;
    if (expr->kind != EXPR_EXISTS && node->query->out_count != 1)
        return binder_error(binder, expr->line, 116,
                            "Only one expression can be specified in the select list when the "
                            "subquery is not introduced with EXISTS.");
    return true;
}

static bool bind_scalar_subquery(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = call_node(binder, expr, eval_subquery, sim_type(SIM_INT), 0);

    if (!bind_subquery(binder, scope, expr, node)) return false;
    node->type           = node->query->outs[0].node->type;
    node->collation_rank = node->query->outs[0].node->collation_rank;
    *out                 = node;
    return true;
}

bool bind_collation_of(Binder *binder, const Expr *expr, Node *arg, Node **out)
{
    const SimCollation *collation = sim_name_equal(expr->text, STR("DATABASE_DEFAULT"))
                                        ? database_collation(binder)
                                        : sim_collation_find(expr->text);

    if (!collation)
        return binder_error(binder, expr->line, 448, "Invalid collation '%.*s'.",
                            STR_ARG(expr->text));
    if (!sim_type_is_text(arg->type.kind) && arg->type.kind != SIM_TEXT &&
        arg->type.kind != SIM_NTEXT)
        return binder_error(binder, expr->line, 447,
                            "Expression type %s is invalid for COLLATE clause.",
                            sim_type_word(&arg->type));
    SimType type         = arg->type;
    type.collation       = collation;
    Node *node           = call_node(binder, expr, eval_collate, type, 1);
    node->args[0]        = arg;
    node->is_nullable    = arg->is_nullable;
    node->collation_rank = 2;
    *out                 = node;
    return true;
}

static bool bind_collate(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *arg = NULL;

    return bind_expr(binder, scope, expr->args.items[0], &arg) &&
           bind_collation_of(binder, expr, arg, out);
}

/* AT TIME ZONE: a local time gets the zone's offset; one with an offset is shown in the zone. */
static const SimValue *eval_at_time_zone(Node *node, Exec *exec)
{
    const SimValue *time = node_eval(node->args[0], exec);
    if (!time) return NULL;
    SimValue        held = *time;
    const SimValue *name = node_eval(node->args[1], exec);
    SimType         type = sim_type_time(SIM_DATETIME2, node->type.scale); /* .007, not .00667 */
    if (!name) return NULL;
    node->value = sim_null(node->type);
    if (held.is_null || name->is_null) return &node->value;
    Str            text = sim_value_text(exec->scratch, name);
    const SimZone *zone = sim_zone_find(text);
    if (!zone) {
        sim_error(exec->error, 9820,
                  "The time zone parameter '%.*s' provided to AT TIME ZONE clause is invalid.",
                  STR_ARG(text));
        return NULL;
    }
    node->value.is_null = false;
    if (held.type.kind == SIM_DATETIMEOFFSET) {
        node->value                     = held;
        node->value.type                = node->type;
        node->value.time.offset_minutes = (int16_t)sim_zone_offset_at_utc(zone,
                                                                          sim_time_to_us(&held));
        return &node->value;
    }
    SimValue local;
    if (!sim_convert(&held, &type, 0, true, exec->scratch, &local, exec->error)) return NULL;
    int64_t us = sim_time_to_us(&local), meant = us;
    int     offset = sim_zone_offset_at_local(zone, us, &meant);
    /* Ticks of 100 ns below a microsecond survive: the shift is in whole microseconds. */
    int64_t ticks = (int64_t)local.time.days * 864000000000 + local.time.ticks + (meant - us) * 10 -
                    (int64_t)offset * 600000000;
    int64_t days = ticks / 864000000000, rest = ticks % 864000000000;
    if (rest < 0) {
        rest += 864000000000;
        days--;
    }
    node->value.time.days           = (int32_t)days;
    node->value.time.ticks          = rest;
    node->value.time.offset_minutes = (int16_t)offset;
    return &node->value;
}

static bool bind_at_time_zone(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *time = NULL, *zone = NULL;
    int   scale = 7;

    if (!bind_expr(binder, scope, expr->args.items[0], &time) ||
        !bind_expr(binder, scope, expr->args.items[1], &zone))
        return false;
    if (time->type.kind == SIM_DATETIME2 || time->type.kind == SIM_DATETIMEOFFSET)
        scale = time->type.scale;
    else if (time->type.kind == SIM_DATETIME)
        scale = 3;
    else if (time->type.kind == SIM_SMALLDATETIME)
        scale = 0;
    else
        return binder_error(
            binder, expr->line, 8116,
            "Argument data type %s is invalid for argument 1 of AT TIME ZONE function.",
            sim_type_word(&time->type));
    Node *node    = call_node(binder, expr, eval_at_time_zone,
                              sim_type_time(SIM_DATETIMEOFFSET, scale), 2);
    node->args[0] = time;
    node->args[1] = zone;
    *out          = node;
    return true;
}

/* Inside a grouped query an expression that is a grouping expression is its value. */
static bool bind_group_match(QueryScope *scope, Binder *binder, const Expr *expr, Node **out)
{
    if (!scope || !scope->is_grouped || scope->phase != PHASE_OUTPUT || scope->is_in_aggregate)
        return false;
    for (size_t i = 0; i < scope->group_exprs.count; i++) {
        if (scope->group_nodes.items[i]->kind == NODE_SLOT ||
            !expr_same(scope->group_exprs.items[i], expr))
            continue;
        const Node *group      = scope->group_nodes.items[i];
        *out                   = node_slot(binder->arena, scope->group_slots.items[i], group->type,
                                           group->is_nullable);
        (*out)->collation_rank = group->collation_rank;
        return true;
    }
    return false;
}

bool bind_expr(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    bool ok = false;

    if (++binder->depth > 400) {
        (void)binder_error(binder, expr->line, 8631,
                           "Internal error: Server stack limit has been reached.");
        return false;
    }
    if (bind_group_match(scope, binder, expr, out)) {
        binder->depth--;
        return true;
    }
    switch (expr->kind) {
    case EXPR_LITERAL:
        *out = node_const(binder->arena, &expr->value, expr->line);
        use_collation(binder, expr, *out);
        ok = true;
        break;
    case EXPR_COLUMN:
        ok = scope ? bind_column(binder, scope, expr, out)
                   : binder_error(binder, expr->line, 128,
                                  "The name \"%.*s\" is not permitted in this context. Valid "
                                  "expressions are constants, constant "
                                  "expressions, and (in some contexts) variables. Column names are "
                                  "not permitted.",
                                  STR_ARG(expr->parts.items[expr->parts.count - 1]));
        break;
    case EXPR_VARIABLE: ok = bind_variable(binder, expr, out); break;
    case EXPR_GLOBAL: ok = bind_global(binder, expr, out); break;
    case EXPR_UNARY: ok = bind_unary(binder, scope, expr, out); break;
    case EXPR_BINARY: ok = bind_binary(binder, scope, expr, out); break;
    case EXPR_CASE: ok = bind_case(binder, scope, expr, out); break;
    case EXPR_CAST: ok = bind_cast(binder, scope, expr, out); break;
    case EXPR_FUNCTION: ok = bind_function(binder, scope, expr, out); break;
    case EXPR_SUBQUERY: ok = bind_scalar_subquery(binder, scope, expr, out); break;
    case EXPR_COLLATE: ok = bind_collate(binder, scope, expr, out); break;
    case EXPR_AT_TIME_ZONE: ok = bind_at_time_zone(binder, scope, expr, out); break;
    case EXPR_STAR: ok = binder_error(binder, expr->line, 102, "Incorrect syntax near '*'."); break;
    case EXPR_DEFAULT:
        ok = binder_error(binder, expr->line, 156, "Incorrect syntax near the keyword 'DEFAULT'.");
        break;
    case EXPR_DATEPART_NAME: {
        SimValue name = sim_nvarchar(binder->arena, expr->text);
        *out          = node_const(binder->arena, &name, expr->line);
        ok            = true;
        break;
    }
    case EXPR_COMPARE:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
    case EXPR_IS_NULL:
    case EXPR_BETWEEN:
    case EXPR_IN:
    case EXPR_LIKE:
    case EXPR_EXISTS:
    case EXPR_QUANTIFIED:
        ok = binder_error(binder, expr->line, 4145,
                          "An expression of non-boolean type specified in a context where a "
                          "condition is expected.");
        break;
    }
    binder->depth--;
    assert(!ok || *out);
    return ok;
}

/* --- predicates --- */
static bool check_comparable(Binder *binder, const Node *node, int32_t line)
{
    if (sim_type_is_lob(node->type.kind))
        return binder_error(binder, line, 306,
                            "The text, ntext, and image data types cannot be compared or sorted, "
                            "except when using IS NULL or LIKE operator.");
    if (node->type.kind == SIM_XML)
        return binder_error(binder, line, 305,
                            "The XML data type cannot be compared or sorted, except when using the "
                            "IS NULL operator.");
    return true;
}

/* Brings the constant side to the other's type once, rather than each row's comparison. */
static bool prepare_sides(Binder *binder, Node **left, Node **right, int32_t line)
{
    SimType type;

    if (!check_comparable(binder, *left, line) || !check_comparable(binder, *right, line))
        return false;
    if (!bind_same_collation(binder, left, right, line)) return false;
    if (((*left)->kind == NODE_CONST && (*left)->value.is_null) ||
        ((*right)->kind == NODE_CONST && (*right)->value.is_null))
        return true;
    if (!sim_type_unify(&(*left)->type, &(*right)->type, &type, binder->error)) {
        binder->error->line = line;
        return false;
    }
    if ((*left)->type.kind == (*right)->type.kind) return true;
    if (type.kind == (*right)->type.kind && node_is_constant(*left) &&
        !sim_type_is_text(type.kind) && type.kind != SIM_DECIMAL &&
        !sim_type_is_binary(type.kind) && type.kind != SIM_VARIANT) {
        SimType to = (*right)->type;
        if (sim_type_is_time(to.kind)) to = type;
        *left = node_convert(binder->arena, *left, &to);
    } else if (type.kind == (*left)->type.kind && node_is_constant(*right) &&
               !sim_type_is_text(type.kind) && type.kind != SIM_DECIMAL &&
               !sim_type_is_binary(type.kind) && type.kind != SIM_VARIANT) {
        SimType to = (*left)->type;
        if (sim_type_is_time(to.kind)) to = type;
        *right = node_convert(binder->arena, *right, &to);
    }
    return true;
}

static bool bind_compare(Binder *binder, QueryScope *scope, CompareOp op, const Expr *left_expr,
                         const Expr *right_expr, int32_t line, Node **out)
{
    Node *left = NULL, *right = NULL;

    if (!bind_expr(binder, scope, left_expr, &left) ||
        !bind_expr(binder, scope, right_expr, &right))
        return false;
    if (binder->undeclared) {
        bind_suggest(binder, left, &right->type);
        bind_suggest(binder, right, &left->type);
    }
    if (!prepare_sides(binder, &left, &right, line)) return false;
    *out = node_compare(binder->arena, op, left, right);
    return true;
}

static Node *predicate_node(Binder *binder, NodeKind kind, Truth (*test)(Node *, Exec *),
                            const Expr *expr, size_t arg_count)
{
    Node *node = node_new(binder->arena, kind, sim_type(SIM_BIT), expr->line);

    node->test      = test;
    node->negated   = expr->negated;
    node->args      = ARENA_ARRAY(binder->arena, Node *, arg_count + 1);
    node->arg_count = arg_count;
    return node;
}

static bool bind_logical(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = predicate_node(binder, expr->kind == EXPR_AND ? NODE_AND : NODE_OR,
                                expr->kind == EXPR_AND ? test_and : test_or, expr, 2);
    Node *left = NULL, *right = NULL;

    if (!bind_predicate(binder, scope, expr->args.items[0], &left)) return false;
    for (size_t i = 1; i < expr->args.count; i++) { /* two, or a chain */
        if (!bind_predicate(binder, scope, expr->args.items[i], &right)) return false;
        if (i > 1) {
            Node *chain = predicate_node(binder, node->kind, node->test, expr, 2);
            left        = node;
            node        = chain;
        }
        node->args[0] = left;
        node->args[1] = right;
    }
    node->negated = false;
    *out          = node;
    return true;
}

static Node *negated(Binder *binder, const Expr *expr, Node *node)
{
    Node *result = predicate_node(binder, NODE_NOT, test_not, expr, 1);

    result->negated = false;
    result->args[0] = node;
    return result;
}

static bool bind_between(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *low = NULL, *high = NULL;

    if (!bind_compare(binder, scope, CMP_GE, expr->args.items[0], expr->args.items[1], expr->line,
                      &low))
        return false;
    if (!bind_compare(binder, scope, CMP_LE, expr->args.items[0], expr->args.items[2], expr->line,
                      &high))
        return false;
    *out = node_and(binder->arena, low, high);
    if (expr->negated) *out = negated(binder, expr, *out);
    return true;
}

static bool bind_in_query(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = predicate_node(binder, NODE_PREDICATE, test_in_query, expr, 1);
    Node *sides[2];

    if (!bind_expr(binder, scope, expr->args.items[0], &sides[0]) ||
        !bind_subquery(binder, scope, expr, node))
        return false;
    sides[1] = node->query->outs[0].node;
    if (!check_comparable(binder, sides[0], expr->line) ||
        !check_comparable(binder, sides[1], expr->line))
        return false;
    if (!bind_unify(binder, sides, 2, expr->line)) return false;
    node->args[0]             = sides[0];
    node->query->outs[0].node = sides[1];
    *out                      = node;
    return true;
}

static bool bind_in(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    if (expr->select) return bind_in_query(binder, scope, expr, out);
    Node *node = predicate_node(binder, NODE_PREDICATE, test_in_list, expr, expr->args.count);
    for (size_t i = 0; i < expr->args.count; i++) {
        if (!bind_expr(binder, scope, expr->args.items[i], &node->args[i])) return false;
        if (i > 0 && !prepare_sides(binder, &node->args[0], &node->args[i], expr->line))
            return false;
    }
    *out = node;
    return true;
}

static bool bind_like(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = predicate_node(binder, NODE_PREDICATE, test_like, expr, expr->args.count);

    for (size_t i = 0; i < expr->args.count; i++)
        if (!bind_expr(binder, scope, expr->args.items[i], &node->args[i])) return false;
    if (!bind_same_collation(binder, &node->args[0], &node->args[1], expr->line)) return false;
    *out = node;
    return true;
}

static bool bind_quantified(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = predicate_node(binder, NODE_PREDICATE, test_quantified, expr, 1);

    if (!bind_expr(binder, scope, expr->args.items[0], &node->args[0]) ||
        !bind_subquery(binder, scope, expr, node))
        return false;
    if (!prepare_sides(binder, &node->args[0], &node->query->outs[0].node, expr->line))
        return false;
    node->compare = expr->compare;
    node->negated = expr->is_all;
    *out          = node;
    return true;
}

bool bind_predicate(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = NULL;
    bool  ok   = false;

    if (++binder->depth > 400) {
        (void)binder_error(binder, expr->line, 8631,
                           "Internal error: Server stack limit has been reached.");
        return false;
    }
    switch (expr->kind) {
    case EXPR_COMPARE:
        ok = bind_compare(binder, scope, expr->compare, expr->args.items[0], expr->args.items[1],
                          expr->line, out);
        break;
    case EXPR_AND:
    case EXPR_OR: ok = bind_logical(binder, scope, expr, out); break;
    case EXPR_NOT:
        ok = bind_predicate(binder, scope, expr->args.items[0], &node);
        if (ok) *out = negated(binder, expr, node);
        break;
    case EXPR_IS_NULL:
        node = predicate_node(binder, NODE_IS_NULL, test_is_null, expr, 1);
        ok   = bind_expr(binder, scope, expr->args.items[0], &node->args[0]);
        *out = node;
        break;
    case EXPR_BETWEEN: ok = bind_between(binder, scope, expr, out); break;
    case EXPR_IN: ok = bind_in(binder, scope, expr, out); break;
    case EXPR_LIKE: ok = bind_like(binder, scope, expr, out); break;
    case EXPR_EXISTS:
        node = predicate_node(binder, NODE_PREDICATE, test_exists, expr, 0);
        ok   = bind_subquery(binder, scope, expr, node);
        *out = expr->negated ? negated(binder, expr, node) : node;
        break;
    case EXPR_QUANTIFIED: ok = bind_quantified(binder, scope, expr, out); break;
    case EXPR_LITERAL:
    case EXPR_COLUMN:
    case EXPR_STAR:
    case EXPR_VARIABLE:
    case EXPR_GLOBAL:
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_SUBQUERY:
    case EXPR_CASE:
    case EXPR_CAST:
    case EXPR_FUNCTION:
    case EXPR_COLLATE:
    case EXPR_AT_TIME_ZONE:
    case EXPR_DATEPART_NAME:
    case EXPR_DEFAULT:
        ok = binder_error(binder, expr->line, 4145,
                          "An expression of non-boolean type specified in a context where a "
                          "condition is expected.");
        break;
    }
    binder->depth--;
    assert(!ok || *out);
    return ok;
}
