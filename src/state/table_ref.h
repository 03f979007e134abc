/* table_ref.h - how a table is named: the label that other tables hold, and where its log is
 * (state.md 2). */
#ifndef TIDELAKE_STATE_TABLE_REF_H
#define TIDELAKE_STATE_TABLE_REF_H

#include "delta/delta.h"

typedef struct TableRef {
    Str label; /* stored verbatim and matched by plain equality: facts `target`, control
                  `table_name` */
    Str path;  /* of the table's directory, as the store takes it */
} TableRef;

/* The kinds of tables that carry `mssql_cdc.schema_version` (state.md 5). */
typedef enum TableKind { KIND_BRONZE, KIND_FACTS, KIND_CONTROL, KIND_SILVER } TableKind;

/* The version this program writes, and the property that records it on creation. */
int64_t       table_kind_version(TableKind kind);
DeltaProperty table_kind_property(TableKind kind, Arena *arena);
/* Before the first write: ERR_STATE when the table asks for a newer program
 * (`mssql_cdc.min_version`), ERR_UNSUPPORTED when it was made by an older release and needs a
 * migration; a newer one is written as it is, with a warning. */
bool table_kind_check(const DeltaTable *table, TableKind kind, Log *log, Err *err) MUST_CHECK;

/* Opens the table or creates it; then checks its kind and that it may be written. */
bool table_ref_open_or_create(DeltaContext *context, const TableRef *ref, TableKind kind,
                              const Schema *schema, Str description, DeltaTable **out,
                              Err *err) MUST_CHECK;
/* *out NULL when there is no table at the path yet. */
bool table_ref_open_if_exists(DeltaContext *context, const TableRef *ref, DeltaTable **out,
                              Err *err) MUST_CHECK;

#endif
