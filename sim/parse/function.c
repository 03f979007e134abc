/* Function calls: those with a grammar of their own (CAST, CONVERT, TRIM, PARSE, COUNT(*), the date
 * functions), CASE, OVER. */
#include "sim/parse/parse_internal.h"

static Expr *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

static Expr *function_new(Parser *parser, Str name, int32_t line)
{
    Expr *expr     = expr_new(parser, EXPR_FUNCTION, line);
    expr->function = (ObjectName){
        .name = name, .schema = STR_EMPTY, .database = STR_EMPTY, .line = line};
    return expr;
}

/* --- CASE --- */
Expr *parse_case(Parser *parser)
{
    Expr *expr = expr_new(parser, EXPR_CASE, line_of(parser));

    advance(parser);
    if (!is_keyword(parser, KW_WHEN)) {
        expr->operand = parse_expr(parser);
        if (expr->operand == NULL) return NULL;
        expr->depth = expr->operand->depth + 1;
    }
    if (!is_keyword(parser, KW_WHEN)) return fail(parser);
    while (accept_keyword(parser, KW_WHEN)) {
        if (!expr_add(parser, expr,
                      expr->operand != NULL ? parse_expr(parser) : parse_condition(parser)))
            return NULL;
        if (!expect_keyword(parser, KW_THEN)) return NULL;
        if (!expr_add(parser, expr, parse_expr(parser))) return NULL;
    }
    if (accept_keyword(parser, KW_ELSE)) {
        expr->otherwise = parse_expr(parser);
        if (expr->otherwise == NULL) return NULL;
        expr->depth = MAX(expr->depth, expr->otherwise->depth + 1);
    }
    if (!note_depth(parser, expr->depth)) return NULL;
    return expect_keyword(parser, KW_END) ? expr : NULL;
}

/* --- CAST and CONVERT --- */
static Expr *parse_cast(Parser *parser, bool is_try, bool is_parse)
{
    Expr *expr = expr_new(parser, EXPR_CAST, line_of(parser));

    expr->is_try = is_try;
    advance(parser);
    if (!expect_op(parser, '(')) return NULL;
    if (!expr_add(parser, expr, parse_expr(parser))) return NULL;
    if (!expect_keyword(parser, KW_AS) || !parse_type(parser, true, &expr->type)) return NULL;
    if (is_parse &&
        accept_keyword(
            parser, KW_USING)) { /* one other culture's numbers and dates would be read wrongly */
        const Expr *culture = parse_expr(parser);
        if (culture == NULL) return NULL;
        if (culture->kind != EXPR_LITERAL ||
            (!str_equal_ignoring_case(culture->text, STR("en-US")) &&
             !str_equal_ignoring_case(culture->text, STR("en"))))
            return not_supported(parser, "PARSE with a culture other than 'en-US'"), NULL;
    }
    if (is_parse) expr->text = STR("en-US");
    return expect_op(parser, ')') ? expr : NULL;
}

static Expr *parse_convert(Parser *parser, bool is_try)
{
    Expr *expr = expr_new(parser, EXPR_CAST, line_of(parser));

    expr->is_try     = is_try;
    expr->is_convert = true;
    advance(parser);
    if (!expect_op(parser, '(') || !parse_type(parser, true, &expr->type) ||
        !expect_op(parser, ','))
        return NULL;
    if (!expr_add(parser, expr, parse_expr(parser))) return NULL;
    if (accept_op(parser, ',')) {
        expr->style = parse_expr(parser);
        if (expr->style == NULL) return NULL;
        expr->depth = MAX(expr->depth, expr->style->depth + 1);
        if (!note_depth(parser, expr->depth)) return NULL;
    }
    return expect_op(parser, ')') ? expr : NULL;
}

bool starts_function(Parser *parser)
{
    bool called = is_op_at(parser, 1, '(');

    switch (peek(parser, 0)->keyword) {
    case KW_CAST:
    case KW_TRY_CAST:
    case KW_PARSE:
    case KW_TRY_PARSE:
    case KW_CONVERT:
    case KW_TRY_CONVERT:
    case KW_COALESCE:
    case KW_NULLIF:
    case KW_LEFT:
    case KW_RIGHT:
    case KW_IDENTITY:
    case KW_UPDATE: return called;
    case KW_USER:
    case KW_CURRENT_USER:
    case KW_SESSION_USER:
    case KW_SYSTEM_USER:
    case KW_CURRENT_TIMESTAMP: return true;
    case KW_NEXT:
        return is_word(parser, "NEXT") && peek(parser, 1)->kind == TOKEN_WORD &&
               is_keyword_at(parser, 2, KW_FOR);
    default: return false;
    }
}

Expr *parse_keyword_function(Parser *parser)
{
    Token      token = *peek(parser, 0);
    ObjectName name  = {
         .name = token.text, .schema = STR_EMPTY, .database = STR_EMPTY, .line = token.line};

    switch (token.keyword) {
    case KW_CAST: return parse_cast(parser, false, false);
    case KW_TRY_CAST: return parse_cast(parser, true, false);
    case KW_PARSE: return parse_cast(parser, false, true);
    case KW_TRY_PARSE: return parse_cast(parser, true, true);
    case KW_CONVERT: return parse_convert(parser, false);
    case KW_TRY_CONVERT: return parse_convert(parser, true);
    case KW_NEXT: (void)not_supported(parser, "NEXT VALUE FOR"); return NULL;
    case KW_IDENTITY: (void)not_supported(parser, "the function IDENTITY"); return NULL;
    case KW_UPDATE: (void)not_supported(parser, "the function UPDATE"); return NULL;
    default: break;
    }
    advance(parser);
    if (is_op(parser, '(') && token.keyword != KW_CURRENT_TIMESTAMP)
        return parse_function_call(parser, &name);
    return function_new(parser, token.text, token.line);
}

/* --- other calls --- */
static bool takes_datepart(Str name)
{
    static const char *const names[] = {"DATEADD",  "DATEDIFF",  "DATEDIFF_BIG", "DATEPART",
                                        "DATENAME", "DATETRUNC", "DATE_BUCKET"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_equal_ignoring_case(name, str_from_c(names[i]))) return true;
    }
    return false;
}

static Expr *parse_datepart(Parser *parser)
{
    const Token *token = peek(parser, 0);

    if (token->kind != TOKEN_WORD && token->kind != TOKEN_QUOTED) {
        (void)parse_fail(parser, token->line, 1023, "Invalid parameter 1 specified for %s.",
                         "datepart");
        return NULL;
    }
    Expr *expr = expr_new(parser, EXPR_DATEPART_NAME, token->line);
    expr->text = token->text;
    advance(parser);
    return expr;
}

/* TRIM([LEADING|TRAILING|BOTH] [characters FROM] text): the text comes first in the arguments, the
 * side is in the name. */
static bool parse_trim(Parser *parser, Expr *expr)
{
    if (accept_keyword(parser, KW_LEADING))
        expr->function.name = STR("LTRIM");
    else if (accept_keyword(parser, KW_TRAILING))
        expr->function.name = STR("RTRIM");
    else
        (void)accept_keyword(parser, KW_BOTH);
    Expr *first = parse_expr(parser);
    if (first == NULL) return false;
    if (!accept_keyword(parser, KW_FROM)) return expr_add(parser, expr, first);
    return expr_add(parser, expr, parse_expr(parser)) && expr_add(parser, expr, first);
}

static Expr *parse_argument(Parser *parser, bool condition)
{
    int32_t line = line_of(parser);

    if (accept_op(parser, '*')) {
        Expr *star = expr_new(parser, EXPR_STAR, line);
        return star;
    }
    if (accept_keyword(parser, KW_DEFAULT)) return expr_new(parser, EXPR_DEFAULT, line);
    return condition ? parse_condition(parser) : parse_expr(parser);
}

static bool parse_arguments(Parser *parser, Expr *expr, bool is_iif)
{
    if (is_op(parser, ')')) return true;
    if (accept_keyword(parser, KW_DISTINCT))
        expr->distinct = true;
    else
        (void)accept_keyword(parser, KW_ALL);
    do {
        if (!expr_add(parser, expr, parse_argument(parser, is_iif && expr->args.count == 0)))
            return false;
    } while (accept_op(parser, ','));
    return true;
}

/* UNBOUNDED PRECEDING, n FOLLOWING, CURRENT ROW. */
static bool parse_frame_bound(Parser *parser, FrameBound *out)
{
    bool unbounded = false;

    *out = (FrameBound){.kind = FRAME_CURRENT};
    if (accept_keyword(parser, KW_CURRENT)) return expect_keyword(parser, KW_ROW);
    if (accept_word(parser, "UNBOUNDED"))
        unbounded = true;
    else if (peek(parser, 0)->kind != TOKEN_INTEGER)
        return syntax_error(parser);
    else if (!parse_integer(parser, &out->offset))
        return false;
    if (accept_word(parser, "PRECEDING"))
        out->kind = unbounded ? FRAME_UNBOUNDED_PRECEDING : FRAME_PRECEDING;
    else if (accept_word(parser, "FOLLOWING"))
        out->kind = unbounded ? FRAME_UNBOUNDED_FOLLOWING : FRAME_FOLLOWING;
    else
        return syntax_error(parser);
    return true;
}

/* ROWS n PRECEDING, or BETWEEN one bound AND another. */
static bool parse_frame(Parser *parser, Window *window)
{
    int32_t line = line_of(parser);

    window->has_frame = true;
    window->is_range  = is_keyword(parser, KW_RANGE);
    window->end       = (FrameBound){.kind = FRAME_CURRENT};
    advance(parser);
    if (accept_keyword(parser, KW_BETWEEN)) {
        if (!parse_frame_bound(parser, &window->start) || !expect_keyword(parser, KW_AND) ||
            !parse_frame_bound(parser, &window->end))
            return false;
    } else if (!parse_frame_bound(parser, &window->start)) {
        return false;
    }
    if (window->start.kind > window->end.kind || window->start.kind == FRAME_UNBOUNDED_FOLLOWING ||
        window->end.kind == FRAME_UNBOUNDED_PRECEDING)
        return parse_fail(parser, line, 4193,
                          "'BETWEEN ... AND ...' of a window frame must not end before it starts.");
    return true;
}

static bool parse_over(Parser *parser, Expr *expr)
{
    Window *window = ARENA_NEW(parser->arena, Window);

    if (!is_op(parser, '('))
        return is_name(parser) ? not_supported(parser, "a named window") : syntax_error(parser);
    advance(parser);
    if (accept_keyword(parser, KW_PARTITION)) {
        if (!expect_keyword(parser, KW_BY) || !parse_expr_list(parser, &window->partition_by))
            return false;
    }
    if (accept_keyword(parser, KW_ORDER)) {
        if (!expect_keyword(parser, KW_BY) || !parse_order_list(parser, &window->order_by))
            return false;
    }
    if ((is_keyword(parser, KW_ROWS) || is_keyword(parser, KW_RANGE)) &&
        !parse_frame(parser, window))
        return false;
    expr->over = window;
    for (size_t i = 0; i < window->partition_by.count; i++)
        expr->depth = MAX(expr->depth, window->partition_by.items[i]->depth + 1);
    for (size_t i = 0; i < window->order_by.count; i++)
        expr->depth = MAX(expr->depth, window->order_by.items[i].expr->depth + 1);
    return note_depth(parser, expr->depth) && expect_op(parser, ')');
}

static bool parse_tail(Parser *parser, Expr *expr)
{
    if (is_keyword(parser, KW_WITHIN)) {
        advance(parser);
        if (!expect_keyword(parser, KW_GROUP) || !expect_op(parser, '(') ||
            !expect_keyword(parser, KW_ORDER) || !expect_keyword(parser, KW_BY) ||
            !parse_order_list(parser, &expr->within_group) || !expect_op(parser, ')'))
            return false;
    }
    if (is_word(parser, "IGNORE")) {
        advance(parser);
        if (is_word(parser, "NULLS")) return not_supported(parser, "IGNORE NULLS");
        parser->at--;
    }
    if (is_word(parser, "RESPECT")) {
        advance(parser);
        if (!accept_word(parser, "NULLS")) parser->at--;
    }
    if (accept_keyword(parser, KW_OVER)) return parse_over(parser, expr);
    return true;
}

Expr *parse_function_call(Parser *parser, const ObjectName *name)
{
    Expr *expr     = expr_new(parser, EXPR_FUNCTION, name->line);
    bool  is_plain = name->schema.len == 0;
    expr->function = *name;

    if (!expect_op(parser, '(')) return NULL;
    if (is_plain && takes_datepart(name->name)) {
        if (!expr_add(parser, expr, parse_datepart(parser))) return NULL;
        if (accept_op(parser, ',') && !parse_arguments(parser, expr, false)) return NULL;
    } else if (is_plain && str_equal_ignoring_case(name->name, STR("TRIM"))) {
        if (!parse_trim(parser, expr)) return NULL;
    } else if (!parse_arguments(parser, expr,
                                is_plain && str_equal_ignoring_case(name->name, STR("IIF")))) {
        return NULL;
    }
    if (!expect_op(parser, ')')) return NULL;
    return parse_tail(parser, expr) ? expr : NULL;
}
