/* Every query of source/ (sqlserver.md 1.4) against tidesim: what comes back through FreeTDS's
 * driver and, where it is installed, Microsoft's. */
#include "e2e/queries_world.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

static int64_t us_of(const char *text)
{
    int64_t out = 0;

    assert_true(time_parse(str_from_c(text), &out));
    return out;
}

static Lsn next_lsn(World *world, Lsn lsn)
{
    Lsn out;

    assert_ok(mssql_next_lsn(world_mssql(world), lsn, &out, &world->err), &world->err);
    return out;
}

/* The change rows of (after, to] as text. */
static Str changes(World *world, const CaptureTable *table, Lsn after, Lsn to, bool is_last,
                   ChangeMetrics *metrics)
{
    ChangeRange range  = {.instance  = &table->instances[table->configured],
                          .from      = next_lsn(world, after),
                          .to        = to,
                          .is_last   = is_last,
                          .batch_end = to};
    Schema      schema = world_captured_schema(world, range.instance);
    RowStream  *stream;
    Str         text = STR_EMPTY;

    assert_ok(mssql_read_changes(world_mssql(world), &range, &schema, 3, world->arena, metrics,
                                 &stream, &world->err),
              &world->err);
    assert_ok(world_rows(world, stream, false, &text), &world->err);
    row_stream_close(stream);
    return text;
}

static Str lsn_text(World *world, Lsn lsn)
{
    return lsn_str(world->arena, lsn);
}

/* --- tests --- */

static void the_server_and_its_tables_are_found(void **state) /* Q01, Q04, Q18, Q19, Q20, Q22 */
{
    World       *world = world_of(state);
    CaptureTable table = world_find(world, "DBO_orders");

    assert_int_equal(table.instance_count, 1);
    const CaptureInstance *instance = &table.instances[0];
    assert_str_is(instance->name, "dbo_orders");
    assert_true(instance->has_start_lsn);
    assert_int_equal(instance->key_column_count, 1);
    assert_str_is(instance->key_columns[0], "id");
    assert_int_equal(instance->column_count, 20);

    static const char *const types[] = {
        "int",           "varchar(16)", "nvarchar(50)", "decimal(10,2)", "decimal(38,10)",
        "float",         "real",        "bit",          "tinyint",       "smallint",
        "bigint",        "date",        "datetime",     "datetime2(7)",  "uniqueidentifier",
        "varbinary(20)", "binary(4)",   "char(4)",      "nchar(4)",      "money"};
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        assert_str_is(instance->columns[i].sql_type_name, types[i]);
        assert_true(instance->columns[i].has_type && instance->columns[i].is_in_source);
    }
    assert_false(instance->columns[0].is_nullable);
    assert_str_is(instance->columns[1].collation, "SQL_Latin1_General_CP1_CI_AS");
    table = world_find(world, "odd");
    assert_str_is(table.instances[0].source_table, "odd]name");
    assert_int_equal(table.instances[0].key_column_count, 2);
    assert_true(world_find(world, "dbo_odd]name").configured_is_gone);
    assert_false(
        mssql_find_table(world_mssql(world), STR("dbo_ordres"), world->arena, &table, &world->err));
    assert_err(&world->err, ERR_SOURCE_STATE, "gating role");
}

static void every_type_comes_through_in_every_operation(void **state) /* Q16 */
{
    World        *world = world_of(state);
    CaptureTable  table = world_find(world, "dbo_orders");
    ChangeMetrics m;

    world_scan(world);
    Lsn before = world_max_lsn(world);
    world_run(world, "EXEC tidesim.clock_set '2026-06-15T16:00:01.007'");
    world_run(world,
              "INSERT INTO dbo.orders VALUES (1, 'caf\xC3\xA9', N'\xE2\x82\xAC \xF0\x9F\x98\x80', "
              "-12.34, -1234567890123456789012345678.0123456789, 0.1, 0.1, 1, 255, -32768, "
              "-9223372036854775808, '0001-01-01', '2026-02-28T23:59:59.997', "
              "'9999-12-31T23:59:59.9999999', '6F9619FF-8B86-D011-B42D-00C04FC964FF', 0x00FF, "
              "0xAB, 'ab', N'\xC3\xA9', "
              "-922337203685477.5807)");
    world_run(world, "INSERT INTO dbo.orders (id) VALUES (2)");
    world_run(world, "UPDATE dbo.orders SET note = N'', bin = 0x, price = 0 WHERE id = 1");
    world_run(world, "DELETE FROM dbo.orders WHERE id = 2");
    world_scan(world);
    Str text = changes(world, &table, before, world_max_lsn(world), true, &m);

#define REST                                                                             \
    "-1234567890123456789012345678.0123456789|0.1|0.10000000149011612|true|255|-32768|-" \
    "9223372036854775808|0001-01-01|2026-02-28T23:59:59.997000|"                         \
    "9999-12-31T23:59:59.999999|6F9619FF-8B86-D011-B42D-00C04FC964FF|"
#define NULLS                                                                                    \
    "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|" \
    "NULL"
    static const char *const wants[] = {
        "|2|1|caf\xC3\xA9|\xE2\x82\xAC \xF0\x9F\x98\x80|-12.34|" REST
        "0x00ff|0xab000000|ab  |\xC3\xA9   |-922337203685477.5807|3|NULL|NULL",
        "|2|2|" NULLS "|3|NULL|NULL",
        "|3|1|caf\xC3\xA9|\xE2\x82\xAC \xF0\x9F\x98\x80|-12.34|" REST
        "0x00ff|0xab000000|ab  |\xC3\xA9   |-922337203685477.5807|3|NULL|NULL",
        "|4|1|caf\xC3\xA9||0.00|" REST
        "0x|0xab000000|ab  |\xC3\xA9   |-922337203685477.5807|3|NULL|NULL",
        "|1|2|" NULLS "|3|NULL|NULL",
    };
    Str line;
    for (size_t i = 0; i < COUNT_OF(wants); i++) {
        assert_true(str_split_next(&text, '\n', &line));
        /* _capture_instance|_start_lsn|_seqval|_operation|_command_id|_commit_ts|columns... */
        Str part, got = STR_EMPTY;
        for (int c = 0; c < 6; c++) {
            assert_true(str_split_next(&line, '|', &part));
            if (c == 0) assert_str_is(part, "dbo_orders");
            if (c == 1 || c == 2) assert_int_equal(part.len, LSN_TEXT_CHARS);
            if (c == 3) got = part;
            if (c == 5) assert_str_is(part, "2026-06-15T16:00:01.007000");
        }
        assert_str_is(str_printf(world->arena, "|%.*s|%.*s", STR_ARG(got), STR_ARG(line)),
                      wants[i]);
    }
    assert_int_equal(m.rows, 5);
    assert_int_equal(m.inserts, 2);
    assert_int_equal(m.updates, 1);
    assert_int_equal(m.deletes, 1);
    assert_int_equal(m.min_commit_ts.utc_us, us_of("2026-06-15T16:00:01.007"));
    assert_true(lsn_compare(m.min_lsn, before) > 0 && lsn_equal(m.max_lsn, world_max_lsn(world)));
    assert_true(m.rtt_ms >= 0 && m.network_wait_ms >= 0 && m.read_seconds > 0);
    assert_true(m.end_commit_ts.is_set && m.source_max_commit_ts.is_set &&
                !isnan(m.capture_lag_seconds));
    assert_true(m.min_lsn_after_is_set);
}

/* Types that are read value by value, behind all others (1.2), and those that come as text. */
static void long_values_and_times_come_through(void **state) /* Q16, Q29 */
{
    static const TableCut uncut = {.column_count = 0};
    World                *world = world_of(state);
    ChangeMetrics         m;
    PartPlan              plan = {.part_count = 1};
    int64_t               rows = 0;

    world_run(world, "CREATE TABLE dbo.longs (v varchar(max) NULL, id int NOT NULL PRIMARY KEY, n "
                     "nvarchar(max) NULL, t time(7) NULL, o datetimeoffset(7) NULL, "
                     "b varbinary(max) NULL, x xml NULL, sd smalldatetime NULL, sm smallmoney "
                     "NULL, rv rowversion)");
    world_run(world, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = "
                     "N'longs', @role_name = NULL");
    world_scan(world);
    Lsn before = world_max_lsn(world);
    world_run(world,
              "INSERT INTO dbo.longs (v, id, n, t, o, b, x, sd, sm) VALUES (REPLICATE(CAST('x' AS "
              "varchar(max)), 60000), 1, "
              "REPLICATE(CAST(N'\xC3\xA9' AS nvarchar(max)), 30000), '13:50:01.1234567', "
              "'2026-06-01 10:00:00.1234567 +02:00', 0x0102, '<a/>', '2026-06-01 10:01', 1.5), "
              "(NULL, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL), ('', 3, N'', '00:00', NULL, "
              "0x, NULL, NULL, -0.0001)");
    world_scan(world);
    CaptureTable table = world_find(world, "dbo_longs");
    Buf          want  = buf_new(world->arena, 0);
    for (int i = 0; i < 60000; i++)
        buf_append_char(&want, 'x');
    buf_append_c(&want, "|1|");
    for (int i = 0; i < 30000; i++)
        buf_append_c(&want, "\xC3\xA9");
    buf_append_c(&want, "|13:50:01.123456700|2026-06-01T08:00:00.123456+00:00|0x0102|<a/"
                        ">|2026-06-01T10:01:00.000000|1.5000|0x");
    Str change_rows = changes(world, &table, before, world_max_lsn(world), false, &m);
    Str table_rows  = world_read_part(world, &table, &uncut, &plan, 0, &rows);
    assert_int_equal(m.rows, 3);
    assert_int_equal(rows, 3);
    for (int form = 0; form <= 1; form++) {
        Str text = form ? table_rows : change_rows;
        assert_true(str_find(text, buf_str(&want), 0) > 0);
        assert_true(str_find(text, STR("|NULL|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|0x"), 0) > 0);
        assert_true(str_find(text, STR("||3||00:00:00.000000000|NULL|0x|NULL|NULL|-0.0001|0x"), 0) >
                    0);
    }
}

static void positions_move_as_the_log_does(void **state) /* Q06 to Q10, Q14, Q15 */
{
    World       *world = world_of(state);
    Mssql       *mssql = world_mssql(world);
    CaptureTable table = world_find(world, "dbo_orders");
    Lsn          lsn, back, end;
    bool         is_set;
    OptTime      time;

    world_scan(world);
    Lsn before = world_max_lsn(world);
    for (int i = 10; i < 20; i++) {
        world_run(world, "EXEC tidesim.clock_advance 1000");
        world_run(world,
                  str_c(world->arena,
                        str_printf(world->arena, "INSERT INTO dbo.orders (id) VALUES (%d)", i)));
    }
    world_scan(world);
    Lsn after = world_max_lsn(world);
    assert_ok(mssql_nth_commit(mssql, before, 4, &lsn, &is_set, &world->err), &world->err);
    assert_true(is_set && lsn_compare(lsn, before) > 0 && lsn_compare(lsn, after) < 0);
    assert_ok(mssql_commit_time(mssql, lsn, &time, &world->err), &world->err);
    assert_true(time.is_set);
    assert_ok(mssql_nth_commit(mssql, before, 1000, &end, &is_set, &world->err), &world->err);
    assert_true(is_set && lsn_equal(end, after));
    assert_ok(mssql_nth_commit(mssql, after, 1, &end, &is_set, &world->err), &world->err);
    assert_false(is_set);

    lsn = next_lsn(world, after);
    assert_true(lsn_equal(lsn, lsn_increment(after)));
    assert_ok(mssql_previous_lsn(mssql, lsn, &back, &world->err), &world->err);
    assert_true(lsn_equal(back, after));
    assert_ok(mssql_commit_time(mssql, lsn, &time, &world->err), &world->err);
    assert_false(time.is_set); /* no commit has it */
    assert_ok(mssql_commit_time_at_or_before(mssql, lsn, &time, &world->err), &world->err);
    assert_true(time.is_set);

    assert_ok(mssql_min_lsn(mssql, STR("dbo_orders"), &lsn, &is_set, &world->err), &world->err);
    assert_true(is_set && lsn_equal(lsn, table.instances[0].start_lsn));
    assert_ok(mssql_min_lsn(mssql, STR("nothing"), &lsn, &is_set, &world->err), &world->err);
    assert_false(is_set);

    SplitTile *tiles;
    size_t     count;
    int64_t    rows = 0;
    assert_ok(mssql_split_tiles(mssql, STR("dbo_orders"), next_lsn(world, before), after, 4,
                                world->arena, &tiles, &count, &world->err),
              &world->err);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        rows += tiles[i].row_count;
        assert_true(lsn_equal(tiles[i].next_lsn, lsn_increment(tiles[i].last_lsn)));
    }
    assert_int_equal(rows, 10);
    assert_true(lsn_equal(tiles[3].last_lsn, after));

    bool has;
    Lsn  start = next_lsn(world, before), beyond = next_lsn(world, after);
    assert_ok(mssql_has_changes(mssql, STR("dbo_orders"), start, after, &has, &world->err),
              &world->err);
    assert_true(has);
    assert_ok(mssql_has_changes(mssql, STR("dbo_orders"), beyond, beyond, &has, &world->err),
              &world->err);
    assert_false(has);
    assert_false(
        mssql_has_changes(mssql, STR("no_such_instance"), start, after, &has, &world->err));
    assert_err(&world->err, ERR_SOURCE_STATE, "was disabled");
    world->err = ERR_INIT;
}

typedef struct Instant {
    const char *server_utc, *utc; /* when the row is committed; NULL: the same */
} Instant;

/* One commit at each instant; all their times, and each alone, come back as UTC. */
static void check_instants(World *world, const char *const *instants, size_t count, int first_id)
{
    CaptureTable  table = world_find(world, "dbo_orders");
    ChangeMetrics m;
    Lsn          *lsns = ARENA_ARRAY(world->arena, Lsn, count + 1);

    world_scan(world);
    lsns[0] = world_max_lsn(world);
    for (size_t i = 0; i < count; i++) {
        world_run(world, str_c(world->arena, str_printf(world->arena, "EXEC tidesim.clock_set '%s'",
                                                        instants[i])));
        world_run(world, str_c(world->arena,
                               str_printf(world->arena, "INSERT INTO dbo.orders (id) VALUES (%d)",
                                          first_id + (int)i)));
        world_scan(world);
        lsns[i + 1] = world_max_lsn(world);
    }
    Str text = changes(world, &table, lsns[0], lsns[count], false, &m), line;
    for (size_t i = 0; i < count; i++) {
        Str     part = STR_EMPTY;
        OptTime alone;
        assert_true(str_split_next(&text, '\n', &line));
        for (int c = 0; c < 6; c++)
            assert_true(str_split_next(&line, '|', &part));
        assert_str_is(part,
                      str_c(world->arena, str_printf(world->arena, "%s.000000", instants[i])));
        assert_ok(mssql_commit_time(world_mssql(world), lsns[i + 1], &alone, &world->err),
                  &world->err);
        assert_true(alone.is_set);
        assert_int_equal(alone.utc_us, us_of(instants[i]));
    }
    assert_int_equal(m.min_commit_ts.utc_us, us_of(instants[0]));
    assert_int_equal(m.max_commit_ts.utc_us, us_of(instants[count - 1]));
}

static void
commit_times_follow_the_zone_through_the_repeated_hour(void **state) /* Q10, Q12, Q13; 1.8 */
{
    static const char *const summer[] = {"2026-07-01T12:00:00", "2026-07-01T12:30:00"};
    static const char *const fall[]   = {
          "2026-11-01T04:59:00", "2026-11-01T05:30:00", "2026-11-01T05:45:00", "2026-11-01T06:00:00",
          "2026-11-01T06:30:00", "2026-11-01T06:59:00", "2026-11-01T07:00:00", "2026-11-01T09:00:00"};
    static const char *const spring[] = {"2027-03-14T06:59:00", "2027-03-14T07:00:00",
                                         "2027-03-14T07:30:00"};

    check_instants(world_of(state), summer, COUNT_OF(summer), 100);
    check_instants(world_of(state), fall, COUNT_OF(fall), 200);
    check_instants(world_of(state), spring, COUNT_OF(spring), 300);
}

static void
a_time_leads_to_the_last_commit_that_is_not_later(void **state) /* Q11 and its points of 1.8 */
{
    static const char *const commits[] = {"2028-03-12T06:30:00", "2028-07-01T12:00:00",
                                          "2028-11-05T04:30:00", "2028-11-05T05:30:00",
                                          "2028-11-05T06:30:00"};
    World                   *world     = world_of(state);
    Lsn                      lsns[COUNT_OF(commits)], lsn;
    bool                     is_set;

    for (size_t i = 0; i < COUNT_OF(commits); i++) {
        world_run(world, str_c(world->arena, str_printf(world->arena, "EXEC tidesim.clock_set '%s'",
                                                        commits[i])));
        world_run(world, str_c(world->arena,
                               str_printf(world->arena, "INSERT INTO dbo.orders (id) VALUES (%d)",
                                          400 + (int)i)));
        world_scan(world);
        lsns[i] = world_max_lsn(world);
    }
    Mssql *mssql = world_mssql(world);
    assert_ok(mssql_lsn_at_time(mssql, us_of("2028-03-12T06:30:00.9"), &lsn, &is_set, &world->err),
              &world->err);
    assert_true(is_set && lsn_equal(lsn, lsns[0]));
    assert_ok(mssql_lsn_at_time(mssql, us_of("2028-07-01T11:59:59"), &lsn, &is_set, &world->err),
              &world->err);
    assert_true(is_set && lsn_equal(lsn, lsns[0]));
    assert_ok(mssql_lsn_at_time(mssql, us_of("2028-07-01T12:00:00"), &lsn, &is_set, &world->err),
              &world->err);
    assert_true(is_set && lsn_equal(lsn, lsns[1]));
    /* 05:45Z is 00:45 or 01:45 there: the earlier is taken, so 05:30Z's commit (01:30) is left for
     * a replay */
    assert_ok(mssql_lsn_at_time(mssql, us_of("2028-11-05T05:45:00"), &lsn, &is_set, &world->err),
              &world->err);
    assert_true(is_set && lsn_equal(lsn, lsns[2]));
    assert_ok(mssql_lsn_at_time(mssql, us_of("1999-01-01T00:00:00"), &lsn, &is_set, &world->err),
              &world->err);
    assert_false(is_set);
}

static void locks_and_isolation_are_as_asked_for(void **state) /* 1.7 */
{
    World       *world   = world_of(state);
    CaptureTable table   = world_find(world, "odd");
    MssqlOptions options = world_options(world);
    Mssql       *strict;
    SqlConn     *writer;
    Schema       schema = world_captured_schema(world, &table.instances[0]);
    TableRead    read   = world_whole_table(world, &table, &schema);
    RowStream   *stream;
    int64_t      rows;
    Str          text;

    options.lock_timeout_ms = 0;
    assert_ok(mssql_open(&options, &strict, &world->err), &world->err);
    assert_ok(sqldriver_connect(world->sql, options.connection, 10, &writer, &world->err),
              &world->err);
    assert_ok(sqlconn_execute(
                  writer, STR("BEGIN TRAN; UPDATE dbo.[odd]]name] SET c = N'locked' WHERE a = 3;"),
                  &world->err),
              &world->err);
    bool ok = mssql_read_table(strict, &read, &rows, &stream, &world->err);
    if (ok) { /* the lock may be met after rows were sent */
        ok = world_rows(world, stream, true, &text);
        row_stream_close(stream);
    }
    assert_false(ok);
    assert_int_equal(world->err.native, 1222);
    assert_int_equal(world->err.code, ERR_LOCK_TIMEOUT);
    mssql_close(strict);

    options.isolation_snapshot = true;
    assert_ok(mssql_open(&options, &strict, &world->err), &world->err);
    assert_false(mssql_read_table(strict, &read, &rows, &stream, &world->err));
    assert_err(&world->err, ERR_SOURCE_STATE, "ALLOW_SNAPSHOT_ISOLATION ON");
    assert_int_equal(world->err.native, 3952);
    assert_ok(sqlconn_execute(writer, STR("ROLLBACK"), &world->err), &world->err);
    assert_ok(sqlconn_execute(world->admin,
                              STR("ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON"),
                              &world->err),
              &world->err);
    assert_ok(sqlconn_execute(
                  writer, STR("BEGIN TRAN; UPDATE dbo.[odd]]name] SET c = N'locked' WHERE a = 3;"),
                  &world->err),
              &world->err);
    err_clear(&world->err);
    assert_ok(mssql_read_table(strict, &read, &rows, &stream, &world->err), &world->err);
    assert_ok(world_rows(world, stream, true, &text), &world->err);
    row_stream_close(stream);
    assert_int_equal(rows, 60);
    assert_true(str_find(text, STR("locked"), 0) < 0);
    assert_ok(sqlconn_execute(writer, STR("ROLLBACK"), &world->err), &world->err);
    sqlconn_close(writer);
    mssql_close(strict);
}

static void what_the_login_lacks_is_named_with_its_grant(void **state) /* Q23; 1.12 */
{
    World        *world   = world_of(state);
    CaptureTable  table   = world_find(world, "dbo_orders");
    MssqlOptions  options = world_options(world);
    Mssql        *reader;
    bool          can;
    Str           grant;
    ChangeMetrics m;
    RowStream    *stream;
    CaptureTable  seen;
    Schema        schema = world_captured_schema(world, &table.instances[0]);
    ChangeRange   range  = {.instance  = &table.instances[0],
                            .from      = table.instances[0].start_lsn,
                            .to        = world_max_lsn(world),
                            .batch_end = world_max_lsn(world)};

    world_run(world, "CREATE LOGIN cdc_reader WITH PASSWORD = 'Reader.Word.1'");
    world_run(world, "CREATE USER cdc_reader FOR LOGIN cdc_reader");
    options.connection = world_connection(world, "cdc_reader", "Reader.Word.1", "shop");
    assert_ok(mssql_open(&options, &reader, &world->err), &world->err);
    assert_false(mssql_find_table(reader, STR("dbo_orders"), world->arena, &seen, &world->err));
    assert_err(&world->err, ERR_SOURCE_STATE, "SELECT");

    world_run(world, "GRANT SELECT ON dbo.orders TO cdc_reader");
    assert_ok(mssql_find_table(reader, STR("dbo_orders"), world->arena, &seen, &world->err),
              &world->err);
    assert_ok(
        mssql_can_read_changes(reader, &seen.instances[0], world->arena, &can, &grant, &world->err),
        &world->err);
    assert_false(can);
    assert_str_is(grant, "GRANT SELECT ON cdc.[dbo_orders_CT] TO [cdc_reader]");
    assert_false(
        mssql_read_changes(reader, &range, &schema, 1, world->arena, &m, &stream, &world->err));
    assert_err(&world->err, ERR_PERMISSION, "GRANT SELECT ON cdc.[dbo_orders_CT] TO [cdc_reader]");
    assert_int_equal(world->err.native, 229);

    world_run(world, "GRANT SELECT ON cdc.dbo_orders_CT TO cdc_reader");
    assert_ok(
        mssql_can_read_changes(reader, &seen.instances[0], world->arena, &can, &grant, &world->err),
        &world->err);
    assert_true(can);
    Str text;
    assert_ok(
        mssql_read_changes(reader, &range, &schema, 1, world->arena, &m, &stream, &world->err),
        &world->err);
    assert_ok(world_rows(world, stream, false, &text), &world->err);
    row_stream_close(stream);
    assert_true(m.rows > 0);

    int64_t      rows;
    CaptureTable odd        = world_find(world, "odd");
    Schema       odd_schema = world_captured_schema(world, &odd.instances[0]);
    TableRead    read       = world_whole_table(world, &odd, &odd_schema);
    assert_false(mssql_read_table(reader, &read, &rows, &stream, &world->err));
    assert_err(&world->err, ERR_PERMISSION, "GRANT SELECT ON [dbo].[odd]]name] TO [cdc_reader]");
    mssql_close(reader);
}

static void logins_and_databases_that_are_wrong_say_so(void **state)
{
    World       *world   = world_of(state);
    MssqlOptions options = world_options(world);
    Mssql       *mssql;

    options.connection = world_connection(world, "sa", "wrong;password", "shop");
    assert_false(mssql_open(&options, &mssql, &world->err));
    assert_int_equal(world->err.code, ERR_LOGIN);
    assert_int_equal(world->err.native, 18456);
    options.connection = world_connection(world, "sa", "Tide.Sim.1", "master");
    assert_false(mssql_open(&options, &mssql, &world->err));
    assert_err(&world->err, ERR_SOURCE_STATE, "CDC is not enabled in database master");
    options           = world_options(world);
    options.time_zone = STR("Middle Earth Time");
    assert_ok(mssql_open(&options, &mssql, &world->err), &world->err);
    OptTime time;
    assert_false(mssql_commit_time(mssql, world_max_lsn(world), &time, &world->err));
    assert_err(&world->err, ERR_CONFIG, "Middle Earth Time");
    mssql_close(mssql);
}

static void transient_errors_are_seen_as_such(void **state) /* 1.13 */
{
    static const char *const faults[] = {"EXEC tidesim.fault 'deadlock', '%dbo_orders_CT%'",
                                         "EXEC tidesim.fault 'kill', '%dbo_orders_CT%'",
                                         "EXEC tidesim.fault 'close', '%dbo_orders_CT%'"};
    World                   *world    = world_of(state);
    CaptureTable             table    = world_find(world, "dbo_orders");
    Schema                   schema   = world_captured_schema(world, &table.instances[0]);
    ChangeRange              range    = {.instance  = &table.instances[0],
                                         .from      = table.instances[0].start_lsn,
                                         .to        = world_max_lsn(world),
                                         .batch_end = world_max_lsn(world)};

    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        ChangeMetrics m;
        RowStream    *stream;
        Str           text;
        world_run(world, faults[i]);
        bool ok = mssql_read_changes(world_mssql(world), &range, &schema, 1, world->arena, &m,
                                     &stream, &world->err);
        if (ok) {
            ok = world_rows(world, stream, false, &text);
            row_stream_close(stream);
        }
        assert_false(ok);
        assert_err(&world->err, ERR_SOURCE, "");
        if (i == 0) assert_int_equal(world->err.native, 1205);
        err_clear(&world->err);
    }
    /* A planning question runs again by itself. */
    world_run(world, "EXEC tidesim.fault 'deadlock', '%fn_cdc_get_max_lsn%'");
    (void)world_max_lsn(world);
    assert_true(str_find(buf_str(&world->log_text), STR("native=1205"), 0) > 0);
}

static void
ddl_is_found_in_its_range(void **state) /* Q21, with nvarchar(max) in the middle of the list */
{
    World       *world = world_of(state);
    CaptureTable table = world_find(world, "odd");
    DdlEvent    *events;
    size_t       count;

    world_scan(world);
    Lsn before = world_max_lsn(world);
    world_run(world, "ALTER TABLE dbo.[odd]]name] ADD d int NULL");
    world_run(world, "INSERT INTO dbo.[odd]]name] (a, b) VALUES (99, 'x')");
    world_scan(world);
    assert_ok(mssql_find_ddl(world_mssql(world), &table.instances[0], before, world_max_lsn(world),
                             world->arena, &events, &count, &world->err),
              &world->err);
    assert_int_equal(count, 1);
    assert_true(str_find(events[0].command, STR("ADD d int NULL"), 0) > 0);
    assert_true(lsn_compare(events[0].lsn, before) > 0);
    assert_ok(mssql_find_ddl(world_mssql(world), &table.instances[0], world_max_lsn(world),
                             lsn_increment(world_max_lsn(world)), world->arena, &events, &count,
                             &world->err),
              &world->err);
    assert_int_equal(count, 0);
}

static void a_purged_range_shows_in_the_low_endpoint(void **state) /* Q07 after a range; 1.10 */
{
    World        *world = world_of(state);
    CaptureTable  table = world_find(world, "dbo_orders");
    ChangeMetrics m;
    Lsn           start = table.instances[0].start_lsn;

    world_scan(world);
    Lsn end = world_max_lsn(world);
    world_run(world, str_c(world->arena,
                           str_printf(world->arena,
                                      "EXEC sys.sp_cdc_cleanup_change_table @capture_instance = "
                                      "'dbo_orders', @low_water_mark = %.*s",
                                      STR_ARG(lsn_text(world, end)))));
    (void)changes(world, &table, start, end, false, &m);
    assert_true(m.min_lsn_after_is_set);
    assert_int_equal(lsn_compare(m.min_lsn_after, start), 1);
}

static void *request_soon(void *arg)
{
    struct timespec wait = {0, 200 * 1000 * 1000};

    (void)nanosleep(&wait, NULL);
    sqlconn_cancel(arg);
    return NULL;
}

static void a_waiting_statement_stops_on_request(void **state)
{
    World    *world = world_of(state);
    SqlConn  *conn;
    pthread_t thread;

    assert_ok(sqldriver_connect(world->sql, world_connection(world, "sa", "Tide.Sim.1", "shop"), 10,
                                &conn, &world->err),
              &world->err);
    assert_int_equal(pthread_create(&thread, NULL, request_soon, conn), 0);
    int64_t before = clock_monotonic_ns(world->clock);
    assert_false(sqlconn_execute(conn, STR("WAITFOR DELAY '01:00:00'"), &world->err));
    assert_err(&world->err, ERR_CANCELLED, "");
    assert_true(clock_monotonic_ns(world->clock) - before < (int64_t)10 * 1000000000);
    (void)pthread_join(thread, NULL);
    sqlconn_close(conn);
}

static void the_disabled_instance_is_said_to_be_gone(
    void **state) /* 208 on a change table: last, it ends the instance */
{
    World        *world  = world_of(state);
    CaptureTable  table  = world_find(world, "dbo_orders");
    Schema        schema = world_captured_schema(world, &table.instances[0]);
    ChangeRange   range  = {.instance  = &table.instances[0],
                            .from      = table.instances[0].start_lsn,
                            .to        = world_max_lsn(world),
                            .batch_end = world_max_lsn(world)};
    ChangeMetrics m;
    RowStream    *stream;

    world_run(world, "EXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = "
                     "N'orders', @capture_instance = N'dbo_orders'");
    assert_false(mssql_read_changes(world_mssql(world), &range, &schema, 1, world->arena, &m,
                                    &stream, &world->err));
    assert_err(&world->err, ERR_SOURCE_STATE, "was disabled");
    assert_int_equal(world->err.native, 208);
    assert_false(
        mssql_find_table(world_mssql(world), STR("dbo_orders"), world->arena, &table, &world->err));
}

static void a_server_that_dies_in_the_middle_is_a_transient_error(void **state) /* the very last */
{
    World        *world   = world_of(state);
    CaptureTable  table   = world_find(world, "odd");
    Schema        schema  = world_captured_schema(world, &table.instances[0]);
    MssqlOptions  options = world_options(world);
    Mssql        *mssql;
    ChangeMetrics m;
    RowStream    *stream;
    RowBlock      block;
    bool          ok = true;

    options.fetch_rows = 1000;
    assert_ok(mssql_open(&options, &mssql, &world->err), &world->err);
    world_run(
        world,
        "INSERT INTO dbo.[odd]]name] (a, b) SELECT value, 'x' FROM GENERATE_SERIES(1000, 101000)");
    world_scan(world);
    ChangeRange range = {.instance  = &table.instances[0],
                         .from      = table.instances[0].start_lsn,
                         .to        = world_max_lsn(world),
                         .batch_end = world_max_lsn(world)};
    assert_ok(mssql_read_changes(mssql, &range, &schema, 1, world->arena, &m, &stream, &world->err),
              &world->err);
    for (int blocks = 0; ok && (blocks == 0 || block.row_count > 0); blocks++) {
        if (blocks == 2) (void)kill(world->server, SIGKILL);
        ok = row_stream_next(stream, &block, &world->err);
    }
    row_stream_close(stream);
    mssql_close(mssql);
    assert_false(ok);
    assert_err(&world->err, ERR_SOURCE, "");
    assert_true(m.rows > 0 && m.rows < 100000);
}

static const struct CMUnitTest cases[] = {
    cmocka_unit_test(the_server_and_its_tables_are_found),
    cmocka_unit_test(every_type_comes_through_in_every_operation),
    cmocka_unit_test(long_values_and_times_come_through),
    cmocka_unit_test(positions_move_as_the_log_does),
    cmocka_unit_test(commit_times_follow_the_zone_through_the_repeated_hour),
    cmocka_unit_test(a_time_leads_to_the_last_commit_that_is_not_later),
    cmocka_unit_test(locks_and_isolation_are_as_asked_for),
    cmocka_unit_test(what_the_login_lacks_is_named_with_its_grant),
    cmocka_unit_test(logins_and_databases_that_are_wrong_say_so),
    cmocka_unit_test(transient_errors_are_seen_as_such),
    cmocka_unit_test(ddl_is_found_in_its_range),
    cmocka_unit_test(a_purged_range_shows_in_the_low_endpoint),
    cmocka_unit_test(a_waiting_statement_stops_on_request),
    cmocka_unit_test(the_disabled_instance_is_said_to_be_gone),
    cmocka_unit_test(a_server_that_dies_in_the_middle_is_a_transient_error),
};

int main(void)
{
    return world_run_cases("queries", cases, COUNT_OF(cases));
}
