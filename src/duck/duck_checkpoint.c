/* duck_checkpoint.c - Delta checkpoints: the shape of the file (delta.md 2.13), and its rows back
 * as the actions they came from (1.4). */
#include "duck/duck_checkpoint.h"

#include "base/json.h"
#include "duck/duck_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define STRINGS "MAP(VARCHAR, VARCHAR)"
#define DELETION_VECTOR                                                                            \
    "STRUCT(storageType VARCHAR, pathOrInlineDv VARCHAR, \"offset\" INTEGER, sizeInBytes INTEGER,"  \
    " cardinality BIGINT)"
#define ADD_MEMBERS                                                                                \
    "path VARCHAR, partitionValues " STRINGS ", size BIGINT, modificationTime BIGINT,"             \
    " dataChange BOOLEAN, tags " STRINGS ", deletionVector " DELETION_VECTOR ", baseRowId BIGINT," \
    " defaultRowCommitVersion BIGINT, clusteringProvider VARCHAR, stats VARCHAR"

/* Names and order of delta.md 2.13; libduckdb keeps the letters' case. */
typedef struct ActionColumn {
    const char *name;
    const char *written; /* NULL: not in our checkpoints */
    const char *read;    /* NULL: as written */
} ActionColumn;

static const ActionColumn *action_columns(size_t *count_out)
{
    static const ActionColumn columns[] = {
        {"txn", "STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)", NULL},
        {"add", "STRUCT(" ADD_MEMBERS ")",
            "STRUCT(" ADD_MEMBERS ", stats_parsed STRUCT(numRecords BIGINT))"},
        {"remove", "STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN,"
            " extendedFileMetadata BOOLEAN, partitionValues " STRINGS ", size BIGINT,"
            " deletionVector " DELETION_VECTOR ", baseRowId BIGINT, defaultRowCommitVersion BIGINT)", NULL},
        {"metaData", "STRUCT(id VARCHAR, name VARCHAR, description VARCHAR,"
            " format STRUCT(provider VARCHAR, options " STRINGS "), schemaString VARCHAR,"
            " partitionColumns VARCHAR[], configuration " STRINGS ", createdTime BIGINT)", NULL},
        {"protocol", "STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER,"
            " readerFeatures VARCHAR[], writerFeatures VARCHAR[])", NULL},
        {"domainMetadata", "STRUCT(domain VARCHAR, configuration VARCHAR, removed BOOLEAN)", NULL},
        {"checkpointMetadata", NULL, "STRUCT(version BIGINT, tags " STRINGS ")"},
        {"sidecar", NULL, "STRUCT(path VARCHAR, sizeInBytes BIGINT, modificationTime BIGINT, tags " STRINGS ")"},
    };
    *count_out = COUNT_OF(columns);
    return columns;
}
/* clang-format on */

/* --- writing --- */

static Str checkpoint_copy_sql(Arena *arena, Str ndjson_local, Str parquet_local,
                               size_t object_bytes)
{
    Buf                 sql   = buf_new(arena, 0);
    size_t              count = 0;
    const ActionColumn *all   = action_columns(&count);
    const char         *comma = "";

    buf_append_c(&sql, "COPY (SELECT * FROM read_json(");
    duck_append_path_literal(&sql, ndjson_local);
    buf_printf(&sql, ", format = 'newline_delimited', maximum_object_size = %zu, columns = {",
               object_bytes);
    for (size_t i = 0; i < count; i++) {
        if (!all[i].written) continue;
        buf_printf(&sql, "%s'%s': '%s'", comma, all[i].name, all[i].written);
        comma = ", ";
    }
    buf_append_c(&sql, "})) TO ");
    duck_append_literal(&sql, parquet_local);
    buf_append_c(&sql, " (FORMAT parquet, PARQUET_VERSION v1, COMPRESSION snappy, "
                       "WRITE_BLOOM_FILTER false, USE_TMP_FILE false)");
    return buf_str(&sql);
}

#define OBJECT_BYTES_MIN ((size_t)1 << 20)
#define LINE_SCAN_BYTES  ((size_t)1 << 18)

/* libduckdb sets buffers aside for the longest line it is told to expect, so it is told the truth. A
 * file that cannot be read is libduckdb's to complain about. */
static size_t longest_line_bytes(Arena *scratch, Str ndjson_local)
{
    char  *buffer  = arena_alloc_uninit(scratch, LINE_SCAN_BYTES);
    FILE  *file    = fopen(str_c(scratch, ndjson_local), "rb");
    size_t longest = 0, current = 0, len = 0;

    while (file && (len = fread(buffer, 1, LINE_SCAN_BYTES, file)) > 0)
        for (size_t at = 0; at < len; at++) {
            const char *end  = memchr(buffer + at, '\n', len - at);
            size_t      part = end ? (size_t)(end - buffer) - at : len - at;
            current += part;
            longest = MAX(longest, current);
            if (end) current = 0;
            at += part;
        }
    if (file) (void)fclose(file);
    return longest;
}

bool duck_checkpoint_write(Duck *duck, Str ndjson_local, Str parquet_local, int64_t *row_count_out,
                           Err *err)
{
    DuckSession *session   = NULL;
    Arena       *scratch   = arena_new();
    int64_t      row_count = 0;
    size_t       longest   = longest_line_bytes(scratch, ndjson_local);
    Str          sql       = checkpoint_copy_sql(scratch, ndjson_local, parquet_local,
                                                 MAX(longest + 1, OBJECT_BYTES_MIN));

    bool ok = duck_session_open(duck, &session, err);
    if (ok && !duck_execute(session, sql, &row_count, err)) {
        duck_discard_file(parquet_local);
        ok = false;
    }
    if (ok && row_count_out) *row_count_out = row_count;
    duck_session_close(session);
    arena_close(scratch);
    return ok || err_context(err, "writing a checkpoint");
}

/* --- reading: nested vectors to JSON --- */

/* The type of a value, and of what it is made of. */
typedef struct Shape {
    Str           name; /* as a member of a struct */
    duckdb_type   type;
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

static Shape shape_of(duckdb_logical_type logical, Str name, Arena *arena);

static void add_child(Shape *shape, size_t at, duckdb_logical_type logical, Str name, Arena *arena)
{
    shape->children[at] = shape_of(logical, name, arena);
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

static Shape shape_of(duckdb_logical_type logical, Str name, Arena *arena)
{
    Shape shape = {.name = name, .type = duckdb_get_type_id(logical)};

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

static Values values_of(const Shape *shape, duckdb_vector vector, Arena *arena)
{
    Values values = {.vector   = vector,
                     .data     = duckdb_vector_get_data(vector),
                     .validity = duckdb_vector_get_validity(vector)};

    if (shape->child_count == 0) return values;
    values.children = ARENA_ARRAY(arena, Values, shape->child_count);
    if (shape->type == DUCKDB_TYPE_LIST) {
        values.children[0] = values_of(&shape->children[0], duckdb_list_vector_get_child(vector),
                                       arena);
        return values;
    }
    duckdb_vector members = shape->type == DUCKDB_TYPE_MAP ? duckdb_list_vector_get_child(vector)
                                                           : vector;
    for (size_t i = 0; i < shape->child_count; i++)
        values.children[i] = values_of(&shape->children[i],
                                       duckdb_struct_vector_get_child(members, i), arena);
    return values;
}

static bool is_null(const Values *values, idx_t row)
{
    return values->validity && !(values->validity[row / 64] >> (row % 64) & 1);
}

static void write_value(JsonWriter *json, const Shape *shape, const Values *values, idx_t row);

/* Where only parsed statistics exist, the row count of them is kept. */
static void write_parsed_stats(JsonWriter *json, const Values *parsed, idx_t row)
{
    char text[48];
    assert(parsed->children);
    if (is_null(parsed, row) || is_null(&parsed->children[0], row)) return;
    int64_t count = ((const int64_t *)parsed->children[0].data)[row];
    int     len   = snprintf(text, sizeof(text), "{\"numRecords\":%lld}", (long long)count);
    json_key(json, STR("stats"));
    json_str(json, (Str){text, (size_t)len});
}

static void write_members(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    bool has_stats = false;

    json_object_begin(json);
    for (size_t i = 0; i < shape->child_count; i++) {
        const Shape  *member = &shape->children[i];
        const Values *child  = &values->children[i];
        if (str_equal_c(member->name, "stats")) has_stats = !is_null(child, row);
        if (str_equal_c(member->name, "stats_parsed")) {
            if (!has_stats) write_parsed_stats(json, child, row);
        } else if (!is_null(child, row)) {
            json_key(json, member->name);
            write_value(json, member, child, row);
        }
    }
    json_object_end(json);
}

static void write_list(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    duckdb_list_entry range = ((const duckdb_list_entry *)values->data)[row];

    json_array_begin(json);
    for (idx_t i = range.offset; i < range.offset + range.length; i++)
        write_value(json, &shape->children[0], &values->children[0], i);
    json_array_end(json);
}

static void write_map(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    duckdb_list_entry range = ((const duckdb_list_entry *)values->data)[row];

    json_object_begin(json);
    for (idx_t i = range.offset; i < range.offset + range.length; i++) {
        json_key(json, duck_vector_str(values->children[0].vector, i));
        write_value(json, &shape->children[1], &values->children[1], i);
    }
    json_object_end(json);
}

/* The types of action_columns, and no others. */
static void write_value(JsonWriter *json, const Shape *shape, const Values *values, idx_t row)
{
    if (is_null(values, row))
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

/* --- reading: the stream --- */

typedef struct ActionStream {
    RowStream     base;
    DuckSession  *session;
    duckdb_result result;
    Shape         row; /* a struct whose members are the columns */
    bool          is_done;
    Arena        *block_arena;
    ColumnVector  column;
} ActionStream;

/* One action a row. Rows without an action of a kind we know are left out. */
static bool write_rows(ActionStream *stream, duckdb_data_chunk chunk, RowBlock *out, Err *err)
{
    Arena *arena = stream->block_arena;
    size_t rows = (size_t)duckdb_data_chunk_get_size(chunk), count = 0, start = 0;
    Values values = {.children = ARENA_ARRAY(arena, Values, stream->row.child_count)};
    Str   *texts  = ARENA_ARRAY(arena, Str, rows);
    Buf    buf    = buf_new(arena, 0);

    for (size_t i = 0; i < stream->row.child_count; i++)
        values.children[i] = values_of(&stream->row.children[i],
                                       duckdb_data_chunk_get_vector(chunk, i), arena);
    for (size_t i = 0; i < rows; i++, start = buf.len) {
        JsonWriter json = json_writer(&buf, false, false);
        write_members(&json, &stream->row, &values, i);
        if (buf.len - start > 2)
            texts[count++].len = buf.len - start;
        else
            buf.len = start; /* {} */
    }
    if (buf.overflow)
        return err_set(err, ERR_LIMIT, "the actions of %zu rows are longer than %zu bytes", rows,
                       buf.limit);
    for (size_t i = 0, at = 0; i < count; at += texts[i++].len)
        texts[i].ptr = buf.ptr + at;
    stream->column = (ColumnVector){.type = COLUMN_TYPE(TYPE_STRING), .data = texts};
    *out           = (RowBlock){.columns = &stream->column, .column_count = 1, .row_count = count};
    return true;
}

static bool action_next(RowStream *base, RowBlock *out, Err *err)
{
    ActionStream     *stream = (ActionStream *)base;
    duckdb_data_chunk chunk  = NULL;

    *out = (RowBlock){0};
    while (out->row_count == 0 && !stream->is_done) {
        arena_reset(stream->block_arena);
        if (!duck_fetch(&stream->result, &chunk, err)) return false;
        stream->is_done = !chunk;
        if (stream->is_done) return true;
        bool ok = write_rows(stream, chunk, out, err);
        duckdb_destroy_data_chunk(&chunk);
        if (!ok) return false;
    }
    return true;
}

static void action_close(RowStream *base)
{
    ActionStream *stream = (ActionStream *)base;
    if (!stream->session) return;
    duckdb_destroy_result(&stream->result);
    arena_close(stream->block_arena);
    stream->session->has_stream = false;
    stream->session             = NULL;
}

static Str checkpoint_read_sql(Arena *arena, const Str *parquet_locals, size_t path_count)
{
    Buf                 sql   = buf_new(arena, 0);
    size_t              count = 0;
    const ActionColumn *all   = action_columns(&count);

    buf_append_c(&sql, "SELECT * FROM read_parquet([");
    for (size_t i = 0; i < path_count; i++) {
        if (i > 0) buf_append_c(&sql, ", ");
        duck_append_path_literal(&sql, parquet_locals[i]);
    }
    buf_append_c(&sql, "], hive_partitioning=false, schema=MAP{");
    for (size_t i = 0; i < count; i++)
        buf_printf(&sql, "%s'%s': {name: '%s', type: '%s', default_value: NULL}", i > 0 ? ", " : "",
                   all[i].name, all[i].name, all[i].read ? all[i].read : all[i].written);
    buf_append_c(&sql, "})");
    return buf_str(&sql);
}

static Shape result_shape(duckdb_result *result, Arena *arena)
{
    Shape row    = {.type = DUCKDB_TYPE_STRUCT, .child_count = (size_t)duckdb_column_count(result)};
    row.children = ARENA_ARRAY(arena, Shape, row.child_count);
    for (size_t i = 0; i < row.child_count; i++)
        add_child(&row, i, duckdb_column_logical_type(result, i),
                  str_copy(arena, str_from_c(duckdb_column_name(result, i))), arena);
    return row;
}

bool duck_checkpoint_read(DuckSession *session, const Str *parquet_locals, size_t count,
                          Arena *arena, RowStream **out, Err *err)
{
    ActionStream *stream = ARENA_NEW(arena, ActionStream);
    Column       *column = ARENA_NEW(arena, Column);

    assert(count > 0);
    assert(!session->has_stream);
    *column = (Column){
        .name = STR("action"), .type = COLUMN_TYPE(TYPE_STRING), .comment = STR_EMPTY};
    stream->base = (RowStream){.schema = {.columns = column, .column_count = 1},
                               .next   = action_next,
                               .close  = action_close};
    if (!duck_run_sql(&session->connection, checkpoint_read_sql(arena, parquet_locals, count), true,
                      &stream->result, err)) {
        duckdb_destroy_result(&stream->result);
        return err_context(err, "reading a checkpoint");
    }
    stream->row         = result_shape(&stream->result, arena);
    stream->session     = session;
    stream->block_arena = arena_new();
    session->has_stream = true;
    *out                = &stream->base;
    return true;
}
