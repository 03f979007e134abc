/* conform.h - a row stream in the shape of a table's schema. */
#ifndef TIDELAKE_DELTA_CONFORM_H
#define TIDELAKE_DELTA_CONFORM_H

#include "types/row_block.h"

/* `rows` is not taken over. The stream gives the columns the names of `stored`, which are those of
 * `schema` under the names they have in files. ERR_SCHEMA_CHANGED: a column that the schema lacks,
 * or a type it cannot hold. */
bool conform_open(RowStream *rows, const Schema *schema, const Schema *stored, Arena *arena,
                  RowStream **out, Err *err) MUST_CHECK;
/* The rows bring this column of the schema. */
bool conform_supplies(const RowStream *stream, size_t column);
void conform_close(RowStream *stream); /* accepts NULL */

#endif
