/* The parser's tokens, errors and statements (sqlserver.md 2.10). */
#include "sim/parse/parse_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* --- tokens --- */
const Token *peek(Parser *parser, size_t offset)
{
    while (parser->at + offset >= parser->tokens.count) {
        Token token                                = lexer_next(&parser->lexer);
        *LIST_PUSH(parser->arena, &parser->tokens) = token;
    }
    return &parser->tokens.items[parser->at + offset];
}

void advance(Parser *parser)
{
    if (peek(parser, 0)->kind != TOKEN_END) parser->at++;
}

bool is_keyword_at(Parser *parser, size_t offset, Keyword keyword)
{
    const Token *token = peek(parser, offset);

    return token->kind == TOKEN_WORD && token->keyword == keyword;
}

bool is_keyword(Parser *parser, Keyword keyword)
{
    return is_keyword_at(parser, 0, keyword);
}

bool is_op_at(Parser *parser, size_t offset, int32_t op)
{
    const Token *token = peek(parser, offset);

    return token->kind == TOKEN_OPERATOR && token->op == op;
}

bool is_op(Parser *parser, int32_t op)
{
    return is_op_at(parser, 0, op);
}

bool accept_keyword(Parser *parser, Keyword keyword)
{
    bool found = is_keyword(parser, keyword);

    if (found) advance(parser);
    return found;
}

bool accept_op(Parser *parser, int32_t op)
{
    bool found = is_op(parser, op);

    if (found) advance(parser);
    return found;
}

bool expect_keyword(Parser *parser, Keyword keyword)
{
    return accept_keyword(parser, keyword) || syntax_error(parser);
}

bool expect_op(Parser *parser, int32_t op)
{
    return accept_op(parser, op) || syntax_error(parser);
}

bool is_word(Parser *parser, const char *word)
{
    const Token *token = peek(parser, 0);

    return token->kind == TOKEN_WORD && str_equal_ignoring_case(token->text, str_from_c(word));
}

bool accept_word(Parser *parser, const char *word)
{
    bool found = is_word(parser, word);

    if (found) advance(parser);
    return found;
}

bool is_name_at(Parser *parser, size_t offset)
{
    const Token *token = peek(parser, offset);

    return token->kind == TOKEN_QUOTED ||
           (token->kind == TOKEN_WORD && !keyword_is_reserved(token->keyword));
}

bool is_name(Parser *parser)
{
    return is_name_at(parser, 0);
}

bool expect_name(Parser *parser, Str *out)
{
    if (!is_name(parser)) return syntax_error(parser);
    *out = peek(parser, 0)->text;
    advance(parser);
    return true;
}

int32_t line_of(Parser *parser)
{
    return peek(parser, 0)->line;
}

Str upper_of(Parser *parser, Str text)
{
    char *out = (char *)arena_alloc_uninit(parser->arena, text.len + 1);

    for (size_t i = 0; i < text.len; i++)
        out[i] = (char)(text.ptr[i] >= 'a' && text.ptr[i] <= 'z' ? text.ptr[i] - 32 : text.ptr[i]);
    return (Str){out, text.len};
}

bool skip_parens(Parser *parser)
{
    size_t depth = 0;

    if (!is_op(parser, '(')) return syntax_error(parser);
    do {
        if (peek(parser, 0)->kind == TOKEN_END) return syntax_error(parser);
        if (is_op(parser, '(')) depth++;
        if (is_op(parser, ')')) depth--;
        advance(parser);
    } while (depth > 0);
    return true;
}

/* --- errors --- */
bool parse_fail(Parser *parser, int32_t line, int32_t number, const char *fmt, ...)
{
    char    message[sizeof parser->error->message];
    va_list args;

    if (parser->lexer.failed) return false; /* that came first */
    va_start(args, fmt);
    (void)vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    sim_error(parser->error, number, "%s", message);
    parser->error->line = line;
    return false;
}

static bool syntax_error_at(Parser *parser, const Token *token)
{
    Token at = *token;

    if (at.kind == TOKEN_WORD && keyword_is_reserved(at.keyword))
        return parse_fail(parser, at.line, 156, "Incorrect syntax near the keyword '%.*s'.",
                          STR_ARG(at.text));
    if (at.kind == TOKEN_END) { /* near the last token there is */
        if (parser->tokens.count < 2)
            return parse_fail(parser, at.line, 102, "Incorrect syntax near ''.");
        at = parser->tokens.items[parser->tokens.count - 2];
        for (size_t i = parser->tokens.count; i-- > 0;) {
            if (parser->tokens.items[i].kind == TOKEN_END) continue;
            at = parser->tokens.items[i];
            break;
        }
    }
    Str text = str_slice(at.text, 0, 128);
    if (at.kind == TOKEN_BINARY || at.kind == TOKEN_GLOBAL || at.kind == TOKEN_MONEY)
        text = str_slice(parser->lexer.source, at.start, at.end);
    return parse_fail(parser, at.line, 102, "Incorrect syntax near '%.*s'.", STR_ARG(text));
}

bool syntax_error(Parser *parser)
{
    return syntax_error_at(parser, peek(parser, 0));
}

bool not_supported(Parser *parser, const char *what)
{
    if (parser->lexer.failed) return false;
    sim_not_supported(parser->error, "%s", what);
    parser->error->line = line_of(parser);
    return false;
}

static bool too_deep(Parser *parser)
{
    return parse_fail(parser, line_of(parser), 191,
                      "Some part of your SQL statement is nested too deeply. Rewrite the query or "
                      "break it up into smaller queries.");
}

bool enter(Parser *parser)
{
    if (parser->nesting >= PARSE_NESTING_MAX) return too_deep(parser);
    parser->nesting++;
    return true;
}

void leave(Parser *parser)
{
    parser->nesting--;
}

bool note_depth(Parser *parser, int32_t depth)
{
    if (depth > parser->deepest) parser->deepest = depth;
    return depth <= PARSE_DEPTH_MAX || too_deep(parser);
}

/* --- statements --- */
Stmt *stmt_new(Parser *parser, StmtKind kind)
{
    Stmt *stmt = ARENA_NEW(parser->arena, Stmt);

    stmt->kind = kind;
    stmt->line = line_of(parser);
    return stmt;
}

Stmt *stmt_block_of(Parser *parser, StmtList *list, int32_t line)
{
    if (list->count == 1) return list->items[0];
    Stmt *block = stmt_new(parser, STMT_BLOCK);
    block->line = line;
    block->body = *list;
    return block;
}

static Stmt *refuse(Parser *parser, const char *what)
{
    (void)not_supported(parser, what);
    return NULL;
}

static Stmt *parse_checkpoint(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CHECKPOINT);

    advance(parser);
    if (peek(parser, 0)->kind == TOKEN_INTEGER) advance(parser);
    return stmt;
}

static Stmt *parse_simple(Parser *parser, StmtKind kind)
{
    Stmt *stmt = stmt_new(parser, kind);

    advance(parser);
    return stmt;
}

static Stmt *parse_reconfigure(Parser *parser)
{
    Stmt *stmt = parse_simple(parser, STMT_NOTHING);

    if (accept_keyword(parser, KW_WITH) && !accept_word(parser, "OVERRIDE")) {
        (void)syntax_error(parser);
        return NULL;
    }
    *LIST_PUSH(parser->arena, &stmt->words) = STR("RECONFIGURE");
    return stmt;
}

static const struct {
    Keyword keyword;
    Stmt *(*parse)(Parser *parser);
    const char *refused; /* recognised and not supported */
} statements[] = {
    {KW_SELECT, parse_select, NULL},
    {KW_WITH, parse_with_statement, NULL},
    {KW_TRUNCATE, parse_truncate, NULL},
    {KW_CREATE, parse_create, NULL},
    {KW_ALTER, parse_alter, NULL},
    {KW_DROP, parse_drop, NULL},
    {KW_USE, parse_use, NULL},
    {KW_DECLARE, parse_declare, NULL},
    {KW_SET, parse_set, NULL},
    {KW_IF, parse_if, NULL},
    {KW_WHILE, parse_while, NULL},
    {KW_BEGIN, parse_begin, NULL},
    {KW_COMMIT, parse_commit, NULL},
    {KW_ROLLBACK, parse_rollback, NULL},
    {KW_SAVE, parse_save, NULL},
    {KW_WAITFOR, parse_waitfor, NULL},
    {KW_RAISERROR, parse_raiserror, NULL},
    {KW_RETURN, parse_return, NULL},
    {KW_PRINT, parse_print, NULL},
    {KW_KILL, parse_kill, NULL},
    {KW_DBCC, parse_dbcc, NULL},
    {KW_GRANT, parse_grant, NULL},
    {KW_REVOKE, parse_grant, NULL},
    {KW_DENY, parse_grant, NULL},
    {KW_CHECKPOINT, parse_checkpoint, NULL},
    {KW_RECONFIGURE, parse_reconfigure, NULL},
    {KW_GOTO, NULL, "GOTO"},
    {KW_OPEN, parse_open_cursor, NULL},
    {KW_FETCH, parse_fetch, NULL},
    {KW_CLOSE, parse_open_cursor, NULL},
    {KW_DEALLOCATE, parse_open_cursor, NULL},
    {KW_BACKUP, NULL, "BACKUP"},
    {KW_RESTORE, NULL, "RESTORE"},
    {KW_BULK, NULL, "BULK INSERT"},
    {KW_REVERT, parse_revert, NULL},
    {KW_SETUSER, NULL, "SETUSER"},
    {KW_SHUTDOWN, NULL, "SHUTDOWN"},
    {KW_READTEXT, NULL, "READTEXT"},
    {KW_WRITETEXT, NULL, "WRITETEXT"},
    {KW_UPDATETEXT, NULL, "UPDATETEXT"},
};

static bool find_statement(Keyword keyword, size_t *at_out)
{
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
        if (statements[i].keyword != keyword) continue;
        *at_out = i;
        return true;
    }
    return false;
}

bool starts_statement(Parser *parser)
{
    const Token *token = peek(parser, 0);
    size_t       at    = 0;

    if (token->kind != TOKEN_WORD) return false;
    switch (token->keyword) {
    case KW_INSERT:
    case KW_UPDATE:
    case KW_DELETE:
    case KW_MERGE:
    case KW_EXEC:
    case KW_EXECUTE:
    case KW_BREAK:
    case KW_CONTINUE:
    case KW_THROW: return true;
    default: return find_statement(token->keyword, &at);
    }
}

static Stmt *parse_leave(Parser *parser, bool is_break)
{
    if (parser->loops > 0) return parse_simple(parser, is_break ? STMT_BREAK : STMT_CONTINUE);
    (void)parse_fail(parser, line_of(parser), is_break ? 135 : 136,
                     "Cannot use a %s statement outside the scope of a WHILE statement.",
                     is_break ? "BREAK" : "CONTINUE");
    return NULL;
}

static Stmt *dispatch(Parser *parser)
{
    Token  token = *peek(parser, 0);
    size_t at    = 0;

    if (token.kind == TOKEN_OPERATOR && token.op == '(' && starts_query(parser, 0))
        return parse_select(parser);
    if (token.kind != TOKEN_WORD) {
        (void)syntax_error(parser);
        return NULL;
    }
    switch (token.keyword) {
    case KW_INSERT: return parse_insert(parser, NULL);
    case KW_UPDATE: return parse_update(parser, NULL);
    case KW_DELETE: return parse_delete(parser, NULL);
    case KW_MERGE: return parse_merge(parser, NULL);
    case KW_EXEC:
    case KW_EXECUTE: return parse_exec(parser, true);
    case KW_BREAK:
    case KW_CONTINUE: return parse_leave(parser, token.keyword == KW_BREAK);
    case KW_THROW: return parse_throw(parser);
    case KW_ENABLE:
    case KW_DISABLE:
        if (is_keyword_at(parser, 1, KW_TRIGGER)) return refuse(parser, "a trigger");
        break;
    default:
        if (!find_statement(token.keyword, &at)) break;
        if (statements[at].refused != NULL) return refuse(parser, statements[at].refused);
        return statements[at].parse(parser);
    }
    if (is_name(parser) && is_op_at(parser, 1, ':')) return refuse(parser, "a label");
    (void)syntax_error(parser);
    return NULL;
}

static void set_source(Parser *parser, Stmt *stmt, size_t first)
{
    size_t start = parser->tokens.items[first].start;
    size_t end   = parser->at > first ? parser->tokens.items[parser->at - 1].end : start;

    stmt->source = str_slice(parser->lexer.source, start, end);
}

Stmt *parse_statement(Parser *parser)
{
    size_t first = parser->at;
    (void)peek(parser, 0);

    if (!enter(parser)) return NULL;
    parser->deepest = 0;
    Stmt *stmt      = dispatch(parser);
    leave(parser);
    if (stmt == NULL) return NULL;
    set_source(parser, stmt, first);
    return stmt;
}

bool parse_block(Parser *parser, StmtList *out, bool *empty_out)
{
    *empty_out = true;
    for (;;) {
        while (accept_op(parser, ';')) {
        }
        if (peek(parser, 0)->kind == TOKEN_END || is_keyword(parser, KW_END)) return true;
        Stmt *stmt = parse_statement(parser);
        if (stmt == NULL) return false;
        *LIST_PUSH(parser->arena, out) = stmt;
        *empty_out                     = false;
    }
}

/* A batch may begin with the bare name of a procedure. */
static bool starts_with_procedure(Parser *parser)
{
    if (is_op(parser, '.')) return true;
    if (!is_name(parser) || starts_statement(parser)) return false;
    return !is_op_at(parser, 1, ':');
}

static bool parse_batch(Parser *parser, StmtList *out)
{
    bool empty = true;

    while (accept_op(parser, ';')) {
    }
    if (starts_with_procedure(parser)) {
        size_t first = parser->at;
        Stmt  *stmt  = parse_exec(parser, false);
        if (stmt == NULL) return false;
        set_source(parser, stmt, first);
        *LIST_PUSH(parser->arena, out) = stmt;
    }
    if (!parse_block(parser, out, &empty)) return false;
    if (peek(parser, 0)->kind != TOKEN_END) return syntax_error(parser);
    return !parser->lexer.failed;
}

bool sim_parse(Str batch, bool quoted_identifier, Arena *arena, StmtList *out, SimError *error)
{
    Parser parser = {.arena = arena,
                     .error = error,
                     .lexer = {.source            = batch,
                               .line              = 1,
                               .quoted_identifier = quoted_identifier,
                               .arena             = arena,
                               .error             = error}};

    *out = (StmtList){0};
    return parse_batch(&parser, out);
}
