/* The lexer of T-SQL. Bytes above 127 are letters, apart from the blanks among them. */
#include "sim/parse/lex.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "tds/tds_packet.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *text;
    bool        is_reserved;
} words[] = {
    {"", false},
#define X(word, reserved) {#word, (reserved) != 0},
    SQL_WORDS(X)
#undef X
};
/* clang-format on */

bool keyword_is_reserved(Keyword keyword)
{
    return words[keyword].is_reserved;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || !is_ascii(c);
}

static bool is_name_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '@' || c == '#' || c == '$';
}

static int compare_word(Str text, const char *word)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i] >= 'a' && text.ptr[i] <= 'z' ? (char)(text.ptr[i] - 32) : text.ptr[i];
        if (c != word[i]) return (unsigned char)c < (unsigned char)word[i] ? -1 : 1;
    }
    return word[text.len] == '\0' ? 0 : -1;
}

static Keyword find_keyword(Str text)
{
    size_t lo = 1;
    size_t hi = COUNT_OF(words);

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        int    order  = compare_word(text, words[middle].text);
        if (order == 0) return (Keyword)middle;
        if (order < 0)
            hi = middle;
        else
            lo = middle + 1;
    }
    return KW_NONE;
}

static char at_offset(const Lexer *lexer, size_t offset)
{
    size_t at = lexer->at + offset;

    return at < lexer->source.len ? lexer->source.ptr[at] : '\0';
}

static bool is_at_end(const Lexer *lexer)
{
    return lexer->at >= lexer->source.len;
}

static Token fail(Lexer *lexer, Token token)
{
    lexer->failed      = true;
    lexer->error->line = token.line;
    lexer->at          = lexer->source.len;
    token.kind         = TOKEN_END;
    return token;
}

/* The bytes of a blank at the current place, 0 if there is none. */
static size_t blank_length(const Lexer *lexer)
{
    unsigned char c = (unsigned char)at_offset(lexer, 0);

    if (c < 0x80) return !is_at_end(lexer) && c <= ' ' ? 1 : 0;
    size_t   at    = lexer->at;
    uint32_t point = utf8_next(lexer->source, &at);
    bool     blank = point == 0xA0 || point == 0x3000 || point == 0xFEFF ||
                 (point >= 0x2000 && point <= 0x200B) || point == 0x202F;
    return blank ? at - lexer->at : 0;
}

static bool skip_comment(Lexer *lexer)
{
    int32_t start = lexer->line;
    size_t  depth = 0;

    do {
        if (is_at_end(lexer)) {
            Token token = {.line = start};
            sim_error(lexer->error, 113, "Missing end comment mark '*/'.");
            (void)fail(lexer, token);
            return false;
        }
        char c    = at_offset(lexer, 0);
        char next = at_offset(lexer, 1);
        if (c == '\n') lexer->line++;
        if (c == '/' && next == '*') {
            depth++;
            lexer->at += 2;
        } else if (c == '*' && next == '/') {
            depth--;
            lexer->at += 2;
        } else {
            lexer->at++;
        }
    } while (depth > 0);
    return true;
}

static bool skip_blanks(Lexer *lexer)
{
    while (!is_at_end(lexer)) {
        size_t blank = blank_length(lexer);
        if (blank > 0) {
            if (at_offset(lexer, 0) == '\n') lexer->line++;
            lexer->at += blank;
        } else if (at_offset(lexer, 0) == '-' && at_offset(lexer, 1) == '-') {
            while (!is_at_end(lexer) && at_offset(lexer, 0) != '\n')
                lexer->at++;
        } else if (at_offset(lexer, 0) == '/' && at_offset(lexer, 1) == '*') {
            if (!skip_comment(lexer)) return false;
        } else {
            break;
        }
    }
    return true;
}

/* Text up to `quote`, which doubled stands for itself. The place is behind the opening quote. */
static bool read_quoted(Lexer *lexer, char quote, Token *token)
{
    size_t start       = lexer->at;
    size_t doubled     = 0;
    Str    source      = lexer->source;
    size_t shown_limit = 200;

    for (;;) {
        if (is_at_end(lexer)) {
            Str rest = str_slice(source, start, MIN(source.len, start + shown_limit));
            sim_error(lexer->error, 105,
                      "Unclosed quotation mark after the character string '%.*s'.", STR_ARG(rest));
            return false;
        }
        char c = at_offset(lexer, 0);
        if (c == '\n') lexer->line++;
        if (c == quote) {
            if (at_offset(lexer, 1) != quote) break;
            doubled++;
            lexer->at++;
        }
        lexer->at++;
    }
    token->text = str_slice(source, start, lexer->at);
    lexer->at++;
    if (doubled == 0) return true;
    char  *text = (char *)arena_alloc_uninit(lexer->arena, token->text.len - doubled + 1);
    size_t len  = 0;
    for (size_t i = 0; i < token->text.len; i++) {
        text[len++] = token->text.ptr[i];
        if (token->text.ptr[i] == quote) i++;
    }
    token->text = (Str){text, len};
    return true;
}

static bool check_name(Lexer *lexer, Str name)
{
    size_t units = 0;

    if (name.len == 0)
        return sim_error(lexer->error, 1038,
                         "An object or column name is missing or empty. For SELECT INTO "
                         "statements, verify each column has a name. For other "
                         "statements, look for empty alias names. Aliases defined as \"\" or [] "
                         "are not allowed. Change the alias to a valid name.");
    if (name.len <= LIMIT_IDENTIFIER_UNITS) return true;
    for (size_t at = 0; at < name.len;)
        units += utf8_next(name, &at) > 0xFFFF ? 2 : 1;
    if (units <= LIMIT_IDENTIFIER_UNITS) return true;
    Str start = tds_text_cut(name, LIMIT_IDENTIFIER_UNITS);
    return sim_error(lexer->error, 103,
                     "The identifier that starts with '%.*s' is too long. Maximum length is %d.",
                     STR_ARG(start), LIMIT_IDENTIFIER_UNITS);
}

static Token read_string(Lexer *lexer, Token token, TokenKind kind)
{
    lexer->at++;
    if (!read_quoted(lexer, '\'', &token)) return fail(lexer, token);
    token.kind = kind;
    return token;
}

static Token read_quoted_name(Lexer *lexer, Token token)
{
    char open = at_offset(lexer, 0);

    lexer->at++;
    if (!read_quoted(lexer, open == '[' ? ']' : '"', &token)) return fail(lexer, token);
    if (open == '"' && !lexer->quoted_identifier) {
        token.kind = TOKEN_STRING;
        return token;
    }
    if (!check_name(lexer, token.text)) return fail(lexer, token);
    token.kind = TOKEN_QUOTED;
    return token;
}

static void skip_digits(Lexer *lexer)
{
    while (is_digit(at_offset(lexer, 0)))
        lexer->at++;
}

static Token read_number(Lexer *lexer, Token token)
{
    token.kind = TOKEN_INTEGER;
    skip_digits(lexer);
    if (at_offset(lexer, 0) == '.') {
        token.kind = TOKEN_DECIMAL;
        lexer->at++;
        skip_digits(lexer);
    }
    char c = at_offset(lexer, 0);
    if (c == 'e' || c == 'E') { /* 1e alone is 1e0 */
        token.kind = TOKEN_FLOAT;
        lexer->at++;
        c = at_offset(lexer, 0);
        if ((c == '+' || c == '-') && is_digit(at_offset(lexer, 1))) lexer->at++;
        skip_digits(lexer);
    }
    token.text = str_slice(lexer->source, token.start, lexer->at);
    return token;
}

static Token read_binary(Lexer *lexer, Token token)
{
    lexer->at += 2;
    size_t start = lexer->at;
    while (!is_at_end(lexer) && hex_digit_value(at_offset(lexer, 0)) >= 0)
        lexer->at++;
    token.kind = TOKEN_BINARY;
    token.text = str_slice(lexer->source, start, lexer->at);
    return token;
}

/* $ 1.5, also with a sign behind the symbol. */
static Token read_money(Lexer *lexer, Token token, size_t symbol_length)
{
    lexer->at += symbol_length;
    size_t before = lexer->at;
    while (at_offset(lexer, 0) == ' ')
        lexer->at++;
    size_t start = lexer->at;
    skip_digits(lexer);
    if (at_offset(lexer, 0) == '.') lexer->at++;
    skip_digits(lexer);
    token.kind = TOKEN_MONEY;
    token.text = str_slice(lexer->source, start, lexer->at);
    if (token.text.len == 0) lexer->at = before;
    return token;
}

static Token read_name(Lexer *lexer, Token token)
{
    while (!is_at_end(lexer) && is_name_char(at_offset(lexer, 0)) &&
           (is_ascii(at_offset(lexer, 0)) || blank_length(lexer) == 0))
        lexer->at++;
    token.text = str_slice(lexer->source, token.start, lexer->at);
    token.kind = TOKEN_WORD;
    assert(token.text.len > 0);
    if (token.text.ptr[0] == '@')
        token.kind = token.text.len > 1 && token.text.ptr[1] == '@' ? TOKEN_GLOBAL : TOKEN_VARIABLE;
    if (!check_name(lexer, token.text)) return fail(lexer, token);
    if (token.kind == TOKEN_WORD) token.keyword = find_keyword(token.text);
    if (token.kind == TOKEN_GLOBAL) token.text = str_slice(token.text, 2, token.text.len);
    return token;
}

static const struct {
    char    text[3];
    int32_t op;
} long_operators[] = {
    {"<>", OP_NOT_EQUAL},     {"!=", OP_NOT_EQUAL},       {"<=", OP_LESS_EQUAL},
    {"!>", OP_LESS_EQUAL},    {">=", OP_GREATER_EQUAL},   {"!<", OP_GREATER_EQUAL},
    {"+=", OP_ADD_ASSIGN},    {"-=", OP_SUBTRACT_ASSIGN}, {"*=", OP_MULTIPLY_ASSIGN},
    {"/=", OP_DIVIDE_ASSIGN}, {"%=", OP_MODULO_ASSIGN},   {"&=", OP_AND_ASSIGN},
    {"|=", OP_OR_ASSIGN},     {"^=", OP_XOR_ASSIGN},      {"::", OP_SCOPE},
};

static Token read_operator(Lexer *lexer, Token token)
{
    char first  = at_offset(lexer, 0);
    char second = at_offset(lexer, 1);

    token.kind = TOKEN_OPERATOR;
    token.op   = (unsigned char)first;
    lexer->at++;
    for (size_t i = 0; i < COUNT_OF(long_operators); i++) {
        if (long_operators[i].text[0] != first || long_operators[i].text[1] != second) continue;
        token.op = long_operators[i].op;
        lexer->at++;
        break;
    }
    token.text = str_slice(lexer->source, token.start, lexer->at);
    return token;
}

/* Bytes of a currency sign in front of a money literal. */
static size_t currency_length(const Lexer *lexer)
{
    if (at_offset(lexer, 0) == '$') return is_letter(at_offset(lexer, 1)) ? 0 : 1;
    if (is_ascii(at_offset(lexer, 0))) return 0;
    size_t   at    = lexer->at;
    uint32_t point = utf8_next(lexer->source, &at);
    return point == 0xA2 || point == 0xA3 || point == 0xA4 || point == 0xA5 ||
                   (point >= 0x20A0 && point <= 0x20B1)
               ? at - lexer->at
               : 0;
}

Token lexer_next(Lexer *lexer)
{
    if (lexer->failed || !skip_blanks(lexer))
        return (Token){
            .kind = TOKEN_END, .line = lexer->line, .start = lexer->at, .end = lexer->at};
    Token token = {.kind = TOKEN_END, .line = lexer->line, .start = lexer->at, .end = lexer->at};
    if (is_at_end(lexer)) return token;
    char   c        = at_offset(lexer, 0);
    char   next     = at_offset(lexer, 1);
    size_t currency = currency_length(lexer);

    if (c == '\'') {
        token = read_string(lexer, token, TOKEN_STRING);
    } else if ((c == 'N' || c == 'n') && next == '\'') {
        lexer->at++;
        token = read_string(lexer, token, TOKEN_NSTRING);
    } else if (c == '[' || c == '"') {
        token = read_quoted_name(lexer, token);
    } else if (c == '0' && (next == 'x' || next == 'X')) {
        token = read_binary(lexer, token);
    } else if (is_digit(c) || (c == '.' && is_digit(next))) {
        token = read_number(lexer, token);
    } else if (currency > 0) {
        token = read_money(lexer, token, currency);
    } else if (is_letter(c) || c == '@' || c == '#' || c == '$') {
        token = read_name(lexer, token);
    } else {
        token = read_operator(lexer, token);
    }
    token.end = lexer->at;
    return token;
}
