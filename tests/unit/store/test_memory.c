/* What only the memory store promises: one content for several simulated processes, threads, power
 * failures, memfds. */
#include "store_test.h"

#include "base/sched.h"

#include <pthread.h>

static void a_power_failure_takes_what_was_not_synced(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = NULL;
    Str           local;

    assert_ok(
        store_staging_open(world->store, STR("t"), STR("apply"), world->rng, &staging, &world->err),
        &world->err);
    for (int i = 0; i < 3; i++) {
        Str name = str_printf(world->arena, "p%d", i);
        assert_ok(store_staging_file(staging, name, world->arena, &local, &world->err),
                  &world->err);
        write_local(local, "rows");
        if (i < 2)
            assert_ok(store_staging_publish(staging, name, store_join(world->arena, STR("t"), name),
                                            NULL, &world->err),
                      &world->err);
        if (i == 0) assert_ok(store_staging_sync(staging, &world->err), &world->err);
    }
    put(world, "t/log", "durable at once");
    assert_listed(world, "t", "log p0 p1 ");
    store_staging_abandon(staging);
    store_memory_lose_power(world->store);
    assert_listed(world, "t", "log p0 ");
    assert_content(world, "t/p0", "rows");
}

static void a_power_failure_spares_what_was_sealed(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = NULL;
    Str           names[] = {STR("kept")}, local;
    StoreStagings taken;
    StoreMeasure  measure;

    assert_ok(
        store_staging_open(world->store, STR("t"), STR("x"), world->rng, &staging, &world->err),
        &world->err);
    assert_ok(store_staging_file(staging, STR("kept"), world->arena, &local, &world->err),
              &world->err);
    write_local(local, "rows");
    assert_ok(store_staging_file(staging, STR("lost"), world->arena, &local, &world->err),
              &world->err);
    write_local(local, "rows");
    assert_ok(
        store_staging_seal(staging, names, 1, STR("seal"), str_bytes(STR("kept")), &world->err),
        &world->err);
    store_staging_abandon(staging);
    store_memory_lose_power(world->store);
    assert_ok(
        store_staging_take(world->store, STR("t"), STR("x"), world->arena, &taken, &world->err),
        &world->err);
    assert_int_equal(taken.count, 1);
    assert_ok(store_staging_measure(taken.items[0], STR("kept"), &measure, &world->err),
              &world->err);
    assert_ok(store_staging_measure(taken.items[0], STR("seal"), &measure, &world->err),
              &world->err);
    assert_false(store_staging_measure(taken.items[0], STR("lost"), &measure, &world->err));
    store_staging_close(taken.items[0]);
}

static void a_fetched_path_keeps_its_content_when_the_file_goes(void **state)
{
    StoreWorld *world = *state;
    Str         old_local, new_local;

    put(world, "f", "old");
    assert_ok(store_fetch_local(world->store, STR("f"), world->arena, &old_local, &world->err),
              &world->err);
    replace(world, "f", "new");
    assert_ok(store_fetch_local(world->store, STR("f"), world->arena, &new_local, &world->err),
              &world->err);
    assert_string_equal(read_local(world->arena, old_local), "old");
    assert_string_equal(read_local(world->arena, new_local), "new");
    assert_ok(store_remove(world->store, STR("f"), &world->err), &world->err);
    assert_string_equal(read_local(world->arena, new_local), "new");
}

static void a_staged_file_is_listed_from_its_first_byte_on(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = NULL;
    Str           local;

    assert_ok(
        store_staging_open(world->store, STR("t"), STR("apply"), world->rng, &staging, &world->err),
        &world->err);
    assert_ok(store_staging_file(staging, STR("p"), world->arena, &local, &world->err),
              &world->err);
    Str       folder = staging_folder_of_first_run(world);
    StoreList list;
    assert_ok(store_list_after(world->store, folder, STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.count, 0);
    write_local(local, "x");
    assert_ok(store_list_after(world->store, folder, STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.count, 1);
    store_staging_close(staging);
}

/* --- threads --- */

typedef struct Writer {
    StoreWorld *world;
    int         number;
    int         won_count;
} Writer;

static void *write_names(void *arg)
{
    Writer *writer = arg;
    Arena  *arena  = arena_new();
    Err     err    = ERR_INIT;
    Bytes   bytes;

    for (int i = 0; i < 300; i++) {
        Str path = str_printf(arena, "t/%03d", i);
        if (store_put_new(writer->world->store, path, str_bytes(STR("mine")), &err))
            writer->won_count++;
        if (!store_read(writer->world->store, path, 100, arena, &bytes, &err))
            writer->won_count = -1000;
        if (!store_replace(writer->world->store, str_printf(arena, "own/%d", writer->number), bytes,
                           &err))
            writer->won_count = -1000;
    }
    arena_close(arena);
    return NULL;
}

static void threads_share_one_store(void **state)
{
    StoreWorld *world = *state;
    pthread_t   threads[4];
    Writer      writers[4];
    int         won_count = 0;

    for (int i = 0; i < 4; i++) {
        writers[i] = (Writer){.world = world, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_names, &writers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        won_count += writers[i].won_count;
    }
    assert_int_equal(won_count, 300);
}

/* --- simulation --- */

typedef struct Process {
    Store *store;
    char   order[64]; /* who wrote, in order */
    size_t count;
} Process;

typedef struct SimTask {
    Process *shared;
    char     name;
} SimTask;

static void write_in_turns(void *arg)
{
    SimTask *task  = arg;
    Arena   *arena = arena_new();
    Err      err   = ERR_INIT;

    for (int i = 0; i < 8; i++) {
        bool ok = store_put_new(task->shared->store, str_printf(arena, "%c/%d", task->name, i),
                                str_bytes(STR("x")), &err);
        if (ok) task->shared->order[task->shared->count++] = task->name;
    }
    arena_close(arena);
}

static void simulate(uint64_t seed, Process *out)
{
    Clock  *clock = NULL;
    Sched  *sched = sched_new_simulated(seed, 1700000000000000, &clock);
    SimTask left = {out, 'a'}, right = {out, 'b'};

    *out        = (Process){.store = store_memory_new(clock, sched)};
    Task *first = sched_spawn(sched, "left", write_in_turns, &left);
    Task *other = sched_spawn(sched, "right", write_in_turns, &right);
    sched_join(sched, first);
    sched_join(sched, other);
    store_close(out->store);
    clock_close(clock);
    sched_close(sched);
}

static void calls_are_points_where_a_simulation_may_turn(void **state)
{
    Process first = {0}, again = {0};
    bool    differed = false, mixed = false;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        Process before = first;
        simulate(seed, &first);
        simulate(seed, &again);
        assert_int_equal(first.count, 16);
        assert_string_equal(first.order, again.order);
        if (seed > 1 && strcmp(before.order, first.order) != 0) differed = true;
        if (strcmp(first.order, "aaaaaaaabbbbbbbb") != 0 &&
            strcmp(first.order, "bbbbbbbbaaaaaaaa") != 0)
            mixed = true;
    }
    assert_true(differed);
    assert_true(mixed);
}

static void many_files_can_be_open_at_once(void **state)
{
    StoreWorld *world = *state;
    Str         local;

    for (int i = 0; i < 1500; i++) {
        Arena *arena = arena_new();
        Str    path  = str_printf(arena, "t/%d", i);
        assert_ok(store_put_new(world->store, path, str_bytes(path), &world->err), &world->err);
        assert_ok(store_fetch_local(world->store, path, arena, &local, &world->err), &world->err);
        assert_string_equal(read_local(arena, local), path.ptr);
        arena_close(arena);
    }
}

#define memory_test(name) cmocka_unit_test_setup_teardown(name, world_open_memory, world_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        memory_test(a_power_failure_takes_what_was_not_synced),
        memory_test(a_power_failure_spares_what_was_sealed),
        memory_test(a_fetched_path_keeps_its_content_when_the_file_goes),
        memory_test(a_staged_file_is_listed_from_its_first_byte_on),
        memory_test(threads_share_one_store),
        memory_test(calls_are_points_where_a_simulation_may_turn),
        memory_test(many_files_can_be_open_at_once),
    };
    return RUN_TESTS(tests);
}
