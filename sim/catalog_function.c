/* catalog_function.c - functions that look names up: objects, schemas, databases, types, principals, permissions (sqlserver.md 2.10). */
#include "sim/session_function_internal.h"

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

static bool fn_object_id(const Call *call, SimValue *out)
{
    SimDatabase *database = NULL;
    Str          type     = call_text(call, 1);
    SimTable    *table    = session_find_object(call->session, call->arena, call_text(call, 0),
                                                &database);

    if (table && type.len > 0 && !sim_name_equal(str_trim(type), STR("U"))) table = NULL;
    return table ? give_int(sim_table_info(table)->object_id, out) : true;
}

static SimTable *visible_table(const Call *call, size_t arg, size_t database_arg)
{
    int64_t      id       = 0;
    SimDatabase *database = database_by_id(call, database_arg);

    if (!database || call->args[arg].is_null || !call_i64(call, arg, &id)) return NULL;
    SimTable *table = sim_database_find_table_by_id(database, (int32_t)id);
    return table && session_can_see(call->session, database, table) ? table : NULL;
}

static bool fn_object_name(const Call *call, SimValue *out)
{
    SimTable *table = visible_table(call, 0, 1);
    return table ? give_text(call, sim_table_info(table)->name, out) : true;
}

static bool fn_object_schema_name(const Call *call, SimValue *out)
{
    SimTable *table = visible_table(call, 0, 1);
    return table ? give_text(call, sim_table_info(table)->schema, out) : true;
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
    if (wanted == 4) return give_text(call, STR("sys"), out);
    while (sim_database_next_schema(call->database, &at, call->arena, &name, &id))
        if (id == wanted) return give_text(call, name, out);
    return true;
}

static bool fn_db_id(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0 ? sim_server_find_database(call->session->server,
                                                                       call_text(call, 0))
                                            : call->session->database;
    if (!database) return true;
    *out = sim_int(sim_database_id(database), SIM_SMALLINT);
    return true;
}

static bool fn_db_name(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0 ? database_by_id(call, 0) : call->session->database;
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

static bool fn_col_length(const Call *call, SimValue *out)
{
    SimDatabase *database = NULL;
    SimTable    *table    = session_find_object(call->session, call->arena, call_text(call, 0),
                                                &database);
    ptrdiff_t    at       = table ? sim_table_find_column(table, call_text(call, 1)) : -1;

    if (at < 0) return true;
    *out = sim_int(catalog_max_length(&sim_table_info(table)->columns[at].type), SIM_SMALLINT);
    return true;
}

static bool fn_column_property(const Call *call, SimValue *out)
{
    SimTable *table    = visible_table(call, 0, 9);
    ptrdiff_t at       = table ? sim_table_find_column(table, call_text(call, 1)) : -1;
    Str       property = call_text(call, 2);

    if (at < 0) return true;
    const SimColumn *column = &sim_table_info(table)->columns[at];
    if (sim_name_equal(property, STR("IsIdentity"))) return give_int(column->is_identity, out);
    if (sim_name_equal(property, STR("IsComputed"))) return give_int(column->is_computed, out);
    if (sim_name_equal(property, STR("AllowsNull"))) return give_int(column->is_nullable, out);
    if (sim_name_equal(property, STR("ColumnId"))) return give_int(column->column_id, out);
    if (sim_name_equal(property, STR("Precision")))
        return give_int(catalog_precision(&column->type), out);
    if (sim_name_equal(property, STR("Scale"))) return give_int(catalog_scale(&column->type), out);
    return true;
}

static bool fn_object_property(const Call *call, SimValue *out)
{
    SimTable *table    = visible_table(call, 0, 9);
    Str       property = call_text(call, 1);

    if (!table) return true;
    const SimTableInfo *info         = sim_table_info(table);
    bool                has_identity = false, has_key = false;
    for (size_t i = 0; i < info->column_count; i++)
        has_identity |= info->columns[i].is_identity;
    for (size_t i = 0; i < info->index_count; i++)
        has_key |= info->indexes[i]->is_primary_key;
    if (sim_name_equal(property, STR("TableHasIdentity"))) return give_int(has_identity, out);
    if (sim_name_equal(property, STR("TableHasPrimaryKey"))) return give_int(has_key, out);
    if (sim_name_equal(property, STR("IsUserTable")) || sim_name_equal(property, STR("IsTable")))
        return give_int(1, out);
    if (sim_name_equal(property, STR("IsMSShipped"))) return give_int(info->is_system, out);
    return true;
}

static bool fn_type_name(const Call *call, SimValue *out)
{
    int64_t id = 0;

    if (!call_i64(call, 0, &id)) return false;
    for (int kind = SIM_BIT; kind <= SIM_VARIANT; kind++)
        if (catalog_type_id((SimTypeKind)kind) == id)
            return give_text(call, str_from_c(sim_type_name((SimTypeKind)kind)), out);
    if (id == 256) return give_text(call, STR("sysname"), out);
    return true;
}

static bool fn_type_id(const Call *call, SimValue *out)
{
    SimType type;
    return sim_type_parse(call_text(call, 0), &type) ? give_int(catalog_type_id(type.kind), out)
                                                     : true;
}

/* --- principals --- */
static bool fn_login_name(const Call *call, SimValue *out)
{
    return call->count > 0 ? true : give_text(call, call->session->login.name, out);
}

static bool fn_user_name(const Call *call, SimValue *out)
{
    int64_t id = -1;

    if (!call_i64(call, 0, &id)) return false;
    if (call->count > 0 && id == 1) return give_text(call, STR("dbo"), out);
    return give_text(call, call->session->user, out);
}

static bool fn_user_id(const Call *call, SimValue *out)
{
    Str name = call->count > 0 ? call_text(call, 0) : call->session->user;
    return give_int(sim_name_equal(name, STR("dbo")) ? 1 : 5, out);
}

static bool fn_is_member(const Call *call, SimValue *out)
{
    Str role = call_text(call, 0);

    if (sim_name_equal(role, STR("public"))) return give_int(1, out);
    return give_int(sim_is_member(call->session->database, call->session->user, role), out);
}

static bool fn_is_server_member(const Call *call, SimValue *out)
{
    Str role = call_text(call, 0);
    return give_int(sim_name_equal(role, STR("public")) || call->session->login.is_sysadmin, out);
}

static bool fn_has_db_access(const Call *call, SimValue *out)
{
    SimDatabase *database = sim_server_find_database(call->session->server, call_text(call, 0));
    Str          user;
    return database ? give_int(session_user_in(call->session, database, &user), out) : true;
}

static bool permission_of(Str name, SimPermission *out)
{
    static const struct {
        const char   *name;
        SimPermission permission;
    } names[] = {{"SELECT", SIM_PERM_SELECT},
                 {"INSERT", SIM_PERM_INSERT},
                 {"UPDATE", SIM_PERM_UPDATE},
                 {"DELETE", SIM_PERM_DELETE},
                 {"EXECUTE", SIM_PERM_EXECUTE},
                 {"CONTROL", SIM_PERM_CONTROL},
                 {"VIEW SERVER STATE", SIM_PERM_VIEW_SERVER_STATE},
                 {"VIEW DATABASE STATE", SIM_PERM_VIEW_DATABASE_STATE}};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (sim_name_equal(name, str_from_c(names[i].name))) {
            *out = names[i].permission;
            return true;
        }
    return false;
}

/* 1, 0 also for what one cannot see, NULL for a permission that does not exist. */
static bool fn_has_perms(const Call *call, SimValue *out)
{
    SimSession   *session = call->session;
    SimPermission permission;
    Str securable = call_text(call, 0), class = call_text(call, 1), column = call_text(call, 3),
        user;

    if (!permission_of(call_text(call, 2), &permission)) return true;
    if (call->args[0].is_null || sim_name_equal(class, STR("DATABASE")) ||
        sim_name_equal(class, STR("SERVER")))
        return give_int(session_is_owner(session), out);
    if (!sim_name_equal(class, STR("OBJECT")) && !sim_name_equal(class, STR("SCHEMA"))) return true;
    ObjectName   name     = name_split(call->arena, securable);
    SimDatabase *database = str_is_empty(name.database)
                                ? session->database
                                : sim_server_find_database(session->server, name.database);
    if (!database || !session_user_in(session, database, &user)) return give_int(0, out);
    if (sim_name_equal(class, STR("SCHEMA"))) return give_int(session_is_owner(session), out);
    SimTable *table = sim_database_find_table(database, name.schema, name.name);
    if (!table) {
        const VirtualTable *view = virtual_table_find(call->arena, name.schema, name.name);
        if (view && view->permission == SIM_PERM_VIEW_DATABASE_STATE)
            return give_int(permission == SIM_PERM_SELECT &&
                                sim_has_permission(database, user, SIM_PERM_VIEW_DATABASE_STATE,
                                                   NULL, NULL, 0, false),
                            out);
        return give_int(view && (!view->is_owner_only || sim_is_owner(database, user)) &&
                            permission == SIM_PERM_SELECT,
                        out);
    }
    if (sim_is_owner(database, user)) return give_int(1, out);
    if (permission == SIM_PERM_SELECT && table == sim_cdc_mapping_table(database))
        return give_int(1, out);
    return give_int(sim_has_permission(database, user, permission, table, &column,
                                       column.len > 0 ? 1 : 0, false),
                    out);
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
    {"TYPE_NAME", 1, 1, "sysname", fn_type_name},
    {"TYPE_ID", 1, 1, "int", fn_type_id},
    {"ORIGINAL_LOGIN", 0, 0, "sysname", fn_login_name},
    {"SUSER_NAME", 0, 1, "nvarchar(128)", fn_login_name},
    {"SUSER_SNAME", 0, 1, "nvarchar(128)", fn_login_name},
    {"SYSTEM_USER", 0, 0, "nvarchar(128)", fn_login_name},
    {"USER_NAME", 0, 1, "nvarchar(128)", fn_user_name},
    {"CURRENT_USER", 0, 0, "nvarchar(128)", fn_user_name},
    {"SESSION_USER", 0, 0, "nvarchar(128)", fn_user_name},
    {"USER", 0, 0, "nvarchar(128)", fn_user_name},
    {"USER_ID", 0, 1, "int", fn_user_id},
    {"DATABASE_PRINCIPAL_ID", 0, 1, "int", fn_user_id},
    {"IS_MEMBER", 1, 1, "int", fn_is_member},
    {"IS_ROLEMEMBER", 1, 2, "int", fn_is_member},
    {"IS_SRVROLEMEMBER", 1, 2, "int", fn_is_server_member},
    {"HAS_DBACCESS", 1, 1, "int", fn_has_db_access},
    {"HAS_PERMS_BY_NAME", 3, 5, "int", fn_has_perms},
    {NULL, 0, 0, NULL, NULL},
};
