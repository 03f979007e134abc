/* One step on a Delta table, as an engine that writes it would take, for test_interleavings.py.
 *
 *   delta_steps create PATH SELECT [KEY VALUE]...  a table with the columns of the query, and its rows
 *   delta_steps append PATH SELECT                 rows, columns by name
 *   delta_steps change PATH CONDITION SELECT       rows where the condition holds go, those of the query
 *                                                  come (all columns in order): by deletion vectors where
 *                                                  the table takes them, else the files are written anew
 *   delta_steps add-column PATH NAME TYPE          TYPE as in "DECIMAL(10,2)"
 *   delta_steps widen PATH NAME TYPE               a type that holds the column's old one
 *   delta_steps set PATH KEY VALUE                 a table property
 *
 * Queries are libduckdb's; within them the table is `t`. Prints the version. Ends with 1 and the
 * error on stderr. */
#include "delta/delta.h"

#include <stdio.h>
#include <string.h>

typedef struct Steps {
    DeltaContext context;
    Arena       *arena;
    DuckSession *session;
    DeltaTable  *table;
    char       **arguments; /* behind the path */
    int          count;
    Err          err;
} Steps;

static Str argument(const Steps *steps, int at)
{
    return at < steps->count ? str_from_c(steps->arguments[at]) : STR_EMPTY;
}

static bool open_query(Steps *steps, Str select, RowStream **out)
{
    return duck_query(steps->session, select, steps->arena, out, &steps->err);
}

static bool append_rows(Steps *steps, RowStream *rows)
{
    DeltaAppend  append = {.rows = rows, .user_metadata = STR_EMPTY, .purpose = STR("interop")};
    DeltaOutcome outcome;

    return delta_table_append(steps->table, &append, &outcome, NULL, &steps->err);
}

static bool create(Steps *steps, Str path)
{
    DeltaProperty properties[8];
    DeltaCreate   spec = {.properties = properties};
    RowStream    *rows = NULL;

    for (int at = 1; at + 1 < steps->count && spec.property_count < COUNT_OF(properties); at += 2)
        properties[spec.property_count++] = (DeltaProperty){argument(steps, at),
                                                            argument(steps, at + 1)};
    if (!open_query(steps, argument(steps, 0), &rows)) return false;
    spec.schema = rows->schema;
    bool ok = delta_table_create(&steps->context, path, &spec, &steps->table, NULL, &steps->err) &&
              append_rows(steps, rows);
    row_stream_close(rows);
    return ok;
}

static bool append(Steps *steps)
{
    RowStream *rows = NULL;
    bool       ok   = open_query(steps, argument(steps, 0), &rows) && append_rows(steps, rows);

    row_stream_close(rows);
    return ok;
}

/* --- change --- */

typedef struct Change {
    DeltaWriter      *writer;
    DeltaDeletion    *deletions;
    size_t            deletion_count;
    const DeltaFile **removes;
    size_t            remove_count;
    DeltaAdd         *adds;
    size_t            add_count;
} Change;

static bool write_query(Steps *steps, Change *change, Str select)
{
    DeltaAdd *add = &change->adds[change->add_count];

    if (!delta_writer_write_query(change->writer, steps->session, select, steps->arena, add,
                                  &steps->err))
        return false;
    if (add->row_count > 0) change->add_count++;
    return true;
}

/* The rows of the file where the condition holds, in order. */
static bool find_rows(Steps *steps, const DeltaFile *file, RowSet *out)
{
    RowStream *rows = NULL;
    Str        scan;
    RowBlock   block;

    *out = row_set_begin(steps->arena);
    if (!delta_scan_sql(steps->table, &file, 1, NULL, true, steps->arena, &scan, &steps->err))
        return false;
    Str  sql = str_printf(steps->arena, "SELECT \"__$row\" FROM %.*s WHERE %.*s ORDER BY 1",
                          STR_ARG(scan), STR_ARG(argument(steps, 0)));
    bool ok  = open_query(steps, sql, &rows);
    while (ok && (ok = row_stream_next(rows, &block, &steps->err)) && block.row_count > 0)
        for (size_t i = 0; i < block.row_count; i++) {
            uint64_t row = (uint64_t)column_i64(&block.columns[0], i);
            row_set_add(out, row, row);
        }
    row_set_end(out);
    row_stream_close(rows);
    return ok;
}

static bool write_rest(Steps *steps, Change *change, const DeltaFile *file)
{
    Str scan;

    change->removes[change->remove_count++] = file;
    return delta_scan_sql(steps->table, &file, 1, NULL, false, steps->arena, &scan, &steps->err) &&
           write_query(steps, change,
                       str_printf(steps->arena, "SELECT * FROM %.*s WHERE (%.*s) IS NOT TRUE",
                                  STR_ARG(scan), STR_ARG(argument(steps, 0))));
}

static bool change_files(Steps *steps, Change *change)
{
    bool             by_vector = delta_table_takes_vectors(steps->table);
    const DeltaFile *file;

    for (size_t at = 0; delta_table_next_file(steps->table, &at, &file);) {
        RowSet *rows = ARENA_NEW(steps->arena, RowSet);
        if (!find_rows(steps, file, rows)) return false;
        if (rows->row_count == 0) continue;
        if (by_vector)
            change->deletions[change->deletion_count++] = (DeltaDeletion){.file = file,
                                                                          .rows = rows};
        else if (!write_rest(steps, change, file))
            return false;
    }
    return change->deletion_count == 0 ||
           delta_writer_delete_rows(change->writer, change->deletions, change->deletion_count,
                                    steps->arena, &steps->err);
}

static bool change_rows(Steps *steps)
{
    size_t       files  = delta_table_get_file_count(steps->table) + 1;
    Change       change = {.deletions = ARENA_ARRAY(steps->arena, DeltaDeletion, files),
                           .removes   = ARENA_ARRAY(steps->arena, const DeltaFile *, files),
                           .adds      = ARENA_ARRAY(steps->arena, DeltaAdd, files)};
    DeltaOutcome outcome;

    bool ok = delta_table_check_writable(steps->table, DELTA_CHANGES, &steps->err) &&
              delta_writer_open(steps->table, STR("interop"), NULL, &change.writer, &steps->err) &&
              change_files(steps, &change) && write_query(steps, &change, argument(steps, 1)) &&
              delta_writer_publish(change.writer, change.adds, change.add_count, &steps->err);
    DeltaCommit commit = {.operation      = STR("MERGE"),
                          .adds           = change.adds,
                          .add_count      = change.add_count,
                          .removes        = change.removes,
                          .remove_count   = change.remove_count,
                          .deletions      = change.deletions,
                          .deletion_count = change.deletion_count};
    ok = ok && delta_table_commit(steps->table, &commit, &outcome, NULL, &steps->err);
    delta_writer_close(change.writer);
    return ok;
}

/* --- metadata --- */

static bool commit_schema(Steps *steps, const Schema *schema, const char *operation, bool may_widen)
{
    DeltaOutcome outcome;
    DeltaCommit  commit = {
         .operation = str_from_c(operation), .schema = schema, .may_widen = may_widen};

    return delta_table_commit(steps->table, &commit, &outcome, NULL, &steps->err);
}

static bool named_column(Steps *steps, Column *out)
{
    *out = (Column){.name = argument(steps, 0), .comment = STR_EMPTY};
    return column_type_parse_sql(argument(steps, 1), &out->type) ||
           err_set(&steps->err, ERR_USAGE, "%.*s is no type", STR_ARG(argument(steps, 1)));
}

static bool add_column(Steps *steps)
{
    Column column;
    Schema added = {.columns = &column, .column_count = 1};

    if (!named_column(steps, &column)) return false;
    Schema schema = schema_merge(steps->arena, delta_table_get_schema(steps->table), &added);
    return commit_schema(steps, &schema, "ADD COLUMNS", false);
}

static bool widen(Steps *steps)
{
    const Schema *schema  = delta_table_get_schema(steps->table);
    Column       *columns = ARENA_ARRAY(steps->arena, Column, schema->column_count);
    Column        column;

    if (!named_column(steps, &column)) return false;
    for (size_t i = 0; i < schema->column_count; i++) {
        columns[i] = schema->columns[i];
        if (str_equal(columns[i].name, column.name)) columns[i].type = column.type;
    }
    Schema wider = {.columns = columns, .column_count = schema->column_count};
    return commit_schema(steps, &wider, "CHANGE COLUMN", true);
}

static bool set_property(Steps *steps)
{
    DeltaProperty property = {argument(steps, 0), argument(steps, 1)};
    DeltaOutcome  outcome;
    DeltaCommit   commit = {.operation          = STR("SET TBLPROPERTIES"),
                            .set_properties     = &property,
                            .set_property_count = 1};

    return delta_table_commit(steps->table, &commit, &outcome, NULL, &steps->err);
}

/* --- the program --- */

static bool open_table(Steps *steps, Str path)
{
    Str scan;

    return delta_table_open(&steps->context, path, &steps->table, &steps->err) &&
           delta_scan_sql(steps->table, NULL, 0, NULL, false, steps->arena, &scan, &steps->err) &&
           duck_execute(steps->session,
                        str_printf(steps->arena, "CREATE TEMP VIEW t AS %.*s", STR_ARG(scan)), NULL,
                        &steps->err);
}

static bool run(Steps *steps, const char *step, Str path)
{
    static const struct {
        const char *name;
        bool (*run)(Steps *steps);
    } all[] = {{"append", append},
               {"change", change_rows},
               {"add-column", add_column},
               {"widen", widen},
               {"set", set_property}};

    if (strcmp(step, "create") == 0) return create(steps, path);
    if (!open_table(steps, path)) return false;
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (strcmp(step, all[i].name) == 0) return all[i].run(steps);
    return err_set(&steps->err, ERR_USAGE, "there is no step %s", step);
}

int main(int argc, char **argv)
{
    Duck       *duck    = NULL;
    DuckOptions options = {.threads = 2, .temp_directory = STR("/tmp")};
    Steps       steps   = {.arena = arena_new(), .err = ERR_INIT};

    if (argc < 4) return 2;
    steps.arguments = argv + 3;
    steps.count     = argc - 3;
    Clock *clock    = clock_new_real();
    Rng   *rng      = rng_new_from_entropy();
    Log   *log      = log_new_stderr(clock, LOG_WARN, LOG_FORMAT_TEXT);
    Store *store    = store_local_new(STR_EMPTY);
    bool   ok       = duck_open(&options, &duck, &steps.err);
    steps.context   = (DeltaContext){.store       = store,
                                     .clock       = clock,
                                     .rng         = rng,
                                     .duck        = duck,
                                     .log         = log,
                                     .engine_info = STR("tidelake/interop"),
                                     .compression = DUCK_ZSTD};
    ok              = ok && duck_session_open(duck, &steps.session, &steps.err) &&
         run(&steps, argv[1], str_from_c(argv[2]));
    if (ok) {
        (void)printf("%lld\n", (long long)delta_table_get_version(steps.table));
    } else {
        char text[1024];
        err_format(&steps.err, text, sizeof text);
        (void)fprintf(stderr, "%s\n", text);
    }
    delta_table_close(steps.table);
    duck_session_close(steps.session);
    duck_close(duck);
    store_close(store);
    log_close(log);
    rng_close(rng);
    clock_close(clock);
    arena_close(steps.arena);
    return ok ? 0 : 1;
}
