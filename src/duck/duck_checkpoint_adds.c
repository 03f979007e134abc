/* duck_checkpoint_adds.c - the adds of a checkpoint, handed over on the threads that decode them.
 *
 * A query whose rows are pulled decodes on one thread at a time and copies every text once more, and
 * whoever waits for it spins. So the query calls us: a scalar function gets the vectors as the scan
 * made them, on each thread of the scan. The types are those of the file: a scan that is told others
 * (schema=) runs on one thread. */
#include "duck/duck_shape.h"

#include <assert.h>

#define ADDS_FUNCTION "tidelake_adds"

typedef struct AddMember {
    const char *name, *type;
} AddMember;

static const AddMember EXTRAS[] = {
    {"partitionValues", STRINGS},          {"tags", STRINGS},
    {"deletionVector", DELETION_VECTOR},   {"baseRowId", "BIGINT"},
    {"defaultRowCommitVersion", "BIGINT"}, {"clusteringProvider", "VARCHAR"},
};

/* Arguments of the function: the scan's number, the fixed columns of a block, typed statistics where
 * they are needed, and the extras that have values. */
enum { ARG_SCAN, ARG_FIXED, ARG_MORE = ARG_FIXED + DUCK_ADD_EXTRA };

struct AddScan {
    AddScan     *next;
    int64_t      id;
    DuckTakeAdds take;
    void        *arg;
    bool         has_parsed;
    Str          extras[COUNT_OF(EXTRAS)];
    size_t       extra_count;
    /* guarded by the Duck's lock */
    int            running; /* calls of `take` */
    pthread_cond_t idle;    /* none is running any more */
    Err            err;     /* of the earliest row */
    int64_t        err_row;
};

static void link_scan(Duck *duck, AddScan *scan)
{
    (void)pthread_mutex_lock(&duck->lock);
    scan->id        = ++duck->last_add_scan_id;
    scan->next      = duck->add_scans;
    duck->add_scans = scan;
    (void)pthread_mutex_unlock(&duck->lock);
}

/* Afterwards nobody holds the scan: a query that failed on one thread may come back while another
 * is still at work. */
static void unlink_scan(Duck *duck, AddScan *scan)
{
    (void)pthread_mutex_lock(&duck->lock);
    AddScan **at = &duck->add_scans;
    while (*at != scan)
        at = &(*at)->next;
    *at = scan->next;
    while (scan->running > 0)
        (void)pthread_cond_wait(&scan->idle, &duck->lock);
    (void)pthread_mutex_unlock(&duck->lock);
}

/* Holds the scan until end_take. NULL: it is over. */
static AddScan *begin_take(Duck *duck, int64_t id)
{
    (void)pthread_mutex_lock(&duck->lock);
    AddScan *scan = duck->add_scans;
    while (scan && scan->id != id)
        scan = scan->next;
    if (scan) scan->running++;
    (void)pthread_mutex_unlock(&duck->lock);
    return scan;
}

static void end_take(Duck *duck, AddScan *scan, int64_t row, const Err *err)
{
    (void)pthread_mutex_lock(&duck->lock);
    if (err->code != ERR_NONE && (scan->err.code == ERR_NONE || row < scan->err_row)) {
        err_copy(&scan->err, err);
        scan->err_row = row;
    }
    if (--scan->running == 0) (void)pthread_cond_signal(&scan->idle);
    (void)pthread_mutex_unlock(&duck->lock);
}

/* --- a chunk becomes a block --- */

/* The arguments behind the fixed ones. */
typedef struct MoreArgs {
    const AddScan *scan;
    size_t         count;
    Shape         *shapes;
    Values        *values;
} MoreArgs;

static MoreArgs more_args_of(const AddScan *scan, duckdb_data_chunk chunk, Arena *arena)
{
    MoreArgs more = {.scan = scan, .count = scan->extra_count + scan->has_parsed};

    assert(duckdb_data_chunk_get_column_count(chunk) == ARG_MORE + more.count);
    more.shapes = ARENA_ARRAY(arena, Shape, more.count + 1);
    more.values = ARENA_ARRAY(arena, Values, more.count + 1);
    for (size_t i = 0; i < more.count; i++) {
        duckdb_vector       vector = duckdb_data_chunk_get_vector(chunk, ARG_MORE + i);
        duckdb_logical_type type   = duckdb_vector_get_column_type(vector);
        more.shapes[i]             = duck_shape_of(type, STR_EMPTY, arena);
        more.values[i]             = duck_values_of(&more.shapes[i], vector, arena);
        duckdb_destroy_logical_type(&type);
    }
    return more;
}

static bool is_empty_map(const Shape *shape, const Values *values, idx_t row)
{
    return shape->type == DUCKDB_TYPE_MAP &&
           ((const duckdb_list_entry *)values->data)[row].length == 0;
}

static Str write_extras(const MoreArgs *more, idx_t row, Buf *buf)
{
    size_t start = buf->len, first = more->scan->has_parsed;

    for (size_t i = first; i < more->count; i++) {
        const Shape  *shape  = &more->shapes[i];
        const Values *values = &more->values[i];
        if (duck_values_is_null(values, row) || is_empty_map(shape, values, row)) continue;
        buf_printf(buf, "%s\"%.*s\":", buf->len > start ? "," : "",
                   STR_ARG(more->scan->extras[i - first]));
        JsonWriter json = json_writer(buf, false, false);
        duck_write_json(&json, shape, values, row);
    }
    return (Str){NULL, buf->len - start};
}

/* Texts were measured while the buffer that holds them grew. */
static void place_texts(Str *texts, size_t count, const Buf *buf)
{
    for (size_t i = 0, at = 0; i < count; at += texts[i++].len)
        texts[i].ptr = texts[i].len > 0 ? buf->ptr + at : "";
}

/* Where statistics have no text, their columns take its place. */
static void fill_stats(ColumnVector *column, const MoreArgs *more, size_t rows, Arena *arena)
{
    Str *texts   = ARENA_ARRAY(arena, Str, rows);
    Str *written = ARENA_ARRAY(arena, Str, rows);
    Buf  buf     = buf_new(arena, 0);

    for (size_t i = 0; i < rows; i++) {
        size_t start = buf.len;
        if (column_is_null(column, i) && !duck_values_is_null(&more->values[0], i))
            duck_write_stats(&buf, &more->shapes[0], &more->values[0], i);
        written[i].len = buf.len - start;
    }
    if (buf.overflow) return; /* no statistics rather than a part of them */
    place_texts(written, rows, &buf);
    for (size_t i = 0; i < rows; i++)
        texts[i] = column_is_null(column, i) ? written[i] : column_str(column, i);
    *column = (ColumnVector){.type = COLUMN_TYPE(TYPE_STRING), .data = texts};
}

static bool are_sound(const MoreArgs *more, size_t rows, Err *err)
{
    for (size_t i = 0; i < more->count; i++)
        if (!duck_values_are_sound(&more->shapes[i], &more->values[i], rows))
            return err_set(err, ERR_DAMAGED, "a list or map is damaged");
    return true;
}

static bool take_chunk(const AddScan *scan, duckdb_data_chunk chunk, size_t rows, Arena *arena,
                       Err *err)
{
    static const TypeKind kinds[] = {TYPE_STRING, TYPE_LONG, TYPE_LONG, TYPE_STRING, TYPE_LONG};

    ColumnVector columns[DUCK_ADD_COLUMN_COUNT];
    MoreArgs     more   = more_args_of(scan, chunk, arena);
    Str         *extras = ARENA_ARRAY(arena, Str, rows);
    Buf          buf    = buf_new(arena, 0);

    if (!are_sound(&more, rows, err)) return false;
    for (size_t i = 0; i < DUCK_ADD_EXTRA; i++)
        columns[i] = duck_column_of_vector(
            arena, duckdb_data_chunk_get_vector(chunk, ARG_FIXED + i), COLUMN_TYPE(kinds[i]), rows);
    if (scan->has_parsed) fill_stats(&columns[DUCK_ADD_STATS], &more, rows, arena);
    for (size_t i = 0; scan->extra_count > 0 && i < rows; i++)
        extras[i] = write_extras(&more, i, &buf);
    if (buf.overflow)
        return err_set(err, ERR_LIMIT, "the adds of %zu rows are longer than %zu bytes", rows,
                       buf.limit);
    place_texts(extras, rows, &buf);
    columns[DUCK_ADD_EXTRA] = (ColumnVector){.type = COLUMN_TYPE(TYPE_STRING), .data = extras};
    RowBlock block = {.columns = columns, .column_count = DUCK_ADD_COLUMN_COUNT, .row_count = rows};
    return scan->take(scan->arg, &block, err);
}

/* --- the function --- */

static void adds_run(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector out)
{
    size_t   rows    = (size_t)duckdb_data_chunk_get_size(chunk);
    int64_t *results = duckdb_vector_get_data(out);
    Duck    *duck    = duckdb_scalar_function_get_extra_info(info);
    Err      err     = ERR_INIT;

    for (size_t i = 0; i < rows; i++)
        results[i] = 1;
    if (rows == 0) return;

    const int64_t *ids  = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, ARG_SCAN));
    AddScan       *scan = begin_take(duck, ids[0]);
    if (!scan) {
        duckdb_scalar_function_set_error(info, "there is no scan of adds of this number");
        return;
    }
    Arena         *arena   = arena_new();
    const int64_t *numbers = duckdb_vector_get_data(
        duckdb_data_chunk_get_vector(chunk, ARG_FIXED + DUCK_ADD_ROW));
    if (!take_chunk(scan, chunk, rows, arena, &err))
        duckdb_scalar_function_set_error(info, "an add was refused");
    end_take(duck, scan, numbers[0], &err);
    arena_close(arena);
}

bool duck_register_adds(duckdb_connection connection, Duck *duck, Err *err)
{
    static const duckdb_type fixed[ARG_MORE] = {
        DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BIGINT,
        DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BIGINT,
    };
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type    number   = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type    any      = duckdb_create_logical_type(DUCKDB_TYPE_ANY);

    duckdb_scalar_function_set_name(function, ADDS_FUNCTION);
    for (size_t i = 0; i < ARG_MORE; i++) {
        duckdb_logical_type type = duckdb_create_logical_type(fixed[i]);
        duckdb_scalar_function_add_parameter(function, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_scalar_function_set_varargs(function, any);
    duckdb_scalar_function_set_return_type(function, number);
    duckdb_scalar_function_set_special_handling(function); /* it is called for NULLs, too */
    duckdb_scalar_function_set_volatile(function);         /* and never left out */
    duckdb_scalar_function_set_extra_info(function, duck, NULL);
    duckdb_scalar_function_set_function(function, adds_run);
    bool ok = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_scalar_function(&function);
    return ok || err_set(err, ERR_QUERY_ENGINE, "libduckdb refused the function that takes adds");
}

/* --- the query --- */

/* A member without values is not read at all. */
static bool has_values(const DuckCheckpoint *file, const char *member, Arena *arena)
{
    return duck_checkpoint_count_values(file, str_printf(arena, "add, %s", member)) != 0;
}

/* Typed statistics, where there are files without text. */
static bool needs_parsed_stats(const DuckCheckpoint *file, Arena *arena)
{
    int64_t texts = duck_checkpoint_count_values(file, STR("add, stats"));

    return has_values(file, "stats_parsed", arena) &&
           (texts < 0 || texts < duck_checkpoint_count_adds(file));
}

static void append_member(Buf *sql, const DuckCheckpoint *file, const char *name, const char *type,
                          Arena *arena)
{
    if (has_values(file, name, arena))
        buf_printf(sql, ", CAST(\"add\".\"%s\" AS %s)", name, type);
    else
        buf_printf(sql, ", CAST(NULL AS %s)", type);
}

static Str adds_sql(const DuckCheckpoint *file, AddScan *scan, Arena *arena)
{
    Buf sql = buf_new(arena, 0);

    buf_printf(&sql, "SELECT sum(" ADDS_FUNCTION "(%lld", (long long)scan->id);
    append_member(&sql, file, "path", "VARCHAR", arena);
    append_member(&sql, file, "size", "BIGINT", arena);
    append_member(&sql, file, "modificationTime", "BIGINT", arena);
    append_member(&sql, file, "stats", "VARCHAR", arena);
    buf_append_c(&sql, ", file_row_number");
    scan->has_parsed = needs_parsed_stats(file, arena);
    if (scan->has_parsed) buf_append_c(&sql, ", \"add\".stats_parsed");
    for (size_t i = 0; i < COUNT_OF(EXTRAS); i++) {
        if (!has_values(file, EXTRAS[i].name, arena)) continue;
        append_member(&sql, file, EXTRAS[i].name, EXTRAS[i].type, arena);
        scan->extras[scan->extra_count++] = str_from_c(EXTRAS[i].name);
    }
    buf_append_c(&sql, ")) FROM read_parquet([");
    duck_append_path_literal(&sql, file->local);
    buf_append_c(&sql, "], hive_partitioning=false)");
    return buf_str(&sql);
}

bool duck_checkpoint_take_adds(DuckCheckpoint *file, DuckTakeAdds take, void *arg, Err *err)
{
    Duck         *duck   = file->session->connection.duck;
    Arena        *arena  = arena_new();
    AddScan       scan   = {.take = take, .arg = arg, .err = ERR_INIT};
    duckdb_result result = {0};

    assert(!file->session->has_stream);
    if (duck_checkpoint_count_values(file, STR("add")) == 0) {
        arena_close(arena);
        return true;
    }
    int failed = pthread_cond_init(&scan.idle, NULL);
    assert(failed == 0);
    link_scan(duck, &scan);
    bool ok = duck_run_sql(&file->session->connection, adds_sql(file, &scan, arena), false, &result,
                           err);
    unlink_scan(duck, &scan);
    (void)pthread_cond_destroy(&scan.idle);
    if (!ok && scan.err.code != ERR_NONE) err_copy(err, &scan.err);
    duckdb_destroy_result(&result);
    arena_close(arena);
    return ok || err_context(err, "reading a checkpoint");
}
