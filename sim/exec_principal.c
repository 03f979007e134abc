/* exec_principal.c - logins, users, roles and grants (sqlserver.md 2.10, 2.15). */
#include "sim/session_internal.h"

static bool need_sysadmin(const SimSession *session, SimError *error)
{
    return session->login.is_sysadmin ||
           sim_error(error, 15247, "User does not have permission to perform this action.");
}

static bool need_owner(const SimSession *session, SimError *error)
{
    return session_is_owner(session) ||
           sim_error(error, 15247, "User does not have permission to perform this action.");
}

static bool create_login(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value;

    if (!need_sysadmin(session, error)) return false;
    if (!run_expression(session, stmt->args.items[0], arena, &value, error)) return false;
    if (!sim_create_login(session->server, stmt->name, sim_value_text(arena, &value), false, error))
        return false;
    sim_login_set_language(session->server, stmt->name, stmt->variable);
    return true;
}

static bool alter_role(SimSession *session, const Stmt *stmt, SimError *error)
{
    bool add = str_equal_c(stmt->words.items[0], "ADD");

    if (stmt->words.count > 1) return sim_not_supported(error, "ALTER SERVER ROLE");
    return need_owner(session, error) &&
           sim_role_add_member(session->database, stmt->object.name, stmt->name, add, error);
}

static bool permission_bit(Str word, uint32_t *out, SimError *error)
{
    static const struct {
        const char *name;
        uint32_t    bits;
    } names[] = {{"SELECT", SIM_PERM_SELECT},
                 {"INSERT", SIM_PERM_INSERT},
                 {"UPDATE", SIM_PERM_UPDATE},
                 {"DELETE", SIM_PERM_DELETE},
                 {"EXECUTE", SIM_PERM_EXECUTE},
                 {"CONTROL", SIM_PERM_CONTROL},
                 {"VIEW SERVER STATE", SIM_PERM_VIEW_SERVER_STATE},
                 {"VIEW DATABASE STATE", SIM_PERM_VIEW_DATABASE_STATE},
                 {"ALL", SIM_PERM_SELECT | SIM_PERM_INSERT | SIM_PERM_UPDATE | SIM_PERM_DELETE |
                             SIM_PERM_EXECUTE}};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_equal_ignoring_case(word, str_from_c(names[i].name))) {
            *out |= names[i].bits;
            return true;
        }
    return sim_not_supported(error, "the permission %.*s", STR_ARG(word));
}

static bool grant_to(SimSession *session, const Stmt *stmt, Str principal, uint32_t bits,
                     int32_t object_id, Str schema, SimError *error)
{
    bool grant = stmt->grant == GRANT_GRANT, deny = stmt->grant == GRANT_DENY;

    if (stmt->grant_columns.count == 0)
        return sim_grant(session->database, principal, bits, object_id, schema, STR_EMPTY, grant,
                         deny, error);
    for (size_t i = 0; i < stmt->grant_columns.count; i++)
        if (!sim_grant(session->database, principal, bits, object_id, schema,
                       stmt->grant_columns.items[i], grant, deny, error))
            return false;
    return true;
}

static bool grant(SimSession *session, const Stmt *stmt, SimError *error)
{
    uint32_t bits      = 0;
    int32_t  object_id = 0;
    Str      schema    = STR_EMPTY;

    if (!need_owner(session, error)) return false;
    for (size_t i = 0; i < stmt->words.count; i++)
        if (!permission_bit(stmt->words.items[i], &bits, error)) return false;
    if (str_equal_c(stmt->grant_class, "SCHEMA")) {
        schema = stmt->object.name;
        if (!sim_database_has_schema(session->database, schema))
            return sim_error(error, 15151,
                             "Cannot find the schema '%.*s', because it does not exist or you do "
                             "not have permission.",
                             STR_ARG(schema));
    } else if (stmt->object.name.len > 0 && !str_equal_c(stmt->grant_class, "DATABASE")) {
        SimTable *table = sim_database_find_table(session->database, stmt->object.schema,
                                                  stmt->object.name);
        const SimModule *module = table ? NULL
                                        : sim_database_find_module(session->database,
                                                                   stmt->object.schema,
                                                                   stmt->object.name);
        if (!table && !module)
            return sim_error(error, 15151,
                             "Cannot find the object '%.*s', because it does not exist or you do "
                             "not have permission.",
                             STR_ARG(stmt->object.name));
        object_id = table ? sim_table_info(table)->object_id : module->object_id;
        for (size_t i = 0; table && i < stmt->grant_columns.count; i++)
            if (sim_table_find_column(table, stmt->grant_columns.items[i]) < 0)
                return sim_error(error, 1911,
                                 "Column name '%.*s' does not exist in the target table or view.",
                                 STR_ARG(stmt->grant_columns.items[i]));
    }
    for (size_t i = 0; i < stmt->principals.count; i++)
        if (!grant_to(session, stmt, stmt->principals.items[i], bits, object_id, schema, error))
            return false;
    return true;
}

static bool create_user(SimSession *session, const Stmt *stmt, SimError *error)
{
    Str login = stmt->words.count > 0             ? STR_EMPTY
                : str_is_empty(stmt->object.name) ? stmt->name
                                                  : stmt->object.name;

    return need_owner(session, error) &&
           sim_create_user(session->database, stmt->name, login, error);
}

static bool alter_login(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value;
    Str      password = STR_EMPTY;
    int      disabled = -1;

    if (!session->login.is_sysadmin && !sim_name_equal(session->login.name, stmt->name))
        return need_sysadmin(session, error);
    if (stmt->args.count > 0) {
        if (!run_expression(session, stmt->args.items[0], arena, &value, error)) return false;
        password = sim_value_text(arena, &value);
    }
    if (stmt->words.count > 0) disabled = str_equal_c(stmt->words.items[0], "DISABLE");
    if (disabled >= 0 && !need_sysadmin(session, error)) return false;
    if (stmt->variable.len > 0)
        sim_login_set_language(session->server, stmt->name, stmt->variable);
    return sim_alter_login(session->server, stmt->name, stmt->object.name, password, disabled,
                           error);
}

/* Somebody who is logged in keeps the login. */
static bool drop_login(SimSession *session, const Stmt *stmt, SimError *error)
{
    bool in_use = false;

    if (!need_sysadmin(session, error)) return false;
    front_lock(session->front);
    for (const SimSession *at = front_first_session(session->front); at && !in_use; at = at->next)
        in_use = sim_name_equal(at->login.name, stmt->name);
    front_unlock(session->front);
    if (in_use)
        return sim_error(error, 15434,
                         "Could not drop login '%.*s' as the user is currently logged in.",
                         STR_ARG(stmt->name));
    return sim_drop_login(session->server, stmt->name, error);
}

bool run_principal(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                   SimError *error)
{
    (void)result;
    if (stmt->kind == STMT_CREATE_LOGIN) return create_login(session, stmt, arena, error);
    if (stmt->kind == STMT_ALTER_LOGIN) return alter_login(session, stmt, arena, error);
    if (stmt->kind == STMT_CREATE_USER) return create_user(session, stmt, error);
    if (stmt->kind == STMT_CREATE_ROLE)
        return need_owner(session, error) && sim_create_role(session->database, stmt->name, error);
    if (stmt->kind == STMT_ALTER_ROLE) return alter_role(session, stmt, error);
    if (stmt->kind == STMT_GRANT) return grant(session, stmt, error);
    if (str_equal_c(stmt->words.items[0], "LOGIN"))
        return drop_login(session, stmt, error);
    if (!need_owner(session, error)) return false;
    SimError ignored = SIM_ERROR_INIT;
    return sim_drop_principal(session->database, stmt->name, stmt->if_exists ? &ignored : error) ||
           stmt->if_exists;
}
