/* tls.h - encryption for the listener (sqlserver.md 2.3): what it shows clients, and a TdsTransport that encrypts. These files alone know
 * OpenSSL. */
#ifndef TIDESIM_TLS_H
#define TIDESIM_TLS_H

#include "base/err.h"
#include "tds/tds_packet.h"

/* A certificate with its key, and what is offered with it. Not changed once opened: connections share it. */
typedef struct SimTls SimTls;

/* A new key and a certificate for `localhost` and 127.0.0.1 that it signs itself. ERR_FAILED. */
bool sim_tls_open_self_signed(SimTls **out, Err *err) MUST_CHECK;
/* Of PEM files; the certificate's may hold the ones that vouch for it too. ERR_USAGE: not to be read, or they do not
 * belong together. */
bool sim_tls_open_files(Str certificate_path, Str key_path, SimTls **out, Err *err) MUST_CHECK;
void sim_tls_close(SimTls *tls); /* accepts NULL */
/* The certificate as PEM text, for those who are to trust it. */
Str sim_tls_certificate(const SimTls *tls);

typedef enum TlsKind {
    TLS_IN_TDS, /* TLS 1.2, as clients of TDS 7 know it: with 1.3 on offer some hang */
    TLS_STRICT, /* around TDS 8: TLS 1.2 or 1.3, the protocol `tds/8.0` */
} TlsKind;

/* One end of one encrypted connection. It belongs to the connection's thread; tls_transport_peek is for another. */
typedef struct TlsTransport TlsTransport;

/* On top of `inner`, which is `socket`. NULL: OpenSSL has no memory left. */
TlsTransport *tls_transport_new(const SimTls *tls, TlsKind kind, TdsTransport *inner, int socket);
void          tls_transport_close(TlsTransport *transport); /* accepts NULL */
TdsTransport *tls_transport_base(TlsTransport *transport);

/* TLS_IN_TDS: the handshake goes on with what a client's message held. `*answer_out`, good until the next call, is to be sent whatever
 * becomes of it, in one message. `*is_done_out`: from here on the transport encrypts. ERR_DAMAGED: it failed. */
bool tls_transport_handshake(TlsTransport *transport, Bytes message, Bytes *answer_out,
                             bool *is_done_out, Err *err) MUST_CHECK;
/* TLS_STRICT: the whole handshake, on the socket. */
bool tls_transport_accept(TlsTransport *transport, Err *err) MUST_CHECK;

/* Whether something was decrypted that nobody has read yet. */
bool tls_transport_has_pending(TlsTransport *transport);

typedef enum TlsPeek { TLS_PEEK_NOTHING, TLS_PEEK_BYTE, TLS_PEEK_END } TlsPeek;
/* The next byte the client sent, left in place; never waits. From any thread, while nobody reads. */
TlsPeek tls_transport_peek(TlsTransport *transport, uint8_t *byte_out);

#endif
