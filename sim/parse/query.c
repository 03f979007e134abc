/* Queries: SELECT, set operations, common tables, ORDER BY. */
#include "sim/parse/parse_internal.h"

static Select *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

/* --- where a query starts --- */
static bool follows_query(const Token *token)
{
    if (token->kind == TOKEN_OPERATOR) return token->op == ')';
    if (token->kind != TOKEN_WORD) return false;
    return token->keyword == KW_UNION || token->keyword == KW_EXCEPT ||
           token->keyword == KW_INTERSECT || token->keyword == KW_ORDER;
}

/* Notes for each parenthesis of a run whether it holds a query. `after` has the token behind the
 * end of each, the outermost first. */
static void note_queries(Parser *parser, size_t first, size_t run, const size_t *after)
{
    bool is_query = true;

    for (size_t level = run; level-- > 0;) {
        parser->tokens.items[first + level].query = is_query ? QUERY_YES : QUERY_NO;
        is_query = is_query && follows_query(&parser->tokens.items[after[level]]);
    }
}

/* The tokens behind the ends of a run of parentheses; false when the outermost but one never
 * ends. */
static bool find_ends(Parser *parser, size_t first, size_t run, size_t *after)
{
    size_t depth = run;

    for (size_t at = first + run; depth > 1; at++) {
        const Token *token = peek(parser, at - parser->at);
        if (token->kind == TOKEN_END) return false;
        if (token->kind != TOKEN_OPERATOR) continue;
        if (token->op == '(') depth++;
        if (token->op == ')') {
            (void)peek(parser, at + 1 - parser->at);
            if (depth <= run) after[depth - 1] = at + 1;
            depth--;
        }
    }
    return true;
}

/* Whether the parenthesis at `offset` holds a query: SELECT behind it or behind more of them, each
 * of which then ends where a query may go on: ((SELECT 1) UNION SELECT 2) is one, ((SELECT 1) + 2)
 * is none. One pass over the tokens for all parentheses of a run. */
bool starts_query(Parser *parser, size_t offset)
{
    size_t run                      = 0;
    size_t after[PARSE_NESTING_MAX] = {0};

    if (!is_op_at(parser, offset, '(')) return false;
    if (peek(parser, offset)->query != QUERY_UNKNOWN)
        return peek(parser, offset)->query == QUERY_YES;
    while (run <= PARSE_NESTING_MAX && is_op_at(parser, offset + run, '('))
        run++;
    if (run > PARSE_NESTING_MAX) return false;
    bool is_query = is_keyword_at(parser, offset + run, KW_SELECT) ||
                    is_keyword_at(parser, offset + run, KW_WITH);
    if (is_query && run > 1) {
        if (!find_ends(parser, parser->at + offset, run, after))
            return true; /* let the query report it */
        note_queries(parser, parser->at + offset, run, after);
        return peek(parser, offset)->query == QUERY_YES;
    }
    return is_query;
}

/* --- SELECT list --- */
static bool accept_alias(Parser *parser, Str *out)
{
    bool has_as = accept_keyword(parser, KW_AS);

    if (peek(parser, 0)->kind == TOKEN_STRING || peek(parser, 0)->kind == TOKEN_NSTRING) {
        *out = peek(parser, 0)->text;
        advance(parser);
        return true;
    }
    if (has_as) return expect_name(parser, out);
    if (is_name(parser)) return expect_name(parser, out);
    return true;
}

static bool parse_star(Parser *parser, SelectItem *item)
{
    item->expr = expr_new(parser, EXPR_STAR, line_of(parser));
    advance(parser);
    return true;
}

/* @v = expr and @v += expr. */
static bool parse_assigned(Parser *parser, SelectItem *item)
{
    Token token = *peek(parser, 0);

    advance(parser);
    char  op    = accept_assign(parser);
    Expr *value = parse_expr(parser);
    if (value == NULL) return false;
    item->assign_to = token.text;
    item->expr      = value;
    if (op == '=') return true;
    Expr *variable = expr_new(parser, EXPR_VARIABLE, token.line);
    variable->text = token.text;
    item->expr     = expr_binary(parser, op, variable, value, token.line);
    return item->expr != NULL;
}

static bool is_assign_at(Parser *parser, size_t offset)
{
    const Token *token = peek(parser, offset);

    return token->kind == TOKEN_OPERATOR &&
           (token->op == '=' || (token->op >= OP_ADD_ASSIGN && token->op <= OP_XOR_ASSIGN));
}

static bool parse_item(Parser *parser, SelectItem *item, bool for_output)
{
    const Token *token     = peek(parser, 0);
    bool         is_string = token->kind == TOKEN_STRING;

    if (is_op(parser, '*')) return parse_star(parser, item);
    if (token->kind == TOKEN_VARIABLE && is_assign_at(parser, 1) && !for_output)
        return parse_assigned(parser, item);
    if ((is_name(parser) || is_string) && is_op_at(parser, 1, '=')) { /* alias = expr */
        item->alias = peek(parser, 0)->text;
        advance(parser);
        advance(parser);
        item->expr = parse_expr(parser);
        return item->expr != NULL;
    }
    item->expr = parse_expr(parser);
    if (item->expr == NULL) return false;
    if (item->expr->kind == EXPR_STAR) return true;
    return accept_alias(parser, &item->alias);
}

#define SELECT_ITEMS_MOST 4096

bool parse_select_items(Parser *parser, SelectItemList *out, bool for_output)
{
    do {
        SelectItem item = {.alias = STR_EMPTY, .assign_to = STR_EMPTY};
        if (!parse_item(parser, &item, for_output)) return false;
        *LIST_PUSH(parser->arena, out) = item;
    } while (accept_op(parser, ','));
    return out->count <= SELECT_ITEMS_MOST ||
           parse_fail(
               parser, line_of(parser), 1056,
               "The number of elements in the select list exceeds the maximum allowed number "
               "of %d elements.",
               SELECT_ITEMS_MOST);
}

Expr *parse_top(Parser *parser, bool *percent, bool *with_ties)
{
    Expr *expr = NULL;

    advance(parser);
    if (accept_op(parser, '(')) {
        expr = parse_expr(parser);
        if (expr == NULL || !expect_op(parser, ')')) return NULL;
    } else if (peek(parser, 0)->kind == TOKEN_VARIABLE) {
        expr       = expr_new(parser, EXPR_VARIABLE, line_of(parser));
        expr->text = peek(parser, 0)->text;
        advance(parser);
    } else if (peek(parser, 0)->kind == TOKEN_INTEGER || peek(parser, 0)->kind == TOKEN_DECIMAL ||
               peek(parser, 0)->kind == TOKEN_FLOAT) {
        expr = parse_literal(parser);
    } else {
        (void)syntax_error(parser);
    }
    if (expr == NULL) return NULL;
    *percent = accept_keyword(parser, KW_PERCENT);
    if (is_keyword(parser, KW_WITH) && is_keyword_at(parser, 1, KW_TIES)) {
        advance(parser);
        advance(parser);
        *with_ties = true;
    }
    return expr;
}

/* --- the parts of one SELECT --- */
static bool parse_group_by(Parser *parser, Select *select)
{
    if (!accept_keyword(parser, KW_GROUP)) return true;
    if (!expect_keyword(parser, KW_BY)) return false;
    (void)accept_keyword(parser, KW_ALL);
    if (is_word(parser, "ROLLUP") || is_word(parser, "CUBE") || is_word(parser, "GROUPING")) {
        if (is_op_at(parser, 1, '(') || peek(parser, 1)->kind == TOKEN_WORD)
            return not_supported(parser, "GROUPING SETS, ROLLUP or CUBE");
    }
    if (is_op(parser, '(') && is_op_at(parser, 1, ')')) return not_supported(parser, "GROUP BY ()");
    if (!parse_expr_list(parser, &select->group_by)) return false;
    if (is_keyword(parser, KW_WITH) && peek(parser, 1)->kind == TOKEN_WORD &&
        (str_equal_ignoring_case(peek(parser, 1)->text, STR("ROLLUP")) ||
         str_equal_ignoring_case(peek(parser, 1)->text, STR("CUBE"))))
        return not_supported(parser, "GROUP BY WITH ROLLUP or CUBE");
    return true;
}

static bool parse_body(Parser *parser, Select *select)
{
    if (accept_keyword(parser, KW_INTO) && !parse_object_name(parser, &select->into)) return false;
    if (accept_keyword(parser, KW_FROM)) {
        select->from = parse_sources(parser);
        if (select->from == NULL) return false;
    }
    if (accept_keyword(parser, KW_WHERE)) {
        select->where = parse_condition(parser);
        if (select->where == NULL) return false;
    }
    if (!parse_group_by(parser, select)) return false;
    if (accept_keyword(parser, KW_HAVING)) {
        select->having = parse_condition(parser);
        if (select->having == NULL) return false;
    }
    if (is_word(parser, "WINDOW") && peek(parser, 1)->kind == TOKEN_WORD)
        return not_supported(parser, "a named window");
    return true;
}

static Select *parse_specification(Parser *parser)
{
    Select *select = ARENA_NEW(parser->arena, Select);

    select->line      = line_of(parser);
    select->into.name = STR_EMPTY;
    advance(parser);
    if (accept_keyword(parser, KW_DISTINCT))
        select->distinct = true;
    else
        (void)accept_keyword(parser, KW_ALL);
    if (is_keyword(parser, KW_TOP)) {
        select->top = parse_top(parser, &select->top_percent, &select->top_with_ties);
        if (select->top == NULL) return NULL;
    }
    if (!parse_select_items(parser, &select->items, false)) return NULL;
    return parse_body(parser, select) ? select : NULL;
}

/* --- set operations --- */
static Select *parse_set_operations(Parser *parser, bool only_intersect);

static Select *parse_query_primary(Parser *parser)
{
    if (is_keyword(parser, KW_SELECT)) return parse_specification(parser);
    if (!is_op(parser, '(')) return fail(parser);
    if (!enter(parser)) return NULL;
    advance(parser);
    Select *inner = parse_query(parser, false);
    leave(parser);
    return inner != NULL && expect_op(parser, ')') ? inner : NULL;
}

/* INTERSECT binds more tightly than UNION and EXCEPT, which go from left to right. */
static Select *parse_set_operations(Parser *parser, bool only_intersect)
{
    Select *left = only_intersect ? parse_query_primary(parser)
                                  : parse_set_operations(parser, true);

    while (left != NULL) {
        SetOp op;
        if (only_intersect ? !is_keyword(parser, KW_INTERSECT)
                           : !is_keyword(parser, KW_UNION) && !is_keyword(parser, KW_EXCEPT))
            break;
        op = is_keyword(parser, KW_INTERSECT) ? SET_INTERSECT
             : is_keyword(parser, KW_EXCEPT)  ? SET_EXCEPT
                                              : SET_UNION;
        advance(parser);
        if (op == SET_UNION && accept_keyword(parser, KW_ALL)) op = SET_UNION_ALL;
        Select *both    = ARENA_NEW(parser->arena, Select);
        both->line      = left->line;
        both->into.name = STR_EMPTY;
        both->set_op    = op;
        both->left      = left;
        both->right     = only_intersect ? parse_query_primary(parser)
                                         : parse_set_operations(parser, true);
        if (both->right == NULL || !note_depth(parser, parser->deepest + 1)) return NULL;
        left = both;
    }
    return left;
}

/* --- around it --- */
bool parse_with(Parser *parser, CommonTableList *out)
{
    advance(parser);
    if (is_word(parser, "XMLNAMESPACES")) return not_supported(parser, "XMLNAMESPACES");
    do {
        CommonTable table = {0};
        if (!expect_name(parser, &table.name)) return false;
        if (is_op(parser, '(') && !parse_name_list(parser, &table.columns)) return false;
        if (!expect_keyword(parser, KW_AS) || !expect_op(parser, '(')) return false;
        table.select = parse_query(parser, false);
        if (table.select == NULL || !expect_op(parser, ')')) return false;
        *LIST_PUSH(parser->arena, out) = table;
    } while (accept_op(parser, ','));
    return true;
}

static bool accept_rows(Parser *parser)
{
    return accept_keyword(parser, KW_ROW) || accept_keyword(parser, KW_ROWS);
}

static bool parse_offset(Parser *parser, Select *select)
{
    if (!accept_keyword(parser, KW_OFFSET)) return true;
    select->offset = parse_expr(parser);
    if (select->offset == NULL) return false;
    if (!accept_rows(parser)) return syntax_error(parser);
    if (!is_keyword(parser, KW_FETCH)) return true;
    if (!is_word(parser, "FETCH") ||
        !(is_keyword_at(parser, 1, KW_NEXT) || is_keyword_at(parser, 1, KW_FIRST)))
        return true;
    advance(parser);
    advance(parser);
    select->fetch = parse_expr(parser);
    if (select->fetch == NULL) return false;
    if (!accept_rows(parser)) return syntax_error(parser);
    return expect_keyword(parser, KW_ONLY);
}

static bool parse_order_by(Parser *parser, Select *select)
{
    if (!accept_keyword(parser, KW_ORDER)) return true;
    if (!expect_keyword(parser, KW_BY) || !parse_order_list(parser, &select->order_by))
        return false;
    return parse_offset(parser, select);
}

/* The words of OPTION (RECOMPILE, MAXDOP 1, LOOP JOIN, USE HINT ('x')). */
bool parse_options(Parser *parser, NameList *out)
{
    size_t depth = 1;

    if (!accept_keyword(parser, KW_OPTION)) return true;
    if (!expect_op(parser, '(')) return false;
    if (is_op(parser, ')')) return syntax_error(parser);
    for (;;) {
        const Token *token = peek(parser, 0);
        if (token->kind == TOKEN_END) return syntax_error(parser);
        if (is_op(parser, '(')) depth++;
        if (is_op(parser, ')') && --depth == 0) break;
        if (token->kind != TOKEN_OPERATOR) {
            Str word                       = upper_of(parser, token->text);
            *LIST_PUSH(parser->arena, out) = word;
        }
        advance(parser);
    }
    advance(parser);
    return true;
}

static bool parse_for(Parser *parser)
{
    if (!is_keyword(parser, KW_FOR)) return true;
    if (is_keyword_at(parser, 1, KW_BROWSE)) {
        advance(parser);
        advance(parser);
        return true;
    }
    if (is_keyword_at(parser, 1, KW_XML)) return not_supported(parser, "FOR XML");
    advance(parser);
    if (is_word(parser, "JSON")) return not_supported(parser, "FOR JSON");
    return syntax_error(parser);
}

static Select *parse_whole_query(Parser *parser, bool is_statement)
{
    CommonTableList with = {0};

    if (is_keyword(parser, KW_WITH) && !parse_with(parser, &with)) return NULL;
    Select *select = parse_set_operations(parser, false);
    if (select == NULL) return NULL;
    if (select->order_by.count > 0 ||
        select->with.count > 0) { /* it came out of parentheses with its own */
        if (is_keyword(parser, KW_ORDER) || with.count > 0) {
            (void)not_supported(parser,
                                "ORDER BY or WITH around a parenthesised query that has its own");
            return NULL;
        }
    } else {
        select->with = with;
    }
    if (!parse_order_by(parser, select)) return NULL;
    if (!is_statement && select->order_by.count > 0 && !select->top && !select->offset) {
        (void)parse_fail(parser, select->line, 1033,
                         "The ORDER BY clause is invalid in views, inline functions, derived "
                         "tables, subqueries, and common table expressions, unless TOP, OFFSET or "
                         "FOR XML is also specified.");
        return NULL;
    }
    if (!parse_for(parser)) return NULL;
    if (is_statement && !parse_options(parser, &select->options)) return NULL;
    return select;
}

Select *parse_query(Parser *parser, bool is_statement)
{
    if (!enter(parser)) return NULL;
    Select *select = parse_whole_query(parser, is_statement);
    leave(parser);
    if (select == NULL || !note_depth(parser, parser->deepest + 1)) return NULL;
    return select;
}
