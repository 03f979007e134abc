/* Rows with large values: each in a file of its own, in the rows' order, its block let go of before the file is
 * over; and nothing of a read that fails stays. */
#include "support/test_support.h"

#include "delta/large_rows.h"
#include "delta/maintain.h"
#include "delta/optimize.h"
#include "unit/delta/delta_test.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* Blocks of rows (id, name), the last row of a block with a large value where its size is negative. */
typedef struct Blocks {
    RowStream  base;
    Arena     *arena; /* of the block at hand */
    const int *sizes;
    size_t     count, at, released;
    int64_t    next_id;
    Str        large;
    bool       is_released, fails_at_end;
} Blocks;

static bool blocks_next(RowStream *stream, RowBlock *out, Err *err)
{
    Blocks *blocks = (Blocks *)stream;

    assert_true(blocks->at <= blocks->count); /* nobody asks behind the end */
    blocks->is_released = false;
    *out                = (RowBlock){.row_count = 0};
    if (blocks->at++ == blocks->count)
        return !blocks->fails_at_end || err_set(err, ERR_SOURCE, "the source went away");
    arena_reset(blocks->arena);
    int         size    = blocks->sizes[blocks->at - 1];
    RowBuilder *builder = row_builder_new(blocks->arena, &stream->schema);
    for (int i = 0; i < abs(size); i++, blocks->next_id++) {
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, blocks->next_id);
        if (blocks->next_id % 3) row_builder_set_str(builder, 1, STR("small"));
        if (size < 0 && i == -size - 1) row_builder_set_str(builder, 1, STR("large"));
    }
    *out = row_builder_block(builder);
    if (size < 0) { /* not copied: it is large */
        Str *texts                = (Str *)(uintptr_t)out->columns[1].data;
        texts[out->row_count - 1] = blocks->large;
    }
    return true;
}

static void blocks_release(RowStream *stream)
{
    Blocks *blocks = (Blocks *)stream;

    assert_false(blocks->is_released);
    assert_true(blocks->sizes[blocks->at - 1] < 0);
    blocks->is_released = true;
    blocks->released++;
    arena_reset(blocks->arena);
}

static Blocks blocks_of_bytes(World *world, const int *sizes, size_t count, size_t bytes)
{
    char *text = arena_alloc_uninit(world->arena, bytes);

    for (size_t i = 0; i < bytes; i++)
        text[i] = (char)('a' + i % 26);
    return (Blocks){.base  = {.schema  = test_schema(world->arena),
                              .next    = blocks_next,
                              .release = blocks_release},
                    .arena = arena_new(),
                    .sizes = sizes,
                    .count = count,
                    .large = {text, bytes}};
}

static Blocks blocks_of(World *world, const int *sizes, size_t count)
{
    return blocks_of_bytes(world, sizes, count, LARGE_ROW_BYTES);
}

static void each_large_row_is_a_piece_of_its_own(void **state)
{
    static const int sizes[]    = {2, -3, -1, 1, 70, -67};
    static const int expected[] = {4, -1, -1, 137,
                                   -1}; /* rows of each file, -1: one that is large */
    World           *world      = world_new(state);
    Blocks           blocks     = blocks_of(world, sizes, COUNT_OF(sizes));
    LargeRows       *large      = large_rows_new(&blocks.base, 0, world->arena);
    int64_t          id         = 0;
    bool             has_rows, is_large;
    RowBlock         block;

    for (size_t file = 0; file < COUNT_OF(expected); file++) {
        assert_ok(large_rows_find_file(large, &has_rows, &is_large, &world->err), &world->err);
        assert_true(has_rows);
        assert_int_equal(is_large, expected[file] < 0);
        int rows = 0;
        for (;;) {
            assert_ok(row_stream_next(large_rows_of_file(large), &block, &world->err), &world->err);
            if (block.row_count == 0) break;
            for (size_t i = 0; i < block.row_count; i++, rows++, id++) {
                assert_int_equal(column_i64(&block.columns[0], i), id);
                assert_int_equal(column_is_null(&block.columns[1], i), id % 3 == 0 && !is_large);
                if (!column_is_null(&block.columns[1], i))
                    assert_int_equal(column_str(&block.columns[1], i).len,
                                     is_large ? LARGE_ROW_BYTES : STR("small").len);
            }
        }
        assert_int_equal(rows, abs(expected[file]));
        assert_int_equal(blocks.is_released, is_large); /* before the next block is asked for */
    }
    assert_ok(large_rows_find_file(large, &has_rows, &is_large, &world->err), &world->err);
    assert_false(has_rows);
    assert_int_equal(id, blocks.next_id);
    assert_int_equal(blocks.released, 3);
    arena_close(blocks.arena);
    world_close(world);
}

static DeltaWriter *open_writer(World *world, DeltaTable *table)
{
    DeltaWriter *writer = NULL;
    assert_ok(delta_writer_open(table, STR("stream.a"), NULL, &writer, &world->err), &world->err);
    return writer;
}

/* All of the rows, as one commit. */
static void append_files(World *world, DeltaTable *table, Blocks *blocks, DeltaAdds *adds)
{
    DeltaWriter *writer = open_writer(world, table);
    DeltaOutcome outcome;

    assert_ok(delta_writer_write_files(writer, &blocks->base, world->arena, adds, &world->err),
              &world->err);
    assert_ok(delta_writer_publish(writer, adds->items, adds->count, &world->err), &world->err);
    DeltaCommit commit = {.adds            = adds->items,
                          .add_count       = adds->count,
                          .is_blind_append = true,
                          .user_metadata   = STR_EMPTY};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
}

static void large_rows_get_files_of_their_own(void **state)
{
    static const int sizes[]  = {5, -2, -1, 3};
    static const int counts[] = {6, 1, 1, 3};
    World           *world    = world_new(state);
    DeltaTable      *table    = create_table(world, "t");
    Blocks           blocks   = blocks_of(world, sizes, COUNT_OF(sizes));
    DeltaAdds        adds;

    append_files(world, table, &blocks, &adds);
    assert_int_equal(adds.count, COUNT_OF(counts));
    for (size_t i = 0; i < adds.count; i++)
        assert_int_equal(adds.items[i].row_count, counts[i]);
    assert_int_equal(query_table(world, table, "SELECT count(DISTINCT id) FROM %s"), 11);
    assert_int_equal(
        query_table(world, table,
                    "SELECT count(*) FROM %s WHERE id IN (6, 7) AND strlen(name) = 16777216"),
        2);
    assert_int_equal(query_table(world, table, "SELECT count(*) FROM %s WHERE name = 'small'"), 6);
    arena_close(blocks.arena);
    delta_table_close(table);
    world_close(world);
}

/* The log says of such a file what it does of any: bounds as short as others', and none that hides the row. */
static void statistics_of_a_large_row_are_short_and_hide_nothing(void **state)
{
    static const int    sizes[] = {2, -1};
    static const size_t bytes[] = {2000, LARGE_ROW_BYTES};

    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        World      *world  = world_new(state);
        DeltaTable *table  = create_table(world, "t");
        Blocks      blocks = blocks_of_bytes(world, sizes, COUNT_OF(sizes), bytes[i]);
        Str         id = STR("2"), value = blocks.large, part = STR("abcdefghijklmnopqrstuvwxyz");
        size_t      at = 0, found = 0;
        DeltaAdds   adds;
        DeltaBounds bounds;
        const DeltaFile *file;

        world->context.large_row_bytes = bytes[0];
        append_files(world, table, &blocks, &adds);
        assert_int_equal(adds.count, 2);
        assert_true(read_text(world, commit_path(world, "t", 1)).len < 2500);
        while (delta_table_next_file(table, &at, &file)) {
            if (file->row_count != 1) continue;
            found++;
            assert_true(delta_file_find_bounds(table, file, STR("id"), world->arena, &bounds));
            assert_true(str_equal(bounds.min, id) && str_equal(bounds.max, id));
            assert_int_equal(bounds.null_count, 0);
            assert_true(delta_file_find_bounds(table, file, STR("name"), world->arena, &bounds));
            assert_int_equal(bounds.null_count, 0);
            assert_int_equal(bounds.min.len, 32);
            assert_true(str_starts_with(value, bounds.min));
            assert_true(str_compare(bounds.max, value) > 0);
            assert_int_equal(bounds.max.len, 33);
            assert_true(
                delta_file_may_hold_range(table, file, STR("name"), &value, true, &value, true));
            assert_true(
                delta_file_may_hold_range(table, file, STR("name"), &part, false, NULL, true));
            assert_false(delta_file_may_hold_range(table, file, STR("id"), NULL, true, &id, false));
            assert_false(delta_file_may_hold_null(table, file, STR("name")));
        }
        assert_int_equal(found, 1);
        arena_close(blocks.arena);
        delta_table_close(table);
        world_close(world);
    }
}

static const DeltaFile *file_of_id(World *world, DeltaTable *table, Str id)
{
    const DeltaFile *file;
    DeltaBounds      bounds;

    for (size_t at = 0; delta_table_next_file(table, &at, &file);)
        if (delta_file_find_bounds(table, file, STR("id"), world->arena, &bounds) &&
            str_equal(bounds.min, id))
            return file;
    fail_msg("no file begins with id %.*s", STR_ARG(id));
    return NULL;
}

/* The only row of a file takes the file along, without a vector; of the files around it rows go by vector. Then a
 * compaction puts together what is left. */
static void rows_go_by_vector_and_compaction_takes_the_rest(void **state)
{
    static const int sizes[] = {3, -2, -1, 2}; /* ids 0 to 3, 4, 5, 6 to 7; large: 4 and 5 */
    World           *world   = world_new(state);
    DeltaTable      *table   = create_vector_table(world, "t");
    Blocks           blocks  = blocks_of_bytes(world, sizes, COUNT_OF(sizes), 2000);
    RowSet           first   = row_set_begin(world->arena);
    DeltaOptimize    options = {.purpose = STR("optimize")};
    DeltaOptimized   done;
    DeltaAdds        adds;
    DeltaOutcome     outcome;

    world->context.large_row_bytes = 2000;
    append_files(world, table, &blocks, &adds);
    assert_int_equal(adds.count, 4);
    row_set_add(&first, 0, 0);
    row_set_end(&first);
    DeltaDeletion deletions[] = {{.file = file_of_id(world, table, STR("4")), .rows = &first},
                                 {.file = file_of_id(world, table, STR("0")), .rows = &first}};
    DeltaCommit  commit = {.operation = STR("DELETE"), .deletions = deletions, .deletion_count = 2};
    DeltaWriter *writer = open_writer(world, table);
    assert_ok(delta_writer_delete_rows(writer, deletions, 2, world->arena, &world->err),
              &world->err);
    assert_ok(delta_writer_publish(writer, NULL, 0, &world->err), &world->err);
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
    assert_int_equal(deletions[0].vector.len, 0);
    assert_true(deletions[1].vector.len > 0);
    assert_int_equal(delta_table_get_file_count(table), 3);
    assert_int_equal(query_table(world, table, "SELECT sum(id)::BIGINT FROM %s"), 28 - 4);

    assert_ok(delta_table_optimize(table, &options, &done, &world->err), &world->err);
    assert_int_equal(done.removed_count, 3);
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_int_equal(query_table(world, table, "SELECT sum(id)::BIGINT FROM %s"), 28 - 4);
    assert_int_equal(query_table(world, table,
                                 "SELECT count(*) FROM %s WHERE id = 5 AND strlen(name) = 2000 AND "
                                 "name[1999:2000] = 'wx'"),
                     1);
    arena_close(blocks.arena);
    delta_table_close(table);
    world_close(world);
}

/* Text that no codec makes small. */
static void scramble(Blocks *blocks)
{
    char    *text  = (char *)(uintptr_t)blocks->large.ptr;
    uint64_t state = 1;

    for (size_t i = 0; i < blocks->large.len; i++) {
        state   = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        text[i] = (char)('0' + (state >> 58));
    }
}

/* Queries read what is put together, and no stream of rows makes their share of memory_limit larger. What they have no
 * room for is in files of its own already, and stays there; the rest is compacted as ever. */
static void values_larger_than_a_share_stay_where_they_are(void **state)
{
    static const int sizes[] = {3, -2, -1, 2}; /* ids 0 to 3, 4, 5, 6 to 7; large: 4 and 5 */
    DuckOptions      small   = {
               .memory_limit_bytes = INT64_C(48) << 20, .threads = 2, .temp_directory = STR("/tmp")};
    DeltaOptimize  options = {.purpose = STR("optimize")};
    Duck          *duck    = NULL;
    Err            err     = ERR_INIT;
    DeltaOptimized done;
    DeltaAdds      adds;

    (void)state;
    assert_ok(duck_open(&small, &duck, &err), &err);
    World      *world  = world_new((void **)&duck);
    DeltaTable *table  = create_table(world, "t");
    Blocks      blocks = blocks_of_bytes(world, sizes, COUNT_OF(sizes), (size_t)40 << 20);
    scramble(&blocks);
    append_files(world, table, &blocks, &adds);
    for (int again = 0; again <= 1; again++) {
        assert_ok(delta_table_optimize(table, &options, &done, &world->err), &world->err);
        assert_int_equal(done.removed_count, again ? 0 : 2);
        assert_int_equal(done.dropped_count, 0);
        assert_int_equal(delta_table_get_file_count(table), 3);
    }
    assert_int_equal(query_table(world, table, "SELECT sum(id)::BIGINT FROM %s"), 28);
    assert_int_equal(file_of_id(world, table, STR("4"))->row_count, 1);
    assert_int_equal(file_of_id(world, table, STR("5"))->row_count, 1);
    assert_int_equal(file_of_id(world, table, STR("0"))->row_count, 6);
    assert_int_equal(count_files(world, "t"),
                     5); /* with the two that were removed, and nothing half-written */
    arena_close(blocks.arena);
    delta_table_close(table);
    world_close(world);
    duck_close(duck);
}

/* libduckdb would find out with the page at hand, and take the whole instance down. */
static void a_value_that_fills_a_page_shares_none(void **state)
{
    static const struct {
        size_t lens[3];
        bool   is_null, may_share;
    } cases[] = {{{3, ((size_t)1 << 30) - 1, 0}, false, true},
                 {{(size_t)600 << 20, (size_t)600 << 20, 0}, false, true}, /* a page each */
                 {{3, (size_t)1 << 30, 0}, false, false},
                 {{0, 0, (size_t)2047 << 20}, false, false},
                 {{(size_t)600 << 20, (size_t)600 << 20, (size_t)1 << 30}, true, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str          texts[3];
        int64_t      numbers[3] = {0};
        uint64_t     validity   = cases[i].is_null ? 3 : 7; /* the last one is NULL */
        ColumnVector columns[]  = {
             {.type = COLUMN_TYPE(TYPE_LONG), .data = numbers},
             {.type = COLUMN_TYPE(TYPE_STRING), .data = texts, .validity = &validity}};

        for (size_t row = 0; row < 3; row++)
            texts[row] = (Str){"never read", cases[i].lens[row]};
        assert_int_equal(rows_may_share_pages(&(RowBlock){columns, 2, 3}), cases[i].may_share);
    }
}

static int64_t bytes_below(const char *path)
{
    DIR           *directory = opendir(path);
    struct dirent *entry;
    int64_t        bytes = 0;

    assert_non_null(directory);
    while ((entry = readdir(directory))) {
        char        below[4096];
        struct stat status;
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (stat(below, &status) == 0)
            bytes += S_ISDIR(status.st_mode) ? bytes_below(below) : status.st_size;
    }
    (void)closedir(directory);
    return bytes;
}

static void a_read_that_fails_leaves_no_file_of_it(void **state)
{
    static const int sizes[] = {5, -1, 3};
    World           *world   = world_new_local(state);
    DeltaTable      *table   = create_table(world, "t");
    DeltaWriter     *writer  = open_writer(world, table);
    Blocks           blocks  = blocks_of(world, sizes, COUNT_OF(sizes));
    Str              staging = str_printf(world->arena, "%s/t/_tidelake_staging", world->folder);
    DeltaAdds        adds;

    blocks.fails_at_end = true;
    assert_false(delta_writer_write_files(writer, &blocks.base, world->arena, &adds, &world->err));
    assert_err(&world->err, ERR_SOURCE, "the source went away");
    assert_int_equal(adds.count, 0);
    assert_int_equal(bytes_below(staging.ptr), 0);
    delta_writer_close(writer);
    arena_close(blocks.arena);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_large_row_is_a_piece_of_its_own),
        cmocka_unit_test(large_rows_get_files_of_their_own),
        cmocka_unit_test(statistics_of_a_large_row_are_short_and_hide_nothing),
        cmocka_unit_test(rows_go_by_vector_and_compaction_takes_the_rest),
        cmocka_unit_test(values_larger_than_a_share_stay_where_they_are),
        cmocka_unit_test(a_value_that_fills_a_page_shares_none),
        cmocka_unit_test(a_read_that_fails_leaves_no_file_of_it),
    };
    return RUN_DELTA_TESTS(tests);
}
