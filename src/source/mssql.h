/* mssql.h - what the engine asks SQL Server, one function per question (sqlserver.md part 1).
 *
 * A Mssql is one stream's view of the source: settings, a `meta` connection that is replaced after
 * a transient error, and caches. Planning questions run under the retry policy of sqlserver.md 1.14
 * (mssql_retry). Range and table reads open connections of their own; several can run at once, on
 * other threads than the one that plans, but not while mssql_refresh_clock does. */
#ifndef TIDELAKE_SOURCE_MSSQL_H
#define TIDELAKE_SOURCE_MSSQL_H

#include "base/clock.h"
#include "base/rng.h"
#include "sqlconn/sqlconn.h"
#include "types/lsn.h"
#include "types/offset.h"

typedef struct Mssql Mssql;

typedef struct MssqlOptions {
    SqlDriver *driver;
    Clock     *clock;
    Rng       *rng;
    Log       *log;
    Cancel    *cancel;
    Str        connection; /* the connection string */
    Str        time_zone;  /* "auto", "UTC" or a Windows zone name */
    int64_t    connect_timeout_s;
    int64_t    silence_timeout_s; /* of questions and reads of changes; 0: for ever */
    int64_t    lock_timeout_ms;   /* -1: wait */
    int64_t    fetch_rows;
    bool       include_command_id;
    bool       isolation_snapshot; /* reads of the source table under SNAPSHOT */
    Str        name;               /* for log lines: the capture instance as configured */
} MssqlOptions;

/* Connects; checks that CDC is on (Q01). Strings of `options` are copied, everything else must
 * outlive the Mssql. */
bool mssql_open(const MssqlOptions *options, Mssql **out, Err *err) MUST_CHECK;
void mssql_close(Mssql *mssql); /* accepts NULL */

/* The database's collation, as Q01 told it. */
Str mssql_get_collation(const Mssql *mssql);

/* --- capture instances (Q18 to Q22) --- */
typedef struct CapturedColumn {
    Str         name;
    int32_t     column_id;
    int32_t     ordinal;
    SqlTypeKind sql_type;
    Str         sql_type_name; /* declared: "decimal(10,2)", "varchar(16)" */
    bool        has_type;      /* false: sql_variant, CLR types ... have no lake type */
    ColumnType  type;
    bool        is_byte; /* tinyint: needs 3 digits only (algorithms.md 6.5) */
    bool        is_computed;
    bool        is_in_source; /* the table still has it, same column_id */
    Str         collation;    /* of the source column, empty if none or not visible */
    bool        is_nullable;
} CapturedColumn;

typedef struct CaptureInstance {
    Str             name; /* as the server lists it */
    Str             source_schema, source_table;
    Lsn             start_lsn;
    bool            has_start_lsn;
    int64_t         create_date_us;
    const Str      *key_columns; /* the unique index's, as captured; none: count 0 */
    size_t          key_column_count;
    CapturedColumn *columns; /* filled by mssql_load_columns */
    size_t          column_count;
} CaptureInstance;

typedef struct CaptureTable { /* every instance of one source table, oldest first */
    CaptureInstance *instances;
    size_t           instance_count;
    size_t           configured;         /* the one the name resolved to, else the newest */
    bool             configured_is_gone; /* the name was found as its table's default one */
} CaptureTable;

/* Resolves a name (exactly, else ignoring case; a gone default name by its table) and lists the
 * table's instances with their columns. ERR_SOURCE_STATE with what 12.3 must tell when not found or
 * ambiguous. */
bool mssql_find_table(Mssql *mssql, Str capture_instance, Arena *arena, CaptureTable *out,
                      Err *err) MUST_CHECK;
/* Ignoring case, an exact match wins; NULL if there is none. */
const CapturedColumn *capture_find_column(const CaptureInstance *instance, Str name);
/* The source tables of several instances: one listing answers for all. Errors as
 * mssql_find_table. */
typedef struct SourceTable {
    Str schema, name;
} SourceTable;
bool mssql_find_source_tables(Mssql *mssql, const Str *capture_instances, size_t count,
                              Arena *arena, SourceTable *out, Err *err) MUST_CHECK;
/* An instance of another table than `table` among `names`, one of which may be the beginning of a
 * long one; empty when there is none. */
bool mssql_find_other_table(Mssql *mssql, const CaptureTable *table, const Str *names, size_t count,
                            Arena *arena, Str *instance_out, SourceTable *out, Err *err) MUST_CHECK;
/* A DDL statement the capture job recorded, start < lsn <= end (Q21). */
typedef struct DdlEvent {
    Lsn lsn;
    Str command;
} DdlEvent;
bool mssql_find_ddl(Mssql *mssql, const CaptureInstance *instance, Lsn start, Lsn end, Arena *arena,
                    DdlEvent **out, size_t *count_out, Err *err) MUST_CHECK;
/* Forgets cached columns, so that the next mssql_find_table reads them again. */
void mssql_forget_columns(Mssql *mssql);

/* --- positions --- */
/* Q06; NULL gives zero. */
bool mssql_max_lsn(Mssql *mssql, Lsn *out, bool *is_null_out, Err *err) MUST_CHECK;
/* Q07; NULL or zero: not set. */
bool mssql_min_lsn(Mssql *mssql, Str capture_instance, Lsn *out, bool *is_set_out,
                   Err *err) MUST_CHECK;
/* Q08, Q09: the server's neighbours; before zero is zero. */
bool mssql_next_lsn(Mssql *mssql, Lsn lsn, Lsn *out, Err *err) MUST_CHECK;
bool mssql_previous_lsn(Mssql *mssql, Lsn lsn, Lsn *out, Err *err) MUST_CHECK;
/* Commit time of exactly this LSN, unset when it is no commit's (Q10, 1.8). */
bool mssql_commit_time(Mssql *mssql, Lsn lsn, OptTime *out, Err *err) MUST_CHECK;
bool mssql_commit_time_at_or_before(Mssql *mssql, Lsn lsn, OptTime *out, Err *err) MUST_CHECK;
/* The largest LSN committed at or before a UTC time, cut to the second (Q11); not set: nothing that
 * old is mapped any more. */
bool mssql_lsn_at_time(Mssql *mssql, int64_t utc_us, Lsn *out, bool *is_set_out,
                       Err *err) MUST_CHECK;
/* Largest start_lsn among the first n mapping rows after `after`; unset when there is none (Q14).
 */
bool mssql_nth_commit(Mssql *mssql, Lsn after, int64_t n, Lsn *out, bool *is_set_out,
                      Err *err) MUST_CHECK;
/* The clock that converts commit times, read again before a batch's end is chosen (Q04, Q05). A
 * change on a server before 2022 is logged; `warning_out` (may be NULL) gets the text. */
bool mssql_refresh_clock(Mssql *mssql, Arena *arena, Str *warning_out, Err *err) MUST_CHECK;

typedef struct SplitTile { /* Q15 */
    Lsn     last_lsn, next_lsn;
    int64_t row_count;
} SplitTile;
bool mssql_split_tiles(Mssql *mssql, Str capture_instance, Lsn from, Lsn to, int64_t tiles,
                       Arena *arena, SplitTile **out, size_t *count_out, Err *err) MUST_CHECK;

/* Whether the range has any change rows: one seek, whatever the range holds. */
bool mssql_has_changes(Mssql *mssql, Str capture_instance, Lsn from, Lsn to, bool *out,
                       Err *err) MUST_CHECK;

/* --- planning in few round trips --- */
/* What the planning of a batch (start, end] will ask: the commit time of its end, the table's
 * instances, their DDL and low ends, the LSN after `start`, split points. Asked here in one
 * request, the answers wait for those questions, each for one. What was not foreseen is asked in
 * its turn. */
typedef struct PlanQuestions {
    const CaptureTable *table; /* as it was found last */
    Lsn                 start, end;
    bool                with_end_time;
    bool                with_existence; /* mssql_has_changes */
    int64_t             tiles;          /* mssql_split_tiles; 0: not */
} PlanQuestions;
bool mssql_ask_plan_ahead(Mssql *mssql, const PlanQuestions *plan, Err *err) MUST_CHECK;
/* The same for mssql_nth_commit followed by mssql_refresh_clock. */
bool mssql_ask_end_ahead(Mssql *mssql, Lsn after, int64_t commits, Err *err) MUST_CHECK;
/* The same for mssql_max_lsn, mssql_previous_lsn of `start` (zero: not), and the commit time of the newest LSN, where the
 * connection can do that. */
bool mssql_ask_newest_ahead(Mssql *mssql, Lsn start, Err *err) MUST_CHECK;
/* The plan stands: answers that nobody wanted must not serve a later question. */
void mssql_forget_ahead(Mssql *mssql);

/* --- change rows of a range (Q16, Q17) --- */
/* Of one range; folded into the batch's facts by the engine (algorithms.md 11). */
typedef struct ChangeMetrics {
    int64_t rows, deletes, inserts, updates;
    Lsn     min_lsn, max_lsn; /* zero when rows is 0 */
    OptTime min_commit_ts, max_commit_ts;
    double  rtt_ms; /* -1: unknown */
    double  read_seconds;
    int64_t read_bytes;
    int64_t network_wait_ms; /* -1: unknown */
    bool    is_last;
    /* of the last range only */
    OptTime retention_watermark_ts, source_max_commit_ts, end_commit_ts;
    double  capture_lag_seconds; /* NaN: unknown */
    Lsn     min_lsn_after;       /* Q07 after the read; zero when not set */
    bool    min_lsn_after_is_set;
} ChangeMetrics;

typedef struct ChangeRange {
    const CaptureInstance *instance;
    Lsn                    from, to; /* both belong */
    bool                   is_last;  /* of the batch */
    Lsn                    batch_end;
} ChangeRange;

/* Opens a connection and reads the range in order. The stream's schema is bronze's change form:
 * _capture_instance, _start_lsn, _seqval, _operation, [_command_id,] _commit_ts, `columns` in order
 * (typed NULLs where the instance lacks one), _batch_id, _snapshot, _chunk. When it is at its end the metrics are filled, the retention
 * question of 1.10 asked among them; the caller judges it. Close it with row_stream_close.
 * Errors: ERR_SOURCE (mssql_should_retry_read), ERR_PERMISSION with the GRANT, ERR_SCHEMA_CHANGED
 * (a column is gone or no longer fits), ERR_SOURCE_STATE with native 208 when the instance was
 * disabled, ERR_UNSUPPORTED (instance, column, type). `arena` keeps nothing. */
bool mssql_read_changes(Mssql *mssql, const ChangeRange *range, const Schema *columns,
                        int64_t batch_id, Arena *arena, ChangeMetrics *metrics, RowStream **out,
                        Err *err) MUST_CHECK;

/* One column's part of a key bound: its text as sqlserver.md 1.2 has it. */
typedef struct KeyPart {
    Str  text;
    bool is_null;
} KeyPart;

/* --- permissions (Q23) --- */
/* True when the login can read the instance's change table; else the grant to run is in
 * `grant_out`. */
bool mssql_can_read_changes(Mssql *mssql, const CaptureInstance *instance, Arena *arena,
                            bool *can_out, Str *grant_out, Err *err) MUST_CHECK;

/* What bronze's rows look like (state.md 6): leading metadata columns, captured, sink columns. */
Schema bronze_row_schema(Arena *arena, const Schema *captured, bool include_command_id);

/* Retry of planning questions: runs `call` again on a transient error, at most 3 times
 * (sqlserver.md 1.14), on a new meta connection. */
typedef bool (*MssqlCall)(Mssql *mssql, void *arg, Err *err);
bool mssql_retry(Mssql *mssql, const char *method, MssqlCall call, void *arg, Err *err) MUST_CHECK;
/* For range and table reads: true (after the wait and the warning) when another attempt should be
 * made; attempts counted from 1. */
bool mssql_should_retry_read(Mssql *mssql, const char *method, int attempt, const Err *err);

#endif
