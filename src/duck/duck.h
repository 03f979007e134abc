/* duck.h - libduckdb: SQL over Parquet, and Parquet written from row streams. The only module that includes duckdb.h.
 *
 * Two database instances in one process, because `threads` is global to an instance (delta.md 5.13): the writer runs each COPY on the thread that
 * calls it (several at once, one per connection), the query instance has N threads and a memory limit and spills into temp_directory.
 * Every connection has TimeZone UTC and no extension is ever installed or autoloaded. Both instances open at first use.
 *
 * Errors: ERR_QUERY_ENGINE, ERR_CANCELLED (interrupted), ERR_LIMIT (out of memory or of temp space), ERR_STORE (I/O, disk full),
 * and whatever a row stream being written raised. */
#ifndef TIDELAKE_DUCK_DUCK_H
#define TIDELAKE_DUCK_DUCK_H

#include "base/cancel.h"
#include "types/row_block.h"

typedef struct Duck Duck;

typedef struct DuckOptions {
    int64_t memory_limit_bytes; /* both instances together */
    int     threads;            /* of the query instance; 0: the cores */
    Str     temp_directory;     /* for spilling; made when needed */
    Cancel *cancel;             /* interrupts whatever runs; may be NULL */
} DuckOptions;

bool duck_open(const DuckOptions *options, Duck **out, Err *err) MUST_CHECK;
void duck_close(Duck *duck); /* accepts NULL; every session and query must be closed */
const char *duck_version(void); /* "v1.5.6" */

/* --- writing Parquet --- */
typedef struct DuckColumnStats {
    Str     name;       /* the column's, unquoted */
    int64_t null_count;
    bool    has_bounds; /* false: all NULL, NaN or infinity somewhere, or unknown (delta.md 5.4) */
    Str     min, max;   /* as libduckdb prints them (delta.md 5.2); strings are cut at 256 bytes with a valid upper bound */
} DuckColumnStats;

typedef struct DuckFile {
    int64_t          row_count; /* 0: no file was made */
    int64_t          size_bytes;
    DuckColumnStats *columns; /* in schema order */
    size_t           column_count;
} DuckFile;

typedef enum DuckCompression { DUCK_ZSTD, DUCK_SNAPPY, DUCK_UNCOMPRESSED } DuckCompression;

typedef struct DuckWriteOptions {
    DuckCompression compression;
    int64_t         row_group_bytes; /* 0: by rows (122,880) alone; else at most that many bytes, for wide rows (delta.md 5.12) */
    Str             tidelake_version; /* for the footer */
} DuckWriteOptions;

/* Pulls `rows` to their end into a new Parquet file, on the calling thread. Column types are the schema's exactly; floats are written without
 * negative zero. No file is left on an error, or when there are no rows. `rows` is not closed. */
bool duck_parquet_write(Duck *duck, RowStream *rows, Str local_path, const DuckWriteOptions *options, Arena *arena, DuckFile *out, Err *err) MUST_CHECK;

/* --- queries --- */
/* One connection of the query instance, with its temp tables. One thread at a time. */
typedef struct DuckSession DuckSession;
bool duck_session_open(Duck *duck, DuckSession **out, Err *err) MUST_CHECK;
void duck_session_close(DuckSession *session); /* accepts NULL */
/* Runs statements whose rows nobody wants. `changed_out` (may be NULL): rows changed by the last one. */
bool duck_execute(DuckSession *session, Str sql, int64_t *changed_out, Err *err) MUST_CHECK;
/* Runs a query; rows come in blocks as libduckdb makes them. Types that the lake does not have (HUGEINT, LIST, STRUCT, ...) are cast to STRING by
 * their text. HUGEINT from sums: cast in the SQL. The stream holds the session until closed. */
bool duck_query(DuckSession *session, Str sql, Arena *arena, RowStream **out, Err *err) MUST_CHECK;
/* The single row and column of a query as a 64-bit number; ERR_QUERY_ENGINE when it is not one row; `is_null_out` may be NULL. */
bool duck_query_i64(DuckSession *session, Str sql, int64_t *out, bool *is_null_out, Err *err) MUST_CHECK;
/* Makes `rows` readable as a temp table called `table_name` (copied in; for small streams). */
bool duck_load(DuckSession *session, Str table_name, RowStream *rows, Err *err) MUST_CHECK;
/* COPY (select_sql) TO a Parquet file. The select's columns are cast to `schema`, by position. */
bool duck_copy_query(DuckSession *session, Str select_sql, const Schema *schema, Str local_path, const DuckWriteOptions *options, Arena *arena, DuckFile *out, Err *err) MUST_CHECK;

/* SQL text helpers. */
Str duck_quote_identifier(Arena *arena, Str name); /* "na""me" */
Str duck_quote_literal(Arena *arena, Str text);    /* 'te''xt' */
Str duck_type_name(Arena *arena, ColumnType type); /* SMALLINT, DECIMAL(10,2), TIMESTAMP, TIMESTAMP WITH TIME ZONE, BLOB, ... */
/* read_parquet([...], hive_partitioning=false, schema=MAP{...}): the only form in which data files are read (delta.md 5.6). Columns a file lacks are
 * NULL, narrower types are cast. `filename` and `file_row_number` are virtual columns of it. */
Str duck_read_parquet_sql(Arena *arena, const Str *local_paths, size_t path_count, const Schema *schema);

#endif
