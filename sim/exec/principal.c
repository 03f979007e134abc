/* principal.c - logins, users, roles and grants (sqlserver.md 2.10, 2.15). */
#include "sim/session/session_internal.h"

#include <string.h>

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

/* --- what a rollback takes back --- */
typedef struct SecurityUndo {
    SimDatabase *database;
    enum { UNDO_PRINCIPAL, UNDO_MEMBER, UNDO_GRANT } kind;
    uint32_t bits, granted, denied; /* GRANT: the permissions changed, and what they were */
    int32_t  object_id;
    bool     was_member;
    Str      names[3]; /* principal, then role, or schema and column; behind the struct */
} SecurityUndo;

static void undo_security(void *arg)
{
    const SecurityUndo *undo      = arg;
    SimError            ignored   = SIM_ERROR_INIT;
    Str                 principal = undo->names[0];
    uint32_t            granted = undo->granted & undo->bits, denied = undo->denied & undo->bits;

    bool ok = true;

    if (undo->kind == UNDO_PRINCIPAL) ok = sim_drop_principal(undo->database, principal, &ignored);
    if (undo->kind == UNDO_MEMBER)
        ok = sim_role_add_member(undo->database, undo->names[1], principal, undo->was_member,
                                 &ignored);
    if (undo->kind == UNDO_GRANT) {
        ok = sim_grant(undo->database, principal, undo->bits, undo->object_id, undo->names[1],
                       undo->names[2], false, false, &ignored);
        ok = ok &&
             (granted == 0 || sim_grant(undo->database, principal, granted, undo->object_id,
                                        undo->names[1], undo->names[2], true, false, &ignored));
        ok = ok &&
             (denied == 0 || sim_grant(undo->database, principal, denied, undo->object_id,
                                       undo->names[1], undo->names[2], false, true, &ignored));
    }
    (void)ok; /* what has gone meanwhile needs no undoing */
}

static void push_undo(SimSession *session, SecurityUndo undo)
{
    size_t len = 0;

    for (size_t i = 0; i < COUNT_OF(undo.names); i++)
        len += undo.names[i].len;
    SecurityUndo *copy = mem_alloc(sizeof *copy + len + 1);
    char         *text = (char *)(copy + 1);
    *copy              = undo;
    copy->database     = session->database;
    for (size_t i = 0; i < COUNT_OF(undo.names); i++) {
        if (undo.names[i].len) memcpy(text, undo.names[i].ptr, undo.names[i].len);
        copy->names[i] = (Str){text, undo.names[i].len};
        text += undo.names[i].len;
    }
    sim_txn_on_rollback(session_txn(session, session->database), undo_security, copy);
}

static bool is_direct_member(SimDatabase *database, Str role, Str member)
{
    Arena       *arena = arena_new();
    SimPrincipal principal;
    bool         found = false;

    for (size_t at = 0; !found && sim_database_next_principal(database, &at, arena, &principal);)
        for (size_t i = 0; sim_name_equal(principal.name, member) && i < principal.role_count; i++)
            found |= sim_name_equal(principal.roles[i], role);
    arena_close(arena);
    return found;
}

static bool alter_role(SimSession *session, const Stmt *stmt, SimError *error)
{
    bool add = str_equal_c(stmt->words.items[0], "ADD");

    if (stmt->words.count > 1) return sim_not_supported(error, "ALTER SERVER ROLE");
    if (!need_owner(session, error)) return false;
    bool was = is_direct_member(session->database, stmt->object.name, stmt->name);
    if (!sim_role_add_member(session->database, stmt->object.name, stmt->name, add, error))
        return false;
    push_undo(session, (SecurityUndo){.kind       = UNDO_MEMBER,
                                      .was_member = was,
                                      .names      = {stmt->name, stmt->object.name, STR_EMPTY}});
    return true;
}

static bool create_role(SimSession *session, const Stmt *stmt, SimError *error)
{
    if (!need_owner(session, error) || !sim_create_role(session->database, stmt->name, error))
        return false;
    push_undo(session,
              (SecurityUndo){.kind = UNDO_PRINCIPAL, .names = {stmt->name, STR_EMPTY, STR_EMPTY}});
    return true;
}

/* Grants one thing to one principal. */
static bool grant_one(SimSession *session, const Stmt *stmt, Str principal, uint32_t bits,
                      int32_t object_id, Str schema, Str column, SimError *error)
{
    SimDatabase *database = session->database;
    SecurityUndo undo     = {.kind      = UNDO_GRANT,
                             .bits      = bits,
                             .object_id = object_id,
                             .names     = {principal, schema, column}};
    Arena       *arena    = arena_new();
    SimGrantInfo before;

    for (size_t at = 0; sim_database_next_grant(database, &at, arena, &before);) {
        if (before.object_id != object_id || !sim_name_equal(before.principal, principal) ||
            !sim_name_equal(before.schema, schema) || !sim_name_equal(before.column, column))
            continue;
        undo.granted = before.granted;
        undo.denied  = before.denied;
    }
    arena_close(arena);
    if (!sim_grant(database, principal, bits, object_id, schema, column, stmt->grant == GRANT_GRANT,
                   stmt->grant == GRANT_DENY, error))
        return false;
    push_undo(session, undo);
    return true;
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
    if (stmt->grant_columns.count == 0)
        return grant_one(session, stmt, principal, bits, object_id, schema, STR_EMPTY, error);
    for (size_t i = 0; i < stmt->grant_columns.count; i++)
        if (!grant_one(session, stmt, principal, bits, object_id, schema,
                       stmt->grant_columns.items[i], error))
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
        SimTable        *table  = sim_database_find_table(session->database, stmt->object.schema,
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

    if (!need_owner(session, error) ||
        !sim_create_user(session->database, stmt->name, login, error))
        return false;
    push_undo(session,
              (SecurityUndo){.kind = UNDO_PRINCIPAL, .names = {stmt->name, STR_EMPTY, STR_EMPTY}});
    return true;
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
    if (stmt->variable.len > 0) sim_login_set_language(session->server, stmt->name, stmt->variable);
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
    if (stmt->kind == STMT_CREATE_ROLE) return create_role(session, stmt, error);
    if (stmt->kind == STMT_ALTER_ROLE) return alter_role(session, stmt, error);
    if (stmt->kind == STMT_GRANT) return grant(session, stmt, error);
    if (str_equal_c(stmt->words.items[0], "LOGIN")) return drop_login(session, stmt, error);
    if (!need_owner(session, error)) return false;
    if (session->tran_count > 0)
        return sim_not_supported(error, "DROP of a user or role inside a transaction");
    SimError ignored = SIM_ERROR_INIT;
    return sim_drop_principal(session->database, stmt->name, stmt->if_exists ? &ignored : error) ||
           stmt->if_exists;
}
