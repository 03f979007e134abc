/* duck.h - libduckdb: SQL over Parquet, and Parquet written from row streams. The only module that
 * includes duckdb.h.
 *
 * Two database instances in one process, because `threads` is global to an instance (delta.md
 * 5.13): the writer runs each COPY on the thread that calls it (several at once, one per
 * connection), the query instance has N threads and spills into temp_directory. Each has half of
 * the memory limit. Every connection has TimeZone UTC, and no extension is ever installed or
 * autoloaded. Both instances open at first use, 10 to 20 ms each.
 *
 * Errors: ERR_QUERY_ENGINE, ERR_CANCELLED (interrupted), ERR_LIMIT (out of memory or of temp
 * space), ERR_STORE (I/O, disk full; errno in native where libduckdb tells it), and whatever a row
 * stream being written raised. */
#ifndef TIDELAKE_DUCK_DUCK_H
#define TIDELAKE_DUCK_DUCK_H

#include "base/cancel.h"
#include "types/row_block.h"
#include "types/row_set.h"

typedef struct Duck Duck;

typedef struct DuckOptions {
    int64_t memory_limit_bytes; /* both instances together; 0: libduckdb's choice */
    int     threads;            /* of the query instance; 0: the cores */
    Str     temp_directory;     /* for spilling; made when needed */
    Cancel *cancel;             /* interrupts whatever runs; may be NULL */
} DuckOptions;

bool        duck_open(const DuckOptions *options, Duck **out, Err *err) MUST_CHECK;
void        duck_close(Duck *duck); /* accepts NULL; every session and query must be closed */
const char *duck_version(void);     /* "v1.5.6" */

/* --- writing Parquet --- */

/* What a file's own statistics say of a column. Bounds are text as libduckdb prints it (delta.md
 * 5.2); those of strings are cut at 256 bytes, the upper one so that it still is one. */
typedef struct DuckColumnStats {
    Str     name; /* the column's, unquoted */
    int64_t null_count;
    bool    has_bounds; /* false: all NULL, NaN or infinity somewhere, or unknown (delta.md 5.4) */
    Str     min;
    Str     max;
} DuckColumnStats;

typedef struct DuckFile {
    int64_t          row_count; /* 0: no file was made */
    int64_t          size_bytes;
    DuckColumnStats *columns; /* in schema order; NULL when no file was made */
    size_t           column_count;
} DuckFile;

typedef enum DuckCompression { DUCK_ZSTD, DUCK_SNAPPY, DUCK_UNCOMPRESSED } DuckCompression;

typedef struct DuckWriteOptions {
    DuckCompression compression;
    /* Of a row group in memory, for wide rows (delta.md 5.12); 0: by rows (122,880) alone. */
    int64_t row_group_bytes;
    bool    has_few_rows;     /* set by duck_parquet_write, from the stream's row_limit */
    Str     tidelake_version; /* for the footer */
    /* Parquet field ids, one a column of the schema that is written; NULL: the file gets none. */
    const int32_t *field_ids;
} DuckWriteOptions;

/* Pulls `rows` to their end into a new Parquet file, on the calling thread. Column types are the
 * schema's exactly; floats are written without negative zero. No file is left on an error, or when
 * there are no rows. `rows` is not closed. */
bool duck_parquet_write(Duck *duck, RowStream *rows, Str local_path,
                        const DuckWriteOptions *options, Arena *arena, DuckFile *out,
                        Err *err) MUST_CHECK;

/* After an error: nothing is left at the path, or nothing in it where it cannot be removed. */
void duck_discard_file(Str local_path);

/* --- queries --- */

/* One connection of the query instance, with its temp tables. One thread at a time. */
typedef struct DuckSession DuckSession;

bool duck_session_open(Duck *duck, DuckSession **out, Err *err) MUST_CHECK;
void duck_session_close(DuckSession *session); /* accepts NULL; its streams must be closed */
/* Runs statements whose rows nobody wants. `changed_out` (may be NULL): rows changed by the last
 * one. */
bool duck_execute(DuckSession *session, Str sql, int64_t *changed_out, Err *err) MUST_CHECK;
/* Runs a query; rows come in blocks as libduckdb makes them, in no order unless the query has one.
 * Types that the lake does not have (HUGEINT, INTERVAL, ...) are cast to STRING by their text, small
 * and unsigned integers to the next that holds them; lists, maps and structs are NESTED. HUGEINT from sums: cast in the SQL. The
 * stream, which `arena` owns, holds the session until it is closed, and must be. */
bool duck_query(DuckSession *session, Str sql, Arena *arena, RowStream **out, Err *err) MUST_CHECK;
/* The single row and column of a query as a 64-bit number; ERR_QUERY_ENGINE when it is not one row,
 * or is NULL and `is_null_out` is too. */
bool duck_query_i64(DuckSession *session, Str sql, int64_t *out, bool *is_null_out,
                    Err *err) MUST_CHECK;
/* Makes `rows` readable as a temp table called `table_name`, replacing one of that name (copied in,
 * on the calling thread; for small streams). */
bool duck_load(DuckSession *session, Str table_name, RowStream *rows, Err *err) MUST_CHECK;
/* COPY (select_sql) TO a Parquet file. The select's columns are cast to `schema`, by position. The
 * order of its rows is kept when it has an ORDER BY. */
bool duck_copy_query(DuckSession *session, Str select_sql, const Schema *schema, Str local_path,
                     const DuckWriteOptions *options, Arena *arena, DuckFile *out,
                     Err *err) MUST_CHECK;

/* --- rows that are gone --- */

/* A condition over duck_read_parquet_sql(...) under the alias `f`: false for the rows of sets[i] in
 * the i-th of its files, true for all others (delta.md 1.13). NULL: none. Queries may ask it as
 * long as `arena` lives, and the sets must. */
Str duck_row_filter_sql(Duck *duck, const RowSet *const *sets, size_t count, Arena *arena);

/* --- SQL text --- */

Str duck_quote_identifier(Arena *arena, Str name); /* "na""me" */
Str duck_quote_literal(Arena *arena, Str text);    /* 'te''xt' */
Str duck_quote_path(Arena *arena, Str path);       /* the same, for functions that take patterns */
Str duck_type_name(Arena *arena, ColumnType type); /* SMALLINT, DECIMAL(10,2), TIMESTAMP, ... */
/* read_parquet([...], hive_partitioning=false, schema=MAP{...}): the only form in which data files
 * are read (delta.md 5.6). Columns a file lacks are NULL, narrower types are cast, paths are no
 * patterns. `filename`, `file_index` (of local_paths) and `file_row_number` are virtual columns of
 * it; of no files at all it is an empty relation without them. */
Str duck_read_parquet_sql(Arena *arena, const Str *local_paths, size_t path_count,
                          const Schema *schema);
/* How the columns of a schema are found in files that call them otherwise: by field id when there
 * are ids, else by name. An array each, a column of the schema an item. */
typedef struct DuckKeys {
    const Str     *names;
    const int32_t *field_ids;
} DuckKeys;
/* The same with keys; NULL: the columns have their own names in the files. */
Str duck_read_mapped_parquet_sql(Arena *arena, const Str *local_paths, size_t path_count,
                                 const Schema *schema, const DuckKeys *keys);
/* An expression of a nested type as its file has it (column_type_physical), as one of the type:
 * fields get the names that people know. */
Str duck_rename_fields_sql(Arena *arena, ColumnType type, Str source);
/* A query for a number: which file, counted from 1, is the first that has the field id of a
 * struct's field within `type` under another name than the physical one; 0: none. Empty: the type
 * has no such field. */
Str duck_find_file_with_other_names_sql(Arena *arena, const Str *local_paths, size_t path_count,
                                        ColumnType type);
/* A query for a number: which file, counted from 1, is the first without any field id; 0: none. */
Str duck_find_file_without_ids_sql(Arena *arena, const Str *local_paths, size_t path_count);
/* The name under which it exposes a column: the column's own, unless a virtual one has that. */
Str duck_scan_column(Arena *arena, Str name);

#endif
