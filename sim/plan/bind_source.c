/* bind_source.c - what stands in FROM: tables, views of the catalogue, common tables, derived tables, VALUES, functions, joins. */
#include "sim/catalog/catalog_internal.h"
#include "sim/function/function.h"
#include "sim/session/session_internal.h"

static JoinTree *leaf(Binder *binder, BoundSource *source)
{
    JoinTree *tree = ARENA_NEW(binder->arena, JoinTree);

    tree->source = source;
    tree->bits   = (uint64_t)1 << source->index;
    return tree;
}

/* The isolation a hint stands for; false: it stands for none. */
static bool hint_isolation(Str hint, SimIsolation *out)
{
    static const struct {
        const char  *name;
        SimIsolation isolation;
    } levels[] = {
        {"NOLOCK", SIM_READ_UNCOMMITTED},        {"READUNCOMMITTED", SIM_READ_UNCOMMITTED},
        {"READCOMMITTED", SIM_READ_COMMITTED},   {"READCOMMITTEDLOCK", SIM_READ_COMMITTED},
        {"REPEATABLEREAD", SIM_REPEATABLE_READ}, {"HOLDLOCK", SIM_SERIALIZABLE},
        {"SERIALIZABLE", SIM_SERIALIZABLE},      {"SNAPSHOT", SIM_SNAPSHOT}};

    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        if (!str_equal_c(hint, levels[i].name)) continue;
        *out = levels[i].isolation;
        return true;
    }
    return false;
}

static bool lock_hint(Str hint, BoundSource *source)
{
    if (str_equal_c(hint, "READPAST"))
        source->read_past = true;
    else if (str_equal_c(hint, "UPDLOCK"))
        source->for_update = true;
    else if (str_equal_c(hint, "XLOCK"))
        source->for_update = source->exclusive = true;
    else if (str_equal_c(hint, "TABLOCK"))
        source->table_lock = MAX(source->table_lock, 1);
    else if (str_equal_c(hint, "TABLOCKX"))
        source->table_lock = 2;
    else if (str_equal_c(hint, "NOWAIT"))
        source->no_wait = true;
    else
        return str_equal_c(hint, "ROWLOCK") || str_equal_c(hint, "PAGLOCK") ||
               str_starts_with(hint, STR("INDEX")) || str_starts_with(hint, STR("FORCESEEK")) ||
               str_starts_with(hint, STR("FORCESCAN")) || str_starts_with(hint, STR("KEEP"));
    return true;
}

static bool check_hints(Binder *binder, const Source *from, BoundSource *source)
{
    SimIsolation isolation = source->has_isolation ? source->isolation
                                                   : binder->session->options.isolation;
    bool         locks     = source->for_update || source->table_lock > 0;

    if (source->has_isolation && isolation == SIM_READ_UNCOMMITTED && locks)
        return binder_error(binder, from->line, 1047, "Conflicting locking hints specified.");
    if (source->has_isolation && isolation == SIM_SNAPSHOT)
        return binder_error(binder, from->line, 10794,
                            "The table option 'snapshot' is supported only with memory optimized "
                            "tables.");
    if (source->read_past && isolation != SIM_READ_COMMITTED && isolation != SIM_REPEATABLE_READ &&
        !(isolation == SIM_SNAPSHOT && source->for_update))
        return binder_error(binder, from->line, 650,
                            "You can only specify the READPAST lock in the READ COMMITTED or "
                            "REPEATABLE READ isolation levels.");
    if (source->exclusive && source->table_lock == 1) source->table_lock = 2;
    return true;
}

static bool apply_hints(Binder *binder, const Source *from, BoundSource *source)
{
    for (size_t i = 0; i < from->hints.count; i++) {
        Str          hint = from->hints.items[i];
        SimIsolation isolation;
        if (hint_isolation(hint, &isolation)) {
            if (source->has_isolation && source->isolation != isolation)
                return binder_error(binder, from->line, 1047,
                                    "Conflicting locking hints specified.");
            source->has_isolation = true;
            source->isolation     = isolation;
            source->locks_rows |= str_equal_c(hint, "READCOMMITTEDLOCK");
        } else if (!lock_hint(hint, source)) {
            return binder_error(binder, from->line, 321,
                                "\"%.*s\" is not a recognized table hints option. If it is "
                                "intended as a parameter to a "
                                "table-valued function or to the CHANGETABLE function, ensure "
                                "that your database compatibility mode is set to 90.",
                                STR_ARG(hint));
        }
    }
    return from->hints.count == 0 || check_hints(binder, from, source);
}

/* The outputs of a query become the columns of a source; what is not a slot yet is computed. */
static bool derive(Binder *binder, BoundSource *source, SelectPlan *query, const NameList *names,
                   int32_t line)
{
    AssignList assigns = {0};

    if (names && names->count > 0 && names->count != query->out_count)
        return binder_error(binder, line, names->count < query->out_count ? 8158 : 8159,
                            "'%.*s' has %s columns than were specified in the column list.",
                            STR_ARG(source->alias),
                            names->count < query->out_count ? "more" : "fewer");
    source->query        = query;
    source->columns      = ARENA_ARRAY(binder->arena, BoundColumn, query->out_count + 1);
    source->column_count = query->out_count;
    for (size_t i = 0; i < query->out_count; i++) {
        OutColumn *out  = &query->outs[i];
        Str        name = names && names->count > 0 ? names->items[i] : out->name;
        if (str_is_empty(name))
            return binder_error(binder, line, 8155,
                                "No column name was specified for column %zu of '%.*s'.", i + 1,
                                STR_ARG(source->alias));
        for (size_t k = 0; k < i; k++)
            if (sim_name_equal(source->columns[k].name, name))
                return binder_error(binder, line, 8156,
                                    "The column '%.*s' was specified multiple times for '%.*s'.",
                                    STR_ARG(name), STR_ARG(source->alias));
        int slot = out->node->slot;
        if (out->node->kind != NODE_SLOT) {
            slot                                = binder_slot(binder);
            *LIST_PUSH(binder->arena, &assigns) = (Assign){slot, out->node};
        }
        source->columns[i] = (BoundColumn){.name        = name,
                                           .type        = out->node->type,
                                           .is_nullable = out->node->is_nullable,
                                           .is_identity = out->is_identity,
                                           .slot        = slot,
                                           .ordinal     = i};
    }
    if (assigns.count > 0) query->op = op_compute(binder->arena, query->op, &assigns, true);
    return true;
}

static bool bind_derived(Binder *binder, QueryScope *scope, const Source *from, bool is_apply,
                         JoinTree **out)
{
    QueryScope *inner = scope_new(binder, is_apply ? scope : scope->outer);
    SelectPlan *query = NULL;

    if (!bind_select(binder, inner, from->select, &query)) return false;
    BoundSource *source = scope_add(binder, scope, BOUND_DERIVED, from->alias, from->line);
    if (!source) return false;
    source->query_scope = inner;
    if (!derive(binder, source, query, &from->columns, from->line)) return false;
    *out = leaf(binder, source);
    return true;
}

static bool bind_common_table(Binder *binder, QueryScope *scope, const Source *from,
                              CteFrame *frame, JoinTree **out)
{
    QueryScope *inner = scope_new(binder, NULL);
    SelectPlan *query = NULL;
    CteFrame   *saved = binder->ctes;

    if (frame->shape) {
        BoundSource *row = bind_recursive_row(binder, scope, frame, from->alias, from->line);
        if (row) *out = leaf(binder, row);
        return row != NULL;
    }
    bool recursive = cte_is_recursive(frame->table);
    binder->ctes   = frame->outer;
    bool ok        = recursive ? bind_recursive(binder, frame->table, frame, &query)
                               : bind_select(binder, inner, frame->table->select, &query);
    binder->ctes   = saved;
    if (!ok) return false;
    BoundSource *source = scope_add(binder, scope, BOUND_DERIVED,
                                    str_is_empty(from->alias) ? frame->table->name : from->alias,
                                    from->line);
    if (!source) return false;
    source->query_scope = inner;
    if (!derive(binder, source, query, &frame->table->columns, from->line)) return false;
    *out = leaf(binder, source);
    return true;
}

static bool bind_values(Binder *binder, QueryScope *scope, const Source *from, bool is_apply,
                        JoinTree **out)
{
    QueryScope   *inner = scope_new(binder, is_apply ? scope : scope->outer);
    size_t        rows = from->rows.count, columns = rows ? from->rows.items[0].count : 0;
    UnionBranches branches = {0};
    SlotList      slots    = {0};
    SelectPlan   *query    = ARENA_NEW(binder->arena, SelectPlan);
    Node        **nodes    = ARENA_ARRAY(binder->arena, Node *, rows + 1);

    for (size_t r = 0; r < rows; r++) {
        if (from->rows.items[r].count != columns)
            return binder_error(binder, from->line, 10709,
                                "The number of columns for each row in a table value constructor "
                                "must be the same.");
        LIST_PUSH(binder->arena, &branches)->op = op_single_row(binder->arena);
    }
    query->outs      = ARENA_ARRAY(binder->arena, OutColumn, columns + 1);
    query->out_count = columns;
    for (size_t c = 0; c < columns; c++) {
        bool nullable = false;
        for (size_t r = 0; r < rows; r++)
            if (!bind_expr(binder, inner, from->rows.items[r].items[c], &nodes[r])) return false;
        if (!bind_unify(binder, nodes, rows, from->line)) return false;
        int slot                          = binder_slot(binder);
        *LIST_PUSH(binder->arena, &slots) = slot;
        for (size_t r = 0; r < rows; r++) {
            *LIST_PUSH(binder->arena, &branches.items[r].assigns) = (Assign){slot, nodes[r]};
            nullable |= nodes[r]->is_nullable;
        }
        query->outs[c].node = node_slot(binder->arena, slot, nodes[0]->type, nullable);
        query->outs[c].node->collation_rank = nodes[0]->collation_rank;
    }
    query->op           = op_union_all(binder->arena, &branches, &slots);
    BoundSource *source = scope_add(binder, scope, BOUND_DERIVED, from->alias, from->line);
    if (!source) return false;
    source->query_scope = inner;
    if (!derive(binder, source, query, &from->columns, from->line)) return false;
    *out = leaf(binder, source);
    return true;
}

/* --- catalog views and functions --- */
/* Each output of the text gets the type the view declares for it. */
static bool type_outputs(Binder *binder, const VirtualTable *table, SelectPlan *query, int32_t line)
{
    for (size_t i = 0; i < query->out_count && i < table->column_count; i++) {
        SimType type;
        if (!sim_type_parse(str_from_c(table->columns[i].type), &type))
            return binder_not_supported(binder, line, "the type %s", table->columns[i].type);
        OutColumn *out = &query->outs[i];
        out->name      = str_from_c(table->columns[i].name);
        if (sim_type_is_text(type.kind)) {
            type.collation = out->node->type.collation;
            if (out->node->type.kind == type.kind && out->node->type.length == type.length)
                continue;
        }
        bool nullable          = out->node->is_nullable;
        out->node              = node_convert(binder->arena, out->node, &type);
        out->node->is_nullable = nullable;
    }
    return true;
}

static bool make_text_view(Binder *binder, QueryScope *scope, const Source *from,
                           const VirtualTable *table, SimDatabase *database, JoinTree **out)
{
    StmtList     stmts       = {0};
    QueryScope  *inner       = scope_new(binder, NULL);
    SelectPlan  *query       = NULL;
    SimDatabase *outer       = binder->database;
    bool         was_trusted = binder->is_trusted;
    CteFrame    *ctes        = binder->ctes;

    if (!sim_parse(str_from_c(table->query), true, binder->arena, &stmts, binder->error))
        return false;
    binder->database   = database;
    binder->is_trusted = true;
    binder->ctes       = NULL;
    bool ok            = bind_select(binder, inner, stmts.items[0]->select, &query) &&
              type_outputs(binder, table, query, from->line);
    binder->database   = outer;
    binder->is_trusted = was_trusted;
    binder->ctes       = ctes;
    if (!ok) return false;
    BoundSource *source = scope_add(binder, scope, BOUND_DERIVED, from->alias, from->line);
    if (!source) return false;
    source->query_scope = inner;
    source->schema      = str_from_c(table->schema);
    source->name        = str_from_c(table->name);
    if (!derive(binder, source, query, &from->columns, from->line)) return false;
    *out = leaf(binder, source);
    return true;
}

static bool make_virtual(Binder *binder, QueryScope *scope, const Source *from,
                         const VirtualTable *table, SimDatabase *database, JoinTree **out)
{
    if (table->query) return make_text_view(binder, scope, from, table, database, out);
    BoundSource *source = scope_add(binder, scope, BOUND_VIRTUAL, from->alias, from->line);

    if (!source) return false;
    source->virtual_table = table;
    source->database      = database;
    source->schema        = str_from_c(table->schema);
    source->name          = str_from_c(table->name);
    source->columns       = ARENA_ARRAY(binder->arena, BoundColumn, table->column_count + 1);
    source->column_count  = table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        BoundColumn *column = &source->columns[i];
        *column             = (BoundColumn){.name        = str_from_c(table->columns[i].name),
                                            .is_nullable = true,
                                            .slot        = -1,
                                            .ordinal     = i};
        if (!sim_type_parse(str_from_c(table->columns[i].type), &column->type))
            return binder_not_supported(binder, from->line, "the type %s", table->columns[i].type);
    }
    for (size_t i = 0; i < from->columns.count && i < source->column_count; i++)
        source->columns[i].name = from->columns.items[i];
    *out = leaf(binder, source);
    return true;
}

static bool bind_table_function(Binder *binder, QueryScope *scope, const Source *from,
                                bool is_apply, JoinTree **out)
{
    bool        found = false;
    SelectPlan *query = NULL;
    QueryScope *inner = scope_new(binder, is_apply ? scope : scope->outer);

    if (!bind_cdc_function(binder, inner, from, &query, &found)) return false;
    if (found) {
        BoundSource *source = scope_add(binder, scope, BOUND_DERIVED,
                                        str_is_empty(from->alias) ? from->name.name : from->alias,
                                        from->line);
        if (!source) return false;
        source->query_scope = inner;
        if (!derive(binder, source, query, &from->columns, from->line)) return false;
        *out = leaf(binder, source);
        return true;
    }
    const VirtualTable *table = virtual_table_find(binder->arena, from->name.schema,
                                                   from->name.name);
    bool is_series            = table && str_equal_c(str_from_c(table->name), "GENERATE_SERIES");
    if (!table &&
        (sim_name_equal(from->name.schema, STR("sys"))
             ? system_name_is_known(binder->arena, from->name.name)
             : str_is_empty(from->name.schema) &&
                   sim_function_is_missing(from->name.name, front_version(binder->session))))
        return binder_not_supported(binder, from->line, "the function %.*s",
                                    STR_ARG(from->name.name));
    if (!table || !table->is_function || (is_series && front_version(binder->session) < 2022))
        return binder_error(binder, from->line, 208, "Invalid object name '%.*s'.",
                            STR_ARG(bind_full_name(binder->arena, &from->name)));
    if (!make_virtual(binder, scope, from, table, binder->session->database, out)) return false;
    BoundSource *source = (*out)->source;
    source->query_scope = inner;
    source->args        = ARENA_ARRAY(binder->arena, Node *, from->args.count + 1);
    source->arg_count   = from->args.count;
    for (size_t i = 0; i < from->args.count; i++)
        if (!bind_expr(binder, inner, from->args.items[i], &source->args[i])) return false;
    if (is_series) { /* the column has the arguments' type */
        if (source->arg_count < 2 || source->arg_count > 3)
            return binder_error(
                binder, from->line, 8144,
                "Procedure or function GENERATE_SERIES has too many arguments specified.");
        if (!bind_unify(binder, source->args, source->arg_count, from->line)) return false;
        if (!sim_type_is_integer(source->args[0]->type.kind) &&
            source->args[0]->type.kind != SIM_DECIMAL)
            return binder_error(binder, from->line, 5373,
                                "All the input parameters should be of the same type. Supported "
                                "types are tinyint, smallint, int, "
                                "bigint, decimal and numeric.");
        source->columns[0].type        = source->args[0]->type;
        source->columns[0].is_nullable = false;
    }
    return true;
}

/* Its query as a derived table, with the columns it had when it was made, read with its owner's rights. */
static bool bind_view(Binder *binder, QueryScope *scope, const Source *from,
                      const SimModule *module, SimDatabase *database, JoinTree **out)
{
    const Stmt  *stmt    = module->tree;
    QueryScope  *inner   = scope_new(binder, NULL);
    SelectPlan  *query   = NULL;
    CteFrame    *ctes    = binder->ctes;
    SimDatabase *outer   = binder->database;
    bool         trusted = binder->is_trusted;
    bool         chained = trusted || (binder->session->frame && binder->session->frame->module);
    Str          user;

    if (!chained && (!session_user_in(binder->session, database, &user) ||
                     !sim_has_module_permission(database, user, SIM_PERM_SELECT, module)))
        return binder_error(binder, from->line, 229,
                            "The SELECT permission was denied on the object '%.*s', database "
                            "'%.*s', schema '%.*s'.",
                            STR_ARG(module->name), STR_ARG(sim_database_name(database)),
                            STR_ARG(module->schema));
    if (++binder->view_depth > 32)
        return binder_error(binder, from->line, 217,
                            "Maximum stored procedure, function, trigger, or view nesting level "
                            "exceeded (limit 32).");
    binder->ctes       = NULL;
    binder->database   = database;
    binder->is_trusted = true;
    bool ok            = bind_select(binder, inner, stmt->select, &query);
    binder->ctes       = ctes;
    binder->database   = outer;
    binder->is_trusted = trusted;
    binder->view_depth--;
    if (!ok) return false;
    if (query->out_count < stmt->columns.count)
        return binder_error(binder, from->line, 4502,
                            "View or function '%.*s' has more column names specified than columns "
                            "defined.",
                            STR_ARG(module->name));
    if (query->out_count > stmt->columns.count) /* SELECT * of a table that grew */
        return binder_not_supported(binder, from->line,
                                    "the view %.*s, whose tables have got columns since",
                                    STR_ARG(module->name));
    BoundSource *source = scope_add(binder, scope, BOUND_DERIVED,
                                    str_is_empty(from->alias) ? module->name : from->alias,
                                    from->line);
    if (!source) return false;
    source->query_scope = inner;
    if (!derive(binder, source, query, &stmt->columns, from->line)) return false;
    *out = leaf(binder, source);
    return true;
}

static bool bind_named(Binder *binder, QueryScope *scope, const Source *from, JoinTree **out)
{
    SimDatabase *database = NULL;
    SimTable    *table    = NULL;
    Str          schema   = STR_EMPTY;

    if (str_is_empty(from->name.schema) && str_is_empty(from->name.database))
        for (CteFrame *frame = binder->ctes; frame; frame = frame->outer)
            if (sim_name_equal(frame->table->name, from->name.name))
                return bind_common_table(binder, scope, from, frame, out);
    if (!bind_table_name(binder, &from->name, &database, &table, &schema)) {
        const SimModule *module = database && binder->error->number == 208
                                      ? sim_database_find_module(database, schema, from->name.name)
                                      : NULL;
        if (module && module->kind == SIM_MODULE_VIEW) {
            *binder->error = SIM_ERROR_INIT;
            return bind_view(binder, scope, from, module, database, out);
        }
        const VirtualTable *found = virtual_table_find(binder->arena, from->name.schema,
                                                       from->name.name);
        if (!found && binder->error->number == 208 &&
            sim_name_equal(from->name.schema, STR("sys")) &&
            system_name_is_known(binder->arena, from->name.name)) {
            *binder->error = SIM_ERROR_INIT;
            return binder_not_supported(binder, from->line, "the view sys.%.*s",
                                        STR_ARG(from->name.name));
        }
        if (!found && binder->error->number == 208 &&
            sim_name_equal(from->name.database, STR("msdb"))) {
            *binder->error = SIM_ERROR_INIT;
            return binder_not_supported(binder, from->line, "the table msdb.%.*s.%.*s",
                                        STR_ARG(from->name.schema), STR_ARG(from->name.name));
        }
        if (!found || found->is_function || binder->error->number != 208 || !database) return false;
        if (str_equal_ignoring_case(from->name.schema, STR("cdc")) && !sim_cdc_is_enabled(database))
            return false;
        *binder->error = SIM_ERROR_INIT;
        return make_virtual(binder, scope, from, found, database, out);
    }
    for (size_t i = 0; i < scope->sources.count && str_is_empty(from->alias); i++)
        if (scope->sources.items[i]->table == table && str_is_empty(scope->sources.items[i]->alias))
            return binder_error(binder, from->line, 1013,
                                "The objects \"%.*s\" and \"%.*s\" in the FROM clause have the "
                                "same exposed names. Use correlation names to distinguish them.",
                                STR_ARG(from->name.name), STR_ARG(from->name.name));
    BoundSource *source = bind_table_source(binder, scope, database, table, schema, from->alias);
    if (!source) return false;
    source->name = sim_table_info(table)->is_temporary ? from->name.name : source->name;
    *out         = leaf(binder, source);
    return apply_hints(binder, from, source);
}

static bool bind_table_variable(Binder *binder, QueryScope *scope, const Source *from,
                                JoinTree **out)
{
    Variable *variable = frame_find(binder->session->frame, from->name.name);

    if (!variable || !variable->table)
        return binder_error(binder, from->line, 1087, "Must declare the table variable \"%.*s\".",
                            STR_ARG(from->name.name));
    BoundSource *source = bind_table_source(
        binder, scope, sim_table_database(variable->table), variable->table, STR("dbo"),
        str_is_empty(from->alias) ? from->name.name : from->alias);
    if (!source) return false;
    source->is_table_variable = true;
    *out                      = leaf(binder, source);
    return true;
}

/* --- joins --- */
static void make_nullable(const QueryScope *scope, uint64_t bits)
{
    for (size_t i = 0; i < scope->sources.count; i++) {
        if (!(bits >> i & 1)) continue;
        for (size_t c = 0; c < scope->sources.items[i]->column_count; c++)
            scope->sources.items[i]->columns[c].is_nullable = true;
    }
}

static bool bind_tree(Binder *binder, QueryScope *scope, const Source *from, bool is_apply,
                      JoinTree **out)
{
    switch (from->kind) {
    case SOURCE_TABLE: return bind_named(binder, scope, from, out);
    case SOURCE_FUNCTION: return bind_table_function(binder, scope, from, is_apply, out);
    case SOURCE_SELECT: return bind_derived(binder, scope, from, is_apply, out);
    case SOURCE_VALUES: return bind_values(binder, scope, from, is_apply, out);
    case SOURCE_VARIABLE: return bind_table_variable(binder, scope, from, out);
    case SOURCE_JOIN: break;
    }
    JoinTree *tree  = ARENA_NEW(binder->arena, JoinTree);
    bool      apply = from->join == JOIN_CROSS_APPLY || from->join == JOIN_OUTER_APPLY;
    if (++binder->depth > 400) {
        (void)binder_error(binder, from->line, 8631,
                           "Internal error: Server stack limit has been reached.");
        return false;
    }
    tree->join = from->join;
    if (!bind_tree(binder, scope, from->left, is_apply, &tree->left)) return false;
    if (!bind_tree(binder, scope, from->right, is_apply || apply, &tree->right)) return false;
    binder->depth--;
    tree->bits = tree->left->bits | tree->right->bits;
    if (from->on && !bind_predicate(binder, scope, from->on, &tree->on)) return false;
    if (from->join == JOIN_LEFT || from->join == JOIN_FULL || from->join == JOIN_OUTER_APPLY)
        make_nullable(scope, tree->right->bits);
    if (from->join == JOIN_RIGHT || from->join == JOIN_FULL) make_nullable(scope, tree->left->bits);
    *out = tree;
    return true;
}

bool bind_from(Binder *binder, QueryScope *scope, const Source *source, JoinTree **out)
{
    return bind_tree(binder, scope, source, false, out);
}
