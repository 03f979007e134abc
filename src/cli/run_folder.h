/* run_folder.h - a folder of a run's own under the system's temporary one: what libduckdb spills, the driver's files. It is
 * locked while the run lives, so that the next run can tell which are left of runs that were killed, and removes those. */
#ifndef TIDELAKE_CLI_RUN_FOLDER_H
#define TIDELAKE_CLI_RUN_FOLDER_H

#include "base/arena.h"
#include "base/rng.h"
#include "base/str.h"

typedef struct RunFolder {
    Str path;    /* always named, even where it could not be made: whoever needs it says so */
    int lock_fd; /* -1: it was not made */
} RunFolder;

/* Below `root`. Removes what dead runs of this user left there; what cannot be removed is left. */
RunFolder run_folder_open(Str root, Arena *arena, Rng *rng);
void      run_folder_close(RunFolder *folder); /* removes it with all that is in it */

#endif
