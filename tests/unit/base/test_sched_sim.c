#include "support/test_support.h"

#include "base/buf.h"
#include "base/sched.h"

#define START_UTC_US INT64_C(1893456000000000) /* 2030-01-01 */

typedef struct World {
    Sched *sched;
    Clock *clock;
    Queue *queue;
    Buf    story; /* of tasks, and thus written without a lock: only one runs at a time */
} World;

typedef struct Actor {
    World      *world;
    const char *name;
    int64_t     sleep_ms;
} Actor;

static World world_open(Arena *arena, uint64_t seed)
{
    World world = {.story = buf_new(arena, 0)};

    world.sched = sched_new_simulated(seed, START_UTC_US, &world.clock);
    world.queue = queue_new(world.sched, 2);
    return world;
}

static void world_close(World *world)
{
    queue_free(world->queue);
    sched_close(world->sched);
}

static void tell(void *arg, int64_t monotonic_ns, const char *task, const char *what)
{
    buf_printf(arg, "%lld %s %s\n", (long long)monotonic_ns, task, what);
}

static void act(void *arg)
{
    Actor *actor = arg;
    void  *item  = NULL;

    for (int i = 0; i < 10; i++) {
        sched_point(actor->world->sched, "a step");
        buf_append_c(&actor->world->story, actor->name);
        if (i % 3 == 0) clock_sleep_ms(actor->world->clock, actor->sleep_ms, NULL);
        if (i % 4 == 0) (void)queue_push(actor->world->queue, actor);
        if (i % 4 == 1) (void)queue_pop(actor->world->queue, 5, &item);
        if (i % 4 == 2) (void)queue_try_pop(actor->world->queue, &item);
    }
    while (queue_try_pop(actor->world->queue, &item)) {
    } /* so that nobody waits for room for ever */
}

/* The steps of three actors in the order they took them, and the trace of the run. */
static Str run_story(Arena *arena, uint64_t seed, Str *trace_out)
{
    World world    = world_open(arena, seed);
    Buf   trace    = buf_new(arena, 0);
    Actor actors[] = {{&world, "a", 3}, {&world, "b", 4}, {&world, "c", 5}};
    Task *tasks[3];

    sched_set_trace(world.sched, tell, &trace);
    for (size_t i = 0; i < 3; i++)
        tasks[i] = sched_spawn(world.sched, actors[i].name, act, &actors[i]);
    for (size_t i = 0; i < 3; i++)
        sched_join(world.sched, tasks[i]);
    *trace_out = buf_str(&trace);
    world_close(&world);
    return buf_str(&world.story);
}

static void the_same_seed_repeats_the_run(void **state)
{
    (void)state;
    FOR_EACH_SEED (seed, 50) {
        Arena *arena = arena_new();
        Str    first_trace;
        Str    second_trace;
        Str    first  = run_story(arena, seed, &first_trace);
        Str    second = run_story(arena, seed, &second_trace);
        assert_true(str_equal(first, second));
        assert_true(str_equal(first_trace, second_trace));
        assert_int_equal(first.len, 30);
        arena_close(arena);
    }
}

static void other_seeds_give_other_orders(void **state)
{
    Arena *arena     = arena_new();
    Str    trace     = STR_EMPTY;
    Str    first     = run_story(arena, 1, &trace);
    int    different = 0;

    (void)state;
    for (uint64_t seed = 2; seed < 22; seed++)
        different += !str_equal(first, run_story(arena, seed, &trace));
    assert_true(different > 15);
    arena_close(arena);
}

static void write_note(void *arg)
{
    Actor *actor = arg;

    buf_printf(&actor->world->story, "%s(", actor->name);
    sched_point(actor->world->sched, "inside");
    buf_append_c(&actor->world->story, ")");
}

/* Both orders of two tasks, and both interleavings, come up among a few seeds. */
static void every_interleaving_of_two_steps_is_met(void **state)
{
    const char *want[]              = {"a()b()", "b()a()", "a(b())", "b(a())"};
    int         met[COUNT_OF(want)] = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        Arena *arena    = arena_new();
        World  world    = world_open(arena, seed);
        Actor  actors[] = {{&world, "a", 0}, {&world, "b", 0}};
        Task  *left     = sched_spawn(world.sched, "a", write_note, &actors[0]);
        Task  *right    = sched_spawn(world.sched, "b", write_note, &actors[1]);
        sched_join(world.sched, left);
        sched_join(world.sched, right);
        for (size_t i = 0; i < COUNT_OF(want); i++)
            met[i] += str_equal_c(buf_str(&world.story), want[i]);
        world_close(&world);
        arena_close(arena);
    }
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_true(met[i] > 0);
}

static void time_stands_still_until_everybody_waits(void **state)
{
    Arena  *arena = arena_new();
    World   world = world_open(arena, 1);
    int64_t start = clock_monotonic_ns(world.clock);

    (void)state;
    for (int i = 0; i < 1000; i++)
        sched_point(world.sched, "busy");
    assert_int_equal(clock_monotonic_ns(world.clock), start);
    assert_int_equal(clock_utc_us(world.clock), START_UTC_US);
    clock_sleep_ms(world.clock, INT64_C(86400000) * 365, NULL); /* a year in no time */
    assert_int_equal(clock_utc_us(world.clock), START_UTC_US + INT64_C(86400000000) * 365);
    clock_close(world.clock); /* does nothing */
    world_close(&world);
    arena_close(arena);
}

static void note_after_sleep(void *arg)
{
    Actor *actor = arg;

    clock_sleep_ms(actor->world->clock, actor->sleep_ms, NULL);
    buf_printf(&actor->world->story, "%s@%lld ", actor->name,
               (long long)(clock_utc_us(actor->world->clock) - START_UTC_US) / 1000);
}

static void sleepers_wake_in_the_order_of_their_times(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Arena *arena    = arena_new();
        World  world    = world_open(arena, seed);
        Actor  actors[] = {{&world, "c", 300}, {&world, "a", 100}, {&world, "b", 200}};
        Task  *tasks[3];
        for (size_t i = 0; i < 3; i++)
            tasks[i] = sched_spawn(world.sched, actors[i].name, note_after_sleep, &actors[i]);
        for (size_t i = 0; i < 3; i++)
            sched_join(world.sched, tasks[i]);
        assert_str_is(buf_str(&world.story), "a@100 b@200 c@300 ");
        world_close(&world);
        arena_close(arena);
    }
}

static void push_after_sleep(void *arg)
{
    Actor *actor = arg;

    clock_sleep_ms(actor->world->clock, actor->sleep_ms, NULL);
    (void)queue_push(actor->world->queue, actor);
}

static void a_pop_times_out_in_simulated_time(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        Arena *arena = arena_new();
        World  world = world_open(arena, seed);
        Actor  actor = {&world, "pusher", 500};
        void  *item  = NULL;
        Task  *task  = sched_spawn(world.sched, "pusher", push_after_sleep, &actor);

        assert_false(queue_pop(world.queue, 200, &item));
        assert_int_equal(clock_utc_us(world.clock), START_UTC_US + 200000);
        assert_true(queue_pop(world.queue, 400, &item));
        assert_int_equal(clock_utc_us(world.clock), START_UTC_US + 500000);
        assert_ptr_equal(item, &actor);
        sched_join(world.sched, task);
        world_close(&world);
        arena_close(arena);
    }
}

static void pop_for_ever(void *arg)
{
    World *world = arg;
    void  *item  = NULL;

    (void)queue_pop(world->queue, -1, &item);
}

static void run_into_a_deadlock(void *arg)
{
    World *world = arg;
    Task  *first = sched_spawn(world->sched, "committer", pop_for_ever, world);

    (void)sched_spawn(world->sched, "reader 2", pop_for_ever, world);
    sched_join(world->sched, first);
}

static void a_wait_that_nothing_can_end_names_the_tasks(void **state)
{
    Arena *arena = arena_new();
    World  world = world_open(arena, 1);
    char   text[8192];

    (void)state;
    int status = test_run_in_child(run_into_a_deadlock, &world, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "main waits for a task to end"));
    assert_non_null(strstr(text, "committer waits for an item in a queue"));
    assert_non_null(strstr(text, "reader 2 waits for an item in a queue"));
    world_close(&world);
    arena_close(arena);
}

static void add_one(void *arg)
{
    Actor *actor = arg;

    /* No atomics: a task that ran beside another one would be seen by the thread sanitizer. */
    for (int i = 0; i < 50; i++) {
        size_t before = actor->world->story.len;
        buf_append_char(&actor->world->story, 'x');
        assert_int_equal(actor->world->story.len, before + 1);
        sched_point(actor->world->sched, "added");
    }
}

static void only_one_task_runs_at_a_time(void **state)
{
    Arena *arena = arena_new();
    World  world = world_open(arena, 5);
    Actor  actor = {&world, "adder", 0};
    Task  *tasks[8];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        tasks[i] = sched_spawn(world.sched, "adder", add_one, &actor);
    for (size_t i = 0; i < COUNT_OF(tasks); i++)
        sched_join(world.sched, tasks[i]);
    assert_int_equal(world.story.len, 8 * 50);
    world_close(&world);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        property_test(the_same_seed_repeats_the_run),
        cmocka_unit_test(other_seeds_give_other_orders),
        cmocka_unit_test(every_interleaving_of_two_steps_is_met),
        cmocka_unit_test(time_stands_still_until_everybody_waits),
        cmocka_unit_test(sleepers_wake_in_the_order_of_their_times),
        cmocka_unit_test(a_pop_times_out_in_simulated_time),
        cmocka_unit_test(a_wait_that_nothing_can_end_names_the_tasks),
        cmocka_unit_test(only_one_task_runs_at_a_time),
    };
    return RUN_TESTS(tests);
}
