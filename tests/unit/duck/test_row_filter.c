/* Rows left out of a scan by their numbers: in every file its own, whichever columns are read,
 * pruned or sorted by. */
#include "duck_test.h"

#define FILES     3
#define FILE_ROWS 300000 /* more than one row group */

typedef struct Filtered {
    Str           paths[FILES];
    RowSet        sets[FILES];
    const RowSet *listed[FILES];
    Schema        schema;
    Str           from, filter;
} Filtered;

/* File i has the ids i * FILE_ROWS and on. Of the first every 50th row is gone, of the second a
 * range, of the third none. */
static Filtered *filtered_new(DuckWorld *world)
{
    Filtered *filtered = ARENA_NEW(world->arena, Filtered);
    Column   *columns  = ARENA_ARRAY(world->arena, Column, 2);

    columns[0]       = (Column){.name = STR("id"), .type = COLUMN_TYPE(TYPE_LONG)};
    columns[1]       = (Column){.name = STR("note"), .type = COLUMN_TYPE(TYPE_STRING)};
    filtered->schema = (Schema){.columns = columns, .column_count = 2};
    for (size_t i = 0; i < FILES; i++) {
        DuckFile         file;
        DuckWriteOptions options = write_options();
        filtered->paths[i]       = path_in(world, str_printf(world->arena, "%zu.parquet", i).ptr);
        Str select               = str_printf(world->arena,
                                              "SELECT i AS id, 'row ' || i AS note FROM range(%zu, %zu) r(i)",
                                              i * FILE_ROWS, (i + 1) * FILE_ROWS);
        assert_ok(duck_copy_query(world->session, select, &filtered->schema, filtered->paths[i],
                                  &options, world->arena, &file, &world->err),
                  &world->err);
        filtered->sets[i] = row_set_begin(world->arena);
        for (uint64_t row = 0; i == 0 && row < FILE_ROWS; row += 50)
            row_set_add(&filtered->sets[i], row, row);
        if (i == 1) row_set_add(&filtered->sets[i], 100000, 249999);
        row_set_end(&filtered->sets[i]);
        filtered->listed[i] = i < 2 ? &filtered->sets[i] : NULL;
    }
    filtered->from = duck_read_parquet_sql(world->arena, filtered->paths, FILES, &filtered->schema);
    filtered->filter = duck_row_filter_sql(world->duck, filtered->listed, FILES, world->arena);
    return filtered;
}

static void ask(DuckWorld *world, const Filtered *filtered, const char *what, const char *more,
                const char *want)
{
    Str sql = str_printf(world->arena, "SELECT %s FROM %.*s f WHERE %.*s%s", what,
                         STR_ARG(filtered->from), STR_ARG(filtered->filter), more);
    assert_query(world, sql, want);
}

static void rows_in_a_set_are_left_out_of_their_file_alone(void **state)
{
    DuckWorld *world    = *state;
    Filtered  *filtered = filtered_new(world);

    ask(world, filtered, "count(*)", "", "744000\n");
    ask(world, filtered, "f.file_index, count(*), min(id), max(id)", " GROUP BY 1 ORDER BY 1",
        "0|294000|1|299999\n1|150000|300000|599999\n2|300000|600000|899999\n");
    ask(world, filtered, "count(*)", " AND id % 50 = 0 AND id < 300000", "0\n");
    ask(world, filtered, "count(*)", " AND note LIKE '%000'", "450\n");
    ask(world, filtered, "id, note", " AND id BETWEEN 399998 AND 550001 ORDER BY id",
        "399998|row 399998\n399999|row 399999\n550000|row 550000\n550001|row 550001\n");
    ask(world, filtered, "id", " ORDER BY id LIMIT 3", "1\n2\n3\n");
    /* one file alone asked for by its name, others pruned by their bounds */
    ask(world, filtered, "count(*), min(f.file_index)",
        str_printf(world->arena, " AND f.filename = '%.*s'", STR_ARG(filtered->paths[1])).ptr,
        "150000|1\n");
    ask(world, filtered, "count(*)", " AND f.file_index = 0", "294000\n");
    ask(world, filtered, "id", " AND id IN (600000, 50, 400000, 51)  ORDER BY 1", "51\n600000\n");
}

/* The condition goes with its arena: a text kept for too long fails, it never finds another's. */
static void a_filter_lives_as_long_as_its_arena(void **state)
{
    DuckWorld *world    = *state;
    Filtered  *filtered = filtered_new(world);
    Arena     *arena    = arena_new();
    RowStream *rows     = NULL;
    RowBlock   block;

    Str filter = str_copy(world->arena,
                          duck_row_filter_sql(world->duck, filtered->listed, FILES, arena));
    Str sql    = str_printf(world->arena, "SELECT count(*) FROM %.*s f WHERE %.*s",
                            STR_ARG(filtered->from), STR_ARG(filter));
    assert_query(world, sql, "744000\n");
    arena_close(arena);
    bool ok = duck_query(world->session, sql, world->arena, &rows, &world->err) &&
              row_stream_next(rows, &block, &world->err);
    assert_false(ok);
    assert_err(&world->err, ERR_QUERY_ENGINE, "there is no filter of rows of this number");
    row_stream_close(rows);
    ask(world, filtered, "count(*)", "", "744000\n"); /* others go on */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(rows_in_a_set_are_left_out_of_their_file_alone),
        duck_test(a_filter_lives_as_long_as_its_arena),
    };
    return RUN_TESTS(tests);
}
