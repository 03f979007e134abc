/* bind_name.c - scopes, tables and columns by name, and the permissions a statement needs. */
#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

#include <stdarg.h>
#include <stdio.h>

Binder *binder_new(SimSession *session, Arena *arena, SimError *error)
{
    Binder *binder = ARENA_NEW(arena, Binder);

    binder->session = session;
    binder->arena   = arena;
    binder->error   = error;

    binder->recursion_limit = 100;
    return binder;
}

int binder_slot(Binder *binder)
{
    return binder->slot_count++;
}

bool binder_error(Binder *binder, int32_t line, int32_t number, const char *fmt, ...)
{
    char    text[900];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    sim_error(binder->error, number, "%s", text);
    binder->error->line = line;
    return false;
}

bool binder_not_supported(Binder *binder, int32_t line, const char *fmt, ...)
{
    char    text[500];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    sim_not_supported(binder->error, "%s", text);
    binder->error->line = line;
    return false;
}

void binder_start(Binder *binder, Exec *exec)
{
    exec->slots = ARENA_ARRAY(binder->arena, SimValue, (size_t)binder->slot_count + 1);
    exec->wires = ARENA_ARRAY(binder->arena, SlotWire, (size_t)binder->slot_count + 1);
    for (int i = 0; i < binder->slot_count; i++)
        exec->slots[i].is_null = true;
}

QueryScope *scope_new(Binder *binder, QueryScope *outer)
{
    QueryScope *scope = ARENA_NEW(binder->arena, QueryScope);

    scope->outer = outer;
    return scope;
}

/* Of a statement: views and common tables of which each names the one before twice double with every step. */
#define SOURCES_MOST 4096

BoundSource *scope_add(Binder *binder, QueryScope *scope, BoundKind kind, Str alias, int32_t line)
{
    BoundSource *source = ARENA_NEW(binder->arena, BoundSource);

    for (size_t i = 0; i < scope->sources.count && !str_is_empty(alias); i++)
        if (sim_name_equal(scope->sources.items[i]->alias, alias)) {
            binder_error(
                binder, line, 1011,
                "The correlation name '%.*s' is specified multiple times in a FROM clause.",
                STR_ARG(alias));
            return NULL;
        }
    if (scope->sources.count >= 64) {
        binder_not_supported(binder, line, "more than 64 tables in one FROM");
        return NULL;
    }
    if (binder->all_sources.count >= SOURCES_MOST) {
        binder_error(binder, line, 8623,
                     "The query processor ran out of internal resources and could not produce a "
                     "query plan. This is a rare event and only expected for extremely complex "
                     "queries or queries that reference a very large number of tables or "
                     "partitions. Please simplify the query.");
        return NULL;
    }
    source->kind                                    = kind;
    source->alias                                   = alias;
    source->scope                                   = scope;
    source->index                                   = (unsigned)scope->sources.count;
    source->row_slot                                = -1;
    source->is_trusted                              = binder->is_trusted;
    *LIST_PUSH(binder->arena, &scope->sources)      = source;
    *LIST_PUSH(binder->arena, &binder->all_sources) = source;
    return source;
}

/* --- tables --- */
Str bind_full_name(Arena *arena, const ObjectName *name)
{
    if (!str_is_empty(name->database))
        return str_printf(arena, "%.*s.%.*s.%.*s", STR_ARG(name->database), STR_ARG(name->schema),
                          STR_ARG(name->name));
    if (!str_is_empty(name->schema))
        return str_printf(arena, "%.*s.%.*s", STR_ARG(name->schema), STR_ARG(name->name));
    return name->name;
}

static SimTable *find_temp_table(SimSession *session, Str name)
{
    for (size_t i = session->temp_tables.count; i-- > 0;) {
        TempTable *temp = &session->temp_tables.items[i];
        if (sim_name_equal(temp->name, name) && !sim_table_is_dropped(temp->table))
            return temp->table;
    }
    return NULL;
}

static bool find_database(Binder *binder, const ObjectName *name, SimDatabase **out)
{
    SimSession *session = binder->session;
    Str         user;

    *out = binder->database ? binder->database : session->database;
    if (str_is_empty(name->database)) return true;
    *out = sim_server_find_database(session->server, name->database);
    if (!*out)
        return binder_error(binder, name->line, 208, "Invalid object name '%.*s'.",
                            STR_ARG(bind_full_name(binder->arena, name)));
    if (*out != session->database && !session_user_in(session, *out, &user))
        return binder_error(binder, name->line, 916,
                            "The server principal \"%.*s\" is not able to access the database "
                            "\"%.*s\" under the current security context.",
                            STR_ARG(session->login.name), STR_ARG(sim_database_name(*out)));
    return true;
}

bool bind_table_name(Binder *binder, const ObjectName *name, SimDatabase **database_out,
                     SimTable **table_out, Str *schema_out)
{
    if (name->name.len && name->name.ptr[0] == '#') {
        *table_out = find_temp_table(binder->session, name->name);
        if (*table_out) {
            *database_out = sim_table_database(*table_out);
            *schema_out   = STR("dbo");
            return true;
        }
    } else {
        if (!find_database(binder, name, database_out)) return false;
        *schema_out = str_is_empty(name->schema) ? STR("dbo") : name->schema;
        *table_out  = sim_database_find_table(*database_out, *schema_out, name->name);
        if (*table_out) return true;
    }
    return binder_error(binder, name->line, 208, "Invalid object name '%.*s'.",
                        STR_ARG(bind_full_name(binder->arena, name)));
}

/* The description of a table stays as it is until the statement ends. */
static bool hold_description(Binder *binder, SimDatabase *database, SimTable *table)
{
    SimSession *session = binder->session;

    if (session->statement_depth == 0 || sim_table_info(table)->is_temporary) return true;
    if (!sim_lock_table(session_txn(session, database), table, SIM_LOCK_SCHEMA, false,
                        binder->error))
        return false;
    if (!sim_table_is_dropped(table)) return true;
    return binder_error(binder, 0, 208, "Invalid object name '%.*s'.",
                        STR_ARG(sim_table_info(table)->name));
}

BoundSource *bind_table_source(Binder *binder, QueryScope *scope, SimDatabase *database,
                               SimTable *table, Str schema, Str alias)
{
    if (!hold_description(binder, database, table)) return NULL;
    const SimTableInfo *info   = sim_table_info(table);
    BoundSource        *source = scope_add(binder, scope, BOUND_TABLE, alias, 0);

    if (!source) return NULL;
    source->database     = database;
    source->table        = table;
    source->info         = info;
    source->schema       = schema;
    source->name         = info->name;
    source->columns      = ARENA_ARRAY(binder->arena, BoundColumn, info->column_count + 1);
    source->column_count = info->column_count;
    for (size_t i = 0; i < info->column_count; i++)
        source->columns[i] = (BoundColumn){.name        = info->columns[i].name,
                                           .type        = info->columns[i].type,
                                           .is_nullable = info->columns[i].is_nullable,
                                           .is_identity = info->columns[i].is_identity,
                                           .is_computed = info->columns[i].is_computed,
                                           .slot        = -1,
                                           .ordinal     = i};
    return source;
}

/* --- columns --- */
static bool qualifier_matches(const BoundSource *source, const NameList *parts)
{
    size_t count = parts->count - 1;
    Str    last  = parts->items[count - 1];

    if (!str_is_empty(source->alias)) return count == 1 && sim_name_equal(source->alias, last);
    if (!sim_name_equal(source->name, last)) return false;
    if (count >= 2 && !str_is_empty(parts->items[count - 2]) &&
        !sim_name_equal(source->schema, parts->items[count - 2]))
        return false;
    return count < 3 || (source->database && sim_name_equal(sim_database_name(source->database),
                                                            parts->items[count - 3]));
}

int source_slot(Binder *binder, BoundSource *source, size_t column)
{
    BoundColumn *bound = &source->columns[column];

    if (bound->slot < 0) bound->slot = binder_slot(binder);
    return bound->slot;
}

static Node *column_node(Binder *binder, BoundSource *source, size_t column, int32_t line)
{
    BoundColumn *bound = &source->columns[column];
    Node        *node  = node_slot(binder->arena, source_slot(binder, source, column), bound->type,
                                   bound->is_nullable);

    node->source = source;
    node->line   = line;
    return node;
}

static void note_outer(Binder *binder, QueryScope *from, const QueryScope *to, BoundSource *source)
{
    for (QueryScope *scope = from; scope && scope != to; scope = scope->outer) {
        bool known = false;
        for (size_t i = 0; i < scope->outer_refs.count; i++)
            known |= scope->outer_refs.items[i] == source;
        if (!known) *LIST_PUSH(binder->arena, &scope->outer_refs) = source;
    }
}

static bool find_in_scope(Binder *binder, QueryScope *scope, const Expr *expr,
                          BoundSource **source_out, size_t *column_out, bool *qualified)
{
    Str    name  = expr->parts.items[expr->parts.count - 1];
    size_t found = 0;

    for (size_t i = 0; i < scope->sources.count; i++) {
        BoundSource *source = scope->sources.items[i];
        if (expr->parts.count > 1) {
            if (!qualifier_matches(source, &expr->parts)) continue;
            *qualified = true;
        }
        for (size_t c = 0; c < source->column_count; c++) {
            if (!sim_name_equal(source->columns[c].name, name)) continue;
            *source_out = source;
            *column_out = c;
            found++;
        }
    }
    if (found > 1)
        return binder_error(binder, expr->line, 209, "Ambiguous column name '%.*s'.",
                            STR_ARG(name));
    return true;
}

/* Behind a GROUP BY a column is the group's value, which has a slot of its own: the input's still holds the next group's row. */
static bool check_grouped(Binder *binder, const QueryScope *scope, const BoundSource *source,
                          size_t column, const Expr *expr, Node *node)
{
    if (!scope->is_grouped || scope->phase != PHASE_OUTPUT || scope->is_in_aggregate) return true;
    for (size_t i = 0; i < scope->group_nodes.count; i++)
        if (scope->group_nodes.items[i]->kind == NODE_SLOT &&
            scope->group_nodes.items[i]->slot == source->columns[column].slot) {
            node->slot = scope->group_slots.items[i];
            return true;
        }
    Str table = str_is_empty(source->alias) ? source->name : source->alias;
    return binder_error(binder, expr->line, 8120,
                        "Column '%.*s.%.*s' is invalid in the select list because it is not "
                        "contained in either an aggregate function or the "
                        "GROUP BY clause.",
                        STR_ARG(table), STR_ARG(source->columns[column].name));
}

static Str multi_part(Arena *arena, const NameList *parts)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < parts->count; i++) {
        if (i > 0) buf_append_char(&buf, '.');
        buf_append(&buf, parts->items[i]);
    }
    return buf_str(&buf);
}

bool bind_column(Binder *binder, QueryScope *scope, const Expr *expr, Node **out)
{
    bool qualified = false;

    for (QueryScope *at = scope; at; at = at->outer) {
        BoundSource *source = NULL;
        size_t       column = 0;
        bool         here   = false;
        if (!find_in_scope(binder, at, expr, &source, &column, &here)) return false;
        qualified |= here;
        if (!source && here) break; /* the table is here, the column is not */
        if (!source) continue;
        *out = column_node(binder, source, column, expr->line);
        note_outer(binder, scope, at, source);
        return check_grouped(binder, at, source, column, expr, *out);
    }
    if (expr->parts.count > 1 && !qualified)
        return binder_error(binder, expr->line, 4104,
                            "The multi-part identifier \"%.*s\" could not be bound.",
                            STR_ARG(multi_part(binder->arena, &expr->parts)));
    return binder_error(binder, expr->line, 207, "Invalid column name '%.*s'.",
                        STR_ARG(expr->parts.items[expr->parts.count - 1]));
}

bool bind_star(Binder *binder, QueryScope *scope, const Expr *expr, OutList *outs)
{
    bool     found = false;
    NameList parts = expr->parts;

    if (parts.count > 0) { /* the qualifier and a name, as a column has */
        parts.items    = ARENA_ARRAY(binder->arena, Str, expr->parts.count + 1);
        parts.count    = expr->parts.count + 1;
        parts.capacity = parts.count;
        for (size_t i = 0; i < expr->parts.count; i++)
            parts.items[i] = expr->parts.items[i];
    }
    for (size_t i = 0; i < scope->sources.count; i++) {
        BoundSource *source = scope->sources.items[i];
        if (parts.count > 0 && !qualifier_matches(source, &parts)) continue;
        found = true;
        for (size_t c = 0; c < source->column_count; c++) {
            Node *node = column_node(binder, source, c, expr->line);
            if (!check_grouped(binder, scope, source, c, expr, node)) return false;
            *LIST_PUSH(binder->arena,
                       outs) = (OutColumn){.name        = source->columns[c].name,
                                           .node        = node,
                                           .is_nullable = source->columns[c].is_nullable,
                                           .is_identity = source->columns[c].is_identity,
                                           .is_computed = source->columns[c].is_computed};
        }
    }
    if (!found && parts.count > 0)
        return binder_error(binder, expr->line, 107,
                            "The column prefix '%.*s' does not match with a table name or alias "
                            "name used in the query.",
                            STR_ARG(multi_part(binder->arena, &expr->parts)));
    if (!found) return binder_error(binder, expr->line, 263, "Must specify table to select from.");
    return true;
}

/* --- permissions --- */
void binder_use(Binder *binder, BoundSource *source, SimPermission permission, const Str *columns,
                size_t column_count)
{
    *LIST_PUSH(binder->arena, &binder->uses) = (TableUse){source, permission, columns,
                                                          column_count};
}

static const char *permission_name(SimPermission permission)
{
    switch (permission) {
    case SIM_PERM_SELECT: return "SELECT";
    case SIM_PERM_INSERT: return "INSERT";
    case SIM_PERM_UPDATE: return "UPDATE";
    case SIM_PERM_DELETE: return "DELETE";
    case SIM_PERM_EXECUTE: return "EXECUTE";
    case SIM_PERM_CONTROL: return "CONTROL";
    case SIM_PERM_VIEW_SERVER_STATE: return "VIEW SERVER STATE";
    case SIM_PERM_VIEW_DATABASE_STATE: return "VIEW DATABASE STATE";
    }
    return "?";
}

static bool deny_object(Binder *binder, const BoundSource *source, SimPermission permission)
{
    return binder_error(
        binder, 0, 229,
        "The %s permission was denied on the object '%.*s', database '%.*s', schema '%.*s'.",
        permission_name(permission), STR_ARG(source->name),
        STR_ARG(sim_database_name(source->database)), STR_ARG(source->schema));
}

/* The text of a procedure acts for its owner, who owns all of the database. */
static bool is_chained(const Binder *binder, const SimDatabase *database)
{
    const Frame *frame = binder->session->frame;
    return frame && frame->module && binder->session->database == database;
}

static bool check_use(Binder *binder, const BoundSource *source, SimPermission permission,
                      const Str *columns, size_t count, bool any_column)
{
    SimDatabase *database = source->database;
    Str          user;

    if (source->is_table_variable || source->info->is_temporary || source->is_trusted) return true;
    if (is_chained(binder, database)) return true;
    if (permission == SIM_PERM_SELECT && source->table == sim_cdc_mapping_table(database))
        return true;
    if (!session_user_in(binder->session, database, &user))
        return deny_object(binder, source, permission);
    if (sim_is_owner(database, user)) return true;
    if (sim_has_permission(database, user, permission, source->table, columns, count, any_column))
        return true;
    if (!sim_has_permission(database, user, permission, source->table, NULL, 0, true))
        return deny_object(binder, source, permission);
    for (size_t i = 0; i < count; i++)
        if (!sim_has_permission(database, user, permission, source->table, &columns[i], 1, false))
            return binder_error(binder, 0, 230,
                                "The %s permission was denied on the column '%.*s' of the object "
                                "'%.*s', database '%.*s', schema '%.*s'.",
                                permission_name(permission), STR_ARG(columns[i]),
                                STR_ARG(source->name), STR_ARG(sim_database_name(database)),
                                STR_ARG(source->schema));
    return deny_object(binder, source, permission);
}

static bool check_select(Binder *binder, const BoundSource *source)
{
    Str   *columns = ARENA_ARRAY(binder->arena, Str, source->column_count + 1);
    size_t count   = 0;

    for (size_t i = 0; i < source->column_count; i++)
        if (source->columns[i].slot >= 0) columns[count++] = source->columns[i].name;
    return check_use(binder, source, SIM_PERM_SELECT, columns, count, count == 0);
}

/* What management views ask for. */
static bool may_see_state(Binder *binder, const BoundSource *source)
{
    SimSession *session   = binder->session;
    bool        of_server = source->virtual_table->permission == SIM_PERM_VIEW_SERVER_STATE;
    Str         user;

    if (session->login.is_sysadmin) return true;
    if (session_user_in(session, source->database, &user)) {
        if (!of_server && sim_is_owner(source->database, user)) return true;
        if (sim_has_permission(source->database, user, source->virtual_table->permission, NULL,
                               NULL, 0, false))
            return true;
    }
    if (of_server)
        return binder_error(binder, 0, 300,
                            "VIEW SERVER STATE permission was denied on object 'server', database "
                            "'master'.");
    return binder_error(binder, 0, 262, "VIEW DATABASE STATE permission denied in database '%.*s'.",
                        STR_ARG(sim_database_name(source->database)));
}

bool binder_check_permissions(Binder *binder)
{
    for (size_t i = 0; i < binder->all_sources.count; i++) {
        const BoundSource *source = binder->all_sources.items[i];
        if (source->kind == BOUND_VIRTUAL && source->virtual_table->is_owner_only &&
            !source->is_trusted) {
            Str user;
            if (session_user_in(binder->session, source->database, &user) &&
                sim_is_owner(source->database, user))
                continue;
            return deny_object(binder, source, SIM_PERM_SELECT);
        }
        if (source->kind == BOUND_VIRTUAL && source->virtual_table->permission &&
            !source->is_trusted && !may_see_state(binder, source))
            return false;
        if (source->kind != BOUND_TABLE || (source->row_slot >= 0 && source->column_count == 0))
            continue;
        bool is_target_only = source->row_slot >= 0;
        for (size_t c = 0; c < source->column_count && is_target_only; c++)
            is_target_only = source->columns[c].slot < 0;
        if (is_target_only) continue; /* DELETE FROM t without reading a column */
        if (!check_select(binder, source)) return false;
    }
    for (size_t i = 0; i < binder->uses.count; i++) {
        const TableUse *use = &binder->uses.items[i];
        if (!check_use(binder, use->source, use->permission, use->columns, use->column_count,
                       false))
            return false;
    }
    return true;
}
