/* duck_checkpoint_read.c - Delta checkpoints back as the actions they came from (delta.md 1.4).
 *
 * Nearly all rows are adds, and of nearly all columns every value is NULL. So the footer is asked
 * first, columns without values are left out, adds come as typed columns, and only the few other
 * actions become JSON. */
#include "duck/duck_checkpoint.h"

#include "base/map.h"
#include "duck/duck_shape.h"

#include <assert.h>

/* --- the stream of actions --- */

typedef struct ActionStream {
    RowStream         base;
    DuckSession      *session;
    duckdb_result     result;
    Shape             row;   /* a struct whose members are the columns */
    duckdb_data_chunk chunk; /* what the last block points into */
    bool              is_done;
    bool              has_positions; /* the last column is the row's number */
    Arena            *block_arena;
    ColumnVector      columns[2];
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
        values.children[i] = duck_values_of(&stream->row.children[i],
                                            duckdb_data_chunk_get_vector(chunk, i), arena);
    for (size_t i = 0; i < stream->row.child_count; i++)
        if (!duck_values_are_sound(&stream->row.children[i], &values.children[i], rows))
            return err_set(err, ERR_DAMAGED, "a list or map is damaged");
    for (size_t i = 0; i < rows; i++, start = buf.len) {
        JsonWriter json = json_writer(&buf, false, false);
        duck_write_json(&json, &shape, &values, i);
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
        if (!write_rows(stream, stream->chunk, out, err)) return false;
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
    for (size_t i = 0; i < row.child_count; i++) {
        duckdb_logical_type type = duckdb_column_logical_type(result, i);
        row.children[i]          = duck_shape_of(
                     type, str_copy(arena, str_from_c(duckdb_column_name(result, i))), arena);
        duckdb_destroy_logical_type(&type);
    }
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

static ParquetLeaf *leaf_of(DuckCheckpoint *file, Map *by_path, Str path, Arena *arena)
{
    ParquetLeaf *leaf = map_find(by_path, path);

    if (leaf) return leaf;
    leaf                             = ARENA_NEW(arena, ParquetLeaf);
    leaf->path                       = str_copy(arena, path);
    *LIST_PUSH(arena, &file->leaves) = leaf;
    (void)map_put(by_path, leaf->path, leaf);
    return leaf;
}

typedef enum LeafOwner { OWNER_ADD, OWNER_OTHER, OWNER_UNKNOWN } LeafOwner;

/* Whose the column is: the action's in front of the first comma. */
static LeafOwner owner_of(Str path)
{
    size_t              count = 0;
    const ActionColumn *all   = duck_action_columns(&count);
    ptrdiff_t           comma = str_find_char(path, ',', 0);
    Str                 owner = comma < 0 ? path : str_slice(path, 0, (size_t)comma);

    for (size_t i = 0; i < count; i++)
        if (str_equal(owner, str_from_c(all[i].name)))
            return str_equal_c(owner, "add") ? OWNER_ADD : OWNER_OTHER;
    return OWNER_UNKNOWN;
}

/* One column of one row group. Row groups come in their order. */
static void note_chunk(DuckCheckpoint *file, Map *by_path, const RowBlock *block, size_t row,
                       Arena *arena)
{
    ParquetLeaf *leaf   = leaf_of(file, by_path, column_str(&block->columns[0], row), arena);
    int64_t      group  = column_i64(&block->columns[1], row);
    int64_t      rows   = column_i64(&block->columns[2], row);
    int64_t      values = column_i64(&block->columns[3], row); /* -1: unknown */

    if (leaf->value_count >= 0) leaf->value_count = values < 0 ? -1 : leaf->value_count + values;
    if (file->group_count <= group) {
        file->group_count = group + 1;
        file->group_from  = file->row_count;
        file->row_count += rows;
    }
    LeafOwner owner = owner_of(leaf->path);
    if (values != 0 && owner == OWNER_UNKNOWN) file->has_unknown = true;
    if (values == 0 || owner != OWNER_OTHER) return;
    if (file->others_to == 0) file->others_from = file->group_from;
    file->others_to = file->row_count;
}

bool duck_checkpoint_open(DuckSession *session, Str local, Arena *arena, DuckCheckpoint **out,
                          Err *err)
{
    DuckCheckpoint *file    = ARENA_NEW(arena, DuckCheckpoint);
    Map            *by_path = map_new();
    Buf             sql     = buf_new(arena, 0);
    RowStream      *rows    = NULL;
    RowBlock        block;

    *file = (DuckCheckpoint){.session = session, .local = local};
    buf_append_c(&sql, "SELECT path_in_schema, row_group_id, row_group_num_rows,"
                       " coalesce(num_values - stats_null_count, -1) FROM parquet_metadata(");
    duck_append_path_literal(&sql, local);
    buf_append_c(&sql, ") ORDER BY row_group_id");
    bool ok = duck_query(session, buf_str(&sql), arena, &rows, err);
    while (ok && (ok = row_stream_next(rows, &block, err)) && block.row_count > 0)
        for (size_t i = 0; i < block.row_count; i++)
            note_chunk(file, by_path, &block, i, arena);
    row_stream_close(rows);
    map_close(by_path);
    *out = file;
    return ok || err_context(err, "reading a checkpoint");
}

int64_t duck_checkpoint_count_values(const DuckCheckpoint *file, Str path)
{
    int64_t most = 0;

    for (size_t i = 0; i < file->leaves.count; i++) {
        const ParquetLeaf *leaf  = file->leaves.items[i];
        bool               is_it = str_starts_with(leaf->path, path) &&
                     (leaf->path.len == path.len || leaf->path.ptr[path.len] == ',');
        if (!is_it) continue;
        if (leaf->value_count < 0) return -1;
        most = MAX(most, leaf->value_count);
    }
    return most;
}

int64_t duck_checkpoint_count_adds(const DuckCheckpoint *file)
{
    return duck_checkpoint_count_values(file, STR("add, path"));
}

int64_t duck_checkpoint_count_rows(const DuckCheckpoint *file)
{
    return file->has_unknown ? -1 : file->row_count;
}

/* --- the other actions --- */

#define NEAR_ROWS 32768 /* so many are looked at without being found first */
#define FEW_ROWS  256   /* so many are asked for by their numbers */

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
        const ParquetLeaf *leaf = file->leaves.items[i];
        bool is_its             = str_starts_with(leaf->path, name) && leaf->path.len > name.len &&
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

/* What is asked of the other actions that have values. */
typedef struct RestQuery {
    Buf    columns, types, where, leaves;
    size_t action_count;
    bool   is_few; /* and `leaves` finds their rows */
} RestQuery;

static RestQuery plan_rest(const DuckCheckpoint *file, Arena *arena)
{
    size_t              count = 0;
    const ActionColumn *all   = duck_action_columns(&count);
    RestQuery           query = {.columns = buf_new(arena, 0),
                                 .types   = buf_new(arena, 0),
                                 .where   = buf_new(arena, 0),
                                 .leaves  = buf_new(arena, 0),
                                 .is_few  = true};

    for (size_t i = 0; i < count; i++) {
        Str     name   = str_from_c(all[i].name);
        int64_t values = duck_checkpoint_count_values(file, name);
        bool    is_one = query.action_count == 0;
        if (str_equal_c(name, "add") || values == 0) continue;
        buf_printf(&query.columns, "\"%s\", ", all[i].name);
        buf_printf(&query.types, "%s'%s': {name: '%s', type: '%s', default_value: NULL}",
                   is_one ? "" : ", ", all[i].name, all[i].name,
                   all[i].read ? all[i].read : all[i].written);
        buf_printf(&query.where, "%s\"%s\" IS NOT NULL", is_one ? "" : " OR ", all[i].name);
        query.is_few = query.is_few && values > 0 && values <= FEW_ROWS &&
                       append_leaves(&query.leaves, file, name);
        query.action_count++;
    }
    return query;
}

/* Which rows to look at: those of a few row groups, or single ones that are found first, or all. */
static bool append_rest_rows(Buf *sql, const DuckCheckpoint *file, const RestQuery *query,
                             Arena *arena, Err *err)
{
    Buf  numbers = buf_new(arena, 0);
    bool is_near = file->others_to - file->others_from <= NEAR_ROWS;

    if (!is_near && query->is_few && !find_few(file, buf_str(&query->leaves), arena, &numbers, err))
        return false;
    if (is_near)
        buf_printf(sql, "file_row_number BETWEEN %lld AND %lld AND (%.*s)",
                   (long long)file->others_from, (long long)file->others_to - 1,
                   STR_ARG(buf_str(&query->where)));
    else if (numbers.len > 0)
        buf_printf(sql, "file_row_number IN (%.*s)", STR_ARG(buf_str(&numbers)));
    else
        buf_append(sql, buf_str(&query->where));
    return true;
}

bool duck_checkpoint_rest(DuckCheckpoint *file, Arena *arena, RowStream **out, Err *err)
{
    RestQuery     query  = plan_rest(file, arena);
    Buf           sql    = buf_new(arena, 0);
    Schema        schema = action_schema(true, arena);
    ActionStream *stream = NULL;

    *out = NULL;
    if (query.action_count == 0) return true;
    buf_printf(&sql, "SELECT %.*sfile_row_number FROM read_parquet([",
               STR_ARG(buf_str(&query.columns)));
    duck_append_path_literal(&sql, file->local);
    buf_printf(&sql, "], hive_partitioning=false, schema=MAP{%.*s}) WHERE ",
               STR_ARG(buf_str(&query.types)));
    if (!append_rest_rows(&sql, file, &query, arena, err)) return false;
    if (!open_stream(file->session, buf_str(&sql), &schema, true, arena, &stream, err))
        return false;
    *out = &stream->base;
    return true;
}
