/* schema.c - columns by name. */
#include "types/schema.h"

#include "base/arena.h"
#include "types/nested_type.h"

ptrdiff_t schema_find(const Schema *schema, Str name)
{
    ptrdiff_t found = -1;

    for (size_t i = 0; i < schema->column_count; i++) {
        if (str_equal(schema->columns[i].name, name)) return (ptrdiff_t)i;
        if (found < 0 && str_equal_ignoring_case(schema->columns[i].name, name))
            found = (ptrdiff_t)i;
    }
    return found;
}

Schema schema_merge(Arena *arena, const Schema *first, const Schema *second)
{
    Column *columns = ARENA_ARRAY(arena, Column, first->column_count + second->column_count);
    Schema  merged  = {.columns = columns};

    for (size_t i = 0; i < first->column_count; i++)
        columns[merged.column_count++] = first->columns[i];
    for (size_t i = 0; i < second->column_count; i++)
        if (schema_find(first, second->columns[i].name) < 0)
            columns[merged.column_count++] = second->columns[i];
    return merged;
}

Schema schema_copy(Arena *arena, const Schema *schema)
{
    Column *columns = ARENA_ARRAY(arena, Column, schema->column_count);

    for (size_t i = 0; i < schema->column_count; i++) {
        columns[i]         = schema->columns[i];
        columns[i].name    = str_copy(arena, schema->columns[i].name);
        columns[i].comment = str_copy(arena, schema->columns[i].comment);
        columns[i].type    = column_type_copy(arena, schema->columns[i].type);
    }
    return (Schema){.columns = columns, .column_count = schema->column_count};
}

bool schema_equal(const Schema *left, const Schema *right)
{
    if (left->column_count != right->column_count) return false;
    for (size_t i = 0; i < left->column_count; i++) {
        if (!str_equal(left->columns[i].name, right->columns[i].name)) return false;
        if (!column_type_equal(left->columns[i].type, right->columns[i].type)) return false;
    }
    return true;
}
