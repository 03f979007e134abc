/* parse_internal.h - what the files of the parser share. Recursive descent over tokens read on
 * demand; functions return NULL or false after an error, which is in parser->error. */
#ifndef TIDESIM_PARSE_INTERNAL_H
#define TIDESIM_PARSE_INTERNAL_H

#include "sim/parse/ast.h"
#include "sim/parse/lex.h"

enum {
    PARSE_NESTING_MAX = 400, /* calls of the grammar inside each other */
    PARSE_DEPTH_MAX   = 1000 /* levels of a finished tree: 1 + 1 + 1 ... nests to the left */
};

typedef struct Parser {
    Arena    *arena;
    SimError *error;
    Lexer     lexer;
    LIST(Token) tokens;
    size_t   at;
    int32_t  nesting;
    int32_t  loops;     /* WHILEs around */
    int32_t  catches;   /* CATCHes around */
    bool     in_module; /* the body of a procedure */
    NameList declared;  /* variables of the batch */
    int32_t  deepest;   /* of the expressions and queries made since someone asked */
} Parser;

/* --- tokens --- */
const Token *peek(Parser *parser, size_t offset); /* good until the next peek */
void         advance(Parser *parser);
bool         is_keyword(Parser *parser, Keyword keyword);
bool         is_keyword_at(Parser *parser, size_t offset, Keyword keyword);
bool         is_op(Parser *parser, int32_t op);
bool         is_op_at(Parser *parser, size_t offset, int32_t op);
bool         accept_keyword(Parser *parser, Keyword keyword);
bool         accept_op(Parser *parser, int32_t op);
bool         expect_keyword(Parser *parser, Keyword keyword) MUST_CHECK;
bool         expect_op(Parser *parser, int32_t op) MUST_CHECK;
/* A word that is in no list, by its text. */
bool accept_word(Parser *parser, const char *word);
bool is_word(Parser *parser, const char *word);
bool is_name(Parser *parser); /* an identifier: quoted, or a word that is not reserved */
bool is_name_at(Parser *parser, size_t offset);
bool expect_name(Parser *parser, Str *out) MUST_CHECK;
/* 102 or 156 at the current token. */
bool    syntax_error(Parser *parser);
bool    not_supported(Parser *parser, const char *what); /* 50001 at the current line */
bool    parse_fail(Parser *parser, int32_t line, int32_t number, const char *fmt, ...) PRINTF(4, 5);
bool    enter(Parser *parser) MUST_CHECK; /* 191; the caller leaves */
void    leave(Parser *parser);
bool    note_depth(Parser *parser, int32_t depth) MUST_CHECK;
int32_t line_of(Parser *parser);
Str     upper_of(Parser *parser, Str text);
/* Skips a parenthesised list whose content does not matter. */
bool skip_parens(Parser *parser) MUST_CHECK;

/* --- parse/name.c --- */
bool parse_object_name(Parser *parser, ObjectName *out) MUST_CHECK;
bool parse_name_list(Parser *parser, NameList *out) MUST_CHECK; /* ( a, b ) */
bool parse_type(Parser *parser, bool for_cast, SimType *out) MUST_CHECK;
bool parse_integer(Parser *parser, int64_t *out) MUST_CHECK; /* with a sign */

/* --- parse/literal.c --- */
bool  is_literal(Parser *parser);
Expr *parse_literal(Parser *parser);

/* --- parse/expr.c --- */
Expr *expr_new(Parser *parser, ExprKind kind, int32_t line);
bool  expr_add(Parser *parser, Expr *expr, Expr *arg) MUST_CHECK; /* NULL arg: false */
Expr *expr_binary(Parser *parser, char op, Expr *left, Expr *right, int32_t line);
Expr *parse_expr(Parser *parser);                                /* a scalar */
Expr *parse_condition(Parser *parser);                           /* true, false or unknown */
bool  parse_expr_list(Parser *parser, ExprList *out) MUST_CHECK; /* a, b up to what is no comma */
bool  parse_order_list(Parser *parser, OrderList *out) MUST_CHECK;
/* '=' or '+=' and so on after a target: the operator of a compound one, '=' otherwise; 0 when there
 * is none. */
char accept_assign(Parser *parser);

/* --- parse/function.c --- */
bool starts_function(
    Parser *parser); /* a keyword that is a function: CONVERT(, LEFT(, CURRENT_USER */
Expr *parse_keyword_function(Parser *parser);
Expr *parse_function_call(Parser *parser, const ObjectName *name); /* at '(' */
Expr *parse_case(Parser *parser);

/* --- parse/query.c --- */
bool starts_query(Parser *parser, size_t offset); /* SELECT, or WITH, or parentheses around one */
Select *parse_query(Parser *parser,
                    bool    is_statement); /* with its ORDER BY, set operations, common tables */
bool    parse_with(Parser *parser, CommonTableList *out) MUST_CHECK; /* at WITH */
bool    parse_select_items(Parser *parser, SelectItemList *out, bool for_output) MUST_CHECK;
Expr   *parse_top(Parser *parser, bool *percent, bool *with_ties); /* at TOP */
bool    parse_options(Parser *parser, NameList *out) MUST_CHECK;   /* OPTION (...), if there */

/* --- parse/source.c --- */
Source *parse_sources(Parser *parser);                           /* what follows FROM */
bool    parse_hints(Parser *parser, NameList *out) MUST_CHECK;   /* WITH (...), if there */
bool    parse_row_list(Parser *parser, RowList *out) MUST_CHECK; /* (..), (..) after VALUES */

/* --- statements --- */
Stmt *stmt_new(Parser *parser, StmtKind kind);
Stmt *parse_statement(Parser *parser);
bool  parse_block(Parser *parser, StmtList *out,
                  bool *empty_out) MUST_CHECK; /* statements up to END, ELSE-free */
Stmt *stmt_block_of(Parser *parser, StmtList *list, int32_t line); /* the only one, or a BLOCK */
bool  starts_statement(Parser *parser);                            /* a keyword that begins one */

Stmt *parse_select(Parser *parser); /* parse/dml.c */
Stmt *parse_insert(Parser *parser, CommonTableList *with);
Stmt *parse_insert_bulk(Parser *parser, Stmt *stmt); /* at BULK; parse/bulk.c */
Stmt *parse_update(Parser *parser, CommonTableList *with);
Stmt *parse_delete(Parser *parser, CommonTableList *with);
Stmt *parse_truncate(Parser *parser);
Stmt *parse_with_statement(Parser *parser);

Stmt *parse_create(Parser *parser); /* parse/ddl.c */
Stmt *parse_alter(Parser *parser);
Stmt *parse_drop(Parser *parser);
Stmt *parse_use(Parser *parser);
/* Columns and constraints in parentheses, the opening one consumed; parse/table.c. */
bool  parse_table_elements(Parser *parser, ColumnDefList *columns, ConstraintDefList *constraints,
                           bool in_parens) MUST_CHECK;
bool  parse_key_columns(Parser *parser, KeyColumnList *out) MUST_CHECK;
Stmt *parse_create_table(Parser *parser);
Stmt *parse_alter_table(Parser *parser);

Stmt *parse_create_principal(Parser *parser); /* parse/security.c: at LOGIN, USER, ROLE */
Stmt *parse_alter_role(Parser *parser);
Stmt *parse_drop_principal(Parser *parser);
Stmt *parse_grant(Parser *parser);

Stmt *parse_declare(Parser *parser); /* parse/flow.c */
Stmt *parse_set(Parser *parser);     /* parse/set.c */
Stmt *parse_if(Parser *parser);
Stmt *parse_while(Parser *parser);
Stmt *parse_begin(Parser *parser); /* block, TRY or transaction */
Stmt *parse_commit(Parser *parser);
Stmt *parse_rollback(Parser *parser);
Stmt *parse_save(Parser *parser);
Stmt *parse_waitfor(Parser *parser);
Stmt *parse_raiserror(Parser *parser);
Stmt *parse_throw(Parser *parser);
Stmt *parse_return(Parser *parser);
Stmt *parse_print(Parser *parser);
Stmt *parse_kill(Parser *parser);
Stmt *parse_dbcc(Parser *parser);
Stmt *parse_exec(Parser *parser, bool has_keyword); /* parse/exec.c */
Expr *parse_exec_value(Parser *parser); /* a constant, a variable, DEFAULT or a bare word */
bool  parse_output(Parser *parser, Stmt *stmt) MUST_CHECK;
bool  parse_target(Parser *parser, Stmt *stmt) MUST_CHECK;
bool  parse_dml_top(Parser *parser, Stmt *stmt) MUST_CHECK;
bool  parse_assignment(Parser *parser, Assignment *out) MUST_CHECK;

/* parse/module.c: at PROCEDURE or VIEW, behind `verb` */
Stmt *parse_module(Parser *parser, const char *verb);
Stmt *parse_drop_module(Parser *parser);
Stmt *parse_merge(Parser *parser, CommonTableList *with);  /* parse/merge.c */
bool  parse_declares(Parser *parser, Str name) MUST_CHECK; /* 134 */
bool  starts_cursor(Parser *parser);                       /* parse/cursor.c: behind DECLARE */
Stmt *parse_declare_cursor(Parser *parser);
Stmt *parse_open_cursor(Parser *parser);
Stmt *parse_fetch(Parser *parser);
Stmt *parse_alter_login(Parser *parser); /* parse/security.c */
Stmt *parse_execute_as(Parser *parser);
Stmt *parse_revert(Parser *parser);

#endif
