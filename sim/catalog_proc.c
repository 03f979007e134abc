/* catalog_proc.c - the procedures ODBC and JDBC drivers ask the catalogue with, sp_spaceused, and a few administrative ones. */
#include "sim/catalog_internal.h"
#include "sim/function.h"

/* A NULL or missing pattern matches everything; %, _ and [] as LIKE has them, \ escapes. */
static bool matches(ProcCall *call, size_t arg, Str name)
{
    Str      pattern;
    bool     result  = false;
    SimError ignored = SIM_ERROR_INIT;

    if (!proc_text(call, arg, &pattern)) return true;
    SimValue text = value_text(call->arena, name), like = value_text(call->arena, pattern),
             escape = value_text(call->arena, STR("\\"));
    return sim_like(&text, &like, &escape, NULL, call->arena, &result, &ignored) && result;
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

static SimValue text_of(ProcCall *call, Str text)
{
    return value_text(call->arena, text);
}

/* --- sp_tables --- */
static bool sp_tables(ProcCall *call)
{
    static const ResultSpec specs[] = {{"TABLE_QUALIFIER", "sysname"},
                                       {"TABLE_OWNER", "sysname"},
                                       {"TABLE_NAME", "sysname"},
                                       {"TABLE_TYPE", "varchar(32)"},
                                       {"REMARKS", "varchar(254)"}};
    Str                     types;
    size_t                  at    = 0;
    SimTable               *table = NULL;
    int64_t                 rows  = 0;

    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    bool wants_tables = !proc_text(call, 3, &types) || str_find(types, STR("TABLE"), 0) >= 0;
    while (wants_tables && next_table(call, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (!matches(call, 0, info->name) || !matches(call, 1, info->schema)) continue;
        SimValue row[] = {text_of(call, sim_database_name(call->session->database)),
                          text_of(call, info->schema), text_of(call, info->name),
                          text_of(call, STR("TABLE")), value_null()};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
        rows++;
    }
    return proc_done(call, rows);
}

/* --- sp_columns --- */
static const ResultSpec column_specs[] = {{"TABLE_QUALIFIER", "sysname"},
                                          {"TABLE_OWNER", "sysname"},
                                          {"TABLE_NAME", "sysname"},
                                          {"COLUMN_NAME", "sysname"},
                                          {"DATA_TYPE", "smallint"},
                                          {"TYPE_NAME", "sysname"},
                                          {"PRECISION", "int"},
                                          {"LENGTH", "int"},
                                          {"SCALE", "smallint"},
                                          {"RADIX", "smallint"},
                                          {"NULLABLE", "smallint"},
                                          {"REMARKS", "varchar(254)"},
                                          {"COLUMN_DEF", "nvarchar(4000)"},
                                          {"SQL_DATA_TYPE", "smallint"},
                                          {"SQL_DATETIME_SUB", "smallint"},
                                          {"CHAR_OCTET_LENGTH", "int"},
                                          {"ORDINAL_POSITION", "int"},
                                          {"IS_NULLABLE", "varchar(254)"},
                                          {"SS_DATA_TYPE", "tinyint"}};

static int odbc_type(const SimType *type, bool version3)
{
    if (!version3) return catalog_facts(type->kind)->odbc_type;
    switch ((int)type->kind) {
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2: return 93;
    case SIM_DATE: return 91;
    case SIM_TIME: return -154;
    case SIM_DATETIMEOFFSET: return -155;
    case SIM_XML: return -152;
    default: return catalog_facts(type->kind)->odbc_type;
    }
}

static int odbc_precision(const SimType *type)
{
    int length = catalog_max_length(type);

    if (type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY)
        return length < 0 ? 0 : sim_type_is_unicode(type->kind) ? length / 2 : length;
    if (type->kind == SIM_UNIQUEIDENTIFIER) return 36;
    if (sim_type_is_lob(type->kind)) return type->kind == SIM_NTEXT ? 1073741823 : 2147483647;
    if (type->kind == SIM_ROWVERSION) return 8;
    return catalog_precision(type);
}

static int odbc_length(const SimType *type)
{
    int length = catalog_max_length(type);

    if (type->kind == SIM_DECIMAL) return type->precision + 2;
    if (type->kind == SIM_DATETIME || type->kind == SIM_SMALLDATETIME ||
        type->kind == SIM_DATETIME2)
        return 16;
    if (type->kind == SIM_DATE) return 6;
    return length < 0 ? 0 : length;
}

static Str odbc_type_name(ProcCall *call, const SimColumn *column)
{
    Str name = column->type.kind == SIM_ROWVERSION ? STR("timestamp")
                                                   : str_from_c(sim_type_name(column->type.kind));
    return column->is_identity ? str_printf(call->arena, "%.*s identity", STR_ARG(name)) : name;
}

static bool column_row(ProcCall *call, const SimTableInfo *info, size_t i, bool version3)
{
    const SimColumn *column = &info->columns[i];
    const SimType   *type   = &column->type;
    int              odbc   = odbc_type(type, version3);
    bool             number = sim_type_is_number(type->kind),
         character          = type->kind >= SIM_CHAR && type->kind <= SIM_VARBINARY;
    bool scaled             = (number && type->kind != SIM_REAL && type->kind != SIM_FLOAT &&
                   type->kind != SIM_BIT) ||
                  sim_type_is_time(type->kind);
    SimValue row[] = {text_of(call, sim_database_name(call->session->database)),
                      text_of(call, info->schema),
                      text_of(call, info->name),
                      text_of(call, column->name),
                      value_int(odbc),
                      text_of(call, odbc_type_name(call, column)),
                      value_int(odbc_precision(type)),
                      value_int(odbc_length(type)),
                      scaled ? value_int(catalog_scale(type)) : value_null(),
                      number && type->kind != SIM_BIT
                          ? value_int(type->kind == SIM_REAL || type->kind == SIM_FLOAT ? 2 : 10)
                          : value_null(),
                      value_int(column->is_nullable),
                      value_null(),
                      value_null(),
                      value_int(odbc == 93 || odbc == 91 ? 9 : odbc),
                      odbc == 93   ? value_int(3)
                      : odbc == 91 ? value_int(1)
                                   : value_null(),
                      character ? value_int(catalog_max_length(type)) : value_null(),
                      value_int((int64_t)i + 1),
                      text_of(call, column->is_nullable ? STR("YES") : STR("NO")),
                      value_int(catalog_facts(type->kind)->type_id)};
    return proc_row(call, row, COUNT_OF(row));
}

static bool sp_columns(ProcCall *call)
{
    size_t    at    = 0;
    SimTable *table = NULL;
    int64_t   rows = 0, odbc_version = 2;

    if (!proc_i64(call, 4, &odbc_version) ||
        !proc_columns(call, column_specs, COUNT_OF(column_specs)))
        return false;
    while (next_table(call, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (!matches(call, 0, info->name) || !matches(call, 1, info->schema)) continue;
        for (size_t i = 0; i < info->column_count; i++) {
            if (!matches(call, 3, info->columns[i].name)) continue;
            if (!column_row(call, info, i, odbc_version >= 3)) return false;
            rows++;
        }
    }
    return proc_done(call, rows);
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

    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
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

    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
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

static bool sp_special_columns(ProcCall *call)
{
    static const ResultSpec specs[] = {{"SCOPE", "smallint"},     {"COLUMN_NAME", "sysname"},
                                       {"DATA_TYPE", "smallint"}, {"TYPE_NAME", "sysname"},
                                       {"PRECISION", "int"},      {"LENGTH", "int"},
                                       {"SCALE", "smallint"},     {"PSEUDO_COLUMN", "smallint"}};
    size_t                  at      = 0;
    SimTable               *table   = NULL;
    int64_t                 rows    = 0;

    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    while (next_table(call, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        if (!equals(call, 0, info->name) || !equals(call, 1, info->schema)) continue;
        for (size_t i = 0; i < info->index_count; i++) {
            if (!info->indexes[i]->is_primary_key) continue;
            for (size_t c = 0; c < info->indexes[i]->column_count; c++) {
                const SimColumn *column = NULL;
                for (size_t k = 0; k < info->column_count; k++)
                    if (info->columns[k].column_id == info->indexes[i]->columns[c].column_id)
                        column = &info->columns[k];
                if (!column) continue;
                SimValue row[] = {value_int(0),
                                  text_of(call, column->name),
                                  value_int(odbc_type(&column->type, true)),
                                  text_of(call, odbc_type_name(call, column)),
                                  value_int(odbc_precision(&column->type)),
                                  value_int(odbc_length(&column->type)),
                                  value_int(catalog_scale(&column->type)),
                                  value_int(1)};
                if (!proc_row(call, row, COUNT_OF(row))) return false;
                rows++;
            }
        }
    }
    return proc_done(call, rows);
}

/* --- sp_datatype_info --- */
static bool sp_datatype_info(ProcCall *call)
{
    static const ResultSpec specs[] = {{"TYPE_NAME", "sysname"},
                                       {"DATA_TYPE", "smallint"},
                                       {"PRECISION", "int"},
                                       {"LITERAL_PREFIX", "varchar(32)"},
                                       {"LITERAL_SUFFIX", "varchar(32)"},
                                       {"CREATE_PARAMS", "varchar(32)"},
                                       {"NULLABLE", "smallint"},
                                       {"CASE_SENSITIVE", "smallint"},
                                       {"SEARCHABLE", "smallint"},
                                       {"UNSIGNED_ATTRIBUTE", "smallint"},
                                       {"MONEY", "smallint"},
                                       {"AUTO_INCREMENT", "smallint"},
                                       {"LOCAL_TYPE_NAME", "sysname"},
                                       {"MINIMUM_SCALE", "smallint"},
                                       {"MAXIMUM_SCALE", "smallint"},
                                       {"SQL_DATA_TYPE", "smallint"},
                                       {"SQL_DATETIME_SUB", "smallint"},
                                       {"NUM_PREC_RADIX", "int"},
                                       {"INTERVAL_PRECISION", "smallint"},
                                       {"USERTYPE", "smallint"}};
    int64_t                 wanted = 0, version = 2, rows = 0;

    if (!proc_i64(call, 0, &wanted) || !proc_i64(call, 1, &version) ||
        !proc_columns(call, specs, COUNT_OF(specs)))
        return false;
    for (int kind = SIM_BIT; kind <= SIM_VARIANT; kind++) {
        SimType type = sim_type((SimTypeKind)kind);
        if (kind >= SIM_CHAR && kind <= SIM_VARBINARY) type.length = 8000;
        if (kind == SIM_DECIMAL) type.precision = 38;
        int  odbc   = odbc_type(&type, version >= 3);
        bool number = sim_type_is_number(type.kind), text = sim_type_is_text(type.kind),
             binary = sim_type_is_binary(type.kind);
        if (wanted != 0 && wanted != odbc) continue;
        SimValue name = text_of(
            call, kind == SIM_ROWVERSION ? STR("timestamp") : str_from_c(sim_type_name(type.kind)));
        SimValue row[] = {
            name,
            value_int(odbc),
            value_int(odbc_precision(&type)),
            text     ? text_of(call, sim_type_is_unicode(type.kind) ? STR("N'") : STR("'"))
                : binary ? text_of(call, STR("0x"))
            : sim_type_is_time(type.kind) ? text_of(call, STR("'"))
                                          : value_null(),
            text || sim_type_is_time(type.kind) ? text_of(call, STR("'")) : value_null(),
            kind == SIM_DECIMAL ? text_of(call, STR("precision,scale"))
            : text || binary    ? text_of(call, STR("max length"))
                                : value_null(),
            value_int(1),
            value_int(0),
            value_int(text ? 3 : 2),
            number ? value_int(kind == SIM_TINYINT || kind == SIM_BIT) : value_null(),
            value_int(kind == SIM_MONEY || kind == SIM_SMALLMONEY),
            number ? value_int(0) : value_null(),
            name,
            number ? value_int(0) : value_null(),
            number ? value_int(kind == SIM_DECIMAL ? 38 : catalog_scale(&type)) : value_null(),
            value_int(odbc == 93 || odbc == 91 ? 9 : odbc),
            odbc == 93   ? value_int(3)
            : odbc == 91 ? value_int(1)
                         : value_null(),
            number ? value_int(10) : value_null(),
            value_null(),
            value_int(catalog_type_id(type.kind) & 0xFF)};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
        rows++;
    }
    return proc_done(call, rows);
}

/* --- databases and the server --- */
static bool sp_databases(ProcCall *call)
{
    static const ResultSpec specs[] = {
        {"DATABASE_NAME", "sysname"}, {"DATABASE_SIZE", "int"}, {"REMARKS", "varchar(254)"}};
    size_t       at       = 0;
    SimDatabase *database = NULL;
    int64_t      rows     = 0;

    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    while (sim_server_next_database(call->session->server, &at, &database)) {
        SimValue row[] = {text_of(call, sim_database_name(database)), value_int(16384),
                          value_null()};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
        rows++;
    }
    return proc_done(call, rows);
}

static bool sp_server_info(ProcCall *call)
{
    static const ResultSpec specs[] = {{"attribute_id", "int"},
                                       {"attribute_name", "varchar(60)"},
                                       {"attribute_value", "varchar(255)"}};
    static const struct {
        int         id;
        const char *name, *value;
    } rows[]     = {{1, "DBMS_NAME", "Microsoft SQL Server"},
                    {10, "OWNER_TERM", "owner"},
                    {11, "TABLE_TERM", "table"},
                    {16, "IDENTIFIER_CASE", "MIXED"}};
    int64_t only = 0, sent = 0;

    if (!proc_i64(call, 0, &only) || !proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (only && rows[i].id != only) continue;
        SimValue row[] = {value_int(rows[i].id), text_of(call, str_from_c(rows[i].name)),
                          text_of(call, str_from_c(rows[i].value))};
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

static bool sp_who(ProcCall *call)
{
    static const ResultSpec specs[] = {{"spid", "smallint"},
                                       {"status", "nchar(30)"},
                                       {"loginame", "nvarchar(128)"},
                                       {"hostname", "nvarchar(128)"},
                                       {"dbname", "nvarchar(128)"}};
    SimSession             *self    = call->session;
    SimValue                row[]   = {value_int(self->id), text_of(call, STR("runnable")),
                                       text_of(call, self->login.name), text_of(call, self->host_name),
                                       text_of(call, sim_database_name(self->database))};

    return proc_columns(call, specs, COUNT_OF(specs)) && proc_row(call, row, COUNT_OF(row)) &&
           proc_done(call, 1);
}

#define COLUMN_PARAMETERS \
    "table_name,table_owner,table_qualifier,column_name,ODBCVer,NameScope,fUsePattern"
const ProcEntry catalog_procs[] = {
    {"sp_tables", sp_tables, "table_name,table_owner,table_qualifier,table_type,fUsePattern"},
    {"sp_columns", sp_columns, COLUMN_PARAMETERS},
    {"sp_columns_90", sp_columns, COLUMN_PARAMETERS},
    {"sp_columns_100", sp_columns, COLUMN_PARAMETERS},
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
    {"sp_databases", sp_databases, ""},
    {"sp_server_info", sp_server_info, "attribute_id"},
    {"sp_spaceused", sp_spaceused,
     "objname,updateusage,mode,oneresultset,include_total_xtp_storage"},
    {"sp_addrolemember", sp_addrolemember, "rolename,membername"},
    {"sp_droprolemember", sp_addrolemember, "rolename,membername"},
    {"sp_rename", sp_rename, "objname,newname,objtype"},
    {"sp_set_session_context", sp_set_session_context, "key,value,read_only"},
    {"sp_who", sp_who, "loginame"},
    {NULL, NULL, NULL},
};
