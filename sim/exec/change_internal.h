/* change_internal.h - what INSERT, UPDATE and DELETE share: the target, its rows as `inserted` and `deleted`, OUTPUT. */
#ifndef TIDESIM_CHANGE_INTERNAL_H
#define TIDESIM_CHANGE_INTERNAL_H

#include "sim/plan/bind_internal.h"
#include "sim/session/session_internal.h"

typedef struct Target { /* a table that is written */
    SimDatabase        *database;
    SimTable           *table;
    const SimTableInfo *info;
    Str                 schema, name;
    bool                is_variable; /* a table variable */
    BoundSource        *row;         /* slots of the row as it becomes: `inserted` */
    Node              **computed;    /* per ordinal; NULL: a stored column */
    Node              **defaults;    /* per ordinal; NULL: none */
    Node **checks;   /* of the constraints that are on, in their order; NULL: another kind */
    bool   has_keys; /* it references tables */
} Target;

typedef struct InsertColumns { /* what an INSERT gives values for */
    size_t *ordinals;
    size_t  count;
    size_t  identity; /* ordinal, or the number of columns */
} InsertColumns;

typedef struct Change {
    SimSession   *session;
    const Stmt   *stmt;
    Arena        *arena;
    SimError     *error;
    Binder       *binder;
    Exec          exec;
    Target        target;
    BoundSource  *deleted; /* slots of the row as it was; NULL for inserts */
    OutList       outputs;
    Target        into; /* OUTPUT ... INTO; table NULL: to the client */
    InsertColumns into_columns;
    Arena        *row_arena;
    LIST(SimValue *) key_rows; /* rows whose references are looked at when all are written */
    int action_slot;           /* MERGE: $action; 0: none */
} Change;

typedef struct Insert {
    RowTarget     target; /* first: rows of a SELECT come here */
    SimSink       sink;   /* rows of an EXEC */
    SimSink      *outer;  /* what its messages go to */
    Change        change;
    InsertColumns columns; /* those given, in order */
    bool          holds;   /* rows are kept until the source is read: it may be the target */
    LIST(SimValue *) rows;
    int64_t count;
    bool    failed;
} Insert;

/* Binds an INSERT's target and columns. `keeps_identity`: leaves IDENTITY_INSERT on for it. */
bool insert_begin(Insert *insert, SimSession *session, const Stmt *stmt, bool keeps_identity,
                  Arena *arena, SimError *error) MUST_CHECK;
/* `given` in the order of the column list, already checked for their number; NULL entries: DEFAULT. */
bool insert_row(Insert *insert, const SimValue *const *given) MUST_CHECK;

void change_begin(Change *change, SimSession *session, const Stmt *stmt, Arena *arena,
                  SimError *error);
bool change_target(Change *change, const ObjectName *name, Target *out) MUST_CHECK;
/* `inserted` and, unless it is an INSERT, `deleted`; then the OUTPUT list. */
bool    change_bind_output(Change *change, QueryScope *outer, bool has_inserted,
                           bool has_deleted) MUST_CHECK;
bool    change_bind_computed(Change *change, Target *target) MUST_CHECK;
SimTxn *change_txn(Change *change, const Target *target);
/* Fills computed columns of `values` (ordinal order) and puts all of them into the row's slots. */
bool change_complete_row(Change *change, Target *target, SimValue *values, Arena *arena) MUST_CHECK;
void change_fill_slots(Change *change, BoundSource *source, const SimValue *values);
bool change_send_header(Change *change) MUST_CHECK;
bool change_send_row(Change *change) MUST_CHECK; /* OUTPUT of the row in the slots */
/* The columns of an INSERT's list, or all it may fill: 207, 264, 271, 273, 544, 8101. */
bool change_insert_columns(Change *change, const Target *target, const NameList *names,
                           int32_t line, InsertColumns *out) MUST_CHECK;
/* Identities, defaults and NULL for what was not given. */
bool change_fill_rest(Change *change, const Target *target, SimValue *values,
                      const bool *given) MUST_CHECK;
void change_note_identity(Change *change, const Target *target, const InsertColumns *columns,
                          const SimValue *values);
/* SET: what each ordinal becomes, NULL for those that stay. Variables are the caller's. */
bool change_bind_assignment(Change *change, QueryScope *scope, const Assignment *assignment,
                            int32_t line, Node **values, Node **out, Str *column_out) MUST_CHECK;
/* The row as it becomes, in the change's arena. */
bool change_new_values(Change *change, Node *const *values, const SimRow *row,
                       SimValue **out) MUST_CHECK;

/* --- constraints (exec/constraint.c) --- */
bool change_bind_checks(Change *change, QueryScope *scope, Target *target) MUST_CHECK;
bool change_check_row(Change *change, Target *target, const SimValue *values) MUST_CHECK; /* 547 */
/* When all rows are written: what they reference is there, and nothing references what is gone. */
bool change_check_references(Change *change, Target *target) MUST_CHECK;
bool change_check_referrers(Change *change, const Target *target, const SimChange *changes,
                            size_t count) MUST_CHECK;

/* A value as the column holds it; its bytes may be those of `value`. */
bool change_store(Change *change, const Target *target, size_t ordinal, const SimValue *value,
                  Arena *arena, SimValue *out) MUST_CHECK;

#endif
