/* duck_test.h - a Duck under test with a folder, a session, and rows made by hand. */
#ifndef TIDELAKE_DUCK_TEST_H
#define TIDELAKE_DUCK_TEST_H

#include "support/test_support.h"

#include "base/buf.h"
#include "duck/duck.h"

#include <errno.h>

#define MEGABYTE ((int64_t)1 << 20)

typedef struct DuckWorld {
    Arena       *arena;
    const char  *dir;
    Cancel      *cancel;
    Duck        *duck;
    DuckSession *session;
    Err          err;
} DuckWorld;

UNUSED static DuckWorld *duck_world_new(int64_t memory_limit_bytes)
{
    DuckWorld *world    = mem_alloc(sizeof(DuckWorld));
    world->arena        = arena_new();
    world->dir          = test_dir_new(world->arena);
    world->cancel       = cancel_new();
    DuckOptions options = {
        .memory_limit_bytes = memory_limit_bytes,
        .threads            = 2,
        .temp_directory     = str_printf(world->arena, "%s/made/when/needed", world->dir),
        .cancel             = world->cancel};
    assert_ok(duck_open(&options, &world->duck, &world->err), &world->err);
    assert_ok(duck_session_open(world->duck, &world->session, &world->err), &world->err);
    return world;
}

UNUSED static void duck_world_close(DuckWorld *world)
{
    duck_session_close(world->session);
    duck_close(world->duck);
    cancel_close(world->cancel);
    test_dir_remove(world->dir);
    arena_close(world->arena);
    mem_free(world);
}

UNUSED static int duck_world_setup(void **state)
{
    *state = duck_world_new(512 * MEGABYTE);
    return 0;
}

UNUSED static int duck_world_teardown(void **state)
{
    duck_world_close(*state);
    return 0;
}

#define duck_test(name) cmocka_unit_test_setup_teardown(name, duck_world_setup, duck_world_teardown)

UNUSED static Str path_in(DuckWorld *world, const char *name)
{
    return str_printf(world->arena, "%s/%s", world->dir, name);
}

UNUSED static bool file_exists(Str path)
{
    char text[4200];
    (void)snprintf(text, sizeof(text), "%.*s", STR_ARG(path));
    return access(text, F_OK) == 0;
}

UNUSED static DuckWriteOptions write_options(void)
{
    return (DuckWriteOptions){.compression = DUCK_ZSTD, .tidelake_version = STR("0.1.0")};
}

/* Everything a query gives, cells parted by '|' and rows by a line feed; NULL as "NULL". */
UNUSED static Str query_text(DuckWorld *world, Str sql)
{
    RowStream *rows = NULL;
    RowBlock   block;
    Buf        text = buf_new(world->arena, 0);

    assert_ok(duck_query(world->session, sql, world->arena, &rows, &world->err), &world->err);
    do {
        assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
        for (size_t row = 0; row < block.row_count; row++)
            for (size_t i = 0; i < block.column_count; i++) {
                bool is_null = column_is_null(&block.columns[i], row);
                Str  cell    = is_null ? STR("NULL")
                                       : column_format(world->arena, &block.columns[i], row);
                buf_append(&text, cell);
                buf_append_char(&text, i + 1 < block.column_count ? '|' : '\n');
            }
    } while (block.row_count > 0);
    row_stream_close(rows);
    return buf_str(&text);
}

#define assert_query(world, sql, text) \
    test_assert_str(query_text((world), (sql)), (text), __FILE__, __LINE__)

/* --- rows made up as they are asked for --- */

typedef struct GeneratedRows GeneratedRows;
struct GeneratedRows {
    RowStream base;
    Arena    *arena;     /* of the block at hand */
    size_t    row_count; /* in all */
    size_t    block_rows;
    size_t    given;
    size_t    fail_at; /* the row whose block fails; 0: none */
    void (*fill)(GeneratedRows *rows, RowBuilder *builder, size_t row);
    void (*before_block)(GeneratedRows *rows); /* may be NULL */
    void *arg;
};

UNUSED static bool generated_next(RowStream *stream, RowBlock *out, Err *err)
{
    GeneratedRows *rows = (GeneratedRows *)stream;
    size_t         end  = MIN(rows->given + rows->block_rows, rows->row_count);

    if (rows->before_block) rows->before_block(rows);
    if (rows->fail_at > 0 && end >= rows->fail_at)
        return err_set(err, ERR_SOURCE, "the connection broke at row %zu", rows->fail_at);
    arena_reset(rows->arena);
    RowBuilder *builder = row_builder_new(rows->arena, &stream->schema);
    for (size_t row = rows->given; row < end; row++) {
        row_builder_begin(builder);
        rows->fill(rows, builder, row);
    }
    rows->given = end;
    *out        = row_builder_block(builder);
    return true;
}

UNUSED static GeneratedRows generated_rows(const Column *columns, size_t column_count,
                                           size_t row_count, size_t block_rows,
                                           void (*fill)(GeneratedRows *, RowBuilder *, size_t))
{
    return (GeneratedRows){.base      = {.schema = {columns, column_count}, .next = generated_next},
                           .arena     = arena_new(),
                           .row_count = row_count,
                           .block_rows = block_rows,
                           .fill       = fill};
}

#endif
