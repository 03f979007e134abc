/* plan_optimize.h - which files OPTIMIZE makes one of (delta.md 2.16): a pure function of their
 * sizes and deleted rows. */
#ifndef TIDELAKE_DELTA_PLAN_OPTIMIZE_H
#define TIDELAKE_DELTA_PLAN_OPTIMIZE_H

#include "base/arena.h"

#include <stdint.h>

typedef struct PlanFile {
    int64_t size_bytes;
    int64_t row_count;     /* in the file; -1: unknown */
    int64_t deleted_count; /* of these by a deletion vector; -1: it has one, of unknown size */
} PlanFile;

typedef struct PlanBin {
    size_t *files; /* indexes, ascending */
    size_t  file_count;
    int64_t size_bytes; /* of the rows that are left, estimated */
} PlanBin;

typedef struct OptimizePlan {
    PlanBin *bins;
    size_t   bin_count;
} OptimizePlan;

/* Files below the target, and those of whose rows more than a twentieth is deleted, by first fit
 * into bins of at most the target. A bin has `files_least` files or more (at least two), or holds
 * one whose deleted rows are worth getting rid of. Every file is in one bin at most; files keep
 * their order in a bin, and bins come in the order of their first files. */
OptimizePlan plan_optimize(const PlanFile *files, size_t file_count, int64_t target_bytes,
                           size_t files_least, Arena *arena);

#endif
