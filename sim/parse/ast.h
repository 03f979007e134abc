/* ast.h - T-SQL as a tree. Made by parse.c, read by the binder and the executor; immutable once
 * made, all of it in one arena, so that a prepared statement keeps it.
 *
 * Names are as written, without quotes. Every node knows its line. */
#ifndef TIDESIM_AST_H
#define TIDESIM_AST_H

#include "base/list.h"
#include "sim/value/value.h"

typedef struct Expr   Expr;
typedef struct Select Select;
typedef struct Stmt   Stmt;

typedef LIST(Expr *) ExprList;
typedef LIST(Stmt *) StmtList;
typedef LIST(Str) NameList;
typedef LIST(ExprList) RowList;

/* server.database.schema.name, right-aligned; absent parts are empty. */
typedef struct ObjectName {
    Str     database, schema, name;
    int32_t line;
} ObjectName;

/* clang-format off */
typedef enum ExprKind {
    EXPR_LITERAL,       /* value; a character literal has its UTF-8 in text */
    EXPR_COLUMN,        /* parts */
    EXPR_STAR,          /* * or t.*: parts */
    EXPR_VARIABLE,      /* @name: text */
    EXPR_GLOBAL,        /* @@name: text without @@ */
    EXPR_UNARY,         /* op - + ~, args[0] */
    EXPR_BINARY,        /* args[0] op args[1]: + - * / % & | ^ */
    EXPR_COMPARE,       /* args[0] compare args[1] */
    EXPR_AND,           /* args, two or more: a AND b AND c is one node */
    EXPR_OR,            /* likewise */
    EXPR_NOT,           /* args[0] */
    EXPR_IS_NULL,       /* args[0]; negated: IS NOT NULL */
    EXPR_BETWEEN,       /* args[0] BETWEEN args[1] AND args[2] */
    EXPR_IN,            /* args[0] IN (args[1..] or select) */
    EXPR_LIKE,          /* args[0] LIKE args[1] [ESCAPE args[2]] */
    EXPR_EXISTS,        /* select */
    EXPR_QUANTIFIED,    /* args[0] compare ANY|ALL (select) */
    EXPR_SUBQUERY,      /* (select) as a scalar */
    EXPR_CASE,          /* operand or NULL; args: when, then, when, then ...; otherwise or NULL */
    EXPR_CAST,          /* CAST, CONVERT, PARSE and TRY_: args[0], type, style, is_try */
    EXPR_FUNCTION,      /* function, args, distinct, over, within_group */
    EXPR_COLLATE,       /* args[0] COLLATE text */
    EXPR_AT_TIME_ZONE,  /* args[0] AT TIME ZONE args[1] */
    EXPR_DATEPART_NAME, /* the bare word of DATEADD(day, ...): text */
    EXPR_DEFAULT,       /* DEFAULT in VALUES, SET or EXEC */
} ExprKind;
/* clang-format on */

typedef enum CompareOp { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE } CompareOp;

typedef struct OrderItem {
    Expr *expr;
    bool  descending;
} OrderItem;
typedef LIST(OrderItem) OrderList;

typedef enum FrameKind {
    FRAME_UNBOUNDED_PRECEDING,
    FRAME_PRECEDING, /* offset rows */
    FRAME_CURRENT,
    FRAME_FOLLOWING,
    FRAME_UNBOUNDED_FOLLOWING,
} FrameKind;
typedef struct FrameBound {
    FrameKind kind;
    int64_t   offset;
} FrameBound;

typedef struct Window { /* OVER (PARTITION BY ... ORDER BY ... ROWS|RANGE ...) */
    ExprList   partition_by;
    OrderList  order_by;
    bool       has_frame, is_range;
    FrameBound start, end;
} Window;

/* `depth`: levels of expressions and queries below; bounded (191), so trees may be walked by
 * recursion. */
struct Expr {
    ExprKind   kind;
    int32_t    line;
    int32_t    depth;
    SimValue   value; /* LITERAL */
    NameList   parts; /* COLUMN: [[schema.]table.]column; STAR: what stands before the star */
    Str        text;  /* VARIABLE with its @, GLOBAL, COLLATE, DATEPART_NAME */
    char       op;
    CompareOp  compare;
    bool       negated;    /* NOT IN, NOT LIKE, NOT BETWEEN, IS NOT NULL */
    bool       is_try;     /* TRY_CAST, TRY_CONVERT */
    bool       is_all;     /* QUANTIFIED */
    bool       distinct;   /* COUNT(DISTINCT x) */
    bool       is_convert; /* CONVERT rather than CAST */
    ExprList   args;
    Expr      *operand;   /* CASE */
    Expr      *otherwise; /* CASE ELSE */
    Expr      *style;     /* CONVERT's third argument */
    SimType    type;      /* CAST */
    ObjectName function;  /* schema may be sys, a database may stand before it */
    Window    *over;
    OrderList  within_group;
    Select    *select; /* subqueries */
};

typedef enum SourceKind {
    SOURCE_TABLE,    /* name, hints, alias */
    SOURCE_FUNCTION, /* name(args) alias: GENERATE_SERIES, cdc.fn_cdc_get_all_changes_x */
    SOURCE_SELECT,   /* (select) alias(columns) */
    SOURCE_VALUES,   /* (VALUES (...), ...) alias(columns) */
    SOURCE_VARIABLE, /* @table alias */
    SOURCE_JOIN,
} SourceKind;
typedef enum JoinKind {
    JOIN_INNER,
    JOIN_LEFT,
    JOIN_RIGHT,
    JOIN_FULL,
    JOIN_CROSS,
    JOIN_CROSS_APPLY,
    JOIN_OUTER_APPLY,
} JoinKind;

typedef struct Source Source;
struct Source {
    SourceKind kind;
    int32_t    line;
    ObjectName name;
    Str        alias;
    NameList   columns; /* alias(c1, c2) */
    NameList   hints;   /* upper case */
    ExprList   args;
    Select    *select;
    RowList    rows; /* VALUES */
    JoinKind   join;
    Source    *left, *right;
    Expr      *on;
};

typedef struct SelectItem {
    Expr *expr;
    Str   alias;     /* AS x, x = expr, or expr x */
    Str   assign_to; /* SELECT @v = expr; with its @ */
} SelectItem;
typedef LIST(SelectItem) SelectItemList;

typedef enum SetOp { SET_UNION, SET_UNION_ALL, SET_EXCEPT, SET_INTERSECT } SetOp;

typedef struct CommonTable { /* WITH name (columns) AS (select) */
    Str      name;
    NameList columns;
    Select  *select;
} CommonTable;
typedef LIST(CommonTable) CommonTableList;

struct Select {
    int32_t         line;
    CommonTableList with;
    /* A set operation when `left` is set; then only with, order_by, offset and fetch are used
     * besides. */
    SetOp          set_op;
    Select        *left, *right;
    bool           distinct;
    Expr          *top; /* NULL: none */
    bool           top_percent, top_with_ties;
    SelectItemList items;
    ObjectName     into; /* SELECT ... INTO name; name empty: none */
    Source        *from; /* NULL: none. A comma list is a CROSS join */
    Expr          *where;
    ExprList       group_by;
    Expr          *having;
    OrderList      order_by;
    Expr          *offset, *fetch;
    NameList       options; /* OPTION (...): upper case words */
};

typedef struct ColumnDef {
    Str     name;
    int32_t line;
    SimType type;
    bool    is_nullable, nullability_given;
    bool    is_identity;
    int64_t identity_seed, identity_step;
    Expr   *default_value;
    Str     default_name;              /* of its constraint; empty: generated */
    Expr   *computed;                  /* AS (expr) */
    bool    is_persisted, with_values; /* DEFAULT ... WITH VALUES */
    Str     collation;                 /* empty: the database's */
} ColumnDef;
typedef LIST(ColumnDef) ColumnDefList;

typedef enum ConstraintKind {
    CONSTRAINT_PRIMARY_KEY,
    CONSTRAINT_UNIQUE,
    CONSTRAINT_CHECK,
    CONSTRAINT_DEFAULT,
    CONSTRAINT_FOREIGN_KEY,
    CONSTRAINT_INDEX, /* none: an INDEX inside a table definition */
} ConstraintKind;
typedef struct KeyColumn {
    Str  name;
    bool descending;
} KeyColumn;
typedef LIST(KeyColumn) KeyColumnList;
typedef struct ConstraintDef {
    ConstraintKind kind;
    Str            name; /* empty: generated */
    KeyColumnList  columns;
    bool           is_clustered, clustering_given;
    bool           is_unique; /* of an INDEX inside a table definition */
    Expr          *expr;
    Str            for_column; /* DEFAULT ... FOR; a CHECK written at a column: that one */
    Str            text;       /* CHECK: the condition as written */
    bool           with_values;
    bool           is_unchecked; /* WITH NOCHECK: the rows there are not looked at */
    ObjectName     referenced;   /* FOREIGN KEY */
    NameList       referenced_columns;
    int32_t        line;
} ConstraintDef;
typedef LIST(ConstraintDef) ConstraintDefList;

typedef struct Assignment { /* SET col = expr, @v = expr, @v = col = expr, col += expr */
    Str   column;
    Str   variable;
    Expr *expr;
} Assignment;
typedef LIST(Assignment) AssignmentList;

typedef struct ExecArg {
    Str   name; /* @name, or empty */
    Expr *value;
    bool  is_output;
} ExecArg;
typedef LIST(ExecArg) ExecArgList;

typedef struct VariableDef {
    Str               name; /* with its @ */
    SimType           type;
    Expr             *value;
    bool              is_output; /* of a procedure's parameters */
    bool              is_table;  /* DECLARE @t TABLE (...) */
    ColumnDefList     columns;
    ConstraintDefList constraints;
    int32_t           line;
} VariableDef;
typedef LIST(VariableDef) VariableDefList;

/* clang-format off */
typedef enum StmtKind {
    STMT_SELECT, STMT_INSERT, STMT_INSERT_BULK, STMT_UPDATE, STMT_DELETE, STMT_TRUNCATE,
    STMT_CREATE_TABLE, STMT_ALTER_TABLE, STMT_DROP_TABLE, STMT_CREATE_INDEX, STMT_DROP_INDEX,
    STMT_CREATE_SCHEMA, STMT_DROP_SCHEMA, STMT_CREATE_DATABASE, STMT_DROP_DATABASE,
    STMT_ALTER_DATABASE, STMT_USE,
    STMT_DECLARE, STMT_SET_VARIABLE, STMT_SET_OPTION,
    STMT_IF, STMT_WHILE, STMT_BLOCK, STMT_BREAK, STMT_CONTINUE, STMT_RETURN, STMT_WAITFOR,
    STMT_PRINT, STMT_RAISERROR, STMT_THROW, STMT_TRY,
    STMT_EXEC, STMT_EXEC_TEXT,
    STMT_BEGIN_TRAN, STMT_COMMIT, STMT_ROLLBACK, STMT_SAVE_TRAN,
    STMT_CREATE_LOGIN, STMT_CREATE_USER, STMT_CREATE_ROLE, STMT_ALTER_ROLE, STMT_DROP_PRINCIPAL,
    STMT_GRANT, STMT_ALTER_LOGIN, STMT_EXECUTE_AS, STMT_REVERT,
    STMT_CREATE_MODULE, STMT_DROP_MODULE, STMT_MERGE,
    STMT_DECLARE_CURSOR, STMT_OPEN_CURSOR, STMT_FETCH, STMT_CLOSE_CURSOR, STMT_DEALLOCATE,
    STMT_KILL, STMT_CHECKPOINT, STMT_DBCC, STMT_NOTHING,
} StmtKind;
/* clang-format on */

typedef enum AlterAction {
    ALTER_ADD_COLUMN,
    ALTER_DROP_COLUMN,
    ALTER_ALTER_COLUMN,
    ALTER_ADD_CONSTRAINT,
    ALTER_DROP_CONSTRAINT,
    ALTER_ENABLE_CONSTRAINT, /* CHECK CONSTRAINT, or NOCHECK: words[0] */
    ALTER_SWITCH,
} AlterAction;
typedef enum GrantKind { GRANT_GRANT, GRANT_DENY, GRANT_REVOKE } GrantKind;

typedef enum MergeWhen { MERGE_MATCHED, MERGE_NOT_MATCHED, MERGE_NOT_MATCHED_BY_SOURCE } MergeWhen;
typedef struct MergeClause { /* WHEN ... THEN */
    MergeWhen      when;
    Expr          *condition; /* AND ...; NULL: none */
    StmtKind       action;    /* UPDATE, DELETE or INSERT */
    AssignmentList assignments;
    NameList       columns;
    ExprList       values;
    bool           default_values;
    int32_t        line;
} MergeClause;
typedef LIST(MergeClause) MergeClauseList;

struct Stmt {
    StmtKind          kind;
    int32_t           line;
    Str               source; /* the statement's own text, for ddl_history and traces */
    ObjectName        object; /* table, procedure, index's table, schema, database, principal */
    Str               name; /* index, constraint, transaction or savepoint, login or user, member */
    Select           *select; /* SELECT; INSERT ... SELECT */
    CommonTableList   with;   /* before INSERT, UPDATE, DELETE; a SELECT keeps its own */
    NameList          columns;
    RowList           rows; /* INSERT VALUES */
    bool              default_values;
    Stmt             *exec; /* INSERT ... EXEC */
    AssignmentList    assignments;
    Source           *from; /* UPDATE/DELETE ... FROM */
    Expr             *where;
    Expr             *top;
    NameList          hints;  /* of the target, upper case */
    SelectItemList    output; /* OUTPUT inserted.x, deleted.y */
    ObjectName        output_into;
    ColumnDefList     column_defs;
    ConstraintDefList constraints;
    KeyColumnList     keys; /* CREATE INDEX */
    AlterAction       alter;
    bool              is_unique, is_clustered, if_exists;
    VariableDefList   variables; /* DECLARE */
    Str               variable;  /* SET @v, EXEC @rc =, a transaction's name in a variable */
    Expr             *expr;      /* IF, WHILE, SET, RETURN, PRINT, WAITFOR, EXEC_TEXT, KILL */
    ExprList          args;      /* RAISERROR, THROW, DBCC, CREATE LOGIN (password) */
    NameList          words;
    ExecArgList       exec_args;
    Stmt             *then_branch, *else_branch;
    StmtList          body; /* BLOCK */
    GrantKind         grant;
    NameList          grant_columns;
    NameList          principals;  /* GRANT ... TO */
    Str               grant_class; /* OBJECT, SCHEMA, DATABASE or empty */
    MergeClauseList   merge;
    NameList          into;        /* FETCH ... INTO; columns of OUTPUT ... INTO */
    Str               termination; /* ALTER DATABASE ... WITH: IMMEDIATE, AFTER, NO_WAIT or empty */
    int64_t           after_seconds;
};

/* How statements fill a Stmt, where the names do not say it:
 *   INSERT           columns; object.name "@t" for a table variable; exec: STMT_EXEC or STMT_EXEC_TEXT
 *   INSERT BULK      column_defs: what the client will send; words: its hints, upper case; keys: ORDER
 *   ALTER TABLE      ALTER_ADD_COLUMN: column_defs and constraints, either may be empty;
 *                    ALTER_ALTER_COLUMN: one column_def; ALTER_DROP_*: columns, name is the first;
 *                    ALTER_SWITCH: output_into is the other table;
 *                    ALTER_ENABLE_CONSTRAINT: words[0] CHECK or NOCHECK, columns (empty: ALL),
 *                    default_values: WITH CHECK
 *   CREATE INDEX     keys; INCLUDE in columns, a filter in where
 *   CREATE DATABASE  name: its collation. ALTER DATABASE: object.name (CURRENT stays), words of SET,
 *                    or name the collation
 *   DECLARE          variables. SET @v op= e is SET @v = @v op e
 *   SET option       words, upper case: {"NOCOUNT", "ON"}, {"TRANSACTION", "ISOLATION", "LEVEL",
 *                    "READ", "COMMITTED"}, {"IDENTITY_INSERT", "ON"} with object; a literal or
 *                    variable is in expr. SET a, b ON is a BLOCK of two
 *   IF, WHILE        expr, then_branch, else_branch. TRY: the body and the CATCH, both BLOCKs
 *   WAITFOR          words[0] DELAY or TIME. RAISERROR: args, words of WITH. THROW: 0 or 3 args
 *   EXEC             variable (return status), object ("@p": its name is in a variable), exec_args.
 *                    EXEC ('text'): expr
 *   DROP of several  is a BLOCK of single ones
 *   BEGIN, SAVE, COMMIT, ROLLBACK TRAN: name or variable
 *   CREATE LOGIN     name, args[0] the password, variable its language (ALTER LOGIN's too). CREATE USER: name, object.name the login (empty: of
 *                    the same name; "WITHOUT LOGIN" in words). CREATE ROLE: name
 *   ALTER ROLE       object.name, words[0] ADD or DROP, name the member; words[1] SERVER: server role
 *   DROP_PRINCIPAL   words[0] LOGIN, USER or ROLE; name
 *   GRANT            grant, words (a permission each: "VIEW SERVER STATE" is one), grant_columns,
 *                    grant_class, object, principals
 *   CREATE_MODULE    words[0] CREATE, ALTER or REPLACE (CREATE OR ALTER), words[1] PROCEDURE or VIEW;
 *                    a procedure's parameters in variables, its body in then_branch; a view's
 *                    columns and select. source is the whole batch
 *   DROP_MODULE      words[0] PROCEDURE or VIEW
 *   MERGE            object, name its alias, hints, from what it USES, where its ON, merge
 *   DECLARE_CURSOR   name, words LOCAL, SCROLL, ...; select. OPEN, FETCH, CLOSE, DEALLOCATE: name
 *   FETCH            words[0] NEXT, PRIOR, FIRST, LAST, ABSOLUTE or RELATIVE with expr; into
 *   EXECUTE_AS       words[0] USER, LOGIN or CALLER, words[1] NO_REVERT; expr the name
 *   ALTER LOGIN      name, words[0] ENABLE, DISABLE or empty; args[0] a password, object.name a new name
 *   NOTHING          words[0] RECONFIGURE, or none
 *   DBCC             words[0], args. KILL: expr. USE: name */

/* Parses a whole batch. Nothing runs when it fails: 102, 156, 105, 113, ... with the line, or 50001
 * naming what is not supported. `quoted_identifier`: "x" is an identifier. */
bool sim_parse(Str batch, bool quoted_identifier, Arena *arena, StmtList *out,
               SimError *error) MUST_CHECK;

/* The expression as the catalogue shows it: "((0))" for a default of 0, "([price]*[count])". */
Str expr_definition(Arena *arena, const Expr *expr);

#endif
