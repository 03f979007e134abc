/* ddl_constraint.c - CHECK, FOREIGN KEY and DEFAULT constraints: making, dropping, switching them. The server reports what is wrong with one and
 * then that the statement failed (1750, 3727, 4922): the second is what a CATCH sees. */
#include "sim/exec/ddl_internal.h"

Str ddl_made_up_name(const Ddl *ddl, const char *prefix, Str table, Str column)
{
    unsigned bits = (unsigned)rng_u64(sim_server_rng(ddl->session->server));

    return str_is_empty(column)
               ? str_printf(ddl->arena, "%s__%.*s__%08X", prefix, (int)MIN(table.len, 9), table.ptr,
                            bits)
               : str_printf(ddl->arena, "%s__%.*s__%.*s__%08X", prefix, (int)MIN(table.len, 9),
                            table.ptr, (int)MIN(column.len, 5), column.ptr, bits);
}

/* What is in error goes to the client at once; `number` takes its place. */
static bool fail_after(const Ddl *ddl, int32_t number, const char *text)
{
    SimError first = *ddl->error;

    if (first.line == 0) first.line = ddl->stmt->line;
    if (ddl->session->sink) session_send_message(ddl->session, &first);
    return sim_error(ddl->error, number, "%s", text);
}

bool ddl_not_created(const Ddl *ddl)
{
    return fail_after(ddl, 1750, "Could not create constraint or index. See previous errors.");
}

static const SimColumn *find_column(const SimTable *table, Str name)
{
    ptrdiff_t ordinal = sim_table_find_column(table, name);

    return ordinal < 0 ? NULL : &sim_table_info(table)->columns[ordinal];
}

/* --- CHECK --- */
/* The only column an expression names; several or none: empty. */
static void note_columns(const Expr *expr, Str *only, bool *several)
{
    if (!expr) return;
    if (expr->kind == EXPR_COLUMN) {
        Str name = expr->parts.items[expr->parts.count - 1];
        *several |= !str_is_empty(*only) && !sim_name_equal(*only, name);
        *only = name;
    }
    for (size_t i = 0; i < expr->args.count; i++)
        note_columns(expr->args.items[i], only, several);
    note_columns(expr->operand, only, several);
    note_columns(expr->otherwise, only, several);
}

static bool make_check(const Ddl *ddl, const SimTable *table, const ConstraintDef *def,
                       SimConstraint *out)
{
    const SimTableInfo *info    = sim_table_info(table);
    Str                 only    = STR_EMPTY;
    bool                several = false;
    Binder             *binder  = binder_new(ddl->session, ddl->arena, ddl->error);
    QueryScope         *scope   = scope_new(binder, NULL);
    BoundSource        *source  = scope_add(binder, scope, BOUND_DERIVED, STR_EMPTY, 0);
    Node               *node    = NULL;

    source->columns      = ARENA_ARRAY(ddl->arena, BoundColumn, info->column_count + 1);
    source->column_count = info->column_count;
    source->name         = info->name;
    for (size_t i = 0; i < info->column_count; i++)
        source->columns[i] = (BoundColumn){.name        = info->columns[i].name,
                                           .type        = info->columns[i].type,
                                           .is_nullable = info->columns[i].is_nullable,
                                           .slot        = -1,
                                           .ordinal     = i};
    if (!bind_predicate(binder, scope, def->expr, &node)) return ddl_not_created(ddl);
    note_columns(def->expr, &only, &several);
    const SimColumn *column = several || str_is_empty(only) ? NULL : find_column(table, only);
    *out                    = (SimConstraint){.kind       = SIM_CONSTRAINT_CHECK,
                                              .name       = def->name,
                                              .check      = def->expr,
                                              .definition = def->text,
                                              .column_id  = column ? column->column_id : 0};
    return true;
}

/* --- FOREIGN KEY --- */
static const SimIndex *primary_key(const SimTableInfo *info)
{
    for (size_t i = 0; i < info->index_count; i++)
        if (info->indexes[i]->is_primary_key) return info->indexes[i];
    return NULL;
}

/* A unique index of exactly these columns. */
static bool is_candidate_key(const SimTableInfo *info, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < info->index_count; i++) {
        const SimIndex *index   = info->indexes[i];
        size_t          matched = 0;
        if (!index->is_unique || index->column_count != count) continue;
        for (size_t k = 0; k < count; k++)
            for (size_t c = 0; c < count; c++)
                matched += index->columns[k].column_id == ids[c];
        if (matched == count) return true;
    }
    return false;
}

static bool referenced_columns(const Ddl *ddl, const ConstraintDef *def, const SimTable *parent,
                               Str name, int32_t *ids)
{
    const SimTableInfo *info = sim_table_info(parent);
    const SimIndex     *key  = primary_key(info);

    if (def->referenced_columns.count == 0) {
        if (!key)
            return sim_error(ddl->error, 1773,
                             "Foreign key '%.*s' has implicit reference to object '%.*s' which "
                             "does not have a primary key defined on it.",
                             STR_ARG(name), STR_ARG(info->name));
        if (key->column_count == def->columns.count) {
            for (size_t i = 0; i < key->column_count; i++)
                ids[i] = key->columns[i].column_id;
            return true;
        }
    }
    if (def->referenced_columns.count != def->columns.count)
        return sim_error(ddl->error, 8139,
                         "Number of referencing columns in foreign key differs from number of "
                         "referenced columns, table '%.*s'.",
                         STR_ARG(ddl->stmt->object.name));
    for (size_t i = 0; i < def->referenced_columns.count; i++) {
        const SimColumn *column = find_column(parent, def->referenced_columns.items[i]);
        if (!column)
            return sim_error(ddl->error, 1770,
                             "Foreign key '%.*s' references invalid column '%.*s' in referenced "
                             "table '%.*s'.",
                             STR_ARG(name), STR_ARG(def->referenced_columns.items[i]),
                             STR_ARG(info->name));
        ids[i] = column->column_id;
    }
    return is_candidate_key(info, ids, def->columns.count) ||
           sim_error(ddl->error, 1776,
                     "There are no primary or candidate keys in the referenced table '%.*s' that "
                     "match the referencing column list in the foreign key '%.*s'.",
                     STR_ARG(info->name), STR_ARG(name));
}

static bool same_type(const Ddl *ddl, const SimColumn *child, const SimTable *parent, int32_t id,
                      Str name)
{
    const SimTableInfo *info = sim_table_info(parent);

    for (size_t i = 0; i < info->column_count; i++) {
        const SimColumn *column = &info->columns[i];
        if (column->column_id != id) continue;
        if (column->type.kind == child->type.kind && column->type.length == child->type.length &&
            column->type.precision == child->type.precision &&
            column->type.scale == child->type.scale)
            return true;
        return sim_error(ddl->error, column->type.kind == child->type.kind ? 1753 : 1778,
                         "Column '%.*s.%.*s' is not the same %s as referencing column "
                         "'%.*s.%.*s' in foreign key '%.*s'.",
                         STR_ARG(info->name), STR_ARG(column->name),
                         column->type.kind == child->type.kind ? "length or scale" : "data type",
                         STR_ARG(ddl->stmt->object.name), STR_ARG(child->name), STR_ARG(name));
    }
    return true;
}

static bool make_foreign_key(const Ddl *ddl, SimTable *table, const ConstraintDef *def, Str name,
                             SimConstraint *out)
{
    SimDatabase *database   = sim_table_database(table);
    SimTable    *parent     = sim_database_find_table(database, def->referenced.schema,
                                                      def->referenced.name);
    int32_t     *ids        = ARENA_ARRAY(ddl->arena, int32_t, def->columns.count + 1);
    int32_t     *referenced = ARENA_ARRAY(ddl->arena, int32_t, def->columns.count + 1);

    if (!parent || !str_is_empty(def->referenced.database)) {
        sim_error(ddl->error, 1767, "Foreign key '%.*s' references invalid table '%.*s%s%.*s'.",
                  STR_ARG(name), STR_ARG(def->referenced.schema),
                  def->referenced.schema.len ? "." : "", STR_ARG(def->referenced.name));
        return ddl_not_created(ddl);
    }
    for (size_t i = 0; i < def->columns.count; i++) {
        const SimColumn *column = find_column(table, def->columns.items[i].name);
        if (!column) {
            sim_error(ddl->error, 1769,
                      "Foreign key '%.*s' references invalid column '%.*s' in referencing table "
                      "'%.*s'.",
                      STR_ARG(name), STR_ARG(def->columns.items[i].name),
                      STR_ARG(ddl->stmt->object.name));
            return ddl_not_created(ddl);
        }
        ids[i] = column->column_id;
    }
    if (!referenced_columns(ddl, def, parent, name, referenced)) return ddl_not_created(ddl);
    for (size_t i = 0; i < def->columns.count; i++)
        if (!same_type(ddl, find_column(table, def->columns.items[i].name), parent, referenced[i],
                       name))
            return ddl_not_created(ddl);
    *out = (SimConstraint){.kind                  = SIM_CONSTRAINT_FOREIGN_KEY,
                           .name                  = def->name,
                           .column_ids            = ids,
                           .column_count          = def->columns.count,
                           .referenced_table_id   = sim_table_info(parent)->object_id,
                           .referenced_column_ids = referenced};
    return true;
}

/* --- names --- */
static bool name_is_taken(SimDatabase *database, Str schema, Str name)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    if (sim_database_find_table(database, schema, name) ||
        sim_database_find_module(database, schema, name))
        return true;
    while (sim_database_next_table(database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (!sim_name_equal(info->schema, schema)) continue;
        for (size_t i = 0; i < info->constraint_count; i++)
            if (sim_name_equal(info->constraints[i].name, name)) return true;
        for (size_t i = 0; i < info->column_count; i++)
            if (info->columns[i].default_value &&
                sim_name_equal(info->columns[i].default_name, name))
                return true;
    }
    return false;
}

static bool check_name(const Ddl *ddl, const SimTable *table, Str name)
{
    const SimTableInfo *info = sim_table_info(table);

    if (info->is_temporary || str_is_empty(name) ||
        !name_is_taken(sim_table_database(table), info->schema, name))
        return true;
    sim_error(ddl->error, 2714, "There is already an object named '%.*s' in the database.",
              STR_ARG(name));
    return ddl_not_created(ddl);
}

/* --- adding --- */
static bool add_one(const Ddl *ddl, SimTxn *txn, SimTable *table, const ConstraintDef *def,
                    bool check_rows)
{
    const SimTableInfo *info = sim_table_info(table);
    SimConstraint      *all  = ARENA_ARRAY(ddl->arena, SimConstraint, info->constraint_count + 1);
    SimConstraint      *made = &all[info->constraint_count];
    bool                is_check = def->kind == CONSTRAINT_CHECK;
    Str                 column   = is_check ? def->for_column : def->columns.items[0].name;
    Str                 name     = str_is_empty(def->name)
                                       ? ddl_made_up_name(ddl, is_check ? "CK" : "FK", ddl->stmt->object.name, column)
                                       : def->name;

    for (size_t i = 0; i < info->constraint_count; i++)
        all[i] = info->constraints[i];
    if (!check_name(ddl, table, def->name)) return false;
    if (is_check ? !make_check(ddl, table, def, made)
                 : !make_foreign_key(ddl, table, def, name, made))
        return false;
    made->name            = name;
    made->is_system_named = str_is_empty(def->name);
    made->is_not_trusted  = def->is_unchecked;
    if (check_rows && !def->is_unchecked &&
        !constraint_check_rows(ddl->session, ddl->stmt, sim_table_database(table), table, made,
                               ddl->arena, ddl->error))
        return false;
    return sim_describe_table(txn, table, NULL, all, info->constraint_count + 1, ddl->error);
}

bool ddl_add_constraints(const Ddl *ddl, SimTxn *txn, SimTable *table,
                         const ConstraintDefList *defs, bool check_rows)
{
    for (size_t i = 0; i < defs->count; i++) {
        const ConstraintDef *def = &defs->items[i];
        if (def->kind == CONSTRAINT_FOREIGN_KEY && sim_table_info(table)->is_temporary) {
            session_send_info(ddl->session, 1766, 0, 0, def->line,
                              "Skipping FOREIGN KEY constraint '%.*s' definition for temporary "
                              "table. FOREIGN KEY constraints are not enforced on local or global "
                              "temporary tables.",
                              STR_ARG(def->name));
            continue;
        }
        if ((def->kind == CONSTRAINT_CHECK || def->kind == CONSTRAINT_FOREIGN_KEY) &&
            !add_one(ddl, txn, table, def, check_rows))
            return false;
    }
    return true;
}

static SimColumn *copy_columns(const Ddl *ddl, const SimTableInfo *info)
{
    SimColumn *columns = ARENA_ARRAY(ddl->arena, SimColumn, info->column_count + 1);

    for (size_t i = 0; i < info->column_count; i++)
        columns[i] = info->columns[i];
    return columns;
}

bool ddl_add_default(const Ddl *ddl, SimTxn *txn, SimTable *table, const ConstraintDef *def)
{
    const SimTableInfo *info    = sim_table_info(table);
    ptrdiff_t           ordinal = sim_table_find_column(table, def->for_column);
    Binder             *binder  = binder_new(ddl->session, ddl->arena, ddl->error);
    Node               *node    = NULL;

    if (ordinal < 0) {
        sim_error(ddl->error, 1752,
                  "Column '%.*s' in table '%.*s' is invalid for creating a default constraint.",
                  STR_ARG(def->for_column), STR_ARG(info->name));
        return ddl_not_created(ddl);
    }
    if (info->columns[ordinal].default_value) {
        sim_error(ddl->error, 1781, "Column already has a DEFAULT bound to it.");
        return ddl_not_created(ddl);
    }
    if (info->columns[ordinal].is_identity) {
        sim_error(ddl->error, 1754,
                  "Defaults cannot be created on columns with an IDENTITY attribute. Table "
                  "'%.*s', column '%.*s'.",
                  STR_ARG(info->name), STR_ARG(info->columns[ordinal].name));
        return ddl_not_created(ddl);
    }
    if (!check_name(ddl, table, def->name) || !bind_expr(binder, NULL, def->expr, &node))
        return false;
    SimColumn *columns                       = copy_columns(ddl, info);
    columns[ordinal].default_value           = def->expr;
    columns[ordinal].default_name            = str_is_empty(def->name)
                                                   ? ddl_made_up_name(ddl, "DF", info->name, def->for_column)
                                                   : def->name;
    columns[ordinal].default_is_system_named = str_is_empty(def->name);
    return sim_describe_table(txn, table, columns, info->constraints, info->constraint_count,
                              ddl->error);
}

/* --- dropping --- */
static bool drop_key(const Ddl *ddl, SimTxn *txn, SimTable *table, Str name)
{
    SimTable            *child = NULL;
    const SimTableInfo  *info  = sim_table_info(table);
    const SimConstraint *key   = constraint_on(table, &child);

    for (size_t i = 0; i < info->index_count; i++) {
        const SimIndex *index = info->indexes[i];
        if (!sim_name_equal(index->name, name)) continue;
        if (!index->is_primary_key && !index->is_unique_constraint) break;
        if (key && is_candidate_key(info, key->referenced_column_ids, key->column_count) &&
            index->column_count == key->column_count) {
            sim_error(ddl->error, 3725,
                      "The constraint '%.*s' is being referenced by table '%.*s', foreign key "
                      "constraint '%.*s'.",
                      STR_ARG(index->name), STR_ARG(sim_table_info(child)->name),
                      STR_ARG(key->name));
            return fail_after(ddl, 3727, "Could not drop constraint. See previous errors.");
        }
        return sim_drop_index(txn, table, name, ddl->error);
    }
    if (ddl->stmt->if_exists) return true;
    sim_error(ddl->error, 3728, "'%.*s' is not a constraint.", STR_ARG(name));
    return fail_after(ddl, 3727, "Could not drop constraint. See previous errors.");
}

bool ddl_drop_constraint(const Ddl *ddl, SimTxn *txn, SimTable *table, Str name)
{
    const SimTableInfo *info = sim_table_info(table);

    for (size_t i = 0; i < info->constraint_count; i++) {
        if (!sim_name_equal(info->constraints[i].name, name)) continue;
        SimConstraint *kept  = ARENA_ARRAY(ddl->arena, SimConstraint, info->constraint_count + 1);
        size_t         count = 0;
        for (size_t k = 0; k < info->constraint_count; k++)
            if (k != i) kept[count++] = info->constraints[k];
        return sim_describe_table(txn, table, NULL, kept, count, ddl->error);
    }
    for (size_t i = 0; i < info->column_count; i++) {
        if (!info->columns[i].default_value || !sim_name_equal(info->columns[i].default_name, name))
            continue;
        SimColumn *columns       = copy_columns(ddl, info);
        columns[i].default_value = NULL;
        columns[i].default_name  = STR_EMPTY;
        return sim_describe_table(txn, table, columns, info->constraints, info->constraint_count,
                                  ddl->error);
    }
    return drop_key(ddl, txn, table, name);
}

/* --- CHECK CONSTRAINT and NOCHECK CONSTRAINT --- */
bool ddl_enable_constraints(const Ddl *ddl, SimTxn *txn, SimTable *table)
{
    const SimTableInfo *info = sim_table_info(table);
    SimConstraint      *all  = ARENA_ARRAY(ddl->arena, SimConstraint, info->constraint_count + 1);
    bool                on   = str_equal_c(ddl->stmt->words.items[0], "CHECK");

    for (size_t i = 0; i < info->constraint_count; i++)
        all[i] = info->constraints[i];
    for (size_t n = 0; n < ddl->stmt->columns.count; n++) {
        Str  name  = ddl->stmt->columns.items[n];
        bool found = str_is_empty(name); /* ALL */
        for (size_t i = 0; i < info->constraint_count; i++) {
            if (!str_is_empty(name) && !sim_name_equal(all[i].name, name)) continue;
            found              = true;
            all[i].is_disabled = !on;
            if (!on || !ddl->stmt->default_values) all[i].is_not_trusted = true;
            if (!on || !ddl->stmt->default_values) continue;
            if (!constraint_check_rows(ddl->session, ddl->stmt, sim_table_database(table), table,
                                       &all[i], ddl->arena, ddl->error))
                return false;
            all[i].is_not_trusted = false;
        }
        if (!found) {
            sim_error(ddl->error, 4917, "Constraint '%.*s' does not exist.", STR_ARG(name));
            return fail_after(ddl, 4916,
                              "Could not enable or disable the constraint. See previous errors.");
        }
    }
    return sim_describe_table(txn, table, NULL, all, info->constraint_count, ddl->error);
}

/* --- columns that something needs --- */
static bool names_column(const Expr *expr, Str column)
{
    if (!expr) return false;
    if (expr->kind == EXPR_COLUMN &&
        sim_name_equal(expr->parts.items[expr->parts.count - 1], column))
        return true;
    for (size_t i = 0; i < expr->args.count; i++)
        if (names_column(expr->args.items[i], column)) return true;
    return names_column(expr->operand, column) || names_column(expr->otherwise, column);
}

static bool depends(const Ddl *ddl, const char *what, Str name, Str column, const char *action)
{
    sim_error(ddl->error, 5074, "The %s '%.*s' is dependent on column '%.*s'.", what, STR_ARG(name),
              STR_ARG(column));
    return fail_after(ddl, 4922,
                      str_printf(ddl->arena,
                                 "ALTER TABLE %s %.*s failed because one or more objects access "
                                 "this column.",
                                 action, STR_ARG(column))
                          .ptr);
}

bool ddl_check_column_is_free(const Ddl *ddl, const SimTable *table, Str column, const char *action,
                              bool with_default)
{
    const SimTableInfo *info   = sim_table_info(table);
    const SimColumn    *target = find_column(table, column);

    if (!target) return true; /* 4924 */
    if (with_default && target->default_value)
        return depends(ddl, "object", target->default_name, target->name, action);
    for (size_t i = 0; i < info->constraint_count; i++) {
        const SimConstraint *constraint = &info->constraints[i];
        bool                 needs      = constraint->kind == SIM_CONSTRAINT_CHECK &&
                     names_column(constraint->check, target->name);
        for (size_t k = 0; k < constraint->column_count; k++)
            needs |= constraint->column_ids[k] == target->column_id;
        if (needs) return depends(ddl, "object", constraint->name, target->name, action);
    }
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].computed && &info->columns[i] != target &&
            names_column(info->columns[i].computed, target->name))
            return depends(ddl, "column", info->columns[i].name, target->name, action);
    return true;
}
