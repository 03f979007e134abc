/* duck_shape.c - libduckdb's nested vectors, taken apart. */
#include "duck/duck_shape.h"

#include <assert.h>

static void add_child(Shape *shape, size_t at, duckdb_logical_type logical, Str name, Arena *arena)
{
    shape->children[at] = duck_shape_of(logical, name, arena);
    duckdb_destroy_logical_type(&logical);
}

static void add_members(Shape *shape, duckdb_logical_type logical, Arena *arena)
{
    for (size_t i = 0; i < shape->child_count; i++) {
        char *name = duckdb_struct_type_child_name(logical, i);
        add_child(shape, i, duckdb_struct_type_child_type(logical, i),
                  str_copy(arena, str_from_c(name)), arena);
        duckdb_free(name);
    }
}

Shape duck_shape_of(duckdb_logical_type logical, Str name, Arena *arena)
{
    Shape shape = {.name = name, .type = duckdb_get_type_id(logical)};

    shape.is_column = duck_column_type(logical, &shape.column);
    if (shape.type == DUCKDB_TYPE_STRUCT)
        shape.child_count = (size_t)duckdb_struct_type_child_count(logical);
    if (shape.type == DUCKDB_TYPE_LIST) shape.child_count = 1;
    if (shape.type == DUCKDB_TYPE_MAP) shape.child_count = 2;
    if (shape.child_count > 0) shape.children = ARENA_ARRAY(arena, Shape, shape.child_count);
    if (shape.type == DUCKDB_TYPE_STRUCT) add_members(&shape, logical, arena);
    if (shape.type == DUCKDB_TYPE_LIST)
        add_child(&shape, 0, duckdb_list_type_child_type(logical), STR_EMPTY, arena);
    if (shape.type == DUCKDB_TYPE_MAP) {
        add_child(&shape, 0, duckdb_map_type_key_type(logical), STR_EMPTY, arena);
        add_child(&shape, 1, duckdb_map_type_value_type(logical), STR_EMPTY, arena);
    }
    return shape;
}

Values duck_values_of(const Shape *shape, duckdb_vector vector, Arena *arena)
{
    Values values = {.vector   = vector,
                     .data     = duckdb_vector_get_data(vector),
                     .validity = duckdb_vector_get_validity(vector)};

    if (shape->child_count == 0) return values;
    values.children = ARENA_ARRAY(arena, Values, shape->child_count);
    if (shape->type == DUCKDB_TYPE_LIST) {
        values.children[0] = duck_values_of(&shape->children[0],
                                            duckdb_list_vector_get_child(vector), arena);
        return values;
    }
    duckdb_vector members = shape->type == DUCKDB_TYPE_MAP ? duckdb_list_vector_get_child(vector)
                                                           : vector;
    for (size_t i = 0; i < shape->child_count; i++)
        values.children[i] = duck_values_of(&shape->children[i],
                                            duckdb_struct_vector_get_child(members, i), arena);
    return values;
}

bool duck_values_is_null(const Values *values, idx_t row)
{
    return values->validity && !(values->validity[row / 64] >> (row % 64) & 1);
}

/* `keys`: of maps, which have no NULL among them; NULL for lists. */
static bool lists_are_sound(const Values *values, const Values *keys, idx_t count, idx_t size)
{
    const duckdb_list_entry *ranges = values->data;

    for (idx_t i = 0; i < count; i++) {
        if (duck_values_is_null(values, i)) continue;
        if (ranges[i].offset > size || ranges[i].length > size - ranges[i].offset) return false;
        for (idx_t j = 0; keys && j < ranges[i].length; j++)
            if (duck_values_is_null(keys, ranges[i].offset + j)) return false;
    }
    return true;
}

bool duck_values_are_sound(const Shape *shape, const Values *values, idx_t count)
{
    if (shape->type == DUCKDB_TYPE_LIST || shape->type == DUCKDB_TYPE_MAP) {
        idx_t         size = duckdb_list_vector_get_size(values->vector);
        const Values *keys = shape->type == DUCKDB_TYPE_MAP ? &values->children[0] : NULL;
        if (!lists_are_sound(values, keys, count, size)) return false;
        count = size;
    }
    for (size_t i = 0; i < shape->child_count; i++)
        if (!duck_values_are_sound(&shape->children[i], &values->children[i], count)) return false;
    return true;
}

/* Where only typed statistics exist, their text takes the place of the one that is missing. */
static void write_parsed_stats(JsonWriter *json, const Shape *shape, const Values *values,
                               idx_t row)
{
    Arena *arena = arena_new();
    Buf    text  = buf_new(arena, 0);

    duck_write_stats(&text, shape, values, row);
    if (text.len > 0) {
        json_key(json, STR("stats"));
        json_str(json, buf_str(&text));
    }
    arena_close(arena);
}

static void write_members(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    bool has_stats = false;

    json_object_begin(json);
    for (size_t i = 0; i < shape->child_count; i++) {
        const Shape  *member = &shape->children[i];
        const Values *child  = &values->children[i];
        if (str_equal_c(member->name, "stats")) has_stats = !duck_values_is_null(child, row);
        if (str_equal_c(member->name, "stats_parsed")) {
            if (!has_stats && !duck_values_is_null(child, row))
                write_parsed_stats(json, member, child, row);
        } else if (!duck_values_is_null(child, row)) {
            json_key(json, member->name);
            duck_write_json(json, member, child, row);
        }
    }
    json_object_end(json);
}

static void write_list(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    duckdb_list_entry range = ((const duckdb_list_entry *)values->data)[row];

    json_array_begin(json);
    for (idx_t i = range.offset; i < range.offset + range.length; i++)
        duck_write_json(json, &shape->children[0], &values->children[0], i);
    json_array_end(json);
}

static void write_map(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    duckdb_list_entry range = ((const duckdb_list_entry *)values->data)[row];

    json_object_begin(json);
    for (idx_t i = range.offset; i < range.offset + range.length; i++) {
        json_key(json, duck_vector_str(values->children[0].vector, i));
        duck_write_json(json, &shape->children[1], &values->children[1], i);
    }
    json_object_end(json);
}

/* The types of action_columns, and no others. */
void duck_write_json(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    if (duck_values_is_null(values, row))
        json_null_value(json);
    else if (shape->type == DUCKDB_TYPE_STRUCT)
        write_members(json, shape, values, row);
    else if (shape->type == DUCKDB_TYPE_LIST)
        write_list(json, shape, values, row);
    else if (shape->type == DUCKDB_TYPE_MAP)
        write_map(json, shape, values, row);
    else if (shape->type == DUCKDB_TYPE_VARCHAR)
        json_str(json, duck_vector_str(values->vector, row));
    else if (shape->type == DUCKDB_TYPE_BIGINT)
        json_i64(json, ((const int64_t *)values->data)[row]);
    else if (shape->type == DUCKDB_TYPE_INTEGER)
        json_i64(json, ((const int32_t *)values->data)[row]);
    else {
        assert(shape->type == DUCKDB_TYPE_BOOLEAN);
        json_bool(json, ((const bool *)values->data)[row]);
    }
}
