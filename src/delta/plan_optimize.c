/* First fit over a bounded number of open bins: what is written next to each other stays so, and a
 * table of a million files is planned in no time. */
#include "delta/plan_optimize.h"

#include "base/list.h"

#include <assert.h>

#define OPEN_BINS         32
#define PURGE_ONE_IN      20 /* more deleted rows than that are worth a rewrite */
#define FILES_LEAST_TO_BE 2

typedef struct Bin {
    LIST(size_t) files;
    int64_t size_bytes;
    bool    purges;
} Bin;

typedef struct Packing {
    Arena *arena;
    LIST(Bin) bins;
    size_t  first_open; /* bins before it are closed */
    int64_t target_bytes;
} Packing;

static bool is_worth_purging(const PlanFile *file)
{
    if (file->deleted_count == 0) return false;
    if (file->deleted_count < 0 || file->row_count <= 0) return true;
    return file->deleted_count > file->row_count / PURGE_ONE_IN;
}

static int64_t left_bytes(const PlanFile *file)
{
    if (file->deleted_count <= 0 || file->row_count <= 0) return MAX(file->size_bytes, 0);
    double left = 1.0 - (double)MIN(file->deleted_count, file->row_count) / (double)file->row_count;
    return (int64_t)((double)MAX(file->size_bytes, 0) * left);
}

static Bin *find_room(Packing *packing, int64_t size_bytes)
{
    for (size_t i = packing->first_open; i < packing->bins.count; i++)
        if (packing->bins.items[i].size_bytes <= packing->target_bytes - size_bytes)
            return &packing->bins.items[i];
    if (packing->bins.count - packing->first_open == OPEN_BINS) packing->first_open++;
    return LIST_PUSH(packing->arena, &packing->bins);
}

static bool is_worth_it(const Bin *bin, size_t files_least)
{
    return bin->purges || bin->files.count >= MAX(files_least, FILES_LEAST_TO_BE);
}

OptimizePlan plan_optimize(const PlanFile *files, size_t file_count, int64_t target_bytes,
                           size_t files_least, Arena *arena)
{
    Packing      packing = {.arena = arena, .target_bytes = target_bytes};
    OptimizePlan plan    = {0};

    assert(target_bytes > 0);
    for (size_t i = 0; i < file_count; i++) {
        bool purges = is_worth_purging(&files[i]);
        if (files[i].size_bytes >= target_bytes && !purges) continue;
        Bin *bin                       = find_room(&packing, left_bytes(&files[i]));
        *LIST_PUSH(arena, &bin->files) = i;
        bin->size_bytes += left_bytes(&files[i]);
        bin->purges |= purges;
    }
    plan.bins = ARENA_ARRAY(arena, PlanBin, packing.bins.count + 1);
    for (size_t i = 0; i < packing.bins.count; i++) {
        const Bin *bin = &packing.bins.items[i];
        if (is_worth_it(bin, files_least))
            plan.bins[plan.bin_count++] = (PlanBin){.files      = bin->files.items,
                                                    .file_count = bin->files.count,
                                                    .size_bytes = bin->size_bytes};
    }
    return plan;
}
