/* mssql_changes.c - the change rows of a range as bronze has them (Q16), and what is measured
 * around them (Q03, Q17; algorithms.md 2.6, 11).
 *
 * Rows stay columns: the driver's vectors of captured columns are handed on as they are; LSNs
 * become hex and a commit's time becomes UTC once per commit, not per row. */
#include "source/mssql_internal.h"

#include <math.h>
#include <string.h>

/* Q16's list starts with these. */
enum { AT_START_LSN, AT_SEQVAL, AT_OPERATION, AT_COMMAND_ID };

typedef struct ChangeStream {
    RowStream      stream;
    Mssql         *mssql;
    Arena         *arena;
    Arena         *block_arena;
    Arena         *constant_arena;
    SqlConn       *conn;
    SqlResult     *result;
    ChangeRange    range;
    ServerClock    clock; /* as it was when the range was opened */
    bool           has_command_id;
    SelectList     list;
    size_t         first_column; /* of the captured ones in Q16's list */
    RangeClock     range_clock;
    size_t         clock_at;
    ChangeMetrics *metrics;
    int64_t        started_ns;
    int64_t        wait_before_ms; /* -1: unknown */
    int32_t        batch_id;
    Str            instance_name;
    Lsn            commit_lsn; /* of the last row seen */
    int64_t        commit_utc_us;
    bool           has_commit;
    size_t         constant_rows; /* capacity of the constant columns */
    ColumnVector   name_column, batch_column, snapshot_column, chunk_column;
    ColumnVector  *vectors; /* of the block handed out */
    ColumnVector  *nulls;   /* per wanted column the instance lacks */
    bool           is_finished;
} ChangeStream;

/* --- measurements --- */

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
    return (double)(to_ns - from_ns) / 1e9;
}

/* Q02: its time is a metric, its failure the connection's. */
static bool measure_round_trip(ChangeStream *changes, Err *err)
{
    Clock  *clock   = changes->mssql->options.clock;
    int64_t before  = clock_monotonic_ns(clock);
    Arena  *scratch = arena_new();
    Rows    rows    = {0};
    bool    ok = mssql_rows_on(changes->conn, STR("SELECT 1;"), NULL, 0, 1, scratch, &rows, err);

    if (ok) changes->metrics->rtt_ms = seconds_between(before, clock_monotonic_ns(clock)) * 1e3;
    arena_close(scratch);
    return ok;
}

#define PROBE_SILENCE_S 10

/* A connection that answers, and how long that takes. A kept one may have died unseen (a firewall
 * forgets quiet ones): that is no failure of this read, the next one is tried, and a new one last. */
static bool connect_range(ChangeStream *changes, Err *err)
{
    Mssql              *mssql   = changes->mssql;
    const MssqlOptions *options = &mssql->options;

    for (;;) {
        if (!mssql_connect(mssql, CONN_CHANGE, &changes->conn, err)) return false;
        bool    is_kept = changes->conn->is_reused;
        int64_t limit_s = changes->conn->silence_timeout_s;
        if (is_kept) sqlconn_set_silence_timeout(changes->conn, PROBE_SILENCE_S);
        changes->started_ns = clock_monotonic_ns(options->clock);
        bool ok             = measure_round_trip(changes, err);
        sqlconn_set_silence_timeout(changes->conn, limit_s);
        if (ok || !is_kept || err->code != ERR_SOURCE) return ok;
        log_debug(options->log, "source", "a kept connection had died",
                  LOG_STR("capture_instance", options->name), LOG_TEXT("error", err->message));
        sqlconn_close(changes->conn);
        changes->conn = NULL;
        sqldriver_close_kept(options->driver, options->connection);
        err_clear(err);
    }
}

static SqlQuery network_wait_question(Arena *arena)
{
    return mssql_question(arena,
                          STR("SELECT COALESCE(MAX(w.wait_time_ms), 0) AS ms\n"
                              "FROM sys.dm_exec_session_wait_stats AS w\n"
                              "WHERE w.session_id = @@SPID AND w.wait_type = N'ASYNC_NETWORK_IO';"),
                          NULL, 0);
}

/* Q03: -1 when it cannot be told. A metric never fails a read. */
static int64_t network_wait_ms(SqlConn *conn)
{
    Arena   *scratch  = arena_new();
    SqlQuery question = network_wait_question(scratch);
    Err      ignored  = ERR_INIT;
    Rows     rows     = {0};
    int64_t  wait     = -1;

    if (mssql_answer_on(conn, &question, 1, scratch, &rows, &ignored) && rows.block.row_count == 1)
        wait = rows_i64(&rows, 0, 0, -1);
    arena_close(scratch);
    return wait;
}

/* Commit time of exactly this LSN, unset when it is none's or cannot be told. */
static OptTime exact_commit_time(const ChangeStream *changes, Lsn lsn)
{
    Err     ignored = ERR_INIT;
    OptTime time    = {0};
    Lsn     commit;
    bool    found;

    if (!mssql_commit_before_on(changes->conn, &changes->clock, lsn, &commit, &time, &found,
                                &ignored))
        return (OptTime){0};
    return found && lsn_equal(commit, lsn) ? time : (OptTime){0};
}

/* The commit times that measure_position asks for. False when there is nobody to ask any more. */
static bool ask_times_ahead(ChangeStream *changes, const Lsn *max_lsn)
{
    const ChangeMetrics *metrics   = changes->metrics;
    Arena               *arena     = arena_new();
    Questions           *questions = ARENA_NEW(arena, Questions);
    Err                  ignored   = ERR_INIT;
    bool                 ok;

    if (max_lsn) questions_add_commit_time(questions, arena, &changes->clock, *max_lsn);
    if (metrics->min_lsn_after_is_set)
        questions_add_commit_time(questions, arena, &changes->clock, metrics->min_lsn_after);
    questions_add_commit_time(questions, arena, &changes->clock, changes->range.batch_end);
    ok = mssql_ask_ahead_on(changes->conn, questions, &ignored);
    arena_close(arena);
    return ok;
}

/* The stream's position, after the batch's last range alone (Q17). */
static void measure_position(ChangeStream *changes)
{
    ChangeMetrics *metrics = changes->metrics;
    Err            ignored = ERR_INIT;
    Lsn            max_lsn;
    bool           is_null = true;

    if (!mssql_max_lsn_on(changes->conn, &max_lsn, &is_null, &ignored)) is_null = true;
    if (!ask_times_ahead(changes, is_null ? NULL : &max_lsn)) return;
    if (!is_null) {
        metrics->source_max_commit_ts = exact_commit_time(changes, max_lsn);
        if (metrics->source_max_commit_ts.is_set)
            metrics->capture_lag_seconds = (double)(clock_utc_us(changes->mssql->options.clock) -
                                                    metrics->source_max_commit_ts.utc_us) /
                                           1e6;
    }
    if (metrics->min_lsn_after_is_set)
        metrics->retention_watermark_ts = exact_commit_time(changes, metrics->min_lsn_after);
    metrics->end_commit_ts = exact_commit_time(changes, changes->range.batch_end);
}

/* What is asked once the rows are read, the low end first: it must be younger than every row. */
static bool ask_after_ahead(ChangeStream *changes, Err *err)
{
    Arena     *arena     = arena_new();
    Questions *questions = ARENA_NEW(arena, Questions);
    bool       ok;

    questions_add(questions, mssql_min_lsn_question(arena, changes->instance_name));
    if (changes->wait_before_ms >= 0) questions_add(questions, network_wait_question(arena));
    if (changes->range.is_last) questions_add(questions, mssql_max_lsn_question(arena));
    ok = mssql_ask_ahead_on(changes->conn, questions, err);
    arena_close(arena);
    return ok;
}

static bool finish(ChangeStream *changes, Err *err)
{
    ChangeMetrics *metrics = changes->metrics;

    sqlresult_close(changes->result);
    changes->result      = NULL;
    changes->is_finished = true;
    if (!ask_after_ahead(changes, err)) return false;
    if (!mssql_min_lsn_on(changes->conn, changes->instance_name, &metrics->min_lsn_after,
                          &metrics->min_lsn_after_is_set, err))
        return false;
    metrics->read_seconds = seconds_between(changes->started_ns,
                                            clock_monotonic_ns(changes->mssql->options.clock));
    int64_t wait_after    = changes->wait_before_ms < 0 ? -1 : network_wait_ms(changes->conn);
    if (wait_after >= 0) metrics->network_wait_ms = MAX(wait_after - changes->wait_before_ms, 0);
    if (changes->range.is_last) measure_position(changes);
    sqlconn_forget_ahead(changes->conn);
    return true;
}

/* --- rows --- */

static void count_operations(ChangeMetrics *metrics, const ColumnVector *operations,
                             size_t row_count)
{
    const int32_t *data = operations->data;

    for (size_t i = 0; i < row_count; i++) {
        metrics->deletes += data[i] == 1;
        metrics->inserts += data[i] == 2;
        metrics->updates += data[i] == 4;
    }
    metrics->rows += (int64_t)row_count;
}

static char *put_lsn(char *out, Str bytes)
{
    static const char digits[] = "0123456789ABCDEF";

    *out++ = '0';
    *out++ = 'x';
    for (size_t i = 0; i < LSN_BYTES; i++) {
        uint8_t byte = (uint8_t)bytes.ptr[i];
        *out++       = digits[byte >> 4];
        *out++       = digits[byte & 15];
    }
    return out;
}

static bool check_lsns(const ColumnVector *column, size_t row_count, Err *err)
{
    const Str *data   = column->data;
    bool       is_bad = false;

    for (size_t i = 0; i < row_count; i++)
        is_bad |= data[i].len != LSN_BYTES;
    return !is_bad ||
           err_set(err, ERR_QUERY, "the change table holds an LSN of another length than 10 bytes");
}

static ColumnVector format_lsns(Arena *arena, const ColumnVector *column, size_t row_count)
{
    const Str *data = column->data;
    Str       *strs = arena_alloc_uninit(arena, (row_count + 1) * sizeof(Str));
    char      *text = arena_alloc_uninit(arena, row_count * LSN_TEXT_CHARS + 1);

    for (size_t i = 0; i < row_count; i++) {
        strs[i] = (Str){text, LSN_TEXT_CHARS};
        text    = put_lsn(text, data[i]);
    }
    return (ColumnVector){COLUMN_TYPE(TYPE_STRING), strs, NULL};
}

static void note_commit_time(ChangeMetrics *metrics, int64_t utc_us)
{
    if (!metrics->min_commit_ts.is_set || utc_us < metrics->min_commit_ts.utc_us)
        metrics->min_commit_ts = (OptTime){true, utc_us};
    if (!metrics->max_commit_ts.is_set || utc_us > metrics->max_commit_ts.utc_us)
        metrics->max_commit_ts = (OptTime){true, utc_us};
}

/* Commit LSNs as text and their times as UTC: both made once per commit, whose rows stand together.
 */
static bool convert_commits(ChangeStream *changes, const ColumnVector *lsns,
                            const ColumnVector *times, size_t row_count, ColumnVector *lsns_out,
                            ColumnVector *times_out, Err *err)
{
    const Str     *lsn_data  = lsns->data;
    const int64_t *time_data = times->data;
    Str           *strs = arena_alloc_uninit(changes->block_arena, (row_count + 1) * sizeof(Str));
    int64_t       *utc  = arena_alloc_uninit(changes->block_arena, (row_count + 1) * sizeof(*utc));
    Str            text = STR_EMPTY;

    if (times->validity)
        return err_set(err, ERR_QUERY, "cdc.lsn_time_mapping holds a commit without a time");
    for (size_t i = 0; i < row_count; i++) {
        bool is_same = changes->has_commit &&
                       memcmp(lsn_data[i].ptr, changes->commit_lsn.bytes, LSN_BYTES) == 0;
        if (!is_same) {
            memcpy(changes->commit_lsn.bytes, lsn_data[i].ptr, LSN_BYTES);
            if (!changes->has_commit) changes->metrics->min_lsn = changes->commit_lsn;
            changes->has_commit    = true;
            changes->commit_utc_us = range_clock_to_utc(&changes->range_clock, changes->commit_lsn,
                                                        time_data[i], &changes->clock_at);
            note_commit_time(changes->metrics, changes->commit_utc_us);
        }
        if (!is_same || text.len == 0) {
            char *chars = arena_alloc_uninit(changes->block_arena, LSN_TEXT_CHARS);
            put_lsn(chars, lsn_data[i]);
            text = (Str){chars, LSN_TEXT_CHARS};
        }
        strs[i] = text;
        utc[i]  = changes->commit_utc_us;
    }
    changes->metrics->max_lsn = changes->commit_lsn;
    *lsns_out                 = (ColumnVector){COLUMN_TYPE(TYPE_STRING), strs, NULL};
    *times_out                = (ColumnVector){COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), utc, NULL};
    return true;
}

/* What is the same in every row, made for the largest block seen. */
static void ensure_constants(ChangeStream *changes, size_t row_count)
{
    Arena *arena = changes->constant_arena;

    if (row_count <= changes->constant_rows) return;
    arena_reset(arena);
    changes->constant_rows   = row_count;
    changes->name_column     = str_column(arena, changes->instance_name, row_count);
    changes->batch_column    = i32_column(arena, changes->batch_id, row_count);
    changes->snapshot_column = null_column(arena, COLUMN_TYPE(TYPE_STRING), row_count);
    changes->chunk_column    = null_column(arena, COLUMN_TYPE(TYPE_INTEGER), row_count);

    const Schema *schema = &changes->stream.schema;
    size_t        lead   = changes->has_command_id ? 6 : 5;
    for (size_t i = 0; i + lead + 3 < schema->column_count; i++)
        if (changes->list.positions[i] < 0)
            changes->nulls[i] = null_column(arena, schema->columns[lead + i].type, row_count);
}

/* Bytes of the rows as columns: metadata and captured, not the sink's (algorithms.md 11). */
static int64_t size_of_columns(const ColumnVector *vectors, size_t column_count, size_t row_count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < column_count; i++)
        bytes += column_size_bytes(&vectors[i], row_count);
    return (int64_t)bytes;
}

static bool convert_block(ChangeStream *changes, const RowBlock *block, RowBlock *out, Err *err)
{
    const ColumnVector *from  = block->columns;
    ColumnVector       *to    = changes->vectors;
    size_t              rows  = block->row_count;
    size_t              count = 0;
    size_t       captured = changes->stream.schema.column_count - (changes->has_command_id ? 9 : 8);
    size_t       time_at  = changes->first_column - 1;
    ColumnVector lsns, times;

    arena_reset(changes->block_arena);
    ensure_constants(changes, rows);
    if (!check_lsns(&from[AT_START_LSN], rows, err) || !check_lsns(&from[AT_SEQVAL], rows, err))
        return false;
    if (!convert_commits(changes, &from[AT_START_LSN], &from[time_at], rows, &lsns, &times, err))
        return false;
    to[count++] = changes->name_column;
    to[count++] = lsns;
    to[count++] = format_lsns(changes->block_arena, &from[AT_SEQVAL], rows);
    to[count++] = from[AT_OPERATION];
    if (changes->has_command_id) to[count++] = from[AT_COMMAND_ID];
    to[count++] = times;
    for (size_t i = 0; i < captured; i++)
        to[count++] = changes->list.positions[i] < 0
                          ? changes->nulls[i]
                          : from[changes->first_column + (size_t)changes->list.positions[i]];
    changes->metrics->read_bytes += size_of_columns(to, count, rows);
    to[count++] = changes->batch_column;
    to[count++] = changes->snapshot_column;
    to[count++] = changes->chunk_column;
    count_operations(changes->metrics, &from[AT_OPERATION], rows);
    *out = (RowBlock){to, count, rows};
    return true;
}

static bool changes_next(RowStream *stream, RowBlock *out, Err *err)
{
    ChangeStream *changes = (ChangeStream *)stream;
    RowBlock      block   = {0};

    *out = (RowBlock){.columns = changes->vectors, .column_count = stream->schema.column_count};
    if (changes->is_finished) return true;
    if (!sqlresult_next(changes->result, &block, err)) {
        sqlresult_close(changes->result);
        changes->result = NULL;
        return mssql_explain_change_error(changes->mssql, changes->conn, changes->instance_name,
                                          err);
    }
    if (block.row_count == 0) return finish(changes, err);
    return convert_block(changes, &block, out, err);
}

static void changes_release(RowStream *stream)
{
    row_stream_release(&((ChangeStream *)stream)->result->stream);
}

static void changes_close(RowStream *stream)
{
    ChangeStream *changes = (ChangeStream *)stream;

    sqlresult_close(changes->result);
    mssql_give_back(changes->mssql, CONN_CHANGE, changes->conn);
    arena_close(changes->block_arena);
    arena_close(changes->constant_arena);
    arena_close(changes->arena); /* the stream lives in it */
}

/* --- opening --- */

static Str change_text(const ChangeStream *changes, Arena *arena)
{
    const char *command = changes->has_command_id ? " c.[__$command_id]," : "";
    Buf         buf     = buf_new(arena, 0);

    buf_printf(&buf,
               "SELECT c.[__$start_lsn], c.[__$seqval], c.[__$operation],%s\n       "
               "m.tran_end_time AS [__$commit_time]",
               command);
    if (changes->list.column_count > 0) {
        buf_append_c(&buf, ", ");
        buf_append(&buf, changes->list.text);
    }
    buf_printf(&buf,
               "\nFROM %s AS c\n"
               "INNER JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]\n"
               "WHERE c.[__$start_lsn] >= CONVERT(binary(10), ?, 1)\n"
               "  AND c.[__$start_lsn] <= CONVERT(binary(10), ?, 1)\n"
               "ORDER BY c.[__$start_lsn],%s c.[__$seqval], c.[__$operation];",
               str_c(arena, mssql_change_table(arena, changes->instance_name)), command);
    return buf_str(&buf);
}

/* The types that the rows are wanted in. */
static Schema expected_schema(Arena *arena, const Schema *columns)
{
    Column *expected = ARENA_ARRAY(arena, Column, columns->column_count + 2);

    expected[0] = (Column){STR("__$operation"), COLUMN_TYPE(TYPE_INTEGER), STR_EMPTY};
    expected[1] = (Column){STR("__$command_id"), COLUMN_TYPE(TYPE_INTEGER), STR_EMPTY};
    for (size_t i = 0; i < columns->column_count; i++)
        expected[i + 2] = columns->columns[i];
    return (Schema){expected, columns->column_count + 2};
}

/* Types are asserted further on: the server's answer is checked here. */
static bool check_result(const ChangeStream *changes, const Schema *columns, Err *err)
{
    const Schema *schema = &changes->result->stream.schema;
    bool          ok = schema->column_count == changes->first_column + changes->list.column_count &&
              schema->columns[AT_START_LSN].type.kind == TYPE_BINARY &&
              schema->columns[AT_SEQVAL].type.kind == TYPE_BINARY &&
              schema->columns[AT_OPERATION].type.kind == TYPE_INTEGER &&
              schema->columns[changes->first_column - 1].type.kind == TYPE_TIMESTAMP_NTZ;

    if (ok && changes->has_command_id)
        ok = schema->columns[AT_COMMAND_ID].type.kind == TYPE_INTEGER;
    for (size_t i = 0; ok && i < columns->column_count; i++) {
        ptrdiff_t at = changes->list.positions[i];
        ok = at < 0 || column_type_equal(schema->columns[changes->first_column + (size_t)at].type,
                                         columns->columns[i].type);
    }
    return ok || err_set(err, ERR_QUERY,
                         "the change table of %.*s answered with other columns than asked for",
                         STR_ARG(changes->instance_name));
}

static bool ask_before_ahead(ChangeStream *changes, Err *err)
{
    Arena     *arena     = arena_new();
    Questions *questions = ARENA_NEW(arena, Questions);
    bool       ok;

    questions_add(questions, network_wait_question(arena));
    if (changes->clock.kind == SERVER_CLOCK_ZONE)
        questions_add(questions,
                      mssql_range_offsets_question(arena, &changes->clock, changes->range.from,
                                                   changes->range.to));
    ok = mssql_ask_ahead_on(changes->conn, questions, err);
    arena_close(arena);
    return ok;
}

static bool open_range(ChangeStream *changes, const Schema *columns, Err *err)
{
    const ChangeRange *range    = &changes->range;
    Arena             *arena    = changes->arena;
    SqlParam           params[] = {param_lsn(arena, range->from), param_lsn(arena, range->to)};
    Schema             expect   = expected_schema(arena, columns);
    SqlQuery           query    = {.params      = params,
                                   .param_count = 2,
                                   .fetch_rows  = changes->mssql->options.fetch_rows,
                                   .expect      = &expect};

    if (!mssql_check_capture_instance(changes->instance_name, err)) return false;
    if (!mssql_select_list(range->instance, 1, columns, false, "c", arena, &changes->list, err))
        return false;
    if (!connect_range(changes, err) || !ask_before_ahead(changes, err)) return false;
    changes->wait_before_ms = network_wait_ms(changes->conn);
    if (!mssql_range_clock_on(changes->conn, &changes->clock, range->from, range->to, arena,
                              &changes->range_clock, err))
        return false;
    query.text = change_text(changes, arena);
    if (!sqlconn_query(changes->conn, &query, &changes->result, err))
        return mssql_explain_change_error(changes->mssql, changes->conn, changes->instance_name,
                                          err);
    return check_result(changes, columns, err);
}

bool mssql_read_changes(Mssql *mssql, const ChangeRange *range, const Schema *columns,
                        int64_t batch_id, Arena *arena, ChangeMetrics *metrics, RowStream **out,
                        Err *err)
{
    Arena        *own     = arena_new();
    ChangeStream *changes = ARENA_NEW(own, ChangeStream);
    bool          with_id = mssql->options.include_command_id;
    Schema        kept    = schema_copy(own, columns);

    (void)arena; /* the stream has its own, which closing frees */
    *out     = NULL;
    *metrics = (ChangeMetrics){.rtt_ms              = -1,
                               .network_wait_ms     = -1,
                               .capture_lag_seconds = (double)NAN,
                               .is_last             = range->is_last};
    *changes = (ChangeStream){
        .stream         = {.schema  = bronze_row_schema(own, &kept, with_id),
                           .next    = changes_next,
                           .close   = changes_close,
                           .release = changes_release},
        .mssql          = mssql,
        .arena          = own,
        .block_arena    = arena_new(),
        .constant_arena = arena_new(),
        .range          = *range,
        .clock          = mssql->clock,
        .has_command_id = with_id,
        .first_column   = with_id ? 5 : 4,
        .metrics        = metrics,
        .wait_before_ms = -1,
        .batch_id       = (int32_t)batch_id,
        .instance_name  = str_copy(own, range->instance->name),
    };
    changes->vectors = ARENA_ARRAY(own, ColumnVector, changes->stream.schema.column_count);
    changes->nulls   = ARENA_ARRAY(own, ColumnVector, columns->column_count + 1);
    if (!open_range(changes, columns, err)) {
        changes_close(&changes->stream);
        return false;
    }
    *out = &changes->stream;
    return true;
}
