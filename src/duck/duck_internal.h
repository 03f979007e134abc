/* What the files of duck/ share: instances, connections, running a statement, and values on their
 * way in and out. */
#ifndef TIDELAKE_DUCK_INTERNAL_H
#define TIDELAKE_DUCK_INTERNAL_H

#include "base/buf.h"
#include "base/list.h"
#include "duck/duck_checkpoint.h"

#include <duckdb.h>
#include <pthread.h>

typedef enum InstanceKind { INSTANCE_WRITER, INSTANCE_QUERY } InstanceKind;
#define INSTANCE_COUNT 2

/* An open connection; in the Duck's list as long as it is open, so that a cancel finds it. */
typedef struct Connection {
    struct Connection *previous, *next;
    Duck              *duck;
    duckdb_connection  raw;
} Connection;

/* Rows on their way into libduckdb. */
typedef struct RowSource {
    Duck      *duck;
    RowStream *rows;
    RowBlock   block;
    size_t     row_index; /* the next row of the block */
    bool       is_for_file;
    bool       is_small; /* what was pulled so far comes to little */
    size_t     small_bytes;
    size_t     slice_count; /* that were given; each is in one row group */
    int64_t    room_bytes;  /* what it added to the writers' memory */
    Err        err;         /* what the stream raised */
} RowSource;

/* A COPY to Parquet, planned once for files of one form. SQL knows the rows of whoever runs it by its `id`. */
typedef struct CopyStatement CopyStatement;
struct CopyStatement {
    CopyStatement            *next, *next_kept;
    int64_t                   id;
    RowSource                *source; /* at hand */
    Str                       key;    /* the form: columns and options */
    Connection                connection;
    duckdb_prepared_statement prepared;
    int                       fd; /* what its path leads to */
    Arena                    *arena;
};

/* Rows that are gone, of each file of one scan. `id` is what SQL knows them by. */
typedef struct RowFilter {
    struct RowFilter    *next;
    int64_t              id;
    Duck                *duck; /* NULL: closed before the arena */
    const RowSet *const *sets;
    size_t               count;
} RowFilter;

/* Adds on their way out of a checkpoint. `id` is what SQL knows them by. duck_checkpoint_adds.c */
typedef struct AddScan AddScan;

struct Duck {
    DuckOptions     options;
    char           *temp_directory;
    pthread_mutex_t open_lock; /* guards `databases` */
    duckdb_database databases[INSTANCE_COUNT];
    pthread_mutex_t lock; /* guards the lists; never held while libduckdb works */
    Connection     *connections;
    CopyStatement  *copies; /* all that are planned */
    CopyStatement  *kept;   /* those that nobody runs, the one that was used last first */
    size_t          kept_count;
    int64_t         last_copy_id;
    RowFilter      *filters;
    int64_t         last_filter_id;
    AddScan        *add_scans;
    int64_t         last_add_scan_id;
    int             cancel_handle;
    pthread_mutex_t room_lock;  /* guards the writers' memory_limit */
    int64_t         room_bytes; /* above their share */
};

struct DuckSession {
    Connection connection;
    bool       has_stream; /* a query's rows are being read */
};

/* --- duck.c --- */
/* Opens the instance when it is the first connection. `connection` must not move while it is open.
 */
bool duck_connect(Duck *duck, InstanceKind kind, Connection *connection, Err *err) MUST_CHECK;
void duck_disconnect(Connection *connection); /* accepts one that never opened, all zero */
/* Prepares one statement. */
bool duck_prepare_sql(Connection *connection, Str sql, duckdb_prepared_statement *out,
                      Err *err) MUST_CHECK;
/* Runs it; the caller destroys the result, of a failure too. With `is_streaming` rows are made as
 * they are fetched. */
bool duck_run_prepared(Connection *connection, duckdb_prepared_statement statement,
                       bool is_streaming, duckdb_result *out, Err *err) MUST_CHECK;
/* Both in one. */
bool duck_run_sql(Connection *connection, Str sql, bool is_streaming, duckdb_result *out,
                  Err *err) MUST_CHECK;
/* The next rows, NULL at the end. */
bool duck_fetch(duckdb_result *result, duckdb_data_chunk *out, Err *err) MUST_CHECK;
/* libduckdb's message as an Err: its class decides the code. Always false. */
bool duck_set_err(Err *err, const char *message);

/* --- duck_values.c --- */
duckdb_logical_type duck_logical_type(ColumnType type); /* to be destroyed */
/* false when the lake has no such type. Nested ones: duck_nested.c. */
bool duck_column_type(duckdb_logical_type logical, ColumnType *out);
/* Puts `count` values from `from` on into the vector. Text is not copied: it must live until
 * libduckdb asks for more. ERR_LIMIT: one is longer than LIMIT_VALUE_BYTES. */
bool duck_fill_vector(duckdb_vector vector, const ColumnVector *column, size_t from, size_t count,
                      Err *err) MUST_CHECK;
/* The vector's values as a column, text pointing into the vector. */
ColumnVector duck_column_of_vector(Arena *arena, duckdb_vector vector, ColumnType type,
                                   size_t count);
Str          duck_vector_str(duckdb_vector vector, idx_t row); /* of VARCHAR or BLOB */
bool         duck_vector_is_null(duckdb_vector vector, idx_t row);

/* --- duck_nested.c --- */
/* duck_column_type for any type, lists, maps and structs of the lake's types among them; the type
 * lives in `arena`. `depth` 0 from outside. */
bool duck_nested_column_type(Arena *arena, duckdb_logical_type logical, int depth, ColumnType *out);
/* What a nested type is cast to, so that all within has types of the lake; empty: it has. */
Str duck_nested_cast_type(Arena *arena, duckdb_logical_type logical);
/* False: a list of the first `count` rows reaches past the values that are there, or a key of a map is NULL, as in
 * files whose levels are damaged; nothing else may be done with the vector then. */
bool duck_nested_is_sound(duckdb_vector vector, ColumnType type, idx_t count);
/* A value as JSON text; of a row that is not NULL, in a vector that is sound. */
Str duck_nested_text(Arena *arena, duckdb_vector vector, ColumnType type, idx_t row);

/* --- duck_query.c --- */
/* What a column of a simple type that the lake does not have is cast to; empty for the others. */
Str duck_substitute_type(duckdb_logical_type logical);

/* --- duck_sql.c --- */
void duck_append_identifier(Buf *sql, Str name);
void duck_append_literal(Buf *sql, Str text);
/* A literal for a path that libduckdb would otherwise take for a pattern. */
void duck_append_path_literal(Buf *sql, Str path);
/* A query for a number: which file, counted from 1, is the first with a row of its Parquet schema
 * that `condition` leaves ("WHERE ...", "GROUP BY file_name HAVING ..."); 0: none. */
Str duck_find_file_sql(Arena *arena, const Str *local_paths, size_t path_count, Str condition);
/* The options of every COPY to Parquet, in parentheses. */
void duck_append_copy_options(Buf *sql, const Schema *schema, const DuckWriteOptions *options);

/* --- duck_write.c --- */
#define ROWS_FUNCTION "tidelake_rows"
/* Teaches a new instance the table function that pulls row streams; once, because connections that
 * did so at the same time would be in each other's way. */
bool duck_register_rows(duckdb_connection connection, Duck *duck, Err *err) MUST_CHECK;

/* --- duck_copy.c --- */
/* Writes the rows of `source` to a file that is made or emptied; a failure leaves none. */
bool           duck_copy_rows(RowSource *source, Str local_path, const DuckWriteOptions *options,
                              Arena *arena, DuckFile *out, Err *err) MUST_CHECK;
void           duck_close_copies(Duck *duck);
CopyStatement *duck_find_copy(Duck *duck, int64_t id); /* NULL: there is none */

/* --- duck_room.c --- */
/* After a block was pulled: memory for a value in it that is larger than usual. */
bool duck_make_room(RowSource *source, Err *err) MUST_CHECK;
void duck_give_room_back(RowSource *source);

/* --- duck_row_filter.c --- */
/* Teaches a new instance the condition of duck_row_filter_sql. */
bool duck_register_row_filter(duckdb_connection connection, Duck *duck, Err *err) MUST_CHECK;
/* Lets go of filters whose arenas outlive the Duck. */
void duck_forget_row_filters(Duck *duck);

/* --- duck_checkpoint.c --- */
/* The actions of a checkpoint; names and order of delta.md 2.13. libduckdb keeps the letters' case.
 */
#define STRINGS "MAP(VARCHAR, VARCHAR)"
#define DELETION_VECTOR                                                                            \
    "STRUCT(storageType VARCHAR, pathOrInlineDv VARCHAR, \"offset\" INTEGER, sizeInBytes INTEGER," \
    " cardinality BIGINT)"

typedef struct ActionColumn {
    const char *name;
    const char *written; /* NULL: not in our checkpoints */
    const char *read;    /* NULL: as written */
} ActionColumn;
const ActionColumn *duck_action_columns(size_t *count_out);

/* --- duck_checkpoint_read.c --- */
typedef struct ParquetLeaf {
    Str     path;        /* "add, partitionValues, key_value, key" */
    int64_t value_count; /* not NULL; -1: the footer does not say */
} ParquetLeaf;

struct DuckCheckpoint {
    DuckSession *session;
    Str          local;
    LIST(ParquetLeaf *) leaves;
    int64_t row_count, group_count, group_from; /* group_from: first row of the last row group */
    int64_t others_from, others_to; /* the row groups with actions that are no adds; 0, 0: none */
    bool    has_unknown;            /* columns that hold values and are of no action we know */
};

/* Values under a column or a member ("add", "add, tags"): at least as many as its fullest leaf
 * has; -1: unknown; 0: none. */
int64_t duck_checkpoint_count_values(const DuckCheckpoint *file, Str path);

/* --- duck_checkpoint_adds.c --- */
/* Teaches a new instance the function that takes adds; once, as duck_register_rows. */
bool duck_register_adds(duckdb_connection connection, Duck *duck, Err *err) MUST_CHECK;

/* --- duck_stats.c --- */
/* Takes the result row of a COPY with RETURN_STATS apart, and finds out which bounds can be
 * trusted. `is_one_group`: the file has no second row group, which saves a look at it. */
bool duck_read_copy_stats(Connection *connection, duckdb_result *result, const Schema *schema,
                          Str local_path, bool is_one_group, Arena *arena, DuckFile *out,
                          Err *err) MUST_CHECK;

/* Parts of a checkpoint's query, for typed statistics: the column that texts are read as, and the
 * list of what is selected; duck_checkpoint_typed.c */
void duck_append_typed_columns(Buf *sql, const Schema *typed);
void duck_append_typed_select(Buf *sql, const Schema *typed);

#endif
