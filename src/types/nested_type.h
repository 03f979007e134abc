/* nested_type.h - arrays, maps and structs, which tables of other programs may have. They are read
 * and shown, as JSON text outside of libduckdb; never written. */
#ifndef TIDELAKE_TYPES_NESTED_TYPE_H
#define TIDELAKE_TYPES_NESTED_TYPE_H

#include "types/column_type.h"

typedef enum NestedKind {
    NESTED_ARRAY,  /* one field, the element */
    NESTED_MAP,    /* two fields, key and value */
    NESTED_STRUCT, /* its fields */
    NESTED_VOID,   /* a type without values: none, and always NULL */
} NestedKind;

typedef struct NestedField {
    Str        name;          /* of an array's or a map's: "element", "key", "value" */
    Str        physical_name; /* in data files; empty: the name */
    int64_t    field_id;      /* of column mapping, -1: none */
    ColumnType type;
} NestedField;

struct NestedType {
    NestedKind         kind;
    const NestedField *fields;
    size_t             field_count;
};

/* Kinds, names and types, not physical names. Accept NULL. */
bool nested_type_equal(const NestedType *left, const NestedType *right);
/* "ARRAY<INT>", "MAP<STRING, INT>", "STRUCT<a: INT, `b c`: STRING>"; of NULL "NESTED". */
Str nested_type_sql_name(Arena *arena, const NestedType *type);
/* The type with nothing that lives elsewhere. */
ColumnType column_type_copy(Arena *arena, ColumnType type);
/* As it stands in data files: fields by their physical names. The type itself where none has one. */
ColumnType column_type_physical(Arena *arena, ColumnType type);
bool       column_type_has_physical_names(ColumnType type);

#endif
