/* mssql_internal.h - what the files of source/ share. */
#ifndef TIDELAKE_SOURCE_MSSQL_INTERNAL_H
#define TIDELAKE_SOURCE_MSSQL_INTERNAL_H

#include "source/mssql.h"
#include "source/mssql_text.h"

#include "base/buf.h"

/* What Q01 tells. */
typedef struct ServerFacts {
    int64_t major_version;
    int64_t engine_edition;
    Str     database;
    Str     user_name;
    Str     collation;
    bool    is_cdc_enabled;
    bool    is_read_only;
    int64_t snapshot_isolation_state;
} ServerFacts;

/* How a server-clock time becomes UTC (1.8). A value: readers copy it. */
typedef struct ServerClock {
    enum { SERVER_CLOCK_FIXED, SERVER_CLOCK_ZONE } kind;
    int64_t offset_minutes; /* FIXED: minutes east */
    Str     zone;           /* ZONE: passed the validator */
} ServerClock;

typedef struct ColumnCache ColumnCache;

struct Mssql {
    MssqlOptions options;
    Arena       *arena;
    Str table_connection; /* what kept connections with the settings of table reads are found under */
    SqlConn    *meta;
    ServerFacts facts;
    ServerClock clock;
    bool        has_clock;
    bool        clock_is_guess;          /* Q05: right until the next daylight-saving change */
    Str         pending_warning;         /* for the next mssql_refresh_clock; empty: none */
    Lsn         neighbour_of, neighbour; /* the last LSN asked for what comes before it, and that */
    Lsn         newest_commit; /* zero, or one whose local time is known: it never changes */
    int64_t     newest_local_us;
    _Atomic int64_t round_trip_ns; /* mssql_round_trip; 0: none yet */
    int             retry_depth;   /* a question inside mssql_retry does not retry by itself */
    Arena          *cache_arena;
    ColumnCache    *cache;
    Str             last_schema, last_table; /* of the last table found: Q19 before Q18 */
    Arena          *last_arena;
};

/* What a connection is for (sqlserver.md 1.1). */
typedef enum ConnKind {
    CONN_META,   /* questions; one, as long as it works */
    CONN_CHANGE, /* a range of a change table */
    CONN_TABLE,  /* rows of the source table, which may wait for a writer for as long as it takes */
    CONN_KEYS,   /* questions about its keys, which may as well; for one Cutter */
} ConnKind;

/* Connects with the options' string and timeouts; for a range of changes, or rows of the table, one that was kept
 * for the like will do (is_reused: it may turn out dead). */
bool mssql_connect(Mssql *mssql, ConnKind kind, SqlConn **out, Err *err) MUST_CHECK;
/* The range is read: the connection waits for the next one of its kind if nothing was wrong with it. Accepts
 * NULL. */
void mssql_give_back(Mssql *mssql, ConnKind kind, SqlConn *conn);

/* --- small results --- */
typedef struct Rows {
    Schema   schema;
    RowBlock block;
} Rows;

#define ROWS_LIMIT          1000000
#define MSSQL_QUESTIONS_MAX 32

/* On a given connection, no retry. */
bool mssql_rows_on(SqlConn *conn, Str text, const SqlParam *params, size_t param_count,
                   size_t limit, Arena *arena, Rows *out, Err *err) MUST_CHECK;
bool mssql_answer_on(SqlConn *conn, const SqlQuery *question, size_t limit, Arena *arena, Rows *out,
                     Err *err) MUST_CHECK;
/* On `meta`, under the retry policy. */
bool mssql_ask(Mssql *mssql, const char *method, Str text, const SqlParam *params,
               size_t param_count, size_t limit, Arena *arena, Rows *out, Err *err) MUST_CHECK;

/* By name, ignoring case; ERR_INTERNAL names what is missing. -1 when absent. */
bool    rows_find(const Rows *rows, const char *name, size_t *index_out, Err *err) MUST_CHECK;
bool    rows_is_null(const Rows *rows, size_t row, size_t column);
Str     rows_str(const Rows *rows, size_t row, size_t column); /* empty when NULL */
int64_t rows_i64(const Rows *rows, size_t row, size_t column,
                 int64_t or_null); /* integers and bits */
bool    rows_lsn(const Rows *rows, size_t row, size_t column, Lsn *out, bool *is_null_out,
                 Err *err) MUST_CHECK; /* binary(10) or its text */

SqlParam param_str(Str text);
SqlParam param_lsn(Arena *arena, Lsn lsn);

/* --- questions on any connection --- */
/* As they are asked, one by one or ahead. `arena` holds text and parameters. */
SqlQuery mssql_question(Arena *arena, Str text, const SqlParam *params, size_t param_count);
SqlQuery mssql_max_lsn_question(Arena *arena);                          /* Q06 */
SqlQuery mssql_min_lsn_question(Arena *arena, Str capture_instance);    /* Q07 */
SqlQuery mssql_next_lsn_question(Arena *arena, Lsn lsn);                /* Q08 */
SqlQuery mssql_previous_lsn_question(Arena *arena, Lsn lsn);            /* Q09 */
SqlQuery mssql_commit_question(Arena *arena, Lsn lsn);                  /* Q10 */
SqlQuery mssql_nth_commit_question(Arena *arena, Lsn after, int64_t n); /* Q14 */
SqlQuery mssql_table_question(Arena *arena, Str schema, Str table);     /* Q19 */
SqlQuery mssql_ddl_question(Arena *arena, Str capture_instance);        /* Q21 */
SqlQuery mssql_offset_question(Arena *arena);                           /* Q05 */
SqlQuery mssql_range_offsets_question(Arena *arena, const ServerClock *clock, Lsn from,
                                      Lsn to); /* Q12; of a zone */
SqlQuery mssql_split_question(Arena *arena, Str capture_instance, Lsn from, Lsn to,
                              int64_t tiles); /* Q15 */
SqlQuery mssql_existence_question(Arena *arena, Str capture_instance, Lsn from, Lsn to);

/* Several that will be asked on a connection, asked in one request (sqlconn_ask_ahead). */
typedef struct Questions {
    SqlQuery items[MSSQL_QUESTIONS_MAX];
    size_t   count;
} Questions;
void questions_add(Questions *questions, SqlQuery question); /* what has no room is asked later */
/* The time of exactly this commit: Q10, and Q12 where the clock is a zone. */
void questions_add_commit_time(Questions *questions, Arena *arena, const ServerClock *clock,
                               Lsn lsn);
bool mssql_ask_ahead_on(SqlConn *conn, const Questions *questions, Err *err) MUST_CHECK;
/* Q10 of the newest LSN, whichever that is when it is asked; and its answer, which is kept. */
SqlQuery mssql_newest_commit_question(Arena *arena);
bool     mssql_keep_newest_commit(Mssql *mssql, Err *err) MUST_CHECK;

bool mssql_max_lsn_on(SqlConn *conn, Lsn *out, bool *is_null_out, Err *err) MUST_CHECK;
bool mssql_min_lsn_on(SqlConn *conn, Str capture_instance, Lsn *out, bool *is_set_out,
                      Err *err) MUST_CHECK;
/* The commit at or before an LSN: its LSN and UTC time; `found_out` false when there is none. */
bool mssql_commit_before_on(SqlConn *conn, const ServerClock *clock, Lsn lsn, Lsn *commit_out,
                            OptTime *time_out, bool *found_out, Err *err) MUST_CHECK;
bool mssql_can_read_on(SqlConn *conn, Str capture_instance, bool *can_out, bool *is_denied_out,
                       Err *err) MUST_CHECK;

/* --- time (1.8) --- */
/* One offset from `from_lsn` on. */
typedef struct OffsetRun {
    Lsn     from_lsn;
    int64_t offset_minutes;
} OffsetRun;

/* The offsets of a range of commits, in LSN order; one run when one offset holds. */
typedef struct RangeClock {
    const OffsetRun *runs;
    size_t           run_count;
} RangeClock;

bool mssql_resolve_clock(Mssql *mssql, SqlConn *conn, Err *err) MUST_CHECK;
bool mssql_range_clock_on(SqlConn *conn, const ServerClock *clock, Lsn from, Lsn to, Arena *arena,
                          RangeClock *out, Err *err) MUST_CHECK;
int64_t range_clock_to_utc(const RangeClock *clock, Lsn lsn, int64_t local_us,
                           size_t *at); /* `*at` moves on with the LSNs, start at 0 */

/* The rule of the repeated hour, commit by commit in LSN order. */
typedef struct RepeatedHour {
    bool    has_drop;
    int64_t drop_us_max; /* latest local time of a drop so far */
} RepeatedHour;

typedef struct CommitOffsets { /* a row of Q13; minutes east */
    int64_t local_us, previous_us;
    bool    has_previous;
    int64_t off0, off3, off_moved;
} CommitOffsets;

int64_t repeated_hour_offset(RepeatedHour *rule, const CommitOffsets *commit);

/* --- errors --- */
/* What a failed read of a change table or source table means (1.13), with the way out. `conn`
 * answers Q23 when it still lives. */
bool mssql_explain_change_error(const Mssql *mssql, SqlConn *conn, Str capture_instance, Err *err);
bool mssql_explain_table_error(const Mssql *mssql, Str source_schema, Str source_table, Err *err);

/* --- streams --- */
/* Columns of a block that hold one value throughout, `row_count` times; an unset time is NULL. */
ColumnVector null_column(Arena *arena, ColumnType type, size_t row_count);
ColumnVector str_column(Arena *arena, Str value, size_t row_count);
ColumnVector i32_column(Arena *arena, int32_t value, size_t row_count);
ColumnVector time_column(Arena *arena, OptTime value, size_t row_count);

/* The SELECT list of captured columns: bound ones first, long ones last (1.2), and where each
 * wanted column is in it. */
typedef struct SelectList {
    Str        text;         /* "t.[a], t.[b]", empty when nothing is selected */
    ptrdiff_t *positions;    /* per wanted column: index in the list, -1: NULL */
    size_t     column_count; /* of the list */
} SelectList;

/* `instances` of one table, oldest first; a column is the newest one's that captures it.
 * `from_source`: what the table lost is NULL. */
bool                  mssql_select_list(const CaptureInstance *instances, size_t instance_count,
                                        const Schema *wanted, bool from_source, const char *alias, Arena *arena,
                                        SelectList *out, Err *err) MUST_CHECK;
const CapturedColumn *capture_find_newest(const CaptureInstance *instances, size_t count, Str name);

#endif
