/* security.c - views of principals and permissions, of the database and of the server. */
#include "sim/catalog/catalog_internal.h"

#define TEXT(value) value_text(rows->arena, (value))
#define INT(value)  value_int((value))
#define BIT(value)  value_bit((value))

enum { DBO_ID = 1, CONTROL_PRINCIPALS = 3 };

SimValue catalog_sid(Arena *arena, uint32_t number)
{
    uint8_t *bytes = arena_alloc(arena, 16);

    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    return sim_binary((Bytes){bytes, number <= 1 ? 1 : 16}, -1);
}

/* Whoever is no owner sees himself, public, the fixed roles, and the roles he is in. */
static bool can_see_principal(Exec *exec, SimDatabase *database, const SimPrincipal *principal)
{
    Str user;

    if (exec->session->login.is_sysadmin || principal->is_fixed) return true;
    if (!session_user_in(exec->session, database, &user)) return false;
    return sim_is_owner(database, user) || sim_name_equal(user, principal->name) ||
           (principal->is_role && sim_is_member(database, user, principal->name));
}

/* --- sys.database_principals --- */
static const VirtualColumn principal_columns[] = {{"name", "sysname"},
                                                  {"principal_id", "int"},
                                                  {"type", "char(1)"},
                                                  {"type_desc", "nvarchar(60)"},
                                                  {"default_schema_name", "sysname"},
                                                  {"create_date", "datetime"},
                                                  {"modify_date", "datetime"},
                                                  {"owning_principal_id", "int"},
                                                  {"sid", "varbinary(85)"},
                                                  {"is_fixed_role", "bit"},
                                                  {"authentication_type", "int"},
                                                  {"authentication_type_desc", "nvarchar(60)"},
                                                  {"default_language_name", "sysname"},
                                                  {"default_language_lcid", "int"},
                                                  {"allow_encrypted_value_modifications", "bit"}};

static void principal_row(VirtualRows *rows, const SimPrincipal *principal, int64_t created_us)
{
    SimValue *row        = view_row(rows);
    bool      has_login  = !str_is_empty(principal->login) || principal->id == DBO_ID;
    bool      has_schema = !principal->is_role && principal->id > CONTROL_PRINCIPALS + 1;

    view_set(rows, row, "name", TEXT(principal->name));
    view_set(rows, row, "principal_id", INT(principal->id));
    view_set(rows, row, "type", TEXT(principal->is_role ? STR("R") : STR("S")));
    view_set(rows, row, "type_desc",
             TEXT(principal->is_role ? STR("DATABASE_ROLE") : STR("SQL_USER")));
    if (has_schema || principal->id == DBO_ID)
        view_set(rows, row, "default_schema_name", TEXT(STR("dbo")));
    if (principal->id == 2) view_set(rows, row, "default_schema_name", TEXT(STR("guest")));
    view_set(rows, row, "create_date", value_datetime(created_us));
    view_set(rows, row, "modify_date", value_datetime(created_us));
    if (principal->is_role) view_set(rows, row, "owning_principal_id", INT(DBO_ID));
    if (principal->id == 2)
        view_set(rows, row, "sid", catalog_sid(rows->arena, 0));
    else if (principal->id != 3 && principal->id != 4)
        view_set(rows, row, "sid", catalog_sid(rows->arena, (uint32_t)principal->id));
    view_set(rows, row, "is_fixed_role",
             BIT(principal->is_fixed && principal->is_role && principal->id >= 16384));
    view_set(rows, row, "authentication_type", INT(has_login ? 1 : 0));
    view_set(rows, row, "authentication_type_desc",
             TEXT(has_login ? STR("INSTANCE") : STR("NONE")));
    view_set(rows, row, "allow_encrypted_value_modifications", BIT(false));
}

static bool fill_principals(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t       at      = 0;
    int64_t      created = sim_database_created_us(source->database);
    SimPrincipal principal;

    while (sim_database_next_principal(source->database, &at, rows->arena, &principal))
        if (can_see_principal(exec, source->database, &principal))
            principal_row(rows, &principal, created);
    return true;
}

/* --- sys.database_role_members --- */
static const VirtualColumn member_columns[] = {{"role_principal_id", "int"},
                                               {"member_principal_id", "int"}};

static int32_t principal_id(SimDatabase *database, Arena *arena, Str name)
{
    size_t       at = 0;
    SimPrincipal principal;

    while (sim_database_next_principal(database, &at, arena, &principal))
        if (sim_name_equal(principal.name, name)) return principal.id;
    return 0;
}

static void member_row(VirtualRows *rows, int32_t role, int32_t member)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "role_principal_id", INT(role));
    view_set(rows, row, "member_principal_id", INT(member));
}

static bool fill_members(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t       at = 0;
    SimPrincipal principal;

    member_row(rows, principal_id(source->database, rows->arena, STR("db_owner")), DBO_ID);
    while (sim_database_next_principal(source->database, &at, rows->arena, &principal)) {
        if (!can_see_principal(exec, source->database, &principal)) continue;
        for (size_t i = 0; i < principal.role_count; i++)
            member_row(rows, principal_id(source->database, rows->arena, principal.roles[i]),
                       principal.id);
    }
    return true;
}

/* --- permissions --- */
static const VirtualColumn permission_columns[] = {
    {"class", "tinyint"},          {"class_desc", "nvarchar(60)"},  {"major_id", "int"},
    {"minor_id", "int"},           {"grantee_principal_id", "int"}, {"grantor_principal_id", "int"},
    {"type", "char(4)"},           {"permission_name", "sysname"},  {"state", "char(1)"},
    {"state_desc", "nvarchar(60)"}};

static const struct {
    SimPermission permission;
    const char   *type, *name;
} permission_names[] = {{SIM_PERM_SELECT, "SL  ", "SELECT"},
                        {SIM_PERM_INSERT, "IN  ", "INSERT"},
                        {SIM_PERM_UPDATE, "UP  ", "UPDATE"},
                        {SIM_PERM_DELETE, "DL  ", "DELETE"},
                        {SIM_PERM_EXECUTE, "EX  ", "EXECUTE"},
                        {SIM_PERM_CONTROL, "CL  ", "CONTROL"},
                        {SIM_PERM_VIEW_DATABASE_STATE, "VWDS", "VIEW DATABASE STATE"}};

typedef struct PermissionRow {
    int class;
    const char *class_desc;
    int32_t     major, minor, grantee;
} PermissionRow;

static void permission_row(VirtualRows *rows, const PermissionRow *on, const char *type,
                           const char *name, bool deny)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "class", INT(on->class));
    view_set(rows, row, "class_desc", TEXT(str_from_c(on->class_desc)));
    view_set(rows, row, "major_id", INT(on->major));
    view_set(rows, row, "minor_id", INT(on->minor));
    view_set(rows, row, "grantee_principal_id", INT(on->grantee));
    view_set(rows, row, "grantor_principal_id", INT(DBO_ID));
    view_set(rows, row, "type", TEXT(str_from_c(type)));
    view_set(rows, row, "permission_name", TEXT(str_from_c(name)));
    view_set(rows, row, "state", TEXT(deny ? STR("D") : STR("G")));
    view_set(rows, row, "state_desc", TEXT(deny ? STR("DENY") : STR("GRANT")));
}

/* Where the grant is; false: the object is gone. */
static bool place_of_grant(SimDatabase *database, const SimGrantInfo *grant, PermissionRow *on)
{
    *on = (PermissionRow){.class = 0, .class_desc = "DATABASE"};
    if (grant->object_id == 0 && str_is_empty(grant->schema)) return true;
    if (grant->object_id == 0) {
        *on = (PermissionRow){.class      = 3,
                              .class_desc = "SCHEMA",
                              .major      = sim_database_schema_id(database, grant->schema)};
        return on->major != 0;
    }
    SimTable *table = sim_database_find_table_by_id(database, grant->object_id);
    *on = (PermissionRow){.class = 1, .class_desc = "OBJECT_OR_COLUMN", .major = grant->object_id};
    if (!table || str_is_empty(grant->column)) return true;
    ptrdiff_t at = sim_table_find_column(table, grant->column);
    if (at >= 0) on->minor = sim_table_info(table)->columns[at].column_id;
    return at >= 0;
}

static bool fill_permissions(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    SimDatabase *database = source->database;
    size_t       at       = 0;
    SimPrincipal principal;
    SimGrantInfo grant;

    while (sim_database_next_principal(database, &at, rows->arena, &principal)) {
        bool connects = !principal.is_role && principal.id != 2 && principal.id != 3 &&
                        principal.id != 4;
        if (!connects || !can_see_principal(exec, database, &principal)) continue;
        permission_row(rows, &(PermissionRow){.class_desc = "DATABASE", .grantee = principal.id},
                       "CO  ", "CONNECT", false);
    }
    for (at = 0; sim_database_next_grant(database, &at, rows->arena, &grant);) {
        PermissionRow on;
        if (!place_of_grant(database, &grant, &on)) continue;
        size_t       find = 0;
        bool         seen = false;
        SimPrincipal who;
        while (!seen && sim_database_next_principal(database, &find, rows->arena, &who))
            seen = sim_name_equal(who.name, grant.principal);
        if (!seen || !can_see_principal(exec, database, &who)) continue;
        on.grantee = who.id;
        for (size_t i = 0; i < COUNT_OF(permission_names); i++) {
            const char *type = permission_names[i].type, *name = permission_names[i].name;
            if (grant.granted & permission_names[i].permission)
                permission_row(rows, &on, type, name, false);
            if (grant.denied & permission_names[i].permission)
                permission_row(rows, &on, type, name, true);
        }
    }
    return true;
}

/* --- the server's principals --- */
static const VirtualColumn server_columns[] = {{"name", "sysname"},
                                               {"principal_id", "int"},
                                               {"sid", "varbinary(85)"},
                                               {"type", "char(1)"},
                                               {"type_desc", "nvarchar(60)"},
                                               {"is_disabled", "bit"},
                                               {"create_date", "datetime"},
                                               {"modify_date", "datetime"},
                                               {"default_database_name", "sysname"},
                                               {"default_language_name", "sysname"},
                                               {"credential_id", "int"},
                                               {"owning_principal_id", "int"},
                                               {"is_fixed_role", "bit"}};

static const char *const server_roles[] = {"public",      "sysadmin",   "securityadmin",
                                           "serveradmin", "setupadmin", "processadmin",
                                           "diskadmin",   "dbcreator",  "bulkadmin"};
enum { FIRST_SERVER_ROLE = 2, SYSADMIN_ROLE = 3 };

static SimValue *server_row(VirtualRows *rows, Str name, int32_t id, bool is_role,
                            int64_t created_us)
{
    SimValue *row = view_row(rows);

    view_set(rows, row, "name", TEXT(name));
    view_set(rows, row, "principal_id", INT(id));
    view_set(rows, row, "sid", catalog_sid(rows->arena, (uint32_t)id));
    view_set(rows, row, "type", TEXT(is_role ? STR("R") : STR("S")));
    view_set(rows, row, "type_desc", TEXT(is_role ? STR("SERVER_ROLE") : STR("SQL_LOGIN")));
    view_set(rows, row, "is_disabled", BIT(false));
    view_set(rows, row, "create_date", value_datetime(created_us));
    view_set(rows, row, "modify_date", value_datetime(created_us));
    if (is_role) {
        view_set(rows, row, "owning_principal_id", INT(1));
    } else {
        view_set(rows, row, "default_database_name", TEXT(STR("master")));
        view_set(rows, row, "default_language_name", TEXT(STR("us_english")));
    }
    view_set(rows, row, "is_fixed_role", BIT(is_role && id > FIRST_SERVER_ROLE));
    return row;
}

static bool sees_login(Exec *exec, const SimLogin *login)
{
    return exec->session->login.is_sysadmin || login->is_sysadmin ||
           sim_name_equal(login->name, exec->session->login.name);
}

static int64_t server_created(Exec *exec)
{
    return sim_database_created_us(sim_server_find_database(exec->session->server, STR("master")));
}

static bool fill_server_principals(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t   at = 0;
    SimLogin login;
    int32_t  id = 0;

    (void)source;
    while (sim_server_next_login(exec->session->server, &at, rows->arena, &login, &id))
        if (sees_login(exec, &login))
            (void)server_row(rows, login.name, id, false, server_created(exec));
    for (size_t i = 0; i < COUNT_OF(server_roles); i++)
        (void)server_row(rows, str_from_c(server_roles[i]), FIRST_SERVER_ROLE + (int32_t)i, true,
                         server_created(exec));
    return true;
}

static const VirtualColumn login_columns[] = {{"name", "sysname"},
                                              {"principal_id", "int"},
                                              {"sid", "varbinary(85)"},
                                              {"type", "char(1)"},
                                              {"type_desc", "nvarchar(60)"},
                                              {"is_disabled", "bit"},
                                              {"create_date", "datetime"},
                                              {"modify_date", "datetime"},
                                              {"default_database_name", "sysname"},
                                              {"default_language_name", "sysname"},
                                              {"credential_id", "int"},
                                              {"is_policy_checked", "bit"},
                                              {"is_expiration_checked", "bit"},
                                              {"password_hash", "varbinary(256)"}};

static bool fill_logins(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t   at = 0;
    SimLogin login;
    int32_t  id = 0;

    (void)source;
    while (sim_server_next_login(exec->session->server, &at, rows->arena, &login, &id)) {
        if (!sees_login(exec, &login)) continue;
        SimValue *row = server_row(rows, login.name, id, false, server_created(exec));
        view_set(rows, row, "is_policy_checked", BIT(false));
        view_set(rows, row, "is_expiration_checked", BIT(false));
    }
    return true;
}

static bool fill_server_members(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t   at = 0;
    SimLogin login;
    int32_t  id = 0;

    (void)source;
    while (sim_server_next_login(exec->session->server, &at, rows->arena, &login, &id))
        if (login.is_sysadmin) member_row(rows, SYSADMIN_ROLE, id);
    return true;
}

static bool fill_server_permissions(VirtualRows *rows, Exec *exec, BoundSource *source)
{
    size_t   at = 0;
    SimLogin login;
    int32_t  id = 0;

    (void)source;
    while (sim_server_next_login(exec->session->server, &at, rows->arena, &login, &id))
        if (sees_login(exec, &login))
            permission_row(rows,
                           &(PermissionRow){.class = 100, .class_desc = "SERVER", .grantee = id},
                           "COSQ", "CONNECT SQL", false);
    return true;
}

const VirtualTable catalog_security_views[] = {
    VIEW("sys", "database_principals", principal_columns, fill_principals),
    VIEW("sys", "database_role_members", member_columns, fill_members),
    VIEW("sys", "database_permissions", permission_columns, fill_permissions),
    VIEW("sys", "server_principals", server_columns, fill_server_principals),
    VIEW("sys", "server_role_members", member_columns, fill_server_members),
    VIEW("sys", "server_permissions", permission_columns, fill_server_permissions),
    VIEW("sys", "sql_logins", login_columns, fill_logins),
    {.name = NULL},
};
