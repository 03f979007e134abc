/* tls.c - when a connection is encrypted, and how it comes to be (sqlserver.md 2.3). */
#include "sim/server/server_internal.h"

#include <errno.h>
#include <sys/socket.h>

#define TLS_HANDSHAKE_RECORD    0x16 /* the first byte of a client that begins with TLS */
#define HANDSHAKE_BYTES_MOST    ((size_t)128 << 10)
#define HANDSHAKE_MESSAGES_MOST 16

TdsEncryption server_choose_encryption(bool has_tls, bool is_required, uint8_t asked)
{
    if (!has_tls) return TDS_ENCRYPT_NOT_SUP;
    if (asked == TDS_ENCRYPT_ON || asked == TDS_ENCRYPT_REQ) return TDS_ENCRYPT_ON;
    if (is_required) return TDS_ENCRYPT_REQ;
    return asked == TDS_ENCRYPT_OFF ? TDS_ENCRYPT_OFF : TDS_ENCRYPT_NOT_SUP;
}

static void use_transport(Connection *connection, TdsTransport *transport)
{
    connection->transport = transport;
    tds_writer_set_transport(connection->writer, transport);
}

static bool refuse(Connection *connection, const char *reason)
{
    connection_log(connection, LOG_WARN, "client hung up on", reason);
    return false;
}

static bool open_tls(Connection *connection, TlsKind kind)
{
    connection->tls = tls_transport_new(connection->offered, kind, &connection->socket.transport,
                                        connection->socket.socket);
    return connection->tls || refuse(connection, "OpenSSL has no memory left");
}

static bool send_answer(Connection *connection, Bytes answer)
{
    connection->socket.begins = true;
    tds_writer_begin(connection->writer, TDS_PACKET_PRELOGIN, 0);
    tds_put_bytes(connection->writer, answer.ptr, answer.len);
    return connection_send_response(connection);
}

/* One message of the client, and the one that answers it, be it empty: there are clients that count. */
static bool answer_handshake(Connection *connection, bool *is_done_out)
{
    TdsMessage message;
    Bytes      answer;
    Err        err = ERR_INIT;
    bool       is_end, ok;

    arena_reset(connection->arena);
    if (!tds_read_message(connection->transport, connection->arena, HANDSHAKE_BYTES_MOST, &message,
                          &is_end, &err))
        return refuse(connection, err.message);
    if (is_end) return false;
    if (message.type != TDS_PACKET_PRELOGIN)
        return refuse(connection, "it goes on without the encryption that was agreed on");
    ok = tls_transport_handshake(connection->tls, message.body, &answer, is_done_out, &err);
    if ((ok || answer.len > 0) && !send_answer(connection, answer)) return false;
    return ok || refuse(connection, err.message);
}

bool server_handshake_in_tds(Connection *connection)
{
    bool is_done = false;

    if (!open_tls(connection, TLS_IN_TDS)) return false;
    for (int messages = 0; !is_done; messages++) {
        if (messages == HANDSHAKE_MESSAGES_MOST)
            return refuse(connection, "its TLS handshake does not end");
        if (!answer_handshake(connection, &is_done)) return false;
    }
    use_transport(connection, tls_transport_base(connection->tls));
    return true;
}

bool server_end_login_tls(Connection *connection)
{
    if (tls_transport_has_pending(connection->tls))
        return refuse(connection, "something encrypted came behind its login");
    use_transport(connection, &connection->socket.transport);
    tls_transport_close(connection->tls);
    connection->tls = NULL;
    return true;
}

/* --- TDS 8 --- */

static bool begins_with_tls(const Connection *connection)
{
    uint8_t first = 0;
    ssize_t got;

    do
        got = recv(connection->socket.socket, &first, 1, MSG_PEEK);
    while (got < 0 && errno == EINTR);
    return got == 1 && first == TLS_HANDSHAKE_RECORD;
}

bool server_begin_strict(Connection *connection)
{
    Err err = ERR_INIT;

    if (!connection->offered || !begins_with_tls(connection)) return true;
    if (!open_tls(connection, TLS_STRICT)) return false;
    connection->is_strict = true;
    if (!tls_transport_accept(connection->tls, &err)) return refuse(connection, err.message);
    use_transport(connection, tls_transport_base(connection->tls));
    return true;
}
