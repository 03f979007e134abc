/* duck_checkpoint_read.c - Delta checkpoints back as the actions they came from (delta.md 1.4).
 *
 * Nearly all rows are adds, and of nearly all columns every value is NULL. So the footer is asked
 * first, columns without values are left out, adds come as typed columns, and only the few other
 * actions become JSON. */
#include "duck/duck_checkpoint.h"

#include "base/json.h"
#include "base/list.h"
#include "duck/duck_internal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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

/* --- the stream of actions --- */

/* What makes a block of a chunk differs, the rest does not. */
typedef struct ActionStream {
    RowStream         base;
    DuckSession      *session;
    duckdb_result     result;
    Shape             row;   /* a struct whose members are the columns */
    duckdb_data_chunk chunk; /* what the last block points into */
    bool              is_done;
    bool              has_positions; /* the last column is the row's number */
    Arena            *block_arena;
    ColumnVector     *columns;
    bool (*make_block)(struct ActionStream *stream, duckdb_data_chunk chunk, RowBlock *out,
                       Err *err);
} ActionStream;

/* One action a row. Rows without an action of a kind we know are left out. */
static bool write_rows(ActionStream *stream, duckdb_data_chunk chunk, RowBlock *out, Err *err)
{
    Arena   *arena = stream->block_arena;
    size_t   rows = (size_t)duckdb_data_chunk_get_size(chunk), count = 0, start = 0;
    Values   values    = {.children = ARENA_ARRAY(arena, Values, stream->row.child_count)};
    Shape    shape     = stream->row;
    Str     *texts     = ARENA_ARRAY(arena, Str, rows);
    int64_t *positions = ARENA_ARRAY(arena, int64_t, rows);
    Buf      buf       = buf_new(arena, 0);

    shape.child_count -= stream->has_positions;
    for (size_t i = 0; i < stream->row.child_count; i++)
        values.children[i] = values_of(&stream->row.children[i],
                                       duckdb_data_chunk_get_vector(chunk, i), arena);
    for (size_t i = 0; i < rows; i++, start = buf.len) {
        JsonWriter json = json_writer(&buf, false, false);
        write_members(&json, &shape, &values, i);
        if (buf.len - start <= 2) { /* {} */
            buf.len = start;
            continue;
        }
        if (stream->has_positions)
            positions[count] = ((const int64_t *)values.children[shape.child_count].data)[i];
        texts[count++].len = buf.len - start;
    }
    if (buf.overflow)
        return err_set(err, ERR_LIMIT, "the actions of %zu rows are longer than %zu bytes", rows,
                       buf.limit);
    for (size_t i = 0, at = 0; i < count; at += texts[i++].len)
        texts[i].ptr = buf.ptr + at;
    stream->columns[0] = (ColumnVector){.type = COLUMN_TYPE(TYPE_STRING), .data = texts};
    stream->columns[1] = (ColumnVector){.type = COLUMN_TYPE(TYPE_LONG), .data = positions};
    *out               = (RowBlock){.columns      = stream->columns,
                                    .column_count = stream->base.schema.column_count,
                                    .row_count    = count};
    return true;
}

static bool action_next(RowStream *base, RowBlock *out, Err *err)
{
    ActionStream *stream = (ActionStream *)base;

    *out = (RowBlock){0};
    while (out->row_count == 0 && !stream->is_done) {
        arena_reset(stream->block_arena);
        duckdb_destroy_data_chunk(&stream->chunk);
        if (!duck_fetch(&stream->result, &stream->chunk, err)) return false;
        stream->is_done = !stream->chunk;
        if (stream->is_done) return true;
        if (!stream->make_block(stream, stream->chunk, out, err)) return false;
    }
    return true;
}

static void action_close(RowStream *base)
{
    ActionStream *stream = (ActionStream *)base;
    if (!stream->session) return;
    duckdb_destroy_data_chunk(&stream->chunk);
    duckdb_destroy_result(&stream->result);
    arena_close(stream->block_arena);
    stream->session->has_stream = false;
    stream->session             = NULL;
}

static Str checkpoint_read_sql(Arena *arena, const Str *parquet_locals, size_t path_count)
{
    Buf                 sql   = buf_new(arena, 0);
    size_t              count = 0;
    const ActionColumn *all   = duck_action_columns(&count);

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

static bool open_stream(DuckSession *session, Str sql, const Schema *schema, bool has_positions,
                        Arena *arena, ActionStream **out, Err *err)
{
    ActionStream *stream = ARENA_NEW(arena, ActionStream);

    assert(!session->has_stream);
    stream->base = (RowStream){.schema = *schema, .next = action_next, .close = action_close};
    if (!duck_run_sql(&session->connection, sql, true, &stream->result, err)) {
        duckdb_destroy_result(&stream->result);
        return err_context(err, "reading a checkpoint");
    }
    stream->row           = result_shape(&stream->result, arena);
    stream->session       = session;
    stream->has_positions = has_positions;
    stream->block_arena   = arena_new();
    stream->columns       = ARENA_ARRAY(arena, ColumnVector, MAX(schema->column_count, 2));
    stream->make_block    = write_rows;
    session->has_stream   = true;
    *out                  = stream;
    return true;
}

static Schema schema_of(const char *const *names, const TypeKind *kinds, size_t count, Arena *arena)
{
    Column *columns = ARENA_ARRAY(arena, Column, count);

    for (size_t i = 0; i < count; i++)
        columns[i] = (Column){.name    = str_from_c(names[i]),
                              .type    = (ColumnType){.kind = kinds[i]},
                              .comment = STR_EMPTY};
    return (Schema){.columns = columns, .column_count = count};
}

static Schema action_schema(bool has_positions, Arena *arena)
{
    static const char *const names[] = {"action", "row"};
    static const TypeKind    kinds[] = {TYPE_STRING, TYPE_LONG};

    return schema_of(names, kinds, has_positions ? 2 : 1, arena);
}

bool duck_checkpoint_read(DuckSession *session, const Str *parquet_locals, size_t count,
                          Arena *arena, RowStream **out, Err *err)
{
    Schema        schema = action_schema(false, arena);
    ActionStream *stream = NULL;

    assert(count > 0);
    if (!open_stream(session, checkpoint_read_sql(arena, parquet_locals, count), &schema, false,
                     arena, &stream, err))
        return false;
    *out = &stream->base;
    return true;
}

/* --- one file, by its footer --- */

typedef struct Leaf {
    Str     path;        /* "add, partitionValues, key_value, key" */
    int64_t value_count; /* not NULL; -1: the footer does not say */
} Leaf;

struct DuckCheckpoint {
    DuckSession *session;
    Str          local;
    LIST(Leaf) leaves;
};

bool duck_checkpoint_open(DuckSession *session, Str local, Arena *arena, DuckCheckpoint **out,
                          Err *err)
{
    DuckCheckpoint *file = ARENA_NEW(arena, DuckCheckpoint);
    Buf             sql  = buf_new(arena, 0);
    RowStream      *rows = NULL;
    RowBlock        block;
    bool            ok;

    *file = (DuckCheckpoint){.session = session, .local = local};
    /* with the usual megabyte the scan and its reader wait for each other all the time; a large
     * buffer costs page faults */
    if (!duck_execute(session, STR("SET streaming_buffer_size = '2MB'"), NULL, err)) return false;
    buf_append_c(&sql, "SELECT path_in_schema, CASE WHEN count(stats_null_count) = count(*) THEN "
                       "CAST(sum(num_values - stats_null_count) AS BIGINT) ELSE -1 END"
                       " FROM parquet_metadata(");
    duck_append_path_literal(&sql, local);
    buf_append_c(&sql, ") GROUP BY path_in_schema");
    if (!duck_query(session, buf_str(&sql), arena, &rows, err))
        return err_context(err, "reading a checkpoint");
    while ((ok = row_stream_next(rows, &block, err)) && block.row_count > 0)
        for (size_t i = 0; i < block.row_count; i++)
            *LIST_PUSH(arena, &file->leaves) = (Leaf){
                .path        = str_copy(arena, column_str(&block.columns[0], i)),
                .value_count = column_i64(&block.columns[1], i)};
    row_stream_close(rows);
    *out = file;
    return ok || err_context(err, "reading a checkpoint");
}

/* Values under a column or a member ("add", "add, tags"): at least as many as its fullest leaf
 * has; -1: unknown; 0: none. */
static int64_t count_values(const DuckCheckpoint *file, Str path)
{
    int64_t most = 0;

    for (size_t i = 0; i < file->leaves.count; i++) {
        const Leaf *leaf  = &file->leaves.items[i];
        bool        is_it = str_starts_with(leaf->path, path) &&
                     (leaf->path.len == path.len || leaf->path.ptr[path.len] == ',');
        if (!is_it) continue;
        if (leaf->value_count < 0) return -1;
        most = MAX(most, leaf->value_count);
    }
    return most;
}

int64_t duck_checkpoint_count_adds(const DuckCheckpoint *file)
{
    return count_values(file, STR("add, path"));
}

/* --- adds --- */

typedef struct AddMember {
    const char *name, *type;
} AddMember;

static const AddMember *add_extras(size_t *count_out)
{
    static const AddMember extras[] = {
        {"partitionValues", STRINGS},          {"tags", STRINGS},
        {"deletionVector", DELETION_VECTOR},   {"baseRowId", "BIGINT"},
        {"defaultRowCommitVersion", "BIGINT"}, {"clusteringProvider", "VARCHAR"},
    };
    *count_out = COUNT_OF(extras);
    return extras;
}

/* The columns of the query: those of the stream as far as they are stored, then the extras. */
enum { ADD_FIXED = DUCK_ADD_EXTRA };

static bool is_empty_map(const Shape *shape, const Values *values, idx_t row)
{
    return shape->type == DUCKDB_TYPE_MAP &&
           ((const duckdb_list_entry *)values->data)[row].length == 0;
}

static Str write_extras(ActionStream *stream, const Values *values, idx_t row, Buf *buf)
{
    size_t start = buf->len;

    for (size_t i = ADD_FIXED; i < stream->row.child_count; i++) {
        const Shape *shape = &stream->row.children[i];
        if (is_null(&values[i], row) || is_empty_map(shape, &values[i], row)) continue;
        buf_printf(buf, "%s\"%.*s\":", buf->len > start ? "," : "", STR_ARG(shape->name));
        JsonWriter json = json_writer(buf, false, false);
        write_value(&json, shape, &values[i], row);
    }
    return (Str){NULL, buf->len - start};
}

static bool add_block(ActionStream *stream, duckdb_data_chunk chunk, RowBlock *out, Err *err)
{
    Arena  *arena  = stream->block_arena;
    size_t  rows   = (size_t)duckdb_data_chunk_get_size(chunk);
    size_t  count  = stream->row.child_count;
    Values *values = ARENA_ARRAY(arena, Values, count);
    Str    *extras = ARENA_ARRAY(arena, Str, rows);
    Buf     buf    = buf_new(arena, 0);

    for (size_t i = 0; i < ADD_FIXED; i++)
        stream->columns[i] = duck_column_of_vector(arena, duckdb_data_chunk_get_vector(chunk, i),
                                                   stream->base.schema.columns[i].type, rows);
    for (size_t i = ADD_FIXED; i < count; i++)
        values[i] = values_of(&stream->row.children[i], duckdb_data_chunk_get_vector(chunk, i),
                              arena);
    for (size_t i = 0; count > ADD_FIXED && i < rows; i++)
        extras[i] = write_extras(stream, values, i, &buf);
    if (buf.overflow)
        return err_set(err, ERR_LIMIT, "the adds of %zu rows are longer than %zu bytes", rows,
                       buf.limit);
    for (size_t i = 0, at = 0; i < rows; at += extras[i++].len)
        extras[i].ptr = extras[i].len > 0 ? buf.ptr + at : "";
    stream->columns[DUCK_ADD_EXTRA] = (ColumnVector){.type = COLUMN_TYPE(TYPE_STRING),
                                                     .data = extras};
    *out                            = (RowBlock){
                                   .columns = stream->columns, .column_count = DUCK_ADD_COLUMN_COUNT, .row_count = rows};
    return true;
}

static void append_file(Buf *sql, const DuckCheckpoint *file)
{
    buf_append_c(sql, " FROM read_parquet([");
    duck_append_path_literal(sql, file->local);
    buf_append_c(sql, "], hive_partitioning=false, schema=MAP{");
}

/* numRecords of typed statistics, where there are files without text. */
static bool needs_parsed_stats(const DuckCheckpoint *file)
{
    int64_t texts = count_values(file, STR("add, stats"));

    return count_values(file, STR("add, stats_parsed, numRecords")) != 0 &&
           (texts < 0 || texts < duck_checkpoint_count_adds(file));
}

static Str adds_sql(const DuckCheckpoint *file, Arena *arena)
{
    size_t           count      = 0;
    const AddMember *extras     = add_extras(&count);
    bool             has_parsed = needs_parsed_stats(file);
    Buf              sql        = buf_new(arena, 0);
    Buf              type       = buf_new(arena, 0);

    buf_printf(&sql,
               "SELECT add.path, add.size, add.\"modificationTime\", add.stats, %s, "
               "file_row_number",
               has_parsed ? "add.stats_parsed.\"numRecords\"" : "CAST(NULL AS BIGINT)");
    buf_printf(&type, "STRUCT(path VARCHAR, size BIGINT, modificationTime BIGINT, stats VARCHAR%s",
               has_parsed ? ", stats_parsed STRUCT(numRecords BIGINT)" : "");
    for (size_t i = 0; i < count; i++) {
        if (count_values(file, str_printf(arena, "add, %s", extras[i].name)) == 0) continue;
        buf_printf(&sql, ", add.\"%s\"", extras[i].name);
        buf_printf(&type, ", %s %s", extras[i].name, extras[i].type);
    }
    append_file(&sql, file);
    buf_printf(&sql, "'add': {name: 'add', type: '%.*s)', default_value: NULL}})",
               STR_ARG(buf_str(&type)));
    return buf_str(&sql);
}

bool duck_checkpoint_adds(DuckCheckpoint *file, Arena *arena, RowStream **out, Err *err)
{
    static const char *const names[] = {"path", "size", "modificationTime", "stats", "numRecords",
                                        "row",  "extra"};
    static const TypeKind    kinds[] = {TYPE_STRING, TYPE_LONG, TYPE_LONG,  TYPE_STRING,
                                        TYPE_LONG,   TYPE_LONG, TYPE_STRING};
    Schema                   schema  = schema_of(names, kinds, DUCK_ADD_COLUMN_COUNT, arena);
    ActionStream            *stream  = NULL;

    *out = NULL;
    if (count_values(file, STR("add")) == 0) return true;
    if (!open_stream(file->session, adds_sql(file, arena), &schema, true, arena, &stream, err))
        return false;
    stream->make_block = add_block;
    *out               = &stream->base;
    return true;
}

/* --- the other actions --- */

#define FEW_ROWS 256 /* so many are asked for by their numbers */

/* "metaData, format, provider" as SQL; false: a member of a list or map. */
static bool append_leaf(Buf *sql, Str path, const char *before)
{
    size_t start = sql->len;
    bool   first = true;

    buf_append_c(sql, before);
    while (path.len > 0) {
        ptrdiff_t comma = str_find_char(path, ',', 0);
        Str       part  = comma < 0 ? path : str_slice(path, 0, (size_t)comma);
        path            = comma < 0 ? STR_EMPTY : str_slice(path, (size_t)comma + 2, path.len);
        if (str_equal_c(part, "key_value") || str_equal_c(part, "list")) {
            sql->len = start;
            return false;
        }
        if (!first) buf_append_char(sql, '.');
        first = false;
        duck_append_identifier(sql, part);
    }
    buf_append_c(sql, " IS NOT NULL");
    return true;
}

/* A condition on one action's values; false: there is none that would find all its rows cheaply. */
static bool append_leaves(Buf *where, const DuckCheckpoint *file, Str name)
{
    bool found = false;

    for (size_t i = 0; i < file->leaves.count; i++) {
        const Leaf *leaf   = &file->leaves.items[i];
        bool        is_its = str_starts_with(leaf->path, name) && leaf->path.len > name.len &&
                      leaf->path.ptr[name.len] == ',';
        if (is_its && leaf->value_count > 0)
            found |= append_leaf(where, leaf->path, where->len > 0 ? " OR " : "");
    }
    return found;
}

/* The numbers of the rows of a few actions, "3, 7": of all columns only those are read that tell. */
static bool find_few(const DuckCheckpoint *file, Str where, Arena *arena, Buf *numbers, Err *err)
{
    Buf        sql  = buf_new(arena, 0);
    RowStream *rows = NULL;
    RowBlock   block;
    bool       ok;

    buf_append_c(&sql, "SELECT file_row_number FROM read_parquet([");
    duck_append_path_literal(&sql, file->local);
    buf_printf(&sql, "], hive_partitioning=false) WHERE %.*s", STR_ARG(where));
    if (!duck_query(file->session, buf_str(&sql), arena, &rows, err))
        return err_context(err, "reading a checkpoint");
    while ((ok = row_stream_next(rows, &block, err)) && block.row_count > 0)
        for (size_t i = 0; i < block.row_count; i++)
            buf_printf(numbers, "%s%lld", numbers->len > 0 ? ", " : "",
                       (long long)column_i64(&block.columns[0], i));
    row_stream_close(rows);
    return ok || err_context(err, "reading a checkpoint");
}

bool duck_checkpoint_rest(DuckCheckpoint *file, Arena *arena, RowStream **out, Err *err)
{
    size_t              count = 0, found = 0;
    const ActionColumn *all    = duck_action_columns(&count);
    Buf                 select = buf_new(arena, 0), types = buf_new(arena, 0);
    Buf                 where = buf_new(arena, 0), leaves = buf_new(arena, 0);
    Buf                 rows   = buf_new(arena, 0);
    bool                is_few = true;
    Schema              schema = action_schema(true, arena);
    ActionStream       *stream = NULL;

    *out = NULL;
    buf_append_c(&select, "SELECT ");
    for (size_t i = 0; i < count; i++) {
        Str name = str_from_c(all[i].name);
        if (str_equal_c(name, "add") || count_values(file, name) == 0) continue;
        buf_printf(&select, "\"%.*s\", ", STR_ARG(name));
        buf_printf(&types, "%s'%s': {name: '%s', type: '%s', default_value: NULL}",
                   found > 0 ? ", " : "", all[i].name, all[i].name,
                   all[i].read ? all[i].read : all[i].written);
        buf_printf(&where, "%s\"%s\" IS NOT NULL", found > 0 ? " OR " : "", all[i].name);
        int64_t values = count_values(file, name);
        is_few = is_few && values > 0 && values <= FEW_ROWS && append_leaves(&leaves, file, name);
        found++;
    }
    if (found == 0) return true;
    if (is_few && !find_few(file, buf_str(&leaves), arena, &rows, err)) return false;
    buf_append_c(&select, "file_row_number");
    append_file(&select, file);
    buf_printf(&select, "%.*s}) WHERE ", STR_ARG(buf_str(&types)));
    if (rows.len > 0)
        buf_printf(&select, "file_row_number IN (%.*s)", STR_ARG(buf_str(&rows)));
    else
        buf_append(&select, buf_str(&where));
    if (!open_stream(file->session, buf_str(&select), &schema, true, arena, &stream, err))
        return false;
    *out = &stream->base;
    return true;
}
