/* maintain.h - what keeps a Delta table small: files that no version needs go (vacuum), small files
 * become large ones (optimize), log files past their time go (cleanup).
 *
 * Each may be killed at any moment and run again: no version that the retentions promise loses a
 * file. Errors are those of delta.h. */
#ifndef TIDELAKE_DELTA_MAINTAIN_H
#define TIDELAKE_DELTA_MAINTAIN_H

#include "delta/delta.h"

/* Told as long work goes on; `total` 0: not known yet. */
typedef struct DeltaProgress {
    void (*show)(void *arg, const char *what, const char *unit, int64_t done, int64_t total);
    void *arg;
} DeltaProgress;

/* The newest version that probes find from `known` (at least 0) on, without reading anything. */
bool delta_find_newest_version(DeltaContext *context, Str path, int64_t known, int64_t *out,
                               Err *err) MUST_CHECK;

/* --- checkpoints (delta.md 2.13) --- */

/* delta_table_checkpoint, and whether one was written rather than found. */
bool delta_table_write_checkpoint(DeltaTable *table, bool *written_out, Err *err) MUST_CHECK;

/* --- log cleanup (delta.md 2.14) --- */

/* Removes commits, checkpoints and what belongs to them from before the newest checkpoint that the
 * log's retention (delta.logRetentionDuration, else the context's) still needs. Runs by itself after
 * checkpoints; does nothing where the table forbids it. The table stands at the newest version. */
bool delta_table_clean_log(DeltaTable *table, int64_t *removed_out, Err *err) MUST_CHECK;

/* --- optimize (delta.md 2.16) --- */

#define DELTA_TARGET_BYTES_DEFAULT (INT64_C(256) << 20)

typedef struct DeltaOptimize {
    int64_t       target_bytes; /* of a file; 0: the default */
    size_t        files_least;  /* a file is made of that many or more; below 2: 2 */
    const Str    *sort_columns; /* rows of a file are put in their order; none: they keep theirs */
    size_t        sort_count;
    Str           purpose;  /* of the staging folder */
    DeltaProgress progress; /* show may be NULL */
} DeltaOptimize;

typedef struct DeltaOptimized {
    int64_t commit_count;
    int64_t removed_count, removed_bytes; /* files */
    int64_t added_count, added_bytes;
    int64_t dropped_count; /* groups of files that another writer touched meanwhile */
} DeltaOptimized;

/* Makes large files of small ones, without deleted rows: the same rows, dataChange=false. What
 * another writer touches meanwhile is left out. `out` tells what was committed even when it fails
 * later. ERR_USAGE: a column to sort by that the table lacks. */
bool delta_table_optimize(DeltaTable *table, const DeltaOptimize *options, DeltaOptimized *out,
                          Err *err) MUST_CHECK;

/* --- vacuum (delta.md 2.17) --- */

#define DELTA_TABLE_RETENTION ((int64_t)-1)

typedef struct DeltaVacuum {
    int64_t       retention_us; /* DELTA_TABLE_RETENTION: the table's own */
    bool          allow_short;  /* a retention below the table's own, or below a week */
    bool          dry_run;
    DeltaProgress progress; /* show may be NULL */
} DeltaVacuum;

typedef struct DeltaGarbage {
    Str     path; /* below the table; of a dead run its folder */
    int64_t file_count;
    int64_t size_bytes;
    int64_t modified_ms; /* -1: of a dead run */
} DeltaGarbage;

typedef struct DeltaVacuumed {
    DeltaGarbage *items;
    size_t        count;
    int64_t       file_count, size_bytes; /* of all items */
    int64_t       directory_count;        /* empty ones that went */
    int64_t       cutoff_us;
} DeltaVacuumed;

/* Removes the files below the table that neither the newest version nor a tombstone younger than
 * the retention names and that are older than it, the staging folders of dead runs, and folders
 * that are empty. The table is refreshed. ERR_STATE: a retention too short, or a short one while
 * somebody writes. */
bool delta_table_vacuum(DeltaTable *table, const DeltaVacuum *options, Arena *arena,
                        DeltaVacuumed *out, Err *err) MUST_CHECK;

#endif
