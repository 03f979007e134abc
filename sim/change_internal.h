/* change_internal.h - what INSERT, UPDATE and DELETE share: the target, its rows as `inserted` and `deleted`, OUTPUT. */
#ifndef TIDESIM_CHANGE_INTERNAL_H
#define TIDESIM_CHANGE_INTERNAL_H

#include "sim/bind_internal.h"
#include "sim/session_internal.h"

typedef struct Target { /* a table that is written */
    SimDatabase        *database;
    SimTable           *table;
    const SimTableInfo *info;
    Str                 schema, name;
    bool                is_variable; /* a table variable */
    BoundSource        *row;         /* slots of the row as it becomes: `inserted` */
    Node              **computed;    /* per ordinal; NULL: a stored column */
    Node              **defaults;    /* per ordinal; NULL: none */
} Target;

typedef struct Change {
    SimSession  *session;
    const Stmt  *stmt;
    Arena       *arena;
    SimError    *error;
    Binder      *binder;
    Exec         exec;
    Target       target;
    BoundSource *deleted; /* slots of the row as it was; NULL for inserts */
    OutList      outputs;
    Target       into; /* OUTPUT ... INTO; table NULL: to the client */
    size_t      *into_columns;
    Arena       *row_arena;
} Change;

typedef struct Insert {
    RowTarget target; /* first: rows of a SELECT come here */
    SimSink   sink;   /* rows of an EXEC */
    Change    change;
    size_t   *ordinals; /* of the columns given, in order */
    size_t    ordinal_count;
    size_t    identity; /* ordinal, or column_count */
    bool      holds;    /* rows are kept until the source is read: it may be the target */
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
bool    change_bind_output(Change *change, bool has_inserted, bool has_deleted) MUST_CHECK;
bool    change_bind_computed(Change *change, Target *target) MUST_CHECK;
SimTxn *change_txn(Change *change, const Target *target);
/* Fills computed columns of `values` (ordinal order) and puts all of them into the row's slots. */
bool change_complete_row(Change *change, Target *target, SimValue *values, Arena *arena) MUST_CHECK;
void change_fill_slots(Change *change, BoundSource *source, const SimValue *values);
bool change_send_header(Change *change) MUST_CHECK;
bool change_send_row(Change *change) MUST_CHECK; /* OUTPUT of the row in the slots */
/* A value as the column holds it; its bytes may be those of `value`. */
bool change_store(Change *change, const Target *target, size_t ordinal, const SimValue *value,
                  Arena *arena, SimValue *out) MUST_CHECK;

#endif
