/* A driver that cannot be opened, or not be told what a connection needs, says so and leaves nothing
 * behind. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "support/test_support.h"

#include "sqlconn/odbc_internal.h"

#include <dlfcn.h>
#include <errno.h>

/* The only state of this program: the C library's functions have no other way to be told. */
static bool has_no_threads;

typedef int (*CreateThread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    CreateThread create;

    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return has_no_threads ? EAGAIN : create(out, attributes, run, arg);
}

/* Nothing would notice a server that takes a statement and never answers. */
static void without_the_thread_that_watches_there_is_no_driver(void **state)
{
    SqlDriver *driver = NULL;
    Err        err    = ERR_INIT;

    (void)state;
    has_no_threads = true;
    assert_false(sqldriver_odbc_open(NULL, NULL, STR("/tmp"), &driver, &err));
    has_no_threads = false;
    assert_err(&err, ERR_INTERNAL, "cannot start the thread");
    assert_null(driver);
    err_clear(&err);
    assert_ok(sqldriver_odbc_open(NULL, NULL, STR("/tmp"), &driver, &err), &err);
    sqldriver_close(driver);
}

static size_t count_names(const char *path)
{
    DIR   *folder = opendir(path);
    size_t count  = 0;

    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count - 2; /* itself and its parent */
}

static void a_private_file_that_cannot_take_its_name_is_gone(void **state)
{
    Arena      *arena = arena_new();
    const char *dir   = test_dir_new(arena);
    const char *path  = str_c(arena, str_printf(arena, "%s/freetds-%ld.conf", dir, (long)getpid()));
    SqlDriver  *driver = NULL;
    SqlConn    *conn   = NULL;
    Err         err    = ERR_INIT;

    (void)state;
    assert_int_equal(mkdir(path, 0700), 0); /* in its way */
    assert_ok(sqldriver_odbc_open(NULL, NULL, str_from_c(dir), &driver, &err), &err);
    assert_false(sqldriver_connect(
        driver, STR("Driver=FreeTDS;Server=127.0.0.1,1;Encrypt=yes;UID=a;PWD=b"), 1, &conn, &err));
    assert_err(&err, ERR_STORE, "cannot rename");
    assert_int_equal(count_names(dir), 1);
    sqldriver_close(driver);
    assert_int_equal(count_names(dir), 1);
    test_dir_remove(dir);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_the_thread_that_watches_there_is_no_driver),
        cmocka_unit_test(a_private_file_that_cannot_take_its_name_is_gone),
    };

    return RUN_TESTS(tests);
}
