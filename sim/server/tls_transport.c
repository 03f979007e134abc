/* tls_transport.c - TLS between a TdsTransport and a socket. OpenSSL reads and writes through a BIO of ours: during a handshake inside TDS
 * from and to messages, later the socket. What it encrypts is gathered and sent at once, outside the lock. */
#include "sim/server/tls_internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#define OUT_BYTES    ((size_t)128 << 10) /* encrypted and not sent yet */
#define RECORD_BYTES ((size_t)34 << 10)  /* the largest packet, encrypted */
#define LATE_BYTES   ((size_t)256)

struct TlsTransport {
    TdsTransport    base; /* first */
    TdsTransport   *inner;
    int             socket;
    SSL            *ssl;
    pthread_mutex_t lock; /* guards the rest: the listener's thread peeks while this one's writes */
    Bytes           given;          /* of a handshake message, what OpenSSL has not read yet */
    bool            is_in_messages; /* the handshake's bytes come as messages */
    bool            is_peeking;     /* must not wait, nor touch `out` */
    bool            saw_end;        /* the socket's */
    uint8_t         head[4]; /* of the packet that is being written, until its length is known */
    size_t          head_len;
    size_t          packet_left; /* its bytes that are still to come */
    size_t          late_len;    /* what a look made OpenSSL say, to be sent in front of the next */
    uint8_t         late[LATE_BYTES];
    size_t          out_len;
    uint8_t         out[OUT_BYTES];
};

/* --- OpenSSL's side --- */

static bool flush(TlsTransport *transport, Err *err)
{
    size_t len = transport->out_len;

    transport->out_len = 0;
    return len == 0 || transport->inner->write(transport->inner, transport->out, len, err);
}

static int read_message(TlsTransport *transport, BIO *bio, char *buf, int size)
{
    size_t len = MIN((size_t)size, transport->given.len);

    if (len == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(buf, transport->given.ptr, len);
    transport->given = (Bytes){transport->given.ptr + len, transport->given.len - len};
    return (int)len;
}

static int peek_socket(TlsTransport *transport, BIO *bio, char *buf, int size)
{
    ssize_t got = recv(transport->socket, buf, (size_t)size, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        BIO_set_retry_read(bio);
    else if (got <= 0)
        transport->saw_end = true;
    return (int)got;
}

static int read_socket(TlsTransport *transport, char *buf, int size)
{
    Err    ignored = ERR_INIT; /* of a socket that broke OpenSSL needs to know no more */
    size_t got     = 0;

    if (flush(transport, &ignored) &&
        transport->inner->read(transport->inner, (uint8_t *)buf, (size_t)size, &got, &ignored) &&
        got > 0)
        return (int)got;
    transport->saw_end = true;
    return 0;
}

static int on_read(BIO *bio, char *buf, int size)
{
    TlsTransport *transport = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (size <= 0) return 0;
    if (transport->is_in_messages) return read_message(transport, bio, buf, size);
    if (transport->is_peeking) return peek_socket(transport, bio, buf, size);
    return read_socket(transport, buf, size);
}

static int on_write(BIO *bio, const char *buf, int len)
{
    TlsTransport *transport = BIO_get_data(bio);

    size_t  *used = transport->is_peeking ? &transport->late_len : &transport->out_len;
    uint8_t *to   = transport->is_peeking ? transport->late : transport->out;

    BIO_clear_retry_flags(bio);
    if (len < 0 || (size_t)len > (transport->is_peeking ? LATE_BYTES : OUT_BYTES) - *used)
        return -1;
    memcpy(to + *used, buf, (size_t)len);
    *used += (size_t)len;
    return len;
}

static long on_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; /* done by us; the rest does not concern a socket */
}

BIO_METHOD *tls_transport_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tidesim");

    if (method && BIO_meth_set_read(method, on_read) == 1 &&
        BIO_meth_set_write(method, on_write) == 1 && BIO_meth_set_ctrl(method, on_control) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

/* --- TDS's side --- */

static bool tls_read(TdsTransport *base, uint8_t *buf, size_t size, size_t *got_out, Err *err)
{
    TlsTransport *transport = (TlsTransport *)base;
    bool          ok;

    pthread_mutex_lock(&transport->lock);
    ERR_clear_error();
    *got_out = 0;
    ok       = SSL_read_ex(transport->ssl, buf, size, got_out) == 1 || transport->saw_end ||
         (SSL_get_shutdown(transport->ssl) & SSL_RECEIVED_SHUTDOWN);
    if (!ok) (void)tls_fail(err, ERR_DAMAGED, "TLS", "what came cannot be decrypted");
    ERR_clear_error();
    pthread_mutex_unlock(&transport->lock);
    return ok;
}

/* How much of the bytes the next record takes: to the end of a packet. Packets may come in pieces. */
static size_t next_record(TlsTransport *transport, const uint8_t *bytes, size_t len)
{
    size_t part;

    if (transport->packet_left == 0) {
        part = MIN(sizeof transport->head - transport->head_len, len);
        memcpy(transport->head + transport->head_len, bytes, part);
        transport->head_len += part;
        if (transport->head_len < sizeof transport->head) return part;
        transport->packet_left = ((size_t)transport->head[2] << 8 | transport->head[3]) -
                                 (transport->head_len - part);
        transport->head_len = 0;
    }
    part = MIN(transport->packet_left, len);
    transport->packet_left -= part;
    return part;
}

/* Encrypts as many packets as there is room for; how many bytes that were, 0: it failed. */
static size_t encrypt(TlsTransport *transport, const uint8_t *bytes, size_t len, Err *err)
{
    size_t done = 0;
    bool   ok   = true;

    pthread_mutex_lock(&transport->lock);
    ERR_clear_error();
    memcpy(transport->out, transport->late, transport->late_len);
    transport->out_len  = transport->late_len;
    transport->late_len = 0;
    while (ok && done < len && OUT_BYTES - transport->out_len >= RECORD_BYTES) {
        size_t part = next_record(transport, bytes + done, len - done), written;
        ok          = SSL_write_ex(transport->ssl, bytes + done, part, &written) == 1;
        done += part;
    }
    if (!ok) (void)tls_fail(err, ERR_SOURCE, "TLS", "nothing more can be encrypted");
    pthread_mutex_unlock(&transport->lock);
    return ok ? done : 0;
}

/* A record for each packet, as SQL Server does it, so that a client which counts on one has it. They leave together. */
static bool tls_write(TdsTransport *base, const uint8_t *bytes, size_t len, Err *err)
{
    TlsTransport *transport = (TlsTransport *)base;

    while (len > 0) {
        size_t done = encrypt(transport, bytes, len, err);
        if (done == 0 || !flush(transport, err)) return false;
        bytes += done;
        len -= done;
    }
    return true;
}

TlsTransport *tls_transport_new(const SimTls *tls, TlsKind kind, TdsTransport *inner, int socket)
{
    SSL          *ssl = SSL_new(kind == TLS_STRICT ? tls->strict : tls->in_tds);
    BIO          *bio = BIO_new(tls->method);
    TlsTransport *transport;

    if (!ssl || !bio) {
        SSL_free(ssl);
        BIO_free(bio);
        return NULL;
    }
    transport                 = mem_alloc(sizeof *transport);
    transport->base           = (TdsTransport){.read = tls_read, .write = tls_write};
    transport->inner          = inner;
    transport->socket         = socket;
    transport->ssl            = ssl;
    transport->is_in_messages = kind == TLS_IN_TDS;
    pthread_mutex_init(&transport->lock, NULL);
    BIO_set_data(bio, transport);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return transport;
}

void tls_transport_close(TlsTransport *transport)
{
    if (!transport) return;
    SSL_free(transport->ssl);
    pthread_mutex_destroy(&transport->lock);
    mem_free(transport);
}

TdsTransport *tls_transport_base(TlsTransport *transport)
{
    return &transport->base;
}

/* --- the handshake --- */

bool tls_transport_handshake(TlsTransport *transport, Bytes message, Bytes *answer_out,
                             bool *is_done_out, Err *err)
{
    int  code;
    bool ok;

    transport->given   = message;
    transport->out_len = 0;
    ERR_clear_error();
    code         = SSL_do_handshake(transport->ssl);
    *is_done_out = code == 1;
    *answer_out  = (Bytes){transport->out, transport->out_len};
    ok           = code == 1 ? transport->given.len == 0 && !SSL_has_pending(transport->ssl)
                             : SSL_get_error(transport->ssl, code) == SSL_ERROR_WANT_READ;
    if (!ok)
        (void)tls_fail(err, ERR_DAMAGED, "TLS handshake",
                       code == 1 ? "something came behind it in its last message" : "it failed");
    transport->out_len = 0;
    if (*is_done_out) transport->is_in_messages = false;
    return ok;
}

bool tls_transport_accept(TlsTransport *transport, Err *err)
{
    Err  ignored = ERR_INIT; /* the handshake's failure is what counts */
    bool ok;

    ERR_clear_error();
    ok = SSL_do_handshake(transport->ssl) == 1;
    if (ok) return flush(transport, err);
    (void)tls_fail(err, ERR_DAMAGED, "TLS handshake", "the client left");
    (void)flush(transport, &ignored);
    return false;
}

/* --- looking --- */

bool tls_transport_has_pending(TlsTransport *transport)
{
    return SSL_has_pending(transport->ssl) == 1;
}

TlsPeek tls_transport_peek(TlsTransport *transport, uint8_t *byte_out)
{
    TlsPeek answer;
    size_t  got = 0;

    pthread_mutex_lock(&transport->lock);
    ERR_clear_error();
    transport->is_peeking = true;
    if (SSL_peek_ex(transport->ssl, byte_out, 1, &got) == 1)
        answer = TLS_PEEK_BYTE;
    else if (!transport->saw_end && SSL_get_error(transport->ssl, 0) == SSL_ERROR_WANT_READ)
        answer = TLS_PEEK_NOTHING;
    else
        answer = TLS_PEEK_END;
    transport->is_peeking = false;
    ERR_clear_error();
    pthread_mutex_unlock(&transport->lock);
    return answer;
}
