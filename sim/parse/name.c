/* Names of several parts, lists of names, types. */
#include "sim/parse/parse_internal.h"

/* Of our own procedures one is named by a reserved word, which stands for itself behind our schema. */
static bool accept_own_name(Parser *parser, const Str *parts, size_t count, Str *out)
{
    if (count == 0 || !str_equal_ignoring_case(parts[count - 1], STR("tidesim"))) return false;
    *out = STR("load");
    return accept_keyword(parser, KW_LOAD);
}

/* a.b.c.d with any of the inner parts left out. */
bool parse_object_name(Parser *parser, ObjectName *out)
{
    Str    parts[4] = {{0}};
    size_t count    = 0;

    *out      = (ObjectName){.line = line_of(parser)};
    out->name = STR_EMPTY;
    for (;;) {
        if (count == COUNT_OF(parts))
            return parse_fail(parser, out->line, 117,
                              "The object name contains more than the maximum number of prefixes. "
                              "The maximum is 3.");
        parts[count] = STR_EMPTY;
        if (is_op(parser, '.')) {
            count++; /* an empty part */
        } else {
            if (!accept_own_name(parser, parts, count, &parts[count]) &&
                !expect_name(parser, &parts[count]))
                return false;
            count++;
        }
        if (!accept_op(parser, '.')) break;
    }
    if (parts[count - 1].len == 0) return syntax_error(parser);
    if (count == 4 && parts[0].len > 0) return not_supported(parser, "a linked server");
    out->name     = parts[count - 1];
    out->schema   = count >= 2 ? parts[count - 2] : STR_EMPTY;
    out->database = count >= 3 ? parts[count - 3] : STR_EMPTY;
    return true;
}

bool parse_name_list(Parser *parser, NameList *out)
{
    if (!expect_op(parser, '(')) return false;
    do {
        Str name;
        if (!expect_name(parser, &name)) return false;
        *LIST_PUSH(parser->arena, out) = name;
    } while (accept_op(parser, ','));
    return expect_op(parser, ')');
}

bool parse_integer(Parser *parser, int64_t *out)
{
    bool negative = accept_op(parser, '-');

    if (!negative) (void)accept_op(parser, '+');
    if (peek(parser, 0)->kind != TOKEN_INTEGER) return syntax_error(parser);
    if (!str_parse_i64(peek(parser, 0)->text, out)) return syntax_error(parser);
    if (negative) *out = -*out;
    advance(parser);
    return true;
}

static bool parse_type_argument(Parser *parser, int64_t *out)
{
    if (accept_keyword(parser, KW_MAX)) {
        *out = -2;
        return true;
    }
    return parse_integer(parser, out);
}

/* The name of a type: one word, or the standard's several; with a schema in front it must be
 * ours. */
static bool parse_type_name(Parser *parser, Str *out)
{
    const Token *token = peek(parser, 0);

    if (token->kind == TOKEN_WORD && token->keyword == KW_NATIONAL) {
        advance(parser);
        bool is_text = is_word(parser, "TEXT");
        if (!is_text && !is_word(parser, "CHARACTER") && !is_word(parser, "CHAR"))
            return syntax_error(parser);
        advance(parser);
        *out = is_text                              ? STR("ntext")
               : accept_keyword(parser, KW_VARYING) ? STR("nvarchar")
                                                    : STR("nchar");
        return true;
    }
    if (accept_keyword(parser, KW_DOUBLE)) {
        *out = STR("float");
        return expect_keyword(parser, KW_PRECISION);
    }
    if (accept_keyword(parser, KW_CURSOR)) return not_supported(parser, "a cursor variable");
    if (!expect_name(parser, out)) return false;
    if (accept_op(parser, '.') && !expect_name(parser, out)) return false;
    if (!is_keyword(parser, KW_VARYING)) return true;
    bool is_char = str_equal_ignoring_case(*out, STR("char")) ||
                   str_equal_ignoring_case(*out, STR("character"));
    if (!is_char && !str_equal_ignoring_case(*out, STR("binary"))) return syntax_error(parser);
    advance(parser);
    *out = is_char ? STR("varchar") : STR("varbinary");
    return true;
}

bool parse_type(Parser *parser, bool for_cast, SimType *out)
{
    Str      name   = STR_EMPTY;
    int32_t  line   = line_of(parser);
    int64_t  first  = -1;
    int64_t  second = -1;
    SimError error  = SIM_ERROR_INIT;

    if (!parse_type_name(parser, &name)) return false;
    if (accept_op(parser, '(')) {
        if (!parse_type_argument(parser, &first)) return false;
        if (accept_op(parser, ',') && !parse_type_argument(parser, &second)) return false;
        if (!expect_op(parser, ')')) return false;
        if (first == -1) first = 0; /* a written -1 is a wrong length, not a missing one */
    }
    if (sim_type_make(name, first, second, for_cast, out, &error)) return true;
    (void)parse_fail(parser, line, error.number, "%s", error.message);
    parser->error->of_2025 = sim_type_of_2025(name);
    return false;
}
