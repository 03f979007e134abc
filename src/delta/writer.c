/* Data files on their way into a table (delta.md 2.1, 2.3): Parquet under names of our own in
 * the staging folder, moved into the table together, and garbage until a commit names them. */
#include "delta/writer_internal.h"

#include "delta/conform.h"
#include "delta/deletion_vector.h"
#include "delta/large_rows.h"

#include <assert.h>

/* Rows are held in memory until their group is full, by every connection that writes at once
 * (5.12). */
#define ROW_GROUP_BYTES  (INT64_C(8) << 20)
#define WHOLE_FILE_BYTES (INT64_C(1) << 40) /* a row group that ends with its file */
#define PREFIX_CHARS_MAX 32
/* A file of fewer bytes of values is written as it is: its pages do not get smaller, and each costs the codec a start. */
#define COMPRESSED_BYTES_MIN 4096

static void choose_codec(DeltaWriter *writer, const Header *header)
{
    Str name;

    writer->options.compression = writer->context->compression;
    if (header_find_property(header, STR("delta.parquet.compression.codec"), &name)) {
        writer->has_fixed_codec = true;
        if (str_equal_ignoring_case(name, STR("zstd"))) writer->options.compression = DUCK_ZSTD;
        if (str_equal_ignoring_case(name, STR("snappy"))) writer->options.compression = DUCK_SNAPPY;
        if (str_equal_ignoring_case(name, STR("none")) ||
            str_equal_ignoring_case(name, STR("uncompressed")))
            writer->options.compression = DUCK_UNCOMPRESSED;
    }
}

/* In a file's name; NULL: none. */
static const char *codec_name(DuckCompression compression)
{
    switch (compression) {
    case DUCK_ZSTD: return "zstd";
    case DUCK_SNAPPY: return "snappy";
    case DUCK_UNCOMPRESSED: break;
    }
    return NULL;
}

static void note_defaults(DeltaWriter *writer, const Header *header)
{
    writer->needs_value = ARENA_ARRAY(writer->arena, bool, writer->schema.column_count + 1);
    for (size_t i = 0; i < header->metadata.schema.column_count && i < writer->schema.column_count;
         i++)
        writer->needs_value[i] =
            json_text_find(header->metadata.fields[i].metadata, "CURRENT_DEFAULT").kind !=
            JSON_TEXT_NONE;
}

/* The columns of `schema`, a copy, in the types that a commit of `wanted` gives them: those that
 * the table's types do not hold will be wider. Whether they may is the commit's to say. */
static Schema widest_types(const Schema *schema, const Schema *wanted, Arena *arena)
{
    Schema  copy    = schema_copy(arena, schema);
    Column *columns = ARENA_ARRAY(arena, Column, copy.column_count + 1);

    for (size_t i = 0; i < copy.column_count; i++) {
        ptrdiff_t index = wanted ? schema_find(wanted, copy.columns[i].name) : -1;
        columns[i]      = copy.columns[i];
        if (index >= 0 && !column_type_fits(wanted->columns[index].type, false, columns[i].type))
            columns[i].type = wanted->columns[index].type;
    }
    return (Schema){.columns = columns, .column_count = copy.column_count};
}

static size_t prefix_chars(const Header *header)
{
    if (!header_property_is_true(header, "delta.randomizeFilePrefixes")) return 0;
    int64_t chars = header_property_i64(header, "delta.randomPrefixLength", 2);
    return chars >= 1 && chars <= PREFIX_CHARS_MAX ? (size_t)chars : 2;
}

DeltaWriter *writer_new(DeltaTable *table, const Schema *schema)
{
    const Header *header         = table_header(table);
    Arena        *arena          = arena_new();
    DeltaWriter  *writer         = ARENA_NEW(arena, DeltaWriter);
    bool          has_clustering = map_find(table->state->domains, STR("delta.clustering")) != NULL;

    writer->context    = table->context;
    writer->arena      = arena;
    writer->table_path = str_copy(arena, table->place.path);
    if (schema)
        writer->schema = schema_merge(arena, &header->metadata.schema, schema);
    else
        writer->schema = schema_copy(arena, &header->metadata.schema);
    writer->schema         = widest_types(&writer->schema, schema, arena);
    writer->mapping        = mapping_extend(arena, table->context->rng, &header->metadata.mapping,
                                            &writer->schema, NULL);
    writer->mapping        = *mapping_copy(arena, &writer->mapping); /* the table may move on */
    writer->stats          = stats_plan_new(header, &writer->schema, has_clustering, arena);
    writer->options        = (DuckWriteOptions){.row_group_bytes  = ROW_GROUP_BYTES,
                                                .tidelake_version = table->context->engine_info,
                                                .field_ids        = writer->mapping.ids};
    writer->prefix_chars   = prefix_chars(header);
    writer->has_all_bounds = has_clustering;
    writer->takes_vectors  = delta_table_takes_vectors(table);
    writer->vectors_name = writer->published_vectors = STR_EMPTY;
    choose_codec(writer, header);
    note_defaults(writer, header);
    return writer;
}

/* The staging that the table keeps, when it is of this purpose and as good as a new one. */
static bool open_staging(DeltaTable *table, DeltaWriter *writer, Err *err)
{
    KeptStaging *kept = &table->kept;

    if (kept->staging && str_equal(kept->purpose, writer->purpose) &&
        store_staging_is_fresh(kept->staging)) {
        writer->staging = kept->staging;
        kept->staging   = NULL;
        return true;
    }
    table_drop_staging(table);
    return store_staging_open(writer->context->store, writer->table_path, writer->purpose,
                              writer->context->rng, &writer->staging, err);
}

bool delta_writer_open(DeltaTable *table, Str purpose, const Schema *schema, DeltaWriter **out,
                       Err *err)
{
    DeltaWriter *writer = writer_new(table, schema);

    writer->purpose = str_copy(writer->arena, purpose);
    if (!delta_table_check_writable(table, DELTA_APPENDS, err) ||
        !open_staging(table, writer, err)) {
        delta_writer_close(writer);
        return false;
    }
    *out = writer;
    return true;
}

void delta_writer_index_column(DeltaWriter *writer, Str column)
{
    ptrdiff_t index = schema_find(&writer->schema, column);
    if (index >= 0) writer->stats.is_indexed[index] = true;
}

void delta_writer_close(DeltaWriter *writer)
{
    if (!writer) return;
    store_staging_close(writer->staging);
    arena_close(writer->arena);
}

void delta_writer_finish(DeltaWriter *writer, DeltaTable *table)
{
    KeptStaging *kept;

    if (!writer) return; /* and there may be no table */
    kept = &table->kept;
    if (!kept->staging && store_staging_is_fresh(writer->staging)) {
        if (!str_equal(kept->purpose, writer->purpose)) {
            table_drop_staging(table);
            kept->arena   = arena_new();
            kept->purpose = str_copy(kept->arena, writer->purpose);
        }
        kept->staging   = writer->staging;
        writer->staging = NULL;
    }
    delta_writer_close(writer);
}

/* --- one file --- */

static Str new_file_name(DeltaWriter *writer, DuckCompression compression, Arena *arena)
{
    unsigned    sequence = atomic_fetch_add(&writer->file_count, 1U);
    Str         uuid     = rng_uuid4(writer->context->rng, arena);
    const char *codec    = codec_name(compression);

    return str_printf(arena, "part-%05u-%.*s.c000.%s%sparquet", sequence, STR_ARG(uuid),
                      codec ? codec : "", codec ? "." : "");
}

static DuckWriteOptions options_for(const DeltaWriter *writer, const RowStream *rows)
{
    DuckWriteOptions options  = writer->options;
    bool             is_small = rows->row_limit > 0 && rows->byte_limit < COMPRESSED_BYTES_MIN;

    if (is_small && !writer->has_fixed_codec) options.compression = DUCK_UNCOMPRESSED;
    return options;
}

static Str new_prefix(DeltaWriter *writer, Arena *arena)
{
    const Str letters = STR("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    Buf       buf     = buf_new(arena, 0);

    for (size_t i = 0; i < writer->prefix_chars; i++)
        buf_append_char(&buf, letters.ptr[rng_below(writer->context->rng, letters.len)]);
    if (writer->prefix_chars > 0) buf_append_char(&buf, '/');
    return buf_str(&buf);
}

static void fill_add(DeltaWriter *writer, Str name, const DuckFile *file, Arena *arena,
                     DeltaAdd *out)
{
    Str     path = str_printf(arena, "%.*s%.*s", STR_ARG(new_prefix(writer, arena)), STR_ARG(name));
    Schema *schema = ARENA_NEW(arena, Schema);

    *schema = schema_copy(arena, &writer->schema);
    *out    = (DeltaAdd){
           .path           = delta_path_encode(arena, path),
           .size_bytes     = file->size_bytes,
           .modified_ms    = clock_utc_us(writer->context->clock) / 1000,
           .row_count      = file->row_count,
           .stats          = stats_format(&writer->mapping.stored, &writer->stats, file, arena),
           .schema         = schema,
           .mapping        = mapping_copy(arena, &writer->mapping),
           .has_all_bounds = writer->has_all_bounds,
    };
}

DeltaAdd delta_add_copy(Arena *arena, const DeltaAdd *add)
{
    DeltaAdd copy = *add;

    copy.path  = str_copy(arena, add->path);
    copy.stats = str_copy(arena, add->stats);
    if (add->mapping) copy.mapping = mapping_copy(arena, add->mapping);
    if (add->schema) {
        Schema *schema = ARENA_NEW(arena, Schema);
        *schema        = schema_copy(arena, add->schema);
        copy.schema    = schema;
    }
    return copy;
}

static bool fail_default(const DeltaWriter *writer, size_t column, Err *err)
{
    return err_set(err, ERR_UNSUPPORTED,
                   "DELTA-W06 table %.*s: column %.*s has a default value and the rows do not "
                   "bring it; nothing was written",
                   STR_ARG(writer->table_path), STR_ARG(writer->schema.columns[column].name));
}

/* The rows in the table's shape; what is opened is to be closed after a failure, too. */
static bool open_conform(DeltaWriter *writer, RowStream *rows, Arena *arena, RowStream **out,
                         Err *err)
{
    *out = NULL;
    if (!conform_open(rows, &writer->schema, &writer->mapping.stored, arena, out, err))
        return false;
    for (size_t i = 0; i < writer->schema.column_count; i++)
        if (writer->needs_value[i] && !conform_supplies(*out, i))
            return fail_default(writer, i, err);
    return true;
}

/* `rows` in the table's shape into one file; `local_out` (may be NULL): where it is. */
static bool write_file(DeltaWriter *writer, RowStream *rows, const DuckWriteOptions *options,
                       Arena *arena, DeltaAdd *add_out, Str *local_out, Err *err)
{
    Arena   *scratch = arena_new();
    Str      name    = new_file_name(writer, options->compression, scratch);
    Str      local;
    DuckFile file;

    bool ok = store_staging_file(writer->staging, name, scratch, &local, err) &&
              duck_parquet_write(writer->context->duck, rows, local, options, scratch, &file, err);
    if (ok && file.row_count > 0) fill_add(writer, name, &file, arena, add_out);
    if (ok && local_out) *local_out = str_copy(arena, local);
    arena_close(scratch);
    return ok;
}

bool delta_writer_write(DeltaWriter *writer, RowStream *rows, Arena *arena, DeltaAdd *add_out,
                        Err *err)
{
    Arena           *scratch = arena_new();
    RowStream       *conform = NULL;
    DuckWriteOptions options = options_for(writer, rows);

    *add_out = (DeltaAdd){.path = STR_EMPTY, .stats = STR_EMPTY};
    bool ok  = open_conform(writer, rows, scratch, &conform, err) &&
              write_file(writer, conform, &options, arena, add_out, NULL, err);
    conform_close(conform);
    arena_close(scratch);
    return ok || err_context(err, "table %.*s", STR_ARG(writer->table_path));
}

/* --- several files --- */

typedef struct WrittenFiles {
    LIST(Str) locals; /* to remove when a later one fails */
} WrittenFiles;

static bool write_next_file(DeltaWriter *writer, LargeRows *large, Arena *arena, Arena *scratch,
                            WrittenFiles *files, DeltaAdds *out, bool *has_rows, Err *err)
{
    DuckWriteOptions options = writer->options;
    DeltaAdd         add     = {.path = STR_EMPTY, .stats = STR_EMPTY};
    bool             is_large;
    Str              local = STR_EMPTY;

    if (!large_rows_find_file(large, has_rows, &is_large, err)) return false;
    if (!*has_rows) return true;
    if (is_large) options.row_group_bytes = WHOLE_FILE_BYTES;
    if (!write_file(writer, large_rows_of_file(large), &options, scratch, &add, &local, err))
        return false;
    *LIST_PUSH(scratch, &files->locals) = local;
    *LIST_PUSH(arena, out)              = delta_add_copy(arena, &add);
    return true;
}

bool delta_writer_write_files(DeltaWriter *writer, RowStream *rows, Arena *arena, DeltaAdds *out,
                              Err *err)
{
    Arena       *scratch  = arena_new();
    RowStream   *conform  = NULL;
    WrittenFiles files    = {0};
    bool         has_rows = true;

    *out    = (DeltaAdds){0};
    bool ok = open_conform(writer, rows, scratch, &conform, err);
    if (ok) {
        LargeRows *large = large_rows_new(conform, writer->context->large_row_bytes, scratch);
        while (ok && has_rows)
            ok = write_next_file(writer, large, arena, scratch, &files, out, &has_rows, err);
    }
    for (size_t i = 0; !ok && i < files.locals.count; i++)
        duck_discard_file(files.locals.items[i]);
    if (!ok) *out = (DeltaAdds){0};
    conform_close(conform);
    arena_close(scratch);
    return ok || err_context(err, "table %.*s", STR_ARG(writer->table_path));
}

/* --- from a query --- */

/* The query's columns in the order of the schema, NULL where it has none. */
static bool conform_query(DeltaWriter *writer, DuckSession *session, Str select_sql, Arena *arena,
                          Str *out, Err *err)
{
    RowStream *probe = NULL;
    Buf        buf   = buf_new(arena, 0);

    Str probe_sql = str_printf(arena, "SELECT * FROM (%.*s) LIMIT 0", STR_ARG(select_sql));
    if (!duck_query(session, probe_sql, arena, &probe, err)) return false;
    buf_append_c(&buf, "SELECT ");
    for (size_t i = 0; i < writer->schema.column_count; i++) {
        const Column *column = &writer->schema.columns[i];
        ptrdiff_t     index  = schema_find(&probe->schema, column->name);
        if (i > 0) buf_append_c(&buf, ", ");
        if (index < 0)
            buf_append_c(&buf, "NULL");
        else
            buf_append(&buf, duck_quote_identifier(arena, probe->schema.columns[index].name));
        if (index < 0 && writer->needs_value[i]) {
            row_stream_close(probe);
            return fail_default(writer, i, err);
        }
    }
    buf_printf(&buf, " FROM (%.*s)", STR_ARG(select_sql));
    row_stream_close(probe);
    *out = buf_str(&buf);
    return true;
}

bool delta_writer_write_query(DeltaWriter *writer, DuckSession *session, Str select_sql,
                              Arena *arena, DeltaAdd *add_out, Err *err)
{
    Arena   *scratch = arena_new();
    Str      name    = new_file_name(writer, writer->options.compression, scratch);
    Str      local, sql = STR_EMPTY;
    DuckFile file;

    *add_out = (DeltaAdd){.path = STR_EMPTY, .stats = STR_EMPTY};
    bool ok  = conform_query(writer, session, select_sql, scratch, &sql, err) &&
              store_staging_file(writer->staging, name, scratch, &local, err) &&
              duck_copy_query(session, sql, &writer->mapping.stored, local, &writer->options,
                              scratch, &file, err);
    if (ok && file.row_count > 0) fill_add(writer, name, &file, arena, add_out);
    arena_close(scratch);
    return ok || err_context(err, "table %.*s", STR_ARG(writer->table_path));
}

/* --- rows that go --- */

bool delta_writer_delete_rows(DeltaWriter *writer, DeltaDeletion *deletions, size_t count,
                              Arena *arena, Err *err)
{
    Arena   *scratch = arena_new();
    LogPlace place   = {.context  = writer->context,
                        .path     = writer->table_path,
                        .log_path = store_join(scratch, writer->table_path, STR("_delta_log"))};
    Str      uuid    = rng_uuid4(writer->context->rng, scratch);
    Str      name    = str_printf(writer->arena, "deletion_vector_%.*s.bin", STR_ARG(uuid));
    Bytes    bytes;

    assert(writer->vectors_name.len == 0);
    bool ok = writer->takes_vectors ||
              err_set(err, ERR_UNSUPPORTED,
                      "table %.*s takes no deletion vectors (delta.enableDeletionVectors); nothing "
                      "was written",
                      STR_ARG(writer->table_path));
    ok = ok && vectors_build(&place, deletions, count, uuid, arena, &bytes, err);
    if (ok && bytes.len > 0) {
        ok = store_staging_put(writer->staging, name, bytes, err);
        if (ok) writer->vectors_name = name;
    }
    arena_close(scratch);
    return ok || err_context(err, "table %.*s", STR_ARG(writer->table_path));
}

/* --- publishing --- */

static bool publish_vectors(DeltaWriter *writer, Arena *scratch, Err *err)
{
    Str name = writer->vectors_name;

    if (name.len == 0) return true;
    writer->published_vectors = name;
    writer->vectors_name      = STR_EMPTY;
    return store_staging_publish(writer->staging, name,
                                 store_join(scratch, writer->table_path, name), NULL, err);
}

Str writer_staged_name(Arena *arena, const DeltaAdd *add)
{
    Str       path  = delta_path_decode(arena, add->path);
    ptrdiff_t slash = str_find_last_char(path, '/');

    return str_slice(path, (size_t)(slash + 1), path.len);
}

/* A file that the run which died had moved into the table is not staged any more, but there; or both, where a move is a
 * link and the removal of the old name. */
static bool publish_file(DeltaWriter *writer, Str name, Str target, StoreEntry *entry, Err *err)
{
    Err why = ERR_INIT;

    if (store_staging_publish(writer->staging, name, target, entry, &why)) return true;
    return (writer->is_taken && (why.code == ERR_NOT_FOUND || why.code == ERR_CONFLICT) &&
            store_stat(writer->context->store, target, entry, &why)) ||
           err_copy(err, &why);
}

bool delta_writer_publish(DeltaWriter *writer, const DeltaAdd *adds, size_t count, Err *err)
{
    Arena *scratch = arena_new();
    bool   has_any = writer->vectors_name.len > 0;
    bool   ok      = publish_vectors(writer, scratch, err);

    for (size_t i = 0; ok && i < count; i++) {
        if (adds[i].row_count == 0) continue;
        StoreEntry entry;
        Str        path   = delta_path_decode(scratch, adds[i].path);
        Str        target = store_join(scratch, writer->table_path, path);
        has_any           = true;
        ok = publish_file(writer, writer_staged_name(scratch, &adds[i]), target, &entry, err);
        if (ok && entry.size_bytes != adds[i].size_bytes)
            ok = err_set(err, ERR_STORE, "%.*s is %lld bytes long, and %lld were written",
                         STR_ARG(path), (long long)entry.size_bytes, (long long)adds[i].size_bytes);
    }
    if (ok && has_any) ok = store_staging_sync(writer->staging, err);
    arena_close(scratch);
    return ok || err_context(err, "table %.*s", STR_ARG(writer->table_path));
}

void delta_writer_discard(DeltaWriter *writer, DeltaTable *table, const DeltaAdd *adds,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (adds[i].row_count != 0) table_remove_unused(table, &adds[i]);
    if (writer->published_vectors.len > 0)
        table_remove_unused(table, &(DeltaAdd){.path = writer->published_vectors});
    writer->published_vectors = STR_EMPTY;
}
