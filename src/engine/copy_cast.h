/* copy_cast.h - a value of somebody's copy as bronze holds it, in libduckdb's SQL. A pure function of types. */
#ifndef TIDELAKE_ENGINE_COPY_CAST_H
#define TIDELAKE_ENGINE_COPY_CAST_H

#include "sqlconn/sqlconn.h"
#include "types/schema.h"

typedef struct CopyCast {
    Str value; /* an expression of the wanted type */
    Str bad;   /* true for a value that would not arrive as it is; empty: there is none */
} CopyCast;

/* `source` is an expression of libduckdb's type `source_type` ("DECIMAL(10,2)"). What comes of `sql_type` through the
 * stream has one spelling, and so must what comes from a copy: upper-case uniqueidentifiers, nine fraction digits of
 * a time. False: values of that type are none of the wanted one's. */
bool copy_cast_sql(Arena *arena, Str source, Str source_type, ColumnType want, SqlTypeKind sql_type,
                   CopyCast *out);

#endif
