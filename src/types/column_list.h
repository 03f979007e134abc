/* column_list.h - columns with their types as people write them: "order_id BIGINT, `a b` STRING,
 * amount DECIMAL(18,2)". */
#ifndef TIDELAKE_TYPES_COLUMN_LIST_H
#define TIDELAKE_TYPES_COLUMN_LIST_H

#include "base/err.h"
#include "types/schema.h"

/* A name that holds more than letters, digits and _ stands in backquotes, a backquote in it doubled;
 * a colon may stand before the type. ERR_USAGE says what is wrong. At least one column. */
bool column_list_parse(Str text, Arena *arena, Schema *out, Err *err) MUST_CHECK;

#endif
