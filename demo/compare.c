/* compare.c - is a silver table equal to its source, row by row and value by value? Uses none of
 * tidelake's engine.
 *
 * compare --connection STRING --table dbo.orders --silver PATH [--show N]
 *
 * Reads both whole, so it is for tables that are small enough and at rest. Exit 0: equal. 1:
 * differences, shown. */
#include "program.h"

#include "base/environment.h"

#include <stdio.h>

typedef struct Sides {
    Program     *program;
    DeltaContext delta;
    Duck        *duck;
    DuckSession *session;
    DeltaTable  *silver;
    Buf          columns;      /* quoted for DuckDB */
    Buf          tsql_columns; /* quoted for T-SQL */
} Sides;

static void list_columns(Sides *sides)
{
    const Schema *schema = delta_table_get_schema(sides->silver);

    for (size_t i = 0; i < schema->column_count; i++) {
        Str name = schema->columns[i].name;
        if (str_equal_c(name, "_start_lsn") || str_equal_c(name, "_commit_ts")) continue;
        buf_printf(&sides->columns, "%s%.*s", sides->columns.len ? ", " : "",
                   STR_ARG(duck_quote_identifier(sides->program->arena, name)));
        buf_append_c(&sides->tsql_columns, sides->tsql_columns.len ? ", [" : "[");
        for (size_t c = 0; c < name.len; c++) {
            buf_append_char(&sides->tsql_columns, name.ptr[c]);
            if (name.ptr[c] == ']') buf_append_char(&sides->tsql_columns, ']');
        }
        buf_append_char(&sides->tsql_columns, ']');
    }
}

static bool load_source(Sides *sides, Str table, Err *err)
{
    SqlQuery   query  = {.text = str_printf(sides->program->arena, "SELECT %.*s FROM %.*s",
                                            STR_ARG(buf_str(&sides->tsql_columns)), STR_ARG(table))};
    SqlResult *result = NULL;
    bool       ok     = sqlconn_query(sides->program->conn, &query, &result, err) &&
              duck_load(sides->session, STR("source_rows"), &result->stream, err);

    sqlresult_close(result);
    return ok;
}

static bool load_silver(Sides *sides, Err *err)
{
    Str scan;

    return delta_scan_sql(sides->silver, NULL, 0, NULL, false, sides->program->arena, &scan, err) &&
           duck_execute(sides->session,
                        str_printf(sides->program->arena,
                                   "CREATE TEMP TABLE silver_rows AS SELECT %.*s FROM (%.*s)",
                                   STR_ARG(buf_str(&sides->columns)), STR_ARG(scan)),
                        NULL, err);
}

/* Rows of one side that the other lacks, duplicates counted. */
static bool count_missing(Sides *sides, const char *left, const char *right, int64_t show,
                          int64_t *out, Err *err)
{
    Arena     *arena = sides->program->arena;
    RowStream *rows  = NULL;
    RowBlock   block;
    Str difference = str_printf(arena, "SELECT * FROM %s EXCEPT ALL SELECT * FROM %s", left, right);
    bool ok        = duck_query_i64(sides->session,
                                    str_printf(arena, "SELECT count(*) FROM (%.*s)", STR_ARG(difference)),
                                    out, NULL, err);

    if (!ok || *out == 0) return ok;
    ok = duck_query(sides->session,
                    str_printf(arena, "%.*s ORDER BY ALL LIMIT %lld", STR_ARG(difference),
                               (long long)show),
                    arena, &rows, err) &&
         row_stream_next(rows, &block, err);
    for (size_t r = 0; ok && r < block.row_count; r++) {
        printf("  only in %s:", left);
        for (size_t c = 0; c < block.column_count; c++) {
            Str text = column_is_null(&block.columns[c], r)
                           ? STR("NULL")
                           : column_format(arena, &block.columns[c], r);
            printf(" %.*s=%.*s", STR_ARG(rows->schema.columns[c].name), STR_ARG(text));
        }
        printf("\n");
    }
    row_stream_close(rows);
    return ok;
}

static bool compare(Sides *sides, Str table, Str silver, int64_t show, bool *equal, Err *err)
{
    int64_t rows, only_source, only_silver;

    if (!delta_table_open(&sides->delta, silver, &sides->silver, err) ||
        !duck_session_open(sides->duck, &sides->session, err))
        return false;
    list_columns(sides);
    if (!load_source(sides, table, err) || !load_silver(sides, err)) return false;
    if (!duck_query_i64(sides->session, STR("SELECT count(*) FROM source_rows"), &rows, NULL, err))
        return false;
    if (!count_missing(sides, "source_rows", "silver_rows", show, &only_source, err)) return false;
    if (!count_missing(sides, "silver_rows", "source_rows", show, &only_silver, err)) return false;
    *equal = only_source == 0 && only_silver == 0;
    if (*equal)
        printf("%.*s: %lld rows, all equal\n", STR_ARG(table), (long long)rows);
    else
        printf("%.*s: DIFFERENT: %lld rows only in the source, %lld only in silver\n",
               STR_ARG(table), (long long)only_source, (long long)only_silver);
    return true;
}

int main(int argc, char **argv)
{
    Program program;
    Err     err   = ERR_INIT;
    bool    equal = false;
    bool    ok = program_open(&program, "compare", program_option(argc, argv, "--connection", NULL),
                              &err);
    Sides   sides       = {.program = &program};
    DuckOptions options = {.memory_limit_bytes = 1000000000,
                           .threads            = environment_core_count(),
                           .temp_directory     = STR("/tmp/tidelake-compare")};

    sides.columns      = buf_new(program.arena, 0);
    sides.tsql_columns = buf_new(program.arena, 0);
    ok                 = ok && duck_open(&options, &sides.duck, &err);
    sides.delta        = (DeltaContext){.store       = store_local_new(STR_EMPTY),
                                        .clock       = program.clock,
                                        .rng         = rng_new(1),
                                        .duck        = sides.duck,
                                        .log         = program.log,
                                        .cancel      = program.cancel,
                                        .engine_info = STR("tidelake/compare")};
    ok                 = ok && compare(&sides, program_option(argc, argv, "--table", NULL),
                                       program_option(argc, argv, "--silver", NULL),
                                       program_number(argc, argv, "--show", "5"), &equal, &err);
    if (!ok) (void)program_fail(&program, &err);
    delta_table_close(sides.silver);
    duck_session_close(sides.session);
    duck_close(sides.duck);
    rng_close(sides.delta.rng);
    store_close(sides.delta.store);
    program_close(&program);
    return ok && equal ? 0 : 1;
}
