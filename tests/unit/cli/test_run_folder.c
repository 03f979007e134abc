#include "support/test_support.h"

#include "cli/run_folder.h"

#include <sys/wait.h>

static bool is_there(const char *root, const char *name)
{
    char        path[4096];
    struct stat status;

    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    return lstat(path, &status) == 0;
}

static void put(Str folder, const char *name)
{
    char  path[4096];
    FILE *file;

    (void)snprintf(path, sizeof path, "%.*s/%s", STR_ARG(folder), name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void put_folder(Str folder, const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%.*s/%s", STR_ARG(folder), name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* A run that spills, and is killed. Its folder's path. */
static Str let_one_die(Str root, Arena *arena, uint64_t seed)
{
    Rng      *rng   = rng_new(seed);
    RunFolder named = {.lock_fd = -1};
    int       status;
    pid_t     child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        RunFolder folder = run_folder_open(root, arena, rng);
        put_folder(folder.path, "spill");
        put_folder(folder.path, "spill/deeper");
        put(folder.path, "spill/duckdb_temp_storage-0.tmp");
        put(folder.path, "spill/deeper/x");
        put(folder.path, "freetds.conf");
        _exit(folder.lock_fd >= 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    named.path = str_printf(arena, "%.*s/tidelake-run-%ld-%llx", STR_ARG(root), (long)child,
                            (unsigned long long)rng_u64(rng));
    rng_close(rng);
    return named.path;
}

static void the_next_run_removes_what_a_dead_one_left(void **state)
{
    Arena      *arena = arena_new();
    const char *root  = test_dir_new(arena);
    Str         below = str_from_c(root);
    Rng        *rng   = rng_new(7);
    struct stat status;

    (void)state;
    RunFolder living = run_folder_open(below, arena, rng);
    put(living.path, "kept");
    put_folder(below, "tidelake-runs");
    put_folder(below, "tidelake-1234-abcd"); /* of a release that locked nothing */
    put(below, "tidelake-run-file");
    assert_int_equal(
        symlink("tidelake-runs", str_c(arena, str_printf(arena, "%s/tidelake-run-l", root))), 0);
    Str dead = let_one_die(below, arena, 11);
    assert_int_equal(stat(str_c(arena, dead), &status), 0);

    RunFolder next = run_folder_open(below, arena, rng);
    assert_true(next.lock_fd >= 0);
    assert_int_equal(stat(str_c(arena, dead), &status), -1);
    assert_int_equal(
        stat(str_c(arena, str_printf(arena, "%.*s/kept", STR_ARG(living.path))), &status), 0);
    assert_true(is_there(root, "tidelake-runs") && is_there(root, "tidelake-1234-abcd") &&
                is_there(root, "tidelake-run-file") && is_there(root, "tidelake-run-l"));
    put_folder(next.path, "spill");
    put(next.path, "spill/duckdb_temp_storage-0.tmp");
    run_folder_close(&next);
    run_folder_close(&next);
    assert_int_equal(stat(str_c(arena, next.path), &status), -1);
    run_folder_close(&living);
    assert_int_equal(stat(str_c(arena, living.path), &status), -1);
    rng_close(rng);
    test_dir_remove(root);
    arena_close(arena);
}

static void where_none_can_be_made_there_is_a_name_alone(void **state)
{
    Arena *arena = arena_new();
    Rng   *rng   = rng_new(7);

    (void)state;
    RunFolder folder = run_folder_open(STR("/nowhere/at/all"), arena, rng);
    assert_int_equal(folder.lock_fd, -1);
    assert_true(str_starts_with(folder.path, STR("/nowhere/at/all/tidelake-run-")));
    run_folder_close(&folder);
    rng_close(rng);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_run_removes_what_a_dead_one_left),
        cmocka_unit_test(where_none_can_be_made_there_is_a_name_alone),
    };
    return RUN_TESTS(tests);
}
