/* The server on a socket, as a raw client sees it: login, requests, attentions, nonsense, and many at once. */
#include "unit/sim/server_world.h"

#include <math.h>
#include <pthread.h>

/* --- login --- */

static TdsItem next_is(Client *client, TdsItemKind kind)
{
    TdsItem item;

    assert_true(client_next(client, &item));
    assert_int_equal(item.kind, kind);
    return item;
}

static void a_login_is_answered_in_the_order_of_sql_server(void **state)
{
    World   *world = *state;
    Client  *client;
    TdsLogin login = client_default_login();
    TdsItem  item;

    login.database = STR("shop");
    client         = client_open(world->port);
    assert_non_null(client);
    assert_true(client_prelogin(client));
    assert_true(client_login(client, &login));
    item = next_is(client, TDS_ITEM_ENV);
    assert_int_equal(item.env.kind, 1);
    assert_str_is(item.env.new_text, "shop");
    assert_str_is(item.env.old_text, "master");
    item = next_is(client, TDS_ITEM_MESSAGE);
    assert_int_equal(item.message.text.number, 5701);
    assert_str_is(item.message.text.text, "Changed database context to 'shop'.");
    item = next_is(client, TDS_ITEM_ENV);
    assert_int_equal(item.env.kind, 7);
    assert_memory_equal(item.env.new_bytes.ptr, "\x09\x04\xD0\x00\x34", 5);
    assert_int_equal(next_is(client, TDS_ITEM_ENV).env.kind, 2);
    assert_int_equal(next_is(client, TDS_ITEM_MESSAGE).message.text.number, 5703);
    item = next_is(client, TDS_ITEM_LOGIN_ACK);
    assert_int_equal(item.login_ack.tds_version, TDS_VERSION_74);
    assert_str_is(item.login_ack.program, "Microsoft SQL Server");
    assert_int_equal(item.login_ack.major, 16);
    item = next_is(client, TDS_ITEM_ENV);
    assert_int_equal(item.env.kind, 4);
    assert_str_is(item.env.new_text, "4096");
    assert_int_equal(next_is(client, TDS_ITEM_OTHER).token, TDS_TOKEN_FEATUREEXTACK);
    assert_int_equal(next_is(client, TDS_ITEM_DONE).done.status, 0);
    assert_false(client_next(client, &item));
    client_close(client);
}

static void assert_login_refused(World *world, const TdsLogin *login, int32_t first, int32_t second)
{
    Client *client;
    TdsItem item;

    client = client_open(world->port);
    assert_non_null(client);
    assert_true(client_prelogin(client));
    assert_true(client_login(client, login));
    assert_int_equal(next_is(client, TDS_ITEM_MESSAGE).message.text.number, first);
    if (second) assert_int_equal(next_is(client, TDS_ITEM_MESSAGE).message.text.number, second);
    item = next_is(client, TDS_ITEM_DONE);
    assert_int_equal(item.done.status, TDS_DONE_ERROR);
    assert_true(client_is_closed(client));
    client_close(client);
}

static void a_refused_login_says_why_and_is_hung_up_on(void **state)
{
    World   *world = *state;
    TdsLogin login = client_default_login();

    login.password = STR("wrong");
    assert_login_refused(world, &login, 18456, 0);
    login      = client_default_login();
    login.user = STR("nobody");
    assert_login_refused(world, &login, 18456, 0);
    login          = client_default_login();
    login.database = STR("nope");
    assert_login_refused(world, &login, 4060, 18456);
    login            = client_default_login();
    login.integrated = true;
    assert_login_refused(world, &login, 18452, 0);
    login                  = client_default_login();
    login.changes_password = true;
    assert_login_refused(world, &login, 18452, 0);
    assert_server_is_well(world);
}

static void every_version_and_packet_size_reads_the_same_rows(void **state)
{
    static const uint32_t versions[] = {TDS_VERSION_71, TDS_VERSION_72, TDS_VERSION_73A,
                                        TDS_VERSION_73B, TDS_VERSION_74};
    static const uint32_t sizes[]    = {0, 1, 512, 4096, 32767, 1000000};
    World                *world      = *state;

    for (size_t v = 0; v < COUNT_OF(versions); v++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            Client  *client;
            TdsLogin login = client_default_login();
            TdsItem  item;
            int64_t  sum = 0, nulls = 0;
            login.tds_version  = versions[v];
            login.packet_bytes = sizes[s];
            client             = client_open(world->port);
            assert_non_null(client);
            assert_true(client_prelogin(client));
            assert_true(client_login(client, &login));
            assert_true(client_find(client, TDS_ITEM_LOGIN_ACK, &item));
            assert_int_equal(item.login_ack.tds_version, versions[v]);
            assert_true(client_batch(client, "SELECT value, NULLIF(value % 3, 0), N'some text', "
                                             "CAST('2024-01-02' AS date) FROM GENERATE_SERIES(1, "
                                             "1000)"));
            while (client_find(client, TDS_ITEM_ROW, &item)) {
                sum += client->response.values[0].i64;
                nulls += client->response.values[1].is_null;
            }
            assert_int_equal(sum, 500500);
            assert_int_equal(nulls, 333);
            assert_false(client->response.cursor.failed);
            client_close(client);
        }
}

/* --- requests --- */

static void errors_carry_number_state_severity_and_line(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    TdsItem item;

    assert_true(client_batch(client, "SELECT 1\n\nRAISERROR('boo %d', 16, 7, 5)"));
    assert_true(client_find(client, TDS_ITEM_MESSAGE, &item));
    assert_true(item.message.is_error);
    assert_int_equal(item.message.text.number, 50000);
    assert_int_equal(item.message.text.severity, 16);
    assert_int_equal(item.message.text.state, 7);
    assert_int_equal(item.message.text.line, 3);
    assert_str_is(item.message.text.text, "boo 5");
    assert_str_is(item.message.text.server, "TIDESIM");
    assert_true(client_find(client, TDS_ITEM_DONE, &item));
    assert_true(item.done.status & TDS_DONE_ERROR);
    assert_true(client_batch(client, "SELECT * FROM nowhere"));
    assert_int_equal(client_error(client), 208);
    assert_int_equal(client_number(client, "SELECT 3"), 3);
    client_close(client);
}

static void put_text_parameter(Client *client, const char *name, const char *text)
{
    uint8_t     *utf16 = arena_alloc(client->arena, 8000);
    size_t       len   = 2 * utf8_to_utf16le(str_from_c(text), utf16);
    TdsParameter out   = {.name  = str_from_c(name),
                          .type  = {.token = TDS_TYPE_NVARCHAR, .length = 8000},
                          .value = {.bytes = {utf16, len}}};

    tds_put_parameter(client->writer, &out);
}

static void begin_executesql(Client *client, const char *sql, const char *definitions)
{
    tds_writer_begin(client->writer, TDS_PACKET_RPC, 0);
    tds_put_headers(client->writer, client->tds_version, client->transaction);
    tds_put_rpc(client->writer, 10, STR_EMPTY, 0);
    put_text_parameter(client, "", sql);
    put_text_parameter(client, "", definitions);
}

static bool run_rpc(Client *client)
{
    Err err = ERR_INIT;

    return tds_writer_end(client->writer, &err) && client_read(client);
}

static void sp_executesql_takes_parameters_and_gives_outputs_back(void **state)
{
    World       *world  = *state;
    Client      *client = connected(world);
    TdsParameter number = {
        .name = STR("@n"), .type = {.token = TDS_TYPE_INTN, .length = 4}, .value = {.i64 = 20}};
    TdsParameter sum = {.name      = STR("@sum"),
                        .is_output = true,
                        .type      = {.token = TDS_TYPE_INTN, .length = 8},
                        .value     = {.is_null = true}};
    TdsItem      item;

    begin_executesql(client, "SET @sum = @n + 1; SELECT @n * 2 AS twice, @t AS t",
                     "@n int, @sum bigint OUTPUT, @t nvarchar(20)");
    tds_put_parameter(client->writer, &number);
    tds_put_parameter(client->writer, &sum);
    put_text_parameter(client, "@t", "\xC3\xBC\xF0\x9F\x98\x80");
    assert_true(run_rpc(client));
    assert_true(client_find(client, TDS_ITEM_ROW, &item));
    assert_int_equal(client->response.values[0].i64, 40);
    assert_int_equal(client->response.values[1].bytes.len, 6);
    assert_true(client_find(client, TDS_ITEM_RETURN_STATUS, &item));
    assert_int_equal(item.return_status, 0);
    assert_true(client_find(client, TDS_ITEM_RETURN_VALUE, &item));
    assert_str_is(item.return_value.name, "@sum");
    assert_int_equal(item.return_value.ordinal, 3); /* among all that were sent */
    assert_int_equal(item.return_value.value.i64, 21);
    assert_true(client_find(client, TDS_ITEM_DONE, &item));
    assert_int_equal(item.token, TDS_TOKEN_DONEPROC);
    assert_false(item.done.status & TDS_DONE_MORE);
    client_close(client);
}

static void assert_value_refused(Client *client, TdsType type, TdsValue value)
{
    TdsParameter parameter = {.name = STR("@v"), .type = type, .value = value};

    begin_executesql(client, "SELECT 1", "@v sql_variant");
    tds_put_parameter(client->writer, &parameter);
    assert_true(run_rpc(client));
    assert_int_equal(client_error(client), 8023);
}

static void a_value_its_type_cannot_have_is_8023_and_the_connection_stays(void **state)
{
    World        *world   = *state;
    Client       *client  = connected(world);
    const TdsType date    = {.token = TDS_TYPE_DATEN};
    const TdsType time    = {.token = TDS_TYPE_TIMEN, .scale = 7};
    const TdsType dt      = {.token = TDS_TYPE_DATETIMEN, .length = 8};
    const TdsType small   = {.token = TDS_TYPE_DATETIMEN, .length = 4};
    const TdsType offset  = {.token = TDS_TYPE_DATETIMEOFFSETN, .scale = 7};
    const TdsType decimal = {.token = TDS_TYPE_NUMERICN, .length = 5, .precision = 2, .scale = 0};
    const TdsType number  = {.token = TDS_TYPE_FLTN, .length = 8};

    assert_value_refused(client, date, (TdsValue){.time = {.days = 3652059}});
    assert_value_refused(client, time, (TdsValue){.time = {.ticks = INT64_C(864000000000)}});
    assert_value_refused(client, dt, (TdsValue){.time = {.days = -53691}});
    assert_value_refused(client, dt, (TdsValue){.time = {.ticks = 25920000}});
    assert_value_refused(client, small, (TdsValue){.time = {.ticks = 1440}});
    assert_value_refused(client, offset, (TdsValue){.time = {.offset_minutes = 841}});
    assert_value_refused(client, decimal, (TdsValue){.dec = {.lower = 100}});
    assert_value_refused(client, number, (TdsValue){.f64 = (double)INFINITY});
    assert_value_refused(client, number, (TdsValue){.f64 = (double)NAN});
    assert_int_equal(client_number(client, "SELECT 7"), 7);
    client_close(client);
}

static bool send_transaction(Client *client, const char *bytes, size_t len)
{
    Err err = ERR_INIT;

    tds_writer_begin(client->writer, TDS_PACKET_TRANSACTION, 0);
    tds_put_headers(client->writer, client->tds_version, client->transaction);
    tds_put_bytes(client->writer, bytes, len);
    return tds_writer_end(client->writer, &err) && client_read(client);
}

static size_t long_length(Client *client, const char *sql)
{
    TdsItem item;

    assert_true(client_batch(client, sql));
    assert_true(client_find(client, TDS_ITEM_ROW, &item));
    return client->response.values[0].bytes.len;
}

static void long_values_are_as_long_as_the_client_wants(void **state)
{
    static const char *const text   = "SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), 10000)";
    World                   *world  = *state;
    Client                  *client = connected(world);

    assert_int_equal(long_length(client, text), 20000); /* a client of ODBC */
    assert_true(client_batch(client, "SET TEXTSIZE 101"));
    assert_int_equal(long_length(client, text), 100); /* whole characters */
    assert_int_equal(long_length(client, "SELECT REPLICATE(CAST('x' AS varchar(max)), 200)"), 101);
    assert_int_equal(long_length(client, "SELECT REPLICATE('x', 200)"), 200); /* not long at all */
    assert_true(client_batch(client, "SET TEXTSIZE -1"));
    assert_int_equal(long_length(client, text), 20000);
    client_close(client);
}

static void transaction_requests_begin_and_end_one(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    TdsItem item;

    assert_int_equal(client_number(client, "CREATE TABLE shop.dbo.t (a int); SELECT 1"), 1);
    assert_true(send_transaction(client, "\x05\0\x02\0", 4));
    assert_true(client_find(client, TDS_ITEM_DONE, &item));
    assert_true(client->transaction != 0);
    assert_int_equal(client_number(client, "INSERT shop.dbo.t VALUES (1); SELECT @@TRANCOUNT"), 1);
    assert_true(send_transaction(client, "\x08\0\0\0", 4));
    assert_true(client_find(client, TDS_ITEM_DONE, &item));
    assert_int_equal(client->transaction, 0);
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM shop.dbo.t"), 0);
    client->transaction = 12345; /* none of ours */
    assert_true(client_batch(client, "SELECT 1"));
    assert_int_equal(client_error(client), 3989);
    client->transaction = 0;
    assert_true(send_transaction(client, "\x01\0", 2)); /* distributed */
    assert_int_equal(client_error(client), 50001);
    assert_int_equal(client_number(client, "SELECT 5"), 5);
    client_close(client);
}

static void the_reset_bit_comes_first(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    TdsItem item;

    assert_int_equal(client_number(client, "USE shop; SELECT 1"), 1);
    assert_int_equal(client_number(client, "BEGIN TRAN; SELECT @@TRANCOUNT"), 1);
    while (client_next(client, &item))
        continue; /* up to the transaction's descriptor */
    client->transaction = 0;
    assert_true(client_send_batch(client, "SELECT @@TRANCOUNT, DB_NAME()", TDS_STATUS_RESET));
    assert_true(client_read(client));
    item = next_is(client, TDS_ITEM_ENV);
    assert_int_equal(item.env.kind, 18);
    assert_true(client_find(client, TDS_ITEM_ROW, &item));
    assert_int_equal(client->response.values[0].i64, 0);
    assert_memory_equal(client->response.values[1].bytes.ptr, "m\0a\0s\0t\0e\0r\0", 12);
    client_close(client);
}

static void bulk_rows_that_nobody_announced_end_the_connection(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    Err     err    = ERR_INIT;

    tds_writer_begin(client->writer, TDS_PACKET_BULK, 0);
    tds_put_u8(client->writer, TDS_TOKEN_COLMETADATA);
    assert_ok(tds_writer_end(client->writer, &err), &err);
    assert_true(client_read(client));
    assert_int_equal(client_error(client), 4002);
    assert_true(client_is_closed(client));
    client_close(client);
}

/* --- attentions --- */

static void an_attention_stops_a_wait_at_once(void **state)
{
    static const char *const slow[] = {
        "SELECT 1; WAITFOR DELAY '00:00:20'; SELECT 2",
        "SELECT COUNT(*) FROM GENERATE_SERIES(1, 99999) a, GENERATE_SERIES(1, 999999) b",
        "SELECT 1; WAITFOR DELAY '00:00:20'; SELECT 2"};
    World  *world  = *state;
    Client *client = connected(world);
    int64_t began_ms, took_ms;

    for (size_t turn = 0; turn < COUNT_OF(slow); turn++) {
        assert_true(client_send_batch(client, slow[turn], 0));
        clock_sleep_ms(world->clock, 50, NULL);
        began_ms = now_ms(world);
        assert_true(client_send_attention(client));
        assert_true(client_read(client));
        took_ms = now_ms(world) - began_ms;
        assert_int_equal(client_acknowledgements(client), 1);
        assert_true(took_ms < 5000); /* 100 on a machine that has nothing else to do */
        assert_true(client_is_quiet(client, 20));
        assert_int_equal(client_number(client, "SELECT 9"), 9);
    }
    client_close(client);
}

static void an_attention_is_answered_once_whenever_it_comes(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);

    assert_true(client_send_attention(client)); /* nothing runs */
    assert_true(client_read(client));
    assert_int_equal(client_attentions(client), 1);
    for (int turn = 0; turn < 200; turn++) { /* right behind the request: before, in or after it */
        int count;
        assert_true(client_send_batch(client, "SELECT 1", 0));
        for (int spin = 0; spin < turn * 50; spin++)
            (void)clock_monotonic_ns(world->clock);
        assert_true(client_send_attention(client));
        assert_true(client_read(client));
        count = client_attentions(client);
        if (count == 0) { /* the response was on its way: a message more */
            assert_true(client_read(client));
            count = client_attentions(client);
        }
        assert_int_equal(count, 1);
    }
    assert_true(client_is_quiet(client, 20));
    assert_int_equal(client_number(client, "SELECT 9"), 9);
    client_close(client);
}

static void an_attention_stops_a_result_nobody_reads(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    TdsItem item;
    int64_t rows = 0;

    assert_true(client_send_batch(client,
                                  "SELECT a.value, b.value FROM GENERATE_SERIES(1, 10000) "
                                  "a CROSS JOIN GENERATE_SERIES(1, 10000) b",
                                  0));
    clock_sleep_ms(world->clock, 100, NULL); /* the socket is full by now */
    assert_true(client_send_attention(client));
    assert_true(client_read(client));
    while (client_find(client, TDS_ITEM_ROW, &item))
        rows++;
    assert_true(rows > 0);
    assert_true(rows < 100000000);
    client->response = tds_response(client->message.body, client->tds_version, client->arena);
    assert_int_equal(client_acknowledgements(client), 1);
    assert_int_equal(client_number(client, "SELECT 9"), 9);
    client_close(client);
}

static void a_request_taken_back_while_it_was_sent_is_not_run(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);

    assert_int_equal(client_number(client, "CREATE TABLE shop.dbo.ignored (a int); SELECT 1"), 1);
    assert_true(client_send_batch(client, "INSERT shop.dbo.ignored VALUES (1)", TDS_STATUS_IGNORE));
    assert_true(client_read(client));
    assert_int_equal(client_attentions(client), 1);
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM shop.dbo.ignored"), 0);
    client_close(client);
}

/* --- nonsense and broken connections --- */

static void assert_hung_up_on(const World *world, Client *client, const char *bytes, size_t len)
{
    assert_int_equal(send(client->fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
    while (client_read(client))
        continue; /* an error may come first */
    client_close(client);
    assert_server_is_well(world);
}

static void strangers_are_hung_up_on(void **state)
{
    static const struct {
        const char *bytes;
        size_t      len;
    } greetings[] = {
        {"GET / HTTP/1.1\r\n\r\n", 18},
        {"\x16\x03\x01\x02\x00\x01\x00\x01", 8},     /* TLS */
        {"\x12\x01\x00\x07\x00\x00\x01\x00", 8},     /* a packet shorter than its header */
        {"\x12\x01\x00\x09\x00\x00\x01\x00\x00", 9}, /* a prelogin cut off */
        {"\x10\x01\x00\x0C\x00\x00\x01\x00\xFF\xFF\xFF\xFF", 12}, /* a login of four gigabytes */
        {"\x01\x01\x00\x0A\x00\x00\x01\x00x\x00", 10},            /* a batch before login */
        {"\x06\x01\x00\x08\x00\x00\x01\x00", 8},
        {"\x99\x99\x99\x99\x99\x99\x99\x99", 8},
    };
    World *world = *state;

    for (size_t i = 0; i < COUNT_OF(greetings); i++) {
        Client *client;
        client = client_open(world->port);
        assert_non_null(client);
        assert_hung_up_on(world, client, greetings[i].bytes, greetings[i].len);
    }
}

static void nonsense_after_login_ends_the_connection(void **state)
{
    static const struct {
        const char *bytes;
        size_t      len;
    } requests[] = {
        {"\x01\x01\x00\x09\x00\x00\x01\x00\xFF", 9},              /* no headers */
        {"\x03\x01\x00\x0C\x00\x00\x01\x00\xFF\xFF\xFF\xFF", 12}, /* endless headers */
        {"\x03\x01\x00\x11\x00\x00\x01\x00\x04\0\0\0\xFF\xFF\x0A\x00\x00", 17}, /* half a call */
        {"\x0E\x01\x00\x0D\x00\x00\x01\x00\x04\0\0\0\x05", 13},
        {"\x11\x01\x00\x08\x00\x00\x01\x00", 8}, /* SSPI */
        {"\x04\x01\x00\x08\x00\x00\x01\x00", 8}, /* a response */
        {"\x10\x01\x00\x08\x00\x00\x01\x00", 8}, /* a second login */
        {"\x01\x00\x00\x09\x00\x00\x01\x00x\x03\x01\x00\x08\x00\x00\x01\x00", 17},
    };
    World *world = *state;

    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        Client *client = connected(world);
        assert_hung_up_on(world, client, requests[i].bytes, requests[i].len);
    }
}

static void a_client_that_dies_takes_its_session_along(void **state)
{
    World  *world   = *state;
    Client *watcher = connected(world);

    for (int how = 0; how < 3; how++) {
        Client       *client = connected(world);
        struct linger abort  = {.l_onoff = 1, .l_linger = 0};
        assert_int_equal(others(watcher), 1);
        assert_true(client_send_batch(client,
                                      how == 0 ? "WAITFOR DELAY '00:01:00'"
                                               : "SELECT a.value FROM GENERATE_SERIES(1, 100000) a "
                                                 "CROSS JOIN GENERATE_SERIES(1, 100000) b",
                                      0));
        clock_sleep_ms(world->clock, 50, NULL);
        if (how == 2) (void)setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        client_close(client);
        assert_true(others_go_away(world, watcher));
    }
    client_close(watcher);
}

/* The session's request has arrived and runs; false when it does not within some seconds. */
static bool comes_to_run(const World *world, Client *watcher, int session)
{
    int64_t until = now_ms(world) + 5000;
    char    sql[100];

    (void)snprintf(sql, sizeof sql,
                   "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE session_id = %d", session);
    while (client_number(watcher, sql) == 0) {
        if (now_ms(world) > until) return false;
        clock_sleep_ms(world->clock, 10, NULL);
    }
    return true;
}

static void a_killed_session_loses_its_connection(void **state)
{
    World  *world  = *state;
    Client *killer = connected(world);
    char    sql[40];

    for (int is_running = 0; is_running < 2; is_running++) {
        Client *client  = connected(world);
        int     session = (int)client_number(client, "SELECT @@SPID");
        (void)snprintf(sql, sizeof sql, "KILL %d", session);
        if (is_running) {
            assert_true(client_send_batch(client, "WAITFOR DELAY '00:01:00'", 0));
            assert_true(comes_to_run(world, killer, session));
        }
        assert_true(client_batch(killer, sql));
        assert_int_equal(client_error(killer), 0);
        if (is_running) {
            assert_true(client_read(client));
            assert_int_equal(client_error(client), 596);
        }
        assert_true(client_is_closed(client));
        client_close(client);
        assert_true(others_go_away(world, killer));
    }
    client_close(killer);
}

/* --- many --- */

typedef struct Visitor {
    pthread_t thread;
    int       number;
    int       port;
    bool      ok;
} Visitor;

#define VISITORS 50
#define TURNS    10

static bool visit(Visitor *visitor, Client *client)
{
    char sql[200];

    for (int turn = 0; turn < TURNS; turn++) {
        int number = visitor->number * 1000 + turn;
        (void)snprintf(sql, sizeof sql, "INSERT shop.dbo.visits VALUES (%d); SELECT %d", number,
                       number);
        if (client_number(client, sql) != number) return false;
        if (turn % 3 == 2 && (!client_send_batch(client, "WAITFOR DELAY '00:00:20'", 0) ||
                              !client_send_attention(client) || !client_read(client) ||
                              client_acknowledgements(client) != 1))
            return false;
    }
    return true;
}

static void *run_visitor(void *arg)
{
    Visitor *visitor = arg;
    Client  *client  = client_connect(visitor->port);

    visitor->ok = client && visit(visitor, client);
    if (visitor->number % 5 == 0) /* some leave in the middle of something */
        visitor->ok = visitor->ok && client_send_batch(client, "WAITFOR DELAY '00:00:20'", 0);
    client_close(client);
    return NULL;
}

static void fifty_clients_at_once(void **state)
{
    World  *world   = *state;
    Client *watcher = connected(world);
    Visitor visitors[VISITORS];

    assert_int_equal(
        client_number(watcher, "CREATE TABLE shop.dbo.visits (a int PRIMARY KEY); SELECT 1"), 1);
    for (int i = 0; i < VISITORS; i++) {
        visitors[i] = (Visitor){.number = i, .port = world->port};
        assert_int_equal(pthread_create(&visitors[i].thread, NULL, run_visitor, &visitors[i]), 0);
    }
    for (int i = 0; i < VISITORS; i++) {
        (void)pthread_join(visitors[i].thread, NULL);
        assert_true(visitors[i].ok);
    }
    assert_int_equal(client_number(watcher, "SELECT COUNT(*) FROM shop.dbo.visits"),
                     VISITORS * TURNS);
    assert_true(others_go_away(world, watcher));
    client_close(watcher);
}

/* --- the listener --- */

static void closing_does_not_wait_for_what_runs(void **state)
{
    World  *world = *state;
    Client *busy = connected(world), *idle = connected(world);
    Client *stranger = client_open(world->port);
    int64_t began_ms;

    assert_non_null(stranger);
    assert_true(client_send_batch(busy, "WAITFOR DELAY '00:01:00'", 0));
    clock_sleep_ms(world->clock, 50, NULL);
    began_ms = now_ms(world);
    sim_listener_close(world->listener);
    world->listener = NULL;
    assert_true(now_ms(world) - began_ms < 10000);
    while (client_read(busy))
        continue;
    assert_true(client_is_closed(idle));
    assert_true(client_is_closed(stranger));
    client_close(busy);
    client_close(idle);
    client_close(stranger);
}

static void a_slow_link_is_slow(void **state)
{
    World  *world = *state;
    Client *client;
    int64_t began_ms;

    sim_control_link(world->server, STR("all"), &(SimLink){.rtt_ms = 60, .bytes_per_s = 1000000});
    client = client_connect(world->port);
    assert_non_null(client);
    began_ms = now_ms(world);
    assert_int_equal(client_number(client, "SELECT 1"), 1);
    assert_true(now_ms(world) - began_ms >= 60); /* the latency */
    began_ms = now_ms(world);
    assert_true(client_batch(client, "SELECT REPLICATE(CAST('x' AS varchar(max)), 300000)"));
    assert_true(now_ms(world) - began_ms >= 60 + 290); /* and what 300 kB take */
    client_close(client);
}

static void addresses_that_cannot_be_had_are_refused(void **state)
{
    static const char *const none[] = {"", "127.0.0.1", ":14330", "127.0.0.1:", "127.0.0.1:x"};
    World                   *world  = *state;
    SimListenOptions         options;
    SimListener             *listener;
    Err                      err = ERR_INIT;

    for (size_t i = 0; i < COUNT_OF(none); i++) {
        options = (SimListenOptions){.address = str_from_c(none[i])};
        assert_false(sim_listener_open(world->server, &options, &listener, &err));
        assert_null(listener);
        assert_int_equal(err.code, ERR_USAGE);
    }
    options = (SimListenOptions){.address = sim_listener_address(world->listener)};
    assert_false(sim_listener_open(world->server, &options, &listener, &err)); /* taken */
    assert_err(&err, ERR_FAILED, "cannot listen on 127.0.0.1:");
    assert_server_is_well(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
        SERVER_TEST(a_login_is_answered_in_the_order_of_sql_server),
        SERVER_TEST(a_refused_login_says_why_and_is_hung_up_on),
        SERVER_TEST(every_version_and_packet_size_reads_the_same_rows),
        SERVER_TEST(errors_carry_number_state_severity_and_line),
        SERVER_TEST(sp_executesql_takes_parameters_and_gives_outputs_back),
        SERVER_TEST(a_value_its_type_cannot_have_is_8023_and_the_connection_stays),
        SERVER_TEST(long_values_are_as_long_as_the_client_wants),
        SERVER_TEST(transaction_requests_begin_and_end_one),
        SERVER_TEST(the_reset_bit_comes_first),
        SERVER_TEST(bulk_rows_that_nobody_announced_end_the_connection),
        SERVER_TEST(an_attention_stops_a_wait_at_once),
        SERVER_TEST(an_attention_is_answered_once_whenever_it_comes),
        SERVER_TEST(an_attention_stops_a_result_nobody_reads),
        SERVER_TEST(a_request_taken_back_while_it_was_sent_is_not_run),
        SERVER_TEST(strangers_are_hung_up_on),
        SERVER_TEST(nonsense_after_login_ends_the_connection),
        SERVER_TEST(a_client_that_dies_takes_its_session_along),
        SERVER_TEST(a_killed_session_loses_its_connection),
        SERVER_TEST(fifty_clients_at_once),
        SERVER_TEST(closing_does_not_wait_for_what_runs),
        SERVER_TEST(a_slow_link_is_slow),
        SERVER_TEST(addresses_that_cannot_be_had_are_refused),
    };

    return RUN_TESTS(tests);
}
