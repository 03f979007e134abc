/* apply_internal.h - what a call of apply decided to do, and the SQL that does it. */
#ifndef TIDELAKE_ENGINE_APPLY_INTERNAL_H
#define TIDELAKE_ENGINE_APPLY_INTERNAL_H

#include "engine/apply.h"

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

/* One call, as far as SQL is concerned. All texts live in `arena`. */
typedef struct ApplySql {
    Arena        *arena;
    const Str    *keys;
    size_t        key_count;
    const Schema *silver; /* what silver will hold */
} ApplySql;

/* Statements over the temp tables `chg` (newest row per key, with `__$id`, `__$operation`) and
 * `hit` (rows of silver that a row of chg meets). */
Str apply_sql_select_changes(const ApplySql *sql, Str bronze_scan, const Schema *bronze,
                             const ApplyPlan *plan);
Str apply_sql_make_chg(const ApplySql *sql, Str changes, const Schema *bronze);
/* The newest image per key as rows of silver, deletes left out: what an empty silver is filled
 * with. */
Str apply_sql_fill(const ApplySql *sql, Str changes, const Schema *bronze);
Str apply_sql_has_null_keys(const ApplySql *sql);
Str apply_sql_make_hit(const ApplySql *sql, Str silver_scan, bool has_null_keys, bool rebuild);
/* A touched file's content after the call: its survivors and the new images of its rows. */
Str apply_sql_rewrite(const ApplySql *sql, Str file_scan, Str path);
Str apply_sql_inserts(const ApplySql *sql);

/* Every value of `changes` (a SELECT of bronze's columns) is held by silver's type.
 * ERR_SCHEMA_CHANGED names a column where one is not. */
bool apply_check_types(const ApplySql *sql, DuckSession *session, Str changes, const Schema *bronze,
                       Err *err) MUST_CHECK;

#endif
