/* server_client.h - a raw TDS client for the tests of the server: it sends any bytes, and reads whole messages. */
#ifndef TIDESIM_TEST_SERVER_CLIENT_H
#define TIDESIM_TEST_SERVER_CLIENT_H

#include "support/test_support.h"

#include "base/clock.h"
#include "tds/tds_login.h"
#include "tds/tds_request.h"
#include "tds/tds_response.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#define ANSWER_BYTES_MOST ((size_t)256 << 20)

typedef struct Client {
    TdsTransport transport; /* first */
    int          fd;
    Arena       *arena;
    TdsWriter   *writer;
    uint32_t     tds_version;
    uint64_t     transaction;
    TdsMessage   message; /* the last answer */
    TdsResponse  response;
    void        *layer; /* of a test that puts something between messages and socket */
} Client;

static bool client_recv(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    ssize_t got = recv(((Client *)base)->fd, buf, size, 0);

    *got_out = got > 0 ? (size_t)got : 0;
    return got >= 0 || err_set(err, ERR_SOURCE, "the connection broke");
}

static bool client_send(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    while (len > 0) {
        ssize_t sent = send(((Client *)base)->fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0) return err_set(err, ERR_SOURCE, "the connection broke");
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

UNUSED static void client_close(Client *client)
{
    if (!client) return;
    (void)close(client->fd);
    tds_writer_close(client->writer);
    arena_close(client->arena);
    mem_free(client);
}

/* A socket and nothing said; NULL: nobody listens. */
UNUSED static Client *client_open(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port   = htons((uint16_t)port),
                                  .sin_addr   = {htonl(INADDR_LOOPBACK)}};
    struct timeval     limit   = {.tv_sec = 30}; /* a test that waits for ever fails */
    Client            *client  = mem_alloc(sizeof *client);
    int                one     = 1;

    *client        = (Client){.transport   = {.read = client_recv, .write = client_send},
                              .fd          = socket(AF_INET, SOCK_STREAM, 0),
                              .arena       = arena_new(),
                              .tds_version = TDS_VERSION_74};
    client->writer = tds_writer_new(&client->transport);
    (void)setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(client->fd, (const struct sockaddr *)&address, sizeof address) == 0) return client;
    client_close(client);
    return NULL;
}

/* False at the end of the connection, and when half a message came. */
UNUSED static bool client_read(Client *client)
{
    Err  err = ERR_INIT;
    bool is_end;

    arena_reset(client->arena);
    if (!tds_read_message(&client->transport, client->arena, ANSWER_BYTES_MOST, &client->message,
                          &is_end, &err) ||
        is_end)
        return false;
    client->response = tds_response(client->message.body, client->tds_version, client->arena);
    return true;
}

UNUSED static bool client_next(Client *client, TdsItem *item)
{
    if (!tds_next_item(&client->response, client->arena, item) || item->kind == TDS_ITEM_END)
        return false;
    if (item->kind == TDS_ITEM_ENV && item->env.kind == 8) {
        TdsCursor descriptor = tds_cursor(item->env.new_bytes);
        client->transaction  = tds_get_u64(&descriptor);
    }
    if (item->kind == TDS_ITEM_ENV && (item->env.kind == 9 || item->env.kind == 10))
        client->transaction = 0;
    return true;
}

/* The next item of a kind; false: there is none. */
UNUSED static bool client_find(Client *client, TdsItemKind kind, TdsItem *item)
{
    while (client_next(client, item))
        if (item->kind == kind) return true;
    return false;
}

UNUSED static bool client_prelogin(Client *client)
{
    Err         err = ERR_INIT;
    TdsPrelogin prelogin;

    tds_writer_begin(client->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(client->writer, 0, 1, 0, TDS_ENCRYPT_NOT_SUP, false);
    return tds_writer_end(client->writer, &err) && client_read(client) &&
           tds_parse_prelogin(client->message.body, &prelogin) &&
           prelogin.encryption == TDS_ENCRYPT_NOT_SUP;
}

/* Sends LOGIN7 and reads the answer, whatever it is. */
UNUSED static bool client_login(Client *client, const TdsLogin *login)
{
    Err err = ERR_INIT;

    client->tds_version = login->tds_version;
    tds_writer_begin(client->writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(client->writer, login);
    return tds_writer_end(client->writer, &err) && client_read(client);
}

UNUSED static TdsLogin client_default_login(void)
{
    return (TdsLogin){.tds_version   = TDS_VERSION_74,
                      .packet_bytes  = 4096,
                      .user          = STR("sa"),
                      .password      = STR("Tide.Sim.1"),
                      .odbc          = true,
                      .asks_features = true};
}

/* All of it; NULL: something failed. */
UNUSED static Client *client_connect(int port)
{
    Client  *client = client_open(port);
    TdsLogin login  = client_default_login();
    TdsItem  item;

    if (client && client_prelogin(client) && client_login(client, &login) &&
        client_find(client, TDS_ITEM_LOGIN_ACK, &item))
        return client;
    client_close(client);
    return NULL;
}

UNUSED static bool client_send_batch(Client *client, const char *sql, uint8_t status)
{
    Err err = ERR_INIT;

    tds_writer_begin(client->writer, TDS_PACKET_BATCH, 0);
    tds_put_headers(client->writer, client->tds_version, client->transaction);
    tds_put_text(client->writer, str_from_c(sql));
    return tds_writer_end_with(client->writer, status, &err);
}

UNUSED static bool client_send_attention(Client *client)
{
    Err err = ERR_INIT;

    tds_writer_begin(client->writer, TDS_PACKET_ATTENTION, 0);
    return tds_writer_end(client->writer, &err);
}

UNUSED static bool client_batch(Client *client, const char *sql)
{
    return client_send_batch(client, sql, 0) && client_read(client);
}

/* The first value of the first row, an integer; -1: there is none. */
UNUSED static int64_t client_number(Client *client, const char *sql)
{
    TdsItem item;

    if (!client_batch(client, sql) || !client_find(client, TDS_ITEM_ROW, &item)) return -1;
    return client->response.values[0].i64;
}

/* The number of the answer's first error; 0: it has none. */
UNUSED static int32_t client_error(Client *client)
{
    TdsItem item;

    while (client_find(client, TDS_ITEM_MESSAGE, &item))
        if (item.message.is_error) return item.message.text.number;
    return 0;
}

/* How many DONEs of the answer acknowledge an attention; the last one must not announce more. */
UNUSED static int client_attentions(Client *client)
{
    TdsItem  item;
    int      count  = 0;
    uint16_t status = TDS_DONE_MORE;

    while (client_find(client, TDS_ITEM_DONE, &item)) {
        status = item.done.status;
        count += (status & TDS_DONE_ATTN) != 0;
    }
    return status & TDS_DONE_MORE ? -1 : count;
}

/* The same of an attention to what ran: what was stopped ends in a message, which was read; the next one acknowledges. */
UNUSED static int client_acknowledgements(Client *client)
{
    int count = client_attentions(client);

    return count == 0 && client_read(client) ? client_attentions(client) : count;
}

/* Nothing more comes within the time, and the connection is still there. */
UNUSED static bool client_is_quiet(Client *client, int timeout_ms)
{
    struct pollfd waiting = {.fd = client->fd, .events = POLLIN};

    return poll(&waiting, 1, timeout_ms) == 0;
}

UNUSED static bool client_is_closed(Client *client)
{
    uint8_t byte;

    return recv(client->fd, &byte, 1, 0) <= 0;
}

#endif
