/* state.c - options, variables, principals and transactions of a session. */
#include "sim/session/front_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void session_publish(SimSession *session, bool is_running)
{
    SessionPublic *public = &session->public;

    atomic_store_explicit(&public->is_running, is_running, memory_order_relaxed);
    atomic_store_explicit(&public->tran_count, session->tran_count, memory_order_relaxed);
    atomic_store_explicit(&public->isolation, (int)session->options.isolation,
                          memory_order_relaxed);
    atomic_store_explicit(&public->request_us, session->request_us, memory_order_relaxed);
    atomic_store_explicit(&public->row_count, session->row_count, memory_order_relaxed);
    atomic_store_explicit(&public->database, session->database, memory_order_relaxed);
}

/* --- options --- */
void options_default(SessionOptions *options, bool odbc)
{
    *options = (SessionOptions){.isolation               = SIM_READ_COMMITTED,
                                .quoted_identifier       = true,
                                .ansi_nulls              = true,
                                .ansi_padding            = true,
                                .ansi_warnings           = true,
                                .arithabort              = odbc,
                                .concat_null_yields_null = true,
                                .ansi_null_dflt_on       = true,
                                .lock_timeout_ms         = -1,
                                .text_size               = odbc ? 2147483647 : 4096,
                                .date_first              = 7};
    (void)snprintf(options->date_format, sizeof options->date_format, "mdy");
    (void)snprintf(options->language, sizeof options->language, "us_english");
}

void session_use_options(SimSession *session)
{
    session->waiter.lock_timeout_ms   = session->options.lock_timeout_ms;
    session->waiter.deadlock_priority = session->options.deadlock_priority;
}

int session_date_style(const SimSession *session, const SimType *from, const SimType *to)
{
    Str format = str_from_c(session->options.date_format);

    if (str_equal_c(format, "mdy") || !sim_type_is_text(from->kind) || !sim_type_is_time(to->kind))
        return 0;
    return str_equal_c(format, "dmy") ? 3 : 2;
}

bool session_convert(const SimSession *session, const SimValue *value, const SimType *to,
                     Arena *arena, SimValue *out, SimError *error)
{
    return sim_convert(value, to, session_date_style(session, &value->type, to), true, arena, out,
                       error);
}

/* --- variables --- */
Frame *frame_push(SimSession *session, bool in_procedure)
{
    Frame *frame = mem_alloc(sizeof *frame);

    frame->outer         = session->frame;
    frame->arena         = arena_new();
    frame->variables     = map_new();
    frame->in_procedure  = in_procedure;
    frame->context_count = session->contexts.count;
    session->frame       = frame;
    return frame;
}

/* A temporary table is gone when its drop commits or its creation is undone: its entry goes just before. */
static void forget_dropped_temps(SimSession *session)
{
    size_t kept = 0;

    for (size_t i = 0; i < session->temp_tables.count; i++) {
        TempTable temp = session->temp_tables.items[i];
        if (sim_table_is_dropped(temp.table)) continue;
        temp.is_pending                    = false;
        session->temp_tables.items[kept++] = temp;
    }
    session->temp_tables.count = kept;
}

static void forget_pending_temps(SimSession *session, size_t from)
{
    size_t kept = MIN(from, session->temp_tables.count);

    for (size_t i = kept; i < session->temp_tables.count; i++)
        if (!session->temp_tables.items[i].is_pending)
            session->temp_tables.items[kept++] = session->temp_tables.items[i];
    session->temp_tables.count = kept;
}

void session_drop_temps(SimSession *session, const Frame *frame)
{
    for (size_t i = session->temp_tables.count; i-- > 0;) {
        SimError  error = SIM_ERROR_INIT;
        TempTable temp  = session->temp_tables.items[i];
        if (frame && temp.frame != frame) continue;
        for (size_t k = i; k + 1 < session->temp_tables.count; k++)
            session->temp_tables.items[k] = session->temp_tables.items[k + 1];
        session->temp_tables.count--;
        if (temp.is_pending)
            continue; /* the open transaction decides; what is left of it goes with tempdb */
        if (sim_table_is_dropped(temp.table)) continue;
        SimTxn *txn = sim_txn_begin(sim_table_database(temp.table), &session->waiter,
                                    SIM_READ_COMMITTED);
        if (!sim_drop_table(txn, temp.table, &error) || !sim_txn_commit(txn, NULL, &error))
            sim_txn_rollback(txn);
    }
}

void frame_free_variables(Frame *frame)
{
    size_t at = 0;
    Str    key;
    void  *value = NULL;

    while (map_next(frame->variables, &at, &key, &value))
        mem_free(((Variable *)value)->bytes);
    map_close(frame->variables);
}

void frame_pop(SimSession *session)
{
    Frame *frame = session->frame;

    cursors_free(&frame->cursors);
    if (frame->outer) session_drop_temps(session, frame);
    session->frame = frame->outer;
    frame_free_variables(frame);
    arena_close(frame->arena);
    mem_free(frame);
}

Variable *frame_declare(Frame *frame, Str name, const SimType *type)
{
    Variable *variable = ARENA_NEW(frame->arena, Variable);

    variable->name  = str_copy(frame->arena, name);
    variable->type  = *type;
    variable->value = sim_null(*type);
    map_put(frame->variables, str_lower_ascii(frame->arena, name), variable);
    return variable;
}

Variable *frame_find(const Frame *frame, Str name)
{
    char lower[300];

    if (!frame || name.len >= sizeof lower) return NULL;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (char)(name.ptr[i] + 32)
                                                            : name.ptr[i];
    return map_find(frame->variables, (Str){lower, name.len});
}

void variable_set(Variable *variable, const SimValue *value)
{
    SimType type = variable->type;

    if (value->is_null || value->type.kind < SIM_CHAR) {
        variable->value = *value;
    } else {
        if (value->bytes.len > variable->capacity) {
            variable->capacity = value->bytes.len + value->bytes.len / 2;
            uint8_t *bytes     = mem_alloc(variable->capacity);
            if (value->bytes.len) memcpy(bytes, value->bytes.ptr, value->bytes.len);
            mem_free(variable->bytes);
            variable->bytes = bytes;
        } else if (value->bytes.len) {
            memmove(variable->bytes, value->bytes.ptr, value->bytes.len);
        }
        variable->value           = *value;
        variable->value.bytes.ptr = variable->bytes;
    }
    if (variable->value.type.kind == type.kind) variable->value.type = type;
}

/* --- principals --- */
bool session_user_in(SimSession *session, SimDatabase *database, Str *user_out)
{
    if (database == session->database && session->user.len > 0) {
        *user_out = session->user;
        return true;
    }
    if (session->impersonated && session->impersonated != database) return false;
    return sim_find_user(database, &session->login,
                         session->request_arena ? session->request_arena : session->arena,
                         user_out);
}

bool session_is_owner(const SimSession *session)
{
    return session->login.is_sysadmin || sim_is_owner(session->database, session->user);
}

bool session_can_see(SimSession *session, SimDatabase *database, SimTable *table)
{
    static const SimPermission any[] = {SIM_PERM_SELECT, SIM_PERM_INSERT, SIM_PERM_UPDATE,
                                        SIM_PERM_DELETE, SIM_PERM_CONTROL};
    Str                        user;

    if (session->login.is_sysadmin) return true;
    if (!session_user_in(session, database, &user)) return false;
    if (sim_is_owner(database, user)) return true;
    for (size_t i = 0; i < COUNT_OF(any); i++)
        if (sim_has_permission(database, user, any[i], table, NULL, 0, true)) return true;
    return false;
}

bool session_use_database(SimSession *session, Str name, SimError *error)
{
    SimDatabase *database = sim_server_find_database(session->server, name);
    Str          user;

    if (!database)
        return sim_error(
            error, 911,
            "Database '%.*s' does not exist. Make sure that the name is entered correctly.",
            STR_ARG(name));
    if (database == session->impersonated) {
        session->database = database;
        return true;
    }
    if (session->impersonated || !sim_find_user(database, &session->login, session->arena, &user))
        return sim_error(error, 916,
                         "The server principal \"%.*s\" is not able to access the database "
                         "\"%.*s\" under the current security context.",
                         STR_ARG(session->login.name), STR_ARG(sim_database_name(database)));
    if (!database_lets_in(session, database, error)) return false;
    session->database = database;
    session->user     = user;
    session_publish(session, atomic_load(&session->public.is_running));
    return true;
}

int64_t session_local_us(const SimSession *session, int64_t utc_us)
{
    return sim_zone_local_from_utc(sim_server_zone(session->server), utc_us);
}

/* --- transactions --- */
bool session_reads_secondary(const SimSession *session, const SimDatabase *database)
{
    return session->read_only_intent && sim_database_secondary_lag_ms(database) >= 0;
}

bool session_may_write(const SimSession *session, SimError *error)
{
    if (!session_reads_secondary(session, session->database)) return true;
    return sim_error(error, 3906,
                     "Failed to update database \"%.*s\" because the database is read-only.",
                     STR_ARG(sim_database_name(session->database)));
}

SimTxn *session_txn(SimSession *session, SimDatabase *database)
{
    for (size_t i = 0; i < session->txn_count; i++)
        if (session->txns[i].database == database) return session->txns[i].txn;
    assert(session->txn_count < SESSION_TXNS);
    SessionTxn *entry = &session->txns[session->txn_count++];
    entry->database   = database;
    entry->txn        = sim_txn_begin(database, &session->waiter, session->options.isolation);
    entry->mark       = sim_txn_mark(entry->txn);
    if (session_reads_secondary(session, database)) sim_txn_set_secondary(entry->txn);
    if (session->txn_count > 1) sim_txn_join(entry->txn, session->txns[0].txn);
    if (session->statement_depth > 0) sim_txn_statement_begin(entry->txn);
    return entry->txn;
}

static void send_descriptor(SimSession *session, SimEnvKind kind, uint64_t descriptor)
{
    uint8_t bytes[8];
    Bytes   empty = {NULL, 0}, value = {bytes, sizeof bytes};

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(descriptor >> (8 * i));
    if (!session->sink || !session->sink->env_change) return;
    if (!session->sink->env_change(session->sink, kind, kind == SIM_ENV_BEGIN_TRAN ? value : empty,
                                   kind == SIM_ENV_BEGIN_TRAN ? empty : value))
        session->sink_failed = true;
}

bool session_begin(SimSession *session, Str name)
{
    if (++session->tran_count > 1) return true;
    session->tran_name  = str_copy(session->arena, name);
    session->descriptor = sim_txn_id(session_txn(session, session->database));
    session->doomed     = false;
    send_descriptor(session, SIM_ENV_BEGIN_TRAN, session->descriptor);
    return true;
}

static void forget_transaction(SimSession *session)
{
    session->tran_count        = 0;
    session->txn_count         = 0;
    session->descriptor        = 0;
    session->doomed            = false;
    session->save_points.count = 0;
    session->tran_name         = STR_EMPTY;
}

static bool has_written(const SimSession *session)
{
    for (size_t i = 0; i < session->txn_count; i++)
        if (sim_txn_has_written(session->txns[i].txn)) return true;
    return false;
}

static bool commit_all(SimSession *session, SimError *error)
{
    bool ok = true;

    bool writes = has_written(session);
    if (writes && !control_commit(session, SIM_AT_COMMIT, error)) ok = false;
    if (ok && session->temp_tables.count > 0) forget_dropped_temps(session);
    for (size_t i = 0; i < session->txn_count; i++) {
        if (ok)
            ok = sim_txn_commit(session->txns[i].txn, NULL, error);
        else
            sim_txn_rollback(session->txns[i].txn);
    }
    session->txn_count = 0;
    if (ok && writes) ok = control_commit(session, SIM_AT_COMMITTED, error);
    return ok;
}

bool session_commit(SimSession *session, SimError *error)
{
    uint64_t descriptor = session->descriptor;

    if (session->tran_count == 0)
        return sim_error(error, 3902,
                         "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.");
    if (session->doomed)
        return sim_error(error, 3930,
                         "The current transaction cannot be committed and cannot support "
                         "operations that write to the log file. Roll back the "
                         "transaction.");
    if (session->tran_count > 1) {
        session->tran_count--;
        return true;
    }
    bool ok = commit_all(session, error);
    forget_transaction(session);
    if (session->options.cursor_close_on_commit) session_drop_cursors(session);
    send_descriptor(session, ok ? SIM_ENV_COMMIT_TRAN : SIM_ENV_ROLLBACK_TRAN, descriptor);
    return ok;
}

void session_abandon(SimSession *session)
{
    uint64_t descriptor = session->descriptor;
    bool     was_open   = session->tran_count > 0;

    forget_pending_temps(session, 0);

    for (size_t i = 0; i < session->txn_count; i++)
        sim_txn_rollback(session->txns[i].txn);
    forget_transaction(session);
    if (was_open && session->options.cursor_close_on_commit) session_drop_cursors(session);
    if (was_open) send_descriptor(session, SIM_ENV_ROLLBACK_TRAN, descriptor);
}

static SavePoint *find_save_point(SimSession *session, Str name)
{
    for (size_t i = session->save_points.count; i-- > 0;)
        if (sim_name_equal(session->save_points.items[i].name, name))
            return &session->save_points.items[i];
    return NULL;
}

bool session_rollback(SimSession *session, Str name, SimError *error)
{
    if (session->tran_count == 0)
        return sim_error(
            error, 3903,
            "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.");
    SavePoint *point = str_is_empty(name) ? NULL : find_save_point(session, name);
    if (!point && !str_is_empty(name) && !sim_name_equal(name, session->tran_name))
        return sim_error(error, 6401,
                         "Cannot roll back %.*s. No transaction or savepoint of that name was "
                         "found.",
                         STR_ARG(name));
    if (!point) {
        session_abandon(session);
        return true;
    }
    if (session->doomed)
        return sim_error(error, 3931,
                         "The current transaction cannot be rolled back to a savepoint. Roll back "
                         "the entire transaction.");
    forget_pending_temps(session, point->temp_count);
    for (size_t i = 0; i < session->txn_count; i++) {
        if (i < point->txn_count)
            sim_txn_undo_to(session->txns[i].txn, point->marks[i]);
        else
            sim_txn_undo_to(session->txns[i].txn, 0);
    }
    session->save_points.count = (size_t)(point - session->save_points.items) + 1;
    return true;
}

bool session_save(SimSession *session, Str name, SimError *error)
{
    if (session->tran_count == 0)
        return sim_error(error, 628,
                         "Cannot issue SAVE TRANSACTION when there is no active transaction.");
    SavePoint *point  = LIST_PUSH(session->arena, &session->save_points);
    point->name       = str_copy(session->arena, name);
    point->txn_count  = session->txn_count;
    point->temp_count = session->temp_tables.count;
    for (size_t i = 0; i < session->txn_count; i++)
        point->marks[i] = sim_txn_mark(session->txns[i].txn);
    return true;
}

void session_statement_begin(SimSession *session)
{
    if (session->statement_depth++ > 0) return;
    session->statement_temps = session->temp_tables.count;
    for (size_t i = 0; i < session->txn_count; i++) {
        session->txns[i].mark = sim_txn_mark(session->txns[i].txn);
        sim_txn_set_isolation(session->txns[i].txn, session->options.isolation);
        sim_txn_statement_begin(session->txns[i].txn);
    }
}

bool session_statement_end(SimSession *session, bool ok, SimError *error)
{
    if (--session->statement_depth > 0) return true;
    if (session->variable_txn) { /* table variables are no part of the transaction */
        SimError ignored = SIM_ERROR_INIT;
        sim_txn_statement_end(session->variable_txn);
        if (!ok)
            sim_txn_rollback(session->variable_txn);
        else if (!sim_txn_commit(session->variable_txn, NULL, &ignored))
            ok = false;
        session->variable_txn = NULL;
    }
    if (!ok) forget_pending_temps(session, session->tran_count > 0 ? session->statement_temps : 0);
    for (size_t i = 0; i < session->txn_count; i++) {
        if (!ok && session->tran_count > 0)
            sim_txn_undo_to(session->txns[i].txn, session->txns[i].mark);
        sim_txn_statement_end(session->txns[i].txn);
    }
    if (session->tran_count > 0) return true;
    if (ok) return commit_all(session, error);
    for (size_t i = 0; i < session->txn_count; i++)
        sim_txn_rollback(session->txns[i].txn);
    session->txn_count = 0;
    return true;
}
