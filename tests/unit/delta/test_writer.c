/* Data files: from rows and queries, several at once, in the table's shape, and gone when nobody
 * wants them. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

static DeltaWriter *open_writer(World *world, DeltaTable *table, const Schema *schema)
{
    DeltaWriter *writer = NULL;
    assert_ok(delta_writer_open(table, STR("stream.a/b"), schema, &writer, &world->err),
              &world->err);
    return writer;
}

static void commit_adds(World *world, DeltaTable *table, const DeltaAdd *adds, size_t count)
{
    DeltaCommit commit = {
        .adds = adds, .add_count = count, .is_blind_append = true, .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(outcome, DELTA_WRITTEN);
}

#define WRITERS 4

typedef struct ThreadRun {
    DeltaWriter *writer;
    Arena       *arena;
    RowStream   *rows;
    DeltaAdd     add;
    Err          err;
    bool         ok;
} ThreadRun;

static void *run_writer(void *arg)
{
    ThreadRun *run = arg;
    run->ok        = delta_writer_write(run->writer, run->rows, run->arena, &run->add, &run->err);
    return NULL;
}

static void several_threads_write_at_once(void **state)
{
    World       *world  = world_new_local(state);
    DeltaTable  *table  = create_table(world, "t");
    DeltaWriter *writer = open_writer(world, table, NULL);
    ThreadRun    runs[WRITERS];
    pthread_t    threads[WRITERS];
    DeltaAdd     adds[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        Arena *arena = arena_new();
        runs[i]      = (ThreadRun){.writer = writer,
                                   .arena  = arena,
                                   .rows   = test_rows(arena, (int64_t)i * 5000, i == 2 ? 0 : 5000),
                                   .err    = ERR_INIT};
        assert_int_equal(pthread_create(&threads[i], NULL, run_writer, &runs[i]), 0);
    }
    for (size_t i = 0; i < WRITERS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_ok(runs[i].ok, &runs[i].err);
        adds[i] = runs[i].add;
    }
    assert_int_equal(adds[2].row_count, 0); /* no rows, no file */
    assert_int_equal(count_files(world, "t"), 0);
    assert_ok(delta_writer_publish(writer, adds, WRITERS, &world->err), &world->err);
    assert_int_equal(count_files(world, "t"), 3);
    commit_adds(world, table, adds, WRITERS);
    delta_writer_close(writer);
    assert_int_equal(count_rows(world, table), 15000);
    assert_int_equal(query_table(world, table, "SELECT count(DISTINCT id) FROM %s"), 15000);
    for (size_t i = 0; i < WRITERS; i++)
        arena_close(runs[i].arena);
    delta_table_close(table);
    world_close(world);
}

static void what_is_not_published_goes_with_the_writer(void **state)
{
    World       *world  = world_new_local(state);
    DeltaTable  *table  = create_table(world, "t");
    DeltaWriter *writer = open_writer(world, table, NULL);
    DeltaAdd     adds[2];
    for (int i = 0; i < 2; i++)
        assert_ok(delta_writer_write(writer, test_rows(world->arena, i, 1), world->arena, &adds[i],
                                     &world->err),
                  &world->err);
    assert_ok(delta_writer_publish(writer, &adds[1], 1, &world->err), &world->err);
    delta_writer_close(writer);
    assert_int_equal(count_files(world, "t"), 1);
    assert_int_equal(
        access(str_printf(world->arena, "%s/t/_tidelake_staging", world->folder).ptr, F_OK), -1);
    commit_adds(world, table, &adds[1], 1);
    assert_int_equal(query_table(world, table, "SELECT id FROM %s"), 1);
    delta_table_close(table);
    world_close(world);
}

/* The folders of runs that write for `purpose`, their names joined. */
static Str run_folders(World *world, const char *purpose)
{
    StoreChildren children;
    Buf           buf = buf_new(world->arena, 0);

    assert_ok(store_list_children(world->store,
                                  str_printf(world->arena, "t/_tidelake_staging/%s", purpose),
                                  world->arena, &children, &world->err),
              &world->err);
    for (size_t i = 0; i < children.count; i++)
        buf_printf(&buf, "%.*s ", STR_ARG(children.items[i].name));
    return buf_str(&buf);
}

static void append_one(World *world, DeltaTable *table, int64_t id, const char *purpose)
{
    DeltaAppend  append = {.rows          = test_rows(world->arena, id, 1),
                           .purpose       = str_from_c(purpose),
                           .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;

    assert_ok(delta_table_append(table, &append, &outcome, NULL, &world->err), &world->err);
}

/* Making and removing it is a good part of a small append; what a dead run leaves still goes. */
static void appends_share_one_folder_until_the_table_is_closed(void **state)
{
    World      *world = world_new_local(state);
    DeltaTable *table = create_table(world, "t"), *other;

    append_one(world, table, 1, "facts");
    Str folder = run_folders(world, "facts");
    assert_true(folder.len > 0);
    append_one(world, table, 2, "facts");
    assert_true(str_equal(run_folders(world, "facts"), folder));

    other = open_table(world, "t"); /* another writer has his own and leaves this one alone */
    append_one(world, other, 3, "facts");
    assert_true(str_find(run_folders(world, "facts"), folder, 0) >= 0);
    delta_table_close(other);
    assert_true(str_equal(run_folders(world, "facts"), folder));

    append_one(world, table, 4, "plans");
    assert_int_equal(run_folders(world, "facts").len, 0);
    assert_true(run_folders(world, "plans").len > 0);

    delta_table_close(table);
    assert_int_equal(run_folders(world, "plans").len, 0);
    assert_int_equal(
        access(str_printf(world->arena, "%s/t/_tidelake_staging", world->folder).ptr, F_OK), -1);
    world_close(world);
}

static void a_folder_that_somebody_removed_is_made_again(void **state)
{
    World      *world = world_new_local(state);
    DeltaTable *table = create_table(world, "t");
    bool        removed;

    append_one(world, table, 1, "facts");
    Str run  = str_trim(run_folders(world, "facts"));
    Str path = str_printf(world->arena, "t/_tidelake_staging/facts/%.*s", STR_ARG(run));
    assert_ok(store_remove_directory(world->store, path, &removed, &world->err), &world->err);
    assert_true(removed);
    append_one(world, table, 2, "facts");
    assert_int_equal(count_rows(world, table), 2);
    delta_table_close(table);
    world_close(world);
}

/* A batch without a table finishes no writer. */
static void finishing_no_writer_needs_no_table(void **state)
{
    World      *world = world_new_local(state);
    DeltaTable *table = create_table(world, "t");

    delta_writer_finish(NULL, NULL);
    append_one(world, table, 1, "facts");
    Str folder = run_folders(world, "facts");
    delta_writer_finish(NULL, table); /* and leaves what the table keeps */
    assert_true(str_equal(run_folders(world, "facts"), folder));
    delta_table_close(table);
    world_close(world);
}

/* --- a kept folder, and a disk that changes between two appends --- */

static const char *below_staging(World *world, Str purpose_and_run)
{
    return str_c(world->arena, str_printf(world->arena, "%s/t/_tidelake_staging/%.*s",
                                          world->folder, STR_ARG(purpose_and_run)));
}

/* With its run's name: "facts/<run id>". */
static Str kept_run(World *world)
{
    return str_printf(world->arena, "facts/%.*s", STR_ARG(str_trim(run_folders(world, "facts"))));
}

static bool try_append_one(World *world, DeltaTable *table, int64_t id)
{
    DeltaOutcome outcome;

    err_clear(&world->err);
    return try_append(world, table, id, 1, NULL, &outcome);
}

/* An append that fails; then what stood in its way is gone, and the same table takes it. */
static void assert_refused_then_taken(World *world, DeltaTable *table, int64_t id, int error,
                                      void (*mend)(void *), void *arg)
{
    const char *why     = strerror(error);
    int64_t     version = delta_table_get_version(table);

    assert_false(try_append_one(world, table, id));
    mend(arg);
    assert_int_equal(world->err.code, ERR_STORE);
    assert_non_null(strstr(world->err.message, "/t/_tidelake_staging/test/")); /* where */
    assert_non_null(strstr(world->err.message, why));
    assert_int_equal(world->err.native, error);
    DeltaTable *other = open_table(world, "t");
    assert_int_equal(delta_table_get_version(other), version);
    delta_table_close(other);
    assert_ok(try_append_one(world, table, id), &world->err);
    assert_int_equal(delta_table_get_version(table), version + 1);
}

static void assert_nothing_staged_after_close(World *world, DeltaTable *table, int64_t rows)
{
    assert_int_equal(count_rows(world, table), rows);
    delta_table_close(table);
    assert_int_equal(run_folders(world, "test").len, 0);
    DeltaTable *again = open_table(world, "t");
    assert_int_equal(count_rows(world, again), rows);
    delta_table_close(again);
}

static void a_folder_in_the_place_of_the_kept_one_is_not_taken_for_it(void **state)
{
    World      *world = world_new_local(state);
    DeltaTable *table = create_table(world, "t");

    for (int64_t id = 1; id <= 4; id++) {
        append_one(world, table, id, "facts");
        Str         run   = kept_run(world);
        const char *path  = below_staging(world, run);
        const char *moved = below_staging(world, STR("elsewhere"));
        if (id == 1) { /* all of it goes */
            assert_int_equal(rmdir(path), 0);
            assert_int_equal(rmdir(below_staging(world, STR("facts"))), 0);
            assert_int_equal(rmdir(below_staging(world, STR_EMPTY)), 0);
        } else if (id == 2) { /* another folder has its name: the lock is that of the first */
            assert_int_equal(rename(path, moved), 0);
            assert_int_equal(mkdir(path, 0777), 0);
        } else if (id == 3) {
            assert_int_equal(rename(path, moved), 0);
            assert_int_equal(symlink(moved, path), 0); /* the very same folder by another way */
        }
    }
    assert_int_equal(count_rows(world, table), 4);
    delta_table_close(table);
    world_close(world);
}

static void lift_limit(void *limit)
{
    (void)setrlimit(RLIMIT_FSIZE, limit);
}

/* A file-size limit stops a write as a full disk does. */
static void a_full_disk_between_two_appends_is_told_and_survived(void **state)
{
    World        *world = world_new_local(state);
    DeltaTable   *table = create_table(world, "t");
    struct rlimit before, small;

    append_rows(world, table, 1, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small          = before;
    small.rlim_cur = 100;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_refused_then_taken(world, table, 2, EFBIG, lift_limit, &before);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_nothing_staged_after_close(world, table, 2);
    world_close(world);
}

typedef struct Locked {
    const char *path;
    bool        was_root;
} Locked;

static void unlock_folder(void *arg)
{
    Locked *locked = arg;

    if (locked->was_root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(locked->path, 0755), 0);
}

/* root may write anywhere, so for the moment the process is nobody. */
static void lock_folder(Locked *locked)
{
    assert_int_equal(chmod(locked->path, 0555), 0);
    locked->was_root = geteuid() == 0;
    if (locked->was_root) assert_int_equal(seteuid(65534), 0);
}

static void a_folder_that_cannot_be_written_is_told_and_survived(void **state)
{
    World      *world = world_new_local(state);
    DeltaTable *table = create_table(world, "t");
    Locked      kept, whole;

    assert_int_equal(chmod(world->folder, 0755), 0);
    append_rows(world, table, 1, 1);
    kept.path = below_staging(world, str_printf(world->arena, "test/%.*s",
                                                STR_ARG(str_trim(run_folders(world, "test")))));
    lock_folder(&kept);
    assert_refused_then_taken(world, table, 2, EACCES, unlock_folder, &kept);

    delta_table_close(table); /* now without a kept one, and the table's folder itself */
    table      = open_table(world, "t");
    whole.path = str_c(world->arena, str_printf(world->arena, "%s/t", world->folder));
    lock_folder(&whole);
    assert_refused_then_taken(world, table, 3, EACCES, unlock_folder, &whole);
    assert_nothing_staged_after_close(world, table, 3);
    world_close(world);
}

static DeltaTable *create_with(World *world, const Column *columns, size_t count,
                               const DeltaProperty *properties, size_t property_count)
{
    DeltaTable *table = NULL;
    DeltaCreate spec  = {.schema         = {columns, count},
                         .description    = STR_EMPTY,
                         .properties     = properties,
                         .property_count = property_count};
    assert_ok(delta_table_create(&world->context, STR("t"), &spec, &table, NULL, &world->err),
              &world->err);
    return table;
}

static bool append_block(World *world, DeltaTable *table, const Schema *schema,
                         const RowBlock *block)
{
    DeltaAppend  append = {.rows          = row_stream_of_block(world->arena, schema, block),
                           .purpose       = STR("test"),
                           .user_metadata = STR_EMPTY};
    DeltaOutcome outcome;
    return delta_table_append(table, &append, &outcome, NULL, &world->err);
}

/* algorithms.md 6.5: by name in any order, narrower types widened, what is missing NULL. */
static void rows_are_brought_into_the_tables_shape(void **state)
{
    World      *world    = world_new(state);
    Column      wide[]   = {{STR("a"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                            {STR("b"), DECIMAL_TYPE(38, 4), STR_EMPTY},
                            {STR("c"), COLUMN_TYPE(TYPE_DOUBLE), STR_EMPTY},
                            {STR("d"), COLUMN_TYPE(TYPE_TIMESTAMP_NTZ), STR_EMPTY},
                            {STR("e"), DECIMAL_TYPE(12, 2), STR_EMPTY},
                            {STR("missing"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY},
                            {STR("f"), COLUMN_TYPE(TYPE_DOUBLE), STR_EMPTY},
                            {STR("g"), DECIMAL_TYPE(4, 1), STR_EMPTY}};
    Column      narrow[] = {{STR("G"), COLUMN_TYPE(TYPE_SHORT), STR_EMPTY},
                            {STR("f"), COLUMN_TYPE(TYPE_INTEGER), STR_EMPTY},
                            {STR("e"), DECIMAL_TYPE(4, 1), STR_EMPTY},
                            {STR("d"), COLUMN_TYPE(TYPE_DATE), STR_EMPTY},
                            {STR("c"), COLUMN_TYPE(TYPE_FLOAT), STR_EMPTY},
                            {STR("b"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                            {STR("A"), COLUMN_TYPE(TYPE_SHORT), STR_EMPTY}};
    DeltaTable *table    = create_with(world, wide, COUNT_OF(wide), NULL, 0);
    Schema      schema   = {narrow, COUNT_OF(narrow)};
    RowBuilder *builder  = row_builder_new(world->arena, &schema);
    Int128      tenth;
    assert_true(decimal_parse(STR("-0.1"), 4, 1, &tenth));
    row_builder_begin(builder); /* all NULL */
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 255);
    row_builder_set_i64(builder, 1, INT32_MIN);
    row_builder_set_decimal(builder, 2, tenth);
    row_builder_set_i64(builder, 3, -1);
    row_builder_set_double(builder, 4, 0.5);
    row_builder_set_i64(builder, 5, INT64_MIN);
    row_builder_set_i64(builder, 6, INT16_MIN);
    RowBlock block = row_builder_block(builder);
    assert_ok(append_block(world, table, &schema, &block), &world->err);
    assert_int_equal(
        query_table(world, table,
                    "SELECT count(*) FROM %s WHERE a = -32768 AND b = -9223372036854775808 AND c = "
                    "0.5 AND d = '1969-12-31 00:00:00' AND "
                    "e = -0.10 AND missing IS NULL AND f = -2147483648 AND g = 255.0"),
        1);
    assert_int_equal(query_table(world, table,
                                 "SELECT count(*) FROM %s WHERE a IS NULL AND b IS NULL AND c IS "
                                 "NULL AND d IS NULL AND e IS NULL AND g IS NULL"),
                     1);
    /* what does not fit is no number of another size */
    row_builder_begin(builder);
    row_builder_set_i64(builder, 0, 1000);
    block = row_builder_block(builder);
    assert_false(append_block(world, table, &schema, &block));
    assert_err(&world->err, ERR_SCHEMA_CHANGED,
               "a value of column g does not fit into DECIMAL(4,1)");
    assert_int_equal(delta_table_get_version(table), 1);
    delta_table_close(table);
    world_close(world);
}

static void rows_of_another_shape_are_refused(void **state)
{
    World       *world    = world_new(state);
    Column       column[] = {{STR("a"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    DeltaTable  *table    = create_with(world, column, 1, NULL, 0);
    int64_t      value    = 1;
    Str          text     = STR("x");
    Column       more[]   = {{STR("zz"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    Column       other[]  = {{STR("a"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY}};
    ColumnVector numbers  = {.type = COLUMN_TYPE(TYPE_LONG), .data = &value};
    ColumnVector texts    = {.type = COLUMN_TYPE(TYPE_STRING), .data = &text};
    assert_false(append_block(world, table, &(Schema){more, 1}, &(RowBlock){&numbers, 1, 1}));
    assert_err(&world->err, ERR_SCHEMA_CHANGED, "table t: the table has no column zz");
    assert_false(append_block(world, table, &(Schema){other, 1}, &(RowBlock){&texts, 1, 1}));
    assert_err(&world->err, ERR_SCHEMA_CHANGED,
               "table t: column a has type BIGINT in the table, and rows bring STRING");
    assert_int_equal(count_files(world, "t"), 0);
    delta_table_close(table);
    world_close(world);
}

static void a_query_is_written_by_the_names_of_its_columns(void **state)
{
    World       *world   = world_new(state);
    DeltaTable  *table   = create_table(world, "t");
    DeltaWriter *writer  = open_writer(world, table, NULL);
    DuckSession *session = NULL;
    DeltaAdd     add, none;
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(delta_writer_write_query(
                  writer, session,
                  STR("SELECT 'n' || i AS NAME, i::INTEGER AS id FROM range(3) t(i)"), world->arena,
                  &add, &world->err),
              &world->err);
    assert_ok(delta_writer_write_query(writer, session, STR("SELECT 1 AS id WHERE false"),
                                       world->arena, &none, &world->err),
              &world->err);
    assert_int_equal(add.row_count, 3);
    assert_int_equal(none.row_count, 0);
    assert_str_is(add.stats,
                  "{\"numRecords\":3,\"minValues\":{\"id\":0,\"name\":\"n0\"},\"maxValues\":{"
                  "\"id\":2,\"name\":\"n2\"},\"nullCount\":{\"id\":0,\"name\":0,\"at\":3}}");
    assert_ok(delta_writer_publish(writer, &add, 1, &world->err), &world->err);
    commit_adds(world, table, &add, 1);
    assert_int_equal(
        query_table(world, table,
                    "SELECT count(*) FROM %s WHERE \"at\" IS NULL AND name = 'n' || id"),
        3);
    assert_false(delta_writer_write_query(writer, session, STR("SELECT nonsense"), world->arena,
                                          &add, &world->err));
    assert_err(&world->err, ERR_QUERY_ENGINE, "table t");
    duck_session_close(session);
    delta_writer_close(writer);
    delta_table_close(table);
    world_close(world);
}

/* The first rows of a new column, in the commit that brings it. */
static void rows_and_their_new_column_are_one_commit(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 1, 2);
    Column       column = {STR("more"), COLUMN_TYPE(TYPE_LONG), STR("new")};
    Schema       wider  = {&column, 1};
    int64_t      value  = 77;
    ColumnVector vector = {.type = column.type, .data = &value};
    RowBlock     block  = {&vector, 1, 1};
    DeltaWriter *writer = open_writer(world, table, &wider);
    DeltaAdd     add;
    DeltaOutcome outcome;
    assert_ok(delta_writer_write(writer, row_stream_of_block(world->arena, &wider, &block),
                                 world->arena, &add, &world->err),
              &world->err);
    assert_ok(delta_writer_publish(writer, &add, 1, &world->err), &world->err);
    delta_writer_close(writer);
    DeltaCommit commit = {
        .adds = &add, .add_count = 1, .is_blind_append = true, .user_metadata = STR_EMPTY};
    assert_false(delta_table_commit(table, &commit, &outcome, NULL,
                                    &world->err)); /* without the column the file has no home */
    assert_err(&world->err, ERR_CONFLICT, "changed column more");
    commit.schema = &wider;
    assert_ok(delta_table_commit(table, &commit, &outcome, NULL, &world->err), &world->err);
    assert_int_equal(count_rows(world, table), 3);
    assert_int_equal(query_table(world, table, "SELECT sum(more)::BIGINT FROM %s"), 77);
    assert_str_is(delta_table_get_schema(table)->columns[3].comment, "new");
    delta_table_close(table);
    world_close(world);
}

static void names_follow_the_tables_properties(void **state)
{
    World           *world        = world_new_local(state);
    Column           column[]     = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    DeltaProperty    properties[] = {{STR("delta.randomizeFilePrefixes"), STR("true")},
                                     {STR("delta.randomPrefixLength"), STR("5")},
                                     {STR("delta.parquet.compression.codec"), STR("SNAPPY")}};
    DeltaTable      *table        = create_with(world, column, 1, properties, 3);
    int64_t          value        = 1;
    ColumnVector     numbers      = {.type = COLUMN_TYPE(TYPE_LONG), .data = &value};
    const DeltaFile *file;
    size_t           at = 0;
    assert_ok(append_block(world, table, &(Schema){column, 1}, &(RowBlock){&numbers, 1, 1}),
              &world->err);
    assert_true(delta_table_next_file(table, &at, &file));
    assert_int_equal(str_find_char(file->path, '/', 0), 5);
    assert_true(str_ends_with(file->path, STR(".c000.snappy.parquet")));
    assert_true(str_starts_with(str_slice(file->path, 6, file->path.len), STR("part-00000-")));
    assert_int_equal(count_rows(world, table), 1);
    delta_table_close(table);
    world_close(world);
}

/* Compressed, its pages would not get smaller. */
static void a_few_rows_are_not_compressed_unless_the_table_says_so(void **state)
{
    static const struct {
        int64_t     rows;
        bool        has_property;
        const char *end, *codec;
    } cases[] = {{3, false, ".c000.parquet", "UNCOMPRESSED"},
                 {504, false, ".c000.parquet", "UNCOMPRESSED"}, /* with a bit each, below 4 KiB */
                 {505, false, ".c000.zstd.parquet", "ZSTD"},
                 {3000, false, ".c000.zstd.parquet", "ZSTD"},
                 {3, true, ".c000.zstd.parquet", "ZSTD"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        World           *world    = world_new_local(state);
        DeltaProperty    property = {STR("delta.parquet.compression.codec"), STR("zstd")};
        Column           column[] = {{STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
        DeltaTable      *table    = create_with(world, column, 1, &property, cases[i].has_property);
        int64_t         *values   = ARENA_ARRAY(world->arena, int64_t, 3000);
        ColumnVector     numbers  = {.type = COLUMN_TYPE(TYPE_LONG), .data = values};
        RowBlock         block    = {&numbers, 1, (size_t)cases[i].rows};
        const DeltaFile *file;
        size_t           at = 0;

        for (int64_t n = 0; n < 3000; n++)
            values[n] = n;
        assert_ok(append_block(world, table, &(Schema){column, 1}, &block), &world->err);
        assert_true(delta_table_next_file(table, &at, &file));
        assert_true(str_ends_with(file->path, str_from_c(cases[i].end)));
        Str sql = str_printf(world->arena,
                             "SELECT count(*) FROM parquet_metadata('%s/t/%.*s') WHERE compression "
                             "= '%s' AND EXISTS (SELECT 1 FROM %%s)",
                             world->folder, STR_ARG(file->path), cases[i].codec);
        assert_int_equal(query_table(world, table, str_c(world->arena, sql)), 1);
        assert_int_equal(count_rows(world, table), cases[i].rows);
        delta_table_close(table);
        world_close(world);
    }
}

/* Paths that other writers encode: written by a fixture, read and removed by us. */
static void files_with_odd_names_are_read(void **state)
{
    const char *const names[] = {"a b.parquet", "100%.parquet", "x=3/[1]*?.parquet",
                                 "sch\xC3\xB6n'\".parquet"};
    World            *world   = world_new_local(state);
    DeltaTable       *table   = create_table(world, "t");
    append_rows(world, table, 1, 2);
    const DeltaFile *file;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    Str data = read_text(world, str_printf(world->arena, "t/%.*s", STR_ARG(file->path)).ptr);
    Buf buf  = buf_new(world->arena, 0);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_ok(store_put_new(world->store, str_printf(world->arena, "t/%s", names[i]),
                                str_bytes(data), &world->err),
                  &world->err);
        DeltaAdd add = {.path        = delta_path_encode(world->arena, str_from_c(names[i])),
                        .size_bytes  = (int64_t)data.len,
                        .modified_ms = 1,
                        .row_count   = 2,
                        .stats       = STR_EMPTY};
        commit_write_add(&buf, &add, true);
    }
    put_commit_str(world, "t", 2, buf_str(&buf));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(count_rows(world, table), 10);
    assert_int_equal(query_table(world, table, "SELECT count(DISTINCT \"__$file\") FROM %s"), 5);
    assert_int_equal(
        query_table(world, table,
                    "SELECT count(*) FROM %s WHERE \"__$file\" = 'sch%C3%B6n''%22.parquet'"),
        2);
    delta_table_close(table);
    world_close(world);
}

static void a_scan_gives_what_is_asked_for(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    for (int64_t i = 0; i < 3; i++)
        append_rows(world, table, i * 10, 10);
    const DeltaFile *file;
    size_t           at     = 0;
    Column           want[] = {{STR("ID"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                               {STR("absent"), COLUMN_TYPE(TYPE_DATE), STR_EMPTY},
                               {STR("id"), COLUMN_TYPE(TYPE_STRING), STR_EMPTY}};
    Str              sql;
    DuckSession     *session = NULL;
    RowStream       *rows    = NULL;
    RowBlock         block;
    assert_true(delta_table_next_file(table, &at, &file));
    assert_ok(
        delta_scan_sql(table, &file, 1, &(Schema){want, 2}, true, world->arena, &sql, &world->err),
        &world->err);
    assert_ok(duck_session_open(world->context.duck, &session, &world->err), &world->err);
    assert_ok(
        duck_query(session,
                   str_printf(world->arena, "SELECT * FROM %.*s ORDER BY \"__$row\"", STR_ARG(sql)),
                   world->arena, &rows, &world->err),
        &world->err);
    assert_int_equal(rows->schema.column_count, 4);
    assert_str_is(rows->schema.columns[0].name, "ID");
    assert_true(column_type_equal(rows->schema.columns[1].type, COLUMN_TYPE(TYPE_DATE)));
    assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
    assert_int_equal(block.row_count, 10);
    assert_true(str_equal(column_str(&block.columns[2], 0), file->path));
    assert_int_equal(column_i64(&block.columns[3], 9), 9);
    row_stream_close(rows);
    rows = NULL;
    /* no files: the right types and no rows */
    assert_ok(delta_scan_sql(table, &file, 0, &(Schema){&want[2], 1}, true, world->arena, &sql,
                             &world->err),
              &world->err);
    assert_ok(duck_query(session, sql, world->arena, &rows, &world->err), &world->err);
    assert_int_equal(rows->schema.column_count, 3);
    assert_true(column_type_equal(rows->schema.columns[0].type, COLUMN_TYPE(TYPE_STRING)));
    assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
    assert_int_equal(block.row_count, 0);
    row_stream_close(rows);
    duck_session_close(session);
    /* a file that VACUUM took */
    assert_ok(store_remove(world->store, str_printf(world->arena, "t/%.*s", STR_ARG(file->path)),
                           &world->err),
              &world->err);
    assert_false(delta_scan_sql(table, NULL, 0, NULL, false, world->arena, &sql, &world->err));
    assert_err(&world->err, ERR_DAMAGED,
               "DELTA-L08 table t: version 3 is no longer complete: t/part-00000-");
    delta_table_close(table);
    world_close(world);
}

/* Partition columns are not in the files: their values stand in the adds. */
static void a_partitioned_table_is_read_with_its_values(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "source");
    append_rows(world, table, 1, 2);
    const DeltaFile *file;
    size_t           at = 0;
    assert_true(delta_table_next_file(table, &at, &file));
    Str data = read_text(world, str_printf(world->arena, "source/%.*s", STR_ARG(file->path)).ptr);
    delta_table_close(table);
    put_commit(world, "t", 0,
               "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
               "{\"metaData\":{\"id\":\"x\",\"partitionColumns\":[\"day\",\"p\"],\"schemaString\":"
               "\"{\\\"fields\\\":["
               "{\\\"name\\\":\\\"p\\\",\\\"type\\\":\\\"string\\\"},"
               "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"},"
               "{\\\"name\\\":\\\"day\\\",\\\"type\\\":\\\"date\\\"}]}\"}}\n");
    const char *const values[] = {"\"day\":\"2020-01-31\",\"p\":\"it's \\\"q\\\"\"",
                                  "\"day\":null,\"p\":\"\""};
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "p=1/a" : "b";
        assert_ok(store_put_new(world->store, str_printf(world->arena, "t/%s", name),
                                str_bytes(data), &world->err),
                  &world->err);
        put_commit(world, "t", i + 1,
                   str_printf(world->arena,
                              "{\"add\":{\"path\":\"%s\",\"partitionValues\":{%s},\"size\":%zu,"
                              "\"modificationTime\":1,\"dataChange\":true}}\n",
                              name, values[i], data.len)
                       .ptr);
        table = open_table(world, "t");
        assert_int_equal(query_table(world, table,
                                     "SELECT count(*) FROM %s WHERE day = DATE '2020-01-31' AND p "
                                     "= 'it''s \"q\"' AND id IN (1, 2)"),
                         2);
        assert_int_equal(
            query_table(world, table, "SELECT count(*) FROM %s WHERE day IS NULL AND p IS NULL"),
            i * 2);
        delta_table_close(table);
    }
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_threads_write_at_once),
        cmocka_unit_test(what_is_not_published_goes_with_the_writer),
        cmocka_unit_test(appends_share_one_folder_until_the_table_is_closed),
        cmocka_unit_test(a_folder_that_somebody_removed_is_made_again),
        cmocka_unit_test(finishing_no_writer_needs_no_table),
        cmocka_unit_test(a_folder_in_the_place_of_the_kept_one_is_not_taken_for_it),
        cmocka_unit_test(a_full_disk_between_two_appends_is_told_and_survived),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_told_and_survived),
        cmocka_unit_test(rows_are_brought_into_the_tables_shape),
        cmocka_unit_test(rows_of_another_shape_are_refused),
        cmocka_unit_test(a_query_is_written_by_the_names_of_its_columns),
        cmocka_unit_test(rows_and_their_new_column_are_one_commit),
        cmocka_unit_test(names_follow_the_tables_properties),
        cmocka_unit_test(a_few_rows_are_not_compressed_unless_the_table_says_so),
        cmocka_unit_test(files_with_odd_names_are_read),
        cmocka_unit_test(a_scan_gives_what_is_asked_for),
        cmocka_unit_test(a_partitioned_table_is_read_with_its_values),
    };
    return RUN_DELTA_TESTS(tests);
}
