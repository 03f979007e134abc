/* prepare.c - sp_executesql and prepared statements: text with parameters, run in a frame of its own. */
#include "sim/session/front_internal.h"
#include "sim/session/prepared.h"

#include <string.h>

typedef struct Definition { /* of a parameter */
    Str     name;
    SimType type;
    bool    is_output, is_given;
} Definition;
typedef LIST(Definition) Definitions;

/* "@p1 nvarchar(22), @p2 decimal(10, 2) OUTPUT": up to the next comma outside of parentheses. */
static Str next_definition(Str *rest)
{
    int    depth = 0;
    size_t at    = 0;

    for (; at < rest->len && (depth > 0 || rest->ptr[at] != ','); at++)
        depth += (rest->ptr[at] == '(') - (rest->ptr[at] == ')');
    Str part = str_trim(str_slice(*rest, 0, at));
    *rest    = at < rest->len ? str_slice(*rest, at + 1, rest->len) : STR_EMPTY;
    return part;
}

static bool ends_with_word(Str *text, const char *word)
{
    Str w = str_from_c(word);

    if (text->len <= w.len ||
        !str_equal_ignoring_case(str_slice(*text, text->len - w.len, text->len), w))
        return false;
    char before = text->ptr[text->len - w.len - 1];
    if (before != ' ' && before != ')' && before != '\t') return false;
    *text = str_trim(str_slice(*text, 0, text->len - w.len));
    return true;
}

static bool parse_definitions(Arena *arena, Str text, Definitions *out, SimError *error)
{
    Str rest = str_trim(text);

    while (rest.len > 0) {
        Str        part       = next_definition(&rest);
        Definition definition = {0};
        size_t     end        = 0;
        while (end < part.len && part.ptr[end] != ' ' && part.ptr[end] != '\t' &&
               part.ptr[end] != '\n' && part.ptr[end] != '\r')
            end++;
        definition.name = str_slice(part, 0, end);
        Str type        = str_trim(str_slice(part, end, part.len));
        if (str_starts_with(str_lower_ascii(arena, type), STR("as ")))
            type = str_trim(str_slice(type, 3, type.len));
        (void)ends_with_word(&type, "READONLY");
        definition.is_output = ends_with_word(&type, "OUTPUT") || ends_with_word(&type, "OUT");
        ptrdiff_t equals     = str_find_char(type, '=', 0);
        if (equals >= 0) type = str_trim(str_slice(type, 0, (size_t)equals));
        if (definition.name.len < 2 || definition.name.ptr[0] != '@')
            return sim_error(error, 102, "Incorrect syntax near '%.*s'.", STR_ARG(part));
        if (!sim_type_parse(type, &definition.type)) {
            (void)sim_error(error, 2715,
                            "Column, parameter, or variable #%zu: Cannot find data type %.*s.",
                            out->count + 1, STR_ARG(type));
            error->of_2025 = sim_type_of_2025(type);
            return false;
        }
        *LIST_PUSH(arena, out) = definition;
    }
    return true;
}

/* Declares the parameters in the frame and gives them their values: args from `first` on, by position or name. */
static bool bind_parameters(ProcCall *call, Definitions *definitions, Str text, size_t first)
{
    Frame *frame = call->session->frame;

    for (size_t i = 0; i < definitions->count; i++)
        frame_declare(frame, definitions->items[i].name, &definitions->items[i].type);
    for (size_t i = first; i < call->count; i++) {
        ProcArg *arg = &call->args[i];
        size_t   at  = i - first;
        if (!str_is_empty(arg->name)) {
            for (at = 0; at < definitions->count &&
                         !sim_name_equal(definitions->items[at].name, arg->name);)
                at++;
            if (at == definitions->count) at = i - first; /* drivers name values as they like */
        }
        if (at >= definitions->count)
            return sim_error(call->error, 8144,
                             "Procedure or function has too many arguments specified.");
        Definition *definition = &definitions->items[at];
        SimValue    value      = sim_null(definition->type);
        definition->is_given   = !arg->is_default;
        if (!arg->is_default && !arg->value.is_null &&
            !sim_convert(&arg->value, &definition->type, 0, true, call->arena, &value, call->error))
            return false;
        variable_set(frame_find(frame, definition->name), &value);
        definition->is_output = definition->is_output || arg->is_output;
        arg->target = str_is_empty(arg->target) && arg->is_output ? STR_EMPTY : arg->target;
    }
    for (size_t i = 0; i < definitions->count; i++)
        if (!definitions->items[i].is_given)
            return sim_error(call->error, 8178,
                             "The parameterized query '(%.*s)' expects the parameter '%.*s', which "
                             "was not supplied.",
                             STR_ARG(text), STR_ARG(definitions->items[i].name));
    return true;
}

static void take_outputs(ProcCall *call, const Definitions *definitions, size_t first)
{
    for (size_t i = first; i < call->count; i++) {
        size_t at = i - first;
        if (!call->args[i].is_output) continue;
        if (!str_is_empty(call->args[i].name))
            for (size_t k = 0; k < definitions->count; k++)
                if (sim_name_equal(definitions->items[k].name, call->args[i].name)) at = k;
        if (at >= definitions->count) continue;
        Variable *variable = frame_find(call->session->frame, definitions->items[at].name);
        if (variable) call->args[i].value = value_copy(call->arena, &variable->value);
    }
}

/* Runs text in a frame of its own. Options set inside revert; a transaction left open or closed is 266. */
static bool run_parameterized(ProcCall *call, Str text, const StmtList *stmts, Str definition_text,
                              size_t first)
{
    SimSession    *session     = call->session;
    SessionOptions options     = session->options;
    Definitions    definitions = {0};
    int            tran_count  = session->tran_count;
    bool           implicit    = options.implicit_transactions;

    if (!parse_definitions(call->arena, definition_text, &definitions, call->error)) return false;
    frame_push(session, true);
    bool ok = bind_parameters(call, &definitions, definition_text, first);
    if (ok) {
        call->flow = stmts ? run_statements(session, stmts) : run_text(session, text);
        if (call->flow == FLOW_RETURN) call->flow = FLOW_NEXT;
        call->status = call->flow == FLOW_NEXT ? session->frame->return_status
                                               : session->last_error;
        if (call->flow == FLOW_END && session->scope_ended) call->flow = FLOW_NEXT;
        take_outputs(call, &definitions, first);
    }
    frame_pop(session);
    session->options = options;
    session_use_options(session);
    if (ok && call->flow == FLOW_NEXT && session->tran_count != tran_count && !implicit) {
        SimError mismatch = SIM_ERROR_INIT;
        sim_error(&mismatch, 266,
                  "Transaction count after EXECUTE indicates a mismatching number of BEGIN and "
                  "COMMIT statements. Previous count = %d, current count = %d.",
                  tran_count, session->tran_count);
        mismatch.line = 1;
        session_send_message(session, &mismatch);
    }
    return ok;
}

bool prepared_run(ProcCall *call, const StmtList *stmts, Str definitions, size_t first)
{
    return run_parameterized(call, STR_EMPTY, stmts, definitions, first);
}

bool prepared_text(ProcCall *call, size_t index, const char *what, Str *out)
{
    const SimValue *value = proc_arg(call, index);

    if (value && sim_type_is_unicode(value->type.kind) && proc_text(call, index, out)) return true;
    return sim_error(call->error, 214,
                     "Procedure expects parameter '%s' of type 'ntext/nchar/nvarchar'.", what);
}

static bool sp_executesql(ProcCall *call)
{
    Str text, definitions;

    if (!prepared_text(call, 0, "@statement", &text)) return false;
    (void)proc_text(call, 1, &definitions);
    return run_parameterized(call, text, NULL, definitions, 2);
}

/* --- handles --- */
Prepared *prepared_find(ProcCall *call, size_t index)
{
    int64_t handle = -1;

    if (!proc_i64(call, index, &handle)) return NULL;
    Prepared *prepared = map_find(call->session->prepared,
                                  str_printf(call->arena, "%lld", (long long)handle));
    if (!prepared)
        sim_error(call->error, 8179, "Could not find prepared statement with handle %lld.",
                  (long long)handle);
    return prepared;
}

void prepared_drop(ProcCall *call, const Prepared *prepared)
{
    Prepared *removed = map_remove(call->session->prepared,
                                   str_printf(call->arena, "%d", prepared->handle));

    if (removed) arena_close(removed->arena);
}

bool prepared_replace(ProcCall *call, size_t index)
{
    int64_t old = 0;

    if (!proc_i64(call, index, &old)) return false;
    Prepared *replaced = old ? map_find(call->session->prepared,
                                        str_printf(call->arena, "%lld", (long long)old))
                             : NULL;
    if (replaced) prepared_drop(call, replaced);
    return true;
}

bool prepared_parse(ProcCall *call, Str text, Arena *arena, StmtList *out)
{
    if (sim_parse(text, call->session->options.quoted_identifier, arena, out, call->error))
        return true;
    call->error->ends_batch = true;
    return false;
}

Prepared *prepared_make(ProcCall *call, Str definitions, Str text)
{
    SimSession *session  = call->session;
    Arena      *arena    = arena_new();
    Prepared   *prepared = ARENA_NEW(arena, Prepared);

    prepared->arena       = arena;
    prepared->text        = str_copy(arena, text);
    prepared->definitions = str_copy(arena, definitions);
    if (!prepared_parse(call, prepared->text, arena, &prepared->stmts)) {
        arena_close(arena);
        return NULL;
    }
    prepared->handle = session->next_handle++;
    map_put(session->prepared, str_printf(arena, "%d", prepared->handle), prepared);
    return prepared;
}

static bool sp_prepexec(ProcCall *call)
{
    Str definitions, text;

    (void)proc_text(call, 1, &definitions);
    if (!prepared_text(call, 2, "@stmt", &text)) return false;
    if (!prepared_replace(call, 0)) return false;
    Prepared *prepared = prepared_make(call, definitions, text);
    if (!prepared) return false;
    SimValue handle = value_int(prepared->handle);
    proc_set_output(call, 0, &handle);
    call->args[0].is_output = true;
    return run_parameterized(call, STR_EMPTY, &prepared->stmts, prepared->definitions, 3);
}

static bool sp_prepare(ProcCall *call)
{
    Str     definitions, text;
    int64_t options = 0;

    (void)proc_text(call, 1, &definitions);
    if (!prepared_text(call, 2, "@stmt", &text) || !proc_i64(call, 3, &options)) return false;
    Prepared *prepared = prepared_make(call, definitions, text);
    if (!prepared) return false;
    SimValue handle = value_int(prepared->handle);
    proc_set_output(call, 0, &handle);
    call->args[0].is_output = true;
    if (!(options & 1)) return true;
    SimResultColumn *columns = NULL;
    size_t           count   = 0;
    SimError         ignored = SIM_ERROR_INIT;
    if (!describe_text(call, prepared->text, prepared->definitions, &columns, &count, &ignored) ||
        count == 0)
        return true;
    return session_send_columns(call->session, columns, count) && proc_done(call, 0);
}

/* --- calls --- */
/* The procedure's name in "{? = call db.dbo.name(?, ?)}", or the text itself. */
static bool called_name(ProcCall *call, Str text, Str *out)
{
    Str       rest = str_trim(text);
    ptrdiff_t at;

    *out = rest;
    if (rest.len < 2 || rest.ptr[0] != '{') return true;
    rest = str_trim(str_slice(rest, 1, rest.len));
    if (rest.ptr[0] == '?') {
        at = str_find_char(rest, '=', 0);
        if (at < 0) return sim_error(call->error, 102, "Incorrect syntax near '?'.");
        rest = str_trim(str_slice(rest, (size_t)at + 1, rest.len));
    }
    if (rest.len < 5 || !str_equal_ignoring_case(str_slice(rest, 0, 5), STR("call ")))
        return sim_error(call->error, 102, "Incorrect syntax near '{'.");
    rest = str_trim(str_slice(rest, 5, rest.len));
    at   = str_find_char(rest, '(', 0);
    if (at < 0) at = str_find_char(rest, '}', 0);
    if (at < 0) return sim_error(call->error, 102, "Incorrect syntax near '{'.");
    *out = str_trim(str_slice(rest, 0, (size_t)at));
    for (rest = str_slice(rest, (size_t)at, rest.len); rest.len > 0;
         rest = str_slice(rest, 1, rest.len))
        if (!memchr("(?, )}", rest.ptr[0], 6))
            return sim_not_supported(call->error, "a constant among the arguments of a call");
    return true;
}

/* Runs a procedure with the arguments from `first` on. */
static bool run_call(ProcCall *call, Str name, size_t first)
{
    ObjectName       object = name_split(call->arena, name);
    const ProcEntry *entry  = proc_find(call->session, &object);
    size_t           count  = call->count - MIN(first, call->count);
    ProcCall         inner  = *call;

    if (!entry)
        return sim_error(call->error, 2812, "Could not find stored procedure '%.*s'.",
                         STR_ARG(name));
    inner.name   = object.name;
    inner.args   = call->args + first;
    inner.count  = count;
    bool ok      = proc_bind_args_unless_open(&inner, entry) && proc_run(&inner, entry);
    call->flow   = inner.flow;
    call->status = inner.status;
    for (size_t i = 0; i < count; i++)
        if (call->args[first + i].is_output && i < inner.count)
            call->args[first + i].value = inner.args[i].value;
    return ok;
}

static bool sp_prepexecrpc(ProcCall *call)
{
    Str text, name;

    if (!prepared_text(call, 1, "@rpctext", &text) || !called_name(call, text, &name) ||
        !prepared_replace(call, 0))
        return false;
    Prepared *prepared = prepared_make(call, STR_EMPTY, STR_EMPTY);
    if (!prepared) return false;
    prepared->text    = str_copy(prepared->arena, name);
    prepared->is_call = true;
    SimValue handle   = value_int(prepared->handle);
    proc_set_output(call, 0, &handle);
    call->args[0].is_output = true;
    return run_call(call, prepared->text, 2);
}

static bool sp_execute(ProcCall *call)
{
    Prepared *prepared = prepared_find(call, 0);

    if (prepared && prepared->is_call) return run_call(call, prepared->text, 1);
    return prepared &&
           run_parameterized(call, STR_EMPTY, &prepared->stmts, prepared->definitions, 1);
}

static bool sp_unprepare(ProcCall *call)
{
    Prepared *prepared = prepared_find(call, 0);

    if (!prepared) return false;
    prepared_drop(call, prepared);
    return true;
}

/* --- describing --- */
bool describe_text(ProcCall *call, Str text, Str definition_text, SimResultColumn **columns_out,
                   size_t *count_out, SimError *error)
{
    SimSession *session     = call->session;
    Definitions definitions = {0};
    StmtList    stmts       = {0};
    bool        ok          = false;

    *count_out = 0;
    if (!parse_definitions(call->arena, definition_text, &definitions, error)) return false;
    if (!sim_parse(text, session->options.quoted_identifier, call->arena, &stmts, error))
        return false;
    frame_push(session, true);
    for (size_t i = 0; i < definitions.count; i++)
        frame_declare(session->frame, definitions.items[i].name, &definitions.items[i].type);
    ok = describe_statements(session, &stmts, call->arena, columns_out, count_out, error);
    frame_pop(session);
    return ok;
}

static bool sp_describe_first_result_set(ProcCall *call)
{
    static const ResultSpec specs[] = {{"is_hidden", "bit"},
                                       {"column_ordinal", "int"},
                                       {"name", "sysname"},
                                       {"is_nullable", "bit"},
                                       {"system_type_id", "int"},
                                       {"system_type_name", "nvarchar(256)"},
                                       {"max_length", "smallint"},
                                       {"precision", "tinyint"},
                                       {"scale", "tinyint"},
                                       {"collation_name", "sysname"},
                                       {"user_type_id", "int"},
                                       {"user_type_database", "sysname"},
                                       {"user_type_schema", "sysname"},
                                       {"user_type_name", "sysname"},
                                       {"assembly_qualified_type_name", "nvarchar(4000)"},
                                       {"xml_collection_id", "int"},
                                       {"xml_collection_database", "sysname"},
                                       {"xml_collection_schema", "sysname"},
                                       {"xml_collection_name", "sysname"},
                                       {"is_xml_document", "bit"},
                                       {"is_case_sensitive", "bit"},
                                       {"is_fixed_length_clr_type", "bit"},
                                       {"source_server", "sysname"},
                                       {"source_database", "sysname"},
                                       {"source_schema", "sysname"},
                                       {"source_table", "sysname"},
                                       {"source_column", "sysname"},
                                       {"is_identity_column", "bit"},
                                       {"is_part_of_unique_key", "bit"},
                                       {"is_updateable", "bit"},
                                       {"is_computed_column", "bit"},
                                       {"is_sparse_column_set", "bit"},
                                       {"ordinal_in_order_by_list", "smallint"},
                                       {"order_by_is_descending", "smallint"},
                                       {"order_by_list_length", "smallint"},
                                       {"tds_type_id", "int"},
                                       {"tds_length", "int"},
                                       {"tds_collation_id", "int"},
                                       {"tds_collation_sort_id", "tinyint"}};
    Str                     text, definitions;
    SimResultColumn        *columns = NULL;
    size_t                  count   = 0;

    if (!prepared_text(call, 0, "@tsql", &text)) return false;
    (void)proc_text(call, 1, &definitions);
    if (!describe_text(call, text, definitions, &columns, &count, call->error)) return false;
    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < count; i++) {
        SimValue row[COUNT_OF(specs)];
        for (size_t k = 0; k < COUNT_OF(specs); k++)
            row[k] = value_null();
        row[0] = value_bit(false);
        row[1] = value_int((int64_t)i + 1);
        row[2] = value_text(call->arena, columns[i].name);
        row[3] = value_bit(columns[i].is_nullable);
        row[4] = value_int(catalog_type_id(&columns[i].type));
        row[5] = value_text(call->arena, sim_type_format(call->arena, &columns[i].type));
        row[6] = value_int(catalog_max_length(&columns[i].type));
        row[7] = value_int(catalog_precision(&columns[i].type));
        row[8] = value_int(catalog_scale(&columns[i].type));
        if (sim_type_is_text(columns[i].type.kind))
            row[9] = value_text(call->arena, sim_collation_name(columns[i].type.collation));
        row[19] = row[21] = row[31] = value_bit(false);
        row[20]                     = value_bit(columns[i].is_case_sensitive);
        row[27]                     = value_bit(columns[i].is_identity);
        row[29]                     = value_bit(!columns[i].is_computed);
        row[30]                     = value_bit(columns[i].is_computed);
        if (!proc_row(call, row, COUNT_OF(specs))) return false;
    }
    return proc_done(call, (int64_t)count);
}

static bool sp_describe_undeclared_parameters(ProcCall *call)
{
    static const ResultSpec specs[] = {{"parameter_ordinal", "int"},
                                       {"name", "sysname"},
                                       {"suggested_system_type_id", "int"},
                                       {"suggested_system_type_name", "nvarchar(256)"},
                                       {"suggested_max_length", "smallint"},
                                       {"suggested_precision", "tinyint"},
                                       {"suggested_scale", "tinyint"},
                                       {"suggested_user_type_id", "int"},
                                       {"suggested_user_type_database", "sysname"},
                                       {"suggested_user_type_schema", "sysname"},
                                       {"suggested_user_type_name", "sysname"},
                                       {"suggested_assembly_qualified_type_name", "nvarchar(4000)"},
                                       {"suggested_xml_collection_id", "int"},
                                       {"suggested_xml_collection_database", "sysname"},
                                       {"suggested_xml_collection_schema", "sysname"},
                                       {"suggested_xml_collection_name", "sysname"},
                                       {"suggested_is_xml_document", "bit"},
                                       {"suggested_is_case_sensitive", "bit"},
                                       {"suggested_is_fixed_length_clr_type", "bit"},
                                       {"suggested_is_input", "bit"},
                                       {"suggested_is_output", "bit"},
                                       {"formal_parameter_name", "sysname"},
                                       {"suggested_tds_type_id", "int"},
                                       {"suggested_tds_length", "int"}};
    Str                     text, definition_text;
    Definitions             declared = {0};
    UndeclaredList          found    = {0};

    if (!prepared_text(call, 0, "@tsql", &text)) return false;
    (void)proc_text(call, 1, &definition_text);
    if (!parse_definitions(call->arena, definition_text, &declared, call->error)) return false;
    frame_push(call->session, true);
    for (size_t i = 0; i < declared.count; i++)
        frame_declare(call->session->frame, declared.items[i].name, &declared.items[i].type);
    bool ok = describe_undeclared(call->session, text, call->arena, &found, call->error);
    frame_pop(call->session);
    if (!ok || !proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < found.count; i++) {
        SimValue       row[COUNT_OF(specs)];
        const SimType *type = &found.items[i].type;
        for (size_t k = 0; k < COUNT_OF(specs); k++)
            row[k] = value_null();
        row[0]  = value_int((int64_t)i + 1);
        row[1]  = value_text(call->arena, found.items[i].name);
        row[2]  = value_int(catalog_type_id(type));
        row[3]  = value_text(call->arena, sim_type_format(call->arena, type));
        row[4]  = value_int(catalog_max_length(type));
        row[5]  = value_int(catalog_precision(type));
        row[6]  = value_int(catalog_scale(type));
        row[16] = row[17] = row[18] = row[20] = value_bit(false);
        row[19]                               = value_bit(true);
        row[22]                               = value_int(catalog_tds_type(type));
        row[23]                               = value_int(catalog_max_length(type));
        if (!proc_row(call, row, COUNT_OF(specs))) return false;
    }
    return proc_done(call, (int64_t)found.count);
}

static bool sp_describe_parameter_encryption(ProcCall *call)
{
    static const ResultSpec keys[]   = {{"column_encryption_key_ordinal", "int"},
                                        {"database_id", "int"},
                                        {"column_encryption_key_id", "int"},
                                        {"column_encryption_key_version", "int"}};
    static const ResultSpec params[] = {
        {"parameter_ordinal", "int"},
        {"parameter_name", "sysname"},
        {"column_encryption_algorithm", "tinyint"},
        {"column_encryption_type", "tinyint"},
        {"column_encryption_key_ordinal", "int"},
        {"column_encryption_normalization_rule_version", "tinyint"}};

    return proc_columns(call, keys, COUNT_OF(keys)) && proc_done(call, 0) &&
           proc_columns(call, params, COUNT_OF(params)) && proc_done(call, 0);
}

/* "*": any number of arguments, kept in the order they came. */
const ProcEntry session_procs[] = {
    {"sp_executesql", sp_executesql, "*"},
    {"sp_prepare", sp_prepare, "*"},
    {"sp_execute", sp_execute, "*"},
    {"sp_prepexec", sp_prepexec, "*"},
    {"sp_prepexecrpc", sp_prepexecrpc, "*"},
    {"sp_unprepare", sp_unprepare, "*"},
    {"sp_reset_connection", session_reset_proc, ""},
    {"sp_describe_first_result_set", sp_describe_first_result_set,
     "tsql,params,browse_information_mode"},
    {"sp_describe_undeclared_parameters", sp_describe_undeclared_parameters, "tsql,params"},
    {"sp_describe_parameter_encryption", sp_describe_parameter_encryption, "tsql,params"},
    {NULL, NULL, NULL},
};
