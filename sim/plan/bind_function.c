/* bind_function.c - function calls: scalar ones, COALESCE and its kin, aggregates, window functions. */
#include "sim/function/function.h"
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

static bool is_named(const Expr *expr, const char *name)
{
    return str_equal_ignoring_case(expr->function.name, str_from_c(name)) &&
           str_is_empty(expr->function.schema);
}

static bool is_aggregate_name(const Expr *expr)
{
    return expr->kind == EXPR_FUNCTION && str_is_empty(expr->function.schema) &&
           sim_aggregate_find(expr->function.name) != NULL;
}

static bool any_has_aggregate(const ExprList *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (expr_has_aggregate(list->items[i])) return true;
    return false;
}

bool expr_has_aggregate(const Expr *expr)
{
    if (!expr) return false;
    if (is_aggregate_name(expr) && !expr->over) return true;
    if (any_has_aggregate(&expr->args) || expr_has_aggregate(expr->operand) ||
        expr_has_aggregate(expr->otherwise) || expr_has_aggregate(expr->style))
        return true;
    if (!expr->over) return false;
    if (any_has_aggregate(&expr->over->partition_by)) return true;
    for (size_t i = 0; i < expr->over->order_by.count; i++)
        if (expr_has_aggregate(expr->over->order_by.items[i].expr)) return true;
    return false;
}

static bool same_list(const ExprList *left, const ExprList *right)
{
    if (left->count != right->count) return false;
    for (size_t i = 0; i < left->count; i++)
        if (!expr_same(left->items[i], right->items[i])) return false;
    return true;
}

/* The same text up to case and the qualifiers of columns. */
bool expr_same(const Expr *left, const Expr *right)
{
    if (!left || !right) return left == right;
    if (left->kind != right->kind || left->select || right->select || left->over || right->over)
        return false;
    switch (left->kind) {
    case EXPR_LITERAL: {
        if (left->value.is_null || right->value.is_null)
            return left->value.is_null && right->value.is_null;
        return left->value.type.kind == right->value.type.kind &&
               sim_compare_same(&left->value, &right->value) == 0;
    }
    case EXPR_COLUMN:
        for (size_t i = 1; i <= MIN(left->parts.count, right->parts.count); i++)
            if (!sim_name_equal(left->parts.items[left->parts.count - i],
                                right->parts.items[right->parts.count - i]))
                return false;
        return true;
    case EXPR_VARIABLE:
    case EXPR_GLOBAL:
    case EXPR_DATEPART_NAME: return sim_name_equal(left->text, right->text);
    case EXPR_STAR:
    case EXPR_UNARY:
    case EXPR_BINARY:
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
    case EXPR_SUBQUERY:
    case EXPR_CASE:
    case EXPR_CAST:
    case EXPR_FUNCTION:
    case EXPR_COLLATE:
    case EXPR_AT_TIME_ZONE:
    case EXPR_DEFAULT: break;
    }
    if (left->op != right->op || left->compare != right->compare ||
        left->negated != right->negated || left->distinct != right->distinct)
        return false;
    if (!sim_name_equal(left->text, right->text) ||
        !sim_name_equal(left->function.name, right->function.name))
        return false;
    if (left->kind == EXPR_CAST && !sim_type_equal(&left->type, &right->type)) return false;
    return same_list(&left->args, &right->args) && expr_same(left->operand, right->operand) &&
           expr_same(left->otherwise, right->otherwise) && expr_same(left->style, right->style);
}

/* --- COALESCE, NULLIF, IIF --- */
static Node *lazy_node(Binder *binder, const Expr *expr, const SimValue *(*eval)(Node *, Exec *),
                       size_t arg_count)
{
    Node *node = node_new(binder->arena, NODE_CALL, sim_type(SIM_INT), expr->line);

    node->eval      = eval;
    node->args      = ARENA_ARRAY(binder->arena, Node *, arg_count + 1);
    node->arg_count = arg_count;
    return node;
}

static bool wrong_count(Binder *binder, const Expr *expr, int count)
{
    return binder_error(binder, expr->line, 174, "The %.*s function requires %d argument(s).",
                        STR_ARG(expr->function.name), count);
}

static bool bind_coalesce(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = lazy_node(binder, expr, eval_coalesce, expr->args.count);

    if (expr->args.count < 2) return wrong_count(binder, expr, 2);
    bool nullable = true;
    for (size_t i = 0; i < expr->args.count; i++) {
        if (!bind_expr(binder, scope, expr->args.items[i], &node->args[i])) return false;
        nullable &= node->args[i]->is_nullable;
    }
    if (!bind_unify(binder, node->args, node->arg_count, expr->line)) return false;
    node->type           = node->args[0]->type;
    node->collation_rank = node->args[0]->collation_rank;
    node->is_nullable    = nullable;
    *out                 = node;
    return true;
}

static bool bind_null_if(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Expr  test = {.kind = EXPR_COMPARE, .line = expr->line, .compare = CMP_EQ, .args = expr->args};
    Node *node = lazy_node(binder, expr, eval_null_if, 2);

    if (expr->args.count != 2) return wrong_count(binder, expr, 2);
    if (!bind_predicate(binder, scope, &test, &node->args[0]) ||
        !bind_expr(binder, scope, expr->args.items[0], &node->args[1]))
        return false;
    node->type           = node->args[1]->type;
    node->collation_rank = node->args[1]->collation_rank;
    *out                 = node;
    return true;
}

static bool bind_iif(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    Node *node = lazy_node(binder, expr, eval_case, 3);

    if (expr->args.count != 3) return wrong_count(binder, expr, 3);
    if (!bind_predicate(binder, scope, expr->args.items[0], &node->args[0]) ||
        !bind_expr(binder, scope, expr->args.items[1], &node->args[1]) ||
        !bind_expr(binder, scope, expr->args.items[2], &node->args[2]) ||
        !bind_unify(binder, &node->args[1], 2, expr->line))
        return false;
    node->type           = node->args[1]->type;
    node->collation_rank = node->args[1]->collation_rank;
    *out                 = node;
    return true;
}

/* --- scalar functions --- */
static const SimValue *eval_function(Node *node, Exec *exec)
{
    SimValue  few[8];
    SimValue *values = node->arg_count <= COUNT_OF(few)
                           ? few
                           : ARENA_ARRAY(exec->scratch, SimValue, node->arg_count);

    for (size_t i = 0; i < node->arg_count; i++) {
        const SimValue *value = node_eval(node->args[i], exec);
        if (!value) return NULL;
        values[i] = *value;
    }
    if (!sim_function_call(node->function, &node->type, values, node->arg_count, exec->scratch,
                           &node->value, exec->error))
        return NULL;
    return &node->value;
}

/* --- what SET DATEFIRST and SET DATEFORMAT mean to functions of dates --- */
static bool takes_dates(const Expr *expr, const SimFunction *function)
{
    return sim_function_takes_datepart(function) || is_named(expr, "YEAR") ||
           is_named(expr, "MONTH") || is_named(expr, "DAY") || is_named(expr, "EOMONTH");
}

/* A text that stands for a date is read as the session reads it. */
static Node *as_session_date(Binder *binder, const Expr *expr, const SimFunction *function,
                             size_t index, Node *arg)
{
    SimType type = is_named(expr, "DATEADD") ? sim_type(SIM_DATETIME)
                                             : sim_type_time(SIM_DATETIME2, 7);

    if (index < sim_function_takes_datepart(function) || !takes_dates(expr, function) ||
        session_date_style(binder->session, &arg->type, &type) == 0)
        return arg;
    return node_convert(binder->arena, arg, &type);
}

static const SimValue *eval_weekday(Node *node, Exec *exec)
{
    const SimValue *value = node_eval(node->args[0], exec);

    if (!value) return NULL;
    node->value   = *value; /* Sunday is 1 */
    int64_t first = exec->session->options.date_first % 7;
    if (!value->is_null) node->value.i64 = (value->i64 - 1 - first + 7) % 7 + 1;
    return &node->value;
}

/* The week of January 1st is the first one, and ends before the session's first day. */
static const SimValue *eval_week(Node *node, Exec *exec)
{
    const SimValue *value = node_eval(node->args[0], exec);

    if (!value) return NULL;
    node->value = *value;
    if (value->is_null) return &node->value;
    int64_t weekday = value->i64;
    value           = node_eval(node->args[1], exec);
    if (!value) return NULL;
    int64_t day     = value->i64 - 1; /* of the year */
    int64_t january = ((weekday - 1 - day) % 7 + 7) % 7;
    node->value.i64 = (day + january) / 7 + 1;
    return &node->value;
}

static bool is_part(const Expr *expr, const char *const *names)
{
    const Expr *part = expr->args.count > 0 ? expr->args.items[0] : NULL;

    if (!part || part->kind != EXPR_DATEPART_NAME) return false;
    for (; *names; names++)
        if (str_equal_ignoring_case(part->text, str_from_c(*names))) return true;
    return false;
}

static bool bind_scalar(Binder *binder, QueryScope *scope, const Expr *expr,
                        const SimFunction *function, Node **out);

static bool bind_part(Binder *binder, QueryScope *scope, const Expr *expr,
                      const SimFunction *function, const char *part, Node **out)
{
    Expr *name = ARENA_NEW(binder->arena, Expr);
    Expr *call = ARENA_NEW(binder->arena, Expr);

    *name                                  = *expr->args.items[0];
    name->text                             = str_from_c(part);
    *call                                  = *expr;
    call->args                             = (ExprList){0};
    *LIST_PUSH(binder->arena, &call->args) = name;
    *LIST_PUSH(binder->arena, &call->args) = expr->args.items[1];
    return bind_scalar(binder, scope, call, function, out);
}

/* DATEPART of a weekday or a week, when the week does not begin with Sunday. */
static bool bind_first_day(Binder *binder, QueryScope *scope, const Expr *expr,
                           const SimFunction *function, Node **out, bool *found)
{
    static const char *const weekdays[] = {"weekday", "dw", "w", NULL};
    static const char *const weeks[]    = {"week", "wk", "ww", NULL};
    Node                    *weekday = NULL, *day = NULL;

    *found = is_named(expr, "DATEPART") && expr->args.count == 2 &&
             binder->session->options.date_first != 7 &&
             (is_part(expr, weekdays) || is_part(expr, weeks));
    if (!*found) return true;
    if (!bind_part(binder, scope, expr, function, "weekday", &weekday)) return false;
    Node *shifted    = lazy_node(binder, expr, eval_weekday, 1);
    shifted->type    = weekday->type;
    shifted->args[0] = weekday;
    *out             = shifted;
    if (is_part(expr, weekdays)) return true;
    if (!bind_part(binder, scope, expr, function, "dayofyear", &day)) return false;
    Node *week    = lazy_node(binder, expr, eval_week, 2);
    week->type    = weekday->type;
    week->args[0] = shifted;
    week->args[1] = day;
    *out          = week;
    return true;
}

static bool bind_scalar(Binder *binder, QueryScope *scope, const Expr *expr,
                        const SimFunction *function, Node **out)
{
    size_t           count     = expr->args.count;
    Node            *node      = lazy_node(binder, expr, eval_function, count);
    SimType         *types     = ARENA_ARRAY(binder->arena, SimType, count + 1);
    const SimValue **constants = ARENA_ARRAY(binder->arena, const SimValue *, count + 1);

    node->function = function;
    for (size_t i = 0; i < count; i++) {
        if (!bind_expr(binder, scope, expr->args.items[i], &node->args[i])) return false;
        node->args[i] = as_session_date(binder, expr, function, i, node->args[i]);
        types[i]      = node->args[i]->type;
        if (node->args[i]->kind == NODE_CONST) constants[i] = &node->args[i]->value;
        node->collation_rank = MAX(node->collation_rank, node->args[i]->collation_rank);
    }
    if (!sim_function_type(function, types, constants, count, &node->type, binder->error)) {
        binder->error->line = expr->line;
        return false;
    }
    *out = node;
    return true;
}

/* --- aggregates --- */
static bool bind_aggregate_call(Binder *binder, QueryScope *scope, const Expr *expr,
                                AggregateCall *call)
{
    call->function     = sim_aggregate_find(expr->function.name);
    call->distinct     = expr->distinct;
    const Expr *first  = expr->args.count > 0 ? expr->args.items[0] : NULL;
    size_t      wanted = call->function->args ? call->function->args : 1;

    if (call->function->kind == SIM_BYTES_OR && !binder->is_trusted)
        return binder_error(binder, expr->line, 195,
                            "'%.*s' is not a recognized built-in function name.",
                            STR_ARG(expr->function.name));
    if (expr->args.count != wanted) return wrong_count(binder, expr, (int)wanted);
    if (first->kind != EXPR_STAR) {
        if (!bind_expr(binder, scope, first, &call->arg)) return false;
        if (sim_type_is_lob(call->arg->type.kind))
            return binder_error(binder, expr->line, 8117,
                                "Operand data type %s is invalid for %.*s operator.",
                                sim_type_word(&call->arg->type),
                                STR_ARG(str_lower_ascii(binder->arena, expr->function.name)));
    } else if (call->function->kind != SIM_COUNT && call->function->kind != SIM_COUNT_BIG) {
        return binder_error(binder, expr->line, 102, "Incorrect syntax near '*'.");
    }
    if (wanted == 2 && !bind_expr(binder, scope, expr->args.items[1], &call->separator))
        return false;
    for (size_t i = 0; i < expr->within_group.count; i++) {
        SortItem item = {.descending = expr->within_group.items[i].descending};
        if (!bind_expr(binder, scope, expr->within_group.items[i].expr, &item.node)) return false;
        *LIST_PUSH(binder->arena, &call->order) = item;
    }
    if (!sim_aggregate_type(call->function, call->arg ? &call->arg->type : NULL, &call->type,
                            binder->error)) {
        binder->error->line = expr->line;
        return false;
    }
    call->slot = binder_slot(binder);
    return true;
}

static bool bind_aggregate(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    AggregateCall *call = ARENA_NEW(binder->arena, AggregateCall);

    if (!scope || !scope->allows_aggregates || scope->is_in_aggregate)
        return binder_error(binder, expr->line, scope && scope->is_in_aggregate ? 130 : 147,
                            scope && scope->is_in_aggregate
                                ? "Cannot perform an aggregate function on an expression "
                                  "containing an aggregate or a subquery."
                                : "An aggregate may not appear in the WHERE clause unless it is in "
                                  "a subquery contained in a HAVING clause or a select "
                                  "list, and the column being aggregated is an outer reference.");
    scope->is_in_aggregate = true;
    bool ok                = bind_aggregate_call(binder, scope, expr, call);
    scope->is_in_aggregate = false;
    if (!ok) return false;
    *LIST_PUSH(binder->arena, &scope->aggregates) = call;
    *out                                          = node_slot(binder->arena, call->slot, call->type,
                                                              call->function->kind != SIM_COUNT && call->function->kind != SIM_COUNT_BIG);
    (*out)->collation_rank                        = call->arg ? call->arg->collation_rank : 0;
    return true;
}

/* --- window functions --- */
typedef struct WindowName {
    const char *name;
    WindowKind  kind;
    size_t      min_args, max_args;
} WindowName;
static const WindowName window_names[] = {
    {"ROW_NUMBER", WINDOW_ROW_NUMBER, 0, 0},
    {"RANK", WINDOW_RANK, 0, 0},
    {"DENSE_RANK", WINDOW_DENSE_RANK, 0, 0},
    {"NTILE", WINDOW_NTILE, 1, 1},
    {"LAG", WINDOW_LAG, 1, 3},
    {"LEAD", WINDOW_LEAD, 1, 3},
    {"FIRST_VALUE", WINDOW_FIRST_VALUE, 1, 1},
    {"LAST_VALUE", WINDOW_LAST_VALUE, 1, 1},
};

static const WindowName *window_find(const Expr *expr)
{
    for (size_t i = 0; i < COUNT_OF(window_names); i++)
        if (is_named(expr, window_names[i].name)) return &window_names[i];
    return NULL;
}

static bool bind_window_spec(Binder *binder, QueryScope *scope, const Window *window,
                             WindowCall *call)
{
    for (size_t i = 0; i < window->partition_by.count; i++)
        if (!bind_expr(binder, scope, window->partition_by.items[i],
                       LIST_PUSH(binder->arena, &call->partition)))
            return false;
    for (size_t i = 0; i < window->order_by.count; i++) {
        SortItem item = {.descending = window->order_by.items[i].descending};
        if (window->order_by.items[i].expr->kind == EXPR_LITERAL)
            return binder_error(binder, window->order_by.items[i].expr->line, 5308,
                                "Windowed functions, aggregates and NEXT VALUE FOR functions do "
                                "not support integer indices as ORDER BY clause expressions.");
        if (!bind_expr(binder, scope, window->order_by.items[i].expr, &item.node)) return false;
        *LIST_PUSH(binder->arena, &call->order) = item;
    }
    return true;
}

static bool bind_window_args(Binder *binder, QueryScope *scope, const Expr *expr,
                             const WindowName *name, WindowCall *call)
{
    call->kind = name->kind;
    call->type = sim_type(SIM_BIGINT);
    if (expr->args.count < name->min_args || expr->args.count > name->max_args)
        return wrong_count(binder, expr, (int)name->min_args);
    if (call->order.count == 0)
        return binder_error(binder, expr->line, 4112,
                            "The function '%.*s' must have an OVER clause with ORDER BY.",
                            STR_ARG(expr->function.name));
    if (expr->args.count > 0 && !bind_expr(binder, scope, expr->args.items[0], &call->arg))
        return false;
    if (expr->args.count > 1 && !bind_expr(binder, scope, expr->args.items[1], &call->offset))
        return false;
    if (expr->args.count > 2 && !bind_expr(binder, scope, expr->args.items[2], &call->otherwise))
        return false;
    if (call->arg && name->kind != WINDOW_NTILE) call->type = call->arg->type;
    if (call->offset && call->offset->kind == NODE_CONST &&
        call->offset->value.type.kind == SIM_INT && call->offset->value.i64 == 1)
        call->offset = NULL;
    return true;
}

static bool bind_frame(Binder *binder, const Expr *expr, const WindowName *name, WindowCall *call)
{
    const Window *window = expr->over;
    bool takes = !name || name->kind == WINDOW_FIRST_VALUE || name->kind == WINDOW_LAST_VALUE;

    if (!window->has_frame) return true;
    if (!takes)
        return binder_error(binder, expr->line, 10752,
                            "The function '%.*s' may not have a window frame.",
                            STR_ARG(expr->function.name));
    if (call->order.count == 0)
        return binder_error(binder, expr->line, 10756,
                            "Window frame with ROWS or RANGE must have an ORDER BY clause.");
    if (window->is_range &&
        (window->start.kind == FRAME_PRECEDING || window->start.kind == FRAME_FOLLOWING ||
         window->end.kind == FRAME_PRECEDING || window->end.kind == FRAME_FOLLOWING))
        return binder_error(binder, expr->line, 4194,
                            "RANGE is only supported with UNBOUNDED and CURRENT ROW window frame "
                            "delimiters.");
    call->has_frame = true;
    call->is_range  = window->is_range;
    call->start     = window->start;
    call->end       = window->end;
    return true;
}

static bool bind_window(Binder *binder, QueryScope *scope, const Expr *expr, const WindowName *name,
                        Node **out)
{
    WindowCall *call = ARENA_NEW(binder->arena, WindowCall);

    if (!scope || !scope->allows_windows)
        return binder_error(
            binder, expr->line, 4108,
            "Windowed functions can only appear in the SELECT or ORDER BY clauses.");
    if (!bind_window_spec(binder, scope, expr->over, call) || !bind_frame(binder, expr, name, call))
        return false;
    if (name) {
        if (!bind_window_args(binder, scope, expr, name, call)) return false;
    } else {
        if (expr->distinct)
            return binder_error(binder, expr->line, 10759,
                                "Use of DISTINCT is not allowed with the OVER clause.");
        if (!bind_aggregate_call(binder, scope, expr, &call->aggregate)) return false;
        call->kind = WINDOW_AGGREGATE;
        call->type = call->aggregate.type;
    }
    call->slot                                 = binder_slot(binder);
    *LIST_PUSH(binder->arena, &scope->windows) = call;
    *out                                       = node_slot(binder->arena, call->slot, call->type,
                                                           name == NULL || name->kind >= WINDOW_LAG);
    (*out)->collation_rank                     = call->arg ? call->arg->collation_rank : 0;
    return true;
}

/* Functions that came with a version of the server: 195 before. */
static bool exists_in(const Expr *expr, int version)
{
    static const struct {
        const char *name;
        int         version;
    } first[] = {{"CONCAT_WS", 2017},          {"STRING_AGG", 2017},  {"TRIM", 2017},
                 {"TRANSLATE", 2017},          {"GREATEST", 2022},    {"LEAST", 2022},
                 {"DATETRUNC", 2022},          {"DATE_BUCKET", 2022}, {"CURRENT_TIMEZONE", 2019},
                 {"CURRENT_TIMEZONE_ID", 2022}};

    for (size_t i = 0; i < COUNT_OF(first); i++)
        if (is_named(expr, first[i].name)) return version >= first[i].version;
    return true;
}

bool bind_function(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    const WindowName *window = window_find(expr);
    bool              found  = false;

    if (!exists_in(expr, front_version(binder->session)))
        return binder_error(binder, expr->line, 195,
                            "'%.*s' is not a recognized built-in function name.",
                            STR_ARG(expr->function.name));
    if (str_is_empty(expr->function.schema)) {
        if (is_named(expr, "COALESCE")) return bind_coalesce(binder, scope, expr, out);
        if (is_named(expr, "NULLIF")) return bind_null_if(binder, scope, expr, out);
        if (is_named(expr, "IIF")) return bind_iif(binder, scope, expr, out);
        if (window && !expr->over)
            return binder_error(binder, expr->line, 10753,
                                "The function '%.*s' must have an OVER clause.",
                                STR_ARG(expr->function.name));
        if (window) return bind_window(binder, scope, expr, window, out);
        if (is_aggregate_name(expr))
            return expr->over ? bind_window(binder, scope, expr, NULL, out)
                              : bind_aggregate(binder, scope, expr, out);
    }
    if (!bind_session_function(binder, scope, expr, out, &found)) return false;
    if (found) return true;
    const SimFunction *function = str_is_empty(expr->function.schema)
                                      ? sim_function_find(expr->function.name)
                                      : NULL;
    if (function) {
        if (!bind_first_day(binder, scope, expr, function, out, &found)) return false;
        return found || bind_scalar(binder, scope, expr, function, out);
    }
    if (!str_is_empty(expr->function.schema))
        return binder_error(binder, expr->line, 4121,
                            "Cannot find either column \"%.*s\" or the user-defined function or "
                            "aggregate \"%.*s.%.*s\", or the name is ambiguous.",
                            STR_ARG(expr->function.schema), STR_ARG(expr->function.schema),
                            STR_ARG(expr->function.name));
    if (sim_function_is_missing(expr->function.name, front_version(binder->session)))
        return binder_not_supported(binder, expr->line, "the function %.*s",
                                    STR_ARG(expr->function.name));
    return binder_error(binder, expr->line, 195,
                        "'%.*s' is not a recognized built-in function name.",
                        STR_ARG(expr->function.name));
}
