/* change.c - the target of a change, its computed columns and defaults, and OUTPUT. */
#include "sim/exec/change_internal.h"

#include <stdio.h>
#include <string.h>

void change_begin(Change *change, SimSession *session, const Stmt *stmt, Arena *arena,
                  SimError *error)
{
    *change        = (Change){.session = session, .stmt = stmt, .arena = arena, .error = error};
    change->binder = binder_new(session, arena, error);
    exec_begin(&change->exec, session, arena, error);
    change->row_arena = exec_arena(&change->exec);
    for (size_t i = 0; i < stmt->with.count; i++) {
        CteFrame *frame      = ARENA_NEW(arena, CteFrame);
        frame->table         = &stmt->with.items[i];
        frame->outer         = change->binder->ctes;
        change->binder->ctes = frame;
    }
}

bool change_target(Change *change, const ObjectName *name, Target *out)
{
    SimSession *session = change->session;

    *out = (Target){.name = name->name};
    if (name->name.len > 0 && name->name.ptr[0] == '@') {
        Variable *variable = frame_find(session->frame, name->name);
        if (!variable || !variable->table)
            return binder_error(change->binder, name->line, 1087,
                                "Must declare the table variable \"%.*s\".", STR_ARG(name->name));
        out->table       = variable->table;
        out->database    = sim_table_database(variable->table);
        out->schema      = STR("dbo");
        out->is_variable = true;
    } else if (!bind_table_name(change->binder, name, &out->database, &out->table, &out->schema)) {
        if (change->error->number == 208 && out->database &&
            sim_database_find_module(out->database, out->schema, name->name))
            return binder_not_supported(change->binder, name->line, "changing rows through a view");
        return false;
    }
    return true;
}

SimTxn *change_txn(Change *change, const Target *target)
{
    SimSession *session = change->session;

    if (!target->is_variable) return session_txn(session, target->database);
    if (!session->variable_txn) {
        session->variable_txn = sim_txn_begin(target->database, &session->waiter,
                                              SIM_READ_COMMITTED);
        sim_txn_statement_begin(session->variable_txn);
    }
    return session->variable_txn;
}

/* A source whose columns all have slots, filled by hand. */
static BoundSource *row_source(Change *change, QueryScope *scope, const Target *target, Str alias)
{
    bool trusted = change->binder->is_trusted;

    change->binder->is_trusted = true;
    BoundSource *source = bind_table_source(change->binder, scope, target->database, target->table,
                                            target->schema, alias);
    change->binder->is_trusted = trusted;
    for (size_t i = 0; source && i < source->column_count; i++)
        (void)source_slot(change->binder, source, i);
    return source;
}

bool change_bind_computed(Change *change, Target *target)
{
    QueryScope *scope   = scope_new(change->binder, NULL);
    bool        trusted = change->binder->is_trusted;
    bool        ok      = true;

    target->row = row_source(change, scope, target, STR_EMPTY);
    if (!target->row) return false;
    target->info               = target->row->info;
    target->computed           = ARENA_ARRAY(change->arena, Node *, target->info->column_count + 1);
    target->defaults           = ARENA_ARRAY(change->arena, Node *, target->info->column_count + 1);
    change->binder->is_trusted = true;
    for (size_t i = 0; ok && i < target->info->column_count; i++) {
        const SimColumn *column = &target->info->columns[i];
        if (column->computed)
            ok = bind_expr(change->binder, scope, column->computed, &target->computed[i]);
        change->binder->binds_default = true;
        if (ok && column->default_value)
            ok = bind_expr(change->binder, NULL, column->default_value, &target->defaults[i]);
        change->binder->binds_default = false;
    }
    ok                         = ok && change_bind_checks(change, scope, target);
    change->binder->is_trusted = trusted;
    return ok;
}

static bool bind_into(Change *change)
{
    const Stmt *stmt = change->stmt;
    Target     *into = &change->into;

    if (!change_target(change, &stmt->output_into, into) || !change_bind_computed(change, into))
        return false;
    if (into->has_keys)
        return binder_error(change->binder, stmt->line, 332,
                            "The target table '%.*s' of the OUTPUT INTO clause cannot be on either "
                            "side of a (primary key, foreign key) relationship.",
                            STR_ARG(into->name));
    if (into->checks && !into->info->is_temporary)
        return binder_error(change->binder, stmt->line, 333,
                            "The target table '%.*s' of the OUTPUT INTO clause cannot have any "
                            "enabled check constraints or any enabled rules.",
                            STR_ARG(into->name));
    if (!change_insert_columns(change, into, &stmt->into, stmt->line, &change->into_columns))
        return false;
    if (change->outputs.count == change->into_columns.count) return true;
    return stmt->into.count > 0
               ? binder_error(change->binder, stmt->line,
                              change->outputs.count > change->into_columns.count ? 121 : 120,
                              "The select list for the INSERT statement contains %s items than "
                              "the insert list. The number of SELECT values must match the number "
                              "of INSERT columns.",
                              change->outputs.count > change->into_columns.count ? "more" : "fewer")
               : binder_error(
                     change->binder, stmt->line, 213,
                     "Column name or number of supplied values does not match table definition.");
}

/* $action of MERGE. */
static bool is_action(const Change *change, const Expr *expr)
{
    return change->action_slot > 0 && expr->kind == EXPR_COLUMN && expr->parts.count == 1 &&
           str_equal_ignoring_case(expr->parts.items[0], STR("$action"));
}

bool change_bind_output(Change *change, QueryScope *outer, bool has_inserted, bool has_deleted)
{
    const Stmt *stmt  = change->stmt;
    QueryScope *scope = scope_new(change->binder, outer);

    if (has_deleted && stmt->output.count > 0)
        change->deleted = row_source(change, scope, &change->target, STR("deleted"));
    if (has_inserted && stmt->output.count > 0) {
        BoundSource *inserted = row_source(change, scope, &change->target, STR("inserted"));
        if (!inserted) return false;
        for (size_t i = 0; i < inserted->column_count; i++)
            inserted->columns[i].slot = change->target.row->columns[i].slot;
    }
    for (size_t i = 0; i < stmt->output.count; i++) {
        const SelectItem *item = &stmt->output.items[i];
        OutColumn         out  = {.name = item->alias};
        if (item->expr->kind == EXPR_STAR) {
            if (!bind_star(change->binder, scope, item->expr, &change->outputs)) return false;
            continue;
        }
        if (str_is_empty(out.name) && item->expr->kind == EXPR_COLUMN)
            out.name = item->expr->parts.items[item->expr->parts.count - 1];
        if (is_action(change, item->expr))
            out.node = node_slot(change->arena, change->action_slot,
                                 sim_type_sized(SIM_NVARCHAR, 10), false);
        else if (!bind_expr(change->binder, scope, item->expr, &out.node))
            return false;
        out.is_nullable                             = out.node->is_nullable;
        *LIST_PUSH(change->arena, &change->outputs) = out;
    }
    return stmt->output_into.name.len == 0 || bind_into(change);
}

static bool truncation(Change *change, const Target *target, const SimColumn *column,
                       const SimValue *value, Arena *arena)
{
    Str text  = sim_value_text(arena, value);
    int shown = (int)MIN(text.len, 100);

    if (column->type.length > 0 && sim_type_is_text(column->type.kind))
        shown = MIN(shown, column->type.length / (sim_type_is_unicode(column->type.kind) ? 2 : 1));
    return sim_error(change->error, 2628,
                     "String or binary data would be truncated in table '%.*s.%.*s.%.*s', column "
                     "'%.*s'. Truncated value: '%.*s'.",
                     STR_ARG(sim_database_name(target->database)), STR_ARG(target->schema),
                     STR_ARG(target->info->name), STR_ARG(column->name), shown, text.ptr);
}

/* Storing never shortens a value, but for the blanks behind a text. */
static bool fits(const SimValue *value, const SimType *type)
{
    size_t len = value->bytes.len, limit = (size_t)type->length,
           unit = sim_type_is_unicode(type->kind) ? 2 : 1;

    if (type->length < 0 || len <= limit) return true;
    if (sim_type_is_binary(type->kind)) return false;
    for (size_t i = limit; i < len; i += unit)
        if (value->bytes.ptr[i] != ' ' || (unit == 2 && value->bytes.ptr[i + 1] != 0)) return false;
    return true;
}

/* Most values of a load: a short way for them. */
static bool is_stored_as_it_is(const SimValue *value, const SimType *type)
{
    if (value->type.kind != type->kind) return false;
    switch (type->kind) {
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
    case SIM_REAL:
    case SIM_FLOAT:
    case SIM_DATE:
    case SIM_DATETIME:
    case SIM_SMALLDATETIME: return true;
    case SIM_VARCHAR:
    case SIM_NVARCHAR:
        return type->length > 0 && value->bytes.len <= (size_t)type->length &&
               value->type.collation == type->collation;
    default: return false;
    }
}

bool change_store(Change *change, const Target *target, size_t ordinal, const SimValue *value,
                  Arena *arena, SimValue *out)
{
    const SimColumn *column = &target->info->columns[ordinal];
    SimTypeKind      kind   = column->type.kind;

    if (value->is_null) {
        *out = sim_null(column->type);
        return true;
    }
    if (kind == SIM_VARIANT) {
        *out = *value;
        return true;
    }
    if (is_stored_as_it_is(value, &column->type)) {
        *out      = *value;
        out->type = column->type;
        return true;
    }
    if ((sim_type_is_text(kind) || kind == SIM_BINARY || kind == SIM_VARBINARY) &&
        column->type.length > 0) {
        SimType  open = column->type;
        SimValue whole;
        open.kind   = sim_type_is_text(kind)
                          ? (sim_type_is_unicode(kind) ? SIM_NVARCHAR : SIM_VARCHAR)
                          : SIM_VARBINARY;
        open.length = -1;
        if (!sim_convert(value, &open, 0, true, arena, &whole, change->error)) return false;
        if (!fits(&whole, &column->type)) return truncation(change, target, column, value, arena);
        if (whole.bytes.len <= (size_t)column->type.length &&
            (kind == SIM_VARCHAR || kind == SIM_NVARCHAR || kind == SIM_VARBINARY)) {
            *out      = whole;
            out->type = column->type;
            return true;
        }
    }
    return session_convert(change->session, value, &column->type, arena, out, change->error);
}

void change_fill_slots(Change *change, BoundSource *source, const SimValue *values)
{
    for (size_t i = 0; i < source->column_count; i++)
        exec_set_slot(&change->exec, source->columns[i].slot, &values[i]);
}

bool change_complete_row(Change *change, Target *target, SimValue *values, Arena *arena)
{
    change_fill_slots(change, target->row, values);
    for (size_t i = 0; i < target->info->column_count; i++) {
        if (!target->computed[i]) continue;
        change->exec.scratch  = arena;
        const SimValue *value = node_eval(target->computed[i], &change->exec);
        if (!value || !change_store(change, target, i, value, arena, &values[i])) return false;
        exec_set_slot(&change->exec, target->row->columns[i].slot, &values[i]);
    }
    return change_check_row(change, target, values);
}

bool change_send_header(Change *change)
{
    SelectPlan       plan    = {.outs = change->outputs.items, .out_count = change->outputs.count};
    SimResultColumn *columns = ARENA_ARRAY(change->arena, SimResultColumn, plan.out_count + 1);

    if (change->outputs.count == 0 || change->into.table) return true;
    select_columns(&plan, columns);
    return session_send_columns(change->session, columns, plan.out_count) ||
           session_alive(change->session, change->error);
}

static bool output_into(Change *change, const SimValue *outputs)
{
    Target   *into   = &change->into;
    SimValue *values = ARENA_ARRAY(change->row_arena, SimValue, into->info->column_count + 1);
    bool     *given  = ARENA_ARRAY(change->row_arena, bool, into->info->column_count + 1);

    for (size_t i = 0; i < change->outputs.count; i++) {
        size_t ordinal = change->into_columns.ordinals[i];
        given[ordinal] = true;
        if (!change_store(change, into, ordinal, &outputs[i], change->row_arena, &values[ordinal]))
            return false;
    }
    return change_fill_rest(change, into, values, given) &&
           change_complete_row(change, into, values, change->row_arena) &&
           sim_insert(change_txn(change, into), into->table, values, change->error);
}

bool change_send_row(Change *change)
{
    if (change->outputs.count == 0) return true;
    SimValue *values     = ARENA_ARRAY(change->row_arena, SimValue, change->outputs.count + 1);
    change->exec.scratch = change->row_arena;
    for (size_t i = 0; i < change->outputs.count; i++) {
        const SimValue *value = node_eval(change->outputs.items[i].node, &change->exec);
        if (!value) return false;
        values[i] = *value;
    }
    if (change->into.table) return output_into(change, values);
    return session_send_row(change->session, values, change->outputs.count) ||
           session_alive(change->session, change->error);
}
