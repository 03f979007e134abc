/* A stream takes over what the peer library left: events that wait in the checkpoint directory
 * (state.md 17.5), and tables of older releases. */
#include "support/test_support.h"

#include "base/list.h"
#include "support/shop.h"

#define METRICS CHECKPOINT "/_mssql_cdc_metrics/"
#define EVENT_ROWS                                                                             \
    "SELECT batch_id, event, \"rows\", min_lsn = max_lsn, max_lsn = end_lsn, detail, app_id, " \
    "target FROM {" FACTS "} WHERE event IN ('schema_change', 'capture_instance_switched', "   \
    "'data_skipped') ORDER BY batch_id, event, detail"

static void put_file(World *world, Str path, Str text)
{
    Err err = ERR_INIT;

    assert_ok(store_replace(world_store(world), path, str_bytes(text), &err), &err);
}

static void put_event(World *world, const char *folder, const char *kind, Lsn lsn,
                      const char *detail)
{
    Arena  *arena = world_arena(world);
    LsnText text  = lsn_format(lsn);

    put_file(world, str_printf(arena, "%sevent-%s-%s.json", folder, kind, text.text),
             str_printf(arena,
                        "{\"event\": \"%s\", \"capture_instance\": \"dbo_orders\", \"lsn\": "
                        "\"%s\", \"commit_ts\": null, \"detail\": \"%s\"}",
                        kind, text.text, detail));
}

/* A file of generation 0's metrics whose name begins so. */
static bool has_file(World *world, const char *prefix)
{
    StoreList list;
    Err       err = ERR_INIT;

    assert_ok(store_list_after(world_store(world), STR(CHECKPOINT "/_mssql_cdc_metrics"), STR_EMPTY,
                               world_arena(world), &list, &err),
              &err);
    for (size_t i = 0; i < list.count; i++)
        if (str_starts_with(list.entries[i].name, str_from_c(prefix))) return true;
    return false;
}

/* Batch 1 waits for its run, and two events with it. */
static World *open_with_events(void **state, StreamOptions *options, Lsn *lsn)
{
    World *world = shop_open(state, 1);

    *lsn     = world_max_lsn(world);
    *options = shop_stream_from(*lsn);
    (void)world_stream(world, options);
    put_event(world, METRICS, "schema_change", *lsn, "ALTER TABLE a");
    put_event(world, METRICS, "capture_instance_switched", *lsn, "a -> b");
    put_file(world, STR(METRICS "event-damaged.json"), STR("{"));
    put_file(world, STR(METRICS "0x01-0x02.json"), STR("{}"));
    (void)world_stream(world, options); /* nothing to do: they wait */
    assert_rows(world, "", EVENT_ROWS);
    (void)shop_insert(world, 1);
    return world;
}

#define BOTH                                                                 \
    "1|capture_instance_switched|0|true|true|a -> b|" APP_ID "|" BRONZE "\n" \
    "1|schema_change|0|true|true|ALTER TABLE a|" APP_ID "|" BRONZE "\n"

static void assert_taken_over(World *world)
{
    assert_rows(world, BOTH, EVENT_ROWS);
    assert_facts_once(world);
    assert_bronze_ids(world, "1");
    assert_false(has_file(world, "event-schema_change"));
    assert_false(has_file(world, "event-capture_instance_switched"));
    assert_true(has_file(world, "event-damaged.json")); /* not understood, not touched */
    assert_true(has_file(world, "0x01-0x02.json"));
}

static void waiting_events_come_with_the_first_batch(void **state)
{
    StreamOptions options;
    Lsn           lsn;
    World        *world = open_with_events(state, &options, &lsn);

    (void)world_stream(world, &options);
    assert_taken_over(world);
    (void)shop_insert(world, 2);
    (void)world_stream(world, &options);
    assert_rows(world, BOTH, EVENT_ROWS);
    world_close(world);
}

static void a_death_at_any_step_writes_them_once(void **state)
{
    uint64_t steps = 0;

    for (uint64_t step = 0; step == 0 || step <= steps; step++)
        for (int after = 0; after <= 1; after++) {
            StreamOptions options;
            Lsn           lsn;
            World        *world   = open_with_events(state, &options, &lsn);
            Process      *process = process_open(world, "dying");

            process->plan = (FaultPlan){
                .fail_at_step = step, .after_effect = after == 1, .crash = true};
            (void)!process_stream(process, &options);
            if (step == 0) steps = process->plan.step_count;
            process_close(process);
            (void)world_stream(world, &options);
            assert_taken_over(world);
            world_close(world);
        }
    assert_true(steps > 5);
}

/* The source still tells of the DDL, and the library had noted it: one row. */
static void an_event_that_is_planned_again_is_written_once(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));
    Lsn           ddl;

    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    ddl = world_commit(world, "ALTER TABLE dbo.orders ADD extra int NULL");
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 'b', 7)");
    Str text = world_source_rows(
        world, "SELECT CONVERT(varchar(42), max(ddl_lsn), 1) FROM cdc.ddl_history");
    assert_true(lsn_parse(str_trim(text), &ddl));
    put_event(world, METRICS, "schema_change", ddl, "ALTER as the library has it");
    (void)world_stream(world, &options);
    assert_rows(world, "1\n", "SELECT count(*) FROM {" FACTS "} WHERE event = 'schema_change'");
    assert_false(has_file(world, "event-schema_change"));
    world_close(world);
}

/* The library died after the facts commit, before it removed the file. Another file is of an event
 * that this commit did not hold: it waits for the next batch. */
static void events_of_a_batch_that_is_in_are_not_written_again(void **state)
{
    StreamOptions options;
    Lsn           lsn;
    World        *world = open_with_events(state, &options, &lsn);

    shop_crash_at(world, &options, "commits/1", false); /* facts in, files gone */
    put_event(world, METRICS, "schema_change", lsn, "ALTER TABLE a");
    put_event(world, METRICS, "data_skipped", lsn, "{}");
    (void)world_stream(world, &options); /* replays batch 1 */
    assert_rows(world, BOTH, EVENT_ROWS);
    assert_false(has_file(world, "event-schema_change"));
    assert_true(has_file(world, "event-data_skipped"));
    (void)shop_insert(world, 2);
    (void)world_stream(world, &options);
    assert_rows(world, BOTH "2|data_skipped|0|true|true|{}|" APP_ID "|" BRONZE "\n", EVENT_ROWS);
    assert_false(has_file(world, "event-data_skipped"));
    assert_facts_once(world);
    world_close(world);
}

static void the_live_generation_has_its_own(void **state)
{
    World        *world   = shop_open(state, 1);
    Lsn           lsn     = world_max_lsn(world);
    StreamOptions options = shop_stream_from(lsn);

    put_file(world, STR(CHECKPOINT "/_mssql_cdc_generation.json"),
             str_printf(world_arena(world),
                        "{\"generation\": 1, \"snapshot_lsn\": \"%s\", \"commit_ts\": \"\", "
                        "\"at\": \"2026-11-30T03:14:12+00:00\"}",
                        lsn_format(lsn).text));
    put_event(world, METRICS, "schema_change", lsn, "of generation 0");
    put_event(world, CHECKPOINT "/_generations/1/_mssql_cdc_metrics/", "schema_change", lsn,
              "of 1");
    (void)world_stream(world, &options);
    assert_rows(world, "0|schema_change|0|true|true|of 1|" APP_ID ".g1|" BRONZE "\n", EVENT_ROWS);
    world_close(world);
}

/* The library was given a metricsPath of its own: each stream has a folder below it. */
static void a_folder_of_the_librarys_own_is_named(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    options.library_metrics = STR("metrics");
    put_event(world, "metrics/" APP_ID "/", "schema_change", world_max_lsn(world), "elsewhere");
    put_event(world, "metrics/other-v1/", "schema_change", world_max_lsn(world), "of another");
    put_event(world, METRICS, "capture_instance_switched", world_max_lsn(world), "here");
    (void)world_stream(world, &options);
    assert_rows(world,
                "0|capture_instance_switched|0|true|true|here|" APP_ID "|" BRONZE
                "\n0|schema_change|0|true|true|elsewhere|" APP_ID "|" BRONZE "\n",
                EVENT_ROWS);
    world_close(world);
}

static void without_facts_they_stay(void **state)
{
    World        *world   = shop_open(state, 1);
    StreamOptions options = shop_stream_from(world_max_lsn(world));

    options.facts = (TableRef){0};
    put_event(world, METRICS, "schema_change", world_max_lsn(world), "x");
    (void)shop_insert(world, 1);
    (void)world_stream(world, &options);
    assert_true(has_file(world, "event-schema_change"));
    world_close(world);
}

/* --- tables of older releases --- */

static void make_old(World *world, const char *path, const char *const *columns, const char *types)
{
    Arena *arena      = world_arena(world);
    LIST(Column) list = {0};
    DeltaTable *table = NULL;
    Err         err   = ERR_INIT;

    for (size_t i = 0; columns[i]; i++) {
        TypeKind kind            = types[i] == 's'   ? TYPE_STRING
                                   : types[i] == 'i' ? TYPE_INTEGER
                                   : types[i] == 'l' ? TYPE_LONG
                                                     : TYPE_TIMESTAMP_NTZ;
        *LIST_PUSH(arena, &list) = (Column){.name = str_from_c(columns[i]),
                                            .type = COLUMN_TYPE(kind)};
    }
    DeltaCreate spec = {.schema = {.columns = list.items, .column_count = list.count}};
    assert_ok(delta_table_create(world_delta(world), str_from_c(path), &spec, &table, NULL, &err),
              &err);
    delta_table_close(table);
}

/* A snapshot as the first release wrote it: no _snapshot, no _chunk. */
static void put_old_snapshot(World *world, Lsn lsn)
{
    Arena       *arena = world_arena(world);
    DeltaTable  *table = NULL;
    Err          err   = ERR_INIT;
    DeltaOutcome outcome;

    assert_ok(delta_table_open(world_delta(world), STR(BRONZE), &table, &err), &err);
    const Schema *schema  = delta_table_get_schema(table);
    RowBuilder   *builder = row_builder_new(arena, schema);
    row_builder_begin(builder);
    row_builder_set_str(builder, 0, STR("dbo_orders"));
    row_builder_set_str(builder, 1, lsn_str(arena, lsn));
    row_builder_set_i64(builder, 3, 0);
    row_builder_set_i64(builder, 6, 1);
    row_builder_set_str(builder, 7, STR("a"));
    RowBlock    block  = row_builder_block(builder);
    DeltaAppend append = {.rows = row_stream_of_block(arena, schema, &block), .purpose = STR("t")};
    assert_ok(delta_table_append(table, &append, &outcome, NULL, &err), &err);
    row_stream_close(append.rows);
    delta_table_close(table);
}

/* state.md 5: tables of the first release; its snapshot is found, and nothing is read again. */
static void a_lake_of_the_first_release_is_taken_over(void **state)
{
    static const char *const bronze[] = {"_capture_instance", "_start_lsn", "_seqval", "_operation",
                                         "_command_id",       "_commit_ts", "id",      "note",
                                         "_batch_id",         NULL};
    static const char *const facts[]  = {
         "app_id",        "batch_id",      "rows",    "min_lsn",    "max_lsn",
         "min_commit_ts", "max_commit_ts", "deletes", "inserts",    "updates",
         "started_at",    "duration_ms",   "target",  "written_at", NULL};
    static const char *const control[] = {"table_name",    "finalized_until", "end_lsn",
                                          "end_commit_ts", "updated_at",      NULL};
    World                   *world     = shop_open(state, 1);
    StreamOptions            options   = shop_bootstrap();
    ApplyOptions             apply     = shop_apply();

    world_commit(world, "INSERT INTO dbo.orders VALUES (1, 'a')");
    Lsn snapshot = world_max_lsn(world);
    make_old(world, BRONZE, bronze, "sssiitisi");
    make_old(world, FACTS, facts, "sllssttllltlst");
    make_old(world, CONTROL, control, "ststt");
    put_old_snapshot(world, snapshot);
    world_commit(world, "INSERT INTO dbo.orders VALUES (2, 'b')");
    StreamResult result = world_stream(world, &options);
    assert_true(result.snapshot.is_set && lsn_equal(result.snapshot.lsn, snapshot));
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_rows(world, "1|0|-\n2|2|0\n",
                "SELECT id, _operation, _batch_id FROM {" BRONZE "} ORDER BY id");
    assert_rows(world, "-|bootstrap\n0|-\n",
                "SELECT batch_id, event FROM {" FACTS "} ORDER BY written_at, event");
    world_commit(world, "UPDATE dbo.orders SET note = 'c' WHERE id = 1");
    (void)world_stream(world, &options);
    (void)world_apply(world, &apply);
    assert_silver_is_source(world, "orders", "id, note");
    assert_logs_readable(world);
    world_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_events_come_with_the_first_batch),
        cmocka_unit_test(a_death_at_any_step_writes_them_once),
        cmocka_unit_test(an_event_that_is_planned_again_is_written_once),
        cmocka_unit_test(events_of_a_batch_that_is_in_are_not_written_again),
        cmocka_unit_test(the_live_generation_has_its_own),
        cmocka_unit_test(a_folder_of_the_librarys_own_is_named),
        cmocka_unit_test(without_facts_they_stay),
        cmocka_unit_test(a_lake_of_the_first_release_is_taken_over),
    };
    return cmocka_run_group_tests(tests, world_duck_setup, world_duck_teardown);
}
