/* silver.h - the current rows: captured columns, then the LSN and commit time of each row's image
 * (state.md 12). */
#ifndef TIDELAKE_STATE_SILVER_H
#define TIDELAKE_STATE_SILVER_H

#include "state/table_ref.h"

/* The columns of silver for a bronze table: captured ones in bronze's order, `_start_lsn`,
 * `_commit_ts`. */
Schema silver_schema_of_bronze(Arena *arena, const Schema *bronze);
/* True for bronze's metadata and sink columns, in any case. */
bool bronze_is_metadata_column(Str name);
/* The table may have more columns than bronze has now. One that is made takes deletion vectors when
 * `deletion_vectors`; one that is there keeps to what it has. ERR_STATE when something else is
 * there. */
bool silver_open_or_create(DeltaContext *context, const TableRef *ref, const Schema *bronze,
                           bool deletion_vectors, DeltaTable **out, Err *err) MUST_CHECK;

#endif
