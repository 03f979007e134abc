/* cdc_internal.h - what the files of change data capture share.
 *
 * Instances live as long as the database, so that the log may name them; those that are over are
 * marked. What the outside sees of them changes when the transaction that changes it commits. Two
 * locks of the lock manager keep large things apart: `ddl_lock` enabling and disabling, `scan_lock`
 * a cycle of capture and whatever takes an instance away. The mutex guards the lists and is never
 * held across anything that waits. */
#ifndef TIDESIM_CDC_INTERNAL_H
#define TIDESIM_CDC_INTERNAL_H

#include "sim/model/model_internal.h"

#define CT_HEAD_COLUMNS   5   /* before the captured ones */
#define SCAN_TRANSACTIONS 500 /* of one cycle, unless the job says otherwise */
#define SCAN_CYCLES       10  /* of one scan of the job */
#define POLLING_MS        5000
#define CLEANUP_THRESHOLD 5000
#define SYSTEM_LOCK_MS \
    60000 /* what the server's own work waits for a lock before it gives up until the next time */

struct Instance {
    Instance          *next; /* in order of creation */
    uint64_t           order;
    SimDatabase       *database;
    Arena             *arena;
    Str                name;
    SimTable          *source, *change_table;
    Lsn                start_lsn;
    bool               is_committed, is_reached, is_over;
    bool               supports_net_changes;
    Str                role_name, index_name, filegroup;
    int64_t            create_us;
    SimCapturedColumn *columns;
    size_t             column_count;
    SimIndexColumn    *index_columns;
    size_t             index_column_count;
    LIST(SimDdlEntry) history;
    /* Of the cycle that runs: where each captured column is in rows of `map_info`, -1: it is not
     * there any more. */
    const SimTableInfo *map_info;
    int32_t            *map;
    uint64_t            command_txn_id; /* per statement: the number given to it */
    uint32_t            command_statement;
    int32_t             command_id;
};

typedef enum JobState { JOB_NONE, JOB_STARTS, JOB_RUNS, JOB_STOPS } JobState;

struct SimCdc {
    SimDatabase    *database;
    Arena          *arena;
    pthread_mutex_t mutex;
    LockResource    ddl_lock, scan_lock;
    bool            is_enabled;
    const SimTxn   *enabling; /* it may enable tables before it commits */
    SimTable       *mapping;
    Instance       *instances, *last_instance;
    uint64_t        instance_count; /* ever */
    bool            has_max_lsn;
    Lsn             max_lsn;
    LIST(SimScanError) errors;
    LIST(SimScanSession) sessions;
    int32_t        session_count; /* ever */
    SimCleanupHook hook;
    void          *hook_arg;
    /* the job */
    SimCaptureMode mode;
    SimCdcJobs     jobs, running; /* running: what capture was started with */
    bool           jobs_were_made;
    bool           is_stopped, cleanup_is_wanted;
    int32_t        scanner; /* the session that runs sp_cdc_scan; 0: none */
    int64_t        idle_entry_ms;
    JobState       job_state;
    Task          *task;
    Queue         *control; /* closed to stop it */
    atomic_bool    is_stopping;
    int64_t        quiet_since_ns; /* the last mapping entry */
    atomic_bool    has_failed;     /* and stays so until it is started again */
    CaptureWait   *waits;          /* with the mutex held */
};

/* A session of the server's own, for one call. */
typedef struct SystemSession {
    SimWaiter waiter;
} SystemSession;
void    system_session_open(SystemSession *session, SimServer *server);
void    system_session_close(SystemSession *session);
SimTxn *system_txn_begin(SystemSession *session, SimDatabase *database);

/* --- change rows (capture/rows.c) --- */
typedef struct ChangeImage {
    const SimRow       *row, *other; /* 3, 4: the other image; NULL otherwise */
    const SimTableInfo *info;
    int32_t             operation, command_id;
    Lsn                 start_lsn, seqval;
    const uint8_t      *mask;
    size_t              mask_len;
} ChangeImage;
size_t change_mask_len(const Instance *instance);
void   change_mask_all(const Instance *instance, uint8_t *mask);
/* The captured columns whose values differ; false: none. */
bool    change_mask_of(Instance *instance, const SimTableInfo *info, const SimRow *before,
                       const SimRow *after, uint8_t *mask);
bool    change_row_build(Instance *instance, const ChangeImage *image, Arena *scratch, SimRow **out,
                         SimError *error) MUST_CHECK;
SimType change_column_type(const SimColumn *column);

/* --- the mapping (capture/mapping.c) --- */
bool mapping_create(SimTxn *txn, SimTable **out, SimError *error) MUST_CHECK;
typedef struct MappingEntry {
    Lsn      start_lsn, begin_lsn;
    int64_t  begin_us, end_us; /* local */
    uint64_t tran_id;          /* 0: idle */
} MappingEntry;
bool mapping_add(SimTxn *txn, SimTable *mapping, const MappingEntry *entry,
                 SimError *error) MUST_CHECK;
/* datetime2(3) for the times, while there is no entry yet. */
bool mapping_keep_milliseconds(SimTxn *txn, SimTable *mapping, SimError *error) MUST_CHECK;
/* The smallest LSN among the entries with the time of this entry; false: no such entry. */
bool mapping_lowered(SimTable *mapping, Lsn lsn, Lsn *out);
/* The entry that a retention reaches back to from the newest time, lowered; false: nothing is that
 * old. */
bool     mapping_at_age(SimTable *mapping, int64_t retention_us, Lsn *out);
SimValue lsn_value(const Lsn *lsn); /* binary(10), pointing into `lsn` */

/* --- instances (capture/enable.c, capture/disable.c) --- */
bool cdc_is_on(const SimCdc *cdc, const SimTxn *txn);
/* Takes an instance away; scan_lock and the source's Sch-M (or its end) are the caller's. */
bool      instance_remove(SimTxn *txn, Instance *instance, SimError *error) MUST_CHECK;
Instance *instance_find(SimCdc *cdc, Str name); /* with the mutex held; not those that are over */
void      instance_capture(Instance *instance,
                           bool      on); /* in or out of its table's list; with the mutex held */

/* --- scanning (capture/capture.c) --- */
typedef struct ScanCounts {
    int64_t transactions, rows, records;
    int32_t ddl_count;
    Lsn     start_lsn, end_lsn;               /* of what was read; zero: nothing */
    Lsn     first_begin_lsn, last_commit_lsn; /* of transactions with an entry */
    int64_t last_commit_us;
    bool    is_at_end; /* of what may be seen of the log */
} ScanCounts;
typedef struct ScanLimits {
    size_t  transactions; /* of a cycle */
    int64_t cycles;       /* 0: to the end of the log */
    bool    everything;   /* also what has not waited its capture latency */
} ScanLimits;
bool scan_cycle(SimCdc *cdc, const ScanLimits *limits, ScanCounts *counts,
                SimError *error) MUST_CHECK;
/* --- scan sessions (capture/scan.c) --- */
bool scan_session(SimCdc *cdc, const ScanLimits *limits, ScanCounts *total,
                  SimError *error) MUST_CHECK;
void scan_note_error(SimCdc *cdc, const SimError *error);
bool idle_entry(SimCdc *cdc, bool *added_out,
                SimError *error) MUST_CHECK; /* not added: something waits to be captured */

/* --- what tests do to capture (capture/control.c) --- */
bool cdc_may_scan(SimCdc *cdc, SimError *error);
void cdc_captured(SimCdc *cdc); /* wakes who waits for it */

/* --- the job (capture/job.c) --- */
void       job_start(SimCdc *cdc);
void       job_stop(SimCdc *cdc); /* and waits */
SimCdcJobs jobs_default(const SimServer *server);
void       jobs_make(SimCdc *cdc); /* both, with the first instance; with the mutex held */

#endif
