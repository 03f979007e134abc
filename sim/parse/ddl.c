/* CREATE, ALTER and DROP of everything but tables' insides, USE. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

/* What begins behind CREATE, ALTER or DROP and is not there yet. */
static Stmt *refuse_object(Parser *parser, const char *verb)
{
    static const char *const kinds[] = {
        "FUNCTION",   "TRIGGER",      "TYPE",        "SEQUENCE",      "SYNONYM",     "STATISTICS",
        "PARTITION",  "FULLTEXT",     "XML",         "SPATIAL",       "ASSEMBLY",    "AGGREGATE",
        "RULE",       "DEFAULT",      "CERTIFICATE", "SYMMETRIC",     "ASYMMETRIC",  "MASTER",
        "CREDENTIAL", "ENDPOINT",     "EVENT",       "QUEUE",         "SERVICE",     "MESSAGE",
        "CONTRACT",   "ROUTE",        "RESOURCE",    "WORKLOAD",      "COLUMN",      "EXTERNAL",
        "SECURITY",   "AVAILABILITY", "COLUMNSTORE", "AUTHORIZATION", "APPLICATION", "REMOTE",
        "SEARCH"};

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (!is_word(parser, kinds[i])) continue;
        (void)not_supported(parser, str_printf(parser->arena, "%s %s", verb, kinds[i]).ptr);
        return NULL;
    }
    return fail(parser);
}

/* --- CREATE --- */
static Stmt *parse_create_schema(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_SCHEMA);

    stmt->object = (ObjectName){.schema = STR_EMPTY, .database = STR_EMPTY};
    advance(parser);
    if (accept_keyword(parser, KW_AUTHORIZATION)) {
        if (!expect_name(parser, &stmt->object.name)) return NULL;
        return stmt;
    }
    if (!expect_name(parser, &stmt->object.name)) return NULL;
    if (accept_keyword(parser, KW_AUTHORIZATION)) {
        Str owner;
        if (!expect_name(parser, &owner)) return NULL;
    }
    if (is_keyword(parser, KW_CREATE) && is_keyword_at(parser, 1, KW_TABLE)) {
        (void)not_supported(parser, "CREATE TABLE inside CREATE SCHEMA");
        return NULL;
    }
    return stmt;
}

/* Options that say where files are do not matter here. */
static bool parse_database_options(Parser *parser, Stmt *stmt)
{
    for (;;) {
        if (accept_keyword(parser, KW_COLLATE)) {
            if (!expect_name(parser, &stmt->name)) return false;
        } else if (is_word(parser, "CONTAINMENT")) {
            advance(parser);
            if (!expect_op(parser, '=')) return false;
            advance(parser);
        } else if (is_keyword(parser, KW_ON) || is_keyword(parser, KW_PRIMARY) ||
                   is_op(parser, ',') || is_word(parser, "LOG")) {
            advance(parser);
        } else if (is_op(parser, '(')) {
            if (!skip_parens(parser)) return false;
        } else if (is_keyword(parser, KW_FOR)) {
            return not_supported(parser, "CREATE DATABASE FOR ATTACH");
        } else if (is_keyword(parser, KW_AS)) {
            return not_supported(parser, "a database snapshot");
        } else {
            return true;
        }
    }
}

static Stmt *parse_create_database(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_DATABASE);

    stmt->object = (ObjectName){.schema = STR_EMPTY, .database = STR_EMPTY, .line = stmt->line};
    advance(parser);
    if (!expect_name(parser, &stmt->object.name)) return NULL;
    return parse_database_options(parser, stmt) ? stmt : NULL;
}

static bool parse_index_tail(Parser *parser, Stmt *stmt)
{
    if (is_keyword(parser, KW_INCLUDE)) {
        advance(parser);
        if (!parse_name_list(parser, &stmt->columns)) return false;
    }
    if (accept_keyword(parser, KW_WHERE)) {
        stmt->where = parse_condition(parser);
        if (stmt->where == NULL) return false;
    }
    if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
        advance(parser);
        if (!skip_parens(parser)) return false;
    }
    if (accept_keyword(parser, KW_ON)) {
        Str filegroup;
        if (!expect_name(parser, &filegroup)) return false;
        if (is_op(parser, '(') && !skip_parens(parser)) return false;
    }
    return true;
}

static Stmt *parse_create_index(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_INDEX);

    stmt->is_unique    = accept_keyword(parser, KW_UNIQUE);
    stmt->is_clustered = accept_keyword(parser, KW_CLUSTERED);
    if (!stmt->is_clustered) (void)accept_keyword(parser, KW_NONCLUSTERED);
    if (is_word(parser, "COLUMNSTORE")) {
        (void)not_supported(parser, "a COLUMNSTORE index");
        return NULL;
    }
    if (!expect_keyword(parser, KW_INDEX) || !expect_name(parser, &stmt->name)) return NULL;
    if (!expect_keyword(parser, KW_ON) || !parse_object_name(parser, &stmt->object)) return NULL;
    if (!parse_key_columns(parser, &stmt->keys)) return NULL;
    return parse_index_tail(parser, stmt) ? stmt : NULL;
}

Stmt *parse_create(Parser *parser)
{
    advance(parser);
    switch (peek(parser, 0)->keyword) {
    case KW_TABLE: return parse_create_table(parser);
    case KW_UNIQUE:
    case KW_CLUSTERED:
    case KW_NONCLUSTERED:
    case KW_INDEX: return parse_create_index(parser);
    case KW_SCHEMA: return parse_create_schema(parser);
    case KW_DATABASE: return parse_create_database(parser);
    case KW_LOGIN:
    case KW_USER:
    case KW_ROLE: return parse_create_principal(parser);
    case KW_SERVER: (void)not_supported(parser, "CREATE SERVER ROLE"); return NULL;
    case KW_PROC:
    case KW_PROCEDURE:
    case KW_VIEW: return parse_module(parser, "CREATE");
    case KW_OR:
        advance(parser);
        if (!expect_keyword(parser, KW_ALTER)) return NULL;
        if (is_keyword(parser, KW_PROC) || is_keyword(parser, KW_PROCEDURE) ||
            is_keyword(parser, KW_VIEW))
            return parse_module(parser, "REPLACE");
        return refuse_object(parser, "CREATE OR ALTER");
    default: return refuse_object(parser, "CREATE");
    }
}

/* --- ALTER --- */
/* SET option [value] [, ...] [WITH ROLLBACK IMMEDIATE], as words. */
static bool parse_database_set(Parser *parser, Stmt *stmt)
{
    for (;;) {
        const Token *token = peek(parser, 0);
        if (token->kind == TOKEN_WORD && token->keyword == KW_WITH) break;
        if (token->kind != TOKEN_WORD && token->kind != TOKEN_INTEGER &&
            token->kind != TOKEN_STRING)
            break;
        if (stmt->words.count > 0 && starts_statement(parser)) break;
        Str word                                = upper_of(parser, token->text);
        *LIST_PUSH(parser->arena, &stmt->words) = word;
        advance(parser);
        (void)accept_op(parser, '=');
        if (is_op(parser, '(') && !skip_parens(parser)) return false;
    }
    if (stmt->words.count == 0) return syntax_error(parser);
    if (is_op(parser, ',')) return not_supported(parser, "several options in one ALTER DATABASE");
    if (!accept_keyword(parser, KW_WITH)) return true;
    if (accept_keyword(parser, KW_ROLLBACK)) {
        stmt->termination = STR("IMMEDIATE");
        if (accept_word(parser, "IMMEDIATE")) return true;
        stmt->termination = STR("AFTER");
        if (!accept_word(parser, "AFTER")) return syntax_error(parser);
        if (!parse_integer(parser, &stmt->after_seconds)) return false;
        (void)accept_word(parser, "SECONDS");
        return true;
    }
    stmt->termination = STR("NO_WAIT");
    return accept_word(parser, "NO_WAIT") || syntax_error(parser);
}

static Stmt *parse_alter_database(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_ALTER_DATABASE);

    stmt->object = (ObjectName){.schema = STR_EMPTY, .database = STR_EMPTY, .line = stmt->line};
    advance(parser);
    if (is_word(parser, "SCOPED")) {
        (void)not_supported(parser, "ALTER DATABASE SCOPED CONFIGURATION");
        return NULL;
    }
    if (accept_keyword(parser, KW_CURRENT))
        stmt->object.name = STR("CURRENT");
    else if (!expect_name(parser, &stmt->object.name))
        return NULL;
    if (accept_keyword(parser, KW_COLLATE)) return expect_name(parser, &stmt->name) ? stmt : NULL;
    if (accept_keyword(parser, KW_SET)) return parse_database_set(parser, stmt) ? stmt : NULL;
    if (is_word(parser, "MODIFY") || is_keyword(parser, KW_ADD) || is_word(parser, "REMOVE")) {
        (void)not_supported(parser, "ALTER DATABASE of files and names");
        return NULL;
    }
    return fail(parser);
}

Stmt *parse_alter(Parser *parser)
{
    advance(parser);
    switch (peek(parser, 0)->keyword) {
    case KW_TABLE: return parse_alter_table(parser);
    case KW_DATABASE: return parse_alter_database(parser);
    case KW_ROLE:
    case KW_SERVER: return parse_alter_role(parser);
    case KW_PROC:
    case KW_PROCEDURE:
    case KW_VIEW: return parse_module(parser, "ALTER");
    case KW_LOGIN: return parse_alter_login(parser);
    case KW_USER: (void)not_supported(parser, "ALTER USER"); return NULL;
    case KW_INDEX: (void)not_supported(parser, "ALTER INDEX"); return NULL;
    case KW_SCHEMA: (void)not_supported(parser, "ALTER SCHEMA"); return NULL;
    default: return refuse_object(parser, "ALTER");
    }
}

/* --- DROP --- */
static bool parse_if_exists(Parser *parser, bool *out)
{
    *out = accept_keyword(parser, KW_IF);
    return !*out || expect_keyword(parser, KW_EXISTS);
}

/* DROP TABLE a, b: a statement each. */
static Stmt *parse_drop_objects(Parser *parser, StmtKind kind)
{
    StmtList list      = {0};
    int32_t  line      = line_of(parser);
    bool     if_exists = false;

    advance(parser);
    if (!parse_if_exists(parser, &if_exists)) return NULL;
    do {
        size_t first = parser->at;
        Stmt  *stmt  = stmt_new(parser, kind);
        stmt->line   = line;
        if (!parse_object_name(parser, &stmt->object)) return NULL;
        stmt->if_exists = if_exists;
        stmt->source    = str_slice(parser->lexer.source, parser->tokens.items[first].start,
                                    parser->tokens.items[parser->at - 1].end);
        *LIST_PUSH(parser->arena, &list) = stmt;
    } while (accept_op(parser, ','));
    return stmt_block_of(parser, &list, line);
}

/* DROP INDEX name ON table, or table.name. */
static Stmt *parse_drop_index(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_DROP_INDEX);

    advance(parser);
    if (!parse_if_exists(parser, &stmt->if_exists)) return NULL;
    if (!parse_object_name(parser, &stmt->object)) return NULL;
    if (accept_keyword(parser, KW_ON)) {
        stmt->name = stmt->object.name;
        if (!parse_object_name(parser, &stmt->object)) return NULL;
        if (is_keyword(parser, KW_WITH) && is_op_at(parser, 1, '(')) {
            advance(parser);
            if (!skip_parens(parser)) return NULL;
        }
    } else {
        if (stmt->object.schema.len == 0) return fail(parser);
        stmt->name            = stmt->object.name;
        stmt->object.name     = stmt->object.schema;
        stmt->object.schema   = stmt->object.database;
        stmt->object.database = STR_EMPTY;
    }
    if (is_op(parser, ',')) {
        (void)not_supported(parser, "several indexes in one DROP INDEX");
        return NULL;
    }
    return stmt;
}

Stmt *parse_drop(Parser *parser)
{
    advance(parser);
    switch (peek(parser, 0)->keyword) {
    case KW_TABLE: return parse_drop_objects(parser, STMT_DROP_TABLE);
    case KW_SCHEMA: return parse_drop_objects(parser, STMT_DROP_SCHEMA);
    case KW_DATABASE: return parse_drop_objects(parser, STMT_DROP_DATABASE);
    case KW_INDEX: return parse_drop_index(parser);
    case KW_PROC:
    case KW_PROCEDURE:
    case KW_VIEW: return parse_drop_module(parser);
    case KW_LOGIN:
    case KW_USER:
    case KW_ROLE: return parse_drop_principal(parser);
    case KW_SERVER: (void)not_supported(parser, "DROP SERVER ROLE"); return NULL;
    default: return refuse_object(parser, "DROP");
    }
}

Stmt *parse_use(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_USE);

    advance(parser);
    if (!expect_name(parser, &stmt->name)) return NULL;
    stmt->object = (ObjectName){
        .name = stmt->name, .schema = STR_EMPTY, .database = STR_EMPTY, .line = stmt->line};
    return stmt;
}
