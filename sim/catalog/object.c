/* object.c - views of the objects of a database: schemas, tables, columns, indexes, principals. A login sees what it has some permission on. */
#include "sim/catalog/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

bool view_next_table(Exec *exec, SimDatabase *database, size_t *at, SimTable **out)
{
    while (sim_database_next_table(database, at, out)) {
        const SimTableInfo *info = sim_table_info(*out);
        if (!info->is_temporary && session_can_see(exec->session, database, *out)) return true;
    }
    return false;
}

/* --- schemas, objects, tables --- */
static const VirtualColumn schema_columns[] = {
    {"name", "sysname"}, {"schema_id", "int"}, {"principal_id", "int"}};

/* Those every database has beside dbo and its own. */
static const struct {
    const char *name;
    int32_t     id, owner;
} fixed_schemas[] = {{"guest", 2, 2},
                     {"INFORMATION_SCHEMA", 3, 3},
                     {"sys", 4, 4},
                     {"db_owner", 16384, 16384},
                     {"db_accessadmin", 16385, 16385},
                     {"db_securityadmin", 16386, 16386},
                     {"db_ddladmin", 16387, 16387},
                     {"db_backupoperator", 16389, 16389},
                     {"db_datareader", 16390, 16390},
                     {"db_datawriter", 16391, 16391},
                     {"db_denydatareader", 16392, 16392},
                     {"db_denydatawriter", 16393, 16393}};

static void schema_row(VirtualRows *rows, Str name, int32_t id, int32_t owner)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "name", TEXT(name));
    view_set(rows, row, "schema_id", INT(id));
    view_set(rows, row, "principal_id", INT(owner));
}

static bool fill_schemas(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t  at = 0;
    Str     name;
    int32_t id = 0;

    (void)exec;
    while (sim_database_next_schema(source->database, &at, rows->arena, &name, &id))
        if (id == 1 || id >= 5) schema_row(rows, name, id, 1);
    for (size_t i = 0; i < COUNT_OF(fixed_schemas); i++)
        schema_row(rows, str_from_c(fixed_schemas[i].name), fixed_schemas[i].id,
                   fixed_schemas[i].owner);
    return true;
}

static const VirtualColumn object_columns[] = {
    {"name", "sysname"},           {"object_id", "int"},        {"principal_id", "int"},
    {"schema_id", "int"},          {"parent_object_id", "int"}, {"type", "char(2)"},
    {"type_desc", "nvarchar(60)"}, {"create_date", "datetime"}, {"modify_date", "datetime"},
    {"is_ms_shipped", "bit"},      {"is_published", "bit"},     {"is_schema_published", "bit"},
};
static const VirtualColumn table_columns[] = {
    {"name", "sysname"},
    {"object_id", "int"},
    {"principal_id", "int"},
    {"schema_id", "int"},
    {"parent_object_id", "int"},
    {"type", "char(2)"},
    {"type_desc", "nvarchar(60)"},
    {"create_date", "datetime"},
    {"modify_date", "datetime"},
    {"is_ms_shipped", "bit"},
    {"is_published", "bit"},
    {"is_schema_published", "bit"},
    {"lob_data_space_id", "int"},
    {"max_column_id_used", "int"},
    {"is_replicated", "bit"},
    {"is_tracked_by_cdc", "bit"},
    {"is_memory_optimized", "bit"},
    {"temporal_type", "tinyint"},
    {"temporal_type_desc", "nvarchar(60)"},
    {"is_external", "bit"},
    {"is_node", "bit"},
    {"is_edge", "bit"},
};

/* A row of sys.objects or of one of the views that begin with its columns. */
SimValue *view_object_row(VirtualRows *rows, SimDatabase *database, const SimTableInfo *info,
                          const ObjectFacts *facts)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "name", TEXT(facts->name));
    view_set(rows, row, "object_id", INT(facts->object_id));
    view_set(rows, row, "schema_id", INT(sim_database_schema_id(database, info->schema)));
    view_set(rows, row, "parent_object_id", INT(facts->parent_id));
    view_set(rows, row, "type", TEXT(str_from_c(facts->type)));
    view_set(rows, row, "type_desc", TEXT(str_from_c(system_type_desc(facts->type))));
    view_set(rows, row, "create_date", value_datetime(info->created_us));
    view_set(rows, row, "modify_date", value_datetime(info->created_us));
    view_set(rows, row, "is_ms_shipped", BIT(info->is_system));
    view_set(rows, row, "is_published", BIT(false));
    view_set(rows, row, "is_schema_published", BIT(false));
    return row;
}

static SimValue *object_row(VirtualRows *rows, SimDatabase *database, const SimTableInfo *info)
{
    ObjectFacts facts = {.name = info->name, .type = "U", .object_id = info->object_id};

    return view_object_row(rows, database, info, &facts);
}

bool view_next_constraint(const SimTableInfo *info, size_t *at, ObjectFacts *out)
{
    for (; *at < info->index_count; ++*at) {
        const SimIndex *index = info->indexes[*at];
        if (!index->is_primary_key && !index->is_unique_constraint) continue;
        *out = (ObjectFacts){.name            = index->name,
                             .type            = index->is_primary_key ? "PK" : "UQ",
                             .object_id       = index->object_id,
                             .parent_id       = info->object_id,
                             .is_system_named = index->is_system_named,
                             .index           = index};
        ++*at;
        return true;
    }
    for (; *at < info->index_count + info->column_count; ++*at) {
        const SimColumn *column = &info->columns[*at - info->index_count];
        if (!column->default_value) continue;
        *out = (ObjectFacts){.name            = column->default_name,
                             .type            = "D",
                             .object_id       = column->default_object_id,
                             .parent_id       = info->object_id,
                             .is_system_named = column->default_is_system_named,
                             .column          = column};
        ++*at;
        return true;
    }
    size_t first = info->index_count + info->column_count;
    if (*at >= first + info->constraint_count) return false;
    const SimConstraint *constraint = &info->constraints[*at - first];
    *out                            = (ObjectFacts){.name            = constraint->name,
                                                    .type            = constraint->kind == SIM_CONSTRAINT_CHECK ? "C" : "F",
                                                    .object_id       = constraint->object_id,
                                                    .parent_id       = info->object_id,
                                                    .is_system_named = constraint->is_system_named,
                                                    .constraint      = constraint};
    ++*at;
    return true;
}

static void module_row(VirtualRows *rows, SimDatabase *database, const SimModule *module)
{
    SimTableInfo like  = {.schema = module->schema, .created_us = module->created_us};
    ObjectFacts  facts = {.name      = module->name,
                          .type      = module->kind == SIM_MODULE_VIEW ? "V" : "P",
                          .object_id = module->object_id};
    SimValue    *row   = view_object_row(rows, database, &like, &facts);

    view_set(rows, row, "modify_date", value_datetime(module->modified_us));
}

static bool fill_objects(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        ObjectFacts         facts;
        size_t              next = 0;
        (void)object_row(rows, source->database, info);
        while (view_next_constraint(info, &next, &facts))
            (void)view_object_row(rows, source->database, info, &facts);
    }
    const SimModule *module = NULL;
    for (at = 0; view_next_module(exec, source->database, &at, &module);)
        module_row(rows, source->database, module);
    return true;
}

static bool fill_all_objects(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimTableInfo shipped = {.is_system  = true,
                            .created_us = sim_database_created_us(source->database)};
    SystemObject object  = {.at = 0};

    if (!fill_objects(rows, exec, source)) return false;
    while (system_object_next(rows->arena, &object)) {
        ObjectFacts facts = {
            .name = object.name, .type = object.type, .object_id = object.object_id};
        shipped.schema = object.schema;
        (void)view_object_row(rows, source->database, &shipped, &facts);
    }
    return true;
}

static bool fill_tables(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        SimValue           *row  = object_row(rows, source->database, info);
        int32_t             last = 0;
        for (size_t i = 0; i < info->column_count; i++)
            last = MAX(last, info->columns[i].column_id);
        view_set(rows, row, "lob_data_space_id", INT(0));
        view_set(rows, row, "max_column_id_used", INT(last));
        view_set(rows, row, "is_replicated", BIT(false));
        view_set(rows, row, "is_tracked_by_cdc", BIT(sim_table_is_captured(table)));
        view_set(rows, row, "is_memory_optimized", BIT(false));
        view_set(rows, row, "temporal_type", INT(0));
        view_set(rows, row, "temporal_type_desc", TEXT(STR("NON_TEMPORAL_TABLE")));
        view_set(rows, row, "is_external", BIT(false));
        view_set(rows, row, "is_node", BIT(false));
        view_set(rows, row, "is_edge", BIT(false));
    }
    return true;
}

/* --- columns --- */
static const VirtualColumn column_columns[] = {
    {"object_id", "int"},
    {"name", "sysname"},
    {"column_id", "int"},
    {"system_type_id", "tinyint"},
    {"user_type_id", "int"},
    {"max_length", "smallint"},
    {"precision", "tinyint"},
    {"scale", "tinyint"},
    {"collation_name", "sysname"},
    {"is_nullable", "bit"},
    {"is_ansi_padded", "bit"},
    {"is_rowguidcol", "bit"},
    {"is_identity", "bit"},
    {"is_computed", "bit"},
    {"is_filestream", "bit"},
    {"is_replicated", "bit"},
    {"is_non_sql_subscribed", "bit"},
    {"is_merge_published", "bit"},
    {"is_dts_replicated", "bit"},
    {"is_xml_document", "bit"},
    {"xml_collection_id", "int"},
    {"default_object_id", "int"},
    {"rule_object_id", "int"},
    {"is_sparse", "bit"},
    {"is_column_set", "bit"},
    {"generated_always_type", "tinyint"},
    {"generated_always_type_desc", "nvarchar(60)"},
    {"is_hidden", "bit"},
    {"is_masked", "bit"},
    {"graph_type", "int"},
    {"encryption_type", "int"},
};

/* A column is visible with a permission on the table or on the column itself. */
bool view_column_is_visible(Exec *exec, SimDatabase *database, const SimTable *table,
                            const SimColumn *column)
{
    Str user;

    if (!session_user_in(exec->session, database, &user)) return false;
    if (exec->session->login.is_sysadmin || sim_is_owner(database, user)) return true;
    return sim_has_permission(database, user, SIM_PERM_SELECT, table, &column->name, 1, false) ||
           !sim_has_permission(database, user, SIM_PERM_SELECT, table, NULL, 0, true);
}

SimValue *view_column_row(VirtualRows *rows, const SimTableInfo *info, const SimColumn *column)
{
    SimValue      *row  = view_row(rows);
    const SimType *type = &column->type;

    view_set(rows, row, "object_id", INT(info->object_id));
    view_set(rows, row, "name", TEXT(column->name));
    view_set(rows, row, "column_id", INT(column->column_id));
    view_set(rows, row, "system_type_id", INT(catalog_type_id(type)));
    view_set(rows, row, "user_type_id", INT(catalog_type_id(type)));
    view_set(rows, row, "max_length", INT(catalog_max_length(type)));
    view_set(rows, row, "precision", INT(catalog_precision(type)));
    view_set(rows, row, "scale", INT(catalog_scale(type)));
    if (sim_type_is_text(type->kind) || type->kind == SIM_TEXT || type->kind == SIM_NTEXT)
        view_set(
            rows, row, "collation_name",
            TEXT(sim_collation_name(type->collation ? type->collation : sim_collation_default())));
    view_set(rows, row, "is_nullable", BIT(column->is_nullable));
    view_set(rows, row, "is_ansi_padded",
             BIT(sim_type_is_text(type->kind) || sim_type_is_binary(type->kind)));
    view_set(rows, row, "is_identity", BIT(column->is_identity));
    view_set(rows, row, "is_computed", BIT(column->is_computed));
    static const char *const off[] = {
        "is_rowguidcol",      "is_filestream",     "is_replicated",   "is_non_sql_subscribed",
        "is_merge_published", "is_dts_replicated", "is_xml_document", "is_sparse",
        "is_column_set",      "is_hidden",         "is_masked"};
    for (size_t i = 0; i < COUNT_OF(off); i++)
        view_set(rows, row, off[i], BIT(false));
    view_set(rows, row, "xml_collection_id", INT(0));
    view_set(rows, row, "default_object_id",
             INT(column->default_value ? column->default_object_id : 0));
    view_set(rows, row, "rule_object_id", INT(0));
    view_set(rows, row, "generated_always_type", INT(0));
    view_set(rows, row, "generated_always_type_desc", TEXT(STR("NOT_APPLICABLE")));
    return row;
}

static bool fill_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t           at     = 0;
    SimTable        *table  = NULL;
    const SimModule *module = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->column_count; i++)
            if (view_column_is_visible(exec, source->database, table, &info->columns[i]))
                (void)view_column_row(rows, info, &info->columns[i]);
    }
    for (at = 0; view_next_module(exec, source->database, &at, &module);) {
        SimTableInfo     info    = {.object_id = module->object_id};
        const SimColumn *columns = module_columns(exec->session, source->database, module,
                                                  rows->arena, &info.column_count);
        for (size_t i = 0; i < info.column_count; i++)
            (void)view_column_row(rows, &info, &columns[i]);
    }
    return true;
}

/* Of the views every database has. */
static bool fill_system_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SystemObject object = {.at = 0};

    (void)exec;
    (void)source;
    while (system_object_next(rows->arena, &object)) {
        SimTableInfo        info = {.object_id = object.object_id};
        const VirtualTable *view = object.type[0] == 'V'
                                       ? virtual_table_find(rows->arena, object.schema, object.name)
                                       : NULL;
        for (size_t i = 0; view && i < view->column_count; i++) {
            SimColumn column = {.name        = str_from_c(view->columns[i].name),
                                .column_id   = (int32_t)i + 1,
                                .is_nullable = true};
            if (sim_type_parse(str_from_c(view->columns[i].type), &column.type))
                (void)view_column_row(rows, &info, &column);
        }
    }
    return true;
}

static bool fill_all_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    return fill_columns(rows, exec, source) && fill_system_columns(rows, exec, source);
}

static const VirtualColumn type_columns[] = {
    {"name", "sysname"},          {"system_type_id", "tinyint"}, {"user_type_id", "int"},
    {"schema_id", "int"},         {"principal_id", "int"},       {"max_length", "smallint"},
    {"precision", "tinyint"},     {"scale", "tinyint"},          {"collation_name", "sysname"},
    {"is_nullable", "bit"},       {"is_user_defined", "bit"},    {"is_assembly_type", "bit"},
    {"default_object_id", "int"}, {"rule_object_id", "int"},     {"is_table_type", "bit"},
};

static SimValue *type_row(VirtualRows *rows, Str name, const SimType *type, int user_type_id,
                          int max_length)
{
    SimTypeKind kind = type->kind;
    SimValue   *row  = view_row(rows);

    view_set(rows, row, "name", TEXT(name));
    view_set(rows, row, "system_type_id", INT(catalog_type_id(type)));
    view_set(rows, row, "user_type_id", INT(user_type_id));
    view_set(rows, row, "schema_id", INT(4));
    view_set(rows, row, "max_length", INT(max_length));
    view_set(rows, row, "precision", INT(kind == SIM_DECIMAL ? 38 : catalog_precision(type)));
    view_set(rows, row, "scale", INT(kind == SIM_DECIMAL ? 38 : catalog_scale(type)));
    if (sim_type_is_text(kind))
        view_set(rows, row, "collation_name", TEXT(sim_collation_name(sim_collation_default())));
    view_set(rows, row, "is_nullable", BIT(true));
    view_set(rows, row, "is_user_defined", BIT(false));
    view_set(rows, row, "is_assembly_type", BIT(false));
    view_set(rows, row, "default_object_id", INT(0));
    view_set(rows, row, "rule_object_id", INT(0));
    view_set(rows, row, "is_table_type", BIT(false));
    return row;
}

static bool fill_types(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    (void)exec;
    (void)source;
    for (int kind = SIM_BIT; kind <= SIM_VARIANT; kind++) {
        SimType type  = sim_type((SimTypeKind)kind);
        bool    sized = kind >= SIM_CHAR && kind <= SIM_VARBINARY;
        (void)type_row(rows, str_from_c(sim_type_word(&type)), &type, catalog_type_id(&type),
                       sized                 ? 8000
                       : kind == SIM_DECIMAL ? 17
                                             : catalog_max_length(&type));
    }
    SimType numeric = sim_type_numeric(18, 0);
    SimType name    = sim_type_sized(SIM_NVARCHAR, 128);
    (void)type_row(rows, STR("numeric"), &numeric, catalog_type_id(&numeric), 17);
    (void)type_row(rows, STR("sysname"), &name, 256, 256);
    return true;
}

/* --- indexes --- */
static const VirtualColumn index_columns[] = {
    {"object_id", "int"},          {"name", "sysname"},
    {"index_id", "int"},           {"type", "tinyint"},
    {"type_desc", "nvarchar(60)"}, {"is_unique", "bit"},
    {"data_space_id", "int"},      {"ignore_dup_key", "bit"},
    {"is_primary_key", "bit"},     {"is_unique_constraint", "bit"},
    {"fill_factor", "tinyint"},    {"is_padded", "bit"},
    {"is_disabled", "bit"},        {"is_hypothetical", "bit"},
    {"allow_row_locks", "bit"},    {"allow_page_locks", "bit"},
    {"has_filter", "bit"},         {"filter_definition", "nvarchar(max)"},
};

static void index_row(VirtualRows *rows, const SimTableInfo *info, const SimIndex *index)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "object_id", INT(info->object_id));
    if (index) view_set(rows, row, "name", TEXT(index->name));
    view_set(rows, row, "index_id", INT(index ? index->index_id : 0));
    view_set(rows, row, "type", INT(!index ? 0 : index->is_clustered ? 1 : 2));
    view_set(rows, row, "type_desc",
             TEXT(!index                ? STR("HEAP")
                  : index->is_clustered ? STR("CLUSTERED")
                                        : STR("NONCLUSTERED")));
    view_set(rows, row, "is_unique", BIT(index && index->is_unique));
    view_set(rows, row, "data_space_id", INT(1));
    view_set(rows, row, "is_primary_key", BIT(index && index->is_primary_key));
    view_set(rows, row, "is_unique_constraint", BIT(index && index->is_unique_constraint));
    view_set(rows, row, "fill_factor", INT(0));
    static const char *const off[] = {"ignore_dup_key", "is_padded", "is_disabled",
                                      "is_hypothetical", "has_filter"};
    for (size_t i = 0; i < COUNT_OF(off); i++)
        view_set(rows, row, off[i], BIT(false));
    view_set(rows, row, "allow_row_locks", BIT(true));
    view_set(rows, row, "allow_page_locks", BIT(true));
}

static bool fill_indexes(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (info->index_count == 0 || !info->indexes[0]->is_clustered) index_row(rows, info, NULL);
        for (size_t i = 0; i < info->index_count; i++)
            index_row(rows, info, info->indexes[i]);
    }
    return true;
}

static const VirtualColumn index_column_columns[] = {
    {"object_id", "int"},         {"index_id", "int"},           {"index_column_id", "int"},
    {"column_id", "int"},         {"key_ordinal", "tinyint"},    {"partition_ordinal", "tinyint"},
    {"is_descending_key", "bit"}, {"is_included_column", "bit"},
};

static void index_column_row(VirtualRows *rows, const SimTableInfo *info, const SimIndex *index,
                             size_t at)
{
    bool      is_key = at < index->column_count;
    SimValue *row    = view_row(rows);

    view_set(rows, row, "object_id", INT(info->object_id));
    view_set(rows, row, "index_id", INT(index->index_id));
    view_set(rows, row, "index_column_id", INT((int64_t)at + 1));
    view_set(
        rows, row, "column_id",
        INT(is_key ? index->columns[at].column_id : index->included[at - index->column_count]));
    view_set(rows, row, "key_ordinal", INT(is_key ? (int64_t)at + 1 : 0));
    view_set(rows, row, "partition_ordinal", INT(0));
    view_set(rows, row, "is_descending_key", BIT(is_key && index->columns[at].descending));
    view_set(rows, row, "is_included_column", BIT(!is_key));
}

static bool fill_index_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->index_count; i++)
            for (size_t c = 0;
                 c < info->indexes[i]->column_count + info->indexes[i]->included_count; c++)
                index_column_row(rows, info, info->indexes[i], c);
    }
    return true;
}

static const VirtualColumn partition_columns[] = {
    {"partition_id", "bigint"},
    {"object_id", "int"},
    {"index_id", "int"},
    {"partition_number", "int"},
    {"hobt_id", "bigint"},
    {"rows", "bigint"},
    {"filestream_filegroup_id", "smallint"},
    {"data_compression", "tinyint"},
    {"data_compression_desc", "nvarchar(60)"},
};

static bool fill_partitions(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        bool                heap = info->index_count == 0 || !info->indexes[0]->is_clustered;
        for (size_t i = 0; i < info->index_count + heap; i++) {
            int32_t   index_id = heap && i == 0 ? 0 : info->indexes[i - heap]->index_id;
            SimValue *row      = view_row(rows);
            view_set(rows, row, "partition_id",
                     value_bigint((int64_t)info->object_id << 16 | index_id));
            view_set(rows, row, "object_id", INT(info->object_id));
            view_set(rows, row, "index_id", INT(index_id));
            view_set(rows, row, "partition_number", INT(1));
            view_set(rows, row, "hobt_id", value_bigint((int64_t)info->object_id << 16 | index_id));
            view_set(rows, row, "rows", value_bigint(sim_table_row_count(table)));
            view_set(rows, row, "data_compression", INT(0));
            view_set(rows, row, "data_compression_desc", TEXT(STR("NONE")));
        }
    }
    return true;
}

/* What of a table is in one of its partitions: a page has 8192 bytes, 8096 of them for rows. */
static const VirtualColumn count_columns[] = {
    {"partition_id", "bigint"},
    {"object_id", "int"},
    {"index_id", "int"},
    {"partition_number", "int"},
    {"in_row_data_page_count", "bigint"},
    {"in_row_used_page_count", "bigint"},
    {"in_row_reserved_page_count", "bigint"},
    {"lob_used_page_count", "bigint"},
    {"lob_reserved_page_count", "bigint"},
    {"row_overflow_used_page_count", "bigint"},
    {"row_overflow_reserved_page_count", "bigint"},
    {"used_page_count", "bigint"},
    {"reserved_page_count", "bigint"},
    {"row_count", "bigint"},
};

static void count_row(VirtualRows *rows, SimTable *table, int32_t index_id)
{
    static const char *const none[]    = {"lob_used_page_count", "lob_reserved_page_count",
                                          "row_overflow_used_page_count",
                                          "row_overflow_reserved_page_count"};
    int32_t                  object_id = sim_table_info(table)->object_id;
    int64_t                  data      = (sim_table_size_bytes(table) + 8095) / 8096;
    int64_t                  used = data > 0 ? data + 1 : 0; /* and one that says where they are */
    int64_t                  reserved = (used + 7) / 8 * 8;
    SimValue                *row      = view_row(rows);

    view_set(rows, row, "partition_id", value_bigint((int64_t)object_id << 16 | index_id));
    view_set(rows, row, "object_id", INT(object_id));
    view_set(rows, row, "index_id", INT(index_id));
    view_set(rows, row, "partition_number", INT(1));
    view_set(rows, row, "in_row_data_page_count", value_bigint(data));
    view_set(rows, row, "in_row_used_page_count", value_bigint(used));
    view_set(rows, row, "in_row_reserved_page_count", value_bigint(reserved));
    for (size_t i = 0; i < COUNT_OF(none); i++)
        view_set(rows, row, none[i], value_bigint(0));
    view_set(rows, row, "used_page_count", value_bigint(used));
    view_set(rows, row, "reserved_page_count", value_bigint(reserved));
    view_set(rows, row, "row_count", value_bigint(sim_table_row_count(table)));
}

static bool fill_counts(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (info->index_count == 0 || !info->indexes[0]->is_clustered) count_row(rows, table, 0);
        for (size_t i = 0; i < info->index_count; i++)
            count_row(rows, table, info->indexes[i]->index_id);
    }
    return true;
}

/* --- INFORMATION_SCHEMA --- */
static const VirtualColumn info_column_columns[] = {{"TABLE_CATALOG", "nvarchar(128)"},
                                                    {"TABLE_SCHEMA", "nvarchar(128)"},
                                                    {"TABLE_NAME", "nvarchar(128)"},
                                                    {"COLUMN_NAME", "nvarchar(128)"},
                                                    {"ORDINAL_POSITION", "int"},
                                                    {"COLUMN_DEFAULT", "nvarchar(4000)"},
                                                    {"IS_NULLABLE", "varchar(3)"},
                                                    {"DATA_TYPE", "nvarchar(128)"},
                                                    {"CHARACTER_MAXIMUM_LENGTH", "int"},
                                                    {"CHARACTER_OCTET_LENGTH", "int"},
                                                    {"NUMERIC_PRECISION", "tinyint"},
                                                    {"NUMERIC_PRECISION_RADIX", "smallint"},
                                                    {"NUMERIC_SCALE", "int"},
                                                    {"DATETIME_PRECISION", "smallint"},
                                                    {"CHARACTER_SET_CATALOG", "nvarchar(128)"},
                                                    {"CHARACTER_SET_SCHEMA", "nvarchar(128)"},
                                                    {"CHARACTER_SET_NAME", "nvarchar(128)"},
                                                    {"COLLATION_CATALOG", "nvarchar(128)"},
                                                    {"COLLATION_SCHEMA", "nvarchar(128)"},
                                                    {"COLLATION_NAME", "nvarchar(128)"},
                                                    {"DOMAIN_CATALOG", "nvarchar(128)"},
                                                    {"DOMAIN_SCHEMA", "nvarchar(128)"},
                                                    {"DOMAIN_NAME", "nvarchar(128)"}};

static void info_type(VirtualRows *rows, SimValue *row, const SimType *type)
{
    int length = catalog_max_length(type);

    view_set(
        rows, row, "DATA_TYPE",
        TEXT(type->kind == SIM_ROWVERSION ? STR("timestamp") : str_from_c(sim_type_word(type))));
    if (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY) {
        view_set(rows, row, "CHARACTER_MAXIMUM_LENGTH",
                 INT(length > 0 && sim_type_is_unicode(type->kind) ? length / 2 : length));
        view_set(rows, row, "CHARACTER_OCTET_LENGTH", INT(length));
    }
    if (type->kind == SIM_TEXT || type->kind == SIM_NTEXT || type->kind == SIM_IMAGE) {
        view_set(rows, row, "CHARACTER_MAXIMUM_LENGTH",
                 INT(type->kind == SIM_NTEXT ? 1073741823 : 2147483647));
        view_set(rows, row, "CHARACTER_OCTET_LENGTH",
                 INT(type->kind == SIM_NTEXT ? 2147483646 : 2147483647));
    }
    if (type->kind == SIM_XML) {
        view_set(rows, row, "CHARACTER_MAXIMUM_LENGTH", INT(-1));
        view_set(rows, row, "CHARACTER_OCTET_LENGTH", INT(-1));
    }
    if (sim_type_is_number(type->kind) && type->kind != SIM_BIT) {
        view_set(rows, row, "NUMERIC_PRECISION", INT(catalog_precision(type)));
        view_set(rows, row, "NUMERIC_PRECISION_RADIX",
                 INT(type->kind == SIM_FLOAT || type->kind == SIM_REAL ? 2 : 10));
        if (type->kind != SIM_FLOAT && type->kind != SIM_REAL)
            view_set(rows, row, "NUMERIC_SCALE", INT(catalog_scale(type)));
    }
    if (sim_type_is_time(type->kind))
        view_set(rows, row, "DATETIME_PRECISION", INT(catalog_scale(type)));
    if (sim_type_is_text(type->kind) || type->kind == SIM_TEXT || type->kind == SIM_NTEXT) {
        view_set(rows, row, "CHARACTER_SET_NAME",
                 TEXT(sim_type_is_unicode(type->kind) ? STR("UNICODE") : STR("iso_1")));
        view_set(
            rows, row, "COLLATION_NAME",
            TEXT(sim_collation_name(type->collation ? type->collation : sim_collation_default())));
    }
}

static void info_column_row(VirtualRows *rows, SimDatabase *database, Str schema, Str table,
                            const SimColumn *column, size_t ordinal)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "TABLE_CATALOG", TEXT(sim_database_name(database)));
    view_set(rows, row, "TABLE_SCHEMA", TEXT(schema));
    view_set(rows, row, "TABLE_NAME", TEXT(table));
    view_set(rows, row, "COLUMN_NAME", TEXT(column->name));
    view_set(rows, row, "ORDINAL_POSITION", INT((int64_t)ordinal));
    view_set(rows, row, "IS_NULLABLE", TEXT(column->is_nullable ? STR("YES") : STR("NO")));
    if (column->default_value)
        view_set(rows, row, "COLUMN_DEFAULT",
                 TEXT(expr_definition(rows->arena, column->default_value)));
    info_type(rows, row, &column->type);
}

static bool fill_info_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t           at     = 0;
    SimTable        *table  = NULL;
    const SimModule *module = NULL;

    while (view_next_table(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->column_count; i++)
            if (view_column_is_visible(exec, source->database, table, &info->columns[i]))
                info_column_row(rows, source->database, info->schema, info->name, &info->columns[i],
                                i + 1);
    }
    for (at = 0; view_next_module(exec, source->database, &at, &module);) {
        size_t           count   = 0;
        const SimColumn *columns = module_columns(exec->session, source->database, module,
                                                  rows->arena, &count);
        for (size_t i = 0; i < count; i++)
            info_column_row(rows, source->database, module->schema, module->name, &columns[i],
                            i + 1);
    }
    return true;
}

const VirtualTable catalog_object_views[] = {
    VIEW("sys", "schemas", schema_columns, fill_schemas),
    VIEW("sys", "objects", object_columns, fill_objects),
    VIEW("sys", "all_objects", object_columns, fill_all_objects),
    VIEW("sys", "tables", table_columns, fill_tables),
    VIEW("sys", "columns", column_columns, fill_columns),
    VIEW("sys", "all_columns", column_columns, fill_all_columns),
    VIEW("sys", "system_columns", column_columns, fill_system_columns),
    VIEW("sys", "types", type_columns, fill_types),
    VIEW("sys", "indexes", index_columns, fill_indexes),
    VIEW("sys", "index_columns", index_column_columns, fill_index_columns),
    VIEW("sys", "partitions", partition_columns, fill_partitions),
    {.schema       = "sys",
     .name         = "dm_db_partition_stats",
     .columns      = count_columns,
     .column_count = COUNT_OF(count_columns),
     .fill         = fill_counts,
     .permission   = SIM_PERM_VIEW_DATABASE_STATE},
    VIEW("INFORMATION_SCHEMA", "COLUMNS", info_column_columns, fill_info_columns),
    {.name = NULL},
};
