/* Creating tables (delta.md 2.2): what version 0 says, what is refused, and who wins a race. */
#include "support/test_support.h"

#include "unit/delta/delta_test.h"

static bool try_create(World *world, const Column *columns, size_t count,
                       const DeltaProperty *property, DeltaTable **out, bool *created)
{
    DeltaCreate spec = {.schema         = {columns, count},
                        .description    = STR_EMPTY,
                        .properties     = property,
                        .property_count = property != NULL};
    *out             = NULL;
    return delta_table_create(&world->context, STR("t"), &spec, out, created, &world->err);
}

static void assert_not_created(World *world, const Column *columns, size_t count,
                               const DeltaProperty *property, ErrCode code, const char *message)
{
    DeltaTable *table;
    assert_false(try_create(world, columns, count, property, &table, NULL));
    assert_err(&world->err, code, message);
    err_clear(&world->err);
    assert_int_equal(count_files(world, "t/_delta_log"), 0);
}

static void the_protocol_is_the_weakest_that_will_do(void **state)
{
    World      *world   = world_new(state);
    Column      plain[] = {{STR("a"), COLUMN_TYPE(TYPE_TIMESTAMP), STR_EMPTY}};
    DeltaTable *table;
    bool        created = false;
    assert_ok(try_create(world, plain, 1, NULL, &table, &created), &world->err);
    assert_true(created);
    assert_true(str_find(read_text(world, commit_path(world, "t", 0)),
                         STR("\n{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"),
                         0) > 0);
    assert_int_equal(delta_table_get_min_writer_version(table), 2);
    delta_table_close(table);
    /* it is there already: opened, not created, whatever the wish */
    Column other[] = {{STR("b c"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    assert_ok(try_create(world, other, 1, NULL, &table, &created), &world->err);
    assert_false(created);
    assert_str_is(delta_table_get_schema(table)->columns[0].name, "a");
    delta_table_close(table);
    world_close(world);
}

static void what_delta_cannot_hold_is_refused(void **state)
{
    World        *world    = world_new(state);
    Column        twice[]  = {{STR("a"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                              {STR("A"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    DeltaProperty feed     = {STR("delta.enableChangeDataFeed"), STR("true")};
    DeltaProperty interval = {STR("delta.checkpointInterval"), STR("5")};
    assert_not_created(world, twice, 2, NULL, ERR_UNSUPPORTED, "the column name A occurs twice");
    /* letters beyond ASCII have a case too */
    Column umlauts[] = {{STR("\xC3\xA4"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                        {STR("a"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY},
                        {STR("\xC3\x84"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    assert_not_created(world, umlauts, 3, NULL, ERR_UNSUPPORTED,
                       "the column name \xC3\x84 occurs twice");
    assert_not_created(world, twice, 0, NULL, ERR_LIMIT, "a table has 1 to 4096 columns, not 0");
    assert_not_created(world, twice, 1, &feed, ERR_UNSUPPORTED,
                       "delta.enableChangeDataFeed=true needs a table feature");
    DeltaTable *table;
    assert_ok(try_create(world, twice, 1, &interval, &table, NULL), &world->err);
    delta_table_close(table);
    world_close(world);
}

static void a_folder_of_other_files_is_left_alone(void **state)
{
    World *world    = world_new(state);
    Column column[] = {{STR("a"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    bool   exists, other;
    put_text(world, "t/report.csv", "a,b");
    assert_not_created(world, column, 1, NULL, ERR_STATE,
                       "t holds files that belong to no Delta table");
    assert_ok(delta_table_exists(&world->context, STR("t"), &exists, &other, &world->err),
              &world->err);
    assert_false(exists);
    assert_true(other);
    assert_ok(store_remove(world->store, STR("t/report.csv"), &world->err), &world->err);
    put_text(world, "t/_SUCCESS", "");
    DeltaTable *table;
    assert_ok(try_create(world, column, 1, NULL, &table, NULL), &world->err);
    assert_ok(delta_table_exists(&world->context, STR("t"), &exists, &other, &world->err),
              &world->err);
    assert_true(exists);
    assert_false(other);
    delta_table_close(table);
    world_close(world);
}

/* Loses the race at the last instant, or does not hear that it won. */
static void first_step(void *arg, uint64_t step, const char *operation, Str path)
{
    World *world = arg;
    (void)operation;
    if (step == 1)
        assert_ok(
            store_put_new(
                world->store, path,
                str_bytes(STR("{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
                              "{\"metaData\":{\"id\":\"theirs\",\"schemaString\":\"{\\\"fields\\\":"
                              "[{\\\"name\\\":\\\"theirs\\\",\\\"type\\\":\\\"long\\\"}]}\","
                              "\"configuration\":{}}}\n")),
                &world->err),
            &world->err);
}

static void the_table_of_a_winner_is_taken(void **state)
{
    World    *world = world_new(state);
    FaultPlan plan  = {
         .on_step = first_step, .on_step_arg = world, .only_path_containing = STR_EMPTY};
    Column      column[] = {{STR("ours"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    DeltaTable *table;
    bool        created  = true;
    world->context.store = store_fault_new(world->store, &plan);
    assert_ok(try_create(world, column, 1, NULL, &table, &created), &world->err);
    assert_false(created);
    assert_str_is(delta_table_get_schema(table)->columns[0].name, "theirs");
    delta_table_close(table);
    store_close(world->context.store);
    world_close(world);
}

static void a_lost_answer_does_not_hide_that_we_created_it(void **state)
{
    World      *world = world_new(state);
    FaultPlan   plan = {.fail_at_step = 1, .after_effect = true, .only_path_containing = STR_EMPTY};
    Column      column[] = {{STR("ours"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY}};
    DeltaTable *table;
    bool        created  = false;
    world->context.store = store_fault_new(world->store, &plan);
    assert_ok(try_create(world, column, 1, NULL, &table, &created), &world->err);
    assert_true(created);
    delta_table_close(table);
    store_close(world->context.store);
    world_close(world);
}

/* In a process of its own: 10 created, 11 taken, 12 failed. */
static int create_in_child(const char *folder, uint64_t seed)
{
    World *world         = world_of(NULL, seed);
    world->store         = store_local_new(str_from_c(folder));
    world->context.store = world->store;
    Column      column   = {STR("id"), COLUMN_TYPE(TYPE_LONG), STR_EMPTY};
    DeltaTable *table;
    bool        created = false;
    bool        ok      = try_create(world, &column, 1, NULL, &table, &created) &&
              delta_table_get_version(table) == 0;
    return !ok ? 12 : created ? 10 : 11;
}

static void of_two_processes_one_creates_the_table(void **state)
{
    for (int round = 0; round < 30; round++) {
        World *world = world_new_local(state);
        int    gate[2];
        pid_t  children[2];
        int    created_count = 0;
        assert_int_equal(pipe(gate), 0);
        for (uint64_t i = 0; i < 2; i++) {
            children[i] = fork();
            assert_true(children[i] >= 0);
            if (children[i] == 0) {
                char go;
                (void)close(gate[1]);
                if (read(gate[0], &go, 1) != 0) _exit(13); /* both wait for the end of the pipe */
                _exit(create_in_child(world->folder, i + 1));
            }
        }
        (void)close(gate[0]);
        (void)close(gate[1]);
        for (int i = 0; i < 2; i++) {
            int status = 0;
            assert_int_equal(waitpid(children[i], &status, 0), children[i]);
            assert_true(WIFEXITED(status));
            assert_true(WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 11);
            created_count += WEXITSTATUS(status) == 10;
        }
        assert_int_equal(created_count, 1);
        assert_int_equal(count_files(world, "t/_delta_log"), 1);
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            of_two_processes_one_creates_the_table), /* first: before libduckdb has threads */
        cmocka_unit_test(the_protocol_is_the_weakest_that_will_do),
        cmocka_unit_test(what_delta_cannot_hold_is_refused),
        cmocka_unit_test(a_folder_of_other_files_is_left_alone),
        cmocka_unit_test(the_table_of_a_winner_is_taken),
        cmocka_unit_test(a_lost_answer_does_not_hide_that_we_created_it),
    };
    return RUN_DELTA_TESTS(tests);
}
