/* Cases from the field, as far as chunked snapshots go: keys that sort or compare otherwise than expected, commits
 * around a chunk's read, tables that are skewed, empty or have no key. */
#include "support/test_support.h"

#include "base/buf.h"
#include "support/backfill.h"

/* dbo.orders with other columns, rows in it, and a chunked snapshot opened. */
static World *open_table(void **state, const char *columns, const char *values)
{
    World *world = world_open(state, 1);

    world_create(world, "orders", columns);
    world_commit(world, "INSERT INTO dbo.orders VALUES %s", values);
    (void)shop_run_chunked(world);
    return world;
}

/* Silver, after what is left of the stream. Twice gives the same, and what is at the source was only read. */
static void apply_by(World *world, const Str *keys, size_t count)
{
    ApplyOptions apply  = world_apply_options(keys, count);
    Lsn          newest = world_max_lsn(world);

    (void)shop_run_chunked(world);
    (void)world_apply(world, &apply);
    int64_t silver = world_version(world, SILVER), bronze = world_version(world, BRONZE);
    (void)shop_run_chunked(world);
    (void)world_apply(world, &apply);
    assert_int_equal(world_version(world, SILVER), silver);
    assert_int_equal(world_version(world, BRONZE), bronze);
    world_scan(world);
    assert_true(lsn_equal(world_max_lsn(world), newest)); /* nothing was written to it */
}

static const Str id_key[] = {{"id", 2}};

/* Rows of each chunk: "0: a-b a-c\n1: ab ac\n". */
static Str rows_of_chunks(World *world, const char *what)
{
    return world_rows(world,
                      "SELECT _chunk || ': ' || string_agg(%s, ' ' ORDER BY %s) FROM {" BRONZE
                      "} WHERE _operation = 0 GROUP BY _chunk ORDER BY _chunk",
                      what, what);
}

static void backfill_all(World *world, int64_t chunk_rows, int64_t connections)
{
    BackfillOptions options = shop_backfill(chunk_rows, connections);

    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
}

/* --- before and around a read --- */

static void an_instance_younger_than_the_log_is_opened_below_its_start(void **state) /* case A5 */
{
    World          *world   = world_open(state, 1);
    BackfillOptions options = shop_backfill(2, 2);

    world_exec(world, "CREATE TABLE dbo.orders (" SHOP_COLUMNS ")");
    world_exec(world, "INSERT INTO dbo.orders VALUES (1, 'a')");
    world_exec(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                      "N'orders', @role_name = NULL");
    StreamResult opened = shop_run_chunked(world);
    StreamResult again  = shop_run_chunked(world);
    assert_true(lsn_equal(opened.snapshot.lsn, again.snapshot.lsn));
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'snapshot_open'");
    Str below = str_trim(world_source_rows(
        world, "SELECT CONVERT(varchar(22), sys.fn_cdc_decrement_lsn(start_lsn), 1) FROM "
               "cdc.change_tables"));
    assert_str_is(below, lsn_format(opened.snapshot.lsn).text);
    assert_backfill_done(world, &options, 1);
    world_commit(world, "UPDATE dbo.orders SET note = 'b'");
    apply_by(world, id_key, 1);
    assert_rows(world, "1|b\n", "SELECT id, note FROM {" SILVER "}");
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'bootstrap'");
    assert_bronze_ids(world, "1 1");
    world_close(world);
}

static void update_at_the_read(void *arg, Str sql)
{
    if (is_chunk_read(sql)) world_exec(arg, "UPDATE dbo.orders SET note = 'x' WHERE id = 3");
}

/* A delete before the stamp, an update between stamp and read, a delete and an insert after it, and a key in silver that
 * went while nobody looked. */
static void commits_around_a_stamp_and_a_read_all_count_once(void **state) /* case A6 */
{
    World          *world   = shop_open(state, 1);
    StreamOptions   early   = shop_stream_from(world_max_lsn(world));
    ApplyOptions    apply   = shop_apply();
    BackfillOptions options = shop_backfill(10, 2);
    Process        *process;
    BackfillResult  result;

    world_commit(world, "INSERT INTO dbo.orders VALUES (9, 'q')");
    early.app_id     = STR("early-v1");
    early.checkpoint = STR("checkpoints/early");
    (void)world_stream(world, &early);
    (void)world_apply(world, &apply);
    assert_rows(world, "9|q\n", "SELECT id, note FROM {" SILVER "}");
    world_commit(world, "DELETE FROM dbo.orders");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
    Lsn s = shop_run_chunked(world).snapshot.lsn; /* L10 */
    world_commit(world, "DELETE FROM dbo.orders WHERE id = 2");
    Lsn stamp = world_max_lsn(world); /* L20 */

    process = process_open(world, "backfill");
    sim_sql_driver_set_hook(process->sql, update_at_the_read, world); /* L25 */
    assert_ok(process_backfill(process, &options, &result), &process->err);
    process_close(process);
    assert_int_equal(result.chunks_total.value, 1);
    world_scan(world);
    apply_by(world, id_key, 1);
    assert_rows(world, "1|a\n3|x\n4|d\n", "SELECT id, note FROM {" SILVER "} ORDER BY id");

    world_commit(world, "DELETE FROM dbo.orders WHERE id = 4");
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 'z')");
    apply_by(world, id_key, 1);
    assert_rows(world, "1|a\n2|z\n3|x\n", "SELECT id, note FROM {" SILVER "} ORDER BY id");
    assert_rows(world,
                str_c(world_arena(world), str_printf(world_arena(world), "1 3 4|%s|%s\n",
                                                     lsn_format(stamp).text, lsn_format(s).text)),
                "SELECT string_agg(id::VARCHAR, ' ' ORDER BY id), min(_start_lsn), min(_snapshot) "
                "FROM {" BRONZE "} WHERE _operation = 0");
    world_close(world);
}

/* --- keys that sort their own way --- */

/* As varchar the server sorts a-b, a-c, ab, ac; as nvarchar it would be ab, a-b, ac, a-c. */
static void a_hyphen_sorts_as_the_columns_collation_has_it(void **state) /* case A8 */
{
    World *world = open_table(state,
                              "id varchar(8) COLLATE SQL_Latin1_General_CP1_CI_AS NOT NULL PRIMARY "
                              "KEY, n int NOT NULL",
                              "('a-b', 1), ('a-c', 2), ('ab', 3), ('ac', 4)");

    backfill_all(world, 2, 2);
    assert_str_is(rows_of_chunks(world, "id"), "0: a-b a-c\n1: ab ac\n");
    apply_by(world, id_key, 1);
    assert_silver_is_source(world, "orders", "id, n");
    world_close(world);
}

/* Keys equal but for case are one key to the server in an order of their own, and two to us. */
static void a_composite_key_differs_in_case_alone(void **state) /* case A9 */
{
    static const Str keys[] = {{"grp", 3}, {"seq", 3}};

    for (int before_the_wave = 0; before_the_wave <= 1; before_the_wave++) {
        World      *world  = open_table(state,
                                        "grp varchar(6) COLLATE Latin1_General_CI_AS NOT NULL, seq int "
                                              "NOT NULL, v int, PRIMARY KEY (grp, seq)",
                                        "('ab', 1, 10), ('AB', 2, 20), ('Ab', 3, 30), ('ac', 1, 40)");
        const char *change = "UPDATE dbo.orders SET grp = 'AB' WHERE grp = 'ab' AND seq = 1";

        if (before_the_wave) world_commit(world, "%s", change);
        backfill_all(world, 2, 2);
        assert_str_is(rows_of_chunks(world, "lower(grp) || seq"), "0: ab1 ab2\n1: ab3 ac1\n");
        if (!before_the_wave) world_commit(world, "%s", change);
        apply_by(world, keys, 2);
        assert_silver_is_source(world, "orders", "grp, seq, v");
        assert_rows(world, "4|1|0\n",
                    "SELECT count(*), count(*) FILTER (grp = 'AB' AND seq = 1), count(*) FILTER "
                    "(grp = 'ab' AND seq = 1) FROM {" SILVER "}");
        world_close(world);
    }
}

static void a_first_column_that_repeats_is_cut_along_the_second(void **state) /* case A10 */
{
    static const Str keys[] = {{"site", 4}, {"id", 2}};
    World           *world  = open_table(state,
                                         "site int NOT NULL, id int NOT NULL, v int, PRIMARY KEY (site, id)",
                                         "(7, 1, 1), (7, 2, 2), (7, 3, 3), (7, 4, 4), (7, 5, 5), (7, 6, 6), "
                                                    "(8, 1, 7)");

    backfill_all(world, 3, 2);
    /* the last chunk holds MAX besides its chunk_rows */
    assert_str_is(rows_of_chunks(world, "site || '/' || id"),
                  "0: 7/1 7/2 7/3\n1: 7/4 7/5 7/6 8/1\n");
    apply_by(world, keys, 2);
    assert_silver_is_source(world, "orders", "site, id, v");
    world_close(world);
}

typedef struct KeyKind {
    const char *type, *value; /* the value of a number %d */
} KeyKind;

/* Composite keys of any kinds, any chunk_rows: each row is in one chunk, whatever MIN and the repeats are. */
static void any_composite_key_is_partitioned(void **state) /* case A10 */
{
    static const KeyKind kinds[] = {
        {"int", "%d"},
        {"varchar(6) COLLATE Latin1_General_CI_AS", "SUBSTRING('aAbBcCdD', %d + 1, 1) + 'x'"},
        {"date", "DATEADD(day, %d, '2026-01-01')"},
    };

    FOR_EACH_SEED (seed, 25) {
        World *world   = world_open(state, seed);
        Rng   *rng     = world_rng(world);
        Arena *arena   = world_arena(world);
        size_t count   = 2 + (size_t)rng_below(rng, 3);
        Buf    columns = buf_new(arena, 0), names = buf_new(arena, 0);
        size_t chosen[4];

        for (size_t i = 0; i < count; i++) {
            chosen[i] = (size_t)rng_below(rng, COUNT_OF(kinds));
            buf_printf(&columns, "k%zu %s NOT NULL, ", i, kinds[chosen[i]].type);
            buf_printf(&names, "%sk%zu", i ? ", " : "", i);
        }
        world_create(
            world, "orders",
            str_c(arena, str_printf(arena, "%.*sv int, PRIMARY KEY (%.*s)",
                                    STR_ARG(buf_str(&columns)), STR_ARG(buf_str(&names)))));
        for (int row = 0; row < 14; row++) { /* a key that is there already is left out */
            Buf values = buf_new(arena, 0), where = buf_new(arena, 0);
            for (size_t i = 0; i < count; i++) {
                Str       number = str_printf(arena, "%d", (int)rng_below(rng, 4));
                Str       format = str_from_c(kinds[chosen[i]].value);
                ptrdiff_t at     = str_find(format, STR("%d"), 0);
                Str       value  = str_printf(arena, "%.*s%.*s%.*s",
                                              STR_ARG(str_slice(format, 0, (size_t)at)), STR_ARG(number),
                                              STR_ARG(str_slice(format, (size_t)at + 2, format.len)));
                buf_printf(&values, "%.*s, ", STR_ARG(value));
                buf_printf(&where, "%sk%zu = %.*s", i ? " AND " : "", i, STR_ARG(value));
            }
            world_exec(world,
                       "INSERT INTO dbo.orders SELECT %.*s%d WHERE NOT EXISTS (SELECT 1 FROM "
                       "dbo.orders WHERE %.*s)",
                       STR_ARG(buf_str(&values)), row, STR_ARG(buf_str(&where)));
        }
        world_commit(world, "CREATE TABLE dbo.other (a int)");
        (void)shop_run_chunked(world);
        backfill_all(world, 1 + (int64_t)rng_below(rng, 5), 1 + (int64_t)rng_below(rng, 3));
        Str got  = world_rows(world,
                              "SELECT string_agg(v::VARCHAR, ' ' ORDER BY v) FROM {" BRONZE "}");
        Str want = world_source_rows(
            world, "SELECT STRING_AGG(CAST(v AS varchar(9)), ' ') WITHIN GROUP (ORDER BY v) FROM "
                   "dbo.orders");
        test_assert_str(got, str_c(arena, want), __FILE__, __LINE__);
        assert_chunks_recorded(world);
        world_close(world);
    }
}

/* --- skew, a sentinel, nothing --- */

static void a_sentinel_at_the_end_of_bigint_has_a_chunk(void **state) /* case A11 */
{
    World *world = open_table(state, "id bigint NOT NULL PRIMARY KEY, note varchar(9)",
                              "(1, 'a'), (2, 'a'), (3, 'a'), (4, 'a'), (5, 'a'), (6, 'a'), "
                              "(9223372036854775807, 'z')");

    backfill_all(world, 3, 2);
    assert_str_is(rows_of_chunks(world, "id::VARCHAR"),
                  "0: 1 2 3\n1: 4 5 6\n2: 9223372036854775807\n");
    assert_rows(world, "9223372036854775808\n",
                "SELECT json_extract_string(detail, '$.hi') FROM {" PLANS
                "} WHERE event = 'snapshot_chunk' AND json_extract(detail, '$.chunk') = '2'");
    apply_by(world, id_key, 1);
    assert_silver_is_source(world, "orders", "id, note");
    world_close(world);
}

/* A dense cluster and one key far away: two levels of counts, and no chunk is too large or empty. */
static void a_dense_cluster_is_counted_in_two_levels(void **state) /* case A11 */
{
    World          *world   = world_open(state, 1);
    BackfillOptions options = shop_backfill(1000, 1);
    Process        *process;
    BackfillResult  result;

    world_create(world, "orders", "id bigint NOT NULL PRIMARY KEY, note varchar(9)");
    world_exec(world,
               "INSERT INTO dbo.orders SELECT value * 2, 'n' FROM GENERATE_SERIES(1, 10000)");
    world_commit(world, "INSERT INTO dbo.orders VALUES (1000000000000, 'far')");
    (void)shop_run_chunked(world);
    process = process_open(world, "backfill");
    assert_ok(process_backfill(process, &options, &result), &process->err);
    assert_int_equal(sim_sql_driver_statements(process->sql, "GROUP BY x.b"), 2);
    assert_int_equal(sim_sql_driver_statements(process->sql, "key_min"), 1);
    process_close(process);
    assert_rows(world, "10001|true|true\n",
                "SELECT sum(\"rows\")::INT, max(\"rows\") <= 1000, min(\"rows\") > 0 FROM {" FACTS
                "} WHERE event = 'snapshot_chunk'");
    world_close(world);
}

/* --- no key --- */

/* A heap with duplicates and NULLs, cut along a column that repeats: every row once, a value in one chunk. */
static void a_heap_with_duplicates_reaches_bronze(void **state) /* case A13 */
{
    static const Str kind[]  = {{"kind", 4}};
    World           *world   = world_open(state, 1);
    StreamOptions    stream  = shop_chunked();
    BackfillOptions  options = shop_backfill(2, 2);

    world_create(world, "orders",
                 "kind varchar(4) COLLATE Latin1_General_CI_AS NULL, amt int NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES ('p', 1), ('p', 1), ('p', 1), ('P', 1), "
                        "(NULL, NULL), (NULL, NULL), ('q', 2)");
    stream.snapshot_keys = options.stream.snapshot_keys = kind;
    stream.snapshot_key_count = options.stream.snapshot_key_count = 1;
    (void)world_stream(world, &stream);
    assert_int_equal(world_backfill(world, &options).state, BACKFILL_DONE);
    world_commit(world, "DELETE TOP (1) FROM dbo.orders WHERE kind = 'p' AND amt = 1");
    (void)world_stream(world, &stream);
    assert_str_is(rows_of_chunks(world, "coalesce(kind, '-')"), "0: - -\n1: P p p p q\n");
    assert_rows(world, "7|1\n",
                "SELECT count(*) FILTER (_operation = 0), count(*) FILTER (_operation = 1) FROM "
                "{" BRONZE "}");
    assert_chunks_recorded(world);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instance_younger_than_the_log_is_opened_below_its_start),
        cmocka_unit_test(commits_around_a_stamp_and_a_read_all_count_once),
        cmocka_unit_test(a_hyphen_sorts_as_the_columns_collation_has_it),
        cmocka_unit_test(a_composite_key_differs_in_case_alone),
        cmocka_unit_test(a_first_column_that_repeats_is_cut_along_the_second),
        property_test(any_composite_key_is_partitioned),
        cmocka_unit_test(a_sentinel_at_the_end_of_bigint_has_a_chunk),
        cmocka_unit_test(a_dense_cluster_is_counted_in_two_levels),
        cmocka_unit_test(a_heap_with_duplicates_reaches_bronze),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
