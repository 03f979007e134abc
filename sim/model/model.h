/* model.h - what a server holds: databases, tables, rows, transactions, locks, the log
 * (sqlserver.md 2.8, 2.12, 2.13).
 *
 * Rows are stored encoded, in an order: the clustered index, or insertion order for a heap; other
 * indexes point to them. A row in memory is an immutable version. Scans hold the database's latch
 * for one batch of rows at a time and never while a sink writes to a socket. READ COMMITTED without
 * versions: a scan waits at a row with a foreign uncommitted change. Waiting goes through Sched's
 * queues, so it works on real threads and under simulation; a waiting session can be woken by an
 * attention, a kill or LOCK_TIMEOUT. */
#ifndef TIDESIM_MODEL_H
#define TIDESIM_MODEL_H

#include <stdatomic.h>

#include "base/rng.h"
#include "base/sched.h"
#include "sim/model/knob.h"
#include "sim/model/turn.h"
#include "sim/value/time_zone.h"
#include "sim/value/value.h"
#include "types/lsn.h"

typedef struct SimServer   SimServer;
typedef struct SimDatabase SimDatabase;
typedef struct SimTable    SimTable;
typedef struct SimIndex    SimIndex;
typedef struct SimTxn      SimTxn;
typedef struct SimScan     SimScan;
typedef struct SimRow      SimRow; /* one encoded row version */
typedef struct SimSession  SimSession;

/* --- the server: what sim_server_open of sim.h builds on --- */
typedef struct SimModelOptions { /* the fields of SimOptions */
    Clock  *clock;
    Sched  *sched;
    Rng    *rng;
    Log    *log;                      /* may be NULL */
    int     server_version;           /* 0: 2022 */
    Str     time_zone;                /* empty: UTC */
    int64_t capture_interval_ms;      /* 0: 5000; -1: manual */
    int64_t idle_entry_ms;            /* 0: 305000 */
    int64_t retention_minutes;        /* 0: 4320 */
    bool    command_id_per_statement; /* the knob, from the start */
    bool    one_at_a_time;            /* requests of sessions: turn.h */
} SimModelOptions;
/* Holds the databases master, tempdb, model and msdb. Errors: 9820 (unknown zone). */
bool sim_model_open(const SimModelOptions *options, SimServer **out, SimError *error) MUST_CHECK;
/* Stops the jobs. No transaction may be open. Accepts NULL. */
void sim_model_close(SimServer *server);
/* A pointer of the session layer, for its registry. */
void           sim_server_set_owner(SimServer *server, void *owner);
void          *sim_server_owner(const SimServer *server);
Clock         *sim_server_clock(const SimServer *server);
Sched         *sim_server_sched(const SimServer *server);
Turns         *sim_server_turns(const SimServer *server); /* NULL: requests overlap */
Rng           *sim_server_rng(const SimServer *server);
int            sim_server_version(const SimServer *server); /* 2016 ... 2025 */
const SimZone *sim_server_zone(const SimServer *server);
bool           sim_server_set_zone(SimServer *server, Str windows_name);
/* Everything random begins anew: LSN steps, NEWID, choices among equals. The generator of the options is used until
 * then; what is drawn from one that was replaced is still good. */
void    sim_server_seed(SimServer *server, uint64_t seed);
int64_t sim_server_knob(const SimServer *server, SimKnob knob);
void    sim_server_set_knob(SimServer *server, SimKnob knob, int64_t value);
/* As it was opened: the system databases empty, every other one and every login gone, numbers from the beginning. No
 * transaction may be open, and nobody may use a database of it. The clock, the zone and the sessions stay. */
void sim_server_empty(SimServer *server, uint64_t seed);
/* The local clock now, microseconds since 1970. */
int64_t sim_server_local_us(const SimServer *server);
/* DBCC TRACEON; 8207 is the one that means something here (2.14). */
void sim_server_set_trace_flag(SimServer *server, int flag, bool on);
/* `max text repl size`, -1: no limit; as it is set, or as it runs since it was installed. */
int64_t sim_server_text_repl_bytes(const SimServer *server, bool as_set);
void    sim_server_set_text_repl_bytes(SimServer *server, int64_t bytes);
void    sim_server_install_settings(SimServer *server);
bool    sim_server_next_database(SimServer *server, size_t *at, SimDatabase **out);

/* --- tables --- */
typedef struct SimColumn {
    Str         name;
    Str         default_name;
    const void *default_value; /* const Expr *, in the table's arena; NULL: none */
    const void *computed;      /* const Expr *; NULL: none */
    SimType     type;
    int64_t     identity_seed, identity_step;
    int32_t     column_id;         /* never reused */
    int32_t     default_object_id; /* of the default's constraint; 0: none, or not made yet */
    bool        default_is_system_named;
    bool        is_nullable;
    bool        is_identity;
    bool        is_computed, is_persisted;
} SimColumn;

typedef struct SimIndexColumn {
    int32_t column_id;
    bool    descending;
} SimIndexColumn;

struct SimIndex {
    Str             name;
    int32_t         index_id;  /* 1 is clustered, 0 stands for a heap */
    int32_t         object_id; /* of a key's constraint; 0: a plain index, or not made yet */
    bool            is_system_named;
    bool            is_unique, is_clustered, is_primary_key, is_unique_constraint;
    SimIndexColumn *columns;
    size_t          column_count;
    int32_t        *included; /* column ids of INCLUDE, which the catalogue alone knows */
    size_t          included_count;
};

/* What a table's rows must satisfy besides keys. */
typedef enum SimConstraintKind {
    SIM_CONSTRAINT_CHECK,
    SIM_CONSTRAINT_FOREIGN_KEY
} SimConstraintKind;
typedef struct SimConstraint {
    SimConstraintKind kind;
    int32_t           object_id; /* given by sim_describe_table when 0 */
    Str               name;
    bool              is_system_named, is_disabled, is_not_trusted;
    const void       *check; /* const Expr *, in an arena the table has adopted */
    Str               definition;
    int32_t           column_id;  /* CHECK: of a column's own one, or the only one it names; 0 */
    const int32_t    *column_ids; /* FOREIGN KEY: in the order of the referenced ones */
    size_t            column_count;
    int32_t           referenced_table_id;
    const int32_t    *referenced_column_ids;
} SimConstraint;

typedef struct SimTableInfo { /* a consistent copy of a table's description */
    int32_t              object_id;
    Str                  schema, name;
    const SimColumn     *columns; /* in ordinal order */
    size_t               column_count;
    SimIndex *const     *indexes; /* [0] is the clustered one when there is one */
    size_t               index_count;
    const SimConstraint *constraints;
    size_t               constraint_count;
    int64_t              schema_version; /* grows with every DDL on it */
    int64_t              created_us;
    bool                 is_system; /* cdc.* and other tables of ours */
    bool                 is_temporary;
} SimTableInfo;

const SimTableInfo *sim_table_info(const SimTable *table);
SimDatabase        *sim_table_database(const SimTable *table);
/* The ordinal of a column, ignoring case; -1 if there is none. */
ptrdiff_t sim_table_find_column(const SimTable *table, Str name);
/* Of the committed rows: how many, and about how many bytes encoded. */
int64_t sim_table_row_count(const SimTable *table);
int64_t sim_table_size_bytes(const SimTable *table);
/* IDENT_CURRENT: the last value given out, else the seed. */
int64_t sim_table_identity_current(const SimTable *table);
/* The last value given out; false: none yet. */
bool sim_table_identity_last(const SimTable *table, int64_t *out);
bool sim_table_is_captured(const SimTable *table); /* sys.tables.is_tracked_by_cdc */
/* The arena goes to the table and is closed with it: expressions of defaults and computed columns
 * live there. */
void sim_table_adopt(SimTable *table, Arena *arena);

SimDatabase *sim_server_find_database(SimServer *server, Str name);
Str          sim_database_name(const SimDatabase *database);
int32_t      sim_database_id(const SimDatabase *database);
/* Of its columns, literals and variables; NULL: the server's. */
const SimCollation *sim_database_collation(const SimDatabase *database);
void    sim_database_set_collation(SimDatabase *database, const SimCollation *collation);
bool    sim_database_is_system(const SimDatabase *database);  /* master, tempdb, model, msdb */
int64_t sim_database_created_us(const SimDatabase *database); /* local */
/* NULL if there is none. `schema` empty: dbo. */
SimTable *sim_database_find_table(SimDatabase *database, Str schema, Str name);
SimTable *sim_database_find_table_by_id(SimDatabase *database, int32_t object_id);
bool      sim_database_next_table(SimDatabase *database, size_t *at, SimTable **out);
bool      sim_database_has_schema(SimDatabase *database, Str schema);
/* dbo 1, sys 4, own ones from 5; 0 if there is none. */
int32_t sim_database_schema_id(SimDatabase *database, Str schema);
bool    sim_database_next_schema(SimDatabase *database, size_t *at, Arena *arena, Str *name_out,
                                 int32_t *id_out);

/* DDL: transactional, written to the log, recorded for capture (2.16). Each takes the table's Sch-M
 * lock to the end of the transaction. A SimTable stays valid (dropped, empty) until its database is
 * closed, a SimTableInfo as long; a temporary table ends when its drop commits. */
typedef struct SimTableSpec {
    Str              schema, name;
    const SimColumn *columns;
    size_t           column_count;
    const SimIndex  *indexes;
    size_t           index_count;
    bool             is_system, is_temporary;
} SimTableSpec;
bool sim_create_table(SimTxn *txn, const SimTableSpec *spec, SimTable **out,
                      SimError *error) MUST_CHECK;
bool sim_drop_table(SimTxn *txn, SimTable *table, SimError *error) MUST_CHECK;
/* A table of `rows` rows that are computed when they are read, by one of the profiles narrow, wide, skewed, changes,
 * commits; it cannot be changed. 2714; 50000 for a profile or a number there is not. */
bool sim_create_synthetic(SimTxn *txn, Str schema, Str name, int64_t rows, Str profile,
                          uint64_t seed, SimTable **out, SimError *error) MUST_CHECK;
/* 1505, 1913, 1902, 8111. */
bool sim_create_index(SimTxn *txn, SimTable *table, const SimIndex *spec,
                      SimError *error) MUST_CHECK;
/* A constraint's index too. 3701; 22983 and 22979 when CDC uses it. */
bool sim_drop_index(SimTxn *txn, SimTable *table, Str name, SimError *error) MUST_CHECK;
/* `ddl_text` is what ddl_history shows. */
bool sim_add_column(SimTxn *txn, SimTable *table, const SimColumn *column, const SimValue *fill,
                    Str ddl_text, SimError *error) MUST_CHECK;
bool sim_drop_column(SimTxn *txn, SimTable *table, Str column, Str ddl_text,
                     SimError *error) MUST_CHECK;
bool sim_alter_column(SimTxn *txn, SimTable *table, Str column, const SimType *type,
                      bool is_nullable, Str ddl_text, SimError *error) MUST_CHECK;
/* 15335; 4928 for a captured column. */
bool sim_rename_table(SimTxn *txn, SimTable *table, Str name, SimError *error) MUST_CHECK;
bool sim_rename_column(SimTxn *txn, SimTable *table, Str column, Str name,
                       SimError *error) MUST_CHECK;
/* Other defaults of the same columns, and other constraints. `columns` NULL: as they are. The
 * arrays are copied; what they point to must live as long as the table. */
bool sim_describe_table(SimTxn *txn, SimTable *table, const SimColumn *columns,
                        const SimConstraint *constraints, size_t constraint_count,
                        SimError *error) MUST_CHECK;
bool sim_database_has_foreign_keys(const SimDatabase *database); /* or has had */
bool sim_create_schema(SimTxn *txn, Str schema, SimError *error) MUST_CHECK;
bool sim_drop_schema(SimTxn *txn, Str schema, SimError *error) MUST_CHECK;
bool sim_create_database(SimServer *server, Str name, SimError *error) MUST_CHECK;
bool sim_drop_database(SimServer *server, Str name, SimError *error) MUST_CHECK;

/* --- modules: procedures and views (model/module.c) --- */
typedef enum SimModuleKind { SIM_MODULE_PROCEDURE, SIM_MODULE_VIEW } SimModuleKind;
typedef struct SimModule { /* immutable; valid until its database is closed */
    SimModuleKind kind;
    int32_t       object_id;
    Str           schema, name;
    Str           text; /* the batch that made it */
    const void   *tree; /* const Stmt *, in the module's own arena */
    bool          quoted_identifier;
    int64_t       created_us, modified_us; /* local */
} SimModule;
/* Transactional, like all DDL. The arena goes to the module, whatever happens. `replaces` is the
 * one that ALTER puts another text in place of; NULL: a new one. 2714, 2760. */
bool sim_create_module(SimTxn *txn, const SimModule *spec, Arena *arena, const SimModule *replaces,
                       const SimModule **out, SimError *error) MUST_CHECK;
bool sim_drop_module(SimTxn *txn, const SimModule *module, SimError *error) MUST_CHECK;
/* NULL if there is none. `schema` empty: dbo. */
const SimModule *sim_database_find_module(SimDatabase *database, Str schema, Str name);
bool             sim_database_next_module(SimDatabase *database, size_t *at, const SimModule **out);

/* --- transactions --- */
typedef enum SimIsolation {
    SIM_READ_UNCOMMITTED,
    SIM_READ_COMMITTED,
    SIM_REPEATABLE_READ,
    SIM_SERIALIZABLE,
    SIM_SNAPSHOT
} SimIsolation;

/* What a wait needs to know of its session; owned by the session. Others wake it through
 * sim_waiter_wake alone. */
typedef struct SimWaiter {
    int32_t session_id;
    int64_t lock_timeout_ms;   /* -1: for ever */
    int     deadlock_priority; /* -10 to 10 */
    Queue  *wake;              /* capacity 1 */
    /* The call in progress stops: with SIM_ATTENTION, which the session clears, or with 596. */
    atomic_bool attention;
    atomic_bool killed;
    /* For sys.dm_exec_requests, written by waits. */
    _Atomic(const char *) wait_type; /* "LCK_M_S"; NULL: running */
    _Atomic int32_t       blocking_session_id;
    _Atomic int64_t       wait_start_ns; /* monotonic */
    _Atomic int64_t       lock_waits;
    atomic_bool           wake_is_pending; /* internal */
    struct LockRequest   *request;         /* internal: what it waits for */
    struct SimWaiter     *next_wake;       /* internal */
    struct SimWaiter     *inner;           /* internal: whom it runs meanwhile */
    Turns                *turns;           /* NULL: it goes when it wants */
    Turn                 *turn;
} SimWaiter;
/* Number of the error of a call that an attention stopped; never sent to a client. */
#define SIM_ATTENTION 3617
/* Wakes a waiting session, once, whoever else does; harmless when it does not wait. Not with a
 * latch of one's own held. */
void sim_waiter_wake(SimWaiter *waiter);
/* From now on it waits for `inner`, which it runs in the middle of something; NULL: not any more. So a lock that one
 * holds and the other wants is a deadlock, whose victim is the inner one. */
void sim_waiter_set_inner(SimServer *server, SimWaiter *waiter, SimWaiter *inner);
/* For sys.dm_tran_locks: what the lock manager knows. An uncommitted row is locked without an entry
 * until somebody has to wait for it. Copies in `arena`. */
typedef struct SimLockInfo {
    int32_t     database_id, session_id;
    int32_t     object_id; /* the table; 0: CDC's own */
    const char *mode;      /* "IX" */
    bool        is_key;    /* a row of it, or a range */
    bool        is_waiting, is_conversion;
    uint64_t    txn_id;
} SimLockInfo;
size_t sim_server_locks(SimServer *server, Arena *arena, SimLockInfo **out);
/* Waits for sim_waiter_wake, at most timeout_ms (-1: for ever); true when woken, which may be for
 * an older reason: look again at what you wait for. */
bool sim_waiter_wait(SimWaiter *waiter, int64_t timeout_ms);
/* The same until the server's clock (a virtual_clock) has come to `due_ns`, INT64_MAX: for ever. May return early. */
bool sim_waiter_wait_until(SimWaiter *waiter, Clock *clock, int64_t due_ns);

/* What ALTER DATABASE sets. */
typedef enum SimSnapshotState { /* sys.databases.snapshot_isolation_state */
                                SIM_SNAPSHOT_OFF,
                                SIM_SNAPSHOT_ON,
                                SIM_SNAPSHOT_TURNS_OFF,
                                SIM_SNAPSHOT_TURNS_ON
} SimSnapshotState;
SimSnapshotState sim_database_snapshot_state(const SimDatabase *database);
bool             sim_database_reads_versions(const SimDatabase *database);
/* Waits for transactions that were open before: every one when it is turned on, those under
 * SNAPSHOT when it is turned off. Errors leave it as it was. */
bool sim_database_allow_snapshot(SimDatabase *database, SimWaiter *waiter, bool on,
                                 SimError *error) MUST_CHECK;
void sim_database_set_reads_versions(SimDatabase *database, bool on);
/* Has another session than this one's transactions open in it? */
bool sim_database_is_busy(SimDatabase *database, const SimWaiter *waiter);
/* 0: anyone; -1: one session at a time; else that session's id. */
int32_t sim_database_single_user(const SimDatabase *database);
void    sim_database_set_single_user(SimDatabase *database, int32_t session_id);
/* A readable secondary that is lag_ms behind; -1: none. */
void    sim_database_set_secondary(SimDatabase *database, int64_t lag_ms);
int64_t sim_database_secondary_lag_ms(const SimDatabase *database);
/* Rows that are kept because a reader of versions may look at older ones of them; for tests. */
size_t sim_database_kept_rows(SimDatabase *database);

SimTxn  *sim_txn_begin(SimDatabase *database, SimWaiter *waiter, SimIsolation isolation);
bool     sim_txn_has_written(const SimTxn *txn);
uint64_t sim_txn_id(const SimTxn *txn); /* unique in the server: the transaction descriptor */
/* The session's level now, for what comes; from a database's transaction on the session's others
 * know whether it began under SNAPSHOT. */
void sim_txn_set_isolation(SimTxn *txn, SimIsolation isolation);
void sim_txn_join(SimTxn *txn, const SimTxn *first);
/* Reads what the secondary has reached, and writes nothing (3906). */
void sim_txn_set_secondary(SimTxn *txn);
bool sim_txn_is_secondary(const SimTxn *txn);
/* Around each statement: a number for command ids (2.14), and the end of locks that last as long as
 * a statement. */
void sim_txn_statement_begin(SimTxn *txn);
void sim_txn_statement_end(SimTxn *txn);
/* Locks a table. SCHEMA keeps its description as it is, taken before binding; to the end of the
 * statement, or of the transaction when `to_end`. Afterwards a dropped table says so:
 * sim_table_is_dropped (208). */
typedef enum SimTableLock { SIM_LOCK_SCHEMA, SIM_LOCK_SHARED, SIM_LOCK_EXCLUSIVE } SimTableLock;
bool sim_lock_table(SimTxn *txn, SimTable *table, SimTableLock mode, bool to_end,
                    SimError *error) MUST_CHECK;
bool sim_table_is_dropped(const SimTable *table);
/* Commit writes the commit record; its LSN is the transaction's start_lsn in change tables.
 * `lsn_out` may be NULL. Both free the transaction. */
bool sim_txn_commit(SimTxn *txn, Lsn *lsn_out, SimError *error) MUST_CHECK;
void sim_txn_rollback(SimTxn *txn);
/* Something outside the model's tables was changed: `undo` takes it back when the transaction rolls
 * back that far. `arg` is freed with mem_free at the end. */
void sim_txn_on_rollback(SimTxn *txn, void (*undo)(void *arg), void *arg);
/* Statement atomicity and SAVE TRAN: undo back to a mark. */
uint64_t sim_txn_mark(const SimTxn *txn);
void     sim_txn_undo_to(SimTxn *txn, uint64_t mark);

/* A statement that changes rows tells the model how many rows it changes at once, because key
 * updates are logged differently (2.14). Each call is atomic. A row that the same call has changed
 * already is skipped. A NULL for a rowversion column gets the next one. */
typedef struct SimChange {
    const SimRow *row; /* row to update or delete, from a scan with for_update; NULL for inserts */
    const SimValue *values; /* new row in ordinal order, already converted; NULL for deletes */
} SimChange;
/* 2627, 2601, 515; 7139 for a captured LOB that is too long; 4711 to truncate a captured table. */
bool sim_insert(SimTxn *txn, SimTable *table, const SimValue *values, SimError *error) MUST_CHECK;
bool sim_update(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                SimError *error) MUST_CHECK;
/* The same, logged as MERGE does: always split, on a table with a unique index (2.14). */
bool sim_update_split(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                      SimError *error) MUST_CHECK;
bool sim_delete(SimTxn *txn, SimTable *table, const SimChange *changes, size_t count,
                SimError *error) MUST_CHECK;
bool sim_truncate(SimTxn *txn, SimTable *table, SimError *error) MUST_CHECK;

/* 8115: the column's type has no more. */
bool     sim_next_identity(SimTable *table, int64_t *out, SimError *error) MUST_CHECK;
void     sim_note_identity(SimTable *table, int64_t value); /* IDENTITY_INSERT */
uint64_t sim_next_rowversion(SimDatabase *database);
uint64_t sim_last_rowversion(const SimDatabase *database); /* @@DBTS */

/* --- scans --- */
/* A range of an index: equalities on a prefix of its columns, then one bound pair on the next. In
 * index order or backwards. */
typedef struct SimBound {
    bool     is_set, is_inclusive;
    SimValue value;
} SimBound;
typedef struct SimRange {
    const SimIndex *index; /* NULL: the clustered order or the heap */
    const SimValue *equal; /* values of the index columns' exact types */
    size_t          equal_count;
    /* On the column after the prefix. `low` may be a NULL value when exclusive: it skips NULLs. */
    SimBound low, high;
    bool     backwards;
} SimRange;
/* What the statement sees: the isolation of `txn`, a hint (NOLOCK and friends) already folded in by
 * the caller. */
typedef struct SimScanOptions {
    SimIsolation isolation;
    /* Rows are about to be changed: takes update locks; the rows then stay valid until the
     * transaction ends. */
    bool for_update;
    bool read_past;
    /* READCOMMITTEDLOCK: no versions, whatever the database says. */
    bool locks_rows;
    bool exclusive; /* with for_update: XLOCK */
    bool no_wait;   /* NOWAIT: 1222 at the first lock that is not free */
    /* With for_update: the scan finds the rows of an UPDATE or DELETE, and SNAPSHOT looks for
     * conflicts when it writes. Else a hint, and SNAPSHOT looks at once. */
    bool is_target;
    /* The caller wants about that many rows, so batches stay small; 0: unknown. Rows it drops are no such ones:
     * sim_scan_drop. */
    int64_t limit_hint;
} SimScanOptions;
bool sim_scan_open(SimTxn *txn, SimTable *table, const SimRange *range,
                   const SimScanOptions *options, SimScan **out, SimError *error) MUST_CHECK;
/* The next rows, at most a batch (some hundreds); *count_out 0 at the end. They stay valid until
 * the next call or the close. */
bool sim_scan_next(SimScan *scan, const SimRow *const **rows_out, size_t *count_out,
                   SimError *error) MUST_CHECK;
/* The same rows as integers, for columns of the integer types that are NOT NULL: column i of the next rows into `out[i]`,
 * which has room for SIM_SCAN_ROWS. Not after sim_scan_next on the same scan. */
#define SIM_SCAN_ROWS 1024
bool sim_scan_next_ints(SimScan *scan, const size_t *ordinals, size_t column_count,
                        int64_t *const *out, size_t *count_out, SimError *error) MUST_CHECK;
/* Where positions are known (a synthetic table): how many rows are left; -1: only a scan tells. */
int64_t sim_scan_rows_left(const SimScan *scan);
void    sim_scan_pass(SimScan *scan, int64_t rows); /* passes over so many of those left */
void    sim_scan_drop(SimScan *scan);
/* With for_update: row `index` of the last batch does not qualify; its lock goes and the row stays
 * valid only until the next call. */
void    sim_scan_skip(SimScan *scan, size_t index);
void    sim_scan_close(SimScan *scan); /* before its transaction ends; accepts NULL */
bool    sim_scan_was_seek(const SimScan *scan);
int64_t sim_scan_rows_examined(const SimScan *scan);

/* Decodes one column of a row; bytes point into the row. */
void sim_row_value(const SimTable *table, const SimRow *row, size_t ordinal, SimValue *out);
/* The column's bytes in TDS row format, always the nullable form with its length prefix (INTN, not
 * INT4), for sinks that copy rather than decode. */
Bytes sim_row_wire(const SimTable *table, const SimRow *row, size_t ordinal);
/* What such bytes stand for under a type; the value's bytes point into them. */
void sim_wire_value(const SimType *type, Bytes wire, SimValue *out);
bool sim_type_same(const SimType *left, const SimType *right); /* stored alike, too */

/* --- principals and permissions (2.15) --- */
typedef enum SimPermission {
    SIM_PERM_SELECT              = 1,
    SIM_PERM_INSERT              = 2,
    SIM_PERM_UPDATE              = 4,
    SIM_PERM_DELETE              = 8,
    SIM_PERM_EXECUTE             = 16,
    SIM_PERM_CONTROL             = 32,
    SIM_PERM_VIEW_SERVER_STATE   = 64,
    SIM_PERM_VIEW_DATABASE_STATE = 128
} SimPermission;
typedef struct SimLogin {
    Str  name;
    bool is_sysadmin;
    Str  language; /* its default; empty: the server's */
} SimLogin;
bool sim_create_login(SimServer *server, Str name, Str password, bool is_sysadmin,
                      SimError *error) MUST_CHECK;
void sim_login_set_language(SimServer *server, Str name, Str language); /* of a login there is */
bool sim_check_login(SimServer *server, Str name, Str password, SimLogin *out);
/* In the order they were made; the first has id 1, the others from 257 on. Copies in `arena`. */
bool sim_server_next_login(SimServer *server, size_t *at, Arena *arena, SimLogin *out,
                           int32_t *id_out);
bool sim_create_user(SimDatabase *database, Str user, Str login, SimError *error) MUST_CHECK;
bool sim_create_role(SimDatabase *database, Str role, SimError *error) MUST_CHECK;
bool sim_drop_principal(SimDatabase *database, Str name, SimError *error) MUST_CHECK;
/* db_owner, db_datareader, db_datawriter, their denying ones, and own roles. */
bool sim_role_add_member(SimDatabase *database, Str role, Str member, bool add,
                         SimError *error) MUST_CHECK;
/* Name of the user a login has in the database; false: no access (4060, 916). sysadmin is dbo. */
bool sim_find_user(SimDatabase *database, const SimLogin *login, Arena *arena, Str *user_out);
/* Through other roles too; dbo is in db_owner. */
bool sim_is_member(SimDatabase *database, Str user, Str role);
bool sim_is_owner(SimDatabase *database, Str user); /* dbo or a member of db_owner */
/* object_id 0 with schema "": the database; object_id 0 with schema: the schema. column empty: the
 * whole object. */
bool sim_grant(SimDatabase *database, Str principal, uint32_t permissions, int32_t object_id,
               Str schema, Str column, bool grant, bool deny, SimError *error) MUST_CHECK;
/* Every column of `columns` (count 0: the whole object, or any column when `any_column`). */
bool sim_has_permission(SimDatabase *database, Str user, SimPermission permission,
                        const SimTable *table, const Str *columns, size_t column_count,
                        bool any_column);
/* On a procedure or a view. */
bool sim_has_module_permission(SimDatabase *database, Str user, SimPermission permission,
                               const SimModule *module);
bool sim_find_login(SimServer *server, Str name, SimLogin *out); /* names live with the server */
bool sim_drop_login(SimServer *server, Str name, SimError *error) MUST_CHECK;
/* What is empty or negative stays. is_disabled: 0 or 1. */
bool sim_alter_login(SimServer *server, Str name, Str new_name, Str password, int is_disabled,
                     SimError *error) MUST_CHECK;
bool sim_has_principal(SimDatabase *database, Str name, bool is_role);
/* For the catalog views; copies in `arena`. */
typedef struct SimPrincipal {
    Str     name, login; /* login: of users */
    int32_t id;
    bool    is_role, is_fixed;
    Str    *roles; /* it is a member of */
    size_t  role_count;
} SimPrincipal;
typedef struct SimGrantInfo {
    Str      principal;
    int32_t  object_id;
    Str      schema, column;
    uint32_t granted, denied;
} SimGrantInfo;
bool sim_database_next_principal(SimDatabase *database, size_t *at, Arena *arena,
                                 SimPrincipal *out);
bool sim_database_next_grant(SimDatabase *database, size_t *at, Arena *arena, SimGrantInfo *out);

#endif
