/* Expressions and conditions. T-SQL keeps them apart: a comparison is no value. Where a condition
 * may stand, parentheses may hold either, and what came out is looked at afterwards. */
#include "sim/parse/parse_internal.h"

Expr *expr_new(Parser *parser, ExprKind kind, int32_t line)
{
    Expr *expr = ARENA_NEW(parser->arena, Expr);

    expr->kind  = kind;
    expr->line  = line;
    expr->depth = 1;
    return expr;
}

static bool raise_depth(Parser *parser, Expr *expr, int32_t below)
{
    if (below + 1 > expr->depth) expr->depth = below + 1;
    return note_depth(parser, expr->depth);
}

bool expr_add(Parser *parser, Expr *expr, Expr *arg)
{
    if (arg == NULL) return false;
    *LIST_PUSH(parser->arena, &expr->args) = arg;
    return raise_depth(parser, expr, arg->depth);
}

Expr *expr_binary(Parser *parser, char op, Expr *left, Expr *right, int32_t line)
{
    Expr *expr = expr_new(parser, EXPR_BINARY, line);

    expr->op = op;
    return expr_add(parser, expr, left) && expr_add(parser, expr, right) ? expr : NULL;
}

static Expr *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

static bool is_condition(const Expr *expr)
{
    switch (expr->kind) {
    case EXPR_COMPARE:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
    case EXPR_IS_NULL:
    case EXPR_BETWEEN:
    case EXPR_IN:
    case EXPR_LIKE:
    case EXPR_EXISTS:
    case EXPR_QUANTIFIED: return true;
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
    case EXPR_DEFAULT: break;
    }
    return false;
}

static Expr *parse_or(Parser *parser);
static Expr *parse_binary(Parser *parser, int level, bool allow_condition);

/* A query in parentheses as part of an expression; the opening one was consumed. */
static bool parse_subquery(Parser *parser, Expr *expr)
{
    int32_t outer = parser->deepest;

    parser->deepest = 0;
    expr->select    = parse_query(parser, false);
    if (expr->select == NULL || !expect_op(parser, ')')) return false;
    if (!raise_depth(parser, expr, parser->deepest)) return false;
    parser->deepest = MAX(outer, expr->depth);
    return true;
}

static Expr *parse_parens(Parser *parser, bool allow_condition)
{
    int32_t line = line_of(parser);

    if (starts_query(parser, 0)) {
        Expr *query = expr_new(parser, EXPR_SUBQUERY, line);
        advance(parser);
        return parse_subquery(parser, query) ? query : NULL;
    }
    advance(parser);
    Expr *inner = allow_condition ? parse_or(parser) : parse_expr(parser);
    if (inner == NULL || !expect_op(parser, ')')) return NULL;
    return inner;
}

/* a, a.b, a..b, t.*, or a function when a parenthesis follows. */
static Expr *parse_name_expr(Parser *parser)
{
    int32_t  line  = line_of(parser);
    NameList parts = {0};

    for (;;) {
        if (parts.count > 0 && is_op(parser, '*')) {
            advance(parser);
            Expr *star  = expr_new(parser, EXPR_STAR, line);
            star->parts = parts;
            return star;
        }
        Str name = STR_EMPTY;
        if (!is_op(parser, '.') && !expect_name(parser, &name)) return NULL;
        *LIST_PUSH(parser->arena, &parts) = name;
        if (parts.count > 5) return fail(parser);
        if (!accept_op(parser, '.')) break;
    }
    if (is_op(parser, '(')) {
        ObjectName function = {.name     = parts.items[parts.count - 1],
                               .schema   = STR_EMPTY,
                               .database = STR_EMPTY,
                               .line     = line};
        if (parts.count > 1) function.schema = parts.items[parts.count - 2];
        if (parts.count > 2) function.database = parts.items[parts.count - 3];
        if (parts.count > 3) {
            (void)not_supported(parser, "a linked server");
            return NULL;
        }
        return parse_function_call(parser, &function);
    }
    if (is_op(parser, OP_SCOPE)) {
        (void)not_supported(parser, "a method of a CLR type");
        return NULL;
    }
    Expr *column  = expr_new(parser, EXPR_COLUMN, line);
    column->parts = parts;
    return column;
}

static Expr *parse_variable(Parser *parser)
{
    Token token = *peek(parser, 0);
    Expr *expr  = expr_new(parser, token.kind == TOKEN_GLOBAL ? EXPR_GLOBAL : EXPR_VARIABLE,
                           token.line);

    expr->text = token.text;
    advance(parser);
    if (is_op(parser, '.')) {
        (void)not_supported(parser, "a method of a variable");
        return NULL;
    }
    return expr;
}

static Expr *parse_primary(Parser *parser, bool allow_condition)
{
    const Token *token = peek(parser, 0);

    if (is_literal(parser)) return parse_literal(parser);
    switch (token->kind) {
    case TOKEN_VARIABLE:
    case TOKEN_GLOBAL: return parse_variable(parser);
    case TOKEN_QUOTED: return parse_name_expr(parser);
    case TOKEN_OPERATOR:
        if (token->op == '(') return parse_parens(parser, allow_condition);
        if (token->op == '.') return parse_name_expr(parser);
        break;
    case TOKEN_WORD:
        if (token->keyword == KW_CASE) return parse_case(parser);
        if (starts_function(parser)) return parse_keyword_function(parser);
        if (is_name(parser)) return parse_name_expr(parser);
        break;
    case TOKEN_END:
    case TOKEN_STRING:
    case TOKEN_NSTRING:
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_FLOAT:
    case TOKEN_MONEY:
    case TOKEN_BINARY: break;
    }
    return fail(parser);
}

/* COLLATE and AT TIME ZONE bind more tightly than any operator. */
static Expr *parse_postfix(Parser *parser, bool allow_condition)
{
    Expr *expr = parse_primary(parser, allow_condition);

    while (expr != NULL && !is_condition(expr)) {
        int32_t line = line_of(parser);
        if (accept_keyword(parser, KW_COLLATE)) {
            Expr *collate = expr_new(parser, EXPR_COLLATE, line);
            if (!expect_name(parser, &collate->text)) return NULL;
            if (!expr_add(parser, collate, expr)) return NULL;
            expr = collate;
        } else if (is_keyword(parser, KW_AT) && is_keyword_at(parser, 1, KW_TIME)) {
            advance(parser);
            advance(parser);
            if (!expect_keyword(parser, KW_ZONE)) return NULL;
            Expr *zone = expr_new(parser, EXPR_AT_TIME_ZONE, line);
            if (!expr_add(parser, zone, expr) ||
                !expr_add(parser, zone, parse_primary(parser, false)))
                return NULL;
            expr = zone;
        } else {
            break;
        }
    }
    return expr;
}

enum { LEVEL_SUM = 1, LEVEL_PRODUCT = 2 };

/* A sign takes the whole product behind it, as in SQL Server: -4 / -2 * 3 is -(4 / -(2 * 3)). ~
 * binds tightly. */
static Expr *parse_unary(Parser *parser, bool allow_condition)
{
    int32_t line = line_of(parser);
    char op = is_op(parser, '-') ? '-' : is_op(parser, '+') ? '+' : is_op(parser, '~') ? '~' : '\0';

    if (op == '\0') return parse_postfix(parser, allow_condition);
    if (!enter(parser)) return NULL;
    advance(parser);
    Expr *expr  = expr_new(parser, EXPR_UNARY, line);
    Expr *below = op == '~' ? parse_unary(parser, false)
                            : parse_binary(parser, LEVEL_PRODUCT, false);
    leave(parser);
    expr->op = op;
    return expr_add(parser, expr, below) ? expr : NULL;
}

static int level_of(const Token *token)
{
    if (token->kind != TOKEN_OPERATOR) return 0;
    switch (token->op) {
    case '*':
    case '/':
    case '%': return LEVEL_PRODUCT;
    case '+':
    case '-':
    case '&':
    case '|':
    case '^': return LEVEL_SUM;
    default: return 0;
    }
}

static Expr *parse_binary(Parser *parser, int level, bool allow_condition)
{
    Expr *left = level > LEVEL_PRODUCT ? parse_unary(parser, allow_condition)
                                       : parse_binary(parser, level + 1, allow_condition);

    while (left != NULL && level_of(peek(parser, 0)) == level) {
        int32_t line = line_of(parser);
        char    op   = (char)peek(parser, 0)->op;
        if (is_condition(left)) return fail(parser);
        advance(parser);
        Expr *right = level == LEVEL_PRODUCT ? parse_unary(parser, false)
                                             : parse_binary(parser, LEVEL_PRODUCT, false);
        if (right == NULL) return NULL;
        left = expr_binary(parser, op, left, right, line);
    }
    return left;
}

Expr *parse_expr(Parser *parser)
{
    if (!enter(parser)) return NULL;
    Expr *expr = parse_binary(parser, LEVEL_SUM, false);
    leave(parser);
    return expr;
}

/* --- predicates --- */
static bool compare_of(const Token *token, CompareOp *out)
{
    if (token->kind != TOKEN_OPERATOR) return false;
    switch (token->op) {
    case '=': *out = CMP_EQ; return true;
    case OP_NOT_EQUAL: *out = CMP_NE; return true;
    case '<': *out = CMP_LT; return true;
    case OP_LESS_EQUAL: *out = CMP_LE; return true;
    case '>': *out = CMP_GT; return true;
    case OP_GREATER_EQUAL: *out = CMP_GE; return true;
    default: return false;
    }
}

static Expr *parse_compare(Parser *parser, Expr *left, CompareOp compare)
{
    Expr *expr = expr_new(parser, EXPR_COMPARE, line_of(parser));

    expr->compare = compare;
    advance(parser);
    /* "< =" with a blank between is one operator too. */
    if ((compare == CMP_LT || compare == CMP_GT) && accept_op(parser, '='))
        expr->compare = compare == CMP_LT ? CMP_LE : CMP_GE;
    if (compare == CMP_LT && expr->compare == CMP_LT && accept_op(parser, '>'))
        expr->compare = CMP_NE;
    if (!expr_add(parser, expr, left)) return NULL;
    if (is_keyword(parser, KW_ANY) || is_keyword(parser, KW_SOME) || is_keyword(parser, KW_ALL)) {
        expr->kind   = EXPR_QUANTIFIED;
        expr->is_all = is_keyword(parser, KW_ALL);
        advance(parser);
        if (!expect_op(parser, '(')) return NULL;
        return parse_subquery(parser, expr) ? expr : NULL;
    }
    return expr_add(parser, expr, parse_expr(parser)) ? expr : NULL;
}

static Expr *parse_in(Parser *parser, Expr *expr)
{
    expr->kind = EXPR_IN;
    if (!is_op(parser, '(')) return fail(parser);
    if (starts_query(parser, 0)) {
        advance(parser);
        return parse_subquery(parser, expr) ? expr : NULL;
    }
    advance(parser);
    do {
        if (!expr_add(parser, expr, parse_expr(parser))) return NULL;
    } while (accept_op(parser, ','));
    return expect_op(parser, ')') ? expr : NULL;
}

static Expr *parse_is(Parser *parser, Expr *left, int32_t line)
{
    Expr *expr = expr_new(parser, EXPR_IS_NULL, line);

    expr->negated = accept_keyword(parser, KW_NOT);
    if (is_keyword(parser, KW_DISTINCT)) {
        (void)not_supported(parser, "IS DISTINCT FROM");
        return NULL;
    }
    if (!expect_keyword(parser, KW_NULL)) return NULL;
    return expr_add(parser, expr, left) ? expr : NULL;
}

/* [NOT] BETWEEN, IN, LIKE. */
static Expr *parse_range(Parser *parser, Expr *left)
{
    Expr *expr    = expr_new(parser, EXPR_BETWEEN, line_of(parser));
    expr->negated = accept_keyword(parser, KW_NOT);

    if (!expr_add(parser, expr, left)) return NULL;
    if (accept_keyword(parser, KW_IN)) return parse_in(parser, expr);
    if (accept_keyword(parser, KW_LIKE)) {
        expr->kind = EXPR_LIKE;
        if (!expr_add(parser, expr, parse_expr(parser))) return NULL;
        if (accept_keyword(parser, KW_ESCAPE) && !expr_add(parser, expr, parse_expr(parser)))
            return NULL;
        return expr;
    }
    if (!expect_keyword(parser, KW_BETWEEN)) return NULL;
    if (!expr_add(parser, expr, parse_expr(parser)) || !expect_keyword(parser, KW_AND)) return NULL;
    return expr_add(parser, expr, parse_expr(parser)) ? expr : NULL;
}

static Expr *parse_exists(Parser *parser)
{
    Expr *expr = expr_new(parser, EXPR_EXISTS, line_of(parser));

    advance(parser);
    if (!expect_op(parser, '(')) return NULL;
    return parse_subquery(parser, expr) ? expr : NULL;
}

static Expr *parse_predicate(Parser *parser)
{
    CompareOp compare = CMP_EQ;

    if (is_keyword(parser, KW_EXISTS)) return parse_exists(parser);
    if (is_keyword(parser, KW_CONTAINS) || is_keyword(parser, KW_FREETEXT)) {
        (void)not_supported(parser, "full-text search");
        return NULL;
    }
    Expr *left = parse_binary(parser, LEVEL_SUM, true);
    if (left == NULL || is_condition(left)) return left;
    int32_t line = line_of(parser);
    if (compare_of(peek(parser, 0), &compare)) return parse_compare(parser, left, compare);
    if (accept_keyword(parser, KW_IS)) return parse_is(parser, left, line);
    if (is_keyword(parser, KW_BETWEEN) || is_keyword(parser, KW_IN) || is_keyword(parser, KW_LIKE))
        return parse_range(parser, left);
    if (is_keyword(parser, KW_NOT) &&
        (is_keyword_at(parser, 1, KW_BETWEEN) || is_keyword_at(parser, 1, KW_IN) ||
         is_keyword_at(parser, 1, KW_LIKE)))
        return parse_range(parser, left);
    return left;
}

/* Where a condition must stand: 4145 for a value, near what follows it. */
static Expr *check_condition(Parser *parser, Expr *expr)
{
    if (expr == NULL || is_condition(expr)) return expr;
    Token next = *peek(parser, 0);
    if (next.kind == TOKEN_END) next = parser->tokens.items[parser->at > 0 ? parser->at - 1 : 0];
    (void)parse_fail(parser, next.line, 4145,
                     "An expression of non-boolean type specified in a context where a condition "
                     "is expected, near '%.*s'.",
                     STR_ARG(str_slice(next.text, 0, 128)));
    return NULL;
}

static Expr *parse_not(Parser *parser)
{
    int32_t line = line_of(parser);

    if (!accept_keyword(parser, KW_NOT)) return parse_predicate(parser);
    if (!enter(parser)) return NULL;
    Expr *expr  = expr_new(parser, EXPR_NOT, line);
    Expr *below = check_condition(parser, parse_not(parser));
    leave(parser);
    return expr_add(parser, expr, below) ? expr : NULL;
}

/* One node for a whole chain. A chain of one is its part, which inside parentheses may be a
 * value. */
static Expr *parse_chain(Parser *parser, Keyword keyword, ExprKind kind,
                         Expr *(*parse_part)(Parser *parser))
{
    Expr *first = parse_part(parser);

    if (first == NULL || !is_keyword(parser, keyword)) return first;
    if (check_condition(parser, first) == NULL) return NULL;
    Expr *chain = expr_new(parser, kind, first->line);
    if (!expr_add(parser, chain, first)) return NULL;
    while (accept_keyword(parser, keyword)) {
        if (!expr_add(parser, chain, check_condition(parser, parse_part(parser)))) return NULL;
    }
    return chain;
}

static Expr *parse_and(Parser *parser)
{
    return parse_chain(parser, KW_AND, EXPR_AND, parse_not);
}

static Expr *parse_or(Parser *parser)
{
    if (!enter(parser)) return NULL;
    Expr *expr = parse_chain(parser, KW_OR, EXPR_OR, parse_and);
    leave(parser);
    return expr;
}

Expr *parse_condition(Parser *parser)
{
    return check_condition(parser, parse_or(parser));
}

/* --- lists --- */
bool parse_expr_list(Parser *parser, ExprList *out)
{
    do {
        Expr *expr = parse_expr(parser);
        if (expr == NULL) return false;
        *LIST_PUSH(parser->arena, out) = expr;
    } while (accept_op(parser, ','));
    return true;
}

bool parse_order_list(Parser *parser, OrderList *out)
{
    do {
        OrderItem item = {.expr = parse_expr(parser)};
        if (item.expr == NULL) return false;
        if (accept_keyword(parser, KW_DESC))
            item.descending = true;
        else
            (void)accept_keyword(parser, KW_ASC);
        *LIST_PUSH(parser->arena, out) = item;
    } while (accept_op(parser, ','));
    return true;
}

char accept_assign(Parser *parser)
{
    static const struct {
        int32_t op;
        char    meaning;
    } assigns[] = {{'=', '='},
                   {OP_ADD_ASSIGN, '+'},
                   {OP_SUBTRACT_ASSIGN, '-'},
                   {OP_MULTIPLY_ASSIGN, '*'},
                   {OP_DIVIDE_ASSIGN, '/'},
                   {OP_MODULO_ASSIGN, '%'},
                   {OP_AND_ASSIGN, '&'},
                   {OP_OR_ASSIGN, '|'},
                   {OP_XOR_ASSIGN, '^'}};

    for (size_t i = 0; i < COUNT_OF(assigns); i++) {
        if (accept_op(parser, assigns[i].op)) return assigns[i].meaning;
    }
    return '\0';
}
