/* duck_shape.h - values of libduckdb's nested types, as JSON. */
#ifndef TIDELAKE_DUCK_SHAPE_H
#define TIDELAKE_DUCK_SHAPE_H

#include "base/json.h"
#include "duck/duck_internal.h"

/* The type of a value, and of what it is made of. */
typedef struct Shape {
    Str           name; /* as a member of a struct */
    duckdb_type   type;
    ColumnType    column; /* where is_column: of a value that the lake has a type for */
    bool          is_column;
    struct Shape *children; /* members; the elements of a list; keys and values of a map */
    size_t        child_count;
} Shape;

/* The vectors of one chunk in the same form. */
typedef struct Values {
    duckdb_vector  vector;
    void          *data;
    uint64_t      *validity;
    struct Values *children;
} Values;

Shape  duck_shape_of(duckdb_logical_type logical, Str name, Arena *arena);
Values duck_values_of(const Shape *shape, duckdb_vector vector, Arena *arena);
bool   duck_values_is_null(const Values *values, idx_t row);
/* False: a list of the first `count` rows reaches past the values that are there, or a key of a map
 * is NULL. libduckdb gives such of files whose levels are damaged; nothing else may be done with the
 * values then. */
bool duck_values_are_sound(const Shape *shape, const Values *values, idx_t count);

/* A value of the types that the actions of a log have; members that are NULL are left out. */
void duck_write_json(JsonWriter *json, const Shape *shape, const Values *values, idx_t row);

/* Typed statistics (stats_parsed) as the text that a commit would have, without what is NULL. Bounds
 * of types that statistics have no text for are left out: unknown. Nothing is written when nothing is left. duck_parsed_stats.c */
void duck_write_stats(Buf *text, const Shape *shape, const Values *values, idx_t row);

#endif
