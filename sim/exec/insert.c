/* insert.c - INSERT from VALUES, SELECT, EXEC and DEFAULT VALUES; SELECT ... INTO. Rows stream into the table unless it is read by the same statement. */
#include "sim/exec/change_internal.h"

#include <stddef.h>

static bool is_default_only(const SimColumn *column)
{
    return column->is_computed || column->type.kind == SIM_ROWVERSION;
}

static bool add_ordinal(Change *change, const Target *target, size_t ordinal, int32_t line,
                        InsertColumns *out)
{
    const SimColumn *column = &target->info->columns[ordinal];
    Binder          *binder = change->binder;

    if (column->is_computed)
        return binder_error(binder, line, 271,
                            "The column \"%.*s\" cannot be modified because it is either a "
                            "computed column or is the result of a UNION "
                            "operator.",
                            STR_ARG(column->name));
    if (column->type.kind == SIM_ROWVERSION)
        return binder_error(binder, line, 273,
                            "Cannot insert an explicit value into a timestamp column. Use INSERT "
                            "with a column list to exclude the "
                            "timestamp column, or insert a DEFAULT into the timestamp column.");
    for (size_t i = 0; i < out->count; i++)
        if (out->ordinals[i] == ordinal)
            return binder_error(binder, line, 264,
                                "The column name '%.*s' is specified more than once in the SET "
                                "clause or column list of an INSERT. A column "
                                "cannot be assigned more than one value in the same clause.",
                                STR_ARG(column->name));
    if (column->is_identity && change->session->identity_insert != target->table)
        return binder_error(binder, line, 544,
                            "Cannot insert explicit value for identity column in table '%.*s' when "
                            "IDENTITY_INSERT is set to OFF.",
                            STR_ARG(target->info->name));
    out->ordinals[out->count++] = ordinal;
    return true;
}

bool change_insert_columns(Change *change, const Target *target, const NameList *names,
                           int32_t line, InsertColumns *out)
{
    const SimTableInfo *info = target->info;

    out->ordinals = ARENA_ARRAY(change->arena, size_t, info->column_count + 1);
    out->count    = 0;
    out->identity = info->column_count;
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].is_identity) out->identity = i;
    for (size_t i = 0; i < names->count; i++) {
        ptrdiff_t ordinal = sim_table_find_column(target->table, names->items[i]);
        if (ordinal < 0)
            return binder_error(change->binder, line, 207, "Invalid column name '%.*s'.",
                                STR_ARG(names->items[i]));
        if (!add_ordinal(change, target, (size_t)ordinal, line, out)) return false;
    }
    for (size_t i = 0; names->count == 0 && i < info->column_count; i++)
        if (!is_default_only(&info->columns[i]) && !info->columns[i].is_identity)
            out->ordinals[out->count++] = i;
    return true;
}

/* Without a column list an identity is left out, and must be left out (8101). */
static bool choose_columns(Insert *insert, size_t value_count)
{
    Change       *change = &insert->change;
    const Stmt   *stmt   = change->stmt;
    const Target *target = &change->target;

    if (!change_insert_columns(change, target, &stmt->columns, stmt->line, &insert->columns))
        return false;
    InsertColumns *columns = &insert->columns;
    if (stmt->columns.count > 0 || columns->identity == target->info->column_count ||
        value_count != columns->count + 1)
        return true;
    return binder_error(change->binder, stmt->line, 8101,
                        "An explicit value for the identity column in table '%.*s' can only be "
                        "specified when a column list is used and IDENTITY_INSERT is ON.",
                        STR_ARG(target->info->name));
}

static bool check_count(Insert *insert, size_t count)
{
    const Stmt *stmt = insert->change.stmt;

    if (count == insert->columns.count) return true;
    if (stmt->columns.count == 0)
        return binder_error(
            insert->change.binder, stmt->line, 213,
            "Column name or number of supplied values does not match table definition.");
    if (stmt->rows.count > 0)
        return binder_error(insert->change.binder, stmt->line,
                            count > insert->columns.count ? 110 : 109,
                            "There are %s columns in the INSERT statement than values specified in "
                            "the VALUES clause. The number of values in the VALUES clause "
                            "must match the number of columns specified in the INSERT statement.",
                            count > insert->columns.count ? "fewer" : "more");
    return binder_error(insert->change.binder, stmt->line,
                        count > insert->columns.count ? 121 : 120,
                        "The select list for the INSERT statement contains %s items than the "
                        "insert list. The number of SELECT values must match the number of "
                        "INSERT columns.",
                        count > insert->columns.count ? "more" : "fewer");
}

/* --- one row --- */
bool change_fill_rest(Change *change, const Target *target, SimValue *values, const bool *given)
{
    const SimTableInfo *info = target->info;

    for (size_t i = 0; i < info->column_count; i++) {
        if (given[i]) continue;
        values[i] = sim_null(info->columns[i].type);
        if (info->columns[i].is_identity) {
            int64_t number;
            if (!sim_next_identity(target->table, &number, change->exec.error)) return false;
            SimValue next = sim_int(number, SIM_BIGINT);
            if (!change_store(change, target, i, &next, change->row_arena, &values[i]))
                return false;
        } else if (target->defaults[i]) {
            change->exec.scratch  = change->row_arena;
            const SimValue *value = node_eval(target->defaults[i], &change->exec);
            if (!value || !change_store(change, target, i, value, change->row_arena, &values[i]))
                return false;
        }
    }
    return true;
}

void change_note_identity(Change *change, const Target *target, const InsertColumns *columns,
                          const SimValue *values)
{
    if (columns->identity == target->info->column_count) return;
    SimType  type    = sim_type_numeric(38, 0);
    SimError ignored = SIM_ERROR_INIT; /* large: for tables with an identity alone */
    SimValue value;
    if (!sim_convert(&values[columns->identity], &type, 0, true, change->row_arena, &value,
                     &ignored))
        return;
    change->session->scope_identity = change->session->identity = value;
    int64_t number                                              = 0;
    for (size_t i = 0; i < columns->count; i++)
        if (columns->ordinals[i] == columns->identity && int128_to_i64(value.dec, &number))
            sim_note_identity(target->table, number);
}

static bool insert_values(Insert *insert, SimValue *values)
{
    Change *change = &insert->change;

    if (!change_complete_row(change, &change->target, values, change->row_arena)) return false;
    if (!sim_insert(change_txn(change, &change->target), change->target.table, values,
                    change->error))
        return false;
    change_note_identity(change, &change->target, &insert->columns, values);
    insert->count++;
    return change_send_row(change);
}

bool insert_row(Insert *insert, const SimValue *const *given)
{
    Change             *change = &insert->change;
    const SimTableInfo *info   = change->target.info;

    arena_reset(change->row_arena);
    SimValue *values   = ARENA_ARRAY(change->row_arena, SimValue, info->column_count + 1);
    bool     *is_given = ARENA_ARRAY(change->row_arena, bool, info->column_count + 1);
    for (size_t i = 0; i < insert->columns.count; i++) {
        size_t ordinal = insert->columns.ordinals[i];
        if (!given[i]) continue;
        is_given[ordinal] = true;
        if (!change_store(change, &change->target, ordinal, given[i], change->row_arena,
                          &values[ordinal]))
            return false;
    }
    return change_fill_rest(change, &change->target, values, is_given) &&
           insert_values(insert, values);
}

static bool take_row(Insert *insert, const SimValue *values, size_t count)
{
    Change          *change = &insert->change;
    const SimValue **given;

    if (insert->holds) {
        SimValue *kept = ARENA_ARRAY(change->arena, SimValue, count + 1);
        for (size_t i = 0; i < count; i++)
            kept[i] = value_copy(change->arena, &values[i]);
        *LIST_PUSH(change->arena, &insert->rows) = kept;
        return true;
    }
    given = ARENA_ARRAY(change->exec.scratch, const SimValue *, count + 1);
    for (size_t i = 0; i < count; i++)
        given[i] = &values[i];
    return insert_row(insert, given);
}

static bool insert_held(Insert *insert)
{
    Change          *change = &insert->change;
    const SimValue **given  = ARENA_ARRAY(change->arena, const SimValue *,
                                          insert->columns.count + 1);

    for (size_t r = 0; r < insert->rows.count; r++) {
        for (size_t i = 0; i < insert->columns.count; i++)
            given[i] = &insert->rows.items[r][i];
        if (!insert_row(insert, given)) return false;
    }
    return true;
}

/* --- VALUES --- */

/* Texts of any length, and values of one type, are stored alike whether or not they are brought to one type first. */
static bool are_alike(const SimType *left, const SimType *right)
{
    if (sim_type_is_text(left->kind) && sim_type_is_text(right->kind)) return true;
    return left->kind == right->kind && left->scale == right->scale;
}

/* The values that several rows have for one column are of one type, as those of a UNION: beside a number a text is a number. */
static bool unify_column(Insert *insert, Node **nodes, size_t rows, size_t column)
{
    Change *change  = &insert->change;
    size_t  columns = insert->columns.count, count = 0;
    Node  **given  = ARENA_ARRAY(change->arena, Node *, rows + 1);
    bool    differ = false;
    size_t *at     = ARENA_ARRAY(change->arena, size_t, rows + 1);

    for (size_t r = 0; r < rows; r++) {
        Node *node = nodes[r * columns + column];
        if (!node || (node->kind == NODE_CONST && node->value.is_null)) continue;
        at[count]      = r * columns + column;
        given[count++] = node;
        differ |= !are_alike(&given[0]->type, &node->type);
    }
    if (!differ) return true;
    if (!bind_unify(change->binder, given, count, change->stmt->line)) return false;
    for (size_t i = 0; i < count; i++)
        nodes[at[i]] = given[i];
    return true;
}

static bool insert_rows(Insert *insert)
{
    Change     *change  = &insert->change;
    const Stmt *stmt    = change->stmt;
    size_t      columns = insert->columns.count;
    Node      **nodes   = ARENA_ARRAY(change->arena, Node *, stmt->rows.count * columns + 1);
    int64_t     limit   = INT64_MAX;

    if (stmt->top) {
        SimType  type = sim_type(SIM_BIGINT);
        SimValue value, number;
        if (!run_expression(change->session, stmt->top, change->arena, &value, change->error) ||
            !sim_convert(&value, &type, 0, true, change->arena, &number, change->error))
            return false;
        limit = number.is_null ? 0 : number.i64;
    }

    for (size_t r = 0; r < stmt->rows.count; r++) {
        if (!check_count(insert, stmt->rows.items[r].count)) return false;
        for (size_t c = 0; c < columns; c++) {
            const Expr *expr = stmt->rows.items[r].items[c];
            if (expr->kind != EXPR_DEFAULT &&
                !bind_expr(change->binder, NULL, expr, &nodes[r * columns + c]))
                return false;
        }
    }
    for (size_t c = 0; c < columns && stmt->rows.count > 1; c++)
        if (!unify_column(insert, nodes, stmt->rows.count, c)) return false;
    if (!binder_check_permissions(change->binder)) return false;
    binder_start(change->binder, &change->exec);
    if (!change_send_header(change)) return false;
    const SimValue **given   = ARENA_ARRAY(change->arena, const SimValue *, columns + 1);
    Arena           *scratch = exec_arena(&change->exec);
    for (size_t r = 0; r < stmt->rows.count && (int64_t)r < limit; r++) {
        arena_reset(scratch);
        change->exec.scratch = scratch;
        for (size_t c = 0; c < columns; c++) {
            Node *node = nodes[r * columns + c];
            given[c]   = node ? node_eval(node, &change->exec) : NULL;
            if (node && !given[c]) return false;
        }
        if (!insert_row(insert, given)) return false;
    }
    return true;
}

static bool insert_defaults(Insert *insert)
{
    Change *change = &insert->change;

    insert->columns.count = 0;
    if (!binder_check_permissions(change->binder)) return false;
    binder_start(change->binder, &change->exec);
    const SimValue **none = ARENA_ARRAY(change->arena, const SimValue *,
                                        change->target.info->column_count + 1);
    return change_send_header(change) && insert_row(insert, none);
}

/* --- SELECT --- */
static bool select_row(RowTarget *target, Exec *exec, const SimValue *values, size_t count)
{
    Arena *scratch = exec->scratch;
    bool   ok      = take_row((Insert *)target, values, count);

    exec->scratch = scratch;
    return ok;
}

static bool insert_select(Insert *insert)
{
    Change     *change = &insert->change;
    SelectPlan *plan   = NULL;
    int64_t     count  = 0;

    if (!bind_select(change->binder, NULL, change->stmt->select, &plan) ||
        !choose_columns(insert, plan->out_count) || !check_count(insert, plan->out_count))
        return false;
    for (size_t i = 0; i < change->binder->all_sources.count; i++) {
        const BoundSource *source = change->binder->all_sources.items[i];
        insert->holds |= source->kind == BOUND_TABLE && !source->is_trusted &&
                         source->table == change->target.table && source != change->target.row;
    }
    if (!binder_check_permissions(change->binder)) return false;
    if (change->stmt->top) {
        LimitSpec limit = {0};
        if (!bind_expr(change->binder, NULL, change->stmt->top, &limit.top)) return false;
        plan->op = op_limit(change->arena, plan->op, &limit);
    }
    plan->op = row_limit(change->session, plan->op, change->arena);
    binder_start(change->binder, &change->exec);
    if (!change_send_header(change)) return false;
    insert->target.row = select_row;
    if (!select_run(&change->exec, plan, &insert->target, &count)) return false;
    return insert_held(insert);
}

/* --- EXEC: result sets are kept, then inserted --- */
static Insert *insert_of_sink(SimSink *sink)
{
    return (Insert *)((char *)sink - offsetof(Insert, sink));
}

static bool exec_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    Insert *insert = insert_of_sink(sink);

    (void)columns;
    if (!insert->failed && !check_count(insert, count)) insert->failed = true;
    return true;
}

static bool exec_row(SimSink *sink, const SimValue *values, size_t count)
{
    Insert *insert = insert_of_sink(sink);

    if (!insert->failed && !take_row(insert, values, count)) insert->failed = true;
    return true;
}

static bool exec_message(SimSink *sink, const SimError *message)
{
    Insert *insert = insert_of_sink(sink);

    if (message->severity <= 10) return insert->outer->message(insert->outer, message);
    if (!insert->failed) {
        *insert->change.error = *message;
        insert->failed        = true;
    }
    return true;
}

static bool exec_done(SimSink *sink, const SimDone *done)
{
    (void)sink;
    (void)done;
    return true;
}

static bool exec_env(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)sink;
    (void)kind;
    (void)new_value;
    (void)old_value;
    return true;
}

static bool exec_status(SimSink *sink, int32_t status)
{
    (void)sink;
    (void)status;
    return true;
}

static bool exec_value(SimSink *sink, Str name, const SimValue *value)
{
    (void)sink;
    (void)name;
    (void)value;
    return true;
}

static bool insert_exec(Insert *insert)
{
    Change     *change  = &insert->change;
    SimSession *session = change->session;
    SimSink    *outer   = session->sink;

    if (!binder_check_permissions(change->binder)) return false;
    binder_start(change->binder, &change->exec);
    if (session->inserts_exec)
        return sim_error(change->error, 8164, "An INSERT EXEC statement cannot be nested.");
    insert->holds         = true;
    insert->sink          = (SimSink){.columns       = exec_columns,
                                      .row           = exec_row,
                                      .message       = exec_message,
                                      .done          = exec_done,
                                      .env_change    = exec_env,
                                      .return_status = exec_status,
                                      .return_value  = exec_value};
    insert->outer         = outer;
    session->inserts_exec = true;
    session->sink         = &insert->sink;
    Flow flow             = run_statement(session, change->stmt->exec);
    session->sink         = outer;
    session->inserts_exec = false;
    if (flow == FLOW_THROWN) {
        *change->error = session->caught;
        return false;
    }
    if (insert->failed || flow == FLOW_CLOSE)
        return insert->failed ? false : session_alive(session, change->error);
    return change_send_header(change) && insert_held(insert);
}

bool insert_begin(Insert *insert, SimSession *session, const Stmt *stmt, bool keeps_identity,
                  Arena *arena, SimError *error)
{
    Change *change = &insert->change;

    change_begin(change, session, stmt, arena, error);
    if (!change_target(change, &stmt->object, &change->target) ||
        !change_bind_computed(change, &change->target))
        return false;
    if (keeps_identity) session->identity_insert = change->target.table;
    if (change->target.info->is_system && !session->is_aside)
        return binder_error(change->binder, stmt->line, 259,
                            "Ad hoc updates to system catalogs are not allowed.");
    BoundSource *use = bind_table_source(change->binder, scope_new(change->binder, NULL),
                                         change->target.database, change->target.table,
                                         change->target.schema, STR_EMPTY);
    if (!use) return false;
    use->is_table_variable = change->target.is_variable;
    use->row_slot          = 0; /* no SELECT right is needed */
    binder_use(change->binder, use, SIM_PERM_INSERT, NULL, 0);
    return choose_columns(insert, stmt->rows.count > 0 ? stmt->rows.items[0].count : 0) &&
           change_bind_output(change, NULL, true, false);
}

bool run_insert(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error)
{
    Insert *insert = ARENA_NEW(arena, Insert);
    Change *change = &insert->change;
    bool    ok     = false;

    if (!insert_begin(insert, session, stmt, false, arena, error)) goto done;
    if (stmt->default_values)
        ok = insert_defaults(insert);
    else if (stmt->exec)
        ok = stmt->top ? sim_not_supported(error, "TOP with INSERT ... EXEC") : insert_exec(insert);
    else if (stmt->select)
        ok = insert_select(insert);
    else
        ok = insert_rows(insert);
    ok                = ok && change_check_references(change, &change->target);
    result->has_count = true;
    result->count     = insert->count;
done:
    exec_end(&change->exec);
    return ok;
}

/* --- SELECT ... INTO --- */
bool run_select_into(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                     SimError *error)
{
    Exec        exec;
    Binder     *binder = binder_new(session, arena, error);
    SelectPlan *plan   = NULL;
    Stmt    create = {.kind = STMT_CREATE_TABLE, .line = stmt->line, .object = stmt->select->into};
    Stmt    insert = {.kind = STMT_INSERT, .line = stmt->line, .object = stmt->select->into};
    Select *select = ARENA_NEW(arena, Select);
    bool    ok     = false;

    exec_begin(&exec, session, arena, error);
    if (!bind_select(binder, NULL, stmt->select, &plan) || !binder_check_permissions(binder))
        goto done;
    for (size_t i = 0; i < plan->out_count; i++) {
        const OutColumn *out = &plan->outs[i];
        if (str_is_empty(out->name)) {
            ok = binder_error(binder, stmt->line, 1038,
                              "An object or column name is missing or empty.");
            goto done;
        }
        ColumnDef *def = LIST_PUSH(arena, &create.column_defs);
        *def           = (ColumnDef){.name              = out->name,
                                     .type              = out->node->type,
                                     .is_nullable       = out->is_nullable,
                                     .nullability_given = true};
        if (out->is_identity) {
            def->is_identity   = true;
            def->identity_seed = def->identity_step = 1;
            def->is_nullable                        = false;
        }
        *LIST_PUSH(arena, &insert.columns) = out->name;
    }
    *select                 = *stmt->select;
    select->into            = (ObjectName){0};
    insert.select           = select;
    StatementResult ignored = {0};
    if (!run_ddl(session, &create, arena, &ignored, error)) goto done;
    SimTable *identity_insert = session->identity_insert;
    Change    lookup;
    change_begin(&lookup, session, &insert, arena, error);
    if (change_target(&lookup, &insert.object, &lookup.target))
        session->identity_insert = lookup.target.table;
    exec_end(&lookup.exec);
    ok                       = run_insert(session, &insert, arena, result, error);
    session->identity_insert = identity_insert;
done:
    exec_end(&exec);
    return ok;
}
