/* Rows deleted by vector (delta.md 2.7): what the log then says of their file, what is carried
 * over, and when no vector is written. */
#include "support/test_support.h"

#include "delta/deletion_vector.h"
#include "unit/delta/delta_test.h"

#define SUM_OF_IDS "SELECT CAST(coalesce(sum(id), 0) AS BIGINT) FROM %s"

static RowSet *rows_of(World *world, const uint64_t *rows, size_t count)
{
    RowSet *set = ARENA_NEW(world->arena, RowSet);
    *set        = row_set_begin(world->arena);
    for (size_t i = 0; i < count; i++)
        row_set_add(set, rows[i], rows[i]);
    row_set_end(set);
    return set;
}
#define ROWS(world, ...)                              \
    rows_of((world), (const uint64_t[]){__VA_ARGS__}, \
            sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static const DeltaFile *nth_file(const DeltaTable *table, size_t n)
{
    const DeltaFile *file = NULL;
    size_t           at   = 0;
    for (size_t i = 0; i <= n; i++)
        assert_true(delta_table_next_file(table, &at, &file));
    return file;
}

static bool try_delete(World *world, DeltaTable *table, DeltaDeletion *deletions, size_t count)
{
    DeltaWriter *writer = NULL;
    DeltaOutcome outcome;
    DeltaCommit  commit = {
         .operation = STR("DELETE"), .deletions = deletions, .deletion_count = count};
    bool ok = delta_writer_open(table, STR("delete"), NULL, &writer, &world->err) &&
              delta_writer_delete_rows(writer, deletions, count, world->arena, &world->err) &&
              delta_writer_publish(writer, NULL, 0, &world->err) &&
              delta_table_commit(table, &commit, &outcome, NULL, &world->err);
    delta_writer_close(writer);
    return ok;
}

static DeltaDeletion delete_rows(World *world, DeltaTable *table, size_t n, const RowSet *rows)
{
    DeltaDeletion deletion = {.file = nth_file(table, n), .rows = rows};
    assert_ok(try_delete(world, table, &deletion, 1), &world->err);
    return deletion;
}

static void rows_that_are_deleted_are_gone_and_stay_gone(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t");
    append_rows(world, table, 0, 10); /* the id is the row's number */

    DeltaDeletion first = delete_rows(world, table, 0, ROWS(world, 3, 7));
    assert_false(first.had_vector);
    assert_int_equal(first.deleted_rows, 2);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 45 - 10);
    DeltaDeletion second = delete_rows(world, table, 0, ROWS(world, 0, 7, 9)); /* 7 once more */
    assert_true(second.had_vector);
    assert_int_equal(second.deleted_rows, 4);
    assert_int_equal(second.row_count, 10);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 45 - 19);
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_int_equal(delta_file_count_rows(nth_file(table, 0)), 6);

    DeltaTable *again = open_table(world, "t");
    assert_int_equal(query_table(world, again, SUM_OF_IDS), 45 - 19);
    assert_ok(delta_table_checkpoint(again, &world->err), &world->err);
    delta_table_close(again);
    again = open_table(world, "t"); /* from the checkpoint */
    assert_int_equal(query_table(world, again, SUM_OF_IDS), 45 - 19);
    delta_table_close(again);
    delta_table_close(table);
    world_close(world);
}

/* Everything that the add said stays, byte by byte, but the vector and what is known of bounds. */
static void the_add_of_a_file_is_carried_over(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t");
    append_rows(world, table, 0, 4);
    Str path = str_copy(world->arena, nth_file(table, 0)->path);
    put_commit_str(
        world, "t", 2,
        str_printf(world->arena,
                   "{\"remove\":{\"path\":\"%.*s\",\"dataChange\":true}}\n"
                   "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1234,"
                   "\"modificationTime\":77,\"dataChange\":true,\"tags\":{\"a\":\"b\"},"
                   "\"baseRowId\":40,\"defaultRowCommitVersion\":5,\"clusteringProvider\":"
                   "\"liquid\",\"stats\":\"{\\\"numRecords\\\":4,\\\"minValues\\\":{\\\"id\\\":0},"
                   "\\\"maxValues\\\":{\\\"id\\\":3},\\\"nullCount\\\":{\\\"id\\\":0},"
                   "\\\"tightBounds\\\":true}\"}}\n",
                   STR_ARG(path), STR_ARG(path)));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    DeltaDeletion deletion = delete_rows(world, table, 0, ROWS(world, 1));
    Str           text     = read_text(world, commit_path(world, "t", 3));
    Str           want     = str_printf(
                      world->arena,
                      "{\"remove\":{\"path\":\"%.*s\",\"deletionTimestamp\":1767225600123,\"dataChange\":true,"
                                    "\"extendedFileMetadata\":true,\"partitionValues\":{},\"size\":1234,\"baseRowId\":40,"
                                    "\"defaultRowCommitVersion\":5}}\n"
                                    "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1234,"
                                    "\"modificationTime\":77,\"dataChange\":true,"
                                    "\"stats\":\"{\\\"numRecords\\\":4,\\\"minValues\\\":{\\\"id\\\":0},\\\"maxValues\\\":{"
                                    "\\\"id\\\":3},\\\"nullCount\\\":{\\\"id\\\":0},\\\"tightBounds\\\":false}\","
                                    "\"tags\":{\"a\":\"b\"},\"baseRowId\":40,\"defaultRowCommitVersion\":5,"
                                    "\"clusteringProvider\":\"liquid\",\"deletionVector\":%.*s}}\n",
                      STR_ARG(path), STR_ARG(path), STR_ARG(deletion.vector));
    assert_true(str_ends_with(text, want));
    assert_true(
        str_starts_with(deletion.vector, STR("{\"storageType\":\"u\",\"pathOrInlineDv\":\"")));
    assert_true(str_ends_with(deletion.vector,
                              STR("\",\"offset\":1,\"sizeInBytes\":34,\"cardinality\":1}")));

    /* the next remove names the vector that it takes away */
    DeltaDeletion next = delete_rows(world, table, 0, ROWS(world, 2));
    text               = read_text(world, commit_path(world, "t", 4));
    assert_true(
        str_find(text,
                 str_printf(world->arena, "\"size\":1234,\"deletionVector\":%.*s,\"baseRowId\"",
                            STR_ARG(deletion.vector)),
                 0) > 0);
    assert_true(
        str_find(text,
                 str_printf(world->arena, "\"deletionVector\":%.*s}}\n", STR_ARG(next.vector)),
                 0) > 0);
    delta_table_close(table);
    world_close(world);
}

static void statistics_of_a_file_with_a_vector_are_wide(void **state)
{
    static const struct {
        const char *stats;
        bool        had_vector;
        const char *want;
    } cases[] = {
        {"", false, "{\"numRecords\":9,\"tightBounds\":false}"},
        {"{\"minValues\":{\"a\":1}}", false,
         "{\"numRecords\":9,\"minValues\":{\"a\":1},\"tightBounds\":false}"},
        {"{\"numRecords\":9,\"nullCount\":{\"a\":2}}", false,
         "{\"numRecords\":9,\"nullCount\":{\"a\":2},\"tightBounds\":false}"},
        {"{\"numRecords\":9,\"nullCount\":{\"a\":2},\"tightBounds\":false}", true,
         "{\"numRecords\":9,\"nullCount\":{\"a\":2},\"tightBounds\":false}"},
        /* somebody counted anew what a vector had left: 2 may be all that is left */
        {"{\"numRecords\":9,\"maxValues\":{\"a\":7},\"nullCount\":{\"a\":2},\"tightBounds\":true}",
         true, "{\"numRecords\":9,\"maxValues\":{\"a\":7},\"tightBounds\":false}"},
        {"{\"numRecords\":9,\"nullCount\":{\"a\":2}}", true,
         "{\"numRecords\":9,\"tightBounds\":false}"},
        {"{\"numRecords\":9,\"nullCount\":null,\"x\\u00e9\":[1, 2]}", false,
         "{\"numRecords\":9,\"x\xC3\xA9\":[1, 2],\"tightBounds\":false}"},
        {"damaged", false, "{\"numRecords\":9,\"tightBounds\":false}"},
    };
    Arena *arena = arena_new();
    (void)state;

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_str_is(stats_with_vector(str_from_c(cases[i].stats), 9, cases[i].had_vector, arena),
                      cases[i].want);
    arena_close(arena);
}

/* delta.md 2.4: where vectors may be, files say that their bounds are met; elsewhere nobody asks. */
static void new_files_have_tight_bounds_where_vectors_may_be(void **state)
{
    World      *world   = world_new(state);
    DeltaTable *with    = create_vector_table(world, "with"),
               *without = create_table(world, "without");
    append_rows(world, with, 0, 2);
    append_rows(world, without, 0, 2);
    assert_true(str_find(read_text(world, commit_path(world, "with", 1)),
                         STR("},\\\"tightBounds\\\":true}\"}}\n"), 0) > 0);
    assert_int_equal(
        str_find(read_text(world, commit_path(world, "without", 1)), STR("tightBounds"), 0), -1);
    delta_table_close(with);
    delta_table_close(without);
    world_close(world);
}

/* Row tracking that is suspended: the ids of the file stay, none is given out. */
static void rows_go_from_a_table_whose_row_tracking_is_suspended(void **state)
{
    for (int suspended = 0; suspended <= 1; suspended++) {
        World      *world = world_new(state);
        DeltaTable *table = create_vector_table(world, "t");
        append_rows(world, table, 0, 4);
        Str       path = str_copy(world->arena, nth_file(table, 0)->path);
        Str       meta = read_text(world, commit_path(world, "t", 0));
        Str       line = str_slice(meta, (size_t)str_find(meta, STR("{\"metaData\""), 0), meta.len);
        ptrdiff_t at   = str_find(line, STR("\"configuration\":{"), 0) + 17;
        Buf       text = buf_new(world->arena, 0);
        buf_append_c(&text,
                     "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,"
                     "\"readerFeatures\":[\"deletionVectors\",\"timestampNtz\"],"
                     "\"writerFeatures\":[\"deletionVectors\",\"timestampNtz\","
                     "\"invariants\",\"appendOnly\",\"rowTracking\",\"domainMetadata\"]}}\n");
        buf_append(&text, str_slice(line, 0, (size_t)at));
        buf_printf(&text,
                   "\"delta.enableRowTracking\":\"%s\",\"delta.rowTrackingSuspended\":\"%s\",",
                   suspended ? "false" : "true", suspended ? "true" : "false");
        buf_append(&text, str_slice(line, (size_t)at, line.len));
        buf_printf(&text,
                   "{\"remove\":{\"path\":\"%.*s\",\"dataChange\":true}}\n"
                   "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1234,"
                   "\"modificationTime\":77,\"dataChange\":true,\"baseRowId\":40,"
                   "\"defaultRowCommitVersion\":5,\"stats\":\"{\\\"numRecords\\\":4}\"}}\n",
                   STR_ARG(path), STR_ARG(path));
        put_commit_str(world, "t", 2, buf_str(&text));
        assert_ok(delta_table_refresh(table, &world->err), &world->err);
        DeltaDeletion deletion = {.file = nth_file(table, 0), .rows = ROWS(world, 1)};
        bool          ok       = try_delete(world, table, &deletion, 1);
        if (suspended) {
            assert_ok(ok, &world->err);
            Str written = read_text(world, commit_path(world, "t", 3));
            assert_true(str_find(written,
                                 STR("\"baseRowId\":40,\"defaultRowCommitVersion\":5,"
                                     "\"deletionVector\""),
                                 0) > 0);
            assert_int_equal(str_find(written, STR("domainMetadata"), 0), -1);
        } else {
            assert_false(ok);
            assert_err(&world->err, ERR_UNSUPPORTED, "DELTA-W08");
        }
        delta_table_close(table);
        world_close(world);
    }
}

static void the_last_rows_take_the_file_along(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t");
    append_rows(world, table, 0, 3);
    append_rows(world, table, 10, 3);
    (void)delete_rows(world, table, 0, ROWS(world, 0, 2));
    size_t           files = count_files(world, "t");
    const DeltaFile *file  = nth_file(table, 0);
    if (file->row_count != 3 || !delta_file_has_vector(file)) file = nth_file(table, 1);
    DeltaDeletion deletion = {.file = file, .rows = ROWS(world, 1)};
    assert_ok(try_delete(world, table, &deletion, 1), &world->err);
    assert_int_equal(deletion.vector.len, 0);
    assert_int_equal(deletion.deleted_rows, 3);
    assert_int_equal(delta_table_get_file_count(table), 1);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 33);
    assert_int_equal(str_find(read_text(world, commit_path(world, "t", 4)), STR("{\"add\""), 0),
                     -1);
    assert_int_equal(count_files(world, "t"), files); /* no file of vectors without a vector */
    delta_table_close(table);
    world_close(world);
}

static void the_vectors_of_one_commit_share_a_file(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t");
    for (int64_t i = 0; i < 3; i++)
        append_rows(world, table, 10 * i, 4);
    size_t        files       = count_files(world, "t");
    DeltaDeletion deletions[] = {{.file = nth_file(table, 0), .rows = ROWS(world, 0)},
                                 {.file = nth_file(table, 1), .rows = ROWS(world, 0, 1, 2, 3)},
                                 {.file = nth_file(table, 2), .rows = ROWS(world, 1, 2)}};
    assert_ok(try_delete(world, table, deletions, 3), &world->err);
    assert_int_equal(count_files(world, "t"), files + 1);
    assert_true(str_find(deletions[0].vector, STR("\"offset\":1,"), 0) > 0);
    assert_int_equal(deletions[1].vector.len, 0);
    assert_true(str_find(deletions[2].vector, STR("\"offset\":43,"), 0) > 0); /* 1 + 4 + 34 + 4 */
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 1 + 2 + 3 + 20 + 23);
    delta_table_close(table);
    world_close(world);
}

/* The log does not say how many rows there are: the file itself does. */
static void a_file_without_statistics_is_counted(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t");
    append_rows(world, table, 0, 5);
    Str path = str_copy(world->arena, nth_file(table, 0)->path);
    put_commit_str(world, "t", 2,
                   str_printf(world->arena,
                              "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1234,"
                              "\"modificationTime\":77,\"dataChange\":true}}\n",
                              STR_ARG(path)));
    assert_ok(delta_table_refresh(table, &world->err), &world->err);
    assert_int_equal(nth_file(table, 0)->row_count, -1);
    DeltaDeletion deletion = delete_rows(world, table, 0, ROWS(world, 4));
    assert_int_equal(deletion.row_count, 5);
    assert_int_equal(nth_file(table, 0)->row_count, 5);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 6);
    DeltaDeletion beyond = {.file = nth_file(table, 0), .rows = ROWS(world, 5)};
    assert_false(try_delete(world, table, &beyond, 1));
    assert_err(&world->err, ERR_DAMAGED, "has 5 rows by its numRecords, and row 5");
    delta_table_close(table);
    world_close(world);
}

static void a_table_that_takes_no_vectors_gets_none(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_table(world, "t");
    append_rows(world, table, 0, 3);
    size_t        files    = count_files(world, "t");
    DeltaDeletion deletion = {.file = nth_file(table, 0), .rows = ROWS(world, 1)};
    assert_false(delta_table_takes_vectors(table));
    assert_false(try_delete(world, table, &deletion, 1));
    assert_err(&world->err, ERR_UNSUPPORTED, "takes no deletion vectors");
    assert_int_equal(count_files(world, "t"), files);
    delta_table_close(table);
    world_close(world);
}

/* delta.md 2.11: two deletions of one file always conflict, also of other rows of it. */
static void a_file_that_lost_rows_meanwhile_is_a_conflict(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t");
    append_rows(world, table, 0, 5);
    DeltaTable   *rival    = open_table(world, "t");
    DeltaDeletion deletion = {.file = nth_file(table, 0), .rows = ROWS(world, 1)};
    (void)delete_rows(world, rival, 0, ROWS(world, 4));
    assert_false(try_delete(world, table, &deletion, 1));
    assert_err(&world->err, ERR_CONFLICT, "another writer came first");
    err_clear(&world->err);
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 6); /* it was brought up to date */
    (void)delete_rows(world, table, 0, ROWS(world, 1));
    assert_int_equal(query_table(world, table, SUM_OF_IDS), 5);
    delta_table_close(rival);
    delta_table_close(table);
    world_close(world);
}

/* Told by the commit that does it, and by whoever opens the table then. */
static void a_file_that_is_live_twice_is_damage(void **state)
{
    World      *world = world_new(state);
    DeltaTable *table = create_vector_table(world, "t"), *again = NULL;
    append_rows(world, table, 0, 5);
    Str path = str_copy(world->arena, nth_file(table, 0)->path);
    (void)delete_rows(world, table, 0, ROWS(world, 1));
    DeltaTable *watch = open_table(world, "t");
    for (int64_t i = 0; i < 20; i++) /* among others */
        append_rows(world, table, 100 + i, 1);
    assert_ok(delta_table_refresh(watch, &world->err), &world->err);
    put_commit_str(world, "t", delta_table_get_version(table) + 1,
                   str_printf(world->arena,
                              "{\"add\":{\"path\":\"%.*s\",\"partitionValues\":{},\"size\":1234,"
                              "\"modificationTime\":77,\"dataChange\":true}}\n",
                              STR_ARG(path)));
    assert_false(delta_table_refresh(watch, &world->err));
    assert_err(&world->err, ERR_DAMAGED, "DELTA-L05 corrupt log of table t v23");
    assert_err(&world->err, ERR_DAMAGED, "is live twice");
    err_clear(&world->err);
    assert_false(delta_table_open(&world->context, STR("t"), &again, &world->err));
    assert_err(&world->err, ERR_DAMAGED, "DELTA-L05 corrupt log of table t v23");
    delta_table_close(watch);
    delta_table_close(table);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_are_deleted_are_gone_and_stay_gone),
        cmocka_unit_test(the_add_of_a_file_is_carried_over),
        cmocka_unit_test(statistics_of_a_file_with_a_vector_are_wide),
        cmocka_unit_test(new_files_have_tight_bounds_where_vectors_may_be),
        cmocka_unit_test(rows_go_from_a_table_whose_row_tracking_is_suspended),
        cmocka_unit_test(the_last_rows_take_the_file_along),
        cmocka_unit_test(the_vectors_of_one_commit_share_a_file),
        cmocka_unit_test(a_file_without_statistics_is_counted),
        cmocka_unit_test(a_table_that_takes_no_vectors_gets_none),
        cmocka_unit_test(a_file_that_lost_rows_meanwhile_is_a_conflict),
        cmocka_unit_test(a_file_that_is_live_twice_is_damage),
    };
    return RUN_DELTA_TESTS(tests);
}
