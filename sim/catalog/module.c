/* module.c - procedures and views that were made here: their texts, parameters and columns. */
#include "sim/catalog/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

bool module_is_visible(SimSession *session, SimDatabase *database, const SimModule *module)
{
    static const SimPermission any[] = {SIM_PERM_SELECT, SIM_PERM_INSERT,  SIM_PERM_UPDATE,
                                        SIM_PERM_DELETE, SIM_PERM_EXECUTE, SIM_PERM_CONTROL};
    Str                        user;

    if (session->login.is_sysadmin) return true;
    if (!session_user_in(session, database, &user)) return false;
    for (size_t i = 0; i < COUNT_OF(any); i++)
        if (sim_has_module_permission(database, user, any[i], module)) return true;
    return false;
}

bool view_next_module(Exec *exec, SimDatabase *database, size_t *at, const SimModule **out)
{
    while (sim_database_next_module(database, at, out))
        if (module_is_visible(exec->session, database, *out)) return true;
    return false;
}

const SimColumn *module_columns(SimSession *session, SimDatabase *database, const SimModule *module,
                                Arena *arena, size_t *count_out)
{
    const Stmt *stmt   = module->tree;
    SelectPlan *plan   = NULL;
    SimError    error  = SIM_ERROR_INIT;
    Binder     *binder = binder_new(session, arena, &error);

    *count_out = 0;
    if (module->kind != SIM_MODULE_VIEW) return NULL;
    binder->is_trusted = true;
    binder->database   = database;
    if (!bind_select(binder, NULL, stmt->select, &plan)) return NULL;
    *count_out         = MIN(plan->out_count, stmt->columns.count);
    SimColumn *columns = ARENA_ARRAY(arena, SimColumn, *count_out + 1);
    for (size_t i = 0; i < *count_out; i++)
        columns[i] = (SimColumn){.name        = stmt->columns.items[i],
                                 .column_id   = (int32_t)i + 1,
                                 .type        = plan->outs[i].node->type,
                                 .is_nullable = plan->outs[i].node->is_nullable};
    return columns;
}

/* --- sys.sql_modules --- */
static const VirtualColumn module_view_columns[] = {{"object_id", "int"},
                                                    {"definition", "nvarchar(max)"},
                                                    {"uses_ansi_nulls", "bit"},
                                                    {"uses_quoted_identifier", "bit"},
                                                    {"is_schema_bound", "bit"},
                                                    {"uses_database_collation", "bit"},
                                                    {"is_recompiled", "bit"},
                                                    {"null_on_null_input", "bit"},
                                                    {"execute_as_principal_id", "int"},
                                                    {"uses_native_compilation", "bit"},
                                                    {"inline_type", "bit"},
                                                    {"is_inlineable", "bit"}};

static bool fill_modules(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    static const char *const off[] = {
        "is_schema_bound",    "uses_database_collation", "is_recompiled",
        "null_on_null_input", "uses_native_compilation", "inline_type",
        "is_inlineable"};
    size_t           at     = 0;
    const SimModule *module = NULL;

    while (view_next_module(exec, source->database, &at, &module)) {
        SimValue *row = view_row(rows);
        view_set(rows, row, "object_id", INT(module->object_id));
        view_set(rows, row, "definition", TEXT(module->text));
        view_set(rows, row, "uses_ansi_nulls", BIT(true));
        view_set(rows, row, "uses_quoted_identifier", BIT(module->quoted_identifier));
        for (size_t i = 0; i < COUNT_OF(off); i++)
            view_set(rows, row, off[i], BIT(false));
    }
    return true;
}

/* --- sys.parameters --- */
static const VirtualColumn parameter_columns[] = {
    {"object_id", "int"},
    {"name", "sysname"},
    {"parameter_id", "int"},
    {"system_type_id", "tinyint"},
    {"user_type_id", "int"},
    {"max_length", "smallint"},
    {"precision", "tinyint"},
    {"scale", "tinyint"},
    {"is_output", "bit"},
    {"is_cursor_ref", "bit"},
    {"has_default_value", "bit"},
    {"is_xml_document", "bit"},
    {"default_value", "sql_variant"},
    {"xml_collection_id", "int"},
    {"is_readonly", "bit"},
    {"is_nullable", "bit"},
    {"encryption_type", "int"},
    {"encryption_type_desc", "nvarchar(64)"},
    {"encryption_algorithm_name", "sysname"},
    {"column_encryption_key_id", "int"},
    {"column_encryption_key_database_name", "sysname"}};

static void parameter_row(VirtualRows *rows, const SimModule *module, const VariableDef *parameter,
                          size_t number)
{
    static const char *const off[] = {"is_cursor_ref", "has_default_value", "is_xml_document",
                                      "is_readonly"};
    const SimType           *type  = &parameter->type;
    SimValue                *row   = view_row(rows);

    view_set(rows, row, "object_id", INT(module->object_id));
    view_set(rows, row, "name", TEXT(parameter->name));
    view_set(rows, row, "parameter_id", INT((int64_t)number));
    view_set(rows, row, "system_type_id", INT(catalog_type_id(type)));
    view_set(rows, row, "user_type_id", INT(catalog_type_id(type)));
    view_set(rows, row, "max_length", INT(catalog_max_length(type)));
    view_set(rows, row, "precision", INT(catalog_precision(type)));
    view_set(rows, row, "scale", INT(catalog_scale(type)));
    view_set(rows, row, "is_output", BIT(parameter->is_output));
    for (size_t i = 0; i < COUNT_OF(off); i++)
        view_set(rows, row, off[i], BIT(false));
    view_set(rows, row, "xml_collection_id", INT(0));
    view_set(rows, row, "is_nullable", BIT(true));
}

static bool fill_parameters(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t           at     = 0;
    const SimModule *module = NULL;

    while (view_next_module(exec, source->database, &at, &module)) {
        const Stmt *stmt = module->tree;
        for (size_t i = 0; module->kind == SIM_MODULE_PROCEDURE && i < stmt->variables.count; i++)
            parameter_row(rows, module, &stmt->variables.items[i], i + 1);
    }
    return true;
}

const VirtualTable catalog_module_views[] = {
    VIEW("sys", "sql_modules", module_view_columns, fill_modules),
    VIEW("sys", "parameters", parameter_columns, fill_parameters),
    {.name = NULL},
};
