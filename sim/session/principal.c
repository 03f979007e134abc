/* principal.c - functions about principals and what they may: users, logins, membership, permissions (sqlserver.md 2.10, 2.15). */
#include "sim/catalog/catalog_internal.h"
#include "sim/session/session_function_internal.h"

/* --- logins --- */
static bool login_by_id(const Call *call, int64_t wanted, SimLogin *out)
{
    size_t  at = 0;
    int32_t id = 0;

    while (sim_server_next_login(call->session->server, &at, call->arena, out, &id))
        if (id == wanted) return true;
    return false;
}

static bool login_by_name(const Call *call, Str name, SimLogin *out, int32_t *id_out)
{
    size_t at = 0;

    while (sim_server_next_login(call->session->server, &at, call->arena, out, id_out))
        if (sim_name_equal(out->name, name)) return true;
    return false;
}

static bool fn_own_login(const Call *call, SimValue *out)
{
    return give_text(call, call->session->login.name, out);
}

static bool fn_login_name(const Call *call, SimValue *out)
{
    SimLogin login;
    int64_t  id = 0;

    if (call->count == 0) return fn_own_login(call, out);
    if (call->args[0].is_null) return true;
    if (!call_i64(call, 0, &id)) return false;
    return !login_by_id(call, id, &login) || give_text(call, login.name, out);
}

/* A SID holds the principal's number in front. */
static bool fn_login_of_sid(const Call *call, SimValue *out)
{
    SimLogin login;
    int64_t  id = 0;

    if (call->count == 0) return fn_own_login(call, out);
    if (call->args[0].is_null || !sim_type_is_binary(call->args[0].type.kind)) return true;
    Bytes sid = call->args[0].bytes;
    for (size_t i = 0; i < MIN(sid.len, 4); i++)
        id |= (int64_t)sid.ptr[i] << (8 * i);
    return !login_by_id(call, id, &login) || give_text(call, login.name, out);
}

static bool fn_login_id(const Call *call, SimValue *out)
{
    SimLogin login;
    int32_t  id   = 0;
    Str      name = call->count > 0 ? call_text(call, 0) : call->session->login.name;

    return !login_by_name(call, name, &login, &id) || give_int(id, out);
}

static bool fn_login_sid(const Call *call, SimValue *out)
{
    SimLogin login;
    int32_t  id   = 0;
    Str      name = call->count > 0 ? call_text(call, 0) : call->session->login.name;

    if (login_by_name(call, name, &login, &id)) *out = catalog_sid(call->arena, (uint32_t)id);
    return true;
}

static bool fn_is_server_member(const Call *call, SimValue *out)
{
    static const char *const roles[] = {"sysadmin",   "securityadmin", "serveradmin",
                                        "setupadmin", "processadmin",  "diskadmin",
                                        "dbcreator",  "bulkadmin"};
    Str                      role    = call_text(call, 0);
    SimLogin                 login   = call->session->login;
    int32_t                  id      = 0;

    if (call->count > 1 && !login_by_name(call, call_text(call, 1), &login, &id)) return true;
    if (sim_name_equal(role, STR("public"))) return give_int(1, out);
    for (size_t i = 0; i < COUNT_OF(roles); i++)
        if (sim_name_equal(role, str_from_c(roles[i])))
            return give_int(login.is_sysadmin, out); /* a sysadmin is in every one */
    return true;
}

/* --- users and roles of a database --- */
static bool principal_find(const Call *call, Str name, int64_t id, SimPrincipal *out)
{
    size_t at = 0;

    while (sim_database_next_principal(call->database, &at, call->arena, out))
        if (str_is_empty(name) ? out->id == id : sim_name_equal(out->name, name)) return true;
    return false;
}

static bool fn_own_user(const Call *call, SimValue *out)
{
    return give_text(call, call->session->user, out);
}

static bool fn_user_name(const Call *call, SimValue *out)
{
    SimPrincipal principal;
    int64_t      id = 0;

    if (call->count == 0) return fn_own_user(call, out);
    if (call->args[0].is_null) return true;
    if (!call_i64(call, 0, &id)) return false;
    return !principal_find(call, STR_EMPTY, id, &principal) || give_text(call, principal.name, out);
}

static bool fn_user_id(const Call *call, SimValue *out)
{
    SimPrincipal principal;
    Str          name = call->count > 0 ? call_text(call, 0) : call->session->user;

    if (str_is_empty(name)) return true;
    return !principal_find(call, name, 0, &principal) || give_int(principal.id, out);
}

/* NULL for what is no role. */
static bool fn_is_member(const Call *call, SimValue *out)
{
    SimPrincipal role;
    Str          name = call_text(call, 0);
    Str          user = call->count > 1 ? call_text(call, 1) : call->session->user;

    if (str_is_empty(name) || !principal_find(call, name, 0, &role) || !role.is_role) return true;
    if (call->count > 1) {
        SimPrincipal member;
        if (!principal_find(call, user, 0, &member)) return true;
    }
    if (role.id == 0) return give_int(1, out);
    return give_int(sim_is_member(call->database, user, role.name), out);
}

static bool fn_has_db_access(const Call *call, SimValue *out)
{
    SimDatabase *database = call->count > 0 ? sim_server_find_database(call->session->server,
                                                                       call_text(call, 0))
                                            : call->session->database;
    Str          user;

    if (!database) return true;
    return give_int(
        sim_database_is_system(database) || session_user_in(call->session, database, &user), out);
}

/* --- HAS_PERMS_BY_NAME --- */
/* Where a permission can be given, as bits of the classes below. */
enum { ON_OBJECT = 1, ON_SCHEMA = 2, ON_DATABASE = 4, ON_SERVER = 8, ON_OTHER = 16 };

static const struct {
    const char   *name;
    SimPermission permission; /* 0: owners alone */
    unsigned      on;
} permissions[] = {{"ANY", 0, ON_OBJECT | ON_SCHEMA | ON_DATABASE | ON_SERVER | ON_OTHER},
                   {"SELECT", SIM_PERM_SELECT, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"INSERT", SIM_PERM_INSERT, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"UPDATE", SIM_PERM_UPDATE, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"DELETE", SIM_PERM_DELETE, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"EXECUTE", SIM_PERM_EXECUTE, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"REFERENCES", 0, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"CONTROL", SIM_PERM_CONTROL, ON_OBJECT | ON_SCHEMA | ON_DATABASE | ON_OTHER},
                   {"ALTER", 0, ON_OBJECT | ON_SCHEMA | ON_DATABASE | ON_OTHER},
                   {"TAKE OWNERSHIP", 0, ON_OBJECT | ON_SCHEMA | ON_DATABASE},
                   {"VIEW DEFINITION", 0, ON_OBJECT | ON_SCHEMA | ON_DATABASE | ON_OTHER},
                   {"VIEW CHANGE TRACKING", 0, ON_OBJECT | ON_SCHEMA},
                   {"CONNECT", 0, ON_DATABASE},
                   {"CREATE TABLE", 0, ON_DATABASE},
                   {"CREATE VIEW", 0, ON_DATABASE},
                   {"CREATE PROCEDURE", 0, ON_DATABASE},
                   {"CREATE FUNCTION", 0, ON_DATABASE},
                   {"CREATE SCHEMA", 0, ON_DATABASE},
                   {"CREATE ROLE", 0, ON_DATABASE},
                   {"ALTER ANY SCHEMA", 0, ON_DATABASE},
                   {"ALTER ANY USER", 0, ON_DATABASE},
                   {"ALTER ANY ROLE", 0, ON_DATABASE},
                   {"BACKUP DATABASE", 0, ON_DATABASE},
                   {"BACKUP LOG", 0, ON_DATABASE},
                   {"CHECKPOINT", 0, ON_DATABASE},
                   {"VIEW DATABASE STATE", SIM_PERM_VIEW_DATABASE_STATE, ON_DATABASE},
                   {"VIEW DATABASE PERFORMANCE STATE", SIM_PERM_VIEW_DATABASE_STATE, ON_DATABASE},
                   {"VIEW SERVER STATE", SIM_PERM_VIEW_SERVER_STATE, ON_SERVER},
                   {"VIEW SERVER PERFORMANCE STATE", SIM_PERM_VIEW_SERVER_STATE, ON_SERVER},
                   {"CONTROL SERVER", 0, ON_SERVER},
                   {"CONNECT SQL", 0, ON_SERVER},
                   {"VIEW ANY DATABASE", 0, ON_SERVER},
                   {"VIEW ANY DEFINITION", 0, ON_SERVER},
                   {"CREATE ANY DATABASE", 0, ON_SERVER},
                   {"ALTER ANY DATABASE", 0, ON_SERVER},
                   {"ALTER ANY LOGIN", 0, ON_SERVER},
                   {"ALTER TRACE", 0, ON_SERVER},
                   {"ADMINISTER BULK OPERATIONS", 0, ON_SERVER},
                   {"SHUTDOWN", 0, ON_SERVER},
                   {"IMPERSONATE", 0, ON_OTHER}};

typedef struct Wanted {
    const Call   *call;
    Str           securable, name; /* the permission's */
    SimPermission permission;
    bool          is_any;
} Wanted;

static bool perms_on_server(const Wanted *wanted, SimValue *out)
{
    SimSession *session = wanted->call->session;
    bool        has     = session->login.is_sysadmin || wanted->is_any ||
               sim_name_equal(wanted->name, STR("CONNECT SQL")) ||
               sim_name_equal(wanted->name, STR("VIEW ANY DATABASE"));

    if (wanted->permission)
        has = has || sim_has_permission(session->database, session->user, wanted->permission, NULL,
                                        NULL, 0, false);
    return give_int(has, out);
}

static bool perms_on_database(const Wanted *wanted, SimValue *out)
{
    SimSession  *session  = wanted->call->session;
    ObjectName   name     = name_split(wanted->call->arena, wanted->securable);
    SimDatabase *database = str_is_empty(wanted->securable)
                                ? session->database
                                : sim_server_find_database(session->server, name.name);
    Str          user;

    if (!database || !session_user_in(session, database, &user)) return give_int(0, out);
    bool has = sim_is_owner(database, user) || wanted->is_any ||
               sim_name_equal(wanted->name, STR("CONNECT"));
    if (wanted->permission)
        has = has || sim_has_permission(database, user, wanted->permission, NULL, NULL, 0, false);
    return give_int(has, out);
}

/* What a grant on the schema, or on the whole database, gives. */
static bool perms_on_schema(const Wanted *wanted, SimValue *out)
{
    SimSession  *session  = wanted->call->session;
    ObjectName   name     = name_split(wanted->call->arena, wanted->securable);
    SimDatabase *database = session->database;
    Str          user     = session->user;
    size_t       at       = 0;
    SimGrantInfo grant;
    bool         granted = false, denied = false;

    if (!sim_database_has_schema(database, name.name)) return give_int(0, out);
    if (sim_is_owner(database, user)) return give_int(1, out);
    while (sim_database_next_grant(database, &at, wanted->call->arena, &grant)) {
        if (grant.object_id != 0 ||
            (!str_is_empty(grant.schema) && !sim_name_equal(grant.schema, name.name)) ||
            (!sim_name_equal(grant.principal, user) &&
             !sim_is_member(database, user, grant.principal)))
            continue;
        granted |= wanted->is_any ? grant.granted != 0
                                  : (grant.granted & (wanted->permission | SIM_PERM_CONTROL)) != 0;
        denied |= !wanted->is_any && (grant.denied & wanted->permission) != 0;
    }
    return give_int(granted && !denied && (wanted->permission || wanted->is_any), out);
}

static bool perms_on_view(const Wanted *wanted, SimDatabase *database, Str user,
                          const VirtualTable *view, SimValue *out)
{
    bool has = view && (wanted->permission == SIM_PERM_SELECT || wanted->is_any) &&
               (!view->is_owner_only || sim_is_owner(database, user));

    if (has && view->permission)
        has = sim_is_owner(database, user) ||
              sim_has_permission(database, user, view->permission, NULL, NULL, 0, false);
    return give_int(has, out);
}

static bool perms_on_object(const Wanted *wanted, SimValue *out)
{
    const Call  *call     = wanted->call;
    SimSession  *session  = call->session;
    ObjectName   name     = name_split(call->arena, wanted->securable);
    SimDatabase *database = str_is_empty(name.database)
                                ? session->database
                                : sim_server_find_database(session->server, name.database);
    Str          column   = call_text(call, 3), user;

    if (!database || !session_user_in(session, database, &user)) return give_int(0, out);
    SimTable        *table  = sim_database_find_table(database, name.schema, name.name);
    const SimModule *module = sim_database_find_module(database, name.schema, name.name);
    if (!table && module)
        return give_int(wanted->is_any ? module_is_visible(session, database, module)
                                       : sim_is_owner(database, user) ||
                                             (wanted->permission &&
                                              sim_has_module_permission(
                                                  database, user, wanted->permission, module)),
                        out);
    if (!table)
        return perms_on_view(wanted, database, user,
                             virtual_table_find(call->arena, name.schema, name.name), out);
    if (column.len > 0 && sim_table_find_column(table, column) < 0) return give_int(0, out);
    if (sim_is_owner(database, user)) return give_int(1, out);
    if (wanted->permission == SIM_PERM_SELECT && table == sim_cdc_mapping_table(database))
        return give_int(1, out);
    if (wanted->is_any) return give_int(session_can_see(session, database, table), out);
    return give_int(wanted->permission &&
                        sim_has_permission(database, user, wanted->permission, table, &column,
                                           column.len > 0 ? 1 : 0, false),
                    out);
}

/* 1, 0 also for what one cannot see, NULL for a class or a permission that does not exist. */
static bool fn_has_perms(const Call *call, SimValue *out)
{
    static const struct {
        const char *name;
        unsigned    on;
    } classes[]   = {{"OBJECT", ON_OBJECT},     {"SCHEMA", ON_SCHEMA},
                     {"DATABASE", ON_DATABASE}, {"SERVER", ON_SERVER},
                     {"LOGIN", ON_OTHER},       {"USER", ON_OTHER},
                     {"ROLE", ON_OTHER},        {"TYPE", ON_OTHER},
                     {"SERVER ROLE", ON_OTHER}, {"APPLICATION ROLE", ON_OTHER}};
    unsigned on   = 0;
    Str class     = call_text(call, 1);
    Wanted wanted = {
        .call = call, .securable = call_text(call, 0), .name = str_trim(call_text(call, 2))};
    unsigned allowed = 0;

    if (call->args[1].is_null) {
        if (!call->args[0].is_null) return true;
        on = ON_SERVER;
    }
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (sim_name_equal(class, str_from_c(classes[i].name))) on = classes[i].on;
    for (size_t i = 0; i < COUNT_OF(permissions); i++)
        if (sim_name_equal(wanted.name, str_from_c(permissions[i].name))) {
            wanted.permission = permissions[i].permission;
            wanted.is_any     = i == 0;
            allowed           = permissions[i].on;
        }
    if (on == 0 || (allowed & on) == 0) return true;
    if (on == ON_SERVER) return perms_on_server(&wanted, out);
    if (on == ON_DATABASE) return perms_on_database(&wanted, out);
    if (call->args[0].is_null) return true;
    if (on == ON_SCHEMA) return perms_on_schema(&wanted, out);
    if (on == ON_OBJECT) return perms_on_object(&wanted, out);
    return give_int(session_is_owner(call->session), out);
}

const SessionFunction principal_functions_of_session[] = {
    {"ORIGINAL_LOGIN", 0, 0, "sysname", fn_own_login},
    {"SUSER_NAME", 0, 1, "nvarchar(128)", fn_login_name},
    {"SUSER_SNAME", 0, 1, "nvarchar(128)", fn_login_of_sid},
    {"SUSER_ID", 0, 1, "int", fn_login_id},
    {"SUSER_SID", 0, 2, "varbinary(85)", fn_login_sid},
    {"SYSTEM_USER", 0, 0, "nvarchar(128)", fn_own_login},
    {"USER_NAME", 0, 1, "nvarchar(128)", fn_user_name},
    {"CURRENT_USER", 0, 0, "nvarchar(128)", fn_own_user},
    {"SESSION_USER", 0, 0, "nvarchar(128)", fn_own_user},
    {"USER", 0, 0, "nvarchar(128)", fn_own_user},
    {"USER_ID", 0, 1, "int", fn_user_id},
    {"DATABASE_PRINCIPAL_ID", 0, 1, "int", fn_user_id},
    {"IS_MEMBER", 1, 1, "int", fn_is_member},
    {"IS_ROLEMEMBER", 1, 2, "int", fn_is_member},
    {"IS_SRVROLEMEMBER", 1, 2, "int", fn_is_server_member},
    {"HAS_DBACCESS", 0, 1, "int", fn_has_db_access},
    {"HAS_PERMS_BY_NAME", 3, 5, "int", fn_has_perms},
    {.name = NULL},
};
