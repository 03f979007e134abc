/* SET: variables and session options. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

static void add_word(Parser *parser, Stmt *stmt, Str word)
{
    *LIST_PUSH(parser->arena, &stmt->words) = upper_of(parser, word);
}

static Stmt *parse_set_variable(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_SET_VARIABLE);

    stmt->variable = peek(parser, 0)->text;
    advance(parser);
    char op = accept_assign(parser);
    if (op == '\0') return fail(parser);
    if (op == '=' && is_keyword(parser, KW_CURSOR)) {
        (void)not_supported(parser, "a cursor");
        return NULL;
    }
    stmt->expr = parse_expr(parser);
    if (stmt->expr == NULL || op == '=') return stmt->expr != NULL ? stmt : NULL;
    Expr *variable = expr_new(parser, EXPR_VARIABLE, stmt->line);
    variable->text = stmt->variable;
    stmt->expr     = expr_binary(parser, op, variable, stmt->expr, stmt->line);
    return stmt->expr != NULL ? stmt : NULL;
}

/* ON and OFF; QUOTED_IDENTIFIER counts for the text behind it at once. */
static bool parse_on_off(Parser *parser, Stmt *stmt)
{
    bool is_on = is_keyword(parser, KW_ON);

    if (!is_on && !is_keyword(parser, KW_OFF)) return syntax_error(parser);
    for (size_t i = 0; i < stmt->words.count; i++) {
        if (str_equal(stmt->words.items[i], STR("QUOTED_IDENTIFIER")))
            parser->lexer.quoted_identifier = is_on;
    }
    add_word(parser, stmt, is_on ? STR("ON") : STR("OFF"));
    advance(parser);
    return true;
}

/* A literal with its sign, a variable, or a bare word. */
static bool parse_value(Parser *parser, Stmt *stmt)
{
    bool negative = accept_op(parser, '-');

    if (!negative) (void)accept_op(parser, '+');
    if (peek(parser, 0)->kind == TOKEN_VARIABLE || is_literal(parser)) {
        stmt->expr = parse_expr(parser);
        if (stmt->expr == NULL) return false;
        if (!negative) return true;
        Expr *minus = expr_new(parser, EXPR_UNARY, stmt->line);
        minus->op   = '-';
        if (!expr_add(parser, minus, stmt->expr)) return false;
        stmt->expr = minus;
        return true;
    }
    if (negative || (peek(parser, 0)->kind != TOKEN_WORD && peek(parser, 0)->kind != TOKEN_QUOTED))
        return syntax_error(parser);
    add_word(parser, stmt, peek(parser, 0)->text);
    advance(parser);
    return true;
}

static bool parse_isolation(Parser *parser, Stmt *stmt)
{
    add_word(parser, stmt, STR("TRANSACTION"));
    if (!accept_word(parser, "ISOLATION") || !accept_keyword(parser, KW_LEVEL))
        return syntax_error(parser);
    add_word(parser, stmt, STR("ISOLATION"));
    add_word(parser, stmt, STR("LEVEL"));
    if (accept_keyword(parser, KW_READ)) {
        add_word(parser, stmt, STR("READ"));
        if (!is_word(parser, "COMMITTED") && !is_word(parser, "UNCOMMITTED"))
            return syntax_error(parser);
    } else if (accept_word(parser, "REPEATABLE")) {
        add_word(parser, stmt, STR("REPEATABLE"));
        if (!is_keyword(parser, KW_READ)) return syntax_error(parser);
    } else if (!is_word(parser, "SNAPSHOT") && !is_word(parser, "SERIALIZABLE")) {
        return syntax_error(parser);
    }
    add_word(parser, stmt, peek(parser, 0)->text);
    advance(parser);
    return true;
}

static bool takes_on_off(Str option)
{
    static const char *const options[] = {"NOCOUNT",
                                          "XACT_ABORT",
                                          "FMTONLY",
                                          "NOEXEC",
                                          "PARSEONLY",
                                          "QUOTED_IDENTIFIER",
                                          "ANSI_NULLS",
                                          "ANSI_PADDING",
                                          "ANSI_WARNINGS",
                                          "ANSI_DEFAULTS",
                                          "ANSI_NULL_DFLT_ON",
                                          "ANSI_NULL_DFLT_OFF",
                                          "ARITHABORT",
                                          "ARITHIGNORE",
                                          "CONCAT_NULL_YIELDS_NULL",
                                          "CURSOR_CLOSE_ON_COMMIT",
                                          "FORCEPLAN",
                                          "IMPLICIT_TRANSACTIONS",
                                          "NUMERIC_ROUNDABORT",
                                          "REMOTE_PROC_TRANSACTIONS",
                                          "SHOWPLAN_ALL",
                                          "SHOWPLAN_TEXT",
                                          "SHOWPLAN_XML",
                                          "NO_BROWSETABLE"};

    for (size_t i = 0; i < COUNT_OF(options); i++) {
        if (str_equal(option, str_from_c(options[i]))) return true;
    }
    return false;
}

/* SET a, b, c ON: one statement each. */
static Stmt *parse_switches(Parser *parser)
{
    StmtList list = {0};
    int32_t  line = line_of(parser);

    for (;;) {
        Stmt *stmt = stmt_new(parser, STMT_SET_OPTION);
        Str   name = upper_of(parser, peek(parser, 0)->text);
        if (peek(parser, 0)->kind != TOKEN_WORD || !takes_on_off(name)) return fail(parser);
        add_word(parser, stmt, name);
        *LIST_PUSH(parser->arena, &list) = stmt;
        advance(parser);
        if (!accept_op(parser, ',')) break;
    }
    for (size_t i = 0; i < list.count; i++) {
        size_t before = parser->at;
        if (!parse_on_off(parser, list.items[i])) return NULL;
        if (i + 1 < list.count) parser->at = before;
    }
    return stmt_block_of(parser, &list, line);
}

static Stmt *parse_identity_insert(Parser *parser, Stmt *stmt)
{
    add_word(parser, stmt, STR("IDENTITY_INSERT"));
    if (!parse_object_name(parser, &stmt->object)) return NULL;
    return parse_on_off(parser, stmt) ? stmt : NULL;
}

Stmt *parse_set(Parser *parser)
{
    static const char *const valued[] = {
        "LOCK_TIMEOUT", "DEADLOCK_PRIORITY", "ROWCOUNT",
        "TEXTSIZE",     "DATEFORMAT",        "DATEFIRST",
        "LANGUAGE",     "CONTEXT_INFO",      "QUERY_GOVERNOR_COST_LIMIT"};

    advance(parser);
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) return parse_set_variable(parser);
    Stmt *stmt = stmt_new(parser, STMT_SET_OPTION);
    if (accept_keyword(parser, KW_IDENTITY_INSERT)) return parse_identity_insert(parser, stmt);
    if (accept_keyword(parser, KW_TRANSACTION) || accept_keyword(parser, KW_TRAN))
        return parse_isolation(parser, stmt) ? stmt : NULL;
    if (accept_keyword(parser, KW_STATISTICS)) {
        add_word(parser, stmt, STR("STATISTICS"));
        if (peek(parser, 0)->kind != TOKEN_WORD) return fail(parser);
        add_word(parser, stmt, peek(parser, 0)->text);
        advance(parser);
        if (is_op(parser, ',')) {
            (void)not_supported(parser, "SET STATISTICS of several kinds at once");
            return NULL;
        }
        return parse_on_off(parser, stmt) ? stmt : NULL;
    }
    if (is_keyword(parser, KW_OFFSETS)) {
        (void)not_supported(parser, "SET OFFSETS");
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(valued); i++) {
        if (!is_word(parser, valued[i])) continue;
        add_word(parser, stmt, peek(parser, 0)->text);
        advance(parser);
        return parse_value(parser, stmt) ? stmt : NULL;
    }
    if (peek(parser, 0)->kind == TOKEN_WORD &&
        takes_on_off(upper_of(parser, peek(parser, 0)->text)))
        return parse_switches(parser);
    if (is_name(parser) && is_keyword_at(parser, 1, KW_ON)) {
        Token token = *peek(parser, 0);
        (void)parse_fail(parser, token.line, 195, "'%.*s' is not a recognized SET option.",
                         STR_ARG(token.text));
        return NULL;
    }
    return fail(parser);
}
