/* session_internal.h - a session's state: its database, options, variables, transactions and prepared statements, and how statements, procedures
 * and results meet. */
#ifndef TIDESIM_SESSION_INTERNAL_H
#define TIDESIM_SESSION_INTERNAL_H

#include "base/map.h"
#include "sim/exec/exec_internal.h"

/* --- variables --- */
typedef struct Variable {
    Str       name; /* with its @ */
    SimType   type;
    SimValue  value;
    uint8_t  *bytes; /* the value's own */
    size_t    capacity;
    SimTable *table; /* a table variable */
} Variable;

typedef struct SqlCursor SqlCursor;

/* One level of code: a batch, the text of sp_executesql, a procedure. */
typedef struct Frame Frame;
struct Frame {
    Frame           *outer;
    Arena           *arena;
    Map             *variables; /* lower-case name to Variable */
    bool             in_procedure;
    int32_t          return_status;
    bool             has_status; /* RETURN gave one */
    int              worst;      /* highest severity of its errors, above 10 */
    int              try_depth;
    const SimModule *module;        /* the procedure whose text runs */
    SqlCursor       *cursors;       /* LOCAL ones */
    size_t           context_count; /* EXECUTE AS contexts there were when it began */
};

typedef struct SavedContext { /* what REVERT goes back to */
    SimLogin     login;
    Str          user;
    SimDatabase *database, *impersonated;
    bool         no_revert;
} SavedContext;

/* --- transactions --- */
#define SESSION_TXNS 32 /* databases one transaction may touch */
typedef struct SessionTxn {
    SimDatabase *database;
    SimTxn      *txn;
    uint64_t     mark; /* where the running statement began */
} SessionTxn;
typedef struct SavePoint {
    Str      name;
    size_t   txn_count, temp_count;
    uint64_t marks[SESSION_TXNS];
} SavePoint;

typedef struct
    SessionOptions { /* what SET changes and a reset or the end of sp_executesql restores */
    SimIsolation isolation;
    bool         nocount, xact_abort, implicit_transactions, quoted_identifier, fmtonly, noexec;
    bool         ansi_nulls, ansi_padding, ansi_warnings, arithabort, concat_null_yields_null,
        ansi_null_dflt_on, cursor_close_on_commit, numeric_roundabort;
    int64_t row_limit; /* SET ROWCOUNT; 0: none */
    int64_t lock_timeout_ms;
    int     deadlock_priority;
    int     text_size;
    int     date_first;
    char    date_format[4];
    char    language[32];
} SessionOptions;

typedef struct Prepared {
    int32_t  handle;
    Arena   *arena;
    Str      text;
    StmtList stmts;
    bool     is_parsed;
    Str      definitions; /* "@p1 nvarchar(22), @p2 int" */
    bool     is_call;     /* `text` is a procedure's name */
} Prepared;

typedef struct ContextValue {
    SimValue value;
    bool     is_read_only;
} ContextValue;

typedef struct TempTable {
    Str       name; /* as written: #t */
    SimTable *table;
    Frame    *frame;
    bool      is_pending; /* made in the open transaction */
} TempTable;

/* What other sessions may see while this one works, by its views. */
typedef struct SessionPublic {
    atomic_bool            is_running;
    atomic_int             tran_count, isolation;
    _Atomic int64_t        request_us, row_count;
    _Atomic(SimDatabase *) database;
    _Atomic(const char *)  command; /* of the statement that runs */
} SessionPublic;

/* What one session counts; others read it while it does. */
typedef struct SessionStats {
    _Atomic int64_t rows_examined, rows_returned, seeks, scans, bytes_sent, blocked_ns, statements;
    _Atomic int64_t lock_waits; /* of the waiter when the statement began */
} SessionStats;
/* Only the session's own thread adds, so no add is lost. */
static inline void stat_add(_Atomic int64_t *count, int64_t n)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* A fault that waits inside the result, and the pace of its rows. */
typedef struct RowWatch {
    SimFault fault;
    uint64_t fault_id;
    bool     is_armed;
    int64_t  rows; /* sent since */
    int64_t  row_pace_ns, next_row_ns;
    bool     has_pending; /* the error that ends the statement */
    SimError pending;
} RowWatch;

typedef struct Front Front;
typedef struct Bulk  Bulk; /* an INSERT BULK that waits for its rows */

struct SimSession { /* NOLINT(clang-analyzer-optin.performance.Padding): by subject */
    SimServer     *server;
    Front         *front;
    Arena         *arena; /* as long as the session */
    int32_t        id;
    SimLogin       login;
    Str            app_name, host_name;
    SimDatabase   *database, *login_database;
    Str            user; /* in `database` */
    int64_t        login_us, request_us;
    bool           is_encrypted;
    SimWaiter      waiter;
    SessionOptions options, login_options;

    SimSink    *sink;
    bool        sink_failed;
    bool        columns_sent; /* by the statement that runs */
    Frame      *frame;
    Arena      *request_arena;
    const Stmt *stmt; /* running */
    SessionPublic public;

    SessionTxn txns[SESSION_TXNS];
    size_t     txn_count;
    int        tran_count;
    uint64_t   descriptor;
    Str        tran_name; /* of the outermost BEGIN TRANSACTION */
    bool       doomed;
    bool       read_only_intent; /* it sees a database's secondary where there is one */
    LIST(SavePoint) save_points;
    int     statement_depth;
    size_t  statement_temps; /* temporary tables there were when the statement began */
    SimTxn *variable_txn;    /* table variables outlive rollbacks */

    int64_t        row_count;  /* @@ROWCOUNT */
    int32_t        last_error; /* @@ERROR */
    SimError       caught;     /* ERROR_NUMBER() and friends, inside CATCH */
    bool           has_caught;
    SimValue       scope_identity, identity;
    SimTable      *identity_insert;
    Bulk          *bulk;
    SimBulkSource *bulk_source; /* while its rows come in */
    Map           *prepared;    /* handle as text */
    int32_t        next_handle;
    Map           *cursors; /* handle as text; NULL: none */
    int32_t        next_cursor;
    LIST(TempTable) temp_tables;
    Map       *context;       /* sp_set_session_context: name to ContextValue */
    int64_t    rand_state[2]; /* of RAND(); [0] is 0 before its first use */
    int        proc_depth;
    SqlCursor *sql_cursors; /* T-SQL's GLOBAL ones */
    int        fetch_status;
    int64_t    cursor_rows;
    LIST(SavedContext) contexts;
    SimDatabase *impersonated; /* EXECUTE AS USER: the database the user is of */
    Frame       *caught_frame; /* where `caught` came up */
    bool         scope_ended;  /* the last FLOW_END ends its own text alone, not its callers */
    bool         inserts_exec; /* INSERT ... EXEC collects rows */

    SessionStats stats, statement_stats;
    bool         io_is_aside; /* a control's answer is no part of what the last statement sent */
    int64_t      last_wait_ms;
    SimSession  *next;     /* in the front's list */
    bool         is_aside; /* the server's own: no control touches it */
    Turn         turn;     /* unused by those aside: they run in their caller's */
    bool         close_wanted;
    bool         ends_after; /* the request that runs is the last one, and is answered */
    atomic_bool  is_gone;    /* the client */
    SimWire     *wire;       /* NULL: in-process */
    RowWatch     watch;
    Str          traced; /* the request that runs, as the trace has it; empty: it is not traced */
    int64_t      traced_rows, traced_examined;
    int32_t      traced_error;
    void (*on_kill)(void *arg); /* with the front's lock held */
    void *on_kill_arg;
};

void session_publish(SimSession *session, bool is_running);
void session_stats_begin(SimSession *session); /* of a statement */
/* --- options and variables --- */
void options_default(SessionOptions *options, bool odbc);
void session_use_options(SimSession *session); /* tells the waiter */
/* The style of a text that becomes a date without one: what DATEFORMAT says. */
int       session_date_style(const SimSession *session, const SimType *from, const SimType *to);
bool      session_convert(const SimSession *session, const SimValue *value, const SimType *to,
                          Arena *arena, SimValue *out, SimError *error) MUST_CHECK;
Frame    *frame_push(SimSession *session, bool in_procedure);
void      frame_pop(SimSession *session);
void      frame_free_variables(Frame *frame);
Variable *frame_declare(Frame *frame, Str name, const SimType *type);
Variable *frame_find(const Frame *frame, Str name);
void      variable_set(Variable *variable, const SimValue *value);

/* --- databases and principals --- */
bool session_use_database(SimSession *session, Str name, SimError *error) MUST_CHECK; /* 911, 916 */
bool session_is_owner(const SimSession *session); /* dbo, db_owner, sysadmin */
bool session_user_in(SimSession *session, SimDatabase *database,
                     Str *user_out); /* in the session's arena */
bool session_can_see(SimSession *session, SimDatabase *database,
                     SimTable *table);                               /* metadata visibility */
int64_t session_local_us(const SimSession *session, int64_t utc_us); /* the server's clock */

/* --- transactions --- */
SimTxn *session_txn(SimSession *session, SimDatabase *database); /* begins one when needed */
bool    session_reads_secondary(const SimSession *session, const SimDatabase *database);
bool    session_may_write(const SimSession *session, SimError *error) MUST_CHECK; /* 3906 */
bool    session_begin(SimSession *session, Str name);
bool    session_commit(SimSession *session, SimError *error) MUST_CHECK;
bool    session_rollback(SimSession *session, Str name, SimError *error) MUST_CHECK;
bool    session_save(SimSession *session, Str name, SimError *error) MUST_CHECK;
void    session_abandon(
       SimSession *session); /* rolls back everything, silently but for the environment change */
void session_statement_begin(SimSession *session);
bool session_statement_end(SimSession *session, bool ok,
                           SimError *error) MUST_CHECK; /* false: the commit failed */

/* --- databases and who is in them (session/database.c) --- */
bool run_alter_database(SimSession *session, const Stmt *stmt, SimError *error) MUST_CHECK;
/* 924: another session has it for itself. */
bool database_lets_in(SimSession *session, SimDatabase *database, SimError *error) MUST_CHECK;

void session_set_language(SessionOptions *options, Str name);
/* The message in the session's language, where it has one. Texts of user errors stay. */
void session_translate(const SimSession *session, SimError *error);
bool session_is_in_try(const SimSession *session); /* an error goes to a CATCH */
bool session_reconfigure(SimSession *session, SimError *error) MUST_CHECK; /* RECONFIGURE */

/* --- results --- */
bool session_send_columns(SimSession *session, const SimResultColumn *columns, size_t count);
bool session_send_row(SimSession *session, const SimValue *values, size_t count);
/* Only where the sink has `wire_row`. */
bool session_send_wires(SimSession *session, const Bytes *wires, const SimValue *values,
                        size_t count);
bool session_send_message(SimSession *session, const SimError *message);
bool session_send_info(SimSession *session, int32_t number, int severity, int state, int32_t line,
                       const char *fmt, ...) PRINTF(6, 7);
bool session_send_done(SimSession *session, uint16_t command, bool has_count, int64_t count,
                       bool has_error);
bool session_alive(SimSession *session, SimError *error); /* no attention, no kill */

/* --- running --- */
typedef enum Flow {
    FLOW_NEXT,
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_RETURN,
    FLOW_THROWN, /* to the nearest CATCH; the error is in session->caught */
    FLOW_END,    /* the batch ends; the error was sent */
    FLOW_CLOSE,  /* the connection ends */
} Flow;
Flow run_statements(SimSession *session, const StmtList *stmts);
Flow run_statement(SimSession *session, const Stmt *stmt);
/* After a failed statement: sends or throws the error and decides how to go on. */
Flow run_failed(SimSession *session, const Stmt *stmt, SimError *error, uint16_t command,
                bool is_dml);
Flow run_text(SimSession *session, Str sql); /* parses and runs in the current frame */
/* One expression by itself: IF, SET, PRINT, arguments. The value is kept in `arena`. */
bool run_expression(SimSession *session, const Expr *expr, Arena *arena, SimValue *out,
                    SimError *error) MUST_CHECK;
bool run_condition(SimSession *session, const Expr *expr, bool *out, SimError *error) MUST_CHECK;
/* PRINT, RAISERROR, THROW (exec/raise.c). */
bool run_print(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error) MUST_CHECK;
bool run_raiserror(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error) MUST_CHECK;
bool run_throw(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error) MUST_CHECK;

/* SET ROWCOUNT around a statement's rows. */
Op  *row_limit(const SimSession *session, Op *op, Arena *arena);
void select_columns(const SelectPlan *plan, SimResultColumn *columns);
bool session_sleep(SimSession *session, int64_t us,
                   SimError *error) MUST_CHECK;      /* an attention ends it */
bool session_kill(Front *front, int32_t session_id); /* false: no such session */

/* Statements, by file. They return false with an error. */
typedef struct StatementResult {
    uint16_t command;
    bool     has_count;
    int64_t  count;
    bool     is_silent; /* no DONE */
} StatementResult;
bool run_select(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error);
bool run_select_into(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                     SimError *error);
bool run_insert(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error);
bool run_insert_bulk(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                     SimError *error);
bool run_update(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error);
bool run_delete(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error);
bool run_ddl(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
             SimError *error);
bool run_principal(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                   SimError *error);
bool run_module(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error);
bool run_merge(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
               SimError *error);
bool run_cursor(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
                SimError *error);
void cursors_free(SqlCursor **list);
bool run_context(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error);
void context_revert_to(SimSession *session, size_t count);
bool run_set_option(SimSession *session, const Stmt *stmt, Arena *arena, SimError *error);
bool run_declare_table(SimSession *session, const VariableDef *def, Arena *arena, SimError *error);

void session_drop_cursors(SimSession *session);
/* Keeps an INSERT BULK until its rows come; another request forgets it. */
bool session_announce_bulk(SimSession *session, const Stmt *stmt, SimError *error) MUST_CHECK;
void session_forget_bulk(SimSession *session);

/* Around every request (session/request.c). */
void request_begin(SimSession *session, SimSink *sink);
bool request_end(SimSession *session, Flow flow) MUST_CHECK;

/* --- procedures --- */
typedef struct ProcArg {
    Str      name; /* with its @, or empty */
    SimValue value;
    bool     is_output, is_default;
    Str      target;   /* the variable OUTPUT goes to */
    SimType  declared; /* of a client's parameter: what an OUTPUT comes back as */
} ProcArg;
typedef struct ProcCall {
    SimSession             *session;
    Arena                  *arena;
    Str                     name;
    ProcArg                *args;
    size_t                  count;
    int32_t                 status;
    SimError               *error;
    Flow                    flow;  /* FLOW_NEXT unless what it ran ended otherwise */
    const SimResultColumn  *types; /* of the result set being sent */
    const struct ProcEntry *entry;
} ProcCall;
typedef bool (*ProcRun)(ProcCall *call);
typedef struct ProcEntry {
    const char *name;
    ProcRun     run;
    const char
        *parameters; /* "a,b int": names by position, with types where proc_text_run needs them */
} ProcEntry;
/* Runs the T-SQL of ours that the procedure is, its parameters as variables: nvarchar(4000) without a type. */
bool proc_text_run(ProcCall *call);
Str  proc_text_of(const ProcEntry *entry);
/* By name, as a client or EXEC names it; NULL: 2812. */
const ProcEntry *proc_find(SimSession *session, const ObjectName *name);
/* The error of a name that proc_find does not know: 50001 where SQL Server has it, else 2812. */
bool            proc_unknown(ProcCall *call, const ObjectName *name, Str text);
bool            proc_bind_args_unless_open(ProcCall        *call,
                                           const ProcEntry *entry) MUST_CHECK; /* not for "*" */
bool            proc_run(ProcCall *call, const ProcEntry *entry);
bool            session_reset_proc(ProcCall *call);
const SimValue *proc_arg(const ProcCall *call, size_t index); /* NULL: not given, or DEFAULT */
bool proc_text(ProcCall *call, size_t index, Str *out);       /* UTF-8; false: not given or NULL */
bool proc_i64(ProcCall *call, size_t index, int64_t *out)
    MUST_CHECK; /* true with *out untouched when not given; false: an error */
void             proc_set_output(ProcCall *call, size_t index, const SimValue *value);
const SimModule *module_find(SimSession *session, const ObjectName *name); /* NULL: none */
bool             module_call(ProcCall *call, const SimModule *module) MUST_CHECK;
Flow run_exec(SimSession *session, const Stmt *stmt, Arena *arena, StatementResult *result,
              SimError *error, bool *failed);

/* Result sets of our own: columns as "name type" pairs, then rows of values. */
typedef struct ResultSpec {
    const char *name, *type;
} ResultSpec;
bool     proc_columns(ProcCall *call, const ResultSpec *specs, size_t count);
bool     proc_row(ProcCall *call, const SimValue *values, size_t count);
bool     proc_done(ProcCall *call, int64_t row_count);
SimValue value_text(Arena *arena, Str utf8); /* nvarchar */
SimValue value_int(int64_t value);           /* int */
SimValue value_bigint(int64_t value);
SimValue value_bit(bool value);
SimValue value_lsn(Arena *arena, Lsn lsn); /* binary(10) */
SimValue value_null(void);
SimValue value_datetime(int64_t local_us);

/* --- describing statements without running them --- */
typedef struct Undeclared {
    Str     name;
    SimType type;
    bool    is_known; /* from what it meets; nvarchar(4000) until then */
} Undeclared;
typedef LIST(Undeclared) UndeclaredList;
bool describe_text(ProcCall *call, Str text, Str definition_text, SimResultColumn **columns_out,
                   size_t *count_out, SimError *error) MUST_CHECK;
bool describe_statements(SimSession *session, const StmtList *stmts, Arena *arena,
                         SimResultColumn **columns_out, size_t *count_out,
                         SimError *error) MUST_CHECK;
bool describe_undeclared(SimSession *session, Str text, Arena *arena, UndeclaredList *out,
                         SimError *error) MUST_CHECK;
/* Names of columns, functions and variables that do not bind (207, 195, 4104, ...): nothing of the batch runs then (2.5). */
bool describe_check_body(SimSession *session, const StmtList *stmts, SimError *error) MUST_CHECK;
bool describe_check_names(SimSession *session, const StmtList *stmts, SimError *error) MUST_CHECK;
int  catalog_type_id(const SimType *type); /* system_type_id */
int  catalog_tds_type(const SimType *type);
int  catalog_max_length(const SimType *type);
int  catalog_precision(const SimType *type);
int  catalog_scale(const SimType *type);

extern const ProcEntry cdc_procs[], cdc_job_procs[], config_procs[], catalog_procs[], text_procs[],
    control_procs[], session_procs[], cursor_procs[];

bool control_synthetic(ProcCall *call);

ObjectName name_split(Arena *arena, Str text); /* "[db].[schema].[name]" */
SimTable  *session_find_object(SimSession *session, Arena *arena, Str text,
                               SimDatabase **database_out); /* that the session may see */

/* --- CDC access (sqlserver.md 2.15) --- */
bool cdc_can_access(SimSession *session, const SimCaptureInstance *instance);
bool cdc_can_access_in(SimSession *session, SimDatabase *database,
                       const SimCaptureInstance *instance);
void cdc_append_name(Buf *buf, Str name); /* "[a], [b]" */
bool cdc_need_enabled(ProcCall *call);    /* 22901 */
bool cdc_need_owner(ProcCall *call);      /* 22904 */
bool cdc_min_lsn(SimSession *session, SimDatabase *database, Str name, Arena *arena, SimValue *out);

/* --- the server's other half: sessions, controls, virtual clock --- */
Front      *front_of(SimServer *server);
int         front_version(const SimSession *session); /* 2016 ... 2025 */
Str         front_zone(const SimSession *session);
SimSession *front_first_session(Front *front);
void        front_lock(Front *front);
void        front_unlock(Front *front);
/* Hooks of the controls. */
bool control_statement(SimSession *session, const Stmt *stmt,
                       SimError *error) MUST_CHECK; /* faults */
bool control_call(SimSession *session, const ObjectName *name, Str text,
                  SimError *error) MUST_CHECK; /* faults at a remote procedure call */
void control_trace(SimSession *session, Str text, const ProcArg *args, size_t count);
/* on_read: whether somebody waits for rows of this read, and what is due once it has read so many. */
bool control_read_is_watched(SimSession *session, const SimTable *table);
bool control_reading(SimSession *session, const SimTable *table, int64_t rows,
                     SimError *error) MUST_CHECK;

/* "sqlserver.md 2.1" server facts */
Str server_product_version(Arena *arena, int version);
Str server_version_text(Arena *arena, int version);
Str server_update_level(int version);  /* "CU15"; empty: none */
Str server_product_level(int version); /* "RTM", "SP3" */

#endif
