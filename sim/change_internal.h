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
