/* constraint.c - CHECK and FOREIGN KEY (547). A check is asked of each row as it is made; references are looked up when a statement has written all
 * of its rows, so rows may reference each other. */
#include "sim/exec/ddl_internal.h"

static const char *verb_of(const Stmt *stmt)
{
    return stmt->kind == STMT_INSERT || stmt->kind == STMT_SELECT ? "INSERT"
           : stmt->kind == STMT_UPDATE                            ? "UPDATE"
           : stmt->kind == STMT_DELETE                            ? "DELETE"
           : stmt->kind == STMT_MERGE                             ? "MERGE"
                                                                  : "ALTER TABLE";
}

static const SimColumn *column_by_id(const SimTableInfo *info, int32_t id, size_t *ordinal_out)
{
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].column_id == id) {
            if (ordinal_out) *ordinal_out = i;
            return &info->columns[i];
        }
    return NULL;
}

bool constraint_conflict(const Stmt *stmt, const char *kind, const SimConstraint *constraint,
                         const SimDatabase *database, const SimTableInfo *info, int32_t column_id,
                         SimError *error)
{
    const SimColumn *column = column_by_id(info, column_id, NULL);

    return sim_error(
        error, 547,
        "The %s statement conflicted with the %s constraint \"%.*s\". The conflict "
        "occurred in database \"%.*s\", table \"%.*s.%.*s\"%s%.*s%s.",
        verb_of(stmt), kind, STR_ARG(constraint->name), STR_ARG(sim_database_name(database)),
        STR_ARG(info->schema), STR_ARG(info->name), column ? ", column '" : "",
        column ? (int)column->name.len : 0, column ? column->name.ptr : "", column ? "'" : "");
}

/* --- CHECK --- */
bool change_bind_checks(Change *change, QueryScope *scope, Target *target)
{
    const SimTableInfo *info = target->info;

    for (size_t i = 0; i < info->constraint_count; i++) {
        const SimConstraint *constraint = &info->constraints[i];
        if (constraint->is_disabled) continue;
        if (constraint->kind == SIM_CONSTRAINT_FOREIGN_KEY) {
            target->has_keys = true;
            continue;
        }
        if (!target->checks)
            target->checks = ARENA_ARRAY(change->arena, Node *, info->constraint_count + 1);
        if (!bind_predicate(change->binder, scope, constraint->check, &target->checks[i]))
            return false;
    }
    return true;
}

bool change_check_row(Change *change, Target *target, const SimValue *values)
{
    const SimTableInfo *info = target->info;

    for (size_t i = 0; target->checks && i < info->constraint_count; i++) {
        if (!target->checks[i]) continue;
        Arena *scratch       = change->exec.scratch;
        change->exec.scratch = change->row_arena;
        Truth truth          = target->checks[i]->test(target->checks[i], &change->exec);
        change->exec.scratch = scratch;
        if (truth == TRUTH_ERROR) return false;
        if (truth == TRUTH_FALSE)
            return constraint_conflict(change->stmt, "CHECK", &info->constraints[i],
                                       target->database, info, info->constraints[i].column_id,
                                       change->error);
    }
    if (!target->has_keys) return true;
    SimValue *kept = ARENA_ARRAY(change->arena, SimValue, info->column_count + 1);
    for (size_t i = 0; i < info->column_count; i++)
        kept[i] = value_copy(change->arena, &values[i]);
    *LIST_PUSH(change->arena, &change->key_rows) = kept;
    return true;
}

/* --- FOREIGN KEY: a row with these values in these columns --- */
typedef struct Lookup {
    SimTxn         *txn;
    SimTable       *table;
    const int32_t  *column_ids;
    const SimValue *values; /* of the columns' exact types, none of them NULL */
    size_t          count;
} Lookup;

/* An index that begins with the columns, in any order; `order_out` says which value comes first. */
static const SimIndex *lookup_index(const Lookup *lookup, SimValue *equal)
{
    const SimTableInfo *info = sim_table_info(lookup->table);

    for (size_t i = 0; i < info->index_count; i++) {
        const SimIndex *index   = info->indexes[i];
        size_t          matched = 0;
        if (index->column_count < lookup->count) continue;
        for (size_t k = 0; k < lookup->count; k++)
            for (size_t c = 0; c < lookup->count; c++)
                if (index->columns[k].column_id == lookup->column_ids[c]) {
                    equal[k] = lookup->values[c];
                    matched++;
                }
        if (matched == lookup->count) return index;
    }
    return NULL;
}

static bool row_matches(const Lookup *lookup, const SimRow *row)
{
    const SimTableInfo *info = sim_table_info(lookup->table);

    for (size_t i = 0; i < lookup->count; i++) {
        size_t   ordinal = 0;
        SimValue value;
        (void)column_by_id(info, lookup->column_ids[i], &ordinal);
        sim_row_value(lookup->table, row, ordinal, &value);
        if (value.is_null || sim_compare_same(&value, &lookup->values[i]) != 0) return false;
    }
    return true;
}

/* As READ COMMITTED sees it, whatever the session's isolation: a key that somebody is taking away is waited for. */
static bool lookup_row(const Lookup *lookup, Arena *arena, bool *found_out, SimError *error)
{
    SimValue       *equal   = ARENA_ARRAY(arena, SimValue, lookup->count + 1);
    const SimIndex *index   = lookup_index(lookup, equal);
    SimRange        range   = {.index = index, .equal = equal};
    SimScanOptions  options = {.isolation  = SIM_READ_COMMITTED,
                               .locks_rows = true, /* what is there now, not an older version */
                               .limit_hint = 1};
    SimScan        *scan    = NULL;
    size_t          count   = 0;
    bool            ok      = true;

    *found_out = false;
    if (index) range.equal_count = lookup->count;
    if (!sim_scan_open(lookup->txn, lookup->table, &range, &options, &scan, error)) return false;
    do {
        const SimRow *const *rows = NULL;
        ok                        = sim_scan_next(scan, &rows, &count, error);
        for (size_t i = 0; ok && i < count && !*found_out; i++)
            *found_out = row_matches(lookup, rows[i]);
    } while (ok && count > 0 && !*found_out);
    sim_scan_close(scan);
    return ok;
}

/* The values of a key's columns; false when one is NULL: then nothing is referenced. */
static bool key_values(const SimTableInfo *info, const int32_t *column_ids, size_t count,
                       const SimValue *row, SimValue *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t ordinal = 0;
        if (!column_by_id(info, column_ids[i], &ordinal) || row[ordinal].is_null) return false;
        out[i] = row[ordinal];
    }
    return true;
}

static bool check_reference(Change *change, const Target *target, const SimConstraint *key,
                            const SimValue *row)
{
    SimTable *table  = sim_database_find_table_by_id(target->database, key->referenced_table_id);
    SimValue *values = ARENA_ARRAY(change->arena, SimValue, key->column_count + 1);
    bool      found  = false;

    if (!table || !key_values(target->info, key->column_ids, key->column_count, row, values))
        return true;
    Lookup lookup = {change_txn(change, target), table, key->referenced_column_ids, values,
                     key->column_count};
    if (!lookup_row(&lookup, change->arena, &found, change->error)) return false;
    if (found) return true;
    return constraint_conflict(
        change->stmt, table == target->table ? "FOREIGN KEY SAME TABLE" : "FOREIGN KEY", key,
        target->database, sim_table_info(table),
        key->column_count == 1 ? key->referenced_column_ids[0] : 0, change->error);
}

bool change_check_references(Change *change, Target *target)
{
    const SimTableInfo *info = target->info;

    for (size_t r = 0; r < change->key_rows.count; r++)
        for (size_t i = 0; i < info->constraint_count; i++) {
            const SimConstraint *key = &info->constraints[i];
            if (key->kind != SIM_CONSTRAINT_FOREIGN_KEY || key->is_disabled) continue;
            if (!check_reference(change, target, key, change->key_rows.items[r])) return false;
        }
    return true;
}

/* --- what references the rows that are gone --- */
static bool check_referrer(Change *change, const Target *target, SimTable *child,
                           const SimConstraint *key, const SimValue *old)
{
    SimValue *values = ARENA_ARRAY(change->arena, SimValue, key->column_count + 1);
    SimTxn   *txn    = change_txn(change, target);
    bool      found  = false;

    if (!key_values(target->info, key->referenced_column_ids, key->column_count, old, values))
        return true;
    Lookup parent = {txn, target->table, key->referenced_column_ids, values, key->column_count};
    if (!lookup_row(&parent, change->arena, &found, change->error)) return false;
    if (found) return true; /* an update left the key, or put it back */
    Lookup lookup = {txn, child, key->column_ids, values, key->column_count};
    if (!lookup_row(&lookup, change->arena, &found, change->error)) return false;
    if (!found) return true;
    return constraint_conflict(change->stmt,
                               child == target->table ? "SAME TABLE REFERENCE" : "REFERENCE", key,
                               target->database, sim_table_info(child),
                               key->column_count == 1 ? key->column_ids[0] : 0, change->error);
}

static bool check_child(Change *change, const Target *target, SimTable *child,
                        const SimChange *changes, size_t count)
{
    const SimTableInfo *info = sim_table_info(child);
    SimValue           *old  = ARENA_ARRAY(change->arena, SimValue, target->info->column_count + 1);

    for (size_t i = 0; i < info->constraint_count; i++) {
        const SimConstraint *key = &info->constraints[i];
        if (key->kind != SIM_CONSTRAINT_FOREIGN_KEY || key->is_disabled ||
            key->referenced_table_id != target->info->object_id)
            continue;
        for (size_t r = 0; r < count; r++) {
            for (size_t c = 0; c < target->info->column_count; c++)
                sim_row_value(target->table, changes[r].row, c, &old[c]);
            if (!check_referrer(change, target, child, key, old)) return false;
        }
    }
    return true;
}

bool change_check_referrers(Change *change, const Target *target, const SimChange *changes,
                            size_t count)
{
    size_t    at    = 0;
    SimTable *child = NULL;

    if (target->info->is_temporary || target->info->is_system || count == 0 ||
        !sim_database_has_foreign_keys(target->database))
        return true;
    while (sim_database_next_table(target->database, &at, &child))
        if (sim_table_info(child)->constraint_count > 0 &&
            !check_child(change, target, child, changes, count))
            return false;
    return true;
}

const SimConstraint *constraint_on(SimTable *table, SimTable **child_out)
{
    SimDatabase *database = sim_table_database(table);
    size_t       at       = 0;
    SimTable    *child    = NULL;

    if (!sim_database_has_foreign_keys(database)) return NULL;
    while (sim_database_next_table(database, &at, &child)) {
        const SimTableInfo *info = sim_table_info(child);
        for (size_t i = 0; i < info->constraint_count && child != table; i++)
            if (info->constraints[i].kind == SIM_CONSTRAINT_FOREIGN_KEY &&
                info->constraints[i].referenced_table_id == sim_table_info(table)->object_id) {
                *child_out = child;
                return &info->constraints[i];
            }
    }
    return NULL;
}

/* --- rows that are there already, when a constraint comes --- */
bool constraint_check_rows(SimSession *session, const Stmt *stmt, SimDatabase *database,
                           SimTable *table, const SimConstraint *constraint, Arena *arena,
                           SimError *error)
{
    Change              change;
    const SimTableInfo *info    = sim_table_info(table);
    Node               *node    = NULL;
    SimScan            *scan    = NULL;
    size_t              count   = 0;
    bool                ok      = true;
    SimRange            range   = {0};
    SimScanOptions      options = {.isolation = SIM_READ_COMMITTED, .locks_rows = true};

    change_begin(&change, session, stmt, arena, error);
    change.target             = (Target){.database = database,
                                         .table    = table,
                                         .info     = info,
                                         .schema   = info->schema,
                                         .name     = info->name};
    Target     *target        = &change.target;
    QueryScope *scope         = scope_new(change.binder, NULL);
    change.binder->is_trusted = true;
    target->row = bind_table_source(change.binder, scope, database, table, info->schema, STR_EMPTY);
    if (!target->row) return false;
    for (size_t i = 0; i < target->row->column_count; i++)
        (void)source_slot(change.binder, target->row, i);
    if (constraint->kind == SIM_CONSTRAINT_CHECK &&
        !bind_predicate(change.binder, scope, constraint->check, &node))
        return false;
    binder_start(change.binder, &change.exec);
    SimValue *values = ARENA_ARRAY(arena, SimValue, info->column_count + 1);
    if (!sim_scan_open(session_txn(session, database), table, &range, &options, &scan, error))
        return false;
    do {
        const SimRow *const *rows = NULL;
        ok                        = sim_scan_next(scan, &rows, &count, error);
        for (size_t r = 0; ok && r < count; r++) {
            for (size_t i = 0; i < info->column_count; i++)
                sim_row_value(table, rows[r], i, &values[i]);
            if (constraint->kind == SIM_CONSTRAINT_FOREIGN_KEY) {
                ok = check_reference(&change, target, constraint, values);
                continue;
            }
            change_fill_slots(&change, target->row, values);
            arena_reset(change.row_arena);
            change.exec.scratch = change.row_arena;
            Truth truth         = node->test(node, &change.exec);
            ok                  = truth != TRUTH_ERROR;
            if (truth == TRUTH_FALSE)
                ok = constraint_conflict(stmt, "CHECK", constraint, database, info,
                                         constraint->column_id, error);
        }
    } while (ok && count > 0);
    sim_scan_close(scan);
    exec_end(&change.exec);
    return ok;
}
