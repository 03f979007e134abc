/* table_ref.h - how a table is named: the label that other tables hold, and where its log is
 * (state.md 2). */
#ifndef TIDELAKE_STATE_TABLE_REF_H
#define TIDELAKE_STATE_TABLE_REF_H

#include "state/migration.h"

typedef struct TableRef {
    Str label; /* stored verbatim and matched by plain equality: facts `target`, control
                  `table_name` */
    Str path;  /* of the table's directory, as the store takes it */
} TableRef;

/* Opens the table or creates it; then brings an older one up to date (table_migrate) and
 * checks that it may be written. */
bool table_ref_open_or_create(DeltaContext *context, const TableRef *ref, TableKind kind,
                              const Schema *schema, Str description, DeltaTable **out,
                              Err *err) MUST_CHECK;
/* The same; one that is made has this property too (NULL: none). */
bool table_ref_open_or_make(DeltaContext *context, const TableRef *ref, TableKind kind,
                            const Schema *schema, Str description, const DeltaProperty *property,
                            DeltaTable **out, Err *err) MUST_CHECK;
/* *out NULL when there is no table at the path yet. */
bool table_ref_open_if_exists(DeltaContext *context, const TableRef *ref, DeltaTable **out,
                              Err *err) MUST_CHECK;

#endif
