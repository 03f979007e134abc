/* Copies that are files: which are found, what columns they have, what is refused (docs/snapshots.md). */
#include "support/test_support.h"

#include "support/shop.h"

#include "engine/seed.h"

typedef struct Files {
    World      *world;
    Arena      *arena;
    const char *folder;
    Lsn         as_of;
} Files;

static Files files_open(void **state)
{
    Files files = {.world = shop_open(state, 1)};

    files.arena  = world_arena(files.world);
    files.folder = test_dir_new(files.arena);
    for (int i = 0; i < 4; i++)
        files.as_of = shop_insert(files.world, i);
    return files;
}

static void files_close(Files *files)
{
    test_dir_remove(files->folder);
    world_close(files->world);
}

static Str path_of(const Files *files, const char *name)
{
    return str_printf(files->arena, "%s/%s", files->folder, name);
}

static void write_parquet(const Files *files, const char *name, const char *select)
{
    DuckSession *session = NULL;
    Err          err     = ERR_INIT;
    Str          path    = duck_quote_literal(files->arena, path_of(files, name));
    Str sql = str_printf(files->arena, "COPY (%s) TO %.*s (FORMAT parquet)", select, STR_ARG(path));

    assert_ok(duck_session_open(world_delta(files->world)->duck, &session, &err), &err);
    assert_ok(duck_execute(session, sql, NULL, &err), &err);
    duck_session_close(session);
}

static void write_text(const Files *files, const char *name, const char *text)
{
    FILE *file = fopen(str_c(files->arena, path_of(files, name)), "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Another name of the same length, which libduckdb itself would not write. */
static void rename_column(const Files *files, const char *name, const char *from, const char *to)
{
    const char *path = str_c(files->arena, path_of(files, name));
    FILE       *file = fopen(path, "r+");
    char        bytes[8192];
    size_t      len;

    assert_non_null(file);
    len = fread(bytes, 1, sizeof bytes, file);
    assert_true(len > 0 && len < sizeof bytes);
    for (size_t i = 0; i + strlen(from) <= len; i++)
        if (memcmp(bytes + i, from, strlen(from)) == 0) memcpy(bytes + i, to, strlen(to));
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static bool seed_from(const Files *files, const char *pattern, bool allows_missing, Err *err)
{
    Process       *process = process_open(files->world, "seed");
    StreamOptions  options = shop_bootstrap();
    SeedOptions    seed    = {.from                   = path_of(files, pattern),
                              .as_of_lsn              = files->as_of,
                              .allows_missing_columns = allows_missing};
    SnapshotResult result;

    options.source.num_partitions = 3;
    *err                          = ERR_INIT;
    bool ok                       = seed_run(&process->env, &options, &seed, &result, err);
    process_close(process);
    return ok;
}

static void assert_seeded(const Files *files, const char *pattern, const char *rows)
{
    Err err;

    assert_ok(seed_from(files, pattern, true, &err), &err);
    assert_str_is(world_rows(files->world, "SELECT id, note FROM {" BRONZE "} ORDER BY id"), rows);
}

#define assert_unseeded(files, pattern, ...) \
    assert_unseeded_at((files), (pattern), (const char *[]){__VA_ARGS__, NULL})

static void assert_unseeded_at(const Files *files, const char *pattern, const char *const *texts)
{
    Err err;

    assert_false(seed_from(files, pattern, false, &err));
    for (size_t i = 0; texts[i]; i++)
        assert_err(&err, ERR_STATE, texts[i]);
    assert_int_equal(world_version(files->world, FACTS), -1);
    if (world_version(files->world, BRONZE) >= 0)
        assert_rows(files->world, "0\n", "SELECT count(*) FROM {" BRONZE "}");
}

static void files_may_differ_in_types_and_order(void **state)
{
    Files files = files_open(state);

    write_parquet(&files, "1.parquet",
                  "SELECT {'id': 9, 'in': {'note': 'no'}} AS nested, 0::BIGINT AS id, [1] AS list, "
                  "'a' AS note");
    write_parquet(&files, "2.parquet", "SELECT 'b' AS \"NOTE\", 1::UTINYINT AS \"Id\", 5 AS more");
    write_parquet(&files, "3.PARQUET", "SELECT '2' AS id, 7::BIGINT AS note");
    write_parquet(&files, "4.parquet", "SELECT 3.0::DOUBLE AS id");
    write_parquet(&files, "5.parquet", "SELECT 3 AS id, 'x' AS note WHERE false");
    write_text(&files, "6.csv", "note|id\n\"x|y\"|4\n|5\n");
    write_text(&files, "7.tsv", "\xEF\xBB\xBFnote\t\"id\"\r\n\"\"\t6\r\n");
    assert_seeded(&files, "*", "0|a\n1|b\n2|7\n3|-\n4|x|y\n5|-\n6|\n");
    assert_int_equal(world_version(files.world, BRONZE), 1);
    files_close(&files);
}

static void a_file_may_have_any_name(void **state)
{
    Files files = files_open(state);

    write_parquet(&files, "it's [1] a*b?.parquet", "SELECT 1 AS id, 'a' AS note");
    write_parquet(&files, "it's 1 acb0.parquet", "SELECT 2 AS id, 'wrong' AS note");
    assert_seeded(&files, "it's [[]1] a[*]b[?].parquet", "1|a\n");
    files_close(&files);
}

static void columns_that_cannot_be_matched_are_named(void **state)
{
    Files files = files_open(state);

    write_parquet(&files, "twins.parquet", "SELECT 1 AS id, 2 AS xy, 'a' AS note");
    rename_column(&files, "twins.parquet", "xy", "ID");
    assert_unseeded(&files, "twins.parquet", "twins.parquet", "a column id and a column ID");
    write_parquet(&files, "nested.parquet", "SELECT {'a': 1} AS id, 'a' AS note");
    assert_unseeded(&files, "nested.parquet", "nested.parquet", "column id is STRUCT", "INT");
    write_parquet(&files, "one.parquet", "SELECT 1 AS id, 'a' AS note");
    write_parquet(&files, "two.parquet", "SELECT 1 AS id");
    assert_unseeded(&files, "[ot]*[eo].parquet", "two.parquet", "lacks captured columns", "note");
    assert_seeded(&files, "[ot]*[eo].parquet", "1|a\n1|-\n");
    files_close(&files);
}

static void what_is_no_file_of_a_copy_is_refused(void **state)
{
    Files files = files_open(state);
    Err   err;

    assert_unseeded(&files, "none/*.parquet", "no file is called", "none/*.parquet");
    assert_unseeded(&files, "", "no file is called", "/*.parquet");
    write_text(&files, "copy.txt", "id,note\n1,a\n");
    assert_unseeded(&files, "copy.txt", "copy.txt", "must end in .parquet");
    write_text(&files, "cut.parquet", "PAR1 hunter2");
    assert_false(seed_from(&files, "cut.parquet", false, &err));
    assert_err(&err, ERR_DAMAGED, "cut.parquet");
    write_text(&files, "empty.csv", "");
    assert_unseeded(&files, "empty.csv", "empty.csv", "first line");
    write_text(&files, "wide.csv", "id,note\n1,a\n2,b,c\n");
    assert_unseeded(&files, "wide.csv", "wide.csv", "line 3 has more or fewer fields");
    write_text(&files, "quote.csv", "id,note\n1,\"hunter2\n");
    assert_unseeded(&files, "quote.csv", "quote.csv", "line 2 has a quote that does not end");
    assert_int_equal(world_line_count(files.world, "hunter2"), 0);
    files_close(&files);
}

/* One bad value at the very end: nothing of what was read before it is committed. */
static void a_bad_value_stops_it_and_is_not_told(void **state)
{
    Files files = files_open(state);
    Err   err;

    write_parquet(&files, "1.parquet", "SELECT range AS id, 'a' AS note FROM range(100000)");
    write_parquet(
        &files, "2.parquet",
        "SELECT CASE WHEN range = 99999 THEN 'hunter2' ELSE (range + 100000)::VARCHAR END "
        "AS id, 'a' AS note FROM range(100000)");
    assert_false(seed_from(&files, "?.parquet", false, &err));
    assert_err(&err, ERR_STATE, "column id");
    assert_err(&err, ERR_STATE, "2.parquet");
    assert_true(strstr(err.message, "hunter2") == NULL);
    assert_int_equal(world_version(files.world, BRONZE), 0);
    assert_int_equal(world_version(files.world, FACTS), -1);
    write_parquet(&files, "2.parquet",
                  "SELECT range + 100000 AS id, 'a' AS note FROM range(100000)");
    assert_ok(seed_from(&files, "?.parquet", false, &err), &err);
    assert_rows(files.world, "200000|200000\n",
                "SELECT count(*), count(DISTINCT id) FROM {" BRONZE "}");
    files_close(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_may_differ_in_types_and_order),
        cmocka_unit_test(a_file_may_have_any_name),
        cmocka_unit_test(columns_that_cannot_be_matched_are_named),
        cmocka_unit_test(what_is_no_file_of_a_copy_is_refused),
        cmocka_unit_test(a_bad_value_stops_it_and_is_not_told),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
