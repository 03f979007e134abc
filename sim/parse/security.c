/* Logins, users, roles, GRANT, DENY and REVOKE. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

static void add_word(Parser *parser, Stmt *stmt, Str word)
{
    *LIST_PUSH(parser->arena, &stmt->words) = word;
}

/* name = value [, name = value]: of these options a login's language alone matters. */
static bool skip_settings(Parser *parser, Stmt *stmt)
{
    do {
        if (peek(parser, 0)->kind != TOKEN_WORD) return syntax_error(parser);
        bool is_language = is_word(parser, "DEFAULT_LANGUAGE");
        advance(parser);
        if (!expect_op(parser, '=')) return false;
        if (peek(parser, 0)->kind == TOKEN_END || peek(parser, 0)->kind == TOKEN_OPERATOR)
            return syntax_error(parser);
        if (is_language) stmt->variable = peek(parser, 0)->text;
        advance(parser);
    } while (accept_op(parser, ','));
    return true;
}

/* --- LOGIN --- */
static Stmt *parse_create_login(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_LOGIN);

    advance(parser);
    if (!expect_name(parser, &stmt->name)) return NULL;
    if (is_keyword(parser, KW_FROM)) {
        (void)not_supported(parser, "a login from Windows or a certificate");
        return NULL;
    }
    if (!expect_keyword(parser, KW_WITH)) return NULL;
    if (!accept_word(parser, "PASSWORD") || !expect_op(parser, '=')) return fail(parser);
    if (peek(parser, 0)->kind != TOKEN_STRING && peek(parser, 0)->kind != TOKEN_NSTRING) {
        if (peek(parser, 0)->kind == TOKEN_BINARY) (void)not_supported(parser, "a hashed password");
        return fail(parser);
    }
    Expr *password                         = parse_literal(parser);
    *LIST_PUSH(parser->arena, &stmt->args) = password;
    (void)accept_word(parser, "MUST_CHANGE");
    if (accept_op(parser, ',') && !skip_settings(parser, stmt)) return NULL;
    return stmt;
}

/* --- USER --- */
static Stmt *parse_create_user(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_USER);

    stmt->object = (ObjectName){
        .name = STR_EMPTY, .schema = STR_EMPTY, .database = STR_EMPTY, .line = stmt->line};
    advance(parser);
    if (!expect_name(parser, &stmt->name)) return NULL;
    if (accept_word(parser, "WITHOUT")) {
        if (!expect_keyword(parser, KW_LOGIN)) return NULL;
        add_word(parser, stmt, STR("WITHOUT LOGIN"));
    } else if (accept_keyword(parser, KW_FOR) || accept_keyword(parser, KW_FROM)) {
        if (!is_keyword(parser, KW_LOGIN)) {
            (void)not_supported(parser, "a user from a certificate or key");
            return NULL;
        }
        advance(parser);
        if (!expect_name(parser, &stmt->object.name)) return NULL;
    }
    if (accept_keyword(parser, KW_WITH)) {
        if (is_word(parser, "PASSWORD")) {
            (void)not_supported(parser, "a contained user");
            return NULL;
        }
        if (!skip_settings(parser, stmt)) return NULL;
    }
    return stmt;
}

static Stmt *parse_create_role(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_CREATE_ROLE);
    Str   owner;

    advance(parser);
    if (!expect_name(parser, &stmt->name)) return NULL;
    if (accept_keyword(parser, KW_AUTHORIZATION) && !expect_name(parser, &owner)) return NULL;
    return stmt;
}

Stmt *parse_create_principal(Parser *parser)
{
    switch (peek(parser, 0)->keyword) {
    case KW_LOGIN: return parse_create_login(parser);
    case KW_USER: return parse_create_user(parser);
    default: return parse_create_role(parser);
    }
}

/* ALTER [SERVER] ROLE role ADD|DROP MEMBER name */
Stmt *parse_alter_role(Parser *parser)
{
    Stmt *stmt      = stmt_new(parser, STMT_ALTER_ROLE);
    bool  is_server = accept_keyword(parser, KW_SERVER);

    stmt->object = (ObjectName){.schema = STR_EMPTY, .database = STR_EMPTY, .line = stmt->line};
    if (!expect_keyword(parser, KW_ROLE) || !expect_name(parser, &stmt->object.name)) return NULL;
    if (!is_keyword(parser, KW_ADD) && !is_keyword(parser, KW_DROP)) {
        if (is_keyword(parser, KW_WITH)) (void)not_supported(parser, "renaming a role");
        return is_keyword(parser, KW_WITH) ? NULL : fail(parser);
    }
    add_word(parser, stmt, is_keyword(parser, KW_ADD) ? STR("ADD") : STR("DROP"));
    advance(parser);
    if (is_server) add_word(parser, stmt, STR("SERVER"));
    if (!expect_keyword(parser, KW_MEMBER) || !expect_name(parser, &stmt->name)) return NULL;
    return stmt;
}

Stmt *parse_drop_principal(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_DROP_PRINCIPAL);

    add_word(parser, stmt, upper_of(parser, peek(parser, 0)->text));
    advance(parser);
    if (accept_keyword(parser, KW_IF)) {
        if (!expect_keyword(parser, KW_EXISTS)) return NULL;
        stmt->if_exists = true;
    }
    return expect_name(parser, &stmt->name) ? stmt : NULL;
}

/* ALTER LOGIN name ENABLE | DISABLE | WITH PASSWORD = 'x' [OLD_PASSWORD = 'y'], NAME = z, ... */
Stmt *parse_alter_login(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_ALTER_LOGIN);

    stmt->object = (ObjectName){
        .name = STR_EMPTY, .schema = STR_EMPTY, .database = STR_EMPTY, .line = stmt->line};
    advance(parser);
    if (!expect_name(parser, &stmt->name)) return NULL;
    if (is_keyword(parser, KW_ENABLE) || is_keyword(parser, KW_DISABLE)) {
        add_word(parser, stmt, is_keyword(parser, KW_ENABLE) ? STR("ENABLE") : STR("DISABLE"));
        advance(parser);
        return stmt;
    }
    if (!expect_keyword(parser, KW_WITH)) return NULL;
    do {
        if (accept_word(parser, "PASSWORD")) {
            if (!expect_op(parser, '=')) return NULL;
            if (peek(parser, 0)->kind != TOKEN_STRING && peek(parser, 0)->kind != TOKEN_NSTRING)
                return fail(parser);
            Expr *password                         = parse_literal(parser);
            *LIST_PUSH(parser->arena, &stmt->args) = password;
            if (accept_word(parser, "OLD_PASSWORD")) {
                if (!expect_op(parser, '=')) return NULL;
                advance(parser);
            }
            while (accept_word(parser, "MUST_CHANGE") || accept_word(parser, "UNLOCK")) {
            }
        } else if (accept_word(parser, "NAME")) {
            if (!expect_op(parser, '=') || !expect_name(parser, &stmt->object.name)) return NULL;
        } else {
            static const char *const without_effect[] = {"DEFAULT_DATABASE", "DEFAULT_LANGUAGE",
                                                         "CHECK_POLICY", "CHECK_EXPIRATION"};
            bool                     found            = false;
            bool                     is_language      = is_word(parser, "DEFAULT_LANGUAGE");
            for (size_t i = 0; i < COUNT_OF(without_effect) && !found; i++)
                found = accept_word(parser, without_effect[i]);
            if (!found || !expect_op(parser, '=')) return found ? NULL : fail(parser);
            if (is_language) stmt->variable = peek(parser, 0)->text;
            advance(parser);
        }
    } while (accept_op(parser, ','));
    return stmt;
}

/* EXECUTE AS USER = 'name', LOGIN = 'name' or CALLER; at AS. */
Stmt *parse_execute_as(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_EXECUTE_AS);

    advance(parser);
    if (accept_word(parser, "CALLER")) {
        add_word(parser, stmt, STR("CALLER"));
        return stmt;
    }
    if (!is_keyword(parser, KW_USER) && !is_keyword(parser, KW_LOGIN)) return fail(parser);
    add_word(parser, stmt, is_keyword(parser, KW_USER) ? STR("USER") : STR("LOGIN"));
    advance(parser);
    if (!expect_op(parser, '=')) return NULL;
    stmt->expr = parse_expr(parser);
    if (stmt->expr == NULL) return NULL;
    if (!is_keyword(parser, KW_WITH)) return stmt;
    advance(parser);
    if (is_word(parser, "COOKIE")) {
        (void)not_supported(parser, "EXECUTE AS WITH COOKIE");
        return NULL;
    }
    if (!accept_word(parser, "NO") || !expect_keyword(parser, KW_REVERT)) return NULL;
    add_word(parser, stmt, STR("NO_REVERT"));
    return stmt;
}

Stmt *parse_revert(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_REVERT);

    advance(parser);
    if (is_keyword(parser, KW_WITH) && peek(parser, 1)->kind == TOKEN_WORD &&
        str_equal_ignoring_case(peek(parser, 1)->text, STR("COOKIE"))) {
        (void)not_supported(parser, "REVERT WITH COOKIE");
        return NULL;
    }
    return stmt;
}

/* --- GRANT --- */
/* One permission: words up to a comma, a parenthesis, ON or TO, as one text. */
static bool parse_permission(Parser *parser, Stmt *stmt)
{
    Str text = STR_EMPTY;

    while (peek(parser, 0)->kind == TOKEN_WORD && !is_keyword(parser, KW_ON) &&
           !is_keyword(parser, KW_TO) && !is_keyword(parser, KW_FROM)) {
        Str word = upper_of(parser, peek(parser, 0)->text);
        if (text.len > 0)
            word = str_printf(parser->arena, "%.*s %.*s", STR_ARG(text), STR_ARG(word));
        text = word;
        advance(parser);
    }
    if (text.len == 0) return syntax_error(parser);
    if (str_equal(text, STR("EXEC"))) text = STR("EXECUTE");
    add_word(parser, stmt, text);
    return !is_op(parser, '(') || parse_name_list(parser, &stmt->grant_columns);
}

static bool parse_securable(Parser *parser, Stmt *stmt)
{
    if (!accept_keyword(parser, KW_ON)) return true;
    if (peek(parser, 0)->kind == TOKEN_WORD && is_op_at(parser, 1, OP_SCOPE)) {
        stmt->grant_class = upper_of(parser, peek(parser, 0)->text);
        advance(parser);
        advance(parser);
    }
    if (!parse_object_name(parser, &stmt->object)) return false;
    return !is_op(parser, '(') || parse_name_list(parser, &stmt->grant_columns);
}

Stmt *parse_grant(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_GRANT);
    Str   name;

    stmt->grant       = is_keyword(parser, KW_GRANT)  ? GRANT_GRANT
                        : is_keyword(parser, KW_DENY) ? GRANT_DENY
                                                      : GRANT_REVOKE;
    stmt->grant_class = STR_EMPTY;
    stmt->object.name = STR_EMPTY;
    advance(parser);
    if (stmt->grant == GRANT_REVOKE && is_keyword(parser, KW_GRANT) &&
        is_keyword_at(parser, 1, KW_OPTION)) {
        (void)not_supported(parser, "REVOKE GRANT OPTION FOR");
        return NULL;
    }
    do {
        if (!parse_permission(parser, stmt)) return NULL;
    } while (accept_op(parser, ','));
    if (!parse_securable(parser, stmt)) return NULL;
    if (!accept_keyword(parser, KW_TO) &&
        !(stmt->grant == GRANT_REVOKE && accept_keyword(parser, KW_FROM)))
        return fail(parser);
    do {
        if (accept_keyword(parser, KW_PUBLIC))
            name = STR("public");
        else if (!expect_name(parser, &name))
            return NULL;
        *LIST_PUSH(parser->arena, &stmt->principals) = name;
    } while (accept_op(parser, ','));
    if (is_keyword(parser, KW_WITH) && is_keyword_at(parser, 1, KW_GRANT)) {
        advance(parser);
        advance(parser);
        if (!expect_keyword(parser, KW_OPTION)) return NULL;
    }
    (void)accept_keyword(parser, KW_CASCADE);
    if (accept_keyword(parser, KW_AS) && !expect_name(parser, &name)) return NULL;
    return stmt;
}
