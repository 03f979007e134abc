/* control.c - what tests do to capture: make it fail, and wait for it (sqlserver.md 2.17). */
#include "sim/capture/cdc_internal.h"

/* --- failing --- */

void sim_server_set_scan_hook(SimServer *server, SimScanHook hook, void *arg)
{
    server->scan_hook     = hook;
    server->scan_hook_arg = arg;
}

void sim_cdc_fail(SimDatabase *database, const SimError *error)
{
    scan_note_error(database->cdc, error);
    (void)pthread_mutex_lock(&database->cdc->mutex);
    database->cdc->is_stopped = true;
    (void)pthread_mutex_unlock(&database->cdc->mutex);
    atomic_store(&database->cdc->has_failed, true);
}

bool cdc_may_scan(SimCdc *cdc, SimError *error)
{
    SimServer *server = cdc->database->server;

    if (!atomic_load(&cdc->has_failed) && server->scan_hook &&
        !server->scan_hook(server->scan_hook_arg, cdc->database, error)) {
        scan_note_error(cdc, error);
        return false;
    }
    return !atomic_load(&cdc->has_failed) ||
           sim_error(error, 22859,
                     "Log Scan process failed in processing log records. Refer to previous errors "
                     "in the current session to identify the cause and correct any associated "
                     "problems.");
}

/* --- waiting --- */

void cdc_captured(SimCdc *cdc)
{
    Wakes wakes = {NULL, NULL};

    (void)pthread_mutex_lock(&cdc->mutex);
    for (CaptureWait *wait = cdc->waits; wait != NULL; wait = wait->next)
        wakes_add(&wakes, wait->waiter);
    (void)pthread_mutex_unlock(&cdc->mutex);
    wakes_send(&wakes);
}

void sim_cdc_wait_begin(SimDatabase *database, CaptureWait *wait)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    wait->next = cdc->waits;
    cdc->waits = wait;
    (void)pthread_mutex_unlock(&cdc->mutex);
}

void sim_cdc_wait_end(SimDatabase *database, CaptureWait *wait)
{
    SimCdc       *cdc = database->cdc;
    CaptureWait **at  = &cdc->waits;

    (void)pthread_mutex_lock(&cdc->mutex);
    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    (void)pthread_mutex_unlock(&cdc->mutex);
    await_promised_wake(wait->waiter);
}
