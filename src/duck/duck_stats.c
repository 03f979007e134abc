/* duck_stats.c - the statistics of a file just written: from RETURN_STATS, checked against the
 * footer where that lies (delta.md 5.2, 5.4). */
#include "duck/duck_internal.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

/* The answer's columns. */
enum { STATS_FILENAME, STATS_COUNT, STATS_FILE_SIZE, STATS_FOOTER_SIZE, STATS_COLUMNS };

/* "na""me" -> na"me */
static Str unquote(Arena *arena, Str quoted)
{
    Buf name = buf_new(arena, 0);
    if (quoted.len < 2 || quoted.ptr[0] != '"') return quoted;
    for (size_t i = 1; i + 1 < quoted.len; i++) {
        if (quoted.ptr[i] == '"') i++;
        buf_append_char(&name, quoted.ptr[i]);
    }
    return buf_str(&name);
}

/* Statistics come in the order of the schema, so `hint` is nearly always right. */
static DuckColumnStats *find_column(DuckFile *file, Str name, size_t hint)
{
    for (size_t i = 0; i < file->column_count; i++) {
        DuckColumnStats *stats = &file->columns[(hint + i) % file->column_count];
        if (str_equal(stats->name, name)) return stats;
    }
    return NULL;
}

static bool is_infinite(Str text)
{
    return str_equal_c(text, "inf") || str_equal_c(text, "-inf");
}

/* One column's MAP(VARCHAR, VARCHAR). */
static void read_column(duckdb_vector entries, duckdb_list_entry range, Arena *arena,
                        DuckColumnStats *out)
{
    duckdb_vector keys   = duckdb_struct_vector_get_child(entries, 0),
                  values = duckdb_struct_vector_get_child(entries, 1);
    bool has_min = false, has_max = false, has_nan = false;

    for (idx_t i = range.offset; i < range.offset + range.length; i++) {
        if (duck_vector_is_null(values, i)) continue;
        Str key = duck_vector_str(keys, i), value = duck_vector_str(values, i);
        if (str_equal_c(key, "null_count")) {
            if (!str_parse_i64(value, &out->null_count)) out->null_count = 0;
        } else if (str_equal_c(key, "min")) {
            has_min  = true;
            out->min = str_copy(arena, value);
        } else if (str_equal_c(key, "max")) {
            has_max  = true;
            out->max = str_copy(arena, value);
        } else if (str_equal_c(key, "has_nan")) {
            has_nan = str_equal_c(value, "true");
        }
    }
    out->has_bounds = has_min && has_max && !has_nan;
}

static void check_bounds(DuckColumnStats *stats, ColumnType type)
{
    if (type.kind == TYPE_FLOAT || type.kind == TYPE_DOUBLE)
        if (is_infinite(stats->min) || is_infinite(stats->max)) stats->has_bounds = false;
    /* libduckdb cuts between characters, or gives no bound; this does not rely on it */
    if (type.kind == TYPE_STRING)
        if (!utf8_is_valid(stats->min) || !utf8_is_valid(stats->max)) stats->has_bounds = false;
    if (!stats->has_bounds) stats->min = stats->max = STR_EMPTY;
}

static void read_columns(duckdb_vector map, const Schema *schema, Arena *arena, DuckFile *out)
{
    const duckdb_list_entry *range   = duckdb_vector_get_data(map);
    duckdb_vector            entries = duckdb_list_vector_get_child(map);
    duckdb_vector            names   = duckdb_struct_vector_get_child(entries, 0);
    duckdb_vector            inner   = duckdb_struct_vector_get_child(entries, 1);
    const duckdb_list_entry *ranges  = duckdb_vector_get_data(inner);

    for (idx_t i = 0; i < range->length; i++) {
        idx_t            at    = range->offset + i;
        DuckColumnStats *stats = find_column(out, unquote(arena, duck_vector_str(names, at)),
                                             (size_t)i);
        if (!stats) continue;
        read_column(duckdb_list_vector_get_child(inner), ranges[at], arena, stats);
        check_bounds(stats, schema->columns[stats - out->columns].type);
    }
}

static bool has_float_bounds(const DuckFile *file, const Schema *schema)
{
    for (size_t i = 0; i < file->column_count; i++) {
        TypeKind kind = schema->columns[i].type.kind;
        if ((kind == TYPE_FLOAT || kind == TYPE_DOUBLE) && file->columns[i].has_bounds) return true;
    }
    return false;
}

/* has_nan is that of the last row group, and min and max skip the groups that have none. So a float
 * column has bounds only when each of its row groups with values has them (5.4). */
static bool drop_unsound_bounds(Connection *connection, Str local_path, Arena *arena,
                                DuckFile *file, Err *err)
{
    duckdb_result     result;
    duckdb_data_chunk chunk = NULL;
    Buf               sql   = buf_new(arena, 0);

    buf_append_c(&sql, "SELECT DISTINCT column_id::BIGINT FROM parquet_metadata(");
    duck_append_path_literal(&sql, local_path);
    buf_append_c(&sql, ") WHERE type IN ('FLOAT', 'DOUBLE') AND (stats_min_value IS NULL OR "
                       "stats_max_value IS NULL)"
                       " AND num_values > coalesce(stats_null_count, 0)");
    bool ok = duck_run_sql(connection, buf_str(&sql), false, &result, err);
    while (ok && (ok = duck_fetch(&result, &chunk, err)) && chunk) {
        const int64_t *ids = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));
        for (idx_t i = 0; i < duckdb_data_chunk_get_size(chunk); i++) {
            assert((uint64_t)ids[i] < file->column_count);
            DuckColumnStats *stats = &file->columns[ids[i]];
            stats->has_bounds      = false;
            stats->min = stats->max = STR_EMPTY;
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return ok;
}

static void init_columns(const Schema *schema, Arena *arena, DuckFile *out)
{
    *out         = (DuckFile){.column_count = schema->column_count};
    out->columns = ARENA_ARRAY(arena, DuckColumnStats, schema->column_count);
    for (size_t i = 0; i < schema->column_count; i++) {
        out->columns[i].name = str_copy(arena, schema->columns[i].name);
        out->columns[i].min = out->columns[i].max = STR_EMPTY;
    }
}

bool duck_read_copy_stats(Connection *connection, duckdb_result *result, const Schema *schema,
                          Str local_path, bool is_one_group, Arena *arena, DuckFile *out, Err *err)
{
    duckdb_data_chunk chunk = NULL;

    *out = (DuckFile){0};
    if (!duck_fetch(result, &chunk, err)) return false;
    if (!chunk) return true; /* no rows, no file */
    init_columns(schema, arena, out);
    assert(duckdb_data_chunk_get_size(chunk) == 1);
    assert(duckdb_data_chunk_get_column_count(chunk) > STATS_COLUMNS);
    const uint64_t *count = duckdb_vector_get_data(
        duckdb_data_chunk_get_vector(chunk, STATS_COUNT));
    const uint64_t *size = duckdb_vector_get_data(
        duckdb_data_chunk_get_vector(chunk, STATS_FILE_SIZE));
    out->row_count        = (int64_t)*count;
    out->size_bytes       = (int64_t)*size;
    duckdb_vector columns = duckdb_data_chunk_get_vector(chunk, STATS_COLUMNS);
    if (!duck_vector_is_null(columns, 0)) read_columns(columns, schema, arena, out);
    duckdb_destroy_data_chunk(&chunk);
    return is_one_group || !has_float_bounds(out, schema) ||
           drop_unsound_bounds(connection, local_path, arena, out, err);
}

void duck_discard_file(Str local_path)
{
    Arena      *scratch = arena_new();
    const char *path    = str_c(scratch, local_path);

    if (truncate(path, 0) == 0) (void)unlink(path); /* a memfd cannot be removed, only emptied */
    arena_close(scratch);
}
