/* Controls as a client on a socket meets them: where a response breaks off, and how; logins that fail; links; a restart;
 * and the same bytes again. */
#include "unit/sim/server_world.h"

#include <errno.h>

#define ROWS_SQL "SELECT value, N'some text' FROM GENERATE_SERIES(1, 100)"

/* --- helpers --- */

static void run(World *world, const char *sql)
{
    Client *client = connected(world);
    int32_t number;

    assert_true(client_batch(client, sql));
    number = client_error(client);
    if (number != 0) fail_msg("%s: error %d", sql, number);
    client_close(client);
}

typedef struct Raw {
    uint8_t bytes[64 << 10]; /* as they came */
    size_t  len;
    bool    was_reset; /* RST, not FIN */
} Raw;

/* Everything up to the end of the connection. */
static void read_to_the_end(Client *client, Raw *raw)
{
    for (raw->len = 0, raw->was_reset = false; raw->len < sizeof raw->bytes;) {
        ssize_t got = recv(client->fd, raw->bytes + raw->len, sizeof raw->bytes - raw->len, 0);
        if (got < 0) {
            assert_int_equal(errno, ECONNRESET);
            raw->was_reset = true;
        }
        if (got <= 0) return;
        raw->len += (size_t)got;
    }
    fail_msg("more came than there is");
}

/* The tokens in whole packets and in the piece of the last one. */
static TdsResponse tokens_of(const Raw *raw, Arena *arena)
{
    uint8_t *body = arena_alloc(arena, raw->len + 1);
    size_t   len  = 0;

    for (size_t at = 0; at + 8 <= raw->len;) {
        size_t packet = (size_t)raw->bytes[at + 2] << 8 | raw->bytes[at + 3];
        size_t there  = MIN(packet, raw->len - at);
        memcpy(body + len, raw->bytes + at + 8, there - 8);
        len += there - 8;
        at += there;
    }
    return tds_response((Bytes){body, len}, TDS_VERSION_74, arena);
}

/* Whole rows; `*is_cut` whether something broken comes behind them. */
static int count_rows(const Raw *raw, bool *is_cut)
{
    Arena      *arena    = arena_new();
    TdsResponse response = tokens_of(raw, arena);
    TdsItem     item;
    int         rows = 0;

    while (tds_next_item(&response, arena, &item) && item.kind != TDS_ITEM_END)
        rows += item.kind == TDS_ITEM_ROW;
    *is_cut = response.cursor.failed;
    arena_close(arena);
    return rows;
}

static bool sessions_are(const World *world, int64_t wanted)
{
    Client *watcher = connected(world);
    int64_t until   = now_ms(world) + 5000;
    bool    ok      = false;

    while (!(ok = others(watcher) == wanted) && now_ms(world) < until)
        clock_sleep_ms(world->clock, 5, NULL);
    client_close(watcher);
    return ok;
}

/* --- where it breaks off --- */

static void a_broken_connection_ends_before_the_statement_answers(void **state)
{
    World *world = *state;
    Raw    raw;

    for (int resets = 0; resets < 2; resets++) {
        Client *client = connected(world);
        run(world, resets ? "EXEC tidesim.fault 'rst', '%GENERATE_SERIES%'"
                          : "EXEC tidesim.fault 'close', '%GENERATE_SERIES%'");
        assert_true(client_send_batch(client, ROWS_SQL, 0));
        read_to_the_end(client, &raw);
        assert_int_equal(raw.len, 0);
        assert_int_equal(raw.was_reset, resets);
        client_close(client);
    }
    assert_server_is_well(world);
    assert_true(sessions_are(world, 0));
}

static void what_ran_before_is_sent_before_the_end(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    bool    is_cut;
    Raw     raw;

    run(world, "EXEC master.tidesim.fault 'close', 'SELECT 2%'");
    assert_true(client_send_batch(client, "SELECT 1; SELECT 2; SELECT 3", 0));
    read_to_the_end(client, &raw);
    assert_int_equal(count_rows(&raw, &is_cut), 1);
    assert_false(is_cut);
    client_close(client);
}

static void it_breaks_off_between_two_rows(void **state)
{
    World *world = *state;
    bool   is_cut;
    Raw    raw;

    for (int resets = 0; resets < 2; resets++) {
        Client *client = connected(world);
        run(world, resets ? "EXEC tidesim.fault 'rst', '%SERIES%', @at = 'row', @n = 7"
                          : "EXEC tidesim.fault 'close', '%SERIES%', @at = 'row', @n = 7");
        assert_true(client_send_batch(client, ROWS_SQL, 0));
        read_to_the_end(client, &raw);
        assert_int_equal(count_rows(&raw, &is_cut), 7);
        assert_false(is_cut);
        assert_int_equal(raw.was_reset, resets);
        client_close(client);
    }
}

static void it_breaks_off_inside_a_row(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    bool    is_cut;
    Raw     raw;

    run(world, "EXEC tidesim.fault 'close', '%SERIES%', @at = 'inside_row', @n = 7");
    assert_true(client_send_batch(client, ROWS_SQL, 0));
    read_to_the_end(client, &raw);
    assert_int_equal(count_rows(&raw, &is_cut), 6);
    assert_true(is_cut);
    client_close(client);
}

static void it_breaks_off_at_every_byte(void **state)
{
    static const int places[] = {1, 7, 8, 9, 100, 511, 512, 513, 900};
    World           *world    = *state;
    char             sql[200];
    Raw              raw;

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        Client  *client = client_open(world->port);
        TdsLogin login  = client_default_login();
        assert_non_null(client);
        login.packet_bytes = 512;
        (void)snprintf(sql, sizeof sql,
                       "EXEC tidesim.fault '%s', '%%SERIES%%', @at = 'byte', @n = %d",
                       i % 2 ? "close" : "rst", places[i]);
        run(world, sql);
        assert_true(client_prelogin(client));
        assert_true(client_login(client, &login));
        assert_true(client_send_batch(client, ROWS_SQL, 0));
        read_to_the_end(client, &raw);
        assert_int_equal(raw.len, places[i]);
        client_close(client);
    }
}

static void it_breaks_off_between_two_packets(void **state)
{
    World   *world  = *state;
    Client  *client = client_open(world->port);
    TdsLogin login  = client_default_login();
    Raw      raw;

    assert_non_null(client);
    login.packet_bytes = 512;
    run(world, "EXEC tidesim.fault 'close', '%SERIES%', @at = 'packet', @n = 3");
    assert_true(client_prelogin(client));
    assert_true(client_login(client, &login));
    assert_true(client_send_batch(client, ROWS_SQL, 0));
    read_to_the_end(client, &raw);
    assert_int_equal(raw.len, 3 * 512);
    client_close(client);
}

static void a_half_closed_connection_never_answers(void **state)
{
    static const char *const places[] = {"", ", @at = 'row', @n = 2",
                                         ", @at = 'inside_row', @n = 2", ", @at = 'byte', @n = 20"};
    World                   *world    = *state;
    uint8_t                  bytes[64 << 10];
    char                     sql[200];

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        Client *client = connected(world);
        (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault 'half_close', '%%SERIES%%'%s",
                       places[i]);
        run(world, sql);
        assert_true(client_send_batch(client, ROWS_SQL, 0));
        clock_sleep_ms(world->clock, 30, NULL);
        (void)recv(client->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        assert_true(client_send_attention(client)); /* nobody hears it */
        assert_true(client_is_quiet(client, 150));
        assert_true(sessions_are(world, 1)); /* the server still has it */
        client_close(client);
        assert_true(sessions_are(world, 0));
    }
}

static void a_half_closed_connection_can_be_killed(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    char    sql[100];

    (void)snprintf(sql, sizeof sql, "KILL %d", (int)client_number(client, "SELECT @@SPID"));
    run(world, "EXEC tidesim.fault 'half_close', '%SERIES%'");
    assert_true(client_send_batch(client, ROWS_SQL, 0));
    clock_sleep_ms(world->clock, 30, NULL);
    run(world, sql);
    assert_true(client_is_closed(client));
    client_close(client);
    assert_true(sessions_are(world, 0));
}

/* --- errors --- */

static void an_error_comes_after_rows_and_the_connection_stays(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    TdsItem item;
    int     rows = 0;

    run(world, "EXEC tidesim.fault 'error', '%SERIES%', 3958, 16, 2, N'gone', @at = 'row', @n = 5");
    assert_true(client_batch(client, ROWS_SQL));
    while (client_next(client, &item) && item.kind != TDS_ITEM_MESSAGE)
        rows += item.kind == TDS_ITEM_ROW;
    assert_int_equal(rows, 5);
    assert_int_equal(item.message.text.number, 3958);
    assert_int_equal(item.message.text.state, 2);
    assert_str_is(item.message.text.text, "gone");
    assert_true(client_find(client, TDS_ITEM_DONE, &item));
    assert_true(item.done.status & TDS_DONE_ERROR);
    assert_int_equal(client_number(client, "SELECT 3"), 3);
    client_close(client);
}

static void a_deadlock_after_rows_rolls_back(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);

    run(world, "CREATE TABLE shop.dbo.t (a int PRIMARY KEY)");
    run(world, "EXEC tidesim.fault 'deadlock', '%SERIES%', @at = 'row', @n = 5");
    assert_true(client_batch(client, "BEGIN TRAN; INSERT shop.dbo.t VALUES (1); " ROWS_SQL));
    assert_int_equal(client_error(client), 1205);
    assert_int_equal(client_number(client, "SELECT @@TRANCOUNT"), 0);
    assert_int_equal(client_number(client, "SELECT COUNT(*) FROM shop.dbo.t"), 0);
    client_close(client);
}

static void a_killed_session_hears_of_it_after_its_rows(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    TdsItem item;
    int     rows = 0;

    run(world, "EXEC tidesim.fault 'kill', '%SERIES%', @at = 'row', @n = 5");
    assert_true(client_batch(client, ROWS_SQL));
    while (client_next(client, &item) && item.kind != TDS_ITEM_MESSAGE)
        rows += item.kind == TDS_ITEM_ROW;
    assert_int_equal(rows, 5);
    assert_int_equal(item.message.text.number, 596);
    assert_true(client_next(client, &item));
    assert_int_equal(item.kind, TDS_ITEM_DONE);
    assert_true(item.done.status & TDS_DONE_ERROR);
    assert_true(client_is_closed(client));
    client_close(client);
}

/* --- waiting --- */

static void a_stall_ends_with_an_attention_unless_it_is_deaf(void **state)
{
    World *world = *state;

    for (int is_deaf = 0; is_deaf < 2; is_deaf++) {
        Client *client = connected(world);
        int64_t began_ms;
        run(world, is_deaf ? "EXEC tidesim.fault 'stall', 'SELECT 1%', @ms = 400, @deaf = 1"
                           : "EXEC tidesim.fault 'stall', 'SELECT 1%', @ms = 60000");
        began_ms = now_ms(world);
        assert_true(client_send_batch(client, "SELECT 1", 0));
        assert_true(client_is_quiet(client, 60));
        assert_true(client_send_attention(client));
        assert_true(client_read(client));
        assert_int_equal(client_acknowledgements(client), 1);
        if (is_deaf)
            assert_true(now_ms(world) - began_ms >= 400);
        else
            assert_true(now_ms(world) - began_ms < 5000);
        assert_int_equal(client_number(client, "SELECT 2"), 2);
        client_close(client);
    }
}

static void a_stall_shows_what_came_before_it(void **state)
{
    static const char *const places[] = {"@at = 'row', @n = 3", "@at = 'inside_row', @n = 3",
                                         "@at = 'byte', @n = 60"};
    World                   *world    = *state;
    char                     sql[200];
    uint8_t                  byte;

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        Client *client = connected(world);
        (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault 'stall', '%%SERIES%%', @ms = 300, %s",
                       places[i]);
        run(world, sql);
        assert_true(client_send_batch(client, ROWS_SQL, 0));
        assert_int_equal(recv(client->fd, &byte, 1, MSG_PEEK), 1); /* some of it is there */
        assert_true(client_read(client));                          /* and the rest comes */
        TdsItem item;
        int     rows = 0;
        while (client_find(client, TDS_ITEM_ROW, &item))
            rows++;
        assert_int_equal(rows, 100);
        assert_false(client->response.cursor.failed);
        client_close(client);
    }
}

static void a_stall_follows_the_virtual_clock(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);

    run(world, "EXEC tidesim.clock 'virtual'");
    run(world, "EXEC tidesim.fault 'stall', 'SELECT 1%', @ms = 5000");
    assert_true(client_send_batch(client, "SELECT 1", 0));
    assert_true(client_is_quiet(client, 60));
    run(world, "EXEC tidesim.clock_advance 4000");
    assert_true(client_is_quiet(client, 60));
    run(world, "EXEC tidesim.clock_advance 1000");
    assert_true(client_read(client));
    client_close(client);
}

static void rows_come_slowly(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    int64_t began_ms;
    uint8_t bytes[4096];

    run(world, "EXEC tidesim.fault 'slow_rows', '%SERIES%', @rate = 500");
    began_ms = now_ms(world);
    assert_true(client_send_batch(client, ROWS_SQL, 0));
    assert_true(recv(client->fd, bytes, sizeof bytes, MSG_PEEK) > 0);
    assert_true(now_ms(world) - began_ms < 150); /* the first ones are not held back */
    assert_true(client_read(client));
    assert_true(now_ms(world) - began_ms >= 190);
    client_close(client);
}

/* --- logins --- */

static int32_t login_number(const World *world, const char *database)
{
    Client  *client = client_open(world->port);
    TdsLogin login  = client_default_login();
    int32_t  number = -1; /* no answer */

    assert_non_null(client);
    login.database = str_from_c(database);
    if (client_prelogin(client) && client_login(client, &login)) number = client_error(client);
    client_close(client);
    return number;
}

static void logins_fail_as_they_are_told(void **state)
{
    static const int numbers[] = {18456, 4060, 18401, 40613, 17142, 6005, 40197, 10928};
    World           *world     = *state;
    char             sql[100];

    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault 'login_error', @number = %d",
                       numbers[i]);
        run(world, sql);
        assert_int_equal(login_number(world, "shop"), numbers[i]);
        assert_int_equal(login_number(world, "shop"), 0);
    }
    run(world, "EXEC tidesim.fault 'login_error', @number = 40613, @db = 'shop', @times = 2");
    assert_int_equal(login_number(world, "master"), 0);
    assert_int_equal(login_number(world, "shop"), 40613);
    assert_int_equal(login_number(world, "shop"), 40613);
    assert_int_equal(login_number(world, "shop"), 0);
}

static void a_login_breaks_off_before_its_answer(void **state)
{
    static const char *const actions[] = {"close", "rst", "half_close"};
    World                   *world     = *state;
    char                     sql[100];
    Raw                      raw;

    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        Client  *client = client_open(world->port);
        TdsLogin login  = client_default_login();
        Err      err    = ERR_INIT;
        (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault '%s', @at = 'login'", actions[i]);
        run(world, sql);
        assert_non_null(client);
        assert_true(client_prelogin(client));
        tds_writer_begin(client->writer, TDS_PACKET_LOGIN7, 0);
        tds_put_login(client->writer, &login);
        assert_true(tds_writer_end(client->writer, &err));
        if (i == 2) {
            assert_true(client_is_quiet(client, 150));
        } else {
            read_to_the_end(client, &raw);
            assert_int_equal(raw.len, 0);
            assert_int_equal(raw.was_reset, i == 1);
        }
        client_close(client);
    }
    assert_server_is_well(world);
}

static void a_login_stalls(void **state)
{
    World  *world = *state;
    int64_t began_ms;

    run(world, "EXEC tidesim.fault 'stall', @at = 'login', @ms = 120");
    began_ms = now_ms(world);
    assert_int_equal(login_number(world, "shop"), 0);
    assert_true(now_ms(world) - began_ms >= 120);
}

/* --- who and how often --- */

static void a_fault_knows_whom_it_is_for(void **state)
{
    World  *world = *state;
    Client *one = connected(world), *two = connected(world);
    char    sql[200];

    (void)snprintf(sql, sizeof sql, "EXEC tidesim.fault 'error', 'SELECT 9', 3958, @spid = %d",
                   (int)client_number(two, "SELECT @@SPID"));
    run(world, sql);
    assert_int_equal(client_number(one, "SELECT 9"), 9);
    assert_true(client_batch(two, "SELECT 9"));
    assert_int_equal(client_error(two), 3958);
    run(world, "EXEC tidesim.fault 'error', 'SELECT 9', 3958, @app = 'other'");
    assert_int_equal(client_number(two, "SELECT 9"), 9);
    run(world, "EXEC tidesim.fault 'none'");
    run(world, "EXEC tidesim.fault 'error', 'SELECT 9', 3958, @nth = 3, @times = 2");
    int failed = 0;
    for (int i = 1; i <= 6; i++) {
        assert_true(client_batch(one, "SELECT 9"));
        failed = failed * 2 + (client_error(one) == 3958);
    }
    assert_int_equal(failed, 12); /* 001100 */
    run(world, "EXEC tidesim.fault 'error', 'SELECT 9', 3958, @times = -1, @probability = 0.5");
    failed = 0;
    for (int i = 0; i < 100; i++) {
        assert_true(client_batch(one, "SELECT 9"));
        failed += client_error(one) == 3958;
    }
    assert_true(failed > 25);
    assert_true(failed < 75);
    client_close(one);
    client_close(two);
}

static void a_procedure_called_as_such_can_fail(void **state)
{
    World  *world  = *state;
    Client *client = connected(world);
    Err     err    = ERR_INIT;

    run(world, "EXEC tidesim.fault 'error', 'sp_server_info', 3958");
    tds_writer_begin(client->writer, TDS_PACKET_RPC, 0);
    tds_put_headers(client->writer, client->tds_version, client->transaction);
    tds_put_rpc(client->writer, 0, STR("sp_server_info"), 0);
    assert_true(tds_writer_end(client->writer, &err) && client_read(client));
    assert_int_equal(client_error(client), 3958);
    client_close(client);
}

/* --- commits --- */

static void a_commit_is_lost_before_or_after_it_took_effect(void **state)
{
    World  *world   = *state;
    Client *watcher = connected(world);
    Raw     raw;

    run(world, "CREATE TABLE shop.dbo.t (a int PRIMARY KEY)");
    for (int landed = 0; landed < 2; landed++)
        for (int is_explicit = 0; is_explicit < 2; is_explicit++) {
            Client *client = connected(world);
            run(world, "DELETE shop.dbo.t");
            run(world, landed ? "EXEC tidesim.fault 'close', @at = 'committed'"
                              : "EXEC tidesim.fault 'close', @at = 'commit'");
            assert_true(client_send_batch(client,
                                          is_explicit ? "BEGIN TRAN; INSERT shop.dbo.t VALUES (1); "
                                                        "SELECT 7; COMMIT"
                                                      : "INSERT shop.dbo.t VALUES (1)",
                                          0));
            read_to_the_end(client, &raw);
            client_close(client);
            assert_true(others_go_away(world, watcher));
            assert_int_equal(client_number(watcher, "SELECT COUNT(*) FROM shop.dbo.t"), landed);
        }
    run(world, "DELETE shop.dbo.t");
    run(world, "EXEC tidesim.fault 'error', @at = 'commit', @number = 3958");
    assert_true(client_batch(watcher, "BEGIN TRAN; INSERT shop.dbo.t VALUES (1); COMMIT"));
    assert_int_equal(client_error(watcher), 3958);
    assert_int_equal(client_number(watcher, "SELECT COUNT(*) + @@TRANCOUNT FROM shop.dbo.t"), 0);
    client_close(watcher);
}

/* --- links --- */

static int64_t round_trip_ms(const World *world, Client *client)
{
    int64_t began_ms = now_ms(world);

    assert_int_equal(client_number(client, "SELECT 1"), 1);
    return now_ms(world) - began_ms;
}

static Client *connected_as(const World *world, const char *app)
{
    Client  *client = client_open(world->port);
    TdsLogin login  = client_default_login();

    assert_non_null(client);
    login.app = str_from_c(app);
    assert_true(client_prelogin(client));
    assert_true(client_login(client, &login));
    return client;
}

static void a_link_is_for_a_program_a_login_or_everybody(void **state)
{
    World  *world   = *state;
    Client *far_off = connected_as(world, "far"), *near_by = connected_as(world, "near");
    Client *admin = connected(world);

    assert_true(client_batch(admin, "EXEC tidesim.link 'far', 80, 0, 20"));
    assert_true(round_trip_ms(world, far_off) >= 80); /* one that is open already */
    assert_true(round_trip_ms(world, near_by) < 60);
    assert_true(client_batch(admin, "EXEC tidesim.link 'all', 40"));
    assert_true(round_trip_ms(world, near_by) >= 40);
    assert_true(round_trip_ms(world, far_off) >= 80);
    assert_true(client_batch(admin, "EXEC tidesim.link 'sa', 0"));
    assert_true(round_trip_ms(world, far_off) < 60); /* the login comes before the program */
    assert_true(client_batch(admin, "EXEC tidesim.link 'sa', @bytes_per_s = 1000000"));
    int64_t began_ms = now_ms(world);
    assert_true(client_batch(near_by, "SELECT REPLICATE(CAST('x' AS varchar(max)), 300000)"));
    assert_true(now_ms(world) - began_ms >= 250);
    client_close(far_off);
    client_close(near_by);
    client_close(admin);
}

/* --- a restart --- */

static void a_restart_drops_everybody_and_keeps_the_data(void **state)
{
    World  *world = *state;
    Client *idle = connected(world), *busy = connected(world), *admin = connected(world);

    run(world, "CREATE TABLE shop.dbo.t (a int PRIMARY KEY); INSERT shop.dbo.t VALUES (1)");
    assert_true(client_batch(busy, "BEGIN TRAN; INSERT shop.dbo.t VALUES (2)"));
    assert_true(client_send_batch(busy, "WAITFOR DELAY '00:01:00'", 0));
    clock_sleep_ms(world->clock, 30, NULL);
    int64_t began_ms = now_ms(world);
    assert_true(client_batch(admin, "EXEC tidesim.restart 300"));
    assert_int_equal(client_error(admin), 0);
    assert_true(client_is_closed(admin));
    assert_true(client_is_closed(idle));
    while (client_read(busy))
        continue;
    assert_int_equal(login_number(world, "shop"), 18401);
    while (login_number(world, "shop") != 0)
        clock_sleep_ms(world->clock, 10, NULL);
    assert_true(now_ms(world) - began_ms >= 290);
    client_close(idle);
    client_close(busy);
    client_close(admin);
    admin = connected(world);
    assert_int_equal(client_number(admin, "SELECT SUM(a) FROM shop.dbo.t"), 1);
    client_close(admin);
}

static void a_restart_may_leave_silence(void **state)
{
    World  *world = *state;
    Client *stranger;
    Err     err = ERR_INIT;

    run(world, "EXEC tidesim.restart 400, 'none'");
    stranger = client_open(world->port);
    assert_non_null(stranger);
    tds_writer_begin(stranger->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(stranger->writer, 0, 1, 0, TDS_ENCRYPT_NOT_SUP, false);
    assert_true(tds_writer_end(stranger->writer, &err));
    assert_true(client_is_quiet(stranger, 500)); /* nor later */
    assert_server_is_well(world);
    client_close(stranger);
}

/* --- statistics --- */

static int64_t stat_of(Client *client, int spid, int row, int column)
{
    char    sql[100];
    TdsItem item;

    (void)snprintf(sql, sizeof sql, "EXEC tidesim.stats %d", spid);
    assert_true(client_batch(client, sql));
    for (int i = 0; i <= row; i++)
        assert_true(client_find(client, TDS_ITEM_ROW, &item));
    return client->response.values[column].i64;
}

static void bytes_count_for_the_statement_that_sent_them(void **state)
{
    enum { ROWS_RETURNED = 2, BYTES = 6, BLOCKED = 7 };
    World  *world  = *state;
    Client *client = connected(world), *watcher = connected(world);
    int     spid = (int)client_number(client, "SELECT @@SPID");
    size_t  answer;

    assert_true(client_batch(client, ROWS_SQL));
    answer = client->message.body.len + 8;
    assert_int_equal(stat_of(watcher, spid, 0, BYTES), answer);
    assert_int_equal(stat_of(watcher, spid, 0, ROWS_RETURNED), 100);
    assert_int_equal(stat_of(client, spid, 0, BYTES), answer); /* asking does not count */
    assert_int_equal(stat_of(client, spid, 0, BYTES), answer);
    assert_true(stat_of(watcher, spid, 1, BYTES) > (int64_t)answer);
    /* A session that waits for its client shows it while it does. */
    assert_true(
        client_send_batch(client, "SELECT REPLICATE(CAST('x' AS varchar(max)), 30000000)", 0));
    int64_t until = now_ms(world) + 30000, bytes = 0;
    while (bytes < 65536 && now_ms(world) < until)
        bytes = stat_of(watcher, spid, 0, BYTES);
    assert_true(bytes >= 65536);
    clock_sleep_ms(world->clock, 100, NULL);
    assert_true(client_read(client));
    assert_true(stat_of(watcher, spid, 0, BLOCKED) >= 50000000);
    client_close(client);
    client_close(watcher);
}

/* --- a client that comes back --- */

static Client *connected_to_recover(const World *world, const char *database, bool *is_acked)
{
    Client  *client = client_open(world->port);
    TdsLogin login  = client_default_login();
    size_t   at;

    assert_non_null(client);
    login.asks_recovery      = true;
    login.recovered_database = str_from_c(database);
    assert_true(client_prelogin(client));
    assert_true(client_login(client, &login));
    *is_acked = false;
    for (at = 0; at + 8 < client->message.body.len; at++) /* the feature, two bytes long */
        *is_acked |= memcmp(client->message.body.ptr + at, "\xAE\x01\x02\0\0\0\0\0", 8) == 0;
    return client;
}

/* What the answer says of the session: 1, 0, or nothing: -1. */
static int state_of(Client *client, const char *sql)
{
    TdsItem item;

    assert_true(client_batch(client, sql));
    while (client_next(client, &item))
        if (item.kind == TDS_ITEM_OTHER && item.token == TDS_TOKEN_SESSIONSTATE)
            return client->message.body.ptr[client->response.cursor.at - 3];
    return -1;
}

static void a_client_may_come_back_when_the_knob_says_so(void **state)
{
    World  *world = *state;
    bool    is_acked;
    Client *client = connected_to_recover(world, "", &is_acked);

    assert_false(is_acked);
    assert_int_equal(state_of(client, "SET NOCOUNT ON"), -1);
    client_close(client);
    run(world, "EXEC tidesim.knob 'session_recovery', 'on'");
    client = connected_to_recover(world, "", &is_acked);
    assert_true(is_acked);
    assert_int_equal(state_of(client, "SELECT 1"), -1);
    assert_int_equal(state_of(client, "SET NOCOUNT ON"), 0);
    assert_int_equal(state_of(client, "SELECT 1"), -1);
    assert_int_equal(state_of(client, "SET NOCOUNT OFF"), 1);
    assert_int_equal(state_of(client, "CREATE TABLE #t (a int)"), 0);
    assert_int_equal(state_of(client, "DROP TABLE #t"), 1);
    assert_int_equal(state_of(client, "BEGIN TRAN"), 0);
    assert_int_equal(state_of(client, "COMMIT; USE shop"), 1);
    client_close(client);
    client = connected_to_recover(world, "shop", &is_acked); /* where it was */
    assert_true(is_acked);
    assert_int_equal(client_number(client, "SELECT DB_ID()"),
                     client_number(client, "SELECT DB_ID('shop')"));
    client_close(client);
}

/* --- the same bytes again --- */

static const char *const script[] = {
    "0EXEC tidesim.clock 'virtual', '2026-03-01T12:00:00'",
    "0CREATE DATABASE d",
    ("0USE d; CREATE TABLE t (a int PRIMARY KEY, v rowversion, g uniqueidentifier DEFAULT "
     "NEWID()); "
     "EXEC sys.sp_cdc_enable_db; EXEC sys.sp_cdc_enable_table 'dbo', 't', NULL"),
    "1USE d; BEGIN TRAN; INSERT t (a) VALUES (1), (2), (3)",
    "2SET LOCK_TIMEOUT 0; SELECT * FROM d.dbo.t",
    "1UPDATE t SET a = a + 10 WHERE a > 1; COMMIT",
    "0EXEC tidesim.clock_advance 1500",
    "2DELETE d.dbo.t WHERE a = 12",
    "0EXEC tidesim.scan_now",
    "2SELECT * FROM d.cdc.dbo_t_CT ORDER BY __$start_lsn, __$seqval, __$operation",
    "2SELECT *, NEWID(), SYSDATETIME() FROM d.cdc.lsn_time_mapping",
    "2SELECT object_id, name, create_date FROM d.sys.tables ORDER BY name; SELECT * FROM d.dbo.t",
    "1SELECT 1/0; SELECT * FROM nowhere",
};

/* What all sessions were answered, with the ids of their sessions blanked. */
static Bytes play(World *world, Arena *arena)
{
    Client *clients[3];
    Buf     all = buf_new(arena, 0);

    for (size_t i = 0; i < COUNT_OF(clients); i++)
        clients[i] = connected(world);
    for (size_t i = 0; i < COUNT_OF(script); i++) {
        Client *client = clients[script[i][0] - '0'];
        uint8_t packet[8];
        assert_true(client_send_batch(client, script[i] + 1, 0));
        do { /* as it comes: nothing between the packets is lost */
            assert_int_equal(recv(client->fd, packet, sizeof packet, MSG_WAITALL), 8);
            size_t len = ((size_t)packet[2] << 8 | packet[3]) - 8;
            packet[4] = packet[5] = 0;
            buf_append(&all, (Str){(const char *)packet, 8});
            char *body = buf_reserve(&all, len);
            assert_int_equal(recv(client->fd, body, len, MSG_WAITALL), len);
            buf_advance(&all, len);
        } while (!(packet[1] & TDS_STATUS_END));
    }
    for (size_t i = 0; i < COUNT_OF(clients); i++)
        client_close(clients[i]);
    return str_bytes(buf_str(&all));
}

static void the_same_seed_and_requests_give_the_same_bytes(void **state)
{
    void  *other_state;
    Arena *arena = arena_new();

    assert_int_equal(open_world(&other_state), 0);
    Bytes one = play(*state, arena), two = play(other_state, arena);
    assert_true(one.len > 2000);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.ptr, two.ptr, one.len);
    run(other_state, "EXEC tidesim.seed 8");
    Bytes three = play(other_state, arena); /* the database is there: an error, and another seed */
    assert_false(three.len == one.len && memcmp(one.ptr, three.ptr, one.len) == 0);
    assert_int_equal(close_world(&other_state), 0);
    arena_close(arena);
}

static void a_reset_server_gives_the_same_bytes_again(void **state)
{
    World  *world = *state;
    Arena  *arena = arena_new();
    Client *other;

    run(world, "EXEC tidesim.reset");
    Bytes one = play(world, arena);
    other     = connected(world);
    run(world,
        "EXEC tidesim.knob 'command_id_per', 'statement'; CREATE LOGIN x WITH PASSWORD = 'p'");
    run(world, "EXEC tidesim.fault 'error', @times = -1; EXEC tidesim.reset");
    assert_true(client_is_closed(other)); /* others go */
    client_close(other);
    Bytes two = play(world, arena);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.ptr, two.ptr, one.len);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
        SERVER_TEST(a_broken_connection_ends_before_the_statement_answers),
        SERVER_TEST(what_ran_before_is_sent_before_the_end),
        SERVER_TEST(it_breaks_off_between_two_rows),
        SERVER_TEST(it_breaks_off_inside_a_row),
        SERVER_TEST(it_breaks_off_at_every_byte),
        SERVER_TEST(it_breaks_off_between_two_packets),
        SERVER_TEST(a_half_closed_connection_never_answers),
        SERVER_TEST(a_half_closed_connection_can_be_killed),
        SERVER_TEST(an_error_comes_after_rows_and_the_connection_stays),
        SERVER_TEST(a_deadlock_after_rows_rolls_back),
        SERVER_TEST(a_killed_session_hears_of_it_after_its_rows),
        SERVER_TEST(a_stall_ends_with_an_attention_unless_it_is_deaf),
        SERVER_TEST(a_stall_shows_what_came_before_it),
        SERVER_TEST(a_stall_follows_the_virtual_clock),
        SERVER_TEST(rows_come_slowly),
        SERVER_TEST(logins_fail_as_they_are_told),
        SERVER_TEST(a_login_breaks_off_before_its_answer),
        SERVER_TEST(a_login_stalls),
        SERVER_TEST(a_fault_knows_whom_it_is_for),
        SERVER_TEST(a_procedure_called_as_such_can_fail),
        SERVER_TEST(a_commit_is_lost_before_or_after_it_took_effect),
        SERVER_TEST(a_link_is_for_a_program_a_login_or_everybody),
        SERVER_TEST(a_restart_drops_everybody_and_keeps_the_data),
        SERVER_TEST(a_restart_may_leave_silence),
        SERVER_TEST(bytes_count_for_the_statement_that_sent_them),
        SERVER_TEST(a_client_may_come_back_when_the_knob_says_so),
        SERVER_TEST(the_same_seed_and_requests_give_the_same_bytes),
        SERVER_TEST(a_reset_server_gives_the_same_bytes_again),
    };

    return RUN_TESTS(tests);
}
