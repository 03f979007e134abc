/* bind_internal.h - from names to slots and plans. A Binder serves one statement: it resolves names against the catalogue as the session's
 * user may see it, gives types to expressions, checks permissions at the end, and has the planner make operators of the rest. */
#ifndef TIDESIM_BIND_INTERNAL_H
#define TIDESIM_BIND_INTERNAL_H

#include "sim/exec/exec_internal.h"
#include "sim/function/aggregate_internal.h"
#include "sim/session/session_internal.h"

typedef struct Binder Binder;

/* --- sources --- */
typedef enum BoundKind { BOUND_TABLE, BOUND_VIRTUAL, BOUND_DERIVED } BoundKind;

typedef struct BoundColumn {
    Str     name;
    SimType type;
    bool    is_nullable, is_identity, is_computed;
    int     slot;    /* -1: nobody asked for it yet */
    Node   *node;    /* DERIVED: what it stands for */
    size_t  ordinal; /* in the table */
} BoundColumn;

/* Rows the server makes up: catalog views, GENERATE_SERIES. */
typedef struct VirtualColumn {
    const char *name;
    const char *type; /* as in DDL */
} VirtualColumn;
typedef struct
    VirtualRows { /* what fills a virtual table: begin a row, set columns, all of it kept in `arena` */
    Arena *arena;
    size_t column_count;
    LIST(SimValue *) rows;
    const BoundSource *source;
    size_t             cursor;   /* of view_set: columns are mostly set in order */
    bool               has_more; /* fill gave some rows and wants to be called again */
    void              *state;    /* of such a fill, NULL at first; in `keep` */
    Arena             *keep;
    bool               lsn_has_nul; /* for dm_cdc_log_scan_sessions */
} VirtualRows;
typedef struct VirtualTable {
    const char          *schema, *name;
    const VirtualColumn *columns;
    size_t               column_count;
    bool (*fill)(VirtualRows *rows, Exec *exec, BoundSource *source);
    bool          is_function;   /* takes arguments */
    bool          is_owner_only; /* 229 for everyone else */
    SimPermission permission; /* VIEW SERVER STATE or VIEW DATABASE STATE: 300 or 262 without it */
    const char   *query;      /* text of ours that gives the rows, instead of `fill` */
} VirtualTable;
/* What is not static lives in `arena`. */
const VirtualTable *virtual_table_find(Arena *arena, Str schema, Str name);

struct BoundSource {
    BoundKind           kind;
    Str                 alias;
    Str                 schema, name; /* of a table without alias */
    QueryScope         *scope;
    unsigned            index; /* in its scope, below 64 */
    SimDatabase        *database;
    SimTable           *table;
    const SimTableInfo *info;
    const VirtualTable *virtual_table;
    Node              **args;
    size_t              arg_count;
    SelectPlan         *query;
    QueryScope         *query_scope; /* what a derived table takes from outside */
    BoundColumn        *columns;
    size_t              column_count;
    int                 row_slot; /* holds the SimRow of a table that is changed; -1 */
    bool                for_update, read_past, has_isolation, is_table_variable;
    bool                locks_rows, exclusive, no_wait; /* READCOMMITTEDLOCK, XLOCK, NOWAIT */
    SimIsolation        isolation;
    int                 table_lock; /* 1: TABLOCK, 2: TABLOCKX */
    bool                is_trusted; /* named by text of ours */
};

/* --- scopes --- */
typedef enum BindPhase { PHASE_INPUT, PHASE_OUTPUT } BindPhase;

struct AggregateCall {
    const SimAggregate *function;
    Node               *arg;       /* NULL: COUNT(*) */
    Node               *separator; /* STRING_AGG */
    SortItems           order;     /* WITHIN GROUP */
    bool                distinct;
    int                 slot;
    SimType             type;
};
typedef enum WindowKind {
    WINDOW_ROW_NUMBER,
    WINDOW_RANK,
    WINDOW_DENSE_RANK,
    WINDOW_NTILE,
    WINDOW_LAG,
    WINDOW_LEAD,
    WINDOW_FIRST_VALUE,
    WINDOW_LAST_VALUE,
    WINDOW_AGGREGATE,
} WindowKind;
struct WindowCall {
    WindowKind    kind;
    bool          has_frame, is_range;
    FrameBound    start, end;
    Node         *arg, *offset, *otherwise;
    AggregateCall aggregate;
    NodeList      partition;
    SortItems     order;
    int           slot;
    SimType       type;
};

struct QueryScope {
    QueryScope *outer;
    LIST(BoundSource *) sources;
    LIST(BoundSource *) outer_refs; /* sources further out that were used from here */
    BindPhase phase;
    bool      is_grouped;
    LIST(Expr *) group_exprs;
    NodeList group_nodes;
    SlotList group_slots;
    LIST(AggregateCall *) aggregates;
    LIST(WindowCall *) windows;
    bool             allows_windows, allows_aggregates;
    bool             is_in_aggregate;
    struct JoinTree *tree;
};

typedef struct CteFrame CteFrame;
struct CteFrame {
    const CommonTable *table;
    CteFrame          *outer;
    const SelectPlan  *shape; /* while its recursive members are bound: the row they see */
};

typedef struct Substitution { /* a name inside text of ours that stands for a node */
    Str   name;
    Node *node;
} Substitution;

typedef struct TableUse {
    BoundSource  *source;
    SimPermission permission;
    const Str    *columns;
    size_t        column_count;
} TableUse;

struct Binder {
    SimSession *session;
    Arena      *arena;
    SimError   *error;
    int         slot_count;
    CteFrame   *ctes;
    LIST(BoundSource *) all_sources;
    LIST(Substitution) substitutions;
    LIST(TableUse) uses; /* INSERT, UPDATE, DELETE rights */
    bool assigns_variables;
    bool binds_default; /* NEWSEQUENTIALID() may stand here alone */
    bool is_trusted;    /* text of ours: no permissions asked */
    SimDatabase *
        database; /* of text of ours, or a view: where names without a database are; NULL: the session's */
    /* OUTPUT inserted.x / deleted.x */
    BoundSource    *inserted, *deleted;
    UndeclaredList *undeclared; /* nothing will run: unknown variables are collected here */
    int             depth;
    int64_t         recursion_limit; /* MAXRECURSION; 0: none */
    int             view_depth;
};

Binder *binder_new(SimSession *session, Arena *arena, SimError *error);
int     binder_slot(Binder *binder);
bool binder_error(Binder *binder, int32_t line, int32_t number, const char *fmt, ...) PRINTF(4, 5);
bool binder_not_supported(Binder *binder, int32_t line, const char *fmt, ...) PRINTF(3, 4);
/* 229 and 230 for everything the statement touches. */
bool binder_check_permissions(Binder *binder) MUST_CHECK;
void binder_use(Binder *binder, BoundSource *source, SimPermission permission, const Str *columns,
                size_t column_count);
/* Makes the slots; the statement may run. */
void binder_start(Binder *binder, Exec *exec);

QueryScope *scope_new(Binder *binder, QueryScope *outer);
Str         bind_full_name(Arena *arena, const ObjectName *name); /* as it was written */
/* 208 when there is none. `database` and `schema` may be empty. */
bool         bind_table_name(Binder *binder, const ObjectName *name, SimDatabase **database_out,
                             SimTable **table_out, Str *schema_out);
BoundSource *bind_table_source(Binder *binder, QueryScope *scope, SimDatabase *database,
                               SimTable *table, Str schema, Str alias);
/* FROM with its names resolved. */
typedef struct JoinTree JoinTree;
struct JoinTree {
    JoinKind     join;
    JoinTree    *left, *right; /* NULL: `source` */
    BoundSource *source;
    Node        *on;
    uint64_t     bits; /* the sources below, by index */
};
bool bind_from(Binder *binder, QueryScope *scope, const Source *source, JoinTree **out) MUST_CHECK;
bool bind_cdc_function(Binder *binder, QueryScope *scope, const Source *source, SelectPlan **out,
                       bool *found) MUST_CHECK;
BoundSource *scope_add(Binder *binder, QueryScope *scope, BoundKind kind, Str alias, int32_t line);
int          source_slot(Binder *binder, BoundSource *source, size_t column);
bool         bind_column(Binder *binder, QueryScope *scope, const Expr *expr, Node **out);
typedef LIST(OutColumn) OutList;
/* Expands * and t.*. */
bool bind_star(Binder *binder, QueryScope *scope, const Expr *expr, OutList *outs);

/* --- bind_recursive.c --- */
bool         cte_is_recursive(const CommonTable *table);
bool         bind_recursive(Binder *binder, const CommonTable *table, CteFrame *frame,
                            SelectPlan **out) MUST_CHECK;
BoundSource *bind_recursive_row(Binder *binder, QueryScope *scope, CteFrame *frame, Str alias,
                                int32_t line);

bool bind_expr(Binder *binder, QueryScope *scope, const Expr *expr, Node **out) MUST_CHECK;
/* `arg` under the collation that a COLLATE names. */
bool bind_collation_of(Binder *binder, const Expr *expr, Node *arg, Node **out) MUST_CHECK;
bool bind_predicate(Binder *binder, QueryScope *scope, const Expr *expr, Node **out) MUST_CHECK;
bool bind_function(Binder *binder, QueryScope *scope, const Expr *expr, Node **out) MUST_CHECK;
bool bind_session_function(Binder *binder, QueryScope *scope, const Expr *expr, Node **out,
                           bool *found) MUST_CHECK;
bool bind_global(Binder *binder, const Expr *expr, Node **out) MUST_CHECK;
bool bind_unify(Binder *binder, Node **nodes, size_t count, int32_t line) MUST_CHECK;
/* A variable that nobody declared, described by what it meets. */
void bind_suggest(Binder *binder, const Node *unknown, const SimType *type);
bool bind_same_collation(Binder *binder, Node **left, Node **right, int32_t line) MUST_CHECK;
bool expr_has_aggregate(const Expr *expr);
bool expr_same(const Expr *left, const Expr *right);
/* SELECT with everything; `limit` hints how many rows the caller takes. */
bool bind_select(Binder *binder, QueryScope *outer, const Select *select,
                 SelectPlan **out) MUST_CHECK;
/* The operators of FROM and WHERE. `wanted` is an order that would spare a sort; `limit` the rows that will be taken. */
typedef struct FromPlan {
    QueryScope *scope;
    JoinTree   *tree;  /* NULL: no FROM */
    NodeList    where; /* AND-ed */
    SortItems   wanted;
    Node       *limit;
} FromPlan;
bool     plan_from(Binder *binder, FromPlan *from, Op **out) MUST_CHECK;
void     split_and(Arena *arena, Node *node, NodeList *out);
uint64_t node_sources(const Node *node, const QueryScope *scope);

#endif
