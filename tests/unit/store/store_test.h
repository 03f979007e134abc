/* store_test.h - a store under test with what belongs to it, and short forms of its calls. */
#ifndef TIDELAKE_STORE_TEST_H
#define TIDELAKE_STORE_TEST_H

#include "support/test_support.h"

#include "base/clock.h"
#include "store/store.h"

#include <errno.h>

#define READ_LIMIT ((size_t)1 << 20)

typedef struct StoreWorld {
    Arena      *arena;
    Rng        *rng;
    Clock      *clock;
    const char *dir;   /* of a local store; else NULL */
    Store      *inner; /* behind faults; else NULL */
    Store      *store;
    FaultPlan   plan;
    Err         err;
} StoreWorld;

UNUSED static StoreWorld *world_new(void)
{
    StoreWorld *world = mem_alloc(sizeof(StoreWorld));
    world->arena      = arena_new();
    world->rng        = rng_new(1);
    world->clock      = clock_new_real();
    return world;
}

UNUSED static int world_open_local(void **state)
{
    StoreWorld *world = world_new();
    world->dir        = test_dir_new(world->arena);
    world->store      = store_local_new(str_from_c(world->dir));
    *state            = world;
    return 0;
}

UNUSED static int world_open_memory(void **state)
{
    StoreWorld *world = world_new();
    world->store      = store_memory_new(world->clock, NULL);
    *state            = world;
    return 0;
}

UNUSED static int world_open_fault(void **state)
{
    StoreWorld *world = world_new();
    world->inner      = store_memory_new(world->clock, NULL);
    world->store      = store_fault_new(world->inner, &world->plan);
    *state            = world;
    return 0;
}

UNUSED static int world_close(void **state)
{
    StoreWorld *world = *state;
    store_close(world->store);
    store_close(world->inner);
    test_dir_remove(world->dir);
    clock_close(world->clock);
    rng_close(world->rng);
    arena_close(world->arena);
    mem_free(world);
    return 0;
}

#define put(world, path, text)                                                               \
    assert_ok(store_put_new((world)->store, STR(path), str_bytes(STR(text)), &(world)->err), \
              &(world)->err)
#define replace(world, path, text)                                                           \
    assert_ok(store_replace((world)->store, STR(path), str_bytes(STR(text)), &(world)->err), \
              &(world)->err)
#define assert_content(world, path, text) \
    test_assert_content((world), STR(path), (text), __FILE__, __LINE__)
#define assert_absent(world, path) test_assert_absent((world), STR(path), __FILE__, __LINE__)
#define assert_listed(world, directory, names) \
    test_assert_listed((world), STR(directory), STR(""), (names), __FILE__, __LINE__)
#define assert_listed_after(world, directory, after, names) \
    test_assert_listed((world), STR(directory), STR(after), (names), __FILE__, __LINE__)

UNUSED static void test_assert_content(StoreWorld *world, Str path, const char *text,
                                       const char *file, int line)
{
    Bytes bytes;
    bool  ok = store_read(world->store, path, READ_LIMIT, world->arena, &bytes, &world->err);
    test_assert_ok(ok, &world->err, "store_read", file, line);
    test_assert_str(bytes_str(bytes), text, file, line);
}

UNUSED static void test_assert_absent(StoreWorld *world, Str path, const char *file, int line)
{
    StoreEntry entry;
    Err        err = ERR_INIT;
    if (store_stat(world->store, path, &entry, &err)) {
        print_error("%.*s is there\n", STR_ARG(path));
        _fail(file, line);
    }
    test_assert_err(&err, ERR_NOT_FOUND, "", file, line);
}

/* `names` with a blank after each. */
UNUSED static void test_assert_listed(StoreWorld *world, Str directory, Str after,
                                      const char *names, const char *file, int line)
{
    StoreList list;
    Str       text = STR("");
    bool ok = store_list_after(world->store, directory, after, world->arena, &list, &world->err);
    test_assert_ok(ok, &world->err, "store_list_after", file, line);
    for (size_t i = 0; i < list.count; i++)
        text = str_printf(world->arena, "%.*s%.*s ", STR_ARG(text), STR_ARG(list.entries[i].name));
    test_assert_str(text, names, file, line);
}

/* Where the first staging of the purpose "apply" at "t" keeps its files: the world's ids come from
 * a seed. */
UNUSED static Str staging_folder_of_first_run(StoreWorld *world)
{
    Rng *same   = rng_new(1);
    Str  run_id = rng_uuid4(same, world->arena);
    rng_close(same);
    return str_printf(world->arena, "t/_tidelake_staging/apply/%.*s", STR_ARG(run_id));
}

/* What libduckdb does: writes a file at a local path. */
UNUSED static void write_local(Str local, const char *text)
{
    char path[4200];
    (void)snprintf(path, sizeof(path), "%.*s", STR_ARG(local));
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

UNUSED static const char *read_local(Arena *arena, Str local)
{
    char  path[4200];
    char *text = arena_alloc(arena, 4096);
    (void)snprintf(path, sizeof(path), "%.*s", STR_ARG(local));
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, text, 4095) >= 0);
    assert_int_equal(close(fd), 0);
    return text;
}

#endif
