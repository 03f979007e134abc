/* Files on their way through a store: written where a staging says, published, fetched, read. The
 * store in memory hands out memfds, which libduckdb must take like any file. */
#include "duck_test.h"

#include "base/clock.h"
#include "duck/duck_checkpoint.h"
#include "store/store.h"

static const Column columns[] = {{{"id", 2}, {TYPE_LONG, 0, 0, NULL}, {"", 0}},
                                 {{"name", 4}, {TYPE_STRING, 0, 0, NULL}, {"", 0}}};

static void fill(GeneratedRows *rows, RowBuilder *builder, size_t row)
{
    row_builder_set_i64(builder, 0, (int64_t)row);
    row_builder_set_str(builder, 1, str_printf(rows->arena, "name of row %zu", row));
}

static StoreStaging *open_staging(DuckWorld *world, Store *store)
{
    Rng          *rng     = rng_new_from_entropy();
    StoreStaging *staging = NULL;
    assert_ok(store_staging_open(store, STR("t"), STR("test"), rng, &staging, &world->err),
              &world->err);
    rng_close(rng);
    return staging;
}

static void write_and_publish(DuckWorld *world, StoreStaging *staging, Str name, size_t row_count)
{
    GeneratedRows    rows    = generated_rows(columns, 2, row_count, 1000, fill);
    DuckWriteOptions options = write_options();
    DuckFile         file;
    StoreEntry       entry;
    Str              local, path = store_join(world->arena, STR("t"), name);

    assert_ok(store_staging_file(staging, name, world->arena, &local, &world->err), &world->err);
    assert_ok(duck_parquet_write(world->duck, &rows.base, local, &options, world->arena, &file,
                                 &world->err),
              &world->err);
    assert_ok(store_staging_publish(staging, name, path, &entry, &world->err), &world->err);
    assert_int_equal(entry.size_bytes, file.size_bytes);
    assert_int_equal(file.row_count, row_count);
    arena_close(rows.arena);
}

static void a_failed_or_empty_file_is_not_there(DuckWorld *world, StoreStaging *staging)
{
    GeneratedRows    broken  = generated_rows(columns, 2, 5000, 1000, fill);
    GeneratedRows    empty   = generated_rows(columns, 2, 0, 1000, fill);
    DuckWriteOptions options = write_options();
    DuckFile         file;
    Str              local;

    broken.fail_at = 3000;
    assert_ok(store_staging_file(staging, STR("no"), world->arena, &local, &world->err),
              &world->err);
    assert_false(duck_parquet_write(world->duck, &broken.base, local, &options, world->arena, &file,
                                    &world->err));
    assert_false(store_staging_publish(staging, STR("no"), STR("t/no"), NULL, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "no");
    assert_ok(duck_parquet_write(world->duck, &empty.base, local, &options, world->arena, &file,
                                 &world->err),
              &world->err);
    assert_false(store_staging_publish(staging, STR("no"), STR("t/no"), NULL, &world->err));
    assert_err(&world->err, ERR_NOT_FOUND, "no");
    arena_close(broken.arena);
    arena_close(empty.arena);
}

static void read_published(DuckWorld *world, Store *store, const char *const *names, size_t count)
{
    Schema schema   = {columns, 2};
    Str    paths[4] = {STR("")};

    for (size_t i = 0; i < count; i++)
        assert_ok(store_fetch_local(store, str_printf(world->arena, "t/%s", names[i]), world->arena,
                                    &paths[i], &world->err),
                  &world->err);
    Str from = duck_read_parquet_sql(world->arena, paths, count, &schema);
    assert_query(world,
                 str_printf(world->arena,
                            "SELECT count(*), sum(id)::BIGINT, max(name), count(DISTINCT filename),"
                            " max(file_row_number) FROM %.*s",
                            STR_ARG(from)),
                 "13000|54493500|name of row 9999|2|9999\n");
}

static void checkpoint_through(DuckWorld *world, Store *store, StoreStaging *staging)
{
    const char *action = "{\"txn\":{\"appId\":\"a\",\"version\":1}}";
    int64_t     row_count;
    Str         json, parquet;
    RowStream  *rows = NULL;
    RowBlock    block;

    assert_ok(store_staging_file(staging, STR("c.json"), world->arena, &json, &world->err),
              &world->err);
    int fd = open(str_c(world->arena, json), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(write(fd, action, strlen(action)) > 0);
    assert_int_equal(close(fd), 0);
    assert_ok(store_staging_file(staging, STR("c"), world->arena, &parquet, &world->err),
              &world->err);
    assert_ok(duck_checkpoint_write(world->duck, json, parquet, &row_count, &world->err),
              &world->err);
    assert_ok(store_staging_publish(staging, STR("c"), STR("t/_delta_log/c"), NULL, &world->err),
              &world->err);
    assert_ok(store_fetch_local(store, STR("t/_delta_log/c"), world->arena, &parquet, &world->err),
              &world->err);
    assert_ok(duck_checkpoint_read(world->session, &parquet, 1, world->arena, &rows, &world->err),
              &world->err);
    assert_ok(row_stream_next(rows, &block, &world->err), &world->err);
    assert_int_equal(block.row_count, 1);
    assert_str_is(column_str(&block.columns[0], 0), action);
    row_stream_close(rows);
}

static void write_publish_and_read(DuckWorld *world, Store *store)
{
    const char *const names[] = {"first.parquet", "second.parquet"};
    StoreStaging     *staging = open_staging(world, store);

    write_and_publish(world, staging, str_from_c(names[0]), 10000);
    write_and_publish(world, staging, str_from_c(names[1]), 3000);
    a_failed_or_empty_file_is_not_there(world, staging);
    assert_ok(store_staging_sync(staging, &world->err), &world->err);
    read_published(world, store, names, 2);
    checkpoint_through(world, store, staging);
    store_staging_close(staging);
    read_published(world, store, names, 2);
}

static void files_go_through_a_local_store(void **state)
{
    DuckWorld *world = *state;
    Store     *store = store_local_new(path_in(world, "root [1]"));
    write_publish_and_read(world, store);
    store_close(store);
}

static void files_go_through_a_store_in_memory(void **state)
{
    DuckWorld *world = *state;
    Clock     *clock = clock_new_real();
    for (int i = 0; i < 3; i++) { /* the same numbers again, with other files behind them */
        Store *store = store_memory_new(clock, NULL);
        write_publish_and_read(world, store);
        store_close(store);
    }
    clock_close(clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(files_go_through_a_local_store),
        duck_test(files_go_through_a_store_in_memory),
    };
    return RUN_TESTS(tests);
}
