/* database.c - CDC of a database: its parts, switching it on and off (sqlserver.md 2.15). */
#include "sim/capture/cdc_internal.h"

/* --- sessions of the server's own --- */

void system_session_open(SystemSession *session, SimServer *server)
{
    session->waiter = (SimWaiter){.session_id      = -1,
                                  .lock_timeout_ms = SYSTEM_LOCK_MS,
                                  .wake            = queue_new(server->options.sched, 1)};
}

void system_session_close(SystemSession *session)
{
    queue_free(session->waiter.wake);
}

SimTxn *system_txn_begin(SystemSession *session, SimDatabase *database)
{
    SimTxn *txn     = sim_txn_begin(database, &session->waiter, SIM_READ_COMMITTED);
    txn->is_capture = true;
    return txn;
}

/* --- the parts --- */

SimCdc *cdc_new(SimDatabase *database)
{
    SimCdc *cdc = mem_alloc(sizeof *cdc);

    cdc->database = database;
    cdc->arena    = arena_new();
    cdc->mode     = database->server->options.capture_interval_ms < 0 ? SIM_CAPTURE_MANUAL
                                                                      : SIM_CAPTURE_AUTO;
    cdc->jobs = cdc->running = jobs_default(database->server);
    cdc->idle_entry_ms       = database->server->options.idle_entry_ms;
    int failed               = pthread_mutex_init(&cdc->mutex, NULL);
    assert(failed == 0);
    return cdc;
}

void cdc_close(SimCdc *cdc)
{
    if (cdc == NULL) return;
    job_stop(cdc);
    for (Instance *instance = cdc->instances, *next; instance != NULL; instance = next) {
        next = instance->next;
        arena_close(instance->arena);
    }
    (void)pthread_mutex_destroy(&cdc->mutex);
    arena_close(cdc->arena);
    mem_free(cdc);
}

bool cdc_is_on(const SimCdc *cdc, const SimTxn *txn)
{
    return cdc->is_enabled || (txn != NULL && cdc->enabling == txn);
}

bool sim_cdc_is_enabled(const SimDatabase *database)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool is_enabled = cdc->is_enabled;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return is_enabled;
}

bool sim_cdc_is_enabling(const SimDatabase *database, const SimTxn *txn)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool is_enabling = cdc->enabling == txn;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return is_enabling;
}

void cdc_record_free(LogRecord *record)
{
    row_release(record->before);
    row_release(record->after);
    mem_free(record->ddl);
}

void sim_cdc_set_cleanup_hook(SimDatabase *database, SimCleanupHook hook, void *arg)
{
    (void)pthread_mutex_lock(&database->cdc->mutex);
    database->cdc->hook     = hook;
    database->cdc->hook_arg = arg;
    (void)pthread_mutex_unlock(&database->cdc->mutex);
}

/* --- on and off --- */

typedef struct SwitchEvent {
    TxnEvent  base;
    SimCdc   *cdc;
    SimTable *mapping;
    bool      turns_on;
} SwitchEvent;

static void switch_commit(TxnEvent *event, SimTxn *txn, Lsn lsn)
{
    const SwitchEvent *change = (const SwitchEvent *)event;
    SimCdc            *cdc    = change->cdc;

    (void)lsn;
    (void)pthread_mutex_lock(&cdc->mutex);
    cdc->is_enabled  = change->turns_on;
    cdc->enabling    = NULL;
    cdc->mapping     = change->turns_on ? change->mapping : NULL;
    cdc->has_max_lsn = false;
    cdc->jobs = cdc->running = jobs_default(cdc->database->server);
    cdc->jobs_were_made = cdc->is_stopped = cdc->cleanup_is_wanted = false;
    (void)pthread_mutex_unlock(&cdc->mutex);
    txn->database->log.is_kept = change->turns_on;
}

static void switch_rollback(TxnEvent *event, SimTxn *txn)
{
    const SwitchEvent *change  = (const SwitchEvent *)event;
    SimError           ignored = SIM_ERROR_INIT;

    (void)pthread_mutex_lock(&change->cdc->mutex);
    if (change->turns_on) {
        change->cdc->enabling = NULL;
        change->cdc->mapping  = NULL;
    }
    (void)pthread_mutex_unlock(&change->cdc->mutex);
    bool restored = change->turns_on
                        ? sim_drop_principal(txn->database, STR("cdc"), &ignored)
                        : sim_create_user(txn->database, STR("cdc"), STR_EMPTY, &ignored);
    (void)restored;
}

static void switch_done(TxnEvent *event)
{
    SwitchEvent *change = (SwitchEvent *)event;
    bool         is_on  = change->turns_on != event->is_rolled_back;
    SimLog      *log    = &change->cdc->database->log;

    if (is_on && !event->is_rolled_back) job_start(change->cdc);
    if (!is_on && !event->is_rolled_back) {
        job_stop(change->cdc);
        (void)pthread_mutex_lock(&log->mutex);
        log_clear(log);
        (void)pthread_mutex_unlock(&log->mutex);
    }
    mem_free(change);
}

static void push_switch(SimTxn *txn, SimTable *mapping, bool turns_on)
{
    SwitchEvent *event = mem_alloc(sizeof *event);

    *event = (SwitchEvent){
        .base     = {.commit = switch_commit, .rollback = switch_rollback, .done = switch_done},
        .cdc      = txn->database->cdc,
        .mapping  = mapping,
        .turns_on = turns_on};
    txn_push_event(txn, &event->base);
}

static bool check_enable(const SimDatabase *database, SimError *error)
{
    if (database->is_system)
        return sim_error(
            error, 22989,
            "Could not enable Change Data Capture for database '%.*s'. Change data capture is not "
            "supported on system databases, or on a distribution database.",
            STR_ARG(database->name));
    return true;
}

bool sim_cdc_enable_database(SimTxn *txn, SimError *error)
{
    SimDatabase *database = txn->database;
    SimCdc      *cdc      = database->cdc;
    SimTable    *mapping  = NULL;

    if (!check_enable(database, error)) return false;
    if (!lock_take(txn, &cdc->ddl_lock, LOCK_X, error)) return false;
    if (cdc_is_on(cdc, txn))
        return sim_error(error, 22905,
                         "Database '%.*s' is already enabled for Change Data Capture. Ensure that "
                         "the correct database context is set, and retry the operation.",
                         STR_ARG(database->name));
    if (sim_database_has_schema(database, STR("cdc")) ||
        security_has_principal(database, STR("cdc")))
        return sim_error(error, 22906,
                         "The database '%.*s' cannot be enabled for Change Data Capture because a "
                         "database user named 'cdc' or a schema named 'cdc' already exists in the "
                         "current database. These objects are required exclusively by Change Data "
                         "Capture. Drop or rename the user or schema and retry the operation.",
                         STR_ARG(database->name));
    if (!sim_create_schema(txn, STR("cdc"), error)) return false;
    if (!mapping_create(txn, &mapping, error)) return false;
    if (!sim_create_user(database, STR("cdc"), STR_EMPTY, error)) return false;
    (void)pthread_mutex_lock(&cdc->mutex);
    cdc->enabling = txn;
    cdc->mapping  = mapping;
    (void)pthread_mutex_unlock(&cdc->mutex);
    push_switch(txn, mapping, true);
    return sim_grant(database, STR("public"), SIM_PERM_SELECT, mapping->object_id, STR("cdc"),
                     STR_EMPTY, true, false, error);
}

bool sim_cdc_disable_database(SimTxn *txn, SimError *error)
{
    SimDatabase *database = txn->database;
    SimCdc      *cdc      = database->cdc;

    if (!lock_take(txn, &cdc->ddl_lock, LOCK_X, error)) return false;
    if (!lock_take(txn, &cdc->scan_lock, LOCK_X, error)) return false;
    if (!cdc_is_on(cdc, txn))
        return true; /* nothing to switch off is no error on the server either */
    SimTable *mapping = cdc->mapping;
    for (Instance *instance = cdc->instances; instance != NULL; instance = instance->next) {
        if (instance->is_over) continue;
        if (!lock_take(txn, &instance->source->lock, LOCK_SCH_M, error)) return false;
        if (!instance_remove(txn, instance, error)) return false;
    }
    if (!sim_drop_table(txn, mapping, error)) return false;
    if (!sim_drop_schema(txn, STR("cdc"), error)) return false;
    push_switch(txn, mapping, false);
    return sim_drop_principal(database, STR("cdc"), error);
}
