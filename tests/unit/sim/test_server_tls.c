/* Encryption as a raw client sees it: who gets which, the handshake inside TDS however it is cut, what comes in the middle of it, attentions
 * that arrive encrypted, TLS around TDS 8, certificates. */
#include "unit/sim/tls_client.h"

#include "sim/server/server_internal.h"

#include <pthread.h>

#define TLS_RECORD_DATA 0x17 /* the first byte of what is encrypted */

typedef struct World {
    Clock       *clock;
    Sched       *sched;
    Rng         *rng;
    SimServer   *server;
    SimTls      *tls;
    SimListener *optional, *required, *none; /* as to encryption */
    int          port;                       /* of the first */
} World;

static SimListener *open_listener(World *world, bool has_tls, bool is_required)
{
    SimListenOptions options  = {.address             = STR("127.0.0.1:0"),
                                 .tls                 = has_tls ? world->tls : NULL,
                                 .requires_encryption = is_required};
    SimListener     *listener = NULL;
    Err              err      = ERR_INIT;

    assert_ok(sim_listener_open(world->server, &options, &listener, &err), &err);
    return listener;
}

static int port_of(const SimListener *listener)
{
    Str     address = sim_listener_address(listener);
    int64_t port    = 0;

    assert_true(str_parse_i64(str_slice(address, 10, address.len), &port));
    return (int)port;
}

static int open_world(void **state)
{
    World     *world   = mem_alloc(sizeof *world);
    SimOptions options = {
        .capture_interval_ms = -1, .login = STR("sa"), .password = STR("Tide.Sim.1")};
    SimError error = SIM_ERROR_INIT;
    Err      err   = ERR_INIT;

    options.clock = world->clock = clock_new_real();
    options.sched = world->sched = sched_new_real();
    options.rng = world->rng = rng_new(7);
    if (!sim_server_open(&options, &world->server, &error)) fail_msg("%s", error.message);
    assert_ok(sim_tls_open_self_signed(&world->tls, &err), &err);
    world->optional = open_listener(world, true, false);
    world->required = open_listener(world, true, true);
    world->none     = open_listener(world, false, false);
    world->port     = port_of(world->optional);
    *state          = world;
    return 0;
}

static int close_world(void **state)
{
    World *world = *state;

    test_print_open_seed();
    sim_listener_close(world->optional);
    sim_listener_close(world->required);
    sim_listener_close(world->none);
    sim_tls_close(world->tls);
    sim_server_close(world->server);
    rng_close(world->rng);
    sched_close(world->sched);
    clock_close(world->clock);
    mem_free(world);
    return 0;
}

static int64_t now_ms(const World *world)
{
    return clock_monotonic_ns(world->clock) / 1000000;
}

static TlsClient *opened(const World *world)
{
    return tls_client_open(world->port, TLS1_2_VERSION, TLS1_3_VERSION);
}

/* Somebody new can still come in, and nobody else is left. */
static void assert_server_is_well(const World *world)
{
    static const char others[] = "SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process "
                                 "= 1 AND session_id <> @@SPID";
    TlsClient        *tls      = tls_client_connect(world->port, 4096);
    int64_t           until    = now_ms(world) + 5000;

    while (client_number(tls->client, others) != 0 && now_ms(world) < until)
        clock_sleep_ms(world->clock, 10, NULL);
    assert_int_equal(client_number(tls->client, others), 0);
    tls_client_close(tls);
}

/* The first byte that comes next, still there. */
static int next_byte(TlsClient *tls)
{
    uint8_t byte = 0;

    return recv(tls->client->fd, &byte, 1, MSG_PEEK) == 1 ? byte : -1;
}

static bool send_login(TlsClient *tls)
{
    TdsLogin login = client_default_login();
    Err      err   = ERR_INIT;

    tds_writer_begin(tls->client->writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(tls->client->writer, &login);
    return tds_writer_end(tls->client->writer, &err);
}

static bool read_login_answer(TlsClient *tls)
{
    TdsItem item;

    return client_read(tls->client) && client_find(tls->client, TDS_ITEM_LOGIN_ACK, &item);
}

/* Several messages for one record. */
typedef struct Gathered {
    TdsTransport base; /* first */
    size_t       len;
    uint8_t      bytes[4096];
} Gathered;

static bool gather(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    Gathered *gathered = (Gathered *)base;

    if (len > sizeof gathered->bytes - gathered->len) return err_set(err, ERR_LIMIT, "too much");
    memcpy(gathered->bytes + gathered->len, bytes, len);
    gathered->len += len;
    return true;
}

static bool send_gathered(TlsClient *tls, const Gathered *gathered)
{
    Err err = ERR_INIT;

    tds_writer_set_transport(tls->client->writer, &tls->client->transport);
    return tls_client_write(&tls->client->transport, gathered->bytes, gathered->len, &err);
}

/* --- who gets which --- */

typedef enum Outcome { PLAIN, LOGIN_ONLY, ALL, LEAVES } Outcome;

typedef struct Case {
    TdsEncryption asked, answer;
    Outcome       outcome;
} Case;

static void assert_outcome(TlsClient *tls, Outcome outcome)
{
    if (outcome == LOGIN_ONLY || outcome == ALL) assert_true(tls_client_handshake(tls));
    assert_true(send_login(tls));
    if (outcome == LEAVES) { /* it goes on in the clear instead */
        assert_true(client_is_closed(tls->client));
        return;
    }
    assert_int_equal(next_byte(tls), outcome == ALL ? TLS_RECORD_DATA : TDS_PACKET_RESPONSE);
    tls_client_use(tls, outcome == ALL);
    assert_true(read_login_answer(tls));
    assert_true(client_send_batch(tls->client, "SELECT 42", 0));
    assert_int_equal(next_byte(tls), outcome == ALL ? TLS_RECORD_DATA : TDS_PACKET_RESPONSE);
    assert_true(client_read(tls->client));
    assert_int_equal(
        client_number(tls->client,
                      "SELECT CASE encrypt_option WHEN 'TRUE' THEN 1 WHEN 'FALSE' THEN 0 END FROM "
                      "sys.dm_exec_connections WHERE session_id = @@SPID"),
        outcome == ALL);
}

static void assert_cases(SimListener *listener, const Case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TlsClient *tls = tls_client_open(port_of(listener), TLS1_2_VERSION, TLS1_3_VERSION);
        assert_int_equal(tls_client_ask(tls, cases[i].asked), cases[i].answer);
        assert_outcome(tls, cases[i].outcome);
        tls_client_close(tls);
    }
}

static void clients_may_encrypt_where_it_is_offered(void **state)
{
    static const Case cases[] = {{TDS_ENCRYPT_OFF, TDS_ENCRYPT_OFF, LOGIN_ONLY},
                                 {TDS_ENCRYPT_ON, TDS_ENCRYPT_ON, ALL},
                                 {TDS_ENCRYPT_NOT_SUP, TDS_ENCRYPT_NOT_SUP, PLAIN},
                                 {TDS_ENCRYPT_REQ, TDS_ENCRYPT_ON, ALL}};
    World            *world   = *state;

    assert_cases(world->optional, cases, COUNT_OF(cases));
    assert_server_is_well(world);
}

static void clients_must_encrypt_where_it_is_required(void **state)
{
    static const Case cases[] = {{TDS_ENCRYPT_OFF, TDS_ENCRYPT_REQ, ALL},
                                 {TDS_ENCRYPT_ON, TDS_ENCRYPT_ON, ALL},
                                 {TDS_ENCRYPT_NOT_SUP, TDS_ENCRYPT_REQ, LEAVES},
                                 {TDS_ENCRYPT_REQ, TDS_ENCRYPT_ON, ALL}};
    World            *world   = *state;
    TlsClient        *tls;

    assert_cases(world->required, cases, COUNT_OF(cases));
    tls = tls_client_open(port_of(world->required), TLS1_2_VERSION, TLS1_3_VERSION);
    assert_true(send_login(tls)); /* without a word before it */
    assert_true(client_is_closed(tls->client));
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void nobody_encrypts_where_it_is_not_offered(void **state)
{
    static const Case cases[] = {{TDS_ENCRYPT_OFF, TDS_ENCRYPT_NOT_SUP, PLAIN},
                                 {TDS_ENCRYPT_ON, TDS_ENCRYPT_NOT_SUP, PLAIN},
                                 {TDS_ENCRYPT_NOT_SUP, TDS_ENCRYPT_NOT_SUP, PLAIN},
                                 {TDS_ENCRYPT_REQ, TDS_ENCRYPT_NOT_SUP, PLAIN}};
    World            *world   = *state;
    TlsClient        *tls;

    assert_cases(world->none, cases, COUNT_OF(cases));
    tls = tls_client_open(port_of(world->none), TLS1_2_VERSION, TLS1_3_VERSION);
    assert_false(tls_client_strict(tls, NULL));
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void a_login_in_the_clear_is_not_taken_where_its_encryption_was_agreed(void **state)
{
    World     *world = *state;
    TlsClient *tls   = opened(world);

    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_OFF), TDS_ENCRYPT_OFF);
    assert_true(send_login(tls));
    assert_true(client_is_closed(tls->client));
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void nothing_may_come_encrypted_behind_a_login_that_alone_is(void **state)
{
    World     *world = *state;
    TlsClient *tls   = opened(world);
    Gathered   both  = {.base = {.write = gather}};

    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_OFF), TDS_ENCRYPT_OFF);
    assert_true(tls_client_handshake(tls));
    tds_writer_set_transport(tls->client->writer, &both.base);
    assert_true(send_login(tls));
    assert_true(client_send_attention(tls->client));
    assert_true(send_gathered(tls, &both));
    assert_true(client_is_closed(tls->client));
    tls_client_close(tls);
    assert_server_is_well(world);
}

/* --- the handshake --- */

static void each_message_of_a_handshake_is_answered_by_one(void **state)
{
    static const size_t packet_cuts[] = {1, 7, 100, CUT_BYTES_MOST};
    World              *world         = *state;

    for (size_t i = 0; i < COUNT_OF(packet_cuts); i++) {
        TlsClient *tls = opened(world);
        assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
        tls->packet_cut = packet_cuts[i];
        assert_true(tls_client_handshake(tls));
        assert_int_equal(tls->answers, 2);
        assert_int_equal(tls->empty_answers, 0);
        assert_int_equal(SSL_version(tls->ssl), TLS1_2_VERSION);
        assert_false(SSL_session_reused(tls->ssl));
        assert_true(send_login(tls));
        assert_true(read_login_answer(tls));
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

static void a_flight_in_several_messages_is_answered_as_often(void **state)
{
    World     *world = *state;
    TlsClient *tls   = opened(world);

    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
    tls->message_cut = 90;
    assert_true(tls_client_handshake(tls));
    assert_true(tls->answers > 4);
    assert_int_equal(tls->answers - tls->empty_answers, 2);
    assert_true(send_login(tls));
    assert_true(read_login_answer(tls));
    tls_client_close(tls);

    tls = opened(world); /* one that never ends */
    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
    tls->message_cut = 1;
    assert_false(tls_client_handshake(tls));
    assert_int_equal(tls->answers, 16);
    assert_true(client_is_closed(tls->client));
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void a_client_of_newer_tls_alone_is_told_so(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_open(world->port, TLS1_3_VERSION, TLS1_3_VERSION);

    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
    assert_false(tls_client_handshake(tls));
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_TLSV1_ALERT_PROTOCOL_VERSION);
    assert_int_equal(tls->answers, 1);
    assert_true(client_is_closed(tls->client));
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void nonsense_in_a_handshake_ends_it(void **state)
{
    static const struct {
        const char *bytes;
        size_t      len;
    } nonsense[] = {{"nonsense", 8},
                    {"\x16\x03\x01\x00\x05nons!", 10},
                    {"\x16\x03\x01\xFF\xFFx", 6},
                    {"\x17\x03\x03\x00\x01x", 6},
                    {"\x15\x03\x01\x00\x02\x02\x28", 7}, /* an alert */
                    {"\x00", 1}};
    World *world = *state;

    for (size_t i = 0; i < COUNT_OF(nonsense); i++) {
        TlsClient *tls = opened(world);
        assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
        assert_true(
            tls_client_send_message(tls, (const uint8_t *)nonsense[i].bytes, nonsense[i].len));
        (void)shutdown(tls->client->fd, SHUT_WR); /* one may want more of it first */
        while (client_read(tls->client))
            assert_int_equal(tls->client->message.type, TDS_PACKET_PRELOGIN);
        assert_true(client_is_closed(tls->client));
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

static void a_second_prelogin_is_hung_up_on(void **state)
{
    World     *world = *state;
    TlsClient *tls   = opened(world);

    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_NOT_SUP), TDS_ENCRYPT_NOT_SUP);
    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_NOT_SUP), -1);
    tls_client_close(tls);

    tls = opened(world);
    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
    assert_true(tls_client_handshake(tls));
    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), -1);
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void a_client_may_leave_at_any_point(void **state)
{
    World *world = *state;

    for (int step = 0; step <= 5; step++) {
        TlsClient *tls = opened(world);
        if (step >= 1) assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
        if (step == 2) /* half a packet */
            assert_int_equal(send(tls->client->fd, "\x12\x01\x00\x40", 4, 0), 4);
        if (step == 3) { /* the first flight */
            assert_int_equal(SSL_do_handshake(tls->ssl), -1);
            assert_true(tls_client_flight(tls));
        }
        if (step >= 4) assert_true(tls_client_handshake(tls));
        if (step == 5) { /* half a record of a login */
            assert_int_equal(send(tls->client->fd, "\x17\x03\x03\x01\x00half", 9, 0), 9);
        }
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

/* A bit changed anywhere in what the client sends: no crash, and nobody comes in. What a record's header says of its version is not
 * protected in the first. */
static void a_handshake_that_was_tampered_with_fails(void **state)
{
    World *world = *state;

    FOR_EACH_SEED (seed, 100) {
        Rng       *rng     = rng_new(seed);
        TlsClient *tls     = opened(world);
        int        spoilt  = (int)(rng_u64(rng) % 2);
        bool       goes_on = true;
        assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
        for (int flight = 0; goes_on && SSL_do_handshake(tls->ssl) != 1; flight++) {
            char *bytes;
            long  len = BIO_get_mem_data(tls->out, &bytes);
            if (flight == spoilt)
                bytes[5 + rng_u64(rng) % (uint64_t)(len - 5)] ^= (char)(1 << (seed % 8));
            goes_on = tls_client_flight(tls); /* false too when both wait for more */
        }
        assert_false(goes_on);
        tls_client_close(tls);
        rng_close(rng);
    }
    assert_server_is_well(world);
}

/* --- encrypted connections --- */

static void long_results_arrive_whole(void **state)
{
    static const uint32_t packet_bytes[] = {512, 4096, 8000, 32767};
    static const char     sql[] =
        "SET TEXTSIZE 2147483647; DECLARE @v varchar(max) = "
        "REPLICATE(CAST('0123456789abcdef' AS varchar(max)), 200000); SELECT @v";
    World *world = *state;

    for (size_t i = 0; i < COUNT_OF(packet_bytes); i++) {
        TlsClient *tls = tls_client_connect(world->port, packet_bytes[i]);
        TdsItem    item;
        Bytes      value;
        assert_true(client_batch(tls->client, sql));
        assert_true(client_find(tls->client, TDS_ITEM_ROW, &item));
        value = tls->client->response.values[0].bytes;
        assert_int_equal(value.len, 3200000);
        for (size_t at = 0; at < value.len; at += 16)
            assert_memory_equal(value.ptr + at, "0123456789abcdef", 16);
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

static void an_encrypted_packet_is_a_record(void **state)
{
    static const size_t asked[] = {512, 4096, 32767}, given[] = {512, 4096, 16383};
    World              *world = *state;

    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        TlsClient *tls = tls_client_connect(world->port, (uint32_t)asked[i]);
        uint8_t    header[5];
        assert_true(client_send_batch(tls->client,
                                      "SELECT REPLICATE('x', 7000), REPLICATE('x', 7000), "
                                      "REPLICATE('x', 7000)",
                                      0));
        assert_int_equal(recv(tls->client->fd, header, sizeof header, MSG_PEEK | MSG_WAITALL), 5);
        assert_int_equal(header[0], TLS_RECORD_DATA);
        assert_int_equal(header[3] << 8 | header[4], given[i] + 8 + 16); /* nonce, tag */
        assert_true(client_read(tls->client));
        tls_client_close(tls);
    }
}

static void long_requests_arrive_whole(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_connect(world->port, 4096);
    size_t     len   = 300000;
    char      *sql   = mem_alloc(len + 64);

    tds_writer_set_packet_bytes(tls->client->writer, 4096);
    (void)snprintf(sql, 64, "SELECT LEN('");
    memset(sql + strlen(sql), 'x', len);
    (void)snprintf(sql + strlen(sql), 8, "')");
    assert_int_equal(client_number(tls->client, sql), (int64_t)len);
    mem_free(sql);
    tls_client_close(tls);
}

/* Encrypts without sending. */
static size_t encrypt(TlsClient *tls, TdsPacketType type, uint8_t *out, size_t size)
{
    uint8_t packet[8] = {(uint8_t)type, 1, 0, 8, 0, 0, 1, 0};
    size_t  written;

    assert_int_equal(SSL_write_ex(tls->ssl, packet, sizeof packet, &written), 1);
    return (size_t)BIO_read(tls->out, out, (int)size);
}

static void an_encrypted_attention_stops_a_wait_at_once(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_connect(world->port, 4096);
    int64_t    began_ms;

    for (int turn = 0; turn < 3; turn++) {
        assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:30'", 0));
        assert_true(client_is_quiet(tls->client, 50));
        began_ms = now_ms(world);
        assert_true(client_send_attention(tls->client));
        assert_true(client_read(tls->client));
        assert_int_equal(client_acknowledgements(tls->client), 1);
        assert_true(now_ms(world) - began_ms < 2000);
        assert_true(client_is_quiet(tls->client, 20));
        assert_int_equal(client_number(tls->client, "SELECT 42"), 42);
    }
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void an_attention_in_pieces_is_seen_when_it_is_whole(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_connect(world->port, 4096);
    uint8_t    record[200];
    size_t     len;

    assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:30'", 0));
    len = encrypt(tls, TDS_PACKET_ATTENTION, record, sizeof record);
    for (size_t at = 0; at < len; at++) {
        assert_true(client_is_quiet(tls->client, at % 8 == 0 ? 20 : 1));
        assert_int_equal(send(tls->client->fd, record + at, 1, 0), 1);
    }
    assert_true(client_read(tls->client));
    assert_int_equal(client_acknowledgements(tls->client), 1);
    assert_int_equal(client_number(tls->client, "SELECT 42"), 42);
    tls_client_close(tls);
    assert_server_is_well(world);
}

/* In the record of the request: no socket tells of it. */
static void an_attention_that_came_along_with_its_request_is_seen(void **state)
{
    World     *world    = *state;
    TlsClient *tls      = tls_client_connect(world->port, 4096);
    Gathered   both     = {.base = {.write = gather}};
    int64_t    began_ms = now_ms(world);

    tds_writer_set_transport(tls->client->writer, &both.base);
    assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:30'", 0));
    assert_true(client_send_attention(tls->client));
    assert_true(send_gathered(tls, &both));
    assert_true(client_read(tls->client));
    assert_int_equal(client_acknowledgements(tls->client), 1);
    assert_true(now_ms(world) - began_ms < 5000);
    assert_int_equal(client_number(tls->client, "SELECT 42"), 42);
    tls_client_close(tls);
}

static void what_comes_early_is_no_attention(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_connect(world->port, 4096);

    assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:00.2'; SELECT 41", 0));
    assert_true(client_send_batch(tls->client, "SELECT 42", 0));
    assert_true(client_read(tls->client));
    assert_int_equal(client_attentions(tls->client), 0);
    assert_true(client_read(tls->client));
    assert_int_equal(client_attentions(tls->client), 0);
    tls_client_close(tls);
}

static void an_attention_stops_a_result_that_nobody_reads(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_connect(world->port, 4096);

    assert_true(client_send_batch(
        tls->client, "SELECT REPLICATE('x', 1000) FROM GENERATE_SERIES(1, 100000)", 0));
    clock_sleep_ms(world->clock, 100, NULL); /* the socket is full by now */
    assert_true(client_send_attention(tls->client));
    assert_true(client_read(tls->client));
    assert_int_equal(client_acknowledgements(tls->client), 1);
    assert_int_equal(client_number(tls->client, "SELECT 42"), 42);
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void a_client_that_dies_in_a_wait_takes_its_session_along(void **state)
{
    World     *world = *state;
    TlsClient *tls   = tls_client_connect(world->port, 4096);

    assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:30'", 0));
    assert_true(client_is_quiet(tls->client, 50));
    tls_client_close(tls);
    assert_server_is_well(world);
}

static void a_record_that_was_tampered_with_ends_the_connection(void **state)
{
    World  *world = *state;
    uint8_t record[200];
    size_t  len;

    for (int runs = 0; runs <= 1; runs++) {
        TlsClient *tls = tls_client_connect(world->port, 4096);
        if (runs) {
            assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:30'", 0));
            assert_true(client_is_quiet(tls->client, 50));
        }
        len = encrypt(tls, TDS_PACKET_ATTENTION, record, sizeof record);
        record[len - 1] ^= 1;
        assert_int_equal(send(tls->client->fd, record, len, 0), (ssize_t)len);
        while (client_read(tls->client))
            continue;
        assert_true(client_is_closed(tls->client));
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

static void nothing_is_negotiated_again(void **state)
{
    World *world = *state;

    for (int runs = 0; runs <= 1; runs++) {
        TlsClient *tls = tls_client_connect(world->port, 4096);
        if (runs) assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:00.3'", 0));
        assert_int_equal(SSL_renegotiate(tls->ssl), 1);
        (void)SSL_do_handshake(tls->ssl);
        assert_true(tls_client_drain(tls));
        assert_false(client_read(tls->client));
        assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

typedef struct Crowd {
    const World *world;
    bool         ok;
} Crowd;

static void *run_one_of_many(void *arg)
{
    Crowd     *crowd = arg;
    TlsClient *tls   = tls_client_connect(crowd->world->port, 4096);

    crowd->ok = true;
    for (int i = 0; i < 20; i++)
        crowd->ok &= client_number(tls->client, "SELECT COUNT(*) FROM GENERATE_SERIES(1, 1000)") ==
                     1000;
    tls_client_close(tls);
    return NULL;
}

static void many_encrypt_at_once(void **state)
{
    World    *world = *state;
    pthread_t threads[12];
    Crowd     crowds[COUNT_OF(threads)];

    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        crowds[i] = (Crowd){.world = world};
        assert_int_equal(pthread_create(&threads[i], NULL, run_one_of_many, &crowds[i]), 0);
    }
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        (void)pthread_join(threads[i], NULL);
        assert_true(crowds[i].ok);
    }
    assert_server_is_well(world);
}

/* --- TDS 8 --- */

static void a_client_of_tds_8_begins_with_tls(void **state)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    World           *world      = *state;

    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        TlsClient           *tls   = tls_client_open(world->port, versions[i], versions[i]);
        TdsLogin             login = client_default_login();
        TdsItem              item;
        const unsigned char *protocol = NULL;
        unsigned             len      = 0;
        login.tds_version             = TDS_VERSION_80;
        assert_true(tls_client_strict(tls, "\x08http/1.1\x07tds/8.0"));
        SSL_get0_alpn_selected(tls->ssl, &protocol, &len);
        assert_int_equal(len, 7);
        assert_memory_equal(protocol, "tds/8.0", 7);
        assert_true(tls_client_ask(tls, TDS_ENCRYPT_OFF) >= 0);
        assert_true(client_login(tls->client, &login));
        tls->client->tds_version          = TDS_VERSION_74;
        tls->client->response.tds_version = TDS_VERSION_74;
        assert_true(client_find(tls->client, TDS_ITEM_LOGIN_ACK, &item));
        assert_int_equal(item.login_ack.tds_version, TDS_VERSION_80);
        assert_int_equal(client_number(tls->client, "SELECT 42"), 42);
        assert_true(client_send_batch(tls->client, "WAITFOR DELAY '00:00:30'", 0));
        assert_true(client_is_quiet(tls->client, 20));
        assert_true(client_send_attention(tls->client));
        assert_true(client_read(tls->client));
        assert_int_equal(client_acknowledgements(tls->client), 1);
        tls_client_close(tls);
    }
    assert_server_is_well(world);
}

static void tls_around_something_else_is_refused(void **state)
{
    World     *world = *state;
    TlsClient *tls   = opened(world);

    assert_false(tls_client_strict(tls, "\x08http/1.1"));
    assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL);
    tls_client_close(tls);
    tls = tls_client_open(world->port, TLS1_1_VERSION, TLS1_1_VERSION);
    assert_false(tls_client_strict(tls, NULL));
    tls_client_close(tls);
    assert_server_is_well(world);
}

/* --- certificates --- */

static X509 *read_certificate(Str pem)
{
    BIO  *bio         = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    BIO_free(bio);
    assert_non_null(certificate);
    return certificate;
}

static void the_certificate_is_one_for_this_host(void **state)
{
    World *world       = *state;
    X509  *certificate = read_certificate(sim_tls_certificate(world->tls));
    char   name[64];

    assert_int_equal(X509_check_host(certificate, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_host(certificate, "example.org", 0, 0, NULL), 0);
    assert_true(X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                                          sizeof name) > 0);
    assert_string_equal(name, "localhost");
    assert_int_equal(X509_verify(certificate, X509_get0_pubkey(certificate)), 1);
    assert_true(X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0);
    assert_true(X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0);
    X509_free(certificate);
}

/* Whoever trusts it verifies the server, and by its name. */
static void a_client_can_verify_the_server(void **state)
{
    World *world       = *state;
    X509  *certificate = read_certificate(sim_tls_certificate(world->tls));

    for (int is_right = 0; is_right <= 1; is_right++) {
        TlsClient *tls = opened(world);
        SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, NULL);
        (void)SSL_set1_host(tls->ssl, is_right ? "localhost" : "example.org");
        assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(tls->context), certificate), 1);
        assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
        assert_int_equal(tls_client_handshake(tls), is_right);
        tls_client_close(tls);
    }
    X509_free(certificate);
    assert_server_is_well(world);
}

static void write_pair(const char *certificate_path, const char *key_path)
{
    X509     *certificate;
    EVP_PKEY *key;
    BIO      *bio;

    assert_true(tls_make_certificate(&certificate, &key));
    bio = BIO_new_file(certificate_path, "w");
    assert_int_equal(PEM_write_bio_X509(bio, certificate), 1);
    BIO_free(bio);
    bio = BIO_new_file(key_path, "w");
    assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
    BIO_free(bio);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void certificates_come_from_files(void **state)
{
    World      *world  = *state;
    Arena      *arena  = arena_new();
    const char *folder = test_dir_new(arena);
    char        paths[4][300];
    SimTls     *tls = NULL;
    Err         err = ERR_INIT;
    Str         one, two;

    for (int i = 0; i < 4; i++)
        (void)snprintf(paths[i], sizeof paths[i], "%s/%d.pem", folder, i);
    write_pair(paths[0], paths[1]);
    write_pair(paths[2], paths[3]);
    assert_ok(sim_tls_open_files(str_from_c(paths[0]), str_from_c(paths[1]), &tls, &err), &err);
    one = sim_tls_certificate(tls);
    two = sim_tls_certificate(world->tls);
    assert_true(str_starts_with(one, STR("-----BEGIN CERTIFICATE-----")));
    assert_false(str_equal(one, two));
    sim_tls_close(tls);
    assert_false(sim_tls_open_files(str_from_c(paths[0]), str_from_c(paths[3]), &tls, &err));
    assert_err(&err, ERR_USAGE, "key values mismatch");
    assert_null(tls);
    err = ERR_INIT;
    assert_false(sim_tls_open_files(STR("/nowhere.pem"), str_from_c(paths[1]), &tls, &err));
    assert_err(&err, ERR_USAGE, "--tls: the certificate /nowhere.pem cannot be used");
    err = ERR_INIT;
    assert_false(sim_tls_open_files(str_from_c(paths[0]), str_from_c(paths[0]), &tls, &err));
    assert_err(&err, ERR_USAGE, "--tls: the key ");
    test_dir_remove(folder);
    arena_close(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
        TLS_TEST(clients_may_encrypt_where_it_is_offered),
        TLS_TEST(clients_must_encrypt_where_it_is_required),
        TLS_TEST(nobody_encrypts_where_it_is_not_offered),
        TLS_TEST(a_login_in_the_clear_is_not_taken_where_its_encryption_was_agreed),
        TLS_TEST(nothing_may_come_encrypted_behind_a_login_that_alone_is),
        TLS_TEST(each_message_of_a_handshake_is_answered_by_one),
        TLS_TEST(a_flight_in_several_messages_is_answered_as_often),
        TLS_TEST(a_client_of_newer_tls_alone_is_told_so),
        TLS_TEST(nonsense_in_a_handshake_ends_it),
        TLS_TEST(a_second_prelogin_is_hung_up_on),
        TLS_TEST(a_client_may_leave_at_any_point),
        TLS_TEST(a_handshake_that_was_tampered_with_fails),
        TLS_TEST(long_results_arrive_whole),
        TLS_TEST(an_encrypted_packet_is_a_record),
        TLS_TEST(long_requests_arrive_whole),
        TLS_TEST(an_encrypted_attention_stops_a_wait_at_once),
        TLS_TEST(an_attention_in_pieces_is_seen_when_it_is_whole),
        TLS_TEST(an_attention_that_came_along_with_its_request_is_seen),
        TLS_TEST(what_comes_early_is_no_attention),
        TLS_TEST(an_attention_stops_a_result_that_nobody_reads),
        TLS_TEST(a_client_that_dies_in_a_wait_takes_its_session_along),
        TLS_TEST(a_record_that_was_tampered_with_ends_the_connection),
        TLS_TEST(nothing_is_negotiated_again),
        TLS_TEST(many_encrypt_at_once),
        TLS_TEST(a_client_of_tds_8_begins_with_tls),
        TLS_TEST(tls_around_something_else_is_refused),
        TLS_TEST(the_certificate_is_one_for_this_host),
        TLS_TEST(a_client_can_verify_the_server),
        TLS_TEST(certificates_come_from_files),
    };

    return RUN_TESTS(tests);
}
