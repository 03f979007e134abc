/* cdc.h - change data capture: the log reader, change tables, cleanup (sqlserver.md 2.13 to
 * 2.16). */
#ifndef TIDESIM_CDC_H
#define TIDESIM_CDC_H

#include "sim/model/model.h"

typedef struct SimCapturedColumn {
    Str     name;
    int32_t column_id;
    int32_t ordinal; /* 1-based, column_ordinal */
    SimType type;    /* as captured now; follows ALTER COLUMN when capture reaches it */
    bool    is_computed;
    bool    is_rowversion; /* captured as binary(8), and called timestamp */
} SimCapturedColumn;

typedef struct SimCaptureInstance {
    Str                      name;
    int32_t                  object_id; /* of the change table */
    int32_t                  source_object_id;
    Str                      source_schema, source_table;
    Lsn                      start_lsn;  /* moved by cleanup */
    bool                     is_reached; /* capture has processed the enable: min_lsn is known */
    Str                      role_name, index_name, filegroup;
    bool                     supports_net_changes;
    int64_t                  create_us; /* local server time */
    const SimCapturedColumn *columns;
    size_t                   column_count;
    const Str               *index_columns;
    size_t                   index_column_count;
} SimCaptureInstance;

typedef struct SimDdlEntry {
    Lsn     lsn;
    bool    required_column_update;
    Str     command;
    int64_t time_us; /* local, whole minutes */
} SimDdlEntry;

typedef struct SimScanError { /* a row of dm_cdc_errors */
    int64_t time_us;          /* local */
    int32_t session_id, phase;
    int32_t number, severity, state;
    Lsn     start_lsn, begin_lsn; /* of the transaction it stopped at: commit, begin */
    Str     message;
} SimScanError;

bool sim_cdc_is_enabled(const SimDatabase *database);
/* By a transaction that has not committed yet. */
bool sim_cdc_is_enabling(const SimDatabase *database, const SimTxn *txn);
bool sim_cdc_enable_database(SimTxn *txn, SimError *error) MUST_CHECK;
bool sim_cdc_disable_database(SimTxn *txn, SimError *error) MUST_CHECK;

/* The arguments of sp_cdc_enable_table; empty or unset ones take the defaults. */
typedef struct SimEnableTable {
    Str        source_schema, source_name, role_name, capture_instance, index_name;
    const Str *captured_columns; /* count 0: all */
    size_t     captured_column_count;
    bool       supports_net_changes, net_changes_given;
    Str        filegroup;                    /* empty or PRIMARY: the only one there is */
    bool       has_empty_role, has_bad_list; /* what is refused where its turn comes */
} SimEnableTable;
/* 22901, 22931, 22974, 22907, 22927, 22926, 22962, 22928, 22929, 22838, 22865, 22939, 22965, 22930,
 * 22942, 22943, 22975, 22925, 22973, in the order of 2.15. */
bool sim_cdc_enable_table(SimTxn *txn, const SimEnableTable *args, SimError *error) MUST_CHECK;
bool sim_cdc_disable_table(SimTxn *txn, Str schema, Str name, Str capture_instance,
                           SimError *error) MUST_CHECK;

/* Copies in `arena`, in creation order. Visibility to a user is the caller's business. */
size_t sim_cdc_instances(SimDatabase *database, Arena *arena, SimCaptureInstance **out);
bool sim_cdc_find_instance(SimDatabase *database, Str name, Arena *arena, SimCaptureInstance *out);
size_t sim_cdc_ddl_history(SimDatabase *database, Str name, Arena *arena, SimDdlEntry **out);
bool   sim_cdc_max_lsn(SimDatabase *database, Lsn *out); /* false: NULL */
/* Of the commits that wait to be captured: the newest (zero: there is none), and whether one at or before `lsn` does. */
Lsn  sim_cdc_newest_waiting(SimDatabase *database);
bool sim_cdc_is_waiting(SimDatabase *database, Lsn lsn);
bool sim_cdc_map_lsn_to_time(SimDatabase *database, Lsn lsn, int64_t *local_us_out);
/* sys.fn_cdc_map_time_to_lsn with its four operators; false: NULL. `datetime` is compared in ticks
 * of 1/300 s. */
typedef enum SimTimeToLsn {
    SIM_LARGEST_LESS,
    SIM_LARGEST_LESS_OR_EQUAL,
    SIM_SMALLEST_GREATER,
    SIM_SMALLEST_GREATER_OR_EQUAL
} SimTimeToLsn;
bool      sim_cdc_map_time_to_lsn(SimDatabase *database, SimTimeToLsn op, const SimValue *datetime,
                                  Lsn *out);
size_t    sim_cdc_errors(SimDatabase *database, Arena *arena, SimScanError **out);
SimTable *sim_cdc_mapping_table(SimDatabase *database); /* NULL when CDC is off */

/* One scan session: a row of dm_cdc_log_scan_sessions. Scans that find nothing share a row, whose
 * LSNs are zero. Times are local. */
typedef struct SimScanSession {
    int32_t id;
    int64_t start_us, end_us;
    bool    has_failed;
    Lsn     start_lsn, end_lsn;
    int64_t transactions, records, commands;
    int32_t ddl_count, empty_count;
    Lsn     first_begin_lsn, last_commit_lsn; /* of transactions with changes */
    int64_t last_commit_us;
} SimScanSession;
/* In order; the oldest go when there are many. */
size_t sim_cdc_scan_sessions(SimDatabase *database, Arena *arena, SimScanSession **out);

/* --- the jobs --- */
/* What msdb.dbo.cdc_jobs holds. A capture job runs with what it was started with; the cleanup job
 * reads its values whenever it runs. */
typedef struct SimCdcJobs {
    bool    has_capture, has_cleanup; /* made with the first instance, or by sp_cdc_add_job */
    int32_t maxtrans, maxscans;
    bool    is_continuous;
    int64_t polling_ms;
    int64_t retention_minutes, threshold;
} SimCdcJobs;
SimCdcJobs sim_cdc_jobs(SimDatabase *database);
bool       sim_cdc_has_made_jobs(SimDatabase *database); /* since CDC is on; dropped or not */
void       sim_cdc_set_jobs(SimDatabase *database, const SimCdcJobs *jobs);
bool       sim_cdc_capture_is_running(SimDatabase *database);
/* As the Agent does: within a second or so. Without a job, or in its state already: false. */
bool sim_cdc_start_capture(SimDatabase *database);
bool sim_cdc_stop_capture(SimDatabase *database);
/* At once when no job's thread could do it soon. */
bool sim_cdc_start_cleanup(SimDatabase *database, SimError *error) MUST_CHECK;
/* One sp_cdc_scan at a time; false: `other_out` is the session that does. */
bool sim_cdc_reserve_scan(SimDatabase *database, int32_t session_id, int32_t *other_out);
void sim_cdc_release_scan(SimDatabase *database);
/* Milliseconds between a commit and the moment capture may see it, drawn from the seed for each.
 * For commits from now on. */
void sim_cdc_set_latency(SimDatabase *database, int64_t min_ms, int64_t max_ms);
void sim_cdc_set_idle_interval(SimDatabase *database, int64_t ms);
typedef enum SimCaptureMode {
    SIM_CAPTURE_AUTO,
    SIM_CAPTURE_MANUAL,
    SIM_CAPTURE_PAUSED
} SimCaptureMode;
bool sim_cdc_set_mode(SimDatabase *database, SimCaptureMode mode);
/* One complete scan: reads the log to its end, in cycles that become visible atomically. Counts may
 * be NULL. */
bool sim_cdc_scan_now(SimDatabase *database, int64_t *transactions_out, int64_t *rows_out,
                      SimError *error) MUST_CHECK;
/* sp_cdc_scan: cycles of at most `maxtrans` transactions each, `maxscans` of them or (0) as many as
 * it takes. */
bool sim_cdc_scan(SimDatabase *database, int64_t maxtrans, int64_t maxscans,
                  int64_t *transactions_out, int64_t *rows_out, SimError *error) MUST_CHECK;
/* The capture job fails with this error, and nothing is captured until it is started again: by sim_cdc_start_capture or
 * sim_cdc_set_mode. */
void sim_cdc_fail(SimDatabase *database, const SimError *error);
/* Before each cycle; false: it fails. */
typedef bool (*SimScanHook)(void *arg, SimDatabase *database, SimError *error);
void sim_server_set_scan_hook(SimServer *server, SimScanHook hook, void *arg);
/* Between these a waiter is woken after each cycle that captured something. */
typedef struct CaptureWait {
    SimWaiter          *waiter;
    struct CaptureWait *next; /* internal */
} CaptureWait;
void sim_cdc_wait_begin(SimDatabase *database, CaptureWait *wait);
void sim_cdc_wait_end(SimDatabase *database, CaptureWait *wait);
bool sim_cdc_idle_now(SimDatabase *database, SimError *error) MUST_CHECK; /* adds an idle entry */
/* Marks first, then deletes change rows in batches, then mapping entries no instance needs (2.16).
 * `low_water_mark` zero: by retention. `instance` empty: all. */
bool sim_cdc_cleanup(SimDatabase *database, Str instance, Lsn low_water_mark, int64_t threshold,
                     SimError *error) MUST_CHECK;
/* The same, but that rows could not be deleted is no error: the marks have moved, and a later run
 * deletes them. `reason_out` then says why. */
bool sim_cdc_cleanup_leniently(SimDatabase *database, Str instance, Lsn low_water_mark,
                               int64_t threshold, bool *has_failed_out, SimError *reason_out,
                               SimError *error) MUST_CHECK;
/* Called at a step of the cleanup: "after_mark", "between_batches"; may run anything on other
 * sessions. */
typedef void (*SimCleanupHook)(void *arg, const char *where);
void sim_cdc_set_cleanup_hook(SimDatabase *database, SimCleanupHook hook, void *arg);

#endif
