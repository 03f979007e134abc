/* mssql_cut_internal.h - shared by the questions about a table's key and the reading of its rows
 * (mssql_cut.c, mssql_cutter.c, mssql_table.c). */
#ifndef TIDELAKE_SOURCE_MSSQL_CUT_INTERNAL_H
#define TIDELAKE_SOURCE_MSSQL_CUT_INTERNAL_H

#include "source/mssql_cut.h"
#include "source/mssql_internal.h"

/* The instance whose view of the table counts: the newest. */
const CaptureInstance *table_newest(const CaptureTable *table);
/* "SET LOCK_TIMEOUT n; SET TRANSACTION ISOLATION LEVEL SNAPSHOT; ", in front of every read of the
 * table (1.7). */
void append_read_prefix(const Mssql *mssql, bool with_isolation, Buf *buf);
/* [schema].[table], checked. */
bool table_name(const CaptureTable *table, Arena *arena, Str *out, Err *err) MUST_CHECK;

#endif
