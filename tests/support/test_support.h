/* test_support.h - what every C test needs: cmocka with the headers it forgets, seeds, a folder of
 * its own, and errors.
 *
 * Include it first. Header-only, so that a test needs no library beyond what it tests. */
#ifndef TIDELAKE_TEST_SUPPORT_H
#define TIDELAKE_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the tests of an array and returns the exit status of main. */
#define RUN_TESTS(tests) cmocka_run_group_tests(tests, NULL, NULL)

/* ---- seeds ----
 *
 * FOR_EACH_SEED (seed, 500) { Rng *rng = rng_new(seed); ... }
 *
 * Seeds 1 to 500, or as many from TIDELAKE_SEED on; TIDELAKE_SEED_COUNT replaces the count. A
 * loop that does not come to its end names the seed it was at, so TIDELAKE_SEED=17
 * TIDELAKE_SEED_COUNT=1 repeats the failure alone. List such a test with property_test(name). */
#define FOR_EACH_SEED(seed, count)                                                       \
    for (uint64_t seed = test_seeds_begin(), seed##_end = seed + test_seed_count(count); \
         test_seed_is_next(seed, seed##_end); seed++)

#define property_test(name) cmocka_unit_test_teardown(name, test_name_seed)

/* The seed of the loop that runs now. The only state a test program has besides its stack: a
 * failed assertion jumps. */
UNUSED static struct {
    volatile sig_atomic_t is_open;
    volatile uint64_t     seed;
} test_open_loop;

UNUSED static void test_print_open_seed(void)
{
    if (test_open_loop.is_open)
        (void)fprintf(stderr, "# failed with TIDELAKE_SEED=%" PRIu64 "\n", test_open_loop.seed);
    test_open_loop.is_open = 0;
}

UNUSED static int test_name_seed(void **state)
{
    (void)state;
    test_print_open_seed();
    return 0;
}

UNUSED static void test_on_abort(int signal_number)
{
    (void)signal(signal_number, SIG_DFL);
    test_print_open_seed(); /* not safe in a signal handler, but the process ends here either way */
    (void)raise(signal_number);
}

UNUSED static uint64_t test_env_number(const char *name, uint64_t otherwise)
{
    const char *text   = getenv(name);
    uint64_t    number = otherwise;

    if (text != NULL && !str_parse_u64(str_from_c(text), &number))
        fail_msg("%s is not a number: %s", name, text);
    return number;
}

UNUSED static uint64_t test_seed_count(uint64_t count)
{
    return test_env_number("TIDELAKE_SEED_COUNT", count);
}

UNUSED static uint64_t test_seeds_begin(void)
{
    (void)signal(SIGABRT, test_on_abort); /* where our assert and the sanitizers end */
    return test_env_number("TIDELAKE_SEED", 1);
}

UNUSED static bool test_seed_is_next(uint64_t seed, uint64_t end)
{
    test_open_loop.seed    = seed;
    test_open_loop.is_open = seed < end;
    return seed < end;
}

/* ---- text and errors ---- */

#define assert_str_is(str, text) test_assert_str((str), (text), __FILE__, __LINE__)

UNUSED static void test_assert_str(Str got, const char *want, const char *file, int line)
{
    if (str_equal_c(got, want)) return;
    print_error("want \"%s\"\n got \"%.*s\"\n", want, STR_ARG(got));
    _fail(file, line);
}

/* `substring` stands in the message or the context; "" asks for nothing. */
#define assert_err(err, want_code, substring) \
    test_assert_err((err), (want_code), (substring), __FILE__, __LINE__)

UNUSED static void test_assert_err(const Err *err, ErrCode code, const char *substring,
                                   const char *file, int line)
{
    char text[2048];

    err_format(err, text, sizeof text);
    if (err->code == code && strstr(text, substring) != NULL) return;
    print_error("want %s with \"%s\"\n got %s: %s\n", err_code_name(code), substring,
                err_code_name(err->code), text);
    _fail(file, line);
}

/* For calls that must succeed: prints what they say when they do not. */
#define assert_ok(call, err) test_assert_ok((call), (err), #call, __FILE__, __LINE__)

UNUSED static void test_assert_ok(bool ok, const Err *err, const char *call, const char *file,
                                  int line)
{
    char text[2048];

    if (ok) return;
    err_format(err, text, sizeof text);
    print_error("%s: %s: %s\n", call, err_code_name(err->code), text);
    _fail(file, line);
}

/* ---- a folder of its own ---- */

/* Below $TMPDIR or /tmp; the path is the arena's. test_dir_remove when done. */
UNUSED static const char *test_dir_new(Arena *arena)
{
    const char *base = getenv("TMPDIR");
    char       *path = arena_alloc(arena, 4096);

    (void)snprintf(path, 4096, "%s/tidelake-test-XXXXXX",
                   base != NULL && base[0] != '\0' ? base : "/tmp");
    if (mkdtemp(path) == NULL) fail_msg("no folder %s", path);
    return path;
}

UNUSED static void test_remove_entry(int parent, const char *name)
{
    struct stat info;

    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (!S_ISDIR(info.st_mode)) {
        (void)unlinkat(parent, name, 0);
        return;
    }
    (void)fchmodat(parent, name, 0700, 0); /* a test may have locked it */
    int  fd  = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            test_remove_entry(dirfd(dir), entry->d_name);
    (void)closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

UNUSED static void test_dir_remove(const char *path)
{
    if (path != NULL) test_remove_entry(AT_FDCWD, path);
}

/* ---- calls that end the process ---- */

/* Runs `run(arg)` in a child process; returns its status as waitpid gives it and its stderr in
 * `text`. */
UNUSED static int test_run_in_child(void (*run)(void *), void *arg, char *text, size_t size)
{
    int    pipe_fds[2];
    int    status = 0;
    size_t len    = 0;

    if (pipe(pipe_fds) != 0) fail_msg("no pipe");
    (void)fflush(NULL);
    pid_t child = fork();
    if (child < 0) fail_msg("no child");
    if (child == 0) {
        (void)dup2(pipe_fds[1], STDERR_FILENO);
        (void)close(pipe_fds[0]);
        (void)close(pipe_fds[1]);
        (void)signal(SIGABRT, SIG_DFL);
        run(arg);
        _exit(0);
    }
    (void)close(pipe_fds[1]);
    for (ssize_t got; len < size - 1 && (got = read(pipe_fds[0], text + len, size - 1 - len)) > 0;)
        len += (size_t)got;
    text[len] = '\0';
    (void)close(pipe_fds[0]);
    if (waitpid(child, &status, 0) != child) fail_msg("the child is lost");
    return status;
}

#endif
