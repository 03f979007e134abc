/* DECLARE, control of flow, transactions, messages. */
#include "sim/parse/parse_internal.h"

#include "tds/tds_packet.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

/* --- DECLARE --- */
bool parse_declares(Parser *parser, Str name)
{
    for (size_t i = 0; i < parser->declared.count; i++)
        if (str_equal_ignoring_case(parser->declared.items[i], name))
            return parse_fail(parser, line_of(parser), 134,
                              "The variable name '%.*s' has already been declared. Variable names "
                              "must be unique within a query batch or stored procedure.",
                              STR_ARG(name));
    *LIST_PUSH(parser->arena, &parser->declared) = name;
    return true;
}

static bool parse_variable_def(Parser *parser, VariableDef *variable)
{
    *variable = (VariableDef){.line = line_of(parser)};
    if (peek(parser, 0)->kind != TOKEN_VARIABLE) {
        return syntax_error(parser);
    }
    variable->name = peek(parser, 0)->text;
    if (!parse_declares(parser, variable->name)) return false;
    advance(parser);
    (void)accept_keyword(parser, KW_AS);
    if (accept_keyword(parser, KW_TABLE)) {
        variable->is_table = true;
        return expect_op(parser, '(') &&
               parse_table_elements(parser, &variable->columns, &variable->constraints, true) &&
               expect_op(parser, ')');
    }
    if (is_keyword(parser, KW_CURSOR)) return not_supported(parser, "a cursor variable");
    if (!parse_type(parser, false, &variable->type)) return false;
    if (!accept_op(parser, '=')) return true;
    variable->value = parse_expr(parser);
    return variable->value != NULL;
}

Stmt *parse_declare(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_DECLARE);

    advance(parser);
    if (starts_cursor(parser)) return parse_declare_cursor(parser);
    do {
        VariableDef variable;
        if (!parse_variable_def(parser, &variable)) return NULL;
        *LIST_PUSH(parser->arena, &stmt->variables) = variable;
    } while (accept_op(parser, ','));
    return stmt;
}

/* --- IF, WHILE, BEGIN --- */
Stmt *parse_if(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_IF);

    advance(parser);
    stmt->expr = parse_condition(parser);
    if (stmt->expr == NULL) return NULL;
    stmt->then_branch = parse_statement(parser);
    if (stmt->then_branch == NULL) return NULL;
    if (is_op(parser, ';') && is_keyword_at(parser, 1, KW_ELSE)) advance(parser);
    if (!accept_keyword(parser, KW_ELSE)) return stmt;
    stmt->else_branch = parse_statement(parser);
    return stmt->else_branch != NULL ? stmt : NULL;
}

Stmt *parse_while(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_WHILE);

    advance(parser);
    stmt->expr = parse_condition(parser);
    if (stmt->expr == NULL) return NULL;
    parser->loops++;
    stmt->then_branch = parse_statement(parser);
    parser->loops--;
    return stmt->then_branch != NULL ? stmt : NULL;
}

/* Statements up to END; BEGIN was consumed. A block must not be empty. */
static Stmt *parse_body(Parser *parser, bool may_be_empty)
{
    Stmt *block = stmt_new(parser, STMT_BLOCK);
    bool  empty = true;

    if (!parse_block(parser, &block->body, &empty)) return NULL;
    if (empty && !may_be_empty) return fail(parser);
    return expect_keyword(parser, KW_END) ? block : NULL;
}

static Stmt *parse_try(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_TRY);

    advance(parser);
    stmt->then_branch = parse_body(parser, false);
    if (stmt->then_branch == NULL) return NULL;
    if (!expect_keyword(parser, KW_TRY)) return NULL;
    (void)accept_op(parser, ';');
    if (!expect_keyword(parser, KW_BEGIN) || !expect_keyword(parser, KW_CATCH)) return NULL;
    parser->catches++;
    stmt->else_branch = parse_body(parser, true);
    parser->catches--;
    if (stmt->else_branch == NULL) return NULL;
    return expect_keyword(parser, KW_CATCH) ? stmt : NULL;
}

#define TRANSACTION_NAME_UNITS 32

/* The name of a transaction or savepoint, which may be in a variable. */
static bool parse_transaction_name(Parser *parser, Stmt *stmt)
{
    stmt->name = STR_EMPTY;
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) {
        stmt->variable = peek(parser, 0)->text;
        advance(parser);
        return true;
    }
    if (!is_name(parser) || starts_statement(parser)) return true;
    if (!expect_name(parser, &stmt->name)) return false;
    return tds_text_units(stmt->name) <= TRANSACTION_NAME_UNITS ||
           parse_fail(parser, stmt->line, 103,
                      "The identifier that starts with '%.*s' is too long. Maximum length is %d.",
                      STR_ARG(tds_text_cut(stmt->name, TRANSACTION_NAME_UNITS)),
                      TRANSACTION_NAME_UNITS);
}

static Stmt *parse_begin_transaction(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_BEGIN_TRAN);

    advance(parser);
    if (!parse_transaction_name(parser, stmt)) return NULL;
    if (is_keyword(parser, KW_WITH) && is_keyword_at(parser, 1, KW_MARK)) {
        advance(parser);
        advance(parser);
        if (peek(parser, 0)->kind == TOKEN_STRING || peek(parser, 0)->kind == TOKEN_NSTRING)
            advance(parser);
    }
    return stmt;
}

Stmt *parse_begin(Parser *parser)
{
    int32_t line = line_of(parser);
    Stmt   *stmt = NULL;

    advance(parser);
    switch (peek(parser, 0)->keyword) {
    case KW_TRAN:
    case KW_TRANSACTION: stmt = parse_begin_transaction(parser); break;
    case KW_TRY: stmt = parse_try(parser); break;
    case KW_DISTRIBUTED: (void)not_supported(parser, "a distributed transaction"); return NULL;
    default:
        if (is_word(parser, "DIALOG") || is_word(parser, "CONVERSATION") ||
            is_word(parser, "ATOMIC")) {
            (void)not_supported(parser, "BEGIN DIALOG, CONVERSATION or ATOMIC");
            return NULL;
        }
        stmt = parse_body(parser, false);
        break;
    }
    if (stmt != NULL) stmt->line = line;
    return stmt;
}

/* --- transactions --- */
Stmt *parse_commit(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_COMMIT);

    advance(parser);
    if (accept_keyword(parser, KW_WORK)) return stmt;
    if (!accept_keyword(parser, KW_TRAN) && !accept_keyword(parser, KW_TRANSACTION)) return stmt;
    if (!parse_transaction_name(parser, stmt)) return NULL;
    if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) { /* DELAYED_DURABILITY */
        advance(parser);
        if (!skip_parens(parser)) return NULL;
    }
    return stmt;
}

Stmt *parse_rollback(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_ROLLBACK);

    advance(parser);
    if (accept_keyword(parser, KW_WORK)) return stmt;
    if (!accept_keyword(parser, KW_TRAN) && !accept_keyword(parser, KW_TRANSACTION)) return stmt;
    return parse_transaction_name(parser, stmt) ? stmt : NULL;
}

Stmt *parse_save(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_SAVE_TRAN);

    advance(parser);
    if (!accept_keyword(parser, KW_TRAN) && !accept_keyword(parser, KW_TRANSACTION))
        return fail(parser);
    if (!parse_transaction_name(parser, stmt)) return NULL;
    return stmt->name.len > 0 || stmt->variable.len > 0 ? stmt : fail(parser);
}

/* --- waiting and messages --- */
Stmt *parse_waitfor(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_WAITFOR);

    advance(parser);
    if (is_op(parser, '(')) {
        (void)not_supported(parser, "WAITFOR (RECEIVE)");
        return NULL;
    }
    if (!is_keyword(parser, KW_DELAY) && !is_keyword(parser, KW_TIME)) return fail(parser);
    *LIST_PUSH(parser->arena, &stmt->words) = is_keyword(parser, KW_DELAY) ? STR("DELAY")
                                                                           : STR("TIME");
    advance(parser);
    if (peek(parser, 0)->kind != TOKEN_VARIABLE && !is_literal(parser)) return fail(parser);
    stmt->expr = parse_expr(parser);
    return stmt->expr != NULL ? stmt : NULL;
}

Stmt *parse_raiserror(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_RAISERROR);

    advance(parser);
    if (!expect_op(parser, '(') || !parse_expr_list(parser, &stmt->args) || !expect_op(parser, ')'))
        return NULL;
    if (stmt->args.count < 3) return fail(parser);
    if (!accept_keyword(parser, KW_WITH)) return stmt;
    do {
        if (!is_word(parser, "NOWAIT") && !is_word(parser, "LOG") && !is_word(parser, "SETERROR"))
            return fail(parser);
        Str word                                = upper_of(parser, peek(parser, 0)->text);
        *LIST_PUSH(parser->arena, &stmt->words) = word;
        advance(parser);
    } while (accept_op(parser, ','));
    return stmt;
}

Stmt *parse_throw(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_THROW);

    advance(parser);
    if (peek(parser, 0)->kind != TOKEN_VARIABLE && !is_literal(parser)) {
        if (parser->catches > 0) return stmt;
        (void)parse_fail(parser, stmt->line, 10704,
                         "To rethrow an error, a THROW statement must be used inside a CATCH "
                         "block. Insert the THROW statement inside a CATCH block, or add error "
                         "parameters to the THROW statement.");
        return NULL;
    }
    if (!parse_expr_list(parser, &stmt->args)) return NULL;
    return stmt->args.count == 3 ? stmt : fail(parser);
}

Stmt *parse_return(Parser *parser)
{
    Stmt        *stmt = stmt_new(parser, STMT_RETURN);
    const Token *next;

    advance(parser);
    next = peek(parser, 0);
    if (next->kind == TOKEN_END || starts_statement(parser)) return stmt;
    if (next->kind == TOKEN_OPERATOR && (next->op == ';' || next->op == ')')) return stmt;
    if (next->kind == TOKEN_WORD && (next->keyword == KW_END || next->keyword == KW_ELSE))
        return stmt;
    if (!parser->in_module) {
        (void)parse_fail(parser, stmt->line, 178,
                         "A RETURN statement with a return value cannot be used in this context.");
        return NULL;
    }
    stmt->expr = parse_expr(parser);
    return stmt->expr != NULL ? stmt : NULL;
}

Stmt *parse_print(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_PRINT);

    advance(parser);
    stmt->expr = parse_expr(parser);
    return stmt->expr != NULL ? stmt : NULL;
}

Stmt *parse_kill(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_KILL);

    advance(parser);
    if (is_word(parser, "QUERY") || is_word(parser, "STATS")) {
        (void)not_supported(parser, "KILL QUERY NOTIFICATION or STATS JOB");
        return NULL;
    }
    stmt->expr = parse_expr(parser);
    if (stmt->expr == NULL) return NULL;
    if (is_keyword(parser, KW_WITH) && peek(parser, 1)->kind == TOKEN_WORD &&
        str_equal_ignoring_case(peek(parser, 1)->text, STR("STATUSONLY"))) {
        advance(parser);
        advance(parser);
    }
    return stmt;
}

Stmt *parse_dbcc(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_DBCC);
    Str   name;

    advance(parser);
    if (!expect_name(parser, &name)) return NULL;
    *LIST_PUSH(parser->arena, &stmt->words) = upper_of(parser, name);
    if (accept_op(parser, '(')) {
        if (!is_op(parser, ')') && !parse_expr_list(parser, &stmt->args)) return NULL;
        if (!expect_op(parser, ')')) return NULL;
    }
    if (!accept_keyword(parser, KW_WITH)) return stmt;
    do {
        if (!expect_name(parser, &name)) return NULL;
    } while (accept_op(parser, ','));
    return stmt;
}
