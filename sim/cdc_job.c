/* cdc_job.c - the capture job of a database and, once a day, its cleanup (sqlserver.md 2.16). */
#include "sim/cdc_internal.h"

#define NS_PER_MS         INT64_C(1000000)
#define CLEANUP_HOUR      2
#define CLEANUP_THRESHOLD 5000
#define DAY_US            (INT64_C(86400) * 1000000)
#define HOUR_US           (INT64_C(3600) * 1000000)

static SimCaptureMode job_mode(SimCdc *cdc)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    SimCaptureMode mode = cdc->mode;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return mode;
}

static int64_t interval_ms(const SimCdc *cdc)
{
    int64_t interval = cdc->database->server->options.capture_interval_ms;
    return interval > 0 ? interval : 5000; /* manual at the start, switched to auto later */
}

static void scan(SimCdc *cdc)
{
    Clock     *clock    = sim_server_clock(cdc->database->server);
    SimError   error    = SIM_ERROR_INIT;
    ScanCounts counts   = {.is_at_end = false};
    bool       captured = false;
    bool       ok       = true;

    for (int cycle = 0; ok && cycle < SCAN_CYCLES && !counts.is_at_end; cycle++) {
        ok = scan_cycle(cdc, SCAN_TRANSACTIONS, &counts, &error);
        captured |= ok && counts.transactions > 0;
    }
    int64_t now_ns = clock_monotonic_ns(clock);
    if (captured) cdc->quiet_since_ns = now_ns;
    if (!ok || !counts.is_at_end ||
        now_ns - cdc->quiet_since_ns < cdc->database->server->options.idle_entry_ms * NS_PER_MS)
        return;
    bool added = false;
    if (idle_entry(cdc, &added, &error) && added) cdc->quiet_since_ns = now_ns;
}

/* The next 02:00 by the local clock. */
static int64_t next_cleanup_us(int64_t local_us)
{
    int64_t today = local_us / DAY_US * DAY_US + CLEANUP_HOUR * HOUR_US;
    return today > local_us ? today : today + DAY_US;
}

static void run_job(void *arg)
{
    SimCdc    *cdc        = arg;
    SimServer *server     = cdc->database->server;
    int64_t    cleanup_us = next_cleanup_us(sim_server_local_us(server));
    SimError   error      = SIM_ERROR_INIT;

    cdc->quiet_since_ns = clock_monotonic_ns(sim_server_clock(server));
    while (!atomic_load(&cdc->is_stopping)) {
        void *poke;
        bool  is_auto = job_mode(cdc) == SIM_CAPTURE_AUTO;
        (void)queue_pop(cdc->control, is_auto ? interval_ms(cdc) : -1, &poke);
        if (atomic_load(&cdc->is_stopping)) break;
        if (job_mode(cdc) != SIM_CAPTURE_AUTO) continue;
        scan(cdc);
        int64_t now_us = sim_server_local_us(server);
        if (now_us < cleanup_us) continue;
        cleanup_us   = next_cleanup_us(now_us);
        bool cleaned = sim_cdc_cleanup(cdc->database, STR_EMPTY, LSN_ZERO, CLEANUP_THRESHOLD,
                                       &error);
        (void)cleaned; /* tried again tomorrow */
    }
}

/* Starting and stopping take turns; the mutex is not held while they wait. */
static bool change_state(SimCdc *cdc, JobState from, JobState to)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    bool may = cdc->job_state == from && (to != JOB_STARTS || cdc->mode == SIM_CAPTURE_AUTO);
    if (may) cdc->job_state = to;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return may;
}

void job_start(SimCdc *cdc)
{
    Sched *sched = sim_server_sched(cdc->database->server);

    if (!change_state(cdc, JOB_NONE, JOB_STARTS)) return;
    atomic_store(&cdc->is_stopping, false);
    cdc->control = queue_new(sched, 16);
    cdc->task    = sched_spawn(sched, "cdc capture", run_job, cdc);
    (void)change_state(cdc, JOB_STARTS, JOB_RUNS);
}

void job_stop(SimCdc *cdc)
{
    if (!change_state(cdc, JOB_RUNS, JOB_STOPS)) return;
    atomic_store(&cdc->is_stopping, true);
    queue_close(cdc->control);
    sched_join(sim_server_sched(cdc->database->server), cdc->task);
    queue_free(cdc->control);
    cdc->task    = NULL;
    cdc->control = NULL;
    (void)change_state(cdc, JOB_STOPS, JOB_NONE);
}

bool sim_cdc_set_mode(SimDatabase *database, SimCaptureMode mode)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    cdc->mode       = mode;
    bool is_enabled = cdc->is_enabled;
    (void)pthread_mutex_unlock(&cdc->mutex);
    if (mode != SIM_CAPTURE_AUTO)
        job_stop(cdc);
    else if (is_enabled)
        job_start(cdc);
    return is_enabled;
}
