/* Rows of live files as SQL (delta.md 1.13, 5.6). */
#include "delta/deletion_vector.h"
#include "types/nested_type.h"

typedef struct ScanPlan {
    const DeltaFile **files;
    Str              *locals;
    const RowSet    **deleted; /* per file; NULL: none has any */
    size_t            count;
} ScanPlan;

static bool fetch_one(const DeltaTable *table, const DeltaFile *file, Arena *arena, Str *local_out,
                      Err *err)
{
    Str path;

    if (!delta_path_resolve(table->place.path, file->path, arena, &path, err)) return false;
    if (store_fetch_local(table->context->store, path, arena, local_out, err)) return true;
    if (err->code != ERR_NOT_FOUND)
        return err_context(err, "table %.*s", STR_ARG(table->place.path));
    return err_set(err, ERR_DAMAGED,
                   "DELTA-L08 table %.*s: version %lld is no longer complete: %.*s was removed by "
                   "VACUUM; look at "
                   "a newer version",
                   STR_ARG(table->place.path), (long long)table->state->version, STR_ARG(path));
}

static ScanPlan plan_of(size_t count, Arena *arena)
{
    return (ScanPlan){.files  = ARENA_ARRAY(arena, const DeltaFile *, count + 1),
                      .locals = ARENA_ARRAY(arena, Str, count + 1)};
}

static bool fetch_files(const DeltaTable *table, const DeltaFile *const *files, size_t file_count,
                        Arena *arena, ScanPlan *out, Err *err)
{
    size_t           count = files ? file_count : delta_table_get_file_count(table);
    const DeltaFile *file;

    *out = plan_of(count, arena);
    if (files)
        for (size_t i = 0; i < count; i++)
            out->files[i] = files[i];
    else
        for (size_t at = 0, i = 0; delta_table_next_file(table, &at, &file); i++)
            out->files[i] = file;
    for (; out->count < count; out->count++)
        if (!fetch_one(table, out->files[out->count], arena, &out->locals[out->count], err))
            return false;
    return true;
}

/* --- deleted rows --- */

static bool read_vectors(const DeltaTable *table, ScanPlan *plan, Arena *arena, Err *err)
{
    Arena       *scratch = arena_new();
    VectorReader reader  = vector_reader_open(&table->place, scratch);
    RowSet      *sets    = ARENA_ARRAY(arena, RowSet, plan->count);
    bool         ok      = true;

    plan->deleted = ARENA_ARRAY(arena, const RowSet *, plan->count);
    for (size_t i = 0; ok && i < plan->count; i++) {
        ok               = vector_reader_read(&reader, plan->files[i], arena, &sets[i], err);
        plan->deleted[i] = &sets[i];
    }
    vector_reader_close(&reader);
    arena_close(scratch);
    return ok;
}

/* Files with deletion vectors apart from those without, which shall not pay for them. */
static bool split_vectors(const DeltaTable *table, const ScanPlan *all, Arena *arena,
                          ScanPlan *whole_out, ScanPlan *partly_out, Err *err)
{
    *whole_out  = plan_of(all->count, arena);
    *partly_out = plan_of(all->count, arena);
    for (size_t i = 0; i < all->count; i++) {
        ScanPlan *to            = delta_file_has_vector(all->files[i]) ? partly_out : whole_out;
        to->files[to->count]    = all->files[i];
        to->locals[to->count++] = all->locals[i];
    }
    return partly_out->count == 0 || read_vectors(table, partly_out, arena, err);
}

/* --- partition columns: values of the add action, not of the file --- */

/* Index among the table's partition columns, -1 if it is none. */
static ptrdiff_t partition_index(const Header *header, Str column)
{
    const StrList *columns = &header->metadata.partition_columns;
    for (size_t i = 0; i < columns->count; i++)
        if (str_equal_ignoring_case(columns->items[i], column)) return (ptrdiff_t)i;
    return -1;
}

/* The log has the names that columns have in files. */
static Str stored_name(const Header *header, Str column)
{
    const Metadata *metadata = &header->metadata;
    ptrdiff_t       index    = schema_find(&metadata->schema, column);
    return index < 0 ? column : metadata->mapping.stored.columns[index].name;
}

/* The value's text as a SQL literal; an empty one is NULL, as in every Delta table. */
static Str partition_literal(const Header *header, const DeltaFile *file, Str column, Arena *arena)
{
    JsonText extra  = {.kind = JSON_TEXT_OBJECT,
                       .text = str_printf(arena, "{%.*s}", STR_ARG(file->extra_members))};
    JsonText values = json_text_find(extra, "partitionValues");
    Str      text   = json_text_str(json_text_find_str(values, stored_name(header, column)), arena);

    return text.len == 0 ? STR("NULL") : duck_quote_literal(arena, text);
}

static bool check_partition_types(const DeltaTable *table, Err *err)
{
    const Header *header = table_header(table);
    for (size_t i = 0; i < header->metadata.partition_columns.count; i++) {
        Str       name  = header->metadata.partition_columns.items[i];
        ptrdiff_t index = schema_find(&header->metadata.schema, name);
        if (index >= 0 && header->metadata.schema.columns[index].type.kind != TYPE_BINARY) continue;
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-S01 table %.*s is partitioned by column %.*s, whose type tidelake "
                       "does not read there",
                       STR_ARG(table->place.path), STR_ARG(name));
    }
    return true;
}

/* --- the text --- */

/* The columns to read from the files: those asked for that the table has, with the table's types. */
static Schema stored_columns(const Header *header, const Schema *wanted, Arena *arena)
{
    const Schema *all     = &header->metadata.schema;
    Column       *columns = ARENA_ARRAY(arena, Column, wanted->column_count + 1);
    size_t        count   = 0;

    for (size_t i = 0; i < wanted->column_count; i++) {
        ptrdiff_t index = schema_find(all, wanted->columns[i].name);
        if (index >= 0 && partition_index(header, all->columns[index].name) < 0)
            columns[count++] = all->columns[index];
    }
    for (size_t i = 0; count == 0 && i < all->column_count;
         i++) /* rows are counted by some column */
        if (partition_index(header, all->columns[i].name) < 0) columns[count++] = all->columns[i];
    if (count == 0) columns[count++] = all->columns[0];
    for (size_t i = 0; header->metadata.mapping.mode != MAPPING_NONE && i < count; i++)
        columns[i].type = column_type_physical(arena, columns[i].type);
    return (Schema){.columns = columns, .column_count = count};
}

/* A text that every row of a file has. */
typedef Str (*FileText)(const Header *header, const DeltaFile *file, Str column, Arena *arena);

static Str path_literal(const Header *header, const DeltaFile *file, Str column, Arena *arena)
{
    (void)header;
    (void)column;
    return duck_quote_literal(arena, file->path);
}

static Str by_file_sql(const Header *header, const ScanPlan *plan, FileText text, Str column,
                       Arena *arena)
{
    Buf buf = buf_new(arena, 0);

    if (plan->count == 0) return STR("CAST(NULL AS VARCHAR)");
    if (plan->count == 1) return text(header, plan->files[0], column, arena);
    buf_append_c(&buf, "list_extract(CAST([");
    for (size_t i = 0; i < plan->count; i++) {
        if (i > 0) buf_append_c(&buf, ", ");
        buf_append(&buf, text(header, plan->files[i], column, arena));
    }
    buf_append_c(&buf, "] AS VARCHAR[]), CAST(f.file_index AS BIGINT) + 1)");
    return buf_str(&buf);
}

/* How the files call them. */
static DuckKeys keys_of(const Header *header, const Schema *columns, Arena *arena)
{
    const Metadata *metadata = &header->metadata;
    Str            *names    = ARENA_ARRAY(arena, Str, columns->column_count + 1);
    int32_t        *ids      = ARENA_ARRAY(arena, int32_t, columns->column_count + 1);
    bool            by_id    = metadata->mapping.mode == MAPPING_ID;

    for (size_t i = 0; i < columns->column_count; i++) {
        ptrdiff_t index = schema_find(&metadata->schema, columns->columns[i].name);
        names[i]        = columns->columns[i].name;
        if (index < 0) continue; /* the table has no columns at all */
        names[i] = metadata->mapping.stored.columns[index].name;
        if (by_id) ids[i] = metadata->mapping.ids[index];
    }
    return (DuckKeys){.names = names, .field_ids = by_id ? ids : NULL};
}

static bool find_file(const DeltaTable *table, Str query, int64_t *found_out, Err *err)
{
    DuckSession *session = NULL;
    bool         ok      = duck_session_open(table->context->duck, &session, err) &&
              duck_query_i64(session, query, found_out, NULL, err);

    duck_session_close(session);
    return ok || err_context(err, "table %.*s", STR_ARG(table->place.path));
}

static bool refuse_file(const DeltaTable *table, const DeltaFile *file, Str column, Err *err)
{
    Str place = table->place.path;

    if (column.len == 0)
        return err_set(err, ERR_UNSUPPORTED,
                       "DELTA-S03 table %.*s v%lld: its columns are found by field id, and file "
                       "%.*s has no field ids; nothing was read",
                       STR_ARG(place), (long long)table->state->version, STR_ARG(file->path));
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-S03 table %.*s v%lld: its columns are found by field id, and file %.*s "
                   "has a field within column %.*s under another name; nothing was read",
                   STR_ARG(place), (long long)table->state->version, STR_ARG(file->path),
                   STR_ARG(column));
}

/* Where columns are found by id, a file without ids would be all NULL; and fields within columns
 * are found by name all the same. */
static bool check_field_ids(const DeltaTable *table, const ScanPlan *plan, const Schema *wanted,
                            Err *err)
{
    const Header *header = table_header(table);
    int64_t       found  = 0;
    Str           column = STR_EMPTY;

    if (header->metadata.mapping.mode != MAPPING_ID || plan->count == 0) return true;
    Arena *arena = arena_new();
    bool   ok = find_file(table, duck_find_file_without_ids_sql(arena, plan->locals, plan->count),
                          &found, err);
    for (size_t i = 0; ok && found == 0 && i < wanted->column_count; i++) {
        ptrdiff_t index = schema_find(&header->metadata.schema, wanted->columns[i].name);
        if (index < 0) continue;
        Str query = duck_find_file_with_other_names_sql(
            arena, plan->locals, plan->count, header->metadata.schema.columns[index].type);
        column = wanted->columns[i].name;
        ok     = query.len == 0 || find_file(table, query, &found, err);
    }
    arena_close(arena);
    if (!ok || found == 0) return ok;
    return refuse_file(table, plan->files[found - 1], column, err);
}

/* What a column of the table is in the FROM clause. */
static Str source_sql(const Header *header, const ScanPlan *plan, const Column *column,
                      Arena *arena)
{
    ptrdiff_t partition = partition_index(header, column->name);
    Str       type      = duck_type_name(arena, column->type);

    if (partition < 0) {
        Str name   = duck_quote_identifier(arena, duck_scan_column(arena, column->name));
        Str stored = str_printf(arena, "f.%.*s", STR_ARG(name));
        return header->metadata.mapping.mode == MAPPING_NONE
                   ? stored
                   : duck_rename_fields_sql(arena, column->type, stored);
    }
    return str_printf(arena, "CAST(%.*s AS %.*s)",
                      STR_ARG(by_file_sql(header, plan, partition_literal, column->name, arena)),
                      STR_ARG(type));
}

static void append_column(Buf *sql, const Header *header, const ScanPlan *plan,
                          const Column *wanted, Arena *arena)
{
    const Schema *all   = &header->metadata.schema;
    ptrdiff_t     index = schema_find(all, wanted->name);
    Str           name  = duck_quote_identifier(arena, wanted->name);
    Str           type  = duck_type_name(arena, wanted->type);

    if (index < 0) {
        buf_printf(sql, "CAST(NULL AS %.*s) AS %.*s", STR_ARG(type), STR_ARG(name));
        return;
    }
    const Column *column = &all->columns[index];
    Str           source = source_sql(header, plan, column, arena);
    if (column_type_equal(column->type, wanted->type))
        buf_printf(sql, "%.*s AS %.*s", STR_ARG(source), STR_ARG(name));
    else
        buf_printf(sql, "CAST(%.*s AS %.*s) AS %.*s", STR_ARG(source), STR_ARG(type),
                   STR_ARG(name));
}

static void append_position(Buf *sql, const Header *header, const ScanPlan *plan, Arena *arena)
{
    buf_append_c(sql, ", ");
    buf_append(sql, by_file_sql(header, plan, path_literal, STR_EMPTY, arena));
    buf_append_c(sql, " AS \"__$file\", ");
    buf_append_c(sql, plan->count > 0 ? "f.file_row_number" : "CAST(NULL AS BIGINT)");
    buf_append_c(sql, " AS \"__$row\"");
}

static void append_select(Buf *sql, const DeltaTable *table, const ScanPlan *plan,
                          const Schema *wanted, bool with_position, Arena *arena)
{
    const Header *header = table_header(table);
    Schema        stored = stored_columns(header, wanted, arena);
    DuckKeys      keys   = keys_of(header, &stored, arena);

    buf_append_c(sql, "SELECT ");
    for (size_t i = 0; i < wanted->column_count; i++) {
        if (i > 0) buf_append_c(sql, ", ");
        append_column(sql, header, plan, &wanted->columns[i], arena);
    }
    if (with_position) append_position(sql, header, plan, arena);
    buf_append_c(sql, " FROM ");
    buf_append(sql, duck_read_mapped_parquet_sql(arena, plan->locals, plan->count, &stored, &keys));
    buf_append_c(sql, " f");
    if (!plan->deleted) return;
    buf_append_c(sql, " WHERE ");
    buf_append(sql, duck_row_filter_sql(table->context->duck, plan->deleted, plan->count, arena));
}

bool delta_scan_sql(DeltaTable *table, const DeltaFile *const *files, size_t file_count,
                    const Schema *columns, bool with_position, Arena *arena, Str *sql_out, Err *err)
{
    const Header *header = table_header(table);
    const Schema *wanted = columns ? columns : &header->metadata.schema;
    Buf           sql    = buf_new(arena, 0);
    ScanPlan      all, whole, partly;

    if (!check_partition_types(table, err)) return false;
    if (!fetch_files(table, files, file_count, arena, &all, err) ||
        !check_field_ids(table, &all, wanted, err) ||
        !split_vectors(table, &all, arena, &whole, &partly, err))
        return false;
    buf_append_char(&sql, '(');
    if (whole.count > 0 || partly.count == 0)
        append_select(&sql, table, &whole, wanted, with_position, arena);
    if (whole.count > 0 && partly.count > 0) buf_append_c(&sql, " UNION ALL ");
    if (partly.count > 0) append_select(&sql, table, &partly, wanted, with_position, arena);
    buf_append_char(&sql, ')');
    if (sql.overflow)
        return err_set(err, ERR_LIMIT, "table %.*s: its files are more than one query may name",
                       STR_ARG(table->place.path));
    *sql_out = buf_str(&sql);
    return true;
}
