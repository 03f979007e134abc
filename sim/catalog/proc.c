/* proc.c - the procedures ODBC and JDBC drivers ask the catalogue with, sp_spaceused, and a few administrative ones. */
#include "sim/catalog/catalog_internal.h"
#include "sim/function/function.h"

/* A NULL or missing pattern matches everything; %, _ and [] as LIKE has them. */
static bool matches(ProcCall *call, size_t arg, Str name)
{
    Str      pattern;
    bool     result  = false;
    SimError ignored = SIM_ERROR_INIT;

    if (!proc_text(call, arg, &pattern)) return true;
    SimValue text = value_text(call->arena, name), like = value_text(call->arena, pattern);
    return sim_like(&text, &like, NULL, NULL, call->arena, &result, &ignored) && result;
}

static bool equals(ProcCall *call, size_t arg, Str name)
{
    Str wanted;
    return !proc_text(call, arg, &wanted) || sim_name_equal(wanted, name);
}

static bool next_table(ProcCall *call, size_t *at, SimTable **out)
{
    SimDatabase *database = call->session->database;

    while (sim_database_next_table(database, at, out))
        if (!sim_table_info(*out)->is_temporary && session_can_see(call->session, database, *out))
            return true;
    return false;
}

/* Another database than the current one is refused. */
static bool need_qualifier(ProcCall *call, size_t arg)
{
    Str name;

    if (!proc_text(call, arg, &name) || str_is_empty(name) || sim_name_equal(name, STR("%")) ||
        sim_name_equal(name, sim_database_name(call->session->database)))
        return true;
    call->status = 1;
    return sim_error(call->error, 15250,
                     "The database name component of the object qualifier must be the name of the "
                     "current database.");
}

static SimValue text_of(ProcCall *call, Str text)
{
    return value_text(call->arena, text);
}

/* --- sp_columns --- */
/* What sp_columns, its kin of later versions, and no more than that, have in common; then what each adds. */
#define COLUMN_SPECS                                                                             \
    {"TABLE_QUALIFIER", "sysname"}, {"TABLE_OWNER", "sysname"}, {"TABLE_NAME", "sysname"},       \
        {"COLUMN_NAME", "sysname"}, {"DATA_TYPE", "smallint"}, {"TYPE_NAME", "sysname"},         \
        {"PRECISION", "int"}, {"LENGTH", "int"}, {"SCALE", "smallint"}, {"RADIX", "smallint"},   \
        {"NULLABLE", "smallint"}, {"REMARKS", "varchar(254)"}, {"COLUMN_DEF", "nvarchar(4000)"}, \
        {"SQL_DATA_TYPE", "smallint"}, {"SQL_DATETIME_SUB", "smallint"},                         \
        {"CHAR_OCTET_LENGTH", "int"}, {"ORDINAL_POSITION", "int"},                               \
    {                                                                                            \
        "IS_NULLABLE", "varchar(254)"                                                            \
    }
#define TYPE_SPECS                                                                     \
    {"SS_UDT_CATALOG_NAME", "nvarchar(128)"}, {"SS_UDT_SCHEMA_NAME", "nvarchar(128)"}, \
        {"SS_UDT_ASSEMBLY_TYPE_NAME", "nvarchar(max)"},                                \
        {"SS_XML_SCHEMACOLLECTION_CATALOG_NAME", "nvarchar(128)"},                     \
        {"SS_XML_SCHEMACOLLECTION_SCHEMA_NAME", "nvarchar(128)"},                      \
    {                                                                                  \
        "SS_XML_SCHEMACOLLECTION_NAME", "nvarchar(128)"                                \
    }
enum { COLUMN_FIELDS = 18, FLAG_FIELDS = 4, TYPE_FIELDS = 6 };

typedef enum ColumnShape { COLUMNS_PLAIN, COLUMNS_90, COLUMNS_100 } ColumnShape;

static const ResultSpec columns_plain[] = {COLUMN_SPECS, {"SS_DATA_TYPE", "tinyint"}};
static const ResultSpec columns_90[]    = {COLUMN_SPECS, TYPE_SPECS, {"SS_DATA_TYPE", "tinyint"}};
static const ResultSpec columns_100[]   = {COLUMN_SPECS,
                                           {"SS_IS_SPARSE", "smallint"},
                                           {"SS_IS_COLUMN_SET", "smallint"},
                                           {"SS_IS_COMPUTED", "smallint"},
                                           {"SS_IS_IDENTITY", "smallint"},
                                           TYPE_SPECS,
                                           {"SS_DATA_TYPE", "tinyint"}};

typedef struct ColumnCall {
    ProcCall   *call;
    ColumnShape shape;
    bool        version3;
    int64_t     rows;
} ColumnCall;

/* The one-byte type of the protocol, as old clients ask for it: nullable columns have the nullable form. */
static int ss_data_type(const SimColumn *column)
{
    switch ((int)column->type.kind) {
    case SIM_BIT: return 50;
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT:
        return !column->is_nullable              ? catalog_type_id(&column->type)
               : column->type.kind == SIM_BIGINT ? 108
                                                 : 38;
    case SIM_REAL:
    case SIM_FLOAT: return column->is_nullable ? 109 : catalog_type_id(&column->type);
    case SIM_MONEY:
    case SIM_SMALLMONEY: return column->is_nullable ? 110 : catalog_type_id(&column->type);
    case SIM_DATETIME:
    case SIM_SMALLDATETIME: return column->is_nullable ? 111 : catalog_type_id(&column->type);
    case SIM_CHAR: return column->is_nullable ? 39 : 47;
    case SIM_VARCHAR:
    case SIM_NVARCHAR:
    case SIM_NCHAR: return 39;
    case SIM_BINARY: return column->is_nullable ? 37 : 45;
    case SIM_VARBINARY: return 37;
    case SIM_ROWVERSION: return column->is_nullable ? 37 : 45;
    case SIM_UNIQUEIDENTIFIER: return 37;
    default: return catalog_type_id(&column->type);
    }
}

static bool column_row(ColumnCall *columns, Str schema, Str table, const SimColumn *column,
                       size_t i)
{
    ProcCall      *call   = columns->call;
    const SimType *type   = &column->type;
    int            odbc   = catalog_odbc_type(type, columns->version3);
    bool           number = sim_type_is_number(type->kind), is_bit = type->kind == SIM_BIT,
         is_float  = type->kind == SIM_REAL || type->kind == SIM_FLOAT,
         character = (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY) ||
                     type->kind == SIM_ROWVERSION || sim_type_is_lob(type->kind);
    bool     scaled = (number && !is_float && !is_bit) || sim_type_is_time(type->kind);
    bool     dated  = odbc == 93 || odbc == 91 || odbc == 11;
    SimValue row[COLUMN_FIELDS + FLAG_FIELDS + TYPE_FIELDS + 1];
    size_t   count = 0;

    row[count++] = text_of(call, sim_database_name(call->session->database));
    row[count++] = text_of(call, schema);
    row[count++] = text_of(call, table);
    row[count++] = text_of(call, column->name);
    row[count++] = value_int(odbc);
    row[count++] = text_of(call, catalog_odbc_type_name(call->arena, column));
    row[count++] = value_int(catalog_odbc_precision(type));
    row[count++] = value_int(catalog_odbc_length(type, columns->version3));
    row[count++] = scaled ? value_int(catalog_scale(type)) : value_null();
    row[count++] = number && !is_bit ? value_int(is_float ? 2 : 10) : value_null();
    row[count++] = value_int(column->is_nullable);
    row[count++] = value_null();
    row[count++] = column->default_value
                       ? text_of(call, expr_definition(call->arena, column->default_value))
                       : value_null();
    row[count++] = value_int(dated ? 9 : odbc);
    row[count++] = dated ? value_int(odbc == 91 ? 1 : 3) : value_null();
    row[count++] = character ? value_int(catalog_odbc_length(type, columns->version3))
                             : value_null();
    row[count++] = value_int((int64_t)i + 1);
    row[count++] = text_of(call, column->is_nullable ? STR("YES") : STR("NO"));
    if (columns->shape == COLUMNS_100) {
        row[count++] = value_int(0);
        row[count++] = value_int(0);
        row[count++] = value_int(column->is_computed);
        row[count++] = value_int(column->is_identity);
    }
    for (int k = 0; columns->shape != COLUMNS_PLAIN && k < TYPE_FIELDS; k++)
        row[count++] = value_null();
    row[count++] = value_int(ss_data_type(column));
    columns->rows++;
    return proc_row(call, row, count);
}

/* Patterns match unless @fUsePattern is 0. */
static bool fits(ProcCall *call, size_t arg, Str name, bool patterns)
{
    return patterns ? matches(call, arg, name) : equals(call, arg, name);
}

static bool columns_of(ColumnCall *columns, Str schema, Str table, const SimColumn *list,
                       size_t count, bool patterns)
{
    if (!fits(columns->call, 0, table, patterns) || !fits(columns->call, 1, schema, patterns))
        return true;
    for (size_t i = 0; i < count; i++)
        if (fits(columns->call, 3, list[i].name, patterns) &&
            !column_row(columns, schema, table, &list[i], i))
            return false;
    return true;
}

/* Views of the system too, as far as their names are asked for. */
static bool system_columns_of(ColumnCall *columns, bool patterns)
{
    ProcCall    *call   = columns->call;
    SystemObject object = {.at = 0};
    Str          name;

    if (!proc_text(call, 0, &name) || sim_name_equal(name, STR("%")) ||
        (!fits(call, 1, STR("sys"), patterns) &&
         !fits(call, 1, STR("INFORMATION_SCHEMA"), patterns)))
        return true;
    while (system_object_next(call->arena, &object)) {
        if (object.type[0] != 'V' || !fits(call, 0, object.name, patterns) ||
            !fits(call, 1, object.schema, patterns))
            continue;
        const VirtualTable *view = virtual_table_find(call->arena, object.schema, object.name);
        for (size_t i = 0; view && i < view->column_count; i++) {
            SimColumn column = {.name = str_from_c(view->columns[i].name), .is_nullable = true};
            if (sim_type_parse(str_from_c(view->columns[i].type), &column.type) &&
                fits(call, 3, column.name, patterns) &&
                !column_row(columns, object.schema, object.name, &column, i))
                return false;
        }
    }
    return true;
}

static bool send_columns(ProcCall *call, ColumnShape shape, const ResultSpec *specs, size_t count)
{
    int64_t          odbc_version = 2, patterns = 1;
    size_t           at         = 0;
    size_t           version_at = shape == COLUMNS_100 ? 5 : 4; /* behind @NameScope */
    SimTable        *table      = NULL;
    const SimModule *module     = NULL;
    SimDatabase     *database   = call->session->database;
    ColumnCall       columns    = {.call = call, .shape = shape};

    if (!proc_i64(call, version_at, &odbc_version) || !proc_i64(call, version_at + 1, &patterns) ||
        !need_qualifier(call, 2) || !proc_columns(call, specs, count))
        return false;
    columns.version3 = odbc_version >= 3;
    while (next_table(call, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (!columns_of(&columns, info->schema, info->name, info->columns, info->column_count,
                        patterns != 0))
            return false;
    }
    for (at = 0; sim_database_next_module(database, &at, &module);) {
        size_t           view_count = 0;
        const SimColumn *list       = module_is_visible(call->session, database, module)
                                          ? module_columns(call->session, database, module, call->arena,
                                                           &view_count)
                                          : NULL;
        if (!columns_of(&columns, module->schema, module->name, list, view_count, patterns != 0))
            return false;
    }
    return system_columns_of(&columns, patterns != 0) && proc_done(call, columns.rows);
}

static bool sp_columns(ProcCall *call)
{
    return send_columns(call, COLUMNS_PLAIN, columns_plain, COUNT_OF(columns_plain));
}

static bool sp_columns_90(ProcCall *call)
{
    return send_columns(call, COLUMNS_90, columns_90, COUNT_OF(columns_90));
}

static bool sp_columns_100(ProcCall *call)
{
    return send_columns(call, COLUMNS_100, columns_100, COUNT_OF(columns_100));
}

/* --- sp_sproc_columns --- */
#define SPROC_SPECS                                                                              \
    {"PROCEDURE_QUALIFIER", "sysname"}, {"PROCEDURE_OWNER", "sysname"},                          \
        {"PROCEDURE_NAME", "nvarchar(134)"}, {"COLUMN_NAME", "sysname"},                         \
        {"COLUMN_TYPE", "smallint"}, {"DATA_TYPE", "smallint"}, {"TYPE_NAME", "sysname"},        \
        {"PRECISION", "int"}, {"LENGTH", "int"}, {"SCALE", "smallint"}, {"RADIX", "smallint"},   \
        {"NULLABLE", "smallint"}, {"REMARKS", "varchar(254)"}, {"COLUMN_DEF", "nvarchar(4000)"}, \
        {"SQL_DATA_TYPE", "smallint"}, {"SQL_DATETIME_SUB", "smallint"},                         \
        {"CHAR_OCTET_LENGTH", "int"}, {"ORDINAL_POSITION", "int"},                               \
    {                                                                                            \
        "IS_NULLABLE", "varchar(254)"                                                            \
    }
static const ResultSpec sproc_plain[] = {SPROC_SPECS, {"SS_DATA_TYPE", "tinyint"}};
static const ResultSpec sproc_100[]   = {SPROC_SPECS, TYPE_SPECS, {"SS_DATA_TYPE", "tinyint"}};
enum { INPUT_PARAMETER = 1, OUTPUT_PARAMETER = 2, RETURN_VALUE = 5 };

static bool parameter_row(ColumnCall *columns, const SimModule *module, Str name, int kind,
                          const SimType *type, size_t ordinal)
{
    ProcCall *call   = columns->call;
    SimColumn column = {.name = name, .type = *type, .is_nullable = kind != RETURN_VALUE};
    int       odbc   = catalog_odbc_type(type, columns->version3);
    bool      number = sim_type_is_number(type->kind), is_bit = type->kind == SIM_BIT,
         is_float   = type->kind == SIM_REAL || type->kind == SIM_FLOAT,
         character  = type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY;
    bool     scaled = (number && !is_float && !is_bit) || sim_type_is_time(type->kind);
    bool     dated  = odbc == 93 || odbc == 91 || odbc == 11;
    SimValue row[COLUMN_FIELDS + TYPE_FIELDS + 2];
    size_t   count = 0;

    if (!matches(call, 3, name)) return true;
    row[count++] = text_of(call, sim_database_name(call->session->database));
    row[count++] = text_of(call, module->schema);
    row[count++] = text_of(call, str_printf(call->arena, "%.*s;1", STR_ARG(module->name)));
    row[count++] = text_of(call, name);
    row[count++] = value_int(kind);
    row[count++] = value_int(odbc);
    row[count++] = text_of(call, catalog_odbc_type_name(call->arena, &column));
    row[count++] = value_int(catalog_odbc_precision(type));
    row[count++] = value_int(catalog_odbc_length(type, columns->version3));
    row[count++] = scaled ? value_int(catalog_scale(type)) : value_null();
    row[count++] = number && !is_bit ? value_int(is_float ? 2 : 10) : value_null();
    row[count++] = value_int(column.is_nullable);
    row[count++] = value_null();
    row[count++] = value_null();
    row[count++] = value_int(dated ? 9 : odbc);
    row[count++] = dated ? value_int(odbc == 91 ? 1 : 3) : value_null();
    row[count++] = character ? value_int(catalog_max_length(type)) : value_null();
    row[count++] = value_int((int64_t)ordinal);
    row[count++] = text_of(call, column.is_nullable ? STR("YES") : STR("NO"));
    for (int k = 0; columns->shape == COLUMNS_100 && k < TYPE_FIELDS; k++)
        row[count++] = value_null();
    row[count++] = value_int(ss_data_type(&column));
    columns->rows++;
    return proc_row(call, row, count);
}

static bool send_parameters(ProcCall *call, ColumnShape shape, const ResultSpec *specs,
                            size_t count)
{
    int64_t          odbc_version = 2, patterns = 1;
    size_t           at       = 0;
    const SimModule *module   = NULL;
    SimDatabase     *database = call->session->database;
    SimType          status   = sim_type(SIM_INT);
    ColumnCall       columns  = {.call = call, .shape = shape};

    if (!proc_i64(call, 4, &odbc_version) || !proc_i64(call, 5, &patterns) ||
        !need_qualifier(call, 2) || !proc_columns(call, specs, count))
        return false;
    columns.version3 = odbc_version >= 3;
    while (sim_database_next_module(database, &at, &module)) {
        const Stmt *stmt = module->tree;
        if (module->kind != SIM_MODULE_PROCEDURE ||
            !module_is_visible(call->session, database, module) ||
            !fits(call, 0, module->name, patterns != 0) ||
            !fits(call, 1, module->schema, patterns != 0))
            continue;
        if (!parameter_row(&columns, module, STR("@RETURN_VALUE"), RETURN_VALUE, &status, 0))
            return false;
        for (size_t i = 0; i < stmt->variables.count; i++) {
            const VariableDef *parameter = &stmt->variables.items[i];
            if (!parameter_row(&columns, module, parameter->name,
                               parameter->is_output ? OUTPUT_PARAMETER : INPUT_PARAMETER,
                               &parameter->type, i + 1))
                return false;
        }
    }
    return proc_done(call, columns.rows);
}

static bool sp_sproc_columns(ProcCall *call)
{
    return send_parameters(call, COLUMNS_PLAIN, sproc_plain, COUNT_OF(sproc_plain));
}

static bool sp_sproc_columns_100(ProcCall *call)
{
    return send_parameters(call, COLUMNS_100, sproc_100, COUNT_OF(sproc_100));
}

/* --- keys and indexes --- */
static Str column_name(const SimTableInfo *info, int32_t column_id)
{
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].column_id == column_id) return info->columns[i].name;
    return STR_EMPTY;
}

static bool sp_pkeys(ProcCall *call)
{
    static const ResultSpec specs[] = {{"TABLE_QUALIFIER", "sysname"}, {"TABLE_OWNER", "sysname"},
                                       {"TABLE_NAME", "sysname"},      {"COLUMN_NAME", "sysname"},
                                       {"KEY_SEQ", "smallint"},        {"PK_NAME", "sysname"}};
    size_t                  at      = 0;
    SimTable               *table   = NULL;
    int64_t                 rows    = 0;

    if (!need_qualifier(call, 2) || !proc_columns(call, specs, COUNT_OF(specs))) return false;
    while (next_table(call, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (!equals(call, 0, info->name) || !equals(call, 1, info->schema)) continue;
        for (size_t i = 0; i < info->index_count; i++)
            for (size_t c = 0;
                 info->indexes[i]->is_primary_key && c < info->indexes[i]->column_count; c++) {
                SimValue row[] = {
                    text_of(call, sim_database_name(call->session->database)),
                    text_of(call, info->schema),
                    text_of(call, info->name),
                    text_of(call, column_name(info, info->indexes[i]->columns[c].column_id)),
                    value_int((int64_t)c + 1),
                    text_of(call, info->indexes[i]->name)};
                if (!proc_row(call, row, COUNT_OF(row))) return false;
                rows++;
            }
    }
    return proc_done(call, rows);
}

static bool sp_statistics(ProcCall *call)
{
    static const ResultSpec specs[] = {{"TABLE_QUALIFIER", "sysname"},
                                       {"TABLE_OWNER", "sysname"},
                                       {"TABLE_NAME", "sysname"},
                                       {"NON_UNIQUE", "smallint"},
                                       {"INDEX_QUALIFIER", "sysname"},
                                       {"INDEX_NAME", "sysname"},
                                       {"TYPE", "smallint"},
                                       {"SEQ_IN_INDEX", "smallint"},
                                       {"COLUMN_NAME", "sysname"},
                                       {"COLLATION", "char(1)"},
                                       {"CARDINALITY", "int"},
                                       {"PAGES", "int"},
                                       {"FILTER_CONDITION", "varchar(128)"}};
    size_t                  at      = 0;
    SimTable               *table   = NULL;
    int64_t                 rows    = 0;
    Str                     unique;
    bool only_unique = proc_text(call, 4, &unique) && sim_name_equal(unique, STR("Y"));

    if (!need_qualifier(call, 2) || !proc_columns(call, specs, COUNT_OF(specs))) return false;
    while (next_table(call, &at, &table)) {
        const SimTableInfo *info    = sim_table_info(table);
        SimValue            catalog = text_of(call, sim_database_name(call->session->database)),
                 schema = text_of(call, info->schema), name = text_of(call, info->name);
        if (!equals(call, 0, info->name) || !equals(call, 1, info->schema)) continue;
        SimValue whole[] = {catalog,
                            schema,
                            name,
                            value_null(),
                            value_null(),
                            value_null(),
                            value_int(0),
                            value_null(),
                            value_null(),
                            value_null(),
                            value_int(sim_table_row_count(table)),
                            value_int(1),
                            value_null()};
        if (!proc_row(call, whole, COUNT_OF(whole))) return false;
        rows++;
        for (size_t i = 0; i < info->index_count; i++) {
            const SimIndex *index = info->indexes[i];
            for (size_t c = 0; (index->is_unique || !only_unique) && c < index->column_count; c++) {
                SimValue row[] = {catalog,
                                  schema,
                                  name,
                                  value_int(!index->is_unique),
                                  name,
                                  text_of(call, index->name),
                                  value_int(index->is_clustered ? 1 : 3),
                                  value_int((int64_t)c + 1),
                                  text_of(call, column_name(info, index->columns[c].column_id)),
                                  text_of(call, index->columns[c].descending ? STR("D") : STR("A")),
                                  value_int(sim_table_row_count(table)),
                                  value_int(1),
                                  value_null()};
                if (!proc_row(call, row, COUNT_OF(row))) return false;
                rows++;
            }
        }
    }
    return proc_done(call, rows);
}

static bool special_row(ProcCall *call, const SimColumn *column, bool is_version, int64_t *rows)
{
    const SimType *type   = &column->type;
    bool           scaled = (sim_type_is_number(type->kind) && type->kind != SIM_REAL &&
                   type->kind != SIM_FLOAT && type->kind != SIM_BIT) ||
                  sim_type_is_time(type->kind);
    SimValue row[] = {is_version ? value_null() : value_int(0),
                      text_of(call, column->name),
                      value_int(catalog_odbc_type(type, true)),
                      text_of(call, catalog_odbc_type_name(call->arena, column)),
                      value_int(catalog_odbc_precision(type)),
                      value_int(catalog_odbc_length(type, true)),
                      scaled ? value_int(catalog_scale(type)) : value_null(),
                      value_int(1)};

    ++*rows;
    return proc_row(call, row, COUNT_OF(row));
}

/* What identifies a row best: the primary key, else the first unique index. */
static const SimIndex *identifying_index(const SimTableInfo *info)
{
    const SimIndex *best = NULL;

    for (size_t i = 0; i < info->index_count; i++) {
        if (info->indexes[i]->is_primary_key) return info->indexes[i];
        if (info->indexes[i]->is_unique && !best) best = info->indexes[i];
    }
    return best;
}

static bool special_rows(ProcCall *call, const SimTableInfo *info, bool is_version, int64_t *rows)
{
    const SimIndex *index = identifying_index(info);

    for (size_t i = 0; is_version && i < info->column_count; i++)
        if (info->columns[i].type.kind == SIM_ROWVERSION &&
            !special_row(call, &info->columns[i], true, rows))
            return false;
    for (size_t c = 0; !is_version && index && c < index->column_count; c++)
        for (size_t k = 0; k < info->column_count; k++)
            if (info->columns[k].column_id == index->columns[c].column_id &&
                !special_row(call, &info->columns[k], false, rows))
                return false;
    return true;
}

static bool sp_special_columns(ProcCall *call)
{
    static const ResultSpec specs[] = {{"SCOPE", "smallint"},     {"COLUMN_NAME", "sysname"},
                                       {"DATA_TYPE", "smallint"}, {"TYPE_NAME", "sysname"},
                                       {"PRECISION", "int"},      {"LENGTH", "int"},
                                       {"SCALE", "smallint"},     {"PSEUDO_COLUMN", "smallint"}};
    size_t                  at      = 0;
    SimTable               *table   = NULL;
    int64_t                 rows    = 0;
    Str                     kind;
    bool is_version = proc_text(call, 3, &kind) && sim_name_equal(kind, STR("V"));

    if (!need_qualifier(call, 2) || !proc_columns(call, specs, COUNT_OF(specs))) return false;
    while (next_table(call, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (equals(call, 0, info->name) && equals(call, 1, info->schema) &&
            !special_rows(call, info, is_version, &rows))
            return false;
    }
    return proc_done(call, rows);
}

/* --- databases and the server --- */
static bool sp_server_info(ProcCall *call)
{
    static const ResultSpec specs[] = {{"attribute_id", "int"},
                                       {"attribute_name", "varchar(60)"},
                                       {"attribute_value", "varchar(255)"}};
    static const struct {
        int         id;
        const char *name, *value;
    } rows[]     = {{1, "DBMS_NAME", "Microsoft SQL Server"},
                    {2, "DBMS_VER", NULL},
                    {10, "OWNER_TERM", "owner"},
                    {11, "TABLE_TERM", "table"},
                    {12, "MAX_OWNER_NAME_LENGTH", "128"},
                    {13, "TABLE_LENGTH", "128"},
                    {14, "MAX_QUAL_LENGTH", "128"},
                    {15, "COLUMN_LENGTH", "128"},
                    {16, "IDENTIFIER_CASE", "MIXED"},
                    {17, "TX_ISOLATION", "2"},
                    {18, "COLLATION_SEQ",
                     "charset=iso_1 sort_order=nocase_iso charset_num=1 sort_order_num=52"},
                    {19, "SAVEPOINT_SUPPORT", "Y"},
                    {20, "MULTI_RESULT_SETS", "Y"},
                    {22, "ACCESSIBLE_TABLES", "Y"},
                    {100, "USERID_LENGTH", "128"},
                    {101, "QUALIFIER_TERM", "database"},
                    {102, "NAMED_TRANSACTIONS", "Y"},
                    {103, "SPROC_AS_LANGUAGE", "Y"},
                    {104, "ACCESSIBLE_SPROC", "Y"},
                    {105, "MAX_INDEX_COLS", "16"},
                    {106, "RENAME_TABLE", "Y"},
                    {107, "RENAME_COLUMN", "Y"},
                    {108, "DROP_COLUMN", "Y"},
                    {109, "INCREASE_COLUMN_LENGTH", "Y"},
                    {110, "DDL_IN_TRANSACTION", "Y"},
                    {111, "DESCENDING_INDEXES", "Y"},
                    {112, "SP_RENAME", "Y"},
                    {113, "REMOTE_SPROC", "Y"},
                    {500, "SYS_SPROC_VERSION", NULL}};
    int64_t only = 0, sent = 0;
    int     version = front_version(call->session);
    Str     product = server_product_version(call->arena, version);

    if (!proc_i64(call, 0, &only) || !proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (only && rows[i].id != only) continue;
        SimValue row[] = {
            value_int(rows[i].id), text_of(call, str_from_c(rows[i].name)),
            text_of(call, rows[i].value ? str_from_c(rows[i].value)
                          : rows[i].id == 2
                              ? str_printf(call->arena, "Microsoft SQL Server %d - %.*s", version,
                                           STR_ARG(product))
                              : product)};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
        sent++;
    }
    return proc_done(call, sent);
}

static Str kilobytes(ProcCall *call, int64_t bytes)
{
    long long pages = (bytes + 8191) / 8192;

    return str_printf(call->arena, "%lld KB", pages * 8);
}

static bool sp_spaceused(ProcCall *call)
{
    static const ResultSpec specs[]          = {{"name", "nvarchar(128)"},     {"rows", "char(20)"},
                                                {"reserved", "varchar(18)"},   {"data", "varchar(18)"},
                                                {"index_size", "varchar(18)"}, {"unused", "varchar(18)"}};
    static const ResultSpec database_specs[] = {{"database_name", "nvarchar(128)"},
                                                {"database_size", "varchar(18)"},
                                                {"unallocated space", "varchar(18)"}};
    Str                     name;
    SimDatabase            *database = NULL;

    if (!proc_text(call, 0, &name)) {
        SimValue row[] = {text_of(call, sim_database_name(call->session->database)),
                          text_of(call, STR("16.00 MB")), text_of(call, STR("8.00 MB"))};
        return proc_columns(call, database_specs, COUNT_OF(database_specs)) &&
               proc_row(call, row, COUNT_OF(row)) && proc_done(call, 1);
    }
    SimTable *table = session_find_object(call->session, call->arena, name, &database);
    if (!table) {
        call->status = 1;
        return sim_error(
            call->error, 15009,
            "The object '%.*s' does not exist in database '%.*s' or is invalid for this operation.",
            STR_ARG(name), STR_ARG(sim_database_name(call->session->database)));
    }
    int64_t  bytes = sim_table_size_bytes(table);
    SimValue row[] = {
        text_of(call, sim_table_info(table)->name),
        text_of(call, str_printf(call->arena, "%-20lld", (long long)sim_table_row_count(table))),
        text_of(call, kilobytes(call, bytes)),
        text_of(call, kilobytes(call, bytes)),
        text_of(call, STR("8 KB")),
        text_of(call, STR("0 KB"))};
    return proc_columns(call, specs, COUNT_OF(specs)) && proc_row(call, row, COUNT_OF(row)) &&
           proc_done(call, 1);
}

/* --- administration --- */
static bool sp_addrolemember(ProcCall *call)
{
    Str role, member;

    if (!session_is_owner(call->session))
        return sim_error(call->error, 15247,
                         "User does not have permission to perform this action.");
    (void)proc_text(call, 0, &role);
    (void)proc_text(call, 1, &member);
    return sim_role_add_member(call->session->database, role, member,
                               !sim_name_equal(call->name, STR("sp_droprolemember")), call->error);
}

static bool sp_rename(ProcCall *call)
{
    Str          from, to, type;
    SimDatabase *database = NULL;
    SimSession  *session  = call->session;
    Arena       *arena    = call->arena;

    (void)proc_text(call, 0, &from);
    (void)proc_text(call, 1, &to);
    bool is_column = proc_text(call, 2, &type) && sim_name_equal(type, STR("COLUMN"));
    if (type.len > 0 && !is_column && !sim_name_equal(type, STR("OBJECT")))
        return sim_not_supported(call->error, "sp_rename of %.*s", STR_ARG(type));
    ObjectName name       = name_split(arena, from);
    Str        table_text = is_column ? (str_is_empty(name.database)
                                             ? str_printf(arena, "[%.*s]", STR_ARG(name.schema))
                                             : str_printf(arena, "[%.*s].[%.*s]", STR_ARG(name.database),
                                                          STR_ARG(name.schema)))
                                      : from;
    SimTable  *table      = session_find_object(session, arena, table_text, &database);
    if (!table || !session_is_owner(session)) {
        call->status = 1;
        return sim_error(call->error, 15225,
                         "No item by the name of '%.*s' could be found in the current database "
                         "'%.*s', given that @itemtype was input as '%.*s'.",
                         STR_ARG(from), STR_ARG(sim_database_name(session->database)),
                         STR_ARG(type));
    }
    session_statement_begin(session);
    SimTxn *txn = session_txn(session, database);
    bool    ok  = is_column ? sim_rename_column(txn, table, name.name, to, call->error)
                            : sim_rename_table(txn, table, to, call->error);
    if (!session_statement_end(session, ok, call->error) || !ok) return false;
    session_send_info(
        session, 15477, 0, 1, 1,
        "Caution: Changing any part of an object name could break scripts and stored procedures.");
    return true;
}

static bool sp_set_session_context(ProcCall *call)
{
    Str             name;
    int64_t         is_read_only = 0;
    const SimValue *value        = proc_arg(call, 1);
    SimSession     *session      = call->session;

    if (!proc_i64(call, 2, &is_read_only)) return false;
    if (!proc_text(call, 0, &name) || str_is_empty(name))
        return sim_error(call->error, 15665,
                         "The value was not set for key because the key is NULL or empty.");
    const ContextValue *before = map_find(session->context, name);
    if (before && before->is_read_only)
        return sim_error(call->error, 15664,
                         "Cannot set key '%.*s' in the session context. The key has been set as "
                         "read_only for this session.",
                         STR_ARG(name));
    ContextValue *kept = ARENA_NEW(session->arena, ContextValue);
    kept->value        = value ? value_copy(session->arena, value) : value_null();
    kept->is_read_only = is_read_only != 0;
    map_put(session->context, str_copy(session->arena, name), kept);
    return true;
}

#define COLUMN_PARAMETERS "table_name,table_owner,table_qualifier,column_name,ODBCVer,fUsePattern"
#define COLUMN_PARAMETERS_100 \
    "table_name,table_owner,table_qualifier,column_name,NameScope,ODBCVer,fUsePattern"
const ProcEntry catalog_procs[] = {
    {"sp_columns", sp_columns, COLUMN_PARAMETERS},
    {"sp_columns_90", sp_columns_90, COLUMN_PARAMETERS},
    {"sp_columns_100", sp_columns_100, COLUMN_PARAMETERS_100},
    {"sp_columns_170", sp_columns_100, COLUMN_PARAMETERS_100},
    {"sp_sproc_columns", sp_sproc_columns,
     "procedure_name,procedure_owner,procedure_qualifier,column_name,ODBCVer,fUsePattern"},
    {"sp_sproc_columns_100", sp_sproc_columns_100,
     "procedure_name,procedure_owner,procedure_qualifier,column_name,ODBCVer,fUsePattern"},
    {"sp_pkeys", sp_pkeys, "table_name,table_owner,table_qualifier"},
    {"sp_statistics", sp_statistics,
     "table_name,table_owner,table_qualifier,index_name,is_unique,accuracy"},
    {"sp_statistics_100", sp_statistics,
     "table_name,table_owner,table_qualifier,index_name,is_unique,accuracy"},
    {"sp_special_columns", sp_special_columns,
     "table_name,table_owner,table_qualifier,col_type,scope,nullable,ODBCVer"},
    {"sp_special_columns_100", sp_special_columns,
     "table_name,table_owner,table_qualifier,col_type,scope,nullable,ODBCVer"},
    {"sp_datatype_info", sp_datatype_info, "data_type,ODBCVer"},
    {"sp_datatype_info_90", sp_datatype_info, "data_type,ODBCVer"},
    {"sp_datatype_info_100", sp_datatype_info, "data_type,ODBCVer"},
    {"sp_server_info", sp_server_info, "attribute_id"},
    {"sp_spaceused", sp_spaceused,
     "objname,updateusage,mode,oneresultset,include_total_xtp_storage"},
    {"sp_addrolemember", sp_addrolemember, "rolename,membername"},
    {"sp_droprolemember", sp_addrolemember, "rolename,membername"},
    {"sp_rename", sp_rename, "objname,newname,objtype"},
    {"sp_set_session_context", sp_set_session_context, "key,value,read_only"},
    {NULL, NULL, NULL},
};
