/* Row streams on their way into a file: slices, errors, several writers at once, stopping, memory.
 */
#define _GNU_SOURCE /* memfd_create */
#include "duck_test.h"

#include "base/clock.h"
#include "base/limits.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* A sanitizer takes memory of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

static const Column mixed_columns[] = {{{"id", 2}, {TYPE_LONG, 0, 0, NULL}, {"", 0}},
                                       {{"flag", 4}, {TYPE_BOOLEAN, 0, 0, NULL}, {"", 0}},
                                       {{"text", 4}, {TYPE_STRING, 0, 0, NULL}, {"", 0}},
                                       {{"d", 1}, {TYPE_DOUBLE, 0, 0, NULL}, {"", 0}}};

/* Every column with a pattern of NULLs of its own, and strings on both sides of twelve bytes. */
static void fill_mixed(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    row_builder_set_i64(builder, 0, (int64_t)row);
    if (row % 3 != 0) row_builder_set_i64(builder, 1, row % 2 == 0);
    if (row % 5 != 0)
        row_builder_set_str(builder, 2,
                            str_printf(rows->arena, "%.*s%zu", (int)(row % 30),
                                       "------------------------------", row));
    if (row % 7 != 0) row_builder_set_double(builder, 3, (double)row / 4);
}

#define MIXED_CHECK                                                                                \
    "count(*), count(DISTINCT id), sum(id)::BIGINT, "                                              \
    "bool_and((flag IS NULL) = (id %% 3 = 0) AND coalesce(flag = (id %% 2 = 0), true)), "          \
    "bool_and((text IS NULL) = (id %% 5 = 0) AND coalesce(text = repeat('-', (id %% 30)::INT) || " \
    "id, true)), "                                                                                 \
    "bool_and((d IS NULL) = (id %% 7 = 0) AND coalesce(d = id / 4, true))"

static void assert_mixed(DuckWorld *world, Str path, size_t count)
{
    Schema schema = {mixed_columns, 4};
    Str    from   = duck_read_parquet_sql(world->arena, &path, 1, &schema);
    Str    want   = str_printf(world->arena, "%zu|%zu|%zu|true|true|true\n", count, count,
                               count * (count - 1) / 2);
    assert_query(world, str_printf(world->arena, "SELECT " MIXED_CHECK " FROM %.*s", STR_ARG(from)),
                 want.ptr);
}

static bool write_mixed(DuckWorld *world, GeneratedRows *rows, Str path, Arena *arena,
                        DuckFile *file, Err *err)
{
    DuckWriteOptions options = write_options();
    return duck_parquet_write(world->duck, &rows->base, path, &options, arena, file, err);
}

/* Slices begin anywhere in a block, so validity bits must be moved. */
static void blocks_of_any_size_arrive_whole(void **state)
{
    DuckWorld   *world   = *state;
    const size_t sizes[] = {1, 7, 63, 64, 65, 1000, 2047, 2048, 2049, 5000, 20000};

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        GeneratedRows rows = generated_rows(mixed_columns, 4, sizes[i] < 60 ? 500 : 9973, sizes[i],
                                            fill_mixed);
        DuckFile      file;
        Str           path = str_printf(world->arena, "%s/%zu.parquet", world->dir, sizes[i]);
        assert_ok(write_mixed(world, &rows, path, world->arena, &file, &world->err), &world->err);
        assert_int_equal(file.row_count, rows.row_count);
        assert_mixed(world, path, rows.row_count);
        arena_close(rows.arena);
    }
}

static void fill_ids(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    row_builder_set_i64(builder, 0, (int64_t)(row + *(size_t *)rows->arg));
}

static size_t count_open_files(void)
{
    size_t count = 0;
    DIR   *dir   = opendir("/proc/self/fd");

    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

/* Statements are kept for files of the same form, some of the forms used last. */
static void every_file_has_the_rows_and_columns_of_its_own_stream(void **state)
{
    enum { FORMS = 20, ROUNDS = 4 };
    DuckWorld *world      = *state;
    size_t     open_files = 0;

    for (size_t i = 0; i < FORMS * ROUNDS; i++) {
        size_t form   = i % FORMS * 7 % FORMS;
        Column column = {str_printf(world->arena, "c%zu", form), {TYPE_LONG, 0, 0, NULL}, {"", 0}};
        Schema schema = {&column, 1};
        GeneratedRows rows = generated_rows(&column, 1, 5 + i, 3, fill_ids);
        DuckFile      file;
        Str           path = str_printf(world->arena, "%s/%zu.parquet", world->dir, i);

        rows.arg     = &i;
        rows.fail_at = i % 9 == 8 ? 4 : 0;
        if (rows.fail_at) {
            assert_false(write_mixed(world, &rows, path, world->arena, &file, &world->err));
            err_clear(&world->err);
            arena_close(rows.arena);
            continue;
        }
        assert_ok(write_mixed(world, &rows, path, world->arena, &file, &world->err), &world->err);
        assert_int_equal(file.row_count, 5 + i);
        assert_str_is(file.columns[0].max,
                      str_c(world->arena, str_printf(world->arena, "%zu", 2 * i + 4)));
        assert_query(
            world,
            str_printf(world->arena, "SELECT min(c%zu), max(c%zu), count(*) FROM %.*s", form, form,
                       STR_ARG(duck_read_parquet_sql(world->arena, &path, 1, &schema))),
            str_c(world->arena, str_printf(world->arena, "%zu|%zu|%zu\n", i, 2 * i + 4, 5 + i)));
        arena_close(rows.arena);
        if (i == FORMS) open_files = count_open_files();
        if (i > FORMS) assert_true(count_open_files() <= open_files);
    }
}

static void no_rows_make_no_file(void **state)
{
    DuckWorld    *world = *state;
    GeneratedRows rows  = generated_rows(mixed_columns, 4, 0, 100, fill_mixed);
    DuckFile      file  = {.row_count = 7};
    Str           path  = path_in(world, "none.parquet");

    assert_ok(write_mixed(world, &rows, path, world->arena, &file, &world->err), &world->err);
    assert_int_equal(file.row_count, 0);
    assert_false(file_exists(path));
    arena_close(rows.arena);
    Schema           schema  = {mixed_columns, 1};
    DuckWriteOptions options = write_options();
    assert_ok(duck_copy_query(world->session, STR("SELECT 1 WHERE false"), &schema, path, &options,
                              world->arena, &file, &world->err),
              &world->err);
    assert_int_equal(file.row_count, 0);
    assert_false(file_exists(path));
}

/* --- errors --- */

static void an_error_of_the_stream_is_the_callers_and_leaves_no_file(void **state)
{
    DuckWorld   *world = *state;
    const size_t at[]  = {1, 5000, 300000};

    for (size_t i = 0; i < COUNT_OF(at); i++) {
        GeneratedRows rows = generated_rows(mixed_columns, 4, 400000, 1000, fill_mixed);
        DuckFile      file;
        Str           path = path_in(world, "broken.parquet");
        rows.fail_at       = at[i];
        assert_false(write_mixed(world, &rows, path, world->arena, &file, &world->err));
        assert_err(&world->err, ERR_SOURCE, "the connection broke at row");
        assert_false(file_exists(path));
        arena_close(rows.arena);
    }
    GeneratedRows rows = generated_rows(mixed_columns, 4, 10, 10,
                                        fill_mixed); /* and the writer still works */
    DuckFile      file;
    Str           path = path_in(world, "whole.parquet");
    assert_ok(write_mixed(world, &rows, path, world->arena, &file, &world->err), &world->err);
    arena_close(rows.arena);
}

static void a_file_in_a_missing_folder_is_a_store_error(void **state)
{
    DuckWorld    *world = *state;
    GeneratedRows rows  = generated_rows(mixed_columns, 4, 10, 10, fill_mixed);
    DuckFile      file;

    assert_false(write_mixed(world, &rows, path_in(world, "no/where.parquet"), world->arena, &file,
                             &world->err));
    assert_err(&world->err, ERR_STORE, "no/where.parquet");
    assert_int_equal(world->err.native, ENOENT);
    arena_close(rows.arena);
}

/* A file-size limit stops the write as a full disk does. */
static void write_with_a_small_limit(void *arg)
{
    DuckWorld    *world = duck_world_new(256 * MEGABYTE);
    GeneratedRows rows  = generated_rows(mixed_columns, 4, 400000, 10000, fill_mixed);
    struct rlimit limit = {.rlim_cur = 100000, .rlim_max = 100000};
    DuckFile      file;
    Str           path = str_from_c(arg);

    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(1);
    if (write_mixed(world, &rows, path, world->arena, &file, &world->err)) _exit(2);
    if (world->err.code != ERR_STORE) _exit(3);
    if (world->err.native != EFBIG) _exit(4);
    if (file_exists(path)) _exit(5);
    arena_close(rows.arena);
    duck_world_close(world);
}

static void a_full_disk_is_a_store_error_and_leaves_no_file(void **state)
{
    DuckWorld *world = *state;
    char       text[2048];
    Str        path = path_in(world, "full.parquet");
    int status      = test_run_in_child(write_with_a_small_limit, (void *)(uintptr_t)path.ptr, text,
                                        sizeof(text));
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0) fail_msg("step %d: %s", WEXITSTATUS(status), text);
}

static void a_memfd_can_be_written_and_is_emptied_by_an_error(void **state)
{
    DuckWorld    *world = *state;
    int           fd    = memfd_create("test", MFD_CLOEXEC);
    Str           path  = str_printf(world->arena, "/proc/self/fd/%d", fd);
    GeneratedRows rows  = generated_rows(mixed_columns, 4, 50000, 1000, fill_mixed);
    DuckFile      file;
    struct stat   status;

    assert_true(fd >= 0);
    assert_ok(write_mixed(world, &rows, path, world->arena, &file, &world->err), &world->err);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, file.size_bytes);
    assert_mixed(world, path, 50000);
    rows.given   = 0;
    rows.fail_at = 40000;
    assert_false(write_mixed(world, &rows, path, world->arena, &file, &world->err));
    assert_err(&world->err, ERR_SOURCE, "");
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, 0);
    arena_close(rows.arena);
    (void)close(fd);
}

/* --- dictionaries --- */

/* So many values, again and again. */
static void fill_repeated(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    size_t distinct = *(size_t *)rows->arg;

    row_builder_set_str(builder, 0,
                        str_printf(rows->arena, "a value of some length %zu", row % distinct));
}

typedef struct Repeated {
    size_t rows, distinct;
    bool   has_dictionary;
} Repeated;

/* What the file's footer says of its column: "PLAIN_DICTIONARY|true|1154", with the bytes of its pages. */
static Str pages_of(DuckWorld *world, const Repeated *repeated, bool tells_limit)
{
    static const Column column = {{"text", 4}, {TYPE_STRING, 0, 0, NULL}, {"", 0}};
    GeneratedRows rows = generated_rows(&column, 1, repeated->rows, repeated->rows, fill_repeated);
    DuckWriteOptions options = {.compression = DUCK_UNCOMPRESSED, .tidelake_version = STR("0.1.0")};
    Str              path    = path_in(world, tells_limit ? "told.parquet" : "untold.parquet");
    size_t           distinct = repeated->distinct;
    DuckFile         file;

    rows.arg = &distinct;
    if (tells_limit) rows.base.row_limit = repeated->rows;
    assert_ok(duck_parquet_write(world->duck, &rows.base, path, &options, world->arena, &file,
                                 &world->err),
              &world->err);
    arena_close(rows.arena);
    return query_text(world, str_printf(world->arena,
                                        "SELECT encodings, dictionary_page_offset IS NOT NULL, "
                                        "total_compressed_size FROM parquet_metadata('%.*s')",
                                        STR_ARG(path)));
}

/* A dictionary wherever a column of a row group has 4,096 values at most. In files known to hold few rows libduckdb
 * makes room for fewer, and they are the same files: no column of theirs can have as many. */
static void small_dictionaries_make_the_same_files(void **state)
{
    static const Repeated cases[] = {{1, 1, true},        {64, 1, true},       {64, 64, true},
                                     {65, 65, true},      {500, 200, true},    {5000, 4096, true},
                                     {30000, 4096, true}, {30000, 4097, false}};
    DuckWorld            *world   = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Str told = pages_of(world, &cases[i], true);
        assert_true(str_starts_with(told, cases[i].has_dictionary ? STR("PLAIN_DICTIONARY|true|")
                                                                  : STR("PLAIN|false|")));
        assert_str_is(told, str_c(world->arena, pages_of(world, &cases[i], false)));
    }
}

/* --- several at once --- */

typedef struct Writer {
    DuckWorld *world;
    pthread_t  thread;
    pthread_t  pulled_on;
    size_t     fail_at;
    int        number;
    bool       ok;
    Err        err;
} Writer;

static void note_thread(GeneratedRows *rows)
{
    ((Writer *)rows->arg)->pulled_on = pthread_self();
}

static void *write_one(void *arg)
{
    Writer       *writer = arg;
    Arena        *arena  = arena_new();
    GeneratedRows rows   = generated_rows(mixed_columns, 4, 100000, 3000, fill_mixed);
    DuckFile      file;
    Str           path = str_printf(arena, "%s/w%d.parquet", writer->world->dir, writer->number);

    rows.arg          = writer;
    rows.before_block = note_thread;
    rows.fail_at      = writer->fail_at;
    writer->ok        = write_mixed(writer->world, &rows, path, arena, &file, &writer->err);
    arena_close(rows.arena);
    arena_close(arena);
    return NULL;
}

/* Each on the thread that called; one that fails does not disturb the others. */
static void four_writers_write_on_their_own_threads(void **state)
{
    DuckWorld *world = *state;
    Writer     writers[4];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            writers[i] = (Writer){.world = world, .number = i, .fail_at = i == round ? 90000 : 0};
            assert_int_equal(pthread_create(&writers[i].thread, NULL, write_one, &writers[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            Str path = str_printf(world->arena, "%s/w%d.parquet", world->dir, i);
            assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
            assert_true(pthread_equal(writers[i].pulled_on, writers[i].thread));
            if (i == round) {
                assert_false(writers[i].ok);
                assert_err(&writers[i].err, ERR_SOURCE, "");
                assert_false(file_exists(path));
                continue;
            }
            assert_ok(writers[i].ok, &writers[i].err);
            assert_mixed(world, path, 100000);
            assert_int_equal(unlink(path.ptr), 0);
        }
    }
}

static void *write_a_little(void *arg)
{
    Writer       *writer = arg;
    Arena        *arena  = arena_new();
    GeneratedRows rows   = generated_rows(mixed_columns, 4, 10, 10, fill_mixed);
    DuckFile      file;
    Str           path = str_printf(arena, "%s/w%d.parquet", writer->world->dir, writer->number);

    writer->ok = write_mixed(writer->world, &rows, path, arena, &file, &writer->err);
    arena_close(rows.arena);
    arena_close(arena);
    return NULL;
}

/* The first use opens the instance; whoever comes meanwhile waits. */
static void the_first_writers_may_start_together(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        DuckWorld *world = duck_world_new(256 * MEGABYTE);
        Writer     writers[4];
        for (int i = 0; i < 4; i++) {
            writers[i] = (Writer){.world = world, .number = i};
            assert_int_equal(pthread_create(&writers[i].thread, NULL, write_a_little, &writers[i]),
                             0);
        }
        for (int i = 0; i < 4; i++)
            assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        for (int i = 0; i < 4; i++)
            assert_ok(writers[i].ok, &writers[i].err);
        duck_world_close(world);
    }
}

/* --- stopping --- */

typedef struct Stopper {
    Cancel *cancel;
    size_t  at_block;
    size_t  block;
} Stopper;

static void stop_at_block(GeneratedRows *rows)
{
    Stopper *stopper = rows->arg;
    if (++stopper->block == stopper->at_block) cancel_request(stopper->cancel);
}

static void a_cancel_stops_a_writer_and_leaves_no_file(void **state)
{
    DuckWorld    *world = *state;
    Stopper       stop  = {world->cancel, 50, 0};
    GeneratedRows rows  = generated_rows(mixed_columns, 4, 1000000000, 1000, fill_mixed);
    DuckFile      file;
    Str           path = path_in(world, "stopped.parquet");

    rows.arg          = &stop;
    rows.before_block = stop_at_block;
    assert_false(write_mixed(world, &rows, path, world->arena, &file, &world->err));
    assert_err(&world->err, ERR_CANCELLED, "");
    assert_true(stop.block <= 53);
    assert_false(file_exists(path));
    assert_false(write_mixed(world, &rows, path, world->arena, &file, &world->err));
    assert_err(&world->err, ERR_CANCELLED, "");
    arena_close(rows.arena);
}

/* --- memory: 1 KB rows, four writers, row groups bounded in bytes (delta.md 5.12) --- */

static void fill_wide(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    char    *text  = arena_alloc_uninit(rows->arena, 1000);
    uint64_t state = row * 0x9E3779B97F4A7C15U + 1;
    for (size_t i = 0; i < 1000; i++) {
        state   = state * 6364136223846793005U + 1442695040888963407U;
        text[i] = (char)(' ' + (state >> 58)); /* does not compress to nothing */
    }
    row_builder_set_i64(builder, 0, (int64_t)row);
    row_builder_set_str(builder, 1, (Str){text, 1000});
}

/* Writes `count` rows of a number and a text to a file of its own, in a thread of its own. */
static void write_texts(Writer *writer, size_t count, size_t block_rows,
                        void (*fill)(GeneratedRows *, RowBuilder *, size_t),
                        int64_t row_group_bytes)
{
    static const Column columns[] = {{{"id", 2}, {TYPE_LONG, 0, 0, NULL}, {"", 0}},
                                     {{"s", 1}, {TYPE_STRING, 0, 0, NULL}, {"", 0}}};
    Arena              *arena     = arena_new();
    GeneratedRows       rows      = generated_rows(columns, 2, count, block_rows, fill);
    DuckWriteOptions    options   = write_options();
    DuckFile            file;
    Str path = str_printf(arena, "%s/texts%d.parquet", writer->world->dir, writer->number);

    options.row_group_bytes = row_group_bytes;
    writer->ok = duck_parquet_write(writer->world->duck, &rows.base, path, &options, arena, &file,
                                    &writer->err) &&
                 file.row_count == (int64_t)count;
    arena_close(rows.arena);
    arena_close(arena);
}

static void *write_wide(void *arg)
{
    write_texts(arg, 60000, 2048, fill_wide, 16 * MEGABYTE);
    return NULL;
}

static int64_t peak_bytes(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (int64_t)usage.ru_maxrss * 1024;
}

static void write_wide_on_four_threads(void *arg)
{
    int64_t    base  = peak_bytes();                   /* of the parent, which ran other tests */
    DuckWorld *world = duck_world_new(512 * MEGABYTE); /* half of it is the writers' */
    Writer     writers[4];

    (void)arg;
    for (int i = 0; i < 4; i++) {
        writers[i] = (Writer){.world = world, .number = i};
        if (pthread_create(&writers[i].thread, NULL, write_wide, &writers[i]) != 0) _exit(1);
    }
    for (int i = 0; i < 4; i++) {
        if (pthread_join(writers[i].thread, NULL) != 0) _exit(2);
        if (!writers[i].ok) {
            (void)fprintf(stderr, "%s", writers[i].err.message);
            _exit(3);
        }
    }
    (void)fprintf(stderr, "peak %lld MB", (long long)((peak_bytes() - base) / MEGABYTE));
    if (!IS_SANITIZED && peak_bytes() - base > 300 * MEGABYTE) _exit(4);
    duck_world_close(world);
}

static void four_writers_of_wide_rows_stay_within_their_memory(void **state)
{
    char text[2048];
    int  status = test_run_in_child(write_wide_on_four_threads, *state, text, sizeof(text));
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0) fail_msg("step %d: %s", WEXITSTATUS(status), text);
    print_message("# %s\n", text);
}

/* --- values that a share of the memory has no place for --- */

#define LARGE_BYTES ((size_t)30 << 20)

static void fill_large(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    char *text = arena_alloc_uninit(rows->arena, LARGE_BYTES);

    memset(text, (int)('a' + row), LARGE_BYTES);
    row_builder_set_i64(builder, 0, (int64_t)row);
    row_builder_set_str(builder, 1, (Str){text, LARGE_BYTES});
}

static void *write_large(void *arg)
{
    write_texts(arg, 2, 1, fill_large, 8 * MEGABYTE);
    return NULL;
}

/* The writers' share is 24 MB; a value alone takes more. */
static void values_larger_than_the_share_are_written(void **state)
{
    DuckWorld *world = duck_world_new(48 * MEGABYTE);
    Writer     writers[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        writers[i] = (Writer){.world = world, .number = i};
    (void)write_large(&writers[2]); /* alone, and then two at once */
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_large, &writers[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
    for (int i = 0; i < 3; i++)
        assert_ok(writers[i].ok, &writers[i].err);
    duck_world_close(world);
}

/* A page tells its length in 31 bits; libduckdb would find out after all the work. */
static void a_value_that_no_page_can_hold_is_refused_by_name(void **state)
{
    DuckWorld         *world   = *state;
    const Str          texts[] = {STR("short"), {"never read", LIMIT_VALUE_BYTES + 1}};
    const ColumnVector vectors = {.type = COLUMN_TYPE(TYPE_STRING), .data = texts};
    const Column       column  = {STR("body"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY};
    const Schema       schema  = {&column, 1};
    DuckWriteOptions   options = write_options();
    Str                path    = path_in(world, "page.parquet");
    DuckFile           file;
    Err                err = ERR_INIT;

    for (size_t count = 2; count > 0; count--) { /* and the one that is short is written */
        RowBlock block = {&vectors, 1, count};
        bool     ok    = duck_parquet_write(world->duck,
                                            row_stream_of_block(world->arena, &schema, &block), path,
                                            &options, world->arena, &file, &err);
        assert_int_equal(ok, count == 1);
        if (!ok) assert_err(&err, ERR_LIMIT, "column body: a value is longer than 2047 MiB");
        assert_int_equal(file_exists(path), ok);
        err_clear(&err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(blocks_of_any_size_arrive_whole),
        duck_test(no_rows_make_no_file),
        duck_test(an_error_of_the_stream_is_the_callers_and_leaves_no_file),
        duck_test(a_file_in_a_missing_folder_is_a_store_error),
        duck_test(a_full_disk_is_a_store_error_and_leaves_no_file),
        duck_test(small_dictionaries_make_the_same_files),
        duck_test(a_memfd_can_be_written_and_is_emptied_by_an_error),
        duck_test(four_writers_write_on_their_own_threads),
        cmocka_unit_test(the_first_writers_may_start_together),
        duck_test(a_cancel_stops_a_writer_and_leaves_no_file),
        cmocka_unit_test(values_larger_than_the_share_are_written),
        duck_test(four_writers_of_wide_rows_stay_within_their_memory),
        duck_test(a_value_that_no_page_can_hold_is_refused_by_name),
        duck_test(every_file_has_the_rows_and_columns_of_its_own_stream),
    };
    return RUN_TESTS(tests);
}
