/* job.c - the capture job of a database and, once a day, its cleanup (sqlserver.md 2.16). */
#include "sim/capture/cdc_internal.h"

#include "sim/model/virtual_clock.h"

#define NS_PER_MS    INT64_C(1000000)
#define CLEANUP_HOUR 2
#define SLICE_MS     1000 /* how long it takes to notice that somebody starts or stops it */
#define DAY_US       (INT64_C(86400) * 1000000)
#define HOUR_US      (INT64_C(3600) * 1000000)

/* --- what the jobs are told --- */

SimCdcJobs jobs_default(const SimServer *server)
{
    int64_t interval_ms = server->options.capture_interval_ms;

    return (SimCdcJobs){.maxtrans          = (int32_t)sim_server_knob(server, SIM_KNOB_MAXTRANS),
                        .maxscans          = SCAN_CYCLES,
                        .is_continuous     = true,
                        .polling_ms        = interval_ms > 0 ? interval_ms : POLLING_MS,
                        .retention_minutes = server->options.retention_minutes,
                        .threshold         = CLEANUP_THRESHOLD};
}

void jobs_make(SimCdc *cdc)
{
    if (cdc->jobs_were_made) return;
    cdc->jobs_were_made    = true;
    cdc->jobs.has_capture  = true;
    cdc->jobs.has_cleanup  = true;
    cdc->running           = cdc->jobs;
    cdc->is_stopped        = false;
    cdc->cleanup_is_wanted = false;
}

SimCdcJobs sim_cdc_jobs(SimDatabase *database)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    SimCdcJobs jobs = cdc->jobs;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return jobs;
}

bool sim_cdc_has_made_jobs(SimDatabase *database)
{
    (void)pthread_mutex_lock(&database->cdc->mutex);
    bool made = database->cdc->jobs_were_made;
    (void)pthread_mutex_unlock(&database->cdc->mutex);
    return made;
}

void sim_cdc_set_jobs(SimDatabase *database, const SimCdcJobs *jobs)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool is_new         = jobs->has_capture && !cdc->jobs.has_capture;
    cdc->jobs           = *jobs;
    cdc->jobs_were_made = true;
    if (is_new) {
        cdc->running    = *jobs;
        cdc->is_stopped = true; /* until somebody starts it */
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
}

/* --- who runs --- */

/* With the mutex held. Before the first instance there is no job and nothing to capture, and a scan
 * does no harm. */
static bool capture_runs(const SimCdc *cdc)
{
    return cdc->mode == SIM_CAPTURE_AUTO && !cdc->is_stopped &&
           (cdc->jobs.has_capture || !cdc->jobs_were_made);
}

bool sim_cdc_capture_is_running(SimDatabase *database)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool runs = cdc->is_enabled && cdc->jobs.has_capture && capture_runs(cdc);
    (void)pthread_mutex_unlock(&cdc->mutex);
    return runs;
}

bool sim_cdc_start_capture(SimDatabase *database)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool may = cdc->jobs.has_capture && !capture_runs(cdc);
    if (may) {
        cdc->running    = cdc->jobs;
        cdc->is_stopped = false;
        atomic_store(&cdc->has_failed, false);
    }
    (void)pthread_mutex_unlock(&cdc->mutex);
    return may && sim_cdc_set_mode(database, SIM_CAPTURE_AUTO);
}

bool sim_cdc_stop_capture(SimDatabase *database)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool may = cdc->jobs.has_capture && capture_runs(cdc);
    if (may) cdc->is_stopped = true;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return may;
}

bool sim_cdc_start_cleanup(SimDatabase *database, SimError *error)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool is_left_to_job    = cdc->job_state == JOB_RUNS;
    cdc->cleanup_is_wanted = is_left_to_job;
    int64_t threshold      = cdc->jobs.threshold;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return is_left_to_job || sim_cdc_cleanup(database, STR_EMPTY, LSN_ZERO, threshold, error);
}

bool sim_cdc_reserve_scan(SimDatabase *database, int32_t session_id, int32_t *other_out)
{
    SimCdc *cdc = database->cdc;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool is_free = cdc->scanner == 0;
    if (is_free)
        cdc->scanner = session_id;
    else
        *other_out = cdc->scanner;
    (void)pthread_mutex_unlock(&cdc->mutex);
    return is_free;
}

void sim_cdc_release_scan(SimDatabase *database)
{
    (void)pthread_mutex_lock(&database->cdc->mutex);
    database->cdc->scanner = 0;
    (void)pthread_mutex_unlock(&database->cdc->mutex);
}

void sim_cdc_set_idle_interval(SimDatabase *database, int64_t ms)
{
    (void)pthread_mutex_lock(&database->cdc->mutex);
    database->cdc->idle_entry_ms = ms;
    (void)pthread_mutex_unlock(&database->cdc->mutex);
}

/* --- a run --- */

static void add_idle_entry_when_quiet(SimCdc *cdc, bool captured)
{
    int64_t  now_ns = clock_monotonic_ns(sim_server_clock(cdc->database->server));
    SimError error  = SIM_ERROR_INIT;
    bool     added  = false;

    (void)pthread_mutex_lock(&cdc->mutex);
    int64_t idle_ns = cdc->idle_entry_ms * NS_PER_MS;
    (void)pthread_mutex_unlock(&cdc->mutex);
    if (captured) cdc->quiet_since_ns = now_ns;
    if (now_ns - cdc->quiet_since_ns < idle_ns) return;
    if (idle_entry(cdc, &added, &error) && added) cdc->quiet_since_ns = now_ns;
}

static void scan(SimCdc *cdc)
{
    SimError   error = SIM_ERROR_INIT;
    ScanCounts total;

    (void)pthread_mutex_lock(&cdc->mutex);
    ScanLimits limits  = {.transactions = (size_t)cdc->running.maxtrans,
                          .cycles       = cdc->running.maxscans};
    bool       is_once = !cdc->running.is_continuous;
    (void)pthread_mutex_unlock(&cdc->mutex);
    bool ok = scan_session(cdc, &limits, &total, &error);
    if (ok && total.is_at_end) add_idle_entry_when_quiet(cdc, total.transactions > 0);
    if (!is_once) return;
    (void)pthread_mutex_lock(&cdc->mutex);
    cdc->is_stopped = true;
    (void)pthread_mutex_unlock(&cdc->mutex);
}

/* The next 02:00 by the local clock. */
static int64_t next_cleanup_us(int64_t local_us)
{
    int64_t today = local_us / DAY_US * DAY_US + CLEANUP_HOUR * HOUR_US;
    return today > local_us ? today : today + DAY_US;
}

/* Once a day, or when somebody starts it. */
static void clean_when_due(SimCdc *cdc, int64_t *due_us)
{
    int64_t  now_us = sim_server_local_us(cdc->database->server);
    SimError error  = SIM_ERROR_INIT;

    (void)pthread_mutex_lock(&cdc->mutex);
    bool wanted            = cdc->cleanup_is_wanted;
    bool has_job           = cdc->jobs.has_cleanup;
    cdc->cleanup_is_wanted = false;
    (void)pthread_mutex_unlock(&cdc->mutex);
    if (now_us < *due_us && !wanted) return;
    if (now_us >= *due_us) *due_us = next_cleanup_us(now_us);
    if (!has_job) return;
    bool cleaned = sim_cdc_cleanup(cdc->database, STR_EMPTY, LSN_ZERO,
                                   sim_cdc_jobs(cdc->database).threshold, &error);
    (void)cleaned; /* tried again tomorrow */
}

/* Whether it runs, how long it waits between scans, and whether it was started anew: then it scans
 * at once. */
static bool look_at_job(SimCdc *cdc, bool *was_running, int64_t *since_ns, int64_t now_ns)
{
    (void)pthread_mutex_lock(&cdc->mutex);
    bool runs   = capture_runs(cdc);
    bool is_due = runs &&
                  (!*was_running || now_ns - *since_ns >= cdc->running.polling_ms * NS_PER_MS);
    (void)pthread_mutex_unlock(&cdc->mutex);
    *was_running = runs;
    if (is_due || !runs) *since_ns = now_ns;
    return is_due;
}

static void poke(void *arg)
{
    SimCdc *cdc = arg;
    (void)queue_push(cdc->control, cdc);
}

/* Until the next scan is due by the server's clock, or a while of real time has passed. */
static void wait_a_while(SimCdc *cdc, int64_t since_ns)
{
    Clock *clock = sim_server_clock(cdc->database->server);
    Alarm  alarm = {.ring = poke, .arg = cdc};
    void  *poked;

    (void)pthread_mutex_lock(&cdc->mutex);
    int64_t wait_ms = capture_runs(cdc) ? cdc->running.polling_ms : SLICE_MS;
    (void)pthread_mutex_unlock(&cdc->mutex);
    alarm.due_ns = since_ns + wait_ms * NS_PER_MS;
    alarm_set(clock, &alarm);
    int64_t left_ns = alarm.due_ns - clock_monotonic_ns(clock);
    int64_t left_ms = virtual_clock_is_stopped(clock) ? SLICE_MS
                                                      : (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    if (left_ns > 0) (void)queue_pop(cdc->control, MIN(left_ms, SLICE_MS), &poked);
    alarm_clear(clock, &alarm);
}

static void run_job(void *arg)
{
    SimCdc    *cdc         = arg;
    SimServer *server      = cdc->database->server;
    int64_t    cleanup_us  = next_cleanup_us(sim_server_local_us(server));
    Clock     *clock       = sim_server_clock(server);
    int64_t    since_ns    = clock_monotonic_ns(clock);
    bool       was_running = true;

    cdc->quiet_since_ns = since_ns;
    while (!atomic_load(&cdc->is_stopping)) {
        wait_a_while(cdc, since_ns);
        if (atomic_load(&cdc->is_stopping)) break;
        if (look_at_job(cdc, &was_running, &since_ns, clock_monotonic_ns(clock))) scan(cdc);
        clean_when_due(cdc, &cleanup_us);
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
    if (mode == SIM_CAPTURE_AUTO && cdc->mode != mode) { /* a start */
        cdc->running    = cdc->jobs;
        cdc->is_stopped = false;
    }
    if (atomic_exchange(&cdc->has_failed, false)) cdc->is_stopped = false;
    cdc->mode       = mode;
    bool is_enabled = cdc->is_enabled;
    (void)pthread_mutex_unlock(&cdc->mutex);
    if (mode != SIM_CAPTURE_AUTO)
        job_stop(cdc);
    else if (is_enabled)
        job_start(cdc);
    return is_enabled;
}
