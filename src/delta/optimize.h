/* optimize.h - what the two halves of OPTIMIZE share. */
#ifndef TIDELAKE_DELTA_OPTIMIZE_H
#define TIDELAKE_DELTA_OPTIMIZE_H

#include "delta/delta_internal.h"

/* The rows of files, one file after another, each in its order; deleted rows are left out. At most
 * one file is open at a time. The files must be live as long as the stream is. */
RowStream *files_rows_open(DeltaTable *table, DuckSession *session, const DeltaFile *const *files,
                           size_t file_count, Arena *arena);
/* False: a value of the block may fit into a page by itself, and not behind the rows of a row group. */
bool rows_may_share_pages(const RowBlock *block);
/* Which files hold a value that a row group has no room for: `large_out` has a place for each. By their footers. */
bool files_find_large(DeltaTable *table, DuckSession *session, const DeltaFile *const *files,
                      size_t file_count, bool *large_out, Err *err) MUST_CHECK;

#endif
