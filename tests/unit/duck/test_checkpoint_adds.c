/* Adds of checkpoints, taken on several threads: all of them, each with its members, and typed
 * statistics as the text they stand for (delta.md 1.4, 2.4). */
#include "unit/duck/duck_test.h"

#include "duck/duck_checkpoint.h"

#include <pthread.h>

/* What was taken, by row number. */
typedef struct Taken {
    pthread_mutex_t lock;
    Arena          *arena;
    Str            *lines; /* "path|size|modified|stats|extra"; NULL: not taken */
    int64_t         row_count, taken_count;
    int64_t         refuse_from; /* rows from here on are refused; -1: none */
} Taken;

static Str cell(const ColumnVector *column, size_t row, Arena *arena)
{
    return column_is_null(column, row) ? STR("NULL") : column_format(arena, column, row);
}

static bool take(void *arg, const RowBlock *block, Err *err)
{
    Taken              *taken   = arg;
    const ColumnVector *columns = block->columns;

    (void)pthread_mutex_lock(&taken->lock);
    for (size_t i = 0; i < block->row_count; i++) {
        int64_t row = column_i64(&columns[DUCK_ADD_ROW], i);
        if (taken->refuse_from >= 0 && row >= taken->refuse_from)
            err_set(err, ERR_DAMAGED, "row %lld is refused", (long long)row);
        if (err->code != ERR_NONE) break;
        Buf line = buf_new(taken->arena, 0);
        for (size_t j = 0; j < DUCK_ADD_COLUMN_COUNT; j++) {
            if (j == DUCK_ADD_ROW) continue;
            if (j > 0) buf_append_char(&line, '|');
            buf_append(&line, cell(&columns[j], i, taken->arena));
        }
        if (row < taken->row_count && taken->lines[row].ptr == NULL) {
            taken->lines[row] = buf_str(&line);
            taken->taken_count++;
        } else {
            err_set(err, ERR_INTERNAL, "row %lld came twice, or is none", (long long)row);
        }
    }
    (void)pthread_mutex_unlock(&taken->lock);
    return err->code == ERR_NONE;
}

static bool take_all(DuckWorld *world, Str path, int64_t row_count, int64_t refuse_from, Taken *out)
{
    DuckCheckpoint *file = NULL;

    *out = (Taken){.arena       = world->arena,
                   .lines       = ARENA_ARRAY(world->arena, Str, (size_t)row_count + 1),
                   .row_count   = row_count,
                   .refuse_from = refuse_from};
    assert_int_equal(pthread_mutex_init(&out->lock, NULL), 0);
    assert_ok(duck_checkpoint_open(world->session, path, world->arena, &file, &world->err),
              &world->err);
    bool ok = duck_checkpoint_take_adds(file, take, out, &world->err);
    (void)pthread_mutex_destroy(&out->lock);
    return ok;
}

static void assert_lines(const Taken *taken, const char *const *want)
{
    for (int64_t i = 0; i < taken->row_count; i++)
        assert_str_is(taken->lines[i], want[i]);
}

static Str write_parquet(DuckWorld *world, const char *name, const char *select)
{
    Str path = path_in(world, name);
    Str sql  = str_printf(world->arena, "COPY (%s) TO '%.*s' (FORMAT parquet, ROW_GROUP_SIZE 2048)",
                          select, STR_ARG(path));
    assert_ok(duck_execute(world->session, sql, NULL, &world->err), &world->err);
    return path;
}

/* Many row groups, one add in three rows, members that repeat (dictionaries) and some that are not
 * there. */
static void every_row_is_taken_once(void **state)
{
    enum { ROWS = 50000 };
    DuckWorld *world = *state;
    Taken      taken;
    Str        path = write_parquet(
               world, "many.parquet",
               "SELECT CASE WHEN i % 3 = 0 THEN {'path': 'f' || i, 'partitionValues': MAP {'p': 'v' || "
                      "(i // 1000)}, 'size': i, 'modificationTime': i + 1, 'stats': 's' || (i % 2)} END AS add "
                      "FROM range(50000) AS r(i)");

    assert_ok(take_all(world, path, ROWS, -1, &taken), &world->err);
    assert_int_equal(taken.taken_count, ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        const char *want = "NULL|NULL|NULL|NULL|";
        if (i % 3 == 0)
            want = str_printf(world->arena,
                              "f%lld|%lld|%lld|s%lld|\"partitionValues\":{\"p\":\"v%lld\"}",
                              (long long)i, (long long)i, (long long)i + 1, (long long)i % 2,
                              (long long)i / 1000)
                       .ptr;
        assert_str_is(taken.lines[i], want);
    }
}

static void the_error_of_a_thread_comes_back(void **state)
{
    DuckWorld *world = *state;
    Taken      taken;
    Str        path = write_parquet(world, "refused.parquet",
                                    "SELECT {'path': 'f' || i, 'size': i, 'modificationTime': i} AS add "
                                           "FROM range(50000) AS r(i)");

    assert_false(take_all(world, path, 50000, 49500, &taken));
    assert_err(&world->err, ERR_DAMAGED, "row 49500 is refused");
    assert_query(world, STR("SELECT 1"), "1\n");
}

static void a_file_without_adds_gives_none(void **state)
{
    DuckWorld *world = *state;
    Taken      taken;
    Str path = write_parquet(world, "none.parquet", "SELECT {'appId': 'a', 'version': 1} AS txn");

    assert_ok(take_all(world, path, 1, -1, &taken), &world->err);
    assert_int_equal(taken.taken_count, 0);
}

/* Numbers of another width, and a text column that is none of ours. */
static void other_writers_types_are_taken(void **state)
{
    static const char *const want[] = {"a|5|6|NULL|\"baseRowId\":7"};
    DuckWorld               *world  = *state;
    Taken                    taken;
    Str                      path = write_parquet(
                             world, "types.parquet",
                             "SELECT {'path': 'a', 'size': 5::INTEGER, 'modificationTime': 6::SMALLINT, 'baseRowId': "
                                                  "7::INTEGER, 'unknown': 'x'} AS add");

    assert_ok(take_all(world, path, 1, -1, &taken), &world->err);
    assert_lines(&taken, want);
}

static void typed_statistics_become_their_text(void **state)
{
    static const char *const want[] = {
        "a|1|1|{\"numRecords\":9007199254740993,\"minValues\":{\"i\":-3,\"y\":-128,\"d\":\"-0.50\","
        "\"b\":12345678901234567890123456.1234567890,\"f\":1e+300,\"s\":\"a\\\"\xc3\xa4\","
        "\"day\":\"2020-02-29\",\"t\":\"2020-01-31T23:59:59.123Z\",\"n\":\"1969-12-31T23:59:59."
        "999\","
        "\"in\":{\"x\":1}},\"maxValues\":{\"i\":7,\"t\":\"2020-01-31T23:59:59.124Z\","
        "\"n\":\"1970-01-01T00:00:00.000\"},\"nullCount\":{\"i\":0,\"in\":{\"x\":2}},"
        "\"tightBounds\":true}|",
    };
    DuckWorld *world = *state;
    Taken      taken;
    Str        path = write_parquet(
               world, "typed.parquet",
               "SELECT {'path': 'a', 'size': 1, 'modificationTime': 1, 'stats_parsed': {"
                      "'numRecords': 9007199254740993::BIGINT, 'minValues': {'i': -3::INTEGER, 'y': "
                      "(-128)::TINYINT, 'd': '-0.50', 'b': "
                      "12345678901234567890123456.1234567890::DECIMAL(38,10), "
                      "'f': 1e300::DOUBLE, 'nan': 'NaN'::DOUBLE, 's': 'a\"\xc3\xa4', 'flag': true, 'raw': "
                      "'x'::BLOB, 'day': DATE '2020-02-29', 'old': DATE '0044-03-15 (BC)', "
                      "'t': TIMESTAMPTZ '2020-01-31 23:59:59.123456+00', 'n': TIMESTAMP "
                      "'1969-12-31 23:59:59.999999', 'in': {'x': 1::BIGINT}, 'empty': NULL::INTEGER}, "
                      "'maxValues': {'i': 7::INTEGER, 't': TIMESTAMPTZ '2020-01-31 23:59:59.123456+00', 'n': "
                      "TIMESTAMP '1969-12-31 23:59:59.999999'}, "
                      "'nullCount': {'i': 0::BIGINT, 'in': {'x': 2::BIGINT}}, 'tightBounds': true}} AS add");

    assert_ok(take_all(world, path, 1, -1, &taken), &world->err);
    assert_lines(&taken, want);
}

/* The text is the truth where there is one. */
static void texts_win_over_typed_statistics(void **state)
{
    static const char *const want[] = {"a|1|1|{\"numRecords\":1}|", "b|1|1|{\"numRecords\":2}|",
                                       "c|1|1||", "d|1|1||"};
    DuckWorld               *world  = *state;
    Taken                    taken;
    Str                      path = write_parquet(
                             world, "both.parquet",
                             "SELECT unnest([{'path': 'a', 'size': 1, 'modificationTime': 1, 'stats': "
                                                  "'{\"numRecords\":1}', 'stats_parsed': {'numRecords': 2::BIGINT}}, "
                                                  "{'path': 'b', 'size': 1, 'modificationTime': 1, 'stats': NULL, 'stats_parsed': "
                                                  "{'numRecords': 2::BIGINT}}, "
                                                  "{'path': 'c', 'size': 1, 'modificationTime': 1, 'stats': NULL, 'stats_parsed': "
                                                  "{'numRecords': NULL::BIGINT}}, "
                                                  "{'path': 'd', 'size': 1, 'modificationTime': 1, 'stats': NULL, 'stats_parsed': "
                                                  "NULL}]) AS add");

    assert_ok(take_all(world, path, 4, -1, &taken), &world->err);
    assert_lines(&taken, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        duck_test(every_row_is_taken_once),
        duck_test(the_error_of_a_thread_comes_back),
        duck_test(a_file_without_adds_gives_none),
        duck_test(other_writers_types_are_taken),
        duck_test(typed_statistics_become_their_text),
        duck_test(texts_win_over_typed_statistics),
    };
    return RUN_TESTS(tests);
}
