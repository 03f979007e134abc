/* Errors of what is in the tables and the checkpoint (12.5), as far as a stream can meet them: each
 * once, with every item that its message must hold, and nothing written. What apply meets is in
 * unit/engine/test_apply.c; versions and plans in unit/state/test_migration.c. */
#include "support/test_support.h"

#include "support/shop.h"

/* Every part is in the message of a run that is refused, and no table or checkpoint moved. */
static void refuse(World *world, const StreamOptions *options, const char *const *parts)
{
    int64_t  facts = world_version(world, FACTS), bronze = world_version(world, BRONZE);
    Process *process = process_open(world, "refused");

    assert_false(process_stream(process, options));
    for (size_t i = 0; parts[i]; i++)
        assert_err(&process->err, ERR_STATE, parts[i]);
    process_close(process);
    assert_int_equal(world_version(world, BRONZE), bronze);
    assert_int_equal(world_version(world, FACTS), facts);
}

static void put_chunked_open(World *world, DeltaContext *delta, Lsn lsn)
{
    Facts       *facts = NULL;
    TableRef     ref   = {STR(FACTS), STR(FACTS)};
    DeltaOutcome outcome;
    Err          err = ERR_INIT;
    FactsRow     row = {
            .app_id  = STR(APP_ID ".g3"),
            .event   = STR("snapshot_open"),
            .target  = STR(BRONZE),
            .rows    = OPT_I64(0),
            .max_lsn = OPT_LSN(lsn),
            .detail  = STR("{\"mode\": \"chunked\", \"kind\": \"resnapshot\", \"generation\": 3}")};

    (void)world;
    assert_ok(facts_open(delta, &ref, &facts, &err), &err);
    assert_ok(facts_append_event(facts, STR(APP_ID), -1, &row, &outcome, &err), &err);
    facts_close(facts);
}

/* T12.1: target, modes, S, generation, that it has not completed, how to finish. T4.36b as far as a
 * full stream goes. */
static void a_full_run_is_refused_while_a_chunked_snapshot_is_open(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_bootstrap();
    Lsn           lsn     = shop_insert(world, 1);
    LsnText       text    = lsn_format(lsn);

    put_chunked_open(world, world_delta(world), lsn);
    refuse(world, &options,
           (const char *const[]){BRONZE, "a chunked snapshot", text.text, "generation 3",
                                 "has not completed", "a full one must not",
                                 "backfill run until it is done", "rerun with its chunked mode",
                                 NULL});
    assert_int_equal(world_version(world, BRONZE), -1);
    world_close(world);
}

typedef struct Rival {
    World *world;
    Lsn    lsn;
    bool   has_run;
} Rival;

static void open_chunked_first(void *arg, uint64_t step, const char *operation, Str path)
{
    Rival *rival = arg;

    (void)step, (void)operation, (void)path;
    if (rival->has_run) return;
    rival->has_run = true;
    put_chunked_open(rival->world, world_delta(rival->world), rival->lsn);
}

/* T12.1, T4.39: the chunked open is committed between the lock and the full run's own open. */
static void a_full_run_stops_when_a_chunked_open_came_between(void **state)
{
    World            *world   = shop_open(state, 1);
    StreamOptions     options = shop_bootstrap();
    Rival             rival   = {.world = world, .lsn = shop_insert(world, 1)};
    LsnText           text    = lsn_format(rival.lsn);
    Process          *process = process_open(world, "full");
    const char *const parts[] = {"another run came first", BRONZE,
                                 "a chunked snapshot",     text.text,
                                 "generation 3",           "has not completed"};

    process->plan = (FaultPlan){
        .only_path_containing = STR(FACTS "/_delta_log/00000000000000000001.json"),
        .on_step              = open_chunked_first,
        .on_step_arg          = &rival};
    assert_false(process_stream(process, &options));
    assert_true(rival.has_run);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        assert_err(&process->err, ERR_STATE, parts[i]);
    process_close(process);
    assert_int_equal(world_version(world, BRONZE), -1); /* nothing was read */
    world_close(world);
}

static void remove_all(World *world, const char *folder)
{
    StoreList list;
    Err       err = ERR_INIT;

    assert_ok(store_list_after(world_store(world), str_from_c(folder), STR_EMPTY,
                               world_arena(world), &list, &err),
              &err);
    for (size_t i = 0; i < list.count; i++)
        assert_ok(
            store_remove(world_store(world),
                         store_join(world_arena(world), str_from_c(folder), list.entries[i].name),
                         &err),
            &err);
}

static World *after_three_batches(void **state, StreamOptions *options)
{
    World *world = shop_open(state, 1);

    *options = shop_bootstrap();
    for (int i = 0; i < 3; i++) {
        (void)shop_insert(world, i);
        (void)world_stream(world, options);
    }
    return world;
}

/* T12.1, 2.11: last batch in the tables, app_id, batch this run starts at, new app_id or restore. */
static void a_rewound_checkpoint_is_named(void **state)
{
    StreamOptions options;
    World        *world = after_three_batches(state, &options);
    Err           err   = ERR_INIT;

    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/commits/2"), &err), &err);
    assert_ok(store_remove(world_store(world), STR(CHECKPOINT "/offsets/2"), &err), &err);
    refuse(world, &options,
           (const char *const[]){"hold batch 2 of app_id " APP_ID, "starts at batch 2", CHECKPOINT,
                                 "deleted or rewound", "restore the checkpoint",
                                 "new app_id with a new checkpoint", NULL});
    world_close(world);
}

/* T12.1, 5.4: no checkpoint where the run looks, though the facts hold batches: both explanations. With
 * bronze gone as well, no snapshot is taken for nothing. */
static void a_checkpoint_that_is_not_there_has_two_explanations(void **state)
{
    for (int without_bronze = 0; without_bronze <= 1; without_bronze++) {
        StreamOptions options;
        World        *world = after_three_batches(state, &options);

        remove_all(world, CHECKPOINT "/offsets");
        remove_all(world, CHECKPOINT "/commits");
        remove_all(world, CHECKPOINT);
        if (without_bronze) remove_all(world, BRONZE), remove_all(world, BRONZE "/_delta_log");
        refuse(world, &options,
               (const char *const[]){"hold batch 2 of app_id " APP_ID, CHECKPOINT,
                                     "leads elsewhere", "it was deleted", "new app_id", NULL});
        if (without_bronze) assert_int_equal(world_version(world, BRONZE), -1);
        world_close(world);
    }
}

/* T12.1, The version found, the one read. */
static void an_unknown_format_of_offsets_is_named(void **state)
{
    StreamOptions options;
    World        *world = after_three_batches(state, &options);
    Err           err   = ERR_INIT;

    assert_ok(store_replace(world_store(world), STR(CHECKPOINT "/offsets/2"),
                            str_bytes(STR("v2\n{}\n{\"lsn\": \"0x01\", \"commit_ts\": \"\"}")),
                            &err),
              &err);
    refuse(world, &options,
           (const char *const[]){CHECKPOINT "/offsets/2", "\"v2\"", "reads v1", NULL});
    world_close(world);
}

/* T12.1, The version needed, whichever table of the run asks for it. Bronze is opened for its first rows. */
static void a_table_that_needs_a_newer_release_stops_the_run(void **state)
{
    static const char *const cases[][3] = {{BRONZE, "version 99 of bronze", "knows 2"},
                                           {FACTS, "version 99 of facts", "knows 14"},
                                           {CONTROL, "version 99 of control", "knows 4"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        StreamOptions options;
        World        *world = after_three_batches(state, &options);

        world_set_property(world, cases[i][0], "mssql_cdc.min_version", "9");
        world_set_property(world, cases[i][0], "mssql_cdc.min_version", "99");
        (void)shop_insert(world, 9);
        refuse(world, &options,
               (const char *const[]){cases[i][0], cases[i][1], cases[i][2], "mssql_cdc.min_version",
                                     "newer release", NULL});
        world_close(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_run_is_refused_while_a_chunked_snapshot_is_open),
        cmocka_unit_test(a_full_run_stops_when_a_chunked_open_came_between),
        cmocka_unit_test(a_rewound_checkpoint_is_named),
        cmocka_unit_test(a_checkpoint_that_is_not_there_has_two_explanations),
        cmocka_unit_test(an_unknown_format_of_offsets_is_named),
        cmocka_unit_test(a_table_that_needs_a_newer_release_stops_the_run),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
