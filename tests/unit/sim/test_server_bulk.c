/* Bulk loads into the server, as a raw client sends them: what goes in, what is refused, and that it is one statement. */
#include "unit/sim/server_world.h"

static TdsColumn column(const char *name, uint8_t token, int32_t length)
{
    return (TdsColumn){.name  = str_from_c(name),
                       .type  = {.token = token, .length = length},
                       .flags = TDS_COLUMN_NULLABLE};
}

static TdsValue number(int64_t value)
{
    return (TdsValue){.i64 = value};
}

static TdsValue text(const char *value)
{
    return (TdsValue){.bytes = str_bytes(str_from_c(value))};
}

static const TdsValue null = {.is_null = true};

static void load_begin(Client *client, const TdsColumn *columns, size_t count)
{
    tds_writer_begin(client->writer, TDS_PACKET_BULK, 0);
    tds_put_columns(client->writer, client->tds_version, columns, count);
}

static void load_row(Client *client, const TdsColumn *columns, const TdsValue *values, size_t count)
{
    tds_put_row(client->writer, client->tds_version, columns, values, count);
}

/* The number of rows the server says it took, or minus the number of its error. */
static int64_t load_end(Client *client)
{
    Err     err = ERR_INIT;
    TdsItem item;
    int64_t answer = 0;

    tds_put_done(client->writer, client->tds_version, TDS_TOKEN_DONE, 0, 0, 0);
    assert_ok(tds_writer_end(client->writer, &err), &err);
    assert_true(client_read(client));
    while (client_next(client, &item)) {
        if (item.kind == TDS_ITEM_MESSAGE && item.message.is_error && answer == 0)
            answer = -item.message.text.number;
        if (item.kind == TDS_ITEM_DONE && (item.done.status & TDS_DONE_COUNT))
            answer = (int64_t)item.done.row_count;
    }
    return answer;
}

static void announce(Client *client, const char *sql)
{
    assert_true(client_batch(client, sql));
    assert_int_equal(client_error(client), 0);
}

static void run(Client *client, const char *sql)
{
    announce(client, sql);
}

static void rows_go_in_as_an_insert_puts_them(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[3] = {column("a", TDS_TYPE_INTN, 4), column("v", TDS_TYPE_BIGVARCHAR, 10),
                            column("d", TDS_TYPE_INTN, 4)};

    run(client,
        "CREATE TABLE t (id int IDENTITY(10, 5) PRIMARY KEY, a int NOT NULL, v varchar(10), "
        "twice AS a * 2, d int DEFAULT 7, rv rowversion)");
    announce(client, "insert bulk [dbo].[t] ([a] int, [v] varchar(10) COLLATE "
                     "SQL_Latin1_General_CP1_CI_AS, [d] int) with (ROWS_PER_BATCH = 1000, TABLOCK, "
                     "ORDER ([a] ASC, v DESC), KILOBYTES_PER_BATCH = 8)");
    load_begin(client, columns, 3);
    load_row(client, columns, (TdsValue[]){number(1), text("one"), number(70)}, 3);
    load_row(client, columns, (TdsValue[]){number(2), null, null}, 3); /* NBCROW */
    assert_int_equal(load_end(client), 2);
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM t WHERE (id = 10 AND a = 1 AND v "
                                           "= 'one' AND twice = 2 AND d = 70) OR (id = 15 AND a = "
                                           "2 AND v IS NULL AND twice = 4 AND d = 7)"),
                     2);
    assert_int_equal(client_number(client, "SELECT @@ROWCOUNT"), 1);
    client_close(client);
}

static void hints_do_what_they_say(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[2] = {column("id", TDS_TYPE_INTN, 4), column("d", TDS_TYPE_INTN, 4)};

    run(client, "CREATE TABLE k (id int IDENTITY PRIMARY KEY, d int DEFAULT 7)");
    announce(client, "INSERT BULK k (id int, d int) WITH (KEEP_NULLS)");
    load_begin(client, columns, 2);
    load_row(client, columns, (TdsValue[]){number(100), null}, 2);
    assert_int_equal(load_end(client), 1);
    assert_int_equal(client_number(client, "SELECT id FROM k WHERE d IS NULL"), 100);
    run(client, "INSERT k (d) VALUES (1)");
    assert_int_equal(client_number(client, "SELECT id FROM k WHERE d = 1"), 101);
    assert_true(client_batch(client, "INSERT BULK k (d int) WITH (FIRE_TRIGGERS)"));
    assert_int_equal(client_error(client), 50001);
    assert_true(client_batch(client, "INSERT BULK k (d int) WITH (NO_SUCH_HINT)"));
    assert_int_equal(client_error(client), 102);
    client_close(client);
}

static void tablock_keeps_others_out(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    Client   *other      = connected(world);
    TdsColumn columns[1] = {column("id", TDS_TYPE_INTN, 4)};

    run(client, "CREATE TABLE l (id int PRIMARY KEY)");
    run(client, "BEGIN TRAN");
    announce(client, "INSERT BULK l (id int) WITH (TABLOCK)");
    load_begin(client, columns, 1);
    load_row(client, columns, (TdsValue[]){number(1)}, 1);
    assert_int_equal(load_end(client), 1);
    assert_true(client_batch(other, "SET LOCK_TIMEOUT 0; INSERT l VALUES (2)"));
    assert_int_equal(client_error(other), 1222);
    run(client, "ROLLBACK");
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM l"), 0);
    client_close(other);
    client_close(client);
}

static void a_load_that_fails_leaves_nothing(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[2] = {column("id", TDS_TYPE_INTN, 4), column("v", TDS_TYPE_BIGVARCHAR, 50)};

    run(client, "CREATE TABLE f (id int NOT NULL PRIMARY KEY, v varchar(5) NOT NULL)");
    static const struct {
        const char *second;
        int64_t     id;
        int64_t     error;
    } cases[] = {{"two", 1, -2627}, {NULL, 2, -515}, {"far too long", 2, -2628}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        announce(client, "INSERT BULK f (id int, v varchar(50))");
        load_begin(client, columns, 2);
        load_row(client, columns, (TdsValue[]){number(1), text("one")}, 2);
        load_row(client, columns,
                 (TdsValue[]){number(cases[i].id), cases[i].second ? text(cases[i].second) : null},
                 2);
        for (int64_t row = 10; row < 5000; row++) /* what comes behind it is read over */
            load_row(client, columns, (TdsValue[]){number(row), text("more")}, 2);
        assert_int_equal(load_end(client), cases[i].error);
        assert_int_equal(client_number(client, "SELECT COUNT(*) FROM f"), 0);
    }
    client_close(client);
}

static void what_comes_must_be_what_was_announced(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[2] = {column("id", TDS_TYPE_INTN, 4), column("v", TDS_TYPE_BIGVARCHAR, 50)};

    run(client, "CREATE TABLE m (id int NOT NULL, v varchar(50))");
    announce(client, "INSERT BULK m (id bigint, v varchar(50))");
    load_begin(client, columns, 2);
    assert_int_equal(load_end(client), -4816);
    announce(client, "INSERT BULK m (id int)");
    load_begin(client, columns, 2);
    assert_int_equal(load_end(client), -4816);
    announce(client, "INSERT BULK m (id int, v varchar(50))");
    load_begin(client, columns, 1);
    assert_int_equal(load_end(client), -4804);
    announce(client, "INSERT BULK m (id int, v varchar(3))");
    load_begin(client, columns, 2);
    load_row(client, columns, (TdsValue[]){number(1), text("four")}, 2);
    assert_int_equal(load_end(client), -4815);
    static const struct {
        const char *sql;
        int32_t     error;
    } refused[] = {{"INSERT BULK nowhere (id int)", 208},
                   {"INSERT BULK m (nope int)", 207},
                   {"INSERT BULK m (id int, id int)", 264},
                   {"INSERT BULK m (id nonsense)", 2715},
                   {"INSERT BULK m", 102}};
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        assert_true(client_batch(client, refused[i].sql));
        assert_int_equal(client_error(client), refused[i].error);
    }
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM m"), 0);
    client_close(client);
}

static void a_request_in_between_forgets_the_announcement(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[1] = {column("id", TDS_TYPE_INTN, 4)};

    run(client, "CREATE TABLE g (id int)");
    announce(client, "INSERT BULK g (id int)");
    run(client, "SELECT 1");
    load_begin(client, columns, 1);
    assert_int_equal(load_end(client), -4002);
    client_close(client);
}

/* Every type, from a table into its copy: what the server sends is what it takes. */
static void every_type_survives(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    Client *loader = connected(world);
    TdsItem item;

    run(client,
        "CREATE TABLE e (id int NOT NULL, c_bit bit, c_tiny tinyint, c_small smallint, c_big "
        "bigint, "
        "c_real real, c_float float, c_dec decimal(38,10), c_money money, c_smoney smallmoney, "
        "c_date date, c_time time(3), c_dt datetime, c_sdt smalldatetime, c_dt2 datetime2(7), "
        "c_dto "
        "datetimeoffset(7), c_char char(5), c_varchar varchar(20), c_nchar nchar(5), c_nvarchar "
        "nvarchar(20), c_binary binary(4), c_vb varbinary(10), c_guid uniqueidentifier, c_max "
        "nvarchar(max), c_vmax varchar(max), c_bmax varbinary(max), c_text text, c_ntext ntext, "
        "c_image image, c_var sql_variant)");
    run(client, "SELECT * INTO e2 FROM e");
    run(client,
        "INSERT e VALUES (1, 1, 255, -32768, -9223372036854775808, 1.5, 1.7976931348623157e308, "
        "-9999999999999999999999999999.9999999999, -922337203685477.5808, 214748.3647, "
        "'9999-12-31', "
        "'23:59:59.999', '9999-12-31T23:59:59.997', '2079-06-06T23:59:00', "
        "'9999-12-31T23:59:59.9999999', '9999-12-31T09:59:59.9999999-14:00', 'ab', 'x', "
        "N'\xc3\xbc', "
        "N'\xe6\x97\xa5\xe6\x9c\xac', 0xDE, 0x0102, '6F9619FF-8B86-D011-B42D-00C04FC964FF', "
        "REPLICATE(CAST(N'\xd0\xb6' AS nvarchar(max)), 50000), 'v', 0x00, 'text', N'ntext', "
        "0x010203, CAST(12.50 AS decimal(9,2))), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
        "NULL, "
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
        "NULL, NULL, NULL, NULL, NULL, NULL)");
    run(client, "SET TEXTSIZE 2147483647");
    announce(
        loader,
        "INSERT BULK e2 (id int, c_bit bit, c_tiny tinyint, c_small smallint, c_big bigint, "
        "c_real real, c_float float, c_dec decimal(38,10), c_money money, c_smoney smallmoney, "
        "c_date date, c_time time(3), c_dt datetime, c_sdt smalldatetime, c_dt2 datetime2(7), "
        "c_dto datetimeoffset(7), c_char char(5), c_varchar varchar(20), c_nchar nchar(5), "
        "c_nvarchar nvarchar(20), c_binary binary(4), c_vb varbinary(10), c_guid "
        "uniqueidentifier, c_max nvarchar(max), c_vmax varchar(max), c_bmax varbinary(max), "
        "c_text text, c_ntext ntext, c_image image, c_var sql_variant)");
    assert_true(client_batch(client, "SELECT * FROM e"));
    assert_true(client_find(client, TDS_ITEM_COLUMNS, &item));
    size_t           count   = client->response.column_count;
    const TdsColumn *columns = client->response.columns;
    tds_writer_begin(loader->writer, TDS_PACKET_BULK, 0);
    tds_put_u8(loader->writer, TDS_TOKEN_COLMETADATA);
    tds_put_u16(loader->writer, (uint16_t)count);
    for (size_t i = 0; i < count; i++) {
        uint8_t token = columns[i].type.token;
        tds_put_u32(loader->writer, 0);
        tds_put_u16(loader->writer, TDS_COLUMN_NULLABLE);
        tds_put_type(loader->writer, &columns[i].type);
        if (token == TDS_TYPE_TEXT || token == TDS_TYPE_NTEXT || token == TDS_TYPE_IMAGE)
            tds_put_us_varchar(loader->writer, STR("e2")); /* one text, not parts */
        tds_put_b_varchar(loader->writer, columns[i].name);
    }
    while (client_find(client, TDS_ITEM_ROW, &item))
        load_row(loader, columns, client->response.values, count);
    assert_int_equal(load_end(loader), 2);
    assert_int_equal(
        client_number(
            client,
            "SELECT COUNT(*) FROM e JOIN e2 ON e.id = e2.id AND e.c_bit = e2.c_bit AND e.c_tiny = "
            "e2.c_tiny AND e.c_small = e2.c_small AND e.c_big = e2.c_big AND e.c_real = e2.c_real "
            "AND e.c_float = e2.c_float AND e.c_dec = e2.c_dec AND e.c_money = e2.c_money AND "
            "e.c_smoney = e2.c_smoney AND e.c_date = e2.c_date AND e.c_time = e2.c_time AND e.c_dt "
            "= e2.c_dt AND e.c_sdt = e2.c_sdt AND e.c_dt2 = e2.c_dt2 AND e.c_dto = e2.c_dto AND "
            "e.c_char = e2.c_char AND e.c_varchar = e2.c_varchar AND e.c_nchar = e2.c_nchar AND "
            "e.c_nvarchar = e2.c_nvarchar AND e.c_binary = e2.c_binary AND e.c_vb = e2.c_vb AND "
            "e.c_guid = e2.c_guid AND e.c_max = e2.c_max AND e.c_vmax = e2.c_vmax AND e.c_bmax = "
            "e2.c_bmax AND CAST(e.c_text AS varchar(9)) = CAST(e2.c_text AS varchar(9)) AND "
            "CAST(e.c_ntext AS nvarchar(9)) = CAST(e2.c_ntext AS nvarchar(9)) AND "
            "CAST(e.c_image AS varbinary(9)) = CAST(e2.c_image AS varbinary(9)) AND e.c_var = "
            "e2.c_var"),
        1);
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM e2 WHERE id = 2 AND c_dec IS NULL "
                                           "AND c_dto IS NULL AND c_max IS NULL AND c_text IS NULL "
                                           "AND c_image IS NULL AND c_var IS NULL"),
                     1);
    client_close(loader);
    client_close(client);
}

static void a_load_can_be_called_off(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[1] = {column("id", TDS_TYPE_INTN, 4)};
    Err       err        = ERR_INIT;

    run(client, "CREATE TABLE o (id int)");
    announce(client, "INSERT BULK o (id int)");
    load_begin(client, columns, 1);
    for (int64_t i = 0; i < 20000; i++)
        load_row(client, columns, (TdsValue[]){number(i)}, 1);
    assert_ok(tds_writer_end_with(client->writer, TDS_STATUS_IGNORE, &err), &err);
    assert_true(client_read(client));
    assert_int_equal(client_attentions(client), 1);
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM o"), 0);
    client_close(client);
}

static void a_client_that_leaves_takes_its_load_along(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    Client   *other      = connected(world);
    TdsColumn columns[1] = {column("id", TDS_TYPE_INTN, 4)};
    int64_t   until      = now_ms(world) + 10000;

    run(client, "CREATE TABLE q (id int)");
    announce(client, "INSERT BULK q (id int)");
    load_begin(client, columns, 1);
    for (int64_t i = 0; i < 100000; i++) /* more than a writer keeps to itself */
        load_row(client, columns, (TdsValue[]){number(i)}, 1);
    client_close(client);
    while (client_number(other, "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process = "
                                "1 AND session_id <> @@SPID") > 0 &&
           now_ms(world) < until)
        clock_sleep_ms(world->clock, 10, NULL);
    assert_int_equal(client_number(other, "SELECT COUNT(*) FROM q"), 0);
    client_close(other);
}

static void change_data_capture_sees_the_rows(void **state)
{
    World    *world      = *state;
    Client   *client     = connected(world);
    TdsColumn columns[1] = {column("id", TDS_TYPE_INTN, 4)};

    run(client, "USE shop");
    run(client, "CREATE TABLE c (id int NOT NULL PRIMARY KEY)");
    run(client, "EXEC sys.sp_cdc_enable_db");
    run(client, "EXEC sys.sp_cdc_enable_table 'dbo', 'c', @role_name = NULL");
    announce(client, "INSERT BULK c (id int)");
    load_begin(client, columns, 1);
    for (int64_t i = 0; i < 1000; i++)
        load_row(client, columns, (TdsValue[]){number(i)}, 1);
    assert_int_equal(load_end(client), 1000);
    run(client, "EXEC tidesim.scan_now");
    assert_int_equal(client_number(client, "SELECT COUNT(DISTINCT id) FROM cdc.dbo_c_CT WHERE "
                                           "__$operation = 2"),
                     1000);
    assert_int_equal(client_number(client, "SELECT COUNT(DISTINCT __$start_lsn) FROM cdc.dbo_c_CT"),
                     1);
    client_close(client);
}

#define BULK_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BULK_TEST(rows_go_in_as_an_insert_puts_them),
        BULK_TEST(hints_do_what_they_say),
        BULK_TEST(tablock_keeps_others_out),
        BULK_TEST(a_load_that_fails_leaves_nothing),
        BULK_TEST(what_comes_must_be_what_was_announced),
        BULK_TEST(a_request_in_between_forgets_the_announcement),
        BULK_TEST(every_type_survives),
        BULK_TEST(a_load_can_be_called_off),
        BULK_TEST(a_client_that_leaves_takes_its_load_along),
        BULK_TEST(change_data_capture_sees_the_rows),
    };

    return RUN_TESTS(tests);
}
