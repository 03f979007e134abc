/* delta.h - a Delta table: its log at one version, and the commits that move it on (delta.md).
 *
 * A DeltaTable owns its memory and stands at one version until refreshed; what it returns is
 * good until the next refresh or commit. One thread at a time. Reading checks the protocol of
 * the version read, writing checks it again before anything is written (delta.md 1.8).
 *
 * Errors: ERR_NOT_FOUND (no table here; DELTA-L01), ERR_DAMAGED (L02, L05, L06, L08, L10: names file
 * and version; L09: a line that cannot be read, with file, line and byte), ERR_UNSUPPORTED (P..,
 * W..: feature and what was not done; D02, D03: a form of deletion vector that is not read; S01: a column type that is not read, S02: one that is not
 * written; L07: a file outside the configured stores), ERR_CONFLICT (another writer's commit
 * touches what ours was computed from), ERR_STORE, ERR_STATE. */
#ifndef TIDELAKE_DELTA_DELTA_H
#define TIDELAKE_DELTA_DELTA_H

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/sched.h"
#include "duck/duck.h"
#include "store/store.h"
#include "types/row_block.h"
#include "types/row_set.h"

/* What every operation needs; outlives every table opened with it. */
typedef struct DeltaContext {
    Store          *store;
    Clock          *clock;
    Rng            *rng;
    Duck           *duck;
    Log            *log;
    Cancel         *cancel;      /* may be NULL */
    Str             engine_info; /* "tidelake/0.1.0", for commitInfo */
    DuckCompression compression;
    int64_t         log_retention_us; /* of tables that do not say; 0: 30 days */
    /* A row with that much text gets a data file of its own; 0: 16 MiB. Others for tests, whose values are small. */
    size_t large_row_bytes;
    /* Holds one item, which a commit takes and gives back: tasks of one process take turns instead
     * of racing. NULL: they race as processes do. */
    Queue *turn;
} DeltaContext;

typedef struct DeltaTable DeltaTable;

/* --- opening --- */
bool delta_table_open(DeltaContext *context, Str path, DeltaTable **out, Err *err) MUST_CHECK;
/* Time travel: by version (DELTA-L03, L04 when out of reach), or the newest version committed at
 * or before a time. */
bool delta_table_open_version(DeltaContext *context, Str path, int64_t version, DeltaTable **out,
                              Err *err) MUST_CHECK;
bool delta_table_open_as_of(DeltaContext *context, Str path, int64_t utc_us, DeltaTable **out,
                            Err *err) MUST_CHECK;
/* True and *exists_out; a path that holds files but no Delta log is not a table
 * (*has_other_files_out, may be NULL). */
bool delta_table_exists(DeltaContext *context, Str path, bool *exists_out,
                        bool *has_other_files_out, Err *err) MUST_CHECK;
/* Reads the commits after the version it stands at. Nothing new costs one probe. */
bool delta_table_refresh(DeltaTable *table, Err *err) MUST_CHECK;
void delta_table_close(DeltaTable *table); /* accepts NULL */

/* --- creating --- */
typedef struct DeltaProperty {
    Str key, value;
} DeltaProperty;

typedef struct DeltaCreate {
    Schema               schema; /* with comments; every column becomes nullable */
    Str                  description;
    const DeltaProperty *properties;
    size_t               property_count;
} DeltaCreate;

/* Creates version 0 with the weakest protocol that covers the schema (delta.md 2.2). Losing the
 * race, or a table that is there already, opens what is there (*created_out false; may be NULL). A
 * name that Delta takes only with column mapping (blank , ; { } ( ) newline tab =) makes it a
 * mapped one. ERR_STATE: the path holds other files. ERR_UNSUPPORTED: two names equal ignoring
 * case; a property that asks for a feature tidelake does not set. */
bool delta_table_create(DeltaContext *context, Str path, const DeltaCreate *spec, DeltaTable **out,
                        bool *created_out, Err *err) MUST_CHECK;

/* The same checks of the columns, before there is anything to write. */
bool delta_schema_check(DeltaContext *context, const Schema *schema, Err *err) MUST_CHECK;

/* --- looking --- */
/* A live file. `path` is the byte-exact string of its add action; `extra_members` are the action's
 * other members as they stand ("tags":{...},"baseRowId":7), empty for the usual file. */
typedef struct DeltaFile {
    Str                     path;
    int64_t                 size_bytes;
    int64_t                 modified_ms;
    int64_t                 row_count; /* in the file, deleted ones too; -1: unknown */
    Str                     extra_members;
    const struct StatsForm *stats_form; /* the statistics, packed: delta_file_get_stats */
    const char             *stats_values;
} DeltaFile;

/* The rows that a reader is given: row_count without those its deletion vector covers; -1: unknown. */
int64_t delta_file_count_rows(const DeltaFile *file);
bool    delta_file_has_vector(const DeltaFile *file);
/* Its path decoded, as the file is called: within the table unless absolute or a URI. */
Str delta_file_get_name(const DeltaFile *file, Arena *arena);
/* JSON text as written, empty: none. */
Str delta_file_get_stats(const DeltaFile *file, Arena *arena);

Str           delta_table_get_path(const DeltaTable *table);
int64_t       delta_table_get_version(const DeltaTable *table);
const Schema *delta_table_get_schema(const DeltaTable *table); /* logical names, comments */
Str           delta_table_get_description(const DeltaTable *table);
bool          delta_table_find_property(const DeltaTable *table, Str key,
                                        Str *value_out); /* key ignoring case */
size_t        delta_table_get_file_count(const DeltaTable *table);
/* for (size_t at = 0; delta_table_next_file(table, &at, &file);) in a stable order. */
bool delta_table_next_file(const DeltaTable *table, size_t *at, const DeltaFile **file_out);
/* The version recorded for a txn appId (state.md 15); false if there is none. */
bool    delta_table_find_txn(const DeltaTable *table, Str app_id, int64_t *version_out);
int32_t delta_table_get_min_reader_version(const DeltaTable *table);
int32_t delta_table_get_min_writer_version(const DeltaTable *table);
/* The name of a file as it is live, vector included: one that changed rows has another. Outlives
 * the table in `arena`. */
Str delta_file_key(const DeltaFile *file, Arena *arena);
/* NULL: no file of that key is live (any more). */
const DeltaFile *delta_table_find_file(const DeltaTable *table, Str key);
/* ERR_UNSUPPORTED with the DELTA-P../W.. code if this program must not write the table so. */
typedef enum DeltaWriteKind {
    DELTA_APPENDS,
    DELTA_CHANGES,    /* removes rows, or replaces them */
    DELTA_REARRANGES, /* the same rows in other files */
} DeltaWriteKind;
bool delta_table_check_writable(const DeltaTable *table, DeltaWriteKind kind, Err *err) MUST_CHECK;

/* What a commit of these columns would be refused for, before there is anything to write: see
 * delta_table_commit. */
bool delta_table_check_schema(const DeltaTable *table, const Schema *schema, bool may_widen,
                              Err *err) MUST_CHECK;

/* Statistics of one column of a file. Text values as in the JSON: numbers plain, strings
 * unescaped. Unknown: false. */
typedef struct DeltaBounds {
    Str     min, max;   /* empty ptr NULL when absent */
    int64_t null_count; /* -1: unknown */
} DeltaBounds;
bool delta_file_find_bounds(const DeltaTable *table, const DeltaFile *file, Str column,
                            Arena *arena, DeltaBounds *out);
/* False only when statistics prove that no row of the file has column (> or >=) `low` and (< or
 * <=) `high`, compared as the column's type. NULL pointer: open. Values as column_format prints
 * them. */
bool delta_file_may_hold_range(const DeltaTable *table, const DeltaFile *file, Str column,
                               const Str *low, bool low_inclusive, const Str *high,
                               bool high_inclusive);
/* False only when statistics prove that the column has no NULL in the file. */
bool delta_file_may_hold_null(const DeltaTable *table, const DeltaFile *file, Str column);

/* --- reading rows --- */
/* A SELECT-able SQL text over the given files at this version (all live files when `files` is
 * NULL), exposing the table's logical columns (those of `columns`, or all when NULL) plus, when
 * `with_position`, `__$file` VARCHAR (the add path) and `__$row` BIGINT. Fetches the files
 * through the store. No files: a relation with the right types and no rows. The text is a SELECT
 * in parentheses, to stand alone or behind FROM, and may be run as long as `arena` lives. Rows
 * that a deletion vector covers are left out; the vectors are read here.
 * ERR_DAMAGED DELTA-L08: a file of this version was removed, D01: a deletion vector is damaged. */
bool delta_scan_sql(DeltaTable *table, const DeltaFile *const *files, size_t file_count,
                    const Schema *columns, bool with_position, Arena *arena, Str *sql_out,
                    Err *err) MUST_CHECK;

/* --- writing --- */
typedef struct DeltaTxn {
    Str     app_id;
    int64_t version;
} DeltaTxn;

/* A data file that was written and published, with its statistics. Made by delta_writer. */
typedef struct DeltaAdd {
    Str           path; /* as in the log */
    int64_t       size_bytes;
    int64_t       modified_ms;
    int64_t       row_count;
    Str           stats;
    const Schema *schema; /* it was written for; NULL: unknown, so a changed table goes unnoticed */
    const struct ColumnMapping *mapping;        /* of these columns; NULL: unknown */
    bool                        has_all_bounds; /* of every column, as a clustered table wants it */
} DeltaAdd;

/* With all it refers to in `arena`. */
DeltaAdd delta_add_copy(Arena *arena, const DeltaAdd *add);

/* Data files on their way into a table: written to staging as rows arrive, published together,
 * then named by a commit. */
typedef struct DeltaWriter DeltaWriter;
/* `purpose` as store_staging_open. Files are written for the table's schema as it stands, or for
 * `schema` when the commit will bring it. */
bool delta_writer_open(DeltaTable *table, Str purpose, const Schema *schema, DeltaWriter **out,
                       Err *err) MUST_CHECK;
/* Statistics for a column wherever it stands, as keys need in tables of more than 32 columns
 * (delta.md 2.4). Before the first write. */
void delta_writer_index_column(DeltaWriter *writer, Str column);
/* Pulls `rows` into one staged file. Safe to call from several threads at once. Columns of
 * `rows` are matched to the schema by name; columns it lacks are NULL. `add_out->row_count` 0:
 * nothing was written. The add's strings live in `arena`. */
bool delta_writer_write(DeltaWriter *writer, RowStream *rows, Arena *arena, DeltaAdd *add_out,
                        Err *err) MUST_CHECK;
/* The same into as many files as the rows want: one with large values has a file of its own, so that
 * memory holds it as seldom as can be. `out` gets none without rows; what a failure leaves is
 * removed. Rows keep their order from file to file. */
typedef struct DeltaAdds {
    DeltaAdd *items;
    size_t    count, capacity;
} DeltaAdds;
bool delta_writer_write_files(DeltaWriter *writer, RowStream *rows, Arena *arena, DeltaAdds *out,
                              Err *err) MUST_CHECK;
/* As delta_writer_write, from a query on a session of the same Duck. */
bool delta_writer_write_query(DeltaWriter *writer, DuckSession *session, Str select_sql,
                              Arena *arena, DeltaAdd *add_out, Err *err) MUST_CHECK;
/* Rows that go from a live file without writing it anew (delta.md 2.7). */
typedef struct DeltaDeletion {
    const DeltaFile *file;
    const RowSet    *rows; /* by their place in the file; at least 1 */
    /* The rest is filled by delta_writer_delete_rows. */
    Str     vector; /* descriptor of the new vector, JSON; empty: no row is left, the file goes */
    Str     stats;
    int64_t deleted_rows; /* with those that went before */
    int64_t row_count;    /* in the file, deleted ones too */
    bool    had_vector;
} DeltaDeletion;

/* True when rows of the table may be deleted so: its protocol has the feature, and the owner wants
 * it (delta.enableDeletionVectors). */
bool delta_table_takes_vectors(const DeltaTable *table);
/* Stages one file with the new vectors of all these files: what each file's vector covers already,
 * and `rows`. Once per writer. ERR_UNSUPPORTED: the table takes none. ERR_DAMAGED: a vector that
 * is damaged or gone, a file with fewer rows than it is to lose. */
bool delta_writer_delete_rows(DeltaWriter *writer, DeltaDeletion *deletions, size_t count,
                              Arena *arena, Err *err) MUST_CHECK;
/* Moves the staged files of these adds, and of vectors, into the table and makes them durable; they
 * are garbage until a commit names them. */
bool delta_writer_publish(DeltaWriter *writer, const DeltaAdd *adds, size_t count,
                          Err *err) MUST_CHECK;
/* Removes published files, and the vectors of this writer, after delta_table_commit gave
 * ERR_CONFLICT: no commit names them. What cannot be removed is left to a vacuum. */
void delta_writer_discard(DeltaWriter *writer, DeltaTable *table, const DeltaAdd *adds,
                          size_t count);
void delta_writer_close(DeltaWriter *writer); /* removes what was not published; accepts NULL */
/* The same, but the folder of its files may wait for the next writer of its purpose, until the table is closed. */
void delta_writer_finish(DeltaWriter *writer, DeltaTable *table);

/* --- staged files that outlive their run ---
 * Makes the staged files of these adds durable, and tells next to them what they are: `note` is the caller's. With
 * all its rows read, a run that dies before its commit leaves them to the next one. */
bool delta_writer_seal(DeltaWriter *writer, const DeltaAdd *adds, size_t count, Str note,
                       Err *err) MUST_CHECK;
/* What one dead run left sealed, held under its lock. */
typedef struct DeltaStaged DeltaStaged;
/* All that dead runs of a purpose left below a table, which need not be there; what was not sealed whole is removed.
 * Each is dropped, left or opened. Before delta_writer_open of that purpose. */
bool delta_staged_take(DeltaContext *context, Str table_path, Str purpose, Arena *arena,
                       DeltaStaged ***out, size_t *count_out, Err *err) MUST_CHECK;
Str  delta_staged_note(const DeltaStaged *staged); /* lives as long as it does */
void delta_staged_drop(DeltaStaged *staged);       /* removes it; accepts NULL */
void delta_staged_leave(DeltaStaged *staged);      /* for another run; accepts NULL */
/* A writer whose files are these, as if it had written them; `schema` as delta_writer_open. `*out` NULL: they are of
 * no use, and `why_not` tells. Consumes `staged` in any case; the adds live in `arena`. */
bool delta_writer_open_staged(DeltaTable *table, const Schema *schema, DeltaStaged *staged,
                              Arena *arena, DeltaWriter **out, DeltaAdd **adds_out,
                              size_t *count_out, Str *why_not, Err *err) MUST_CHECK;

typedef struct DeltaPair {
    Str key, value;
} DeltaPair;

/* A domain of the table's owner; names that begin with "delta." are Delta's own and refused. */
typedef struct DeltaDomain {
    Str  name;
    Str  configuration;
    bool is_removed;
} DeltaDomain;

typedef struct DeltaCommit {
    Str                     operation;  /* Spark's name: "WRITE", "MERGE" */
    const DeltaPair        *parameters; /* values are JSON texts */
    size_t                  parameter_count;
    const DeltaPair        *metrics; /* values are numbers as text */
    size_t                  metric_count;
    Str                     user_metadata; /* empty: none */
    const DeltaTxn         *txn;           /* NULL: none */
    const DeltaAdd         *adds;
    size_t                  add_count;
    const DeltaFile *const *removes;
    size_t                  remove_count;
    const DeltaDeletion    *deletions;
    size_t                  deletion_count;
    const Schema           *schema; /* new schema (columns added at the end), NULL: unchanged */
    /* Types of `schema` that the table's do not hold widen it, when the owner allowed that. */
    bool                 may_widen;
    const Schema        *comments;       /* of columns, by name; those it has not are left out */
    Str                  description;    /* of the table; ptr NULL: unchanged */
    const DeltaProperty *set_properties; /* added to or replacing the table's */
    size_t               set_property_count;
    const DeltaDomain   *domains;
    size_t               domain_count;
    bool                 is_log_entry;    /* written although it changes nothing: VACUUM START */
    bool                 is_blind_append; /* only adds, nothing was read */
    bool read_whole_table; /* a rewrite computed from every file: any added file is a conflict */
    bool
        rearranges; /* dataChange false: the files added hold the rows of those removed, no other */
    bool read_header; /* computed from schema and properties: another's change of them, or of
                              the protocol, is a conflict */
} DeltaCommit;

typedef enum DeltaOutcome { DELTA_WRITTEN, DELTA_SKIPPED } DeltaOutcome;

/* Commits, put-if-absent, with delta.md 2.11's rules: a blind append reloads and retries; one
 * with a txn at or below the recorded version is SKIPPED with nothing written; a lost answer is
 * settled by reading the log. A rewrite (removes, deletions, or read_whole_table) that meets a conflicting
 * winner gives ERR_CONFLICT after the table was refreshed: compute it again. A metadata change
 * (schema, comments, description, properties) re-applies itself when still needed; with nothing
 * left to do, no rows and no txn the commit is SKIPPED too. One that rearranges goes behind appends
 * and other rewrites, and gives ERR_CONFLICT when a file it removes is gone (delta_table_find_file
 * tells which are still there) or the header changed. ERR_SCHEMA_CHANGED: a type the column cannot
 * take, or a name that needs column mapping (the message has the owner's statement). Checkpoints when due; a
 * failure there is only logged. `version_out` may be NULL. */
bool delta_table_commit(DeltaTable *table, const DeltaCommit *commit, DeltaOutcome *out,
                        int64_t *version_out, Err *err) MUST_CHECK;

/* Small appends from memory (facts, control inserts, plans): writes one file straight, publishes
 * and commits it. No rows: SKIPPED, no commit. */
typedef struct DeltaAppend {
    RowStream      *rows;
    const DeltaTxn *txn; /* may be NULL */
    Str             user_metadata;
    Str             purpose; /* for the staging folder */
} DeltaAppend;
bool delta_table_append(DeltaTable *table, const DeltaAppend *append, DeltaOutcome *out,
                        int64_t *version_out, Err *err) MUST_CHECK;

/* Writes a checkpoint of the version the table stands at; keeps one that is there. */
bool delta_table_checkpoint(DeltaTable *table, Err *err) MUST_CHECK;

/* --- history --- */
typedef struct DeltaHistoryEntry {
    int64_t version;
    int64_t timestamp_ms; /* the in-commit timestamp, else commitInfo's; -1 if none */
    Str     operation;
    Str     user_metadata;
    Str     engine_info;
    Str     parameters_json;
    Str     metrics_json;
    bool    is_blind_append;
} DeltaHistoryEntry;
/* Newest first, versions in [from_version, to_version] that the log still holds; to_version -1:
 * the newest. */
bool delta_table_history(DeltaContext *context, Str path, int64_t from_version, int64_t to_version,
                         Arena *arena, DeltaHistoryEntry **out, size_t *count_out,
                         Err *err) MUST_CHECK;
/* The version above `after_version` whose commit has exactly this userMetadata, newest first; -1
 * if none (algorithms.md 0.3). */
bool delta_table_find_user_metadata(DeltaContext *context, Str path, int64_t after_version,
                                    Str user_metadata, int64_t *version_out, Err *err) MUST_CHECK;

#endif
