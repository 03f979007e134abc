/* mssql_columns.c - what a capture instance captures (Q20), and what of it the source table still
 * has (Q22). */
#include "source/mssql_columns.h"
#include "source/mssql_internal.h"

#include "base/limits.h"
#include "base/list.h"

#include <stdio.h>

/* Q20's answer of one instance. */
typedef struct CachedInstance {
    Str             name;
    int64_t         create_date_us;
    CapturedColumn *columns;
    size_t          column_count;
} CachedInstance;

/* A row of Q22. */
typedef struct SourceColumn {
    Str     name;
    int64_t column_id;
    bool    is_computed;
    bool    is_nullable;
    Str     collation;
} SourceColumn;

typedef struct CachedTable {
    Str           schema, table;
    SourceColumn *columns;
    size_t        column_count;
} CachedTable;

struct ColumnCache {
    LIST(CachedInstance) instances;
    LIST(CachedTable) tables;
};

void mssql_forget_columns(Mssql *mssql)
{
    arena_reset(mssql->cache_arena);
    mssql->cache = NULL;
}

bool mssql_explain_access_error(Str capture_instance, Err *err)
{
    Err cause = *err;

    err_set(err, ERR_SOURCE_STATE,
            "capture instance %.*s: not found, or the login lacks SELECT on a captured column of "
            "the source table, or is not in the "
            "instance's gating role (%s)",
            STR_ARG(capture_instance), cause.message);
    err->native = cause.native;
    snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", cause.sqlstate);
    return false;
}

/* --- Q20 --- */

typedef struct CapturedAt { /* indexes of its columns */
    size_t name, id, ordinal, type, length, precision, scale, datetime_precision;
} CapturedAt;

static bool find_captured_columns(const Rows *rows, CapturedAt *at, Err *err)
{
    return rows_find(rows, "column_name", &at->name, err) &&
           rows_find(rows, "column_id", &at->id, err) &&
           rows_find(rows, "column_ordinal", &at->ordinal, err) &&
           rows_find(rows, "data_type", &at->type, err) &&
           rows_find(rows, "character_maximum_length", &at->length, err) &&
           rows_find(rows, "numeric_precision", &at->precision, err) &&
           rows_find(rows, "numeric_scale", &at->scale, err) &&
           rows_find(rows, "datetime_precision", &at->datetime_precision, err);
}

static CapturedColumn captured_column(const Rows *rows, size_t row, const CapturedAt *at,
                                      Arena *arena)
{
    Str            type      = rows_str(rows, row, at->type);
    int64_t        precision = rows_i64(rows, row, at->precision, -1);
    int64_t        scale     = rows_i64(rows, row, at->scale, -1);
    CapturedColumn column    = {
           .name          = str_copy(arena, rows_str(rows, row, at->name)),
           .column_id     = (int32_t)rows_i64(rows, row, at->id, 0),
           .ordinal       = (int32_t)rows_i64(rows, row, at->ordinal, 0),
           .sql_type      = sql_type_kind(type),
           .sql_type_name = mssql_declared_type(arena, type, rows_i64(rows, row, at->length, -1),
                                                precision, scale,
                                                rows_i64(rows, row, at->datetime_precision, -1)),
           .collation     = STR_EMPTY,
           .is_nullable   = true,
    };

    column.is_byte  = column.sql_type == SQL_TYPE_TINYINT;
    column.has_type = sql_type_to_column_type(column.sql_type, (uint8_t)MIN(MAX(precision, 0), 255),
                                              (uint8_t)MIN(MAX(scale, 0), 255), &column.type);
    return column;
}

static SqlQuery captured_question(Arena *arena, Str capture_instance)
{
    return mssql_question(arena, STR("EXEC sys.sp_cdc_get_captured_columns @capture_instance = ?;"),
                          (SqlParam[]){param_str(capture_instance)}, 1);
}

static bool read_captured(SqlConn *conn, Str capture_instance, Arena *arena, CachedInstance *out,
                          Err *err)
{
    Arena     *scratch  = arena_new();
    SqlQuery   question = captured_question(scratch, capture_instance);
    Rows       rows     = {0};
    CapturedAt at;
    bool       ok = mssql_answer_on(conn, &question, LIMIT_COLUMNS, scratch, &rows, err);

    if (!ok && err->native == 22981) mssql_explain_access_error(capture_instance, err);
    ok = ok && find_captured_columns(&rows, &at, err);
    if (ok) {
        out->columns      = ARENA_ARRAY(arena, CapturedColumn, rows.block.row_count + 1);
        out->column_count = rows.block.row_count;
        for (size_t i = 0; i < rows.block.row_count; i++)
            out->columns[i] = captured_column(&rows, i, &at, arena);
    }
    arena_close(scratch);
    return ok;
}

static const CachedInstance *find_cached(const ColumnCache *cache, const CaptureInstance *instance)
{
    for (size_t i = 0; i < cache->instances.count; i++) {
        const CachedInstance *cached = &cache->instances.items[i];
        if (str_equal(cached->name, instance->name) &&
            cached->create_date_us == instance->create_date_us)
            return cached;
    }
    return NULL;
}

static bool cached_instance(Mssql *mssql, SqlConn *conn, const CaptureInstance *instance,
                            const CachedInstance **out, Err *err)
{
    ColumnCache   *cache = mssql->cache;
    CachedInstance read  = {.name           = str_copy(mssql->cache_arena, instance->name),
                            .create_date_us = instance->create_date_us};

    *out = find_cached(cache, instance);
    if (*out) return true;
    if (!read_captured(conn, instance->name, mssql->cache_arena, &read, err)) return false;
    CachedInstance *added = LIST_PUSH(mssql->cache_arena, &cache->instances);
    *added                = read;
    *out                  = added;
    return true;
}

/* --- Q22 --- */

static SqlQuery source_question(Arena *arena, Str schema, Str table)
{
    return mssql_question(
        arena,
        STR("SELECT c.name, c.column_id, c.is_computed, c.is_nullable, c.collation_name\n"
            "FROM sys.columns AS c\n"
            "WHERE c.object_id = OBJECT_ID(QUOTENAME(?) + N'.' + QUOTENAME(?))\n"
            "ORDER BY c.column_id;"),
        (SqlParam[]){param_str(schema), param_str(table)}, 2);
}

static bool read_source(SqlConn *conn, Arena *arena, CachedTable *out, Err *err)
{
    Arena   *scratch  = arena_new();
    SqlQuery question = source_question(scratch, out->schema, out->table);
    Rows     rows     = {0};
    bool     ok       = mssql_answer_on(conn, &question, LIMIT_COLUMNS, scratch, &rows, err);

    if (ok) {
        out->columns      = ARENA_ARRAY(arena, SourceColumn, rows.block.row_count + 1);
        out->column_count = rows.block.row_count;
        for (size_t i = 0; i < rows.block.row_count; i++)
            out->columns[i] = (SourceColumn){
                str_copy(arena, rows_str(&rows, i, 0)), rows_i64(&rows, i, 1, 0),
                rows_i64(&rows, i, 2, 0) != 0, rows_i64(&rows, i, 3, 1) != 0,
                str_copy(arena, rows_str(&rows, i, 4))};
    }
    arena_close(scratch);
    return ok;
}

static const CachedTable *find_cached_table(const ColumnCache     *cache,
                                            const CaptureInstance *instance)
{
    for (size_t i = 0; i < cache->tables.count; i++) {
        const CachedTable *cached = &cache->tables.items[i];
        if (str_equal(cached->schema, instance->source_schema) &&
            str_equal(cached->table, instance->source_table))
            return cached;
    }
    return NULL;
}

static bool cached_table(Mssql *mssql, SqlConn *conn, const CaptureInstance *instance,
                         const CachedTable **out, Err *err)
{
    ColumnCache *cache = mssql->cache;
    CachedTable  read  = {str_copy(mssql->cache_arena, instance->source_schema),
                          str_copy(mssql->cache_arena, instance->source_table), NULL, 0};

    *out = find_cached_table(cache, instance);
    if (*out) return true;
    if (!read_source(conn, mssql->cache_arena, &read, err)) return false;
    CachedTable *added = LIST_PUSH(mssql->cache_arena, &cache->tables);
    *added             = read;
    *out               = added;
    return true;
}

/* --- together --- */

static const SourceColumn *find_source(const CachedTable *table, Str name)
{
    const SourceColumn *found = NULL;

    for (size_t i = 0; i < table->column_count; i++) {
        if (str_equal(table->columns[i].name, name)) return &table->columns[i];
        if (!found && str_equal_ignoring_case(table->columns[i].name, name))
            found = &table->columns[i];
    }
    return found;
}

/* The id is the newest instance's that captures the name: a column dropped and added back is
 * another column. */
static int32_t newest_id(const CaptureTable *table, const CapturedColumn *column)
{
    return capture_find_newest(table->instances, table->instance_count, column->name)->column_id;
}

static void describe_source(const CaptureTable *table, const CachedTable *source)
{
    for (size_t i = 0; i < table->instance_count; i++)
        for (size_t c = 0; c < table->instances[i].column_count; c++) {
            CapturedColumn     *column = &table->instances[i].columns[c];
            const SourceColumn *found  = find_source(source, column->name);
            if (!found) continue;
            column->is_in_source = found->column_id == newest_id(table, column);
            column->is_computed  = found->is_computed;
            column->is_nullable  = found->is_nullable;
            column->collation    = found->collation;
        }
}

/* What is not known yet, in one request. Where all is known, what waits on the connection stays. */
static bool ask_columns_ahead(const Mssql *mssql, SqlConn *conn, const CaptureTable *table,
                              Err *err)
{
    Arena                 *arena     = arena_new();
    Questions             *questions = ARENA_NEW(arena, Questions);
    const CaptureInstance *first     = &table->instances[0];
    bool                   ok        = true;

    for (size_t i = 0; i < table->instance_count; i++)
        if (!find_cached(mssql->cache, &table->instances[i]))
            questions_add(questions, captured_question(arena, table->instances[i].name));
    if (!find_cached_table(mssql->cache, first))
        questions_add(questions, source_question(arena, first->source_schema, first->source_table));
    if (questions->count > 1) ok = mssql_ask_ahead_on(conn, questions, err);
    arena_close(arena);
    return ok;
}

bool mssql_load_columns(Mssql *mssql, SqlConn *conn, Arena *arena, CaptureTable *table, Err *err)
{
    const CachedInstance *instance;
    const CachedTable    *source;

    if (!mssql->cache) mssql->cache = ARENA_NEW(mssql->cache_arena, ColumnCache);
    if (!ask_columns_ahead(mssql, conn, table, err)) return false;
    for (size_t i = 0; i < table->instance_count; i++) {
        CaptureInstance *out = &table->instances[i];
        if (!cached_instance(mssql, conn, out, &instance, err)) return false;
        out->columns      = ARENA_ARRAY(arena, CapturedColumn, instance->column_count + 1);
        out->column_count = instance->column_count;
        for (size_t c = 0; c < instance->column_count; c++) {
            out->columns[c]               = instance->columns[c];
            out->columns[c].name          = str_copy(arena, instance->columns[c].name);
            out->columns[c].sql_type_name = str_copy(arena, instance->columns[c].sql_type_name);
        }
    }
    if (!cached_table(mssql, conn, &table->instances[0], &source, err)) return false;
    describe_source(table, source);
    for (size_t i = 0; i < table->instance_count; i++)
        for (size_t c = 0; c < table->instances[i].column_count; c++)
            table->instances[i].columns[c].collation = str_copy(
                arena, table->instances[i].columns[c].collation);
    return true;
}
