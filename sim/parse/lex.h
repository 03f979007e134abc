/* lex.h - T-SQL text as tokens: names, literals, operators, with their lines. */
#ifndef TIDESIM_LEX_H
#define TIDESIM_LEX_H

#include "sim/parse/lex_words.h"
#include "sim/value/error.h"

typedef struct Arena Arena;

typedef enum Keyword {
    KW_NONE,
#define X(word, reserved) KW_##word,
    SQL_WORDS(X)
#undef X
} Keyword;

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_WORD,     /* a bare name or keyword */
    TOKEN_QUOTED,   /* [x] or "x" */
    TOKEN_STRING,   /* 'x', and "x" without QUOTED_IDENTIFIER */
    TOKEN_NSTRING,  /* N'x' */
    TOKEN_INTEGER,  /* 12 */
    TOKEN_DECIMAL,  /* 1.5 */
    TOKEN_FLOAT,    /* 1e5 */
    TOKEN_MONEY,    /* $1.5: text has the digits */
    TOKEN_BINARY,   /* 0xAB */
    TOKEN_VARIABLE, /* @x */
    TOKEN_GLOBAL,   /* @@x */
    TOKEN_OPERATOR, /* op */
} TokenKind;

/* One character stands for itself; these are longer. */
typedef enum LongOperator {
    OP_NOT_EQUAL = 256, /* <> and != */
    OP_LESS_EQUAL,      /* <= and !> */
    OP_GREATER_EQUAL,   /* >= and !< */
    OP_ADD_ASSIGN,
    OP_SUBTRACT_ASSIGN,
    OP_MULTIPLY_ASSIGN,
    OP_DIVIDE_ASSIGN,
    OP_MODULO_ASSIGN,
    OP_AND_ASSIGN,
    OP_OR_ASSIGN,
    OP_XOR_ASSIGN,
    OP_SCOPE, /* :: */
} LongOperator;

typedef enum QueryState { QUERY_UNKNOWN, QUERY_YES, QUERY_NO } QueryState;

typedef struct Token {
    TokenKind  kind;
    int32_t    line;
    int32_t    op;      /* OPERATOR */
    Keyword    keyword; /* WORD */
    QueryState query;   /* of an opening parenthesis, noted by the parser: does it hold a query? */
    Str        text; /* what it means: a name without its quotes, the content of a string, digits */
    size_t     start, end; /* in the source */
} Token;

typedef struct Lexer {
    Str       source;
    size_t    at;
    int32_t   line;
    bool      quoted_identifier; /* may change between two tokens (SET QUOTED_IDENTIFIER) */
    bool      failed;
    Arena    *arena; /* for names and strings that hold doubled quotes */
    SimError *error;
} Lexer;

/* The next token; TOKEN_END at the end and after an error (105, 113, 103, 1038), which sets
 * `failed`. */
Token lexer_next(Lexer *lexer);
bool  keyword_is_reserved(Keyword keyword);

#endif
