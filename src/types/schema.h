/* schema.h - named, typed columns in order. */
#ifndef TIDELAKE_TYPES_SCHEMA_H
#define TIDELAKE_TYPES_SCHEMA_H

#include "types/column_type.h"

typedef struct Column {
    Str        name;
    ColumnType type;
    Str        comment; /* empty: none */
} Column;

typedef struct Schema {
    const Column *columns;
    size_t        column_count;
} Schema;

/* Index of the column of that name, -1 if none. Names compare ignoring ASCII case, as Delta's
 * do; an exact match wins. */
ptrdiff_t schema_find(const Schema *schema, Str name);
/* `first` followed by those columns of `second` whose names `first` lacks. */
Schema schema_merge(Arena *arena, const Schema *first, const Schema *second);
Schema schema_copy(Arena *arena, const Schema *schema);
bool   schema_equal(const Schema *left, const Schema *right); /* names and types, not comments */

#endif
