/* sim_tree.h - what the parser of tests/../sim made of a text, as text again with every parenthesis
 * written out. */
#ifndef TIDELAKE_SUPPORT_SIM_TREE_H
#define TIDELAKE_SUPPORT_SIM_TREE_H

#include "support/test_support.h"

#include "base/buf.h"
#include "sim/parse/ast.h"

UNUSED static void tree_select(Buf *out, const Select *select);
UNUSED static void tree_expr(Buf *out, const Expr *expr);

UNUSED static void tree_list(Buf *out, const ExprList *list, size_t from)
{
    for (size_t i = from; i < list->count; i++) {
        if (i > from) buf_append_c(out, ", ");
        tree_expr(out, list->items[i]);
    }
}

UNUSED static void tree_names(Buf *out, const NameList *names, const char *between)
{
    for (size_t i = 0; i < names->count; i++) {
        if (i > 0) buf_append_c(out, between);
        buf_append(out, names->items[i]);
    }
}

UNUSED static void tree_order(Buf *out, const OrderList *order)
{
    for (size_t i = 0; i < order->count; i++) {
        if (i > 0) buf_append_c(out, ", ");
        tree_expr(out, order->items[i].expr);
        if (order->items[i].descending) buf_append_c(out, " DESC");
    }
}

UNUSED static void tree_name(Buf *out, const ObjectName *name)
{
    if (name->database.len > 0) buf_printf(out, "%.*s.", STR_ARG(name->database));
    if (name->schema.len > 0 || name->database.len > 0)
        buf_printf(out, "%.*s.", STR_ARG(name->schema));
    buf_append(out, name->name);
}

UNUSED static void tree_bound(Buf *out, const FrameBound *bound)
{
    static const char *const names[] = {"UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW",
                                        "FOLLOWING", "UNBOUNDED FOLLOWING"};

    if (bound->kind == FRAME_PRECEDING || bound->kind == FRAME_FOLLOWING)
        buf_printf(out, "%lld ", (long long)bound->offset);
    buf_append_c(out, names[bound->kind]);
}

UNUSED static void tree_frame(Buf *out, const Window *window)
{
    buf_append_c(out, window->is_range ? " FRAME RANGE " : " FRAME ROWS ");
    tree_bound(out, &window->start);
    buf_append_c(out, " TO ");
    tree_bound(out, &window->end);
}

UNUSED static void tree_function(Buf *out, const Expr *expr)
{
    tree_name(out, &expr->function);
    buf_append_c(out, expr->distinct ? "(DISTINCT " : "(");
    tree_list(out, &expr->args, 0);
    buf_append_char(out, ')');
    if (expr->within_group.count > 0) {
        buf_append_c(out, " WITHIN GROUP (");
        tree_order(out, &expr->within_group);
        buf_append_char(out, ')');
    }
    if (expr->over == NULL) return;
    buf_append_c(out, " OVER (");
    tree_list(out, &expr->over->partition_by, 0);
    buf_append_c(out, " ORDER ");
    tree_order(out, &expr->over->order_by);
    if (expr->over->has_frame) tree_frame(out, expr->over);
    buf_append_char(out, ')');
}

UNUSED static void tree_joined(Buf *out, const Expr *expr, const char *word)
{
    buf_append_char(out, '(');
    for (size_t i = 0; i < expr->args.count; i++) {
        if (i > 0) buf_printf(out, " %s ", word);
        tree_expr(out, expr->args.items[i]);
    }
    buf_append_char(out, ')');
}

UNUSED static void tree_case(Buf *out, const Expr *expr)
{
    buf_append_c(out, "CASE");
    if (expr->operand != NULL) {
        buf_append_char(out, ' ');
        tree_expr(out, expr->operand);
    }
    for (size_t i = 0; i + 1 < expr->args.count; i += 2) {
        buf_append_c(out, " WHEN ");
        tree_expr(out, expr->args.items[i]);
        buf_append_c(out, " THEN ");
        tree_expr(out, expr->args.items[i + 1]);
    }
    if (expr->otherwise != NULL) {
        buf_append_c(out, " ELSE ");
        tree_expr(out, expr->otherwise);
    }
    buf_append_c(out, " END");
}

UNUSED static void tree_in(Buf *out, const Expr *expr)
{
    tree_expr(out, expr->args.items[0]);
    buf_append_c(out, expr->negated ? " NOT IN (" : " IN (");
    if (expr->select != NULL)
        tree_select(out, expr->select);
    else
        tree_list(out, &expr->args, 1);
    buf_append_char(out, ')');
}

UNUSED static void tree_expr(Buf *out, const Expr *expr)
{
    static const char *const compares[] = {"=", "<>", "<", "<=", ">", ">="};

    switch (expr->kind) {
    case EXPR_LITERAL:
        if (expr->value.is_null)
            buf_append_c(out, "NULL");
        else if (sim_type_is_text(expr->value.type.kind))
            buf_printf(out, "%s'%.*s'", expr->value.type.kind == SIM_NVARCHAR ? "N" : "",
                       STR_ARG(expr->text));
        else
            buf_append(out, sim_value_text(out->arena, &expr->value));
        break;
    case EXPR_COLUMN: tree_names(out, &expr->parts, "."); break;
    case EXPR_STAR:
        tree_names(out, &expr->parts, ".");
        buf_append_c(out, expr->parts.count > 0 ? ".*" : "*");
        break;
    case EXPR_VARIABLE:
    case EXPR_DATEPART_NAME: buf_append(out, expr->text); break;
    case EXPR_GLOBAL: buf_printf(out, "@@%.*s", STR_ARG(expr->text)); break;
    case EXPR_UNARY:
        buf_printf(out, "(%c", expr->op);
        tree_expr(out, expr->args.items[0]);
        buf_append_char(out, ')');
        break;
    case EXPR_BINARY: tree_joined(out, expr, (char[]){expr->op, '\0'}); break;
    case EXPR_COMPARE: tree_joined(out, expr, compares[expr->compare]); break;
    case EXPR_AND: tree_joined(out, expr, "AND"); break;
    case EXPR_OR: tree_joined(out, expr, "OR"); break;
    case EXPR_NOT:
        buf_append_c(out, "NOT ");
        tree_expr(out, expr->args.items[0]);
        break;
    case EXPR_IS_NULL:
        tree_expr(out, expr->args.items[0]);
        buf_append_c(out, expr->negated ? " IS NOT NULL" : " IS NULL");
        break;
    case EXPR_BETWEEN:
    case EXPR_LIKE:
        tree_expr(out, expr->args.items[0]);
        buf_printf(out, "%s %s ", expr->negated ? " NOT" : "",
                   expr->kind == EXPR_LIKE ? "LIKE" : "BETWEEN");
        tree_list(out, &expr->args, 1);
        break;
    case EXPR_IN: tree_in(out, expr); break;
    case EXPR_EXISTS: buf_append_c(out, "EXISTS "); /* fallthrough */
    case EXPR_SUBQUERY:
        buf_append_char(out, '(');
        tree_select(out, expr->select);
        buf_append_char(out, ')');
        break;
    case EXPR_QUANTIFIED:
        tree_expr(out, expr->args.items[0]);
        buf_printf(out, " %s %s (", compares[expr->compare], expr->is_all ? "ALL" : "ANY");
        tree_select(out, expr->select);
        buf_append_char(out, ')');
        break;
    case EXPR_CASE: tree_case(out, expr); break;
    case EXPR_CAST:
        buf_printf(out, "%s%s(", expr->is_try ? "TRY_" : "", expr->is_convert ? "CONVERT" : "CAST");
        tree_expr(out, expr->args.items[0]);
        buf_printf(out, " AS %.*s", STR_ARG(sim_type_format(out->arena, &expr->type)));
        if (expr->style != NULL) buf_append_char(out, ' ');
        if (expr->style != NULL) tree_expr(out, expr->style);
        buf_append_char(out, ')');
        break;
    case EXPR_FUNCTION: tree_function(out, expr); break;
    case EXPR_COLLATE:
        tree_expr(out, expr->args.items[0]);
        buf_printf(out, " COLLATE %.*s", STR_ARG(expr->text));
        break;
    case EXPR_AT_TIME_ZONE: tree_joined(out, expr, "AT TIME ZONE"); break;
    case EXPR_DEFAULT: buf_append_c(out, "DEFAULT"); break;
    }
}

UNUSED static void tree_source(Buf *out, const Source *source)
{
    static const char *const joins[] = {"JOIN",       "LEFT JOIN",   "RIGHT JOIN", "FULL JOIN",
                                        "CROSS JOIN", "CROSS APPLY", "OUTER APPLY"};

    switch (source->kind) {
    case SOURCE_TABLE:
    case SOURCE_VARIABLE: tree_name(out, &source->name); break;
    case SOURCE_FUNCTION:
        tree_name(out, &source->name);
        buf_append_char(out, '(');
        tree_list(out, &source->args, 0);
        buf_append_char(out, ')');
        break;
    case SOURCE_SELECT:
        buf_append_char(out, '(');
        tree_select(out, source->select);
        buf_append_char(out, ')');
        break;
    case SOURCE_VALUES:
        buf_append_c(out, "(VALUES");
        for (size_t i = 0; i < source->rows.count; i++) {
            buf_append_c(out, " (");
            tree_list(out, &source->rows.items[i], 0);
            buf_append_char(out, ')');
        }
        buf_append_char(out, ')');
        break;
    case SOURCE_JOIN:
        buf_append_char(out, '[');
        tree_source(out, source->left);
        buf_printf(out, " %s ", joins[source->join]);
        tree_source(out, source->right);
        if (source->on != NULL) buf_append_c(out, " ON ");
        if (source->on != NULL) tree_expr(out, source->on);
        buf_append_char(out, ']');
        break;
    }
    if (source->alias.len > 0) buf_printf(out, " %.*s", STR_ARG(source->alias));
    if (source->columns.count > 0) buf_append_char(out, '(');
    tree_names(out, &source->columns, ", ");
    if (source->columns.count > 0) buf_append_char(out, ')');
    if (source->hints.count > 0) buf_append_c(out, " WITH ");
    tree_names(out, &source->hints, ",");
}

UNUSED static void tree_items(Buf *out, const SelectItemList *items)
{
    for (size_t i = 0; i < items->count; i++) {
        if (i > 0) buf_append_c(out, ", ");
        if (items->items[i].assign_to.len > 0)
            buf_printf(out, "%.*s = ", STR_ARG(items->items[i].assign_to));
        tree_expr(out, items->items[i].expr);
        if (items->items[i].alias.len > 0)
            buf_printf(out, " AS %.*s", STR_ARG(items->items[i].alias));
    }
}

UNUSED static void tree_part(Buf *out, const char *word, const Expr *expr)
{
    if (expr == NULL) return;
    buf_append_c(out, word);
    tree_expr(out, expr);
}

UNUSED static void tree_body(Buf *out, const Select *select)
{
    static const char *const ops[] = {"UNION", "UNION ALL", "EXCEPT", "INTERSECT"};

    if (select->left != NULL) {
        buf_append_char(out, '{');
        tree_select(out, select->left);
        buf_printf(out, " %s ", ops[select->set_op]);
        tree_select(out, select->right);
        buf_append_char(out, '}');
        return;
    }
    buf_append_c(out, select->distinct ? "SELECT DISTINCT " : "SELECT ");
    if (select->top != NULL) {
        tree_part(out, "TOP ", select->top);
        buf_printf(out, "%s%s ", select->top_percent ? " PERCENT" : "",
                   select->top_with_ties ? " WITH TIES" : "");
    }
    tree_items(out, &select->items);
    if (select->into.name.len > 0) buf_append_c(out, " INTO ");
    if (select->into.name.len > 0) tree_name(out, &select->into);
    if (select->from != NULL) buf_append_c(out, " FROM ");
    if (select->from != NULL) tree_source(out, select->from);
    tree_part(out, " WHERE ", select->where);
    if (select->group_by.count > 0) buf_append_c(out, " GROUP BY ");
    tree_list(out, &select->group_by, 0);
    tree_part(out, " HAVING ", select->having);
}

UNUSED static void tree_select(Buf *out, const Select *select)
{
    for (size_t i = 0; i < select->with.count; i++) {
        buf_printf(out, "WITH %.*s(", STR_ARG(select->with.items[i].name));
        tree_names(out, &select->with.items[i].columns, ", ");
        buf_append_c(out, ") AS (");
        tree_select(out, select->with.items[i].select);
        buf_append_c(out, ") ");
    }
    tree_body(out, select);
    if (select->order_by.count > 0) buf_append_c(out, " ORDER BY ");
    tree_order(out, &select->order_by);
    tree_part(out, " OFFSET ", select->offset);
    tree_part(out, " FETCH ", select->fetch);
    if (select->options.count > 0) buf_append_c(out, " OPTION ");
    tree_names(out, &select->options, " ");
}

/* Parses a batch that must be right. */
UNUSED static StmtList tree_parse(Arena *arena, const char *text, const char *file, int line)
{
    StmtList list;
    SimError error = SIM_ERROR_INIT;

    if (!sim_parse(str_from_c(text), true, arena, &list, &error)) {
        print_error("%s\n got error %d in line %d: %s\n", text, error.number, error.line,
                    error.message);
        _fail(file, line);
    }
    return list;
}
#define PARSE(arena, text)     tree_parse((arena), (text), __FILE__, __LINE__)
#define PARSE_ONE(arena, text) (PARSE((arena), (text)).items[0])

UNUSED static void tree_assert_select(const char *text, const char *want, const char *file,
                                      int line)
{
    Arena   *arena = arena_new();
    Buf      out   = buf_new(arena, 0);
    StmtList list  = tree_parse(arena, text, file, line);

    tree_select(&out, list.items[0]->select);
    test_assert_str(buf_str(&out), want, file, line);
    arena_close(arena);
}
#define assert_select(text, want) tree_assert_select((text), (want), __FILE__, __LINE__)

UNUSED static void tree_assert_syntax(const char *text, int number, int at_line,
                                      const char *message, const char *file, int line)
{
    Arena   *arena = arena_new();
    StmtList list;
    SimError error = SIM_ERROR_INIT;
    bool     ok    = sim_parse(str_from_c(text), true, arena, &list, &error);

    if (ok || error.number != number || error.line != at_line ||
        strstr(error.message, message) == NULL) {
        print_error("%s\nwant %d in line %d: %s\n got %d in line %d: %s\n", text, number, at_line,
                    message, error.number, error.line, ok ? "no error" : error.message);
        _fail(file, line);
    }
    arena_close(arena);
}
#define assert_syntax(text, number, at_line, message) \
    tree_assert_syntax((text), (number), (at_line), (message), __FILE__, __LINE__)

#endif
