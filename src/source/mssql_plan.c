/* mssql_plan.c - cuts a table into parts that are read side by side (algorithms.md 3.2; Q24, Q25,
 * Q28). */
#include "source/mssql_plan.h"

#include "base/limits.h"
#include "base/list.h"

const CaptureInstance *table_newest(const CaptureTable *table)
{
    return &table->instances[table->instance_count - 1];
}

void append_read_prefix(const Mssql *mssql, bool with_isolation, Buf *buf)
{
    if (mssql->options.lock_timeout_ms >= 0)
        buf_printf(buf, "SET LOCK_TIMEOUT %lld; ", (long long)mssql->options.lock_timeout_ms);
    if (with_isolation && mssql->options.isolation_snapshot)
        buf_append_c(buf, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; ");
}

bool table_name(const CaptureTable *table, Arena *arena, Str *out, Err *err)
{
    const CaptureInstance *instance = table_newest(table);

    if (!mssql_check_identifier(instance->source_schema, err) ||
        !mssql_check_identifier(instance->source_table, err))
        return false;
    *out = str_printf(arena, "%.*s.%.*s", STR_ARG(mssql_quote(arena, instance->source_schema)),
                      STR_ARG(mssql_quote(arena, instance->source_table)));
    return true;
}

bool plan_key_columns(const CaptureTable *table, const Str *names, size_t count, Arena *arena,
                      KeyColumn **out, bool *can_bound_out, Err *err)
{
    *out           = ARENA_ARRAY(arena, KeyColumn, count + 1);
    *can_bound_out = count > 0;
    for (size_t i = 0; i < count; i++) {
        const CapturedColumn *column = capture_find_newest(table->instances, table->instance_count,
                                                           names[i]);
        bool                  can;

        if (!column)
            return err_set(err, ERR_USAGE,
                           "snapshot_keys names %.*s, which capture instance %.*s does not capture",
                           STR_ARG(names[i]), STR_ARG(table_newest(table)->name));
        if (!key_column_plan(column, i + 1 == count, count == 1, arena, &(*out)[i], &can, err))
            return false;
        if (!can || !column->is_in_source || column->is_computed) *can_bound_out = false;
    }
    return true;
}

typedef struct Bound {
    KeyPart *parts; /* one per cut column */
} Bound;

typedef struct PlanCall {
    const CaptureTable *table;
    Str                 table_text;
    const KeyColumn    *columns;
    size_t              column_count;
    int64_t             partitions;
    Arena              *arena;
    SqlConn            *conn; /* a `table` connection, for nothing else */
    LIST(Bound) bounds;       /* between the parts */
} PlanCall;

/* --- one integer column --- */

/* Q24, READ COMMITTED. `is_empty_out`: no row with a value. */
static bool read_extent(const Mssql *mssql, PlanCall *call, Arena *scratch, int64_t *min_out,
                        int64_t *max_out, bool *is_empty_out, Err *err)
{
    const char *key   = str_c(scratch, mssql_quote(scratch, call->columns[0].name));
    const char *table = str_c(scratch, call->table_text);
    Buf         buf   = buf_new(scratch, 0);
    Rows        rows  = {0};

    append_read_prefix(mssql, false, &buf);
    buf_printf(
        &buf,
        "SELECT a.k AS key_min, z.k AS key_max\n"
        "FROM (SELECT TOP (1) t.%s AS k FROM %s AS t WHERE t.%s IS NOT NULL ORDER BY t.%s) AS a\n"
        "CROSS JOIN\n"
        "     (SELECT TOP (1) t.%s AS k FROM %s AS t WHERE t.%s IS NOT NULL ORDER BY t.%s DESC) AS "
        "z;",
        key, table, key, key, key, table, key, key);
    if (!mssql_rows_on(call->conn, buf_str(&buf), NULL, 0, 1, scratch, &rows, err)) return false;
    *is_empty_out = rows.block.row_count == 0;
    if (*is_empty_out) return true;
    *min_out = rows_i64(&rows, 0, 0, 0);
    *max_out = rows_i64(&rows, 0, 1, 0);
    return true;
}

__extension__ typedef __int128 Wide; /* MAX + 1 of a bigint */

static bool plan_integer(Mssql *mssql, PlanCall *call, Arena *scratch, Err *err)
{
    int64_t min = 0, max = 0;
    bool    is_empty = true;

    if (!read_extent(mssql, call, scratch, &min, &max, &is_empty, err)) return false;
    if (is_empty || min == max) return true;
    Wide    width = (Wide)max - min + 1;
    int64_t n     = width < call->partitions ? (int64_t)width : call->partitions;
    for (int64_t i = 1; i < n; i++) {
        KeyPart *bound = ARENA_NEW(call->arena, KeyPart);
        bound->text    = str_printf(call->arena, "%lld", (long long)((Wide)min + width * i / n));
        LIST_PUSH(call->arena, &call->bounds)->parts = bound;
    }
    return true;
}

/* --- any other key --- */

static bool read_row_estimate(PlanCall *call, Arena *scratch, int64_t *rows_out, Err *err) /* Q25 */
{
    SqlParam param = param_str(call->table_text);
    Rows     rows  = {0};
    size_t   at;

    *rows_out = 0;
    if (!mssql_rows_on(call->conn, STR("EXEC sys.sp_spaceused @objname = ?;"), &param, 1, 16,
                       scratch, &rows, err)) {
        if (err->native != 15009) return false;
        err_clear(err); /* not visible: nothing is known */
        return true;
    }
    if (rows.block.row_count == 0 || !rows_find(&rows, "rows", &at, err))
        return rows.block.row_count == 0;
    if (str_parse_i64(str_trim(rows_str(&rows, 0, at)), rows_out)) return true;
    *rows_out = rows_i64(&rows, 0, at, 0);
    return true;
}

static Str column_names(const PlanCall *call, const char *alias, Arena *arena)
{
    Buf buf = buf_new(arena, 0);

    for (size_t i = 0; i < call->column_count; i++) {
        if (i > 0) buf_append_c(&buf, ", ");
        if (alias[0]) buf_printf(&buf, "%s.", alias);
        buf_append_identifier(&buf, call->columns[i].name);
    }
    return buf_str(&buf);
}

/* Q28: the key that leaves n rows in [lo, key). */
static bool key_bound_text(const Mssql *mssql, const PlanCall *call, const KeyPart *lo, int64_t n,
                           Arena *arena, Str *text_out, KeyParams *params, Err *err)
{
    KeyPieces   pieces = key_pieces(arena, call->column_count, lo, NULL);
    const char *inner  = str_c(arena, column_names(call, "t", arena));
    const char *outer  = str_c(arena, column_names(call, "u", arena));
    Buf         buf    = buf_new(arena, 0);

    append_read_prefix(mssql, true, &buf);
    buf_printf(&buf, "SELECT %s\nFROM (", outer);
    for (size_t i = 0; i < pieces.piece_count; i++) {
        buf_printf(&buf, "%sSELECT p.* FROM (SELECT TOP (%lld) %s FROM %s AS t",
                   i ? "\n  UNION ALL " : "", (long long)n + 1, inner,
                   str_c(arena, call->table_text));
        if (pieces.pieces[i].term_count > 0) buf_append_c(&buf, " WHERE ");
        if (!key_piece_where(arena, &pieces.pieces[i], call->columns, call->column_count, lo, NULL,
                             &buf, params, err))
            return false;
        buf_printf(&buf, " ORDER BY %s) AS p", inner);
    }
    buf_printf(&buf, ") AS u\nORDER BY %s OFFSET %lld ROWS FETCH NEXT 1 ROWS ONLY;", outer,
               (long long)n);
    *text_out = buf_str(&buf);
    return true;
}

/* NULL when the range holds n rows or fewer. */
static bool seek_bound(const Mssql *mssql, PlanCall *call, const KeyPart *lo, int64_t n,
                       KeyPart **out, Err *err)
{
    Arena    *scratch = arena_new();
    KeyParams params  = {0};
    Rows      rows    = {0};
    Str       text;
    bool      ok = key_bound_text(mssql, call, lo, n, scratch, &text, &params, err) &&
              mssql_rows_on(call->conn, text, params.items, params.count, 1, scratch, &rows, err);

    *out = NULL;
    if (ok && rows.block.row_count == 1 && rows.block.column_count == call->column_count) {
        *out = ARENA_ARRAY(call->arena, KeyPart, call->column_count);
        for (size_t i = 0; i < call->column_count; i++)
            (*out)[i] = key_format_part(call->arena, call->columns[i].sql_type,
                                        &rows.block.columns[i], 0);
    }
    arena_close(scratch);
    return ok;
}

static bool same_bound(const KeyPart *left, const KeyPart *right, size_t count)
{
    if (!left) return false;
    for (size_t i = 0; i < count; i++)
        if (left[i].is_null != right[i].is_null ||
            (!left[i].is_null && !str_equal(left[i].text, right[i].text)))
            return false;
    return true;
}

/* A seek that ends where it began (the value repeats) goes twice as far. */
static bool next_bound(const Mssql *mssql, PlanCall *call, const KeyPart *lo, int64_t n,
                       KeyPart **out, Err *err)
{
    for (;; n *= 2) {
        if (!seek_bound(mssql, call, lo, n, out, err)) return false;
        if (!*out || !same_bound(lo, *out, call->column_count)) return true;
        if (n > INT64_MAX / 4)
            return err_set(err, ERR_INTERNAL, "no end of a repeated key was found");
    }
}

static bool plan_tiles(Mssql *mssql, PlanCall *call, Arena *scratch, Err *err)
{
    KeyPart *lo = NULL;
    int64_t  rows;

    if (!read_row_estimate(call, scratch, &rows, err)) return false;
    int64_t n = MIN(call->partitions, rows);
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t  size  = rows / n + (i < rows % n ? 1 : 0);
        KeyPart *bound = NULL;

        if (!next_bound(mssql, call, lo, size, &bound, err)) return false;
        if (!bound) break;
        LIST_PUSH(call->arena, &call->bounds)->parts = bound;
        lo                                           = bound;
    }
    return true;
}

static bool call_plan(Mssql *mssql, void *arg, Err *err)
{
    PlanCall *call    = arg;
    Arena    *scratch = arena_new();
    bool      ok;

    call->bounds.count = 0;
    ok                 = mssql_connect(mssql, CONN_TABLE, &call->conn, err);
    if (ok)
        ok = call->columns[0].is_inlined ? plan_integer(mssql, call, scratch, err)
                                         : plan_tiles(mssql, call, scratch, err);
    if (!ok && call->conn)
        mssql_explain_table_error(mssql, table_newest(call->table)->source_schema,
                                  table_newest(call->table)->source_table, err);
    sqlconn_close(call->conn);
    call->conn = NULL;
    arena_close(scratch);
    return ok;
}

bool mssql_plan_table(Mssql *mssql, const CaptureTable *table, const Str *snapshot_keys,
                      size_t snapshot_key_count, int64_t partitions, Arena *arena, TablePlan *out,
                      Err *err)
{
    const CaptureInstance *configured = &table->instances[table->configured];
    const Str             *names = snapshot_key_count ? snapshot_keys : configured->key_columns;
    size_t     count     = snapshot_key_count ? snapshot_key_count : configured->key_column_count;
    PlanCall   call      = {.table        = table,
                            .arena        = arena,
                            .column_count = count,
                            .partitions   = MIN(partitions, LIMIT_PARTITIONS)};
    KeyColumn *columns   = NULL;
    bool       can_bound = false;

    *out = (TablePlan){.partition_count = 1};
    if (!table_name(table, arena, &call.table_text, err)) return false;
    if (!plan_key_columns(table, names, count, arena, &columns, &can_bound, err)) return false;
    call.columns = columns;
    if (can_bound && partitions > 1 && !mssql_retry(mssql, "plan_table", call_plan, &call, err))
        return false;
    out->partition_count = call.bounds.count + 1;
    out->partitions      = ARENA_ARRAY(arena, TablePartition, out->partition_count);
    for (size_t i = 0; i < call.bounds.count; i++)
        out->partitions[i].hi = out->partitions[i + 1].lo = call.bounds.items[i].parts;
    if (call.bounds.count == 0) return true;

    Str *copies = ARENA_ARRAY(arena, Str, count);
    for (size_t i = 0; i < count; i++)
        copies[i] = str_copy(arena, names[i]);
    out->cut_columns      = copies;
    out->cut_column_count = count;
    return true;
}
