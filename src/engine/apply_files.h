/* apply_files.h - which files of silver may hold a changed key, by statistics alone (delta.md 2.8
 * step 1). */
#ifndef TIDELAKE_ENGINE_APPLY_FILES_H
#define TIDELAKE_ENGINE_APPLY_FILES_H

#include "engine/apply_internal.h"

/* The live files whose key bounds do not exclude every key of the temp table `chg`. Opens none of
 * them. */
bool apply_find_candidates(DeltaTable *silver, DuckSession *session, const ApplySql *sql,
                           Arena *arena, const DeltaFile ***out, size_t *count_out,
                           Err *err) MUST_CHECK;

#endif
