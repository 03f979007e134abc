/* read.c - what happens in the middle of somebody's read, and locks held for nobody. */
#include "sim/session/front_internal.h"

/* --- on_read --- */

void sim_control_on_read(SimServer *server, const SimReadHook *hook)
{
    Front *front = front_of(server);

    front_lock(front);
    ReadHookEntry *entry = LIST_PUSH(front->arena, &front->hooks);
    entry->hook.object   = str_copy(front->arena, hook->object);
    entry->hook.sql      = str_copy(front->arena, hook->sql);
    entry->hook.login    = str_copy(front->arena, hook->login);
    entry->hook.rows     = hook->rows;
    atomic_fetch_add(&front->hook_count, 1);
    front_unlock(front);
}

static bool is_of(const SimSession *session, const ReadHookEntry *entry, const SimTableInfo *info,
                  Str full_name)
{
    return !entry->is_done &&
           (sim_name_equal(entry->hook.object, full_name) ||
            sim_name_equal(entry->hook.object, info->name)) &&
           (str_is_empty(entry->hook.login) ||
            sim_name_equal(entry->hook.login, session->login.name));
}

/* The text of a hook that is due at `rows`, once; with `sql_out` NULL whether one waits for rows. */
static bool find_hook(SimSession *session, const SimTable *table, int64_t rows, Str *sql_out)
{
    Front              *front = session->front;
    Arena              *arena = arena_new();
    const SimTableInfo *info  = sim_table_info(table);
    Str  full  = str_printf(arena, "%.*s.%.*s", STR_ARG(info->schema), STR_ARG(info->name));
    bool found = false;

    front_lock(front);
    for (size_t i = 0; i < front->hooks.count && !found; i++) {
        ReadHookEntry *entry = &front->hooks.items[i];
        found                = is_of(session, entry, info, full) &&
                (sql_out ? entry->hook.rows == rows : entry->hook.rows > 0);
        if (!found || !sql_out) continue;
        entry->is_done = true;
        atomic_fetch_sub(&front->hook_count, 1);
        *sql_out = entry->hook.sql;
    }
    front_unlock(front);
    arena_close(arena);
    return found;
}

bool control_read_is_watched(SimSession *session, const SimTable *table)
{
    return !session->is_aside && atomic_load(&session->front->hook_count) > 0 &&
           find_hook(session, table, 0, NULL);
}

bool control_reading(SimSession *session, const SimTable *table, int64_t rows, SimError *error)
{
    Str sql;

    if (session->is_aside || atomic_load(&session->front->hook_count) == 0 ||
        !find_hook(session, table, rows, &sql))
        return true;
    return aside_run(session->front, session, sim_database_name(session->database), sql, error);
}

/* A table of any database, as is_of finds it. */
static bool is_anywhere(SimServer *server, Str object)
{
    Arena       *arena       = arena_new();
    size_t       database_at = 0;
    SimDatabase *database;
    SimTable    *table;
    bool         found = false;

    while (!found && sim_server_next_database(server, &database_at, &database)) {
        size_t table_at = 0;
        while (!found && sim_database_next_table(database, &table_at, &table)) {
            const SimTableInfo *info = sim_table_info(table);
            Str full = str_printf(arena, "%.*s.%.*s", STR_ARG(info->schema), STR_ARG(info->name));
            found    = sim_name_equal(object, full) || sim_name_equal(object, info->name);
        }
    }
    arena_close(arena);
    return found;
}

bool control_on_read(ProcCall *call)
{
    SimReadHook hook = {.rows = 0};
    Str         when;

    if (!control_need_sysadmin(call) || !proc_i64(call, 3, &hook.rows)) return false;
    if (!proc_text(call, 0, &hook.object) || !proc_text(call, 1, &hook.sql))
        return sim_error(call->error, 50000, "on_read needs @object and @sql.");
    if (!proc_text(call, 2, &when)) when = hook.rows > 0 ? STR("after_rows") : STR("before");
    if (sim_name_equal(when, STR("before")))
        hook.rows = 0;
    else if (!sim_name_equal(when, STR("after_rows")))
        return sim_error(call->error, 50000, "on_read runs its text before or after_rows.");
    else
        hook.rows = MAX(hook.rows, (int64_t)1);
    (void)proc_text(call, 4, &hook.login);
    if (!is_anywhere(call->session->server, hook.object))
        return sim_error(call->error, 208, "Invalid object name '%.*s'.", STR_ARG(hook.object));
    sim_control_on_read(call->session->server, &hook);
    return true;
}

/* --- gate --- */

/* Writes every row as it is; nothing of it is left when it is rolled back. */
static bool write_all(SimSession *session, SimTable *table, SimError *error)
{
    SimTxn              *txn     = session_txn(session, session->database);
    const SimTableInfo  *info    = sim_table_info(table);
    SimScanOptions       options = {.isolation = SIM_READ_COMMITTED, .for_update = true};
    SimScan             *scan    = NULL;
    const SimRow *const *rows;
    Arena               *arena = arena_new();
    size_t               count = 0;
    bool                 ok    = sim_scan_open(txn, table, NULL, &options, &scan, error);

    while (ok && (ok = sim_scan_next(scan, &rows, &count, error)) && count > 0) {
        SimChange *changes = ARENA_ARRAY(arena, SimChange, count);
        for (size_t i = 0; i < count; i++) {
            SimValue *values = ARENA_ARRAY(arena, SimValue, info->column_count);
            for (size_t at = 0; at < info->column_count; at++)
                sim_row_value(table, rows[i], at, &values[at]);
            changes[i] = (SimChange){.row = rows[i], .values = values};
        }
        ok = sim_update(txn, table, changes, count, error);
        arena_reset(arena);
    }
    sim_scan_close(scan);
    arena_close(arena);
    return ok;
}

static ptrdiff_t find_gate(const Front *front, const SimTable *table)
{
    for (size_t i = 0; i < front->gates.count; i++)
        if (front->gates.items[i].table == table) return (ptrdiff_t)i;
    return -1;
}

static bool hold(Front *front, Str database, SimTable *table, SimError *error)
{
    SimSession *session = aside_open(front, database, error);

    if (!session) return false;
    session->options.lock_timeout_ms = 0;
    session_use_options(session);
    if (!session_begin(session, STR_EMPTY) || !write_all(session, table, error)) {
        aside_close(session);
        return false;
    }
    front_lock(front);
    *LIST_PUSH(front->arena, &front->gates) = (Gate){session, table};
    front_unlock(front);
    return true;
}

static bool release(Front *front, const SimTable *table, Str name, SimError *error)
{
    SimSession *session = NULL;

    front_lock(front);
    ptrdiff_t at = find_gate(front, table);
    if (at >= 0) {
        session                = front->gates.items[at].session;
        front->gates.items[at] = front->gates.items[--front->gates.count];
    }
    front_unlock(front);
    aside_close(session);
    return session || sim_error(error, 50000, "Nothing holds %.*s.", STR_ARG(name));
}

bool sim_control_gate(SimServer *server, Str database_name, Str object, bool holds, SimError *error)
{
    Front       *front    = front_of(server);
    SimDatabase *database = sim_server_find_database(server, database_name);
    Arena       *arena    = arena_new();
    ObjectName   name     = name_split(arena, object);
    SimTable *table = database ? sim_database_find_table(database, name.schema, name.name) : NULL;
    bool      ok    = table != NULL ||
              sim_error(error, 208, "Invalid object name '%.*s'.", STR_ARG(object));

    front_lock(front);
    bool is_held = ok && find_gate(front, table) >= 0;
    front_unlock(front);
    if (ok && !holds)
        ok = release(front, table, object, error);
    else if (is_held)
        ok = sim_error(error, 50000, "%.*s is held already.", STR_ARG(object));
    else if (ok)
        ok = hold(front, database_name, table, error);
    arena_close(arena);
    return ok;
}

bool control_gate(ProcCall *call)
{
    Str object, action;

    if (!control_need_sysadmin(call)) return false;
    if (!proc_text(call, 0, &object))
        return sim_error(call->error, 50000, "gate needs @object and @action.");
    if (!proc_text(call, 1, &action)) action = STR("hold");
    if (!sim_name_equal(action, STR("hold")) && !sim_name_equal(action, STR("release")))
        return sim_error(call->error, 50000, "A gate holds or releases: hold, release.");
    return sim_control_gate(call->session->server, sim_database_name(call->session->database),
                            object, sim_name_equal(action, STR("hold")), call->error);
}
