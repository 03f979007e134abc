/* Automatic compaction: when it comes, that it leaves every row, and that it stays out of the way. */
#include "support/test_support.h"

#include "engine/compact.h"
#include "unit/state/state_test.h"

#define PATH       "lake/facts"
#define EVERY_ROWS "SELECT count(*), count(DISTINCT id), sum(id)::BIGINT FROM {}"

static Env env_of(Lake *lake)
{
    return (Env){.clock = lake->clock,
                 .rng   = lake->rng,
                 .sched = lake->sched,
                 .store = lake->delta.store,
                 .duck  = lake->delta.duck,
                 .log   = lake->log,
                 .delta = &lake->delta};
}

static DeltaTable *create_table(Lake *lake)
{
    static const Column columns[] = {{.name = {"id", 2}, .type = {.kind = TYPE_LONG}}};
    DeltaCreate         spec      = {.schema      = {.columns = columns, .column_count = 1},
                                     .description = STR_EMPTY};
    DeltaTable         *table     = NULL;
    assert_ok(delta_table_create(&lake->delta, STR(PATH), &spec, &table, NULL, &lake->err),
              &lake->err);
    return table;
}

/* `count` commits of one row each, the ids going on from what is there. */
static void append(Lake *lake, DeltaTable *table, int64_t *id, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const Schema *schema  = delta_table_get_schema(table);
        RowBuilder   *builder = row_builder_new(lake->arena, schema);
        DeltaOutcome  outcome;
        row_builder_begin(builder);
        row_builder_set_i64(builder, 0, (*id)++);
        RowBlock    block   = row_builder_block(builder);
        DeltaAppend appends = {.rows          = row_stream_of_block(lake->arena, schema, &block),
                               .user_metadata = STR_EMPTY,
                               .purpose       = STR("test")};
        assert_ok(delta_table_append(table, &appends, &outcome, NULL, &lake->err), &lake->err);
    }
}

static size_t count_files(Lake *lake)
{
    DeltaTable *table = NULL;
    assert_ok(delta_table_open(&lake->delta, STR(PATH), &table, &lake->err), &lake->err);
    size_t count = delta_table_get_file_count(table);
    delta_table_close(table);
    return count;
}

static void sleep_s(Lake *lake, int64_t seconds)
{
    clock_sleep_ms(lake->clock, seconds * 1000, NULL);
}

static void every_so_many_commits_small_files_are_put_together(void **state)
{
    Lake        *lake      = lake_open(*state);
    Env          env       = env_of(lake);
    CompactTable tables[]  = {{STR("lake/not there yet"), 5}, {STR(PATH), 30}};
    DeltaTable  *table     = create_table(lake);
    Compactor   *compactor = compactor_start(&env, tables, 2);
    int64_t      id        = 0;

    append(lake, table, &id, 29);
    sleep_s(lake, 11);
    assert_int_equal(count_files(lake), 29);
    append(lake, table, &id, 1);
    sleep_s(lake, 11);
    assert_int_equal(count_files(lake), 1);
    append(lake, table, &id, 29); /* a blind append goes on from whatever is there */
    sleep_s(lake, 11);
    assert_int_equal(count_files(lake), 30);
    append(lake, table, &id, 1);
    sleep_s(lake, 11);
    assert_int_equal(count_files(lake), 1);
    compactor_stop(compactor, false);
    assert_str_is(rows_of(lake, PATH, EVERY_ROWS), "60|60|1770\n");
    assert_int_equal(lake->lines.warning_count, 0);
    delta_table_close(table);
    lake_close(lake);
}

/* Runs that end by themselves may all be too short for a look in between. */
static void a_run_that_ends_looks_once_more(void **state)
{
    Lake        *lake  = lake_open(*state);
    Env          env   = env_of(lake);
    CompactTable watch = {STR(PATH), 20};
    DeltaTable  *table = create_table(lake);
    int64_t      id    = 0;

    append(lake, table, &id, 19);
    compactor_stop(compactor_start(&env, &watch, 1), true);
    assert_int_equal(count_files(lake), 19);
    append(lake, table, &id, 1);
    compactor_stop(compactor_start(&env, &watch, 1), false);
    assert_int_equal(count_files(lake), 20);
    compactor_stop(compactor_start(&env, &watch, 1), true);
    assert_int_equal(count_files(lake), 1);
    assert_str_is(rows_of(lake, PATH, EVERY_ROWS), "20|20|190\n");
    assert_null(compactor_start(&env, NULL, 0));
    compactor_stop(NULL, true);
    delta_table_close(table);
    lake_close(lake);
}

/* What fails is a line of the log, and is tried again as many commits later. */
static void a_failure_is_a_warning_and_nothing_more(void **state)
{
    Lake        *lake   = lake_open(*state);
    FaultPlan    plan   = {.fail_at_step = 1, .crash = true, .only_path_containing = STR_EMPTY};
    CompactTable watch  = {STR(PATH), 15};
    DeltaTable  *table  = create_table(lake);
    int64_t      id     = 0;
    Env          env    = env_of(lake);
    DeltaContext broken = lake->delta;

    append(lake, table, &id, 15);
    broken.store         = store_fault_new(lake->store, &plan);
    env.delta            = &broken;
    Compactor *compactor = compactor_start(&env, &watch, 1);
    sleep_s(lake, 35);
    assert_int_equal(lake->lines.warning_count, 1); /* not one for each look */
    assert_non_null(strstr(lake->lines.last, "a table was not compacted"));
    assert_int_equal(count_files(lake), 15);
    plan.has_crashed = false;
    append(lake, table, &id, 15);
    sleep_s(lake, 11);
    assert_int_equal(count_files(lake), 1);
    compactor_stop(compactor, true);
    assert_str_is(rows_of(lake, PATH, EVERY_ROWS), "30|30|435\n");
    store_close(broken.store);
    delta_table_close(table);
    lake_close(lake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_so_many_commits_small_files_are_put_together),
        cmocka_unit_test(a_run_that_ends_looks_once_more),
        cmocka_unit_test(a_failure_is_a_warning_and_nothing_more),
    };
    return cmocka_run_group_tests(tests, open_duck, close_duck);
}
