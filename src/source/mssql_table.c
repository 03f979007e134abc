/* mssql_table.c - rows of the source table as bronze's snapshot form (Q29). */
#include "source/mssql_cut_internal.h"

#include <assert.h>
#include <stdatomic.h>

/* A request's worth of parameters and text, beyond which no further part is added. */
#define REQUEST_PARAMS_MAX 1000
#define REQUEST_BYTES_MAX  ((size_t)256 << 10)

typedef struct TableStream {
    RowStream  stream;
    Mssql     *mssql;
    Arena     *arena;
    Arena     *constant_arena;
    SqlConn   *conn;
    SqlResult *result;
    Schema     columns; /* wanted */
    SelectList list;
    bool       has_command_id;
    Str        instance_name, source_schema, source_table;
    Str        stamp_text, snapshot_text;
    OptTime    stamp_time;
    TablePart *parts; /* of this request */
    size_t     part_count, part_at;
    bool       is_between; /* the rows of a part have ended, the next one's were not looked for */
    int64_t   *row_count;
    size_t     constant_rows;
    ColumnVector *vectors; /* the constant ones stay, the captured ones are replaced per block */
} TableStream;

static size_t lead_count(const TableStream *table)
{
    return table->has_command_id ? 6 : 5;
}

static void ensure_constants(TableStream *table, size_t row_count)
{
    Arena        *arena    = table->constant_arena;
    ColumnVector *to       = table->vectors;
    const Schema *schema   = &table->stream.schema;
    size_t        captured = schema->column_count - lead_count(table) - 3;
    size_t        at       = 0;
    OptI64        chunk    = table->parts[table->part_at].chunk;

    if (row_count <= table->constant_rows) return;
    arena_reset(arena);
    table->constant_rows = row_count;
    to[at++]             = str_column(arena, table->instance_name, row_count);
    to[at++]             = str_column(arena, table->stamp_text, row_count);
    to[at++]             = null_column(arena, COLUMN_TYPE(TYPE_STRING), row_count);
    to[at++]             = i32_column(arena, 0, row_count);
    if (table->has_command_id) to[at++] = null_column(arena, COLUMN_TYPE(TYPE_INTEGER), row_count);
    to[at++] = time_column(arena, table->stamp_time, row_count);
    for (size_t i = 0; i < captured; i++, at++)
        if (table->list.positions[i] < 0)
            to[at] = null_column(arena, schema->columns[at].type, row_count);
    to[at++] = null_column(arena, COLUMN_TYPE(TYPE_INTEGER), row_count);
    to[at++] = str_column(arena, table->snapshot_text, row_count);
    to[at]   = chunk.is_set ? i32_column(arena, (int32_t)chunk.value, row_count)
                            : null_column(arena, COLUMN_TYPE(TYPE_INTEGER), row_count);
}

static bool explain(const TableStream *table, Err *err)
{
    return mssql_explain_table_error(table->mssql, table->source_schema, table->source_table, err);
}

/* Behind the last part there must be nothing: the request is drained, so that a late error is seen. */
static bool end_part(TableStream *table, Err *err)
{
    bool has_more = false;

    if (table->part_at + 1 < table->part_count) {
        table->is_between = true;
        return true;
    }
    if (!sqlresult_next_result(table->result, &has_more, err)) return explain(table, err);
    return !has_more ||
           err_set(err, ERR_QUERY, "%zu parts of a table in one request gave more answers",
                   table->part_count);
}

static bool table_next(RowStream *stream, RowBlock *out, Err *err)
{
    TableStream *table    = (TableStream *)stream;
    size_t       lead     = lead_count(table);
    size_t       captured = stream->schema.column_count - lead - 3;
    RowBlock     block    = {0};

    *out = (RowBlock){table->vectors, stream->schema.column_count, 0};
    if (table->is_between) return true;
    if (!sqlresult_next(table->result, &block, err)) return explain(table, err);
    if (block.row_count == 0) return end_part(table, err);
    ensure_constants(table, block.row_count);
    for (size_t i = 0; i < captured; i++)
        if (table->list.positions[i] >= 0)
            table->vectors[lead + i] = block.columns[table->list.positions[i]];
    out->row_count = block.row_count;
    *table->row_count += (int64_t)block.row_count;
    return true;
}

static void table_release(RowStream *stream)
{
    row_stream_release(&((TableStream *)stream)->result->stream);
}

static void table_close(RowStream *stream)
{
    TableStream *table = (TableStream *)stream;

    sqlresult_close(table->result);
    mssql_give_back(table->mssql, CONN_TABLE, table->conn);
    arena_close(table->constant_arena);
    arena_close(table->arena); /* the stream lives in it */
}

/* --- opening --- */

/* Between two parts: the server sends what it has of the first before it looks at the second, whose rows may be locked.
 * A message of no severity, which nobody is shown. */
#define SEND_NOW "\nRAISERROR(N'', 0, 1) WITH NOWAIT;\n"

/* The statement of one part, with what is in front of every read of the table. */
static bool append_part(const TableStream *table, const TableRead *read, const TablePart *part,
                        Str name, Buf *buf, KeyParams *params, Err *err)
{
    Arena          *arena  = table->arena;
    const TableCut *cut    = read->cut;
    KeyPieces       pieces = key_pieces(arena, cut->column_count, part->lo, part->hi);

    if ((part->lo || part->hi) && !cut->can_bound)
        return err_set(
            err, ERR_SCHEMA_CHANGED,
            "a key column of %.*s is gone or has another type than when the bounds were planned: "
            "run this again, and when that ends the same way, change it back or begin anew with a "
            "new bronze table, app_id and checkpoint",
            STR_ARG(name));
    append_read_prefix(table->mssql, true, buf);
    for (size_t i = 0; i < pieces.piece_count; i++) {
        buf_printf(buf, "%sSELECT %s FROM %s AS t", i ? "\nUNION ALL " : "",
                   table->list.column_count ? str_c(arena, table->list.text) : "1 AS [__$row]",
                   str_c(arena, name));
        if (pieces.pieces[i].term_count > 0 || pieces.pieces[i].has_residual)
            buf_append_c(buf, " WHERE ");
        if (!key_piece_where(arena, &pieces.pieces[i], cut->columns, cut->column_count, part->lo,
                             part->hi, buf, params, err))
            return false;
    }
    buf_append_char(buf, ';');
    return true;
}

/* As many parts as one request should hold: SQL Server takes 2,100 parameters, and compiles the whole text before its
 * first row. */
static bool request_text(TableStream *table, const TableRead *read, size_t count, SqlQuery *query,
                         Err *err)
{
    KeyParams params = {0};
    Buf       buf    = buf_new(table->arena, 0);
    Str       name;

    if (!table_name(read->table, table->arena, &name, err)) return false;
    for (table->part_count = 0; table->part_count < count; table->part_count++) {
        if (table->part_count > 0) {
            if (params.count > REQUEST_PARAMS_MAX || buf.len > REQUEST_BYTES_MAX) break;
            buf_append_c(&buf, SEND_NOW);
        }
        if (!append_part(table, read, &table->parts[table->part_count], name, &buf, &params, err))
            return false;
    }
    query->text        = buf_str(&buf);
    query->params      = params.items;
    query->param_count = params.count;
    query->has_more    = table->part_count > 1;
    return true;
}

static bool check_result(const TableStream *table, Err *err)
{
    const Schema *schema  = &table->result->stream.schema;
    const Schema *columns = &table->columns;
    bool          ok      = schema->column_count == MAX(table->list.column_count, 1);

    for (size_t i = 0; ok && i < columns->column_count; i++) {
        ptrdiff_t at = table->list.positions[i];
        ok = at < 0 || column_type_equal(schema->columns[at].type, columns->columns[i].type);
    }
    return ok ||
           err_set(err, ERR_QUERY, "the source table answered with other columns than asked for");
}

static void note_round_trip(Mssql *mssql, int64_t took_ns)
{
    int64_t least = atomic_load(&mssql->round_trip_ns);

    while ((least == 0 || took_ns < least) &&
           !atomic_compare_exchange_weak(&mssql->round_trip_ns, &least, MAX(took_ns, 1)))
        continue;
}

double mssql_round_trip(const Mssql *mssql)
{
    return (double)atomic_load(&mssql->round_trip_ns) / 1e9;
}

static bool ask(TableStream *table, const SqlQuery *query, Err *err)
{
    Clock  *clock    = table->mssql->options.clock;
    int64_t began_ns = clock_monotonic_ns(clock);

    if (!sqlconn_query(table->conn, query, &table->result, err)) return false;
    note_round_trip(table->mssql, clock_monotonic_ns(clock) - began_ns);
    return true;
}

/* A kept connection that had died unseen is no failure of this read: it is asked for on a new one. */
static bool ask_for_rows(TableStream *table, const TableRead *read, Err *err)
{
    Mssql   *mssql = table->mssql;
    SqlQuery query = {.fetch_rows = mssql->options.fetch_rows, .expect = &table->columns};

    for (;;) {
        if (!mssql_connect(mssql, CONN_TABLE, &table->conn, err)) return explain(table, err);
        size_t count = table->conn->can_join ? read->behind_count + 1 : 1;
        if (!request_text(table, read, MIN(count, (size_t)TABLE_PARTS_MAX), &query, err))
            return false;
        if (ask(table, &query, err)) return true;
        if (!table->conn->is_reused || !sqlconn_is_dead(table->conn)) return explain(table, err);
        log_debug(mssql->options.log, "source", "a kept connection had died",
                  LOG_STR("capture_instance", mssql->options.name),
                  LOG_TEXT("error", err->message));
        sqlconn_close(table->conn);
        table->conn = NULL;
        sqldriver_close_kept(mssql->options.driver, mssql->options.connection);
        err_clear(err);
    }
}

static bool open_part(TableStream *table, const TableRead *read, Err *err)
{
    if (!mssql_select_list(read->table->instances, read->table->instance_count, read->columns, true,
                           "t", table->arena, &table->list, err))
        return false;
    return ask_for_rows(table, read, err) && check_result(table, err);
}

size_t mssql_parts_behind(const RowStream *stream)
{
    const TableStream *table = (const TableStream *)stream;

    return table->part_count - table->part_at - 1;
}

static void set_stamp(TableStream *table, const Offset *stamp)
{
    table->stamp_text = lsn_str(table->arena, stamp->lsn);
    table->stamp_time = stamp->commit_ts;
}

bool mssql_next_part(RowStream *stream, const Offset *stamp, int64_t *row_count_out, Err *err)
{
    TableStream *table = (TableStream *)stream;
    bool         has_result;

    assert(mssql_parts_behind(stream) > 0);
    set_stamp(table, stamp);
    table->row_count  = row_count_out;
    *table->row_count = 0;
    if (!sqlresult_next_result(table->result, &has_result, err)) return explain(table, err);
    if (!has_result)
        return err_set(err, ERR_QUERY, "%zu parts of a table in one request gave %zu answers",
                       table->part_count, table->part_at + 1);
    table->part_at++;
    table->is_between    = false;
    table->constant_rows = 0;
    return check_result(table, err);
}

bool mssql_connect_ahead(Mssql *mssql, Err *err)
{
    SqlConn *conn;

    if (!mssql_connect(mssql, CONN_TABLE, &conn, err)) return false;
    mssql_give_back(mssql, CONN_TABLE, conn);
    return true;
}

static TablePart *copy_parts(Arena *arena, const TableRead *read)
{
    TablePart *parts = ARENA_ARRAY(arena, TablePart, read->behind_count + 1);

    parts[0] = (TablePart){.lo = read->lo, .hi = read->hi, .chunk = read->chunk};
    for (size_t i = 0; i < read->behind_count; i++)
        parts[i + 1] = read->behind[i];
    return parts;
}

bool mssql_read_table(Mssql *mssql, const TableRead *read, int64_t *row_count_out, RowStream **out,
                      Err *err)
{
    Arena       *own     = arena_new(); /* the stream's, which closing frees */
    TableStream *stream  = ARENA_NEW(own, TableStream);
    bool         with_id = mssql->options.include_command_id;
    Schema       kept    = schema_copy(own, read->columns);

    *out           = NULL;
    *row_count_out = 0;
    *stream        = (TableStream){
               .stream         = {.schema  = bronze_row_schema(own, &kept, with_id),
                                  .next    = table_next,
                                  .close   = table_close,
                                  .release = table_release},
               .mssql          = mssql,
               .arena          = own,
               .constant_arena = arena_new(),
               .has_command_id = with_id,
               .instance_name  = str_copy(own, read->instance_name),
               .source_schema  = str_copy(own, table_newest(read->table)->source_schema),
               .source_table   = str_copy(own, table_newest(read->table)->source_table),
               .snapshot_text  = lsn_str(own, read->snapshot),
               .columns        = kept,
               .parts          = copy_parts(own, read),
               .row_count      = row_count_out,
    };
    set_stamp(stream, &read->stamp);
    stream->vectors = ARENA_ARRAY(own, ColumnVector, stream->stream.schema.column_count);
    if (!open_part(stream, read, err)) {
        table_close(&stream->stream);
        return false;
    }
    *out = &stream->stream;
    return true;
}
