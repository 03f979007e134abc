/* tds_client.c - the benchmarks' connection. */
#define _GNU_SOURCE
#include "tds_client.h"

#include "tds/tds_login.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* OpenSSL has a type that is called like one of our codes. */
#define ERR_STATE OPENSSL_ERR_STATE
#include <openssl/ssl.h>
#undef ERR_STATE

#define READ_BYTES ((size_t)1 << 20)
#define TAIL_BYTES 4096 /* of the response, to show an error from */
#define DONE_BYTES 13   /* from TDS 7.2 on */

struct BenchClient {
    TdsTransport transport; /* first */
    int          socket;
    SSL_CTX     *context;
    SSL         *ssl; /* NULL: not encrypted */
    TdsWriter   *writer;
    Arena       *arena;
    uint8_t     *buffer;
    size_t       have;             /* bytes of the next packet that came with the last ones */
    uint8_t      tail[TAIL_BYTES]; /* the end of the response */
    size_t       tail_len;
};

void bench_fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

int64_t bench_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- the connection --- */

static bool client_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    BenchClient *client = (BenchClient *)base;
    ssize_t      got;

    if (client->ssl)
        return SSL_read_ex(client->ssl, buf, size, got_out) == 1 ||
               err_set(err, ERR_SOURCE, "TLS: the connection broke");
    do
        got = recv(client->socket, buf, size, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0) return err_set_errno(err, ERR_SOURCE, errno, "the connection broke");
    *got_out = (size_t)got;
    return true;
}

static bool client_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    BenchClient *client = (BenchClient *)base;

    while (len > 0) {
        size_t  written = 0;
        ssize_t sent;
        if (client->ssl) {
            if (SSL_write_ex(client->ssl, bytes, len, &written) != 1)
                return err_set(err, ERR_SOURCE, "TLS: the connection broke");
        } else {
            sent = send(client->socket, bytes, len, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0) return err_set_errno(err, ERR_SOURCE, errno, "the connection broke");
            written = (size_t)sent;
        }
        bytes += written;
        len -= written;
    }
    return true;
}

static int open_socket(Str address, Arena *arena)
{
    struct addrinfo  hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int              on    = 1;
    ptrdiff_t        colon = str_find_last_char(address, ':');

    if (colon < 0) bench_fail("address", "it is HOST:PORT");
    const char *host = str_c(arena, str_slice(address, 0, (size_t)colon));
    const char *port = str_c(arena, str_slice(address, (size_t)colon + 1, address.len));
    int         code = getaddrinfo(host, port, &hints, &found);
    if (code != 0) bench_fail("address", gai_strerror(code));
    int fd = socket(found->ai_family, found->ai_socktype, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        bench_fail("connect", strerror(errno));
    freeaddrinfo(found);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void encrypt(BenchClient *client)
{
    static const uint8_t protocols[] = {7, 't', 'd', 's', '/', '8', '.', '0'};

    client->context = SSL_CTX_new(TLS_client_method());
    if (!client->context || SSL_CTX_set_max_proto_version(client->context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(client->context, "ECDHE+AESGCM") != 1 ||
        SSL_CTX_set_alpn_protos(client->context, protocols, sizeof protocols) != 0)
        bench_fail("TLS", "OpenSSL does not do TLS 1.2 with AES-GCM");
    client->ssl = SSL_new(client->context);
    if (!client->ssl || SSL_set_fd(client->ssl, client->socket) != 1 ||
        SSL_connect(client->ssl) != 1)
        bench_fail("TLS", "the handshake failed");
}

static void must(bool ok, const char *what, const Err *err)
{
    if (!ok) bench_fail(what, err->message);
}

static void read_whole(BenchClient *client, const char *what, TdsMessage *out)
{
    Err  err = ERR_INIT;
    bool is_end;

    must(tds_read_message(&client->transport, client->arena, READ_BYTES, out, &is_end, &err), what,
         &err);
    if (is_end) bench_fail(what, "the server hung up");
}

static void log_in(BenchClient *client, Str database, Str password)
{
    TdsLogin   login = {.tds_version  = TDS_VERSION_74,
                        .packet_bytes = TDS_MAX_PACKET_BYTES,
                        .host         = STR("bench"),
                        .user         = STR("sa"),
                        .password     = password,
                        .app          = STR("bench"),
                        .database     = database};
    TdsMessage message;
    TdsItem    item;
    Err        err   = ERR_INIT;
    bool       is_in = false;

    tds_writer_begin(client->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(client->writer, 0, 0, 0, TDS_ENCRYPT_NOT_SUP, false);
    must(tds_writer_end(client->writer, &err), "prelogin", &err);
    read_whole(client, "prelogin", &message);
    tds_writer_begin(client->writer, TDS_PACKET_LOGIN7, 0);
    tds_put_login(client->writer, &login);
    must(tds_writer_end(client->writer, &err), "login", &err);
    read_whole(client, "login", &message);
    TdsResponse response = tds_response(message.body, TDS_VERSION_74, client->arena);
    while (tds_next_item(&response, client->arena, &item) && item.kind != TDS_ITEM_END) {
        if (item.kind == TDS_ITEM_MESSAGE && item.message.is_error)
            bench_fail("login", str_c(client->arena, item.message.text.text));
        is_in |= item.kind == TDS_ITEM_LOGIN_ACK;
    }
    if (!is_in) bench_fail("login", "no acknowledgement");
    tds_writer_set_packet_bytes(client->writer, TDS_MAX_PACKET_BYTES);
}

BenchClient *bench_client_open(Str address, Str database, Str password)
{
    BenchClient *client    = mem_alloc(sizeof *client);
    bool         encrypted = str_starts_with(address, STR("tls:"));

    client->transport = (TdsTransport){.read = client_read, .write = client_write};
    client->arena     = arena_new();
    client->socket    = open_socket(encrypted ? str_slice(address, 4, address.len) : address,
                                 client->arena);
    client->writer = tds_writer_new(&client->transport);
    client->buffer = mem_alloc(READ_BYTES);
    if (encrypted) encrypt(client);
    log_in(client, database, password);
    return client;
}

void bench_client_close(BenchClient *client)
{
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    (void)close(client->socket);
    tds_writer_close(client->writer);
    mem_free(client->buffer);
    arena_close(client->arena);
    mem_free(client);
}

TdsWriter *bench_client_writer(BenchClient *client)
{
    return client->writer;
}

/* --- a batch --- */

void bench_client_batch(BenchClient *client, Str sql)
{
    static const uint8_t headers[22] = {22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0,
                                        0,  0, 0, 0, 0,  0, 0, 1, 0, 0, 0};
    Err                  err         = ERR_INIT;

    tds_writer_begin(client->writer, TDS_PACKET_BATCH, 0);
    tds_put_bytes(client->writer, headers, sizeof headers);
    tds_put_text(client->writer, sql);
    must(tds_writer_end(client->writer, &err), "batch", &err);
}

static void keep_tail(BenchClient *client, const uint8_t *bytes, size_t len)
{
    size_t old   = MIN(client->tail_len, TAIL_BYTES - MIN(len, TAIL_BYTES));
    size_t added = MIN(len, TAIL_BYTES);

    memmove(client->tail, client->tail + client->tail_len - old, old);
    memcpy(client->tail + old, bytes + len - added, added);
    client->tail_len = old + added;
}

/* Reads over one packet of the buffer; false: it is not whole yet. */
static bool take_packet(BenchClient *client, const uint8_t *at, size_t left, size_t *len_out,
                        bool *is_last_out)
{
    if (left < TDS_HEADER_BYTES) return false;
    *len_out = (size_t)at[2] << 8 | at[3];
    if (*len_out < TDS_HEADER_BYTES) bench_fail("response", "a malformed packet");
    if (left < *len_out) return false;
    *is_last_out = (at[1] & TDS_STATUS_END) != 0;
    keep_tail(client, at + TDS_HEADER_BYTES, *len_out - TDS_HEADER_BYTES);
    return true;
}

static uint64_t count_rows(BenchClient *client)
{
    const uint8_t *done = client->tail + client->tail_len - DONE_BYTES;

    if (client->tail_len < DONE_BYTES || done[0] < TDS_TOKEN_DONE)
        bench_fail("response", "no DONE");
    if (done[1] & TDS_DONE_ERROR) {
        TdsResponse response = tds_response((Bytes){client->tail, client->tail_len}, TDS_VERSION_74,
                                            client->arena);
        TdsItem     item;
        while (tds_next_item(&response, client->arena, &item) && item.kind != TDS_ITEM_END)
            if (item.kind == TDS_ITEM_MESSAGE)
                bench_fail("batch", str_c(client->arena, item.message.text.text));
        bench_fail("batch", "an error");
    }
    uint64_t rows = 0;
    for (int i = 7; i >= 0; i--)
        rows = rows << 8 | done[5 + i];
    return done[1] & TDS_DONE_COUNT ? rows : 0;
}

uint64_t bench_client_discard(BenchClient *client, uint64_t *bytes_out)
{
    Err  err     = ERR_INIT;
    bool is_last = false;

    client->tail_len = 0;
    *bytes_out       = 0;
    while (!is_last) {
        size_t got, at = 0, len;
        must(client_read(&client->transport, client->buffer + client->have,
                         READ_BYTES - client->have, &got, &err),
             "response", &err);
        if (got == 0) bench_fail("response", "the server hung up");
        client->have += got;
        *bytes_out += got;
        while (!is_last &&
               take_packet(client, client->buffer + at, client->have - at, &len, &is_last))
            at += len;
        memmove(client->buffer, client->buffer + at, client->have - at);
        client->have -= at;
    }
    return count_rows(client);
}
