/* What stands behind FROM: tables, functions, derived tables, VALUES, joins and APPLY. */
#include "sim/parse/parse_internal.h"

static Source *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

static Source *source_new(Parser *parser, SourceKind kind)
{
    Source *source = ARENA_NEW(parser->arena, Source);

    source->kind      = kind;
    source->line      = line_of(parser);
    source->alias     = STR_EMPTY;
    source->name.name = STR_EMPTY;
    return source;
}

/* --- hints --- */
static bool is_hint(Str word)
{
    static const char *const hints[] = {"NOLOCK",
                                        "READCOMMITTED",
                                        "READCOMMITTEDLOCK",
                                        "READUNCOMMITTED",
                                        "REPEATABLEREAD",
                                        "SERIALIZABLE",
                                        "SNAPSHOT",
                                        "TABLOCK",
                                        "TABLOCKX",
                                        "PAGLOCK",
                                        "ROWLOCK",
                                        "NOWAIT",
                                        "HOLDLOCK",
                                        "UPDLOCK",
                                        "XLOCK",
                                        "READPAST",
                                        "NOEXPAND",
                                        "FORCESEEK",
                                        "FORCESCAN",
                                        "INDEX",
                                        "KEEPIDENTITY",
                                        "KEEPDEFAULTS",
                                        "IGNORE_CONSTRAINTS",
                                        "IGNORE_TRIGGERS"};

    for (size_t i = 0; i < COUNT_OF(hints); i++) {
        if (str_equal_ignoring_case(word, str_from_c(hints[i]))) return true;
    }
    return false;
}

/* ( hint, hint(...), hint ): the opening parenthesis is the current token. Blanks separate them
 * too. */
static bool parse_hint_list(Parser *parser, NameList *out)
{
    advance(parser);
    for (;;) {
        const Token *token = peek(parser, 0);
        if (token->kind != TOKEN_WORD || !is_hint(token->text)) {
            if (token->kind == TOKEN_WORD && !keyword_is_reserved(token->keyword))
                return parse_fail(parser, token->line, 321,
                                  "\"%.*s\" is not a recognized table hints option. If it is "
                                  "intended as a parameter to a table-valued function or to the "
                                  "CHANGETABLE function, ensure that your database compatibility "
                                  "mode is set to 90.",
                                  STR_ARG(token->text));
            return syntax_error(parser);
        }
        Str hint                       = upper_of(parser, token->text);
        *LIST_PUSH(parser->arena, out) = hint;
        advance(parser);
        if (accept_op(parser, '=')) {
            if (!is_name(parser) && !is_literal(parser)) return syntax_error(parser);
            advance(parser);
        } else if (is_op(parser, '(') && !skip_parens(parser)) {
            return false;
        }
        if (accept_op(parser, ')')) return true;
        (void)accept_op(parser, ',');
    }
}

bool parse_hints(Parser *parser, NameList *out)
{
    if (!is_keyword(parser, KW_WITH) || !is_op_at(parser, 1, '(')) return true;
    advance(parser);
    return parse_hint_list(parser, out);
}

/* The old form without WITH, which looks like a call. */
static bool has_bare_hints(Parser *parser)
{
    if (!is_op(parser, '(')) return false;
    const Token *first = peek(parser, 1);
    if (first->kind != TOKEN_WORD || !is_hint(first->text)) return false;
    const Token *second = peek(parser, 2);
    return second->kind == TOKEN_OPERATOR &&
           (second->op == ')' || second->op == ',' || second->op == '(');
}

/* --- aliases --- */
static bool is_window_clause(Parser *parser)
{
    return is_word(parser, "WINDOW") && is_name_at(parser, 1) && is_keyword_at(parser, 2, KW_AS);
}

static bool parse_alias(Parser *parser, Source *source)
{
    if (accept_keyword(parser, KW_AS)) {
        if (!expect_name(parser, &source->alias)) return false;
    } else if (is_name(parser) && !is_window_clause(parser)) {
        if (!expect_name(parser, &source->alias)) return false;
    }
    return true;
}

/* The alias a derived table must have, and its column names. */
static Source *with_alias(Parser *parser, Source *source, bool needed)
{
    if (!parse_alias(parser, source)) return NULL;
    if (source->alias.len == 0) return needed ? fail(parser) : source;
    if (is_op(parser, '(') && !has_bare_hints(parser) && !parse_name_list(parser, &source->columns))
        return NULL;
    return source;
}

/* --- tables and functions --- */
static Source *parse_table_source(Parser *parser)
{
    Source *source = source_new(parser, SOURCE_TABLE);

    if (!parse_object_name(parser, &source->name)) return NULL;
    if (is_op(parser, '(') && sim_name_equal(source->name.name, STR("CHANGETABLE"))) {
        (void)not_supported(parser, "CHANGETABLE");
        return NULL;
    }
    if (is_op(parser, '(') && !has_bare_hints(parser)) {
        source->kind = SOURCE_FUNCTION;
        advance(parser);
        while (!is_op(parser, ')')) {
            int32_t line = line_of(parser);
            Expr *value  = accept_keyword(parser, KW_DEFAULT) ? expr_new(parser, EXPR_DEFAULT, line)
                                                              : parse_expr(parser);
            if (value == NULL) return NULL;
            *LIST_PUSH(parser->arena, &source->args) = value;
            if (!accept_op(parser, ',')) break;
        }
        if (!expect_op(parser, ')')) return NULL;
        if (is_keyword(parser, KW_WITH) &&
            is_op_at(parser, 1, '(')) { /* OPENJSON(...) WITH (...) */
            (void)not_supported(parser, "WITH behind a table function");
            return NULL;
        }
        return with_alias(parser, source, false);
    }
    if (is_keyword(parser, KW_FOR) && peek(parser, 1)->kind == TOKEN_WORD &&
        str_equal_ignoring_case(peek(parser, 1)->text, STR("SYSTEM_TIME"))) {
        (void)not_supported(parser, "FOR SYSTEM_TIME");
        return NULL;
    }
    if (has_bare_hints(parser) && !parse_hint_list(parser, &source->hints)) return NULL;
    if (!parse_alias(parser, source)) return NULL;
    if (is_keyword(parser, KW_TABLESAMPLE)) {
        (void)not_supported(parser, "TABLESAMPLE");
        return NULL;
    }
    if (has_bare_hints(parser) && !parse_hint_list(parser, &source->hints)) return NULL;
    return parse_hints(parser, &source->hints) ? source : NULL;
}

static Source *parse_variable_source(Parser *parser)
{
    Source *source = source_new(parser, SOURCE_VARIABLE);

    source->name.name = peek(parser, 0)->text;
    source->name.line = source->line;
    advance(parser);
    if (is_op(parser, '.')) {
        (void)not_supported(parser, "a method of a variable");
        return NULL;
    }
    if (!parse_alias(parser, source)) return NULL;
    return parse_hints(parser, &source->hints) ? source : NULL;
}

bool parse_row_list(Parser *parser, RowList *out)
{
    do {
        ExprList row = {0};
        if (!expect_op(parser, '(')) return false;
        do {
            int32_t line = line_of(parser);
            Expr *value  = accept_keyword(parser, KW_DEFAULT) ? expr_new(parser, EXPR_DEFAULT, line)
                                                              : parse_expr(parser);
            if (value == NULL) return false;
            *LIST_PUSH(parser->arena, &row) = value;
        } while (accept_op(parser, ','));
        if (!expect_op(parser, ')')) return false;
        if (out->count > 0 && out->items[0].count != row.count)
            return parse_fail(parser, line_of(parser), 10709,
                              "The number of columns for each row in a table value constructor "
                              "must be the same.");
        *LIST_PUSH(parser->arena, out) = row;
    } while (accept_op(parser, ','));
    return true;
}

static Source *parse_parenthesised(Parser *parser)
{
    if (starts_query(parser, 0)) {
        Source *source = source_new(parser, SOURCE_SELECT);
        advance(parser);
        source->select = parse_query(parser, false);
        if (source->select == NULL || !expect_op(parser, ')')) return NULL;
        return with_alias(parser, source, true);
    }
    if (is_keyword_at(parser, 1, KW_VALUES)) {
        Source *source = source_new(parser, SOURCE_VALUES);
        advance(parser);
        advance(parser);
        if (!parse_row_list(parser, &source->rows) || !expect_op(parser, ')')) return NULL;
        return with_alias(parser, source, true);
    }
    if (is_keyword_at(parser, 1, KW_INSERT) || is_keyword_at(parser, 1, KW_DELETE) ||
        is_keyword_at(parser, 1, KW_UPDATE) || is_keyword_at(parser, 1, KW_MERGE)) {
        (void)not_supported(parser, "a statement as a source of rows");
        return NULL;
    }
    advance(parser);
    Source *inner = parse_sources(parser);
    if (inner == NULL || !expect_op(parser, ')')) return NULL;
    return inner;
}

static Source *parse_primary(Parser *parser)
{
    static const struct {
        Keyword     keyword;
        const char *name;
    } refused[]    = {{KW_OPENROWSET, "OPENROWSET"},         {KW_OPENQUERY, "OPENQUERY"},
                      {KW_OPENDATASOURCE, "OPENDATASOURCE"}, {KW_OPENXML, "OPENXML"},
                      {KW_CONTAINSTABLE, "CONTAINSTABLE"},   {KW_FREETEXTTABLE, "FREETEXTTABLE"}};
    Source *source = NULL;

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        if (!is_keyword(parser, refused[i].keyword)) continue;
        (void)not_supported(parser, refused[i].name);
        return NULL;
    }
    if (is_op(parser, '('))
        source = parse_parenthesised(parser);
    else if (peek(parser, 0)->kind == TOKEN_VARIABLE)
        source = parse_variable_source(parser);
    else
        source = parse_table_source(parser);
    if (source != NULL && (is_keyword(parser, KW_PIVOT) || is_keyword(parser, KW_UNPIVOT))) {
        (void)not_supported(parser, "PIVOT or UNPIVOT");
        return NULL;
    }
    return source;
}

/* --- joins --- */
static void skip_join_hint(Parser *parser)
{
    if (is_keyword(parser, KW_LOOP) || is_keyword(parser, KW_HASH) ||
        is_keyword(parser, KW_MERGE) || is_keyword(parser, KW_REMOTE))
        advance(parser);
}

/* The words of a join; false when there is none here. After it, *has_on_out says whether ON must
 * follow. */
static bool accept_join(Parser *parser, JoinKind *kind_out, bool *has_on_out, bool *failed_out)
{
    *has_on_out = true;
    *failed_out = false;
    *kind_out   = JOIN_INNER;
    if (accept_keyword(parser, KW_JOIN)) return true;
    if (is_keyword(parser, KW_CROSS) ||
        (is_keyword(parser, KW_OUTER) && is_keyword_at(parser, 1, KW_APPLY))) {
        bool is_outer = is_keyword(parser, KW_OUTER);
        *has_on_out   = false;
        advance(parser);
        if (accept_keyword(parser, KW_APPLY)) {
            *kind_out = is_outer ? JOIN_OUTER_APPLY : JOIN_CROSS_APPLY;
        } else {
            *kind_out   = JOIN_CROSS;
            *failed_out = !expect_keyword(parser, KW_JOIN);
        }
        return true;
    }
    if (is_keyword(parser, KW_INNER) || is_keyword(parser, KW_LEFT) ||
        is_keyword(parser, KW_RIGHT) || is_keyword(parser, KW_FULL)) {
        if (is_keyword(parser, KW_LEFT)) *kind_out = JOIN_LEFT;
        if (is_keyword(parser, KW_RIGHT)) *kind_out = JOIN_RIGHT;
        if (is_keyword(parser, KW_FULL)) *kind_out = JOIN_FULL;
        advance(parser);
        if (*kind_out != JOIN_INNER) (void)accept_keyword(parser, KW_OUTER);
        skip_join_hint(parser);
        *failed_out = !expect_keyword(parser, KW_JOIN);
        return true;
    }
    return false;
}

static Source *parse_joined(Parser *parser);

static Source *join_new(Parser *parser, JoinKind kind, Source *left, Source *right, Expr *on)
{
    Source *join = source_new(parser, SOURCE_JOIN);

    if (!note_depth(parser, parser->deepest + 1)) return NULL;
    join->line  = left->line;
    join->join  = kind;
    join->left  = left;
    join->right = right;
    join->on    = on;
    return join;
}

/* a JOIN b JOIN c ON .. ON ..: the right side of a join may itself be one when ON has to wait. */
static Source *parse_right_side(Parser *parser, bool has_on)
{
    Source *right = parse_primary(parser);

    if (right == NULL || !has_on || is_keyword(parser, KW_ON)) return right;
    JoinKind kind;
    bool     inner_on;
    bool     failed;
    if (!enter(parser)) return NULL;
    while (right != NULL && !is_keyword(parser, KW_ON) &&
           accept_join(parser, &kind, &inner_on, &failed)) {
        if (failed) {
            right = NULL;
            break;
        }
        Source *next = parse_right_side(parser, inner_on);
        Expr   *on   = NULL;
        if (next == NULL || (inner_on && (!expect_keyword(parser, KW_ON) ||
                                          (on = parse_condition(parser)) == NULL))) {
            right = NULL;
            break;
        }
        right = join_new(parser, kind, right, next, on);
    }
    leave(parser);
    return right;
}

static Source *parse_joined(Parser *parser)
{
    Source  *left = parse_primary(parser);
    JoinKind kind;
    bool     has_on;
    bool     failed;

    while (left != NULL && accept_join(parser, &kind, &has_on, &failed)) {
        if (failed) return NULL;
        Source *right = parse_right_side(parser, has_on);
        if (right == NULL) return NULL;
        Expr *on = NULL;
        if (has_on) {
            if (!expect_keyword(parser, KW_ON)) return NULL;
            on = parse_condition(parser);
            if (on == NULL) return NULL;
        }
        left = join_new(parser, kind, left, right, on);
    }
    return left;
}

Source *parse_sources(Parser *parser)
{
    if (!enter(parser)) return NULL;
    Source *left = parse_joined(parser);
    while (left != NULL && accept_op(parser, ',')) {
        Source *right = parse_joined(parser);
        left          = right != NULL ? join_new(parser, JOIN_CROSS, left, right, NULL) : NULL;
    }
    leave(parser);
    return left;
}
