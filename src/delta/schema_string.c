/* Spark's schema JSON (delta.md 1.9). Metadata keys that we do not know stay as they are: a
 * schema is changed by inserting text. */
#include "delta/delta_internal.h"
#include "types/nested_type.h"

#include <string.h>

/* --- types --- */

static bool refuse_type(Str column, const char *trouble, Err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "DELTA-S01 column %.*s %s, which tidelake does not read",
                   STR_ARG(column), trouble);
}

static bool parse_primitive(Str name, Str column, ColumnType *out, bool *is_foreign_out, Err *err)
{
    static const NestedType no_values = {.kind = NESTED_VOID};

    *is_foreign_out = true;
    if (str_equal_c(name, "byte")) { /* read as short; written never */
        *out = COLUMN_TYPE(TYPE_SHORT);
        return true;
    }
    if (str_equal_c(name, "void")) {
        *out = (ColumnType){.kind = TYPE_NESTED, .nested = &no_values};
        return true;
    }
    *is_foreign_out = false;
    if (column_type_parse_delta(name, out)) return true;
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-S01 column %.*s has type %.*s, which tidelake does not read",
                   STR_ARG(column), STR_ARG(name));
}

static bool parse_nested(JsonText type, Str column, int depth, Arena *arena, ColumnType *out,
                         Err *err);

static bool parse_inner(JsonText type, Str column, int depth, Arena *arena, ColumnType *out,
                        Err *err)
{
    bool is_foreign;

    if (type.kind == JSON_TEXT_OBJECT)
        return parse_nested(type, column, depth + 1, arena, out, err);
    if (type.kind != JSON_TEXT_STRING)
        return refuse_type(column, "has a type that is no Spark type", err);
    return parse_primitive(json_text_str(type, arena), column, out, &is_foreign, err);
}

bool schema_check_type_changes(JsonText metadata, Str column, Arena *arena, Err *err)
{
    JsonText changes = json_text_find(metadata, "delta.typeChanges");
    JsonText change;

    for (size_t at = 0; json_text_next_item(changes, &at, &change);) {
        Str from = json_text_str(json_text_find(change, "fromType"), arena);
        Str to   = json_text_str(json_text_find(change, "toType"), arena);
        if (!type_can_widen(from, to))
            return err_set(err, ERR_UNSUPPORTED,
                           "DELTA-P14 column %.*s was changed from %.*s to %.*s, which is no type "
                           "widening; nothing was read",
                           STR_ARG(column), STR_ARG(from), STR_ARG(to));
    }
    return true;
}

static bool parse_struct_field(JsonText item, Str column, int depth, Arena *arena, NestedField *out,
                               Err *err)
{
    JsonText metadata = json_text_find(item, "metadata");
    Str      physical = json_text_str(json_text_find(metadata, "delta.columnMapping.physicalName"),
                                      arena);

    out->name          = json_text_str(json_text_find(item, "name"), arena);
    out->physical_name = physical.ptr ? physical : STR_EMPTY;
    if (!json_text_i64(json_text_find(metadata, "delta.columnMapping.id"), &out->field_id))
        out->field_id = -1;
    if (out->name.ptr == NULL)
        return refuse_type(column, "has a struct with a field without a name", err);
    return schema_check_type_changes(metadata, column, arena, err) &&
           parse_inner(json_text_find(item, "type"), column, depth, arena, &out->type, err);
}

static bool parse_struct(JsonText type, Str column, int depth, Arena *arena, NestedType *out,
                         Err *err)
{
    JsonText fields = json_text_find(type, "fields"), item;
    size_t   count  = 0;

    for (size_t at = 0; json_text_next_item(fields, &at, &item);)
        count++;
    if (count == 0) return refuse_type(column, "has a struct without fields", err);
    if (count > LIMIT_COLUMNS) return refuse_type(column, "has a struct of too many fields", err);
    NestedField *parsed = ARENA_ARRAY(arena, NestedField, count);
    for (size_t at = 0, i = 0; json_text_next_item(fields, &at, &item); i++)
        if (!parse_struct_field(item, column, depth, arena, &parsed[i], err)) return false;
    *out = (NestedType){.kind = NESTED_STRUCT, .fields = parsed, .field_count = count};
    return true;
}

/* The members `names` of `type`, which say what it is made of. */
static bool parse_parts(JsonText type, const char *const *names, const char *const *parts,
                        size_t count, Str column, int depth, Arena *arena, NestedType *out,
                        Err *err)
{
    NestedField *fields = ARENA_ARRAY(arena, NestedField, count);

    for (size_t i = 0; i < count; i++) {
        fields[i] = (NestedField){
            .name = str_from_c(parts[i]), .physical_name = STR_EMPTY, .field_id = -1};
        if (!parse_inner(json_text_find(type, names[i]), column, depth, arena, &fields[i].type,
                         err))
            return false;
    }
    out->fields      = fields;
    out->field_count = count;
    return true;
}

static bool parse_nested(JsonText type, Str column, int depth, Arena *arena, ColumnType *out,
                         Err *err)
{
    static const char *const array_names[] = {"elementType"}, *const array_parts[] = {"element"};
    static const char *const map_names[] = {"keyType", "valueType"}, *const map_parts[] = {"key",
                                                                                           "value"};
    Str         kind   = json_text_str(json_text_find(type, "type"), arena);
    NestedType *nested = ARENA_NEW(arena, NestedType);

    if (depth > LIMIT_NESTING) return refuse_type(column, "has a type nested too deeply", err);
    *out = (ColumnType){.kind = TYPE_NESTED, .nested = nested};
    if (str_equal_c(kind, "struct")) return parse_struct(type, column, depth, arena, nested, err);
    if (str_equal_c(kind, "array")) {
        nested->kind = NESTED_ARRAY;
        return parse_parts(type, array_names, array_parts, 1, column, depth, arena, nested, err);
    }
    if (str_equal_c(kind, "map")) {
        nested->kind = NESTED_MAP;
        return parse_parts(type, map_names, map_parts, 2, column, depth, arena, nested, err);
    }
    if (str_equal_c(kind, "udt")) /* a class of Spark's over a type that tells what is stored */
        return parse_inner(json_text_find(type, "sqlType"), column, depth, arena, out, err);
    return refuse_type(column, "has a type that is no Spark type", err);
}

static bool parse_type(JsonText type, Str column, Arena *arena, Field *out, Err *err)
{
    if (type.kind == JSON_TEXT_STRING)
        return parse_primitive(json_text_str(type, arena), column, &out->column.type,
                               &out->is_foreign, err);
    out->is_foreign = true;
    return parse_inner(type, column, 0, arena, &out->column.type, err);
}

/* --- fields --- */

static bool was_float(JsonText metadata)
{
    JsonText changes = json_text_find(metadata, "delta.typeChanges");
    JsonText change;
    bool     found = false;

    for (size_t at = 0; json_text_next_item(changes, &at, &change);)
        found = found || str_equal_c(json_text_find(change, "fromType").text, "\"float\"");
    return found;
}

static bool parse_field(JsonText item, Arena *arena, Field *out, Err *err)
{
    out->column.name = json_text_str(json_text_find(item, "name"), arena);
    if (out->column.name.ptr == NULL)
        return err_set(err, ERR_DAMAGED, "DELTA-L06 its schemaString has a field without a name");
    out->metadata       = json_text_find(item, "metadata");
    Str comment         = json_text_str(json_text_find(out->metadata, "comment"), arena);
    out->column.comment = comment.ptr ? comment : STR_EMPTY;
    out->was_float      = was_float(out->metadata);
    return schema_check_type_changes(out->metadata, out->column.name, arena, err) &&
           parse_type(json_text_find(item, "type"), out->column.name, arena, out, err);
}

static bool find_fields(Str text, JsonText *fields_out)
{
    JsonText object;
    size_t   bad_at;

    if (!json_text_parse(text, &object, &bad_at)) return false;
    *fields_out = json_text_find(object, "fields");
    return fields_out->kind == JSON_TEXT_ARRAY;
}

bool schema_string_parse(Str text, Arena *arena, Field **fields_out, Schema *out, Err *err)
{
    JsonText fields, item;
    size_t   count = 0;

    if (!find_fields(text, &fields))
        return err_set(err, ERR_DAMAGED, "DELTA-L06 its schemaString is no Spark schema");
    for (size_t at = 0; json_text_next_item(fields, &at, &item);)
        count++;
    if (count > LIMIT_COLUMNS)
        return err_set(err, ERR_LIMIT, "it has %zu columns, more than %d", count, LIMIT_COLUMNS);

    Field  *parsed  = ARENA_ARRAY(arena, Field, count + 1);
    Column *columns = ARENA_ARRAY(arena, Column, count + 1);
    size_t  index   = 0;
    for (size_t at = 0; json_text_next_item(fields, &at, &item); index++) {
        if (!parse_field(item, arena, &parsed[index], err)) return false;
        columns[index] = parsed[index].column;
    }
    *fields_out = parsed;
    *out        = (Schema){.columns = columns, .column_count = count};
    return true;
}

/* --- writing --- */

static void write_field(JsonWriter *json, const Schema *schema, size_t index,
                        const ColumnMapping *mapping, Arena *arena)
{
    const Column *column = &schema->columns[index];

    json_object_begin(json);
    json_member_str(json, "name", column->name);
    json_member_str(json, "type", column_type_delta_name(arena, column->type));
    json_member_bool(json, "nullable", true);
    json_key(json, STR("metadata"));
    json_object_begin(json);
    if (column->comment.len > 0) json_member_str(json, "comment", column->comment);
    if (mapping->mode != MAPPING_NONE) {
        size_t at = mapping->stored.column_count - schema->column_count + index;
        json_member_i64(json, MAPPING_ID_KEY, mapping->ids[at]);
        json_member_str(json, MAPPING_NAME_KEY, mapping->stored.columns[at].name);
    }
    json_object_end(json);
    json_object_end(json);
}

Str schema_string_format(Arena *arena, const Schema *schema, const ColumnMapping *mapping)
{
    Buf        buf  = buf_new(arena, 0);
    JsonWriter json = json_writer(&buf, false, false);

    json_object_begin(&json);
    json_member_str(&json, "type", STR("struct"));
    json_key(&json, STR("fields"));
    json_array_begin(&json);
    for (size_t i = 0; i < schema->column_count; i++)
        write_field(&json, schema, i, mapping, arena);
    json_array_end(&json);
    json_object_end(&json);
    return buf_str(&buf);
}

/* --- changing: text goes in, the rest stays --- */

/* The old list with one change more (2.9). */
static void write_type_changes(JsonWriter *json, JsonText old, Str from, Str to)
{
    JsonText change;

    json_array_begin(json);
    for (size_t at = 0; json_text_next_item(old, &at, &change);)
        json_raw(json, change.text);
    json_object_begin(json);
    json_member_str(json, "fromType", from);
    json_member_str(json, "toType", to);
    json_object_end(json);
    json_array_end(json);
}

static void write_changed_metadata(JsonWriter *json, JsonText metadata, const ColumnChange *change,
                                   Str from, Str to, Arena *arena)
{
    const char *const types = "delta.typeChanges";
    Str               key;
    JsonText          value;

    json_object_begin(json);
    if (change->comment.len > 0) json_member_str(json, "comment", change->comment);
    for (size_t at = 0; json_text_next_member(metadata, &at, &key, &value);) {
        if (change->comment.ptr && json_text_key_equals(key, STR("comment"))) continue;
        if (change->is_widened && json_text_key_equals(key, str_from_c(types))) continue;
        json_key(json, json_text_unescape(key, arena));
        json_raw(json, value.text);
    }
    if (change->is_widened) {
        json_key(json, str_from_c(types));
        write_type_changes(json, json_text_find(metadata, types), from, to);
    }
    json_object_end(json);
}

static void write_changed_field(Buf *buf, JsonText item, const ColumnChange *change, Arena *arena)
{
    JsonWriter json     = json_writer(buf, false, false);
    JsonText   metadata = json_text_find(item, "metadata");
    Str        from     = json_text_str(json_text_find(item, "type"), arena);
    Str        to       = change->is_widened ? column_type_delta_name(arena, change->type) : from;
    Str        key;
    JsonText   value;

    json_object_begin(&json);
    for (size_t at = 0; json_text_next_member(item, &at, &key, &value);) {
        if (json_text_key_equals(key, STR("metadata"))) continue;
        json_key(&json, json_text_unescape(key, arena));
        if (change->is_widened && json_text_key_equals(key, STR("type")))
            json_str(&json, to);
        else
            json_raw(&json, value.text);
    }
    json_key(&json, STR("metadata"));
    write_changed_metadata(&json, metadata, change, from, to, arena);
    json_object_end(&json);
}

Str schema_string_change(Arena *arena, Str text, const SchemaChange *change)
{
    Buf      buf = buf_new(arena, 0);
    JsonText fields, item;
    size_t   copied = 0, index = 0;

    if (!find_fields(text, &fields)) return text; /* cannot be: it was parsed */
    for (size_t at = 0; json_text_next_item(fields, &at, &item); index++) {
        const ColumnChange *column = change->columns ? &change->columns[index] : NULL;
        if (!column || (!column->is_widened && !column->comment.ptr)) continue;
        size_t start = (size_t)(item.text.ptr - text.ptr);
        buf_append(&buf, str_slice(text, copied, start));
        write_changed_field(&buf, item, column, arena);
        copied = start + item.text.len;
    }
    size_t cut = (size_t)(fields.text.ptr - text.ptr) + fields.text.len - 1;
    buf_append(&buf, str_slice(text, copied, cut));
    for (size_t i = 0; i < change->added.column_count; i++) {
        JsonWriter json = json_writer(&buf, false, false);
        if (index > 0 || i > 0) buf_append_char(&buf, ',');
        write_field(&json, &change->added, i, change->mapping, arena);
    }
    buf_append(&buf, str_slice(text, cut, text.len));
    return buf_str(&buf);
}

char schema_forbidden_char(Str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != '\0' && strchr(" ,;{}()\n\t=", name.ptr[i])) return name.ptr[i];
    return 0;
}

bool schema_fail_twice(Str name, Err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "the column name %.*s occurs twice, ignoring case, which Delta forbids",
                   STR_ARG(name));
}

bool schema_check_names(const Schema *schema, Err *err)
{
    bool   ok    = true;
    Arena *arena = arena_new();
    Map   *seen  = map_new();

    for (size_t i = 0; ok && i < schema->column_count; i++) {
        Str         name    = schema->columns[i].name;
        const char *trouble = name.len == 0          ? "a column has an empty name"
                              : !utf8_is_valid(name) ? "a column's name is not UTF-8"
                                                     : NULL;
        if (trouble) {
            ok = err_set(err, ERR_UNSUPPORTED, "%s", trouble);
            break;
        }
        if (map_put(seen, str_lower_ascii(arena, name), arena)) ok = schema_fail_twice(name, err);
    }
    map_close(seen);
    arena_close(arena);
    return ok;
}
