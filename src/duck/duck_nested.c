/* duck_nested.c - lists, maps and structs of libduckdb: their types, and their values as JSON text,
 * which is all that the lake knows of them. Scalars within are written as they are outside:
 * decimals, dates and times as text, digit by digit. */
#include "base/json.h"
#include "base/limits.h"
#include "duck/duck_internal.h"
#include "types/nested_type.h"

#include <assert.h>

/* --- types --- */

static bool fill_field(Arena *arena, duckdb_logical_type logical, Str name, int depth,
                       NestedField *out)
{
    *out    = (NestedField){.name = name, .physical_name = STR_EMPTY, .field_id = -1};
    bool ok = logical && duck_nested_column_type(arena, logical, depth + 1, &out->type);
    duckdb_destroy_logical_type(&logical);
    return ok;
}

static bool fill_struct(Arena *arena, duckdb_logical_type logical, int depth, NestedField *fields,
                        size_t count)
{
    bool ok = count > 0;

    for (size_t i = 0; ok && i < count; i++) {
        char *name = duckdb_struct_type_child_name(logical, i);
        Str   copy = str_copy(arena, str_from_c(name ? name : ""));
        duckdb_free(name);
        ok = copy.len > 0 &&
             fill_field(arena, duckdb_struct_type_child_type(logical, i), copy, depth, &fields[i]);
    }
    return ok;
}

bool duck_nested_column_type(Arena *arena, duckdb_logical_type logical, int depth, ColumnType *out)
{
    duckdb_type id    = duckdb_get_type_id(logical);
    size_t      count = 1;

    if (id != DUCKDB_TYPE_LIST && id != DUCKDB_TYPE_MAP && id != DUCKDB_TYPE_STRUCT)
        return duck_column_type(logical, out);
    if (depth >= LIMIT_NESTING) return false;
    if (id == DUCKDB_TYPE_MAP) count = 2;
    if (id == DUCKDB_TYPE_STRUCT) count = (size_t)duckdb_struct_type_child_count(logical);

    NestedField *fields = ARENA_ARRAY(arena, NestedField, count + 1);
    NestedType  *nested = ARENA_NEW(arena, NestedType);
    bool         ok;
    if (id == DUCKDB_TYPE_LIST) {
        nested->kind = NESTED_ARRAY;
        ok = fill_field(arena, duckdb_list_type_child_type(logical), STR("element"), depth, fields);
    } else if (id == DUCKDB_TYPE_MAP) {
        nested->kind = NESTED_MAP;
        ok = fill_field(arena, duckdb_map_type_key_type(logical), STR("key"), depth, &fields[0]) &&
             fill_field(arena, duckdb_map_type_value_type(logical), STR("value"), depth,
                        &fields[1]);
    } else {
        nested->kind = NESTED_STRUCT;
        ok           = fill_struct(arena, logical, depth, fields, count);
    }
    nested->fields      = fields;
    nested->field_count = count;
    *out                = (ColumnType){.kind = TYPE_NESTED, .nested = nested};
    return ok;
}

/* --- type names for casts --- */

/* The name of `logical` with every type the lake does not have replaced by one it has. */
static bool append_cast_type(Buf *sql, Arena *arena, duckdb_logical_type logical, int depth);

static bool append_child(Buf *sql, Arena *arena, duckdb_logical_type child, int depth)
{
    bool ok = child && append_cast_type(sql, arena, child, depth + 1);
    duckdb_destroy_logical_type(&child);
    return ok;
}

static bool append_struct(Buf *sql, Arena *arena, duckdb_logical_type logical, int depth)
{
    idx_t count = duckdb_struct_type_child_count(logical);
    bool  ok    = count > 0;

    buf_append_c(sql, "STRUCT(");
    for (idx_t i = 0; ok && i < count; i++) {
        char *name = duckdb_struct_type_child_name(logical, i);
        ok         = name && name[0] != '\0'; /* row(1, 2) has no names to give */
        if (i > 0) buf_append_c(sql, ", ");
        if (ok) duck_append_identifier(sql, str_from_c(name));
        duckdb_free(name);
        buf_append_char(sql, ' ');
        ok = ok && append_child(sql, arena, duckdb_struct_type_child_type(logical, i), depth);
    }
    buf_append_char(sql, ')');
    return ok;
}

static bool append_cast_type(Buf *sql, Arena *arena, duckdb_logical_type logical, int depth)
{
    ColumnType type;
    bool       ok;

    if (depth > LIMIT_NESTING) return false;
    switch (duckdb_get_type_id(logical)) {
    case DUCKDB_TYPE_LIST:
        ok = append_child(sql, arena, duckdb_list_type_child_type(logical), depth);
        buf_append_c(sql, "[]");
        return ok;
    case DUCKDB_TYPE_ARRAY:
        ok = append_child(sql, arena, duckdb_array_type_child_type(logical), depth);
        buf_append_c(sql, "[]");
        return ok;
    case DUCKDB_TYPE_MAP:
        buf_append_c(sql, "MAP(");
        ok = append_child(sql, arena, duckdb_map_type_key_type(logical), depth);
        buf_append_c(sql, ", ");
        ok = ok && append_child(sql, arena, duckdb_map_type_value_type(logical), depth);
        buf_append_char(sql, ')');
        return ok;
    case DUCKDB_TYPE_STRUCT: return append_struct(sql, arena, logical, depth);
    default: break; /* an enum of libduckdb's */
    }
    Str substitute = duck_substitute_type(logical);
    if (substitute.len == 0) {
        if (!duck_column_type(logical, &type)) return false;
        substitute = duck_type_name(arena, type);
    }
    buf_append(sql, substitute);
    return true;
}

Str duck_nested_cast_type(Arena *arena, duckdb_logical_type logical)
{
    Buf        sql = buf_new(arena, 0);
    ColumnType type;

    if (duck_nested_column_type(arena, logical, 0, &type)) return STR_EMPTY;
    return append_cast_type(&sql, arena, logical, 0) ? buf_str(&sql) : STR("VARCHAR");
}

/* --- values --- */

typedef struct Writing {
    JsonWriter json;
    Arena     *scratch;
} Writing;

static void write_value(Writing *writing, duckdb_vector vector, ColumnType type, idx_t row);

static ColumnVector leaf_of(duckdb_vector vector, ColumnType type)
{
    return (ColumnVector){.type = type, .data = duckdb_vector_get_data(vector)};
}

/* A map's key is a member's name, whatever its type. */
static Str key_text(Writing *writing, duckdb_vector vector, ColumnType type, idx_t row)
{
    if (type.kind == TYPE_STRING) return duck_vector_str(vector, row);
    if (type.kind == TYPE_NESTED) return duck_nested_text(writing->scratch, vector, type, row);
    if (type.kind == TYPE_BINARY) {
        Str hex = hex_encode(writing->scratch, str_bytes(duck_vector_str(vector, row)), false);
        return str_printf(writing->scratch, "0x%.*s", STR_ARG(hex));
    }
    ColumnVector leaf = leaf_of(vector, type);
    return column_format(writing->scratch, &leaf, row);
}

/* --- damage --- */

/* Every list of the first `count` rows lies within the `size` values that are there. */
static bool lists_lie_within(duckdb_vector vector, idx_t count, idx_t size)
{
    const duckdb_list_entry *entries = duckdb_vector_get_data(vector);

    for (idx_t i = 0; i < count; i++)
        if (!duck_vector_is_null(vector, i) &&
            (entries[i].offset > size || entries[i].length > size - entries[i].offset))
            return false;
    return true;
}

bool duck_nested_is_sound(duckdb_vector vector, ColumnType type, idx_t count)
{
    const NestedType *nested = type.nested;

    if (type.kind != TYPE_NESTED || nested->kind == NESTED_VOID) return true;
    if (nested->kind == NESTED_STRUCT) {
        for (size_t i = 0; i < nested->field_count; i++)
            if (!duck_nested_is_sound(duckdb_struct_vector_get_child(vector, i),
                                      nested->fields[i].type, count))
                return false;
        return true;
    }
    idx_t         size  = duckdb_list_vector_get_size(vector);
    duckdb_vector child = duckdb_list_vector_get_child(vector);
    if (!lists_lie_within(vector, count, size)) return false;
    if (nested->kind == NESTED_ARRAY)
        return duck_nested_is_sound(child, nested->fields[0].type, size);
    for (idx_t i = 0; i < size; i++) /* a key is never NULL */
        if (duck_vector_is_null(duckdb_struct_vector_get_child(child, 0), i)) return false;
    return duck_nested_is_sound(duckdb_struct_vector_get_child(child, 0), nested->fields[0].type,
                                size) &&
           duck_nested_is_sound(duckdb_struct_vector_get_child(child, 1), nested->fields[1].type,
                                size);
}

/* --- values --- */

static void write_map(Writing *writing, duckdb_vector vector, const NestedType *type, idx_t row)
{
    duckdb_list_entry entry   = ((duckdb_list_entry *)duckdb_vector_get_data(vector))[row];
    duckdb_vector     entries = duckdb_list_vector_get_child(vector);
    duckdb_vector     keys    = duckdb_struct_vector_get_child(entries, 0);
    duckdb_vector     values  = duckdb_struct_vector_get_child(entries, 1);

    json_object_begin(&writing->json);
    for (idx_t i = entry.offset; i < entry.offset + entry.length; i++) {
        json_key(&writing->json, key_text(writing, keys, type->fields[0].type, i));
        write_value(writing, values, type->fields[1].type, i);
    }
    json_object_end(&writing->json);
}

static void write_array(Writing *writing, duckdb_vector vector, const NestedType *type, idx_t row)
{
    duckdb_list_entry entry = ((duckdb_list_entry *)duckdb_vector_get_data(vector))[row];
    duckdb_vector     child = duckdb_list_vector_get_child(vector);

    json_array_begin(&writing->json);
    for (idx_t i = entry.offset; i < entry.offset + entry.length; i++)
        write_value(writing, child, type->fields[0].type, i);
    json_array_end(&writing->json);
}

static void write_struct(Writing *writing, duckdb_vector vector, const NestedType *type, idx_t row)
{
    json_object_begin(&writing->json);
    for (size_t i = 0; i < type->field_count; i++) {
        json_key(&writing->json, type->fields[i].name);
        write_value(writing, duckdb_struct_vector_get_child(vector, i), type->fields[i].type, row);
    }
    json_object_end(&writing->json);
}

static void write_nested(Writing *writing, duckdb_vector vector, const NestedType *type, idx_t row)
{
    switch (type->kind) {
    case NESTED_ARRAY: write_array(writing, vector, type, row); return;
    case NESTED_MAP: write_map(writing, vector, type, row); return;
    case NESTED_STRUCT: write_struct(writing, vector, type, row); return;
    case NESTED_VOID: json_null_value(&writing->json); return;
    }
}

static void write_value(Writing *writing, duckdb_vector vector, ColumnType type, idx_t row)
{
    if (duck_vector_is_null(vector, row)) {
        json_null_value(&writing->json);
    } else if (type.kind == TYPE_NESTED) {
        write_nested(writing, vector, type.nested, row);
    } else if (column_type_is_text(type)) {
        Str          text = duck_vector_str(vector, row);
        ColumnVector leaf = {.type = type, .data = &text};
        column_write_json(&writing->json, &leaf, 0, writing->scratch);
    } else {
        ColumnVector leaf = leaf_of(vector, type);
        column_write_json(&writing->json, &leaf, row, writing->scratch);
    }
}

Str duck_nested_text(Arena *arena, duckdb_vector vector, ColumnType type, idx_t row)
{
    Buf     buf     = buf_new(arena, 0);
    Writing writing = {.json = json_writer(&buf, true, false), .scratch = arena};

    write_value(&writing, vector, type, row);
    return buf_str(&buf);
}

/* --- ids of fields --- */

static void append_other_names(Buf *sql, const NestedType *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const NestedField *field = &type->fields[i];
        if (field->physical_name.len > 0 && field->field_id >= 0) {
            buf_printf(sql, "%s(field_id = %lld AND name <> ", sql->len > 0 ? " OR " : "",
                       (long long)field->field_id);
            duck_append_literal(sql, field->physical_name);
            buf_append_char(sql, ')');
        }
        if (field->type.kind == TYPE_NESTED) append_other_names(sql, field->type.nested);
    }
}

Str duck_find_file_with_other_names_sql(Arena *arena, const Str *local_paths, size_t path_count,
                                        ColumnType type)
{
    Buf condition = buf_new(arena, 0);

    if (type.kind != TYPE_NESTED) return STR_EMPTY;
    append_other_names(&condition, type.nested);
    if (condition.len == 0) return STR_EMPTY;
    return duck_find_file_sql(arena, local_paths, path_count,
                              str_printf(arena, "WHERE %.*s", STR_ARG(buf_str(&condition))));
}
