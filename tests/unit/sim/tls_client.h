/* tls_client.h - the raw client of server_client.h with OpenSSL on top: the handshake inside TDS in messages of any cut, or TLS around
 * everything. What it receives in the clear can be told from what it decrypts. */
#ifndef TIDESIM_TEST_TLS_CLIENT_H
#define TIDESIM_TEST_TLS_CLIENT_H

#include "unit/sim/server_client.h"

#include "sim/server/tls_internal.h"

#define CUT_BYTES_MOST 4088 /* of a packet's body before the login */

typedef struct TlsClient {
    Client  *client;
    SSL_CTX *context;
    SSL     *ssl;
    BIO     *in, *out;
    size_t   packet_cut;  /* bytes a packet of the handshake carries */
    size_t   message_cut; /* bytes a message of it carries */
    int      answers;     /* of the server to these */
    int      empty_answers;
} TlsClient;

/* What OpenSSL wants sent; false: the socket broke. */
UNUSED static bool tls_client_drain(TlsClient *tls)
{
    Err   err = ERR_INIT;
    char *bytes;
    long  len = BIO_get_mem_data(tls->out, &bytes);
    bool  ok  = len <= 0 ||
              client_send(&tls->client->transport, (const uint8_t *)bytes, (size_t)len, &err);

    (void)BIO_reset(tls->out);
    return ok;
}

UNUSED static bool tls_client_fill(TlsClient *tls)
{
    uint8_t bytes[16384];
    size_t  got;
    Err     err = ERR_INIT;

    return client_recv(&tls->client->transport, bytes, sizeof bytes, &got, &err) && got > 0 &&
           BIO_write(tls->in, bytes, (int)got) == (int)got;
}

UNUSED static bool tls_client_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out,
                                   Err *err)
{
    TlsClient *tls = ((Client *)base)->layer;

    for (*got_out = 0;;) {
        ERR_clear_error();
        if (SSL_read_ex(tls->ssl, buf, size, got_out) == 1) return true;
        if (SSL_get_error(tls->ssl, 0) != SSL_ERROR_WANT_READ)
            return err_set(err, ERR_SOURCE, "what came cannot be decrypted");
        if (!tls_client_fill(tls)) return true; /* the end */
    }
}

UNUSED static bool tls_client_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    TlsClient *tls = ((Client *)base)->layer;
    size_t     written;

    return (SSL_write_ex(tls->ssl, bytes, len, &written) == 1 && tls_client_drain(tls)) ||
           err_set(err, ERR_SOURCE, "the connection broke");
}

/* Puts it between the client and its socket, or takes it away. */
UNUSED static void tls_client_use(TlsClient *tls, bool encrypts)
{
    tls->client->transport.read  = encrypts ? tls_client_read : client_recv;
    tls->client->transport.write = encrypts ? tls_client_write : client_send;
}

/* A connection with nothing said. Versions are OpenSSL's. */
UNUSED static TlsClient *tls_client_open(int port, int oldest, int newest)
{
    TlsClient *tls = mem_alloc(sizeof *tls);

    tls->client = client_open(port);
    assert_non_null(tls->client);
    tls->client->layer = tls;
    tls->context       = SSL_CTX_new(TLS_client_method());
    assert_non_null(tls->context);
    (void)SSL_CTX_set_min_proto_version(tls->context, oldest);
    (void)SSL_CTX_set_max_proto_version(tls->context, newest);
    tls->ssl = SSL_new(tls->context);
    tls->in  = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    assert_true(tls->ssl && tls->in && tls->out);
    (void)BIO_set_mem_eof_return(tls->in, -1);
    (void)BIO_set_mem_eof_return(tls->out, -1);
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    SSL_set_connect_state(tls->ssl);
    tls->packet_cut  = CUT_BYTES_MOST;
    tls->message_cut = SIZE_MAX;
    return tls;
}

UNUSED static void tls_client_close(TlsClient *tls)
{
    client_close(tls->client);
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    mem_free(tls);
}

/* One message in packets of the cut. */
UNUSED static bool tls_client_send_message(TlsClient *tls, const uint8_t *bytes, size_t len)
{
    Err err = ERR_INIT;

    for (uint8_t id = 1; len > 0; id++) {
        size_t  part = MIN(len, tls->packet_cut), whole = part + 8;
        uint8_t packet[CUT_BYTES_MOST + 8] = {
            TDS_PACKET_PRELOGIN, part == len, (uint8_t)(whole >> 8), (uint8_t)whole, 0, 0, id, 0};
        memcpy(packet + 8, bytes, part);
        if (!client_send(&tls->client->transport, packet, whole, &err)) return false;
        bytes += part;
        len -= part;
    }
    return true;
}

/* The server's next message goes to OpenSSL. */
UNUSED static bool tls_client_take_answer(TlsClient *tls)
{
    Bytes body;

    if (!client_read(tls->client)) return false;
    assert_int_equal(tls->client->message.type, TDS_PACKET_PRELOGIN);
    body = tls->client->message.body;
    tls->answers++;
    tls->empty_answers += body.len == 0;
    return body.len == 0 || BIO_write(tls->in, body.ptr, (int)body.len) == (int)body.len;
}

/* What OpenSSL wants sent, in messages of the cut, each answered by one. */
UNUSED static bool tls_client_flight(TlsClient *tls)
{
    uint8_t flight[16384];
    int     len = BIO_read(tls->out, flight, sizeof flight);

    for (size_t at = 0; len > 0 && at < (size_t)len; at += MIN((size_t)len - at, tls->message_cut))
        if (!tls_client_send_message(tls, flight + at, MIN((size_t)len - at, tls->message_cut)) ||
            !tls_client_take_answer(tls))
            return false;
    return len > 0;
}

/* Behind PRELOGIN. False: refused, or the connection ended. */
UNUSED static bool tls_client_handshake(TlsClient *tls)
{
    for (;;) {
        int code;
        ERR_clear_error();
        code = SSL_do_handshake(tls->ssl);
        if (code == 1) break;
        if (SSL_get_error(tls->ssl, code) != SSL_ERROR_WANT_READ || !tls_client_flight(tls))
            return false;
    }
    tls_client_use(tls, true);
    return true;
}

/* TLS around everything, `protocol` with its length in front, or NULL. */
UNUSED static bool tls_client_strict(TlsClient *tls, const char *protocol)
{
    if (protocol)
        (void)SSL_set_alpn_protos(tls->ssl, (const unsigned char *)protocol,
                                  (unsigned)strlen(protocol));
    for (;;) {
        int code;
        ERR_clear_error();
        code = SSL_do_handshake(tls->ssl);
        if (!tls_client_drain(tls)) return false;
        if (code == 1) break;
        if (SSL_get_error(tls->ssl, code) != SSL_ERROR_WANT_READ || !tls_client_fill(tls))
            return false;
    }
    tls_client_use(tls, true);
    return true;
}

/* Asks with PRELOGIN; what it was answered, or -1. */
UNUSED static int tls_client_ask(TlsClient *tls, TdsEncryption encryption)
{
    Err         err = ERR_INIT;
    TdsPrelogin prelogin;

    tds_writer_begin(tls->client->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_prelogin(tls->client->writer, 0, 1, 0, encryption, false);
    if (!tds_writer_end(tls->client->writer, &err) || !client_read(tls->client) ||
        !tds_parse_prelogin(tls->client->message.body, &prelogin))
        return -1;
    return prelogin.encryption;
}

/* Everything encrypted and logged in. */
UNUSED static TlsClient *tls_client_connect(int port, uint32_t packet_bytes)
{
    TlsClient *tls   = tls_client_open(port, TLS1_2_VERSION, TLS1_3_VERSION);
    TdsLogin   login = client_default_login();
    TdsItem    item;

    login.packet_bytes = packet_bytes;
    assert_int_equal(tls_client_ask(tls, TDS_ENCRYPT_ON), TDS_ENCRYPT_ON);
    assert_true(tls_client_handshake(tls));
    assert_true(client_login(tls->client, &login));
    assert_true(client_find(tls->client, TDS_ITEM_LOGIN_ACK, &item));
    return tls;
}

#endif
