/* duck_sql.c - SQL text for libduckdb. Names and values get into it through the functions here
 * alone. */
#include "duck/duck_internal.h"
#include "types/nested_type.h"

#include <assert.h>

static void append_quoted(Buf *sql, char quote, Str text)
{
    buf_append_char(sql, quote);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == quote) buf_append_char(sql, quote);
        buf_append_char(sql, text.ptr[i]);
    }
    buf_append_char(sql, quote);
}

void duck_append_identifier(Buf *sql, Str name)
{
    append_quoted(sql, '"', name);
}

void duck_append_literal(Buf *sql, Str text)
{
    append_quoted(sql, '\'', text);
}

Str duck_quote_identifier(Arena *arena, Str name)
{
    Buf sql = buf_new(arena, 0);
    duck_append_identifier(&sql, name);
    return buf_str(&sql);
}

Str duck_quote_literal(Arena *arena, Str text)
{
    Buf sql = buf_new(arena, 0);
    duck_append_literal(&sql, text);
    return buf_str(&sql);
}

/* A bracket expression of one character stands for that character alone. */
void duck_append_path_literal(Buf *sql, Str path)
{
    buf_append_char(sql, '\'');
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '*' || c == '?' || c == '[')
            buf_printf(sql, "[%c]", c);
        else if (c == '\'')
            buf_append_c(sql, "''");
        else
            buf_append_char(sql, c);
    }
    buf_append_char(sql, '\'');
}

Str duck_quote_path(Arena *arena, Str path)
{
    Buf sql = buf_new(arena, 0);

    duck_append_path_literal(&sql, path);
    return buf_str(&sql);
}

static Str nested_type_name(Arena *arena, const NestedType *type)
{
    Buf buf = buf_new(arena, 0);

    switch (type->kind) {
    case NESTED_VOID: return STR("VARCHAR");
    case NESTED_ARRAY:
        buf_append(&buf, duck_type_name(arena, type->fields[0].type));
        buf_append_c(&buf, "[]");
        return buf_str(&buf);
    case NESTED_MAP:
    case NESTED_STRUCT: break;
    }
    buf_append_c(&buf, type->kind == NESTED_MAP ? "MAP(" : "STRUCT(");
    for (size_t i = 0; i < type->field_count; i++) {
        if (i > 0) buf_append_c(&buf, ", ");
        if (type->kind == NESTED_STRUCT) {
            duck_append_identifier(&buf, type->fields[i].name);
            buf_append_char(&buf, ' ');
        }
        buf_append(&buf, duck_type_name(arena, type->fields[i].type));
    }
    buf_append_char(&buf, ')');
    return buf_str(&buf);
}

Str duck_type_name(Arena *arena, ColumnType type)
{
    switch (type.kind) {
    case TYPE_BOOLEAN: return STR("BOOLEAN");
    case TYPE_SHORT: return STR("SMALLINT");
    case TYPE_INTEGER: return STR("INTEGER");
    case TYPE_LONG: return STR("BIGINT");
    case TYPE_FLOAT: return STR("FLOAT");
    case TYPE_DOUBLE: return STR("DOUBLE");
    case TYPE_DECIMAL: return str_printf(arena, "DECIMAL(%d,%d)", type.precision, type.scale);
    case TYPE_DATE: return STR("DATE");
    case TYPE_TIMESTAMP: return STR("TIMESTAMP WITH TIME ZONE");
    case TYPE_TIMESTAMP_NTZ: return STR("TIMESTAMP");
    case TYPE_STRING: return STR("VARCHAR");
    case TYPE_NESTED: return type.nested ? nested_type_name(arena, type.nested) : STR("VARCHAR");
    case TYPE_BINARY: break;
    }
    return STR("BLOB");
}

/* --- nested columns whose fields have other names in files --- */

static Str renamed(Arena *arena, ColumnType type, Str source, int depth);

static Str renamed_struct(Arena *arena, const NestedType *type, Str source, int depth)
{
    Buf sql = buf_new(arena, 0);

    buf_printf(&sql, "CASE WHEN %.*s IS NOT NULL THEN struct_pack(", STR_ARG(source));
    for (size_t i = 0; i < type->field_count; i++) {
        const NestedField *field = &type->fields[i];
        Buf                part  = buf_new(arena, 0);
        buf_printf(&part, "struct_extract(%.*s, ", STR_ARG(source));
        duck_append_literal(&part, field->physical_name.len ? field->physical_name : field->name);
        buf_append_char(&part, ')');
        if (i > 0) buf_append_c(&sql, ", ");
        duck_append_identifier(&sql, field->name);
        buf_append_c(&sql, " := ");
        buf_append(&sql, renamed(arena, field->type, buf_str(&part), depth));
    }
    buf_append_c(&sql, ") END");
    return buf_str(&sql);
}

static Str renamed(Arena *arena, ColumnType type, Str source, int depth)
{
    const NestedType *nested = type.nested;

    if (!column_type_has_physical_names(type)) return source;
    if (nested->kind == NESTED_STRUCT) return renamed_struct(arena, nested, source, depth);

    Str item = str_printf(arena, "x%d", depth);
    if (nested->kind == NESTED_ARRAY)
        return str_printf(arena, "list_transform(%.*s, lambda %.*s: %.*s)", STR_ARG(source),
                          STR_ARG(item),
                          STR_ARG(renamed(arena, nested->fields[0].type, item, depth + 1)));
    Str key   = str_printf(arena, "%.*s.key", STR_ARG(item));
    Str value = str_printf(arena, "%.*s.value", STR_ARG(item));
    return str_printf(arena,
                      "map_from_entries(list_transform(map_entries(%.*s), lambda %.*s: "
                      "struct_pack(key := %.*s, value := %.*s)))",
                      STR_ARG(source), STR_ARG(item),
                      STR_ARG(renamed(arena, nested->fields[0].type, key, depth + 1)),
                      STR_ARG(renamed(arena, nested->fields[1].type, value, depth + 1)));
}

Str duck_rename_fields_sql(Arena *arena, ColumnType type, Str source)
{
    return renamed(arena, type, source, 0);
}

/* The rows of no file. */
static void append_empty_relation(Buf *sql, Arena *arena, const Schema *schema)
{
    buf_append_c(sql, "(SELECT ");
    for (size_t i = 0; i < schema->column_count; i++) {
        const Column *column = &schema->columns[i];
        buf_printf(sql, "%sCAST(NULL AS %.*s) AS ", i > 0 ? ", " : "",
                   STR_ARG(duck_type_name(arena, column->type)));
        duck_append_identifier(sql, duck_scan_column(arena, column->name));
    }
    buf_append_c(sql, " WHERE false)");
}

Str duck_scan_column(Arena *arena, Str name)
{
    static const char *const virtual_columns[] = {"filename", "file_row_number", "file_index"};

    for (size_t i = 0; i < COUNT_OF(virtual_columns); i++)
        if (str_equal_ignoring_case(name, str_from_c(virtual_columns[i])))
            return str_printf(arena, "__$%.*s", STR_ARG(name));
    return name;
}

static void append_path_list(Buf *sql, const Str *local_paths, size_t path_count)
{
    buf_append_char(sql, '[');
    for (size_t i = 0; i < path_count; i++) {
        if (i > 0) buf_append_c(sql, ", ");
        duck_append_path_literal(sql, local_paths[i]);
    }
    buf_append_char(sql, ']');
}

Str duck_read_parquet_sql(Arena *arena, const Str *local_paths, size_t path_count,
                          const Schema *schema)
{
    return duck_read_mapped_parquet_sql(arena, local_paths, path_count, schema, NULL);
}

Str duck_read_mapped_parquet_sql(Arena *arena, const Str *local_paths, size_t path_count,
                                 const Schema *schema, const DuckKeys *keys)
{
    Buf sql = buf_new(arena, 0);

    assert(schema->column_count > 0);
    if (path_count == 0) {
        append_empty_relation(&sql, arena, schema);
        return buf_str(&sql);
    }
    buf_append_c(&sql, "read_parquet(");
    append_path_list(&sql, local_paths, path_count);
    buf_append_c(&sql, ", hive_partitioning=false, schema=MAP{");
    for (size_t i = 0; i < schema->column_count; i++) {
        const Column *column = &schema->columns[i];
        if (i > 0) buf_append_c(&sql, ", ");
        if (keys && keys->field_ids)
            buf_printf(&sql, "%d", keys->field_ids[i]);
        else
            duck_append_literal(&sql, keys ? keys->names[i] : column->name);
        buf_append_c(&sql, ": {name: ");
        duck_append_literal(&sql, duck_scan_column(arena, column->name));
        buf_append_c(&sql, ", type: ");
        duck_append_literal(&sql, duck_type_name(arena, column->type));
        buf_append_c(&sql, ", default_value: NULL}");
    }
    buf_append_c(&sql, "})");
    return buf_str(&sql);
}

Str duck_find_file_sql(Arena *arena, const Str *local_paths, size_t path_count, Str condition)
{
    Buf sql = buf_new(arena, 0);

    buf_append_c(&sql, "SELECT coalesce(min(list_position([");
    for (size_t i = 0; i < path_count; i++) {
        if (i > 0) buf_append_c(&sql, ", ");
        duck_append_literal(&sql, local_paths[i]);
    }
    buf_append_c(&sql, "], file_name)), 0)::BIGINT FROM (SELECT file_name FROM parquet_schema(");
    append_path_list(&sql, local_paths, path_count);
    buf_append_c(&sql, ") ");
    buf_append(&sql, condition);
    buf_append_char(&sql, ')');
    return buf_str(&sql);
}

Str duck_find_file_without_ids_sql(Arena *arena, const Str *local_paths, size_t path_count)
{
    return duck_find_file_sql(arena, local_paths, path_count,
                              STR("GROUP BY file_name HAVING count(field_id) = 0"));
}

static void append_codec(Buf *sql, DuckCompression compression)
{
    switch (compression) {
    case DUCK_ZSTD: buf_append_c(sql, "COMPRESSION zstd, COMPRESSION_LEVEL 1"); return;
    case DUCK_SNAPPY: buf_append_c(sql, "COMPRESSION snappy"); return;
    case DUCK_UNCOMPRESSED: buf_append_c(sql, "COMPRESSION uncompressed"); return;
    }
}

static void append_field_ids(Buf *sql, const Schema *schema, const int32_t *field_ids)
{
    buf_append_c(sql, ", FIELD_IDS {");
    for (size_t i = 0; i < schema->column_count; i++) {
        if (i > 0) buf_append_c(sql, ", ");
        duck_append_identifier(sql, schema->columns[i].name);
        buf_printf(sql, ": %d", field_ids[i]);
    }
    buf_append_char(sql, '}');
}

/* A column with more values than this in a row group is written plain: libduckdb would hash each of
 * them up to a fifth of the group, for a dictionary that compresses no better. */
#define DICTIONARY_VALUES "4096"
/* Room for so many is made ready and looked through for each column, so few rows get less. */
#define DICTIONARY_VALUES_OF_FEW "128" /* above FEW_ROWS */

/* delta.md 2.3 and 3.3: v1 pages, no Bloom filters, and the key that keeps Spark 3 from shifting
 * old dates. The file is written in place, under the name we chose; a memfd could not be renamed.
 */
void duck_append_copy_options(Buf *sql, const Schema *schema, const DuckWriteOptions *options)
{
    buf_append_c(sql, "(FORMAT parquet, PARQUET_VERSION v1, ");
    append_codec(sql, options->compression);
    buf_append_c(sql, ", ROW_GROUP_SIZE 122880, DICTIONARY_SIZE_LIMIT ");
    buf_append_c(sql, options->has_few_rows ? DICTIONARY_VALUES_OF_FEW : DICTIONARY_VALUES);
    if (options->row_group_bytes > 0)
        buf_printf(sql, ", ROW_GROUP_SIZE_BYTES %lld", (long long)options->row_group_bytes);
    buf_append_c(
        sql,
        ", WRITE_BLOOM_FILTER false, WRITE_EMPTY_FILE false, USE_TMP_FILE false, RETURN_STATS, "
        "KV_METADATA {'org.apache.spark.version': '3.5.0', 'tidelake.version': ");
    duck_append_literal(sql, options->tidelake_version);
    buf_append_char(sql, '}');
    if (options->field_ids) append_field_ids(sql, schema, options->field_ids);
    buf_append_char(sql, ')');
}
