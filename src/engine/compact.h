/* compact.h - small files of facts and bronze become large ones while streams write, in a task of
 * its own and never in their way: what it cannot do now is a log line, and done later. */
#ifndef TIDELAKE_ENGINE_COMPACT_H
#define TIDELAKE_ENGINE_COMPACT_H

#include "engine/env.h"

typedef struct CompactTable {
    Str     path;
    int64_t commits; /* between two compactions, at least 1 */
} CompactTable;

typedef struct Compactor Compactor;

/* Tables need not exist yet. `tables` lives as long as the compactor. */
Compactor *compactor_start(Env *env, const CompactTable *tables, size_t count);
/* `finish`: a last look, for runs that end by themselves, which may all be short ones. Else what is
 * under way is given up. Accepts NULL. */
void compactor_stop(Compactor *compactor, bool finish);

#endif
