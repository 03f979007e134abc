/* File systems that lack links or exclusive rename, and a network that loses the answer to a link
 * (delta.md 2.10): the calls are answered here instead of by the kernel. */
#define _GNU_SOURCE /* syscall, renameat2 */
#include "store_test.h"

#include <dirent.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the next calls do; the only state of this program, because the C library's functions have no
 * other way to be told. */
static struct {
    int  link_errno;        /* 0: as usual */
    int  rename_errno;      /* 0: as usual */
    bool loses_link_answer; /* the link is made, and reported as if its name had been there */
    int  link_count, rename_count;
} answers;

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    answers.link_count++;
    if (answers.link_errno != 0) {
        errno = answers.link_errno;
        return -1;
    }
    long result = syscall(SYS_linkat, from_fd, from, to_fd, to, flags);
    if (result == 0 && answers.loses_link_answer) {
        errno = EEXIST;
        return -1;
    }
    return (int)result;
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    answers.rename_count++;
    if (answers.rename_errno != 0) {
        errno = answers.rename_errno;
        return -1;
    }
    return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

static int open_world(void **state)
{
    memset(&answers, 0, sizeof answers);
    return world_open_local(state);
}

static bool put_one(StoreWorld *world, const char *text)
{
    return store_put_new(world->store, STR("log/1.json"), str_bytes(str_from_c(text)), &world->err);
}

static void assert_holds(StoreWorld *world, const char *text)
{
    Bytes     bytes;
    StoreList list;
    assert_ok(
        store_read(world->store, STR("log/1.json"), READ_LIMIT, world->arena, &bytes, &world->err),
        &world->err);
    assert_str_is(bytes_str(bytes), text);
    assert_ok(
        store_list_after(world->store, STR("log"), STR_EMPTY, world->arena, &list, &world->err),
        &world->err);
    assert_int_equal(list.count, 1);
}

static int64_t count_names(StoreWorld *world)
{
    DIR    *folder = opendir(str_printf(world->arena, "%s/log", world->dir).ptr);
    int64_t count  = 0;
    if (!folder) return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* . and .. */
}

static void a_new_name_is_a_link(void **state)
{
    StoreWorld *world = *state;
    assert_ok(put_one(world, "one"), &world->err);
    assert_int_equal(answers.link_count, 1);
    assert_int_equal(answers.rename_count, 0);
    assert_false(put_one(world, "two"));
    assert_err(&world->err, ERR_CONFLICT, "log/1.json: exists already");
    assert_holds(world, "one");
    assert_int_equal(count_names(world), 1);
}

static void without_links_an_exclusive_rename_does_it(void **state)
{
    static const int errors[] = {EPERM, ENOSYS, EOPNOTSUPP, EMLINK};
    StoreWorld      *world    = *state;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        answers.link_errno = errors[i];
        assert_ok(put_one(world, "one"), &world->err);
        assert_int_equal(answers.rename_count, 1);
        assert_holds(world, "one");
        answers.rename_count = 0;
        assert_false(put_one(world, "two"));
        assert_err(&world->err, ERR_CONFLICT, "exists already");
        err_clear(&world->err);
        assert_holds(world, "one");
        assert_int_equal(count_names(world), 1);
        assert_ok(store_remove(world->store, STR("log/1.json"), &world->err), &world->err);
        answers.rename_count = 0;
    }
}

/* A rename that replaces would take another writer's commit away, so nothing is written at all. */
static void without_either_nothing_is_written(void **state)
{
    static const int errors[] = {EINVAL, ENOSYS, EOPNOTSUPP};
    StoreWorld      *world    = *state;
    for (size_t i = 0; i < COUNT_OF(errors); i++) {
        answers.link_errno   = EPERM;
        answers.rename_errno = errors[i];
        assert_false(put_one(world, "one"));
        assert_err(&world->err, ERR_UNSUPPORTED,
                   "DELTA-C01 this file system has neither hard links nor exclusive rename");
        err_clear(&world->err);
        assert_int_equal(count_names(world), 0);
    }
}

static void a_lost_answer_to_our_own_link_is_success(void **state)
{
    StoreWorld *world         = *state;
    answers.loses_link_answer = true;
    assert_ok(put_one(world, "one"), &world->err);
    assert_holds(world, "one");
    assert_int_equal(count_names(world), 1);
}

/* The name is there, but it is another's file: also one with two names. */
static void anothers_file_is_no_lost_answer(void **state)
{
    StoreWorld *world = *state;
    assert_ok(put_one(world, "theirs"), &world->err);
    assert_int_equal(link(str_printf(world->arena, "%s/log/1.json", world->dir).ptr,
                          str_printf(world->arena, "%s/other", world->dir).ptr),
                     0);
    answers.loses_link_answer = true;
    assert_false(put_one(world, "ours"));
    assert_err(&world->err, ERR_CONFLICT, "exists already");
    assert_holds(world, "theirs");
}

static void a_full_disk_is_told_as_such(void **state)
{
    StoreWorld *world  = *state;
    answers.link_errno = ENOSPC;
    assert_false(put_one(world, "one"));
    assert_err(&world->err, ERR_STORE, "could not get its name");
    assert_int_equal(world->err.native, ENOSPC);
    assert_int_equal(count_names(world), 0);
}

#define links_test(name) cmocka_unit_test_setup_teardown(name, open_world, world_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        links_test(a_new_name_is_a_link),
        links_test(without_links_an_exclusive_rename_does_it),
        links_test(without_either_nothing_is_written),
        links_test(a_lost_answer_to_our_own_link_is_success),
        links_test(anothers_file_is_no_lost_answer),
        links_test(a_full_disk_is_told_as_such),
    };
    return RUN_TESTS(tests);
}
