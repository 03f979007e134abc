/* INSERT BULK: the statement by which a client announces rows that come as bytes (sqlserver.md 2.9). */
#include "sim/parse/parse_internal.h"

static const char *const plain_hints[]   = {"CHECK_CONSTRAINTS", "FIRE_TRIGGERS", "KEEP_NULLS",
                                            "KEEP_IDENTITY",     "KEEPIDENTITY",  "TABLOCK"};
static const char *const counted_hints[] = {"ROWS_PER_BATCH", "KILOBYTES_PER_BATCH"};

static bool accept_any(Parser *parser, const char *const *words, size_t count, Str *out)
{
    for (size_t i = 0; i < count; i++)
        if (accept_word(parser, words[i])) {
            *out = str_from_c(words[i]);
            return true;
        }
    return false;
}

static bool parse_hint(Parser *parser, Stmt *stmt)
{
    int64_t count = 0;
    Str     hint  = STR_EMPTY;

    if (is_keyword(parser, KW_ORDER)) {
        advance(parser);
        return parse_key_columns(parser, &stmt->keys);
    }
    if (accept_any(parser, counted_hints, COUNT_OF(counted_hints), &hint))
        return expect_op(parser, '=') && parse_integer(parser, &count);
    if (!accept_any(parser, plain_hints, COUNT_OF(plain_hints), &hint)) return syntax_error(parser);
    *LIST_PUSH(parser->arena, &stmt->words) = hint;
    return true;
}

static bool parse_column(Parser *parser, Stmt *stmt)
{
    ColumnDef *column = LIST_PUSH(parser->arena, &stmt->column_defs);

    *column = (ColumnDef){.line = line_of(parser)};
    if (!expect_name(parser, &column->name) || !parse_type(parser, false, &column->type))
        return false;
    if (accept_keyword(parser, KW_COLLATE) && !expect_name(parser, &column->collation))
        return false;
    if (accept_keyword(parser, KW_NULL)) return true;
    return !accept_keyword(parser, KW_NOT) || expect_keyword(parser, KW_NULL);
}

Stmt *parse_insert_bulk(Parser *parser, Stmt *stmt)
{
    stmt->kind = STMT_INSERT_BULK;
    advance(parser);
    if (!parse_object_name(parser, &stmt->object) || !expect_op(parser, '(')) return NULL;
    do {
        if (!parse_column(parser, stmt)) return NULL;
    } while (accept_op(parser, ','));
    if (!expect_op(parser, ')')) return NULL;
    if (!accept_keyword(parser, KW_WITH)) return stmt;
    if (!expect_op(parser, '(')) return NULL;
    do {
        if (!parse_hint(parser, stmt)) return NULL;
    } while (accept_op(parser, ','));
    return expect_op(parser, ')') ? stmt : NULL;
}
