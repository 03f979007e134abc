/* writer_internal.h - a writer of data files, shared with what seals them and takes them over (writer.c, staged.c). */
#ifndef TIDELAKE_DELTA_WRITER_INTERNAL_H
#define TIDELAKE_DELTA_WRITER_INTERNAL_H

#include "delta/delta_internal.h"

#include <stdatomic.h>

/* Everything that threads share is set before they start, but the number of the next file. */
struct DeltaWriter {
    DeltaContext    *context;
    Arena           *arena;
    Str              table_path, purpose;
    StoreStaging    *staging;
    Schema           schema;
    ColumnMapping    mapping;     /* of its columns: names and ids in the files */
    bool            *needs_value; /* per column: it has a default, so NULL would be wrong */
    StatsPlan        stats;
    DuckWriteOptions options;
    bool             has_fixed_codec; /* by a property of the table */
    size_t           prefix_chars;
    bool             takes_vectors, has_all_bounds;
    Str              vectors_name; /* of the staged file of vectors; empty: none */
    Str              published_vectors;
    atomic_uint      file_count;
    bool is_taken; /* its files are a dead run's, some of which may be published already */
};

/* Without a staging. */
DeltaWriter *writer_new(DeltaTable *table, const Schema *schema);
/* Of the add's file in the staging. */
Str writer_staged_name(Arena *arena, const DeltaAdd *add);

#endif
