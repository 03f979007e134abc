/* mssql_plan.h - shared by the planning and the reading of a table (mssql_plan.c, mssql_table.c).
 */
#ifndef TIDELAKE_SOURCE_MSSQL_PLAN_H
#define TIDELAKE_SOURCE_MSSQL_PLAN_H

#include "source/mssql_internal.h"

/* The instance whose view of the table counts: the newest. */
const CaptureInstance *table_newest(const CaptureTable *table);
/* "SET LOCK_TIMEOUT n; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; ", in front of every read of the
 * table (1.7). */
void append_read_prefix(const Mssql *mssql, bool with_isolation, Buf *buf);
/* [schema].[table], checked. */
bool table_name(const CaptureTable *table, Arena *arena, Str *out, Err *err) MUST_CHECK;

/* The cut columns as key columns; `can_bound_out` false: the table is one part. */
bool plan_key_columns(const CaptureTable *table, const Str *names, size_t count, Arena *arena,
                      KeyColumn **out, bool *can_bound_out, Err *err) MUST_CHECK;

#endif
