/* mssql_columns.h - the captured columns of a table's instances (Q20, Q22), cached until
 * mssql_forget_columns. */
#ifndef TIDELAKE_SOURCE_MSSQL_COLUMNS_H
#define TIDELAKE_SOURCE_MSSQL_COLUMNS_H

#include "source/mssql.h"

/* Fills `columns` of every instance. */
bool mssql_load_columns(Mssql *mssql, SqlConn *conn, Arena *arena, CaptureTable *table,
                        Err *err) MUST_CHECK;
/* 22981: not found, no SELECT on a captured column, or not in the gating role; keeps the driver's
 * text. False always. */
bool mssql_explain_access_error(Str capture_instance, Err *err);

#endif
