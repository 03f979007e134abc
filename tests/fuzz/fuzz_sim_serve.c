/* What a client sends to a tidesim, from the first byte on or as somebody who is logged in: the connection ends, the session with
 * it, and the server goes on. The first byte chooses where the input begins and whether encryption is offered. */
#include "sim_shop.h"

#include "sim/server/server_internal.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FROM_START, LOGGED_IN, IN_TRANSACTION, ANNOUNCED_BULK, PLACES };
#define OFFERS_TLS       0x80
#define OLD_CLIENT       0x40
#define INPUT_BYTES_MOST ((size_t)64 << 10)

/* --- the client's side of the socket --- */

typedef struct Peer {
    TdsTransport transport; /* first */
    int          socket;
} Peer;

static bool peer_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    int socket = ((Peer *)base)->socket;

    (void)err;
    while (len > 0) {
        ssize_t sent = send(socket, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0) return true; /* the server has hung up */
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

static void end_message(TdsWriter *writer)
{
    Err  err = ERR_INIT;
    bool ok  = tds_writer_end(writer, &err);

    assert(ok);
}

static void send_login(TdsWriter *writer, uint32_t tds_version)
{
    TdsLogin login = {.tds_version   = tds_version,
                      .packet_bytes  = 512,
                      .user          = STR("sa"),
                      .password      = STR("secret"),
                      .database      = STR("shop"),
                      .odbc          = true,
                      .asks_features = true,
                      .asks_utf8     = true};

    tds_writer_begin(writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(writer, 0, 1, 0, TDS_ENCRYPT_NOT_SUP, false);
    end_message(writer);
    tds_writer_begin(writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(writer, &login);
    end_message(writer);
}

static void send_batch(TdsWriter *writer, uint32_t tds_version, Str sql)
{
    tds_writer_begin(writer, TDS_PACKET_BATCH, 0);
    tds_put_headers(writer, tds_version, 0);
    tds_put_text(writer, sql);
    end_message(writer);
}

/* What comes before the input. */
static void send_beginning(Peer *peer, uint8_t choice)
{
    TdsWriter *writer      = tds_writer_new(&peer->transport);
    uint32_t   tds_version = choice & OLD_CLIENT ? TDS_VERSION_71 : TDS_VERSION_74;
    int        place       = choice % PLACES;

    if (place != FROM_START) {
        send_login(writer, tds_version);
        send_batch(writer, tds_version, STR("SET LOCK_TIMEOUT 0"));
    }
    if (place == IN_TRANSACTION)
        send_batch(writer, tds_version, STR("SET IMPLICIT_TRANSACTIONS ON; UPDATE t SET a = 1"));
    if (place == ANNOUNCED_BULK)
        send_batch(writer, tds_version,
                   STR("INSERT BULK t (id int, a int, b nvarchar(20), e varbinary(max))"));
    tds_writer_close(writer);
}

typedef struct Talk {
    Peer       peer;
    Connection connection; /* the other end */
    uint8_t    choice;
    Bytes      input;
} Talk;

/* What the server says nobody reads, so somebody has to throw it away; and ends what goes on for too long without a word. */
static void *throw_away(void *arg)
{
    Talk   *talk = arg;
    uint8_t bytes[4096];
    ssize_t got;

    while ((got = recv(talk->peer.socket, bytes, sizeof bytes, 0)) != 0)
        if (got < 0) connection_stop(&talk->connection);
    return NULL;
}

static void *send_all(void *arg)
{
    Talk *talk = arg;
    Err   err  = ERR_INIT;
    bool  ok;

    send_beginning(&talk->peer, talk->choice);
    ok = peer_write(&talk->peer.transport, talk->input.ptr, talk->input.len, &err);
    assert(ok);
    (void)shutdown(talk->peer.socket, SHUT_WR);
    return NULL;
}

/* --- the server's --- */

static void serve(Talk *talk, Shop *shop, int socket, const SimTls *tls)
{
    Connection *connection = &talk->connection;
    pthread_t   sender, reader;
    bool        ok;

    *connection = (Connection){.server  = shop->server,
                               .sched   = shop->sched,
                               .watch   = epoll_create1(EPOLL_CLOEXEC),
                               .offered = tls,
                               .client  = {.tds_version = TDS_VERSION_74}};
    pthread_mutex_init(&connection->lock, NULL);
    socket_transport_init(&connection->socket, socket, shop->clock, NULL, shop->server);
    connection_wire_init(connection);
    ok = pthread_create(&sender, NULL, send_all, talk) == 0;
    assert(ok);
    ok = pthread_create(&reader, NULL, throw_away, talk) == 0;
    assert(ok);
    connection_run(connection);
    (void)shutdown(socket, SHUT_RDWR);
    pthread_join(sender, NULL);
    pthread_join(reader, NULL);
    (void)close(connection->watch);
    pthread_mutex_destroy(&connection->lock);
}

static void talk_to_server(Shop *shop, uint8_t choice, Bytes input)
{
    struct timeval quiet = {.tv_sec = 1};
    int            ends[2];
    bool           ok  = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    SimTls        *tls = NULL;
    Err            err = ERR_INIT;
    Talk          *talk;

    assert(ok);
    (void)setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet);
    if (choice & OFFERS_TLS) {
        ok = sim_tls_open_self_signed(&tls, &err);
        assert(ok);
    }
    talk         = mem_alloc(sizeof *talk);
    talk->peer   = (Peer){.transport = {.write = peer_write}, .socket = ends[0]};
    talk->choice = choice;
    talk->input  = input;
    serve(talk, shop, ends[1], tls);
    mem_free(talk);
    sim_tls_close(tls);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Shop shop;
    bool ok;

    if (size == 0 || size > INPUT_BYTES_MOST) return 0;
    shop_open(&shop);
    talk_to_server(&shop, data[0], (Bytes){data + 1, size - 1});
    /* What it left open is gone with it. */
    ok = shop_batch(&shop, shop.sessions[0], STR("SELECT 1"));
    assert(ok);
    shop_close(&shop);
    return 0;
}
