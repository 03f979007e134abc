/* cut_source.h - what the planners of parts and chunks ask of the table, as callbacks: a Cutter's answers, or a
 * test's. */
#ifndef TIDELAKE_ENGINE_CUT_SOURCE_H
#define TIDELAKE_ENGINE_CUT_SOURCE_H

#include "source/mssql_cut.h"

typedef struct CutSource { /* each as the cutter_ function of its name (source/mssql_cut.h) */
    void *context;
    bool (*find_extents)(void *context, const KeyInterval *intervals, size_t count, KeyExtent *out,
                         Err *err);
    bool (*count_slices)(void *context, const SliceGrid *grids, size_t count, Arena *arena,
                         SliceCounts *out, Err *err);
    bool (*estimate_rows)(void *context, int64_t *rows_out, Err *err);
    bool (*seek)(void *context, const KeyPart *lo, const KeyPart *hi, int64_t n, Arena *arena,
                 const KeyPart **out, Err *err);
} CutSource;

CutSource cut_source_of_cutter(Cutter *cutter);

#endif
