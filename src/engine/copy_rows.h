/* copy_rows.h - rows of a copy's files, one file after the other, as rows of a snapshot. */
#ifndef TIDELAKE_ENGINE_COPY_ROWS_H
#define TIDELAKE_ENGINE_COPY_ROWS_H

#include "engine/copy_files.h"
#include "source/mssql.h"

typedef struct CopyReading {
    Copy                  *copy;
    const Schema          *captured; /* bronze's columns of the table */
    const CaptureInstance *instance; /* what they are on the server */
    Str                    instance_name;
    Offset                 stamp;
    bool                   allows_missing;
} CopyReading;

/* Checks every file before anything is read: its columns, and that their types can be cast. ERR_STATE names the first
 * file that lacks columns, and all those it lacks. */
bool copy_check_files(CopyReading *reading, Err *err) MUST_CHECK;

/* The rows of files [from, to). ERR_STATE: a value that would not arrive as it is; file and column are told, the value is
 * not. The stream lives in `arena`. */
bool copy_rows_open(CopyReading *reading, size_t from, size_t to, Arena *arena, RowStream **out,
                    Err *err) MUST_CHECK;

#endif
