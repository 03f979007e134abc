/* ast_text.c - expressions written out again, as the catalogue shows definitions: names in brackets,
 * constants in parentheses, built-in functions in lower case. */
#include "base/buf.h"
#include "sim/parse/ast.h"

static void put(Buf *out, const Expr *expr);

static void put_list(Buf *out, const ExprList *list, size_t from, const char *separator)
{
    for (size_t i = from; i < list->count; i++) {
        if (i > from) buf_append_c(out, separator);
        put(out, list->items[i]);
    }
}

static void put_name(Buf *out, Str name)
{
    buf_append_char(out, '[');
    for (size_t i = 0; i < name.len; i++) {
        buf_append_char(out, name.ptr[i]);
        if (name.ptr[i] == ']') buf_append_char(out, ']');
    }
    buf_append_char(out, ']');
}

static void put_type(Buf *out, const SimType *type)
{
    put_name(out, str_from_c(sim_type_word(type)));
    if (type->kind == SIM_DECIMAL)
        buf_printf(out, "(%d,%d)", type->precision, type->scale);
    else if (type->kind == SIM_TIME || type->kind == SIM_DATETIME2 ||
             type->kind == SIM_DATETIMEOFFSET)
        buf_printf(out, "(%d)", type->scale);
    else if (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY) {
        if (type->length < 0)
            buf_append_c(out, "(max)");
        else
            buf_printf(out, "(%d)",
                       (int)(sim_type_is_unicode(type->kind) ? type->length / 2 : type->length));
    }
}

static void put_text(Buf *out, const SimValue *value, Str text)
{
    buf_append_c(out, sim_type_is_unicode(value->type.kind) ? "N'" : "'");
    for (size_t i = 0; i < text.len; i++) {
        buf_append_char(out, text.ptr[i]);
        if (text.ptr[i] == '\'') buf_append_char(out, '\'');
    }
    buf_append_char(out, '\'');
}

static void put_literal(Buf *out, const Expr *expr)
{
    const SimValue *value = &expr->value;
    Arena          *arena = arena_new();

    if (value->is_null)
        buf_append_c(out, "NULL");
    else if (sim_type_is_text(value->type.kind))
        put_text(out, value, sim_value_text(arena, value));
    else if (sim_type_is_binary(value->type.kind)) {
        Str hex = hex_encode(arena, value->bytes, true);
        buf_printf(out, "0x%.*s", STR_ARG(hex));
    } else {
        Str text = sim_value_text(arena, value);
        buf_printf(out, "(%.*s)", STR_ARG(text));
    }
    arena_close(arena);
}

static void put_parts(Buf *out, const NameList *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (i) buf_append_char(out, '.');
        put_name(out, parts->items[i]);
    }
}

static void put_function(Buf *out, const Expr *expr)
{
    if (str_is_empty(expr->function.schema)) {
        for (size_t i = 0; i < expr->function.name.len; i++) {
            char c = expr->function.name.ptr[i];
            buf_append_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
        }
    } else {
        put_name(out, expr->function.schema);
        buf_append_char(out, '.');
        put_name(out, expr->function.name);
    }
    buf_append_char(out, '(');
    put_list(out, &expr->args, 0, ",");
    buf_append_char(out, ')');
}

static void put_case(Buf *out, const Expr *expr)
{
    buf_append_c(out, "case");
    if (expr->operand) {
        buf_append_char(out, ' ');
        put(out, expr->operand);
    }
    for (size_t i = 0; i + 1 < expr->args.count; i += 2) {
        buf_append_c(out, " when ");
        put(out, expr->args.items[i]);
        buf_append_c(out, " then ");
        put(out, expr->args.items[i + 1]);
    }
    if (expr->otherwise) {
        buf_append_c(out, " else ");
        put(out, expr->otherwise);
    }
    buf_append_c(out, " end");
}

static bool is_compound(const Expr *expr)
{
    switch ((int)expr->kind) {
    case EXPR_BINARY:
    case EXPR_COMPARE:
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
    case EXPR_BETWEEN:
    case EXPR_IN:
    case EXPR_LIKE: return true;
    default: return false;
    }
}

static void put_operand(Buf *out, const Expr *expr)
{
    if (is_compound(expr)) buf_append_char(out, '(');
    put(out, expr);
    if (is_compound(expr)) buf_append_char(out, ')');
}

static void put_joined(Buf *out, const Expr *expr, const char *word)
{
    for (size_t i = 0; i < expr->args.count; i++) {
        const Expr *arg = expr->args.items[i];
        if (i) buf_append_c(out, word);
        bool is_list = arg->kind == EXPR_IN && !arg->negated && arg->args.count > 2;
        if (arg->kind == EXPR_OR || arg->kind == EXPR_AND || is_list)
            put_operand(out, arg);
        else
            put(out, arg);
    }
}

/* a IN (1, 2) is shown as its comparisons, the last one first. */
static void put_in(Buf *out, const Expr *expr)
{
    if (expr->negated) buf_append_c(out, "NOT (");
    for (size_t i = expr->args.count; i-- > 1;) {
        put(out, expr->args.items[0]);
        buf_append_char(out, '=');
        put(out, expr->args.items[i]);
        if (i > 1) buf_append_c(out, " OR ");
    }
    if (expr->negated) buf_append_char(out, ')');
}

static void put_between(Buf *out, const Expr *expr)
{
    if (expr->negated) buf_append_c(out, "NOT (");
    put(out, expr->args.items[0]);
    buf_append_c(out, ">=");
    put(out, expr->args.items[1]);
    buf_append_c(out, " AND ");
    put(out, expr->args.items[0]);
    buf_append_c(out, "<=");
    put(out, expr->args.items[2]);
    if (expr->negated) buf_append_char(out, ')');
}

static void put_cast(Buf *out, const Expr *expr)
{
    buf_append_c(out, expr->is_try ? "TRY_CAST(" : "CONVERT(");
    if (expr->is_try) {
        put(out, expr->args.items[0]);
        buf_append_c(out, " AS ");
        put_type(out, &expr->type);
    } else {
        put_type(out, &expr->type);
        buf_append_char(out, ',');
        put(out, expr->args.items[0]);
        if (expr->style) {
            buf_append_char(out, ',');
            put(out, expr->style);
        }
    }
    buf_append_char(out, ')');
}

static void put(Buf *out, const Expr *expr)
{
    static const char *const compares[] = {"=", "<>", "<", "<=", ">", ">="};

    switch (expr->kind) {
    case EXPR_LITERAL: put_literal(out, expr); break;
    case EXPR_COLUMN: put_parts(out, &expr->parts); break;
    case EXPR_STAR: buf_append_char(out, '*'); break;
    case EXPR_VARIABLE: buf_append(out, expr->text); break;
    case EXPR_GLOBAL: buf_printf(out, "@@%.*s", STR_ARG(expr->text)); break;
    case EXPR_UNARY:
        if (expr->args.items[0]->kind == EXPR_LITERAL) { /* one constant: (-1) */
            Str text = sim_value_text(out->arena, &expr->args.items[0]->value);
            buf_printf(out, "(%c%.*s)", expr->op, STR_ARG(text));
            break;
        }
        buf_append_char(out, expr->op);
        put_operand(out, expr->args.items[0]);
        break;
    case EXPR_BINARY:
        put_operand(out, expr->args.items[0]);
        buf_append_char(out, expr->op);
        put_operand(out, expr->args.items[1]);
        break;
    case EXPR_COMPARE:
        put(out, expr->args.items[0]);
        buf_append_c(out, compares[expr->compare]);
        put(out, expr->args.items[1]);
        break;
    case EXPR_AND: put_joined(out, expr, " AND "); break;
    case EXPR_OR: put_joined(out, expr, " OR "); break;
    case EXPR_NOT:
        buf_append_c(out, "NOT ");
        put_operand(out, expr->args.items[0]);
        break;
    case EXPR_IS_NULL:
        put(out, expr->args.items[0]);
        buf_append_c(out, expr->negated ? " IS NOT NULL" : " IS NULL");
        break;
    case EXPR_BETWEEN: put_between(out, expr); break;
    case EXPR_IN: put_in(out, expr); break;
    case EXPR_LIKE:
        if (expr->negated) buf_append_c(out, "NOT ");
        put(out, expr->args.items[0]);
        buf_append_c(out, " like ");
        put(out, expr->args.items[1]);
        if (expr->args.count > 2) {
            buf_append_c(out, " escape ");
            put(out, expr->args.items[2]);
        }
        break;
    case EXPR_CASE: put_case(out, expr); break;
    case EXPR_CAST: put_cast(out, expr); break;
    case EXPR_FUNCTION: put_function(out, expr); break;
    case EXPR_COLLATE:
        put(out, expr->args.items[0]);
        buf_printf(out, " collate %.*s", STR_ARG(expr->text));
        break;
    case EXPR_AT_TIME_ZONE:
        put(out, expr->args.items[0]);
        buf_append_c(out, " AT TIME ZONE ");
        put(out, expr->args.items[1]);
        break;
    case EXPR_DATEPART_NAME: buf_append(out, expr->text); break;
    case EXPR_DEFAULT: buf_append_c(out, "DEFAULT"); break;
    case EXPR_EXISTS: /* no definition may hold a query (1046) */
    case EXPR_QUANTIFIED:
    case EXPR_SUBQUERY: buf_append_c(out, "(select)"); break;
    }
}

Str expr_definition(Arena *arena, const Expr *expr)
{
    Buf out = buf_new(arena, 0);

    buf_append_char(&out, '(');
    put(&out, expr);
    buf_append_char(&out, ')');
    return buf_str(&out);
}
