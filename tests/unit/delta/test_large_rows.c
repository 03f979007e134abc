/* Rows with large values: each in a file of its own, in the rows' order, its block let go of before the file is
 * over; and nothing of a read that fails stays. */
#include "support/test_support.h"

#include "delta/large_rows.h"
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

static Blocks blocks_of(World *world, const int *sizes, size_t count)
{
    char *text = arena_alloc_uninit(world->arena, LARGE_ROW_BYTES);

    for (size_t i = 0; i < LARGE_ROW_BYTES; i++)
        text[i] = (char)('a' + i % 26);
    return (Blocks){.base  = {.schema  = test_schema(world->arena),
                              .next    = blocks_next,
                              .release = blocks_release},
                    .arena = arena_new(),
                    .sizes = sizes,
                    .count = count,
                    .large = {text, LARGE_ROW_BYTES}};
}

static void each_large_row_is_a_piece_of_its_own(void **state)
{
    static const int sizes[]    = {2, -3, -1, 1, 70, -67};
    static const int expected[] = {4, -1, -1, 137,
                                   -1}; /* rows of each file, -1: one that is large */
    World           *world      = world_new(state);
    Blocks           blocks     = blocks_of(world, sizes, COUNT_OF(sizes));
    LargeRows       *large      = large_rows_new(&blocks.base, world->arena);
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

static void large_rows_get_files_of_their_own(void **state)
{
    static const int sizes[]  = {5, -2, -1, 3};
    static const int counts[] = {6, 1, 1, 3};
    World           *world    = world_new(state);
    DeltaTable      *table    = create_table(world, "t");
    DeltaWriter     *writer   = open_writer(world, table);
    Blocks           blocks   = blocks_of(world, sizes, COUNT_OF(sizes));
    DeltaAdds        adds;
    DeltaOutcome     outcome;

    assert_ok(delta_writer_write_files(writer, &blocks.base, world->arena, &adds, &world->err),
              &world->err);
    assert_int_equal(adds.count, COUNT_OF(counts));
    for (size_t i = 0; i < adds.count; i++)
        assert_int_equal(adds.items[i].row_count, counts[i]);
    assert_ok(delta_writer_publish(writer, adds.items, adds.count, &world->err), &world->err);
    DeltaCommit commit = {.adds            = adds.items,
                          .add_count       = adds.count,
                          .is_blind_append = true,
                          .user_metadata   = STR_EMPTY};
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    delta_writer_close(writer);
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
        cmocka_unit_test(a_read_that_fails_leaves_no_file_of_it),
    };
    return RUN_DELTA_TESTS(tests);
}
