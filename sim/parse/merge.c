/* MERGE. */
#include "sim/parse/parse_internal.h"

static bool parse_update_action(Parser *parser, MergeClause *clause)
{
    clause->action = STMT_UPDATE;
    if (!expect_keyword(parser, KW_SET)) return false;
    do {
        Assignment assignment;
        if (!parse_assignment(parser, &assignment)) return false;
        *LIST_PUSH(parser->arena, &clause->assignments) = assignment;
    } while (accept_op(parser, ','));
    return true;
}

static bool parse_insert_action(Parser *parser, MergeClause *clause)
{
    RowList rows = {0};

    clause->action = STMT_INSERT;
    if (is_op(parser, '(') && !parse_name_list(parser, &clause->columns)) return false;
    if (accept_keyword(parser, KW_DEFAULT)) {
        clause->default_values = true;
        return expect_keyword(parser, KW_VALUES);
    }
    if (!expect_keyword(parser, KW_VALUES) || !parse_row_list(parser, &rows)) return false;
    if (rows.count != 1) return syntax_error(parser);
    clause->values = rows.items[0];
    return true;
}

/* WHEN [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action */
static bool parse_when(Parser *parser, Stmt *stmt)
{
    MergeClause clause = {.when = MERGE_MATCHED, .line = line_of(parser)};
    bool        is_not;

    advance(parser);
    is_not = accept_keyword(parser, KW_NOT);
    if (!accept_word(parser, "MATCHED")) return syntax_error(parser);
    if (is_not) clause.when = MERGE_NOT_MATCHED;
    if (is_not && accept_keyword(parser, KW_BY)) {
        if (accept_word(parser, "SOURCE"))
            clause.when = MERGE_NOT_MATCHED_BY_SOURCE;
        else if (!accept_word(parser, "TARGET"))
            return syntax_error(parser);
    }
    if (accept_keyword(parser, KW_AND)) {
        clause.condition = parse_condition(parser);
        if (clause.condition == NULL) return false;
    }
    if (!expect_keyword(parser, KW_THEN)) return false;
    if (clause.when == MERGE_NOT_MATCHED) {
        if (!is_keyword(parser, KW_INSERT) &&
            (is_keyword(parser, KW_UPDATE) || is_keyword(parser, KW_DELETE)))
            return parse_fail(parser, line_of(parser), 10711,
                              "An action of type '%.*s' is not allowed in the 'WHEN NOT MATCHED' "
                              "clause of a MERGE statement.",
                              STR_ARG(upper_of(parser, peek(parser, 0)->text)));
        if (!expect_keyword(parser, KW_INSERT) || !parse_insert_action(parser, &clause))
            return false;
    } else if (accept_keyword(parser, KW_UPDATE)) {
        if (!parse_update_action(parser, &clause)) return false;
    } else if (accept_keyword(parser, KW_DELETE)) {
        clause.action = STMT_DELETE;
    } else if (is_keyword(parser, KW_INSERT)) {
        return parse_fail(parser, line_of(parser), 10711,
                          "An action of type 'INSERT' is not allowed in the 'WHEN MATCHED' clause "
                          "of a MERGE statement.");
    } else {
        return syntax_error(parser);
    }
    *LIST_PUSH(parser->arena, &stmt->merge) = clause;
    return true;
}

/* At most two clauses of a kind, the first of them with AND; one INSERT. */
static bool check_clauses(Parser *parser, const Stmt *stmt)
{
    static const char *const names[] = {"WHEN MATCHED", "WHEN NOT MATCHED",
                                        "WHEN NOT MATCHED BY SOURCE"};

    for (size_t i = 0; i < stmt->merge.count; i++)
        for (size_t k = 0; k < i; k++) {
            const MergeClause *one = &stmt->merge.items[k], *two = &stmt->merge.items[i];
            if (one->when != two->when) continue;
            if (!one->condition)
                return parse_fail(parser, two->line, 5324,
                                  "In a MERGE statement, a '%s' clause with a search condition "
                                  "cannot appear after a '%s' clause with no search condition.",
                                  names[one->when], names[one->when]);
            if (one->action == two->action)
                return parse_fail(parser, two->line, 10714,
                                  "An action of type '%s' cannot appear more than once in a '%s' "
                                  "clause of a MERGE statement.",
                                  one->action == STMT_UPDATE   ? "UPDATE"
                                  : one->action == STMT_DELETE ? "DELETE"
                                                               : "INSERT",
                                  names[one->when]);
        }
    return true;
}

Stmt *parse_merge(Parser *parser, CommonTableList *with)
{
    Stmt    *stmt    = stmt_new(parser, STMT_MERGE);
    NameList ignored = {0};

    if (with != NULL) stmt->with = *with;
    advance(parser);
    if (!parse_dml_top(parser, stmt)) return NULL;
    (void)accept_keyword(parser, KW_INTO);
    if (!parse_target(parser, stmt)) return NULL;
    stmt->name = STR_EMPTY;
    if (accept_keyword(parser, KW_AS)) {
        if (!expect_name(parser, &stmt->name)) return NULL;
    } else if (is_name(parser) && !is_keyword(parser, KW_USING)) {
        if (!expect_name(parser, &stmt->name)) return NULL;
    }
    if (!expect_keyword(parser, KW_USING)) return NULL;
    stmt->from = parse_sources(parser);
    if (stmt->from == NULL || !expect_keyword(parser, KW_ON)) return NULL;
    stmt->where = parse_condition(parser);
    if (stmt->where == NULL) return NULL;
    if (!is_keyword(parser, KW_WHEN)) {
        (void)syntax_error(parser);
        return NULL;
    }
    while (is_keyword(parser, KW_WHEN))
        if (!parse_when(parser, stmt)) return NULL;
    if (!check_clauses(parser, stmt)) return NULL;
    if (!parse_output(parser, stmt) || !parse_options(parser, &ignored)) return NULL;
    if (!is_op(parser, ';')) {
        (void)parse_fail(parser, parser->tokens.items[parser->at - 1].line, 10713,
                         "A MERGE statement must be terminated by a semi-colon (;).");
        return NULL;
    }
    return stmt;
}
