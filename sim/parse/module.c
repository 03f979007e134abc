/* CREATE, ALTER and DROP of procedures and views. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

/* Both stand alone in their batch: what follows belongs to them. */
static bool starts_batch(Parser *parser, const char *verb, const char *what)
{
    size_t words = str_equal_c(str_from_c(verb), "REPLACE") ? 3 : 1;

    if (parser->at >= words)
        for (size_t i = 0; i < parser->at - words; i++)
            if (parser->tokens.items[i].kind != TOKEN_OPERATOR || parser->tokens.items[i].op != ';')
                return parse_fail(parser, line_of(parser), 111,
                                  "'%s %s' must be the first statement in a query batch.",
                                  words == 3 ? "CREATE OR ALTER" : verb, what);
    return true;
}

/* @name [AS] type [VARYING] [NULL] [= default] [OUTPUT | READONLY] */
static bool parse_parameter(Parser *parser, Stmt *stmt)
{
    VariableDef parameter = {.line = line_of(parser)};

    if (peek(parser, 0)->kind != TOKEN_VARIABLE) return syntax_error(parser);
    parameter.name = peek(parser, 0)->text;
    if (!parse_declares(parser, parameter.name)) return false;
    advance(parser);
    (void)accept_keyword(parser, KW_AS);
    if (is_keyword(parser, KW_CURSOR)) return not_supported(parser, "a cursor as a parameter");
    if (!parse_type(parser, false, &parameter.type)) return false;
    if (is_keyword(parser, KW_NOT))
        return not_supported(parser, "a NOT NULL parameter (of natively compiled procedures)");
    (void)accept_keyword(parser, KW_NULL);
    if (accept_op(parser, '=')) {
        parameter.value = parse_exec_value(parser);
        if (parameter.value == NULL) return false;
        if (parameter.value->kind == EXPR_VARIABLE) return syntax_error(parser);
    }
    if (is_word(parser, "READONLY")) return not_supported(parser, "a table-valued parameter");
    parameter.is_output = accept_keyword(parser, KW_OUTPUT) || accept_word(parser, "OUT");
    *LIST_PUSH(parser->arena, &stmt->variables) = parameter;
    return true;
}

#define PARAMETERS_MOST 2100

static bool parse_parameters(Parser *parser, Stmt *stmt)
{
    bool in_parens = accept_op(parser, '(');

    if (!in_parens && peek(parser, 0)->kind != TOKEN_VARIABLE) return true;
    do {
        if (!parse_parameter(parser, stmt)) return false;
    } while (accept_op(parser, ','));
    if (stmt->variables.count > PARAMETERS_MOST)
        return parse_fail(parser, stmt->line, 180,
                          "There are too many parameters in this CREATE PROCEDURE statement. The "
                          "maximum number is %d.",
                          PARAMETERS_MOST);
    return !in_parens || expect_op(parser, ')');
}

/* WITH RECOMPILE, EXECUTE AS CALLER, SCHEMABINDING, ...: a list of words. */
static bool parse_module_options(Parser *parser)
{
    if (!accept_keyword(parser, KW_WITH)) return true;
    do {
        if (is_word(parser, "ENCRYPTION")) return not_supported(parser, "WITH ENCRYPTION");
        if (is_word(parser, "NATIVE_COMPILATION"))
            return not_supported(parser, "a natively compiled procedure");
        if (accept_keyword(parser, KW_EXECUTE) || accept_keyword(parser, KW_EXEC)) {
            if (!expect_keyword(parser, KW_AS)) return false;
            if (!accept_word(parser, "CALLER"))
                return not_supported(parser, "a procedure WITH EXECUTE AS another than CALLER");
        } else if (!accept_word(parser, "RECOMPILE") && !accept_word(parser, "SCHEMABINDING") &&
                   !accept_word(parser, "VIEW_METADATA")) {
            return syntax_error(parser);
        }
    } while (accept_op(parser, ','));
    return true;
}

static Stmt *parse_procedure(Parser *parser, Stmt *stmt)
{
    bool empty = true;

    if (!parse_object_name(parser, &stmt->object)) return NULL;
    if (accept_op(parser, ';')) {
        if (peek(parser, 0)->kind != TOKEN_INTEGER) return fail(parser);
        (void)not_supported(parser, "a numbered procedure");
        return NULL;
    }
    if (!parse_parameters(parser, stmt) || !parse_module_options(parser)) return NULL;
    if (is_keyword(parser, KW_FOR)) {
        (void)not_supported(parser, "a procedure FOR REPLICATION");
        return NULL;
    }
    if (!expect_keyword(parser, KW_AS)) return NULL;
    if (is_keyword(parser, KW_EXTERNAL)) {
        (void)not_supported(parser, "a CLR procedure");
        return NULL;
    }
    parser->in_module = true;
    stmt->then_branch = stmt_new(parser, STMT_BLOCK);
    if (!parse_block(parser, &stmt->then_branch->body, &empty)) return NULL;
    return empty ? fail(parser) : stmt;
}

static Stmt *parse_view(Parser *parser, Stmt *stmt)
{
    if (!parse_object_name(parser, &stmt->object)) return NULL;
    if (is_op(parser, '(') && !parse_name_list(parser, &stmt->columns)) return NULL;
    if (!parse_module_options(parser) || !expect_keyword(parser, KW_AS)) return NULL;
    stmt->select = parse_query(parser, false);
    if (stmt->select == NULL) return NULL;
    if (accept_keyword(parser, KW_WITH) &&
        (!expect_keyword(parser, KW_CHECK) || !expect_keyword(parser, KW_OPTION)))
        return NULL;
    while (accept_op(parser, ';')) {
    }
    return peek(parser, 0)->kind == TOKEN_END ? stmt : fail(parser);
}

Stmt *parse_module(Parser *parser, const char *verb)
{
    Stmt *stmt    = stmt_new(parser, STMT_CREATE_MODULE);
    bool  is_view = is_keyword(parser, KW_VIEW);

    if (parser->nesting > 1) return fail(parser); /* inside IF, BEGIN or another procedure */
    if (!starts_batch(parser, verb, is_view ? "VIEW" : "PROCEDURE")) return NULL;
    *LIST_PUSH(parser->arena, &stmt->words) = str_from_c(verb);
    *LIST_PUSH(parser->arena, &stmt->words) = is_view ? STR("VIEW") : STR("PROCEDURE");
    advance(parser);
    return is_view ? parse_view(parser, stmt) : parse_procedure(parser, stmt);
}

Stmt *parse_drop_module(Parser *parser)
{
    StmtList list      = {0};
    int32_t  line      = line_of(parser);
    Str      what      = is_keyword(parser, KW_VIEW) ? STR("VIEW") : STR("PROCEDURE");
    bool     if_exists = false;

    advance(parser);
    if (accept_keyword(parser, KW_IF)) {
        if (!expect_keyword(parser, KW_EXISTS)) return NULL;
        if_exists = true;
    }
    do {
        Stmt *stmt                              = stmt_new(parser, STMT_DROP_MODULE);
        stmt->if_exists                         = if_exists;
        stmt->line                              = line;
        *LIST_PUSH(parser->arena, &stmt->words) = what;
        if (!parse_object_name(parser, &stmt->object)) return NULL;
        *LIST_PUSH(parser->arena, &list) = stmt;
    } while (accept_op(parser, ','));
    return stmt_block_of(parser, &list, line);
}
