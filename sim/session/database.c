/* database.c - ALTER DATABASE ... SET, and who may be in a database meanwhile
 * (sqlserver.md 2.10, 2.12). */
#include "sim/session/front_internal.h"

#define LOOK_AGAIN_MS 5

typedef struct Alter {
    SimSession  *session;
    const Stmt  *stmt;
    SimDatabase *database;
    SimError    *error;
} Alter;

static bool word_is(const Stmt *stmt, size_t at, const char *word)
{
    return at < stmt->words.count &&
           str_equal_ignoring_case(stmt->words.items[at], str_from_c(word));
}

/* --- who is there --- */

/* A killed session between requests is as good as gone. */
static bool is_there(const SimSession *session, const SimDatabase *database)
{
    const SessionPublic *public = &session->public;

    if (atomic_load(&public->database) != database) return false;
    return !atomic_load(&session->waiter.killed) || atomic_load(&public->is_running) ||
           atomic_load(&public->tran_count) > 0;
}

/* With the front's lock held: another session in the database; 0: none. */
static int32_t find_other(const SimSession *self, const SimDatabase *database)
{
    for (const SimSession *session = front_first_session(self->front); session != NULL;
         session                   = session->next)
        if (session != self && is_there(session, database)) return session->id;
    return 0;
}

bool database_lets_in(SimSession *session, SimDatabase *database, SimError *error)
{
    if (sim_database_single_user(database) == 0) return true;
    front_lock(session->front);
    int32_t other = find_other(session, database);
    front_unlock(session->front);
    return other == 0 || sim_error(error, 924,
                                   "Database '%.*s' is already open and can only have one user at "
                                   "a time.",
                                   STR_ARG(sim_database_name(database)));
}

static void kill_others(const Alter *alter)
{
    int32_t other = 0;

    for (int32_t last = 0;; last = other) {
        front_lock(alter->session->front);
        other = 0;
        for (SimSession *session = front_first_session(alter->session->front); session != NULL;
             session             = session->next)
            if (session != alter->session && session->id > last && other == 0 &&
                is_there(session, alter->database))
                other = session->id;
        front_unlock(alter->session->front);
        if (other == 0) return;
        (void)session_kill(alter->session->front, other);
    }
}

static bool refuse_busy(const Alter *alter)
{
    return sim_error(alter->error, 5070,
                     "Database state cannot be changed while other users are using the database "
                     "'%.*s'",
                     STR_ARG(sim_database_name(alter->database)));
}

/* Waits until no other session is in the database, or sends them away as the statement says. */
static bool await_alone(const Alter *alter)
{
    SimSession *session  = alter->session;
    SimWaiter  *waiter   = &session->waiter;
    Clock      *clock    = sim_server_clock(session->server);
    int64_t     start_ns = clock_monotonic_ns(clock);
    bool        kills    = str_equal_c(alter->stmt->termination, "IMMEDIATE");
    bool        ok       = true;

    atomic_store(&waiter->wait_start_ns, start_ns);
    for (;;) {
        int64_t waited_ms = (clock_monotonic_ns(clock) - start_ns) / 1000000;
        if (str_equal_c(alter->stmt->termination, "AFTER"))
            kills = waited_ms >= alter->stmt->after_seconds * 1000;
        front_lock(session->front);
        int32_t other = find_other(session, alter->database);
        front_unlock(session->front);
        if (other == 0 && !sim_database_is_busy(alter->database, waiter)) break;
        if (str_equal_c(alter->stmt->termination, "NO_WAIT")) {
            ok = refuse_busy(alter);
            break;
        }
        if (kills) kill_others(alter);
        atomic_store(&waiter->blocking_session_id, other);
        atomic_store(&waiter->wait_type, "LCK_M_X");
        ok = session_alive(session, alter->error);
        if (!ok) break;
        (void)sim_waiter_wait(waiter, LOOK_AGAIN_MS);
    }
    atomic_store(&waiter->wait_type, NULL);
    atomic_store(&waiter->blocking_session_id, 0);
    return ok;
}

/* --- the options --- */

static bool refuse_option(const Alter *alter)
{
    return sim_error(alter->error, 5058, "Option '%.*s' cannot be set in database '%.*s'.",
                     STR_ARG(alter->stmt->words.items[0]),
                     STR_ARG(sim_database_name(alter->database)));
}

static bool on_or_off(const Alter *alter, bool *on)
{
    *on = word_is(alter->stmt, 1, "ON");
    return *on || word_is(alter->stmt, 1, "OFF") ||
           sim_error(alter->error, 102, "Incorrect syntax near '%.*s'.",
                     STR_ARG(alter->stmt->words.items[0]));
}

static bool set_allow_snapshot(const Alter *alter)
{
    bool on = false;

    if (!on_or_off(alter, &on)) return false;
    if (sim_database_is_system(alter->database)) return refuse_option(alter);
    return sim_database_allow_snapshot(alter->database, &alter->session->waiter, on, alter->error);
}

static bool set_read_committed_snapshot(const Alter *alter)
{
    bool on = false;

    if (!on_or_off(alter, &on)) return false;
    if (sim_database_is_system(alter->database)) return refuse_option(alter);
    if (sim_database_reads_versions(alter->database) == on) return true;
    if (!await_alone(alter)) return false;
    sim_database_set_reads_versions(alter->database, on);
    return true;
}

static bool set_single_user(const Alter *alter)
{
    if (sim_database_is_system(alter->database)) return refuse_option(alter);
    if (!await_alone(alter)) return false;
    sim_database_set_single_user(alter->database, -1);
    return true;
}

/* From outside only while nobody is in it. */
static bool set_multi_user(const Alter *alter)
{
    front_lock(alter->session->front);
    int32_t other = find_other(alter->session, alter->database);
    front_unlock(alter->session->front);
    if (sim_database_single_user(alter->database) != 0 && other != 0)
        return sim_error(alter->error, 5064,
                         "Changes to the state or options of database '%.*s' cannot be made at "
                         "this time. The database is in single-user mode, and a user is currently "
                         "connected to it.",
                         STR_ARG(sim_database_name(alter->database)));
    sim_database_set_single_user(alter->database, 0);
    return true;
}

/* What changes nothing that a client of this server could tell. */
static bool is_without_effect(const Stmt *stmt)
{
    static const char *const options[] = {"RECOVERY",
                                          "AUTO_CLOSE",
                                          "AUTO_SHRINK",
                                          "AUTO_CREATE_STATISTICS",
                                          "AUTO_UPDATE_STATISTICS",
                                          "AUTO_UPDATE_STATISTICS_ASYNC",
                                          "COMPATIBILITY_LEVEL",
                                          "PAGE_VERIFY",
                                          "PARAMETERIZATION",
                                          "DELAYED_DURABILITY",
                                          "TARGET_RECOVERY_TIME",
                                          "QUERY_STORE",
                                          "READ_WRITE",
                                          "ONLINE"};

    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (word_is(stmt, 0, options[i])) return true;
    return false;
}

static bool set_option(const Alter *alter)
{
    const Stmt *stmt = alter->stmt;

    if (word_is(stmt, 0, "ALLOW_SNAPSHOT_ISOLATION")) return set_allow_snapshot(alter);
    if (word_is(stmt, 0, "READ_COMMITTED_SNAPSHOT")) return set_read_committed_snapshot(alter);
    if (word_is(stmt, 0, "SINGLE_USER")) return set_single_user(alter);
    if (word_is(stmt, 0, "MULTI_USER")) return set_multi_user(alter);
    return is_without_effect(stmt) || sim_not_supported(alter->error, "the database option %.*s",
                                                        STR_ARG(stmt->words.items[0]));
}

static bool may_alter(SimSession *session, SimDatabase *database)
{
    Str user;

    return database != NULL &&
           (session->login.is_sysadmin ||
            (session_user_in(session, database, &user) && sim_is_owner(database, user)));
}

bool run_alter_database(SimSession *session, const Stmt *stmt, SimError *error)
{
    Str   name  = stmt->object.name;
    Alter alter = {.session = session, .stmt = stmt, .error = error};

    alter.database = str_equal_c(name, "CURRENT") ? session->database
                                                  : sim_server_find_database(session->server, name);
    if (!may_alter(session, alter.database))
        return sim_error(error, 5011,
                         "User does not have permission to alter database '%.*s', the database "
                         "does not exist, or the database is not in a state that allows access "
                         "checks.",
                         STR_ARG(name));
    if (session->tran_count > 0)
        return sim_error(
            error, 226, "ALTER DATABASE statement not allowed within multi-statement transaction.");
    if (stmt->words.count == 0) return sim_not_supported(error, "ALTER DATABASE ... COLLATE");
    return set_option(&alter);
}
