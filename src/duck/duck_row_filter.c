/* duck_row_filter.c - rows that deletion vectors cover, left out of a scan by a function of SQL
 * that looks into their sets: a scan hands over neighbouring rows of one file, so a whole vector of
 * them is decided with one search. */
#include "duck/duck_internal.h"

#include <string.h>

#define LIVE_FUNCTION "tidelake_row_is_live"

/* --- filters: what the function finds behind the number in its call --- */

static RowFilter *find_filter(Duck *duck, int64_t id)
{
    RowFilter *found = NULL;
    (void)pthread_mutex_lock(&duck->lock);
    for (RowFilter *at = duck->filters; at && !found; at = at->next)
        if (at->id == id) found = at;
    (void)pthread_mutex_unlock(&duck->lock);
    return found;
}

static void end_filter(void *arg)
{
    RowFilter *filter = arg;
    Duck      *duck   = filter->duck;

    if (!duck) return;
    (void)pthread_mutex_lock(&duck->lock);
    for (RowFilter **at = &duck->filters; *at; at = &(*at)->next)
        if (*at == filter) {
            *at = filter->next;
            break;
        }
    (void)pthread_mutex_unlock(&duck->lock);
}

void duck_forget_row_filters(Duck *duck)
{
    for (RowFilter *at = duck->filters; at; at = at->next)
        at->duck = NULL;
    duck->filters = NULL;
}

Str duck_row_filter_sql(Duck *duck, const RowSet *const *sets, size_t count, Arena *arena)
{
    RowFilter *filter = ARENA_NEW(arena, RowFilter);

    *filter = (RowFilter){.duck = duck, .sets = sets, .count = count};
    (void)pthread_mutex_lock(&duck->lock);
    filter->id    = ++duck->last_filter_id;
    filter->next  = duck->filters;
    duck->filters = filter;
    (void)pthread_mutex_unlock(&duck->lock);
    arena_at_end(arena, end_filter, filter);
    return str_printf(arena, LIVE_FUNCTION "(%lld, f.file_index, f.file_row_number)",
                      (long long)filter->id);
}

/* --- the function --- */

/* How many of the rows from `from` on follow each other in one file. */
static size_t count_neighbours(const uint64_t *files, const int64_t *rows, size_t from,
                               size_t count)
{
    size_t at = from + 1;
    while (at < count && files[at] == files[from] && rows[at] == rows[at - 1] + 1)
        at++;
    return at - from;
}

static void row_is_live(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    size_t         count   = duckdb_data_chunk_get_size(input);
    const int64_t *ids     = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    uint64_t      *files   = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
    const int64_t *rows    = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 2));
    bool          *is_live = duckdb_vector_get_data(output);

    if (count == 0) return;
    const RowFilter *filter = find_filter(duckdb_scalar_function_get_extra_info(info), ids[0]);
    if (!filter) {
        duckdb_scalar_function_set_error(info, "there is no filter of rows of this number");
        return;
    }
    memset(is_live, true, count * sizeof *is_live);
    for (size_t at = 0; at < count;) {
        size_t length = count_neighbours(files, rows, at, count);
        if (files[at] >= filter->count) { /* which rows of it are gone, nobody knows */
            duckdb_scalar_function_set_error(info, "a filter of rows was asked about another file");
            return;
        }
        const RowSet *set = filter->sets[files[at]];
        if (set) row_set_clear_flags(set, (uint64_t)rows[at], length, is_live + at);
        at += length;
    }
}

bool duck_register_row_filter(duckdb_connection connection, Duck *duck, Err *err)
{
    const duckdb_type      types[]  = {DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_BIGINT};
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type    result   = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);

    duckdb_scalar_function_set_name(function, LIVE_FUNCTION);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        duckdb_logical_type type = duckdb_create_logical_type(types[i]);
        duckdb_scalar_function_add_parameter(function, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_scalar_function_set_return_type(function, result);
    duckdb_scalar_function_set_extra_info(function, duck, NULL);
    duckdb_scalar_function_set_function(function, row_is_live);
    bool ok = duckdb_register_scalar_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&result);
    duckdb_destroy_scalar_function(&function);
    return ok || err_set(err, ERR_QUERY_ENGINE, "libduckdb refused the condition of deleted rows");
}
