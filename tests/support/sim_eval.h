/* sim_eval.h - constant T-SQL expressions, evaluated without a server: "CAST('1.5' AS decimal(5,2))
 * + 1". Literals, operators, CAST and CONVERT, COLLATE and the functions of sim/function/function.h. */
#ifndef TIDELAKE_SUPPORT_SIM_EVAL_H
#define TIDELAKE_SUPPORT_SIM_EVAL_H

#include "support/test_support.h"

#include "sim/function/function.h"
#include "sim/parse/ast.h"

UNUSED static bool sim_eval_expr(const Expr *expr, Arena *arena, SimValue *out, SimError *error);

UNUSED static bool sim_eval_function(const Expr *expr, Arena *arena, SimValue *out, SimError *error)
{
    const SimFunction *function = sim_function_find(expr->function.name);
    size_t             count    = expr->args.count;
    SimValue          *values   = ARENA_ARRAY(arena, SimValue, count + 1);
    SimType           *types    = ARENA_ARRAY(arena, SimType, count + 1);
    const SimValue   **literals = ARENA_ARRAY(arena, const SimValue *, count + 1);
    SimType            type;

    if (function == NULL)
        return sim_error(error, 195, "'%.*s' is not a function", STR_ARG(expr->function.name));
    for (size_t i = 0; i < count; i++) {
        const Expr *arg = expr->args.items[i];
        if (arg->kind == EXPR_DATEPART_NAME)
            values[i] = sim_nvarchar(arena, arg->text);
        else if (!sim_eval_expr(arg, arena, &values[i], error))
            return false;
        types[i] = values[i].type;
        if (arg->kind == EXPR_LITERAL || arg->kind == EXPR_DATEPART_NAME) literals[i] = &values[i];
    }
    if (!sim_function_type(function, types, literals, count, &type, error)) return false;
    return sim_function_call(function, &type, values, count, arena, out, error);
}

UNUSED static bool sim_eval_collate(const Expr *expr, Arena *arena, SimValue *out, SimError *error)
{
    const SimCollation *collation = sim_collation_find(expr->text);

    if (collation == NULL) return sim_error(error, 448, "no such collation");
    if (!sim_eval_expr(expr->args.items[0], arena, out, error)) return false;
    if (!sim_type_is_unicode(out->type.kind)) {
        out->bytes = sim_text_recode(arena, out->type.collation, false, collation, false,
                                     out->bytes);
        out->type  = sim_type_sized(SIM_VARCHAR, (int64_t)out->bytes.len);
    }
    out->type.collation = collation;
    return true;
}

UNUSED static bool sim_eval_expr(const Expr *expr, Arena *arena, SimValue *out, SimError *error)
{
    SimValue left, right;

    switch (expr->kind) {
    case EXPR_LITERAL: *out = expr->value; return true;
    case EXPR_UNARY:
        if (!sim_eval_expr(expr->args.items[0], arena, out, error)) return false;
        left = *out;
        return expr->op != '-' || sim_negate(&left, arena, out, error);
    case EXPR_BINARY:
        if (!sim_eval_expr(expr->args.items[0], arena, &left, error)) return false;
        if (!sim_eval_expr(expr->args.items[1], arena, &right, error)) return false;
        return sim_arithmetic(expr->op, &left, &right, arena, out, error);
    case EXPR_CAST:
        if (!sim_eval_expr(expr->args.items[0], arena, &left, error)) return false;
        right.i64 = 0;
        if (expr->style != NULL && !sim_eval_expr(expr->style, arena, &right, error)) return false;
        return sim_convert(&left, &expr->type, (int)right.i64, false, arena, out, error);
    case EXPR_COLLATE: return sim_eval_collate(expr, arena, out, error);
    case EXPR_FUNCTION: return sim_eval_function(expr, arena, out, error);
    default: return sim_error(error, 1, "not a constant");
    }
}

UNUSED static bool sim_eval(const char *text, Arena *arena, SimValue *out, SimError *error)
{
    StmtList list;
    Str      batch = str_printf(arena, "SELECT %s", text);

    *error = SIM_ERROR_INIT;
    if (!sim_parse(batch, true, arena, &list, error)) return false;
    return sim_eval_expr(list.items[0]->select->items.items[0].expr, arena, out, error);
}

/* The value as text; with `show_type`, its type behind a blank. */
UNUSED static void sim_assert_eval(const char *text, const char *want, bool show_type,
                                   const char *file, int line)
{
    Arena   *arena = arena_new();
    SimValue value = {0};
    SimError error;

    if (!sim_eval(text, arena, &value, &error)) {
        print_error("%s\nwant %s\n got error %d: %s\n", text, want, error.number, error.message);
        _fail(file, line);
    }
    Str got = sim_value_text(arena, &value);
    if (show_type)
        got = str_printf(arena, "%.*s %.*s", STR_ARG(got),
                         STR_ARG(sim_type_format(arena, &value.type)));
    if (!str_equal_c(got, want)) {
        print_error("%s\nwant %s\n got %.*s\n", text, want, STR_ARG(got));
        _fail(file, line);
    }
    arena_close(arena);
}
#define assert_value(text, want) sim_assert_eval((text), (want), false, __FILE__, __LINE__)
#define assert_typed(text, want) sim_assert_eval((text), (want), true, __FILE__, __LINE__)

UNUSED static void sim_assert_fails(const char *text, int number, const char *file, int line)
{
    Arena   *arena = arena_new();
    SimValue value = {0};
    SimError error;
    bool     ok = sim_eval(text, arena, &value, &error);

    if (ok || error.number != number) {
        if (ok)
            print_error("%s\nwant error %d\n got %.*s\n", text, number,
                        STR_ARG(sim_value_text(arena, &value)));
        else
            print_error("%s\nwant error %d\n got %d: %s\n", text, number, error.number,
                        error.message);
        _fail(file, line);
    }
    arena_close(arena);
}
#define assert_fails(text, number) sim_assert_fails((text), (number), __FILE__, __LINE__)

#endif
