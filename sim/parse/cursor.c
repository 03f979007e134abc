/* Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE. */
#include "sim/parse/parse_internal.h"

static Stmt *fail(Parser *parser)
{
    (void)syntax_error(parser);
    return NULL;
}

static bool is_option_at(Parser *parser, size_t offset)
{
    static const char *const words[] = {"INSENSITIVE", "SCROLL"};
    const Token             *token   = peek(parser, offset);

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (token->kind == TOKEN_WORD && str_equal_ignoring_case(token->text, str_from_c(words[i])))
            return true;
    return false;
}

bool starts_cursor(Parser *parser)
{
    size_t at = 1;

    if (!is_name(parser)) return false;
    while (is_option_at(parser, at))
        at++;
    return is_keyword_at(parser, at, KW_CURSOR);
}

/* What this server has no behaviour for is refused: rows are read when the cursor opens. */
static bool check_options(Parser *parser, const Stmt *stmt)
{
    static const char *const refused[] = {"KEYSET", "DYNAMIC", "SCROLL_LOCKS", "OPTIMISTIC",
                                          "TYPE_WARNING"};

    for (size_t i = 0; i < stmt->words.count; i++)
        for (size_t k = 0; k < COUNT_OF(refused); k++)
            if (str_equal_c(stmt->words.items[i], refused[k]))
                return not_supported(parser,
                                     str_printf(parser->arena, "a %s cursor", refused[k]).ptr);
    return true;
}

static bool parse_cursor_words(Parser *parser, Stmt *stmt)
{
    static const char *const known[] = {
        "LOCAL",      "GLOBAL",       "FORWARD_ONLY", "SCROLL",    "STATIC",
        "KEYSET",     "DYNAMIC",      "FAST_FORWARD", "READ_ONLY", "SCROLL_LOCKS",
        "OPTIMISTIC", "TYPE_WARNING", "INSENSITIVE"};

    for (;;) {
        bool found = false;
        for (size_t i = 0; i < COUNT_OF(known) && !found; i++) {
            found = accept_word(parser, known[i]);
            if (found) *LIST_PUSH(parser->arena, &stmt->words) = str_from_c(known[i]);
        }
        if (!found) return check_options(parser, stmt);
    }
}

Stmt *parse_declare_cursor(Parser *parser)
{
    Stmt *stmt = stmt_new(parser, STMT_DECLARE_CURSOR);

    if (!expect_name(parser, &stmt->name) || !parse_cursor_words(parser, stmt) ||
        !expect_keyword(parser, KW_CURSOR) || !parse_cursor_words(parser, stmt) ||
        !expect_keyword(parser, KW_FOR))
        return NULL;
    stmt->select = parse_query(parser, true);
    if (stmt->select == NULL) return NULL;
    if (!accept_keyword(parser, KW_FOR)) return stmt;
    if (accept_keyword(parser, KW_READ)) return expect_keyword(parser, KW_ONLY) ? stmt : NULL;
    (void)not_supported(parser, "a cursor FOR UPDATE");
    return NULL;
}

static bool parse_cursor_name(Parser *parser, Stmt *stmt)
{
    if (is_word(parser, "GLOBAL") && is_name_at(parser, 1)) {
        advance(parser);
        *LIST_PUSH(parser->arena, &stmt->words) = STR("GLOBAL");
    }
    if (peek(parser, 0)->kind == TOKEN_VARIABLE) return not_supported(parser, "a cursor variable");
    return expect_name(parser, &stmt->name);
}

Stmt *parse_open_cursor(Parser *parser)
{
    StmtKind kind = is_keyword(parser, KW_OPEN)    ? STMT_OPEN_CURSOR
                    : is_keyword(parser, KW_CLOSE) ? STMT_CLOSE_CURSOR
                                                   : STMT_DEALLOCATE;
    Stmt    *stmt = stmt_new(parser, kind);

    advance(parser);
    if (kind == STMT_OPEN_CURSOR && is_word(parser, "SYMMETRIC")) {
        (void)not_supported(parser, "OPEN SYMMETRIC KEY");
        return NULL;
    }
    return parse_cursor_name(parser, stmt) ? stmt : NULL;
}

Stmt *parse_fetch(Parser *parser)
{
    static const char *const places[] = {"NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE"};
    Stmt                    *stmt     = stmt_new(parser, STMT_FETCH);
    Str                      place    = STR_EMPTY;

    advance(parser);
    for (size_t i = 0; i < COUNT_OF(places) && place.len == 0; i++)
        if (accept_word(parser, places[i])) place = str_from_c(places[i]);
    *LIST_PUSH(parser->arena, &stmt->words) = place.len > 0 ? place : STR("NEXT");
    if (str_equal_c(place, "ABSOLUTE") || str_equal_c(place, "RELATIVE")) {
        stmt->expr = parse_expr(parser);
        if (stmt->expr == NULL) return NULL;
    }
    if (!accept_keyword(parser, KW_FROM) && place.len > 0) return fail(parser);
    if (!parse_cursor_name(parser, stmt)) return NULL;
    if (!accept_keyword(parser, KW_INTO)) return stmt;
    do {
        if (peek(parser, 0)->kind != TOKEN_VARIABLE) return fail(parser);
        *LIST_PUSH(parser->arena, &stmt->into) = peek(parser, 0)->text;
        advance(parser);
    } while (accept_op(parser, ','));
    return stmt;
}
