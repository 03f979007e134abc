/* Where a stream starts on a source that tidesim is never: one whose capture has written nothing. */
#include "support/test_support.h"

#include "engine/stream.h"
#include "support/fake_sqlconn.h"

#define FACTS_COLUMNS                                                                             \
    "major_version INT, engine_edition INT, product_version STRING, name STRING, collation_name " \
    "STRING, compatibility_level SMALLINT, is_cdc_enabled BOOLEAN, snapshot_isolation_state "     \
    "SMALLINT, is_read_committed_snapshot_on BOOLEAN, is_read_only BOOLEAN, updateability "       \
    "STRING, login_name STRING, user_name STRING, spid SMALLINT"
#define HELP_COLUMNS                                                                         \
    "source_schema STRING, source_table STRING, capture_instance STRING, object_id INT, "    \
    "source_object_id INT, start_lsn BINARY, end_lsn BINARY, supports_net_changes BOOLEAN, " \
    "has_drop_pending BOOLEAN, role_name STRING, index_name STRING, filegroup_name STRING, " \
    "create_date TIMESTAMP_NTZ, index_column_list STRING, captured_column_list STRING"
#define CAPTURED_COLUMNS                                                                       \
    "source_schema STRING, source_table STRING, capture_instance STRING, column_name STRING, " \
    "column_id INT, column_ordinal INT, data_type STRING, character_maximum_length INT, "      \
    "numeric_precision SMALLINT, numeric_precision_radix SMALLINT, numeric_scale INT, "        \
    "datetime_precision SMALLINT"

static const FakeAnswer untouched[] = {
    {.expect  = "SERVERPROPERTY",
     .columns = FACTS_COLUMNS,
     .rows    = "16|3|16.0.1000|shop|SQL_Latin1_General_CP1_CI_AS|160|true|1|false|false|READ_"
                "WRITE|reader|reader|51\n"},
    {.expect  = "sp_cdc_help_change_data_capture",
     .columns = HELP_COLUMNS,
     .rows    = "dbo|orders|dbo_orders|1|2|NULL|NULL|true|NULL|NULL|pk|NULL|2026-01-01T00:00:00|"
                "[id]|[id]\n"},
    {.expect  = "sp_cdc_get_captured_columns",
     .columns = CAPTURED_COLUMNS,
     .rows    = "dbo|orders|dbo_orders|id|1|1|int|NULL|10|10|0|NULL\n"},
    {.expect  = "FROM sys.columns",
     .columns = "name STRING, column_id INT, is_computed BOOLEAN, is_nullable BOOLEAN, "
                "collation_name STRING",
     .rows    = "id|1|false|false|NULL\n"},
    {.expect = "HAS_PERMS_BY_NAME", .columns = "can_read INT, min_lsn STRING", .rows = "1|NULL\n"},
    {.expect = "fn_cdc_get_max_lsn", .columns = "max_lsn STRING", .rows = "NULL\n"},
    {.expect  = "FROM cdc.lsn_time_mapping",
     .columns = "start_lsn BINARY, tran_end_time TIMESTAMP_NTZ",
     .rows    = ""},
    {.expect = "fn_cdc_get_min_lsn", .columns = "min_lsn STRING", .rows = "NULL\n"},
};

static void refuse(StartingPoint start, const char *const *parts)
{
    Arena        *arena   = arena_new();
    Clock        *clock   = NULL;
    Sched        *sched   = sched_new_simulated(7, INT64_C(1790000000000000), &clock);
    Rng          *rng     = rng_new(7);
    Cancel       *cancel  = cancel_new();
    FakeServer   *server  = fake_server_new(arena, untouched, COUNT_OF(untouched));
    DeltaContext  delta   = {.store = store_memory_new(clock, sched), .clock = clock, .rng = rng};
    StreamOptions options = {.capture_instance = STR("dbo_orders"),
                             .source           = {.connection         = STR("Server=h"),
                                                  .time_zone          = STR("UTC"),
                                                  .lock_timeout_ms    = -1,
                                                  .num_partitions     = 1,
                                                  .include_command_id = true},
                             .bronze           = {STR("bronze"), STR("bronze")},
                             .app_id           = STR("orders-v1"),
                             .checkpoint       = STR("checkpoint"),
                             .starting         = start};
    Env           env     = {.clock  = clock,
                             .rng    = rng,
                             .sched  = sched,
                             .sql    = fake_server_driver(server),
                             .store  = delta.store,
                             .cancel = cancel,
                             .delta  = &delta};
    StreamResult  result;
    Err           err = ERR_INIT;

    assert_false(stream_run(&env, &options, &result, &err));
    for (size_t i = 0; parts[i]; i++)
        assert_err(&err, ERR_SOURCE_STATE, parts[i]);
    sqldriver_close_kept(env.sql, options.source.connection);
    store_close(delta.store);
    cancel_close(cancel);
    rng_close(rng);
    sched_close(sched);
    arena_close(arena);
}

static void nothing_captured_is_no_latest_position(void **state) /* T12.1 */
{
    (void)state;
    refuse(START_LATEST, (const char *const[]){"nothing is captured yet", "no latest position",
                                               "SQL Server Agent", "Retry", NULL});
}

static void an_instance_without_a_start_is_no_earliest_position(void **state)
{
    (void)state;
    refuse(START_EARLIEST, (const char *const[]){"dbo_orders", "no start LSN yet",
                                                 "retry once the capture job ran", NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_captured_is_no_latest_position),
        cmocka_unit_test(an_instance_without_a_start_is_no_earliest_position),
    };

    return RUN_TESTS(tests);
}
