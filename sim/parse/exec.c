/* EXEC: procedures with their arguments, text, and the bare name that may begin a batch. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

/* A constant with a sign, a variable, DEFAULT, or a bare word that stands for text. */
Expr *parse_exec_value(Parser *parser)
{
    const Token *token = peek(parser, 0);
    int32_t      line  = token->line;

    if (accept_keyword(parser, KW_DEFAULT)) return expr_new(parser, EXPR_DEFAULT, line);
    if (token->kind == TOKEN_OPERATOR && (token->op == '-' || token->op == '+')) {
        Expr *sign = expr_new(parser, EXPR_UNARY, line);
        sign->op   = (char)token->op;
        advance(parser);
        if (!is_literal(parser) || is_keyword(parser, KW_NULL)) {
            (void)syntax_error(parser);
            return NULL;
        }
        return expr_add(parser, sign, parse_literal(parser)) ? sign : NULL;
    }
    if (is_literal(parser)) return parse_literal(parser);
    if (token->kind == TOKEN_VARIABLE || token->kind == TOKEN_GLOBAL) {
        Expr *variable = expr_new(parser, token->kind == TOKEN_GLOBAL ? EXPR_GLOBAL : EXPR_VARIABLE,
                                  line);
        variable->text = token->text;
        advance(parser);
        return variable;
    }
    if (is_name(parser)) { /* EXEC sp_help orders */
        Str text = token->text;
        advance(parser);
        if (is_op(parser, '.') || is_op(parser, '(')) {
            (void)syntax_error(parser);
            return NULL;
        }
        Expr *literal  = expr_new(parser, EXPR_LITERAL, line);
        literal->text  = text;
        literal->value = sim_nvarchar(parser->arena, text);
        return literal;
    }
    (void)syntax_error(parser);
    return NULL;
}

static bool parse_exec_arg(Parser *parser, Stmt *stmt)
{
    ExecArg arg = {.name = STR_EMPTY};

    if (peek(parser, 0)->kind == TOKEN_VARIABLE && is_op_at(parser, 1, '=')) {
        arg.name = peek(parser, 0)->text;
        advance(parser);
        advance(parser);
    } else if (stmt->exec_args.count > 0 &&
               stmt->exec_args.items[stmt->exec_args.count - 1].name.len > 0) {
        return parse_fail(parser, line_of(parser), 119,
                          "Must pass parameter number %d and subsequent parameters as '@name = "
                          "value'. After the form '@name = value' has been used, all "
                          "subsequent parameters must be passed in the form '@name = value'.",
                          (int)stmt->exec_args.count + 1);
    }
    arg.value = parse_exec_value(parser);
    if (arg.value == NULL) return false;
    if (accept_keyword(parser, KW_OUTPUT) || accept_word(parser, "OUT")) arg.is_output = true;
    *LIST_PUSH(parser->arena, &stmt->exec_args) = arg;
    return true;
}

static bool ends_call(Parser *parser)
{
    const Token *token = peek(parser, 0);

    if (token->kind == TOKEN_END) return true;
    if (token->kind == TOKEN_OPERATOR) return token->op != '-' && token->op != '+';
    if (token->kind != TOKEN_WORD || token->keyword == KW_NULL || token->keyword == KW_DEFAULT)
        return false;
    return keyword_is_reserved(token->keyword) || starts_statement(parser);
}

/* WITH RECOMPILE and WITH RESULT SETS. */
static bool parse_exec_with(Parser *parser)
{
    if (!is_keyword(parser, KW_WITH)) return true;
    advance(parser);
    if (accept_word(parser, "RECOMPILE")) return true;
    if (is_word(parser, "RESULT")) return not_supported(parser, "EXEC WITH RESULT SETS");
    parser->at--; /* WITH of the next statement */
    return true;
}

static Stmt *parse_procedure_call(Parser *parser, Stmt *stmt)
{
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) {
        stmt->object = (ObjectName){.name     = peek(parser, 0)->text,
                                    .schema   = STR_EMPTY,
                                    .database = STR_EMPTY,
                                    .line     = line_of(parser)};
        advance(parser);
    } else if (!parse_object_name(parser, &stmt->object)) {
        return NULL;
    }
    if (accept_op(parser, ';') && peek(parser, 0)->kind == TOKEN_INTEGER)
        advance(parser); /* proc;1 */
    if (parser->tokens.items[parser->at - 1].kind == TOKEN_OPERATOR &&
        parser->tokens.items[parser->at - 1].op == ';')
        return stmt;
    if (!ends_call(parser)) {
        do {
            if (!parse_exec_arg(parser, stmt)) return NULL;
        } while (accept_op(parser, ','));
    }
    return parse_exec_with(parser) ? stmt : NULL;
}

static Stmt *parse_exec_text(Parser *parser, Stmt *stmt)
{
    stmt->kind = STMT_EXEC_TEXT;
    if (!expect_op(parser, '(')) return NULL;
    stmt->expr = parse_expr(parser);
    if (stmt->expr == NULL) return NULL;
    if (is_op(parser, ',')) {
        (void)not_supported(parser, "EXEC ('text', arguments)");
        return NULL;
    }
    if (!expect_op(parser, ')')) return NULL;
    if (is_keyword(parser, KW_AS) || is_keyword(parser, KW_AT)) {
        (void)not_supported(parser, "EXEC ('text') AS or AT");
        return NULL;
    }
    return stmt;
}

Stmt *parse_exec(Parser *parser, bool has_keyword)
{
    Stmt *stmt = stmt_new(parser, STMT_EXEC);

    stmt->variable = STR_EMPTY;
    if (has_keyword) advance(parser);
    if (is_op(parser, '(')) return has_keyword ? parse_exec_text(parser, stmt) : fail(parser);
    if (is_keyword(parser, KW_AS)) return has_keyword ? parse_execute_as(parser) : fail(parser);
    if (has_keyword && peek(parser, 0)->kind == TOKEN_VARIABLE && is_op_at(parser, 1, '=')) {
        stmt->variable = peek(parser, 0)->text;
        advance(parser);
        advance(parser);
    }
    return parse_procedure_call(parser, stmt);
}
