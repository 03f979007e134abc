/* sim_sqlconn.c - a SimSink that gathers rows, and the blocks made of them. */
#include "support/sim_sqlconn.h"

#include "base/buf.h"
#include "base/list.h"
#include "types/column_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAYS_TO_1970       719162
#define US_PER_DAY         INT64_C(86400000000)
#define DEFAULT_FETCH_ROWS 10000
#define PROC_EXECUTESQL    10

typedef struct SimDriver {
    SqlDriver     base;
    SimSqlOptions options;
    Arena        *arena;
    LIST(SimSqlFault) faults;
    LIST(Str) statements;
    int     opened, open_now;
    Clock  *clock; /* sim_sql_driver_set_link; NULL: statements go one by one */
    int64_t latency_ms, row_ms;
} SimDriver;

typedef struct SimConn {
    SqlConn     base;
    SimDriver  *driver;
    SimSession *session;
    Arena      *arena;
    bool        is_dead;
} SimConn;

/* A result with columns. */
typedef struct SimSet {
    LIST(const SimValue *) rows;
    SimResultColumn *columns;
    size_t           column_count;
} SimSet;

/* What the sink gathers, then a stream of blocks, result by result. */
typedef struct SimRows {
    SqlResult base; /* first member: its stream is closed through it */
    SimSink   sink;
    SimConn  *conn;
    Arena    *arena;
    Arena    *block_arena;
    LIST(SimSet) sets;
    size_t        set;      /* the one that is read */
    bool          has_more; /* results behind the first are wanted */
    bool          is_over;  /* the newest result has ended */
    SimError      error;    /* first of the request */
    size_t        error_at; /* behind so many results; in the last of them unless is_between */
    bool          error_is_between;
    const Schema *expect;
    size_t        at;
    size_t        fetch_rows;
} SimRows;

/* --- gathering --- */

static bool sink_columns(SimSink *sink, const SimResultColumn *columns, size_t count)
{
    SimRows *rows = (SimRows *)((char *)sink - offsetof(SimRows, sink));

    if (rows->sets.count > 0 && !rows->has_more) {
        rows->is_over = true;
        return true;
    }
    SimSet *set       = LIST_PUSH(rows->arena, &rows->sets);
    rows->is_over     = false;
    set->column_count = count;
    set->columns      = ARENA_ARRAY(rows->arena, SimResultColumn, count + 1);
    for (size_t i = 0; i < count; i++) {
        set->columns[i]      = columns[i];
        set->columns[i].name = str_copy(rows->arena, columns[i].name);
    }
    return true;
}

static bool sink_row(SimSink *sink, const SimValue *values, size_t count)
{
    SimRows  *rows = (SimRows *)((char *)sink - offsetof(SimRows, sink));
    SimValue *copy;

    if (rows->is_over || rows->sets.count == 0) return true;
    copy = ARENA_ARRAY(rows->arena, SimValue, count + 1);
    for (size_t i = 0; i < count; i++)
        copy[i] = sim_value_copy(rows->arena, &values[i]);
    *LIST_PUSH(rows->arena, &rows->sets.items[rows->sets.count - 1].rows) = copy;
    return true;
}

static bool sink_message(SimSink *sink, const SimError *message)
{
    SimRows *rows = (SimRows *)((char *)sink - offsetof(SimRows, sink));

    if (message->severity <= 10 || rows->error.number != 0) return true;
    rows->error            = *message;
    rows->error_at         = rows->sets.count;
    rows->error_is_between = rows->is_over;
    return true;
}

static bool sink_done(SimSink *sink, const SimDone *done)
{
    SimRows *rows = (SimRows *)((char *)sink - offsetof(SimRows, sink));

    (void)done;
    if (rows->sets.count > 0) rows->is_over = true;
    return true;
}

static bool sink_env_change(SimSink *sink, SimEnvKind kind, Bytes new_value, Bytes old_value)
{
    (void)sink, (void)kind, (void)new_value, (void)old_value;
    return true;
}

static bool sink_return_status(SimSink *sink, int32_t status)
{
    (void)sink, (void)status;
    return true;
}

static bool sink_return_value(SimSink *sink, Str name, const SimValue *value)
{
    (void)sink, (void)name, (void)value;
    return true;
}

/* --- errors --- */

/* The SQLSTATE a driver gives for a server error. */
static const char *sqlstate_of(const SimError *error)
{
    switch (error->number) {
    case 1205: return "40001";
    case 18456: return "28000";
    case 208: return "42S02";
    case 207: return "42S22";
    case 2601:
    case 2627: return "23000";
    default: return error->severity >= 20 ? "08S01" : "42000";
    }
}

static bool fail_with(Err *err, int32_t native, const char *sqlstate, const char *message)
{
    err_set(err, sql_error_classify(native, sqlstate), "%s", message);
    err->native = native;
    (void)snprintf(err->sqlstate, sizeof err->sqlstate, "%s", sqlstate);
    return false;
}

static bool check_alive(const SimDriver *driver, Err *err)
{
    sched_point(driver->options.sched, "sql");
    return !(driver->options.process && driver->options.process->has_crashed) ||
           err_set(err, ERR_FAILED, "this process has died");
}

/* The hook, then the faults that the test planned. */
static bool meet_fate(SimDriver *driver, SimConn *conn, Str sql, Err *err)
{
    if (driver->options.on_query) driver->options.on_query(driver->options.on_query_arg, sql);
    *LIST_PUSH(driver->arena, &driver->statements) = str_copy(driver->arena, sql);
    for (size_t i = 0; i < driver->faults.count; i++) {
        SimSqlFault *fault = &driver->faults.items[i];
        if (str_find(sql, str_from_c(fault->expect), 0) < 0) continue;
        if (fault->skip > 0) {
            fault->skip--;
            continue;
        }
        if (fault->times == 0) continue;
        fault->times--;
        if (conn) conn->is_dead = conn->is_dead || fault->kills;
        return fail_with(err, fault->native, fault->sqlstate, "planned by the test");
    }
    return true;
}

/* --- values --- */

static Str guid_text(Arena *arena, Bytes wire)
{
    const uint8_t *b = wire.ptr;

    return str_printf(arena, "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X",
                      b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8], b[9], b[10], b[11],
                      b[12], b[13], b[14], b[15]);
}

static Str time_text(Arena *arena, int64_t ticks)
{
    int64_t seconds = ticks / 10000000;

    return str_printf(arena, "%02lld:%02lld:%02lld.%09lld", (long long)(seconds / 3600),
                      (long long)(seconds / 60 % 60), (long long)(seconds % 60),
                      (long long)(ticks % 10000000 * 100));
}

static int64_t time_us(const SimValue *value)
{
    int64_t days = (int64_t)value->time.days - DAYS_TO_1970;

    switch (value->type.kind) {
    case SIM_DATE: return days * US_PER_DAY;
    case SIM_SMALLDATETIME: return days * US_PER_DAY + value->time.ticks * 60000000;
    case SIM_DATETIME: return days * US_PER_DAY + (value->time.ticks * 10 + 1) / 3 * 1000;
    default: return days * US_PER_DAY + value->time.ticks / 10;
    }
}

static Int128 rescale(Int128 unscaled, int digits)
{
    __extension__ typedef __int128 Wide;
    Wide value = (Wide)unscaled.upper * ((Wide)1 << 64) + (Wide)unscaled.lower;

    for (int i = 0; i < digits; i++)
        value *= 10;
    return (Int128){.lower = (uint64_t)value, .upper = (int64_t)(value >> 64)};
}

/* A number into a column that holds it, or says that it does not. */
static bool put_integer(RowBuilder *builder, size_t column, ColumnType type, int64_t value,
                        int scale, Err *err)
{
    int64_t limit = type.kind == TYPE_SHORT     ? INT16_MAX
                    : type.kind == TYPE_INTEGER ? INT32_MAX
                                                : INT64_MAX;

    if (type.kind == TYPE_DECIMAL) {
        row_builder_set_decimal(builder, column,
                                rescale(int128_from_i64(value), type.scale - scale));
    } else if (type.kind == TYPE_DOUBLE || type.kind == TYPE_FLOAT) {
        row_builder_set_double(builder, column, (double)value);
    } else {
        if (value > limit || value < -limit - 1)
            return err_set(err, ERR_SCHEMA_CHANGED, "a value does not fit its column");
        row_builder_set_i64(builder, column, value);
    }
    return true;
}

static bool put_value(RowBuilder *builder, size_t column, ColumnType type, const SimValue *value,
                      Arena *arena, Err *err)
{
    if (value->is_null) return true;
    switch (value->type.kind) {
    case SIM_BIT:
    case SIM_TINYINT:
    case SIM_SMALLINT:
    case SIM_INT:
    case SIM_BIGINT: return put_integer(builder, column, type, value->i64, 0, err);
    case SIM_MONEY:
    case SIM_SMALLMONEY: return put_integer(builder, column, type, value->i64, 4, err);
    case SIM_REAL:
    case SIM_FLOAT: row_builder_set_double(builder, column, value->f64); return true;
    case SIM_DECIMAL:
        row_builder_set_decimal(builder, column,
                                rescale(value->dec, type.scale - value->type.scale));
        return true;
    case SIM_DATE:
        row_builder_set_i64(builder, column,
                            type.kind == TYPE_DATE ? value->time.days - DAYS_TO_1970
                                                   : time_us(value));
        return true;
    case SIM_DATETIME:
    case SIM_SMALLDATETIME:
    case SIM_DATETIME2:
    case SIM_DATETIMEOFFSET: row_builder_set_i64(builder, column, time_us(value)); return true;
    case SIM_TIME:
        row_builder_set_str(builder, column, time_text(arena, value->time.ticks));
        return true;
    case SIM_CHAR:
    case SIM_VARCHAR:
    case SIM_TEXT:
    case SIM_NCHAR:
    case SIM_NVARCHAR:
    case SIM_NTEXT:
    case SIM_XML: row_builder_set_str(builder, column, sim_value_text(arena, value)); return true;
    case SIM_UNIQUEIDENTIFIER:
        row_builder_set_str(builder, column, guid_text(arena, value->bytes));
        return true;
    case SIM_BINARY:
    case SIM_VARBINARY:
    case SIM_IMAGE:
    case SIM_ROWVERSION: row_builder_set_str(builder, column, bytes_str(value->bytes)); return true;
    case SIM_VARIANT: break;
    }
    return err_set(err, ERR_UNSUPPORTED, "a sql_variant cannot be read");
}

/* --- a result --- */

/* As the driver has it: such a row ends its block. */
static bool is_large_row(const SimRows *rows, const SimValue *values, size_t count)
{
    size_t least = rows->conn->driver->options.large_row_bytes, bytes = 0;

    if (least == 0) return false;
    for (size_t i = 0; i < count; i++)
        if (!values[i].is_null && sim_type_is_text(values[i].type.kind))
            bytes += values[i].bytes.len;
    return bytes >= least;
}

static bool rows_next(RowStream *stream, RowBlock *out, Err *err)
{
    SimRows    *rows = (SimRows *)stream;
    RowBuilder *builder;
    SimSet      none = {0};
    SimSet     *set  = rows->set < rows->sets.count ? &rows->sets.items[rows->set] : &none;

    *out = (RowBlock){.column_count = set->column_count};
    if (!check_alive(rows->conn->driver, err)) return false;
    arena_reset(rows->block_arena);
    builder = row_builder_new(rows->block_arena, &stream->schema);
    for (size_t n = 0; n < rows->fetch_rows && rows->at < set->rows.count; n++) {
        const SimValue *values = set->rows.items[rows->at++];
        row_builder_begin(builder);
        for (size_t i = 0; i < set->column_count; i++)
            if (!put_value(builder, i, stream->schema.columns[i].type, &values[i],
                           rows->block_arena, err))
                return false;
        if (is_large_row(rows, values, set->column_count)) break;
    }
    *out = row_builder_block(builder);
    if (rows->conn->driver->clock && rows->expect) /* rows of a table */
        clock_sleep_ms(rows->conn->driver->clock,
                       rows->conn->driver->row_ms * (int64_t)out->row_count, NULL);
    if (out->row_count > 0 || rows->error.number == 0) return true;
    if (rows->has_more && (rows->error_is_between || rows->error_at != rows->set + 1)) return true;
    return fail_with(err, rows->error.number, sqlstate_of(&rows->error), rows->error.message);
}

static void rows_release(RowStream *stream)
{
    arena_reset(((SimRows *)stream)->block_arena);
}

static void rows_close(RowStream *stream)
{
    SimRows *rows = (SimRows *)stream;

    arena_close(rows->block_arena);
    arena_close(rows->arena); /* the result lives in it */
}

/* The block's type of a column: its own, or the wider one that is expected. */
static bool choose_type(const SimResultColumn *column, SqlTypeKind kind, const Schema *expect,
                        ColumnType *out, Err *err)
{
    ptrdiff_t at = expect ? schema_find(expect, column->name) : -1;
    bool      is_integer;

    if (!sql_type_to_column_type(kind, column->type.precision, column->type.scale, out))
        return err_set(err, ERR_UNSUPPORTED, "column %.*s has a type that cannot be read",
                       STR_ARG(column->name));
    if (at < 0 || column_type_equal(*out, expect->columns[at].type)) return true;
    is_integer = sim_type_is_integer(column->type.kind) &&
                 (expect->columns[at].type.kind == TYPE_SHORT ||
                  expect->columns[at].type.kind == TYPE_INTEGER ||
                  expect->columns[at].type.kind == TYPE_LONG);
    if (!is_integer && !column_type_fits(*out, kind == SQL_TYPE_TINYINT, expect->columns[at].type))
        return err_set(err, ERR_SCHEMA_CHANGED, "column %.*s comes as a type that does not fit",
                       STR_ARG(column->name));
    *out = expect->columns[at].type;
    return true;
}

static bool describe(SimRows *rows, Err *err)
{
    SimSet       none    = {0};
    SimSet      *set     = rows->set < rows->sets.count ? &rows->sets.items[rows->set] : &none;
    Column      *columns = ARENA_ARRAY(rows->arena, Column, set->column_count + 1);
    SqlTypeKind *kinds   = ARENA_ARRAY(rows->arena, SqlTypeKind, set->column_count + 1);

    for (size_t i = 0; i < set->column_count; i++) {
        columns[i].name = set->columns[i].name;
        kinds[i]        = sql_type_kind(str_from_c(sim_type_name(set->columns[i].type.kind)));
        if (!choose_type(&set->columns[i], kinds[i], rows->expect, &columns[i].type, err))
            return false;
    }
    rows->base.stream.schema = (Schema){.columns = columns, .column_count = set->column_count};
    rows->base.sql_types     = kinds;
    return true;
}

static bool rows_next_result(SqlResult *base, bool *has_out, Err *err)
{
    SimRows *rows = (SimRows *)base;

    *has_out = false;
    if (!check_alive(rows->conn->driver, err)) return false;
    if (rows->error.number != 0 && rows->error_is_between && rows->error_at == rows->set + 1)
        return fail_with(err, rows->error.number, sqlstate_of(&rows->error), rows->error.message);
    if (rows->set + 1 >= rows->sets.count) return true;
    rows->set++;
    rows->at = 0;
    *has_out = true;
    return describe(rows, err);
}

/* --- statements --- */

/* '?' outside of quotes, brackets and comments becomes @P1, @P2, ... */
static Str number_parameters(Arena *arena, Str sql)
{
    Buf    buf    = buf_new(arena, 0);
    char   end    = 0; /* of what the position is in */
    size_t number = 0;

    for (size_t i = 0; i < sql.len; i++) {
        char c = sql.ptr[i];
        if (end) {
            if (c == end) end = 0;
        } else if (c == '\'' || c == '"') {
            end = c;
        } else if (c == '[') {
            end = ']';
        } else if (c == '-' && i + 1 < sql.len && sql.ptr[i + 1] == '-') {
            end = '\n';
        } else if (c == '?') {
            buf_printf(&buf, "@P%zu", ++number);
            continue;
        }
        buf_append_char(&buf, c);
    }
    return buf_str(&buf);
}

static bool run_with_parameters(SimRows *rows, const SqlQuery *query)
{
    Arena        *arena        = rows->arena;
    SimParameter *params       = ARENA_ARRAY(arena, SimParameter, query->param_count + 2);
    Buf           declarations = buf_new(arena, 0);

    for (size_t i = 0; i < query->param_count; i++) {
        SimValue value = sim_nvarchar(arena, query->params[i].text);
        if (query->params[i].is_null) value = sim_null(value.type);
        params[i + 2] = (SimParameter){.name = str_printf(arena, "@P%zu", i + 1), .value = value};
        buf_printf(&declarations, "%s@P%zu nvarchar(4000)", i ? "," : "", i + 1);
    }
    params[0].value = sim_nvarchar(arena, number_parameters(arena, query->text));
    params[1].value = sim_nvarchar(arena, buf_str(&declarations));
    return sim_session_rpc(rows->conn->session, PROC_EXECUTESQL, STR_EMPTY, params,
                           query->param_count + 2, &rows->sink);
}

static bool conn_query(SqlConn *base, const SqlQuery *query, SqlResult **out, Err *err)
{
    SimConn *conn = (SimConn *)base;
    Arena   *arena;
    SimRows *rows;
    bool     stays_open;

    if (!check_alive(conn->driver, err)) return false;
    if (conn->driver->clock) clock_sleep_ms(conn->driver->clock, conn->driver->latency_ms, NULL);
    if (conn->is_dead) return fail_with(err, 0, "08S01", "the connection is dead");
    if (!meet_fate(conn->driver, conn, query->text, err)) return false;
    arena                     = arena_new();
    rows                      = ARENA_NEW(arena, SimRows);
    *rows                     = (SimRows){.conn        = conn,
                                          .arena       = arena,
                                          .block_arena = arena_new(),
                                          .has_more    = query->has_more,
                                          .expect      = query->expect,
                                          .fetch_rows  = query->fetch_rows > 0 ? (size_t)query->fetch_rows
                                                                               : DEFAULT_FETCH_ROWS};
    rows->sink                = (SimSink){.columns       = sink_columns,
                                          .row           = sink_row,
                                          .message       = sink_message,
                                          .done          = sink_done,
                                          .env_change    = sink_env_change,
                                          .return_status = sink_return_status,
                                          .return_value  = sink_return_value};
    rows->base.stream.next    = rows_next;
    rows->base.stream.close   = rows_close;
    rows->base.stream.release = rows_release;
    if (query->has_more) rows->base.next_result = rows_next_result;
    stays_open    = query->param_count ? run_with_parameters(rows, query)
                                       : sim_session_batch(conn->session, query->text, &rows->sink);
    conn->is_dead = conn->is_dead || !stays_open;
    if (rows->error.number && (rows->sets.count == 0 || rows->error_at == 0 ||
                               (rows->error_at == 1 && rows->sets.items[0].rows.count == 0))) {
        fail_with(err, rows->error.number, sqlstate_of(&rows->error), rows->error.message);
    } else if (check_alive(conn->driver, err) && describe(rows, err)) {
        *out = &rows->base;
        return true;
    }
    rows_close(&rows->base.stream);
    return false;
}

static void conn_cancel(SqlConn *base)
{
    sim_session_attention(((SimConn *)base)->session);
}

static bool conn_is_dead(SqlConn *base)
{
    return ((SimConn *)base)->is_dead;
}

static void conn_close(SqlConn *base)
{
    SimConn *conn = (SimConn *)base;

    conn->driver->open_now--;
    sim_session_close(conn->session);
    arena_close(conn->arena);
}

/* --- the driver --- */

static Str find_part(Str connection, const char *keyword)
{
    Str rest = connection, part, name;

    while (str_split_next(&rest, ';', &part))
        if (str_split_next(&part, '=', &name) && str_equal_ignoring_case(name, str_from_c(keyword)))
            return part;
    return STR_EMPTY;
}

static bool driver_connect(SqlDriver *base, Str connection, int64_t login_timeout_s, SqlConn **out,
                           Err *err)
{
    SimDriver      *driver = (SimDriver *)base;
    SimLoginRequest login  = {.user     = find_part(connection, "UID"),
                              .password = find_part(connection, "PWD"),
                              .database = find_part(connection, "DATABASE"),
                              .app_name = STR("tidelake"),
                              .odbc     = true};
    SimError        error  = SIM_ERROR_INIT;
    SimSession     *session;
    Arena          *arena;
    SimConn        *conn;

    (void)login_timeout_s;
    if (!check_alive(driver, err)) return false;
    if (!meet_fate(driver, NULL, STR(SIM_SQL_CONNECT), err)) return false;
    if (!sim_session_open(driver->options.server, &login, &session, &error))
        return fail_with(err, error.number, sqlstate_of(&error), error.message);
    arena = arena_new();
    conn  = ARENA_NEW(arena, SimConn);
    *conn = (SimConn){.base    = {.query    = conn_query,
                                  .cancel   = conn_cancel,
                                  .is_dead  = conn_is_dead,
                                  .close    = conn_close,
                                  .can_join = driver->clock != NULL},
                      .driver  = driver,
                      .session = session,
                      .arena   = arena};
    driver->opened++;
    driver->open_now++;
    if (!sqlconn_execute(&conn->base, STR("SET TEXTSIZE 2147483647; SET DEADLOCK_PRIORITY LOW"),
                         err)) {
        conn_close(&conn->base);
        return false;
    }
    *out = &conn->base;
    return true;
}

static void driver_close(SqlDriver *base)
{
    arena_close(((SimDriver *)base)->arena);
}

SqlDriver *sim_sql_driver_new(const SimSqlOptions *options)
{
    Arena     *arena  = arena_new();
    SimDriver *driver = ARENA_NEW(arena, SimDriver);

    driver->base    = (SqlDriver){.connect = driver_connect, .close = driver_close};
    driver->options = *options;
    driver->arena   = arena;
    return &driver->base;
}

void sim_sql_driver_set_hook(SqlDriver *base, void (*on_query)(void *arg, Str sql), void *arg)
{
    SimDriver *driver = (SimDriver *)base;

    driver->options.on_query     = on_query;
    driver->options.on_query_arg = arg;
}

void sim_sql_driver_set_link(SqlDriver *base, Clock *clock, int64_t latency_ms, int64_t row_ms)
{
    SimDriver *driver = (SimDriver *)base;

    driver->clock      = clock;
    driver->latency_ms = latency_ms;
    driver->row_ms     = row_ms;
}

void sim_sql_driver_add_fault(SqlDriver *base, const SimSqlFault *fault)
{
    SimDriver *driver = (SimDriver *)base;

    *LIST_PUSH(driver->arena, &driver->faults) = *fault;
}

int sim_sql_driver_connections(const SqlDriver *base)
{
    return ((const SimDriver *)base)->opened;
}

int sim_sql_driver_open_connections(const SqlDriver *base)
{
    return ((const SimDriver *)base)->open_now;
}

int sim_sql_driver_statements(const SqlDriver *base, const char *part)
{
    const SimDriver *driver = (const SimDriver *)base;
    int              count  = 0;

    for (size_t i = 0; i < driver->statements.count; i++)
        count += str_find(driver->statements.items[i], str_from_c(part), 0) >= 0;
    return count;
}
