/* large_rows.h - rows with large values, set apart from the rows around them, so that each can have
 * a data file of its own.
 *
 * libduckdb makes the pages of a row group within the call that brings the row which fills it, when
 * the row is still in its block too. With nothing behind the row, it makes them when it has been told
 * that there is no more; the block can be gone by then. */
#ifndef TIDELAKE_DELTA_LARGE_ROWS_H
#define TIDELAKE_DELTA_LARGE_ROWS_H

#include "types/row_block.h"

/* Of a row's text and binary values together; smaller rows stay among the others. */
#define LARGE_ROW_BYTES ((size_t)16 << 20)

typedef struct LargeRows LargeRows;

/* `rows` is not closed. `least_bytes` 0: LARGE_ROW_BYTES. Streams end a block with a row of that size, as the driver's do; where one
 * does not, the row stays where it is. */
LargeRows *large_rows_new(RowStream *rows, size_t least_bytes, Arena *arena);
/* Goes to the rows of the next file; `*is_large_out`: it is one row. */
bool large_rows_find_file(LargeRows *large, bool *has_rows_out, bool *is_large_out,
                          Err *err) MUST_CHECK;
/* The rows of that file, up to their end. */
RowStream *large_rows_of_file(LargeRows *large);

#endif
