/* options.c - what ALTER DATABASE sets: who may read versions, who may come in
 * (sqlserver.md 2.10, 2.12). */
#include "sim/model/model_internal.h"

#define LOOK_AGAIN_MS 5

SimSnapshotState sim_database_snapshot_state(const SimDatabase *database)
{
    return (SimSnapshotState)atomic_load(&database->snapshot_state);
}

bool sim_database_reads_versions(const SimDatabase *database)
{
    return atomic_load_explicit(&database->reads_versions, memory_order_relaxed);
}

void sim_database_set_reads_versions(SimDatabase *database, bool on)
{
    atomic_store(&database->reads_versions, on);
}

int32_t sim_database_single_user(const SimDatabase *database)
{
    return atomic_load(&database->single_user);
}

void sim_database_set_single_user(SimDatabase *database, int32_t session_id)
{
    atomic_store(&database->single_user, session_id);
}

/* Open transactions of other sessions up to a number. */
static bool has_open(SimDatabase *database, const SimWaiter *waiter, uint64_t last_id,
                     bool snapshot_only, int32_t *session_out)
{
    bool found = false;

    (void)pthread_mutex_lock(&database->open_mutex);
    for (const SimTxn *txn = database->open_txns; txn != NULL && !found; txn = txn->next_open) {
        if (txn->waiter == waiter || txn->id > last_id) continue;
        found = !snapshot_only || txn->isolation == SIM_SNAPSHOT;
        if (found) *session_out = txn->waiter->session_id;
    }
    (void)pthread_mutex_unlock(&database->open_mutex);
    return found;
}

bool sim_database_is_busy(SimDatabase *database, const SimWaiter *waiter)
{
    int32_t session_id;
    return has_open(database, waiter, UINT64_MAX, false, &session_id);
}

/* Looks again and again rather than being told: the ends of transactions need not know of it. */
static bool await_open(SimDatabase *database, SimWaiter *waiter, bool on, SimError *error)
{
    uint64_t last_id = atomic_load(&database->server->next_txn_id);
    Clock   *clock   = sim_server_clock(database->server);
    int32_t  blocker = 0;
    bool     ok      = true;

    atomic_store(&waiter->wait_start_ns, clock_monotonic_ns(clock));
    while (ok && has_open(database, waiter, last_id, !on, &blocker)) {
        atomic_store(&waiter->blocking_session_id, blocker);
        atomic_store(&waiter->wait_type, on ? "ENABLE_VERSIONING" : "DISABLE_VERSIONING");
        ok = waiter_check(waiter, error);
        if (ok) (void)sim_waiter_wait(waiter, LOOK_AGAIN_MS);
    }
    atomic_store(&waiter->wait_type, NULL);
    atomic_store(&waiter->blocking_session_id, 0);
    return ok;
}

bool sim_database_allow_snapshot(SimDatabase *database, SimWaiter *waiter, bool on, SimError *error)
{
    int before = on ? SIM_SNAPSHOT_OFF : SIM_SNAPSHOT_ON;
    int turns  = on ? SIM_SNAPSHOT_TURNS_ON : SIM_SNAPSHOT_TURNS_OFF;
    int after  = on ? SIM_SNAPSHOT_ON : SIM_SNAPSHOT_OFF;
    int found  = before;

    if (!atomic_compare_exchange_strong(&database->snapshot_state, &found, turns)) {
        if (found == after) return true;
        return sim_error(error, 5070,
                         "Database state cannot be changed while other users are using the "
                         "database '%.*s'",
                         STR_ARG(database->name));
    }
    bool ok = await_open(database, waiter, on, error);
    atomic_store(&database->snapshot_state, ok ? after : before);
    return ok;
}
