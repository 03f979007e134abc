/* The local store among processes: races, deaths, and disks that refuse. */
#include "store_test.h"

#include <sys/resource.h>
#include <time.h>

/* Several processes; each gets the world's folder and its own store, as real ones would. */
typedef int (*ChildRun)(StoreWorld *world, Store *store, int number);

static pid_t start_child(StoreWorld *world, ChildRun run, int number)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) return child;
    (void)alarm(120); /* should the test fail and forget it */
    Store *store = store_local_new(str_from_c(world->dir));
    int    code  = run(world, store, number);
    store_close(store);
    _exit(code);
}

static int exit_code(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define CHILD_COUNT 6
#define NAME_COUNT  40

/* Bit `i` of the answer's file says that name `i` was won. */
static int race_for_names(StoreWorld *world, Store *store, int number)
{
    Arena *arena = arena_new();
    Err    err   = ERR_INIT;
    Str    won   = STR("");
    int    code  = 0;

    for (int i = 0; i < NAME_COUNT; i++) {
        Str content = str_printf(arena, "child %d", number);
        if (store_put_new(store, str_printf(arena, "t/_delta_log/%02d.json", i), str_bytes(content),
                          &err))
            won = str_printf(arena, "%.*s%02d ", STR_ARG(won), i);
        else if (err.code != ERR_CONFLICT)
            code = 1;
    }
    if (!store_put_new(store, str_printf(arena, "won/%d", number), str_bytes(won), &err)) code = 2;
    arena_close(arena);
    (void)world;
    return code;
}

static void of_several_processes_exactly_one_makes_a_name(void **state)
{
    StoreWorld *world = *state;
    pid_t       children[CHILD_COUNT];
    int         winner[NAME_COUNT], win_count = 0;
    Bytes       won;

    for (int i = 0; i < CHILD_COUNT; i++)
        children[i] = start_child(world, race_for_names, i);
    for (int i = 0; i < CHILD_COUNT; i++)
        assert_int_equal(exit_code(children[i]), 0);
    for (int i = 0; i < CHILD_COUNT; i++) {
        Str path = str_printf(world->arena, "won/%d", i), part;
        assert_ok(store_read(world->store, path, READ_LIMIT, world->arena, &won, &world->err),
                  &world->err);
        for (Str rest = bytes_str(won); str_split_next(&rest, ' ', &part);) {
            int64_t name;
            if (part.len == 0) continue;
            part = part.ptr[0] == '0' ? str_slice(part, 1, 2) : part;
            assert_true(str_parse_i64(part, &name));
            winner[name] = i;
            win_count++;
        }
    }
    assert_int_equal(win_count, NAME_COUNT); /* each once, or a name below would differ */
    for (int i = 0; i < NAME_COUNT; i++) {
        Bytes content;
        Str   path = str_printf(world->arena, "t/_delta_log/%02d.json", i);
        assert_ok(store_read(world->store, path, READ_LIMIT, world->arena, &content, &world->err),
                  &world->err);
        assert_str_is(bytes_str(content), str_printf(world->arena, "child %d", winner[i]).ptr);
    }
}

/* --- death --- */

#define CONTENT_BYTES 100000

/* Content that shows whether it is whole: one letter, repeated. */
static Bytes content_of(uint8_t *into, uint64_t number)
{
    memset(into, 'a' + (int)(number % 26), CONTENT_BYTES);
    return (Bytes){into, CONTENT_BYTES};
}

static int write_for_ever(StoreWorld *world, Store *store, int number)
{
    Arena   *arena = arena_new();
    Err      err   = ERR_INIT;
    uint8_t *bytes = arena_alloc(arena, CONTENT_BYTES);

    (void)world;
    for (uint64_t i = 0;; i++) {
        Str path = str_printf(arena, "t/new/%d-%06llu", number, (unsigned long long)i);
        if (!store_put_new(store, path, content_of(bytes, i), &err)) return 1;
        if (!store_replace(store, STR("t/last"), content_of(bytes, i), &err)) return 2;
    }
}

static void assert_whole(StoreWorld *world, Arena *arena, Str path)
{
    Bytes bytes;
    assert_ok(store_read(world->store, path, READ_LIMIT, arena, &bytes, &world->err), &world->err);
    assert_int_equal(bytes.len, CONTENT_BYTES);
    for (size_t i = 0; i < bytes.len; i++)
        assert_int_equal(bytes.ptr[i], bytes.ptr[0]);
}

static void a_killed_process_leaves_whole_files_only(void **state)
{
    StoreWorld *world = *state;
    Rng        *rng   = rng_new_from_entropy();
    StoreList   list  = {0};

    uint8_t *bytes = arena_alloc(world->arena, CONTENT_BYTES);
    assert_ok(store_replace(world->store, STR("t/last"), content_of(bytes, 0), &world->err),
              &world->err);
    /* at least 25 kills, and more on a slow machine, until they came in the middle of work */
    for (int i = 0; i < 25 || (list.count < 25 && i < 500); i++) {
        pid_t           child = start_child(world, write_for_ever, i);
        struct timespec pause = {.tv_nsec = 1000000 + (long)rng_below(rng, 25000000)};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        Arena *arena = arena_new();
        assert_ok(store_list_after(world->store, STR("t/new"), STR(""), arena, &list, &world->err),
                  &world->err);
        for (size_t k = 0; k < list.count; k++)
            assert_whole(world, arena, store_join(arena, STR("t/new"), list.entries[k].name));
        assert_whole(world, arena, STR("t/last"));
        arena_close(arena);
    }
    assert_true(list.count >= 25);
    rng_close(rng);
}

/* Stages a file, says over the pipe where, then waits to be killed. */
static pid_t start_stager(StoreWorld *world, Str purpose, char *local_out, size_t size)
{
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(120);
        Store        *store   = store_local_new(str_from_c(world->dir));
        Rng          *rng     = rng_new_from_entropy();
        StoreStaging *staging = NULL;
        Str           local;
        if (!store_staging_open(store, STR("t"), purpose, rng, &staging, &world->err)) _exit(1);
        if (!store_staging_file(staging, STR("p.parquet"), world->arena, &local, &world->err))
            _exit(2);
        write_local(local, "half a file");
        if (write(pipe_fds[1], local.ptr, local.len) != (ssize_t)local.len) _exit(3);
        for (;;)
            (void)pause();
    }
    (void)close(pipe_fds[1]);
    ssize_t len = read(pipe_fds[0], local_out, size - 1);
    assert_true(len > 0);
    local_out[len] = '\0';
    (void)close(pipe_fds[0]);
    return child;
}

/* delta.md 2.1 */
static void the_folder_of_a_killed_run_is_removed_and_a_live_one_is_not(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = NULL;
    char          path[4096];
    pid_t         child = start_stager(world, STR("stream.orders"), path, sizeof(path));

    assert_ok(store_staging_open(world->store, STR("t"), STR("stream.orders"), world->rng, &staging,
                                 &world->err),
              &world->err);
    assert_int_equal(access(path, F_OK), 0);
    store_staging_close(staging);
    assert_int_equal(access(path, F_OK), 0);

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_ok(
        store_staging_open(world->store, STR("t"), STR("apply"), world->rng, &staging, &world->err),
        &world->err);
    assert_int_equal(access(path, F_OK), 0); /* another purpose's */
    store_staging_close(staging);
    assert_ok(store_staging_open(world->store, STR("t"), STR("stream.orders"), world->rng, &staging,
                                 &world->err),
              &world->err);
    assert_int_equal(access(path, F_OK), -1);
    store_staging_close(staging);
    assert_int_equal(
        access(str_printf(world->arena, "%s/t/_tidelake_staging", world->dir).ptr, F_OK), -1);
}

static int stage_and_publish(StoreWorld *world, Store *store, int number)
{
    Rng *rng = rng_new_from_entropy();
    for (int i = 0; i < 60; i++) {
        Arena        *arena   = arena_new();
        StoreStaging *staging = NULL;
        Str           local, path = str_printf(arena, "t/%d-%d.parquet", number, i);
        if (!store_staging_open(store, STR("t"), STR("stream.x"), rng, &staging, &world->err))
            return 1;
        if (!store_staging_file(staging, STR("p"), arena, &local, &world->err)) return 2;
        write_local(local, "rows");
        if (!store_staging_publish(staging, STR("p"), path, NULL, &world->err)) return 3;
        if (!store_staging_sync(staging, &world->err)) return 4;
        store_staging_close(staging);
        arena_close(arena);
    }
    rng_close(rng);
    return 0;
}

/* Making, locking and removing folders of one purpose all at once: nobody removes a live one. */
static void runs_of_one_purpose_may_start_and_end_together(void **state)
{
    StoreWorld *world = *state;
    pid_t       children[4];
    StoreList   list;

    for (int i = 0; i < 4; i++)
        children[i] = start_child(world, stage_and_publish, i);
    for (int i = 0; i < 4; i++)
        assert_int_equal(exit_code(children[i]), 0);
    assert_ok(store_list_after(world->store, STR("t"), STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.count, 4 * 60);
}

/* --- disks that refuse --- */

static size_t count_names(const char *directory)
{
    size_t count = 0;
    DIR   *dir   = opendir(directory);
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count - 2;
}

/* A file-size limit stops a write half way, as a full disk does. */
static int write_past_the_end(StoreWorld *world, Store *store, int number)
{
    struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};
    uint8_t      *bytes = arena_alloc(world->arena, CONTENT_BYTES);
    Err           err   = ERR_INIT;

    (void)number;
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    if (store_put_new(store, STR("t/new"), content_of(bytes, 0), &err)) return 2;
    if (err.code != ERR_STORE || err.native != EFBIG || !strstr(err.message, "t/new")) return 3;
    if (store_replace(store, STR("t/old"), content_of(bytes, 0), &err)) return 4;
    if (err.code != ERR_STORE || err.native != EFBIG || !strstr(err.message, "t/old")) return 5;
    return 0;
}

static void a_full_disk_leaves_nothing_half_written(void **state)
{
    StoreWorld *world = *state;
    put(world, "t/old", "old");
    assert_int_equal(exit_code(start_child(world, write_past_the_end, 0)), 0);
    assert_content(world, "t/old", "old");
    assert_int_equal(count_names(str_printf(world->arena, "%s/t", world->dir).ptr), 1);
}

static bool refused(bool ok, const Err *err, int error, const char *path)
{
    return !ok && err->code == ERR_STORE && err->native == error && strstr(err->message, path);
}

/* root may write anywhere, so the child becomes nobody. */
static int write_without_permission(StoreWorld *world, Store *store, int number)
{
    Bytes         data    = str_bytes(STR("x"));
    Err           err     = ERR_INIT;
    StoreStaging *staging = NULL;

    (void)number;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 1;
    if (!refused(store_put_new(store, STR("t/new"), data, &err), &err, EACCES, "t/new")) return 2;
    if (!refused(store_put_new(store, STR("t/sub/new"), data, &err), &err, EACCES, "t/sub"))
        return 3;
    if (!refused(store_replace(store, STR("t/old"), data, &err), &err, EACCES, "t/old")) return 4;
    if (!refused(store_remove(store, STR("t/old"), &err), &err, EACCES, "t/old")) return 5;
    if (!refused(store_staging_open(store, STR("t"), STR("apply"), world->rng, &staging, &err),
                 &err, EACCES, "t/_tidelake_staging"))
        return 6;
    return 0;
}

static void a_disk_that_cannot_be_written_says_so(void **state)
{
    StoreWorld *world = *state;
    const char *table = str_printf(world->arena, "%s/t", world->dir).ptr;

    put(world, "t/old", "old");
    assert_int_equal(chmod(world->dir, 0755), 0);
    assert_int_equal(chmod(table, 0555), 0);
    assert_int_equal(exit_code(start_child(world, write_without_permission, 0)), 0);
    assert_int_equal(chmod(table, 0755), 0);
    assert_content(world, "t/old", "old");
    assert_int_equal(count_names(table), 1);
}

static void the_name_of_a_read_only_file_system_is_in_the_message(void **state)
{
    StoreWorld *world = *state;
    Store      *root  = store_local_new(STR("/"));
    assert_false(store_put_new(root, STR("proc/tidelake/x"), str_bytes(STR("x")), &world->err));
    assert_err(&world->err, ERR_STORE, "/proc/tidelake");
    store_close(root);
}

/* --- the rest --- */

static void temporary_files_are_not_listed(void **state)
{
    StoreWorld *world = *state;
    put(world, "t/a", "x");
    write_local(str_printf(world->arena, "%s/t/.a.0123.tmp", world->dir), "left by a crash");
    assert_listed(world, "t", "a ");
}

static void a_relative_root_and_path_start_at_the_working_directory(void **state)
{
    StoreWorld *world = *state;
    Store      *here  = store_local_new(STR(""));
    Str         local;
    char        before[4096];

    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(world->dir), 0);
    assert_ok(store_put_new(here, STR("~t/f"), str_bytes(STR("x")), &world->err), &world->err);
    assert_ok(store_fetch_local(here, STR("~t/f"), world->arena, &local, &world->err), &world->err);
    assert_str_is(local, "./~t/f"); /* libduckdb would take ~ for a home */
    assert_int_equal(chdir(before), 0);
    assert_content(world, "~t/f", "x");
    store_close(here);
}

static void symbolic_links_are_followed_when_reading(void **state)
{
    StoreWorld *world = *state;
    put(world, "t/a", "x");
    assert_int_equal(symlink("a", str_printf(world->arena, "%s/t/link", world->dir).ptr), 0);
    assert_int_equal(symlink("nothing", str_printf(world->arena, "%s/t/dangling", world->dir).ptr),
                     0);
    assert_content(world, "t/link", "x");
    assert_listed(world, "t", "a link ");
    assert_false(store_put_new(world->store, STR("t/dangling"), str_bytes(STR("y")), &world->err));
    assert_err(&world->err, ERR_CONFLICT, "t/dangling");
}

#define local_test(name) cmocka_unit_test_setup_teardown(name, world_open_local, world_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        local_test(of_several_processes_exactly_one_makes_a_name),
        local_test(a_killed_process_leaves_whole_files_only),
        local_test(the_folder_of_a_killed_run_is_removed_and_a_live_one_is_not),
        local_test(runs_of_one_purpose_may_start_and_end_together),
        local_test(a_full_disk_leaves_nothing_half_written),
        local_test(a_disk_that_cannot_be_written_says_so),
        local_test(the_name_of_a_read_only_file_system_is_in_the_message),
        local_test(temporary_files_are_not_listed),
        local_test(a_relative_root_and_path_start_at_the_working_directory),
        local_test(symbolic_links_are_followed_when_reading),
    };
    return RUN_TESTS(tests);
}
