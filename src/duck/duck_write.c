/* duck_write.c - row streams into Parquet files and temp tables. COPY asks a table function for
 * rows, which asks the stream for its next block and hands out slices of it without copying text
 * (delta.md 5.12). */
#include "duck/duck_internal.h"

#include <assert.h>

#define SMALL_BYTES ((size_t)1 << 20)

static void note_size(RowSource *source)
{
    const RowBlock *block = &source->block;

    for (size_t i = 0; source->is_small && i < block->column_count && block->row_count > 0; i++) {
        source->small_bytes += column_size_bytes(&block->columns[i], block->row_count);
        source->is_small = source->small_bytes <= SMALL_BYTES;
    }
}

/* Makes sure that the block has a row to give, or none is left at all (row_count 0). */
static bool pull(RowSource *source, Err *err)
{
    const Cancel *cancel = source->duck->options.cancel;

    if (cancel && !cancel_check(cancel, err)) return false;
    if (source->row_index < source->block.row_count) return true;
    source->row_index = 0;
    if (!row_stream_next(source->rows, &source->block, err)) return false;
    assert(source->block.row_count == 0 ||
           source->block.column_count == source->rows->schema.column_count);
    note_size(source);
    return !source->is_for_file || duck_make_room(source, err);
}

/* The next slice of the block, at most `limit` rows, into the chunk. */
static bool give(RowSource *source, duckdb_data_chunk chunk, size_t limit, Err *err)
{
    const RowBlock *block = &source->block;
    size_t          count = MIN(block->row_count - source->row_index, limit);

    for (size_t i = 0; i < block->column_count && count > 0; i++) {
        const Column *column = &source->rows->schema.columns[i];
        assert(column_type_equal(block->columns[i].type, column->type));
        if (!duck_fill_vector(duckdb_data_chunk_get_vector(chunk, i), &block->columns[i],
                              source->row_index, count, err))
            return err_context(err, "column %.*s", STR_ARG(column->name));
    }
    duckdb_data_chunk_set_size(chunk, count);
    source->row_index += count;
    source->slice_count += count > 0;
    return true;
}

/* --- the table function --- */

static void rows_bind(duckdb_bind_info info)
{
    duckdb_value   parameter = duckdb_bind_get_parameter(info, 0);
    CopyStatement *copy      = duck_find_copy(duckdb_bind_get_extra_info(info),
                                              duckdb_get_int64(parameter));

    duckdb_destroy_value(&parameter);
    if (!copy) {
        duckdb_bind_set_error(info, "there is no row stream of this number");
        return;
    }
    Arena        *scratch = arena_new();
    const Schema *schema  = &copy->source->rows->schema;
    for (size_t i = 0; i < schema->column_count; i++) {
        const Column       *column = &schema->columns[i];
        duckdb_logical_type type   = duck_logical_type(column->type);
        duckdb_bind_add_result_column(info, str_c(scratch, column->name), type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_bind_data(info, copy, NULL);
    arena_close(scratch);
}

static void rows_init(duckdb_init_info info)
{
    duckdb_init_set_max_threads(info, 1);
}

static void rows_next(duckdb_function_info info, duckdb_data_chunk chunk)
{
    RowSource *source = ((CopyStatement *)duckdb_function_get_bind_data(info))->source;

    if (!pull(source, &source->err) || !give(source, chunk, duckdb_vector_size(), &source->err))
        duckdb_function_set_error(info,
                                  "the row stream failed"); /* its Err is what the caller gets */
}

bool duck_register_rows(duckdb_connection connection, Duck *duck, Err *err)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_logical_type   number   = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);

    duckdb_table_function_set_name(function, ROWS_FUNCTION);
    duckdb_table_function_add_parameter(function, number);
    duckdb_table_function_set_extra_info(function, duck, NULL);
    duckdb_table_function_set_bind(function, rows_bind);
    duckdb_table_function_set_init(function, rows_init);
    duckdb_table_function_set_function(function, rows_next);
    bool ok = duckdb_register_table_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_table_function(&function);
    return ok ||
           err_set(err, ERR_QUERY_ENGINE, "libduckdb refused the table function of row streams");
}

/* --- Parquet --- */

bool duck_parquet_write(Duck *duck, RowStream *rows, Str local_path,
                        const DuckWriteOptions *options, Arena *arena, DuckFile *out, Err *err)
{
    RowSource source = {
        .duck = duck, .rows = rows, .err = ERR_INIT, .is_for_file = true, .is_small = true};

    *out    = (DuckFile){0};
    bool ok = pull(&source, err);
    if (ok && source.block.row_count > 0) /* without rows libduckdb need not even start */
        ok = duck_copy_rows(&source, local_path, options, arena, out, err);
    duck_give_room_back(&source);
    return ok;
}

/* --- temp tables --- */

static Str create_table_sql(Arena *arena, Str table_name, const Schema *schema)
{
    Buf sql = buf_new(arena, 0);
    buf_append_c(&sql, "CREATE OR REPLACE TEMP TABLE ");
    duck_append_identifier(&sql, table_name);
    for (size_t i = 0; i < schema->column_count; i++) {
        buf_append_c(&sql, i == 0 ? " (" : ", ");
        duck_append_identifier(&sql, schema->columns[i].name);
        buf_printf(&sql, " %.*s", STR_ARG(duck_type_name(arena, schema->columns[i].type)));
    }
    buf_append_c(&sql, ")");
    return buf_str(&sql);
}

static duckdb_data_chunk new_chunk(Arena *arena, const Schema *schema)
{
    duckdb_logical_type *types = ARENA_ARRAY(arena, duckdb_logical_type, schema->column_count);

    for (size_t i = 0; i < schema->column_count; i++)
        types[i] = duck_logical_type(schema->columns[i].type);
    duckdb_data_chunk chunk = duckdb_create_data_chunk(types, schema->column_count);
    for (size_t i = 0; i < schema->column_count; i++)
        duckdb_destroy_logical_type(&types[i]);
    return chunk;
}

/* Rows are appended, not pulled: the query instance would pull on one of its own threads, and
 * streams belong to their caller's. */
static bool append_rows(DuckSession *session, RowSource *source, Str table_name, Arena *scratch,
                        Err *err)
{
    duckdb_appender   appender = NULL;
    duckdb_data_chunk chunk    = new_chunk(scratch, &source->rows->schema);
    duckdb_state      state    = duckdb_appender_create_ext(session->connection.raw, "temp", NULL,
                                                            str_c(scratch, table_name), &appender);
    bool              ok       = true;

    while (ok && state == DuckDBSuccess) {
        ok = pull(source, err);
        if (!ok || source->block.row_count == 0) break;
        duckdb_data_chunk_reset(chunk);
        ok = give(source, chunk, duckdb_vector_size(), err);
        if (!ok) break;
        state = duckdb_append_data_chunk(appender, chunk);
    }
    if (ok && state == DuckDBSuccess) state = duckdb_appender_close(appender);
    if (ok && state != DuckDBSuccess) ok = duck_set_err(err, duckdb_appender_error(appender));
    if (!ok && appender) (void)duckdb_appender_clear(appender);
    (void)duckdb_appender_destroy(&appender);
    duckdb_destroy_data_chunk(&chunk);
    return ok;
}

bool duck_load(DuckSession *session, Str table_name, RowStream *rows, Err *err)
{
    Arena    *scratch = arena_new();
    RowSource source  = {.duck = session->connection.duck, .rows = rows, .err = ERR_INIT};
    Err       ignored = ERR_INIT;

    assert(rows->schema.column_count > 0);
    bool ok = duck_execute(session, create_table_sql(scratch, table_name, &rows->schema), NULL,
                           err);
    if (ok && !append_rows(session, &source, table_name, scratch, err)) {
        ok       = false;
        Str drop = str_printf(scratch, "DROP TABLE IF EXISTS temp.%.*s",
                              STR_ARG(duck_quote_identifier(scratch, table_name)));
        if (!duck_execute(session, drop, NULL, &ignored)) err_context(err, "a part of it is left");
    }
    arena_close(scratch);
    return ok || err_context(err, "loading %.*s", STR_ARG(table_name));
}
