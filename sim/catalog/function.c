/* function.c - functions that look names up: objects, schemas, databases, types, principals, permissions (sqlserver.md 2.10). */
#include "sim/catalog/catalog_internal.h"
#include "sim/session/session_function_internal.h"

/* --- names --- */
ObjectName name_split(Arena *arena, Str text)
{
    Str        parts[4] = {{NULL, 0}};
    size_t     count = 0, at = 0;
    ObjectName out = {.database = STR_EMPTY, .schema = STR_EMPTY, .name = STR_EMPTY, .line = 1};

    text = str_trim(text);
    while (count < COUNT_OF(parts)) {
        Buf  part  = buf_new(arena, 0);
        char close = at < text.len && text.ptr[at] == '['   ? ']'
                     : at < text.len && text.ptr[at] == '"' ? '"'
                                                            : '\0';
        if (close) {
            for (at++; at < text.len; at++) {
                if (text.ptr[at] == close && at + 1 < text.len && text.ptr[at + 1] == close)
                    at++;
                else if (text.ptr[at] == close)
                    break;
                buf_append_char(&part, text.ptr[at]);
            }
            at++;
        } else {
            for (; at < text.len && text.ptr[at] != '.'; at++)
                buf_append_char(&part, text.ptr[at]);
        }
        parts[count++] = buf_str(&part);
        if (at >= text.len || text.ptr[at] != '.') break;
        at++;
    }
    if (count > 0) out.name = parts[count - 1];
    if (count > 1) out.schema = parts[count - 2];
    if (count > 2) out.database = parts[count - 3];
    return out;
}

SimTable *session_find_object(SimSession *session, Arena *arena, Str text,
                              SimDatabase **database_out)
{
    ObjectName   name     = name_split(arena, text);
    SimDatabase *database = session->database;

    if (!str_is_empty(name.database))
        database = sim_server_find_database(session->server, name.database);
    if (name.name.len > 0 && name.name.ptr[0] == '#') {
        for (size_t i = session->temp_tables.count; i-- > 0;)
            if (sim_name_equal(session->temp_tables.items[i].name, name.name) &&
                !sim_table_is_dropped(session->temp_tables.items[i].table)) {
                *database_out = sim_table_database(session->temp_tables.items[i].table);
                return session->temp_tables.items[i].table;
            }
        return NULL;
    }
    if (!database) return NULL;
    *database_out   = database;
    SimTable *table = sim_database_find_table(database, name.schema, name.name);
    return table && session_can_see(session, database, table) ? table : NULL;
}

static SimDatabase *database_by_id(const Call *call, size_t arg)
{
    int64_t      id       = 0;
    size_t       at       = 0;
    SimDatabase *database = NULL;

    if (arg >= call->count) return call->database;
    if (!call_i64(call, arg, &id)) return NULL;
    while (sim_server_next_database(call->session->server, &at, &database))
        if (sim_database_id(database) == id) return database;
    return NULL;
}

/* --- objects of every kind --- */
typedef struct Found {
    SimDatabase *database;
    const SimTableInfo
               *info;  /* the table, or the one a constraint is of; NULL: an object of the system */
    SimTable   *table; /* not for a constraint */
    ObjectFacts facts;
    Str         schema;
    const SimModule *module;
} Found;

static bool has_type(const Found *found, Str type)
{
    return str_is_empty(type) || sim_name_equal(str_trim(type), str_from_c(found->facts.type));
}

static void found_table(SimDatabase *database, SimTable *table, Found *out)
{
    *out       = (Found){.database = database, .table = table, .info = sim_table_info(table)};
    out->facts = (ObjectFacts){
        .name = out->info->name, .type = "U", .object_id = out->info->object_id};
    out->schema = out->info->schema;
}

/* Constraints live in their tables' schema; `name` empty: by id. */
static bool find_constraint(const Call *call, SimDatabase *database, const ObjectName *name,
                            int64_t object_id, Found *out)
{
    size_t    at     = 0;
    SimTable *table  = NULL;
    Str       schema = name && name->schema.len ? name->schema : STR("dbo");

    while (sim_database_next_table(database, &at, &table)) {
        const SimTableInfo *info = sim_table_info(table);
        size_t              next = 0;
        ObjectFacts         facts;
        if (info->is_temporary || (name && !sim_name_equal(info->schema, schema))) continue;
        while (view_next_constraint(info, &next, &facts)) {
            if (name ? !sim_name_equal(facts.name, name->name) : facts.object_id != object_id)
                continue;
            if (!session_can_see(call->session, database, table)) return false;
            *out = (Found){
                .database = database, .info = info, .facts = facts, .schema = info->schema};
            return true;
        }
    }
    return false;
}

static bool found_module(const Call *call, SimDatabase *database, const SimModule *module,
                         Found *out)
{
    if (!module || !module_is_visible(call->session, database, module)) return false;
    *out       = (Found){.database = database, .schema = module->schema, .module = module};
    out->facts = (ObjectFacts){.name      = module->name,
                               .type      = module->kind == SIM_MODULE_VIEW ? "V" : "P",
                               .object_id = module->object_id};
    return true;
}

static const SimModule *module_by_id(SimDatabase *database, int64_t id)
{
    size_t           at     = 0;
    const SimModule *module = NULL;

    while (sim_database_next_module(database, &at, &module))
        if (module->object_id == id) return module;
    return NULL;
}

static bool found_system(SimDatabase *database, const SystemObject *object, Found *out)
{
    static const char *const types[] = {"V", "P", "X", "FN", "IF", "S"};

    *out = (Found){.database = database, .schema = object->schema};
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (str_equal_c(str_from_c(object->type), types[i])) out->facts.type = types[i];
    out->facts.name      = object->name;
    out->facts.object_id = object->object_id;
    return true;
}

static bool find_by_name(const Call *call, Str text, Found *out)
{
    ObjectName   name     = name_split(call->arena, text);
    SimDatabase *database = str_is_empty(name.database)
                                ? call->database
                                : sim_server_find_database(call->session->server, name.database);
    SimTable    *table    = session_find_object(call->session, call->arena, text, &database);
    SystemObject object;

    if (table) {
        found_table(database, table, out);
        return true;
    }
    if (!database || str_is_empty(name.name)) return false;
    if (find_constraint(call, database, &name, 0, out) ||
        found_module(call, database, sim_database_find_module(database, name.schema, name.name),
                     out))
        return true;
    bool by_itself = str_is_empty(name.schema) && str_starts_with(name.name, STR("sp_"));
    return (by_itself || sim_name_equal(name.schema, STR("sys")) ||
            sim_name_equal(name.schema, STR("INFORMATION_SCHEMA"))) &&
           system_object_find(call->arena, name.schema, name.name, &object) &&
           found_system(database, &object, out);
}

static bool find_by_id(const Call *call, size_t arg, size_t database_arg, Found *out)
{
    int64_t      id       = 0;
    SimDatabase *database = database_by_id(call, database_arg);
    SystemObject object;

    if (!database || call->args[arg].is_null || !call_i64(call, arg, &id)) return false;
    if (id < 0)
        return system_object_find_id(call->arena, (int32_t)id, &object) &&
               found_system(database, &object, out);
    SimTable *table = sim_database_find_table_by_id(database, (int32_t)id);
    if (!table)
        return find_constraint(call, database, NULL, id, out) ||
               found_module(call, database, module_by_id(database, id), out);
    if (!session_can_see(call->session, database, table)) return false;
    found_table(database, table, out);
    return true;
}

bool catalog_has_object(SimSession *session, Arena *arena, Str name)
{
    Call  call = {.session = session, .database = session->database, .arena = arena};
    Found found;

    return find_by_name(&call, name, &found);
}

static bool fn_object_id(const Call *call, SimValue *out)
{
    Found found;

    if (call->args[0].is_null || !find_by_name(call, call_text(call, 0), &found)) return true;
    return !has_type(&found, call_text(call, 1)) || give_int(found.facts.object_id, out);
}

static bool fn_object_name(const Call *call, SimValue *out)
{
    Found found;
    return !find_by_id(call, 0, 1, &found) || give_text(call, found.facts.name, out);
}

static bool fn_object_schema_name(const Call *call, SimValue *out)
{
    Found found;
    return !find_by_id(call, 0, 1, &found) || give_text(call, found.schema, out);
}

static SimTable *visible_table(const Call *call, size_t arg, size_t database_arg)
{
    Found found;
    return find_by_id(call, arg, database_arg, &found) ? found.table : NULL;
}

SimTable *call_table(const Call *call, size_t arg)
{
    Found found;
    return !call->args[arg].is_null && find_by_name(call, call_text(call, arg), &found)
               ? found.table
               : NULL;
}

static bool fn_schema_id(const Call *call, SimValue *out)
{
    int32_t id = sim_database_schema_id(call->database,
                                        call->count > 0 ? call_text(call, 0) : STR("dbo"));
    return id ? give_int(id, out) : true;
}

static bool fn_schema_name(const Call *call, SimValue *out)
{
    size_t  at     = 0;
    int64_t wanted = 1;
    Str     name;
    int32_t id = 0;

    if (!call_i64(call, 0, &wanted)) return false;
    if (wanted == 1) return give_text(call, STR("dbo"), out);
    while (sim_database_next_schema(call->database, &at, call->arena, &name, &id))
        if (id == wanted) return give_text(call, name, out);
    if (wanted >= 16384) { /* each fixed role has a schema of its name */
        SimPrincipal principal;
        at = 0;
        while (sim_database_next_principal(call->database, &at, call->arena, &principal))
            if (principal.id == wanted) return give_text(call, principal.name, out);
    }
    return true;
}

static bool fn_db_id(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0 ? sim_server_find_database(call->session->server,
                                                                       call_text(call, 0))
                                            : call->database;
    if (!database) return true;
    *out = sim_int(sim_database_id(database), SIM_SMALLINT);
    return true;
}

static bool fn_db_name(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0 ? database_by_id(call, 0) : call->database;
    return database ? give_text(call, sim_database_name(database), out) : true;
}

static bool fn_col_name(const Call *call, SimValue *out)
{
    SimTable *table = visible_table(call, 0, 9);
    int64_t   id    = 0;

    if (!table || !call_i64(call, 1, &id)) return true;
    const SimTableInfo *info = sim_table_info(table);
    for (size_t i = 0; i < info->column_count; i++)
        if (info->columns[i].column_id == id) return give_text(call, info->columns[i].name, out);
    return true;
}

/* The columns of a view of the system, as a table would have them. */
static bool system_column(const Call *call, const Found *found, Str name, SimColumn *out)
{
    const VirtualTable *view = found->info || found->module
                                   ? NULL
                                   : virtual_table_find(call->arena, found->schema,
                                                        found->facts.name);

    for (size_t i = 0; view && i < view->column_count; i++)
        if (sim_name_equal(str_from_c(view->columns[i].name), name)) {
            *out = (SimColumn){.name        = str_from_c(view->columns[i].name),
                               .column_id   = (int32_t)i + 1,
                               .is_nullable = true};
            return sim_type_parse(str_from_c(view->columns[i].type), &out->type);
        }
    return false;
}

static bool found_column(const Call *call, const Found *found, Str name, SimColumn *out,
                         size_t *ordinal_out)
{
    *ordinal_out = 0;
    if (found->module) {
        size_t           count   = 0;
        const SimColumn *columns = module_columns(call->session, found->database, found->module,
                                                  call->arena, &count);
        for (size_t i = 0; i < count; i++)
            if (sim_name_equal(columns[i].name, name)) {
                *out         = columns[i];
                *ordinal_out = i + 1;
                return true;
            }
        return false;
    }
    if (!found->table) return system_column(call, found, name, out);
    ptrdiff_t at = sim_table_find_column(found->table, name);
    if (at < 0) return false;
    *out         = found->info->columns[at];
    *ordinal_out = (size_t)at + 1;
    return true;
}

static bool fn_col_length(const Call *call, SimValue *out)
{
    Found     found;
    SimColumn column;
    size_t    ordinal = 0;

    if (call->args[0].is_null || !find_by_name(call, call_text(call, 0), &found) ||
        !found_column(call, &found, call_text(call, 1), &column, &ordinal))
        return true;
    *out = sim_int(catalog_max_length(&column.type), SIM_SMALLINT);
    return true;
}

typedef struct NamedNumber {
    const char *name;
    int64_t     value;
} NamedNumber;

static bool give_named(const NamedNumber *list, size_t count, Str name, SimValue *out)
{
    for (size_t i = 0; i < count; i++)
        if (sim_name_equal(name, str_from_c(list[i].name))) return give_int(list[i].value, out);
    return true;
}

static int64_t character_length(const SimType *type)
{
    if (type->kind < SIM_CHAR || type->kind > SIM_VARBINARY) return -2;
    return sim_type_is_unicode(type->kind) && type->length > 0 ? type->length / 2 : type->length;
}

static bool fn_column_property(const Call *call, SimValue *out)
{
    Found     found;
    SimColumn column;
    size_t    ordinal  = 0;
    Str       property = call_text(call, 2);

    if (!find_by_id(call, 0, 9, &found) ||
        !found_column(call, &found, call_text(call, 1), &column, &ordinal))
        return true;
    const SimType    *type     = &column.type;
    bool              is_text  = sim_type_is_text(type->kind);
    bool              is_float = type->kind == SIM_FLOAT || type->kind == SIM_REAL;
    int64_t           length   = character_length(type);
    const NamedNumber list[]   = {{"AllowsNull", column.is_nullable},
                                  {"ColumnId", column.column_id},
                                  {"ordinal", ordinal ? (int64_t)ordinal : column.column_id},
                                  {"IsIdentity", column.is_identity},
                                  {"IsComputed", column.is_computed},
                                  {"Precision", length >= -1 ? length : catalog_precision(type)},
                                  {"GeneratedAlwaysType", 0},
                                  {"IsColumnSet", 0},
                                  {"IsDeterministic", 1},
                                  {"IsFulltextIndexed", 0},
                                  {"IsHidden", 0},
                                  {"IsIdNotForRepl", 0},
                                  {"IsIndexable", !sim_type_is_lob(type->kind) && type->length != -1},
                                  {"IsPrecise", !is_float},
                                  {"IsRowGuidCol", 0},
                                  {"IsSparse", 0},
                                  {"IsSystemVerified", 1},
                                  {"IsXmlIndexable", type->kind == SIM_XML},
                                  {"SystemDataAccess", 0},
                                  {"UserDataAccess", 0}};
    if (sim_name_equal(property, STR("Scale")))
        return is_text || sim_type_is_binary(type->kind) || is_float ||
               give_int(catalog_scale(type), out);
    if (sim_name_equal(property, STR("UsesAnsiTrim")))
        return !(is_text || sim_type_is_binary(type->kind)) || give_int(1, out);
    if (sim_name_equal(property, STR("charmaxlen"))) return length == -2 || give_int(length, out);
    return give_named(list, COUNT_OF(list), property, out);
}

/* What tells kinds of objects apart. */
static bool kind_property(const Found *found, Str property, SimValue *out)
{
    const char *type  = found->facts.type;
    bool        table = type[0] == 'U' && type[1] == '\0', key = type[0] == 'P' && type[1] == 'K',
         unique = type[0] == 'U' && type[1] == 'Q', check = type[0] == 'C' && type[1] == '\0',
         foreign = type[0] == 'F' && type[1] == '\0', standard = type[0] == 'D' && type[1] == '\0',
         view = type[0] == 'V' && type[1] == '\0', extended = type[0] == 'X' && type[1] == '\0',
         procedure = (type[0] == 'P' && type[1] == '\0') || extended,
         scalar = type[0] == 'F' && type[1] == 'N', inlined = type[0] == 'I' && type[1] == 'F';
    const NamedNumber list[] = {
        {"IsTable", table},
        {"IsUserTable", table},
        {"IsSystemTable", type[0] == 'S'},
        {"IsView", view},
        {"IsProcedure", procedure},
        {"IsExtendedProc", extended},
        {"IsScalarFunction", scalar},
        {"IsInlineFunction", inlined},
        {"IsTableFunction", type[0] == 'T' && type[1] == 'F'},
        {"IsTrigger", type[0] == 'T' && type[1] == 'R'},
        {"IsConstraint", key || unique || check || foreign || standard},
        {"IsPrimaryKey", key},
        {"IsUniqueCnst", unique},
        {"IsCheckCnst", check},
        {"IsForeignKey", foreign},
        {"IsDefaultCnst", standard},
        {"IsDefault", standard},
        {"IsRule", 0},
        {"IsQueue", 0},
        {"IsReplProc", 0},
        {"IsExecuted", view || procedure || scalar || inlined},
        {"IsMSShipped", !found->module && (!found->info || found->info->is_system)},
        {"IsSchemaBound", 0},
        {"IsEncrypted", 0},
        {"OwnerId", 1},
        {"CnstIsDisabled", 0},
        {"CnstIsNotTrusted", 0},
        {"CnstIsNotRepl", 0},
        {"CnstIsColumn", standard},
        {"CnstIsClustKey", found->facts.index && found->facts.index->is_clustered},
        {"CnstIsNonclustKey", found->facts.index && !found->facts.index->is_clustered},
        {"SchemaId", sim_database_schema_id(found->database, found->schema)}};

    return give_named(list, COUNT_OF(list), property, out);
}

static bool table_property(const Found *found, Str property, SimValue *out)
{
    const SimTableInfo *info = found->info;
    int64_t identity = 0, primary = 0, unique = 0, clustered = 0, nonclustered = 0, text = 0,
            rowversion = 0, defaults = 0;

    for (size_t i = 0; i < info->column_count; i++) {
        identity |= info->columns[i].is_identity;
        rowversion |= info->columns[i].type.kind == SIM_ROWVERSION;
        text |= info->columns[i].type.kind == SIM_TEXT || info->columns[i].type.kind == SIM_NTEXT ||
                info->columns[i].type.kind == SIM_IMAGE;
        defaults |= info->columns[i].default_value != NULL;
    }
    for (size_t i = 0; i < info->index_count; i++) {
        primary |= info->indexes[i]->is_primary_key;
        unique |= info->indexes[i]->is_unique_constraint;
        clustered |= info->indexes[i]->is_clustered;
        nonclustered |= !info->indexes[i]->is_clustered;
    }
    const NamedNumber list[] = {{"TableHasIdentity", identity},
                                {"TableHasPrimaryKey", primary},
                                {"TableHasUniqueCnst", unique},
                                {"TableHasClustIndex", clustered},
                                {"TableHasNonclustIndex", nonclustered},
                                {"TableHasIndex", clustered | nonclustered},
                                {"IsIndexed", clustered | nonclustered},
                                {"IsIndexable", 1},
                                {"TableHasTextImage", text},
                                {"TableHasTimestamp", rowversion},
                                {"TableHasDefaultCnst", defaults},
                                {"TableHasRowGuidCol", 0},
                                {"TableHasInsertTrigger", 0},
                                {"TableHasUpdateTrigger", 0},
                                {"TableHasDeleteTrigger", 0},
                                {"TableHasColumnSet", 0},
                                {"TableHasVarDecimalStorageFormat", 0},
                                {"TableIsFake", 0},
                                {"TableIsPinned", 0},
                                {"TableIsMemoryOptimized", 0},
                                {"TableTemporalType", 0},
                                {"TableFullTextCatalogId", 0},
                                {"TableFulltextKeyColumn", 0},
                                {"TableHasActiveFulltextIndex", 0},
                                {"IsAnsiNullsOn", 1},
                                {"IsQuotedIdentOn", 1},
                                {"IsSystemVerified", 1}};
    return give_named(list, COUNT_OF(list), property, out);
}

static bool fn_object_property(const Call *call, SimValue *out)
{
    Found found;
    Str   property = call_text(call, 1);

    if (!find_by_id(call, 0, 9, &found)) return true;
    (void)kind_property(&found, property, out);
    return !out->is_null || !found.table || table_property(&found, property, out);
}

static bool fn_object_property_ex(const Call *call, SimValue *out)
{
    Found found;
    Str   property = call_text(call, 1);

    if (!find_by_id(call, 0, 9, &found)) return true;
    if (sim_name_equal(property, STR("BaseType")))
        return give_text(call, str_from_c(found.facts.type), out);
    if (sim_name_equal(property, STR("Cardinality")) && found.table) {
        *out = value_bigint(sim_table_row_count(found.table));
        return true;
    }
    return fn_object_property(call, out);
}

/* --- indexes --- */
static const SimIndex *index_by_id(const SimTableInfo *info, int64_t id)
{
    for (size_t i = 0; i < info->index_count; i++)
        if (info->indexes[i]->index_id == id) return info->indexes[i];
    return NULL;
}

static bool fn_index_property(const Call *call, SimValue *out)
{
    SimTable       *table = visible_table(call, 0, 9);
    const SimIndex *index = NULL;

    for (size_t i = 0; table && i < sim_table_info(table)->index_count; i++)
        if (sim_name_equal(sim_table_info(table)->indexes[i]->name, call_text(call, 1)))
            index = sim_table_info(table)->indexes[i];
    if (!index) return true;
    const NamedNumber list[] = {{"IndexID", index->index_id},
                                {"IsClustered", index->is_clustered},
                                {"IsUnique", index->is_unique},
                                {"IndexDepth", sim_table_row_count(table) > 0},
                                {"IndexFillFactor", 0},
                                {"IsAutoStatistics", 0},
                                {"IsColumnstore", 0},
                                {"IsDisabled", 0},
                                {"IsFulltextKey", 0},
                                {"IsHypothetical", 0},
                                {"IsPadIndex", 0},
                                {"IsPageLockDisallowed", 0},
                                {"IsRowLockDisallowed", 0},
                                {"IsStatistics", 0},
                                {"IsOptimizedForArrayAccess", 0}};
    return give_named(list, COUNT_OF(list), call_text(call, 2), out);
}

static const SimIndexColumn *index_key(const Call *call, const SimTable *table)
{
    int64_t index_id = 0, key = 0;

    if (!table || !call_i64(call, 1, &index_id) || !call_i64(call, 2, &key)) return NULL;
    const SimIndex *index = index_by_id(sim_table_info(table), index_id);
    return index && key >= 1 && (size_t)key <= index->column_count ? &index->columns[key - 1]
                                                                   : NULL;
}

static bool fn_index_col(const Call *call, SimValue *out)
{
    SimTable             *table = call_table(call, 0);
    const SimIndexColumn *key   = index_key(call, table);

    for (size_t i = 0; key && i < sim_table_info(table)->column_count; i++)
        if (sim_table_info(table)->columns[i].column_id == key->column_id)
            return give_text(call, sim_table_info(table)->columns[i].name, out);
    return true;
}

static bool fn_index_key_property(const Call *call, SimValue *out)
{
    SimTable             *table = visible_table(call, 0, 9);
    const SimIndexColumn *key   = index_key(call, table);

    if (!key) return true;
    const NamedNumber list[] = {{"ColumnId", key->column_id}, {"IsDescending", key->descending}};
    return give_named(list, COUNT_OF(list), call_text(call, 3), out);
}

/* --- identity --- */
static const SimColumn *identity_of(const SimTable *table)
{
    for (size_t i = 0; table && i < sim_table_info(table)->column_count; i++)
        if (sim_table_info(table)->columns[i].is_identity)
            return &sim_table_info(table)->columns[i];
    return NULL;
}

static bool fn_ident_current(const Call *call, SimValue *out)
{
    SimTable *table = call_table(call, 0);

    if (identity_of(table))
        *out = sim_numeric(int128_from_i64(sim_table_identity_current(table)), 38, 0);
    return true;
}

static bool fn_ident_seed(const Call *call, SimValue *out)
{
    const SimColumn *column = identity_of(call_table(call, 0));

    if (column) *out = sim_numeric(int128_from_i64(column->identity_seed), 38, 0);
    return true;
}

static bool fn_ident_increment(const Call *call, SimValue *out)
{
    const SimColumn *column = identity_of(call_table(call, 0));

    if (column) *out = sim_numeric(int128_from_i64(column->identity_step), 38, 0);
    return true;
}

/* --- types --- */
static bool fn_type_name(const Call *call, SimValue *out)
{
    int64_t id = 0;

    if (!call_i64(call, 0, &id)) return false;
    for (int kind = SIM_BIT; kind <= SIM_VARIANT; kind++)
        if (catalog_type_id(&(SimType){.kind = (SimTypeKind)kind}) == id)
            return give_text(call, str_from_c(sim_type_name((SimTypeKind)kind)), out);
    if (id == catalog_type_id(&(SimType){.kind = SIM_DECIMAL, .is_numeric = true}))
        return give_text(call, STR("numeric"), out);
    if (id == 256) return give_text(call, STR("sysname"), out);
    return true;
}

static bool type_by_name(const Call *call, Str text, SimType *out, int *id_out)
{
    Str name = str_trim(name_split(call->arena, text).name);

    if (!sim_type_parse(name, out)) return false;
    *id_out = sim_name_equal(name, STR("sysname")) ? 256 : catalog_type_id(out);
    return true;
}

static bool fn_type_id(const Call *call, SimValue *out)
{
    SimType type;
    int     id = 0;

    return call->args[0].is_null || !type_by_name(call, call_text(call, 0), &type, &id) ||
           give_int(id, out);
}

static bool fn_type_property(const Call *call, SimValue *out)
{
    SimType type;
    int     id = 0;

    if (call->args[0].is_null || !type_by_name(call, call_text(call, 0), &type, &id)) return true;
    int64_t           precision = character_length(&type) >= -1 ? (id == 256 ? 128 : 8000)
                                  : type.kind == SIM_DECIMAL    ? 38
                                                                : catalog_precision(&type);
    const NamedNumber list[]    = {
           {"Precision", precision}, {"AllowsNull", id != 256}, {"OwnerId", 4}};
    if (sim_name_equal(call_text(call, 1), STR("Scale")))
        return !(sim_type_is_number(type.kind) || sim_type_is_time(type.kind)) ||
               give_int(type.kind == SIM_DECIMAL ? 38 : catalog_scale(&type), out);
    return give_named(list, COUNT_OF(list), call_text(call, 1), out);
}

const SessionFunction catalog_functions_of_session[] = {
    {"OBJECT_ID", 1, 2, "int", fn_object_id},
    {"OBJECT_NAME", 1, 2, "sysname", fn_object_name},
    {"OBJECT_SCHEMA_NAME", 1, 2, "sysname", fn_object_schema_name},
    {"SCHEMA_ID", 0, 1, "int", fn_schema_id},
    {"SCHEMA_NAME", 0, 1, "sysname", fn_schema_name},
    {"DB_ID", 0, 1, "smallint", fn_db_id},
    {"DB_NAME", 0, 1, "nvarchar(128)", fn_db_name},
    {"COL_NAME", 2, 2, "sysname", fn_col_name},
    {"COL_LENGTH", 2, 2, "smallint", fn_col_length},
    {"COLUMNPROPERTY", 3, 3, "int", fn_column_property},
    {"OBJECTPROPERTY", 2, 2, "int", fn_object_property},
    {"OBJECTPROPERTYEX", 2, 2, "sql_variant", fn_object_property_ex},
    {"INDEXPROPERTY", 3, 3, "int", fn_index_property},
    {"INDEX_COL", 3, 3, "nvarchar(128)", fn_index_col},
    {"INDEXKEY_PROPERTY", 4, 4, "int", fn_index_key_property},
    {"IDENT_CURRENT", 1, 1, "numeric(38,0)", fn_ident_current},
    {"IDENT_SEED", 1, 1, "numeric(38,0)", fn_ident_seed},
    {"IDENT_INCR", 1, 1, "numeric(38,0)", fn_ident_increment},
    {"TYPEPROPERTY", 2, 2, "int", fn_type_property},
    {"TYPE_NAME", 1, 1, "sysname", fn_type_name},
    {"TYPE_ID", 1, 1, "int", fn_type_id},
    {NULL, 0, 0, NULL, NULL},
};
