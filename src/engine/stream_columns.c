/* stream_columns.c - which columns a run reads and as what types: the captured ones, or the
 * `columns` option; and whether they still hold after DDL (algorithms.md 6.2, 6.5, 12). */
#include "engine/stream_internal.h"
#include "source/mssql_text.h"

#define METADATA_COLUMNS                                                                       \
    "_capture_instance, _start_lsn, _seqval, _operation, _command_id, _commit_ts, _batch_id, " \
    "_snapshot, _chunk"

typedef struct Chosen {
    Column     *columns;
    ColumnType *held;
    size_t      count;
} Chosen;

static void take(Chosen *chosen, Str name, ColumnType type, ColumnType held)
{
    chosen->columns[chosen->count] = (Column){.name = name, .type = type};
    chosen->held[chosen->count++]  = held;
}

/* Names go into T-SQL as they are, but for control characters (sqlserver.md 1.2). */
static bool check_identifier(const Stream *stream, Str name, Err *err)
{
    Err why = ERR_INIT;

    return mssql_check_identifier(name, &why) ||
           err_set(
               err, ERR_SOURCE_STATE,
               "a column of %.*s has a name that is not read, %s: list the others in `columns`, "
               "without it",
               STR_ARG(stream->table.instances[0].name), why.message);
}

static bool check_name(const Stream *stream, Str name, Err *err)
{
    if (!check_identifier(stream, name, err)) return false;
    return !bronze_is_metadata_column(name) ||
           err_set(err, ERR_USAGE,
                   "column %.*s of %.*s has the name of a column that bronze adds itself "
                   "(" METADATA_COLUMNS "): list the others in `columns`, without it",
                   STR_ARG(name), STR_ARG(stream->table.instances[0].name));
}

static bool no_type(const Stream *stream, const CapturedColumn *column, Err *err)
{
    return err_set(err, ERR_SOURCE_STATE,
                   "column %.*s of capture instance %.*s has type %.*s, which has no form "
                   "in the lake: list the others in `columns`, without it",
                   STR_ARG(column->name), STR_ARG(stream->table.instances[0].name),
                   STR_ARG(column->sql_type_name));
}

static void add_name(Buf *names, Str name)
{
    buf_printf(names, "%s%.*s", names->len ? ", " : "", STR_ARG(name));
}

/* --- as captured --- */

/* Everything captured but computed columns. A type that the lake has no form for stops the run. */
static bool infer(Stream *stream, Chosen *chosen, Err *err)
{
    const CaptureInstance *instance = &stream->table.instances[0];
    Buf                    computed = buf_new(stream->arena, 0);

    for (size_t i = 0; i < instance->column_count; i++) {
        const CapturedColumn *column = &instance->columns[i];

        if (!check_name(stream, column->name, err)) return false;
        if (column->is_computed) {
            add_name(&computed, column->name);
            continue;
        }
        if (!column->has_type) return no_type(stream, column, err);
        take(chosen, column->name, column->type, column->type);
    }
    if (computed.len)
        stream_warn(stream, str_printf(stream->arena,
                                       "computed columns are left out, CDC gives no values for "
                                       "them: %.*s",
                                       STR_ARG(buf_str(&computed))));
    return true;
}

/* --- as given --- */

static bool not_captured(const Stream *stream, Str name, Err *err)
{
    const CaptureInstance *instance = &stream->table.instances[0];
    Arena                 *scratch  = arena_new();
    Buf                    names    = buf_new(scratch, 0);

    for (size_t i = 0; i < instance->column_count && names.len < 600; i++)
        add_name(&names, instance->columns[i].name);
    err_set(
        err, ERR_USAGE,
        "`columns` lists %.*s, which capture instance %.*s does not capture (it has %.*s): mend "
        "the list, or capture the column with a new instance",
        STR_ARG(name), STR_ARG(instance->name), STR_ARG(buf_str(&names)));
    arena_close(scratch);
    return false;
}

static bool check_type(const Stream *stream, const CapturedColumn *column, ColumnType wanted,
                       Err *err)
{
    Arena *scratch;

    if (!column->has_type) return no_type(stream, column, err);
    if (column_type_fits(column->type, column->is_byte, wanted)) return true;
    scratch = arena_new();
    err_set(err, ERR_USAGE,
            "`columns` lists %.*s as %.*s, which does not hold every %.*s that capture instance "
            "%.*s captures: give it the type %.*s or a wider one",
            STR_ARG(column->name), STR_ARG(column_type_sql_name(scratch, wanted)),
            STR_ARG(column->sql_type_name), STR_ARG(stream->table.instances[0].name),
            STR_ARG(column_type_sql_name(scratch, column->type)));
    arena_close(scratch);
    return false;
}

/* What the list leaves out is not read, and that is said. */
static void warn_of_left_out(Stream *stream, const Chosen *chosen)
{
    const CaptureInstance *instance = &stream->table.instances[0];
    Schema                 listed   = {chosen->columns, chosen->count};
    Buf                    names    = buf_new(stream->arena, 0);

    for (size_t i = 0; i < instance->column_count; i++)
        if (!instance->columns[i].is_computed &&
            schema_find(&listed, instance->columns[i].name) < 0)
            add_name(&names, instance->columns[i].name);
    if (names.len)
        stream_warn(stream, str_printf(stream->arena,
                                       "`columns` leaves out columns that %.*s captures: %.*s",
                                       STR_ARG(instance->name), STR_ARG(buf_str(&names))));
}

/* The listed columns, spelled as captured. A computed one is NULL in every row. */
static bool choose_listed(Stream *stream, Chosen *chosen, Err *err)
{
    const CaptureInstance *instance = &stream->table.instances[0];
    const Schema          *listed   = &stream->options->columns;
    Buf                    computed = buf_new(stream->arena, 0);

    for (size_t i = 0; i < listed->column_count; i++) {
        ColumnType            type   = listed->columns[i].type;
        const CapturedColumn *column = capture_find_column(instance, listed->columns[i].name);

        if (!column) return not_captured(stream, listed->columns[i].name, err);
        if (!check_name(stream, column->name, err)) return false;
        if (column->is_computed)
            add_name(&computed, column->name);
        else if (!check_type(stream, column, type, err))
            return false;
        take(chosen, column->name, type, column->is_computed ? type : column->type);
    }
    if (computed.len)
        stream_warn(stream, str_printf(stream->arena,
                                       "computed columns are NULL in every row, CDC gives no "
                                       "values for them: %.*s",
                                       STR_ARG(buf_str(&computed))));
    warn_of_left_out(stream, chosen);
    return true;
}

/* --- both --- */

/* Capture may keep text of another code page than the database's wrong: its interim storage knows
 * no collation of its own (sqlserver.md 1.9). */
static void warn_of_collations(Stream *stream)
{
    const CaptureInstance *instance = &stream->table.instances[0];
    Str                    database = mssql_get_collation(stream->mssql);
    Arena                 *scratch  = arena_new();
    Buf                    names    = buf_new(scratch, 0);

    for (size_t i = 0; i < instance->column_count; i++) {
        const CapturedColumn *column = &instance->columns[i];
        bool is_bytes = column->sql_type == SQL_TYPE_CHAR || column->sql_type == SQL_TYPE_VARCHAR ||
                        column->sql_type == SQL_TYPE_TEXT;
        if (is_bytes && column->collation.len && database.len &&
            !str_equal_ignoring_case(column->collation, database))
            add_name(&names, column->name);
    }
    if (names.len)
        log_warn(stream->env->log, "stream",
                 "columns have another collation than the database: SQL Server may capture their "
                 "characters outside ASCII wrong; nchar and nvarchar are safe",
                 LOG_STR("stream", stream->options->capture_instance),
                 LOG_STR("columns", buf_str(&names)), LOG_STR("database_collation", database));
    arena_close(scratch);
}

/* The lake holds microseconds, so such keys can fall on each other in silver. */
static void warn_of_fine_keys(Stream *stream)
{
    const CaptureInstance *instance = &stream->table.instances[0];

    for (size_t i = 0; i < instance->key_column_count; i++) {
        const CapturedColumn *column = capture_find_column(instance, instance->key_columns[i]);
        if (!column || !str_ends_with(column->sql_type_name, STR("(7)")) ||
            (column->sql_type != SQL_TYPE_DATETIME2 && column->sql_type != SQL_TYPE_DATETIMEOFFSET))
            continue;
        stream_warn(stream,
                    str_printf(stream->arena,
                               "key column %.*s is %.*s, and the lake holds microseconds: rows "
                               "whose keys differ in the seventh digit alone are one row in silver",
                               STR_ARG(column->name), STR_ARG(column->sql_type_name)));
    }
}

bool stream_choose_columns(Stream *stream, Err *err)
{
    bool   is_listed = stream->options->columns.column_count > 0;
    size_t most      = MAX(stream->table.instances[0].column_count,
                           stream->options->columns.column_count);
    Chosen chosen    = {.columns = ARENA_ARRAY(stream->arena, Column, most + 1),
                        .held    = ARENA_ARRAY(stream->arena, ColumnType, most + 1)};

    if (is_listed ? !choose_listed(stream, &chosen, err) : !infer(stream, &chosen, err))
        return false;
    stream->captured = (Schema){.columns = chosen.columns, .column_count = chosen.count};
    stream->held     = chosen.held;
    warn_of_collations(stream);
    warn_of_fine_keys(stream);
    return true;
}

/* --- after DDL --- */

/* The newest statement that names the column, else the newest of all. */
static const DdlEvent *find_cause(const DdlEvent *ddl, size_t count, Str column)
{
    for (size_t i = count; i-- > 0;)
        if (str_find(ddl[i].command, column, 0) >= 0) return &ddl[i];
    return &ddl[count - 1];
}

static bool changed(const Stream *stream, size_t column, const CapturedColumn *now,
                    const DdlEvent *cause, Err *err)
{
    const CapturedColumn *was     = capture_find_column(&stream->table.instances[0], now->name);
    Arena                *scratch = arena_new();
    const char           *listed  = stream->options->columns.column_count
                                        ? "give it the new type in `columns` and restart the stream"
                                        : "restart the stream: it infers the columns again";

    err_set(err, ERR_SCHEMA_CHANGED,
            "column %.*s of %.*s changed from %.*s to %.*s, which the type it is read as, %.*s, "
            "does not hold (DDL at LSN %s: %.*s); %s and resumes here. A bronze column is only "
            "widened where the table has delta.enableTypeWidening = true",
            STR_ARG(now->name), STR_ARG(stream->table.instances[0].name),
            STR_ARG(was ? was->sql_type_name : STR_EMPTY), STR_ARG(now->sql_type_name),
            STR_ARG(column_type_sql_name(scratch, stream->captured.columns[column].type)),
            lsn_format(cause->lsn).text, STR_ARG(str_slice(cause->command, 0, 200)), listed);
    arena_close(scratch);
    return false;
}

bool stream_check_ddl(Stream *stream, const DdlEvent *ddl, size_t count, Err *err)
{
    CaptureTable now = {0};

    mssql_forget_columns(stream->mssql);
    if (!mssql_find_table(stream->mssql, stream->options->capture_instance, stream->arena, &now,
                          err))
        return false;
    for (size_t i = 0; i < stream->captured.column_count; i++) {
        const Column         *read   = &stream->captured.columns[i];
        const CapturedColumn *column = capture_find_column(&now.instances[0], read->name);

        if (!column || column->is_computed) continue; /* NULL in every row */
        if (column->has_type && column_type_fits(column->type, column->is_byte, stream->held[i]))
            continue;
        return changed(stream, i, column, find_cause(ddl, count, column->name), err);
    }
    stream->table = now;
    return true;
}
