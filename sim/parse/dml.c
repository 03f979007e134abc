/* SELECT as a statement, INSERT, UPDATE, DELETE, TRUNCATE. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

Stmt *parse_select(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_SELECT);

    stmt->select = parse_query(parser, true);
    return stmt->select != NULL ? stmt : NULL;
}

/* WITH in front of any of them. */
Stmt *parse_with_statement(Parser *parser)
{
    int32_t         line  = line_of(parser);
    size_t          start = parser->at;
    CommonTableList with  = {0};
    Stmt           *stmt  = NULL;

    if (!parse_with(parser, &with)) return NULL;
    if (is_keyword(parser, KW_INSERT)) {
        stmt = parse_insert(parser, &with);
    } else if (is_keyword(parser, KW_UPDATE)) {
        stmt = parse_update(parser, &with);
    } else if (is_keyword(parser, KW_DELETE)) {
        stmt = parse_delete(parser, &with);
    } else if (is_keyword(parser, KW_MERGE)) {
        stmt = parse_merge(parser, &with);
    } else if (is_keyword(parser, KW_SELECT) || is_op(parser, '(')) {
        parser->at = start; /* a query reads its own */
        stmt       = parse_select(parser);
    } else {
        (void)syntax_error(parser);
    }
    if (stmt != NULL) stmt->line = line;
    return stmt;
}

/* TOP (n) of a statement that changes rows. */
bool parse_dml_top(Parser *parser, Stmt *stmt)
{
    bool percent   = false;
    bool with_ties = false;

    if (!is_keyword(parser, KW_TOP)) return true;
    stmt->top = parse_top(parser, &percent, &with_ties);
    if (stmt->top == NULL) return false;
    if (percent) return not_supported(parser, "TOP PERCENT in a statement that changes rows");
    return !with_ties || syntax_error(parser);
}

/* A table or a table variable. */
bool parse_target(Parser *parser, Stmt *stmt)
{
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) {
        stmt->object = (ObjectName){.name     = peek(parser, 0)->text,
                                    .schema   = STR_EMPTY,
                                    .database = STR_EMPTY,
                                    .line     = line_of(parser)};
        advance(parser);
    } else {
        if (is_keyword(parser, KW_OPENROWSET) || is_keyword(parser, KW_OPENQUERY))
            return not_supported(parser, "OPENROWSET or OPENQUERY");
        if (!parse_object_name(parser, &stmt->object)) return false;
    }
    return parse_hints(parser, &stmt->hints);
}

bool parse_output(Parser *parser, Stmt *stmt)
{
    if (!is_keyword(parser, KW_OUTPUT)) return true;
    advance(parser);
    if (!parse_select_items(parser, &stmt->output, true)) return false;
    if (!accept_keyword(parser, KW_INTO)) return true;
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) {
        stmt->output_into = (ObjectName){.name     = peek(parser, 0)->text,
                                         .schema   = STR_EMPTY,
                                         .database = STR_EMPTY,
                                         .line     = line_of(parser)};
        advance(parser);
    } else if (!parse_object_name(parser, &stmt->output_into)) {
        return false;
    }
    if (is_op(parser, '(') && !starts_query(parser, 0) && !parse_name_list(parser, &stmt->into))
        return false;
    if (is_keyword(parser, KW_OUTPUT)) return not_supported(parser, "a second OUTPUT");
    return true;
}

/* --- INSERT --- */
#define INSERT_ROWS_MOST 1000 /* of VALUES; as a source of rows it may have more */

static bool parse_insert_source(Parser *parser, Stmt *stmt)
{
    if (accept_keyword(parser, KW_DEFAULT)) {
        stmt->default_values = true;
        return expect_keyword(parser, KW_VALUES);
    }
    if (accept_keyword(parser, KW_VALUES)) {
        if (!parse_row_list(parser, &stmt->rows)) return false;
        return stmt->rows.count <= INSERT_ROWS_MOST ||
               parse_fail(parser, line_of(parser), 10738,
                          "The number of row value expressions in the INSERT statement exceeds the "
                          "maximum allowed number of %d row values.",
                          INSERT_ROWS_MOST);
    }
    if (is_keyword(parser, KW_EXEC) || is_keyword(parser, KW_EXECUTE)) {
        stmt->exec = parse_exec(parser, true);
        return stmt->exec != NULL;
    }
    if (!is_keyword(parser, KW_SELECT) && !is_keyword(parser, KW_WITH) && !starts_query(parser, 0))
        return syntax_error(parser);
    stmt->select = parse_query(parser, true);
    return stmt->select != NULL;
}

Stmt *parse_insert(Parser *parser, CommonTableList *with)
{
    Stmt *stmt = stmt_new(parser, STMT_INSERT);

    if (with != NULL) stmt->with = *with;
    advance(parser);
    if (is_keyword(parser, KW_BULK)) return parse_insert_bulk(parser, stmt);
    if (!parse_dml_top(parser, stmt)) return NULL;
    (void)accept_keyword(parser, KW_INTO);
    if (!parse_target(parser, stmt)) return NULL;
    if (is_op(parser, '(') && !starts_query(parser, 0) && !parse_name_list(parser, &stmt->columns))
        return NULL;
    if (!parse_output(parser, stmt)) return NULL;
    if (!parse_insert_source(parser, stmt)) return NULL;
    if (is_keyword(parser, KW_OPTION)) {
        NameList ignored = {0};
        if (!parse_options(parser, &ignored)) return NULL;
    }
    return stmt;
}

/* --- UPDATE --- */
static Expr *column_expr(Parser *parser, Str name, int32_t line)
{
    Expr *column = expr_new(parser, EXPR_COLUMN, line);

    *LIST_PUSH(parser->arena, &column->parts) = name;
    return column;
}

/* [t.]column, whose prefix names the target. */
static bool parse_assigned_column(Parser *parser, Str *out)
{
    do {
        if (!expect_name(parser, out)) return false;
    } while (accept_op(parser, '.'));
    if (is_op(parser, '(')) return not_supported(parser, "a method in SET");
    return true;
}

static bool parse_assigned_value(Parser *parser, Assignment *out, char op, Expr *target,
                                 int32_t line)
{
    int32_t value_line = line_of(parser);

    if (accept_keyword(parser, KW_DEFAULT)) {
        out->expr = expr_new(parser, EXPR_DEFAULT, value_line);
        return op == '=' || syntax_error(parser);
    }
    Expr *value = parse_expr(parser);
    if (value == NULL) return false;
    out->expr = op == '=' ? value : expr_binary(parser, op, target, value, line);
    return out->expr != NULL;
}

bool parse_assignment(Parser *parser, Assignment *out)
{
    int32_t line = line_of(parser);

    *out = (Assignment){.column = STR_EMPTY, .variable = STR_EMPTY};
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) {
        out->variable = peek(parser, 0)->text;
        advance(parser);
        char op = accept_assign(parser);
        if (op == '\0') return syntax_error(parser);
        if (op == '=' && is_name(parser) &&
            (is_op_at(parser, 1, '=') || (is_op_at(parser, 1, '.') && is_op_at(parser, 3, '=')))) {
            if (!parse_assigned_column(parser, &out->column)) return false; /* @v = column = expr */
            op = accept_assign(parser);
            return parse_assigned_value(parser, out, op, NULL, line);
        }
        Expr *variable = expr_new(parser, EXPR_VARIABLE, line);
        variable->text = out->variable;
        return parse_assigned_value(parser, out, op, variable, line);
    }
    if (!parse_assigned_column(parser, &out->column)) return false;
    char op = accept_assign(parser);
    if (op == '\0') return syntax_error(parser);
    return parse_assigned_value(parser, out, op, column_expr(parser, out->column, line), line);
}

/* FROM, WHERE and OPTION of UPDATE and DELETE. */
static bool parse_dml_tail(Parser *parser, Stmt *stmt)
{
    NameList ignored = {0};

    if (accept_keyword(parser, KW_FROM)) {
        stmt->from = parse_sources(parser);
        if (stmt->from == NULL) return false;
    }
    if (accept_keyword(parser, KW_WHERE)) {
        if (is_keyword(parser, KW_CURRENT) && is_keyword_at(parser, 1, KW_OF))
            return not_supported(parser, "WHERE CURRENT OF");
        stmt->where = parse_condition(parser);
        if (stmt->where == NULL) return false;
    }
    return parse_options(parser, &ignored);
}

Stmt *parse_update(Parser *parser, CommonTableList *with)
{
    Stmt *stmt = stmt_new(parser, STMT_UPDATE);

    if (with != NULL) stmt->with = *with;
    advance(parser);
    if (is_keyword(parser, KW_STATISTICS)) {
        (void)not_supported(parser, "UPDATE STATISTICS");
        return NULL;
    }
    if (!parse_dml_top(parser, stmt) || !parse_target(parser, stmt) ||
        !expect_keyword(parser, KW_SET))
        return NULL;
    do {
        Assignment assignment;
        if (!parse_assignment(parser, &assignment)) return NULL;
        *LIST_PUSH(parser->arena, &stmt->assignments) = assignment;
    } while (accept_op(parser, ','));
    return parse_output(parser, stmt) && parse_dml_tail(parser, stmt) ? stmt : NULL;
}

Stmt *parse_delete(Parser *parser, CommonTableList *with)
{
    Stmt *stmt = stmt_new(parser, STMT_DELETE);

    if (with != NULL) stmt->with = *with;
    advance(parser);
    if (!parse_dml_top(parser, stmt)) return NULL;
    (void)accept_keyword(parser, KW_FROM);
    if (!parse_target(parser, stmt)) return NULL;
    return parse_output(parser, stmt) && parse_dml_tail(parser, stmt) ? stmt : NULL;
}

Stmt *parse_truncate(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_TRUNCATE);

    advance(parser);
    if (!expect_keyword(parser, KW_TABLE) || !parse_object_name(parser, &stmt->object)) return NULL;
    if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
        (void)not_supported(parser, "TRUNCATE TABLE of partitions");
        return fail(parser);
    }
    return stmt;
}
