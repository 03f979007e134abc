/* catalog_object.c - views of the objects of a database: schemas, tables, columns, indexes, principals. A login sees what it has some permission on. */
#include "sim/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

static bool next_visible(Exec *exec, SimDatabase *database, size_t *at, SimTable **out)
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

static bool fill_schemas(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t  at = 0;
    Str     name;
    int32_t id      = 0;
    bool    has_dbo = false;

    (void)exec;
    while (sim_database_next_schema(source->database, &at, rows->arena, &name, &id)) {
        SimValue *row = view_row(rows);
        has_dbo |= id == 1;
        view_set(rows, row, "name", TEXT(name));
        view_set(rows, row, "schema_id", INT(id));
        view_set(rows, row, "principal_id", INT(1));
    }
    if (has_dbo) return true;
    SimValue *row = view_row(rows);
    view_set(rows, row, "name", TEXT(STR("dbo")));
    view_set(rows, row, "schema_id", INT(1));
    view_set(rows, row, "principal_id", INT(1));
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

static SimValue *object_row(VirtualRows *rows, SimDatabase *database, const SimTableInfo *info)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "name", TEXT(info->name));
    view_set(rows, row, "object_id", INT(info->object_id));
    view_set(rows, row, "schema_id", INT(sim_database_schema_id(database, info->schema)));
    view_set(rows, row, "parent_object_id", INT(0));
    view_set(rows, row, "type", TEXT(STR("U ")));
    view_set(rows, row, "type_desc", TEXT(STR("USER_TABLE")));
    view_set(rows, row, "create_date", value_datetime(info->created_us));
    view_set(rows, row, "modify_date", value_datetime(info->created_us));
    view_set(rows, row, "is_ms_shipped", BIT(info->is_system));
    view_set(rows, row, "is_published", BIT(false));
    view_set(rows, row, "is_schema_published", BIT(false));
    return row;
}

static bool fill_objects(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        (void)object_row(rows, source->database, info);
        for (size_t i = 0; i < info->index_count; i++) {
            const SimIndex *index = info->indexes[i];
            if (!index->is_primary_key && !index->is_unique_constraint) continue;
            SimValue *row = object_row(rows, source->database, info);
            view_set(rows, row, "name", TEXT(index->name));
            view_set(rows, row, "object_id", INT(info->object_id + index->index_id));
            view_set(rows, row, "parent_object_id", INT(info->object_id));
            view_set(rows, row, "type", TEXT(index->is_primary_key ? STR("PK") : STR("UQ")));
            view_set(rows, row, "type_desc",
                     TEXT(index->is_primary_key ? STR("PRIMARY_KEY_CONSTRAINT")
                                                : STR("UNIQUE_CONSTRAINT")));
        }
    }
    return true;
}

static bool fill_tables(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
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

static bool fill_nothing(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    (void)rows;
    (void)exec;
    (void)source;
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
static bool column_is_visible(Exec *exec, SimDatabase *database, const SimTable *table,
                              const SimColumn *column)
{
    Str user;

    if (!session_user_in(exec->session, database, &user)) return false;
    if (exec->session->login.is_sysadmin || sim_is_owner(database, user)) return true;
    return sim_has_permission(database, user, SIM_PERM_SELECT, table, &column->name, 1, false) ||
           !sim_has_permission(database, user, SIM_PERM_SELECT, table, NULL, 0, true);
}

static void column_row(VirtualRows *rows, const SimTableInfo *info, const SimColumn *column)
{
    SimValue      *row  = view_row(rows);
    const SimType *type = &column->type;

    view_set(rows, row, "object_id", INT(info->object_id));
    view_set(rows, row, "name", TEXT(column->name));
    view_set(rows, row, "column_id", INT(column->column_id));
    view_set(rows, row, "system_type_id", INT(catalog_type_id(type->kind)));
    view_set(rows, row, "user_type_id", INT(catalog_type_id(type->kind)));
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
             INT(column->default_value ? info->object_id + 1000 + column->column_id : 0));
    view_set(rows, row, "rule_object_id", INT(0));
    view_set(rows, row, "generated_always_type", INT(0));
    view_set(rows, row, "generated_always_type_desc", TEXT(STR("NOT_APPLICABLE")));
}

static bool fill_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->column_count; i++)
            if (column_is_visible(exec, source->database, table, &info->columns[i]))
                column_row(rows, info, &info->columns[i]);
    }
    return true;
}

static const VirtualColumn type_columns[] = {
    {"name", "sysname"},          {"system_type_id", "tinyint"}, {"user_type_id", "int"},
    {"schema_id", "int"},         {"principal_id", "int"},       {"max_length", "smallint"},
    {"precision", "tinyint"},     {"scale", "tinyint"},          {"collation_name", "sysname"},
    {"is_nullable", "bit"},       {"is_user_defined", "bit"},    {"is_assembly_type", "bit"},
    {"default_object_id", "int"}, {"rule_object_id", "int"},     {"is_table_type", "bit"},
};

static SimValue *type_row(VirtualRows *rows, Str name, SimTypeKind kind, int user_type_id,
                          int max_length)
{
    SimType   type = sim_type(kind);
    SimValue *row  = view_row(rows);

    view_set(rows, row, "name", TEXT(name));
    view_set(rows, row, "system_type_id", INT(catalog_type_id(kind)));
    view_set(rows, row, "user_type_id", INT(user_type_id));
    view_set(rows, row, "schema_id", INT(4));
    view_set(rows, row, "max_length", INT(max_length));
    view_set(rows, row, "precision", INT(kind == SIM_DECIMAL ? 38 : catalog_precision(&type)));
    view_set(rows, row, "scale", INT(kind == SIM_DECIMAL ? 38 : catalog_scale(&type)));
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
        (void)type_row(rows,
                       kind == SIM_ROWVERSION ? STR("timestamp")
                                              : str_from_c(sim_type_name((SimTypeKind)kind)),
                       (SimTypeKind)kind, catalog_type_id((SimTypeKind)kind),
                       sized                 ? 8000
                       : kind == SIM_DECIMAL ? 17
                                             : catalog_max_length(&type));
    }
    (void)type_row(rows, STR("sysname"), SIM_NVARCHAR, 256, 256);
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

    while (next_visible(exec, source->database, &at, &table)) {
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

static bool fill_index_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->index_count; i++)
            for (size_t c = 0; c < info->indexes[i]->column_count; c++) {
                SimValue *row = view_row(rows);
                view_set(rows, row, "object_id", INT(info->object_id));
                view_set(rows, row, "index_id", INT(info->indexes[i]->index_id));
                view_set(rows, row, "index_column_id", INT((int64_t)c + 1));
                view_set(rows, row, "column_id", INT(info->indexes[i]->columns[c].column_id));
                view_set(rows, row, "key_ordinal", INT((int64_t)c + 1));
                view_set(rows, row, "partition_ordinal", INT(0));
                view_set(rows, row, "is_descending_key",
                         BIT(info->indexes[i]->columns[c].descending));
                view_set(rows, row, "is_included_column", BIT(false));
            }
    }
    return true;
}

static const VirtualColumn key_columns[] = {
    {"name", "sysname"},           {"object_id", "int"},        {"principal_id", "int"},
    {"schema_id", "int"},          {"parent_object_id", "int"}, {"type", "char(2)"},
    {"type_desc", "nvarchar(60)"}, {"create_date", "datetime"}, {"modify_date", "datetime"},
    {"is_ms_shipped", "bit"},      {"is_published", "bit"},     {"is_schema_published", "bit"},
    {"unique_index_id", "int"},    {"is_system_named", "bit"},  {"is_enforced", "bit"},
};

static bool fill_keys(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->index_count; i++) {
            const SimIndex *index = info->indexes[i];
            if (!index->is_primary_key && !index->is_unique_constraint) continue;
            SimValue *row = object_row(rows, source->database, info);
            view_set(rows, row, "name", TEXT(index->name));
            view_set(rows, row, "object_id", INT(info->object_id + index->index_id));
            view_set(rows, row, "parent_object_id", INT(info->object_id));
            view_set(rows, row, "type", TEXT(index->is_primary_key ? STR("PK") : STR("UQ")));
            view_set(rows, row, "type_desc",
                     TEXT(index->is_primary_key ? STR("PRIMARY_KEY_CONSTRAINT")
                                                : STR("UNIQUE_CONSTRAINT")));
            view_set(rows, row, "unique_index_id", INT(index->index_id));
            view_set(rows, row, "is_system_named", BIT(false));
            view_set(rows, row, "is_enforced", BIT(true));
        }
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

    while (next_visible(exec, source->database, &at, &table)) {
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

/* --- INFORMATION_SCHEMA --- */
static const VirtualColumn info_table_columns[]  = {{"TABLE_CATALOG", "nvarchar(128)"},
                                                    {"TABLE_SCHEMA", "nvarchar(128)"},
                                                    {"TABLE_NAME", "nvarchar(128)"},
                                                    {"TABLE_TYPE", "varchar(10)"}};
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
                                                    {"CHARACTER_SET_NAME", "nvarchar(128)"},
                                                    {"COLLATION_NAME", "nvarchar(128)"}};

static bool fill_info_tables(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        SimValue           *row  = view_row(rows);
        view_set(rows, row, "TABLE_CATALOG", TEXT(sim_database_name(source->database)));
        view_set(rows, row, "TABLE_SCHEMA", TEXT(info->schema));
        view_set(rows, row, "TABLE_NAME", TEXT(info->name));
        view_set(rows, row, "TABLE_TYPE", TEXT(STR("BASE TABLE")));
    }
    return true;
}

static void info_type(VirtualRows *rows, SimValue *row, const SimType *type)
{
    int length = catalog_max_length(type);

    view_set(rows, row, "DATA_TYPE",
             TEXT(type->kind == SIM_ROWVERSION ? STR("timestamp")
                                               : str_from_c(sim_type_name(type->kind))));
    if (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY) {
        view_set(rows, row, "CHARACTER_MAXIMUM_LENGTH",
                 INT(length > 0 && sim_type_is_unicode(type->kind) ? length / 2 : length));
        view_set(rows, row, "CHARACTER_OCTET_LENGTH", INT(length));
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
    if (sim_type_is_text(type->kind)) {
        view_set(rows, row, "CHARACTER_SET_NAME",
                 TEXT(sim_type_is_unicode(type->kind) ? STR("UNICODE") : STR("iso_1")));
        view_set(
            rows, row, "COLLATION_NAME",
            TEXT(sim_collation_name(type->collation ? type->collation : sim_collation_default())));
    }
}

static bool fill_info_columns(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t    at    = 0;
    SimTable *table = NULL;

    while (next_visible(exec, source->database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        for (size_t i = 0; i < info->column_count; i++) {
            if (!column_is_visible(exec, source->database, table, &info->columns[i])) continue;
            SimValue *row = view_row(rows);
            view_set(rows, row, "TABLE_CATALOG", TEXT(sim_database_name(source->database)));
            view_set(rows, row, "TABLE_SCHEMA", TEXT(info->schema));
            view_set(rows, row, "TABLE_NAME", TEXT(info->name));
            view_set(rows, row, "COLUMN_NAME", TEXT(info->columns[i].name));
            view_set(rows, row, "ORDINAL_POSITION", INT((int64_t)i + 1));
            view_set(rows, row, "IS_NULLABLE",
                     TEXT(info->columns[i].is_nullable ? STR("YES") : STR("NO")));
            info_type(rows, row, &info->columns[i].type);
        }
    }
    return true;
}

const VirtualTable catalog_object_views[] = {
    VIEW("sys", "schemas", schema_columns, fill_schemas),
    VIEW("sys", "objects", object_columns, fill_objects),
    VIEW("sys", "all_objects", object_columns, fill_objects),
    VIEW("sys", "tables", table_columns, fill_tables),
    VIEW("sys", "views", object_columns, fill_nothing),
    VIEW("sys", "procedures", object_columns, fill_nothing),
    VIEW("sys", "columns", column_columns, fill_columns),
    VIEW("sys", "all_columns", column_columns, fill_columns),
    VIEW("sys", "types", type_columns, fill_types),
    VIEW("sys", "indexes", index_columns, fill_indexes),
    VIEW("sys", "index_columns", index_column_columns, fill_index_columns),
    VIEW("sys", "key_constraints", key_columns, fill_keys),
    VIEW("sys", "partitions", partition_columns, fill_partitions),
    VIEW("INFORMATION_SCHEMA", "TABLES", info_table_columns, fill_info_tables),
    VIEW("INFORMATION_SCHEMA", "COLUMNS", info_column_columns, fill_info_columns),
    {.name = NULL},
};
