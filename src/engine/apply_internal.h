/* apply_internal.h - what a call of apply decided to do, and the SQL that does it. */
#ifndef TIDELAKE_ENGINE_APPLY_INTERNAL_H
#define TIDELAKE_ENGINE_APPLY_INTERNAL_H

#include "engine/apply.h"
#include "state/bronze.h"
#include "state/facts.h"
#include "state/payload_chunks.h"

/* What to apply (7.2), decided from control, facts and bronze before anything is written. */
typedef struct ApplyPlan {
    bool   rebuild;
    OptLsn snapshot;           /* newest complete one */
    OptLsn after;              /* changes above it; unset: every change */
    bool   with_snapshot_rows; /* and the rows of `snapshot` */
} ApplyPlan;

/* `completed`: newest completion event; `whole`: newest whole snapshot in bronze; `row`: silver's
 * position. */
ApplyPlan plan_apply(OptLsn completed, OptLsn whole, const ControlRow *row);

/* A chunk of the open snapshot that is in bronze. */
typedef struct WaveChunkRow {
    int64_t     chunk, wave;
    ChunkBounds bounds;
    Lsn         stamp;
} WaveChunkRow;

typedef struct ApplyWaves {
    bool          is_open; /* a chunked snapshot is; the rest is about it */
    Lsn           snapshot;
    const Str    *keys; /* it is cut along */
    size_t        key_count;
    WaveChunkRow *chunks; /* every recorded one; after apply_choose_waves those that are new */
    size_t        chunk_count;
    Lsn           oldest_stamp; /* of the new chunks */
    OptI64        newest_wave;  /* applied after this call */
} ApplyWaves;

/* One call, as far as SQL is concerned. All texts live in `arena`. */
typedef struct ApplySql {
    Arena        *arena;
    const Str    *keys;
    size_t        key_count;
    const Schema *silver; /* what silver will hold */
} ApplySql;

typedef struct Apply {
    Env                *env;
    const ApplyOptions *options;
    ApplyResult        *result;
    Arena              *arena;
    Control            *control;
    Facts              *facts; /* NULL: none */
    Bronze             *bronze;
    DeltaTable         *silver;
    DuckSession        *session;
    ControlRow          bronze_row, silver_row; /* as read before bronze was pinned */
    Schema              bronze_schema;
    ApplyPlan           plan;
    ApplyWaves          waves;
    ApplySql            sql;
    Str                 chunk_rows; /* SELECT of the new chunks' rows */
    Str     changes; /* SELECT of the rows to apply; empty: there are no files of them */
    OptLsn  newest;  /* newest change among them */
    bool    has_rows;
    int64_t began_ns; /* for progress */
} Apply;

/* One step of the call, on the progress line; `file_total` 0: not by files. */
void apply_tell(const Apply *apply, const char *what, size_t files_done, size_t file_total);

/* --- apply_merge.c --- */
bool apply_open_silver(Apply *apply, Err *err) MUST_CHECK;
/* Brings the rows to apply into silver, in one commit or none, and tells the result what was
 * written. Another writer of silver makes it match again. */
bool apply_merge(Apply *apply, Err *err) MUST_CHECK;

/* --- apply_sql.c --- */
/* Statements over temp tables:
 *   chg        the newest row per key, with `__$id` and `__$operation`
 *   hit        the rows of silver that a row of chg meets (in a rebuild: every row), with
 *              `__$newer`: the row goes
 *   rewritten  `path` of the files that are written anew; others with hits lose rows by vector
 *   fresh      `id` of the rows that go into the file of inserts; `kept` those of an earlier attempt
 *   home       per id that met rows: `newer`, all of them go; `path` of the rewritten file that gets
 *              the new image, NULL: none, it goes with the inserts */
/* The changes, and where the plan says so the snapshot's rows. */
Str apply_sql_select_changes(const ApplySql *sql, Str bronze_scan, const ApplyPlan *plan);
/* The rows of the new chunks. */
Str apply_sql_select_chunks(const ApplySql *sql, Str bronze_scan, const ApplyWaves *waves);
/* `changes` with those rows, every later change of their keys, and a delete for each row of the temp table
 * `stale`. */
Str apply_sql_add_waves(const ApplySql *sql, Str changes, Str bronze_scan, Str chunk_rows,
                        const Schema *bronze, const ApplyPlan *plan, const ApplyWaves *waves);
Str apply_sql_make_chg(const ApplySql *sql, Str changes, const Schema *bronze);
/* The newest image per key as rows of silver, deletes left out: what an empty silver is filled
 * with. */
Str apply_sql_fill(const ApplySql *sql, Str changes, const Schema *bronze);
Str apply_sql_has_null_keys(const ApplySql *sql);
Str apply_sql_make_hit(const ApplySql *sql, Str silver_scan, bool has_null_keys, bool rebuild);
Str apply_sql_make_rewritten(const ApplySql *sql, const DeltaFile *const *files, size_t count);
Str apply_sql_make_home(void);
/* A rewritten file's content after the call: its survivors and the new images it is home to. */
Str apply_sql_rewrite(const ApplySql *sql, Str file_scan, Str path);
Str apply_sql_make_fresh(void);
Str apply_sql_inserts(const ApplySql *sql);

/* Rows of `changes` that fell on another source row's key; 0 without looking where no key is a
 * time. */
bool apply_count_merged_keys(const ApplySql *sql, DuckSession *session, Str changes,
                             const Schema *bronze, int64_t *out, Err *err) MUST_CHECK;
/* Every value of `changes` (a SELECT of bronze's columns) is held by silver's type.
 * ERR_SCHEMA_CHANGED names a column where one is not. */
bool apply_check_types(const ApplySql *sql, DuckSession *session, Str changes, const Schema *bronze,
                       Err *err) MUST_CHECK;

#endif
