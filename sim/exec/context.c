/* context.c - EXECUTE AS and REVERT: who a session acts for. A context ends with REVERT, or with the procedure or text that began it. */
#include "sim/session/session_internal.h"

static void restore(SimSession *session)
{
    const SavedContext *saved = &session->contexts.items[--session->contexts.count];

    session->login        = saved->login;
    session->user         = saved->user;
    session->impersonated = saved->impersonated;
}

void context_revert_to(SimSession *session, size_t count)
{
    while (session->contexts.count > count)
        restore(session);
}

static void save(SimSession *session, bool no_revert)
{
    *LIST_PUSH(session->arena,
               &session->contexts) = (SavedContext){.login        = session->login,
                                                    .user         = session->user,
                                                    .database     = session->database,
                                                    .impersonated = session->impersonated,
                                                    .no_revert    = no_revert};
}

static bool as_login(SimSession *session, Str name, bool no_revert, SimError *error)
{
    SimLogin login;
    Str      user;

    if (!session->login.is_sysadmin || !sim_find_login(session->server, name, &login))
        return sim_error(error, 15406,
                         "Cannot execute as the server principal because the principal \"%.*s\" "
                         "does not exist, this type of principal cannot be impersonated, or you "
                         "do not have permission.",
                         STR_ARG(name));
    if (!sim_find_user(session->database, &login, session->arena, &user))
        return sim_error(error, 916,
                         "The server principal \"%.*s\" is not able to access the database "
                         "\"%.*s\" under the current security context.",
                         STR_ARG(name), STR_ARG(sim_database_name(session->database)));
    save(session, no_revert);
    session->login = login;
    session->user  = user;
    return true;
}

/* Acts for a user of this database alone: elsewhere it is nobody. */
static bool as_user(SimSession *session, Str name, bool no_revert, SimError *error)
{
    if (!session_is_owner(session) || !sim_has_principal(session->database, name, false) ||
        sim_name_equal(name, STR("guest")))
        return sim_error(error, 15517,
                         "Cannot execute as the database principal because the principal "
                         "\"%.*s\" does not exist, this type of principal cannot be impersonated, "
                         "or you do not have permission.",
                         STR_ARG(name));
    save(session, no_revert);
    session->user         = str_copy(session->arena, name);
    session->login        = (SimLogin){.name = session->user};
    session->impersonated = session->database;
    return true;
}

bool run_context(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error)
{
    SimValue value;

    if (stmt->kind == STMT_REVERT) {
        if (session->contexts.count <= session->frame->context_count) return true;
        const SavedContext *saved = &session->contexts.items[session->contexts.count - 1];
        if (saved->no_revert) return true;
        if (saved->database != session->database)
            return sim_error(error, 15447,
                             "The current security context cannot be reverted. Please switch to "
                             "the original database where '%s' was called and try it again.",
                             "Execute As");
        restore(session);
        return true;
    }
    bool no_revert = stmt->words.count > 1;
    if (str_equal_c(stmt->words.items[0], "CALLER")) {
        save(session, no_revert);
        return true;
    }
    if (!run_expression(session, stmt->expr, arena, &value, error)) return false;
    Str name = value.is_null ? STR_EMPTY : sim_value_text(arena, &value);
    return str_equal_c(stmt->words.items[0], "LOGIN") ? as_login(session, name, no_revert, error)
                                                      : as_user(session, name, no_revert, error);
}
