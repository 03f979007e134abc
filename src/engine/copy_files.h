/* copy_files.h - a copy of a table that somebody has: a Delta table, or Parquet and CSV files. What files there are, what
 * columns each has, and how one is read in SQL. */
#ifndef TIDELAKE_ENGINE_COPY_FILES_H
#define TIDELAKE_ENGINE_COPY_FILES_H

#include "engine/env.h"

typedef enum CopyFormat { COPY_FILE_DELTA, COPY_FILE_PARQUET, COPY_FILE_CSV } CopyFormat;

typedef struct CopyFile {
    CopyFormat       format;
    Str              path;  /* as messages name it; of a Delta table's file the table's */
    const DeltaFile *delta; /* of COPY_FILE_DELTA; NULL: the table has no files */
    int64_t          size_bytes;
    int64_t          row_count; /* -1: unknown */
} CopyFile;

typedef struct Copy {
    Env        *env;
    Str         path;
    DeltaTable *table; /* NULL: files */
    Queue      *turn;  /* one task at a time uses the table */
    CopyFile   *files; /* in the order of their names, or the log's */
    size_t      file_count;
} Copy;

/* `path`: the folder of a Delta table, a file, or a pattern of files (`*`, `?`, `[abc]`, `**`). `out` and what it holds
 * live in `arena`; to be closed whatever was returned. ERR_STATE: nothing there, or what is there is no copy. */
bool copy_open(Env *env, Str path, Arena *arena, Copy *out, Err *err) MUST_CHECK;
void copy_close(Copy *copy);

/* Where a file has a captured column. */
typedef struct CopyColumn {
    Str source; /* an expression; empty: the file has no such column */
    Str type;   /* libduckdb's */
} CopyColumn;

/* Matches the captured columns (ignoring case) with those of a file: `out[i]` is of captured column i. `relation_out`
 * stands behind FROM. All live in `arena`, as long as it the query may run. Fills the file's row_count where the
 * file tells it. ERR_STATE: two columns differ in case alone; ERR_STATE, ERR_DAMAGED: what cannot be read. */
bool copy_match_columns(Copy *copy, size_t file, const Schema *captured, Arena *arena,
                        CopyColumn **out, Str *relation_out, Err *err) MUST_CHECK;

/* libduckdb's complaint about a file without what it quotes of it: no value of a row is ever told. */
void copy_explain_error(const CopyFile *file, Err *err);

#endif
