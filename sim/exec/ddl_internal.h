/* ddl_internal.h - what CREATE, ALTER and DROP share. */
#ifndef TIDESIM_DDL_INTERNAL_H
#define TIDESIM_DDL_INTERNAL_H

#include "sim/exec/change_internal.h"

typedef struct Ddl {
    SimSession *session;
    const Stmt *stmt;
    Arena      *arena;
    SimError   *error;
} Ddl;

/* PK__table__column__0123ABCD: as the server makes up names. `column` may be empty. */
Str ddl_made_up_name(const Ddl *ddl, const char *prefix, Str table, Str column);

/* --- exec/ddl_constraint.c --- */
/* What is in ddl->error goes to the client, and 1750 takes its place. Returns false. */
bool ddl_not_created(const Ddl *ddl);
/* CHECK and FOREIGN KEY of `defs`, whose expressions live as long as the table. */
bool ddl_add_constraints(const Ddl *ddl, SimTxn *txn, SimTable *table,
                         const ConstraintDefList *defs, bool check_rows) MUST_CHECK;
bool ddl_add_default(const Ddl *ddl, SimTxn *txn, SimTable *table,
                     const ConstraintDef *def) MUST_CHECK;
bool ddl_drop_constraint(const Ddl *ddl, SimTxn *txn, SimTable *table, Str name) MUST_CHECK;
bool ddl_enable_constraints(const Ddl *ddl, SimTxn *txn, SimTable *table) MUST_CHECK;
/* 5074 and 4922 for a column that a constraint or a computed column needs. */
bool ddl_check_column_is_free(const Ddl *ddl, const SimTable *table, Str column, const char *action,
                              bool with_default) MUST_CHECK;

/* --- exec/constraint.c --- */
/* A FOREIGN KEY of another table that references this one; NULL: none. */
const SimConstraint *constraint_on(SimTable *table, SimTable **child_out);
bool constraint_check_rows(SimSession *session, const Stmt *stmt, SimDatabase *database,
                           SimTable *table, const SimConstraint *constraint, Arena *arena,
                           SimError *error) MUST_CHECK;
bool constraint_conflict(const Stmt *stmt, const char *kind, const SimConstraint *constraint,
                         const SimDatabase *database, const SimTableInfo *info, int32_t column_id,
                         SimError *error);

#endif
