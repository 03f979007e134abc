/* security.c - logins, users, roles and grants (sqlserver.md 2.15, rights). DENY wins. */
#include "sim/model/model_internal.h"

typedef enum PrincipalKind { PRINCIPAL_USER, PRINCIPAL_ROLE } PrincipalKind;

struct Principal {
    PrincipalKind kind;
    Str           name, login; /* login: users */
    bool          is_fixed, is_dropped;
    int32_t       id;
    LIST(Str) roles; /* it is a member of */
};

/* --- logins --- */

static LoginEntry *find_login(SimServer *server, Str name)
{
    for (size_t i = 0; i < server->logins.count; i++)
        if (!server->logins.items[i].is_dropped &&
            sim_name_equal(server->logins.items[i].name, name))
            return &server->logins.items[i];
    return NULL;
}

bool sim_create_login(SimServer *server, Str name, Str password, bool is_sysadmin, SimError *error)
{
    (void)pthread_rwlock_wrlock(&server->lock);
    bool exists = find_login(server, name) != NULL;
    if (!exists)
        *LIST_PUSH(server->arena,
                   &server->logins) = (LoginEntry){.name        = str_copy(server->arena, name),
                                                   .password    = str_copy(server->arena, password),
                                                   .is_sysadmin = is_sysadmin};
    (void)pthread_rwlock_unlock(&server->lock);
    return !exists ||
           sim_error(error, 15025, "The server principal '%.*s' already exists.", STR_ARG(name));
}

/* The same work whatever the two have in common. */
static bool same_password(Str left, Str right)
{
    size_t   len        = MAX(left.len, right.len);
    unsigned difference = left.len != right.len;

    for (size_t i = 0; i < len; i++) {
        unsigned one = i < left.len ? (unsigned char)left.ptr[i] : 0;
        unsigned two = i < right.len ? (unsigned char)right.ptr[i] : 0;
        difference |= one ^ two;
    }
    return difference == 0;
}

void sim_login_set_language(SimServer *server, Str name, Str language)
{
    (void)pthread_rwlock_wrlock(&server->lock);
    for (size_t i = 0; i < server->logins.count; i++)
        if (!server->logins.items[i].is_dropped &&
            sim_name_equal(server->logins.items[i].name, name))
            server->logins.items[i].language = str_copy(server->arena, language);
    (void)pthread_rwlock_unlock(&server->lock);
}

bool sim_check_login(SimServer *server, Str name, Str password, SimLogin *out)
{
    (void)pthread_rwlock_rdlock(&server->lock);
    const LoginEntry *login = find_login(server, name);
    bool same = same_password(login != NULL ? login->password : STR("no such login"), password);
    bool ok   = login != NULL && same && !login->is_disabled;
    if (ok)
        *out = (SimLogin){
            .name = login->name, .is_sysadmin = login->is_sysadmin, .language = login->language};
    (void)pthread_rwlock_unlock(&server->lock);
    return ok;
}

bool sim_server_next_login(SimServer *server, size_t *at, Arena *arena, SimLogin *out,
                           int32_t *id_out)
{
    (void)pthread_rwlock_rdlock(&server->lock);
    while (*at < server->logins.count && server->logins.items[*at].is_dropped)
        ++*at;
    bool found = *at < server->logins.count;
    if (found) {
        const LoginEntry *login = &server->logins.items[*at];
        *out = (SimLogin){.name = str_copy(arena, login->name), .is_sysadmin = login->is_sysadmin};
        *id_out = *at == 0 ? 1 : 256 + (int32_t)*at;
        ++*at;
    }
    (void)pthread_rwlock_unlock(&server->lock);
    return found;
}

bool sim_find_login(SimServer *server, Str name, SimLogin *out)
{
    (void)pthread_rwlock_rdlock(&server->lock);
    const LoginEntry *login = find_login(server, name);
    bool              found = login != NULL;
    if (found) *out = (SimLogin){.name = login->name, .is_sysadmin = login->is_sysadmin};
    (void)pthread_rwlock_unlock(&server->lock);
    return found;
}

static bool no_login(Str name, const char *verb, SimError *error)
{
    return sim_error(error, 15151,
                     "Cannot %s the login '%.*s', because it does not exist or you do not have "
                     "permission.",
                     verb, STR_ARG(name));
}

bool sim_drop_login(SimServer *server, Str name, SimError *error)
{
    (void)pthread_rwlock_wrlock(&server->lock);
    LoginEntry *login = find_login(server, name);
    bool        found = login != NULL;
    if (found) login->is_dropped = true;
    (void)pthread_rwlock_unlock(&server->lock);
    return found || no_login(name, "drop", error);
}

bool sim_alter_login(SimServer *server, Str name, Str new_name, Str password, int is_disabled,
                     SimError *error)
{
    (void)pthread_rwlock_wrlock(&server->lock);
    LoginEntry       *login = find_login(server, name);
    const LoginEntry *other = str_is_empty(new_name) ? NULL : find_login(server, new_name);
    bool              taken = other != NULL && other != login;
    if (login != NULL && !taken) {
        if (!str_is_empty(new_name)) login->name = str_copy(server->arena, new_name);
        if (!str_is_empty(password)) login->password = str_copy(server->arena, password);
        if (is_disabled >= 0) login->is_disabled = is_disabled != 0;
    }
    (void)pthread_rwlock_unlock(&server->lock);
    if (login == NULL) return no_login(name, "alter", error);
    return !taken || sim_error(error, 15025, "The server principal '%.*s' already exists.",
                               STR_ARG(new_name));
}

/* --- principals of a database; with the catalog lock held --- */

static Principal *find_principal(SimDatabase *database, Str name)
{
    for (size_t i = 0; i < database->principals.count; i++) {
        Principal *principal = database->principals.items[i];
        if (!principal->is_dropped && sim_name_equal(principal->name, name)) return principal;
    }
    return NULL;
}

static Principal *add_principal(SimDatabase *database, PrincipalKind kind, Str name, Str login,
                                bool is_fixed)
{
    Principal *principal = ARENA_NEW(database->arena, Principal);

    principal->kind     = kind;
    principal->name     = str_copy(database->arena, name);
    principal->login    = str_copy(database->arena, login);
    principal->is_fixed = is_fixed;
    principal->id       = 5; /* the first own one */
    for (size_t i = 0; i < database->principals.count && !is_fixed; i++)
        principal->id += !database->principals.items[i]->is_fixed;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers
    *LIST_PUSH(database->arena, &database->principals) = principal;
    return principal;
}

void security_open(SimDatabase *database)
{
    static const char *const roles[] = {"db_owner",      "db_accessadmin",    "db_securityadmin",
                                        "db_ddladmin",   "db_backupoperator", "db_datareader",
                                        "db_datawriter", "db_denydatareader", "db_denydatawriter"};
    static const int32_t     first_fixed_role = 16384;

    add_principal(database, PRINCIPAL_ROLE, STR("public"), STR_EMPTY, true)->id             = 0;
    add_principal(database, PRINCIPAL_USER, STR("dbo"), STR_EMPTY, true)->id                = 1;
    add_principal(database, PRINCIPAL_USER, STR("guest"), STR_EMPTY, true)->id              = 2;
    add_principal(database, PRINCIPAL_USER, STR("INFORMATION_SCHEMA"), STR_EMPTY, true)->id = 3;
    add_principal(database, PRINCIPAL_USER, STR("sys"), STR_EMPTY, true)->id                = 4;
    for (size_t i = 0; i < COUNT_OF(roles); i++)
        add_principal(database, PRINCIPAL_ROLE, str_from_c(roles[i]), STR_EMPTY, true)->id =
            first_fixed_role + (int32_t)i + (i > 3); /* 16388 is nobody's */
}

bool security_has_principal(SimDatabase *database, Str name)
{
    (void)pthread_rwlock_rdlock(&database->catalog);
    bool found = find_principal(database, name) != NULL;
    (void)pthread_rwlock_unlock(&database->catalog);
    return found;
}

static bool create_principal(SimDatabase *database, PrincipalKind kind, Str name, Str login,
                             SimError *error)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    bool exists = find_principal(database, name) != NULL;
    if (!exists) (void)add_principal(database, kind, name, login, false);
    (void)pthread_rwlock_unlock(&database->catalog);
    return !exists ||
           sim_error(error, 15023,
                     "User, group, or role '%.*s' already exists in the current database.",
                     STR_ARG(name));
}

bool sim_create_user(SimDatabase *database, Str user, Str login, SimError *error)
{
    SimServer *server = database->server;

    (void)pthread_rwlock_rdlock(&server->lock);
    bool known = str_is_empty(login) || find_login(server, login) != NULL;
    (void)pthread_rwlock_unlock(&server->lock);
    if (!known)
        return sim_error(error, 15007, "'%.*s' is not a valid login or you do not have permission.",
                         STR_ARG(login));
    return create_principal(database, PRINCIPAL_USER, user, login, error);
}

bool sim_create_role(SimDatabase *database, Str role, SimError *error)
{
    return create_principal(database, PRINCIPAL_ROLE, role, STR_EMPTY, error);
}

bool sim_drop_principal(SimDatabase *database, Str name, SimError *error)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    Principal *principal = find_principal(database, name);
    bool       ok        = principal != NULL && !principal->is_fixed;
    if (ok) {
        principal->is_dropped = true;
        for (size_t i = 0; i < database->grants.count; i++)
            if (sim_name_equal(database->grants.items[i].principal, name))
                database->grants.items[i].granted = database->grants.items[i].denied = 0;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return ok || sim_error(error, 15151,
                           "Cannot drop the user '%.*s', because it does not exist or you do not "
                           "have permission.",
                           STR_ARG(name));
}

static ptrdiff_t role_index(const Principal *member, Str role)
{
    for (size_t i = 0; i < member->roles.count; i++)
        if (sim_name_equal(member->roles.items[i], role)) return (ptrdiff_t)i;
    return -1;
}

bool sim_role_add_member(SimDatabase *database, Str role, Str member, bool add, SimError *error)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    const Principal *group = find_principal(database, role);
    Principal       *one   = find_principal(database, member);
    bool             ok    = group != NULL && group->kind == PRINCIPAL_ROLE && one != NULL &&
              !sim_name_equal(role, member);
    if (ok) {
        ptrdiff_t at = role_index(one, role);
        if (add && at < 0) *LIST_PUSH(database->arena, &one->roles) = group->name;
        if (!add && at >= 0) one->roles.items[at] = one->roles.items[--one->roles.count];
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    if (ok) return true;
    if (group == NULL || group->kind != PRINCIPAL_ROLE)
        return sim_error(error, 15151,
                         "Cannot alter the role '%.*s', because it does not exist or you do not "
                         "have permission.",
                         STR_ARG(role));
    return sim_error(
        error, 15151,
        "Cannot add the principal '%.*s', because it does not exist or you do not have permission.",
        STR_ARG(member));
}

bool sim_find_user(SimDatabase *database, const SimLogin *login, Arena *arena, Str *user_out)
{
    *user_out = STR_EMPTY;
    if (login->is_sysadmin) {
        *user_out = STR("dbo");
        return true;
    }
    (void)pthread_rwlock_rdlock(&database->catalog);
    for (size_t i = 0; i < database->principals.count && str_is_empty(*user_out); i++) {
        const Principal *user = database->principals.items[i];
        if (user->kind == PRINCIPAL_USER && !user->is_dropped && !str_is_empty(user->login) &&
            sim_name_equal(user->login, login->name))
            *user_out = str_copy(arena, user->name);
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    if (str_is_empty(*user_out) && database->is_system && !str_equal_c(database->name, "model"))
        *user_out = STR("guest");
    return !str_is_empty(*user_out);
}

/* --- membership --- */

#define ROLES_MAX 64 /* roles one user is in, through others too */

typedef struct RoleSet {
    Str    names[ROLES_MAX];
    size_t count;
} RoleSet;

static void collect(SimDatabase *database, Str name, RoleSet *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (sim_name_equal(set->names[i], name)) return;
    if (set->count == ROLES_MAX) return;
    set->names[set->count++]   = name;
    const Principal *principal = find_principal(database, name);
    for (size_t i = 0; principal != NULL && i < principal->roles.count; i++)
        collect(database, principal->roles.items[i], set);
}

static bool set_has(const RoleSet *set, Str name)
{
    for (size_t i = 0; i < set->count; i++)
        if (sim_name_equal(set->names[i], name)) return true;
    return false;
}

/* The user, its roles, and public. */
static void principals_of(SimDatabase *database, Str user, RoleSet *set)
{
    set->count = 0;
    collect(database, user, set);
    collect(database, STR("public"), set);
    if (sim_name_equal(user, STR("dbo"))) collect(database, STR("db_owner"), set);
}

bool sim_is_member(SimDatabase *database, Str user, Str role)
{
    RoleSet set;

    (void)pthread_rwlock_rdlock(&database->catalog);
    principals_of(database, user, &set);
    bool is_member = set_has(&set, role);
    (void)pthread_rwlock_unlock(&database->catalog);
    return is_member;
}

bool sim_is_owner(SimDatabase *database, Str user)
{
    return sim_is_member(database, user, STR("db_owner"));
}

/* --- grants --- */

static Grant *grant_of(SimDatabase *database, Str principal, int32_t object_id, Str schema,
                       Str column)
{
    for (size_t i = 0; i < database->grants.count; i++) {
        Grant *grant = &database->grants.items[i];
        if (grant->object_id == object_id && sim_name_equal(grant->principal, principal) &&
            sim_name_equal(grant->schema, schema) && sim_name_equal(grant->column, column))
            return grant;
    }
    Grant *grant = LIST_PUSH(database->arena, &database->grants);
    *grant       = (Grant){.principal = str_copy(database->arena, principal),
                           .object_id = object_id,
                           .schema    = str_copy(database->arena, schema),
                           .column    = str_copy(database->arena, column)};
    return grant;
}

bool sim_grant(SimDatabase *database, Str principal, uint32_t permissions, int32_t object_id,
               Str schema, Str column, bool grant, bool deny, SimError *error)
{
    (void)pthread_rwlock_wrlock(&database->catalog);
    bool known = find_principal(database, principal) != NULL;
    if (known) {
        Grant *entry   = grant_of(database, principal, object_id, schema, column);
        entry->granted = grant ? entry->granted | permissions : entry->granted & ~permissions;
        entry->denied  = deny ? entry->denied | permissions : entry->denied & ~permissions;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return known || sim_error(error, 15151,
                              "Cannot find the user '%.*s', because it does not exist or you do "
                              "not have permission.",
                              STR_ARG(principal));
}

void security_drop_object(SimDatabase *database, int32_t object_id)
{
    size_t kept = 0;

    (void)pthread_rwlock_wrlock(&database->catalog);
    for (size_t i = 0; i < database->grants.count; i++)
        if (database->grants.items[i].object_id != object_id)
            database->grants.items[kept++] = database->grants.items[i];
    database->grants.count = kept;
    (void)pthread_rwlock_unlock(&database->catalog);
}

/* CONTROL covers everything, for what it is granted on. */
static bool covers(uint32_t granted, SimPermission permission)
{
    return (granted & ((uint32_t)permission | SIM_PERM_CONTROL)) != 0;
}

typedef struct Verdict {
    bool granted, denied;
} Verdict;

static void add_fixed_roles(const RoleSet *set, SimPermission permission, Verdict *verdict)
{
    bool writes = permission == SIM_PERM_INSERT || permission == SIM_PERM_UPDATE ||
                  permission == SIM_PERM_DELETE;

    if (permission == SIM_PERM_SELECT) {
        verdict->granted |= set_has(set, STR("db_datareader"));
        verdict->denied |= set_has(set, STR("db_denydatareader"));
    }
    if (writes) {
        verdict->granted |= set_has(set, STR("db_datawriter"));
        verdict->denied |= set_has(set, STR("db_denydatawriter"));
    }
}

/* On the database, the schema and the object (column empty), or on one column of it. */
static Verdict verdict_on(SimDatabase *database, const RoleSet *set, SimPermission permission,
                          const SimTable *table, Str column)
{
    Verdict             verdict = {false, false};
    const SimTableInfo *info    = table != NULL ? sim_table_info(table) : NULL;

    for (size_t i = 0; i < database->grants.count; i++) {
        const Grant *grant     = &database->grants.items[i];
        bool         on_object = info != NULL && grant->object_id == info->object_id;
        bool on_schema = info != NULL && grant->object_id == 0 && !str_is_empty(grant->schema) &&
                         sim_name_equal(grant->schema, info->schema);
        bool on_database = grant->object_id == 0 && str_is_empty(grant->schema);
        bool matches     = str_is_empty(column)
                               ? (on_object && str_is_empty(grant->column)) || on_schema || on_database
                               : on_object && sim_name_equal(grant->column, column);
        if (!matches || !set_has(set, grant->principal)) continue;
        verdict.granted |= covers(grant->granted, permission);
        verdict.denied |= covers(grant->denied, permission);
    }
    if (str_is_empty(column) && table != NULL) add_fixed_roles(set, permission, &verdict);
    return verdict;
}

static bool any_column_granted(SimDatabase *database, const RoleSet *set, SimPermission permission,
                               const SimTable *table)
{
    const SimTableInfo *info = sim_table_info(table);

    for (size_t i = 0; i < info->column_count; i++) {
        Verdict on_column = verdict_on(database, set, permission, table, info->columns[i].name);
        if (on_column.granted && !on_column.denied) return true;
    }
    return false;
}

static bool columns_granted(SimDatabase *database, const RoleSet *set, SimPermission permission,
                            const SimTable *table, bool whole, const Str *columns,
                            size_t column_count)
{
    for (size_t i = 0; i < column_count; i++) {
        Verdict on_column = verdict_on(database, set, permission, table, columns[i]);
        if (on_column.denied || !(whole || on_column.granted)) return false;
    }
    return column_count > 0 || whole;
}

bool sim_has_permission(SimDatabase *database, Str user, SimPermission permission,
                        const SimTable *table, const Str *columns, size_t column_count,
                        bool any_column)
{
    RoleSet set;
    bool    has = false;

    (void)pthread_rwlock_rdlock(&database->catalog);
    principals_of(database, user, &set);
    if (set_has(&set, STR("db_owner"))) {
        has = true;
    } else {
        Verdict whole = verdict_on(database, &set, permission, table, STR_EMPTY);
        if (!whole.denied)
            has = columns_granted(database, &set, permission, table, whole.granted, columns,
                                  column_count);
        if (!whole.denied && !has && any_column && column_count == 0 && table != NULL)
            has = any_column_granted(database, &set, permission, table);
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return has;
}

bool sim_has_module_permission(SimDatabase *database, Str user, SimPermission permission,
                               const SimModule *module)
{
    RoleSet set;
    Verdict verdict = {false, false};

    (void)pthread_rwlock_rdlock(&database->catalog);
    principals_of(database, user, &set);
    for (size_t i = 0; i < database->grants.count; i++) {
        const Grant *grant   = &database->grants.items[i];
        bool         matches = grant->object_id == module->object_id ||
                       (grant->object_id == 0 && (str_is_empty(grant->schema) ||
                                                  sim_name_equal(grant->schema, module->schema)));
        if (!matches || !set_has(&set, grant->principal)) continue;
        verdict.granted |= covers(grant->granted, permission);
        verdict.denied |= covers(grant->denied, permission);
    }
    if (module->kind == SIM_MODULE_VIEW) add_fixed_roles(&set, permission, &verdict);
    bool has = set_has(&set, STR("db_owner")) || (verdict.granted && !verdict.denied);
    (void)pthread_rwlock_unlock(&database->catalog);
    return has;
}

bool sim_has_principal(SimDatabase *database, Str name, bool is_role)
{
    (void)pthread_rwlock_rdlock(&database->catalog);
    const Principal *principal = find_principal(database, name);
    bool             found = principal != NULL && (principal->kind == PRINCIPAL_ROLE) == is_role;
    (void)pthread_rwlock_unlock(&database->catalog);
    return found;
}

/* --- for the catalog views --- */

bool sim_database_next_principal(SimDatabase *database, size_t *at, Arena *arena, SimPrincipal *out)
{
    bool found = false;

    (void)pthread_rwlock_rdlock(&database->catalog);
    while (*at < database->principals.count && !found) {
        const Principal *principal = database->principals.items[(*at)++];
        if (principal->is_dropped) continue;
        *out = (SimPrincipal){.name       = str_copy(arena, principal->name),
                              .login      = str_copy(arena, principal->login),
                              .id         = principal->id,
                              .is_role    = principal->kind == PRINCIPAL_ROLE,
                              .is_fixed   = principal->is_fixed,
                              .roles      = ARENA_ARRAY(arena, Str, principal->roles.count),
                              .role_count = principal->roles.count};
        for (size_t i = 0; i < principal->roles.count; i++)
            out->roles[i] = str_copy(arena, principal->roles.items[i]);
        found = true;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return found;
}

bool sim_database_next_grant(SimDatabase *database, size_t *at, Arena *arena, SimGrantInfo *out)
{
    bool found = false;

    (void)pthread_rwlock_rdlock(&database->catalog);
    while (*at < database->grants.count && !found) {
        const Grant *grant = &database->grants.items[(*at)++];
        if ((grant->granted | grant->denied) == 0) continue;
        *out  = (SimGrantInfo){.principal = str_copy(arena, grant->principal),
                               .object_id = grant->object_id,
                               .schema    = str_copy(arena, grant->schema),
                               .column    = str_copy(arena, grant->column),
                               .granted   = grant->granted,
                               .denied    = grant->denied};
        found = true;
    }
    (void)pthread_rwlock_unlock(&database->catalog);
    return found;
}
