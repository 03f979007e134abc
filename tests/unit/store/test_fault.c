/* The store that fails on purpose: at which step, before or after its effect, and how it stays
 * dead. */
#include "store_test.h"

static Bytes data(void)
{
    return str_bytes(STR("x"));
}

static StoreStaging *stage(StoreWorld *world, Str name)
{
    StoreStaging *staging = NULL;
    Str           local;
    assert_ok(
        store_staging_open(world->store, STR("t"), STR("apply"), world->rng, &staging, &world->err),
        &world->err);
    assert_ok(store_staging_file(staging, name, world->arena, &local, &world->err), &world->err);
    write_local(local, "rows");
    return staging;
}

/* One call of every kind that is a step. */
static bool take_all_steps(StoreWorld *world, StoreStaging *staging, Err *err)
{
    return store_put_new(world->store, STR("t/log/0"), data(), err) &&
           store_replace(world->store, STR("t/last"), data(), err) &&
           store_staging_publish(staging, STR("p"), STR("t/p"), NULL, err) &&
           store_staging_sync(staging, err) && store_remove(world->store, STR("t/last"), err);
}

static void a_step_is_a_call_that_changes_something(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = stage(world, STR("p"));
    StoreEntry    entry;
    Str           local;

    assert_ok(take_all_steps(world, staging, &world->err), &world->err);
    assert_int_equal(world->plan.step_count, 5);
    assert_ok(store_stat(world->store, STR("t/p"), &entry, &world->err), &world->err);
    assert_ok(store_fetch_local(world->store, STR("t/p"), world->arena, &local, &world->err),
              &world->err);
    assert_content(world, "t/p", "rows");
    assert_listed(world, "t", "p ");
    assert_int_equal(world->plan.step_count, 5);
    assert_int_equal(world->plan.fetch_count, 1);
    world->plan.count_reads = true;
    assert_content(world, "t/p", "rows");
    assert_listed(world, "t", "p ");
    assert_ok(store_stat(world->store, STR("t/p"), &entry, &world->err), &world->err);
    assert_ok(store_fetch_local(world->store, STR("t/p"), world->arena, &local, &world->err),
              &world->err);
    assert_int_equal(world->plan.step_count, 9);
    store_staging_close(staging);
}

static void a_failure_before_has_no_effect_and_the_next_call_works(void **state)
{
    StoreWorld *world = *state;
    world->plan       = (FaultPlan){.fail_at_step = 1, .error_errno = ENOSPC};
    assert_false(store_put_new(world->store, STR("a"), data(), &world->err));
    assert_err(&world->err, ERR_STORE, "injected before put_new of a");
    assert_int_equal(world->err.native, ENOSPC);
    assert_absent(world, "a");
    put(world, "a", "y");
    assert_content(world, "a", "y");
}

static void a_failure_after_loses_only_the_answer(void **state)
{
    StoreWorld *world = *state;
    world->plan       = (FaultPlan){.fail_at_step = 1, .after_effect = true};
    assert_false(store_put_new(world->store, STR("a"), data(), &world->err));
    assert_err(&world->err, ERR_STORE, "injected after put_new of a");
    assert_int_equal(world->err.native, EIO);
    assert_content(world, "a", "x");
}

static void a_step_that_fails_by_itself_keeps_its_own_error(void **state)
{
    StoreWorld *world = *state;
    put(world, "a", "old");
    world->plan = (FaultPlan){.fail_at_step = 1, .after_effect = true, .crash = true};
    assert_false(store_put_new(world->store, STR("a"), data(), &world->err));
    assert_err(&world->err, ERR_CONFLICT, "a");
    assert_true(world->plan.has_crashed);
}

static void after_a_crash_every_call_fails(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = stage(world, STR("p")), *other = NULL;
    StoreEntry    entry;
    StoreList     list;
    Bytes         bytes;
    Str           local;

    world->plan = (FaultPlan){.fail_at_step = 2, .crash = true};
    assert_false(take_all_steps(world, staging, &world->err));
    assert_true(world->plan.has_crashed);
    assert_false(store_read(world->store, STR("t/log/0"), 10, world->arena, &bytes, &world->err));
    assert_err(&world->err, ERR_STORE, "injected");
    assert_false(store_stat(world->store, STR("t/log/0"), &entry, &world->err));
    assert_false(store_put_new(world->store, STR("n"), data(), &world->err));
    assert_false(store_replace(world->store, STR("n"), data(), &world->err));
    assert_false(store_remove(world->store, STR("t/log/0"), &world->err));
    assert_false(
        store_list_after(world->store, STR("t"), STR(""), world->arena, &list, &world->err));
    assert_false(
        store_fetch_local(world->store, STR("t/log/0"), world->arena, &local, &world->err));
    assert_false(
        store_staging_open(world->store, STR("t"), STR("apply"), world->rng, &other, &world->err));
    assert_false(store_staging_file(staging, STR("q"), world->arena, &local, &world->err));
    assert_false(store_staging_publish(staging, STR("p"), STR("t/p"), NULL, &world->err));
    assert_false(store_staging_sync(staging, &world->err));
    assert_int_equal(world->plan.step_count, 2);
    store_staging_close(staging);
    assert_true(store_stat(world->inner, STR("t/log/0"), &entry, &world->err));
    assert_false(store_stat(world->inner, STR("t/last"), &entry, &world->err));
}

static void a_crash_can_come_at_every_step_before_and_after(void **state)
{
    StoreWorld *world = *state;
    StoreList   list;

    for (uint64_t step = 1; step <= 5; step++)
        for (int after = 0; after <= 1; after++) {
            FaultPlan plan        = {.fail_at_step = step, .after_effect = after, .crash = true};
            world->plan           = (FaultPlan){0};
            StoreStaging *staging = stage(world, STR("p"));
            world->plan           = plan;
            assert_false(take_all_steps(world, staging, &world->err));
            assert_int_equal(world->plan.step_count, step);
            store_staging_close(staging);
            world->plan     = (FaultPlan){0};
            uint64_t landed = step - (after ? 0 : 1);
            assert_listed(world, "t/log", landed >= 1 ? "0 " : "");
            assert_listed(world, "t",
                          landed >= 5   ? "p "
                          : landed >= 3 ? "last p "
                          : landed == 2 ? "last "
                                        : "");
            assert_ok(store_remove(world->store, STR("t/log/0"), &world->err), &world->err);
            assert_ok(store_remove(world->store, STR("t/last"), &world->err), &world->err);
            assert_ok(store_remove(world->store, STR("t/p"), &world->err), &world->err);
        }
    assert_ok(store_list_after(world->inner, STR("t"), STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.count, 0);
}

/* A dead process cleans nothing up; the next one does. */
static void a_crashed_run_leaves_its_staged_files_to_the_next(void **state)
{
    StoreWorld   *world   = *state;
    StoreStaging *staging = stage(world, STR("p"));
    Str           folder  = staging_folder_of_first_run(world);
    StoreList     list;

    world->plan = (FaultPlan){.fail_at_step = 1, .crash = true};
    assert_false(store_put_new(world->store, STR("a"), data(), &world->err));
    store_staging_close(staging);
    assert_ok(store_list_after(world->inner, folder, STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.count, 1);
    world->plan = (FaultPlan){0};
    store_staging_close(stage(world, STR("q")));
    assert_ok(store_list_after(world->inner, folder, STR(""), world->arena, &list, &world->err),
              &world->err);
    assert_int_equal(list.count, 0);
}

static void steps_elsewhere_are_not_counted(void **state)
{
    StoreWorld *world = *state;
    world->plan       = (FaultPlan){.fail_at_step = 1, .only_path_containing = STR("_delta_log")};
    put(world, "t/data", "x");
    assert_int_equal(world->plan.step_count, 0);
    assert_false(store_put_new(world->store, STR("t/_delta_log/0"), data(), &world->err));
    assert_int_equal(world->plan.step_count, 1);
}

typedef struct Told {
    uint64_t step;
    char     what[64];
} Told;

static void remember(void *arg, uint64_t step, const char *operation, Str path)
{
    Told *told = arg;
    told->step = step;
    (void)snprintf(told->what, sizeof(told->what), "%s %.*s", operation, STR_ARG(path));
}

static void steps_are_told_before_they_are_taken(void **state)
{
    StoreWorld *world = *state;
    Told        told  = {0};
    world->plan       = (FaultPlan){.on_step = remember, .on_step_arg = &told};
    put(world, "a/b", "x");
    assert_int_equal(told.step, 1);
    assert_string_equal(told.what, "put_new a/b");
}

#define fault_test(name) cmocka_unit_test_setup_teardown(name, world_open_fault, world_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fault_test(a_step_is_a_call_that_changes_something),
        fault_test(a_failure_before_has_no_effect_and_the_next_call_works),
        fault_test(a_failure_after_loses_only_the_answer),
        fault_test(a_step_that_fails_by_itself_keeps_its_own_error),
        fault_test(after_a_crash_every_call_fails),
        fault_test(a_crash_can_come_at_every_step_before_and_after),
        fault_test(a_crashed_run_leaves_its_staged_files_to_the_next),
        fault_test(steps_elsewhere_are_not_counted),
        fault_test(steps_are_told_before_they_are_taken),
    };
    return RUN_TESTS(tests);
}
