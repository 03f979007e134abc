/* cdc_changes.c - cdc.fn_cdc_get_all_changes_<ci> and cdc.fn_cdc_get_net_changes_<ci>: queries of the change table behind
 * a check of their arguments (sqlserver.md 2.15). */
#include "sim/catalog/catalog_internal.h"

typedef enum ChangeFunction { ALL_CHANGES, NET_CHANGES } ChangeFunction;

/* --- the arguments --- */
static const SimValue *lsn_value(Node *node, Exec *exec, SimValue *held)
{
    SimType         type  = sim_type_sized(SIM_BINARY, LSN_BYTES);
    const SimValue *value = node_eval(node, exec);

    if (!value || value->is_null) return value;
    return sim_convert(value, &type, 0, false, exec->scratch, held, exec->error) ? held : NULL;
}

static bool is_option(ChangeFunction function, Str text)
{
    static const char *const options[2][3] = {{"all", "all update old", "all"},
                                              {"all", "all with mask", "all with merge"}};

    for (size_t i = 0; i < 3; i++)
        if (sim_name_equal(text, str_from_c(options[function][i]))) return true;
    return false;
}

/* A range outside of what the instance holds, or an unknown option, is 313. args: from, to, option, the function's min and max. */
static Truth test_range(Node *node, Exec *exec, ChangeFunction function)
{
    SimValue        held[4];
    const SimValue *lsns[4];
    bool            bad = false;

    for (size_t i = 0; i < 4; i++) {
        lsns[i] = lsn_value(node->args[i == 0 ? 0 : i == 1 ? 1 : i + 1], exec, &held[i]);
        if (!lsns[i]) return TRUTH_ERROR;
        if (lsns[i] != &held[i]) held[i] = *lsns[i];
        bad |= lsns[i]->is_null;
    }
    const SimValue *option = node_eval(node->args[2], exec);
    if (!option) return TRUTH_ERROR;
    Str text = option->is_null ? STR_EMPTY : str_trim(sim_value_text(exec->scratch, option));
    bad |= !is_option(function, text);
    if (!bad)
        bad = sim_compare_same(&held[0], &held[2]) < 0 ||
              sim_compare_same(&held[1], &held[3]) > 0 || sim_compare_same(&held[0], &held[1]) > 0;
    if (!bad) return TRUTH_TRUE;
    sim_error(exec->error, 313,
              "An insufficient number of arguments were supplied for the procedure or function "
              "cdc.fn_cdc_get_%s_changes_ ... .",
              function == ALL_CHANGES ? "all" : "net");
    exec->error->state = 3;
    return TRUTH_ERROR;
}

static Truth test_all_range(Node *node, Exec *exec)
{
    return test_range(node, exec, ALL_CHANGES);
}

static Truth test_net_range(Node *node, Exec *exec)
{
    return test_range(node, exec, NET_CHANGES);
}

static Str quoted(Arena *arena, Str name)
{
    Buf buf = buf_new(arena, 0);

    cdc_append_name(&buf, name);
    return buf_str(&buf);
}

static bool bind_range_check(Binder *binder, QueryScope *scope, const Source *from,
                             ChangeFunction function, Str database, Str instance, Node **out)
{
    Str text = str_printf(
        binder->arena,
        "SELECT %.*s.sys.fn_cdc_get_min_lsn(@__instance), %.*s.sys.fn_cdc_get_max_lsn()",
        STR_ARG(quoted(binder->arena, database)), STR_ARG(quoted(binder->arena, database)));
    StmtList stmts = {0};
    Node    *node  = node_new(binder->arena, NODE_PREDICATE, sim_type(SIM_BIT), from->line);
    SimValue name  = sim_nvarchar(binder->arena, instance);

    if (!sim_parse(text, true, binder->arena, &stmts, binder->error)) return false;
    *LIST_PUSH(binder->arena, &binder->substitutions) = (Substitution){
        STR("@__instance"), node_const(binder->arena, &name, from->line)};
    node->test      = function == ALL_CHANGES ? test_all_range : test_net_range;
    node->args      = ARENA_ARRAY(binder->arena, Node *, 5);
    node->arg_count = 5;
    for (size_t i = 0; i < 3; i++)
        if (!bind_expr(binder, scope, from->args.items[i], &node->args[i])) return false;
    for (size_t i = 0; i < 2; i++)
        if (!bind_expr(binder, scope, stmts.items[0]->select->items.items[i].expr,
                       &node->args[3 + i]))
            return false;
    *out = node;
    return true;
}

/* --- the queries --- */
static Str change_table(Arena *arena, Str database, const SimCaptureInstance *instance)
{
    Str table = str_printf(arena, "%.*s_CT", STR_ARG(instance->name));
    return str_printf(arena, "%.*s.cdc.%.*s", STR_ARG(quoted(arena, database)),
                      STR_ARG(quoted(arena, table)));
}

static Str column_list(Arena *arena, const SimCaptureInstance *instance)
{
    Buf names = buf_new(arena, 0);

    for (size_t i = 0; i < instance->column_count; i++)
        cdc_append_name(&names, instance->columns[i].name);
    return buf_str(&names);
}

static Str all_changes_text(Arena *arena, Str database, const SimCaptureInstance *instance)
{
    return str_printf(arena,
                      "SELECT [__$start_lsn], [__$seqval], [__$operation], [__$update_mask], %.*s "
                      "FROM %.*s WHERE [__$start_lsn] >= CAST(@__from AS binary(10)) AND "
                      "[__$start_lsn] <= CAST(@__to AS binary(10)) "
                      "AND ([__$operation] <> 3 OR RTRIM(@__option) = 'all update old')",
                      STR_ARG(column_list(arena, instance)),
                      STR_ARG(change_table(arena, database, instance)));
}

/* The last row of each key; its operation by what the first one says of the row before the range: after a 2 there was none. */
static Str net_changes_text(Arena *arena, Str database, const SimCaptureInstance *instance)
{
    Str columns = column_list(arena, instance);
    Buf keys    = buf_new(arena, 0);

    for (size_t i = 0; i < instance->index_column_count; i++)
        cdc_append_name(&keys, instance->index_columns[i]);
    return str_printf(
        arena,
        "SELECT n.[__$start_lsn], CASE WHEN n.[__$operation] = 1 THEN 1 "
        "WHEN RTRIM(@__option) = 'all with merge' THEN 5 WHEN n.[__$first] = 2 THEN 2 ELSE 4 END "
        "AS "
        "[__$operation], CASE WHEN RTRIM(@__option) = 'all with mask' THEN n.[__$all_masks] END AS "
        "[__$update_mask], %.*s FROM (SELECT c.[__$start_lsn], c.[__$operation], %.*s, "
        "ROW_NUMBER() OVER (PARTITION BY %.*s ORDER BY c.[__$start_lsn] DESC, c.[__$command_id] "
        "DESC, c.[__$seqval] DESC, c.[__$operation] DESC) AS [__$from_last], "
        "FIRST_VALUE(c.[__$operation]) OVER (PARTITION BY %.*s ORDER BY c.[__$start_lsn], "
        "c.[__$command_id], c.[__$seqval], c.[__$operation]) AS [__$first], "
        "[__$BYTES_OR](c.[__$update_mask]) OVER (PARTITION BY %.*s) AS [__$all_masks] "
        "FROM %.*s AS c WHERE c.[__$start_lsn] >= CAST(@__from AS binary(10)) AND "
        "c.[__$start_lsn] <= CAST(@__to AS binary(10)) AND c.[__$operation] <> 3) AS n "
        "WHERE n.[__$from_last] = 1 AND NOT (n.[__$first] = 2 AND n.[__$operation] = 1)",
        STR_ARG(columns), STR_ARG(columns), STR_ARG(buf_str(&keys)), STR_ARG(buf_str(&keys)),
        STR_ARG(buf_str(&keys)), STR_ARG(change_table(arena, database, instance)));
}

/* --- in FROM --- */
static bool function_of(Arena *arena, Str name, ChangeFunction *function_out, Str *instance_out)
{
    static const char *const prefixes[] = {"fn_cdc_get_all_changes_", "fn_cdc_get_net_changes_"};
    Str                      lower      = str_lower_ascii(arena, name);

    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        Str prefix = str_from_c(prefixes[i]);
        if (!str_starts_with(lower, prefix)) continue;
        *function_out = i == 0 ? ALL_CHANGES : NET_CHANGES;
        *instance_out = str_slice(name, prefix.len, name.len);
        return true;
    }
    return false;
}

static bool check_use(Binder *binder, const Source *from, ChangeFunction function, Str name,
                      SimDatabase *database, SimCaptureInstance *instance)
{
    Str user;

    if (!database || !sim_cdc_find_instance(database, name, binder->arena, instance) ||
        (function == NET_CHANGES && !instance->supports_net_changes))
        return binder_error(binder, from->line, 208, "Invalid object name '%.*s%scdc.%.*s'.",
                            STR_ARG(from->name.database),
                            str_is_empty(from->name.database) ? "" : ".", STR_ARG(from->name.name));
    if (!session_user_in(binder->session, database, &user) ||
        !cdc_can_access_in(binder->session, database, instance))
        return binder_error(
            binder, from->line, 229,
            "The SELECT permission was denied on the object '%.*s', database '%.*s', schema 'cdc'.",
            STR_ARG(from->name.name), STR_ARG(sim_database_name(database)));
    return from->args.count == 3 ||
           binder_error(binder, from->line, 313,
                        "An insufficient number of arguments were supplied for the procedure "
                        "or function cdc.%.*s.",
                        STR_ARG(from->name.name));
}

bool bind_cdc_function(Binder *binder, QueryScope *scope, const Source *from, SelectPlan **out,
                       bool *found)
{
    static const char *const names[]  = {"@__from", "@__to", "@__option"};
    SimDatabase             *database = binder->session->database;
    SimCaptureInstance       instance = {.name = STR_EMPTY};
    ChangeFunction           function = ALL_CHANGES;
    StmtList                 stmts    = {0};
    Node                    *check    = NULL;
    Str                      name;

    *found = false;
    if (!sim_name_equal(from->name.schema, STR("cdc")) ||
        !function_of(binder->arena, from->name.name, &function, &name))
        return true;
    if (!str_is_empty(from->name.database))
        database = sim_server_find_database(binder->session->server, from->name.database);
    if (!check_use(binder, from, function, name, database, &instance)) return false;
    *found            = true;
    Str database_name = sim_database_name(database);
    if (!bind_range_check(binder, scope, from, function, database_name, instance.name, &check))
        return false;
    for (size_t i = 0; i < 3; i++)
        *LIST_PUSH(binder->arena, &binder->substitutions) = (Substitution){str_from_c(names[i]),
                                                                           check->args[i]};
    Str text = function == ALL_CHANGES ? all_changes_text(binder->arena, database_name, &instance)
                                       : net_changes_text(binder->arena, database_name, &instance);
    if (!sim_parse(text, true, binder->arena, &stmts, binder->error)) return false;
    bool trusted       = binder->is_trusted;
    binder->is_trusted = true;
    bool ok            = bind_select(binder, scope, stmts.items[0]->select, out);
    binder->is_trusted = trusted;
    binder->substitutions.count -= 4;
    if (!ok) return false;
    (*out)->op = op_filter(binder->arena, (*out)->op, check);
    return true;
}
