/* cdc_job.c - the procedures about the capture and the cleanup job, and sp_cdc_scan (sqlserver.md 2.15). */
#include "sim/session/session_internal.h"

#define POLLING_SECONDS_MAX   86400
#define RETENTION_MINUTES_MAX 52594800
#define JOB_SESSION           40 /* of the job that captures, where a message names it */

typedef enum JobType { JOB_CAPTURE, JOB_CLEANUP } JobType;

/* Values given to a procedure; what is not given keeps the value it has. */
typedef struct JobValues {
    int64_t maxtrans, maxscans, continuous, polling, retention, threshold;
} JobValues;

static bool is_given(const ProcCall *call, size_t index)
{
    const SimValue *value = proc_arg(call, index);
    return value && !value->is_null;
}

static const char *job_name(JobType type)
{
    return type == JOB_CAPTURE ? "capture" : "cleanup";
}

static bool job_type(ProcCall *call, JobType *out)
{
    Str text;

    *out = JOB_CAPTURE;
    if (!proc_arg(call, 0)) return true;
    (void)proc_text(call, 0, &text);
    if (sim_name_equal(text, STR("capture"))) return true;
    *out = JOB_CLEANUP;
    if (sim_name_equal(text, STR("cleanup"))) return true;
    return sim_error(call->error, 22992,
                     "The specified @job_type, %.*s, is not supported. The value specified for the "
                     "parameter @job_type must be N'capture' to indicate a capture job, or "
                     "N'cleanup' to indicate a cleanup job.",
                     STR_ARG(text));
}

static bool has_job(const SimCdcJobs *jobs, JobType type)
{
    return type == JOB_CAPTURE ? jobs->has_capture : jobs->has_cleanup;
}

static bool need_job(ProcCall *call, JobType *type_out, SimCdcJobs *jobs_out)
{
    if (!cdc_need_enabled(call) || !cdc_need_owner(call) || !job_type(call, type_out)) return false;
    *jobs_out = sim_cdc_jobs(call->session->database);
    return has_job(jobs_out, *type_out) ||
           sim_error(
               call->error, 22997,
               "The Change Data Capture '%s' job does not exist in the system table "
               "'msdb.dbo.cdc_jobs'. Use the stored procedure 'sys.sp_cdc_add_job' to add the "
               "Change Data Capture job.",
               job_name(*type_out));
}

/* --- values --- */
static bool check_capture(ProcCall *call, const JobValues *values)
{
    if (values->polling < 0 || values->polling > POLLING_SECONDS_MAX)
        return sim_error(call->error, 22990,
                         "The value specified for the parameter @pollinginterval cannot exceed 24 "
                         "hours or be less than 0. Specify a polling interval (in seconds) that is "
                         "less than or equal to 24 hours (86,400 seconds).");
    if (values->maxtrans <= 0)
        return sim_error(call->error, 22991,
                         "The value specified for the parameter @maxtrans must be greater than 0.");
    if (values->maxscans <= 0)
        return sim_error(call->error, 22970,
                         "The value for parameter @maxscans specified for the Change Data Capture "
                         "job must be greater than 0.");
    return values->continuous == 0 || values->continuous == 1 ||
           sim_error(call->error, 22998,
                     "The value specified for the parameter @continuous must be 0 or 1.");
}

static bool check_cleanup(ProcCall *call, const JobValues *values)
{
    if (values->retention <= 0 || values->retention > RETENTION_MINUTES_MAX)
        return sim_error(
            call->error, 22994,
            "The retention value specified for the Change Data Capture cleanup process must be "
            "greater than 0 and less than or equal to 52594800. When creating or modifying the "
            "cleanup job, specify a retention value (in minutes) that is within that range. If "
            "this error is encountered when executing the sys.sp_cdc_cleanup_change_table stored "
            "procedure, reset the retention value associated with the job to a non-negative value "
            "less than 52594800 by using the sp_cdc_change_job stored procedure.");
    return values->threshold > 0 ||
           sim_error(
               call->error, 22850,
               "The threshold value specified for the Change Data Capture cleanup process must be "
               "greater than 0. When creating or modifying the cleanup job, specify a positive "
               "threshold value. If this error is encountered when executing the "
               "sys.sp_cdc_cleanup_change_table stored procedure, reset the threshold value "
               "associated with the job to a non-negative value by using the sp_cdc_change_job "
               "stored procedure.");
}

static bool read_values(ProcCall *call, size_t first, JobValues *values)
{
    return proc_i64(call, first, &values->maxtrans) &&
           proc_i64(call, first + 1, &values->maxscans) &&
           proc_i64(call, first + 2, &values->continuous) &&
           proc_i64(call, first + 3, &values->polling) &&
           proc_i64(call, first + 4, &values->retention) &&
           proc_i64(call, first + 5, &values->threshold);
}

static bool check_values(ProcCall *call, JobType type, size_t first, const JobValues *values)
{
    if (type == JOB_CAPTURE) {
        if (is_given(call, first + 4))
            return sim_error(call->error, 22995,
                             "A value for the parameter @retention cannot be specified when the "
                             "job type is 'capture'. Specify NULL for the parameter, or omit the "
                             "parameter from the statement.");
        return check_capture(call, values);
    }
    for (size_t i = first; i < first + 4; i++)
        if (is_given(call, i))
            return sim_error(call->error, 22996,
                             "When adding or modifying the CDC cleanup job, @pollinginterval, "
                             "@maxtrans, @maxscans, and @continuous may not be assigned non-null "
                             "values.");
    return check_cleanup(call, values);
}

static void store_values(SimCdcJobs *jobs, JobType type, const JobValues *values,
                         bool polling_is_given)
{
    if (type == JOB_CLEANUP) {
        jobs->retention_minutes = values->retention;
        jobs->threshold         = values->threshold;
        return;
    }
    jobs->maxtrans      = (int32_t)MIN(values->maxtrans, INT32_MAX);
    jobs->maxscans      = (int32_t)MIN(values->maxscans, INT32_MAX);
    jobs->is_continuous = values->continuous == 1;
    if (polling_is_given) jobs->polling_ms = values->polling * 1000;
    if (!jobs->is_continuous) jobs->polling_ms = 0;
}

static JobValues values_of(const SimCdcJobs *jobs)
{
    return (JobValues){.maxtrans   = jobs->maxtrans,
                       .maxscans   = jobs->maxscans,
                       .continuous = jobs->is_continuous,
                       .polling    = jobs->polling_ms / 1000,
                       .retention  = jobs->retention_minutes,
                       .threshold  = jobs->threshold};
}

/* --- the procedures --- */
static bool sp_cdc_help_jobs(ProcCall *call)
{
    static const ResultSpec specs[]  = {{"job_id", "uniqueidentifier"},
                                        {"job_type", "nvarchar(20)"},
                                        {"job_name", "sysname"},
                                        {"maxtrans", "int"},
                                        {"maxscans", "int"},
                                        {"continuous", "bit"},
                                        {"pollinginterval", "bigint"},
                                        {"retention", "bigint"},
                                        {"threshold", "bigint"}};
    SimDatabase            *database = call->session->database;
    Str                     name     = sim_database_name(database);
    int64_t                 rows     = 0;

    if (!cdc_need_enabled(call) || !cdc_need_owner(call)) return false;
    SimCdcJobs jobs = sim_cdc_jobs(database);
    if (!proc_columns(call, specs, COUNT_OF(specs))) return false;
    for (int job = JOB_CAPTURE; job <= JOB_CLEANUP; job++) {
        Arena *arena      = call->arena;
        bool   is_cleanup = job == JOB_CLEANUP;
        if (!has_job(&jobs, (JobType)job)) continue;
        SimValue row[] = {value_text(arena, str_printf(arena, "00000000-0000-4000-9000-%011X%d",
                                                       (unsigned)sim_database_id(database), job)),
                          value_text(arena, str_from_c(job_name((JobType)job))),
                          value_text(arena, str_printf(arena, "cdc.%.*s_%s", STR_ARG(name),
                                                       job_name((JobType)job))),
                          value_int(is_cleanup ? 0 : jobs.maxtrans),
                          value_int(is_cleanup ? 0 : jobs.maxscans),
                          value_bit(!is_cleanup && jobs.is_continuous),
                          value_bigint(is_cleanup ? 0 : jobs.polling_ms / 1000),
                          value_bigint(is_cleanup ? jobs.retention_minutes : 0),
                          value_bigint(is_cleanup ? jobs.threshold : 0)};
        if (!proc_row(call, row, COUNT_OF(row))) return false;
        rows++;
    }
    return proc_done(call, rows);
}

static bool sp_cdc_change_job(ProcCall *call)
{
    SimCdcJobs jobs;
    JobType    type;

    if (!need_job(call, &type, &jobs)) return false;
    JobValues values = values_of(&jobs);
    if (!read_values(call, 1, &values) || !check_values(call, type, 1, &values)) return false;
    store_values(&jobs, type, &values, is_given(call, 4));
    sim_cdc_set_jobs(call->session->database, &jobs);
    return true;
}

static void say_started(ProcCall *call, JobType type)
{
    session_send_info(call->session, 14265, 0, 1, 1, "Job 'cdc.%.*s_%s' started successfully.",
                      STR_ARG(sim_database_name(call->session->database)), job_name(type));
}

static bool refuse_agent(ProcCall *call, JobType type, const char *what, const char *why)
{
    return sim_error(call->error, 22022,
                     "SQLServerAgent Error: Request to %s job cdc.%.*s_%s (from User %.*s) refused "
                     "because the job %s.",
                     what, STR_ARG(sim_database_name(call->session->database)), job_name(type),
                     STR_ARG(call->session->login.name), why);
}

static bool start_job(ProcCall *call, JobType type)
{
    SimDatabase *database = call->session->database;

    if (type == JOB_CAPTURE && !sim_cdc_start_capture(database))
        return refuse_agent(call, type, "run", "is already running");
    if (type == JOB_CLEANUP && !sim_cdc_start_cleanup(database, call->error)) return false;
    say_started(call, type);
    return true;
}

static bool sp_cdc_add_job(ProcCall *call)
{
    JobType type;
    int64_t starts = 1;

    if (!cdc_need_enabled(call) || !cdc_need_owner(call) || !job_type(call, &type)) return false;
    SimDatabase *database = call->session->database;
    SimCdcJobs   jobs     = sim_cdc_jobs(database);
    if (has_job(&jobs, type))
        return sim_error(call->error, 14261, "The specified @name ('cdc.%.*s_%s') already exists.",
                         STR_ARG(sim_database_name(database)), job_name(type));
    JobValues values = {500, 10, 1, 5, 4320, 5000};
    if (!proc_i64(call, 1, &starts) || !read_values(call, 2, &values) ||
        !check_values(call, type, 2, &values))
        return false;
    store_values(&jobs, type, &values, true);
    if (type == JOB_CAPTURE)
        jobs.has_capture = true;
    else
        jobs.has_cleanup = true;
    sim_cdc_set_jobs(database, &jobs);
    return starts == 0 || start_job(call, type);
}

static bool sp_cdc_drop_job(ProcCall *call)
{
    SimCdcJobs jobs;
    JobType    type;

    if (!need_job(call, &type, &jobs)) return false;
    if (type == JOB_CAPTURE)
        jobs.has_capture = false;
    else
        jobs.has_cleanup = false;
    sim_cdc_set_jobs(call->session->database, &jobs);
    return true;
}

static bool sp_cdc_start_job(ProcCall *call)
{
    SimCdcJobs jobs;
    JobType    type;

    return need_job(call, &type, &jobs) && start_job(call, type);
}

static bool sp_cdc_stop_job(ProcCall *call)
{
    SimCdcJobs jobs;
    JobType    type;

    if (!need_job(call, &type, &jobs)) return false;
    if (type == JOB_CLEANUP || !sim_cdc_stop_capture(call->session->database))
        return refuse_agent(call, type, "stop", "is not currently running");
    session_send_info(call->session, 14265, 0, 1, 1, "Job 'cdc.%.*s_%s' stopped successfully.",
                      STR_ARG(sim_database_name(call->session->database)), job_name(type));
    return true;
}

static bool scan_until_stopped(ProcCall *call, const JobValues *values)
{
    do {
        if (!sim_cdc_scan(call->session->database, values->maxtrans, values->maxscans, NULL, NULL,
                          call->error))
            return false;
        if (values->continuous == 0) return true;
    } while (session_sleep(call->session, MAX(values->polling * 1000000, 1000), call->error));
    return false;
}

static bool sp_cdc_scan(ProcCall *call)
{
    SimDatabase *database = call->session->database;
    JobValues    values   = {500, 10, 0, 0, 0, 0};
    int32_t      other    = JOB_SESSION;

    if (!cdc_need_enabled(call) || !cdc_need_owner(call) || !proc_i64(call, 0, &values.maxtrans) ||
        !proc_i64(call, 1, &values.maxscans) || !proc_i64(call, 2, &values.continuous) ||
        !proc_i64(call, 3, &values.polling) || !check_capture(call, &values))
        return false;
    if (values.continuous == 0 && values.polling != 0)
        return sim_error(call->error, 22999,
                         "The value specified for the parameter @pollinginterval must be null or 0 "
                         "when the stored procedure 'sys.sp_cdc_scan' is not being run in "
                         "continuous mode.");
    bool is_free = !sim_cdc_capture_is_running(database) &&
                   sim_cdc_reserve_scan(database, call->session->id, &other);
    if (!is_free)
        return sim_error(call->error, 22903,
                         "Another connection with session ID %d is already running 'sp_replcmds' "
                         "for Change Data Capture in the current database.",
                         other);
    bool ok = scan_until_stopped(call, &values);
    sim_cdc_release_scan(database);
    return ok;
}

const ProcEntry cdc_job_procs[] = {
    {"sp_cdc_help_jobs", sp_cdc_help_jobs, ""},
    {"sp_cdc_add_job", sp_cdc_add_job,
     "job_type,start_job,maxtrans,maxscans,continuous,pollinginterval,retention,threshold,check_"
     "for_"
     "logreader"},
    {"sp_cdc_drop_job", sp_cdc_drop_job, "job_type"},
    {"sp_cdc_start_job", sp_cdc_start_job, "job_type"},
    {"sp_cdc_stop_job", sp_cdc_stop_job, "job_type"},
    {"sp_cdc_change_job", sp_cdc_change_job,
     "job_type,maxtrans,maxscans,continuous,pollinginterval,retention,threshold"},
    {"sp_cdc_scan", sp_cdc_scan, "maxtrans,maxscans,continuous,pollinginterval"},
    {NULL, NULL, NULL},
};
