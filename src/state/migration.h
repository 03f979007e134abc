/* migration.h - the schema version that each of our tables carries, and what brings an older table
 * up to it (state.md 5).
 *
 * A version is the number of migrations of its kind that a table has had. All that a table misses
 * is one commit, columns and stamp together: a crash leaves it as it was or as it shall be. */
#ifndef TIDELAKE_STATE_MIGRATION_H
#define TIDELAKE_STATE_MIGRATION_H

#include "delta/delta.h"

typedef enum TableKind {
    KIND_BRONZE,
    KIND_FACTS,
    KIND_PLANS,
    KIND_CONTROL,
    KIND_SILVER,
    KIND_REPORT
} TableKind;

const char *table_kind_name(TableKind kind);
/* The version this program writes, and the property that records it on creation. */
int64_t       table_kind_version(TableKind kind);
DeltaProperty table_kind_property(TableKind kind, Arena *arena);

/* Before the first write. `schema` has the kind's own columns, which migrations take their types
 * and comments from. A table of a newer release is written as it is, with a warning. ERR_STATE: it
 * asks for a program that knows more (`mssql_cdc.min_version`), its properties are damaged, or a
 * column to be added is there with a type that does not hold ours. ERR_CONFLICT after 60 s of
 * others that came first. */
bool table_migrate(DeltaContext *context, DeltaTable *table, TableKind kind, const Schema *schema,
                   Err *err) MUST_CHECK;

#endif
